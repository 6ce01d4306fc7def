//! Where a command writes: devices, the system's own files, and files a shell starts with.

use super::Danger::{Device, RunsUnseen, Secret, System};
use super::{Found, plain};

/// Judges the file behind a `>`.
pub(super) fn target(found: &mut Found, path: &str) {
    if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
        found.add(RunsUnseen, "talks to another machine through the shell (/dev/tcp)");
    } else if is_device(path) {
        found.add(Device, format!("writes to the device {path}"));
    } else if path.ends_with("authorized_keys") {
        found.add(Secret, "changes who may log in here (authorized_keys)");
    } else if is_system(path) {
        found.add(System, format!("changes the system file {path}"));
    } else if is_start_up(path) {
        found.add(System, format!("changes what runs at every start ({path})"));
    }
}

/// Judges programs that write where a word of theirs says.
pub(super) fn judge(found: &mut Found, program: &str, args: &[&str]) {
    match program {
        "dd" => {
            args.iter()
                .filter_map(|arg| arg.strip_prefix("of="))
                .for_each(|path| target(found, path));
        }
        "tee" | "sponge" => plain(args).iter().for_each(|path| target(found, path)),
        "cp" | "mv" | "install" | "ln" => {
            if let [_, .., last] = plain(args).as_slice() {
                target(found, last);
            }
        }
        "sed" | "perl"
            if args.iter().any(|arg| arg.starts_with("-i") || arg.starts_with("--in-place")) =>
        {
            plain(args).iter().for_each(|path| target(found, path));
        }
        _ => {}
    }
}

fn is_device(path: &str) -> bool {
    const HARMLESS: &[&str] =
        &["null", "zero", "stdin", "stdout", "stderr", "tty", "full", "random", "urandom", "ptmx"];
    match path.strip_prefix("/dev/") {
        Some(name) => {
            !HARMLESS.contains(&name)
                && !["fd/", "shm/", "pts/"].iter().any(|folder| name.starts_with(folder))
        }
        None => path.starts_with("/proc/sys") || path.starts_with("/sys/"),
    }
}

fn is_system(path: &str) -> bool {
    const FOLDERS: &[&str] = &[
        "/etc/",
        "/usr/",
        "/bin/",
        "/sbin/",
        "/lib/",
        "/lib64/",
        "/boot/",
        "/System/",
        "/Library/",
    ];
    FOLDERS.iter().any(|folder| path.starts_with(folder)) && !path.starts_with("/usr/local/src/")
}

fn is_start_up(path: &str) -> bool {
    const NAMES: &[&str] =
        &[".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile", ".zshenv", "config.fish"];
    let name = path.rsplit('/').next().unwrap_or(path);
    NAMES.contains(&name) || path.contains(".git/hooks/") || path.contains("/LaunchAgents/")
}
