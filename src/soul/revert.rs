//! Going back: a person's revert and the D-Mail of an agent. The context only; files stay.

use super::Soul;
use crate::context::ContextError;
use crate::message::{CheckpointId, CheckpointRef, Message};
use crate::prompts;
use crate::wire::{ContextReverted, Extension, RevertCause, RevertPreview};

impl Soul {
    /// Goes back to `to` for a person.
    ///
    /// # Errors
    /// Why that is not possible, for a person.
    pub(super) fn revert_by_user(
        &mut self,
        to: CheckpointRef,
        mail: Option<&str>,
    ) -> Result<(), String> {
        self.check_checkpoint(to)?;
        self.go_back_to(to.id, RevertCause::User, mail)
            .map_err(|error| format!("The context could not be taken back: {error}"))
    }

    /// Tells a front end what going back to `to` would cost.
    pub(super) fn preview_revert(&self, to: CheckpointRef) {
        let preview = self.check_checkpoint(to).and_then(|()| {
            let preview = self.context.preview_revert(to.id);
            preview.map_err(|error| format!("The price of going back is unknown: {error}"))
        });
        match preview {
            Ok(preview) => {
                let forgotten = preview.dropped.iter().filter(|m| !m.is_checkpoint_note());
                self.hub.extension(Extension::RevertPreview(RevertPreview {
                    to,
                    before: preview.before,
                    after: preview.after,
                    messages: forgotten.count() as u64,
                    files: preview.files,
                }));
            }
            Err(reason) => self.refuse(reason),
        }
    }

    /// Can the context go back to `to`?
    ///
    /// # Errors
    /// Why not, for a person.
    pub(super) fn check_checkpoint(&self, to: CheckpointRef) -> Result<(), String> {
        if to.generation != self.context.generation() {
            return Err(format!(
                "Checkpoint {to} belongs to an earlier context, which a revert, clear or compaction \
                 has ended. Choose one of the current context ({}.x).",
                self.context.generation()
            ));
        }
        if !self.context.checkpoints().iter().any(|known| known.id == to.id) {
            return Err(format!("There is no checkpoint {to}. Choose one from the timeline."));
        }
        Ok(())
    }

    /// Goes back to `to`, then makes a checkpoint there and leaves the model `mail`.
    pub(super) fn go_back(
        &mut self,
        to: CheckpointId,
        cause: RevertCause,
        mail: Option<&str>,
    ) -> Result<(), ContextError> {
        self.go_back_to(to, cause, mail)?;
        if let Some(mail) = mail {
            self.checkpoint(None)?;
            self.context.append(&[Message::user(prompts::dmail(mail))])?;
        }
        Ok(())
    }

    fn go_back_to(
        &mut self,
        id: CheckpointId,
        cause: RevertCause,
        mail: Option<&str>,
    ) -> Result<(), ContextError> {
        let to = CheckpointRef { generation: self.context.generation(), id };
        self.offer_files(to, cause);
        let change = self.context.revert_to(id)?;
        self.carry(change.old_generation, change.new_generation, Some(id));
        self.compacted_to = 0;
        let mail = mail.map(str::to_owned);
        self.hub.extension(Extension::ContextReverted(ContextReverted { to, cause, mail, change }));
        self.tell_status();
        Ok(())
    }
}
