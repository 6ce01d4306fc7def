//! Every message a broken configuration gives, and every way to the model.

mod documentation;
mod network;

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::paths::Paths;

const GOOD: &str = r#"default_model = "k2"

[providers.moonshot]
type = "kimi"
base_url = "https://api.example.com/v1"
api_key = "sk-1"

[providers.local]
type = "openai_legacy"
base_url = "http://127.0.0.1:8399/v1"

[models.k2]
provider = "moonshot"
model = "kimi-k2"
max_context_size = 262144
display_name = "K2"

[models."local/x"]
provider = "local"
model = "x"
max_context_size = 1000
capabilities = ["thinking"]
"#;

fn load(text: &str) -> Result<Loaded, String> {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("config.toml");
    std::fs::write(&file, text).expect("file");
    let loaded = Config::load(&Paths::new(folder.path()), &ConfigSource::File(file));
    let prefix = format!("{}/", folder.path().display());
    loaded.map_err(|error| error.to_string().replace(&prefix, ""))
}

fn config(text: &str) -> Config {
    load(text).expect("a good configuration").config
}

/// `GOOD` with one text replaced.
fn spoilt(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    GOOD.replacen(from, to, 1)
}

#[test]
fn a_good_file_is_read() {
    let loaded = load(GOOD).expect("good");
    assert_eq!(loaded.warnings, Vec::<String>::new());
    assert_eq!(loaded.config.models.len(), 2);
    assert_eq!(loaded.config.providers["local"].kind, ProviderKind::OpenaiLegacy);
    assert_eq!(loaded.config.models["local/x"].capabilities, Some(vec![Capability::Thinking]));
}

#[test]
fn each_fault_is_told_with_its_line_and_what_to_write() {
    let cases = [
        (
            spoilt("provider = \"moonshot\"", "provider = \"moonshoot\""),
            "config.toml:13: unknown provider \"moonshoot\" (known: moonshot, local). \
             Add [providers.moonshoot] or change models.k2.provider.",
        ),
        (
            spoilt("= \"k2\"", "= \"k3\""),
            "config.toml:1: default_model \"k3\" is not among the models (known: k2, \"local/x\"). \
             Did you mean default_model = \"k2\"?",
        ),
        (
            spoilt("= \"k2\"", "= \"gpt\""),
            "config.toml:1: default_model \"gpt\" is not among the models (known: k2, \
             \"local/x\"). Add [models.gpt] or change default_model.",
        ),
        (
            spoilt("type = \"kimi\"", "type = \"kimmi\""),
            "config.toml:4: unknown provider type \"kimmi\" in providers.moonshot.type (known: \
             kimi, openai_legacy, openai_responses, anthropic, google_genai, gemini, vertexai). \
             Did you mean type = \"kimi\"?",
        ),
        (
            spoilt("type = \"openai_legacy\"", "type = \"ollama\""),
            "config.toml:9: unknown provider type \"ollama\" in providers.local.type (known: \
             kimi, openai_legacy, openai_responses, anthropic, google_genai, gemini, vertexai). \
             Servers that speak OpenAI's chat completions are of type \"openai_legacy\".",
        ),
        (
            spoilt("type = \"kimi\"\n", ""),
            "config.toml:3: providers.moonshot has no type. Add below [providers.moonshot]: \
             type = \"…\" (how it is spoken to, \"kimi\" for instance).",
        ),
        (
            spoilt("max_context_size = 262144\n", ""),
            "config.toml:12: models.k2 has no max_context_size. Add below [models.k2]: \
             max_context_size = 262144.",
        ),
        (
            spoilt("262144", "\"big\""),
            "config.toml:15: models.k2.max_context_size must be a whole number, not text. \
             Write for example max_context_size = 1000.",
        ),
        (
            spoilt("262144", "0"),
            "config.toml:15: models.k2.max_context_size is 0, but must be at least 1. \
             Write for example max_context_size = 1, or remove the line.",
        ),
        (
            spoilt("api_key = \"sk-1\"", "api_key = 7"),
            "config.toml:6: providers.moonshot.api_key must be text, not a whole number. \
             Write for example api_key = \"…\".",
        ),
        (
            spoilt("http://127.0.0.1", "127.0.0.1"),
            "config.toml:10: providers.local.base_url is not a web address. It begins with \
             http:// or https://, for example \"https://api.example.com/v1\".",
        ),
        (
            spoilt("[\"thinking\"]", "[\"flying\"]"),
            "config.toml:22: models.\"local/x\".capabilities has an entry that is not a \
             capability. Known are image_in, video_in, thinking, always_thinking.",
        ),
        (
            spoilt("[\"thinking\"]", "\"thinking\""),
            "config.toml:22: models.\"local/x\".capabilities must be a list of texts, not text. \
             Write for example capabilities = [\"thinking\"].",
        ),
        (
            "default_yolo = \"yes\"".to_owned(),
            "config.toml:1: default_yolo must be true or false, not text. \
             Write for example default_yolo = true.",
        ),
        (
            "\nmodels = 3".to_owned(),
            "config.toml:2: models must be a table, not a whole number. \
             Write for example [models].",
        ),
        (
            "[loop_control]\nmax_steps_per_turn = 0".to_owned(),
            "config.toml:2: loop_control.max_steps_per_turn is 0, but must be at least 1. \
             Write for example max_steps_per_turn = 1, or remove the line.",
        ),
        (
            "[loop_control]\nreserved_context_size = 999".to_owned(),
            "config.toml:2: loop_control.reserved_context_size is 999, but must be at least 1000. \
             Write for example reserved_context_size = 1000, or remove the line.",
        ),
        (
            "[loop_control]\nmax_ralph_iterations = -2".to_owned(),
            "config.toml:2: loop_control.max_ralph_iterations is -2, but must be at least -1. \
             Write for example max_ralph_iterations = -1, or remove the line.",
        ),
        (
            "[loop_control]\ncompaction_trigger_ratio = 1".to_owned(),
            "config.toml:2: loop_control.compaction_trigger_ratio must be between 0.5 and 0.99. \
             Write for example compaction_trigger_ratio = 0.85, or remove the line.",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(load(&text).expect_err(&text), message, "{text}");
    }
}

#[test]
fn a_syntax_error_names_its_line() {
    let error = load("default_model = \"k2\"\n[models\n").expect_err("broken");
    assert!(error.starts_with("config.toml:2: this is not TOML: "), "{error}");
    assert!(error.ends_with("or move the file away to start with the defaults."), "{error}");
    assert!(!error.contains('\n'), "{error}");
}

#[test]
fn the_first_fault_in_the_file_is_told_first() {
    let error = load("default_model = 3\ntheme = 4\ndefault_yolo = 5").expect_err("broken");
    assert!(error.starts_with("config.toml:1: default_model "), "{error}");
}

#[test]
fn a_misspelt_key_is_a_warning_and_a_foreign_one_is_not() {
    let text = "defualt_yolo = true\ntelemetry = true\nhooks = []\nsomething_else = 1\n\
                [loop_control]\nmax_step_per_turn = 3\n[background]\nanything = 1\n";
    let folder = tempfile::tempdir().expect("folder");
    let paths = Paths::new(folder.path());
    std::fs::write(paths.config_file(), text).expect("file");
    let loaded = Config::load(&paths, &ConfigSource::Default).expect("tolerated");
    assert!(!loaded.config.default_yolo);
    let file = paths.config_file();
    assert_eq!(
        loaded.warnings,
        [
            format!(
                "{}:1: defualt_yolo is not a known key and is ignored. Did you mean default_yolo?",
                file.display()
            ),
            format!(
                "{}:6: loop_control.max_step_per_turn is not a known key and is ignored. \
                 Did you mean max_steps_per_turn?",
                file.display()
            ),
        ]
    );
}

#[test]
fn the_old_name_of_the_step_limit_counts_but_not_over_the_new_one() {
    let steps = |text: &str| config(text).loop_control.max_steps_per_turn;
    assert_eq!(steps("[loop_control]\nmax_steps_per_run = 7"), 7);
    assert_eq!(steps("[loop_control]\nmax_steps_per_run = 7\nmax_steps_per_turn = 8"), 8);
}

#[test]
fn sources_are_tried_in_upstreams_order() {
    let folder = tempfile::tempdir().expect("folder");
    let paths = Paths::new(folder.path());
    let theme = |source: ConfigSource| {
        Config::load(&paths, &source).map(|loaded| loaded.config.theme).map_err(|e| e.to_string())
    };
    assert_eq!(theme(ConfigSource::Default), Ok("dark".to_owned()));
    assert!(!paths.config_file().exists(), "reading writes nothing");
    let old = folder.path().join("config.json");
    std::fs::write(&old, r#"{"theme": "old", "default_editor": null}"#).expect("file");
    assert_eq!(theme(ConfigSource::Default), Ok("old".to_owned()));
    std::fs::write(paths.config_file(), "theme = \"new\"").expect("file");
    assert_eq!(theme(ConfigSource::Default), Ok("new".to_owned()));
    assert_eq!(theme(ConfigSource::File(old)), Ok("old".to_owned()));
    assert_eq!(theme(ConfigSource::Inline("{\"theme\": \"j\"}".into())), Ok("j".to_owned()));
    assert_eq!(theme(ConfigSource::Inline("theme = 't'".into())), Ok("t".to_owned()));
    let missing = folder.path().join("no.toml");
    assert_eq!(
        theme(ConfigSource::File(missing.clone())),
        Err(format!(
            "{}: there is no such file. Check the path given with --config-file.",
            missing.display()
        ))
    );
    for (text, start) in [
        ("{\"theme\": }", "--config:1: this is not JSON: "),
        ("[1]\n]", "--config:2: this is not TOML: "),
        ("  ", "--config: the text is empty. "),
        ("{\"theme\": 3}", "--config: theme must be text, not a whole number. "),
    ] {
        let error = theme(ConfigSource::Inline(text.to_owned())).expect_err(text);
        assert!(error.starts_with(start), "{error}");
    }
    std::fs::write(paths.config_file(), b"theme = 'x'\n\xff\xfe").expect("file");
    let error = theme(ConfigSource::Default).expect_err("not text");
    assert!(error.ends_with("config.toml:2: this is not UTF-8 text. Save the file as UTF-8."));
}

fn resolve(
    text: &str,
    flag: Option<&str>,
    env: &[(&str, &str)],
) -> Result<Option<ResolvedModel>, String> {
    let env: HashMap<&str, &str> = env.iter().copied().collect();
    let lookup = |name: &str| env.get(name).map(|value| (*value).to_owned());
    config(text).resolve_model(flag, &lookup).map_err(|error| error.to_string())
}

fn resolved(text: &str, flag: Option<&str>, env: &[(&str, &str)]) -> ResolvedModel {
    resolve(text, flag, env).expect("resolves").expect("a model")
}

#[test]
fn the_flag_wins_over_the_environment_and_that_over_the_file() {
    let by_default = resolved(GOOD, None, &[]);
    assert_eq!((by_default.key.as_str(), by_default.display_name.as_str()), ("k2", "K2"));
    assert_eq!(by_default.provider.api_key, "sk-1");

    let env = [
        ("KIMI_MODEL_NAME", "kimi-k3"),
        ("KIMI_API_KEY", "sk-2"),
        ("KIMI_BASE_URL", "https://other.example.com"),
        ("KIMI_MODEL_MAX_CONTEXT_SIZE", "5000"),
        ("KIMI_MODEL_CAPABILITIES", "image_in, Thinking, flying"),
        ("OPENAI_API_KEY", "sk-openai"),
    ];
    let by_env = resolved(GOOD, None, &env);
    assert_eq!((by_env.model.as_str(), by_env.display_name.as_str()), ("kimi-k3", "kimi-k3"));
    assert_eq!(by_env.provider.api_key, "sk-2");
    assert_eq!(by_env.provider.base_url, "https://other.example.com");
    assert_eq!(by_env.max_context_size, 5000);
    assert_eq!(by_env.capabilities, [Capability::ImageIn, Capability::Thinking]);

    let by_flag = resolved(GOOD, Some("k2"), &env);
    assert_eq!(by_flag.model, "kimi-k2");
    let other_kind = resolved(GOOD, Some("local/x"), &env);
    assert_eq!((other_kind.model.as_str(), other_kind.max_context_size), ("x", 1000));
    assert_eq!(other_kind.provider.api_key, "sk-openai");
    assert_eq!(resolved(GOOD, Some("x"), &[]).key, "local/x", "a model's own name does too");
}

#[test]
fn the_environment_alone_is_enough() {
    let kimi = resolved("", None, &[("KIMI_API_KEY", "sk"), ("KIMI_MODEL_NAME", "k")]);
    assert_eq!(kimi.provider.kind, ProviderKind::Kimi);
    assert_eq!(kimi.provider.base_url, KIMI_BASE_URL);
    assert_eq!(kimi.max_context_size, ASSUMED_CONTEXT);
    let openai = resolved("", Some("gpt-x"), &[("OPENAI_API_KEY", "sk")]);
    assert_eq!(openai.provider.kind, ProviderKind::OpenaiLegacy);
    assert_eq!(openai.provider.base_url, OPENAI_BASE_URL);
    assert_eq!(openai.model, "gpt-x");
    let local = [("KIMI_BASE_URL", "http://[::1]:1/v1"), ("KIMI_MODEL_NAME", "k")];
    assert_eq!(resolved("", None, &local).provider.api_key, "");
}

#[test]
fn nothing_configured_means_the_demo() {
    assert_eq!(resolve("", None, &[]), Ok(None));
    assert_eq!(resolve("", None, &[("OPENAI_API_KEY", "sk"), ("KIMI_API_KEY", " ")]), Ok(None));
}

#[test]
fn what_cannot_work_is_told_with_what_to_do() {
    let no_key = spoilt("api_key = \"sk-1\"\n", "");
    let login = no_key
        .replace("providers.moonshot", "providers.\"managed:kimi-code\"")
        .replace("\"moonshot\"", "\"managed:kimi-code\"");
    let no_default = spoilt("default_model = \"k2\"\n", "");
    type Env = &'static [(&'static str, &'static str)];
    let cases: [(&str, Option<&str>, Env, &str); 9] = [
        (
            GOOD,
            Some("k22"),
            &[],
            "unknown model \"k22\" (known: k2, \"local/x\"). Did you mean --model k2?",
        ),
        (
            GOOD,
            Some("sonnet"),
            &[],
            "unknown model \"sonnet\" (known: k2, \"local/x\"). \
             Add [models.sonnet] to config.toml or pass another.",
        ),
        (
            "",
            Some("k2"),
            &[],
            "unknown model \"k2\" (known: none). \
             Set KIMI_API_KEY (or OPENAI_API_KEY) to reach it, or add it to config.toml.",
        ),
        (
            &no_key,
            None,
            &[],
            "provider \"moonshot\" has no api_key. Write api_key = \"…\" below \
             [providers.moonshot] in config.toml, or set KIMI_API_KEY. \
             A server that wants no key takes any text.",
        ),
        (
            &login,
            None,
            &[],
            "provider \"managed:kimi-code\" has no api_key. It was made by a login, which \
             kimi-tui cannot use yet: write api_key = \"…\" below \
             [providers.\"managed:kimi-code\"], or set KIMI_API_KEY.",
        ),
        (
            &no_default,
            None,
            &[],
            "no default_model is set (known: k2, \"local/x\"). \
             Write default_model = \"…\" at the top of config.toml, or pass --model.",
        ),
        (
            "",
            None,
            &[("KIMI_API_KEY", "sk")],
            "KIMI_API_KEY or KIMI_BASE_URL is set, but no model is named. \
             Set KIMI_MODEL_NAME, for example to kimi-k2-turbo-preview, or pass --model.",
        ),
        (
            "",
            None,
            &[("KIMI_MODEL_NAME", "k")],
            "KIMI_MODEL_NAME is \"k\", but there is no key for it. \
             Set KIMI_API_KEY, or unset KIMI_MODEL_NAME for the demo model.",
        ),
        (
            GOOD,
            None,
            &[("KIMI_MODEL_MAX_CONTEXT_SIZE", "lots")],
            "KIMI_MODEL_MAX_CONTEXT_SIZE is \"lots\", but must be a number of tokens. \
             Set it to 262144 for example, or unset it.",
        ),
    ];
    for (text, flag, env, message) in cases {
        assert_eq!(resolve(text, flag, env).expect_err(message), message);
    }
}

#[test]
fn a_key_is_not_asked_for_where_none_is_needed() {
    for url in [
        "http://localhost:8399/v1",
        "http://LOCALHOST",
        "http://me:secret@127.0.0.2:1/v1",
        "http://[::1]:80",
        "http://box.localhost/",
    ] {
        let text = spoilt("http://127.0.0.1:8399/v1", url);
        assert!(resolve(&text, Some("x"), &[]).is_ok(), "{url}");
    }
    for url in
        ["http://localhost.example.com", "http://127.0.0.1@evil.example.com", "http://1.2.3.4"]
    {
        let text = spoilt("http://127.0.0.1:8399/v1", url);
        assert!(resolve(&text, Some("x"), &[]).is_err(), "{url}");
    }
    let header = spoilt("api_key = \"sk-1\"", "custom_headers = { Authorization = \"Bearer x\" }");
    assert!(resolve(&header, None, &[]).is_ok());
}

#[test]
fn what_a_model_can_do_follows_from_its_name() {
    use Capability::{AlwaysThinking, ImageIn, Thinking, VideoIn};
    for (name, wanted) in [
        ("kimi-k2-thinking", vec![Thinking, AlwaysThinking]),
        ("deepseek-Reasoner", vec![Thinking, AlwaysThinking]),
        ("kimi-for-coding", vec![ImageIn, VideoIn, Thinking]),
        ("kimi-k2", vec![]),
    ] {
        let model = resolved(&spoilt("\"kimi-k2\"", &format!("{name:?}")), None, &[]);
        assert_eq!(model.capabilities, wanted, "{name}");
        assert_eq!(model.thinking, wanted.contains(&AlwaysThinking), "{name}");
        assert_eq!(model.clone().with_thinking(Some(true)).thinking, wanted.contains(&Thinking));
        assert_eq!(model.with_thinking(Some(false)).thinking, wanted.contains(&AlwaysThinking));
    }
    let thinking_by_default = format!("default_thinking = true\n{GOOD}");
    assert!(resolved(&thinking_by_default, Some("x"), &[]).thinking);
    assert!(!resolved(&thinking_by_default, Some("k2"), &[]).thinking);
}

proptest! {
    #[test]
    fn no_text_is_too_strange(text in "(?s).{0,200}") {
        let paths = Paths::new("nowhere");
        let _ = Config::load(&paths, &ConfigSource::Inline(text));
    }

    #[test]
    fn no_spoilt_file_is_too_strange(
        at in 0..GOOD.len(), to in 0..GOOD.len(), with in "[\\[\\]{}=\"\n.,0-9a-z\u{e9}]{0,8}",
    ) {
        let (from, to) = (at.min(to), at.max(to));
        let mut text = GOOD.to_owned();
        text.replace_range(from..to, &with);
        let paths = Paths::new("nowhere");
        if let Ok(loaded) = Config::load(&paths, &ConfigSource::Inline(text)) {
            let _ = loaded.config.resolve_model(Some(&with), &|_| Some(with.clone()));
        }
    }

    #[test]
    fn deep_nesting_is_an_error_not_a_crash(depth in 1_usize..20_000, open in "[\\[{]") {
        let paths = Paths::new("nowhere");
        let text = format!("a = {}", open.repeat(depth));
        prop_assert!(Config::load(&paths, &ConfigSource::Inline(text)).is_err());
        let text = format!("{{\"a\": {}", "[".repeat(depth));
        prop_assert!(Config::load(&paths, &ConfigSource::Inline(text)).is_err());
    }
}
