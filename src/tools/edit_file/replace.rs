//! The replacing itself: pure, on text.

use std::borrow::Cow;

use super::Edit;

/// What came of a list of edits.
pub(super) struct Done {
    pub text: String,
    pub replacements: usize,
    /// What the model should know besides; begins with a space unless empty.
    pub note: String,
}

/// Makes all edits or none; the error is for the model.
pub(super) fn apply_all(text: &str, edits: &[Edit]) -> Result<Done, String> {
    let breaks = LineBreaks::of(text);
    let mut done = Done { text: text.to_owned(), replacements: 0, note: String::new() };
    for (index, edit) in edits.iter().enumerate() {
        let which =
            if edits.len() == 1 { String::new() } else { format!(" of edit {}", index + 1) };
        apply(&mut done, edit, breaks, &which)?;
    }
    if done.text == text {
        return Err("No replacements were made. Together the edits change nothing.".to_owned());
    }
    Ok(done)
}

fn apply(done: &mut Done, edit: &Edit, breaks: LineBreaks, which: &str) -> Result<(), String> {
    if edit.old.is_empty() {
        return Err(format!(
            "No replacements were made. The old string{which} is empty. \
             Give the text to replace, or use WriteFile to write a whole file."
        ));
    }
    if edit.old == edit.new {
        return Err(format!(
            "No replacements were made. The old and the new string{which} are the same."
        ));
    }
    let Some((old, new)) = breaks.fit(&done.text, edit) else {
        return Err(format!(
            "No replacements were made. The old string{which} was not found in the file.{}",
            near(&done.text, &edit.old)
        ));
    };
    let found = done.text.matches(&*old).count();
    if edit.replace_all {
        done.text = done.text.replace(&*old, &new);
        done.replacements += found;
    } else {
        done.text = done.text.replacen(&*old, &new, 1);
        done.replacements += 1;
        if found > 1 {
            done.note.push_str(&format!(
                " The old string{which} occurs {found} times; only the first was replaced."
            ));
        }
    }
    Ok(())
}

/// How the lines of a file end. Models write LF whatever the file has.
#[derive(Debug, Clone, Copy, PartialEq)]
enum LineBreaks {
    Lf,
    CrLf,
    Mixed,
}

impl LineBreaks {
    fn of(text: &str) -> Self {
        let (all, crlf) = (text.matches('\n').count(), text.matches("\r\n").count());
        match crlf {
            0 => Self::Lf,
            crlf if crlf == all => Self::CrLf,
            _ => Self::Mixed,
        }
    }

    /// The strings of `edit` with line breaks as `text` has them where the old one stands.
    fn fit<'a>(self, text: &str, edit: &'a Edit) -> Option<(Cow<'a, str>, Cow<'a, str>)> {
        let plain = (Cow::Borrowed(edit.old.as_str()), Cow::Borrowed(edit.new.as_str()));
        let with_cr = || (to_crlf(&edit.old), to_crlf(&edit.new));
        let candidates = match self {
            Self::Lf => vec![plain],
            Self::CrLf => vec![with_cr(), plain],
            Self::Mixed => vec![plain, with_cr()],
        };
        candidates.into_iter().find(|(old, _)| text.contains(&**old))
    }
}

fn to_crlf(text: &str) -> Cow<'_, str> {
    if text.contains('\n') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\n', "\r\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Where a text stands that differs from `old` in white space only, if there is one.
fn near(text: &str, old: &str) -> String {
    let wanted: Vec<&str> = old.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let Some((first, rest)) = wanted.split_first() else { return String::new() };
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    let matches = |at: usize| {
        let following = lines.get(at + 1..at + 1 + rest.len());
        lines[at].1 == *first
            && following.is_some_and(|following| following.iter().map(|(_, l)| l).eq(rest))
    };
    match (0..lines.len()).find(|at| matches(*at)) {
        Some(at) => format!(
            " At line {} the same text stands with other white space. \
             Copy it exactly as ReadFile shows it after the tab.",
            lines[at].0
        ),
        None => " Read the file again: it may differ from what you remember.".to_owned(),
    }
}
