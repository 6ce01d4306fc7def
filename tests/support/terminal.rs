//! The program in a pseudo terminal, its screen read through a terminal emulator.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Instant;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

use super::LIMIT;
use super::world::{World, program};

/// What the reader thread has seen.
struct Seen {
    parser: vt100::Parser,
    bytes: Vec<u8>,
    is_over: bool,
}

/// A running program and its screen. Dropping it kills the program.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    keys: Box<dyn Write + Send>,
    seen: Arc<(Mutex<Seen>, Condvar)>,
}

impl Terminal {
    /// Starts the program with `args` on a terminal of this size.
    pub fn start(world: &World, args: &[&str], columns: u16, rows: u16) -> Self {
        Self::run(world, (program(), args), &[], (columns, rows), 0)
    }

    /// As [`start`](Self::start), with more in the environment and so many rows of scrollback.
    pub fn start_with(
        world: &World,
        args: &[&str],
        more: &[(&str, &str)],
        (columns, rows): (u16, u16),
        scrollback: usize,
    ) -> Self {
        Self::run(world, (program(), args), more, (columns, rows), scrollback)
    }

    /// The program as the job of a shell, which takes over when the program is stopped.
    pub fn in_shell(world: &World, args: &[&str], (columns, rows): (u16, u16)) -> Self {
        let mut screen = Self::run(world, ("sh", &["-i"]), &[], (columns, rows), 0);
        screen.send(&format!("{} {}\n", program(), args.join(" ")));
        screen
    }

    /// The same with another program.
    pub fn run(
        world: &World,
        (program, args): (&str, &[&str]),
        more: &[(&str, &str)],
        (columns, rows): (u16, u16),
        scrollback: usize,
    ) -> Self {
        let pty = native_pty_system().openpty(size(columns, rows)).expect("a pseudo terminal");
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.cwd(world.work());
        command.env_clear();
        for (name, value) in world.environment() {
            command.env(name, value);
        }
        for (name, value) in more {
            command.env(name, value);
        }
        let child = pty.slave.spawn_command(command).expect("the program");
        // While this side holds the slave, the end of the program would go unnoticed.
        drop(pty.slave);
        let parser = vt100::Parser::new(cells(rows), cells(columns), scrollback);
        let seen = Arc::new((
            Mutex::new(Seen { parser, bytes: Vec::new(), is_over: false }),
            Condvar::new(),
        ));
        let reader = pty.master.try_clone_reader().expect("a reader");
        let shared = Arc::clone(&seen);
        std::thread::spawn(move || read(reader, &shared));
        let keys = pty.master.take_writer().expect("a writer");
        Self { child, master: pty.master, keys, seen }
    }

    /// Types `keys`, escape sequences included.
    pub fn send(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("keys");
        self.keys.flush().expect("keys");
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        let mut seen = self.between_frames();
        let parser = &mut seen.parser;
        let (row, column) = parser.screen().cursor_position();
        let above = (row + 1).saturating_sub(rows);
        if above > 0 && !parser.screen().alternate_screen() {
            // What no longer fits goes into the scrollback; the emulator would drop the cursor's row.
            let (bottom, lines) = (parser.screen().size().0, "\n".repeat(usize::from(above)));
            let back = (row + 1 - above, column + 1);
            parser.process(format!("\x1b[{bottom}H{lines}\x1b[{};{}H", back.0, back.1).as_bytes());
        }
        parser.set_size(cells(rows), cells(columns));
        drop(seen);
        self.master.resize(size(columns, rows)).expect("resized");
    }

    /// As [`resize`](Self::resize), for a terminal that breaks its lines anew. Colours are lost.
    pub fn resize_and_reflow(&self, columns: u16, rows: u16) {
        let mut seen = self.between_frames();
        seen.parser = reflowed(&mut seen.parser, columns, rows);
        drop(seen);
        self.master.resize(size(columns, rows)).expect("resized");
    }

    /// What was seen, at a moment when no frame has come in part only: the emulator wraps rows that a
    /// terminal would cut off, so the rest of a frame must not come at another size.
    fn between_frames(&self) -> MutexGuard<'_, Seen> {
        let (seen, changed) = &*self.seen;
        let deadline = Instant::now() + LIMIT;
        let mut seen = seen.lock().expect("seen");
        let last = |bytes: &[u8], mark: &str| {
            bytes.windows(mark.len()).rposition(|part| part == mark.as_bytes())
        };
        while last(&seen.bytes, "\x1b[?2026h") > last(&seen.bytes, "\x1b[?2026l") {
            assert!(Instant::now() < deadline, "a frame does not end");
            seen = changed.wait_timeout(seen, LIMIT).expect("seen").0;
        }
        seen
    }

    /// Every row there is, from the first one of the scrollback to the last one of the screen.
    pub fn everything(&self) -> Vec<String> {
        let mut seen = self.seen.0.lock().expect("seen");
        all_rows(&mut seen.parser).into_iter().map(|(row, _)| row.trim_end().to_owned()).collect()
    }

    /// Row and column of the cursor, from 0.
    pub fn cursor(&self) -> (u16, u16) {
        self.seen.0.lock().expect("seen").parser.screen().cursor_position()
    }

    /// Waits until `condition` holds for the screen; fails with the screen after [`LIMIT`].
    pub fn wait_for(&self, what: &str, condition: impl Fn(&vt100::Screen) -> bool) {
        let (seen, changed) = &*self.seen;
        let deadline = Instant::now() + LIMIT;
        let mut seen = seen.lock().expect("seen");
        while !condition(seen.parser.screen()) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || seen.is_over {
                let why = if seen.is_over { "the program ended" } else { "too late" };
                panic!("waited for {what}: {why}; the screen:\n{}", picture(seen.parser.screen()));
            }
            seen = changed.wait_timeout(seen, left).expect("seen").0;
        }
    }

    /// Waits until `text` is on the screen.
    pub fn wait_for_text(&self, text: &str) {
        self.wait_for(&format!("{text:?}"), |screen| shows(screen, text));
    }

    /// Waits until `text` is no longer on the screen.
    pub fn wait_until_gone(&self, text: &str) {
        self.wait_for(&format!("{text:?} to go"), |screen| !shows(screen, text));
    }

    /// Waits until `text` was written, escape sequences included.
    pub fn wait_for_bytes(&self, text: &str) {
        let (seen, changed) = &*self.seen;
        let deadline = Instant::now() + LIMIT;
        let mut seen = seen.lock().expect("seen");
        while !seen.bytes.windows(text.len()).any(|bytes| bytes == text.as_bytes()) {
            let left = deadline.saturating_duration_since(Instant::now());
            let screen = picture(seen.parser.screen());
            assert!(!left.is_zero() && !seen.is_over, "waited for {text:?}; the screen:\n{screen}");
            seen = changed.wait_timeout(seen, left).expect("seen").0;
        }
    }

    /// The first `columns` of each row, blanks at the end cut off.
    pub fn rows(&self, columns: u16) -> Vec<String> {
        let seen = self.seen.0.lock().expect("seen");
        seen.parser.screen().rows(0, columns).map(|row| row.trim_end().to_owned()).collect()
    }

    /// The screen's text, a line a row.
    pub fn text(&self) -> String {
        picture(self.seen.0.lock().expect("seen").parser.screen())
    }

    /// Everything that came, escape sequences included.
    pub fn bytes(&self) -> Vec<u8> {
        self.seen.0.lock().expect("seen").bytes.clone()
    }

    /// Waits for the program to end; gives its exit code.
    pub fn wait_for_end(&mut self) -> u32 {
        let deadline = Instant::now() + LIMIT;
        let (seen, changed) = &*self.seen;
        let mut seen = seen.lock().expect("seen");
        while !seen.is_over {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "no end; the screen:\n{}", picture(seen.parser.screen()));
            seen = changed.wait_timeout(seen, left).expect("seen").0;
        }
        drop(seen);
        self.child.wait().expect("the exit code").exit_code()
    }

    /// Sends a signal to the program.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("sent");
    }

    fn pid(&self) -> Pid {
        let id = self.child.process_id().and_then(|id| i32::try_from(id).ok());
        id.and_then(Pid::from_raw).expect("a process id")
    }

    /// Is the terminal as a shell needs it: main screen, cursor shown, no mouse or paste modes?
    pub fn is_restored(&self) -> bool {
        let seen = self.seen.0.lock().expect("seen");
        let screen = seen.parser.screen();
        !screen.alternate_screen()
            && !screen.hide_cursor()
            && !screen.bracketed_paste()
            && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(mut reader: Box<dyn Read + Send>, shared: &(Mutex<Seen>, Condvar)) {
    let (seen, changed) = shared;
    let mut buffer = [0_u8; 8192];
    loop {
        // A pseudo terminal whose program is gone gives an error on Linux, an end elsewhere.
        let count = reader.read(&mut buffer).unwrap_or(0);
        let mut seen = seen.lock().expect("seen");
        seen.parser.process(&buffer[..count]);
        seen.bytes.extend_from_slice(&buffer[..count]);
        seen.is_over = count == 0;
        changed.notify_all();
        if count == 0 {
            return;
        }
    }
}

/// All rows with whether the line goes on in the next one.
fn all_rows(parser: &mut vt100::Parser) -> Vec<(String, bool)> {
    let (rows, columns) = parser.screen().size();
    let (rows, columns) = (usize::from(rows.get()), columns.get());
    let screen = parser.screen_mut();
    screen.set_scrollback(usize::MAX);
    let above = screen.scrollback();
    let mut all = Vec::new();
    while all.len() < above + rows {
        let offset = above.saturating_sub(all.len());
        screen.set_scrollback(offset);
        // At the end the window cannot go further down: only its last rows are new.
        let skip = if offset == 0 { all.len() - above } else { 0 };
        let texts: Vec<String> = screen.rows(0, columns).collect();
        for (index, text) in texts.into_iter().enumerate().skip(skip) {
            all.push((text, screen.row_wrapped(u16::try_from(index).expect("a row"))));
        }
    }
    screen.set_scrollback(0);
    all
}

/// A terminal of another size with the same lines, broken anew, and the cursor at the same character.
fn reflowed(old: &mut vt100::Parser, columns: u16, rows: u16) -> vt100::Parser {
    let all = all_rows(old);
    let screen = old.screen();
    let (height, width) = screen.size();
    let (row, column) = screen.cursor_position();
    let at = all.len() - usize::from(height.get()) + usize::from(row);
    let first = (0..at).rev().find(|index| !all[*index].1).map_or(0, |index| index + 1);
    let offset = (at - first) * usize::from(width.get()) + usize::from(column);
    let mut lines: Vec<(String, bool)> = Vec::new();
    let mut goes_on = false;
    for (index, (text, wraps)) in all.into_iter().enumerate() {
        match lines.last_mut().filter(|_| goes_on) {
            Some((line, _)) => line.push_str(&text),
            None => lines.push((text, index == first)),
        }
        goes_on = wraps;
    }
    let last = lines.iter().rposition(|(line, has_cursor)| *has_cursor || !line.trim().is_empty());
    lines.truncate(last.map_or(0, |last| last + 1));
    let wide = usize::from(columns);
    let mut parser = vt100::Parser::new(cells(rows), cells(columns), 10_000);
    let mut below = 0;
    for (index, (line, has_cursor)) in lines.iter().enumerate() {
        let line = line.trim_end();
        parser.process(if index > 0 { b"\r\n" } else { b"" });
        parser.process(line.as_bytes());
        let takes = line.chars().count().div_ceil(wide).max(1);
        below = if *has_cursor { takes.saturating_sub(offset / wide + 1) } else { below + takes };
    }
    let mut there = format!("\r\x1b[{}C", offset % wide);
    if offset.is_multiple_of(wide) {
        there = "\r".to_owned();
    }
    if below > 0 {
        there = format!("\x1b[{below}A{there}");
    }
    parser.process(there.as_bytes());
    parser.process(b"\x1b[?2004h");
    parser
}

/// Is `text` on one row of `screen`?
pub fn shows(screen: &vt100::Screen, text: &str) -> bool {
    let (_, columns) = screen.size();
    screen.rows(0, columns.get()).any(|row| row.contains(text))
}

/// The rows of `screen`, with a margin that shows trailing blanks.
pub fn picture(screen: &vt100::Screen) -> String {
    let (_, columns) = screen.size();
    let width = usize::from(columns.get());
    let edge = format!("+{}+\n", "-".repeat(width));
    let rows: String =
        screen.rows(0, columns.get()).map(|row| format!("|{row:<width$}|\n")).collect();
    format!("{edge}{rows}{edge}")
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("a size")
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}
