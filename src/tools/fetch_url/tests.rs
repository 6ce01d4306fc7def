use serde_json::json;

use super::*;
use crate::config::{ServiceConfig, WebConfig};
use crate::llm::loopback::{Loopback, Play, http};
use crate::tools::testing::Bench;

fn tool(web: WebConfig) -> FetchUrl {
    FetchUrl::new(&Equipment { web, ..Equipment::default() })
}

async fn fetch(plays: Vec<Play>) -> ToolReturn {
    let server = Loopback::start(vec![plays]).await;
    let web = WebConfig { allow_private: true, ..WebConfig::default() };
    Bench::new().call(&tool(web), json!({"url": server.address})).await
}

fn article() -> String {
    let text =
        "The tide comes in twice a day, and with it the boats, the gulls and the news. ".repeat(6);
    format!(
        "<html><head><title>Tides</title><script>var x = 'hidden';</script></head><body>\
         <nav><a href='/'>Home</a> <a href='/buy'>Buy now</a></nav><article><h1>Tides</h1>\
         <p>{text}</p><h2>When</h2><p>See <a href='/table'>the table</a> &amp; <code>tide(1)</code>. {text}</p>\
         <ul><li>high</li><li>low</li></ul></article><footer>Copyright</footer></body></html>"
    )
}

#[tokio::test]
async fn a_page_becomes_markdown_without_what_stands_around() {
    let page = article();
    let result = fetch(vec![http("200 OK", "content-type: text/html\r\n", &page)]).await;
    let text = result.output.text();
    assert!(!result.is_error, "{}", result.message);
    assert!(text.starts_with("# Tides") || text.contains("Tides"), "{text}");
    assert!(text.contains("## When"), "{text}");
    assert!(text.contains("/table)"), "{text}");
    assert!(!text.contains("Buy now") && !text.contains("hidden"), "{text}");
    assert!(result.message.starts_with("The main content of the page, from http://127.0.0.1"));
}

#[tokio::test]
async fn text_and_json_come_as_they_are_and_anything_else_is_told() {
    let json =
        fetch(vec![http("200 OK", "content-type: application/json\r\n", "{\"a\": \"<b>\"}")]).await;
    assert_eq!(json.output.text(), "{\"a\": \"<b>\"}");
    let none = fetch(vec![http("200 OK", "", "plain")]).await;
    assert_eq!(none.output.text(), "plain");
    let picture = fetch(vec![http("200 OK", "content-type: image/png\r\n", "\u{1}\u{2}")]).await;
    assert!(picture.is_error && picture.message.contains("image/png"), "{}", picture.message);
    assert!(picture.message.contains("curl"), "{}", picture.message);
    let empty =
        fetch(vec![http("200 OK", "content-type: text/html\r\n", "<div id=root></div>")]).await;
    assert!(empty.is_error && empty.message.contains("has no text"), "{}", empty.message);
}

#[tokio::test]
async fn encodings_are_read_from_the_header_or_the_page() {
    let body = encoding_rs::GBK.encode("<meta charset=gbk><p>中文网页").0.into_owned();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let result = fetch(vec![Play::Send([head.as_bytes(), &body].concat())]).await;
    assert!(result.output.text().contains("中文网页"), "{:?}", result.output);
}

#[tokio::test]
async fn private_pages_are_refused_and_not_asked_for() {
    let server = Loopback::start(vec![vec![http("200 OK", "", "secret")]]).await;
    let result =
        Bench::new().call(&tool(WebConfig::default()), json!({"url": server.address})).await;
    assert!(result.is_error && result.message.contains("allow_private"), "{}", result.message);
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_service_is_asked_first_and_a_failure_of_it_is_not_the_end() {
    let service = Loopback::start(vec![
        vec![http("200 OK", "content-type: text/markdown\r\n", "# By the service")],
        vec![http("500 Oops", "", "")],
    ])
    .await;
    let page =
        Loopback::start(vec![vec![http("200 OK", "content-type: text/plain\r\n", "direct")]]).await;
    let config = ServiceConfig { base_url: service.address.clone(), ..ServiceConfig::default() };
    let fetch =
        tool(WebConfig { fetch: Some(config), allow_private: true, ..WebConfig::default() });
    let bench = Bench::new();
    let first = bench.call(&fetch, json!({"url": page.address})).await;
    assert_eq!(first.output.text(), "# By the service");
    assert!(service.requests()[0].contains(&format!("{{\"url\":\"{}\"}}", page.address)));
    let second = bench.call(&fetch, json!({"url": page.address})).await;
    assert_eq!(second.output.text(), "direct");
    assert!(second.message.contains("service failed"), "{}", second.message);
}

#[tokio::test]
async fn a_cancelled_fetch_closes_its_connection() {
    let mut server = Loopback::start(vec![vec![Play::Stall]]).await;
    let web = WebConfig { allow_private: true, ..WebConfig::default() };
    let (fetch, bench) = (tool(web), Bench::new());
    {
        let call = bench.call(&fetch, json!({"url": server.address}));
        tokio::pin!(call);
        let asked = async {
            while server.requests().is_empty() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            _ = &mut call => panic!("it waits"),
            () = asked => {}
        }
    }
    server.client_closed().await;
}

#[test]
fn pages_made_to_harm_do_not() {
    let deep = "<div>".repeat(200_000);
    assert_eq!(extract::main_text(&deep, "https://a.example/"), None);
    let deep = format!("{}text", "<b>".repeat(100_000));
    assert_eq!(extract::all_text(&deep), "text");
    assert_eq!(extract::all_text("<p>a<script>b</p>"), "a");
    assert_eq!(extract::all_text("<!-- x --><p>1 &lt; 2</p><style>y</style>z"), "1 < 2\nz");
    let wide = "<p>word</p>".repeat(100_000);
    let _ = extract::main_text(&wide, "https://a.example/");
}
