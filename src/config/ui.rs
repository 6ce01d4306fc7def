//! `[ui]`: how the screen behaves.

use serde::{Deserialize, Serialize};

use super::status_line::StatusConfig;

/// How the screen behaves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UiConfig {
    /// What is left in the shell's scrollback when the screen is left.
    pub on_exit: OnExit,
    /// Which results of tools are shown folded.
    pub fold: Fold,
    /// The last so many tool calls are unfolded whatever `fold` says.
    pub open_last: usize,
    /// Does the screen take the mouse for the wheel?
    pub mouse: bool,
    /// Lines one notch of the wheel scrolls.
    pub wheel_lines: u16,
    /// Has the composer Vim's keys?
    pub vim: bool,
    /// Is everything said in lines for a screen reader (`--screen-reader`)?
    pub screen_reader: bool,
    /// Does the conversation go into the shell's own scrollback (`--inline`)?
    pub inline: bool,
    /// Are links in answers links of the terminal (OSC 8)?
    pub links: Switch,
    /// Are prompts and answers marked for the terminal (OSC 133), with `inline`?
    pub marks: Switch,
    /// Does the terminal break lines anew when its width changes, with `inline`?
    pub reflow: Switch,
    /// Does the terminal show that a turn runs (`OSC 9;4`)?
    pub progress: Switch,
    /// What the last line holds.
    pub status: StatusConfig,
}

impl Default for UiConfig {
    fn default() -> Self {
        Self {
            on_exit: OnExit::Tail,
            fold: Fold::Always,
            open_last: 0,
            mouse: true,
            wheel_lines: 3,
            vim: false,
            screen_reader: false,
            progress: Switch::Auto,
            status: StatusConfig::default(),
            inline: false,
            links: Switch::Auto,
            marks: Switch::Auto,
            reflow: Switch::Auto,
        }
    }
}

/// What depends on the terminal unless the person decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    /// As the terminal can.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

impl Switch {
    /// Their names.
    pub const NAMES: [(&'static str, Self); 3] =
        [("auto", Self::Auto), ("on", Self::On), ("off", Self::Off)];

    /// Is it on, where `detected` says what the terminal can?
    #[must_use]
    pub fn is_on(self, detected: bool) -> bool {
        match self {
            Self::Auto => detected,
            Self::On => true,
            Self::Off => false,
        }
    }
}

/// What is left in the shell's scrollback when the screen is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnExit {
    /// The end of the conversation, a screenful at most.
    #[default]
    Tail,
    /// All of it.
    All,
    /// Nothing.
    None,
}

impl OnExit {
    /// Their names.
    pub const NAMES: [(&'static str, Self); 3] =
        [("tail", Self::Tail), ("all", Self::All), ("none", Self::None)];
}

/// Which results of tools are shown folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fold {
    /// Nothing is.
    Never,
    /// Those that went well.
    Success,
    /// All.
    #[default]
    Always,
}

impl Fold {
    /// Their names.
    pub const NAMES: [(&'static str, Self); 3] =
        [("never", Self::Never), ("success", Self::Success), ("always", Self::Always)];
}
