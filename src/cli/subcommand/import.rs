//! `kimi-tui import`: a new session of this folder from something that is there already.

use std::io::Write;

use super::sessions::Archive;
use crate::cli::args::Args;
use crate::cli::outcome::End;
use crate::context::Context;
use crate::session::{ExportFormat, import_text};

#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct ImportArgs {
    /// A zip file that export has written, a text file, or the id of a session
    #[arg(value_name = "FILE")]
    what: String,
}

pub(super) fn run(args: &ImportArgs, flags: &Args) -> anyhow::Result<End> {
    let archive = Archive::open(flags)?;
    let path = archive.here.join(&args.what);
    let is_zip = path.is_file() && ExportFormat::of(&path) == Some(ExportFormat::Zip);
    let session = if is_zip {
        archive.store.import_zip(&archive.work_dir, &path)?
    } else {
        let imported = import_text(&archive.store, &archive.here, &args.what)?;
        let session = archive.store.create(&archive.work_dir, None)?;
        let (mut context, _) = Context::open(&session.dir)?;
        context.append(&[imported.message])?;
        archive.store.rename(&session, &format!("Import: {}", imported.source))?;
        session
    };
    archive.store.mark_last(&session)?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", session.id)?;
    Ok(End::Done)
}
