//! What one agent file says, before `extend` and paths are followed.
//!
//! Two shapes are read. The Python program's has everything below `agent:` beside `version: 1`
//! (`kimi-cli` `agentspec.py:12-60`); the flat one has the same keys at the top, with `vars` for
//! `system_prompt_args` and `mcp`, `mcp_exclude` beside them.

use super::error::AgentError;
use super::yaml::{self, Entry, Node, Value};

/// A value with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Located<T> {
    pub(super) line: u64,
    pub(super) value: T,
}

/// Where the system prompt comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PromptRef {
    /// It stands in the agent file.
    Inline(String),
    /// It is a file.
    Path(String),
}

/// One entry of `subagents`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SubagentRef {
    pub(super) name: String,
    pub(super) path: Located<String>,
    pub(super) description: String,
}

/// One file's settings; `None` is "as the parent has it".
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Spec {
    pub(super) extend: Option<Located<String>>,
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) prompt: Option<Located<PromptRef>>,
    pub(super) args: Vec<(String, String)>,
    pub(super) tools: Option<Vec<String>>,
    pub(super) allowed_tools: Option<Vec<String>>,
    pub(super) exclude_tools: Option<Vec<String>>,
    pub(super) mcp: Option<Located<String>>,
    pub(super) mcp_exclude: Option<Vec<String>>,
    pub(super) subagents: Option<Vec<SubagentRef>>,
    pub(super) model: Option<String>,
    pub(super) warnings: Vec<String>,
}

/// Every key of an agent, in either shape.
pub(super) const KEYS: &[&str] = &[
    "allowed_tools",
    "description",
    "exclude_tools",
    "extend",
    "mcp",
    "mcp_exclude",
    "model",
    "name",
    "subagents",
    "system_prompt",
    "system_prompt_args",
    "system_prompt_path",
    "tools",
    "vars",
    "version",
    "when_to_use",
];

/// Versions of the format: the Python program's, and the flat shape's.
const VERSIONS: &[&str] = &["1", "1.0", "0.1"];

/// Reads the text of the agent file that messages call `file`.
pub(super) fn read(file: &str, text: &str) -> Result<Spec, AgentError> {
    let root = yaml::parse(text).map_err(|fault| AgentError::Invalid {
        file: file.to_owned(),
        line: fault.line,
        problem: format!("this is not YAML: {}", fault.reason),
    })?;
    let mut reader = Reader { file, spec: Spec::default() };
    reader.root(root)?;
    Ok(reader.spec)
}

struct Reader<'a> {
    file: &'a str,
    spec: Spec,
}

impl Reader<'_> {
    fn wrong(&self, line: u64, problem: impl Into<String>) -> AgentError {
        AgentError::Invalid { file: self.file.to_owned(), line, problem: problem.into() }
    }

    fn warn(&mut self, line: u64, what: &str) {
        self.spec.warnings.push(format!("{}:{line}: {what}", self.file));
    }

    fn root(&mut self, root: Node) -> Result<(), AgentError> {
        let line = root.line;
        let Value::Map(entries) = root.value else {
            return Err(self.wrong(
                line.max(1),
                format!(
                    "an agent file is a map of keys, this is {}. Write for example `extend: default`",
                    root.value.kind()
                ),
            ));
        };
        let (nested, beside): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.key == "agent");
        let Some(agent) = nested.into_iter().next() else { return self.entries(beside) };
        for entry in beside {
            if entry.key == "version" {
                self.entry(entry)?;
            } else if KEYS.contains(&entry.key.as_str()) {
                let what = format!(
                    "\"{}\" stands beside \"agent\" and is ignored. Move it below agent",
                    entry.key
                );
                self.warn(entry.line, &what);
            } else {
                self.unknown(&entry);
            }
        }
        match agent.value.value {
            Value::Map(entries) => self.entries(entries),
            other => Err(self.wrong(
                agent.line,
                format!("agent: must be a map of keys, it is {}", other.kind()),
            )),
        }
    }

    fn entries(&mut self, entries: Vec<Entry>) -> Result<(), AgentError> {
        for entry in entries {
            // `model: null` and `tools:` say "as the parent has it", as upstream's nulls do.
            if KEYS.contains(&entry.key.as_str()) && entry.value.value == Value::Null {
                continue;
            }
            self.entry(entry)?;
        }
        Ok(())
    }

    fn entry(&mut self, entry: Entry) -> Result<(), AgentError> {
        match entry.key.as_str() {
            "version" => self.version(&entry)?,
            "extend" => self.spec.extend = Some(self.located(&entry)?),
            "name" => self.spec.name = Some(self.located(&entry)?.value),
            "description" | "when_to_use" => {
                let text = self.located(&entry)?.value;
                self.spec.description.get_or_insert(text);
            }
            "model" => self.spec.model = Some(self.located(&entry)?.value),
            "mcp" => self.spec.mcp = Some(self.located(&entry)?),
            "system_prompt" | "system_prompt_path" => self.prompt(&entry)?,
            "system_prompt_args" | "vars" => self.args(entry)?,
            "tools" => self.spec.tools = Some(self.names(entry)?),
            "allowed_tools" => self.spec.allowed_tools = Some(self.names(entry)?),
            "exclude_tools" => self.spec.exclude_tools = Some(self.names(entry)?),
            "mcp_exclude" => self.spec.mcp_exclude = Some(self.names(entry)?),
            "subagents" => self.spec.subagents = Some(self.subagents(entry)?),
            _ => self.unknown(&entry),
        }
        Ok(())
    }

    fn unknown(&mut self, entry: &Entry) {
        let meant = KEYS
            .iter()
            .filter(|known| alike(known, &entry.key))
            .max_by_key(|known| common_start(known, &entry.key));
        let advice = match meant {
            Some(known) => format!("Did you mean {known}?"),
            None => format!("Known keys: {}.", KEYS.join(", ")),
        };
        self.warn(entry.line, &format!("unknown key \"{}\" is ignored. {advice}", entry.key));
    }

    fn version(&self, entry: &Entry) -> Result<(), AgentError> {
        let told = entry.value.value.scalar().unwrap_or_default();
        if VERSIONS.contains(&told.as_str()) {
            return Ok(());
        }
        Err(self.wrong(entry.line, format!("version \"{told}\" is not known. Write version: 1")))
    }

    fn located(&self, entry: &Entry) -> Result<Located<String>, AgentError> {
        match entry.value.value.scalar() {
            Some(value) => Ok(Located { line: entry.line, value }),
            None => Err(self.wrong(
                entry.line,
                format!("{} must be text, it is {}", entry.key, entry.value.value.kind()),
            )),
        }
    }

    fn prompt(&mut self, entry: &Entry) -> Result<(), AgentError> {
        let Located { line, value } = self.located(entry)?;
        if value.trim().is_empty() {
            let problem = format!("{} is empty. Write a file name, or leave it out", entry.key);
            return Err(self.wrong(line, problem));
        }
        if self.spec.prompt.is_some() {
            let problem = "write either system_prompt or system_prompt_path, not both";
            return Err(self.wrong(line, problem));
        }
        // `system_prompt` is a file's name in the flat shape; a text of several lines is no name.
        let inline = entry.key == "system_prompt" && value.trim_end().contains('\n');
        let value = if inline { PromptRef::Inline(value) } else { PromptRef::Path(value) };
        self.spec.prompt = Some(Located { line, value });
        Ok(())
    }

    fn args(&mut self, entry: Entry) -> Result<(), AgentError> {
        let Value::Map(args) = entry.value.value else {
            let problem = format!(
                "{} must be a map of variables, it is {}. Write for example {}: {{ ROLE: reviewer }}",
                entry.key,
                entry.value.value.kind(),
                entry.key
            );
            return Err(self.wrong(entry.line, problem));
        };
        for arg in args {
            let value = match &arg.value.value {
                Value::Null => String::new(),
                other => other.scalar().ok_or_else(|| {
                    let problem = format!("{} must be text, it is {}", arg.key, other.kind());
                    self.wrong(arg.line, problem)
                })?,
            };
            if !is_variable(&arg.key) {
                let problem = format!(
                    "\"{}\" cannot be a variable: write letters, digits and _, a letter first",
                    arg.key
                );
                return Err(self.wrong(arg.line, problem));
            }
            self.spec.args.push((arg.key, value));
        }
        Ok(())
    }

    fn names(&self, entry: Entry) -> Result<Vec<String>, AgentError> {
        let Value::List(items) = entry.value.value else {
            let problem = format!(
                "{} must be a list of names, it is {}. Write for example {}: [ReadFile, Bash]",
                entry.key,
                entry.value.value.kind(),
                entry.key
            );
            return Err(self.wrong(entry.line, problem));
        };
        items
            .into_iter()
            .map(|item| match item.value {
                Value::Text(name) if !name.trim().is_empty() => Ok(name.trim().to_owned()),
                other => {
                    let problem =
                        format!("{} holds {}, where a name should be", entry.key, other.kind());
                    Err(self.wrong(item.line, problem))
                }
            })
            .collect()
    }

    fn subagents(&mut self, entry: Entry) -> Result<Vec<SubagentRef>, AgentError> {
        let Value::Map(subagents) = entry.value.value else {
            let problem = format!(
                "subagents must be a map, it is {}. Write for example \
                 subagents: {{ coder: {{ path: ./coder.yaml, description: Writes code }} }}",
                entry.value.value.kind()
            );
            return Err(self.wrong(entry.line, problem));
        };
        subagents.into_iter().map(|subagent| self.subagent(subagent)).collect()
    }

    fn subagent(&mut self, entry: Entry) -> Result<SubagentRef, AgentError> {
        let name = entry.key;
        let fields = match entry.value.value {
            Value::Text(path) => {
                let path = Located { line: entry.line, value: path };
                return Ok(SubagentRef { name, path, description: String::new() });
            }
            Value::Map(fields) => fields,
            other => {
                let problem = format!("subagent {name} must have a path, it is {}", other.kind());
                return Err(self.wrong(entry.line, problem));
            }
        };
        let mut path = None;
        let mut description = String::new();
        for field in fields {
            match field.key.as_str() {
                "path" => path = Some(self.located(&field)?),
                "description" => description = self.located(&field)?.value,
                other => {
                    let what = format!("unknown key \"{other}\" of subagent {name} is ignored");
                    self.warn(field.line, &what);
                }
            }
        }
        let missing = format!("subagent {name} has no path. Write path: and the agent's file");
        let path = path.ok_or_else(|| self.wrong(entry.line, missing))?;
        Ok(SubagentRef { name, path, description })
    }
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Is `written` a slip of `known`? A cheap guess is enough for a hint.
fn alike(known: &str, written: &str) -> bool {
    let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '_'], "");
    let (known, written) = (plain(known), plain(written));
    let start = common_start(&known, &written);
    known == written
        || start >= 3 && known.len().abs_diff(written.len()) <= 3 && start * 2 >= known.len()
}

fn common_start(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}
