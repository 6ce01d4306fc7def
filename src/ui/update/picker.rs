//! The palette and the search in earlier prompts.

use super::super::effect::Effect;
use super::super::key::{KeyCode, KeyPress};
use super::super::keymap::{Action, Context};
use super::super::model::Model;
use super::super::model::overlay::Overlay;
use super::super::model::picker::{Choice, Picker, PickerRow};
use super::{actions, compose, papers, setup, slash, toast};

/// Shows all actions and commands.
pub(super) fn open_palette(model: &mut Model) {
    if matches!(model.overlays.last(), Some(Overlay::Picker(_))) {
        model.overlays.pop();
        return;
    }
    let actions = model.keymap.everywhere().map(|binding| PickerRow {
        label: binding.label.to_owned(),
        detail: binding.shown_key().unwrap_or_default(),
        choice: Choice::Action(binding.action),
    });
    let commands = slash::commands(model, "").into_iter().map(|(name, description)| PickerRow {
        label: format!("/{name}  {description}"),
        detail: String::new(),
        choice: Choice::Command(name),
    });
    let rows = actions.chain(commands).collect();
    let picker = Picker::new("Actions and commands", "Nothing is called so.", rows);
    model.overlays.push(Overlay::Picker(Box::new(picker)));
}

/// Shows what was sent before, latest first, each text once.
pub(super) fn open_history(model: &mut Model) {
    let mut seen = std::collections::HashSet::new();
    let rows = model
        .composer
        .history()
        .iter()
        .rev()
        .filter(|text| seen.insert(text.as_str()))
        .map(|text| PickerRow {
            label: text.replace('\n', " "),
            detail: String::new(),
            choice: Choice::Text(text.clone()),
        })
        .collect();
    let picker = Picker::new("Earlier prompts", "No earlier prompt has this in it.", rows);
    model.overlays.push(Overlay::Picker(Box::new(picker)));
}

/// Shows what was put aside, latest first.
pub(super) fn open_stash(model: &mut Model) {
    let rows = model.composer.stash.iter().enumerate().rev().map(|(index, text)| PickerRow {
        label: text.replace('\n', " "),
        detail: String::new(),
        choice: Choice::Stash(index),
    });
    let picker = Picker::new("Put aside", "Nothing like it is put aside.", rows.collect());
    model.overlays.push(Overlay::Picker(Box::new(picker)));
}

/// Shows the themes; the marked one is looked at.
pub(super) fn open_themes(model: &mut Model) {
    let themes = &model.themes;
    let rows = themes.known.iter().map(|name| PickerRow {
        label: name.clone(),
        detail: if *name == themes.chosen { "now".to_owned() } else { String::new() },
        choice: Choice::Theme(name.clone()),
    });
    let mut picker = Picker::new("Themes", "No theme is called so.", rows.collect());
    picker.marked = themes.known.iter().position(|name| *name == themes.chosen).unwrap_or(0);
    model.overlays.push(Overlay::Picker(Box::new(picker)));
}

/// Shows the editors a draft can be written in; what the configuration names is one of them.
pub(super) fn open_editors(model: &mut Model) {
    let chosen = model.program.external_editor.clone();
    let is_known = EDITORS.iter().any(|(command, _)| *command == chosen);
    let mut rows: Vec<PickerRow> = EDITORS
        .iter()
        .map(|(command, label)| (*command, *label))
        .chain((!is_known).then_some((chosen.as_str(), chosen.as_str())))
        .map(|(command, label)| PickerRow {
            label: label.to_owned(),
            detail: if command == chosen { "now".to_owned() } else { String::new() },
            choice: Choice::Editor(command.to_owned()),
        })
        .collect();
    rows.sort_by_key(|row| row.detail.is_empty());
    let title = "External editor; another one: /editor COMMAND";
    let picker = Picker::new(title, "/editor COMMAND takes any editor.", rows);
    model.overlays.push(Overlay::Picker(Box::new(picker)));
}

/// Editors that are offered: the command, and what the list says. One with a window has to wait until
/// the file is closed.
pub(super) const EDITORS: [(&str, &str); 8] = [
    ("", "As $VISUAL or $EDITOR says, else vi"),
    ("vim", "vim"),
    ("nvim", "nvim"),
    ("hx", "hx (Helix)"),
    ("nano", "nano"),
    ("emacs -nw", "emacs -nw"),
    ("code --wait", "code --wait (VS Code)"),
    ("zed --wait", "zed --wait"),
];

/// The theme of this name from now on.
pub(super) fn choose_theme(model: &mut Model, name: &str, now: f64) -> Vec<Effect> {
    if !model.themes.known.iter().any(|known| known == name) {
        let known = model.themes.known.join(", ");
        toast(model, format!("There is no theme {name}; there are: {known}"), now);
        return Vec::new();
    }
    name.clone_into(&mut model.themes.chosen);
    let mut effects = vec![Effect::KeepTheme(name.to_owned())];
    effects.extend(preview(model));
    effects
}

/// What the screen should look like now: as the marked theme, or as chosen when nothing is marked any
/// more. Nothing when it looks so already.
pub(super) fn preview(model: &mut Model) -> Option<Effect> {
    let marked = match model.overlays.last() {
        Some(Overlay::Picker(picker)) => picker.marked_row().map(|row| &row.choice),
        _ => None,
    };
    let wanted = match marked {
        Some(Choice::Theme(name)) => name.clone(),
        _ => model.themes.chosen.clone(),
    };
    if wanted == model.themes.shown {
        return None;
    }
    model.themes.shown.clone_from(&wanted);
    Some(Effect::ShowTheme(wanted))
}

/// Text that narrows the list.
pub(super) fn filter(model: &mut Model, key: KeyPress) -> Vec<Effect> {
    if let Some(Overlay::Picker(picker)) = model.overlays.last_mut() {
        picker.filter.key(key);
        picker.search();
    }
    Vec::new()
}

/// Is it a key that goes into the filter?
pub(super) fn is_filter_key(key: KeyPress) -> bool {
    key.is_text() || key.code == KeyCode::Backspace
}

/// A key of the list; none when it means nothing there.
pub(super) fn act(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    let Some(Overlay::Picker(picker)) = model.overlays.last_mut() else { return None };
    match action {
        Action::SelectPrevious => picker.step(false),
        Action::SelectNext => picker.step(true),
        Action::PageUp => (0..10).for_each(|_| picker.step(false)),
        Action::PageDown => (0..10).for_each(|_| picker.step(true)),
        Action::Choose => {
            let choice = picker.marked_row().map(|row| row.choice.clone());
            model.overlays.pop();
            return Some(choice.map(|choice| choose(model, choice, now)).unwrap_or_default());
        }
        _ => return None,
    }
    Some(Vec::new())
}

/// Commands that do nothing without words behind them.
const NEED_WORDS: [&str; 2] = ["btw", "import"];

fn choose(model: &mut Model, choice: Choice, now: f64) -> Vec<Effect> {
    match choice {
        Choice::Action(
            action @ (Action::SearchHistory
            | Action::ExternalEditor
            | Action::ToggleShell
            | Action::Stash
            | Action::FocusQueue
            | Action::PasteImage),
        ) => actions::compose(model, action, now),
        Choice::Action(action) => actions::global(model, action, now),
        Choice::Command(name) if NEED_WORDS.contains(&name.as_str()) => {
            // What is being written is not lost over this.
            model.composer.put_aside();
            model.composer.show(&format!("/{name} "));
            Vec::new()
        }
        Choice::Command(name) => slash::send(model, &format!("/{name}"), now),
        Choice::Editor(command) => compose::choose_editor(model, command),
        Choice::Undo(at) => papers::undo_at(model, at),
        choice @ (Choice::Model(_) | Choice::Thinking(_) | Choice::Connect | Choice::Forget(_)) => {
            setup::choose(model, choice, now)
        }
        Choice::Theme(name) => {
            model.themes.chosen.clone_from(&name);
            vec![Effect::KeepTheme(name)]
        }
        Choice::Stash(index) => {
            model.composer.take_from_stash(index);
            Vec::new()
        }
        Choice::Text(text) => {
            if model.composer.put_aside() {
                let key = model.keymap.key_for(Context::Composer, Action::Stash);
                let key = key.unwrap_or_default();
                toast(model, format!("What you were writing is put aside; {key} has it"), now);
            }
            model.composer.show(&text);
            Vec::new()
        }
    }
}
