//! The person's own commands: run beside the conversation, shown in it, not told to the model.

use serde_json::json;

use super::super::effect::{Effect, EffectId};
use super::super::model::cell::{CellKind, Level, ToolCell, ToolState};
use super::super::model::transcript::Scroll;
use super::super::model::{Model, ShellRun};
use super::{session, toast, wire};
use crate::message::ToolReturn;

/// Runs what is in the composer.
pub(super) fn submit(model: &mut Model, now: f64) -> Vec<Effect> {
    let command = model.composer.text().trim().to_owned();
    if command.is_empty() {
        return Vec::new();
    }
    if model.status.activity.is_running() || model.shell.is_some() {
        toast(model, "Something runs already; your command can be sent when it has ended", now);
        return Vec::new();
    }
    if command == "cd" || command.starts_with("cd ") && !command.contains(['&', ';', '|', '\n']) {
        let text = "A folder change would not outlast its command: write \"cd folder && command\"";
        toast(model, text, now);
        return Vec::new();
    }
    model.composer.take();
    let id = model.next_effect();
    let call = format!("shell-{}", id.0);
    let arguments = json!({ "command": command }).to_string();
    let mut cell = ToolCell::new(call.clone(), "Shell".to_owned(), arguments);
    cell.start(now);
    model.transcript.push(CellKind::Tool(Box::new(cell)), false, now);
    model.transcript.scroll(Scroll::Bottom);
    model.shell = Some(ShellRun { id, call });
    if model.program.engine_elsewhere {
        let folder = model.status.info.work_dir.display().to_string();
        toast(model, format!("Runs on this machine, in {folder}; not through the engine"), now);
    }
    // The next command is most likely one too.
    model.composer.is_shell = true;
    vec![Effect::Remember(format!("!{command}")), Effect::Shell { id, command }]
}

/// It printed something.
pub(super) fn printed(model: &mut Model, id: EffectId, text: &str) {
    if let Some(run) = model.shell.as_ref().filter(|run| run.id == id) {
        model.transcript.edit_tool(&run.call, |tool| tool.live.push(text));
    }
}

/// It ended: what came of it, or why it could not be run.
pub(super) fn ended(
    model: &mut Model,
    id: EffectId,
    result: Result<ToolReturn, String>,
    now: f64,
) -> Vec<Effect> {
    let Some(run) = model.shell.take_if(|run| run.id == id) else { return Vec::new() };
    match result {
        Ok(result) => model.transcript.edit_tool(&run.call, |tool| {
            tool.state = if result.is_error { ToolState::Failed } else { ToolState::Done };
            tool.seconds = tool.started.map(|started| (now - started).max(0.0));
            tool.result = Some(result.into());
        }),
        Err(reason) => {
            model.transcript.edit_tool(&run.call, |tool| tool.state = ToolState::Failed);
            wire::notice(model, Level::Error, reason, now);
        }
    }
    session::next_queued(model, now)
}

/// Stops it; none when nothing runs.
pub(super) fn stop(model: &Model) -> Option<Vec<Effect>> {
    model.shell.as_ref().map(|run| vec![Effect::StopShell { id: run.id }])
}
