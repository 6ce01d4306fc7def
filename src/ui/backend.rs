//! Writes frames to the terminal: what a cell looks like, and which link it is part of.

use std::io::{self, Write};

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};

use super::render::links::{CLOSING, Links};

/// The terminal, with the links that are in cells made its own.
#[derive(Debug)]
pub(super) struct LinkBackend<W: Write> {
    inner: CrosstermBackend<W>,
    links: Option<Links>,
}

impl<W: Write> LinkBackend<W> {
    pub(super) fn new(writer: W, links: Option<Links>) -> Self {
        Self { inner: CrosstermBackend::new(writer), links }
    }

    /// Draws cells of one link.
    fn draw_linked(&mut self, opening: &str, cells: &[(u16, u16, &Cell)]) -> io::Result<()> {
        let plain: Vec<(u16, u16, Cell)> = cells
            .iter()
            .map(|(x, y, cell)| {
                let mut cell = (*cell).clone();
                cell.underline_color = ratatui::style::Color::Reset;
                (*x, *y, cell)
            })
            .collect();
        self.inner.write_all(opening.as_bytes())?;
        self.inner.draw(plain.iter().map(|(x, y, cell)| (*x, *y, cell)))?;
        self.inner.write_all(CLOSING.as_bytes())
    }
}

impl<W: Write> Write for LinkBackend<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Write::flush(&mut self.inner)
    }
}

impl<W: Write> Backend for LinkBackend<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let Some(links) = self.links.clone() else { return self.inner.draw(content) };
        let cells: Vec<(u16, u16, &Cell)> = content.collect();
        let mark = |cell: &Cell| cell.underline_color;
        for run in cells.chunk_by(|one, next| mark(one.2) == mark(next.2)) {
            let first = run.first().map(|(_, _, cell)| mark(cell));
            match links.opening(first) {
                Some(opening) => self.draw_linked(&opening, run)?,
                None => self.inner.draw(run.iter().copied())?,
            }
        }
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.inner.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.inner.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.inner.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.inner.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.inner.clear()
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        self.inner.clear_region(clear_type)
    }

    fn append_lines(&mut self, count: u16) -> io::Result<()> {
        self.inner.append_lines(count)
    }

    fn size(&self) -> io::Result<Size> {
        self.inner.size()
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.inner.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.inner)
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::widgets::Widget;
    use ratatui::{Terminal, TerminalOptions, Viewport};

    use super::*;
    use crate::ui::render::highlight::HighlightCache;
    use crate::ui::render::markdown::markdown;
    use crate::ui::theme::Theme;

    /// What is written for `frames` of Markdown drawn one after the other.
    fn written(frames: &[&str], links: Option<Links>) -> String {
        let theme = Theme::dark().with_links(links.clone());
        let mut out = Vec::new();
        let options = TerminalOptions { viewport: Viewport::Fixed(Rect::new(0, 0, 24, 8)) };
        let backend = LinkBackend::new(&mut out, links);
        let mut terminal = Terminal::with_options(backend, options).expect("terminal");
        for source in frames {
            let lines = markdown(source, 24, &theme, &HighlightCache::inline());
            terminal
                .draw(|frame| {
                    for (line, y) in lines.iter().zip(0..8) {
                        line.render(Rect::new(0, y, 24, 1), frame.buffer_mut());
                    }
                })
                .expect("drawn");
        }
        drop(terminal);
        String::from_utf8(out).expect("UTF-8")
    }

    fn shown(bytes: &str) -> String {
        let mut parser = vt100::Parser::new(
            std::num::NonZeroU16::new(8).expect("rows"),
            std::num::NonZeroU16::new(24).expect("columns"),
            0,
        );
        parser.process(bytes.as_bytes());
        let rows = parser.screen().rows(0, 24).map(|row| row.trim_end().to_owned());
        rows.collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    const LINKED: &str = "See [the 日本 guide, which is long](https://a.example/日) 終 end";

    #[test]
    fn a_wrapped_link_is_one_link_and_takes_no_columns() {
        let bytes = written(&[LINKED], Some(Links::new(true)));
        let opening = "\x1b]8;id=k0;https://a.example/%E6%97%A5\x1b\\";
        assert_eq!(bytes.matches("\x1b]8;id=").count(), bytes.matches(CLOSING).count());
        assert!(bytes.matches(opening).count() >= 1, "{bytes:?}");
        assert!(!bytes.contains("\x1b[58"), "no colour is left of the mark");
        let words = shown(&bytes).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words, "See the 日本 guide, which is long 終 end");
    }

    #[test]
    fn where_links_are_off_or_may_be_passed_over_the_address_is_readable() {
        for links in [None, Some(Links::new(false))] {
            let bytes = written(&["[guide](https://a.example)"], links.clone());
            assert_eq!(shown(&bytes), "guide\n(https://a.example)");
            assert_eq!(bytes.contains("\x1b]8;id="), links.is_some());
        }
        let pretends = written(&["[b.example](https://a.example)"], Some(Links::new(true)));
        assert!(shown(&pretends).contains("https://a.example"), "{}", shown(&pretends));
    }

    #[test]
    fn a_frame_that_differs_in_the_address_only_is_written() {
        let links = Links::new(true);
        let bytes = written(&["[x](https://one)", "[x](https://two)"], Some(links));
        assert!(bytes.contains(";https://one\x1b\\") && bytes.contains(";https://two\x1b\\"));
    }

    #[test]
    fn a_model_smuggles_nothing_through_an_address() {
        let evil = "[x](<https://a/&#27;]52;c;aGFjaw==&#7;>) [y](<https://b/&#27;&#92;&#27;[2J>) \
                    [z](javascript:x) <https://c/%1b[2J>";
        let bytes = written(&[evil], Some(Links::new(true)));
        assert!(!bytes.contains("\x1b]52") && !bytes.contains("\x1b[2J"), "{bytes:?}");
        for link in bytes.split("\x1b]8;").skip(1) {
            let address = link.split("\x1b\\").next().expect("an end");
            assert!(address.bytes().all(|byte| byte.is_ascii_graphic()), "{address:?}");
            assert!(!address.contains("javascript"));
        }
    }
}
