//! Playing a recorded session: the same fold of events as living through it, by a clock that can be
//! stopped. No engine is behind it, so nothing is carried out.

use std::sync::Arc;

use super::super::effect::{Effect, EffectId, OpenTarget};
use super::super::keymap::Action;
use super::super::model::Model;
use super::super::model::replay::{Replay, SPEEDS};
use super::super::model::sessions::SessionTask;
use super::super::model::status::Activity;
use super::{reading, session, sessions, toast, wire};
use crate::session::Session;
use crate::wire::SessionInfo;
use crate::wire::record::Recorded;

/// Leaves the open session and plays `chosen`.
pub(super) fn start(model: &mut Model, chosen: Session, now: f64) -> Vec<Effect> {
    if model.status.activity.is_running() && model.replay.is_none() {
        toast(model, "A turn runs; Ctrl-C stops it first", now);
        return Vec::new();
    }
    let effects = sessions::ask(model, SessionTask::Replay(chosen));
    if let Some(Effect::Sessions { id, .. }) = effects.first() {
        model.opening = Some(*id);
    }
    model.status.activity = Activity::Opening;
    model.overlays.clear();
    effects
}

/// The story was read.
pub(super) fn play(
    model: &mut Model,
    id: EffectId,
    chosen: Session,
    title: String,
    story: &[Recorded],
    now: f64,
) {
    if model.opening != Some(id) {
        return;
    }
    model.opening = None;
    let is_all =
        model.replay.as_ref().is_some_and(|replay| replay.is_all) || model.program.plays_only;
    let came_from = model.came_from.take().or_else(|| super::papers::opened(model));
    let mut replay = Replay::new(chosen, title, story, now);
    replay.is_all = is_all;
    begin(model, replay);
    model.came_from = came_from;
    advance(model, now);
}

/// An empty screen for `replay`.
fn begin(model: &mut Model, replay: Replay) {
    let came_from = model.came_from.take();
    session::reset(model);
    model.came_from = came_from;
    model.status.activity = Activity::Idle;
    model.status.info = Arc::new(SessionInfo {
        id: Some(replay.session.id.clone()),
        title: replay.title.clone(),
        work_dir: replay.session.work_dir.clone(),
        session_dir: replay.session.dir.clone(),
        ..SessionInfo::default()
    });
    model.replay = Some(replay);
}

/// Plays what is due.
pub(super) fn advance(model: &mut Model, now: f64) {
    let Some(replay) = &mut model.replay else { return };
    replay.advance(now);
    play_due(model);
}

fn play_due(model: &mut Model) {
    while let Some(recorded) = model.replay.as_mut().and_then(Replay::take_due) {
        let is_end = matches!(recorded.message, crate::wire::Event::TurnEnd(_));
        wire::apply(model, recorded.message, recorded.timestamp);
        if is_end {
            model.status.activity = Activity::Idle;
        }
    }
    if let Some(replay) = model.replay.as_ref().filter(|replay| replay.is_over()) {
        let at = replay.recorded_time();
        model.transcript.finish_from(0, at);
        model.status.activity = Activity::Idle;
    }
}

/// A key while a session is played; none when it means nothing here.
pub(super) fn act(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    advance(model, now);
    let replay = model.replay.as_mut()?;
    match action {
        Action::Pause if replay.is_over() => {
            replay.position = 0.0;
            replay.next = 0;
            again(model);
        }
        Action::Pause => replay.is_paused = !replay.is_paused,
        Action::StepForward => {
            replay.is_paused = true;
            replay.step();
            play_due(model);
        }
        Action::Faster => replay.speed = (replay.speed + 1).min(SPEEDS.len() - 1),
        Action::Slower => replay.speed = replay.speed.saturating_sub(1),
        Action::NextTurn => {
            replay.turn(true);
            play_due(model);
        }
        Action::PreviousTurn => {
            if replay.turn(false) {
                again(model);
            }
        }
        Action::FocusTranscript => reading::focus(model),
        Action::Back | Action::Interrupt => return Some(leave(model, now)),
        // Everything else that changes a session has none to change.
        Action::Compact | Action::Clear | Action::TogglePlan => {
            toast(model, "This is a recording; Esc leaves it", now);
        }
        _ => return None,
    }
    Some(Vec::new())
}

/// Plays everything up to where the clock stands, at once.
fn again(model: &mut Model) {
    if let Some(replay) = model.replay.take() {
        begin(model, replay);
        play_due(model);
    }
}

/// Back to the session that was open before, or out of the program when there was none.
fn leave(model: &mut Model, now: f64) -> Vec<Effect> {
    let Some(replay) = model.replay.take() else { return Vec::new() };
    if replay.is_all {
        model.replay = Some(replay);
        return vec![Effect::Quit];
    }
    let target = model.came_from.take().map_or(OpenTarget::New, OpenTarget::Session);
    model.status.activity = Activity::Idle;
    session::open(model, target, now)
}
