use std::path::Path;

use proptest::prelude::*;

use super::command::parse;
use super::*;

const WORK: &str = "/home/me/project";

fn rules(rules: &[(Decision, &str)]) -> Vec<ScopedRule> {
    let rule = |(decision, command): &(Decision, &str)| ScopedRule {
        scope: Scope::User,
        rule: Rule::command(*command, *decision),
    };
    rules.iter().map(rule).collect()
}

fn run(rules: &[ScopedRule], command: &str) -> Option<Decision> {
    let subject = Subject {
        tool: &["Bash", "Shell"],
        command: Some(command),
        paths: &[],
        work_dir: Path::new(WORK),
    };
    decide(rules, &subject).map(|(decision, _)| decision)
}

fn words(command: &str) -> Vec<String> {
    parse(command).parts.iter().map(|part| part.words.join(" ")).collect()
}

#[test]
fn a_command_is_taken_apart() {
    assert_eq!(words("git status"), ["git status"]);
    assert_eq!(
        words("cd x && make -j4 || echo 'a && b'; ls | wc -l & date\npwd"),
        ["cd x", "make -j4", "echo a && b", "ls", "wc -l", "date", "pwd"]
    );
    assert_eq!(words("FOO=1 BAR=\"a b\" git\\ x \"y z\"'w' # rest"), ["git x y zw"]);
    assert_eq!(words("(cd a; ls) 2>&1 >/dev/null <in"), ["cd a", "ls"]);
    assert_eq!(words("timeout -k 5 10s nice -n 5 git push"), ["git push"]);
    assert_eq!(words("env -- CI=1 time -p cargo test"), ["cargo test"]);
    assert_eq!(words("echo $(rm -rf /) `reboot`"), ["rm -rf /", "reboot", "echo $"]);
    assert_eq!(words("bash -lc 'git push && ls'"), ["git push", "ls", "bash -lc git push && ls"]);
    assert_eq!(words("if true; then rm x; fi"), ["true", "rm x"]);
    assert!(parse("").parts.is_empty());
}

#[test]
fn what_is_not_understood_is_told() {
    for opaque in [
        "echo $(date)",
        "echo `date`",
        "echo $HOME",
        "cat x > y",
        "cat x >> y",
        "echo 'a",
        "echo \"a",
        "cat <<EOF\nx\nEOF",
        "f() { rm x; }",
        "f () { rm x; }",
        "a=(1 2)",
        "diff <(ls) x",
        "bash -c 'ls'",
        "eval ls",
        "for x in a; do ls; done",
        "source x",
        "ls &> x",
        "ls >& x",
    ] {
        assert!(parse(opaque).is_opaque, "{opaque}");
    }
    for clear in ["ls", "ls 2>&1", "ls >/dev/null 2>/dev/null", "wc < in", "ls | wc && pwd"] {
        assert!(!parse(clear).is_opaque, "{clear}");
    }
}

#[test]
fn an_allow_covers_what_begins_with_its_words_and_nothing_else() {
    let rules = rules(&[(Decision::Allow, "git status"), (Decision::Allow, "cargo *")]);
    for allowed in [
        "git status",
        "git status -s",
        "cargo",
        "cargo test --lib",
        "git status && cargo test",
        "RUST_LOG=debug timeout 60 cargo test 2>&1 | cargo run",
        "'git' \"status\"",
    ] {
        assert_eq!(run(&rules, allowed), Some(Decision::Allow), "{allowed}");
    }
    for asked in [
        "git",
        "git push",
        "git statusx",
        "gitx status",
        "./git status",
        "/tmp/git status",
        "git -c core.pager=evil status",
        "git status && rm -rf /",
        "git status; rm x",
        "git status | sh",
        "git status\nrm x",
        "git status & rm x",
        "git status $(rm x)",
        "git status `rm x`",
        "git status > ~/.bashrc",
        "LD_PRELOAD=x git status",
        "PATH=. git status",
        "env -S 'rm x' git status",
        "sudo git status",
        "xargs git status",
        "git status <(rm x)",
        "bash -c 'git status'",
        "git status 'unclosed",
        "timeout --foreground 5 git status",
        "",
    ] {
        assert_eq!(run(&rules, asked), None, "{asked}");
    }
}

#[test]
fn a_deny_finds_its_command_wherever_it_stands() {
    let rules = rules(&[
        (Decision::Allow, "git"),
        (Decision::Ask, "git commit"),
        (Decision::Deny, "git push"),
    ]);
    for denied in [
        "git push",
        "git push --force",
        "git -C . push",
        "git -C . -c a=b --no-pager push origin",
        "/usr/bin/git push",
        "git status && git push",
        "X=1 git push",
        "sudo -n git push",
        "sudo git push",
        "echo x | xargs git push",
        "echo $(git push)",
        "bash -c 'git push'",
        "bash -c \"sh -c 'git push'\"",
        "if true; then git push; fi",
        "timeout 5 nohup git push",
        "env A=1 git push",
        "'git' \"push\"",
        "g\\it push",
        "git commit && git push",
    ] {
        assert_eq!(run(&rules, denied), Some(Decision::Deny), "{denied}");
    }
    assert_eq!(run(&rules, "git commit -m push"), Some(Decision::Ask));
    assert_eq!(run(&rules, "git log"), Some(Decision::Allow));
    assert_eq!(run(&rules, "echo git push"), None);
    assert_eq!(run(&rules, "rm x"), None);
}

#[test]
fn deny_wins_over_scopes_and_order() {
    let all = |decision, scope| ScopedRule { scope, rule: Rule::tool("*", decision) };
    let mut rules = vec![
        all(Decision::Allow, Scope::Session),
        all(Decision::Ask, Scope::Project),
        all(Decision::Deny, Scope::User),
    ];
    assert_eq!(run(&rules, "ls $(x)"), Some(Decision::Deny));
    rules.reverse();
    assert_eq!(run(&rules, "ls"), Some(Decision::Deny));
    rules.retain(|scoped| scoped.rule.decision != Decision::Deny);
    assert_eq!(run(&rules, "ls"), Some(Decision::Ask));
    rules.retain(|scoped| scoped.rule.decision == Decision::Allow);
    assert_eq!(run(&rules, "ls $(x)"), Some(Decision::Allow));
}

#[test]
fn paths_are_globs_from_the_work_folder_on() {
    let scoped = |rule| vec![ScopedRule { scope: Scope::Project, rule }];
    let touch = |rules: &[ScopedRule], path: &str| {
        let paths = [Path::new(path)];
        let subject = Subject {
            tool: &["WriteFile"],
            command: None,
            paths: &paths,
            work_dir: Path::new(WORK),
        };
        decide(rules, &subject).map(|(decision, _)| decision)
    };
    let src = scoped(Rule::path("WriteFile", "./src/**", Decision::Allow));
    assert_eq!(touch(&src, "/home/me/project/src/a/b.rs"), Some(Decision::Allow));
    assert_eq!(touch(&src, "src/a.rs"), Some(Decision::Allow));
    for other in ["src/../Cargo.toml", "/etc/src/a", "xsrc/a", "/home/me/project/srcx"] {
        assert_eq!(touch(&src, other), None, "{other}");
    }
    let secret = scoped(Rule::path("*", "**/.env*", Decision::Deny));
    assert_eq!(touch(&secret, "/elsewhere/.env.local"), Some(Decision::Deny));
    assert_eq!(touch(&secret, ".env"), Some(Decision::Deny));
    let etc = scoped(Rule::path("WriteFile", "/etc/**", Decision::Ask));
    assert_eq!(touch(&etc, "/etc/passwd"), Some(Decision::Ask));
    assert_eq!(touch(&etc, "etc/passwd"), None);
    assert_eq!(touch(&scoped(Rule::tool("Write*", Decision::Allow)), "x"), Some(Decision::Allow));
    assert_eq!(touch(&scoped(Rule::tool("Bash", Decision::Allow)), "x"), None);
}

#[test]
fn several_paths_must_all_be_allowed_and_one_suffices_to_deny() {
    let decide = |decision| {
        let rules =
            [ScopedRule { scope: Scope::User, rule: Rule::path("EditFile", "src/*", decision) }];
        let paths = [Path::new("src/a"), Path::new("b")];
        let tool = ["EditFile"];
        let work_dir = Path::new(WORK);
        let subject = Subject { tool: &tool, command: None, paths: &paths, work_dir };
        super::decide(&rules, &subject).map(|(decision, _)| decision)
    };
    assert_eq!(decide(Decision::Allow), None);
    assert_eq!(decide(Decision::Deny), Some(Decision::Deny));
}

#[test]
fn a_rule_is_checked_and_says_what_it_covers() {
    let check = |rule: Rule| rule.check().err().unwrap_or_default();
    assert_eq!(check(Rule::command("sudo apt", Decision::Deny)), "");
    assert!(check(Rule::command("", Decision::Deny)).contains("not the beginning"));
    assert!(check(Rule::command("a && b", Decision::Deny)).contains("not the beginning"));
    assert!(check(Rule::path("WriteFile", "a[", Decision::Deny)).contains("not a glob"));
    assert!(check(Rule::tool(" ", Decision::Deny)).contains("names no tool"));
    assert_eq!(Rule::tool("LS", Decision::Allow).in_words(), "LS: every call");
}

#[test]
fn a_denied_sudo_is_found() {
    let rules = rules(&[(Decision::Deny, "sudo")]);
    assert_eq!(run(&rules, "ls && sudo ls"), Some(Decision::Deny));
    assert_eq!(run(&rules, "ls"), None);
}

#[test]
fn a_preview_counts_the_commands_a_rule_would_have_covered() {
    let commands = ["cargo test", "git push", "cargo test && ls", "X=$(y) cargo test", "cargo t"];
    let rule = Rule::command("cargo test", Decision::Allow);
    let found = preview(&rule, &commands, Path::new(WORK));
    assert_eq!(found, Preview { matched: vec![0], total: 5 });
    assert_eq!(found.in_words(), "would have matched 1 of the last 5 commands");
    let deny = Rule::command("cargo test", Decision::Deny);
    assert_eq!(preview(&deny, &commands, Path::new(WORK)).matched, [0, 2, 3]);
}

#[test]
fn suggestions_go_from_narrow_to_wide() {
    let words =
        |command| suggest(command).into_iter().filter_map(|rule| rule.command).collect::<Vec<_>>();
    assert_eq!(words("timeout 5 npm run test -- --all"), ["npm run test", "npm run", "npm"]);
    assert_eq!(words("git commit -m 'a b'"), ["git commit -m", "git commit", "git"]);
    assert_eq!(words("rg 'a b' src"), ["rg"]);
    assert!(words("a && b").is_empty() && words("a $(b)").is_empty() && words("").is_empty());
}

proptest! {
    #[test]
    fn nothing_panics(text in any::<String>(), shell in r#"[a-c "'\\$`()<>|&;\n=/#{}!*-]{0,40}"#) {
        for text in [&text, &shell] {
            let script = parse(text);
            prop_assert!(script.parts.iter().all(|part| !part.words.is_empty()));
            let rules = rules(&[(Decision::Deny, text), (Decision::Allow, "a b")]);
            let _ = run(&rules, text);
            let _ = suggest(text);
        }
    }

    /// Whatever is put behind an allowed command with an operator must be allowed too.
    #[test]
    fn nothing_can_be_hung_on_an_allowed_command(
        operator in prop::sample::select(vec![" && ", ";", "|", " || ", "\n", " & ", "$(", "`", " <("]),
        rest in "[a-z]{1,8}"
    ) {
        // A word of the shell's own grammar runs nothing by itself.
        let keywords = ["if", "then", "elif", "else", "fi", "do", "done", "until", "while", "esac"];
        prop_assume!(rest != "ls" && !keywords.contains(&rest.as_str()));
        let rules = rules(&[(Decision::Allow, "ls")]);
        prop_assert_eq!(run(&rules, &format!("ls{operator}{rest}")), None);
        prop_assert_eq!(run(&rules, &format!("ls -l \"x\"{operator}{rest} y)")), None);
    }

    /// What is suggested for a command allows it.
    #[test]
    fn suggestions_allow_their_command(command in "[a-z]{1,5}( [a-z0-9-]{1,5}){0,4}") {
        for rule in suggest(&command) {
            prop_assert_eq!(rule.check(), Ok(()));
            prop_assert_eq!(preview(&rule, &[&command], Path::new(WORK)).matched, [0]);
        }
    }
}
