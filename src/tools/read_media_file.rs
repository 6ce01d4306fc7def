//! ReadMediaFile: a picture, for models that take pictures (`kimi-cli` `tools/file/read_media.py`).

use std::io::Read;
use std::path::Path;

use imagesize::ImageType;
use schemars::JsonSchema;
use serde::Deserialize;

use super::output::size;
use super::tool::ToolContext;
use super::typed::{Failure, TypedTool};
use super::{blocking, firm, path};
use crate::message::{ContentPart, MediaUrl, ToolOutput, ToolReturn, base64};

/// Bytes of a picture: as many as every provider takes.
const MAX_BYTES: u64 = 10 * 1024 * 1024;
/// Pixels of its longer side: more is refused by some providers.
const MAX_SIDE: usize = 8000;

pub(crate) struct ReadMediaFile;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// The file; outside of the working directory an absolute path.
    #[serde(alias = "file_path")]
    path: String,
}

impl TypedTool for ReadMediaFile {
    type Params = Params;
    const NAME: &'static str = "ReadMediaFile";
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/read_media_file.md");

    async fn run(&self, params: Params, context: &ToolContext) -> Result<ToolReturn, Failure> {
        let raw = params.path;
        let file = path::resolve_for(context, &raw, "read a file")?.path;
        if path::is_sensitive(&file) || path::is_sensitive(raw.as_ref()) {
            return Err(Failure::new(
                format!("`{raw}` may hold secrets, so it is not read."),
                "Sensitive file",
            ));
        }
        if !file.exists() {
            return Err(path::not_found(context, &raw, &file));
        }
        let shown = path::shown(context, &file);
        blocking::run(context, move |_| read(&raw, &file, &shown)).await?
    }
}

fn read(raw: &str, file: &Path, shown: &str) -> Result<ToolReturn, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(format!("`{raw}` cannot be read: {error}."), "Failed to read file")
    };
    let mut content = Vec::new();
    let mut opened = firm::open_regular(file).map_err(failed)?;
    let bytes = opened.metadata().map_err(failed)?.len();
    opened.by_ref().take(MAX_BYTES + 1).read_to_end(&mut content).map_err(failed)?;
    let (kind, width, height) = picture(raw, &content)?;
    if content.len() as u64 > MAX_BYTES || width.max(height) > MAX_SIDE {
        return Err(Failure::new(
            format!(
                "`{raw}` is too large: {width}x{height} pixels, {}. At most {} and {MAX_SIDE} pixels a \
                 side can be shown; make a smaller copy through Bash, for example with ImageMagick.",
                size(bytes),
                size(MAX_BYTES)
            ),
            "Picture too large",
        ));
    }
    let url = format!("data:{kind};base64,{}", base64(&content));
    let parts = vec![
        ContentPart::text(format!("<image path=\"{shown}\">")),
        ContentPart::ImageUrl { image_url: MediaUrl { url, id: None } },
        ContentPart::text("</image>"),
    ];
    Ok(ToolReturn {
        output: ToolOutput::Parts(parts),
        message: format!("A picture of {width}x{height} pixels ({kind}, {}).", size(bytes)),
        ..ToolReturn::default()
    })
}

/// Kind and size of the picture that `content` is, by its bytes: names may be wrong.
fn picture(raw: &str, content: &[u8]) -> Result<(&'static str, usize, usize), Failure> {
    let refuse = |what: &str, advice: &str| {
        Err(Failure::new(format!("`{raw}` is {what}. {advice}"), "Not a picture"))
    };
    if is_film(raw, content) {
        return refuse(
            "a film",
            "Films are not read; take single pictures out of it with `ffmpeg -ss` through Bash.",
        );
    }
    let kind = match imagesize::image_type(content) {
        Ok(ImageType::Png) => "image/png",
        Ok(ImageType::Jpeg) => "image/jpeg",
        Ok(ImageType::Gif) => "image/gif",
        Ok(ImageType::Webp) => "image/webp",
        Ok(other) => {
            let what = format!("a picture in a format models do not take ({other:?})");
            return refuse(&what, "Convert it to PNG through Bash, for example with ImageMagick.");
        }
        Err(_) if raw.to_lowercase().ends_with(".svg") => {
            return refuse("a drawing in text (SVG)", "Read it with ReadFile.");
        }
        Err(_) => return refuse("no picture", "Read text with ReadFile."),
    };
    match imagesize::blob_size(content) {
        Ok(found) => Ok((kind, found.width, found.height)),
        Err(_) => refuse("a broken picture: its size cannot be read", "Make it anew."),
    }
}

fn is_film(raw: &str, content: &[u8]) -> bool {
    const ENDINGS: [&str; 8] = [".mp4", ".mov", ".webm", ".mkv", ".avi", ".m4v", ".mpg", ".wmv"];
    // What a film's container holds when it is a picture.
    const PICTURES: [&[u8]; 6] = [b"heic", b"heix", b"mif1", b"msf1", b"avif", b"avis"];
    let name = raw.to_lowercase();
    ENDINGS.iter().any(|ending| name.ends_with(ending))
        || content.get(4..8) == Some(b"ftyp")
            && !PICTURES.iter().any(|brand| content.get(8..12) == Some(*brand))
        || content.starts_with(&[0x1A, 0x45, 0xDF, 0xA3])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::testing::Bench;

    /// The beginning of a PNG of this size, which is all that is looked at.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend([8, 6, 0, 0, 0]);
        bytes
    }

    async fn read(bench: &Bench, path: &str) -> ToolReturn {
        bench.call(&ReadMediaFile, json!({"path": path})).await
    }

    #[tokio::test]
    async fn a_picture_comes_as_one_by_what_it_is_not_by_its_name() {
        let bench = Bench::new();
        bench.file("shot.jpg", png(640, 480));
        let result = read(&bench, "shot.jpg").await;
        assert_eq!(result.message, "A picture of 640x480 pixels (image/png, 29 B).");
        let ToolOutput::Parts(parts) = &result.output else { panic!("{result:?}") };
        assert_eq!(parts[0], ContentPart::text("<image path=\"shot.jpg\">"));
        let ContentPart::ImageUrl { image_url } = &parts[1] else { panic!("{parts:?}") };
        assert!(
            image_url.url.starts_with("data:image/png;base64,iVBORw0KGgo"),
            "{}",
            image_url.url
        );
        assert_eq!(parts[2], ContentPart::text("</image>"));
    }

    #[tokio::test]
    async fn what_is_no_picture_or_too_large_is_told() {
        let bench = Bench::new();
        bench.file("wide.png", png(8001, 10));
        bench.file("film.mp4", b"\0\0\0\x18ftypmp42 and so on");
        bench.file("text.png", "just text");
        bench.file("a.svg", "<svg/>");
        bench.file(
            "a.bmp",
            b"BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0",
        );
        bench.file(".env", png(1, 1));
        let mut heavy = png(10, 10);
        heavy.resize(MAX_BYTES as usize + 1, 0);
        bench.file("heavy.png", heavy);
        for (name, wanted) in [
            ("wide.png", "too large: 8001x10"),
            ("heavy.png", "too large"),
            ("film.mp4", "ffmpeg"),
            ("text.png", "no picture"),
            ("a.svg", "ReadFile"),
            ("a.bmp", "Convert it to PNG"),
            (".env", "may hold secrets"),
            ("none.png", "does not exist"),
            (".", "cannot be read"),
            ("/dev/zero", "cannot be read"),
        ] {
            let result = read(&bench, name).await;
            assert!(
                result.is_error && result.message.contains(wanted),
                "{name}: {}",
                result.message
            );
        }
    }
}
