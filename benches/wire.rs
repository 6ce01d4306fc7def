//! How fast a turn passes through `--wire`: the whole program on pipes, a scripted model, a client
//! that reads every line as JSON. Events a second, CPU time and memory of the program.
//!
//! `cargo bench --bench wire`; `EVENTS=1000000` for one size of your own.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot set its stage should stop")]
#![allow(clippy::print_stdout, reason = "its result")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const SIZES: [usize; 3] = [5_000, 20_000, 80_000];
/// Events a second there have to be.
const GOAL: f64 = 10_000.0;
/// How much slower a second of a long turn may be than one of a short turn.
const WORST: f64 = 2.0;

fn main() {
    let sizes = match std::env::var("EVENTS").ok().and_then(|text| text.parse().ok()) {
        Some(size) => vec![size],
        None => SIZES.to_vec(),
    };
    println!("{:>10} {:>12} {:>14} {:>12}", "events", "events/s", "CPU µs/event", "peak MB");
    let mut rates = Vec::new();
    for size in sizes {
        let ran = run(size);
        #[expect(clippy::cast_precision_loss, reason = "for a person")]
        let events = size as f64;
        let rate = events / ran.took.as_secs_f64();
        let cost = ran.cpu.as_secs_f64() * 1e6 / events;
        println!("{size:>10} {rate:>12.0} {cost:>14.1} {:>12}", ran.peak_kb / 1024);
        rates.push(rate);
    }
    let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(slowest >= GOAL, "{slowest:.0} events a second: fewer than {GOAL:.0}");
    if let [first, .., last] = rates.as_slice() {
        assert!(last * WORST >= *first, "a long turn is slower: {last:.0} after {first:.0}");
    }
}

struct Ran {
    took: Duration,
    cpu: Duration,
    peak_kb: u64,
}

/// A turn of `events` pieces of text, from the first to its end.
fn run(events: usize) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("scripts.json");
    let words = ["buffer ", "diffs", " it, ", "终端", "let x = 1;"];
    let line = |n: usize| format!("text: \"{}\"\n", words[n % words.len()]);
    let answer: String = (0..events).map(line).collect();
    fs::write(&script, json!([answer]).to_string()).unwrap();
    fs::write(
        folder.path().join("config.toml"),
        format!(
            "default_model = \"s\"\n[providers.s]\ntype = \"_scripted_echo\"\n\
             env = {{ KIMI_SCRIPTED_ECHO_SCRIPTS = {script:?} }}\n\
             [models.s]\nprovider = \"s\"\nmodel = \"scripted_echo\"\nmax_context_size = 10000000\n"
        ),
    )
    .unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_kimi-tui"))
        .arg("--wire")
        .current_dir(folder.path())
        .env("KIMI_SHARE_DIR", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut until = |is: &dyn Fn(&Value) -> bool| {
        let mut seen = 0;
        loop {
            let message: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            seen += usize::from(message["params"]["type"] == "ContentPart");
            if is(&message) {
                return seen;
            }
        }
    };
    let ask = |id: &str, method: &str, params: Value| {
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    };
    stdin
        .write_all(ask("i", "initialize", json!({"protocol_version": "1.10"})).as_bytes())
        .unwrap();
    until(&|message| message["id"] == "i");
    let prompt = ask("p", "prompt", json!({"user_input": "go"}));
    stdin.write_all(prompt.as_bytes()).unwrap();
    let first = until(&|message| message["params"]["type"] == "ContentPart");
    let (begun, before) = (Instant::now(), cpu(&child));
    let rest = until(&|message| message["id"] == "p");
    let ran = Ran { took: begun.elapsed(), cpu: cpu(&child) - before, peak_kb: peak(&child) };
    assert_eq!(first + rest, events, "every piece comes");
    drop(stdin);
    assert!(child.wait().unwrap().success());
    ran
}

/// CPU time of a process so far.
fn cpu(child: &Child) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    // A tick is a hundredth of a second to every program on Linux.
    Duration::from_millis(ticks * 10)
}

/// The most memory a process ever had, in kB.
fn peak(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}
