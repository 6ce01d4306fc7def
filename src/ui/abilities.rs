//! What the terminal can, as far as the environment tells.

/// What a terminal can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Abilities {
    /// Takes marks around prompts and answers (OSC 133), or passes them over.
    pub marks: bool,
    /// Breaks lines anew when its width changes.
    pub reflows: bool,
    /// What it does with links (OSC 8).
    pub links: Links,
}

/// What a terminal does with links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    /// It may print what belongs to them, or worse.
    Breaks,
    /// It may show them or pass them over.
    MayShow,
    /// It shows them.
    Shows,
}

impl Abilities {
    /// Looks at the environment, which `env` reads.
    pub(super) fn detect(env: &dyn Fn(&str) -> Option<String>) -> Self {
        let term = env("TERM").unwrap_or_default();
        let is_plain =
            matches!(term.as_str(), "" | "dumb" | "linux" | "vt100" | "vt220" | "cons25");
        let is_tmux = env("TMUX").is_some() || term.starts_with("tmux");
        // GNU screen calls itself so; so does an old tmux.
        let is_gnu_screen = term.starts_with("screen") && !is_tmux || env("STY").is_some();
        let keeps_lines = env("XTERM_VERSION").is_some()
            || env("NVIM").is_some()
            || ["st", "eterm"].iter().any(|name| term.split('-').next() == Some(*name));
        Self {
            marks: !is_plain && !is_gnu_screen,
            reflows: !is_plain && !is_gnu_screen && !keeps_lines,
            links: if is_plain || is_gnu_screen { Links::Breaks } else { links(env, is_tmux) },
        }
    }
}

fn links(env: &dyn Fn(&str) -> Option<String>, is_tmux: bool) -> Links {
    let term = env("TERM").unwrap_or_default();
    let program = env("TERM_PROGRAM").unwrap_or_default();
    if is_tmux {
        // It passes them on since 3.4; what the terminal around it does is not known.
        let version = env("TERM_PROGRAM_VERSION").filter(|_| program == "tmux");
        let is_old = version.is_none_or(|version| number(&version) < (3, 4));
        return if is_old { Links::Breaks } else { Links::MayShow };
    }
    if let Some(version) = env("VTE_VERSION") {
        // Before 0.50 a link could bring it down.
        let version = version.parse::<u32>().unwrap_or_default();
        return if version >= 5000 { Links::Shows } else { Links::Breaks };
    }
    let by_program = ["iTerm.app", "WezTerm", "ghostty", "vscode", "Hyper", "rio", "contour"];
    let by_term = ["xterm-kitty", "foot", "foot-extra", "alacritty", "wezterm", "xterm-ghostty"];
    let by_variable = ["KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "ALACRITTY_WINDOW_ID"];
    let shows = by_program.contains(&program.as_str())
        || by_term.contains(&term.as_str())
        || by_variable.iter().any(|name| env(name).is_some());
    if shows { Links::Shows } else { Links::MayShow }
}

/// The first two numbers of a version (`3.4a`, `next-3.5`).
fn number(version: &str) -> (u32, u32) {
    let mut numbers = version
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse::<u32>().ok());
    (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(set: &[(&str, &str)]) -> Abilities {
        let env = |name: &str| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Abilities::detect(&env)
    }

    #[test]
    fn links_go_where_they_are_shown() {
        let links = |set: &[(&str, &str)]| with(set).links;
        let xterm = ("TERM", "xterm-256color");
        for term in ["dumb", "linux", "", "screen-256color"] {
            assert_eq!(links(&[("TERM", term)]), Links::Breaks, "{term:?}");
        }
        assert_eq!(links(&[xterm]), Links::MayShow);
        assert_eq!(links(&[xterm, ("TERM_PROGRAM", "Apple_Terminal")]), Links::MayShow);
        assert_eq!(links(&[("TERM", "xterm-kitty")]), Links::Shows);
        assert_eq!(links(&[xterm, ("VTE_VERSION", "7600")]), Links::Shows);
        assert_eq!(links(&[xterm, ("VTE_VERSION", "4600")]), Links::Breaks);
        let tmux = |version| {
            let around = ("VTE_VERSION", "7600");
            let inside = ("TERM_PROGRAM_VERSION", version);
            let known = [("TERM", "screen-256color"), ("TMUX", "/tmp/tmux,1,0"), around, inside];
            links(&[known.as_slice(), &[("TERM_PROGRAM", "tmux")]].concat())
        };
        assert_eq!(tmux("3.3a"), Links::Breaks);
        assert_eq!(tmux("3.4"), Links::MayShow);
        assert_eq!(tmux("next-3.6"), Links::MayShow);
    }

    #[test]
    fn lines_are_kept_where_the_terminal_keeps_them() {
        let xterm = ("TERM", "xterm-256color");
        assert!(with(&[xterm]).reflows && with(&[xterm]).marks);
        assert!(!with(&[xterm, ("XTERM_VERSION", "XTerm(390)")]).reflows);
        assert!(!with(&[("TERM", "screen")]).reflows && !with(&[("TERM", "screen")]).marks);
        assert!(with(&[("TERM", "screen"), ("TMUX", "x")]).reflows);
        assert!(!with(&[("TERM", "linux")]).reflows && !with(&[("TERM", "dumb")]).marks);
    }
}
