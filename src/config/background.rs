//! Work in the background and beside others, as it is configured (`kimi-cli` `config.py`,
//! `[background]`).

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Limits of work that goes on beside the turns, and of subagents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BackgroundConfig {
    /// Background tasks that run at once, at most.
    pub max_running_tasks: usize,
    /// Subagents of one agent that run at once, at most; more wait. Ours.
    pub max_running_subagents: usize,
    /// Bytes of a task's output that `TaskOutput` gives the model, at most.
    pub read_max_bytes: usize,
    /// Bytes of a task's output that are kept, at most. Ours.
    pub max_output_bytes: u64,
    /// How long a task that is stopped may take to end by itself.
    pub kill_grace: Duration,
    /// Do commands in the background go on when the program ends?
    pub keep_alive_on_exit: bool,
    /// Does a turn begin by itself when a task ends while nothing runs? Ours.
    pub auto_turn: bool,
    /// How long `--print` waits for tasks before it ends.
    pub print_wait: Duration,
    /// How long a subagent in the background may take unless its call says otherwise.
    pub agent_task_timeout: Duration,
}

impl Default for BackgroundConfig {
    fn default() -> Self {
        Self {
            max_running_tasks: 4,
            max_running_subagents: 8,
            read_max_bytes: 30_000,
            max_output_bytes: 8 * 1024 * 1024,
            kill_grace: Duration::from_secs(2),
            keep_alive_on_exit: false,
            auto_turn: true,
            print_wait: Duration::from_secs(3600),
            agent_task_timeout: Duration::from_secs(900),
        }
    }
}
