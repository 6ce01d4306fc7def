//! Text that is typed: the one place that knows the text area widget.

use std::cell::RefCell;

use tui_textarea::{
    AtomicDeleteDirection, AtomicRange, CursorMove, CursorRenderMode, Input, Key, TextArea,
    WrapMode,
};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

use crate::ui::key::{KeyCode, KeyPress};

/// What to delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// To the end of the line.
    ToEnd,
    /// To its beginning.
    ToStart,
    /// The word before.
    Word,
    /// The word after.
    NextWord,
}

/// A box of text with a cursor.
#[derive(Debug, Clone)]
pub struct Editor {
    // Measuring caches the height inside the widget, and drawing the cursor's place.
    area: RefCell<TextArea<'static>>,
}

impl Default for Editor {
    fn default() -> Self {
        Self::with_text("")
    }
}

impl PartialEq for Editor {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.area.borrow(), other.area.borrow());
        a.lines() == b.lines() && a.cursor() == b.cursor()
    }
}

impl Editor {
    /// A box with `text` in it, the cursor behind.
    #[must_use]
    pub fn with_text(text: &str) -> Self {
        let mut area = TextArea::new(text.split('\n').map(str::to_owned).collect());
        area.set_wrap_mode(WrapMode::WordOrGlyph);
        area.set_cursor_render_mode(CursorRenderMode::Hidden);
        area.set_cursor_line_style(ratatui::style::Style::default());
        area.set_tab_length(4);
        area.move_cursor(CursorMove::Bottom);
        area.move_cursor(CursorMove::End);
        Self { area: RefCell::new(area) }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> String {
        self.area.borrow().lines().join("\n")
    }

    /// What is typed behind a slash when the text is one line that begins with it; a draft that is no
    /// command may be long.
    #[must_use]
    pub fn command(&self) -> Option<String> {
        match self.area.borrow().lines() {
            [line] => line.strip_prefix('/').map(str::to_owned),
            _ => None,
        }
    }

    /// What stands before the cursor in its line, behind `prefix` when the line begins with that.
    #[must_use]
    pub fn before_cursor_behind(&self, prefix: &str) -> Option<String> {
        before_cursor(&self.area.borrow()).strip_prefix(prefix).map(str::to_owned)
    }

    /// The word before the cursor, which ends where the cursor is.
    #[must_use]
    pub fn word_before_cursor(&self) -> String {
        let area = self.area.borrow();
        let before = before_cursor(&area);
        before.rsplit(char::is_whitespace).next().unwrap_or_default().to_owned()
    }

    /// Writes `text` in place of the `count` characters before the cursor.
    pub fn replace_before_cursor(&mut self, count: usize, text: &str) {
        let area = self.area.get_mut();
        for _ in 0..count {
            area.delete_char();
        }
        area.insert_str(text);
    }

    /// Before which character of the text the cursor stands, line ends counted.
    #[must_use]
    pub fn position(&self) -> usize {
        let area = self.area.borrow();
        let (row, column) = area.cursor();
        area.lines().iter().take(row).map(|line| line.chars().count() + 1).sum::<usize>() + column
    }

    /// Puts the cursor before the `position`th character.
    pub fn go_to(&mut self, position: usize) {
        let area = self.area.get_mut();
        let mut left = position;
        let mut place = (0, 0);
        for (row, line) in area.lines().iter().enumerate() {
            let length = line.chars().count();
            place = (row, left.min(length));
            if left <= length {
                break;
            }
            left -= length + 1;
        }
        let short = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
        area.move_cursor(CursorMove::Jump(short(place.0), short(place.1)));
    }

    /// Shows what lies between `anchor` and the cursor as selected; nothing without an anchor.
    pub fn select_from(&mut self, anchor: Option<usize>) {
        self.area.get_mut().cancel_selection();
        let Some(anchor) = anchor else { return };
        let cursor = self.position();
        self.go_to(anchor);
        self.area.get_mut().start_selection();
        self.go_to(cursor);
    }

    /// Takes the last change back, or brings it again; says whether there was one.
    pub fn travel(&mut self, back: bool) -> bool {
        let area = self.area.get_mut();
        if back { area.undo() } else { area.redo() }
    }

    /// Deletes what `cut` says, from the cursor on, and gives it back.
    pub fn cut(&mut self, cut: Cut) -> String {
        let before: Vec<char> = self.text().chars().collect();
        let area = self.area.get_mut();
        match cut {
            Cut::ToEnd => area.delete_line_by_end(),
            Cut::ToStart => area.delete_line_by_head(),
            Cut::Word => area.delete_word(),
            Cut::NextWord => area.delete_next_word(),
        };
        let after: Vec<char> = self.text().chars().collect();
        let at = self.position();
        let length = before.len().saturating_sub(after.len());
        before.get(at..at + length).unwrap_or_default().iter().collect()
    }

    /// A word to the left or to the right.
    pub fn move_word(&mut self, forward: bool) {
        let to = if forward { CursorMove::WordForward } else { CursorMove::WordBack };
        self.area.get_mut().move_cursor(to);
    }

    /// Is there no text?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.area.borrow().is_empty()
    }

    /// Takes the text out.
    pub fn take(&mut self) -> String {
        let text = self.text();
        *self = Self::default();
        text
    }

    /// Writes `text` at the cursor.
    pub fn insert(&mut self, text: &str) {
        let area = self.area.get_mut();
        area.insert_str(text.replace("\r\n", "\n").replace('\r', "\n"));
    }

    /// A new line at the cursor.
    pub fn newline(&mut self) {
        self.area.get_mut().insert_newline();
    }

    /// Each place where one of `marks` stands becomes one thing to the cursor and to deleting.
    pub fn set_atoms<'a>(&mut self, marks: impl Iterator<Item = &'a str>) {
        let area = self.area.get_mut();
        let mut ranges = Vec::new();
        for mark in marks {
            for (row, line) in area.lines().iter().enumerate() {
                for (at, found) in line.match_indices(mark) {
                    let start_col = line[..at].chars().count();
                    let end_col = start_col + found.chars().count();
                    ranges.push(AtomicRange { row, start_col, end_col });
                }
            }
        }
        ranges.sort_by_key(|range| (range.row, range.start_col));
        // A refused range only means that the mark is edited letter by letter.
        let _ = area.try_set_atomic_ranges(ranges);
    }

    /// Does what `key` does in a text box; says whether it does anything.
    pub fn key(&mut self, key: KeyPress) -> bool {
        let area = self.area.get_mut();
        let before = (area.cursor(), area.lines().len());
        let changed = match (key.code, key.ctrl, key.alt) {
            (KeyCode::Backspace, false, false) => delete_grapheme(area),
            (KeyCode::Char('u'), true, false) => area.delete_line_by_head(),
            (KeyCode::Char('k'), true, false) => area.delete_line_by_end(),
            (KeyCode::Char('a'), true, false) => {
                area.move_cursor(CursorMove::Head);
                false
            }
            _ => match input_of(key) {
                Some(input) => area.input(input),
                None => return false,
            },
        };
        changed || before != (area.cursor(), area.lines().len())
    }

    /// Is the cursor in the first line?
    #[must_use]
    pub fn is_at_top(&self) -> bool {
        self.area.borrow().cursor().0 == 0
    }

    /// Is the cursor in the last line?
    #[must_use]
    pub fn is_at_bottom(&self) -> bool {
        let area = self.area.borrow();
        area.cursor().0 + 1 == area.lines().len()
    }

    /// Rows the text takes at `width` columns, `most` of them: what does not fit is not measured.
    #[must_use]
    pub fn rows(&self, width: u16, most: u16) -> u16 {
        let (width, most) = (width.max(1), most.max(1));
        if self.overfills(usize::from(width), usize::from(most)) {
            return most;
        }
        self.area.borrow_mut().measure(width).content_rows.clamp(1, most)
    }

    /// Does the text have more cells than `most` rows of `width`? Looks at no more of it than that.
    fn overfills(&self, width: usize, most: usize) -> bool {
        let area = self.area.borrow();
        let mut rows = 0;
        for line in area.lines() {
            let room = (most - rows) * width;
            let mut cells = 0;
            for c in line.chars() {
                cells += c.width().unwrap_or(0);
                if cells > room {
                    return true;
                }
            }
            rows += cells.div_ceil(width).max(1);
            if rows > most {
                return true;
            }
        }
        false
    }

    /// Draws it and says where the cursor is.
    pub fn draw(
        &self,
        style: ratatui::style::Style,
        area: ratatui::layout::Rect,
        buffer: &mut ratatui::buffer::Buffer,
    ) -> Option<ratatui::layout::Position> {
        use ratatui::widgets::Widget;
        self.area.borrow_mut().set_style(style);
        let widget = self.area.borrow();
        (&*widget).render(area, buffer);
        widget.rendered_cursor_position()
    }
}

/// The widget deletes code points; a person deletes what looks like one character.
fn delete_grapheme(area: &mut TextArea<'static>) -> bool {
    let points = before_cursor(area).graphemes(true).next_back().map(|last| last.chars().count());
    match points {
        // A mark goes as a whole.
        Some(_) if area.atomic_range_at_cursor(AtomicDeleteDirection::Backward).is_some() => {
            area.delete_char()
        }
        Some(points) => (0..points).fold(false, |changed, _| area.delete_char() || changed),
        None => area.delete_char(),
    }
}

/// What stands before the cursor in its line.
fn before_cursor<'a>(area: &'a TextArea<'static>) -> &'a str {
    let (row, column) = area.cursor();
    let Some(line) = area.lines().get(row) else { return "" };
    line.char_indices().nth(column).map_or(line, |(at, _)| &line[..at])
}

fn input_of(key: KeyPress) -> Option<Input> {
    let code = match key.code {
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Tab => Key::Tab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Esc | KeyCode::PageUp | KeyCode::PageDown | KeyCode::F(_) => return None,
    };
    Some(Input { key: code, ctrl: key.ctrl, alt: key.alt, shift: key.shift })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backspace_takes_a_whole_emoji_family() {
        let mut editor = Editor::with_text("a👨‍👩‍👧");
        editor.key(KeyPress::plain(KeyCode::Backspace));
        assert_eq!(editor.text(), "a");
        editor.key(KeyPress::plain(KeyCode::Backspace));
        assert!(editor.is_empty());
    }

    #[test]
    fn rows_beyond_the_most_are_not_counted() {
        let texts = [
            "",
            "a",
            "aa bb cc dd ee ff",
            "aaaaaaaaaaaaaaaaaaaa",
            "日本語日本語日本語",
            "a\n\nb\n",
        ];
        let longer = texts.iter().map(|text| format!("{text} {text}\n{text}   "));
        for text in texts.iter().map(|text| (*text).to_owned()).chain(longer) {
            let editor = Editor::with_text(&text);
            for width in 3..12 {
                let all = editor.rows(width, u16::MAX);
                for most in 1..12 {
                    assert_eq!(editor.rows(width, most), all.min(most), "{text:?} {width} {most}");
                }
            }
        }
    }

    #[test]
    fn pasted_line_ends_become_one_kind() {
        let mut editor = Editor::default();
        editor.insert("a\r\nb\rc");
        assert_eq!(editor.text(), "a\nb\nc");
        assert_eq!(editor.rows(10, 9), 3);
    }
}
