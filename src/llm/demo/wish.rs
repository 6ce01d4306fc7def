//! What a person wants of the demo model, read by rule from plain English or Chinese.

/// A request the demo model understands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wish {
    Tour,
    List { folder: String },
    Read { path: String },
    Search { text: String, path: Option<String> },
    Glob { pattern: String },
    Write { path: String, content: Option<String> },
    Edit { path: String, old: String, new: String },
    Run { command: String },
    Plan,
    Think { about: String },
    GoBack,
    Long,
    Unknown,
}

/// Reads a request.
pub(super) fn read(ask: &str) -> Wish {
    let text = without_politeness(ask.trim());
    let line = text.lines().next().unwrap_or_default().trim();
    run(text)
        .or_else(|| edit(line))
        .or_else(|| search(line))
        .or_else(|| write(line, text))
        .or_else(|| list(line))
        .or_else(|| read_file(line))
        .or_else(|| by_word(line))
        .unwrap_or(Wish::Unknown)
}

fn without_politeness(mut text: &str) -> &str {
    const POLITE: [&str; 10] = [
        "please ",
        "can you ",
        "could you ",
        "would you ",
        "now ",
        "then ",
        "请",
        "帮我",
        "麻烦",
        "现在",
    ];
    while let Some(rest) = POLITE.iter().find_map(|word| after(text, &[*word])) {
        text = rest.trim_start_matches([' ', ',', '，']);
    }
    text
}

/// What follows the first of `words` that `text` begins with, in any case.
fn after<'t>(text: &'t str, words: &[&str]) -> Option<&'t str> {
    words.iter().find_map(|word| {
        let head = text.get(..word.len())?;
        head.eq_ignore_ascii_case(word).then(|| &text[word.len()..])
    })
}

/// `text` before and after the last of any of `words` in it.
fn split_last<'t>(text: &'t str, words: &[&str]) -> Option<(&'t str, &'t str)> {
    split(text, words.iter().filter_map(|word| Some((lower(text).rfind(word)?, word.len()))).max())
}

/// `text` before and after the first of any of `words` in it; the longest word of several there.
fn split_first<'t>(text: &'t str, words: &[&str]) -> Option<(&'t str, &'t str)> {
    let found = words.iter().filter_map(|word| Some((lower(text).find(word)?, word.len())));
    split(text, found.min_by_key(|(at, length)| (*at, std::cmp::Reverse(*length))))
}

fn split(text: &str, found: Option<(usize, usize)>) -> Option<(&str, &str)> {
    let (at, length) = found?;
    Some((text[..at].trim(), text[at + length..].trim()))
}

/// In lower case, byte for byte as long.
fn lower(text: &str) -> String {
    text.to_ascii_lowercase()
}

/// Without quotes and without the full stop of a sentence.
fn bare(text: &str) -> &str {
    let text = text.trim().trim_end_matches(['?', '？', '。', '！', '!']).trim();
    const QUOTES: [(char, char); 6] =
        [('`', '`'), ('"', '"'), ('\'', '\''), ('“', '”'), ('「', '」'), ('《', '》')];
    QUOTES
        .iter()
        .find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close))
        .unwrap_or(text)
}

/// A word that can only be a path.
fn as_path(word: &str) -> Option<String> {
    let word = word.trim_end_matches([',', ';', ':', '，', '。']);
    let quoted = word.strip_suffix('.').filter(|word| word.ends_with(['`', '"', '\'', '”']));
    let word = bare(quoted.unwrap_or(word));
    let name = word.trim_end_matches('.');
    let inside = name.trim_start_matches('.').contains('.') || name.starts_with('.');
    let is_path = !word.is_empty()
        && !word.contains(char::is_whitespace)
        && (word == "." || word == ".." || word.contains('/') || (inside && !name.is_empty()));
    is_path.then(|| if word == "." || word == ".." { word } else { name }.to_owned())
}

fn find_path(text: &str) -> Option<String> {
    text.split_whitespace().find_map(as_path)
}

fn run(text: &str) -> Option<Wish> {
    let rest = after(text, &["run ", "execute ", "$ ", "! ", "运行", "执行"])?;
    let rest = after(rest.trim_start(), &["the command ", "command ", "命令"]).unwrap_or(rest);
    let command = rest.trim().trim_start_matches([':', '：']).trim();
    let command = command.strip_prefix('`').and_then(|c| c.strip_suffix('`')).unwrap_or(command);
    (!command.is_empty()).then(|| Wish::Run { command: command.to_owned() })
}

fn edit(line: &str) -> Option<Wish> {
    let (path, old, new) = if let Some(rest) = after(line, &["change ", "replace ", "edit "]) {
        let (change, path) = split_last(rest, &[" in "])?;
        let (old, new) = split_first(change, &[" to ", " with ", " by ", " into "])?;
        (path, old, new)
    } else {
        let rest = after(line, &["把", "将"])?;
        let (path, change) = split_first(rest, &["里面的", "中的", "里的", "里", "中"])?;
        let (old, new) = split_first(change, &["改成", "改为", "替换成", "替换为", "换成"])?;
        (path, old, new)
    };
    let wish =
        Wish::Edit { path: as_path(path)?, old: bare(old).to_owned(), new: bare(new).to_owned() };
    (!bare(old).is_empty()).then_some(wish)
}

fn search(line: &str) -> Option<Wish> {
    let rest = after(
        line,
        &[
            "search for ",
            "search ",
            "grep ",
            "find ",
            "look for ",
            "where is ",
            "搜索",
            "查找",
            "寻找",
            "搜一下",
            "找一下",
            "找",
        ],
    )?
    .trim();
    let rest =
        after(rest, &["files named ", "files called ", "files matching ", "all "]).unwrap_or(rest);
    if rest.split_whitespace().count() == 1 && rest.contains('*') {
        return Some(Wish::Glob { pattern: bare(rest).to_owned() });
    }
    if let Some((text, place)) = split_last(rest, &[" in "]) {
        let everywhere = ["here", "the folder", "this folder", "the project", "all files"];
        let path = as_path(place);
        if path.is_some() || everywhere.contains(&bare(place)) {
            return Some(Wish::Search { text: bare(text).to_owned(), path });
        }
    }
    let text = bare(rest).to_owned();
    (!text.is_empty()).then_some(Wish::Search { text, path: None })
}

fn write(line: &str, whole: &str) -> Option<Wish> {
    if let Some(rest) = after(line, &["把", "将"]) {
        let (content, path) = split_last(rest, &["写入", "写到", "写进", "保存到"])?;
        let content = Some(format!("{}\n", bare(content)));
        return Some(Wish::Write { path: as_path(path)?, content });
    }
    let verbs =
        ["write ", "create ", "make ", "save ", "add ", "写一个", "写", "创建", "新建", "生成"];
    let rest = after(line, &verbs)?.trim();
    let block = code_block(whole);
    let with = [
        "with content ",
        "with the text ",
        "with the content ",
        "with ",
        "containing ",
        "saying ",
        "内容是",
        "内容为",
        "内容",
        "写上",
    ];
    // "FILE with CONTENT" before "CONTENT to FILE": the content may hold a "to".
    if let Some((head, content)) = split_first(rest, &with)
        && let Some(path) = find_path(&head.replace(['，', '：'], " "))
    {
        let content = content.trim_start_matches([':', '：', '，']).trim();
        let said = (!content.is_empty()).then(|| format!("{}\n", bare(content)));
        return Some(Wish::Write { path, content: block.or(said) });
    }
    if let Some((content, path)) = split_last(rest, &[" into ", " to ", "到"])
        && let Some(path) = as_path(path)
    {
        let said = (!content.is_empty()).then(|| format!("{}\n", bare(content)));
        return Some(Wish::Write { path, content: block.or(said) });
    }
    let path = find_path(rest);
    let is_file =
        lower(rest).split_whitespace().any(|word| word == "file") || rest.contains("文件");
    let path = path.or_else(|| is_file.then(|| "demo-notes.md".to_owned()))?;
    Some(Wish::Write { path, content: block })
}

/// The first fenced block of a request.
fn code_block(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("```")?;
    let (_, body) = rest.split_once('\n')?;
    let (body, _) = body.split_once("```")?;
    Some(body.to_owned())
}

fn list(line: &str) -> Option<Wish> {
    let text = lower(line);
    let words: Vec<&str> = text.split_whitespace().map(bare).collect();
    let begins = matches!(words.first(), Some(&("ls" | "dir" | "list")));
    let about_files = words.iter().any(|word| matches!(*word, "files" | "folder" | "directory"));
    let asks = ["what", "what's", "which", "show"].iter().any(|word| words.first() == Some(word));
    let here = words.last() == Some(&"here");
    let chinese = ["列出", "有什么", "有哪些文件", "文件列表", "目录里"];
    let wanted = (begins && !words.contains(&"todos"))
        || (asks && (about_files || here))
        || chinese.iter().any(|word| line.contains(word));
    let folder = || find_path(line).unwrap_or_else(|| named_folder(line));
    wanted.then(|| Wish::List { folder: folder() })
}

/// The folder of `ls src` and `list files in src`.
fn named_folder(line: &str) -> String {
    let named = split_last(line, &[" in "]).map(|(_, name)| name);
    let named = named.or_else(|| after(line, &["ls ", "dir "]));
    let name = named.map(bare).filter(|name| {
        let common = ["here", "it", "this", "files", "-l", "-la", "-a"];
        !name.is_empty() && !name.contains(char::is_whitespace) && !common.contains(name)
    });
    name.unwrap_or(".").to_owned()
}

fn read_file(line: &str) -> Option<Wish> {
    let verbs = [
        "read ",
        "show me ",
        "show ",
        "cat ",
        "open ",
        "view ",
        "print ",
        "display ",
        "look at ",
        "看看",
        "看一下",
        "读取",
        "读一下",
        "读",
        "打开",
        "查看",
        "显示",
    ];
    let rest = after(line, &verbs)?;
    let rest = after(rest.trim_start(), &["the file ", "file ", "文件"]).unwrap_or(rest);
    let path = find_path(rest).or_else(|| {
        let common = ["Makefile", "LICENSE", "README", "Dockerfile"];
        common.iter().find(|name| bare(rest) == **name).map(|name| (*name).to_owned())
    })?;
    Some(Wish::Read { path })
}

/// Requests that a word or two give away.
fn by_word(line: &str) -> Option<Wish> {
    let text = lower(line);
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || ",.!?".contains(c)).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let holds = |list: &[&str]| list.iter().any(|part| text.contains(part));
    if holds(&["go back", "d-mail", "time travel", "回到过去", "回去", "时间旅行", "穿越"])
        || has(&["dmail", "revert"])
    {
        Some(Wish::GoBack)
    } else if has(&["plan", "todo", "todos"]) || holds(&["计划", "规划", "待办"]) {
        Some(Wish::Plan)
    } else if has(&["long", "stream", "streaming"]) || holds(&["长文", "长一点", "流式", "长回答"])
    {
        Some(Wish::Long)
    } else if has(&["think"]) || holds(&["想想", "思考", "想一想"]) {
        let about = split_first(line, &["think about ", "think ", "想一想", "想想", "思考"]);
        Some(Wish::Think { about: about.map_or("", |(_, about)| bare(about)).to_owned() })
    } else if has(&["help", "hello", "hi", "hey", "tour", "demo"])
        || holds(&["what can you", "who are you", "你好", "您好", "帮助", "你能", "你会", "你是谁"])
        || bare(line).is_empty()
    {
        Some(Wish::Tour)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
