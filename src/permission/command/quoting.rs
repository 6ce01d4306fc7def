//! Quotes and parentheses of a shell: where they end and what stands in them.

/// Adds the characters of `$'…'`, whose opening quote was read, to `word`; gives what follows it.
pub(super) fn unescape<'a>(inside: &'a str, word: &mut String) -> &'a str {
    let mut rest = inside;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c == '\'' {
            return rest;
        }
        let Some(kind) = rest.chars().next().filter(|_| c == '\\') else {
            word.push(c);
            continue;
        };
        let (digits, radix, skip) = match kind {
            'x' => (2, 16, 1),
            'u' => (4, 16, 1),
            'U' => (8, 16, 1),
            '0'..='7' => (3, 8, 0),
            _ => (0, 10, kind.len_utf8()),
        };
        let number: String =
            rest[skip..].chars().take(digits).take_while(|c| c.is_digit(radix)).collect();
        let code = u32::from_str_radix(&number, radix).ok().and_then(char::from_u32);
        word.push(code.unwrap_or(match kind {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            other => other,
        }));
        rest = &rest[skip + number.len()..];
    }
    rest
}

/// Where the parenthesis that was opened before `text` closes; its end when it does not.
pub(super) fn closing(text: &str) -> usize {
    let (mut depth, mut quote, mut escaped) = (1_usize, None, false);
    for (at, c) in text.char_indices() {
        match (c, quote) {
            _ if escaped => escaped = false,
            ('\\', None | Some('"')) => escaped = true,
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('(', None) => depth += 1,
            (')', None) => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    text.len()
}
