//! Wire events to cells, timeline and numbers. Living through a session and reading its record back
//! are the same fold, so both end in the same model.

use super::super::model::Model;
use super::super::model::cell::{
    CellId, CellKind, Compaction, Fate, Level, Life, Mark, ToolCell, ToolState,
};
use super::super::model::status::{Activity, CallCost};
use super::super::model::timeline::Jump;
use super::{generation, ledger, pages, session, tasks, timeline};
use crate::message::{ContentPart, DisplayBlock, ToolCall, ToolReturn};
use crate::wire::{
    ApprovalChoice, ContextChange, ContextRestored, ContextReverted, ContextRewritten, Event,
    Extension, HookAction, MessageFate, RevertCause, StatusUpdate, StepRetry, ToolOutputChunk,
    TurnBegin,
};

/// Takes one event in; `at` is when it happened, in seconds since 1970.
pub(super) fn apply(model: &mut Model, event: Event, at: f64) {
    match event {
        Event::TurnBegin(begin) => begin_turn(model, &begin.user_input.text(), at),
        Event::SteerInput(steer) => {
            let text = steer.user_input.text();
            model.transcript.push(CellKind::User { text, steered: true }, true, at);
        }
        Event::TurnEnd(_) => end_turn(model, at),
        Event::StepBegin(step) => begin_step(model, step.n, at),
        Event::StepInterrupted(_) => model.transcript.finish_from(model.step_start, at),
        Event::StepRetry(retry) => retry_step(model, &retry, at),
        Event::CompactionBegin(_) => {
            model.transcript.push(CellKind::Mark(Mark::compacting()), false, at);
        }
        Event::CompactionEnd(_) => end_compaction(model, Compaction::Done(None)),
        Event::StatusUpdate(update) => status(model, update, at),
        Event::Notification(note) => {
            let level = match note.severity.as_str() {
                "error" => Level::Error,
                "warning" => Level::Warning,
                _ => Level::Info,
            };
            let text = if note.body.is_empty() {
                note.title
            } else {
                format!("{}\n{}", note.title, note.body)
            };
            notice(model, level, text, at);
        }
        Event::PlanDisplay(plan) => {
            model.transcript.push(CellKind::Plan { text: plan.content }, true, at);
        }
        Event::BtwBegin(question) => {
            if model.aside.as_ref().is_none_or(|aside| aside.id != question.id) {
                notice(model, Level::Info, format!("Aside: {}", question.question), at);
            }
        }
        Event::BtwEnd(answer) => {
            let text = answer.response.or(answer.error).unwrap_or_default();
            if pages::ended(model, &answer.id, &text) {
                return;
            }
            model.transcript.push(CellKind::Assistant { text: text.into() }, true, at);
        }
        Event::SubagentEvent(event) => tasks::nested(model, &event, at),
        Event::ContentPart(part) => content(model, part, at),
        Event::ToolCall(call) => tool_call(model, call, at),
        Event::ToolCallPart(part) => {
            let latest = model.transcript.last_index();
            if let (Some(index), Some(more)) = (latest, part.arguments_part) {
                model.transcript.edit(index, |cell| {
                    if let CellKind::Tool(tool) = &mut cell.kind {
                        tool.push_arguments(&more);
                    }
                });
            }
        }
        Event::ToolResult(result) => {
            model.questions.remove_call(&result.tool_call_id, at);
            tool_result(model, &result.tool_call_id, result.return_value, at);
        }
        Event::ApprovalResponse(answer) => {
            let request = model.approvals.remove(&answer.request_id, at);
            if let Some(request) = request
                && answer.response != ApprovalChoice::Reject
            {
                model.transcript.edit_tool(&request.tool_call_id, |tool| tool.start(at));
            }
        }
        Event::HookResolved(hook) if hook.action == HookAction::Block => {
            let text = format!("A hook blocked {} {}: {}", hook.event, hook.target, hook.reason);
            notice(model, Level::Warning, text, at);
        }
        Event::Extension(extension) => extend(model, extension, at),
        Event::HookTriggered(_)
        | Event::HookResolved(_)
        | Event::MCPLoadingBegin(_)
        | Event::MCPLoadingEnd(_)
        | Event::Unknown(_) => {}
    }
}

/// Writes a word from the program into the transcript.
pub(super) fn notice(model: &mut Model, level: Level, text: impl Into<String>, at: f64) {
    model.transcript.push(CellKind::Notice { level, text: text.into() }, true, at);
}

fn last_cell(model: &Model) -> Option<CellId> {
    model.transcript.cells().last().map(|cell| cell.id)
}

fn begin_turn(model: &mut Model, text: &str, at: f64) {
    model.status.turns += 1;
    let start = model.turn_start;
    model.transcript.finish_from(start, at);
    model.turn_start = model.transcript.cells().len();
    model.step_start = model.turn_start;
    // A word of the program in the place of a prompt: nobody typed it.
    let title = if text == TurnBegin::TASKS_ENDED {
        let why = "Background work ended while nothing ran: the model goes on with it.";
        notice(model, Level::Info, why, at);
        "Background work ended".to_owned()
    } else {
        let kind = CellKind::User { text: text.to_owned(), steered: false };
        model.transcript.push(kind, true, at);
        text.lines().next().unwrap_or_default().to_owned()
    };
    let cell = last_cell(model);
    model.timeline.begin_turn(title, cell, at);
    let since = match model.status.activity {
        // A nested turn of a flow does not restart the clock.
        Activity::Running { since, .. } => since,
        _ => at,
    };
    model.status.activity = Activity::Running { since, step: 0, cancelling: false };
    model.awaits_turn = false;
    model.status.retry = None;
}

fn end_turn(model: &mut Model, at: f64) {
    end_compaction(model, Compaction::Failed);
    let start = model.turn_start;
    model.transcript.finish_from(start, at);
    model.status.retry = None;
}

fn begin_step(model: &mut Model, n: u64, at: f64) {
    let start = model.step_start;
    model.transcript.finish_from(start, at);
    model.step_start = model.transcript.cells().len();
    if let Activity::Running { step, .. } = &mut model.status.activity {
        *step = n;
    }
    model.status.retry = None;
}

fn retry_step(model: &mut Model, retry: &StepRetry, at: f64) {
    // What the failed attempt said is void; what happened before it in this step is not.
    let void = model
        .transcript
        .cells()
        .iter()
        .enumerate()
        .skip(model.step_start)
        .find(|(_, cell)| {
            matches!(
                cell.kind,
                CellKind::Assistant { .. } | CellKind::Thinking { .. } | CellKind::Tool(_)
            )
        })
        .map(|(index, _)| index);
    if let Some(void) = void {
        model.transcript.truncate(void);
    }
    let reason = match retry.status_code {
        Some(429) => "the provider asks to slow down (429)".to_owned(),
        Some(code) => format!("the provider answered {code}"),
        None => match retry.error_type.as_str() {
            "APIConnectionError" => "the connection failed".to_owned(),
            "APITimeoutError" => "no answer in time".to_owned(),
            "APIEmptyResponseError" => "the answer was empty".to_owned(),
            other => other.to_owned(),
        },
    };
    let text = format!(
        "Trying again: {reason} · attempt {}/{} · in {:.1} s",
        retry.next_attempt, retry.max_attempts, retry.wait_s
    );
    model.status.retry = Some(text.clone());
    notice(model, Level::Warning, text, at);
}

fn status(model: &mut Model, update: StatusUpdate, at: f64) {
    let status = &mut model.status;
    status.context_tokens = update.context_tokens.or(status.context_tokens);
    status.max_context_tokens = update.max_context_tokens.or(status.max_context_tokens);
    status.plan_mode = update.plan_mode.unwrap_or(status.plan_mode);
    if let Some(usage) = update.token_usage {
        status.last_usage = Some(usage);
        status.requests += 1;
        let cost = status.info.price.map(|price| price.cost(&usage));
        if let Some(cost) = cost {
            *status.cost.get_or_insert(0.0) += cost;
        }
        let step = match status.activity {
            Activity::Running { step, .. } => step,
            _ => 0,
        };
        status.calls.push(CallCost { turn: status.turns, step, usage, cost });
        status.total_usage.add(&usage);
    }
    if let Some(mcp) = update.mcp_status {
        status.mcp = mcp;
    }
    // The answer is complete: calls whose arguments were still coming run now.
    for index in model.step_start..model.transcript.cells().len() {
        let cell = &model.transcript.cells()[index];
        if matches!(&cell.kind, CellKind::Tool(tool) if tool.state == ToolState::Streaming) {
            model.transcript.edit(index, |cell| {
                if let CellKind::Tool(tool) = &mut cell.kind {
                    tool.start(at);
                }
            });
        }
    }
}

fn content(model: &mut Model, part: ContentPart, at: f64) {
    let open = model
        .transcript
        .last_index()
        .filter(|&index| index >= model.step_start && !model.transcript.cells()[index].finished);
    match part {
        ContentPart::Text { text } => {
            if let Some(index) = open {
                if matches!(model.transcript.cells()[index].kind, CellKind::Assistant { .. }) {
                    model.transcript.edit(index, |cell| {
                        if let CellKind::Assistant { text: shown } = &mut cell.kind {
                            shown.push_str(&text);
                        }
                    });
                    return;
                }
                close_text(model, index, at);
            }
            model.transcript.push(CellKind::Assistant { text: text.into() }, false, at);
        }
        ContentPart::Think { think, .. } => {
            if let Some(index) = open {
                if matches!(model.transcript.cells()[index].kind, CellKind::Thinking { .. }) {
                    model.transcript.edit(index, |cell| {
                        if let CellKind::Thinking { text, .. } = &mut cell.kind {
                            text.push_str(&think);
                        }
                    });
                    return;
                }
                close_text(model, index, at);
            }
            if !think.is_empty() {
                let kind = CellKind::Thinking { text: think.into(), seconds: None };
                model.transcript.push(kind, false, at);
            }
        }
        ContentPart::ImageUrl { .. } => notice(model, Level::Info, "[image]", at),
        ContentPart::AudioUrl { .. } => notice(model, Level::Info, "[audio]", at),
        ContentPart::VideoUrl { .. } => notice(model, Level::Info, "[video]", at),
        ContentPart::Unknown(_) => {}
    }
}

/// Text and thinking end where something else begins; a running tool does not.
fn close_text(model: &mut Model, index: usize, at: f64) {
    if !matches!(model.transcript.cells()[index].kind, CellKind::Tool(_)) {
        model.transcript.finish_from(index, at);
    }
}

fn tool_call(model: &mut Model, call: ToolCall, at: f64) {
    if let Some(index) = model.transcript.last_index().filter(|&index| index >= model.step_start) {
        close_text(model, index, at);
    }
    let name = call.function.name;
    model.timeline.add_tool(&name);
    let tool = ToolCell::new(call.id, name, call.function.arguments.unwrap_or_default());
    model.transcript.push(CellKind::Tool(Box::new(tool)), false, at);
}

fn tool_result(model: &mut Model, call_id: &str, result: ToolReturn, at: f64) {
    for block in &result.display {
        match block {
            DisplayBlock::Todo { items } => model.status.todos.clone_from(items),
            DisplayBlock::Diff(diff) if !result.is_error => model.timeline.add_file(&diff.path),
            _ => {}
        }
    }
    let state = state_of(&result);
    if matches!(state, ToolState::Failed) {
        model.timeline.add_failure();
    }
    model.transcript.edit_tool(call_id, |tool| {
        tool.state = state;
        tool.seconds = tool.started.map(|started| (at - started).max(0.0));
        tool.result = Some(result.into());
    });
}

/// Rejection and cancellation have no field of their own on the wire; their words are fixed.
fn state_of(result: &ToolReturn) -> ToolState {
    match result.brief() {
        _ if !result.is_error => ToolState::Done,
        Some(brief) if brief == "Rejected by user" || brief.starts_with("Rejected: ") => {
            ToolState::Rejected
        }
        Some("Cancelled") => ToolState::Cancelled,
        _ => ToolState::Failed,
    }
}

fn extend(model: &mut Model, extension: Extension, at: f64) {
    match extension {
        Extension::CheckpointCreated(made) => {
            let cell = last_cell(model);
            model.timeline.add_checkpoint(&made, cell, at);
            model.status.context_tokens.get_or_insert(made.size.tokens);
        }
        Extension::ContextReverted(reverted) => revert(model, reverted, at),
        Extension::ContextCleared(change) => {
            model.transcript.set_fate_from(0, Fate::Cleared);
            let cell = last_cell(model);
            model.timeline.jump(Jump::Clear, None, &change, cell, at);
            model.status.context_tokens = Some(change.after.tokens);
            model.transcript.generation = change.new_generation;
            let mark = Mark::Cleared { tokens: change.before.tokens };
            model.transcript.push(CellKind::Mark(mark), true, at);
        }
        Extension::ContextCompacted(change) => compacted(model, &change, at),
        Extension::TaskChanged(fact) => tasks::changed(model, fact),
        Extension::TaskOutput(chunk) => tasks::printed(model, &chunk),
        Extension::RewindPreview(preview) => super::rewind::show(model, preview),
        Extension::FilesRewound(done) => super::rewind::done(model, &done, at),
        Extension::ToolOutput(chunk) => tool_output(model, &chunk, at),
        Extension::ContextRewritten(rewritten) => {
            keep_losses(model, &rewritten);
            model.timeline.set_rewritten(rewritten);
        }
        Extension::CallEdited(edited) => {
            model.transcript.edit_tool(&edited.tool_call_id, |tool| {
                tool.edited = true;
                tool.arguments.clear();
                tool.push_arguments(&edited.arguments);
            });
        }
        Extension::SideAnswer(piece) => pages::answered(model, &piece),
        Extension::TurnFailed(failed) => notice(model, Level::Error, failed.message, at),
        Extension::TurnCut(cut) => {
            let (level, text) = session::cut(cut.steps);
            notice(model, level, text, at);
        }
        Extension::MessagesPinned(pinned) => generation::pinned(model, &pinned, at),
        Extension::MessagesHidden(hidden) => generation::hidden(model, &hidden, at),
        Extension::RevertPreview(preview) => timeline::priced(model, preview),
        Extension::ContextLedger(told) => ledger::told(model, told),
        Extension::ContextRestored(restored) => restore(model, &restored, at),
    }
}

fn tool_output(model: &mut Model, chunk: &ToolOutputChunk, at: f64) {
    model.transcript.edit_tool(&chunk.tool_call_id, |tool| {
        tool.start(at);
        tool.live.push(&chunk.text);
    });
}

fn revert(model: &mut Model, reverted: ContextReverted, at: f64) {
    // Everything shown after the checkpoint was made is what the model no longer has.
    let from = (0..model.timeline.entries.len())
        .rev()
        .find(|&row| {
            model
                .timeline
                .checkpoint(row)
                .is_some_and(|entry| entry.is_live && entry.at.id == reverted.to.id)
        })
        .and_then(|row| {
            // The prompt stands before its checkpoint in the transcript, but enters the context
            // behind it.
            let is_turn_start =
                model.timeline.checkpoint(row).is_some_and(|entry| entry.step.is_none());
            let index = model.transcript.index_of(model.timeline.entries[row].cell?)?;
            Some(if is_turn_start { index } else { index + 1 })
        });
    // Of a session whose end alone is known, the checkpoint was before that end.
    if let Some(from) = from.or(model.transcript.is_tail.then_some(0)) {
        model.transcript.set_fate_from(from, Fate::Reverted);
    }
    let start = model.step_start;
    model.transcript.finish_from(start, at);
    let change = reverted.change;
    let jump = match reverted.cause {
        RevertCause::AgentDMail => Jump::DMail(reverted.to.id),
        RevertCause::User => Jump::Revert(reverted.to.id),
    };
    let cell = last_cell(model);
    model.timeline.jump(jump, Some(reverted.to.id), &change, cell, at);
    model.timeline.set_mail(reverted.mail.clone());
    model.status.context_tokens = Some(change.after.tokens);
    model.transcript.generation = change.new_generation;
    let mark = Mark::Reverted {
        cause: reverted.cause,
        checkpoint: reverted.to.id.0,
        mail: reverted.mail,
        tokens: (change.before.tokens, change.after.tokens),
    };
    model.transcript.push(CellKind::Mark(mark), true, at);
    model.step_start = model.transcript.cells().len();
}

fn compacted(model: &mut Model, change: &ContextChange, at: f64) {
    let sizes = (change.before.tokens, change.after.tokens);
    let open = open_compaction(model);
    model.transcript.set_fate_from(0, Fate::Compacted);
    model.transcript.generation = change.new_generation;
    let index =
        open.unwrap_or_else(|| model.transcript.push(CellKind::Mark(Mark::compacting()), true, at));
    let life = Life::from(change.new_generation);
    model.transcript.edit(index, |cell| {
        (cell.fate, cell.life) = (Fate::Live, life);
        if let CellKind::Mark(Mark::Compacted { outcome, .. }) = &mut cell.kind {
            *outcome = Compaction::Done(Some(sizes));
        }
    });
    let cell = last_cell(model);
    model.timeline.jump(Jump::Compaction, None, change, cell, at);
    model.status.context_tokens = Some(change.after.tokens);
}

/// What a compaction took from the model, for whoever unfolds its mark.
fn keep_losses(model: &mut Model, rewritten: &ContextRewritten) {
    let Some(index) = open_compaction(model) else { return };
    let lines = rewritten.messages.iter().map(|message| {
        let fate = match message.fate {
            MessageFate::Summarised => "summarised",
            MessageFate::Hidden => "hidden",
            MessageFate::Dropped => "left out",
        };
        let role = format!("{:?}", message.role).to_lowercase();
        format!("{fate}: {role}, {} tokens: {}", message.tokens, message.preview)
    });
    let lines: Vec<_> = lines.collect();
    model.transcript.edit(index, |cell| {
        if let CellKind::Mark(Mark::Compacted { losses, .. }) = &mut cell.kind {
            *losses = lines;
        }
    });
}

fn restore(model: &mut Model, restored: &ContextRestored, at: f64) {
    let change = restored.change;
    model.transcript.restore(restored.from, change.new_generation);
    let cell = last_cell(model);
    model.timeline.restore(restored.from, &change, cell, at);
    model.status.context_tokens = Some(change.after.tokens);
    let tokens = (change.before.tokens, change.after.tokens);
    let mark = Mark::Restored { generation: restored.from.0, tokens };
    model.transcript.push(CellKind::Mark(mark), true, at);
}

fn open_compaction(model: &Model) -> Option<usize> {
    let cells = model.transcript.cells();
    (model.turn_start.min(cells.len())..cells.len()).rev().find(|&index| {
        let cell = &cells[index];
        !cell.finished && matches!(cell.kind, CellKind::Mark(Mark::Compacted { .. }))
    })
}

/// A compaction is over. One that told its sizes was a success whatever follows.
fn end_compaction(model: &mut Model, how: Compaction) {
    let Some(index) = open_compaction(model) else { return };
    let mut is_told = true;
    model.transcript.edit(index, |cell| {
        cell.finished = true;
        if let CellKind::Mark(Mark::Compacted { outcome, .. }) = &mut cell.kind
            && *outcome == Compaction::Running
        {
            (*outcome, is_told) = (how, false);
        }
    });
    // An engine without our news says no more than this.
    if !is_told && how != Compaction::Failed {
        model.transcript.set_fate_from(0, Fate::Compacted);
        model.transcript.edit(index, |cell| cell.fate = Fate::Live);
    }
}
