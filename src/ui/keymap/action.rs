//! What a key can do.

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
    /// The background tasks.
    Tasks,
    /// Stop the marked background task.
    StopTask,
    /// All folders, or this one only.
    ToggleScope,
    /// The archived sessions, or the others.
    ToggleArchived,
    /// Give the marked session a title.
    Rename,
    /// Make another session of it.
    Fork,
    /// Hide it from lists, or show it again.
    Archive,
    /// To the trash with it.
    Delete,
    /// The deleted sessions, or the others.
    ToggleTrash,
    /// Delete for good.
    Purge,
    /// The last deleted one back.
    UndoDelete,
    /// Write it to a file.
    Export,
    /// Play it.
    Replay,
    /// Let the recording stand still, or go on.
    Pause,
    /// To the next event of it.
    StepForward,
    /// Play it faster.
    Faster,
    /// Play it slower.
    Slower,
    /// To its next turn.
    NextTurn,
    /// To the beginning of its turn, or the one before.
    PreviousTurn,
    /// A new session.
    NewSession,
    /// All actions and commands, to search.
    Palette,
    /// Earlier prompts, to search.
    SearchHistory,
    /// Write the draft in the external editor.
    ExternalEditor,
    /// Is the draft a command for the shell?
    ToggleShell,
    /// Put the draft aside, or bring it back.
    Stash,
    /// Vim's keys on or off.
    ToggleVim,
    /// A picture from the clipboard.
    PasteImage,
    /// Delete to the end of the line.
    KillToEnd,
    /// Delete to its beginning.
    KillToStart,
    /// Delete the word before.
    KillWord,
    /// Delete the word after.
    KillNextWord,
    /// Put back what was deleted.
    Yank,
    /// Put back what was deleted before that.
    YankPop,
    /// Take a change back.
    Undo,
    /// Bring it again.
    Redo,
    /// A word to the left.
    PreviousWord,
    /// A word to the right.
    NextWord,
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
    /// The pane with the keys on the whole screen.
    Zoom,
    /// The panes wider.
    WidenPanes,
    /// The panes narrower.
    NarrowPanes,
    /// Show or hide the gauge of the context.
    ToggleContext,
    /// Show or hide the todos.
    ToggleTodos,
    /// Show or hide the tool calls.
    ToggleTools,
    /// Show or hide the timeline beside the conversation.
    ToggleTimeline,
    /// Divide the screen as at first.
    ResetLayout,
    /// The mouse for the screen, or for the terminal.
    ToggleMouse,
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
    /// Let all that wait of this kind be done.
    ApproveAll,
    /// Let none of them be done.
    RejectAll,
    /// Another place for the rule to hold.
    RuleScope,
    /// Change the content before it is written.
    EditContent,
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
    /// Bring back what the last revert took.
    RedoRevert,
    /// Read an earlier context.
    ViewGeneration,
    /// Bring an earlier context back.
    RestoreGeneration,
    /// The context before.
    PreviousGeneration,
    /// The context after.
    NextGeneration,
    /// What a compaction took out of the context.
    Losses,
    /// What the context consists of.
    ContextLedger,
    /// By weight or by age.
    SortLedger,
    /// Messages, or calls of the model with what they cost.
    LedgerCosts,
    /// Take a tool result out of the context.
    HideResult,
    /// The pane of tool calls.
    FocusCalls,
    /// Stop one running call.
    CancelCall,
    /// The selected checkpoint's files, shown first.
    RewindFiles,
    /// Conversation and files of the selected checkpoint, shown first.
    RewindBoth,
    /// Bring forth what was taken back.
    RedoRewind,
    /// To the list of what is queued.
    FocusQueue,
    /// Change what is queued where it stands.
    EditQueued,
    /// Take what is queued back into the composer.
    TakeBack,
    /// Drop what is queued.
    DropQueued,
    /// Earlier in the list.
    MoveUp,
    /// Later in the list.
    MoveDown,
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
    /// Changes side by side, or one below the other.
    ToggleBeside,
    /// Copy a block of code, or what a tool was called with.
    CopyCode,
    /// Search.
    Search,
    /// The next match.
    NextMatch,
    /// The match before.
    PreviousMatch,
}
