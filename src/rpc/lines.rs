//! Lines of a stream, none longer than a limit.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Room that is kept from one line to the next; a longer one's is given back.
const KEPT: usize = 1 << 20;

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line, without its end.
    Whole(Vec<u8>),
    /// A line beyond the limit; what it held is gone.
    TooLong,
}

/// Reads lines.
#[derive(Debug)]
pub struct LineReader<R> {
    from: BufReader<R>,
    limit: usize,
    /// What has come of the line.
    held: Vec<u8>,
    is_too_long: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// A reader of lines of up to `limit` bytes.
    #[must_use]
    pub fn new(from: R, limit: usize) -> Self {
        let from = BufReader::with_capacity(1 << 16, from);
        Self { from, limit, held: Vec::new(), is_too_long: false }
    }

    /// The next line; none at the end. What stands after the last line end is a line too. May be
    /// dropped while it waits: nothing is lost.
    ///
    /// # Errors
    /// When the stream cannot be read.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let read = self.from.fill_buf().await?;
            if read.is_empty() {
                let is_over = self.held.is_empty() && !self.is_too_long;
                return Ok((!is_over).then(|| self.take()));
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let piece = &read[..end.unwrap_or(read.len())];
            if self.is_too_long || self.held.len() + piece.len() > self.limit {
                self.is_too_long = true;
                self.held = Vec::new();
            } else {
                self.held.extend_from_slice(piece);
            }
            let taken = end.map_or(read.len(), |end| end + 1);
            self.from.consume(taken);
            if end.is_some() {
                return Ok(Some(self.take()));
            }
        }
    }

    fn take(&mut self) -> Line {
        if std::mem::take(&mut self.is_too_long) {
            return Line::TooLong;
        }
        let room = if self.held.len() > KEPT { 0 } else { self.held.len() };
        Line::Whole(std::mem::replace(&mut self.held, Vec::with_capacity(room)))
    }
}
