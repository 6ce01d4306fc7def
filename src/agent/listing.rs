//! A folder's contents for a system prompt: two levels, cut to a size a prompt can bear.
//!
//! As upstream's (`kimi-cli` `utils/path.py:61-133`): 30 entries at the top, 10 in each folder
//! below, folders first, then `... and N more`.

use std::fs;
use std::path::Path;

/// Entries shown of the folder itself.
const TOP: usize = 30;
/// Entries shown of each folder in it.
const BELOW: usize = 10;
/// Entries counted at most, of one folder; a folder of a million files must not be read through.
const COUNTED: usize = 2000;
/// Folders whose contents tell nobody anything.
const CLOSED: &[&str] = &[".git", ".hg", ".jj", ".svn"];

struct Level {
    /// Sorted, folders first.
    entries: Vec<(String, bool)>,
    more: usize,
    /// There are more than were counted.
    endless: bool,
}

/// The contents of `folder` as a tree drawn with lines.
pub(super) fn two_levels(folder: &Path) -> String {
    let top = match read(folder, TOP) {
        Ok(level) => level,
        Err(error) => return format!("(the folder cannot be read: {error})"),
    };
    if top.entries.is_empty() {
        return "(empty)".to_owned();
    }
    let mut lines = Vec::new();
    let last = top.entries.len() - 1;
    for (index, (name, is_folder)) in top.entries.iter().enumerate() {
        let ends = index == last && top.more == 0;
        lines.push(row("", ends, &shown(name, *is_folder)));
        if *is_folder && !CLOSED.contains(&name.as_str()) {
            let indent = if ends { "    " } else { "│   " };
            children(&folder.join(name), indent, &mut lines);
        }
    }
    lines.extend(rest("", &top));
    lines.join("\n")
}

fn children(folder: &Path, indent: &str, lines: &mut Vec<String>) {
    let Ok(level) = read(folder, BELOW) else {
        lines.push(row(indent, true, "(cannot be read)"));
        return;
    };
    let count = level.entries.len();
    for (index, (name, is_folder)) in level.entries.iter().enumerate() {
        let ends = index + 1 == count && level.more == 0;
        lines.push(row(indent, ends, &shown(name, *is_folder)));
    }
    lines.extend(rest(indent, &level));
}

fn row(indent: &str, ends: bool, text: &str) -> String {
    format!("{indent}{} {text}", if ends { "└──" } else { "├──" })
}

fn rest(indent: &str, level: &Level) -> Option<String> {
    let least = if level.endless { "at least " } else { "" };
    (level.more > 0).then(|| row(indent, true, &format!("... and {least}{} more", level.more)))
}

/// A name with a line break in it would forge lines of the tree.
fn shown(name: &str, is_folder: bool) -> String {
    let name: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    if is_folder { format!("{name}/") } else { name }
}

fn read(folder: &Path, limit: usize) -> std::io::Result<Level> {
    let mut entries: Vec<(String, bool)> = fs::read_dir(folder)?
        .take(COUNTED + 1)
        .filter_map(Result::ok)
        .map(|entry| {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            (entry.file_name().to_string_lossy().into_owned(), is_folder)
        })
        .collect();
    let endless = entries.len() > COUNTED;
    entries.sort_by(|(a, a_folder), (b, b_folder)| b_folder.cmp(a_folder).then_with(|| a.cmp(b)));
    let more = entries.len().saturating_sub(limit);
    entries.truncate(limit);
    Ok(Level { entries, more, endless })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_first_with_what_is_in_them() {
        let folder = tempfile::tempdir().expect("folder");
        fs::create_dir_all(folder.path().join("src/deep/deeper")).expect("folders");
        fs::create_dir_all(folder.path().join(".git/objects")).expect("folders");
        for file in ["a.txt", "src/main.rs", "src/deep/hidden.rs"] {
            fs::write(folder.path().join(file), "").expect("file");
        }
        assert_eq!(
            two_levels(folder.path()),
            "├── .git/\n├── src/\n│   ├── deep/\n│   └── main.rs\n└── a.txt"
        );
        assert_eq!(two_levels(&folder.path().join("src/deep/deeper")), "(empty)");
    }

    #[test]
    fn each_level_is_cut_and_says_by_how_much() {
        let folder = tempfile::tempdir().expect("folder");
        fs::create_dir(folder.path().join("sub")).expect("folder");
        for n in 0..40 {
            fs::write(folder.path().join(format!("f{n:02}")), "").expect("file");
            fs::write(folder.path().join(format!("sub/g{n:02}")), "").expect("file");
        }
        let tree = two_levels(folder.path());
        assert!(tree.contains("│   └── ... and 30 more"), "{tree}");
        assert!(tree.ends_with("└── ... and 11 more"), "{tree}");
        assert_eq!(tree.lines().count(), 30 + 1 + 10 + 1);
    }

    #[test]
    fn a_huge_folder_is_not_read_through() {
        let folder = tempfile::tempdir().expect("folder");
        for n in 0..COUNTED + 50 {
            fs::write(folder.path().join(format!("f{n}")), "").expect("file");
        }
        let tree = two_levels(folder.path());
        assert!(tree.ends_with(&format!("... and at least {} more", COUNTED + 1 - TOP)), "{tree}");
    }

    #[cfg(unix)]
    #[test]
    fn a_name_cannot_forge_a_line() {
        let folder = tempfile::tempdir().expect("folder");
        fs::write(folder.path().join("a\n└── b\u{1b}[2J"), "").expect("file");
        assert_eq!(two_levels(folder.path()), "└── a?└── b?[2J");
    }
}
