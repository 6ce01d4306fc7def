//! Files offered while `@` is typed.

use std::sync::Arc;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use crate::ui::effect::EffectId;

/// Offers shown at most.
const SHOWN: usize = 8;
/// Seconds after which the list of files is read again.
const FRESH_SECONDS: f64 = 10.0;

/// Files to mention: what there is, and what fits what is typed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mention {
    files: Arc<[String]>,
    read_at: Option<f64>,
    request: Option<EffectId>,
    query: Option<String>,
    dismissed: Option<String>,
    /// Is a name wanted as it is, without an `@`?
    pub is_bare: bool,
    /// The files that fit, best first.
    pub shown: Vec<String>,
    /// Index into `shown`.
    pub marked: usize,
}

impl Mention {
    /// What is typed after the `@` now; none when the cursor is at no mention.
    pub fn set_query(&mut self, query: Option<String>) {
        if self.query != query {
            self.query = query;
            self.search();
        }
    }

    /// Should the files be read (again)?
    #[must_use]
    pub fn wants_files(&self, now: f64) -> bool {
        self.query.is_some()
            && self.request.is_none()
            && self.read_at.is_none_or(|at| now - at > FRESH_SECONDS)
    }

    /// They are being read.
    pub fn reading(&mut self, request: EffectId) {
        self.request = Some(request);
    }

    /// They were read.
    pub fn set_files(&mut self, request: EffectId, files: Arc<[String]>, now: f64) {
        if self.request == Some(request) {
            self.request = None;
            self.read_at = Some(now);
            self.files = files;
            self.search();
        }
    }

    /// Closes the list until something else is typed; says whether it was open.
    pub fn dismiss(&mut self) -> bool {
        let was_open = !self.shown.is_empty();
        self.shown.clear();
        self.dismissed.clone_from(&self.query);
        was_open
    }

    /// Moves the mark; says whether the list is open.
    pub fn step(&mut self, down: bool) -> bool {
        let count = self.shown.len();
        if count > 0 {
            self.marked = (self.marked + if down { 1 } else { count - 1 }) % count;
        }
        count > 0
    }

    /// The marked file, and how many characters are typed already, the `@` included.
    #[must_use]
    pub fn marked(&self) -> Option<(String, usize)> {
        let typed = self.query.as_ref()?.chars().count() + usize::from(!self.is_bare);
        Some((self.shown.get(self.marked)?.clone(), typed))
    }

    fn search(&mut self) {
        self.marked = 0;
        self.shown.clear();
        let Some(query) =
            self.query.as_ref().filter(|query| self.dismissed.as_ref() != Some(query))
        else {
            return;
        };
        self.dismissed = None;
        // A short query would fit everything: only what lies at the top is offered.
        if query.chars().count() < 2 && !query.contains('/') {
            let top = |file: &&String| !file.trim_end_matches('/').contains('/');
            let fits = |file: &&String| {
                query.is_empty() || file.to_lowercase().contains(&query.to_lowercase())
            };
            self.shown = self.files.iter().filter(top).filter(fits).take(SHOWN).cloned().collect();
            return;
        }
        let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let mut buffer = Vec::new();
        let mut scored: Vec<(u32, usize)> = self
            .files
            .iter()
            .enumerate()
            .filter_map(|(index, file)| {
                let text = Utf32Str::new(file, &mut buffer);
                Some((pattern.score(text, &mut matcher)?, index))
            })
            .collect();
        let order = |a: &(u32, usize), b: &(u32, usize)| {
            let length = |index: usize| self.files[index].len();
            b.0.cmp(&a.0).then(length(a.1).cmp(&length(b.1))).then(a.1.cmp(&b.1))
        };
        if scored.len() > SHOWN {
            scored.select_nth_unstable_by(SHOWN, order);
            scored.truncate(SHOWN);
        }
        scored.sort_by(order);
        self.shown = scored.into_iter().map(|(_, index)| self.files[index].clone()).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_files(files: &[&str]) -> Mention {
        let mut mention = Mention::default();
        mention.set_query(Some(String::new()));
        mention.reading(EffectId(1));
        mention.set_files(EffectId(1), files.iter().map(ToString::to_string).collect(), 0.0);
        mention
    }

    #[test]
    fn typing_narrows_from_the_top_folder_to_the_best_match() {
        let mut mention = with_files(&["src/", "src/main.rs", "src/ui/mod.rs", "README.md"]);
        assert_eq!(mention.shown, ["src/", "README.md"]);
        mention.set_query(Some("main".into()));
        assert_eq!(mention.marked(), Some(("src/main.rs".into(), 5)));
        mention.set_query(Some("uimod".into()));
        assert_eq!(mention.shown, ["src/ui/mod.rs"]);
        assert!(mention.dismiss() && mention.shown.is_empty());
        mention.set_query(Some("uimo".into()));
        assert_eq!(mention.shown.len(), 1, "something else is typed");
        mention.set_query(None);
        assert!(mention.shown.is_empty());
    }

    #[test]
    fn a_late_answer_is_dropped() {
        let mut mention = with_files(&["a.rs"]);
        mention.set_files(EffectId(7), Arc::from([]), 1.0);
        assert_eq!(mention.shown, ["a.rs"]);
    }
}
