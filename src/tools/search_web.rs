//! SearchWeb: results of a search service (`kimi-cli` `tools/web/search.py`). Offered only where one
//! is configured.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::equipment::Equipment;
use super::output::OutputBuilder;
use super::service::{LIMIT_S, Service};
use super::tool::ToolContext;
use super::typed::{Failure, TypedTool};
use crate::message::ToolReturn;

pub(crate) struct SearchWeb {
    service: Service,
}

impl SearchWeb {
    /// `None` where no service is configured.
    pub fn new(equipment: &Equipment) -> Option<Self> {
        let config = equipment.web.search.as_ref()?;
        Some(Self { service: Service::new(config, &equipment.network) })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// What to search for.
    query: String,
    /// How many results.
    #[serde(default = "some")]
    #[schemars(range(min = 1, max = 20))]
    limit: u64,
    /// Also return the text of the pages.
    #[serde(default)]
    include_content: bool,
}

fn some() -> u64 {
    5
}

#[derive(Debug, Deserialize)]
struct Answer {
    #[serde(default)]
    search_results: Vec<Found>,
}

/// One result. Services leave out or null what they do not know.
#[derive(Debug, Deserialize)]
struct Found {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    snippet: Option<String>,
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    date: Option<String>,
}

impl TypedTool for SearchWeb {
    type Params = Params;
    const NAME: &'static str = "SearchWeb";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/search_web.md");

    async fn run(&self, params: Params, _: &ToolContext) -> Result<ToolReturn, Failure> {
        if params.query.trim().is_empty() {
            return Err(Failure::new("The query is empty.", "Empty query"));
        }
        let failed = |reason: String| Failure::new(reason, "Search failed");
        let question = json!({
            "text_query": params.query,
            "limit": params.limit,
            "enable_page_crawling": params.include_content,
            "timeout_seconds": LIMIT_S,
        });
        let text = self.service.post(&question, "application/json").await.map_err(failed)?;
        let answer: Answer = serde_json::from_str(&text).map_err(|error| {
            failed(format!("The search service's answer cannot be understood ({error})."))
        })?;
        let mut output = OutputBuilder::default();
        for (at, found) in answer.search_results.iter().enumerate() {
            if at > 0 {
                output.write("---\n\n");
            }
            let text = |field: &Option<String>| field.clone().unwrap_or_default();
            output.write(&format!(
                "Title: {}\nDate: {}\nURL: {}\nSummary: {}\n\n",
                text(&found.title),
                text(&found.date),
                text(&found.url),
                text(&found.snippet)
            ));
            if let Some(content) = found.content.as_ref().filter(|content| !content.is_empty()) {
                output.write(&format!("{content}\n\n"));
            }
        }
        let count = answer.search_results.len();
        Ok(output.ok(&match count {
            0 => "No results. Try other words.".to_owned(),
            1 => "1 result.".to_owned(),
            _ => format!("{count} results."),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ServiceConfig, WebConfig};
    use crate::llm::loopback::{Loopback, Play, http};
    use crate::tools::testing::Bench;

    fn search(address: &str) -> SearchWeb {
        let config = ServiceConfig {
            base_url: format!("{address}/search"),
            api_key: "sk-0123456789abcdef".to_owned(),
            ..ServiceConfig::default()
        };
        let web = WebConfig { search: Some(config), ..WebConfig::default() };
        SearchWeb::new(&Equipment { web, ..Equipment::default() }).expect("a service")
    }

    fn answer(body: &str) -> Vec<Vec<Play>> {
        vec![vec![http("200 OK", "content-type: application/json\r\n", body)]]
    }

    #[tokio::test]
    async fn results_come_in_blocks() {
        let body = json!({"search_results": [
            {"title": "One", "url": "https://a", "snippet": "first", "date": "2026-01-01", "icon": ""},
            {"title": "Two", "url": "https://b", "snippet": null, "content": "all of it"},
        ]});
        let server = Loopback::start(answer(&body.to_string())).await;
        let bench = Bench::new();
        let result = bench.call(&search(&server.address), json!({"query": "x", "limit": 2})).await;
        assert_eq!(
            result.output.text(),
            "Title: One\nDate: 2026-01-01\nURL: https://a\nSummary: first\n\n---\n\n\
             Title: Two\nDate: \nURL: https://b\nSummary: \n\nall of it\n\n"
        );
        assert_eq!(result.message, "2 results.");
        let asked = server.requests().join("");
        assert!(asked.starts_with("POST /search "), "{asked}");
        assert!(asked.contains("authorization: Bearer sk-0123456789abcdef"), "{asked}");
        assert!(
            asked.contains(r#""text_query":"x","limit":2,"enable_page_crawling":false"#),
            "{asked}"
        );
    }

    #[tokio::test]
    async fn a_service_without_a_key_is_asked_with_its_login() {
        use crate::config::{Config, ConfigSource};
        let share = tempfile::tempdir().expect("folder");
        let server = Loopback::start(answer(r#"{"search_results": []}"#)).await;
        let text = format!(
            "[providers.\"managed:kimi-code\"]\ntype = \"kimi\"\nbase_url = \"http://127.0.0.1:9/\"\n\
             oauth = {{ storage = \"file\", key = \"oauth/kimi-code\", client_id = \"me\" }}\n\
             [services.moonshot_search]\nbase_url = \"{}/search\"\n\
             oauth = {{ storage = \"file\", key = \"oauth/kimi-code\" }}\n",
            server.address
        );
        let paths = crate::paths::Paths::new(share.path());
        let config = Config::load(&paths, &ConfigSource::Inline(text)).expect("loads").config;
        let equipment = Equipment::new(&config, &[], &|_| None);
        let login = equipment.web.search.as_ref().and_then(|search| search.login());
        let login = login.expect("a login").clone();
        assert_eq!(login.client_id, "me", "the provider's login is the same");
        assert!(login.token_url.starts_with("https://"), "{login:?}");
        let search = SearchWeb::new(&equipment).expect("a service");
        let bench = Bench::new();
        let result = bench.call(&search, json!({"query": "x"})).await;
        assert!(result.is_error && result.message.contains("wants a login"), "{result:?}");
        assert!(server.requests().is_empty(), "nobody is asked without one");
        std::fs::create_dir_all(&login.folder).expect("folder");
        std::fs::write(login.file(), r#"{"access_token": "at-secret"}"#).expect("a login");
        let result = bench.call(&search, json!({"query": "x"})).await;
        assert!(!result.is_error, "{result:?}");
        assert!(server.requests().join("").contains("authorization: Bearer at-secret"));
    }

    #[tokio::test]
    async fn what_goes_wrong_is_told_without_the_key() {
        let bench = Bench::new();
        let server = Loopback::start(answer("<html>")).await;
        let result = bench.call(&search(&server.address), json!({"query": "x"})).await;
        assert!(result.is_error && result.message.contains("cannot be understood"), "{result:?}");
        let server =
            Loopback::start(vec![vec![http("401 Unauthorized", "", "no sk-0123456789abcdef")]])
                .await;
        let result = bench.call(&search(&server.address), json!({"query": "x"})).await;
        assert!(
            result.message.contains("401") && !result.message.contains("sk-0123456789abcdef"),
            "{result:?}"
        );
        let server = Loopback::start(answer(r#"{"search_results": []}"#)).await;
        let result = bench.call(&search(&server.address), json!({"query": "x"})).await;
        assert_eq!(
            (result.is_error, result.message.as_str()),
            (false, "No results. Try other words.")
        );
        let result = bench.call(&search(&server.address), json!({"query": " "})).await;
        assert_eq!(result.message, "The query is empty.");
        let result = bench.call(&search(&server.address), json!({"query": "x", "limit": 21})).await;
        assert!(result.message.contains("at most 20"), "{}", result.message);
    }

    #[test]
    fn without_a_service_there_is_no_such_tool() {
        assert!(SearchWeb::new(&Equipment::default()).is_none());
    }
}
