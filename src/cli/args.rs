//! The flags as they are typed. What they mean together is decided in `plan`.

use std::path::PathBuf;

use clap::{ArgAction, Parser, ValueEnum};

use super::subcommand;

const EXAMPLES: &str = "\
Examples:
  kimi-tui                              open the screen; the demo model answers if none is set up
  kimi-tui 'explain src/main.rs'        the same, with a first prompt
  kimi-tui -C                           go on with the last session of this folder
  kimi-tui -r 7c2e1f00                  open a session by its id, or the beginning of it
  kimi-tui --print -p 'list the todos'  no screen: the answer goes to standard output
  git diff | kimi-tui --print           the prompt comes from standard input

Environment:
  KIMI_API_KEY, KIMI_BASE_URL, KIMI_MODEL_NAME   the model, without any configuration
  OPENAI_API_KEY, OPENAI_BASE_URL                for providers that speak OpenAI's protocol
  KIMI_SHARE_DIR                                 where data lives instead of ~/.kimi
  KIMI_DEBUG=1                                   log details, as --debug

Exit codes: 0 done, 1 failed, 2 wrong arguments, 75 failed but worth trying again, 130 interrupted.";

/// A coding agent on a full screen.
#[derive(Debug, Clone, Parser)]
#[command(name = "kimi-tui", version, about, after_help = EXAMPLES, max_term_width = 100)]
pub(super) struct Args {
    /// Something to do instead of opening the screen. A prompt that begins with such a word: -p TEXT
    #[command(subcommand)]
    pub(super) subcommand: Option<subcommand::Command>,

    /// The first thing to tell the agent
    #[arg(value_name = "PROMPT", conflicts_with = "prompt")]
    pub(super) words: Option<String>,

    /// The same as PROMPT
    #[arg(short, long, value_name = "TEXT")]
    pub(super) prompt: Option<String>,

    /// With TEXT: the same as --prompt. Without: the same as --continue
    #[arg(short = 'c', long, value_name = "TEXT", num_args = 0..=1, default_missing_value = "")]
    pub(super) command: Option<String>,

    /// Go on with the last session of this folder
    #[arg(short = 'C', long = "continue", conflicts_with = "session")]
    pub(super) is_continue: bool,

    /// Open the session with this id (or its beginning); an unknown id begins a session with it.
    /// Without ID: choose one on the screen
    #[arg(
        short = 'S',
        long,
        value_name = "ID",
        num_args = 0..=1,
        default_missing_value = "",
        short_alias = 'r',
        visible_short_alias = 'r',
        visible_alias = "resume"
    )]
    pub(super) session: Option<String>,

    /// The model: a key of [models] in the configuration, or a model's own name
    #[arg(short, long, value_name = "NAME")]
    pub(super) model: Option<String>,

    /// Where the agent works [default: this folder]
    #[arg(short, long, value_name = "FOLDER")]
    pub(super) work_dir: Option<PathBuf>,

    /// Read this configuration instead of config.toml (JSON if it ends in .json)
    #[arg(long, value_name = "FILE", conflicts_with = "config")]
    pub(super) config_file: Option<PathBuf>,

    /// Use this configuration instead: TOML or JSON text
    #[arg(long, value_name = "TEXT")]
    pub(super) config: Option<String>,

    /// The agent: default, okabe, or one from the agents folder
    #[arg(short, long, value_name = "NAME", conflicts_with = "agent_file")]
    pub(super) agent: Option<String>,

    /// The agent, from this file
    #[arg(long, value_name = "FILE")]
    pub(super) agent_file: Option<PathBuf>,

    /// Take the MCP servers from this file instead of mcp.json; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(super) mcp_config_file: Vec<PathBuf>,

    /// Add the MCP servers in this JSON text; may be given several times
    #[arg(long, value_name = "JSON")]
    pub(super) mcp_config: Vec<String>,

    /// Approve everything the agent wants to do, without asking
    #[arg(short, long, visible_aliases = ["yes", "auto-approve"])]
    pub(super) yolo: bool,

    /// No screen: answer the prompt on standard output, approve everything, and end
    #[arg(long)]
    pub(super) print: bool,

    /// No screen: speak the wire protocol, JSON-RPC by lines, on standard input and output
    #[arg(long, conflicts_with_all = ["print", "quiet"])]
    pub(super) wire: bool,

    /// No screen: keep the session on a socket that `kimi-tui attach` joins; prompts that are piped
    /// in are taken one a line
    #[arg(short, long, conflicts_with_all = ["print", "quiet", "wire"])]
    pub(super) daemon: bool,

    /// No screen: serve an editor over the Agent Client Protocol, one session at a time (kimi-tui acp
    /// serves many)
    #[arg(long, conflicts_with_all = ["print", "quiet", "wire", "daemon"])]
    pub(super) acp: bool,

    /// With --print or --daemon: what comes on standard input; stream-json is one user message a
    /// line, to the end
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(super) input_format: Option<Format>,

    /// With --print: what goes to standard output; stream-json is one message a line
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(super) output_format: Option<Format>,

    /// A further folder of the workspace; may be given several times
    #[arg(long, value_name = "FOLDER")]
    pub(super) add_dir: Vec<PathBuf>,

    /// Look for skills here instead of in the project's and your own folders; may be given several
    /// times
    #[arg(long, value_name = "FOLDER")]
    pub(super) skills_dir: Vec<PathBuf>,

    /// Begin in plan mode: nothing is changed until the plan is approved
    #[arg(long)]
    pub(super) plan: bool,

    /// You are away: nothing is asked, everything is approved
    #[arg(long)]
    pub(super) afk: bool,

    /// Try a model call at most this many times before it counts as failed
    #[arg(long, value_name = "N")]
    pub(super) max_retries_per_step: Option<u64>,

    /// With --print: only the last answer
    #[arg(long)]
    pub(super) final_message_only: bool,

    /// The same as --print --final-message-only, without notes on standard error
    #[arg(long, conflicts_with = "verbose")]
    pub(super) quiet: bool,

    /// With --print: tell on standard error what the tools do, even when that is no terminal
    #[arg(long)]
    pub(super) verbose: bool,

    /// Stop a turn after this many steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) max_steps_per_turn: Option<u64>,

    /// Give the model the same prompt again until it says that all is done, at most this many
    /// times; -1 for endless
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(i64).range(-1..)
    )]
    pub(super) max_ralph_iterations: Option<i64>,

    /// The theme: auto (as the terminal is), dark, light, or one from the themes folder
    #[arg(long, value_name = "NAME")]
    pub(super) theme: Option<String>,

    /// Say everything once, in plain lines for a screen reader, instead of drawing a screen
    #[arg(long)]
    pub(super) screen_reader: bool,

    /// Let the conversation go into the shell's own scrollback, with the composer below it
    #[arg(long, conflicts_with = "screen_reader")]
    pub(super) inline: bool,

    /// Let the model think, if it can
    #[arg(long, overrides_with = "no_thinking")]
    pub(super) thinking: bool,

    /// Let it answer without thinking, if it can
    #[arg(long, overrides_with = "thinking")]
    pub(super) no_thinking: bool,

    /// Log details (the files are in the logs folder, never on the screen)
    #[arg(long)]
    pub(super) debug: bool,

    /// How much to log
    #[arg(long, value_name = "LEVEL", value_enum, action = ArgAction::Set)]
    pub(super) log_level: Option<LogLevel>,
}

/// What print mode reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Format {
    /// Text for a person.
    #[default]
    Text,
    /// A JSON object a line.
    StreamJson,
}

/// How much to log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum LogLevel {
    Error,
    #[value(alias = "warning")]
    Warn,
    Info,
    Debug,
    Trace,
}
