//! When to draw: at most 60 frames a second, at once after a key, never without a reason. Pure: times
//! are given to it, in seconds.

/// Least time between two frames, in seconds.
pub const FRAME: f64 = 1.0 / 60.0;

/// Knows when the next frame is due.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FrameClock {
    last: f64,
    is_wanted: bool,
    is_urgent: bool,
}

impl FrameClock {
    /// Something changed.
    pub fn want(&mut self) {
        self.is_wanted = true;
    }

    /// A key was pressed: its effect is shown at once.
    pub fn want_now(&mut self) {
        self.is_wanted = true;
        self.is_urgent = true;
    }

    /// When to draw; none while nothing changed.
    #[must_use]
    pub fn due(&self, now: f64) -> Option<f64> {
        match (self.is_wanted, self.is_urgent) {
            (false, _) => None,
            (true, true) => Some(now),
            (true, false) => Some((self.last + FRAME).max(now)),
        }
    }

    /// A frame was drawn.
    pub fn drawn(&mut self, now: f64) {
        *self = Self { last: now, is_wanted: false, is_urgent: false };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_one_frame_and_a_key_does_not_wait() {
        let mut clock = FrameClock::default();
        assert_eq!(clock.due(10.0), None);
        clock.want();
        assert_eq!(clock.due(10.0), Some(10.0), "the first change after a pause is drawn at once");
        clock.drawn(10.0);
        for _ in 0..1000 {
            clock.want();
        }
        assert_eq!(clock.due(10.001), Some(10.0 + FRAME));
        clock.want_now();
        assert_eq!(clock.due(10.002), Some(10.002));
        clock.drawn(10.002);
        assert_eq!(clock.due(99.0), None, "nothing is drawn without a reason");
    }
}
