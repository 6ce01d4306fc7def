//! System prompts are templates: `${NAME}` for a variable, `{% if %}` and the like for blocks,
//! as the Python program's (`kimi-cli` `soul/agent.py:494-519`). minijinja stays in this file.
//!
//! `{% include "file.md" %}` is ours: a file of the agent's own folder, or one of a built-in agent
//! (`default/system.md`).

use std::collections::BTreeMap;
use std::error::Error as _;
use std::path::{Component, Path};

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};

use super::builtin;
use super::error::AgentError;
use super::source::Folder;
use super::vars::PromptVars;

/// A system prompt as it was written.
#[derive(Debug)]
pub(super) struct Prompt {
    /// What messages call its file.
    pub(super) file: String,
    /// The line of its key when it stands in the agent file itself.
    pub(super) inline_at: Option<u64>,
    /// The template.
    pub(super) text: String,
    /// Where its includes are.
    pub(super) folder: Folder,
}

/// Fills in the variables of this run and the agent's own, which win.
pub(super) fn render(
    prompt: &Prompt,
    vars: &PromptVars,
    args: &[(String, String)],
) -> Result<String, AgentError> {
    let mut values: BTreeMap<&str, &str> = vars.entries().into_iter().collect();
    values.extend(args.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let told = |error: &Error| explain(prompt, error, &values);
    let env = environment(prompt.folder.clone()).map_err(|error| told(&error))?;
    let text = env
        .template_from_named_str(&prompt.file, &prompt.text)
        .and_then(|template| template.render(Value::from_pairs(values.clone())))
        .map_err(|error| told(&error))?;
    Ok(text.trim().to_owned())
}

fn environment(folder: Folder) -> Result<Environment<'static>, Error> {
    let mut env = Environment::new();
    env.set_syntax(
        SyntaxConfig::builder()
            .variable_delimiters("${", "}")
            .trim_blocks(true)
            .lstrip_blocks(true)
            .keep_trailing_newline(true)
            .build()?,
    );
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    // Without it an error does not know which part of the template it is about.
    env.set_debug(true);
    env.set_loader(move |name| Ok(included(&folder, name)));
    Ok(env)
}

/// A file an `include` names. What leads out of the agent's folder is not found.
fn included(folder: &Folder, name: &str) -> Option<String> {
    let stays_inside = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !stays_inside {
        return None;
    }
    folder.read(name).1.ok().or_else(|| {
        let (agent, file) = name.split_once('/')?;
        builtin::find(agent)?.file(file).map(str::to_owned)
    })
}

/// The error in this program's words, about the innermost template.
fn explain(prompt: &Prompt, error: &Error, values: &BTreeMap<&str, &str>) -> AgentError {
    let mut inner = error;
    while let Some(cause) = inner.source().and_then(|cause| cause.downcast_ref::<Error>()) {
        inner = cause;
    }
    let problem = match inner.kind() {
        ErrorKind::UndefinedError => undefined(inner, values),
        ErrorKind::TemplateNotFound => format!(
            "{}. An include names a file of the agent's own folder, or one like default/system.md",
            inner.detail().unwrap_or("an included file is missing")
        ),
        kind => match inner.detail() {
            Some(detail) => format!("{kind}: {detail}"),
            None => kind.to_string(),
        },
    };
    let line = inner.line().unwrap_or(1) as u64;
    let name = inner.name().filter(|name| *name != prompt.file);
    match (name, prompt.inline_at) {
        (Some(name), _) => AgentError::Invalid { file: name.to_owned(), line, problem },
        (None, None) => AgentError::Invalid { file: prompt.file.clone(), line, problem },
        (None, Some(at)) => AgentError::Invalid {
            file: prompt.file.clone(),
            line: at,
            problem: format!("line {line} of system_prompt: {problem}"),
        },
    }
}

fn undefined(error: &Error, values: &BTreeMap<&str, &str>) -> String {
    let expression = error
        .template_source()
        .zip(error.range())
        .and_then(|(source, range)| source.get(range))
        .map(|text| text.trim_start_matches("${").trim_end_matches('}').trim())
        .filter(|text| !text.is_empty());
    let named = match expression {
        Some(name) => format!("the variable {name} is not defined"),
        None => "a variable is not defined".to_owned(),
    };
    let known: Vec<_> = values.keys().copied().collect();
    format!(
        "{named}. Define it under system_prompt_args in the agent file, or put the text between \
         {{% raw %}} and {{% endraw %}} if it is meant as it stands. Known: {}",
        known.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn prompt(text: &str) -> Prompt {
        Prompt {
            file: "system.md".to_owned(),
            inline_at: None,
            text: text.to_owned(),
            folder: Folder::Disk(PathBuf::from("/nowhere")),
        }
    }

    fn rendered(text: &str) -> Result<String, AgentError> {
        let vars = PromptVars { user: "mei".to_owned(), ..PromptVars::default() };
        let args = [("ROLE".to_owned(), "critic of ${KIMI_USER}".to_owned())];
        render(&prompt(text), &vars, &args)
    }

    #[test]
    fn variables_and_blocks_are_filled_in_and_values_are_not_templates() {
        assert_eq!(
            rendered("You are a ${ ROLE }.\n{% if KIMI_USER %}\nFor ${KIMI_USER}.\n{% endif %}\n")
                .expect("prompt"),
            "You are a critic of ${KIMI_USER}.\nFor mei."
        );
        assert_eq!(rendered("a < b & {{ x }}").expect("prompt"), "a < b & {{ x }}");
        assert_eq!(rendered("{% raw %}${HOME}{% endraw %}").expect("prompt"), "${HOME}");
    }

    #[test]
    fn an_undefined_variable_is_named_with_its_place() {
        let error = rendered("one\ntwo ${HOME_DIR} three").expect_err("undefined").to_string();
        assert!(error.starts_with("system.md:2: the variable HOME_DIR is not defined."), "{error}");
        assert!(error.contains("system_prompt_args") && error.contains("KIMI_NOW"), "{error}");
        let error = rendered("{% if NOPE %}x{% endif %}").expect_err("undefined").to_string();
        assert!(error.contains("NOPE"), "{error}");
    }

    #[test]
    fn an_inline_prompt_is_blamed_on_the_agent_file() {
        let mut inline = prompt("one\n${X}");
        inline.inline_at = Some(7);
        let error = render(&inline, &PromptVars::default(), &[]).expect_err("undefined");
        assert!(error.to_string().starts_with("system.md:7: line 2 of system_prompt: "), "{error}");
    }

    #[test]
    fn broken_syntax_and_missing_includes_are_told() {
        let error = rendered("a\n{% if %}").expect_err("syntax").to_string();
        assert!(error.starts_with("system.md:2: syntax error"), "{error}");
        for name in ["missing.md", "../../etc/hostname", "/etc/hostname"] {
            let error = rendered(&format!("{{% include \"{name}\" %}}")).expect_err("no file");
            assert!(error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn a_prompt_can_build_on_a_built_in_one() {
        let text = rendered("{% include \"default/system.md\" %}\nAnd more.").expect("prompt");
        assert!(text.ends_with("And more.") && text.len() > 1000);
    }
}
