//! The last line's own needs: the person's command for it, told as JSON what happens, and the branch.

use serde_json::json;

use super::super::effect::{Effect, EffectId};
use super::super::model::Model;
use super::super::model::status::Activity;
use super::super::model::status_line::{RUNS_APART, Told};
use super::toast;
use crate::config::{StatusConfig, StatusItem};

/// What the last line needs to have done after something happened.
pub(super) fn follow(model: &mut Model, now: f64) -> Vec<Effect> {
    [follow_branch(model), follow_command(model, now)].into_iter().flatten().collect()
}

/// Is the last line what one sees, and not lines for a screen reader?
fn is_drawn(model: &Model) -> bool {
    !model.settings.screen_reader && model.replay.is_none()
}

fn follow_command(model: &mut Model, now: f64) -> Option<Effect> {
    let config = &model.settings.status;
    if config.command.trim().is_empty() || !config.shows(StatusItem::Command) || !is_drawn(model) {
        return None;
    }
    // Before that there is nothing to tell.
    model.status.info.id.as_ref()?;
    let interval = config.interval_s;
    let told = told(model);
    let runs = &mut model.status_command;
    runs.is_wanted |= runs.told.as_ref() != Some(&told);
    let is_due = match runs.began {
        None => true,
        Some(began) if runs.is_wanted && now >= began + RUNS_APART => true,
        Some(_) => runs.due(interval).is_some_and(|due| now >= due),
    };
    if runs.running.is_some() || !is_due {
        return None;
    }
    let id = model.next_effect();
    let input = state(model, now);
    let runs = &mut model.status_command;
    runs.running = Some(id);
    runs.began = Some(now);
    runs.told = Some(told);
    runs.is_wanted = false;
    let StatusConfig { command, time_limit_ms, .. } = model.settings.status.clone();
    Some(Effect::RunStatus { id, command, time_limit_ms, input })
}

/// The command printed a line, or failed.
pub(super) fn ended(model: &mut Model, id: EffectId, result: Result<String, String>, now: f64) {
    let runs = &mut model.status_command;
    if runs.running != Some(id) {
        return;
    }
    runs.running = None;
    match result {
        Ok(line) => runs.line = Some(line),
        Err(reason) => {
            runs.line = None;
            if !std::mem::replace(&mut runs.has_complained, true) {
                toast(model, format!("ui.status.command: {reason}"), now);
            }
        }
    }
}

/// The configuration was read again: what another command said does not stand.
pub(super) fn forget(model: &mut Model) {
    model.status_command = super::super::model::status_line::StatusCommand::default();
}

fn activity(model: &Model) -> &'static str {
    match model.status.activity {
        Activity::Opening => "opening",
        Activity::Idle => "idle",
        Activity::Gone => "gone",
        Activity::Running { cancelling: true, .. } => "stopping",
        Activity::Running { .. } if !model.approvals.is_empty() => "asking",
        Activity::Running { .. } if model.questions.current().is_some() => "asking",
        Activity::Running { .. } => "running",
    }
}

fn told(model: &Model) -> Told {
    let status = &model.status;
    let step = match status.activity {
        Activity::Running { step, .. } => step,
        _ => 0,
    };
    Told {
        info: status.info.clone(),
        activity: activity(model),
        step,
        modes: (status.plan_mode, model.is_away),
        numbers: (status.context_tokens, status.requests),
        waiting: (model.composer.queue.len(), model.tasks.running()),
        width: model.screen.width,
        branch: status.branch.clone(),
    }
}

/// What the command reads from its standard input.
fn state(model: &Model, now: f64) -> String {
    let status = &model.status;
    let (info, told, total) = (&status.info, told(model), status.total_usage);
    let turn = match status.activity {
        Activity::Running { since, .. } => Some((now - since).max(0.0)),
        _ => status.last_turn,
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "activity": told.activity,
        "step": told.step,
        "turn_seconds": turn,
        "session": { "id": info.id, "title": info.title, "folder": info.session_dir },
        "work_dir": info.work_dir,
        "branch": told.branch,
        "agent": info.agent,
        "model": { "name": info.model, "key": info.model_key, "thinking": info.thinking },
        "modes": { "plan": status.plan_mode, "yolo": info.yolo, "away": model.is_away },
        "context": {
            "tokens": status.context_tokens,
            "window": status.max_tokens(),
            "share": status.context_usage(),
            "compaction_at": info.compaction_at,
        },
        "tokens": {
            "input": total.input(),
            "cached": total.input_cache_read,
            "output": total.output,
        },
        "cost": status.cost,
        "queued": told.waiting.0,
        "tasks": told.waiting.1,
        "columns": told.width,
    })
    .to_string()
}

/// The branch may be another one after each turn, and after each command of the person's.
fn follow_branch(model: &mut Model) -> Option<Effect> {
    let config = &model.settings.status;
    let wants = config.shows(StatusItem::Branch)
        || !config.command.trim().is_empty() && config.shows(StatusItem::Command);
    if !wants || !is_drawn(model) || model.status.info.id.is_none() {
        return None;
    }
    let is_quiet = model.status.activity == Activity::Idle && model.shell.is_none();
    let was_quiet = std::mem::replace(&mut model.status.is_branch_known, is_quiet);
    (is_quiet && !was_quiet).then(|| Effect::ReadBranch(model.status.info.work_dir.clone()))
}
