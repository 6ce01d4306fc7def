//! How the person divides the screen: which panes stand beside the conversation and how wide they are,
//! for each class of screen. Kept from run to run.

use serde::{Deserialize, Serialize};

/// Columns from which the panes stand beside the transcript.
const SIDEBAR_FROM: u16 = 100;
/// Rows from which they do.
const SIDEBAR_FROM_ROWS: u16 = 16;

/// The terminal as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Columns.
    pub width: u16,
    /// Rows.
    pub height: u16,
    /// Does the window have the focus?
    pub is_focused: bool,
    /// How the person wants it divided.
    pub layouts: Layouts,
    /// Has the pane with the keys the whole screen?
    pub is_zoomed: bool,
}

impl Screen {
    /// The division for a screen of this size.
    #[must_use]
    pub fn layout(&self) -> &PaneLayout {
        self.layouts.of(self.width, self.height)
    }

    /// The same, to be changed.
    pub fn layout_mut(&mut self) -> &mut PaneLayout {
        self.layouts.of_mut(self.width, self.height)
    }

    /// Is there room for panes beside the transcript?
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.width >= SIDEBAR_FROM && self.height >= SIDEBAR_FROM_ROWS
    }

    /// Do the panes stand beside the transcript?
    #[must_use]
    pub fn has_sidebar(&self) -> bool {
        let layout = self.layout();
        layout.panes && !layout.hidden.is_all() && !self.is_zoomed && self.has_room()
    }

    /// Their columns; none when there are none.
    #[must_use]
    pub fn sidebar_columns(&self) -> Option<u16> {
        self.has_sidebar().then(|| pane_columns(self.width, self.layout().columns))
    }

    /// Does `pane` stand beside the transcript?
    #[must_use]
    pub fn shows(&self, pane: Pane) -> bool {
        self.has_sidebar() && !self.layout().hidden.has(pane)
    }
}

/// A pane beside the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pane {
    /// How full the context is.
    Context,
    /// The todo list.
    Todos,
    /// The tool calls.
    Tools,
    /// The checkpoints.
    Timeline,
}

impl Pane {
    /// All of them, from the top.
    pub const ALL: [Self; 4] = [Self::Context, Self::Todos, Self::Tools, Self::Timeline];

    /// Its title.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Context => "Context",
            Self::Todos => "Todos",
            Self::Tools => "Tools",
            Self::Timeline => "Timeline",
        }
    }
}

/// Panes that are not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Pane>", into = "Vec<Pane>")]
pub struct Hidden([bool; Pane::ALL.len()]);

impl Hidden {
    /// Is `pane` among them?
    #[must_use]
    pub fn has(self, pane: Pane) -> bool {
        self.0[pane as usize]
    }

    /// Hides `pane`, or shows it again.
    pub fn toggle(&mut self, pane: Pane) {
        self.0[pane as usize] ^= true;
    }

    /// Is no pane shown?
    #[must_use]
    pub fn is_all(self) -> bool {
        self.0.iter().all(|is_hidden| *is_hidden)
    }
}

impl From<Vec<Pane>> for Hidden {
    fn from(panes: Vec<Pane>) -> Self {
        let mut hidden = Self::default();
        for pane in panes {
            hidden.0[pane as usize] = true;
        }
        hidden
    }
}

impl From<Hidden> for Vec<Pane> {
    fn from(hidden: Hidden) -> Self {
        Pane::ALL.into_iter().filter(|pane| hidden.has(*pane)).collect()
    }
}

/// The division of one class of screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PaneLayout {
    /// Are there panes beside the conversation, where there is room?
    pub panes: bool,
    /// Columns they have; a share of the screen when the person has not said.
    pub columns: Option<u16>,
    /// Those that are left out.
    pub hidden: Hidden,
}

impl Default for PaneLayout {
    fn default() -> Self {
        Self { panes: true, columns: None, hidden: Hidden::default() }
    }
}

/// The divisions of all classes of screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Layouts {
    /// Fewer than 80 columns or 24 rows.
    pub small: PaneLayout,
    /// Fewer than 120 columns.
    pub medium: PaneLayout,
    /// All other screens.
    pub wide: PaneLayout,
}

impl Layouts {
    /// The one for a screen of this size.
    #[must_use]
    pub fn of(&self, width: u16, height: u16) -> &PaneLayout {
        match class(width, height) {
            Class::Small => &self.small,
            Class::Medium => &self.medium,
            Class::Wide => &self.wide,
        }
    }

    /// The same, to be changed.
    pub fn of_mut(&mut self, width: u16, height: u16) -> &mut PaneLayout {
        match class(width, height) {
            Class::Small => &mut self.small,
            Class::Medium => &mut self.medium,
            Class::Wide => &mut self.wide,
        }
    }
}

enum Class {
    Small,
    Medium,
    Wide,
}

fn class(width: u16, height: u16) -> Class {
    if width < 80 || height < 24 {
        Class::Small
    } else if width < 120 {
        Class::Medium
    } else {
        Class::Wide
    }
}

/// Columns below which panes say nothing any more.
const PANES_LEAST: u16 = 24;
/// Columns the conversation keeps.
const CHAT_LEAST: u16 = 50;

/// Columns of the panes on a screen of `width`, as the person wants them or a quarter.
#[must_use]
pub fn pane_columns(width: u16, wanted: Option<u16>) -> u16 {
    let most = width.saturating_sub(CHAT_LEAST).max(PANES_LEAST);
    wanted.unwrap_or((width / 4).clamp(30, 44)).clamp(PANES_LEAST, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_read_back_as_they_were_written_and_words_of_another_version_do_no_harm() {
        let mut layouts = Layouts::default();
        layouts.wide.columns = Some(52);
        layouts.wide.hidden.toggle(Pane::Todos);
        layouts.medium.panes = false;
        let text = serde_json::to_string(&layouts).expect("JSON");
        assert!(text.contains(r#""hidden":["todos"]"#), "{text}");
        assert_eq!(serde_json::from_str::<Layouts>(&text).expect("read"), layouts);
        let later: Layouts =
            serde_json::from_str(r#"{"huge": {}, "wide": {"x": 1}}"#).expect("read");
        assert_eq!(later, Layouts::default());
    }

    #[test]
    fn the_conversation_keeps_its_columns_whatever_is_wanted() {
        assert_eq!(pane_columns(120, None), 30);
        assert_eq!(pane_columns(200, None), 44);
        assert_eq!(pane_columns(100, Some(200)), 50);
        assert_eq!(pane_columns(100, Some(1)), 24);
        assert_eq!(pane_columns(40, Some(30)), 24);
    }
}
