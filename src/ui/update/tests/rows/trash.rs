//! The deleted sessions.

use super::super::sessions;
use super::lists::{looked_at, scrolled};
use super::{Action, Context, Row};
use crate::ui::effect::Effect;
use crate::ui::model::Model;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::sessions::{Ask, SessionList, SessionTask};
use crate::ui::testing::Harness;

/// Two deleted sessions, the first marked.
fn trash() -> Harness {
    sessions::trash(80)
}

fn second() -> Harness {
    let mut h = trash();
    h.keys("<down>");
    h
}

fn list(model: &Model) -> Option<&SessionList> {
    match model.overlays.last() {
        Some(Overlay::Sessions(list)) => Some(list),
        _ => None,
    }
}

pub(super) const TRASH: &[Row] = &[
    (Action::SelectPrevious, second, |_, h| list(&h.model).is_some_and(|list| list.marked == 0)),
    (Action::SelectNext, trash, |_, h| list(&h.model).is_some_and(|list| list.marked == 1)),
    (Action::Choose, second, |_, h| {
        h.take_effects().iter().any(|effect| match effect {
            Effect::Sessions { task, .. } => {
                matches!(&**task, SessionTask::Undelete(gone) if gone.id.0 == "s2")
            }
            _ => false,
        })
    }),
    (Action::Purge, trash, |_, h| list(&h.model).is_some_and(|list| list.ask == Some(Ask::Purge))),
    (Action::ToggleScope, trash, |was, h| {
        list(&h.model).map(|list| list.only_here) != list(was).map(|list| list.only_here)
    }),
    (Action::Open, trash, |_, h| list(&h.model).is_some_and(|list| list.looks)),
    (Action::ScrollUp, || looked_at(trash()), |was, h| scrolled(&h.model) > scrolled(was)),
    (Action::ScrollDown, || looked_at(trash()), |was, h| scrolled(&h.model) < scrolled(was)),
    (Action::ToggleTrash, trash, |_, h| h.model.context(h.now) == Context::Sessions),
];
