//! The end of a session shown first, and the whole of it taking its place.

use super::*;
use crate::message::{CheckpointId, CheckpointRef, ContentPart, Generation, ToolCall, ToolReturn};
use crate::ui::model::transcript::Position;
use crate::ui::msg::{Msg, Opened};
use crate::ui::testing::{Harness, info};
use crate::wire::{
    CheckpointCreated, ContextSize, Empty, Event, Extension, StepBegin, ToolResult, TurnBegin,
};

const RECORDS_A_TURN: usize = 10;

fn story(turns: usize) -> Vec<Recorded> {
    let mut story = Vec::new();
    for turn in 0..turns {
        let call = |name: &str, n: usize| {
            Event::ToolCall(ToolCall::new(format!("{name}{turn}-{n}"), name, Some("{}".into())))
        };
        let result = |name: &str, n: usize| {
            let output = format!("output {turn}\n").repeat(60);
            let return_value = ToolReturn::ok(output, "done");
            Event::ToolResult(ToolResult {
                tool_call_id: format!("{name}{turn}-{n}"),
                return_value,
            })
        };
        let made = CheckpointCreated {
            at: CheckpointRef { generation: Generation(0), id: CheckpointId(turn as u64) },
            step: None,
            size: ContextSize::default(),
        };
        let user_input = format!("prompt {turn}").as_str().into();
        story.extend([
            Event::TurnBegin(TurnBegin { user_input }),
            Event::Extension(Extension::CheckpointCreated(made)),
            Event::StepBegin(StepBegin { n: 1 }),
            Event::ContentPart(ContentPart::text(format!("answer {turn} ").repeat(40))),
            call("ReadFile", 0),
            call("ReadFile", 1),
            result("ReadFile", 0),
            result("ReadFile", 1),
            Event::StepBegin(StepBegin { n: 2 }),
            Event::TurnEnd(Empty {}),
        ]);
    }
    let timed = story.into_iter().zip(1..);
    timed.map(|(message, at)| Recorded { timestamp: f64::from(at), message }).collect()
}

#[test]
fn the_end_has_the_names_it_has_in_the_whole() {
    let story = story(300);
    // From the beginning of a turn, of a step, and the whole.
    for from in [story.len() - 50 * RECORDS_A_TURN, story.len() - 50 * RECORDS_A_TURN + 2, 0] {
        let tail = Recall::tail(story[from..].to_vec(), 9999.0);
        let mut whole: Recall = story.iter().cloned().collect();
        whole.continue_tail(tail.cells().len());
        let transcript = &whole.model.transcript;
        let before = transcript.cells().len() - tail.cells().len();
        assert_eq!(before > 0, from > 0);
        for (shown, cell) in tail.cells().iter().zip(&transcript.cells()[before..]) {
            assert_eq!((shown.id, &shown.kind, shown.group), (cell.id, &cell.kind, cell.group));
        }
        assert!(transcript.cells().is_sorted_by_key(|cell| cell.id));
        for (entry, shown) in whole.model.timeline.entries.iter().rev().zip([1, 1]) {
            let index = entry.cell.and_then(|cell| transcript.index_of(cell));
            assert!(index.is_some_and(|index| index >= transcript.cells().len() - 4 - shown));
        }
    }
}

#[test]
fn far_cells_are_small_and_say_the_same() {
    let story = story(400);
    let whole: Recall = story.iter().cloned().collect();
    let mut h = Harness::new(80, 24);
    for recorded in story {
        h.now = recorded.timestamp;
        h.event(recorded.message);
    }
    let is_packed = |cell: &crate::ui::model::cell::Cell| match &cell.kind {
        crate::ui::model::cell::CellKind::Assistant { text } => text.is_packed(),
        _ => false,
    };
    let cells = whole.model.transcript.cells();
    assert!(is_packed(&cells[1]) && !is_packed(&cells[cells.len() - 3]));
    assert_eq!(cells, h.model.transcript.cells());
    assert!(is_packed(&cells[1]), "comparing is only a look");
}

#[test]
fn nothing_moves_when_the_rest_has_been_read() {
    let story = story(300);
    let mut h = Harness::unopened(80, 30);
    let id = h.model.next_effect();
    h.model.opening = Some(id);
    let transcript = Recall::tail(story[story.len() - 60 * RECORDS_A_TURN..].to_vec(), h.now);
    let shown = transcript.cells().len();
    h.send(Msg::Preview { id, transcript: Box::new(transcript) });
    assert!(h.picture().contains("answer 299"), "{}", h.picture());
    h.keys("typed<pageup>");
    h.draw();
    h.keys("<pageup><pageup>");
    let rows = |picture: String| -> Vec<String> {
        // Without the scroll bar, and what says how much is below.
        picture.lines().take(20).map(|line| line.chars().take(70).collect()).collect()
    };
    let before = rows(h.picture());
    assert_ne!(h.model.transcript.position, Position::Follow);
    let mut past: Recall = story.into_iter().collect();
    past.continue_tail(shown);
    h.send(Msg::Opened { id, result: Ok(Opened { info: std::sync::Arc::new(info()), past }) });
    assert_eq!(rows(h.picture()), before);
    assert!(!h.model.transcript.is_tail && h.model.transcript.cells().len() > 2 * shown);
    assert_eq!(h.model.composer.editor.text(), "typed");
    // And above it is the rest.
    h.keys("<ctrl-home>");
    let top = h.picture();
    assert!(top.contains("prompt 0"), "{top}");
}

#[test]
fn an_end_that_comes_late_is_not_shown() {
    let mut h = Harness::new(80, 30);
    let id = h.model.next_effect();
    let transcript = Recall::tail(story(3), h.now);
    h.send(Msg::Preview { id, transcript: Box::new(transcript) });
    assert!(h.model.transcript.cells().is_empty());
}

#[test]
fn what_will_not_come_is_not_announced() {
    let story = story(3);
    let mut h = Harness::unopened(80, 30);
    let id = h.model.next_effect();
    h.model.opening = Some(id);
    let transcript = Recall::tail(story[story.len() - RECORDS_A_TURN..].to_vec(), h.now);
    h.send(Msg::Preview { id, transcript: Box::new(transcript) });
    assert!(h.picture().contains("what was before is being read"), "{}", h.picture());
    h.send(Msg::Opened { id, result: Err("it is open elsewhere".to_owned()) });
    let failed = h.picture();
    assert!(failed.contains("it is open elsewhere") && failed.contains("answer 2"), "{failed}");
    assert!(!failed.contains("is being read"), "{failed}");
}
