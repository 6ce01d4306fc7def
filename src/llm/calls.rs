//! Puts tool calls together from deltas that come by index, by id, or by neither, in any order, and
//! hands them out in the order [`StreamPart`] promises.
//!
//! The first unfinished call streams; whatever comes for others, and text in between, waits until
//! its turn. A call is finished when its arguments are a whole JSON object or the answer ends.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use crate::llm::StreamPart;
use crate::llm::surrogate::Mender;
use crate::message::{ContentPart, ToolCall};

/// Everything of an answer that has an order.
#[derive(Debug, Default)]
pub(crate) struct Joiner {
    calls: Vec<Call>,
    /// What has not been handed out to its end; the first may be half out.
    queue: VecDeque<Item>,
    /// The calls that the latest chunk with new calls opened, in its order.
    batch: Vec<usize>,
    /// Makes ids for calls that have none.
    id_base: String,
}

#[derive(Debug)]
enum Item {
    Content(ContentPart),
    Call(usize),
}

#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    /// Arguments not handed out yet.
    waiting: String,
    scan: ObjectScan,
    mender: Mender,
    extras: Map<String, Value>,
    started: bool,
}

/// One delta, read leniently.
struct Delta<'a> {
    index: Option<u64>,
    id: &'a str,
    name: &'a str,
    fields: &'a Map<String, Value>,
}

impl Joiner {
    /// Sets what made-up ids begin with: the answer's id.
    pub(crate) fn name_calls_after(&mut self, id: &str) {
        id.clone_into(&mut self.id_base);
    }

    /// Were there any calls?
    pub(crate) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Takes a piece of text or thinking.
    pub(crate) fn content(&mut self, part: ContentPart, out: &mut VecDeque<StreamPart>) {
        self.queue.push_back(Item::Content(part));
        self.flow(false, out);
    }

    /// Takes the `tool_calls` of one chunk.
    pub(crate) fn deltas(&mut self, list: &[Value], marked: bool, out: &mut VecDeque<StreamPart>) {
        let mut opened = Vec::new();
        for (position, fields) in list.iter().filter_map(Value::as_object).enumerate() {
            let delta = Delta::read(fields);
            let at = self.find(&delta, position).unwrap_or_else(|| {
                self.calls.push(Call::default());
                let at = self.calls.len() - 1;
                self.queue.push_back(Item::Call(at));
                opened.push(at);
                at
            });
            self.calls[at].take(&delta, marked);
        }
        if !opened.is_empty() {
            self.batch = opened;
        }
        self.flow(false, out);
    }

    /// The answer is over: hands out the rest.
    pub(crate) fn finish(&mut self, out: &mut VecDeque<StreamPart>) {
        for call in &mut self.calls {
            call.waiting.extend(call.mender.finish());
        }
        self.flow(true, out);
    }

    /// The call a delta belongs to; `None` when it begins one.
    fn find(&self, delta: &Delta<'_>, position: usize) -> Option<usize> {
        let fits = |call: &Call| match (delta.index, call.index) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        if !delta.id.is_empty()
            && let Some(at) = self.calls.iter().rposition(|c| c.id == delta.id && fits(c))
        {
            return Some(at);
        }
        if let Some(index) = delta.index {
            let at = self
                .calls
                .iter()
                .enumerate()
                .rposition(|(slot, call)| call.index.unwrap_or(slot as u64) == index)?;
            // Some servers give every call the index 0, and some give every delta a new id: a name
            // tells the first from the second.
            let call = &self.calls[at];
            let another = !delta.id.is_empty() && !call.id.is_empty() && !delta.name.is_empty();
            return (!another).then_some(at);
        }
        if !delta.name.is_empty() {
            return None;
        }
        let at = self.batch.get(position).copied().or(self.calls.len().checked_sub(1))?;
        let open = |at: &usize| !self.calls[*at].scan.whole;
        Some(if open(&at) { at } else { self.batch.iter().copied().find(open).unwrap_or(at) })
    }

    /// Hands out what may go.
    fn flow(&mut self, over: bool, out: &mut VecDeque<StreamPart>) {
        while let Some(item) = self.queue.pop_front() {
            let at = match item {
                Item::Content(part) => {
                    out.push_back(StreamPart::Content(part));
                    continue;
                }
                Item::Call(at) => at,
            };
            if self.calls[at].name.is_empty() && !over {
                self.queue.push_front(item);
                break;
            }
            if !self.calls[at].started {
                let id = self.id_of(at);
                out.push_back(self.calls[at].start(id));
            }
            let call = &mut self.calls[at];
            if !call.waiting.is_empty() {
                out.push_back(StreamPart::ToolCallArguments(std::mem::take(&mut call.waiting)));
            }
            if !over && (self.queue.is_empty() || !call.scan.whole) {
                self.queue.push_front(item);
                break;
            }
        }
    }

    /// The id of a call that is handed out: results are matched by it, so it must be there and be
    /// its own.
    fn id_of(&self, at: usize) -> String {
        let id = &self.calls[at].id;
        let taken = |id: &str| self.calls.iter().any(|call| call.started && call.id == id);
        if !id.is_empty() && !taken(id) {
            return id.clone();
        }
        let base = if self.id_base.is_empty() { "call" } else { &self.id_base };
        format!("{base}-{at}")
    }
}

impl Call {
    fn take(&mut self, delta: &Delta<'_>, marked: bool) {
        self.index = self.index.or(delta.index);
        if self.id.is_empty() {
            delta.id.clone_into(&mut self.id);
        }
        if self.name.is_empty() {
            delta.name.clone_into(&mut self.name);
        }
        for (key, value) in delta.fields {
            if !matches!(key.as_str(), "index" | "id" | "type" | "function") && !value.is_null() {
                self.extras.insert(key.clone(), value.clone());
            }
        }
        let arguments = match delta.fields.get("function").and_then(|f| f.get("arguments")) {
            Some(Value::String(text)) => self.mender.mend(text, marked),
            Some(object @ Value::Object(_)) => object.to_string(),
            _ => return,
        };
        let rest = self.scan.read(&arguments);
        if !rest.trim().is_empty() {
            // Some servers say it all again at the end; taken over it would break the JSON.
            tracing::debug!(name = self.name, rest, "arguments after their end are passed over");
        }
        self.waiting.push_str(&arguments[..arguments.len() - rest.len()]);
    }

    fn start(&mut self, id: String) -> StreamPart {
        self.started = true;
        self.id = id;
        let arguments = std::mem::take(&mut self.waiting);
        let extras = std::mem::take(&mut self.extras);
        let mut call = ToolCall::new(
            self.id.clone(),
            self.name.clone(),
            (!arguments.is_empty()).then_some(arguments),
        );
        call.extras = (!extras.is_empty()).then_some(Value::Object(extras));
        StreamPart::ToolCall(call)
    }
}

impl<'a> Delta<'a> {
    fn read(fields: &'a Map<String, Value>) -> Self {
        let text = |value: Option<&'a Value>| value.and_then(Value::as_str).unwrap_or_default();
        Self {
            index: fields.get("index").and_then(Value::as_u64),
            id: text(fields.get("id")),
            name: text(fields.get("function").and_then(|function| function.get("name"))),
            fields,
        }
    }
}

/// Finds the end of a JSON object in pieces of text.
#[derive(Debug, Default)]
struct ObjectScan {
    depth: u32,
    in_string: bool,
    escaped: bool,
    whole: bool,
}

impl ObjectScan {
    /// Reads on and gives what lies behind the object's end.
    fn read<'t>(&mut self, text: &'t str) -> &'t str {
        if self.whole {
            return text;
        }
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        self.whole = true;
                        return &text[at + 1..];
                    }
                }
                _ => {}
            }
        }
        ""
    }
}

#[cfg(test)]
mod tests;
