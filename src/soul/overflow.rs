//! Does a provider refuse a request because the conversation is too long? Pure.

use crate::llm::LlmError;

/// What servers say then. There is no common code: OpenAI's has one, most only have words.
const WORDS: &[&str] = &[
    "context_length_exceeded",
    "context length",
    "context window",
    "context size",
    "maximum context",
    "maximum prompt length",
    "prompt is too long",
    "input is too long",
    "input length",
    "too many tokens",
    "exceeded model token limit",
    "exceeds the maximum number of tokens",
    "reduce the length",
    "max_prompt_tokens",
    "input token count",
];

/// Would the same question have a chance if it were shorter?
pub(super) fn is_too_long(error: &LlmError) -> bool {
    let LlmError::Status { status, message, .. } = error else { return false };
    match status {
        413 => true,
        // Some servers take their own refusal for an error of theirs.
        400 | 422 | 500 => {
            let message = message.to_lowercase();
            WORDS.iter().any(|words| message.contains(words))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(status: u16, message: &str) -> LlmError {
        LlmError::Status { host: "h".into(), status, message: message.into(), retry_after: None }
    }

    #[test]
    fn the_words_of_servers_are_known() {
        for message in [
            "This model's maximum context length is 128000 tokens. However, your messages \
             resulted in 140000 tokens.",
            "Invalid request: Your request exceeded model token limit: 262144",
            "prompt is too long: 210000 tokens > 200000 maximum",
            "the request exceeds the available context size, try increasing it",
            "The input token count (1200000) exceeds the maximum number of tokens allowed",
            "Input length 5000 exceeds maximum length 4096",
        ] {
            assert!(is_too_long(&refusal(400, message)), "{message}");
        }
        assert!(is_too_long(&refusal(413, "no")));
        assert!(!is_too_long(&refusal(400, "unknown model")));
        assert!(!is_too_long(&refusal(429, "too many tokens per minute")));
        assert!(!is_too_long(&LlmError::Empty));
    }
}
