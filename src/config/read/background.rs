//! `[background]`.

use std::time::Duration;

use super::{Reader, Section};
use crate::config::{BackgroundConfig, names};

impl Reader {
    /// `[background]`.
    pub(super) fn background(&mut self, top: &Section<'_>) -> BackgroundConfig {
        let default = BackgroundConfig::default();
        let Some(section) = self.section(top, "background") else { return default };
        self.warn_of_slips(&section, names::BACKGROUND);
        let keep_alive_on_exit =
            self.flag(&section, "keep_alive_on_exit", default.keep_alive_on_exit);
        let auto_turn = self.flag(&section, "auto_turn", default.auto_turn);
        let mut count =
            |key: &str, least: i64| self.integer(&section, key, least).map(i64::unsigned_abs);
        let size = |count: Option<u64>, default: usize| {
            count.map_or(default, |count| usize::try_from(count).unwrap_or(usize::MAX))
        };
        BackgroundConfig {
            max_running_tasks: size(count("max_running_tasks", 1), default.max_running_tasks),
            max_running_subagents: size(
                count("max_running_subagents", 1),
                default.max_running_subagents,
            ),
            read_max_bytes: size(count("read_max_bytes", 1024), default.read_max_bytes),
            max_output_bytes: count("max_output_bytes", 65_536).unwrap_or(default.max_output_bytes),
            kill_grace: count("kill_grace_period_ms", 0)
                .map_or(default.kill_grace, Duration::from_millis),
            agent_task_timeout: count("agent_task_timeout_s", 1)
                .map_or(default.agent_task_timeout, Duration::from_secs),
            print_wait: count("print_wait_ceiling_s", 0)
                .map_or(default.print_wait, Duration::from_secs),
            auto_turn,
            keep_alive_on_exit,
        }
    }
}
