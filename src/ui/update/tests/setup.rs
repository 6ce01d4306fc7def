//! `/model`, `/login`, `/logout`, `/reload`, `/usage`.

use std::sync::Arc;

use super::*;
use crate::config::edit::{Edit, edited};
use crate::config::{LoginCode, Offered, Price, Secret, Service, StatusConfig, Switch};
use crate::ui::effect::EffectId;
use crate::ui::model::setup::{Ask, Known, KnownModel, Stage, Told};

const KEY: &str = "sk-typed-by-a-person";

/// What was asked last.
fn asked(harness: &mut Harness) -> (EffectId, Ask) {
    let effects = harness.take_effects();
    let found = effects.into_iter().rev().find_map(|effect| match effect {
        Effect::Setup { id, ask } => Some((id, ask)),
        _ => None,
    });
    found.expect("something was asked")
}

fn tell(harness: &mut Harness, id: EffectId, told: Told) {
    harness.send(Msg::Setup { id, told: Box::new(told) });
}

fn known() -> Known {
    let model = |key: &str| KnownModel {
        key: key.into(),
        model: format!("{key}-latest"),
        provider: "moonshot".into(),
        context: 262_144,
    };
    Known {
        models: vec![model("k1"), model("k2")],
        keys: vec!["moonshot".into()],
        theme: "light".into(),
        shows_thinking: false,
        status: StatusConfig::default(),
        progress: Switch::Auto,
        warnings: Vec::new(),
    }
}

fn services() -> Told {
    let local = Service::local("Ollama", "http://127.0.0.1:11434/v1", Vec::new());
    let known = Service::known(&|name| (name == "DEEPSEEK_API_KEY").then(|| "sk-env".into()));
    Told::Services(std::iter::once(local).chain(known).collect())
}

fn offered(names: &[&str]) -> Told {
    let model = |name: &&str| Offered { name: (*name).to_owned(), context: Some(9000) };
    Told::Offered(Ok(names.iter().map(model).collect()))
}

fn stage(harness: &Harness) -> Option<&Stage> {
    harness.model.overlays.iter().find_map(|overlay| match overlay {
        Overlay::Setup(setup) => Some(&setup.stage),
        _ => None,
    })
}

#[test]
fn a_model_is_chosen_and_kept() {
    let mut h = Harness::new(80, 24);
    h.keys("/model<enter>");
    let (id, ask) = asked(&mut h);
    assert_eq!(ask, Ask::Config);
    tell(&mut h, id, Told::Config(Ok(known())));
    h.keys("k2<enter>");
    let effects = h.take_effects();
    let expected = Command::SetModel { key: Some("k2".into()), thinking: None };
    assert!(effects.contains(&Effect::Send(expected)), "{effects:?}");
    let kept = Ask::Write(vec![Edit::DefaultModel("k2".into())]);
    assert!(effects.iter().any(|e| matches!(e, Effect::Setup { ask, .. } if *ask == kept)));
    assert!(h.model.overlays.is_empty());
    h.keys("/model k1<enter>");
    assert!(sent(&mut h).contains(&Command::SetModel { key: Some("k1".into()), thinking: None }));
}

#[test]
fn thinking_is_switched_where_there_is_a_choice() {
    let mut h = Harness::new(80, 24);
    Arc::make_mut(&mut h.model.status.info).thinking = Some(false);
    h.keys("/model<enter>");
    let (id, _) = asked(&mut h);
    tell(&mut h, id, Told::Config(Ok(known())));
    h.keys("Think before<enter>");
    assert_eq!(sent(&mut h), [Command::SetModel { key: None, thinking: Some(true) }]);
}

#[test]
fn nothing_is_switched_while_a_turn_runs() {
    let mut h = Harness::new(80, 24);
    h.begin_turn("go");
    h.take_effects();
    h.keys("/model k1<enter>/reload<enter>");
    assert_eq!(sent(&mut h), []);
    assert!(h.model.composer.queue.is_empty(), "it is no prompt");
}

#[test]
fn a_service_is_connected_with_a_key_that_is_seen_nowhere() {
    let mut h = Harness::new(80, 24);
    h.keys("/login<enter>");
    let (id, ask) = asked(&mut h);
    assert_eq!(ask, Ask::Services);
    // A prompt is never waited for: with Esc the demo goes on at once.
    tell(&mut h, id, services());
    h.keys("<down><enter>");
    assert_eq!(stage(&h), Some(&Stage::Key));
    h.send(Msg::Paste(format!("{KEY}\n")));
    let picture = h.picture();
    assert!(picture.contains("API key: ****") && !picture.contains(KEY), "{picture}");
    assert!(picture.contains("enter go on") && !picture.contains("move"), "{picture}");
    assert!(!format!("{:?}", h.model).contains(KEY));
    h.keys("<enter>");
    let effects = h.take_effects();
    assert!(!format!("{effects:?}").contains(KEY), "{effects:?}");
    assert!(!effects.iter().any(|e| matches!(e, Effect::Remember(_) | Effect::SaveDraft(_))));
    let Some(Effect::Setup { id, ask: Ask::Offered(provider) }) = effects.last() else {
        panic!("{effects:?}");
    };
    assert_eq!(
        (provider.base_url.as_str(), provider.api_key.as_str()),
        ("https://api.moonshot.ai/v1", KEY)
    );
    let id = *id;
    tell(&mut h, id, offered(&["kimi-k2.5", "kimi-latest"]));
    h.keys("k2<enter>");
    let (id, Ask::Write(edits)) = asked(&mut h) else { panic!("nothing is written") };
    let text = edited("", &edits).expect("edited");
    assert!(
        text.contains(KEY) && text.contains("default_model = \"moonshot/kimi-k2.5\""),
        "{text}"
    );
    assert!(text.contains("max_context_size = 9000"), "{text}");
    tell(&mut h, id, Told::Written(Ok("config.toml".into())));
    let key = Some("moonshot/kimi-k2.5".to_owned());
    assert_eq!(sent(&mut h), [Command::SetModel { key, thinking: None }]);
    assert!(h.model.overlays.is_empty() && h.model.composer.editor.is_empty());
    assert!(h.picture().contains("Saved in config.toml"));
}

#[test]
fn what_the_server_says_against_it_is_told_and_another_key_can_be_given() {
    let mut h = Harness::new(80, 24);
    h.keys("a draft");
    h.model
        .overlays
        .push(Overlay::Setup(Box::new(crate::ui::model::setup::Setup::new(EffectId(7)))));
    tell(&mut h, EffectId(7), services());
    h.keys("<down><enter>wrong<enter>");
    let (id, _) = asked(&mut h);
    // An answer nobody waits for any more changes nothing.
    tell(&mut h, EffectId(99), offered(&["x"]));
    assert_eq!(stage(&h), Some(&Stage::Trying));
    tell(
        &mut h,
        id,
        Told::Offered(Err("host answered 401: no such key. Put in a valid one".into())),
    );
    assert_eq!(stage(&h), Some(&Stage::Key));
    assert!(h.picture().contains("no such key"), "{}", h.picture());
    h.keys("<ctrl-u>right<enter>");
    let (_, Ask::Offered(provider)) = asked(&mut h) else { panic!("nothing is asked") };
    assert_eq!(provider.api_key, "right");
    h.keys("<esc><esc>");
    assert_eq!((stage(&h), h.model.composer.editor.text().as_str()), (None, "a draft"));
}

#[test]
fn a_key_from_the_environment_is_not_asked_for_and_another_server_is_named_by_its_host() {
    let mut h = Harness::new(80, 24);
    h.keys("/login<enter>");
    let (id, _) = asked(&mut h);
    tell(&mut h, id, services());
    h.keys("<down><down><down><down><down><down><enter>");
    let (_, Ask::Offered(provider)) = asked(&mut h) else { panic!("nothing is asked") };
    assert_eq!((provider.api_key.as_str(), stage(&h)), ("sk-env", Some(&Stage::Trying)));
    h.keys("<esc><down><down><down><down><down><down><down><down><enter>");
    assert_eq!(stage(&h), Some(&Stage::Address));
    h.keys("nowhere<enter>");
    assert!(h.picture().contains("begins with http://"), "{}", h.picture());
    h.keys("<ctrl-u><ctrl-a><ctrl-k>");
    h.send(Msg::Paste("http://gate.corp:8000/v1".into()));
    h.keys("<enter><enter>");
    let (id, Ask::Offered(provider)) = asked(&mut h) else { panic!("nothing is asked") };
    assert_eq!(
        (provider.base_url.as_str(), provider.api_key.as_str()),
        ("http://gate.corp:8000/v1", "")
    );
    // A server without a list: the name is typed.
    tell(&mut h, id, offered(&[]));
    h.keys("my/model<enter>");
    let (_, Ask::Write(edits)) = asked(&mut h) else { panic!("nothing is written") };
    let text = edited("", &edits).expect("edited");
    assert!(text.contains("[providers.gate-corp-8000]") && text.contains("\"my/model\""), "{text}");
}

#[test]
fn logout_takes_a_key_out_and_reload_goes_by_the_file() {
    let mut h = Harness::new(80, 24);
    h.keys("/logout<enter>");
    let (id, _) = asked(&mut h);
    tell(&mut h, id, Told::Config(Ok(known())));
    h.keys("<enter>");
    let (_, ask) = asked(&mut h);
    let edit = Edit::Key { provider: "moonshot".into(), secret: None::<Secret> };
    assert_eq!(ask, Ask::Write(vec![edit]));
    h.keys("/reload<enter>");
    let (id, ask) = asked(&mut h);
    assert_eq!(ask, Ask::Config);
    tell(&mut h, id, Told::Config(Ok(known())));
    let effects = h.take_effects();
    assert!(effects.contains(&Effect::Send(Command::Reload)), "{effects:?}");
    assert!(effects.contains(&Effect::ShowTheme("light".into())), "{effects:?}");
    assert!(!h.model.shows_thinking);
}

#[test]
fn a_broken_file_is_told_and_nothing_else_happens() {
    let mut h = Harness::new(80, 24);
    h.keys("/reload<enter>");
    let (id, _) = asked(&mut h);
    tell(&mut h, id, Told::Config(Err("config.toml:3: this is not TOML".into())));
    assert_eq!(sent(&mut h), []);
    assert!(h.picture().contains("config.toml:3: this is not TOML"));
}

#[test]
fn the_cost_is_counted_where_there_is_a_price() {
    let mut h = Harness::new(120, 30);
    h.begin_turn("go");
    h.step(1).usage(1_000_000);
    assert_eq!(h.model.status.cost, None);
    let price = Price { input: 2.0, output: 0.0, cache_read: None, cache_write: None };
    Arc::make_mut(&mut h.model.status.info).price = Some(price);
    h.usage(1_000_000);
    let cost = h.model.status.cost.expect("a cost");
    assert!(cost > 0.0, "{cost}");
    let shown = crate::ui::update::money(cost);
    assert!(h.picture().contains(&shown), "{}", h.picture());
    h.end_turn().keys("/usage<enter>");
    assert!(h.picture().contains(&format!("Cost        {shown}")), "{}", h.picture());
    assert!(h.picture().contains("2 answers of the model"), "{}", h.picture());
}

#[test]
fn a_draft_outlives_every_fault_of_the_provider() {
    for (message, retryable) in [
        ("Could not talk to h: no connection (refused).", true),
        ("H did not answer within 120 s.", true),
        ("H answered 401: no such key.", false),
        ("H answered 529: overloaded.", true),
        ("H answered with a web page.", false),
    ] {
        let mut h = Harness::new(80, 24);
        h.begin_turn("go").step(1).keys("what I type meanwhile");
        let outcome = PromptOutcome::ProviderFailed { message: message.into(), retryable };
        h.send(Msg::Door(DoorMessage::PromptDone(outcome)));
        assert_eq!(h.model.composer.editor.text(), "what I type meanwhile", "{message}");
        assert_eq!(h.model.status.activity, Activity::Idle);
        assert!(h.picture().contains(&message[..20]), "{}", h.picture());
    }
}

#[test]
fn a_code_is_shown_until_it_is_confirmed() {
    let mut h = Harness::new(80, 24);
    h.keys("/login<enter>");
    let (id, _) = asked(&mut h);
    let mut kimi = Service::kimi_code(&|_| None);
    kimi.key = "managed:kimi".into();
    tell(&mut h, id, Told::Services(vec![kimi]));
    h.keys("<enter>");
    let (id, ask) = asked(&mut h);
    assert!(matches!(ask, Ask::LogIn(provider) if provider.oauth.is_some()));
    let code = LoginCode { address: "https://login.example/d".into(), code: "ABCD-1234".into() };
    tell(&mut h, id, Told::Code(code.clone()));
    assert_eq!(stage(&h), Some(&Stage::Login(Some(code.clone()))));
    let screen = h.picture();
    for words in ["https://login.example/d", "ABCD-1234", "waiting"] {
        assert!(screen.contains(words), "{words} in {screen}");
    }
    // It is denied: back to the list, with the reason.
    tell(&mut h, id, Told::Offered(Err("the login was denied in the browser.".into())));
    assert_eq!(stage(&h), Some(&Stage::Services));
    assert!(h.picture().contains("denied"), "the reason is not shown");
    h.keys("<enter>");
    let (id, _) = asked(&mut h);
    tell(&mut h, id, Told::Code(code));
    tell(&mut h, id, offered(&["kimi-for-coding"]));
    h.keys("<enter>");
    let (_, ask) = asked(&mut h);
    let Ask::Write(edits) = ask else { panic!("{ask:?}") };
    let text = edited("", &edits).expect("a configuration");
    assert!(text.contains("oauth = { storage = \"file\", key = \"oauth/kimi-code\" }"), "{text}");
}
