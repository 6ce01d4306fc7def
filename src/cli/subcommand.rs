//! Subcommands: what is done from the shell without opening a session on the screen. One file each.

mod info;
mod manual;
mod mcp;

use clap::Subcommand;

use super::args::Args;
use super::outcome::End;

/// What to do instead of opening the screen.
#[derive(Debug, Clone, Subcommand)]
pub(super) enum Command {
    /// Tell the versions of this program and of what it speaks
    Info(info::InfoArgs),
    /// List, add, remove, try and log in to MCP servers
    Mcp(mcp::McpArgs),
    /// Print completions for a shell: kimi-tui completions bash > FILE
    Completions(manual::CompletionsArgs),
    /// Print the manual page: kimi-tui man | man -l -
    Man,
}

/// Carries out `command`. `flags` are those given before it.
pub(super) fn run(command: Command, _flags: &Args) -> anyhow::Result<End> {
    match command {
        Command::Info(args) => info::run(&args),
        Command::Mcp(args) => mcp::run(args),
        Command::Completions(args) => manual::completions(&args),
        Command::Man => manual::man(),
    }
}
