//! How servers are reached: `[network]`.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// `[network]`: how servers are reached. Upstream has no such table.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkConfig {
    /// How long to wait for a connection.
    #[serde(rename = "connect_timeout_s", with = "seconds")]
    pub connect_timeout: Duration,
    /// How long to wait for the beginning of an answer: models that think send nothing for long.
    #[serde(rename = "first_byte_timeout_s", with = "seconds")]
    pub first_byte_timeout: Duration,
    /// How long to wait for the next piece of an answer.
    #[serde(rename = "idle_timeout_s", with = "seconds")]
    pub idle_timeout: Duration,
    /// The proxy: `http://`, `https://`, `socks5://` or `socks5h://`; `none` for none at all.
    /// Absent: what the environment says (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`).
    pub proxy: Option<String>,
    /// A PEM file of certificates to trust beside the system's.
    pub ca_file: Option<PathBuf>,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(15),
            first_byte_timeout: Duration::from_secs(300),
            idle_timeout: Duration::from_secs(120),
            proxy: None,
            ca_file: None,
        }
    }
}

// By hand: the proxy's address may hold a password.
impl fmt::Debug for NetworkConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetworkConfig")
            .field("connect_timeout", &self.connect_timeout)
            .field("first_byte_timeout", &self.first_byte_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .field("proxy", &self.proxy.as_deref().map(without_login))
            .field("ca_file", &self.ca_file)
            .finish()
    }
}

mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Duration, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_f64(time.as_secs_f64())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

/// `address` with name and password before the host replaced by `***`.
#[must_use]
pub fn without_login(address: &str) -> String {
    let after = address.find("://").map_or(0, |at| at + 3);
    let authority = address[after..].split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rfind('@') {
        Some(at) => format!("{}***{}", &address[..after], &address[after + at..]),
        None => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_in_an_address_is_not_told() {
        for (address, told) in [
            ("http://me:pw@proxy:8080/x@y", "http://***@proxy:8080/x@y"),
            ("socks5h://me@h", "socks5h://***@h"),
            ("https://h/a?b=c@d", "https://h/a?b=c@d"),
            ("me:p@w@h", "***@h"),
            ("", ""),
        ] {
            assert_eq!(without_login(address), told);
        }
        let network =
            NetworkConfig { proxy: Some("http://me:pw@h".into()), ..NetworkConfig::default() };
        assert!(!format!("{network:?}").contains("pw"), "{network:?}");
    }
}
