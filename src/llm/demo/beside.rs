//! Work beside the turn, when it is asked for in words: a command in the background, a subagent.

use serde_json::json;

use super::Move;
use super::offer::Kind;
use super::report::report;
use super::scene::Scene;
use super::wish::{self, Wish};

const IN_THE_BACKGROUND: [&str; 3] = [" in the background", "在后台", "后台"];
const BY_A_SUBAGENT: [&str; 5] =
    ["use a subagent to ", "with a subagent ", "let a subagent ", "用子代理", "让子代理"];
/// How the engine asks a subagent for a longer report.
const MORE: &str = "Your last message is all that";

/// What to do, when the request is of this kind.
pub(super) fn next(scene: &Scene<'_>) -> Option<Vec<Move>> {
    let ask = scene.ask.trim();
    if ask.starts_with(MORE) {
        return Some(vec![Move::Say(
            "I am the demo model at work as a subagent: I made the calls that are listed with my \
             work, they went through, and nothing is left open. A real model would write here what \
             it found, and where, for the agent that gave it the work."
                .to_owned(),
        )]);
    }
    let call = background(scene, ask).or_else(|| subagent(scene, ask))?;
    if let Some(step) = scene.steps.last() {
        let said: Vec<String> = step.iter().map(|done| report(done, scene.tongue)).collect();
        return Some(vec![Move::Say(said.join("\n\n"))]);
    }
    let said = scene.tongue.pick("I will have that done beside us.", "我让它在一旁进行。");
    Some(vec![Move::Say(said.to_owned()), call])
}

fn background(scene: &Scene<'_>, ask: &str) -> Option<Move> {
    let word = IN_THE_BACKGROUND.iter().find(|word| ask.contains(**word))?;
    let Wish::Run { command } = wish::read(&ask.replacen(word, "", 1)) else { return None };
    let arguments = json!({
        "command": command, "run_in_background": true, "description": super::words::short(&command, 40),
    });
    scene.offer.call(Kind::Run, arguments)
}

fn subagent(scene: &Scene<'_>, ask: &str) -> Option<Move> {
    let lower = ask.to_ascii_lowercase();
    let (at, word) = BY_A_SUBAGENT.iter().find_map(|word| Some((lower.find(word)?, *word)))?;
    let work = ask[at + word.len()..].trim();
    let arguments = json!({
        "description": super::words::short(work, 40), "prompt": work, "subagent_type": "coder",
    });
    (!work.is_empty()).then(|| scene.offer.call(Kind::Delegate, arguments)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::{ChatRequest, ToolSpec};
    use crate::message::Message;

    fn moves(ask: &str, tools: &[&str]) -> Option<Vec<Move>> {
        let spec = |name: &&str| ToolSpec {
            name: (*name).into(),
            description: String::new(),
            parameters: json!({}),
        };
        let tools: Vec<ToolSpec> = tools.iter().map(spec).collect();
        let messages = [Message::user(ask)];
        let request = ChatRequest {
            system: "",
            tools: &tools,
            messages: &messages,
            cache_key: None,
            input_tokens: None,
        };
        next(&Scene::read(&request))
    }

    #[test]
    fn a_background_task_and_a_subagent_are_called_for_in_words() {
        let call = |moves: Option<Vec<Move>>| match moves.expect("moves").pop() {
            Some(Move::Call { tool, arguments }) => (tool, arguments),
            other => panic!("no call: {other:?}"),
        };
        let (tool, arguments) = call(moves("run `sleep 5` in the background", &["Bash"]));
        assert_eq!((tool.as_str(), &arguments["command"]), ("Bash", &json!("sleep 5")));
        assert_eq!(arguments["run_in_background"], true);
        let (tool, arguments) = call(moves("Use a subagent to list the files", &["Task"]));
        assert_eq!((tool.as_str(), &arguments["prompt"]), ("Task", &json!("list the files")));
        assert_eq!(moves("Use a subagent to list the files", &["Bash"]), None);
        assert_eq!(moves("run `sleep 5`", &["Bash", "Task"]), None);
        assert!(moves(MORE, &[]).is_some());
    }
}
