//! The palette and the search in earlier prompts.

use super::super::effect::Effect;
use super::super::key::{KeyCode, KeyPress};
use super::super::keymap::Action;
use super::super::model::Model;
use super::super::model::overlay::Overlay;
use super::super::model::picker::{Choice, Picker, PickerRow};
use super::{actions, papers, setup, slash};

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

fn choose(model: &mut Model, choice: Choice, now: f64) -> Vec<Effect> {
    match choice {
        Choice::Action(
            action @ (Action::SearchHistory
            | Action::ExternalEditor
            | Action::ToggleShell
            | Action::Stash
            | Action::PasteImage),
        ) => actions::compose(model, action, now),
        Choice::Action(action) => actions::global(model, action, now),
        Choice::Command(name) => slash::send(model, &format!("/{name}"), now),
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
            model.composer.show(&text);
            Vec::new()
        }
    }
}
