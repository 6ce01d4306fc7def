//! Programs that talk to servers: what they send, and whether they check whom they talk to.

use super::Danger::{RunsUnseen, Sends, Unchecked};
use super::{Found, has, plain};
use crate::permission::command::assignment;

pub(super) fn judge(found: &mut Found, program: &str, args: &[&str]) {
    match program {
        "curl" => curl(found, args),
        "wget" => {
            if args.contains(&"--no-check-certificate") {
                unchecked(found, program);
            }
            if args
                .iter()
                .any(|arg| arg.starts_with("--post-file") || arg.starts_with("--body-file"))
            {
                found.add(Sends, "sends a file to a server (wget)");
            }
        }
        "http" | "https" | "xh"
            if args.iter().any(|arg| *arg == "--verify=no" || arg.contains('@')) =>
        {
            found.add(Sends, format!("sends a file to a server, or does not check it ({program})"));
        }
        "scp" | "rsync" | "sftp" | "rclone" => {
            let words = plain(args);
            if words.len() > 1 && words.last().is_some_and(|last| is_remote(last)) {
                found.add(Sends, format!("sends files to another machine ({program})"));
            }
        }
        "ssh"
            if args
                .iter()
                .any(|arg| arg.replace(' ', "=").ends_with("StrictHostKeyChecking=no")) =>
        {
            unchecked(found, program);
        }
        "pip" | "pip3" | "uv" if args.iter().any(|arg| arg.starts_with("--trusted-host")) => {
            unchecked(found, program);
        }
        "npm" | "yarn" | "pnpm" if args.iter().any(|arg| arg.contains("strict-ssl")) => {
            unchecked(found, program);
        }
        "nc" | "ncat" | "netcat" | "socat" => {
            let runs = args.iter().any(|arg| {
                matches!(*arg, "-e" | "-c" | "--exec" | "--sh-exec")
                    || arg.to_lowercase().contains("exec:")
            });
            if runs {
                found
                    .add(RunsUnseen, format!("lets another machine run commands here ({program})"));
            }
        }
        _ => {}
    }
    if publishes(program, args) {
        found.add(Sends, format!("makes something public or hands it to others ({program})"));
    }
}

fn unchecked(found: &mut Found, program: &str) {
    found.add(Unchecked, format!("does not check who the server is ({program})"));
}

fn curl(found: &mut Found, args: &[&str]) {
    // Letters with a value end a bundle: what follows is the value, not more options.
    let bundle = |arg: &str, letter: char| {
        arg.strip_prefix('-').filter(|rest| !rest.starts_with('-')).is_some_and(|letters| {
            letters.chars().take_while(|c| !"dFTHXouAebrxmw".contains(*c)).any(|c| c == letter)
        })
    };
    if args.iter().any(|arg| bundle(arg, 'k') || matches!(*arg, "--insecure" | "--proxy-insecure"))
    {
        unchecked(found, "curl");
    }
    let sends = args.iter().enumerate().any(|(at, arg)| {
        let next = args.get(at + 1).copied().unwrap_or_default();
        let (name, value) = arg.split_once('=').unwrap_or((arg, next));
        match name {
            "-T" | "--upload-file" => true,
            "-d" | "--data" | "--data-binary" | "--data-raw" | "--data-ascii" | "--json" => {
                value.starts_with('@') && name != "--data-raw"
            }
            "--data-urlencode" => value.contains('@'),
            "-F" | "--form" => next.contains("=@") || next.contains("=<") || arg.contains("=@"),
            short => {
                ["-d@", "-T"].iter().any(|begin| short.starts_with(begin))
                    || arg.starts_with("-F") && arg.contains("=@")
            }
        }
    });
    if sends {
        found.add(Sends, "sends a file to a server (curl)");
    }
}

/// `host:path`, `user@host:path`, but no path with a colon in it.
fn is_remote(word: &str) -> bool {
    word.split_once(':').is_some_and(|(host, _)| {
        host.len() > 1 && !host.contains('/') && !host.starts_with(['.', '-'])
    })
}

fn publishes(program: &str, args: &[&str]) -> bool {
    if has(args, 'n', &["dry-run"]) {
        return false;
    }
    let words = plain(args);
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    match program {
        "npm" | "yarn" | "pnpm" | "cargo" | "poetry" | "uv" | "hatch" | "flit" => {
            word(0) == "publish"
        }
        "twine" => word(0) == "upload",
        "gem" | "docker" | "podman" => word(0) == "push",
        "gh" => match word(0) {
            "release" | "gist" | "repo" => matches!(word(1), "create" | "delete" | "edit"),
            "pr" => word(1) == "merge",
            _ => false,
        },
        "mail" | "mailx" | "sendmail" | "mutt" => true,
        _ => false,
    }
}

pub(super) fn variables(found: &mut Found, variables: &[String]) {
    for variable in variables {
        let off = match assignment(variable) {
            Some(("NODE_TLS_REJECT_UNAUTHORIZED" | "PYTHONHTTPSVERIFY", value)) => value == "0",
            Some(("GIT_SSL_NO_VERIFY", value)) => !value.is_empty() && value != "0",
            _ => false,
        };
        if off {
            let name = variable.split('=').next().unwrap_or_default();
            found.add(Unchecked, format!("does not check who the server is ({name})"));
        }
    }
}
