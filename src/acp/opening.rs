//! Opening sessions: new ones, and those there are, with or without telling their past.

use std::path::PathBuf;

use agent_client_protocol_schema::v1 as acp;
use serde_json::Value;

use super::client::Client;
use super::offer;
use super::tell::Teller;
use crate::config::Config;
use crate::engine::{Elsewhere, Host, OpenSession};
use crate::error::in_words;
use crate::mcp::{McpServer, McpTransport};
use crate::rpc::{INTERNAL_ERROR, INVALID_PARAMS, RpcError};
use crate::wire::record;

/// Reads what an editor says about a session it opens.
///
/// # Errors
/// When a folder is not absolute.
pub(super) fn read(
    cwd: PathBuf,
    added_dirs: Vec<PathBuf>,
    servers: Vec<acp::McpServer>,
) -> Result<Elsewhere, RpcError> {
    if let Some(folder) = added_dirs.iter().chain([&cwd]).find(|folder| !folder.is_absolute()) {
        let why = format!("{} is not an absolute path.", folder.display());
        return Err(RpcError::new(INVALID_PARAMS, why));
    }
    let servers = servers.into_iter().map(server).collect();
    Ok(Elsewhere { work_dir: cwd, added_dirs, servers })
}

fn server(server: acp::McpServer) -> McpServer {
    let pairs = |headers: Vec<acp::HttpHeader>| {
        headers.into_iter().map(|header| (header.name, header.value)).collect()
    };
    match server {
        acp::McpServer::Stdio(stdio) => McpServer {
            name: stdio.name,
            transport: McpTransport::Stdio {
                command: stdio.command.display().to_string(),
                args: stdio.args,
                env: stdio.env.into_iter().map(|one| (one.name, one.value)).collect(),
                cwd: None,
            },
            fault: None,
        },
        acp::McpServer::Http(http) => McpServer {
            name: http.name,
            transport: McpTransport::Http {
                url: http.url,
                headers: pairs(http.headers),
                oauth: false,
            },
            fault: None,
        },
        acp::McpServer::Sse(sse) => McpServer {
            name: sse.name,
            transport: McpTransport::Http {
                url: sse.url,
                headers: pairs(sse.headers),
                oauth: false,
            },
            fault: Some(
                "Servers over SSE are not supported. Give its streamable HTTP address.".into(),
            ),
        },
        _ => McpServer {
            name: "unknown".to_owned(),
            transport: McpTransport::Stdio {
                command: String::new(),
                args: Vec::new(),
                env: Vec::new(),
                cwd: None,
            },
            fault: Some("Servers of this kind are not supported.".to_owned()),
        },
    }
}

/// The configuration as it is now, if there is a model that could answer. Read again each time: a
/// person may have logged in meanwhile.
pub(super) fn config(host: &Host) -> Result<Config, RpcError> {
    let loaded = host.read_config().map_err(|error| failed(&error.into()))?;
    match host.has_model(&loaded.config) {
        Ok(true) => Ok(loaded.config),
        Ok(false) => Err(offer::auth_required()),
        Err(error) => Err(failed(&error)),
    }
}

/// An error for a person.
pub(super) fn failed(error: &anyhow::Error) -> RpcError {
    tracing::warn!("{error:#}");
    RpcError::new(INTERNAL_ERROR, in_words(error))
}

/// Tells what was in a session, as it was recorded until now.
pub(super) async fn replay(engine: &OpenSession, session: &str, client: &Client) {
    let folder = engine.info.session_dir.clone();
    let end = engine.join_point();
    let read = tokio::task::spawn_blocking(move || record::read_story_until(&folder, end)).await;
    let story = match read {
        Ok(Ok(story)) => story,
        Ok(Err(error)) => return tracing::warn!(%error, "the session's record cannot be read"),
        Err(error) => return tracing::error!(%error, "reading the session's record failed"),
    };
    let mut teller = Teller::new(engine.info.work_dir.clone(), client.can(), true);
    for recorded in story.events {
        for update in teller.event(&recorded.message) {
            client.update(session, update);
        }
        // Not faster than it is read.
        client.outbox().until(1 << 20).await;
    }
}

/// Parameters, as the types of today have them.
///
/// # Errors
/// When they are not the method's.
pub(super) fn params<T: serde::de::DeserializeOwned>(
    method: &str,
    params: Value,
) -> Result<T, RpcError> {
    serde_json::from_value(params).map_err(|error| {
        RpcError::new(INVALID_PARAMS, format!("Invalid parameters for {method}: {error}"))
    })
}
