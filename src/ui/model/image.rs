//! Pictures in a draft: a mark in the text for each, sent as what it is.

use crate::message::{ContentPart, MediaUrl, UserInput};

/// A picture as it goes to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Its name, for the mark: a file's name, or "clipboard".
    pub name: String,
    /// Columns and rows, in pixels.
    pub size: (usize, usize),
    /// A `data:` address with all of it.
    pub url: String,
}

/// Endings of files that are taken for pictures.
const ENDINGS: [&str; 5] = ["png", "jpg", "jpeg", "gif", "webp"];

/// The pictures of one draft.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Images(Vec<(String, Image)>);

impl Images {
    /// The mark that stands for `image`.
    pub fn add(&mut self, image: Image) -> String {
        let name: String = image.name.chars().filter(|c| !c.is_control() && *c != ']').collect();
        let (width, height) = image.size;
        let number = self.0.len() + 1;
        let mark = format!("[image #{number}: {name}, {width}x{height}]");
        self.0.push((mark.clone(), image));
        mark
    }

    /// The marks there may be in the draft.
    pub fn marks(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(mark, _)| mark.as_str())
    }

    /// Is there no picture whose mark stands in `text`?
    #[must_use]
    pub fn none_in(&self, text: &str) -> bool {
        self.marks().all(|mark| !text.contains(mark))
    }

    /// `text` with its pictures: each stands behind its mark, which names it.
    #[must_use]
    pub fn input(&self, text: &str) -> UserInput {
        if self.none_in(text) {
            return text.to_owned().into();
        }
        let mut parts = Vec::new();
        let mut rest = text;
        loop {
            let next = self
                .0
                .iter()
                .filter_map(|(mark, image)| Some((rest.find(mark)? + mark.len(), image)))
                .min_by_key(|(end, _)| *end);
            let Some((end, image)) = next else { break };
            parts.push(ContentPart::text(&rest[..end]));
            let image_url = MediaUrl { url: image.url.clone(), id: None };
            parts.push(ContentPart::ImageUrl { image_url });
            rest = &rest[end..];
        }
        if !rest.trim().is_empty() {
            parts.push(ContentPart::text(rest));
        }
        UserInput::Parts(parts)
    }

    /// Forgets those whose mark stands nowhere in `texts` any more.
    pub fn keep_in(&mut self, texts: &[&str]) {
        self.0.retain(|(mark, _)| texts.iter().any(|text| text.contains(mark.as_str())));
    }
}

/// The file that a paste names, when it is nothing but the path of a picture: what terminals write when
/// a file is dropped on them, quoted or with its blanks escaped.
#[must_use]
pub fn pasted_path(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.contains('\n') {
        return None;
    }
    let quoted = |quote: char| {
        text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)).map(str::to_owned)
    };
    let path = quoted('\'').or_else(|| quoted('"')).unwrap_or_else(|| text.replace("\\ ", " "));
    let path = path.strip_prefix("file://").map_or(path.clone(), str::to_owned);
    let is_path = path.starts_with(['/', '~', '.']);
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase())?;
    (is_path && ENDINGS.contains(&ending.as_str())).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(name: &str) -> Image {
        Image { name: name.into(), size: (4, 3), url: format!("data:image/png;base64,{name}") }
    }

    #[test]
    fn a_picture_stands_behind_its_mark() {
        let mut images = Images::default();
        let first = images.add(image("a.png"));
        let second = images.add(image("a.png"));
        assert_eq!(first, "[image #1: a.png, 4x3]");
        let UserInput::Parts(parts) = images.input(&format!("see {second} and {first}.")) else {
            panic!("no parts")
        };
        let texts: Vec<_> = parts
            .iter()
            .map(|part| match part {
                ContentPart::Text { text } => text.as_str(),
                _ => "picture",
            })
            .collect();
        let (before, between) = (format!("see {second}"), format!(" and {first}"));
        assert_eq!(texts, [before.as_str(), "picture", &between, "picture", "."]);
        assert_eq!(images.input("no mark"), "no mark".into());
        images.keep_in(&["only [image #2: a.png, 4x3]"]);
        assert!(images.none_in(&first) && !images.none_in(&second));
    }

    #[test]
    fn only_a_path_of_a_picture_is_taken_for_one() {
        assert_eq!(pasted_path("/tmp/a\\ b.PNG\n").as_deref(), Some("/tmp/a b.PNG"));
        assert_eq!(pasted_path("'/tmp/a b.jpg'").as_deref(), Some("/tmp/a b.jpg"));
        assert_eq!(pasted_path("file:///x.webp").as_deref(), Some("/x.webp"));
        for text in ["", "a.png", "/tmp/a.txt", "/tmp/a.png\n/tmp/b.png", "see /tmp/a.png now"] {
            assert_eq!(pasted_path(text), None, "{text}");
        }
    }
}
