//! What waits for the running turn to end.

use super::super::{everykey, sent};
use super::{Action, Row};
use crate::ui::model::Focus;
use crate::ui::testing::Harness;
use crate::wire::Command;

/// A turn runs and three prompts wait, the one in the middle marked.
fn queued() -> Harness {
    everykey::after(everykey::running(), "one<enter>two<enter>three<enter><alt-q><up>")
}

fn waiting(h: &Harness) -> Vec<&str> {
    h.model.composer.queue.iter().map(String::as_str).collect()
}

pub(super) const QUEUE: &[Row] = &[
    (Action::SelectPrevious, queued, |_, h| h.model.queue.marked == 0),
    (Action::SelectNext, queued, |_, h| h.model.queue.marked == 2),
    (Action::EditQueued, queued, |_, h| h.model.queue.writing.is_some()),
    (Action::Steer, queued, |_, h| {
        sent(h) == [Command::Steer("two".into())] && waiting(h) == ["one", "three"]
    }),
    (Action::DropQueued, queued, |_, h| waiting(h) == ["one", "three"]),
    (Action::TakeBack, queued, |_, h| {
        waiting(h) == ["one", "three"] && h.model.composer.editor.text() == "two"
    }),
    (Action::MoveUp, queued, |_, h| waiting(h) == ["two", "one", "three"]),
    (Action::MoveDown, queued, |_, h| waiting(h) == ["one", "three", "two"]),
    (Action::Back, queued, |_, h| h.model.focus == Focus::Composer),
];
