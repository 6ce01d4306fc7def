//! Which rules cover a call, and what they come to together.

use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::command::{self, Part, Script, base_name};
use super::rule::{Decision, Rule, ScopedRule};

/// What is to be done.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The names the tool answers to, the one it was called by included.
    pub tool: &'a [&'a str],
    /// The command it runs.
    pub command: Option<&'a str>,
    /// The files it touches; absolute, or from `work_dir` on.
    pub paths: &'a [&'a Path],
    /// Where relative paths and globs begin.
    pub work_dir: &'a Path,
}

/// What `rules` say about `subject`, and the rule that says it: deny wins, then ask, then allow.
/// `None` when no rule covers it. Several rules may allow a command together, each some of its parts.
#[must_use]
pub fn decide<'a>(
    rules: &'a [ScopedRule],
    subject: &Subject<'_>,
) -> Option<(Decision, &'a ScopedRule)> {
    let script = subject.command.map(command::parse);
    let script = script.as_ref();
    let of = |decision| rules.iter().filter(move |scoped| scoped.rule.decision == decision);
    for decision in [Decision::Deny, Decision::Ask] {
        if let Some(rule) = of(decision).find(|scoped| touches(&scoped.rule, subject, script)) {
            return Some((decision, rule));
        }
    }
    let allows: Vec<&ScopedRule> = of(Decision::Allow).collect();
    allowed(&allows, subject, script).map(|rule| (Decision::Allow, rule))
}

/// Does a deny or ask rule cover any part of it?
fn touches(rule: &Rule, subject: &Subject<'_>, script: Option<&Script>) -> bool {
    if !is_of_tool(rule, subject) {
        return false;
    }
    match (&rule.command, &rule.path) {
        (Some(pattern), _) => {
            let Some(wanted) = prefix(pattern) else { return false };
            script.is_some_and(|s| s.parts.iter().any(|part| begins_loosely(part, &wanted)))
        }
        (None, Some(pattern)) => {
            let Ok(glob) = glob(pattern) else { return false };
            subject.paths.iter().any(|path| matches_path(&glob, path, subject.work_dir))
        }
        (None, None) => true,
    }
}

/// The rule that allows all of it, or the last of several that do so together.
fn allowed<'a>(
    rules: &[&'a ScopedRule],
    subject: &Subject<'_>,
    script: Option<&Script>,
) -> Option<&'a ScopedRule> {
    let rules: Vec<&ScopedRule> =
        rules.iter().copied().filter(|scoped| is_of_tool(&scoped.rule, subject)).collect();
    let any = |scoped: &&&ScopedRule| scoped.rule.command.is_none() && scoped.rule.path.is_none();
    if let Some(all) = rules.iter().find(any) {
        return Some(all);
    }
    if let Some(script) = script {
        if script.is_opaque || script.parts.is_empty() {
            return None;
        }
        let covering = |part: &Part| {
            rules.iter().copied().find(|scoped| {
                let wanted = scoped.rule.command.as_deref().and_then(prefix);
                wanted.is_some_and(|wanted| !part.is_altered && part.words.starts_with(&wanted))
            })
        };
        return script.parts.iter().map(covering).collect::<Option<Vec<_>>>()?.pop();
    }
    let covering = |path: &&Path| {
        rules.iter().copied().find(|scoped| {
            let glob = scoped.rule.path.as_deref().and_then(|pattern| glob(pattern).ok());
            glob.is_some_and(|glob| matches_path(&glob, path, subject.work_dir))
        })
    };
    subject.paths.iter().map(covering).collect::<Option<Vec<_>>>()?.pop()
}

fn is_of_tool(rule: &Rule, subject: &Subject<'_>) -> bool {
    subject.tool.iter().any(|name| wildcard(rule.tool.trim(), name))
}

/// Does `name` match `pattern`, in which `*` stands for any letters?
fn wildcard(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => name.strip_prefix(head).is_some_and(|rest| {
            let mut starts = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            starts.any(|at| wildcard(tail, &rest[at..]))
        }),
    }
}

/// The words of a rule's command; a `*` at the end adds nothing. `None` when it is not one command.
pub(super) fn prefix(pattern: &str) -> Option<Vec<String>> {
    let pattern = pattern.trim();
    let pattern = pattern.strip_suffix(" *").or(pattern.strip_suffix(":*")).unwrap_or(pattern);
    let script = command::parse(pattern);
    match script.parts.as_slice() {
        [part] if !script.is_opaque => Some(part.words.clone()),
        // `sudo` is a command too, and so is what stands behind it.
        [whole, ..] if !script.is_opaque && whole.is_altered => Some(whole.words.clone()),
        _ => None,
    }
}

/// Does a command begin with `wanted`, whatever folder its program is in and whatever options stand
/// between the words? Wide on purpose: a prohibition must not be evaded by `git -C . push`.
fn begins_loosely(part: &Part, wanted: &[String]) -> bool {
    let Some((program, wanted)) = wanted.split_first() else { return false };
    let Some((first, words)) = part.words.split_first() else { return false };
    if first != program && base_name(first) != program {
        return false;
    }
    follows(words, wanted)
}

/// Do the words of `wanted` come in order, with nothing but options (and a value each) between?
fn follows(words: &[String], wanted: &[String]) -> bool {
    let Some((next, later)) = wanted.split_first() else { return true };
    let Some((first, rest)) = words.split_first() else { return false };
    if first == next && follows(rest, later) {
        return true;
    }
    first.starts_with('-')
        && (follows(rest, wanted) || rest.split_first().is_some_and(|(_, r)| follows(r, wanted)))
}

/// `*` stays within a folder, `**` does not; letters are told apart by case.
pub(super) fn glob(pattern: &str) -> Result<GlobMatcher, globset::Error> {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    Ok(GlobBuilder::new(pattern).literal_separator(true).build()?.compile_matcher())
}

/// A pattern is met by the path from the work folder on, or by the absolute one.
fn matches_path(glob: &GlobMatcher, path: &Path, work_dir: &Path) -> bool {
    let absolute = normalised(&work_dir.join(path));
    let inside = absolute.strip_prefix(normalised(work_dir)).ok();
    inside.is_some_and(|inside| glob.is_match(inside)) || glob.is_match(&absolute)
}

/// Without `.` and `..`, so that `src/../secret` is not in `src`.
fn normalised(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// What a rule would have covered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Preview {
    /// The commands it covers, by their number in what was given.
    pub matched: Vec<usize>,
    /// How many were given.
    pub total: usize,
}

impl Preview {
    /// In words for a person.
    #[must_use]
    pub fn in_words(&self) -> String {
        format!("would have matched {} of the last {} commands", self.matched.len(), self.total)
    }
}

/// Which of `commands` the rule would have covered, alone.
#[must_use]
pub fn preview(rule: &Rule, commands: &[&str], work_dir: &Path) -> Preview {
    let rules = [ScopedRule { scope: super::Scope::Session, rule: rule.clone() }];
    let covers = |command: &str| {
        let names = [rule.tool.as_str()];
        let subject = Subject { tool: &names, command: Some(command), paths: &[], work_dir };
        decide(&rules, &subject).is_some()
    };
    let matched =
        commands.iter().enumerate().filter(|(_, c)| covers(c)).map(|(at, _)| at).collect();
    Preview { matched, total: commands.len() }
}

/// Rules that would allow `command`, the narrowest first: one for a command, with one word less
/// each; none for what no rule can allow.
#[must_use]
pub fn suggest(command: &str) -> Vec<Rule> {
    let script = command::parse(command);
    let [part] = script.parts.as_slice() else { return Vec::new() };
    if script.is_opaque || part.is_altered {
        return Vec::new();
    }
    // Words that need quotes are arguments, hardly the name of what is done.
    let plain = |word: &&String| {
        word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./:=@+,".contains(&b))
    };
    let words: Vec<&str> = part.words.iter().take_while(plain).map(String::as_str).collect();
    (1..=words.len().min(3))
        .rev()
        .map(|length| Rule::command(words[..length].join(" "), Decision::Allow))
        .collect()
}
