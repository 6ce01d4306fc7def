//! Forks: whole, at a checkpoint, with and without a timeline.

use super::*;
use crate::message::{CheckpointId, CheckpointRef, Generation, UserInput};
use crate::wire::record::{Recorder, read_story};
use crate::wire::{CheckpointCreated, Empty, Event, Extension, StepBegin, TurnBegin};

struct Life {
    session: Session,
    context: Context,
    recorder: Recorder,
}

impl Life {
    fn new(place: &super::Place, name: &str) -> Self {
        let session = place.create(name);
        let (mut context, _) = Context::open(&session.dir).expect("open");
        context.freeze_system_prompt("P").expect("prompt");
        let recorder = Recorder::new(&session.dir);
        Self { session, context, recorder }
    }

    fn tell(&mut self, event: Event) {
        self.recorder.record(&event).expect("record");
    }

    fn mark(&mut self, step: Option<u64>) {
        let size = self.context.size();
        let id = self.context.checkpoint(false).expect("checkpoint");
        let at = CheckpointRef { generation: self.context.generation(), id };
        let made = CheckpointCreated { at, step, size };
        self.tell(Event::Extension(Extension::CheckpointCreated(made)));
    }

    /// A turn of two steps.
    fn turn(&mut self, text: &str) {
        self.tell(Event::TurnBegin(TurnBegin { user_input: text.into() }));
        self.mark(None);
        self.context.append(&[Message::user(text)]).expect("said");
        for n in 1..=2 {
            self.tell(Event::StepBegin(StepBegin { n }));
            self.mark(Some(n));
            let answer = format!("{text} {n}");
            self.tell(Event::ContentPart(crate::message::ContentPart::text(answer.as_str())));
            self.context.append(&[Message::assistant(answer)]).expect("answer");
        }
        self.tell(Event::TurnEnd(Empty {}));
    }

    /// A command that never reaches the model: in the record, but not in the context.
    fn command(&mut self, text: &str) {
        self.tell(Event::TurnBegin(TurnBegin { user_input: text.into() }));
        self.tell(Event::TurnEnd(Empty {}));
    }
}

/// What the record of a session says, briefly.
fn seen(dir: &Path) -> Vec<String> {
    let story = read_story(dir).expect("story");
    assert_eq!(story.bad_lines, 0);
    let brief = |event: &Event| match event {
        Event::TurnBegin(TurnBegin { user_input: UserInput::Text(text) }) => format!("> {text}"),
        Event::TurnEnd(_) => "end".to_owned(),
        Event::StepBegin(step) => format!("step {}", step.n),
        Event::ContentPart(part) => part.as_text().unwrap_or_default().to_owned(),
        _ => String::new(),
    };
    let events = story.events.iter().map(|recorded| brief(&recorded.message));
    events.filter(|text| !text.is_empty()).collect()
}

fn said(dir: &Path) -> Vec<String> {
    let (context, report) = Context::open(dir).expect("open");
    assert_eq!(report, crate::context::OpenReport::default());
    context.history().iter().map(Message::text).collect()
}

fn at(generation: u64, id: u64) -> Option<CheckpointRef> {
    Some(CheckpointRef { generation: Generation(generation), id: CheckpointId(id) })
}

/// Three turns with commands in between: the case that the Python program gets wrong.
fn lived(place: &super::Place) -> Life {
    let mut life = Life::new(place, "life");
    life.turn("q1");
    life.command("/yolo");
    life.command("/unknown");
    life.turn("q2");
    life.turn("q3");
    life.recorder.flush().expect("flush");
    life
}

#[test]
fn a_whole_fork_has_everything_and_a_name_of_its_own() {
    let place = place();
    let life = lived(&place);
    let mut state = SessionState::load(&life.session.dir);
    state.yolo = true;
    state.additional_dirs = vec!["/more".into()];
    state.save(&life.session.dir).expect("state");
    fs::create_dir(life.session.dir.join("uploads")).expect("folder");
    fs::write(life.session.dir.join("uploads/a.mp4"), "film").expect("file");
    let lock = life.session.lock().expect("open here");
    let fork = place.store.fork(&life.session, None).expect("fork");
    drop(lock);
    assert_eq!((fork.said.clone(), fork.wire), (None, WireCut::Whole));
    assert_eq!(fork.session.work_dir, place.work);
    for name in ["context.jsonl", "wire.jsonl", "timeline.jsonl"] {
        let read = |dir: &Path| fs::read(dir.join(name)).expect(name);
        assert_eq!(read(&fork.session.dir), read(&life.session.dir), "{name}");
    }
    assert_eq!(fork.session.summary().title, "Fork: q1");
    let state = SessionState::load(&fork.session.dir);
    assert!(!state.yolo && state.additional_dirs == ["/more"]);
    assert!(fork.session.dir.join("uploads/a.mp4").is_file());
    let again = place.store.fork(&fork.session, None).expect("fork of the fork");
    assert_eq!(again.session.summary().title, "Fork: q1");
}

#[test]
fn undoing_a_turn_cuts_all_three_files_at_its_checkpoint() {
    let place = place();
    let life = lived(&place);
    let before = said(&life.session.dir);
    // q2's own checkpoint: three of q1 come before it.
    let fork = place.store.fork(&life.session, at(0, 3)).expect("fork");
    assert_eq!((fork.said.as_deref(), fork.wire), (Some("q2"), WireCut::AtCheckpoint));
    assert_eq!(said(&fork.session.dir), ["q1", "q1 1", "q1 2"]);
    assert_eq!(
        seen(&fork.session.dir),
        ["> q1", "step 1", "q1 1", "step 2", "q1 2", "end", "> /yolo", "end", "> /unknown", "end"]
    );
    let (context, _) = Context::open(&fork.session.dir).expect("open");
    let steps = &context.generations()[0].steps;
    assert_eq!(steps.len(), 3);
    assert!(steps.iter().all(|step| step.made_at.is_some()));
    assert_eq!(said(&life.session.dir), before, "the old one stays");
}

#[test]
fn a_fork_in_the_middle_of_a_turn_ends_that_turn() {
    let place = place();
    let life = lived(&place);
    let fork = place.store.fork(&life.session, at(0, 5)).expect("fork");
    assert_eq!(fork.said, None);
    assert_eq!(said(&fork.session.dir), ["q1", "q1 1", "q1 2", "q2", "q2 1"]);
    assert_eq!(seen(&fork.session.dir)[10..], ["> q2", "step 1", "q2 1", "end"]);
}

#[test]
fn without_a_timeline_the_turn_is_found_by_what_was_said() {
    let place = place();
    let mut life = lived(&place);
    life.turn("q2");
    life.recorder.flush().expect("flush");
    fs::remove_file(life.session.dir.join("timeline.jsonl")).expect("remove");
    let fork = place.store.fork(&life.session, at(0, 3)).expect("fork");
    assert_eq!((fork.said.as_deref(), fork.wire), (Some("q2"), WireCut::ByText));
    assert_eq!(seen(&fork.session.dir).last().map(String::as_str), Some("end"));
    assert_eq!(seen(&fork.session.dir).len(), 10);
    let last = place.store.fork(&life.session, at(0, 9)).expect("fork");
    assert_eq!(seen(&last.session.dir).len(), 22);
    let step = place.store.fork(&life.session, at(0, 8)).expect("fork");
    assert_eq!(said(&step.session.dir).last().map(String::as_str), Some("q3 1"));
    assert_eq!(seen(&step.session.dir)[16..], ["> q3", "step 1", "q3 1", "end"]);
    // A record that knows nothing of the turn is left out rather than told wrongly.
    fs::write(life.session.dir.join("wire.jsonl"), "{\"type\": \"metadata\"}\n").expect("file");
    let fork = place.store.fork(&life.session, at(0, 3)).expect("fork");
    assert_eq!((fork.wire, seen(&fork.session.dir).len()), (WireCut::LeftOut, 0));
    assert_eq!(said(&fork.session.dir).len(), 3);
}

#[test]
fn an_earlier_generation_can_be_forked_and_addresses_stay() {
    let place = place();
    let mut life = lived(&place);
    life.context.revert_to(CheckpointId(3)).expect("revert");
    life.turn("other");
    life.recorder.flush().expect("flush");
    let fork = place.store.fork(&life.session, at(0, 6)).expect("fork");
    assert_eq!(said(&fork.session.dir).len(), 6);
    let (context, _) = Context::open(&fork.session.dir).expect("open");
    assert_eq!((context.generation(), context.next_checkpoint()), (Generation(0), CheckpointId(6)));
    let fork = place.store.fork(&life.session, at(1, 4)).expect("fork");
    let (context, _) = Context::open(&fork.session.dir).expect("open");
    assert_eq!(context.generation(), Generation(1));
    assert_eq!(context.transcript(Generation(0)).expect("old").messages.len(), 9);
    assert_eq!(said(&fork.session.dir), ["q1", "q1 1", "q1 2", "other"]);
}

#[test]
fn a_fork_that_cannot_be_leaves_nothing() {
    let place = place();
    let life = lived(&place);
    for bad in [at(0, 99), at(4, 0)] {
        let error = place.store.fork(&life.session, bad).expect_err("unknown");
        assert!(matches!(error, SessionError::Context(_)), "{error}");
    }
    assert_eq!(fs::read_dir(place.paths.session_bucket(&place.work)).expect("list").count(), 1);
}
