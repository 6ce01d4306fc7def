//! What holds everywhere.

use super::super::{everykey, sent};
use super::{Action, Row};
use crate::ui::effect::{Effect, OpenTarget};
use crate::ui::model::layout::{Pane, PaneLayout};
use crate::ui::model::overlay::Overlay;
use crate::ui::model::transcript::Scroll;
use crate::ui::model::{Focus, Model};
use crate::ui::testing::Harness;
use crate::wire::Command;

use everykey::{conversation, running};

fn over(h: &Harness) -> Option<&Overlay> {
    h.model.overlays.last()
}

fn scrolled(h: &Harness, wanted: Scroll) -> bool {
    h.model.transcript.pending == [wanted]
}

fn prompts(h: &mut Harness, wanted: &str) -> bool {
    sent(h) == [Command::Prompt(wanted.into())]
}

fn flipped(was: &Model, h: &Harness, of: fn(&Model) -> bool) -> bool {
    of(was) != of(&h.model)
}

fn hides(h: &Harness, pane: Pane) -> bool {
    h.model.screen.layout().hidden.has(pane)
}

pub(super) const GLOBAL: &[Row] = &[
    (Action::Back, running, |_, h| sent(h) == [Command::Cancel]),
    (Action::Interrupt, running, |_, h| sent(h) == [Command::Cancel]),
    (Action::Quit, conversation, |_, h| h.take_effects().contains(&Effect::Quit)),
    (Action::Help, conversation, |_, h| matches!(over(h), Some(Overlay::Help { .. }))),
    (Action::ToggleSidebar, conversation, |was, h| {
        flipped(was, h, |model| model.screen.layout().panes)
    }),
    (Action::FocusTimeline, conversation, |_, h| h.model.focus == Focus::Timeline),
    (Action::Sessions, conversation, |_, h| matches!(over(h), Some(Overlay::Sessions(_)))),
    (
        Action::Palette,
        conversation,
        |_, h| matches!(over(h), Some(Overlay::Picker(picker)) if picker.title == "Actions and commands"),
    ),
    (Action::ContextLedger, conversation, |_, h| {
        matches!(over(h), Some(Overlay::Ledger(_))) && sent(h) == [Command::Ledger]
    }),
    (Action::FocusCalls, conversation, |_, h| h.model.focus == Focus::Calls),
    (Action::Tasks, conversation, |_, h| matches!(over(h), Some(Overlay::Tasks(_)))),
    (Action::NewSession, conversation, |_, h| {
        matches!(h.take_effects().last(), Some(Effect::Open { target: OpenTarget::New, .. }))
    }),
    (Action::TogglePlan, conversation, |_, h| sent(h) == [Command::SetPlanMode(true)]),
    (Action::Compact, conversation, |_, h| prompts(h, "/compact")),
    (Action::Clear, conversation, |_, h| matches!(over(h), Some(Overlay::ConfirmClear))),
    (Action::ToggleDetails, conversation, |was, h| flipped(was, h, |model| model.shows_details)),
    (Action::PageUp, conversation, |_, h| scrolled(h, Scroll::Pages(-1))),
    (Action::PageDown, conversation, |_, h| scrolled(h, Scroll::Pages(1))),
    (Action::ScrollUp, conversation, |_, h| scrolled(h, Scroll::Lines(-1))),
    (Action::ScrollDown, conversation, |_, h| scrolled(h, Scroll::Lines(1))),
    (Action::Top, conversation, |_, h| scrolled(h, Scroll::Top)),
    (Action::Bottom, conversation, |_, h| scrolled(h, Scroll::Bottom)),
    (Action::Zoom, conversation, |was, h| flipped(was, h, |model| model.screen.is_zoomed)),
    (Action::WidenPanes, conversation, |was, h| {
        h.model.screen.sidebar_columns() > was.screen.sidebar_columns()
    }),
    (
        Action::NarrowPanes,
        || everykey::after(conversation(), "<alt-=><alt-=>"),
        |was, h| h.model.screen.sidebar_columns() < was.screen.sidebar_columns(),
    ),
    (Action::ToggleContext, conversation, |_, h| hides(h, Pane::Context)),
    (Action::ToggleTodos, conversation, |_, h| hides(h, Pane::Todos)),
    (Action::ToggleTools, conversation, |_, h| hides(h, Pane::Tools)),
    (Action::ToggleTimeline, conversation, |_, h| hides(h, Pane::Timeline)),
    (
        Action::ResetLayout,
        || everykey::after(conversation(), "<alt-=>"),
        |_, h| *h.model.screen.layout() == PaneLayout::default(),
    ),
    (Action::ToggleMouse, conversation, |_, h| {
        h.take_effects().contains(&Effect::TakeMouse(false))
    }),
    (Action::ToggleVim, conversation, |was, h| {
        flipped(was, h, |model| model.composer.vim.is_some())
    }),
    (Action::Redraw, conversation, |_, h| h.take_effects().contains(&Effect::Redraw)),
    (Action::Suspend, conversation, |_, h| h.take_effects().contains(&Effect::Suspend)),
];
