//! The terminal: taken over at the start, given back exactly once at the end, however the end comes.

use std::io::{self, BufWriter, Stdout, Write};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};

use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange,
    Event as TermEvent, KeyCode as TermKey, KeyEventKind, KeyModifiers, KeyboardEnhancementFlags,
    MouseButton, MouseEvent, MouseEventKind, PopKeyboardEnhancementFlags,
    PushKeyboardEnhancementFlags,
};
use crossterm::style::{ContentStyle, PrintStyledContent, StyledContent};
use crossterm::terminal::ClearType::FromCursorDown as Below;
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, queue};
use ratatui::Terminal;
use ratatui::backend::{Backend, ClearType, IntoCrossterm};
use ratatui::text::Line;

use super::backend::LinkBackend;
use super::key::{KeyCode, KeyPress};
use super::msg::{Mouse, Msg};
use super::progress;
use super::render::links::{CLOSING, Links};
use crate::config::UiConfig;

/// Where frames go: one write a frame, whatever it holds.
pub(super) type Screen = Terminal<LinkBackend<BufWriter<Stdout>>>;

/// Wheel, buttons, and the mouse while one is held.
const MOUSE_ON: &str = "\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1000l\x1b[?1003l\x1b[?1002l";

/// Keys like Shift-Enter told apart by xterm and tmux, which do not know kitty's protocol. A terminal
/// that takes it for a style has the style taken away again.
const OTHER_KEYS_ON: &str = "\x1b[>4;1m\x1b[0m";
const OTHER_KEYS_OFF: &str = "\x1b[>4m";

/// The window's title is kept by the terminal and given back, where it can do that.
const PUSH_TITLE: &str = "\x1b[22;0t";
const POP_TITLE: &str = "\x1b[23;0t";

static TAKEN: AtomicBool = AtomicBool::new(false);
/// Was the terminal told that a turn runs?
static PROGRESS: AtomicBool = AtomicBool::new(false);
/// Was the main screen kept, for a screen reader?
static IS_LINEAR: AtomicBool = AtomicBool::new(false);
/// Is the other screen shown?
static IS_FULL: AtomicBool = AtomicBool::new(false);
/// Live rows above the cursor on the main screen, and whether there may be any.
static ROWS_ABOVE: AtomicU16 = AtomicU16::new(0);
static IS_INLINE: AtomicBool = AtomicBool::new(false);

/// Takes the terminal over; dropping it gives the terminal back.
#[derive(Debug)]
pub(super) struct Guard(());

impl Guard {
    /// Raw mode, the other screen, pastes in brackets, focus and, if wanted, the mouse told, keys told
    /// apart.
    pub(super) fn take(settings: &UiConfig) -> io::Result<Self> {
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let guard = Self(());
        let mut out = io::stdout().lock();
        IS_LINEAR.store(settings.screen_reader, Ordering::SeqCst);
        if settings.screen_reader {
            // Nothing else: keys a terminal tells apart change what a screen reader hears.
            queue!(out, EnableBracketedPaste)?;
            out.flush()?;
            return Ok(guard);
        }
        IS_INLINE.store(settings.inline, Ordering::SeqCst);
        ROWS_ABOVE.store(0, Ordering::SeqCst);
        queue!(out, EnableBracketedPaste, EnableFocusChange)?;
        if settings.inline {
            queue!(out, KEYS_ON)?;
        } else {
            enter_full(&mut out, settings)?;
        }
        out.write_all(OTHER_KEYS_ON.as_bytes())?;
        out.write_all(PUSH_TITLE.as_bytes())?;
        out.flush()?;
        Ok(guard)
    }
}

/// Terminals that do not know it ignore it; asking first would cost a round trip.
const KEYS_ON: PushKeyboardEnhancementFlags = PushKeyboardEnhancementFlags(
    KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES
        .union(KeyboardEnhancementFlags::REPORT_ALTERNATE_KEYS),
);

/// Shows the other screen, with its own state of the keyboard and the mouse.
pub(super) fn enter_full(out: &mut impl Write, settings: &UiConfig) -> io::Result<()> {
    IS_FULL.store(true, Ordering::SeqCst);
    queue!(out, EnterAlternateScreen, KEYS_ON)?;
    if settings.mouse {
        out.write_all(MOUSE_ON.as_bytes())?;
    }
    Ok(())
}

/// Goes back to the main screen, with the cursor where it was.
///
/// Mouse reporting is switched off after leaving the other screen: some terminals switch it on again
/// with the screen.
pub(super) fn leave_full(out: &mut impl Write) -> io::Result<()> {
    if IS_FULL.swap(false, Ordering::SeqCst) {
        queue!(out, PopKeyboardEnhancementFlags, LeaveAlternateScreen)?;
        out.write_all(MOUSE_OFF.as_bytes())?;
    }
    Ok(())
}

/// Says how many live rows stand above the cursor, for [`restore`].
pub(super) fn keep_rows_above(rows: u16) {
    ROWS_ABOVE.store(rows, Ordering::SeqCst);
}

/// Takes the live rows away, so that a shell's prompt follows what was printed.
fn clear_rows(out: &mut impl Write) -> io::Result<()> {
    let above = ROWS_ABOVE.swap(0, Ordering::SeqCst);
    out.write_all(b"\x1b[0m\x1b[?7h\r")?;
    if above > 0 {
        queue!(out, cursor::MoveUp(above))?;
    }
    queue!(out, Clear(Below), PopKeyboardEnhancementFlags)
}

impl Drop for Guard {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back if it was taken. Safe to call at any time, any number of times.
pub(super) fn restore() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout().lock();
    if IS_LINEAR.load(Ordering::SeqCst) {
        let _ = queue!(out, DisableBracketedPaste);
        let _ = out.write_all(b"\r\n");
        let _ = out.flush();
        let _ = disable_raw_mode();
        return;
    }
    if PROGRESS.swap(false, Ordering::SeqCst) {
        let _ = out.write_all(progress::CLEAR.as_bytes());
    }
    // A terminal that is gone cannot be given back; there is nobody left to tell.
    let _ = queue!(out, EndSynchronizedUpdate);
    let _ = leave_full(&mut out);
    if IS_INLINE.load(Ordering::SeqCst) {
        let _ = clear_rows(&mut out);
    }
    let _ = queue!(out, DisableFocusChange, DisableBracketedPaste, cursor::Show);
    let _ = out.write_all(OTHER_KEYS_OFF.as_bytes());
    let _ = out.write_all(POP_TITLE.as_bytes());
    let _ = out.write_all(b"\x1b[0m");
    let _ = out.flush();
    let _ = disable_raw_mode();
}

/// Makes a panic of this thread give the terminal back before it is reported. Panics of other threads
/// end a task, not the screen: they go to the log.
pub(super) fn install_panic_hook() {
    let screen_thread = std::thread::current().id();
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        tracing::error!(panic = %info, "a part of the program failed");
        if std::thread::current().id() == screen_thread {
            restore();
            previous(info);
        }
    }));
}

/// A screen to draw on.
pub(super) fn screen(links: Option<Links>) -> io::Result<Screen> {
    Terminal::new(LinkBackend::new(BufWriter::with_capacity(1 << 16, io::stdout()), links))
}

/// Empties the terminal and forgets what was drawn, so that the next frame draws every cell.
///
/// Ratatui's own `clear` asks the terminal where the cursor is. The thread that reads keys may take
/// the answer away, and there are terminals that give none.
pub(super) fn forget(screen: &mut Screen) -> io::Result<()> {
    screen.backend_mut().clear_region(ClearType::All)?;
    screen.swap_buffers();
    Ok(())
}

/// Says `lines` above the line one writes in, which is written anew.
pub(super) fn say(out: &mut impl Write, lines: &[String], prompt: &str) -> io::Result<()> {
    out.write_all(b"\r\x1b[K")?;
    for line in lines {
        write!(out, "{line}\r\n")?;
    }
    out.write_all(prompt.as_bytes())?;
    out.flush()
}

/// Writes lines as a shell's command would: colours, no places.
pub(super) fn write_lines(
    out: &mut impl Write,
    lines: &[Line<'_>],
    links: Option<&Links>,
) -> io::Result<()> {
    for line in lines {
        write_line(out, line, links)?;
        out.write_all(b"\r\n")?;
    }
    Ok(())
}

/// Writes a line without its end.
pub(super) fn write_line(
    out: &mut impl Write,
    line: &Line<'_>,
    links: Option<&Links>,
) -> io::Result<()> {
    for span in &line.spans {
        let mut style = line.style.patch(span.style);
        let opening = links.and_then(|links| links.opening(style.underline_color));
        if let Some(opening) = &opening {
            out.write_all(opening.as_bytes())?;
            style.underline_color = None;
        }
        let style: ContentStyle = style.into_crossterm();
        queue!(out, PrintStyledContent(StyledContent::new(style, &span.content)))?;
        if opening.is_some() {
            out.write_all(CLOSING.as_bytes())?;
        }
    }
    Ok(())
}

/// Calls the window `title`, which must be free of control characters.
pub(super) fn set_title(screen: &mut Screen, title: &str) -> io::Result<()> {
    write!(screen.backend_mut(), "\x1b]2;{title}\x07")?;
    Write::flush(screen.backend_mut())
}

/// Writes what the terminal may show about the turn, if anything; when the program ends, however it
/// does, that is taken away.
pub(super) fn show_progress(screen: &mut Screen, sequence: &str, shows: bool) -> io::Result<()> {
    PROGRESS.store(shows, Ordering::SeqCst);
    let out = screen.backend_mut();
    out.write_all(sequence.as_bytes())?;
    Write::flush(out)
}

/// Has what the mouse does told, or left to the terminal.
pub(super) fn take_mouse(screen: &mut Screen, takes: bool) -> io::Result<()> {
    if !IS_FULL.load(Ordering::SeqCst) {
        // The shell's own scrollback is selected from with the terminal's mouse.
        return Ok(());
    }
    let out = screen.backend_mut();
    out.write_all(if takes { MOUSE_ON } else { MOUSE_OFF }.as_bytes())?;
    Write::flush(out)
}

/// Rings the bell, and says why where the terminal shows notifications (`OSC 9`).
pub(super) fn notify(screen: &mut Screen, text: &str) -> io::Result<()> {
    let shows = std::env::var("TERM_PROGRAM")
        .is_ok_and(|name| matches!(name.as_str(), "iTerm.app" | "WezTerm" | "ghostty"));
    let out = screen.backend_mut();
    if shows {
        write!(out, "\x1b]9;{text}\x07")?;
    }
    out.write_all(b"\x07")?;
    Write::flush(out)
}

/// Begins a frame that the terminal shows as a whole.
pub(super) fn begin_frame(screen: &mut Screen) -> io::Result<()> {
    queue!(screen.backend_mut(), BeginSynchronizedUpdate)
}

/// Ends it.
pub(super) fn end_frame(screen: &mut Screen) -> io::Result<()> {
    queue!(screen.backend_mut(), EndSynchronizedUpdate)?;
    Write::flush(screen.backend_mut())
}

/// What a terminal event means; none when it means nothing here.
pub(super) fn msg_of(event: TermEvent) -> Option<Msg> {
    match event {
        TermEvent::Key(key) if key.kind == KeyEventKind::Release => None,
        TermEvent::Key(key) => Some(Msg::Key(press_of(key.code, key.modifiers)?)),
        TermEvent::Paste(text) => Some(Msg::Paste(text)),
        TermEvent::Resize(width, height) => Some(Msg::Resize { width, height }),
        TermEvent::FocusGained => Some(Msg::Focus(true)),
        TermEvent::FocusLost => Some(Msg::Focus(false)),
        TermEvent::Mouse(mouse) => match mouse.kind {
            MouseEventKind::ScrollUp => Some(Msg::Wheel(-1)),
            MouseEventKind::ScrollDown => Some(Msg::Wheel(1)),
            MouseEventKind::Down(MouseButton::Left) => Some(of_mouse(Mouse::Press, &mouse)),
            MouseEventKind::Drag(MouseButton::Left) => Some(of_mouse(Mouse::Drag, &mouse)),
            MouseEventKind::Up(MouseButton::Left) => Some(of_mouse(Mouse::Release, &mouse)),
            _ => None,
        },
    }
}

fn of_mouse(what: Mouse, mouse: &MouseEvent) -> Msg {
    Msg::Mouse { what, x: mouse.column, y: mouse.row }
}

fn press_of(code: TermKey, modifiers: KeyModifiers) -> Option<KeyPress> {
    let mut shift = modifiers.contains(KeyModifiers::SHIFT);
    let code = match code {
        TermKey::Char(c) => KeyCode::Char(c),
        TermKey::Enter => KeyCode::Enter,
        TermKey::Esc => KeyCode::Esc,
        TermKey::Tab => KeyCode::Tab,
        TermKey::BackTab => {
            shift = true;
            KeyCode::Tab
        }
        TermKey::Backspace => KeyCode::Backspace,
        TermKey::Delete => KeyCode::Delete,
        TermKey::Left => KeyCode::Left,
        TermKey::Right => KeyCode::Right,
        TermKey::Up => KeyCode::Up,
        TermKey::Down => KeyCode::Down,
        TermKey::Home => KeyCode::Home,
        TermKey::End => KeyCode::End,
        TermKey::PageUp => KeyCode::PageUp,
        TermKey::PageDown => KeyCode::PageDown,
        TermKey::F(number) => KeyCode::F(number),
        _ => return None,
    };
    let ctrl = modifiers.contains(KeyModifiers::CONTROL);
    let alt = modifiers.contains(KeyModifiers::ALT);
    Some(KeyPress { code, ctrl, alt, shift }.normalised())
}
