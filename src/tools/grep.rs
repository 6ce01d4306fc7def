//! Grep: lines by a regular expression (`kimi-cli` `tools/file/grep_local.py`), on ripgrep's crates.

mod search;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::search::{FileMatches, Found, Query, Show};
use super::output::OutputBuilder;
use super::tool::ToolContext;
use super::typed::{Failure, TypedTool};
use super::{blocking, path};
use crate::message::ToolReturn;

/// A search that takes longer gives what it has found.
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// Lines of context a model may ask for; more belongs to ReadFile.
const MAX_CONTEXT: u64 = 200;

pub(crate) struct Grep;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// The regular expression.
    pattern: String,
    /// The file or folder to search; outside of the working directory an absolute path.
    #[serde(default = "here")]
    path: String,
    /// Only files whose path matches: `*.js`, `src/**/*.ts`, `!*.min.js`.
    #[serde(default)]
    glob: Option<String>,
    /// Files, their lines, or counts.
    #[serde(default)]
    output_mode: OutputMode,
    /// Lines before each match (`content` only).
    #[serde(default, rename = "-B")]
    before: Option<u64>,
    /// Lines after each match (`content` only).
    #[serde(default, rename = "-A")]
    after: Option<u64>,
    /// Lines before and after each match (`content` only).
    #[serde(default, rename = "-C")]
    context: Option<u64>,
    /// Show line numbers (`content` only).
    #[serde(default = "yes", rename = "-n")]
    line_numbers: bool,
    /// Ignore case.
    #[serde(default, rename = "-i")]
    ignore_case: bool,
    /// Only files of this type: `rust`, `py`, `js`, `go`.
    #[serde(default, rename = "type")]
    file_type: Option<String>,
    /// Lines of output at most; 0 for all.
    #[serde(default = "head_limit")]
    head_limit: usize,
    /// Lines of output to skip.
    #[serde(default)]
    offset: usize,
    /// Matches may span lines; `.` matches line breaks.
    #[serde(default)]
    multiline: bool,
    /// Search dependencies, build output and what else `.gitignore` names.
    #[serde(default)]
    include_ignored: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    #[default]
    FilesWithMatches,
    Content,
    #[serde(alias = "count")]
    CountMatches,
}

fn here() -> String {
    ".".to_owned()
}

fn yes() -> bool {
    true
}

fn head_limit() -> usize {
    250
}

impl TypedTool for Grep {
    type Params = Params;
    const NAME: &'static str = "Grep";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/grep.md");

    async fn run(&self, params: Params, context: &ToolContext) -> Result<ToolReturn, Failure> {
        grep(&params, context, TIME_LIMIT).await
    }
}

async fn grep(
    params: &Params,
    context: &ToolContext,
    limit: Duration,
) -> Result<ToolReturn, Failure> {
    let root = path::resolve_for(context, &params.path, "search")?.path;
    if !root.exists() {
        return Err(path::not_found(context, &params.path, &root));
    }
    let query = Query {
        matcher: matcher(params)?,
        overrides: overrides(params, context, &root)?,
        types: types(params)?,
        root,
        work_dir: context.work_dir.clone(),
        include_ignored: params.include_ignored,
        multiline: params.multiline,
        show: show(params),
        limit,
    };
    let mut found = blocking::run(context, move |stop| search::run(&query, &stop)).await?;
    if context.cancelled.is_cancelled() {
        return Err(blocking::cancelled());
    }
    sort(&mut found.files, params.output_mode);
    report(params, &found)
}

fn show(params: &Params) -> Show {
    match params.output_mode {
        OutputMode::FilesWithMatches => Show::Files,
        OutputMode::CountMatches => Show::Counts,
        OutputMode::Content => {
            let lines = |own: Option<u64>| own.or(params.context).unwrap_or(0).min(MAX_CONTEXT);
            Show::Lines {
                before: lines(params.before) as usize,
                after: lines(params.after) as usize,
                numbers: params.line_numbers,
            }
        }
    }
}

fn matcher(params: &Params) -> Result<RegexMatcher, Failure> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(params.ignore_case).multi_line(true);
    if params.multiline {
        builder.dot_matches_new_line(true);
    } else {
        builder.crlf(true);
    }
    builder.build(&params.pattern).map_err(|error| {
        let hint = if !params.multiline && params.pattern.contains("\\n") {
            " Set `multiline` to match across lines."
        } else {
            " Escape characters that are meant literally, such as `{`, `(` and `[`."
        };
        let message =
            format!("`{}` is not a valid regular expression: {error}.{hint}", params.pattern);
        Failure::new(message, "Invalid regular expression")
    })
}

fn overrides(params: &Params, context: &ToolContext, root: &Path) -> Result<Override, Failure> {
    let Some(glob) = params.glob.as_deref().filter(|glob| !glob.is_empty()) else {
        return Ok(Override::empty());
    };
    // As for ripgrep: patterns with a slash start in the working directory, whatever is searched.
    let base: PathBuf = if root.starts_with(&context.work_dir) {
        context.work_dir.clone()
    } else {
        root.to_path_buf()
    };
    let built = OverrideBuilder::new(base).add(glob).and_then(|builder| builder.build());
    built.map_err(|error| {
        Failure::new(format!("`{glob}` is not a valid glob: {error}."), "Invalid glob")
    })
}

fn types(params: &Params) -> Result<Types, Failure> {
    let Some(wanted) = params.file_type.as_deref().filter(|wanted| !wanted.is_empty()) else {
        return Ok(Types::empty());
    };
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    let names: Vec<String> =
        builder.definitions().iter().map(|one| one.name().to_owned()).collect();
    builder.select(wanted).build().map_err(|_| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let near = similar::get_close_matches(wanted, &names, 5, 0.4);
        let near =
            if near.is_empty() { String::new() } else { format!(" Near: {}.", near.join(", ")) };
        Failure::new(
            format!(
                "`{wanted}` is no known file type.{near} Use `glob` instead, as in `*.{wanted}`."
            ),
            "Unknown file type",
        )
    })
}

fn sort(files: &mut [FileMatches], mode: OutputMode) {
    if mode == OutputMode::FilesWithMatches {
        files.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.shown.cmp(&b.shown)));
    } else {
        files.sort_by(|a, b| a.shown.cmp(&b.shown));
    }
}

fn report(params: &Params, found: &Found) -> Result<ToolReturn, Failure> {
    let lines = lines(params, &found.files);
    let total = lines.len();
    let limit = if params.head_limit == 0 { usize::MAX } else { params.head_limit };
    let page: Vec<&str> =
        lines.iter().map(String::as_str).skip(params.offset).take(limit).collect();
    let end = params.offset.saturating_add(page.len());
    let mut notes = Vec::new();
    if params.output_mode == OutputMode::CountMatches && total > 0 {
        let sum: u64 = found.files.iter().map(|file| file.count).sum();
        notes.push(format!("Found {sum} total occurrences across {total} files."));
    }
    if total == 0 {
        notes.push("No matches found".to_owned());
    } else if page.is_empty() {
        notes.push(format!(
            "There is nothing at offset={}: the total is {total} lines.",
            params.offset
        ));
    } else if end < total {
        notes.push(format!(
            "Results truncated to {} lines (total: {total}). Use offset={end} to see more.",
            page.len()
        ));
    }
    if !found.sensitive.is_empty() {
        notes.push(sensitive_note(&found.sensitive));
    }
    if found.too_much {
        notes.push("There were too many matches to collect all; narrow the search.".to_owned());
    }
    if found.timed_out {
        let seconds = TIME_LIMIT.as_secs();
        if total == 0 {
            return Err(Failure::new(
                format!("Grep timed out after {seconds}s. Narrow `path`, `glob` or `type`."),
                "Grep timed out",
            ));
        }
        notes.push(format!("Grep timed out after {seconds}s; these are partial results."));
    }
    let mut output = OutputBuilder::default();
    page.iter().for_each(|line| output.write(&format!("{line}\n")));
    Ok(output.ok(&notes.join(" ")))
}

fn sensitive_note(files: &[String]) -> String {
    const SHOWN: usize = 5;
    let more = files.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let shown = files[..files.len().min(SHOWN)].join(", ");
    format!("Matches in files that may hold secrets were left out: {shown}{more}.")
}

/// All lines of the output, before any limit.
fn lines(params: &Params, files: &[FileMatches]) -> Vec<String> {
    match params.output_mode {
        OutputMode::FilesWithMatches => files.iter().map(|file| file.shown.clone()).collect(),
        OutputMode::CountMatches => {
            files.iter().map(|file| format!("{}:{}", file.shown, file.count)).collect()
        }
        OutputMode::Content => {
            let with_context =
                matches!(show(params), Show::Lines { before, after, .. } if before + after > 0);
            let mut lines = Vec::new();
            for file in files {
                if with_context && !lines.is_empty() {
                    lines.push(search::GAP.to_owned());
                }
                lines.extend_from_slice(&file.lines);
            }
            lines
        }
    }
}
