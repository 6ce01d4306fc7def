//! Each row of the default keymap does what it says: every key of it is pressed, and its own effect
//! looked for. A row that has no test here fails.

mod asked;
mod context;
mod everywhere;
mod lists;
mod queue;
mod reading;
mod trash;
mod writing;

use super::*;
use crate::ui::keymap::{Action, Context, Keymap};
use crate::ui::model::Model;

/// A row's action, a screen on which it has something to do, and what is to be seen after it: of the
/// model before and the screen after.
type Row = (Action, fn() -> Harness, fn(&Model, &mut Harness) -> bool);

/// The tests of a place.
fn rows(place: Context) -> &'static [Row] {
    match place {
        Context::Global => everywhere::GLOBAL,
        Context::Composer => writing::COMPOSER,
        Context::Queue => queue::QUEUE,
        Context::Approval => asked::APPROVAL,
        Context::Question => asked::QUESTION,
        Context::Dialog => asked::DIALOG,
        Context::Timeline => context::TIMELINE,
        Context::Past => context::PAST,
        Context::Losses => context::LOSSES,
        Context::Rewind => context::REWIND,
        Context::Ledger => context::LEDGER,
        Context::Calls => lists::CALLS,
        Context::Sessions => lists::SESSIONS,
        Context::Trash => trash::TRASH,
        Context::Tasks => lists::TASKS,
        Context::Replay => lists::REPLAY,
        Context::Picker => lists::PICKER,
        Context::Transcript => reading::TRANSCRIPT,
        Context::Search => reading::SEARCH,
        Context::Pager => reading::PAGER,
        Context::Help => reading::HELP,
    }
}

/// A screen drawn once, with nothing left to be done.
fn staged(row: &Row) -> Harness {
    let mut h = (row.1)();
    h.picture();
    h.take_effects();
    h
}

/// What is wrong with a key of a row, if anything.
fn wrong(place: Context, row: &Row, press: impl Fn(&mut Harness)) -> Option<&'static str> {
    let mut h = staged(row);
    let at = h.model.context(h.now);
    // What holds everywhere is pressed where one writes.
    if at != place && !(place == Context::Global && at == Context::Composer) {
        return Some("is tried in another place");
    }
    let was = h.model.clone();
    press(&mut h);
    if !(row.2)(&was, &mut h) {
        return Some("does not do what it says");
    }
    (row.2)(&was, &mut staged(row)).then_some("changes nothing: it was so before")
}

#[test]
fn every_key_of_every_row_does_what_it_says() {
    let keymap = Keymap::default();
    let mut faults = Vec::new();
    for place in Context::ALL {
        let tests = rows(place);
        for binding in keymap.of(place) {
            let name = format!("{} in {}", binding.action.name(), place.name());
            let Some(row) = tests.iter().find(|row| row.0 == binding.action) else {
                faults.push(format!("{name}: no test in src/ui/update/tests/rows"));
                continue;
            };
            let keys = binding.keys.iter().map(|key| (key.to_string(), vec![*key]));
            let chords = binding.chords.iter().map(|chord| (chord.to_string(), chord.0.clone()));
            let mut is_pressed = false;
            for (shown, keys) in keys.chain(chords) {
                is_pressed = true;
                let fault = wrong(place, row, |h| {
                    for key in &keys {
                        h.send(Msg::Key(*key));
                    }
                });
                faults.extend(fault.map(|fault| format!("{name}: {shown} {fault}")));
            }
            if !is_pressed {
                faults.push(format!("{name}: no key and no chord"));
            }
        }
        for row in tests {
            if !keymap.of(place).any(|binding| binding.action == row.0) {
                faults.push(format!("{} in {}: no such row", row.0.name(), place.name()));
            }
        }
    }
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn a_row_without_its_key_is_noticed() {
    for place in Context::ALL {
        for row in rows(place) {
            let fault = wrong(place, row, |_| {});
            let name = row.0.name();
            assert_eq!(fault, Some("does not do what it says"), "{name} in {}", place.name());
        }
    }
}
