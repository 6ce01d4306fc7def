//! Task: hands work to a subagent (`kimi-cli` `tools/agent/__init__.py`). The session carries it
//! out; here are the parameters and what the model is told of the types there are.

use futures::FutureExt;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::schema;
use super::tool::{Delegation, Tool, ToolContext};
use super::typed::{Failure, invalid_arguments};
use crate::message::ToolReturn;

const DESCRIPTION: &str = include_str!("../../prompts/tools/task.md");
/// The type of a subagent when a call names none and there is one of this name.
const USUAL: &str = "coder";
/// Seconds a call may give a subagent.
const SHORTEST: u64 = 30;
const LONGEST: u64 = 3600;

/// The tool, with the types of subagents: name and what each is good for.
#[derive(Default)]
pub(crate) struct Task {
    pub types: Vec<(String, String)>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    /// The work in three to five words, for the user.
    description: String,
    /// The work, with all the subagent needs to know.
    prompt: String,
    /// Which type of subagent; `coder` if there is one.
    #[serde(default)]
    subagent_type: Option<String>,
    /// Another model than its usual one, by its key in the configuration.
    #[serde(default)]
    model: Option<String>,
    /// Let the earlier subagent with this agent_id go on.
    #[serde(default)]
    resume: Option<String>,
    /// Return at once; a note tells the end.
    #[serde(default)]
    run_in_background: bool,
    /// Seconds it may take, 30 to 3600.
    #[serde(default)]
    #[schemars(range(min = 30, max = 3600))]
    timeout: Option<u64>,
}

impl Tool for Task {
    fn name(&self) -> &'static str {
        "Task"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["Agent"]
    }

    fn description(&self) -> String {
        let mut text = DESCRIPTION.trim().to_owned();
        if !self.types.is_empty() {
            text.push_str("\n\nTypes:\n");
            for (name, description) in &self.types {
                text.push_str(&format!("\n- `{name}`: {description}"));
            }
        }
        text
    }

    fn parameters(&self) -> Value {
        schema::of::<Params>()
    }

    fn call<'a>(&'a self, arguments: Value, context: &'a ToolContext) -> BoxFuture<'a, ToolReturn> {
        async move {
            match schema::parse::<Params>(arguments) {
                Ok(params) => match self.delegation(params) {
                    Ok(work) => context.services.delegate(context, work).await,
                    Err(failure) => failure.into(),
                },
                Err(problem) => invalid_arguments("Task", &problem),
            }
        }
        .boxed()
    }
}

impl Task {
    fn delegation(&self, params: Params) -> Result<Delegation, Failure> {
        if params.prompt.trim().is_empty() {
            return Err(Failure::new(
                "The prompt is empty: say what the subagent is to do.",
                "Empty prompt",
            ));
        }
        let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let kind = match filled(params.subagent_type) {
            Some(kind) if self.types.iter().any(|(name, _)| *name == kind) => kind,
            Some(kind) => {
                let known: Vec<&str> = self.types.iter().map(|(name, _)| name.as_str()).collect();
                return Err(Failure::new(
                    format!("There is no subagent `{kind}`. There are: {}.", known.join(", ")),
                    format!("No subagent {kind}"),
                ));
            }
            None if self.types.iter().any(|(name, _)| name == USUAL) => USUAL.to_owned(),
            None => self.types.first().map(|(name, _)| name.clone()).unwrap_or_default(),
        };
        if params.timeout.is_some_and(|timeout| !(SHORTEST..=LONGEST).contains(&timeout)) {
            return Err(Failure::new(
                format!("timeout must be between {SHORTEST} and {LONGEST} seconds."),
                "Wrong timeout",
            ));
        }
        let title = params.description.lines().next().unwrap_or_default().trim().to_owned();
        Ok(Delegation {
            title: if title.is_empty() { kind.clone() } else { title },
            kind,
            prompt: params.prompt,
            model: filled(params.model),
            resume: filled(params.resume),
            in_background: params.run_in_background,
            timeout: params.timeout.map(std::time::Duration::from_secs),
        })
    }
}
