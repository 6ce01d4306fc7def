//! The open session's papers: `/title`, `/fork`, `/undo`, `/export`, `/import`.

use std::path::PathBuf;

use super::super::effect::{Effect, OpenTarget};
use super::super::model::Model;
use super::super::model::cell::Level;
use super::super::model::editor::Editor;
use super::super::model::overlay::Overlay;
use super::super::model::picker::{Choice, Picker, PickerRow};
use super::super::model::sessions::{ExportFormat, SessionTask};
use super::super::model::timeline::{CheckpointEntry, EntryKind};
use super::{is_idle, replay, session, sessions, toast, wire};
use crate::message::CheckpointRef;
use crate::session::{Imported, Session};
use crate::wire::Command;

/// Carries out a command about the open session; none when it is none of these.
pub(super) fn command(model: &mut Model, name: &str, rest: &str, now: f64) -> Option<Vec<Effect>> {
    if !matches!(name, "title" | "fork" | "undo" | "export" | "import" | "replay") {
        return None;
    }
    let Some(open) = opened(model) else {
        toast(model, "No session is open; Ctrl-G lists them, F5 begins one", now);
        return Some(Vec::new());
    };
    if name == "title" {
        return Some(title(model, rest, now));
    }
    if name == "export" {
        return Some(export(model, open, rest));
    }
    if !is_idle(model) {
        toast(model, "A turn runs; Ctrl-C stops it first", now);
        return Some(Vec::new());
    }
    Some(match name {
        "fork" => sessions::ask(model, SessionTask::Fork { session: open, at: None }),
        "undo" => {
            undo(model, now);
            Vec::new()
        }
        "replay" => replay::start(model, open, now),
        _ if rest.is_empty() => {
            toast(model, "/import FILE, or the id of a session", now);
            Vec::new()
        }
        _ => sessions::ask(model, SessionTask::Import(rest.to_owned())),
    })
}

/// The session that is open.
pub(super) fn opened(model: &Model) -> Option<Session> {
    let info = &model.status.info;
    Some(Session {
        id: info.id.clone()?,
        work_dir: info.work_dir.clone(),
        dir: info.session_dir.clone(),
    })
}

fn title(model: &mut Model, rest: &str, now: f64) -> Vec<Effect> {
    if rest.is_empty() {
        let title = model.status.info.title.clone();
        let text = if title.is_empty() { "It has no title yet".to_owned() } else { title };
        wire::notice(model, Level::Info, format!("Title: {text}"), now);
        return Vec::new();
    }
    vec![Effect::Send(Command::SetTitle(rest.to_owned()))]
}

/// `/export [path]`: what the ending says, Markdown without one.
fn export(model: &mut Model, session: Session, rest: &str) -> Vec<Effect> {
    let path = (!rest.is_empty()).then(|| PathBuf::from(rest));
    let format = path.as_deref().and_then(ExportFormat::of).unwrap_or(ExportFormat::Markdown);
    sessions::ask(model, SessionTask::Export { session, format, path })
}

/// Offers the turns of the living context, latest first.
fn undo(model: &mut Model, now: f64) {
    let rows: Vec<PickerRow> = model
        .timeline
        .entries
        .iter()
        .rev()
        .filter_map(|entry| match &entry.kind {
            EntryKind::Checkpoint(CheckpointEntry { at, is_live: true, step: None, .. }) => {
                let said = entry.cell.and_then(|cell| said_at(model, cell));
                Some(PickerRow {
                    label: said.unwrap_or_else(|| format!("checkpoint {}", at.id)),
                    detail: format!("#{}", at.id),
                    choice: Choice::Undo(*at),
                })
            }
            _ => None,
        })
        .collect();
    if rows.is_empty() {
        toast(model, "There is no turn to undo", now);
        return;
    }
    let picker =
        Picker::new("Undo from this prompt on, in a new session", "No prompt is so.", rows);
    model.overlays.push(Overlay::Picker(Box::new(picker)));
}

fn said_at(model: &Model, cell: super::super::model::cell::CellId) -> Option<String> {
    let cell = &model.transcript.cells()[model.transcript.index_of(cell)?];
    match &cell.kind {
        super::super::model::cell::CellKind::User { text, .. } => Some(text.replace('\n', " ")),
        _ => None,
    }
}

/// A turn was chosen to be undone.
pub(super) fn undo_at(model: &mut Model, at: CheckpointRef) -> Vec<Effect> {
    let Some(session) = opened(model) else { return Vec::new() };
    sessions::ask(model, SessionTask::Fork { session, at: Some(at) })
}

/// A fork is there: it is opened, with what was said then ready to be said again.
pub(super) fn forked(
    model: &mut Model,
    made: Session,
    said: Option<String>,
    now: f64,
) -> Vec<Effect> {
    if let Some(said) = said
        && model.composer.editor.is_empty()
    {
        model.composer.editor = Editor::with_text(&said);
    }
    session::open(model, OpenTarget::Session(made), now)
}

/// Something was read for the model to know.
pub(super) fn imported(model: &mut Model, imported: Imported, now: f64) -> Vec<Effect> {
    let room = model.status.max_tokens().saturating_sub(model.status.context_tokens.unwrap_or(0));
    if model.status.max_tokens() > 0 && imported.tokens > room {
        let text = format!(
            "{} is about {} tokens and does not fit: {room} are left. Give a part of it.",
            imported.source, imported.tokens
        );
        wire::notice(model, Level::Warning, text, now);
        return Vec::new();
    }
    vec![Effect::Send(Command::Import {
        source: imported.source,
        message: Box::new(imported.message),
    })]
}
