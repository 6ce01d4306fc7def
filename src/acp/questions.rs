//! Questions of the agent: as a form where the editor shows forms, else as permission requests with
//! the answers as options.

use std::collections::BTreeMap;

use agent_client_protocol_schema::v1 as acp;
use serde_json::json;

use super::client::Client;
use super::desk;
use super::tell::Named;
use crate::wire::{Question, QuestionAnswer, QuestionOption, QuestionRequest};

const FORM: &str = "elicitation/create";
/// What agents mark an answer in other words with.
const OTHER: &str = "_askUserQuestionCustomAnswer";
const SKIP: &str = "skip";

/// Asks questions. Where one is not answered all are dismissed.
pub(super) async fn ask(
    client: &Client,
    session: &str,
    request: &QuestionRequest,
    call: Option<Named>,
) -> QuestionAnswer {
    let call = call.map(|call| call.id);
    let answers = match client.can().show_forms {
        true => match form(client, session, &request.questions, call.clone()).await {
            Some(answers) => answers,
            None => options(client, session, request, call).await,
        },
        false => options(client, session, request, call).await,
    };
    QuestionAnswer { request_id: request.id.clone(), answers }
}

/// One permission request for each question.
async fn options(
    client: &Client,
    session: &str,
    request: &QuestionRequest,
    call: Option<String>,
) -> BTreeMap<String, String> {
    let mut answers = BTreeMap::new();
    let id = call.unwrap_or_else(|| request.id.clone());
    for question in &request.questions {
        let Some(label) = choice(client, session, &id, question).await else {
            return BTreeMap::new();
        };
        answers.insert(question.question.clone(), label);
    }
    answers
}

async fn choice(client: &Client, session: &str, id: &str, question: &Question) -> Option<String> {
    let mut options: Vec<acp::PermissionOption> = question
        .options
        .iter()
        .enumerate()
        .map(|(index, option)| {
            acp::PermissionOption::new(index.to_string(), option.label.clone(), kind(option))
        })
        .collect();
    let skip = acp::PermissionOptionKind::RejectOnce;
    options.push(acp::PermissionOption::new(SKIP, "Do not answer", skip));
    let mut text = question.question.clone();
    if !question.body.is_empty() {
        text.push_str(&format!("\n\n{}", question.body));
    }
    for option in question.options.iter().filter(|option| !option.description.is_empty()) {
        text.push_str(&format!("\n- {}: {}", option.label, option.description));
    }
    let fields = acp::ToolCallUpdateFields::new()
        .title(question.question.clone())
        .content(vec![text.into()]);
    let call = acp::ToolCallUpdate::new(id.to_owned(), fields);
    let chosen = desk::ask(client, session, call, options).await?;
    let index: usize = chosen.parse().ok()?;
    question.options.get(index).map(|option| option.label.clone())
}

/// Editors give a no another colour.
fn kind(option: &QuestionOption) -> acp::PermissionOptionKind {
    match option.label.split(' ').next() {
        Some("No" | "Reject") => acp::PermissionOptionKind::RejectOnce,
        _ => acp::PermissionOptionKind::AllowOnce,
    }
}

/// All questions in one form. None when the editor shows none after all.
async fn form(
    client: &Client,
    session: &str,
    questions: &[Question],
    call: Option<String>,
) -> Option<BTreeMap<String, String>> {
    let scope = acp::ElicitationSessionScope::new(session.to_owned())
        .tool_call_id(call.map(acp::ToolCallId::from));
    let message = match questions {
        [one] if one.body.is_empty() => one.question.clone(),
        [one] => format!("{}\n\n{}", one.question, one.body),
        _ => "The agent has questions.".to_owned(),
    };
    let mode = acp::ElicitationFormMode::new(scope, schema(questions));
    let request = acp::CreateElicitationRequest::new(mode, message);
    match client.call::<acp::CreateElicitationResponse>(FORM, &request).await {
        Ok(response) => match response.action {
            acp::ElicitationAction::Accept(accepted) => {
                Some(given(questions, &accepted.content.unwrap_or_default()))
            }
            _ => Some(BTreeMap::new()),
        },
        Err(error) => {
            // Some libraries say that they have forms, and then refuse them or answer nothing.
            tracing::warn!(error = error.message, "the editor did not show a form");
            None
        }
    }
}

/// The name of a question's field, and of the one for an answer in other words. Fields are shown in
/// the order of their names.
fn names(at: usize) -> (String, String) {
    (format!("question{at}"), format!("question{at}_other"))
}

fn schema(questions: &[Question]) -> acp::ElicitationSchema {
    let mut schema = acp::ElicitationSchema::new();
    for (at, question) in questions.iter().enumerate() {
        let (answer, other) = names(at + 1);
        let choices = question.options.iter().map(|option| {
            let about = (!option.description.is_empty()).then(|| option.description.clone());
            acp::EnumOption::new(option.label.clone(), option.label.clone()).description(about)
        });
        let about = (!question.body.is_empty()).then(|| question.body.clone());
        // Not required: the other field may answer.
        schema = if question.multi_select {
            let field = acp::MultiSelectPropertySchema::titled(choices.collect())
                .title(question.question.clone())
                .description(about);
            schema.property(answer.clone(), field, false)
        } else {
            let field = acp::StringPropertySchema::new()
                .title(question.question.clone())
                .description(about)
                .one_of(choices.collect::<Vec<_>>());
            schema.property(answer.clone(), field, false)
        };
        let name = if question.other_label.is_empty() { "Other" } else { &question.other_label };
        let about = match question.other_description.as_str() {
            "" => "An answer in your own words",
            about => about,
        };
        // By this mark editors know that the field belongs to the one before it.
        let mut belongs = serde_json::Map::new();
        belongs.insert(OTHER.to_owned(), json!({ "questionId": answer }));
        let field = acp::StringPropertySchema::new()
            .title(name.to_owned())
            .description(about.to_owned())
            .meta(belongs);
        schema = schema.property(other, field, false);
    }
    schema
}

/// What was filled in. Words of one's own count more than a choice.
fn given(
    questions: &[Question],
    content: &BTreeMap<String, acp::ElicitationContentValue>,
) -> BTreeMap<String, String> {
    let text = |name: &str| match content.get(name) {
        Some(acp::ElicitationContentValue::String(text)) => text.trim().to_owned(),
        Some(acp::ElicitationContentValue::StringArray(several)) => several.join(", "),
        _ => String::new(),
    };
    let mut answers = BTreeMap::new();
    for (at, question) in questions.iter().enumerate() {
        let (chosen, other) = names(at + 1);
        let (chosen, other) = (text(&chosen), text(&other));
        let answer = match (chosen.is_empty(), other.is_empty()) {
            (false, false) if question.multi_select => format!("{chosen}, {other}"),
            (_, false) => other,
            _ => chosen,
        };
        if !answer.is_empty() {
            answers.insert(question.question.clone(), answer);
        }
    }
    answers
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn asked() -> Vec<Question> {
        let question = |text: &str, multi_select| Question {
            question: text.to_owned(),
            header: String::new(),
            options: vec![
                QuestionOption { label: "A".into(), description: "first".into() },
                QuestionOption { label: "B".into(), description: String::new() },
            ],
            multi_select,
            body: String::new(),
            other_label: String::new(),
            other_description: String::new(),
        };
        vec![question("Which?", false), question("Which ones?", true)]
    }

    #[test]
    fn a_form_has_a_field_for_each_question_and_one_for_other_words() {
        let schema = serde_json::to_value(schema(&asked())).expect("JSON");
        let fields = &schema["properties"];
        assert_eq!(fields["question1"]["type"], "string");
        assert_eq!(fields["question1"]["title"], "Which?");
        assert_eq!(fields["question1"]["oneOf"][0]["const"], "A");
        assert_eq!(fields["question1"]["oneOf"][0]["description"], "first");
        assert_eq!(fields["question2"]["type"], "array");
        assert_eq!(fields["question2_other"]["title"], "Other");
        let belongs = &fields["question2_other"]["_meta"]["_askUserQuestionCustomAnswer"];
        assert_eq!(belongs["questionId"], "question2");
        assert!(schema["required"].as_array().is_none_or(Vec::is_empty), "{schema}");
    }

    #[test]
    fn what_was_filled_in_is_the_answer() {
        let filled = |content: Value| {
            given(&asked(), &serde_json::from_value(content).expect("a form's content"))
        };
        let answers = |first: &str, second: &str| {
            let pairs = [("Which?", first), ("Which ones?", second)];
            let pairs = pairs.into_iter().filter(|(_, answer)| !answer.is_empty());
            pairs.map(|(question, answer)| (question.to_owned(), answer.to_owned())).collect()
        };
        let content = json!({"question1": "A", "question2": ["A", "B"], "question1_other": "", "question2_other": "C"});
        assert_eq!(filled(content), answers("A", "A, B, C"));
        let content = json!({"question1": "A", "question1_other": "mine", "question2": ["B"]});
        assert_eq!(filled(content), answers("mine", "B"));
        assert_eq!(filled(json!({"question1": 3})), answers("", ""));
    }
}
