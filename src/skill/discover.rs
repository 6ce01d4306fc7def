//! Where skills are looked for, and in which order (`kimi-cli` `skill/__init__.py:55-310`).

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::{Scope, Skill, Skills, builtin, frontmatter};

/// A longer file is no skill.
const MAX_BYTES: u64 = 256 * 1024;
/// Entries of one folder that are looked at.
const MAX_ENTRIES: usize = 1000;

/// Folders of the programs that have skills, ours first.
const BRANDS: [&str; 3] = [".kimi", ".claude", ".codex"];

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Places {
    /// The work folder; the repository around it is the project.
    pub work_dir: PathBuf,
    /// The person's home; none for no skills of the person's own.
    pub home: Option<PathBuf>,
    /// The share folder: `skills` in it is the person's too.
    pub share: PathBuf,
    /// Configured folders. `~/` and paths relative to the project work.
    pub extra: Vec<String>,
    /// Are the folders of all programs used, or only the first there is?
    pub merge_all: bool,
    /// Folders in the place of the project's and the person's; none for those.
    pub instead: Vec<PathBuf>,
}

impl Places {
    /// Folders with skills, the most important first.
    fn roots(&self) -> Vec<(Scope, PathBuf)> {
        let project = repository(&self.work_dir);
        let mut roots: Vec<(Scope, PathBuf)> = Vec::new();
        let mut add = |scope, folders: Vec<PathBuf>| {
            roots.extend(folders.into_iter().map(|folder| (scope, folder)));
        };
        if !self.instead.is_empty() {
            add(Scope::User, self.instead.clone());
            add(Scope::Extra, self.extra.iter().map(|dir| self.resolve(dir, &project)).collect());
            return roots;
        }
        let mut own = self.brands(BRANDS.map(|brand| project.join(brand).join("skills")).into());
        own.push(project.join(".agents/skills"));
        add(Scope::Project, own);
        let mut user = vec![self.share.join("skills")];
        if let Some(home) = &self.home {
            user.extend(BRANDS.map(|brand| home.join(brand).join("skills")));
        }
        let mut user = self.brands(user);
        if let Some(home) = &self.home {
            let shared = [home.join(".config/agents/skills"), home.join(".agents/skills")];
            user.extend(shared.into_iter().find(|folder| folder.is_dir()));
        }
        add(Scope::User, user);
        add(Scope::Extra, self.extra.iter().map(|dir| self.resolve(dir, &project)).collect());
        roots
    }

    /// All of `folders`, or only the first there is.
    fn brands(&self, folders: Vec<PathBuf>) -> Vec<PathBuf> {
        let there = folders.into_iter().filter(|folder| folder.is_dir());
        if self.merge_all { there.collect() } else { there.take(1).collect() }
    }

    fn resolve(&self, dir: &str, project: &Path) -> PathBuf {
        match (dir.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => project.join(dir),
        }
    }
}

/// The repository `work_dir` is in, or itself.
fn repository(work_dir: &Path) -> PathBuf {
    let top = work_dir.ancestors().find(|folder| folder.join(".git").exists());
    top.unwrap_or(work_dir).to_owned()
}

pub(super) fn find(places: &Places) -> Skills {
    let mut found = Found::default();
    let mut seen_roots = HashSet::new();
    for (scope, root) in places.roots() {
        // One folder may be reached by several names.
        if let Ok(root) = fs::canonicalize(&root)
            && seen_roots.insert(root.clone())
        {
            for (name, path) in files(&root) {
                found.read(scope, &name, path);
            }
        }
    }
    for (name, text) in builtin::ALL {
        let path = builtin::place(&places.share, name);
        found.add(Scope::BuiltIn, name, Some(path), text);
    }
    found.skills
}

/// The skill files in `root`, each with the name its place gives it, sorted.
fn files(root: &Path) -> Vec<(String, PathBuf)> {
    let Ok(entries) = fs::read_dir(root) else { return Vec::new() };
    let mut files: Vec<(String, PathBuf)> = entries
        .filter_map(Result::ok)
        .take(MAX_ENTRIES)
        .filter_map(|entry| {
            let path = entry.path();
            let inner = path.join("SKILL.md");
            if inner.is_file() {
                return Some((entry.file_name().to_str()?.to_owned(), inner));
            }
            let is_markdown = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("md"));
            (is_markdown && path.is_file())
                .then(|| Some((path.file_stem()?.to_str()?.to_owned(), path.clone())))?
        })
        .collect();
    files.sort();
    files
}

#[derive(Default)]
struct Found {
    skills: Skills,
    names: HashSet<String>,
}

impl Found {
    fn read(&mut self, scope: Scope, place: &str, path: PathBuf) {
        match read(&path) {
            Ok(text) => self.add(scope, place, Some(path), &text),
            Err(problem) => self.warn(&path, &problem),
        }
    }

    fn add(&mut self, scope: Scope, place: &str, path: Option<PathBuf>, text: &str) {
        let head = frontmatter::read(text);
        if let (Some(problem), Some(path)) = (&head.problem, &path) {
            self.warn(path, &format!("its frontmatter is not used: {problem}"));
        }
        let told = head.name.as_deref().and_then(usable);
        let Some(name) = told.or_else(|| usable(place)) else {
            if let Some(path) = &path {
                self.warn(path, "its name has no letter or digit");
            }
            return;
        };
        if self.names.insert(name.to_ascii_lowercase()) {
            self.skills.list.push(Skill {
                name,
                description: head.description,
                kind: head.kind,
                scope,
                path,
                body: head.body,
            });
        }
    }

    fn warn(&mut self, path: &Path, problem: &str) {
        self.skills.warnings.push(format!("The skill {}: {problem}.", path.display()));
    }
}

/// `name` as a slash command can hold it.
fn usable(name: &str) -> Option<String> {
    let name: String = name
        .trim()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' })
        .collect();
    let name = name.trim_matches('-').to_owned();
    name.chars().any(|c| c.is_ascii_alphanumeric()).then_some(name)
}

fn read(path: &Path) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("it cannot be read: {error}");
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("it is longer than {} KiB", MAX_BYTES / 1024));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
