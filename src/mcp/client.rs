//! One connection to one server, on the official SDK.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation,
};
use rmcp::service::{
    ClientInitializeError, NotificationContext, RoleClient, RunningService, ServiceError,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{AuthClient, StreamableHttpClientTransport};
use rmcp::{ClientHandler, serve_client};
use serde_json::{Map, Value};

use super::config::{McpServer, McpTransport};
use super::oauth;
use super::pool::McpOptions;
use super::stderr::Tail;
use crate::llm::web_client;
use crate::tools::process::{Group, detached};

/// Variables whose names have one of these words are not handed to servers: they are other
/// programs' secrets. A server that needs one is given it in its `env`.
const SECRETS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];

/// Tools one server may have.
const MAX_TOOLS: usize = 500;

/// What a server says of one of its tools.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) parameters: Value,
}

/// Why there is no connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ConnectError {
    #[error("{0}")]
    Failed(String),
    /// It wants a login first.
    #[error("it wants a login: kimi-tui mcp auth {0}")]
    Unauthorized(String),
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CallError {
    /// The connection is gone.
    #[error("the connection is closed")]
    Closed,
    /// The server refused the call.
    #[error("{0}")]
    Refused(String),
    /// It took too long.
    #[error("it did not answer within {0} s")]
    Timeout(u64),
}

/// A connection. Dropped, it ends the server it started.
pub(super) struct Client {
    service: RunningService<RoleClient, Ear>,
    changed: Arc<AtomicBool>,
    stderr: Option<Tail>,
    /// The server's processes: last, so that the connection is closed before they are ended.
    _group: Option<Group>,
}

/// What we tell a server of ourselves, and hear from it unasked.
struct Ear {
    info: ClientConfig,
    changed: Arc<AtomicBool>,
}

impl Ear {
    fn new(changed: &Arc<AtomicBool>) -> Self {
        let name = Implementation::new("kimi-tui", env!("CARGO_PKG_VERSION"));
        Self {
            info: ClientConfig::new(ClientCapabilities::default(), name),
            changed: Arc::clone(changed),
        }
    }
}

impl ClientHandler for Ear {
    fn get_info(&self) -> ClientConfig {
        self.info.clone()
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Relaxed);
    }
}

impl Client {
    /// Connects to `server` and asks for its tools.
    pub(super) async fn connect(
        server: &McpServer,
        options: &McpOptions,
    ) -> Result<(Self, Vec<Found>), ConnectError> {
        if let Some(fault) = &server.fault {
            return Err(ConnectError::Failed(fault.clone()));
        }
        let limit = options.limits.connect;
        let client = tokio::time::timeout(limit, Self::open(server, options))
            .await
            .map_err(|_| ConnectError::Failed(too_slow(limit)))??;
        let tools = match tokio::time::timeout(limit, client.tools()).await {
            Ok(Ok(tools)) => tools,
            Ok(Err(reason)) => return Err(ConnectError::Failed(client.with_stderr(reason).await)),
            Err(_) => {
                let reason = format!("it did not list its tools within {} s", limit.as_secs());
                return Err(ConnectError::Failed(client.with_stderr(reason).await));
            }
        };
        Ok((client, tools))
    }

    async fn open(server: &McpServer, options: &McpOptions) -> Result<Self, ConnectError> {
        match &server.transport {
            McpTransport::Stdio { .. } => Self::start(&server.transport, options).await,
            McpTransport::Http { url, headers, oauth } => {
                Self::reach(&server.name, url, headers, *oauth, options).await
            }
        }
    }

    /// Starts a program and speaks to it.
    async fn start(transport: &McpTransport, options: &McpOptions) -> Result<Self, ConnectError> {
        let McpTransport::Stdio { command, args, env, cwd } = transport else {
            return Err(ConnectError::Failed("it is no program".to_owned()));
        };
        let mut program = detached(command.as_ref());
        program
            .args(args)
            .current_dir(cwd.as_ref().unwrap_or(&options.work_dir))
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .kill_on_drop(true);
        for (name, _) in std::env::vars_os() {
            let upper = name.to_string_lossy().to_ascii_uppercase();
            if SECRETS.iter().any(|word| upper.contains(word)) {
                program.env_remove(&name);
            }
        }
        program.envs(env.iter().map(|(name, value)| (name, value)));
        let mut child = program.spawn().map_err(|error| {
            ConnectError::Failed(format!("{command} cannot be started: {error}"))
        })?;
        let group = Group::of(&child);
        let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(ConnectError::Failed(format!("{command} has no standard streams")));
        };
        let stderr = Tail::read(errors);
        // Reaps it whenever it ends; the group still ends the rest.
        tokio::spawn(async move {
            let _ = child.wait().await;
        });
        let changed = Arc::default();
        match serve_client(Ear::new(&changed), AsyncRwTransport::new(output, input)).await {
            Ok(service) => Ok(Self { service, changed, stderr: Some(stderr), _group: Some(group) }),
            Err(error) => Err(ConnectError::Failed(explain(&error, Some(&stderr)).await)),
        }
    }

    /// Reaches a server on the web.
    async fn reach(
        name: &str,
        url: &str,
        headers: &[(String, String)],
        wants_oauth: bool,
        options: &McpOptions,
    ) -> Result<Self, ConnectError> {
        let failed = |error: String| ConnectError::Failed(error);
        let client = web_client(url, &options.network).map_err(|e| failed(e.to_string()))?;
        let mut all = std::collections::HashMap::new();
        for (key, value) in headers {
            let key = key.parse().map_err(|_| failed(format!("\"{key}\" is no header's name")))?;
            let value =
                value.parse().map_err(|_| failed("a header has a wrong value".to_owned()))?;
            all.insert(key, value);
        }
        let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(all);
        let changed = Arc::default();
        let ear = Ear::new(&changed);
        let login = if wants_oauth {
            oauth::stored(name, url, options).await.map_err(ConnectError::Failed)?
        } else {
            None
        };
        let served = match login {
            Some(manager) => {
                let client = AuthClient::new(client, manager);
                serve_client(ear, StreamableHttpClientTransport::with_client(client, config)).await
            }
            None if wants_oauth => return Err(ConnectError::Unauthorized(name.to_owned())),
            None => {
                serve_client(ear, StreamableHttpClientTransport::with_client(client, config)).await
            }
        };
        match served {
            Ok(service) => Ok(Self { service, changed, stderr: None, _group: None }),
            Err(error) if error.is_authorization_required() => {
                Err(ConnectError::Unauthorized(name.to_owned()))
            }
            Err(error) => Err(failed(explain(&error, None).await)),
        }
    }

    async fn tools(&self) -> Result<Vec<Found>, String> {
        let tools = self.service.list_all_tools().await.map_err(|error| error.to_string())?;
        Ok(tools
            .into_iter()
            .take(MAX_TOOLS)
            .map(|tool| Found {
                name: tool.name.into_owned(),
                description: tool.description.unwrap_or_default().into_owned(),
                parameters: Value::Object(tool.input_schema.as_ref().clone()),
            })
            .collect())
    }

    async fn with_stderr(self, reason: String) -> String {
        with_stderr(reason, self.stderr.as_ref()).await
    }

    /// The tools it has now, when it said that they changed.
    pub(super) async fn changed_tools(&self) -> Option<Vec<Found>> {
        if !self.changed.swap(false, Ordering::Relaxed) {
            return None;
        }
        self.tools().await.ok()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.service.is_transport_closed()
    }

    /// Calls a tool. Dropping the future tells the server that nobody waits any more.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        limit: Duration,
    ) -> Result<CallToolResult, CallError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        match tokio::time::timeout(limit, self.service.call_tool(params)).await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(ServiceError::McpError(error))) => Err(CallError::Refused(error.message.into())),
            Ok(Err(ServiceError::TransportClosed | ServiceError::TransportSend(_))) => {
                Err(CallError::Closed)
            }
            Ok(Err(error)) if self.is_closed() => {
                tracing::warn!(%error, "an MCP server is gone");
                Err(CallError::Closed)
            }
            Ok(Err(error)) => Err(CallError::Refused(error.to_string())),
            Err(_) => Err(CallError::Timeout(limit.as_secs())),
        }
    }
}

fn too_slow(limit: Duration) -> String {
    format!("it did not answer within {} s", limit.as_secs())
}

async fn explain(error: &ClientInitializeError, stderr: Option<&Tail>) -> String {
    let reason = match error {
        ClientInitializeError::ConnectionClosed(_) => "it ended before it answered".to_owned(),
        other => other.to_string(),
    };
    with_stderr(reason, stderr).await
}

/// `reason` and what the server wrote about it.
async fn with_stderr(reason: String, stderr: Option<&Tail>) -> String {
    let Some(stderr) = stderr else { return reason };
    // Its last words may still be on their way.
    tokio::time::sleep(Duration::from_millis(50)).await;
    match stderr.last_lines(3) {
        words if words.is_empty() => reason,
        words => format!("{reason} ({words})"),
    }
}
