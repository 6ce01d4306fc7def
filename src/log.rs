//! The log: daily files in the share folder, ten of them kept. Never the screen.
//!
//! Logging must not keep the program from working: when the folder cannot be written, what would
//! have been logged is dropped.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tracing::level_filters::LevelFilter;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// How many days are kept.
const DAYS: usize = 10;

/// Begins to log into `folder`. The first line makes the file, so a start that logs nothing
/// touches nothing.
pub fn start(folder: &Path, level: LevelFilter) {
    // Libraries are of interest only when something is wrong with them.
    let targets = Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_target(env!("CARGO_CRATE_NAME"), level);
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(LazyFile::new(folder.to_owned()));
    // A second start, in tests, keeps the first.
    let _ = tracing_subscriber::registry().with(targets).with(layer).try_init();
}

/// A log file that comes into being with its first line.
#[derive(Debug, Clone)]
struct LazyFile(Arc<LazyState>);

#[derive(Debug)]
struct LazyState {
    folder: PathBuf,
    file: OnceLock<Option<RollingFileAppender>>,
}

impl LazyFile {
    fn new(folder: PathBuf) -> Self {
        Self(Arc::new(LazyState { folder, file: OnceLock::new() }))
    }

    fn file(&self) -> Option<&RollingFileAppender> {
        let open = || {
            RollingFileAppender::builder()
                .rotation(Rotation::DAILY)
                .filename_prefix("kimi-tui")
                .filename_suffix("log")
                .max_log_files(DAYS)
                .build(&self.0.folder)
                .ok()
        };
        self.0.file.get_or_init(open).as_ref()
    }
}

impl<'a> MakeWriter<'a> for LazyFile {
    type Writer = LazyWriter<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        LazyWriter(self)
    }
}

struct LazyWriter<'a>(&'a LazyFile);

impl Write for LazyWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(file) = self.0.file() {
            // The subscriber would complain of a failure on standard error: on the screen.
            let _ = file.make_writer().write_all(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(file) = self.0.file() {
            let _ = file.make_writer().flush();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_makes_the_file_and_old_ones_go() {
        let folder = tempfile::tempdir().expect("folder");
        let logs = folder.path().join("logs");
        std::fs::create_dir(&logs).expect("logs");
        for day in 1..=28 {
            std::fs::write(logs.join(format!("kimi-tui.2020-01-{day:02}.log")), "old")
                .expect("log");
        }
        let file = LazyFile::new(logs.clone());
        assert_eq!(std::fs::read_dir(&logs).expect("list").count(), 28, "nothing happened yet");
        file.make_writer().write_all(b"one line\n").expect("written");
        let names: Vec<_> = std::fs::read_dir(&logs)
            .expect("list")
            .map(|entry| std::fs::read_to_string(entry.expect("entry").path()).expect("text"))
            .collect();
        assert!(names.len() <= DAYS, "{}", names.len());
        assert!(names.iter().any(|text| text == "one line\n"));
    }

    #[test]
    fn a_folder_that_cannot_be_written_costs_the_log_only() {
        let folder = tempfile::tempdir().expect("folder");
        let in_the_way = folder.path().join("logs");
        std::fs::write(&in_the_way, "a file").expect("file");
        let file = LazyFile::new(in_the_way);
        assert_eq!(file.make_writer().write(b"lost").expect("no error"), 4);
        file.make_writer().flush().expect("no error");
    }
}
