//! Which keys the last line names: those that matter most for what goes on. The way on, the way back and
//! the way to help come before all others, so that a narrow screen keeps them.

use ratatui::layout::Rect;

use super::super::keymap::{Action, Context};
use super::super::model::Model;
use super::super::model::approval::Answer;
use super::super::model::overlay::Overlay;
use super::super::model::sessions::Ask;
use super::super::model::setup::{Setup, Stage};
use super::super::model::status::Activity;
use super::leader;

/// A key to name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hint {
    /// The key.
    pub key: String,
    /// What it does, in a word or two.
    pub word: &'static str,
    /// What must go first when there is little room; 0 goes last.
    pub rank: u8,
}

/// From this rank on hints give way to everything else in the line.
pub(super) const EXTRA: u8 = 10;

/// What goes first of all.
const LAST: u8 = 100;

/// The keys that help now, in the order they are shown in.
pub(super) fn hints(model: &Model, now: f64) -> Vec<Hint> {
    if let Some(chord) = &model.chord {
        let screen = Rect::new(0, 0, model.screen.width, model.screen.height.saturating_sub(1));
        if model.wants_full_screen() && leader::height(model, screen).is_some() {
            return global(model, Action::Back, "back", 0).into_iter().collect();
        }
        let followers = model.keymap.followers(chord.context, &chord.keys);
        let rank = |(index, (key, word))| Hint { key, word, rank: extra(index) };
        return followers.into_iter().enumerate().map(rank).collect();
    }
    if model.status.toast.is_some() || model.leave_armed.is_some() {
        return Vec::new();
    }
    let context = model.context(now);
    match context {
        Context::Approval if model.approvals.feedback.is_some() => {
            let word = if model.approvals.edits_command { "run it" } else { "reject and send" };
            writing(model, word)
        }
        Context::Question if model.questions.current().is_some_and(|q| q.writing.is_some()) => {
            writing(model, "answer")
        }
        Context::Queue if model.queue.writing.is_some() => writing(model, "keep it so"),
        Context::Composer => composing(model),
        context => match model.overlays.last() {
            Some(Overlay::Setup(setup)) => connecting(model, setup),
            Some(Overlay::Sessions(list)) => match &list.ask {
                Some(ask) => asked(model, ask),
                None => elsewhere(model, context),
            },
            _ => elsewhere(model, context),
        },
    }
}

/// A service is connected: what Enter does depends on what is asked.
fn connecting(model: &Model, setup: &Setup) -> Vec<Hint> {
    let word = match setup.stage {
        Stage::Services => Some("connect"),
        Stage::Address | Stage::Key => Some("go on"),
        Stage::Models(_) => Some("use this model"),
        Stage::Login(_) | Stage::Trying => None,
    };
    let go_on = word.and_then(|word| hint(model, Context::Picker, Action::Choose, word, 0));
    [go_on, global(model, Action::Back, "back", 1)].into_iter().flatten().collect()
}

/// Something is asked about a session.
fn asked(model: &Model, ask: &Ask) -> Vec<Hint> {
    let word = match ask {
        Ask::Rename(_) => "rename",
        Ask::Export(_) => "export",
        Ask::Purge => "delete for good",
    };
    let chosen = hint(model, Context::Sessions, Action::Choose, word, 0);
    let moved = matches!(ask, Ask::Export(_))
        .then(|| hint(model, Context::Sessions, Action::SelectPrevious, "move", LAST));
    let back = global(model, Action::Back, "leave it", 1);
    [moved.flatten(), chosen, back].into_iter().flatten().collect()
}

fn extra(index: usize) -> u8 {
    u8::try_from(index).map_or(u8::MAX, |index| index.saturating_add(EXTRA))
}

fn hint(
    model: &Model,
    context: Context,
    action: Action,
    word: &'static str,
    rank: u8,
) -> Option<Hint> {
    model.keymap.key_for(context, action).map(|key| Hint { key, word, rank })
}

fn global(model: &Model, action: Action, word: &'static str, rank: u8) -> Option<Hint> {
    hint(model, Context::Global, action, word, rank)
}

/// A text is written that Enter sends.
fn writing(model: &Model, word: &'static str) -> Vec<Hint> {
    let send = hint(model, Context::Composer, Action::Submit, word, 0);
    [send, global(model, Action::Back, "back", 1)].into_iter().flatten().collect()
}

fn composing(model: &Model) -> Vec<Hint> {
    let is_written = !model.composer.editor.is_empty();
    let first = match model.status.activity {
        Activity::Running { cancelling: true, .. } => [None, None],
        Activity::Running { .. } => [
            global(model, Action::Back, "stop", 0),
            hint(model, Context::Composer, Action::Steer, "steer", 3).filter(|_| is_written),
        ],
        _ if model.shell.is_some() => [global(model, Action::Back, "stop", 0), None],
        Activity::Gone => [
            global(model, Action::Sessions, "sessions", 0),
            global(model, Action::NewSession, "new session", 2),
        ],
        _ => [hint(model, Context::Composer, Action::Submit, "send", 2), None],
    };
    let is_gone = model.status.activity == Activity::Gone;
    let others = [
        global(model, Action::Help, "help", 1),
        global(model, Action::Palette, "actions", 3),
        global(model, Action::FocusTimeline, "timeline", extra(0)),
        global(model, Action::Sessions, "sessions", extra(1)).filter(|_| !is_gone),
    ];
    first.into_iter().chain(others).flatten().collect()
}

/// What the keymap names for a place, the way back and the way to help.
fn elsewhere(model: &Model, context: Context) -> Vec<Hint> {
    // Not every request is for a command.
    let edits = context == Context::Approval && model.approvals.answers().contains(&Answer::Edit);
    let named = model.keymap.of(context).filter(|binding| {
        !binding.hint.is_empty() && (edits || binding.action != Action::EditCommand)
    });
    let mut hints: Vec<Hint> = named
        .enumerate()
        .filter_map(|(index, binding)| {
            let rank = match binding.action {
                Action::Approve | Action::Dismiss => 0,
                Action::Choose | Action::Reject => 2,
                // Arrows are tried unasked.
                Action::SelectPrevious | Action::ScrollUp => LAST,
                _ => u8::try_from(index).map_or(EXTRA - 1, |index| (index + 3).min(EXTRA - 1)),
            };
            Some(Hint { key: binding.shown_key()?, word: binding.hint, rank })
        })
        .collect();
    if !matches!(context, Context::Approval | Context::Question) {
        hints.extend(global(model, Action::Back, "back", 0));
    }
    if context != Context::Help {
        hints.extend(global(model, Action::Help, "help", 1));
    }
    hints
}
