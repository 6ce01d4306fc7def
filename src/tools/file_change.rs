//! Changing a file with the person's consent: the difference is shown first, and what is written is
//! what was shown.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use super::diff::diff_blocks;
use super::firm::{self, Folder};
use super::path::Resolved;
use super::tool::{Approval, ApprovalAsk, ToolContext};
use super::typed::Failure;
use super::{blocking, errand, output, plan};
use crate::message::{DiffBlock, DisplayBlock};

/// Larger files are not changed by tools that hold them in memory.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// A change that is ready to be shown and made.
pub(crate) struct Change {
    /// The file, links followed: a link stays one, what it points to is changed.
    pub target: Resolved,
    /// The file's content as it was when the change was made up; `None` for a new file.
    pub old: Option<Vec<u8>>,
    /// Its content afterwards.
    pub new: Vec<u8>,
}

/// The content of the file a tool wants to change, as the front end has it if it keeps files of its
/// own; `None` when there is no file yet.
pub(crate) async fn content_before(
    context: &ToolContext,
    raw: &str,
    path: &Path,
) -> Result<Option<Vec<u8>>, Failure> {
    let (name, file) = (raw.to_owned(), path.to_owned());
    let saved = blocking::run(context, move |_| read_old(&name, &file)).await??;
    match saved {
        Some(saved) if str::from_utf8(&saved).is_ok() => {
            let unsaved = errand::text_of(context, path).await;
            Ok(Some(unsaved.map_or(saved, String::into_bytes)))
        }
        saved => Ok(saved),
    }
}

/// The content of the file on disk; `None` when there is no file yet.
fn read_old(raw: &str, path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(raw, "read", &error)),
    };
    let refuse = |what: &str, brief: &str| {
        Err(Failure::new(format!("`{raw}` {what} Nothing was changed."), brief))
    };
    if meta.is_dir() {
        return refuse("is a directory, not a file.", "Not a file");
    }
    if !meta.is_file() {
        return refuse("is a device, a pipe or a socket, not a regular file.", "Not a file");
    }
    if meta.len() > MAX_FILE_BYTES {
        let size = output::size(meta.len());
        return refuse(
            &format!("is too large ({size}) for this tool; use Bash."),
            "File too large",
        );
    }
    // A rename would replace a read-only file without asking anybody.
    if meta.permissions().readonly() {
        return refuse("is read-only.", "Read-only file");
    }
    let mut content = Vec::new();
    firm::open_regular(path)
        .and_then(|mut file| file.read_to_end(&mut content))
        .map_err(|error| failed(raw, "read", &error))?;
    Ok(Some(content))
}

/// Refuses to change a file that somebody else changed since the session read it: what the model
/// knows of it is not so any more. A file that was never read is not guarded.
pub(crate) fn refuse_unseen_changes(
    context: &ToolContext,
    raw: &str,
    path: &Path,
    old: &[u8],
) -> Result<(), Failure> {
    let has_changed = context.services.files_seen().is_some_and(|seen| seen.has_changed(path, old));
    if !has_changed {
        return Ok(());
    }
    Err(Failure::new(
        format!(
            "`{raw}` was changed since you last read or wrote it, by the user or by a command. \
             Nothing was written; read it again, then repeat the change."
        ),
        "File changed since it was read",
    ))
}

/// Shows `change`, asks, and makes it. Returns the blocks that show it.
///
/// `verb` begins the question: `Write`, `Edit`.
///
/// # Errors
/// The result to return when it was rejected, the file changed meanwhile, or it cannot be written.
pub(crate) async fn approve_and_write(
    context: &ToolContext,
    raw: &str,
    verb: &str,
    change: Change,
) -> Result<Vec<DisplayBlock>, Failure> {
    let plan_file = context.services.plan_file();
    if plan_file.as_ref().is_some_and(|plan| *plan != change.target.path) {
        return Err(plan::only_the_plan(raw, plan_file.as_deref()));
    }
    let (change, display) = blocking::run(context, move |_| {
        let display = show(&change);
        (change, display)
    })
    .await?;
    let outside = if change.target.inside { "" } else { " outside of working directory" };
    let ask = ApprovalAsk {
        action: format!("edit file{outside}"),
        description: format!("{verb} file `{}`", change.target.path.display()),
        display: display.clone(),
    };
    // The plan is what plan mode is for: nobody is asked about it.
    if plan_file.is_none()
        && let Approval::Rejected { feedback } = context.services.approve(context, ask).await
    {
        return Err(Approval::rejection(&feedback).into());
    }
    let (target, old) = (&change.target.path, change.old.as_deref());
    if errand::write(context, raw, target, old, &change.new).await? {
        if let Some(seen) = context.services.files_seen() {
            seen.note(target, blake3::hash(&change.new));
        }
        return Ok(display);
    }
    let raw = raw.to_owned();
    let (path, content) = (change.target.path.clone(), blake3::hash(&change.new));
    let services = std::sync::Arc::clone(&context.services);
    blocking::run(context, move |_| {
        services.before_write(&change.target.path);
        let written = write(&raw, &change);
        services.after_write(&change.target.path);
        written
    })
    .await??;
    if let Some(seen) = context.services.files_seen() {
        seen.note(&path, content);
    }
    Ok(display)
}

fn show(change: &Change) -> Vec<DisplayBlock> {
    let path = &change.target.path;
    let old = change.old.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
    let new = String::from_utf8_lossy(&change.new);
    let blocks = diff_blocks(path, &old, &new);
    if !blocks.is_empty() {
        return blocks;
    }
    // A new empty file differs in no line, but the person must see which file it is.
    vec![DisplayBlock::Diff(DiffBlock {
        path: path.display().to_string(),
        old_text: String::new(),
        new_text: String::new(),
        old_start: 1,
        new_start: 1,
        is_summary: false,
    })]
}

/// Makes `change`, unless the file or the way to it is not what it was when it was looked at.
pub(crate) fn write(raw: &str, change: &Change) -> Result<(), Failure> {
    let path = &change.target.path;
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Failure::new(format!("`{raw}` names no file."), "Not a file"));
    };
    // From here on names are looked up in this folder: whoever puts a link in its way now moves
    // nothing that was asked about.
    let folder = Folder::open(parent).map_err(|error| {
        Failure::new(
            format!(
                "The folder of `{raw}` is not what it was when this was approved ({error}). \
                 Nothing was written."
            ),
            "Folder changed meanwhile",
        )
    })?;
    match folder.read(name) {
        Ok(now) if now == change.old => {}
        _ => return Err(changed_meanwhile(raw)),
    }
    folder.replace(name, &change.new).map_err(|error| failed(raw, "written", &error))
}

pub(crate) fn changed_meanwhile(raw: &str) -> Failure {
    Failure::new(
        format!(
            "`{raw}` was changed by somebody else after this edit was prepared. \
             Nothing was written; read the file again and repeat the edit."
        ),
        "File changed meanwhile",
    )
}

fn failed(raw: &str, what: &str, error: &io::Error) -> Failure {
    Failure::new(format!("`{raw}` cannot be {what}: {error}."), format!("File not {what}"))
}
