//! JSON-RPC 2.0, one message a line: reading with a limit, writing through a bounded queue.
//!
//! Knows nothing of what the messages are about; `server` and `remote` speak the wire with it.

mod lines;
mod message;
mod outbox;

#[cfg(test)]
mod tests;

pub use lines::{Line, LineReader};
pub use message::{
    Fault, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, Id, Incoming, METHOD_NOT_FOUND,
    PARSE_ERROR, RpcError, error, notification, parse, request, success,
};
pub use outbox::Outbox;
