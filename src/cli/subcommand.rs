//! Subcommands: what is done from the shell without opening a session on the screen. One file each.

mod info;
mod manual;
mod snapshots;

use clap::Subcommand;

use super::args::Args;
use super::outcome::End;

/// What to do instead of opening the screen.
#[derive(Debug, Clone, Subcommand)]
pub(super) enum Command {
    /// Tell the versions of this program and of what it speaks
    Info(info::InfoArgs),
    /// Print completions for a shell: kimi-tui completions bash > FILE
    Completions(manual::CompletionsArgs),
    /// Tell what is kept for taking files back, and throw away what nobody needs
    Snapshots(snapshots::SnapshotsArgs),
    /// Print the manual page: kimi-tui man | man -l -
    Man,
}

/// Carries out `command`. `flags` are those given before it.
pub(super) fn run(command: Command, _flags: &Args) -> anyhow::Result<End> {
    match command {
        Command::Info(args) => info::run(&args),
        Command::Completions(args) => manual::completions(&args),
        Command::Snapshots(args) => snapshots::run(&args),
        Command::Man => manual::man(),
    }
}
