//! EditFile: replacing exact strings (`kimi-cli` `tools/file/replace.py`).

mod replace;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Deserialize;

use self::replace::{Done, apply_all};
use super::file_change::{Change, approve_and_write, content_before, refuse_unseen_changes};
use super::path;
use super::tool::ToolContext;
use super::typed::{Failure, TypedTool};
use crate::message::ToolReturn;

pub(crate) struct EditFile;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Params {
    /// The file; outside of the working directory an absolute path.
    #[serde(alias = "file_path")]
    path: String,
    /// One edit, or a list of them.
    #[serde(alias = "edits")]
    edit: Edits,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Edits {
    One(Edit),
    Many(Vec<Edit>),
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Edit {
    /// The text to replace.
    #[serde(alias = "old_string", alias = "old_str")]
    old: String,
    /// What to put in its place.
    #[serde(alias = "new_string", alias = "new_str")]
    new: String,
    /// Replace every occurrence.
    #[serde(default)]
    replace_all: bool,
}

impl TypedTool for EditFile {
    type Params = Params;
    const NAME: &'static str = "EditFile";
    const ALIASES: &'static [&'static str] = &["StrReplaceFile"];
    const DESCRIPTION: &'static str = include_str!("../../prompts/tools/edit_file.md");

    async fn run(&self, params: Params, context: &ToolContext) -> Result<ToolReturn, Failure> {
        edit(params, context).await
    }
}

async fn edit(params: Params, context: &ToolContext) -> Result<ToolReturn, Failure> {
    let Params { path: raw, edit } = params;
    let edits = match edit {
        Edits::One(edit) => vec![edit],
        Edits::Many(edits) => edits,
    };
    if edits.is_empty() {
        return Err(Failure::new("The list of edits is empty.", "No edits"));
    }
    let target = path::resolve_for(context, &raw, "edit a file")?;
    let old = content_before(context, &raw, &target.path).await?;
    let Some(old) = old else { return Err(path::not_found(context, &raw, &target.path)) };
    refuse_unseen_changes(context, &raw, &target.path, &old)?;
    let Ok(text) = str::from_utf8(&old) else {
        return Err(Failure::new(
            format!("`{raw}` is not UTF-8 text, so it is not edited here. Use Bash to change it."),
            "Not UTF-8 text",
        ));
    };
    let Done { text, replacements, note } =
        apply_all(text, &edits).map_err(|problem| Failure::new(problem, "No replacements made"))?;
    let change = Change { target, old: Some(old), new: text.into_bytes() };
    let display = approve_and_write(context, &raw, "Edit", change).await?;
    let message = format!(
        "File successfully edited. Applied {} edit(s) with {replacements} total replacement(s).{note}",
        edits.len()
    );
    Ok(ToolReturn { display, ..ToolReturn::ok("", message) })
}
