//! Random lives of a context, compared after every step with a list of records.

use std::fs::{self, OpenOptions};
use std::io::Write;

use proptest::prelude::*;

use super::super::ContextError;
use super::super::disk::{Deed, plan, plan::Fault};
use super::super::record::Record;
use super::model::{Model, Work};
use super::*;

#[derive(Debug, Clone)]
enum Step {
    /// It works.
    Do(Work),
    /// One deed of it fails.
    Fail {
        work: Work,
        at: usize,
        errno: i32,
    },
    /// The program is killed in it, and perhaps once more while it opens the session again.
    Kill {
        work: Work,
        at: usize,
        written: usize,
        links: bool,
        again: Option<usize>,
    },
    Reopen,
    /// Life goes on in a fork.
    Fork {
        pick: usize,
    },
    TornTail {
        text: String,
        cut: usize,
    },
    LostNewline,
}

fn work() -> impl Strategy<Value = Work> {
    let words = || prop::sample::select(vec!["", "a", "run it", "\"q\\\n\t", "压é😀", "\u{1}x"]);
    let text = move || words().prop_map(str::to_owned);
    let tokens = || prop::option::of(0..5000_u64);
    prop_oneof![
        1 => text().prop_map(Work::Freeze),
        4 => prop::collection::vec(text(), 0..3).prop_map(Work::Append),
        2 => (0..9000_u64).prop_map(Work::Usage),
        4 => (tokens(), tokens(), 0..3_usize, text())
            .prop_map(|(input, total, calls, text)| Work::Grow { input, total, calls, text }),
        5 => any::<bool>().prop_map(|note| Work::Checkpoint { note }),
        3 => any::<usize>().prop_map(|pick| Work::Revert { pick }),
        1 => Just(Work::Clear),
        1 => (prop::collection::vec(text(), 0..3), 0..99_u64)
            .prop_map(|(texts, tokens)| Work::Replace { texts, tokens }),
        2 => any::<usize>().prop_map(|pick| Work::Restore { pick }),
        1 => Just(Work::Sync),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => work().prop_map(Step::Do),
        2 => (work(), 0..14_usize, prop::sample::select(vec![5, 28, 30]))
            .prop_map(|(work, at, errno)| Step::Fail { work, at, errno }),
        4 => (work(), 0..14_usize, 0..400_usize, any::<bool>(), prop::option::of(0..4_usize))
            .prop_map(|(work, at, written, links, again)| Step::Kill { work, at, written, links, again }),
        1 => Just(Step::Reopen),
        1 => any::<usize>().prop_map(|pick| Step::Fork { pick }),
        1 => ("[a-z压]{0,9}", any::<usize>()).prop_map(|(text, cut)| Step::TornTail { text, cut }),
        1 => Just(Step::LostNewline),
    ]
}

/// A session's folder, the context in it, and the model of both.
struct World {
    root: tempfile::TempDir,
    folder: std::path::PathBuf,
    forks: usize,
    context: Context,
    model: Model,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("folder");
        let folder = root.path().join("0");
        fs::create_dir(&folder).expect("folder");
        let context = open(&folder);
        Self { root, folder, forks: 0, context, model: Model::default() }
    }

    fn reopen(&mut self) {
        let (context, report) = Context::open(&self.folder).expect("open");
        assert_eq!(report.bad_lines, []);
        self.context = context;
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Do(work) => {
                let old = self.model.clone();
                let done = work.on_model(&mut self.model, &self.folder);
                match work.on(&mut self.context) {
                    Ok(()) => assert!(done, "{work:?}"),
                    Err(
                        ContextError::UnknownCheckpoint { .. } | ContextError::IsCurrent { .. },
                    ) => {
                        assert!(!done, "{work:?}");
                        self.model = old;
                    }
                    Err(error) => panic!("{work:?}: {error}"),
                }
            }
            Step::Fail { work, at, errno } => self.fail(&work, at, errno),
            Step::Kill { work, at, written, links, again } => {
                let mut states = self.model.after_kill(&work, &self.folder);
                let dead = move |n, deed| {
                    let no_link = !links && deed == Deed::Link;
                    (n >= at || no_link)
                        .then_some(Fault { errno: 5, written: if n == at { written } else { 0 } })
                };
                let (result, _) = plan::during(dead, || work.on(&mut self.context).is_ok());
                if let Some(again) = again {
                    let dead = move |n, _| (n >= again).then_some(Fault { errno: 5, written: 0 });
                    plan::during(dead, || Context::open(&self.folder).map(drop)).0.expect("open");
                }
                self.reopen();
                if result {
                    // It had been acknowledged.
                    states = states.split_off(states.len() - 1);
                }
                let found = |model: &Model| model.difference(&self.context, &self.folder).is_none();
                let now = states.iter().find(|model| found(model));
                self.model = now.unwrap_or_else(|| panic!("neither old nor new: {work:?}")).clone();
            }
            Step::Reopen => self.reopen(),
            Step::Fork { pick } => {
                let (model, at) = self.model.forked(pick);
                self.forks += 1;
                let folder = self.root.path().join(self.forks.to_string());
                fs::create_dir(&folder).expect("folder");
                super::super::fork(&self.folder, &folder, at).expect("fork");
                assert!(self.model.difference(&open(&self.folder), &self.folder).is_none());
                (self.folder, self.model) = (folder, model);
                self.reopen();
            }
            Step::TornTail { text, cut } => self.tear(text, cut),
            Step::LostNewline => {
                let path = self.folder.join(CONTEXT_FILE);
                let bytes = fs::read(&path).unwrap_or_default();
                if let [whole @ .., b'\n'] = bytes.as_slice() {
                    fs::write(&path, whole).expect("file");
                    self.context = open(&self.folder);
                }
            }
        }
    }

    fn fail(&mut self, work: &Work, at: usize, errno: i32) {
        let mut new = self.model.clone();
        let can = work.on_model(&mut new, &self.folder);
        let once = move |n, _| (n == at).then_some(Fault { errno, written: at * 9 });
        if plan::during(once, || work.on(&mut self.context)).0.is_ok() {
            assert!(can);
            self.model = new;
        }
    }

    fn tear(&mut self, text: String, cut: usize) {
        let path = self.folder.join(CONTEXT_FILE);
        let mut line = Vec::new();
        Record::Message(Message::user(text)).write(&mut line).expect("line");
        let torn = &line[..1 + cut % (line.len() - 2)];
        let mut file = OpenOptions::new().create(true).append(true).open(&path).expect("file");
        file.write_all(torn).expect("tail");
        let (opened, report) = Context::open(&self.folder).expect("open");
        assert!(report.torn_tail && report.bad_lines.is_empty());
        let kept = fs::read(self.folder.join("context.jsonl.torn")).expect("kept");
        assert!(kept.ends_with(&[torn, b"\n"].concat()));
        self.context = opened;
    }

    fn check(&self, after: &str) {
        if let Some(difference) = self.model.difference(&self.context, &self.folder) {
            panic!("after {after}: {difference} differs");
        }
    }
}

fn live(steps: Vec<Step>) {
    let mut world = World::new();
    for step in steps {
        let told = format!("{step:?}");
        world.take(step);
        world.check(&told);
    }
    world.reopen();
    world.check("reopening");
    world.model.check_transcripts(&world.context);
    let mut left = names(&world.folder);
    left.retain(|name| !name.starts_with("context_") && !name.ends_with(".torn"));
    assert!(left.is_empty() || left == [CONTEXT_FILE], "{left:?}");
}

// Together 10,000 lives, in several tests so that they run side by side.
proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]
    #[test]
    fn any_short_life_of_a_context_is_the_list_of_its_records(
        steps in prop::collection::vec(step(), 1..6)
    ) {
        live(steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_900))]
    #[test]
    fn any_life_of_a_context_is_the_list_of_its_records(
        steps in prop::collection::vec(step(), 1..10)
    ) {
        live(steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn any_long_life_of_a_context_is_the_list_of_its_records(
        steps in prop::collection::vec(step(), 20..60)
    ) {
        live(steps);
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
