//! Glob: files by the pattern of their names (`kimi-cli` `tools/file/glob.py`).

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::output::OutputBuilder;
use super::tool::ToolContext;
use super::typed::{Failure, TypedTool};
use super::{blocking, path};
use crate::message::ToolReturn;

/// Paths in one result.
const MAX_MATCHES: usize = 1000;
/// Paths collected to be sorted before the first [`MAX_MATCHES`] are taken.
const MAX_COLLECTED: usize = 200_000;

pub(crate) struct Glob;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// The pattern, relative to the directory.
    pattern: String,
    /// Its absolute path; the working directory unless given.
    #[serde(default, alias = "path")]
    directory: Option<String>,
    /// List directories too.
    #[serde(default = "yes")]
    include_dirs: bool,
}

fn yes() -> bool {
    true
}

impl TypedTool for Glob {
    type Params = Params;
    const NAME: &'static str = "Glob";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/glob.md");

    async fn run(&self, params: Params, context: &ToolContext) -> Result<ToolReturn, Failure> {
        find(params, context).await
    }
}

async fn find(params: Params, context: &ToolContext) -> Result<ToolReturn, Failure> {
    let directory = directory(params.directory.as_deref(), context)?;
    let pattern = params.pattern;
    let matcher = matcher(&pattern, &directory)?;
    let start = start(&directory, &pattern);
    // A link in the fixed part of the pattern must not lead out of the workspace.
    let resolved = path::resolve(context, &start.to_string_lossy())?;
    if !resolved.inside {
        return Err(outside(&pattern));
    }
    let (depth, include_dirs) = (depth(&pattern), params.include_dirs);
    let search = Search { directory, start, matcher, depth, include_dirs };
    let found = blocking::run(context, move |stop| search.run(&stop)).await?;
    let Some(mut found) = found else { return Err(blocking::cancelled()) };
    let total = found.len();
    found.truncate(MAX_MATCHES);
    let mut output = OutputBuilder::default();
    found.iter().for_each(|path| output.write(&format!("{path}\n")));
    Ok(match total {
        0 => output.ok(&format!("No matches found for pattern `{pattern}`.")),
        1..=MAX_MATCHES => output.ok(&format!("Found {total} matches for pattern `{pattern}`.")),
        _ => output.ok(&format!(
            "Found {total} matches for pattern `{pattern}`. Only the first {MAX_MATCHES} are \
             returned; use a more specific pattern or directory."
        )),
    })
}

fn directory(given: Option<&str>, context: &ToolContext) -> Result<PathBuf, Failure> {
    let Some(given) = given else { return Ok(context.work_dir.clone()) };
    let error = |what: &str| Err(Failure::new(format!("`{given}` {what}"), "Invalid directory"));
    // `.` can only mean one folder, so it is not worth a second call.
    if given != "." && !given.starts_with('~') && !Path::new(given).is_absolute() {
        return error(
            "is not an absolute path. Give the absolute path of the directory to search.",
        );
    }
    let resolved = path::resolve(context, given)?;
    if !resolved.inside {
        return error("is outside of the workspace; only directories in it can be searched.");
    }
    if !resolved.path.exists() {
        return Err(path::not_found(context, given, &resolved.path));
    }
    if !resolved.path.is_dir() {
        return error("is not a directory.");
    }
    Ok(resolved.path)
}

fn matcher(pattern: &str, directory: &Path) -> Result<GlobMatcher, Failure> {
    if pattern.starts_with("**") {
        let mut message = format!(
            "Pattern `{pattern}` starts with `**`, which would search everything, large directories \
             like `node_modules` included. Begin with a directory (`src/{pattern}`), or use Grep \
             with its `glob` parameter, which skips ignored files."
        );
        let top = top_level(directory);
        message.push_str(&format!(" The directory holds: {top}."));
        return Err(Failure::new(message, "Unsafe pattern"));
    }
    if Path::new(pattern).is_absolute() {
        return Err(Failure::new(
            format!("Pattern `{pattern}` is absolute. Give its beginning as `directory` instead."),
            "Invalid pattern",
        ));
    }
    if pattern.split('/').any(|part| part == "..") {
        return Err(outside(pattern));
    }
    GlobBuilder::new(clean(pattern)).literal_separator(true).build().map_or_else(
        |error| {
            let message = format!("Invalid pattern `{pattern}`: {}.", error.kind());
            Err(Failure::new(message, "Invalid pattern"))
        },
        |glob| Ok(glob.compile_matcher()),
    )
}

fn outside(pattern: &str) -> Failure {
    Failure::new(
        format!(
            "Pattern `{pattern}` leads out of the directory. Give another `directory` instead."
        ),
        "Invalid pattern",
    )
}

fn top_level(directory: &Path) -> String {
    const SHOWN: usize = 50;
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| {
            let slash = if entry.path().is_dir() { "/" } else { "" };
            format!("`{}{slash}`", entry.file_name().to_string_lossy())
        })
        .collect();
    names.sort();
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

fn clean(pattern: &str) -> &str {
    pattern.trim_start_matches("./").trim_end_matches('/')
}

/// The folder below which matches can be: the pattern's parts before the first one with a wildcard.
fn start(directory: &Path, pattern: &str) -> PathBuf {
    let parts: Vec<&str> = clean(pattern).split('/').collect();
    let folders = &parts[..parts.len().saturating_sub(1)];
    let fixed = folders.iter().take_while(|part| !part.contains(['*', '?', '[', '{', '\\']));
    fixed.fold(directory.to_path_buf(), |path, part| path.join(part))
}

/// How deep below the directory matches can be; `None` for any depth.
fn depth(pattern: &str) -> Option<usize> {
    // Alternatives may hold slashes, so only their absence makes counting slashes right.
    let unclear = pattern.contains("**") || pattern.contains('{');
    (!unclear).then(|| clean(pattern).split('/').count())
}

struct Search {
    directory: PathBuf,
    start: PathBuf,
    matcher: GlobMatcher,
    depth: Option<usize>,
    include_dirs: bool,
}

impl Search {
    /// The relative paths that match, sorted. `None` when it was stopped.
    fn run(&self, stop: &CancellationToken) -> Option<Vec<String>> {
        let skipped =
            self.start.strip_prefix(&self.directory).map_or(0, |p| p.components().count());
        let walk = WalkBuilder::new(&self.start)
            .standard_filters(false)
            .max_depth(self.depth.map(|depth| depth.saturating_sub(skipped)))
            .filter_entry(|entry| entry.depth() == 0 || !path::is_vcs_name(entry.file_name()))
            .build();
        let mut found = Vec::new();
        for entry in walk {
            if stop.is_cancelled() {
                return None;
            }
            let Ok(entry) = entry else { continue };
            let Ok(relative) = entry.path().strip_prefix(&self.directory) else { continue };
            if relative.as_os_str().is_empty() || !self.matcher.is_match(relative) {
                continue;
            }
            if !self.include_dirs && entry.path().is_dir() {
                continue;
            }
            found.push(relative.to_string_lossy().into_owned());
            if found.len() == MAX_COLLECTED {
                break;
            }
        }
        found.sort();
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use super::*;
    use crate::tools::testing::Bench;

    async fn lines(bench: &Bench, pattern: &str) -> Vec<String> {
        let result = bench.call(&Glob, json!({"pattern": pattern})).await;
        assert!(!result.is_error, "{}", result.message);
        result.output.text().lines().map(str::to_owned).collect()
    }

    fn project() -> Bench {
        let bench = Bench::new();
        for name in ["a.rs", "b.txt", ".hid.rs", "src/a.rs", "src/deep/b.rs", "src/.git/x.rs"] {
            bench.file(name, "");
        }
        bench
    }

    #[tokio::test]
    async fn matches_are_relative_and_sorted() {
        let bench = project();
        assert_eq!(lines(&bench, "*.rs").await, [".hid.rs", "a.rs"]);
        assert_eq!(lines(&bench, "src/**/*.rs").await, ["src/a.rs", "src/deep/b.rs"]);
        assert_eq!(lines(&bench, "./src/*").await, ["src/a.rs", "src/deep"]);
        assert_eq!(lines(&bench, "{a,b}.*").await, ["a.rs", "b.txt"]);
        assert_eq!(lines(&bench, "s*/*.rs").await, ["src/a.rs"]);
        let result = bench.call(&Glob, json!({"pattern": "src/*", "include_dirs": false})).await;
        assert_eq!(result.output.text(), "src/a.rs\n");
        let src = bench.path("src");
        let result = bench.call(&Glob, json!({"pattern": "*.rs", "directory": src})).await;
        assert_eq!(result.output.text(), "a.rs\n");
        assert_eq!(result.message, "Found 1 matches for pattern `*.rs`.");
    }

    #[tokio::test]
    async fn unsafe_and_broken_patterns_say_what_to_do_instead() {
        let bench = project();
        let message = async |pattern: &str| {
            let result = bench.call(&Glob, json!({"pattern": pattern})).await;
            assert!(result.is_error);
            result.message
        };
        let recursive = message("**/*.rs").await;
        assert!(recursive.contains("`src/**/*.rs`") && recursive.contains("`src/`"), "{recursive}");
        assert!(message("/etc/*").await.contains("absolute"));
        assert!(message("../*").await.contains("leads out"));
        assert!(message("a[").await.contains("Invalid pattern"));
        symlink(&bench.root, bench.path("up")).expect("link");
        assert!(message("up/*").await.contains("leads out"));
    }

    #[tokio::test]
    async fn the_directory_must_be_absolute_there_and_inside() {
        let bench = project();
        let message = async |directory: &str| {
            let arguments = json!({"pattern": "*", "directory": directory});
            bench.call(&Glob, arguments).await.message
        };
        assert!(message("src").await.contains("not an absolute path"));
        assert!(message(bench.root.to_str().expect("utf-8")).await.contains("outside"));
        assert!(
            message(bench.path("no").to_str().expect("utf-8")).await.contains("does not exist")
        );
        assert!(message(bench.path("a.rs").to_str().expect("utf-8")).await.contains("not a dir"));
    }

    #[tokio::test]
    async fn a_thousand_matches_are_enough_and_cancelling_ends_it() {
        let bench = Bench::new();
        for n in 0..1010 {
            bench.file(&format!("f{n:04}"), "");
        }
        let result = bench.call(&Glob, json!({"pattern": "f*"})).await;
        assert_eq!(result.output.text().lines().count(), 1000);
        assert!(result.message.contains("Found 1010 matches"), "{}", result.message);
        bench.context.cancelled.cancel();
        let result = bench.call(&Glob, json!({"pattern": "f*"})).await;
        assert_eq!(result.brief(), Some("Cancelled"));
    }
}
