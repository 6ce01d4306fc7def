//! Server-sent events: bytes in, events out. Pure; `http` brings the bytes, a provider reads the events.
//!
//! The format is the HTML standard's, section 9.2.6, with two liberties: a last event without its
//! blank line counts (servers forget it), and an event may not be larger than a limit.

/// Bytes an event may have: far above any real one, far below what hurts.
pub(crate) const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SseEvent {
    /// Its `event` field; empty when there was none.
    pub(crate) name: String,
    /// Its `data` lines, joined by newlines.
    pub(crate) data: String,
}

/// An event was larger than the limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {limit} bytes")]
pub(crate) struct EventTooLarge {
    /// The limit in bytes.
    pub(crate) limit: usize,
}

/// Puts events together from chunks that may be cut anywhere, inside a character too.
#[derive(Debug)]
pub(crate) struct SseDecoder {
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    /// A CR ended the last line: an LF that follows belongs to it.
    after_cr: bool,
    first_line: bool,
    limit: usize,
}

impl SseDecoder {
    /// A decoder at the beginning of a stream.
    pub(crate) fn new() -> Self {
        Self::with_limit(MAX_EVENT_BYTES)
    }

    /// The same with another limit, in bytes.
    pub(crate) fn with_limit(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            event: SseEvent::default(),
            has_data: false,
            after_cr: false,
            first_line: true,
            limit,
        }
    }

    /// Takes the next bytes and gives the events they complete.
    ///
    /// # Errors
    /// When an event is too large. The stream is then of no more use.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> Result<Vec<SseEvent>, EventTooLarge> {
        let mut events = Vec::new();
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.grow_line(bytes)?;
                break;
            };
            self.grow_line(&bytes[..end])?;
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            events.extend(self.end_line());
        }
        Ok(events)
    }

    /// The stream has ended: gives the last event if its blank line is missing.
    pub(crate) fn finish(&mut self) -> Option<SseEvent> {
        if !self.line.is_empty() {
            // A line that is cut off is an event's last one, or the rest of a broken stream; the
            // reader of the event finds out.
            self.end_line();
        }
        self.end_event()
    }

    fn grow_line(&mut self, bytes: &[u8]) -> Result<(), EventTooLarge> {
        if self.event.data.len() + self.line.len() + bytes.len() > self.limit {
            return Err(EventTooLarge { limit: self.limit });
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let bytes = std::mem::take(&mut self.line);
        let mut line = String::from_utf8_lossy(&bytes);
        if std::mem::take(&mut self.first_line)
            && let Some(rest) = line.strip_prefix('\u{feff}')
        {
            line = rest.to_owned().into();
        }
        if line.is_empty() {
            return self.end_event();
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.event.name),
            // A comment (no field name), `id`, `retry`, and whatever else: nothing here needs them.
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<SseEvent> {
        let event = std::mem::take(&mut self.event);
        std::mem::take(&mut self.has_data).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(chunks: &[&[u8]]) -> Vec<SseEvent> {
        let mut decoder = SseDecoder::new();
        let mut events: Vec<_> =
            chunks.iter().flat_map(|chunk| decoder.push(chunk).expect("small")).collect();
        events.extend(decoder.finish());
        events
    }

    fn data(text: &str) -> Vec<String> {
        decode(&[text.as_bytes()]).into_iter().map(|event| event.data).collect()
    }

    #[test]
    fn every_line_ending_ends_a_line() {
        for end in ["\n", "\r", "\r\n"] {
            let text = format!("data: a{end}data: b{end}{end}data: c{end}{end}");
            assert_eq!(data(&text), ["a\nb", "c"], "{end:?}");
        }
    }

    #[test]
    fn comments_and_unknown_fields_are_passed_over() {
        let text = ": OPENROUTER PROCESSING\n\nid: 7\nretry: 10\nfoo\ndata: a\n\n:\n\n";
        assert_eq!(data(text), ["a"]);
    }

    #[test]
    fn one_space_after_the_colon_goes_and_no_more() {
        assert_eq!(data("data:a\n\ndata:  b\n\ndata\n\ndata:\n\n"), ["a", " b", "", ""]);
    }

    #[test]
    fn an_event_without_data_is_none_and_does_not_name_the_next() {
        let events = decode(&[b"event: ping\n\ndata: a\n\nevent: error\ndata: b\n\n"]);
        let event = |name: &str, data: &str| SseEvent { name: name.into(), data: data.into() };
        assert_eq!(events, [event("", "a"), event("error", "b")]);
    }

    #[test]
    fn a_missing_last_blank_line_or_newline_loses_nothing() {
        assert_eq!(data("data: a\n\ndata: b\n"), ["a", "b"]);
        assert_eq!(data("data: a\n\ndata: b"), ["a", "b"]);
    }

    #[test]
    fn a_byte_order_mark_counts_at_the_beginning_only() {
        assert_eq!(data("\u{feff}data: a\n\ndata: \u{feff}b\n\n"), ["a", "\u{feff}b"]);
    }

    #[test]
    fn a_character_may_be_split_and_broken_bytes_do_not_end_the_stream() {
        let text = "data: 终端😀\n\n".as_bytes();
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(decode(&bytes)[0].data, "终端😀");
        assert_eq!(decode(&[b"data: a\xffb\n\n"])[0].data, "a\u{fffd}b");
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut decoder = SseDecoder::with_limit(10);
        assert_eq!(decoder.push(b"data: 12345678"), Err(EventTooLarge { limit: 10 }));
        let mut decoder = SseDecoder::with_limit(20);
        decoder.push(b"data: 0123456789\n").expect("fits");
        assert!(decoder.push(b"data: 0123456789\n").is_err(), "lines add up");
        let mut decoder = SseDecoder::with_limit(20);
        for _ in 0..10 {
            assert_eq!(decoder.push(b"data: 0123456789\n\n").expect("each is small").len(), 1);
        }
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(
            lines in prop::collection::vec("(data|event|: note|id|)(: ?)?[a-z{}é终😀]{0,6}", 0..20),
            ends in prop::collection::vec(prop_oneof![Just("\n"), Just("\r"), Just("\r\n")], 20),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let text: String =
                lines.iter().zip(&ends).flat_map(|(line, end)| [line.as_str(), end]).collect();
            let bytes = text.as_bytes();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for to in at {
                chunks.push(&bytes[from..to]);
                from = to;
            }
            chunks.push(&bytes[from..]);
            prop_assert_eq!(decode(&chunks), decode(&[bytes]));
        }
    }
}
