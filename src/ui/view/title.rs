//! The title of the terminal's window.

use super::super::model::Model;
use super::super::model::status::Activity;
use super::super::render::sanitize::sanitize;
use super::super::render::width::truncate;

/// Longest title, in columns.
const COLUMNS: usize = 80;

/// What the window is called: whether it needs the person, the session, the folder.
#[must_use]
pub fn title(model: &Model) -> String {
    let info = &model.status.info;
    let mark = match model.status.activity {
        _ if !model.approvals.is_empty() => "? ",
        Activity::Running { .. } => "* ",
        _ => "",
    };
    let folder = info.work_dir.file_name().map(|name| name.to_string_lossy().into_owned());
    let names = [Some(info.title.clone()), folder];
    let names: Vec<_> = names.into_iter().flatten().filter(|name| !name.is_empty()).collect();
    let text = if names.is_empty() { "kimi-tui".to_owned() } else { names.join(" - ") };
    let text = sanitize(&text).replace('\n', " ");
    format!("{mark}{}", truncate(&text, COLUMNS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::Harness;

    #[test]
    fn the_title_tells_what_needs_the_person_and_cannot_escape() {
        let mut h = Harness::new(80, 24);
        assert_eq!(title(&h.model), "Fix the failing test - project");
        h.begin_turn("q").step(1);
        assert!(title(&h.model).starts_with("* "));
        h.call("t1", "Bash", "{}").ask("a1", "t1", "ls");
        assert!(title(&h.model).starts_with("? "));
        let mut info = (*h.model.status.info).clone();
        info.title = "evil\u{7}\u{1b}]0;x".into();
        h.model.status.info = info.into();
        assert!(title(&h.model).chars().all(|c| !c.is_control()));
    }
}
