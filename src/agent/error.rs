//! Why an agent cannot be loaded, for a person.

/// An agent that cannot be loaded: where, why, and what to write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// No agent has this name.
    #[error(
        "unknown agent \"{name}\" (known: {known}). Choose one of them, or put yours at {wanted}"
    )]
    Unknown {
        /// The name asked for.
        name: String,
        /// All names there are, joined.
        known: String,
        /// Where a file of that name would be looked for.
        wanted: String,
    },
    /// A file is missing or cannot be read.
    #[error("{place}: cannot read {what}: {reason}")]
    Unreadable {
        /// The file, or the file and line that names it.
        place: String,
        /// What it should be.
        what: String,
        /// Why, and what to do.
        reason: String,
    },
    /// A file says something that cannot be.
    #[error("{file}:{line}: {problem}")]
    Invalid {
        /// The agent file or prompt.
        file: String,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong and what to write.
        problem: String,
    },
    /// Agents extend each other in a circle.
    #[error(
        "{file}:{line}: extend goes round in a circle: {chain}. Let one of them extend default, or nothing"
    )]
    Circle {
        /// The file that closes the circle.
        file: String,
        /// The line of its `extend`.
        line: u64,
        /// The files in order, the first one again at the end.
        chain: String,
    },
}
