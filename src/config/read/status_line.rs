//! `[ui.status]`.

use super::{Reader, Section};
use crate::config::names;
use crate::config::status_line::{StatusConfig, StatusItem};
use crate::config::tree::Value;

/// Longest time a command may take, in milliseconds: a line that comes later tells of another time.
const LONGEST_MS: i64 = 10_000;

impl Reader {
    /// What the last line holds.
    pub(super) fn status_line(&mut self, ui: &Section<'_>) -> StatusConfig {
        let default = StatusConfig::default();
        let Some(section) = self.section(ui, "status") else { return default };
        self.warn_of_slips(&section, names::STATUS);
        let command = self.text(&section, "command").unwrap_or_default();
        let left = self.status_items(&section, "left").unwrap_or(default.left);
        let right = self.status_items(&section, "right");
        let is_placed = left.contains(&StatusItem::Command);
        let right = right.unwrap_or_else(|| match command.trim() {
            "" => default.right,
            _ if is_placed => default.right,
            _ => StatusConfig::RIGHT_WITH_COMMAND.to_vec(),
        });
        let limit = self.integer(&section, "time_limit_ms", 1);
        let interval = self.integer(&section, "interval_s", 0);
        StatusConfig {
            left,
            right,
            command,
            time_limit_ms: limit
                .map_or(default.time_limit_ms, |ms| ms.min(LONGEST_MS).unsigned_abs()),
            interval_s: interval.map_or(default.interval_s, i64::unsigned_abs),
        }
    }

    /// A list of items; a name that is none is a problem that lists the known ones.
    fn status_items(&mut self, section: &Section<'_>, key: &str) -> Option<Vec<StatusItem>> {
        let entry = section.table.get(key)?;
        let Value::List(listed) = &entry.node.value else {
            let example = format!("{key} = [\"model\", \"context\"]");
            self.wrong_type(entry, &section.path(key), "a list of names", &example);
            return None;
        };
        let mut items = Vec::new();
        for node in listed {
            let name = match &node.value {
                Value::Text(name) => name.as_str(),
                _ => "",
            };
            match StatusItem::NAMES.iter().find(|(known, _)| *known == name) {
                Some((_, item)) if items.contains(item) => {}
                Some((_, item)) => items.push(*item),
                None => {
                    let what = format!("{} has the unknown item {name:?}", section.path(key));
                    let known = names::list(StatusItem::NAMES.map(|(name, _)| name));
                    self.problem(node.line.or(entry.line), what, format!("Known are {known}."));
                }
            }
        }
        Some(items)
    }
}
