//! The ralph loop: the same prompt again, until the model says that all of it is done.

use tokio_util::sync::CancellationToken;

use super::Soul;
use super::flows::choice;
use super::turn::{Ended, Stop};
use crate::message::Message;
use crate::prompts;
use crate::wire::{Event, TurnBegin};

const STOP: &str = "STOP";

impl Soul {
    /// A turn with `message`, and further ones as the limits of the loop say.
    pub(super) async fn rounds(
        &mut self,
        message: Message,
        cancel: &CancellationToken,
    ) -> Result<(), Stop> {
        let prompt = message.text();
        let mut ended = self.turn_with_hooks(message, cancel).await?;
        let limit = self.limits.max_ralph_iterations;
        let mut round = 0;
        while ended == Ended::Finished && (limit < 0 || round < limit) {
            round += 1;
            let again = prompts::ralph(&prompt);
            self.hub.event(Event::TurnBegin(TurnBegin { user_input: again.as_str().into() }));
            let result = self.turn_with_hooks(Message::user(again), cancel).await;
            self.hub.event(Event::turn_end());
            ended = result?;
            if choice(&self.last_answer()).as_deref() == Some(STOP) {
                break;
            }
        }
        Ok(())
    }
}
