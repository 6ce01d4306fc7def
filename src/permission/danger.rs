//! What is dangerous about a command, so that a person sees it before approving: what it deletes,
//! overwrites, gives away or runs unseen. Pure.
//!
//! The command is taken apart as a shell would ([`command::parse`]); its words decide, not its text,
//! so `echo "rm -rf /"` is harmless and `env X=1 \rm "-r"f x` is not. No mark does not mean that a
//! command is safe.

mod git;
mod network;
mod programs;
mod secrets;
#[cfg(test)]
mod tests;
mod writing;

use super::command::{self, Part, Script, base_name, is_script_option};

/// Marks of one command, at most: more say nothing more.
const MOST: usize = 8;
/// How deep commands inside words are looked at (`eval`, `ssh host '…'`).
const DEEPEST: usize = 3;
/// Words behind a wrapper that are tried as the program it runs.
const MOST_WORDS: usize = 64;

/// Kinds of danger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Danger {
    /// What it deletes or empties does not come back.
    Deletes,
    /// It runs as another user.
    Privilege,
    /// It runs what nobody has read.
    RunsUnseen,
    /// It writes to a device or makes a file system.
    Device,
    /// It drops or rewrites work that is under version control.
    History,
    /// It changes who may do what with files.
    Rights,
    /// It shows or holds a password, key or token.
    Secret,
    /// It sends files somewhere, or publishes something.
    Sends,
    /// It talks to a server without checking who that is.
    Unchecked,
    /// It ends processes it did not start.
    Processes,
    /// It changes the system or how it starts.
    System,
}

/// One danger of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// What kind of danger it is.
    pub danger: Danger,
    /// What the command does, in a few words. Never holds a secret of the command.
    pub reason: String,
}

/// What is dangerous about `command`, a line for a shell. The same danger is told once.
#[must_use]
pub fn marks(command: &str) -> Vec<Mark> {
    let mut found = Found::default();
    found.command(command, 0);
    found.marks.truncate(MOST);
    found.marks
}

#[derive(Default)]
struct Found {
    marks: Vec<Mark>,
}

impl Found {
    fn add(&mut self, danger: Danger, reason: impl Into<String>) {
        let mark = Mark { danger, reason: reason.into() };
        if !self.marks.contains(&mark) {
            self.marks.push(mark);
        }
    }

    fn command(&mut self, text: &str, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        if is_fork_bomb(text) {
            self.add(Danger::Processes, "starts copies of itself without end (a fork bomb)");
        }
        let script = command::parse(text);
        for part in &script.parts {
            self.part(part, depth);
        }
        self.files(&script);
        secrets::in_variables(self, &script.variables);
        network::variables(self, &script.variables);
    }

    fn files(&mut self, script: &Script) {
        for target in &script.writes {
            writing::target(self, target);
        }
        for source in &script.reads {
            secrets::read(self, source);
        }
    }

    fn part(&mut self, part: &Part, depth: usize) {
        let words = expanded(&part.words);
        let Some(first) = words.first() else { return };
        let program = base_name(first).to_owned();
        runs_unseen(self, &program, &words[1..], part.is_piped);
        self.inner_scripts(&program, &words[1..], depth);
        secrets::in_words(self, &words);
        let runs_others = part.is_altered || WRAPPERS.contains(&program.as_str());
        self.program(&words, false);
        if runs_others {
            // Which of the words is the program depends on options nobody knows all of.
            for at in 1..words.len().min(MOST_WORDS) {
                self.program(&words[at..], LISTERS.contains(&program.as_str()));
            }
        }
    }

    /// The program `words` begins with; `is_each` says that it runs for every file of a list.
    fn program(&mut self, words: &[String], is_each: bool) {
        let [program, args @ ..] = words else { return };
        let program = base_name(program);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        programs::judge(self, program, &args, is_each);
        writing::judge(self, program, &args);
        network::judge(self, program, &args);
        secrets::judge(self, program, &args);
        if program == "git" {
            git::judge(self, &args);
        }
    }

    /// Words that are commands themselves.
    fn inner_scripts(&mut self, program: &str, args: &[String], depth: usize) {
        match program {
            "eval" | "coproc" | "exec" => self.command(&args.join(" "), depth + 1),
            "function" => {
                let body: Vec<&str> =
                    args.iter().skip(1).map(String::as_str).skip_while(|w| *w == "{").collect();
                self.command(&body.join(" "), depth + 1);
            }
            "trap" | "watch" | "ssh" | "su" | "script" | "parallel" | "tmux" | "screen"
            | "entr" | "hyperfine" | "at" => {
                for arg in args.iter().filter(|arg| arg.contains(' ')) {
                    self.command(arg, depth + 1);
                }
            }
            "alias" => {
                for (_, body) in args.iter().filter_map(|arg| arg.split_once('=')) {
                    self.command(body, depth + 1);
                }
            }
            _ => {}
        }
    }
}

/// Programs that run another one that stands among their words.
const WRAPPERS: &[&str] = &[
    "busybox", "builtin", "chroot", "command", "coproc", "docker", "doas", "env", "exec", "fd",
    "fdfind", "find", "flock", "ionice", "kubectl", "nerdctl", "nice", "nohup", "nsenter",
    "parallel", "podman", "setsid", "ssh", "stdbuf", "strace", "su", "sudo", "taskset", "time",
    "timeout", "toybox", "unshare", "watch", "wsl", "xargs",
];
/// Those of them that run it for everything in a list.
const LISTERS: &[&str] = &["fd", "fdfind", "find", "parallel", "xargs"];
/// Programs that carry out what they are given on standard input.
const INTERPRETERS: &[&str] = &[
    "ash", "bash", "dash", "fish", "ksh", "sh", "zsh", "csh", "tcsh", "python", "python2",
    "python3", "perl", "ruby", "node", "deno", "bun", "php", "pwsh", "lua",
];

/// Words as the shell makes them of `{rm,-rf,x}` and `rm${IFS}-rf${IFS}x`.
fn expanded(words: &[String]) -> Vec<String> {
    let Some(first) = words.first() else { return Vec::new() };
    let braces = first.strip_prefix('{').and_then(|inner| inner.strip_suffix('}'));
    if let Some(inner) = braces.filter(|inner| inner.contains(',')) {
        let inner = inner.split(',').map(str::to_owned);
        return inner.chain(words[1..].iter().cloned()).collect();
    }
    words
        .iter()
        .flat_map(|word| {
            let spaced = word.replace("${IFS}", " ").replace("$IFS", " ");
            let is_spaced = spaced != *word;
            let pieces: Vec<String> = spaced.split_whitespace().map(str::to_owned).collect();
            if is_spaced { pieces } else { vec![word.clone()] }
        })
        .collect()
}

/// A shell that is fed by a pipe or a substitution.
fn runs_unseen(found: &mut Found, program: &str, args: &[String], is_piped: bool) {
    let is_interpreter = INTERPRETERS.contains(&program);
    let is_sourcing = matches!(program, "source" | "." | "eval");
    let mut plain = args.iter().filter(|arg| !arg.starts_with('-') || *arg == "-");
    if is_piped && is_interpreter && !args.iter().any(|arg| is_script_option(arg) || arg == "-e") {
        let from_input = args.iter().any(|arg| arg == "-s");
        if from_input || plain.clone().next().is_none_or(|arg| arg == "-" || arg == "/dev/stdin") {
            found.add(Danger::RunsUnseen, format!("runs what comes through a pipe, in {program}"));
        }
    }
    let is_made = |arg: &String| arg == "<(" || arg == "$" || arg.starts_with("$ ");
    let script = args.iter().position(|arg| is_script_option(arg) || arg == "-e");
    let made_script = script.and_then(|at| args.get(at + 1)).is_some_and(is_made);
    let made_file = (is_interpreter || is_sourcing) && plain.any(is_made);
    if (is_interpreter && made_script) || made_file || (program == "eval" && args.is_empty()) {
        found.add(Danger::RunsUnseen, format!("runs what another command prints, in {program}"));
    }
}

/// `:(){ :|:& };:` under any name.
fn is_fork_bomb(text: &str) -> bool {
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    dense.match_indices("(){").any(|(at, _)| {
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '.';
        let name = dense[..at].rsplit(|c| !is_name(c)).next().unwrap_or_default();
        let name = name.strip_prefix("function").filter(|rest| !rest.is_empty()).unwrap_or(name);
        !name.is_empty() && dense[at..].contains(&format!("{name}|{name}"))
    })
}

/// Does `args` hold the option of this letter, alone or among others, or one of these long names?
fn has(args: &[&str], letter: char, long: &[&str]) -> bool {
    args.iter().take_while(|arg| **arg != "--").any(|arg| match arg.strip_prefix("--") {
        // Programs take the beginning of a long option for it.
        Some(name) => {
            let name = name.split('=').next().unwrap_or(name);
            name.len() > 2 && long.iter().any(|long| long.starts_with(name))
        }
        None => arg.strip_prefix('-').is_some_and(|letters| letters.contains(letter)),
    })
}

/// The arguments that are no options.
fn plain<'a>(args: &[&'a str]) -> Vec<&'a str> {
    let end = args.iter().position(|arg| *arg == "--").unwrap_or(args.len());
    let before = args[..end].iter().filter(|arg| !arg.starts_with('-') || **arg == "-");
    before.chain(args.iter().skip(end + 1)).copied().collect()
}

/// A few of `things` in a row, shortened.
fn named(things: &[&str]) -> String {
    const MOST: usize = 3;
    const LONGEST: usize = 48;
    let mut text = things
        .iter()
        .take(MOST)
        .map(|thing| match thing.char_indices().nth(LONGEST) {
            Some((at, _)) => format!("{}…", &thing[..at]),
            None => (*thing).to_owned(),
        })
        .collect::<Vec<_>>()
        .join(", ");
    if things.len() > MOST {
        text.push_str(&format!(" and {} more", things.len() - MOST));
    }
    text
}
