//! Reading permission rules: `[[permission.rules]]` of the configuration, `[[rules]]` of a project.

use super::{Reader, Section};
use crate::config::error::ConfigError;
use crate::config::names;
use crate::config::tree::{Table, Value};
use crate::permission::{Decision, Rule};

/// The rules of a file that has nothing else.
pub(crate) fn rules(table: &Table) -> Result<(Vec<Rule>, Vec<String>), ConfigError> {
    let mut reader = Reader::default();
    let top = Section { name: String::new(), table, line: Some(1) };
    reader.warn_of_slips(&top, &["rules"]);
    let rules = reader.rules(&top);
    match reader.problems.into_iter().min_by_key(|problem| problem.line) {
        Some(problem) => Err(problem),
        None => Ok((rules, reader.warnings)),
    }
}

impl Reader {
    pub(super) fn permission(&mut self, top: &Section<'_>) -> Vec<Rule> {
        let Some(section) = self.section(top, "permission") else { return Vec::new() };
        self.warn_of_slips(&section, &["rules"]);
        self.rules(&section)
    }

    fn rules(&mut self, parent: &Section<'_>) -> Vec<Rule> {
        let Some(entry) = parent.table.get("rules") else { return Vec::new() };
        let name = parent.path("rules");
        let Value::List(list) = &entry.node.value else {
            self.wrong_type(entry, &name, "a list of tables", &format!("[[{name}]]"));
            return Vec::new();
        };
        let mut rules = Vec::new();
        for node in list {
            let line = node.line.or(entry.line);
            match &node.value {
                Value::Table(table) => {
                    rules.extend(self.rule(&Section { name: name.clone(), table, line }));
                }
                _ => self.problem(
                    line,
                    format!("an entry of {name} is no table"),
                    format!("Begin each rule with [[{name}]]."),
                ),
            }
        }
        rules
    }

    fn rule(&mut self, section: &Section<'_>) -> Option<Rule> {
        self.warn_of_slips(section, names::RULE);
        let tool = self.required_text(section, "tool", "a tool's name, or * for all");
        let decision = self.required_text(section, "decision", "allow, ask or deny");
        let decision = decision.and_then(|word| match word.as_str() {
            "allow" => Some(Decision::Allow),
            "ask" => Some(Decision::Ask),
            "deny" => Some(Decision::Deny),
            _ => {
                self.problem(
                    section.table.get("decision").and_then(|entry| entry.line),
                    format!("{} is {word:?}", section.path("decision")),
                    "It must be allow, ask or deny.".to_owned(),
                );
                None
            }
        });
        let rule = Rule {
            tool: tool?,
            command: self.text(section, "command"),
            path: self.text(section, "path"),
            decision: decision?,
        };
        // A rule that is left out silently might be a prohibition.
        if let Err(reason) = rule.check() {
            let what = format!("a rule in {} cannot be used: {reason}", section.name);
            self.problem(section.line, what, "Correct it, or remove it.".to_owned());
            return None;
        }
        Some(rule)
    }
}
