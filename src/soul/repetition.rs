//! Notices a model that makes the same call again and again (`kimi-cli` `soul/toolset.py:116-172`).
//! Pure.

use std::collections::HashMap;

use crate::message::{FunctionCall, ToolCall};

/// Steps in a row with the same call after which the model is reminded.
const REMINDED_AT: [u64; 3] = [3, 5, 8];
/// Steps in a row with the same call after which the turn is stopped.
const STOPPED_AT: u64 = 12;

/// The calls of a turn, as far as they repeat.
#[derive(Debug, Default)]
pub(super) struct Repetition {
    /// How many steps in a row had this call.
    streaks: HashMap<String, u64>,
}

/// What to do about a step's calls.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// The calls whose results get a reminder: number in the step, and the reminder.
    pub(super) reminders: Vec<(usize, String)>,
    /// The tool that was called once too often.
    pub(super) stop: Option<String>,
}

impl Repetition {
    /// Takes in the calls of a step.
    pub(super) fn see(&mut self, calls: &[ToolCall]) -> Verdict {
        let mut verdict = Verdict::default();
        let mut streaks = HashMap::new();
        for (at, call) in calls.iter().enumerate() {
            let key = key(&call.function);
            if streaks.contains_key(&key) {
                continue;
            }
            let streak = self.streaks.get(&key).map_or(1, |streak| streak + 1);
            if REMINDED_AT.contains(&streak) {
                verdict.reminders.push((at, reminder(streak)));
            }
            if streak >= STOPPED_AT {
                verdict.stop = Some(call.function.name.clone());
            }
            streaks.insert(key, streak);
        }
        self.streaks = streaks;
        verdict
    }
}

fn key(function: &FunctionCall) -> String {
    format!("{}\u{0}{}", function.name, function.arguments.as_deref().unwrap_or_default())
}

fn reminder(streak: u64) -> String {
    let urgency = match streak {
        0..=3 => "If it does not bring you further, do something else.",
        4..=5 => "Its result will not change. Look at what you know already, and try another way.",
        _ => {
            "You are going in circles. Stop calling it: try another way, or tell the user what \
             keeps you from going on. The turn is ended if this repeats."
        }
    };
    format!(
        "<system-reminder>\nYou have made this same call {streak} times in a row. {urgency}\n\
         </system-reminder>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall::new("id", name, Some(arguments.to_owned()))
    }

    #[test]
    fn it_reminds_at_3_5_and_8_and_stops_at_12() {
        let mut repetition = Repetition::default();
        let mut reminded = Vec::new();
        for step in 1..=12 {
            // What is called beside it does not matter, nor does calling it twice in a step.
            let other = call("LS", &step.to_string());
            let verdict = repetition.see(&[other, call("Bash", "ls"), call("Bash", "ls")]);
            reminded.extend(verdict.reminders.iter().map(|(at, _)| (step, *at)));
            assert_eq!(verdict.stop.is_some(), step == 12, "step {step}");
        }
        assert_eq!(reminded, [(3, 1), (5, 1), (8, 1)]);
    }

    #[test]
    fn another_call_begins_a_new_count() {
        let mut repetition = Repetition::default();
        for arguments in ["1", "1", "2", "1", "1"] {
            assert_eq!(repetition.see(&[call("Bash", arguments)]), Verdict::default());
        }
        assert_eq!(repetition.see(&[call("Bash", "1")]).reminders.len(), 1);
        assert_eq!(repetition.see(&[call("Shell", "1")]), Verdict::default());
    }
}
