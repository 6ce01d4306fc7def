//! AskUserQuestion: questions with answers to choose from (`kimi-cli` `tools/ask_user/`).

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::tool::{Answers, ToolContext};
use super::typed::{Failure, TypedTool};
use crate::message::ToolReturn;
use crate::wire::{Question, QuestionOption};

const MOST_QUESTIONS: usize = 4;
const OPTIONS: std::ops::RangeInclusive<usize> = 2..=4;

pub(crate) struct AskUserQuestion;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// One to four questions.
    questions: Vec<Asked>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Asked {
    /// The whole question, ending with a question mark.
    question: String,
    /// A word or two for its tab, 12 characters at most.
    #[serde(default)]
    header: String,
    /// Two to four answers.
    options: Vec<Choice>,
    /// May several be chosen?
    #[serde(default)]
    multi_select: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Choice {
    /// The answer, in a few words.
    pub(super) label: String,
    /// What it means or costs.
    #[serde(default)]
    pub(super) description: String,
}

impl From<Choice> for QuestionOption {
    fn from(choice: Choice) -> Self {
        Self { label: choice.label.trim().to_owned(), description: choice.description }
    }
}

impl TypedTool for AskUserQuestion {
    type Params = Params;
    const NAME: &'static str = "AskUserQuestion";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/ask_user_question.md");

    async fn run(&self, params: Params, context: &ToolContext) -> Result<ToolReturn, Failure> {
        check(&params.questions).map_err(|problem| {
            Failure::new(format!("{problem} Nothing was asked."), "Invalid questions")
        })?;
        let questions = params.questions.into_iter().map(Question::from).collect();
        Ok(match context.services.ask(context, questions).await {
            Answers::Given(answers) => {
                ToolReturn::ok(json!({ "answers": answers }).to_string(), "User has answered.")
            }
            Answers::Dismissed => ToolReturn::ok(
                json!({ "answers": {} }).to_string(),
                "The user dismissed the questions without answering. \
                 Do not ask them again; go on with your best judgement.",
            ),
            Answers::Away => ToolReturn::ok(
                json!({ "answers": {} }).to_string(),
                "The user is away and cannot answer. Decide yourself, and say in the end what \
                 you decided.",
            ),
        })
    }
}

impl From<Asked> for Question {
    fn from(asked: Asked) -> Self {
        Self {
            question: asked.question.trim().to_owned(),
            header: asked.header,
            options: asked.options.into_iter().map(QuestionOption::from).collect(),
            multi_select: asked.multi_select,
            body: String::new(),
            other_label: String::new(),
            other_description: String::new(),
        }
    }
}

/// Answers are given by question and label, so each must be there and there once.
fn check(questions: &[Asked]) -> Result<(), String> {
    if questions.is_empty() || questions.len() > MOST_QUESTIONS {
        return Err(format!("Ask 1 to {MOST_QUESTIONS} questions, not {}.", questions.len()));
    }
    let mut seen = HashSet::new();
    for (index, asked) in questions.iter().enumerate() {
        let at = index + 1;
        if asked.question.trim().is_empty() {
            return Err(format!("Question {at} is empty."));
        }
        if !seen.insert(asked.question.trim()) {
            return Err(format!("Question {at} is asked twice."));
        }
        if !OPTIONS.contains(&asked.options.len()) {
            return Err(format!(
                "Question {at} needs 2 to 4 options, not {}.",
                asked.options.len()
            ));
        }
        let mut labels = HashSet::new();
        for option in &asked.options {
            if option.label.trim().is_empty() || !labels.insert(option.label.trim()) {
                return Err(format!("Question {at} has an empty or repeated label."));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::tools::testing::Bench;

    fn ask(labels: &[&str]) -> Value {
        let options: Vec<Value> = labels.iter().map(|label| json!({ "label": label })).collect();
        json!({"questions": [{"question": "Which?", "header": "Pick", "options": options}]})
    }

    #[tokio::test]
    async fn the_model_gets_the_answers_by_question() {
        let bench = Bench::new();
        bench.answer(Answers::Given([("Which?".to_owned(), "B".to_owned())].into()));
        let result = bench.call(&AskUserQuestion, ask(&["A", " B "])).await;
        assert_eq!(result.output.text(), r#"{"answers":{"Which?":"B"}}"#);
        assert_eq!(result.message, "User has answered.");
        assert_eq!(bench.questions()[0].options[1].label, "B");
    }

    #[tokio::test]
    async fn no_answer_is_told_as_what_it_is() {
        let bench = Bench::new();
        bench.answer(Answers::Dismissed);
        let dismissed = bench.call(&AskUserQuestion, ask(&["A", "B"])).await;
        assert!(!dismissed.is_error && dismissed.message.contains("dismissed"));
        bench.answer(Answers::Away);
        let away = bench.call(&AskUserQuestion, ask(&["A", "B"])).await;
        assert!(!away.is_error && away.message.contains("away"));
    }

    #[tokio::test]
    async fn questions_nobody_could_answer_are_not_asked() {
        let bench = Bench::new();
        let twice = {
            let mut twice = ask(&["A", "B"]);
            let first = twice["questions"][0].clone();
            twice["questions"].as_array_mut().expect("list").push(first);
            twice
        };
        for bad in [
            json!({ "questions": [] }),
            ask(&["A"]),
            ask(&["A", "A"]),
            ask(&["A", " "]),
            ask(&["A", "B", "C", "D", "E"]),
            twice,
        ] {
            let result = bench.call(&AskUserQuestion, bad.clone()).await;
            assert!(result.is_error && result.message.contains("Nothing was asked"), "{bad}");
        }
        assert!(bench.questions().is_empty());
    }
}
