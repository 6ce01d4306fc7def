//! What the flags mean together: what to open, how, and on which front end.

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;

use clap::CommandFactory;
use clap::error::ErrorKind;
use tracing::level_filters::LevelFilter;

use super::args::{Args, Format, LogLevel};
use crate::agent::AgentChoice;
use crate::config::ConfigSource;
use crate::engine::{SessionChoice, SessionFlags};
use crate::mcp::McpSources;
use crate::message::SessionId;

/// Everything the flags say.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    pub(super) front: FrontEnd,
    pub(super) session: SessionChoice,
    pub(super) work_dir: Option<PathBuf>,
    pub(super) config: ConfigSource,
    pub(super) agent: AgentChoice,
    pub(super) model: Option<String>,
    pub(super) yolo: bool,
    pub(super) thinking: Option<bool>,
    pub(super) max_steps: Option<u64>,
    pub(super) max_ralph_iterations: Option<i64>,
    pub(super) mcp: McpSources,
    pub(super) flags: SessionFlags,
    /// Does print mode write messages rather than text?
    pub(super) as_messages: bool,
    pub(super) log_level: LevelFilter,
}

/// Which front end answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FrontEnd {
    Screen {
        first_prompt: Option<String>,
        theme: Option<String>,
        screen_reader: bool,
        inline: bool,
    },
    Print {
        prompt: PromptFrom,
        wants: Wants,
    },
    Wire,
    Daemon {
        /// Are the prompts on standard input messages rather than text?
        reads_messages: bool,
    },
    /// For an editor; one session at a time, or many.
    Acp {
        has_one: bool,
    },
}

/// Where print mode's prompt is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PromptFrom {
    Arguments(String),
    Stdin,
    /// Standard input has messages, one a line, which are done one after the other.
    Messages,
}

/// How much print mode tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wants {
    /// Of the answers, only the last one.
    pub(super) final_only: bool,
    /// Progress on standard error.
    pub(super) progress: bool,
}

/// Which of the program's streams are terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Terminals {
    pub(super) stdin: bool,
    pub(super) stdout: bool,
    pub(super) stderr: bool,
}

/// The plan of `args`.
pub(super) fn resolve(
    args: Args,
    terminals: Terminals,
    is_debug: bool,
) -> Result<Plan, clap::Error> {
    let config = config_source(&args);
    let mcp = mcp_sources(&args);
    // A bare `-c` continues, as other programs have it; with a text it is upstream's prompt.
    let is_continue = args.is_continue || args.command.as_deref() == Some("");
    if is_continue && args.session.is_some() {
        return Err(usage("--continue and --session cannot be used together: choose one"));
    }
    let session = match args.session.as_deref().map(str::trim) {
        Some("") => SessionChoice::New,
        Some(id) => SessionChoice::Id(session_id(id)?),
        None if is_continue => SessionChoice::Continue,
        None => SessionChoice::New,
    };
    let mut prompts = [args.words, args.prompt, args.command]
        .into_iter()
        .flatten()
        .filter(|text| !text.trim().is_empty());
    let prompt = prompts.next();
    if prompts.next().is_some() {
        return Err(usage("there are two prompts: give one of PROMPT, --prompt and --command"));
    }
    // A flag that would be read and have no effect is refused, whatever the front end.
    let prints = args.print || args.quiet;
    if !prints && args.output_format.is_some() {
        return Err(usage("--output-format belongs to --print: give it too"));
    }
    if !prints && !args.daemon && args.input_format.is_some() {
        return Err(usage("--input-format belongs to --print and --daemon: give one of them too"));
    }
    if !prints && args.final_message_only {
        return Err(usage("--final-message-only belongs to --print: give both"));
    }
    let reads_messages = args.input_format == Some(Format::StreamJson);
    let picks = args.session.as_deref().is_some_and(|id| id.trim().is_empty());
    let front = if args.wire {
        if prompt.is_some() {
            return Err(usage("--wire takes its prompts from the client: give none"));
        }
        FrontEnd::Wire
    } else if args.daemon {
        if prompt.is_some() {
            return Err(usage("--daemon takes its prompts from viewers, or piped in: give none"));
        }
        FrontEnd::Daemon { reads_messages }
    } else if args.acp {
        if prompt.is_some() {
            return Err(usage("--acp takes its prompts from the editor: give none"));
        }
        FrontEnd::Acp { has_one: true }
    } else if args.print || args.quiet {
        let wants = Wants {
            final_only: args.final_message_only || args.quiet,
            progress: !args.quiet && (args.verbose || terminals.stderr),
        };
        let prompt = match prompt {
            Some(_) if reads_messages => {
                return Err(usage(
                    "--input-format stream-json takes its prompts from standard input: give none",
                ));
            }
            Some(text) => PromptFrom::Arguments(text),
            None if reads_messages => PromptFrom::Messages,
            None if terminals.stdin => {
                return Err(usage(
                    "--print needs a prompt: give one with -p TEXT, or on standard input",
                ));
            }
            None => PromptFrom::Stdin,
        };
        FrontEnd::Print { prompt, wants }
    } else {
        screen(prompt, args.theme, (args.screen_reader, args.inline), terminals)?
    };
    let front = match front {
        FrontEnd::Screen { first_prompt, theme, screen_reader, inline } if picks => {
            // The command that lists them, carried out by the screen itself.
            let first_prompt = first_prompt.or_else(|| Some("/sessions".to_owned()));
            FrontEnd::Screen { first_prompt, theme, screen_reader, inline }
        }
        _ if picks => return Err(usage("without a screen --session needs the id of one: give it")),
        front => front,
    };
    let is_debug = args.debug || is_debug;
    Ok(Plan {
        front,
        session,
        work_dir: args.work_dir,
        config,
        agent: match (args.agent_file, args.agent) {
            (Some(file), _) => AgentChoice::File(file),
            (None, name) => AgentChoice::Named(name.unwrap_or_else(|| "default".to_owned())),
        },
        model: args.model,
        yolo: args.yolo,
        thinking: match (args.thinking, args.no_thinking) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            (false, false) => None,
        },
        max_steps: args.max_steps_per_turn,
        max_ralph_iterations: args.max_ralph_iterations,
        as_messages: args.output_format == Some(Format::StreamJson),
        flags: SessionFlags {
            added_dirs: args.add_dir,
            skill_dirs: args.skills_dir,
            plan: args.plan,
            afk: args.afk,
            max_retries: args.max_retries_per_step,
        },
        mcp,
        log_level: match args.log_level {
            Some(level) => level.into(),
            None if is_debug => LevelFilter::DEBUG,
            None => LevelFilter::INFO,
        },
    })
}

/// Which configuration is meant.
pub(super) fn config_source(args: &Args) -> ConfigSource {
    match (&args.config_file, &args.config) {
        (Some(file), _) => ConfigSource::File(file.clone()),
        (None, Some(text)) => ConfigSource::Inline(text.clone()),
        (None, None) => ConfigSource::Default,
    }
}

/// What `kimi-tui` is called with to look at what this run goes by.
pub(super) fn doctor(config: &ConfigSource, model: Option<&str>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = match config {
        ConfigSource::File(file) => vec!["--config-file".into(), file.into()],
        ConfigSource::Inline(text) => vec!["--config".into(), text.into()],
        ConfigSource::Default => Vec::new(),
    };
    arguments.extend(model.map(|model| ["--model".into(), model.into()]).into_iter().flatten());
    arguments.push("doctor".into());
    arguments
}

/// Where MCP servers come from.
pub(super) fn mcp_sources(args: &Args) -> McpSources {
    let (files, inline) = (args.mcp_config_file.clone(), args.mcp_config.clone());
    McpSources { files, inline, only: None }
}

fn screen(
    first_prompt: Option<String>,
    theme: Option<String>,
    (screen_reader, inline): (bool, bool),
    terminals: Terminals,
) -> Result<FrontEnd, clap::Error> {
    if terminals.stdin && terminals.stdout {
        return Ok(FrontEnd::Screen { first_prompt, theme, screen_reader, inline });
    }
    let which = if terminals.stdout { "Standard input" } else { "Standard output" };
    Err(usage(&format!(
        "{which} is not a terminal, so there can be no screen: \
         use --print (with -p TEXT, or the prompt on standard input)"
    )))
}

/// An id becomes the name of a folder: it must not lead out of its parent.
fn session_id(id: &str) -> Result<SessionId, clap::Error> {
    let is_name = !id.is_empty()
        && id.len() <= 128
        && !id.starts_with('.')
        && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if is_name {
        return Ok(SessionId(id.to_owned()));
    }
    Err(usage("a session's id has letters, digits, '-', '_' and '.' only: see --session in --help"))
}

fn usage(message: &str) -> clap::Error {
    Args::command().error(ErrorKind::ArgumentConflict, message)
}

/// The prompt of print mode, read to its end from `stdin` where it comes from there.
pub(super) fn read_prompt(from: &PromptFrom, stdin: &mut dyn Read) -> anyhow::Result<String> {
    let PromptFrom::Arguments(text) = from else {
        let mut bytes = Vec::new();
        stdin.read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        if text.is_empty() {
            return Err(crate::error::user(
                "Standard input is empty, so there is no prompt.",
                "Give one with -p TEXT, or pipe it in.",
            ));
        }
        return Ok(text);
    };
    Ok(text.clone())
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Trace => Self::TRACE,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    const ALL: Terminals = Terminals { stdin: true, stdout: true, stderr: true };
    const NONE: Terminals = Terminals { stdin: false, stdout: false, stderr: false };

    fn plan(args: &[&str], terminals: Terminals) -> Result<Plan, String> {
        Args::try_parse_from(std::iter::once(&"kimi-tui").chain(args))
            .and_then(|args| resolve(args, terminals, false))
            .map_err(|error| error.to_string())
    }

    fn on_screen(args: &[&str]) -> Plan {
        plan(args, ALL).expect("a plan")
    }

    fn first_prompt(args: &[&str]) -> Option<String> {
        match on_screen(args).front {
            FrontEnd::Screen { first_prompt, .. } => first_prompt,
            _ => panic!("not the screen"),
        }
    }

    #[test]
    fn the_flags_are_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn a_prompt_has_four_spellings() {
        for args in [&["do it"][..], &["-p", "do it"], &["-c", "do it"], &["--command=do it"]] {
            assert_eq!(first_prompt(args), Some("do it".to_owned()), "{args:?}");
            assert_eq!(on_screen(args).session, SessionChoice::New, "{args:?}");
        }
        assert_eq!(first_prompt(&[]), None);
    }

    #[test]
    fn to_continue_has_three_spellings() {
        for args in [&["-C"][..], &["--continue"], &["-c"], &["-c", "-y"]] {
            assert_eq!(on_screen(args).session, SessionChoice::Continue, "{args:?}");
        }
        for args in [&["-C", "and now"][..], &["-c", "-p", "and now"]] {
            assert_eq!(on_screen(args).session, SessionChoice::Continue, "{args:?}");
            assert_eq!(first_prompt(args), Some("and now".to_owned()), "{args:?}");
        }
    }

    #[test]
    fn a_session_has_four_spellings() {
        for flag in ["-S", "-r", "--session", "--resume"] {
            let id = SessionChoice::Id(SessionId("7c2e".to_owned()));
            assert_eq!(on_screen(&[flag, "7c2e"]).session, id, "{flag}");
        }
    }

    #[test]
    fn conflicts_are_told() {
        for (args, words) in [
            (&["-C", "-S", "x"][..], "cannot be used with"),
            (&["-c", "-S", "x"], "--continue and --session cannot be used together"),
            (&["a", "-p", "b"], "cannot be used with"),
            (&["-p", "a", "-c", "b"], "there are two prompts"),
            (&["--agent", "a", "--agent-file", "b"], "cannot be used with"),
            (&["--config", "a", "--config-file", "b"], "cannot be used with"),
            (&["--max-steps-per-turn", "0"], "0 is not in 1.."),
            (&["--print"], "--print needs a prompt"),
            (&["--final-message-only"], "belongs to --print"),
            (&["--wire", "--final-message-only"], "belongs to --print"),
            (&["--wire", "--output-format", "stream-json"], "belongs to --print"),
            (&["--daemon", "--output-format", "stream-json"], "belongs to --print"),
            (&["--wire", "--input-format", "stream-json"], "belongs to --print and --daemon"),
            (&["-r", "../../etc"], "a session's id has letters"),
            (&["-r", ".."], "a session's id has letters"),
            (&["--log-level", "loud"], "invalid value 'loud'"),
        ] {
            let error = plan(args, ALL).expect_err("a conflict");
            assert!(error.contains(words), "{args:?}: {error}");
        }
    }

    #[test]
    fn without_a_terminal_print_mode_is_pointed_out() {
        let error = plan(&["hello"], NONE).expect_err("no screen");
        assert!(error.contains("Standard output is not a terminal"), "{error}");
        assert!(error.contains("--print"), "{error}");
        let error = plan(&[], Terminals { stdin: false, ..ALL }).expect_err("no screen");
        assert!(error.contains("Standard input is not a terminal"), "{error}");
    }

    #[test]
    fn print_mode_takes_its_prompt_from_flags_or_from_stdin() {
        let front = |args: &[&str], terminals| plan(args, terminals).expect("a plan").front;
        let wants = Wants { final_only: false, progress: false };
        let given = PromptFrom::Arguments("hi".to_owned());
        assert_eq!(
            front(&["--print", "-p", "hi"], NONE),
            FrontEnd::Print { prompt: given.clone(), wants }
        );
        assert_eq!(front(&["--print"], NONE), FrontEnd::Print { prompt: PromptFrom::Stdin, wants });
        let quiet = Wants { final_only: true, progress: false };
        assert_eq!(front(&["--quiet", "hi"], ALL), FrontEnd::Print { prompt: given, wants: quiet });

        let read = |text: &str| read_prompt(&PromptFrom::Stdin, &mut text.as_bytes());
        assert_eq!(read(" a\nb \n").expect("a prompt"), "a\nb");
        assert!(read(" \n").is_err());
    }

    #[test]
    fn a_session_without_an_id_is_chosen_on_the_screen() {
        for args in [&["-S"][..], &["--resume"], &["-r", ""]] {
            assert_eq!(on_screen(args).session, SessionChoice::New, "{args:?}");
            assert_eq!(first_prompt(args), Some("/sessions".to_owned()), "{args:?}");
        }
        let error = plan(&["--print", "-p", "x", "-S"], ALL).expect_err("no screen");
        assert!(error.contains("needs the id"), "{error}");
    }

    #[test]
    fn what_a_session_begins_with_is_told_on() {
        let args = ["--add-dir", "a", "--add-dir", "b", "--plan", "--max-retries-per-step", "7"];
        let flags = on_screen(&args).flags;
        assert_eq!(flags.added_dirs, [PathBuf::from("a"), PathBuf::from("b")]);
        assert!(flags.plan && !flags.afk);
        assert_eq!(flags.max_retries, Some(7));
        let flags = on_screen(&["--afk", "--skills-dir", "s"]).flags;
        assert!(flags.afk && flags.skill_dirs == [PathBuf::from("s")]);
    }

    #[test]
    fn formats_belong_to_print_mode() {
        let messages = ["--print", "--input-format", "stream-json"];
        let planned = plan(&messages, NONE).expect("a plan");
        assert!(matches!(planned.front, FrontEnd::Print { prompt: PromptFrom::Messages, .. }));
        assert!(!planned.as_messages);
        let daemon = plan(&["--daemon", "--input-format", "stream-json"], NONE).expect("a plan");
        assert_eq!(daemon.front, FrontEnd::Daemon { reads_messages: true });
        let out = plan(&["--quiet", "--output-format=stream-json", "x"], NONE).expect("a plan");
        assert!(out.as_messages);
        for args in
            [&["--output-format", "text"][..], &["--print", "x", "--input-format=stream-json"]]
        {
            plan(args, ALL).expect_err("a conflict");
        }
    }

    #[test]
    fn thinking_and_logging_are_three_way() {
        assert_eq!(on_screen(&[]).thinking, None);
        assert_eq!(on_screen(&["--thinking"]).thinking, Some(true));
        assert_eq!(on_screen(&["--thinking", "--no-thinking"]).thinking, Some(false));
        assert_eq!(on_screen(&[]).log_level, LevelFilter::INFO);
        assert_eq!(on_screen(&["--debug"]).log_level, LevelFilter::DEBUG);
        assert_eq!(on_screen(&["--debug", "--log-level", "warn"]).log_level, LevelFilter::WARN);
    }

    #[test]
    fn every_option_is_documented() {
        let page = include_str!("../../docs/cli.md");
        for option in Args::command().get_arguments() {
            let names = option.get_long_and_visible_aliases().unwrap_or_default();
            for name in names {
                assert!(page.contains(&format!("--{name}")), "--{name}");
            }
        }
    }
}
