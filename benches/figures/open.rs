//! Opening a session of 100,000 records: when its last screen can be seen, when all of it is there, and
//! what it takes of memory.

use std::path::Path;
use std::time::Instant;

use kimi_tui::message::{ContentPart, ToolCall, ToolReturn};
use kimi_tui::ui::effect::EffectId;
use kimi_tui::ui::model::Model;
use kimi_tui::ui::msg::{Msg, Opened};
use kimi_tui::ui::theme::Theme;
use kimi_tui::ui::update::recall::Recall;
use kimi_tui::ui::update::update;
use kimi_tui::ui::view::{Caches, view};
use kimi_tui::wire::record::Recorder;
use kimi_tui::wire::story::{StoryReader, read_tail};
use kimi_tui::wire::{Empty, Event, StepBegin, ToolResult, TurnBegin};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

const RECORDS: usize = 100_000;

/// About 1 KB a record: prose, code that was read, output of commands.
fn write_session(dir: &Path) {
    let mut recorder = Recorder::new(dir);
    let mut say = |event: Event| recorder.record(&event).expect("a folder to write in");
    let mut random = 7_u32;
    let mut word = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ["parser", "token", "the", "of", "error", "fn", "let", "match", "stream", "a", "is", "cell"]
            [(random >> 20) as usize % 12]
    };
    let mut text = |words: usize| {
        let words: Vec<String> = (0..words)
            .map(|n| if n % 11 == 10 { format!("{}\n", word()) } else { word().into() })
            .collect();
        words.join(" ")
    };
    for turn in 0..RECORDS / 10 {
        say(Event::TurnBegin(TurnBegin { user_input: text(30).as_str().into() }));
        say(Event::StepBegin(StepBegin { n: 1 }));
        say(Event::ContentPart(ContentPart::think(text(120))));
        say(Event::ContentPart(ContentPart::text(text(200))));
        for name in ["ReadFile", "Bash"] {
            let id = format!("{name}{turn}");
            let arguments = serde_json::json!({ "path": text(1), "command": text(12) }).to_string();
            say(Event::ToolCall(ToolCall::new(id.as_str(), name, Some(arguments))));
            let return_value = ToolReturn::ok(text(600), "done");
            say(Event::ToolResult(ToolResult { tool_call_id: id, return_value }));
        }
        say(Event::StepBegin(StepBegin { n: 2 }));
        say(Event::TurnEnd(Empty {}));
    }
}

/// Resident memory of this process, in MB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or_default() / 1024
}

/// Prints the figures.
pub(crate) fn print() {
    let folder = tempfile::tempdir().expect("a folder");
    write_session(folder.path());
    let bytes = std::fs::metadata(folder.path().join("wire.jsonl")).map_or(0, |file| file.len());
    let before = resident();
    let began = Instant::now();

    let mut model = Model::new(120, 40);
    let id: EffectId = model.next_effect();
    model.opening = Some(id);
    let (theme, mut caches) = (Theme::dark(), Caches::default());
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).expect("a screen in memory");
    let mut draw = |model: &mut Model, caches: &mut Caches| {
        let mut info = None;
        terminal
            .draw(|frame| info = Some(view(model, &theme, caches, frame, 1000.0)))
            .expect("drawn");
        model.painted(&info.expect("drawn"));
    };
    let events = read_tail(folder.path(), 600).expect("the end");
    let transcript = Box::new(Recall::tail(events, 1000.0));
    let shown = transcript.cells().len();
    drop(update(&mut model, Msg::Preview { id, transcript }, 1000.0));
    draw(&mut model, &mut caches);
    let first = began.elapsed();

    let dir = folder.path().to_owned();
    // As the screen does it: on a thread of its own.
    let read = std::thread::spawn(move || {
        let mut reader = StoryReader::open(&dir).expect("a record");
        let mut past = Recall::new();
        while let Some(recorded) = reader.next().expect("a record") {
            past.take(recorded);
        }
        past.continue_tail(shown);
        past
    });
    let past = read.join().expect("read");
    let whole = began.elapsed();
    let taken = Instant::now();
    drop(update(
        &mut model,
        Msg::Opened { id, result: Ok(Opened { info: Default::default(), past }) },
        1000.0,
    ));
    draw(&mut model, &mut caches);
    let taken = taken.elapsed();
    println!(
        "open {RECORDS} records, {} MB, {} cells: last screen after {:.1} ms, all of it after {:.0} ms, \
         of which the screen was busy for {:.1} ms; memory {} MB more, {} MB in all",
        bytes >> 20,
        model.transcript.cells().len(),
        first.as_secs_f64() * 1e3,
        whole.as_secs_f64() * 1e3,
        taken.as_secs_f64() * 1e3,
        resident().saturating_sub(before),
        resident(),
    );
}
