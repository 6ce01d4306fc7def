//! Content blocks: a prompt's into what the model takes, the model's into blocks.

use agent_client_protocol_schema::v1 as acp;

use crate::message::{ContentPart, MediaUrl, UserInput};

/// What an editor's prompt says. What cannot be taken (sounds, files that are no text) is left out,
/// but for its name.
pub(super) fn input(blocks: Vec<acp::ContentBlock>) -> UserInput {
    let mut parts: Vec<ContentPart> = Vec::new();
    for block in blocks {
        match part(block) {
            Some(ContentPart::Text { text }) => match parts.last_mut() {
                // One text stays one, so that a command with its argument is one.
                Some(ContentPart::Text { text: before }) => {
                    if !before.is_empty() {
                        before.push('\n');
                    }
                    before.push_str(&text);
                }
                _ => parts.push(ContentPart::text(text)),
            },
            Some(part) => parts.push(part),
            None => {}
        }
    }
    match <[ContentPart; 1]>::try_from(parts) {
        Ok([ContentPart::Text { text }]) => UserInput::Text(text),
        Ok(one) => UserInput::Parts(one.into()),
        Err(parts) => UserInput::Parts(parts),
    }
}

fn part(block: acp::ContentBlock) -> Option<ContentPart> {
    use acp::EmbeddedResourceResource::{BlobResourceContents, TextResourceContents};
    Some(match block {
        acp::ContentBlock::Text(text) => ContentPart::text(text.text),
        acp::ContentBlock::Image(image) => picture(&image.mime_type, &image.data),
        acp::ContentBlock::ResourceLink(link) => ContentPart::text(format!(
            "<resource_link uri={} name={} />",
            quoted(&link.uri),
            quoted(&link.name)
        )),
        acp::ContentBlock::Resource(resource) => match resource.resource {
            TextResourceContents(text) => ContentPart::text(format!(
                "<resource uri={}>\n{}\n</resource>",
                quoted(&text.uri),
                text.text
            )),
            BlobResourceContents(blob) => match &blob.mime_type {
                Some(kind) if kind.starts_with("image/") => picture(kind, &blob.blob),
                _ => ContentPart::text(format!("<resource_link uri={} />", quoted(&blob.uri))),
            },
            _ => return None,
        },
        other => {
            tracing::warn!(?other, "a block that no model here takes is left out");
            return None;
        }
    })
}

fn picture(kind: &str, data: &str) -> ContentPart {
    let url = format!("data:{kind};base64,{data}");
    ContentPart::ImageUrl { image_url: MediaUrl { url, id: None } }
}

/// As Python's `repr` quotes a text, which the models of the Python program know.
fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut shown = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => shown.push_str("\\\\"),
            '\n' => shown.push_str("\\n"),
            c if c == quote => shown.extend(['\\', c]),
            c => shown.push(c),
        }
    }
    shown.push(quote);
    shown
}

/// A part of a message as a block; none when there is nothing to show.
pub(super) fn block(part: &ContentPart) -> Option<acp::ContentBlock> {
    match part {
        ContentPart::Text { text } if !text.is_empty() => {
            Some(acp::ContentBlock::Text(acp::TextContent::new(text.clone())))
        }
        ContentPart::ImageUrl { image_url } => {
            let Some((kind, data)) =
                image_url.url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"))
            else {
                let link = acp::ResourceLink::new("picture", image_url.url.clone());
                return Some(acp::ContentBlock::ResourceLink(link));
            };
            Some(acp::ContentBlock::Image(acp::ImageContent::new(data, kind)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(blocks: Value) -> UserInput {
        input(serde_json::from_value(blocks).expect("blocks"))
    }

    #[test]
    fn text_alone_stays_text() {
        let blocks = json!([{"type": "text", "text": "/compact"}, {"type": "text", "text": "x"}]);
        assert_eq!(read(blocks), UserInput::Text("/compact\nx".to_owned()));
    }

    #[test]
    fn resources_and_links_are_quoted_as_the_models_know_them() {
        let blocks = json!([
            {"type": "text", "text": "Look:"},
            {"type": "resource", "resource": {"uri": "file:///it's", "text": "fn main() {}"}},
            {"type": "resource_link", "uri": "file:///b", "name": "b"},
            {"type": "resource", "resource": {"uri": "file:///c.bin", "blob": "AAAA"}},
        ]);
        assert_eq!(
            read(blocks),
            UserInput::Text(
                "Look:\n<resource uri=\"file:///it's\">\nfn main() {}\n</resource>\n\
                 <resource_link uri='file:///b' name='b' />\n<resource_link uri='file:///c.bin' />"
                    .to_owned()
            )
        );
    }

    #[test]
    fn pictures_go_there_and_back_and_sounds_are_left_out() {
        let blocks = json!([
            {"type": "image", "data": "iVBO", "mimeType": "image/png"},
            {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
        ]);
        let UserInput::Parts(parts) = read(blocks) else { panic!("parts") };
        assert_eq!(parts.len(), 1);
        let back = serde_json::to_value(block(&parts[0])).expect("a block");
        assert_eq!(back, json!({"type": "image", "data": "iVBO", "mimeType": "image/png"}));
    }
}
