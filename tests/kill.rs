//! The program killed at random moments: nothing that was written is lost, every session opens.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::world::{World, lines, records};

const KILLS: usize = 200;
const STEPS: usize = 12;
/// The step that sends a D-Mail, so that kills hit the rotation of the context too.
const MAIL: usize = 7;

/// Text, tool calls, two at once, a D-Mail, and a last answer, each with a mark of its step.
fn scripts() -> Vec<String> {
    let call = |id: String, name: &str, arguments: Value| {
        let call = json!({"id": id, "name": name, "arguments": arguments.to_string()});
        format!("tool_call: {call}")
    };
    let mut scripts: Vec<String> = (0..STEPS)
        .map(|n| {
            let mut script = vec![
                format!("text: mark-{n}-here"),
                "usage: {\"input_other\": 100, \"output\": 10}".to_owned(),
            ];
            let shell = json!({"command": format!("echo output-{n}")});
            match n {
                MAIL => {
                    let mail = json!({"message": "go on from here", "checkpoint_id": 3});
                    script.push(call(format!("m{n}"), "SendDMail", mail));
                }
                _ if n % 3 == 1 => script.push(call(format!("b{n}"), "Bash", shell)),
                _ => {
                    script.push(call(format!("x{n}"), "Think", json!({"thought": "hm"})));
                    script.push(call(format!("y{n}"), "ReadFile", json!({"path": "notes.txt"})));
                }
            }
            script.join("\n")
        })
        .collect();
    scripts.push("text: mark-last-here".to_owned());
    scripts
}

/// A world whose model reads `scripts`.
fn scripted(scripts: &[String]) -> World {
    let world = World::new();
    std::fs::write(world.work().join("notes.txt"), "some notes\n").expect("notes");
    set_scripts(&world, scripts);
    world
}

fn set_scripts(world: &World, scripts: &[String]) {
    let file = world.share().join("scripts.json");
    std::fs::write(&file, json!(scripts).to_string()).expect("scripts");
    world.write_config(&format!(
        "default_model = \"s\"\n[providers.s]\ntype = \"_scripted_echo\"\n\
         env = {{ KIMI_SCRIPTED_ECHO_SCRIPTS = {file:?} }}\n\
         [models.s]\nprovider = \"s\"\nmodel = \"scripted_echo\"\nmax_context_size = 100000\n"
    ));
}

fn start(world: &World) -> Child {
    world
        .command(&["--print", "--agent", "okabe", "-p", "begin"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program")
}

/// What was seen of a run until it ended.
#[derive(Default)]
struct Seen {
    /// Complete lines that were read while it ran, by kind of file.
    context: BTreeSet<String>,
    wire: BTreeSet<String>,
    stdout: String,
}

/// Reads what is on disk again and again until told to stop, as somebody who follows the files.
fn follow(world: &World, stop: &AtomicBool) -> Seen {
    let mut seen = Seen::default();
    while !stop.load(Ordering::Relaxed) {
        for session in world.sessions() {
            seen.context.extend(lines(&session.join("context.jsonl")));
            seen.wire.extend(lines(&session.join("wire.jsonl")));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    seen
}

/// Starts a run, kills it after `delay`, and gives what had been seen.
fn killed_run(world: &World, delay: Duration) -> Seen {
    let mut child = start(world);
    let mut stdout = child.stdout.take().expect("its output");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let follower = scope.spawn(|| follow(world, &stop));
        let reader = scope.spawn(move || {
            let mut bytes = Vec::new();
            stdout.read_to_end(&mut bytes).expect("its output");
            String::from_utf8_lossy(&bytes).into_owned()
        });
        // The moment is the point of the test; nothing is expected to have happened by then.
        std::thread::sleep(delay);
        let _ = child.kill();
        child.wait().expect("its end");
        stop.store(true, Ordering::Relaxed);
        let mut seen = follower.join().expect("the follower");
        seen.stdout = reader.join().expect("the reader");
        seen
    })
}

/// The complete lines of every record file of a session.
fn on_disk(session: &Path) -> BTreeMap<PathBuf, Vec<String>> {
    let list = std::fs::read_dir(session).expect("the session");
    list.map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .map(|path| (path.clone(), lines(&path)))
        .collect()
}

/// Is it a line that every session begins with, before anybody says anything?
fn is_heading(line: &str) -> bool {
    let record: Value = serde_json::from_str(line).expect("a record");
    record["type"] == "metadata" || record["role"] == "_system_prompt"
}

fn all_of(files: &BTreeMap<PathBuf, Vec<String>>, prefix: &str) -> BTreeSet<String> {
    let named = |path: &Path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
    };
    files.iter().filter(|(path, _)| named(path)).flat_map(|(_, lines)| lines.clone()).collect()
}

/// When a run was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Killed {
    BeforeAnythingWasSaid,
    InTheMiddle,
    AfterTheEnd,
}

/// Kills a run after `delay`, opens the session again, and compares. What is wrong, if anything.
fn check(delay: Duration, scripts: &[String]) -> Result<Killed, String> {
    let world = scripted(scripts);
    let seen = killed_run(&world, delay);
    let before: Vec<_> = world.sessions();
    let files = before.first().map(|session| on_disk(session)).unwrap_or_default();

    set_scripts(&world, &["text: mark-again-here".to_owned()]);
    let output = world
        .command(&["--print", "--agent", "okabe", "--continue", "-p", "again"])
        .output()
        .expect("the program");
    let stderr = String::from_utf8_lossy(&output.stderr);
    if files.values().all(|lines| lines.iter().all(|line| is_heading(line))) {
        // Killed before anything was said: nothing to continue is what there is.
        return Ok(Killed::BeforeAnythingWasSaid);
    }
    if !output.status.success() {
        return Err(format!("it does not open again: {:?}\n{stderr}", output.status));
    }
    if !String::from_utf8_lossy(&output.stdout).contains("mark-again-here") {
        return Err(format!("it does not go on: {:?}\n{stderr}", output.stdout));
    }
    let after = world.sessions();
    if after != before {
        return Err(format!("another session was opened: {before:?}, {after:?}"));
    }
    let reopened = after.first().map(|session| on_disk(session)).unwrap_or_default();
    compare(&seen, &files, &reopened)?;
    for session in &after {
        valid(&records(&session.join("context.jsonl")))?;
    }
    let was_over = seen.stdout.contains("mark-last-here");
    Ok(if was_over { Killed::AfterTheEnd } else { Killed::InTheMiddle })
}

fn compare(
    seen: &Seen,
    before: &BTreeMap<PathBuf, Vec<String>>,
    after: &BTreeMap<PathBuf, Vec<String>>,
) -> Result<(), String> {
    for (file, old) in before {
        let Some(new) = after.get(file) else {
            // A rotation links the old context to its new name first. Killed right then, the file
            // still has its old name too, and the link is taken back.
            if before.iter().any(|(other, lines)| other != file && lines == old) {
                continue;
            }
            return Err(format!("{} is gone", file.display()));
        };
        if !new.starts_with(old) {
            return Err(format!("{} lost lines:\n{old:#?}\n{new:#?}", file.display()));
        }
    }
    for (name, seen) in [("context", &seen.context), ("wire", &seen.wire)] {
        let kept = all_of(after, name);
        if let Some(lost) = seen.difference(&kept).next() {
            return Err(format!("a line of {name} is lost: {lost}"));
        }
    }
    // A step is on disk before the next one speaks.
    let context: String = all_of(after, "context").into_iter().collect();
    for n in 1..STEPS {
        let was_said = seen.stdout.contains(&format!("mark-{n}-here"));
        if was_said && !context.contains(&format!("mark-{}-here", n - 1)) {
            return Err(format!("step {n} spoke before step {} was on disk", n - 1));
        }
    }
    Ok(())
}

/// Each call is answered, in order, right after its message.
fn valid(records: &[Value]) -> Result<(), String> {
    let is_marker = |record: &&Value| record["role"].as_str().is_none_or(|r| r.starts_with('_'));
    let mut waiting: Vec<String> = Vec::new();
    for message in records.iter().filter(|record| !is_marker(record)) {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            if waiting.first().is_none_or(|first| first != id) {
                return Err(format!("a result nobody waits for: {message}"));
            }
            waiting.remove(0);
            continue;
        }
        if !waiting.is_empty() {
            return Err(format!("calls without results before {message}: {waiting:?}"));
        }
        if let Some(calls) = message["tool_calls"].as_array() {
            waiting = calls.iter().filter_map(|c| Some(c["id"].as_str()?.to_owned())).collect();
        }
    }
    if waiting.is_empty() { Ok(()) } else { Err(format!("calls without results: {waiting:?}")) }
}

/// How long a run takes that nobody kills.
fn duration(scripts: &[String]) -> Duration {
    let world = scripted(scripts);
    let begin = Instant::now();
    let output = start(&world).wait_with_output().expect("its end");
    let taken = begin.elapsed();
    assert!(output.status.success(), "an undisturbed run: {:?}", output.status);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("mark-last-here"), "an undisturbed run: {said}");
    let session = world.sessions().remove(0);
    assert!(session.join("context_1.jsonl").exists(), "the D-Mail rotates the context");
    taken
}

#[test]
fn killed_at_any_moment_nothing_is_lost_and_every_session_opens() {
    let scripts = scripts();
    let whole = duration(&scripts).max(duration(&scripts));
    // Spread over the run and a little beyond: side by side they take longer than alone.
    let mut random = fastrand::Rng::with_seed(20);
    let moments: Vec<Duration> = (0..KILLS).map(|_| whole.mul_f64(random.f64() * 1.4)).collect();
    let (next, in_the_middle) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, std::num::NonZero::get).min(4) {
            scope.spawn(|| {
                while let Some(moment) = moments.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match check(*moment, &scripts) {
                        Ok(Killed::InTheMiddle) => {
                            in_the_middle.fetch_add(1, Ordering::Relaxed);
                        }
                        Ok(_) => {}
                        Err(wrong) => panic!("killed after {moment:?} of {whole:?}: {wrong}"),
                    }
                }
            });
        }
    });
    let in_the_middle = in_the_middle.into_inner();
    println!("{in_the_middle} of {KILLS} were killed in the middle of a turn");
    assert!(in_the_middle >= KILLS / 10, "only {in_the_middle} kills hit a turn");
}
