//! What the transcript and the timeline show of lives of the context.

use super::*;
use crate::wire::ContextRestored;

fn change(old: u64, new: u64, before: u64, after: u64) -> ContextChange {
    ContextChange {
        old_generation: Generation(old),
        new_generation: Generation(new),
        before: ContextSize { messages: 9, tokens: before },
        after: ContextSize { messages: 1, tokens: after },
        next_checkpoint: CheckpointId(0),
    }
}

#[test]
fn a_restored_context_brings_back_what_it_had_and_nothing_that_came_later() {
    let mut h = Harness::new(120, 40);
    h.begin_turn("first").checkpoint(0, None, 0).step(1).checkpoint(1, Some(1), 100).text("one");
    h.end_turn();
    h.event(Event::Extension(Extension::ContextCleared(change(0, 1, 500, 0))));
    h.begin_turn("second").text("two").end_turn();
    let restored =
        ContextRestored { from: Generation(0), is_redo: false, change: change(1, 2, 80, 500) };
    h.event(Event::Extension(Extension::ContextRestored(restored)));
    let fates: Vec<_> = h
        .model
        .transcript
        .cells()
        .iter()
        .filter(|cell| !matches!(cell.kind, CellKind::Mark(_)))
        .map(|cell| cell.fate)
        .collect();
    assert_eq!(fates, [Fate::Live, Fate::Live, Fate::Reverted, Fate::Reverted]);
    let live: Vec<_> = (0..h.model.timeline.entries.len())
        .filter_map(|row| h.model.timeline.checkpoint(row))
        .filter(|entry| entry.is_live)
        .map(|entry| entry.at.to_string())
        .collect();
    assert_eq!(live, ["2.0", "2.1"]);
    let rows = h.model.timeline.entries.len();
    h.event(Event::Extension(Extension::CheckpointCreated(crate::wire::CheckpointCreated {
        at: CheckpointRef { generation: Generation(2), id: CheckpointId(1) },
        step: Some(1),
        size: ContextSize { messages: 1, tokens: 100 },
    })));
    assert_eq!(h.model.timeline.entries.len(), rows, "told again, shown once");
    assert_eq!(h.model.status.context_tokens, Some(500));
    // And back again: what came after the clear, without what was before it.
    let restored =
        ContextRestored { from: Generation(1), is_redo: false, change: change(2, 3, 500, 80) };
    h.event(Event::Extension(Extension::ContextRestored(restored)));
    let cells = h.model.transcript.cells();
    assert_eq!((cells[0].fate, cells[3].fate), (Fate::Reverted, Fate::Live));
}

#[test]
fn what_a_compaction_took_can_be_unfolded() {
    let mut h = Harness::new(100, 30);
    h.begin_turn("q").text("a").end_turn();
    h.begin_turn("/compact").event(Event::CompactionBegin(crate::wire::Empty {}));
    let message = crate::wire::RewrittenMessage {
        index: 0,
        role: crate::message::Role::Tool,
        fate: crate::wire::MessageFate::Hidden,
        tokens: 420,
        tool_call_id: None,
        preview: "total 8".into(),
    };
    h.event(Event::Extension(Extension::ContextRewritten(crate::wire::ContextRewritten {
        generation: Generation(0),
        strategy: "hide_tool_results".into(),
        is_fallback: false,
        messages: vec![message],
    })));
    h.event(Event::Extension(Extension::ContextCompacted(change(0, 1, 900, 90))));
    h.event(Event::CompactionEnd(crate::wire::Empty {})).end_turn();
    assert!(h.picture().contains("1 message is not in it as before"));
    h.keys("<ctrl-e>");
    assert!(h.picture().contains("hidden: tool, 420 tokens: total 8"));
}

#[test]
fn a_call_that_was_changed_shows_what_runs() {
    let mut h = Harness::new(100, 30);
    h.begin_turn("q").step(1).call("t1", "Bash", r#"{"command": "rm -rf build"}"#);
    h.event(Event::Extension(Extension::CallEdited(crate::wire::CallEdited {
        tool_call_id: "t1".into(),
        arguments: r#"{"command": "rm -r build/tmp"}"#.into(),
    })));
    let picture = h.picture();
    assert!(picture.contains("rm -r build/tmp") && picture.contains("as you changed it"));
}
