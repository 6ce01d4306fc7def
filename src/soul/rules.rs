//! `/rules`: the permission rules that hold, and taking one away.

use super::Soul;
use crate::permission::{Decision, Scope};

impl Soul {
    /// `/rules` lists the rules, `/rules remove N` takes one away.
    pub(super) fn rules_command(&self, arguments: &str) {
        let mut words = arguments.split_whitespace();
        match (words.next(), words.next().map(|word| word.trim_start_matches('#').parse::<usize>()))
        {
            (None, _) => self.say(&self.list_rules()),
            (Some("remove"), Some(Ok(number))) => self.remove_rule(number),
            _ => self.say("Use /rules, or /rules remove and the number of a rule."),
        }
    }

    fn list_rules(&self) -> String {
        let rules = self.approvals.rules();
        if rules.is_empty() {
            return "There are no permission rules. You can make one when you are asked about an \
                    action, or in config.toml."
                .to_owned();
        }
        let mut text = "Permission rules; deny wins over ask, ask over allow:\n".to_owned();
        for (index, scoped) in rules.iter().enumerate() {
            let scope = match scoped.scope {
                Scope::Session => "session",
                Scope::Project => "project",
                Scope::User => "user",
            };
            let decision = match scoped.rule.decision {
                Decision::Allow => "allow",
                Decision::Ask => "ask",
                Decision::Deny => "deny",
            };
            text.push_str(&format!(
                "\n{:>3}  {scope:<7}  {decision:<5}  {}",
                index + 1,
                scoped.rule.in_words()
            ));
        }
        text.push_str("\n\n/rules remove N takes one away.");
        text
    }

    fn remove_rule(&self, number: usize) {
        let rules = self.approvals.rules();
        let Some(scoped) = number.checked_sub(1).and_then(|at| rules.get(at)) else {
            return self.say(&format!("There is no rule {number}. /rules lists them."));
        };
        match self.approvals.remove_rule(scoped.scope, &scoped.rule) {
            Ok(()) => self.say(&format!("The rule is gone: {}.", scoped.rule.in_words())),
            Err(reason) => self.say(&reason),
        }
    }
}
