//! Diagrams that can be walked, diagrams that cannot, and anything else.

use proptest::prelude::*;

use super::*;

/// The flow as lines: `label -> label` or `label -branch-> label`.
fn told(flow: &Flow) -> Vec<String> {
    let label = |at: usize| flow.nodes[at].label.as_str();
    let mut lines = vec![format!("first {}", label(flow.first()))];
    for at in 0..flow.nodes.len() {
        match flow.step(at) {
            Step::End => {}
            Step::Task { prompt, next } => lines.push(format!("{prompt} -> {}", label(next))),
            Step::Decision { prompt, branches } => lines.extend(
                branches.into_iter().map(|(name, to)| format!("{prompt} -{name}-> {}", label(to))),
            ),
        }
    }
    lines
}

const WALK: [&str; 6] = [
    "first Run the tests",
    "BEGIN -> Run the tests",
    "Run the tests -> All green?",
    "All green? -yes-> END",
    "All green? -no-> Fix it",
    "Fix it -> Run the tests",
];

#[test]
fn mermaid_in_its_many_spellings_is_one_flow() {
    let spellings = [
        "flowchart TD\nA([BEGIN]) --> B[Run the tests]\nB --> C{All green?}\nC -->|yes| Z([END])\nC -->|no| D[Fix it]\nD --> B\n",
        "graph LR;\n  A[BEGIN] --> B[\"Run the tests\"] --> C{{All green?}}; C -- yes --> Z((END)); C -- no --> D(Fix it) --> B\n",
        "%% a comment\nflowchart TB\nclassDef x fill:#fff\nA(((BEGIN))):::x ==> B[[Run the tests]]\nB -.-> C{\"All green?\"}\nC -. yes .-> Z[END]\nC == no ==> D[/Fix it/]\nD ---> B\nsubgraph s\nend\n",
        "flowchart TD\nBEGIN --> B[Run the tests]\nB---C{All green?}\nC-->|\"yes\"|END\nC-->|no|D[Fix it]-->B",
    ];
    for spelling in spellings {
        let flow = Flow::mermaid(spelling).unwrap_or_else(|error| panic!("{error}\n{spelling}"));
        assert_eq!(told(&flow), WALK, "{spelling}");
    }
}

#[test]
fn d2_in_its_spellings_is_the_same_flow() {
    let spellings = [
        "direction: right\nBEGIN -> b\nb: Run the tests\nb -> c\nc: All green? {\n  shape: diamond\n}\nc -> END: yes\nc -> d: no\nd: Fix it\nd -> b\n",
        "a: BEGIN; b: \"Run the tests\"\na -> b -> c # a comment\nc: 'All green?'\nc.shape: diamond\nz: END\nc -> z: \"yes\"\nd <- c: no\nd: |md\n  Fix it\n|\nb <- d\n",
    ];
    for spelling in spellings {
        let flow = Flow::d2(spelling).unwrap_or_else(|error| panic!("{error}\n{spelling}"));
        let (mut got, mut wanted) = (told(&flow), WALK.to_vec());
        got.sort();
        wanted.sort_unstable();
        assert_eq!(got, wanted, "{spelling}");
    }
}

#[test]
fn a_diagram_that_cannot_be_walked_says_why() {
    let cases = [
        ("sequenceDiagram\nA->>B: x", "line 1: a flow begins with"),
        ("flowchart TD\nA[x] --> B[END]", "there is no BEGIN box"),
        ("flowchart TD\nA[BEGIN] --> B[x]\nB --> A", "there is no END box"),
        ("flowchart TD\nA[BEGIN] --> B[END]\nC[begin] --> B", "there are 2 BEGIN boxes"),
        ("flowchart TD\nA[BEGIN] --> B[END]\nA --> C[x]\nC --> B", "BEGIN needs exactly one arrow"),
        ("flowchart TD\nA[BEGIN] --> B[x]\nB --> B\nC[END]", "no way leads from BEGIN to END"),
        ("flowchart TD\nA[BEGIN] --> B[x]\nB --> C[END]\nB --> D[y]\nD --> C", "without a label"),
        (
            "flowchart TD\nA[BEGIN] --> B[x]\nB -->|a| C[END]\nB -->|a| D[y]\nD --> C",
            "labelled \"a\" twice",
        ),
        (
            "flowchart TD\nA[BEGIN] --> B[x]\nB -->|a| C[END]\nB -->|b| D[y]",
            "no arrow leads out of \"y\"",
        ),
        ("flowchart TD\nA[BEGIN --> B", "line 2: the box is not closed by ]"),
        ("flowchart TD\nA[BEGIN] --> ", "line 2: a box was expected"),
        ("flowchart TD\nA[BEGIN] ?? B", "line 2: this cannot be read"),
    ];
    for (text, wanted) in cases {
        let error = Flow::mermaid(text).expect_err(text).to_string();
        assert!(error.contains(wanted), "{error}\n{text}");
    }
    for (text, wanted) in [
        ("a <-> b", "line 1: an arrow has one direction"),
        ("a -> ", "line 1: an arrow without a box"),
        ("a: {\n b", "a brace is not closed"),
        ("a: |md\n text", "line 1: the text block is not closed"),
    ] {
        let error = Flow::d2(text).expect_err(text).to_string();
        assert!(error.contains(wanted), "{error}\n{text}");
    }
}

#[test]
fn the_block_is_found_in_the_text_and_lines_are_those_of_the_text() {
    let text = "# Flow\n\n```d2\nBEGIN -> a -> END\na: Do it\n```\n";
    assert_eq!(told(&Flow::in_markdown(text).expect("flow"))[0], "first Do it");
    let error = Flow::in_markdown("x\n```mermaid\nflowchart TD\nA[BEGIN\n```\n").expect_err("box");
    assert_eq!(error.line, Some(4));
    assert!(Flow::in_markdown("x").expect_err("none").to_string().contains("no diagram"));
    assert!(Flow::in_markdown("```d2\n").expect_err("open").to_string().contains("not closed"));
}

proptest! {
    #[test]
    fn no_text_is_too_strange(
        any in "(?s).{0,200}",
        mermaid in "(?s)[ABC\\[\\](){}|<>=.&;\" \n-]{0,120}",
        d2 in "(?s)[ab:{}|<>'\"#;. \n-]{0,120}",
    ) {
        let _ = Flow::in_markdown(&any);
        let _ = Flow::mermaid(&format!("flowchart TD\n{any}"));
        let _ = Flow::mermaid(&format!("flowchart TD\n{mermaid}"));
        let _ = Flow::d2(&any);
        let _ = Flow::d2(&d2);
    }

    /// Whatever is drawn, walking it with any choices stays inside the diagram.
    #[test]
    fn a_ring_of_any_size_is_walked(size in 1_usize..40, turns in 0_usize..80) {
        let mut text = "flowchart TD\nBEGIN --> n0\n".to_owned();
        for at in 0..size {
            let next = (at + 1) % size;
            text.push_str(&format!("n{at} -->|on| n{next}\nn{at} -->|out| END\n"));
        }
        let flow = Flow::mermaid(&text).expect("flow");
        let mut at = flow.first();
        for _ in 0..turns {
            let Step::Decision { branches, .. } = flow.step(at) else { panic!("a decision") };
            prop_assert_eq!(branches.len(), 2);
            at = branches[0].1;
        }
    }
}
