//! A look at the beginning of a `context.jsonl`, for lists of sessions: no more than needed is read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::record::{self, Record};
use crate::message::{Message, Role};

/// What the beginning of a context says.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Head {
    /// The first message of the person.
    pub(crate) first_user: Option<Message>,
    /// Is there anything but markers? Damaged lines count: something was there.
    pub(crate) has_rows: bool,
}

/// Reads the first `limit` bytes of the file at `path`, or less if the person's first message comes
/// earlier. A missing file is an empty one.
///
/// # Errors
/// When the file is there but cannot be read.
pub(crate) fn read_head(path: &Path, limit: u64) -> io::Result<Head> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Head::default()),
        Err(error) => return Err(error),
    };
    let mut head = Head::default();
    let mut reader = BufReader::new(file.take(limit));
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(head);
        }
        match record::parse(&line) {
            Ok(Some(Record::Message(message))) => {
                head.has_rows = true;
                if message.role == Role::User && !message.is_checkpoint_note() {
                    head.first_user = Some(message);
                    return Ok(head);
                }
            }
            Ok(_) => {}
            Err(_) => head.has_rows = true,
        }
    }
}
