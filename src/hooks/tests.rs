//! Real processes: what they say, how long they may take, and that none stays.

use serde_json::json;

use super::*;
use crate::wire::DoorMessage;

struct Bench {
    folder: tempfile::TempDir,
    hub: Hub,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("folder"), hub: Hub::new(None) }
    }

    fn hooks(&self, hooks: &[(HookEvent, &str, &str, u64)]) -> Hooks {
        let configured: Vec<HookConfig> = hooks
            .iter()
            .map(|&(event, matcher, command, timeout)| HookConfig {
                event,
                matcher: matcher.into(),
                command: command.into(),
                timeout,
            })
            .collect();
        let work_dir = self.folder.path().to_owned();
        Hooks::new(&configured, self.hub.clone(), SessionId("s1".into()), work_dir)
    }

    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join(name)).ok()
    }

    async fn wait_for(&self, name: &str) -> String {
        for _ in 0..500 {
            if let Some(text) = self.read(name).filter(|text| text.ends_with('\n')) {
                return text;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{name} never came");
    }
}

fn details(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

async fn ask(bench: &Bench, command: &str) -> Verdict {
    let hooks = bench.hooks(&[(HookEvent::PreToolUse, "", command, 20)]);
    hooks.ask(HookEvent::PreToolUse, &["Bash"], details(json!({"tool_name": "Bash"}))).await
}

#[tokio::test]
async fn a_hook_says_no_by_its_exit_code_or_in_json_and_nothing_else_is_a_no() {
    let bench = Bench::new();
    let block = |reason: &str| Verdict::Block { reason: reason.into() };
    let deny = r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"not today"}}"#;
    let cases = [
        ("echo ' too risky ' >&2; exit 2".to_owned(), block("too risky")),
        (format!("echo '{deny}'"), block("not today")),
        (format!("echo '{deny}'; exit 1"), Verdict::Allow),
        ("exit 0".to_owned(), Verdict::Allow),
        ("exit 1".to_owned(), Verdict::Allow),
        ("kill -9 $$".to_owned(), Verdict::Allow),
        ("/no/such/program".to_owned(), Verdict::Allow),
        (
            "echo '{\"hookSpecificOutput\":{\"permissionDecision\":\"allow\"}}'".to_owned(),
            Verdict::Allow,
        ),
        ("echo '[1, {'".to_owned(), Verdict::Allow),
        // Floods both pipes and reads nothing.
        (
            "exec 0<&-; head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; exit 2"
                .to_owned(),
            { block(&"\0".repeat(64 * 1024)) },
        ),
    ];
    for (command, wanted) in cases {
        assert_eq!(ask(&bench, &command).await, wanted, "{command}");
    }
}

#[tokio::test]
async fn a_hook_is_told_what_it_is_about() {
    let bench = Bench::new();
    ask(&bench, "cat > input.json; echo >> input.json").await;
    let told: Value =
        serde_json::from_str(&bench.read("input.json").expect("input")).expect("json");
    let cwd = bench.folder.path().display().to_string();
    assert_eq!(
        told,
        json!({"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": cwd, "tool_name": "Bash"})
    );
}

#[tokio::test]
async fn only_matching_hooks_run_the_same_command_once_and_all_at_a_time() {
    let bench = Bench::new();
    let mut heard = bench.hub.subscribe(false);
    // Each waits for the other: one after the other they would never end.
    let meet = |mine: &str, other: &str| {
        format!("touch {mine}; while [ ! -e {other} ]; do sleep 0.01; done")
    };
    let (one, two) = (meet("a", "b"), meet("b", "a"));
    let hooks = bench.hooks(&[
        (HookEvent::PreToolUse, "Bash", &one, 20),
        (HookEvent::PreToolUse, "^B.sh$", &two, 20),
        (HookEvent::PreToolUse, "", &two, 20),
        (HookEvent::PreToolUse, "Write", "touch wrong-matcher", 20),
        (HookEvent::Stop, "", "touch wrong-event", 20),
    ]);
    assert_eq!(hooks.ask(HookEvent::PreToolUse, &["Bash"], Map::new()).await, Verdict::Allow);
    assert_eq!((bench.read("wrong-matcher"), bench.read("wrong-event")), (None, None));
    let Ok(DoorMessage::Event(Event::HookTriggered(begun))) = heard.try_recv() else {
        panic!("it is told that hooks run");
    };
    assert_eq!(
        (begun.event.as_str(), begun.target.as_str(), begun.hook_count),
        ("PreToolUse", "Bash", 2)
    );
    let Ok(DoorMessage::Event(Event::HookResolved(ended))) = heard.try_recv() else {
        panic!("it is told what they said");
    };
    assert_eq!(ended.action, HookAction::Allow);
    assert_eq!(hooks.ask(HookEvent::PreCompact, &["auto"], Map::new()).await, Verdict::Allow);
    assert!(heard.try_recv().is_err(), "no hooks, no word");
}

#[tokio::test]
async fn a_hook_that_takes_too_long_says_nothing_and_is_gone_with_all_it_started() {
    let bench = Bench::new();
    let hooks = bench.hooks(&[(HookEvent::Stop, "", "sleep 300 & echo $! > pid; wait; exit 2", 1)]);
    assert_eq!(hooks.ask(HookEvent::Stop, &[""], Map::new()).await, Verdict::Allow);
    assert_gone(&bench.wait_for("pid").await).await;
}

#[tokio::test]
async fn what_a_hook_leaves_running_does_not_keep_anybody_waiting() {
    let bench = Bench::new();
    let begun = Instant::now();
    let said = ask(&bench, "sleep 300 & echo $! > pid; echo no >&2; exit 2").await;
    assert_eq!(said, Verdict::Block { reason: "no".into() });
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_gone(&bench.wait_for("pid").await).await;
}

#[tokio::test]
async fn a_dropped_question_ends_its_hooks() {
    let bench = Bench::new();
    let hooks = bench.hooks(&[(HookEvent::Stop, "", "echo $$ > pid; exec sleep 300", 100)]);
    let asking = tokio::spawn(async move { hooks.ask(HookEvent::Stop, &[""], Map::new()).await });
    let pid = bench.wait_for("pid").await;
    asking.abort();
    assert_gone(&pid).await;
}

#[tokio::test]
async fn hooks_nobody_waits_for_run_and_end_with_the_session() {
    let bench = Bench::new();
    let hooks = bench.hooks(&[
        (HookEvent::PostToolUse, "quick", "echo done > quick", 100),
        (HookEvent::PostToolUse, "slow", "echo $$ > slow; exec sleep 300", 100),
    ]);
    hooks.tell(HookEvent::PostToolUse, &["quick"], Map::new());
    hooks.tell(HookEvent::PostToolUse, &["slow"], Map::new());
    assert_eq!(bench.wait_for("quick").await, "done\n");
    let pid = bench.wait_for("slow").await;
    hooks.close().await;
    assert_gone(&pid).await;
}

async fn assert_gone(pid: &str) {
    let number = rustix::process::Pid::from_raw(pid.trim().parse().expect("pid")).expect("pid");
    for _ in 0..500 {
        // A zombie that init has not reaped yet is gone too.
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        let is_zombie = stat.is_ok_and(|stat| stat.contains(") Z "));
        if is_zombie || rustix::process::test_kill_process(number).is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("process {pid} is still there");
}
