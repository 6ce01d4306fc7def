//! Which skills are found where, and what is said of them.

use std::fs;

use super::*;

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { folder: tempfile::tempdir().expect("folder") };
        bench.file("project/.git/HEAD", "");
        bench.file("project/src/main.rs", "");
        bench
    }

    fn file(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().expect("parent")).expect("folders");
        fs::write(path, text).expect("file");
    }

    fn places(&self) -> Places {
        let root = self.folder.path().canonicalize().expect("root");
        Places {
            work_dir: root.join("project/src"),
            home: Some(root.join("home")),
            share: root.join("share"),
            extra: vec!["~/more".into(), "vendor/skills".into()],
            merge_all: true,
            instead: Vec::new(),
        }
    }

    fn own(&self, places: &Places) -> Vec<String> {
        Skills::find(places)
            .iter()
            .filter(|skill| skill.scope != Scope::BuiltIn)
            .map(|skill| format!("{:?} {} ({})", skill.scope, skill.name, skill.description))
            .collect()
    }
}

fn skill(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\nDo {name}.\n")
}

#[test]
fn scopes_come_in_order_and_the_first_of_a_name_counts() {
    let bench = Bench::new();
    bench.file("project/.kimi/skills/one/SKILL.md", &skill("one", "project"));
    bench.file("project/.claude/skills/two.md", "Flat file.\n");
    bench.file("project/.agents/skills/three/SKILL.md", &skill("Three", "agents"));
    bench.file("home/.codex/skills/one/SKILL.md", &skill("ONE", "shadowed"));
    bench.file("home/.codex/skills/four/SKILL.md", &skill("four", "user"));
    bench.file("share/skills/five/SKILL.md", &skill("five", "share"));
    bench.file("home/.agents/skills/six/SKILL.md", &skill("six", "agents of home"));
    bench.file("home/more/seven/SKILL.md", &skill("seven", "extra"));
    bench.file("project/vendor/skills/eight/SKILL.md", &skill("my skill!", "odd name"));
    bench.file("project/.kimi/skills/notes.txt", "no skill");
    let mut places = bench.places();
    let all = bench.own(&places);
    assert_eq!(
        all,
        [
            "Project one (project)",
            "Project two (Flat file.)",
            "Project Three (agents)",
            "User five (share)",
            "User four (user)",
            "User six (agents of home)",
            "Extra seven (extra)",
            "Extra my-skill (odd name)",
        ]
    );
    places.merge_all = false;
    let first = bench.own(&places);
    assert!(!first.iter().any(|line| line.contains("two") || line.contains("four")), "{first:?}");
}

#[test]
fn folders_given_instead_take_the_place_of_the_project_and_the_person() {
    let bench = Bench::new();
    bench.file("project/.kimi/skills/one/SKILL.md", &skill("one", "project"));
    bench.file("share/skills/two/SKILL.md", &skill("two", "share"));
    bench.file("home/more/three/SKILL.md", &skill("three", "extra"));
    bench.file("given/four/SKILL.md", &skill("four", "given"));
    let mut places = bench.places();
    places.instead = vec![bench.folder.path().join("given")];
    assert_eq!(bench.own(&places), ["User four (given)", "Extra three (extra)"]);
}

#[test]
fn commands_and_prompt_name_what_there_is() {
    let bench = Bench::new();
    bench.file("project/.kimi/skills/notes/SKILL.md", &skill("notes", "writes notes"));
    bench.file(
        "project/.kimi/skills/loop/SKILL.md",
        "---\nname: loop\ntype: flow\n---\n```mermaid\nflowchart TD\nA[BEGIN] --> B[END]\n```\n",
    );
    let skills = Skills::find(&bench.places());
    let names: Vec<String> = skills.commands().into_iter().map(|command| command.name).collect();
    assert_eq!(names[..2], ["flow:loop", "skill:notes"]);
    assert!(names.contains(&"skill:write-a-skill".to_owned()), "{names:?}");
    let text = skills.prompt_text();
    assert!(text.starts_with("### Project\n- notes\n  - Path: "), "{text}");
    assert!(text.contains("### Built-in") && !text.contains("loop"), "{text}");
    Skills::write_built_in(&bench.places().share);
    for skill in skills.iter().filter(|skill| skill.scope == Scope::BuiltIn) {
        let path = skill.path.as_ref().expect("written");
        assert!(fs::read_to_string(path).expect("file").contains(&skill.name));
    }
    let (kind, found) = skills.by_command("skill:NOTES").expect("found");
    assert_eq!(kind, Kind::Standard);
    let prompt = found.prompt("about the parser");
    assert!(prompt.starts_with("Do notes."), "{prompt}");
    assert!(prompt.ends_with("User request:\nabout the parser"), "{prompt}");
    assert!(skills.by_command("flow:loop").is_some_and(|(_, skill)| skill.flow().is_ok()));
    for none in ["notes", "flow:notes", "skill:nope", "x:notes"] {
        assert!(skills.by_command(none).is_none(), "{none}");
    }
}

#[test]
fn what_is_wrong_is_told_and_costs_only_itself() {
    let bench = Bench::new();
    bench.file("project/.kimi/skills/a/SKILL.md", &"x".repeat(300 * 1024));
    bench.file("project/.kimi/skills/b/SKILL.md", "---\nname: [\n---\nDo b.\n");
    bench.file("project/.kimi/skills/---/SKILL.md", "nameless");
    let skills = Skills::find(&bench.places());
    assert_eq!(skills.warnings.len(), 3, "{:?}", skills.warnings);
    assert!(skills.iter().any(|skill| skill.name == "b" && skill.description == "Do b."));
    assert!(skills.by_command("skill:write-a-hook").is_some());
}
