//! Permission rules in files: those a project brings, and adding one where a person wants it kept.

use std::path::{Path, PathBuf};

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike, Value, value};

use super::error::{ConfigError, ConfigErrorKind};
use super::load::read_text;
use super::{read, tree};
use crate::files;
use crate::paths::Paths;
use crate::permission::{Decision, Rule, Scope};

/// Where the rules of a project and of a person are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuleFiles {
    /// `.kimi/permissions.toml` in the work folder. Others may have written it.
    pub project: PathBuf,
    /// What of it this person has agreed to: in the share folder.
    pub trusted: PathBuf,
    /// `config.toml`.
    pub user: PathBuf,
}

/// The rules a project brings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProjectRules {
    /// Those that hold: prohibitions and questions, and what this person has allowed here before.
    pub rules: Vec<Rule>,
    /// What a person should know about the others.
    pub warnings: Vec<String>,
}

impl RuleFiles {
    /// The files for the project in `work_dir`, which must be canonical.
    #[must_use]
    pub fn new(paths: &Paths, work_dir: &Path) -> Self {
        Self {
            project: work_dir.join(".kimi").join("permissions.toml"),
            trusted: paths.trusted_rules(work_dir),
            user: paths.config_file(),
        }
    }

    /// Reads the project's rules. An allow counts only when it was agreed to through
    /// [`Self::add`]: a project that was merely downloaded must not open its own doors.
    ///
    /// # Errors
    /// When a file cannot be read or understood: it may hold prohibitions.
    pub fn project_rules(&self) -> Result<ProjectRules, ConfigError> {
        let (mut rules, mut warnings) = rules_of(&self.project)?;
        let (trusted, _) = rules_of(&self.trusted)?;
        let all = rules.len();
        rules.retain(|rule| rule.decision != Decision::Allow || trusted.contains(rule));
        let left_out = all - rules.len();
        if left_out > 0 {
            warnings.push(format!(
                "{}: {left_out} rule(s) that allow something are not used, because they came with \
                 the project. Add them yourself for this project, or to config.toml, to have them.",
                self.project.display()
            ));
        }
        Ok(ProjectRules { rules, warnings })
    }

    /// Keeps `rule` in the file for `scope`; comments and order of the file stay. A session's rules
    /// are not kept in a file of this kind, so nothing is done for them.
    ///
    /// # Errors
    /// When the file cannot be read, understood or written.
    pub fn add(&self, scope: Scope, rule: &Rule) -> Result<(), ConfigError> {
        match scope {
            Scope::Session => Ok(()),
            Scope::User => {
                let old = self.user.with_extension("json");
                if !self.user.exists() && old.exists() {
                    return Err(unwritable(&old, "rules are only kept in config.toml"));
                }
                append(&self.user, &["permission", "rules"], rule)
            }
            Scope::Project => {
                if rule.decision == Decision::Allow {
                    append(&self.trusted, &["rules"], rule)?;
                }
                append(&self.project, &["rules"], rule)
            }
        }
    }
}

impl RuleFiles {
    /// Takes `rule` out of the file for `scope`, each time it is there; all else of the file stays. A
    /// session's rules are in no file of this kind, and a rule that is not there is no error.
    ///
    /// # Errors
    /// When the file cannot be read, understood or written; it is then as it was.
    pub fn remove(&self, scope: Scope, rule: &Rule) -> Result<(), ConfigError> {
        match scope {
            Scope::Session => Ok(()),
            Scope::User => {
                let old = self.user.with_extension("json");
                if !self.user.exists() && old.exists() {
                    return Err(unwritable(&old, "rules are only kept in config.toml"));
                }
                cut(&self.user, &["permission", "rules"], rule)
            }
            Scope::Project => {
                cut(&self.project, &["rules"], rule)?;
                // What this person had agreed to must not hold again when the project says it.
                cut(&self.trusted, &["rules"], rule)
            }
        }
    }
}

/// Takes `rule` out of the list at `path`, in whichever form it is written.
fn cut(file: &Path, path: &[&str], rule: &Rule) -> Result<(), ConfigError> {
    let Some(text) = read_text(file)? else { return Ok(()) };
    let mut document: DocumentMut = text
        .parse()
        .map_err(|_| unwritable(file, "it is not TOML, so no rule can be taken out of it"))?;
    let mut item: Option<&mut Item> = Some(document.as_item_mut());
    for key in path {
        item = item.and_then(|item| item.as_table_like_mut()?.get_mut(key));
    }
    let changed = match item {
        Some(Item::ArrayOfTables(list)) => {
            let before = list.len();
            list.retain(|table| !is(table, rule));
            before != list.len()
        }
        Some(Item::Value(Value::Array(list))) => {
            let before = list.len();
            list.retain(|value| !value.as_inline_table().is_some_and(|table| is(table, rule)));
            before != list.len()
        }
        _ => false,
    };
    if !changed {
        return Ok(());
    }
    files::write_atomic(file, document.to_string().as_bytes())
        .map_err(|error| unwritable(file, &format!("it cannot be written ({error})")))
}

/// Does `table` say `rule`?
fn is(table: &dyn TableLike, rule: &Rule) -> bool {
    let text = |key: &str| table.get(key).and_then(Item::as_str);
    text("tool") == Some(rule.tool.as_str())
        && text("command") == rule.command.as_deref()
        && text("path") == rule.path.as_deref()
        && text("decision") == Some(in_file(rule.decision))
}

/// How a file says it.
fn in_file(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    }
}

fn rules_of(file: &Path) -> Result<(Vec<Rule>, Vec<String>), ConfigError> {
    let Some(text) = read_text(file)? else { return Ok(Default::default()) };
    let table = tree::from_toml(&text).and_then(|table| read::permission::rules(&table));
    let (rules, mut warnings) = table.map_err(|error| error.in_file(file))?;
    for warning in &mut warnings {
        *warning = format!("{}:{warning}", file.display());
    }
    Ok((rules, warnings))
}

/// Adds `rule` at the end of the list of tables at `path`.
fn append(file: &Path, path: &[&str], rule: &Rule) -> Result<(), ConfigError> {
    let text = read_text(file)?.unwrap_or_default();
    let mut document: DocumentMut = text
        .parse()
        .map_err(|_| unwritable(file, "it is not TOML, so no rule can be added to it"))?;
    let Some((last, parents)) = path.split_last() else { return Ok(()) };
    let mut table: &mut Table = document.as_table_mut();
    for parent in parents {
        let item = table.entry(parent).or_insert_with(|| {
            let mut inner = Table::new();
            inner.set_implicit(true);
            Item::Table(inner)
        });
        table = item
            .as_table_mut()
            .ok_or_else(|| unwritable(file, "its rules are written in another form"))?;
    }
    let list = table.entry(last).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let list = list
        .as_array_of_tables_mut()
        .ok_or_else(|| unwritable(file, "its rules are written in another form"))?;
    let mut entry = Table::new();
    entry["tool"] = value(&rule.tool);
    if let Some(command) = &rule.command {
        entry["command"] = value(command);
    }
    if let Some(path) = &rule.path {
        entry["path"] = value(path);
    }
    entry["decision"] = value(in_file(rule.decision));
    list.push(entry);
    let written = || {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        files::write_atomic(file, document.to_string().as_bytes())
    };
    written().map_err(|error| unwritable(file, &format!("it cannot be written ({error})")))
}

fn unwritable(file: &Path, what: &str) -> ConfigError {
    ConfigError::new(
        ConfigErrorKind::Unreadable,
        what,
        "Write the rule into config.toml yourself: docs/configuration.md has the form.",
    )
    .in_file(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> (tempfile::TempDir, RuleFiles) {
        let folder = tempfile::tempdir().expect("folder");
        let work = folder.path().join("work");
        std::fs::create_dir(&work).expect("work");
        let files = RuleFiles::new(&Paths::new(folder.path().join("share")), &work);
        (folder, files)
    }

    #[test]
    fn a_rule_is_added_and_comments_stay() {
        let (_folder, files) = files();
        std::fs::create_dir_all(files.user.parent().expect("share")).expect("share");
        std::fs::write(&files.user, "# mine\ntheme = \"light\" # bright\n").expect("file");
        files.add(Scope::User, &Rule::command("git status", Decision::Allow)).expect("added");
        files.add(Scope::User, &Rule::path("*", "**/.env", Decision::Deny)).expect("added");
        assert_eq!(
            std::fs::read_to_string(&files.user).expect("file"),
            "# mine\ntheme = \"light\" # bright\n\n[[permission.rules]]\ntool = \"Bash\"\n\
             command = \"git status\"\ndecision = \"allow\"\n\n[[permission.rules]]\ntool = \"*\"\n\
             path = \"**/.env\"\ndecision = \"deny\"\n"
        );
    }

    #[test]
    fn a_rule_is_taken_out_and_everything_else_stays() {
        let (_folder, files) = files();
        std::fs::create_dir_all(files.user.parent().expect("share")).expect("share");
        let before = "# mine\ntheme = \"light\" # bright\n";
        std::fs::write(&files.user, before).expect("file");
        let (one, two) =
            (Rule::command("git status", Decision::Allow), Rule::tool("Bash", Decision::Ask));
        files.add(Scope::User, &one).expect("added");
        files.add(Scope::User, &two).expect("added");
        // The same words with another decision are another rule.
        files.remove(Scope::User, &Rule::command("git status", Decision::Deny)).expect("none");
        files.remove(Scope::User, &one).expect("removed");
        let text = std::fs::read_to_string(&files.user).expect("file");
        assert!(text.starts_with(before) && !text.contains("git status"), "{text}");
        assert!(text.contains("decision = \"ask\""), "{text}");
        let inline = "[permission]\nrules = [{ tool = \"Bash\", decision = \"ask\" }, \
                      { tool = \"*\", decision = \"deny\" }]\n";
        std::fs::write(&files.user, inline).expect("file");
        files.remove(Scope::User, &two).expect("removed");
        let text = std::fs::read_to_string(&files.user).expect("file");
        assert!(!text.contains("ask") && text.contains("deny"), "{text}");
        std::fs::write(&files.user, "[[permission").expect("file");
        files.remove(Scope::User, &two).expect_err("damaged");
        assert_eq!(std::fs::read_to_string(&files.user).expect("file"), "[[permission");
    }

    #[test]
    fn a_removed_allow_of_a_project_is_no_longer_agreed_to() {
        let (_folder, files) = files();
        let mine = Rule::command("cargo test", Decision::Allow);
        files.add(Scope::Project, &mine).expect("added");
        files.remove(Scope::Project, &mine).expect("removed");
        assert_eq!(files.project_rules().expect("rules"), ProjectRules::default());
        let theirs = "[[rules]]\ntool = \"Bash\"\ncommand = \"cargo test\"\ndecision = \"allow\"\n";
        std::fs::write(&files.project, theirs).expect("file");
        assert_eq!(files.project_rules().expect("rules").rules, []);
    }

    #[test]
    fn what_a_project_allows_itself_does_not_hold() {
        let (_folder, files) = files();
        assert_eq!(files.project_rules(), Ok(ProjectRules::default()));
        std::fs::create_dir_all(files.project.parent().expect("folder")).expect("folder");
        let theirs = "[[rules]]\ntool = \"Bash\"\ndecision = \"allow\"\n\
                      [[rules]]\ntool = \"Bash\"\ncommand = \"git push\"\ndecision = \"deny\"\n";
        std::fs::write(&files.project, theirs).expect("file");
        let found = files.project_rules().expect("rules");
        assert_eq!(found.rules, [Rule::command("git push", Decision::Deny)]);
        assert!(found.warnings[0].contains("1 rule(s)"), "{:?}", found.warnings);
        let mine = Rule::command("cargo test", Decision::Allow);
        files.add(Scope::Project, &mine).expect("added");
        let found = files.project_rules().expect("rules");
        assert_eq!(found.rules, [Rule::command("git push", Decision::Deny), mine]);
    }

    #[test]
    fn a_damaged_file_is_told_and_not_overwritten() {
        let (_folder, files) = files();
        std::fs::create_dir_all(files.project.parent().expect("folder")).expect("folder");
        for (text, word) in [
            ("[[rules]", "TOML"),
            ("rules = 1", "list of tables"),
            ("[[rules]]\ntool = \"Bash\"\n", "no decision"),
            ("[[rules]]\ntool = \"Bash\"\ndecision = \"maybe\"\n", "allow, ask or deny"),
            ("[[rules]]\ntool = \"Bash\"\ncommand = \"a; b\"\ndecision = \"deny\"\n", "a; b"),
        ] {
            std::fs::write(&files.project, text).expect("file");
            let error = files.project_rules().expect_err(text).to_string();
            assert!(error.contains(word) && error.contains("permissions.toml:"), "{error}");
        }
        std::fs::write(&files.project, "rules = 1").expect("file");
        let rule = Rule::tool("Bash", Decision::Deny);
        assert!(files.add(Scope::Project, &rule).is_err());
        assert_eq!(std::fs::read_to_string(&files.project).expect("file"), "rules = 1");
    }
}
