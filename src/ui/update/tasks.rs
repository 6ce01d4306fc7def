//! Background tasks: news of them, their list and its keys; what subagents do within their call.

use super::super::effect::Effect;
use super::super::keymap::Action;
use super::super::model::Model;
use super::super::model::overlay::Overlay;
use super::super::model::tasks::TaskBrowser;
use super::toast;
use crate::wire::{Command, SubagentEvent, TaskChanged, TaskOutputChunk, TaskState};

/// A task began or ended. The marked one stays marked.
pub(super) fn changed(model: &mut Model, fact: TaskChanged) {
    let before = model.tasks.rows.len();
    model.tasks.changed(fact);
    let more = model.tasks.rows.len() - before;
    for overlay in &mut model.overlays {
        if let Overlay::Tasks(browser) = overlay
            && before > 0
        {
            browser.marked += more;
        }
    }
}

/// A task printed something.
pub(super) fn printed(model: &mut Model, chunk: &TaskOutputChunk) {
    model.tasks.printed(&chunk.task_id, &chunk.text);
}

/// A subagent did something.
pub(super) fn nested(model: &mut Model, event: &SubagentEvent, at: f64) {
    let Some(parent) = &event.parent_tool_call_id else { return };
    model.transcript.edit_tool(parent, |tool| {
        tool.start(at);
        tool.nested.take(event);
    });
}

/// Shows the list of background tasks, or closes it.
pub(super) fn open(model: &mut Model) {
    if matches!(model.overlays.last(), Some(Overlay::Tasks(_))) {
        model.overlays.pop();
    } else {
        model.overlays.push(Overlay::Tasks(TaskBrowser::default()));
    }
}

/// A key of the list; none when it means nothing there.
pub(super) fn act(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    let count = model.tasks.rows.len();
    let Some(Overlay::Tasks(browser)) = model.overlays.last_mut() else { return None };
    let last = count.saturating_sub(1);
    match action {
        Action::SelectPrevious => browser.marked = browser.marked.saturating_sub(1),
        Action::SelectNext => browser.marked = (browser.marked + 1).min(last),
        Action::PageUp | Action::Top => browser.marked = 0,
        Action::PageDown | Action::Bottom => browser.marked = last,
        Action::StopTask => {
            let row = model.tasks.rows.get(browser.marked);
            let Some(row) = row.filter(|row| row.fact.state == TaskState::Running) else {
                toast(model, "Nothing runs here that could be stopped", now);
                return Some(Vec::new());
            };
            let task_id = row.fact.id.clone();
            toast(model, "It is being stopped", now);
            return Some(vec![Effect::Send(Command::StopTask { task_id })]);
        }
        _ => return None,
    }
    Some(Vec::new())
}
