//! The agents that come with the program, embedded from `agents/`.

/// One built-in agent's files.
pub(super) struct Builtin {
    /// The name of its folder, which is the agent's.
    pub(super) name: &'static str,
    /// Path below `agents/NAME/` and content. `agent.yaml` is always there.
    pub(super) files: &'static [(&'static str, &'static str)],
}

macro_rules! builtin {
    ($name:literal: $($file:literal),+) => {
        Builtin {
            name: $name,
            files: &[$(($file, include_str!(concat!("../../agents/", $name, "/", $file)))),+],
        }
    };
}

/// All of them, in the order they are listed to a person.
pub(super) const BUILTINS: &[Builtin] = &[
    builtin!("default": "agent.yaml", "system.md", "coder.yaml", "explore.yaml", "plan.yaml"),
    builtin!("okabe": "agent.yaml", "system.md", "checkpoints.md"),
    builtin!("security": "agent.yaml", "system.md", "method.md"),
    builtin!(
        "security_beta":
        "agent.yaml",
        "system.md",
        "knowledge/access.md",
        "knowledge/injection.md",
        "knowledge/memory.md",
        "knowledge/secrets.md",
        "knowledge/supply_chain.md"
    ),
    builtin!("ctfer": "agent.yaml", "system.md"),
];

/// The built-in agent of that name.
pub(super) fn find(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|agent| agent.name == name)
}

impl Builtin {
    /// One of its files.
    pub(super) fn file(&self, path: &str) -> Option<&'static str> {
        self.entry(path).map(|(_, text)| text)
    }

    /// The same with its name.
    pub(super) fn entry(&self, path: &str) -> Option<(&'static str, &'static str)> {
        let path = path.strip_prefix("./").unwrap_or(path);
        self.files.iter().find(|(name, _)| *name == path).copied()
    }
}
