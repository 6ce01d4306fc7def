//! The default keys: a table for each place. Keys are separated by spaces; the first is the one shown
//! in hints. Rows without keys are reached with the leader and through the palette.

use super::{Action, Context};

/// Keys, action, label for help, word for the footer (empty to leave it out there).
type Row = (&'static str, Action, &'static str, &'static str);

/// Every table, in the order help shows them.
pub(super) const DEFAULTS: &[(Context, &[Row])] = &[
    (Context::Composer, COMPOSER),
    (Context::Queue, QUEUE),
    (Context::Transcript, TRANSCRIPT),
    (Context::Search, SEARCH),
    (Context::Pager, PAGER),
    (Context::Approval, APPROVAL),
    (Context::Question, QUESTION),
    (Context::Timeline, TIMELINE),
    (Context::Past, PAST),
    (Context::Losses, LOSSES),
    (Context::Calls, CALLS),
    (Context::Ledger, LEDGER),
    (Context::Rewind, REWIND),
    (Context::Sessions, SESSIONS),
    (Context::Trash, TRASH),
    (Context::Tasks, TASKS),
    (Context::Replay, REPLAY),
    (Context::Picker, PICKER),
    (Context::Dialog, DIALOG),
    (Context::Help, HELP),
    (Context::Global, GLOBAL),
];

const COMPOSER: &[Row] = &[
    ("enter", Action::Submit, "Send; while a turn runs, queue for after it", "send"),
    ("ctrl-j alt-enter shift-enter", Action::Newline, "New line", ""),
    ("ctrl-s", Action::Steer, "Put the text into the running turn", ""),
    (
        "tab",
        Action::Complete,
        "Complete the slash command; from an empty composer, to the transcript",
        "",
    ),
    ("ctrl-r", Action::SearchHistory, "Search earlier prompts", ""),
    ("ctrl-o", Action::ExternalEditor, "Write on in the external editor", ""),
    ("ctrl-x", Action::ToggleShell, "A command for the shell, or a prompt again (! and $ too)", ""),
    ("alt-s", Action::Stash, "Put the draft aside; from an empty composer, bring it back", ""),
    ("alt-q", Action::FocusQueue, "What is queued: change it, its order, send it now", ""),
    ("ctrl-v", Action::PasteImage, "A picture from the clipboard", ""),
    ("ctrl-k", Action::KillToEnd, "Delete to the end of the line", ""),
    ("ctrl-u", Action::KillToStart, "Delete to the beginning of the line", ""),
    ("ctrl-w alt-backspace", Action::KillWord, "Delete the word before", ""),
    ("alt-d", Action::KillNextWord, "Delete the word after", ""),
    ("ctrl-y", Action::Yank, "Put back what was deleted", ""),
    ("alt-y", Action::YankPop, "After that: what was deleted before", ""),
    ("alt-z ctrl-_ ctrl-7", Action::Undo, "Take a change back", ""),
    ("alt-Z", Action::Redo, "Bring it again", ""),
    ("alt-b ctrl-left", Action::PreviousWord, "A word to the left", ""),
    ("alt-f ctrl-right", Action::NextWord, "A word to the right", ""),
    ("up", Action::Previous, "Line above, or an earlier prompt", ""),
    ("down", Action::Next, "Line below, or a later prompt", ""),
];

const QUEUE: &[Row] = &[
    ("up k", Action::SelectPrevious, "Line above", ""),
    ("down j", Action::SelectNext, "Line below", ""),
    ("enter e", Action::EditQueued, "Change it where it stands", "change"),
    ("s ctrl-s", Action::Steer, "Put it into the running turn now", "send now"),
    ("x delete", Action::DropQueued, "Drop it; what is dropped can be put back (yank)", "drop"),
    ("t", Action::TakeBack, "Take it back into the composer", "take back"),
    ("K shift-up", Action::MoveUp, "Earlier in the queue", "earlier"),
    ("J shift-down", Action::MoveDown, "Later in the queue", "later"),
    ("q tab alt-q", Action::Back, "To the composer", ""),
];

const TRANSCRIPT: &[Row] = &[
    ("up k", Action::SelectPrevious, "Cell above", "move"),
    ("down j", Action::SelectNext, "Cell below", ""),
    ("[ K", Action::PreviousPrompt, "Previous prompt", "prompts"),
    ("] J", Action::NextPrompt, "Next prompt", ""),
    ("{ T", Action::PreviousCall, "Previous tool call", ""),
    ("} t", Action::NextCall, "Next tool call", ""),
    ("u ctrl-u", Action::HalfUp, "Up half a page", ""),
    ("d ctrl-d", Action::HalfDown, "Down half a page", ""),
    ("g home", Action::Top, "To the beginning", ""),
    ("G end", Action::Bottom, "To the end, and follow", ""),
    ("enter space", Action::Fold, "Show all or little of this cell", "fold"),
    ("o v", Action::Open, "This cell on the whole screen", "open"),
    (
        "s",
        Action::ToggleBeside,
        "Changes side by side (from 140 columns), or one below the other",
        "",
    ),
    ("y", Action::Copy, "Copy what this cell was made from", "copy"),
    (
        "c",
        Action::CopyCode,
        "Copy a block of code of it (again: the next), or what the tool was called with",
        "copy code",
    ),
    ("/", Action::Search, "Search", "search"),
    ("n", Action::NextMatch, "Next match", ""),
    ("N", Action::PreviousMatch, "Previous match", ""),
    ("x", Action::CancelCall, "Stop this call; the others go on", ""),
    ("tab i", Action::Back, "To the composer", ""),
];

const SEARCH: &[Row] = &[
    ("enter", Action::Choose, "Look for it", "find"),
    ("up", Action::Previous, "What was looked for last", ""),
];

const PAGER: &[Row] = &[
    ("up k", Action::ScrollUp, "Up a line", "scroll"),
    ("down j", Action::ScrollDown, "Down a line", ""),
    ("u ctrl-u", Action::HalfUp, "Up half a page", ""),
    ("d ctrl-d", Action::HalfDown, "Down half a page", ""),
    ("b", Action::PageUp, "Up a page", ""),
    ("space", Action::PageDown, "Down a page", "page"),
    (
        "s",
        Action::ToggleBeside,
        "Changes side by side (from 140 columns), or one below the other",
        "",
    ),
    ("g home", Action::Top, "To the beginning", ""),
    ("G end", Action::Bottom, "To the end", ""),
    ("/", Action::Search, "Search", "search"),
    ("n", Action::NextMatch, "Next match", "next"),
    ("N", Action::PreviousMatch, "Previous match", ""),
    ("y", Action::Copy, "Copy what this cell was made from", "copy"),
    ("q o", Action::Back, "Close", ""),
];

const APPROVAL: &[Row] = &[
    ("y 1", Action::Approve, "Approve once", "approve"),
    ("a 2", Action::ApproveForSession, "Approve for this session", "session"),
    ("p", Action::ApproveByRule, "Approve commands that begin like it", ""),
    ("right l", Action::WidenRule, "A wider rule: fewer words", ""),
    ("left h", Action::NarrowRule, "A narrower rule: more words", ""),
    ("s", Action::RuleScope, "Where the rule holds: session, project, everywhere", ""),
    ("A", Action::ApproveAll, "Approve all that wait of this kind", ""),
    ("N", Action::RejectAll, "Reject all that wait of this kind", ""),
    ("e", Action::EditCommand, "Change the command, then run it", "edit"),
    (
        "E ctrl-o",
        Action::EditContent,
        "Change a file's content in the external editor, then write it",
        "",
    ),
    ("v", Action::Open, "All of it on the whole screen, and back", ""),
    (
        "b",
        Action::ToggleBeside,
        "Changes side by side (from 140 columns), or one below the other",
        "",
    ),
    ("n 3", Action::Reject, "Reject", "reject"),
    ("f 4", Action::RejectWithFeedback, "Reject and say what to do instead", "reject, say why"),
    ("up k", Action::SelectPrevious, "Option above", ""),
    ("down j", Action::SelectNext, "Option below", ""),
    ("enter", Action::Choose, "Take the marked option", ""),
];

const QUESTION: &[Row] = &[
    ("enter", Action::Choose, "Take the marked option; confirm several", "answer"),
    ("space", Action::ToggleOption, "Choose among several", "choose"),
    ("1", Action::Option(1), "The first option", ""),
    ("2", Action::Option(2), "The second option", ""),
    ("3", Action::Option(3), "The third option", ""),
    ("4", Action::Option(4), "The fourth option", ""),
    ("5", Action::Option(5), "The fifth option", ""),
    ("6", Action::Option(6), "The sixth option", ""),
    ("up k", Action::SelectPrevious, "Option above", ""),
    ("down j", Action::SelectNext, "Option below", ""),
    ("left shift-tab", Action::PreviousQuestion, "Question before", ""),
    ("right tab", Action::NextQuestion, "Question after", "next"),
    ("esc", Action::Dismiss, "Do not answer", "dismiss"),
];

const TIMELINE: &[Row] = &[
    ("up k", Action::SelectPrevious, "Earlier checkpoint", "move"),
    ("down j", Action::SelectNext, "Later checkpoint", ""),
    ("enter", Action::Choose, "Show this place in the conversation", "show"),
    ("r", Action::Revert, "Go back to this checkpoint", "revert"),
    ("f", Action::RewindFiles, "Take files back to this checkpoint; shown first", "files"),
    ("b", Action::RewindBoth, "Take conversation and files back; shown first", "both"),
    ("u", Action::RedoRewind, "Bring forth what was taken back; shown first", ""),
    ("d", Action::DMail, "Go back with a message to the past (D-Mail)", "D-Mail"),
    ("y", Action::RedoRevert, "Bring back what the last revert took (/redo)", "redo"),
    ("v", Action::ViewGeneration, "Read the context of this row as it was", "read"),
    ("R", Action::RestoreGeneration, "Bring that context back; asks first", "restore"),
    ("p", Action::Losses, "What a compaction took out, to pin it back", "dropped"),
    ("tab", Action::FocusCalls, "To the tool calls", ""),
];

const PAST: &[Row] = &[
    ("up k", Action::ScrollUp, "Up a line", "scroll"),
    ("down j", Action::ScrollDown, "Down a line", ""),
    ("u ctrl-u", Action::HalfUp, "Up half a page", ""),
    ("d ctrl-d", Action::HalfDown, "Down half a page", ""),
    ("b", Action::PageUp, "Up a page", ""),
    ("space", Action::PageDown, "Down a page", "page"),
    ("g home", Action::Top, "To the beginning", ""),
    ("G end", Action::Bottom, "To the end", ""),
    ("/", Action::Search, "Search", "search"),
    ("n", Action::NextMatch, "Next match", ""),
    ("N", Action::PreviousMatch, "Previous match", ""),
    ("left h", Action::PreviousGeneration, "The context before", "earlier"),
    ("right l", Action::NextGeneration, "The context after", "later"),
    ("R", Action::RestoreGeneration, "Bring this context back; asks first", "restore"),
    ("q v", Action::Back, "Close", ""),
];

const LOSSES: &[Row] = &[
    ("up k", Action::SelectPrevious, "Message above", "move"),
    ("down j", Action::SelectNext, "Message below", ""),
    ("space", Action::ToggleOption, "Choose it, or not", "choose"),
    ("enter p", Action::Choose, "Pin back what is chosen, or the marked one", "pin back"),
    ("v", Action::ViewGeneration, "Read the whole context it was in", "read"),
    ("R", Action::RestoreGeneration, "Bring that whole context back; asks first", "restore"),
    ("q", Action::Back, "Close", ""),
];

const CALLS: &[Row] = &[
    ("up k", Action::SelectPrevious, "Earlier call", "move"),
    ("down j", Action::SelectNext, "Later call", ""),
    ("enter", Action::Choose, "Open this call in the transcript", "open"),
    ("x", Action::CancelCall, "Stop this call; the others go on", "stop it"),
    ("tab", Action::Back, "To the composer", ""),
];

const LEDGER: &[Row] = &[
    ("up k", Action::SelectPrevious, "Message above", "move"),
    ("down j", Action::SelectNext, "Message below", ""),
    ("pageup b", Action::PageUp, "Ten up", ""),
    ("pagedown space", Action::PageDown, "Ten down", ""),
    ("g home", Action::Top, "The first", ""),
    ("G end", Action::Bottom, "The last", ""),
    ("enter", Action::Choose, "Show this result in the transcript", "show"),
    ("x", Action::HideResult, "Take this tool result out of the context", "hide"),
    ("s", Action::SortLedger, "The largest first, or the latest", ""),
    ("c", Action::LedgerCosts, "What each step cost, or the messages", "cost"),
    ("q", Action::Back, "Close", ""),
];

const REWIND: &[Row] = &[
    ("up k", Action::SelectPrevious, "Path above", "move"),
    ("down j", Action::SelectNext, "Path below", ""),
    ("space", Action::ToggleOption, "Restore this conflict all the same, or not", "choose"),
    ("pageup", Action::PageUp, "The difference, up", ""),
    ("pagedown", Action::PageDown, "The difference, down", ""),
    ("enter", Action::Choose, "Do it", "do it"),
];

const SESSIONS: &[Row] = &[
    ("up ctrl-p", Action::SelectPrevious, "Session above", "move"),
    ("down ctrl-n", Action::SelectNext, "Session below", ""),
    ("enter", Action::Choose, "Open this session, in its folder", "open"),
    ("tab", Action::ToggleScope, "All folders, or this one only", "folders"),
    ("ctrl-r", Action::Rename, "Give it a title", "rename"),
    ("ctrl-f", Action::Fork, "Go on in a copy of it", "fork"),
    ("ctrl-e", Action::Export, "Write it to a file: Markdown, HTML or zip", "export"),
    ("ctrl-x delete", Action::Delete, "Delete it (to the trash)", "delete"),
    ("ctrl-u", Action::UndoDelete, "Bring back what was deleted last", "undo"),
    ("ctrl-a", Action::Archive, "Hide it from the list, or show it again", "archive"),
    ("alt-a", Action::ToggleArchived, "The archived sessions, or the others", "archived"),
    ("ctrl-y", Action::Replay, "Play it from its record", "replay"),
    ("alt-x", Action::ToggleTrash, "The deleted ones: bring back, delete for good", "trash"),
    ("right left", Action::Open, "A closer look on the whole panel, and back", "look"),
    ("alt-up", Action::ScrollUp, "The closer look, up", ""),
    ("alt-down", Action::ScrollDown, "The closer look, down", ""),
];

const TRASH: &[Row] = &[
    ("up ctrl-p", Action::SelectPrevious, "Session above", "move"),
    ("down ctrl-n", Action::SelectNext, "Session below", ""),
    ("enter", Action::Choose, "Bring it back", "bring back"),
    ("ctrl-x delete", Action::Purge, "Delete it for good; asks first", "delete for good"),
    ("tab", Action::ToggleScope, "All folders, or this one only", "folders"),
    ("right left", Action::Open, "A closer look on the whole panel, and back", "look"),
    ("alt-up", Action::ScrollUp, "The closer look, up", ""),
    ("alt-down", Action::ScrollDown, "The closer look, down", ""),
    ("alt-x", Action::ToggleTrash, "The sessions that are not deleted", "sessions"),
];

const REPLAY: &[Row] = &[
    ("space", Action::Pause, "Stand still, or go on; at the end, play again", "pause"),
    ("right l", Action::StepForward, "Stand still and go to the next event", "step"),
    ("n ]", Action::NextTurn, "To the next turn", "next turn"),
    ("p [", Action::PreviousTurn, "To the beginning of this turn, or the one before", "previous"),
    ("+ = up", Action::Faster, "Faster, up to 16 times", "faster"),
    ("minus down", Action::Slower, "Slower, down to half", "slower"),
    ("tab", Action::FocusTranscript, "To the transcript, to read", "read"),
    ("q", Action::Back, "Back to the session that was open", ""),
];

const TASKS: &[Row] = &[
    ("up k", Action::SelectPrevious, "Task above", "move"),
    ("down j", Action::SelectNext, "Task below", ""),
    ("x delete", Action::StopTask, "Stop this task", "stop it"),
    ("q", Action::Back, "Close", ""),
];

const PICKER: &[Row] = &[
    ("up ctrl-p", Action::SelectPrevious, "Line above", "move"),
    ("down ctrl-n", Action::SelectNext, "Line below", ""),
    ("enter", Action::Choose, "Take this line", "choose"),
];

const DIALOG: &[Row] = &[("enter", Action::Choose, "Do it", "confirm")];

const HELP: &[Row] = &[
    ("up", Action::ScrollUp, "Up; letters search", "scroll"),
    ("down", Action::ScrollDown, "Down", ""),
];

const GLOBAL: &[Row] = &[
    ("esc", Action::Back, "One step back; stops a running turn", "back"),
    ("ctrl-c", Action::Interrupt, "Stop what runs; clear the draft; twice: leave", ""),
    ("ctrl-d", Action::Quit, "Leave, when nothing is typed", "quit"),
    ("f1 ?", Action::Help, "Keys and commands; ? where no text is written", "help"),
    ("f2", Action::ToggleSidebar, "Show or hide the panes", ""),
    ("ctrl-t f4", Action::FocusTimeline, "Timeline and back", "timeline"),
    ("ctrl-g f3", Action::Sessions, "Sessions of all folders", "sessions"),
    ("ctrl-p", Action::Palette, "All actions and commands, to search", ""),
    ("f9", Action::ContextLedger, "What fills the context, by kind and message (/context)", ""),
    ("alt-t", Action::FocusCalls, "The tool calls: open one, stop one", ""),
    ("f7", Action::Tasks, "Background tasks (/tasks)", ""),
    ("f5", Action::NewSession, "New session", ""),
    ("shift-tab", Action::TogglePlan, "Plan mode on or off (/plan)", ""),
    ("f6", Action::Compact, "Summarise the context (/compact)", ""),
    ("f8", Action::Clear, "Empty the context (/clear), asks first", ""),
    ("ctrl-e", Action::ToggleDetails, "Show all or little of tool output", "details"),
    ("pageup", Action::PageUp, "Scroll up a page", ""),
    ("pagedown", Action::PageDown, "Scroll down a page", ""),
    ("alt-up", Action::ScrollUp, "Scroll up a line", ""),
    ("alt-down", Action::ScrollDown, "Scroll down a line", ""),
    ("ctrl-home", Action::Top, "To the beginning", ""),
    ("ctrl-end", Action::Bottom, "To the end, and follow", ""),
    ("f11", Action::Zoom, "The pane on the whole screen, and back", ""),
    ("alt-= alt-+", Action::WidenPanes, "The panes wider", ""),
    ("alt-minus", Action::NarrowPanes, "The panes narrower", ""),
    ("", Action::ToggleContext, "Context gauge shown or hidden, beside the conversation", ""),
    ("", Action::ToggleTodos, "Todos shown or hidden, beside the conversation", ""),
    ("", Action::ToggleTools, "Tools shown or hidden, beside the conversation", ""),
    ("", Action::ToggleTimeline, "Timeline shown or hidden, beside the conversation", ""),
    ("", Action::ResetLayout, "The panes as they are at first", ""),
    ("alt-m", Action::ToggleMouse, "Mouse for this program, or the terminal's own", ""),
    ("alt-v", Action::ToggleVim, "Vim's keys in the composer, on or off (/vim)", ""),
    ("ctrl-l", Action::Redraw, "Draw the screen again", ""),
    ("ctrl-z", Action::Suspend, "Suspend; fg comes back", ""),
];
