//! `[network]`, and the price of a model.

use std::path::PathBuf;
use std::time::Duration;

use super::{Reader, Section, Value};
use crate::config::{NetworkConfig, Price, names, without_login};

/// Seconds anybody waits: a day.
const LONGEST: f64 = 86_400.0;

/// What a proxy's address begins with.
const PROXY_SCHEMES: [&str; 4] = ["http://", "https://", "socks5://", "socks5h://"];

impl Reader {
    /// `[network]`.
    pub(super) fn network(&mut self, top: &Section<'_>) -> NetworkConfig {
        let default = NetworkConfig::default();
        let Some(section) = self.section(top, "network") else { return default };
        self.warn_of_slips(&section, names::NETWORK);
        let mut seconds = |key: &str, default: Duration| {
            let wanted = "a number of seconds above 0";
            self.number(&section, key, wanted, |n| n > 0.0 && n <= LONGEST)
                .map_or(default, Duration::from_secs_f64)
        };
        let connect_timeout = seconds("connect_timeout_s", default.connect_timeout);
        let first_byte_timeout = seconds("first_byte_timeout_s", default.first_byte_timeout);
        let idle_timeout = seconds("idle_timeout_s", default.idle_timeout);
        let proxy = self.text(&section, "proxy").filter(|proxy| !proxy.trim().is_empty());
        if let Some(proxy) = &proxy {
            let lower = proxy.trim().to_ascii_lowercase();
            if lower != "none" && !PROXY_SCHEMES.iter().any(|s| lower.starts_with(s)) {
                self.problem(
                    section.table.get("proxy").and_then(|entry| entry.line),
                    format!("network.proxy is \"{}\", which is no address", without_login(proxy)),
                    "Write for example proxy = \"http://127.0.0.1:8080\" or \
                     \"socks5h://127.0.0.1:1080\", or \"none\"."
                        .to_owned(),
                );
            }
        }
        let ca_file = self.text(&section, "ca_file").filter(|path| !path.is_empty());
        NetworkConfig {
            connect_timeout,
            first_byte_timeout,
            idle_timeout,
            proxy,
            ca_file: ca_file.map(PathBuf::from),
        }
    }

    /// `price` of a model.
    pub(super) fn price(&mut self, model: &Section<'_>) -> Option<Price> {
        let section = self.section(model, "price")?;
        self.warn_of_slips(&section, names::PRICE);
        for key in ["input", "output"] {
            if section.table.get(key).is_none() {
                self.missing(&section, key, &format!("{key} = 0.6 (per million tokens)"));
            }
        }
        let mut price = |key: &str| {
            let wanted = "a price per million tokens, 0 or more";
            self.number(&section, key, wanted, |n| n.is_finite() && n >= 0.0)
        };
        let (input, output) = (price("input"), price("output"));
        let (cache_read, cache_write) = (price("cache_read"), price("cache_write"));
        Some(Price { input: input?, output: output?, cache_read, cache_write })
    }

    /// A number, whole or not, that `fits`.
    fn number(
        &mut self,
        section: &Section<'_>,
        key: &str,
        wanted: &str,
        fits: impl Fn(f64) -> bool,
    ) -> Option<f64> {
        let entry = section.table.get(key)?;
        #[allow(clippy::cast_precision_loss, reason = "prices and seconds are small")]
        let number = match entry.node.value {
            Value::Float(number) => Some(number),
            Value::Integer(number) => Some(number as f64),
            _ => None,
        };
        if let Some(number) = number.filter(|number| fits(*number)) {
            return Some(number);
        }
        let path = section.path(key);
        if number.is_some() {
            self.problem(
                entry.line,
                format!("{path} must be {wanted}"),
                format!("Write for example {key} = 30, or remove the line."),
            );
        } else {
            self.wrong_type(entry, &path, wanted, &format!("{key} = 30"));
        }
        None
    }
}
