//! Long pastes: shown as one mark in the draft, sent as what they are.

/// Characters from which a paste is folded (upstream's threshold).
pub const FOLD_CHARS: usize = 1000;
/// Lines from which a paste is folded (upstream's threshold).
pub const FOLD_LINES: usize = 15;

/// The folded pastes of one draft.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pastes(Vec<Paste>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Paste {
    mark: String,
    text: String,
}

impl Pastes {
    /// The mark that stands for `text`; none when it is short enough to stand for itself.
    pub fn fold(&mut self, text: &str) -> Option<String> {
        let lines = text.lines().count();
        if lines < FOLD_LINES && text.chars().nth(FOLD_CHARS - 1).is_none() {
            return None;
        }
        let number = self.0.len() + 1;
        let mark = if lines > 1 {
            format!("[Pasted text #{number} +{lines} lines]")
        } else {
            format!("[Pasted text #{number} +{} characters]", text.chars().count())
        };
        self.0.push(Paste { mark: mark.clone(), text: text.to_owned() });
        Some(mark)
    }

    /// `draft` with each mark replaced by what it stands for. Marks inside pasted text stay as they are.
    #[must_use]
    pub fn expand(&self, draft: &str) -> String {
        let mut out = String::with_capacity(draft.len());
        let mut rest = draft;
        loop {
            let next = self
                .0
                .iter()
                .filter_map(|paste| Some((rest.find(&paste.mark)?, paste)))
                .min_by_key(|(at, _)| *at);
            let Some((at, paste)) = next else {
                out.push_str(rest);
                return out;
            };
            out.push_str(&rest[..at]);
            out.push_str(&paste.text);
            rest = &rest[at + paste.mark.len()..];
        }
    }

    /// The marks there may be in the draft.
    pub fn marks(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|paste| paste.mark.as_str())
    }

    /// Forgets them all: the draft is gone.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Are there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_pastes_fold_and_come_back_whole() {
        let mut pastes = Pastes::default();
        assert_eq!(pastes.fold("short\ntext"), None);
        let long = "line\n".repeat(20);
        let wide = "宽".repeat(FOLD_CHARS);
        let first = pastes.fold(&long).expect("folded");
        let second = pastes.fold(&wide).expect("folded");
        assert_eq!(first, "[Pasted text #1 +20 lines]");
        assert_eq!(second, "[Pasted text #2 +1000 characters]");
        let draft = format!("look: {second} and {first}, {first}");
        assert_eq!(pastes.expand(&draft), format!("look: {wide} and {long}, {long}"));
    }

    #[test]
    fn a_mark_in_pasted_text_is_only_text() {
        let mut pastes = Pastes::default();
        let first = pastes.fold(&"x\n".repeat(20)).expect("folded");
        let sly = format!("{first}\n{}", "y\n".repeat(20));
        let second = pastes.fold(&sly).expect("folded");
        assert_eq!(pastes.expand(&second), sly);
    }
}
