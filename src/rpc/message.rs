//! Messages: reading what came, and writing requests, notifications and answers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::message::mended;

/// The line is no JSON.
pub const PARSE_ERROR: i64 = -32700;
/// It is JSON, but no message.
pub const INVALID_REQUEST: i64 = -32600;
/// Nobody knows the method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters are not the method's.
pub const INVALID_PARAMS: i64 = -32602;
/// Something failed that should not.
pub const INTERNAL_ERROR: i64 = -32603;

/// What names a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Id {
    /// A text.
    Text(String),
    /// A whole number.
    Number(i64),
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    /// Which kind.
    pub code: i64,
    /// In words.
    pub message: String,
    /// Details.
    #[serde(default)]
    pub data: Option<Value>,
}

impl RpcError {
    /// An error without details.
    #[must_use]
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

/// A message that was read.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// Something to do and to answer.
    Request {
        /// Its name, which the answer carries.
        id: Id,
        /// What to do.
        method: String,
        /// How; null when nothing was said.
        params: Value,
    },
    /// Something to take in.
    Notification {
        /// What it is about.
        method: String,
        /// The news; null when there is none.
        params: Value,
    },
    /// An answer.
    Response {
        /// The request it answers; none when the other side could not read it.
        id: Option<Id>,
        /// What came of it.
        result: Result<Value, RpcError>,
    },
}

/// Why a line is no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No JSON.
    #[error("no JSON")]
    NotJson,
    /// JSON, but no message: a list (batches are not taken), a number, a method that is no text.
    #[error("no message")]
    NoMessage,
    /// An answer with neither result nor error, with both, or with a broken error.
    #[error("no response")]
    NoResponse,
}

/// Reads one line. JSON that only Python accepts (lone surrogates, raw control characters) is
/// mended first.
///
/// # Errors
/// When it is no message.
pub fn parse(line: &[u8]) -> Result<Incoming, Fault> {
    let Value::Object(mut fields) = read_json(line)? else { return Err(Fault::NoMessage) };
    if fields.get("jsonrpc").is_some_and(|version| version != "2.0") {
        return Err(Fault::NoMessage);
    }
    let id = match fields.remove("id") {
        None | Some(Value::Null) => None,
        Some(id) => Some(serde_json::from_value(id).map_err(|_| Fault::NoMessage)?),
    };
    let params = fields.remove("params").unwrap_or_default();
    match (fields.remove("method"), id) {
        (Some(Value::String(method)), Some(id)) => Ok(Incoming::Request { id, method, params }),
        (Some(Value::String(method)), None) => Ok(Incoming::Notification { method, params }),
        (Some(_), _) => Err(Fault::NoMessage),
        (None, id) => read_response(id, fields),
    }
}

fn read_response(id: Option<Id>, mut fields: Map<String, Value>) -> Result<Incoming, Fault> {
    let error = fields.remove("error").filter(|error| !error.is_null());
    let result = match (fields.remove("result"), error) {
        (Some(result), None) => Ok(result),
        (None | Some(Value::Null), Some(error)) => {
            Err(serde_json::from_value(error).map_err(|_| Fault::NoResponse)?)
        }
        (Some(_), Some(_)) => return Err(Fault::NoResponse),
        (None, None) if id.is_some() => return Err(Fault::NoResponse),
        (None, None) => return Err(Fault::NoMessage),
    };
    Ok(Incoming::Response { id, result })
}

fn read_json(line: &[u8]) -> Result<Value, Fault> {
    serde_json::from_slice(line).or_else(|_| {
        let text = std::str::from_utf8(line).map_err(|_| Fault::NotJson)?;
        let mended = mended(text).ok_or(Fault::NotJson)?;
        serde_json::from_str(&mended).map_err(|_| Fault::NotJson)
    })
}

#[derive(Serialize)]
struct Call<'a, P> {
    jsonrpc: &'static str,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Id>,
    params: &'a P,
}

/// A request as a line.
#[must_use]
pub fn request(id: &Id, method: &str, params: &impl Serialize) -> Vec<u8> {
    line(&Call { jsonrpc: "2.0", method, id: Some(id), params })
}

/// A notification as a line.
#[must_use]
pub fn notification(method: &str, params: &impl Serialize) -> Vec<u8> {
    line(&Call { jsonrpc: "2.0", method, id: None, params })
}

/// The answer to a request that was done, as a line.
#[must_use]
pub fn success(id: &Id, result: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Success<'a, R> {
        jsonrpc: &'static str,
        id: &'a Id,
        result: &'a R,
    }
    line(&Success { jsonrpc: "2.0", id, result })
}

/// The answer to a request that failed, as a line; no id when it could not be read.
#[must_use]
pub fn error(id: Option<&Id>, error: &RpcError) -> Vec<u8> {
    #[derive(Serialize)]
    struct Failure<'a> {
        jsonrpc: &'static str,
        id: Option<&'a Id>,
        error: &'a RpcError,
    }
    line(&Failure { jsonrpc: "2.0", id, error })
}

fn line(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).unwrap_or_else(|error| {
        // Only a map with keys that are no text could do that, and there is none.
        tracing::error!(%error, "a message could not be written");
        b"{}".to_vec()
    });
    line.push(b'\n');
    line
}
