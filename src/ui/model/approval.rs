//! The queue of approval requests, and the panel that asks for the first of them.

use std::collections::VecDeque;

use super::editor::Editor;
use crate::message::DisplayBlock;
use crate::permission::{self, Rule};
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
    /// Is all of a long request shown?
    pub is_expanded: bool,
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
        self.current()?.display.iter().find_map(|block| match block {
            DisplayBlock::Shell { command, .. } => Some(command.as_str()),
            _ => None,
        })
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
        answers.extend([Answer::Reject, Answer::Feedback]);
        answers.extend(self.command().map(|_| Answer::Edit));
        answers
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
        *self = Self { quiet_since: self.quiet_since, ..Self::default() };
    }
}
