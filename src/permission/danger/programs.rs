//! Programs that delete, change rights, end processes or change the system.

use super::Danger::{Deletes, Device, Privilege, Processes, Rights, System};
use super::{Found, has, named, plain};

pub(super) fn judge(found: &mut Found, program: &str, args: &[&str], is_each: bool) {
    match program {
        "rm" | "grm" | "del" => remove(found, args, is_each),
        "find" if args.contains(&"-delete") => found.add(Deletes, "deletes every file it finds"),
        "shred" | "srm" | "wipe" => {
            found.add(Deletes, format!("destroys {}", named(&plain(args))));
        }
        "rsync"
            if args
                .iter()
                .any(|arg| arg.starts_with("--del") || *arg == "--remove-source-files") =>
        {
            found.add(Deletes, "deletes files that the other side does not have");
        }
        "mv" if args.last() == Some(&"/dev/null") => found.add(Deletes, "throws files away"),
        "truncate" => found.add(Deletes, format!("cuts off {}", named(&plain(args)))),
        "sudo" | "doas" | "su" | "pkexec" | "run0" | "gosu" | "sudoedit" => {
            found.add(Privilege, format!("runs with another user's rights ({program})"));
        }
        "chmod" => change_mode(found, args),
        "chown" | "chgrp" | "setfacl" | "chattr" | "chflags" if has(args, 'R', &["recursive"]) => {
            found
                .add(Rights, format!("changes owner or rights of everything below ({program} -R)"));
        }
        "setcap" | "visudo" => found.add(Rights, format!("gives more rights ({program})")),
        "kill" => end_all(found, args),
        "killall" | "pkill" | "skill" | "taskkill" => {
            found.add(Processes, format!("ends every process called {}", named(&plain(args))));
        }
        _ => {
            databases(found, program, args);
            system(found, program, args);
            clouds(found, program, args);
        }
    }
}

fn remove(found: &mut Found, args: &[&str], is_each: bool) {
    let targets = plain(args);
    let whole = |target: &&&str| {
        let bare = target.trim_end_matches(['*', '.', '/']);
        bare.is_empty()
            || matches!(bare, "~" | "$HOME" | "${HOME}" | "$PWD" | "${PWD}")
            || (bare.starts_with('/') && bare.matches('/').count() == 1)
    };
    let is_recursive = has(args, 'r', &["recursive"]) || has(args, 'R', &[]);
    if is_recursive || args.contains(&"--no-preserve-root") {
        let all = targets.iter().find(whole);
        found.add(
            Deletes,
            match all {
                Some(all) => format!("deletes EVERYTHING in {all}"),
                None if targets.is_empty() => "deletes folders with all that is in them".to_owned(),
                None => format!("deletes {} with all that is in it", named(&targets)),
            },
        );
    } else if is_each {
        found.add(Deletes, "deletes every file of a list");
    } else if targets.iter().any(|target| target.trim_start_matches("./").starts_with('*')) {
        found.add(Deletes, format!("deletes every file that fits {}", named(&targets)));
    }
}

fn change_mode(found: &mut Found, args: &[&str]) {
    let words = plain(args);
    let mode = words.first().copied().unwrap_or_default();
    let octal = u32::from_str_radix(mode, 8).ok().filter(|_| mode.len() >= 3);
    let everyone_writes = octal.is_some_and(|bits| bits & 0o002 != 0)
        || mode.split(',').any(|clause| {
            let who = clause.split(['+', '=']).next().unwrap_or_default();
            let what = clause.get(who.len()..).unwrap_or_default();
            what.contains('w') && (who.contains('a') || who.contains('o'))
        });
    let sets_user = octal.is_some_and(|bits| bits & 0o6000 != 0)
        || mode.split(',').any(|clause| {
            clause
                .split_once('+')
                .is_some_and(|(who, what)| !who.contains('-') && what.contains('s'))
        });
    if everyone_writes {
        found.add(Rights, format!("lets everybody on this machine write (chmod {mode})"));
    }
    if sets_user {
        found.add(Rights, "makes a program run with its owner's rights (setuid)");
    }
    if has(args, 'R', &["recursive"]) {
        found.add(Rights, "changes the rights of everything below (chmod -R)");
    }
}

fn end_all(found: &mut Found, args: &[&str]) {
    // The first word with a dash is the signal, unless it is the only one or follows `-s`.
    let after_signal: &[&str] = match args {
        ["-s" | "-n" | "--signal", _, rest @ ..] => rest,
        ["--", ..] | [_] => args,
        [first, rest @ ..] if first.starts_with('-') => rest,
        _ => args,
    };
    if after_signal.contains(&"-1") {
        found.add(Processes, "ends every process this user has (kill -1)");
    } else if after_signal.contains(&"1") {
        found.add(Processes, "ends the system's first process (kill 1)");
    }
}

fn databases(found: &mut Found, program: &str, args: &[&str]) {
    const CLIENTS: &[&str] =
        &["psql", "mysql", "mariadb", "sqlite3", "duckdb", "sqlcmd", "cqlsh", "clickhouse"];
    const LOSSES: &[&str] =
        &["drop table", "drop database", "drop schema", "truncate ", "delete from", "dropdatabase"];
    let says = |needles: &[&str]| {
        args.iter().any(|arg| {
            let text = arg.to_lowercase();
            needles.iter().any(|needle| text.contains(needle))
        })
    };
    if CLIENTS.contains(&program) && says(LOSSES)
        || matches!(program, "mongo" | "mongosh") && says(&["drop", "deletemany", "remove("])
        || program == "redis-cli" && says(&["flushall", "flushdb"])
        || program == "dropdb"
    {
        found.add(Deletes, "deletes data of a database");
    }
    const SCRIPTED: &[&str] =
        &["rmtree", "os.remove", "os.unlink", "unlink", "rmsync", "rmdirsync", "rm_rf", "rm -r"];
    let is_language = program.starts_with("python")
        || matches!(program, "perl" | "ruby" | "node" | "php" | "deno" | "bun");
    if is_language
        && args.iter().any(|arg| matches!(*arg, "-c" | "-e" | "-r" | "--eval" | "eval"))
        && says(SCRIPTED)
    {
        found.add(Deletes, format!("deletes files, by a script in {program}"));
    }
}

fn system(found: &mut Found, program: &str, args: &[&str]) {
    let first = plain(args).first().copied().unwrap_or_default();
    match program {
        "shutdown" | "reboot" | "halt" | "poweroff" | "telinit" => {
            found.add(System, format!("turns the machine off or starts it again ({program})"));
        }
        "init" if matches!(first, "0" | "6") => found.add(System, "turns the machine off (init)"),
        "systemctl" | "service" | "launchctl" | "rc-service" => {
            const ENDS: &[&str] = &[
                "poweroff", "reboot", "halt", "kexec", "suspend", "stop", "disable", "mask",
                "kill", "isolate", "unload", "bootout", "remove",
            ];
            if args.iter().any(|arg| ENDS.contains(arg)) {
                found.add(System, format!("stops services of the system ({program})"));
            }
        }
        "crontab" if !matches!(args, ["-l", ..]) => {
            found.add(System, "changes what runs by itself at certain times (crontab)");
        }
        "iptables" | "ip6tables" | "nft"
            if args.iter().any(|a| matches!(*a, "-F" | "--flush" | "-X" | "flush")) =>
        {
            found.add(System, "takes the firewall's rules away");
        }
        "ufw" if first == "disable" => found.add(System, "turns the firewall off"),
        "setenforce" if first == "0" => found.add(System, "turns SELinux off"),
        "useradd" | "adduser" | "userdel" | "deluser" | "usermod" | "groupadd" | "passwd"
        | "chpasswd" => {
            found.add(System, format!("changes the machine's users ({program})"));
        }
        "sysctl" if has(args, 'w', &["write"]) || args.iter().any(|arg| arg.contains('=')) => {
            found.add(System, "changes settings of the kernel");
        }
        "insmod" | "modprobe" | "rmmod" => found.add(System, "changes the kernel's modules"),
        "mkfs" | "mke2fs" | "fdisk" | "sfdisk" | "gdisk" | "sgdisk" | "parted" | "wipefs"
        | "blkdiscard" | "mkswap" | "hdparm" | "pvremove" | "vgremove" | "lvremove" => {
            disk(found, program, args);
        }
        name if name.starts_with("mkfs.") => disk(found, program, args),
        "cryptsetup"
            if args.iter().any(|arg| matches!(*arg, "luksFormat" | "erase" | "luksErase")) =>
        {
            disk(found, program, args);
        }
        "diskutil" if first.starts_with("erase") || first.starts_with("partition") => {
            disk(found, program, args);
        }
        _ => {}
    }
}

fn disk(found: &mut Found, program: &str, args: &[&str]) {
    if !has(args, 'l', &["list"]) {
        found.add(Device, format!("may erase a whole disk ({program})"));
    }
}

fn clouds(found: &mut Found, program: &str, args: &[&str]) {
    let words = plain(args);
    let (first, second) =
        (words.first().copied().unwrap_or_default(), words.get(1).copied().unwrap_or_default());
    let is_loss = match program {
        "terraform" | "tofu" | "pulumi" => {
            first == "destroy"
                || first == "apply" && args.iter().any(|arg| arg.contains("auto-approve"))
        }
        "kubectl" | "oc" => matches!(first, "delete" | "drain"),
        "helm" => matches!(first, "uninstall" | "delete"),
        "docker" | "podman" => {
            second == "prune" || matches!((first, second), ("volume", "rm")) || first == "prune"
        }
        "aws" => first == "s3" && matches!(second, "rm" | "rb") || second.starts_with("delete-"),
        "gsutil" => words.contains(&"rm"),
        "gcloud" | "az" => words.contains(&"delete"),
        _ => false,
    };
    if is_loss {
        found.add(
            Deletes,
            format!("deletes things of others' use ({program} {first} {second})")
                .replace(" )", ")"),
        );
    }
}
