//! Attempts to get out of the workspace and to make a tool wait for ever. Nothing outside is written
//! without an approval of its own kind, and nothing hangs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use super::edit_file::EditFile;
use super::glob::Glob;
use super::grep::Grep;
use super::ls::Ls;
use super::read_file::ReadFile;
use super::read_media_file::ReadMediaFile;
use super::testing::Bench;
use super::tool::Tool;
use super::write_file::WriteFile;
use crate::message::ToolReturn;

const OUTSIDE: &str = "edit file outside of working directory";

/// A call that must come to an end.
async fn call(bench: &Bench, tool: &dyn Tool, arguments: Value) -> ToolReturn {
    tokio::time::timeout(Duration::from_secs(20), bench.call(tool, arguments.clone()))
        .await
        .unwrap_or_else(|_| panic!("{} hangs with {arguments}", tool.name()))
}

fn write(path: impl AsRef<Path>) -> Value {
    json!({"path": path.as_ref().to_str().expect("utf-8"), "content": "mine"})
}

fn edit(path: impl AsRef<Path>) -> Value {
    json!({"path": path.as_ref().to_str().expect("utf-8"), "edit": {"old": "theirs", "new": "mine"}})
}

/// A bench with a folder `out` beside the work folder, which holds `file`.
fn bench() -> (Bench, PathBuf) {
    let bench = Bench::new();
    let out = bench.root.join("out");
    fs::create_dir(&out).expect("out");
    fs::write(out.join("file"), "theirs").expect("file");
    (bench, out)
}

fn untouched(out: &Path) {
    assert_eq!(fs::read_to_string(out.join("file")).expect("file"), "theirs");
    let names: Vec<_> = fs::read_dir(out).expect("list").flatten().map(|e| e.file_name()).collect();
    assert_eq!(names, ["file"], "something was left outside");
}

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("a pipe");
}

#[tokio::test]
async fn every_way_out_is_asked_about_as_one_or_refused() {
    let (bench, out) = bench();
    bench.reject("no");
    symlink(&out, bench.path("folder")).expect("link");
    symlink(out.join("file"), bench.path("link")).expect("link");
    symlink(out.join("new"), bench.path("dangling")).expect("link");
    symlink("folder", bench.path("twice")).expect("link");
    fs::create_dir_all(bench.path("sub/deep")).expect("folders");
    symlink("../../../out/file", bench.path("sub/deep/relative")).expect("link");
    let absolute = |name: &str| bench.path(name).to_str().expect("utf-8").to_owned();
    let ways = [
        "../out/file".to_owned(),
        "sub/../../out/file".to_owned(),
        "./sub/deep/../../../out/file".to_owned(),
        "folder/file".to_owned(),
        "folder/new".to_owned(),
        "twice/file".to_owned(),
        "link".to_owned(),
        "dangling".to_owned(),
        "sub/deep/relative".to_owned(),
        "folder/../out/file".to_owned(),
        out.join("file").to_str().expect("utf-8").to_owned(),
        absolute("../out/file"),
        absolute("folder/file"),
        absolute("folder/new"),
        absolute("link"),
        absolute("dangling"),
        format!("/proc/self/root{}", out.join("file").display()),
        format!("/{}", out.join("file").display()),
    ];
    for way in &ways {
        for (tool, arguments) in
            [(&WriteFile as &dyn Tool, write(way)), (&EditFile as &dyn Tool, edit(way))]
        {
            let result = call(&bench, tool, arguments).await;
            assert!(result.is_error, "{way} by {}", tool.name());
        }
    }
    let asked = bench.asked();
    assert!(asked.len() >= 10, "absolute ways are asked about: {}", asked.len());
    assert!(asked.iter().all(|ask| ask.action == OUTSIDE), "{asked:#?}");
    untouched(&out);
}

#[tokio::test]
async fn a_link_put_in_the_way_while_the_person_thinks_moves_nothing() {
    // What stands at `sub/file` when the answer comes, and what was there when it was asked.
    type Swap = fn(&Path, &Path);
    let swaps: [(&str, Swap); 4] = [
        ("the folder becomes a link", |work, out| {
            fs::remove_dir_all(work.join("sub")).expect("remove");
            symlink(out, work.join("sub")).expect("link");
        }),
        ("a folder above becomes a link", |work, out| {
            fs::rename(work.join("sub"), work.join("away")).expect("move");
            symlink(out, work.join("sub")).expect("link");
        }),
        ("the file becomes a link", |work, out| {
            let _ = fs::remove_file(work.join("sub/file"));
            symlink(out.join("file"), work.join("sub/file")).expect("link");
        }),
        ("the file becomes a link to nothing", |work, out| {
            let _ = fs::remove_file(work.join("sub/file"));
            symlink(out.join("new"), work.join("sub/file")).expect("link");
        }),
    ];
    for (name, swap) in swaps {
        for is_new in [false, true] {
            let (bench, out) = bench();
            fs::create_dir(bench.path("sub")).expect("sub");
            if !is_new {
                bench.file("sub/file", "theirs");
            }
            let (work, outside) = (bench.path(""), out.clone());
            bench.before_answer(move || swap(&work, &outside));
            let result = call(&bench, &WriteFile, write("sub/file")).await;
            assert!(result.is_error, "{name}, new: {is_new}: {}", result.message);
            assert_eq!(bench.asked()[0].action, "edit file", "{name}");
            untouched(&out);
        }
    }
}

/// A folder is swapped for a link to the outside and back as fast as it goes, while files in it are
/// written. Whatever the writes come to, none may land outside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_race_between_check_and_use_writes_nothing_outside() {
    let (bench, out) = bench();
    fs::create_dir(bench.path("real")).expect("real");
    fs::create_dir(bench.path("sub")).expect("sub");
    let stop = Arc::new(AtomicBool::new(false));
    let racer = {
        let (stop, work, out) = (Arc::clone(&stop), bench.path(""), out.clone());
        std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let _ = fs::rename(work.join("sub"), work.join("aside"));
                let _ = symlink(&out, work.join("sub"));
                let _ = fs::remove_file(work.join("sub"));
                let _ = fs::rename(work.join("aside"), work.join("sub"));
            }
        })
    };
    let mut written = 0;
    let begun = std::time::Instant::now();
    let mut at = 0;
    // On a busy machine the racer may hold the folder for long: on until enough was written.
    while at < 200 || written < 20 && begun.elapsed() < std::time::Duration::from_secs(30) {
        at += 1;
        // In the middle of a swap there may be no such folder, or one that leads outside.
        let target = super::path::resolve(&bench.context, &format!("sub/new{at}"));
        let Some(target) = target.ok().filter(|target| target.inside) else { continue };
        // As after an approval of a file inside: straight to the write.
        let change = super::file_change::Change { target, old: None, new: b"mine".to_vec() };
        written += usize::from(super::file_change::write("new", &change).is_ok());
    }
    stop.store(true, Ordering::Relaxed);
    racer.join().expect("racer");
    untouched(&out);
    assert!(written > 0, "the race was always lost, which tests nothing");
}

#[tokio::test]
async fn pipes_devices_and_endless_files_are_refused_at_once() {
    let (bench, _out) = bench();
    pipe(&bench.path("pipe"));
    symlink("pipe", bench.path("to-pipe")).expect("link");
    symlink("/dev/zero", bench.path("zero")).expect("link");
    let tty = if Path::new("/dev/tty").exists() { "/dev/tty" } else { "/dev/null" };
    for path in ["pipe", "to-pipe", "/dev/zero", "/dev/null", "/dev/stdin", tty] {
        for (tool, arguments) in [
            (&ReadFile as &dyn Tool, json!({"path": path})),
            (&ReadMediaFile as &dyn Tool, json!({"path": path})),
            (&WriteFile as &dyn Tool, write(path)),
            (&EditFile as &dyn Tool, edit(path)),
        ] {
            let result = call(&bench, tool, arguments).await;
            assert!(result.is_error, "{path} by {}: {}", tool.name(), result.message);
        }
        call(&bench, &Grep, json!({"pattern": "x", "path": path})).await;
    }
    assert!(bench.asked().is_empty(), "{:?}", bench.asked());
    // Those that walk pass them by.
    bench.file("a.txt", "needle");
    let found = call(&bench, &Grep, json!({"pattern": "needle"})).await;
    assert_eq!(found.output.text().trim(), "a.txt");
    assert!(!call(&bench, &Glob, json!({"pattern": "*"})).await.is_error);
    assert!(!call(&bench, &Ls, json!({})).await.is_error);
}

#[tokio::test]
async fn a_file_that_becomes_a_pipe_does_not_hold_anybody_up() {
    let (bench, _out) = bench();
    let path = bench.file("file", "theirs");
    bench.before_answer(move || {
        fs::remove_file(&path).expect("remove");
        pipe(&path);
    });
    let result = call(&bench, &WriteFile, write("file")).await;
    assert!(result.is_error, "{}", result.message);
    // The check says file, the open finds a pipe.
    let found = super::firm::open_regular(&bench.path("file"));
    assert!(found.is_err());
}
