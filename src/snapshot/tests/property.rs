//! Random sequences of tools, commands, somebody else, checkpoints and rewinds, against a plain copy
//! of the tree.
//!
//! The session and somebody else have paths of their own, and some they share. On the session's own
//! paths a rewind has to bring back exactly the picture taken at the checkpoint; the others' paths
//! must be what they were right before it. A shared path goes back to what stood there before the
//! session's first change, as long as all since then was the session's; otherwise it is left as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::rig::{Picture, Rig, Thing};
use crate::message::CheckpointRef;

/// Names below `ours`, `theirs` and `shared`; folders and files take each other's places.
const NAMES: [&str; 6] = ["a", "b", "a/x", "a/y", "c/d/e", "c"];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Who {
    Tool,
    Shell,
    Other,
}

/// One random operation on `path`.
fn operate(random: &mut fastrand::Rng, path: &Path, round: u32) {
    let clear = |path: &Path| match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    };
    match random.u8(0..10) {
        0..=3 => {
            if let Some(parent) = room(path) {
                fs::create_dir_all(parent).unwrap();
                if !path.is_dir() {
                    fs::write(path, content(random, round)).unwrap();
                }
            }
        }
        4 => clear(path),
        5 => {
            if let Some(parent) = room(path) {
                clear(path);
                fs::create_dir_all(parent).unwrap();
                #[cfg(unix)]
                std::os::unix::fs::symlink(format!("nowhere-{}", random.u8(0..3)), path).unwrap();
            }
        }
        6 => {
            if room(path).is_some() && path.symlink_metadata().is_err() {
                fs::create_dir_all(path).unwrap();
            }
        }
        7 => {
            let other = path.with_file_name("renamed");
            if path.symlink_metadata().is_ok() && other.symlink_metadata().is_err() {
                fs::rename(path, other).unwrap();
            }
        }
        8 => {
            if room(path).is_some() {
                clear(path);
                fs::create_dir_all(path).unwrap();
                fs::write(path.join("in"), content(random, round)).unwrap();
            }
        }
        _ =>
        {
            #[cfg(unix)]
            if path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
                use std::os::unix::fs::PermissionsExt;
                let mode = [0o644, 0o755, 0o600][random.usize(0..3)];
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            }
        }
    }
}

fn content(random: &mut fastrand::Rng, round: u32) -> Vec<u8> {
    match random.u8(0..4) {
        0 => b"same\r\n".to_vec(),
        1 => vec![0, 255, random.u8(..)],
        2 => Vec::new(),
        _ => format!("round {round}\n").repeat(random.usize(1..20)).into_bytes(),
    }
}

/// The folder for `path`, if nothing but folders is above it.
fn room(path: &Path) -> Option<&Path> {
    let parent = path.parent()?;
    let is_free =
        parent.ancestors().all(|above| above.symlink_metadata().map_or(true, |meta| meta.is_dir()));
    is_free.then_some(parent)
}

/// The part of `picture` below `folder`.
fn below(picture: &Picture, folder: &Path) -> Picture {
    let inside = picture.iter().filter(|(path, _)| path.starts_with(folder) && *path != folder);
    inside.map(|(path, thing)| (path.clone(), thing.clone())).collect()
}

type Content = Option<Vec<u8>>;

const SHARED: [&str; 3] = ["shared/s0", "shared/s1", "shared/s2"];

fn contents(picture: &Picture) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = picture.iter().filter_map(|(path, thing)| match thing {
        Thing::File(content, _) => Some((path.clone(), content.clone())),
        _ => None,
    });
    files.collect()
}

struct Run {
    rig: Rig,
    random: fastrand::Rng,
    /// Checkpoints, the tree at each, and how long the log was.
    points: Vec<(CheckpointRef, Picture, usize)>,
    /// Who made what of a shared path.
    log: Vec<(PathBuf, Who, Content, Content)>,
    /// The files right before a rewind.
    now: BTreeMap<PathBuf, Vec<u8>>,
}

impl Run {
    fn new(seed: u64) -> Self {
        let rig = Rig::new();
        for folder in ["ours", "theirs", "shared"] {
            fs::create_dir(rig.at(folder)).unwrap();
        }
        rig.put("ours/a", "there before");
        rig.put("shared/s0", "there before");
        Self {
            rig,
            random: fastrand::Rng::with_seed(seed),
            points: Vec::new(),
            log: Vec::new(),
            now: BTreeMap::new(),
        }
    }

    fn act(&mut self, who: Who, round: u32) {
        let folder = match (who, self.random.bool()) {
            (Who::Other, true) => "theirs",
            (Who::Tool | Who::Shell, true) => "ours",
            (_, false) => "shared",
        };
        // Shared paths are plain files, so that who touched which is plain too.
        let name = if folder == "shared" {
            format!("s{}", self.random.u8(0..3))
        } else {
            NAMES[self.random.usize(0..NAMES.len())].to_owned()
        };
        let path = self.rig.at(&format!("{folder}/{name}"));
        let mut random = self.random.fork();
        let was = fs::read(&path).ok();
        match who {
            Who::Tool => {
                if let Some(parent) = room(&path)
                    && parent.is_dir()
                    && !path.symlink_metadata().is_ok_and(|meta| !meta.is_file())
                {
                    let before = self.rig.tracker.before_write(&path);
                    fs::write(&path, content(&mut random, round)).unwrap();
                    self.rig.tracker.after_write(&path, before);
                }
            }
            Who::Shell => self.rig.shell(|_| work_on(&mut random, folder, &path, round)),
            Who::Other => work_on(&mut random, folder, &path, round),
        }
        let is = fs::read(&path).ok();
        if folder == "shared" && is != was {
            self.log.push((path, who, was, is));
        }
    }

    /// What a rewind has to make of a shared path: what stood there before the session's first change
    /// since the checkpoint, as long as everything after that was the session's; else what is there.
    fn wanted(&self, path: &Path, since: usize) -> Content {
        let log: Vec<_> = self.log[since..].iter().filter(|(at, ..)| at == path).collect();
        let now = self.now.get(path).cloned();
        let mut ours = log.iter().filter(|(_, who, ..)| *who != Who::Other);
        let Some((_, _, first, mut last)) = ours.next().map(|entry| (*entry).clone()) else {
            return now;
        };
        let mut is_whole = true;
        for (_, _, before, after) in ours {
            is_whole &= last == *before;
            last.clone_from(after);
        }
        if is_whole && last == now { first } else { now }
    }

    /// A rewind is the session's work like any other.
    fn log_rewind(&mut self, before: &Picture) {
        let after = contents(&self.rig.picture());
        for path in SHARED.map(|name| self.rig.at(name)) {
            let (was, is) = (contents(before).remove(&path), after.get(&path).cloned());
            if was != is {
                self.log.push((path, Who::Tool, was, is));
            }
        }
    }

    fn mark(&mut self) {
        let at = self.rig.mark();
        self.points.push((at, self.rig.picture(), self.log.len()));
    }

    fn rewind(&mut self, seed: u64) {
        if self.points.is_empty() {
            return;
        }
        let index = self.random.usize(0..self.points.len());
        let (to, then, since) = self.points[index].clone();
        let now = self.rig.picture();
        self.now = contents(&now);
        let preview = self.rig.tracker.preview(to).expect("preview");
        assert_eq!(self.rig.picture(), now, "seed {seed}: a preview changes nothing");
        self.rig.tracker.rewind(to, &BTreeSet::new(), false).expect("rewind");
        let after = self.rig.picture();
        let at = |name: &str| self.rig.at(name);
        let told = format!("seed {seed}, to {to}: {preview:#?}");
        assert_eq!(below(&after, &at("ours")), below(&then, &at("ours")), "ours, {told}");
        assert_eq!(below(&after, &at("theirs")), below(&now, &at("theirs")), "theirs, {told}");
        for name in SHARED {
            let path = at(name);
            let wanted = self.wanted(&path, since);
            assert_eq!(fs::read(&path).ok(), wanted, "{name}, {told}");
        }
        self.log_rewind(&now);
        if self.random.bool() && after != now {
            self.rig.tracker.redo(&BTreeSet::new()).expect("redo");
            assert_eq!(self.rig.picture(), now, "redo, {told}");
            self.log_rewind(&after);
        }
    }
}

fn work_on(random: &mut fastrand::Rng, folder: &str, path: &Path, round: u32) {
    if folder != "shared" {
        return operate(random, path, round);
    }
    if random.u8(0..4) == 0 {
        let _ = fs::remove_file(path);
    } else {
        fs::write(path, content(random, round)).unwrap();
    }
}

fn run(seed: u64) {
    let mut run = Run::new(seed);
    run.mark();
    for round in 0..run.random.u32(4..14) {
        match run.random.u8(0..10) {
            0..=2 => run.act(Who::Tool, round),
            3..=4 => run.act(Who::Shell, round),
            5..=6 => run.act(Who::Other, round),
            7 => run.mark(),
            8 => run.rewind(seed),
            _ => {
                run.rig.reopen();
            }
        }
    }
    run.rewind(seed);
}

#[test]
fn after_each_rewind_the_workspace_is_the_model_and_others_changes_are_intact() {
    let sequences: u64 = 5000;
    let threads = 2;
    std::thread::scope(|scope| {
        for part in 0..threads {
            scope.spawn(move || (part..sequences).step_by(threads as usize).for_each(run));
        }
    });
}
