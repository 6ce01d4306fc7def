//! Bash: a shell command (`kimi-cli` `tools/shell/__init__.py`), its output shown as it comes.

mod capture;
#[cfg(test)]
mod tests;

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use self::capture::Capture;
pub(crate) use self::capture::Decoder;
use super::background::CommandTask;
use super::errand::Errand;
use super::output::with_truncation_note;
use super::process::{Running, spawn_shell};
use super::tasks::{block as task_block, facts as task_facts};
use super::tool::{Approval, ApprovalAsk, LiveOutput, ToolContext};
use super::typed::{Failure, TypedTool};
use crate::message::{DisplayBlock, ToolReturn};
use crate::wire::{OutputStream, TaskKind};

/// How much of a command's output is shown while it runs.
const LIVE_BYTES: usize = 256 * 1024;
/// How long a command that took too long may take to end by itself.
const TERM_GRACE: Duration = Duration::from_secs(2);
/// How long output is waited for when the shell has ended but something still holds the pipe.
const PIPE_GRACE: Duration = Duration::from_millis(200);
/// How long what a command left behind may take to end by itself.
const REST_GRACE: Duration = Duration::from_millis(300);
const READ_BYTES: usize = 16 * 1024;

pub(crate) struct Bash;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// The command, as you would type it into bash.
    command: String,
    /// Seconds after which the command is killed: 60 if not given, at most 300. In the background
    /// at most 86400, which it is if not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 86400))]
    timeout: Option<u64>,
    /// Return at once with a task id; a note tells the end. For servers and long builds.
    #[serde(default, alias = "background")]
    run_in_background: bool,
    /// What the command is for, in a few words; needed in the background.
    #[serde(default)]
    description: Option<String>,
}

/// Seconds a command may take when nothing else is said, and at most.
const USUAL: u64 = 60;
const LONGEST: u64 = 300;
/// The same in the background.
const LONGEST_IN_BACKGROUND: u64 = 86_400;

impl TypedTool for Bash {
    type Params = Params;
    const NAME: &'static str = "Bash";
    const ALIASES: &'static [&'static str] = &["Shell", "CMD"];
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/bash.md");

    async fn run(&self, params: Params, context: &ToolContext) -> Result<ToolReturn, Failure> {
        if params.command.trim().is_empty() {
            return Err(Failure::new("The command is empty.", "Empty command"));
        }
        if params.run_in_background {
            return in_background(params, context).await;
        }
        let seconds = params.timeout.unwrap_or(USUAL);
        if !(1..=LONGEST).contains(&seconds) {
            return Err(Failure::new(
                format!(
                    "timeout must be between 1 and {LONGEST} seconds. For more, use \
                     run_in_background."
                ),
                "Wrong timeout",
            ));
        }
        if let Approval::Rejected { feedback } =
            context.services.approve(context, ask(&params.command, "run command")).await
        {
            return Err(Approval::rejection(&feedback).into());
        }
        let errand = Errand::Run { command: &params.command, timeout: seconds };
        if let Some(done) = context.services.errand(context, errand).await {
            return Ok(done);
        }
        let running = spawn_shell(&params.command, &context.work_dir).await.map_err(|error| {
            let folder = context.work_dir.display();
            if !context.work_dir.is_dir() {
                let what = format!(
                    "The work folder `{folder}` is gone, so no command can run in it. Nothing was \
                     run; ask the user to bring the folder back."
                );
                return Failure::new(what, format!("The work folder {folder} is gone"));
            }
            Failure::new(
                format!("The shell could not be started in `{folder}`: {error}."),
                "Shell not started",
            )
        })?;
        Box::pin(follow(running, Sink::new(context), seconds)).await
    }
}

/// Starts a background task.
async fn in_background(params: Params, context: &ToolContext) -> Result<ToolReturn, Failure> {
    let Some(tasks) = context.services.background() else {
        return Err(Failure::new(
            "Commands cannot run in the background here. Nothing was run; call again without \
             `run_in_background`, with a longer `timeout` if needed.",
            "No background commands",
        ));
    };
    let title = params.description.as_deref().unwrap_or_default().trim();
    let title = title.lines().next().unwrap_or_default().to_owned();
    let seconds = params.timeout.unwrap_or(LONGEST_IN_BACKGROUND);
    if title.is_empty() || !(1..=LONGEST_IN_BACKGROUND).contains(&seconds) {
        return Err(Failure::new(
            format!(
                "In the background a `description` is needed, and timeout must be between 1 and \
                 {LONGEST_IN_BACKGROUND} seconds. Nothing was run."
            ),
            "Invalid arguments",
        ));
    }
    let ask = ask(&params.command, "run background command");
    if let Approval::Rejected { feedback } = context.services.approve(context, ask).await {
        return Err(Approval::rejection(&feedback).into());
    }
    let work = CommandTask {
        command: params.command,
        work_dir: context.work_dir.clone(),
        limit: Duration::from_secs(seconds),
    };
    let task = tasks
        .start(TaskKind::Bash, &title, &context.call_id, |handle| work.run(handle))
        .map_err(|reason| Failure::new(reason, "Not started"))?;
    let mut result = ToolReturn::ok(
        task_facts(&task),
        "It runs in the background. You are told when it ends; go on with other work, or end your \
         turn.",
    );
    result.display.push(task_block(&task));
    Ok(result)
}

fn ask(command: &str, action: &str) -> ApprovalAsk {
    ApprovalAsk {
        action: action.to_owned(),
        description: match action {
            "run command" => format!("Run command `{command}`"),
            _ => format!("Run background command `{command}`"),
        },
        display: vec![DisplayBlock::Shell {
            language: "bash".to_owned(),
            command: command.to_owned(),
        }],
    }
}

/// Where the output goes: to the person as it comes, and into the result.
struct Sink<'a> {
    context: &'a ToolContext,
    decoder: Decoder,
    capture: Capture,
    live_left: usize,
}

impl<'a> Sink<'a> {
    fn new(context: &'a ToolContext) -> Self {
        let (decoder, capture) = Default::default();
        Self { context, decoder, capture, live_left: LIVE_BYTES }
    }

    fn push(&mut self, bytes: &[u8]) {
        let text = self.decoder.push(bytes);
        if !text.is_empty() {
            self.show(&text);
            self.capture.push(&text);
        }
    }

    fn show(&mut self, text: &str) {
        if self.live_left == 0 {
            return;
        }
        if text.len() < self.live_left {
            self.live_left -= text.len();
            self.live(text);
        } else {
            self.live_left = 0;
            self.live("\n[...] There is more output than is shown while the command runs.\n");
        }
    }

    fn live(&self, text: &str) {
        // One pipe carries both streams, for the sake of their order; which is which is not known.
        let output = LiveOutput { stream: OutputStream::Stdout, text };
        self.context.services.live_output(self.context, output);
    }
}

/// How a command ended.
enum End {
    Exited(ExitStatus),
    TimedOut,
}

/// Reads output until the command has ended, or ends it when its time is up.
async fn follow(
    mut running: Running,
    mut sink: Sink<'_>,
    seconds: u64,
) -> Result<ToolReturn, Failure> {
    let deadline = Instant::now() + Duration::from_secs(seconds);
    let mut buffer = vec![0; READ_BYTES];
    let mut ended = until_exit(&mut running, &mut sink, &mut buffer, deadline).await;
    let mut end = End::TimedOut;
    if ended.is_none() {
        running.group.terminate();
        let grace = Instant::now() + TERM_GRACE;
        ended = until_exit(&mut running, &mut sink, &mut buffer, grace).await;
        if ended.is_none() {
            running.group.kill();
            // Nothing survives this signal; a process stuck in the kernel is not waited for.
            ended = timeout(TERM_GRACE, running.child.wait()).await.ok();
        }
    } else if let Some(Ok(status)) = &ended {
        end = End::Exited(*status);
    }
    if let Some(Ok(_)) = &ended {
        running.group.leader_ended();
    }
    let drained = Instant::now() + PIPE_GRACE;
    while let Ok(Ok(count @ 1..)) = timeout_at(drained, running.output.read(&mut buffer)).await {
        sink.push(&buffer[..count]);
    }
    let left_behind = match ended {
        Some(Ok(_)) => running.group.end_rest(REST_GRACE).await,
        Some(Err(error)) => {
            return Err(Failure::new(
                format!("The command's end could not be awaited: {error}. It was killed."),
                "Command lost",
            ));
        }
        None => false,
    };
    Ok(report(sink, &end, seconds, left_behind))
}

/// Takes output until the shell exits. `None` when `deadline` comes first.
async fn until_exit(
    running: &mut Running,
    sink: &mut Sink<'_>,
    buffer: &mut [u8],
    deadline: Instant,
) -> Option<std::io::Result<ExitStatus>> {
    let mut open = true;
    loop {
        tokio::select! {
            status = running.child.wait() => return Some(status),
            () = sleep_until(deadline) => return None,
            read = running.output.read(buffer), if open => match read {
                Ok(count @ 1..) => sink.push(&buffer[..count]),
                Ok(0) | Err(_) => open = false,
            },
        }
    }
}

fn report(mut sink: Sink<'_>, end: &End, seconds: u64, left_behind: bool) -> ToolReturn {
    let rest = std::mem::take(&mut sink.decoder).finish();
    sink.capture.push(rest);
    let truncated = sink.capture.is_truncated();
    let output = sink.capture.into_text();
    let (mut message, brief) = match end {
        End::TimedOut => (
            format!(
                "Command killed by timeout ({seconds}s). If it needs longer, call again with a \
                 larger `timeout`."
            ),
            Some(format!("Killed by timeout ({seconds}s)")),
        ),
        End::Exited(status) => describe(*status),
    };
    if left_behind && matches!(end, End::Exited(_)) {
        message.push_str(" Processes it left running in the background were stopped.");
    }
    if truncated {
        message = with_truncation_note(&message);
    }
    match brief {
        None => ToolReturn::ok(output, message),
        Some(brief) => {
            let brief = with_last_lines(brief, &output);
            ToolReturn::error(message, brief).with_output(output)
        }
    }
}

/// The message of an exit status, and its short form when it is a failure.
fn describe(status: ExitStatus) -> (String, Option<String>) {
    if status.success() {
        return ("Command executed successfully.".to_owned(), None);
    }
    if let Some(signal) = status.signal() {
        let name = signal_name(signal);
        return (
            format!("Command was killed by signal {signal}{name}."),
            Some(format!("Killed by signal {signal}{name}")),
        );
    }
    let code = status.code().unwrap_or(-1);
    // Shells report a program's death by signal n as exit code 128 + n.
    let why = match signal_name(code - 128) {
        "" => String::new(),
        name => {
            format!(" That is how a shell reports a program killed by signal {}{name}.", code - 128)
        }
    };
    (
        format!("Command failed with exit code: {code}.{why}"),
        Some(format!("Failed with exit code: {code}")),
    )
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        1 => " (SIGHUP)",
        2 => " (SIGINT)",
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        15 => " (SIGTERM)",
        _ => "",
    }
}

/// `brief` and the last lines of the output: usually they say why.
fn with_last_lines(brief: String, output: &str) -> String {
    const LINES: usize = 3;
    const CHARS: usize = 200;
    let mut last: Vec<String> = output
        .lines()
        .rev()
        .filter(|line| !line.trim().is_empty())
        .take(LINES)
        .map(|line| line.chars().take(CHARS).collect())
        .collect();
    last.push(brief);
    last.reverse();
    last.join("\n")
}
