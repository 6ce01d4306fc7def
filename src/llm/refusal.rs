//! What a server said when it refused: a short message for a person, and how long to wait. Pure.

use std::time::Duration;

use serde_json::Value;

use super::LlmError;

/// Characters of a server's words that are shown.
const SHOWN: usize = 300;

/// The message for a body that came with an error status, with advice where there is some.
pub(crate) fn message(status: u16, media_type: &str, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let said = match serde_json::from_str::<Value>(text.trim()) {
        Ok(value) => in_json(&value),
        Err(_) => None,
    };
    let is_json = said.is_some();
    let said = said.unwrap_or_else(|| {
        if is_html(media_type, &text) { in_html(&text) } else { text.into_owned() }
    });
    let said = shorten(&said);
    let said = if said.is_empty() { "(it gave no reason)".to_owned() } else { said };
    match advice(status, is_json) {
        Some(advice) => format!("{said} ({advice})"),
        None => said,
    }
}

/// What a person can do about a status.
fn advice(status: u16, is_json: bool) -> Option<&'static str> {
    match status {
        404 | 405 if !is_json => Some("is base_url right? It usually ends in /v1"),
        407 => Some("a proxy wants a login; see HTTPS_PROXY and NO_PROXY"),
        _ => None,
    }
}

/// The message of an error in JSON, wherever servers put it.
pub(crate) fn in_json(value: &Value) -> Option<String> {
    let text =
        |value: &Value| value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
    match value {
        Value::String(_) => text(value),
        Value::Array(list) => list.iter().find_map(in_json),
        Value::Object(map) => ["error", "message", "msg", "detail", "error_description", "errors"]
            .iter()
            .filter_map(|key| map.get(*key))
            .find_map(in_json)
            .or_else(|| map.get("code").and_then(text)),
        _ => None,
    }
}

/// The error that an error object inside a stream of `host` is. It may stand in a frame of its own
/// (`{"type": "error", "error": {…}}`) or be bare.
pub(crate) fn in_stream(host: &str, error: &Value) -> LlmError {
    let inner = error.get("error").filter(|inner| inner.is_object()).unwrap_or(error);
    let message = in_json(inner).unwrap_or_else(|| inner.to_string());
    LlmError::Status {
        host: host.to_owned(),
        status: error_status(inner, &message),
        message: shorten(&message),
        retry_after: None,
    }
}

/// The status an error in a 200 stream would have had: its own code, or what its words say.
fn error_status(error: &Value, message: &str) -> u16 {
    for key in ["code", "status", "status_code"] {
        let code = match error.get(key) {
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(text)) => text.parse().ok(),
            _ => None,
        };
        if let Some(code) = code.filter(|code| (400..600).contains(code)) {
            return u16::try_from(code).unwrap_or(500);
        }
    }
    let field = |key| error.get(key).and_then(Value::as_str).unwrap_or_default();
    // Anthropic's names (https://docs.anthropic.com/en/api/errors).
    match field("type") {
        "overloaded_error" => return 529,
        "api_error" => return 500,
        "timeout_error" => return 504,
        "permission_error" => return 403,
        "not_found_error" => return 404,
        "request_too_large" => return 413,
        "billing_error" => return 402,
        _ => {}
    }
    let words = format!("{} {} {message}", field("type"), field("code")).to_lowercase();
    let says = |list: &[&str]| list.iter().any(|word| words.contains(word));
    if says(&["rate limit", "rate_limit", "too many requests"]) {
        429
    } else if says(&["server", "internal", "overload", "unavailable", "timeout", "timed out"]) {
        500
    } else if says(&["authentication", "unauthorized", "invalid_api_key"]) {
        401
    } else {
        400
    }
}

/// Is it a web page?
pub(crate) fn is_html(media_type: &str, text: &str) -> bool {
    let start: String = text.trim_start().chars().take(15).collect::<String>().to_ascii_lowercase();
    media_type.contains("html") || start.starts_with("<!doctype") || start.starts_with("<html")
}

/// The words of a web page: its title if it has one, else its text.
pub(crate) fn in_html(html: &str) -> String {
    let lower = html.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|open| {
        let from = open + lower[open..].find('>')? + 1;
        let to = from + lower[from..].find("</title")?;
        Some(strip_tags(&html[from..to])).filter(|title| !title.trim().is_empty())
    });
    let words = title.unwrap_or_else(|| strip_tags(&without_code(html, &lower)));
    let words = words.replace("&nbsp;", " ").replace("&lt;", "<").replace("&gt;", ">");
    shorten(&words.replace("&quot;", "\"").replace("&#39;", "'").replace("&amp;", "&"))
}

/// `html` without scripts and styles, whose content is no text. `lower` is it in lower case.
fn without_code(html: &str, lower: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    while at < html.len() {
        let next = ["<script", "<style"]
            .iter()
            .filter_map(|tag| lower[at..].find(tag).map(|found| (at + found, &tag[1..])))
            .min();
        let Some((open, name)) = next else { break };
        out.push_str(&html[at..open]);
        let close = format!("</{name}");
        at = lower[open..].find(&close).map_or(html.len(), |found| open + found);
        if at < html.len() {
            at = lower[at..].find('>').map_or(html.len(), |found| at + found + 1);
        }
    }
    out.push_str(&html[at.min(html.len())..]);
    out
}

fn strip_tags(html: &str) -> String {
    let mut out = String::new();
    let mut in_tag = false;
    for c in html.chars() {
        match c {
            '<' => in_tag = true,
            '>' if in_tag => {
                in_tag = false;
                out.push(' ');
            }
            c if !in_tag => out.push(c),
            _ => {}
        }
    }
    out
}

/// `text` on one line and at most [`SHOWN`] characters.
pub(crate) fn shorten(text: &str) -> String {
    let mut out = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
            length += 1;
        }
        for c in word.chars() {
            if length >= SHOWN {
                out.push('…');
                return out;
            }
            out.push(c);
            length += 1;
        }
    }
    out
}

/// How long a server asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date.
pub(crate) fn retry_after(
    millis: Option<&str>,
    header: Option<&str>,
    now: jiff::Timestamp,
) -> Option<Duration> {
    let positive = |number: &f64| number.is_finite() && (0.0..1e9).contains(number);
    if let Some(millis) = millis.and_then(|text| text.trim().parse::<f64>().ok()).filter(positive) {
        return Some(Duration::from_secs_f64(millis / 1000.0));
    }
    let header = header?.trim();
    if let Ok(seconds) = header.parse::<f64>() {
        return Some(seconds).filter(positive).map(Duration::from_secs_f64);
    }
    // An HTTP date is an RFC 2822 date that says GMT.
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(header).ok()?;
    Some(Duration::try_from(date.duration_since(now)).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(body: &str) -> String {
        message(400, "", body.as_bytes())
    }

    #[test]
    fn the_message_is_found_wherever_it_is() {
        for body in [
            r#"{"error":{"message":"too long","type":"invalid_request_error","code":null}}"#,
            r#"{"error":"too long"}"#,
            r#"{"object":"error","message":"too long","code":400}"#,
            r#"{"detail":[{"loc":["body"],"msg":"too long"}]}"#,
            r#"[{"error":{"code":400,"message":"too long"}}]"#,
            r#"{"error":{"message":"","code":"too long"}}"#,
            "too long",
            " too\n   long\n",
        ] {
            assert_eq!(said(body), "too long", "{body}");
        }
        assert_eq!(said(""), "(it gave no reason)");
    }

    #[test]
    fn a_web_page_becomes_its_title_or_its_words() {
        let page = "<!DOCTYPE html><html><head><TITLE>502 Bad &amp; Gateway</TITLE></head>\
                    <body><h1>Oops</h1></body></html>";
        assert_eq!(message(502, "text/html", page.as_bytes()), "502 Bad & Gateway");
        let bare = "<html><style>b{color:red}</style><script>alert('x')</script>\
                    <p>Come <b>back</b> later</p></html>";
        assert_eq!(said(bare), "Come back later");
        assert_eq!(said("<html><script>never closed"), "(it gave no reason)");
    }

    #[test]
    fn long_words_are_cut_at_characters() {
        let text = message(500, "text/plain", "终端 ".repeat(500).as_bytes());
        assert_eq!(text.chars().count(), SHOWN + 1);
        assert!(text.ends_with('…'));
        assert_eq!(said(&"x".repeat(SHOWN)).chars().count(), SHOWN);
    }

    #[test]
    fn advice_is_given_where_there_is_some() {
        // The engine says where the key is set.
        assert_eq!(message(401, "", b"{\"error\":\"no\"}"), "no");
        assert!(message(404, "text/plain", b"404 page not found").contains("base_url"));
        assert_eq!(message(404, "", b"{\"error\":\"no such model\"}"), "no such model");
    }

    #[test]
    fn waits_come_as_seconds_milliseconds_or_dates() {
        let now: jiff::Timestamp = "2015-10-21T07:27:30Z".parse().expect("time");
        let after = |millis, header| retry_after(millis, header, now).map(|d| d.as_millis());
        assert_eq!(after(None, Some("7")), Some(7000));
        assert_eq!(after(None, Some(" 0.5 ")), Some(500));
        assert_eq!(after(Some("1500"), Some("7")), Some(1500));
        assert_eq!(after(None, Some("Wed, 21 Oct 2015 07:28:00 GMT")), Some(30_000));
        assert_eq!(after(None, Some("Wed, 21 Oct 2015 07:00:00 GMT")), Some(0));
        for nothing in ["soon", "-1", "inf", "NaN", ""] {
            assert_eq!(after(None, Some(nothing)), None, "{nothing}");
        }
        assert_eq!(after(None, None), None);
    }

    proptest::proptest! {
        #[test]
        fn no_page_makes_it_stumble(html in "(<|>|/|script|style|title|html|é|终| |a)*") {
            let _ = in_html(&html);
            let _ = message(400, "text/html", html.as_bytes());
        }
    }
}
