//! Whole turns against a scripted model, real files and a paused clock.
//!
//! What a door hears is compared as a list of short lines ([`line`]), so that a test reads like the
//! story it tells.

mod approvals;
mod asides;
mod cancel;
mod compaction;
mod fakes;
mod faults;
mod files;
mod flows;
mod hides;
mod hooks;
mod lines;
mod loops;
mod notes;
mod pins;
mod plan;
mod questions;
mod restore;
mod retry;
mod rewind;
mod rules;
mod script;
mod slash;
mod spec;
mod storm;
mod strategies;
mod subagents;
mod travel;
mod turns;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;

use fakes::tools;
use lines::{event_line, line};
use script::{Piece, Script, call, finish, status, text, think, usage};

use super::{Model, Modes, RuleSource, Setup, Soul, Staff};
use crate::config::{Capability, CompactionConfig, HookConfig, LoopControl, RuleFiles};
use crate::context::Context;
use crate::llm::{ChatProvider, ChatRequest, FinishReason, LlmError, PartStream, StreamPart};
use crate::message::{
    CheckpointId, CheckpointRef, ContentPart, DisplayBlock, Generation, Message, SessionId,
    TokenUsage, ToolCall, ToolReturn, UserInput,
};
use crate::paths::Paths;
use crate::permission::ScopedRule;
use crate::session::SessionState;
use crate::skill::Skills;
use crate::tools::{Approval, ApprovalAsk, LiveOutput, Notifier, Tool, ToolContext, Toolset};
use crate::wire::channel::CommandSender;
use crate::wire::record::Recorder;
use crate::wire::{
    ApprovalChoice, ApprovalRequest, ApprovalResponse, Command, DoorMessage, Event, Extension, Hub,
    OutputStream, Request, Response, SessionInfo,
};

/// How long a test waits for what must come; the clock is paused, so waiting costs nothing.
const PATIENCE: Duration = Duration::from_secs(600);

/// A session's state that differs from the default by `change`.
fn state(change: impl FnOnce(&mut SessionState)) -> SessionState {
    let mut state = SessionState::default();
    change(&mut state);
    state
}

/// How a session of a test is made.
struct Stage {
    tools: Toolset,
    limits: LoopControl,
    compaction: CompactionConfig,
    rules: Vec<ScopedRule>,
    state: SessionState,
    max_context: u64,
    has_model: bool,
    capabilities: Vec<Capability>,
    history: Vec<Message>,
    hooks: Vec<HookConfig>,
    skills: Skills,
    snapshots: bool,
    skips_afk_reminder: bool,
    staff: Staff,
}

impl Default for Stage {
    fn default() -> Self {
        Self {
            tools: tools(&[]),
            limits: LoopControl::default(),
            compaction: CompactionConfig::default(),
            rules: Vec::new(),
            state: SessionState::default(),
            max_context: 200_000,
            has_model: true,
            capabilities: Vec::new(),
            history: Vec::new(),
            hooks: Vec::new(),
            skills: Skills::default(),
            snapshots: false,
            skips_afk_reminder: false,
            staff: Staff::default(),
        }
    }
}

/// A running soul and its only listener.
struct World {
    folder: tempfile::TempDir,
    script: Arc<Script>,
    commands: CommandSender,
    messages: UnboundedReceiver<DoorMessage>,
    notifier: Notifier,
    task: JoinHandle<Soul>,
}

impl Stage {
    fn start(self, answers: impl IntoIterator<Item = Vec<Piece>>) -> World {
        let folder = tempfile::tempdir().expect("folder");
        let script = Arc::new(Script {
            answers: Mutex::new(answers.into_iter().collect()),
            asked: Mutex::default(),
        });
        let (mut context, _) = Context::open(folder.path()).expect("context");
        context.freeze_system_prompt("You are a test.").expect("prompt");
        context.append(&self.history).expect("history");
        let model = Model {
            provider: script.clone(),
            name: "Script".into(),
            configured_in: "config.toml".into(),
            max_context: self.max_context,
            capabilities: self.capabilities,
        };
        let hub = Hub::new(Some(Recorder::new(folder.path())));
        let messages = hub.subscribe(true);
        let info = SessionInfo {
            work_dir: folder.path().to_owned(),
            session_dir: folder.path().to_owned(),
            max_context_tokens: self.max_context,
            yolo: self.state.yolo,
            ..SessionInfo::default()
        };
        let mut soul = Soul::new(Setup {
            session_id: SessionId("test".into()),
            added_dirs: vec![],
            context,
            tools: self.tools,
            model: self.has_model.then_some(model),
            limits: self.limits,
            compaction: self.compaction,
            rules: RuleSource {
                rules: self.rules,
                files: RuleFiles::new(&Paths::new(folder.path().join("share")), folder.path()),
            },
            mcp: crate::mcp::McpPool::default(),
            hub,
            state: self.state,
            modes: Modes {
                hooks: self.hooks,
                skills: Arc::new(self.skills),
                plans: folder.path().join("plans"),
                snapshots: self.snapshots.then(|| rewind::worker(folder.path())),
                skips_afk_reminder: self.skips_afk_reminder,
                staff: self.staff,
                borrows_mcp: None,
            },
            info,
        });
        let notifier = soul.notifier();
        let (commands, inbox) = CommandSender::channel();
        let task = tokio::spawn(async move {
            soul.run(inbox).await;
            soul
        });
        World { folder, script, commands, messages, notifier, task }
    }
}

impl World {
    fn send(&self, command: Command) {
        self.commands.send(command).expect("the soul lives");
    }

    async fn next(&mut self) -> DoorMessage {
        tokio::time::timeout(PATIENCE, self.messages.recv())
            .await
            .expect("something is told in time")
            .expect("the soul lives")
    }

    /// The lines up to and with the first that `wanted` picks.
    async fn lines_until(&mut self, wanted: impl Fn(&DoorMessage) -> bool) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let message = self.next().await;
            let is_last = wanted(&message);
            lines.push(line(&message));
            if is_last {
                return lines;
            }
        }
    }

    /// The lines up to the end of the turn.
    async fn rest(&mut self) -> Vec<String> {
        self.lines_until(|message| matches!(message, DoorMessage::PromptDone(_))).await
    }

    /// Sends a prompt and waits for the end of it.
    async fn prompt(&mut self, prompt: &str) -> Vec<String> {
        self.send(Command::Prompt(prompt.into()));
        self.rest().await
    }

    /// Waits for the next approval request; the lines before it are dropped.
    async fn request(&mut self) -> ApprovalRequest {
        loop {
            if let DoorMessage::Request(Request::ApprovalRequest(request)) = self.next().await {
                return request;
            }
        }
    }

    fn answer(&self, request: &ApprovalRequest, response: ApprovalChoice, feedback: &str) {
        self.send(Command::Respond(Response::Approval(ApprovalResponse {
            request_id: request.id.clone(),
            response,
            feedback: feedback.to_owned(),
        })));
    }

    /// Ends the session and hands out its context.
    async fn end(self) -> (tempfile::TempDir, Context) {
        self.send(Command::Shutdown);
        let soul = tokio::time::timeout(PATIENCE, self.task).await.expect("it ends").expect("soul");
        (self.folder, soul.context)
    }

    /// Ends the session and hands out the history, one line a message.
    async fn history(self) -> Vec<String> {
        let (_folder, context) = self.end().await;
        context.history().iter().map(row).collect()
    }
}

/// The address of a checkpoint.
fn at(generation: u64, id: u64) -> CheckpointRef {
    CheckpointRef { generation: Generation(generation), id: CheckpointId(id) }
}

/// A message in one line.
fn row(message: &Message) -> String {
    let role = format!("{:?}", message.role).to_lowercase();
    let calls: Vec<&str> = message.calls().iter().map(|call| call.id.as_str()).collect();
    let mut row = format!("{role}: {}", message.text());
    if !calls.is_empty() {
        row.push_str(&format!(" [{}]", calls.join(", ")));
    }
    if let Some(id) = &message.tool_call_id {
        row = row.replacen("tool:", &format!("tool {id}:"), 1);
    }
    row
}

/// The last line, which is how a prompt ended.
fn outcome(lines: &[String]) -> &str {
    lines.last().map(String::as_str).unwrap_or_default()
}

/// Only the lines that begin with one of `kinds`.
fn only<'a>(lines: &'a [String], kinds: &[&str]) -> Vec<&'a str> {
    lines
        .iter()
        .map(String::as_str)
        .filter(|line| kinds.iter().any(|kind| line.starts_with(kind)))
        .collect()
}
