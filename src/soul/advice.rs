//! What to do about a provider that failed, in words for a person. Pure.

use super::Model;
use crate::llm::LlmError;

/// What happened and what to do next.
pub(super) fn provider_failure(error: &LlmError, model: Option<&Model>) -> String {
    let configured_in = model.map_or("config.toml", |model| model.configured_in.as_str());
    format!("{}. {}", capitalised(&error.to_string()), next(error, configured_in))
}

fn next(error: &LlmError, configured_in: &str) -> String {
    match error {
        LlmError::Connection { .. } => format!(
            "Check the network, and the address (base_url, {configured_in}). \
             Send the prompt again to retry."
        ),
        LlmError::Timeout { .. } => {
            "The server may be overloaded. Send the prompt again to retry.".to_owned()
        }
        LlmError::Status { status, .. } => by_status(*status, configured_in),
        LlmError::LoggedOut { .. } => {
            "Type /login and choose it, or run kimi-tui login --oauth. What you wrote is kept."
                .to_owned()
        }
        LlmError::Empty => "Send the prompt again, or put it in other words.".to_owned(),
        LlmError::Protocol(_) => format!(
            "If this repeats, check the provider's type and base_url ({configured_in}), \
             or choose another model."
        ),
    }
}

fn by_status(status: u16, configured_in: &str) -> String {
    match status {
        401 => {
            format!("Check the API key ({configured_in}); it may be wrong, or for another service.")
        }
        402 => "The account has no credit left. Top it up, or choose another model.".to_owned(),
        403 => format!("The API key ({configured_in}) may not use this model. Choose another one."),
        404 => format!("Check the model's name and the base_url ({configured_in})."),
        408 | 504 => "The server took too long. Send the prompt again to retry.".to_owned(),
        413 => "The conversation is too long for this server. Try /compact.".to_owned(),
        429 => {
            "The rate limit or the quota is used up. Wait a little, or check the plan.".to_owned()
        }
        400 | 422 => {
            "The server does not accept the request. If the conversation may be too long, \
             try /compact; else check the model's settings."
                .to_owned()
        }
        529 => {
            "The service is overloaded. Send the prompt again in a while, or choose another model."
                .to_owned()
        }
        500..=599 => "The fault is the server's. Send the prompt again in a while.".to_owned(),
        _ => format!("Check the settings of the provider ({configured_in})."),
    }
}

fn capitalised(text: &str) -> String {
    let text = text.trim_end_matches('.');
    let mut chars = text.chars();
    match chars.next() {
        // A host's name stays as it is.
        Some(first) if !text.split(' ').next().unwrap_or_default().contains('.') => {
            first.to_uppercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16) -> LlmError {
        LlmError::Status {
            host: "api.example.org".to_owned(),
            status,
            message: "no".to_owned(),
            retry_after: None,
        }
    }

    #[test]
    fn each_failure_says_what_to_do() {
        let text = |error: &LlmError| provider_failure(error, None);
        assert_eq!(
            text(&status(401)),
            "api.example.org answered 401: no. Check the API key (config.toml); it may be wrong, \
             or for another service."
        );
        assert!(text(&status(429)).contains("quota"));
        assert!(text(&status(503)).contains("the server's"));
        let broken = LlmError::Connection { host: "localhost:1".into(), detail: "refused".into() };
        assert!(text(&broken).starts_with("Could not talk to localhost:1: refused. Check"));
        assert!(text(&LlmError::Empty).starts_with("The model's answer was empty. Send"));
    }
}
