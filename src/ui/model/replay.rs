//! A recorded session that is played: the story, and a clock of its own that can be stopped.
//!
//! The clock shows recorded time, so that everything the screen works out from times is as it was.
//! Long gaps, in which nothing happened, take a moment only.

use std::sync::Arc;

use crate::message::ContentPart;
use crate::session::Session;
use crate::wire::Event;
use crate::wire::record::Recorded;

/// Longest gap between two events that is played in full, in seconds.
const LONGEST_GAP: f64 = 2.0;
/// Characters a second at which text that was recorded as a whole appears, at least.
const TEXT_SPEED: f64 = 400.0;
/// Characters of a piece of it.
const PIECE: usize = 24;
/// Speeds there are.
pub const SPEEDS: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0];

/// A session that is played.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// Which.
    pub session: Session,
    /// What it is called.
    pub title: String,
    /// What happened, and when it is played, in seconds since the beginning.
    story: Arc<[(f64, Recorded)]>,
    /// Events that were played.
    pub next: usize,
    /// Where the clock stands, in seconds since the beginning.
    pub position: f64,
    /// Index into [`SPEEDS`].
    pub speed: usize,
    /// Does the clock stand still?
    pub is_paused: bool,
    /// When the clock was looked at last, in seconds since 1970.
    pub looked: f64,
    /// The program ends with it: it was started for it.
    pub is_all: bool,
}

impl Replay {
    /// At the beginning of `story`.
    #[must_use]
    pub fn new(session: Session, title: String, story: &[Recorded], now: f64) -> Self {
        let pieces = pieces(story);
        let mut at = 0.0;
        let mut last = pieces.first().map_or(0.0, |first| first.timestamp);
        let timed = pieces.into_iter().map(|recorded| {
            at += (recorded.timestamp - last).clamp(0.0, LONGEST_GAP);
            last = recorded.timestamp;
            (at, recorded)
        });
        Self {
            session,
            title,
            story: timed.collect(),
            next: 0,
            position: 0.0,
            speed: 1,
            is_paused: false,
            looked: now,
            is_all: false,
        }
    }

    /// How long it takes at speed 1, in seconds.
    #[must_use]
    pub fn length(&self) -> f64 {
        self.story.last().map_or(0.0, |(at, _)| *at)
    }

    /// Was everything played?
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.next >= self.story.len()
    }

    /// How many times as fast as it was.
    #[must_use]
    pub fn factor(&self) -> f64 {
        SPEEDS[self.speed.min(SPEEDS.len() - 1)]
    }

    /// Lets the clock go on until `now`.
    pub fn advance(&mut self, now: f64) {
        if !self.is_paused {
            self.position += (now - self.looked).max(0.0) * self.factor();
            self.position = self.position.min(self.length());
        }
        self.looked = now;
    }

    /// The next event, if its time has come.
    pub fn take_due(&mut self) -> Option<Recorded> {
        let (at, recorded) = self.story.get(self.next)?;
        (*at <= self.position).then(|| {
            self.next += 1;
            recorded.clone()
        })
    }

    /// The recorded time the clock shows, in seconds since 1970.
    #[must_use]
    pub fn recorded_time(&self) -> f64 {
        let last = self.next.saturating_sub(1);
        match self.story.get(last) {
            Some((at, recorded)) => recorded.timestamp + (self.position - at).max(0.0),
            None => 0.0,
        }
    }

    /// When the next event is due, in seconds since 1970; none while the clock stands still.
    #[must_use]
    pub fn due(&self) -> Option<f64> {
        if self.is_paused {
            return None;
        }
        let (at, _) = self.story.get(self.next)?;
        Some(self.looked + (at - self.position).max(0.0) / self.factor())
    }

    /// Puts the clock where the next event is.
    pub fn step(&mut self) {
        if let Some((at, _)) = self.story.get(self.next) {
            self.position = *at;
        }
    }

    /// Puts the clock where the next turn begins, or the one before; says whether everything has to
    /// be played again from the beginning.
    pub fn turn(&mut self, forward: bool) -> bool {
        let begins =
            |(_, recorded): &(f64, Recorded)| matches!(recorded.message, Event::TurnBegin(_));
        if forward {
            let next = self.story.iter().skip(self.next).find(|event| begins(event));
            self.position = next.map_or_else(|| self.length(), |(at, _)| *at);
            return false;
        }
        // Where this turn began, or when that is just now, where the one before did.
        let here = self.story[..self.next].iter().rposition(&begins);
        let before = here
            .filter(|&here| self.next - here <= 3)
            .and_then(|here| self.story[..here].iter().rposition(&begins));
        let target = before.or(here).unwrap_or(0);
        self.position = self.story.get(target).map_or(0.0, |(at, _)| *at);
        self.next = 0;
        true
    }

    /// Which turn is played, and how many there are.
    #[must_use]
    pub fn turns(&self) -> (usize, usize) {
        let count = |events: &[(f64, Recorded)]| {
            events.iter().filter(|(_, r)| matches!(r.message, Event::TurnBegin(_))).count()
        };
        (count(&self.story[..self.next.min(self.story.len())]), count(&self.story))
    }
}

/// Text was recorded in one piece for each answer; it is played as it came, in many.
fn pieces(story: &[Recorded]) -> Vec<Recorded> {
    let mut out = Vec::with_capacity(story.len());
    for (index, recorded) in story.iter().enumerate() {
        let text = match &recorded.message {
            Event::ContentPart(ContentPart::Text { text }) if text.chars().count() > PIECE => text,
            _ => {
                out.push(recorded.clone());
                continue;
            }
        };
        let chars: Vec<char> = text.chars().collect();
        let gap = story.get(index + 1).map_or(1.0, |next| next.timestamp - recorded.timestamp);
        let wanted = f64::from(u32::try_from(chars.len()).unwrap_or(u32::MAX)) / TEXT_SPEED;
        let time = gap.clamp(0.0, LONGEST_GAP * 0.9).min(wanted.max(0.2));
        let count = chars.len().div_ceil(PIECE);
        let each = time / f64::from(u32::try_from(count).unwrap_or(1));
        let mut at = recorded.timestamp;
        for piece in chars.chunks(PIECE) {
            let message = Event::ContentPart(ContentPart::text(piece.iter().collect::<String>()));
            out.push(Recorded { timestamp: at, message });
            at += each;
        }
    }
    out
}
