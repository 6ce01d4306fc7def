//! Texts to read: use of tokens, MCP servers, hooks, what changed; and questions beside the conversation.

use super::super::effect::Effect;
use super::super::model::overlay::{Overlay, Page, PageText};
use super::super::model::{Aside, Model};
use super::super::render::format;
use super::{generation, setup, toast};
use crate::wire::{Command, McpServerState, SideAnswer};

/// Carries out a command that shows a page; none when it is none of these.
pub(super) fn command(model: &mut Model, name: &str, rest: &str, now: f64) -> Option<Vec<Effect>> {
    let (title, lines) = match name {
        "usage" => ("Use of tokens", usage(model)),
        "mcp" => ("MCP servers", mcp(model)),
        "hooks" => ("Hooks", hooks(model)),
        "debug" if rest == "messages" => return Some(generation::view_present(model)),
        "debug" => ("Debug", debug(model)),
        "doctor" => {
            toast(model, "Looking at configuration, model, terminal and data…", now);
            return Some(vec![Effect::Examine(model.program.doctor.clone())]);
        }
        "changelog" => {
            let from = CHANGELOG.find("\n## ").map_or(0, |at| at + 1);
            show(model, "What changed", PageText::Markdown(&CHANGELOG[from..]));
            return Some(Vec::new());
        }
        "version" => {
            toast(model, concat!("kimi-tui ", env!("CARGO_PKG_VERSION")), now);
            return Some(Vec::new());
        }
        "away" => return Some(away(model, now)),
        "btw" => return Some(ask(model, rest, now)),
        _ => return None,
    };
    show(model, title, PageText::Lines(lines));
    Some(Vec::new())
}

fn show(model: &mut Model, title: &'static str, text: PageText) {
    model.overlays.push(Overlay::Page(Page { title, text, scroll: 0 }));
}

/// What the program needs was looked at.
pub(super) fn examined(model: &mut Model, said: &str) {
    model.status.toast = None;
    let lines = said.lines().map(str::to_owned).collect();
    show(model, "Doctor", PageText::Lines(lines));
}

const CHANGELOG: &str = include_str!("../../../CHANGELOG.md");

fn usage(model: &Model) -> Vec<String> {
    let status = &model.status;
    let total = status.total_usage;
    let input = total.input_other + total.input_cache_read + total.input_cache_creation;
    let count = format::tokens;
    let used = count(status.context_tokens.unwrap_or(0));
    let mut lines = vec![
        format!("Context       {used} of {}", count(status.max_tokens())),
        String::new(),
        "In this session:".to_owned(),
        format!("  Input       {}", count(input)),
        format!("    new       {}", count(total.input_other)),
        format!("    cached    {}", count(total.input_cache_read)),
        format!("    to cache  {}", count(total.input_cache_creation)),
        format!("  Output      {}", count(total.output)),
    ];
    if let Some(rate) = (total.input_cache_read * 100).checked_div(input) {
        lines.push(format!("  Read from the cache: {rate} of 100 input tokens"));
    }
    let answers = usize::try_from(status.requests).unwrap_or(0);
    lines.push(format!("  {} of the model", format::count(answers, "answer", "answers")));
    lines.push(match status.cost {
        Some(cost) if status.cost_is_estimate => {
            format!("  Cost        {}, earlier turns at today's price", setup::money(cost))
        }
        Some(cost) => format!("  Cost        {}", setup::money(cost)),
        None => "  Cost        no price = { input, output } is set below the model in config.toml"
            .to_owned(),
    });
    lines
}

fn mcp(model: &Model) -> Vec<String> {
    let servers = &model.status.mcp.servers;
    if servers.is_empty() {
        return vec!["No MCP servers. mcp.json in the data folder names them.".to_owned()];
    }
    let mut lines = Vec::new();
    for server in servers {
        let state = match server.status {
            McpServerState::Pending => "waits",
            McpServerState::Connecting => "is being connected",
            McpServerState::Connected => "ready",
            McpServerState::Failed => "could not be connected; the log file says why",
            McpServerState::Unauthorized => "wants a login",
        };
        lines.push(format!("{}: {state}, {} tools", server.name, server.tools.len()));
        lines.extend(server.tools.iter().map(|tool| format!("    {tool}")));
    }
    lines
}

fn hooks(model: &Model) -> Vec<String> {
    if model.program.hooks.is_empty() {
        return vec!["No hooks. [[hooks]] in config.toml names them.".to_owned()];
    }
    model.program.hooks.clone()
}

fn debug(model: &Model) -> Vec<String> {
    let info = &model.status.info;
    let id = info.id.as_ref().map_or("none", |id| id.0.as_str());
    vec![
        format!("Session       {id}"),
        format!("Its files     {}", info.session_dir.display()),
        format!("Work folder   {}", info.work_dir.display()),
        format!("Agent, model  {}, {}", info.agent, info.model.as_deref().unwrap_or("none")),
        format!("Cells         {}", model.transcript.cells().len()),
        format!("Checkpoints   {}", model.timeline.entries.len()),
        format!("Generation    {}", model.timeline.generation.0),
        format!("Tokens        {}", model.status.context_tokens.unwrap_or(0)),
        format!("Screen        {}x{}", model.screen.width, model.screen.height),
        format!("Queue, stash  {}, {}", model.composer.queue.len(), model.composer.stash.len()),
        String::new(),
        "/debug messages shows every message of the context, with its checkpoints.".to_owned(),
    ]
}

fn away(model: &mut Model, now: f64) -> Vec<Effect> {
    model.is_away = !model.is_away;
    let text = if model.is_away {
        "Away: actions are approved and questions dismissed until /away again"
    } else {
        "Back: you are asked again"
    };
    toast(model, text, now);
    vec![Effect::Send(Command::SetAway(model.is_away))]
}

fn ask(model: &mut Model, question: &str, now: f64) -> Vec<Effect> {
    if question.is_empty() {
        if model.aside.is_some() {
            model.overlays.push(Overlay::Aside { scroll: 0 });
        } else {
            toast(model, "/btw QUESTION asks beside the conversation, also while a turn runs", now);
        }
        return Vec::new();
    }
    let id = format!("aside-{}", model.next_effect().0);
    let question = question.to_owned();
    let aside = Aside { id: id.clone(), question: question.clone(), ..Aside::default() };
    model.aside = Some(aside);
    model.overlays.push(Overlay::Aside { scroll: 0 });
    vec![Effect::Send(Command::SideQuestion { id, question })]
}

/// More of the answer came.
pub(super) fn answered(model: &mut Model, piece: &SideAnswer) {
    if let Some(aside) = model.aside.as_mut().filter(|aside| aside.id == piece.id) {
        if piece.restarted {
            aside.answer.clear();
        }
        aside.answer.push_str(&piece.text_delta);
    }
}

/// It is whole, or failed; says whether it was asked here.
pub(super) fn ended(model: &mut Model, id: &str, text: &str) -> bool {
    let Some(aside) = model.aside.as_mut().filter(|aside| aside.id == id) else { return false };
    text.clone_into(&mut aside.answer);
    aside.is_done = true;
    true
}

/// The panel was closed: an answer that still comes is not wanted any more.
pub(super) fn close_aside(model: &mut Model) -> Vec<Effect> {
    match &model.aside {
        Some(aside) if !aside.is_done => {
            let id = aside.id.clone();
            model.aside = None;
            vec![Effect::Send(Command::CancelSideQuestion { id })]
        }
        _ => Vec::new(),
    }
}
