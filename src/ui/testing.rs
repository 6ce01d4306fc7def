//! A screen without a terminal: messages in, model, effects and picture out.

use std::sync::Arc;

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::effect::{Effect, EffectId};
use super::model::Model;
use super::msg::{Msg, Opened};
use super::theme::Theme;
use super::update::update;
use super::view::{Caches, view};
use crate::message::{
    CheckpointId, CheckpointRef, ContentPart, DisplayBlock, Generation, SessionId, TokenUsage,
    ToolCall, ToolReturn,
};
use crate::wire::{
    ApprovalRequest, CheckpointCreated, ContextSize, DoorMessage, Event, Extension, PromptOutcome,
    Question, QuestionOption, QuestionRequest, Request, SessionInfo, SlashCommand, SourceKind,
    StatusUpdate, StepBegin, ToolResult, TurnBegin,
};

/// A screen to be driven by a test.
pub(crate) struct Harness {
    pub model: Model,
    pub theme: Theme,
    pub caches: Caches,
    pub now: f64,
    pub effects: Vec<Effect>,
}

impl Harness {
    /// An empty screen of this size on which a session has just been opened.
    pub fn new(width: u16, height: u16) -> Self {
        let mut harness = Self::unopened(width, height);
        let id = harness.model.next_effect();
        harness.model.opening = Some(id);
        harness.open(id, Vec::new());
        harness
    }

    pub fn unopened(width: u16, height: u16) -> Self {
        Self {
            model: Model::new(width, height),
            theme: Theme::dark(),
            caches: Caches::inline(),
            now: 1000.0,
            effects: Vec::new(),
        }
    }

    pub fn open(&mut self, id: EffectId, story: Vec<crate::wire::record::Recorded>) {
        let opened = Opened { info: Arc::new(info()), past: story.into_iter().collect() };
        self.send(Msg::Opened { id, result: Ok(opened) });
    }

    pub fn send(&mut self, msg: Msg) -> &mut Self {
        let effects = update(&mut self.model, msg, self.now);
        self.effects.extend(effects);
        self
    }

    pub fn event(&mut self, event: Event) -> &mut Self {
        self.send(Msg::Door(DoorMessage::Event(event)))
    }

    pub fn wait(&mut self, seconds: f64) -> &mut Self {
        self.now += seconds;
        self.send(Msg::Tick)
    }

    /// Presses keys: characters as they are, named ones in angle brackets (`hi<enter><ctrl-t>`).
    pub fn keys(&mut self, keys: &str) -> &mut Self {
        let mut rest = keys;
        while let Some(c) = rest.chars().next() {
            let (name, after) = match rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
                Some(named) => named,
                None => rest.split_at(c.len_utf8()),
            };
            let name = if name == " " { "space" } else { name };
            let name = if name == "-" { "minus" } else { name };
            self.send(Msg::Key(name.parse().expect("a key")));
            rest = after;
        }
        self
    }

    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Draws the screen.
    pub fn draw(&mut self) -> Terminal<TestBackend> {
        let (width, height) = (self.model.screen.width, self.model.screen.height);
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("terminal");
        let mut info = None;
        terminal
            .draw(|frame| {
                info = Some(view(&self.model, &self.theme, &mut self.caches, frame, self.now));
            })
            .expect("frame");
        self.model.painted(&info.expect("drawn"));
        terminal
    }

    /// The picture as text.
    pub fn picture(&mut self) -> String {
        self.draw().backend().to_string()
    }

    pub fn begin_turn(&mut self, text: &str) -> &mut Self {
        self.event(Event::TurnBegin(TurnBegin { user_input: text.into() }))
    }

    pub fn checkpoint(&mut self, id: u64, step: Option<u64>, tokens: u64) -> &mut Self {
        self.event(Event::Extension(Extension::CheckpointCreated(CheckpointCreated {
            at: CheckpointRef { generation: Generation(0), id: CheckpointId(id) },
            step,
            size: ContextSize { messages: id, tokens },
        })))
    }

    pub fn step(&mut self, n: u64) -> &mut Self {
        self.event(Event::StepBegin(StepBegin { n }))
    }

    pub fn text(&mut self, text: &str) -> &mut Self {
        self.event(Event::ContentPart(ContentPart::text(text)))
    }

    pub fn call(&mut self, id: &str, name: &str, arguments: &str) -> &mut Self {
        self.event(Event::ToolCall(ToolCall::new(id, name, Some(arguments.into()))))
    }

    pub fn result(&mut self, id: &str, return_value: ToolReturn) -> &mut Self {
        self.event(Event::ToolResult(ToolResult { tool_call_id: id.into(), return_value }))
    }

    pub fn usage(&mut self, tokens: u64) -> &mut Self {
        self.event(Event::StatusUpdate(StatusUpdate {
            context_tokens: Some(tokens),
            token_usage: Some(TokenUsage {
                input_other: tokens,
                output: 120,
                ..TokenUsage::default()
            }),
            ..StatusUpdate::default()
        }))
    }

    pub fn ask(&mut self, id: &str, call: &str, command: &str) -> &mut Self {
        self.send(Msg::Door(DoorMessage::Request(Request::ApprovalRequest(ApprovalRequest {
            id: id.into(),
            tool_call_id: call.into(),
            sender: "Bash".into(),
            action: "run command".into(),
            description: format!("Run command `{command}`"),
            source_kind: SourceKind::ForegroundTurn,
            source_id: None,
            agent_id: None,
            subagent_type: None,
            source_description: None,
            display: vec![DisplayBlock::Shell { language: "bash".into(), command: command.into() }],
        }))))
    }

    /// The engine asks: question, header, labels, and whether several may be chosen.
    pub fn question(&mut self, id: &str, questions: &[(&str, &str, &[&str], bool)]) -> &mut Self {
        let questions = questions
            .iter()
            .map(|&(question, header, labels, multi_select)| Question {
                question: question.into(),
                header: header.into(),
                options: labels
                    .iter()
                    .map(|&label| QuestionOption {
                        label: label.into(),
                        description: format!("What {label} means"),
                    })
                    .collect(),
                multi_select,
                body: String::new(),
                other_label: String::new(),
                other_description: String::new(),
            })
            .collect();
        self.send(Msg::Door(DoorMessage::Request(Request::QuestionRequest(QuestionRequest {
            id: id.into(),
            tool_call_id: Some("q1".into()),
            questions,
        }))))
    }

    pub fn end_turn(&mut self) -> &mut Self {
        self.event(Event::turn_end());
        self.send(Msg::Door(DoorMessage::PromptDone(PromptOutcome::Finished)))
    }
}

/// Facts of a session.
pub(crate) fn info() -> SessionInfo {
    SessionInfo {
        id: Some(SessionId("0a1b2c3d-0000-4000-8000-000000000000".into())),
        title: "Fix the failing test".into(),
        work_dir: "/home/me/project".into(),
        agent: "default".into(),
        model: Some("kimi-k2".into()),
        max_context_tokens: 131_072,
        compaction_at: 0.85,
        can_revert: true,
        slash_commands: vec![SlashCommand {
            name: "compact".into(),
            description: "Summarise the context".into(),
            aliases: vec![],
        }],
        ..SessionInfo::default()
    }
}
