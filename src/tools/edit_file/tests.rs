use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::message::DisplayBlock;
use crate::tools::testing::Bench;

async fn run(bench: &Bench, edit: Value) -> ToolReturn {
    bench.call(&EditFile, json!({"path": "a.txt", "edit": edit})).await
}

#[tokio::test]
async fn one_edit_replaces_the_first_match_and_tells_of_others() {
    let bench = Bench::new();
    bench.file("a.txt", "x = 1\nx = 1\n");
    let result = run(&bench, json!({"old": "x = 1", "new": "y = 2"})).await;
    assert_eq!(bench.read("a.txt"), "y = 2\nx = 1\n");
    assert_eq!(
        result.message,
        "File successfully edited. Applied 1 edit(s) with 1 total replacement(s). \
         The old string occurs 2 times; only the first was replaced."
    );
    let asked = bench.asked();
    assert_eq!((asked[0].action.as_str(), asked.len()), ("edit file", 1));
    assert!(asked[0].description.starts_with("Edit file `/"));
    assert!(
        matches!(&asked[0].display[..], [DisplayBlock::Diff(diff)] if diff.new_text == "y = 2\nx = 1")
    );
}

#[tokio::test]
async fn a_list_is_made_in_order_and_all_or_none() {
    let bench = Bench::new();
    bench.file("a.txt", "a a b");
    let edits = json!([{"old": "a", "new": "c", "replace_all": true}, {"old": "c b", "new": "d"}]);
    let result = run(&bench, edits).await;
    assert_eq!(bench.read("a.txt"), "c d");
    assert!(result.message.contains("Applied 2 edit(s) with 3 total"), "{}", result.message);
    let half = run(&bench, json!([{"old": "c", "new": "e"}, {"old": "zzz", "new": "y"}])).await;
    assert!(half.message.contains("old string of edit 2 was not found"), "{}", half.message);
    assert_eq!(bench.read("a.txt"), "c d");
    assert_eq!(bench.asked().len(), 1);
}

#[tokio::test]
async fn crlf_files_are_matched_with_lf_text_and_stay_crlf() {
    let bench = Bench::new();
    bench.file("a.txt", "one\r\ntwo\r\nthree\r\n");
    run(&bench, json!({"old": "one\ntwo", "new": "1\n2\n2b"})).await;
    assert_eq!(bench.read("a.txt"), "1\r\n2\r\n2b\r\nthree\r\n");
    run(&bench, json!({"old": "three", "new": "3\n4"})).await;
    assert_eq!(bench.read("a.txt"), "1\r\n2\r\n2b\r\n3\r\n4\r\n");
    let bench = Bench::new();
    bench.file("a.txt", "lf\nand\r\ncrlf\n");
    run(&bench, json!({"old": "lf\nand", "new": "x\ny"})).await;
    assert_eq!(bench.read("a.txt"), "x\ny\r\ncrlf\n");
}

#[tokio::test]
async fn edits_that_do_nothing_are_refused_with_the_reason() {
    let bench = Bench::new();
    bench.file("a.txt", "fn main() {\n    go();\n}\n");
    let message = |result: ToolReturn| {
        assert!(result.is_error);
        result.message
    };
    let missing = message(run(&bench, json!({"old": "stop", "new": "x"})).await);
    assert!(missing.contains("The old string was not found in the file."), "{missing}");
    let spaces = message(run(&bench, json!({"old": "fn main() {\n\tgo();", "new": "x"})).await);
    assert!(spaces.contains("At line 1 the same text stands"), "{spaces}");
    let same = message(run(&bench, json!({"old": "go", "new": "go"})).await);
    assert!(same.contains("are the same"), "{same}");
    let empty = message(run(&bench, json!({"old": "", "new": "x"})).await);
    assert!(empty.contains("is empty"), "{empty}");
    let circle = json!([{"old": "go", "new": "come"}, {"old": "come", "new": "go"}]);
    assert!(message(run(&bench, circle).await).contains("change nothing"));
    assert!(message(run(&bench, json!([])).await).contains("empty"));
    assert!(bench.asked().is_empty());
}

#[tokio::test]
async fn bad_targets_and_bad_arguments() {
    let bench = Bench::new();
    bench.file("b.txt", "x");
    let missing = run(&bench, json!({"old": "x", "new": "y"})).await;
    assert!(missing.message.contains("Did you mean `b.txt`?"), "{}", missing.message);
    bench.file("a.txt", b"caf\xe9");
    assert!(run(&bench, json!({"old": "c", "new": "d"})).await.message.contains("not UTF-8"));
    let bad = run(&bench, json!({"old": "c"})).await;
    assert!(bad.message.contains("parameter `edit.new` is missing"), "{}", bad.message);
    let bad = run(&bench, json!([{"old": "c", "new": 1}])).await;
    assert!(bad.message.contains("parameter `edit[0].new` must be a string"), "{}", bad.message);
}

#[tokio::test]
async fn a_file_changed_before_the_answer_is_left_alone() {
    let bench = Bench::new();
    let path = bench.file("a.txt", "one");
    bench.before_answer(move || std::fs::write(&path, "one!").expect("write"));
    let result = run(&bench, json!({"old": "one", "new": "two"})).await;
    assert!(result.is_error && result.message.contains("read the file again"));
    assert_eq!(bench.read("a.txt"), "one!");
}

#[tokio::test]
async fn a_rejected_edit_changes_nothing() {
    let bench = Bench::new();
    bench.file("a.txt", "one");
    bench.reject("");
    let result = run(&bench, json!({"old": "one", "new": "two"})).await;
    assert_eq!(result.brief(), Some("Rejected by user"));
    assert_eq!(bench.read("a.txt"), "one");
}

proptest! {
    #[test]
    fn what_is_not_replaced_stays(
        before in "[a-c\r\n]{0,20}", old in "[x-z]{1,5}", new in "[a-z\n]{0,9}", after in "[a-c\r\n]{0,20}",
    ) {
        prop_assume!(old != new);
        let edit = Edit { old: old.clone(), new, replace_all: false };
        let text = format!("{before}{old}{after}");
        let done = replace::apply_all(&text, &[edit]).expect("found");
        prop_assert!(done.text.starts_with(&before) && done.text.ends_with(&after));
        prop_assert_eq!(done.replacements, 1);
    }
}

#[tokio::test]
async fn a_file_changed_since_it_was_read_is_not_edited_until_it_is_read_again() {
    use crate::tools::read_file::ReadFile;
    let bench = Bench::new();
    let edit = json!({"old": "one", "new": "1"});
    let path = bench.file("a.txt", "one one one");
    bench.call(&ReadFile, json!({"path": "a.txt"})).await;
    // Touched, not changed: the same content is the same file.
    std::fs::write(&path, "one one one").expect("touch");
    assert!(!run(&bench, edit.clone()).await.is_error);
    assert!(!run(&bench, edit.clone()).await.is_error, "its own change is none of somebody else's");
    std::fs::write(&path, "zero one").expect("write");
    let refused = run(&bench, edit.clone()).await;
    assert_eq!(refused.brief(), Some("File changed since it was read"));
    assert_eq!((bench.read("a.txt").as_str(), bench.asked().len()), ("zero one", 2));
    bench.call(&ReadFile, json!({"path": "a.txt"})).await;
    assert!(!run(&bench, edit).await.is_error);
    assert_eq!(bench.read("a.txt"), "zero 1");
}
