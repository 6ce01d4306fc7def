//! Conformance: the program over stdio against wire 1.10, every method, event, request and error.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use serde_json::{Value, json};
use support::wire::{Client, call, kinds, listed, payloads, scripted, scripted_with};
use support::world::{World, records};

fn error(answer: &Value) -> (i64, &str) {
    assert_eq!(answer["jsonrpc"], "2.0");
    assert!(answer["error"]["data"].is_null(), "{answer}");
    (
        answer["error"]["code"].as_i64().expect("a code"),
        answer["error"]["message"].as_str().expect("a message"),
    )
}

fn prompt(text: &str) -> Value {
    json!({ "user_input": text })
}

#[test]
fn initialize_tells_what_both_can_do() {
    let world = scripted_with(
        &["text: x"],
        "[[hooks]]\nevent = \"Stop\"\ncommand = \"true\"\n[[hooks]]\nevent = \"Stop\"\ncommand = \"false\"\n",
    );
    let mut client = Client::start(&world);
    let answer = client.initialize();
    let result = &answer["result"];
    assert_eq!(result["protocol_version"], "1.10");
    assert!(result["server"]["name"].is_string() && result["server"]["version"].is_string());
    let commands = result["slash_commands"].as_array().expect("commands");
    let compact = commands.iter().find(|one| one["name"] == "compact").expect("compact");
    assert!(compact["description"].is_string() && compact["aliases"].is_array());
    assert!(!commands.iter().any(|one| one["name"] == "help"), "the screen's own are not told");
    assert_eq!(result["hooks"]["supported_events"].as_array().expect("events").len(), 13);
    assert_eq!(result["hooks"]["configured"], json!({"Stop": 2}));
    assert_eq!(result["capabilities"], json!({"supports_question": true}));
    let keys: Vec<&String> = result.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["protocol_version", "server", "slash_commands", "hooks", "capabilities"]);
    // Again, when idle, with tools: good ones, a taken name, broken schemas.
    let tool = |name: &str, parameters: Value| json!({"name": name, "description": "d", "parameters": parameters});
    let offered = json!([
        tool("open_in_ide", json!({"type": "object", "properties": {}})),
        tool("Bash", json!({"type": "object"})),
        tool("Shell", json!({"type": "object"})),
        tool("odd", json!({"type": "string"})),
        tool("odder", json!([])),
    ]);
    let params = json!({"protocol_version": "1.7", "external_tools": offered});
    let tools = client.call("2", "initialize", &params)["result"]["external_tools"].clone();
    assert_eq!(tools["accepted"], json!(["open_in_ide"]));
    let rejected = tools["rejected"].as_array().expect("rejected");
    assert_eq!(rejected.len(), 4);
    assert_eq!(rejected[0], json!({"name": "Bash", "reason": "conflicts with builtin tool"}));
    assert_eq!(rejected[1]["reason"], "conflicts with builtin tool");
    assert!(rejected[2]["reason"].as_str().expect("why").contains("schema"));
    assert!(client.end().0.success());
}

#[test]
fn a_turn_is_told_in_order_and_answered_at_its_end() {
    let script = [
        "think: hm".to_owned(),
        "text: On".to_owned(),
        "text:  it".to_owned(),
        "id: msg-1".to_owned(),
        "usage: {\"input_other\":10,\"output\":2}".to_owned(),
        "tool_call: {\"id\":\"t1\",\"name\":\"Todo\",\"arguments\":null}".to_owned(),
        "tool_call_part: {\"arguments_part\":\"{\\\"todos\\\":\"}".to_owned(),
        "tool_call_part: {\"arguments_part\":\"[]}\"}".to_owned(),
    ]
    .join("\n");
    let world = scripted(&[&script, "text: done"]);
    let mut client = Client::with(&world, &["--agent", "okabe", "--session", "s1"]);
    // Without an initialize, as old clients do it.
    client.request("p", "prompt", &prompt("go"));
    let told = client.until_answer("p");
    let expected = [
        "TurnBegin",
        "StepBegin",
        "ContentPart",
        "ContentPart",
        "ContentPart",
        "ToolCall",
        "ToolCallPart",
        "ToolCallPart",
        "StatusUpdate",
        "ToolResult",
        "StepBegin",
        "ContentPart",
        "StatusUpdate",
        "TurnEnd",
        "= p",
    ];
    let told_kinds = kinds(&told);
    assert_eq!(told_kinds, expected, "{}", listed(&told));
    for message in &told[..told.len() - 1] {
        assert_eq!((&message["jsonrpc"], &message["method"]), (&json!("2.0"), &json!("event")));
        assert!(message.get("id").is_none());
    }
    assert_eq!(payloads(&told, "TurnBegin"), [json!({"user_input": "go"})]);
    assert_eq!(payloads(&told, "StepBegin"), [json!({"n": 1}), json!({"n": 2})]);
    assert_eq!(payloads(&told, "TurnEnd"), [json!({})]);
    assert_eq!(
        payloads(&told, "ContentPart")[0],
        json!({"type": "think", "think": "hm", "encrypted": null})
    );
    assert_eq!(payloads(&told, "ContentPart")[1], json!({"type": "text", "text": "On"}));
    let call = &payloads(&told, "ToolCall")[0];
    assert_eq!(
        (&call["type"], &call["id"], &call["function"]["name"]),
        (&json!("function"), &json!("t1"), &json!("Todo"))
    );
    let status = &payloads(&told, "StatusUpdate")[0];
    let usage =
        json!({"input_other": 10, "output": 2, "input_cache_read": 0, "input_cache_creation": 0});
    assert_eq!((&status["token_usage"], &status["message_id"]), (&usage, &json!("msg-1")));
    assert!(status["context_usage"].is_f64() && status["max_context_tokens"] == 100_000);
    let result = &payloads(&told, "ToolResult")[0];
    assert_eq!(result["tool_call_id"], "t1");
    for key in ["is_error", "output", "message", "display"] {
        assert!(!result["return_value"][key].is_null(), "{key}: {result}");
    }
    assert_eq!(told.last().expect("the answer")["result"], json!({"status": "finished"}));
    // What was is told again: merged, the same in kind, nothing of ours.
    client.request("r", "replay", &Value::Null);
    let again = client.until_answer("r");
    let merged = [
        "TurnBegin",
        "StepBegin",
        "ContentPart",
        "ContentPart",
        "ToolCall",
        "StatusUpdate",
        "ToolResult",
        "StepBegin",
        "ContentPart",
        "StatusUpdate",
        "TurnEnd",
        "= r",
    ];
    assert_eq!(kinds(&again), merged);
    assert_eq!(again[11]["result"], json!({"status": "finished", "events": 11, "requests": 0}));
    assert!(client.end().0.success());
    let session = world.sessions().pop().expect("the session");
    assert!(session.ends_with("s1"));
    assert!(records(&session.join("wire.jsonl")).len() == 12);
}

#[test]
fn prompts_may_have_parts_and_models_limits() {
    let world = scripted(&["text: seen"]);
    let mut client = Client::start(&world);
    client.initialize();
    let text = json!({"type": "text", "text": "look"});
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    let answer = client.call("1", "prompt", &json!({"user_input": [text, image]}));
    assert_eq!(
        error(&answer),
        (-32002, "LLM model 'scripted_echo' does not support required capability: image_in.")
    );
    let answer = client.call("2", "prompt", &json!({"user_input": [text]}));
    assert_eq!(answer["result"], json!({"status": "finished"}));
    // The script is used up: the provider fails.
    client.request("3", "prompt", &prompt("more"));
    let told = client.until_answer("3");
    assert!(kinds(&told).contains(&"StepInterrupted".to_owned()), "{}", listed(&told));
    assert_eq!(kinds(&told)[told.len() - 2], "TurnEnd");
    assert_eq!(error(told.last().expect("the answer")).0, -32003);
    assert!(client.end().0.success());
}

#[test]
fn approvals_go_out_and_come_back_in_three_ways() {
    let bash =
        |id: &str, file: &str| call(id, "Bash", &json!({"command": format!("echo x > {file}")}));
    let world =
        scripted(&[&bash("t1", "one"), &bash("t2", "two"), &bash("t3", "three"), "text: ok"]);
    let mut client = Client::start(&world);
    client.initialize();
    client.request("1", "prompt", &prompt("go"));
    let request = client.asked("ApprovalRequest");
    let ask = &request["params"]["payload"];
    assert_eq!(request["id"], ask["id"]);
    for (key, value) in [
        ("tool_call_id", "t1"),
        ("sender", "Bash"),
        ("action", "run command"),
        ("source_kind", "foreground_turn"),
    ] {
        assert_eq!(ask[key], value, "{ask}");
    }
    for key in
        ["source_id", "agent_id", "subagent_type", "source_description", "display", "description"]
    {
        assert!(ask.get(key).is_some(), "{key}: {ask}");
    }
    assert_eq!(
        ask["display"][0],
        json!({"type": "shell", "language": "bash", "command": "echo x > one"})
    );
    client.respond(&request, &json!({"request_id": ask["id"], "response": "approve"}));
    let broadcast = client
        .until(|message| message["params"]["type"] == "ApprovalResponse")
        .pop()
        .expect("told");
    assert_eq!(
        broadcast["params"]["payload"],
        json!({"request_id": ask["id"], "response": "approve", "feedback": ""})
    );
    let request = client.asked("ApprovalRequest");
    let no = json!({"request_id": request["id"], "response": "reject", "feedback": "use three"});
    client.respond(&request, &no);
    let request = client.asked("ApprovalRequest");
    // An answer that is none says no, and a plain no ends the turn.
    client.respond(&request, &json!({"respond": "approve"}));
    let told = client.until_answer("1");
    assert_eq!(told.last().expect("the answer")["result"], json!({"status": "finished"}));
    let files = |name: &str| world.work().join(name).exists();
    assert_eq!((files("one"), files("two"), files("three")), (true, false, false));
    assert!(client.end().0.success());
}

#[test]
fn tools_of_the_client_are_called_there() {
    let use_it = |id: &str| call(id, "open_in_ide", &json!({"path": "a"}));
    let world = scripted(&[
        &use_it("c1"),
        &use_it("c2"),
        &use_it("c3"),
        "text: ok",
        &use_it("c4"),
        "text: late",
    ]);
    let mut client = Client::start(&world);
    let tool = json!({"name": "open_in_ide", "description": "Open a file", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}});
    client.call("i", "initialize", &json!({"protocol_version": "1.10", "external_tools": [tool]}));
    client.request("1", "prompt", &prompt("go"));
    let request = client.asked("ToolCallRequest");
    assert_eq!(request["id"], "c1");
    assert_eq!(
        request["params"]["payload"],
        json!({"id": "c1", "name": "open_in_ide", "arguments": "{\"path\":\"a\"}"})
    );
    let value = json!({"is_error": false, "output": "ok", "message": "opened", "display": []});
    client.respond(&request, &json!({"tool_call_id": "c1", "return_value": value}));
    let told = client.until(|message| message["params"]["type"] == "ToolResult");
    assert_eq!(payloads(&told, "ToolResult")[0]["return_value"]["output"], "ok");
    let request = client.asked("ToolCallRequest");
    client.send(
        &json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -1, "message": "no IDE"}}),
    );
    let told = client.until(|message| message["params"]["type"] == "ToolResult");
    let failed = &payloads(&told, "ToolResult")[0]["return_value"];
    assert_eq!((&failed["is_error"], &failed["message"]), (&json!(true), &json!("no IDE")));
    let request = client.asked("ToolCallRequest");
    client.respond(&request, &json!(7));
    assert_eq!(client.answer("1")["result"], json!({"status": "finished"}));
    // Cancelled while the client works: the turn ends, a late result hurts nobody.
    client.request("2", "prompt", &prompt("again"));
    let request = client.asked("ToolCallRequest");
    assert_eq!(client.call("c", "cancel", &Value::Null)["result"], json!({}));
    assert_eq!(client.answer("2")["result"], json!({"status": "cancelled"}));
    client.respond(&request, &json!({"tool_call_id": "c4", "return_value": value}));
    assert_eq!(client.call("3", "prompt", &prompt("x"))["result"], json!({"status": "finished"}));
    assert!(client.end().0.success());
}

#[test]
fn questions_are_asked_of_clients_that_can_show_them() {
    let ask = json!({"questions": [{"question": "Which?", "header": "Pick", "options": [{"label": "A", "description": "first"}, {"label": "B", "description": "second"}]}]});
    let world = scripted(&[
        &call("d1", "AskUserQuestion", &ask),
        "text: ok",
        &call("d2", "AskUserQuestion", &ask),
        "text: ok",
    ]);
    let mut client = Client::start(&world);
    client.initialize();
    client.request("1", "prompt", &prompt("go"));
    let request = client.asked("QuestionRequest");
    let payload = &request["params"]["payload"];
    assert_eq!((&payload["id"], &payload["tool_call_id"]), (&request["id"], &json!("d1")));
    let question = &payload["questions"][0];
    for key in [
        "question",
        "header",
        "options",
        "multi_select",
        "body",
        "other_label",
        "other_description",
    ] {
        assert!(!question[key].is_null(), "{key}: {question}");
    }
    client.respond(&request, &json!({"request_id": request["id"], "answers": {"Which?": "B"}}));
    let told = client.until_answer("1");
    assert!(payloads(&told, "ToolResult")[0].to_string().contains('B'));
    // A client that cannot: the tool is not there.
    client.call("i", "initialize", &json!({"protocol_version": "1.10"}));
    client.request("2", "prompt", &prompt("go"));
    let told = client.until_answer("2");
    assert!(!kinds(&told).contains(&"? QuestionRequest".to_owned()), "{}", listed(&told));
    assert_eq!(payloads(&told, "ToolResult")[0]["return_value"]["is_error"], true);
}

#[test]
fn hooks_a_client_subscribed_to_are_asked_of_it() {
    let think = |id: &str| call(id, "Todo", &json!({"todos": []}));
    let world = scripted(&[&think("t1"), &think("t2"), &think("t3"), "text: ok"]);
    let mut client = Client::with(&world, &["--agent", "okabe"]);
    let hooks = json!([{"id": "h1", "event": "PreToolUse", "matcher": "Todo", "timeout": 30}, {"id": "h2", "event": "PreToolUse", "matcher": "Bash"}, {"id": "h3", "event": "NewerThanUs"}]);
    client.call("i", "initialize", &json!({"protocol_version": "1.10", "hooks": hooks}));
    client.request("1", "prompt", &prompt("go"));
    let told = client.until(|message| message["method"] == "request");
    assert_eq!(
        payloads(&told, "HookTriggered"),
        [json!({"event": "PreToolUse", "target": "Todo", "hook_count": 1})]
    );
    let request = told.last().expect("a request");
    let payload = &request["params"]["payload"];
    assert_eq!(payload["id"], request["id"]);
    assert_eq!(
        (&payload["subscription_id"], &payload["event"], &payload["target"]),
        (&json!("h1"), &json!("PreToolUse"), &json!("Todo"))
    );
    assert_eq!(payload["input_data"]["tool_name"], "Todo");
    client
        .respond(request, &json!({"request_id": request["id"], "action": "block", "reason": "no"}));
    let told = client.until(|message| message["params"]["type"] == "ToolResult");
    let resolved = &payloads(&told, "HookResolved")[0];
    assert_eq!((&resolved["action"], &resolved["reason"]), (&json!("block"), &json!("no")));
    assert!(resolved["duration_ms"].is_u64());
    assert_eq!(payloads(&told, "ToolResult")[0]["return_value"]["is_error"], true);
    // An error answer and an answer that is none allow.
    let request = client.asked("HookRequest");
    client.send(
        &json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": 1, "message": "broken"}}),
    );
    let told = client.until(|message| message["params"]["type"] == "ToolResult");
    assert_eq!(payloads(&told, "ToolResult")[0]["return_value"]["is_error"], false);
    let request = client.asked("HookRequest");
    client.respond(&request, &json!("yes"));
    assert_eq!(client.answer("1")["result"], json!({"status": "finished"}));
}

#[test]
fn a_turn_is_steered_and_cancelled() {
    let wait = "while [ ! -e go-on ]; do sleep 0.02; done";
    let bash = |id: &str| call(id, "Bash", &json!({"command": wait}));
    let world = scripted(&[&bash("t1"), "text: steered", &bash("t2")]);
    let mut client = Client::with(&world, &["--yolo"]);
    client.initialize();
    client.request("1", "prompt", &prompt("go"));
    client.until(|message| message["params"]["type"] == "ToolCall");
    assert_eq!(
        client.call("s", "steer", &prompt("also b.txt"))["result"],
        json!({"status": "steered"})
    );
    std::fs::write(world.work().join("go-on"), "").expect("the signal");
    let told = client.until_answer("1");
    assert_eq!(payloads(&told, "SteerInput"), [json!({"user_input": "also b.txt"})]);
    std::fs::remove_file(world.work().join("go-on")).expect("removed");
    client.request("2", "prompt", &prompt("again"));
    client.until(|message| message["params"]["type"] == "ToolCall");
    for (id, method, params) in [
        ("3", "prompt", prompt("x")),
        ("4", "replay", Value::Null),
        ("5", "initialize", json!({"protocol_version": "1.10"})),
    ] {
        assert_eq!(
            error(&client.call(id, method, &params)),
            (-32000, "An agent turn is already in progress"),
            "{method}"
        );
    }
    assert_eq!(client.call("c", "cancel", &Value::Null)["result"], json!({}));
    let told = client.until_answer("2");
    assert!(!kinds(&told).contains(&"StepInterrupted".to_owned()), "a cancel is no failure");
    assert_eq!(kinds(&told)[told.len() - 2], "TurnEnd");
    assert_eq!(told.last().expect("the answer")["result"], json!({"status": "cancelled"}));
    for method in ["steer", "cancel"] {
        assert_eq!(
            error(&client.call("6", method, &prompt("x"))),
            (-32000, "No agent turn is in progress")
        );
    }
}

#[test]
fn plan_mode_is_told_before_it_is_answered() {
    let world = scripted(&["text: x"]);
    let mut client = Client::start(&world);
    client.initialize();
    for enabled in [true, false] {
        client.request("m", "set_plan_mode", &json!({ "enabled": enabled }));
        let told = client.until_answer("m");
        assert_eq!(kinds(&told), ["StatusUpdate", "= m"]);
        assert_eq!(told[0]["params"]["payload"]["plan_mode"], enabled);
        assert!(told[0]["params"]["payload"]["context_usage"].is_null());
        assert_eq!(told[1]["result"], json!({"status": "ok", "plan_mode": enabled}));
    }
}

#[test]
fn slash_commands_are_prompts() {
    let world = scripted(&["text: one", "text: two", "text: three", "text: summary"]);
    let mut client = Client::start(&world);
    client.initialize();
    client.request("0", "prompt", &prompt("/x"));
    let told = client.until_answer("0");
    assert_eq!(
        payloads(&told, "ContentPart"),
        [json!({"type": "text", "text": "Unknown slash command \"/x\"."})]
    );
    for id in ["1", "2", "3"] {
        client.call(id, "prompt", &prompt("q"));
    }
    client.request("4", "prompt", &prompt("/compact"));
    let told = client.until_answer("4");
    let kinds = kinds(&told);
    let at = |kind: &str| {
        kinds.iter().position(|one| one == kind).unwrap_or_else(|| panic!("{kind}: {kinds:?}"))
    };
    assert!(
        at("CompactionBegin") < at("CompactionEnd") && at("CompactionEnd") < at("StatusUpdate")
    );
    client.request("5", "prompt", &prompt("/clear"));
    let told = client.until_answer("5");
    assert!(!payloads(&told, "StatusUpdate").is_empty());
    assert!(!listed(&told).contains("Context"), "nothing of ours: {}", listed(&told));
}

#[test]
fn without_a_model_nothing_answers() {
    let world = World::new();
    let mut client = Client::start(&world);
    client.initialize();
    assert_eq!(error(&client.call("1", "prompt", &prompt("hi"))), (-32001, "LLM is not set"));
    assert!(client.end().0.success());
}

#[test]
fn what_is_ours_comes_to_those_who_ask_for_it() {
    let write = call("t1", "Bash", &json!({"command": "echo one"}));
    let world = scripted(&[&write, "text: ok", "text: later"]);
    let mut client = Client::start(&world);
    let can = json!({"supports_question": true, "kimi_tui": true});
    let answer =
        client.call("i", "initialize", &json!({"protocol_version": "1.10", "capabilities": can}));
    let ours = &answer["result"]["kimi_tui"];
    assert_eq!(ours["version"], 1);
    assert!(ours["session"]["id"].is_string() && ours["session"]["can_revert"] == true);
    assert!(ours["methods"].as_array().expect("methods").contains(&json!("kimi_tui/revert")));
    client.request("1", "prompt", &prompt("go"));
    let request = client.asked("ApprovalRequest");
    let edited = json!({"request_id": request["id"], "arguments": {"command": "echo two"}});
    client.request("e", "kimi_tui/approve_edited", &edited);
    let told = client.until_answer("1");
    let kinds = kinds(&told);
    for kind in ["CallEdited", "CheckpointCreated", "ToolOutput"] {
        assert!(kinds.iter().any(|one| one == kind), "{kind}: {kinds:?}");
    }
    assert!(payloads(&told, "ToolResult")[0].to_string().contains("two"));
    let rule =
        json!({"scope": "session", "rule": {"tool": "Bash", "command": "ls", "decision": "allow"}});
    assert_eq!(client.call("a", "kimi_tui/add_rule", &rule)["result"], json!({}));
    let to = json!({"to": {"generation": 0, "id": 1}});
    client.request("r", "kimi_tui/revert", &to);
    client.until(|message| message["params"]["type"] == "ContextReverted");
    client.request("b", "kimi_tui/restore", &json!({}));
    client.until(|message| message["params"]["type"] == "ContextRestored");
    assert_eq!(error(&client.call("x", "kimi_tui/fly", &Value::Null)).0, -32601);
    assert_eq!(error(&client.call("y", "kimi_tui/revert", &json!({}))).0, -32602);
    client.request("z", "kimi_tui/revert", &json!({"to": {"generation": 9, "id": 1}}));
    client.until(|message| message["method"] == "kimi_tui/refused");
    // The past comes with its times.
    client.request("p", "replay", &Value::Null);
    let told = client.until_answer("p");
    assert!(told[0]["params"]["timestamp"].is_f64(), "{}", told[0]);
    assert!(listed(&told).contains("CheckpointCreated"));
}
