use super::*;
use proptest::prelude::*;

fn folder(name: &str) -> Wish {
    Wish::List { folder: name.into() }
}

fn search_for(text: &str, path: Option<&str>) -> Wish {
    Wish::Search { text: text.into(), path: path.map(str::to_owned) }
}

fn file(path: &str, content: Option<&str>) -> Wish {
    Wish::Write { path: path.into(), content: content.map(str::to_owned) }
}

fn change(path: &str, old: &str, new: &str) -> Wish {
    Wish::Edit { path: path.into(), old: old.into(), new: new.into() }
}

fn command(command: &str) -> Wish {
    Wish::Run { command: command.into() }
}

fn check(cases: &[(&str, Wish)]) {
    for (ask, wish) in cases {
        assert_eq!(&read(ask), wish, "{ask}");
    }
}

#[test]
fn listing() {
    check(&[
        ("list files", folder(".")),
        ("ls", folder(".")),
        ("Ls src/", folder("src/")),
        ("ls src", folder("src")),
        ("list the files in src", folder("src")),
        ("What is here?", folder(".")),
        ("what's in this folder?", folder(".")),
        ("Please show me the files", folder(".")),
        ("列出文件", folder(".")),
        ("这里有什么？", folder(".")),
    ]);
}

#[test]
fn reading() {
    let file = |path: &str| Wish::Read { path: path.into() };
    check(&[
        ("read README.md", file("README.md")),
        ("Can you show me the file src/main.rs?", file("src/main.rs")),
        ("cat `Cargo.toml`.", file("Cargo.toml")),
        ("read plan.md", file("plan.md")),
        ("open Makefile", file("Makefile")),
        ("read .gitignore", file(".gitignore")),
        ("请看看 README.md", file("README.md")),
        ("读取文件 docs/说明.md", file("docs/说明.md")),
    ]);
}

#[test]
fn searching() {
    check(&[
        ("search for TODO", search_for("TODO", None)),
        ("grep \"fn main\" in src/", search_for("fn main", Some("src/"))),
        ("find hello in here", search_for("hello", None)),
        ("find life in general", search_for("life in general", None)),
        ("find *.rs", Wish::Glob { pattern: "*.rs".into() }),
        ("搜索 终端", search_for("终端", None)),
    ]);
}

#[test]
fn writing() {
    check(&[
        ("write hello to notes.md", file("notes.md", Some("hello\n"))),
        ("create a.txt with content go to bed", file("a.txt", Some("go to bed\n"))),
        ("create a file called b.txt with \"hi there\"", file("b.txt", Some("hi there\n"))),
        ("create hello.py", file("hello.py", None)),
        ("create a file", file("demo-notes.md", None)),
        ("write x.rs:\n```rust\nfn main() {}\n```", file("x.rs", Some("fn main() {}\n"))),
        ("写一个 hello.txt 内容是 你好", file("hello.txt", Some("你好\n"))),
        ("把 你好 写入 a.txt", file("a.txt", Some("你好\n"))),
        ("新建 b.md", file("b.md", None)),
    ]);
}

#[test]
fn editing() {
    check(&[
        ("change hello to goodbye in notes.md", change("notes.md", "hello", "goodbye")),
        ("replace 'in a' with \"in b\" in src/a.rs.", change("src/a.rs", "in a", "in b")),
        ("把 notes.md 里的 你好 改成 再见", change("notes.md", "你好", "再见")),
    ]);
}

#[test]
fn running() {
    check(&[
        ("run cargo test --lib", command("cargo test --lib")),
        ("Run the command `echo hi | wc`", command("echo hi | wc")),
        ("$ ls -la", command("ls -la")),
        ("执行 git status", command("git status")),
        ("run cat <<E\nhi\nE", command("cat <<E\nhi\nE")),
    ]);
}

#[test]
fn what_a_word_gives_away() {
    check(&[
        ("plan something", Wish::Plan),
        ("make a todo list", Wish::Plan),
        ("做个计划", Wish::Plan),
        ("go back", Wish::GoBack),
        ("send a D-Mail", Wish::GoBack),
        ("回到过去", Wish::GoBack),
        ("write a long answer", Wish::Long),
        ("stream", Wish::Long),
        ("think about time", Wish::Think { about: "time".into() }),
        ("hello", Wish::Tour),
        ("Hi!", Wish::Tour),
        ("你好", Wish::Tour),
        ("", Wish::Tour),
        ("prove the Riemann hypothesis", Wish::Unknown),
        ("run ", Wish::Unknown),
        ("change the world", Wish::Unknown),
    ]);
}

proptest! {
    #[test]
    fn nothing_makes_it_stumble(ask in "((run|change|write|把|to|in|里的|改成|with|内容|find|ls|think|`|\"|a.md|é|终| |\n)){0,9}") {
        let _ = read(&ask);
    }

    #[test]
    fn nothing_at_all_makes_it_stumble(ask in any::<String>()) {
        let _ = read(&ask);
    }
}
