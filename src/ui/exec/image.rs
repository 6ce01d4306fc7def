//! Reads pictures for the draft, from files and from the clipboard.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::super::model::image::Image;
use crate::message::base64;

/// Bytes of a picture, at most: providers refuse larger ones.
const MOST: u64 = 20_000_000;

/// The picture in the file at `path`, as it was written or dropped.
///
/// # Errors
/// Why there is none, in words for a person.
pub(super) fn from_file(path: &str, work_dir: &Path) -> Result<Image, String> {
    let whole = match (path.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => work_dir.join(path),
    };
    let told = |error: std::io::Error| format!("{path} cannot be read: {error}");
    let file = std::fs::File::open(&whole).map_err(told)?;
    if file.metadata().map_err(told)?.len() > MOST {
        return Err(format!("{path} has more than {} MB", MOST / 1_000_000));
    }
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes).map_err(told)?;
    let name =
        whole.file_name().map_or(path.to_owned(), |name| name.to_string_lossy().into_owned());
    image(name, &bytes).ok_or_else(|| format!("{path} is no PNG, JPEG, GIF or WebP picture"))
}

/// The picture on the clipboard.
///
/// # Errors
/// Why there is none, in words for a person.
pub(super) fn from_clipboard(env: &dyn Fn(&str) -> Option<String>) -> Result<Image, String> {
    let has = |name: &str| env(name).is_some_and(|value| !value.is_empty());
    let mut tools: Vec<(&str, &[&str])> = Vec::new();
    if cfg!(target_os = "macos") {
        tools.push(("pngpaste", &["-"]));
    }
    if has("WAYLAND_DISPLAY") {
        tools.push(("wl-paste", &["--type", "image/png"]));
    }
    if has("DISPLAY") {
        tools.push(("xclip", &["-selection", "clipboard", "-t", "image/png", "-o"]));
    }
    for (program, arguments) in &tools {
        let output = Command::new(program)
            .args(*arguments)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let bytes =
            output.ok().filter(|output| output.status.success()).map(|output| output.stdout);
        if let Some(image) = bytes.and_then(|bytes| image("clipboard".to_owned(), &bytes)) {
            return Ok(image);
        }
    }
    Err("No picture is on the clipboard, or wl-paste, xclip, pngpaste is not here; the path of a \
         file does as well"
        .to_owned())
}

fn image(name: String, bytes: &[u8]) -> Option<Image> {
    let kind = match imagesize::image_type(bytes).ok()? {
        imagesize::ImageType::Png => "png",
        imagesize::ImageType::Jpeg => "jpeg",
        imagesize::ImageType::Gif => "gif",
        imagesize::ImageType::Webp => "webp",
        _ => return None,
    };
    let size = imagesize::blob_size(bytes).ok()?;
    let url = format!("data:image/{kind};base64,{}", base64(bytes));
    Some(Image { name, size: (size.width, size.height), url })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The beginning of a PNG file of 7 columns and 5 rows.
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x07\0\0\0\x05\x08\x02\0\0\0";

    #[test]
    fn a_file_is_a_picture_by_its_content_not_by_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.png"), PNG).expect("a file");
        std::fs::write(folder.path().join("b.png"), "text").expect("a file");
        let image = from_file("a.png", folder.path()).expect("a picture");
        assert_eq!((image.name.as_str(), image.size), ("a.png", (7, 5)));
        assert!(image.url.starts_with("data:image/png;base64,iVBORw0KGgo"), "{}", image.url);
        let error = from_file("b.png", folder.path()).expect_err("no picture");
        assert!(error.contains("is no PNG"), "{error}");
        assert!(from_file("c.png", folder.path()).expect_err("none").contains("cannot be read"));
    }
}
