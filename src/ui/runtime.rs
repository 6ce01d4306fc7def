//! The loop: waits for something to happen, lets `update` take it in, carries out the effects, draws.

mod inline;

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::Signal as UnixSignal;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{self, UnboundedReceiver};

use super::UiExit;
use super::clock::FrameClock;
use super::effect::{Effect, OpenTarget};
use super::exec::{Done, DoorSource, Executor};
use super::external;
use super::input::Input;
use super::model::Model;
use super::msg::Msg;
use super::progress::Reporter;
use super::terminal::{self, Guard, Screen};
use super::theme::ground::{ANSWERS_WITHIN, AUTO, Heard, Listener, QUESTION};
use super::theme::{ColorDepth, Theme};
use super::update::update;
use super::view::title::title;
use super::view::{Caches, Linear, farewell, progress, view};
use crate::wire::DoorMessage;
use inline::Inline;

/// Messages of the engine taken in before a frame, at most: a flood must not starve the keys.
const BATCH: usize = 2048;

/// Seconds since 1970 that never go back, whatever happens to the machine's clock.
#[derive(Debug, Clone, Copy)]
struct Time {
    began: Instant,
    began_unix: f64,
}

impl Time {
    fn start() -> Self {
        let unix =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |now| now.as_secs_f64());
        Self { began: Instant::now(), began_unix: unix }
    }

    fn now(self) -> f64 {
        self.began_unix + self.began.elapsed().as_secs_f64()
    }
}

/// What the loop works with.
struct App {
    model: Model,
    theme: Theme,
    caches: Caches,
    screen: Screen,
    guard: Option<Guard>,
    clock: FrameClock,
    time: Time,
    executor: Executor,
    // None while another program has the terminal.
    input: Option<Input>,
    signals: Signals,
    shown_title: String,
    /// What the terminal shows about the turn.
    progress: Reporter,
    /// What was said, where a screen reader reads the screen.
    linear: Option<Linear>,
    /// What was printed, where the conversation goes into the shell's own scrollback.
    inline: Option<Inline>,
    /// Waits for the terminal to say what its background is like, until then.
    listener: Option<(Listener, f64)>,
    /// The terminal may have lost what was drawn.
    is_stale: bool,
    is_over: bool,
    /// The signal that is to end it.
    signal: Option<UnixSignal>,
}

/// Signals that end the program, and the one that stops it.
struct Signals {
    terminate: Signal,
    hangup: Signal,
    interrupt: Signal,
    quit: Signal,
    stop: Signal,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            stop: signal(SignalKind::from_raw(UnixSignal::TSTP.as_raw()))?,
        })
    }
}

/// Shows the screen until the person leaves.
pub(super) async fn run(
    mut model: Model,
    target: OpenTarget,
    theme: Theme,
    host: Arc<dyn DoorSource>,
) -> anyhow::Result<UiExit> {
    terminal::install_panic_hook();
    let time = Time::start();
    let guard = Guard::take(&model.settings)?;
    let screen = terminal::screen(theme.links.clone())?;
    let size = screen.size()?;
    (model.screen.width, model.screen.height) = (size.width, size.height);
    model.status.info = Arc::new(crate::wire::SessionInfo {
        work_dir: host.work_dir().to_path_buf(),
        ..crate::wire::SessionInfo::default()
    });
    let (done, results) = mpsc::unbounded_channel();
    model.program.engine_elsewhere = host.host().is_none();
    model.program.external_editor.clone_from(&host.config().default_editor);
    model.known_models = host.config().models.keys().cloned().collect();
    let executor = Executor::new(host, done);
    let linear = model.settings.screen_reader.then(Linear::default);
    let inline = model.settings.inline.then(|| Inline::new(&model.settings, theme.links.clone()));
    let mut app = App {
        model,
        theme,
        caches: Caches::default(),
        screen,
        guard: Some(guard),
        clock: FrameClock::default(),
        time,
        executor,
        input: None,
        signals: Signals::listen()?,
        shown_title: String::new(),
        progress: Reporter::new(&|name| std::env::var(name).ok()),
        listener: None,
        linear,
        inline,
        is_stale: false,
        is_over: false,
        signal: None,
    };
    // The person sees the screen before anything is read, opened or asked.
    app.draw()?;
    app.ask_ground()?;
    let id = app.model.next_effect();
    app.model.opening = Some(id);
    app.executor.run(Effect::Open { id, target });
    app.executor.load_history();
    let ended = app.serve(results).await;
    let session = app.model.status.info.id.clone();
    let printed = app.print_rest();
    // A terminal that is gone shows nothing either.
    let _ = app.stop_progress();
    drop(app.guard.take());
    app.say_farewell();
    app.executor.shut_down().await;
    ended?;
    printed?;
    Ok(UiExit { session, signal: app.signal.map(UnixSignal::as_raw) })
}

impl App {
    async fn serve(&mut self, mut results: UnboundedReceiver<Done>) -> anyhow::Result<()> {
        while !self.is_over {
            let now = self.time.now();
            let due = self.clock.due(now);
            let frame = async move {
                // A timer rounds up to milliseconds: what is due is due, and a key is shown at once.
                if due.is_none_or(|due| due > now) {
                    sleep_until(due, now).await;
                }
            };
            let change = sleep_until(self.model.next_change(now), now);
            let input = match &mut self.input {
                Some(input) => input,
                none => none.insert(Input::open()?),
            };
            let signals = &mut self.signals;
            tokio::select! {
                biased;
                event = input.next() => match event {
                    Some(Ok(event)) => {
                        if let Some(msg) = terminal::msg_of(event) {
                            // A window made smaller and larger again between two frames has the size
                            // it had, but not what was in it.
                            self.is_stale |= matches!(msg, Msg::Resize { .. });
                            self.clock.want_now();
                            self.input(msg)?;
                        }
                    }
                    // The terminal is gone: reading on would spin.
                    Some(Err(_)) | None => self.end_by(UnixSignal::HUP)?,
                },
                () = frame => self.draw()?,
                _ = signals.terminate.recv() => self.end_by(UnixSignal::TERM)?,
                _ = signals.hangup.recv() => self.end_by(UnixSignal::HUP)?,
                _ = signals.interrupt.recv() => self.end_by(UnixSignal::INT)?,
                _ = signals.quit.recv() => self.end_by(UnixSignal::QUIT)?,
                _ = signals.stop.recv() => self.suspend()?,
                done = results.recv() => if let Some(done) = done { self.finish(done)? },
                message = self.executor.next_from_door() => self.hear(message)?,
                () = change => {
                    self.clock.want();
                    self.take_in(Msg::Tick)?;
                }
            }
        }
        Ok(())
    }

    fn end_by(&mut self, signal: UnixSignal) -> anyhow::Result<()> {
        self.signal = Some(signal);
        self.take_in(Msg::Terminate)
    }

    /// Takes in what the person did, and what the terminal says among it.
    fn input(&mut self, msg: Msg) -> anyhow::Result<()> {
        let Some((mut listener, until)) = self.listener.take() else { return self.take_in(msg) };
        let heard = match msg {
            Msg::Key(key) => listener.hear(key),
            other => {
                for key in listener.give_back() {
                    self.take_in(Msg::Key(key))?;
                }
                self.listener = Some((listener, until));
                return self.take_in(other);
            }
        };
        match heard {
            Heard::Answer(ground) => {
                self.executor.ground = ground;
                if self.model.themes.shown == AUTO {
                    self.executor.run(Effect::ShowTheme(AUTO.to_owned()));
                }
            }
            Heard::Part => self.listener = Some((listener, until)),
            Heard::Keys(keys) => {
                self.listener = (self.time.now() < until).then_some((listener, until));
                for key in keys {
                    self.take_in(Msg::Key(key))?;
                }
            }
        }
        Ok(())
    }

    /// Asks the terminal what its background is like, if the theme depends on it. The answer comes
    /// among the keys, whenever it comes.
    fn ask_ground(&mut self) -> anyhow::Result<()> {
        let term = std::env::var("TERM").unwrap_or_default();
        // These would print the question.
        let knows = !matches!(term.as_str(), "" | "dumb" | "linux");
        if self.model.themes.shown == AUTO && knows && self.theme.depth != ColorDepth::None {
            let out = self.screen.backend_mut();
            out.write_all(QUESTION.as_bytes())?;
            Write::flush(out)?;
            self.listener = Some((Listener::default(), self.time.now() + ANSWERS_WITHIN));
        }
        Ok(())
    }

    /// Leaves the conversation, or its end, where the shell goes on.
    fn say_farewell(&mut self) {
        if self.linear.is_some() || self.inline.is_some() {
            return;
        }
        let Ok(size) = self.screen.size() else { return };
        let (what, now) = (self.model.settings.on_exit, self.time.now());
        let mut out = io::BufWriter::new(io::stdout().lock());
        // A terminal that is gone has no scrollback.
        let _ = farewell(
            &self.model,
            &self.theme,
            what,
            (size.width, size.height),
            now,
            &mut |lines| terminal::write_lines(&mut out, lines, self.theme.links.as_ref()),
        );
    }

    /// Takes in what the engine says, and all that waits behind it, before anything is drawn.
    fn hear(&mut self, first: Option<DoorMessage>) -> anyhow::Result<()> {
        self.clock.want();
        let Some(first) = first else {
            self.executor.door = None;
            return self.take_in(Msg::DoorClosed);
        };
        self.take_in(Msg::Door(first))?;
        for _ in 1..BATCH {
            let Some(door) = &mut self.executor.door else { break };
            let Ok(message) = door.messages.try_recv() else { break };
            self.take_in(Msg::Door(message))?;
        }
        Ok(())
    }

    fn finish(&mut self, done: Done) -> anyhow::Result<()> {
        self.clock.want();
        match done {
            Done::Msg(msg) => self.take_in(msg),
            Done::Door(door, id, opened) => {
                if self.model.opening == Some(id) {
                    self.executor.door = Some(*door);
                }
                self.take_in(Msg::Opened { id, result: Ok(*opened) })
            }
            Done::Write(bytes, said) => {
                self.screen.backend_mut().write_all(bytes.as_bytes())?;
                Write::flush(self.screen.backend_mut())?;
                self.take_in(Msg::Said(said))
            }
            Done::Theme(theme) => {
                if self.linear.is_none() {
                    self.theme = theme.with_links(self.theme.links.clone());
                }
                Ok(())
            }
            Done::Highlighted(result) => {
                self.caches.highlight.insert(result);
                Ok(())
            }
        }
    }

    fn take_in(&mut self, msg: Msg) -> anyhow::Result<()> {
        self.clock.want();
        for effect in update(&mut self.model, msg, self.time.now()) {
            match effect {
                Effect::Quit => self.is_over = true,
                Effect::Suspend => self.suspend()?,
                Effect::EditExternally(text) => self.edit(&text)?,
                Effect::Redraw => self.forget()?,
                Effect::Notify(text) => terminal::notify(&mut self.screen, text)?,
                Effect::TakeMouse(takes) => terminal::take_mouse(&mut self.screen, takes)?,
                effect => self.executor.run(effect),
            }
        }
        Ok(())
    }

    /// The terminal may have lost what was drawn.
    fn forget(&mut self) -> io::Result<()> {
        if self.linear.is_some() {
            // What was said was said; only the line one writes in is written again.
            self.shown_title.clear();
            return Ok(());
        }
        if let Some(inline) = self.inline.as_mut().filter(|inline| !inline.is_full()) {
            inline.distrust();
            return Ok(());
        }
        terminal::forget(&mut self.screen)
    }

    /// Says what is new, for a screen reader.
    fn say(&mut self) -> anyhow::Result<()> {
        let now = self.time.now();
        let Self { model, theme, caches, screen, shown_title, linear, .. } = self;
        let Some(linear) = linear else { return Ok(()) };
        let width = model.screen.width;
        let said = linear.next(model, theme, caches, width, now);
        let prompt = Linear::prompt(model, width);
        if !said.lines.is_empty() || *shown_title != prompt {
            terminal::say(screen.backend_mut(), &said.lines, &prompt)?;
            *shown_title = prompt;
        }
        let _ = model.painted(&said.info);
        self.clock.drawn(now);
        Ok(())
    }

    fn draw(&mut self) -> anyhow::Result<()> {
        if self.linear.is_some() {
            return self.say();
        }
        let now = self.time.now();
        let Self { model, theme, caches, screen, shown_title, is_stale, inline, .. } = self;
        terminal::begin_frame(screen)?;
        let mut info = None;
        match inline {
            Some(inline) if !model.wants_full_screen() => {
                if std::mem::take(is_stale) {
                    inline.distrust();
                }
                info = Some(inline.draw(model, theme, caches, screen, now)?);
            }
            _ => {
                if let Some(inline) = inline {
                    *is_stale |= inline.enter_full(screen, &model.settings)?;
                }
                if std::mem::take(is_stale) {
                    terminal::forget(screen)?;
                }
                screen.draw(|frame| info = Some(view(model, theme, caches, frame, now)))?;
            }
        }
        terminal::end_frame(screen)?;
        if let Some(copy) = info.and_then(|info| model.painted(&info)) {
            self.executor.run(copy);
        }
        let title = title(model);
        if *shown_title != title {
            terminal::set_title(screen, &title)?;
            *shown_title = title;
        }
        let setting = model.settings.progress;
        if let Some(said) = self.progress.say(progress(model), setting, now) {
            terminal::show_progress(screen, &said, self.progress.shows())?;
        }
        let wanted = caches.highlight.take_wanted();
        self.executor.highlight(wanted);
        self.clock.drawn(now);
        Ok(())
    }

    /// What the terminal shows about the turn goes with the screen.
    fn stop_progress(&mut self) -> io::Result<()> {
        match self.progress.stop() {
            Some(said) => terminal::show_progress(&mut self.screen, &said, false),
            None => Ok(()),
        }
    }

    /// Lets another program have the terminal until it ends. The engine goes on meanwhile.
    fn edit(&mut self, text: &str) -> anyhow::Result<()> {
        // The reader would take keys from the editor.
        self.input = None;
        self.stop_progress()?;
        drop(self.guard.take());
        let result = external::edit(text, &self.model.program.external_editor);
        self.retake()?;
        // What was typed to stop the editor does not end this program. Whoever ends this program
        // meanwhile is obeyed when the editor has given its text back.
        self.signals.interrupt = signal(SignalKind::interrupt())?;
        self.signals.quit = signal(SignalKind::quit())?;
        self.clock.want_now();
        self.take_in(Msg::Edited(result))
    }

    /// Gives the terminal back, stops, and takes it again when the shell lets it go on.
    fn suspend(&mut self) -> anyhow::Result<()> {
        use rustix::process::{Signal, getpgrp, getsid, kill_current_process_group};

        // A shell with jobs gives each a group of its own. Where there is none, in a window opened
        // for this program alone, nobody could wake it.
        if getsid(None)? == getpgrp() {
            let why = "Not suspended: there is no shell here to come back from";
            return self.take_in(Msg::Said(why.to_owned()));
        }
        self.stop_progress()?;
        drop(self.guard.take());
        // SIGTSTP is caught here, so the stop that cannot be caught does what it asks for; with a
        // script that started this, or the shell would go on waiting for it.
        kill_current_process_group(Signal::STOP)?;
        self.retake()?;
        self.clock.want_now();
        Ok(())
    }

    /// Takes the terminal again after another program had it.
    fn retake(&mut self) -> anyhow::Result<()> {
        self.guard = Some(Guard::take(&self.model.settings)?);
        match &mut self.inline {
            Some(inline) => inline.forget(),
            None => self.forget()?,
        }
        Ok(())
    }

    /// Prints what is not in the scrollback yet; there are no live rows after that.
    fn print_rest(&mut self) -> anyhow::Result<()> {
        let now = self.time.now();
        let Self { model, theme, screen, inline, .. } = self;
        match inline {
            Some(inline) => inline.print_rest(model, theme, screen, now),
            None => Ok(()),
        }
    }
}

async fn sleep_until(at: Option<f64>, now: f64) {
    match at {
        Some(at) => {
            let wait = Duration::try_from_secs_f64((at - now).max(0.0)).unwrap_or_default();
            tokio::time::sleep(wait).await;
        }
        None => std::future::pending().await,
    }
}
