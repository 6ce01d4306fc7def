//! What a frame, a key and a streamed word cost, and that it does not grow with the session.
//!
//! Compare the rows of one benchmark: 100,000 cells must cost what 100 cost (at most 1.2 times). What
//! divan cannot say, percentiles, opening and memory, is measured and printed by `figures` first.

#![allow(clippy::print_stdout, reason = "it prints figures")]
#![allow(clippy::expect_used, reason = "a bench that cannot be set up may stop")]

use divan::{Bencher, black_box};
use kimi_tui::message::{ContentPart, ToolCall, ToolReturn};
use kimi_tui::ui::model::Model;
use kimi_tui::ui::msg::Msg;
use kimi_tui::ui::theme::Theme;
use kimi_tui::ui::update::update;
use kimi_tui::ui::view::{Caches, view};
use kimi_tui::wire::{DoorMessage, Empty, Event, StepBegin, ToolResult, TurnBegin};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

const CELLS: [usize; 3] = [100, 10_000, 100_000];

#[path = "figures/open.rs"]
mod open;

fn main() {
    if std::env::args().any(|arg| arg == "--bench") {
        open::print();
        print_latency();
    }
    divan::main();
}

/// From a key to the frame that shows it, while an answer streams into 100,000 cells.
fn print_latency() {
    let mut bench = Bench::new(100_000);
    tell(&mut bench.model, Event::TurnBegin(TurnBegin { user_input: "go on".into() }));
    tell(&mut bench.model, Event::StepBegin(StepBegin { n: 1 }));
    let mut micros: Vec<u128> = (0..5000)
        .map(|n| {
            // A paragraph ends now and then, as it does.
            let word = if n % 60 == 59 { "\n\nword " } else { "word " };
            tell(&mut bench.model, Event::ContentPart(ContentPart::text(word)));
            let began = std::time::Instant::now();
            bench.key(if n % 2 == 0 { "x" } else { "backspace" });
            bench.frame();
            began.elapsed().as_micros()
        })
        .collect();
    micros.sort_unstable();
    let at = |share: usize| micros[micros.len() * share / 1000];
    println!(
        "key to frame, streaming, 100,000 cells: p50 {} µs, p99 {} µs, p99.9 {} µs, most {} µs",
        at(500),
        at(990),
        at(999),
        micros[micros.len() - 1]
    );
}

fn tell(model: &mut Model, event: Event) {
    drop(update(model, Msg::Door(DoorMessage::Event(event)), 1000.0));
}

/// A session of about `cells` cells: prompts, answers with code, tool calls.
fn session(cells: usize) -> Model {
    let mut model = Model::new(120, 40);
    for turn in 0..cells / 4 {
        tell(&mut model, Event::TurnBegin(TurnBegin { user_input: "Fix the parser".into() }));
        tell(&mut model, Event::StepBegin(StepBegin { n: 1 }));
        let text =
            format!("Look at **line {turn}**:\n\n```rust\nfn main() {{}}\n```\n\n- one\n- two");
        tell(&mut model, Event::ContentPart(ContentPart::text(text)));
        for name in ["ReadFile", "Bash"] {
            let id = format!("{name}{turn}");
            let call = ToolCall::new(id.as_str(), name, Some("{\"command\": \"ls\"}".into()));
            tell(&mut model, Event::ToolCall(call));
            let return_value = ToolReturn::ok("a\nb\nc\nd\n", "4 lines read.");
            tell(&mut model, Event::ToolResult(ToolResult { tool_call_id: id, return_value }));
        }
        tell(&mut model, Event::TurnEnd(Empty {}));
    }
    model
}

struct Bench {
    model: Model,
    theme: Theme,
    caches: Caches,
    terminal: Terminal<TestBackend>,
}

impl Bench {
    fn new(cells: usize) -> Self {
        let mut bench = Self {
            model: session(cells),
            theme: Theme::dark(),
            caches: Caches::inline(),
            terminal: Terminal::new(TestBackend::new(120, 40)).expect("a screen in memory"),
        };
        bench.frame();
        bench
    }

    fn frame(&mut self) {
        let Self { model, theme, caches, terminal } = self;
        let mut info = None;
        terminal
            .draw(|frame| info = Some(view(model, theme, caches, frame, 1000.0)))
            .expect("a screen in memory");
        model.painted(&info.expect("drawn"));
    }

    fn key(&mut self, key: &str) {
        let key = key.parse().expect("a key");
        drop(black_box(update(&mut self.model, Msg::Key(key), 1000.0)));
    }
}

#[divan::bench(args = CELLS)]
fn warm_frame(bencher: Bencher<'_, '_>, cells: usize) {
    let mut bench = Bench::new(cells);
    bencher.bench_local(|| bench.frame());
}

#[divan::bench(args = CELLS)]
fn frame_without_caches(bencher: Bencher<'_, '_>, cells: usize) {
    let mut bench = Bench::new(cells);
    bencher.bench_local(|| {
        bench.caches = Caches::inline();
        bench.frame();
    });
}

#[divan::bench(args = CELLS)]
fn key_and_frame(bencher: Bencher<'_, '_>, cells: usize) {
    let mut bench = Bench::new(cells);
    bencher.bench_local(|| {
        bench.key("x");
        bench.key("backspace");
        bench.frame();
    });
}

/// A key in a draft of so many bytes: what is left of its cost is the text area's, which wraps all of
/// the text at each change.
#[divan::bench(args = [100, 10_000, 100_000])]
fn key_in_a_draft(bencher: Bencher<'_, '_>, bytes: usize) {
    let mut bench = Bench::new(100);
    let line = "a line of a draft that is long enough to be one of many, as people write them\n";
    let text: String = line.chars().cycle().take(bytes).collect();
    drop(update(&mut bench.model, Msg::Edited(Ok(text)), 1000.0));
    bencher.bench_local(|| {
        bench.key("x");
        bench.key("backspace");
        bench.frame();
    });
}

#[divan::bench(args = CELLS)]
fn page_up_and_down(bencher: Bencher<'_, '_>, cells: usize) {
    let mut bench = Bench::new(cells);
    bencher.bench_local(|| {
        bench.key("pageup");
        bench.frame();
        bench.key("pagedown");
        bench.frame();
    });
}

#[divan::bench(args = CELLS)]
fn streamed_word_and_frame(bencher: Bencher<'_, '_>, cells: usize) {
    let mut bench = Bench::new(cells);
    tell(&mut bench.model, Event::TurnBegin(TurnBegin { user_input: "go on".into() }));
    tell(&mut bench.model, Event::StepBegin(StepBegin { n: 1 }));
    bencher.bench_local(|| {
        tell(&mut bench.model, Event::ContentPart(ContentPart::text("word ")));
        bench.frame();
    });
}
