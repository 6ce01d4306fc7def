//! WriteFile: a whole new content, or more at the end (`kimi-cli` `tools/file/write.py`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::file_change::{Change, approve_and_write, content_before, refuse_unseen_changes};
use super::path;
use super::tool::ToolContext;
use super::typed::{Failure, TypedTool};
use crate::message::ToolReturn;

pub(crate) struct WriteFile;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// The file; outside of the working directory an absolute path.
    #[serde(alias = "file_path")]
    path: String,
    /// What to write.
    content: String,
    /// Either makes a new file.
    #[serde(default)]
    mode: Mode,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    Overwrite,
    Append,
}

impl TypedTool for WriteFile {
    type Params = Params;
    const NAME: &'static str = "WriteFile";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/write_file.md");

    async fn run(&self, params: Params, context: &ToolContext) -> Result<ToolReturn, Failure> {
        write(params, context).await
    }
}

async fn write(params: Params, context: &ToolContext) -> Result<ToolReturn, Failure> {
    let Params { path: raw, content, mode } = params;
    let target = path::resolve_for(context, &raw, "write a file")?;
    if raw.ends_with('/') {
        return Err(Failure::new(format!("`{raw}` names a directory, not a file."), "Not a file"));
    }
    let folder = target.path.parent().unwrap_or(&target.path);
    if !folder.is_dir() {
        return Err(Failure::new(
            format!(
                "`{raw}` cannot be written: its parent directory `{}` does not exist. \
                 Make it first with Bash (`mkdir -p`).",
                path::shown(context, folder)
            ),
            "Parent directory not found",
        ));
    }
    let old = content_before(context, &raw, &target.path).await?;
    // Adding to a file loses nothing of it.
    if let (Mode::Overwrite, Some(old)) = (mode, &old) {
        refuse_unseen_changes(context, &raw, &target.path, old)?;
    }
    let mut new = Vec::new();
    if let (Mode::Append, Some(old)) = (mode, &old) {
        new.extend_from_slice(old);
    }
    new.extend_from_slice(content.as_bytes());
    let bytes = new.len();
    if old.as_ref() == Some(&new) {
        return Ok(ToolReturn::ok(
            "",
            format!(
                "The file has exactly this content already; nothing was written. Current size: {bytes} bytes."
            ),
        ));
    }
    let display = approve_and_write(context, &raw, "Write", Change { target, old, new }).await?;
    let done = match mode {
        Mode::Overwrite => "overwritten",
        Mode::Append => "appended to",
    };
    let message = format!("File successfully {done}. Current size: {bytes} bytes.");
    Ok(ToolReturn { display, ..ToolReturn::ok("", message) })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use serde_json::{Value, json};

    use super::*;
    use crate::message::DisplayBlock;
    use crate::tools::testing::Bench;

    async fn run(bench: &Bench, arguments: Value) -> ToolReturn {
        bench.call(&WriteFile, arguments).await
    }

    fn diff(block: &DisplayBlock) -> (&str, &str) {
        match block {
            DisplayBlock::Diff(diff) => (&diff.old_text, &diff.new_text),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_file_is_written_after_the_difference_was_shown() {
        let bench = Bench::new();
        bench.file("a.txt", "one\n");
        let result = run(&bench, json!({"path": "a.txt", "content": "two\n"})).await;
        assert_eq!(result.message, "File successfully overwritten. Current size: 4 bytes.");
        assert_eq!(bench.read("a.txt"), "two\n");
        let asked = bench.asked();
        assert_eq!(asked[0].action, "edit file");
        assert_eq!(asked[0].description, format!("Write file `{}`", bench.path("a.txt").display()));
        assert_eq!(diff(&asked[0].display[0]), ("one", "two"));
        assert_eq!(result.display, asked[0].display);
    }

    #[tokio::test]
    async fn appending_adds_and_makes() {
        let bench = Bench::new();
        run(&bench, json!({"path": "new.txt", "content": "a\n", "mode": "append"})).await;
        let result =
            run(&bench, json!({"path": "new.txt", "content": "b\n", "mode": "append"})).await;
        assert_eq!(result.message, "File successfully appended to. Current size: 4 bytes.");
        assert_eq!(bench.read("new.txt"), "a\nb\n");
        let bad = run(&bench, json!({"path": "x", "content": "", "mode": "prepend"})).await;
        assert!(bad.message.contains("parameter `mode` must be one of"), "{}", bad.message);
    }

    #[tokio::test]
    async fn an_empty_new_file_is_asked_about_too() {
        let bench = Bench::new();
        assert!(!run(&bench, json!({"path": "empty", "content": ""})).await.is_error);
        assert_eq!(bench.read("empty"), "");
        assert_eq!(bench.asked()[0].display.len(), 1);
    }

    #[tokio::test]
    async fn a_rejection_writes_nothing_and_carries_the_feedback() {
        let bench = Bench::new();
        bench.reject("use tabs");
        let result = run(&bench, json!({"path": "a.txt", "content": "x"})).await;
        assert!(result.is_error && result.message.ends_with("User feedback: use tabs"));
        assert_eq!(result.brief(), Some("Rejected: use tabs"));
        assert!(!bench.path("a.txt").exists());
    }

    #[tokio::test]
    async fn outside_the_workspace_the_action_has_another_name() {
        let bench = Bench::new();
        let outside = bench.root.join("out.txt");
        run(&bench, json!({"path": outside.to_str().expect("utf-8"), "content": "x"})).await;
        assert_eq!(bench.asked()[0].action, "edit file outside of working directory");
        let relative = run(&bench, json!({"path": "../b.txt", "content": "x"})).await;
        assert!(relative.is_error && relative.message.contains("absolute path"));
        assert!(!bench.root.join("b.txt").exists());
        symlink(bench.root.join("dangling.txt"), bench.path("link")).expect("link");
        let link = bench.path("link");
        let through =
            run(&bench, json!({"path": link.to_str().expect("utf-8"), "content": "x"})).await;
        assert!(!through.is_error, "{}", through.message);
        assert_eq!(bench.asked()[1].action, "edit file outside of working directory");
    }

    #[tokio::test]
    async fn links_and_modes_stay() {
        let bench = Bench::new();
        let script = bench.file("run.sh", "a");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("mode");
        symlink("run.sh", bench.path("link")).expect("link");
        run(&bench, json!({"path": "link", "content": "b"})).await;
        assert_eq!(bench.read("run.sh"), "b");
        assert!(bench.path("link").symlink_metadata().expect("link").is_symlink());
        assert_eq!(script.metadata().expect("meta").permissions().mode() & 0o777, 0o755);
        run(&bench, json!({"path": "new.txt", "content": "b"})).await;
        let plain = bench.file("plain.txt", "x").metadata().expect("meta").permissions();
        let new = bench.path("new.txt").metadata().expect("meta").permissions();
        assert_eq!(new.mode(), plain.mode());
    }

    #[tokio::test]
    async fn a_file_changed_while_the_person_thought_is_left_alone() {
        let bench = Bench::new();
        let path = bench.file("a.txt", "one");
        bench.before_answer(move || std::fs::write(&path, "theirs").expect("write"));
        let result = run(&bench, json!({"path": "a.txt", "content": "mine"})).await;
        assert!(result.is_error && result.message.contains("read the file again"));
        assert_eq!(bench.read("a.txt"), "theirs");
    }

    #[tokio::test]
    async fn a_file_changed_since_it_was_read_is_not_overwritten_until_it_is_read_again() {
        use crate::tools::read_file::ReadFile;
        let bench = Bench::new();
        bench.file("a.txt", "one");
        // Never read: nothing to guard.
        assert!(!run(&bench, json!({"path": "a.txt", "content": "two"})).await.is_error);
        bench.file("a.txt", "theirs");
        let refused = run(&bench, json!({"path": "a.txt", "content": "three"})).await;
        assert_eq!(refused.brief(), Some("File changed since it was read"));
        assert!(refused.message.contains("read it again"), "{}", refused.message);
        assert_eq!((bench.read("a.txt").as_str(), bench.asked().len()), ("theirs", 1));
        let added = run(&bench, json!({"path": "a.txt", "content": "!", "mode": "append"})).await;
        assert!(!added.is_error, "adding loses nothing: {}", added.message);
        bench.file("a.txt", "theirs again");
        bench.call(&ReadFile, json!({"path": "a.txt", "n_lines": 1})).await;
        assert!(!run(&bench, json!({"path": "a.txt", "content": "three"})).await.is_error);
        assert_eq!(bench.read("a.txt"), "three");
    }

    #[tokio::test]
    async fn bad_targets_are_told_before_anybody_is_asked() {
        let bench = Bench::new();
        let missing = run(&bench, json!({"path": "no/such/a.txt", "content": "x"})).await;
        assert!(missing.message.contains("parent directory `no/such` does not exist"));
        let folder = run(&bench, json!({"path": ".", "content": "x"})).await;
        assert!(folder.message.contains("is a directory"), "{}", folder.message);
        let device = run(&bench, json!({"path": "/dev/null", "content": "x"})).await;
        assert!(device.message.contains("not a regular file"), "{}", device.message);
        let locked = bench.file("locked", "x");
        std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o444)).expect("mode");
        let readonly = run(&bench, json!({"path": "locked", "content": "y"})).await;
        assert!(readonly.message.contains("read-only"), "{}", readonly.message);
        assert!(bench.asked().is_empty());
    }
}
