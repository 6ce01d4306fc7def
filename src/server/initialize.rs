//! `initialize`: what the client can do and brings, what the engine has.

use regex::Regex;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::methods::{OURS, PREFIX, WRONG_STATE, bad_params};
use super::viewer::{Role, Viewer};
use crate::config::HookEvent;
use crate::rpc::RpcError;
use crate::wire::{ClientTool, Command, Equipment, HookSubscription, PROTOCOL_VERSION};

/// The name under which a client asks for what is ours, and is told of it.
pub const NAME: &str = "kimi_tui";
/// Version of what is ours.
pub const VERSION: u64 = 1;

/// Bytes of a name a provider takes.
const LONGEST_NAME: usize = 64;

#[derive(Deserialize)]
struct Params {
    #[expect(dead_code, reason = "must be there; every version is served")]
    protocol_version: String,
    #[serde(default)]
    capabilities: Option<Capabilities>,
    #[serde(default)]
    external_tools: Option<Vec<ClientTool>>,
    #[serde(default)]
    hooks: Option<Vec<HookSubscription>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Capabilities {
    supports_question: bool,
    supports_plan_mode: bool,
    kimi_tui: Option<Value>,
}

impl Viewer<'_> {
    pub(super) fn initialize(&mut self, params: Value) -> Result<Value, RpcError> {
        let is_only = matches!(self.role, Role::Only);
        if is_only && self.is_busy() {
            return Err(RpcError::new(WRONG_STATE, "An agent turn is already in progress"));
        }
        let params: Params = serde_json::from_value(params).map_err(|error| {
            tracing::info!(%error, "an initialize that cannot be read");
            bad_params("initialize")
        })?;
        let can = params.capabilities.unwrap_or_default();
        self.is_ours = can.kimi_tui.is_some_and(|value| value != json!(false) && !value.is_null());
        let (accepted, rejected) = self.sort(params.external_tools.as_deref().unwrap_or_default());
        let mut result = self.result(can.supports_question);
        if params.external_tools.is_some_and(|offered| !offered.is_empty()) {
            let names: Vec<&str> = accepted.iter().map(|tool| tool.name.as_str()).collect();
            result.insert(
                "external_tools".to_owned(),
                json!({ "accepted": names, "rejected": rejected }),
            );
        }
        if is_only {
            self.send(Command::Equip(Box::new(Equipment {
                supports_question: can.supports_question,
                supports_plan_mode: can.supports_plan_mode,
                takes_demo: self.is_ours,
                tools: accepted,
                hooks: params.hooks.unwrap_or_default(),
                ..Equipment::default()
            })));
        } else if self.messages.is_none() {
            self.join();
            // A client of ours asks for the past first; news would come before it.
            self.awaits_replay = self.is_ours;
        }
        if self.is_ours {
            result.insert(NAME.to_owned(), self.ours_offered());
        }
        Ok(Value::Object(result))
    }

    fn result(&self, asks_questions: bool) -> Map<String, Value> {
        let events: Vec<&str> = HookEvent::ALL.iter().map(|event| event.name()).collect();
        let result = json!({
            "protocol_version": PROTOCOL_VERSION,
            "server": { "name": "kimi-tui", "version": env!("CARGO_PKG_VERSION") },
            "slash_commands": self.session.info.slash_commands,
            "hooks": { "supported_events": events, "configured": self.facts.hooks },
            "capabilities": { "supports_question": asks_questions },
        });
        match result {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }

    /// What is ours, for a client that asked.
    fn ours_offered(&self) -> Value {
        let mut methods: Vec<String> = OURS.iter().map(|name| format!("{PREFIX}{name}")).collect();
        if matches!(self.role, Role::OneOf(_)) {
            methods.extend(["take_pen", "shutdown"].map(|name| format!("{PREFIX}{name}")));
        }
        json!({
            "version": VERSION,
            "methods": methods,
            "session": *self.info,
            "is_working": self.is_working,
            "holds_pen": self.may_act(),
        })
    }

    /// The tools that can be taken, and why the others cannot.
    fn sort(&self, offered: &[ClientTool]) -> (Vec<ClientTool>, Vec<Value>) {
        let (mut accepted, mut rejected) = (Vec::<ClientTool>::new(), Vec::new());
        for tool in offered {
            let reason = if self.session.info.tools.contains(&tool.name) {
                Some("conflicts with builtin tool".to_owned())
            } else if accepted.iter().any(|other| other.name == tool.name) {
                Some("offered twice".to_owned())
            } else {
                fault_of(tool)
            };
            match reason {
                Some(reason) => rejected.push(json!({ "name": tool.name, "reason": reason })),
                None => accepted.push(tool.clone()),
            }
        }
        (accepted, rejected)
    }
}

/// What no provider would take about a tool.
fn fault_of(tool: &ClientTool) -> Option<String> {
    let is_name = Regex::new("^[A-Za-z0-9_-]+$").is_ok_and(|name| name.is_match(&tool.name));
    if !is_name || tool.name.len() > LONGEST_NAME {
        return Some("a name has up to 64 letters, digits, '_' and '-'".to_owned());
    }
    let Some(schema) = tool.parameters.as_object() else {
        return Some("Invalid parameters schema: it is no object".to_owned());
    };
    if schema.get("type").is_some_and(|kind| kind != "object") {
        return Some("Invalid parameters schema: its type is not \"object\"".to_owned());
    }
    let properties = schema.get("properties");
    let is_sound = properties.is_none_or(|all| {
        all.as_object()
            .is_some_and(|all| all.values().all(|one| one.is_object() || one.is_boolean()))
    });
    if !is_sound {
        return Some("Invalid parameters schema: properties must be objects".to_owned());
    }
    let is_list = |required: &Value| {
        required.as_array().is_some_and(|names| names.iter().all(Value::is_string))
    };
    (!schema.get("required").is_none_or(is_list))
        .then(|| "Invalid parameters schema: required must be a list of names".to_owned())
}
