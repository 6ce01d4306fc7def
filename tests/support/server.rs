//! A model on loopback: OpenAI's chat completions over SSE, answers chosen by the last user message.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use serde_json::{Value, json};

use super::LIMIT;

/// A piece of an answer.
#[derive(Clone)]
pub enum Piece {
    /// Text, one chunk.
    Text(&'static str),
    /// Thinking, one chunk.
    Think(&'static str),
    /// A tool call; its arguments come in several chunks.
    Call { id: &'static str, name: &'static str, arguments: Value },
    /// Nothing more until the test opens the gate of this name.
    Gate(&'static str),
    /// The connection breaks.
    Cut,
    /// An HTTP status and a body instead of an answer; must be the first piece.
    Refuse(&'static str, &'static str),
}

/// What is answered to a user message: one answer for each step of the turn.
#[derive(Clone)]
pub struct Scenario {
    /// What the last user message holds.
    pub when: &'static str,
    /// The answers to it, in order; the last one is repeated.
    pub answers: Vec<Vec<Piece>>,
}

struct State {
    requests: Vec<Value>,
    open_gates: BTreeSet<&'static str>,
}

/// The server; it ends with the test's process.
pub struct Server {
    port: u16,
    state: Arc<(Mutex<State>, Condvar)>,
}

impl Server {
    pub fn start(scenarios: Vec<Scenario>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = State { requests: Vec::new(), open_gates: BTreeSet::new() };
        let state = Arc::new((Mutex::new(state), Condvar::new()));
        let shared = Arc::clone(&state);
        let scenarios = Arc::new(scenarios);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (shared, scenarios) = (Arc::clone(&shared), Arc::clone(&scenarios));
                // A client that goes away in the middle is the client's business.
                std::thread::spawn(move || drop(serve(stream, &scenarios, &shared)));
            }
        });
        Self { port, state }
    }

    /// A configuration that uses this server.
    pub fn config(&self) -> String {
        format!(
            "default_model = \"test\"\n\n\
             [providers.loopback]\ntype = \"openai_legacy\"\n\
             base_url = \"http://127.0.0.1:{}/v1\"\n\n\
             [models.test]\nprovider = \"loopback\"\nmodel = \"test-model\"\n\
             max_context_size = 100000\n",
            self.port
        )
    }

    /// Lets answers go on past the gate `name`.
    pub fn open(&self, name: &'static str) {
        let (state, changed) = &*self.state;
        state.lock().expect("state").open_gates.insert(name);
        changed.notify_all();
    }

    /// The bodies of the requests so far.
    pub fn requests(&self) -> Vec<Value> {
        self.state.0.lock().expect("state").requests.clone()
    }
}

fn serve(
    stream: TcpStream,
    scenarios: &[Scenario],
    shared: &(Mutex<State>, Condvar),
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let body = read_request(&stream)?;
    let answer = answer_to(&body, scenarios);
    let prompt_tokens = body.to_string().len() / 4;
    shared.0.lock().expect("state").requests.push(body);
    let mut out = stream;
    if let Some(Piece::Refuse(status, body)) = answer.first() {
        let length = body.len();
        return write!(
            out,
            "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
    }
    out.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n",
    )?;
    let mut send = |delta: Value, finish: Option<&str>| {
        let chunk = json!({
            "id": "answer", "object": "chat.completion.chunk", "created": 1, "model": "test-model",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        });
        write!(out, "data: {chunk}\n\n").and_then(|()| out.flush())
    };
    let mut calls = 0;
    for piece in &answer {
        match piece {
            Piece::Text(text) => send(json!({"content": text}), None)?,
            Piece::Think(text) => send(json!({"reasoning_content": text}), None)?,
            Piece::Call { id, name, arguments } => {
                let function = json!({"name": name, "arguments": ""});
                let call =
                    json!({"index": calls, "id": id, "type": "function", "function": function});
                send(json!({"tool_calls": [call]}), None)?;
                for part in halves(&arguments.to_string()) {
                    let call = json!({"index": calls, "function": {"arguments": part}});
                    send(json!({"tool_calls": [call]}), None)?;
                }
                calls += 1;
            }
            Piece::Gate(name) => pass_gate(name, shared),
            Piece::Cut | Piece::Refuse(..) => return Ok(()),
        }
    }
    send(json!({}), Some(if calls > 0 { "tool_calls" } else { "stop" }))?;
    let total = prompt_tokens + 34;
    let usage = json!({
        "prompt_tokens": prompt_tokens, "completion_tokens": 34, "total_tokens": total,
    });
    write!(out, "data: {}\n\ndata: [DONE]\n\n", json!({"choices": [], "usage": usage}))
}

/// The body of a request, which must be JSON.
fn read_request(stream: &TcpStream) -> std::io::Result<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}

/// The scenario is the last user message's; the step is how often the model spoke since.
fn answer_to(body: &Value, scenarios: &[Scenario]) -> Vec<Piece> {
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let is_prompt = |message: &Value| {
        // Notes of the program itself go to the model as user messages too.
        message["role"] == "user" && !text_of(message).starts_with("<system")
    };
    let at = messages.iter().rposition(is_prompt).unwrap_or(0);
    let prompt = messages.get(at).map(text_of).unwrap_or_default();
    let step = messages[at..].iter().filter(|message| message["role"] == "assistant").count();
    match scenarios.iter().find(|scenario| prompt.contains(scenario.when)) {
        Some(scenario) => {
            let answers = &scenario.answers;
            answers.get(step).or(answers.last()).cloned().unwrap_or_default()
        }
        None => vec![Piece::Text("There is no scenario for this.")],
    }
}

/// The text of a message, whatever its shape.
pub fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    }
}

fn halves(text: &str) -> [&str; 2] {
    let middle = (text.len() / 2..).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let (first, second) = text.split_at(middle);
    [first, second]
}

fn pass_gate(name: &'static str, shared: &(Mutex<State>, Condvar)) {
    let (state, changed) = shared;
    let state = state.lock().expect("state");
    // A gate nobody opens must not hold the server's thread for ever.
    drop(changed.wait_timeout_while(state, LIMIT, |state| !state.open_gates.contains(name)));
}
