//! A plan of three steps, worked through with real calls while the todo list moves along.

use super::Move;
use super::offer::Kind;
use super::report::plural;
use super::scene::{Outcome, Scene};
use super::words::{Tongue, code};

/// The next answer of the plan.
pub(super) fn next(scene: &Scene<'_>) -> Vec<Move> {
    let tongue = scene.tongue;
    let titles: [&str; 3] = match tongue {
        Tongue::English => ["Look at the folder", "Find its documents", "Read one of them"],
        Tongue::Chinese => ["查看文件夹", "找出文档", "读其中一份"],
    };
    let offer = scene.offer;
    let todo = |done| offer.todo(&titles, done);
    let read = || file_to_read(scene).and_then(|path| offer.read(&path));
    // Built anew for every answer: how far it is follows from the answers that are there.
    let steps: [(&str, &str, Vec<Option<Move>>); 5] = [
        (
            "Three small steps; I will keep a todo list.",
            "分三小步，我用待办列表记录。",
            vec![todo(0)],
        ),
        ("First the folder.", "先看文件夹。", vec![offer.list(".")]),
        ("Then the documents in it.", "再看里面的文档。", vec![todo(1), offer.glob("*.md")]),
        ("One of them I will read.", "读其中一份。", vec![todo(2), read()]),
        ("That was all.", "都做完了。", vec![todo(3)]),
    ];
    let mut possible = steps.into_iter().filter_map(|(english, chinese, calls)| {
        let calls: Vec<Move> = calls.into_iter().flatten().collect();
        (!calls.is_empty()).then(|| (tongue.pick(english, chinese), calls))
    });
    match possible.nth(scene.steps.len()) {
        Some((said, calls)) => {
            let mut moves = vec![Move::Say(said.to_owned())];
            if scene.steps.is_empty() {
                let thought = tongue.pick("A plan with something to see.", "做一个看得见的计划。");
                moves.insert(0, Move::Think(thought.to_owned()));
            }
            moves.extend(calls);
            moves
        }
        None => vec![Move::Say(summary(scene))],
    }
}

/// The file a plan reads: a README if there is one, else a document, else any text file.
pub(super) fn file_to_read(scene: &Scene<'_>) -> Option<String> {
    let listed = [Kind::Glob, Kind::List].into_iter().filter_map(|kind| scene.output(kind));
    let names: Vec<&str> = listed.flat_map(str::lines).flat_map(str::split_whitespace).collect();
    let fits = |name: &&&str, ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    names
        .iter()
        .find(|name| name.to_ascii_lowercase().ends_with("readme.md"))
        .or_else(|| names.iter().find(|name| fits(name, &[".md"])))
        .or_else(|| names.iter().find(|name| fits(name, &[".txt", ".toml", ".rs", ".py"])))
        .map(|name| (*name).to_owned())
}

fn summary(scene: &Scene<'_>) -> String {
    let tongue = scene.tongue;
    let mut lines = vec![tongue.pick("The plan is done:", "计划完成：").to_owned()];
    let mut faults = Vec::new();
    for done in scene.steps.iter().flatten() {
        let name = &done.call.function.name;
        match (&done.outcome, Kind::of(name)) {
            (_, Some(Kind::Todo)) if matches!(done.outcome, Outcome::Worked { .. }) => {}
            (Outcome::Worked { output, .. }, _) => {
                let count = if output.trim().is_empty() { 0 } else { output.lines().count() };
                lines.push(match tongue {
                    Tongue::English => format!("- {} gave {}", code(name), plural(count, "line")),
                    Tongue::Chinese => format!("- {} 得到 {count} 行", code(name)),
                });
            }
            (Outcome::Failed { reason, .. }, _) => faults.push((name, reason.as_str())),
            (Outcome::Rejected { .. }, _) => faults.push((name, tongue.pick("rejected", "被拒绝"))),
        }
    }
    for (name, reason) in faults {
        let failed = tongue.pick("did not work", "没有成功");
        lines.push(format!("- {} {failed}: {reason}", code(name)));
    }
    let end = tongue.pick(
        "\nEvery step left a checkpoint: open the timeline to go back to one. `go back` shows how \
         the model does that itself.",
        "\n每一步都留下了检查点：打开时间线就能回去。说 `回到过去` 可以看模型自己怎么做。",
    );
    lines.push(end.to_owned());
    lines.join("\n")
}
