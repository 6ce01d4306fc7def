//! Themes: a style for each meaning on the screen, and the marks it is drawn with.
//!
//! A theme is plain data. It comes from a TOML file embedded here (`themes/`), or from one in the
//! person's themes folder that says how it differs from one of ours. [`depth`] takes colours down to
//! what the terminal can show.

pub mod depth;
pub mod ground;
mod marks;
mod parse;
#[cfg(test)]
mod tests;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use ratatui::style::{Color, Modifier, Style};

use super::render::links::Links;
pub use depth::{ColorDepth, contrast};
pub use marks::Marks;
pub use parse::ThemeError;

/// Names of the themes that come with the program.
pub const BUILTIN: [&str; 8] =
    ["dark", "light", "ansi", "contrast", "clear", "harbour", "ember", "paper"];

/// Declares the struct once, so that the parser, the downgrade and the tests walk the same list.
macro_rules! styles {
    ($(#[$outer:meta])* $owner:ident { $($(#[$doc:meta])* $field:ident = $key:literal),+ $(,)? }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
        pub struct $owner {
            $($(#[$doc])* pub $field: Style,)+
        }

        impl $owner {
            /// The names of the styles in a theme file.
            pub const KEYS: &'static [&'static str] = &[$($key),+];

            /// Sets the style a theme file calls `key`; false when there is none.
            fn set(&mut self, key: &str, style: Style) -> bool {
                match key {
                    $($key => self.$field = style,)+
                    _ => return false,
                }
                true
            }

            /// All styles with their names.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, Style)> + '_ {
                [$(($key, self.$field)),+].into_iter()
            }

            fn map(&mut self, change: impl Fn(Style) -> Style) {
                $(self.$field = change(self.$field);)+
            }
        }
    };
}

styles! {
    /// Styles of source code.
    SyntaxColors {
        /// Words of the language.
        keyword = "keyword",
        /// Strings and characters.
        string = "string",
        /// Comments.
        comment = "comment",
        /// Numbers and constants.
        number = "number",
        /// Names of functions, where defined or called.
        function = "function",
        /// Names of types, tags and modules.
        type_name = "type",
        /// Names of variables, fields and keys.
        variable = "variable",
        /// Brackets, commas.
        punctuation = "punctuation",
        /// Operators.
        operator = "operator",
    }
}

styles! {
    /// Styles of the screen, one for each meaning.
    Styles {
        /// Text without a meaning of its own.
        text = "text",
        /// What matters less: hints, times, counts.
        muted = "muted",
        /// What the person acts on: the focus, the chosen, a prompt.
        accent = "accent",
        /// It worked.
        success = "success",
        /// Look here.
        warning = "warning",
        /// It failed, or it destroys.
        danger = "danger",
        /// The chosen row, selected text.
        selection = "selection",
        /// Lines between panes.
        border = "border",
        /// Lines around the pane that has the focus.
        border_focus = "border_focus",
        /// Titles of panes and overlays.
        title = "title",
        /// What the person said.
        user = "user",
        /// The bar beside it.
        user_bar = "user_bar",
        /// What the model says.
        assistant = "assistant",
        /// What the model thinks.
        thinking = "thinking",
        /// Headings.
        heading = "heading",
        /// Strong text.
        strong = "strong",
        /// Emphasised text.
        emphasis = "emphasis",
        /// Links.
        link = "link",
        /// Code in a sentence.
        inline_code = "inline_code",
        /// Code without colours of its own.
        code = "code",
        /// The line above a block of code.
        code_label = "code_label",
        /// Quoted text.
        quote = "quote",
        /// Rules between parts of a text.
        rule = "rule",
        /// Lines of a table.
        table_border = "table_border",
        /// Bullets and numbers of lists.
        bullet = "bullet",
        /// Name of a tool.
        tool_name = "tool_name",
        /// What a tool was called with.
        tool_arg = "tool_arg",
        /// What a tool said.
        tool_output = "tool_output",
        /// A line that was added.
        diff_add = "diff_add",
        /// A line that was removed.
        diff_del = "diff_del",
        /// The words in an added line that are new.
        diff_add_word = "diff_add_word",
        /// The words in a removed line that are gone.
        diff_del_word = "diff_del_word",
        /// A line that stayed.
        diff_context = "diff_context",
        /// Line numbers of a diff.
        diff_line_number = "diff_line_number",
        /// A gauge with much room.
        gauge_low = "gauge_low",
        /// A gauge that fills up.
        gauge_mid = "gauge_mid",
        /// A gauge that is nearly full.
        gauge_high = "gauge_high",
        /// The empty part of a gauge.
        gauge_empty = "gauge_empty",
        /// A word that names a mode.
        badge = "badge",
        /// A key in a hint.
        key = "key",
        /// The ground of overlays and panels.
        overlay = "overlay",
    }
}

/// How the screen looks.
///
/// The styles can be read off the theme itself: `theme.muted`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    /// Its name, for the picker.
    pub name: String,
    /// Is it made for a dark background?
    pub is_dark: bool,
    /// Differs between themes that look different: part of every cache key.
    pub revision: u64,
    /// The background it was made for; contrast is measured against it.
    pub background: Color,
    /// Is the background drawn? Otherwise the terminal's own stays.
    pub fills: bool,
    /// The colours the terminal can show; what commands print is taken down to it too.
    pub depth: ColorDepth,
    /// The styles of the screen.
    pub styles: Styles,
    /// The styles of source code.
    pub syntax: SyntaxColors,
    /// The marks.
    pub marks: Marks,
    /// What makes links of the terminal out of links, where it can show them.
    pub links: Option<Links>,
}

impl std::ops::Deref for Theme {
    type Target = Styles;

    fn deref(&self) -> &Styles {
        &self.styles
    }
}

impl Theme {
    /// The theme called `name`: one of ours, or `NAME.toml` in `themes_folder`, which wins.
    ///
    /// # Errors
    /// When there is no such theme, or its file is wrong; the message says where and what to write.
    pub fn load(name: &str, themes_folder: &Path) -> Result<Self, ThemeError> {
        parse::load(name, themes_folder)
    }

    /// The names of all themes there are, ours first.
    #[must_use]
    pub fn known(themes_folder: &Path) -> Vec<String> {
        parse::known(themes_folder)
    }

    /// The theme in `source`, the text of `file` (used in messages only).
    ///
    /// # Errors
    /// As [`Theme::load`].
    pub fn parse(name: &str, file: &str, source: &str) -> Result<Self, ThemeError> {
        parse::theme(name, file, source)
    }

    /// For dark terminals.
    #[must_use]
    pub fn dark() -> Self {
        Self::embedded("dark")
    }

    /// For light terminals.
    #[must_use]
    pub fn light() -> Self {
        Self::embedded("light")
    }

    /// With the 16 colours the person gave the terminal.
    #[must_use]
    pub fn ansi() -> Self {
        Self::embedded("ansi")
    }

    fn embedded(name: &str) -> Self {
        // A test parses them all, so the other branch is never taken.
        parse::builtin(name).and_then(Result::ok).unwrap_or_else(Self::monochrome)
    }

    /// Without colours (`NO_COLOR`): bold, italic, underlined and reversed only.
    #[must_use]
    pub fn monochrome() -> Self {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let italic = Style::new().add_modifier(Modifier::ITALIC);
        let underlined = Style::new().add_modifier(Modifier::UNDERLINED);
        let reversed = Style::new().add_modifier(Modifier::REVERSED);
        let styles = Styles {
            accent: bold,
            danger: bold,
            warning: bold,
            selection: reversed,
            border_focus: bold,
            title: bold,
            user: bold,
            thinking: italic,
            heading: bold.add_modifier(Modifier::UNDERLINED),
            strong: bold,
            emphasis: italic,
            link: underlined,
            inline_code: bold,
            quote: italic,
            tool_name: bold,
            diff_add_word: underlined,
            diff_del_word: underlined,
            gauge_high: bold,
            badge: reversed,
            key: bold,
            ..Styles::default()
        };
        let mut theme = Self {
            name: "monochrome".to_owned(),
            is_dark: true,
            revision: 0,
            background: Color::Reset,
            fills: false,
            depth: ColorDepth::None,
            styles,
            syntax: SyntaxColors { comment: italic, keyword: bold, ..SyntaxColors::default() },
            marks: Marks::unicode(),
            links: None,
        };
        theme.stamp();
        theme
    }

    /// The theme as a terminal of this depth can show it.
    #[must_use]
    pub fn at_depth(mut self, depth: ColorDepth) -> Self {
        if depth == ColorDepth::None {
            let mut plain = Self::monochrome();
            plain.name = self.name;
            plain.is_dark = self.is_dark;
            plain.marks = self.marks;
            plain.links = self.links;
            plain.stamp();
            return plain;
        }
        let change = |style: Style| depth.style(style);
        self.styles.map(change);
        self.syntax.map(change);
        self.background = depth.color(self.background);
        self.depth = depth;
        self.stamp();
        self
    }

    /// What an empty screen is drawn with.
    #[must_use]
    pub fn ground(&self) -> Style {
        if self.fills { self.text.bg(self.background) } else { self.text }
    }

    /// The theme drawn with other marks.
    #[must_use]
    pub fn with_marks(mut self, marks: Marks) -> Self {
        self.marks = marks;
        self.stamp();
        self
    }

    /// The theme with links of the terminal, or without.
    #[must_use]
    pub fn with_links(mut self, links: Option<Links>) -> Self {
        self.links = links;
        self.stamp();
        self
    }

    /// The theme in which what the model thinks is drawn: plain text looks like thinking.
    #[must_use]
    pub fn for_thinking(&self) -> Self {
        let mut theme = self.clone();
        theme.styles.assistant = self.thinking;
        theme.styles.code = self.muted;
        theme.styles.inline_code = Style::new();
        theme.styles.heading = self.strong;
        theme.syntax = SyntaxColors::default();
        theme.stamp();
        theme
    }

    /// The style of a gauge that is `percent` full.
    #[must_use]
    pub fn gauge(&self, percent: u8) -> Style {
        match percent {
            0..60 => self.gauge_low,
            60..85 => self.gauge_mid,
            _ => self.gauge_high,
        }
    }

    /// Gives it the revision its looks have. Equal looks, equal revision: nothing depends on the
    /// order in which themes were made.
    fn stamp(&mut self) {
        let mut hasher = DefaultHasher::new();
        (&self.styles, &self.syntax, &self.marks, self.is_dark, self.depth).hash(&mut hasher);
        self.links.as_ref().map(|links| links.hides_addresses).hash(&mut hasher);
        self.revision = hasher.finish();
    }
}
