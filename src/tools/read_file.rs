//! ReadFile: a range of lines of a text file (`kimi-cli` `tools/file/read.py`).

mod encoding;
mod pages;
#[cfg(test)]
mod tests;

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use tempfile::NamedTempFile;

use self::pages::{MAX_BYTES, MAX_LINES, Page, Range, Stop, Unreadable};
use super::tool::ToolContext;
use super::typed::{Failure, TypedTool};
use super::{blocking, errand, output, path};
use crate::message::ToolReturn;

pub(crate) struct ReadFile;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// The file; outside of the working directory an absolute path.
    #[serde(alias = "file_path")]
    path: String,
    /// The first line, from 1. Negative counts from the end: -50 for the last 50 lines of a log.
    #[serde(default = "first_line", alias = "offset")]
    #[schemars(range(min = -1000))]
    line_offset: i64,
    /// How many lines.
    #[serde(default = "max_lines", alias = "limit")]
    #[schemars(range(min = 1))]
    n_lines: u64,
}

fn first_line() -> i64 {
    1
}

fn max_lines() -> u64 {
    MAX_LINES as u64
}

impl TypedTool for ReadFile {
    type Params = Params;
    const NAME: &'static str = "ReadFile";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/read_file.md");

    async fn run(&self, params: Params, context: &ToolContext) -> Result<ToolReturn, Failure> {
        let raw = &params.path;
        let file = find(raw, context)?;
        let range = Range::new(params.line_offset, params.n_lines).ok_or_else(|| {
            Failure::new(
                "`line_offset` cannot be 0: lines are counted from 1, or from -1 at the end.",
                "Invalid line offset",
            )
        })?;
        let unsaved = match errand::text_of(context, &file).await {
            Some(text) => Some(copy_of(&text)?),
            None => None,
        };
        let path = unsaved.as_ref().map_or(file.as_path(), NamedTempFile::path).to_owned();
        let read = blocking::run(context, move |stop| pages::read(&path, range, &stop)).await?;
        let (page, fingerprint) = read.map_err(|problem| explain(raw, problem))?;
        if let Some(seen) = context.services.files_seen() {
            seen.note(&file, fingerprint);
        }
        Ok(report(&page))
    }
}

/// What the front end has, as a file that is read like any other.
fn copy_of(text: &str) -> Result<NamedTempFile, Failure> {
    let copy = || {
        let mut copy = NamedTempFile::new()?;
        copy.write_all(text.as_bytes())?;
        Ok(copy)
    };
    copy().map_err(|error: std::io::Error| {
        Failure::new(
            format!("There is no room for a copy of what the editor has of it ({error})."),
            "Failed to read file",
        )
    })
}

/// The file `raw` names, if it may and can be read.
fn find(raw: &str, context: &ToolContext) -> Result<PathBuf, Failure> {
    let file = path::resolve_for(context, raw, "read a file")?.path;
    // Both names count: a link called `notes` to `.env` is one, and so is a link called `.env`.
    if path::is_sensitive(&file) || path::is_sensitive(raw.as_ref()) {
        return Err(Failure::new(
            format!(
                "`{raw}` may hold secrets, so it is not read. If you need to know which settings it \
                 has, ask the user."
            ),
            "Sensitive file",
        ));
    }
    match fs::metadata(&file) {
        Ok(meta) if meta.is_file() => Ok(file),
        Ok(meta) if meta.is_dir() => Err(Failure::new(
            format!("`{raw}` is a directory. Use LS to list it, or Glob to find files in it."),
            "Not a file",
        )),
        Ok(_) => Err(Failure::new(
            format!("`{raw}` is a device, a pipe or a socket, not a regular file."),
            "Not a file",
        )),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(path::not_found(context, raw, &file))
        }
        Err(error) => Err(explain(raw, Unreadable::Io(error))),
    }
}

fn explain(raw: &str, problem: Unreadable) -> Failure {
    match problem {
        Unreadable::Binary(bytes) => Failure::new(
            format!(
                "`{raw}` is a binary file of {} ({bytes} bytes), so its content is not shown. \
                 Look at it with a program for its format, through Bash.",
                output::size(bytes)
            ),
            "Binary file",
        ),
        Unreadable::OtherEncoding(name) => Failure::new(
            format!(
                "`{raw}` is not UTF-8 text but {name}. Show it with `iconv` through Bash, for \
                 example `iconv -f GB18030 -t UTF-8 FILE`."
            ),
            "Not UTF-8 text",
        ),
        Unreadable::Cancelled => blocking::cancelled(),
        Unreadable::Io(error) => {
            Failure::new(format!("`{raw}` cannot be read: {error}."), "Failed to read file")
        }
    }
}

fn report(page: &Page) -> ToolReturn {
    let mut message = match page.lines.first() {
        None => "No lines read from file.".to_owned(),
        Some(first) => {
            format!(
                "{} lines read from file starting from line {}.",
                page.lines.len(),
                first.number
            )
        }
    };
    message.push_str(&format!(" Total lines in file: {}.", page.total));
    message.push_str(&match page.stop {
        Stop::Lines => format!(" Max {MAX_LINES} lines reached."),
        Stop::Bytes => format!(" Max {MAX_BYTES} bytes reached."),
        Stop::End => " End of file reached.".to_owned(),
        Stop::Asked => String::new(),
    });
    let truncated: Vec<u64> =
        page.lines.iter().filter(|line| line.truncated).map(|line| line.number).collect();
    if !truncated.is_empty() {
        message.push_str(&format!(" Lines {truncated:?} were truncated."));
    }
    if let Some(name) = page.encoding.name() {
        message.push_str(&format!(" The file is in {name}; EditFile cannot change it."));
    }
    if page.lines.iter().any(|line| line.lossy) {
        message.push_str(" Some bytes are not UTF-8 and are shown as \u{fffd}.");
    }
    let text: String =
        page.lines.iter().map(|line| format!("{:6}\t{}\n", line.number, line.text)).collect();
    ToolReturn::ok(text, message)
}
