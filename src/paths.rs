//! Where data lives: `$KIMI_SHARE_DIR`, else `~/.kimi`, as the Python program has it.

use std::env;
use std::path::{Path, PathBuf};

use crate::error::user;

/// The person's home folder, where one is known.
#[must_use]
pub fn home() -> Option<PathBuf> {
    directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned())
}

/// The share folder's layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The share folder itself.
    pub share: PathBuf,
}

impl Paths {
    /// The share folder of this environment. Not created here.
    ///
    /// # Errors
    /// When neither `KIMI_SHARE_DIR` nor a home folder is known.
    pub fn from_env() -> anyhow::Result<Self> {
        if let Some(dir) = env::var_os("KIMI_SHARE_DIR").filter(|dir| !dir.is_empty()) {
            return Ok(Self { share: std::path::absolute(PathBuf::from(dir))? });
        }
        let home = home().ok_or_else(|| {
            user("No home folder is known.", "Set HOME, or KIMI_SHARE_DIR to a folder for data.")
        })?;
        Ok(Self { share: home.join(".kimi") })
    }

    /// A layout below `share`.
    #[must_use]
    pub fn new(share: impl Into<PathBuf>) -> Self {
        Self { share: share.into() }
    }

    /// `config.toml`.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.share.join("config.toml")
    }

    /// `kimi.json`: the known work folders.
    #[must_use]
    pub fn metadata_file(&self) -> PathBuf {
        self.share.join("kimi.json")
    }

    /// The folder of the sessions of `work_dir`, which must be canonical.
    #[must_use]
    pub fn session_bucket(&self, work_dir: &Path) -> PathBuf {
        self.sessions().join(work_dir_hash(work_dir))
    }

    /// The folder of all sessions.
    #[must_use]
    pub fn sessions(&self) -> PathBuf {
        self.share.join("sessions")
    }

    /// The index over all sessions. A cache: it can be deleted at any time.
    #[must_use]
    pub fn session_index(&self) -> PathBuf {
        self.share.join("cache").join("session-index")
    }

    /// What was typed in `work_dir`, one JSON line an entry.
    #[must_use]
    pub fn input_history(&self, work_dir: &Path) -> PathBuf {
        self.share.join("user-history").join(format!("{}.jsonl", work_dir_hash(work_dir)))
    }

    /// The permission rules of the project in `work_dir` that this person has agreed to.
    #[must_use]
    pub fn trusted_rules(&self, work_dir: &Path) -> PathBuf {
        self.share.join("trusted-rules").join(format!("{}.toml", work_dir_hash(work_dir)))
    }

    /// What was written in `work_dir` and not sent.
    #[must_use]
    pub fn draft(&self, work_dir: &Path) -> PathBuf {
        self.share.join("drafts").join(format!("{}.json", work_dir_hash(work_dir)))
    }

    /// The folder of log files.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.share.join("logs")
    }

    /// Plans that agents wrote.
    #[must_use]
    pub fn plans(&self) -> PathBuf {
        self.share.join("plans")
    }

    /// MCP servers.
    #[must_use]
    pub fn mcp_file(&self) -> PathBuf {
        self.share.join("mcp.json")
    }

    /// Logins of MCP servers.
    #[must_use]
    pub fn mcp_logins(&self) -> PathBuf {
        self.share.join("mcp-logins")
    }

    /// Contents of files, for taking them back.
    #[must_use]
    pub fn snapshots(&self) -> PathBuf {
        self.share.join("snapshots")
    }

    /// Keys of the person's own.
    #[must_use]
    pub fn keymap_file(&self) -> PathBuf {
        self.share.join("keymap.toml")
    }

    /// How the person divides the screen.
    #[must_use]
    pub fn layout_file(&self) -> PathBuf {
        self.share.join("layout.json")
    }

    /// Themes of the person's own.
    #[must_use]
    pub fn themes(&self) -> PathBuf {
        self.share.join("themes")
    }

    /// Agents of the person's own: `NAME/agent.yaml` or `NAME.yaml`.
    #[must_use]
    pub fn agents(&self) -> PathBuf {
        self.share.join("agents")
    }
}

/// The name the Python program gives a work folder: the MD5 of its path.
#[must_use]
pub fn work_dir_hash(work_dir: &Path) -> String {
    format!("{:x}", md5::compute(work_dir.to_string_lossy().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_named_as_upstream_names_it() {
        assert_eq!(work_dir_hash(Path::new("/home/me/work")), "2f39c28b778bdc23ff9a07e1ee5a3580");
    }
}
