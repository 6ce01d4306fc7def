//! The model that answers and the limits of its turns: flags, environment and configuration put
//! together.

use anyhow::Context as _;

use super::HostOptions;
use crate::config::{Capability, Config, LoopControl, Price, ResolvedModel};
use crate::llm;
use crate::soul::Model;

/// The model that answers, and what a front end shows of it.
pub(super) struct Chosen {
    pub(super) model: Model,
    pub(super) is_demo: bool,
    pub(super) key: Option<String>,
    pub(super) thinking: Option<bool>,
    pub(super) price: Option<Price>,
}

pub(super) fn choose_model(options: &HostOptions) -> anyhow::Result<Chosen> {
    let env = |name: &str| options.env.get(name);
    let Some(resolved) = options.config.resolve_model(options.model.as_deref(), &env)? else {
        let demo = Model {
            provider: llm::demo(),
            name: llm::DEMO_MODEL_NAME.to_owned(),
            configured_in: "config.toml".to_owned(),
            max_context: llm::DEMO_CONTEXT,
            capabilities: Vec::new(),
        };
        let (key, thinking, price) = (None, None, None);
        return Ok(Chosen { model: demo, is_demo: true, key, thinking, price });
    };
    let resolved = resolved.with_thinking(options.thinking);
    let can = |capability| resolved.capabilities.contains(&capability);
    let has_choice = can(Capability::Thinking) && !can(Capability::AlwaysThinking);
    let thinking = has_choice.then_some(resolved.thinking);
    let key = options.config.models.contains_key(&resolved.key).then(|| resolved.key.clone());
    let price = resolved.price;
    let model = Model {
        provider: llm::build_with_env(&resolved, &env)
            .with_context(|| format!("The model \"{}\" cannot be used", resolved.key))?,
        configured_in: configured_in(&options.config, &resolved),
        name: resolved.display_name,
        max_context: resolved.max_context_size,
        capabilities: resolved.capabilities,
    };
    Ok(Chosen { model, is_demo: false, key, thinking, price })
}

/// Where a person changes the provider's address and key.
fn configured_in(config: &Config, model: &ResolvedModel) -> String {
    match config.models.get(&model.key) {
        Some(known) => format!("[providers.{}] in config.toml, or the environment", known.provider),
        None => "KIMI_API_KEY, KIMI_BASE_URL, OPENAI_API_KEY, OPENAI_BASE_URL".to_owned(),
    }
}

pub(super) fn limits(options: &HostOptions) -> LoopControl {
    let mut limits = options.config.loop_control.clone();
    if let Some(steps) = options.max_steps {
        limits.max_steps_per_turn = steps;
    }
    if let Some(rounds) = options.max_ralph_iterations {
        limits.max_ralph_iterations = rounds;
    }
    if let Some(retries) = options.flags.max_retries {
        limits.max_retries_per_step = retries;
    }
    limits
}

/// The part of the window at which the context is compacted, as `should_compact` has it.
#[allow(clippy::cast_precision_loss, reason = "a ratio of token counts needs no 53rd bit")]
pub(super) fn compaction_at(limits: &LoopControl, max: u64) -> f64 {
    let ratio = limits.compaction_trigger_ratio.clamp(0.0, 1.0);
    match max.checked_sub(limits.reserved_context_size) {
        Some(free) if free > 0 => ratio.min(free as f64 / max as f64),
        _ => ratio,
    }
}
