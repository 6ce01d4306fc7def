//! What a checkpoint costs a turn: the scan before a command in a warm workspace with one changed
//! file, of 10,000 and 50,000 files; the first scan; and how much the store grows by a change.

#![allow(clippy::expect_used, clippy::print_stdout)]

use std::fs;
use std::path::PathBuf;

use kimi_tui::config::SnapshotConfig;
use kimi_tui::message::{CheckpointId, CheckpointRef, Generation};
use kimi_tui::snapshot::{Place, Tracker};

fn main() {
    growth_is_that_of_the_change();
    divan::main();
}

struct Stage {
    folder: tempfile::TempDir,
    work: PathBuf,
    tracker: Tracker,
    n: u64,
}

fn stage(files: usize) -> Stage {
    let folder = tempfile::tempdir().expect("folder");
    let root = fs::canonicalize(folder.path()).expect("root");
    let (work, session) = (root.join("work"), root.join("session"));
    fs::create_dir_all(&session).expect("session");
    for at in 0..files {
        let inside = work.join(format!("d{}", at / 100));
        if at % 100 == 0 {
            fs::create_dir_all(&inside).expect("folder");
        }
        let text = format!("line of file {at}\n").repeat(40);
        fs::write(inside.join(format!("f{at}.rs")), text).expect("file");
    }
    let place = Place { session_dir: session, store: root.join("store") };
    let limits = SnapshotConfig { max_files: 100_000, ..SnapshotConfig::default() };
    let tracker = Tracker::open(place, vec![work.clone()], limits).expect("tracker");
    Stage { folder, work, tracker, n: 0 }
}

impl Stage {
    fn warm(mut self) -> Self {
        // What has just been written is read once more.
        std::thread::sleep(std::time::Duration::from_millis(100));
        self.tracker.warm_up();
        self.step();
        self.step();
        self
    }

    /// A checkpoint and a command that changes one file: what the turn waits for.
    fn step(&mut self) {
        self.n += 1;
        let at = CheckpointRef { generation: Generation(0), id: CheckpointId(self.n) };
        self.tracker.mark(at, false);
        self.tracker.open_window("c");
        fs::write(self.work.join("d3/f301.rs"), format!("step {}\n", self.n)).expect("change");
        self.tracker.close_window("c");
    }

    fn weight(&self) -> u64 {
        let mut all = 0;
        let mut todo = vec![self.folder.path().join("store")];
        while let Some(folder) = todo.pop() {
            for entry in fs::read_dir(folder).expect("list").flatten() {
                let meta = entry.metadata().expect("meta");
                if meta.is_dir() {
                    todo.push(entry.path());
                } else {
                    all += meta.len();
                }
            }
        }
        all
    }
}

/// Checked, not measured: a step in which one small file changes adds one small content.
fn growth_is_that_of_the_change() {
    let mut stage = stage(2_000).warm();
    let before = stage.weight();
    stage.step();
    let grown = stage.weight() - before;
    assert!(grown < 200, "the store grew by {grown} bytes for a change of some ten");
    println!("store growth for one changed file of 7 bytes: {grown} bytes");
}

/// The scan before a command: all that a turn waits for.
#[divan::bench(args = [10_000, 50_000], sample_count = 20, sample_size = 1)]
fn before_a_command(bencher: divan::Bencher, files: usize) {
    let mut stage = stage(files).warm();
    bencher.bench_local(|| {
        stage.tracker.open_window("c");
        // Closing without a scan is not possible; it is the other benchmark's half.
        stage.tracker.forget_window("c");
    });
}

/// Both scans and the change between them.
#[divan::bench(args = [10_000, 50_000], sample_count = 10, sample_size = 1)]
fn a_whole_step(bencher: divan::Bencher, files: usize) {
    let mut stage = stage(files).warm();
    bencher.bench_local(|| stage.step());
}

/// The first scan of a session whose folder nobody has scanned before.
#[divan::bench(args = [10_000], sample_count = 3, sample_size = 1)]
fn first_scan(bencher: divan::Bencher, files: usize) {
    bencher.with_inputs(|| stage(files)).bench_local_values(|mut stage| stage.tracker.warm_up());
}
