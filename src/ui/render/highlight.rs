//! Colours for source code, found off the draw path.
//!
//! Drawing asks the [`HighlightCache`]. Short code it colours at once; for long code, or while the
//! syntaxes are not loaded yet, it hands out plain lines and remembers a [`HighlightJob`], which
//! belongs on a blocking thread ([`run`]). The result goes back with [`HighlightCache::insert`], and the
//! next frame has colours. What is kept are roles, not colours, so it holds for every theme.

mod syntax;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use ratatui::text::Span;

use self::syntax::{LineParser, Runs};
use super::sanitize::sanitize;
use crate::ui::theme::Theme;

/// Code of more bytes is never coloured.
const MAX_BYTES: usize = 512 * 1024;
/// Code of more lines is never coloured.
const MAX_LINES: usize = 10_000;
/// Code of at most this many lines is coloured while drawing: that is faster than a second frame.
const DIRECT_LINES: usize = 40;
/// And of at most this many bytes.
const DIRECT_BYTES: usize = 4096;
/// Bytes of code whose colours are kept.
const KEPT_BYTES: usize = 4 * 1024 * 1024;
/// Pieces of code that may be streaming at the same time.
const OPEN: usize = 4;
/// Lines a frame may colour in code that is streaming.
const OPEN_LINES: usize = 200;

/// Code to be coloured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HighlightJob {
    /// The language, as in [`language_of`].
    pub language: String,
    /// The code, sanitised.
    pub code: Arc<str>,
}

/// Code with what its parts are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HighlightResult {
    key: u64,
    bytes: usize,
    lines: Vec<Runs>,
}

/// Does a job. Pure; takes milliseconds to seconds, so it belongs on a blocking thread.
#[must_use]
pub fn run(job: &HighlightJob) -> HighlightResult {
    let mut lines = Vec::new();
    if let Some(mut parser) = LineParser::new(&job.language) {
        lines.extend(job.code.split_inclusive('\n').map(|line| parser.line(line)));
    }
    HighlightResult { key: key(&job.language, &job.code), bytes: job.code.len(), lines }
}

/// The language of the file at `path`: its extension, or its name (`Makefile`).
#[must_use]
pub fn language_of(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let token = match name.rsplit_once('.') {
        Some((_, extension)) => extension,
        None => name,
    };
    syntax::language_token(token)
}

/// Does colouring this belong on a worker?
#[must_use]
pub fn needs_worker(code: &str) -> bool {
    !syntax::loaded() || code.len() > DIRECT_BYTES || code.lines().count() > DIRECT_LINES
}

/// Does it get no colours, because it is too long?
pub(super) fn too_long(code: &str) -> bool {
    code.len() > MAX_BYTES || code.bytes().filter(|byte| *byte == b'\n').count() > MAX_LINES
}

fn key(language: &str, code: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (language, code).hash(&mut hasher);
    hasher.finish()
}

/// What was coloured, and what should be.
///
/// It is asked while drawing, so it changes behind a shared reference; it stays on the drawing thread.
#[derive(Debug, Default)]
pub struct HighlightCache {
    inline: bool,
    kept: RefCell<HashMap<u64, Kept>>,
    kept_bytes: Cell<usize>,
    clock: Cell<u64>,
    open: RefCell<Vec<OpenCode>>,
    wanted: RefCell<Vec<HighlightJob>>,
    misses: Cell<u64>,
    generation: Cell<u64>,
}

#[derive(Debug)]
struct Kept {
    lines: Rc<[Runs]>,
    bytes: usize,
    used: u64,
}

/// Code that is still being written, coloured up to its last whole line.
#[derive(Debug)]
struct OpenCode {
    language: String,
    code: String,
    lines: Vec<Runs>,
    parser: LineParser,
}

impl HighlightCache {
    /// An empty one, which asks for jobs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One that does every job at once, for tests: what is drawn does not depend on a worker.
    #[must_use]
    pub fn inline() -> Self {
        Self { inline: true, ..Self::default() }
    }

    /// The jobs drawing has asked for since the last call.
    pub fn take_wanted(&self) -> Vec<HighlightJob> {
        self.wanted.take()
    }

    /// Keeps what a job found; the next frame shows it.
    pub fn insert(&self, result: HighlightResult) {
        self.generation.set(self.generation.get() + 1);
        self.keep(result.key, result.lines.into(), result.bytes);
    }

    /// Raised when there are colours that were not there before.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation.get()
    }

    /// Raised when something is drawn plain that may have colours later.
    #[must_use]
    pub fn misses(&self) -> u64 {
        self.misses.get()
    }

    /// The lines of `code`, safe to draw. `language` is what stands behind the backticks or what
    /// [`language_of`] gives.
    #[must_use]
    pub fn lines(&self, language: &str, code: &str, theme: &Theme) -> Vec<Vec<Span<'static>>> {
        let code = sanitize(code);
        let language = syntax::language_token(language);
        let runs = self.closed(&language, &code).unwrap_or_else(|| Rc::from([]));
        dress(&code, &runs, theme)
    }

    /// As [`HighlightCache::lines`], for code that is still being written: only what was added since the
    /// last call is looked at.
    #[must_use]
    pub fn open_lines(&self, language: &str, code: &str, theme: &Theme) -> Vec<Vec<Span<'static>>> {
        let code = sanitize(code);
        let language = syntax::language_token(language);
        dress(&code, &self.opened(&language, &code, 0).0, theme)
    }

    /// As [`HighlightCache::open_lines`], without the lines before `from`, a number of lines and their
    /// bytes; and up to which line the colours are there for good. `code` is safe already.
    #[must_use]
    pub fn open_rest(
        &self,
        language: &str,
        code: &str,
        from: (usize, usize),
        theme: &Theme,
    ) -> (Vec<Vec<Span<'static>>>, usize) {
        let language = syntax::language_token(language);
        let (runs, known) = self.opened(&language, code, from.0);
        (dress(code.get(from.1..).unwrap_or_default(), &runs, theme), known)
    }

    fn closed(&self, language: &str, code: &str) -> Option<Rc<[Runs]>> {
        if too_long(code) || !syntax::may_know(language) {
            return None;
        }
        let key = key(language, code);
        if let Some(kept) = self.kept.borrow_mut().get_mut(&key) {
            kept.used = self.tick();
            return Some(kept.lines.clone());
        }
        if let Some(lines) = self.just_closed(language, code) {
            self.keep(key, lines.clone(), code.len());
            return Some(lines);
        }
        let job = HighlightJob { language: language.to_owned(), code: code.into() };
        if self.inline || !needs_worker(code) {
            let lines: Rc<[Runs]> = run(&job).lines.into();
            self.keep(key, lines.clone(), code.len());
            return Some(lines);
        }
        self.want(job);
        None
    }

    fn want(&self, job: HighlightJob) {
        self.misses.set(self.misses.get() + 1);
        let mut wanted = self.wanted.borrow_mut();
        if !wanted.contains(&job) {
            wanted.push(job);
        }
    }

    /// Code that streamed a moment ago has its colours already.
    fn just_closed(&self, language: &str, code: &str) -> Option<Rc<[Runs]>> {
        let mut all = self.open.borrow_mut();
        let at = all.iter().position(|open| open.language == language && open.is_start_of(code))?;
        let missing = code.len() - all[at].code.len();
        if missing > DIRECT_BYTES {
            return None;
        }
        let mut open = all.remove(at);
        let rest = &code[open.code.len()..];
        open.lines.extend(rest.split_inclusive('\n').map(|line| open.parser.line(line)));
        Some(open.lines.into())
    }

    /// The runs of the lines from `from` on, and up to which line they are there for good.
    fn opened(&self, language: &str, code: &str, from: usize) -> (Vec<Runs>, usize) {
        const NO_COLOURS: (Vec<Runs>, usize) = (Vec::new(), usize::MAX);
        if too_long(code) || !syntax::may_know(language) {
            return NO_COLOURS;
        }
        if !self.inline && !syntax::loaded() {
            // Only to have the syntaxes loaded; the code will be longer by then.
            self.want(HighlightJob { language: language.to_owned(), code: "".into() });
            return (Vec::new(), 0);
        }
        let mut all = self.open.borrow_mut();
        let at = all.iter().position(|open| open.language == language && open.is_start_of(code));
        let mut open = match at {
            Some(at) => all.remove(at),
            None => match OpenCode::new(language) {
                Some(open) => open,
                None => return NO_COLOURS,
            },
        };
        open.feed(code, if self.inline { usize::MAX } else { OPEN_LINES });
        let opened = (open.with_tail(code, from), open.lines.len());
        all.insert(0, open);
        all.truncate(OPEN);
        opened
    }

    fn tick(&self) -> u64 {
        self.clock.set(self.clock.get() + 1);
        self.clock.get()
    }

    fn keep(&self, key: u64, lines: Rc<[Runs]>, bytes: usize) {
        let mut kept = self.kept.borrow_mut();
        let used = self.tick();
        let old = kept.insert(key, Kept { lines, bytes, used });
        let mut total = self.kept_bytes.get() + bytes - old.map_or(0, |old| old.bytes);
        while total > KEPT_BYTES && kept.len() > 1 {
            let Some(oldest) = kept.iter().min_by_key(|(_, kept)| kept.used).map(|(key, _)| *key)
            else {
                break;
            };
            total -= kept.remove(&oldest).map_or(0, |kept| kept.bytes);
        }
        self.kept_bytes.set(total);
    }
}

impl OpenCode {
    fn new(language: &str) -> Option<Self> {
        Some(Self {
            language: language.to_owned(),
            code: String::new(),
            lines: Vec::new(),
            parser: LineParser::new(language)?,
        })
    }

    fn is_start_of(&self, code: &str) -> bool {
        !self.code.is_empty() && code.starts_with(&self.code)
    }

    /// Takes in the whole lines `code` has beyond what it had, `most` of them.
    fn feed(&mut self, code: &str, most: usize) {
        let whole = code.rfind('\n').map_or(0, |end| end + 1);
        let new = code.get(self.code.len()..whole).unwrap_or_default();
        for line in new.split_inclusive('\n').take(most) {
            self.lines.push(self.parser.line(line));
            self.code.push_str(line);
        }
    }

    /// The runs from the line `from` on, with the last line, which is not whole yet, as it would be.
    fn with_tail(&self, code: &str, from: usize) -> Vec<Runs> {
        let Some(runs) = self.lines.get(from..) else { return Vec::new() };
        let mut runs = runs.to_vec();
        if let Some(tail) = code.get(self.code.len()..).filter(|tail| !tail.contains('\n')) {
            runs.push(self.parser.clone().line(tail));
        }
        runs
    }
}

/// The lines of `code` in the colours of `theme`; lines without runs are plain.
fn dress(code: &str, runs: &[Runs], theme: &Theme) -> Vec<Vec<Span<'static>>> {
    let plain = |line: &str| vec![Span::styled(line.to_owned(), theme.code)];
    let mut dressed = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let Some(runs) = runs.get(index) else {
            dressed.push(plain(line));
            continue;
        };
        let mut spans = Vec::with_capacity(runs.len());
        let mut from = 0;
        for (role, bytes) in runs {
            let Some(text) = line.get(from..from + bytes) else { break };
            spans.push(Span::styled(text.to_owned(), role.style(theme)));
            from += bytes;
        }
        if from < line.len() {
            // The runs are not this line's, by a collision of hashes: better plain than wrong.
            spans = plain(line);
        }
        dressed.push(spans);
    }
    dressed
}
