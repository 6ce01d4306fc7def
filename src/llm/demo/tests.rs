//! The demo model in a small pretend session: real messages, canned tools.

use serde_json::json;

use super::*;
use crate::llm::{Answer, ToolSpec};
use crate::message::{Role, ToolReturn, text_of};

const ALL: [&str; 10] = [
    "ReadFile",
    "WriteFile",
    "EditFile",
    "Bash",
    "Grep",
    "Glob",
    "LS",
    "Think",
    "Todo",
    "SendDMail",
];

/// A conversation that goes on as the engine would take it.
struct Session {
    model: Arc<dyn ChatProvider>,
    tools: Vec<ToolSpec>,
    messages: Vec<Message>,
    checkpoints: u64,
}

impl Session {
    fn new(tools: &[&str]) -> Self {
        let spec = |name: &&str| ToolSpec {
            name: (*name).into(),
            description: String::new(),
            parameters: json!({}),
        };
        Self {
            model: demo_at(Duration::ZERO),
            tools: tools.iter().map(spec).collect(),
            messages: Vec::new(),
            checkpoints: 0,
        }
    }

    fn ask(&mut self, text: &str) {
        self.checkpoints += 1;
        self.messages.push(Message::user(text));
    }

    /// One answer.
    async fn step(&mut self) -> Answer {
        let note = Message::system_note(&format!("CHECKPOINT {}", self.checkpoints));
        self.checkpoints += 1;
        self.messages.push(note);
        let request = ChatRequest {
            system: "You are an agent.",
            tools: &self.tools,
            messages: &self.messages,
            cache_key: None,
            input_tokens: None,
        };
        let parts: Vec<_> = self.model.stream(request).await.expect("a stream").collect().await;
        let mut answer = Answer::new();
        parts.into_iter().for_each(|part| answer.push(part.expect("no faults")));
        assert!(!answer.is_incomplete(), "{answer:?}");
        self.messages.push(answer.message());
        answer
    }

    fn result(&mut self, call: &ToolCall, result: &ToolReturn) {
        self.messages.push(Message::tool_result(call.id.as_str(), result));
    }

    /// Answers until one makes no calls; the names of the calls of each, and the last text.
    async fn turn(
        &mut self,
        text: &str,
        tool: impl Fn(&ToolCall) -> ToolReturn,
    ) -> (Vec<String>, String) {
        self.ask(text);
        let mut steps = Vec::new();
        for _ in 0..20 {
            let answer = self.step().await;
            if answer.calls().is_empty() {
                return (steps, text_of(answer.content(), ""));
            }
            let names: Vec<&str> =
                answer.calls().iter().map(|call| call.function.name.as_str()).collect();
            steps.push(names.join("+"));
            for call in answer.calls() {
                self.result(call, &tool(call));
            }
        }
        panic!("the turn does not end: {steps:?}");
    }
}

fn arguments(call: &ToolCall) -> Value {
    serde_json::from_str(call.arguments()).expect("arguments are JSON")
}

/// What the tools of a small project would answer.
fn project(call: &ToolCall) -> ToolReturn {
    match call.function.name.as_str() {
        "LS" => ToolReturn::ok("Cargo.toml\nREADME.md\nsrc/", "3 entries."),
        "Glob" => ToolReturn::ok("CHANGELOG.md\nREADME.md", "Found 2 matches."),
        "ReadFile" => ToolReturn::ok("     1\t# Title\n     2\t\n     3\tText", "3 lines read."),
        "Bash" => ToolReturn::ok("hi\n", "Command executed successfully."),
        "Grep" => ToolReturn::ok("src/main.rs:1:fn main() {}", ""),
        "Todo" => ToolReturn::ok("", "Todo list updated"),
        "SendDMail" => ToolReturn::ok("", "If you see this message, the D-Mail was NOT sent."),
        _ => ToolReturn::ok("", "File successfully overwritten. Current size: 6 bytes."),
    }
}

#[tokio::test]
async fn plain_requests_make_one_call_and_tell_what_came_back() {
    for (ask, tool, expected, told) in [
        ("list files", "LS", json!({"path": "."}), "3 lines"),
        ("read README.md", "ReadFile", json!({"path": "README.md"}), "3 lines.\n\n```md\n# Title"),
        ("run echo hi", "Bash", json!({"command": "echo hi"}), "printed 1 line. Command executed"),
        (
            "create a.txt with hello",
            "WriteFile",
            json!({"path": "a.txt", "content": "hello\n"}),
            "6 bytes",
        ),
        (
            "change a to b in c.md",
            "EditFile",
            json!({"path": "c.md", "edit": {"old": "a", "new": "b"}}),
            "Done.",
        ),
        (
            "search for main()",
            "Grep",
            json!({"pattern": "main\\(\\)", "output_mode": "content"}),
            "src/main.rs:1",
        ),
        ("列出文件", "LS", json!({"path": "."}), "一共 3 行"),
        ("执行 echo hi", "Bash", json!({"command": "echo hi"}), "输出了 1 行"),
    ] {
        let mut session = Session::new(&ALL);
        session.ask(ask);
        let answer = session.step().await;
        assert_eq!(answer.calls().len(), 1, "{ask}");
        assert_eq!(answer.calls()[0].function.name, tool, "{ask}");
        assert_eq!(arguments(&answer.calls()[0]), expected, "{ask}");
        session.result(&answer.calls()[0], &project(&answer.calls()[0]));
        let answer = session.step().await;
        assert!(answer.calls().is_empty());
        let said = text_of(answer.content(), "");
        assert!(said.contains(told), "{ask}: {said}");
    }
}

#[tokio::test]
async fn tools_are_called_by_the_names_they_are_offered_under() {
    let mut session = Session::new(&["Shell", "StrReplaceFile", "SetTodoList"]);
    let (steps, _) = session.turn("run echo hi", project).await;
    assert_eq!(steps, ["Shell"]);
    let (steps, _) = session.turn("change a to b in c.md", project).await;
    assert_eq!(steps, ["StrReplaceFile"]);
    let (steps, _) = session.turn("list files", project).await;
    assert_eq!(steps, ["Shell"], "another tool does it");
    let (steps, said) = session.turn("read a.md", project).await;
    assert_eq!(steps, [] as [&str; 0]);
    assert!(said.contains("`ReadFile`") && said.contains("Shell, StrReplaceFile"), "{said}");
}

#[tokio::test]
async fn a_fault_is_told_as_it_is() {
    let mut session = Session::new(&ALL);
    let broken = |_: &ToolCall| {
        ToolReturn::error("Command failed with exit code: 2.", "x").with_output("ls: no such file")
    };
    let (_, said) = session.turn("run ls x", broken).await;
    assert!(said.contains("did not work") && said.contains("exit code: 2"), "{said}");
    assert!(said.contains("ls: no such file"), "{said}");
}

#[tokio::test]
async fn a_no_is_taken_with_its_advice_and_remembered_without() {
    let mut session = Session::new(&ALL);
    let no = |advice: &str| {
        ToolReturn::error(format!("The tool call is rejected by the user. {advice}"), "Rejected")
    };
    let advised = no("User feedback: use tabs");
    let (steps, said) = session.turn("create a.py", |_| advised.clone()).await;
    assert_eq!(steps, ["WriteFile"], "it does not insist");
    assert!(said.contains("use tabs") && said.contains("`WriteFile`"), "{said}");

    // Without advice the engine ends the turn at the rejection.
    let mut session = Session::new(&ALL);
    session.ask("create a.py");
    let answer = session.step().await;
    session.result(&answer.calls()[0], &no("Stop what you are doing."));
    let (_, said) = session.turn("hello", project).await;
    assert!(said.starts_with("You rejected `WriteFile`"), "{said}");
}

#[tokio::test]
async fn a_plan_moves_through_its_todos() {
    let mut session = Session::new(&ALL);
    let (steps, said) = session.turn("plan something", project).await;
    assert_eq!(steps, ["Todo", "LS", "Todo+Glob", "Todo+ReadFile", "Todo"]);
    let lists: Vec<Vec<String>> = session
        .messages
        .iter()
        .flat_map(Message::calls)
        .filter(|call| call.function.name == "Todo")
        .map(|call| {
            let todos = arguments(call)["todos"].as_array().expect("todos").clone();
            todos.iter().map(|t| t["status"].as_str().expect("status").to_owned()).collect()
        })
        .collect();
    assert_eq!(lists[0], ["in_progress", "pending", "pending"]);
    assert_eq!(lists[1], ["done", "in_progress", "pending"]);
    assert_eq!(lists[3], ["done", "done", "done"]);
    assert!(said.contains("`LS` gave 3 lines") && said.contains("`ReadFile` gave 3"), "{said}");
    let read =
        session.messages.iter().flat_map(Message::calls).find(|c| c.function.name == "ReadFile");
    assert_eq!(arguments(read.expect("a read"))["path"], "README.md");
}

#[tokio::test]
async fn a_plan_goes_on_without_todos_and_past_faults() {
    let mut session = Session::new(&["LS", "Glob", "ReadFile"]);
    let (steps, said) = session
        .turn("plan", |call| match call.function.name.as_str() {
            "Glob" => ToolReturn::error("no globbing today", "x"),
            _ => project(call),
        })
        .await;
    assert_eq!(steps, ["LS", "Glob", "ReadFile"]);
    assert!(said.contains("`Glob` did not work: no globbing today"), "{said}");
}

#[tokio::test]
async fn going_back_sends_what_was_found_to_the_checkpoint_after_the_request() {
    let mut session = Session::new(&ALL);
    session.turn("hello", project).await;
    session.ask("go back");
    let checkpoint = session.checkpoints;
    let asked = session.messages.len();
    let mut names = Vec::new();
    let mail = loop {
        let answer = session.step().await;
        let call = answer.calls()[0].clone();
        names.push(call.function.name.clone());
        if call.function.name == "SendDMail" {
            break arguments(&call);
        }
        session.result(&call, &project(&call));
    };
    assert_eq!(names, ["LS", "ReadFile", "SendDMail"]);
    assert_eq!(mail["checkpoint_id"], checkpoint);
    let content = mail["message"].as_str().expect("text");
    assert!(content.contains("3 lines") && content.contains("# Title"), "{content}");

    // The engine goes back to before that checkpoint and leaves the mail there.
    session.messages.truncate(asked);
    session.checkpoints = checkpoint;
    session.messages.push(Message::system_note(&format!("CHECKPOINT {checkpoint}")));
    session.messages.push(Message::user(crate::prompts::dmail(content)));
    let answer = session.step().await;
    assert!(answer.calls().is_empty(), "it does not look again");
    let said = text_of(answer.content(), "");
    assert!(said.contains("D-Mail") && said.contains("# Title"), "{said}");
}

#[tokio::test]
async fn a_mail_that_was_not_sent_ends_the_turn() {
    let mut session = Session::new(&ALL);
    let (steps, said) = session.turn("回到过去", project).await;
    assert_eq!(steps, ["LS", "ReadFile", "SendDMail"]);
    assert!(said.contains("D-Mail 没有寄出"), "{said}");
    let mut session = Session::new(&["LS"]);
    let (steps, said) = session.turn("go back", project).await;
    assert_eq!(steps, [] as [&str; 0]);
    assert!(said.contains("okabe"), "{said}");
}

#[tokio::test]
async fn a_persons_mail_is_a_request() {
    let mut session = Session::new(&ALL);
    let (steps, said) =
        session.turn(&crate::prompts::dmail_from_person("read README.md"), project).await;
    assert_eq!(steps, ["ReadFile"]);
    assert!(said.contains("# Title"), "{said}");
}

#[tokio::test]
async fn the_tour_and_the_rest_say_that_it_is_a_demo() {
    for (ask, parts) in [
        ("hello", vec!["demo model", "not a real AI", "| Say |", "```rust", "中文", "config.toml"]),
        ("what is the meaning of life", vec!["demo model", "not a real AI", "`go back`"]),
        ("生命的意义是什么", vec!["演示模型", "不是真正的 AI"]),
        ("think about time", vec!["time"]),
        ("long", vec!["```python", "中文", "> The past"]),
    ] {
        let (_, said) = Session::new(&["LS"]).turn(ask, project).await;
        for part in parts {
            assert!(said.contains(part), "{ask}: no {part} in {said}");
        }
    }
}

#[tokio::test]
async fn the_same_conversation_gets_the_same_answer_with_ids_of_its_own() {
    let stream = |model: Arc<dyn ChatProvider>| async move {
        let tools = Session::new(&ALL).tools;
        let messages = [Message::user("list files")];
        let request = ChatRequest {
            system: "",
            tools: &tools,
            messages: &messages,
            cache_key: None,
            input_tokens: None,
        };
        model.stream(request).await.expect("a stream").map(Result::unwrap).collect::<Vec<_>>().await
    };
    let model = demo_at(Duration::ZERO);
    let first = stream(Arc::clone(&model)).await;
    assert_eq!(first, stream(demo_at(Duration::ZERO)).await);
    let second = stream(model).await;
    assert_ne!(first[0], second[0], "ids do not repeat within a session");
    assert_eq!(first.len(), second.len());
}

#[tokio::test]
async fn usage_grows_with_the_conversation() {
    let mut session = Session::new(&ALL);
    session.ask("list files");
    let first = session.step().await.usage().expect("usage");
    session.ask("long");
    let second = session.step().await.usage().expect("usage");
    assert!(second.input() > first.input() && second.output > 500);
    session.ask("long");
    let third = session.step().await.usage().expect("usage");
    assert!(third.input() >= second.input() + second.output);
}

#[tokio::test(start_paused = true)]
async fn it_streams_in_pieces_at_a_pace() {
    let tools = Session::new(&ALL).tools;
    let messages = [Message::user("long")];
    let request = ChatRequest {
        system: "",
        tools: &tools,
        messages: &messages,
        cache_key: None,
        input_tokens: None,
    };
    let model = demo();
    let began = tokio::time::Instant::now();
    let parts: Vec<_> = model.stream(request).await.expect("a stream").collect().await;
    assert!(parts.len() > 200, "{} pieces", parts.len());
    let took = began.elapsed();
    assert!(took > Duration::from_secs(1) && took < Duration::from_secs(10), "{took:?}");
}

#[tokio::test]
async fn a_compaction_gets_a_summary_in_the_asked_form() {
    let mut session = Session::new(&[]);
    let part = |role: &str, number: usize| {
        ContentPart::text(format!("## Message {number}\nRole: {role}\nContent:\n"))
    };
    session.messages.push(Message::new(
        Role::User,
        vec![
            part("user", 1),
            ContentPart::text("list files"),
            part("assistant", 2),
            ContentPart::text("I will list them."),
            part("tool", 3),
            ContentPart::text("<system>ERROR: no such folder</system>"),
            part("user", 4),
            ContentPart::text("<system>CHECKPOINT 3</system>"),
            part("user", 5),
            ContentPart::text("read README.md"),
            ContentPart::text("\nThe messages above are about to be removed."),
        ],
    ));
    let answer = session.step_without_note().await;
    let said = text_of(answer.content(), "");
    let focus = said.split("</current_focus>").next().expect("a block");
    assert!(focus.contains("read README.md"), "{said}");
    for part in ["<environment>", "- The user asked: list files", "- no such folder", "5 messages"]
    {
        assert!(said.contains(part), "no {part} in {said}");
    }
    assert!(!said.contains("about to be removed") && !said.contains("CHECKPOINT"), "{said}");
}

impl Session {
    async fn step_without_note(&mut self) -> Answer {
        let request = ChatRequest {
            system: "You condense conversations.",
            tools: &[],
            messages: &self.messages,
            cache_key: None,
            input_tokens: None,
        };
        let parts: Vec<_> = self.model.stream(request).await.expect("a stream").collect().await;
        let mut answer = Answer::new();
        parts.into_iter().for_each(|part| answer.push(part.expect("no faults")));
        answer
    }
}

proptest::proptest! {
    #[test]
    fn pieces_are_the_text(text in "[a-z 终端\n😀]{0,80}") {
        let pieces = pieces(&text);
        proptest::prop_assert_eq!(pieces.concat(), text);
        proptest::prop_assert!(pieces.iter().all(|piece| (1..=24).contains(&piece.chars().count())));
    }
}
