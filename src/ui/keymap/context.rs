//! The places a key can be pressed in.

/// Where a key was pressed. A key that means nothing there is looked up in [`Context::Global`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Context {
    /// Everywhere.
    Global,
    /// The box that is typed into.
    Composer,
    /// An approval request waits.
    Approval,
    /// The agent asks the person something.
    Question,
    /// The checkpoint timeline.
    Timeline,
    /// The pane of tool calls.
    Calls,
    /// What the context consists of.
    Ledger,
    /// An earlier context, to be read.
    Past,
    /// What a compaction took out of the context.
    Losses,
    /// What going back would do to files.
    Rewind,
    /// What waits for the running turn to end.
    Queue,
    /// The transcript has the focus.
    Transcript,
    /// One cell on the whole screen.
    Pager,
    /// A search is written.
    Search,
    /// The list of sessions.
    Sessions,
    /// The deleted sessions.
    Trash,
    /// The background tasks.
    Tasks,
    /// A recording is played.
    Replay,
    /// The help page.
    Help,
    /// A question with an answer to confirm.
    Dialog,
    /// A list to search: commands, earlier prompts.
    Picker,
}

impl Context {
    /// All of them, in the order help shows them.
    pub const ALL: [Self; 21] = [
        Self::Composer,
        Self::Queue,
        Self::Transcript,
        Self::Search,
        Self::Pager,
        Self::Approval,
        Self::Question,
        Self::Timeline,
        Self::Past,
        Self::Losses,
        Self::Calls,
        Self::Ledger,
        Self::Rewind,
        Self::Sessions,
        Self::Trash,
        Self::Tasks,
        Self::Replay,
        Self::Picker,
        Self::Dialog,
        Self::Help,
        Self::Global,
    ];

    /// Its heading in help.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Global => "Everywhere",
            Self::Composer => "Composer",
            Self::Queue => "What is queued",
            Self::Approval => "Approval",
            Self::Question => "Questions",
            Self::Timeline => "Timeline",
            Self::Calls => "Tool calls",
            Self::Ledger => "What fills the context",
            Self::Past => "An earlier context",
            Self::Losses => "What was taken out of the context",
            Self::Rewind => "Taking files back",
            Self::Transcript => "Transcript",
            Self::Pager => "Pager",
            Self::Search => "Search",
            Self::Sessions => "Sessions",
            Self::Trash => "Deleted sessions",
            Self::Tasks => "Background tasks",
            Self::Replay => "Replay",
            Self::Help => "Help",
            Self::Dialog => "Dialog",
            Self::Picker => "Search lists",
        }
    }
}
