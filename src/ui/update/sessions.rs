//! The sessions overlay: finding one, and what can be done with it.

use super::super::effect::{Effect, EffectId, OpenTarget};
use super::super::key::{KeyCode, KeyPress};
use super::super::keymap::Action;
use super::super::model::Model;
use super::super::model::editor::Editor;
use super::super::model::overlay::Overlay;
use super::super::model::sessions::{
    Ask, ExportFormat, PREVIEW_FROM, SessionDone, SessionList, SessionTask,
};
use super::super::model::status::Activity;
use super::{papers, replay, session, toast};
use crate::session::Session;

fn list(model: &mut Model) -> Option<&mut SessionList> {
    model.overlays.iter_mut().rev().find_map(|overlay| match overlay {
        Overlay::Sessions(list) => Some(&mut **list),
        _ => None,
    })
}

/// Asks for something to be done.
pub(super) fn ask(model: &mut Model, task: SessionTask) -> Vec<Effect> {
    let id = model.next_effect();
    vec![Effect::Sessions { id, task: Box::new(task) }]
}

/// Shows the list of sessions, or closes it.
pub(super) fn open(model: &mut Model) -> Vec<Effect> {
    if matches!(model.overlays.last(), Some(Overlay::Sessions(_))) {
        model.overlays.pop();
        return Vec::new();
    }
    let id = model.next_effect();
    model.overlays.push(Overlay::Sessions(Box::new(SessionList::loading(id))));
    vec![Effect::Sessions { id, task: Box::new(SessionTask::List { archived: false }) }]
}

/// Reads the list again.
fn relist(model: &mut Model) -> Vec<Effect> {
    let id = model.next_effect();
    let Some(list) = list(model) else { return Vec::new() };
    list.request = id;
    let archived = list.archived;
    let task =
        if list.trash.is_some() { SessionTask::ListTrash } else { SessionTask::List { archived } };
    vec![Effect::Sessions { id, task: Box::new(task) }]
}

/// Searches for what is typed.
fn search(model: &mut Model) -> Vec<Effect> {
    let id = model.next_effect();
    let Some(list) = list(model) else { return Vec::new() };
    let text = list.filter.text();
    // What the deleted ones say is in no index.
    if list.query().is_empty() || list.trash.is_some() {
        list.searching = None;
        list.set_hits(Vec::new());
        return Vec::new();
    }
    list.searching = Some(id);
    let (here, archived) = (list.only_here, list.archived);
    vec![Effect::Sessions { id, task: Box::new(SessionTask::Search { text, here, archived }) }]
}

/// A key that is written into the overlay; none when it is no text for it.
pub(super) fn write(model: &mut Model, key: KeyPress) -> Option<Vec<Effect>> {
    let is_text = key.is_text() || key.code == KeyCode::Backspace;
    let list = list(model)?;
    match &mut list.ask {
        Some(Ask::Rename(title)) => {
            let is_motion = matches!(
                key.code,
                KeyCode::Left | KeyCode::Right | KeyCode::Home | KeyCode::End | KeyCode::Delete
            );
            (is_text || is_motion).then(|| {
                title.key(key);
                Vec::new()
            })
        }
        Some(Ask::Export(_) | Ask::Purge) => is_text.then(Vec::new),
        None if is_text => {
            list.filter.key(key);
            Some(filtered(model))
        }
        None => None,
    }
}

/// What is typed has changed: titles at once, what was said when the answer comes.
pub(super) fn filtered(model: &mut Model) -> Vec<Effect> {
    if let Some(list) = list(model) {
        list.marked = 0;
        // Until the answer comes the old hits stand: nothing flickers.
        list.narrow();
    }
    search(model)
}

/// Text was pasted.
pub(super) fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    let text = text.replace('\n', " ");
    match list(model) {
        Some(SessionList { ask: Some(Ask::Rename(title)), .. }) => title.insert(&text),
        Some(list) => {
            list.filter.insert(&text);
            return filtered(model);
        }
        None => {}
    }
    Vec::new()
}

/// A key of the list; none when it means nothing there.
pub(super) fn act(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    if !matches!(model.overlays.last(), Some(Overlay::Sessions(_))) {
        return None;
    }
    if list(model)?.ask.is_some() {
        return answer(model, action);
    }
    let list = list(model)?;
    let count = list.shown().len();
    let last = count.saturating_sub(1);
    match action {
        Action::SelectPrevious => list.marked = list.marked.saturating_sub(1),
        Action::SelectNext => list.marked = (list.marked + 1).min(last),
        Action::PageUp => list.marked = list.marked.saturating_sub(10),
        Action::PageDown => list.marked = (list.marked + 10).min(last),
        Action::Top => list.marked = 0,
        Action::Bottom => list.marked = last,
        Action::ToggleScope => {
            list.only_here = !list.only_here;
            list.narrow();
            return Some(search(model));
        }
        Action::ToggleArchived => {
            list.archived = !list.archived;
            list.rows = None;
            list.narrow();
            let mut effects = relist(model);
            effects.extend(search(model));
            return Some(effects);
        }
        Action::ToggleTrash => {
            list.trash = if list.trash.is_some() { None } else { Some(Vec::new()) };
            list.rows = None;
            list.marked = 0;
            list.narrow();
            let mut effects = relist(model);
            effects.extend(search(model));
            return Some(effects);
        }
        Action::Open => list.looks = !list.looks,
        Action::ScrollUp => list.preview_scroll = list.preview_scroll.saturating_add(SCROLL),
        Action::ScrollDown => list.preview_scroll = list.preview_scroll.saturating_sub(SCROLL),
        Action::Purge if list.marked_trashed().is_some() => list.ask = Some(Ask::Purge),
        Action::Choose if list.trash.is_some() => {
            let Some(trashed) = list.marked_trashed().cloned() else { return Some(Vec::new()) };
            return Some(ask(model, SessionTask::Undelete(Box::new(trashed))));
        }
        Action::UndoDelete => {
            let Some(trashed) = list.deleted.pop() else {
                toast(
                    model,
                    "Nothing was deleted here; kimi-tui sessions restore lists the trash",
                    now,
                );
                return Some(Vec::new());
            };
            return Some(ask(model, SessionTask::Undelete(Box::new(trashed))));
        }
        _ => return with_marked(model, action, now),
    }
    Some(Vec::new())
}

/// Lines the closer look moves with a key.
const SCROLL: usize = 3;

/// What is done with the marked session.
fn with_marked(model: &mut Model, action: Action, now: f64) -> Option<Vec<Effect>> {
    let is_ours = matches!(
        action,
        Action::Choose
            | Action::Rename
            | Action::Fork
            | Action::Archive
            | Action::Delete
            | Action::Export
            | Action::Replay
    );
    if !is_ours {
        return None;
    }
    let list = list(model)?;
    if list.trash.is_some() {
        toast(model, "It is deleted; Enter brings it back first", now);
        return Some(Vec::new());
    }
    let Some(row) = list.marked_row().cloned() else { return Some(Vec::new()) };
    let archived = list.archived;
    match action {
        Action::Rename => {
            let mut title = Editor::default();
            title.insert(&row.title);
            list.ask = Some(Ask::Rename(Box::new(title)));
            Some(Vec::new())
        }
        Action::Export => {
            list.ask = Some(Ask::Export(0));
            Some(Vec::new())
        }
        Action::Fork => Some(ask(model, SessionTask::Fork { session: row.session, at: None })),
        Action::Archive => Some(ask(model, SessionTask::Archive(row.session, !archived))),
        Action::Delete if is_open(model, &row.session) => {
            toast(model, "This session is open here; open another one first", now);
            Some(Vec::new())
        }
        Action::Delete => Some(ask(model, SessionTask::Delete(row.session))),
        Action::Replay => Some(replay::start(model, row.session, now)),
        _ => Some(resume(model, &row.session, now)),
    }
}

fn is_open(model: &Model, session: &Session) -> bool {
    model.status.info.id.as_ref() == Some(&session.id)
        && model.status.info.session_dir == session.dir
        && model.status.activity != Activity::Gone
}

/// Opens a session in the folder it belongs to.
fn resume(model: &mut Model, chosen: &Session, now: f64) -> Vec<Effect> {
    if is_open(model, chosen) && model.replay.is_none() {
        model.overlays.pop();
        return Vec::new();
    }
    if chosen.work_dir.as_os_str().is_empty() {
        let text = "Its folder is not on this machine; it can be replayed and exported";
        toast(model, text, now);
        return Vec::new();
    }
    session::open(model, OpenTarget::Session(chosen.clone()), now)
}

/// A key while something is asked about the marked session.
fn answer(model: &mut Model, action: Action) -> Option<Vec<Effect>> {
    let list = list(model)?;
    let session = list.marked_row().map(|row| row.session.clone());
    match (action, list.ask.as_mut()?) {
        (Action::SelectPrevious, Ask::Export(marked)) => *marked = marked.saturating_sub(1),
        (Action::SelectNext, Ask::Export(marked)) => {
            *marked = (*marked + 1).min(ExportFormat::ALL.len() - 1);
        }
        (Action::Back, _) => list.ask = None,
        (Action::Choose, _) => {
            let asked = list.ask.take()?;
            let Some(session) = session else { return Some(Vec::new()) };
            let task = match asked {
                Ask::Purge => {
                    let Some(trashed) = list.marked_trashed().cloned() else {
                        return Some(Vec::new());
                    };
                    SessionTask::Purge(Box::new(trashed))
                }
                Ask::Rename(title) => SessionTask::Rename(session, title.text()),
                Ask::Export(marked) => {
                    let format = ExportFormat::ALL[marked.min(ExportFormat::ALL.len() - 1)];
                    SessionTask::Export { session, format, path: None }
                }
            };
            return Some(ask(model, task));
        }
        _ => {}
    }
    Some(Vec::new())
}

/// Asks for a closer look at what is marked, when it is another session than before.
pub(super) fn follow(model: &mut Model) -> Option<Effect> {
    let width = model.screen.width;
    if width < PREVIEW_FROM && !list(model)?.looks {
        return None;
    }
    let wanted = list(model)?.marked_row()?.session.clone();
    let asked = list(model)?.previewing.as_ref().map(|(_, dir)| dir);
    if asked == Some(&wanted.dir) {
        return None;
    }
    let id = model.next_effect();
    let list = list(model)?;
    list.previewing = Some((id, wanted.dir.clone()));
    list.preview_scroll = 0;
    Some(Effect::Sessions { id, task: Box::new(SessionTask::Preview(wanted)) })
}

/// A task was carried out.
pub(super) fn done(model: &mut Model, id: EffectId, done: SessionDone, now: f64) -> Vec<Effect> {
    match done {
        SessionDone::Listed(_)
        | SessionDone::Trash(_)
        | SessionDone::Snapshots(_)
        | SessionDone::Indexing(..)
        | SessionDone::Indexed
        | SessionDone::Found(_)
        | SessionDone::Preview(_) => return shown(model, id, done),
        SessionDone::Renamed(session, title) => {
            let text = title.clone().unwrap_or_else(|| "made from its first words".to_owned());
            toast(model, format!("Its title: {text}"), now);
            if let (Some(list), Some(title)) = (list(model), title) {
                list.change(&session, |row| {
                    Some(super::super::model::sessions::SessionRow { title, ..row })
                });
            }
            return relist(model);
        }
        SessionDone::Archived(session, archived) => {
            let word = if archived { "Archived; Alt-A shows these" } else { "In the list again" };
            toast(model, word, now);
            if let Some(list) = list(model) {
                list.change(&session, |_| None);
            }
        }
        SessionDone::Deleted(trashed) => {
            let text = format!("Deleted: {}. Ctrl-U brings it back", trashed.title);
            toast(model, text, now);
            if let Some(list) = list(model) {
                let gone = list.all().iter().find(|row| row.session.id == trashed.id);
                if let Some(gone) = gone.map(|row| row.session.clone()) {
                    list.change(&gone, |_| None);
                }
                list.remember(*trashed);
            }
        }
        SessionDone::Purged(title, dir) => {
            toast(model, format!("Deleted for good: {title}"), now);
            if let Some(list) = list(model) {
                list.deleted.retain(|trashed| trashed.dir != dir);
            }
            return relist(model);
        }
        SessionDone::Undeleted(_) => {
            toast(model, "It is back", now);
            return relist(model);
        }
        SessionDone::Exported(path) => {
            toast(model, format!("Written: {}", path.display()), now);
        }
        SessionDone::Forked(session, said) => return papers::forked(model, session, said, now),
        SessionDone::Imported(imported) => return papers::imported(model, *imported, now),
        SessionDone::Story(session, title, story) => {
            replay::play(model, id, session, title, &story, now);
        }
        SessionDone::Failed(reason) => failed(model, id, reason, now),
    }
    Vec::new()
}

fn failed(model: &mut Model, id: EffectId, reason: String, now: f64) {
    if let Some(list) = list(model)
        && list.request == id
        && list.rows.is_none()
    {
        list.fill(Err(reason));
        return;
    }
    if model.opening == Some(id) {
        model.opening = None;
        model.status.activity = Activity::Gone;
    }
    toast(model, reason, now);
}

/// Something for the list itself; dropped when it is no longer waited for.
fn shown(model: &mut Model, id: EffectId, done: SessionDone) -> Vec<Effect> {
    let work_dir = model.status.info.work_dir.clone();
    let Some(list) = list(model) else { return Vec::new() };
    match done {
        SessionDone::Trash(all) if list.request == id => list.fill_trash(all, &work_dir),
        SessionDone::Snapshots(all) if list.request == id => list.snapshots = all,
        SessionDone::Listed(rows) if list.request == id => list.fill(Ok(rows)),
        SessionDone::Indexing(done, total) if list.request == id => {
            list.indexing = Some((done, total));
        }
        SessionDone::Indexed if list.request == id => {
            list.indexing = None;
            return search(model);
        }
        SessionDone::Found(found) if list.searching == Some(id) => {
            list.searching = None;
            list.set_hits(found);
        }
        SessionDone::Preview(preview) => {
            if let Some((waited, dir)) = &list.previewing
                && *waited == id
            {
                list.preview = Some((dir.clone(), preview));
            }
        }
        _ => {}
    }
    Vec::new()
}
