//! `kimi-tui completions` and `kimi-tui man`: made from the same table as `--help`.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::args::Args;
use crate::cli::outcome::End;

#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(super) fn completions(args: &CompletionsArgs) -> anyhow::Result<End> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "kimi-tui", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(End::Done)
}

pub(super) fn man() -> anyhow::Result<End> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Args::command()).render(&mut page)?;
    std::io::stdout().write_all(&page)?;
    Ok(End::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_has_completions_and_the_page_has_the_options() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell, Shell::Elvish] {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "kimi-tui", &mut script);
            assert!(String::from_utf8_lossy(&script).contains("final-message-only"), "{shell}");
        }
        let mut page = Vec::new();
        clap_mangen::Man::new(Args::command()).render(&mut page).expect("a page");
        assert!(String::from_utf8_lossy(&page).contains("kimi\\-tui"));
    }
}
