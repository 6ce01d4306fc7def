//! The full-screen front end: an Elm loop over the wire.
//!
//! [`msg`] is what can happen, [`update`](fn@update::update) takes it in, [`effect`] is what may be
//! asked of the world, [`view`](fn@view::view) draws. These are pure; `runtime`, `exec` and `terminal`
//! are the edge that is not.

mod abilities;
mod backend;
mod clipboard;
pub mod clock;
pub mod effect;
mod exec;
mod external;
mod input;
pub mod key;
pub mod keymap;
pub mod model;
pub mod msg;
mod progress;
mod region;
pub mod render;
mod runtime;
#[cfg(test)]
mod storm;
mod terminal;
#[cfg(test)]
mod testing;
pub mod theme;
pub mod update;
pub mod view;

pub use exec::DoorSource;

use abilities::{Abilities, Links as Shown};
use effect::OpenTarget;
use model::{Model, Themes};
use render::links::Links;
use theme::ground::{AUTO, Ground};
use theme::{ColorDepth, Theme};

use crate::config::{Fold, Switch};
use crate::engine::SessionChoice;
use crate::message::SessionId;

/// How the screen begins.
#[derive(Debug, Clone)]
pub struct UiOptions {
    /// The session to open.
    pub session: SessionChoice,
    /// What to send as soon as it is open.
    pub first_prompt: Option<String>,
    /// The theme's name; the configured one when none is given.
    pub theme: Option<String>,
    /// Is everything said in lines for a screen reader?
    pub screen_reader: bool,
    /// Does the conversation go into the shell's own scrollback?
    pub inline: bool,
    /// What the person should know about how the program was started.
    pub warnings: Vec<String>,
    /// Play this session instead of opening one, and end with it.
    pub replay: Option<SessionId>,
    /// What this program is called with to look at what it needs.
    pub doctor: Vec<std::ffi::OsString>,
}

/// How the screen ended.
#[derive(Debug, Clone)]
pub struct UiExit {
    /// The session that was open last.
    pub session: Option<SessionId>,
    /// The signal that ended it, where it was not the person who left; of a terminal that went away
    /// without one, SIGHUP.
    pub signal: Option<i32>,
}

/// Shows the screen until the person leaves. The terminal is as it was when this returns.
///
/// # Errors
/// When the theme is wrong or the terminal cannot be used.
pub fn run(
    host: std::sync::Arc<dyn DoorSource>,
    options: UiOptions,
    runtime: &tokio::runtime::Runtime,
) -> anyhow::Result<UiExit> {
    let name = options.theme.unwrap_or_else(|| host.config().theme.clone());
    let folder = host.paths().themes();
    let depth = ColorDepth::detect(&|name| std::env::var(name).ok());
    // The terminal's own answer comes after the first frame.
    let ground = Ground::guess(&|name| std::env::var(name).ok());
    let file = if name == AUTO { ground.theme() } else { &name };
    let theme = if options.screen_reader || host.config().ui.screen_reader {
        view::linear_theme()
    } else {
        Theme::load(file, &folder)?.at_depth(depth).with_links(links(host.config().ui.links))
    };
    let target = match options.session {
        SessionChoice::New => OpenTarget::New,
        SessionChoice::Continue => OpenTarget::Latest,
        SessionChoice::Id(id) => OpenTarget::Id(id),
    };
    let plays_only = options.replay.is_some();
    let target = options.replay.map_or(target, OpenTarget::Recording);
    let mut model = Model::new(80, 24);
    model.themes = Themes { known: Theme::known(&folder), chosen: name.clone(), shown: name };
    model.themes.known.insert(0, AUTO.to_owned());
    model.settings = host.config().ui.clone();
    model.composer.vim = model.settings.vim.then(Default::default);
    model.settings.screen_reader |= options.screen_reader;
    model.settings.inline |= options.inline;
    // Whoever asks for one way of showing things does not get another one on top.
    model.settings.inline &= !model.settings.screen_reader;
    model.shows_details = model.settings.fold == Fold::Never;
    model.first_prompt = options.first_prompt;
    model.shows_thinking = host.config().show_thinking_stream;
    model.start_warnings = options.warnings;
    model.program.hooks = host
        .config()
        .hooks
        .iter()
        .map(|hook| format!("{:?} {} {}", hook.event, hook.matcher, hook.command))
        .collect();
    model.program.home = crate::paths::home().map(|home| home.display().to_string());
    model.program.doctor = options.doctor;
    model.program.plays_only = plays_only;
    model.screen.layouts = exec::layout::load(&host.paths().layout_file());
    read_keymap(&host.paths().keymap_file(), &mut model);
    runtime.block_on(runtime::run(model, target, theme, host))
}

/// Links of the terminal, where it does not spoil them. One that is not known to show them may pass
/// them over: there the address stays readable.
fn links(wanted: Switch) -> Option<Links> {
    let shown = Abilities::detect(&|name| std::env::var(name).ok()).links;
    match (wanted, shown) {
        (Switch::Off, _) | (Switch::Auto, Shown::Breaks) => None,
        (Switch::Auto, Shown::MayShow) => Some(Links::new(false)),
        (Switch::On, _) | (Switch::Auto, Shown::Shows) => Some(Links::new(true)),
    }
}

/// Puts the person's keys over the default ones; what is wrong with them is told on the screen.
fn read_keymap(file: &std::path::Path, model: &mut Model) {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
        Err(error) => {
            let warning = format!("{}: {error}. The default keys are used.", file.display());
            model.start_warnings.push(warning);
            return;
        }
    };
    let (keymap, faults) = keymap::Keymap::with_user_keys(&file.display().to_string(), &text);
    model.keymap = keymap;
    model.start_warnings.extend(faults);
}
