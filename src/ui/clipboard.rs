//! The clipboard: a native tool where the program runs on the person's own machine, otherwise the
//! terminal is asked to do it (OSC 52), through tmux and screen.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::message::base64;

/// Bytes of a text that terminals take at most through OSC 52; several stop at 100,000 of base64.
const MOST: usize = 74_000;

/// How a text got, or can get, onto the clipboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Copied {
    /// This program took it.
    Native(&'static str),
    /// Write this to the terminal.
    Terminal(String),
    /// Too long for the terminal, and there is no native tool.
    TooLong,
}

type Tool = (&'static str, &'static [&'static str]);

/// Puts `text` onto the clipboard with a native tool, or says what to write to the terminal.
pub(super) fn copy(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Copied {
    for (program, arguments) in tools(env) {
        if feed(program, arguments, text) {
            return Copied::Native(program);
        }
    }
    if text.len() > MOST { Copied::TooLong } else { Copied::Terminal(osc52(text, env)) }
}

/// The tools that can reach the person's clipboard from here. None of them over SSH: they would reach
/// the clipboard of the other machine.
fn tools(env: &dyn Fn(&str) -> Option<String>) -> Vec<Tool> {
    let has = |name: &str| env(name).is_some_and(|value| !value.is_empty());
    if has("SSH_CONNECTION") || has("SSH_TTY") {
        return Vec::new();
    }
    let mut tools: Vec<Tool> = Vec::new();
    if cfg!(target_os = "macos") {
        tools.push(("pbcopy", &[]));
    }
    if has("WAYLAND_DISPLAY") {
        tools.push(("wl-copy", &[]));
    }
    if has("DISPLAY") {
        tools.push(("xclip", &["-selection", "clipboard"]));
        tools.push(("xsel", &["--clipboard", "--input"]));
    }
    if has("WSL_DISTRO_NAME") {
        tools.push(("clip.exe", &[]));
    }
    tools
}

fn feed(program: &str, arguments: &[&str], text: &str) -> bool {
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return false };
    let is_written =
        child.stdin.take().is_some_and(|mut stdin| stdin.write_all(text.as_bytes()).is_ok());
    is_written && child.wait().is_ok_and(|status| status.success())
}

/// The sequence that makes the terminal take `text`, wrapped so that a multiplexer passes it on.
fn osc52(text: &str, env: &dyn Fn(&str) -> Option<String>) -> String {
    let plain = format!("\x1b]52;c;{}\x07", base64(text.as_bytes()));
    let term = env("TERM").unwrap_or_default();
    if env("TMUX").is_some_and(|value| !value.is_empty()) {
        // tmux with set-clipboard takes the plain one, with allow-passthrough the wrapped one.
        return format!("{plain}\x1bPtmux;{}\x1b\\", plain.replace('\x1b', "\x1b\x1b"));
    }
    if term.starts_with("screen") || env("STY").is_some() {
        // screen takes strings of at most 768 bytes.
        let pieces: Vec<char> = plain.chars().collect();
        return pieces
            .chunks(700)
            .map(|piece| format!("\x1bP{}\x1b\\", piece.iter().collect::<String>()))
            .collect();
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env<'a>(pairs: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn the_terminal_is_asked_where_no_tool_can_reach() {
        let ssh = [("SSH_TTY", "/dev/pts/1"), ("DISPLAY", ":0"), ("TERM", "xterm-256color")];
        assert_eq!(copy("foo", &env(&ssh)), Copied::Terminal("\x1b]52;c;Zm9v\x07".to_owned()));
        let long = "x".repeat(MOST + 1);
        assert_eq!(copy(&long, &env(&ssh)), Copied::TooLong);
        let names = |pairs: &[(&str, &str)]| -> Vec<&str> {
            tools(&env(pairs)).into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(names(&ssh), [""; 0]);
        assert!(names(&[("DISPLAY", ":0")]).ends_with(&["xclip", "xsel"]));
        assert!(names(&[("WAYLAND_DISPLAY", "w")]).ends_with(&["wl-copy"]));
    }

    #[test]
    fn multiplexers_pass_it_on() {
        let tmux = osc52("foo", &env(&[("TMUX", "/tmp/t,1,0"), ("TERM", "tmux-256color")]));
        assert!(tmux.ends_with("\x1bPtmux;\x1b\x1b]52;c;Zm9v\x07\x1b\\"));
        let screen = osc52(&"x".repeat(3000), &env(&[("TERM", "screen")]));
        let pieces: Vec<&str> = screen.split_terminator("\x1b\\").collect();
        assert!(pieces.len() > 4 && pieces.iter().all(|p| p.starts_with("\x1bP") && p.len() < 768));
    }
}
