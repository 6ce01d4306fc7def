//! The log: daily files in the share folder, ten of them kept. Never the screen.
//!
//! Logging must not keep the program from working: when the folder cannot be written, what would
//! have been logged is dropped. (`tracing-appender` would tell of it on standard error.)

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::files::open_append;

/// How many files are kept.
const KEPT: usize = 10;
const PREFIX: &str = "kimi-tui.";
const SUFFIX: &str = ".log";

/// Begins to log into `folder`. The first line makes the file, so a start that logs nothing
/// touches nothing.
pub fn start(folder: &Path, level: LevelFilter) {
    // Libraries are of interest only when something is wrong with them.
    let targets = Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_target(env!("CARGO_CRATE_NAME"), level);
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(DailyFile::new(folder.to_owned()));
    // A second start, in tests, keeps the first.
    let _ = tracing_subscriber::registry().with(targets).with(layer).try_init();
}

/// A file for each day that has something to log.
#[derive(Debug)]
struct DailyFile {
    folder: PathBuf,
    /// The day's file; none in it when it could not be opened, which is not tried again that day.
    today: Mutex<Option<(Date, Option<File>)>>,
}

impl DailyFile {
    fn new(folder: PathBuf) -> Self {
        Self { folder, today: Mutex::new(None) }
    }

    fn append(&self, day: Date, bytes: &[u8]) {
        let mut today = self.today.lock().unwrap_or_else(PoisonError::into_inner);
        if today.as_ref().is_none_or(|(opened, _)| *opened != day) {
            let file = open_append(&self.folder.join(format!("{PREFIX}{day}{SUFFIX}"))).ok();
            self.prune();
            *today = Some((day, file));
        }
        if let Some((_, Some(file))) = &mut *today {
            // Nobody can be told: the screen is in use, and the log is what fails.
            let _ = file.write_all(bytes);
        }
    }

    /// Removes the oldest files. Dates in names sort as they follow each other.
    fn prune(&self) {
        let Ok(list) = fs::read_dir(&self.folder) else { return };
        let mut names: Vec<String> = list
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX))
            .collect();
        names.sort_unstable();
        let too_many = names.len().saturating_sub(KEPT);
        for name in &names[..too_many] {
            let _ = fs::remove_file(self.folder.join(name));
        }
    }
}

impl<'a> MakeWriter<'a> for DailyFile {
    type Writer = LineWriter<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        LineWriter(self)
    }
}

/// Takes one record; the subscriber writes each in one piece.
struct LineWriter<'a>(&'a DailyFile);

impl Write for LineWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The days are UTC's, as the times in the lines are. Asking for the local day would read the
        // machine's whole list of time zones, before the first frame.
        self.0.append(TimeZone::UTC.to_datetime(Timestamp::now()).date(), bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let list = fs::read_dir(folder).expect("list");
        let mut names: Vec<String> = list
            .map(|entry| entry.expect("entry").file_name().into_string().expect("name"))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn each_day_has_its_file_and_old_ones_go() {
        let folder = tempfile::tempdir().expect("folder");
        let logs = folder.path().join("logs");
        let log = DailyFile::new(logs.clone());
        assert!(!logs.exists(), "nothing was logged yet");
        for day in 1..=28 {
            log.append(date(2026, 2, day), b"one ");
            log.append(date(2026, 2, day), b"two\n");
        }
        let kept = names(&logs);
        assert_eq!(kept.len(), KEPT);
        assert_eq!(kept.first().expect("a file"), "kimi-tui.2026-02-19.log");
        let last = fs::read_to_string(logs.join("kimi-tui.2026-02-28.log")).expect("the last");
        assert_eq!(last, "one two\n");
    }

    #[test]
    fn other_files_are_left_alone() {
        let folder = tempfile::tempdir().expect("folder");
        for n in 0..20 {
            fs::write(folder.path().join(format!("kimi.{n}.log")), "the Python program's").unwrap();
        }
        DailyFile::new(folder.path().to_owned()).append(date(2026, 1, 1), b"x");
        assert_eq!(names(folder.path()).len(), 21);
    }

    #[test]
    fn a_folder_that_cannot_be_written_costs_the_log_only() {
        let folder = tempfile::tempdir().expect("folder");
        let in_the_way = folder.path().join("logs");
        fs::write(&in_the_way, "a file").expect("file");
        let log = DailyFile::new(in_the_way);
        assert_eq!(log.make_writer().write(b"lost").expect("no error"), 4);
    }
}
