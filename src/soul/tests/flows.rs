//! Skills and flows as turns.

use super::*;
use crate::skill::Places;

/// A stage with a skill `notes` and a flow `loop`.
fn stage() -> Stage {
    let folder = tempfile::tempdir().expect("folder");
    let skills = folder.path().join("skills");
    std::fs::create_dir_all(&skills).expect("folder");
    std::fs::write(skills.join("notes.md"), "---\ndescription: d\n---\nWrite notes.\n")
        .expect("skill");
    let flow = "---\ntype: flow\n---\n```d2\nBEGIN -> test -> green\ntest: Run the tests\n\
                green: All green?\ngreen -> END: yes\ngreen -> test: no\n```\n";
    std::fs::write(skills.join("loop.md"), flow).expect("flow");
    std::fs::write(skills.join("broken.md"), "---\ntype: flow\n---\nno diagram\n").expect("flow");
    let share = folder.path().to_owned();
    let places = Places { work_dir: share.clone(), share, merge_all: true, ..Places::default() };
    Stage { skills: Skills::find(&places), ..Stage::default() }
}

#[tokio::test(start_paused = true)]
async fn a_skill_is_a_turn_with_its_text_and_the_request() {
    let mut world = stage().start([vec![text("noted")]]);
    let lines = world.prompt("/skill:Notes about the parser").await;
    let turns = ["TurnBegin /skill:Notes about the parser", "TurnEnd", "Done Finished"];
    assert_eq!(only(&lines, &["TurnBegin", "TurnEnd", "Done"]), turns);
    let history = world.history().await;
    assert!(history[0].starts_with("user: Write notes.\n"), "{history:?}");
    assert!(history[0].ends_with("User request:\nabout the parser"), "{history:?}");
}

#[tokio::test(start_paused = true)]
async fn a_flow_takes_the_branches_the_model_chooses() {
    let mut world = stage().start([
        vec![text("2 failed")],
        vec![text("<choice>no</choice>")],
        vec![text("none failed")],
        vec![text("I think so")],
        vec![text("not <choice>no</choice>: <choice>yes</choice>")],
    ]);
    let lines = world.prompt("/flow:loop").await;
    let begun: Vec<&str> = only(&lines, &["TurnBegin"])
        .into_iter()
        .map(|line| line.lines().next().unwrap_or_default())
        .collect();
    let wanted = [
        "TurnBegin /flow:loop",
        "TurnBegin Run the tests",
        "TurnBegin All green?",
        "TurnBegin Run the tests",
        "TurnBegin All green?",
        "TurnBegin Your last answer named none of the branches.",
    ];
    assert_eq!(begun, wanted);
    assert_eq!(only(&lines, &["TurnEnd"]).len(), 6);
    assert_eq!(outcome(&lines), "Done Finished");
}

#[tokio::test(start_paused = true)]
async fn a_flow_ends_with_a_persons_no_and_with_a_cancel() {
    let run = || vec![call("t1", "Run", &json!({}))];
    let mut world = stage().start([run(), run()]);
    world.send(Command::Prompt("/flow:loop".into()));
    let request = world.request().await;
    world.answer(&request, ApprovalChoice::Reject, "");
    assert_eq!(outcome(&world.rest().await), "Done Finished");
    world.send(Command::Prompt("/flow:loop".into()));
    world.request().await;
    world.send(Command::Cancel);
    assert_eq!(outcome(&world.rest().await), "Done Cancelled");
    assert_eq!(world.script.times_asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_never_chooses_and_a_broken_flow_come_to_an_end() {
    let answers = (0..6).map(|_| vec![text("hm")]);
    let mut world = stage().start(answers);
    let lines = world.prompt("/flow:loop").await;
    assert!(lines.iter().any(|line| line.contains("names none of its branches")), "{lines:?}");
    let lines = world.prompt("/flow:broken").await;
    assert!(lines.iter().any(|line| line.contains("there is no diagram")), "{lines:?}");
    let lines = world.prompt("/flow:notes").await;
    assert!(lines.iter().any(|line| line.contains("Unknown slash command")), "{lines:?}");
}
