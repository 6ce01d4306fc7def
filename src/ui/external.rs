//! The external editor: the draft goes out as a file and comes back as it was left.

use std::fs;
use std::io::Write;
use std::process::Command;

/// Lets the person write on in `text` with `configured`, else `$VISUAL`, `$EDITOR` or `vi`. The
/// terminal must have been given back. Returns when the editor ends.
///
/// # Errors
/// Why the text did not change, in words for a person: the draft is never lost over this.
pub(super) fn edit(text: &str, configured: &str) -> Result<String, String> {
    let editor = command(configured, &|name| std::env::var(name).ok());
    let told = |what: &str| format!("{what}; the draft is unchanged");
    let mut file = tempfile::Builder::new()
        .prefix("kimi-tui-")
        .suffix(".md")
        .tempfile()
        .map_err(|error| told(&format!("No temporary file could be made ({error})")))?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.flush())
        .map_err(|error| told(&format!("The draft could not be written to a file ({error})")))?;
    // The setting is a command line, "code --wait" for instance; the file is no part of it.
    let status = Command::new("sh")
        .args(["-c", &format!("exec {editor} \"$1\""), "sh"])
        .arg(file.path())
        .status()
        .map_err(|error| told(&format!("{editor} could not be started ({error})")))?;
    if !status.success() {
        return Err(told(&format!("{editor} ended with {status}")));
    }
    fs::read(file.path())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .map_err(|error| told(&format!("What {editor} wrote cannot be read ({error})")))
}

/// Can the first word of `command` be started? An empty command leaves the choice to the environment.
pub(super) fn is_there(command: &str) -> bool {
    let Some(program) = command.split_whitespace().next() else { return true };
    let status = Command::new("sh")
        .args(["-c", "command -v -- \"$1\" >/dev/null 2>&1", "sh", program])
        .status();
    status.is_ok_and(|status| status.success())
}

fn command(configured: &str, env: &dyn Fn(&str) -> Option<String>) -> String {
    [Some(configured.to_owned()), env("VISUAL"), env("EDITOR")]
        .into_iter()
        .flatten()
        .find(|editor| !editor.trim().is_empty())
        .unwrap_or_else(|| "vi".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configured_editor_comes_before_the_environment() {
        let env = |name: &str| (name == "EDITOR").then(|| "nano".to_owned());
        assert_eq!(command("code --wait", &env), "code --wait");
        assert_eq!(command(" ", &env), "nano");
        assert_eq!(command("", &|_| None), "vi");
    }

    #[test]
    fn an_editor_that_cannot_be_started_is_noticed() {
        assert!(is_there("") && is_there("sh -c") && !is_there("no-such-editor --wait"));
    }

    #[test]
    fn what_the_editor_leaves_comes_back_and_a_failing_one_changes_nothing() {
        assert_eq!(edit("draft 草稿", "sed -i s/draft/done/").as_deref(), Ok("done 草稿"));
        let error = edit("draft", "false").expect_err("it failed");
        assert!(error.contains("the draft is unchanged"), "{error}");
    }
}
