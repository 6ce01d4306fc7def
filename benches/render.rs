//! How the cost of drawing grows: with the message, with the change, with the list.
//!
//! What must not grow: a delta of a 64 KB message against one of an 8 KB message.

use divan::{Bencher, black_box};
use kimi_tui::message::DiffBlock;
use kimi_tui::ui::render::diff::{Beside, Diff, Laid};
use kimi_tui::ui::render::highlight::{HighlightCache, HighlightJob, run};
use kimi_tui::ui::render::markdown::markdown;
use kimi_tui::ui::render::stream::MarkdownStream;
use kimi_tui::ui::render::wrap::wrap;
use kimi_tui::ui::theme::Theme;
use ratatui::text::Line;

const KB: usize = 1024;

fn main() {
    divan::main();
}

/// A message as models write them: prose, a list, a table, code.
fn message(bytes: usize) -> String {
    const PART: &str = "## A part\n\nSome *text* with `code` and a [link](https://example.org), long enough to be \
        wrapped at the width of a terminal. 中文也要换行。\n\n- one\n- two with **strong** words\n  1. deep\n\n\
        | a | b |\n|---|---|\n| x | a longer cell |\n\n```rust\nfn main() {\n    let x = \"y\"; // z\n}\n```\n\n";
    let mut text = PART.repeat(bytes / PART.len() + 1);
    let end = (0..=bytes).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.truncate(end);
    text
}

/// A cache with the syntaxes loaded.
fn warm() -> HighlightCache {
    let _ = run(&HighlightJob { language: "rust".to_owned(), code: "".into() });
    HighlightCache::new()
}

/// One word after the other at the end of `source`, which was drawn before.
fn words(bencher: Bencher<'_, '_>, mut source: String) {
    let (theme, hl) = (Theme::dark(), warm());
    let mut stream = MarkdownStream::new();
    stream.update(&source, 100, &theme, &hl);
    let start = source.len();
    bencher.bench_local(|| {
        if source.len() > start + KB {
            source.truncate(start);
        }
        source.push_str(" word");
        black_box(stream.update(&source, 100, &theme, &hl).len())
    });
}

/// One word more at the end of a message that was drawn before.
#[divan::bench(args = [8 * KB, 64 * KB, 512 * KB])]
fn delta(bencher: Bencher<'_, '_>, bytes: usize) {
    words(bencher, message(bytes) + "\n\nThe last paragraph");
}

/// A line more in a block of code that is still open.
#[divan::bench(args = [50, 500, 5000])]
fn delta_in_code(bencher: Bencher<'_, '_>, lines: usize) {
    let (theme, hl) = (Theme::dark(), warm());
    let source = format!("```rust\n{}", "    let x = call(\"y\", 42);\n".repeat(lines));
    let mut stream = MarkdownStream::new();
    let mut grown = source.clone();
    // A frame colours so many lines of it.
    for _ in 0..30 {
        stream.update(&source, 100, &theme, &hl);
    }
    bencher.bench_local(|| {
        if grown.len() > source.len() + 4 * KB {
            grown.truncate(source.len());
        }
        grown.push_str("    x += 1;\n");
        black_box(stream.update(&grown, 100, &theme, &hl).len())
    });
}

/// A word more in the last row of a long table, or item of a long list.
#[divan::bench(args = [("list", 20), ("list", 2000), ("table", 20), ("table", 2000)])]
fn delta_in(bencher: Bencher<'_, '_>, (kind, count): (&str, usize)) {
    let source = match kind {
        "list" => "- an item of **some** words\n".repeat(count) + "- the last",
        _ => format!("| a | b |\n|---|---|\n{}| the last", "| some | words |\n".repeat(count)),
    };
    words(bencher, source);
}

#[divan::bench(args = [8 * KB, 64 * KB])]
fn whole_message(bencher: Bencher<'_, '_>, bytes: usize) {
    let (theme, hl, source) = (Theme::dark(), warm(), message(bytes));
    bencher.bench_local(|| black_box(markdown(&source, 100, &theme, &hl).len()));
}

#[divan::bench(args = ["latin", "chinese"])]
fn wrap_8_kb(bencher: Bencher<'_, '_>, script: &str) {
    let text = match script {
        "latin" => "the quick brown fox jumps over ".repeat(8 * KB / 31),
        _ => "今天天气很好，我们去公园散步吧。".repeat(8 * KB / 48),
    };
    let line = Line::raw(text);
    bencher.bench_local(|| black_box(wrap(&line, 100, &[], &[]).len()));
}

fn change(lines: usize) -> Vec<DiffBlock> {
    let old: String = (0..lines).map(|i| format!("    let value_{i} = call({i});\n")).collect();
    let new = old.replace("5)", "five)");
    vec![DiffBlock {
        path: "main.rs".to_owned(),
        old_text: old,
        new_text: new,
        old_start: 1,
        new_start: 1,
        is_summary: false,
    }]
}

#[divan::bench(args = [100, 10_000])]
fn diff_compare(bencher: Bencher<'_, '_>, lines: usize) {
    let blocks = change(lines);
    bencher.bench_local(|| black_box(Diff::new(&blocks).rows()));
}

/// A change as a card shows it: compared, and its first rows drawn.
#[divan::bench(args = [100, 10_000])]
fn diff_at_once(bencher: Bencher<'_, '_>, lines: usize) {
    let (theme, hl, blocks) = (Theme::dark(), warm(), change(lines));
    bencher.bench_local(|| black_box(Diff::new(&blocks).lines(0..16, 100, &theme, &hl).len()));
}

/// The same, side by side.
#[divan::bench(args = [100, 10_000])]
fn diff_beside_at_once(bencher: Bencher<'_, '_>, lines: usize) {
    let (theme, hl, blocks) = (Theme::dark(), warm(), change(lines));
    bencher.bench_local(|| {
        let diff = Diff::new(&blocks);
        black_box(Beside::new(&diff).lines(0..16, 160, &theme, &hl).len())
    });
}

/// The whole screen, and what is asked for: compared, measured, and a screenful drawn.
#[divan::bench(args = [100, 10_000])]
fn diff_laid_out(bencher: Bencher<'_, '_>, lines: usize) {
    let (theme, hl, blocks) = (Theme::dark(), warm(), change(lines));
    bencher.bench_local(|| {
        let laid = Laid::new(blocks.clone(), true, 160, &theme, &hl);
        black_box(laid.lines(0..50, &theme, &hl).len())
    });
}

/// A screenful of it in the next frame.
#[divan::bench(args = [100, 10_000])]
fn diff_laid_out_again(bencher: Bencher<'_, '_>, lines: usize) {
    let (theme, hl, blocks) = (Theme::dark(), warm(), change(lines));
    let laid = Laid::new(blocks, true, 160, &theme, &hl);
    bencher.bench_local(|| black_box(laid.lines(40..90, &theme, &hl).len()));
}

/// All of it drawn, which nothing does in a frame.
#[divan::bench(args = [100, 10_000])]
fn diff_whole(bencher: Bencher<'_, '_>, lines: usize) {
    let (theme, hl, blocks) = (Theme::dark(), warm(), change(lines));
    bencher.bench_local(|| {
        let diff = Diff::new(&blocks);
        black_box(diff.lines(0..diff.rows(), 100, &theme, &hl).len())
    });
}

#[divan::bench(args = [100, 10_000])]
fn diff_draw_a_screen(bencher: Bencher<'_, '_>, lines: usize) {
    let (theme, hl, blocks) = (Theme::dark(), warm(), change(lines));
    let diff = Diff::new(&blocks);
    bencher.bench_local(|| black_box(diff.lines(40..80, 100, &theme, &hl).len()));
}
