//! A tool's many names brought down to one, to compare what agent files say.

/// The short name of a tool: `kimi_cli.tools.shell:Shell`, `Shell`, `CMD` and `Bash` are one tool.
///
/// The names of the Python program's tools stand beside ours.
pub(super) fn canonical(name: &str) -> &str {
    let short = name.rsplit_once(':').map_or(name, |(_, short)| short).trim();
    match short {
        "Shell" | "CMD" => "Bash",
        "StrReplaceFile" => "EditFile",
        "SetTodoList" => "Todo",
        "Agent" => "Task",
        other => other,
    }
}

/// `tools` without those that `allowed` does not name.
pub(super) fn allow(tools: Vec<String>, allowed: Option<&[String]>) -> Vec<String> {
    let Some(allowed) = allowed else { return tools };
    tools
        .into_iter()
        .filter(|tool| allowed.iter().any(|name| canonical(name) == canonical(tool)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_tool_by_any_name() {
        for name in ["kimi_cli.tools.shell:Shell", "Shell", "CMD", "Bash"] {
            assert_eq!(canonical(name), "Bash");
        }
        assert_eq!(canonical("mine:Custom"), "Custom");
    }

    #[test]
    fn only_allowed_tools_are_left_and_an_empty_list_allows_none() {
        let tools = || vec!["Bash".to_owned(), "Grep".to_owned()];
        assert_eq!(allow(tools(), None), tools());
        assert_eq!(allow(tools(), Some(&["Shell".to_owned()])), ["Bash"]);
        assert!(allow(tools(), Some(&[])).is_empty());
    }
}
