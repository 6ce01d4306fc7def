//! JSON Schemas of tools as Kimi takes them: every property has a type. Pure.
//!
//! Kimi refuses a request with `At path 'properties.x': type is not defined`, and a type beside
//! `anyOf`; schemas from elsewhere (MCP servers above all) have both.

use serde_json::{Map, Value, json};

/// How deep a schema is looked into: deeper ones are left alone.
const DEEPEST: usize = 64;

/// `schema` with what Kimi misses filled in, at every depth.
pub(super) fn patched(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(map) = &mut schema {
        patch(map, DEEPEST);
    }
    schema
}

fn patch(schema: &mut Map<String, Value>, depth: usize) {
    if depth == 0 {
        return;
    }
    for key in ["properties", "$defs", "definitions", "patternProperties"] {
        if let Some(Value::Object(children)) = schema.get_mut(key) {
            for child in children.values_mut() {
                patch_child(child, depth);
            }
        }
    }
    for key in ["items", "additionalProperties", "not"] {
        if let Some(child @ Value::Object(_)) = schema.get_mut(key) {
            patch_child(child, depth);
        }
    }
    for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        let outer = schema.get("type").cloned();
        if let Some(Value::Array(children)) = schema.get_mut(key) {
            for child in children.iter_mut() {
                if let (Value::Object(child), Some(outer)) = (&mut *child, &outer)
                    && key != "prefixItems"
                    && !says_its_type(child)
                {
                    child.insert("type".to_owned(), outer.clone());
                }
                patch_child(child, depth);
            }
            if key == "anyOf" {
                // The branches have it now.
                schema.shift_remove("type");
            }
        }
    }
}

fn patch_child(child: &mut Value, depth: usize) {
    match child {
        Value::Object(map) => {
            patch(map, depth - 1);
            if !says_its_type(map) {
                let kind = inferred(map);
                map.insert("type".to_owned(), json!(kind));
            }
        }
        // "Anything goes" has no type; text is what a model can always write.
        Value::Bool(true) => *child = json!({"type": "string"}),
        _ => {}
    }
}

fn says_its_type(schema: &Map<String, Value>) -> bool {
    ["type", "$ref", "anyOf", "oneOf", "allOf"].iter().any(|key| schema.contains_key(*key))
}

/// The type that a schema without one must mean.
fn inferred(schema: &Map<String, Value>) -> &'static str {
    let has = |keys: &[&str]| keys.iter().any(|key| schema.contains_key(*key));
    let values = schema.get("enum").and_then(Value::as_array).and_then(|list| list.first());
    if let Some(value) = values.or(schema.get("const")) {
        return match value {
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::Bool(_) => "boolean",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
            Value::String(_) | Value::Null => "string",
        };
    }
    if has(&["properties", "required", "additionalProperties"]) {
        "object"
    } else if has(&["items", "prefixItems", "minItems", "maxItems"]) {
        "array"
    } else if has(&["minimum", "maximum", "multipleOf", "exclusiveMinimum"]) {
        "number"
    } else {
        "string"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_filled_in_at_every_depth() {
        let schema = json!({"type": "object", "properties": {
            "plain": {"description": "x"},
            "mode": {"enum": [1, 2]},
            "on": {"const": true},
            "list": {"items": {"properties": {"a": {}}}},
            "map": {"additionalProperties": {"minimum": 0}},
            "ref": {"$ref": "#/$defs/d"},
        }, "$defs": {"d": {"properties": {"deep": {"description": "y"}}}}});
        assert_eq!(
            patched(&schema),
            json!({"type": "object", "properties": {
                "plain": {"description": "x", "type": "string"},
                "mode": {"enum": [1, 2], "type": "integer"},
                "on": {"const": true, "type": "boolean"},
                "list": {
                    "items": {"properties": {"a": {"type": "string"}}, "type": "object"},
                    "type": "array"
                },
                "map": {"additionalProperties": {"minimum": 0, "type": "number"}, "type": "object"},
                "ref": {"$ref": "#/$defs/d"},
            }, "$defs": {
                "d": {"properties": {"deep": {"description": "y", "type": "string"}}, "type": "object"}
            }})
        );
    }

    #[test]
    fn a_type_beside_any_of_moves_into_it() {
        let schema = json!({"properties": {"a": {
            "type": "string", "anyOf": [{"minLength": 1}, {"type": "null"}]
        }}});
        assert_eq!(
            patched(&schema),
            json!({"properties": {"a": {
                "anyOf": [{"minLength": 1, "type": "string"}, {"type": "null"}]
            }}})
        );
    }

    #[test]
    fn a_sound_schema_stays_byte_for_byte_and_a_deep_one_ends() {
        let schema = json!({"type": "object", "properties": {
            "b": {"type": "string"}, "a": {"type": ["integer", "null"]}
        }, "required": ["b"]});
        assert_eq!(patched(&schema).to_string(), schema.to_string());
        let mut deep = json!({});
        for _ in 0..100 {
            deep = json!({"properties": {"x": deep}});
        }
        let _ = patched(&deep);
    }
}
