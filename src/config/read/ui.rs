//! `[ui]`.

use super::{Reader, Section};
use crate::config::names;
use crate::config::ui::{Fold, OnExit, Switch, UiConfig};

impl Reader {
    /// How the screen behaves.
    pub(super) fn ui(&mut self, top: &Section<'_>) -> UiConfig {
        let default = UiConfig::default();
        let Some(section) = self.section(top, "ui") else { return default };
        self.warn_of_slips(&section, names::UI);
        let open_last = self.integer(&section, "open_last", 0);
        let wheel_lines = self.integer(&section, "wheel_lines", 1);
        UiConfig {
            on_exit: self.one_of(&section, "on_exit", &OnExit::NAMES).unwrap_or(default.on_exit),
            fold: self.one_of(&section, "fold", &Fold::NAMES).unwrap_or(default.fold),
            open_last: open_last.map_or(default.open_last, |n| usize::try_from(n).unwrap_or(0)),
            mouse: self.flag(&section, "mouse", default.mouse),
            wheel_lines: wheel_lines
                .map_or(default.wheel_lines, |n| u16::try_from(n.min(100)).unwrap_or(100)),
            vim: self.flag(&section, "vim", default.vim),
            screen_reader: self.flag(&section, "screen_reader", default.screen_reader),
            inline: self.flag(&section, "inline", default.inline),
            links: self.one_of(&section, "links", &Switch::NAMES).unwrap_or_default(),
            marks: self.one_of(&section, "marks", &Switch::NAMES).unwrap_or_default(),
            reflow: self.one_of(&section, "reflow", &Switch::NAMES).unwrap_or_default(),
            progress: self.one_of(&section, "progress", &Switch::NAMES).unwrap_or(default.progress),
            status: self.status_line(&section),
        }
    }

    /// One of several names.
    fn one_of<T: Copy>(
        &mut self,
        section: &Section<'_>,
        key: &str,
        known: &[(&str, T)],
    ) -> Option<T> {
        let name = self.text(section, key)?;
        if let Some((_, value)) = known.iter().find(|(known, _)| *known == name) {
            return Some(*value);
        }
        let known: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let advice = match names::nearest(&name, known.iter().copied()) {
            Some(near) => format!("Did you mean {key} = {near:?}?"),
            None => "Choose one of these, or remove the line.".to_owned(),
        };
        let what = format!("{} is {name:?} (known: {})", section.path(key), names::list(known));
        self.problem(section.table.get(key).and_then(|entry| entry.line), what, advice);
        None
    }
}
