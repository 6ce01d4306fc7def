//! LS: what is in a folder, one or two levels deep.

use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::output::{OutputBuilder, size};
use super::tool::ToolContext;
use super::typed::{Failure, TypedTool};
use super::{blocking, path};
use crate::message::ToolReturn;

/// Entries shown of the folder itself.
const MAX_ENTRIES: usize = 500;
/// Entries shown of each folder in it.
const MAX_NESTED: usize = 50;

pub(crate) struct Ls;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// The folder; outside of the working directory an absolute path.
    #[serde(default = "here", alias = "directory", alias = "dir")]
    path: String,
    /// 2 also lists what is in its folders.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 2))]
    depth: u8,
}

fn here() -> String {
    ".".to_owned()
}

fn one() -> u8 {
    1
}

impl TypedTool for Ls {
    type Params = Params;
    const NAME: &'static str = "LS";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/ls.md");

    async fn run(&self, params: Params, context: &ToolContext) -> Result<ToolReturn, Failure> {
        let raw = &params.path;
        let folder = path::resolve_for(context, raw, "list a folder")?.path;
        if !folder.exists() {
            return Err(path::not_found(context, raw, &folder));
        }
        if !folder.is_dir() {
            return Err(Failure::new(
                format!("`{raw}` is a file, not a folder. Use ReadFile to read it."),
                "Not a folder",
            ));
        }
        let shown = path::shown(context, &folder);
        let listed = blocking::run(context, move |stop| list(&folder, params.depth, &stop)).await?;
        let Listing { output, entries } = listed.map_err(|error| match error.kind() {
            std::io::ErrorKind::Interrupted => blocking::cancelled(),
            _ => Failure::new(format!("`{raw}` cannot be listed: {error}."), "Folder not readable"),
        })?;
        Ok(match entries {
            0 => output.ok(&format!("The folder `{shown}` is empty.")),
            _ => output.ok(&format!("The folder `{shown}` has {entries} entries.")),
        })
    }
}

struct Listing {
    output: OutputBuilder,
    entries: usize,
}

fn list(folder: &Path, depth: u8, stop: &CancellationToken) -> std::io::Result<Listing> {
    let entries = read(folder, stop)?;
    let mut output = OutputBuilder::default();
    for entry in entries.iter().take(MAX_ENTRIES) {
        output.write(&format!("{}\n", entry.line));
        if depth > 1 && entry.is_dir {
            list_nested(&folder.join(&entry.name), stop, &mut output);
        }
    }
    if entries.len() > MAX_ENTRIES {
        output.write(&format!("... and {} more\n", entries.len() - MAX_ENTRIES));
    }
    if stop.is_cancelled() {
        return Err(std::io::ErrorKind::Interrupted.into());
    }
    Ok(Listing { output, entries: entries.len() })
}

/// A folder in the folder; one that cannot be read says so in its place.
fn list_nested(folder: &Path, stop: &CancellationToken, output: &mut OutputBuilder) {
    match read(folder, stop) {
        Ok(entries) => {
            for entry in entries.iter().take(MAX_NESTED) {
                output.write(&format!("  {}\n", entry.line));
            }
            if entries.len() > MAX_NESTED {
                output.write(&format!("  ... and {} more\n", entries.len() - MAX_NESTED));
            }
        }
        Err(error) => output.write(&format!("  (not readable: {error})\n")),
    }
}

struct Entry {
    name: std::ffi::OsString,
    is_dir: bool,
    line: String,
}

/// The entries of `folder`: folders first, then by name.
fn read(folder: &Path, stop: &CancellationToken) -> std::io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        if stop.is_cancelled() {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let Ok(entry) = entry else { continue };
        let name = entry.file_name();
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let line = line(&entry.path(), &name.to_string_lossy());
        entries.push(Entry { name, is_dir, line });
    }
    entries.sort_by(|a, b| b.is_dir.cmp(&a.is_dir).then_with(|| a.name.cmp(&b.name)));
    Ok(entries)
}

fn line(path: &Path, name: &str) -> String {
    // A line break in a name would look like two entries.
    let name = name.replace(['\n', '\r'], "?");
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => format!("{name}/"),
        Ok(meta) if meta.is_symlink() => match fs::read_link(path) {
            Ok(target) => format!("{name} -> {}", target.display()),
            Err(_) => format!("{name} -> ?"),
        },
        Ok(meta) if meta.is_file() => format!("{name} ({})", size(meta.len())),
        Ok(_) => format!("{name} (special file)"),
        Err(_) => format!("{name} (gone)"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use super::*;
    use crate::tools::testing::Bench;

    #[tokio::test]
    async fn folders_come_first_with_sizes_and_links() {
        let bench = Bench::new();
        bench.file("b.txt", "x".repeat(1536));
        bench.file("a.txt", "");
        bench.file("src/main.rs", "fn");
        bench.file(".hidden", "");
        symlink("b.txt", bench.path("link")).expect("link");
        let result = bench.call(&Ls, json!({})).await;
        assert_eq!(
            result.output.text(),
            "src/\n.hidden (0 B)\na.txt (0 B)\nb.txt (1.5 KiB)\nlink -> b.txt\n"
        );
        assert_eq!(result.message, "The folder `.` has 5 entries.");
        let tree = bench.call(&Ls, json!({"depth": 2})).await;
        assert!(tree.output.text().starts_with("src/\n  main.rs (2 B)\n.hidden"));
    }

    #[tokio::test]
    async fn long_folders_are_cut_with_a_count() {
        let bench = Bench::new();
        for n in 0..510 {
            bench.file(&format!("f{n:03}"), "");
        }
        let text = bench.call(&Ls, json!({"path": "."})).await.output.text();
        assert!(text.ends_with("f499 (0 B)\n... and 10 more\n"), "{text}");
        for n in 0..60 {
            bench.file(&format!("sub/g{n:02}"), "");
        }
        let text = bench.call(&Ls, json!({"depth": 2})).await.output.text();
        assert!(text.contains("  g49 (0 B)\n  ... and 10 more\n"), "{text}");
    }

    #[tokio::test]
    async fn what_is_no_folder_is_told() {
        let bench = Bench::new();
        bench.file("a.txt", "");
        let call = async |path: &str| bench.call(&Ls, json!({"path": path})).await;
        assert!(call("a.txt").await.message.contains("Use ReadFile"));
        assert!(call("b.txt").await.message.contains("Did you mean `a.txt`?"));
        assert!(call("..").await.message.contains("absolute path"));
        let parent = bench.root.to_str().expect("utf-8");
        assert_eq!(call(parent).await.output.text(), "work/\n");
        std::fs::create_dir(bench.path("empty")).expect("folder");
        assert_eq!(call("empty").await.message, "The folder `empty` is empty.");
        bench.context.cancelled.cancel();
        assert_eq!(call(".").await.brief(), Some("Cancelled"));
    }
}
