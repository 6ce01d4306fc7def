use std::fs;

use super::*;
use crate::llm::loopback::{Loopback, Play, http};

const KEY: &str = "sk-1234567890abcdef";

struct House {
    folder: tempfile::TempDir,
    env: Vec<(String, String)>,
}

impl House {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("folder"), env: Vec::new() }
    }

    fn with_config(text: &str) -> Self {
        let house = Self::new();
        let file = house.folder.path().join("config.toml");
        fs::write(&file, text).expect("file");
        house.mode(0o600);
        house
    }

    /// A model `m` at `address`.
    fn at(address: &str) -> Self {
        Self::with_config(&format!(
            "[providers.p]\ntype = \"openai_legacy\"\nbase_url = \"{address}/v1\"\n\
             api_key = \"{KEY}\"\n[models.m]\nprovider = \"p\"\nmodel = \"gpt\"\n\
             max_context_size = 1000\n"
        ))
    }

    fn mode(&self, mode: u32) {
        use std::os::unix::fs::PermissionsExt;
        let file = self.folder.path().join("config.toml");
        fs::set_permissions(file, fs::Permissions::from_mode(mode)).expect("mode");
    }

    async fn examine(&self) -> Vec<Check> {
        let env = self.env.clone();
        let path = std::env::var("PATH").unwrap_or_default();
        let around = Surroundings {
            paths: Paths::new(self.folder.path()),
            source: ConfigSource::Default,
            model: None,
            env: Env::from_fn(move |name| match name {
                "PATH" => Some(path.clone()),
                "TERM" => Some("xterm-256color".to_owned()),
                "LANG" => Some("en_GB.UTF-8".to_owned()),
                name => env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()),
            }),
            is_terminal: false,
            is_offline: false,
        };
        examine(&around).await
    }

    /// The text of the only check that failed.
    async fn failure(&self) -> String {
        let checks = self.examine().await;
        let text = as_text(&checks, Look::default());
        assert!(!text.contains(KEY), "{text}");
        assert!(!as_json(&checks).expect("JSON").contains(KEY), "{text}");
        let failed: Vec<_> = checks.into_iter().filter(|c| c.level == Level::Fail).collect();
        assert_eq!(failed.len(), 1, "{text}");
        assert!(text.ends_with("to look at."), "{text}");
        format!("{} -> {}", failed[0].said, failed[0].cure.as_deref().expect("a cure"))
    }
}

fn json(status: &str, body: &str) -> Vec<Vec<Play>> {
    vec![vec![http(status, "Content-Type: application/json\r\n", body)]]
}

fn has(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not in: {text}");
    }
}

#[tokio::test]
async fn all_is_well_where_it_is() {
    let server = Loopback::start(json("200 OK", r#"{"data":[{"id":"gpt"}]}"#)).await;
    let house = House::at(&server.address);
    let checks = house.examine().await;
    let text = as_text(&checks, Look::default());
    assert_eq!(count(&checks, Level::Fail), 0, "{text}");
    has(
        &text,
        &["1 provider, 1 model", "m is the model (gpt)", "p: sk-…cdef from the configuration"],
    );
    has(&text, &["yours alone (mode 600)", "m: the server answers and has gpt", "can be written"]);
    assert!(!text.contains(KEY), "{text}");
}

#[tokio::test]
async fn a_file_that_is_no_toml() {
    let said = House::with_config("default_model = \n").failure().await;
    has(&said, &["config.toml:1: this is not TOML", "-> Correct that line"]);
}

#[tokio::test]
async fn a_provider_that_is_not_there() {
    let house = House::with_config(
        "[providers.moonshot]\ntype = \"kimi\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\n\
         [models.k2]\nprovider = \"moonshoot\"\nmodel = \"k2\"\nmax_context_size = 9\n",
    );
    has(&house.failure().await, &["config.toml:6: unknown provider \"moonshoot\"", "-> Add [prov"]);
}

#[tokio::test]
async fn no_key() {
    let house = House::with_config(
        "[providers.p]\ntype = \"kimi\"\nbase_url = \"https://h.invalid/v1\"\n\
         [models.k2]\nprovider = \"p\"\nmodel = \"k2\"\nmax_context_size = 9\n",
    );
    has(&house.failure().await, &["has no api_key", "below [providers.p]", "KIMI_API_KEY"]);
}

#[tokio::test]
async fn a_wrong_key() {
    let body = format!(r#"{{"error":{{"message":"no such key {KEY}"}}}}"#);
    let server = Loopback::start(json("401 Unauthorized", &body)).await;
    let said = House::at(&server.address).failure().await;
    has(&said, &["m: 127.0.0.1", "answered 401", "valid api_key into [providers.p]", "login"]);
}

#[tokio::test]
async fn a_server_that_is_not_running() {
    let free = {
        let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        format!("http://{}", port.local_addr().expect("address"))
    };
    let said = House::at(&free).failure().await;
    has(&said, &["refused", "-> Nothing listens there. Start the server", "[providers.p]"]);
}

#[tokio::test]
async fn a_model_the_server_does_not_have() {
    let server = Loopback::start(json("200 OK", r#"{"data":[{"id":"gpt-6"},{"id":"gpt-7"}]}"#));
    let said = House::at(&server.await.address).failure().await;
    has(&said, &["no model \"gpt\"", "-> Change models.m.model to one of: gpt-6, gpt-7."]);
}

#[tokio::test]
async fn a_key_that_others_may_read_and_a_slip_in_the_file() {
    let server = Loopback::start(json("200 OK", r#"{"data":[{"id":"gpt"}]}"#)).await;
    let house = House::at(&server.address);
    let file = house.folder.path().join("config.toml");
    let text = fs::read_to_string(&file).expect("file");
    fs::write(&file, format!("defualt_model = \"m\"\n{text}")).expect("file");
    house.mode(0o644);
    let text = as_text(&house.examine().await, Look::default());
    has(&text, &["others may read it (mode 644)\n        chmod 600 /"]);
    has(&text, &["warn  ", "config.toml:1: defualt_model", "Did you mean default_model?"]);
}

#[tokio::test]
async fn a_data_folder_in_the_way_and_a_torn_session() {
    let house = House::new();
    let session = house.folder.path().join("sessions/abc/id-1");
    fs::create_dir_all(&session).expect("folder");
    fs::write(session.join("context.jsonl"), "{\"role\":\"user\"}\n\n{\"ro").expect("file");
    let text = as_text(&house.examine().await, Look::default());
    has(&text, &["id-1: line 3 of context.jsonl is no JSON", "1 sessions"]);
    has(&text, &["no model is configured", "kimi-tui login", "Nothing is broken"]);
}
