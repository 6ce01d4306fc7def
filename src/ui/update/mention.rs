//! `@` mentions of files in the composer.

use super::super::effect::Effect;
use super::super::model::Model;

/// Brings the offers up to date after the draft or the cursor changed.
pub(super) fn refresh(model: &mut Model, now: f64) -> Vec<Effect> {
    ask(model);
    if !model.mention.wants_files(now) {
        return Vec::new();
    }
    let id = model.next_effect();
    model.mention.reading(id);
    vec![Effect::ListFiles { id }]
}

/// Writes the marked file into the draft; says whether one was offered.
pub(super) fn accept(model: &mut Model) -> bool {
    let Some((file, typed)) = model.mention.marked() else { return false };
    let space = if file.ends_with('/') { "" } else { " " };
    let sign = if model.mention.is_bare { "" } else { "@" };
    model.composer.editor.replace_before_cursor(typed, &format!("{sign}{file}{space}"));
    ask(model);
    true
}

fn ask(model: &mut Model) {
    let editor = &model.composer.editor;
    // A file is what the command wants, not something said about one.
    let named = editor.before_cursor_behind("/import ").filter(|_| !model.composer.is_shell);
    model.mention.is_bare = named.is_some();
    let query = named.or_else(|| query(&editor.word_before_cursor()));
    model.mention.set_query(query);
}

/// What is typed after an `@` that begins the word.
fn query(word: &str) -> Option<String> {
    word.strip_prefix('@').filter(|typed| !typed.contains('@')).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::super::model::editor::Editor;

    fn query(before_cursor: &str) -> Option<String> {
        super::query(&Editor::with_text(before_cursor).word_before_cursor())
    }

    #[test]
    fn only_an_at_sign_that_begins_a_word_is_a_mention() {
        assert_eq!(query("look at @src/ma"), Some("src/ma".into()));
        assert_eq!(query("line\n@a"), Some("a".into()));
        assert_eq!(query("@a@b"), None);
        assert_eq!(query("@"), Some(String::new()));
        assert_eq!(query("me@example.org"), None);
        assert_eq!(query("@done now"), None);
        assert_eq!(query(""), None);
    }
}
