//! What Git can lose: commits, other people's commits, and changes nobody has committed.

use super::Danger::{Deletes, History, Unchecked};
use super::{Found, has, plain};

pub(super) fn judge(found: &mut Found, args: &[&str]) {
    let Some((command, args)) = subcommand(args) else { return };
    let words = plain(args);
    match command {
        "push" => push(found, args, &words),
        "reset" if args.contains(&"--hard") || args.contains(&"--merge") => {
            found.add(History, "throws away changes that are not committed (git reset --hard)");
        }
        "clean" if has(args, 'f', &["force"]) => {
            found.add(Deletes, "deletes files that Git does not keep (git clean)");
        }
        "checkout" | "switch" if has(args, 'f', &["force", "discard-changes"]) => {
            found.add(
                History,
                format!("throws away changes that are not committed (git {command} -f)"),
            );
        }
        "checkout" if words.contains(&".") || args.contains(&"--") => {
            found.add(History, "throws away changes that are not committed (git checkout)");
        }
        "restore" if !args.contains(&"--staged") && !args.contains(&"-S") => {
            found.add(History, "throws away changes that are not committed (git restore)");
        }
        "stash" if matches!(words.first(), Some(&("drop" | "clear"))) => {
            found.add(History, "deletes stashed changes");
        }
        "branch"
            if has(args, 'D', &[]) || has(args, 'd', &["delete"]) && has(args, 'f', &["force"]) =>
        {
            found.add(History, "deletes a branch, merged or not (git branch -D)");
        }
        "filter-branch" | "filter-repo" => {
            found.add(History, format!("writes the history anew (git {command})"));
        }
        "reflog" if matches!(words.first(), Some(&("expire" | "delete"))) => {
            found.add(History, "deletes what lost commits are found by (git reflog)");
        }
        "gc" | "prune"
            if command == "prune" || args.iter().any(|arg| arg.starts_with("--prune=")) =>
        {
            found.add(History, "deletes commits that nothing points to");
        }
        "update-ref" if args.contains(&"-d") => found.add(History, "deletes a reference of Git"),
        "worktree" if words.first() == Some(&"remove") && has(args, 'f', &["force"]) => {
            found.add(History, "deletes a work tree with its changes");
        }
        "config" if words.iter().any(|word| word.eq_ignore_ascii_case("http.sslverify")) => {
            found.add(Unchecked, "changes whether Git checks certificates");
        }
        _ => {}
    }
}

fn push(found: &mut Found, args: &[&str], words: &[&str]) {
    let is_forced = has(args, 'f', &["force", "force-with-lease", "force-if-includes"])
        || words.iter().any(|word| word.starts_with('+'));
    if is_forced {
        found.add(History, "replaces commits on the server (forced push)");
    }
    let deletes = has(args, 'd', &["delete", "mirror", "prune"])
        || words.iter().skip(1).any(|word| word.starts_with(':') && word.len() > 1);
    if deletes {
        found.add(History, "deletes branches or tags on the server");
    }
}

/// What Git is asked to do, behind its own options.
fn subcommand<'a, 'b>(args: &'b [&'a str]) -> Option<(&'a str, &'b [&'a str])> {
    let mut at = 0;
    while let Some(arg) = args.get(at).filter(|arg| arg.starts_with('-')) {
        let takes_value = matches!(
            *arg,
            "-C" | "-c"
                | "--git-dir"
                | "--work-tree"
                | "--namespace"
                | "--exec-path"
                | "--config-env"
        );
        at += if takes_value { 2 } else { 1 };
    }
    args.get(at).map(|command| (*command, &args[at + 1..]))
}
