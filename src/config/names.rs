//! The names a configuration may use, and the nearest one to a name it may not.

/// Keys at the top, upstream's own that this program does not use included.
pub(super) const TOP: &[&str] = &[
    "default_model",
    "default_thinking",
    "default_yolo",
    "default_plan_mode",
    "default_editor",
    "theme",
    "show_thinking_stream",
    "models",
    "providers",
    "loop_control",
    "network",
    "skip_afk_prompt_injection",
    "hooks",
    "merge_all_available_skills",
    "extra_skill_dirs",
    "telemetry",
    "background",
    "notifications",
    "services",
    "tools",
    "mcp",
    "compaction",
    "snapshots",
    "permission",
    "ui",
];

/// Keys of a provider.
pub(super) const PROVIDER: &[&str] = &[
    "type",
    "base_url",
    "api_key",
    "env",
    "custom_headers",
    "reasoning_key",
    "oauth",
    "default_query",
];

/// Keys of a provider's `oauth`.
pub(super) const OAUTH: &[&str] =
    &["storage", "key", "client_id", "device_url", "token_url", "scope"];

/// Keys of a model.
pub(super) const MODEL: &[&str] = &[
    "provider",
    "model",
    "max_context_size",
    "capabilities",
    "display_name",
    "max_output_tokens",
    "price",
];

/// Keys of a model's `price`.
pub(super) const PRICE: &[&str] = &["input", "output", "cache_read", "cache_write"];

/// Keys of `[snapshots]`.
pub(super) const SNAPSHOTS: &[&str] =
    &["enabled", "max_files", "max_snapshot_mib", "max_file_mib", "keep_turns", "keep_days"];

/// Keys of `[network]`.
pub(super) const NETWORK: &[&str] =
    &["connect_timeout_s", "first_byte_timeout_s", "idle_timeout_s", "proxy", "ca_file"];

/// Keys of `[ui]`.
pub(super) const UI: &[&str] = &[
    "on_exit",
    "fold",
    "open_last",
    "mouse",
    "wheel_lines",
    "screen_reader",
    "vim",
    "inline",
    "links",
    "marks",
    "reflow",
    "progress",
    "status",
];

/// Keys of `[ui.status]`.
pub(super) const STATUS: &[&str] = &["left", "right", "command", "time_limit_ms", "interval_s"];

/// Keys of `[mcp]`.
pub(super) const MCP: &[&str] = &["client"];

/// Keys of `[mcp.client]`.
pub(super) const MCP_CLIENT: &[&str] = &["tool_call_timeout_ms"];

/// Keys of `[loop_control]`.
pub(super) const LOOP_CONTROL: &[&str] = &[
    "max_steps_per_turn",
    "max_steps_per_run",
    "max_retries_per_step",
    "max_ralph_iterations",
    "reserved_context_size",
    "compaction_trigger_ratio",
    "max_preserved_messages",
];

/// Keys of `[background]`, upstream's own that this program does not use included.
pub(super) const BACKGROUND: &[&str] = &[
    "max_running_tasks",
    "max_running_subagents",
    "read_max_bytes",
    "max_output_bytes",
    "kill_grace_period_ms",
    "keep_alive_on_exit",
    "agent_task_timeout_s",
    "auto_turn",
    "notification_tail_lines",
    "notification_tail_chars",
    "wait_poll_interval_ms",
    "worker_heartbeat_interval_ms",
    "worker_stale_after_ms",
    "print_wait_ceiling_s",
];

/// Keys of `[compaction]`.
pub(super) const COMPACTION: &[&str] = &["strategy", "fallback"];

/// Keys of a service below `[services]`.
pub(super) const SERVICE: &[&str] = &["base_url", "api_key", "custom_headers", "oauth"];

/// Keys of `[tools.fetch]`.
pub(super) const FETCH: &[&str] = &["allow_private"];

/// Keys of a permission rule.
pub(super) const RULE: &[&str] = &["tool", "command", "path", "decision"];
/// Keys of an entry of `[[hooks]]`.
pub(super) const HOOK: &[&str] = &["event", "matcher", "command", "timeout"];

/// Values of a provider's `type`.
pub(super) const PROVIDER_TYPES: &[&str] = &[
    "kimi",
    "openai_legacy",
    "openai_responses",
    "anthropic",
    "google_genai",
    "gemini",
    "vertexai",
    "_echo",
    "_scripted_echo",
    "_chaos",
];

/// Values in a model's `capabilities`.
pub(super) const CAPABILITIES: &[&str] = &["image_in", "video_in", "thinking", "always_thinking"];

/// Tables with keys of their own that are easily written into another one.
const HOMES: &[(&str, &[&str])] = &[
    ("", TOP),
    ("ui", UI),
    ("loop_control", LOOP_CONTROL),
    ("compaction", COMPACTION),
    ("network", NETWORK),
];

/// The table that has the key `name`, where it is not the one called `section`: "" is the top.
pub(super) fn home(name: &str, section: &str) -> Option<&'static str> {
    let mut others = HOMES.iter().filter(|(home, _)| *home != section);
    others.find(|(_, keys)| keys.contains(&name)).map(|(home, _)| *home)
}

/// The name nearest to `name`, if one is near enough to be what was meant.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Comparing is quadratic; nothing this long is a slip of the finger.
    const LONGEST: usize = 64;
    let name: Vec<char> = name.to_lowercase().chars().take(LONGEST + 1).collect();
    if name.len() > LONGEST {
        return None;
    }
    let limit = (name.len() / 3).clamp(1, 3);
    known
        .into_iter()
        .map(|candidate| {
            let letters: Vec<char> = candidate.to_lowercase().chars().take(LONGEST * 2).collect();
            (distance(&name, &letters), candidate)
        })
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours from `a` to `b`.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before_last[j - 2] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// `names` as a person reads a list.
pub(super) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(quoted_unless_bare).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// `name` as a TOML key: bare where that is allowed, with control characters escaped.
pub(super) fn quoted_unless_bare(name: &str) -> String {
    let is_bare =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_bare { name.to_owned() } else { format!("{name:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_another_word_does_not() {
        for (typed, meant) in [
            ("defualt_model", Some("default_model")),
            ("default_modle", Some("default_model")),
            ("Theme", Some("theme")),
            ("porviders", Some("providers")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, TOP.iter().copied()), meant, "{typed}");
        }
    }

    #[test]
    fn keys_are_quoted_where_toml_wants_it() {
        assert_eq!(quoted_unless_bare("local-1"), "local-1");
        assert_eq!(quoted_unless_bare("kimi-code/k2"), "\"kimi-code/k2\"");
        assert_eq!(quoted_unless_bare("a\u{1b}[2J"), "\"a\\u{1b}[2J\"");
    }
}
