//! Turns nobody typed a prompt for: background work had something to say while nothing ran
//! (`kimi-cli` `ui/shell/__init__.py`, the background auto-trigger). When it is the moment for one, a
//! front end knows: only it knows whether somebody types.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::Soul;
use crate::message::Message;
use crate::wire::{Event, PromptOutcome, TurnBegin};

/// After so many failures in a row no turn begins by itself until the person sends a prompt.
const TRIES: u8 = 3;

impl Soul {
    /// Is there something that a turn should begin for?
    pub(super) fn has_news(&self) -> bool {
        self.services.tasks().config().auto_turn
            && self.model.is_some()
            && self.failed_wakes < TRIES
            && self.services.notes().wakes()
    }

    /// Takes in background tasks of earlier runs of the program, and offers to stop those that the
    /// end of it did not end.
    pub(super) fn take_up_tasks(&self) {
        for task in self.services.tasks().take_up_earlier() {
            self.notify(
                "A background command of an earlier run still runs",
                &format!("{} ({})\n/tasks (F7) stops it with x.", task.title, task.id),
                "warning",
            );
        }
    }

    /// A turn in which the model reads what background work had to say.
    pub(super) async fn read_notes(&mut self, cancel: &CancellationToken) -> PromptOutcome {
        let begin = TurnBegin { user_input: TurnBegin::TASKS_ENDED.into() };
        self.hub.event(Event::TurnBegin(begin));
        let message = Message::user(TurnBegin::TASKS_ENDED);
        let result = self.turn_with_hooks(message, cancel).await;
        let outcome = self.end_turn(result.map(drop));
        self.failed_wakes = match outcome {
            PromptOutcome::Finished | PromptOutcome::Cancelled => 0,
            _ => self.failed_wakes + 1,
        };
        outcome
    }

    /// Waits until no background task runs, `limit` at most, and lets the model go on with each that
    /// ends.
    pub(super) async fn await_tasks(
        &mut self,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> PromptOutcome {
        let deadline = Instant::now() + limit;
        let mut live = self.services.tasks().live();
        loop {
            // Before the notes are looked for: what ends after that is seen next time.
            let left = *live.borrow_and_update();
            if self.has_news() {
                match self.read_notes(cancel).await {
                    PromptOutcome::Finished => continue,
                    other => return other,
                }
            }
            if left == 0 {
                return PromptOutcome::Finished;
            }
            tokio::select! {
                _ = live.changed() => {}
                () = cancel.cancelled() => return PromptOutcome::Cancelled,
                () = sleep_until(deadline) => {
                    let about = format!("{left} still ran after {} seconds.", limit.as_secs());
                    self.notify("Background tasks are not waited for any longer", &about, "warning");
                    return PromptOutcome::Finished;
                }
            }
        }
    }
}
