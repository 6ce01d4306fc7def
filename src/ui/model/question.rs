//! The queue of questions to the person, and how far they are with the first: a tab per question.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::approval::{QUIET_LIMIT, QUIET_SECONDS};
use super::editor::Editor;
use crate::wire::{Question, QuestionRequest};

/// How far the person is with one question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tab {
    /// The marked option; one behind the last is the free answer.
    pub marked: usize,
    /// The chosen options, where several may be.
    pub chosen: BTreeSet<usize>,
    /// The free answer.
    pub other: String,
    /// The answer, once there is one.
    pub answer: Option<String>,
}

/// One request and its answers so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Asking {
    /// What is asked.
    pub request: QuestionRequest,
    /// The question that is shown.
    pub at: usize,
    /// One for each question.
    pub tabs: Vec<Tab>,
    /// The free answer while it is written.
    pub writing: Option<Editor>,
}

impl Asking {
    /// The question that is shown, and how far it is.
    #[must_use]
    pub fn current(&self) -> Option<(&Question, &Tab)> {
        Some((self.request.questions.get(self.at)?, self.tabs.get(self.at)?))
    }

    /// Options of the question that is shown, the free answer counted.
    #[must_use]
    pub fn count(&self) -> usize {
        self.request.questions.get(self.at).map_or(1, |question| question.options.len() + 1)
    }

    /// All answers, when every question has one.
    #[must_use]
    pub fn answers(&self) -> Option<BTreeMap<String, String>> {
        let questions = self.request.questions.iter();
        questions
            .zip(&self.tabs)
            .map(|(question, tab)| Some((question.question.clone(), tab.answer.clone()?)))
            .collect()
    }
}

/// Requests that wait.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Questions {
    queue: VecDeque<Asking>,
    shown_at: f64,
    quiet_since: f64,
}

impl Questions {
    /// A request came. One without questions cannot be answered and is not kept.
    pub fn push(&mut self, request: QuestionRequest, now: f64) {
        if request.questions.is_empty() || self.queue.iter().any(|a| a.request.id == request.id) {
            return;
        }
        let tabs = vec![Tab::default(); request.questions.len()];
        self.queue.push_back(Asking { request, at: 0, tabs, writing: None });
        if self.queue.len() == 1 {
            self.shown_at = now;
        }
    }

    /// The request that is shown.
    #[must_use]
    pub fn current(&self) -> Option<&Asking> {
        self.queue.front()
    }

    /// The request that is shown, to be changed.
    pub fn current_mut(&mut self) -> Option<&mut Asking> {
        self.queue.front_mut()
    }

    /// The request that is shown is done with.
    pub fn take(&mut self, now: f64) -> Option<Asking> {
        self.shown_at = now;
        self.queue.pop_front()
    }

    /// The tool call that asked is over: nobody waits for an answer.
    pub fn remove_call(&mut self, call: &str, now: f64) {
        let first = self.current().map(|asking| asking.request.id.clone());
        self.queue.retain(|asking| asking.request.tool_call_id.as_deref() != Some(call));
        if first != self.current().map(|asking| asking.request.id.clone()) {
            self.shown_at = now;
        }
    }

    /// Forgets everything that waits.
    pub fn clear(&mut self) {
        self.queue.clear();
    }

    /// A key went to the composer.
    pub fn typed(&mut self, now: f64) {
        self.quiet_since = now;
    }

    /// When the panel begins to listen, as with approvals; none when nothing waits.
    #[must_use]
    pub fn listens_from(&self) -> Option<f64> {
        let quiet = self.quiet_since.max(self.shown_at) + QUIET_SECONDS;
        self.current().map(|_| quiet.min(self.shown_at + QUIET_LIMIT))
    }

    /// Do keys go to the panel?
    #[must_use]
    pub fn is_listening(&self, now: f64) -> bool {
        self.listens_from().is_some_and(|from| now >= from)
    }
}
