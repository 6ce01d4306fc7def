//! Pictures of the sessions overlay and of a replay.

use crate::message::{Role, SessionId, TodoItem, TodoStatus};
use crate::session::index::{Excerpt, Found, Speaker};
use crate::session::{Preview, Said, Session};
use crate::ui::effect::Effect;
use crate::ui::model::sessions::{SessionDone, SessionRow, SessionTask};
use crate::ui::msg::Msg;
use crate::ui::testing::Harness;

fn rows() -> Vec<SessionRow> {
    let titles = [
        ("/home/me/project", "Fix the failing parser test", 60.0, 1_240_000),
        ("/home/me/project", "修复解析器里的错误", 7200.0, 48_000),
        ("/home/me/project", "Untitled", 90_000.0, 512),
        (
            "/home/me/notes",
            "Sort the notes by year and write an index page for each of them",
            200.0,
            9000,
        ),
        ("unknown folder (2f39c28b)", "Old things", 900_000.0, 77_000),
    ];
    let row = |(index, (folder, title, age, bytes)): (usize, (&str, &str, f64, u64))| SessionRow {
        session: Session {
            id: SessionId(format!("{index}a1b2c3d-0000-4000-8000-000000000000")),
            work_dir: folder.into(),
            dir: format!("/share/{index}").into(),
        },
        place: folder.into(),
        is_here: folder == "/home/me/project",
        title: title.into(),
        updated: 1000.0 - age,
        bytes,
    };
    titles.into_iter().enumerate().map(row).collect()
}

fn preview() -> Preview {
    let said = |role, text: &str| Said { role, text: text.into() };
    Preview {
        last: vec![
            said(Role::User, "Why does the parser fail on an empty line?"),
            said(Role::Assistant, "I will look at it.\nReadFile src/parser.rs"),
            said(Role::Tool, "     1\tfn parse_line() {}"),
            said(Role::Assistant, "The first character of the line is taken without asking."),
        ],
        messages: 42,
        todos: vec![
            TodoItem { title: "Read the parser".into(), status: TodoStatus::Done },
            TodoItem { title: "Make it return an Option".into(), status: TodoStatus::InProgress },
        ],
        checkpoints: 17,
        generations: 2,
        curve: vec![1000, 4000, 9000, 22_000, 41_000, 6000, 12_000],
        disk: 1_240_000,
        snapshots: 0,
        holder: None,
        problem: Some(
            "3 of the lines of context.jsonl cannot be read; 42 messages can be opened.".into(),
        ),
    }
}

fn listed(width: u16, height: u16, typed: &str) -> Harness {
    let mut h = Harness::new(width, height);
    h.keys("<ctrl-g>");
    answer(&mut h);
    h.keys(typed);
    answer(&mut h);
    answer(&mut h);
    h
}

/// Answers what was asked for.
fn answer(h: &mut Harness) {
    for effect in h.take_effects() {
        let Effect::Sessions { id, task } = effect else { continue };
        let done = match *task {
            SessionTask::List { .. } => SessionDone::Listed(rows()),
            SessionTask::Preview(_) => SessionDone::Preview(Box::new(preview())),
            SessionTask::Search { .. } => SessionDone::Found(found()),
            _ => continue,
        };
        h.send(Msg::Session { id, done: Box::new(done) });
    }
}

fn found() -> Vec<Found> {
    let excerpt = |speaker, text: &str| {
        let at = text.find("parser").expect("the word");
        Excerpt { speaker, text: text.into(), marks: std::iter::once(at..at + 6).collect() }
    };
    let found = |dir: &str, excerpts| Found {
        dir: dir.into(),
        id: SessionId("x".into()),
        title: String::new(),
        excerpts,
    };
    vec![
        found(
            "/share/0",
            vec![excerpt(Speaker::User, "Why does the parser fail on an empty line?")],
        ),
        found(
            "/share/3",
            vec![
                excerpt(Speaker::Call, "Bash cargo test parser::empty"),
                excerpt(Speaker::Output, "…test parser::empty ... FAILED test parser::full ... ok"),
            ],
        ),
    ]
}

macro_rules! picture {
    ($name:ident, $harness:expr) => {
        #[test]
        fn $name() {
            insta::assert_snapshot!(stringify!($name), $harness.picture());
        }
    };
}

picture!(sessions_80x24, listed(80, 24, ""));
picture!(sessions_120x40, listed(120, 40, ""));
picture!(sessions_200x60, listed(200, 60, ""));
picture!(sessions_found_80x24, listed(80, 24, "parser"));
picture!(sessions_found_120x40, listed(120, 40, "parser<down>"));
picture!(sessions_export_80x24, listed(80, 24, "<ctrl-e>"));
picture!(sessions_rename_120x40, listed(120, 40, "<ctrl-r>"));

#[test]
fn what_was_found_stands_out() {
    let mut h = listed(80, 24, "parser");
    let terminal = h.draw();
    let buffer = terminal.backend().buffer();
    let bold =
        |x: u16, y: u16| buffer[(x, y)].modifier.contains(ratatui::style::Modifier::UNDERLINED);
    let words: Vec<String> = (0..24)
        .map(|y| (0..80).filter(|x| bold(*x, y)).map(|x| buffer[(x, y)].symbol()).collect())
        .filter(|word: &String| !word.is_empty())
        .collect();
    assert_eq!(words, ["parser", "parser", "parser", "parser"], "a title and three excerpts");
}

#[test]
fn no_size_panics() {
    for width in [1, 5, 20, 60, 99, 100, 130] {
        for height in [1, 3, 5, 8, 24] {
            for typed in ["", "parser", "<ctrl-e>", "<ctrl-r>"] {
                listed(width, height, typed).picture();
            }
        }
    }
}
