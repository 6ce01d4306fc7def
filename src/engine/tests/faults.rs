//! Everything that goes wrong between us and a model's server, as a session tells it: what is tried
//! again, what ends the turn, and in which words. The words are the table of `docs/models.md`.

use super::*;
use crate::config::NetworkConfig;
use crate::llm::loopback::{Loopback, Play, events, http};
use crate::message::Price;

/// What a session is to make of a fault.
struct Case {
    name: &'static str,
    plays: Vec<Play>,
    /// The kind of error and status of the retry; none: it is not tried again.
    retry: Option<(&'static str, Option<u16>)>,
    /// What the person reads when it does not go away.
    says: &'static [&'static str],
}

const JSON: &str = "Content-Type: application/json\r\n";
const HTML: &str = "Content-Type: text/html\r\n";
const STREAM: &str = "Content-Type: text/event-stream\r\n";
const PAGE: &str = "<!doctype html><html><head><title>Sign in</title></head><body>x</body></html>";
const HELLO: &str = r#"{"id":"m1","choices":[{"delta":{"content":"Hello"}}]}"#;
const STOP: &str = r#"{"id":"m1","choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}"#;

fn refusal(
    name: &'static str,
    status: u16,
    headers: &str,
    message: &str,
    retried: bool,
    says: &'static [&'static str],
) -> Case {
    let body = format!(r#"{{"error":{{"message":"{message} (sk-secret-key)","type":"e"}}}}"#);
    let plays = vec![http(&format!("{status} Reason"), &format!("{JSON}{headers}"), &body)];
    Case { name, plays, retry: retried.then_some(("APIStatusError", Some(status))), says }
}

fn broken(name: &'static str, plays: Vec<Play>, says: &'static [&'static str]) -> Case {
    Case { name, plays, retry: Some(("APIConnectionError", None)), says }
}

fn late(name: &'static str, plays: Vec<Play>) -> Case {
    let says: &[_] = &["did not answer within", "Send the prompt again"];
    Case { name, plays, retry: Some(("APITimeoutError", None)), says }
}

fn statuses() -> Vec<Case> {
    let theirs: &[_] = &["answered 5", "The fault is the server's", "Send the prompt again"];
    vec![
        refusal("401", 401, "", "bad key", false, &["answered 401: bad key", "Check the API key"]),
        refusal("403", 403, "", "not here", false, &["403: not here", "may not use this model"]),
        refusal(
            "404 model",
            404,
            "",
            "model some-model not found",
            false,
            &["404: model some-model not found", "Check the model's name and the base_url"],
        ),
        refusal("408", 408, "", "slow", true, &["408: slow", "The server took too long"]),
        refusal("413", 413, "", "too big", false, &["413: too big", "/compact"]),
        refusal("422", 422, "", "odd", false, &["422: odd", "does not accept the request"]),
        refusal("429", 429, "", "slow down", true, &["429: slow down", "rate limit or the quota"]),
        refusal(
            "429 with a wait",
            429,
            "Retry-After: 1\r\n",
            "slow down",
            true,
            &["429: slow down", "Wait a little"],
        ),
        refusal("500", 500, "", "oops", true, theirs),
        refusal("501", 501, "", "never", false, theirs),
        refusal("502", 502, "", "gate", true, theirs),
        refusal("503", 503, "", "busy", true, theirs),
        refusal("504", 504, "", "late", true, &["504: late", "The server took too long"]),
        refusal("529", 529, "", "full", true, &["529: full", "overloaded", "another model"]),
    ]
}

fn breaks() -> Vec<Case> {
    let head = format!("HTTP/1.1 200 OK\r\n{STREAM}");
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
    let half = format!("{chunked}fff\r\ndata: {HELLO}\n\ndata: {{\"ha");
    let send = |text: &str| Play::Send(text.as_bytes().to_vec());
    let network: &[_] = &["ould not talk to 127.0.0.1", "Check the network", "base_url"];
    vec![
        broken("reset before the head", vec![Play::Reset], network),
        broken("reset in the head", vec![send(&head), Play::Reset], network),
        broken("reset after the head", vec![send(&chunked), Play::Reset], network),
        broken("reset in a chunk", vec![send(&half), Play::Reset], network),
        broken("closed in a chunk", vec![send(&half)], network),
        broken("closed without an answer", vec![events(&[])], network),
        broken("cut off", vec![events(&[HELLO])], &["cut off before its end", "Send the prompt"]),
        broken("no JSON", vec![http("200 OK", STREAM, "data: {no\n\n")], &["is not JSON"]),
        late("silent from the beginning", vec![Play::Stall]),
        late("silent after the head", vec![events(&[]), Play::Stall]),
        late("silent in the answer", vec![events(&[HELLO]), Play::Stall]),
    ]
}

fn oddities() -> Vec<Case> {
    // Ten megabytes and no end of the line: nothing a model would say.
    let endless = format!("data: {}", "x".repeat(10_000_000));
    let web: &[_] = &["answered with a web page (\"Sign in\")", "usually ends in /v1"];
    let inside = r#"{"error":{"message":"The engine is overloaded","type":"engine_overloaded"}}"#;
    vec![
        Case {
            name: "a web page",
            plays: vec![http("200 OK", HTML, PAGE)],
            retry: None,
            says: web,
        },
        Case {
            name: "a web page that says it is a stream",
            plays: vec![http("200 OK", STREAM, PAGE)],
            retry: None,
            says: web,
        },
        Case {
            name: "a web page of a gateway",
            plays: vec![http("502 Bad Gateway", HTML, PAGE)],
            retry: Some(("APIStatusError", Some(502))),
            says: &["answered 502: Sign in", "The fault is the server's"],
        },
        broken(
            "10 MB of one line",
            vec![http("200 OK", STREAM, &endless)],
            &["is not JSON (", "…"],
        ),
        Case {
            name: "an error in the stream",
            plays: vec![events(&[HELLO, inside])],
            retry: Some(("APIStatusError", Some(500))),
            says: &["answered 500: The engine is overloaded"],
        },
        Case {
            name: "nothing said",
            plays: vec![events(&[STOP])],
            retry: Some(("APIEmptyResponseError", None)),
            says: &["The model's answer was empty", "Send the prompt again"],
        },
    ]
}

/// A house whose model is at `address`, with little patience for silence.
fn house(address: &str) -> House {
    let mut house = House::at(ProviderKind::OpenaiLegacy, address);
    house.config.loop_control.max_retries_per_step = 2;
    house.config.network = NetworkConfig {
        first_byte_timeout: Duration::from_secs(1),
        idle_timeout: Duration::from_secs(1),
        ..NetworkConfig::default()
    };
    house
}

impl House {
    /// A model of `kind` at `address`.
    pub(super) fn at(kind: ProviderKind, address: &str) -> Self {
        let mut house = Self::demo();
        house.config.default_model = "m".into();
        house.config.default_thinking = true;
        house.config.providers.insert(
            "p".into(),
            ProviderConfig {
                kind,
                base_url: address.to_owned(),
                api_key: "sk-secret-key".into(),
                env: BTreeMap::new(),
                custom_headers: BTreeMap::new(),
                reasoning_key: None,
                oauth: None,
            },
        );
        house.config.models.insert(
            "m".into(),
            ModelConfig {
                provider: "p".into(),
                model: "some-model".into(),
                max_context_size: 200_000,
                capabilities: Some(vec![crate::config::Capability::Thinking]),
                display_name: None,
                max_output_tokens: None,
                price: Some(Price { input: 1.0, output: 2.0, cache_read: None, cache_write: None }),
            },
        );
        house
    }
}

fn retries(events: &[Event]) -> Vec<(String, Option<u16>)> {
    let retry = |event: &Event| match event {
        Event::StepRetry(retry) => Some((retry.error_type.clone(), retry.status_code)),
        _ => None,
    };
    events.iter().filter_map(retry).collect()
}

/// What the context of `door`'s session holds that the model said.
fn kept(door: &Door) -> String {
    let text = fs::read_to_string(door.info.session_dir.join(CONTEXT_FILE)).expect("context");
    let is_said = |line: &&str| {
        let record: serde_json::Value = serde_json::from_str(line).expect("json");
        record["role"] == "assistant"
    };
    text.lines().filter(is_said).collect::<Vec<_>>().join("\n")
}

/// A fault that stays: what is told, how often it was tried.
async fn stays(case: &Case) {
    let name = case.name;
    let server = Loopback::start(vec![case.plays.clone(); 3]).await;
    let house = house(&server.address);
    let mut door = house.open(&SessionChoice::New).await;
    let (events, outcome) = prompt(&mut door, "go").await;
    let PromptOutcome::ProviderFailed { message, retryable } = outcome else {
        panic!("{name}: {outcome:?}")
    };
    assert_eq!(retryable, case.retry.is_some(), "{name}: {message}");
    let expected: Vec<_> =
        case.retry.iter().map(|(kind, status)| ((*kind).to_owned(), *status)).collect();
    assert_eq!(retries(&events), expected, "{name}");
    assert_eq!(server.requests().len(), 1 + expected.len(), "{name}");
    for words in case.says {
        assert!(message.contains(words), "{name}: {words:?} in {message:?}");
    }
    assert!(!message.contains("sk-secret-key"), "{name}: {message}");
    assert!(message.len() < 800, "{name}: {} characters", message.len());
    let ended = |event: &&Event| matches!(event, Event::StepInterrupted(_) | Event::TurnEnd(_));
    assert_eq!(events.iter().filter(ended).count(), 2, "{name}: the turn is closed");
    assert_eq!(kept(&door), "", "{name}: nothing of a failed answer is kept");
    leave(door).await;
}

/// A fault that goes away: the answer is there, once.
async fn goes_away(case: &Case) {
    let name = case.name;
    let plays = vec![case.plays.clone(), vec![events(&[HELLO, STOP])]];
    let server = Loopback::start(plays).await;
    let house = house(&server.address);
    let mut door = house.open(&SessionChoice::New).await;
    let (_, outcome) = prompt(&mut door, "go").await;
    assert_eq!(outcome, PromptOutcome::Finished, "{name}");
    assert_eq!(kept(&door).matches("Hello").count(), 1, "{name}");
    let [first, second] = &server.requests()[..] else { panic!("{name}: two requests") };
    assert_eq!(first, second, "{name}: the same is asked again");
    leave(door).await;
}

async fn hold(cases: Vec<Case>) {
    futures::future::join_all(cases.iter().map(stays)).await;
    let gone = cases.iter().filter(|case| case.retry.is_some());
    futures::future::join_all(gone.map(goes_away)).await;
}

#[tokio::test]
async fn every_status_ends_a_turn_in_words_or_is_tried_again() {
    hold(statuses()).await;
}

#[tokio::test]
async fn every_break_and_silence_is_tried_again() {
    hold(breaks()).await;
}

#[tokio::test]
async fn what_is_no_answer_is_told_for_what_it_is() {
    hold(oddities()).await;
}

#[tokio::test]
async fn nobody_there_is_tried_again_and_told() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", port.local_addr().expect("address"));
    drop(port);
    let house = house(&address);
    let mut door = house.open(&SessionChoice::New).await;
    let (events, outcome) = prompt(&mut door, "go").await;
    assert_eq!(retries(&events), [("APIConnectionError".to_owned(), None)]);
    let said = format!("{outcome:?}").to_lowercase();
    assert!(said.contains("refused") && said.contains("base_url"), "{said}");
    leave(door).await;
}

#[tokio::test]
async fn the_wait_a_server_asks_for_is_told_and_kept() {
    for (header, least) in
        [("Retry-After: 1\r\n", 1.0), ("retry-after-ms: 700\r\n", 0.7), ("", 0.3)]
    {
        let body = r#"{"error":{"message":"slow down"}}"#;
        let busy = vec![http("429 Busy", &format!("{JSON}{header}"), body)];
        let server = Loopback::start(vec![busy, vec![events(&[HELLO, STOP])]]).await;
        let house = house(&server.address);
        let mut door = house.open(&SessionChoice::New).await;
        let began = std::time::Instant::now();
        let (events, outcome) = prompt(&mut door, "go").await;
        assert_eq!(outcome, PromptOutcome::Finished);
        let Some(Event::StepRetry(retry)) =
            events.iter().find(|event| matches!(event, Event::StepRetry(_)))
        else {
            panic!("no retry")
        };
        let most = if header.is_empty() { 0.8 } else { least };
        assert!((least..=most).contains(&retry.wait_s), "{header:?}: {}", retry.wait_s);
        assert!(began.elapsed().as_secs_f64() >= least, "{header:?}");
        leave(door).await;
    }
}

/// Sends one line for as long as somebody reads it; gives how much was read.
async fn endless_line() -> (String, tokio::task::JoinHandle<usize>) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("address"));
    let task = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("a connection");
        let mut request = vec![0; 65536];
        let _ = socket.read(&mut request).await;
        let head = format!("HTTP/1.1 200 OK\r\n{STREAM}\r\ndata: ");
        let _ = socket.write_all(head.as_bytes()).await;
        let piece = vec![b'x'; 1 << 16];
        let mut sent = 0;
        // Half a gigabyte would fill a small machine.
        while sent < 512 << 20 && socket.write_all(&piece).await.is_ok() {
            sent += piece.len();
        }
        sent
    });
    (address, task)
}

#[tokio::test]
async fn a_line_without_an_end_is_given_up_before_it_fills_the_memory() {
    let (address, sent) = endless_line().await;
    let mut house = house(&address);
    house.config.loop_control.max_retries_per_step = 1;
    let mut door = house.open(&SessionChoice::New).await;
    let (_, outcome) = prompt(&mut door, "go").await;
    let said = format!("{outcome:?}");
    assert!(said.contains("ProviderFailed") && said.len() < 1000, "{said}");
    let sent = sent.await.expect("the server");
    // What the sockets hold comes on top of the limit of an event.
    assert!(sent < 48 << 20, "{sent} bytes were taken");
    leave(door).await;
}
