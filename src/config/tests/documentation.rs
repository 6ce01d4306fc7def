//! The page about configuration says what is so.

use super::resolve::resolved;
use super::*;

#[test]
fn every_example_in_the_documentation_works() {
    let page = include_str!("../../../docs/configuration.md");
    let examples: Vec<&str> = page
        .split("```toml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().expect("the end of the example"))
        .collect();
    assert!(examples.len() >= 2);
    for example in examples {
        let loaded = load(example).expect(example);
        assert_eq!(loaded.warnings, Vec::<String>::new());
        for key in loaded.config.models.keys() {
            resolved(example, Some(key), &[]);
        }
    }
    let known = [
        names::TOP,
        names::PROVIDER,
        names::OAUTH,
        names::MODEL,
        names::LOOP_CONTROL,
        names::COMPACTION,
        names::RULE,
        names::SNAPSHOTS,
        names::NETWORK,
        names::MCP,
        names::MCP_CLIENT,
        names::PRICE,
        names::SERVICE,
        names::FETCH,
        names::BACKGROUND,
        names::UI,
        names::STATUS,
    ];
    for key in known.concat() {
        let upstreams_only = [
            "hooks",
            "merge_all_available_skills",
            "extra_skill_dirs",
            "telemetry",
            "notifications",
            "default_query",
            "max_preserved_messages",
            "notification_tail_lines",
            "notification_tail_chars",
            "wait_poll_interval_ms",
            "worker_heartbeat_interval_ms",
            "worker_stale_after_ms",
        ];
        assert!(upstreams_only.contains(&key) || page.contains(key), "{key} is not documented");
    }
}
