//! Which tools there are, and the set an agent gets.

use std::sync::Arc;

use super::equipment::Equipment;
use super::tool::Tool;
use crate::llm::ToolSpec;

/// All built-in tools. A new one is one file and one line here.
fn built_in(equipment: &Equipment) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(super::read_file::ReadFile),
        Arc::new(super::write_file::WriteFile),
        Arc::new(super::edit_file::EditFile),
        Arc::new(super::bash::Bash),
        Arc::new(super::grep::Grep),
        Arc::new(super::glob::Glob),
        Arc::new(super::ls::Ls),
        Arc::new(super::task::Task::default()),
        Arc::new(super::tasks::TaskList),
        Arc::new(super::tasks::TaskOutput),
        Arc::new(super::tasks::TaskStop),
        Arc::new(super::think::Think),
        Arc::new(super::todo::Todo),
        Arc::new(super::send_dmail::SendDMail),
        Arc::new(super::ask_user::AskUserQuestion),
        Arc::new(super::plan::EnterPlanMode),
        Arc::new(super::plan::ExitPlanMode),
        Arc::new(super::fetch_url::FetchUrl::new(equipment)),
    ];
    if equipment.sees_images {
        tools.push(Arc::new(super::read_media_file::ReadMediaFile));
    }
    if let Some(search) = super::search_web::SearchWeb::new(equipment) {
        tools.push(Arc::new(search));
    }
    tools
}

/// Tools that are there only with the equipment they need. Asking for one is no fault.
const EQUIPPED: &[&str] = &["ReadMediaFile", "SearchWeb"];

/// Tools the Python program has and this one does not have yet: agents' files may name them.
const ELSEWHERE: &[&str] = &["CreateSubagent", "PatchFile"];

/// A tool nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown tool \"{name}\" (known: {known}). Correct the name in the agent's tools.")]
pub struct UnknownTool {
    /// The name as it was given.
    pub name: String,
    /// The names there are.
    pub known: String,
}

/// The tools of one agent, in the order its file lists them. Never changes: providers cache the
/// beginning of a prompt, which these are part of.
#[derive(Clone, Default)]
pub struct Toolset {
    tools: Vec<Arc<dyn Tool>>,
    specs: Vec<ToolSpec>,
    missing: Vec<String>,
}

impl Toolset {
    /// The tools `names` without those in `exclude`. A name may be ours (`Bash`), the Python
    /// program's (`Shell`) or its import path (`kimi_cli.tools.shell:Shell`). Tools that program has
    /// and this one has not yet are left out and listed by [`Toolset::missing`].
    ///
    /// # Errors
    /// When a name in `names` is no tool's. An unknown name in `exclude` excludes nothing.
    pub fn select(names: &[String], exclude: &[String]) -> Result<Self, UnknownTool> {
        Self::equipped(names, exclude, &Equipment::default())
    }

    /// The same for a session with this equipment. Tools that need what it does not have are left out.
    ///
    /// # Errors
    /// As [`Toolset::select`].
    pub fn equipped(
        names: &[String],
        exclude: &[String],
        equipment: &Equipment,
    ) -> Result<Self, UnknownTool> {
        let known = built_in(equipment);
        let excluded: Vec<&str> = exclude
            .iter()
            .map(|name| find(&known, short(name)).map_or(short(name), |tool| tool.name()))
            .collect();
        let mut set = Self::default();
        for name in names {
            let short = short(name);
            match find(&known, short) {
                Some(tool) if !excluded.contains(&tool.name()) => set.add(Arc::clone(tool)),
                Some(_) => {}
                None if EQUIPPED.contains(&short) => {}
                None if ELSEWHERE.contains(&short) => {
                    if !excluded.contains(&short) && !set.missing.iter().any(|one| one == short) {
                        set.missing.push(short.to_owned());
                    }
                }
                None => {
                    let known: Vec<&str> = known.iter().map(|tool| tool.name()).collect();
                    return Err(UnknownTool { name: name.clone(), known: known.join(", ") });
                }
            }
        }
        Ok(set)
    }

    /// A set of exactly these tools.
    #[must_use]
    pub fn of(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let mut set = Self::default();
        tools.into_iter().for_each(|tool| set.add(tool));
        set
    }

    /// This set with `more` behind it, which is where tools that come later belong: the beginning
    /// of a request stays as it was.
    #[must_use]
    pub fn with(&self, more: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let mut set = self.clone();
        more.into_iter().for_each(|tool| set.add(tool));
        set
    }

    fn add(&mut self, tool: Arc<dyn Tool>) {
        if find(&self.tools, tool.name()).is_none() {
            self.specs.push(ToolSpec {
                name: tool.name().to_owned(),
                description: tool.description(),
                parameters: tool.parameters(),
            });
            self.tools.push(tool);
        }
    }

    /// The same with these types of subagents, name and use, for Task; without Task when there are
    /// none.
    #[must_use]
    pub fn with_subagents(self, types: &[(String, String)]) -> Self {
        let Self { tools, missing, .. } = self;
        let mut set = Self { missing, ..Self::default() };
        for tool in tools {
            if tool.name() != "Task" {
                set.add(tool);
            } else if !types.is_empty() {
                set.add(Arc::new(super::task::Task { types: types.to_vec() }));
            }
        }
        set
    }

    /// The same without the tools called `names`.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        let mut set = Self { missing: self.missing.clone(), ..Self::default() };
        let stay = self.tools.iter().filter(|tool| !names.contains(&tool.name()));
        stay.for_each(|tool| set.add(Arc::clone(tool)));
        set
    }

    /// What the model is told of them.
    #[must_use]
    pub fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    /// The tool that answers to `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        find(&self.tools, name).cloned()
    }

    /// Is there a tool that answers to `name`?
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        find(&self.tools, name).is_some()
    }

    /// Tools that were asked for and that this version does not have.
    #[must_use]
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// All names its tools answer to.
    pub(crate) fn taken_names(&self) -> Vec<String> {
        let all = |tool: &Arc<dyn Tool>| {
            let own = std::iter::once(tool.name().to_owned());
            own.chain(tool.aliases().iter().map(|&alias| alias.to_owned())).collect::<Vec<_>>()
        };
        self.tools.iter().flat_map(all).collect()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name())
    }
}

impl std::fmt::Debug for Toolset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

fn find<'a>(tools: &'a [Arc<dyn Tool>], name: &str) -> Option<&'a Arc<dyn Tool>> {
    tools.iter().find(|tool| tool.name() == name || tool.aliases().contains(&name))
}

/// The class of an import path, or the name as it is.
fn short(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, class)| class).trim()
}

/// Every tool there is, with equipment for all of them.
#[cfg(test)]
pub(crate) fn complete_set() -> Toolset {
    Toolset::of(built_in(&tests::complete()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ServiceConfig, WebConfig};

    pub(super) fn complete() -> Equipment {
        let search = ServiceConfig { base_url: "http://127.0.0.1:9/".into(), ..Default::default() };
        let web = WebConfig { search: Some(search), ..WebConfig::default() };
        Equipment { web, sees_images: true, ..Equipment::default() }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn names_of_both_programs_select_the_same_tools_once_and_in_order() {
        let set = Toolset::select(
            &names(&[
                "kimi_cli.tools.shell:Shell",
                "StrReplaceFile",
                "Bash",
                "kimi_cli.tools.web:SearchWeb",
                "kimi_cli.tools.multiagent:Task",
                "Think",
                "SetTodoList",
            ]),
            &names(&["kimi_cli.tools.think:Think"]),
        )
        .expect("set");
        assert_eq!(set.names().collect::<Vec<_>>(), ["Bash", "EditFile", "Task", "Todo"]);
        assert!(set.missing().is_empty(), "{:?}", set.missing());
        assert!(set.has("Shell") && set.has("CMD") && set.has("Bash") && !set.has("Think"));
        assert_eq!(set.get("SetTodoList").expect("todo").name(), "Todo");
    }

    #[test]
    fn an_unknown_name_is_told_with_the_known_ones() {
        let error = Toolset::select(&names(&["Bsh"]), &[]).expect_err("unknown");
        assert!(error.to_string().contains("\"Bsh\""), "{error}");
        assert!(error.to_string().contains("Bash"), "{error}");
    }

    #[test]
    fn every_tool_has_a_description_and_an_inlined_object_schema_that_does_not_change() {
        let equipment = complete();
        let all: Vec<String> =
            built_in(&equipment).iter().map(|tool| tool.name().to_owned()).collect();
        let set = Toolset::equipped(&all, &[], &equipment).expect("all");
        let again = Toolset::equipped(&all, &[], &equipment).expect("all");
        assert_eq!(set.specs(), again.specs());
        assert_eq!(set.specs().len(), built_in(&Equipment::default()).len() + EQUIPPED.len());
        assert!(EQUIPPED.iter().all(|name| set.has(name)));
        for spec in set.specs() {
            assert!(spec.description.len() > 80, "{}", spec.name);
            assert_eq!(spec.parameters["type"], "object", "{}", spec.name);
            let text = spec.parameters.to_string();
            for noise in ["$ref", "$defs", "$schema"] {
                assert!(!text.contains(noise), "{noise} in {}", spec.name);
            }
            let properties = spec.parameters["properties"].as_object().expect("properties");
            for (name, property) in properties {
                let description = property["description"].as_str().unwrap_or_default();
                assert!(
                    !description.is_empty() && !description.contains('\n'),
                    "{}.{name} is not described",
                    spec.name
                );
                assert!(
                    property["type"].is_string() || property["anyOf"].is_array(),
                    "{}.{name}: {property}",
                    spec.name
                );
            }
        }
    }
}
