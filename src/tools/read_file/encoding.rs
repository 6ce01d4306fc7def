//! Which encoding a file is in, judged by how it begins.

use std::io::{self, Read};

use encoding_rs::{CoderResult, Decoder, UTF_16BE, UTF_16LE};

use super::pages::Unreadable;

/// Bytes of the file that are decoded at once.
const PIECE: usize = 16 * 1024;

/// An encoding that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
}

impl Encoding {
    /// Its name, unless it is the usual one.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Utf8 => None,
            Self::Utf16Le => Some("UTF-16 (little endian)"),
            Self::Utf16Be => Some("UTF-16 (big endian)"),
        }
    }

    /// What `inner` holds in this encoding, as UTF-8.
    pub fn transcode<R: Read>(self, inner: R) -> impl Read {
        let encoding = if self == Self::Utf16Be { UTF_16BE } else { UTF_16LE };
        let decoder = encoding.new_decoder_with_bom_removal();
        Transcoder { inner, decoder, input: vec![0; PIECE], from: 0, to: 0, state: State::Reading }
    }
}

/// The encoding of a file that begins with `head` and has `bytes` in all.
pub(super) fn of(head: &[u8], bytes: u64) -> Result<Encoding, Unreadable> {
    match head {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => {
            return Err(Unreadable::OtherEncoding("UTF-32"));
        }
        [0xFF, 0xFE, ..] => return Ok(Encoding::Utf16Le),
        [0xFE, 0xFF, ..] => return Ok(Encoding::Utf16Be),
        _ => {}
    }
    if head.contains(&0) {
        return unmarked_utf16(head).ok_or(Unreadable::Binary(bytes));
    }
    // Mostly text with a few wrong bytes is worth showing; mostly wrong bytes are not.
    let bad: usize = head.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    if bad * 10 > head.len() * 3 {
        let is_control =
            |byte: &&u8| **byte < 0x20 && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x0C);
        return Err(match head.iter().filter(is_control).count() {
            0 => Unreadable::OtherEncoding("text in another encoding (GB18030, Shift_JIS, …)"),
            _ => Unreadable::Binary(bytes),
        });
    }
    Ok(Encoding::Utf8)
}

/// UTF-16 without a mark, as some Windows programs write it: nearly every second byte is zero, and
/// the others are ASCII.
fn unmarked_utf16(head: &[u8]) -> Option<Encoding> {
    let pairs: Vec<(u8, u8)> = head.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let is_text = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7E);
    let fits = |low: fn(&(u8, u8)) -> u8, high: fn(&(u8, u8)) -> u8| {
        let ascii = pairs.iter().filter(|pair| high(pair) == 0);
        ascii.clone().all(|pair| is_text(low(pair))) && ascii.count() * 10 >= pairs.len() * 7
    };
    if pairs.len() < 4 {
        return None;
    }
    if fits(|pair| pair.0, |pair| pair.1) {
        return Some(Encoding::Utf16Le);
    }
    fits(|pair| pair.1, |pair| pair.0).then_some(Encoding::Utf16Be)
}

struct Transcoder<R> {
    inner: R,
    decoder: Decoder,
    input: Vec<u8>,
    from: usize,
    to: usize,
    state: State,
}

#[derive(PartialEq)]
enum State {
    Reading,
    /// The file is at its end, the decoder not yet.
    Ending,
    Ended,
}

impl<R: Read> Read for Transcoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // The decoder wants room for a character, and must not be asked again once it has ended.
        while self.state != State::Ended && buffer.len() >= 4 {
            if self.from == self.to && self.state == State::Reading {
                (self.from, self.to) = (0, self.inner.read(&mut self.input)?);
                if self.to == 0 {
                    self.state = State::Ending;
                }
            }
            let is_last = self.state == State::Ending;
            let input = &self.input[self.from..self.to];
            let (result, read, written, _) = self.decoder.decode_to_utf8(input, buffer, is_last);
            self.from += read;
            if is_last && result == CoderResult::InputEmpty {
                self.state = State::Ended;
            }
            if written > 0 {
                return Ok(written);
            }
        }
        Ok(0)
    }
}
