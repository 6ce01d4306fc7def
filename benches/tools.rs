//! Grep and Glob beside `rg` on the same queries, in a repository of 2,000 files.
//!
//! `cargo bench --bench tools` prints the medians and their ratio; without `rg` only our own.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops at a fault"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use kimi_tui::message::{TodoItem, ToolCall};
use kimi_tui::tools::{
    Approval, ApprovalAsk, DMail, LiveOutput, ToolContext, ToolServices, Toolset, call_tool,
};
use serde_json::{Value, json};

const FILES: usize = 2000;
const ROUNDS: usize = 21;

/// A session in which nothing is asked for.
struct Nobody;

impl ToolServices for Nobody {
    fn approve<'a>(&'a self, _: &'a ToolContext, _: ApprovalAsk) -> BoxFuture<'a, Approval> {
        Box::pin(std::future::ready(Approval::Approved))
    }
    fn live_output(&self, _: &ToolContext, _: LiveOutput<'_>) {}
    fn todos(&self) -> Vec<TodoItem> {
        Vec::new()
    }
    fn set_todos(&self, _: Vec<TodoItem>) -> Result<(), String> {
        Ok(())
    }
    fn send_dmail(&self, _: DMail) -> Result<(), String> {
        Ok(())
    }
}

/// Source files of about 6 KB in 100 folders, one in fifty with a needle, some of them ignored.
fn repository(root: &Path) {
    fs::create_dir(root.join(".git")).unwrap();
    fs::write(root.join(".gitignore"), "target/\n*.log\n").unwrap();
    for file in 0..FILES {
        let folder = root.join(format!("src/part{}/deep{}", file % 20, file % 5));
        fs::create_dir_all(&folder).unwrap();
        let mut text = String::new();
        for line in 0..150 {
            text.push_str(&format!("    let value_{line} = compute({file}, \"some text\");\n"));
        }
        if file % 50 == 0 {
            text.push_str("// a needle in the hay\n");
        }
        let ending = if file % 4 == 0 { "py" } else { "rs" };
        fs::write(folder.join(format!("file{file}.{ending}")), text).unwrap();
    }
}

fn median(mut run: impl FnMut()) -> Duration {
    run();
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let began = Instant::now();
            run();
            began.elapsed()
        })
        .collect();
    times.sort();
    times[ROUNDS / 2]
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    repository(&root);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let tools = Toolset::select(&["Grep".to_owned(), "Glob".to_owned()], &[]).unwrap();
    let context = ToolContext {
        work_dir: root.clone(),
        added_dirs: Vec::new(),
        call_id: "1".to_owned(),
        called_as: "Grep".to_owned(),
        cancelled: Default::default(),
        services: Arc::new(Nobody),
    };
    let ours = |tool: &str, arguments: &Value| {
        let call = ToolCall::new("1", tool, Some(arguments.to_string()));
        let result = runtime.block_on(call_tool(&tools, &call, &context));
        assert!(!result.is_error, "{}", result.message);
    };
    let has_rg = Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_ok();
    let rg = |arguments: &[&str]| {
        let run = Command::new("rg")
            .args(arguments)
            .current_dir(&root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        run.unwrap();
    };
    let all = json!({"pattern": "value_7\\b", "output_mode": "count_matches", "head_limit": 0});
    let cases: [(&str, &str, Value, &[&str]); 5] = [
        ("a rare word", "Grep", json!({"pattern": "needle"}), &["-l", "--hidden", "needle", "."]),
        (
            "its lines",
            "Grep",
            json!({"pattern": "needle", "output_mode": "content", "-C": 2}),
            &["-n", "-C2", "--hidden", "needle", "."],
        ),
        ("a word in every file", "Grep", all, &["--count-matches", "--hidden", "value_7\\b", "."]),
        (
            "any case, one type",
            "Grep",
            json!({"pattern": "NEEDLE", "-i": true, "type": "py"}),
            &["-l", "-i", "-tpy", "--hidden", "NEEDLE", "."],
        ),
        (
            "paths",
            "Glob",
            json!({"pattern": "src/**/*.py"}),
            &["--files", "--hidden", "--no-ignore", "--sort", "path", "-g", "src/**/*.py"],
        ),
    ];
    println!("{FILES} files, median of {ROUNDS}");
    for (name, tool, arguments, theirs) in cases {
        let own = median(|| ours(tool, &arguments));
        let own_ms = own.as_secs_f64() * 1e3;
        if has_rg {
            let other_ms = median(|| rg(theirs)).as_secs_f64() * 1e3;
            println!(
                "{tool}, {name}: {own_ms:.1} ms, rg {other_ms:.1} ms, ratio {:.2}",
                own_ms / other_ms
            );
        } else {
            println!("{tool}, {name}: {own_ms:.1} ms (rg is not installed)");
        }
    }
}
