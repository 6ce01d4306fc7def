//! Parts of a message, and what a person may send.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where a picture, sound or film is: a data URL, a web address, or a provider's own reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MediaUrl {
    /// The address.
    pub url: String,
    /// The provider's id for it.
    #[serde(default)]
    pub id: Option<String>,
}

/// One part of a message. A part of a kind we do not know is kept as it came.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentPart {
    /// Plain or Markdown text.
    Text {
        /// The text.
        text: String,
    },
    /// The model's thinking.
    Think {
        /// The text of it; empty when only a signature came.
        think: String,
        /// The provider's signature or ciphertext, to be sent back unchanged.
        encrypted: Option<String>,
    },
    /// A picture.
    ImageUrl {
        /// Where it is.
        image_url: MediaUrl,
    },
    /// A sound.
    AudioUrl {
        /// Where it is.
        audio_url: MediaUrl,
    },
    /// A film.
    VideoUrl {
        /// Where it is.
        video_url: MediaUrl,
    },
    /// A part of a kind this version does not know, as it came.
    #[serde(untagged)]
    Unknown(Value),
}

impl ContentPart {
    /// A text part.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A thinking part without a signature.
    #[must_use]
    pub fn think(think: impl Into<String>) -> Self {
        Self::Think { think: think.into(), encrypted: None }
    }

    /// The text of a text part.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            _ => None,
        }
    }

    /// Takes `next` into this part when both are text, or both thinking of which this one is not yet
    /// signed; gives `next` back otherwise. Streams arrive in pieces; records hold whole parts.
    ///
    /// # Errors
    /// The part that could not be merged.
    pub fn merge(&mut self, next: Self) -> Result<(), Self> {
        match (self, next) {
            (Self::Text { text }, Self::Text { text: more }) => {
                text.push_str(&more);
                Ok(())
            }
            (
                Self::Think { think, encrypted: encrypted @ None },
                Self::Think { think: more, encrypted: signature },
            ) => {
                think.push_str(&more);
                *encrypted = signature;
                Ok(())
            }
            (_, next) => Err(next),
        }
    }
}

/// The text parts of `parts`, joined by `separator`.
#[must_use]
pub fn text_of(parts: &[ContentPart], separator: &str) -> String {
    parts.iter().filter_map(ContentPart::as_text).collect::<Vec<_>>().join(separator)
}

/// What a front end sends as a prompt: text, or parts when there is more than text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum UserInput {
    /// Text only.
    Text(String),
    /// Text, pictures and more.
    Parts(Vec<ContentPart>),
}

impl UserInput {
    /// The parts of it.
    #[must_use]
    pub fn into_parts(self) -> Vec<ContentPart> {
        match self {
            Self::Text(text) => vec![ContentPart::Text { text }],
            Self::Parts(parts) => parts,
        }
    }

    /// Is there nothing to read or see in it?
    #[must_use]
    pub fn is_blank(&self) -> bool {
        let is_blank = |text: &str| text.trim().is_empty();
        match self {
            Self::Text(text) => is_blank(text),
            Self::Parts(parts) => parts.iter().all(|part| part.as_text().is_some_and(is_blank)),
        }
    }

    /// The text of it, parts joined by a space.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Parts(parts) => text_of(parts, " "),
        }
    }
}

impl From<String> for UserInput {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for UserInput {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
