//! A client of the wire: the program on pipes, its lines as JSON.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::LIMIT;
use super::world::World;

/// A world whose model reads `scripts`, one a call.
pub fn scripted(scripts: &[&str]) -> World {
    scripted_with(scripts, "")
}

/// The same with more in its configuration.
pub fn scripted_with(scripts: &[&str], more: &str) -> World {
    let world = World::new();
    let file = world.share().join("scripts.json");
    std::fs::write(&file, json!(scripts).to_string()).expect("scripts");
    world.write_config(&format!(
        "default_model = \"s\"\n{more}\n[providers.s]\ntype = \"_scripted_echo\"\n\
         env = {{ KIMI_SCRIPTED_ECHO_SCRIPTS = {file:?} }}\n\
         [models.s]\nprovider = \"s\"\nmodel = \"scripted_echo\"\nmax_context_size = 100000\n"
    ));
    world
}

/// A script's line that calls a tool.
pub fn call(id: &str, name: &str, arguments: &Value) -> String {
    format!("tool_call: {}", json!({"id": id, "name": name, "arguments": arguments.to_string()}))
}

/// The program as a server, and what it said.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
}

impl Client {
    pub fn start(world: &World) -> Self {
        Self::with(world, &[])
    }

    pub fn with(world: &World, args: &[&str]) -> Self {
        let wire = ["--wire"];
        Self::run(world, &[&wire, args].concat())
    }

    /// Any front end that speaks JSON by lines.
    pub fn run(world: &World, args: &[&str]) -> Self {
        let mut command = world.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program");
        let stdout = child.stdout.take().expect("its output");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { return };
                let value = serde_json::from_str(&line).expect("a line of JSON");
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines }
    }

    /// Sends bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("still open");
        stdin.write_all(bytes).expect("written");
        stdin.flush().expect("written");
    }

    pub fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    pub fn request(&mut self, id: &str, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    /// Answers a request of the server.
    pub fn respond(&mut self, request: &Value, result: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    /// The next message.
    pub fn next(&self) -> Value {
        self.lines.recv_timeout(LIMIT).expect("one more message")
    }

    /// Messages up to the first `is_last`, with it.
    pub fn until(&self, is_last: impl Fn(&Value) -> bool) -> Vec<Value> {
        let deadline = Instant::now() + LIMIT;
        let mut seen = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(message) => {
                    let is_over = is_last(&message);
                    seen.push(message);
                    if is_over {
                        return seen;
                    }
                }
                Err(error) => panic!("{error}; until then came:\n{}", listed(&seen)),
            }
        }
    }

    /// Messages up to the answer to `id`, with it.
    pub fn until_answer(&self, id: &str) -> Vec<Value> {
        self.until(|message| message["id"] == id && message.get("method").is_none())
    }

    /// The answer to `id`; what comes before it is dropped.
    pub fn answer(&self, id: &str) -> Value {
        self.until_answer(id).pop().expect("the answer")
    }

    /// The next request of this type; what comes before it is dropped.
    pub fn asked(&self, kind: &str) -> Value {
        self.until(|message| message["method"] == "request" && message["params"]["type"] == kind)
            .pop()
            .expect("a request")
    }

    /// Sends a request and gives its answer.
    pub fn call(&mut self, id: &str, method: &str, params: &Value) -> Value {
        self.request(id, method, params);
        self.answer(id)
    }

    /// Agrees on everything the protocol has.
    pub fn initialize(&mut self) -> Value {
        let can = json!({"supports_question": true, "supports_plan_mode": true});
        self.call("init", "initialize", &json!({"protocol_version": "1.10", "capabilities": can}))
    }

    /// Ends the input and waits for the end of the program.
    pub fn end(mut self) -> (ExitStatus, Vec<Value>) {
        self.stdin = None;
        let status = self.wait();
        (status, self.lines.iter().collect())
    }

    pub fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + LIMIT;
        loop {
            if let Some(status) = self.child.try_wait().expect("its state") {
                return status;
            }
            assert!(Instant::now() < deadline, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn kill(&mut self) {
        self.child.kill().expect("killed");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The types of the events and requests in `messages`, and answers as `= id`.
pub fn kinds(messages: &[Value]) -> Vec<String> {
    messages
        .iter()
        .map(|message| match message["params"]["type"].as_str() {
            Some(kind) if message["method"] == "request" => format!("? {kind}"),
            Some(kind) => kind.to_owned(),
            None => format!("= {}", message["id"].as_str().unwrap_or("null")),
        })
        .collect()
}

/// The payloads of the events of one type.
pub fn payloads(messages: &[Value], kind: &str) -> Vec<Value> {
    let is_meant = |message: &&Value| message["params"]["type"] == kind;
    messages.iter().filter(is_meant).map(|message| message["params"]["payload"].clone()).collect()
}

pub fn listed(messages: &[Value]) -> String {
    messages.iter().map(|message| format!("{message}\n")).collect()
}
