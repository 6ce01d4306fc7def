//! Untrusted text for a terminal in print mode.

use std::borrow::Cow;

/// `text` with control characters made visible, so that nothing in it acts on the terminal.
pub(super) fn safe(text: &str) -> Cow<'_, str> {
    let acts = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let picture = |c: char| match u32::from(c) {
        code @ 0..=0x1f => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        _ => '\u{fffd}',
    };
    Cow::Owned(text.chars().map(|c| if acts(c) { picture(c) } else { c }).collect())
}
