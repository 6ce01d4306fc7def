//! A guess at tokens where no provider has counted them.

use crate::message::Message;

/// Roughly how many tokens `text` is: four ASCII characters make one, any other character is one.
///
/// Upstream divides all characters by four, which is far too low for Chinese.
#[must_use]
pub fn estimate_tokens(text: &str) -> u64 {
    quarters(text) / 4
}

/// The same in quarters of a token, so that many small texts add up without losing the remainders.
pub(super) fn quarters(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let ascii = bytes.iter().filter(|byte| byte.is_ascii()).count() as u64;
    let others = bytes.iter().filter(|byte| **byte >= 0xC0).count() as u64;
    ascii.saturating_add(others.saturating_mul(4))
}

/// What a message weighs, in quarters of a token: its text parts and the arguments of its calls.
/// Thinking is left out, as upstream does: most providers do not take it back.
pub(super) fn message_quarters(message: &Message) -> u64 {
    let text = message.content.iter().filter_map(|part| part.as_text()).map(quarters);
    let calls = message.calls().iter().map(|call| quarters(call.arguments()));
    text.chain(calls).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_is_a_quarter_and_anything_else_a_whole() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(estimate_tokens("abcdefgh"), 2);
        assert_eq!(estimate_tokens("压缩"), 2);
        assert_eq!(estimate_tokens("ab压cd😀"), 3);
    }
}
