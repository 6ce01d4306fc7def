//! What a system prompt may say about this run: time, folder, machine, the project's own rules.

use std::env;
use std::path::{Path, PathBuf};

use super::{instructions, listing};

/// The variables of every system prompt (`kimi-cli` `soul/agent.py:46-65`, and the seeds' own:
/// `KIMI_PLATFORM`, `KIMI_USER`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromptVars {
    /// `KIMI_NOW`: local time, ISO 8601 with seconds and offset.
    pub now: String,
    /// `KIMI_WORK_DIR`: the folder the agent works in.
    pub work_dir: String,
    /// `KIMI_WORK_DIR_LS`: what is in it, two levels deep.
    pub work_dir_ls: String,
    /// `KIMI_AGENTS_MD`: the project's instructions to agents, empty when it has none.
    pub agents_md: String,
    /// `KIMI_ADDITIONAL_DIRS_INFO`: further folders of the workspace, empty when there are none.
    pub additional_dirs: String,
    /// `KIMI_OS` and `KIMI_PLATFORM`: `Linux`, `macOS` or `Windows`.
    pub os: String,
    /// `KIMI_SHELL`: the shell commands run in.
    pub shell: String,
    /// `KIMI_USER`: the person's login name, empty when unknown.
    pub user: String,
    /// `KIMI_SKILLS`: the skills there are, empty when there are none.
    pub skills: String,
}

impl PromptVars {
    /// Looks at `work_dir` and the machine now.
    ///
    /// Never fails: what cannot be read is empty or says so. Reads a bounded number of folder
    /// entries and bytes, whatever the folder's size.
    #[must_use]
    pub fn gather(work_dir: &Path, added_dirs: &[PathBuf]) -> Self {
        Self {
            now: jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            work_dir: work_dir.display().to_string(),
            work_dir_ls: listing::two_levels(work_dir),
            agents_md: instructions::gather(work_dir),
            additional_dirs: additional_dirs(added_dirs),
            os: os().to_owned(),
            shell: shell(),
            user: user(),
            skills: String::new(),
        }
    }

    /// Every variable with its value.
    pub(super) fn entries(&self) -> [(&'static str, &str); 10] {
        [
            ("KIMI_NOW", &self.now),
            ("KIMI_WORK_DIR", &self.work_dir),
            ("KIMI_WORK_DIR_LS", &self.work_dir_ls),
            ("KIMI_AGENTS_MD", &self.agents_md),
            ("KIMI_ADDITIONAL_DIRS_INFO", &self.additional_dirs),
            ("KIMI_OS", &self.os),
            ("KIMI_PLATFORM", &self.os),
            ("KIMI_SHELL", &self.shell),
            ("KIMI_USER", &self.user),
            ("KIMI_SKILLS", &self.skills),
        ]
    }
}

fn additional_dirs(dirs: &[PathBuf]) -> String {
    let blocks: Vec<_> = dirs
        .iter()
        .map(|dir| format!("### `{}`\n\n```\n{}\n```", dir.display(), listing::two_levels(dir)))
        .collect();
    blocks.join("\n\n")
}

fn os() -> &'static str {
    match env::consts::OS {
        "linux" => "Linux",
        "macos" => "macOS",
        "windows" => "Windows",
        other => other,
    }
}

/// The shell commands run in, which is bash where there is one, whatever the login shell is.
fn shell() -> String {
    let find = |name: &str| {
        let places = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&places)
            .chain([PathBuf::from("/bin"), PathBuf::from("/usr/bin")])
            .map(|folder| folder.join(name))
            .find(|path| path.is_absolute() && path.is_file())
    };
    ["bash", "sh"]
        .into_iter()
        .find_map(|name| find(name).map(|path| format!("{name} (`{}`)", path.display())))
        .unwrap_or_else(|| "sh".to_owned())
}

fn user() -> String {
    ["USER", "LOGNAME", "USERNAME"]
        .into_iter()
        .find_map(|name| env::var(name).ok().filter(|value| !value.is_empty()))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn everything_about_a_folder_is_gathered() {
        let folder = tempfile::tempdir().expect("folder");
        fs::create_dir(folder.path().join("src")).expect("folder");
        fs::write(folder.path().join("AGENTS.md"), "Use tabs.").expect("file");
        let other = tempfile::tempdir().expect("folder");
        fs::write(other.path().join("notes.txt"), "").expect("file");

        let vars = PromptVars::gather(folder.path(), &[other.path().to_owned()]);
        let time: jiff::Timestamp = vars.now.parse().expect("ISO time");
        assert!(time.duration_until(jiff::Timestamp::now()).as_secs() < 60, "{}", vars.now);
        assert_eq!(vars.work_dir, folder.path().display().to_string());
        assert!(vars.work_dir_ls.contains("src/"));
        assert!(vars.agents_md.contains("Use tabs."));
        assert!(vars.additional_dirs.contains("notes.txt"));
        assert!(vars.shell.contains("sh"));
        assert!(vars.entries().iter().any(|(name, value)| *name == "KIMI_OS" && !value.is_empty()));
    }

    #[test]
    fn a_folder_that_is_gone_is_no_failure() {
        let vars = PromptVars::gather(Path::new("/no/such/folder"), &[PathBuf::from("/nor/this")]);
        assert!(vars.work_dir_ls.contains("cannot be read"), "{}", vars.work_dir_ls);
        assert_eq!(vars.agents_md, "");
    }
}
