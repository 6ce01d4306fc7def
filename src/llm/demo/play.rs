//! Decides what the demo model does next: from a request and what was done about it, to moves.

use super::offer::{Kind, Offer};
use super::report::{rejected, report};
use super::scene::{Outcome, Scene};
use super::wish::{self, Wish};
use super::words::{Tongue, code, short};
use super::{Move, beside, plan, travel};

const TOUR: &str = include_str!("tour.md");
const LONG: &str = include_str!("long.md");

/// The next answer.
pub(super) fn moves(scene: &Scene<'_>) -> Vec<Move> {
    if let Some(mail) = &scene.mail {
        return travel::arrived(scene, mail);
    }
    if let Some(answer) = after_rejection(scene) {
        return answer;
    }
    if let Some(moves) = beside::next(scene) {
        return moves;
    }
    let mut moves = match wish::read(&scene.ask) {
        Wish::Tour => tour(scene),
        Wish::Long => long(scene),
        Wish::Plan => plan::next(scene),
        Wish::GoBack => travel::next(scene),
        Wish::Think { about } => think(scene, &about),
        Wish::Unknown => unknown(scene),
        wish => with_tool(scene, &wish),
    };
    if let (Some(name), true) = (scene.rejected_before, scene.steps.is_empty()) {
        let note = rejected(&code(name), "", scene.tongue);
        moves.insert(0, Move::Say(format!("{note}\n\n")));
    }
    if scene.asked_by_mail && scene.steps.is_empty() {
        let note = scene.tongue.pick(
            "Your D-Mail arrived; what came after this point is gone from my context.\n\n",
            "收到了你的 D-Mail；这一点之后的内容已不在我的上下文里。\n\n",
        );
        moves.insert(0, Move::Say(note.to_owned()));
    }
    moves
}

/// A no with advice ends the request; one without ends the turn, and is spoken of in the next.
fn after_rejection(scene: &Scene<'_>) -> Option<Vec<Move>> {
    scene.steps.last()?.iter().find_map(|done| match &done.outcome {
        Outcome::Rejected { feedback } => {
            let name = code(&done.call.function.name);
            Some(vec![Move::Say(rejected(&name, feedback, scene.tongue))])
        }
        _ => None,
    })
}

/// Requests of one call: make it, then tell what came back.
fn with_tool(scene: &Scene<'_>, wish: &Wish) -> Vec<Move> {
    let tongue = scene.tongue;
    if let Some(step) = scene.steps.last() {
        let said: Vec<String> = step.iter().map(|done| report(done, tongue)).collect();
        return vec![Move::Say(said.join("\n\n"))];
    }
    let (tool, call) = call_for(scene.offer, wish);
    match call {
        Some(call) => {
            let thought = tongue.pick("One call of a tool does this.", "调用一次工具就够了。");
            vec![Move::Think(thought.to_owned()), Move::Say(intent(tongue, wish)), call]
        }
        None => vec![Move::Say(not_offered(scene, tool))],
    }
}

/// The call that grants a wish, if there is a tool for it, and the name of the tool it takes.
fn call_for(offer: Offer<'_>, wish: &Wish) -> (&'static str, Option<Move>) {
    match wish {
        Wish::List { folder } => ("LS", offer.list(folder)),
        Wish::Read { path } => ("ReadFile", offer.read(path)),
        Wish::Search { text, path } => ("Grep", offer.search(text, path.as_deref())),
        Wish::Glob { pattern } => ("Glob", offer.glob(pattern)),
        Wish::Write { path, content } => {
            ("WriteFile", offer.write(path, content.as_deref().unwrap_or(sample(path))))
        }
        Wish::Edit { path, old, new } => ("EditFile", offer.edit(path, old, new)),
        Wish::Run { command } => ("Bash", offer.run(command)),
        _ => ("-", None),
    }
}

/// What is said before the call.
fn intent(tongue: Tongue, wish: &Wish) -> String {
    let (english, chinese, subject) = match wish {
        Wish::List { folder } if folder == "." => {
            ("I will list this folder.", "我来列出这个文件夹。", folder)
        }
        Wish::List { folder } => ("I will list {}.", "我来列出 {}。", folder),
        Wish::Read { path } => ("I will read {}.", "我来读 {}。", path),
        Wish::Search { text, .. } => ("I will search for {}.", "我来搜索 {}。", text),
        Wish::Glob { pattern } => {
            ("I will look for files like {}.", "我来找形如 {} 的文件。", pattern)
        }
        Wish::Write { path, .. } => {
            ("I will write {}, with your approval.", "我来写 {}，需要你的批准。", path)
        }
        Wish::Edit { path, .. } => (
            "I will change {}, with your approval of the difference.",
            "我来修改 {}，改动需要你的批准。",
            path,
        ),
        Wish::Run { command } => {
            ("I will run {}, with your approval.", "我来执行 {}，需要你的批准。", command)
        }
        _ => return String::new(),
    };
    tongue.pick(english, chinese).replacen("{}", &code(&short(subject, 80)), 1)
}

/// This agent has no such tool.
pub(super) fn not_offered(scene: &Scene<'_>, tool: &str) -> String {
    let names = match scene.offer.names() {
        names if names.is_empty() => "-".to_owned(),
        names => names,
    };
    match scene.tongue {
        Tongue::English => {
            format!(
                "That needs the tool {}, which this agent does not offer. It has: {names}.",
                code(tool)
            )
        }
        Tongue::Chinese => {
            format!("这需要工具 {}，但当前 agent 没有提供。它有：{names}。", code(tool))
        }
    }
}

/// Something small and real to put into a new file.
fn sample(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "rs" => "fn main() {\n    println!(\"Hello from the demo model\");\n}\n",
        "py" => "print(\"Hello from the demo model\")\n",
        "sh" => "#!/bin/sh\necho \"Hello from the demo model\"\n",
        "json" => "{\n  \"from\": \"the demo model\"\n}\n",
        "toml" => "from = \"the demo model\"\n",
        "md" => "# Notes\n\nWritten by the demo model of kimi-tui.\n\n- one\n- two\n",
        _ => "Hello from the demo model\n",
    }
}

fn tour(scene: &Scene<'_>) -> Vec<Move> {
    let thought = scene.tongue.pick("A greeting, or a call for help.", "打招呼，或者需要帮助。");
    vec![Move::Think(thought.to_owned()), Move::Say(TOUR.to_owned())]
}

fn long(scene: &Scene<'_>) -> Vec<Move> {
    let thought = scene.tongue.pick("Something long, then.", "那就写长一点。");
    vec![Move::Think(thought.to_owned()), Move::Say(LONG.to_owned())]
}

fn think(scene: &Scene<'_>, about: &str) -> Vec<Move> {
    let tongue = scene.tongue;
    let about = if about.is_empty() { tongue.pick("this demo", "这个演示") } else { about };
    let thought = match tongue {
        Tongue::English => format!(
            "The person wants me to think about {about}. I am a set of rules, so what I can do is \
             show how thinking looks: it streams like this, it folds away, and it is not part of \
             the answer."
        ),
        Tongue::Chinese => format!(
            "用户想让我思考：{about}。我只是一组规则，能做的是展示思考的样子：它像这样流式出现，\
             可以折叠，也不是回答的一部分。"
        ),
    };
    let call = scene.offer.think(&thought).filter(|_| scene.steps.is_empty());
    if let Some(call) = call {
        return vec![call];
    }
    let said = match tongue {
        Tongue::English => format!(
            "I thought about {}, as far as rules can. The thought itself is above, folded away.",
            code(about)
        ),
        Tongue::Chinese => {
            format!("关于 {}，我按规则想过了。思考的内容在上面，已经折叠。", code(about))
        }
    };
    let mut moves = vec![Move::Say(said)];
    if scene.first(Kind::Think).is_none() {
        moves.insert(0, Move::Think(thought));
    }
    moves
}

fn unknown(scene: &Scene<'_>) -> Vec<Move> {
    let english = "I am the **demo model**, not a real AI: I go by a few rules and did not \
         understand that. Try one of these:\n\n\
         - `list files`, `read README.md`, `search for main`\n\
         - `create hello.py`, `change hello to goodbye in hello.py`, `run echo hi`\n\
         - `plan something`, `go back`, `long`, `help`\n\n\
         To talk to a real model, type `/login`; `help` shows other ways.";
    let chinese = "我是**演示模型**，不是真正的 AI：我只按几条规则工作，没有听懂这句话。可以试试：\n\n\
         - `列出文件`、`读 README.md`、`搜索 main`\n\
         - `新建 hello.py`、`把 hello.py 里的 hello 改成 你好`、`执行 echo hi`\n\
         - `做个计划`、`回到过去`、`流式`、`帮助`\n\n\
         要使用真正的模型，请输入 `/login`；`帮助` 里还有别的办法。";
    let mut said = scene.tongue.pick(english, chinese).to_owned();
    if scene.has_pictures {
        said.push_str(
            scene.tongue.pick("\n\nI cannot see pictures either.", "\n\n我也看不了图片。"),
        );
    }
    vec![Move::Say(said)]
}
