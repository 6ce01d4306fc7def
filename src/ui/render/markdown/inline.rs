//! Text inside a block: styles, links, code.

use ratatui::style::{Color, Style};
use ratatui::text::Span;

use super::math;
use super::tree::Styled;
use crate::ui::render::links::looks_like_an_address;
use crate::ui::render::sanitize::sanitize_line;
use crate::ui::render::width::grapheme_width;
use crate::ui::theme::Theme;

/// Text that is being read.
#[derive(Debug)]
pub(super) struct Inline<'a> {
    theme: &'a Theme,
    lines: Styled,
    /// The style of each open tag, the block's first. A stack, because a style that was patched in
    /// cannot be taken out again.
    styles: Vec<Style>,
    links: Vec<Link>,
}

#[derive(Debug)]
struct Link {
    url: String,
    text: String,
    image: bool,
    /// Marks it as a link of the terminal.
    mark: Option<Color>,
}

impl<'a> Inline<'a> {
    pub(super) fn new(theme: &'a Theme, base: Style) -> Self {
        Self { theme, lines: vec![Vec::new()], styles: vec![base], links: Vec::new() }
    }

    pub(super) fn finish(mut self) -> Styled {
        for line in &mut self.lines {
            trim_end(line);
            mute_footnotes(line, self.theme);
        }
        while self.lines.last().is_some_and(Vec::is_empty) {
            self.lines.pop();
        }
        self.lines
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn push(&mut self, text: &str, style: Style) {
        let text = sanitize_line(text, 0);
        if text.is_empty() {
            return;
        }
        for link in &mut self.links {
            link.text.push_str(&text);
        }
        let Some(line) = self.lines.last_mut() else { return };
        match line.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(&text),
            _ => line.push(Span::styled(text.into_owned(), style)),
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.push(text, self.style());
    }

    pub(super) fn code(&mut self, text: &str) {
        self.push(text, self.style().patch(self.theme.inline_code));
    }

    /// A formula in running text. Dollars around what is no formula are money.
    pub(super) fn math(&mut self, source: &str) {
        if math::is_formula(source) {
            self.push(&math::readable(source), self.style().patch(self.theme.inline_code));
        } else {
            self.push(&format!("${source}$"), self.style());
        }
    }

    /// What follows stands on lines of its own.
    pub(super) fn line_begins(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.hard_break();
        }
    }

    /// A line of a formula on lines of its own.
    pub(super) fn math_line(&mut self, line: &str) {
        self.push(line.trim(), self.style().patch(self.theme.inline_code));
        self.hard_break();
    }

    /// HTML is shown as it stands; only a line break means one, as models use it in tables.
    pub(super) fn html(&mut self, text: &str) {
        let name = text.trim_matches(['<', '>', '/', ' ']);
        if name.eq_ignore_ascii_case("br") {
            self.hard_break();
        } else {
            self.push(text, self.style().patch(self.theme.muted));
        }
    }

    pub(super) fn footnote(&mut self, label: &str) {
        self.push(&format!("[^{label}]"), self.style().patch(self.theme.muted));
    }

    pub(super) fn soft_break(&mut self) {
        let last = self.lines.last().and_then(|line| line.last());
        let wide = last.and_then(|span| span.content.chars().next_back()).is_some_and(|c| {
            let mut buffer = [0; 4];
            grapheme_width(c.encode_utf8(&mut buffer)) == 2
        });
        // A line break in Chinese or Japanese text is no space.
        if !wide {
            self.push(" ", self.style());
        }
    }

    pub(super) fn hard_break(&mut self) {
        self.lines.push(Vec::new());
    }

    pub(super) fn begin_style(&mut self, style: Style) {
        self.styles.push(self.style().patch(style));
    }

    pub(super) fn end_style(&mut self) {
        if self.styles.len() > 1 {
            self.styles.pop();
        }
    }

    pub(super) fn begin_link(&mut self, url: &str, image: bool) {
        if image {
            self.push("image: ", self.style().patch(self.theme.muted));
        }
        let mark = self.theme.links.as_ref().and_then(|links| links.mark(url));
        self.links.push(Link { url: url.to_owned(), text: String::new(), image, mark });
        self.begin_style(linked(self.theme.link, mark));
    }

    pub(super) fn end_link(&mut self) {
        self.end_style();
        let Some(link) = self.links.pop() else { return };
        let url = sanitize_line(&link.url, 0).into_owned();
        let bare = |text: &str| {
            let text = text.trim_start_matches("mailto:").trim_start_matches("https://");
            text.trim_start_matches("http://").trim_end_matches('/').to_owned()
        };
        let said = bare(&link.text) == bare(&url) || url.is_empty() || url.starts_with('#');
        let hides = self.theme.links.as_ref().is_some_and(|links| links.hides_addresses);
        let stands_for_it = hides && link.mark.is_some() && !looks_like_an_address(&link.text);
        if link.text.is_empty() {
            let alone = if link.image && url.is_empty() { "image" } else { &url };
            self.push(alone, linked(self.style().patch(self.theme.link), link.mark));
        } else if !said && !stands_for_it {
            self.push(
                &format!(" ({url})"),
                linked(self.style().patch(self.theme.muted), link.mark),
            );
        }
    }
}

/// Marks of footnotes look the same whether the note has been written already or not.
fn mute_footnotes(line: &mut Vec<Span<'static>>, theme: &Theme) {
    let is_code = |span: &Span<'_>| span.style.patch(theme.inline_code) == span.style;
    if !line.iter().any(|span| span.content.contains("[^") && !is_code(span)) {
        return;
    }
    let mut put: Vec<Span<'static>> = Vec::with_capacity(line.len() + 2);
    let mut push = |text: &str, style: Style| match put.last_mut() {
        Some(last) if last.style == style => last.content.to_mut().push_str(text),
        _ if text.is_empty() => {}
        _ => put.push(Span::styled(text.to_owned(), style)),
    };
    for span in line.drain(..) {
        let mut rest: &str = &span.content;
        while let Some((at, end)) = footnote_mark(rest).filter(|_| !is_code(&span)) {
            push(&rest[..at], span.style);
            push(&rest[at..end], span.style.patch(theme.muted));
            rest = &rest[end..];
        }
        push(rest, span.style);
    }
    *line = put;
}

/// Where the first `[^name]` stands.
fn footnote_mark(text: &str) -> Option<(usize, usize)> {
    text.match_indices("[^").find_map(|(at, _)| {
        let name = &text[at + 2..];
        let len = name.find(|c: char| c.is_whitespace() || matches!(c, '[' | ']'))?;
        (len > 0 && name[len..].starts_with(']')).then_some((at, at + 2 + len + 1))
    })
}

fn linked(mut style: Style, mark: Option<Color>) -> Style {
    style.underline_color = mark.or(style.underline_color);
    style
}

fn trim_end(line: &mut Vec<Span<'static>>) {
    while let Some(last) = line.last_mut() {
        let kept = last.content.trim_end_matches(' ').len();
        if kept == last.content.len() {
            return;
        }
        last.content.to_mut().truncate(kept);
        if kept > 0 {
            return;
        }
        line.pop();
    }
}
