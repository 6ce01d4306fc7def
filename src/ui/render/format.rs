//! How durations, sizes, tokens, times, shares and folders are written. Nothing else formats them.

use std::time::Duration;

/// A duration: `850ms`, `1.2s`, `42s`, `3m 05s`, `2h 07m`, `3d 04h`.
#[must_use]
pub fn duration(time: Duration) -> String {
    let millis = time.as_millis();
    if millis < 1000 {
        return format!("{millis}ms");
    }
    if millis < 10_000 {
        return format!("{}.{}s", millis / 1000, millis % 1000 / 100);
    }
    seconds(time)
}

/// A duration that is still growing, in whole seconds, so that it changes once a second: `0s`, `42s`,
/// `3m 05s`.
#[must_use]
pub fn seconds(time: Duration) -> String {
    let total = time.as_secs();
    let (days, hours, minutes, seconds) =
        (total / 86_400, total / 3600 % 24, total / 60 % 60, total % 60);
    if days > 0 {
        format!("{days}d {hours:02}h")
    } else if hours > 0 {
        format!("{hours}h {minutes:02}m")
    } else if minutes > 0 {
        format!("{minutes}m {seconds:02}s")
    } else {
        format!("{seconds}s")
    }
}

/// A size in bytes: `512 B`, `1.5 KB`, `20 MB`; a KB is 1024 bytes.
#[must_use]
pub fn size(bytes: u64) -> String {
    let (number, unit) = scaled(bytes, 1024, &["B", "KB", "MB", "GB", "TB", "PB", "EB"]);
    format!("{number} {unit}")
}

/// A count of tokens: `999`, `4.2k`, `128k`, `1.3M`.
#[must_use]
pub fn tokens(count: u64) -> String {
    let (number, unit) = scaled(count, 1000, &["", "k", "M", "G", "T", "P", "E"]);
    format!("{number}{unit}")
}

/// `value` in the largest unit that leaves at least 1, with one decimal below 100 unless it is 0.
fn scaled(value: u64, base: u64, units: &[&'static str]) -> (String, &'static str) {
    let (value, base) = (u128::from(value), u128::from(base));
    let (mut scale, mut index) = (1, 0);
    // Rounded first: 999.6k is 1M, not 1000k.
    while index + 1 < units.len() && (value + scale / 2) / scale >= base {
        scale *= base;
        index += 1;
    }
    let unit = units[index];
    let tenths = (value * 10 + scale / 2) / scale;
    if index == 0 || tenths >= 1000 {
        return (((value + scale / 2) / scale).to_string(), unit);
    }
    let (whole, tenth) = (tenths / 10, tenths % 10);
    (if tenth == 0 { whole.to_string() } else { format!("{whole}.{tenth}") }, unit)
}

/// How long ago something was: `now`, `5m ago`, `3h ago`, `2d ago`, `5w ago`, `2y ago`.
#[must_use]
pub fn ago(age: Duration) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    const WEEK: u64 = 7 * DAY;
    const YEAR: u64 = 365 * DAY;
    let seconds = age.as_secs();
    let (count, unit) = match seconds {
        0..MINUTE => return "now".to_owned(),
        MINUTE..HOUR => (seconds / MINUTE, "m"),
        HOUR..DAY => (seconds / HOUR, "h"),
        DAY..WEEK => (seconds / DAY, "d"),
        WEEK..YEAR => (seconds / WEEK, "w"),
        _ => (seconds / YEAR, "y"),
    };
    format!("{count}{unit} ago")
}

/// A share from 0 to 1 as a percentage: `0%`, `<1%`, `42%`, `100%`. 100 only when it is full.
#[must_use]
pub fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.01 {
        return "<1%".to_owned();
    }
    format!("{}%", percent_number(share))
}

/// The number in [`percent`], from 0 to 100.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Clamped just before.
pub fn percent_number(share: f64) -> u8 {
    let rounded = (share * 100.0).round().clamp(0.0, 100.0) as u8;
    if rounded == 100 && share < 1.0 { 99 } else { rounded }
}

/// A folder, with `~` for the person's home.
#[must_use]
pub fn folder(path: &str, home: Option<&str>) -> String {
    match home.and_then(|home| path.strip_prefix(home.trim_end_matches('/'))) {
        Some("") => "~".to_owned(),
        Some(rest) if rest.starts_with('/') && rest != path => format!("~{rest}"),
        _ => path.to_owned(),
    }
}

/// A count with its noun: `1 file`, `2 files`.
#[must_use]
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let ms = Duration::from_millis;
        for (time, text) in [
            (ms(0), "0ms"),
            (ms(999), "999ms"),
            (ms(1250), "1.2s"),
            (ms(9999), "9.9s"),
            (ms(42_400), "42s"),
            (ms(185_000), "3m 05s"),
            (ms(7_620_000), "2h 07m"),
            (ms(274_000_000), "3d 04h"),
        ] {
            assert_eq!(duration(time), text);
        }
        assert_eq!(seconds(ms(900)), "0s");
        assert!(!duration(Duration::MAX).is_empty());
    }

    #[test]
    fn sizes_and_tokens() {
        for (count, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1k"),
            (4200, "4.2k"),
            (4249, "4.2k"),
            (128_000, "128k"),
            (999_499, "999k"),
            (999_600, "1M"),
            (1_300_000, "1.3M"),
            (u64::MAX, "18.4E"),
        ] {
            assert_eq!(tokens(count), text, "{count}");
        }
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KB"),
            (1536, "1.5 KB"),
            (20 * 1024 * 1024, "20 MB"),
            (1024 * 1024 - 1, "1 MB"),
            (u64::MAX, "16 EB"),
        ] {
            assert_eq!(size(bytes), text, "{bytes}");
        }
    }

    #[test]
    fn folders() {
        let home = Some("/home/me");
        assert_eq!(folder("/home/me", home), "~");
        assert_eq!(folder("/home/me/work", home), "~/work");
        assert_eq!(folder("/home/meg/work", home), "/home/meg/work");
        assert_eq!(folder("/home/me/work", Some("/home/me/")), "~/work");
        assert_eq!(folder("/home/me", None), "/home/me");
        // Where the whole disk is somebody's home, nothing would be left of the path.
        assert_eq!(folder("/srv", Some("/")), "/srv");
        assert_eq!(folder("unknown folder", home), "unknown folder");
    }

    #[test]
    fn ages_and_shares() {
        let ages = [0, 59, 60, 3599, 7200, 86_400 * 3, 86_400 * 15, 86_400 * 800];
        assert_eq!(
            ages.map(|seconds| ago(Duration::from_secs(seconds))),
            ["now", "now", "1m ago", "59m ago", "2h ago", "3d ago", "2w ago", "2y ago"]
        );
        let shares = [0.0, 0.001, 0.01, 0.424, 0.999, 1.0, 1.5, -1.0, f64::NAN];
        assert_eq!(
            shares.map(percent),
            ["0%", "<1%", "1%", "42%", "99%", "100%", "100%", "0%", "0%"]
        );
        assert_eq!(count(1, "file", "files"), "1 file");
        assert_eq!(count(0, "file", "files"), "0 files");
    }
}
