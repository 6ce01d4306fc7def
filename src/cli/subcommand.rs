//! Subcommands: what is done from the shell without opening a session on the screen. One file each.

mod acp;
mod attach;
pub(super) mod daemon;
mod doctor;
mod export;
mod import;
mod info;
mod login;
mod manual;
mod mcp;
mod replay;
mod sessions;
mod snapshots;

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
    /// List and search sessions, and tidy them up
    Sessions(sessions::SessionsArgs),
    /// Write a session to a file
    Export(export::ExportArgs),
    /// Make a session of a text file, of another session, or of an exported zip file
    Import(import::ImportArgs),
    /// Play a recorded session on the screen; nothing is carried out
    Replay(replay::ReplayArgs),
    /// Serve an editor over the Agent Client Protocol on standard input and output (docs/editors.md)
    Acp(acp::AcpArgs),
    /// Show the session of a daemon, or an engine started for it: attach -- COMMAND
    Attach(attach::AttachArgs),
    /// The sessions that run without a screen (begin one with --daemon)
    #[command(subcommand)]
    Daemon(daemon::DaemonCommand),
    /// Look at everything this program needs, and say what to do about what is wrong
    Doctor(doctor::DoctorArgs),
    /// Connect a service: its key, its models; saved in config.toml
    Login(login::LoginArgs),
    /// Take a provider's key out of config.toml
    Logout(login::LogoutArgs),
    /// Print completions for a shell: kimi-tui completions bash > FILE
    Completions(manual::CompletionsArgs),
    /// Tell what is kept for taking files back, and throw away what nobody needs
    Snapshots(snapshots::SnapshotsArgs),
    /// Print the manual page: kimi-tui man | man -l -
    Man,
}

/// Carries out `command`. `flags` are those given before it.
pub(super) fn run(command: Command, flags: &Args) -> anyhow::Result<End> {
    match command {
        Command::Acp(args) => acp::run(&args, flags),
        Command::Attach(args) => attach::run(args, flags),
        Command::Daemon(command) => daemon::run(&command),
        Command::Info(args) => info::run(&args),
        Command::Mcp(args) => mcp::run(args, flags),
        Command::Sessions(args) => sessions::run(&args, flags),
        Command::Export(args) => export::run(&args, flags),
        Command::Import(args) => import::run(&args, flags),
        Command::Replay(args) => replay::run(args, flags),
        Command::Doctor(args) => doctor::run(&args, flags),
        Command::Login(args) => login::login(&args, flags),
        Command::Logout(args) => login::logout(&args, flags),
        Command::Completions(args) => manual::completions(&args),
        Command::Snapshots(args) => snapshots::run(&args),
        Command::Man => manual::man(),
    }
}
