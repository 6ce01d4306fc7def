//! Whatever a server sends, cut anywhere: no panic, no endless loop, and the same understanding.

use std::time::Duration;

use futures::{StreamExt, stream};
use proptest::prelude::*;

use super::*;
use crate::llm::anthropic::AnthropicReader;
use crate::llm::gemini::GeminiReader;
use crate::llm::masks::Masks;
use crate::llm::openai::OpenAiReader;
use crate::llm::receive::{Peer, parts};
use crate::llm::responses::ResponsesReader;

/// All that comes of a body that arrives in these pieces.
fn read(kind: ProviderKind, pieces: &[&[u8]]) -> Vec<Result<StreamPart, LlmError>> {
    let pieces: Vec<_> = pieces.iter().map(|piece| Ok(piece.to_vec())).collect();
    let bytes = stream::iter(pieces).boxed();
    let (peer, masks, close) = (Peer::new("h"), Masks::default(), Duration::from_secs(1));
    let parts = match kind {
        ProviderKind::Anthropic => parts(bytes, AnthropicReader::new("h"), peer, masks, close),
        ProviderKind::OpenaiResponses => {
            parts(bytes, ResponsesReader::new("h"), peer, masks, close)
        }
        ProviderKind::GoogleGenai => parts(bytes, GeminiReader::new("h"), peer, masks, close),
        _ => parts(bytes, OpenAiReader::new("h", None), peer, masks, close),
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(parts.collect())
}

/// The message of all parts, and the fault behind them.
fn understood(parts: Vec<Result<StreamPart, LlmError>>) -> (Answer, Option<LlmError>) {
    let mut answer = Answer::new();
    let mut fault = None;
    for part in parts {
        assert!(fault.is_none(), "nothing comes behind a fault");
        match part {
            Ok(part) => answer.push(part),
            Err(error) => fault = Some(error),
        }
    }
    (answer, fault)
}

fn pieces<'a>(bytes: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    at.extend([0, bytes.len()]);
    at.sort_unstable();
    at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

/// JSON that looks like a server's: the names all dialects use, with values of any type.
fn chunk() -> impl Strategy<Value = String> {
    let names = prop::sample::select(vec![
        "id",
        "type",
        "choices",
        "delta",
        "content",
        "tool_calls",
        "index",
        "function",
        "name",
        "arguments",
        "finish_reason",
        "usage",
        "prompt_tokens",
        "reasoning_content",
        "error",
        "message",
        "content_block",
        "text",
        "thinking",
        "signature",
        "partial_json",
        "response",
        "output",
        "item",
        "output_index",
        "candidates",
        "parts",
        "functionCall",
        "args",
        "finishReason",
        "usageMetadata",
        "object",
        "data",
        "stop_reason",
        "input",
        "summary",
    ]);
    let words = prop::sample::select(vec![
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "tool_use",
        "text",
        "thinking",
        "text_delta",
        "error",
        "input_json_delta",
        "signature_delta",
        "response.created",
        "response.completed",
        "response.output_item.added",
        "response.output_item.done",
        "function_call",
        "reasoning",
        "response.function_call_arguments.delta",
        "stop",
        "STOP",
        "{\"a\":1}",
        "{",
        "<think>",
        "</think>",
        "\\ud83d",
        "终端",
        "",
    ]);
    let leaf = prop_oneof![
        words.prop_map(|word| format!("\"{}\"", word.replace('"', "\\\""))),
        any::<i64>().prop_map(|number| number.to_string()),
        (0_u64..4).prop_map(|number| number.to_string()),
        Just("null".to_owned()),
        Just("true".to_owned()),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec((names.clone(), inner.clone()), 0..6).prop_map(|fields| {
                let fields: Vec<String> =
                    fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                format!("{{{}}}", fields.join(","))
            }),
            prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(","))),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_come_to_an_end(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        for kind in KINDS {
            let cut = understood(read(kind, &pieces(&bytes, &cuts)));
            prop_assert!(cut.1.is_some(), "{bytes:?} is an answer to {kind:?}");
        }
    }

    #[test]
    fn any_json_comes_to_the_same_end_however_it_is_cut(
        chunks in prop::collection::vec(chunk(), 1..6),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let body: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
        for kind in KINDS {
            let whole = understood(read(kind, &[body.as_bytes()]));
            let cut = understood(read(kind, &pieces(body.as_bytes(), &cuts)));
            prop_assert_eq!(cut, whole, "{:?}", kind);
        }
    }

    #[test]
    fn a_spoilt_answer_is_an_answer_or_a_fault(
        spoil in any::<prop::sample::Index>(),
        with in any::<u8>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        for kind in KINDS {
            let mut body: Vec<u8> =
                hello(kind).iter().flat_map(|data| format!("data: {data}\n\n").into_bytes()).collect();
            let at = spoil.index(body.len());
            body[at] = with;
            understood(read(kind, &pieces(&body, &cuts)));
        }
    }
}

#[test]
fn an_endless_answer_is_refused_before_it_fills_the_memory() {
    let megabyte = vec![b'x'; 1 << 20];
    let mut long: Vec<&[u8]> = vec![b"data: "];
    long.extend(std::iter::repeat_n(megabyte.as_slice(), 10));
    for kind in KINDS {
        // 10 MB that are no JSON, and a line that never ends.
        let (_, fault) = understood(read(kind, &long));
        let said = fault.expect("a fault").to_string();
        assert!(said.contains("not JSON") && said.len() < 1000, "{said}");
        let endless: Vec<&[u8]> = long.iter().copied().cycle().take(40).collect();
        let (_, fault) = understood(read(kind, &endless));
        assert!(fault.expect("a fault").to_string().contains("larger than"), "{kind:?}");
    }
}
