//! What a subagent does, as the content of the call that started it.

use std::collections::VecDeque;

/// Calls of a subagent that are told: the latest.
const SHOWN: usize = 12;

/// The calls of one subagent.
#[derive(Debug, Default)]
pub(super) struct Doings {
    /// Calls that are no longer told.
    earlier: usize,
    calls: VecDeque<Doing>,
}

#[derive(Debug)]
struct Doing {
    id: String,
    title: String,
    /// Has it failed? None while it runs.
    has_failed: Option<bool>,
}

impl Doings {
    /// A call begins.
    pub(super) fn begin(&mut self, id: &str, title: String) {
        if self.calls.len() == SHOWN {
            self.calls.pop_front();
            self.earlier += 1;
        }
        self.calls.push_back(Doing { id: id.to_owned(), title, has_failed: None });
    }

    /// A call is over; says whether it is one that is told.
    pub(super) fn end(&mut self, id: &str, has_failed: bool) -> bool {
        let open = |call: &&mut Doing| call.id == id && call.has_failed.is_none();
        let Some(call) = self.calls.iter_mut().find(open) else { return false };
        call.has_failed = Some(has_failed);
        true
    }

    /// The calls as a list in Markdown.
    pub(super) fn shown(&self) -> String {
        let mut shown = match self.earlier {
            0 => String::new(),
            1 => "- 1 call before\n".to_owned(),
            earlier => format!("- {earlier} calls before\n"),
        };
        for call in &self.calls {
            let state = match call.has_failed {
                None => " (running)",
                Some(true) => " (failed)",
                Some(false) => "",
            };
            shown.push_str(&format!("- {}{state}\n", call.title.replace('\n', " ")));
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_listed_with_how_they_stand() {
        let mut doings = Doings::default();
        doings.begin("a", "Bash: ls\n-l".to_owned());
        doings.begin("b", "ReadFile: x".to_owned());
        assert!(doings.end("a", false) && !doings.end("a", false) && !doings.end("c", false));
        assert_eq!(doings.shown(), "- Bash: ls -l\n- ReadFile: x (running)\n");
        assert!(doings.end("b", true));
        assert_eq!(doings.shown(), "- Bash: ls -l\n- ReadFile: x (failed)\n");
    }

    #[test]
    fn only_the_latest_are_told() {
        let mut doings = Doings::default();
        for at in 0..1000 {
            doings.begin(&at.to_string(), format!("Bash: {at}"));
        }
        assert_eq!(doings.shown().lines().count(), SHOWN + 1);
        assert!(doings.shown().starts_with("- 988 calls before\n- Bash: 988 (running)\n"));
        assert!(!doings.end("0", false));
    }
}
