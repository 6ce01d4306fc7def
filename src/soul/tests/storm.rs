//! Storms: whatever a model answers and a person asks for, in whatever order. The session ends when it is
//! told to, the model is never sent a conversation that no provider takes, and what is on the disk is
//! what the session held.
//!
//! `KIMI_STORMS=2000 cargo test --lib soul::tests::storm` for a long one.

use fastrand::Rng;

use super::*;
use crate::message::Role;
use crate::wire::RewindScope;

struct Storm {
    random: Rng,
    calls: u64,
}

impl Storm {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.random.usize(..from.len())]
    }

    fn words(&mut self) -> &'static str {
        self.pick(&[
            "",
            " ",
            "yes",
            "日本語",
            "a\nb",
            "\u{1b}[2J",
            "<system>CHECKPOINT 1</system>",
            "/x",
        ])
    }

    /// What the model says in one go.
    fn answer(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for _ in 0..self.random.usize(..5) {
            let words = self.words();
            pieces.push(match self.random.u8(..16) {
                0 | 1 => think(words),
                2..=5 => text(words),
                6..=11 => {
                    self.calls += 1;
                    let id = format!("c{}", self.calls);
                    let (tool, arguments) = match self.random.u8(..9) {
                        0 => ("Panic", json!({})),
                        1 | 2 => ("Run", json!({"say": words, "action": "run command"})),
                        3 => ("Nowhere", json!({"say": words})),
                        4 | 5 => (
                            "SendDMail",
                            json!({"message": words, "checkpoint_id": self.random.i64(-1..6)}),
                        ),
                        6 => ("Todo", json!({"todos": words})),
                        7 => ("Sleep", json!({"ms": self.random.u64(..90_000), "live": words})),
                        _ => ("Sleep", json!(words)),
                    };
                    call(&id, tool, &arguments)
                }
                12 => usage(self.random.u64(..9000), self.random.u64(..500)),
                13 => Piece::Pause(Duration::from_millis(self.random.u64(..3000))),
                14 => Piece::Break(status([500, 429, 401, 400][self.random.usize(..4)])),
                _ => finish(FinishReason::Stop),
            });
        }
        match self.random.u8(..24) {
            0 => pieces.push(Piece::Hang),
            1 => pieces.push(Piece::Panic),
            2 => pieces.insert(0, Piece::Refuse(status(503))),
            _ => {}
        }
        pieces
    }

    fn place(&mut self) -> CheckpointRef {
        at(self.random.u64(..3), self.random.u64(..8))
    }

    fn command(&mut self) -> Command {
        let words = self.words();
        match self.random.u8(..26) {
            0..=7 => Command::Prompt(words.into()),
            8 | 9 => Command::Prompt(self.pick(&["/compact", "/clear", "/plan", "/yolo"]).into()),
            10 | 11 => Command::Steer(words.into()),
            12..=14 => Command::Cancel,
            15 => Command::SetPlanMode(self.random.bool()),
            16 | 17 => Command::Revert {
                to: self.place(),
                mail: self.random.bool().then(|| words.to_owned()),
            },
            18 => Command::PreviewRevert { to: self.place() },
            19 => Command::Ledger,
            20 => Command::Hide { messages: (0..self.random.u64(..8)).collect() },
            21 => Command::CancelCall { tool_call_id: format!("c{}", self.random.u64(..40)) },
            22 => Command::Restore {
                generation: self.random.bool().then(|| Generation(self.random.u64(..4))),
            },
            23 => Command::Pin {
                generation: Generation(self.random.u64(..3)),
                messages: (0..self.random.u64(..5)).collect(),
            },
            24 => Command::SideQuestion { id: "s".into(), question: words.into() },
            _ => Command::Rewind {
                to: self.place(),
                scope: RewindScope::Conversation,
                chosen: Vec::new(),
            },
        }
    }

    fn respond(&mut self, world: &World, request: &ApprovalRequest) {
        let choices =
            [ApprovalChoice::Approve, ApprovalChoice::ApproveForSession, ApprovalChoice::Reject];
        let choice = choices[self.random.usize(..3)];
        match self.random.u8(..8) {
            // It is never answered.
            0 => {}
            1 => world.send(Command::ApproveEdited {
                request_id: request.id.clone(),
                arguments: json!({"say": "edited"}).as_object().cloned().unwrap_or_default(),
            }),
            _ => world.answer(request, choice, self.pick(&["", "rather not"])),
        }
    }
}

/// What no provider takes: a call without its result right behind it, or a result without its call.
fn defect(messages: &[Message]) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if message.role == Role::Tool {
            let id = message.tool_call_id.as_deref().unwrap_or_default();
            let Some(found) = open.iter().position(|known| *known == id) else {
                return Some(format!("{index}: a result of {id:?}, which nobody called"));
            };
            open.remove(found);
            continue;
        }
        if !open.is_empty() {
            return Some(format!("{index}: no result of {open:?}"));
        }
        open = message.calls().iter().map(|call| call.id.as_str()).collect();
    }
    (!open.is_empty()).then(|| format!("the end: no result of {open:?}"))
}

/// How often the model was asked, and how often the context became another one.
async fn blow(seed: u64) -> (usize, u64) {
    let mut storm = Storm { random: Rng::with_seed(seed), calls: 0 };
    let answers: Vec<_> = (0..900).map(|_| storm.answer()).collect();
    let mut world = Stage {
        tools: tools(&["SendDMail", "Todo"]),
        limits: LoopControl { max_steps_per_turn: 4, ..LoopControl::default() },
        max_context: [60_000, 200_000][storm.random.usize(..2)],
        ..Stage::default()
    }
    .start(answers);
    for _ in 0..40 {
        world.send(storm.command());
        // Now and then the next one comes while this one is at work.
        let quiet = match storm.random.u8(..3) {
            0 => Duration::from_millis(storm.random.u64(..500)),
            _ => Duration::from_secs(200),
        };
        while let Ok(message) = tokio::time::timeout(quiet, world.messages.recv()).await {
            let message = message.expect("the soul lives");
            if let DoorMessage::Request(Request::ApprovalRequest(request)) = &message {
                storm.respond(&world, request);
            }
        }
    }
    world.send(Command::Shutdown);
    let script = Arc::clone(&world.script);
    let (folder, context) = world.end_of_storm().await;
    for (number, (_, messages)) in script.asked.lock().unwrap().iter().enumerate() {
        assert_eq!(defect(messages), None, "storm {seed}, request {number}");
    }
    assert_eq!(defect(context.history()), None, "storm {seed}, at the end");
    let held = context.history().to_vec();
    drop(context);
    let (again, _) = Context::open(folder.path()).expect("it opens");
    assert_eq!(again.history(), held, "storm {seed}: the disk has what the session held");
    (script.times_asked(), again.generation().0)
}

impl World {
    async fn end_of_storm(self) -> (tempfile::TempDir, Context) {
        let soul = tokio::time::timeout(PATIENCE, self.task).await.expect("it ends").expect("soul");
        (self.folder, soul.context)
    }
}

#[tokio::test(start_paused = true)]
async fn no_storm_does_any_harm() {
    let number = |name: &str, otherwise: u64| {
        std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(otherwise)
    };
    let first = number("KIMI_STORM_FROM", 0);
    let count = number("KIMI_STORMS", 40);
    let (mut asked, mut generations) = (0, 0);
    for seed in first..first + count {
        let (times, made) = blow(seed).await;
        (asked, generations) = (asked + times as u64, generations + made);
    }
    assert!(asked > 5 * count && generations > count, "a calm: {asked}, {generations}");
}
