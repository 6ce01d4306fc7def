//! A project's instructions to agents: the `AGENTS.md` files from the repository's top down to the
//! work folder.
//!
//! As upstream merges them (`kimi-cli` `soul/agent.py:68-168`): in each folder `.kimi/AGENTS.md`,
//! then `AGENTS.md` or `agents.md`, each below a comment that says where it comes from. The space
//! is limited; the files nearest to the work folder get theirs first.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes of all files together.
const BUDGET: usize = 32 * 1024;

const CUT: &str = "\n\n[The rest of this file is left out: AGENTS.md files share 32 KiB.]";

/// All instructions for work in `work_dir`; empty when there are none.
pub(super) fn gather(work_dir: &Path) -> String {
    let mut left = BUDGET;
    let mut blocks: Vec<String> = Vec::new();
    for folder in folders(work_dir) {
        for path in files(&folder).into_iter().rev() {
            let Some((text, is_cut)) = read(&path, left) else { continue };
            if text.trim().is_empty() {
                continue;
            }
            left -= text.len();
            let end = if is_cut { CUT } else { "" };
            blocks.push(format!("<!-- From: {} -->\n{}{end}", path.display(), text.trim()));
        }
    }
    blocks.reverse();
    blocks.join("\n\n")
}

/// From `work_dir` up to the repository's top; only `work_dir` when it is in no repository.
fn folders(work_dir: &Path) -> Vec<PathBuf> {
    let up: Vec<&Path> = work_dir.ancestors().collect();
    let top = up.iter().position(|folder| folder.join(".git").exists()).unwrap_or(0);
    up.into_iter().take(top + 1).map(Path::to_owned).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let own = folder.join(".kimi").join("AGENTS.md");
    let shared = ["AGENTS.md", "agents.md"].map(|name| folder.join(name));
    [Some(own), shared.into_iter().find(|path| path.is_file())]
        .into_iter()
        .flatten()
        .filter(|path| path.is_file())
        .collect()
}

/// At most `limit` bytes of a regular file's text, and whether there was more.
fn read(path: &Path, limit: usize) -> Option<(String, bool)> {
    if limit == 0 || !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(limit as u64 + 1).read_to_end(&mut bytes).ok()?;
    let is_cut = bytes.len() > limit;
    bytes.truncate(limit);
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if is_cut {
        // Whole lines only, where there are lines.
        let end = text.rfind('\n').unwrap_or(text.len());
        text.truncate(end);
    }
    // A replaced byte grows to three.
    while text.len() > limit {
        text.pop();
    }
    Some((text, is_cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: PathBuf, text: &str) {
        fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        fs::write(path, text).expect("file");
    }

    #[test]
    fn files_are_merged_from_the_top_down() {
        let folder = tempfile::tempdir().expect("folder");
        let top = folder.path().join("repo");
        let work = top.join("crates/one");
        write(folder.path().join("AGENTS.md"), "outside the repository");
        write(top.join(".git/HEAD"), "");
        write(top.join("AGENTS.md"), "top\n");
        write(top.join(".kimi/AGENTS.md"), "own");
        write(work.join("agents.md"), "leaf");
        let at = |path: &str| top.join(path).display().to_string();
        assert_eq!(
            gather(&work),
            format!(
                "<!-- From: {} -->\nown\n\n<!-- From: {} -->\ntop\n\n<!-- From: {} -->\nleaf",
                at(".kimi/AGENTS.md"),
                at("AGENTS.md"),
                at("crates/one/agents.md")
            )
        );
    }

    #[test]
    fn without_a_repository_only_the_work_folder_counts() {
        let folder = tempfile::tempdir().expect("folder");
        write(folder.path().join("AGENTS.md"), "above");
        let work = folder.path().join("work");
        fs::create_dir(&work).expect("folder");
        assert_eq!(gather(&work), "");
    }

    #[test]
    fn the_nearest_file_is_served_first() {
        let folder = tempfile::tempdir().expect("folder");
        let work = folder.path().join("deep");
        write(folder.path().join(".git/HEAD"), "");
        write(folder.path().join("AGENTS.md"), &"top line\n".repeat(4000));
        write(work.join("AGENTS.md"), &"leaf line\n".repeat(2000));
        let text = gather(&work);
        assert_eq!(text.matches("leaf line").count(), 2000);
        let tops = text.matches("top line").count();
        assert!((1000..1500).contains(&tops), "{tops}");
        assert!(text.contains(CUT.trim()));
        assert!(text.len() < BUDGET + 500);
    }

    #[test]
    fn broken_text_and_folders_of_that_name_do_no_harm() {
        let folder = tempfile::tempdir().expect("folder");
        fs::create_dir(folder.path().join("AGENTS.md")).expect("folder");
        assert_eq!(gather(folder.path()), "");
        fs::remove_dir(folder.path().join("AGENTS.md")).expect("gone");
        fs::write(folder.path().join("AGENTS.md"), vec![0xff; BUDGET + 10]).expect("file");
        assert!(gather(folder.path()).len() < BUDGET + 500);
    }
}
