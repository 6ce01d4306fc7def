//! The slash commands of an engine as an editor offers them.

use agent_client_protocol_schema::v1 as acp;

use crate::wire::SlashCommand;

/// The commands, with what can be written behind each.
pub(super) fn offered(commands: &[SlashCommand]) -> acp::AvailableCommandsUpdate {
    let offer = |command: &SlashCommand| {
        let input = hint(&command.name).map(|hint| {
            acp::AvailableCommandInput::Unstructured(acp::UnstructuredCommandInput::new(hint))
        });
        acp::AvailableCommand::new(command.name.clone(), command.description.clone()).input(input)
    };
    acp::AvailableCommandsUpdate::new(commands.iter().map(offer).collect())
}

/// What a command takes; none for one that takes nothing.
fn hint(name: &str) -> Option<&'static str> {
    Some(match name {
        "init" | "clear" | "yolo" | "afk" => return None,
        "compact" => "what to keep in mind",
        "restore" => "a generation, or nothing for the last one",
        "redo" => "files, both, or nothing",
        "rewind" => "a checkpoint, and what: conversation, files or both",
        "plan" => "on, off, view or clear",
        "pin" => "numbers, or nothing for the list",
        "rules" => "remove N, or nothing for the list",
        "btw" => "a question",
        "add-dir" => "a folder, or nothing for the list",
        // Skills and flows.
        _ => "text",
    })
}
