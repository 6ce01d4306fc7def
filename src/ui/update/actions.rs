//! Actions that mean the same wherever they come from: a key, a slash command, a click.

use super::super::effect::{Effect, OpenTarget};
use super::super::key::{KeyCode, KeyPress};
use super::super::keymap::Action;
use super::super::model::overlay::{Overlay, Page, PagerMove};
use super::super::model::search::Search;
use super::super::model::status::Activity;
use super::super::model::transcript::Scroll;
use super::super::model::{Focus, LEAVE_SECONDS, Model};
use super::{
    calls, compose, is_idle, layout, ledger, mention, overlay, pages, picker, queue, reading,
    session, sessions, shell, slash, tasks, timeline, toast,
};
use crate::wire::Command;

/// Carries out an action that does not belong to one place.
pub(super) fn global(model: &mut Model, action: Action, now: f64) -> Vec<Effect> {
    match action {
        Action::Back => back(model, now),
        Action::Interrupt => interrupt(model, now),
        Action::Quit => quit(model, now),
        Action::Help => {
            if !matches!(model.overlays.last(), Some(Overlay::Help { .. })) {
                model.help_filter.clear();
                model.overlays.push(Overlay::Help { scroll: 0 });
            }
            Vec::new()
        }
        Action::FocusTimeline => {
            timeline::toggle(model);
            Vec::new()
        }
        Action::FocusCalls => {
            calls::toggle(model, now);
            Vec::new()
        }
        Action::ContextLedger => ledger::toggle(model, now),
        Action::Palette => {
            picker::open_palette(model);
            Vec::new()
        }
        Action::Tasks => {
            tasks::open(model);
            Vec::new()
        }
        Action::Sessions => sessions::open(model),
        Action::NewSession => session::open(model, OpenTarget::New, now),
        Action::TogglePlan => {
            let on = !model.status.plan_mode;
            let word =
                if on { "Plan mode: nothing is changed but the plan" } else { "Plan mode off" };
            toast(model, word, now);
            vec![Effect::Send(Command::SetPlanMode(on))]
        }
        Action::Compact => slash::send(model, "/compact", now),
        Action::Clear => {
            overlay::ask_clear(model, now);
            Vec::new()
        }
        Action::ScrollUp => scroll(model, Scroll::Lines(-1)),
        Action::ScrollDown => scroll(model, Scroll::Lines(1)),
        Action::PageUp => scroll(model, Scroll::Pages(-1)),
        Action::PageDown => scroll(model, Scroll::Pages(1)),
        Action::Top => scroll(model, Scroll::Top),
        Action::Bottom => scroll(model, Scroll::Bottom),
        Action::ToggleDetails => {
            if model.approvals.is_listening(now) {
                model.approvals.is_expanded = !model.approvals.is_expanded;
            } else {
                model.shows_details = !model.shows_details;
                model.transcript.forget_folds();
                if !model.wants_full_screen() {
                    let word = if model.shows_details { "unfolded" } else { "folded" };
                    let text = format!("From here on {word}; PageUp shows what is printed, too");
                    toast(model, text, now);
                }
            }
            Vec::new()
        }
        Action::Redraw => vec![Effect::Redraw],
        Action::Suspend => vec![Effect::Suspend],
        Action::ToggleMouse => toggle_mouse(model, now),
        Action::ToggleVim => {
            compose::toggle_vim(model, now);
            Vec::new()
        }
        // The rest means something in one place only.
        action => layout::act(model, action, now).unwrap_or_default(),
    }
}

/// Carries out an action of the composer.
pub(super) fn compose(model: &mut Model, action: Action, now: f64) -> Vec<Effect> {
    match action {
        // On an offered file Enter takes the file; the next one sends.
        Action::Submit if mention::accept(model) => {}
        Action::Submit => return slash::submit(model, now),
        Action::Steer => return steer(model, now),
        Action::SearchHistory => picker::open_history(model),
        Action::FocusQueue => queue::toggle(model, now),
        Action::ExternalEditor => {
            return vec![Effect::EditExternally(model.composer.text())];
        }
        Action::Newline => model.composer.editor.newline(),
        Action::Complete if mention::accept(model) => {}
        Action::Complete if model.composer.editor.is_empty() => reading::focus(model),
        Action::Complete => slash::complete(model),
        Action::Previous => previous(model),
        Action::Next => next(model),
        other => return compose::act(model, other, now).unwrap_or_default(),
    }
    Vec::new()
}

/// The mouse is the screen's, or the terminal's own, until the program ends.
fn toggle_mouse(model: &mut Model, now: f64) -> Vec<Effect> {
    model.settings.mouse = !model.settings.mouse;
    model.is_mouse_left = !model.settings.mouse;
    let text = if model.settings.mouse {
        "The mouse is taken: the wheel scrolls, dragging selects and copies"
    } else {
        "The mouse is the terminal's own: it selects, and the wheel is not told"
    };
    toast(model, text, now);
    vec![Effect::TakeMouse(model.settings.mouse)]
}

fn previous(model: &mut Model) {
    if slash::move_completion(model, false) || model.mention.step(false) {
        return;
    }
    if !model.composer.editor.is_at_top() {
        model.composer.editor.key(KeyPress::plain(KeyCode::Up));
    } else if model.composer.editor.is_empty()
        && let Some(queued) = model.composer.queue.pop_back()
    {
        model.composer.show(&queued);
        queue::settle(model);
    } else {
        model.composer.recall_previous();
    }
}

fn next(model: &mut Model) {
    if slash::move_completion(model, true) || model.mention.step(true) {
        return;
    }
    if model.composer.editor.is_at_bottom() {
        model.composer.recall_next();
    } else {
        model.composer.editor.key(KeyPress::plain(KeyCode::Down));
    }
}

/// Puts the draft, or what waits longest, into the running turn.
fn steer(model: &mut Model, now: f64) -> Vec<Effect> {
    if !model.status.activity.is_running() {
        return slash::submit(model, now);
    }
    let is_queued = model.composer.editor.is_empty();
    let text = if is_queued {
        model.composer.queue.front().cloned().unwrap_or_default()
    } else {
        model.composer.text()
    };
    if refuses_steer(&text) {
        // What the screen itself does needs no turn to end.
        let text = "A command cannot go into a running turn; Enter carries it out, or queues it";
        toast(model, text, now);
        return Vec::new();
    }
    let text =
        if is_queued { model.composer.queue.pop_front() } else { Some(model.composer.take()) };
    queue::settle(model);
    text.map(|text| steer_with(model, text, now)).unwrap_or_default()
}

/// Is `text` something that means nothing to the model?
pub(super) fn refuses_steer(text: &str) -> bool {
    let name = text.trim().strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
    // A path is a text like any other.
    name.is_some_and(|name| !name.contains('/'))
}

/// Puts `text` into the running turn.
pub(super) fn steer_with(model: &mut Model, text: String, now: f64) -> Vec<Effect> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let input = model.composer.input(&text);
    toast(model, "Goes into the running turn after this step", now);
    vec![Effect::Remember(text), Effect::Send(Command::Steer(input))]
}

/// The wheel turned.
pub(super) fn wheel(model: &mut Model, notches: i32) -> Vec<Effect> {
    let lines = notches * i32::from(model.settings.wheel_lines);
    match model.overlays.last_mut() {
        Some(
            Overlay::Help { scroll }
            | Overlay::Aside { scroll }
            | Overlay::Page(Page { scroll, .. }),
        ) => {
            *scroll = scroll.saturating_add_signed(i16::try_from(notches).unwrap_or_default());
            Vec::new()
        }
        Some(Overlay::Pager(pager)) => {
            pager.pending.push(PagerMove::Scroll(Scroll::Lines(lines)));
            Vec::new()
        }
        Some(Overlay::Generation(past)) => {
            past.pending.push(PagerMove::Scroll(Scroll::Lines(lines)));
            Vec::new()
        }
        Some(_) => Vec::new(),
        None => scroll(model, Scroll::Lines(lines)),
    }
}

fn scroll(model: &mut Model, by: Scroll) -> Vec<Effect> {
    model.transcript.scroll(by);
    model.transcript.drags_selection = true;
    Vec::new()
}

/// One step back: the topmost overlay, the pane, the turn. Never loses anything.
fn back(model: &mut Model, now: f64) -> Vec<Effect> {
    match model.overlays.pop() {
        Some(Overlay::Aside { .. }) => return pages::close_aside(model),
        Some(_) => return Vec::new(),
        None => {}
    }
    if std::mem::take(&mut model.screen.is_zoomed) {
        return Vec::new();
    }
    if model.focus == Focus::Transcript && !model.search.pattern.is_empty() {
        model.search = Search::default();
        return Vec::new();
    }
    if model.focus != Focus::Composer {
        model.focus = Focus::Composer;
        return Vec::new();
    }
    if slash::dismiss(model) || model.mention.dismiss() {
        return Vec::new();
    }
    if model.composer.is_shell && model.composer.editor.is_empty() && model.shell.is_none() {
        model.composer.is_shell = false;
        return Vec::new();
    }
    cancel(model, now).unwrap_or_default()
}

fn cancel(model: &mut Model, now: f64) -> Option<Vec<Effect>> {
    if let Some(stopped) = shell::stop(model) {
        return Some(stopped);
    }
    let Activity::Running { cancelling, .. } = &mut model.status.activity else { return None };
    if !*cancelling {
        *cancelling = true;
        // What waited was not asked for any more; it goes back to where it was written.
        let waiting: Vec<_> = model.composer.queue.drain(..).collect();
        queue::settle(model);
        if !waiting.is_empty() {
            model.composer.give_back(&waiting.join("\n"));
            toast(model, "Stopped; what was queued is back in the composer", now);
        }
        return Some(vec![Effect::Send(Command::Cancel)]);
    }
    Some(Vec::new())
}

/// Stops what runs, or clears the draft, or leaves when pressed twice.
fn interrupt(model: &mut Model, now: f64) -> Vec<Effect> {
    let is_running = matches!(model.status.activity, Activity::Running { cancelling: false, .. });
    if is_running || model.shell.is_some() && model.leave_armed.is_none() {
        return cancel(model, now).unwrap_or_default();
    }
    if model.leave_armed.is_some_and(|armed| now < armed + LEAVE_SECONDS) {
        return vec![Effect::Quit];
    }
    model.leave_armed = Some(now);
    if model.composer.editor.is_empty() {
        Vec::new()
    } else {
        let draft = model.composer.as_remembered();
        model.composer.take();
        toast(model, "Draft cleared; the up key brings it back", now);
        vec![Effect::Remember(draft)]
    }
}

fn quit(model: &mut Model, now: f64) -> Vec<Effect> {
    if !model.composer.editor.is_empty() {
        toast(model, "There is a draft; Ctrl-C clears it, then Ctrl-D leaves", now);
        return Vec::new();
    }
    if is_idle(model) || !model.status.activity.is_running() {
        return vec![Effect::Quit];
    }
    toast(model, "A turn runs; Ctrl-C stops it, then Ctrl-D leaves", now);
    Vec::new()
}
