//! Logins for servers on the web: OAuth through the SDK, tokens in a private file a server.
//!
//! The browser comes back to a port of this machine that is open for this login only. The format of
//! the files is the SDK's; those of the Python program are not read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession, CredentialStore,
    StoredCredentials,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::pool::McpOptions;
use crate::files::write_atomic;
use crate::llm::web_client;

/// Bytes of a request that are read: a line with a code is short.
const MAX_REQUEST: usize = 64 * 1024;

const DONE: &str = "You are logged in. You can close this window and go back to the terminal.";
const FAILED: &str = "The login did not work. The terminal says why.";

/// A login that waits for the browser.
pub struct Login {
    session: AuthorizationSession,
    listener: TcpListener,
    port: u16,
}

struct FileStore(PathBuf);

fn file(folder: &Path, server: &str) -> PathBuf {
    // A name may hold anything; a file name may not.
    let digest = blake3::hash(server.as_bytes()).to_hex();
    folder.join(format!("{}.json", &digest[..32]))
}

fn stored_error(error: impl std::fmt::Display) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}

#[async_trait]
impl CredentialStore for FileStore {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        match fs::read(&self.0) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(stored_error),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(stored_error(error)),
        }
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let bytes = serde_json::to_vec(&credentials).map_err(stored_error)?;
        write_atomic(&self.0, &bytes).map_err(stored_error)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        remove(&self.0).map(drop).map_err(stored_error)
    }
}

fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Forgets the login of a server; false when there was none.
///
/// # Errors
/// When the file cannot be removed.
pub fn forget_login(logins: &Path, server: &str) -> io::Result<bool> {
    remove(&file(logins, server))
}

async fn manager(
    server: &str,
    url: &str,
    options: &McpOptions,
) -> Result<AuthorizationManager, String> {
    let client = web_client(url, &options.network).map_err(|error| error.to_string())?;
    let told = |error: AuthError| error.to_string();
    let mut manager = AuthorizationManager::new(url).await.map_err(told)?;
    manager.with_client(client).map_err(told)?;
    manager.set_credential_store(FileStore(file(&options.logins, server)));
    Ok(manager)
}

/// The login of `server` as it was kept; none when there is none.
pub(super) async fn stored(
    server: &str,
    url: &str,
    options: &McpOptions,
) -> Result<Option<AuthorizationManager>, String> {
    if !file(&options.logins, server).exists() {
        return Ok(None);
    }
    let mut manager = manager(server, url, options).await?;
    let is_there = manager.initialize_from_store().await.map_err(|error| error.to_string())?;
    Ok(is_there.then_some(manager))
}

/// Begins a login: the person is to open [`Login::address`].
///
/// # Errors
/// Why the server cannot be logged in to.
pub async fn login(server: &str, url: &str, options: &McpOptions) -> Result<Login, String> {
    let told = |error: AuthError| error.to_string();
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| error.to_string())?;
    let port = listener.local_addr().map_err(|error| error.to_string())?.port();
    let mut manager = manager(server, url, options).await?;
    let found = manager.resolve_metadata().await.map_err(told)?;
    manager.set_metadata(found.metadata);
    let request = AuthorizationRequest::new(format!("http://127.0.0.1:{port}/callback"))
        .with_client_name("kimi-tui")
        .with_application_type("native");
    let session =
        AuthorizationSession::new(manager, request).await.map_err(|(_, error)| told(error))?;
    Ok(Login { session, listener, port })
}

impl Login {
    /// What to open in a browser.
    #[must_use]
    pub fn address(&self) -> &str {
        self.session.get_authorization_url()
    }

    /// Waits until the browser has come back, and keeps the login.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn finish(self) -> Result<(), String> {
        loop {
            let (mut stream, _) =
                self.listener.accept().await.map_err(|error| error.to_string())?;
            let Some(path) = requested(&mut stream).await else { continue };
            if !path.starts_with("/callback?") {
                answer(&mut stream, "404 Not Found", FAILED).await;
                continue;
            }
            let address = format!("http://127.0.0.1:{}{path}", self.port);
            let result = self.session.handle_callback_url(&address).await;
            let (status, words) =
                if result.is_ok() { ("200 OK", DONE) } else { ("400 Bad Request", FAILED) };
            answer(&mut stream, status, words).await;
            return result.map(drop).map_err(|error| error.to_string());
        }
    }
}

/// The path of a request.
async fn requested(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    while !bytes.windows(2).any(|pair| pair == b"\r\n") && bytes.len() < MAX_REQUEST {
        match stream.read(&mut chunk).await {
            Ok(count @ 1..) => bytes.extend_from_slice(&chunk[..count]),
            _ => return None,
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut words = text.lines().next()?.split(' ');
    (words.next()? == "GET").then(|| words.next().map(str::to_owned)).flatten()
}

async fn answer(stream: &mut TcpStream, status: &str, words: &str) {
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{words}",
        words.len()
    );
    // A browser that has gone away needs no answer.
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}
