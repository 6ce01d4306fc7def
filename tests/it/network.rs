//! Certificates and proxies, as the configuration and the environment name them: the whole program
//! against TLS and proxies on loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::support::LIMIT;
use crate::support::world::World;

/// A certificate for localhost, 127.0.0.1 and model.invalid, valid until 2120, and who signed it. They
/// are for these tests only; nobody trusts them.
fn tls(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/tls").join(name)
}

/// What a server on loopback speaks before it answers.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// TLS at once.
    Direct,
    /// As an HTTP proxy that is asked for a tunnel.
    Tunnel,
    /// As a SOCKS proxy that is told the name.
    Socks,
}

/// A server that says hello to every request; what it was asked for first, each time.
struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(way: Way) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("address").port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let config = Arc::new(server_config());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, config) = (Arc::clone(&seen), Arc::clone(&config));
                // A client that trusts nobody goes away: that is its business.
                std::thread::spawn(move || drop(serve(stream, way, &seen, config)));
            }
        });
        Self { port, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("lock").clone()
    }
}

fn server_config() -> ServerConfig {
    let chain = CertificateDer::pem_file_iter(tls("leaf.pem")).expect("certificate");
    let chain = chain.collect::<Result<Vec<_>, _>>().expect("certificates");
    let key = PrivateKeyDer::from_pem_file(tls("leaf.key")).expect("key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a server")
}

fn serve(
    mut stream: TcpStream,
    way: Way,
    asked: &Mutex<Vec<String>>,
    config: Arc<ServerConfig>,
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(LIMIT))?;
    let note = |what: String| asked.lock().expect("lock").push(what);
    match way {
        Way::Direct => {}
        Way::Tunnel => {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte)?;
                head.push(byte[0]);
            }
            let head = String::from_utf8_lossy(&head).into_owned();
            note(head.lines().next().unwrap_or_default().to_owned());
            stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
        }
        Way::Socks => {
            let mut greeting = [0; 2];
            stream.read_exact(&mut greeting)?;
            let mut methods = vec![0; usize::from(greeting[1])];
            stream.read_exact(&mut methods)?;
            stream.write_all(&[5, 0])?;
            let mut head = [0; 5];
            stream.read_exact(&mut head)?;
            let mut rest = vec![0; usize::from(head[4]) + 2];
            stream.read_exact(&mut rest)?;
            rest.truncate(rest.len() - 2);
            note(format!("SOCKS {} {}", head[3], String::from_utf8_lossy(&rest)));
            stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])?;
        }
    }
    let connection = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut stream = BufReader::new(StreamOwned::new(connection, stream));
    let (mut length, mut line) = (0, String::new());
    while stream.read_line(&mut line)? > 2 {
        if line.starts_with("POST ") {
            note(line.trim().to_owned());
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    stream.read_exact(&mut vec![0; length])?;
    let body = "data: {\"id\":\"m\",\"choices\":[{\"delta\":{\"content\":\"Hello over TLS\"},\
                \"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let out = stream.get_mut();
    write!(
        out,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )?;
    out.conn.send_close_notify();
    out.flush()
}

/// Says something to a model at `base_url`, once, with `env` and more of `[network]`.
fn say(base_url: &str, network: &str, env: &[(&str, &str)]) -> (i32, String) {
    let world = World::new();
    world.write_config(&format!(
        "default_model = \"m\"\n[providers.p]\ntype = \"openai_legacy\"\nbase_url = \"{base_url}\"\n\
         api_key = \"k\"\n[models.m]\nprovider = \"p\"\nmodel = \"m\"\nmax_context_size = 9000\n\
         [loop_control]\nmax_retries_per_step = 1\n[network]\nconnect_timeout_s = 10\n{network}\n"
    ));
    let mut command = world.command(&["--print", "-p", "go"]);
    command.envs(env.iter().copied()).stdin(Stdio::null());
    let output = command.output().expect("the program");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn a_certificate_of_ones_own_is_trusted_when_it_is_named() {
    let server = Server::start(Way::Direct);
    let url = format!("https://localhost:{}/v1", server.port);
    let ca = tls("ca.pem");
    let named = format!("ca_file = {ca:?}");
    let (code, said) = say(&url, &named, &[]);
    assert!(code == 0 && said.contains("Hello over TLS"), "{said}");
    let (code, said) = say(&url, "", &[("SSL_CERT_FILE", ca.to_str().expect("path"))]);
    assert!(code == 0 && said.contains("Hello over TLS"), "{said}");
    assert_eq!(server.asked().len(), 2);
    // Nobody else's is.
    let (code, said) = say(&url, "", &[]);
    assert!(code != 0 && said.to_lowercase().contains("certificate"), "{said}");
    assert_eq!(server.asked().len(), 2, "nothing was sent");
}

#[test]
fn the_proxies_of_the_environment_are_used_and_what_they_are_not_for_is_not() {
    let ca = format!("ca_file = {:?}", tls("ca.pem"));
    let url = "https://model.invalid/v1";
    for (variable, way, scheme, first) in [
        ("HTTPS_PROXY", Way::Tunnel, "http", "CONNECT model.invalid:443 HTTP/1.1"),
        ("https_proxy", Way::Tunnel, "http", "CONNECT model.invalid:443 HTTP/1.1"),
        ("ALL_PROXY", Way::Tunnel, "http", "CONNECT model.invalid:443 HTTP/1.1"),
        // The proxy looks the name up.
        ("ALL_PROXY", Way::Socks, "socks5h", "SOCKS 3 model.invalid"),
        ("HTTPS_PROXY", Way::Socks, "socks5h", "SOCKS 3 model.invalid"),
    ] {
        let proxy = Server::start(way);
        let address = format!("{scheme}://127.0.0.1:{}", proxy.port);
        let (code, said) = say(url, &ca, &[(variable, &address)]);
        assert!(code == 0 && said.contains("Hello over TLS"), "{variable} {scheme}: {said}");
        assert_eq!(proxy.asked(), [first, "POST /v1/chat/completions HTTP/1.1"], "{variable}");
        // There is no such host without the proxy.
        let (code, said) = say(url, &ca, &[(variable, &address), ("NO_PROXY", "model.invalid")]);
        assert!(code != 0 && said.contains("model.invalid"), "{variable} {scheme}: {said}");
        assert_eq!(proxy.asked().len(), 2, "{variable}: the proxy was left out");
        // The configuration wins over the environment.
        let none = format!("{ca}\nproxy = \"none\"");
        let (code, _) = say(url, &none, &[(variable, &address)]);
        assert!(code != 0 && proxy.asked().len() == 2, "{variable}");
    }
}
