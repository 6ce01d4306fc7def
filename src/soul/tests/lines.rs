//! What a door hears, as short lines that a test can compare.

use super::*;

/// What a door hears, in one line.
pub(super) fn line(message: &DoorMessage) -> String {
    match message {
        DoorMessage::Event(event) => event_line(event),
        DoorMessage::Request(Request::ApprovalRequest(request)) => {
            format!("Approve? {} {}", request.tool_call_id, request.action)
        }
        DoorMessage::Request(Request::QuestionRequest(request)) => format!(
            "Question {}: {}",
            request.tool_call_id.as_deref().unwrap_or_default(),
            request.questions[0].question
        ),
        DoorMessage::Request(other) => format!("Request {other:?}"),
        DoorMessage::PromptDone(outcome) => format!("Done {outcome:?}"),
        DoorMessage::Refused(reason) => format!("Refused {reason}"),
        DoorMessage::Info(info) => format!("Info \"{}\" yolo={}", info.title, info.yolo),
    }
}

pub(super) fn event_line(event: &Event) -> String {
    match event {
        Event::TurnBegin(begin) => format!("TurnBegin {}", begin.user_input.text()),
        Event::SteerInput(begin) => format!("SteerInput {}", begin.user_input.text()),
        Event::StepBegin(begin) => format!("StepBegin {}", begin.n),
        Event::StepRetry(retry) => format!(
            "StepRetry {}: {} of {} ({} {:?})",
            retry.n, retry.next_attempt, retry.max_attempts, retry.error_type, retry.status_code
        ),
        Event::StatusUpdate(status) if status.context_tokens.is_none() => {
            format!("Plan mode {:?}", status.plan_mode)
        }
        Event::StatusUpdate(status) => format!(
            "Status {} of {}",
            status.context_tokens.unwrap_or_default(),
            status.max_context_tokens.unwrap_or_default()
        ),
        Event::Notification(note) => format!("Notification {}", note.title),
        Event::ContentPart(ContentPart::Text { text }) => format!("text {text}"),
        Event::ContentPart(ContentPart::Think { think, .. }) => format!("think {think}"),
        Event::ToolCall(call) => format!("ToolCall {} {}", call.id, call.function.name),
        Event::ToolCallPart(_) => "ToolCallPart".to_owned(),
        Event::ToolResult(result) => format!(
            "ToolResult {} {}",
            result.tool_call_id,
            result
                .return_value
                .brief()
                .map_or_else(|| result.return_value.output.text(), Into::into)
        ),
        Event::ApprovalResponse(response) => {
            format!("Answer {:?} {:?}", response.response, response.feedback)
        }
        Event::SubagentEvent(nested) => format!(
            "{}: {}",
            nested.subagent_type.as_deref().unwrap_or_default(),
            event_line(&nested.event)
        ),
        Event::Extension(extension) => extension_line(extension),
        other => format!("{other:?}").split('(').next().unwrap_or_default().to_owned(),
    }
}

fn extension_line(extension: &Extension) -> String {
    match extension {
        Extension::TurnFailed(failed) => format!("TurnFailed {}", failed.message),
        Extension::TurnCut(cut) => format!("TurnCut {:?}", cut.steps),
        Extension::CheckpointCreated(made) => format!(
            "Checkpoint {} before {} ({} messages)",
            made.at,
            made.step.map_or("user".to_owned(), |step| format!("step {step}")),
            made.size.messages
        ),
        Extension::ContextReverted(reverted) => format!(
            "Reverted to {} by {:?}, mail {:?}: {} -> {} messages, next {}.{}",
            reverted.to,
            reverted.cause,
            reverted.mail,
            reverted.change.before.messages,
            reverted.change.after.messages,
            reverted.change.new_generation,
            reverted.change.next_checkpoint
        ),
        Extension::ContextCleared(change) | Extension::ContextCompacted(change) => {
            let kind = if matches!(extension, Extension::ContextCleared(_)) {
                "Cleared"
            } else {
                "Compacted"
            };
            format!(
                "{kind} {} -> {}: {} -> {} messages",
                change.old_generation,
                change.new_generation,
                change.before.messages,
                change.after.messages
            )
        }
        Extension::ContextRewritten(what) => format!(
            "Rewritten by {}{}: {:?}",
            what.strategy,
            if what.is_fallback { " (fallback)" } else { "" },
            what.messages.iter().map(|one| one.index).collect::<Vec<_>>()
        ),
        Extension::ContextRestored(restored) => format!(
            "Restored {}: {} -> {} messages, next {}.{}",
            restored.from,
            restored.change.before.messages,
            restored.change.after.messages,
            restored.change.new_generation,
            restored.change.next_checkpoint
        ),
        Extension::CallEdited(edited) => {
            format!("Edited {} {}", edited.tool_call_id, edited.arguments)
        }
        Extension::MessagesHidden(hidden) => format!(
            "Hidden {:?}: {} -> {}",
            hidden.messages, hidden.change.old_generation, hidden.change.new_generation
        ),
        Extension::RevertPreview(preview) => format!(
            "Price of {}: {} of {} messages, files {:?}",
            preview.to, preview.messages, preview.before.messages, preview.files
        ),
        Extension::ContextLedger(ledger) => format!("Ledger of {}", ledger.messages.len()),
        Extension::RewindPreview(preview) => format!(
            "Preview {:?}",
            preview.files.iter().map(|file| (name(&file.path), file.deed)).collect::<Vec<_>>()
        ),
        Extension::FilesRewound(done) => format!(
            "Files restored {:?}, removed {:?}, left {:?}",
            done.restored.iter().map(|path| name(path)).collect::<Vec<_>>(),
            done.removed.iter().map(|path| name(path)).collect::<Vec<_>>(),
            done.left.iter().map(|(path, _)| name(path)).collect::<Vec<_>>()
        ),
        Extension::MessagesPinned(pinned) => format!(
            "Pinned {:?} of {}: {} messages",
            pinned.messages, pinned.generation, pinned.size.messages
        ),
        Extension::SideAnswer(answer) if answer.done => "Aside done".to_owned(),
        Extension::SideAnswer(answer) if answer.restarted => "Aside again".to_owned(),
        Extension::SideAnswer(answer) => format!("Aside {}", answer.text_delta),
        Extension::TaskChanged(task) => {
            format!("Task {} {} {}", task.kind.name(), task.title, task.state.name())
        }
        Extension::TaskOutput(chunk) => format!("TaskOutput {}", chunk.text),
        Extension::ToolOutput(chunk) => format!("Output {}", chunk.text),
    }
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}
