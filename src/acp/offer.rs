//! What is offered to the editor: what the agent can do, how to log in, modes, options, models.

use agent_client_protocol_schema::{ProtocolVersion, v1 as acp};
use serde_json::{Map, Value, json};

use super::client::Can;
use crate::config::Config;
use crate::rpc::RpcError;
use crate::wire::SessionInfo;

/// The one way to log in.
pub(super) const LOGIN: &str = "login";
/// Nobody is logged in, or no model is set.
const AUTH_REQUIRED: i64 = -32000;

/// What a session asks before it acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// For what changes something.
    Default,
    /// Plan first; nothing is changed.
    Plan,
    /// For nothing.
    Auto,
}

impl Mode {
    const ALL: [Self; 3] = [Self::Default, Self::Plan, Self::Auto];

    pub(super) fn id(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Plan => "plan",
            Self::Auto => "auto",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Default => "Default",
            Self::Plan => "Plan",
            Self::Auto => "Approve everything",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Default => "Asks before files are changed and commands are run",
            Self::Plan => "Reads and plans; changes nothing until the plan is approved",
            Self::Auto => "Asks nothing; permission rules that forbid still hold",
        }
    }

    pub(super) fn find(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.id() == id)
    }
}

/// A session's choices as they are now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choices {
    pub(super) mode: Mode,
    /// Keys and names of the models there are.
    pub(super) models: Vec<(String, String)>,
    /// The key of the one that answers.
    pub(super) model: String,
    /// Does it think? None when there is no choice.
    pub(super) thinking: Option<bool>,
}

impl Choices {
    pub(super) fn new(config: &Config, info: &SessionInfo) -> Self {
        let name = info.model.clone().unwrap_or_default();
        let mut models: Vec<(String, String)> = config
            .models
            .iter()
            .map(|(key, model)| {
                (key.clone(), model.display_name.clone().unwrap_or_else(|| model.model.clone()))
            })
            .collect();
        let model = info.model_key.clone().unwrap_or_else(|| name.clone());
        if !models.iter().any(|(key, _)| *key == model) {
            // One from the environment, or by its own name.
            models.insert(0, (model.clone(), name));
        }
        let mode = if info.yolo { Mode::Auto } else { Mode::Default };
        Self { mode, models, model, thinking: info.thinking }
    }

    pub(super) fn modes(&self) -> acp::SessionModeState {
        let mode =
            |mode: Mode| acp::SessionMode::new(mode.id(), mode.name()).description(mode.about());
        acp::SessionModeState::new(self.mode.id(), Mode::ALL.into_iter().map(mode).collect())
    }

    /// The choices as today's editors show them.
    pub(super) fn options(&self, can: &Can) -> Vec<acp::SessionConfigOption> {
        let value = |mode: Mode| {
            acp::SessionConfigSelectOption::new(mode.id(), mode.name()).description(mode.about())
        };
        let modes: Vec<_> = Mode::ALL.into_iter().map(value).collect();
        let models: Vec<_> = self
            .models
            .iter()
            .map(|(key, name)| acp::SessionConfigSelectOption::new(key.clone(), name.clone()))
            .collect();
        let mut options = vec![
            acp::SessionConfigOption::select("mode", "Mode", self.mode.id(), modes)
                .category(acp::SessionConfigOptionCategory::Mode),
            acp::SessionConfigOption::select("model", "Model", self.model.clone(), models)
                .category(acp::SessionConfigOptionCategory::Model),
        ];
        if let Some(thinking) = self.thinking {
            let option = if can.show_switches {
                acp::SessionConfigOption::boolean("thinking", "Thinking", thinking)
            } else {
                let value = |on: bool| acp::SessionConfigSelectOption::new(word(on), word(on));
                let values = vec![value(true), value(false)];
                acp::SessionConfigOption::select("thinking", "Thinking", word(thinking), values)
            };
            options.push(option.category(acp::SessionConfigOptionCategory::ThoughtLevel));
        }
        options
    }

    /// The models as editors of 0.7 and 0.8 know them.
    fn models(&self) -> Value {
        let models = self.models.iter().map(|(key, name)| json!({ "modelId": key, "name": name }));
        json!({ "currentModelId": self.model, "availableModels": models.collect::<Vec<_>>() })
    }

    /// What the answer to an opening says, of today and of then.
    pub(super) fn answer(&self, session: Option<&str>, can: &Can) -> Value {
        let options = self.options(can);
        let known = match session {
            Some(id) => serde_json::to_value(
                acp::NewSessionResponse::new(id.to_owned())
                    .modes(self.modes())
                    .config_options(options),
            ),
            None => serde_json::to_value(
                acp::LoadSessionResponse::new().modes(self.modes()).config_options(options),
            ),
        };
        let mut answer = known.unwrap_or_default();
        if let Value::Object(fields) = &mut answer {
            fields.insert("models".to_owned(), self.models());
        }
        answer
    }
}

/// `on` and `off`, as values of an option.
pub(super) fn word(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// The answer to `initialize`. The version is ours: it is the only one there is.
pub(super) fn initialize(can_log_in_in_terminal: bool) -> acp::InitializeResponse {
    let sessions = acp::SessionCapabilities::new()
        .list(acp::SessionListCapabilities::new())
        .resume(acp::SessionResumeCapabilities::new())
        .close(acp::SessionCloseCapabilities::new())
        .delete(acp::SessionDeleteCapabilities::new())
        .additional_directories(acp::SessionAdditionalDirectoriesCapabilities::new());
    let capabilities = acp::AgentCapabilities::new()
        .load_session(true)
        .prompt_capabilities(
            acp::PromptCapabilities::new().image(true).audio(false).embedded_context(true),
        )
        .mcp_capabilities(acp::McpCapabilities::new().http(true).sse(false))
        .session_capabilities(sessions);
    acp::InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .auth_methods(vec![login(can_log_in_in_terminal)])
        .agent_info(
            acp::Implementation::new("kimi-tui", env!("CARGO_PKG_VERSION")).title("kimi-tui"),
        )
}

/// How to log in: a command in a terminal, told as today's editors know it and as older ones do.
fn login(in_terminal: bool) -> acp::AuthMethod {
    const NAME: &str = "Connect a model";
    const ABOUT: &str = "Asks in a terminal for a service and its key: kimi-tui login";
    let program = std::env::current_exe()
        .map_or_else(|_| "kimi-tui".to_owned(), |path| path.display().to_string());
    let mut meta = Map::new();
    meta.insert(
        "terminal-auth".to_owned(),
        json!({
            "type": "terminal", "label": "kimi-tui login", "command": program, "args": [LOGIN],
            "env": {},
        }),
    );
    if in_terminal {
        let method = acp::AuthMethodTerminal::new(LOGIN, NAME).description(ABOUT);
        return acp::AuthMethod::Terminal(method.args(vec![LOGIN.to_owned()]).meta(meta));
    }
    acp::AuthMethod::Agent(acp::AuthMethodAgent::new(LOGIN, NAME).description(ABOUT).meta(meta))
}

/// No model is set.
pub(super) fn auth_required() -> RpcError {
    let mut error = RpcError::new(
        AUTH_REQUIRED,
        "No model is configured. Run kimi-tui login in a terminal, or set KIMI_API_KEY and \
         KIMI_MODEL_NAME.",
    );
    error.data = Some(json!({ "authMethods": [login(false)] }));
    error
}
