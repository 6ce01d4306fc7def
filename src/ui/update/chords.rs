//! Keys one after the other.

use super::super::effect::Effect;
use super::super::key::{KeyCode, KeyPress};
use super::super::keymap::{Context, Hit};
use super::super::model::{Model, PendingChord};
use super::{actions, keys, toast};

/// Seconds the next key of a chord is waited for.
const WAIT: f64 = 2.0;

/// A key, when it belongs to a chord.
pub(super) fn press(
    model: &mut Model,
    context: Context,
    key: KeyPress,
    now: f64,
) -> Option<Vec<Effect>> {
    let pending = model.chord.take().filter(|pending| pending.context == context);
    let is_first = pending.is_none();
    // What is written is not the beginning of a chord.
    if is_first
        && key.is_text()
        && matches!(context, Context::Composer | Context::Search | Context::Picker)
    {
        return None;
    }
    let mut pressed = pending.map(|pending| pending.keys).unwrap_or_default();
    if !is_first && key.code == KeyCode::Esc {
        return Some(Vec::new());
    }
    pressed.push(key);
    match model.keymap.chord(context, &pressed) {
        Hit::Action(Context::Composer, action) => Some(actions::compose(model, action, now)),
        Hit::Action(_, action) => Some(keys::act(model, context, action, now)),
        Hit::Pending => {
            model.chord = Some(PendingChord { context, keys: pressed, until: now + WAIT });
            Some(Vec::new())
        }
        Hit::None if is_first => None,
        Hit::None => {
            let said: Vec<_> = pressed.iter().map(ToString::to_string).collect();
            toast(model, format!("{} does nothing", said.join(" ")), now);
            Some(Vec::new())
        }
    }
}

/// Time passed: a chord that was not gone on with is given up, and its only key means what it means
/// alone.
pub(super) fn expire(model: &mut Model, now: f64) -> Vec<Effect> {
    let Some(pending) = model.chord.take_if(|pending| now >= pending.until) else {
        return Vec::new();
    };
    match pending.keys.as_slice() {
        [key] if model.keymap.lookup(pending.context, *key).is_some() => {
            keys::alone(model, *key, now)
        }
        _ => Vec::new(),
    }
}
