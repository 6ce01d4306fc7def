//! Reading: the transcript, one cell on the whole screen, searching, help.

use super::super::{everykey, sent};
use super::{Action, Row};
use crate::ui::effect::Effect;
use crate::ui::model::cell::CellKind;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::transcript::Scroll;
use crate::ui::model::{Focus, Model};
use crate::ui::testing::Harness;
use crate::wire::Command;

fn at(keys: &str) -> Harness {
    everykey::after(everykey::conversation(), keys)
}

/// In the transcript, the answer in the middle selected.
fn amid() -> Harness {
    at("<tab>[k")
}

fn index(model: &Model) -> Option<usize> {
    model.transcript.selected_index()
}

fn is_prompt(kind: &CellKind) -> bool {
    matches!(kind, CellKind::User { .. })
}

fn is_call(kind: &CellKind) -> bool {
    matches!(kind, CellKind::Tool(_))
}

/// Is such a cell selected?
fn on(h: &Harness, is_it: fn(&CellKind) -> bool) -> bool {
    index(&h.model).is_some_and(|at| is_it(&h.model.transcript.cells()[at].kind))
}

fn scrolled(h: &Harness, wanted: Scroll) -> bool {
    h.model.transcript.pending.contains(&wanted)
}

fn found(model: &Model) -> Option<(usize, usize)> {
    model.search.at
}

fn copies(h: &mut Harness, wanted: fn(&str) -> bool) -> bool {
    h.take_effects()
        .iter()
        .any(|effect| matches!(effect, Effect::Copy { text, .. } if wanted(text)))
}

pub(super) const TRANSCRIPT: &[Row] = &[
    (Action::SelectPrevious, amid, |was, h| index(&h.model).map(|at| at + 1) == index(was)),
    (Action::SelectNext, amid, |was, h| index(&h.model) == index(was).map(|at| at + 1)),
    (Action::PreviousPrompt, amid, |was, h| on(h, is_prompt) && index(&h.model) < index(was)),
    (Action::NextPrompt, amid, |was, h| on(h, is_prompt) && index(&h.model) > index(was)),
    (Action::PreviousCall, amid, |was, h| on(h, is_call) && index(&h.model) < index(was)),
    (Action::NextCall, amid, |was, h| on(h, is_call) && index(&h.model) > index(was)),
    (Action::HalfUp, amid, |_, h| scrolled(h, Scroll::HalfPages(-1))),
    (Action::HalfDown, amid, |_, h| scrolled(h, Scroll::HalfPages(1))),
    (Action::Top, amid, |_, h| scrolled(h, Scroll::Top)),
    (Action::Bottom, amid, |_, h| scrolled(h, Scroll::Bottom)),
    (
        Action::Fold,
        || at("<tab>{"),
        |was, h| {
            let open =
                |model: &Model| index(model).map(|at| model.is_open(&model.transcript.cells()[at]));
            open(was) == Some(false) && open(&h.model) == Some(true)
        },
    ),
    (Action::Open, amid, |_, h| matches!(h.model.overlays.last(), Some(Overlay::Pager(_)))),
    (Action::ToggleBeside, amid, |was, h| was.diffs_beside != h.model.diffs_beside),
    (Action::Copy, amid, |_, h| copies(h, |text| text.contains("```"))),
    (Action::CopyCode, amid, |_, h| copies(h, |text| text.trim() == "needle")),
    (Action::Search, amid, |_, h| h.model.search.typing.is_some()),
    (Action::NextMatch, || at("<tab>g/needle<enter>nn"), |was, h| found(&h.model) > found(was)),
    (Action::PreviousMatch, || at("<tab>g/needle<enter>nn"), |was, h| found(&h.model) < found(was)),
    (
        Action::CancelCall,
        || {
            let mut h = everykey::running();
            h.call("t9", "Bash", "{}").usage(10);
            h.picture();
            h.keys("<tab>G").picture();
            h.keys("{}");
            h
        },
        |_, h| sent(h) == [Command::CancelCall { tool_call_id: "t9".into() }],
    ),
    (Action::Back, amid, |_, h| h.model.focus == Focus::Composer),
];

pub(super) const SEARCH: &[Row] = &[
    (
        Action::Choose,
        || at("<tab>/needle"),
        |_, h| h.model.search.typing.is_none() && h.model.search.pattern == "needle",
    ),
    (
        Action::Previous,
        || at("<tab>/needle<enter>/"),
        |_, h| h.model.search.typing.as_ref().is_some_and(|typing| typing.text() == "needle"),
    ),
];

/// The long result of a call on the whole screen, in its middle.
fn pager() -> Harness {
    at("<tab>{od")
}

/// The same, at its beginning, each of its lines a match.
fn matches() -> Harness {
    at("<tab>{og/needle<enter>nn")
}

fn top(model: &Model) -> Option<i64> {
    match model.overlays.last() {
        Some(Overlay::Pager(pager)) => i64::try_from(pager.top).ok(),
        _ => None,
    }
}

/// By how many lines the pager moved down.
fn moved(was: &Model, h: &mut Harness) -> i64 {
    h.picture();
    top(&h.model).unwrap_or(0) - top(was).unwrap_or(0)
}

pub(super) const PAGER: &[Row] = &[
    (Action::ScrollUp, pager, |was, h| moved(was, h) == -1),
    (Action::ScrollDown, pager, |was, h| moved(was, h) == 1),
    (Action::HalfUp, pager, |was, h| (-18..-8).contains(&moved(was, h))),
    (Action::HalfDown, pager, |was, h| (8..18).contains(&moved(was, h))),
    (Action::PageUp, || at("<tab>{oG"), |was, h| (-30..-20).contains(&moved(was, h))),
    (Action::PageDown, || at("<tab>{og"), |was, h| (20..30).contains(&moved(was, h))),
    (Action::ToggleBeside, pager, |was, h| was.diffs_beside != h.model.diffs_beside),
    (Action::Top, pager, |_, h| {
        h.picture();
        top(&h.model) == Some(0)
    }),
    (Action::Bottom, pager, |was, h| moved(was, h) > 8),
    (Action::Search, pager, |_, h| h.model.search.typing.is_some()),
    (Action::NextMatch, matches, |was, h| moved(was, h) > 0),
    (Action::PreviousMatch, matches, |was, h| moved(was, h) < 0),
    (Action::Copy, pager, |_, h| copies(h, |text| text.matches("needle").count() == 60)),
    (Action::Back, pager, |_, h| h.model.overlays.is_empty()),
];

fn help() -> Harness {
    at("<f1><down><down>")
}

fn scroll(h: &Harness) -> Option<u16> {
    match h.model.overlays.last() {
        Some(Overlay::Help { scroll }) => Some(*scroll),
        _ => None,
    }
}

pub(super) const HELP: &[Row] = &[
    (Action::ScrollUp, help, |_, h| scroll(h) == Some(1)),
    (Action::ScrollDown, help, |_, h| scroll(h) == Some(3)),
];
