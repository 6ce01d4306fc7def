//! A D-Mail: the demo model looks around, writes down what it found for its past self, and there
//! answers from the mail without looking again.

use super::Move;
use super::offer::Kind;
use super::plan::file_to_read;
use super::play::not_offered;
use super::report::{plural, report, without_number};
use super::scene::Scene;
use super::words::{Tongue, code, short};

/// The next answer before the mail is sent.
pub(super) fn next(scene: &Scene<'_>) -> Vec<Move> {
    let tongue = scene.tongue;
    if !scene.offer.has(Kind::DMail) {
        let how = tongue.pick(
            " The agent `okabe` has it: start with `--agent okabe`. You can always go back \
             yourself: open the timeline, choose a checkpoint, and leave a D-Mail there.",
            " agent `okabe` 有它：用 `--agent okabe` 启动。你自己随时可以回去：打开时间线，选一个检查点，留下 D-Mail。",
        );
        return vec![Move::Say(not_offered(scene, "SendDMail") + how)];
    }
    let Some(checkpoint) = scene.checkpoint else {
        let said = tongue.pick(
            "I see no checkpoint to go back to in this conversation.",
            "这段对话里没有可以回去的检查点。",
        );
        return vec![Move::Say(said.to_owned())];
    };
    let read = file_to_read(scene).and_then(|path| scene.offer.read(&path));
    match scene.steps.len() {
        0 => {
            let thought = tongue.pick(
                "I look around first. What I find goes into a D-Mail to the moment before I looked.",
                "先看看周围，再把发现写成 D-Mail，寄回查看之前的那一刻。",
            );
            let said = tongue.pick("First I look around.", "先看看周围。");
            let look = scene.offer.list(".").unwrap_or_else(|| mail(scene, checkpoint));
            vec![Move::Think(thought.to_owned()), Move::Say(said.to_owned()), look]
        }
        1 if scene.first(Kind::DMail).is_none() && read.is_some() => {
            let said = tongue.pick("And one file from close by.", "再读一份文件。").to_owned();
            [Move::Say(said)].into_iter().chain(read).collect()
        }
        _ => match scene.first(Kind::DMail) {
            None => {
                let said = match tongue {
                    Tongue::English => {
                        format!(
                            "Now I send what I know to checkpoint {checkpoint}, before all this."
                        )
                    }
                    Tongue::Chinese => format!("现在把结果寄回检查点 {checkpoint}，在这一切之前。"),
                };
                vec![Move::Say(said), mail(scene, checkpoint)]
            }
            // A mail that is sent takes this step out of the context: seeing it means it was not.
            Some(sent) => {
                let said = tongue.pick("The D-Mail was not sent.", "D-Mail 没有寄出。");
                vec![Move::Say(format!("{said} {}", report(sent, tongue)))]
            }
        },
    }
}

/// The mail's text: what was found, so that it need not be looked for again.
fn mail(scene: &Scene<'_>, checkpoint: u64) -> Move {
    let mut found = Vec::new();
    if let Some(output) = scene.output(Kind::List).or_else(|| scene.output(Kind::Glob)) {
        let names: Vec<&str> = output.lines().take(5).map(str::trim).collect();
        found.push(match scene.tongue {
            Tongue::English => {
                let count = plural(output.lines().count(), "line");
                format!("the folder's listing has {count}, beginning: {}", names.join(", "))
            }
            Tongue::Chinese => {
                format!("文件夹列表有 {} 行，开头是：{}", output.lines().count(), names.join("、"))
            }
        });
    }
    if let (Some(path), Some(output)) = (file_to_read(scene), scene.output(Kind::Read)) {
        let lines = output.lines().map(without_number);
        let first = lines.clone().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let (path, first) = (code(&path), short(first, 80));
        let count = lines.count();
        found.push(match scene.tongue {
            Tongue::English => {
                format!("{path} has {} and begins: {first}", plural(count, "line"))
            }
            Tongue::Chinese => format!("{path} 有 {count} 行，开头是：{first}"),
        });
    }
    if found.is_empty() {
        found.push(scene.tongue.pick("nothing could be read here", "这里什么也读不到").to_owned());
    }
    let text = match scene.tongue {
        Tongue::English => format!("I have looked already: {}.", found.join("; ")),
        Tongue::Chinese => format!("我已经看过了：{}。", found.join("；")),
    };
    let unsent = || Move::Say(text.clone());
    scene.offer.dmail(&text, checkpoint).unwrap_or_else(unsent)
}

/// The answer at the place the mail was sent to.
pub(super) fn arrived(scene: &Scene<'_>, mail: &str) -> Vec<Move> {
    let quoted: String = mail.lines().map(|line| format!("> {line}\n")).collect();
    let said = match scene.tongue {
        Tongue::English => format!(
            "A **D-Mail** from my future self is here:\n\n{quoted}\n\
             So I need not look again. The steps that found this are gone from my context, which \
             is why the gauge went down; the timeline still shows them. A real model uses this \
             after reading a large file or trying something that did not work: it keeps the \
             lesson and forgets the rest. Files are not taken back, only the conversation."
        ),
        Tongue::Chinese => format!(
            "收到来自未来的自己的 **D-Mail**：\n\n{quoted}\n\
             所以不用再看一遍。得到这些信息的步骤已经不在我的上下文里，用量也降下来了；时间线上仍能看到它们。\
             真正的模型在读完大文件或走了弯路之后会这样做：留下结论，忘掉过程。文件不会被还原，还原的只是对话。"
        ),
    };
    let thought = scene.tongue.pick("I know this already.", "这些我已经知道了。");
    vec![Move::Think(thought.to_owned()), Move::Say(said)]
}
