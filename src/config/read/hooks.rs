//! Lists of the configuration: `[[hooks]]` and lists of texts.

use super::super::hooks::{HookConfig, HookEvent, half_a_minute};
use super::super::names;
use super::super::tree::{Node, Value};
use super::{Reader, Section};

/// Seconds a hook may take at most.
const LONGEST: i64 = 600;

impl Reader {
    /// The entries of `[[hooks]]`.
    pub(super) fn hooks(&mut self, top: &Section<'_>) -> Vec<HookConfig> {
        let Some(entry) = top.table.get("hooks") else { return Vec::new() };
        let Value::List(list) = &entry.node.value else {
            self.wrong_type(entry, "hooks", "a list of tables", "[[hooks]]");
            return Vec::new();
        };
        list.iter()
            .enumerate()
            .filter_map(|(index, node)| self.hook(index, node, entry.line))
            .collect()
    }

    fn hook(&mut self, index: usize, node: &Node, list_line: Option<usize>) -> Option<HookConfig> {
        let name = format!("hooks[{index}]");
        let line = node.line.or(list_line);
        let Value::Table(table) = &node.value else {
            self.problem(
                line,
                format!("{name} must be a table, not {}", node.value.kind()),
                "Begin each hook with [[hooks]].".to_owned(),
            );
            return None;
        };
        let section = Section { name, table, line };
        self.warn_of_slips(&section, names::HOOK);
        let event = self.required_text(&section, "event", "when it runs");
        let command = self.required_text(&section, "command", "what is run");
        let event = event.and_then(|name| self.hook_event(&section, &name));
        let matcher = self.text(&section, "matcher").unwrap_or_default();
        if let Err(error) = regex::Regex::new(&matcher) {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().to_owned();
            self.problem(
                table.get("matcher").and_then(|entry| entry.line).or(line),
                format!("{} is no regular expression ({reason})", section.path("matcher")),
                "Write for example matcher = \"Bash|WriteFile\".".to_owned(),
            );
        }
        let timeout = self.integer(&section, "timeout", 1).unwrap_or(30);
        if timeout > LONGEST {
            self.problem(
                table.get("timeout").and_then(|entry| entry.line).or(line),
                format!("{} is {timeout}, but must be at most {LONGEST}", section.path("timeout")),
                format!("Write for example timeout = {}, or remove the line.", half_a_minute()),
            );
        }
        Some(HookConfig {
            event: event?,
            matcher,
            command: command?,
            timeout: timeout.unsigned_abs(),
        })
    }

    fn hook_event(&mut self, section: &Section<'_>, name: &str) -> Option<HookEvent> {
        let event = HookEvent::named(name);
        if event.is_none() {
            let known = HookEvent::ALL.map(HookEvent::name);
            let advice = match names::nearest(name, known) {
                Some(near) => format!("Did you mean event = {near:?}?"),
                None => format!("Known are {}.", names::list(known)),
            };
            self.problem(
                section.table.get("event").and_then(|entry| entry.line).or(section.line),
                format!("unknown hook event {name:?} in {}", section.path("event")),
                advice,
            );
        }
        event
    }

    /// A list of texts; empty when there is none.
    pub(super) fn text_list(&mut self, section: &Section<'_>, key: &str) -> Vec<String> {
        let Some(entry) = section.table.get(key) else { return Vec::new() };
        let texts = match &entry.node.value {
            Value::List(list) => list
                .iter()
                .map(|node| match &node.value {
                    Value::Text(text) => Some(text.clone()),
                    _ => None,
                })
                .collect::<Option<Vec<_>>>(),
            _ => None,
        };
        if texts.is_none() {
            let path = section.path(key);
            self.wrong_type(entry, &path, "a list of texts", &format!("{key} = [\"…\"]"));
        }
        texts.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, ConfigSource, HookEvent};
    use crate::paths::Paths;

    fn load(text: &str) -> Result<Config, String> {
        let folder = tempfile::tempdir().expect("folder");
        Config::load(&Paths::new(folder.path()), &ConfigSource::Inline(text.to_owned()))
            .map(|loaded| loaded.config)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn hooks_are_read_with_their_defaults() {
        let config = load("extra_skill_dirs = [\"/a\"]\nhooks = []\n").expect("config");
        assert_eq!((config.hooks.len(), config.extra_skill_dirs), (0, vec!["/a".to_owned()]));
        assert!(config.merge_all_available_skills);
        let config = load(
            "[[hooks]]\nevent = \"PreToolUse\"\nmatcher = \"Bash|Shell\"\ncommand = \"./c.sh\"\n\
             timeout = 5\n[[hooks]]\nevent = \"Stop\"\ncommand = \"true\"\n",
        )
        .expect("config");
        assert_eq!(config.hooks[0].event, HookEvent::PreToolUse);
        assert_eq!((config.hooks[0].timeout, config.hooks[1].timeout), (5, 30));
        assert_eq!(config.hooks[1].matcher, "");
    }

    #[test]
    fn a_broken_hook_says_what_is_wrong() {
        for (text, wanted) in [
            ("hooks = 3", "hooks must be a list of tables"),
            ("[[hooks]]\ncommand = \"x\"", "hooks[0] has no event"),
            ("[[hooks]]\nevent = \"Stop\"", "hooks[0] has no command"),
            ("[[hooks]]\nevent = \"PreToolUs\"\ncommand = \"x\"", "event = \"PreToolUse\"?"),
            (
                "[[hooks]]\nevent = \"Stop\"\ncommand = \"x\"\nmatcher = \"(\"",
                "no regular expression",
            ),
            ("[[hooks]]\nevent = \"Stop\"\ncommand = \"x\"\ntimeout = 601", "at most 600"),
            ("[[hooks]]\nevent = \"Stop\"\ncommand = \"x\"\ntimeout = 0", "at least 1"),
            ("extra_skill_dirs = [1]", "extra_skill_dirs must be a list of texts"),
        ] {
            let error = load(text).expect_err(text);
            assert!(error.contains(wanted), "{error}");
        }
    }

    #[test]
    fn every_event_is_found_by_its_name() {
        for event in HookEvent::ALL {
            assert_eq!(HookEvent::named(event.name()), Some(event));
            let json = serde_json::to_string(&event).expect("json");
            assert_eq!(json, format!("\"{}\"", event.name()));
        }
    }
}
