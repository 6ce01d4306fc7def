//! `kimi-tui info`: versions. With `--json` the keys are those of `kimi info --json`, which other
//! people's clients read before they start a wire server.

use std::io::Write;

use serde_json::json;

use crate::cli::outcome::End;
use crate::wire::PROTOCOL_VERSION;

/// Versions of the agent file format that can be read.
const AGENT_SPEC_VERSIONS: [&str; 1] = ["1"];

#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct InfoArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &InfoArgs) -> anyhow::Result<End> {
    let text = if args.json { as_json() } else { as_text() };
    writeln!(std::io::stdout(), "{text}")?;
    Ok(End::Done)
}

fn as_text() -> String {
    format!(
        "kimi-tui {}\nwire protocol {PROTOCOL_VERSION}\nagent files {}",
        env!("CARGO_PKG_VERSION"),
        AGENT_SPEC_VERSIONS.join(", ")
    )
}

fn as_json() -> String {
    json!({
        // Clients of the Python program ask for its version under this name.
        "kimi_cli_version": env!("CARGO_PKG_VERSION"),
        "agent_spec_versions": AGENT_SPEC_VERSIONS,
        "wire_protocol_version": PROTOCOL_VERSION,
        "python_version": "",
        "kimi_tui_version": env!("CARGO_PKG_VERSION"),
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_are_those_clients_of_the_python_program_read() {
        let info: serde_json::Value = serde_json::from_str(&as_json()).expect("JSON");
        for key in ["kimi_cli_version", "wire_protocol_version", "python_version"] {
            assert!(info[key].is_string(), "{key}: {info}");
        }
        assert_eq!(info["agent_spec_versions"], json!(["1"]));
        assert!(as_text().contains(PROTOCOL_VERSION), "{}", as_text());
    }
}
