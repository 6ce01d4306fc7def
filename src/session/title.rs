//! What a session is called.

/// Longest title made from a prompt, in characters.
const LONGEST: usize = 50;

/// `text` as a title: white space collapsed, at most 50 characters, cut with `…` at the last space
/// there is (`kimi-cli` `utils/string.py:10`). Empty for a blank text.
#[must_use]
pub fn short_title(text: &str) -> String {
    let mut words = String::new();
    // One word more than fits is enough to know that it does not; a prompt may be megabytes.
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.extend(word.chars().take(LONGEST + 1));
        if words.chars().nth(LONGEST).is_some() {
            break;
        }
    }
    let end = |count: usize| words.char_indices().nth(count).map(|(at, _)| at);
    let Some(limit) = end(LONGEST).and(end(LONGEST - 1)) else { return words };
    // A space right behind the limit is a word boundary too.
    let behind = words[limit..].chars().next().map_or(limit, |c| limit + c.len_utf8());
    let cut = words[..behind].rfind(' ').filter(|at| *at > 0).unwrap_or(limit);
    format!("{}…", words[..cut].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn long_texts_are_cut_at_a_word_and_long_words_anywhere() {
        assert_eq!(short_title("  run \n it\t"), "run it");
        assert_eq!(short_title(" \n"), "");
        let fifty = "a".repeat(50);
        assert_eq!(short_title(&fifty), fifty);
        assert_eq!(short_title(&"压".repeat(51)), format!("{}…", "压".repeat(49)));
        assert_eq!(
            short_title("please find out why the tests of the parser fail on Windows only"),
            "please find out why the tests of the parser fail…"
        );
        let boundary = format!("{} {}", "a".repeat(49), "b".repeat(9));
        assert_eq!(short_title(&boundary), format!("{}…", "a".repeat(49)));
    }

    proptest! {
        #[test]
        fn a_title_fits_and_begins_as_the_text_does(text in "[a-c压😀 \n]{0,120}") {
            let title = short_title(&text);
            prop_assert!(title.chars().count() <= LONGEST);
            let collapsed = text.split_whitespace().collect::<Vec<_>>().join(" ");
            match title.strip_suffix('…') {
                Some(start) => prop_assert!(collapsed.starts_with(start) && !start.is_empty()),
                None => prop_assert_eq!(title, collapsed),
            }
        }
    }
}
