//! `kimi-tui mcp`: the servers in `mcp.json`, tried and changed from the shell. The words are those of
//! `kimi mcp` (`kimi-cli` `cli/mcp.py:77-353`).

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use clap::Subcommand;
use serde_json::{Map, Value, json};

use crate::cli::args::Args;
use crate::cli::outcome::{End, tell};
use crate::cli::plan::{config_source, mcp_sources};
use crate::config::{Config, ConfigSource};
use crate::error::user;
use crate::mcp::{
    self, McpLimits, McpOptions, McpPool, McpServer, McpSources, McpTransport, config, edit,
};
use crate::paths::Paths;
use crate::ui::render::sanitize::sanitize;
use crate::wire::McpServerState;

#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct McpArgs {
    #[command(subcommand)]
    command: McpCommand,
}

#[derive(Debug, Clone, Subcommand)]
enum McpCommand {
    /// List the servers in mcp.json
    List,
    /// Add a server: mcp add NAME -- COMMAND ARGS, or mcp add NAME --url URL
    Add {
        /// Its name
        name: String,
        /// The program and its arguments, behind --
        #[arg(last = true, value_name = "COMMAND")]
        command: Vec<String>,
        /// The address of a server on the web
        #[arg(long, conflicts_with = "command")]
        url: Option<String>,
        /// A variable for the program: NAME=VALUE; may be given several times
        #[arg(short, long, value_name = "NAME=VALUE")]
        env: Vec<String>,
        /// A header for the server: NAME: VALUE; may be given several times
        #[arg(short = 'H', long, value_name = "NAME: VALUE")]
        header: Vec<String>,
        /// The server wants a login in the browser
        #[arg(long, requires = "url")]
        oauth: bool,
        /// http (with --url) or stdio; upstream's way to say what --url says
        #[arg(short, long, value_name = "KIND", value_parser = ["stdio", "http"])]
        transport: Option<String>,
    },
    /// Remove a server
    Remove {
        /// Its name
        name: String,
    },
    /// Connect to a server and list its tools
    Test {
        /// Its name
        name: String,
    },
    /// Log in to a server in the browser
    Auth {
        /// Its name
        name: String,
    },
    /// Forget the login of a server
    ResetAuth {
        /// Its name
        name: String,
    },
}

/// Where servers are looked for and kept, by the flags before the subcommand.
struct Place {
    paths: Paths,
    config: ConfigSource,
    sources: McpSources,
}

impl Place {
    fn of(flags: &Args) -> anyhow::Result<Self> {
        Ok(Self {
            paths: Paths::from_env()?,
            config: config_source(flags),
            sources: mcp_sources(flags),
        })
    }

    /// The file that is changed.
    fn file(&self) -> anyhow::Result<PathBuf> {
        match self.sources.files.as_slice() {
            [] => Ok(self.paths.mcp_file()),
            [file] => Ok(file.clone()),
            _ => Err(user(
                "There are several --mcp-config-file, and one file is changed.",
                "Give the one you mean.",
            )),
        }
    }

    fn servers(&self) -> anyhow::Result<Vec<McpServer>> {
        let env = |name: &str| std::env::var(name).ok();
        Ok(config::load(&self.sources, &self.paths.mcp_file(), None, &env)?)
    }

    /// Where servers were looked for, for a person.
    fn shown(&self) -> String {
        let files = self.sources.files.iter().map(|file| file.display().to_string());
        let inline = (!self.sources.inline.is_empty()).then(|| "--mcp-config".to_owned());
        let places: Vec<String> = files.chain(inline).collect();
        if places.is_empty() {
            return self.paths.mcp_file().display().to_string();
        }
        places.join(", ")
    }

    fn unknown(&self, name: &str) -> anyhow::Error {
        let known: Vec<String> = self
            .servers()
            .map(|servers| servers.into_iter().map(|server| server.name).collect())
            .unwrap_or_default();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        user(
            format!("There is no MCP server \"{name}\" in {} (known: {known}).", self.shown()),
            "Add it with kimi-tui mcp add.",
        )
    }

    fn find(&self, name: &str) -> anyhow::Result<McpServer> {
        self.servers()?
            .into_iter()
            .find(|server| server.name == name)
            .ok_or_else(|| self.unknown(name))
    }

    fn options(&self) -> anyhow::Result<McpOptions> {
        let config = Config::load(&self.paths, &self.config)?.config;
        Ok(McpOptions {
            work_dir: std::env::current_dir()?,
            logins: self.paths.mcp_logins(),
            network: config.network,
            limits: McpLimits { turn: McpLimits::default().connect * 3, ..McpLimits::default() },
            ..McpOptions::default()
        })
    }
}

pub(super) fn run(args: McpArgs, flags: &Args) -> anyhow::Result<End> {
    let place = Place::of(flags)?;
    let logins = place.paths.mcp_logins();
    match args.command {
        McpCommand::List => list(&place),
        McpCommand::Add { name, command, url, env, header, oauth, transport } => {
            let entry = entry(command, url, &env, &header, oauth, transport.as_deref())?;
            let file = place.file()?;
            edit::add(&file, &name, entry)?;
            say(&format!("{name} is in {}. Try it: kimi-tui mcp test {name}", file.display()))
        }
        McpCommand::Remove { name } => {
            let file = place.file()?;
            if !edit::remove(&file, &name)? {
                return Err(place.unknown(&name));
            }
            mcp::forget_login(&logins, &name)?;
            say(&format!("{name} is no longer in {}", file.display()))
        }
        McpCommand::Test { name } => test(&place, &name),
        McpCommand::Auth { name } => auth(&place, &name),
        McpCommand::ResetAuth { name } => {
            let had = mcp::forget_login(&logins, &name)?;
            let words = if had { "is forgotten" } else { "was never kept" };
            say(&format!("The login of {name} {words}"))
        }
    }
}

fn say(text: &str) -> anyhow::Result<End> {
    writeln!(std::io::stdout(), "{}", sanitize(text))?;
    Ok(End::Done)
}

/// Where a server is, without its secrets.
fn address(server: &McpServer) -> String {
    match (&server.fault, &server.transport) {
        (Some(fault), _) => format!("wrong: {fault}"),
        (None, McpTransport::Stdio { command, args, .. }) => {
            std::iter::once(command).chain(args).cloned().collect::<Vec<_>>().join(" ")
        }
        (None, McpTransport::Http { url, oauth, .. }) => {
            format!("{}{}", crate::config::without_login(url), if *oauth { " (oauth)" } else { "" })
        }
    }
}

fn list(place: &Place) -> anyhow::Result<End> {
    let servers = place.servers()?;
    if servers.is_empty() {
        return say(&format!(
            "There are no MCP servers in {}. Add one: kimi-tui mcp add NAME -- COMMAND",
            place.shown()
        ));
    }
    let width = servers.iter().map(|server| server.name.chars().count()).max().unwrap_or(0);
    for server in &servers {
        say(&format!("{:width$}  {}", server.name, address(server)))?;
    }
    Ok(End::Done)
}

fn entry(
    command: Vec<String>,
    url: Option<String>,
    env: &[String],
    headers: &[String],
    oauth: bool,
    transport: Option<&str>,
) -> anyhow::Result<Value> {
    let mut words = command.into_iter();
    // Upstream gives the address as the last word.
    let url = if transport == Some("http") { url.or_else(|| words.next()) } else { url };
    let mut entry = Map::new();
    if let Some(url) = url {
        entry.insert("url".to_owned(), url.into());
        entry.insert("transport".to_owned(), "http".into());
        if !headers.is_empty() {
            entry.insert("headers".to_owned(), pairs(headers, ':', "NAME: VALUE")?);
        }
        if oauth {
            entry.insert("auth".to_owned(), "oauth".into());
        }
    } else {
        let Some(program) = words.next() else {
            return Err(user(
                "There is neither a command nor an address.",
                "Write kimi-tui mcp add NAME -- COMMAND ARGS, or kimi-tui mcp add NAME --url URL.",
            ));
        };
        entry.insert("command".to_owned(), program.into());
        entry.insert("args".to_owned(), json!(words.collect::<Vec<_>>()));
        if !env.is_empty() {
            entry.insert("env".to_owned(), pairs(env, '=', "NAME=VALUE")?);
        }
    }
    Ok(Value::Object(entry))
}

fn pairs(texts: &[String], separator: char, form: &str) -> anyhow::Result<Value> {
    let mut pairs = BTreeMap::new();
    for text in texts {
        let Some((name, value)) = text.split_once(separator) else {
            return Err(user(format!("\"{text}\" is not of the form {form}."), "Write it so."));
        };
        pairs.insert(name.trim().to_owned(), value.trim().to_owned());
    }
    Ok(json!(pairs))
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()
}

fn test(place: &Place, name: &str) -> anyhow::Result<End> {
    let server = place.find(name)?;
    let options = place.options()?;
    tell(&format!("Connecting to {name}: {}", address(&server)));
    runtime()?.block_on(async {
        let pool = McpPool::start(vec![server], options);
        pool.settle().await;
        let status = pool.status();
        let Some(server) = status.servers.first() else { return Ok(End::Done) };
        if server.status != McpServerState::Connected {
            let reason = pool.failures().pop().map(|(_, reason)| reason).unwrap_or_default();
            return Ok(End::failed(format!("{name} is not there: {reason}")));
        }
        say(&format!("{name} is connected and has {} tools", server.tools.len()))?;
        for tool in pool.tools() {
            let about = tool.description();
            let line = about.lines().nth(2).unwrap_or_default();
            say(&format!("  {}  {}", tool.name(), line.chars().take(100).collect::<String>()))?;
        }
        Ok(End::Done)
    })
}

fn auth(place: &Place, name: &str) -> anyhow::Result<End> {
    let McpTransport::Http { url, .. } = place.find(name)?.transport else {
        return Err(user(
            format!("The MCP server {name} is a program on this machine: it has no login."),
            "Give it what it needs as variables: kimi-tui mcp add NAME --env KEY=VALUE -- COMMAND.",
        ));
    };
    let options = place.options()?;
    runtime()?.block_on(async {
        let failed = |reason: String| {
            user(
                format!("The login to {name} did not work: {reason}."),
                "Check the server's address, or ask its operator.",
            )
        };
        let login = mcp::login(name, &url, &options).await.map_err(failed)?;
        say(&format!("Open this address in a browser:\n\n  {}\n", login.address()))?;
        tell("Waiting for the browser; Ctrl-C ends it.");
        login.finish().await.map_err(failed)?;
        say(&format!("Logged in to {name}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(words: &[&str], url: Option<&str>, transport: Option<&str>) -> Value {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        let env = ["A=b=c".to_owned()];
        let headers = ["X: y z".to_owned()];
        entry(words, url.map(str::to_owned), &env, &headers, false, transport).expect("an entry")
    }

    #[test]
    fn an_entry_is_what_was_typed() {
        assert_eq!(
            made(&["npx", "-y", "x"], None, None),
            json!({"command": "npx", "args": ["-y", "x"], "env": {"A": "b=c"}})
        );
        let http = json!({"url": "https://h", "transport": "http", "headers": {"X": "y z"}});
        assert_eq!(made(&[], Some("https://h"), None), http);
        assert_eq!(made(&["https://h"], None, Some("http")), http);
        assert!(entry(Vec::new(), None, &[], &[], false, None).is_err());
        assert!(pairs(&["nothing".to_owned()], '=', "NAME=VALUE").is_err());
    }
}
