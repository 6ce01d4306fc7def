//! Who may use whom, checked against the source: the table of `docs/architecture.md` as a test.
//!
//! It also keeps files short, and makes every file say at its top what lives in it.

mod scan;

use std::fs;
use std::path::Path;

use scan::Named;

/// From the bottom up: a module may use every module of the rows before its own.
const LAYERS: &[&[&str]] = &[
    &["error", "files", "message", "paths", "permission", "prompts"],
    &["log", "rpc", "wire", "config"],
    &["llm", "context", "snapshot"],
    &["tools", "agent", "hooks", "skill", "mcp"],
    &["soul", "session"],
    &["engine"],
    &["server", "remote", "acp"],
    &["ui"],
    &["cli"],
];

/// Uses within a row that are meant.
const SIDEWAYS: &[(&str, &str)] = &[
    // An unknown home folder is told with advice.
    ("paths", "error"),
    // Hooks are processes like a tool's: away from the terminal, ended as a group.
    ("hooks", "tools"),
    // A server's tool is a tool, and a server is a process like a tool's.
    ("mcp", "tools"),
    // The loop keeps approvals and todos in the session's state.
    ("soul", "session"),
];

/// All that the screen may know of the program.
const UI_SEES: &[&str] =
    &["wire", "message", "config", "paths", "permission", "error", "session", "files"];

/// Where the screen meets the engine: its entrance, its effects, its loop.
const UI_EDGE: &[&str] = &["src/ui/mod.rs", "src/ui/exec", "src/ui/runtime"];

/// Crates and names that stay in one place: what, and where it may be named.
const FENCES: &[(&[&str], &[&str])] = &[
    (&["ratatui"], &["src/ui/"]),
    (&["crossterm"], &["src/ui/"]),
    (&["tui_textarea"], &["src/ui/"]),
    (&["syntect"], &["src/ui/"]),
    (&["two_face"], &["src/ui/"]),
    (&["pulldown_cmark"], &["src/ui/"]),
    (&["reqwest"], &["src/llm/http"]),
    (&["dom_smoothie"], &["src/tools/fetch_url/"]),
    (&["encoding_rs"], &["src/tools/"]),
    (&["imagesize"], &["src/tools/read_media_file.rs", "src/ui/exec/image.rs"]),
    (&["rmcp"], &["src/mcp/"]),
    (&["agent_client_protocol_schema"], &["src/acp/"]),
    (&["minijinja"], &["src/agent/template.rs"]),
    (&["serde_saphyr"], &["src/agent/yaml.rs", "src/skill/frontmatter.rs", "src/config/import.rs"]),
];

/// What must not be named in a place, outside its tests.
const PURE: &[(&[&str], &[&str])] = &[
    (&["tokio"], &["src/ui/model", "src/ui/update", "src/ui/view", "src/ui/render"]),
    (&["std", "fs"], &["src/ui/model", "src/ui/update", "src/ui/view", "src/ui/render"]),
    (&["std", "process"], &["src/ui/model", "src/ui/update", "src/ui/view", "src/ui/render"]),
    (&["std", "net"], &["src/ui/model", "src/ui/update", "src/ui/view", "src/ui/render"]),
    (&["Instant", "now"], &["src/ui/model", "src/ui/update", "src/ui/view"]),
    (&["SystemTime", "now"], &["src/ui/model", "src/ui/update", "src/ui/view"]),
    (&["fastrand"], &["src/ui/model", "src/ui/update", "src/ui/view"]),
];

/// Lines a file may have.
const LONGEST: usize = 500;

/// Files that may be longer, each with its reason. Keep it short.
const MAY_BE_LONGER: &[(&str, &str)] = &[];

/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "helper", "manager", "common", "misc"];

#[test]
fn modules_use_only_what_is_below_them() {
    let breaches: Vec<String> =
        sources("src").iter().flat_map(|(path, text)| breaches(path, text)).collect();
    assert!(breaches.is_empty(), "who may use whom is broken:\n{}\n", breaches.join("\n"));
}

#[test]
fn files_are_short_and_say_what_lives_in_them() {
    let mut faults = Vec::new();
    for (path, text) in ["src", "tests", "benches"].into_iter().flat_map(sources) {
        faults.extend(shape(&path, &text));
    }
    for (path, _) in MAY_BE_LONGER {
        let lines = fs::read_to_string(root().join(path)).map_or(0, |text| text.lines().count());
        if lines <= LONGEST {
            faults.push(format!("{path}: {lines} lines; take it off the list of longer files"));
        }
    }
    assert!(faults.is_empty(), "{}\n", faults.join("\n"));
}

#[test]
fn the_page_for_people_has_the_same_rows() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).expect("the page");
    let told: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| ") && line.as_bytes()[2].is_ascii_digit())
        // Words after a bracket explain; names stand in backticks before it.
        .map(|line| {
            line.split('(').next().unwrap_or_default().split('`').skip(1).step_by(2).collect()
        })
        .collect();
    assert_eq!(told, LAYERS);
}

#[test]
fn a_breach_is_found() {
    let cases = [
        // The screen reaches round the wire.
        (
            "src/ui/update/keys.rs",
            "use crate::soul::Soul;",
            "src/ui/update/keys.rs:1: ui must not use soul",
        ),
        (
            "src/ui/view/chat.rs",
            "\n\nfn f(x: crate::tools::Toolset) {}",
            "src/ui/view/chat.rs:3: ui must not use tools",
        ),
        (
            "src/ui/mod.rs",
            "use crate::{wire::Event, context};",
            "src/ui/mod.rs:1: ui must not use context",
        ),
        ("src/ui/mod.rs", "use super::llm;", "src/ui/mod.rs:1: ui must not use llm"),
        (
            "src/ui/view/mod.rs",
            "use crate::engine::Host;",
            "src/ui/view/mod.rs:1: ui must not use engine",
        ),
        // A lower part knows a higher one.
        ("src/soul/turn.rs", "use crate::ui::Model;", "src/soul/turn.rs:1: soul must not use ui"),
        (
            "src/soul/turn.rs",
            "use super::super::engine::Host;",
            "src/soul/turn.rs:1: soul must not use engine",
        ),
        (
            "src/message/part.rs",
            "pub use crate::wire::Event;",
            "src/message/part.rs:1: message must not use wire",
        ),
        (
            "src/tools/bash.rs",
            "use crate::agent::Agent;",
            "src/tools/bash.rs:1: tools must not use agent",
        ),
        (
            "src/session/mod.rs",
            "use crate::soul::Soul;",
            "src/session/mod.rs:1: session must not use soul",
        ),
        // Tests are not exempt from the layers.
        (
            "src/wire/event.rs",
            "mod tests { use crate::soul::Soul; }",
            "src/wire/event.rs:1: wire must not use soul",
        ),
        // A module nobody has placed.
        ("src/gadget.rs", "", "src/gadget.rs:1: gadget has no layer"),
        ("src/wire/mod.rs", "use crate::gadget::X;", "src/wire/mod.rs:1: gadget has no layer"),
        // Fences.
        (
            "src/soul/turn.rs",
            "use ratatui::text::Line;",
            "src/soul/turn.rs:1: ratatui may only be named in src/ui/",
        ),
        (
            "src/cli/run.rs",
            "fn f() { crossterm::terminal::size(); }",
            "src/cli/run.rs:1: crossterm may only be named in src/ui/",
        ),
        (
            "src/tools/fetch.rs",
            "use reqwest;",
            "src/tools/fetch.rs:1: reqwest may only be named in src/llm/http",
        ),
        (
            "src/llm/openai.rs",
            "use reqwest::Client;",
            "src/llm/openai.rs:1: reqwest may only be named in src/llm/http",
        ),
        (
            "src/ui/update/mod.rs",
            "use tokio::sync::mpsc;",
            "src/ui/update/mod.rs:1: tokio must not be named here",
        ),
        (
            "src/ui/model.rs",
            "use std::{fmt, fs};",
            "src/ui/model.rs:1: std::fs must not be named here",
        ),
        (
            "src/ui/update/x.rs",
            "fn f() { let t = std::time::Instant::now(); }",
            "src/ui/update/x.rs:1: Instant::now must not be named here",
        ),
    ];
    for (path, text, wanted) in cases {
        let found = breaches(path, text);
        assert!(
            found.iter().any(|told| told.starts_with(wanted)),
            "{path}: {text}\ngave {found:?}"
        );
    }
}

#[test]
fn what_is_allowed_is_no_breach() {
    let cases = [
        (
            "src/ui/update/keys.rs",
            "use crate::{wire::Event, message::Role};\nuse super::super::model::Model;",
        ),
        ("src/ui/exec.rs", "use crate::engine::Host; use tokio::sync::mpsc;"),
        ("src/ui/runtime.rs", "use crate::engine::Host; use crossterm::event::EventStream;"),
        ("src/ui/update/x.rs", "mod tests { fn f() { let now = std::time::Instant::now(); } }"),
        ("src/ui/update/tests.rs", "use std::fs;"),
        ("src/soul/turn.rs", "use crate::{llm, context, tools, session, wire, prompts};"),
        (
            "src/soul/turn.rs",
            "// use crate::ui::Model;\nconst X: &str = \"crate::ui::Model ratatui::x\";",
        ),
        ("src/llm/http.rs", "use reqwest::Client;"),
        ("src/llm/http/client.rs", "use reqwest::Client;"),
        ("src/main.rs", "use kimi_tui::cli;"),
        ("src/lib.rs", "pub mod ui; pub mod wire;"),
    ];
    for (path, text) in cases {
        assert_eq!(breaches(path, text), Vec::<String>::new(), "{path}: {text}");
    }
}

#[test]
fn a_long_or_silent_file_is_found() {
    let long = format!("//! Long.\n{}", "\n".repeat(LONGEST));
    assert_eq!(shape("src/a.rs", &long).len(), 1);
    assert_eq!(shape("src/a.rs", "use x;\n").len(), 1);
    assert_eq!(shape("src/tools/utils.rs", "//! Things.\n").len(), 1);
    assert_eq!(shape("src/common/mod.rs", "//! Things.\n").len(), 1);
    let ok = format!("//! Just right.\n{}", "\n".repeat(LONGEST - 1));
    assert_eq!(shape("src/a.rs", &ok), Vec::<String>::new());
    assert_eq!(shape("src/a/tests.rs", "use super::*;\n"), Vec::<String>::new());
}

/// What a source file does that the tables forbid, one line each.
fn breaches(path: &str, text: &str) -> Vec<String> {
    let parts = module_parts(path);
    let Some(own) = parts.first().copied() else { return Vec::new() };
    let mut found = Vec::new();
    if layer(own).is_none() {
        found.push(format!("{path}:1: {own} has no layer: give it one in {}", file!()));
    }
    let is_tests = path.ends_with("/tests.rs") || path.contains("/tests/");
    for named in scan::names(&parts, text) {
        if let Some(told) = layer_breach(path, own, &named) {
            found.push(format!("{path}:{}: {told}", named.line));
        }
        if let Some(told) = fence_breach(path, &named, is_tests) {
            found.push(format!("{path}:{}: {told}", named.line));
        }
    }
    found
}

fn layer_breach(path: &str, own: &str, named: &Named) -> Option<String> {
    let [root, used, ..] = named.path.as_slice() else { return None };
    // `crate::Thing` is a re-export of lib.rs, which has none; a macro is no module.
    if root != "crate" || used == own || used.starts_with(char::is_uppercase) {
        return None;
    }
    let Some(theirs) = layer(used) else {
        return Some(format!("{used} has no layer: give it one in {}", file!()));
    };
    let is_edge = UI_EDGE.iter().any(|edge| path.starts_with(edge)) && used == "engine";
    let allowed = if own == "ui" {
        UI_SEES.contains(&used.as_str()) || is_edge
    } else {
        layer(own).is_some_and(|mine| theirs < mine) || SIDEWAYS.contains(&(own, used.as_str()))
    };
    (!allowed).then(|| format!("{own} must not use {used} ({})", named.path.join("::")))
}

fn fence_breach(path: &str, named: &Named, is_tests: bool) -> Option<String> {
    for (name, places) in FENCES {
        if starts(&named.path, name) && !places.iter().any(|place| path.starts_with(place)) {
            return Some(format!("{} may only be named in {}", name.join("::"), places.join(", ")));
        }
    }
    if is_tests || named.in_tests {
        return None;
    }
    for (name, places) in PURE {
        // `Instant::now` may stand at the end of a longer path.
        let is_named = starts(&named.path, name)
            || name[0].starts_with(char::is_uppercase) && ends(&named.path, name);
        if is_named && places.iter().any(|place| is_below(path, place)) {
            return Some(format!("{} must not be named here", name.join("::")));
        }
    }
    None
}

fn starts(path: &[String], name: &[&str]) -> bool {
    path.len() >= name.len() && path.iter().zip(name).all(|(part, wanted)| part == wanted)
}

fn ends(path: &[String], name: &[&str]) -> bool {
    path.len() >= name.len() && path[path.len() - name.len()..] == *name
}

/// `src/ui/view` is the folder and the file of that name, not `src/ui/viewer.rs`.
fn is_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.starts_with(['/', '.']))
}

/// What is wrong with a file as such.
fn shape(path: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let lines = text.lines().count();
    if lines > LONGEST && !MAY_BE_LONGER.iter().any(|(known, _)| *known == path) {
        faults.push(format!("{path}: {lines} lines, {LONGEST} are allowed: split it by idea"));
    }
    // `tests.rs` is about the file it stands beside.
    if !text.starts_with("//!") && !path.ends_with("/tests.rs") {
        faults.push(format!("{path}: its first line must say what lives here (//! ...)"));
    }
    let names = path.trim_end_matches(".rs").split('/');
    if let Some(name) = names.into_iter().find(|name| EMPTY_NAMES.contains(name)) {
        faults.push(format!("{path}: \"{name}\" says nothing about what is inside"));
    }
    faults
}

/// `src/ui/view/mod.rs` is `["ui", "view"]`; `lib.rs` and `main.rs` are nobody's.
fn module_parts(path: &str) -> Vec<&str> {
    let inner = path.trim_start_matches("src/").trim_end_matches(".rs");
    let mut parts: Vec<&str> = inner.split('/').collect();
    if parts.last() == Some(&"mod") {
        parts.pop();
    }
    if matches!(parts.as_slice(), ["lib" | "main"]) { Vec::new() } else { parts }
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&module))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file below `folder`, as its path from the project's root and its text.
fn sources(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        // A folder that is not there yet holds no breach.
        let entries = fs::read_dir(&folder).into_iter().flatten();
        for path in entries.map(|entry| entry.expect("entry").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = fs::read_to_string(&path).expect("UTF-8 source");
                found.push((from_root(&path), text));
            }
        }
    }
    found.sort();
    found
}

fn from_root(path: &Path) -> String {
    let inner = path.strip_prefix(root()).expect("below the root");
    inner.to_string_lossy().replace('\\', "/")
}
