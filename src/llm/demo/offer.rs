//! The tools the agent offers, as the demo model uses them.

use serde_json::{Value, json};

use super::Move;
use crate::llm::ToolSpec;

/// What a tool is for. Agents may offer it under one of several names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    Read,
    Search,
    Glob,
    Write,
    Edit,
    Run,
    Todo,
    Think,
    DMail,
    Delegate,
}

impl Kind {
    /// Ours first, then the Python program's.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::List => &["LS"],
            Self::Read => &["ReadFile"],
            Self::Search => &["Grep"],
            Self::Glob => &["Glob"],
            Self::Write => &["WriteFile"],
            Self::Edit => &["EditFile", "StrReplaceFile"],
            Self::Run => &["Bash", "Shell", "CMD"],
            Self::Todo => &["Todo", "SetTodoList"],
            Self::Think => &["Think"],
            Self::DMail => &["SendDMail"],
            Self::Delegate => &["Task", "Agent"],
        }
    }

    /// What a tool of this name is for.
    pub(super) fn of(name: &str) -> Option<Self> {
        const ALL: [Kind; 11] = [
            Kind::List,
            Kind::Read,
            Kind::Search,
            Kind::Glob,
            Kind::Write,
            Kind::Edit,
            Kind::Run,
            Kind::Todo,
            Kind::Think,
            Kind::DMail,
            Kind::Delegate,
        ];
        ALL.into_iter().find(|kind| kind.names().contains(&name))
    }
}

/// The offered tools.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offer<'a> {
    tools: &'a [ToolSpec],
}

impl<'a> Offer<'a> {
    pub(super) fn new(tools: &'a [ToolSpec]) -> Self {
        Self { tools }
    }

    fn find(self, kind: Kind) -> Option<&'a ToolSpec> {
        kind.names().iter().find_map(|name| self.tools.iter().find(|tool| tool.name == *name))
    }

    /// Is there a tool for it?
    pub(super) fn has(self, kind: Kind) -> bool {
        self.find(kind).is_some()
    }

    /// The names of all of them, as a person sees them.
    pub(super) fn names(self) -> String {
        self.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// A call of the tool for `kind`.
    pub(super) fn call(self, kind: Kind, arguments: Value) -> Option<Move> {
        let tool = self.find(kind)?.name.clone();
        Some(Move::Call { tool, arguments })
    }

    /// Lists a folder: with the tool for it, else with what can do it too.
    pub(super) fn list(self, folder: &str) -> Option<Move> {
        self.call(Kind::List, json!({"path": folder}))
            .or_else(|| match folder {
                "." => self.glob("*"),
                folder => self.glob(&format!("{}/*", folder.trim_end_matches('/'))),
            })
            .or_else(|| self.run("ls"))
    }

    pub(super) fn read(self, path: &str) -> Option<Move> {
        self.call(Kind::Read, json!({"path": path}))
    }

    pub(super) fn search(self, text: &str, path: Option<&str>) -> Option<Move> {
        let pattern = regex::escape(text);
        let mut arguments = json!({"pattern": pattern, "output_mode": "content"});
        if let Some(path) = path {
            arguments["path"] = json!(path);
        }
        self.call(Kind::Search, arguments)
    }

    pub(super) fn glob(self, pattern: &str) -> Option<Move> {
        self.call(Kind::Glob, json!({"pattern": pattern}))
    }

    pub(super) fn write(self, path: &str, content: &str) -> Option<Move> {
        self.call(Kind::Write, json!({"path": path, "content": content}))
    }

    pub(super) fn edit(self, path: &str, old: &str, new: &str) -> Option<Move> {
        self.call(Kind::Edit, json!({"path": path, "edit": {"old": old, "new": new}}))
    }

    pub(super) fn run(self, command: &str) -> Option<Move> {
        self.call(Kind::Run, json!({"command": command}))
    }

    /// The todo list with the first `done` entries done and the next one begun.
    pub(super) fn todo(self, titles: &[&str], done: usize) -> Option<Move> {
        let status = |at: usize| match at.cmp(&done) {
            std::cmp::Ordering::Less => "done",
            std::cmp::Ordering::Equal => "in_progress",
            std::cmp::Ordering::Greater => "pending",
        };
        let entries: Vec<Value> = titles
            .iter()
            .enumerate()
            .map(|(at, title)| json!({"title": title, "status": status(at)}))
            .collect();
        self.call(Kind::Todo, json!({"todos": entries}))
    }

    pub(super) fn think(self, thought: &str) -> Option<Move> {
        self.call(Kind::Think, json!({"thought": thought}))
    }

    pub(super) fn dmail(self, message: &str, checkpoint: u64) -> Option<Move> {
        self.call(Kind::DMail, json!({"message": message, "checkpoint_id": checkpoint}))
    }
}
