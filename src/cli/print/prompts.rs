//! Where prompts come from: one that was given, or messages on standard input, one a line.

use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};

use crate::error::user;
use crate::message::{Message, Role, UserInput};

/// The prompts, in order.
pub(in crate::cli) enum Prompts {
    Only(Option<UserInput>),
    Lines { lines: Lines<BufReader<Stdin>>, number: usize },
}

impl Prompts {
    /// `only`, or what comes on standard input.
    pub(in crate::cli) fn new(only: Option<String>) -> Self {
        match only {
            Some(text) => Self::Only(Some(text.into())),
            None => Self::Lines { lines: BufReader::new(tokio::io::stdin()).lines(), number: 0 },
        }
    }

    /// The next one; none when there are no more.
    pub(in crate::cli) async fn next(&mut self) -> anyhow::Result<Option<UserInput>> {
        let (lines, number) = match self {
            Self::Only(only) => return Ok(only.take()),
            Self::Lines { lines, number } => (lines, number),
        };
        while let Some(line) = lines.next_line().await? {
            *number += 1;
            if !line.trim().is_empty() {
                return read_message(&line, *number).map(Some);
            }
        }
        Ok(None)
    }
}

/// The prompt in a `line` that is a message.
pub(in crate::cli) fn read_message(line: &str, number: usize) -> anyhow::Result<UserInput> {
    let told = |what: String| {
        user(
            format!("Line {number} of standard input is no prompt: {what}."),
            r#"Write one JSON object a line: {"role": "user", "content": "…"}"#,
        )
    };
    let message: Message = serde_json::from_str(line).map_err(|error| told(error.to_string()))?;
    if message.role != Role::User {
        return Err(told("its role is not user".to_owned()));
    }
    let text = message.text();
    let is_text = message.content.iter().all(|part| part.as_text().is_some());
    Ok(if is_text { UserInput::Text(text) } else { UserInput::Parts(message.content) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_user_message() {
        let text = read_message(r#"{"role": "user", "content": "hi"}"#, 1).expect("a prompt");
        assert_eq!(text, UserInput::Text("hi".to_owned()));
        let parts =
            r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:x"}}]}"#;
        assert!(matches!(read_message(parts, 1).expect("a prompt"), UserInput::Parts(_)));
        for (line, words) in
            [("hi", "Line 7"), (r#"{"role": "assistant", "content": "x"}"#, "role")]
        {
            let error = read_message(line, 7).expect_err("no prompt").to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
