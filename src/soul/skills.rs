//! `/skill:NAME` and `/flow:NAME`: what a skill's text or diagram makes of a turn.

use tokio_util::sync::CancellationToken;

use super::Soul;
use super::turn::Stop;
use crate::message::Message;
use crate::skill::Kind;

impl Soul {
    /// Carries out a skill's command; none when there is no such skill.
    pub(super) async fn skill_command(
        &mut self,
        name: &str,
        request: &str,
        cancel: &CancellationToken,
    ) -> Option<Result<(), Stop>> {
        let skills = self.skills.clone();
        let (kind, skill) = skills.by_command(name)?;
        if kind == Kind::Standard {
            let message = Message::user(skill.prompt(request));
            return Some(self.turn_with_hooks(message, cancel).await.map(drop));
        }
        match skill.flow() {
            Ok(flow) => Some(self.walk(&flow, cancel).await),
            Err(error) => {
                self.say(&format!("The flow {} cannot be run: {error}.", skill.name));
                Some(Ok(()))
            }
        }
    }
}
