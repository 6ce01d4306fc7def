//! From the arguments to the end: configuration, log, runtime, front end, exit code.

use std::io::{IsTerminal, stderr, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use tokio::runtime::{Builder, Runtime};
use tracing::level_filters::LevelFilter;

use super::args::Args;
use super::outcome::{End, report, tell};
use super::plan::{self, FrontEnd, Plan, PromptFrom, Terminals, Wants};
use super::print::{self, Outputs, Prompts};
use super::{signals, subcommand};
use crate::acp;
use crate::config::{Config, ConfigSource, import_yaml};
use crate::engine::{self, Env, Host, HostOptions, SessionChoice};
use crate::error::{EXIT_FAILURE, EXIT_OK, EXIT_USAGE, user};
use crate::message::SessionId;
use crate::paths::Paths;
use crate::server;
use crate::ui::{self, UiOptions};
use crate::wire::{Command, Door};

/// How long the engine may take to write everything and leave.
const FAREWELL: Duration = Duration::from_secs(10);

/// The whole program: from the arguments of this process to its exit code.
#[must_use]
pub fn main() -> ExitCode {
    let terminals = Terminals {
        stdin: stdin().is_terminal(),
        stdout: stdout().is_terminal(),
        stderr: stderr().is_terminal(),
    };
    let is_debug = std::env::var("KIMI_DEBUG").is_ok_and(|value| is_on(&value));
    let ended = Args::try_parse().and_then(|mut args| match args.subcommand.take() {
        Some(command) => Ok(subcommand::run(command, &args)),
        None => plan::resolve(args, terminals, is_debug).map(|plan| start(plan, terminals, None)),
    });
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => {
            // Help and version come this way too. Nobody reading them is no failure.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { EXIT_USAGE } else { EXIT_OK });
        }
    };
    match ended {
        Ok(end) => {
            if let End::Failed { message, .. } = &end {
                tell(&format!("kimi-tui: {message}"));
            }
            ExitCode::from(end.code())
        }
        Err(error) => {
            tracing::error!("{error:#}");
            report(&error);
            ExitCode::from(EXIT_FAILURE)
        }
    }
}

fn is_on(value: &str) -> bool {
    !matches!(value.trim().to_ascii_lowercase().as_str(), "" | "0" | "false" | "no" | "off")
}

/// What a front end needs that brings no engine: where data lives, what is configured, and what is
/// wrong with that.
pub(super) fn prepare(flags: &Args) -> anyhow::Result<(Paths, Config, Vec<String>)> {
    let paths = Paths::from_env()?;
    let level = if flags.debug { LevelFilter::DEBUG } else { LevelFilter::INFO };
    crate::log::start(&paths.logs(), level);
    log_panics();
    check_writable(&paths.share)?;
    let loaded = Config::load(&paths, &plan::config_source(flags))?;
    Ok((paths, loaded.config, loaded.warnings))
}

/// Serves an editor, with as many sessions as it likes.
pub(super) fn acp(flags: &Args) -> anyhow::Result<End> {
    let terminals = Terminals { stdin: false, stdout: false, stderr: stderr().is_terminal() };
    let args = Args { acp: true, ..flags.clone() };
    let mut plan = plan::resolve(args, terminals, false)?;
    plan.front = FrontEnd::Acp { has_one: false };
    start(plan, terminals, None)
}

/// Plays the session `id` on the screen.
pub(super) fn replay(flags: &Args, id: SessionId) -> anyhow::Result<End> {
    let terminals = Terminals {
        stdin: stdin().is_terminal(),
        stdout: stdout().is_terminal(),
        stderr: stderr().is_terminal(),
    };
    start(plan::resolve(flags.clone(), terminals, false)?, terminals, Some(id))
}

fn start(plan: Plan, terminals: Terminals, replay: Option<SessionId>) -> anyhow::Result<End> {
    let paths = Paths::from_env()?;
    crate::log::start(&paths.logs(), plan.log_level);
    log_panics();
    let work_dir = work_dir(plan.work_dir.as_deref())?;
    check_folders("--add-dir", &plan.flags.added_dirs)?;
    check_folders("--skills-dir", &plan.flags.skill_dirs)?;
    check_writable(&paths.share)?;
    let version = env!("CARGO_PKG_VERSION");
    tracing::info!(version, work_dir = %work_dir.display(), session = ?plan.session, "started");
    let imported = match plan.config {
        ConfigSource::Default => import_yaml(&paths, home().as_deref())?,
        _ => None,
    };
    let mut loaded = Config::load(&paths, &plan.config)?;
    loaded.warnings.extend(imported);
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
        // The screen shows them itself.
        if matches!(plan.front, FrontEnd::Print { .. }) {
            tell(warning);
        }
    }
    let warnings = loaded.warnings;
    let doctor = plan::doctor(&plan.config, plan.model.as_deref());
    let host = Host::new(HostOptions {
        paths,
        config: loaded.config,
        work_dir,
        agent: plan.agent,
        model: plan.model,
        // Nobody could be asked in print mode.
        yolo: plan.yolo || matches!(plan.front, FrontEnd::Print { .. }),
        thinking: plan.thinking,
        max_steps: plan.max_steps,
        max_ralph_iterations: plan.max_ralph_iterations,
        mcp: plan.mcp,
        flags: plan.flags,
        env: Env::process(),
    })
    .reading(plan.config);
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    signals::survive_file_limits(&runtime);
    let end = match plan.front {
        FrontEnd::Screen { first_prompt, theme, screen_reader, inline } => {
            let options = UiOptions {
                session: plan.session,
                first_prompt,
                theme,
                screen_reader,
                inline,
                warnings,
                replay,
                doctor,
            };
            ui::run(std::sync::Arc::new(host), options, &runtime).map(|exit| {
                tell_how_to_resume(exit.session.as_ref());
                End::of_screen(exit.signal)
            })
        }
        FrontEnd::Print { prompt, wants } => {
            let as_messages = plan.as_messages;
            print_front(&host, &plan.session, &prompt, wants, as_messages, terminals, &runtime)
        }
        FrontEnd::Acp { has_one } => {
            let only = has_one.then_some(plan.session);
            runtime.block_on(acp_front(acp::Agent { host, only }))
        }
        FrontEnd::Daemon { reads_messages } => {
            runtime.block_on(daemon_front(&host, &plan.session, reads_messages))
        }
        FrontEnd::Wire => runtime.block_on(wire_front(&host, &plan.session)),
    };
    // What still blocks, a read for instance, must not keep the program.
    runtime.shutdown_timeout(Duration::from_secs(1));
    end
}

async fn daemon_front(
    host: &Host,
    session: &SessionChoice,
    reads_messages: bool,
) -> anyhow::Result<End> {
    let mut interrupts = signals::listen()?;
    let stop = async move {
        let _ = interrupts.recv().await;
    };
    let folder = subcommand::daemon::folder(host.paths());
    let read: server::daemon::ReadPrompt =
        if reads_messages { print::read_message } else { |line, _| Ok(line.into()) };
    let prompts = are_piped(&stdin()).then(|| (tokio::io::stdin(), read));
    let ready = |id: &str, socket: &Path| {
        tell(&format!("Session {id} on {}. Join it: kimi-tui attach {id}", socket.display()));
    };
    server::daemon::run(host, session, &folder, prompts, stop, ready).await?;
    Ok(End::Done)
}

/// Is there a pipe or a file to read from, rather than a terminal or nothing?
fn are_piped(input: &impl std::os::fd::AsFd) -> bool {
    let kind =
        rustix::fs::fstat(input).map(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode));
    matches!(
        kind,
        Ok(rustix::fs::FileType::Fifo
            | rustix::fs::FileType::RegularFile
            | rustix::fs::FileType::Socket)
    )
}

async fn acp_front(agent: acp::Agent) -> anyhow::Result<End> {
    let mut interrupts = signals::listen()?;
    let stop = async move {
        let _ = interrupts.recv().await;
    };
    acp::serve(agent, tokio::io::stdin(), tokio::io::stdout(), stop).await;
    Ok(End::Done)
}

async fn wire_front(host: &Host, session: &SessionChoice) -> anyhow::Result<End> {
    let mut interrupts = signals::listen()?;
    let stop = async move {
        let _ = interrupts.recv().await;
    };
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    server::serve(host, session, input, output, stop).await?;
    Ok(End::Done)
}

fn print_front(
    host: &Host,
    session: &SessionChoice,
    prompt: &PromptFrom,
    wants: Wants,
    as_messages: bool,
    terminals: Terminals,
    runtime: &Runtime,
) -> anyhow::Result<End> {
    let only = match prompt {
        PromptFrom::Messages => None,
        prompt => Some(plan::read_prompt(prompt, &mut stdin().lock())?),
    };
    runtime.block_on(async {
        let mut interrupts = signals::listen()?;
        // Nobody can be asked, but work in the background is waited for.
        let front = engine::FrontEnd { wants_extensions: true, ..false.into() };
        let mut door = host.open(session, front).await?;
        let (mut answer, mut notes) = (stdout(), stderr());
        print::greet(&door, &mut notes);
        let is_only = only.is_some();
        let mut prompts = Prompts::new(only);
        let mut end = End::Done;
        let seconds = host.config().background.print_wait.as_secs();
        let mut wait = (seconds > 0).then_some(Command::AwaitTasks { seconds });
        loop {
            let input = tokio::select! {
                input = prompts.next() => input?,
                Some(interrupt) = interrupts.recv() => {
                    end = End::Interrupted(interrupt);
                    None
                }
            };
            // The last thing is to wait for what still goes on in the background.
            let mut commands = Vec::from_iter(input.map(Command::Prompt));
            if end == End::Done && (is_only || commands.is_empty()) {
                commands.extend(wait.take());
            }
            if commands.is_empty() {
                break;
            }
            let outputs = Outputs {
                answer: &mut answer,
                answer_is_terminal: terminals.stdout,
                as_messages,
                notes: &mut notes,
            };
            end = print::run(&mut door, commands, wants, outputs, &mut interrupts).await;
            if end != End::Done {
                break;
            }
        }
        let session = leave(door).await;
        if wants.progress || !wants.final_only {
            tell_how_to_resume(session.as_ref());
        }
        Ok(end)
    })
}

/// Lets the engine write everything; gives the session's id if there is something to come back to.
async fn leave(mut door: Door) -> Option<SessionId> {
    let info = door.info.clone();
    if door.commands.send(Command::Shutdown).is_ok() {
        let until_closed = async { while door.messages.recv().await.is_some() {} };
        if tokio::time::timeout(FAREWELL, until_closed).await.is_err() {
            tracing::warn!("the engine did not end in time");
        }
    }
    // An empty session is removed when it is left.
    info.id.clone().filter(|_| info.session_dir.is_dir())
}

fn tell_how_to_resume(session: Option<&SessionId>) {
    if let Some(id) = session {
        tell(&format!("To resume this session: kimi-tui -r {id}"));
    }
}

/// The folder the agent works in: absolute, without links, as sessions are found by it.
pub(super) fn work_dir(flag: Option<&Path>) -> anyhow::Result<PathBuf> {
    let Some(folder) = flag else {
        return std::env::current_dir().and_then(|dir| dir.canonicalize()).map_err(|error| {
            user(
                format!("The folder this was started in is gone or closed to you ({error})."),
                "Change to another folder, or pass one with --work-dir.",
            )
        });
    };
    let shown = folder.display();
    let advice = "Check the path given with --work-dir.";
    let absolute = folder.canonicalize().map_err(|error| {
        user(format!("The work folder {shown} cannot be used ({error})."), advice)
    })?;
    if !absolute.is_dir() {
        return Err(user(format!("The work folder {shown} is not a folder."), advice));
    }
    Ok(absolute)
}

/// A folder that is not there would be left out, and nobody would know.
fn check_folders(flag: &str, folders: &[PathBuf]) -> anyhow::Result<()> {
    match folders.iter().find(|folder| !folder.is_dir()) {
        None => Ok(()),
        Some(folder) => Err(user(
            format!("There is no folder {}.", folder.display()),
            format!("Check the path given with {flag}."),
        )),
    }
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// Sessions are written while they run: better to hear now that they cannot be.
fn check_writable(share: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(share).and_then(|()| tempfile::tempfile_in(share)).map(drop).map_err(
        |error| {
            user(
                format!("The data folder {} cannot be written ({error}).", share.display()),
                "Make it writable, or set KIMI_SHARE_DIR to another folder.",
            )
        },
    )
}

/// A panic goes to the log too: the screen may be gone before anybody reads it.
fn log_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        tracing::error!("{info}");
        before(info);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_folder_must_be_one() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("file");
        std::fs::write(&file, "x").expect("file");
        let gone = folder.path().join("gone");
        let told = |path: &Path| work_dir(Some(path)).expect_err("no folder").to_string();
        assert!(told(&file).contains("is not a folder"), "{}", told(&file));
        assert!(told(&gone).contains("gone cannot be used"), "{}", told(&gone));
        let dotted = folder.path().join("gone/..");
        assert!(work_dir(Some(&dotted)).is_err());
        let real = folder.path().canonicalize().expect("real");
        assert_eq!(work_dir(Some(&folder.path().join("."))).expect("a folder"), real);
    }

    #[test]
    fn folders_that_are_not_there_are_told_with_their_flag() {
        let folder = tempfile::tempdir().expect("folder");
        let here = folder.path().to_owned();
        let gone = folder.path().join("gone");
        check_folders("--add-dir", std::slice::from_ref(&here)).expect("it is there");
        let told = check_folders("--add-dir", &[here, gone]).expect_err("gone").to_string();
        assert!(told.contains("gone") && told.contains("--add-dir"), "{told}");
    }

    #[test]
    fn a_data_folder_is_made_and_tried() {
        let folder = tempfile::tempdir().expect("folder");
        let share = folder.path().join("new/share");
        check_writable(&share).expect("writable");
        assert_eq!(std::fs::read_dir(&share).expect("made").count(), 0);
        let in_the_way = folder.path().join("file");
        std::fs::write(&in_the_way, "x").expect("file");
        let told = check_writable(&in_the_way.join("share")).expect_err("a file").to_string();
        assert!(told.contains("KIMI_SHARE_DIR"), "{told}");
    }

    #[test]
    fn debug_is_switched_by_what_people_write() {
        for (value, on) in [("1", true), ("true", true), ("0", false), ("", false), ("off", false)]
        {
            assert_eq!(is_on(value), on, "{value}");
        }
    }
}
