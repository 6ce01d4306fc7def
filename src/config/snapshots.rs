//! `[snapshots]`: what is kept so that files can be taken back to a checkpoint.

use serde::{Deserialize, Serialize};

/// `[snapshots]`. Upstream has no such table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SnapshotConfig {
    /// Are snapshots made?
    pub enabled: bool,
    /// A workspace with more files and folders is not scanned.
    pub max_files: u64,
    /// Bytes one scan may keep, before compression.
    #[serde(rename = "max_snapshot_mib", with = "mib")]
    pub max_snapshot_bytes: u64,
    /// Larger files are not kept.
    #[serde(rename = "max_file_mib", with = "mib")]
    pub max_file_bytes: u64,
    /// Turns whose changes are kept in a session.
    pub keep_turns: u64,
    /// Days for which changes are kept.
    pub keep_days: u64,
}

impl Default for SnapshotConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            max_files: 50_000,
            max_snapshot_bytes: 512 << 20,
            max_file_bytes: 64 << 20,
            keep_turns: 100,
            keep_days: 30,
        }
    }
}

mod mib {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &u64, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_u64(bytes >> 20)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        Ok(u64::deserialize(from)?.saturating_mul(1 << 20))
    }
}
