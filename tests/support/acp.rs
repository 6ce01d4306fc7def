//! An editor that speaks the Agent Client Protocol by hand: what a test sends is what is sent.

use serde_json::{Value, json};

use super::wire::Client;
use super::world::World;

/// The program with `args`, told what the editor can do.
pub fn editor(world: &World, args: &[&str], capabilities: &Value) -> Client {
    let mut client = Client::run(world, args);
    let hello = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
    let answer = client.call("hello", "initialize", &hello);
    assert_eq!(answer["result"]["protocolVersion"], 1, "{answer}");
    client
}

pub fn new_session(client: &mut Client, world: &World) -> Value {
    let answer = client.call("new", "session/new", &json!({"cwd": world.work(), "mcpServers": []}));
    let session = answer["result"]["sessionId"].clone();
    assert!(session.is_string(), "{answer}");
    session
}

/// Parameters of a prompt.
pub fn prompt(session: &Value, text: &str) -> Value {
    json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})
}

/// Updates of one kind.
pub fn of<'a>(told: &'a [Value], kind: &str) -> Vec<&'a Value> {
    let updates = told.iter().map(|message| &message["params"]["update"]);
    updates.filter(|update| update["sessionUpdate"] == kind).collect()
}

/// What the agent says in `told`.
pub fn said(told: &[Value]) -> String {
    let chunks = of(told, "agent_message_chunk").into_iter();
    chunks.filter_map(|chunk| chunk["content"]["text"].as_str()).collect()
}

/// The answer to a permission request that chooses an option.
pub fn chosen(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

/// Prompts, answers the requests by `answer` until the end, and gives everything that came, the
/// answer to the prompt last.
pub fn turn(
    client: &mut Client,
    session: &Value,
    text: &str,
    mut answer: impl FnMut(&str, &Value) -> Result<Value, Value>,
) -> Vec<Value> {
    client.request("turn", "session/prompt", &prompt(session, text));
    let mut all = Vec::new();
    loop {
        let message = client.next();
        let is_request = message.get("id").is_some() && message.get("method").is_some();
        if is_request {
            let method = message["method"].as_str().expect("a method");
            match answer(method, &message["params"]) {
                Ok(result) => client.respond(&message, &result),
                Err(error) => {
                    let id = &message["id"];
                    client.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
                }
            }
        }
        let is_over = message["id"] == "turn" && !is_request;
        all.push(message);
        if is_over {
            return all;
        }
    }
}

/// Approves everything, and offers nothing else.
pub fn approving(method: &str, _: &Value) -> Result<Value, Value> {
    assert_eq!(method, "session/request_permission");
    Ok(chosen("approve"))
}

/// How the turn ended.
pub fn stop(told: &[Value]) -> &Value {
    &told.last().expect("an end")["result"]["stopReason"]
}
