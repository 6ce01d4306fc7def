//! `[network]`, prices, and keys that the environment fills in.

use std::path::PathBuf;
use std::time::Duration;

use super::resolve::{resolve, resolved};
use super::*;

const CLAUDE: &str = r#"
[providers.claude]
type = "anthropic"

[models.claude]
provider = "claude"
model = "claude-opus-4-6"
max_context_size = 200000
max_output_tokens = 64000
price = { input = 5, output = 25.0, cache_read = 0.5 }
"#;

#[test]
fn the_network_and_prices_reach_the_model() {
    let network = "[network]\nconnect_timeout_s = 3\nidle_timeout_s = 0.5\n\
                   proxy = \"socks5h://127.0.0.1:1080\"\nca_file = \"/etc/ca.pem\"\n";
    let model = resolved(&format!("{GOOD}{network}"), None, &[]);
    assert_eq!(
        model.network,
        NetworkConfig {
            connect_timeout: Duration::from_secs(3),
            idle_timeout: Duration::from_millis(500),
            proxy: Some("socks5h://127.0.0.1:1080".into()),
            ca_file: Some(PathBuf::from("/etc/ca.pem")),
            ..NetworkConfig::default()
        }
    );
    assert_eq!(model.price, None);
    let claude = resolved(CLAUDE, None, &[("ANTHROPIC_API_KEY", "sk-ant-1")]);
    let price = Price { input: 5.0, output: 25.0, cache_read: Some(0.5), cache_write: None };
    assert_eq!((claude.price, claude.max_output_tokens), (Some(price), Some(64_000)));
}

#[test]
fn wrong_numbers_and_proxies_are_told() {
    for (text, said) in [
        (
            "[network]\nidle_timeout_s = 0\n",
            "network.idle_timeout_s must be a number of seconds above 0",
        ),
        ("[network]\nidle_timeout_s = \"5\"\n", "seconds above 0, not text"),
        (
            "[network]\nproxy = \"me:secret@proxy:8080\"\n",
            "network.proxy is \"***@proxy:8080\", which is no address",
        ),
        ("K3\nprice = { input = 1 }\n", "models.k3.price has no output"),
        ("K3\nprice = { input = -1, output = 2 }\n", "models.k3.price.input must be"),
    ] {
        let text = text.replace(
            "K3",
            "[models.k3]\nprovider = \"local\"\nmodel = \"x\"\nmax_context_size = 1",
        );
        let error = load(&format!("{GOOD}{text}")).map(|_| ()).expect_err(&text);
        assert!(error.contains(said), "{error}");
    }
    let slip = load(&format!("{GOOD}[network]\nidle_timeout = 5\n")).expect("a warning only");
    assert!(slip.warnings[0].contains("Did you mean idle_timeout_s?"), "{:?}", slip.warnings);
}

#[test]
fn a_key_from_the_environment_goes_to_its_own_service_only() {
    let env = [("ANTHROPIC_API_KEY", "sk-ant-1"), ("GEMINI_API_KEY", "g")];
    let own = resolved(CLAUDE, None, &env);
    assert_eq!(own.provider.base_url, "https://api.anthropic.com");
    assert_eq!(own.provider.api_key, "sk-ant-1");
    let with_address = |url: &str| {
        CLAUDE.replace("\"anthropic\"\n", &format!("\"anthropic\"\nbase_url = \"{url}\"\n"))
    };
    let same = resolved(&with_address("https://api.anthropic.com/v1"), None, &env);
    assert_eq!(same.provider.api_key, "sk-ant-1");
    let said = resolve(&with_address("https://api.moonshot.ai/anthropic"), None, &env);
    let said = said.map(|_| ()).expect_err("no key for that one").to_string();
    assert!(said.contains("no api_key") && !said.contains("ANTHROPIC"), "{said}");
    let said = resolve(CLAUDE, None, &[]).map(|_| ()).expect_err("no key").to_string();
    assert!(said.contains("or set ANTHROPIC_API_KEY"), "{said}");
    let by_env = [("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", "https://gate.example")];
    assert_eq!(resolved(CLAUDE, None, &by_env).provider.base_url, "https://gate.example");
    let gemini = CLAUDE.replace("\"anthropic\"", "\"gemini\"");
    assert_eq!(resolved(&gemini, None, &env).provider.api_key, "g");
}
