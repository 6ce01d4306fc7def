//! Skills: files with instructions for one kind of task, and flows, which are diagrams of prompts.
//!
//! [`discover`] finds them, [`frontmatter`] reads what one says about itself, [`flow`] its diagram.
//! `docs/skills.md` describes the files.

mod builtin;
mod discover;
pub mod flow;
mod frontmatter;
#[cfg(test)]
mod tests;

pub use discover::Places;

use std::path::PathBuf;

use crate::wire::SlashCommand;
use flow::{Flow, FlowError};

/// Where a skill is from. Of two with one name the earlier scope's counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The repository.
    Project,
    /// The person's home.
    User,
    /// A folder that is configured.
    Extra,
    /// This program.
    BuiltIn,
}

impl Scope {
    const ALL: [Self; 4] = [Self::Project, Self::User, Self::Extra, Self::BuiltIn];

    fn title(self) -> &'static str {
        match self {
            Self::Project => "Project",
            Self::User => "User",
            Self::Extra => "Extra",
            Self::BuiltIn => "Built-in",
        }
    }
}

/// What a skill is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Instructions.
    Standard,
    /// A diagram that is walked.
    Flow,
}

/// One skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// One line.
    pub description: String,
    /// Instructions or a diagram.
    pub kind: Kind,
    /// Where it is from.
    pub scope: Scope,
    /// Its file, where it has one.
    pub path: Option<PathBuf>,
    /// The text behind the frontmatter.
    pub body: String,
}

impl Skill {
    /// The name of its slash command, without the slash.
    #[must_use]
    pub fn command(&self) -> String {
        match self.kind {
            Kind::Standard => format!("skill:{}", self.name),
            Kind::Flow => format!("flow:{}", self.name),
        }
    }

    /// What is said to the model when a person calls the skill with `request`.
    #[must_use]
    pub fn prompt(&self, request: &str) -> String {
        let mut prompt = self.body.trim().to_owned();
        if let Some(folder) = self.path.as_deref().and_then(std::path::Path::parent) {
            prompt.push_str(&format!("\n\nFiles this skill names are in {}.", folder.display()));
        }
        if !request.is_empty() {
            prompt.push_str(&format!("\n\nUser request:\n{request}"));
        }
        prompt
    }

    /// Its diagram.
    ///
    /// # Errors
    /// When there is none, or it is wrong; with the line in the skill's text.
    pub fn flow(&self) -> Result<Flow, FlowError> {
        Flow::in_markdown(&self.body)
    }
}

/// All skills of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Skills {
    list: Vec<Skill>,
    /// What is wrong with files that were found, one sentence each.
    pub warnings: Vec<String>,
}

impl Skills {
    /// Looks for skills in `places`. Never fails: what cannot be read is left out and told.
    #[must_use]
    pub fn find(places: &Places) -> Self {
        discover::find(places)
    }

    /// Writes the built-in skills' files, which the model is told to read, below `share`.
    pub fn write_built_in(share: &std::path::Path) {
        builtin::write(share);
    }

    /// Each skill.
    pub fn iter(&self) -> impl Iterator<Item = &Skill> {
        self.list.iter()
    }

    /// The skill behind a slash command's name, `skill:x` or `flow:x`; case does not matter. A flow
    /// can be read as a skill too.
    #[must_use]
    pub fn by_command(&self, command: &str) -> Option<(Kind, &Skill)> {
        let (kind, name) = match command.split_once(':')? {
            ("skill", name) => (Kind::Standard, name),
            ("flow", name) => (Kind::Flow, name),
            _ => return None,
        };
        let skill = self.list.iter().find(|skill| skill.name.eq_ignore_ascii_case(name))?;
        (kind == Kind::Standard || skill.kind == Kind::Flow).then_some((kind, skill))
    }

    /// The slash commands, for front ends.
    #[must_use]
    pub fn commands(&self) -> Vec<SlashCommand> {
        self.list
            .iter()
            .map(|skill| SlashCommand {
                name: skill.command(),
                description: skill.description.clone(),
                aliases: Vec::new(),
            })
            .collect()
    }

    /// What the system prompt says about them (`KIMI_SKILLS`); empty when there are none.
    #[must_use]
    pub fn prompt_text(&self) -> String {
        let mut blocks = Vec::new();
        for scope in Scope::ALL {
            let entries: Vec<String> = self
                .list
                .iter()
                .filter(|skill| skill.scope == scope && skill.kind == Kind::Standard)
                .filter_map(|skill| {
                    let path = skill.path.as_ref()?.display();
                    Some(format!(
                        "- {}\n  - Path: {path}\n  - Description: {}",
                        skill.name, skill.description
                    ))
                })
                .collect();
            if !entries.is_empty() {
                blocks.push(format!("### {}\n{}", scope.title(), entries.join("\n")));
            }
        }
        blocks.join("\n\n")
    }
}
