//! Fetching a page that a model names: every address on the way is looked at before anything is sent
//! to it, so that no page leads into the person's own networks.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, LOCATION, USER_AGENT};
use reqwest::{Client, Url};

use super::{Patience, body_stream, client, fault, media_type};
use crate::config::NetworkConfig;

/// Redirects that are followed.
const MOST_REDIRECTS: usize = 8;
/// Bytes of a body that are taken.
pub(crate) const MAX_BYTES: usize = 5 * 1024 * 1024;
/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(30);
/// What pages are asked for in.
const ACCEPTED: &str =
    "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5";
/// Many sites answer programs that do not say they are browsers with nothing.
const BROWSER: &str = concat!("Mozilla/5.0 (compatible; kimi-tui/", env!("CARGO_PKG_VERSION"), ")");

/// What came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fetched {
    /// Where it came from, redirects followed.
    pub(crate) url: String,
    /// The media type, in lower case and without parameters; empty when there was none.
    pub(crate) media_type: String,
    /// The encoding the server names.
    pub(crate) charset: Option<String>,
    /// The body, at most [`MAX_BYTES`] of it.
    pub(crate) body: Vec<u8>,
    /// Was there more of it?
    pub(crate) is_cut: bool,
}

/// Fetches pages.
#[derive(Clone)]
pub(crate) struct Fetcher {
    network: NetworkConfig,
    allows: fn(IpAddr) -> bool,
    lookup: fn(&str) -> io::Result<Vec<IpAddr>>,
    limit: Duration,
}

impl Fetcher {
    /// A fetcher that reaches the public internet, and private networks if `allow_private`.
    pub(crate) fn new(network: NetworkConfig, allow_private: bool) -> Self {
        let allows = if allow_private { |_| true } else { is_public };
        Self { network, allows, lookup: look_up, limit: LIMIT }
    }

    /// The same with another time limit.
    #[cfg(test)]
    pub(crate) fn within(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Gets `url`. Redirects are followed; dropping the future closes the connection.
    ///
    /// # Errors
    /// Why there is no page, in a sentence for a model.
    pub(crate) async fn get(&self, url: &str) -> Result<Fetched, String> {
        let limit = self.limit;
        tokio::time::timeout(limit, self.follow(url)).await.unwrap_or_else(|_| {
            Err(format!("`{url}` did not answer within {} s.", limit.as_secs()))
        })
    }

    async fn follow(&self, text: &str) -> Result<Fetched, String> {
        let mut url = Url::parse(text.trim()).map_err(|error| {
            format!("`{text}` is no address ({error}). Write it with https://.")
        })?;
        for _ in 0..=MOST_REDIRECTS {
            self.check(&url).await?;
            let response = self.send(&url).await?;
            let status = response.status();
            let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            if let Some(next) = location.filter(|_| status.is_redirection()) {
                url = url
                    .join(next)
                    .map_err(|_| format!("`{url}` redirects to `{next}`, which is no address."))?;
                continue;
            }
            if !status.is_success() {
                return Err(format!("`{url}` answered {status}."));
            }
            return self.body(url, response).await;
        }
        Err(format!("`{text}` redirects more than {MOST_REDIRECTS} times."))
    }

    /// Refuses addresses nobody should be led to. The names are looked up here to say so in words; what
    /// the connection goes to is decided by [`Guard`], whatever the name means by then.
    async fn check(&self, url: &Url) -> Result<(), String> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("`{url}` is neither http:// nor https://, so it is not fetched."));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("The address holds a name or a password, so it is not fetched.".to_owned());
        }
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let refusal = || {
            format!(
                "`{host}` is on this machine or in a private network, so it is not fetched. The user \
                 can allow that with allow_private = true below [tools.fetch] in config.toml."
            )
        };
        if let Ok(address) = host.parse::<IpAddr>() {
            return if (self.allows)(address) { Ok(()) } else { Err(refusal()) };
        }
        let (lookup, name) = (self.lookup, host.clone());
        let found = tokio::task::spawn_blocking(move || lookup(&name)).await;
        match found.unwrap_or_else(|_| Err(io::Error::other("the lookup broke off"))) {
            Ok(addresses) if addresses.iter().all(|one| (self.allows)(*one)) => Ok(()),
            Ok(_) => Err(refusal()),
            // A proxy may know names that this machine does not.
            Err(_) if !proxy_hosts(&self.network).is_empty() => Ok(()),
            Err(error) => Err(format!("There is no host `{host}` ({error}).")),
        }
    }

    async fn send(&self, url: &Url) -> Result<reqwest::Response, String> {
        let client = self.client(url)?;
        let request = client.get(url.clone()).header(ACCEPT, ACCEPTED).header(USER_AGENT, BROWSER);
        request.send().await.map_err(|error| {
            let host = url.host_str().unwrap_or_default();
            format!("{}.", fault(host, &error, self.patience()))
        })
    }

    fn client(&self, url: &Url) -> Result<Client, String> {
        let guard =
            Guard { allows: self.allows, lookup: self.lookup, exempt: proxy_hosts(&self.network) };
        client::build_with(url, self.patience(), &self.network, |builder| {
            builder.dns_resolver(Arc::new(guard))
        })
        .map_err(|error| error.to_string())
    }

    fn patience(&self) -> Patience {
        Patience { idle: self.limit, ..Patience::of(&self.network) }
    }

    async fn body(&self, url: Url, response: reqwest::Response) -> Result<Fetched, String> {
        let media_type = media_type(response.headers());
        let charset = charset(response.headers());
        let host = url.host_str().unwrap_or_default().to_owned();
        let mut chunks = body_stream(response, host, self.patience());
        let mut body = Vec::new();
        while let Some(chunk) = chunks.next().await {
            body.extend(chunk.map_err(|error| format!("{error}."))?);
            if body.len() > MAX_BYTES {
                break;
            }
        }
        let is_cut = body.len() > MAX_BYTES;
        body.truncate(MAX_BYTES);
        Ok(Fetched { url: url.to_string(), media_type, charset, body, is_cut })
    }
}

fn charset(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?.to_ascii_lowercase();
    let (_, name) = value.split_once("charset=")?;
    let name = name.split(';').next()?.trim().trim_matches('"');
    (!name.is_empty()).then(|| name.to_owned())
}

/// Looks names up for the connection itself: what was a public address a moment ago and is a private
/// one now is refused here, and the connection goes to no other address than what is given out.
struct Guard {
    allows: fn(IpAddr) -> bool,
    lookup: fn(&str) -> io::Result<Vec<IpAddr>>,
    /// Proxies, which may well be in a private network.
    exempt: Vec<String>,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let (allows, lookup) = (self.allows, self.lookup);
        let name = name.as_str().to_owned();
        let is_exempt = self.exempt.iter().any(|host| host.eq_ignore_ascii_case(&name));
        Box::pin(async move {
            let found = tokio::task::spawn_blocking(move || lookup(&name)).await??;
            if !is_exempt && !found.iter().all(|address| allows(*address)) {
                return Err("its name leads into a private network".into());
            }
            let addresses: Addrs =
                Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

fn look_up(host: &str) -> io::Result<Vec<IpAddr>> {
    Ok((host, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
}

/// Hosts of the proxies that may be used.
fn proxy_hosts(network: &NetworkConfig) -> Vec<String> {
    const VARIABLES: [&str; 3] = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"];
    let addresses = match network.proxy.as_deref().map(str::trim) {
        Some("none") => Vec::new(),
        Some(address) if !address.is_empty() => vec![address.to_owned()],
        _ => VARIABLES
            .iter()
            .flat_map(|name| [(*name).to_owned(), name.to_lowercase()])
            .filter_map(|name| std::env::var(name).ok())
            .collect(),
    };
    addresses
        .iter()
        .filter_map(|address| Url::parse(address).ok()?.host_str().map(str::to_owned))
        .collect()
}

/// Is it an address of the public internet?
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        // Shared by providers, for protocols, for measurements.
        || a == 100 && (64..128).contains(&b)
        || (a, b, c) == (192, 0, 0)
        || a == 198 && (b == 18 || b == 19);
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = address.to_ipv4_mapped() {
        return is_public_v4(inner);
    }
    let parts = address.segments();
    let inner = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => inner(high, low),
        // 6to4 carries an IPv4 address; Teredo and documentation lead nowhere good.
        [0x2002, high, low, ..] => inner(high, low),
        [0x2001, second, ..] => second != 0 && second != 0xdb8,
        // All that is given out today begins with 2 or 3.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::llm::loopback::{Loopback, Play};

    fn page(head: &str, body: &[u8]) -> Vec<Play> {
        let head = format!(
            "HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        vec![Play::Send([head.as_bytes(), body].concat())]
    }

    fn redirect(to: &str) -> Vec<Play> {
        page(&format!("302 Found\r\nlocation: {to}"), b"")
    }

    fn local() -> Fetcher {
        Fetcher::new(NetworkConfig::default(), true)
    }

    #[tokio::test]
    async fn a_page_comes_with_its_kind_and_redirects_are_followed() {
        let server = Loopback::start(vec![
            redirect("/b"),
            page("200 OK\r\ncontent-type: Text/HTML; charset=\"GBK\"", b"<p>hi"),
        ])
        .await;
        let fetched = local().get(&format!("{}/a", server.address)).await.expect("page");
        assert_eq!(fetched.url, format!("{}/b", server.address));
        assert_eq!(
            (fetched.media_type.as_str(), fetched.charset.as_deref()),
            ("text/html", Some("gbk"))
        );
        assert_eq!((fetched.body.as_slice(), fetched.is_cut), (&b"<p>hi"[..], false));
    }

    #[tokio::test]
    async fn refusals_endless_redirects_and_silence_are_told() {
        let server = Loopback::start(vec![page("404 Not Found", b"")]).await;
        let told = local().get(&server.address).await.expect_err("404");
        assert!(told.contains("404"), "{told}");
        let server = Loopback::start(vec![redirect("/"); MOST_REDIRECTS + 2]).await;
        let told = local().get(&server.address).await.expect_err("circle");
        assert!(told.contains("more than 8 times"), "{told}");
        let server = Loopback::start(vec![vec![Play::Stall]]).await;
        let told = local().within(Duration::from_millis(50)).get(&server.address).await;
        assert!(told.expect_err("silence").contains("did not answer"), "silence");
        for (url, why) in [
            ("example.com", "no address"),
            ("file:///etc/passwd", "neither http"),
            ("ftp://example.com/", "neither http"),
            ("https://me:password@example.com/", "password"),
        ] {
            let told = local().get(url).await.expect_err(url);
            assert!(told.contains(why), "{told}");
        }
    }

    #[tokio::test]
    async fn too_long_a_body_is_cut() {
        let server = Loopback::start(vec![page("200 OK", &vec![b'x'; MAX_BYTES + 1])]).await;
        let fetched = local().get(&server.address).await.expect("page");
        assert_eq!((fetched.body.len(), fetched.is_cut), (MAX_BYTES, true));
    }

    #[tokio::test]
    async fn this_machine_is_refused_under_all_its_names() {
        let server = Loopback::start(vec![page("200 OK", b"secret")]).await;
        let port = server.address.rsplit(':').next().expect("port");
        let closed = Fetcher::new(NetworkConfig::default(), false);
        for host in
            ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "0"]
        {
            let told = closed.get(&format!("http://{host}:{port}/")).await.expect_err(host);
            assert!(told.contains("private network"), "{host}: {told}");
            assert!(told.contains("allow_private"), "{told}");
        }
        assert_eq!(server.requests(), Vec::<String>::new());
    }

    #[tokio::test]
    async fn a_redirect_into_a_private_network_is_refused() {
        let server = Loopback::start(vec![redirect("http://10.0.0.1/")]).await;
        let only_here = |address: IpAddr| address.is_loopback();
        let fetcher = Fetcher { allows: only_here, ..local() };
        let told = fetcher.get(&server.address).await.expect_err("refused");
        assert!(told.contains("`10.0.0.1` is on this machine or in a private network"), "{told}");
    }

    #[tokio::test]
    async fn a_name_that_means_something_else_the_second_time_is_no_way_in() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        fn rebinding(_: &str) -> io::Result<Vec<IpAddr>> {
            let first = ASKED.fetch_add(1, Ordering::SeqCst) == 0;
            let address = if first { [93, 184, 216, 34] } else { [127, 0, 0, 1] };
            Ok(vec![IpAddr::from(address)])
        }
        let server = Loopback::start(vec![page("200 OK", b"secret")]).await;
        let port = server.address.rsplit(':').next().expect("port");
        let network = NetworkConfig { proxy: Some("none".to_owned()), ..NetworkConfig::default() };
        let fetcher = Fetcher { lookup: rebinding, ..Fetcher::new(network, false) };
        let told = fetcher.get(&format!("http://rebind.test:{port}/")).await.expect_err("refused");
        assert!(told.contains("private network"), "{told}");
        assert_eq!(ASKED.load(Ordering::SeqCst), 2);
        assert_eq!(server.requests(), Vec::<String>::new());
    }

    #[test]
    fn public_addresses_are_told_from_all_others() {
        let public = |text: &str| is_public(text.parse().expect(text));
        for text in
            ["93.184.216.34", "1.1.1.1", "172.32.0.1", "2606:4700::1111", "64:ff9b::101:101"]
        {
            assert!(public(text), "{text}");
        }
        for text in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.8.8.8",
            "169.254.169.254",
            "172.16.0.1",
            "192.0.0.1",
            "192.168.1.1",
            "198.18.0.1",
            "203.0.113.9",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "fc00::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "::127.0.0.1",
        ] {
            assert!(!public(text), "{text}");
        }
    }
}
