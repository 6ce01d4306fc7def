//! JSON Schemas of tools' parameters: made from Rust types, and used to repair and explain
//! arguments. Only the part of JSON Schema that such types produce is understood.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The schema of `T`: an inlined `type: object` without titles, formats and nulls. A parameter that
/// may be absent is one that is not `required`.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = Value::from(settings.into_generator().into_root_schema_for::<T>());
    plain(&mut schema);
    if let Value::Object(object) = &mut schema {
        object.remove("description");
        object.entry("type").or_insert_with(|| json!("object"));
        object.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}

/// Takes out what providers choke on or models do not need.
fn plain(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    for noise in ["title", "format", "$schema"] {
        object.remove(noise);
    }
    // Doc comments are wrapped where the source is; a description is one paragraph.
    if let Some(Value::String(text)) = object.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|one| one != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            object.insert("type".into(), one);
        }
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(Value::Array(options)) = object.get_mut(choice) {
            options.retain(|option| option["type"] != "null");
            options.iter_mut().for_each(plain);
        }
    }
    unwrap_single_choice(object);
    enumerate_constants(object);
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(plain);
    }
    if let Some(items) = object.get_mut("items") {
        plain(items);
    }
}

/// `anyOf` with one option left is that option.
fn unwrap_single_choice(object: &mut Map<String, Value>) {
    let Some(Value::Array(options)) = object.get("anyOf") else { return };
    if let [Value::Object(only)] = options.as_slice() {
        let only = only.clone();
        object.remove("anyOf");
        for (key, value) in only {
            object.entry(key).or_insert(value);
        }
    }
}

/// A choice of documented constants becomes a plain `enum`.
fn enumerate_constants(object: &mut Map<String, Value>) {
    let Some(Value::Array(options)) = object.get("oneOf") else { return };
    let constants: Option<Vec<Value>> =
        options.iter().map(|option| option.get("const").cloned()).collect();
    if let Some(constants) = constants {
        object.remove("oneOf");
        object.insert("type".into(), json!("string"));
        object.insert("enum".into(), Value::Array(constants));
    }
}

/// Arguments as `T`, or what is wrong with them, naming the parameter.
pub(crate) fn parse<T: DeserializeOwned + JsonSchema>(arguments: Value) -> Result<T, String> {
    let schema = of::<T>();
    if let Some(problem) = problem(&schema, &arguments, "", Look::Ranges) {
        return Err(problem);
    }
    serde_json::from_value(arguments.clone()).map_err(|error| {
        problem(&schema, &arguments, "", Look::Everything).unwrap_or_else(|| error.to_string())
    })
}

/// What [`problem`] looks at. Ranges are all serde does not know; the rest is asked only to explain
/// a failure of serde, which knows other names of fields and values.
#[derive(Clone, Copy, PartialEq)]
enum Look {
    Ranges,
    Everything,
}

fn problem(schema: &Value, value: &Value, at: &str, look: Look) -> Option<String> {
    let named =
        if at.is_empty() { "the arguments".to_owned() } else { format!("parameter `{at}`") };
    if look == Look::Everything {
        if let Some(wanted) = schema["type"].as_str()
            && !fits(wanted, value)
        {
            return Some(format!("{named} must be {}, not {}", article(wanted), kind(value)));
        }
        if let Some(options) = schema["enum"].as_array()
            && !options.contains(value)
        {
            let known: Vec<String> = options.iter().map(Value::to_string).collect();
            return Some(format!("{named} must be one of {}, not {value}", known.join(", ")));
        }
    }
    if let Some(number) = value.as_f64() {
        if let Some(least) = schema["minimum"].as_f64().filter(|least| number < *least) {
            return Some(format!("{named} must be at least {least}, not {value}"));
        }
        if let Some(most) = schema["maximum"].as_f64().filter(|most| number > *most) {
            return Some(format!("{named} must be at most {most}, not {value}"));
        }
    }
    match value {
        Value::Object(object) => problem_in_object(schema, object, at, look),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            problem(member_schema(schema), item, &format!("{at}[{index}]"), look)
        }),
        _ => None,
    }
}

fn problem_in_object(
    schema: &Value,
    object: &Map<String, Value>,
    at: &str,
    look: Look,
) -> Option<String> {
    let schema = choose(schema, |option| option["type"] == "object");
    let path = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    if look == Look::Everything {
        let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        for name in required.iter().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                let given: Vec<String> = object.keys().map(|key| format!("`{key}`")).collect();
                let given = if given.is_empty() { "none".into() } else { given.join(", ") };
                return Some(format!("parameter `{}` is missing (given: {given})", path(name)));
            }
        }
    }
    let properties = schema["properties"].as_object()?;
    properties.iter().find_map(|(name, schema)| {
        object.get(name).and_then(|value| problem(schema, value, &path(name), look))
    })
}

/// The schema of the items of a list, also where a list is one of several choices.
fn member_schema(schema: &Value) -> &Value {
    &choose(schema, |option| option["type"] == "array")["items"]
}

fn choose(schema: &Value, wanted: impl Fn(&Value) -> bool) -> &Value {
    schema["anyOf"]
        .as_array()
        .and_then(|options| options.iter().find(|o| wanted(o)))
        .unwrap_or(schema)
}

/// The types a parameter may have.
fn types(schema: &Value) -> Vec<&str> {
    match (schema["type"].as_str(), schema["anyOf"].as_array()) {
        (Some(one), _) => vec![one],
        (None, Some(options)) => options.iter().filter_map(|o| o["type"].as_str()).collect(),
        (None, None) => Vec::new(),
    }
}

/// Mends what models commonly get wrong in otherwise good arguments: a null for a parameter left
/// out, a number, truth value, list or object written as a string.
pub(crate) fn mend(schema: &Value, arguments: &mut Map<String, Value>) {
    let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
    arguments.retain(|name, value| !value.is_null() || required.iter().any(|r| r == name));
    for (name, value) in arguments.iter_mut() {
        let types = types(&schema["properties"][name.as_str()]);
        let Value::String(text) = &*value else { continue };
        if types.is_empty() || types.contains(&"string") {
            continue;
        }
        // Python's spelling of truth values comes from models trained on it.
        let read = match text.trim() {
            "True" => Some(Value::Bool(true)),
            "False" => Some(Value::Bool(false)),
            other => serde_json::from_str::<Value>(other).ok(),
        };
        if let Some(read) = read.filter(|read| types.iter().any(|wanted| fits(wanted, read))) {
            *value = read;
        }
    }
}

fn fits(wanted: &str, value: &Value) -> bool {
    match wanted {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => true,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn article(wanted: &str) -> String {
    let article = if wanted.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {wanted}")
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Sample {
        /// A path.
        path: String,
        /// A number.
        #[serde(default)]
        #[schemars(range(min = 1, max = 300))]
        timeout: Option<u64>,
        /// A list.
        #[serde(default)]
        todos: Vec<crate::message::TodoItem>,
    }

    #[test]
    fn a_schema_has_no_references_titles_or_nulls() {
        let schema = of::<Sample>();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["required"], json!(["path"]));
        assert_eq!(schema["properties"]["timeout"]["type"], "integer");
        assert_eq!(schema["properties"]["timeout"]["maximum"], 300);
        let status = &schema["properties"]["todos"]["items"]["properties"]["status"];
        assert_eq!(status["enum"], json!(["pending", "in_progress", "done"]));
        let text = schema.to_string();
        for noise in ["$ref", "$schema", "$defs", "title\":\"Sample", "format", "null"] {
            assert!(!text.contains(noise), "{noise} in {text}");
        }
    }

    #[test]
    fn problems_name_the_parameter() {
        let problem = |value: Value| parse::<Sample>(value).expect_err("a problem");
        assert_eq!(problem(json!({"file": 1})), "parameter `path` is missing (given: `file`)");
        assert_eq!(problem(json!({"path": 1})), "parameter `path` must be a string, not a number");
        assert_eq!(
            problem(json!({"path": "a", "timeout": 301})),
            "parameter `timeout` must be at most 300, not 301"
        );
        assert_eq!(
            problem(json!({"path": "a", "todos": [{"title": "x", "status": "later"}]})),
            "parameter `todos[0].status` must be one of \"pending\", \"in_progress\", \"done\", not \"later\""
        );
    }

    #[test]
    fn values_in_strings_are_read_where_a_string_cannot_be_meant() {
        let mut arguments = json!({"path": "12", "timeout": "60", "todos": "[]", "x": null});
        let Value::Object(map) = &mut arguments else { panic!("object") };
        mend(&of::<Sample>(), map);
        assert_eq!(arguments, json!({"path": "12", "timeout": 60, "todos": []}));
    }
}
