//! Puts the pieces of an answer together: stream parts in, one assistant message out.

use crate::llm::{FinishReason, StreamPart};
use crate::message::{ContentPart, Message, Role, TokenUsage, ToolCall};

/// An answer that is being received. However a provider cuts it up, the message is the same.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    content: Vec<ContentPart>,
    calls: Vec<ToolCall>,
    usage: Option<TokenUsage>,
    id: Option<String>,
    finish: Option<FinishReason>,
}

impl Answer {
    /// An answer of which nothing has come yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece.
    pub fn push(&mut self, part: StreamPart) {
        match part {
            StreamPart::Content(part) => self.push_content(part),
            StreamPart::ToolCall(call) => self.calls.push(call),
            StreamPart::ToolCallArguments(more) => {
                // Arguments before any call break the provider's promise; there is nothing to
                // attach them to.
                if let Some(call) = self.calls.last_mut() {
                    call.function.arguments.get_or_insert_default().push_str(&more);
                }
            }
            StreamPart::Usage(usage) => self.usage = Some(usage),
            StreamPart::MessageId(id) => self.id = Some(id),
            StreamPart::Finish(reason) => self.finish = Some(reason),
        }
    }

    fn push_content(&mut self, part: ContentPart) {
        let empty = match &part {
            ContentPart::Text { text } => text.is_empty(),
            ContentPart::Think { think, encrypted } => think.is_empty() && encrypted.is_none(),
            _ => false,
        };
        if empty {
            return;
        }
        let rest = match self.content.last_mut() {
            Some(last) => last.merge(part).err(),
            None => Some(part),
        };
        self.content.extend(rest);
    }

    /// What was said so far, thinking included, pieces merged.
    #[must_use]
    pub fn content(&self) -> &[ContentPart] {
        &self.content
    }

    /// The tool calls so far, in order.
    #[must_use]
    pub fn calls(&self) -> &[ToolCall] {
        &self.calls
    }

    /// The token counts; `None` when the provider gave none.
    #[must_use]
    pub fn usage(&self) -> Option<TokenUsage> {
        self.usage
    }

    /// The provider's id of the answer.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Why it ended; `None` while it has not, and when the provider does not say.
    #[must_use]
    pub fn finish(&self) -> Option<&FinishReason> {
        self.finish.as_ref()
    }

    /// Is there nothing in it to go on with: no call, and nothing but thinking or blanks? Such an
    /// answer counts as [`crate::llm::LlmError::Empty`].
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        self.calls.is_empty()
            && self.content.iter().all(|part| match part {
                ContentPart::Think { .. } => true,
                ContentPart::Text { text } => text.trim().is_empty(),
                _ => false,
            })
    }

    /// The assistant message so far.
    #[must_use]
    pub fn message(&self) -> Message {
        self.clone().into_message()
    }

    /// The assistant message.
    #[must_use]
    pub fn into_message(self) -> Message {
        Message {
            tool_calls: (!self.calls.is_empty()).then_some(self.calls),
            ..Message::new(Role::Assistant, self.content)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn answer(parts: impl IntoIterator<Item = StreamPart>) -> Answer {
        let mut answer = Answer::new();
        parts.into_iter().for_each(|part| answer.push(part));
        answer
    }

    fn text(text: &str) -> StreamPart {
        StreamPart::Content(ContentPart::text(text))
    }

    fn think(text: &str) -> StreamPart {
        StreamPart::Content(ContentPart::think(text))
    }

    #[test]
    fn pieces_become_one_message() {
        let got = answer([
            StreamPart::MessageId("m1".into()),
            think("Hm"),
            think("m."),
            text(""),
            text("On "),
            text("it"),
            StreamPart::ToolCall(ToolCall::new("c1", "Bash", None)),
            StreamPart::ToolCallArguments("{\"command\":".into()),
            StreamPart::ToolCallArguments("\"ls\"}".into()),
            StreamPart::ToolCall(ToolCall::new("c2", "LS", Some("{}".into()))),
            StreamPart::Usage(TokenUsage { output: 1, ..TokenUsage::default() }),
            StreamPart::Finish(FinishReason::ToolCalls),
            StreamPart::Usage(TokenUsage { output: 9, ..TokenUsage::default() }),
        ]);
        assert_eq!(got.usage().map(|usage| usage.output), Some(9));
        assert_eq!((got.id(), got.finish()), (Some("m1"), Some(&FinishReason::ToolCalls)));
        let message = got.into_message();
        assert_eq!(message.content, [ContentPart::think("Hmm."), ContentPart::text("On it")]);
        assert_eq!(message.calls()[0].arguments(), r#"{"command":"ls"}"#);
        assert_eq!(message.calls()[1].arguments(), "{}");
    }

    #[test]
    fn a_signature_closes_a_thought() {
        let signed = ContentPart::Think { think: "b".into(), encrypted: Some("s".into()) };
        let got = answer([think("a"), StreamPart::Content(signed), think("c")]);
        assert_eq!(got.content().len(), 2);
        let ContentPart::Think { think, encrypted } = &got.content()[0] else { panic!("thinking") };
        assert_eq!((think.as_str(), encrypted.as_deref()), ("ab", Some("s")));
    }

    #[test]
    fn thinking_alone_is_no_answer() {
        assert!(answer([]).is_incomplete());
        assert!(answer([think("so"), text(" \n")]).is_incomplete());
        assert!(!answer([think("so"), text("yes")]).is_incomplete());
        let call = StreamPart::ToolCall(ToolCall::new("c", "LS", None));
        assert!(!answer([think("so"), call]).is_incomplete());
    }

    #[derive(Debug, Clone)]
    enum Whole {
        Text(String),
        Think(String),
        Call(String),
    }

    /// The same answer with every text and all arguments cut at `cuts`.
    fn pieces(whole: &[Whole], cuts: &[usize]) -> Vec<StreamPart> {
        let mut cuts = cuts.iter().copied().cycle();
        let mut split = |text: &str| {
            let mut chars: Vec<char> = text.chars().collect();
            let mut out = Vec::new();
            while !chars.is_empty() {
                let rest = chars.split_off(cuts.next().unwrap_or(1).clamp(1, chars.len()));
                out.push(std::mem::replace(&mut chars, rest).into_iter().collect::<String>());
            }
            out
        };
        let mut parts = Vec::new();
        for (at, piece) in whole.iter().enumerate() {
            match piece {
                Whole::Text(said) => parts.extend(split(said).iter().map(|piece| text(piece))),
                Whole::Think(said) => parts.extend(split(said).iter().map(|piece| think(piece))),
                Whole::Call(arguments) => {
                    parts.push(StreamPart::ToolCall(ToolCall::new(format!("c{at}"), "T", None)));
                    parts.extend(split(arguments).into_iter().map(StreamPart::ToolCallArguments));
                }
            }
        }
        parts
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_answer(
            whole in prop::collection::vec(
                prop_oneof![
                    "[a-z终😀 ]{1,12}".prop_map(Whole::Text),
                    "[a-z终😀 ]{1,12}".prop_map(Whole::Think),
                    "[a-z{}\": ]{1,12}".prop_map(Whole::Call),
                ],
                0..8,
            ),
            cuts in prop::collection::vec(1_usize..5, 1..6),
        ) {
            let one = answer(pieces(&whole, &[usize::MAX]));
            let other = answer(pieces(&whole, &cuts));
            prop_assert_eq!(&other, &one);
            let said: String = whole.iter().filter_map(|p| match p {
                Whole::Text(text) => Some(text.as_str()),
                _ => None,
            }).collect();
            prop_assert_eq!(crate::message::text_of(one.content(), ""), said);
        }
    }
}
