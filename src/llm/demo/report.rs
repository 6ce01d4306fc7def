//! What the demo model says about what came back: counts, first lines, or what went wrong.

use serde_json::Value;

use super::offer::Kind;
use super::scene::{Done, Outcome};
use super::words::{Tongue, code, fenced, short};

/// Lines of output that are repeated.
const SHOWN: usize = 10;

/// A few true sentences about a call.
pub(super) fn report(done: &Done<'_>, tongue: Tongue) -> String {
    let name = code(&done.call.function.name);
    match &done.outcome {
        Outcome::Rejected { feedback } => rejected(&name, feedback, tongue),
        Outcome::Failed { reason, output } => {
            let said = match tongue {
                Tongue::English => format!("{name} did not work: {}", short(reason, 300)),
                Tongue::Chinese => format!("{name} 没有成功：{}", short(reason, 300)),
            };
            with_lines(said, "", output, tongue)
        }
        Outcome::Worked { note, output } => {
            let subject = subject(done).unwrap_or_default();
            match Kind::of(&done.call.function.name) {
                Some(Kind::Read) => read(&subject, output, tongue),
                Some(Kind::List | Kind::Glob) => listed(note, output, tongue),
                Some(Kind::Search) => found(&subject, output, tongue),
                Some(Kind::Write | Kind::Edit) => {
                    format!("{} {}", tongue.pick("Done.", "完成。"), short(note, 300))
                }
                Some(Kind::Run) => ran(&subject, note, output, tongue),
                _ if note.trim().is_empty() => match tongue {
                    Tongue::English => format!("{name} is done; what came of it stands above."),
                    Tongue::Chinese => format!("{name} 已完成，结果见上。"),
                },
                _ => format!("{name}: {}", short(note, 300)),
            }
        }
    }
}

/// An answer to a no.
pub(super) fn rejected(name: &str, feedback: &str, tongue: Tongue) -> String {
    match (tongue, feedback) {
        (Tongue::English, "") => format!("You rejected {name}, so I did not do it."),
        (Tongue::Chinese, "") => format!("你拒绝了 {name}，所以我没有执行。"),
        (Tongue::English, feedback) => format!(
            "You rejected {name} and told me: \u{201c}{feedback}\u{201d}. I did not do it. A real \
             model would now try it your way; I am only a demo, so tell me the whole request again."
        ),
        (Tongue::Chinese, feedback) => format!(
            "你拒绝了 {name}，并告诉我：“{feedback}”。我没有执行。真正的模型会按你的意见再试；\
             我只是演示模型，请把完整的请求再说一遍。"
        ),
    }
}

/// What a call was about: the argument a person would name it by.
fn subject(done: &Done<'_>) -> Option<String> {
    let arguments: Value = serde_json::from_str(done.call.arguments()).ok()?;
    let text = ["path", "pattern", "command"].iter().find_map(|key| arguments[*key].as_str())?;
    Some(text.to_owned())
}

fn read(path: &str, output: &str, tongue: Tongue) -> String {
    let lines: Vec<&str> = output.lines().map(without_number).collect();
    let count = lines.len();
    let said = match tongue {
        Tongue::English => format!("I read {}: {}.", code(path), plural(count, "line")),
        Tongue::Chinese => format!("我读了 {}，共 {count} 行。", code(path)),
    };
    let language = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    with_lines(said, language, &lines.join("\n"), tongue)
}

/// A line of a file as `ReadFile` gives it, without its number.
pub(super) fn without_number(line: &str) -> &str {
    match line.split_once('\t') {
        Some((number, rest)) if number.trim().bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => line,
    }
}

fn listed(note: &str, output: &str, tongue: Tongue) -> String {
    let count = lines(output);
    let said = match tongue {
        _ if count == 0 => format!("{} {note}", tongue.pick("Nothing is there.", "什么也没有。")),
        Tongue::English => format!("That gave {}.", plural(count, "line")),
        Tongue::Chinese => format!("一共 {count} 行。"),
    };
    with_lines(said, "", output, tongue)
}

fn found(pattern: &str, output: &str, tongue: Tongue) -> String {
    let count = match output.trim() {
        "No matches found" => 0,
        output => lines(output),
    };
    let pattern = code(pattern);
    let said = match tongue {
        Tongue::English if count == 0 => format!("No line matches {pattern}."),
        Tongue::English => format!("The search for {pattern} gave {}.", plural(count, "line")),
        Tongue::Chinese if count == 0 => format!("没有找到 {pattern}。"),
        Tongue::Chinese => format!("搜索 {pattern} 得到 {count} 行。"),
    };
    if count == 0 { said } else { with_lines(said, "", output, tongue) }
}

fn ran(command: &str, note: &str, output: &str, tongue: Tongue) -> String {
    let count = lines(output);
    let said = match tongue {
        Tongue::English => {
            format!("{} printed {}. {note}", code(&short(command, 80)), plural(count, "line"))
        }
        Tongue::Chinese => format!("{} 输出了 {count} 行。{note}", code(&short(command, 80))),
    };
    with_lines(said, "", output, tongue)
}

/// `said`, and the first lines of `output` as code.
fn with_lines(said: String, language: &str, output: &str, tongue: Tongue) -> String {
    let count = lines(output);
    if count == 0 {
        return said;
    }
    let first: Vec<String> = output.lines().take(SHOWN).map(|line| cut(line, 160)).collect();
    let block = fenced(language, &first.join("\n"));
    let rest = count.saturating_sub(SHOWN);
    let more = match tongue {
        _ if rest == 0 => String::new(),
        Tongue::English => format!("\n\n… and {} more.", plural(rest, "line")),
        Tongue::Chinese => format!("\n\n……还有 {rest} 行。"),
    };
    format!("{said}\n\n{block}{more}")
}

fn cut(line: &str, limit: usize) -> String {
    if line.chars().count() <= limit {
        return line.to_owned();
    }
    line.chars().take(limit).chain(['…']).collect()
}

fn lines(output: &str) -> usize {
    if output.trim().is_empty() { 0 } else { output.lines().count() }
}

/// `1 line`, `2 lines`.
pub(super) fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
