//! Passwords, keys and tokens: files that hold them, programs that show them, and those that stand
//! in the command itself. What a secret is never becomes part of a mark.

use super::Danger::Secret;
use super::{Found, named, plain};
use crate::permission::command::assignment;

/// Programs that name a file without showing what is in it.
const BLIND: &[&str] = &[
    "[",
    "basename",
    "chmod",
    "chown",
    "cd",
    "dirname",
    "echo",
    "file",
    "find",
    "ls",
    "mkdir",
    "printf",
    "pwd",
    "realpath",
    "rm",
    "ssh",
    "ssh-add",
    "ssh-keygen",
    "stat",
    "test",
    "touch",
    "tree",
    "wc",
    "which",
];

/// Judges what `program` reads or shows.
pub(super) fn judge(found: &mut Found, program: &str, args: &[&str]) {
    let words = plain(args);
    let begin =
        (words.first().copied().unwrap_or_default(), words.get(1).copied().unwrap_or_default());
    let shows = match program {
        "gh" => begin == ("auth", "token"),
        "gcloud" => begin.0 == "auth" && begin.1.starts_with("print-"),
        "aws" => begin == ("configure", "get") || begin.0 == "secretsmanager",
        "pass" | "op" => matches!(begin.0, "show" | "read" | "item"),
        "security" => begin.0.starts_with("find-") && begin.0.ends_with("-password"),
        "git" => begin == ("credential", "fill"),
        "kubectl" => begin.0 == "get" && begin.1.starts_with("secret"),
        "vault" => matches!(begin.0, "read" | "kv"),
        _ => false,
    };
    if shows {
        found.add(
            Secret,
            format!("shows a password, key or token ({program} {} {})", begin.0, begin.1),
        );
    }
    if BLIND.contains(&program) {
        return;
    }
    // `KEY=@file`, `@file` and `host:file` name files too.
    let files: Vec<&str> = words
        .iter()
        .map(|word| word.rsplit(['@', '=']).next().unwrap_or(word))
        .filter(|word| is_credential_file(word))
        .collect();
    if !files.is_empty() {
        found.add(Secret, format!("reads {}, which may hold secrets", named(&files)));
    }
}

/// Judges the file behind a `<`.
pub(super) fn read(found: &mut Found, path: &str) {
    if is_credential_file(path) {
        found.add(Secret, format!("reads {}, which may hold secrets", named(&[path])));
    }
}

fn is_credential_file(path: &str) -> bool {
    let lower = path.to_lowercase();
    let lower = lower.trim_end_matches('*');
    let name = lower.rsplit('/').next().unwrap_or(lower);
    let is_env = name == ".env"
        || name == ".envrc"
        || name.starts_with(".env.")
            && !["example", "sample", "template", "dist", "test"]
                .iter()
                .any(|end| name.ends_with(end));
    let in_ssh = lower.contains(".ssh/")
        && !name.ends_with(".pub")
        && !matches!(name, "known_hosts" | "config" | "authorized_keys");
    is_env
        || in_ssh
        || matches!(
            name,
            "id_rsa"
                | "id_ed25519"
                | "id_ecdsa"
                | "id_dsa"
                | ".netrc"
                | "_netrc"
                | ".pgpass"
                | ".my.cnf"
                | ".git-credentials"
                | ".npmrc"
                | ".pypirc"
                | ".htpasswd"
                | ".vault-token"
        )
        || [
            "/etc/shadow",
            "/etc/gshadow",
            "/etc/sudoers",
            ".aws/credentials",
            ".docker/config.json",
            ".kube/config",
            "gh/hosts.yml",
            "application_default_credentials.json",
        ]
        .iter()
        .any(|end| lower.ends_with(end))
        || lower.contains(".gnupg/")
        || lower.starts_with("/proc/") && name == "environ"
}

/// Secrets among the words of a command.
pub(super) fn in_words(found: &mut Found, words: &[String]) {
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).map(String::as_str).unwrap_or_default();
        let (name, value) = word.split_once('=').unwrap_or((word, next));
        let is_option = name.starts_with("--") && is_secret_name(name) && is_literal(value);
        let is_variable = assignment(word).is_some_and(|(name, value)| is_secret(name, value));
        if is_option || is_variable || holds_token(word) || is_header(word) || has_password(word) {
            found.add(Secret, "has a password, key or token in it");
            return;
        }
    }
}

/// Secrets among the variables in front of a command.
pub(super) fn in_variables(found: &mut Found, variables: &[String]) {
    let is_one = |variable: &String| {
        holds_token(variable)
            || assignment(variable).is_some_and(|(name, value)| is_secret(name, value))
    };
    if variables.iter().any(is_one) {
        found.add(Secret, "has a password, key or token in it");
    }
}

fn is_secret(name: &str, value: &str) -> bool {
    is_secret_name(name) && is_literal(value)
}

fn is_secret_name(name: &str) -> bool {
    let name = name.trim_start_matches('-').to_lowercase().replace('-', "_");
    ["password", "passwd", "secret", "token", "api_key", "apikey", "access_key", "private_key"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// Is it the secret itself, not where it comes from?
fn is_literal(value: &str) -> bool {
    value.len() >= 6 && !value.starts_with(['$', '<', '-', '/', '.', '@']) && !value.contains("${")
}

/// A token whose makers gave it a beginning to be known by.
fn holds_token(word: &str) -> bool {
    const BEGINNINGS: &[(&str, usize)] = &[
        ("sk-", 20),
        ("ghp_", 20),
        ("gho_", 20),
        ("ghs_", 20),
        ("github_pat_", 20),
        ("glpat-", 16),
        ("xoxb-", 16),
        ("xoxp-", 16),
        ("AKIA", 16),
        ("AIza", 30),
        ("npm_", 30),
        ("pypi-", 30),
        ("hf_", 30),
        ("ya29.", 20),
    ];
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '.';
    word.contains("-----BEGIN")
        || word.split(|c| !is_part(c)).any(|piece| {
            BEGINNINGS.iter().any(|(begin, least)| {
                piece.strip_prefix(begin).is_some_and(|rest| {
                    rest.len() >= *least && rest.chars().any(|c| c.is_ascii_digit())
                })
            })
        })
}

fn is_header(word: &str) -> bool {
    let Some((name, value)) = word.split_once(':') else { return false };
    let value = value.trim();
    let value = ["Bearer ", "Basic ", "token "]
        .iter()
        .find_map(|kind| value.strip_prefix(kind))
        .unwrap_or(value);
    let name = name.trim().to_lowercase();
    matches!(name.as_str(), "authorization" | "x-api-key" | "private-token" | "cookie" | "api-key")
        && is_literal(value)
}

/// `https://name:password@host/`
fn has_password(word: &str) -> bool {
    let Some((_, rest)) = word.split_once("://") else { return false };
    let login = rest.split('/').next().unwrap_or_default().rsplit_once('@').map(|(login, _)| login);
    login
        .and_then(|login| login.split_once(':'))
        .is_some_and(|(_, password)| !password.is_empty() && !password.starts_with('$'))
}
