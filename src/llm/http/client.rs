//! Sets up the HTTP client of a provider: TLS, certificates, proxies.

use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use reqwest::{Certificate, ClientBuilder, NoProxy, Proxy};

use super::{Patience, root_cause};
use crate::config::{NetworkConfig, without_login};
use crate::llm::LlmError;

/// The client for `url`.
///
/// # Errors
/// [`LlmError::Protocol`] that names what to change: the certificates, `ca_file` or `proxy`.
pub(super) fn build(
    url: &reqwest::Url,
    patience: Patience,
    network: &NetworkConfig,
) -> Result<reqwest::Client, LlmError> {
    build_with(url, patience, network, |builder| builder)
}

/// The same, with what else `adjust` sets.
///
/// # Errors
/// As [`build`].
pub(super) fn build_with(
    url: &reqwest::Url,
    patience: Patience,
    network: &NetworkConfig,
    adjust: impl FnOnce(ClientBuilder) -> ClientBuilder,
) -> Result<reqwest::Client, LlmError> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // An error says that somebody has installed one already, which is as good.
        drop(rustls::crypto::ring::default_provider().install_default());
    });
    let builder = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(patience.connect)
        .tcp_keepalive(Duration::from_secs(30));
    let builder = with_proxy(builder, url, network)?;
    let builder = with_certificates(builder, url, network)?;
    adjust(builder).build().map_err(|error| {
        LlmError::Protocol(format!(
            "could not set up TLS: {}. Install the system's CA certificates, or set SSL_CERT_FILE",
            root_cause(&error)
        ))
    })
}

fn with_proxy(
    builder: ClientBuilder,
    url: &reqwest::Url,
    network: &NetworkConfig,
) -> Result<ClientBuilder, LlmError> {
    let proxy = network.proxy.as_deref().map(str::trim).filter(|proxy| !proxy.is_empty());
    match proxy {
        // A proxy for the world has no way to this machine.
        _ if is_loopback(url) => Ok(builder.no_proxy()),
        Some("none") => Ok(builder.no_proxy()),
        Some(address) => {
            let proxy = Proxy::all(address).map_err(|error| {
                LlmError::Protocol(format!(
                    "proxy \"{}\" below [network] is no address ({}). Write it like \
                     http://127.0.0.1:8080 or socks5h://127.0.0.1:1080",
                    without_login(address),
                    root_cause(&error)
                ))
            })?;
            Ok(builder.proxy(proxy.no_proxy(NoProxy::from_env())))
        }
        // The client looks at the environment itself.
        None => Ok(builder),
    }
}

fn with_certificates(
    builder: ClientBuilder,
    url: &reqwest::Url,
    network: &NetworkConfig,
) -> Result<ClientBuilder, LlmError> {
    let has_tls_proxy = network.proxy.as_deref().is_some_and(|p| p.trim().starts_with("https:"));
    if url.scheme() == "http" && !has_tls_proxy {
        // No TLS will be spoken: a machine without certificates can still talk to its own server.
        return Ok(builder.tls_certs_only([]));
    }
    match &network.ca_file {
        Some(path) => Ok(builder.tls_certs_merge(certificates(path)?)),
        None => Ok(builder),
    }
}

/// The certificates of a PEM file.
fn certificates(path: &Path) -> Result<Vec<Certificate>, LlmError> {
    let wrong = |why: String| {
        LlmError::Protocol(format!(
            "ca_file {} below [network] {why}. It must be a PEM file with BEGIN CERTIFICATE lines",
            path.display()
        ))
    };
    let pem = std::fs::read(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    match Certificate::from_pem_bundle(&pem) {
        Ok(list) if list.is_empty() => Err(wrong("holds no certificate".to_owned())),
        Ok(list) => Ok(list),
        Err(error) => Err(wrong(format!("is broken ({})", root_cause(&error)))),
    }
}

/// Is the server of `url` this machine?
pub(super) fn is_loopback(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(url: &str, network: &NetworkConfig) -> Result<(), String> {
        let url = reqwest::Url::parse(url).expect("address");
        build(&url, Patience::of(network), network).map(|_| ()).map_err(|e| e.to_string())
    }

    #[test]
    fn tls_is_set_up_or_says_what_it_lacks() {
        if let Err(said) = built("https://api.example.com/v1", &NetworkConfig::default()) {
            assert!(said.contains("SSL_CERT_FILE"), "{said}");
        }
    }

    #[test]
    fn a_wrong_ca_file_and_a_wrong_proxy_are_told() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("ca.pem");
        let network = NetworkConfig { ca_file: Some(path.clone()), ..NetworkConfig::default() };
        let said = built("https://h/", &network).expect_err("no file");
        assert!(said.contains("ca_file") && said.contains("cannot be read"), "{said}");
        std::fs::write(&path, "not a certificate").expect("write");
        let said = built("https://h/", &network).expect_err("no certificate");
        assert!(said.contains("holds no certificate"), "{said}");
        assert!(built("http://h/", &network).is_ok(), "no TLS, no certificates");
        let proxy = Some("http://me:password@:x".to_owned());
        let network = NetworkConfig { proxy, ..NetworkConfig::default() };
        let said = built("http://h/", &network).expect_err("no proxy");
        assert!(said.contains("proxy") && !said.contains("password"), "{said}");
    }

    #[test]
    fn this_machine_is_known_by_all_its_names() {
        let loopback = |text: &str| is_loopback(&reqwest::Url::parse(text).expect("address"));
        for here in
            ["http://127.0.0.1:1", "http://localhost/v1", "http://[::1]:8/", "http://127.1.2.3"]
        {
            assert!(loopback(here), "{here}");
        }
        for there in ["http://10.0.0.1", "https://localhost.example.com", "http://[fe80::1]/"] {
            assert!(!loopback(there), "{there}");
        }
    }
}
