//! `mcp.json`: which servers there are (`kimi-facts` B.10; the format is `fastmcp`'s).
//!
//! ```json
//! { "mcpServers": { "files": { "command": "npx", "args": ["-y", "some-server"], "env": {} },
//!                   "notes": { "url": "https://example.com/mcp", "headers": {}, "auth": "oauth" } } }
//! ```
//!
//! `${NAME}` in arguments, `env`, `url` and `headers` stands for an environment variable, so that no
//! secret need be written into the file.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// How a server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum McpTransport {
    /// A program that is started and spoken to on its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables it gets.
        env: Vec<(String, String)>,
        /// Where it runs; none for the session's folder.
        cwd: Option<PathBuf>,
    },
    /// A server on the web, by streamable HTTP.
    Http {
        /// Its address.
        url: String,
        /// Headers it gets.
        headers: Vec<(String, String)>,
        /// Does it want a login in the browser?
        oauth: bool,
    },
}

// By hand: variables and headers may hold keys.
impl std::fmt::Debug for McpTransport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stdio { command, .. } => write!(f, "Stdio({command})"),
            Self::Http { url, .. } => write!(f, "Http({url})"),
        }
    }
}

/// One server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// Its name in the configuration.
    pub name: String,
    /// How it is reached.
    pub transport: McpTransport,
    /// What is wrong with its entry; it is then shown as failed and never started.
    pub fault: Option<String>,
}

/// Where servers come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpSources {
    /// Files given on the command line; none for `mcp.json` in the data folder.
    pub files: Vec<PathBuf>,
    /// JSON given on the command line.
    pub inline: Vec<String>,
    /// Servers a front end brings along. When there are any, or an empty list, no file is read.
    pub only: Option<Vec<McpServer>>,
}

/// Why servers could not be read.
#[derive(Debug, thiserror::Error)]
pub enum McpConfigError {
    /// The file cannot be read.
    #[error("{path} cannot be read: {source}. Check the path, or make it readable.")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// It is not what it should be.
    #[error("{origin}: {problem}. Write {{\"mcpServers\": {{\"NAME\": {{\"command\": \"…\"}}}}}}.")]
    Format {
        /// File, or flag.
        origin: String,
        /// What is wrong.
        problem: String,
    },
}

/// The servers of `sources`, with `default_file` read where no file is given, and `agent_file` in
/// any case. A later server takes the place of an earlier one of the same name.
///
/// # Errors
/// When a file that was asked for cannot be read, or one of them is no JSON of this form.
pub fn load(
    sources: &McpSources,
    default_file: &Path,
    agent_file: Option<&Path>,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<McpServer>, McpConfigError> {
    if let Some(servers) = &sources.only {
        return Ok(servers.clone());
    }
    let mut all = Vec::new();
    if sources.files.is_empty() {
        match fs::read_to_string(default_file) {
            Ok(text) => add(&mut all, parse(&default_file.display().to_string(), &text, env)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(unreadable(default_file, source)),
        }
    }
    for file in sources.files.iter().map(PathBuf::as_path).chain(agent_file) {
        let text = fs::read_to_string(file).map_err(|source| unreadable(file, source))?;
        add(&mut all, parse(&file.display().to_string(), &text, env)?);
    }
    for text in &sources.inline {
        add(&mut all, parse("--mcp-config", text, env)?);
    }
    Ok(all)
}

fn unreadable(path: &Path, source: std::io::Error) -> McpConfigError {
    McpConfigError::Read { path: path.display().to_string(), source }
}

fn add(all: &mut Vec<McpServer>, more: Vec<McpServer>) {
    for server in more {
        match all.iter_mut().find(|known| known.name == server.name) {
            Some(known) => *known = server,
            None => all.push(server),
        }
    }
}

/// The servers of `text`, in their order. An entry that is wrong is a server with a fault.
///
/// # Errors
/// [`McpConfigError::Format`] when `text` is no JSON, or has no `mcpServers`.
pub fn parse(
    origin: &str,
    text: &str,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<McpServer>, McpConfigError> {
    let wrong = |problem: String| McpConfigError::Format { origin: origin.to_owned(), problem };
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let value: Value = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    let Value::Object(top) = value else {
        return Err(wrong("it is no JSON object".to_owned()));
    };
    let servers = match top.get("mcpServers") {
        Some(Value::Object(servers)) => servers,
        Some(_) => return Err(wrong("\"mcpServers\" is no object".to_owned())),
        None if top.is_empty() => return Ok(Vec::new()),
        None => return Err(wrong("there is no \"mcpServers\"".to_owned())),
    };
    Ok(servers.iter().map(|(name, entry)| read(name, entry, env)).collect())
}

fn read(name: &str, entry: &Value, env: &dyn Fn(&str) -> Option<String>) -> McpServer {
    match entry.as_object().ok_or_else(|| "its entry is no object".to_owned()) {
        Ok(entry) => match transport(entry, env) {
            Ok(transport) => McpServer { name: name.to_owned(), transport, fault: None },
            Err(fault) => faulty(name, fault),
        },
        Err(fault) => faulty(name, fault),
    }
}

fn faulty(name: &str, fault: String) -> McpServer {
    let transport = McpTransport::Stdio {
        command: String::new(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: None,
    };
    McpServer { name: name.to_owned(), transport, fault: Some(fault) }
}

fn transport(
    entry: &Map<String, Value>,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<McpTransport, String> {
    let text = |key: &str| match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => filled(text, env).map(Some),
        Some(_) => Err(format!("\"{key}\" must be a text")),
    };
    let kind = match text("transport")? {
        Some(kind) => Some(kind),
        None => text("type")?,
    };
    if let Some(url) = text("url")? {
        return match kind.as_deref() {
            None | Some("http" | "streamable-http" | "streamableHttp" | "streamable_http") => {
                Ok(McpTransport::Http {
                    url,
                    headers: pairs(entry, "headers", env)?,
                    oauth: text("auth")?.as_deref() == Some("oauth"),
                })
            }
            Some("sse") => Err("the transport \"sse\" is not spoken any more. Use the server's \
                                streamable HTTP address and \"transport\": \"http\""
                .to_owned()),
            Some(other) => Err(format!("unknown transport \"{other}\" (known: http, stdio)")),
        };
    }
    let Some(command) = text("command")?.filter(|command| !command.trim().is_empty()) else {
        return Err("it has neither \"command\" nor \"url\"".to_owned());
    };
    if let Some(other) = kind.filter(|kind| kind != "stdio") {
        return Err(format!("the transport \"{other}\" needs a \"url\""));
    }
    let args = match entry.get("args") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list
            .iter()
            .map(|arg| match arg {
                Value::String(text) => filled(text, env),
                Value::Number(number) => Ok(number.to_string()),
                _ => Err("\"args\" must be a list of texts".to_owned()),
            })
            .collect::<Result<_, _>>()?,
        Some(_) => return Err("\"args\" must be a list of texts".to_owned()),
    };
    let cwd = text("cwd")?.map(PathBuf::from);
    Ok(McpTransport::Stdio { command, args, env: pairs(entry, "env", env)?, cwd })
}

fn pairs(
    entry: &Map<String, Value>,
    key: &str,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<(String, String)>, String> {
    match entry.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(map)) => map
            .iter()
            .map(|(name, value)| match value {
                Value::String(text) => Ok((name.clone(), filled(text, env)?)),
                Value::Number(_) | Value::Bool(_) => Ok((name.clone(), value.to_string())),
                _ => Err(format!("\"{key}.{name}\" must be a text")),
            })
            .collect(),
        Some(_) => Err(format!("\"{key}\" must be an object of texts")),
    }
}

/// `text` with `${NAME}` replaced by the variable of that name.
fn filled(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        match from[2..].split_once('}').filter(|(name, _)| is_name(name)) {
            Some((name, after)) => {
                out.push_str(&env(name).ok_or_else(|| {
                    format!("it needs the environment variable {name}, which is not set")
                })?);
                rest = after;
            }
            None => {
                out.push_str("${");
                rest = &from[2..];
            }
        }
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(name: &str) -> Option<String> {
        (name == "TOKEN").then(|| "s3cret".to_owned())
    }

    fn parsed(text: &str) -> Vec<McpServer> {
        parse("mcp.json", text, &env).expect("servers")
    }

    #[test]
    fn both_kinds_are_read_in_their_order() {
        let servers = parsed(
            r#"{"mcpServers": {
                "z": {"command": "npx", "args": ["-y", 3], "env": {"K": "${TOKEN}", "N": 1}},
                "a": {"url": "https://h/mcp", "transport": "http", "headers": {"X": "y ${TOKEN}"},
                      "auth": "oauth"}}}"#,
        );
        assert_eq!(servers.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["z", "a"]);
        assert_eq!(
            servers[0].transport,
            McpTransport::Stdio {
                command: "npx".into(),
                args: vec!["-y".into(), "3".into()],
                env: vec![("K".into(), "s3cret".into()), ("N".into(), "1".into())],
                cwd: None,
            }
        );
        assert_eq!(
            servers[1].transport,
            McpTransport::Http {
                url: "https://h/mcp".into(),
                headers: vec![("X".into(), "y s3cret".into())],
                oauth: true,
            }
        );
        assert!(!format!("{servers:?}").contains("s3cret"));
    }

    #[test]
    fn a_wrong_entry_is_a_fault_of_that_server_only() {
        let faults: Vec<_> = parsed(
            r#"{"mcpServers": {"ok": {"command": "x"}, "none": {}, "list": [], "old": {"url": "u",
                "transport": "sse"}, "args": {"command": "x", "args": "y"},
                "unset": {"command": "x", "env": {"A": "${NOPE}"}}}}"#,
        )
        .into_iter()
        .map(|server| server.fault.unwrap_or_default())
        .collect();
        assert_eq!(faults[0], "");
        for (fault, words) in faults[1..].iter().zip([
            "neither \"command\" nor \"url\"",
            "no object",
            "streamable HTTP",
            "list of texts",
            "variable NOPE, which is not set",
        ]) {
            assert!(fault.contains(words), "{fault}");
        }
    }

    #[test]
    fn a_wrong_file_is_told_with_its_name() {
        for (text, words) in
            [("{", "EOF"), ("[]", "no JSON object"), ("{\"a\": 1}", "no \"mcpServers\"")]
        {
            let told = parse("some/mcp.json", text, &env).expect_err("wrong").to_string();
            assert!(told.starts_with("some/mcp.json: ") && told.contains(words), "{told}");
        }
        assert_eq!(parsed(" "), []);
        assert_eq!(parsed("{}"), []);
    }

    #[test]
    fn files_given_replace_the_default_one_and_later_servers_earlier_ones() {
        let folder = tempfile::tempdir().expect("folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("file");
            path
        };
        let default = write("mcp.json", r#"{"mcpServers": {"d": {"command": "d"}}}"#);
        let given = write("given.json", r#"{"mcpServers": {"g": {"command": "g"}}}"#);
        let inline = r#"{"mcpServers": {"g": {"command": "other"}}}"#.to_owned();
        let names = |sources: &McpSources, agent: Option<&Path>| -> Vec<String> {
            let servers = load(sources, &default, agent, &env).expect("servers");
            servers.iter().map(|s| format!("{}={:?}", s.name, s.transport)).collect()
        };
        let mut sources = McpSources::default();
        assert_eq!(names(&sources, None), ["d=Stdio(d)"]);
        assert_eq!(names(&sources, Some(&given)), ["d=Stdio(d)", "g=Stdio(g)"]);
        sources.files.push(given.clone());
        sources.inline.push(inline);
        assert_eq!(names(&sources, None), ["g=Stdio(other)"]);
        sources.only = Some(Vec::new());
        assert_eq!(names(&sources, Some(&given)), Vec::<String>::new());
        sources.only = None;
        sources.files.push(folder.path().join("gone"));
        assert!(load(&sources, &default, None, &env).is_err());
    }
}
