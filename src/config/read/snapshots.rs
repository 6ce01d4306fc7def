//! `[snapshots]`.

use super::{Reader, Section};
use crate::config::{SnapshotConfig, names};

impl Reader {
    /// `[snapshots]`.
    pub(super) fn snapshots(&mut self, top: &Section<'_>) -> SnapshotConfig {
        let default = SnapshotConfig::default();
        let Some(section) = self.section(top, "snapshots") else { return default };
        self.warn_of_slips(&section, names::SNAPSHOTS);
        let enabled = self.flag(&section, "enabled", default.enabled);
        let mut number = |key: &str, default: u64| {
            self.integer(&section, key, 1).map_or(default, i64::unsigned_abs)
        };
        let bytes = |mib: u64| mib.saturating_mul(1 << 20);
        SnapshotConfig {
            enabled,
            max_files: number("max_files", default.max_files),
            max_snapshot_bytes: bytes(number("max_snapshot_mib", 512)),
            max_file_bytes: bytes(number("max_file_mib", 64)),
            keep_turns: number("keep_turns", default.keep_turns),
            keep_days: number("keep_days", default.keep_days),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, ConfigSource, SnapshotConfig};
    use crate::paths::Paths;

    #[test]
    fn limits_are_read_in_mebibytes_and_zero_is_refused() {
        let read = |text: &str| {
            let source = ConfigSource::Inline(text.to_owned());
            let loaded = Config::load(&Paths::new("nowhere"), &source);
            loaded.map(|loaded| loaded.config.snapshots)
        };
        assert_eq!(read("theme = \"dark\"").expect("nothing"), SnapshotConfig::default());
        let text = "[snapshots]\nenabled = false\nmax_file_mib = 2\nkeep_days = 3\n";
        let wanted = SnapshotConfig {
            enabled: false,
            max_file_bytes: 2 << 20,
            keep_days: 3,
            ..SnapshotConfig::default()
        };
        assert_eq!(read(text).expect("some"), wanted);
        assert!(read("[snapshots]\nmax_files = 0\n").is_err());
    }
}
