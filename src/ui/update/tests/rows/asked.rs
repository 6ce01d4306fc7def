//! What is asked: approvals, questions, and what is given up.

use super::super::{everykey, sent};
use super::{Action, Row};
use crate::ui::effect::Effect;
use crate::ui::model::Model;
use crate::ui::model::question::Asking;
use crate::ui::testing::Harness;
use crate::wire::{ApprovalChoice, Command, Response};

/// The answers that were given: to which requests, and which.
fn given(h: &mut Harness) -> Vec<(String, ApprovalChoice)> {
    let answers = sent(h).into_iter().filter_map(|command| match command {
        Command::Respond(Response::Approval(answer)) => Some((answer.request_id, answer.response)),
        _ => None,
    });
    answers.collect()
}

fn gave(h: &mut Harness, choice: ApprovalChoice, ids: &[&str]) -> bool {
    let wanted: Vec<_> = ids.iter().map(|id| ((*id).to_owned(), choice)).collect();
    given(h) == wanted
}

/// The second answer marked, a wider rule offered.
fn moved() -> Harness {
    everykey::after(everykey::asked(), "<right><down>")
}

pub(super) const APPROVAL: &[Row] = &[
    (Action::ToggleBeside, moved, |was, h| was.diffs_beside != h.model.diffs_beside),
    (Action::Approve, moved, |_, h| gave(h, ApprovalChoice::Approve, &["a1"])),
    (Action::ApproveForSession, moved, |_, h| gave(h, ApprovalChoice::ApproveForSession, &["a1"])),
    (Action::ApproveByRule, moved, |_, h| {
        // The rule goes with the answer.
        let commands = sent(h);
        commands.iter().any(|command| format!("{command:?}").contains("git"))
    }),
    (Action::WidenRule, everykey::asked, |was, h| h.model.approvals.rule() != was.approvals.rule()),
    (Action::NarrowRule, moved, |was, h| h.model.approvals.rule() != was.approvals.rule()),
    (Action::RuleScope, moved, |was, h| h.model.approvals.scope != was.approvals.scope),
    (Action::ApproveAll, moved, |_, h| gave(h, ApprovalChoice::Approve, &["a1", "a2"])),
    (Action::RejectAll, moved, |_, h| gave(h, ApprovalChoice::Reject, &["a1", "a2"])),
    (Action::EditCommand, moved, |_, h| {
        let written = h.model.approvals.feedback.as_ref();
        h.model.approvals.edits_command
            && written.is_some_and(|editor| editor.text() == "git commit -m 'x'")
    }),
    (Action::EditContent, moved, |_, h| {
        h.take_effects().contains(&Effect::EditExternally("y".into()))
    }),
    (Action::Open, moved, |_, h| h.model.approvals.is_expanded),
    (Action::Reject, moved, |_, h| gave(h, ApprovalChoice::Reject, &["a1"])),
    (Action::RejectWithFeedback, moved, |_, h| {
        !h.model.approvals.edits_command
            && h.model.approvals.feedback.as_ref().is_some_and(|editor| editor.text().is_empty())
    }),
    (Action::SelectPrevious, moved, |_, h| h.model.approvals.marked == 0),
    (Action::SelectNext, moved, |_, h| h.model.approvals.marked == 2),
    (Action::Choose, moved, |_, h| gave(h, ApprovalChoice::ApproveForSession, &["a1"])),
];

fn one() -> Harness {
    everykey::questions(false)
}

fn second_option() -> Harness {
    everykey::after(everykey::questions(false), "<down>")
}

fn several() -> Harness {
    everykey::questions(true)
}

fn asking(model: &Model) -> Option<&Asking> {
    model.questions.current()
}

/// Is this the answer to the first question?
fn answered(h: &Harness, wanted: &str) -> bool {
    asking(&h.model).is_some_and(|asking| asking.tabs[0].answer.as_deref() == Some(wanted))
}

fn marks(h: &Harness, wanted: usize) -> bool {
    asking(&h.model).is_some_and(|asking| asking.tabs[0].marked == wanted)
}

pub(super) const QUESTION: &[Row] = &[
    (Action::Choose, second_option, |_, h| answered(h, "b")),
    (Action::ToggleOption, several, |_, h| {
        asking(&h.model).is_some_and(|asking| asking.tabs[0].chosen.contains(&0))
    }),
    (Action::Option(1), one, |_, h| answered(h, "a")),
    (Action::Option(2), one, |_, h| answered(h, "b")),
    (Action::Option(3), one, |_, h| answered(h, "c")),
    (Action::Option(4), one, |_, h| answered(h, "d")),
    (Action::Option(5), one, |_, h| answered(h, "e")),
    (Action::Option(6), one, |_, h| answered(h, "f")),
    (Action::SelectPrevious, second_option, |_, h| marks(h, 0)),
    (Action::SelectNext, second_option, |_, h| marks(h, 2)),
    (
        Action::PreviousQuestion,
        || everykey::after(everykey::questions(false), "<right>"),
        |_, h| asking(&h.model).is_some_and(|asking| asking.at == 0),
    ),
    (Action::NextQuestion, one, |_, h| asking(&h.model).is_some_and(|asking| asking.at == 1)),
    (Action::Dismiss, one, |_, h| {
        asking(&h.model).is_none() && matches!(sent(h).as_slice(), [Command::Respond(_)])
    }),
];

pub(super) const DIALOG: &[Row] = &[(
    Action::Choose,
    || everykey::after(everykey::conversation(), "<f8>"),
    |_, h| sent(h) == [Command::Prompt("/clear".into())],
)];
