//! What a server's tool gives, as what our model takes: text up to a limit, pictures and sounds up to
//! a size, the rest told (`kimi-cli` `soul/toolset.py:907-1090`).

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use crate::message::{ContentPart, MediaUrl, ToolOutput, ToolReturn};

/// Characters of text over all parts.
const MAX_CHARS: usize = 100_000;
/// Characters of one picture or sound, in base64.
const MAX_MEDIA: usize = 10_000_000;

/// The result of calling `tool`.
pub(super) fn convert(tool: &str, result: CallToolResult) -> ToolReturn {
    let mut parts = Parts { parts: Vec::new(), room: MAX_CHARS, is_cut: false };
    let is_empty = result.content.is_empty();
    for block in result.content {
        parts.add(block);
    }
    if let (true, Some(structured)) = (is_empty, &result.structured_content) {
        parts.text(&structured.to_string());
    }
    let is_error = result.is_error.unwrap_or(false);
    let mut message =
        if is_error { format!("The MCP tool {tool} reported an error.") } else { String::new() };
    if parts.is_cut {
        message.push_str(" Output is truncated to fit in the message.");
    }
    let output = match parts.parts.as_slice() {
        [] => ToolOutput::default(),
        [ContentPart::Text { text }] => ToolOutput::Text(text.clone()),
        _ => ToolOutput::Parts(parts.parts),
    };
    let mut out = ToolReturn {
        is_error,
        output,
        message: message.trim().to_owned(),
        ..ToolReturn::default()
    };
    if is_error {
        let text = out.output.text();
        let brief = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("Error");
        out.display =
            vec![crate::message::DisplayBlock::brief(brief.chars().take(200).collect::<String>())];
    }
    out
}

struct Parts {
    parts: Vec<ContentPart>,
    room: usize,
    is_cut: bool,
}

impl Parts {
    fn add(&mut self, block: ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.text(&text.text),
            ContentBlock::Image(image) => self.media(&image.mime_type, &image.data),
            ContentBlock::Audio(audio) => self.media(&audio.mime_type, &audio.data),
            ContentBlock::Resource(embedded) => match embedded.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => {
                    self.text(&format!("{uri}:\n{text}"));
                }
                ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                    self.blob(&uri, mime_type.as_deref().unwrap_or_default(), &blob);
                }
                _ => self.text("[a resource of an unknown kind]"),
            },
            ContentBlock::ResourceLink(link) => {
                self.text(&format!("[resource {}: {}]", link.name, link.uri));
            }
            _ => self.text("[content of an unknown kind]"),
        }
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let chars = text.chars().count();
        if chars <= self.room {
            self.room -= chars;
            self.parts.push(ContentPart::text(text));
            return;
        }
        self.is_cut = true;
        if self.room > 0 {
            let kept: String = text.chars().take(self.room).collect();
            self.room = 0;
            self.parts.push(ContentPart::text(format!("{kept}[...truncated]")));
        }
    }

    fn blob(&mut self, uri: &str, mime_type: &str, blob: &str) {
        if mime_type.starts_with("image/") || mime_type.starts_with("audio/") {
            self.media(mime_type, blob);
        } else {
            let kind = if mime_type.is_empty() { "unknown type" } else { mime_type };
            self.text(&format!("[binary resource {uri}, {kind}, {} bytes]", blob.len() / 4 * 3));
        }
    }

    fn media(&mut self, mime_type: &str, data: &str) {
        if data.len() > MAX_MEDIA {
            self.is_cut = true;
            self.text(&format!("[{mime_type} of {} bytes left out]", data.len() / 4 * 3));
            return;
        }
        let media = MediaUrl { url: format!("data:{mime_type};base64,{data}"), id: None };
        self.parts.push(if mime_type.starts_with("audio/") {
            ContentPart::AudioUrl { audio_url: media }
        } else {
            ContentPart::ImageUrl { image_url: media }
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn converted(value: serde_json::Value) -> ToolReturn {
        convert("t", serde_json::from_value(value).expect("a result"))
    }

    #[test]
    fn every_kind_of_content_arrives() {
        let result = converted(json!({"content": [
            {"type": "text", "text": "hi"},
            {"type": "image", "data": "QUJD", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "x:b", "mimeType": "application/zip", "blob": "QUJD"}},
            {"type": "resource_link", "uri": "x:c", "name": "c"},
        ]}));
        assert!(!result.is_error);
        assert_eq!(
            result.output.text(),
            "hi\nfile:///a:\ninside\n[binary resource x:b, application/zip, 3 bytes]\n[resource c: x:c]"
        );
        let ToolOutput::Parts(parts) = &result.output else { panic!("parts") };
        let ContentPart::ImageUrl { image_url } = &parts[1] else { panic!("{parts:?}") };
        assert_eq!(image_url.url, "data:image/png;base64,QUJD");
    }

    #[test]
    fn text_is_bounded_over_all_parts() {
        let long = "é".repeat(60_000);
        let result = converted(json!({"content": [
            {"type": "text", "text": long}, {"type": "text", "text": long},
            {"type": "text", "text": "more"},
        ]}));
        assert!(result.output.text().chars().count() < MAX_CHARS + 30);
        assert!(result.message.contains("truncated"), "{}", result.message);
    }

    #[test]
    fn an_error_is_one_and_structured_content_stands_in_for_none() {
        let result =
            converted(json!({"content": [{"type": "text", "text": "no such"}], "isError": true}));
        assert_eq!((result.is_error, result.brief()), (true, Some("no such")));
        let result = converted(json!({"content": [], "structuredContent": {"n": 1}}));
        assert_eq!(result.output.text(), r#"{"n":1}"#);
    }
}
