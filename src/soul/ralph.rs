//! The ralph loop: the same prompt again, until the model says that all of it is done.

use tokio_util::sync::CancellationToken;

use super::Soul;
use super::turn::{Ended, Stop};
use crate::message::{Message, Role};
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
        let mut ended = self.turn(message, cancel).await?;
        let limit = self.limits.max_ralph_iterations;
        let mut round = 0;
        while ended == Ended::Finished && (limit < 0 || round < limit) {
            round += 1;
            let again = prompts::ralph(&prompt);
            self.hub.event(Event::TurnBegin(TurnBegin { user_input: again.as_str().into() }));
            let result = self.turn(Message::user(again), cancel).await;
            self.hub.event(Event::turn_end());
            ended = result?;
            if self.last_answer().is_some_and(|said| choice(&said) == Some(STOP)) {
                break;
            }
        }
        Ok(())
    }

    /// What the model said last.
    fn last_answer(&self) -> Option<String> {
        let last = self.context.history().iter().rfind(|m| m.role == Role::Assistant)?;
        Some(last.text())
    }
}

/// The last `<choice>X</choice>` in `text`, without blanks around it.
pub(super) fn choice(text: &str) -> Option<&str> {
    let (_, from) = text.rsplit_once("<choice>")?;
    let (choice, _) = from.split_once("</choice>")?;
    Some(choice.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_choice_counts() {
        let text = "I would say <choice>CONTINUE</choice>, no: <choice> STOP </choice>.";
        assert_eq!(choice(text), Some("STOP"));
        assert_eq!(choice("<choice>STOP"), None);
        assert_eq!(choice("STOP"), None);
    }
}
