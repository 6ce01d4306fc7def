//! Whole connections: to a small server that is a shell script, well behaved and not, and to other
//! people's servers where they are installed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{McpLimits, McpOptions, McpPool, McpServer, McpTransport};
use crate::message::ToolReturn;
use crate::tools::Tool;
use crate::tools::testing::Bench;
use crate::wire::McpServerState;

/// A server that answers by its first argument's manners.
const SERVER: &str = r#"
manners=$1
[ "$manners" = silent ] && exec sleep 1000
[ "$manners" = refuses ] && { echo "no licence" >&2; exit 3; }
[ "$manners" = floods ] && head -c 20000000 /dev/zero | tr '\0' 'e' >&2
say() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*)
      say '{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"t","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      say '{"tools":[{"name":"echo","description":"Says it again","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}},{"name":"Bash","inputSchema":{}},{"name":"hidden","inputSchema":{}}]}' ;;
    *'"method":"tools/call"'*)
      case "$manners" in
        dies) exit 1 ;;
        hangs) sleep 1000 ;;
        huge) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"' "$id"
              head -c 100000000 /dev/zero | tr '\0' 'x'; printf '"}]}}\n' ;;
        *) text=$(printf '%s' "$line" | sed -n 's/.*"text":"\([^"]*\)".*/\1/p')
           say "{\"content\":[{\"type\":\"text\",\"text\":\"$text $KEPT $MY_TOKEN $PPID\"}]}" ;;
      esac ;;
  esac
done
"#;

struct World {
    bench: Bench,
    script: PathBuf,
}

impl World {
    fn new() -> Self {
        let bench = Bench::new();
        let script = bench.path("server.sh");
        std::fs::write(&script, SERVER).expect("script");
        Self { bench, script }
    }

    fn server(&self, name: &str, manners: &str) -> McpServer {
        let args = vec![self.script.display().to_string(), manners.to_owned()];
        program(name, "sh", args)
    }

    fn options(&self) -> McpOptions {
        McpOptions {
            work_dir: self.bench.context.work_dir.clone(),
            exclude: vec!["hidden".into()],
            reserved: vec!["Bash".into()],
            limits: McpLimits {
                connect: Duration::from_secs(20),
                call: Duration::from_secs(20),
                turn: Duration::from_secs(30),
            },
            ..McpOptions::default()
        }
    }

    async fn call(&self, tool: &Arc<dyn Tool>, arguments: Value) -> ToolReturn {
        tool.call(arguments, &self.bench.context).await
    }
}

fn program(name: &str, command: &str, args: Vec<String>) -> McpServer {
    let env = vec![("KEPT".to_owned(), "kept".to_owned())];
    let transport = McpTransport::Stdio { command: command.to_owned(), args, env, cwd: None };
    McpServer { name: name.to_owned(), transport, fault: None }
}

fn names(pool: &McpPool) -> Vec<String> {
    pool.tools().iter().map(|tool| tool.name().to_owned()).collect()
}

fn is_alive(pid: &str) -> bool {
    Path::new("/proc").join(pid).exists()
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_listed_asked_for_called_and_the_server_ends_with_the_pool() {
    let world = World::new();
    let pool = McpPool::start(vec![world.server("files", "good")], world.options());
    pool.settle().await;
    assert_eq!(pool.status().connected, 1, "{:?}", pool.failures());
    assert_eq!(names(&pool), ["echo", "files_Bash"]);
    let tools = pool.tools();
    assert!(tools[0].description().contains("Says it again"));
    assert_eq!(tools[1].parameters(), json!({"type": "object", "properties": {}}));
    let result = world.call(&tools[0], json!({"text": "hello"})).await;
    let text = result.output.text();
    assert!(!result.is_error && text.starts_with("hello kept"), "{result:?}");
    let asked = world.bench.asked();
    assert_eq!(asked[0].action, "mcp:echo");
    world.bench.reject("");
    let rejected = world.call(&tools[0], json!({"text": "x"})).await;
    assert_eq!(rejected.brief(), Some("Rejected by user"));
    // A pool that is let go leaves no process behind.
    let marker = world.script.display().to_string();
    assert!(!processes(&marker).is_empty());
    drop((tools, pool));
    until("the server ended", || processes(&marker).is_empty()).await;
}

/// Processes whose command line has `marker`.
fn processes(marker: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| {
            std::fs::read(entry.path().join("cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(marker))
        })
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|pid| is_alive(pid))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_servers_harm_nobody_and_say_why() {
    let world = World::new();
    let mut options = world.options();
    options.limits.connect = Duration::from_secs(3);
    let mut faulty = world.server("faulty", "good");
    faulty.fault = Some("it has neither".to_owned());
    let servers = vec![
        world.server("silent", "silent"),
        world.server("refuses", "refuses"),
        world.server("floods", "floods"),
        program("absent", "no-such-program-anywhere", Vec::new()),
        faulty,
    ];
    let pool = McpPool::start(servers, options);
    pool.settle().await;
    let failures = pool.failures();
    let reason = |name: &str| {
        let found = failures.iter().find(|(server, _)| server == name);
        found.map(|(_, reason)| reason.clone()).unwrap_or_default()
    };
    assert!(reason("silent").contains("did not answer within 3 s"), "{failures:?}");
    assert!(reason("refuses").contains("no licence"), "{failures:?}");
    assert!(reason("absent").contains("no-such-program-anywhere"), "{failures:?}");
    assert_eq!(reason("faulty"), "it has neither");
    assert_eq!(reason("floods"), "");
    let states: Vec<_> = pool.status().servers.iter().map(|server| server.status).collect();
    assert_eq!(states.iter().filter(|s| **s == McpServerState::Connected).count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_waits_for_a_silent_server_no_longer_than_it_may() {
    let world = World::new();
    let mut options = world.options();
    options.limits.turn = Duration::from_millis(100);
    options.limits.connect = Duration::from_secs(600);
    let pool = McpPool::start(vec![world.server("silent", "silent")], options);
    let begin_of_a_turn = async {
        pool.settle().await;
        pool.refresh().await;
    };
    tokio::time::timeout(Duration::from_secs(30), begin_of_a_turn).await.expect("the turn goes on");
    let state = pool.status().servers[0].status;
    assert!(matches!(state, McpServerState::Pending | McpServerState::Connecting), "{state:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_hangs_or_says_too_much_is_an_error_for_the_model() {
    let world = World::new();
    let mut options = world.options();
    options.limits.call = Duration::from_secs(4);
    let servers = ["dies", "hangs", "huge"].map(|manners| world.server(manners, manners));
    let pool = McpPool::start(servers.to_vec(), options);
    pool.settle().await;
    assert_eq!(pool.status().connected, 3, "{:?}", pool.failures());
    let tools = pool.tools();
    let echo = |server: &str| {
        let of = format!("`{server}`");
        let one = tools.iter().find(|t| t.description().contains(&of) && t.name().contains("echo"));
        Arc::clone(one.expect("a tool"))
    };
    for (server, words) in
        [("dies", "connection is closed"), ("hangs", "within 4 s"), ("huge", "within 4 s")]
    {
        let result = world.call(&echo(server), json!({"text": "x"})).await;
        assert!(result.is_error && result.message.contains(words), "{server}: {result:?}");
    }
    // It is started again for the next call, and dies of it again: an error, not a hang.
    let again = world.call(&echo("dies"), json!({"text": "x"})).await;
    assert!(again.is_error, "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_collide_or_no_provider_takes_are_made_others_and_never_change() {
    let world = World::new();
    let servers = vec![world.server("one", "good"), world.server("two.x", "good")];
    let pool = McpPool::start(servers, world.options());
    pool.settle().await;
    let first = names(&pool);
    assert_eq!(first, ["echo", "one_Bash", "two_x_echo", "two_x_Bash"]);
    assert_eq!(names(&pool), first);
}

/// Tries a server of somebody else's where its program is installed.
async fn try_installed(command: &str, args: &[&str], tool: &str, arguments: Value, expect: &str) {
    let world = World::new();
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    let pool = McpPool::start(vec![program("theirs", command, args)], world.options());
    pool.settle().await;
    if pool.status().connected == 0 {
        println!("skipped: {command} is not installed ({:?})", pool.failures());
        return;
    }
    let tools = pool.tools();
    let one = tools.iter().find(|one| one.name() == tool).expect("the tool");
    let result = world.call(one, arguments).await;
    assert!(!result.is_error && result.output.text().contains(expect), "{result:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_everything_server_of_the_npm_registry_runs_its_tools() {
    let args = ["stdio"];
    let command = "mcp-server-everything";
    try_installed(command, &args, "echo", json!({"message": "hi there"}), "hi there").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_server_of_the_python_registry_runs_its_tools() {
    let arguments = json!({"timezone": "UTC"});
    try_installed("mcp-server-time", &[], "get_current_time", arguments, "UTC").await;
}
