//! What a streamed answer costs: 20,000 tokens from a server on loopback through the provider and
//! into an `Answer`, in CPU time of the whole process, the server's writing included.
//!
//! `cargo bench --bench llm`

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot set its stage should stop")]
#![allow(clippy::print_stdout, reason = "its result")]

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use futures::StreamExt;
use kimi_tui::config::{NetworkConfig, ProviderConfig, ProviderKind, ResolvedModel};
use kimi_tui::llm::{Answer, ChatRequest, build};

const TOKENS: usize = 20_000;
const ROUNDS: u32 = 10;
/// Seconds of CPU an answer may cost.
const BUDGET: f64 = 0.15;

fn body(kind: ProviderKind) -> String {
    let words = ["buffer ", "diffs", " it, ", "终端", "let x = 1;\n"];
    let mut out = String::from("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n");
    out.push_str("Connection: close\r\n\r\n");
    let mut event = |data: String| write!(out, "data: {data}\n\n").unwrap();
    let anthropic = kind == ProviderKind::Anthropic;
    if anthropic {
        event(r#"{"type":"message_start","message":{"id":"m"}}"#.into());
        let block = r#"{"type":"text","text":""}"#;
        event(format!(r#"{{"type":"content_block_start","index":0,"content_block":{block}}}"#));
    }
    for word in (0..TOKENS).map(|at| serde_json::to_string(words[at % words.len()]).unwrap()) {
        event(if anthropic {
            let delta = format!(r#"{{"type":"text_delta","text":{word}}}"#);
            format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#)
        } else {
            format!(
                r#"{{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"k","choices":[{{"index":0,"delta":{{"content":{word}}},"finish_reason":null}}]}}"#
            )
        });
    }
    event(if anthropic {
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#.into()
    } else {
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#.into()
    });
    out
}

fn serve(kind: ProviderKind) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let body = body(kind);
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let mut request = [0; 65536];
            let _ = socket.read(&mut request).unwrap();
            socket.write_all(body.as_bytes()).unwrap();
        }
    });
    address
}

fn model(kind: ProviderKind, base_url: String) -> ResolvedModel {
    ResolvedModel {
        key: "m".into(),
        model: "m".into(),
        display_name: "M".into(),
        max_context_size: 100_000,
        capabilities: vec![],
        thinking: false,
        provider: ProviderConfig {
            kind,
            base_url,
            api_key: String::new(),
            env: Default::default(),
            custom_headers: Default::default(),
            reasoning_key: None,
            oauth: None,
        },
        max_output_tokens: None,
        price: None,
        network: NetworkConfig::default(),
    }
}

/// CPU time of this process so far, user and system, in hundredths of a second.
fn cpu() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for kind in [ProviderKind::Kimi, ProviderKind::Anthropic] {
        let provider = build(&model(kind, serve(kind))).unwrap();
        let mut wall = Duration::ZERO;
        let before = cpu();
        for _ in 0..ROUNDS {
            let started = Instant::now();
            let answer = runtime.block_on(async {
                let request = ChatRequest {
                    system: "",
                    tools: &[],
                    messages: &[],
                    cache_key: None,
                    input_tokens: None,
                };
                let mut parts = provider.stream(request).await.unwrap();
                let mut answer = Answer::new();
                while let Some(part) = parts.next().await {
                    answer.push(part.unwrap());
                }
                answer
            });
            assert!(answer.message().text().len() > TOKENS);
            wall += started.elapsed();
        }
        #[allow(clippy::cast_precision_loss, reason = "a few hundred ticks")]
        let seconds = (cpu() - before) as f64 / 100.0 / f64::from(ROUNDS);
        let verdict = if seconds < BUDGET { "within" } else { "OVER" };
        println!(
            "{kind:?}: {TOKENS} tokens: {seconds:.3} s of CPU, {:.3} s of wall time: {verdict} \
             {BUDGET} s",
            wall.as_secs_f64() / f64::from(ROUNDS)
        );
    }
}
