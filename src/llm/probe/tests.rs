use super::super::fixture;
use super::super::loopback::{Loopback, Play, events, http};
use super::*;

fn json(body: &str) -> Vec<Play> {
    vec![http("200 OK", "Content-Type: application/json\r\n", body)]
}

fn named(list: &[Offered]) -> Vec<(&str, Option<u64>)> {
    list.iter().map(|model| (model.name.as_str(), model.context)).collect()
}

#[tokio::test]
async fn each_kind_is_asked_for_its_list_in_its_own_way() {
    for (kind, base, body, path, key) in [
        (
            ProviderKind::Kimi,
            "/v1",
            r#"{"object":"list","data":[{"id":"k2","context_length":262144},{"id":"m"}]}"#,
            "GET /v1/models ",
            "authorization: Bearer sk-secret-key",
        ),
        (
            ProviderKind::OpenaiLegacy,
            "/v1/",
            r#"{"data":[{"id":"k2","max_model_len":262144},{"id":"m","meta":{}}]}"#,
            "GET /v1/models ",
            "authorization: Bearer sk-secret-key",
        ),
        (
            ProviderKind::Anthropic,
            "",
            r#"{"data":[{"id":"k2","max_input_tokens":262144},{"id":"m"}],"has_more":false}"#,
            "GET /v1/models ",
            "x-api-key: sk-secret-key",
        ),
        (
            ProviderKind::GoogleGenai,
            "/v1beta",
            r#"{"models":[{"name":"models/k2","inputTokenLimit":262144},{"name":"models/m"}]}"#,
            "GET /v1beta/models ",
            "x-goog-api-key: sk-secret-key",
        ),
    ] {
        let server = Loopback::start(vec![json(body)]).await;
        let model = fixture::model(kind, &format!("{}{base}", server.address));
        let list = models(&model.provider, &model.network).await.expect("a list");
        assert_eq!(named(&list), [("k2", Some(262_144)), ("m", None)], "{kind:?}");
        let request = server.requests().remove(0);
        assert!(request.starts_with(path), "{request}");
        assert!(request.contains(key), "{request}");
        assert!(request.contains("x-team: a"), "{request}");
    }
}

#[tokio::test]
async fn a_model_that_is_not_in_the_list_is_told_with_those_that_are() {
    let list = r#"{"data":[{"id":"other"},{"id":"some-model:latest"}]}"#;
    let server = Loopback::start(vec![json(list), json(r#"{"data":[{"id":"other"}]}"#)]).await;
    let model = fixture::model(ProviderKind::OpenaiLegacy, &server.address);
    assert_eq!(check(&model).await.expect("there"), Found::Ready, "a tag is no other model");
    let Found::NoSuchModel(known) = check(&model).await.expect("there") else { panic!("ready") };
    assert_eq!(named(&known), [("other", None)]);
}

#[tokio::test]
async fn a_server_without_a_list_is_asked_the_smallest_question() {
    let no_list = vec![http("404 Not Found", "", "404 page not found")];
    let hello = r#"{"id":"m1","choices":[{"delta":{"content":"Hello"}}]}"#;
    let server = Loopback::start(vec![no_list.clone(), vec![events(&[hello])]]).await;
    let model = fixture::model(ProviderKind::OpenaiLegacy, &server.address);
    assert_eq!(check(&model).await.expect("there"), Found::Ready);
    let asked = server.requests().remove(1);
    assert!(asked.contains("_tokens\":16"), "{asked}");

    let body = r#"{"error":{"message":"bad key sk-secret-key"}}"#;
    let server = Loopback::start(vec![no_list, vec![http("401 No", "", body)]]).await;
    let model = fixture::model(ProviderKind::OpenaiLegacy, &server.address);
    let error = check(&model).await.expect_err("no key");
    assert_eq!(Trouble::of(&error), Trouble::Key);
    assert!(!error.to_string().contains("sk-secret-key"), "{error}");
}

#[tokio::test]
async fn what_is_in_the_way_has_a_name_and_a_cure() {
    let free = {
        let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        format!("http://{}/v1", port.local_addr().expect("address"))
    };
    let trouble = async |address: &str| {
        let model = fixture::model(ProviderKind::OpenaiLegacy, address);
        Trouble::of(&check(&model).await.expect_err("trouble"))
    };
    assert_eq!(trouble(&free).await, Trouble::Refused);
    let unknown = "no connection (failed to lookup address information: Name or service not known)";
    let unknown = LlmError::Connection { host: "h".into(), detail: unknown.into() };
    assert_eq!(Trouble::of(&unknown), Trouble::UnknownHost);
    for (status, expected) in [
        ("401 No", Trouble::Key),
        ("403 No", Trouble::Forbidden),
        ("429 Slow", Trouble::Limit),
        ("503 Down", Trouble::Server),
    ] {
        let server = Loopback::start(vec![vec![http(status, "", "{}")]]).await;
        assert_eq!(trouble(&server.address).await, expected, "{status}");
    }
    // A server that speaks no TLS where TLS is wanted.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let secure = format!("https://{}", listener.local_addr().expect("address"));
    let thread = std::thread::spawn(move || {
        if let Ok((mut socket, _)) = listener.accept() {
            use std::io::{Read, Write};
            let _ = socket.read(&mut [0; 64]);
            let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    assert_eq!(trouble(&secure).await, Trouble::Tls);
    thread.join().expect("served");
    assert!(Trouble::Key.cure("[providers.a] in config.toml").contains("[providers.a]"));
}

#[tokio::test]
async fn local_servers_are_found_and_others_are_not_waited_for() {
    let server = Loopback::start(vec![json(r#"{"data":[{"id":"qwen3:14b"}]}"#)]).await;
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let silent = format!("http://{}/v1", silent.local_addr().expect("address"));
    let places = [("Ollama", server.address.as_str()), ("llama.cpp", silent.as_str())];
    let found = local_servers(&places).await;
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].name, named(&found[0].models)), ("Ollama", vec![("qwen3:14b", None)]));
}
