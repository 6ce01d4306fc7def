//! `kimi-tui replay`: a recorded session on the real screen, with no engine behind it.

use super::sessions::Archive;
use crate::cli::args::Args;
use crate::cli::outcome::End;
use crate::cli::run;
use crate::message::SessionId;

#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct ReplayArgs {
    /// Its id, or the beginning of it
    id: String,
}

pub(super) fn run(args: ReplayArgs, flags: &Args) -> anyhow::Result<End> {
    // A wrong id is told before the screen is taken.
    let archive = Archive::open(flags)?;
    let session = super::sessions::find(&archive, &args.id)?;
    run::replay(flags, SessionId(session.id.0))
}
