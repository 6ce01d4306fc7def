//! How long to wait before a model call is made again. Pure; the engine decides whether and sleeps.

use std::time::Duration;

/// The longest wait when the server did not name one.
const LONGEST: f64 = 5.0;
/// The longest a server may ask for: beyond it a person would rather be told.
const LONGEST_ASKED: Duration = Duration::from_secs(60);

/// The wait after `failed_attempts` (1 after the first) in the style of kimi-cli 1.49:
/// 0.3 s · 2^(n-1), plus up to 0.5 s by `jitter` (0 to 1), at most 5 s. A wait the server asked for
/// wins, up to 60 s.
#[must_use]
pub fn retry_delay(failed_attempts: u64, jitter: f64, retry_after: Option<Duration>) -> Duration {
    if let Some(asked) = retry_after {
        return asked.min(LONGEST_ASKED);
    }
    // 2^10 is beyond the cap; more would overflow for nothing.
    let doublings = i32::try_from(failed_attempts.saturating_sub(1).min(10)).unwrap_or(10);
    // `clamp` keeps a NaN, and a NaN would make the duration panic.
    let jitter = if jitter.is_nan() { 0.0 } else { jitter.clamp(0.0, 1.0) };
    Duration::from_secs_f64((0.3 * 2_f64.powi(doublings) + 0.5 * jitter).min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(failed: u64, jitter: f64) -> f64 {
        retry_delay(failed, jitter, None).as_secs_f64()
    }

    #[test]
    fn it_doubles_and_stops_at_five_seconds() {
        let waits: Vec<f64> = (1..=6).map(|n| seconds(n, 0.0)).collect();
        for (wait, expected) in waits.iter().zip([0.3, 0.6, 1.2, 2.4, 4.8, 5.0]) {
            assert!((wait - expected).abs() < 1e-9, "{waits:?}");
        }
        assert!((seconds(u64::MAX, 1.0) - 5.0).abs() < 1e-9);
        assert!((seconds(0, 0.0) - 0.3).abs() < 1e-9);
    }

    #[test]
    fn jitter_adds_up_to_half_a_second_whatever_it_is() {
        assert!((seconds(1, 0.5) - 0.55).abs() < 1e-9);
        assert!((seconds(1, 7.0) - 0.8).abs() < 1e-9);
        assert!((seconds(1, f64::NAN) - 0.3).abs() < 1e-9);
        assert!((seconds(1, -1.0) - 0.3).abs() < 1e-9);
    }

    #[test]
    fn the_servers_wish_wins_within_reason() {
        let asked = |secs| retry_delay(1, 0.9, Some(Duration::from_secs(secs)));
        assert_eq!(asked(0), Duration::ZERO);
        assert_eq!(asked(20), Duration::from_secs(20));
        assert_eq!(asked(3600), Duration::from_secs(60));
    }
}
