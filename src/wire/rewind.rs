//! Taking files back: what a front end asks for, what it is shown first, what was done.

use serde::{Deserialize, Serialize};

use crate::message::CheckpointRef;

/// What goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RewindScope {
    /// What was said.
    Conversation,
    /// What the session did to files.
    Files,
    /// Both.
    #[default]
    Both,
}

impl RewindScope {
    /// The scope called `name`.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "conversation" => Some(Self::Conversation),
            "files" => Some(Self::Files),
            "both" => Some(Self::Both),
            _ => None,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            Self::Files => "files",
            Self::Both => "both",
        }
    }
}

/// What would happen to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RewindDeed {
    /// It is there and becomes what it was.
    Restore,
    /// It is gone and comes back.
    Create,
    /// It was made since and goes.
    Remove,
}

/// One path of a dry run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewindFile {
    /// Its absolute path; `%x:` and hexadecimal digits when it is no UTF-8.
    pub path: String,
    /// What would happen to it.
    pub deed: RewindDeed,
    /// Why it is left alone; none when it is not.
    #[serde(default)]
    pub conflict: Option<String>,
    /// May it be chosen all the same?
    #[serde(default)]
    pub can_choose: bool,
    /// Lines that would come.
    #[serde(default)]
    pub added: u64,
    /// Lines that would go.
    #[serde(default)]
    pub removed: u64,
    /// The difference as unified text; none for what is no text, or long.
    #[serde(default)]
    pub diff: Option<String>,
}

/// A dry run: what going back would do to files. Nothing has been done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewindPreview {
    /// Where to; none for bringing forth what was taken back last.
    #[serde(default)]
    pub to: Option<CheckpointRef>,
    /// What was asked for.
    #[serde(default)]
    pub scope: RewindScope,
    /// Path by path.
    pub files: Vec<RewindFile>,
    /// What is not known in full.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// Files were taken back, or brought forth again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesRewound {
    /// Where to; none when they were brought forth.
    #[serde(default)]
    pub to: Option<CheckpointRef>,
    /// Paths that are again what they were.
    pub restored: Vec<String>,
    /// Paths that are gone again.
    pub removed: Vec<String>,
    /// Paths that were left alone, with the reason.
    pub left: Vec<(String, String)>,
}
