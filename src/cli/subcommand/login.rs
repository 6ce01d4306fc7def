//! `kimi-tui login` and `logout`: connect a service, or take its key out, without the screen.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::Context as _;
use rustix::termios::{self, LocalModes, OptionalActions};

use crate::cli::args::Args;
use crate::cli::outcome::End;
use crate::cli::plan::config_source;
use crate::config::edit::Edit;
use crate::config::{Config, KIMI_CODE, LoginCode, Offered, Secret, Service};
use crate::engine::{Env, Host, HostOptions};
use crate::error::user;
use crate::paths::Paths;
use crate::ui::render::sanitize::sanitize;

#[derive(Debug, Clone, Default, clap::Args)]
pub(in crate::cli) struct LoginArgs {
    /// moonshot, moonshot-cn, openai, anthropic, google, deepseek, openrouter, server, ollama, …
    service: Option<String>,
    /// Where it is, for a server of your own: http://HOST/v1
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The model to use, as the service calls it
    #[arg(long = "use", value_name = "MODEL")]
    model: Option<String>,
    /// Log in with a browser instead of a key (OAuth device flow)
    #[arg(long)]
    oauth: bool,
    /// What this program is called at the service; it tells you (or KIMI_OAUTH_CLIENT_ID)
    #[arg(long, value_name = "ID", requires = "oauth")]
    client_id: Option<String>,
    /// Where the service gives out codes
    #[arg(long, value_name = "URL", requires = "oauth")]
    device_url: Option<String>,
    /// Where the service gives out tokens
    #[arg(long, value_name = "URL", requires = "oauth")]
    token_url: Option<String>,
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
    let options = HostOptions::new(
        Paths::from_env()?,
        Config::default(),
        std::env::temp_dir(),
        Env::process(),
    );
    Ok(Host::new(options).reading(config_source(flags)))
}

/// Who is asked.
trait Person {
    /// A line; none when there is nobody, or no more of it.
    fn ask(&mut self, question: &str, is_secret: bool) -> io::Result<Option<String>>;

    /// Says something.
    fn tell(&mut self, text: &str);
}

struct Terminal;

impl Person for Terminal {
    fn tell(&mut self, text: &str) {
        // Who cannot be told can still be asked.
        let _ = writeln!(io::stderr(), "{}", sanitize(text));
    }

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

async fn connect(
    host: &Host,
    args: &LoginArgs,
    person: &mut (dyn Person + Send),
) -> anyhow::Result<String> {
    let services = host.services().await;
    let mut service = match args.oauth {
        true => login_service(services, args)?,
        false => choose_service(services, args, person)?,
    };
    if args.oauth || service.wants_login() {
        let mut tell = |code: LoginCode| {
            let LoginCode { address, code } = code;
            person.tell(&format!(
                "Open {address} in a browser\nand confirm the code {code}. Waiting for it …"
            ));
        };
        host.log_in(&service.provider(), &mut tell).await.map_err(anyhow::Error::msg)?;
    }
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

/// The service that is logged in to: one of the configuration, else Kimi's own.
fn login_service(services: Vec<Service>, args: &LoginArgs) -> anyhow::Result<Service> {
    let wanted = args.service.as_deref().unwrap_or(KIMI_CODE);
    let mut known: Vec<Service> =
        services.into_iter().filter(|service| service.oauth.is_some()).collect();
    if known.iter().all(|service| service.key != KIMI_CODE) {
        known.push(Service::kimi_code(&|name| std::env::var(name).ok()));
    }
    let Some(mut service) = known.iter().find(|service| service.key == wanted).cloned() else {
        let keys: Vec<&str> = known.iter().map(|service| service.key.as_str()).collect();
        return Err(user(
            format!("The provider \"{wanted}\" is not one to log in to."),
            format!("Known: {}. Others need oauth = {{ … }} in config.toml.", keys.join(", ")),
        ));
    };
    if let Some(address) = &args.base_url {
        service.base_url.clone_from(address);
    }
    if let Some(oauth) = &mut service.oauth {
        for (given, kept) in [
            (&args.client_id, &mut oauth.client_id),
            (&args.device_url, &mut oauth.device_url),
            (&args.token_url, &mut oauth.token_url),
        ] {
            if let Some(given) = given {
                kept.clone_from(given);
            }
        }
    }
    Ok(service)
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
        fn tell(&mut self, text: &str) {
            self.1.push((text.to_owned(), false));
        }

        fn ask(&mut self, question: &str, is_secret: bool) -> io::Result<Option<String>> {
            self.1.push((question.to_owned(), is_secret));
            Ok((!self.0.is_empty()).then(|| self.0.remove(0).to_owned()))
        }
    }

    fn house(folder: &std::path::Path) -> Host {
        Host::new(HostOptions::new(
            Paths::new(folder),
            Config::default(),
            folder.to_owned(),
            Env::empty(),
        ))
        .reading(crate::config::ConfigSource::Default)
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
            ..LoginArgs::default()
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
            ..LoginArgs::default()
        };
        let mut person = Script(vec!["sk-wrong-key"], Vec::new());
        let error = connect(&house(folder.path()), &args, &mut person).await.expect_err("refused");
        let said = format!("{error:#}");
        assert!(said.contains("401") && said.contains("valid api_key"), "{said}");
        assert!(!said.contains("sk-wrong-key") && !folder.path().join("config.toml").exists());
    }

    #[tokio::test]
    async fn a_login_with_the_browser_is_kept_used_and_forgotten() {
        let json = |body: &str| vec![http("200 OK", "Content-Type: application/json\r\n", body)];
        let server = Loopback::start(vec![
            json(
                r#"{"device_code":"dev-1","user_code":"WXYZ","interval":1,
                   "verification_uri":"https://login.example/d",
                   "verification_uri_complete":"https://login.example/d?c=WXYZ"}"#,
            ),
            json(r#"{"access_token":"at-1","refresh_token":"rt-1","expires_in":3600}"#),
            json(r#"{"data":[{"id":"kimi-for-coding","context_length":262144}]}"#),
        ])
        .await;
        let folder = tempfile::tempdir().expect("folder");
        let host = house(folder.path());
        let args = LoginArgs {
            oauth: true,
            base_url: Some(format!("{}/v1", server.address)),
            client_id: Some("client-1".into()),
            device_url: Some(format!("{}/device", server.address)),
            token_url: Some(format!("{}/token", server.address)),
            ..LoginArgs::default()
        };
        let mut person = Script(vec!["1"], Vec::new());
        let said = connect(&host, &args, &mut person).await.expect("logged in");
        assert!(said.contains("managed:kimi-code/kimi-for-coding answers"), "{said}");
        let told = &person.1[0].0;
        assert!(told.contains("https://login.example/d?c=WXYZ") && told.contains("code WXYZ"));
        let requests = server.requests();
        assert!(requests[2].starts_with("GET /v1/models"), "{}", requests[2]);
        assert!(requests[2].to_lowercase().contains("authorization: bearer at-1"));
        let text = std::fs::read_to_string(folder.path().join("config.toml")).expect("file");
        assert!(text.contains("client_id = \"client-1\"") && !text.contains("at-1"), "{text}");
        let file = folder.path().join("credentials/kimi-code.json");
        assert!(std::fs::read_to_string(&file).expect("a login").contains("rt-1"));
        let again = host.services().await;
        let again = again.iter().find(|service| service.key == KIMI_CODE).expect("the service");
        assert!(!again.wants_login(), "{again:?}");
        let forget = Edit::Key { provider: KIMI_CODE.into(), secret: None };
        host.configure(&[forget]).expect("changed");
        assert!(!file.exists());
    }
}
