//! The data folder and the programs around.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::{Check, Surroundings};

const DATA: &str = "Data folder";
const PROGRAMS: &str = "Programs";
/// Sessions that are read, latest first, at most.
const SESSIONS: usize = 300;
/// Files that are counted, at most.
const FILES: usize = 200_000;
/// Megabytes below which writing will soon fail, and below which it is time to look.
const FULL: u64 = 20;
const NEARLY_FULL: u64 = 500;

pub(super) fn examine(around: &Surroundings) -> Vec<Check> {
    let share = &around.paths.share;
    let shown = share.display();
    let exists = share.exists();
    let tried = if exists { share.clone() } else { nearest(share) };
    if let Err(error) = tempfile::tempfile_in(&tried) {
        return vec![Check::fail(
            DATA,
            format!("{shown} cannot be written ({error})"),
            "Make it writable, or set KIMI_SHARE_DIR to another folder.",
        )];
    }
    let mut checks = vec![if exists {
        Check::ok(DATA, format!("{shown} can be written; {} in use", size_of(share)))
    } else {
        Check::ok(DATA, format!("{shown} is not there yet, and can be made"))
    }];
    checks.extend(space(&tried));
    checks.extend(sessions(&around.paths.sessions()));
    checks
}

/// The nearest folder above that is there.
fn nearest(folder: &Path) -> PathBuf {
    folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/")).to_owned()
}

fn space(folder: &Path) -> Option<Check> {
    let facts = rustix::fs::statvfs(folder).ok()?;
    let free = facts.f_bavail.saturating_mul(facts.f_frsize) >> 20;
    let cure = "Make room on that disk, or set KIMI_SHARE_DIR to a folder on another.";
    Some(if free < FULL {
        Check::fail(DATA, format!("the disk is full ({free} MB left)"), cure)
    } else if free < NEARLY_FULL {
        Check::warn(DATA, format!("only {free} MB of disk left"), cure)
    } else {
        Check::ok(DATA, format!("{} GB of disk left", free >> 10))
    })
}

fn size_of(folder: &Path) -> String {
    let mut folders = vec![folder.to_owned()];
    let (mut bytes, mut seen) = (0, 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            seen += 1;
            // Links are not followed.
            let Ok(facts) = entry.metadata() else { continue };
            if facts.is_dir() {
                folders.push(entry.path());
            } else {
                bytes += facts.len();
            }
        }
        if seen > FILES {
            return format!("more than {} MB", bytes >> 20);
        }
    }
    format!("{} MB", bytes.div_ceil(1 << 20))
}

/// Reads the latest sessions; nothing is repaired here.
fn sessions(folder: &Path) -> Vec<Check> {
    let inside = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path());
    let mut found: Vec<_> = inside(folder)
        .flat_map(|bucket| inside(&bucket).collect::<Vec<_>>())
        .map(|session| session.join("context.jsonl"))
        .filter_map(|file| Some((fs::metadata(&file).ok()?.modified().ok()?, file)))
        .collect();
    if found.is_empty() {
        return Vec::new();
    }
    found.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    let count = found.len();
    let mut broken = Vec::new();
    for (_, file) in found.iter().take(SESSIONS) {
        if let Some(fault) = fault(file) {
            let shown = file.parent().unwrap_or(file).display();
            broken.push(Check::warn(
                DATA,
                format!("session {shown}: {fault}"),
                "It can be opened: what cannot be read is left out, and the file keeps it.",
            ));
        }
    }
    if broken.is_empty() {
        return vec![Check::ok(DATA, format!("{count} sessions, all can be read"))];
    }
    broken.insert(0, Check::ok(DATA, format!("{count} sessions")));
    broken
}

/// What is wrong with a session's context.
fn fault(file: &Path) -> Option<String> {
    let mut reader = match File::open(file) {
        Ok(file) => BufReader::new(file),
        Err(error) => return Some(format!("cannot be read ({error})")),
    };
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        match reader.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => return Some(format!("cannot be read ({error})")),
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        if serde_json::from_slice::<serde::de::IgnoredAny>(&line).is_err() {
            return Some(format!("line {number} of context.jsonl is no JSON"));
        }
    }
    None
}

pub(super) fn programs(around: &Surroundings) -> Vec<Check> {
    let mut checks = Vec::new();
    for (names, is_needed, without) in [
        (&["bash", "sh"][..], true, "Install one: commands are run with it."),
        (&["git"], false, "Install it: the agent works better with it, and so do you."),
        (
            &["rg"],
            false,
            "Nothing is missing: searching is built in. In a shell the agent likes rg.",
        ),
    ] {
        let found = names.iter().find_map(|name| Some((name, around.program(name)?)));
        checks.push(match found {
            Some((name, path)) => Check::ok(PROGRAMS, format!("{name}: {}", path.display())),
            None => {
                let said = format!("{} not found in PATH", names.join(" or "));
                match (is_needed, names[0]) {
                    (true, _) => Check::fail(PROGRAMS, said, without),
                    (false, "rg") => Check::ok(PROGRAMS, said),
                    (false, _) => Check::warn(PROGRAMS, said, without),
                }
            }
        });
    }
    checks
}
