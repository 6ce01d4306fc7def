//! One agent out of its file and everything that file extends: the child's word over the parent's.

use std::path::PathBuf;

use super::builtin;
use super::error::AgentError;
use super::source::{AgentSource, Folder};
use super::spec::{self, Located, PromptRef, Spec};
use super::template::Prompt;
use super::{Subagent, tool_names};
use crate::paths::Paths;

/// An agent with all paths found and all parents merged; its prompt not yet filled in.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) prompt: Prompt,
    pub(super) args: Vec<(String, String)>,
    pub(super) tools: Vec<String>,
    pub(super) exclude_tools: Vec<String>,
    pub(super) model: Option<String>,
    pub(super) mcp: Option<PathBuf>,
    pub(super) mcp_of_caller: bool,
    pub(super) mcp_exclude: Vec<String>,
    pub(super) subagents: Vec<Subagent>,
    pub(super) warnings: Vec<String>,
}

/// What `mcp` says instead of a file: the servers are the caller's.
const CALLERS: &str = "caller";

/// What has been gathered on the way from the oldest ancestor down.
#[derive(Default)]
struct Merged {
    prompt: Option<Prompt>,
    args: Vec<(String, String)>,
    tools: Option<Vec<String>>,
    allowed_tools: Option<Vec<String>>,
    exclude_tools: Option<Vec<String>>,
    model: Option<String>,
    mcp: Option<PathBuf>,
    mcp_of_caller: bool,
    mcp_exclude: Option<Vec<String>>,
    subagents: Option<Vec<Subagent>>,
    warnings: Vec<String>,
}

/// Follows `source` and its parents.
pub(super) fn resolve(source: &AgentSource, paths: &Paths) -> Result<Resolved, AgentError> {
    let mut line = lineage(source, paths)?;
    let (name, description) = match line.first() {
        Some((source, spec)) => {
            (spec.name.clone().unwrap_or_else(|| source.default_name()), spec.description.clone())
        }
        None => (source.default_name(), None),
    };
    let mut merged = Merged::default();
    while let Some((source, spec)) = line.pop() {
        merge(&mut merged, &source, spec, paths)?;
    }
    let missing = |what: &str| AgentError::Invalid {
        file: source.to_string(),
        line: 1,
        problem: format!("the agent has no {what}"),
    };
    let prompt = merged.prompt.ok_or_else(|| {
        missing("system prompt. Write system_prompt_path: ./system.md, or extend: default")
    })?;
    let tools = merged
        .tools
        .ok_or_else(|| missing("tools. Write tools: [ReadFile, Grep], or extend: default"))?;
    Ok(Resolved {
        name,
        description,
        prompt,
        args: merged.args,
        tools: tool_names::allow(tools, merged.allowed_tools.as_deref()),
        exclude_tools: merged.exclude_tools.unwrap_or_default(),
        model: merged.model,
        mcp: merged.mcp,
        mcp_of_caller: merged.mcp_of_caller,
        mcp_exclude: merged.mcp_exclude.unwrap_or_default(),
        subagents: merged.subagents.unwrap_or_default(),
        warnings: merged.warnings,
    })
}

/// The agent itself, its parent, its parent's parent.
fn lineage(start: &AgentSource, paths: &Paths) -> Result<Vec<(AgentSource, Spec)>, AgentError> {
    let mut line: Vec<(AgentSource, Spec)> = Vec::new();
    let mut next = Some(start.clone());
    while let Some(source) = next.take() {
        let file = source.to_string();
        let spec = spec::read(&file, &source.text()?)?;
        if let Some(Located { line: at, value }) = &spec.extend {
            let parent = source.folder().find(value, paths).ok_or_else(|| AgentError::Invalid {
                file: file.clone(),
                line: *at,
                problem: no_parent(value),
            })?;
            let so_far = line.iter().map(|(source, _)| source).chain([&source]);
            if let Some(from) = so_far.clone().position(|s| s.identity() == parent.identity()) {
                let mut chain: Vec<String> = so_far.skip(from).map(ToString::to_string).collect();
                chain.push(parent.to_string());
                return Err(AgentError::Circle { file, line: *at, chain: chain.join(" -> ") });
            }
            next = Some(parent);
        }
        line.push((source, spec));
    }
    Ok(line)
}

fn no_parent(name: &str) -> String {
    let known: Vec<_> = builtin::BUILTINS.iter().map(|agent| agent.name).collect();
    format!(
        "extend: there is no agent \"{name}\". Write a built-in one ({}) or a path relative to this file",
        known.join(", ")
    )
}

fn merge(
    merged: &mut Merged,
    source: &AgentSource,
    spec: Spec,
    paths: &Paths,
) -> Result<(), AgentError> {
    let folder = source.folder();
    merged.warnings.extend(spec.warnings);
    if let Some(prompt) = spec.prompt {
        merged.prompt = Some(read_prompt(source, &folder, prompt)?);
    }
    for (name, value) in spec.args {
        merged.args.retain(|(known, _)| *known != name);
        merged.args.push((name, value));
    }
    if let Some(Located { line, value }) = spec.mcp {
        merged.mcp_of_caller = value == CALLERS;
        match &folder {
            _ if merged.mcp_of_caller => merged.mcp = None,
            Folder::Disk(folder) => merged.mcp = Some(folder.join(value)),
            Folder::BuiltIn(_) => {
                merged
                    .warnings
                    .push(format!("{source}:{line}: mcp is ignored in a built-in agent"));
            }
        }
    }
    if let Some(subagents) = spec.subagents {
        let mut found = Vec::new();
        for subagent in subagents {
            match folder.find(&subagent.path.value, paths) {
                Some(source) => found.push(Subagent {
                    name: subagent.name,
                    description: subagent.description,
                    source,
                }),
                None => merged.warnings.push(format!(
                    "{source}:{}: subagent {} is ignored: there is no agent at {}",
                    subagent.path.line, subagent.name, subagent.path.value
                )),
            }
        }
        merged.subagents = Some(found);
    }
    over(&mut merged.tools, spec.tools);
    over(&mut merged.allowed_tools, spec.allowed_tools);
    over(&mut merged.exclude_tools, spec.exclude_tools);
    over(&mut merged.model, spec.model);
    over(&mut merged.mcp_exclude, spec.mcp_exclude);
    Ok(())
}

fn over<T>(parent: &mut Option<T>, child: Option<T>) {
    if child.is_some() {
        *parent = child;
    }
}

fn read_prompt(
    source: &AgentSource,
    folder: &Folder,
    prompt: Located<PromptRef>,
) -> Result<Prompt, AgentError> {
    let line = prompt.line;
    match prompt.value {
        PromptRef::Inline(text) => Ok(Prompt {
            file: source.to_string(),
            inline_at: Some(line),
            text,
            folder: folder.clone(),
        }),
        PromptRef::Path(path) => {
            let (file, text) = folder.read(&path);
            let text = text.map_err(|reason| AgentError::Unreadable {
                place: format!("{source}:{line}"),
                what: format!("the system prompt {file}"),
                reason,
            })?;
            Ok(Prompt { file, inline_at: None, text, folder: folder.clone() })
        }
    }
}
