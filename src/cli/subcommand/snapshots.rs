//! `kimi-tui snapshots`: what is kept for taking files back, and throwing away what nobody needs.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;

use crate::cli::outcome::End;
use crate::paths::Paths;
use crate::session::SessionStore;
use crate::snapshot::{disk_use, gc};

#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct SnapshotsArgs {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Clone, Subcommand)]
enum What {
    /// List what the sessions of each folder take up
    List,
    /// Throw away contents that no session needs
    Gc,
}

pub(super) fn run(args: &SnapshotsArgs) -> anyhow::Result<End> {
    let paths = Paths::from_env()?;
    let mut out = io::stdout().lock();
    match args.what {
        None | Some(What::List) => list(&paths, &mut out)?,
        Some(What::Gc) => collect(&paths, &mut out)?,
    }
    Ok(End::Done)
}

fn list(paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    let mut total = 0;
    for session in SessionStore::new(paths.clone()).every_folder()? {
        let bytes = disk_use(&session);
        if bytes > 0 {
            total += bytes;
            let id = session.file_name().unwrap_or_default().to_string_lossy();
            writeln!(out, "{:>10}  {id}", size(bytes))?;
        }
    }
    let kept: u64 = folders(&paths.snapshots()).iter().map(|store| weight(store)).sum();
    writeln!(out, "{:>10}  named by sessions (what several name counts for each)", size(total))?;
    writeln!(out, "{:>10}  on the disk", size(kept))
}

fn collect(paths: &Paths, out: &mut dyn Write) -> io::Result<()> {
    let mut all = gc::Collected::default();
    for (store, outcome) in SessionStore::new(paths.clone()).collect_snapshots() {
        match outcome {
            Ok(Some(done)) => all.add(done),
            Ok(None) => writeln!(
                out,
                "{}: a session uses it; end that session and try again",
                store.display()
            )?,
            Err(error) => writeln!(out, "{}: left as it is: {error}", store.display())?,
        }
    }
    writeln!(
        out,
        "{} contents removed ({}), {} kept ({})",
        all.removed,
        size(all.freed),
        all.kept,
        size(all.size)
    )
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

fn weight(path: &Path) -> u64 {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => weight(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}

#[allow(clippy::cast_precision_loss, reason = "a size for a person")]
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SnapshotConfig;
    use crate::message::{CheckpointId, CheckpointRef, Generation};
    use crate::snapshot::{Place, Tracker};

    #[test]
    fn what_a_session_needs_stays_and_the_rest_goes() {
        let home = tempfile::tempdir().expect("folder");
        let root = fs::canonicalize(home.path()).expect("root");
        let paths = Paths::new(root.join("share"));
        let (session, work) = (paths.sessions().join("b/id-of-it"), root.join("work"));
        fs::create_dir_all(&session).expect("session");
        fs::create_dir_all(&work).expect("work");
        fs::write(work.join("never changed"), "x").expect("file");
        let place = Place { session_dir: session.clone(), store: paths.snapshots().join("b") };
        let mut tracker =
            Tracker::open(place, vec![work.clone()], SnapshotConfig::default()).expect("tracker");
        let at = CheckpointRef { generation: Generation(0), id: CheckpointId(0) };
        tracker.mark(at, true);
        tracker.warm_up();
        let path = work.join("made");
        tracker.begin_write(&path);
        fs::write(&path, "content").expect("file");
        tracker.end_write(&path);
        let told = |work: fn(&Paths, &mut dyn Write) -> io::Result<()>| {
            let mut out = Vec::new();
            work(&paths, &mut out).expect("told");
            String::from_utf8(out).expect("text")
        };
        assert!(told(list).contains("id-of-it"));
        assert!(told(collect).contains("a session uses it"));
        drop(tracker);
        let done = told(collect);
        assert!(done.starts_with("1 contents removed") && done.contains("1 kept"), "{done}");
    }
}
