//! The composer.

use super::super::{everykey, sent};
use super::{Action, Row};
use crate::ui::effect::Effect;
use crate::ui::model::Focus;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::picker::Choice;
use crate::ui::testing::Harness;
use crate::wire::Command;

fn typed(keys: &str) -> Harness {
    everykey::after(everykey::conversation(), keys)
}

fn two() -> Harness {
    typed("one two")
}

/// Before the last word.
fn before_word() -> Harness {
    typed("one two<left><left><left>")
}

fn at_start() -> Harness {
    typed("one two<ctrl-a>")
}

fn text(h: &Harness) -> String {
    h.model.composer.editor.text()
}

/// The text once a mark is typed where the cursor is.
fn marked(h: &mut Harness) -> String {
    h.keys("|");
    text(h)
}

pub(super) const COMPOSER: &[Row] = &[
    (Action::Submit, two, |_, h| sent(h) == [Command::Prompt("one two".into())]),
    (Action::Newline, two, |_, h| text(h) == "one two\n"),
    (
        Action::Steer,
        || everykey::after(everykey::running(), "one"),
        |_, h| sent(h) == [Command::Steer("one".into())],
    ),
    (Action::Complete, || typed("/comp"), |_, h| text(h) == "/compact "),
    (Action::SearchHistory, two, |_, h| {
        matches!(h.model.overlays.last(), Some(Overlay::Picker(picker))
            if picker.marked_row().is_some_and(|row| row.choice == Choice::Text("old".into())))
    }),
    (Action::ExternalEditor, two, |_, h| {
        h.take_effects().contains(&Effect::EditExternally("one two".into()))
    }),
    (Action::ToggleShell, two, |_, h| h.model.composer.is_shell),
    (
        Action::FocusQueue,
        || everykey::after(everykey::running(), "waits<enter>"),
        |_, h| h.model.focus == Focus::Queue,
    ),
    (Action::Stash, two, |_, h| text(h).is_empty() && h.model.composer.stash == ["one two"]),
    (Action::PasteImage, two, |_, h| {
        h.take_effects().iter().any(|effect| matches!(effect, Effect::ReadImage { path: None, .. }))
    }),
    (Action::KillToEnd, before_word, |_, h| text(h) == "one "),
    (Action::KillToStart, before_word, |_, h| text(h) == "two"),
    (Action::KillWord, two, |_, h| text(h) == "one "),
    (Action::KillNextWord, at_start, |_, h| text(h) == " two"),
    (Action::Yank, || typed("one two<ctrl-w>"), |_, h| text(h) == "one two"),
    (Action::YankPop, || typed("one<ctrl-w>x two<ctrl-w><ctrl-y>"), |_, h| text(h) == "x one"),
    (Action::Undo, || typed("one two<ctrl-w>"), |_, h| text(h) == "one two"),
    (Action::Redo, || typed("one two<ctrl-w><alt-z>"), |_, h| text(h) == "one "),
    (Action::PreviousWord, two, |_, h| marked(h) == "one |two"),
    (Action::NextWord, at_start, |_, h| marked(h) == "one |two"),
    (Action::Previous, || typed(""), |_, h| text(h) == "old"),
    (Action::Next, || typed("<up><up>"), |_, h| text(h) == "old"),
];
