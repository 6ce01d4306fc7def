//! A model that says what a test tells it to.

use super::*;

/// One thing a scripted model does.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Part(StreamPart),
    /// The request itself is refused.
    Refuse(LlmError),
    /// The stream breaks.
    Break(LlmError),
    /// Nothing for a while.
    Pause(Duration),
    /// Nothing ever.
    Hang,
    /// A defect of ours.
    Panic,
}

pub(super) fn text(text: &str) -> Piece {
    Piece::Part(StreamPart::Content(ContentPart::text(text)))
}

pub(super) fn think(text: &str) -> Piece {
    Piece::Part(StreamPart::Content(ContentPart::think(text)))
}

pub(super) fn call(id: &str, tool: &str, arguments: &Value) -> Piece {
    Piece::Part(StreamPart::ToolCall(ToolCall::new(id, tool, Some(arguments.to_string()))))
}

pub(super) fn usage(input: u64, output: u64) -> Piece {
    Piece::Part(StreamPart::Usage(TokenUsage {
        input_other: input,
        output,
        ..TokenUsage::default()
    }))
}

pub(super) fn finish(reason: FinishReason) -> Piece {
    Piece::Part(StreamPart::Finish(reason))
}

pub(super) fn status(status: u16) -> LlmError {
    LlmError::Status { host: "test".into(), status, message: "no".into(), retry_after: None }
}

/// A model that says what it was told to, and remembers what it was asked.
#[derive(Default)]
pub(super) struct Script {
    pub(super) answers: Mutex<VecDeque<Vec<Piece>>>,
    pub(super) asked: Mutex<Vec<(String, Vec<Message>)>>,
}

impl Script {
    /// The messages of the request number `at`, from 0.
    pub(super) fn messages(&self, at: usize) -> Vec<Message> {
        self.asked.lock().unwrap()[at].1.clone()
    }

    pub(super) fn times_asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl ChatProvider for Script {
    fn model_name(&self) -> &str {
        "script"
    }

    fn stream<'a>(
        &'a self,
        request: ChatRequest<'a>,
    ) -> BoxFuture<'a, Result<PartStream, LlmError>> {
        self.asked.lock().unwrap().push((request.system.to_owned(), request.messages.to_vec()));
        let answer = self.answers.lock().unwrap().pop_front().expect("one more answer");
        Box::pin(async move {
            if let Some(Piece::Refuse(error)) = answer.first() {
                return Err(error.clone());
            }
            let parts = futures::stream::iter(answer).filter_map(|piece| async move {
                match piece {
                    Piece::Part(part) => Some(Ok(part)),
                    Piece::Refuse(error) | Piece::Break(error) => Some(Err(error)),
                    Piece::Pause(time) => {
                        tokio::time::sleep(time).await;
                        None
                    }
                    Piece::Hang => futures::future::pending().await,
                    Piece::Panic => panic!("a defect"),
                }
            });
            Ok(parts.boxed())
        })
    }
}
