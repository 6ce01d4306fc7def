//! Browsing session history: how long the list and a search take with thousands of sessions.
//!
//! `cargo bench --bench sessions`; 200 sessions of 50 KB. `SESSIONS=2000 SESSION_KB=500` is 1 GB.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot set its stage should stop"
)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use kimi_tui::paths::Paths;
use kimi_tui::session::SessionStore;
use kimi_tui::session::index::{Query, SearchOptions, SessionIndex};
use serde_json::json;

fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn main() {
    let sessions = number("SESSIONS", 200);
    let size = number("SESSION_KB", 50) * 1024;
    let folder = tempfile::tempdir().unwrap();
    let paths = Paths::new(folder.path());
    let store = SessionStore::new(paths.clone());
    let work: Vec<_> = (0..20).map(|n| folder.path().join(format!("work{n}"))).collect();
    for index in 0..sessions {
        let session = store.create(&work[index % work.len()], None).unwrap();
        write(&session.dir, index, size);
    }
    println!("{sessions} sessions, {} MB", (sessions * size) >> 20);

    let index = SessionIndex::new(store.clone());
    told("list, no index", || drop(store.list_all().unwrap()));
    told("index made", || refresh(&index));
    let disk: u64 = fs::read_dir(paths.session_index())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    println!("{:<40} {:>9} MB", "index on disk", disk >> 20);

    // Another process begins here.
    let index = SessionIndex::new(store);
    told("list, index from disk", || drop(index.list(false).unwrap()));
    told("list again", || drop(index.list(false).unwrap()));
    told("index up to date", || refresh(&index));
    told("signatures read", || index.warm());
    let options = SearchOptions { work_dir: None, limit: 200, archived: false };
    for query in [
        "e",
        "err",
        "error",
        "error 17",
        "unique-77-",
        "错误",
        "日志77",
        "nowhere",
        "nowh",
        "tests tenth xyz",
        "w17 w4242 w3131",
        "testsw tenthw",
    ] {
        let query_parsed = Query::parse(query);
        let mut found = 0;
        let mut times: Vec<Duration> = (0..11)
            .map(|_| {
                let began = Instant::now();
                found = index.search(&query_parsed, &options, &|| false).len();
                began.elapsed()
            })
            .collect();
        times.sort();
        let (median, worst) = (times[5], times[10]);
        println!("search {query:<33} {median:>9.2?} worst {worst:>9.2?}  {found} found");
    }
    let first = fs::read_dir(paths.sessions()).unwrap().next().unwrap().unwrap().path();
    let session = fs::read_dir(first).unwrap().next().unwrap().unwrap().path();
    write(&session, 1, 1000);
    told("index up to date after one grew", || refresh(&index));
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    println!("peak memory {peak}");
}

fn refresh(index: &SessionIndex) {
    index.refresh(&|| false, &mut |_| {}).unwrap();
}

fn told(what: &str, work: impl FnOnce()) {
    let began = Instant::now();
    work();
    println!("{what:<40} {:>9.2?}", began.elapsed());
}

/// Adds turns until the files have `size` bytes together.
fn write(dir: &Path, index: usize, size: usize) {
    let words = [
        "parser", "error", "tests", "context", "window", "tenth", "错误", "日志", "函数", "fn",
        "let",
    ];
    let mut random = index as u64 * 77 + 1;
    let mut next = move || {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize
    };
    let mut text = |count: usize| {
        let word = |n: usize| {
            if n.is_multiple_of(3) {
                format!("w{}", n % 5000)
            } else {
                words[n % words.len()].to_owned()
            }
        };
        (0..count).map(|_| word(next())).collect::<Vec<_>>().join(" ")
    };
    let open =
        |name: &str| fs::File::options().create(true).append(true).open(dir.join(name)).unwrap();
    let (mut wire, mut context) = (open("wire.jsonl"), open("context.jsonl"));
    let mut written = 0;
    while written < size {
        let (asked, said) =
            (format!("unique-{index}-{written} 日志{index} {}", text(12)), text(80));
        let (command, output) = (format!("cargo test {}", text(5)), text(700));
        let arguments = json!({ "command": command }).to_string();
        let function = json!({"name": "Bash", "arguments": arguments});
        let call = json!({"type": "function", "id": "t", "function": function});
        let value = json!({"is_error": false, "output": output, "message": "", "display": []});
        let events = [
            ("TurnBegin", json!({ "user_input": asked })),
            ("ContentPart", json!({"type": "text", "text": said})),
            ("ToolCall", call.clone()),
            ("ToolResult", json!({"tool_call_id": "t", "return_value": value})),
        ];
        let mut lines = String::new();
        for (kind, payload) in events {
            let record = json!({"timestamp": 1.0, "message": {"type": kind, "payload": payload}});
            lines.push_str(&format!("{record}\n"));
        }
        wire.write_all(lines.as_bytes()).unwrap();
        written += lines.len();
        let rows = [
            json!({"role": "user", "content": asked}),
            json!({"role": "assistant", "content": said, "tool_calls": [call]}),
            json!({"role": "tool", "content": output, "tool_call_id": "t"}),
        ];
        let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
        context.write_all(lines.as_bytes()).unwrap();
        written += lines.len();
    }
}
