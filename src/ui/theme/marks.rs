//! The marks the screen is drawn with: a plain set, and an ASCII one for poor terminals and fonts.

/// One mark for each meaning. Each is one cell wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Marks {
    /// Something is there, is active, is done.
    pub dot: &'static str,
    /// Something is not there yet.
    pub ring: &'static str,
    /// Folded; also the prompt's pointer.
    pub folded: &'static str,
    /// Unfolded.
    pub unfolded: &'static str,
    /// A bar beside text, a line between panes.
    pub bar: &'static str,
    /// A heavy bar beside what the person said or chose.
    pub heavy_bar: &'static str,
    /// A horizontal line.
    pub line: &'static str,
    /// It worked.
    pub check: &'static str,
    /// It failed.
    pub cross: &'static str,
    /// Text was cut here.
    pub ellipsis: &'static str,
    /// There is more below.
    pub down: &'static str,
    /// There is more above.
    pub up: &'static str,
    /// From here to there.
    pub arrow: &'static str,
    /// A separator in a line of facts.
    pub separator: &'static str,
    /// Bullets of lists, by depth.
    pub bullets: [&'static str; 3],
    /// A task to do, and one done.
    pub task_open: &'static str,
    /// A task that is done.
    pub task_done: &'static str,
    /// A long line goes on here.
    pub wrapped: &'static str,
    /// A gap between hunks of a diff.
    pub gap: &'static str,
    /// The full part of a gauge.
    pub gauge_full: &'static str,
    /// The empty part of a gauge.
    pub gauge_empty: &'static str,
    /// A crossing in a table.
    pub table_cross: &'static str,
    /// The bar between the columns of a table.
    pub table_bar: &'static str,
    /// Pictures of a spinner, one after the other.
    pub spinner: &'static [&'static str],
}

impl Marks {
    /// For terminals and fonts of this century.
    #[must_use]
    pub const fn unicode() -> Self {
        Self {
            dot: "●",
            ring: "○",
            folded: "▸",
            unfolded: "▾",
            bar: "│",
            heavy_bar: "▌",
            line: "─",
            check: "✓",
            cross: "✗",
            ellipsis: "…",
            down: "↓",
            up: "↑",
            arrow: "→",
            separator: "·",
            bullets: ["•", "◦", "▪"],
            task_open: "☐",
            task_done: "☑",
            wrapped: "↪",
            gap: "⋯",
            gauge_full: "█",
            gauge_empty: "░",
            table_cross: "┼",
            table_bar: "│",
            spinner: &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
        }
    }

    /// For the others.
    #[must_use]
    pub const fn ascii() -> Self {
        Self {
            dot: "*",
            ring: "o",
            folded: ">",
            unfolded: "v",
            bar: "|",
            heavy_bar: "|",
            line: "-",
            check: "+",
            cross: "x",
            ellipsis: "~",
            down: "v",
            up: "^",
            arrow: ">",
            separator: "-",
            bullets: ["*", "-", "+"],
            task_open: "o",
            task_done: "x",
            wrapped: "\\",
            gap: ":",
            gauge_full: "#",
            gauge_empty: ".",
            table_cross: "+",
            table_bar: "|",
            spinner: &["|", "/", "-", "\\"],
        }
    }
}
