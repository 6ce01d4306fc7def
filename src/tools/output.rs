//! How much a result may hold: 50 000 characters and 2000 a line (`kimi-cli` `tools/utils.py`).

use crate::message::ToolReturn;

/// Characters of a whole output.
pub(crate) const MAX_CHARS: usize = 50_000;
/// Characters of one line of it.
pub(crate) const MAX_LINE_CHARS: usize = 2000;
/// What stands where something was left out.
pub(crate) const TRUNCATED: &str = "[...truncated]";
const TRUNCATED_NOTE: &str = "Output is truncated to fit in the message.";

/// Collects output up to the limits and tells when something did not fit.
#[derive(Debug, Default)]
pub(crate) struct OutputBuilder {
    text: String,
    chars: usize,
    truncated: bool,
    full: bool,
}

impl OutputBuilder {
    /// Adds whole lines. What does not fit is dropped, and marked.
    pub fn write(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            if self.full {
                break;
            }
            let short = shorten_line(line);
            self.truncated |= short.is_some();
            self.add(short.as_deref().unwrap_or(line));
        }
    }

    fn add(&mut self, line: &str) {
        let chars = line.chars().count();
        let room = MAX_CHARS.saturating_sub(self.chars);
        if chars <= room {
            self.text.push_str(line);
            self.chars += chars;
            return;
        }
        self.text.extend(line.chars().take(room));
        for _ in TRUNCATED.chars() {
            self.text.pop();
        }
        self.text.push_str(TRUNCATED);
        self.full = true;
        self.truncated = true;
    }

    /// A success with what was collected.
    pub fn ok(self, message: &str) -> ToolReturn {
        let message = self.note(message);
        ToolReturn::ok(self.text, message)
    }

    fn note(&self, message: &str) -> String {
        match (self.truncated, message) {
            (false, message) => message.to_owned(),
            (true, "") => TRUNCATED_NOTE.to_owned(),
            (true, message) => format!("{message} {TRUNCATED_NOTE}"),
        }
    }
}

/// `message` with the note about truncated output, for tools that truncate themselves.
pub(crate) fn with_truncation_note(message: &str) -> String {
    format!("{message} {TRUNCATED_NOTE}")
}

/// The line cut to [`MAX_LINE_CHARS`], its line break kept; `None` when it fits.
pub(crate) fn shorten_line(line: &str) -> Option<String> {
    let body = line.trim_end_matches(['\n', '\r']);
    if body.len() <= MAX_LINE_CHARS || body.chars().count() <= MAX_LINE_CHARS {
        return None;
    }
    let mut short: String = body.chars().take(MAX_LINE_CHARS - TRUNCATED.len()).collect();
    short.push_str(TRUNCATED);
    short.push_str(&line[body.len()..]);
    Some(short)
}

/// A number of bytes for a reader: `12 B`, `3.4 KiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_line_is_cut_and_keeps_its_break() {
        let mut output = OutputBuilder::default();
        output.write(&format!("{}\nnext\n", "é".repeat(3000)));
        let result = output.ok("Done.");
        let text = result.output.text();
        let (first, rest) = text.split_once('\n').expect("lines");
        assert_eq!(first.chars().count(), MAX_LINE_CHARS);
        assert!(first.ends_with(TRUNCATED));
        assert_eq!(rest, "next\n");
        assert_eq!(result.message, format!("Done. {TRUNCATED_NOTE}"));
    }

    #[test]
    fn sizes_are_readable() {
        assert_eq!([size(0), size(1023), size(1536)], ["0 B", "1023 B", "1.5 KiB"]);
        assert_eq!(size(5 * 1024 * 1024 * 1024), "5.0 GiB");
    }

    proptest! {
        #[test]
        fn no_output_is_longer_than_the_limit(
            lengths in prop::collection::vec((0..3000_usize, any::<bool>()), 0..60),
        ) {
            let piece = |(length, end): &(usize, bool)| {
                format!("{}{}", "é".repeat(*length), if *end { "\n" } else { "" })
            };
            let mut output = OutputBuilder::default();
            lengths.iter().for_each(|length| output.write(&piece(length)));
            let whole: String = lengths.iter().map(piece).collect();
            let result = output.ok("");
            prop_assert!(result.output.text().chars().count() <= MAX_CHARS);
            if result.message.is_empty() {
                prop_assert_eq!(result.output.text(), whole);
            }
        }
    }
}
