//! Logins: a code that a person confirms in a browser (RFC 8628), tokens in a private file, renewed
//! before they expire and when a server refuses them.
//!
//! The file is upstream's (`credentials/NAME.json`), and so is the lock beside it: a refresh token may
//! count once only, so that two programs must not use it at the same time.

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::http::{Auth, Endpoint, Target};
use super::{LlmError, refusal};
use crate::config::{NetworkConfig, OauthConfig};
use crate::files;

/// What is left of a token's life when it is renewed, at least.
const EARLY: f64 = 300.0;
/// How long another program may take to renew a login.
const LOCKED: Duration = Duration::from_secs(20);
/// How long a code counts when the server does not say.
const USUAL_LIFE: f64 = 900.0;
/// Seconds between questions when the server does not say, and what "slow down" adds (RFC 8628, 3.5).
const INTERVAL: f64 = 5.0;

/// A login as it is kept.
#[derive(Clone, Serialize, Deserialize)]
struct Tokens {
    access_token: String,
    #[serde(default)]
    refresh_token: String,
    /// Unix time in seconds; 0 when nobody said.
    #[serde(default)]
    expires_at: f64,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    token_type: String,
    #[serde(default)]
    expires_in: f64,
    /// What others keep there.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

// By hand: it must not reach a log.
impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

impl Tokens {
    /// Tokens of a server's `answer` at `now`; what it leaves out stays as in `old`.
    fn of(answer: &Value, old: Option<&Self>, now: f64) -> Option<Self> {
        let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
        let kept = |key: &str, old: Option<&String>| {
            text(key).filter(|text| !text.is_empty()).or_else(|| old.cloned()).unwrap_or_default()
        };
        let expires_in = number(answer, "expires_in").unwrap_or_default().max(0.0);
        Some(Self {
            access_token: text("access_token").filter(|token| !token.is_empty())?,
            refresh_token: kept("refresh_token", old.map(|old| &old.refresh_token)),
            expires_at: if expires_in > 0.0 { now + expires_in } else { 0.0 },
            scope: kept("scope", old.map(|old| &old.scope)),
            token_type: kept("token_type", old.map(|old| &old.token_type)),
            expires_in,
            rest: old.map(|old| old.rest.clone()).unwrap_or_default(),
        })
    }

    fn is_over(&self, now: f64) -> bool {
        self.expires_at > 0.0 && self.expires_at <= now
    }

    fn is_due(&self, now: f64) -> bool {
        self.expires_at > 0.0 && self.expires_at - now < EARLY.max(self.expires_in / 2.0)
    }
}

fn number(value: &Value, key: &str) -> Option<f64> {
    let value = value.get(key)?;
    let number = value.as_f64().or_else(|| value.as_str()?.parse().ok())?;
    number.is_finite().then_some(number)
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Is there a login in the file of `oauth`?
#[must_use]
pub fn is_logged_in(oauth: &OauthConfig) -> bool {
    read(&oauth.file()).is_some()
}

/// Forgets a login; false when there was none.
///
/// # Errors
/// When its file cannot be removed.
pub fn forget(oauth: &OauthConfig) -> io::Result<bool> {
    match fs::remove_file(oauth.file()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn read(file: &Path) -> Option<Tokens> {
    let tokens: Tokens = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    (!tokens.access_token.is_empty()).then_some(tokens)
}

fn keep(file: &Path, tokens: &Tokens) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        files::create_private_folder(folder)?;
    }
    #[cfg(unix)]
    if file.exists() {
        // A new file takes the mode of the old one over.
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(file, private)?;
    }
    files::write_atomic(file, &serde_json::to_vec(tokens)?)
}

/// The login of a provider, for requests.
pub(crate) struct Login {
    oauth: OauthConfig,
    network: NetworkConfig,
    /// Whom errors name.
    host: String,
    renewing: tokio::sync::Mutex<()>,
    /// The token that was handed out last: errors must not repeat it.
    latest: Mutex<String>,
}

impl Login {
    pub(crate) fn new(oauth: &OauthConfig, network: &NetworkConfig, host: &str) -> Self {
        Self {
            oauth: oauth.clone(),
            network: network.clone(),
            host: host.to_owned(),
            renewing: tokio::sync::Mutex::default(),
            latest: Mutex::default(),
        }
    }

    /// The token that was handed out last; empty for none.
    pub(crate) fn latest(&self) -> String {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn hand_out(&self, token: String) -> String {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&token);
        token
    }

    /// The token for the next request: read again each time, for another program may have renewed it.
    ///
    /// # Errors
    /// [`LlmError::LoggedOut`] when there is none that counts.
    pub(crate) async fn token(&self) -> Result<String, LlmError> {
        self.current().await.map(|token| self.hand_out(token))
    }

    async fn current(&self) -> Result<String, LlmError> {
        let tokens =
            read(&self.oauth.file()).ok_or_else(|| self.logged_out("there is none yet"))?;
        if !tokens.is_due(now()) {
            return Ok(tokens.access_token);
        }
        match self.renew(&tokens.access_token).await {
            // It still counts: trouble at the place that gives tokens out is no trouble yet.
            Err(error) if !tokens.is_over(now()) => {
                tracing::warn!(%error, "a login could not be renewed early");
                Ok(tokens.access_token)
            }
            other => other,
        }
    }

    /// Another token than `refused`, which the server refused.
    ///
    /// # Errors
    /// [`LlmError::LoggedOut`] when the person has to log in again, others when it may work later.
    pub(crate) async fn renewed(&self, refused: &str) -> Result<String, LlmError> {
        self.renew(refused).await.map(|token| self.hand_out(token))
    }

    async fn renew(&self, refused: &str) -> Result<String, LlmError> {
        let _alone = self.renewing.lock().await;
        let file = self.oauth.file();
        let lock = file.with_extension("lock");
        let _locked = tokio::task::spawn_blocking(move || locked(&lock)).await.ok().flatten();
        let tokens = read(&file).ok_or_else(|| self.logged_out("there is none any more"))?;
        if tokens.access_token != refused {
            return Ok(tokens.access_token);
        }
        if tokens.refresh_token.is_empty() {
            return Err(self.logged_out("the last one has expired"));
        }
        let asked = [
            ("grant_type", "refresh_token"),
            ("refresh_token", tokens.refresh_token.as_str()),
            ("client_id", self.oauth.client_id.as_str()),
        ];
        let (status, answer) = ask(&self.oauth.token_url, &asked, &self.network).await?;
        if let Some(new) = Tokens::of(&answer, Some(&tokens), now()).filter(|_| status < 300) {
            keep(&file, &new).map_err(|error| unkept(&file, &error))?;
            return Ok(new.access_token);
        }
        Err(match status {
            400 | 401 | 403 => self.logged_out("the last one has expired"),
            _ => refused_by(&self.oauth.token_url, status, &answer),
        })
    }

    /// A token that was just renewed is refused too.
    pub(crate) fn is_void(&self) -> LlmError {
        self.logged_out("refuses the one there is, renewed or not")
    }

    fn logged_out(&self, reason: &str) -> LlmError {
        LlmError::LoggedOut { host: self.host.clone(), reason: reason.to_owned() }
    }
}

/// The lock beside a login; none when it cannot be had, which must not be the end of a session.
fn locked(path: &Path) -> Option<File> {
    let file = files::open_append(path).ok()?;
    let until = std::time::Instant::now() + LOCKED;
    loop {
        match file.try_lock() {
            Ok(()) => return Some(file),
            Err(fs::TryLockError::WouldBlock) if std::time::Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(50));
            }
            Err(_) => return None,
        }
    }
}

/// A code that waits for a person.
pub struct DeviceLogin {
    oauth: OauthConfig,
    network: NetworkConfig,
    device_code: String,
    /// What the person types there.
    pub user_code: String,
    /// What the person opens.
    pub address: String,
    /// What else can be opened, with the code in it already.
    pub complete: Option<String>,
    interval: f64,
    life: f64,
    /// How long a second is: tests have no time.
    second: Duration,
}

impl fmt::Debug for DeviceLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceLogin").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Asks for a code.
///
/// # Errors
/// What is missing in the configuration, or why there is none.
pub async fn begin(oauth: &OauthConfig, network: &NetworkConfig) -> Result<DeviceLogin, LlmError> {
    for (what, value) in [
        ("client_id", &oauth.client_id),
        ("device_url", &oauth.device_url),
        ("token_url", &oauth.token_url),
    ] {
        if value.is_empty() {
            return Err(LlmError::Protocol(format!(
                "the provider's oauth has no {what}: the service you log in to tells it. Write it \
                 into config.toml, or pass it to kimi-tui login --oauth"
            )));
        }
    }
    let mut asked = vec![("client_id", oauth.client_id.as_str())];
    if !oauth.scope.is_empty() {
        asked.push(("scope", &oauth.scope));
    }
    let (status, answer) = ask(&oauth.device_url, &asked, network).await?;
    let text = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_web =
        |address: &String| address.starts_with("https://") || address.starts_with("http://");
    let address = [text("verification_uri"), text("verification_url")].into_iter().find(is_web);
    let (device_code, user_code) = (text("device_code"), text("user_code"));
    let Some(address) =
        address.filter(|_| status < 300 && !device_code.is_empty() && !user_code.is_empty())
    else {
        return Err(refused_by(&oauth.device_url, status, &answer));
    };
    Ok(DeviceLogin {
        oauth: oauth.clone(),
        network: network.clone(),
        device_code,
        user_code,
        address,
        complete: Some(text("verification_uri_complete")).filter(is_web),
        interval: number(&answer, "interval").unwrap_or(INTERVAL).clamp(1.0, 60.0),
        life: number(&answer, "expires_in").unwrap_or(USUAL_LIFE).clamp(1.0, 3600.0),
        second: Duration::from_secs(1),
    })
}

/// What a question about a code came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Tokens,
    Pending,
    SlowDown,
    Denied,
    Expired,
    Refused,
}

fn verdict(status: u16, answer: &Value) -> Verdict {
    match answer.get("error").and_then(Value::as_str) {
        None if status < 300 => Verdict::Tokens,
        Some("authorization_pending") => Verdict::Pending,
        Some("slow_down") => Verdict::SlowDown,
        Some("access_denied") => Verdict::Denied,
        Some("expired_token") => Verdict::Expired,
        // A server with trouble, or one that thinks it is asked too often.
        _ if status >= 500 => Verdict::Pending,
        _ if status == 429 => Verdict::SlowDown,
        _ => Verdict::Refused,
    }
}

impl DeviceLogin {
    /// Waits until the person has confirmed the code, and keeps the login.
    ///
    /// # Errors
    /// Why there is none: it was denied, the code has expired, the server is not there.
    pub async fn finish(self) -> Result<(), LlmError> {
        let grant = "urn:ietf:params:oauth:grant-type:device_code";
        let asked = [
            ("grant_type", grant),
            ("device_code", self.device_code.as_str()),
            ("client_id", self.oauth.client_id.as_str()),
        ];
        let told = |text: &str| Err(LlmError::Protocol(text.to_owned()));
        let mut interval = self.interval;
        let mut waited = 0.0;
        while waited < self.life {
            tokio::time::sleep(self.second.mul_f64(interval)).await;
            waited += interval;
            let (status, answer) = match ask(&self.oauth.token_url, &asked, &self.network).await {
                Ok(answered) => answered,
                // RFC 8628, 3.5: less often, until the code has expired.
                Err(LlmError::Connection { .. } | LlmError::Timeout { .. }) => {
                    interval = (interval * 2.0).min(60.0);
                    continue;
                }
                Err(error) => return Err(error),
            };
            match verdict(status, &answer) {
                Verdict::Tokens => {
                    let Some(tokens) = Tokens::of(&answer, None, now()) else {
                        return Err(refused_by(&self.oauth.token_url, status, &answer));
                    };
                    let file = self.oauth.file();
                    return keep(&file, &tokens).map_err(|error| unkept(&file, &error));
                }
                Verdict::Pending => {}
                Verdict::SlowDown => interval += INTERVAL,
                Verdict::Denied => return told("the login was denied in the browser"),
                Verdict::Expired => break,
                Verdict::Refused => {
                    return Err(refused_by(&self.oauth.token_url, status, &answer));
                }
            }
        }
        told("the code has expired before it was confirmed: begin again")
    }

    #[cfg(test)]
    fn with_second(self, second: Duration) -> Self {
        Self { second, ..self }
    }
}

/// Posts a form; secrets go over TLS, or to this machine.
async fn ask(
    url: &str,
    pairs: &[(&str, &str)],
    network: &NetworkConfig,
) -> Result<(u16, Value), LlmError> {
    let endpoint = Endpoint::new(&Target {
        base_url: url,
        key: "",
        custom_headers: &Default::default(),
        network,
        path: String::new(),
        query: &[],
        auth: Auth::Bearer,
        headers: &[
            ("content-type", "application/x-www-form-urlencoded"),
            ("accept", "application/json"),
        ],
        login: None,
    })?;
    if !endpoint.is_private() {
        return Err(LlmError::Protocol(format!(
            "a login must not be sent to {} without TLS: use an https:// address",
            endpoint.host()
        )));
    }
    endpoint.post_form(pairs).await
}

fn refused_by(url: &str, status: u16, answer: &Value) -> LlmError {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?']).next().unwrap_or_default().to_owned();
    let said = ["error_description", "error"].iter().find_map(|key| answer.get(*key)?.as_str());
    let said = said.map(str::to_owned).or_else(|| refusal::in_json(answer));
    let message = refusal::shorten(&said.unwrap_or_else(|| "no login can be had there".to_owned()));
    LlmError::Status { host, status, message, retry_after: None }
}

fn unkept(file: &Path, error: &io::Error) -> LlmError {
    LlmError::Protocol(format!("the login could not be kept in {} ({error})", file.display()))
}
