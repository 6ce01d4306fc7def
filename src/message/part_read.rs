//! Reading a part of a message without copying its text twice, as serde's tagged enums would.

use std::fmt;

use serde::de::{self, DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::{ContentPart, MediaUrl};

impl<'de> Deserialize<'de> for ContentPart {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(PartVisitor)
    }
}

struct PartVisitor;

impl<'de> Visitor<'de> for PartVisitor {
    type Value = ContentPart;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part of a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ContentPart, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let value: Value = map.next_value()?;
            // `{"type":"text","text":…}` is nearly everything there is.
            if key == "text"
                && fields.len() == 1
                && fields.get("type").is_some_and(|t| t == "text")
                && let Value::String(text) = value
            {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                return Ok(ContentPart::Text { text });
            }
            fields.insert(key, value);
        }
        Ok(from_fields(fields))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ContentPart, E> {
        Ok(ContentPart::Unknown(text.into()))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<ContentPart, E> {
        Ok(ContentPart::Unknown(value.into()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<ContentPart, E> {
        Ok(ContentPart::Unknown(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<ContentPart, E> {
        Ok(ContentPart::Unknown(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<ContentPart, E> {
        Ok(ContentPart::Unknown(value.into()))
    }

    fn visit_unit<E: de::Error>(self) -> Result<ContentPart, E> {
        Ok(ContentPart::Unknown(Value::Null))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<ContentPart, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(ContentPart::Unknown(Value::Array(values)))
    }
}

/// A part of a kind or shape that is not known stays as it came.
fn from_fields(mut fields: Map<String, Value>) -> ContentPart {
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    let known = match kind {
        "text" => text(&mut fields, "text").map(|text| ContentPart::Text { text }),
        "think" => match field::<Option<String>>(&fields, "encrypted") {
            Some(encrypted) => {
                text(&mut fields, "think").map(|think| ContentPart::Think { think, encrypted })
            }
            None => None,
        },
        "image_url" => media(&fields, kind).map(|image_url| ContentPart::ImageUrl { image_url }),
        "audio_url" => media(&fields, kind).map(|audio_url| ContentPart::AudioUrl { audio_url }),
        "video_url" => media(&fields, kind).map(|video_url| ContentPart::VideoUrl { video_url }),
        _ => None,
    };
    known.unwrap_or(ContentPart::Unknown(Value::Object(fields)))
}

/// Takes a text out; leaves anything else where it is.
fn text(fields: &mut Map<String, Value>, key: &str) -> Option<String> {
    match fields.get_mut(key)? {
        Value::String(text) => Some(std::mem::take(text)),
        _ => None,
    }
}

fn media(fields: &Map<String, Value>, key: &str) -> Option<MediaUrl> {
    MediaUrl::deserialize(fields.get(key)?).ok()
}

/// A field that may be missing. `None` when it has another type.
fn field<T: DeserializeOwned + Default>(fields: &Map<String, Value>, key: &str) -> Option<T> {
    fields.get(key).map_or_else(|| Some(T::default()), |value| T::deserialize(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(value: &Value) -> ContentPart {
        serde_json::from_str(&value.to_string()).expect("any value is a part")
    }

    #[test]
    fn known_parts_are_read_in_any_order_and_others_kept_as_they_came() {
        assert_eq!(read(&json!({"type": "text", "text": "a", "new": 1})), ContentPart::text("a"));
        assert_eq!(read(&json!({"text": "a", "type": "text"})), ContentPart::text("a"));
        assert_eq!(read(&json!({"think": "a", "type": "think"})), ContentPart::think("a"));
        let signed = read(&json!({"type": "think", "think": "a", "encrypted": "s"}));
        let encrypted = Some("s".to_owned());
        assert_eq!(signed, ContentPart::Think { think: "a".into(), encrypted });
        let image_url = MediaUrl { url: "u".into(), id: None };
        let image = read(&json!({"type": "image_url", "image_url": {"url": "u"}}));
        assert_eq!(image, ContentPart::ImageUrl { image_url });
        for odd in [
            json!({"type": "image", "url": "u"}),
            json!({"type": "text", "text": 1}),
            json!({"type": "text"}),
            json!({"type": "think", "think": "a", "encrypted": 1}),
            json!({"type": "image_url", "image_url": "u"}),
            json!({"type": 3, "text": "a"}),
            json!({}),
            json!(["a", 1.5, null, true]),
            json!("a"),
            json!(null),
            json!(-1),
        ] {
            assert_eq!(read(&odd), ContentPart::Unknown(odd.clone()));
            assert_eq!(
                serde_json::from_value::<ContentPart>(odd.clone()).expect("part"),
                read(&odd)
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(text in ".*", encrypted in prop::option::of(".*"), kind in 0..4_u8) {
            let part = match kind {
                0 => ContentPart::text(text),
                1 => ContentPart::Think { think: text, encrypted },
                2 => ContentPart::AudioUrl { audio_url: MediaUrl { url: text, id: encrypted } },
                _ => ContentPart::Unknown(json!({"type": "video", "of": text, "id": encrypted})),
            };
            let json = serde_json::to_string(&part).expect("json");
            prop_assert_eq!(serde_json::from_str::<ContentPart>(&json).expect("part"), part);
        }
    }
}
