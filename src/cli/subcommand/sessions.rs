//! `kimi-tui sessions`: what the overlay does, from the shell.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Subcommand;
use serde_json::{Value, json};

use crate::cli::args::Args;
use crate::cli::outcome::{End, tell};
use crate::cli::run;
use crate::error::user;
use crate::message::SessionId;
use crate::paths::{Paths, work_dir_hash};
use crate::session::index::{Excerpt, Query, Refreshed, SearchOptions, SessionIndex};
use crate::session::{FolderSessions, Place, Session, SessionStore, SessionSummary, disk_use};
use crate::ui::render::format;
use crate::ui::render::sanitize::sanitize;

/// Sessions a search shows, at most.
const FOUND: usize = 200;

#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct SessionsArgs {
    /// Of all folders, not of this one only
    #[arg(long, global = true)]
    all: bool,

    /// As JSON
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    deed: Option<Deed>,
}

#[derive(Debug, Clone, Subcommand)]
enum Deed {
    /// Find sessions in which all of these words were said
    Search {
        /// Words, or parts of words; several in quotes are one
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Give a session a title; without one it is made from its first words again
    Rename {
        /// Its id, or the beginning of it
        id: String,
        /// The title
        title: Vec<String>,
    },
    /// Make another session of one, and tell its id
    Fork {
        /// Its id, or the beginning of it
        id: String,
    },
    /// Hide a session from lists
    Archive {
        /// Its id, or the beginning of it
        id: String,
        /// Show it again
        #[arg(long)]
        undo: bool,
    },
    /// Move a session to the trash
    Delete {
        /// Its id, or the beginning of it
        id: String,
    },
    /// Bring a deleted session back; without an id, list the trash
    Restore {
        /// Its id, or the beginning of it
        id: Option<String>,
    },
    /// Remove everything in the trash for good
    EmptyTrash,
}

/// Where the sessions are, and what "this folder" is.
pub(super) struct Archive {
    pub(super) store: SessionStore,
    /// The folder whose sessions are meant.
    pub(super) work_dir: PathBuf,
    /// The folder that paths are relative to.
    pub(super) here: PathBuf,
}

impl Archive {
    pub(super) fn open(flags: &Args) -> anyhow::Result<Self> {
        let work_dir = run::work_dir(flags.work_dir.as_deref())?;
        let here = std::env::current_dir()?;
        Ok(Self { store: SessionStore::new(Paths::from_env()?), work_dir, here })
    }
}

/// The session with this id: of this folder, else of any, by its beginning too.
pub(super) fn find(archive: &Archive, id: &str) -> anyhow::Result<Session> {
    let wanted = SessionId(id.to_owned());
    if let Some(session) = archive.store.find(&archive.work_dir, &wanted)? {
        return Ok(session);
    }
    let index = SessionIndex::new(archive.store.clone());
    let mut found = Vec::new();
    for archived in [false, true] {
        for folder in index.list(archived)? {
            let fits =
                |s: &SessionSummary| s.id == wanted || id.len() >= 4 && s.id.0.starts_with(id);
            found.extend(folder.sessions.into_iter().filter(fits));
        }
    }
    if let Some(whole) = found.iter().find(|session| session.id == wanted) {
        return Ok(whole.session());
    }
    match found.as_slice() {
        [one] => Ok(one.session()),
        [] => Err(user(
            format!("There is no session \"{id}\"."),
            "kimi-tui sessions --all lists all sessions.",
        )),
        many => Err(user(
            format!("\"{id}\" fits {} sessions.", many.len()),
            "Give more of the id; kimi-tui sessions --all lists all sessions.",
        )),
    }
}

pub(super) fn run(args: &SessionsArgs, flags: &Args) -> anyhow::Result<End> {
    let archive = Archive::open(flags)?;
    let text = match &args.deed {
        None => list(&archive, args)?,
        Some(Deed::Search { text }) => search(&archive, args, &text.join(" "))?,
        Some(deed) => act(&archive, args, deed)?,
    };
    if !text.is_empty() {
        writeln!(std::io::stdout(), "{}", text.trim_end_matches('\n'))?;
    }
    Ok(End::Done)
}

fn act(archive: &Archive, args: &SessionsArgs, deed: &Deed) -> anyhow::Result<String> {
    let store = &archive.store;
    let session = |id: &String| find(archive, id);
    Ok(match deed {
        Deed::Rename { id, title } => {
            let title = store.rename(&session(id)?, &title.join(" "))?;
            title.unwrap_or_default()
        }
        Deed::Fork { id } => store.fork(&session(id)?, None)?.session.id.0,
        Deed::Archive { id, undo } => {
            store.set_archived(&session(id)?, !undo)?;
            String::new()
        }
        Deed::Delete { id } => {
            let trashed = store.delete(&session(id)?)?;
            tell(&format!("Deleted. To bring it back: kimi-tui sessions restore {}", trashed.id));
            String::new()
        }
        Deed::Restore { id: None } => trash(archive, args)?,
        Deed::Restore { id: Some(id) } => {
            let all = store.list_trash()?;
            let fits =
                |t: &&crate::session::Trashed| t.id.0 == *id || t.id.0.starts_with(id.as_str());
            let trashed = all.iter().find(fits).ok_or_else(|| {
                user(
                    format!("There is no session \"{id}\" in the trash."),
                    "kimi-tui sessions restore lists what is in it.",
                )
            })?;
            store.undelete(trashed)?;
            trashed.id.0.clone()
        }
        Deed::EmptyTrash => {
            let count = store.empty_trash()?;
            format!("{} removed", format::count(count, "session", "sessions"))
        }
        Deed::Search { .. } => String::new(),
    })
}

fn seconds(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

fn age(time: SystemTime) -> String {
    format::ago(time.elapsed().unwrap_or(Duration::ZERO))
}

fn as_json(session: &SessionSummary, place: &str) -> Value {
    json!({
        "id": session.id,
        "title": session.title,
        "folder": place,
        "updated_at": seconds(session.updated_at),
        "bytes": session.bytes,
        "snapshot_bytes": session.session().snapshot_use(),
        "dir": session.dir,
    })
}

/// A session in a line; its size is what the overlay shows, snapshots included.
fn line(session: &SessionSummary) -> String {
    format!(
        "{}  {:>10}  {:>8}  {}",
        sanitize(&session.id.0),
        age(session.updated_at),
        format::size(session.bytes + session.session().snapshot_use()),
        sanitize(&session.title)
    )
}

/// The folders that are meant, this one first.
fn folders(
    archive: &Archive,
    args: &SessionsArgs,
    index: &SessionIndex,
) -> anyhow::Result<Vec<FolderSessions>> {
    let mut folders = index.list(false)?;
    // kimi.json may be lost or damaged; the folder one stands in is known all the same.
    let bucket = work_dir_hash(&archive.work_dir);
    for folder in &mut folders {
        if matches!(&folder.place, Place::Unknown { bucket: of } if *of == bucket) {
            folder.place = Place::Here(archive.work_dir.clone());
        }
    }
    let is_here = |folder: &FolderSessions| folder.place.work_dir() == Some(&archive.work_dir);
    folders.retain(|folder| args.all || is_here(folder));
    folders.sort_by_key(|folder| !is_here(folder));
    Ok(folders)
}

fn list(archive: &Archive, args: &SessionsArgs) -> anyhow::Result<String> {
    let index = SessionIndex::new(archive.store.clone());
    let folders = folders(archive, args, &index)?;
    if args.json {
        let all = folders.iter().flat_map(|folder| {
            let place = folder.place.label();
            folder.sessions.iter().map(move |session| as_json(session, &place))
        });
        return Ok(serde_json::to_string_pretty(&all.collect::<Vec<_>>())?);
    }
    if folders.is_empty() {
        tell(if args.all {
            "There are no sessions yet."
        } else {
            "There are no sessions of this folder; --all lists those of all folders."
        });
        return Ok(String::new());
    }
    let mut text = String::new();
    for folder in folders {
        if args.all {
            let whole = |session: &SessionSummary| {
                disk_use(&session.dir) + session.session().snapshot_use()
            };
            let bytes: u64 = folder.sessions.iter().map(whole).sum();
            let place = folder.place.label();
            text.push_str(&format!("{} ({})\n", sanitize(&place), format::size(bytes)));
        }
        for session in &folder.sessions {
            text.push_str(&line(session));
            text.push('\n');
        }
    }
    Ok(text)
}

fn search(archive: &Archive, args: &SessionsArgs, text: &str) -> anyhow::Result<String> {
    let index = SessionIndex::new(archive.store.clone());
    match index.refresh(&|| false, &mut |_| {}) {
        Ok(Refreshed::Busy) => {
            tell("Another kimi-tui is reading sessions; the newest may be missing.");
        }
        Ok(_) => {}
        Err(error) => tell(&error.to_string()),
    }
    let work_dir = (!args.all).then(|| archive.work_dir.clone());
    let options = SearchOptions { work_dir, limit: FOUND, archived: false };
    let found = index.search(&Query::parse(text), &options, &|| false);
    if args.json {
        let excerpt = |excerpt: &Excerpt| {
            let marks: Vec<_> = excerpt.marks.iter().map(|m| json!([m.start, m.end])).collect();
            let who = format!("{:?}", excerpt.speaker).to_lowercase();
            json!({"who": who, "text": excerpt.text, "marks": marks})
        };
        let all: Vec<Value> = found
            .iter()
            .map(|found| {
                let excerpts: Vec<_> = found.excerpts.iter().map(excerpt).collect();
                json!({"id": found.id, "title": found.title, "dir": found.dir, "found": excerpts})
            })
            .collect();
        return Ok(serde_json::to_string_pretty(&all)?);
    }
    if found.is_empty() {
        let more = if args.all { "" } else { " in this folder; --all looks into all folders" };
        tell(&format!("Nobody said this{more}."));
    }
    let mut out = String::new();
    for session in found {
        out.push_str(&format!("{}  {}\n", sanitize(&session.id.0), sanitize(&session.title)));
        for excerpt in &session.excerpts {
            out.push_str(&format!("    {}\n", sanitize(&excerpt.text)));
        }
    }
    Ok(out)
}

fn trash(archive: &Archive, args: &SessionsArgs) -> anyhow::Result<String> {
    let all = archive.store.list_trash()?;
    if args.json {
        let all = all.iter().map(|trashed| {
            json!({
                "id": trashed.id,
                "title": trashed.title,
                "folder": trashed.work_dir,
                "deleted_at": seconds(trashed.deleted_at),
            })
        });
        return Ok(serde_json::to_string_pretty(&all.collect::<Vec<_>>())?);
    }
    if all.is_empty() {
        tell("The trash is empty.");
    }
    let lines = all.iter().map(|trashed| {
        let id = sanitize(&trashed.id.0);
        format!("{id}  {:>10}  {}\n", age(trashed.deleted_at), sanitize(&trashed.title))
    });
    Ok(lines.collect())
}
