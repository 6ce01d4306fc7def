//! Messages in, model and effects out. No terminal, no engine, no clock.

mod approving;
mod composing;
mod drafting;
mod everykey;
mod firsthand;
mod habits;
mod newcomer;
mod question;
mod queueing;
mod rewind;
mod rows;
mod selecting;
mod sessions;
mod setup;
mod slashes;
mod time;
mod travel;

use crate::message::{CheckpointId, CheckpointRef, ContentPart, Generation, ToolReturn};
use crate::ui::effect::Effect;
use crate::ui::model::cell::{CellKind, Compaction, Fate, Mark, ToolState};
use crate::ui::model::overlay::Overlay;
use crate::ui::model::status::Activity;
use crate::ui::msg::Msg;
use crate::ui::testing::Harness;
use crate::wire::record::Recorded;
use crate::wire::{
    ApprovalChoice, ApprovalResponse, Command, ContextChange, ContextReverted, ContextSize,
    DoorMessage, Event, Extension, PromptOutcome, Response, RevertCause, StepRetry,
};

fn sent(harness: &mut Harness) -> Vec<Command> {
    harness
        .take_effects()
        .into_iter()
        .filter_map(|effect| match effect {
            Effect::Send(command) => Some(command),
            _ => None,
        })
        .collect()
}

fn kinds(harness: &Harness) -> Vec<&'static str> {
    harness
        .model
        .transcript
        .cells()
        .iter()
        .map(|cell| match cell.kind {
            CellKind::User { .. } => "user",
            CellKind::Assistant { .. } => "assistant",
            CellKind::Thinking { .. } => "thinking",
            CellKind::Tool(_) => "tool",
            CellKind::Notice { .. } => "notice",
            CellKind::Plan { .. } => "plan",
            CellKind::Mark(_) => "mark",
        })
        .collect()
}

fn reverted(to: u64, cause: RevertCause) -> Event {
    Event::Extension(Extension::ContextReverted(ContextReverted {
        to: CheckpointRef { generation: Generation(0), id: CheckpointId(to) },
        cause,
        mail: None,
        change: ContextChange {
            old_generation: Generation(0),
            new_generation: Generation(1),
            before: ContextSize { messages: 9, tokens: 900 },
            after: ContextSize { messages: 1, tokens: 100 },
            next_checkpoint: CheckpointId(to),
        },
    }))
}

#[test]
fn enter_sends_the_draft_and_remembers_it() {
    let mut h = Harness::new(80, 24);
    h.keys("hello<ctrl-j>world<enter>");
    assert_eq!(
        h.take_effects(),
        [
            Effect::Remember("hello\nworld".into()),
            Effect::Send(Command::Prompt("hello\nworld".into())),
        ]
    );
    assert!(h.model.composer.editor.is_empty());
    assert!(h.model.status.activity.is_running());
}

#[test]
fn what_is_sent_while_a_turn_runs_waits_and_goes_when_it_ends() {
    let mut h = Harness::new(80, 24);
    h.keys("one<enter>two<enter>three<enter>");
    assert_eq!(sent(&mut h), [Command::Prompt("one".into())]);
    assert_eq!(h.model.composer.queue, ["two", "three"]);
    h.begin_turn("one").end_turn();
    assert_eq!(sent(&mut h), [Command::Prompt("two".into())]);
    h.keys("<up>");
    assert_eq!(h.model.composer.editor.text(), "three", "taken back with the up key");
}

#[test]
fn stopping_gives_what_was_queued_back_to_the_composer() {
    let mut h = Harness::new(80, 24);
    h.keys("one<enter>two<enter>dra<esc>");
    assert_eq!(sent(&mut h), [Command::Prompt("one".into()), Command::Cancel]);
    assert_eq!(h.model.composer.editor.text(), "two\ndra");
    h.keys("<esc>");
    assert_eq!(sent(&mut h), [], "a second stop is not sent while the first is under way");
    h.send(Msg::Door(DoorMessage::PromptDone(PromptOutcome::Cancelled)));
    assert_eq!(h.model.status.activity, Activity::Idle);
}

#[test]
fn steering_goes_into_the_running_turn() {
    let mut h = Harness::new(80, 24);
    h.keys("one<enter>also check b<ctrl-s>");
    assert_eq!(
        sent(&mut h),
        [Command::Prompt("one".into()), Command::Steer("also check b".into())]
    );
}

#[test]
fn slash_commands_of_the_screen_are_not_sent_and_those_of_the_engine_are() {
    let mut h = Harness::new(80, 24);
    h.keys("/help<enter>");
    assert!(matches!(h.model.overlays.last(), Some(Overlay::Help { .. })));
    h.keys("<esc>/compact the tests<enter>");
    assert_eq!(sent(&mut h), [Command::Prompt("/compact the tests".into())]);
}

#[test]
fn a_slash_completes_with_enter_and_tab() {
    let mut h = Harness::new(80, 24);
    h.keys("/comp<tab>");
    assert_eq!(h.model.composer.editor.text(), "/compact ");
    h.keys("<enter>");
    assert_eq!(sent(&mut h), [Command::Prompt("/compact".into())]);
}

#[test]
fn clearing_asks_first() {
    let mut h = Harness::new(80, 24);
    h.keys("<f8>");
    assert_eq!(h.model.overlays, [Overlay::ConfirmClear]);
    h.keys("<esc>");
    assert_eq!((sent(&mut h), h.model.overlays.len()), (vec![], 0));
    h.keys("/clear<enter><enter>");
    assert_eq!(sent(&mut h), [Command::Prompt("/clear".into())]);
}

#[test]
fn interrupt_stops_then_clears_then_leaves() {
    let mut h = Harness::new(80, 24);
    h.keys("go<enter><ctrl-c>");
    assert_eq!(sent(&mut h).last(), Some(&Command::Cancel));
    h.send(Msg::Door(DoorMessage::PromptDone(PromptOutcome::Cancelled)));
    h.keys("draft<ctrl-c>");
    assert!(h.model.composer.editor.is_empty());
    h.keys("<up>");
    assert_eq!(h.model.composer.editor.text(), "draft", "nothing that was written is lost");
    h.keys("<ctrl-c>").wait(3.0).take_effects();
    h.keys("<ctrl-c>");
    assert!(!h.take_effects().contains(&Effect::Quit), "the first press was too long ago");
    h.keys("<ctrl-c>");
    assert!(h.take_effects().contains(&Effect::Quit));
}

#[test]
fn ctrl_d_leaves_only_with_an_empty_composer_and_no_turn() {
    let mut h = Harness::new(80, 24);
    h.keys("x<ctrl-d>");
    assert!(!h.effects.contains(&Effect::Quit));
    h.keys("<backspace>y<enter><ctrl-d>");
    assert!(!h.effects.contains(&Effect::Quit));
    h.begin_turn("y").end_turn().keys("<ctrl-d>");
    assert!(h.effects.contains(&Effect::Quit));
}

#[test]
fn pieces_of_text_and_thinking_become_cells() {
    let mut h = Harness::new(80, 24);
    h.begin_turn("q").step(1);
    for piece in ["I ", "think"] {
        h.event(Event::ContentPart(ContentPart::think(piece)));
    }
    h.wait(2.0).text("An").text("swer");
    assert_eq!(kinds(&h), ["user", "thinking", "assistant"]);
    let cells = h.model.transcript.cells();
    assert_eq!(cells[1].kind, CellKind::Thinking { text: "I think".into(), seconds: Some(2.0) });
    assert_eq!(cells[2].kind, CellKind::Assistant { text: "Answer".into() });
    assert!(!cells[2].finished);
    h.end_turn();
    assert!(h.model.transcript.cells().iter().all(|cell| cell.finished));
}

#[test]
fn a_tool_call_goes_from_streaming_to_done() {
    let mut h = Harness::new(80, 24);
    h.begin_turn("q").step(1).call("t1", "Bash", "");
    let state = |h: &Harness| h.model.transcript.tool("t1").map(|tool| tool.state);
    assert_eq!(state(&h), Some(ToolState::Streaming));
    h.ask("a1", "t1", "ls");
    assert_eq!(state(&h), Some(ToolState::Waiting));
    h.wait(1.0).keys("y");
    assert_eq!(state(&h), Some(ToolState::Running));
    h.result("t1", ToolReturn::ok("out", "done"));
    assert_eq!(state(&h), Some(ToolState::Done));
}

#[test]
fn the_time_a_person_takes_to_answer_is_not_the_tools() {
    let mut h = Harness::new(80, 24);
    h.begin_turn("q").step(1).call("t1", "Bash", "{}").usage(10).ask("a1", "t1", "ls");
    h.wait(60.0).keys("y").wait(2.0).result("t1", ToolReturn::ok("out", "done"));
    assert_eq!(h.model.transcript.tool("t1").and_then(|tool| tool.seconds), Some(2.0));
}

#[test]
fn an_answer_names_its_request_and_the_next_one_is_asked() {
    let mut h = Harness::new(80, 24);
    h.begin_turn("q").step(1).call("t1", "Bash", "{}").call("t2", "Bash", "{}");
    h.ask("a1", "t1", "ls").ask("a2", "t2", "rm x").wait(1.0).keys("n");
    let answer = |id: &str, response| {
        Command::Respond(Response::Approval(ApprovalResponse {
            request_id: id.into(),
            response,
            feedback: String::new(),
        }))
    };
    assert_eq!(sent(&mut h), [answer("a1", ApprovalChoice::Reject)]);
    assert_eq!(h.model.approvals.current().map(|request| request.id.as_str()), Some("a2"));
    h.wait(1.0).keys("<down><enter>");
    assert_eq!(sent(&mut h), [answer("a2", ApprovalChoice::ApproveForSession)]);
    assert!(h.model.approvals.is_empty());
}

#[test]
fn a_rejection_can_say_what_to_do_instead() {
    let mut h = Harness::new(80, 24);
    h.begin_turn("q").step(1).call("t1", "Bash", "{}").ask("a1", "t1", "ls").wait(1.0);
    h.keys("fuse b.txt, y?<enter>");
    let Some(Command::Respond(Response::Approval(answer))) = sent(&mut h).pop() else {
        panic!("no answer")
    };
    assert_eq!(
        (answer.response, answer.feedback.as_str()),
        (ApprovalChoice::Reject, "use b.txt, y?")
    );
}

#[test]
fn keys_meant_for_the_composer_do_not_answer_a_request_that_pops_up() {
    let mut h = Harness::new(80, 24);
    h.begin_turn("q").step(1).call("t1", "Bash", "{}");
    h.keys("I was t");
    h.ask("a1", "t1", "rm -rf build");
    for key in ["y", "p", "i", "n", "g", " ", "y", "<enter>"] {
        h.now += 0.1;
        h.keys(key);
    }
    assert_eq!(sent(&mut h), [], "nothing was answered");
    assert_eq!(h.model.composer.queue, ["I was typing y"]);
    h.wait(0.5).keys("y");
    assert!(matches!(sent(&mut h).as_slice(), [Command::Respond(_)]));
}

#[test]
fn an_answer_given_elsewhere_closes_the_panel() {
    let mut h = Harness::new(80, 24);
    h.begin_turn("q").step(1).call("t1", "Bash", "{}").ask("a1", "t1", "ls");
    h.event(Event::ApprovalResponse(ApprovalResponse {
        request_id: "a1".into(),
        response: ApprovalChoice::Approve,
        feedback: String::new(),
    }));
    assert!(h.model.approvals.is_empty());
    assert_eq!(h.model.transcript.tool("t1").map(|tool| tool.state), Some(ToolState::Running));
}

#[test]
fn a_retry_withdraws_what_the_failed_attempt_said() {
    let mut h = Harness::new(80, 24);
    h.begin_turn("q").step(1).text("half an ans").call("t1", "Bash", "{\"comm");
    h.event(Event::StepRetry(StepRetry {
        n: 1,
        next_attempt: 2,
        max_attempts: 3,
        wait_s: 0.4,
        error_type: "APIConnectionError".into(),
        status_code: None,
    }));
    assert_eq!(kinds(&h), ["user", "notice"]);
    h.text("whole answer");
    assert_eq!(kinds(&h), ["user", "notice", "assistant"]);
}

#[test]
fn a_revert_sets_apart_what_the_model_no_longer_has() {
    let mut h = Harness::new(120, 40);
    h.begin_turn("first").checkpoint(0, None, 0).step(1).checkpoint(1, Some(1), 100).text("one");
    h.end_turn();
    h.begin_turn("second").checkpoint(2, None, 300).step(1).checkpoint(3, Some(1), 400).text("two");
    h.end_turn();
    h.event(reverted(2, RevertCause::User));
    let fates: Vec<_> = h.model.transcript.cells().iter().map(|cell| cell.fate).collect();
    assert_eq!(fates, [Fate::Live, Fate::Live, Fate::Reverted, Fate::Reverted, Fate::Live]);
    assert!(matches!(
        h.model.transcript.cells().last().map(|cell| &cell.kind),
        Some(CellKind::Mark(Mark::Reverted { checkpoint: 2, .. }))
    ));
    assert_eq!(h.model.timeline.live_count(), 2);
    assert_eq!(h.model.status.context_tokens, Some(100));
}

#[test]
fn a_checkpoint_that_is_gone_is_not_offered_again() {
    let mut h = Harness::new(120, 40);
    h.begin_turn("first").checkpoint(0, None, 0).step(1).checkpoint(1, Some(1), 100).end_turn();
    h.event(reverted(1, RevertCause::AgentDMail)).keys("<ctrl-t><down><up><down>r");
    h.model.timeline.selected = Some(2);
    h.keys("r");
    assert!(
        h.model
            .overlays
            .iter()
            .all(|overlay| !matches!(overlay, Overlay::Revert(dialog) if dialog.to.id.0 == 1))
    );
}

#[test]
fn a_compaction_of_another_engine_has_no_sizes_and_one_that_never_ends_failed() {
    let begin = || Event::CompactionBegin(crate::wire::Empty {});
    let mut h = Harness::new(80, 24);
    h.begin_turn("q").text("a").end_turn();
    h.begin_turn("/compact").event(begin());
    assert!(h.picture().contains("Summarising the context 0s"));
    h.wait(2.0);
    assert!(h.picture().contains("Summarising the context 2s"), "{}", h.picture());
    h.event(Event::CompactionEnd(crate::wire::Empty {})).end_turn().wait(9.0);
    assert!(h.picture().contains("── Context summarised ──"), "{}", h.picture());
    assert_eq!(h.model.transcript.cells()[0].fate, Fate::Compacted);

    h.begin_turn("go on").event(begin()).event(Event::StepInterrupted(crate::wire::Empty {}));
    h.end_turn().wait(9.0);
    assert!(h.picture().contains("could not be summarised and is unchanged"), "{}", h.picture());
}

#[test]
fn compaction_marks_what_was_summarised_and_says_what_it_saved() {
    let mut h = Harness::new(80, 24);
    h.begin_turn("q").text("a").end_turn();
    h.begin_turn("/compact").event(Event::CompactionBegin(crate::wire::Empty {}));
    let change = ContextChange {
        old_generation: Generation(0),
        new_generation: Generation(1),
        before: ContextSize { messages: 9, tokens: 900 },
        after: ContextSize { messages: 2, tokens: 90 },
        next_checkpoint: CheckpointId(1),
    };
    h.event(Event::Extension(Extension::ContextCompacted(change)));
    h.event(Event::CompactionEnd(crate::wire::Empty {})).end_turn();
    let last = h.model.transcript.cells().last().expect("a mark");
    assert_eq!(
        last.kind,
        CellKind::Mark(Mark::Compacted {
            outcome: Compaction::Done(Some((900, 90))),
            losses: vec![]
        })
    );
    assert_eq!((last.fate, last.finished), (Fate::Live, true));
    assert_eq!(h.model.transcript.cells()[0].fate, Fate::Compacted);
}

#[test]
fn reading_a_session_back_ends_where_living_through_it_ended() {
    let mut lived = Harness::new(100, 30);
    lived.begin_turn("q").checkpoint(0, None, 0).step(1).text("a").call("t1", "Bash", "{}");
    lived.result("t1", ToolReturn::ok("x", "ok")).event(Event::turn_end());
    let events = [
        Event::TurnBegin(crate::wire::TurnBegin { user_input: "q".into() }),
        Event::Extension(Extension::CheckpointCreated(crate::wire::CheckpointCreated {
            at: CheckpointRef { generation: Generation(0), id: CheckpointId(0) },
            step: None,
            size: ContextSize { messages: 0, tokens: 0 },
        })),
        Event::StepBegin(crate::wire::StepBegin { n: 1 }),
        Event::ContentPart(ContentPart::text("a")),
        Event::ToolCall(crate::message::ToolCall::new("t1", "Bash", Some("{}".into()))),
        Event::ToolResult(crate::wire::ToolResult {
            tool_call_id: "t1".into(),
            return_value: ToolReturn::ok("x", "ok"),
        }),
        Event::turn_end(),
    ];
    let story = events.into_iter().map(|message| Recorded { timestamp: 1000.0, message }).collect();
    let mut read = Harness::unopened(100, 30);
    let id = read.model.next_effect();
    read.model.opening = Some(id);
    read.open(id, story);
    assert_eq!(read.model.transcript.cells(), lived.model.transcript.cells());
    assert_eq!(read.model.timeline, lived.model.timeline);
    assert_eq!(read.model.status.activity, Activity::Idle);
}

#[test]
fn an_answer_to_a_request_nobody_waits_for_is_dropped() {
    let mut h = Harness::new(80, 24);
    h.keys("<f5>");
    let Some(Effect::Open { id: first, .. }) = h.take_effects().pop() else { panic!("not opened") };
    h.model.opening = Some(crate::ui::effect::EffectId(99));
    h.send(Msg::Opened { id: first, result: Err("late".into()) });
    assert!(h.model.transcript.cells().is_empty());
}

#[test]
fn a_session_that_cannot_be_opened_says_why_and_keeps_the_screen_alive() {
    let mut h = Harness::unopened(80, 24);
    let id = h.model.next_effect();
    h.model.opening = Some(id);
    h.send(Msg::Opened { id, result: Err("it is open in another window".into()) });
    assert!(h.picture().contains("it is open in another window"));
    h.keys("hello<enter>");
    assert_eq!(sent(&mut h), []);
    assert_eq!(h.model.composer.editor.text(), "hello", "the draft is kept");
}

#[test]
fn the_first_prompt_waits_until_the_session_is_open() {
    let mut h = Harness::unopened(80, 24);
    h.model.first_prompt = Some("hello".into());
    let id = h.model.next_effect();
    h.model.opening = Some(id);
    h.open(id, Vec::new());
    assert_eq!(sent(&mut h), [Command::Prompt("hello".into())]);
}

#[test]
fn an_idle_screen_wants_no_wake_up() {
    let mut h = Harness::new(80, 24);
    assert_eq!(h.model.next_change(h.now), None);
    h.keys("hi<enter>");
    assert!(h.model.next_change(h.now).is_some());
    h.begin_turn("hi").end_turn().wait(1.0);
    assert_eq!(h.model.next_change(h.now), None);
}

#[test]
fn a_refused_prompt_leaves_the_screen_ready_for_the_next() {
    let mut h = Harness::new(80, 24);
    h.keys("hello<enter>");
    h.send(Msg::Door(DoorMessage::Refused("Not now.".into())));
    assert_eq!(h.model.status.activity, Activity::Idle);
    assert!(h.picture().contains("Not now."));
    h.begin_turn("x").send(Msg::Door(DoorMessage::Refused("Revert later.".into())));
    assert!(h.model.status.activity.is_running(), "something else was refused");
}

#[test]
fn a_key_that_does_nothing_says_so_and_loses_nothing() {
    let mut h = Harness::new(120, 40);
    h.begin_turn("q").checkpoint(0, None, 0).step(1).end_turn().keys("draft<ctrl-t>x");
    assert!(h.picture().contains("x does nothing here"));
    assert_eq!(h.model.composer.editor.text(), "draft");
}
