//! Agent files as people write them, and the built-in agents.

mod prompts;

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::*;

/// A share folder and a folder for agent files.
struct Place {
    folder: tempfile::TempDir,
    paths: Paths,
}

fn place() -> Place {
    let folder = tempfile::tempdir().expect("folder");
    let paths = Paths::new(folder.path().join("share"));
    Place { folder, paths }
}

impl Place {
    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        fs::write(&path, text).expect("file");
        path
    }

    fn load(&self, choice: &AgentChoice) -> Result<Agent, AgentError> {
        load(choice, &self.paths, &vars())
    }

    fn file(&self, path: &str) -> Result<Agent, AgentError> {
        self.load(&AgentChoice::File(self.folder.path().join(path)))
    }

    fn error(&self, path: &str) -> String {
        let told = self.file(path).expect_err("a wrong agent").to_string();
        told.replace(&format!("{}/", self.folder.path().display()), "")
    }
}

fn vars() -> PromptVars {
    PromptVars {
        now: "2026-11-21T10:00:00+08:00".to_owned(),
        work_dir: "/home/mei/proj".to_owned(),
        work_dir_ls: "└── main.rs".to_owned(),
        agents_md: "<!-- From: /home/mei/proj/AGENTS.md -->\nUse tabs.".to_owned(),
        os: "Linux".to_owned(),
        shell: "bash (`/bin/bash`)".to_owned(),
        user: "mei".to_owned(),
        ..PromptVars::default()
    }
}

fn named(name: &str) -> AgentChoice {
    AgentChoice::Named(name.to_owned())
}

#[test]
fn every_built_in_agent_loads_without_a_warning_and_fills_in_its_prompt() {
    let place = place();
    for name in ["default", "okabe", "security", "security_beta", "ctfer"] {
        let agent = place.load(&named(name)).expect(name);
        assert_eq!(agent.name, name);
        assert_eq!(agent.warnings, Vec::<String>::new());
        assert!(agent.description.is_some_and(|text| !text.contains('\n')));
        for text in ["/home/mei/proj", "└── main.rs", "Use tabs.", "bash (`/bin/bash`)"] {
            assert!(agent.system_prompt.contains(text), "{name} says {text}");
        }
        for mark in ["${", "{%", "{#"] {
            assert!(!agent.system_prompt.contains(mark), "{name} has {mark} left");
        }
        assert!(agent.tools.iter().any(|tool| tool == "ReadFile"));
    }
}

#[test]
fn sections_about_nothing_are_left_out() {
    let place = place();
    let full = place.load(&named("default")).expect("default").system_prompt;
    assert!(full.contains("# The project's instructions") && full.contains("Person: mei"));
    let bare = load(&named("default"), &place.paths, &PromptVars::default()).expect("default");
    for heading in
        ["# The project's instructions", "# Skills", "Person:", "belong to the workspace"]
    {
        assert!(!bare.system_prompt.contains(heading), "{heading}");
    }
}

#[test]
fn only_agents_with_dmail_are_told_about_checkpoints() {
    let place = place();
    for name in ["default", "okabe", "security", "security_beta", "ctfer"] {
        let agent = place.load(&named(name)).expect(name);
        let has_tool = agent.tools.iter().any(|tool| tool == "SendDMail");
        assert_eq!(has_tool, agent.system_prompt.contains("# Checkpoints and D-Mail"), "{name}");
    }
    let default = place.load(&AgentChoice::default()).expect("default");
    assert!(!default.tools.iter().any(|tool| tool == "Think" || tool == "SendDMail"));
    let okabe = place.load(&named("okabe")).expect("okabe");
    let but_dmail: Vec<_> = okabe.tools.iter().filter(|tool| *tool != "SendDMail").collect();
    assert_eq!(but_dmail, default.tools.iter().collect::<Vec<_>>());
}

#[test]
fn security_agents_are_bound_to_authorised_targets() {
    let place = place();
    for name in ["security", "security_beta", "ctfer"] {
        let prompt = place.load(&named(name)).expect(name).system_prompt;
        assert!(prompt.contains("In this session you "), "{name} has its role");
        assert!(prompt.contains("name"), "{name}");
    }
    let beta = place.load(&named("security_beta")).expect("beta").system_prompt;
    for note in ["CWE-89", "CWE-639", "CWE-916", "CWE-787", "CWE-1395"] {
        assert!(beta.contains(note), "the knowledge base has {note}");
    }
}

#[test]
fn the_python_programs_shape_is_read() {
    let place = place();
    place.write("a/system.md", "Review for ${KIMI_USER}. ${ROLE}\n");
    place.write("a/coder.yaml", "extend: default\n");
    place.write(
        "a/agent.yaml",
        "version: 1\n\
         agent:\n  \
           name: reviewer\n  \
           when_to_use: Reviews\n  \
           system_prompt_path: ./system.md\n  \
           system_prompt_args: { ROLE: Be strict. }\n  \
           model: null\n  \
           tools: [\"kimi_cli.tools.shell:Shell\", \"kimi_cli.tools.file:ReadFile\"]\n  \
           allowed_tools: null\n  \
           exclude_tools: [\"kimi_cli.tools.web:SearchWeb\"]\n  \
           subagents:\n    \
             coder: { path: ./coder.yaml, description: Writes code }\n",
    );
    let agent = place.file("a/agent.yaml").expect("agent");
    assert_eq!(agent, place.file("a").expect("its folder"));
    assert_eq!(agent.name, "reviewer");
    assert_eq!(agent.description.as_deref(), Some("Reviews"));
    assert_eq!(agent.system_prompt, "Review for mei. Be strict.");
    assert_eq!(agent.tools, ["kimi_cli.tools.shell:Shell", "kimi_cli.tools.file:ReadFile"]);
    assert_eq!(agent.exclude_tools, ["kimi_cli.tools.web:SearchWeb"]);
    assert_eq!((agent.model, agent.warnings), (None, vec![]));
    assert_eq!(agent.subagents.len(), 1);
    assert_eq!(agent.subagents[0].description, "Writes code");
    assert_eq!(
        agent.subagents[0].source,
        AgentSource::File(place.folder.path().join("a/coder.yaml"))
    );
}

#[test]
fn the_flat_shape_is_read() {
    let place = place();
    place.write("security/system.md", "${CUSTOM_VAR} on ${KIMI_PLATFORM}");
    place.write("default/agent.yaml", "extend: default\n");
    place.write(
        "security/agent.yaml",
        "name: mine\nversion: \"0.1\"\nsystem_prompt: system.md\ntools:\n  - ReadFile\n  - Bash\n\
         mcp: mcp.yaml\nmcp_exclude:\n  - a_tool\nsubagents:\n  coder:\n    path: ../default\n    \
         description: 编码专家\nvars:\n  CUSTOM_VAR: 自定义值\n",
    );
    let agent = place.file("security").expect("agent");
    assert_eq!(agent.system_prompt, "自定义值 on Linux");
    assert_eq!(agent.tools, ["ReadFile", "Bash"]);
    assert_eq!(agent.mcp, Some(place.folder.path().join("security/mcp.yaml")));
    assert_eq!(agent.mcp_exclude, ["a_tool"]);
    assert_eq!(agent.subagents[0].description, "编码专家");
    assert_eq!(agent.warnings, Vec::<String>::new());
}

#[test]
fn a_child_has_the_last_word_and_keeps_the_rest() {
    let place = place();
    place.write("base/system.md", "${A} ${B}");
    place.write(
        "base/agent.yaml",
        "name: base\ndescription: of the base\nsystem_prompt: system.md\ntools: [ReadFile, Bash, Grep]\n\
         exclude_tools: [Grep]\nvars: { A: base, B: base }\nmodel: big\n",
    );
    place.write("mid/agent.yaml", "extend: ../base\nvars: { B: mid }\n");
    place.write(
        "leaf.yaml",
        "extend: mid/agent.yaml\nallowed_tools: [Shell, Grep]\nexclude_tools: []\n",
    );
    let agent = place.file("leaf.yaml").expect("agent");
    assert_eq!((agent.name.as_str(), agent.description), ("leaf", None));
    assert_eq!(agent.system_prompt, "base mid");
    assert_eq!(agent.tools, ["Bash", "Grep"]);
    assert_eq!(agent.exclude_tools, Vec::<String>::new());
    assert_eq!(agent.model.as_deref(), Some("big"));
}

#[test]
fn a_built_in_agent_is_extended_by_its_name() {
    let place = place();
    let text = "extend: default\nname: brief\nvars: { ROLE_ADDITIONAL: Be very brief. }\n";
    place.write("brief.yaml", text);
    let agent = place.file("brief.yaml").expect("agent");
    assert!(agent.system_prompt.contains("\n\nBe very brief.\n\n# How to work"));
    assert_eq!(agent.tools, place.load(&named("default")).expect("default").tools);
}

#[test]
fn a_circle_is_told_with_its_members() {
    let place = place();
    place.write("a.yaml", "name: a\nextend: b.yaml\n");
    place.write("b.yaml", "extend: ./c.yaml\n");
    place.write("c.yaml", "extend: b.yaml\n");
    let error = place.error("a.yaml");
    assert!(error.starts_with("c.yaml:1: extend goes round in a circle: "), "{error}");
    assert!(error.contains("b.yaml -> ") && error.contains("c.yaml -> "), "{error}");
    assert!(!error.contains("a.yaml"), "{error}");
    place.write("self.yaml", "extend: self.yaml\n");
    assert!(place.error("self.yaml").contains("circle"));
}

#[test]
fn a_persons_own_agents_are_found_by_name_and_built_in_ones_first() {
    let place = place();
    place.write("share/agents/mine/agent.yaml", "extend: default\n");
    place.write("share/agents/other.yaml", "extend: mine\nname: Other\n");
    place.write("share/agents/default.yaml", "name: not this one\nextend: okabe\n");
    place.write("share/agents/notes.txt", "no agent");
    assert_eq!(place.load(&named("mine")).expect("mine").name, "mine");
    assert_eq!(place.load(&named("other")).expect("other").name, "Other");
    assert_eq!(place.load(&named("default")).expect("default").name, "default");
    let known = known_names(&place.paths);
    assert_eq!(known, ["default", "okabe", "security", "security_beta", "ctfer", "mine", "other"]);
}

#[test]
fn an_unknown_name_is_told_with_the_known_ones() {
    let place = place();
    place.write("share/agents/mine/agent.yaml", "extend: default\n");
    place.write("outside.yaml", "extend: default\n");
    for name in ["okobe", "", "../outside", "/etc", "."] {
        let error = place.load(&named(name)).expect_err("unknown").to_string();
        let start = format!("unknown agent \"{name}\" (known: default, okabe, security, ");
        assert!(error.starts_with(&start) && error.contains("ctfer, mine)"), "{error}");
        assert!(error.contains("agents/NAME/agent.yaml"), "{error}");
    }
}

#[test]
fn unknown_keys_warn_and_do_not_fail() {
    let place = place();
    place.write(
        "a.yaml",
        "extend: default\nexclude-tools: [Bash]\ncolour: red\nsubagents:\n  \
         one: { path: okabe, colour: red }\n  two: ./nowhere.yaml\n",
    );
    let warnings: Vec<_> = place.file("a.yaml").expect("agent").warnings;
    let told = |line: &str| warnings.iter().filter(|text| text.contains(line)).count();
    assert_eq!(warnings.len(), 4, "{warnings:?}");
    assert_eq!(
        told("a.yaml:2: unknown key \"exclude-tools\" is ignored. Did you mean exclude_tools?"),
        1
    );
    assert_eq!(told("a.yaml:3: unknown key \"colour\" is ignored. Known keys: "), 1);
    assert_eq!(told("a.yaml:5: unknown key \"colour\" of subagent one"), 1);
    assert_eq!(told("a.yaml:6: subagent two is ignored: there is no agent at ./nowhere.yaml"), 1);

    place.write("b.yaml", "version: 1\ntools: [Bash]\nagent:\n  extend: default\n");
    let warnings = place.file("b.yaml").expect("agent").warnings;
    assert!(warnings[0].contains("b.yaml:2: \"tools\" stands beside \"agent\""), "{warnings:?}");
}

#[test]
fn what_is_wrong_is_told_with_file_line_key_and_remedy() {
    let place = place();
    place.write("sub/file", "");
    let cases = [
        ("- a\n- b\n", "w.yaml:1: an agent file is a map of keys, this is a list."),
        ("", "w.yaml:1: an agent file is a map of keys, this is nothing."),
        ("version: 2\n", "w.yaml:1: version \"2\" is not known. Write version: 1"),
        (
            "extend: default\ntools: Bash\n",
            "w.yaml:2: tools must be a list of names, it is text. Write for example tools: [ReadFile, Bash]",
        ),
        (
            "extend: default\ntools:\n  - Bash\n  - [a]\n",
            "w.yaml:4: tools holds a list, where a name should be",
        ),
        (
            "extend: default\n\nvars: [a]\n",
            "w.yaml:3: vars must be a map of variables, it is a list.",
        ),
        ("extend: default\nvars:\n  A-B: x\n", "w.yaml:3: \"A-B\" cannot be a variable"),
        (
            "extend: default\nvars:\n  A: { b: c }\n",
            "w.yaml:3: A must be text, it is a map of keys",
        ),
        (
            "extend: nobody\n",
            "w.yaml:1: extend: there is no agent \"nobody\". Write a built-in one (default, okabe, ",
        ),
        ("name: [x]\n", "w.yaml:1: name must be text, it is a list"),
        ("tools: []\n", "w.yaml:1: the agent has no system prompt. Write system_prompt_path"),
        ("system_prompt: |\n  one\n  two\n", "w.yaml:1: the agent has no tools. Write tools"),
        ("extend: default\nsystem_prompt: \"\"\n", "w.yaml:2: system_prompt is empty."),
        (
            "system_prompt: a\nsystem_prompt_path: b\n",
            "w.yaml:2: write either system_prompt or system_prompt_path",
        ),
        (
            "extend: default\nsystem_prompt: no.md\n",
            "w.yaml:2: cannot read the system prompt no.md: there is no such file",
        ),
        (
            "extend: default\nsystem_prompt_path: sub/.\n",
            "w.yaml:2: cannot read the system prompt sub: it is not a file",
        ),
        (
            "tools: []\nsystem_prompt: |\n  one\n  ${X}\n",
            "w.yaml:2: line 2 of system_prompt: the variable X is not defined.",
        ),
        ("extend: default\nsubagents: [a]\n", "w.yaml:2: subagents must be a map, it is a list."),
        (
            "extend: default\nsubagents:\n  a: { description: x }\n",
            "w.yaml:3: subagent a has no path.",
        ),
        ("agent: default\n", "w.yaml:1: agent: must be a map of keys, it is text"),
        ("name: a\n  b: c\n", "w.yaml:2: this is not YAML: "),
        ("name: a\nname: b\n", "w.yaml:2: this is not YAML: "),
    ];
    for (text, wanted) in cases {
        place.write("w.yaml", text);
        let error = place.error("w.yaml");
        assert!(error.starts_with(wanted), "{text:?}\nsays   {error}\nwanted {wanted}");
    }
}

#[test]
fn files_that_are_no_agent_files_are_told() {
    let place = place();
    assert!(
        place
            .error("none.yaml")
            .contains("none.yaml: cannot read the agent: there is no such file")
    );
    fs::create_dir(place.folder.path().join("empty")).expect("folder");
    assert!(place.error("empty").contains("no folder with an agent.yaml"));
    fs::write(place.folder.path().join("bytes.yaml"), [0xff, 0xfe, 0x00]).expect("file");
    assert!(place.error("bytes.yaml").contains("it is not UTF-8 text"));
    fs::write(place.folder.path().join("big.yaml"), vec![b'#'; 1024 * 1024 + 1]).expect("file");
    assert!(place.error("big.yaml").contains("it is longer than 1024 KiB"));
}

#[test]
fn a_byte_order_mark_and_carriage_returns_do_no_harm() {
    let place = place();
    place.write(
        "w.yaml",
        "\u{feff}extend: default\r\nname: windows\r\nexclude_tools:\r\n  - Bash\r\n",
    );
    let agent = place.file("w.yaml").expect("agent");
    assert_eq!(
        (agent.name.as_str(), agent.exclude_tools.as_slice()),
        ("windows", &["Bash".to_owned()][..])
    );
}

#[test]
fn what_the_page_for_people_shows_is_true() {
    let page = include_str!("../../docs/agents.md");
    let place = place();
    place.write("system.md", "You review.");
    let samples: Vec<_> =
        page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(samples.len(), 3);
    for sample in samples {
        place.write("agent.yaml", sample);
        let agent = place.file("agent.yaml").expect(sample);
        assert_eq!(agent.warnings, Vec::<String>::new(), "{sample}");
    }
    for (name, _) in vars().entries() {
        assert!(page.contains(&format!("`{name}`")), "{name} is explained");
    }
    for key in spec::KEYS.iter().filter(|key| **key != "version") {
        assert!(page.contains(&format!("`{key}`")), "{key} is explained");
    }
    for name in known_names(&place.paths) {
        assert!(page.contains(&format!("| `{name}` |")), "{name} is listed");
    }
}

#[test]
fn gathering_for_a_prompt_is_quick() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shortest = (0..5)
        .map(|_| {
            let start = std::time::Instant::now();
            std::hint::black_box(PromptVars::gather(here, &[]));
            start.elapsed()
        })
        .min()
        .expect("five runs");
    assert!(shortest.as_millis() < 50, "{shortest:?}");
}

proptest! {
    #[test]
    fn no_agent_file_makes_it_panic(
        key in prop::sample::select(vec![
            "version", "agent", "extend", "name", "tools", "allowed_tools", "vars", "subagents",
            "system_prompt", "mcp", "model", "typo",
        ]),
        value in "[ \\n\\[\\]{}:,&*$%a-c0-9\"'|>-]{0,60}",
    ) {
        let place = place();
        place.write("w.yaml", &format!("extend: default\n{key}: {value}\n"));
        let _ = place.file("w.yaml");
    }
}
