//! What can be configured, with upstream's names and defaults (`kimi-cli` `config.py:26-264`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::hooks::HookConfig;
use super::{
    BackgroundConfig, McpConfig, NetworkConfig, OauthConfig, Price, SnapshotConfig, WebConfig,
    without_login,
};
use crate::permission::Rule;

/// Everything in `config.toml` that this program uses. What it does not know it leaves alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// Key of the model in `models`; empty when none was chosen.
    pub default_model: String,
    /// Should models that can think do so?
    pub default_thinking: bool,
    /// Are all actions approved unasked?
    pub default_yolo: bool,
    /// Do sessions begin in plan mode?
    pub default_plan_mode: bool,
    /// The external editor's command; empty for `$VISUAL` or `$EDITOR`.
    pub default_editor: String,
    /// Name of the theme: one of ours (`dark`, `light`, `ansi`, `contrast`, `clear`, `harbour`,
    /// `ember`, `paper`), or a file in the themes folder.
    pub theme: String,
    /// Is thinking shown while it streams?
    pub show_thinking_stream: bool,
    /// Models by key.
    pub models: BTreeMap<String, ModelConfig>,
    /// Providers by key.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// Limits of the loop.
    pub loop_control: LoopControl,
    /// How a context that is too long is made shorter.
    pub compaction: CompactionConfig,
    /// Limits of background tasks and subagents.
    pub background: BackgroundConfig,
    /// What is kept so that files can be taken back.
    pub snapshots: SnapshotConfig,
    /// What may be done unasked, what is asked about, what is never done (`[[permission.rules]]`).
    pub permission_rules: Vec<Rule>,
    /// Commands that are run at certain events.
    pub hooks: Vec<HookConfig>,
    /// Are the skills folders of all programs used, or only the first there is?
    pub merge_all_available_skills: bool,
    /// Further folders with skills.
    pub extra_skill_dirs: Vec<String>,
    /// Is the model left untold that the person is away (`/afk`)?
    pub skip_afk_prompt_injection: bool,
    /// How servers are reached.
    pub network: NetworkConfig,
    /// How tools reach the web.
    pub web: WebConfig,
    /// MCP servers (`[mcp.client]`).
    pub mcp: McpConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            default_model: String::new(),
            default_thinking: false,
            default_yolo: false,
            default_plan_mode: false,
            default_editor: String::new(),
            theme: "dark".to_owned(),
            show_thinking_stream: true,
            models: BTreeMap::new(),
            providers: BTreeMap::new(),
            loop_control: LoopControl::default(),
            compaction: CompactionConfig::default(),
            background: BackgroundConfig::default(),
            snapshots: SnapshotConfig::default(),
            permission_rules: Vec::new(),
            hooks: Vec::new(),
            merge_all_available_skills: true,
            extra_skill_dirs: Vec::new(),
            skip_afk_prompt_injection: false,
            network: NetworkConfig::default(),
            web: WebConfig::default(),
            mcp: McpConfig::default(),
        }
    }
}

/// How a provider is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    /// Kimi: chat completions with thinking and prompt caching.
    Kimi,
    /// Any server that speaks OpenAI's chat completions.
    OpenaiLegacy,
    /// OpenAI's responses.
    OpenaiResponses,
    /// Anthropic's messages.
    Anthropic,
    /// Google's Gemini.
    #[serde(alias = "gemini")]
    GoogleGenai,
    /// Gemini on Vertex AI.
    Vertexai,
    /// Answers with the script that the last user message is.
    #[serde(rename = "_echo")]
    Echo,
    /// Answers from a script file; tests use it.
    #[serde(rename = "_scripted_echo")]
    ScriptedEcho,
    /// Random faults.
    #[serde(rename = "_chaos")]
    Chaos,
}

/// One provider.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct ProviderConfig {
    /// How it is spoken to.
    #[serde(rename = "type")]
    pub kind: ProviderKind,
    /// Where it is.
    #[serde(default)]
    pub base_url: String,
    /// The key; a secret.
    #[serde(default)]
    pub api_key: String,
    /// Variables for the provider itself (`_scripted_echo`, `vertexai`).
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Headers of every request.
    #[serde(default)]
    pub custom_headers: BTreeMap<String, String>,
    /// The field thinking comes in and goes back in; empty: it does not go back.
    #[serde(default)]
    pub reasoning_key: Option<String>,
    /// How it is logged in to, where it is not given a key.
    #[serde(default)]
    pub oauth: Option<Box<OauthConfig>>,
}

// By hand: a key must never reach a log.
impl std::fmt::Debug for ProviderConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderConfig")
            .field("kind", &self.kind)
            .field("base_url", &without_login(&self.base_url))
            .field("has_api_key", &!self.api_key.is_empty())
            .finish_non_exhaustive()
    }
}

/// What a model can do beyond text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// It takes pictures.
    ImageIn,
    /// It takes films.
    VideoIn,
    /// It can think.
    Thinking,
    /// It always thinks.
    AlwaysThinking,
}

impl Capability {
    /// Its name in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ImageIn => "image_in",
            Self::VideoIn => "video_in",
            Self::Thinking => "thinking",
            Self::AlwaysThinking => "always_thinking",
        }
    }
}

/// One model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelConfig {
    /// Key of its provider in `providers`.
    pub provider: String,
    /// Its name at the provider.
    pub model: String,
    /// Size of its context window, in tokens.
    pub max_context_size: u64,
    /// What it can do; derived from its name when absent.
    #[serde(default)]
    pub capabilities: Option<Vec<Capability>>,
    /// Its name for a person.
    #[serde(default)]
    pub display_name: Option<String>,
    /// Tokens an answer may have at most; the provider's own limit when absent.
    #[serde(default)]
    pub max_output_tokens: Option<u64>,
    /// What its tokens cost.
    #[serde(default)]
    pub price: Option<Price>,
}

/// Limits of the loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopControl {
    /// Steps in one turn, at most.
    #[serde(alias = "max_steps_per_run")]
    pub max_steps_per_turn: u64,
    /// Attempts of one model call, at most.
    pub max_retries_per_step: u64,
    /// Extra rounds of the ralph loop; -1 for endless.
    pub max_ralph_iterations: i64,
    /// Tokens of the window kept free: the context is compacted before they are used.
    pub reserved_context_size: u64,
    /// Part of the window, 0.5 to 0.99, at which the context is compacted.
    pub compaction_trigger_ratio: f64,
}

impl Default for LoopControl {
    fn default() -> Self {
        Self {
            max_steps_per_turn: 1000,
            max_retries_per_step: 3,
            max_ralph_iterations: 0,
            reserved_context_size: 50_000,
            compaction_trigger_ratio: 0.85,
        }
    }
}

/// How a context that is too long is made shorter (KLIP-13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CompactionConfig {
    /// What is tried.
    pub strategy: CompactionStrategyKind,
    /// What is done instead when that fails; none: the failure ends the turn.
    pub fallback: Option<CompactionStrategyKind>,
}

/// A way to make a context shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionStrategyKind {
    /// The model summarises the older part.
    #[default]
    LlmSummary,
    /// Results of older tool calls are replaced by a placeholder.
    HideToolResults,
    /// That, or a summary when there is nothing to hide.
    HideThenSummary,
    /// The older part is cut off.
    Truncate,
}

impl CompactionStrategyKind {
    /// All of them, by name.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("llm_summary", Self::LlmSummary),
        ("hide_tool_results", Self::HideToolResults),
        ("hide_then_summary", Self::HideThenSummary),
        ("truncate", Self::Truncate),
    ];

    /// Its name in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LlmSummary => "llm_summary",
            Self::HideToolResults => "hide_tool_results",
            Self::HideThenSummary => "hide_then_summary",
            Self::Truncate => "truncate",
        }
    }

    /// The strategy called `name`, by its name here or by the import path KLIP-13 gives it.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        if let Some((_, kind)) = Self::NAMES.iter().find(|(known, _)| *known == name) {
            return Some(*kind);
        }
        match name.strip_prefix("kimi_cli.soul.compaction:")? {
            "LLMSummaryCompaction" | "SimpleCompaction" => Some(Self::LlmSummary),
            "ToolResultHidingCompaction" => Some(Self::HideToolResults),
            "HidingThenSummaryCompaction" => Some(Self::HideThenSummary),
            "FallbackCompaction" => Some(Self::Truncate),
            _ => None,
        }
    }
}

/// The model a session talks to: configuration, environment and flags put together.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedModel {
    /// Its key in the configuration, or its name when it comes from the environment.
    pub key: String,
    /// Its name at the provider.
    pub model: String,
    /// Its name for a person.
    pub display_name: String,
    /// Size of its context window, in tokens.
    pub max_context_size: u64,
    /// What it can do.
    pub capabilities: Vec<Capability>,
    /// Should it think?
    pub thinking: bool,
    /// Its provider, environment applied.
    pub provider: ProviderConfig,
    /// Tokens an answer may have at most.
    pub max_output_tokens: Option<u64>,
    /// What its tokens cost.
    pub price: Option<Price>,
    /// How its server is reached.
    pub network: NetworkConfig,
}

impl ResolvedModel {
    /// The same model, thinking or not as `choice` says (`--thinking`, `--no-thinking`) as far as it
    /// can: one that always thinks does, one that cannot does not.
    #[must_use]
    pub fn with_thinking(mut self, choice: Option<bool>) -> Self {
        if let Some(choice) = choice {
            let can = |capability| self.capabilities.contains(&capability);
            self.thinking =
                can(Capability::AlwaysThinking) || (choice && can(Capability::Thinking));
        }
        self
    }
}
