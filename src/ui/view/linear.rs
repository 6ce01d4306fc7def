//! The screen as lines for a screen reader: everything once, in the order in which it happens, in
//! words instead of marks and places.
//!
//! [`Linear`] remembers what was said. Panels and lists are drawn in memory and read out row by row;
//! when a key changes them, only the rows that are new are.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;

use super::super::model::Model;
use super::super::model::cell::{Cell, CellId, CellKind, Group, Level, ToolCell, ToolState};
use super::super::model::overlay::Overlay;
use super::super::model::question::Tab;
use super::super::model::status::Activity;
use super::super::model::transcript::FrameInfo;
use super::super::render::sanitize::sanitize_line;
use super::super::render::width::{truncate, width as text_width};
use super::super::theme::{Marks, Theme};
use super::super::update::completions;
use super::{Caches, approval, cells, composer, draw_overlay, generation, pager, question, tool};

/// Cells of an opened session that are read out; what was before can be searched and browsed.
const READ_OUT: usize = 12;
/// Rows and columns of the screen that panels are drawn on.
const PANEL: (u16, u16) = (100, 40);

/// What is said before what is marked.
const SELECTED: &str = "Selected: ";
/// How what can be completed begins.
const OFFERS: &str = "Offers: ";

/// What was said so far.
#[derive(Debug, Default)]
pub struct Linear {
    session: Option<crate::message::SessionId>,
    told: Option<CellId>,
    begun: Option<CellId>,
    activity: &'static str,
    panel: Vec<String>,
    toast: String,
}

/// What is to be said, and where the pager stands.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Lines, each new.
    pub lines: Vec<String>,
    /// What only drawing can know.
    pub info: FrameInfo,
}

/// The theme for a screen reader: no colours, plain characters.
#[must_use]
pub fn linear_theme() -> Theme {
    Theme::monochrome().with_marks(Marks::ascii())
}

impl Linear {
    /// What is new since the last time, in `width` columns.
    pub fn next(
        &mut self,
        model: &Model,
        theme: &Theme,
        caches: &mut Caches,
        width: u16,
        now: f64,
    ) -> Said {
        caches.follow(model);
        let mut said = Said::default();
        self.cells(model, theme, caches, width, now, &mut said.lines);
        let activity = match model.status.activity {
            Activity::Opening => "Opening the session.",
            Activity::Idle => "Ready for your prompt.",
            Activity::Running { cancelling: true, .. } => "Stopping.",
            Activity::Running { .. } => "Working.",
            Activity::Gone => "No session is open.",
        };
        if self.activity != activity {
            self.activity = activity;
            said.lines.push(activity.to_owned());
        }
        let panel = panel(model, theme, caches, now, &mut said.info);
        if panel != self.panel {
            // What was marked before and is not any more is no news.
            let marked = |row: &String| format!("{SELECTED}{row}");
            let is_new =
                |row: &&String| !self.panel.contains(row) && !self.panel.contains(&marked(row));
            said.lines.extend(panel.iter().filter(is_new).cloned());
            if panel.is_empty() {
                let was_offer = self.panel.first().is_some_and(|row| row.starts_with(OFFERS));
                said.lines.push(if was_offer { "No offers." } else { "Closed." }.to_owned());
            }
            self.panel = panel;
        }
        let toast =
            model.status.toast.as_ref().map(|toast| toast.text.as_str()).unwrap_or_default();
        if self.toast != toast {
            toast.clone_into(&mut self.toast);
            if !toast.is_empty() {
                said.lines.push(clean(toast));
            }
        }
        said
    }

    /// Cells that are finished, and calls that begin.
    fn cells(
        &mut self,
        model: &Model,
        theme: &Theme,
        caches: &Caches,
        width: u16,
        now: f64,
        lines: &mut Vec<String>,
    ) {
        let cells = model.transcript.cells();
        if self.session != model.status.info.id {
            // Another session has cells of its own.
            self.session.clone_from(&model.status.info.id);
            (self.told, self.begun) = (None, None);
        }
        let mut from = match self.told {
            Some(told) => cells.partition_point(|cell| cell.id <= told),
            None => cells.len().saturating_sub(READ_OUT),
        };
        if self.told.is_none() && from > 0 {
            lines.push(format!("{from} earlier parts of the conversation are not read out."));
        }
        while let Some(cell) = cells.get(from).filter(|cell| cell.finished) {
            // A row of calls may grow as long as nothing stands below it.
            lines.extend(spoken(model, cell, theme, caches, width, now));
            self.told = Some(cell.id);
            from += 1;
        }
        for cell in cells.iter().skip(from) {
            if let CellKind::Tool(call) = &cell.kind
                && call.state == ToolState::Running
                && self.begun < Some(cell.id)
            {
                self.begun = Some(cell.id);
                lines.push(format!("Running {}.", name(call)));
            }
        }
    }

    /// The line one writes in, its end where it is too long for `width`.
    #[must_use]
    pub fn prompt(model: &Model, width: u16) -> String {
        let text = match (&model.search.typing, model.overlays.last()) {
            (Some(_), _) | (None, Some(_)) => return String::new(),
            (None, None) => model.composer.text(),
        };
        let lines = text.split('\n').count();
        let last = text.rsplit('\n').next().unwrap_or_default();
        let label = if lines > 1 { format!("line {lines}> ") } else { "> ".to_owned() };
        let last = sanitize_line(last, 0);
        let room = usize::from(width).saturating_sub(label.len() + 1);
        let mut shown: &str = &last;
        while text_width(shown) > room {
            let mut chars = shown.chars();
            chars.next();
            shown = chars.as_str();
        }
        label + shown
    }
}

/// A cell in words.
fn spoken(
    model: &Model,
    cell: &Cell,
    theme: &Theme,
    caches: &Caches,
    width: u16,
    now: f64,
) -> Vec<String> {
    let cell = &Cell { group: Group::Alone, ..cell.clone() };
    let drawn = cells::lines(model, cell, theme, &caches.highlight, width, now);
    let body = |skip: usize| drawn.iter().skip(skip).filter_map(said_line);
    let with =
        |label: &str| -> Vec<String> { std::iter::once(label.to_owned()).chain(body(0)).collect() };
    match &cell.kind {
        CellKind::User { steered: false, .. } => with("You:"),
        CellKind::User { steered: true, .. } => with("You, into the running turn:"),
        CellKind::Assistant { .. } => with("Answer:"),
        CellKind::Thinking { .. } => body(0).collect(),
        CellKind::Plan { .. } => body(0).collect(),
        CellKind::Notice { level, .. } => with(match level {
            Level::Info => "Note:",
            Level::Warning => "Warning:",
            Level::Error => "Error:",
        }),
        CellKind::Mark(_) => with("Context:"),
        CellKind::Tool(call) => {
            let state = match call.state {
                ToolState::Streaming | ToolState::Running => "runs",
                ToolState::Waiting => "waits for your answer",
                ToolState::Done => "done",
                ToolState::Failed => "failed",
                ToolState::Rejected => "rejected",
                ToolState::Cancelled => "stopped",
            };
            let exit = tool::exit_code(call).map(|code| format!(", exit {code}"));
            let head = format!("{}: {state}{}.", name(call), exit.unwrap_or_default());
            std::iter::once(head).chain(body(1)).collect()
        }
    }
}

fn name(call: &ToolCell) -> String {
    let argument = call.key_argument.as_deref().unwrap_or_default();
    let text = clean(&format!("{} {argument}", call.name));
    truncate(&text, 200).into_owned()
}

fn said_line(line: &Line<'_>) -> Option<String> {
    let text = clean(&line.to_string());
    (!text.is_empty()).then_some(text)
}

/// A row without what is drawn only to be seen.
fn clean(text: &str) -> String {
    let safe = sanitize_line(text, 0);
    let plain: String =
        safe.chars().map(|c| if matches!(c, '\u{2500}'..='\u{259f}') { ' ' } else { c }).collect();
    let plain = plain.trim();
    let plain = plain.strip_prefix("-- ").map_or(plain, |title| title.trim_end_matches(['-', ' ']));
    let is_drawn = plain.chars().all(|c| matches!(c, '-' | '|' | '+' | '#' | '.' | ' '));
    if is_drawn { String::new() } else { plain.to_owned() }
}

/// The rows of what lies over the conversation.
fn panel(
    model: &Model,
    theme: &Theme,
    caches: &mut Caches,
    now: f64,
    info: &mut FrameInfo,
) -> Vec<String> {
    let area = Rect::new(0, 0, PANEL.0, PANEL.1);
    let mut buffer = Buffer::empty(area);
    let mut state = Vec::new();
    if let Some(Overlay::Pager(_) | Overlay::Generation(_)) = model.overlays.last() {
        generation::draw(model, theme, caches, area, &mut buffer, info);
        pager::draw(model, theme, caches, area, &mut buffer, now, info);
        if info.pager_missed.unwrap_or(model.search.is_missed) {
            state.push("Nothing matches.".to_owned());
        }
    } else if let Some(overlay) = model.overlays.last() {
        draw_overlay(model, overlay, (theme, &caches.highlight), area, &mut buffer, now, info);
    } else if model.approvals.current().is_some() {
        let rows = caches.subject.update(model, theme, &caches.highlight, area.width);
        let height = approval::height(model, area.width, rows).min(area.height);
        let area = Rect { height, ..area };
        let subject = (&caches.subject, &caches.highlight);
        state.push(listening(model.approvals.is_listening(now)));
        approval::draw(model, theme, subject, area, &mut buffer, now, &mut None);
    } else if model.questions.current().is_some() {
        let height = question::height(model, theme, area.width).min(area.height);
        question::draw(model, theme, Rect { height, ..area }, &mut buffer, now);
        // The tabs are said in words.
        buffer.set_style(area, Style::new());
        (0..area.width).for_each(|x| buffer[(x, 0)].reset());
        state.extend(question_state(model));
        state.push(listening(model.questions.is_listening(now)));
    } else {
        let count = completions(model).len().max(model.mention.shown.len());
        if count == 0 || model.search.typing.is_some() {
            return Vec::new();
        }
        composer::draw_completions(model, theme, area, &mut buffer);
        state.push(format!("{OFFERS}{count}"));
    }
    state.extend(rows(&buffer, theme));
    state
}

/// Does what is asked take answers already?
fn listening(listens: bool) -> String {
    let text = if listens { "Your answer?" } else { "Keys are not taken for an answer yet." };
    text.to_owned()
}

/// Which of the questions is asked, and which have their answers.
fn question_state(model: &Model) -> Vec<String> {
    let Some(asking) = model.questions.current() else { return Vec::new() };
    let count = asking.tabs.len();
    let tab = |(nth, tab): (usize, &Tab)| {
        let answer = tab.answer.as_ref()?;
        Some(format!("Question {} is answered: {}", nth + 1, clean(answer)))
    };
    let mut lines: Vec<String> = asking.tabs.iter().enumerate().filter_map(tab).collect();
    lines.push(format!("Question {} of {count}:", asking.at + 1));
    lines
}

/// The rows of a picture in words: what is marked says so.
fn rows(buffer: &Buffer, theme: &Theme) -> Vec<String> {
    let area = buffer.area;
    let pointer = format!("{} ", theme.marks.folded);
    let row = |y: u16| {
        let cells = (area.x..area.right()).map(|x| &buffer[(x, y)]);
        let is_marked = cells.clone().any(|cell| cell.modifier.contains(Modifier::REVERSED));
        let text: String = cells.map(ratatui::buffer::Cell::symbol).collect();
        let is_pointed_at = text.starts_with(&pointer);
        let text = clean(text.strip_prefix(&pointer).unwrap_or(&text));
        let text = text.split("  ").filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        let is_marked = (is_marked || is_pointed_at) && !text.is_empty();
        if is_marked { format!("{SELECTED}{text}") } else { text }
    };
    (area.y..area.bottom()).map(row).filter(|row| !row.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ToolReturn;
    use crate::ui::testing::Harness;

    fn say(h: &mut Harness, linear: &mut Linear) -> Vec<String> {
        linear.next(&h.model, &linear_theme(), &mut h.caches, 80, h.now).lines
    }

    #[test]
    fn everything_is_said_once_and_in_words() {
        let mut h = Harness::new(80, 24);
        let mut linear = Linear::default();
        assert_eq!(say(&mut h, &mut linear), ["Ready for your prompt."]);
        assert_eq!(say(&mut h, &mut linear), [""; 0]);
        h.begin_turn("Fix it").step(1);
        assert_eq!(say(&mut h, &mut linear), ["You:", "| Fix it", "Working."]);
        h.text("I **look**");
        assert_eq!(say(&mut h, &mut linear), [""; 0], "what is not finished is not said");
        h.call("a", "Bash", "{\"command\": \"make \\u001b[2J\"}");
        let lines = say(&mut h, &mut linear);
        assert!(lines.starts_with(&["Answer:".to_owned(), "I look".to_owned()]), "{lines:?}");
        let failed = ToolReturn::error("Command failed with exit code: 2.", "Failed");
        h.result("a", failed.with_output("no rule\n"));
        let lines = say(&mut h, &mut linear);
        assert!(lines[0].starts_with("Bash make") && lines[0].ends_with(": failed, exit 2."));
        assert_eq!(lines[1], "no rule");
        assert!(!lines.concat().contains('\x1b'));
        h.keys("<f1>");
        let lines = say(&mut h, &mut linear);
        assert!(lines.iter().any(|line| line.contains("Help") || line.contains("Keys")));
        assert!(lines.iter().all(|l| !l.contains(['│', '─', '╭'])), "{lines:#?}");
        h.keys("<esc>");
        assert_eq!(say(&mut h, &mut linear), ["Closed."]);
    }

    #[test]
    fn a_list_says_the_row_that_is_marked() {
        let mut h = Harness::new(80, 24);
        let mut linear = Linear::default();
        h.model.themes.known = vec!["dark".to_owned(), "light".to_owned()];
        h.keys("/theme<enter>");
        let lines = say(&mut h, &mut linear);
        let marked = |lines: &[String]| lines.iter().find(|l| l.starts_with("Selected: ")).cloned();
        assert!(marked(&lines).expect("a row").contains("dark"), "{lines:#?}");
        h.keys("<down>");
        let lines = say(&mut h, &mut linear);
        assert!(marked(&lines).expect("a row").contains("light"), "{lines:#?}");
        assert!(lines.len() < 5, "only what is new: {lines:#?}");
    }

    #[test]
    fn offers_are_said_and_the_marked_one_when_it_changes() {
        let mut h = Harness::new(80, 24);
        let mut linear = Linear::default();
        say(&mut h, &mut linear);
        h.keys("/the");
        let lines = say(&mut h, &mut linear);
        assert!(lines[0].starts_with("Offers: "), "{lines:#?}");
        assert!(lines[1].starts_with("Selected: /theme"), "{lines:#?}");
        h.keys("<backspace><backspace><backspace>");
        let many = say(&mut h, &mut linear);
        assert!(many.len() > 3, "{many:#?}");
        h.keys("<down>");
        let lines = say(&mut h, &mut linear);
        assert_eq!(lines.len(), 1, "{lines:#?}");
        assert!(lines[0].starts_with("Selected: /"), "{lines:#?}");
        h.keys("<backspace>");
        assert_eq!(say(&mut h, &mut linear), ["No offers."]);
        h.model.mention.shown = vec!["src/main.rs".into(), "src/lib.rs".into()];
        let lines = say(&mut h, &mut linear);
        assert_eq!(lines, ["Offers: 2", "Selected: @src/main.rs", "@src/lib.rs"]);
    }

    #[test]
    fn what_is_asked_is_said_with_its_choices_and_whether_keys_answer() {
        let mut h = Harness::new(80, 24);
        let mut linear = Linear::default();
        h.begin_turn("q").step(1).call("t1", "Bash", "{}");
        say(&mut h, &mut linear);
        h.ask("a1", "t1", "make all");
        let lines = say(&mut h, &mut linear);
        assert!(lines.contains(&"Keys are not taken for an answer yet.".to_owned()), "{lines:#?}");
        assert!(lines.iter().any(|line| line.contains("make all")), "{lines:#?}");
        h.wait(2.0);
        let lines = say(&mut h, &mut linear);
        assert_eq!(lines, ["Your answer?", "Selected: y Approve once"]);
        h.keys("<down>");
        let lines = say(&mut h, &mut linear);
        assert_eq!(lines.len(), 1, "{lines:#?}");
        assert!(lines[0].starts_with("Selected: a Approve for this session"), "{lines:#?}");
        h.keys("n");
        say(&mut h, &mut linear);
        let two: &[(&str, &str, &[&str], bool)] =
            &[("Which?", "One", &["Red", "Blue"], false), ("And?", "Two", &["Up", "Down"], false)];
        h.question("q1", two);
        h.wait(2.0);
        let lines = say(&mut h, &mut linear);
        assert!(lines.contains(&"Question 1 of 2:".to_owned()), "{lines:#?}");
        assert!(lines.contains(&"Selected: 1 Red".to_owned()), "{lines:#?}");
        h.keys("<enter>");
        let lines = say(&mut h, &mut linear);
        assert!(lines.contains(&"Question 1 is answered: Red".to_owned()), "{lines:#?}");
        assert!(lines.contains(&"Question 2 of 2:".to_owned()), "{lines:#?}");
    }

    #[test]
    fn what_one_writes_stands_in_the_last_line() {
        let mut h = Harness::new(80, 24);
        h.keys("hello");
        assert_eq!(Linear::prompt(&h.model, 80), "> hello");
        assert_eq!(Linear::prompt(&h.model, 6), "> llo");
    }
}
