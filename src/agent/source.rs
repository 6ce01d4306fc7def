//! Where agents are found, and the reading of their files.

use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::AgentChoice;
use super::builtin::{self, BUILTINS, Builtin};
use super::error::AgentError;
use crate::paths::Paths;

/// The longest agent file or prompt that is read, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// Names an agent file may have in its folder.
const FILE_NAMES: &[&str] = &["agent.yaml", "agent.yml"];

/// Where an agent comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentSource {
    /// It comes with the program.
    BuiltIn(&'static str),
    /// A further agent file of one that does: its name, and the file's.
    BuiltInFile(&'static str, &'static str),
    /// An agent file.
    File(PathBuf),
}

impl fmt::Display for AgentSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn(name) => write!(f, "agents/{name}/agent.yaml (built in)"),
            Self::BuiltInFile(name, file) => write!(f, "agents/{name}/{file} (built in)"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl AgentSource {
    /// The text of the agent file.
    pub(super) fn text(&self) -> Result<String, AgentError> {
        match self {
            Self::BuiltIn(name) => Ok(builtin::find(name)
                .and_then(|agent| agent.file("agent.yaml"))
                .unwrap_or_default()
                .to_owned()),
            Self::BuiltInFile(name, file) => Ok(builtin::find(name)
                .and_then(|agent| agent.file(file))
                .unwrap_or_default()
                .to_owned()),
            Self::File(path) => read_text(path).map_err(|reason| AgentError::Unreadable {
                place: path.display().to_string(),
                what: "the agent file".to_owned(),
                reason,
            }),
        }
    }

    /// The folder paths in the agent file start from.
    pub(super) fn folder(&self) -> Folder {
        match self {
            Self::BuiltIn(name) | Self::BuiltInFile(name, _) => Folder::BuiltIn(name),
            Self::File(path) => {
                Folder::Disk(path.parent().unwrap_or_else(|| Path::new(".")).to_owned())
            }
        }
    }

    /// What an agent is called that does not say it: its folder or its file.
    pub(super) fn default_name(&self) -> String {
        match self {
            Self::BuiltIn(name) => (*name).to_owned(),
            Self::BuiltInFile(_, file) => file.trim_end_matches(".yaml").to_owned(),
            Self::File(path) => {
                let is_plain = path
                    .file_name()
                    .is_some_and(|name| FILE_NAMES.iter().any(|known| name == *known));
                let named = if is_plain { path.parent().and_then(Path::file_name) } else { None };
                named
                    .or_else(|| path.file_stem())
                    .map_or_else(|| "agent".to_owned(), |name| name.to_string_lossy().into_owned())
            }
        }
    }

    /// The same file always gives the same text, however it was reached.
    pub(super) fn identity(&self) -> Self {
        match self {
            Self::BuiltIn(_) | Self::BuiltInFile(..) => self.clone(),
            Self::File(path) => Self::File(fs::canonicalize(path).unwrap_or_else(|_| path.clone())),
        }
    }
}

/// A folder an agent's other files are in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Folder {
    BuiltIn(&'static str),
    Disk(PathBuf),
}

impl Folder {
    /// A file named by an agent file: what messages call it, and its text or why there is none.
    pub(super) fn read(&self, path: &str) -> (String, Result<String, String>) {
        match self {
            Self::BuiltIn(name) => {
                let text = builtin::find(name).and_then(|agent| agent.file(path));
                let text = text.map(str::to_owned).ok_or_else(|| "no such file".to_owned());
                (format!("agents/{name}/{path} (built in)"), text)
            }
            Self::Disk(folder) => {
                let path = tidy(&folder.join(expand_home(path)));
                let text = read_text(&path);
                (path.display().to_string(), text)
            }
        }
    }

    /// The agent that `name` means in a file of this folder: a built-in one, a file or folder
    /// relative to it, or one of the person's own.
    pub(super) fn find(&self, name: &str, paths: &Paths) -> Option<AgentSource> {
        if let Some(agent) = builtin::find(name) {
            return Some(AgentSource::BuiltIn(agent.name));
        }
        if let Self::BuiltIn(of) = self
            && let Some((file, _)) = builtin::find(of).and_then(|agent| agent.entry(name))
        {
            return Some(AgentSource::BuiltInFile(of, file));
        }
        if let Self::Disk(folder) = self
            && let Some(file) = agent_file(&tidy(&folder.join(expand_home(name))))
        {
            return Some(AgentSource::File(file));
        }
        own(name, paths)
    }
}

/// The agent a person chose.
pub(super) fn find(choice: &AgentChoice, paths: &Paths) -> Result<AgentSource, AgentError> {
    match choice {
        AgentChoice::Named(name) => {
            if let Some(agent) = builtin::find(name) {
                return Ok(AgentSource::BuiltIn(agent.name));
            }
            own(name, paths).ok_or_else(|| AgentError::Unknown {
                name: name.clone(),
                known: known_names(paths).join(", "),
                wanted: paths.agents().join("NAME").join("agent.yaml").display().to_string(),
            })
        }
        AgentChoice::File(path) => {
            agent_file(path).map(AgentSource::File).ok_or_else(|| AgentError::Unreadable {
                place: path.display().to_string(),
                what: "the agent".to_owned(),
                reason: "there is no such file, and no folder with an agent.yaml in it".to_owned(),
            })
        }
    }
}

/// The names `AgentChoice::Named` knows: the built-in agents, then the person's own by name.
#[must_use]
pub fn known_names(paths: &Paths) -> Vec<String> {
    let mut own: Vec<String> = fs::read_dir(paths.agents())
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter(|entry| agent_file(&entry.path()).is_some())
        .filter_map(|entry| {
            let path = entry.path();
            let name = if path.is_dir() { path.file_name() } else { path.file_stem() };
            name.map(|name| name.to_string_lossy().into_owned())
        })
        .filter(|name| builtin::find(name).is_none())
        .collect();
    own.sort();
    own.dedup();
    BUILTINS.iter().map(|Builtin { name, .. }| (*name).to_owned()).chain(own).collect()
}

/// An agent in the person's own folder.
fn own(name: &str, paths: &Paths) -> Option<AgentSource> {
    // A name is a name: what leads out of the folder has to be given as a file.
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\']) {
        return None;
    }
    let folder = paths.agents();
    [folder.join(name), folder.join(format!("{name}.yaml")), folder.join(format!("{name}.yml"))]
        .iter()
        .find_map(|path| agent_file(path))
        .map(AgentSource::File)
}

/// The agent file at `path`, which may be the file itself or its folder.
fn agent_file(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        return FILE_NAMES.iter().map(|name| path.join(name)).find(|file| file.is_file());
    }
    let is_yaml = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    (is_yaml && path.is_file()).then(|| path.to_owned())
}

/// Without the `.` in `a/./b`, which only makes messages longer.
fn tidy(path: &Path) -> PathBuf {
    path.components().collect()
}

fn expand_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), crate::paths::home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// The text of a regular file of bearable size, or why there is none.
pub(super) fn read_text(path: &Path) -> Result<String, String> {
    let told = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    };
    // A pipe or a device would never end.
    if !fs::metadata(path).map_err(told)?.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes))
        .map_err(told)?;
    if bytes.len() as u64 > LONGEST {
        return Err(format!("it is longer than {} KiB", LONGEST / 1024));
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
