//! The terminal: what it is, what it shows, which keys it can tell apart.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::Command;

use rustix::termios::{self, OptionalActions, SpecialCodeIndex};

use super::{Check, Surroundings};

const TERMINAL: &str = "Terminal";

pub(super) fn examine(around: &Surroundings) -> Vec<Check> {
    let mut checks = vec![kind(around), colours(around), locale(around)];
    if around.is_terminal {
        checks.push(size());
        checks.push(keyboard());
    } else {
        checks.push(Check::ok(TERMINAL, "not a terminal here: size and keys are not looked at"));
    }
    checks.extend(tmux(around));
    checks.push(clipboard(around));
    checks
}

fn kind(around: &Surroundings) -> Check {
    match around.env.get("TERM").filter(|term| !term.is_empty()) {
        None => Check::warn(
            TERMINAL,
            "TERM is not set",
            "Set it to what your terminal is, for example TERM=xterm-256color.",
        ),
        Some(term) if term == "dumb" => Check::fail(
            TERMINAL,
            "TERM is dumb: there can be no screen",
            "Use a real terminal, or kimi-tui --print.",
        ),
        Some(term) => {
            let program = around.env.get("TERM_PROGRAM").filter(|program| !program.is_empty());
            let program = program.map(|program| format!(" in {program}")).unwrap_or_default();
            Check::ok(TERMINAL, format!("TERM is {term}{program}"))
        }
    }
}

fn colours(around: &Surroundings) -> Check {
    let value = |name: &str| around.env.get(name).unwrap_or_default().to_lowercase();
    if around.is_set("NO_COLOR") {
        return Check::ok(TERMINAL, "no colours, as NO_COLOR says");
    }
    let true_colour = value("COLORTERM");
    if true_colour.contains("truecolor") || true_colour.contains("24bit") {
        return Check::ok(TERMINAL, "16 million colours");
    }
    if value("TERM").contains("256") {
        let cure = "If your terminal can show more, set COLORTERM=truecolor.";
        return Check { cure: Some(cure.to_owned()), ..Check::ok(TERMINAL, "256 colours") };
    }
    Check::warn(
        TERMINAL,
        "16 colours",
        "If your terminal can show more, set TERM=xterm-256color and COLORTERM=truecolor.",
    )
}

fn locale(around: &Surroundings) -> Check {
    let name = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find(|name| around.is_set(name));
    let value = name.and_then(|name| around.env.get(name)).unwrap_or_default();
    let lower = value.to_lowercase();
    if lower.contains("utf-8") || lower.contains("utf8") {
        return Check::ok(TERMINAL, format!("the locale is {value}"));
    }
    let shown = if value.is_empty() { "not set".to_owned() } else { value };
    Check::warn(
        TERMINAL,
        format!("the locale is {shown}, not UTF-8: commands may garble what is not English"),
        "Set LANG=C.UTF-8, or another one that locale -a lists.",
    )
}

fn size() -> Check {
    match termios::tcgetwinsize(std::io::stdout()) {
        Ok(size) if size.ws_col >= 60 && size.ws_row >= 15 => {
            Check::ok(TERMINAL, format!("{} columns, {} rows", size.ws_col, size.ws_row))
        }
        Ok(size) => Check::warn(
            TERMINAL,
            format!("only {} columns, {} rows", size.ws_col, size.ws_row),
            "80 columns and 24 rows or more are comfortable.",
        ),
        Err(error) => Check::warn(
            TERMINAL,
            format!("it does not tell its size ({error})"),
            "Try another terminal.",
        ),
    }
}

fn keyboard() -> Check {
    match ask_keyboard() {
        Some(true) => Check::ok(TERMINAL, "keys are told apart (kitty keyboard protocol)"),
        Some(false) => Check::ok(
            TERMINAL,
            "no kitty keyboard protocol: Shift-Enter may be the same as Enter; Alt-Enter works",
        ),
        None => Check::ok(TERMINAL, "it did not say which keys it can tell apart"),
    }
}

/// Asks for the keyboard protocol, and then for what every terminal answers.
fn ask_keyboard() -> Option<bool> {
    let mut tty = OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
    let before = termios::tcgetattr(&tty).ok()?;
    let mut raw = before.clone();
    raw.make_raw();
    raw.special_codes[SpecialCodeIndex::VMIN] = 0;
    // Tenths of a second.
    raw.special_codes[SpecialCodeIndex::VTIME] = 3;
    termios::tcsetattr(&tty, OptionalActions::Now, &raw).ok()?;
    let answer = converse(&mut tty);
    // What could not be set back would be the terminal's own fault.
    let _ = termios::tcsetattr(&tty, OptionalActions::Flush, &before);
    understand(&answer?)
}

fn converse(tty: &mut File) -> Option<Vec<u8>> {
    tty.write_all(b"\x1b[?u\x1b[c").ok()?;
    tty.flush().ok()?;
    let mut answer = Vec::new();
    let mut chunk = [0; 64];
    while answer.len() < 512 && !answer.ends_with(b"c") {
        match tty.read(&mut chunk) {
            Ok(0) | Err(_) => break,
            Ok(count) => answer.extend_from_slice(&chunk[..count]),
        }
    }
    Some(answer)
}

/// `ESC [ ? flags u` comes before `ESC [ ? … c` where the protocol is known.
fn understand(answer: &[u8]) -> Option<bool> {
    let text = String::from_utf8_lossy(answer);
    if !text.ends_with('c') {
        return None;
    }
    let is_flags = |part: &str| {
        part.strip_suffix('u').is_some_and(|flags| flags.bytes().all(|b| b.is_ascii_digit()))
    };
    Some(text.split("\x1b[?").any(is_flags))
}

fn tmux(around: &Surroundings) -> Vec<Check> {
    if !around.is_set("TMUX") {
        return Vec::new();
    }
    let option = |name: &str| {
        let output = Command::new("tmux").args(["show", "-gv", name]).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let mut checks = Vec::new();
    for (name, wanted, what) in [
        ("set-clipboard", "on", "copying through the terminal"),
        ("allow-passthrough", "on", "way through for what tmux does not know"),
    ] {
        let value = option(name).unwrap_or_default();
        checks.push(if matches!(value.as_str(), "on" | "all" | "external") {
            Check::ok(TERMINAL, format!("tmux: {name} is {value}"))
        } else {
            Check::warn(
                TERMINAL,
                format!("tmux: {name} is off: no {what}"),
                format!("Add to ~/.tmux.conf: set -g {name} {wanted}"),
            )
        });
    }
    checks
}

fn clipboard(around: &Surroundings) -> Check {
    if around.is_set("SSH_CONNECTION") || around.is_set("SSH_TTY") {
        return Check::ok(TERMINAL, "clipboard: through the terminal (OSC 52), as over SSH");
    }
    let tools = [
        ("pbcopy", cfg!(target_os = "macos")),
        ("wl-copy", around.is_set("WAYLAND_DISPLAY")),
        ("xclip", around.is_set("DISPLAY")),
        ("xsel", around.is_set("DISPLAY")),
        ("clip.exe", around.is_set("WSL_DISTRO_NAME")),
    ];
    let fitting = || tools.iter().filter(|(_, fits)| *fits).map(|(name, _)| *name);
    match fitting().find(|name| around.program(name).is_some()) {
        Some(name) => Check::ok(TERMINAL, format!("clipboard: {name}")),
        None => match fitting().next() {
            Some(name) => Check::warn(
                TERMINAL,
                "clipboard: no tool, so copying goes through the terminal (OSC 52)",
                format!("If that does not work in yours, install {name}."),
            ),
            None => Check::ok(TERMINAL, "clipboard: through the terminal (OSC 52)"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_knows_the_keyboard_protocol_says_so_first() {
        assert_eq!(understand(b"\x1b[?0u\x1b[?62;4c"), Some(true));
        assert_eq!(understand(b"\x1b[?62;22c"), Some(false));
        assert_eq!(understand(b""), None);
        assert_eq!(understand(b"\x1b[?0u"), None, "cut off");
    }
}
