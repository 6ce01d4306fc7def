//! Print mode: one prompt in, the answer on standard output, an exit code (upstream's `ui/print`).

mod messages;
mod prompts;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use tokio::sync::mpsc::UnboundedReceiver;

use self::messages::{Line, Messages};
pub(super) use self::prompts::{Prompts, read_message};
use super::outcome::{End, end_of};
use super::plan::Wants;
use crate::message::{ContentPart, ToolCall, ToolReturn};
use crate::ui::render::sanitize::sanitize;
use crate::wire::{
    ApprovalChoice, ApprovalResponse, Command, Door, DoorMessage, Event, Extension, HookAction,
    HookAnswer, PromptOutcome, QuestionAnswer, Request, Response, TaskState, ToolCallAnswer,
};

/// Somebody wants the program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interrupt {
    /// Ctrl-C.
    Keyboard,
    /// SIGTERM or SIGHUP.
    Terminate,
}

/// Where print mode writes.
pub(super) struct Outputs<'a> {
    /// The answer.
    pub(super) answer: &'a mut dyn Write,
    /// Is that a terminal, which escape sequences in the answer could act on?
    pub(super) answer_is_terminal: bool,
    /// Are messages wanted, a JSON object a line, rather than text?
    pub(super) as_messages: bool,
    /// Progress and problems.
    pub(super) notes: &'a mut dyn Write,
}

/// What a person should know before anything is asked.
pub(super) fn greet(door: &Door, notes: &mut dyn Write) {
    let demo = "No model is configured: the built-in demo model answers. See --help.";
    let warnings = door.info.warnings.iter().map(String::as_str);
    for line in warnings.chain(door.info.is_demo.then_some(demo)) {
        // A note that cannot be written is not worth failing for.
        let _ = writeln!(notes, "{}", sanitize(line));
    }
}

/// Sends `commands`, each when the one before it is done, and writes what comes back until the
/// engine is idle again. The door stays open.
pub(super) async fn run(
    door: &mut Door,
    commands: Vec<Command>,
    wants: Wants,
    outputs: Outputs<'_>,
    interrupts: &mut UnboundedReceiver<Interrupt>,
) -> End {
    let mut printer = Printer::new(wants, outputs);
    let mut commands = commands.into_iter();
    if commands.next().is_some_and(|command| door.commands.send(command).is_err()) {
        return End::failed("The engine ended before the prompt reached it.");
    }
    let mut interrupted = None;
    loop {
        let message = tokio::select! {
            message = door.messages.recv() => message,
            Some(interrupt) = interrupts.recv() => {
                // A second one does not wait for the first to be obeyed.
                if interrupted.replace(interrupt).is_some() {
                    return End::Interrupted(interrupt);
                }
                let _ = door.commands.send(Command::Cancel);
                continue;
            }
        };
        let Some(message) = message else {
            return End::failed("The engine ended in the middle of the turn.");
        };
        let done = match message {
            DoorMessage::PromptDone(outcome) => Some(outcome),
            DoorMessage::Event(event) => {
                printer.event(event);
                None
            }
            DoorMessage::Request(request) => {
                if let Some(response) = answer(&request) {
                    let _ = door.commands.send(Command::Respond(response));
                }
                None
            }
            DoorMessage::Refused(reason) => {
                printer.problem(&reason);
                None
            }
            DoorMessage::Info(_) => None,
        };
        if printer.reader_is_gone() && interrupted.is_none() {
            // Whoever read has seen enough, as `head` does: stop, and be content.
            interrupted = Some(Interrupt::Keyboard);
            let _ = door.commands.send(Command::Cancel);
        }
        if done == Some(PromptOutcome::Finished)
            && interrupted.is_none()
            && let Some(command) = commands.next()
        {
            printer.goes_on(&command);
            if door.commands.send(command).is_ok() {
                continue;
            }
        }
        if let Some(outcome) = done {
            let written = printer.finish(&outcome);
            return match (written, interrupted) {
                (Err(error), _) if error.kind() == io::ErrorKind::BrokenPipe => End::Done,
                (Err(error), _) => {
                    End::failed(format!("The answer could not be written: {error}."))
                }
                (Ok(()), Some(interrupt)) => End::Interrupted(interrupt),
                (Ok(()), None) => end_of(outcome),
            };
        }
    }
}

/// Nobody is there to ask: everything is approved, questions are dismissed.
fn answer(request: &Request) -> Option<Response> {
    let request_id = request.id()?.to_owned();
    Some(match request {
        Request::ApprovalRequest(_) => Response::Approval(ApprovalResponse {
            request_id,
            response: ApprovalChoice::Approve,
            feedback: String::new(),
        }),
        Request::QuestionRequest(_) => {
            Response::Question(QuestionAnswer { request_id, answers: BTreeMap::new() })
        }
        Request::ToolCallRequest(call) => Response::ToolCall(ToolCallAnswer {
            tool_call_id: call.id.clone(),
            return_value: ToolReturn::error("There is no such tool here.", "Not available"),
        }),
        Request::HookRequest(_) => Response::Hook(HookAnswer {
            request_id,
            action: HookAction::Allow,
            reason: String::new(),
        }),
        Request::Unknown(_) => return None,
    })
}

/// Writes the answer as it comes, and notes about what happens meanwhile.
struct Printer<'a> {
    wants: Wants,
    outputs: Outputs<'a>,
    /// The answer of this step, while it may still be withdrawn: what was written cannot be taken
    /// back. On a terminal a person reads along, and is told of a new attempt.
    held: String,
    /// Did a step begin since something was written?
    is_new_step: bool,
    has_written: bool,
    is_line_open: bool,
    failure: Option<io::Error>,
    /// The call whose arguments are still coming, and the names of all calls.
    call: Option<ToolCall>,
    /// The messages, where those are wanted.
    messages: Option<Messages>,
    names: BTreeMap<String, String>,
    /// Background tasks that run.
    tasks: BTreeSet<String>,
}

impl<'a> Printer<'a> {
    fn new(wants: Wants, outputs: Outputs<'a>) -> Self {
        let messages = outputs.as_messages.then(Messages::default);
        Self {
            wants,
            outputs,
            held: String::new(),
            is_new_step: false,
            has_written: false,
            is_line_open: false,
            failure: None,
            call: None,
            messages,
            names: BTreeMap::new(),
            tasks: BTreeSet::new(),
        }
    }

    fn reader_is_gone(&self) -> bool {
        self.failure.is_some()
    }

    /// Something more is waited for.
    fn goes_on(&mut self, command: &Command) {
        self.tell_call();
        let running = self.tasks.len();
        if let Command::AwaitTasks { seconds } = command
            && running > 0
        {
            let tasks = if running == 1 { "task" } else { "tasks" };
            self.progress(&format!(
                "Waiting for {running} background {tasks}, at most {seconds} s"
            ));
        }
    }

    fn event(&mut self, event: Event) {
        if let Event::Extension(Extension::TaskChanged(task)) = &event {
            match task.state {
                TaskState::Running => self.tasks.insert(task.id.clone()),
                _ => self.tasks.remove(&task.id),
            };
            return;
        }
        if let Some(messages) = &mut self.messages {
            let lines = messages.event(&event);
            if let Event::StepRetry(_) = event {
                self.retried(&event);
            }
            return self.lines(lines);
        }
        if let Event::ToolCallPart(part) = event {
            if let (Some(call), Some(more)) = (&mut self.call, part.arguments_part) {
                call.function.arguments.get_or_insert_default().push_str(&more);
            }
            return;
        }
        self.tell_call();
        match event {
            Event::ContentPart(ContentPart::Text { text }) => self.text(&text),
            Event::StepBegin(_) => {
                self.step_counts();
                self.held.clear();
                self.is_new_step = true;
            }
            Event::StepRetry(retry) => {
                self.held.clear();
                let is_half_shown = self.has_written && !self.is_new_step;
                self.is_new_step = true;
                self.retried(&Event::StepRetry(retry));
                if is_half_shown && self.outputs.answer_is_terminal {
                    self.problem("What it had said of this answer is void: it begins again.");
                }
            }
            // Told when a step's answer has come to its end, and its calls begin.
            Event::StatusUpdate(status)
                if status.token_usage.is_some() || status.message_id.is_some() =>
            {
                self.step_counts();
            }
            Event::ToolCall(call) => {
                self.names.insert(call.id.clone(), call.function.name.clone());
                self.call = Some(call);
            }
            Event::ToolResult(result) => {
                self.step_counts();
                let name = self.names.remove(&result.tool_call_id);
                if result.return_value.is_error {
                    let name = name.unwrap_or_else(|| "A tool".to_owned());
                    let value = &result.return_value;
                    let why = value.brief().unwrap_or(&value.message);
                    self.progress(&format!("{name} failed: {}", first_line(why)));
                }
            }
            Event::CompactionBegin(_) => self.progress("Summarising the context"),
            // Such as that the answer was cut off, or that the turn was stopped.
            Event::Notification(note) if matches!(&*note.severity, "warning" | "error") => {
                let title = note.title.trim_end_matches('.');
                self.problem(&format!("{title}. {}", note.body));
            }
            Event::Notification(note) => self.progress(&first_line(&note.title)),
            _ => {}
        }
    }

    fn retried(&mut self, event: &Event) {
        if let Event::StepRetry(retry) = event {
            self.problem(&format!(
                "{}: trying again in {:.0} s, attempt {} of {}.",
                retry.error_type, retry.wait_s, retry.next_attempt, retry.max_attempts
            ));
        }
    }

    /// Messages, one a line; only the last one of the model, where only that is wanted.
    fn lines(&mut self, lines: Vec<Line>) {
        for line in lines {
            if !self.wants.final_only {
                self.write(&line.json);
                self.write("\n");
            } else if line.is_answer {
                self.held = line.json;
            }
        }
    }

    fn text(&mut self, text: &str) {
        if self.wants.final_only || !self.outputs.answer_is_terminal {
            self.held.push_str(text);
        } else {
            self.write_text(text);
        }
    }

    /// What was held of this step is not withdrawn any more.
    fn step_counts(&mut self) {
        if !self.wants.final_only {
            let held = std::mem::take(&mut self.held);
            self.write_text(&held);
        }
    }

    fn write_text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if std::mem::take(&mut self.is_new_step) && self.has_written {
            // What different steps say are different paragraphs.
            let gap = if self.is_line_open { "\n\n" } else { "\n" };
            self.write(gap);
        }
        self.write(text);
    }

    fn write(&mut self, text: &str) {
        if self.failure.is_some() || text.is_empty() {
            return;
        }
        let shown = if self.outputs.answer_is_terminal { sanitize(text) } else { text.into() };
        let out = &mut self.outputs.answer;
        if let Err(error) = out.write_all(shown.as_bytes()).and_then(|()| out.flush()) {
            self.failure = Some(error);
        }
        self.has_written = true;
        self.is_line_open = !shown.ends_with('\n');
    }

    /// Tells of the call whose arguments are now complete.
    fn tell_call(&mut self) {
        let Some(call) = self.call.take() else { return };
        let name = &call.function.name;
        let line = match crate::message::key_argument(name, call.arguments()) {
            Some(argument) => format!("{name} {}", first_line(&argument)),
            None => name.clone(),
        };
        self.progress(&line);
    }

    fn progress(&mut self, line: &str) {
        if self.wants.progress {
            self.note(&format!("· {line}"));
        }
    }

    /// Something a person should know even if progress is not wanted.
    fn problem(&mut self, line: &str) {
        self.note(line);
    }

    fn note(&mut self, line: &str) {
        if self.is_line_open && self.outputs.answer_is_terminal {
            // Both streams end on one screen: do not write into the middle of the answer's line.
            self.write("\n");
            self.is_new_step = true;
        }
        // A note that cannot be written is not worth failing for.
        let _ = writeln!(self.outputs.notes, "{}", sanitize(line));
    }

    /// Ends the output.
    fn finish(&mut self, outcome: &PromptOutcome) -> io::Result<()> {
        self.tell_call();
        if let Some(messages) = &mut self.messages {
            let rest = messages.end();
            self.lines(rest);
        }
        // Of a turn that failed, what its last attempt said is there once: the exit code tells.
        self.step_counts();
        if self.wants.final_only && *outcome == PromptOutcome::Finished {
            let held = std::mem::take(&mut self.held);
            self.write(&held);
        }
        if self.is_line_open {
            self.write("\n");
        }
        match self.failure.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

fn first_line(text: &str) -> String {
    const WIDEST: usize = 160;
    let line = text.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests;
