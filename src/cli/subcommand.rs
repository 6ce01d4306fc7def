//! Subcommands: what is done from the shell without opening a session on the screen. One file each.

mod doctor;
mod info;
mod login;
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
    /// Look at everything this program needs, and say what to do about what is wrong
    Doctor(doctor::DoctorArgs),
    /// Connect a service: its key, its models; saved in config.toml
    Login(login::LoginArgs),
    /// Take a provider's key out of config.toml
    Logout(login::LogoutArgs),
    /// List, add, remove, try and log in to MCP servers
    Mcp(mcp::McpArgs),
    /// Print completions for a shell: kimi-tui completions bash > FILE
    Completions(manual::CompletionsArgs),
    /// Print the manual page: kimi-tui man | man -l -
    Man,
}

/// Carries out `command`. `flags` are those given before it.
pub(super) fn run(command: Command, flags: &Args) -> anyhow::Result<End> {
    match command {
        Command::Info(args) => info::run(&args),
        Command::Doctor(args) => doctor::run(&args, flags),
        Command::Login(args) => login::login(&args, flags),
        Command::Logout(args) => login::logout(&args, flags),
        Command::Mcp(args) => mcp::run(args),
        Command::Completions(args) => manual::completions(&args),
        Command::Man => manual::man(),
    }
}
