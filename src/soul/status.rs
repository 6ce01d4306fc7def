//! Numbers and notes for the status line.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use super::Soul;
use super::gate::details;
use crate::config::HookEvent;
use crate::message::TokenUsage;
use crate::wire::{DoorMessage, Event, Notification, StatusUpdate};

/// `tokens` as a part of a window of `max`, 0 to 1; 0 when the window is unknown.
#[allow(clippy::cast_precision_loss, reason = "a ratio of token counts needs no 53rd bit")]
pub(super) fn usage_ratio(tokens: u64, max: u64) -> f64 {
    if max == 0 { 0.0 } else { (tokens as f64 / max as f64).min(1.0) }
}

impl Soul {
    /// Tells how full the context is.
    pub(super) fn tell_status(&self) {
        self.hub.event(Event::StatusUpdate(self.status(self.context.size().tokens)));
    }

    /// Tells how full the context of a resumed session is. Not news, so not recorded.
    pub(super) fn tell_first_status(&self) {
        if !self.context.is_empty() || self.plan.file().is_some() {
            let status = self.status(self.context.size().tokens);
            self.hub.tell(DoorMessage::Event(Event::StatusUpdate(status)));
        }
    }

    /// Tells how full the context is after a model call whose answer is not in it yet.
    pub(super) fn tell_call_status(
        &self,
        tokens: u64,
        usage: Option<TokenUsage>,
        id: Option<&str>,
    ) {
        self.hub.event(Event::StatusUpdate(StatusUpdate {
            token_usage: usage,
            message_id: id.map(str::to_owned),
            ..self.status(tokens)
        }));
    }

    fn status(&self, tokens: u64) -> StatusUpdate {
        let max = self.info.max_context_tokens;
        StatusUpdate {
            context_usage: Some(usage_ratio(tokens, max)),
            context_tokens: Some(tokens),
            max_context_tokens: Some(max),
            plan_mode: Some(self.plan.file().is_some()),
            ..StatusUpdate::default()
        }
    }

    /// Tells a person something beside the conversation. `severity` as [`Notification`] has it.
    pub(super) fn notify(&self, title: &str, body: &str, severity: &str) {
        let about = json!({
            "sink": "wire", "notification_type": "engine.notice",
            "title": title, "body": body, "severity": severity,
        });
        self.hooks.tell(HookEvent::Notification, &["engine.notice"], details(about));
        self.hub.event(notice(&self.session_id.0, title, body, severity));
    }
}

/// News from the engine of the session `id`.
pub(super) fn notice(id: &str, title: &str, body: &str, severity: &str) -> Event {
    let created_at =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    Event::Notification(Notification {
        id: uuid::Uuid::new_v4().to_string(),
        category: "engine".to_owned(),
        kind: "engine.notice".to_owned(),
        source_kind: "session".to_owned(),
        source_id: id.to_owned(),
        title: title.to_owned(),
        body: body.to_owned(),
        severity: severity.to_owned(),
        created_at,
        payload: serde_json::Map::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_stays_between_0_and_1() {
        assert!((usage_ratio(50, 200) - 0.25).abs() < f64::EPSILON);
        assert!((usage_ratio(300, 200) - 1.0).abs() < f64::EPSILON);
        assert!(usage_ratio(300, 0).abs() < f64::EPSILON);
    }
}
