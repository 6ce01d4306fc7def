//! Providers that answer from a script: `_scripted_echo` from a file, `_echo` from the last message.
//!
//! The grammar is kosong's echo DSL (`kosong/chat_provider/echo/dsl.py`), with its error texts: tests
//! of the Python program compare them. `docs/models.md` has it for people who write scripts.

mod dsl;
mod python;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use futures::future::BoxFuture;
use futures::{StreamExt, stream};

use self::dsl::Script;
use super::{ChatProvider, ChatRequest, LlmError, PartStream, StreamPart};
use crate::message::Role;

/// The variable that names the script file.
pub(crate) const SCRIPTS_VARIABLE: &str = "KIMI_SCRIPTED_ECHO_SCRIPTS";

/// The variable that asks for a log line a call.
pub(crate) const TRACE_VARIABLE: &str = "KIMI_SCRIPTED_ECHO_TRACE";

/// Does a variable's `value` say yes?
pub(crate) fn is_yes(value: &str) -> bool {
    matches!(value.trim().to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on")
}

/// What errors name as the server.
const HOST: &str = "the scripted model";

/// Answers each call with the next script, whoever calls: the agent, its subagents, compaction.
pub(crate) struct ScriptedEcho {
    trace: bool,
    queue: Mutex<Queue>,
}

struct Queue {
    scripts: VecDeque<String>,
    turn: usize,
}

impl ScriptedEcho {
    /// The scripts of a file: a JSON array of strings, or text with `---` lines between them.
    ///
    /// # Errors
    /// When the file cannot be read, or holds no script.
    pub(crate) fn open(path: &Path) -> Result<Self, LlmError> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            LlmError::Protocol(format!(
                "{SCRIPTS_VARIABLE} names {}, which cannot be read: {error}",
                path.display()
            ))
        })?;
        let scripts = split_scripts(&text);
        if scripts.is_empty() {
            return Err(LlmError::Protocol(format!(
                "{} holds no script: write a JSON array of strings, or text with --- lines between",
                path.display()
            )));
        }
        Ok(Self::new(scripts))
    }

    /// These scripts, in order.
    pub(crate) fn new(scripts: impl IntoIterator<Item = String>) -> Self {
        Self {
            trace: false,
            queue: Mutex::new(Queue { scripts: scripts.into_iter().collect(), turn: 0 }),
        }
    }

    /// The same, with a line in the log for each call if `trace`.
    pub(crate) fn with_trace(self, trace: bool) -> Self {
        Self { trace, ..self }
    }

    fn next(&self) -> Result<String, LlmError> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let script = queue.scripts.pop_front().ok_or_else(|| {
            LlmError::Protocol(format!(
                "ScriptedEchoChatProvider exhausted at turn {}.",
                queue.turn + 1
            ))
        })?;
        queue.turn += 1;
        if self.trace {
            // Never to the terminal: a screen may be on it.
            let (turn, left) = (queue.turn, queue.scripts.len());
            tracing::info!(turn, left, %script, "the scripted model answers");
        }
        Ok(script)
    }
}

fn split_scripts(text: &str) -> Vec<String> {
    if let Ok(scripts) = serde_json::from_str::<Vec<String>>(text) {
        return scripts;
    }
    let lines: Vec<&str> = text.lines().collect();
    lines
        .split(|line| line.trim() == "---")
        .map(|script| script.join("\n").trim().to_owned())
        .filter(|script| !script.is_empty())
        .collect()
}

impl ChatProvider for ScriptedEcho {
    fn model_name(&self) -> &str {
        "scripted_echo"
    }

    fn stream<'a>(&'a self, _: ChatRequest<'a>) -> BoxFuture<'a, Result<PartStream, LlmError>> {
        Box::pin(async move { play(&self.next()?, "ScriptedEchoChatProvider") })
    }
}

/// Answers with the script that the last message is.
pub(crate) struct Echo;

impl ChatProvider for Echo {
    fn model_name(&self) -> &str {
        "echo"
    }

    fn stream<'a>(
        &'a self,
        request: ChatRequest<'a>,
    ) -> BoxFuture<'a, Result<PartStream, LlmError>> {
        Box::pin(async move {
            // Checkpoint rows stand behind the person's message when D-Mail is on.
            let last = request.messages.iter().rfind(|message| !message.is_checkpoint_note());
            let wrong = |text: &str| Err(LlmError::Protocol(format!("EchoChatProvider {text}")));
            match last {
                None => wrong("requires at least one message in history."),
                Some(last) if last.role != Role::User => {
                    wrong("expects the last history message to be user.")
                }
                Some(last) => {
                    play(&crate::message::text_of(&last.content, "\n"), "EchoChatProvider")
                }
            }
        })
    }
}

/// The stream of a script. What is wrong with it, and what it asks to fail with, comes at once.
fn play(script: &str, provider: &str) -> Result<PartStream, LlmError> {
    let Script { parts, id, usage } = dsl::parse(script)?;
    if parts.is_empty() {
        return Err(LlmError::Protocol(format!("{provider} DSL produced no streamable parts.")));
    }
    let id = id.map(StreamPart::MessageId);
    let usage = usage.map(StreamPart::Usage);
    Ok(stream::iter(id.into_iter().chain(parts).chain(usage).map(Ok)).boxed())
}

#[cfg(test)]
mod tests;
