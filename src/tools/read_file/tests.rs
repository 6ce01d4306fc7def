use std::os::unix::fs::symlink;

use serde_json::json;

use super::*;
use crate::tools::edit_file::EditFile;
use crate::tools::testing::Bench;

async fn read(bench: &Bench, arguments: serde_json::Value) -> ToolReturn {
    bench.call(&ReadFile, arguments).await
}

fn numbered(count: usize) -> String {
    (1..=count).map(|n| format!("line {n}\n")).collect()
}

#[tokio::test]
async fn lines_come_numbered_with_the_total() {
    let bench = Bench::new();
    bench.file("a.txt", "one\r\ntwo\nthree");
    let result = read(&bench, json!({"path": "a.txt"})).await;
    assert_eq!(result.output.text(), "     1\tone\n     2\ttwo\n     3\tthree\n");
    assert_eq!(
        result.message,
        "3 lines read from file starting from line 1. Total lines in file: 3. End of file reached."
    );
    assert!(bench.asked().is_empty());
}

#[tokio::test]
async fn ranges_tails_and_offsets_behind_the_end() {
    let bench = Bench::new();
    bench.file("a.txt", numbered(30));
    let result = read(&bench, json!({"path": "a.txt", "line_offset": 5, "n_lines": 2})).await;
    assert_eq!(result.output.text(), "     5\tline 5\n     6\tline 6\n");
    assert_eq!(
        result.message,
        "2 lines read from file starting from line 5. Total lines in file: 30."
    );
    let tail = read(&bench, json!({"path": "a.txt", "line_offset": -3, "n_lines": 2})).await;
    assert_eq!(tail.output.text(), "    28\tline 28\n    29\tline 29\n");
    let behind = read(&bench, json!({"path": "a.txt", "line_offset": 31})).await;
    assert!(behind.message.starts_with("No lines read from file. Total lines in file: 30."));
    let zero = read(&bench, json!({"path": "a.txt", "line_offset": 0})).await;
    assert!(zero.is_error && zero.message.contains("cannot be 0"));
    let far = read(&bench, json!({"path": "a.txt", "line_offset": -1001})).await;
    assert!(far.message.contains("`line_offset` must be at least -1000"), "{}", far.message);
}

#[tokio::test]
async fn lines_and_bytes_are_limited() {
    let bench = Bench::new();
    bench.file("long.txt", numbered(1500));
    let result = read(&bench, json!({"path": "long.txt", "n_lines": 5000})).await;
    assert!(result.message.ends_with("Total lines in file: 1500. Max 1000 lines reached."));
    bench.file("wide.txt", format!("{}\n", "x".repeat(1500)).repeat(100));
    let result = read(&bench, json!({"path": "wide.txt"})).await;
    assert!(result.message.contains("Max 102400 bytes reached."), "{}", result.message);
    assert!(result.output.text().starts_with("     1\t"));
    let tail = read(&bench, json!({"path": "wide.txt", "line_offset": -100})).await;
    assert!(tail.message.contains("Max 102400 bytes reached."));
    assert!(tail.output.text().lines().last().expect("a line").starts_with("   100\t"));
}

#[tokio::test]
async fn a_long_line_is_cut_at_characters_and_named() {
    let bench = Bench::new();
    bench.file("a.txt", format!("short\n{}\n", "漢".repeat(3000)));
    let result = read(&bench, json!({"path": "a.txt"})).await;
    assert!(result.message.ends_with("Lines [2] were truncated."), "{}", result.message);
    let text = result.output.text();
    let line = text.lines().nth(1).expect("line");
    assert_eq!(line.chars().filter(|c| *c == '漢').count(), 2000);
}

#[tokio::test]
async fn what_is_not_text_is_told() {
    let bench = Bench::new();
    bench.file("a.bin", [0_u8, 1, 2, 3].repeat(512));
    let binary = read(&bench, json!({"path": "a.bin"})).await;
    assert!(binary.is_error && binary.message.contains("2.0 KiB (2048 bytes)"));
    bench.file("latin.txt", b"caf\xe9 and more plain text\n");
    let lossy = read(&bench, json!({"path": "latin.txt"})).await;
    assert!(lossy.output.text().contains("caf\u{fffd} and"));
    assert!(lossy.message.contains("not UTF-8"));
    std::fs::create_dir(bench.path("src")).expect("folder");
    assert!(read(&bench, json!({"path": "src"})).await.message.contains("is a directory"));
    let device = read(&bench, json!({"path": "/dev/zero"})).await;
    assert!(device.message.contains("not a regular file"), "{}", device.message);
}

#[tokio::test]
async fn a_missing_file_suggests_near_names() {
    let bench = Bench::new();
    bench.file("src/Registry.rs", "");
    bench.file("src/output.rs", "");
    let near = read(&bench, json!({"path": "src/outputs.rs"})).await;
    assert!(near.message.contains("Did you mean `src/output.rs`?"), "{}", near.message);
    let case = read(&bench, json!({"path": "src/registry.rs"})).await;
    assert!(case.message.contains("`src/Registry.rs`"), "{}", case.message);
    let folder = read(&bench, json!({"path": "lib/x.rs"})).await;
    assert!(folder.message.contains("folder `lib` does not exist"), "{}", folder.message);
}

#[tokio::test]
async fn secrets_are_refused_by_any_name_and_examples_are_not() {
    let bench = Bench::new();
    bench.file(".env", "KEY=1");
    bench.file(".env.example", "KEY=");
    symlink(bench.path(".env"), bench.path("notes")).expect("link");
    for name in [".env", "notes"] {
        let refused = read(&bench, json!({"path": name})).await;
        assert_eq!(refused.brief(), Some("Sensitive file"), "{name}");
        assert!(refused.output.text().is_empty());
    }
    assert!(!read(&bench, json!({"path": ".env.example"})).await.is_error);
}

#[tokio::test]
async fn outside_needs_an_absolute_path() {
    let bench = Bench::new();
    let outside = bench.root.join("out.txt");
    std::fs::write(&outside, "far\n").expect("file");
    symlink(&outside, bench.path("link")).expect("link");
    for escape in ["../out.txt", "link"] {
        let refused = read(&bench, json!({"path": escape})).await;
        assert!(refused.is_error && refused.message.contains("absolute path"), "{escape}");
    }
    let allowed = read(&bench, json!({"path": outside.to_str().expect("utf-8")})).await;
    assert_eq!(allowed.output.text(), "     1\tfar\n");
}

#[tokio::test]
async fn a_cancelled_turn_ends_the_reading() {
    let bench = Bench::new();
    bench.file("a.txt", numbered(10));
    bench.context.cancelled.cancel();
    assert_eq!(read(&bench, json!({"path": "a.txt"})).await.brief(), Some("Cancelled"));
}

/// `text` in UTF-16, with a mark at the beginning if wanted.
fn utf16(text: &str, is_big: bool, marked: bool) -> Vec<u8> {
    let mark = if marked { "\u{feff}" } else { "" };
    let units: Vec<u16> =
        mark.chars().chain(text.chars()).collect::<String>().encode_utf16().collect();
    units
        .iter()
        .flat_map(|unit| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() })
        .collect()
}

#[tokio::test]
async fn utf_16_is_read_with_ranges_and_tails() {
    let bench = Bench::new();
    // Long enough for several buffers, with characters of two units that lie across their edges.
    let text: String = (1..=9000).map(|n| format!("line {n} 漢😀\r\n")).collect();
    for (is_big, name) in [(false, "little"), (true, "big")] {
        bench.file("wide.txt", utf16(&text, is_big, true));
        let first = read(&bench, json!({"path": "wide.txt", "n_lines": 2})).await;
        assert_eq!(first.output.text(), "     1\tline 1 漢😀\n     2\tline 2 漢😀\n");
        assert!(first.message.contains("Total lines in file: 9000."), "{}", first.message);
        assert!(first.message.contains(&format!("UTF-16 ({name} endian)")), "{}", first.message);
        let tail = read(&bench, json!({"path": "wide.txt", "line_offset": -1})).await;
        assert_eq!(tail.output.text(), "  9000\tline 9000 漢😀\n");
        bench.file("unmarked.txt", utf16("name = value\r\nother = 漢\r\n", is_big, false));
        let unmarked = read(&bench, json!({"path": "unmarked.txt"})).await;
        assert_eq!(unmarked.output.text(), "     1\tname = value\n     2\tother = 漢\n");
    }
    bench.file("half.txt", b"\xff\xfea\0b");
    let half = read(&bench, json!({"path": "half.txt"})).await;
    assert_eq!(half.output.text(), "     1\ta\u{fffd}\n");
    let edit = bench
        .call(&EditFile, json!({"path": "wide.txt", "edit": {"old": "line 1", "new": "x"}}))
        .await;
    assert!(edit.is_error && edit.message.contains("not UTF-8"), "{}", edit.message);
}

#[tokio::test]
async fn other_encodings_are_told_apart_from_binary_files() {
    let bench = Bench::new();
    let chinese = encoding_rs::GB18030.encode("这是一个文本文件，用另一种编码写成。").0.repeat(9);
    bench.file("gbk.txt", chinese);
    let told = read(&bench, json!({"path": "gbk.txt"})).await;
    assert!(told.is_error && told.message.contains("iconv -f GB18030"), "{}", told.message);
    bench.file("utf32.txt", b"\xff\xfe\0\0a\0\0\0");
    let told = read(&bench, json!({"path": "utf32.txt"})).await;
    assert!(told.message.contains("UTF-32"), "{}", told.message);
    bench.file("noise.bin", (0..=255_u8).filter(|b| *b > 0).cycle().take(4000).collect::<Vec<_>>());
    let told = read(&bench, json!({"path": "noise.bin"})).await;
    assert!(told.message.contains("binary"), "{}", told.message);
    // Numbers of two bytes are not text.
    let numbers: Vec<u8> = (0..2000_u16).flat_map(u16::to_le_bytes).collect();
    bench.file("numbers.bin", numbers);
    let told = read(&bench, json!({"path": "numbers.bin"})).await;
    assert!(told.message.contains("binary"), "{}", told.message);
}
