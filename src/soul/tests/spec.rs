//! The list of requirements in the documentation names tests that exist, and leaves none out.

use std::collections::BTreeSet;
use std::path::Path;

const PAGE: &str = include_str!("../../../docs/engine.md");

/// All source text below `folder`.
fn source(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).expect("folder") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            source(&path, text);
        } else if path.extension().is_some_and(|end| end == "rs") {
            text.push_str(&std::fs::read_to_string(&path).expect("file"));
        }
    }
}

#[test]
fn every_requirement_is_held_by_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    for folder in ["src", "tests"] {
        source(&root.join(folder), &mut text);
    }
    let (_, table) = PAGE.split_once("| Requirement | What | Tests |").expect("the table");
    let mut held = BTreeSet::new();
    for row in table.lines().filter(|line| line.starts_with("| A") || line.starts_with("| D")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let tests: Vec<&str> = cells[3].split('`').skip(1).step_by(2).collect();
        assert!(!tests.is_empty(), "{row}");
        for test in tests {
            assert!(text.contains(&format!("fn {test}(")), "there is no test {test}: {row}");
        }
        held.extend(cells[1].split(", ").map(str::to_owned));
    }
    for number in (11..=51).chain([61, 62]) {
        assert!(held.contains(&format!("A{number}")), "A{number} is held by no test");
    }
}
