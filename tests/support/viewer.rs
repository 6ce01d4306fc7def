//! A viewer of a daemon that is driven line by line.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

/// A viewer of a daemon, line by line.
pub struct Viewer {
    pub out: UnixStream,
    lines: std::io::Lines<BufReader<UnixStream>>,
    pub seen: Vec<Value>,
}

impl Viewer {
    /// Joins as a program of ours does; its answer says whether it has the pen.
    pub fn join(socket: &std::path::Path) -> (Self, bool) {
        let stream = UnixStream::connect(socket).expect("joined");
        stream.set_read_timeout(Some(super::LIMIT)).expect("a limit");
        let out = stream.try_clone().expect("a side");
        let mut viewer = Self { out, lines: BufReader::new(stream).lines(), seen: Vec::new() };
        let can = json!({"kimi_tui": true, "supports_question": true});
        let hello = json!({"protocol_version": "1.10", "capabilities": can});
        let answer = viewer.call("hello", "initialize", &hello);
        viewer.call("past", "replay", &json!({}));
        (viewer, answer["result"]["kimi_tui"]["holds_pen"] == true)
    }

    pub fn send(&mut self, message: &Value) {
        writeln!(self.out, "{message}").expect("sent");
    }

    pub fn until(&mut self, is: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.lines.next().expect("more").expect("a line");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            self.seen.push(message.clone());
            if is(&message) {
                return message;
            }
        }
    }

    pub fn call(&mut self, id: &str, method: &str, params: &Value) -> Value {
        self.send(&json!({"id": id, "method": method, "params": params}));
        self.until(|message| message["id"] == id && message.get("method").is_none())
    }

    pub fn told(&mut self, method: &str) -> Value {
        self.until(|message| message["method"] == method)["params"].clone()
    }

    pub fn asked(&mut self) -> String {
        let is = |message: &Value| message["params"]["type"] == "ApprovalRequest";
        self.until(is)["id"].as_str().expect("an id").to_owned()
    }

    pub fn approve(&mut self, id: &str) {
        let result = json!({"request_id": id, "response": "approve", "feedback": ""});
        self.send(&json!({"id": id, "result": result}));
    }

    pub fn event(&mut self, kind: &str) {
        self.until(|message| message["method"] == "event" && message["params"]["type"] == kind);
    }
}
