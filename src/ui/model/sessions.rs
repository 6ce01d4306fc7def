//! The sessions overlay: which sessions are listed, what is looked for, what is asked about one.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::editor::Editor;
use crate::message::{CheckpointRef, SessionId};
pub use crate::session::ExportFormat;
use crate::session::index::{Excerpt, Found, Query};
use crate::session::{Preview, Session, Trashed};
use crate::ui::effect::EffectId;
use crate::wire::record::Recorded;

/// Columns from which the preview stands beside the list.
pub const PREVIEW_FROM: u16 = 100;
/// Deleted sessions that can be brought back by a key.
const UNDO: usize = 20;

/// One session in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    /// The session.
    pub session: Session,
    /// The folder it belongs to, in words.
    pub place: String,
    /// Is that the folder of this screen?
    pub is_here: bool,
    /// Its title.
    pub title: String,
    /// When it was last changed, seconds since 1970.
    pub updated: f64,
    /// What context and record take on disk, in bytes.
    pub bytes: u64,
}

/// Something to be done with sessions, off the screen's thread.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionTask {
    /// List them: the archived ones, or the others. The index is then brought up to date.
    List {
        /// The archived ones?
        archived: bool,
    },
    /// Find sessions in which this is said.
    Search {
        /// What.
        text: String,
        /// Only of this folder?
        here: bool,
        /// Among the archived ones?
        archived: bool,
    },
    /// List the deleted ones.
    ListTrash,
    /// Remove a deleted one for good.
    Purge(Box<Trashed>),
    /// Look closer at one.
    Preview(Session),
    /// Give it this title; a blank one takes the given one away.
    Rename(Session, String),
    /// Make another one of it: all of it, or what stood before a checkpoint.
    Fork {
        /// Of which.
        session: Session,
        /// Before which checkpoint.
        at: Option<CheckpointRef>,
    },
    /// Hide it from lists, or show it again.
    Archive(Session, bool),
    /// To the trash.
    Delete(Session),
    /// Back from the trash.
    Undelete(Box<Trashed>),
    /// Write a document.
    Export {
        /// Of which.
        session: Session,
        /// What it looks like.
        format: ExportFormat,
        /// Where to; a name is made when none is given.
        path: Option<PathBuf>,
    },
    /// Read a text file or a session, for the model to know.
    Import(String),
    /// Read what happened in it, to play it.
    Replay(Session),
}

/// What came of a task.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionDone {
    /// All of them, this folder's first, newest first.
    Listed(Vec<SessionRow>),
    /// The deleted ones, latest first, each with the bytes it takes.
    Trash(Vec<(Trashed, u64)>),
    /// It is gone for good: its title, and where it was.
    Purged(String, PathBuf),
    /// Bytes the snapshots of sessions need, by the session's folder.
    Snapshots(HashMap<PathBuf, u64>),
    /// The index is being brought up to date: so many of so many.
    Indexing(usize, usize),
    /// The index is up to date.
    Indexed,
    /// Sessions in which it is said.
    Found(Vec<Found>),
    /// A closer look.
    Preview(Box<Preview>),
    /// It has this title now; none for one made from its first words.
    Renamed(Session, Option<String>),
    /// The new session, and what the person said behind the checkpoint.
    Forked(Session, Option<String>),
    /// It is hidden now, or shown.
    Archived(Session, bool),
    /// It is in the trash.
    Deleted(Box<Trashed>),
    /// It is back.
    Undeleted(SessionId),
    /// A document was written.
    Exported(PathBuf),
    /// Something for the model to know, and where it is from.
    Imported(Box<crate::session::Imported>),
    /// What happened in a session.
    Story(Session, String, Arc<[Recorded]>),
    /// It could not be done, in words for a person.
    Failed(String),
}

/// A question about the marked session.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// What is it to be called?
    Rename(Box<Editor>),
    /// What is it to be exported as? The marked one of [`ExportFormat::ALL`].
    Export(usize),
    /// Is it to be deleted for good?
    Purge,
}

/// The list and what is typed to narrow it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionList {
    /// The request that fills it.
    pub request: EffectId,
    /// The sessions, this folder's first; none while they are being read.
    pub rows: Option<Result<Vec<SessionRow>, String>>,
    /// Only sessions with this in them are shown.
    pub filter: Editor,
    /// Index into what is shown.
    pub marked: usize,
    /// Only this folder's?
    pub only_here: bool,
    /// The archived ones instead?
    pub archived: bool,
    /// How far the index is, while it is brought up to date.
    pub indexing: Option<(usize, usize)>,
    /// The search that is waited for.
    pub searching: Option<EffectId>,
    /// The preview that is waited for, or was asked for last.
    pub previewing: Option<(EffectId, PathBuf)>,
    /// The closer look.
    pub preview: Option<(PathBuf, Box<Preview>)>,
    /// What is asked about the marked session.
    pub ask: Option<Ask>,
    /// The deleted ones, while they are what is listed.
    pub trash: Option<Vec<Trashed>>,
    /// Has the closer look the whole panel?
    pub looks: bool,
    /// Lines the closer look is scrolled up from its end.
    pub preview_scroll: usize,
    /// Bytes the snapshots of sessions need, by the session's folder.
    pub snapshots: HashMap<PathBuf, u64>,
    /// Deleted ones that can be brought back, the latest last.
    pub deleted: Vec<Trashed>,
    /// Pieces in which what is typed is said, by the session's folder.
    hits: HashMap<PathBuf, Vec<Excerpt>>,
    // Indexes into the rows; worked out when something changes, not in every frame.
    shown: Vec<usize>,
}

impl SessionList {
    /// A list that is being read.
    #[must_use]
    pub fn loading(request: EffectId) -> Self {
        Self {
            request,
            rows: None,
            filter: Editor::default(),
            marked: 0,
            only_here: false,
            archived: false,
            indexing: None,
            searching: None,
            previewing: None,
            preview: None,
            ask: None,
            trash: None,
            looks: false,
            preview_scroll: 0,
            snapshots: HashMap::new(),
            deleted: Vec::new(),
            hits: HashMap::new(),
            shown: Vec::new(),
        }
    }

    /// The sessions that are shown.
    pub fn shown(&self) -> impl ExactSizeIterator<Item = &SessionRow> {
        let rows = self.all();
        self.shown.iter().map(move |&index| &rows[index])
    }

    /// All sessions that were listed.
    #[must_use]
    pub fn all(&self) -> &[SessionRow] {
        match &self.rows {
            Some(Ok(rows)) => rows,
            _ => &[],
        }
    }

    /// The marked one.
    #[must_use]
    pub fn marked_row(&self) -> Option<&SessionRow> {
        self.all().get(*self.shown.get(self.marked)?)
    }

    /// Where in `row` what is looked for is said.
    #[must_use]
    pub fn excerpts(&self, row: &SessionRow) -> &[Excerpt] {
        self.hits.get(&row.session.dir).map_or(&[], Vec::as_slice)
    }

    /// What is looked for.
    #[must_use]
    pub fn query(&self) -> Query {
        Query::parse(&self.filter.text())
    }

    /// Takes the sessions in. The mark stays on the session it is on.
    pub fn fill(&mut self, rows: Result<Vec<SessionRow>, String>) {
        let marked = self.marked_row().map(|row| row.session.dir.clone());
        self.rows = Some(rows);
        self.narrow();
        if let Some(marked) = marked {
            self.mark(|row| row.session.dir == marked);
        }
    }

    /// Takes the deleted sessions in; `work_dir` is the folder of this screen.
    pub fn fill_trash(&mut self, all: Vec<(Trashed, u64)>, work_dir: &std::path::Path) {
        let row = |(trashed, bytes): &(Trashed, u64)| {
            let folder = trashed.work_dir.clone().unwrap_or_default();
            let since = trashed.deleted_at.duration_since(std::time::UNIX_EPOCH);
            SessionRow {
                place: match &trashed.work_dir {
                    Some(folder) => folder.display().to_string(),
                    None => "unknown folder".to_owned(),
                },
                is_here: folder == work_dir,
                session: Session {
                    id: trashed.id.clone(),
                    work_dir: folder,
                    dir: trashed.dir.clone(),
                },
                title: trashed.title.clone(),
                updated: since.map_or(0.0, |since| since.as_secs_f64()),
                bytes: *bytes,
            }
        };
        let rows = all.iter().map(row).collect();
        self.trash = Some(all.into_iter().map(|(trashed, _)| trashed).collect());
        self.fill(Ok(rows));
    }

    /// The marked session as the trash knows it.
    #[must_use]
    pub fn marked_trashed(&self) -> Option<&Trashed> {
        let dir = &self.marked_row()?.session.dir;
        self.trash.as_ref()?.iter().find(|trashed| trashed.dir == *dir)
    }

    /// Bytes on disk of a session, its snapshots included as far as they are known.
    #[must_use]
    pub fn weight(&self, row: &SessionRow) -> u64 {
        row.bytes + self.snapshots.get(&row.session.dir).copied().unwrap_or(0)
    }

    /// Marks the first session that `is_it`, if it is shown.
    pub fn mark(&mut self, is_it: impl Fn(&SessionRow) -> bool) {
        let at = self.shown().position(is_it);
        self.marked = at.unwrap_or(self.marked);
    }

    /// Takes in where what is typed is said; none while that is not known.
    pub fn set_hits(&mut self, found: Vec<Found>) {
        self.hits = found.into_iter().map(|found| (found.dir, found.excerpts)).collect();
        // Who has not moved wants the best there is, which may be another one now.
        let marked = self.marked_row().filter(|_| self.marked > 0);
        let marked = marked.map(|row| row.session.dir.clone());
        self.narrow();
        if let Some(marked) = marked {
            self.mark(|row| row.session.dir == marked);
        }
    }

    /// Works out anew what is shown.
    pub fn narrow(&mut self) {
        let (query, typed) = (self.query(), self.filter.text());
        let typed = typed.trim();
        let is_shown = |row: &SessionRow| {
            (row.is_here || !self.only_here)
                && (query.is_empty()
                    || query.matches(&row.title)
                    || row.session.id.0.starts_with(typed)
                    || self.hits.contains_key(&row.session.dir))
        };
        let rows = self.all().iter().enumerate();
        self.shown = rows.filter(|(_, row)| is_shown(row)).map(|(index, _)| index).collect();
        self.marked = self.marked.min(self.shown.len().saturating_sub(1));
    }

    /// Takes a session off the list, or changes it.
    pub fn change(
        &mut self,
        session: &Session,
        change: impl FnOnce(SessionRow) -> Option<SessionRow>,
    ) {
        if let Some(Ok(rows)) = &mut self.rows
            && let Some(at) = rows.iter().position(|row| row.session.dir == session.dir)
        {
            let row = rows.remove(at);
            if let Some(row) = change(row) {
                rows.insert(at, row);
            }
        }
        self.narrow();
    }

    /// Remembers a deleted session.
    pub fn remember(&mut self, trashed: Trashed) {
        self.deleted.push(trashed);
        if self.deleted.len() > UNDO {
            self.deleted.remove(0);
        }
    }
}
