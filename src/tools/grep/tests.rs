use std::time::SystemTime;

use serde_json::{Value, json};

use super::*;
use crate::tools::testing::Bench;

async fn grep_with(bench: &Bench, arguments: Value) -> ToolReturn {
    bench.call(&Grep, arguments).await
}

async fn text(bench: &Bench, arguments: Value) -> String {
    let result = grep_with(bench, arguments).await;
    assert!(!result.is_error, "{}", result.message);
    result.output.text()
}

fn project() -> Bench {
    let bench = Bench::new();
    std::fs::create_dir(bench.path(".git")).expect("git");
    bench.file(".gitignore", "target/\n");
    bench.file("a.rs", "fn one() {}\nlet x = 1;\nfn two() {}\n");
    bench.file("src/b.rs", "// FN\nfn three() { fn_() }\n");
    bench.file("src/c.txt", "fn text\r\n");
    bench.file(".hidden/d.rs", "fn hidden\n");
    bench.file(".git/config", "fn git\n");
    bench.file("target/out.rs", "fn built\n");
    bench.file("bin", b"fn \0 binary");
    bench
}

#[tokio::test]
async fn files_are_listed_newest_first_without_ignored_binary_and_vcs_files() {
    let bench = project();
    let now = SystemTime::now();
    for (age, name) in ["src/b.rs", "a.rs", ".hidden/d.rs", "src/c.txt"].iter().enumerate() {
        let file = std::fs::File::options().append(true).open(bench.path(name)).expect("file");
        file.set_modified(now - Duration::from_secs(age as u64 * 10)).expect("time");
    }
    let all = text(&bench, json!({"pattern": "fn"})).await;
    assert_eq!(all, "src/b.rs\na.rs\n.hidden/d.rs\nsrc/c.txt\n");
    let ignored = text(&bench, json!({"pattern": "fn", "include_ignored": true})).await;
    assert!(ignored.contains("target/out.rs") && !ignored.contains(".git/config"));
    assert!(!ignored.contains("bin"));
}

#[tokio::test]
async fn content_has_paths_numbers_and_context() {
    let bench = project();
    let plain = json!({"pattern": "^fn t", "output_mode": "content"});
    assert_eq!(
        text(&bench, plain).await,
        "a.rs:3:fn two() {}\nsrc/b.rs:2:fn three() { fn_() }\nsrc/c.txt:1:fn text\n"
    );
    let context =
        json!({"pattern": "^fn t", "output_mode": "content", "-B": 1, "-n": false, "glob": "*.rs"});
    assert_eq!(
        text(&bench, context).await,
        "a.rs-let x = 1;\na.rs:fn two() {}\n--\nsrc/b.rs-// FN\nsrc/b.rs:fn three() { fn_() }\n"
    );
    bench.file("gap.txt", "hit\n1\n2\n3\nhit\n");
    let gap = json!({"pattern": "hit", "output_mode": "content", "-C": 1, "path": "gap.txt"});
    assert_eq!(
        text(&bench, gap).await,
        "gap.txt:1:hit\ngap.txt-2-1\n--\ngap.txt-4-3\ngap.txt:5:hit\n"
    );
}

#[tokio::test]
async fn matches_are_counted() {
    let bench = project();
    let counts = json!({"pattern": "fn", "output_mode": "count_matches", "type": "rust"});
    let result = grep_with(&bench, counts).await;
    assert_eq!(result.output.text(), ".hidden/d.rs:1\na.rs:2\nsrc/b.rs:2\n");
    assert_eq!(result.message, "Found 5 total occurrences across 3 files.");
}

#[tokio::test]
async fn case_lines_ends_and_spans() {
    let bench = project();
    assert_eq!(text(&bench, json!({"pattern": "FN THREE", "-i": true})).await, "src/b.rs\n");
    assert_eq!(text(&bench, json!({"pattern": "text$"})).await, "src/c.txt\n");
    let span = json!({"pattern": "one.*two", "multiline": true, "output_mode": "content"});
    assert_eq!(
        text(&bench, span).await,
        "a.rs:1:fn one() {}\na.rs:2:let x = 1;\na.rs:3:fn two() {}\n"
    );
    let result = grep_with(&bench, json!({"pattern": "one.*two"})).await;
    assert_eq!((result.is_error, result.message.as_str()), (false, "No matches found"));
}

#[tokio::test]
async fn long_results_are_paged() {
    let bench = Bench::new();
    bench.file("n.txt", (1..=10).map(|n| format!("x{n}\n")).collect::<String>());
    let page = |head_limit: usize, offset: usize| json!({"pattern": "x", "output_mode": "content", "head_limit": head_limit, "offset": offset});
    let first = grep_with(&bench, page(4, 0)).await;
    assert_eq!(
        first.message,
        "Results truncated to 4 lines (total: 10). Use offset=4 to see more."
    );
    let last = grep_with(&bench, page(4, 8)).await;
    assert_eq!(last.output.text(), "n.txt:9:x9\nn.txt:10:x10\n");
    assert_eq!(last.message, "");
    assert_eq!(grep_with(&bench, page(0, 0)).await.output.text().lines().count(), 10);
    assert!(grep_with(&bench, page(4, 99)).await.message.contains("nothing at offset=99"));
}

#[tokio::test]
async fn secrets_are_left_out_with_a_warning() {
    let bench = Bench::new();
    bench.file(".env", "KEY=sk-secret\n");
    bench.file("app.py", "KEY = 1\n");
    for mode in ["files_with_matches", "content", "count_matches"] {
        let result = grep_with(&bench, json!({"pattern": "KEY", "output_mode": mode})).await;
        assert!(!result.output.text().contains(".env"), "{mode}");
        assert!(result.message.contains("left out: .env."), "{}", result.message);
    }
    let direct = json!({"pattern": "KEY", "output_mode": "content", "path": ".env"});
    assert!(!text(&bench, direct).await.contains("secret"));
    let none = grep_with(&bench, json!({"pattern": "= 1"})).await;
    assert!(!none.message.contains(".env"));
}

#[tokio::test]
async fn bad_questions_are_explained() {
    let bench = project();
    let message = async |arguments: Value| {
        let result = grep_with(&bench, arguments).await;
        assert!(result.is_error);
        result.message
    };
    assert!(message(json!({"pattern": "a("})).await.contains("not a valid regular expression"));
    assert!(message(json!({"pattern": "a\\nb"})).await.contains("Set `multiline`"));
    assert!(message(json!({"pattern": "a", "type": "rst2"})).await.contains("no known file type"));
    assert!(message(json!({"pattern": "a", "glob": "a["})).await.contains("not a valid glob"));
    assert!(message(json!({"pattern": "a", "path": "nope"})).await.contains("does not exist"));
    assert!(message(json!({"pattern": "a", "path": ".."})).await.contains("absolute path"));
    assert!(message(json!({})).await.contains("parameter `pattern` is missing"));
}

#[tokio::test]
async fn a_search_ends_with_its_time_and_with_the_turn() {
    let bench = project();
    let params: Params = serde_json::from_value(json!({"pattern": "fn"})).expect("params");
    let late = grep(&params, &bench.context, Duration::ZERO).await.expect_err("late");
    let late = ToolReturn::from(late);
    assert!(late.message.contains("timed out"), "{}", late.message);
    bench.context.cancelled.cancel();
    let result = grep_with(&bench, json!({"pattern": "fn"})).await;
    assert_eq!(result.brief(), Some("Cancelled"));
}

#[tokio::test]
async fn results_are_the_same_every_time() {
    let bench = Bench::new();
    for n in 0..200 {
        bench.file(&format!("d{}/f{n}.txt", n % 7), format!("needle {n}\n"));
    }
    let question = json!({"pattern": "needle", "output_mode": "content"});
    let first = text(&bench, question.clone()).await;
    for _ in 0..5 {
        assert_eq!(text(&bench, question.clone()).await, first);
    }
}
