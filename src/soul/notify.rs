//! Notes of background work on their way into the context.

use serde_json::json;

use super::Soul;
use super::gate::details;
use crate::config::HookEvent;
use crate::context::ContextError;
use crate::message::Message;
use crate::tools::Note;

/// Notes the model reads at once; the others wait for the next step (`kimi-cli`
/// `soul/kimisoul.py`, `_step`).
const AT_ONCE: usize = 4;

impl Soul {
    /// Puts what background work had to say since the last step into the context. What cannot be
    /// written waits on.
    pub(super) fn tell_notes(&mut self) -> Result<(), ContextError> {
        let notes = self.services.notes().take(AT_ONCE);
        if notes.is_empty() {
            return Ok(());
        }
        let messages: Vec<Message> = notes.iter().map(Note::message).collect();
        if let Err(error) = self.context.append(&messages) {
            self.services.notes().give_back(notes);
            return Err(error);
        }
        for mut note in notes {
            let about = &note.notification;
            let told = json!({
                "sink": "llm", "notification_type": about.kind,
                "title": about.title, "body": about.body, "severity": about.severity,
            });
            self.hooks.tell(HookEvent::Notification, &[&about.kind], details(told));
            if let Some(delivered) = note.on_delivery.take() {
                delivered();
            }
        }
        Ok(())
    }
}
