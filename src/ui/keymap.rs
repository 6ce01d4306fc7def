//! The keymap: which key does what where. Help, footer hints and `docs/keys.md` come from this one
//! table, so they cannot disagree with what the keys do.

mod user;

use std::collections::HashMap;

use super::key::KeyPress;

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
    /// The transcript has the focus.
    Transcript,
    /// One cell on the whole screen.
    Pager,
    /// A search is written.
    Search,
    /// The list of sessions.
    Sessions,
    /// The help page.
    Help,
    /// A question with an answer to confirm.
    Dialog,
    /// A list to search: commands, earlier prompts.
    Picker,
}

impl Context {
    /// All of them, in the order help shows them.
    pub const ALL: [Self; 12] = [
        Self::Composer,
        Self::Transcript,
        Self::Search,
        Self::Pager,
        Self::Approval,
        Self::Question,
        Self::Timeline,
        Self::Sessions,
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
            Self::Approval => "Approval",
            Self::Question => "Questions",
            Self::Timeline => "Timeline",
            Self::Transcript => "Transcript",
            Self::Pager => "Pager",
            Self::Search => "Search",
            Self::Sessions => "Sessions",
            Self::Help => "Help",
            Self::Dialog => "Dialog",
            Self::Picker => "Search lists",
        }
    }
}

/// What a key can do. Slash commands and keys share these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Send what is in the composer.
    Submit,
    /// A new line in the composer.
    Newline,
    /// Put the text into the running turn.
    Steer,
    /// Complete the slash command.
    Complete,
    /// An earlier prompt, or the line above.
    Previous,
    /// A later prompt, or the line below.
    Next,
    /// Stop what runs; twice leaves.
    Interrupt,
    /// Leave.
    Quit,
    /// One step back.
    Back,
    /// The keys.
    Help,
    /// Show or hide the sidebar.
    ToggleSidebar,
    /// To the timeline and back.
    FocusTimeline,
    /// The list of sessions.
    Sessions,
    /// A new session.
    NewSession,
    /// All actions and commands, to search.
    Palette,
    /// Earlier prompts, to search.
    SearchHistory,
    /// Write the draft in the external editor.
    ExternalEditor,
    /// Summarise the context.
    Compact,
    /// Empty the context.
    Clear,
    /// Scroll up a line.
    ScrollUp,
    /// Scroll down a line.
    ScrollDown,
    /// Scroll up a page.
    PageUp,
    /// Scroll down a page.
    PageDown,
    /// To the beginning.
    Top,
    /// To the end, and follow.
    Bottom,
    /// Show all or little of tool output.
    ToggleDetails,
    /// Draw everything again.
    Redraw,
    /// Suspend the program.
    Suspend,
    /// Let it be done once.
    Approve,
    /// Let it and its like be done in this session.
    ApproveForSession,
    /// Let all commands that begin like it be done in this session.
    ApproveByRule,
    /// Let a wider rule be offered.
    WidenRule,
    /// Let a narrower rule be offered.
    NarrowRule,
    /// Change the command before it is run.
    EditCommand,
    /// Do not let it be done.
    Reject,
    /// Do not, and say what to do instead.
    RejectWithFeedback,
    /// Plan mode on or off.
    TogglePlan,
    /// Take or choose the option of this number.
    Option(u8),
    /// Choose the marked option beside others.
    ToggleOption,
    /// The question before.
    PreviousQuestion,
    /// The question after.
    NextQuestion,
    /// Do not answer.
    Dismiss,
    /// Move up.
    SelectPrevious,
    /// Move down.
    SelectNext,
    /// Take what is selected.
    Choose,
    /// Back to the selected checkpoint.
    Revert,
    /// Back to the selected checkpoint with a message.
    DMail,
    /// To the transcript.
    FocusTranscript,
    /// The prompt before.
    PreviousPrompt,
    /// The prompt after.
    NextPrompt,
    /// The tool call before.
    PreviousCall,
    /// The tool call after.
    NextCall,
    /// Scroll up half a page.
    HalfUp,
    /// Scroll down half a page.
    HalfDown,
    /// Show all or little of the selected cell.
    Fold,
    /// The selected cell on the whole screen.
    Open,
    /// Copy the selected cell's source.
    Copy,
    /// Copy a block of code, or what a tool was called with.
    CopyCode,
    /// Search.
    Search,
    /// The next match.
    NextMatch,
    /// The match before.
    PreviousMatch,
}

/// One row of the keymap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// Where.
    pub context: Context,
    /// Which keys; the first is the one shown in hints.
    pub keys: Vec<KeyPress>,
    /// What it does.
    pub action: Action,
    /// What it does, in a few words for help.
    pub label: &'static str,
    /// What it does, in a word for the footer; empty to leave it out there.
    pub hint: &'static str,
}

type Row = (Context, &'static str, Action, &'static str, &'static str);

/// Keys are separated by spaces.
const DEFAULTS: &[Row] = &[
    (
        Context::Composer,
        "enter",
        Action::Submit,
        "Send; while a turn runs, queue for after it",
        "send",
    ),
    (Context::Composer, "ctrl-j alt-enter shift-enter", Action::Newline, "New line", ""),
    (Context::Composer, "ctrl-s", Action::Steer, "Put the text into the running turn", ""),
    (
        Context::Composer,
        "tab",
        Action::Complete,
        "Complete the slash command; from an empty composer, to the transcript",
        "",
    ),
    (Context::Composer, "ctrl-r", Action::SearchHistory, "Search earlier prompts", ""),
    (Context::Composer, "ctrl-o", Action::ExternalEditor, "Write on in the external editor", ""),
    (Context::Composer, "up", Action::Previous, "Line above, or an earlier prompt", ""),
    (Context::Composer, "down", Action::Next, "Line below, or a later prompt", ""),
    (Context::Transcript, "up k", Action::SelectPrevious, "Cell above", "move"),
    (Context::Transcript, "down j", Action::SelectNext, "Cell below", ""),
    (Context::Transcript, "[ K", Action::PreviousPrompt, "Previous prompt", "prompts"),
    (Context::Transcript, "] J", Action::NextPrompt, "Next prompt", ""),
    (Context::Transcript, "{ T", Action::PreviousCall, "Previous tool call", ""),
    (Context::Transcript, "} t", Action::NextCall, "Next tool call", ""),
    (Context::Transcript, "u ctrl-u", Action::HalfUp, "Up half a page", ""),
    (Context::Transcript, "d ctrl-d", Action::HalfDown, "Down half a page", ""),
    (Context::Transcript, "g home", Action::Top, "To the beginning", ""),
    (Context::Transcript, "G end", Action::Bottom, "To the end, and follow", ""),
    (Context::Transcript, "enter space", Action::Fold, "Show all or little of this cell", "fold"),
    (Context::Transcript, "o v", Action::Open, "This cell on the whole screen", "open"),
    (Context::Transcript, "y", Action::Copy, "Copy what this cell was made from", "copy"),
    (
        Context::Transcript,
        "c",
        Action::CopyCode,
        "Copy a block of code of it (again: the next), or what the tool was called with",
        "copy code",
    ),
    (Context::Transcript, "/", Action::Search, "Search", "search"),
    (Context::Transcript, "n", Action::NextMatch, "Next match", ""),
    (Context::Transcript, "N", Action::PreviousMatch, "Previous match", ""),
    (Context::Transcript, "tab i", Action::Back, "To the composer", ""),
    (Context::Search, "enter", Action::Choose, "Look for it", "find"),
    (Context::Search, "up", Action::Previous, "What was looked for last", ""),
    (Context::Pager, "up k", Action::ScrollUp, "Up a line", "scroll"),
    (Context::Pager, "down j", Action::ScrollDown, "Down a line", ""),
    (Context::Pager, "u ctrl-u", Action::HalfUp, "Up half a page", ""),
    (Context::Pager, "d ctrl-d", Action::HalfDown, "Down half a page", ""),
    (Context::Pager, "b", Action::PageUp, "Up a page", ""),
    (Context::Pager, "space", Action::PageDown, "Down a page", "page"),
    (Context::Pager, "g home", Action::Top, "To the beginning", ""),
    (Context::Pager, "G end", Action::Bottom, "To the end", ""),
    (Context::Pager, "/", Action::Search, "Search", "search"),
    (Context::Pager, "n", Action::NextMatch, "Next match", "next"),
    (Context::Pager, "N", Action::PreviousMatch, "Previous match", ""),
    (Context::Pager, "y", Action::Copy, "Copy what this cell was made from", "copy"),
    (Context::Pager, "q o", Action::Back, "Close", ""),
    (Context::Approval, "y 1", Action::Approve, "Approve once", "approve"),
    (Context::Approval, "a 2", Action::ApproveForSession, "Approve for this session", "session"),
    (Context::Approval, "p", Action::ApproveByRule, "Approve commands that begin like it", ""),
    (Context::Approval, "right l", Action::WidenRule, "A wider rule: fewer words", ""),
    (Context::Approval, "left h", Action::NarrowRule, "A narrower rule: more words", ""),
    (Context::Approval, "e", Action::EditCommand, "Change the command, then run it", "edit"),
    (Context::Approval, "n 3", Action::Reject, "Reject", "reject"),
    (
        Context::Approval,
        "f 4",
        Action::RejectWithFeedback,
        "Reject and say what to do instead",
        "reject, say why",
    ),
    (Context::Approval, "up k", Action::SelectPrevious, "Option above", ""),
    (Context::Approval, "down j", Action::SelectNext, "Option below", ""),
    (Context::Approval, "enter", Action::Choose, "Take the marked option", ""),
    (
        Context::Question,
        "enter",
        Action::Choose,
        "Take the marked option; confirm several",
        "answer",
    ),
    (Context::Question, "space", Action::ToggleOption, "Choose among several", "choose"),
    (Context::Question, "1", Action::Option(1), "The first option", ""),
    (Context::Question, "2", Action::Option(2), "The second option", ""),
    (Context::Question, "3", Action::Option(3), "The third option", ""),
    (Context::Question, "4", Action::Option(4), "The fourth option", ""),
    (Context::Question, "5", Action::Option(5), "The fifth option", ""),
    (Context::Question, "6", Action::Option(6), "The sixth option", ""),
    (Context::Question, "up k", Action::SelectPrevious, "Option above", ""),
    (Context::Question, "down j", Action::SelectNext, "Option below", ""),
    (Context::Question, "left shift-tab", Action::PreviousQuestion, "Question before", ""),
    (Context::Question, "right tab", Action::NextQuestion, "Question after", "next"),
    (Context::Question, "esc", Action::Dismiss, "Do not answer", "dismiss"),
    (Context::Timeline, "up k", Action::SelectPrevious, "Earlier checkpoint", "move"),
    (Context::Timeline, "down j", Action::SelectNext, "Later checkpoint", ""),
    (Context::Timeline, "enter", Action::Choose, "Show this place in the conversation", "show"),
    (Context::Timeline, "r", Action::Revert, "Go back to this checkpoint", "revert"),
    (
        Context::Timeline,
        "d",
        Action::DMail,
        "Go back with a message to the past (D-Mail)",
        "D-Mail",
    ),
    (Context::Sessions, "up ctrl-p", Action::SelectPrevious, "Session above", "move"),
    (Context::Sessions, "down ctrl-n", Action::SelectNext, "Session below", ""),
    (Context::Sessions, "enter", Action::Choose, "Open this session", "open"),
    (Context::Picker, "up ctrl-p", Action::SelectPrevious, "Line above", "move"),
    (Context::Picker, "down ctrl-n", Action::SelectNext, "Line below", ""),
    (Context::Picker, "enter", Action::Choose, "Take this line", "choose"),
    (Context::Dialog, "enter", Action::Choose, "Do it", "confirm"),
    (Context::Help, "up k", Action::ScrollUp, "Up", "scroll"),
    (Context::Help, "down j", Action::ScrollDown, "Down", ""),
    (Context::Global, "esc", Action::Back, "One step back; stops a running turn", "back"),
    (
        Context::Global,
        "ctrl-c",
        Action::Interrupt,
        "Stop what runs; clear the draft; twice: leave",
        "",
    ),
    (Context::Global, "ctrl-d", Action::Quit, "Leave, when nothing is typed", "quit"),
    (
        Context::Global,
        "f1",
        Action::Help,
        "Keys and commands (also ? in an empty composer)",
        "help",
    ),
    (Context::Global, "f2", Action::ToggleSidebar, "Show or hide the panes", ""),
    (Context::Global, "ctrl-t f4", Action::FocusTimeline, "Timeline and back", "timeline"),
    (Context::Global, "ctrl-g f3", Action::Sessions, "Sessions of this folder", "sessions"),
    (Context::Global, "ctrl-p", Action::Palette, "All actions and commands, to search", ""),
    (Context::Global, "f5", Action::NewSession, "New session", ""),
    (Context::Global, "shift-tab", Action::TogglePlan, "Plan mode on or off (/plan)", ""),
    (Context::Global, "f6", Action::Compact, "Summarise the context (/compact)", ""),
    (Context::Global, "f8", Action::Clear, "Empty the context (/clear), asks first", ""),
    (
        Context::Global,
        "ctrl-e",
        Action::ToggleDetails,
        "Show all or little of tool output",
        "details",
    ),
    (Context::Global, "pageup", Action::PageUp, "Scroll up a page", ""),
    (Context::Global, "pagedown", Action::PageDown, "Scroll down a page", ""),
    (Context::Global, "alt-up", Action::ScrollUp, "Scroll up a line", ""),
    (Context::Global, "alt-down", Action::ScrollDown, "Scroll down a line", ""),
    (Context::Global, "ctrl-home", Action::Top, "To the beginning", ""),
    (Context::Global, "ctrl-end", Action::Bottom, "To the end, and follow", ""),
    (Context::Global, "ctrl-l", Action::Redraw, "Draw the screen again", ""),
    (Context::Global, "ctrl-z", Action::Suspend, "Suspend; fg comes back", ""),
];

/// Keys to actions, by context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    bindings: Vec<Binding>,
    index: HashMap<(Context, KeyPress), Action>,
}

impl Default for Keymap {
    fn default() -> Self {
        Self::from_bindings(
            DEFAULTS
                .iter()
                .map(|&(context, keys, action, label, hint)| Binding {
                    context,
                    keys: keys.split(' ').filter_map(|key| key.parse().ok()).collect(),
                    action,
                    label,
                    hint,
                })
                .collect(),
        )
    }
}

impl Keymap {
    fn from_bindings(bindings: Vec<Binding>) -> Self {
        let mut index = HashMap::new();
        for binding in &bindings {
            for key in &binding.keys {
                index.entry((binding.context, *key)).or_insert(binding.action);
            }
        }
        Self { bindings, index }
    }

    /// What `key` does in `context`, the global meaning of the key not considered.
    #[must_use]
    pub fn in_context(&self, context: Context, key: KeyPress) -> Option<Action> {
        self.index.get(&(context, key)).copied()
    }

    /// What `key` does in `context` or everywhere.
    #[must_use]
    pub fn lookup(&self, context: Context, key: KeyPress) -> Option<Action> {
        self.in_context(context, key).or_else(|| self.in_context(Context::Global, key))
    }

    /// Every action that can be carried out from anywhere, for the palette.
    pub fn everywhere(&self) -> impl Iterator<Item = &Binding> {
        self.of(Context::Global)
            .chain(self.of(Context::Composer).filter(|binding| {
                matches!(binding.action, Action::SearchHistory | Action::ExternalEditor)
            }))
            .filter(|binding| binding.action != Action::Palette)
    }

    /// The rows of one context, for help.
    pub fn of(&self, context: Context) -> impl Iterator<Item = &Binding> {
        self.bindings.iter().filter(move |binding| binding.context == context)
    }

    /// The first key for `action` in `context` or everywhere, as text.
    #[must_use]
    pub fn key_for(&self, context: Context, action: Action) -> Option<String> {
        self.of(context)
            .chain(self.of(Context::Global))
            .find(|binding| binding.action == action)
            .and_then(|binding| binding.keys.first())
            .map(ToString::to_string)
    }

    /// Footer hints of a context: key and word.
    #[must_use]
    pub fn hints(&self, context: Context) -> Vec<(String, &'static str)> {
        self.of(context)
            .filter(|binding| !binding.hint.is_empty())
            .filter_map(|binding| Some((binding.keys.first()?.to_string(), binding.hint)))
            .collect()
    }

    /// The reference that `docs/keys.md` holds.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut out = String::from(
            "# Keys\n\nMade from the keymap in `src/ui/keymap.rs`; a test keeps the two equal \
             (`UPDATE_DOCS=1 cargo test keys_page` writes this page anew).\n\n\
             ## Your own keys\n\n\
             Write `keymap.toml` into the data folder (`~/.kimi`). A table for each place below, in it \
             the name of an action and its keys, which replace the default ones there; an empty list \
             takes them away:\n\n\
             ```toml\n[composer]\nsubmit = \"ctrl-j\"\nnewline = [\"enter\", \"alt-enter\"]\n\n\
             [timeline]\nrevert = []\n```\n\n\
             What is wrong in it is told at the start, with its line, and left out.\n",
        );
        for context in Context::ALL {
            out.push_str(&format!(
                "\n## {}, `[{}]`\n\n| Keys | What they do | Name |\n|---|---|---|\n",
                context.title(),
                context.name()
            ));
            for binding in self.of(context) {
                let keys: Vec<_> = binding.keys.iter().map(|key| format!("`{key}`")).collect();
                let name = binding.action.name();
                let keys = keys.join(" ");
                out.push_str(&format!("| {keys} | {} | `{name}` |\n", binding.label));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests;
