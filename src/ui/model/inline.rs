//! What the screen is while the conversation goes into the shell's own scrollback (`--inline`).

use super::transcript::{Position, Scroll};
use super::{Focus, Model};

impl Model {
    /// Is the whole screen needed? Without `--inline` always; with it for what lies over the
    /// conversation, moves in it, and has more to show than fits below it.
    #[must_use]
    pub fn wants_full_screen(&self) -> bool {
        let transcript = &self.transcript;
        let is_moving = transcript.position != Position::Follow
            || transcript.pending.iter().any(|scroll| scroll.leaves_the_end());
        let is_whole = self.approvals.is_expanded && self.approvals.current().is_some();
        !self.settings.inline
            || !self.overlays.is_empty()
            || self.focus != Focus::Composer
            || self.search.typing.is_some()
            || self.replay.is_some()
            || self.screen.is_zoomed
            || is_moving
            || is_whole
    }

    /// Do the panes stand beside the transcript?
    #[must_use]
    pub fn has_panes(&self) -> bool {
        self.screen.has_sidebar() && self.wants_full_screen()
    }
}

impl Scroll {
    /// Does it lead away from the end?
    fn leaves_the_end(self) -> bool {
        match self {
            Self::Lines(by) | Self::Pages(by) | Self::HalfPages(by) => by < 0,
            Self::Bottom => false,
            Self::Top | Self::To(_) | Self::Reveal(_) | Self::Match { .. } => true,
        }
    }
}
