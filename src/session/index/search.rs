//! Finding sessions by what was said in them, while a person types.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use super::SessionIndex;
use super::catalog::{Catalog, Entry, Segment};
use super::data::Reader;
use super::extract::{MARK, Speaker};
use super::query::{Query, Word};
use super::signature::Signature;
use crate::message::SessionId;

/// Pieces of text shown of a session, at most.
const EXCERPTS: usize = 3;
/// Places of a word that are looked at in one segment.
const PLACES: usize = 64;
/// Characters of an excerpt before the word, and altogether.
const BEFORE: usize = 40;
const EXCERPT: usize = 160;

/// What is searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchOptions {
    /// Only sessions of this folder.
    pub work_dir: Option<PathBuf>,
    /// Stop after this many sessions, the newest.
    pub limit: usize,
    /// Archived sessions, or the others.
    pub archived: bool,
}

/// A session that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its folder.
    pub dir: PathBuf,
    /// Its id.
    pub id: SessionId,
    /// What it is called.
    pub title: String,
    /// Where the words are: pieces with the most of them first, then the latest.
    pub excerpts: Vec<Excerpt>,
}

/// A piece of text around a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// Whose text.
    pub speaker: Speaker,
    /// The piece, on one line.
    pub text: String,
    /// Where in it words are, in bytes.
    pub marks: Vec<Range<usize>>,
}

/// The index as one search sees it.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) catalog: Catalog,
    data: Option<Reader>,
    /// By the place of the segment. Read when they are first needed.
    signatures: OnceLock<HashMap<u64, Arc<Signature>>>,
}

impl Snapshot {
    /// `catalog` as it is searched. What `before` has read already is not read again.
    pub(super) fn new(folder: &Path, catalog: Catalog, before: Option<&Self>) -> Self {
        let data = Reader::open(&folder.join(&catalog.data)).ok();
        let snapshot = Self { catalog, data, signatures: OnceLock::new() };
        if let Some(before) = before.filter(|before| before.catalog.data == snapshot.catalog.data)
            && let Some(known) = before.signatures.get()
        {
            let signatures = snapshot.read_signatures(known);
            let _ = snapshot.signatures.set(signatures);
        }
        snapshot
    }

    fn signatures(&self) -> &HashMap<u64, Arc<Signature>> {
        self.signatures.get_or_init(|| self.read_signatures(&HashMap::new()))
    }

    fn read_signatures(
        &self,
        known: &HashMap<u64, Arc<Signature>>,
    ) -> HashMap<u64, Arc<Signature>> {
        let Some(data) = &self.data else { return HashMap::new() };
        let segments = self.catalog.sessions.iter().flat_map(|entry| &entry.segments);
        segments
            .filter_map(|segment| {
                if let Some(signature) = known.get(&segment.at) {
                    return Some((segment.at, Arc::clone(signature)));
                }
                match data.signature(segment) {
                    Ok(signature) => Some((segment.at, Arc::new(signature))),
                    Err(error) => {
                        tracing::warn!(%error, "a segment of the index cannot be read");
                        None
                    }
                }
            })
            .collect()
    }
}

impl SessionIndex {
    /// Reads what searching needs, so that the first key is answered as fast as the others.
    pub fn warm(&self) {
        self.snapshot().signatures();
    }

    /// The sessions in which all of `query` is said, newest first. `stop` is asked now and then: an
    /// answer that nobody waits for is not worked out.
    #[must_use]
    pub fn search(
        &self,
        query: &Query,
        options: &SearchOptions,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Vec<Found> {
        if query.is_empty() || options.limit == 0 {
            return Vec::new();
        }
        let snapshot = self.snapshot();
        let bucket = options.work_dir.as_deref().map(crate::paths::work_dir_hash);
        let candidates: Vec<&Entry> = snapshot
            .catalog
            .sessions
            .iter()
            .filter(|entry| entry.archived == options.archived && !entry.is_empty)
            .filter(|entry| bucket.as_ref().is_none_or(|bucket| entry.bucket == *bucket))
            .collect();
        snapshot.signatures();
        let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
        let found = Mutex::new(Vec::new());
        let threads = thread::available_parallelism().map_or(1, usize::from).min(8);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut search = Search { snapshot: &snapshot, query, texts: Texts::default() };
                    while !is_over.load(Ordering::Relaxed) && !stop() {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(entry) = candidates.get(index) else { break };
                        let Some(excerpts) = search.session(entry) else { continue };
                        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                        found.push((index, excerpts));
                        // They are taken newest first, so the newest are among these.
                        is_over.store(found.len() >= options.limit, Ordering::Relaxed);
                    }
                });
            }
        });
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_by_key(|(index, _)| *index);
        found.truncate(options.limit);
        let sessions = self.store.paths().sessions();
        found
            .into_iter()
            .map(|(index, excerpts)| {
                let entry = candidates[index];
                Found {
                    dir: sessions.join(&entry.bucket).join(&entry.id),
                    id: SessionId(entry.id.clone()),
                    title: entry.title.clone(),
                    excerpts,
                }
            })
            .collect()
    }
}

/// One thread's search.
struct Search<'a> {
    snapshot: &'a Snapshot,
    query: &'a Query,
    texts: Texts,
}

/// A segment's text, as it is and, where a word needs it, with small letters. Kept from one to the
/// next.
#[derive(Default)]
struct Texts {
    /// The place of the segment that was read.
    of: Option<u64>,
    text: Vec<u8>,
    small: Vec<u8>,
}

/// A piece of text with words in it.
struct Hit {
    words: usize,
    excerpt: Excerpt,
}

impl Search<'_> {
    /// Where the words are in a session, if they all are.
    fn session(&mut self, entry: &Entry) -> Option<Vec<Excerpt>> {
        let signatures = self.snapshot.signatures();
        let words = &self.query.words;
        let title = entry.title.as_bytes();
        let small_title = title.to_ascii_lowercase();
        let mut is_found: Vec<bool> =
            words.iter().map(|word| word.find(title, &small_title).next().is_some()).collect();
        let segments: Vec<_> = entry
            .segments
            .iter()
            .filter_map(|segment| Some((segment, signatures.get(&segment.at)?)))
            .collect();
        if !self.is_said(&segments, &is_found) {
            return None;
        }
        let mut hits: Vec<Hit> = Vec::new();
        for (segment, signature) in segments.iter().rev() {
            let here: Vec<usize> =
                (0..words.len()).filter(|&word| signature.admits(&words[word].grams)).collect();
            if here.is_empty() || !self.read(segment) {
                continue;
            }
            self.look(&here, &mut is_found, &mut hits);
            let whole = hits.iter().filter(|hit| hit.words == words.len()).count();
            if whole >= EXCERPTS && is_found.iter().all(|found| *found) {
                break;
            }
        }
        if !is_found.iter().all(|found| *found) {
            return None;
        }
        // Stable: of equal ones the latest stays first.
        hits.sort_by_key(|hit| std::cmp::Reverse(hit.words));
        Some(hits.into_iter().take(EXCERPTS).map(|hit| hit.excerpt).collect())
    }

    /// Can every word that is not found yet be found in `segments`? Words that few segments may have
    /// are looked for first: common ones that never meet need not be looked for at all.
    fn is_said(&mut self, segments: &[(&Segment, &Arc<Signature>)], is_found: &[bool]) -> bool {
        let words = self.query.words.iter().zip(is_found).filter(|(_, is_found)| !**is_found);
        let mut open: Vec<(&Word, Vec<&Segment>)> = words
            .map(|(word, _)| {
                let may_have = segments.iter().rev().filter(|(_, sign)| sign.admits(&word.grams));
                (word, may_have.map(|(segment, _)| *segment).collect())
            })
            .collect();
        if open.iter().any(|(_, may_have)| may_have.is_empty()) {
            return false;
        }
        if open.len() < 2 {
            // Looking for it is looking for its places.
            return true;
        }
        open.sort_by_key(|(_, may_have)| may_have.len());
        open.iter().all(|(word, may_have)| {
            may_have.iter().any(|segment| {
                self.read(segment)
                    && word.find(&self.texts.text, &self.texts.small).next().is_some()
            })
        })
    }

    fn read(&mut self, segment: &Segment) -> bool {
        let Some(data) = &self.snapshot.data else { return false };
        let texts = &mut self.texts;
        if texts.of == Some(segment.at) {
            return true;
        }
        texts.of = None;
        if data.text(segment, &mut texts.text).is_err() {
            return false;
        }
        if self.query.words.iter().any(Word::is_small) {
            texts.small.clear();
            texts.small.extend(texts.text.iter().map(u8::to_ascii_lowercase));
        }
        texts.of = Some(segment.at);
        true
    }

    /// Looks for the words of these numbers in the segment that was read.
    fn look(&self, here: &[usize], is_found: &mut [bool], hits: &mut Vec<Hit>) {
        let Texts { text, small, .. } = &self.texts;
        // The piece of text, by its beginning: where the first word is, and which words there are.
        let mut pieces: HashMap<usize, (usize, Vec<usize>)> = HashMap::new();
        for &word in here {
            for place in self.query.words[word].find(text, small).take(PLACES) {
                is_found[word] = true;
                let start = memchr::memrchr(MARK as u8, &text[..place.start]).unwrap_or(0);
                let (first, words) = pieces.entry(start).or_insert((place.start, Vec::new()));
                *first = (*first).min(place.start);
                if !words.contains(&word) {
                    words.push(word);
                }
            }
        }
        let mut pieces: Vec<_> = pieces.into_iter().collect();
        pieces.sort_by_key(|(start, (_, words))| (words.len(), *start));
        for (start, (first, words)) in pieces.into_iter().rev().take(EXCERPTS) {
            let excerpt = excerpt(text, start, first, self.query);
            hits.push(Hit { words: words.len(), excerpt });
        }
    }
}

/// The piece of text that begins at `start`, around the word at `at`.
fn excerpt(text: &[u8], start: usize, at: usize, query: &Query) -> Excerpt {
    let end = memchr::memchr(MARK as u8, &text[at..]).map_or(text.len(), |found| at + found);
    let speaker = Speaker::of(text.get(start + 1).copied().unwrap_or_default());
    let from = (start + 2).min(at);
    // A window of bytes that is wide enough for the characters that are kept of it.
    let left =
        String::from_utf8_lossy(&text[from.max(at.saturating_sub(BEFORE * 4))..at]).into_owned();
    let right = String::from_utf8_lossy(&text[at..end.min(at + EXCERPT * 4)]).into_owned();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut line = words(&left);
    let is_cut = line.chars().count() > BEFORE || from < at.saturating_sub(BEFORE * 4);
    if let Some((cut, _)) = line.char_indices().rev().nth(BEFORE - 1)
        && is_cut
    {
        line = format!("…{}", line[cut..].trim_start());
    }
    if left.ends_with(char::is_whitespace) && !line.is_empty() {
        line.push(' ');
    }
    line.push_str(&words(&right));
    if let Some((cut, _)) = line.char_indices().nth(EXCERPT) {
        line.truncate(cut);
        line.push('…');
    }
    let line = line.replace('\u{fffd}', "");
    Excerpt { speaker, marks: query.marks(&line), text: line }
}
