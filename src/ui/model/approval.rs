//! The queue of approval requests, and the panel that asks for the first of them.

use std::collections::VecDeque;

use super::editor::Editor;
use crate::message::DisplayBlock;
use crate::permission::{self, Rule, Scope};
use crate::wire::ApprovalRequest;

/// The answers a request can be given, in the order they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// This once.
    Once,
    /// All with this action, in this session.
    Session,
    /// All commands that begin like this one, in this session.
    Rule,
    /// No.
    Reject,
    /// No, and do this instead.
    Feedback,
    /// Yes, but with another command.
    Edit,
    /// Yes, but with another content, written in the external editor.
    EditContent,
    /// Yes to all that wait of this kind.
    All,
    /// No to all that wait of this kind.
    RejectAll,
}

/// Keys that were meant for the composer must not answer a request that has just appeared: it does
/// not listen before this many seconds without a key.
pub const QUIET_SECONDS: f64 = 0.4;
/// It listens at the latest this many seconds after it appeared.
pub const QUIET_LIMIT: f64 = 1.5;

/// Requests that wait, and how far the person is with the first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Approvals {
    queue: VecDeque<ApprovalRequest>,
    /// Index into [`Self::answers`].
    pub marked: usize,
    /// What to do instead, while it is written; the command, while it is changed.
    pub feedback: Option<Editor>,
    /// Is it the command that is changed?
    pub edits_command: bool,
    // Rules that would allow the command, the narrowest first, and which of them is offered.
    rules: Vec<Rule>,
    width: usize,
    /// How far the offered rule would hold.
    pub scope: Scope,
    /// What the offered rule would have covered, in words; empty when nothing is known.
    pub preview: String,
    /// Can the content be changed in the external editor?
    pub has_content: bool,
    /// First line shown of a long request that is shown whole.
    pub top: usize,
    /// Is all of a long request shown?
    pub is_expanded: bool,
    /// How many requests have been the first one: what is drawn of one is not taken for another one's,
    /// whatever they are called.
    pub shown: u64,
    shown_at: f64,
    quiet_since: f64,
}

impl Approvals {
    /// A request came.
    pub fn push(&mut self, request: ApprovalRequest, now: f64) {
        if self.queue.iter().any(|known| known.id == request.id) {
            return;
        }
        self.queue.push_back(request);
        if self.queue.len() == 1 {
            self.show(now);
        }
    }

    /// A request was answered, by whomever.
    pub fn remove(&mut self, id: &str, now: f64) -> Option<ApprovalRequest> {
        let index = self.queue.iter().position(|request| request.id == id)?;
        let request = self.queue.remove(index);
        if index == 0 {
            self.show(now);
        }
        request
    }

    fn show(&mut self, now: f64) {
        self.marked = 0;
        self.feedback = None;
        self.edits_command = false;
        self.width = 0;
        self.rules = self.command().map(permission::suggest).unwrap_or_default();
        self.is_expanded = false;
        self.scope = Scope::Session;
        self.preview.clear();
        self.has_content = false;
        self.top = 0;
        self.shown += 1;
        self.shown_at = now;
        self.quiet_since = self.quiet_since.max(now);
    }

    /// The request that is asked for now.
    #[must_use]
    pub fn current(&self) -> Option<&ApprovalRequest> {
        self.queue.front()
    }

    /// The command that is asked for, when it is one.
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        command_of(self.current()?)
    }

    /// The rule that is offered.
    #[must_use]
    pub fn rule(&self) -> Option<&Rule> {
        self.rules.get(self.width)
    }

    /// Offers a wider or a narrower rule; says whether there is one.
    pub fn widen(&mut self, wider: bool) -> bool {
        let width = if wider { self.width + 1 } else { self.width.wrapping_sub(1) };
        let exists = width < self.rules.len();
        if exists {
            self.width = width;
        }
        exists
    }

    /// The answers the first request can be given.
    #[must_use]
    pub fn answers(&self) -> Vec<Answer> {
        let mut answers = vec![Answer::Once, Answer::Session];
        answers.extend(self.rule().map(|_| Answer::Rule));
        let many = self.alike().len() > 1;
        answers.extend(many.then_some(Answer::All));
        answers.extend([Answer::Reject, Answer::Feedback]);
        answers.extend(many.then_some(Answer::RejectAll));
        answers.extend(self.command().map(|_| Answer::Edit));
        answers.extend(self.has_content.then_some(Answer::EditContent));
        answers
    }

    /// The ids of all that wait with the first one's action, the first included. Commands with a danger
    /// are looked at one by one.
    #[must_use]
    pub fn alike(&self) -> Vec<String> {
        let Some(first) = self.current() else { return Vec::new() };
        let is_plain = |request: &ApprovalRequest| {
            command_of(request).is_none_or(|command| permission::danger::marks(command).is_empty())
        };
        if !is_plain(first) {
            return Vec::new();
        }
        let same = |request: &&ApprovalRequest| request.action == first.action && is_plain(request);
        self.queue.iter().filter(same).map(|request| request.id.clone()).collect()
    }

    /// Offers the rule for the next place: this session, this project, everywhere.
    pub fn next_scope(&mut self) {
        self.scope = match self.scope {
            Scope::Session => Scope::Project,
            Scope::Project => Scope::User,
            Scope::User => Scope::Session,
        };
    }

    /// What waits, in words, for after a crash.
    #[must_use]
    pub fn in_words(&self) -> Vec<String> {
        self.queue.iter().map(|request| request.description.clone()).collect()
    }

    /// All that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Does nothing wait?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// A key went to the composer.
    pub fn typed(&mut self, now: f64) {
        self.quiet_since = now;
    }

    /// When the panel begins to listen; none when nothing waits.
    #[must_use]
    pub fn listens_from(&self) -> Option<f64> {
        self.current().map(|_| (self.quiet_since + QUIET_SECONDS).min(self.shown_at + QUIET_LIMIT))
    }

    /// Do keys go to the panel?
    #[must_use]
    pub fn is_listening(&self, now: f64) -> bool {
        self.listens_from().is_some_and(|from| now >= from)
    }

    /// Forgets everything that waits.
    pub fn clear(&mut self) {
        *self = Self { quiet_since: self.quiet_since, shown: self.shown, ..Self::default() };
    }
}

fn command_of(request: &ApprovalRequest) -> Option<&str> {
    request.display.iter().find_map(|block| match block {
        DisplayBlock::Shell { command, .. } => Some(command.as_str()),
        _ => None,
    })
}
