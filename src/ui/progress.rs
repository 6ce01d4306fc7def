//! Tells the terminal that a turn runs (`OSC 9;4`, begun by ConEmu), where it shows that.

use super::view::Progress;
use crate::config::Switch;

/// Nothing is shown any more.
pub(super) const CLEAR: &str = "\x1b]9;4;0\x1b\\";

/// Seconds after which it is said again that a turn runs: Ghostty takes a program that has been silent
/// for 15 as gone.
const AGAIN: f64 = 5.0;

/// What the terminal was told last.
#[derive(Debug)]
pub(super) struct Reporter {
    /// Is it one that is known to show it?
    is_known: bool,
    /// Is there a tmux between, which would have to hand it on?
    is_wrapped: bool,
    shown: Progress,
    said_at: f64,
}

impl Reporter {
    /// One for the terminal this environment tells of.
    pub(super) fn new(env: &dyn Fn(&str) -> Option<String>) -> Self {
        let is_wrapped = env("TMUX").is_some_and(|value| !value.is_empty());
        Self { is_known: is_known(env), is_wrapped, shown: Progress::None, said_at: 0.0 }
    }

    /// What to write so that the terminal shows `wanted`; nothing when it does so already.
    pub(super) fn say(&mut self, wanted: Progress, setting: Switch, now: f64) -> Option<String> {
        let wanted = if setting.is_on(self.is_known) { wanted } else { Progress::None };
        let is_stale = wanted == Progress::Busy && now >= self.said_at + AGAIN;
        if wanted == self.shown && !is_stale {
            return None;
        }
        (self.shown, self.said_at) = (wanted, now);
        let plain = match wanted {
            Progress::None => CLEAR,
            Progress::Busy => "\x1b]9;4;3\x1b\\",
            Progress::Waiting => "\x1b]9;4;4;100\x1b\\",
            Progress::Failed => "\x1b]9;4;2;100\x1b\\",
        };
        Some(self.wrap(plain))
    }

    /// Does the terminal show something?
    pub(super) fn shows(&self) -> bool {
        self.shown != Progress::None
    }

    /// What to write before the terminal is given back; it is said anew afterwards.
    pub(super) fn stop(&mut self) -> Option<String> {
        let was = std::mem::take(&mut self.shown);
        (was != Progress::None).then(|| self.wrap(CLEAR))
    }

    fn wrap(&self, plain: &str) -> String {
        if self.is_wrapped {
            format!("\x1bPtmux;{}\x1b\\", plain.replace('\x1b', "\x1b\x1b"))
        } else {
            plain.to_owned()
        }
    }
}

/// Is the terminal one that shows it? Others take `OSC 9` for a notification, or print it. What stands
/// between (tmux, screen) hides which terminal it is.
fn is_known(env: &dyn Fn(&str) -> Option<String>) -> bool {
    let is = |name: &str, value: &str| env(name).is_some_and(|found| found == value);
    let has = |name: &str| env(name).is_some_and(|value| !value.is_empty());
    let term = env("TERM").unwrap_or_default();
    if has("TMUX") || has("STY") || term.starts_with("screen") || term.starts_with("tmux") {
        return false;
    }
    // VTE since 0.79; iTerm2 since 3.6.6, which showed a notification for each before.
    let vte = env("VTE_VERSION").and_then(|version| version.parse::<u32>().ok());
    let iterm = is("TERM_PROGRAM", "iTerm.app")
        && env("TERM_PROGRAM_VERSION").is_some_and(|version| at_least(&version, [3, 6, 6]));
    has("WT_SESSION")
        || is("ConEmuANSI", "ON")
        || is("TERM_PROGRAM", "WezTerm")
        || is("TERM_PROGRAM", "ghostty")
        || term == "xterm-ghostty"
        || iterm
        || vte.is_some_and(|version| version >= 7900)
}

fn at_least(version: &str, least: [u32; 3]) -> bool {
    let mut parts = version.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().ok());
    let version: [u32; 3] = std::array::from_fn(|_| parts.next().flatten().unwrap_or(0));
    version >= least
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reporter(env: &[(&str, &str)]) -> Reporter {
        Reporter::new(&|name| {
            env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn only_terminals_that_show_it_are_told_unless_the_person_says_so() {
        let auto = Switch::Auto;
        for (env, takes) in [
            (&[("WT_SESSION", "x")][..], true),
            (&[("ConEmuANSI", "ON")], true),
            (&[("ConEmuANSI", "OFF")], false),
            (&[("TERM_PROGRAM", "ghostty")], true),
            (&[("TERM_PROGRAM", "WezTerm")], true),
            (&[("TERM_PROGRAM", "iTerm.app"), ("TERM_PROGRAM_VERSION", "3.6.9")], true),
            (&[("TERM_PROGRAM", "iTerm.app"), ("TERM_PROGRAM_VERSION", "3.5.14")], false),
            (&[("TERM_PROGRAM", "iTerm.app"), ("TERM_PROGRAM_VERSION", "3.10.0")], true),
            (&[("VTE_VERSION", "7900")], true),
            (&[("VTE_VERSION", "7600")], false),
            (&[("TERM", "xterm-kitty")], false),
            (&[("TERM", "xterm-256color")], false),
            (&[("TERM", "xterm-ghostty"), ("TMUX", "/tmp/x,1,0")], false),
            (&[("WT_SESSION", "x"), ("TERM", "screen-256color")], false),
        ] {
            let said = reporter(env).say(Progress::Busy, auto, 0.0).is_some();
            assert_eq!(said, takes, "{env:?}");
            let said = reporter(env).say(Progress::Busy, Switch::Off, 0.0);
            assert_eq!(said, None, "{env:?}");
            assert!(reporter(env).say(Progress::Busy, Switch::On, 0.0).is_some());
        }
    }

    #[test]
    fn a_state_is_said_once_a_running_turn_again_and_nothing_while_idle() {
        let mut r = reporter(&[("WT_SESSION", "x")]);
        let auto = Switch::Auto;
        assert_eq!(r.say(Progress::None, auto, 0.0), None);
        assert_eq!(r.say(Progress::Busy, auto, 1.0).as_deref(), Some("\x1b]9;4;3\x1b\\"));
        assert_eq!(r.say(Progress::Busy, auto, 5.9), None);
        assert!(r.say(Progress::Busy, auto, 6.0).is_some());
        assert_eq!(r.say(Progress::Waiting, auto, 6.1).as_deref(), Some("\x1b]9;4;4;100\x1b\\"));
        assert_eq!(r.say(Progress::Waiting, auto, 60.0), None);
        assert_eq!(r.say(Progress::Failed, auto, 61.0).as_deref(), Some("\x1b]9;4;2;100\x1b\\"));
        assert_eq!(r.stop().as_deref(), Some(CLEAR));
        assert_eq!(r.stop(), None);
        assert_eq!(r.say(Progress::None, auto, 62.0), None);
        // Switched off while it is shown: it is taken away.
        assert!(r.say(Progress::Busy, auto, 63.0).is_some());
        let off = Switch::Off;
        assert_eq!(r.say(Progress::Busy, off, 63.1).as_deref(), Some(CLEAR));
    }

    #[test]
    fn tmux_is_asked_to_hand_it_on_when_the_person_wants_it() {
        let mut r = reporter(&[("TMUX", "/tmp/x,1,0")]);
        let said = r.say(Progress::Busy, Switch::On, 0.0);
        assert_eq!(said.as_deref(), Some("\x1bPtmux;\x1b\x1b]9;4;3\x1b\x1b\\\x1b\\"));
    }
}
