//! syntect, and what its scopes mean to us. Nothing else names syntect.

use std::sync::OnceLock;

use ratatui::style::Style;
use syntect::parsing::{ParseState, Scope, ScopeStack, ScopeStackOp, SyntaxReference, SyntaxSet};

use crate::ui::theme::Theme;

/// Longer lines are not coloured: they are data, and expressions get slow on them.
const MAX_LINE: usize = 4000;

/// What a piece of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    Plain,
    Keyword,
    String,
    Comment,
    Number,
    Function,
    Type,
    Variable,
    Punctuation,
    Operator,
    Inserted,
    Deleted,
}

impl Role {
    pub(crate) fn style(self, theme: &Theme) -> Style {
        let own = match self {
            Self::Plain => return theme.code,
            Self::Keyword => theme.syntax.keyword,
            Self::String => theme.syntax.string,
            Self::Comment => theme.syntax.comment,
            Self::Number => theme.syntax.number,
            Self::Function => theme.syntax.function,
            Self::Type => theme.syntax.type_name,
            Self::Variable => theme.syntax.variable,
            Self::Punctuation => theme.syntax.punctuation,
            Self::Operator => theme.syntax.operator,
            Self::Inserted => theme.success,
            Self::Deleted => theme.danger,
        };
        theme.code.patch(own)
    }
}

/// A line of code as runs of one role; lengths in bytes.
pub(crate) type Runs = Vec<(Role, usize)>;

static SYNTAXES: OnceLock<SyntaxSet> = OnceLock::new();

/// Loads the syntaxes; takes some milliseconds the first time.
fn syntaxes() -> &'static SyntaxSet {
    SYNTAXES.get_or_init(two_face::syntax::extra_newlines)
}

/// Are the syntaxes there, so that drawing need not wait for them?
pub(crate) fn loaded() -> bool {
    SYNTAXES.get().is_some()
}

/// The first word of what stands behind the three backticks, in lower case.
pub(crate) fn language_token(info: &str) -> String {
    let end = info.find(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | ':'));
    info[..end.unwrap_or(info.len())].trim_start_matches('.').to_lowercase()
}

/// May there be colours for `language`? Does not load anything.
pub(crate) fn may_know(language: &str) -> bool {
    let plain = matches!(language, "" | "text" | "txt" | "plain" | "plaintext" | "output" | "none");
    !plain && (!loaded() || find(language).is_some())
}

fn find(language: &str) -> Option<&'static SyntaxReference> {
    let name = match language {
        "shell" | "console" | "shellscript" | "shell-session" | "zsh" | "ksh" => "bash",
        "golang" => "go",
        "jsonc" | "json5" | "jsonl" | "ndjson" => "json",
        "jsx" | "mjs" | "cjs" | "node" => "js",
        "python3" | "py3" => "py",
        "docker" => "dockerfile",
        "patch" => "diff",
        other => other,
    };
    let plain = &syntaxes().find_syntax_plain_text().name;
    syntaxes().find_syntax_by_token(name).filter(|syntax| syntax.name != *plain)
}

/// Reads code line by line and remembers what it is in the middle of.
#[derive(Clone)]
pub(crate) struct LineParser {
    state: ParseState,
    stack: ScopeStack,
}

impl LineParser {
    /// A reader at the start of code in `language`; none when that is not known. Loads the syntaxes.
    pub(crate) fn new(language: &str) -> Option<Self> {
        Some(Self { state: ParseState::new(find(language)?), stack: ScopeStack::new() })
    }

    /// The next line, with its end of line if it has one. The runs cover the text before that.
    pub(crate) fn line(&mut self, line: &str) -> Runs {
        let text = line.strip_suffix('\n').unwrap_or(line);
        let plain = || vec![(Role::Plain, text.len())];
        if text.len() > MAX_LINE {
            return plain();
        }
        let Ok(ops) = self.state.parse_line(line, syntaxes()) else { return plain() };
        self.runs(text, &ops)
    }

    fn runs(&mut self, text: &str, ops: &[(usize, ScopeStackOp)]) -> Runs {
        let mut runs = Runs::new();
        let mut from = 0;
        for (at, op) in ops {
            let at = (*at).min(text.len());
            push(&mut runs, role(&self.stack), at.saturating_sub(from));
            from = from.max(at);
            // A broken stack only means wrong colours.
            let _ = self.stack.apply(op);
        }
        push(&mut runs, role(&self.stack), text.len() - from);
        runs
    }
}

impl std::fmt::Debug for LineParser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LineParser").finish_non_exhaustive()
    }
}

fn push(runs: &mut Runs, role: Role, bytes: usize) {
    match runs.last_mut() {
        _ if bytes == 0 => {}
        Some((last, length)) if *last == role => *length += bytes,
        _ => runs.push((role, bytes)),
    }
}

/// Scopes by their beginnings; the first that fits counts, so narrow ones come first.
const ROLES: [(&str, Role); 42] = [
    ("punctuation.definition.comment", Role::Comment),
    ("comment", Role::Comment),
    ("punctuation.definition.string", Role::String),
    ("constant.character.escape", Role::Number),
    ("constant.other.placeholder", Role::Number),
    ("string", Role::String),
    ("constant.other.color", Role::Number),
    ("constant", Role::Number),
    ("support.constant", Role::Number),
    ("keyword.operator.word", Role::Keyword),
    ("keyword.operator.logical.python", Role::Keyword),
    ("keyword.operator", Role::Operator),
    ("punctuation.definition.keyword", Role::Keyword),
    ("keyword", Role::Keyword),
    ("storage", Role::Keyword),
    ("entity.name.function", Role::Function),
    ("entity.name.macro", Role::Function),
    ("support.function", Role::Function),
    ("support.macro", Role::Function),
    ("variable.function", Role::Function),
    ("variable.annotation", Role::Function),
    ("entity.other.attribute-name", Role::Variable),
    ("entity.name.label", Role::Variable),
    ("entity.name.constant", Role::Number),
    ("entity.name", Role::Type),
    ("entity.other.inherited-class", Role::Type),
    ("support.type.property-name", Role::Variable),
    ("support.type", Role::Type),
    ("support.class", Role::Type),
    ("support.module", Role::Type),
    ("variable.language", Role::Keyword),
    ("variable", Role::Variable),
    ("support.variable", Role::Variable),
    ("punctuation.definition.inserted", Role::Inserted),
    ("punctuation.definition.deleted", Role::Deleted),
    ("markup.inserted", Role::Inserted),
    ("markup.deleted", Role::Deleted),
    ("markup.heading", Role::Keyword),
    ("markup.raw", Role::String),
    ("markup.bold", Role::Keyword),
    ("markup.underline.link", Role::Function),
    ("punctuation", Role::Punctuation),
];

/// Code inside a string begins anew at one of these.
const GROUNDS: [&str; 4] = ["source", "text", "meta.interpolation", "meta.embedded"];

struct Scopes {
    roles: Vec<(Scope, Role)>,
    grounds: Vec<Scope>,
}

fn scopes() -> &'static Scopes {
    static SCOPES: OnceLock<Scopes> = OnceLock::new();
    SCOPES.get_or_init(|| Scopes {
        roles: ROLES
            .iter()
            .filter_map(|(name, role)| Some((Scope::new(name).ok()?, *role)))
            .collect(),
        grounds: GROUNDS.iter().filter_map(|name| Scope::new(name).ok()).collect(),
    })
}

fn role(stack: &ScopeStack) -> Role {
    let scopes = scopes();
    for scope in stack.as_slice().iter().rev() {
        if let Some((_, role)) = scopes.roles.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope))
        {
            return *role;
        }
        if scopes.grounds.iter().any(|ground| ground.is_prefix_of(*scope)) {
            return Role::Plain;
        }
    }
    Role::Plain
}
