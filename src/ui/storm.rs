//! Storms: whatever comes, in whatever order, at whatever size. Nothing panics, what is kept for drawing
//! changes no cell, nothing of a control sequence reaches the terminal, and Esc leads out of everything.
//!
//! `KIMI_STORMS=5000 cargo test --release --lib storm` for a long one.

use std::sync::Arc;

use fastrand::Rng;
use ratatui::buffer::Buffer;
use serde_json::{Value, json};

use super::effect::Effect;
use super::key::KeyPress;
use super::keymap::{Context, Keymap};
use super::model::sessions::{SessionDone, SessionRow};
use super::model::setup::Told;
use super::msg::{Mouse, Msg, Opened};
use super::testing::{Harness, info};
use super::theme::Theme;
use super::view::inline::{Piece, Printed, live};
use super::view::{Caches, Linear, linear_theme};
use crate::message::SessionId;
use crate::session::Session;
use crate::wire::record::Recorded;
use crate::wire::{DoorMessage, Event, PromptOutcome, Request};

const TEXTS: &[&str] = &[
    "",
    " ",
    "word",
    "several words in a row, and more of them than a narrow screen has room for",
    "日本語のテキスト、全角文字。",
    "👨‍👩‍👧‍👦 é 🇩🇪 \u{200b}\u{202e}gnol",
    "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\r\n\tx\0",
    "# heading\n\n- item\n  - nested\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "```rust\nfn main() {}\n",
    "```\n\n> quote\n\n$x^2$ [link](https://example.invalid) ![p](q)",
    "[a]: b\n\n[^1]: note",
    "/compact",
    "@src/",
    "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np",
];
const IDS: &[&str] = &["a", "b", "c", ""];
const TOOLS: &[&str] = &["Bash", "EditFile", "ReadFile", "Task", "Todo", "mcp__x__y", "", "Grep"];
const KEYS: &[&str] = &[
    "enter",
    "esc",
    "tab",
    "backtab",
    "backspace",
    "delete",
    "up",
    "down",
    "left",
    "right",
    "home",
    "end",
    "pageup",
    "pagedown",
    "space",
    "minus",
    "f1",
    "f7",
    "f8",
    "f9",
    "f11",
    "ctrl-space",
    "alt-enter",
    "shift-up",
];

struct Storm {
    random: Rng,
    h: Harness,
    /// Every key of the default map, and some more.
    keys: Vec<KeyPress>,
    linear: Linear,
    printed: Printed,
}

impl Storm {
    fn new(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let mut keys: Vec<KeyPress> = KEYS.iter().filter_map(|name| name.parse().ok()).collect();
        let keymap = Keymap::default();
        let bindings = Context::ALL.iter().flat_map(|context| keymap.of(*context));
        keys.extend(bindings.flat_map(|binding| binding.keys.iter().copied()));
        keys.extend(
            "abcdefghijklmnopqrstuvwxyzAGNRY0123456789/?!$@:{}[]日é"
                .chars()
                .map(|c| KeyPress::plain(super::key::KeyCode::Char(c))),
        );
        let mut h = match random.u8(0..4) {
            0 => Harness::unopened(80, 24),
            _ => Harness::new(80, 24),
        };
        h.model.settings.inline = random.u8(0..3) == 0;
        h.model.composer.vim = random.bool().then(Default::default);
        let nowhere = std::path::Path::new("/nonexistent");
        let name = ["dark", "light", "ansi", "clear"][random.usize(..4)];
        h.theme = Theme::load(name, nowhere).expect("a theme");
        Self { random, h, keys, linear: Linear::default(), printed: Printed::default() }
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.random.usize(..from.len())]
    }

    fn text(&mut self) -> &'static str {
        self.pick(TEXTS)
    }

    fn id(&mut self) -> &'static str {
        self.pick(IDS)
    }

    fn number(&mut self) -> u64 {
        match self.random.u8(0..8) {
            0 => u64::MAX,
            1 => 0,
            2 => self.random.u64(..1_000_000),
            _ => self.random.u64(..6),
        }
    }

    fn size(&mut self) -> Value {
        json!({ "messages": self.number(), "tokens": self.number() })
    }

    fn place(&mut self) -> Value {
        json!({ "generation": self.random.u64(..4), "id": self.number() })
    }

    fn change(&mut self) -> Value {
        json!({
            "old_generation": self.random.u64(..4), "new_generation": self.random.u64(..5),
            "before": self.size(), "after": self.size(), "next_checkpoint": self.number(),
        })
    }

    fn display(&mut self) -> Value {
        let (old, new) = (self.text(), self.text());
        match self.random.u8(0..5) {
            0 => json!({"type": "brief", "text": new}),
            1 => json!({"type": "diff", "path": old, "old_text": old, "new_text": new}),
            2 => json!({"type": "todo", "items": [{"title": new, "status": "in_progress"}]}),
            3 => json!({"type": "shell", "language": "bash", "command": new}),
            _ => json!({"type": new, "data": old}),
        }
    }

    fn call(&mut self) -> Value {
        let arguments = match self.random.u8(0..4) {
            0 => Value::Null,
            1 => json!(self.text()),
            2 => json!(json!({"path": self.text(), "content": self.text()}).to_string()),
            _ => json!(json!({"command": self.text(), "description": self.text()}).to_string()),
        };
        let function = json!({"name": self.pick(TOOLS), "arguments": arguments});
        json!({"type": "function", "id": self.id(), "function": function})
    }

    fn result(&mut self) -> Value {
        json!({
            "tool_call_id": self.id(),
            "return_value": {
                "is_error": self.random.bool(), "output": self.text().repeat(self.random.usize(..9)),
                "message": self.text(), "display": [self.display()],
            },
        })
    }

    /// An event, or one of a subagent in one of another.
    fn event(&mut self, depth: u8) -> Value {
        let (text, id, number) = (self.text(), self.id(), self.number());
        let (kind, payload) = match self.random.u8(0..34) {
            0 => ("TurnBegin", json!({"user_input": text})),
            1 => ("SteerInput", json!({"user_input": [{"type": "text", "text": text}]})),
            2 => ("TurnEnd", json!({})),
            3 => ("StepBegin", json!({"n": number})),
            4 => ("StepInterrupted", json!({})),
            5 => (
                "StepRetry",
                json!({"n": number, "next_attempt": 2, "max_attempts": number, "wait_s": 1.5,
                    "error_type": text, "status_code": 429}),
            ),
            6 => ("CompactionBegin", json!({})),
            7 => ("CompactionEnd", json!({})),
            8 => ("HookTriggered", json!({"event": text, "target": text, "hook_count": number})),
            9 => ("HookResolved", json!({"event": text, "action": "block", "reason": text})),
            10 => (
                "StatusUpdate",
                json!({"context_tokens": number, "max_context_tokens": self.number(),
                    "plan_mode": self.random.bool(), "mcp_status": {"loading": true, "total": number},
                    "token_usage": {"input_other": number, "output": 3, "input_cache_read": number,
                        "input_cache_creation": 0}}),
            ),
            11 => (
                "Notification",
                json!({"id": id, "type": text, "title": text, "body": text, "severity": "error",
                    "created_at": 1.0}),
            ),
            12 => ("PlanDisplay", json!({"content": text, "file_path": text})),
            13 => ("BtwBegin", json!({"id": id, "question": text})),
            14 => ("BtwEnd", json!({"id": id, "response": text})),
            15 if depth == 0 => (
                "SubagentEvent",
                json!({"parent_tool_call_id": id, "agent_id": text, "subagent_type": text,
                    "event": self.event(1)}),
            ),
            16..=18 => ("ContentPart", json!({"type": "text", "text": text})),
            19 => ("ContentPart", json!({"type": "think", "think": text})),
            20 | 21 => ("ToolCall", self.call()),
            22 => ("ToolCallPart", json!({"arguments_part": text})),
            23 | 24 => ("ToolResult", self.result()),
            25 => ("ApprovalResponse", json!({"request_id": id, "response": "approve"})),
            26 => (
                "CheckpointCreated",
                json!({"at": self.place(), "step": number, "size": self.size()}),
            ),
            27 => {
                let mut payload = self.change();
                payload["to"] = self.place();
                payload["cause"] = json!(self.pick(&["user", "agent_d_mail"]));
                payload["mail"] = json!(text);
                ("ContextReverted", payload)
            }
            28 => (self.pick(&["ContextCleared", "ContextCompacted"]), self.change()),
            29 => {
                let mut payload = self.change();
                payload["from"] = json!(self.random.u64(..4));
                ("ContextRestored", payload)
            }
            30 => {
                let message = json!({"index": number, "role": "tool", "fate": "summarised",
                    "tokens": number, "tool_call_id": id, "preview": text});
                (
                    "ContextRewritten",
                    json!({"generation": 1, "strategy": text, "messages": [message]}),
                )
            }
            31 => {
                let message = json!({"index": number, "kind": "tool_result", "tokens": number,
                    "turns_ago": number, "tool_call_id": id, "call": text, "preview": text});
                let share = json!({"kind": "user", "tokens": number, "messages": number});
                (
                    "ContextLedger",
                    json!({"generation": 0, "size": self.size(), "shares": [share],
                        "messages": [message]}),
                )
            }
            32 => (
                "TaskChanged",
                json!({"id": id, "kind": "bash", "title": text, "state": "running",
                    "started": 900.0, "reason": text}),
            ),
            _ => match self.random.u8(0..6) {
                0 => (
                    "RevertPreview",
                    json!({"to": self.place(), "before": self.size(), "after": self.size(),
                        "messages": number, "files": [text]}),
                ),
                1 => {
                    let file = json!({"path": text, "deed": "restore", "conflict": text,
                        "can_choose": true, "diff": text});
                    (
                        "RewindPreview",
                        json!({"to": self.place(), "scope": "both", "files": [file], "notes": [text]}),
                    )
                }
                2 => ("ToolOutput", json!({"tool_call_id": id, "text": text})),
                3 => ("TaskOutput", json!({"task_id": id, "text": text})),
                4 => ("SideAnswer", json!({"id": id, "text_delta": text})),
                _ if number == 0 => ("TurnCut", json!({"steps": number})),
                _ => ("TurnFailed", json!({"message": text})),
            },
        };
        json!({ "type": kind, "payload": payload })
    }

    fn request(&mut self) -> Request {
        let (text, id) = (self.text(), self.id());
        let value = match self.random.u8(0..3) {
            0 => {
                let option = json!({"label": self.text(), "description": text});
                let question = json!({"question": text, "header": text, "multi_select":
                    self.random.bool(), "options": [option, {"label": "b", "description": ""}]});
                json!({"type": "QuestionRequest", "payload": {"id": id, "tool_call_id": self.id(),
                    "questions": [question, {"question": "2", "options": []}]}})
            }
            _ => json!({"type": "ApprovalRequest", "payload": {"id": id, "tool_call_id": self.id(),
                "sender": self.pick(TOOLS), "action": self.pick(&["run command", "edit file", ""]),
                "description": text, "source_kind": "foreground_turn",
                "display": [self.display()]}}),
        };
        serde_json::from_value(value).expect("a request")
    }

    fn story(&mut self) -> Vec<Recorded> {
        let count = self.random.usize(..30);
        let event = |storm: &mut Self| serde_json::from_value(storm.event(0)).expect("an event");
        (0..count).map(|at| Recorded { timestamp: at as f64, message: event(self) }).collect()
    }

    /// An answer to something the screen asked for.
    fn answer(&mut self) -> Option<Msg> {
        let effects = self.h.take_effects();
        let effect = effects.get(self.random.usize(..effects.len().max(1)))?.clone();
        let text = self.text();
        Some(match effect {
            Effect::Open { id, .. } if self.random.bool() => {
                let past = self.story().into_iter().collect();
                Msg::Opened { id, result: Ok(Opened { info: Arc::new(info()), past }) }
            }
            Effect::Open { id, .. } => Msg::Opened { id, result: Err(text.into()) },
            Effect::Sessions { id, .. } => {
                let session = Session {
                    id: SessionId(self.id().into()),
                    work_dir: text.into(),
                    dir: "/share/a".into(),
                };
                let row = |session: &Session| SessionRow {
                    session: session.clone(),
                    place: text.into(),
                    is_here: text.is_empty(),
                    title: text.into(),
                    updated: 0.0,
                    bytes: 10,
                };
                let rows = vec![row(&session), row(&session)];
                let done = match self.random.u8(0..7) {
                    0 => SessionDone::Listed(rows),
                    1 => SessionDone::Trash(Vec::new()),
                    2 => SessionDone::Found(Vec::new()),
                    3 => SessionDone::Renamed(session, None),
                    4 => SessionDone::Forked(session, Some(text.into())),
                    5 => SessionDone::Story(session, text.into(), self.story().into()),
                    _ => SessionDone::Failed(text.into()),
                };
                Msg::Session { id, done: Box::new(done) }
            }
            Effect::ListFiles { id } => {
                Msg::Files { id, files: TEXTS.iter().map(|text| (*text).to_owned()).collect() }
            }
            Effect::ListGenerations { id, .. } => {
                Msg::Generations { id, generations: Arc::default() }
            }
            Effect::ReadGeneration { id, .. } => Msg::Generation { id, result: Err(text.into()) },
            Effect::Setup { id, .. } => {
                let told = match self.random.u8(0..4) {
                    0 => Told::Config(Ok(super::model::setup::Known::default())),
                    1 => Told::Services(Vec::new()),
                    2 => Told::Offered(Err(text.into())),
                    _ => Told::Written(Err(text.into())),
                };
                Msg::Setup { id, told: Box::new(told) }
            }
            Effect::Examine(_) => Msg::Examined(text.into()),
            Effect::Shell { id, .. } if self.random.bool() => {
                Msg::ShellOutput { id, text: text.into() }
            }
            Effect::Shell { id, .. } => Msg::ShellEnded { id, result: Err(text.into()) },
            Effect::ReadImage { id, .. } => Msg::Image { id, result: Err(text.into()) },
            Effect::EditExternally(_) => Msg::Edited(Ok(text.into())),
            Effect::RunStatus { id, .. } => Msg::StatusLine { id, result: Ok(text.into()) },
            Effect::ReadBranch(_) => Msg::Branch(Some(text.into())),
            _ => return None,
        })
    }

    fn message(&mut self) -> Msg {
        match self.random.u8(0..40) {
            0..=19 => Msg::Key(self.pick(&self.keys.clone())),
            20..=29 => {
                let event: Event = serde_json::from_value(self.event(0)).expect("an event");
                Msg::Door(DoorMessage::Event(event))
            }
            30 => Msg::Door(DoorMessage::Request(self.request())),
            31 => Msg::Door(DoorMessage::PromptDone(PromptOutcome::Finished)),
            32 => Msg::Paste(self.text().repeat(self.random.usize(1..40))),
            33 => {
                let size = |storm: &mut Self, most: u16| match storm.random.u8(0..4) {
                    0 => storm.random.u16(1..8),
                    _ => storm.random.u16(1..=most),
                };
                Msg::Resize { width: size(self, 220), height: size(self, 70) }
            }
            34 => Msg::Wheel(self.random.i32(-50..50)),
            35 => Msg::Mouse {
                what: self.pick(&[Mouse::Press, Mouse::Drag, Mouse::Release]),
                x: self.random.u16(..230),
                y: self.random.u16(..80),
            },
            36 => Msg::Focus(self.random.bool()),
            37 => {
                self.h.now += self.random.f64() * 3.0;
                Msg::Tick
            }
            _ => self.answer().unwrap_or(Msg::Tick),
        }
    }

    fn drawn(&mut self) -> Buffer {
        let Harness { model, theme, caches, now, .. } = &mut self.h;
        if model.wants_full_screen() {
            return self.h.draw().backend().buffer().clone();
        }
        let size = (model.screen.width, model.screen.height);
        for piece in self.printed.next(model, theme, size, *now) {
            let (Piece::Line(line) | Piece::Prompt(line)) = piece else { continue };
            assert!(!line.to_string().contains(is_bad), "a control character is printed: {line}");
        }
        let live = live(model, &self.printed, theme, caches, size, *now);
        let _ = model.painted(&live.info);
        live.buffer
    }

    fn look(&mut self) {
        // Drawing settles where the window is.
        self.drawn();
        let kept = self.drawn();
        let before = std::mem::replace(&mut self.h.caches, Caches::inline());
        let anew = self.drawn();
        self.h.caches = before;
        assert!(kept == anew, "kept:\n{}\nanew:\n{}", rows(&kept), rows(&anew));
        let bad = kept.content().iter().find(|cell| cell.symbol().contains(is_bad));
        assert_eq!(bad, None, "a control character would reach the terminal");
        let (theme, now) = (linear_theme(), self.h.now);
        let mut caches = Caches::inline();
        let said = self.linear.next(&self.h.model, &theme, &mut caches, 60, now);
        let bad = said.lines.iter().find(|line| line.contains(is_bad));
        assert_eq!(bad, None, "nor where it is read out");
    }

    fn blow(&mut self, length: usize) {
        for _ in 0..length {
            let message = self.message();
            self.h.send(message);
            if self.random.u8(..6) == 0 {
                self.look();
            }
        }
        // One step back after the other leads to the composer.
        for _ in 0..60 {
            self.h.wait(2.0);
            self.h.send(Msg::Key(KeyPress::plain(super::key::KeyCode::Esc)));
        }
        assert!(self.h.model.overlays.is_empty(), "{:?}", self.h.model.overlays);
        self.look();
    }
}

/// Nothing of a control sequence, and nothing that turns the direction of writing round.
fn is_bad(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn rows(buffer: &Buffer) -> String {
    let row = |y| (0..buffer.area.width).map(move |x| buffer[(x, y)].symbol()).collect::<String>();
    (0..buffer.area.height).map(row).collect::<Vec<_>>().join("\n")
}

#[test]
fn no_storm_does_any_harm() {
    let number = |name: &str, otherwise: u64| {
        std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(otherwise)
    };
    let first = number("KIMI_STORM_FROM", 0);
    let harmful: Vec<u64> = (first..first + number("KIMI_STORMS", 30))
        .filter(|seed| std::panic::catch_unwind(|| Storm::new(*seed).blow(200)).is_err())
        .collect();
    assert!(harmful.is_empty(), "storms {harmful:?} (KIMI_STORM_FROM=N KIMI_STORMS=1 for one)");
}
