use super::*;
use crate::config::ProviderKind;
use crate::llm::loopback::{Loopback, Play, events, http};
use crate::llm::{Answer, ChatProvider, build, fixture};

const JSON: &str = "Content-Type: application/json\r\n";
const HELLO: &str =
    r#"{"id":"m","choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}"#;

fn reply(status: &str, body: &Value) -> Vec<Play> {
    vec![http(status, JSON, &body.to_string())]
}

fn error(name: &str) -> Vec<Play> {
    reply("400 Bad Request", &serde_json::json!({ "error": name }))
}

fn code(address: &str) -> Vec<Play> {
    reply(
        "200 OK",
        &serde_json::json!({"device_code": "dev-secret", "user_code": "ABCD-1234",
            "verification_uri": format!("{address}/device"), "interval": 1, "expires_in": 40}),
    )
}

fn tokens(access: &str, refresh: &str, life: u64) -> Vec<Play> {
    reply(
        "200 OK",
        &serde_json::json!({"access_token": access, "refresh_token": refresh,
            "token_type": "Bearer", "expires_in": life, "scope": "code"}),
    )
}

fn oauth(address: &str, share: &Path) -> OauthConfig {
    let oauth = OauthConfig {
        storage: "file".into(),
        key: "oauth/kimi-code".into(),
        client_id: "client-1".into(),
        device_url: format!("{address}/api/oauth/device_authorization"),
        token_url: format!("{address}/api/oauth/token"),
        scope: "a b&c".into(),
        ..Default::default()
    };
    oauth.kept_in(share)
}

/// Logs in at a server that answers the questions about its code with `polls`.
async fn log_in(
    polls: Vec<Vec<Play>>,
) -> (Result<(), LlmError>, Vec<String>, tempfile::TempDir, f64) {
    let share = tempfile::tempdir().expect("folder");
    let mut plays = vec![code("https://login.example")];
    plays.extend(polls);
    let server = Loopback::start(plays).await;
    let login = begin(&oauth(&server.address, share.path()), &NetworkConfig::default()).await;
    let login = login.expect("a code");
    assert_eq!(login.user_code, "ABCD-1234");
    assert_eq!(login.address, "https://login.example/device");
    assert!(!format!("{login:?}").contains("dev-secret"));
    let began = std::time::Instant::now();
    let ended = login.with_second(Duration::from_millis(10)).finish().await;
    let took = began.elapsed().as_secs_f64() * 100.0;
    (ended, server.requests(), share, took)
}

fn file(share: &tempfile::TempDir) -> std::path::PathBuf {
    share.path().join("credentials/kimi-code.json")
}

fn kept(share: &tempfile::TempDir) -> Value {
    serde_json::from_slice(&fs::read(file(share)).expect("a login")).expect("json")
}

#[tokio::test]
async fn a_code_is_confirmed_and_the_login_kept() {
    let polls = vec![
        error("authorization_pending"),
        error("slow_down"),
        error("authorization_pending"),
        reply("503 Busy", &Value::Null),
        tokens("at-1", "rt-1", 3600),
    ];
    let (ended, requests, share, took) = log_in(polls).await;
    ended.expect("a login");
    assert_eq!(requests.len(), 6);
    assert!(requests[0].ends_with("client_id=client-1&scope=a+b%26c"), "{}", requests[0]);
    assert!(requests[0].contains("application/x-www-form-urlencoded"));
    for poll in &requests[1..] {
        assert!(poll.starts_with("POST /api/oauth/token HTTP/1.1"), "{poll}");
        assert!(poll.contains("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code"));
        assert!(poll.ends_with("device_code=dev-secret&client_id=client-1"), "{poll}");
    }
    // 1 + 1 seconds, and 6 + 6 + 6 after it was told to slow down.
    assert!(took >= 20.0, "{took}");
    let kept = kept(&share);
    assert_eq!((&kept["access_token"], &kept["refresh_token"]), (&"at-1".into(), &"rt-1".into()));
    assert!((kept["expires_at"].as_f64().expect("time") - now() - 3600.0).abs() < 60.0);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).expect("file").permissions().mode() & 0o777;
        assert_eq!(mode(&file(&share)), 0o600);
        assert_eq!(mode(file(&share).parent().expect("folder")), 0o700);
    }
}

#[tokio::test]
async fn a_login_that_does_not_come_about_says_why_and_leaves_nothing() {
    let pending = || error("authorization_pending");
    for (polls, words, most) in [
        (vec![pending(), error("access_denied")], "denied", 3),
        (vec![pending(), error("expired_token")], "expired", 3),
        (vec![error("invalid_client")], "invalid_client", 2),
        // Nobody confirms it: after 40 seconds it is over, whatever the server says.
        (vec![pending(); 60], "expired", 41),
    ] {
        let (ended, requests, share, _) = log_in(polls).await;
        let said = ended.expect_err(words).to_string();
        assert!(said.contains(words) && !said.contains("dev-secret"), "{said}");
        assert!(requests.len() <= most, "{words}: {} requests", requests.len());
        assert!(!file(&share).exists(), "{words}");
    }
}

#[tokio::test]
async fn what_is_missing_and_what_would_tell_a_secret_is_refused_before_it_is_asked_for() {
    let none = OauthConfig::default();
    let said = begin(&none, &NetworkConfig::default()).await.expect_err("nothing");
    assert!(said.to_string().contains("client_id"), "{said}");
    let open = oauth("http://login.example", Path::new("/nowhere"));
    let said = begin(&open, &NetworkConfig::default()).await.expect_err("no TLS");
    assert!(said.to_string().contains("without TLS"), "{said}");
    let server = Loopback::start(vec![error("unauthorized_client")]).await;
    let there = oauth(&server.address, Path::new("/nowhere"));
    let said = begin(&there, &NetworkConfig::default()).await;
    assert!(said.expect_err("refused").to_string().contains("unauthorized_client"));
}

/// A provider whose login is in a share folder of its own.
struct House {
    share: tempfile::TempDir,
    provider: std::sync::Arc<dyn ChatProvider>,
}

impl House {
    fn new(server: &Loopback, auth: &Loopback, kind: ProviderKind) -> Self {
        let share = tempfile::tempdir().expect("folder");
        let mut model = fixture::model(kind, &server.address);
        model.provider.api_key = String::new();
        model.provider.oauth = Some(Box::new(oauth(&auth.address, share.path())));
        let provider = build(&model).expect("a provider");
        Self { share, provider }
    }

    fn keeps(&self, access: &str, refresh: &str, left: f64) {
        let tokens = Tokens {
            access_token: access.into(),
            refresh_token: refresh.into(),
            expires_at: now() + left,
            scope: String::new(),
            token_type: "Bearer".into(),
            expires_in: 3600.0,
            rest: serde_json::from_str(r#"{"theirs": 1}"#).expect("map"),
        };
        keep(&file(&self.share), &tokens).expect("kept");
    }

    async fn ask(&self) -> Result<Answer, LlmError> {
        fixture::ask(&*self.provider, fixture::hi()).await
    }
}

fn bearers(server: &Loopback) -> Vec<String> {
    let token = |request: &String| {
        let line = request.lines().find(|line| line.to_lowercase().starts_with("authorization:"));
        line.unwrap_or("none").rsplit(' ').next().unwrap_or_default().to_owned()
    };
    server.requests().iter().map(token).collect()
}

#[tokio::test]
async fn a_login_is_renewed_before_it_expires_and_when_it_is_refused() {
    let no = || reply("401 No", &serde_json::json!({"error": {"message": "token at-2 expired"}}));
    let hello = || vec![events(&[HELLO])];
    for kind in [ProviderKind::Kimi, ProviderKind::Anthropic] {
        let hello = || match kind {
            ProviderKind::Kimi => hello(),
            _ => vec![events(&[
                r#"{"type":"message_start","message":{"id":"m"}}"#,
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hello"}}"#,
                r#"{"type":"message_stop"}"#,
            ])],
        };
        let server = Loopback::start(vec![hello(), hello(), no(), hello(), no(), no()]).await;
        let auth = Loopback::start(vec![
            tokens("at-2", "rt-2", 3600),
            tokens("at-3", "", 3600),
            tokens("at-4", "rt-4", 3600),
        ])
        .await;
        let house = House::new(&server, &auth, kind);
        house.keeps("at-1", "rt-1", 3000.0);
        house.ask().await.expect("an answer");
        assert_eq!(auth.requests().len(), 0, "it has long enough to live");
        // Less than half of its life is left.
        house.keeps("at-1", "rt-1", 1700.0);
        house.ask().await.expect("an answer");
        assert!(
            auth.requests()[0]
                .contains("grant_type=refresh_token&refresh_token=rt-1&client_id=client-1")
        );
        // Refused all the same: once more with a new one.
        house.ask().await.expect("an answer");
        assert!(auth.requests()[1].contains("refresh_token=rt-2"), "{:?}", auth.requests());
        let kept = kept(&house.share);
        assert_eq!(
            (&kept["access_token"], &kept["refresh_token"]),
            (&"at-3".into(), &"rt-2".into())
        );
        assert_eq!(kept["theirs"], 1, "what others keep there stays");
        // And only once: where every token is refused, a person has to log in again.
        let error = house.ask().await.expect_err("refused");
        assert!(matches!(error, LlmError::LoggedOut { .. }), "{error:?}");
        assert!(!error.to_string().contains("at-4"), "{error}");
        assert_eq!(bearers(&server), ["at-1", "at-2", "at-2", "at-3", "at-3", "at-4"]);
        assert_eq!(auth.requests().len(), 3);
    }
}

#[tokio::test]
async fn trouble_where_tokens_come_from_is_none_while_the_token_counts() {
    let server = Loopback::start(vec![vec![events(&[HELLO])]]).await;
    let auth = Loopback::start(vec![reply("503 Busy", &Value::Null); 2]).await;
    let house = House::new(&server, &auth, ProviderKind::Kimi);
    house.keeps("at-1", "rt-1", 100.0);
    house.ask().await.expect("an answer");
    assert_eq!(bearers(&server), ["at-1"]);
    house.keeps("at-1", "rt-1", -1.0);
    let error = house.ask().await.expect_err("it has expired");
    assert_eq!(error.status(), Some(503));
}

#[tokio::test]
async fn whoever_is_not_logged_in_is_told_so() {
    let server = Loopback::start(Vec::new()).await;
    let auth = Loopback::start(vec![error("invalid_grant")]).await;
    let house = House::new(&server, &auth, ProviderKind::Kimi);
    let error = house.ask().await.expect_err("no login");
    assert!(matches!(error, LlmError::LoggedOut { .. }) && !error.is_retryable(), "{error:?}");
    assert_eq!((error.status(), server.requests().len()), (Some(401), 0));
    house.keeps("at-1", "rt-gone", -1.0);
    let error = house.ask().await.expect_err("expired");
    assert!(error.to_string().contains("expired") && !error.to_string().contains("rt-gone"));
    assert!(matches!(error, LlmError::LoggedOut { .. }));
    let oauth = oauth(&auth.address, house.share.path());
    assert!(is_logged_in(&oauth) && forget(&oauth).expect("gone") && !is_logged_in(&oauth));
    assert!(!forget(&oauth).expect("nothing"));
}

#[tokio::test]
async fn two_sessions_that_find_a_token_old_renew_it_once() {
    let server = Loopback::start(vec![vec![events(&[HELLO])]; 2]).await;
    let auth = Loopback::start(vec![tokens("at-2", "rt-2", 3600), error("invalid_grant")]).await;
    let one = House::new(&server, &auth, ProviderKind::Kimi);
    one.keeps("at-1", "rt-1", -1.0);
    let mut model = fixture::model(ProviderKind::Kimi, &server.address);
    model.provider.api_key = String::new();
    model.provider.oauth = Some(Box::new(oauth(&auth.address, one.share.path())));
    let other = build(&model).expect("a provider");
    let (first, second) = tokio::join!(one.ask(), fixture::ask(&*other, fixture::hi()));
    first.expect("an answer");
    second.expect("an answer");
    assert_eq!(auth.requests().len(), 1);
    assert_eq!(bearers(&server), ["at-2", "at-2"]);
}
