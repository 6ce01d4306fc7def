//! Colours a terminal can show: what the environment says, and the nearest of fewer.

use ratatui::style::{Color, Style};

/// How many colours a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ColorDepth {
    /// None, or the person wants none.
    None,
    /// The 16 ANSI ones, which the person may have changed.
    Ansi16,
    /// The 256 of xterm.
    Ansi256,
    /// All of them.
    TrueColor,
}

/// Terminals that show all colours, whatever else they say.
const TRUE_COLOR_TERMS: [&str; 7] =
    ["kitty", "ghostty", "alacritty", "wezterm", "foot", "direct", "contour"];

/// The levels of the colour cube of 256-colour terminals.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The ANSI colours as xterm shows them.
const ANSI: [(Color, (u8, u8, u8)); 16] = [
    (Color::Black, (0, 0, 0)),
    (Color::Red, (205, 0, 0)),
    (Color::Green, (0, 205, 0)),
    (Color::Yellow, (205, 205, 0)),
    (Color::Blue, (0, 0, 238)),
    (Color::Magenta, (205, 0, 205)),
    (Color::Cyan, (0, 205, 205)),
    (Color::Gray, (229, 229, 229)),
    (Color::DarkGray, (127, 127, 127)),
    (Color::LightRed, (255, 0, 0)),
    (Color::LightGreen, (0, 255, 0)),
    (Color::LightYellow, (255, 255, 0)),
    (Color::LightBlue, (92, 92, 255)),
    (Color::LightMagenta, (255, 0, 255)),
    (Color::LightCyan, (0, 255, 255)),
    (Color::White, (255, 255, 255)),
];

impl ColorDepth {
    /// What the environment says. `env` gives a variable's value.
    #[must_use]
    pub fn detect(env: &dyn Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| env(name).filter(|value| !value.is_empty());
        if set("NO_COLOR").is_some() {
            return Self::None;
        }
        let term = set("TERM").unwrap_or_default().to_ascii_lowercase();
        if term == "dumb" {
            return Self::None;
        }
        let color_term = set("COLORTERM").unwrap_or_default().to_ascii_lowercase();
        if matches!(color_term.as_str(), "truecolor" | "24bit")
            || TRUE_COLOR_TERMS.iter().any(|name| term.contains(name))
            || set("WT_SESSION").is_some()
        {
            return Self::TrueColor;
        }
        if term.contains("256") { Self::Ansi256 } else { Self::Ansi16 }
    }

    /// `color`, or the nearest this depth has.
    #[must_use]
    pub fn color(self, color: Color) -> Color {
        match (self, color) {
            (Self::None, _) => Color::Reset,
            (Self::Ansi256, Color::Rgb(r, g, b)) => Color::Indexed(to_256(r, g, b)),
            (Self::Ansi16, Color::Rgb(r, g, b)) => to_16(r, g, b),
            (Self::Ansi16, Color::Indexed(index)) => match index {
                0..16 => ANSI[usize::from(index)].0,
                _ => {
                    let (r, g, b) = indexed_rgb(index);
                    to_16(r, g, b)
                }
            },
            _ => color,
        }
    }

    /// `style` in colours this depth has.
    #[must_use]
    pub fn style(self, mut style: Style) -> Style {
        if self == Self::None {
            style.fg = None;
            style.bg = None;
            style.underline_color = None;
            return style;
        }
        style.fg = style.fg.map(|color| self.color(color));
        style.bg = style.bg.map(|color| self.color(color));
        style.underline_color = style.underline_color.map(|color| self.color(color));
        style
    }
}

fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    let square = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
    // The eye sees green best and blue worst.
    3 * square(a.0, b.0) + 6 * square(a.1, b.1) + square(a.2, b.2)
}

fn to_256(r: u8, g: u8, b: u8) -> u8 {
    let level = |value: u8| {
        (0_u8..6).min_by_key(|i| CUBE[usize::from(*i)].abs_diff(value)).unwrap_or_default()
    };
    let cube = 16 + 36 * level(r) + 6 * level(g) + level(b);
    let mean = (u16::from(r) + u16::from(g) + u16::from(b)) / 3;
    let step = u8::try_from((mean.saturating_sub(3) / 10).min(23)).unwrap_or(23);
    let grey = 232 + step;
    if distance(indexed_rgb(grey), (r, g, b)) < distance(indexed_rgb(cube), (r, g, b)) {
        grey
    } else {
        cube
    }
}

fn to_16(r: u8, g: u8, b: u8) -> Color {
    let (max, min) = (r.max(g).max(b), r.min(g).min(b));
    // Greys must stay grey: the nearest ANSI colour of a dark one is a saturated one.
    if max - min < 32 {
        return match max {
            0..48 => Color::Black,
            48..160 => Color::DarkGray,
            160..224 => Color::Gray,
            _ => Color::White,
        };
    }
    // Otherwise the hue decides, then the brightness; mixed hues light up two channels.
    let high = |value: u8| u16::from(value - min) * 2 >= u16::from(max - min);
    let index = usize::from(high(r)) + 2 * usize::from(high(g)) + 4 * usize::from(high(b));
    let bright = if max > 215 { 8 } else { 0 };
    ANSI[index + bright].0
}

/// The colour of an index of the 256, as xterm shows it.
#[must_use]
pub fn indexed_rgb(index: u8) -> (u8, u8, u8) {
    match index {
        0..16 => ANSI[usize::from(index)].1,
        16..232 => {
            let index = usize::from(index - 16);
            (CUBE[index / 36], CUBE[index / 6 % 6], CUBE[index % 6])
        }
        _ => {
            let grey = 8 + 10 * (index - 232);
            (grey, grey, grey)
        }
    }
}

/// What `color` looks like, where that is known.
#[must_use]
pub fn rgb(color: Color) -> Option<(u8, u8, u8)> {
    match color {
        Color::Reset => None,
        Color::Rgb(r, g, b) => Some((r, g, b)),
        Color::Indexed(index) => Some(indexed_rgb(index)),
        named => ANSI.iter().find(|(color, _)| *color == named).map(|(_, rgb)| *rgb),
    }
}

/// How well `a` can be told from `b`: 1 (not at all) to 21, by WCAG 2; none when a colour is the
/// terminal's own.
#[must_use]
pub fn contrast(a: Color, b: Color) -> Option<f64> {
    let (a, b) = (luminance(rgb(a)?), luminance(rgb(b)?));
    Some((a.max(b) + 0.05) / (a.min(b) + 0.05))
}

fn luminance(color: (u8, u8, u8)) -> f64 {
    let channel = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(color.0) + 0.7152 * channel(color.1) + 0.0722 * channel(color.2)
}
