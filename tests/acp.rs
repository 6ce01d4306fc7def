//! The Agent Client Protocol, with the official client library over the program's streams.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::time::{Duration, Instant};

use agent_client_protocol::v1::schema as acp;
use serde_json::{Value, json};
use support::LIMIT;
use support::editor::edit;
use support::server::{Piece, Scenario, Server, text_of};
use support::wire::{call, scripted};
use support::world::World;

/// A model that writes files: `WriteFile` with this content, then a word.
fn writing(names: &[&str]) -> World {
    let mut scripts = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let arguments = json!({"path": name, "content": "new\n"});
        scripts.push(call(&format!("c{index}"), "WriteFile", &arguments));
        scripts.push("text: done".to_owned());
    }
    scripted(&scripts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The updates of one kind.
fn of<'a>(told: &'a [Value], kind: &str) -> Vec<&'a Value> {
    told.iter().filter(|update| update["sessionUpdate"] == kind).collect()
}

#[tokio::test]
async fn what_the_agent_can_do_is_told() {
    let world = scripted(&["text: x"]);
    edit(&world, &["acp"], async |_, hello| {
        let hello = serde_json::to_value(hello).expect("JSON");
        assert_eq!(hello["protocolVersion"], 1);
        let can = &hello["agentCapabilities"];
        assert_eq!(can["loadSession"], true);
        let prompt = json!({"image": true, "audio": false, "embeddedContext": true});
        assert_eq!(can["promptCapabilities"], prompt);
        assert_eq!(can["mcpCapabilities"], json!({"http": true, "sse": false}));
        for method in ["list", "resume", "close", "delete", "additionalDirectories"] {
            assert!(can["sessionCapabilities"][method].is_object(), "{method}: {can}");
        }
        let login = &hello["authMethods"][0];
        assert_eq!(login["id"], "login");
        assert_eq!(login["_meta"]["terminal-auth"]["args"], json!(["login"]));
        assert_eq!(hello["agentInfo"]["name"], "kimi-tui");
    })
    .await;
}

#[tokio::test]
async fn thoughts_text_calls_and_plans_stream_with_titles_from_partial_arguments() {
    let script = [
        "think: hm".to_owned(),
        "text: On".to_owned(),
        "text:  it".to_owned(),
        "tool_call: {\"id\":\"t1\",\"name\":\"Bash\",\"arguments\":null}".to_owned(),
        "tool_call_part: {\"arguments_part\":\"{\\\"command\\\": \\\"echo \"}".to_owned(),
        "tool_call_part: {\"arguments_part\":\"hi\\\"}\"}".to_owned(),
    ]
    .join("\n");
    let todos = json!({"todos": [
        {"title": "a", "status": "done"}, {"title": "b", "status": "in_progress"},
        {"title": "c", "status": "pending"},
    ]});
    // The same id again in the next step, as providers do.
    let second = call("t1", "Todo", &todos);
    let world = scripted(&[&script, &second, "text: done"]);
    edit(&world, &["acp"], async |editor, _| {
        let session = editor.new_session(&world).await;
        let commands = editor
            .until(|update| matches!(update, acp::SessionUpdate::AvailableCommandsUpdate(_)))
            .await;
        let commands = serde_json::to_value(&commands[0]).expect("JSON");
        let names: Vec<&str> = commands["availableCommands"]
            .as_array()
            .expect("commands")
            .iter()
            .filter_map(|command| command["name"].as_str())
            .collect();
        assert!(names.contains(&"compact") && names.contains(&"plan"), "{names:?}");

        let stop = editor.prompt(&session, "go").await.expect("the end");
        assert_eq!(stop, acp::StopReason::EndTurn);
        let told = editor.told();
        assert_eq!(of(&told, "agent_thought_chunk")[0]["content"]["text"], "hm");
        let text: String = of(&told, "agent_message_chunk")
            .iter()
            .filter_map(|chunk| chunk["content"]["text"].as_str())
            .collect();
        assert_eq!(text, "On itdone");
        let calls = of(&told, "tool_call");
        assert_eq!(calls.len(), 2);
        let ids: Vec<&str> =
            calls.iter().map(|call| call["toolCallId"].as_str().expect("an id")).collect();
        assert!(ids[0].ends_with("/t1") && ids[0] != ids[1], "{ids:?}");
        assert_eq!(calls[0]["title"], "Bash");
        assert_eq!((&calls[0]["kind"], &calls[0]["status"]), (&json!("execute"), &json!("in_progress")));
        let updates = of(&told, "tool_call_update");
        let titles: Vec<&str> =
            updates.iter().filter_map(|update| update["title"].as_str()).collect();
        assert_eq!(titles, ["Bash: echo", "Bash: echo hi"]);
        let end = updates.iter().find(|update| update["status"] == "completed").expect("an end");
        assert_eq!(end["toolCallId"], ids[0]);
        assert_eq!(end["content"][0]["content"]["text"], "hi\n");
        let plan = of(&told, "plan")[0]["entries"].clone();
        let entry = |content: &str, status: &str| {
            json!({"content": content, "priority": "medium", "status": status})
        };
        let wanted = [entry("a", "completed"), entry("b", "in_progress"), entry("c", "pending")];
        assert_eq!(plan, json!(wanted));
        assert!(!of(&told, "usage_update").is_empty(), "a client of today hears of its tokens");
        // What was asked named the call and showed the command.
        let asked = serde_json::to_value(&editor.person.asked()[0]).expect("JSON");
        assert_eq!(asked["toolCall"]["toolCallId"], ids[0]);
        assert!(asked["toolCall"]["content"][0]["content"]["text"].as_str().expect("text").contains("echo hi"));
    })
    .await;
}

#[tokio::test]
async fn the_three_answers_and_none() {
    // A no ends the turn: the model is not asked again in it.
    let file = |id: &str| call(id, "WriteFile", &json!({"path": id, "content": "new\n"}));
    let world = scripted(&[&file("a"), &file("b"), &file("c"), &file("d"), "text: done"]);
    edit(&world, &["acp"], async |editor, _| {
        let session = editor.new_session(&world).await;
        // No answer and a no are the same: nothing is done.
        for (answer, name, is_written) in [
            (None, "a", false),
            (Some("reject"), "b", false),
            (Some("no such option"), "c", false),
            (Some("approve"), "d", true),
        ] {
            editor.person.answers(answer);
            let before = editor.person.asked().len();
            let stop = editor.prompt(&session, "write").await.expect("the end");
            assert_eq!(stop, acp::StopReason::EndTurn, "{answer:?}");
            assert_eq!(editor.person.asked().len(), before + 1, "{answer:?}");
            assert_eq!(world.work().join(name).exists(), is_written, "{answer:?}");
            let told = editor.told();
            let status = if is_written { "completed" } else { "failed" };
            let updates = of(&told, "tool_call_update");
            assert!(
                updates.iter().any(|update| update["status"] == status),
                "{answer:?}: {told:#?}"
            );
        }
        let options: Vec<(String, String)> = editor.person.asked()[0]
            .options
            .iter()
            .map(|option| (option.option_id.to_string(), option.name.clone()))
            .collect();
        let wanted = [
            ("approve", "Approve once"),
            ("approve_for_session", "Approve for this session"),
            ("reject", "Reject"),
        ];
        assert_eq!(options, wanted.map(|(id, name)| (id.to_owned(), name.to_owned())));
        let shown = serde_json::to_value(&editor.person.asked()[0].tool_call).expect("JSON");
        assert_eq!(shown["content"][0]["type"], "diff");
        assert_eq!(shown["content"][0]["newText"], "new");
    })
    .await;
}

#[tokio::test]
async fn an_approval_for_the_session_asks_once() {
    let world = writing(&["a", "b"]);
    edit(&world, &["acp"], async |editor, _| {
        let session = editor.new_session(&world).await;
        editor.person.answers(Some("approve_for_session"));
        for name in ["a", "b"] {
            editor.prompt(&session, "write").await.expect("the end");
            assert_eq!(fs::read_to_string(world.work().join(name)).expect("written"), "new\n");
        }
        assert_eq!(editor.person.asked().len(), 1);
        let told = editor.told();
        let end = of(&told, "tool_call_update")
            .into_iter()
            .find(|update| update["status"] == "completed")
            .expect("an end");
        assert_eq!(end["content"][0]["type"], "diff");
        let path = end["content"][0]["path"].as_str().expect("a path");
        assert!(path.starts_with('/') && path.ends_with("/a"), "{path}");
    })
    .await;
}

#[tokio::test]
async fn a_cancel_ends_the_turn_and_what_it_runs() {
    let sleep = json!({"command": "echo $$ > pid; sleep 1000", "timeout": 300});
    let world = scripted(&[&call("c", "Bash", &sleep), "text: again"]);
    let pid = edit(&world, &["acp"], async |editor, _| {
        let session = editor.new_session(&world).await;
        let blocks = vec!["go".to_owned().into()];
        let request = acp::PromptRequest::new(session.clone(), blocks);
        let running = editor.connection.send_request(request);
        let pid = written_pid(&world).await;
        let cancel = acp::CancelNotification::new(session.clone());
        editor.connection.send_notification(cancel).expect("sent");
        let stop = tokio::time::timeout(LIMIT, running.block_task()).await.expect("in time");
        assert_eq!(stop.expect("an answer").stop_reason, acp::StopReason::Cancelled);
        let told = editor.told();
        let updates = of(&told, "tool_call_update");
        assert!(updates.iter().any(|update| update["status"] == "failed"), "{told:#?}");
        gone(pid).await;
        // The session goes on.
        let stop = editor.prompt(&session, "go on").await.expect("the end");
        assert_eq!(stop, acp::StopReason::EndTurn);
        pid
    })
    .await;
    gone(pid).await;
}

/// The process a command of the agent's told of.
async fn written_pid(world: &World) -> i32 {
    let deadline = Instant::now() + LIMIT;
    loop {
        let text = fs::read_to_string(world.work().join("pid")).unwrap_or_default();
        if let Some(Ok(pid)) = text.strip_suffix('\n').map(str::parse) {
            return pid;
        }
        assert!(Instant::now() < deadline, "the command does not run");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn gone(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).expect("a process id");
    let deadline = Instant::now() + LIMIT;
    while rustix::process::test_kill_process(pid).is_ok() {
        assert!(Instant::now() < deadline, "{pid:?} still runs");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn sessions_are_listed_loaded_with_their_past_resumed_and_deleted() {
    let world = scripted(&["think: hm\ntext: The answer.", "text: more"]);
    let session = edit(&world, &["acp"], async |editor, _| {
        let session = editor.new_session(&world).await;
        editor.prompt(&session, "The question.").await.expect("the end");
        session
    })
    .await;
    edit(&world, &["acp"], async |editor, _| {
        let send = &editor.connection;
        for cwd in [None, Some(world.work())] {
            let list = acp::ListSessionsRequest::new().cwd(cwd);
            let list = send.send_request(list).block_task().await.expect("a list");
            assert_eq!(list.sessions.len(), 1);
            assert_eq!(list.sessions[0].session_id, session);
            assert_eq!(list.sessions[0].title.as_deref(), Some("The question."));
            assert!(list.sessions[0].updated_at.is_some());
        }
        let elsewhere = acp::ListSessionsRequest::new().cwd(world.home());
        let list = send.send_request(elsewhere).block_task().await.expect("a list");
        assert!(list.sessions.is_empty());

        // Resumed, nothing of the past is told.
        let resume = acp::ResumeSessionRequest::new(session.clone(), world.work());
        send.send_request(resume).block_task().await.expect("resumed");
        let close = acp::CloseSessionRequest::new(session.clone());
        send.send_request(close).block_task().await.expect("closed");
        let told = editor.told();
        assert!(of(&told, "user_message_chunk").is_empty(), "{told:#?}");
        let closed = editor.prompt(&session, "x").await.expect_err("it is closed");
        assert!(closed.message.contains("not open"), "{closed:?}");

        // Loaded, all of it is, before the answer.
        let load = acp::LoadSessionRequest::new(session.clone(), world.work());
        editor.connection.send_request(load).block_task().await.expect("loaded");
        let told = editor.told();
        assert_eq!(of(&told, "user_message_chunk")[0]["content"]["text"], "The question.");
        assert_eq!(of(&told, "agent_thought_chunk")[0]["content"]["text"], "hm");
        assert_eq!(of(&told, "agent_message_chunk")[0]["content"]["text"], "The answer.");
        let stop = editor.prompt(&session, "And?").await.expect("the end");
        assert_eq!(stop, acp::StopReason::EndTurn);

        let delete = acp::DeleteSessionRequest::new(session.clone());
        editor.connection.send_request(delete).block_task().await.expect("deleted");
        let list = editor.connection.send_request(acp::ListSessionsRequest::new());
        assert!(list.block_task().await.expect("a list").sessions.is_empty());
        let load = acp::LoadSessionRequest::new(session.clone(), world.work());
        let error = editor.connection.send_request(load).block_task().await.expect_err("gone");
        assert_eq!(i32::from(error.code), -32002);
    })
    .await;
}

#[tokio::test]
async fn pictures_and_files_reach_the_model() {
    let answers = vec![vec![Piece::Text("I see.")]];
    let server = Server::start(vec![Scenario { when: "Look", answers }]);
    let world = World::new();
    world.write_config(&(server.config() + "capabilities = [\"image_in\"]\n"));
    const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    edit(&world, &["acp"], async |editor, _| {
        let session = editor.new_session(&world).await;
        let blocks: Vec<acp::ContentBlock> = serde_json::from_value(json!([
            {"type": "text", "text": "Look"},
            {"type": "image", "data": DOT, "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "file:///a.rs", "text": "fn main() {}"}},
            {"type": "resource_link", "uri": "file:///b.rs", "name": "b.rs"},
        ]))
        .expect("blocks");
        let request = acp::PromptRequest::new(session, blocks);
        let done = editor.connection.send_request(request).block_task().await.expect("the end");
        assert_eq!(done.stop_reason, acp::StopReason::EndTurn);
    })
    .await;
    let requests = server.requests();
    let messages = requests[0]["messages"].as_array().expect("messages");
    let sent = messages.iter().rfind(|message| message.to_string().contains("Look")).expect("it");
    let text = text_of(sent);
    assert!(text.contains("<resource uri='file:///a.rs'>\nfn main() {}\n</resource>"), "{text}");
    assert!(text.contains("<resource_link uri='file:///b.rs' name='b.rs' />"), "{text}");
    assert!(sent.to_string().contains(&format!("data:image/png;base64,{DOT}")), "{sent}");
}

#[tokio::test]
async fn modes_and_options_change_what_is_asked() {
    let world = writing(&["a", "b"]);
    edit(&world, &["acp"], async |editor, _| {
        let session = editor.new_session(&world).await;
        let auto = acp::SetSessionModeRequest::new(session.clone(), "auto");
        editor.connection.send_request(auto).block_task().await.expect("set");
        editor.prompt(&session, "write").await.expect("the end");
        assert!(editor.person.asked().is_empty(), "nothing is asked in this mode");
        assert!(world.work().join("a").exists());

        let plan = acp::SetSessionConfigOptionRequest::new(session.clone(), "mode", "plan");
        let options = editor.connection.send_request(plan).block_task().await.expect("set");
        let options = serde_json::to_value(options.config_options).expect("JSON");
        assert_eq!(
            (&options[0]["id"], &options[0]["currentValue"]),
            (&json!("mode"), &json!("plan"))
        );
        assert_eq!(
            (&options[1]["id"], &options[1]["currentValue"]),
            (&json!("model"), &json!("s"))
        );
        editor.prompt(&session, "write").await.expect("the end");
        assert!(!world.work().join("b").exists(), "a plan changes nothing");

        for (option, value) in [("mode", "none"), ("model", "none"), ("colour", "red")] {
            let request = acp::SetSessionConfigOptionRequest::new(session.clone(), option, value);
            let error = editor.connection.send_request(request).block_task().await;
            assert_eq!(i32::from(error.expect_err("no such thing").code), -32602, "{option}");
        }
        let model = acp::SetSessionConfigOptionRequest::new(session.clone(), "model", "s");
        editor.connection.send_request(model).block_task().await.expect("set");
    })
    .await;
}

#[tokio::test]
async fn without_a_model_one_has_to_log_in_first() {
    let world = World::new();
    edit(&world, &["acp"], async |editor, _| {
        let send = &editor.connection;
        let new = || acp::NewSessionRequest::new(world.work());
        let error = send.send_request(new()).block_task().await.expect_err("no model");
        assert_eq!(i32::from(error.code), -32000);
        let data = error.data.expect("the ways to log in");
        assert_eq!(data["authMethods"][0]["id"], "login");
        let login = || acp::AuthenticateRequest::new("login");
        let error = send.send_request(login()).block_task().await.expect_err("still none");
        assert_eq!(i32::from(error.code), -32000);
        assert!(world.sessions().is_empty(), "it left a session behind");

        // The person logs in, in a terminal.
        let other = scripted(&["text: x"]);
        let config = fs::read_to_string(other.share().join("config.toml")).expect("config");
        world.write_config(&config);
        send.send_request(login()).block_task().await.expect("logged in");
        send.send_request(new()).block_task().await.expect("a session");
        let unknown = send.send_request(acp::AuthenticateRequest::new("x")).block_task().await;
        assert_eq!(i32::from(unknown.expect_err("no such way").code), -32602);
    })
    .await;
}
