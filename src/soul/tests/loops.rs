//! What keeps a turn going or stops it: repetition, the ralph loop, a person who is away.

use super::*;

fn same(step: usize) -> Vec<Piece> {
    vec![call(&format!("t{step}"), "Sleep", &json!({"say": "same"}))]
}

/// SPEC A13.
#[tokio::test(start_paused = true)]
async fn the_same_call_again_and_again_is_reminded_of_and_stopped() {
    let mut world = Stage::default().start((1..=13).map(same));
    let lines = world.prompt("go").await;
    assert_eq!(only(&lines, &["StepBegin"]).len(), 12);
    assert!(only(&lines, &["Notification"])[0].contains("circles"), "{lines:?}");
    assert_eq!(outcome(&lines), "Done Finished");
    let history = world.history().await;
    let reminded: Vec<usize> =
        (1..=12).filter(|step| history[step * 2].contains("times in a row")).collect();
    assert_eq!(reminded, [3, 5, 8]);
    assert!(history[6].starts_with("tool t3: same <system-reminder>"), "{}", history[6]);
}

/// SPEC A13: a new turn begins a new count.
#[tokio::test(start_paused = true)]
async fn another_turn_counts_anew() {
    let mut answers: Vec<_> = vec![same(1), same(2), vec![text("ok")]];
    answers.extend([same(3), vec![text("ok")]]);
    let mut world = Stage::default().start(answers);
    world.prompt("go").await;
    world.prompt("go").await;
    assert!(!world.history().await.join("\n").contains("times in a row"));
}

fn ralph(rounds: i64) -> Stage {
    let limits = LoopControl { max_ralph_iterations: rounds, ..LoopControl::default() };
    Stage { limits, ..Stage::default() }
}

#[tokio::test(start_paused = true)]
async fn the_ralph_loop_goes_on_until_the_model_stops_it() {
    let mut world = ralph(-1).start([
        vec![text("first")],
        vec![text("more <choice>CONTINUE</choice>")],
        vec![text("all done <choice>STOP</choice>")],
    ]);
    let lines = world.prompt("build it").await;
    assert_eq!(only(&lines, &["TurnEnd"]).len(), 3);
    assert_eq!(only(&lines, &["TurnBegin build it"]).len(), 3);
    assert_eq!(outcome(&lines), "Done Finished");
    assert_eq!(world.script.times_asked(), 3);
    let asked = row(world.script.messages(1).last().expect("asked"));
    assert!(asked.starts_with("user: build it") && asked.contains("<choice>STOP</choice>"));
}

#[tokio::test(start_paused = true)]
async fn the_ralph_loop_ends_with_its_rounds() {
    let mut world = ralph(1).start([vec![text("one")], vec![text("two")]]);
    world.prompt("go").await;
    assert_eq!(world.script.times_asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_no_and_a_cancel_end_the_ralph_loop() {
    let mut world = ralph(-1).start([vec![call("a", "Run", &json!({}))], vec![Piece::Hang]]);
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    world.answer(&request, ApprovalChoice::Reject, "");
    assert_eq!(outcome(&world.rest().await), "Done Finished");
    assert_eq!(world.script.times_asked(), 1);

    let mut world = ralph(-1).start([vec![text("one")], vec![text("two"), Piece::Hang]]);
    world.send(Command::Prompt("go".into()));
    world.lines_until(|message| line(message) == "text two").await;
    world.send(Command::Cancel);
    let lines = world.rest().await;
    assert_eq!(only(&lines, &["TurnEnd", "Done"]), ["TurnEnd", "TurnEnd", "Done Cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn a_person_who_is_away_is_not_asked_and_the_model_knows() {
    let run = |id: &str| vec![call(id, "Run", &json!({"say": id}))];
    let mut world = Stage { state: state(|state| state.afk = true), ..Stage::default() }.start([
        run("a"),
        vec![text("ok")],
        run("b"),
        vec![text("ok")],
    ]);
    let lines = world.prompt("go").await;
    assert!(only(&lines, &["Approve?"]).is_empty(), "{lines:?}");
    assert!(row(&world.script.messages(0)[1]).contains("away from the keyboard"));
    world.prompt("/afk").await;
    world.send(Command::Prompt("go".into()));
    let request = world.request().await;
    world.answer(&request, ApprovalChoice::Approve, "");
    world.rest().await;
    assert!(row(world.script.messages(2).last().expect("asked")).contains("back at the keyboard"));
    let (folder, context) = world.end().await;
    assert!(!SessionState::load(folder.path()).afk);
    let told = context.history().iter().filter(|m| m.text().contains("keyboard")).count();
    assert_eq!(told, 2);
}
