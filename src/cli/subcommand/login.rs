//! `kimi-tui login` and `logout`: connect a service, or take its key out, without the screen.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::Context as _;
use rustix::termios::{self, LocalModes, OptionalActions};

use crate::agent::AgentChoice;
use crate::cli::args::Args;
use crate::cli::outcome::End;
use crate::config::edit::Edit;
use crate::config::{Config, ConfigSource, Offered, Secret, Service};
use crate::engine::{Env, Host, HostOptions};
use crate::error::user;
use crate::paths::Paths;
use crate::ui::render::sanitize::sanitize;

#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct LoginArgs {
    /// moonshot, moonshot-cn, openai, anthropic, google, deepseek, openrouter, server, ollama, …
    service: Option<String>,
    /// Where it is, for a server of your own: http://HOST/v1
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The model to use, as the service calls it
    #[arg(long = "use", value_name = "MODEL")]
    model: Option<String>,
}

#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct LogoutArgs {
    /// The provider, as it is called in the configuration
    provider: String,
}

pub(super) fn login(args: &LoginArgs, flags: &Args) -> anyhow::Result<End> {
    let host = host(flags)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let said = runtime.block_on(connect(&host, args, &mut Terminal))?;
    writeln!(io::stdout(), "{}", sanitize(&said))?;
    Ok(End::Done)
}

pub(super) fn logout(args: &LogoutArgs, flags: &Args) -> anyhow::Result<End> {
    let edit = Edit::Key { provider: args.provider.clone(), secret: None };
    let file = host(flags)?.configure(&[edit])?;
    let said = format!("The key of {} is no longer in {}", args.provider, file.display());
    writeln!(io::stdout(), "{}", sanitize(&said))?;
    Ok(End::Done)
}

fn host(flags: &Args) -> anyhow::Result<Host> {
    let source = match (&flags.config_file, &flags.config) {
        (Some(file), _) => ConfigSource::File(file.clone()),
        (None, Some(text)) => ConfigSource::Inline(text.clone()),
        (None, None) => ConfigSource::Default,
    };
    let options = HostOptions {
        paths: Paths::from_env()?,
        config: Config::default(),
        work_dir: std::env::temp_dir(),
        agent: AgentChoice::default(),
        model: None,
        yolo: false,
        thinking: None,
        max_steps: None,
        max_ralph_iterations: None,
        mcp: crate::mcp::McpSources::default(),
        flags: crate::engine::SessionFlags::default(),
        env: Env::process(),
    };
    Ok(Host::new(options).reading(source))
}

/// Who is asked.
trait Person {
    /// A line; none when there is nobody, or no more of it.
    fn ask(&mut self, question: &str, is_secret: bool) -> io::Result<Option<String>>;
}

struct Terminal;

impl Person for Terminal {
    fn ask(&mut self, question: &str, is_secret: bool) -> io::Result<Option<String>> {
        let stdin = io::stdin();
        let before = stdin.is_terminal().then(|| termios::tcgetattr(&stdin)).transpose()?;
        if before.is_some() {
            write!(io::stderr(), "{}", sanitize(question))?;
        }
        if let Some(before) = before.as_ref().filter(|_| is_secret) {
            let mut silent = before.clone();
            silent.local_modes.remove(LocalModes::ECHO);
            termios::tcsetattr(&stdin, OptionalActions::Flush, &silent)?;
        }
        let mut line = String::new();
        let read = stdin.lock().read_line(&mut line);
        if let Some(before) = before.as_ref().filter(|_| is_secret) {
            termios::tcsetattr(&stdin, OptionalActions::Now, before)?;
            writeln!(io::stderr())?;
        }
        Ok((read? > 0).then(|| line.trim().to_owned()))
    }
}

async fn connect(host: &Host, args: &LoginArgs, person: &mut dyn Person) -> anyhow::Result<String> {
    let mut service = choose_service(host.services().await, args, person)?;
    if service.base_url.is_empty() {
        service.base_url = answer(person, "Address, for example http://127.0.0.1:8000/v1: ")?;
    }
    let is_known = !service.secret.0.is_empty();
    if service.wants_key && !is_known {
        let key = person.ask("API key (it is not shown): ", true)?.unwrap_or_default();
        service.secret = Secret(key);
    }
    let models = host.offered(&service.provider()).await.map_err(anyhow::Error::msg)?;
    let model = choose_model(&models, args, person)?;
    let (key, edits) = service.edits(&model);
    let file = host.configure(&edits).context("The service answers, but was not saved")?;
    Ok(format!("Saved in {}: {key} answers from now on.", file.display()))
}

fn answer(person: &mut dyn Person, question: &str) -> anyhow::Result<String> {
    person.ask(question, false)?.filter(|line| !line.is_empty()).ok_or_else(|| {
        user(format!("No answer to: {question}"), "Give it as an argument: login --help")
    })
}

fn choose_service(
    services: Vec<Service>,
    args: &LoginArgs,
    person: &mut dyn Person,
) -> anyhow::Result<Service> {
    let wanted = match (&args.service, &args.base_url) {
        (Some(name), _) => name.clone(),
        (None, Some(_)) => "server".to_owned(),
        (None, None) => {
            let line = |(index, service): (usize, &Service)| {
                let found = service.found.as_deref().unwrap_or_default();
                format!("{:>3}  {:<12} {}  {found}\n", index + 1, service.key, service.name)
            };
            let list: String = services.iter().enumerate().map(line).collect();
            answer(person, &format!("{list}Which service? "))?
        }
    };
    let by_number =
        wanted.parse::<usize>().ok().and_then(|number| services.get(number.wrapping_sub(1)));
    let found = by_number.or_else(|| services.iter().find(|service| service.key == wanted));
    let Some(mut service) = found.cloned() else {
        let known: Vec<&str> = services.iter().map(|service| service.key.as_str()).collect();
        return Err(user(
            format!("There is no service \"{wanted}\"."),
            format!("Known: {}. A server of your own: login --base-url URL.", known.join(", ")),
        ));
    };
    if let Some(address) = &args.base_url {
        service.base_url.clone_from(address);
    }
    Ok(service)
}

fn choose_model(
    models: &[Offered],
    args: &LoginArgs,
    person: &mut dyn Person,
) -> anyhow::Result<Offered> {
    let wanted = match &args.model {
        Some(name) => name.clone(),
        None => {
            let line =
                |(index, model): (usize, &Offered)| format!("{:>3}  {}\n", index + 1, model.name);
            let list: String = models.iter().enumerate().map(line).collect();
            answer(person, &format!("{list}Which model? "))?
        }
    };
    let by_number =
        wanted.parse::<usize>().ok().and_then(|number| models.get(number.wrapping_sub(1)));
    let found = by_number.or_else(|| models.iter().find(|model| model.name == wanted));
    Ok(found.cloned().unwrap_or(Offered { name: wanted, context: None }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::loopback::{Loopback, http};

    struct Script(Vec<&'static str>, Vec<(String, bool)>);

    impl Person for Script {
        fn ask(&mut self, question: &str, is_secret: bool) -> io::Result<Option<String>> {
            self.1.push((question.to_owned(), is_secret));
            Ok((!self.0.is_empty()).then(|| self.0.remove(0).to_owned()))
        }
    }

    fn house(folder: &std::path::Path) -> Host {
        Host::new(HostOptions {
            paths: Paths::new(folder),
            config: Config::default(),
            work_dir: folder.to_owned(),
            agent: AgentChoice::default(),
            model: None,
            yolo: false,
            thinking: None,
            max_steps: None,
            max_ralph_iterations: None,
            mcp: crate::mcp::McpSources::default(),
            flags: crate::engine::SessionFlags::default(),
            env: Env::empty(),
        })
        .reading(ConfigSource::Default)
    }

    #[tokio::test]
    async fn a_server_is_connected_and_its_key_forgotten_again() {
        let list = r#"{"data":[{"id":"small"},{"id":"large","context_length":5000}]}"#;
        let reply = vec![http("200 OK", "Content-Type: application/json\r\n", list)];
        let server = Loopback::start(vec![reply]).await;
        let folder = tempfile::tempdir().expect("folder");
        let host = house(folder.path());
        let args = LoginArgs {
            service: None,
            base_url: Some(format!("{}/v1", server.address)),
            model: None,
        };
        let mut person = Script(vec!["sk-typed-key", "2"], Vec::new());
        let said = connect(&host, &args, &mut person).await.expect("connected");
        assert!(said.contains("server/large answers from now on"), "{said}");
        let asked: Vec<bool> = person.1.iter().map(|(_, is_secret)| *is_secret).collect();
        assert_eq!(asked, [true, false]);
        assert!(server.requests()[0].contains("Bearer sk-typed-key"));
        let text = std::fs::read_to_string(folder.path().join("config.toml")).expect("file");
        assert!(
            text.contains("sk-typed-key") && text.contains("max_context_size = 5000"),
            "{text}"
        );
        let forget = Edit::Key { provider: "server".into(), secret: None };
        host.configure(&[forget]).expect("changed");
        let text = std::fs::read_to_string(folder.path().join("config.toml")).expect("file");
        assert!(!text.contains("sk-typed-key"), "{text}");
    }

    #[tokio::test]
    async fn a_wrong_key_is_told_and_nothing_is_saved() {
        let server = Loopback::start(vec![vec![http("401 No", "", r#"{"error":"no"}"#)]]).await;
        let folder = tempfile::tempdir().expect("folder");
        let args = LoginArgs {
            service: None,
            base_url: Some(server.address.clone()),
            model: Some("m".into()),
        };
        let mut person = Script(vec!["sk-wrong-key"], Vec::new());
        let error = connect(&house(folder.path()), &args, &mut person).await.expect_err("refused");
        let said = format!("{error:#}");
        assert!(said.contains("401") && said.contains("valid api_key"), "{said}");
        assert!(!said.contains("sk-wrong-key") && !folder.path().join("config.toml").exists());
    }
}
