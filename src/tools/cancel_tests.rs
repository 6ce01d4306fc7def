//! Cancelling: the tools that walk and read let go when their turn is cancelled. Those of Bash and
//! FetchURL stand with them.

use std::fs;

use serde_json::json;

use super::glob::Glob;
use super::grep::Grep;
use super::ls::Ls;
use super::read_file::ReadFile;
use super::testing::Bench;
use super::tool::Tool;

/// A tree that takes a while to walk, with a file that takes a while to read.
fn bench() -> Bench {
    let bench = Bench::new();
    for folder in 0..20 {
        let folder = bench.path(&format!("d{folder}"));
        fs::create_dir(&folder).expect("folder");
        for file in 0..50 {
            fs::write(folder.join(format!("f{file}.txt")), "hay\n".repeat(200)).expect("file");
        }
    }
    bench.file("big.txt", "hay hay hay\n".repeat(500_000));
    bench
}

#[tokio::test]
async fn a_cancelled_turn_ends_walking_searching_and_reading() {
    let bench = bench();
    bench.context.cancelled.cancel();
    for (tool, arguments) in [
        (&Grep as &dyn Tool, json!({"pattern": "needle"})),
        (&Glob, json!({"pattern": "d*/**/*.txt"})),
        (&Ls, json!({"depth": 2})),
        (&ReadFile, json!({"path": "big.txt"})),
    ] {
        let result = bench.call(tool, arguments).await;
        assert_eq!(result.brief(), Some("Cancelled"), "{}: {}", tool.name(), result.message);
    }
}
