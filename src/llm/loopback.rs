//! A server on loopback for tests: it records what it is asked and answers byte for byte as told.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// What to do with a connection once its request was read.
#[derive(Debug, Clone)]
pub(crate) enum Play {
    /// Send these bytes.
    Send(Vec<u8>),
    /// Send nothing more and keep the connection until the client closes it.
    Stall,
    /// Break the connection off, as a crash does.
    Reset,
}

/// The server. It answers connections in order, the last answer again and again.
pub(crate) struct Loopback {
    /// Where it is: `http://127.0.0.1:PORT`.
    pub(crate) address: String,
    requests: Arc<Mutex<Vec<String>>>,
    task: tokio::task::JoinHandle<()>,
    closed: Option<oneshot::Receiver<()>>,
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Loopback {
    /// A server that plays `answers`, one a connection.
    pub(crate) async fn start(answers: Vec<Vec<Play>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let (closed, closed_rx) = oneshot::channel();
        let mut closed = Some(closed);
        let task = tokio::spawn(async move {
            let mut answers = answers.into_iter().peekable();
            while let Ok((mut socket, _)) = listener.accept().await {
                let Some(request) = read_request(&mut socket).await else { continue };
                seen.lock().expect("lock").push(request);
                let Some(plays) = answers.next() else { break };
                for play in plays {
                    match play {
                        Play::Send(bytes) => {
                            let _ = socket.write_all(&bytes).await;
                            let _ = socket.flush().await;
                        }
                        Play::Reset => {
                            let _ = socket.set_zero_linger();
                            break;
                        }
                        Play::Stall => {
                            let mut byte = [0];
                            let _ = socket.read(&mut byte).await;
                            if let Some(closed) = closed.take() {
                                let _ = closed.send(());
                            }
                        }
                    }
                }
            }
        });
        Self { address, requests, task, closed: Some(closed_rx) }
    }

    /// Requests so far, head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("lock").clone()
    }

    /// Waits until the client has closed a connection that [`Play::Stall`]s.
    pub(crate) async fn client_closed(&mut self) {
        self.closed.take().expect("once").await.expect("the server runs");
    }
}

async fn read_request(socket: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let count = socket.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&chunk[..count]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| {
                    line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
                })
                .unwrap_or(0);
            if body.len() >= length {
                return Some(text.into_owned());
            }
        }
    }
}

/// An answer with this status line, these header lines and this body; it ends with the connection.
pub(crate) fn http(status: &str, headers: &str, body: &str) -> Play {
    Play::Send(
        format!("HTTP/1.1 {status}\r\nConnection: close\r\n{headers}\r\n{body}").into_bytes(),
    )
}

/// The head of an event stream and the events with these data.
pub(crate) fn events(data: &[&str]) -> Play {
    let body: String = data.iter().map(|data| format!("data: {data}\n\n")).collect();
    http("200 OK", "Content-Type: text/event-stream\r\n", &body)
}
