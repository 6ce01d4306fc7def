//! Sessions being opened, prompts ending, the engine going away.

use std::collections::HashSet;

use super::super::effect::{Effect, EffectId, OpenTarget};
use super::super::keymap::{Action, Context};
use super::super::model::cell::{Cell, CellKind, Level};
use super::super::model::composer::{Composer, Draft, Place};
use super::super::model::overlay::Overlay;
use super::super::model::search::Search;
use super::super::model::status::{Activity, Status};
use super::super::model::timeline::{CheckpointEntry, EntryKind, Timeline};
use super::super::model::transcript::{Position, Seen, Transcript};
use super::super::model::{Focus, Model};
use super::super::msg::Opened;
use super::recall::Recall;
use super::{queue, slash, toast, wire};
use crate::wire::PromptOutcome;

/// Opens another session; the present one is left as it is.
pub(super) fn open(model: &mut Model, target: OpenTarget, now: f64) -> Vec<Effect> {
    if model.status.activity.is_running() {
        toast(model, "A turn runs; Ctrl-C stops it first", now);
        return Vec::new();
    }
    let id = model.next_effect();
    model.opening = Some(id);
    model.status.activity = Activity::Opening;
    model.overlays.clear();
    vec![Effect::Open { id, target }]
}

/// A session was opened, or could not be.
pub(super) fn opened(
    model: &mut Model,
    id: EffectId,
    result: Result<Opened, String>,
    now: f64,
) -> Vec<Effect> {
    if model.opening != Some(id) {
        return Vec::new();
    }
    model.opening = None;
    let opened = match result {
        Ok(opened) => opened,
        Err(reason) => {
            model.status.activity = Activity::Gone;
            let key = |action| model.keymap.key_for(Context::Global, action).unwrap_or_default();
            let next = format!(
                "{reason}\n{} tries again with a new session, {} lists the earlier ones, /login \
                 connects a model.",
                key(Action::NewSession),
                key(Action::Sessions)
            );
            wire::notice(model, Level::Error, next, now);
            return Vec::new();
        }
    };
    let shown = model.transcript.is_tail.then(|| Shown::of(model));
    reset(model);
    let Recall { model: past, bad_lines, .. } = opened.past;
    let Model { transcript, timeline, status, .. } = *past;
    (model.transcript, model.timeline) = (transcript, timeline);
    let toast = model.status.toast.take();
    model.status = Status { info: opened.info, toast, ..status };
    model.status.price_the_past();
    if let Some(shown) = shown {
        shown.put_back(model);
    }
    // What the record left open ended with the process that wrote it.
    model.transcript.finish_from(0, now);
    model.tasks.lose();
    model.status.activity = Activity::Idle;
    model.status.retry = None;
    model.step_start = model.transcript.cells().len();
    model.turn_start = model.step_start;
    add_unrecorded_checkpoints(model, now);
    let info = model.status.info.clone();
    let started = std::mem::take(&mut model.start_warnings);
    for warning in started.into_iter().chain(info.warnings.iter().cloned()) {
        wire::notice(model, Level::Warning, warning, now);
    }
    if bad_lines > 0 {
        let text = format!(
            "{bad_lines} lines of this session's history could not be read and are not shown."
        );
        wire::notice(model, Level::Warning, text, now);
    }
    put_back_place(model);
    match model.first_prompt.take() {
        Some(prompt) => slash::send(model, &prompt, now),
        None => next_queued(model, now),
    }
}

/// The end of the session that is being opened: it can be read and moved through, nothing more.
pub(super) fn preview(model: &mut Model, id: EffectId, transcript: Transcript) -> Vec<Effect> {
    if model.opening == Some(id) {
        model.transcript = transcript;
        model.conversation += 1;
        model.timeline = Timeline::default();
        model.search = Search::default();
        model.focus = Focus::Composer;
    }
    Vec::new()
}

/// Where the person has come to in a session's end while the rest of it was read.
struct Shown {
    transcript: Transcript,
    search: Search,
    overlays: Vec<Overlay>,
    focus: Focus,
}

impl Shown {
    fn of(model: &mut Model) -> Self {
        Self {
            transcript: std::mem::take(&mut model.transcript),
            search: std::mem::take(&mut model.search),
            overlays: std::mem::take(&mut model.overlays),
            focus: model.focus,
        }
    }

    fn put_back(self, model: &mut Model) {
        let Self { transcript: shown, mut search, overlays, focus } = self;
        let before = model.transcript.cells().len().saturating_sub(shown.cells().len());
        for (cell, index) in shown.cells().iter().zip(before..) {
            if cell.open.is_some() {
                model.transcript.edit(index, |whole| whole.open = cell.open);
            }
        }
        let transcript = &mut model.transcript;
        (transcript.position, transcript.visible) = (shown.position, shown.visible);
        (transcript.pending, transcript.selected) = (shown.pending, shown.selected);
        transcript.seen = Seen { cells: shown.seen.cells + before, ..shown.seen };
        // There is more to find now.
        search.stamp = (usize::MAX, 0);
        (model.search, model.overlays, model.focus) = (search, overlays, focus);
    }
}

/// Everything that belongs to a session is forgotten; what the person is writing is not.
pub(super) fn reset(model: &mut Model) {
    let mut fresh = Model::new(model.screen.width, model.screen.height);
    fresh.screen = model.screen;
    fresh.conversation = model.conversation + 1;
    fresh.keymap = std::mem::take(&mut model.keymap);
    fresh.composer = Composer::default();
    std::mem::swap(&mut fresh.composer, &mut model.composer);
    fresh.shows_details = model.shows_details;
    fresh.settings = model.settings.clone();
    fresh.is_mouse_left = model.is_mouse_left;
    fresh.status_command = std::mem::take(&mut model.status_command);
    fresh.diffs_beside = model.diffs_beside;
    fresh.themes = std::mem::take(&mut model.themes);
    fresh.shows_thinking = model.shows_thinking;
    fresh.shell = model.shell.take();
    fresh.queue = std::mem::take(&mut model.queue);
    fresh.program = std::mem::take(&mut model.program);
    fresh.known_models = std::mem::take(&mut model.known_models);
    fresh.place = model.place.take();
    fresh.first_prompt = model.first_prompt.take();
    fresh.start_warnings = std::mem::take(&mut model.start_warnings);
    fresh.status = Status { toast: model.status.toast.take(), ..Status::default() };
    fresh.continue_effects_of(model);
    fresh.focus = Focus::Composer;
    *model = fresh;
}

/// A session written by another program has no timeline; its checkpoints can be gone back to all
/// the same.
fn add_unrecorded_checkpoints(model: &mut Model, now: f64) {
    let info = model.status.info.clone();
    let live = model.timeline.entries.iter().filter_map(|entry| match &entry.kind {
        EntryKind::Checkpoint(CheckpointEntry { at, is_live: true, .. }) => Some(at.id),
        _ => None,
    });
    let known: HashSet<_> = live.collect();
    for made in &info.checkpoints {
        if !known.contains(&made.at.id) {
            model.timeline.add_checkpoint(made, None, now);
        }
    }
    if let Some(last) = info.checkpoints.last() {
        model.timeline.generation = last.at.generation;
        model.transcript.generation = last.at.generation;
    }
}

/// A prompt is over: the engine is idle.
pub(super) fn prompt_done(model: &mut Model, outcome: PromptOutcome, now: f64) -> Vec<Effect> {
    let (since, was_cancelling) = match model.status.activity {
        Activity::Running { since, cancelling, .. } => (since, cancelling),
        _ => (now, false),
    };
    let start = model.turn_start;
    model.transcript.finish_from(start, now);
    model.status.activity = Activity::Idle;
    model.status.last_turn = Some((now - since).max(0.0));
    model.status.has_failed = outcome.is_failure();
    model.status.retry = None;
    model.approvals.clear();
    model.questions.clear();
    let said = match outcome {
        PromptOutcome::Finished => None,
        PromptOutcome::Cancelled => Some(cut(None)),
        PromptOutcome::MaxStepsReached { steps } => Some(cut(Some(steps))),
        PromptOutcome::ModelNotSet => {
            let text = "No model is configured. Set KIMI_API_KEY, or add a provider and a model to \
                        config.toml (see docs/models.md), then open the session again.";
            Some((Level::Error, text.to_owned()))
        }
        PromptOutcome::NotSupported { capability, model: name } => {
            let text = format!("The model {name} does not take this: it lacks {capability}.");
            Some((Level::Error, text))
        }
        PromptOutcome::ProviderFailed { message, .. }
        | PromptOutcome::LoggedOut { message }
        | PromptOutcome::Failed { message } => Some((Level::Error, message)),
    };
    if let Some((level, text)) = said {
        // The record has it too, and an engine that keeps one has told it already.
        let is_it = |cell: &Cell| matches!(&cell.kind, CellKind::Notice { text: told, .. } if *told == text);
        if !model.transcript.cells().iter().skip(model.turn_start).any(is_it) {
            wire::notice(model, level, text, now);
        }
    }
    let mut effects = if was_cancelling { Vec::new() } else { next_queued(model, now) };
    if !model.screen.is_focused && now - since > BELL_AFTER_SECONDS {
        effects.push(Effect::Notify("The turn has ended"));
    }
    effects
}

/// What is said of a turn that ended before the model was done: after the limit of `steps`, or because
/// somebody stopped it.
pub(super) fn cut(steps: Option<u64>) -> (Level, String) {
    match steps {
        None => (Level::Info, "Stopped.".to_owned()),
        Some(steps) => (
            Level::Warning,
            format!(
                "Stopped after {steps} steps, the limit of one turn. Write \"go on\" to continue, \
                 or raise loop_control.max_steps_per_turn in config.toml."
            ),
        ),
    }
}

/// A turn this long is worth a bell when nobody is looking.
const BELL_AFTER_SECONDS: f64 = 5.0;

pub(super) fn next_queued(model: &mut Model, now: f64) -> Vec<Effect> {
    if model.queue.holds_first() {
        return Vec::new();
    }
    let Some(text) = model.composer.queue.pop_front() else { return Vec::new() };
    model.queue.first_went();
    queue::settle(model);
    slash::send(model, &text, now)
}

/// The engine is gone.
pub(super) fn gone(model: &mut Model, now: f64) -> Vec<Effect> {
    if model.status.activity != Activity::Gone && model.opening.is_none() {
        model.status.activity = Activity::Gone;
        let start = model.turn_start;
        model.transcript.finish_from(start, now);
        model.approvals.clear();
        model.questions.clear();
        let text = "The engine has ended unexpectedly; the log file says more. What was recorded is \
                    safe: Ctrl-G opens a session again.";
        wire::notice(model, Level::Error, text, now);
    }
    Vec::new()
}

/// What waits and where the screen stands is kept with the draft, for after a crash.
pub(super) fn keep_place(model: &mut Model, now: f64) {
    let asked = model.approvals.in_words();
    let place = match model.transcript.position {
        Position::At { cell, line } if model.opening.is_none() => {
            let index = model.transcript.index_of(cell);
            let cells = model.transcript.cells().len();
            model.status.info.id.clone().zip(index).map(|(session, index)| Place {
                session,
                cell: cells - index,
                line,
            })
        }
        _ => None,
    };
    let composer = &mut model.composer;
    if composer.asked != asked || composer.place != place {
        (composer.asked, composer.place) = (asked, place);
        composer.touch(now);
    }
}

/// A draft is on disk: the program did not end in peace, or there was something unsent.
pub(super) fn came_back(model: &mut Model, draft: &Draft, now: f64) {
    model.place.clone_from(&draft.place);
    for asked in &draft.asked {
        let text = format!(
            "When the program ended, this waited for your answer: {asked}. It was not done; ask for \
             it again if it still should be."
        );
        if model.opening.is_some() {
            model.start_warnings.push(text);
        } else {
            wire::notice(model, Level::Warning, text, now);
        }
    }
    if model.opening.is_none() {
        put_back_place(model);
    }
}

fn put_back_place(model: &mut Model) {
    let Some(place) = model.place.take() else { return };
    let cells = model.transcript.cells();
    let index = cells.len().saturating_sub(place.cell);
    if model.status.info.id.as_ref() == Some(&place.session)
        && let Some(cell) = cells.get(index)
    {
        model.transcript.position = Position::At { cell: cell.id, line: place.line };
    }
}
