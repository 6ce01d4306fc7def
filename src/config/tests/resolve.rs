//! Every way to the model, and every way it cannot be reached.

use std::collections::HashMap;

use super::*;

pub(super) fn resolve(
    text: &str,
    flag: Option<&str>,
    env: &[(&str, &str)],
) -> Result<Option<ResolvedModel>, String> {
    let env: HashMap<&str, &str> = env.iter().copied().collect();
    let lookup = |name: &str| env.get(name).map(|value| (*value).to_owned());
    config(text).resolve_model(flag, &lookup).map_err(|error| error.to_string())
}

pub(super) fn resolved(text: &str, flag: Option<&str>, env: &[(&str, &str)]) -> ResolvedModel {
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
            "provider \"managed:kimi-code\" has no api_key. It was made by a login: write how below \
             [providers.\"managed:kimi-code\"] (oauth = { key = \"oauth/kimi-code\" }), or \
             api_key = \"…\", or set KIMI_API_KEY.",
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
