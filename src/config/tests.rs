//! Every message a broken configuration gives, and what is tolerated.

mod documentation;
mod network;
mod resolve;

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
fn a_key_in_the_wrong_table_is_told_where_it_belongs() {
    let told = |text: &str| {
        let folder = tempfile::tempdir().expect("folder");
        let paths = Paths::new(folder.path());
        std::fs::write(paths.config_file(), text).expect("file");
        let loaded = Config::load(&paths, &ConfigSource::Default).expect("tolerated");
        let file = format!("{}:", paths.config_file().display());
        loaded.warnings.iter().map(|told| told.replace(&file, "")).collect::<Vec<_>>()
    };
    let ignored = "is not a known key and is ignored.";
    assert_eq!(
        told("vim = true\n[ui]\ntheme = \"light\"\nproxy = \"x\"\n"),
        [
            format!("1: vim {ignored} vim belongs to [ui]."),
            format!("3: ui.theme {ignored} theme stands at the top, before the first [table]."),
            format!("4: ui.proxy {ignored} proxy belongs to [network]."),
        ]
    );
    let [strange] = &told("[ui]\nentirely_foreign = 1\n")[..] else { panic!("one warning") };
    assert!(strange.starts_with(&format!("2: ui.entirely_foreign {ignored} Known: ")), "{strange}");
    assert!(strange.contains("wheel_lines"), "{strange}");
    assert!(
        told(
            "[models.m]\nprovider = \"p\"\nmodel = \"m\"\nmax_context_size = 1\ntheme = 1\n\
                  [providers.p]\ntype = \"kimi\"\nbase_url = \"http://x\"\nmouse = 1\n"
        )
        .is_empty()
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
    assert_eq!(theme(ConfigSource::Default), Ok("auto".to_owned()));
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

#[test]
fn a_strategy_has_a_name_and_an_import_path() {
    let strategy = |text: &str| {
        load(&format!("[compaction]\nstrategy = {text:?}\nfallback = \"truncate\"\n"))
            .map(|loaded| loaded.config.compaction)
    };
    for (name, kind) in CompactionStrategyKind::NAMES {
        assert_eq!(kind.name(), name);
        let fallback = Some(CompactionStrategyKind::Truncate);
        assert_eq!(strategy(name), Ok(CompactionConfig { strategy: kind, fallback }));
    }
    for (path, kind) in [
        ("LLMSummaryCompaction", CompactionStrategyKind::LlmSummary),
        ("ToolResultHidingCompaction", CompactionStrategyKind::HideToolResults),
        ("HidingThenSummaryCompaction", CompactionStrategyKind::HideThenSummary),
    ] {
        let found = strategy(&format!("kimi_cli.soul.compaction:{path}")).expect(path);
        assert_eq!(found.strategy, kind);
    }
    let error = strategy("my.module:Mine").expect_err("unknown");
    assert!(error.contains("config.toml:2: unknown strategy"), "{error}");
    assert!(strategy("truncat").expect_err("a slip").contains("Did you mean"));
    assert_eq!(load("").expect("nothing").config.compaction, CompactionConfig::default());
}

#[test]
fn the_screen_is_set_up_by_its_table() {
    let text = "[ui]\non_exit = \"all\"\nfold = \"success\"\nopen_last = 2\nmouse = false\nwheel_lines = 900";
    let ui = load(text).expect("a configuration").config.ui;
    assert_eq!((ui.on_exit, ui.fold, ui.open_last), (OnExit::All, Fold::Success, 2));
    assert_eq!((ui.mouse, ui.wheel_lines), (false, 100));
    let ui = load("[ui]\ninline = true\nlinks = \"off\"").expect("a configuration").config.ui;
    assert!(ui.inline && !ui.links.is_on(true) && ui.marks.is_on(true) && !ui.marks.is_on(false));
    let error = load("[ui]\nfold = \"sucess\"").expect_err("a slip");
    assert!(error.contains(":2: ui.fold is \"sucess\""), "{error}");
    assert!(error.contains("Did you mean fold = \"success\"?"), "{error}");
}

#[test]
fn permission_rules_are_read_and_a_wrong_one_is_told_not_left_out() {
    use crate::permission::{Decision, Rule};
    let text =
        "[[permission.rules]]\ntool = \"Bash\"\ncommand = \"git push\"\ndecision = \"deny\"\n";
    let rules = load(text).expect("a rule").config.permission_rules;
    assert_eq!(rules, [Rule::command("git push", Decision::Deny)]);
    let error =
        load("[permission]\nrules = [{tool = \"Bash\", decision = \"no\"}]").expect_err("no");
    assert!(error.contains("config.toml:2: permission.rules.decision is \"no\""), "{error}");
    let error = load("[permission]\nrules = [1]").expect_err("no table");
    assert!(error.contains("is no table"), "{error}");
}

#[test]
fn the_last_line_holds_what_the_file_lists() {
    let status = |text: &str| load(text).expect("loads").config.ui.status;
    assert_eq!(status("[ui]\nmouse = true\n"), StatusConfig::default());
    let text = "[ui.status]\nleft = [\"hints\"]\nright = [\"branch\", \"branch\", \"model\"]\n\
                time_limit_ms = 99999\ninterval_s = 5\n";
    let read = status(text);
    assert_eq!(read.left, [StatusItem::Hints]);
    assert_eq!(read.right, [StatusItem::Branch, StatusItem::Model]);
    assert_eq!((read.time_limit_ms, read.interval_s), (10_000, 5));
    let read = status("[ui.status]\ncommand = \"mine\"\n");
    assert_eq!(read.right, StatusConfig::RIGHT_WITH_COMMAND);
    let read = status("[ui.status]\ncommand = \"mine\"\nleft = [\"command\"]\n");
    assert_eq!(read.right, StatusConfig::RIGHT);
}

#[test]
fn an_unknown_item_of_the_last_line_is_told_with_the_known_ones() {
    let error = load("[ui.status]\nright = [\n \"model\",\n \"modle\",\n]\n").expect_err("unknown");
    let text = error.to_string();
    assert!(text.contains("ui.status.right has the unknown item \"modle\""), "{text}");
    assert!(text.contains("activity, hints") && text.contains("command"), "{text}");
    assert!(text.contains(":4:"), "{text}");
    let error = load("[ui.status]\nleft = \"model\"\n").expect_err("no list").to_string();
    assert!(error.contains("ui.status.left must be a list of names"), "{error}");
    let error = load("[ui]\nprogress = \"maybe\"\n").expect_err("unknown").to_string();
    assert!(error.contains("auto, on, off"), "{error}");
}
