//! The timeline, earlier contexts, the ledger and the calls, by key.

mod pictures;

use std::sync::Arc;

use super::*;
use crate::message::{Message, Role};
use crate::session::generations::Transcript;
use crate::ui::model::Focus;
use crate::ui::model::generation::Page;
use crate::ui::model::timeline::{EntryKind, Jump};
use crate::wire::{
    ContextLedger, ContextRewritten, LedgerKind, LedgerMessage, LedgerShare, MessageFate,
    MessagesHidden, MessagesPinned, RevertPreview, RewrittenMessage, StatusUpdate,
};

fn at(generation: u64, id: u64) -> CheckpointRef {
    CheckpointRef { generation: Generation(generation), id: CheckpointId(id) }
}

fn size(messages: u64, tokens: u64) -> ContextSize {
    ContextSize { messages, tokens }
}

fn change(old: u64, new: u64) -> ContextChange {
    ContextChange {
        old_generation: Generation(old),
        new_generation: Generation(new),
        before: size(9, 900),
        after: size(3, 300),
        next_checkpoint: CheckpointId(1),
    }
}

fn tell(h: &mut Harness, extension: Extension) {
    h.event(Event::Extension(extension));
}

fn price(h: &mut Harness, to: CheckpointRef) {
    tell(
        h,
        Extension::RevertPreview(RevertPreview {
            to,
            before: size(9, 700),
            after: size(2, 100),
            messages: 7,
            files: vec!["src/a.rs".into()],
        }),
    );
}

/// A turn with two checkpoints, over.
pub(super) fn one_turn(width: u16, height: u16) -> Harness {
    let mut h = Harness::new(width, height);
    h.begin_turn("first").checkpoint(0, None, 0).step(1).checkpoint(1, Some(1), 100).text("one");
    h.usage(700).end_turn();
    h
}

fn row(index: u64, role: Role, tokens: u64) -> RewrittenMessage {
    RewrittenMessage {
        index,
        role,
        fate: MessageFate::Summarised,
        tokens,
        tool_call_id: None,
        preview: format!("message {index}"),
    }
}

/// A session whose context was compacted.
pub(super) fn compacted(width: u16, height: u16) -> Harness {
    let mut h = one_turn(width, height);
    h.begin_turn("/compact").event(Event::CompactionBegin(crate::wire::Empty {}));
    tell(
        &mut h,
        Extension::ContextRewritten(ContextRewritten {
            generation: Generation(0),
            strategy: "llm_summary".into(),
            is_fallback: false,
            messages: vec![row(0, Role::User, 20), row(1, Role::Tool, 800), row(2, Role::User, 5)],
        }),
    );
    tell(&mut h, Extension::ContextCompacted(change(0, 1)));
    h.event(Event::CompactionEnd(crate::wire::Empty {})).end_turn();
    h.take_effects();
    h
}

pub(super) fn ledger(generation: u64) -> ContextLedger {
    let message = |index: u64, kind, tokens, call: Option<&str>| LedgerMessage {
        index,
        kind,
        tokens,
        turns_ago: 2 - index.min(2),
        tool_call_id: call.map(str::to_owned),
        call: call.map(|_| "Bash ls".to_owned()),
        is_hidden: false,
        preview: format!("text {index}"),
    };
    ContextLedger {
        generation: Generation(generation),
        size: size(4, 7000),
        shares: vec![
            LedgerShare { kind: LedgerKind::System, tokens: 2500, messages: 0 },
            LedgerShare { kind: LedgerKind::Tools, tokens: 1500, messages: 0 },
            LedgerShare { kind: LedgerKind::User, tokens: 120, messages: 1 },
            LedgerShare { kind: LedgerKind::Assistant, tokens: 420, messages: 1 },
            LedgerShare { kind: LedgerKind::ToolResult, tokens: 3210, messages: 2 },
        ],
        messages: vec![
            message(0, LedgerKind::User, 120, None),
            message(1, LedgerKind::Assistant, 420, None),
            message(2, LedgerKind::ToolResult, 210, Some("t1")),
            message(3, LedgerKind::ToolResult, 3000, Some("t9")),
        ],
    }
}

#[test]
fn going_back_asks_the_engine_for_the_price_and_waits_for_it() {
    let mut h = one_turn(120, 40);
    h.take_effects();
    h.keys("<ctrl-t>r");
    assert_eq!(sent(&mut h), [Command::PreviewRevert { to: at(0, 1) }]);
    h.keys("<enter>");
    assert_eq!(sent(&mut h), [], "not before the price is known");
    price(&mut h, at(0, 0));
    h.keys("<enter>");
    assert_eq!(sent(&mut h), [], "the price of another checkpoint is none");
    price(&mut h, at(0, 1));
    let picture = h.picture();
    assert!(picture.contains("the model forgets 7 messages"), "{picture}");
    assert!(picture.contains("700 → 100 tokens") && picture.contains("src/a.rs"), "{picture}");
    h.keys("<enter>");
    assert_eq!(sent(&mut h), [Command::Revert { to: at(0, 1), mail: None }]);
    assert_eq!((h.model.focus, h.model.overlays.len()), (Focus::Composer, 0));
}

#[test]
fn a_dmail_wants_a_message_of_several_lines_if_one_likes() {
    let mut h = one_turn(80, 24);
    h.keys("<ctrl-t>d");
    price(&mut h, at(0, 1));
    h.take_effects();
    h.keys("<enter>");
    assert_eq!(sent(&mut h), [], "nothing to send yet");
    assert!(h.picture().contains("Send a D-Mail to checkpoint 1?"));
    h.keys("Read the docs<ctrl-j>first<enter>");
    let mail = Some("Read the docs\nfirst".to_owned());
    assert_eq!(sent(&mut h), [Command::Revert { to: at(0, 1), mail }]);
    assert_eq!(h.model.overlays, [], "the timeline is closed with it");
}

#[test]
fn redo_is_the_engines() {
    let mut h = one_turn(120, 40);
    h.event(reverted(1, RevertCause::User)).take_effects();
    h.keys("<ctrl-t>y");
    assert_eq!(sent(&mut h), [Command::Prompt("/redo".into())]);
    assert_eq!(h.model.focus, Focus::Composer);
    let mut h = one_turn(120, 40);
    h.begin_turn("next").take_effects();
    h.keys("<ctrl-t>y");
    assert_eq!(sent(&mut h), [], "not while a turn runs");
}

#[test]
fn a_row_of_a_change_is_walked_to_and_its_context_read_and_restored() {
    let mut h = one_turn(120, 40);
    h.event(reverted(1, RevertCause::AgentDMail)).take_effects();
    h.keys("<ctrl-t><down><down>r");
    let jump = h.model.timeline.selected_jump().map(|(jump, ended, _)| (jump, ended));
    assert_eq!(jump, Some((Jump::DMail(CheckpointId(1)), Generation(0))));
    assert_eq!(sent(&mut h), [], "a change is nothing to go back to");
    assert!(h.picture().contains("The model sent itself"), "{}", h.picture());
    h.keys("v");
    let effects = h.take_effects();
    let [Effect::ReadGeneration { id, generation, .. }] = effects.as_slice() else {
        panic!("it reads: {effects:?}");
    };
    assert_eq!(*generation, Generation(0));
    let id = *id;
    let transcript = Transcript {
        generation: Generation(0),
        system_prompt: None,
        messages: vec![Message::user("first"), Message::assistant("a thing of the past")],
        checkpoints: Vec::new(),
        bad_lines: Vec::new(),
    };
    h.send(Msg::Generation { id: crate::ui::effect::EffectId(9999), result: Err("no".into()) });
    assert!(h.picture().contains("Reading it"), "the answer to another question");
    h.send(Msg::Generation { id, result: Ok(Arc::new(transcript)) });
    let picture = h.picture();
    assert!(picture.contains("a thing of the past") && picture.contains("Context 0, as it was"));
    h.keys("<left>");
    assert_eq!(h.take_effects(), [], "there is none before the first");
    h.keys("R");
    assert!(h.picture().contains("900 tokens"), "what it held: {}", h.picture());
    h.keys("<enter>");
    assert_eq!(sent(&mut h), [Command::Restore { generation: Some(Generation(0)) }]);
    assert_eq!(h.model.overlays, []);
}

#[test]
fn the_reader_turns_to_the_next_context_and_says_what_it_cannot_read() {
    let mut h = one_turn(80, 24);
    h.event(reverted(1, RevertCause::User)).take_effects();
    h.keys("<ctrl-t><down><down>v<right>");
    let asked: Vec<_> = h
        .take_effects()
        .into_iter()
        .filter_map(|effect| match effect {
            Effect::ReadGeneration { id, generation, .. } => Some((id, generation.0)),
            _ => None,
        })
        .collect();
    assert_eq!(asked.iter().map(|(_, generation)| *generation).collect::<Vec<_>>(), [0, 1]);
    h.send(Msg::Generation { id: asked[1].0, result: Err("the file is gone".into()) });
    assert!(h.picture().contains("the file is gone"));
    h.keys("R");
    assert!(!h.model.overlays.iter().any(|overlay| matches!(overlay, Overlay::Restore(_))));
    h.keys("q");
    assert!(matches!(h.model.overlays.last(), Some(Overlay::Timeline)));
}

#[test]
fn what_a_compaction_took_is_listed_by_weight_read_and_pinned_back() {
    let mut h = compacted(120, 40);
    h.keys("<ctrl-t>p");
    let effects = h.take_effects();
    let [Effect::ReadGeneration { id, generation: Generation(0), .. }] = effects.as_slice() else {
        panic!("the messages are read: {effects:?}");
    };
    let id = *id;
    let messages =
        vec![Message::user("q"), Message::assistant("the whole text of it"), Message::user("r")];
    let transcript = Transcript {
        generation: Generation(0),
        system_prompt: None,
        messages,
        checkpoints: Vec::new(),
        bad_lines: Vec::new(),
    };
    h.send(Msg::Generation { id, result: Ok(Arc::new(transcript)) });
    let picture = h.picture();
    assert!(picture.contains("the whole text of it"), "the largest is marked: {picture}");
    h.keys("<space><down><down><space><enter>");
    assert_eq!(sent(&mut h), [Command::Pin { generation: Generation(0), messages: vec![1, 2] }]);
    assert_eq!(h.model.overlays, []);
    tell(
        &mut h,
        Extension::MessagesPinned(MessagesPinned {
            generation: Generation(0),
            messages: vec![1, 2],
            tokens: 805,
            size: size(4, 1105),
        }),
    );
    assert_eq!(h.model.status.context_tokens, Some(1105));
    assert!(h.picture().contains("2 messages of context 0 quoted"), "{}", h.picture());
    let last = h.model.timeline.entries.last().map(|entry| &entry.kind);
    assert!(
        matches!(last, Some(EntryKind::Jump { jump: Jump::Pinned(2), tokens: (300, 1105), .. })),
        "{last:?}"
    );
}

#[test]
fn without_a_choice_the_marked_message_is_pinned_and_nothing_while_a_turn_runs() {
    let mut h = compacted(80, 24);
    h.keys("<ctrl-t>p");
    h.begin_turn("go").take_effects();
    h.keys("<enter>");
    assert_eq!(sent(&mut h), []);
    h.end_turn().take_effects();
    h.keys("<enter>");
    assert_eq!(sent(&mut h), [Command::Pin { generation: Generation(0), messages: vec![1] }]);
    let mut h = one_turn(80, 24);
    h.take_effects();
    h.keys("<ctrl-t>p");
    assert_eq!(h.take_effects(), [], "nothing was taken out yet");
}

#[test]
fn the_ledger_is_asked_for_and_again_when_the_context_changes() {
    let mut h = one_turn(120, 40);
    h.take_effects();
    h.keys("/context<enter>");
    assert_eq!(sent(&mut h), [Command::Ledger]);
    assert!(h.picture().contains("Adding it up"));
    tell(&mut h, Extension::ContextLedger(ledger(0)));
    let picture = h.picture();
    assert!(picture.contains("Tool results") && picture.contains("3.2k"), "{picture}");
    h.usage(7500);
    assert_eq!(sent(&mut h), [Command::Ledger], "it has changed");
    h.event(Event::StatusUpdate(StatusUpdate::default()));
    assert_eq!(sent(&mut h), [], "that was about something else");
    h.keys("<f9>").usage(7600);
    assert_eq!(sent(&mut h), [], "nobody looks any more");
}

#[test]
fn a_result_is_hidden_by_its_number_and_nothing_else_is() {
    let mut h = one_turn(120, 40);
    h.take_effects();
    h.keys("<f9>");
    tell(&mut h, Extension::ContextLedger(ledger(0)));
    h.take_effects();
    h.keys("x");
    assert_eq!(sent(&mut h), [Command::Hide { messages: vec![3] }], "the largest is marked");
    h.keys("<down>x");
    assert_eq!(sent(&mut h), [], "what the model said cannot be hidden");
    h.keys("s");
    let Some(Overlay::Ledger(view)) = h.model.overlays.last() else { panic!("the ledger") };
    assert_eq!(view.marked_row().map(|row| row.index), Some(1), "the same one stays marked");
    assert_eq!(view.rows()[0].index, 3, "the latest first");
    h.begin_turn("go").keys("<home>x");
    assert_eq!(sent(&mut h), [], "not while a turn runs");
    h.end_turn();
    tell(
        &mut h,
        Extension::MessagesHidden(MessagesHidden { messages: vec![3], change: change(0, 1) }),
    );
    assert_eq!(h.model.status.context_tokens, Some(300));
    assert_eq!(h.model.timeline.live_count(), 2, "every checkpoint is still there");
    let addresses: Vec<String> = (0..h.model.timeline.entries.len())
        .filter_map(|row| h.model.timeline.checkpoint(row))
        .map(|entry| entry.at.to_string())
        .collect();
    assert_eq!(addresses, ["1.0", "1.1"]);
}

#[test]
fn from_the_ledger_to_the_card_of_a_result() {
    let mut h = Harness::new(120, 40);
    h.begin_turn("q").step(1).call("t1", "Bash", "{}").usage(10);
    h.result("t1", ToolReturn::ok("out", "")).end_turn();
    h.keys("<f9>");
    tell(&mut h, Extension::ContextLedger(ledger(0)));
    h.keys("<enter>");
    assert!(!h.model.overlays.is_empty(), "t9 is not in the transcript");
    h.keys("<down><down><enter>");
    assert_eq!(h.model.overlays, []);
    assert_eq!(h.model.focus, Focus::Transcript);
    let selected = h.model.transcript.selected_index().expect("selected");
    assert!(matches!(
        &h.model.transcript.cells()[selected].kind,
        CellKind::Tool(tool) if tool.call_id == "t1"
    ));
}

#[test]
fn calls_are_walked_opened_and_stopped_one_by_one() {
    for (width, height) in [(120, 40), (80, 24)] {
        let mut h = Harness::new(width, height);
        h.keys("<alt-t>");
        assert_eq!(h.model.focus, Focus::Composer, "there are none");
        h.begin_turn("q").step(1);
        h.call("t1", "Bash", r#"{"command": "sleep 9"}"#);
        h.keys("<alt-t>x");
        assert_eq!(sent(&mut h), [], "the model still writes it");
        h.keys("<esc>").call("t2", "Bash", r#"{"command": "sleep 8"}"#).usage(10).wait(7.0);
        h.keys("<alt-t>");
        assert!(h.picture().contains("sleep 8") && h.picture().contains("7s"), "{}", h.picture());
        h.keys("<up>x");
        assert_eq!(sent(&mut h), [Command::CancelCall { tool_call_id: "t1".into() }]);
        h.result("t1", ToolReturn::error("Cancelled by the user.", "Cancelled")).keys("x");
        assert_eq!(sent(&mut h), [], "it is over");
        h.keys("<enter>");
        assert_eq!((h.model.focus, h.model.overlays.len()), (Focus::Transcript, 0));
        let selected = h.model.transcript.selected_index().expect("selected");
        let cell = &h.model.transcript.cells()[selected];
        assert_eq!(cell.open, Some(true));
        assert!(matches!(&cell.kind, CellKind::Tool(tool) if tool.call_id == "t1"
                && tool.state == ToolState::Cancelled));
        h.keys("}x");
        assert_eq!(sent(&mut h), [Command::CancelCall { tool_call_id: "t2".into() }]);
    }
}

#[test]
fn the_timeline_keeps_the_files_the_mail_and_the_growth() {
    let mut h = Harness::new(120, 40);
    h.begin_turn("q").checkpoint(0, None, 0).step(1).checkpoint(1, Some(1), 100);
    h.call("t1", "EditFile", "{}").usage(10);
    let diff = crate::message::DiffBlock {
        path: "src/a.rs".into(),
        old_text: String::new(),
        new_text: "x".into(),
        old_start: 1,
        new_start: 1,
        is_summary: false,
    };
    let display = crate::message::DisplayBlock::Diff(diff);
    h.result("t1", ToolReturn::ok("", "").with_display(display));
    h.step(2).checkpoint(2, Some(2), 500).end_turn();
    assert_eq!(h.model.timeline.growth(), Some(250));
    h.keys("<ctrl-t><up>");
    let entry = h.model.timeline.selected().expect("a checkpoint");
    assert_eq!(entry.files, ["src/a.rs"]);
    assert!(h.picture().contains("Wrote src/a.rs"), "{}", h.picture());
    let Event::Extension(Extension::ContextReverted(mut told)) = reverted(1, RevertCause::User)
    else {
        panic!("a revert");
    };
    told.mail = Some("mind the gap".into());
    tell(&mut h, Extension::ContextReverted(told));
    h.keys("<down><down><down><down>");
    let picture = h.picture();
    assert!(picture.contains("Your D-Mail to checkpoint 1"), "{picture}");
    assert!(picture.contains("mind the gap"), "{picture}");
}

#[test]
fn a_resumed_session_without_a_record_asks_its_files() {
    let mut h = Harness::unopened(120, 40);
    let id = h.model.next_effect();
    h.model.opening = Some(id);
    let mut info = crate::ui::testing::info();
    info.is_resumed = true;
    info.checkpoints =
        vec![crate::wire::CheckpointCreated { at: at(0, 0), step: None, size: size(0, 0) }];
    let opened =
        crate::ui::msg::Opened { info: Arc::new(info), past: std::iter::empty().collect() };
    h.send(Msg::Opened { id, result: Ok(opened) });
    let effects = h.take_effects();
    assert!(
        effects.iter().any(|effect| matches!(effect, Effect::ListGenerations { .. })),
        "{effects:?}"
    );
    h.send(Msg::Generations { id, generations: Arc::new([]) });
    assert_eq!(h.model.timeline.live_count(), 1, "nothing told is nothing lost");
}

#[test]
fn a_page_of_the_past_is_loading_until_it_is_there() {
    let mut h = one_turn(80, 24);
    h.keys("<ctrl-t>v");
    let Some(Overlay::Generation(view)) = h.model.overlays.last() else { panic!("the reader") };
    assert_eq!(view.page, Page::Loading);
    assert!(h.picture().contains("read only"));
}
