//! `kimi-tui acp`: many sessions for one editor. `kimi-tui acp login` is what editors run that add
//! to the command they start the agent with.

use super::login;
use crate::cli::args::Args;
use crate::cli::outcome::End;
use crate::cli::run;

#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct AcpArgs {
    #[command(subcommand)]
    then: Option<Then>,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum Then {
    /// The same as kimi-tui login
    #[command(hide = true)]
    Login(login::LoginArgs),
}

pub(super) fn run(args: &AcpArgs, flags: &Args) -> anyhow::Result<End> {
    match &args.then {
        Some(Then::Login(args)) => login::login(args, flags),
        None => run::acp(flags),
    }
}
