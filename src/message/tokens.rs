//! A guess at tokens where no provider has counted them: the only place that guesses.
//!
//! It weighs characters by class, in hundredths of a token. The weights were fitted to what OpenAI's
//! `o200k_base` makes of prose, source code, JSON and Chinese: within about 20 % for each of them,
//! where "four characters are a token" is wrong by half for JSON and Chinese.

use super::{ContentPart, Message};

/// Letters in a row that may be a word; more are a key, a hash, or a text in base64.
const LONGEST_WORD: u32 = 16;

/// What a character is, as far as tokens go.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Blank,
    Newline,
    Lower,
    Upper,
    Digit,
    Sign,
    /// Two bytes in UTF-8: Latin with accents, Greek, Cyrillic, Hebrew, Arabic.
    Alphabet,
    /// Chinese characters and full-width signs.
    Han,
    /// Kana, Hangul and everything else below the emoji.
    Syllable,
    Emoji,
}

/// Roughly how many tokens `text` is, for prose, code, JSON and Chinese alike.
#[must_use]
pub fn estimate_tokens(text: &str) -> u64 {
    text_hundredths(text) / 100
}

/// What a message weighs, in hundredths of a token, so that many small ones add up without losing
/// the remainders: its text parts, and the names and arguments of its calls.
///
/// Thinking is left out, as upstream does: most providers do not take it back.
#[must_use]
pub fn message_hundredths(message: &Message) -> u64 {
    let text = message.content.iter().filter_map(ContentPart::as_text).map(text_hundredths);
    let calls = message.calls().iter().map(|call| text_hundredths(call.arguments()));
    text.chain(calls).fold(0, u64::saturating_add)
}

/// Bytes of the longest beginning of `chars` that is no more than `tokens`. From the end of a text
/// it works as well, with `chars` in reverse.
#[must_use]
pub fn bytes_within(chars: impl Iterator<Item = char>, tokens: u64) -> usize {
    let mut scale = Scale::default();
    let mut left = tokens.saturating_mul(100);
    let mut bytes = 0;
    for c in chars {
        let Some(rest) = left.checked_sub(scale.weigh(c)) else { break };
        left = rest;
        bytes += c.len_utf8();
    }
    bytes
}

fn text_hundredths(text: &str) -> u64 {
    let mut scale = Scale::default();
    text.chars().fold(0, |sum, c| sum.saturating_add(scale.weigh(c)))
}

/// Weighs characters one after the other: what one costs depends on what stands before it.
struct Scale {
    before: Class,
    /// Letters in a row so far.
    letters: u32,
}

impl Default for Scale {
    fn default() -> Self {
        Self { before: Class::Newline, letters: 0 }
    }
}

impl Scale {
    fn weigh(&mut self, c: char) -> u64 {
        let class = class(c);
        let is_letter = matches!(class, Class::Lower | Class::Upper);
        self.letters = if is_letter { self.letters.saturating_add(1) } else { 0 };
        let before = std::mem::replace(&mut self.before, class);
        if self.letters > LONGEST_WORD { 22 } else { weight(before, class) }
    }
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' => Class::Lower,
        'A'..='Z' => Class::Upper,
        '0'..='9' => Class::Digit,
        '\n' => Class::Newline,
        '\0'..=' ' => Class::Blank,
        '!'..='\u{7f}' => Class::Sign,
        '\u{80}'..='\u{7ff}' => Class::Alphabet,
        '\u{3000}'..='\u{303f}' | '\u{3400}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}' => Class::Han,
        '\u{800}'..='\u{ffff}' => Class::Syllable,
        _ => Class::Emoji,
    }
}

fn weight(before: Class, class: Class) -> u64 {
    let in_word = matches!(before, Class::Lower | Class::Upper);
    match class {
        // A blank goes with the word behind it, a run of them with the line.
        Class::Blank => 0,
        Class::Newline if before == Class::Newline => 0,
        Class::Newline => 50,
        // A hump begins a word, as in `maxContextSize`.
        Class::Upper if before == Class::Lower => 52,
        Class::Lower | Class::Upper if in_word => 7,
        Class::Lower | Class::Upper => 88,
        Class::Digit => 50,
        Class::Sign if before == Class::Sign => 40,
        Class::Sign => 70,
        Class::Alphabet => 32,
        Class::Han => 72,
        Class::Syllable => 80,
        Class::Emoji => 200,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ToolCall;

    #[test]
    fn it_is_near_what_a_real_tokenizer_counts() {
        // Counted with OpenAI's o200k_base.
        for (text, counted) in [
            ("The renderer keeps one buffer per frame and diffs it against the last one.", 16),
            (
                "let Some(rest) = line.strip_prefix(\"data: \") else { return Err(broken(line)); };",
                21,
            ),
            (
                "[dependencies]\nserde = { version = \"1\", features = [\"derive\"] }\ntoml = \"1.1\"\n",
                25,
            ),
            ("终端界面在流式输出时必须保持响应，输入框不能卡顿，中文字符占两列宽度。", 27),
            ("Терминал должен оставаться отзывчивым во время потокового вывода.", 17),
        ] {
            let guess = estimate_tokens(text);
            let off = guess.abs_diff(counted) * 100 / counted;
            assert!(off <= 20, "{text}: guessed {guess}, counted {counted}");
        }
        assert_eq!(estimate_tokens(""), 0);
    }

    #[test]
    fn a_text_is_cut_where_the_guess_says() {
        let text = "let x = 1; 终端 and words ".repeat(50);
        let tokens = estimate_tokens(&text) / 2;
        let head = bytes_within(text.chars(), tokens);
        assert!(estimate_tokens(&text[..head]).abs_diff(tokens) <= 1);
        let tail = text.len() - bytes_within(text.chars().rev(), tokens);
        assert!(estimate_tokens(&text[tail..]).abs_diff(tokens) <= tokens / 10);
        assert_eq!((bytes_within("ab".chars(), 0), bytes_within("ab".chars(), u64::MAX)), (0, 2));
    }

    #[test]
    fn a_message_is_its_text_and_its_calls() {
        let mut message = Message::assistant("one two");
        let alone = message_hundredths(&message);
        message.content.push(ContentPart::think("a long thought that does not count"));
        assert_eq!(message_hundredths(&message), alone);
        message.tool_calls = Some(vec![ToolCall::new("c", "LS", Some("{\"a\": 1}".into()))]);
        assert!(message_hundredths(&message) > alone);
    }
}
