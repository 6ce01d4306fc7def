use std::fs;

use proptest::prelude::*;

use super::*;
use crate::config::{Capability, Config};

fn provider(url: &str, key: &str) -> ProviderConfig {
    ProviderConfig {
        kind: ProviderKind::OpenaiLegacy,
        base_url: url.to_owned(),
        api_key: key.to_owned(),
        env: Default::default(),
        custom_headers: Default::default(),
        reasoning_key: None,
        oauth: None,
    }
}

fn model(provider: &str, name: &str) -> ModelConfig {
    ModelConfig {
        provider: provider.to_owned(),
        model: name.to_owned(),
        max_context_size: 1000,
        capabilities: Some(vec![Capability::Thinking]),
        display_name: None,
        max_output_tokens: None,
        price: None,
    }
}

fn add(name: &str) -> Vec<Edit> {
    vec![
        Edit::Provider { key: name.into(), provider: provider("http://h/v1", "sk-1") },
        Edit::Model { key: name.into(), model: model(name, "m") },
        Edit::DefaultModel(name.into()),
    ]
}

#[test]
fn an_empty_configuration_becomes_one_that_works() {
    let text = edited("", &add("managed:a/b")).expect("edited");
    assert!(text.starts_with("default_model = \"managed:a/b\"\n"), "{text}");
    assert!(text.contains("\n[providers.\"managed:a/b\"]\ntype = \"openai_legacy\"\n"), "{text}");
    let loaded = read::config(&tree::from_toml(&text).expect("TOML")).expect("a configuration");
    let resolved = loaded.config.resolve_model(None, &|_| None).expect("ok").expect("a model");
    assert_eq!((resolved.model.as_str(), resolved.provider.api_key.as_str()), ("m", "sk-1"));
    assert_eq!(loaded.warnings, Vec::<String>::new());
}

#[test]
fn what_a_person_wrote_stays() {
    let old = "\u{feff}# mine\r\ntheme   = \"dark\" # at night\r\nodd_key = 1\r\n\r\n[providers.a]\r\n# secret\r\n\
               api_key = 'sk-0' # old\r\ntype = \"kimi\"\r\nbase_url = \"http://h/v1\"\r\nx = { y = 1 }\r\n";
    let edits = [
        Edit::Theme("light".into()),
        Edit::Key { provider: "a".into(), secret: Some(Secret("sk-1".into())) },
    ];
    let new = edited(old, &edits).expect("edited");
    assert_eq!(
        new,
        old.replace("\"dark\"", "\"light\"").replace("'sk-0'", "\"sk-1\""),
        "nothing but the two values"
    );
    let gone = edited(&new, &[Edit::Key { provider: "a".into(), secret: None }]).expect("edited");
    assert!(!gone.contains("sk-1") && gone.contains("x = { y = 1 }\r\n"), "{gone}");
}

#[test]
fn inline_tables_stay_inline() {
    let old = "providers = { a = { type = \"kimi\", base_url = \"http://h\" } }\n";
    let new = edited(old, &add("b")[..1]).expect("edited");
    assert!(new.contains("b = { type = \"openai_legacy\""), "{new}");
    assert!(!new.contains("[providers"), "{new}");
}

#[test]
fn what_cannot_be_changed_is_refused_with_advice() {
    let folder = tempfile::tempdir().expect("folder");
    let paths = Paths::new(folder.path());
    let told = |source: &ConfigSource, edits: &[Edit]| {
        edit(&paths, source, edits).expect_err("refused").to_string()
    };
    let theme = [Edit::Theme("light".into())];
    assert!(told(&ConfigSource::Inline("a = 1".into()), &theme).contains("--config"));
    fs::write(folder.path().join("config.json"), "{}").expect("file");
    assert!(told(&ConfigSource::Default, &theme).contains("config.toml"));
    fs::write(paths.config_file(), "a = \n").expect("file");
    let error = told(&ConfigSource::Default, &theme);
    assert!(error.contains("config.toml:1: this is not TOML"), "{error}");
    fs::write(paths.config_file(), "providers = 3\n").expect("file");
    assert!(told(&ConfigSource::Default, &add("a")).contains("providers is no table"));
    let nobody = [Edit::Key { provider: "a".into(), secret: None }];
    fs::write(paths.config_file(), "").expect("file");
    assert!(told(&ConfigSource::Default, &nobody).contains("no provider \"a\""));
    // A default model that is not there would make a good file bad.
    let wrong = [Edit::DefaultModel("nowhere".into())];
    assert!(told(&ConfigSource::Default, &wrong).contains("nowhere"));
    assert_eq!(fs::read_to_string(paths.config_file()).expect("file"), "");
}

#[cfg(unix)]
#[test]
fn a_file_with_a_key_is_its_owners_alone_and_a_link_stays_one() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("folder");
    let paths = Paths::new(folder.path().join("share"));
    let real = folder.path().join("dotfiles.toml");
    fs::create_dir_all(&paths.share).expect("folder");
    fs::write(&real, "# mine\n").expect("file");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o644)).expect("mode");
    std::os::unix::fs::symlink(&real, paths.config_file()).expect("link");
    let mode = || fs::metadata(&real).expect("file").permissions().mode() & 0o777;
    edit(&paths, &ConfigSource::Default, &[Edit::Theme("light".into())]).expect("edited");
    assert_eq!(mode(), 0o644, "no key, no business");
    edit(&paths, &ConfigSource::Default, &add("a")).expect("edited");
    assert_eq!(mode(), 0o600);
    assert!(fs::symlink_metadata(paths.config_file()).expect("link").is_symlink());
    assert!(fs::read_to_string(&real).expect("file").starts_with("# mine\n"));
    let loaded = Config::load(&paths, &ConfigSource::Default).expect("loads");
    assert_eq!(loaded.config.default_model, "a");
}

const KEYS: [&str; 11] = [
    "default_model",
    "default_thinking",
    "theme",
    "type",
    "base_url",
    "api_key",
    "provider",
    "model",
    "max_context_size",
    "capabilities",
    "display_name",
];

fn top_line() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("   # indented comment".to_owned()),
        "# [a-z =\\[\\]\"é中]{0,20}",
        "u[a-z]{1,6}[0-9]{6} *= *[0-9]{1,4}( +# why)?",
        "v[a-z]{1,6}[0-9]{6} = '''\n x  \n'''",
        "w[a-z]{1,6}[0-9]{6} = \\[ 1,\n # in a list\n 2 \\]",
    ]
}

fn file() -> impl Strategy<Value = String> {
    let lines = || proptest::collection::vec(top_line(), 0..4);
    let body = |lines: Vec<String>| lines.into_iter().map(|line| line + "\n").collect::<String>();
    let sections = proptest::sample::subsequence(
        vec!["providers.a", "models.a", "unknown", "providers.\"b:c\"", "loop_control"],
        0..=5,
    );
    (lines(), sections.prop_shuffle(), proptest::collection::vec(lines(), 5), any::<bool>())
        .prop_map(move |(top, sections, bodies, has_theme)| {
            let mut text = body(top);
            if has_theme {
                text.push_str("theme = 'ansi'   # this one\n");
            }
            for (section, lines) in sections.iter().zip(bodies) {
                let known = match *section {
                    "models.a" => "provider = 'a'\nmodel='x'\nmax_context_size=0x10\n",
                    name if name.starts_with("providers") => {
                        "type= 'kimi'\nbase_url='http://h'\napi_key = 'k' # z\n"
                    }
                    _ => "",
                };
                text.push_str(&format!("[{section}] # table\n{known}{}", body(lines)));
            }
            text
        })
}

fn any_edit() -> impl Strategy<Value = Edit> {
    let key = prop_oneof![Just("a".to_owned()), Just("b:c".to_owned()), Just("new".to_owned())];
    prop_oneof![
        (key.clone(), "[a-z\"\\\\]{0,8}").prop_map(|(key, secret)| Edit::Provider {
            key,
            provider: provider("http://x/v1", &secret)
        }),
        (key, "[a-z/:]{1,8}").prop_map(|(key, name)| Edit::Model { key, model: model("a", &name) }),
        Just(Edit::DefaultModel("a".into())),
        any::<bool>().prop_map(Edit::Thinking),
        "[a-z]{1,6}".prop_map(Edit::Theme),
        "[a-z -]{0,9}".prop_map(Edit::Editor),
    ]
}

proptest! {
    #[test]
    fn edits_keep_every_other_line(
        text in file(),
        edits in proptest::collection::vec(any_edit(), 1..5),
    ) {
        let Ok(new) = edited(&text, &edits) else {
            // A reference to what is not there.
            return Ok(());
        };
        let is_ours = |line: &str| {
            let name = line.split('=').next().unwrap_or_default().trim();
            line.contains('=') && KEYS.contains(&name)
        };
        let mut lines = new.lines();
        for line in text.lines().filter(|line| !is_ours(line)) {
            prop_assert!(lines.any(|kept| kept == line), "{line:?} is lost\n{text}\n----\n{new}");
        }
        prop_assert_eq!(edited(&new, &edits).expect("again"), new, "the same again changes nothing");
    }
}

#[test]
fn each_line_keeps_its_own_ending() {
    let old = "# a\r\ntheme = \"dark\"\n\r\n[providers.a] # it\r\ntype = \"kimi\"\n\
               base_url = \"http://h/v1\"\r\n# end";
    let edits = [
        Edit::Theme("light".into()),
        Edit::Key { provider: "a".into(), secret: Some(Secret("sk-1".into())) },
    ];
    let new = edited(old, &edits).expect("edited");
    for line in [
        "# a\r\n",
        "theme = \"light\"\n",
        "\n\r\n[providers.a] # it\r\n",
        "type = \"kimi\"\n",
        "base_url = \"http://h/v1\"\r\n",
        // A new one ends as most do.
        "api_key = \"sk-1\"\r\n",
    ] {
        assert!(new.contains(line), "{line:?} in {new:?}");
    }
    assert!(new.ends_with("# end"), "{new:?}");
    assert_eq!(edited(&new, &edits).expect("again"), new);
}
