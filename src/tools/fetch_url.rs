//! FetchURL: the main text of a page (`kimi-cli` `tools/web/fetch.py`), by a service when one is
//! configured, else directly.

mod extract;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::blocking;
use super::equipment::Equipment;
use super::output::{OutputBuilder, size};
use super::service::Service;
use super::tool::ToolContext;
use super::typed::{Failure, TypedTool};
use crate::llm::http::fetch::{Fetched, Fetcher, MAX_BYTES};
use crate::message::ToolReturn;

pub(crate) struct FetchUrl {
    fetcher: Fetcher,
    service: Option<Arc<Service>>,
}

impl FetchUrl {
    pub fn new(equipment: &Equipment) -> Self {
        let service = equipment.web.fetch.as_ref();
        Self {
            fetcher: Fetcher::new(equipment.network.clone(), equipment.web.allow_private),
            service: service.map(|config| Arc::new(Service::new(config, &equipment.network))),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// The page's address.
    url: String,
}

impl TypedTool for FetchUrl {
    type Params = Params;
    const NAME: &'static str = "FetchURL";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/fetch_url.md");

    async fn run(&self, params: Params, context: &ToolContext) -> Result<ToolReturn, Failure> {
        let url = params.url.trim().to_owned();
        let mut note = "";
        if let Some(service) = &self.service {
            match service.post(&serde_json::json!({"url": url}), "text/markdown").await {
                Ok(text) if !text.trim().is_empty() => {
                    let mut output = OutputBuilder::default();
                    output.write(&text);
                    return Ok(output.ok("The main content of the page, by the fetch service."));
                }
                Ok(_) => note = " The fetch service found nothing, so it was fetched directly.",
                Err(reason) => {
                    tracing::warn!(%reason, "the fetch service failed");
                    note = " The fetch service failed, so it was fetched directly.";
                }
            }
        }
        let fetched = self
            .fetcher
            .get(&url)
            .await
            .map_err(|reason| Failure::new(reason, "Failed to fetch"))?;
        let result = blocking::run(context, move |_| report(&fetched)).await?;
        result.map(|mut result| {
            result.message.push_str(note);
            result
        })
    }
}

/// What of a page the model is shown.
fn report(fetched: &Fetched) -> Result<ToolReturn, Failure> {
    let text = extract::decode(fetched);
    let (text, what) = match kind(&fetched.media_type, &fetched.body) {
        Kind::Html => match extract::main_text(&text, &fetched.url) {
            Some(text) => (text, "The main content of the page"),
            None => (extract::all_text(&text), "All text of the page: no main content was found"),
        },
        Kind::Text => (text.into_owned(), "The content as it is"),
        Kind::Other => {
            let kind =
                if fetched.media_type.is_empty() { "of no kind" } else { &fetched.media_type };
            let at_least = if fetched.is_cut { "at least " } else { "" };
            return Err(Failure::new(
                format!(
                    "`{}` is no text ({kind}, {at_least}{}), so it is not shown. To work with it, \
                     download it through Bash (`curl -fLO`).",
                    fetched.url,
                    size(fetched.body.len() as u64)
                ),
                "Not text",
            ));
        }
    };
    if text.trim().is_empty() {
        return Err(Failure::new(
            format!(
                "`{}` has no text. It may be built by scripts in a browser, or need a login.",
                fetched.url
            ),
            "Empty page",
        ));
    }
    let mut output = OutputBuilder::default();
    output.write(&text);
    let mut message = format!("{what}, from {}.", fetched.url);
    if fetched.is_cut {
        message.push_str(&format!(" Only the first {} were read.", size(MAX_BYTES as u64)));
    }
    Ok(output.ok(&message))
}

enum Kind {
    Html,
    Text,
    Other,
}

fn kind(media_type: &str, body: &[u8]) -> Kind {
    let is_text = media_type.starts_with("text/")
        || media_type.ends_with("+json")
        || media_type.ends_with("+xml")
        || [
            "json",
            "xml",
            "javascript",
            "x-yaml",
            "yaml",
            "toml",
            "x-sh",
            "sql",
            "graphql",
            "x-ndjson",
        ]
        .iter()
        .any(|name| media_type.strip_prefix("application/") == Some(name));
    let begin = &body[..body.len().min(1024)];
    match media_type {
        "text/html" | "application/xhtml+xml" => Kind::Html,
        _ if is_text => Kind::Text,
        // Servers that do not know better say this, or nothing.
        "" | "application/octet-stream" if !begin.contains(&0) && extract::is_utf8_begin(begin) => {
            let begin = String::from_utf8_lossy(begin).trim_start().to_lowercase();
            let is_html = begin.starts_with("<!doctype html") || begin.starts_with("<html");
            if is_html { Kind::Html } else { Kind::Text }
        }
        _ => Kind::Other,
    }
}
