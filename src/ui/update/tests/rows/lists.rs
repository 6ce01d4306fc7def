//! Sessions, background tasks, recordings, tool calls, and lists that are searched by typing.

use super::super::{everykey, sent, sessions};
use super::{Action, Context, Row};
use crate::message::{Role, SessionId};
use crate::session::{Preview, Said, Trashed};
use crate::ui::effect::{Effect, OpenTarget};
use crate::ui::model::overlay::Overlay;
use crate::ui::model::replay::Replay;
use crate::ui::model::sessions::{Ask, SessionDone, SessionList, SessionTask};
use crate::ui::model::{Focus, Model};
use crate::ui::testing::Harness;
use crate::wire::{Command, Event, Extension, TaskChanged, TaskKind, TaskState};

/// Two calls that run, the later one marked.
fn calls() -> Harness {
    let mut h = Harness::new(120, 40);
    h.begin_turn("q").step(1);
    h.call("t1", "Bash", "{}").call("t2", "Bash", "{}").call("t3", "Bash", "{}").usage(10);
    h.keys("<alt-t><up>");
    h
}

fn call(model: &Model) -> &str {
    let marked = model.calls.call(&model.transcript);
    marked.map_or("", |tool| tool.call_id.as_str())
}

pub(super) const CALLS: &[Row] = &[
    (Action::SelectPrevious, calls, |_, h| call(&h.model) == "t1"),
    (Action::SelectNext, calls, |_, h| call(&h.model) == "t3"),
    (Action::Choose, calls, |_, h| {
        let chosen = h.model.transcript.selected_index();
        h.model.focus == Focus::Transcript
            && chosen.is_some_and(|at| h.model.transcript.cells()[at].open == Some(true))
    }),
    (Action::CancelCall, calls, |_, h| {
        sent(h) == [Command::CancelCall { tool_call_id: "t2".into() }]
    }),
    (Action::Back, calls, |_, h| h.model.focus == Focus::Composer),
];

/// Three sessions, the one in the middle marked.
fn listed() -> Harness {
    let mut h = sessions::listed(80);
    h.keys("<down>");
    h
}

fn list(model: &Model) -> Option<&SessionList> {
    match model.overlays.last() {
        Some(Overlay::Sessions(list)) => Some(list),
        _ => None,
    }
}

fn marks(h: &Harness, wanted: usize) -> bool {
    list(&h.model).is_some_and(|list| list.marked == wanted)
}

/// Is this asked for, about the session in the middle?
fn asks(h: &mut Harness, is_it: fn(&SessionTask) -> Option<&SessionId>) -> bool {
    h.take_effects().iter().any(|effect| match effect {
        Effect::Sessions { task, .. } => is_it(task).is_some_and(|id| id.0 == "bbbb"),
        _ => false,
    })
}

pub(super) const SESSIONS: &[Row] = &[
    (Action::SelectPrevious, listed, |_, h| marks(h, 0)),
    (Action::SelectNext, listed, |_, h| marks(h, 2)),
    (Action::Choose, listed, |_, h| {
        matches!(h.take_effects().last(), Some(Effect::Open { target: OpenTarget::Session(it), .. })
            if it.id.0 == "bbbb")
    }),
    (Action::ToggleScope, listed, |_, h| {
        list(&h.model).is_some_and(|list| list.only_here && list.shown().len() == 2)
    }),
    (Action::Rename, listed, |_, h| {
        let asked = list(&h.model).and_then(|list| list.ask.as_ref());
        matches!(asked, Some(Ask::Rename(title)) if title.text() == "写文档")
    }),
    (Action::Fork, listed, |_, h| {
        asks(h, |task| match task {
            SessionTask::Fork { session, at: None } => Some(&session.id),
            _ => None,
        })
    }),
    (Action::Export, listed, |_, h| {
        list(&h.model).is_some_and(|list| list.ask == Some(Ask::Export(0)))
    }),
    (Action::Delete, listed, |_, h| {
        asks(h, |task| match task {
            SessionTask::Delete(session) => Some(&session.id),
            _ => None,
        })
    }),
    (
        Action::UndoDelete,
        || {
            let mut h = listed();
            h.keys("<ctrl-x>");
            let (id, _) = sessions::task(&mut h);
            let trashed = Trashed {
                id: SessionId("bbbb".into()),
                title: "写文档".into(),
                work_dir: None,
                deleted_at: std::time::UNIX_EPOCH,
                dir: "/trash/bbbb".into(),
            };
            sessions::done(&mut h, id, SessionDone::Deleted(Box::new(trashed)));
            h
        },
        |_, h| {
            asks(h, |task| match task {
                SessionTask::Undelete(trashed) => Some(&trashed.id),
                _ => None,
            })
        },
    ),
    (Action::Archive, listed, |_, h| {
        asks(h, |task| match task {
            SessionTask::Archive(session, true) => Some(&session.id),
            _ => None,
        })
    }),
    (Action::ToggleArchived, listed, |_, h| {
        list(&h.model).is_some_and(|list| list.archived)
            && sessions::task(h).1 == SessionTask::List { archived: true }
    }),
    (Action::Replay, listed, |_, h| {
        asks(h, |task| match task {
            SessionTask::Replay(session) => Some(&session.id),
            _ => None,
        })
    }),
    (Action::ToggleTrash, listed, |_, h| {
        h.model.context(h.now) == Context::Trash && sessions::task(h).1 == SessionTask::ListTrash
    }),
    (Action::Open, listed, |_, h| list(&h.model).is_some_and(|list| list.looks)),
    (Action::ScrollUp, || looked_at(listed()), |was, h| scrolled(&h.model) > scrolled(was)),
    (Action::ScrollDown, || looked_at(listed()), |was, h| scrolled(&h.model) < scrolled(was)),
];

/// A closer look at a long session, somewhere in its middle.
pub(super) fn looked_at(mut h: Harness) -> Harness {
    h.keys("<right>");
    let id = h.take_effects().iter().rev().find_map(|effect| match effect {
        Effect::Sessions { id, task } if matches!(**task, SessionTask::Preview(_)) => Some(*id),
        _ => None,
    });
    let said = |n: usize| Said { role: Role::User, text: format!("line {n} of it") };
    let preview = Preview { last: (0..90).map(said).collect(), ..Preview::default() };
    sessions::done(&mut h, id.expect("looked at"), SessionDone::Preview(Box::new(preview)));
    h.picture();
    h.keys("<alt-up><alt-up>").picture();
    h
}

pub(super) fn scrolled(model: &Model) -> usize {
    list(model).map_or(0, |list| list.preview_scroll)
}

/// Three tasks that run, the one in the middle marked.
fn tasks() -> Harness {
    let mut h = Harness::new(80, 24);
    for id in ["b1", "b2", "b3"] {
        h.event(Event::Extension(Extension::TaskChanged(TaskChanged {
            id: id.into(),
            kind: TaskKind::Bash,
            title: "serve".into(),
            state: TaskState::Running,
            started: 1000.0,
            ended: None,
            exit: None,
            reason: String::new(),
        })));
    }
    h.keys("<f7><down>");
    h
}

fn task(h: &Harness) -> Option<usize> {
    match h.model.overlays.last() {
        Some(Overlay::Tasks(browser)) => Some(browser.marked),
        _ => None,
    }
}

pub(super) const TASKS: &[Row] = &[
    (Action::SelectPrevious, tasks, |_, h| task(h) == Some(0)),
    (Action::SelectNext, tasks, |_, h| task(h) == Some(2)),
    (Action::StopTask, tasks, |_, h| sent(h) == [Command::StopTask { task_id: "b2".into() }]),
    (Action::Back, tasks, |_, h| task(h).is_none()),
];

fn replay(model: &Model) -> Option<&Replay> {
    model.replay.as_ref()
}

pub(super) const REPLAY: &[Row] = &[
    (Action::Pause, sessions::playing, |_, h| replay(&h.model).is_some_and(|it| it.is_paused)),
    (Action::StepForward, sessions::playing, |was, h| {
        let next = |model| replay(model).map(|replay| replay.next);
        next(&h.model) > next(was) && replay(&h.model).is_some_and(|it| it.is_paused)
    }),
    (Action::NextTurn, sessions::playing, |_, h| sessions::said(h).contains(&"second".to_owned())),
    (
        Action::PreviousTurn,
        || {
            let mut h = sessions::playing();
            h.keys("n");
            h
        },
        |_, h| sessions::said(h) == ["first"],
    ),
    (Action::Faster, sessions::playing, |was, h| {
        replay(&h.model).map(|it| it.speed) == replay(was).map(|it| it.speed + 1)
    }),
    (Action::Slower, sessions::playing, |was, h| {
        replay(&h.model).map(|it| it.speed + 1) == replay(was).map(|it| it.speed)
    }),
    (Action::FocusTranscript, sessions::playing, |_, h| h.model.focus == Focus::Transcript),
    (Action::Back, sessions::playing, |_, h| {
        replay(&h.model).is_none() && matches!(h.take_effects().last(), Some(Effect::Open { .. }))
    }),
];

/// The earlier prompts, the second marked.
fn earlier() -> Harness {
    let mut h = everykey::conversation();
    h.send(crate::ui::msg::Msg::History(vec!["first".into(), "older".into(), "old".into()]));
    h.keys("<ctrl-r><down>");
    h
}

fn line(h: &Harness) -> Option<&str> {
    match h.model.overlays.last() {
        Some(Overlay::Picker(picker)) => picker.marked_row().map(|row| row.label.as_str()),
        _ => None,
    }
}

pub(super) const PICKER: &[Row] = &[
    (Action::SelectPrevious, earlier, |_, h| line(h) == Some("old")),
    (Action::SelectNext, earlier, |_, h| line(h) == Some("first")),
    (Action::Choose, earlier, |_, h| h.model.composer.editor.text() == "older"),
];
