//! Theme files.
//!
//! ```toml
//! extends = "dark"              # the theme this one changes, one of ours
//! fills = true                 # draw the background too
//! [palette]
//! leaf = "#8fbf7f"              # names for colours
//! [styles]
//! success = "leaf"              # foreground
//! selection = "on #2d3343"      # background
//! heading = "leaf bold underlined"
//! [syntax]
//! keyword = "magenta"
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ratatui::style::{Color, Modifier, Style};
use thiserror::Error;
use toml::{Table, Value};

use super::{BUILTIN, Marks, Styles, SyntaxColors, Theme};

const DARK: &str = include_str!("../../../themes/dark.toml");
const LIGHT: &str = include_str!("../../../themes/light.toml");
const ANSI: &str = include_str!("../../../themes/ansi.toml");
const CONTRAST: &str = include_str!("../../../themes/contrast.toml");
const CLEAR: &str = include_str!("../../../themes/clear.toml");
const HARBOUR: &str = include_str!("../../../themes/harbour.toml");
const EMBER: &str = include_str!("../../../themes/ember.toml");
const PAPER: &str = include_str!("../../../themes/paper.toml");

/// Why there is no theme.
#[derive(Debug, Error)]
pub enum ThemeError {
    /// Neither ours nor in the themes folder.
    #[error("unknown theme {name:?} (known: {known}). Choose one of these or write {file}.")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
        /// Where a theme of that name would be.
        file: String,
    },
    /// The file cannot be read.
    #[error("{file}: cannot read the theme: {error}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        error: std::io::Error,
    },
    /// The file is not TOML.
    #[error("{file}: {error}")]
    Toml {
        /// The file.
        file: String,
        /// Where and why.
        error: Box<toml::de::Error>,
    },
    /// A key or value that means nothing.
    #[error("{file}: {key} = {value}: {problem}. {advice}")]
    Value {
        /// The file.
        file: String,
        /// The key, with its table.
        key: String,
        /// The value as it stands.
        value: String,
        /// What is wrong.
        problem: String,
        /// What to write.
        advice: String,
    },
}

/// The embedded theme called `name`.
pub(super) fn builtin(name: &str) -> Option<Result<Theme, ThemeError>> {
    let source = match name {
        "dark" => DARK,
        "light" => LIGHT,
        "ansi" => ANSI,
        "contrast" => CONTRAST,
        "clear" => CLEAR,
        "harbour" => HARBOUR,
        "ember" => EMBER,
        "paper" => PAPER,
        _ => return None,
    };
    Some(theme(name, &format!("themes/{name}.toml"), source))
}

/// The theme called `name`; the person's own come first.
pub(super) fn load(name: &str, folder: &Path) -> Result<Theme, ThemeError> {
    let path = folder.join(format!("{name}.toml"));
    let file = path.display().to_string();
    // A name is never a way out of the folder.
    let plain = !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with('.');
    if plain {
        match fs::read_to_string(&path) {
            Ok(source) => return theme(name, &file, &source),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(ThemeError::Read { file, error }),
        }
    }
    if let Some(theme) = builtin(name) {
        return theme;
    }
    if name == "monochrome" {
        return Ok(Theme::monochrome());
    }
    let known = known(folder).join(", ");
    Err(ThemeError::Unknown { name: name.to_owned(), known, file })
}

/// The names of all themes there are.
pub(super) fn known(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = BUILTIN.iter().map(|name| (*name).to_owned()).collect();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut own: Vec<String> = entries
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".toml")?.to_owned()))
        .filter(|name| !names.contains(name))
        .collect();
    own.sort();
    names.append(&mut own);
    names
}

/// The theme in `source`.
pub(super) fn theme(name: &str, file: &str, source: &str) -> Result<Theme, ThemeError> {
    let table: Table = source
        .parse()
        .map_err(|error| ThemeError::Toml { file: file.to_owned(), error: Box::new(error) })?;
    let reader = Reader { file, palette: BTreeMap::new() };
    reader.theme(name, &table)
}

struct Reader<'a> {
    file: &'a str,
    palette: BTreeMap<String, Color>,
}

impl Reader<'_> {
    fn theme(mut self, name: &str, table: &Table) -> Result<Theme, ThemeError> {
        let mut theme = self.base(table)?;
        theme.name = name.to_owned();
        if let Some(palette) = self.table(table, "palette")? {
            for (key, value) in palette {
                let key_name = format!("palette.{key}");
                let text = self.text(&key_name, value)?;
                let color = self.color(&key_name, text, text)?;
                self.palette.insert(key.clone(), color);
            }
        }
        for (key, value) in table {
            match key.as_str() {
                "extends" | "palette" => {}
                "fills" => {
                    theme.fills = value.as_bool().ok_or_else(|| {
                        self.wrong("fills", value, "not a truth value", "Write true or false.")
                    })?;
                }
                "is_dark" => {
                    theme.is_dark = value.as_bool().ok_or_else(|| {
                        self.wrong("is_dark", value, "not a truth value", "Write true or false.")
                    })?;
                }
                "background" => {
                    let text = self.text(key, value)?;
                    theme.background = self.color(key, text, text)?;
                }
                "marks" => theme.marks = self.marks(value)?,
                "styles" => {
                    self.styles(table, key, Styles::KEYS, &mut |key, style| {
                        theme.styles.set(key, style)
                    })?;
                }
                "syntax" => {
                    self.styles(table, key, SyntaxColors::KEYS, &mut |key, style| {
                        theme.syntax.set(key, style)
                    })?;
                }
                _ => {
                    let advice = "Write one of: extends, is_dark, background, fills, marks, palette, \
                                  styles, syntax.";
                    return Err(self.wrong(key, value, "unknown key", advice));
                }
            }
        }
        theme.stamp();
        Ok(theme)
    }

    fn base(&self, table: &Table) -> Result<Theme, ThemeError> {
        let Some(value) = table.get("extends") else {
            return Ok(Theme {
                name: String::new(),
                is_dark: true,
                fills: false,
                revision: 0,
                background: Color::Reset,
                depth: super::ColorDepth::TrueColor,
                styles: Styles::default(),
                syntax: SyntaxColors::default(),
                marks: Marks::unicode(),
                links: None,
            });
        };
        value.as_str().and_then(builtin).unwrap_or_else(|| {
            let advice = format!("Write one of: {}.", BUILTIN.join(", "));
            Err(self.wrong("extends", value, "not a theme that can be extended", &advice))
        })
    }

    fn marks(&self, value: &Value) -> Result<Marks, ThemeError> {
        match value.as_str() {
            Some("unicode") => Ok(Marks::unicode()),
            Some("ascii") => Ok(Marks::ascii()),
            _ => {
                Err(self.wrong("marks", value, "unknown marks", "Write \"unicode\" or \"ascii\"."))
            }
        }
    }

    fn styles(
        &self,
        table: &Table,
        section: &str,
        known: &[&str],
        set: &mut dyn FnMut(&str, Style) -> bool,
    ) -> Result<(), ThemeError> {
        for (key, value) in self.table(table, section)?.into_iter().flatten() {
            let name = format!("{section}.{key}");
            let style = self.style(&name, self.text(&name, value)?)?;
            if !set(key, style) {
                let advice = format!("Write one of: {}.", known.join(", "));
                return Err(self.wrong(&name, value, "unknown style", &advice));
            }
        }
        Ok(())
    }

    fn style(&self, key: &str, text: &str) -> Result<Style, ThemeError> {
        let mut style = Style::new();
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            if let Some(modifier) = modifier(word) {
                style = style.add_modifier(modifier);
            } else if word == "on" {
                let color = words.next().unwrap_or_default();
                style = style.bg(self.color(key, text, color)?);
            } else if style.fg.is_none() {
                style = style.fg(self.color(key, text, word)?);
            } else {
                return Err(self.wrong(
                    key,
                    &Value::String(text.to_owned()),
                    &format!("a second colour {word:?}"),
                    "Write one colour, then \"on\" and a background.",
                ));
            }
        }
        Ok(style)
    }

    fn color(&self, key: &str, text: &str, word: &str) -> Result<Color, ThemeError> {
        if let Some(color) = self.palette.get(word).copied().or_else(|| color(word)) {
            return Ok(color);
        }
        let palette: Vec<&str> = self.palette.keys().map(String::as_str).collect();
        let own = if palette.is_empty() {
            String::new()
        } else {
            format!(", or a name from [palette]: {}", palette.join(", "))
        };
        Err(self.wrong(
            key,
            &Value::String(text.to_owned()),
            &format!("unknown colour {word:?}"),
            &format!("Write #rrggbb, 0 to 255, a name like red or bright-red{own}."),
        ))
    }

    fn table<'t>(&self, table: &'t Table, key: &str) -> Result<Option<&'t Table>, ThemeError> {
        match table.get(key) {
            None => Ok(None),
            Some(Value::Table(table)) => Ok(Some(table)),
            Some(value) => Err(self.wrong(
                key,
                value,
                "not a table",
                &format!("Write [{key}] on its own line."),
            )),
        }
    }

    fn text<'v>(&self, key: &str, value: &'v Value) -> Result<&'v str, ThemeError> {
        value.as_str().ok_or_else(|| {
            self.wrong(key, value, "not a string", "Write it in quotes, e.g. \"#8fbf7f bold\".")
        })
    }

    fn wrong(&self, key: &str, value: &Value, problem: &str, advice: &str) -> ThemeError {
        ThemeError::Value {
            file: self.file.to_owned(),
            key: key.to_owned(),
            value: value.to_string(),
            problem: problem.to_owned(),
            advice: advice.to_owned(),
        }
    }
}

fn modifier(word: &str) -> Option<Modifier> {
    Some(match word {
        "bold" => Modifier::BOLD,
        "dim" => Modifier::DIM,
        "italic" => Modifier::ITALIC,
        "underlined" | "underline" => Modifier::UNDERLINED,
        "reversed" | "reverse" => Modifier::REVERSED,
        "crossed-out" => Modifier::CROSSED_OUT,
        _ => return None,
    })
}

/// A colour that needs no palette.
fn color(word: &str) -> Option<Color> {
    if let Some(hex) = word.strip_prefix('#') {
        let digits = hex.len() == 6 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        let value = u32::from_str_radix(hex, 16).ok().filter(|_| digits)?;
        let [_, r, g, b] = value.to_be_bytes();
        return Some(Color::Rgb(r, g, b));
    }
    Some(match word {
        "default" => Color::Reset,
        "black" => Color::Black,
        "red" => Color::Red,
        "green" => Color::Green,
        "yellow" => Color::Yellow,
        "blue" => Color::Blue,
        "magenta" => Color::Magenta,
        "cyan" => Color::Cyan,
        "white" => Color::Gray,
        "grey" | "gray" | "bright-black" => Color::DarkGray,
        "bright-red" => Color::LightRed,
        "bright-green" => Color::LightGreen,
        "bright-yellow" => Color::LightYellow,
        "bright-blue" => Color::LightBlue,
        "bright-magenta" => Color::LightMagenta,
        "bright-cyan" => Color::LightCyan,
        "bright-white" => Color::White,
        number => Color::Indexed(number.parse().ok()?),
    })
}
