//! What is left in the shell's scrollback when the screen is left: cells as they were shown, without
//! the padding and the panes around them.

use std::io;

use ratatui::text::Line;

use super::super::model::Model;
use super::super::render::highlight::HighlightCache;
use super::super::theme::Theme;
use super::chat;
use crate::config::OnExit;

/// Gives the lines to leave behind to `say`, oldest first, for a terminal of this size.
///
/// # Errors
/// Those of `say`.
pub fn farewell(
    model: &Model,
    theme: &Theme,
    what: OnExit,
    (width, height): (u16, u16),
    now: f64,
    say: &mut dyn FnMut(&[Line<'static>]) -> io::Result<()>,
) -> io::Result<()> {
    let highlight = HighlightCache::inline();
    let count = model.transcript.cells().len();
    let lines = |index: usize| chat::lines_with_gap(model, theme, &highlight, index, width, now);
    match what {
        OnExit::None => Ok(()),
        OnExit::All => {
            for index in 0..count {
                say(&lines(index))?;
            }
            Ok(())
        }
        OnExit::Tail => {
            // Room for the shell's own line, and for how to come back.
            let room = usize::from(height.saturating_sub(3).max(1));
            let mut shown: Vec<Vec<Line<'static>>> = Vec::new();
            let mut rows = 0;
            for index in (0..count).rev() {
                if rows >= room {
                    break;
                }
                let lines = lines(index);
                rows += lines.len();
                shown.push(lines);
            }
            let all: Vec<Line<'static>> = shown.into_iter().rev().flatten().collect();
            let skip = all.len().saturating_sub(room);
            say(&all[skip..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Fold;
    use crate::message::ToolReturn;
    use crate::ui::testing::Harness;

    fn left(h: &Harness, what: OnExit, height: u16) -> Vec<String> {
        let mut all = Vec::new();
        let size = (40, height);
        farewell(&h.model, &h.theme, what, size, h.now, &mut |lines| {
            all.extend(lines.iter().map(ToString::to_string));
            Ok(())
        })
        .expect("said");
        all
    }

    #[test]
    fn what_is_left_is_the_conversation_without_what_is_around_it() {
        let mut h = Harness::new(120, 40);
        for turn in 0..20 {
            h.begin_turn(&format!("Prompt {turn}")).step(1);
            h.text(&format!(
                "Answer \x1b[2J{turn}, **long** enough to be wrapped in forty columns"
            ));
        }
        let all = left(&h, OnExit::All, 10);
        assert_eq!(all.iter().filter(|line| line.contains("Prompt")).count(), 20);
        assert!(all.iter().all(|line| line.chars().count() <= 40 && !line.contains('\x1b')));
        let tail = left(&h, OnExit::Tail, 10);
        assert_eq!(tail, all[all.len() - 7..], "the end, with room for the shell");
        assert!(left(&h, OnExit::None, 10).is_empty());
    }

    #[test]
    fn results_are_folded_as_the_settings_say() {
        let output: String = (0..30).map(|n| format!("out {n}\n")).collect();
        let shown = |fold: Fold, open_last: usize| -> Vec<usize> {
            let mut h = Harness::new(100, 400);
            h.model.settings.fold = fold;
            h.model.settings.open_last = open_last;
            h.begin_turn("Go").step(1);
            for (id, result) in [
                ("a", ToolReturn::ok(output.clone(), "Command executed successfully.")),
                (
                    "b",
                    ToolReturn::error("Command failed with exit code: 3.", "Failed")
                        .with_output(output.replace("out", "bad")),
                ),
                ("c", ToolReturn::ok(output.replace("out", "end"), "Done.")),
            ] {
                h.call(id, "Bash", "{\"command\": \"x\"}");
                h.wait(1.5);
                h.result(id, result);
            }
            let picture = h.picture();
            assert!(picture.contains("Bash x exit 3"), "{picture}");
            let count = |word: &str| picture.matches(&format!("{word} ")).count();
            vec![count("  out"), count("  bad"), count("  end")]
        };
        assert_eq!(shown(Fold::Always, 0), [5, 5, 5]);
        assert_eq!(shown(Fold::Success, 0), [5, 30, 5]);
        assert_eq!(shown(Fold::Always, 2), [5, 30, 30]);
    }
}
