//! What the demo model sees: the last request of a person, and what was done about it since.

use super::offer::{Kind, Offer};
use super::words::Tongue;
use crate::llm::ChatRequest;
use crate::message::{Message, Role, ToolCall, text_of};

const MAIL: &str = "<system>You just got a D-Mail";
const MAIL_CONTENT: &str = "D-Mail content:";
const REJECTED: &str = "The tool call is rejected by the user.";

/// The conversation from the demo model's seat.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    /// What the person asked last; empty when nothing is left of it.
    pub(super) ask: String,
    pub(super) tongue: Tongue,
    /// Was there more than text in it?
    pub(super) has_pictures: bool,
    /// The answers with calls since then, with their results.
    pub(super) steps: Vec<Vec<Done<'a>>>,
    /// A D-Mail the model sent itself, arrived since then.
    pub(super) mail: Option<String>,
    /// A D-Mail by which the person asked.
    pub(super) asked_by_mail: bool,
    /// The first checkpoint after the request.
    pub(super) checkpoint: Option<u64>,
    /// The tool whose call the person rejected at the end of what went before.
    pub(super) rejected_before: Option<&'a str>,
    pub(super) offer: Offer<'a>,
}

/// A call and what came of it.
#[derive(Debug)]
pub(super) struct Done<'a> {
    pub(super) call: &'a ToolCall,
    pub(super) outcome: Outcome,
}

/// What came of a call, read from its tool message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Worked { note: String, output: String },
    Failed { reason: String, output: String },
    Rejected { feedback: String },
}

impl<'a> Scene<'a> {
    /// Reads the conversation.
    pub(super) fn read(request: &ChatRequest<'a>) -> Self {
        let mut scene = Self {
            ask: String::new(),
            tongue: Tongue::English,
            has_pictures: false,
            steps: Vec::new(),
            mail: None,
            asked_by_mail: false,
            checkpoint: None,
            rejected_before: None,
            offer: Offer::new(request.tools),
        };
        for message in request.messages {
            match message.role {
                Role::User => scene.hear(message),
                Role::Assistant if message.calls().is_empty() => {}
                Role::Assistant => scene.steps.push(begun(message)),
                Role::Tool => scene.finish(message),
                Role::System => {}
            }
        }
        scene.tongue = Tongue::of(&scene.ask);
        scene
    }

    fn hear(&mut self, message: &Message) {
        let text = text_of(&message.content, "\n");
        if message.is_checkpoint_note() {
            let number = text.trim_start_matches("<system>CHECKPOINT ");
            let number = number.trim_end_matches("</system>").parse().ok();
            self.checkpoint = self.checkpoint.or(number);
        } else if let Some(mail) = text.strip_prefix(MAIL) {
            let content = mail.split_once(MAIL_CONTENT).map_or(mail, |(_, content)| content);
            let content = content.trim().trim_end_matches("</system>").trim().to_owned();
            if mail.contains("the user who sent it") {
                self.begin(content, message);
                self.asked_by_mail = true;
            } else {
                self.mail = Some(content);
                self.steps.clear();
            }
        } else if !is_note(&text) {
            self.begin(text, message);
        }
    }

    fn begin(&mut self, ask: String, message: &Message) {
        let rejected = |done: &&Done<'a>| matches!(done.outcome, Outcome::Rejected { .. });
        self.rejected_before = self
            .steps
            .last()
            .and_then(|step| step.iter().find(rejected))
            .map(|done| done.call.function.name.as_str());
        self.ask = ask;
        self.has_pictures = message.content.iter().any(|part| part.as_text().is_none());
        self.steps.clear();
        self.mail = None;
        self.asked_by_mail = false;
        self.checkpoint = None;
    }

    fn finish(&mut self, message: &Message) {
        let id = message.tool_call_id.as_deref();
        let step = self.steps.last_mut().into_iter().flatten();
        if let Some(done) = step.into_iter().find(|done| Some(done.call.id.as_str()) == id) {
            done.outcome = Outcome::read(message);
        }
    }

    /// The first call of this kind since the request.
    pub(super) fn first(&self, kind: Kind) -> Option<&Done<'a>> {
        self.steps.iter().flatten().find(|done| Kind::of(&done.call.function.name) == Some(kind))
    }

    /// What the first call of this kind gave, if it worked.
    pub(super) fn output(&self, kind: Kind) -> Option<&str> {
        match &self.first(kind)?.outcome {
            Outcome::Worked { output, .. } => Some(output),
            _ => None,
        }
    }
}

/// Is it the program that speaks in the person's place?
fn is_note(text: &str) -> bool {
    let text = text.trim_start();
    ["<system>", "<system-reminder>", "<notification"].iter().any(|tag| text.starts_with(tag))
}

fn begun(message: &Message) -> Vec<Done<'_>> {
    let missing = || Outcome::Failed { reason: "there is no result".into(), output: String::new() };
    message.calls().iter().map(|call| Done { call, outcome: missing() }).collect()
}

impl Outcome {
    /// Reads a tool message: a `<system>` note, then output (`ToolReturn::to_parts`).
    fn read(message: &Message) -> Self {
        let mut texts = message.content.iter().filter_map(|part| part.as_text()).peekable();
        let note = texts
            .next_if(|text| text.starts_with("<system>"))
            .map(|text| text.trim_start_matches("<system>").trim_end_matches("</system>"))
            .unwrap_or_default();
        let output = texts.collect::<Vec<_>>().join("\n");
        let Some(reason) = note.strip_prefix("ERROR: ") else {
            let note = if note == "Tool output is empty." { "" } else { note };
            return Self::Worked { note: note.to_owned(), output };
        };
        if !reason.starts_with(REJECTED) {
            return Self::Failed { reason: reason.to_owned(), output };
        }
        let feedback = reason.split_once("User feedback: ").map_or("", |(_, feedback)| feedback);
        Self::Rejected { feedback: feedback.trim().to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ToolReturn;

    /// As the tools answer when they may not run (`tools/tool.rs`; the layer above is not named).
    fn rejection(feedback: &str) -> ToolReturn {
        let rest = match feedback {
            "" => "Stop what you are doing and wait.".to_owned(),
            feedback => format!("User feedback: {feedback}"),
        };
        ToolReturn::error(format!("{REJECTED} {rest}"), "Rejected")
    }

    fn step(id: &str, result: &ToolReturn) -> [Message; 2] {
        let calls = vec![ToolCall::new(id, "LS", Some("{}".into()))];
        let asks = Message { tool_calls: Some(calls), ..Message::new(Role::Assistant, vec![]) };
        [asks, Message::tool_result(id, result)]
    }

    fn scene(messages: &[Message]) -> Scene<'_> {
        Scene::read(&ChatRequest {
            system: "",
            tools: &[],
            messages,
            cache_key: None,
            input_tokens: None,
        })
    }

    #[test]
    fn notes_of_the_program_are_no_requests() {
        let mut messages = vec![Message::user("list files"), Message::system_note("CHECKPOINT 3")];
        messages.extend(step("a", &ToolReturn::ok("x", "1 entry.")));
        messages.push(Message::system_note("CHECKPOINT 4"));
        messages.push(Message::user("<system-reminder>be brief</system-reminder>"));
        let scene = scene(&messages);
        assert_eq!((scene.ask.as_str(), scene.checkpoint), ("list files", Some(3)));
        let worked = Outcome::Worked { note: "1 entry.".into(), output: "x".into() };
        assert_eq!(scene.steps[0][0].outcome, worked);
        assert_eq!(scene.output(Kind::List), Some("x"));
    }

    #[test]
    fn outcomes_are_told_apart() {
        let outcome = |result: &ToolReturn| Outcome::read(&Message::tool_result("a", result));
        let failed = ToolReturn::error("no such file", "x").with_output("out");
        assert_eq!(
            outcome(&failed),
            Outcome::Failed { reason: "no such file".into(), output: "out".into() }
        );
        for feedback in ["", "use tabs"] {
            let rejected = Outcome::Rejected { feedback: feedback.into() };
            assert_eq!(outcome(&rejection(feedback)), rejected);
        }
        let nothing = Outcome::Worked { note: String::new(), output: String::new() };
        assert_eq!(outcome(&ToolReturn::ok("", "")), nothing);
    }

    #[test]
    fn a_rejection_is_remembered_for_the_next_request_only() {
        let mut messages = vec![Message::user("list files")];
        messages.extend(step("a", &rejection("")));
        messages.push(Message::user("hello"));
        assert_eq!(scene(&messages).rejected_before, Some("LS"));
        messages.push(Message::assistant("hi"));
        messages.push(Message::user("hello again"));
        assert_eq!(scene(&messages).rejected_before, None);
    }

    #[test]
    fn mails_are_told_apart_by_their_sender() {
        let own = crate::prompts::dmail("3 files");
        let messages = [Message::user("go back"), Message::user(own)];
        let seen = scene(&messages);
        assert_eq!((seen.ask.as_str(), seen.mail.as_deref()), ("go back", Some("3 files")));
        let persons = crate::prompts::dmail_from_person("read a.md");
        let messages = [Message::user("go back"), Message::user(persons)];
        let seen = scene(&messages);
        assert_eq!((seen.ask.as_str(), seen.mail, seen.asked_by_mail), ("read a.md", None, true));
    }
}
