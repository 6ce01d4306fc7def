//! `kimi-tui export`: a session as Markdown, as an HTML page, or as a zip of all its files.

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;

use super::sessions::{Archive, find};
use crate::cli::args::Args;
use crate::cli::outcome::End;
use crate::error::user;
use crate::session::{ExportFormat, export_file};

#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct ExportArgs {
    /// Its id, or the beginning of it [default: the last session of this folder]
    id: Option<String>,

    /// Where to: a file or a folder [default: a made name in this folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// As what [default: what the file's ending says, else zip]
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// Taken for scripts of the Python program, which asks before it exports; nothing is asked here
    #[arg(short, long, hide = true)]
    yes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    #[value(alias = "markdown")]
    Md,
    Html,
    Zip,
}

pub(super) fn run(args: &ExportArgs, flags: &Args) -> anyhow::Result<End> {
    let archive = Archive::open(flags)?;
    let session = match &args.id {
        Some(id) => find(&archive, id)?,
        None => archive.store.latest(&archive.work_dir)?.ok_or_else(|| {
            user(
                format!("There is no session in {}.", archive.work_dir.display()),
                "Give an id; kimi-tui sessions --all lists all sessions.",
            )
        })?,
    };
    let format = match args.format {
        Some(Format::Md) => ExportFormat::Markdown,
        Some(Format::Html) => ExportFormat::Html,
        Some(Format::Zip) => ExportFormat::Zip,
        None => args.output.as_deref().and_then(ExportFormat::of).unwrap_or(ExportFormat::Zip),
    };
    let file = export_file(&session, format, &archive.here, args.output.as_deref())?;
    writeln!(std::io::stdout(), "{}", file.display())?;
    Ok(End::Done)
}
