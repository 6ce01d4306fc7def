//! What a session tells over the Agent Client Protocol, and what can be asked of it: questions,
//! plans, subagents, output as it comes, compactions, hooks, slash commands, models.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;

use serde_json::{Value, json};
use support::acp::{approving, chosen, editor, new_session, of, prompt, said, stop, turn};
use support::server::{Piece, Scenario, Server};
use support::wire::{Client, call, listed, scripted, scripted_with};
use support::world::World;

/// Requests of one method among `told`.
fn asked<'a>(told: &'a [Value], method: &str) -> Vec<&'a Value> {
    told.iter()
        .filter(|message| message["method"] == method && message.get("id").is_some())
        .map(|message| &message["params"])
        .collect()
}

/// How a tool call ended, and the text of its content.
fn ended(told: &[Value]) -> (String, String) {
    let updates = of(told, "tool_call_update");
    let end = updates
        .into_iter()
        .rfind(|update| update["status"] == "completed" || update["status"] == "failed")
        .unwrap_or_else(|| panic!("no call ended:\n{}", listed(told)));
    (end["status"].as_str().expect("a status").to_owned(), end["content"].to_string())
}

fn questions() -> String {
    let ask = json!({"questions": [
        {"question": "Which colour?", "header": "Colour", "options": [
            {"label": "Red", "description": "warm"}, {"label": "Blue"},
        ]},
        {"question": "Which sizes?", "multi_select": true, "options": [
            {"label": "Small"}, {"label": "Large"},
        ]},
    ]});
    call("q", "AskUserQuestion", &ask)
}

#[test]
fn questions_are_a_form_where_the_editor_shows_forms() {
    let world = scripted(&[&questions(), "text: done", &questions(), "text: done"]);
    let mut client = editor(&world, &["acp"], &json!({"elicitation": {"form": {}}}));
    let session = new_session(&mut client, &world);
    let told = turn(&mut client, &session, "go", |method, params| {
        assert_eq!(method, "elicitation/create");
        assert_eq!((&params["mode"], &params["sessionId"]), (&json!("form"), &session));
        let fields = &params["requestedSchema"]["properties"];
        assert_eq!(fields["question1"]["title"], "Which colour?");
        assert_eq!(fields["question2"]["type"], "array");
        Ok(json!({"action": "accept", "content": {
            "question1": "Blue", "question2": ["Small", "Large"],
        }}))
    });
    let call = &of(&told, "tool_call")[0]["toolCallId"];
    assert_eq!(&asked(&told, "elicitation/create")[0]["toolCallId"], call);
    let (status, content) = ended(&told);
    assert_eq!(status, "completed");
    assert!(content.contains("Small, Large") && content.contains("Blue"), "{content}");

    let told = turn(&mut client, &session, "go", |_, _| Ok(json!({"action": "decline"})));
    assert_eq!(asked(&told, "elicitation/create").len(), 1);
    assert_eq!(stop(&told), "end_turn");
    let context = fs::read_to_string(world.sessions()[0].join("context.jsonl")).expect("it");
    assert!(context.contains("dismissed the questions"), "{context}");
}

#[test]
fn questions_are_permission_requests_for_other_editors() {
    let world = scripted(&[&questions(), "text: done", &questions(), "text: done"]);
    // One that says it has forms, and has none after all, is asked in the other way too.
    let forms = json!({"elicitation": {"form": {}}});
    let unknown = Err(json!({"code": -32601, "message": "Method not found"}));
    for (can, form) in
        [(json!({}), unknown.clone()), (forms.clone(), unknown), (forms, Ok(Value::Null))]
    {
        let mut client = editor(&world, &["acp"], &can);
        let session = new_session(&mut client, &world);
        let told = turn(&mut client, &session, "go", |method, params| match method {
            "elicitation/create" => form.clone(),
            _ => {
                let options = params["options"].as_array().expect("options");
                assert_eq!(options.last().expect("a way out")["optionId"], "skip");
                Ok(chosen("1"))
            }
        });
        let requests = asked(&told, "session/request_permission");
        let call = &of(&told, "tool_call")[0]["toolCallId"];
        assert_eq!(requests.len(), 2, "{}", listed(&told));
        for (request, title) in requests.iter().zip(["Which colour?", "Which sizes?"]) {
            assert_eq!(&request["toolCall"]["toolCallId"], call);
            assert_eq!(request["toolCall"]["title"], title);
        }
        let (status, content) = ended(&told);
        assert_eq!(status, "completed");
        assert!(content.contains("Blue") && content.contains("Large"), "{content}");
    }
}

/// A session in plan mode whose plan is written, and the plan's file.
fn planning(world: &World) -> (Client, Value) {
    let mut client = editor(world, &["acp"], &json!({"session": {}}));
    let session = new_session(&mut client, world);
    let told = turn(&mut client, &session, "/plan on", approving);
    let mode = of(&told, "current_mode_update");
    assert_eq!(mode[0]["currentModeId"], "plan", "{}", listed(&told));
    let text = said(&told);
    let path = text.split(['`', '\'', '"', ' ']).find(|word| word.contains("/plans/"));
    let path = path.unwrap_or_else(|| panic!("no file in {text}")).trim_end_matches(['.', '\n']);
    fs::write(path, "1. look\n2. leap\n").expect("the plan");
    (client, session)
}

#[test]
fn a_plan_is_shown_and_approved_or_rejected() {
    let leave = call("x", "ExitPlanMode", &json!({}));
    for (answer, mode, status) in
        [(0, Some("default"), "completed"), (1, None, "failed"), (2, Some("default"), "failed")]
    {
        let world = scripted(&[&leave, "text: done"]);
        let (mut client, session) = planning(&world);
        let told = turn(&mut client, &session, "plan it", |method, params| {
            assert_eq!(method, "session/request_permission");
            assert_eq!(params["toolCall"]["title"], "Approve this plan?");
            let options = params["options"].as_array().expect("options");
            let told: Vec<(&str, &str)> = options
                .iter()
                .map(|o| (o["name"].as_str().unwrap(), o["kind"].as_str().unwrap()))
                .collect();
            assert_eq!(
                told[..3],
                [
                    ("Approve", "allow_once"),
                    ("Reject", "reject_once"),
                    ("Reject and Exit", "reject_once"),
                ]
            );
            Ok(chosen(&answer.to_string()))
        });
        assert!(said(&told).contains("1. look\n2. leap"), "the plan is read before it is approved");
        assert_eq!(ended(&told).0, status, "{}", listed(&told));
        let modes = of(&told, "current_mode_update");
        assert_eq!(
            modes.last().map(|update| &update["currentModeId"]),
            mode.map(Value::from).as_ref()
        );
        assert_eq!(stop(&told), "end_turn");
    }
}

#[test]
fn what_a_subagent_does_is_told_with_its_call() {
    let task = json!({"description": "Write it", "prompt": "SUBWORK", "subagent_type": "coder"});
    let write = json!({"path": "a.txt", "content": "new\n"});
    const SUMMARY: &str = "I have written the file a.txt with one line in it, as I was asked to. \
        Nothing else was changed, and there is nothing left to do about it. The file holds the word \
        that was asked for, followed by a newline, and it stands in the folder of the project.";
    let server = Server::start(vec![
        Scenario {
            when: "SUBWORK",
            answers: vec![
                vec![Piece::Call { id: "w", name: "WriteFile", arguments: write }],
                vec![Piece::Text(SUMMARY)],
            ],
        },
        Scenario {
            when: "go",
            answers: vec![
                vec![Piece::Call { id: "t", name: "Task", arguments: task }],
                vec![Piece::Text("done")],
            ],
        },
    ]);
    let world = World::new();
    world.write_config(&server.config());
    let mut client = editor(&world, &["acp"], &json!({}));
    let session = new_session(&mut client, &world);
    let told = turn(&mut client, &session, "go", approving);
    assert_eq!(stop(&told), "end_turn");
    assert!(world.work().join("a.txt").exists(), "{}", listed(&told));
    let begun = of(&told, "tool_call");
    assert_eq!(begun.len(), 2, "{}", listed(&told));
    let (parent, child) = (&begun[0]["toolCallId"], &begun[1]["toolCallId"]);
    let updates = of(&told, "tool_call_update");
    let lists: Vec<&str> = updates
        .iter()
        .filter(|update| update["toolCallId"] == *parent)
        .filter_map(|update| update["content"][0]["content"]["text"].as_str())
        .filter(|text| text.contains("WriteFile: a.txt"))
        .collect();
    assert!(lists.contains(&"- WriteFile: a.txt (running)\n"), "{lists:?}");
    assert!(lists.contains(&"- WriteFile: a.txt\n"), "{lists:?}");
    // The person was asked beside a call the editor knows, and that call ended.
    let request = asked(&told, "session/request_permission")[0];
    assert_eq!(&request["toolCall"]["toolCallId"], child);
    assert_eq!(request["toolCall"]["content"][0]["type"], "diff");
    let end = updates.iter().find(|update| update["toolCallId"] == *child).expect("an end");
    assert_eq!(end["status"], "completed");
    let end = updates.iter().rfind(|update| update["toolCallId"] == *parent).expect("an end");
    assert_eq!(end["status"], "completed");
}

#[test]
fn output_is_told_while_a_command_runs() {
    let command = "echo begun; while [ ! -e go ]; do sleep 0.02; done; echo finished";
    let world = scripted(&[&call("b", "Bash", &json!({ "command": command })), "text: done"]);
    let mut client = editor(&world, &["--yolo", "acp"], &json!({}));
    let session = new_session(&mut client, &world);
    client.request("p", "session/prompt", &prompt(&session, "go"));
    let told = client.until(|message| {
        let update = &message["params"]["update"];
        update["sessionUpdate"] == "tool_call_update"
            && update["content"][0]["content"]["text"] == "begun\n"
    });
    assert!(told.last().expect("it")["params"]["update"].get("status").is_none());
    fs::write(world.work().join("go"), "").expect("a file");
    let told = client.until_answer("p");
    let (status, content) = ended(&told);
    assert_eq!(status, "completed");
    assert!(content.contains("begun\\nfinished\\n"), "{content}");
}

#[test]
fn output_without_end_is_told_by_its_end_and_not_piece_by_piece() {
    let command = "i=0; while [ $i -lt 20000 ]; do echo line-$i; i=$((i+1)); done";
    let world = scripted(&[&call("b", "Bash", &json!({ "command": command })), "text: done"]);
    let mut client = editor(&world, &["--yolo", "acp"], &json!({}));
    let session = new_session(&mut client, &world);
    let told = turn(&mut client, &session, "go", approving);
    let live: Vec<usize> = of(&told, "tool_call_update")
        .iter()
        .filter(|update| update.get("status").is_none())
        .map(|update| update["content"].to_string().len())
        .collect();
    assert!(live.len() < 200, "{} updates", live.len());
    assert!(live.iter().all(|size| *size < 32 << 10), "{live:?}");
    assert_eq!(ended(&told).0, "completed");
}

#[test]
fn compactions_are_told_as_the_editor_can_show_them() {
    let scripts = ["text: one", "text: two", "text: three", "text: summary"];
    let talk = |client: &mut Client, session: &Value| {
        for _ in 0..3 {
            turn(client, session, "q", approving);
        }
        turn(client, session, "/compact", approving)
    };
    let world = scripted(&scripts);
    let mut client = editor(&world, &["acp"], &json!({"session": {"compaction": {}}}));
    let session = new_session(&mut client, &world);
    let told = talk(&mut client, &session);
    let updates = of(&told, "compaction_update");
    assert_eq!(updates.len(), 2, "{}", listed(&told));
    assert_eq!(
        (&updates[0]["status"], &updates[1]["status"]),
        (&json!("in_progress"), &json!("completed"))
    );
    assert_eq!(updates[0]["compactionId"], updates[1]["compactionId"]);
    assert!(of(&told, "tool_call").is_empty());

    let world = scripted(&scripts);
    let mut client = editor(&world, &["acp"], &json!({}));
    let session = new_session(&mut client, &world);
    let told = talk(&mut client, &session);
    assert!(of(&told, "compaction_update").is_empty());
    let begun = of(&told, "tool_call");
    assert_eq!(begun[0]["title"], "Compacting the conversation");
    let (status, content) = ended(&told);
    assert_eq!(status, "completed");
    assert!(content.contains("tokens"), "{content}");

    // One that fails is not left running.
    let world = scripted(&["text: one", "text: two", "text: three", "error: 400 no"]);
    let mut client = editor(&world, &["acp"], &json!({}));
    let session = new_session(&mut client, &world);
    let told = talk(&mut client, &session);
    assert_eq!(ended(&told).0, "failed", "{}", listed(&told));
}

#[test]
fn hooks_hold_for_editors_too() {
    let hooks = "[[hooks]]\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\n\
        command = \"echo not-here >&2; exit 2\"\n\n\
        [[hooks]]\nevent = \"UserPromptSubmit\"\n\
        command = \"grep -q secret && { echo no-secrets >&2; exit 2; }; exit 0\"\n";
    let hooks = format!(
        "{hooks}\n[[hooks]]\nevent = \"Stop\"\n\
         command = \"[ -e stopped ] && exit 0; touch stopped; echo go-on >&2; exit 2\"\n"
    );
    let bash = call("b", "Bash", &json!({"command": "touch ran"}));
    let world = scripted_with(&[&bash, "text: done", "text: again", "text: never"], "");
    let config = fs::read_to_string(world.share().join("config.toml")).expect("it");
    world.write_config(&format!("{config}\n{hooks}"));
    let mut client = editor(&world, &["acp"], &json!({}));
    let session = new_session(&mut client, &world);
    let told = turn(&mut client, &session, "go", approving);
    let (status, content) = ended(&told);
    assert_eq!(status, "failed");
    assert!(content.contains("not-here"), "{content}");
    assert!(!world.work().join("ran").exists());
    // Why it goes on by itself is told.
    let said_by_both = said(&told);
    assert!(said_by_both.contains("go-on") && said_by_both.contains("again"), "{said_by_both}");
    let told = turn(&mut client, &session, "the secret", approving);
    assert!(said(&told).contains("no-secrets"), "{}", listed(&told));
    assert_eq!(stop(&told), "end_turn");
}

#[test]
fn slash_commands_are_offered_with_what_they_take_and_do_what_they_say() {
    let world = scripted(&["text: x"]);
    fs::create_dir(world.home().join("more")).expect("a folder");
    let mut client = editor(&world, &["acp"], &json!({"auth": {}}));
    let session = new_session(&mut client, &world);
    let is_offer = |message: &Value| {
        message["params"]["update"]["sessionUpdate"] == "available_commands_update"
    };
    let offer = client.until(is_offer).pop().expect("an offer");
    let commands = offer["params"]["update"]["availableCommands"].as_array().expect("them").clone();
    let takes = |name: &str| {
        let command = commands.iter().find(|command| command["name"] == name);
        command.unwrap_or_else(|| panic!("{name} is not offered"))["input"]["hint"].clone()
    };
    assert_eq!(takes("yolo"), Value::Null);
    assert_eq!(takes("plan"), "on, off, view or clear");
    assert!(takes("compact").is_string());

    let mode = |told: &[Value]| {
        of(told, "current_mode_update").last().map(|update| update["currentModeId"].clone())
    };
    let told = turn(&mut client, &session, "/yolo", approving);
    assert_eq!(mode(&told), Some(json!("auto")), "{}", listed(&told));
    let told = turn(&mut client, &session, "/yolo", approving);
    assert_eq!(mode(&told), Some(json!("default")));
    let told = turn(&mut client, &session, "/plan on", approving);
    assert_eq!(mode(&told), Some(json!("plan")));
    let option = of(&told, "config_option_update");
    assert_eq!(option.last().expect("it")["configOptions"][0]["currentValue"], "plan");
    let told = turn(&mut client, &session, "/plan off", approving);
    assert_eq!(mode(&told), Some(json!("default")));
    let folder = world.home().join("more");
    let told = turn(&mut client, &session, &format!("/add-dir {}", folder.display()), approving);
    assert!(said(&told).contains("more"), "{}", listed(&told));
    let told = turn(&mut client, &session, "/nothing of this name", approving);
    assert!(said(&told).contains("/nothing"), "{}", listed(&told));
    assert_eq!(stop(&told), "end_turn");
}

#[test]
fn the_model_is_changed_in_the_middle_of_a_session() {
    let answers = |text| vec![vec![Piece::Text(text)]];
    let first = Server::start(vec![
        Scenario { when: "slow", answers: vec![vec![Piece::Text("one"), Piece::Gate("go")]] },
        Scenario { when: "hi", answers: answers("I am the first.") },
    ]);
    let second = Server::start(vec![Scenario { when: "hi", answers: answers("I am the second.") }]);
    let world = World::new();
    let other = second.config();
    let other = other.split_once("[providers").expect("a provider").1;
    let other = other.replace("loopback", "second").replace("models.test", "models.other");
    world.write_config(&format!("{}\n[providers{other}", first.config()));
    let mut client = editor(&world, &["acp"], &json!({"session": {}}));
    let session = new_session(&mut client, &world);
    let told = turn(&mut client, &session, "hi", approving);
    assert_eq!(said(&told), "I am the first.");
    let usage = of(&told, "usage_update");
    assert_eq!(usage.last().expect("usage")["size"], 100_000, "{}", listed(&told));
    assert!(usage.last().expect("usage")["used"].as_u64().expect("tokens") > 0);

    let set = json!({"sessionId": session, "configId": "model", "value": "other"});
    let answer = client.call("s", "session/set_config_option", &set);
    assert_eq!(answer["result"]["configOptions"][1]["currentValue"], "other", "{answer}");
    let told = turn(&mut client, &session, "hi", approving);
    assert_eq!(said(&told), "I am the second.");
    // As editors of 0.8 do it.
    let set = json!({"sessionId": session, "modelId": "test"});
    assert_eq!(client.call("s", "session/set_model", &set)["result"], json!({}));
    let told = turn(&mut client, &session, "hi", approving);
    assert_eq!(said(&told), "I am the first.");

    // While a turn runs there is an answer at once, whatever it is.
    client.request("p", "session/prompt", &prompt(&session, "slow"));
    client.until(|message| message["params"]["update"]["content"]["text"] == "one");
    let set = json!({"sessionId": session, "configId": "model", "value": "other"});
    let answer = client.call("s", "session/set_config_option", &set);
    assert!(answer.get("result").is_some() || answer["error"]["message"].is_string(), "{answer}");
    first.open("go");
    assert_eq!(client.answer("p")["result"]["stopReason"], "end_turn");
}

#[test]
fn messages_of_different_steps_are_told_apart() {
    let todo = call("c", "Todo", &json!({"todos": []}));
    let world = scripted(&[&format!("text: One\ntext:  piece.\n{todo}"), "text: Two."]);
    let mut client = editor(&world, &["acp"], &json!({"session": {}}));
    let session = new_session(&mut client, &world);
    let told = turn(&mut client, &session, "go", approving);
    let ids: Vec<&Value> =
        of(&told, "agent_message_chunk").iter().map(|chunk| &chunk["messageId"]).collect();
    assert_eq!(ids.len(), 3);
    assert!(ids[0].is_string() && ids[0] == ids[1] && ids[1] != ids[2], "{ids:?}");
    assert!(client.end().0.success());
    // Editors of the older libraries do not know the field.
    let mut client = editor(&world, &["acp"], &json!({}));
    let load = json!({"sessionId": session, "cwd": world.work(), "mcpServers": []});
    client.request("l", "session/load", &load);
    let past = client.until_answer("l");
    assert_eq!(said(&past), "One piece.Two.");
    assert!(of(&past, "agent_message_chunk")[0].get("messageId").is_none());
}
