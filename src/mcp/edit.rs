//! Changes to `mcp.json`: what is not touched stays as it is.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::error::user;
use crate::files::write_atomic;

/// Adds a server, or changes the one of that name. The file may hold keys, so it is private.
///
/// # Errors
/// When the file is no JSON of the right form, or cannot be written.
pub fn add(path: &Path, name: &str, entry: Value) -> anyhow::Result<()> {
    change(path, |servers| {
        servers.insert(name.to_owned(), entry);
        true
    })
    .map(drop)
}

/// Removes a server; false when there is none of that name.
///
/// # Errors
/// As [`add`].
pub fn remove(path: &Path, name: &str) -> anyhow::Result<bool> {
    change(path, |servers| servers.shift_remove(name).is_some())
}

fn change(path: &Path, edit: impl FnOnce(&mut Map<String, Value>) -> bool) -> anyhow::Result<bool> {
    let shown = path.display();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(user(format!("{shown} cannot be read: {error}."), "Check it.")),
    };
    let advice = "Correct it by hand, or move it away.";
    let mut top: Value = if text.trim().is_empty() {
        json!({})
    } else {
        serde_json::from_str(&text)
            .map_err(|error| user(format!("{shown} is no JSON: {error}."), advice))?
    };
    let servers = top
        .as_object_mut()
        .map(|top| top.entry("mcpServers").or_insert_with(|| json!({})))
        .and_then(Value::as_object_mut)
        .ok_or_else(|| user(format!("{shown} has no object \"mcpServers\"."), advice))?;
    if !edit(servers) {
        return Ok(false);
    }
    let mut text = serde_json::to_string_pretty(&top)?;
    text.push('\n');
    write_atomic(path, text.as_bytes()).map_err(|error| {
        user(format!("{shown} cannot be written: {error}."), "Free some space.")
    })?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_come_and_go_and_the_rest_stays() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("mcp.json");
        add(&path, "one", json!({"command": "a"})).expect("added");
        fs::write(&path, r#"{"note": 1, "mcpServers": {"one": {"command": "a", "x": 2}}}"#)
            .expect("file");
        add(&path, "two", json!({"url": "u"})).expect("added");
        assert!(!remove(&path, "three").expect("nothing"));
        let read = || -> Value {
            serde_json::from_str(&fs::read_to_string(&path).expect("file")).expect("JSON")
        };
        let both = json!({"one": {"command": "a", "x": 2}, "two": {"url": "u"}});
        assert_eq!(read(), json!({"note": 1, "mcpServers": both}));
        assert!(remove(&path, "one").expect("removed"));
        assert_eq!(read()["mcpServers"], json!({"two": {"url": "u"}}));
        fs::write(&path, "{").expect("file");
        let told = add(&path, "x", json!({})).expect_err("broken").to_string();
        assert!(told.contains("is no JSON"), "{told}");
        assert_eq!(fs::read_to_string(&path).expect("file"), "{");
    }
}
