//! Bringing an earlier context back: what a compaction, a clear or a revert had ended. The context
//! only; files stay. The one that is left is kept like any other, so this can be undone the same way.

use std::collections::HashMap;

use super::turn::Stop;
use super::{Soul, lost_result};
use crate::context::ContextError;
use crate::message::{CheckpointId, CheckpointRef, Generation, Message};
use crate::wire::{CheckpointCreated, ContextRestored, ContextSize, Extension};

impl Soul {
    /// Brings an earlier context back for a front end.
    pub(super) fn restore_by_user(&mut self, generation: Option<Generation>) {
        match self.restore(generation, false) {
            Ok(_) => {}
            Err(error) => self.refuse(format!("The context could not be restored: {error}.")),
        }
    }

    /// `/restore [n]`.
    pub(super) fn restore_command(&mut self, arguments: &str) -> Result<(), Stop> {
        let number = arguments.trim_start_matches('#');
        let generation = match number.parse::<u64>() {
            _ if number.is_empty() => None,
            Ok(number) => Some(Generation(number)),
            Err(_) => {
                self.say(&format!(
                    "\"{arguments}\" is no generation. Give its number, the one before the dot in \
                     the timeline, or nothing for the last one."
                ));
                return Ok(());
            }
        };
        match self.restore(generation, false) {
            Ok(from) => self.say(&format!(
                "The context is again what it was in generation {from}. Files were not touched. \
                 /restore again to undo this."
            )),
            Err(error) if error.is_io() => return Err(error.into()),
            Err(error) => self.say(&format!("That is not possible: {error}.")),
        }
        Ok(())
    }

    /// `/redo`.
    pub(super) fn redo_command(&mut self) -> Result<(), Stop> {
        let Some(redo) = self.context.redo() else {
            self.say("There is nothing to redo: the context did not begin by going back.");
            return Ok(());
        };
        if !redo.is_clean {
            self.say(&format!(
                "You have gone on since you went back. /restore {} brings back what was before; \
                 what was said since is then kept as generation {}.",
                redo.generation,
                self.context.generation()
            ));
            return Ok(());
        }
        self.restore(Some(redo.generation), true)?;
        self.say("What you had gone back from is the context again. Files were not touched.");
        Ok(())
    }

    /// Restores `generation`, or the one that ended last. Says which it was.
    pub(super) fn restore(
        &mut self,
        generation: Option<Generation>,
        is_redo: bool,
    ) -> Result<Generation, ContextError> {
        let current = self.context.generation();
        let from = generation.unwrap_or(Generation(current.0.saturating_sub(1)));
        // Which step a checkpoint stood before is not in the context itself.
        let known = self.context.generations();
        let steps: HashMap<CheckpointId, u64> = known
            .iter()
            .filter(|info| info.generation == from)
            .flat_map(|info| &info.steps)
            .filter_map(|step| Some((step.at.id, step.step?)))
            .collect();
        let change = self.context.restore(from)?;
        self.carry(from, change.new_generation, None);
        self.compacted_to = 0;
        self.hub.extension(Extension::ContextRestored(ContextRestored { from, is_redo, change }));
        // It may have ended when the program was killed in a step.
        let lost: Vec<Message> = self
            .context
            .dangling_calls()
            .iter()
            .map(|call| Message::tool_result(&call.id, &lost_result()))
            .collect();
        self.context.append(&lost)?;
        for checkpoint in self.context.checkpoints() {
            let at = CheckpointRef { generation: change.new_generation, id: checkpoint.id };
            let size =
                ContextSize { messages: checkpoint.messages as u64, tokens: checkpoint.tokens };
            let step = steps.get(&checkpoint.id).copied();
            self.hub.extension(Extension::CheckpointCreated(CheckpointCreated { at, step, size }));
        }
        self.tell_status();
        Ok(from)
    }
}
