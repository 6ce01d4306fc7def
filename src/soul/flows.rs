//! Walking a flow: each box a turn of its own, each decision the model's (`kimi-cli`
//! `soul/kimisoul.py:1787-1963`).

use tokio_util::sync::CancellationToken;

use super::Soul;
use super::turn::{Ended, Stop};
use crate::message::{Message, Role};
use crate::skill::flow::{Flow, Step};
use crate::wire::{Event, TurnBegin};

/// Turns of one flow, at most: a ring has no end of its own.
const MAX_MOVES: usize = 1000;
/// Times in a row the model may name no branch.
const MAX_WRONG: usize = 5;

impl Soul {
    /// Walks `flow` from its beginning to its end.
    pub(super) async fn walk(
        &mut self,
        flow: &Flow,
        cancel: &CancellationToken,
    ) -> Result<(), Stop> {
        let mut place = flow.first();
        let mut wrong = 0;
        for _ in 0..MAX_MOVES {
            place = match flow.step(place) {
                Step::End => return Ok(()),
                Step::Task { prompt, next } => {
                    if !self.flow_turn(prompt.to_owned(), cancel).await? {
                        return Ok(());
                    }
                    next
                }
                Step::Decision { prompt, branches } => {
                    let labels: Vec<&str> = branches.iter().map(|(label, _)| *label).collect();
                    let asked = decision(prompt, &labels, wrong > 0);
                    if !self.flow_turn(asked, cancel).await? {
                        return Ok(());
                    }
                    let chosen = choice(&self.last_answer());
                    let branch =
                        branches.iter().find(|(label, _)| Some(*label) == chosen.as_deref());
                    match branch {
                        Some((_, next)) => {
                            wrong = 0;
                            *next
                        }
                        None if wrong + 1 >= MAX_WRONG => {
                            self.say("The flow ends here: the model names none of its branches.");
                            return Ok(());
                        }
                        None => {
                            wrong += 1;
                            place
                        }
                    }
                }
            };
        }
        self.say(&format!("The flow ends here: it has taken {MAX_MOVES} turns."));
        Ok(())
    }

    /// One turn inside the flow's own. False when a person's no ended it.
    async fn flow_turn(
        &mut self,
        prompt: String,
        cancel: &CancellationToken,
    ) -> Result<bool, Stop> {
        self.hub.event(Event::TurnBegin(TurnBegin { user_input: prompt.as_str().into() }));
        let result = self.turn(Message::user(prompt), cancel).await;
        self.hub.event(Event::turn_end());
        Ok(result? == Ended::Finished)
    }

    /// What the model said last.
    pub(super) fn last_answer(&self) -> String {
        let history = self.context.history().iter().rev();
        let answer = history.into_iter().find(|message| message.role == Role::Assistant);
        answer.map(Message::text).unwrap_or_default()
    }
}

fn decision(prompt: &str, labels: &[&str], again: bool) -> String {
    let mut text = String::new();
    if again {
        text.push_str("Your last answer named none of the branches.\n\n");
    }
    text.push_str(prompt);
    text.push_str("\n\nAvailable branches:\n");
    for label in labels {
        text.push_str(&format!("- {label}\n"));
    }
    text.push_str(
        "\nEnd your answer with the branch to take, exactly as it is written above, in this form: \
         <choice>BRANCH</choice>",
    );
    text
}

/// What stands in the last `<choice>` of an answer.
pub(super) fn choice(answer: &str) -> Option<String> {
    let (_, rest) = answer.rsplit_once("<choice>")?;
    let (chosen, _) = rest.split_once("</choice>")?;
    Some(chosen.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_choice_counts() {
        let cases = [
            ("<choice>yes</choice>", Some("yes")),
            ("Not <choice>no</choice> but\n<choice> yes </choice>.", Some("yes")),
            ("<choice>yes", None),
            ("yes", None),
            ("", None),
        ];
        for (answer, wanted) in cases {
            assert_eq!(choice(answer).as_deref(), wanted, "{answer}");
        }
    }

    #[test]
    fn a_decision_names_its_branches() {
        let text = decision("Green?", &["yes", "no"], false);
        assert!(text.starts_with("Green?\n\nAvailable branches:\n- yes\n- no\n\n"), "{text}");
        assert!(text.contains("<choice>"));
    }
}
