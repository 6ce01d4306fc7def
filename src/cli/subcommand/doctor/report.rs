//! What was found, for a person to read: aligned, and on a terminal with signs, colours and lines that
//! end where it ends. In a pipe each check is a line that begins with a word.

use std::io::{IsTerminal, stdout};

use super::{Check, Level, Surroundings, count};
use crate::ui::render::sanitize::sanitize;
use crate::ui::render::width::width;

/// Columns of a line, at most, however wide the terminal is.
const WIDEST: usize = 100;

/// How the report looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Look {
    /// Are there colours?
    pub(super) colours: bool,
    /// Signs instead of words?
    pub(super) signs: bool,
    /// Columns of the terminal; none: lines are as long as they are.
    pub(super) columns: Option<usize>,
}

impl Look {
    /// As fits what standard output is.
    pub(super) fn of(around: &Surroundings) -> Self {
        if !stdout().is_terminal() {
            return Self::default();
        }
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find(|name| around.is_set(name));
        let locale = locale.and_then(|name| around.env.get(name)).unwrap_or_default();
        let size = rustix::termios::tcgetwinsize(stdout()).ok();
        let columns = size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 20);
        let is_dumb = around.env.get("TERM").is_some_and(|term| term == "dumb");
        Self {
            colours: !around.is_set("NO_COLOR") && !is_dumb,
            signs: locale.to_lowercase().replace('-', "").contains("utf8"),
            columns: columns.map(|columns| columns.min(WIDEST)),
        }
    }

    fn paint(self, style: &str, text: &str) -> String {
        if self.colours { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn mark(self, level: Level) -> String {
        let (style, sign) = match level {
            Level::Ok => ("32", "✓"),
            Level::Warn => ("33", "!"),
            Level::Fail => ("1;31", "✗"),
        };
        let mark = if self.signs { sign.to_owned() } else { format!("{:<4}", level.word()) };
        self.paint(style, &mark)
    }

    /// Columns in front of what a check says.
    fn indent(self) -> usize {
        if self.signs { 4 } else { 8 }
    }

    /// `text` in lines of at most the width of the terminal, behind `taken` columns.
    fn lines(self, text: &str, taken: usize) -> Vec<String> {
        let text = sanitize(text).replace('\n', " ");
        let Some(columns) = self.columns else { return vec![text] };
        let room = columns.saturating_sub(taken).max(20);
        let mut lines = vec![String::new()];
        for word in text.split(' ') {
            let line = lines.last_mut().map(|line| (width(line), line));
            match line {
                // A path that is longer than a line stays in one piece: it will be copied.
                Some((used, line)) if used == 0 || used + 1 + width(word) <= room => {
                    if used > 0 {
                        line.push(' ');
                    }
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
        lines
    }
}

/// The whole report.
pub(super) fn as_text(checks: &[Check], look: Look) -> String {
    let mut out = Vec::new();
    let mut area = "";
    let indent = " ".repeat(look.indent());
    for check in checks {
        if check.area != area {
            if !area.is_empty() {
                out.push(String::new());
            }
            area = check.area;
            out.push(look.paint("1", area));
        }
        let gap = if look.signs { " " } else { "  " };
        let mut first = format!("  {}{gap}", look.mark(check.level));
        for line in look.lines(&check.said, look.indent()) {
            out.push(format!("{first}{line}"));
            first.clone_from(&indent);
        }
        if let Some(cure) = &check.cure {
            let arrow = if look.signs { "→ " } else { "" };
            let mut first = format!("{indent}{arrow}");
            let rest = " ".repeat(width(&first));
            for line in look.lines(cure, width(&first)) {
                out.push(format!("{first}{}", look.paint("36", &line)));
                first.clone_from(&rest);
            }
        }
    }
    let (fails, warns) = (count(checks, Level::Fail), count(checks, Level::Warn));
    let (style, said) = match (fails, warns) {
        (0, 0) => ("32", "All is well.".to_owned()),
        (0, warns) => ("33", format!("Nothing is broken; {warns} to look at.")),
        (fails, warns) => ("1;31", format!("{fails} broken, {warns} to look at.")),
    };
    out.extend([String::new(), look.paint(style, &said)]);
    out.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_signs_and_lines_that_fit_and_a_pipe_gets_words() {
        let checks = [
            Check::ok("Keys", "all is where it should be and nobody else may read any of it"),
            Check::fail("Data", "no disk\x1b[2J", "Buy a larger one, or throw away what is on it."),
        ];
        let look = Look { colours: false, signs: true, columns: Some(40) };
        assert_eq!(
            as_text(&checks, look),
            "Keys\n  ✓ all is where it should be and nobody\n    else may read any of it\n\n\
             Data\n  ✗ no disk␛[2J\n    → Buy a larger one, or throw away\n      what is on it.\n\n\
             1 broken, 0 to look at."
        );
        let plain = as_text(&checks, Look::default());
        assert!(plain.contains("  ok    all is where"), "{plain}");
        assert!(plain.contains("  fail  no disk") && !plain.contains('\x1b'), "{plain}");
        let colours = as_text(&checks, Look { colours: true, ..look });
        assert!(colours.contains("\x1b[32m✓\x1b[0m all") && !colours.contains("\x1b[2J"));
    }
}
