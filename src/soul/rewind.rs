//! Taking files back with or without the conversation, for a person: always shown first.

use std::collections::BTreeSet;
use std::path::PathBuf;

use similar::{ChangeTag, TextDiff};
use tokio_util::sync::CancellationToken;

use super::Soul;
use super::turn::Stop;
use crate::message::{CheckpointId, CheckpointRef, Generation, Message};
use crate::snapshot::{Item, Node, Preview, Restored, Tracker, Worker, path_text};
use crate::wire::{
    Extension, FilesRewound, RevertCause, RewindDeed, RewindFile, RewindPreview, RewindScope,
};

/// Bytes of differences shown in one dry run.
const MOST_DIFF: usize = 1 << 20;

const NO_SNAPSHOTS: &str = "Snapshots are off (snapshots.enabled in config.toml), so files cannot \
                            be taken back.";

impl Soul {
    /// Tells a front end what going back would do.
    pub(super) async fn preview_rewind(&mut self, to: Option<CheckpointRef>, scope: RewindScope) {
        match self.dry_run(to, scope).await {
            Ok(preview) => self.hub.extension(Extension::RewindPreview(preview)),
            Err(reason) => self.refuse(reason),
        }
    }

    async fn dry_run(
        &self,
        to: Option<CheckpointRef>,
        scope: RewindScope,
    ) -> Result<RewindPreview, String> {
        self.worker()?
            .soon(move |tracker| {
                let preview = match to {
                    Some(to) => tracker.preview(to),
                    None => tracker.preview_redo(),
                };
                preview.map(|preview| show(tracker, to, scope, &preview))
            })
            .await
            .ok_or_else(gone)?
            .map_err(|error| format!("{error}."))
    }

    fn worker(&self) -> Result<&Worker, String> {
        self.snapshots.as_ref().ok_or_else(|| NO_SNAPSHOTS.to_owned())
    }

    /// Goes back to `to` for a person. Files first: when they cannot be taken back, nothing is.
    ///
    /// # Errors
    /// Why that is not possible, for a person.
    pub(super) async fn rewind(
        &mut self,
        to: CheckpointRef,
        scope: RewindScope,
        chosen: &[String],
    ) -> Result<(), String> {
        if scope != RewindScope::Files {
            self.check_checkpoint(to)?;
        }
        if scope != RewindScope::Conversation {
            let chosen = chosen_paths(chosen);
            let with_conversation = scope == RewindScope::Both;
            let done = self
                .worker()?
                .soon(move |tracker| tracker.rewind(to, &chosen, with_conversation))
                .await
                .ok_or_else(gone)?
                .map_err(|error| format!("{error}."))?;
            self.tell_files(Some(to), &done);
            if scope == RewindScope::Files {
                self.remind_of_files(&done, "taken back to an earlier state")?;
            }
        }
        if scope == RewindScope::Files { Ok(()) } else { self.revert_by_user(to, None) }
    }

    /// Brings forth what was taken back last: the files, and the conversation if it went with them.
    ///
    /// # Errors
    /// Why that is not possible, for a person.
    pub(super) async fn redo_rewind(&mut self, chosen: &[String]) -> Result<(), String> {
        let chosen = chosen_paths(chosen);
        let done = self
            .worker()?
            .soon(move |tracker| tracker.redo(&chosen))
            .await
            .ok_or_else(gone)?
            .map_err(|error| format!("{error}."))?;
        self.tell_files(None, &done);
        match self.context.redo().filter(|redo| done.with_conversation && redo.is_clean) {
            Some(redo) => self
                .restore(Some(redo.generation), true)
                .map(drop)
                .map_err(|error| format!("The conversation could not be brought back: {error}.")),
            None => self.remind_of_files(&done, "brought back to a later state"),
        }
    }

    fn tell_files(&self, to: Option<CheckpointRef>, done: &Restored) {
        let texts = |paths: &[PathBuf]| paths.iter().map(|path| path_text(path)).collect();
        self.hub.extension(Extension::FilesRewound(FilesRewound {
            to,
            restored: texts(&done.restored),
            removed: texts(&done.removed),
            left: done
                .left
                .iter()
                .map(|item| (path_text(&item.path), reason(item).unwrap_or_default()))
                .collect(),
        }));
    }

    /// The model would otherwise go by what it remembers of them.
    fn remind_of_files(&mut self, done: &Restored, what: &str) -> Result<(), String> {
        let all: Vec<String> =
            done.restored.iter().chain(&done.removed).map(|path| path_text(path)).collect();
        if all.is_empty() {
            return Ok(());
        }
        let told = format!(
            "The user had these files {what}; read them again before you go by what you remember:\n{}",
            all.join("\n")
        );
        self.context
            .append(&[Message::reminder(&told)])
            .map_err(|error| format!("The files are done, but the model was not told: {error}."))
    }

    /// `/rewind [n] [conversation|files|both] [now]`.
    pub(super) async fn rewind_command(&mut self, arguments: &str) -> Result<(), Stop> {
        let (mut to, mut scope, mut now) = (None, RewindScope::Both, false);
        for word in arguments.split_whitespace() {
            if let Some(named) = RewindScope::by_name(word) {
                scope = named;
            } else if word == "now" {
                now = true;
            } else if let Some(at) = self.address(word) {
                to = Some(at);
            } else {
                self.say(&format!(
                    "\"{word}\" is no checkpoint. Use /rewind N, with conversation, files or both \
                     (both is meant when nothing is said); the timeline has the numbers."
                ));
                return Ok(());
            }
        }
        // Without a number: before the last thing the person said, which is a turn's first one.
        let Some(to) = to.or_else(|| self.last_turn()) else {
            self.say("There is no checkpoint to go back to yet.");
            return Ok(());
        };
        let result = if now || scope == RewindScope::Conversation {
            self.rewind(to, scope, &[]).await
        } else {
            self.dry_run(Some(to), scope).await.map(|preview| {
                self.say(&as_text(to, &preview));
                self.hub.extension(Extension::RewindPreview(preview));
            })
        };
        if let Err(reason) = result {
            self.say(&reason);
        }
        Ok(())
    }

    /// `/redo files`, `/redo both`.
    pub(super) async fn redo_files_command(&mut self) {
        match self.redo_rewind(&[]).await {
            Ok(()) => self.say("What was taken back is there again."),
            Err(reason) => self.say(&reason),
        }
    }

    fn address(&self, word: &str) -> Option<CheckpointRef> {
        let word = word.trim_start_matches('#');
        let (generation, id) = match word.split_once('.') {
            Some((generation, id)) => (Generation(generation.parse().ok()?), id),
            None => (self.context.generation(), word),
        };
        Some(CheckpointRef { generation, id: CheckpointId(id.parse().ok()?) })
    }

    fn last_turn(&self) -> Option<CheckpointRef> {
        let history = self.context.history();
        let is_turn = |at: usize| {
            let behind = history.get(at..).unwrap_or_default();
            behind
                .iter()
                .find(|message| !message.is_checkpoint_note() && !message.is_reminder())
                .is_some_and(|message| message.role == crate::message::Role::User)
        };
        let last = self.context.checkpoints().iter().rev().find(|one| is_turn(one.messages))?;
        Some(CheckpointRef { generation: self.context.generation(), id: last.id })
    }

    /// A checkpoint is there; `turn` says whether a person's message follows it.
    pub(super) fn mark(&self, at: CheckpointRef, turn: bool) {
        if let Some(worker) = &self.snapshots {
            worker.later(move |tracker| tracker.mark(at, turn));
        }
    }

    /// Checkpoints went along into a new generation.
    pub(super) fn carry(&self, from: Generation, to: Generation, below: Option<CheckpointId>) {
        if let Some(worker) = &self.snapshots {
            worker.later(move |tracker| tracker.carry(from, to, below));
        }
    }

    /// All calls of a step have ended. What a person should know is told when the scan is over.
    pub(super) fn calls_ended(&self) {
        let Some(worker) = &self.snapshots else { return };
        let teller = self.services.teller();
        worker.later(move |tracker| {
            tracker.close_windows();
            for notice in tracker.take_notices() {
                teller.tell("Snapshots", &notice);
            }
        });
    }

    /// Waits for the scan after the last call: what a person changes when the turn is over must not
    /// be taken for the session's work.
    pub(super) async fn settle_snapshots(&self, cancel: &CancellationToken) {
        if let Some(worker) = &self.snapshots {
            tokio::select! {
                _ = worker.soon(|_| ()) => {}
                () = cancel.cancelled() => {}
            }
        }
    }

    /// The agent went back. Files stay, whatever it meant; the person is told and can do otherwise.
    pub(super) fn offer_files(&self, to: CheckpointRef, cause: RevertCause) {
        let Some(worker) = self.snapshots.as_ref().filter(|_| cause == RevertCause::AgentDMail)
        else {
            return;
        };
        let teller = self.services.teller();
        worker.later(move |tracker| {
            let count = tracker.preview(to).map_or(0, |preview| preview.plan.items.len());
            if count > 0 {
                let files = if count == 1 { "1 path" } else { &format!("{count} paths") };
                teller.tell(
                    "The D-Mail touched no files",
                    &format!(
                        "{files} changed since stay as they are. /rewind {to} files shows what \
                         taking them back would do."
                    ),
                );
            }
        });
    }
}

fn gone() -> String {
    "Snapshots have stopped because of a defect in this program. Start it again.".to_owned()
}

fn chosen_paths(chosen: &[String]) -> BTreeSet<PathBuf> {
    chosen.iter().filter_map(|text| crate::snapshot::path_from_text(text)).collect()
}

fn reason(item: &Item) -> Option<String> {
    item.conflict.map(crate::snapshot::Conflict::reason)
}

fn show(
    tracker: &Tracker,
    to: Option<CheckpointRef>,
    scope: RewindScope,
    preview: &Preview,
) -> RewindPreview {
    let mut room = MOST_DIFF;
    let files = preview.plan.items.iter().map(|item| show_item(tracker, item, &mut room)).collect();
    RewindPreview { to, scope, files, notes: preview.gaps.clone() }
}

fn show_item(tracker: &Tracker, item: &Item, room: &mut usize) -> RewindFile {
    let deed = match (&item.now, &item.then) {
        (_, Node::Absent) => RewindDeed::Remove,
        (Node::Absent, _) => RewindDeed::Create,
        _ => RewindDeed::Restore,
    };
    let mut file = RewindFile {
        path: path_text(&item.path),
        deed,
        conflict: reason(item),
        can_choose: item.conflict.is_some_and(crate::snapshot::Conflict::can_be_chosen),
        added: 0,
        removed: 0,
        diff: None,
    };
    let texts = (tracker.text(&item.now, &item.path), tracker.text(&item.then, &item.path));
    if let (Some(now), Some(then)) = texts
        && *room > 0
    {
        let diff = TextDiff::from_lines(&now, &then);
        for change in diff.iter_all_changes() {
            match change.tag() {
                ChangeTag::Insert => file.added += 1,
                ChangeTag::Delete => file.removed += 1,
                ChangeTag::Equal => {}
            }
        }
        let text = diff.unified_diff().to_string();
        *room = room.saturating_sub(text.len());
        file.diff = Some(text).filter(|text| text.len() <= MOST_DIFF / 4);
    }
    file
}

fn as_text(to: CheckpointRef, preview: &RewindPreview) -> String {
    let scope = preview.scope.name();
    let mut text = match preview.files.as_slice() {
        [] => format!("Going back to checkpoint {to} changes no file."),
        files => format!("Going back to checkpoint {to} would touch {} paths:\n", files.len()),
    };
    for file in &preview.files {
        let deed = match file.deed {
            RewindDeed::Restore => "restore",
            RewindDeed::Create => "bring back",
            RewindDeed::Remove => "remove",
        };
        match &file.conflict {
            Some(why) => text.push_str(&format!("- leave alone {}: {why}\n", file.path)),
            None => text
                .push_str(&format!("- {deed} {} (+{} -{})\n", file.path, file.added, file.removed)),
        }
    }
    for note in &preview.notes {
        text.push_str(&format!("- not known in full: {note}\n"));
    }
    text.push_str(&format!("\n/rewind {to} {scope} now does it; /redo {scope} undoes that."));
    text
}
