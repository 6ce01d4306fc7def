//! Where a path a model writes leads: against the work folder, `~` and links followed, and whether
//! the end of it is inside the workspace.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::tool::ToolContext;
use super::typed::Failure;

/// Links followed before a path counts as a loop, as Linux does.
const MAX_LINKS: usize = 40;
/// Names of a folder looked at to suggest near ones.
const MAX_NAMES: usize = 5000;

/// A path with all its links followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// Absolute, without links, `.` and `..`. It may not exist.
    pub path: PathBuf,
    /// Is it in the work folder or in a folder added to the workspace?
    pub inside: bool,
    /// Was it written relative to the work folder?
    relative: bool,
}

/// Resolves `raw` as the tools of `context` see it. Files that do not exist yet resolve too.
pub(crate) fn resolve(context: &ToolContext, raw: &str) -> Result<Resolved, Failure> {
    if raw.is_empty() {
        return Err(Failure::new("The path is empty.", "Empty path"));
    }
    if raw.contains('\0') {
        return Err(Failure::new("The path holds a NUL character.", "Invalid path"));
    }
    let written = expand_home(raw, crate::paths::home().as_deref());
    let relative = !written.is_absolute();
    let path = follow(&context.work_dir.join(written)).map_err(|error| {
        Failure::new(format!("`{raw}` cannot be resolved: {error}."), "Invalid path")
    })?;
    let inside = is_inside(context, &path);
    Ok(Resolved { path, inside, relative })
}

/// Like [`resolve`], but a relative path may not lead out of the workspace. `verb` is what the tool
/// would do: `read`, `write`, `edit`, `search`, `list`.
pub(crate) fn resolve_for(
    context: &ToolContext,
    raw: &str,
    verb: &str,
) -> Result<Resolved, Failure> {
    let resolved = resolve(context, raw)?;
    if resolved.relative && !resolved.inside {
        return Err(Failure::new(
            format!(
                "`{raw}` is not an absolute path and leads outside of the working directory, to `{}`. \
                 You must provide an absolute path to {verb} outside of the working directory.",
                resolved.path.display()
            ),
            "Invalid path",
        ));
    }
    Ok(resolved)
}

/// Is `path`, which must be resolved, in the workspace?
pub(crate) fn is_inside(context: &ToolContext, path: &Path) -> bool {
    path.starts_with(&context.work_dir)
        || context.added_dirs.iter().any(|added| path.starts_with(added))
}

/// `path` as results name it: relative to the work folder when it is in it.
pub(crate) fn shown(context: &ToolContext, path: &Path) -> String {
    match path.strip_prefix(&context.work_dir) {
        Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
        Ok(rest) => rest.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

fn expand_home(raw: &str, home: Option<&Path>) -> PathBuf {
    let rest = match raw.strip_prefix('~') {
        Some("") => Some(""),
        Some(rest) => rest.strip_prefix('/'),
        None => None,
    };
    match (rest, home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(raw),
    }
}

/// Follows every link on the way of an absolute path, as the kernel would, also where the end (or
/// what a link points to) does not exist.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut todo: VecDeque<OsString> =
        path.components().map(|part| part.as_os_str().to_owned()).collect();
    let mut done = PathBuf::new();
    let mut links = 0;
    while let Some(part) = todo.pop_front() {
        match Path::new(&part).components().next() {
            Some(Component::Normal(name)) => {
                let next = done.join(name);
                let is_link = std::fs::symlink_metadata(&next).is_ok_and(|meta| meta.is_symlink());
                if !is_link {
                    done = next;
                    continue;
                }
                links += 1;
                if links > MAX_LINKS {
                    return Err(io::Error::other("too many symbolic links"));
                }
                let target = std::fs::read_link(&next)?;
                for part in target.components().rev() {
                    todo.push_front(part.as_os_str().to_owned());
                }
            }
            Some(Component::ParentDir) => {
                done.pop();
            }
            Some(root @ (Component::RootDir | Component::Prefix(_))) => done.push(root),
            Some(Component::CurDir) | None => {}
        }
    }
    Ok(done)
}

/// What to say when `path` does not exist, with the names in its folder that are near.
pub(crate) fn not_found(context: &ToolContext, raw: &str, path: &Path) -> Failure {
    let near = near_names(path);
    let hint = match near.as_slice() {
        [] => match path.parent() {
            Some(parent) if !parent.is_dir() => {
                format!(" The folder `{}` does not exist either.", shown(context, parent))
            }
            _ => " Use LS or Glob to see what is there.".to_owned(),
        },
        near => {
            let near: Vec<String> =
                near.iter().map(|p| format!("`{}`", shown(context, p))).collect();
            format!(" Did you mean {}?", near.join(" or "))
        }
    };
    Failure::new(format!("`{raw}` does not exist.{hint}"), "File not found")
}

fn near_names(path: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(wanted)) = (path.parent(), path.file_name().and_then(|n| n.to_str()))
    else {
        return Vec::new();
    };
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .flatten()
        .take(MAX_NAMES)
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let same = names.iter().filter(|name| name.eq_ignore_ascii_case(wanted)).copied();
    let mut near: Vec<&str> = same.collect();
    if near.is_empty() {
        near = similar::get_close_matches(wanted, &names, 3, 0.7);
    }
    near.into_iter().map(|name| folder.join(name)).collect()
}

/// Is this the folder of a version control system, which searches leave out?
pub(crate) fn is_vcs_name(name: &OsStr) -> bool {
    [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"].iter().any(|vcs| name == *vcs)
}

/// Does a file of this name usually hold secrets? (`kimi-cli` `utils/sensitive.py`)
pub(crate) fn is_sensitive(path: &Path) -> bool {
    let lower = |part: Option<&OsStr>| {
        part.map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default()
    };
    let name = lower(path.file_name());
    let folder = lower(path.parent().and_then(Path::file_name));
    match name.as_str() {
        "id_rsa" | "id_ed25519" | "id_ecdsa" | "id_dsa" => true,
        "credentials" => folder == ".aws" || folder == ".gcp",
        ".env" | ".envrc" => true,
        name if name.starts_with(".env.") => {
            ![".example", ".sample", ".template"].iter().any(|end| name.ends_with(end))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::tools::testing::Bench;

    fn resolved(bench: &Bench, raw: &str) -> Resolved {
        resolve(&bench.context, raw).expect("resolved")
    }

    #[test]
    fn paths_resolve_against_the_work_folder_even_when_nothing_is_there() {
        let bench = Bench::new();
        let one = resolved(&bench, "./src/../new/deep.rs");
        assert_eq!((one.path, one.inside), (bench.path("new/deep.rs"), true));
        assert!(!resolved(&bench, "../other").inside);
        assert!(!resolved(&bench, "/etc/hosts").inside);
        // A sibling whose name begins alike is not inside.
        assert!(!resolved(&bench, "../work2/file").inside);
        assert!(resolve(&bench.context, "").is_err());
        assert!(resolve(&bench.context, "a\0b").is_err());
    }

    #[test]
    fn links_out_of_the_workspace_are_outside_also_when_they_dangle() {
        let bench = Bench::new();
        std::fs::create_dir(bench.root.join("out")).expect("out");
        symlink(bench.root.join("out"), bench.path("folder")).expect("link");
        symlink("../out/not-yet", bench.path("dangling")).expect("link");
        symlink("loop", bench.path("loop")).expect("link");
        let through = resolved(&bench, "folder/new.txt");
        assert_eq!((through.path, through.inside), (bench.root.join("out/new.txt"), false));
        let dangling = resolved(&bench, "dangling");
        assert_eq!((dangling.path, dangling.inside), (bench.root.join("out/not-yet"), false));
        // `..` after a link leaves the link's target, as the kernel has it.
        assert_eq!(resolved(&bench, "folder/../x").path, bench.root.join("x"));
        assert!(resolve(&bench.context, "loop").is_err());
        let refused = resolve_for(&bench.context, "folder/new.txt", "read").expect_err("outside");
        let refused = crate::message::ToolReturn::from(refused);
        assert!(refused.message.contains("absolute path"), "{}", refused.message);
    }

    #[test]
    fn added_folders_belong_to_the_workspace() {
        let mut bench = Bench::new();
        let added = bench.root.join("added");
        assert!(!resolved(&bench, added.join("x").to_str().expect("utf-8")).inside);
        bench.context.added_dirs.push(added.clone());
        assert!(resolved(&bench, added.join("x").to_str().expect("utf-8")).inside);
    }

    #[test]
    fn a_tilde_is_the_home_folder_only_alone_or_before_a_slash() {
        let home = Path::new("/home/me");
        assert_eq!(expand_home("~/a", Some(home)), Path::new("/home/me/a"));
        assert_eq!(expand_home("~", Some(home)), Path::new("/home/me/"));
        assert_eq!(expand_home("~you/a", Some(home)), Path::new("~you/a"));
        assert_eq!(expand_home("a~", Some(home)), Path::new("a~"));
    }

    #[test]
    fn sensitive_files_are_told_from_their_examples() {
        for name in [".env", ".env.local", "a/.ENV.production", "id_rsa", "x/.aws/credentials"] {
            assert!(is_sensitive(Path::new(name)), "{name}");
        }
        for name in
            [".env.example", ".env.local.sample", ".environment", "id_rsa.pub", "credentials"]
        {
            assert!(!is_sensitive(Path::new(name)), "{name}");
        }
    }
}
