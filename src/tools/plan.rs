//! EnterPlanMode and ExitPlanMode: looking before leaping (`kimi-cli` `tools/plan/`).

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;

use super::ask_user::Choice;
use super::blocking;
use super::tool::{Answers, ToolContext};
use super::typed::{Failure, TypedTool};
use crate::message::ToolReturn;
use crate::wire::{Question, QuestionOption};

/// A longer plan is nobody's to read; the rest is cut off.
const MAX_PLAN_BYTES: u64 = 256 * 1024;
const MOST_OPTIONS: usize = 3;

const YES: &str = "Yes";
const APPROVE: &str = "Approve";
const REJECT: &str = "Reject";
const REJECT_AND_EXIT: &str = "Reject and Exit";
const REVISE: &str = "Revise";

pub(crate) struct EnterPlanMode;

pub(crate) struct ExitPlanMode;

/// No parameters.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Nothing {}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// Up to three alternatives of the plan the person chooses from.
    #[serde(default)]
    options: Option<Vec<Choice>>,
}

/// The error of a tool that would write another file than the plan.
pub(crate) fn only_the_plan(raw: &str, plan: Option<&Path>) -> Failure {
    let plan = plan.map(|path| path.display().to_string()).unwrap_or_default();
    Failure::new(
        format!(
            "Plan mode is on: only the plan file `{plan}` may be written, not `{raw}`. Nothing was \
             changed. Finish the plan and call ExitPlanMode."
        ),
        "Plan mode: not the plan file",
    )
}

impl TypedTool for EnterPlanMode {
    type Params = Nothing;
    const NAME: &'static str = "EnterPlanMode";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/enter_plan_mode.md");

    async fn run(&self, _: Nothing, context: &ToolContext) -> Result<ToolReturn, Failure> {
        if let Some(plan) = context.services.plan_file() {
            return Err(Failure::new(
                format!("Plan mode is on already; the plan file is `{}`.", plan.display()),
                "Already in plan mode",
            ));
        }
        let question = Question {
            question: "Enter plan mode?".to_owned(),
            header: "Plan".to_owned(),
            options: vec![
                option(YES, "It only looks and writes a plan, until you approve it"),
                option("No", "It goes on without a plan"),
            ],
            multi_select: false,
            body: String::new(),
            other_label: String::new(),
            other_description: String::new(),
        };
        let words = match answer(context, question).await {
            Reply::Away => YES.to_owned(),
            Reply::Dismissed => String::new(),
            Reply::Words(words) => words,
        };
        if words != YES {
            let said = match words.as_str() {
                "" | "No" => String::new(),
                words => format!(" They said: {words}"),
            };
            return Ok(ToolReturn::ok(
                "",
                format!("The user does not want plan mode. Go on without it.{said}"),
            ));
        }
        let plan = context
            .services
            .set_plan_mode(true)
            .map_err(|reason| Failure::new(reason, "Plan mode not entered"))?;
        Ok(ToolReturn::ok(
            format!(
                "Plan file: {}\n\nLook at what the task needs, with tools that only read. Write the \
                 plan to that file with WriteFile and EditFile; it is the only file you may \
                 change. Then call ExitPlanMode.",
                plan.display()
            ),
            "Plan mode is on.",
        ))
    }
}

impl TypedTool for ExitPlanMode {
    type Params = Params;
    const NAME: &'static str = "ExitPlanMode";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/exit_plan_mode.md");

    async fn run(&self, params: Params, context: &ToolContext) -> Result<ToolReturn, Failure> {
        let Some(file) = context.services.plan_file() else {
            return Err(Failure::new("Plan mode is not on.", "Not in plan mode"));
        };
        let offered = offered(params.options.unwrap_or_default())?;
        let path = file.clone();
        let content = blocking::run(context, move |_| read(&path)).await?.unwrap_or_default();
        if content.trim().is_empty() {
            return Err(Failure::new(
                format!("There is no plan yet. Write it to `{}` first.", file.display()),
                "No plan yet",
            ));
        }
        context.services.show_plan(&content, &file);
        let labels: Vec<String> = offered.iter().map(|option| option.label.clone()).collect();
        let reply = answer(context, review(offered)).await;
        decide(context, reply, &labels, &content, &file)
    }
}

fn offered(options: Vec<Choice>) -> Result<Vec<QuestionOption>, Failure> {
    let invalid = |what: String| Err(Failure::new(what, "Invalid options"));
    if options.len() > MOST_OPTIONS {
        return invalid(format!("Give at most {MOST_OPTIONS} options, not {}.", options.len()));
    }
    let mut offered: Vec<QuestionOption> = Vec::new();
    for given in options.into_iter().map(QuestionOption::from) {
        let is_taken = [APPROVE, REJECT, REJECT_AND_EXIT, REVISE].contains(&given.label.as_str());
        if given.label.is_empty() || is_taken || offered.iter().any(|o| o.label == given.label) {
            return invalid(format!("The option label \"{}\" cannot be used.", given.label));
        }
        offered.push(given);
    }
    if offered.is_empty() {
        offered.push(option(APPROVE, "Plan mode ends and the plan is carried out"));
    }
    Ok(offered)
}

fn review(mut options: Vec<QuestionOption>) -> Question {
    options.push(option(REJECT, "Stop here; plan mode stays on"));
    options.push(option(REJECT_AND_EXIT, "Stop here and leave plan mode"));
    Question {
        question: "Approve this plan?".to_owned(),
        header: "Plan".to_owned(),
        options,
        multi_select: false,
        body: String::new(),
        other_label: REVISE.to_owned(),
        other_description: "Say what to change in the plan".to_owned(),
    }
}

fn decide(
    context: &ToolContext,
    reply: Reply,
    labels: &[String],
    content: &str,
    file: &Path,
) -> Result<ToolReturn, Failure> {
    let services = &context.services;
    let leave = || {
        services.set_plan_mode(false).map_err(|reason| Failure::new(reason, "Plan mode not left"))
    };
    let words = match reply {
        Reply::Away => labels.first().cloned().unwrap_or_default(),
        Reply::Words(words) => words,
        Reply::Dismissed => {
            services.stop_after_step();
            return Err(Failure::new(
                "The user dismissed the review without a decision. Plan mode stays on; stop and \
                 wait for them.",
                "Review dismissed",
            ));
        }
    };
    match words.as_str() {
        REJECT => {
            services.stop_after_step();
            Err(Failure::new(
                "The user rejected the plan. Plan mode stays on; stop and wait for them.",
                "Plan rejected",
            ))
        }
        REJECT_AND_EXIT => {
            leave()?;
            services.stop_after_step();
            Err(Failure::new(
                "The user rejected the plan and left plan mode. Do not carry it out; stop and wait \
                 for them. Plan mode is off.",
                "Plan rejected, plan mode off",
            ))
        }
        chosen if labels.iter().any(|label| label == chosen) => {
            leave()?;
            let choice =
                if chosen == APPROVE { String::new() } else { format!(" They chose: {chosen}.") };
            Ok(ToolReturn::ok(
                format!("The plan, in `{}`:\n\n{content}", file.display()),
                format!("The user approved the plan.{choice} Plan mode is off. Carry it out."),
            ))
        }
        revise => Err(Failure::new(
            format!(
                "The user wants the plan revised: {revise}\nPlan mode stays on. Change the plan \
                 file and call ExitPlanMode again."
            ),
            format!("Revise: {revise}"),
        )),
    }
}

enum Reply {
    Words(String),
    Dismissed,
    Away,
}

async fn answer(context: &ToolContext, question: Question) -> Reply {
    let text = question.question.clone();
    match context.services.ask(context, vec![question]).await {
        Answers::Given(mut answers) => match answers.remove(&text) {
            Some(words) if !words.trim().is_empty() => Reply::Words(words.trim().to_owned()),
            _ => Reply::Dismissed,
        },
        Answers::Dismissed => Reply::Dismissed,
        Answers::Away => Reply::Away,
    }
}

fn option(label: &str, description: &str) -> QuestionOption {
    QuestionOption { label: label.to_owned(), description: description.to_owned() }
}

fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_PLAN_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::tools::testing::Bench;
    use crate::tools::tool::Tool;

    fn given(question: &str, answer: &str) -> Answers {
        Answers::Given([(question.to_owned(), answer.to_owned())].into())
    }

    async fn review(answer: &str, options: Value) -> (Bench, ToolReturn) {
        let bench = Bench::new();
        bench.plan(Some(&bench.file("plan.md", "1. look\n2. leap\n")));
        bench.answer(given("Approve this plan?", answer));
        let result = bench.call(&ExitPlanMode, json!({ "options": options })).await;
        (bench, result)
    }

    #[tokio::test]
    async fn plan_mode_is_entered_when_the_person_agrees() {
        let bench = Bench::new();
        bench.answer(given("Enter plan mode?", "No"));
        let refused = bench.call(&EnterPlanMode, json!({})).await;
        assert!(!refused.is_error && refused.message.contains("does not want"));
        assert_eq!(bench.planned(), None);
        bench.answer(given("Enter plan mode?", "Yes"));
        let entered = bench.call(&EnterPlanMode, json!({})).await;
        assert!(entered.output.text().contains("Plan file: "), "{entered:?}");
        assert!(bench.planned().is_some());
        assert!(bench.call(&EnterPlanMode, json!({})).await.is_error, "it is on already");
    }

    #[tokio::test]
    async fn an_approved_plan_is_given_back_and_ends_plan_mode() {
        let (bench, result) = review("Approve", Value::Null).await;
        assert!(result.output.text().contains("2. leap"));
        assert!(result.message.contains("Plan mode is off"));
        assert_eq!(bench.planned(), None);
        assert_eq!(bench.shown_plans(), ["1. look\n2. leap\n"]);
        let (_, chosen) = review("Fast", json!([{"label": "Fast"}, {"label": "Safe"}])).await;
        assert!(chosen.message.contains("They chose: Fast."), "{}", chosen.message);
    }

    #[tokio::test]
    async fn every_no_stops_the_turn_and_a_revision_does_not() {
        for (answer, stays_on, stops) in
            [("Reject", true, true), ("Reject and Exit", false, true), ("shorter", true, false)]
        {
            let (bench, result) = review(answer, Value::Null).await;
            assert!(result.is_error, "{answer}");
            assert_eq!(bench.planned().is_some(), stays_on, "{answer}");
            assert_eq!(bench.was_stopped(), stops, "{answer}");
        }
    }

    #[tokio::test]
    async fn without_a_plan_nothing_is_reviewed() {
        let bench = Bench::new();
        assert!(bench.call(&ExitPlanMode, json!({})).await.is_error, "not in plan mode");
        bench.plan(Some(&bench.path("plan.md")));
        let empty = bench.call(&ExitPlanMode, json!({})).await;
        assert!(empty.message.contains("There is no plan yet"), "{}", empty.message);
        bench.file("plan.md", "x");
        let bad = bench.call(&ExitPlanMode, json!({"options": [{"label": "Reject"}]})).await;
        assert!(bad.message.contains("cannot be used"), "{}", bad.message);
        assert!(bench.questions().is_empty());
    }

    #[tokio::test]
    async fn in_plan_mode_only_the_plan_is_written_and_nobody_is_asked_about_it() {
        let bench = Bench::new();
        let plan = bench.path("plan.md");
        bench.plan(Some(&plan));
        let tools: [&dyn Tool; 2] =
            [&crate::tools::write_file::WriteFile, &crate::tools::edit_file::EditFile];
        bench.file("code.rs", "old");
        let write = json!({"path": "code.rs", "content": "new"});
        let edit = json!({"path": "code.rs", "edit": {"old": "old", "new": "new"}});
        for (tool, arguments) in tools.into_iter().zip([write, edit]) {
            let result = bench.call(tool, arguments).await;
            assert!(result.is_error && result.message.contains("Plan mode is on"), "{result:?}");
        }
        assert_eq!(bench.read("code.rs"), "old");
        let path = plan.display().to_string();
        let written = bench.call(tools[0], json!({"path": path, "content": "1. look"})).await;
        assert!(!written.is_error, "{}", written.message);
        assert_eq!(bench.read("plan.md"), "1. look");
        assert!(bench.asked().is_empty(), "no approval");
    }
}
