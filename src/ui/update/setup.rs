//! `/model`, `/login`, `/logout`, `/reload`: which model answers, and connecting to a service.

use super::super::effect::{Effect, EffectId, OpenTarget};
use super::super::key::{KeyCode, KeyPress};
use super::super::keymap::{Action, Context};
use super::super::model::Model;
use super::super::model::cell::Level;
use super::super::model::overlay::Overlay;
use super::super::model::picker::{Choice, Picker, PickerRow};
use super::super::model::setup::{Ask, Known, Setup, Stage, Told, Why};
use super::super::model::status::Activity;
use super::super::render::format;
use super::{actions, is_idle, session, status_line, toast, wire};
use crate::config::edit::Edit;
use crate::config::{Secret, Service};
use crate::wire::Command;

/// The commands carried out here: name, another name or none, and what it does.
pub(super) const COMMANDS: [(&str, &str, &str); 4] = [
    ("model", "", "Let another model answer, think or not; or connect one"),
    ("login", "setup", "Connect a service: its key, its models"),
    ("logout", "", "Take a key out of the configuration"),
    ("reload", "", "Read the configuration again"),
];

/// Carries out a command of [`COMMANDS`]; none when it is none.
pub(super) fn command(model: &mut Model, line: &str, now: f64) -> Option<Vec<Effect>> {
    let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let argument = argument.trim();
    let effects = match name {
        "model" if argument.is_empty() => ask_config(model, Why::Models),
        "model" => switch(model, Some(argument.to_owned()), None, now),
        "login" | "setup" => connect(model),
        "logout" => ask_config(model, Why::Logout),
        "reload" => reload(model, now),
        _ => return None,
    };
    Some(effects)
}

/// A cost in the person's own currency: as many digits as say something.
#[must_use]
pub fn money(cost: f64) -> String {
    if cost < 1.0 { format!("{cost:.3}") } else { format!("{cost:.2}") }
}

fn ask(model: &mut Model, ask: Ask, why: Why) -> Vec<Effect> {
    let id = model.next_effect();
    model.asked = Some((id, why));
    vec![Effect::Setup { id, ask }]
}

fn ask_config(model: &mut Model, why: Why) -> Vec<Effect> {
    ask(model, Ask::Config, why)
}

fn reload(model: &mut Model, now: f64) -> Vec<Effect> {
    if !is_idle(model) {
        toast(model, "A turn runs; Ctrl-C stops it first", now);
        return Vec::new();
    }
    ask_config(model, Why::Reload)
}

/// Opens the way to another service.
pub(super) fn connect(model: &mut Model) -> Vec<Effect> {
    if matches!(model.overlays.last(), Some(Overlay::Setup(_))) {
        return Vec::new();
    }
    let id = model.next_effect();
    model.overlays.push(Overlay::Setup(Box::new(Setup::new(id))));
    vec![Effect::Setup { id, ask: Ask::Services }]
}

/// Lets another model answer, and keeps that in the configuration where there is a file for it.
pub(super) fn switch(
    model: &mut Model,
    key: Option<String>,
    thinking: Option<bool>,
    now: f64,
) -> Vec<Effect> {
    if !is_idle(model) {
        toast(model, "A turn runs; Ctrl-C stops it first", now);
        return Vec::new();
    }
    vec![Effect::Send(Command::SetModel { key, thinking })]
}

/// A line of the list of models was taken.
pub(super) fn choose(model: &mut Model, choice: Choice, now: f64) -> Vec<Effect> {
    let (key, thinking, edit) = match choice {
        Choice::Model(key) => (Some(key.clone()), None, Edit::DefaultModel(key)),
        Choice::Thinking(on) => (None, Some(on), Edit::Thinking(on)),
        Choice::Forget(provider) => {
            let edit = Edit::Key { provider: provider.clone(), secret: None };
            return ask(model, Ask::Write(vec![edit]), Why::Forget(provider));
        }
        _ => return connect(model),
    };
    let mut effects = switch(model, key, thinking, now);
    if !effects.is_empty() {
        effects.extend(ask(model, Ask::Write(vec![edit]), Why::Keep));
    }
    effects
}

/// The world answered.
pub(super) fn told(model: &mut Model, id: EffectId, told: Told, now: f64) -> Vec<Effect> {
    if let Some(Overlay::Setup(setup)) =
        model.overlays.iter_mut().find(|overlay| matches!(overlay, Overlay::Setup(_)))
        && setup.request == Some(id)
    {
        // More follows a code.
        if !matches!(told, Told::Code(_)) {
            setup.request = None;
        }
        return told_setup(setup, told);
    }
    let why = match model.asked.take() {
        Some((asked, why)) if asked == id => why,
        other => {
            model.asked = other;
            return Vec::new();
        }
    };
    match (why, told) {
        (_, Told::Config(Err(reason))) => {
            wire::notice(model, Level::Error, reason, now);
            Vec::new()
        }
        (Why::Models, Told::Config(Ok(known))) => show_models(model, &known),
        (Why::Logout, Told::Config(Ok(known))) => show_keys(model, &known, now),
        (Why::Reload, Told::Config(Ok(known))) => go_by(model, known, now),
        (Why::Connect(key), Told::Written(Ok(file))) => connected(model, key, &file, now),
        (Why::Forget(provider), Told::Written(Ok(file))) => {
            let text = format!("The key of {provider} is no longer in {file}");
            toast(model, text, now);
            Vec::new()
        }
        (Why::Connect(_), Told::Written(Err(reason))) => {
            match model.overlays.last_mut() {
                Some(Overlay::Setup(setup)) => setup.trouble = Some(reason),
                _ => wire::notice(model, Level::Error, reason, now),
            }
            Vec::new()
        }
        (Why::Keep, Told::Written(Err(reason))) => {
            toast(model, format!("For this session only: {reason}"), now);
            Vec::new()
        }
        (_, Told::Written(Err(reason))) => {
            wire::notice(model, Level::Error, reason, now);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

fn show_models(model: &mut Model, known: &Known) -> Vec<Effect> {
    if known.models.is_empty() {
        return connect(model);
    }
    let current = model.status.info.model_key.clone();
    let separator = "  ";
    let mut rows: Vec<PickerRow> = known
        .models
        .iter()
        .map(|entry| {
            let name = if entry.key.ends_with(&entry.model) {
                entry.key.clone()
            } else {
                format!("{}{separator}{}", entry.key, entry.model)
            };
            let now = if current.as_ref() == Some(&entry.key) { "now  " } else { "" };
            PickerRow {
                label: name,
                detail: format!("{now}{}  {}", entry.provider, format::tokens(entry.context)),
                choice: Choice::Model(entry.key.clone()),
            }
        })
        .collect();
    let marked = known.models.iter().position(|entry| Some(&entry.key) == current.as_ref());
    if let Some(on) = model.status.info.thinking {
        let (label, detail) = if on {
            ("Answer without thinking", "thinks now")
        } else {
            ("Think before answering", "does not think now")
        };
        rows.push(PickerRow {
            label: label.to_owned(),
            detail: detail.to_owned(),
            choice: Choice::Thinking(!on),
        });
    }
    rows.push(PickerRow {
        label: "Connect another service…".to_owned(),
        detail: "/login".to_owned(),
        choice: Choice::Connect,
    });
    let mut picker = Picker::new("Models", "No model is called so.", rows);
    picker.marked = marked.unwrap_or(0);
    model.overlays.push(Overlay::Picker(Box::new(picker)));
    Vec::new()
}

fn show_keys(model: &mut Model, known: &Known, now: f64) -> Vec<Effect> {
    if known.keys.is_empty() {
        toast(model, "No key is in the configuration", now);
        return Vec::new();
    }
    let row = |provider: &String| PickerRow {
        label: format!("Forget the key of {provider}"),
        detail: String::new(),
        choice: Choice::Forget(provider.clone()),
    };
    let rows = known.keys.iter().map(row).collect();
    let picker = Picker::new("Log out", "No provider is called so.", rows);
    model.overlays.push(Overlay::Picker(Box::new(picker)));
    Vec::new()
}

fn go_by(model: &mut Model, known: Known, now: f64) -> Vec<Effect> {
    model.shows_thinking = known.shows_thinking;
    model.settings.progress = known.progress;
    if model.settings.status != known.status {
        model.settings.status = known.status;
        status_line::forget(model);
    }
    for warning in known.warnings {
        wire::notice(model, Level::Warning, warning, now);
    }
    let mut effects = vec![Effect::Send(Command::Reload)];
    if known.theme != model.themes.chosen {
        model.themes.chosen.clone_from(&known.theme);
        model.themes.shown.clone_from(&known.theme);
        effects.push(Effect::ShowTheme(known.theme));
    }
    toast(model, "The configuration was read again", now);
    effects
}

fn connected(model: &mut Model, key: String, file: &str, now: f64) -> Vec<Effect> {
    model.overlays.retain(|overlay| !matches!(overlay, Overlay::Setup(_)));
    let text = format!("Saved in {file}: {key} answers from now on.");
    wire::notice(model, Level::Info, text, now);
    if is_idle(model) {
        return vec![Effect::Send(Command::SetModel { key: Some(key), thinking: None })];
    }
    if model.status.activity == Activity::Gone {
        return session::open(model, OpenTarget::New, now);
    }
    wire::notice(model, Level::Info, "This turn is still the old model's; then /model.", now);
    Vec::new()
}

fn told_setup(setup: &mut Setup, told: Told) -> Vec<Effect> {
    match told {
        Told::Services(services) => setup.services = services,
        Told::Offered(Ok(models)) => {
            setup.stage = Stage::Models(models);
            setup.field = Default::default();
            setup.marked = 0;
        }
        Told::Offered(Err(reason)) => {
            setup.trouble = Some(reason);
            if let Some(key) = setup.service.as_ref().map(|service| service.key.clone()) {
                // A login that does not work is one to log in to again.
                let is_it = |known: &&mut Service| known.key == key && known.oauth.is_some();
                setup.services.iter_mut().filter(is_it).for_each(|known| known.found = None);
            }
            let wants_key = setup.service.as_ref().is_some_and(|service| service.wants_key);
            setup.stage = if wants_key { Stage::Key } else { Stage::Services };
        }
        Told::Code(code) => setup.stage = Stage::Login(Some(code)),
        Told::Config(_) | Told::Written(_) => {}
    }
    Vec::new()
}

/// A key was pressed while a service is being connected.
pub(super) fn key(model: &mut Model, key: KeyPress, now: f64) -> Vec<Effect> {
    let picked = model.keymap.in_context(Context::Picker, key);
    let global = model.keymap.in_context(Context::Global, key);
    let Some(Overlay::Setup(setup)) = model.overlays.last_mut() else { return Vec::new() };
    match picked {
        Some(Action::Choose) => return go_on(model, now),
        Some(Action::SelectPrevious) => setup.marked = setup.marked.saturating_sub(1),
        Some(Action::SelectNext) => {
            setup.marked = (setup.marked + 1).min(setup.count().saturating_sub(1));
        }
        _ if global == Some(Action::Back) => back(model),
        _ => match setup.stage {
            Stage::Key => {
                setup.trouble = None;
                match key.code {
                    KeyCode::Backspace => drop(setup.secret.0.pop()),
                    KeyCode::Char('u') if key.ctrl => setup.secret.0.clear(),
                    KeyCode::Char(c) if key.is_text() => setup.secret.0.push(c),
                    _ => return global_action(model, global, now),
                }
            }
            Stage::Address | Stage::Models(_) => {
                setup.trouble = None;
                if setup.field.key(key) {
                    setup.marked = 0;
                } else {
                    return global_action(model, global, now);
                }
            }
            Stage::Services | Stage::Login(_) | Stage::Trying => {
                return global_action(model, global, now);
            }
        },
    }
    Vec::new()
}

fn global_action(model: &mut Model, action: Option<Action>, now: f64) -> Vec<Effect> {
    action.map(|action| actions::global(model, action, now)).unwrap_or_default()
}

/// Text was pasted: an address, a key.
pub(super) fn paste(setup: &mut Setup, text: &str) {
    let text: String = text.split_whitespace().collect();
    setup.trouble = None;
    match setup.stage {
        Stage::Key => setup.secret.0.push_str(&text),
        Stage::Address | Stage::Models(_) => {
            setup.field.insert(&text);
            setup.marked = 0;
        }
        Stage::Services | Stage::Login(_) | Stage::Trying => {}
    }
}

/// One stage back; from the first one out.
fn back(model: &mut Model) {
    let Some(Overlay::Setup(setup)) = model.overlays.last_mut() else { return };
    setup.trouble = None;
    if setup.stage == Stage::Services {
        model.overlays.pop();
        return;
    }
    setup.stage = Stage::Services;
    setup.request = None;
    setup.service = None;
    setup.secret = Secret::default();
    setup.field = Default::default();
    setup.marked = 0;
}

fn go_on(model: &mut Model, now: f64) -> Vec<Effect> {
    let id = model.next_effect();
    let Some(Overlay::Setup(setup)) = model.overlays.last_mut() else { return Vec::new() };
    setup.trouble = None;
    match &setup.stage {
        Stage::Services => {
            let Some(service) = setup.services.get(setup.marked).cloned() else {
                return Vec::new();
            };
            let next = if service.base_url.is_empty() {
                Stage::Address
            } else if service.wants_login() {
                Stage::Login(None)
            } else if service.wants_key && service.secret.0.is_empty() {
                Stage::Key
            } else {
                Stage::Trying
            };
            setup.service = Some(service);
            setup.stage = next;
            setup.marked = 0;
            match setup.stage {
                Stage::Trying => look(setup, id),
                Stage::Login(_) => log_in(setup, id),
                _ => Vec::new(),
            }
        }
        Stage::Address => {
            let address = setup.field.text().trim().to_owned();
            if !(address.starts_with("http://") || address.starts_with("https://")) {
                let text = "An address begins with http:// or https:// and usually ends in /v1.";
                setup.trouble = Some(text.to_owned());
                return Vec::new();
            }
            if let Some(service) = &mut setup.service {
                service.key = key_for(&address);
                service.base_url = address;
            }
            setup.stage = Stage::Key;
            Vec::new()
        }
        Stage::Key => {
            if let Some(service) = &mut setup.service {
                // A server of one's own may want none; the others say so themselves.
                service.secret = setup.secret.clone();
                // What was typed wins over the environment.
                service.key_stays_outside = false;
            }
            setup.stage = Stage::Trying;
            look(setup, id)
        }
        Stage::Login(_) | Stage::Trying => Vec::new(),
        Stage::Models(_) => {
            let chosen = setup.shown_models().get(setup.marked).cloned();
            let (Some(offered), Some(service)) = (chosen, setup.service.clone()) else {
                toast(model, "Type the model's name, as the server calls it", now);
                return Vec::new();
            };
            let (key, edits) = service.edits(&offered);
            ask(model, Ask::Write(edits), Why::Connect(key))
        }
    }
}

fn look(setup: &mut Setup, id: EffectId) -> Vec<Effect> {
    let Some(provider) = setup.service.as_ref().map(Service::provider) else { return Vec::new() };
    setup.request = Some(id);
    vec![Effect::Setup { id, ask: Ask::Offered(provider) }]
}

fn log_in(setup: &mut Setup, id: EffectId) -> Vec<Effect> {
    let Some(provider) = setup.service.as_ref().map(Service::provider) else { return Vec::new() };
    setup.request = Some(id);
    vec![Effect::Setup { id, ask: Ask::LogIn(provider) }]
}

/// A provider's key for the server at `address`: its host.
fn key_for(address: &str) -> String {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    host.replace([':', '.'], "-")
}
