//! A session as one HTML page that needs nothing else: no scripts, no links to the outside.

use std::fmt::Write as _;
use std::time::SystemTime;

use super::error::SessionError;
use super::export::{Exported, is_internal, parts};
use super::store::Session;
use crate::context::Context;
use crate::message::{ContentPart, Message, Role, key_argument};

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;\
color:#1c1e21;background:#fbfbfa}\
@media(prefers-color-scheme:dark){body{color:#dcdcd6;background:#16181b}\
pre{background:#1f2226!important}.user{border-color:#6ba4ff!important}}\
h1{font-size:1.4rem}header p{color:#888}\
section{margin:1.2rem 0}.user{border-left:.25rem solid #2f6fde;padding-left:.8rem}\
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f0f0ec;padding:.6rem;\
border-radius:.3rem;font:.85rem/1.45 ui-monospace,monospace}\
.said{white-space:pre-wrap;overflow-wrap:anywhere}\
details{margin:.5rem 0}summary{cursor:pointer;color:#888;overflow-wrap:anywhere}";

/// The living context of `session` as an HTML page. Reads only.
///
/// # Errors
/// When the context cannot be read, or nothing was said.
pub fn export_html(session: &Session, now: SystemTime) -> Result<Exported, SessionError> {
    let (context, _) = Context::open_read_only(&session.dir)?;
    let said: Vec<&Message> = context.history().iter().filter(|m| !is_internal(m)).collect();
    if said.is_empty() {
        return Err(SessionError::Refused {
            what: format!("session {} cannot be exported", session.id),
            reason: "nothing was said in it",
            advice: "Export another one, or say something first.",
        });
    }
    let time = jiff::Timestamp::try_from(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let local = time.to_zoned(jiff::tz::TimeZone::system());
    let title = escaped(&session.summary().title);
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n\
         <header><h1>{title}</h1><p>{} · {} messages · {}</p></header>\n<main>\n",
        escaped(&session.work_dir.to_string_lossy()),
        said.len(),
        local.strftime("%Y-%m-%d %H:%M"),
    );
    for message in &said {
        write_message(&mut text, message);
    }
    text.push_str("</main>\n</html>\n");
    let file_name =
        format!("kimi-export-{}-{}.html", session.id.short(), local.strftime("%Y%m%d-%H%M%S"));
    Ok(Exported { file_name, text, messages: said.len() })
}

fn write_message(out: &mut String, message: &Message) {
    if message.role == Role::Tool {
        folded(out, "Result", &parts(&message.content));
        return;
    }
    let class = if message.role == Role::User { "user" } else { "assistant" };
    let _ = writeln!(out, "<section class=\"{class}\">");
    for part in &message.content {
        match part {
            ContentPart::Think { think, .. } if think.trim().is_empty() => {}
            ContentPart::Think { think, .. } => folded(out, "Thinking", think),
            other => {
                let body = parts(std::slice::from_ref(other));
                if !body.trim().is_empty() {
                    let _ = writeln!(out, "<div class=\"said\">{}</div>", escaped(body.trim()));
                }
            }
        }
    }
    for call in message.calls() {
        let name = &call.function.name;
        let key = key_argument(name, call.arguments()).unwrap_or_default();
        folded(out, &format!("{name} {key}"), call.arguments());
    }
    out.push_str("</section>\n");
}

fn folded(out: &mut String, summary: &str, body: &str) {
    let (summary, body) = (escaped(summary), escaped(body));
    let _ = writeln!(out, "<details><summary>{summary}</summary><pre>{body}</pre></details>");
}

/// Text is only ever shown: nothing in it becomes markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::Paths;
    use crate::session::SessionStore;

    #[test]
    fn nothing_that_was_said_becomes_markup() {
        let folder = tempfile::tempdir().expect("folder");
        let store = SessionStore::new(Paths::new(folder.path()));
        let session = store.create(folder.path(), None).expect("session");
        let (mut context, _) = Context::open(&session.dir).expect("context");
        let messages =
            [Message::user("<script>alert(1)</script> & \"more\""), Message::assistant("done")];
        context.append(&messages).expect("appended");
        let page = export_html(&session, SystemTime::UNIX_EPOCH).expect("page");
        assert!(!page.text.contains("<script"), "{}", page.text);
        assert!(page.text.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp;"), "{}", page.text);
        assert_eq!(page.messages, 2);
    }
}
