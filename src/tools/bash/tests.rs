use std::time::Instant;

use serde_json::json;

use super::*;
use crate::tools::testing::Bench;

/// Far more than any of these commands takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(30);

async fn bash(bench: &Bench, command: &str) -> ToolReturn {
    bench.call(&Bash, json!({"command": command})).await
}

/// Processes that run and have `mark` among their arguments.
fn alive(mark: &str) -> usize {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    entries
        .filter(|entry| {
            let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
            let arguments = read("cmdline");
            let named = arguments.split(|byte| *byte == 0).any(|one| one == mark.as_bytes());
            let stat = String::from_utf8_lossy(&read("stat")).into_owned();
            let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
            named && !matches!(state, Some('Z' | 'X') | None)
        })
        .count()
}

async fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "never came true: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A number of seconds nobody else sleeps for.
fn unique_seconds() -> String {
    format!("{}.{}", 3000 + std::process::id() % 1000, fastrand::u64(100_000_000..))
}

#[tokio::test]
async fn output_of_both_streams_comes_in_order_live_and_in_the_result() {
    let bench = Bench::new();
    let result = bash(&bench, "echo a; echo b >&2; echo c; pwd").await;
    let expected = format!("a\nb\nc\n{}\n", bench.context.work_dir.display());
    assert_eq!(result, ToolReturn::ok(expected.clone(), "Command executed successfully."));
    assert_eq!(bench.live(), expected);
    let asked = bench.asked();
    assert_eq!(asked[0].action, "run command");
    assert_eq!(asked[0].description, "Run command `echo a; echo b >&2; echo c; pwd`");
    assert!(matches!(&asked[0].display[..],
        [DisplayBlock::Shell { language, command }] if language == "bash" && command.starts_with("echo a")));
}

#[tokio::test]
async fn failures_tell_code_signal_and_last_lines() {
    let bench = Bench::new();
    let result = bash(&bench, "echo one; echo; echo two; echo three; echo four; exit 3").await;
    assert!(result.is_error);
    assert_eq!(result.message, "Command failed with exit code: 3.");
    assert_eq!(result.brief(), Some("Failed with exit code: 3\ntwo\nthree\nfour"));
    assert!(result.output.text().starts_with("one\n"));
    let killed = bash(&bench, "kill -9 $$").await;
    assert_eq!(killed.message, "Command was killed by signal 9 (SIGKILL).");
    let inner = bash(&bench, "bash -c 'kill -11 $$'; exit $?").await;
    assert!(inner.message.starts_with("Command failed with exit code: 139. That is"));
}

#[tokio::test]
async fn a_rejected_command_does_not_run() {
    let bench = Bench::new();
    bench.reject("not now");
    let result = bash(&bench, "touch made").await;
    assert_eq!(result.brief(), Some("Rejected: not now"));
    assert!(!bench.path("made").exists());
}

#[tokio::test]
async fn nobody_can_ask_and_nothing_pages() {
    let bench = Bench::new();
    let result =
        bash(&bench, "cat; echo $PAGER $GIT_TERMINAL_PROMPT; (echo x >/dev/tty) 2>&1").await;
    let text = result.output.text();
    assert!(text.starts_with("cat 0\n"), "{text}");
    if std::path::Path::new("/usr/bin/setsid").exists() {
        assert!(text.contains("/dev/tty"), "the terminal was open: {text}");
    }
}

#[tokio::test]
async fn arguments_that_cannot_be_met_run_nothing() {
    let bench = Bench::new();
    let long = bench.call(&Bash, json!({"command": "touch made", "timeout": 301})).await;
    assert!(long.message.contains("between 1 and 300"), "{}", long.message);
    let background =
        bench.call(&Bash, json!({"command": "touch made", "run_in_background": true})).await;
    assert!(background.is_error && background.message.contains("background"));
    assert!(bash(&bench, "  ").await.is_error);
    assert!(bench.asked().is_empty() && !bench.path("made").exists());
}

#[tokio::test]
async fn a_timeout_ends_the_whole_group_and_keeps_the_output() {
    let bench = Bench::new();
    let seconds = unique_seconds();
    let command = format!("echo begun; sleep {seconds} & sleep {seconds}");
    let start = Instant::now();
    let result = bench.call(&Bash, json!({"command": command, "timeout": 1})).await;
    assert!(start.elapsed() < PATIENCE);
    assert!(result.message.starts_with("Command killed by timeout (1s)"), "{}", result.message);
    assert_eq!(result.output.text(), "begun\n");
    wait_until("nobody sleeps", || alive(&seconds) == 0).await;
}

#[tokio::test]
async fn a_command_that_ignores_the_gentle_signal_is_killed() {
    let bench = Bench::new();
    let seconds = unique_seconds();
    let command = format!("trap '' TERM; echo deaf; sleep {seconds}; sleep {seconds}");
    let result = bench.call(&Bash, json!({"command": command, "timeout": 1})).await;
    assert!(result.message.starts_with("Command killed by timeout (1s)"));
    wait_until("nobody sleeps", || alive(&seconds) == 0).await;
}

#[tokio::test]
async fn a_dropped_call_leaves_no_process_behind() {
    let bench = Bench::new();
    let seconds = unique_seconds();
    let command =
        format!("(sleep {seconds} & sleep {seconds}) & sleep {seconds} & sleep {seconds}");
    {
        let call = bash(&bench, &command);
        tokio::pin!(call);
        tokio::select! {
            result = &mut call => panic!("ended: {result:?}"),
            () = wait_until("four sleep", || alive(&seconds) == 4) => {}
        }
    }
    let start = Instant::now();
    wait_until("nobody sleeps", || alive(&seconds) == 0).await;
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_background_child_holds_nothing_up_and_does_not_stay() {
    let bench = Bench::new();
    for redirect in ["", " >/dev/null 2>&1"] {
        let seconds = unique_seconds();
        let start = Instant::now();
        let result = bash(&bench, &format!("sleep {seconds}{redirect} & echo done")).await;
        assert!(start.elapsed() < PATIENCE);
        assert!(!result.is_error && result.output.text() == "done\n");
        assert!(result.message.contains("background were stopped"), "{}", result.message);
        wait_until("nobody sleeps", || alive(&seconds) == 0).await;
    }
}

#[tokio::test]
async fn a_flood_is_bounded_live_and_in_the_result() {
    let bench = Bench::new();
    let result =
        bash(&bench, "echo first; yes 0123456789 | head -c 2000000; echo; echo last").await;
    let text = result.output.text();
    assert!(text.starts_with("first\n") && text.ends_with("last\n"));
    assert!(text.chars().count() <= crate::tools::output::MAX_CHARS);
    assert!(result.message.contains("truncated"), "{}", result.message);
    let live = bench.live();
    assert!(live.len() < LIVE_BYTES + 200 && live.len() > LIVE_BYTES / 2);
    assert_eq!(live.matches("more output than is shown").count(), 1);
}

#[tokio::test]
async fn a_work_folder_that_is_gone_is_told() {
    let bench = Bench::new();
    std::fs::remove_dir(&bench.context.work_dir).expect("remove");
    let result = bash(&bench, "true").await;
    let told = result.brief().expect("brief");
    assert!(told.contains("work folder") && told.ends_with("is gone"), "{told}");
    assert!(result.message.contains("Nothing was run"), "{}", result.message);
}
