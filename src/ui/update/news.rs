//! Turns that begin by themselves, because background work ended while nothing ran. Never while the
//! person is at something: a draft, a panel, a key of a moment ago.

use super::super::effect::Effect;
use super::super::model::Model;
use super::super::msg::Msg;
use crate::wire::{Command, DoorMessage, Event};

/// Takes note of what came.
pub(super) fn hear(model: &mut Model, msg: &Msg, now: f64) {
    match msg {
        Msg::Key(_) | Msg::Paste(_) => model.news.key(now),
        Msg::Door(DoorMessage::Event(Event::Notification(_))) => model.news.came(),
        Msg::Opened { .. } | Msg::DoorClosed => model.news.read(),
        _ => {}
    }
}

/// Begins a turn for what came, when it is the moment.
pub(super) fn read(model: &mut Model, now: f64) -> Option<Effect> {
    if model.news_due(now)? > now {
        return None;
    }
    model.news.read();
    Some(Effect::Send(Command::ReadNotes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::Harness;
    use crate::wire::{Notification, TurnBegin};

    fn ended() -> Event {
        Event::Notification(Notification {
            id: "n1".into(),
            category: "task".into(),
            kind: "task.completed".into(),
            source_kind: "background_task".into(),
            source_id: "bash-1".into(),
            title: "Background task completed: build".into(),
            body: String::new(),
            severity: "success".into(),
            created_at: 1.0,
            payload: serde_json::Map::new(),
        })
    }

    /// How often a turn was begun since this was last asked.
    fn begun(h: &mut Harness) -> usize {
        let effects = h.take_effects();
        effects.iter().filter(|effect| **effect == Effect::Send(Command::ReadNotes)).count()
    }

    #[test]
    fn a_turn_begins_when_work_ends_and_says_why() {
        let mut h = Harness::new(80, 24);
        h.wait(5.0);
        assert_eq!(begun(&mut h), 0, "nothing has come");
        h.event(ended());
        assert_eq!(begun(&mut h), 1);
        h.wait(5.0);
        assert_eq!(begun(&mut h), 0, "once");
        h.event(Event::TurnBegin(TurnBegin { user_input: TurnBegin::TASKS_ENDED.into() }));
        let shown = h.picture();
        assert!(shown.contains("Background work ended while nothing ran"), "{shown}");
        assert!(!shown.contains("system-reminder"), "{shown}");
        assert!(h.model.status.activity.is_running());
    }

    #[test]
    fn it_waits_while_somebody_types_and_until_the_draft_is_gone() {
        let mut h = Harness::new(80, 24);
        h.keys("x").event(ended());
        h.wait(60.0);
        assert_eq!(begun(&mut h), 0, "a draft is there");
        h.keys("<backspace>");
        assert_eq!(begun(&mut h), 0, "the key was just now");
        assert_eq!(h.model.news_due(h.now), Some(h.now + 0.75));
        h.wait(0.8);
        assert_eq!(begun(&mut h), 1);
    }

    #[test]
    fn it_waits_for_panels_and_for_the_end_of_a_turn() {
        let mut h = Harness::new(80, 24);
        h.begin_turn("go").event(ended());
        h.wait(60.0);
        assert_eq!(begun(&mut h), 0, "the turn reads it itself, as far as it can");
        h.ask("a1", "c1", "rm -r x");
        h.end_turn();
        assert_eq!(begun(&mut h), 1, "what it could not read is read then");
        h.keys("<f1>").event(ended());
        h.wait(60.0);
        assert_eq!(begun(&mut h), 0, "the help is open");
        assert_eq!(h.model.news_due(h.now), None, "and nothing ticks for it");
        h.keys("<esc>");
        h.wait(0.8);
        assert_eq!(begun(&mut h), 1);
    }
}
