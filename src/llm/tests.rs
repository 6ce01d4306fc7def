//! What every dialect must do, tested alike: recorded streams, faults, garbage, prefixes.

mod faults;
mod garbage;
mod prefix;
mod proxies;
mod recorded;
mod thinking;

use std::sync::Arc;

use super::loopback::{Loopback, Play, events};
use super::*;
use crate::config::{ProviderKind, ResolvedModel};

/// The kinds that speak over the network.
const KINDS: [ProviderKind; 5] = [
    ProviderKind::Kimi,
    ProviderKind::OpenaiLegacy,
    ProviderKind::OpenaiResponses,
    ProviderKind::Anthropic,
    ProviderKind::GoogleGenai,
];

/// The data of a short answer, "Hello", in the dialect of `kind`; the last event ends it.
fn hello(kind: ProviderKind) -> Vec<&'static str> {
    match kind {
        ProviderKind::Anthropic => vec![
            r#"{"type":"message_start","message":{"id":"m1","usage":{"input_tokens":9}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}"#,
        ],
        ProviderKind::OpenaiResponses => vec![
            r#"{"type":"response.created","response":{"id":"m1"}}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"delta":"Hello"}"#,
            r#"{"type":"response.completed","response":{"id":"m1","output":[],"usage":{"input_tokens":9,"output_tokens":3}}}"#,
        ],
        ProviderKind::GoogleGenai => vec![
            r#"{"responseId":"m1","candidates":[{"content":{"parts":[{"text":"Hello"}]}}]}"#,
            r#"{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":3}}"#,
        ],
        _ => vec![
            r#"{"id":"m1","choices":[{"delta":{"content":"Hello"}}]}"#,
            r#"{"id":"m1","choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}"#,
        ],
    }
}

fn provider(model: &ResolvedModel) -> Arc<dyn ChatProvider> {
    build(model).expect("a provider")
}

/// Asks a model of `kind` at a server that plays `plays` once.
async fn answered(kind: ProviderKind, plays: Vec<Play>) -> Result<Answer, LlmError> {
    let server = Loopback::start(vec![plays]).await;
    fixture::ask(&*provider(&fixture::model(kind, &server.address)), fixture::hi()).await
}

#[tokio::test]
async fn each_dialect_says_hello() {
    for kind in KINDS {
        let answer = answered(kind, vec![events(&hello(kind))]).await.expect("an answer");
        assert_eq!(answer.message().text(), "Hello", "{kind:?}");
        assert_eq!((answer.id(), answer.finish()), (Some("m1"), Some(&FinishReason::Stop)));
        let usage = answer.usage().expect("usage");
        assert_eq!((usage.input(), usage.output), (9, 3), "{kind:?}");
    }
}
