//! How the cost of a context grows: with its length for opening it, not at all for adding to it.
//!
//! `cargo bench --bench context`

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot set its stage should stop")]

use divan::Bencher;
use divan::counter::BytesCount;
use kimi_tui::context::Context;
use kimi_tui::message::{CheckpointId, Message, ToolCall, ToolReturn};
use tempfile::TempDir;

fn main() {
    divan::main();
}

/// A session of `records` records: steps of a checkpoint, an answer with a call, two counts, a result.
fn session(records: usize) -> (TempDir, Context) {
    let folder = tempfile::tempdir().unwrap();
    let (mut context, _) = Context::open(folder.path()).unwrap();
    context.freeze_system_prompt(&"You are a helpful agent. ".repeat(400)).unwrap();
    let mut answer = Message::assistant("I look at the file first. ".repeat(8));
    answer.tool_calls =
        Some(vec![ToolCall::new("call", "ReadFile", Some("{\"path\": \"src/main.rs\"}".into()))]);
    let output = ToolReturn::ok("    let x = compute(y); // 计算\n".repeat(140), "140 lines read.");
    let result = Message::tool_result("call", &output);
    for _ in 0..records / 5 {
        context.checkpoint(false).unwrap();
        context.grow(Some(100), &answer, Some(120), std::slice::from_ref(&result)).unwrap();
    }
    (folder, context)
}

/// 100,000 records are 100 MB.
#[divan::bench(args = [1_000, 10_000, 100_000], max_time = 10)]
fn restore(bencher: Bencher, records: usize) {
    let (folder, _) = session(records);
    let bytes = std::fs::metadata(folder.path().join("context.jsonl")).unwrap().len();
    bencher.counter(BytesCount::new(bytes)).bench(|| Context::open(folder.path()).unwrap());
}

#[divan::bench(args = [100, 10_000, 100_000])]
fn append_to(bencher: Bencher, records: usize) {
    let (_folder, mut context) = session(records);
    let message = Message::user("and now the tests, please");
    bencher.bench_local(|| context.append(std::slice::from_ref(&message)).unwrap());
}

#[divan::bench(args = [100, 10_000])]
fn checkpoint_after(bencher: Bencher, records: usize) {
    let (_folder, mut context) = session(records);
    bencher.bench_local(|| context.checkpoint(true).unwrap());
}

#[divan::bench(args = [1_000, 10_000, 100_000], sample_count = 5, sample_size = 1)]
fn revert_half_of(bencher: Bencher, records: usize) {
    bencher.with_inputs(|| session(records)).bench_local_values(|(folder, mut context)| {
        context.revert_to(CheckpointId(records as u64 / 10)).unwrap();
        (folder, context)
    });
}
