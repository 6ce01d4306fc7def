//! Plan mode: whether it is on, the plan's file, and what the model is told about it.
//!
//! What was told is read from the conversation itself, so going back, compacting or reopening a
//! session can never leave the model with a wrong idea of the mode.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Soul;
use super::state::SharedState;
use crate::context::ContextError;
use crate::message::{Message, Role, SessionId};
use crate::prompts;
use crate::wire::{Event, Hub, PlanDisplay, StatusUpdate};

/// Assistant messages after which the model is reminded (`kimi-cli`
/// `soul/dynamic_injections/plan_mode.py:14-16`).
const REMIND_AFTER: usize = 5;
/// Every so many reminders the whole text is told again.
const FULL_EVERY: usize = 5;

/// How each text begins, by which it is found again.
const FULL: &str = "Plan mode is on. ";
const SHORT: &str = "Plan mode is on still";
const OFF: &str = "Plan mode is off";

const LEFT: &str = "Plan mode is off: the user left it. You may change files again, as far as the \
                    user asked for it. The plan file stays where it is.";

/// Plan mode of one session. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct PlanMode(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    hub: Hub,
    state: SharedState,
    session: SessionId,
    folder: PathBuf,
    /// The plan's file when the mode is on.
    file: Mutex<Option<PathBuf>>,
}

impl PlanMode {
    /// Plan mode as `state` has it, with plans in `folder`. A mode whose folder cannot be made is
    /// off.
    pub(crate) fn new(hub: Hub, state: SharedState, session: SessionId, folder: PathBuf) -> Self {
        let is_on = state.read(|state| state.plan_mode);
        let plan = Self(Arc::new(Inner { hub, state, session, folder, file: Mutex::default() }));
        if is_on && let Err(error) = plan.switch(true) {
            tracing::warn!(%error, "plan mode could not be resumed");
        }
        plan
    }

    /// The plan's file when the mode is on.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        self.lock().clone()
    }

    /// Switches, stores it and tells everybody. Gives back the plan's file.
    ///
    /// # Errors
    /// In words, when the plan's folder cannot be made: the mode stays as it was.
    pub(crate) fn set(&self, on: bool) -> Result<PathBuf, String> {
        let file = self.switch(on).map_err(|error| {
            format!("The plans folder {} cannot be used: {error}.", self.0.folder.display())
        })?;
        self.tell();
        Ok(file)
    }

    /// Tells everybody whether it is on.
    pub(crate) fn tell(&self) {
        self.0.hub.event(Event::StatusUpdate(StatusUpdate {
            plan_mode: Some(self.file().is_some()),
            ..StatusUpdate::default()
        }));
    }

    /// Shows a plan.
    pub(crate) fn show(&self, content: &str, file: &Path) {
        self.0.hub.event(Event::PlanDisplay(PlanDisplay {
            content: content.to_owned(),
            file_path: file.display().to_string(),
        }));
    }

    fn switch(&self, on: bool) -> io::Result<PathBuf> {
        let file = self.place(on)?;
        *self.lock() = on.then(|| file.clone());
        if self.0.state.read(|state| state.plan_mode != on) {
            let stored = self.0.state.change(|state| state.plan_mode = on);
            if let Err(error) = stored {
                tracing::warn!(%error, "plan mode could not be stored");
            }
        }
        Ok(file)
    }

    /// Where the plan is; with `make`, its folder and its name are made when there are none.
    fn place(&self, make: bool) -> io::Result<PathBuf> {
        let folder = &self.0.folder;
        if make {
            fs::create_dir_all(folder)?;
        }
        // Tools compare it with paths that have no links in them.
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        let known = self.0.state.read(|state| state.plan_slug.clone()).filter(|slug| is_slug(slug));
        let slug = match known {
            Some(slug) => slug,
            None => {
                let slug = free_slug(&folder);
                let session = self.0.session.0.clone();
                if make {
                    let stored = self.0.state.change(|state| {
                        state.plan_slug = Some(slug.clone());
                        state.plan_session_id = Some(session);
                    });
                    if let Err(error) = stored {
                        tracing::warn!(%error, "the plan's name could not be stored");
                    }
                }
                slug
            }
        };
        Ok(folder.join(format!("{slug}.md")))
    }

    fn lock(&self) -> MutexGuard<'_, Option<PathBuf>> {
        self.0.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A name that stays in the folder, whoever wrote `state.json`.
fn is_slug(slug: &str) -> bool {
    !slug.is_empty()
        && slug.len() <= 100
        && slug.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

const WORDS: [&str; 32] = [
    "amber", "anchor", "apple", "arrow", "autumn", "basil", "beacon", "birch", "bridge", "canyon",
    "cedar", "clover", "comet", "coral", "delta", "ember", "falcon", "fern", "garnet", "harbor",
    "heron", "island", "jasper", "lantern", "maple", "meadow", "nebula", "olive", "pebble",
    "quartz", "river", "willow",
];

/// Three words that name no plan yet.
fn free_slug(folder: &Path) -> String {
    let word = || WORDS[fastrand::usize(..WORDS.len())];
    let mut slug = format!("{}-{}-{}", word(), word(), word());
    while folder.join(format!("{slug}.md")).exists() {
        slug = format!("{slug}-{}", word());
        if slug.len() > 90 {
            return uuid::Uuid::new_v4().to_string();
        }
    }
    slug
}

/// What the model must be told now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Full,
    Short,
    Left,
}

/// What must be told, by what `history` shows it was told.
fn due(history: &[Message], is_on: bool) -> Option<Due> {
    let mut answers = 0;
    let mut shorts = 0;
    for message in history.iter().rev() {
        match message.role {
            Role::Assistant => answers += usize::from(shorts == 0),
            // Leaving and entering are told by the tools' results too.
            Role::Tool if has(message, OFF) => return is_on.then_some(Due::Full),
            Role::User if message.is_reminder() => {
                if has(message, OFF) {
                    return is_on.then_some(Due::Full);
                }
                if has(message, SHORT) || has(message, FULL) {
                    if !is_on {
                        return Some(Due::Left);
                    }
                    if shorts == 0 && answers < REMIND_AFTER {
                        return None;
                    }
                    if has(message, FULL) {
                        return Some(if shorts + 1 < FULL_EVERY { Due::Short } else { Due::Full });
                    }
                    shorts += 1;
                }
            }
            _ => {}
        }
    }
    is_on.then_some(Due::Full)
}

fn has(message: &Message, mark: &str) -> bool {
    message.content.iter().filter_map(|part| part.as_text()).any(|text| text.contains(mark))
}

impl Soul {
    /// Tells the model about plan mode when that is due.
    pub(super) fn remind_of_plan(&mut self) -> Result<(), ContextError> {
        let file = self.plan.file();
        if file.is_none() && self.state.read(|state| state.plan_slug.is_none()) {
            return Ok(());
        }
        let Some(due) = due(self.context.history(), file.is_some()) else { return Ok(()) };
        let path = file.unwrap_or_default().display().to_string();
        let text = match due {
            Due::Full => prompts::plan_mode(&path, true),
            Due::Short => prompts::plan_mode(&path, false),
            Due::Left => LEFT.to_owned(),
        };
        self.context.append(&[Message::reminder(&text)])
    }

    /// `/plan [on|off|view|clear]`; without a word it is switched.
    pub(super) fn plan_command(&mut self, word: &str) {
        let is_on = self.plan.file().is_some();
        let on = match word {
            "" => !is_on,
            "on" => true,
            "off" => false,
            "view" => return self.view_plan(),
            "clear" => return self.clear_plan(),
            _ => return self.say("Use /plan, /plan on, /plan off, /plan view or /plan clear."),
        };
        match self.plan.set(on) {
            Ok(file) if on => self.say(&format!(
                "Plan mode is on: nothing is changed but the plan, {}.",
                file.display()
            )),
            Ok(_) => self.say("Plan mode is off."),
            Err(reason) => self.say(&reason),
        }
    }

    fn view_plan(&self) {
        match self.plan.place(false).and_then(|file| Ok((fs::read_to_string(&file)?, file))) {
            Ok((plan, file)) if !plan.trim().is_empty() => self.plan.show(&plan, &file),
            _ => self.say("There is no plan yet."),
        }
    }

    /// The plan goes out of the way, and can be found again.
    fn clear_plan(&self) {
        let cleared = self.plan.place(false).and_then(|file| {
            let kept = file.with_extension("old.md");
            fs::rename(&file, &kept).map(|()| kept)
        });
        match cleared {
            Ok(kept) => {
                self.say(&format!("The plan is cleared; it is kept as {}.", kept.display()));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.say("There is no plan yet.");
            }
            Err(error) => self.say(&format!("The plan could not be cleared: {error}.")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(is_full: bool) -> Message {
        Message::reminder(&prompts::plan_mode("/plans/a.md", is_full))
    }

    fn answers(count: usize) -> Vec<Message> {
        (0..count).map(|_| Message::new(Role::Assistant, vec![])).collect()
    }

    #[test]
    fn the_model_is_told_at_first_and_every_fifth_answer() {
        assert_eq!(due(&[], false), None);
        assert_eq!(due(&[Message::user("Plan mode is on. really?")], true), Some(Due::Full));
        let mut history = vec![told(true)];
        assert_eq!(due(&history, true), None);
        history.extend(answers(4));
        assert_eq!(due(&history, true), None);
        history.extend(answers(1));
        let mut given = Vec::new();
        for _ in 0..6 {
            let next = due(&history, true).expect("due");
            given.push(next);
            history.push(told(next == Due::Full));
            assert_eq!(due(&history, true), None);
            history.extend(answers(5));
        }
        let expected = [Due::Short, Due::Short, Due::Short, Due::Short, Due::Full, Due::Short];
        assert_eq!(given, expected);
    }

    #[test]
    fn leaving_is_told_once_and_not_after_the_tool_said_it() {
        let mut history = vec![told(true)];
        assert_eq!(due(&history, false), Some(Due::Left));
        history.push(Message::reminder(LEFT));
        assert_eq!(due(&history, false), None);
        assert_eq!(due(&history, true), Some(Due::Full));
        let result =
            crate::message::ToolReturn::ok("", "Approved. Plan mode is off. Carry it out.");
        let by_tool = [told(true), Message::tool_result("t1", &result)];
        assert_eq!(due(&by_tool, false), None);
    }

    #[test]
    fn a_slug_from_a_file_never_leaves_the_folder() {
        assert!(is_slug("miles-morales-captain-atom"));
        for bad in ["", "../x", "a/b", "a.b", "ä"] {
            assert!(!is_slug(bad), "{bad}");
        }
    }
}
