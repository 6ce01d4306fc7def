//! Random lives of a context, compared after every step with a list of records.

use std::fs::{self, OpenOptions};
use std::io::Write;

use proptest::prelude::*;

use super::super::record::Record;
use super::super::rotation::{self, Piece};
use super::*;
use crate::message::{CheckpointId, Generation, ToolReturn};

#[derive(Debug, Clone)]
enum Step {
    Freeze(String),
    Append(Vec<String>),
    Usage(u64),
    Grow { input: Option<u64>, total: Option<u64>, calls: usize, text: String },
    Checkpoint { note: bool },
    Revert { pick: usize },
    Clear,
    Replace { texts: Vec<String>, tokens: u64 },
    Sync,
    Reopen,
    TornTail { text: String, cut: usize },
    LostNewline,
    KilledRotation { stage: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let words = "[a-z \"\\\\\n\t压é😀\u{1}]{0,20}";
    let tokens = || prop::option::of(0..5000_u64);
    prop_oneof![
        1 => words.prop_map(Step::Freeze),
        4 => prop::collection::vec(words, 0..3).prop_map(Step::Append),
        2 => (0..9000_u64).prop_map(Step::Usage),
        4 => (tokens(), tokens(), 0..3_usize, words)
            .prop_map(|(input, total, calls, text)| Step::Grow { input, total, calls, text }),
        5 => any::<bool>().prop_map(|note| Step::Checkpoint { note }),
        3 => any::<usize>().prop_map(|pick| Step::Revert { pick }),
        1 => Just(Step::Clear),
        1 => (prop::collection::vec(words, 0..3), 0..99_u64)
            .prop_map(|(texts, tokens)| Step::Replace { texts, tokens }),
        1 => Just(Step::Sync),
        2 => Just(Step::Reopen),
        2 => (words, any::<usize>()).prop_map(|(text, cut)| Step::TornTail { text, cut }),
        1 => Just(Step::LostNewline),
        2 => (0..4_usize).prop_map(|stage| Step::KilledRotation { stage }),
    ]
}

/// The living records, and the bytes of every earlier file.
#[derive(Default)]
struct Model {
    prompt: Option<String>,
    records: Vec<Record>,
    rotated: Vec<Vec<u8>>,
}

impl Model {
    fn messages(&self) -> Vec<Message> {
        messages(&self.records)
    }

    fn marks(&self) -> Vec<(CheckpointId, usize)> {
        let mut marks = Vec::new();
        for (index, record) in self.records.iter().enumerate() {
            if let Record::Checkpoint(id) = record {
                marks.push((*id, messages(&self.records[..index]).len()));
            }
        }
        marks
    }

    fn counted(&self) -> u64 {
        let usage = |record: &Record| match record {
            Record::Usage(tokens) => Some(*tokens),
            _ => None,
        };
        self.records.iter().rev().find_map(usage).unwrap_or(0)
    }

    fn tokens(&self) -> u64 {
        let after = self.records.iter().rev().take_while(|r| !matches!(r, Record::Usage(_)));
        let chars: u64 = after
            .filter_map(|record| match record {
                Record::Message(message) => Some(message),
                _ => None,
            })
            .flat_map(|message| {
                let arguments = message.calls().iter().map(ToolCall::arguments).collect::<String>();
                format!("{}{arguments}", crate::message::text_of(&message.content, ""))
                    .chars()
                    .map(|c| if c.is_ascii() { 1 } else { 4 })
                    .collect::<Vec<u64>>()
            })
            .sum();
        self.counted() + chars / 4
    }

    fn next(&self) -> CheckpointId {
        CheckpointId(self.marks().last().map_or(0, |(id, _)| id.0 + 1))
    }

    fn rotate(&mut self, folder: &Path) {
        match fs::read(folder.join(CONTEXT_FILE)) {
            Ok(bytes) if !bytes.is_empty() => self.rotated.push(bytes),
            _ => {}
        }
    }

    fn check(&self, context: &Context, folder: &Path) {
        assert_eq!(context.system_prompt(), self.prompt.as_deref());
        assert_eq!(context.history(), self.messages());
        let marks: Vec<_> = context.checkpoints().iter().map(|c| (c.id, c.messages)).collect();
        assert_eq!(marks, self.marks());
        assert_eq!(context.token_count(), self.counted());
        assert_eq!(context.tokens_with_pending(), self.tokens());
        assert_eq!(context.next_checkpoint(), self.next());
        assert_eq!(context.generation(), Generation(self.rotated.len() as u64));
        for (index, bytes) in self.rotated.iter().enumerate() {
            let path = rotation::rotated_path(&folder.join(CONTEXT_FILE), index as u64 + 1);
            assert_eq!(&fs::read(path).expect("an earlier file"), bytes);
        }
    }
}

fn messages(records: &[Record]) -> Vec<Message> {
    let message = |record: &Record| match record {
        Record::Message(message) => Some(message.clone()),
        _ => None,
    };
    records.iter().filter_map(message).collect()
}

fn said(texts: &[String]) -> Vec<Message> {
    texts.iter().map(|text| Message::user(text.as_str())).collect()
}

fn records(messages: &[Message]) -> impl Iterator<Item = Record> {
    messages.iter().cloned().map(Record::Message)
}

/// Takes `step` in both worlds, and gives the context back, perhaps opened anew.
fn take(step: Step, mut context: Context, model: &mut Model, folder: &Path) -> Context {
    let path = folder.join(CONTEXT_FILE);
    match step {
        Step::Freeze(prompt) => {
            context.freeze_system_prompt(&prompt).expect("freeze");
            model.prompt.get_or_insert(prompt);
        }
        Step::Append(texts) => {
            context.append(&said(&texts)).expect("append");
            model.records.extend(records(&said(&texts)));
        }
        Step::Usage(tokens) => {
            context.record_usage(tokens).expect("usage");
            model.records.push(Record::Usage(tokens));
        }
        Step::Grow { input, total, calls, text } => {
            let ids = &["a", "b", "c"][..calls];
            let results: Vec<_> = ids
                .iter()
                .map(|id| Message::tool_result(*id, &ToolReturn::ok(text.as_str(), "done")))
                .collect();
            context.grow(input, &calling(ids), total, &results).expect("grow");
            model.records.extend(input.map(Record::Usage));
            model.records.push(Record::Message(calling(ids)));
            model.records.extend(total.map(Record::Usage));
            model.records.extend(records(&results));
        }
        Step::Checkpoint { note } => {
            let id = model.next();
            assert_eq!(context.checkpoint(note).expect("checkpoint"), id);
            model.records.push(Record::Checkpoint(id));
            if note {
                let note = Message::system_note(&format!("CHECKPOINT {id}"));
                model.records.push(Record::Message(note));
            }
        }
        Step::Revert { pick } => revert(pick, &mut context, model, folder),
        Step::Clear => {
            model.rotate(folder);
            context.clear().expect("clear");
            model.records.clear();
        }
        Step::Replace { texts, tokens } => {
            model.rotate(folder);
            context.replace(&said(&texts), tokens).expect("replace");
            model.records = vec![Record::Checkpoint(CheckpointId(0))];
            model.records.extend(records(&said(&texts)));
            model.records.push(Record::Usage(tokens));
        }
        Step::Sync => context.sync().expect("sync"),
        Step::Reopen => context = reopen(context, folder),
        Step::TornTail { text, cut } => {
            drop(context);
            let mut line = Vec::new();
            Record::Message(Message::user(text)).write(&mut line).expect("line");
            let torn = &line[..1 + cut % (line.len() - 2)];
            let mut file = OpenOptions::new().create(true).append(true).open(&path).expect("file");
            file.write_all(torn).expect("tail");
            let (opened, report) = Context::open(folder).expect("open");
            assert!(report.torn_tail && report.bad_lines.is_empty());
            assert!(
                fs::read(folder.join("context.jsonl.torn"))
                    .expect("kept")
                    .ends_with(&[torn, b"\n"].concat())
            );
            context = opened;
        }
        Step::LostNewline => {
            let bytes = fs::read(&path).unwrap_or_default();
            if let [whole @ .., b'\n'] = bytes.as_slice() {
                drop(context);
                fs::write(&path, whole).expect("file");
                context = open(folder);
            }
        }
        Step::KilledRotation { stage } => {
            drop(context);
            killed_rotation(stage, folder);
            context = open(folder);
        }
    }
    context
}

fn reopen(context: Context, folder: &Path) -> Context {
    drop(context);
    open(folder)
}

fn revert(pick: usize, context: &mut Context, model: &mut Model, folder: &Path) {
    let marks = model.marks();
    if marks.is_empty() {
        context.revert_to(CheckpointId(0)).expect_err("no checkpoint");
        return;
    }
    let id = marks[pick % marks.len()].0;
    model.rotate(folder);
    let before = context.size();
    let change = context.revert_to(id).expect("revert");
    let at = model.records.iter().position(|r| *r == Record::Checkpoint(id)).expect("mark");
    model.records.truncate(at);
    assert_eq!(change.before, before);
    assert_eq!(change.after, context.size());
    assert_eq!(change.next_checkpoint, id);
    assert_eq!(change.new_generation.0, change.old_generation.0 + 1);
}

/// What a kill leaves while a rotation is under way, before its rename.
fn killed_rotation(stage: usize, folder: &Path) {
    let path = folder.join(CONTEXT_FILE);
    if !path.exists() {
        return;
    }
    let number = rotation::highest(folder).expect("folder") + 1;
    match stage {
        0 => fs::write(rotation::next_path(&path), "{\"role\":\"us").expect("half"),
        1 => drop(rotation::write_next(&path, &[Piece::Bytes(b"new\n")]).expect("next")),
        2 => {
            rotation::write_next(&path, &[]).expect("next");
            let kept = rotation::keep_old(&path, number).expect("link");
            assert_eq!(kept, rotation::Kept::Linked(number));
        }
        _ => {
            rotation::write_next(&path, &[]).expect("next");
            rotation::copy_old(&path).expect("copy");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_life_of_a_context_is_the_list_of_its_records(steps in prop::collection::vec(step(), 1..30)) {
        let folder = tempfile::tempdir().expect("folder");
        let mut context = open(folder.path());
        let mut model = Model::default();
        for step in steps {
            context = take(step, context, &mut model, folder.path());
            model.check(&context, folder.path());
        }
        model.check(&reopen(context, folder.path()), folder.path());
        let mut left = names(folder.path());
        left.retain(|name| !name.starts_with("context_") && !name.ends_with(".torn"));
        prop_assert!(left.is_empty() || left == [CONTEXT_FILE]);
    }
}

/// Lines of all kinds and bytes of no kind, so that whole records, torn ones and noise stand in any
/// order.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let lines: Vec<Vec<u8>> = super::fixtures::FIRST_TURN
        .split_inclusive('\n')
        .map(|line| line.as_bytes().to_vec())
        .collect();
    let piece = prop_oneof![
        4 => prop::sample::select(lines.clone()),
        2 => (prop::sample::select(lines), any::<prop::sample::Index>())
            .prop_map(|(line, at)| line[..at.index(line.len())].to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..12),
        1 => Just(b"\n".to_vec()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_file_opens_and_goes_on_and_none_of_it_is_lost(bytes in noise()) {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join(CONTEXT_FILE);
        fs::write(&path, &bytes).expect("file");
        let (mut context, report) = Context::open(folder.path()).expect("open");
        let torn = fs::read(folder.path().join("context.jsonl.torn")).unwrap_or_default();
        prop_assert_eq!(report.torn_tail, !torn.is_empty());
        let mut kept = fs::read(&path).expect("file");
        kept.extend_from_slice(torn.strip_suffix(b"\n").unwrap_or_default());
        prop_assert!(kept.starts_with(&bytes) && kept.len() <= bytes.len() + 1);
        context.append(&[Message::user("on")]).expect("append");
        let id = context.checkpoint(false).expect("checkpoint");
        let (again, second) = Context::open(folder.path()).expect("open");
        prop_assert_eq!(again.history(), context.history());
        prop_assert_eq!(again.checkpoints(), context.checkpoints());
        prop_assert_eq!(second.bad_lines, report.bad_lines);
        let history = context.history().to_vec();
        context.revert_to(id).expect("revert");
        prop_assert_eq!(context.history(), history);
    }
}
