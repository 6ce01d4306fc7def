//! The timeline and what is reached from it: earlier contexts, what was taken out, files, the ledger.

use super::super::{rewind, time};
use super::{Action, Row};
use crate::message::Generation;
use crate::message::Message;
use crate::session::generations::Transcript;
use crate::ui::effect::Effect;
use crate::ui::model::generation::{GenerationView, LossList};
use crate::ui::model::ledger::LedgerView;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::rewind::RewindView;
use crate::ui::model::transcript::Scroll;
use crate::ui::model::{Focus, Model};
use crate::ui::msg::Msg;
use crate::ui::testing::Harness;
use crate::wire::{Command, Event, Extension, LedgerKind, LedgerMessage, RevertCause, RewindScope};

use super::super::{reverted, sent};

fn on_timeline() -> Harness {
    let mut h = time::one_turn(120, 40);
    h.begin_turn("second").checkpoint(2, None, 300).step(1).checkpoint(3, Some(1), 400);
    h.call("t1", "Bash", "{}").usage(500).text("two").end_turn();
    h.keys("<ctrl-t><up>");
    h
}

/// The timeline with the row of a revert marked.
fn after_revert() -> Harness {
    let mut h = time::one_turn(120, 40);
    h.event(reverted(1, RevertCause::User));
    h.keys("<ctrl-t><down><down>");
    h
}

fn selected(model: &Model) -> usize {
    model.timeline.selected.unwrap_or(usize::MAX)
}

fn is_revert(h: &Harness, mail: bool) -> bool {
    matches!(h.model.overlays.last(), Some(Overlay::Revert(dialog)) if dialog.is_mail == mail)
}

fn is_restore(h: &Harness, wanted: u64) -> bool {
    let last = h.model.overlays.last();
    matches!(last, Some(Overlay::Restore(restore)) if restore.generation == Generation(wanted))
}

fn asks_rewind(h: &mut Harness, wanted: RewindScope) -> bool {
    matches!(sent(h).as_slice(),
        [Command::PreviewRewind { to: Some(_), scope }] if *scope == wanted)
}

pub(super) const TIMELINE: &[Row] = &[
    (Action::SelectPrevious, on_timeline, |was, h| selected(&h.model) < selected(was)),
    (Action::SelectNext, on_timeline, |was, h| selected(&h.model) > selected(was)),
    (Action::Choose, on_timeline, |_, h| {
        matches!(h.model.transcript.pending.last(), Some(Scroll::To(_)))
    }),
    (Action::Revert, on_timeline, |_, h| is_revert(h, false)),
    (Action::RewindFiles, on_timeline, |_, h| asks_rewind(h, RewindScope::Files)),
    (Action::RewindBoth, on_timeline, |_, h| asks_rewind(h, RewindScope::Both)),
    (Action::RedoRewind, on_timeline, |_, h| {
        sent(h) == [Command::PreviewRewind { to: None, scope: RewindScope::Both }]
    }),
    (Action::DMail, on_timeline, |_, h| is_revert(h, true)),
    (Action::RedoRevert, on_timeline, |_, h| sent(h) == [Command::Prompt("/redo".into())]),
    (Action::ViewGeneration, on_timeline, |_, h| {
        matches!(
            h.take_effects().last(),
            Some(Effect::ReadGeneration { generation: Generation(0), .. })
        )
    }),
    (Action::RestoreGeneration, after_revert, |_, h| is_restore(h, 0)),
    (
        Action::Losses,
        || {
            let mut h = time::compacted(120, 40);
            h.keys("<ctrl-t>");
            h
        },
        |_, h| matches!(h.model.overlays.last(), Some(Overlay::Losses(_))),
    ),
    (Action::FocusCalls, on_timeline, |_, h| h.model.focus == Focus::Calls),
];

/// A long context of the past on the whole screen, at its end.
fn past() -> Harness {
    let mut h = after_revert();
    h.take_effects();
    h.keys("v");
    let effects = h.take_effects();
    let Some(Effect::ReadGeneration { id, .. }) = effects.last() else { panic!("not read") };
    let transcript = Transcript {
        generation: Generation(0),
        system_prompt: None,
        messages: (0..200).map(|n| Message::user(format!("message {n}"))).collect(),
        checkpoints: Vec::new(),
        bad_lines: Vec::new(),
    };
    h.send(Msg::Generation { id: *id, result: Ok(std::sync::Arc::new(transcript)) });
    h.picture();
    h
}

/// The same, somewhere in its middle.
fn amid() -> Harness {
    let mut h = past();
    h.keys("bbb").picture();
    h
}

/// The same, at a match of what was searched for.
fn searched() -> Harness {
    let mut h = amid();
    h.keys("/message 1?5<enter>").picture();
    h
}

fn view(model: &Model) -> Option<&GenerationView> {
    match model.overlays.last() {
        Some(Overlay::Generation(view)) => Some(view),
        _ => None,
    }
}

/// By how many lines the reader moved down.
fn moved(was: &Model, h: &mut Harness) -> i64 {
    h.picture();
    let top = |model| view(model).map_or(0, |view| i64::try_from(view.top).unwrap_or(0));
    top(&h.model) - top(was)
}

fn reads(h: &Harness, wanted: u64) -> bool {
    view(&h.model).is_some_and(|view| view.generation == Generation(wanted))
}

pub(super) const PAST: &[Row] = &[
    (Action::ScrollUp, amid, |was, h| moved(was, h) == -1),
    (Action::ScrollDown, amid, |was, h| moved(was, h) == 1),
    (Action::HalfUp, amid, |was, h| (-25..-10).contains(&moved(was, h))),
    (Action::HalfDown, amid, |was, h| (10..25).contains(&moved(was, h))),
    (Action::PageUp, amid, |was, h| (-40..-30).contains(&moved(was, h))),
    (Action::PageDown, amid, |was, h| (30..40).contains(&moved(was, h))),
    (Action::Top, amid, |_, h| {
        h.picture();
        view(&h.model).is_some_and(|view| view.top == 0)
    }),
    (Action::Bottom, amid, |was, h| moved(was, h) > 80),
    (Action::Search, amid, |_, h| h.model.search.typing.is_some()),
    (Action::NextMatch, searched, |was, h| moved(was, h) > 0),
    (Action::PreviousMatch, searched, |was, h| moved(was, h) < 0),
    (
        Action::PreviousGeneration,
        || {
            let mut h = past();
            h.keys("<right>");
            h
        },
        |_, h| reads(h, 0),
    ),
    (Action::NextGeneration, past, |_, h| reads(h, 1)),
    (Action::RestoreGeneration, past, |_, h| is_restore(h, 0)),
    (Action::Back, past, |_, h| view(&h.model).is_none()),
];

fn losses() -> Harness {
    let mut h = time::compacted(120, 40);
    h.keys("<ctrl-t>p<down>");
    h
}

fn list(model: &Model) -> Option<&LossList> {
    match model.overlays.last() {
        Some(Overlay::Losses(list)) => Some(list),
        _ => None,
    }
}

fn lost(h: &Harness, wanted: usize) -> bool {
    list(&h.model).is_some_and(|list| list.marked == wanted)
}

pub(super) const LOSSES: &[Row] = &[
    (Action::SelectPrevious, losses, |_, h| lost(h, 0)),
    (Action::SelectNext, losses, |_, h| lost(h, 2)),
    (Action::ToggleOption, losses, |_, h| {
        // The second largest is the first message.
        list(&h.model).is_some_and(|list| list.chosen.iter().eq(&[0]))
    }),
    (Action::Choose, losses, |_, h| {
        sent(h) == [Command::Pin { generation: Generation(0), messages: vec![0] }]
    }),
    (Action::ViewGeneration, losses, |_, h| reads(h, 0)),
    (Action::RestoreGeneration, losses, |_, h| is_restore(h, 0)),
    (Action::Back, losses, |_, h| list(&h.model).is_none()),
];

/// The dry run of taking files back, a conflict marked.
fn dry_run() -> Harness {
    let mut h = rewind::stage();
    let Event::Extension(Extension::RewindPreview(mut preview)) = rewind::preview() else {
        panic!("a dry run")
    };
    preview.files[1].diff = Some("+line\n".repeat(50));
    h.event(Event::Extension(Extension::RewindPreview(preview)));
    h.keys("<down>");
    h
}

fn dry(model: &Model) -> Option<&RewindView> {
    match model.overlays.last() {
        Some(Overlay::Rewind(view)) => Some(view),
        _ => None,
    }
}

pub(super) const REWIND: &[Row] = &[
    (Action::SelectPrevious, dry_run, |_, h| dry(&h.model).is_some_and(|view| view.marked == 0)),
    (Action::SelectNext, dry_run, |_, h| dry(&h.model).is_some_and(|view| view.marked == 2)),
    (Action::ToggleOption, dry_run, |_, h| {
        dry(&h.model).is_some_and(|view| view.chosen.iter().eq(["/proj/src/b.rs"]))
    }),
    (
        Action::PageUp,
        || {
            let mut h = dry_run();
            h.keys("<pagedown><pagedown>");
            h
        },
        |was, h| dry(&h.model).map(|view| view.top + 8) == dry(was).map(|view| view.top),
    ),
    (Action::PageDown, dry_run, |_, h| dry(&h.model).is_some_and(|view| view.top == 8)),
    (Action::Choose, dry_run, |_, h| {
        matches!(sent(h).as_slice(), [Command::Rewind { scope: RewindScope::Both, .. }])
    }),
];

/// The ledger with a row in its middle marked.
fn ledger() -> Harness {
    let mut h = time::one_turn(120, 40);
    h.begin_turn("q").step(1).call("t1", "Bash", "{}").usage(10).end_turn();
    h.keys("<f9>");
    let mut told = time::ledger(0);
    told.messages.extend((4..40).map(|index| LedgerMessage {
        index,
        kind: LedgerKind::User,
        tokens: 100 - index,
        turns_ago: 0,
        tool_call_id: None,
        call: None,
        is_hidden: false,
        preview: String::new(),
    }));
    h.event(Event::Extension(Extension::ContextLedger(told)));
    h.keys("<pagedown><down><down>");
    h
}

/// The same, the result of a tool that is shown marked.
fn ledger_on_result() -> Harness {
    let mut h = ledger();
    h.keys("<home><down><down>");
    h
}

fn entry(model: &Model) -> Option<&LedgerView> {
    match model.overlays.last() {
        Some(Overlay::Ledger(view)) => Some(view),
        _ => None,
    }
}

fn marks(h: &Harness, wanted: usize) -> bool {
    entry(&h.model).is_some_and(|view| view.marked == wanted)
}

pub(super) const LEDGER: &[Row] = &[
    (Action::SelectPrevious, ledger, |_, h| marks(h, 11)),
    (Action::SelectNext, ledger, |_, h| marks(h, 13)),
    (Action::PageUp, ledger, |_, h| marks(h, 2)),
    (Action::PageDown, ledger, |_, h| marks(h, 22)),
    (Action::Top, ledger, |_, h| marks(h, 0)),
    (Action::Bottom, ledger, |_, h| marks(h, 39)),
    (Action::Choose, ledger_on_result, |_, h| {
        h.model.overlays.is_empty() && h.model.focus == Focus::Transcript
    }),
    (Action::HideResult, ledger_on_result, |_, h| sent(h) == [Command::Hide { messages: vec![2] }]),
    (Action::LedgerCosts, ledger, |_, h| entry(&h.model).is_some_and(|view| view.by_call)),
    (Action::SortLedger, ledger, |_, h| entry(&h.model).is_some_and(|view| view.by_age)),
    (Action::Back, ledger, |_, h| entry(&h.model).is_none()),
];
