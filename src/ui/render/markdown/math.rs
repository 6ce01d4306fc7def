//! Formulas a person can read: TeX to Unicode, as far as one line of characters goes. What is not
//! known stays as it was written.

/// Commands that are one character.
const SYMBOLS: &[(&str, &str)] = &[
    ("alpha", "α"),
    ("beta", "β"),
    ("gamma", "γ"),
    ("delta", "δ"),
    ("epsilon", "ε"),
    ("varepsilon", "ε"),
    ("zeta", "ζ"),
    ("eta", "η"),
    ("theta", "θ"),
    ("vartheta", "ϑ"),
    ("iota", "ι"),
    ("kappa", "κ"),
    ("lambda", "λ"),
    ("mu", "μ"),
    ("nu", "ν"),
    ("xi", "ξ"),
    ("pi", "π"),
    ("rho", "ρ"),
    ("sigma", "σ"),
    ("tau", "τ"),
    ("upsilon", "υ"),
    ("phi", "φ"),
    ("varphi", "φ"),
    ("chi", "χ"),
    ("psi", "ψ"),
    ("omega", "ω"),
    ("Gamma", "Γ"),
    ("Delta", "Δ"),
    ("Theta", "Θ"),
    ("Lambda", "Λ"),
    ("Xi", "Ξ"),
    ("Pi", "Π"),
    ("Sigma", "Σ"),
    ("Upsilon", "Υ"),
    ("Phi", "Φ"),
    ("Psi", "Ψ"),
    ("Omega", "Ω"),
    ("times", "×"),
    ("cdot", "·"),
    ("div", "÷"),
    ("pm", "±"),
    ("mp", "∓"),
    ("ast", "∗"),
    ("star", "⋆"),
    ("circ", "∘"),
    ("bullet", "•"),
    ("oplus", "⊕"),
    ("otimes", "⊗"),
    ("leq", "≤"),
    ("le", "≤"),
    ("geq", "≥"),
    ("ge", "≥"),
    ("neq", "≠"),
    ("ne", "≠"),
    ("approx", "≈"),
    ("equiv", "≡"),
    ("sim", "∼"),
    ("simeq", "≃"),
    ("cong", "≅"),
    ("propto", "∝"),
    ("ll", "≪"),
    ("gg", "≫"),
    ("in", "∈"),
    ("notin", "∉"),
    ("ni", "∋"),
    ("subset", "⊂"),
    ("subseteq", "⊆"),
    ("supset", "⊃"),
    ("supseteq", "⊇"),
    ("cup", "∪"),
    ("cap", "∩"),
    ("setminus", "∖"),
    ("emptyset", "∅"),
    ("varnothing", "∅"),
    ("forall", "∀"),
    ("exists", "∃"),
    ("neg", "¬"),
    ("lnot", "¬"),
    ("land", "∧"),
    ("wedge", "∧"),
    ("lor", "∨"),
    ("vee", "∨"),
    ("to", "→"),
    ("rightarrow", "→"),
    ("leftarrow", "←"),
    ("gets", "←"),
    ("Rightarrow", "⇒"),
    ("implies", "⇒"),
    ("Leftarrow", "⇐"),
    ("leftrightarrow", "↔"),
    ("Leftrightarrow", "⇔"),
    ("iff", "⇔"),
    ("mapsto", "↦"),
    ("uparrow", "↑"),
    ("downarrow", "↓"),
    ("infty", "∞"),
    ("partial", "∂"),
    ("nabla", "∇"),
    ("sum", "∑"),
    ("prod", "∏"),
    ("int", "∫"),
    ("iint", "∬"),
    ("oint", "∮"),
    ("ldots", "…"),
    ("dots", "…"),
    ("cdots", "⋯"),
    ("vdots", "⋮"),
    ("ell", "ℓ"),
    ("hbar", "ℏ"),
    ("Re", "ℜ"),
    ("Im", "ℑ"),
    ("aleph", "ℵ"),
    ("angle", "∠"),
    ("perp", "⊥"),
    ("parallel", "∥"),
    ("mid", "|"),
    ("vert", "|"),
    ("Vert", "‖"),
    ("langle", "⟨"),
    ("rangle", "⟩"),
    ("lceil", "⌈"),
    ("rceil", "⌉"),
    ("lfloor", "⌊"),
    ("rfloor", "⌋"),
    ("prime", "′"),
    ("degree", "°"),
    ("top", "⊤"),
    ("bot", "⊥"),
    ("vdash", "⊢"),
    ("models", "⊨"),
    ("square", "□"),
    ("quad", "  "),
    ("qquad", "    "),
    ("lbrace", "{"),
    ("rbrace", "}"),
];

/// Commands that only say how something looks: their argument is what counts.
const LOOKS: &[&str] = &[
    "text",
    "mathrm",
    "mathbf",
    "mathit",
    "mathsf",
    "mathtt",
    "mathcal",
    "operatorname",
    "textbf",
    "textit",
    "boldsymbol",
    "mbox",
    "displaystyle",
    "textstyle",
    "left",
    "right",
    "big",
    "Big",
    "bigg",
    "limits",
    "nolimits",
];

const FROM: &str = "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWβγδθφ";
const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵝᵞᵟᶿᵠ";
const LOW_FROM: &str = "0123456789+-=()aehijklmnoprstuvxβγρφχ";
const LOWERED: &str = "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ";

/// Groups in groups deeper than this stay as they are written.
const DEEPEST: usize = 24;

/// Is what stands between two dollars a formula? `5 and ` in "$5 and $6" is none.
pub(super) fn is_formula(source: &str) -> bool {
    let is_money = source.starts_with(|c: char| c.is_ascii_digit())
        && source.contains(' ')
        && !source.contains(['\\', '^', '_', '=', '+', '<', '>']);
    !is_money
}

/// The formula in characters.
pub(super) fn readable(source: &str) -> String {
    let mut reader = Reader { rest: source, depth: 0 };
    let mut said = String::with_capacity(source.len());
    while !reader.rest.is_empty() {
        let before = reader.rest.len();
        reader.all(&mut said);
        // A bracket that closes nothing.
        if reader.rest.len() == before {
            said.extend(reader.next());
        } else if let Some(rest) = reader.rest.strip_prefix('}') {
            said.push('}');
            reader.rest = rest;
        }
    }
    said
}

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    /// Up to the end or a bracket that closes.
    fn all(&mut self, said: &mut String) {
        while !self.rest.is_empty() && !self.rest.starts_with('}') {
            self.one(said);
        }
    }

    /// One character, command or group.
    fn one(&mut self, said: &mut String) {
        match self.next() {
            Some('\\') => self.command(said),
            Some('{') if self.depth < DEEPEST => said.push_str(&self.group()),
            Some('^') => self.shifted(said, '^', FROM, RAISED),
            Some('_') => self.shifted(said, '_', LOW_FROM, LOWERED),
            Some('~') => said.push(' '),
            Some('&') => {}
            Some('\'') => said.push('′'),
            Some(c) => said.push(c),
            None => {}
        }
    }

    /// What stands in brackets; the first is read already.
    fn group(&mut self) -> String {
        self.depth += 1;
        let mut said = String::new();
        self.all(&mut said);
        self.rest = self.rest.strip_prefix('}').unwrap_or(self.rest);
        self.depth -= 1;
        said
    }

    /// What a command is about: a group, or one character.
    fn argument(&mut self) -> String {
        self.rest = self.rest.trim_start();
        let mut said = String::new();
        if !self.rest.starts_with('}') && self.depth < DEEPEST {
            self.depth += 1;
            self.one(&mut said);
            self.depth -= 1;
        }
        said
    }

    fn shifted(&mut self, said: &mut String, mark: char, from: &str, to: &str) {
        let argument = self.argument();
        let map =
            |c: char| from.chars().position(|known| known == c).and_then(|at| to.chars().nth(at));
        let shifted: Option<String> = argument.chars().map(map).collect();
        match shifted {
            _ if argument == "′" || argument == "∘" => {
                said.push_str(if argument == "∘" { "°" } else { "′" });
            }
            Some(shifted) if !shifted.is_empty() => said.push_str(&shifted),
            _ if argument.chars().count() > 1 => {
                said.extend([mark, '(']);
                said.push_str(&argument);
                said.push(')');
            }
            _ => {
                said.push(mark);
                said.push_str(&argument);
            }
        }
    }

    fn command(&mut self, said: &mut String) {
        let letters = self.rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(letters);
        if name.is_empty() {
            match self.next() {
                // A line break of a formula.
                Some('\\') => said.push('\n'),
                Some(',' | ':' | ';' | ' ') => said.push(' '),
                Some('!') => {}
                Some(c) => said.push(c),
                None => said.push('\\'),
            }
            return;
        }
        self.rest = rest;
        match name {
            "frac" | "dfrac" | "tfrac" => {
                let (above, below) = (self.argument(), self.argument());
                said.push_str(&format!("{}/{}", bracketed(&above), bracketed(&below)));
            }
            "sqrt" => {
                let root = self.argument();
                said.push_str(&format!("√{}", bracketed(&root)));
            }
            "binom" => {
                let (above, below) = (self.argument(), self.argument());
                said.push_str(&format!("C({above}, {below})"));
            }
            "hat" | "bar" | "overline" | "vec" | "tilde" | "dot" => {
                let mark = match name {
                    "hat" => '\u{302}',
                    "vec" => '\u{20d7}',
                    "tilde" => '\u{303}',
                    "dot" => '\u{307}',
                    _ => '\u{304}',
                };
                for c in self.argument().chars() {
                    said.extend([c, mark]);
                }
            }
            "begin" | "end" => drop(self.argument()),
            "mathbb" => {
                for c in self.argument().chars() {
                    let at = "CHNPQRZ".find(c);
                    said.push(at.and_then(|at| "ℂℍℕℙℚℝℤ".chars().nth(at)).unwrap_or(c));
                }
            }
            _ if LOOKS.contains(&name) => {
                if self.rest.starts_with('{') {
                    said.push_str(&self.argument());
                } else if matches!(name, "left" | "right") && self.rest.starts_with('.') {
                    self.next();
                }
            }
            _ => match SYMBOLS.iter().find(|(known, _)| *known == name) {
                Some((_, symbol)) => said.push_str(symbol),
                // Functions are called by their names.
                None if is_function(name) => said.push_str(name),
                None => {
                    said.push('\\');
                    said.push_str(name);
                }
            },
        }
    }
}

fn is_function(name: &str) -> bool {
    const NAMES: &str = " sin cos tan cot sec csc log ln exp lim max min sup inf det dim ker deg gcd arg \
                         arcsin arccos arctan sinh cosh tanh Pr mod bmod argmax argmin ";
    NAMES.contains(&format!(" {name} "))
}

/// What has more than one part stands in brackets beside a stroke.
fn bracketed(text: &str) -> String {
    let is_one = text.chars().all(|c| c.is_alphanumeric() || "′₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹".contains(c));
    if is_one { text.to_owned() } else { format!("({text})") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formulas_are_read_as_they_are_said() {
        for (source, said) in [
            (r"x^2 + y_1", "x² + y₁"),
            (r"\alpha \le \beta", "α ≤ β"),
            (r"\frac{a+b}{2}", "(a+b)/2"),
            (r"\frac12", "1/2"),
            (r"\sqrt{x^2+1}", "√(x²+1)"),
            (r"e^{i\pi} + 1 = 0", "e^(iπ) + 1 = 0"),
            (r"\sum_{i=1}^{n} i", "∑ᵢ₌₁ⁿ i"),
            (r"\mathbb{R}^n \to \mathbb{R}", "ℝⁿ → ℝ"),
            (r"\text{if } x \in A", "if  x ∈ A"),
            (r"\left( a \right)", "( a )"),
            (r"\sin(x)", "sin(x)"),
            (r"\hat{y}", "y\u{302}"),
            (r"90^\circ", "90°"),
            (r"f'(x)", "f′(x)"),
            (r"a \\ b", "a \n b"),
            (r"\unknown{x}", "\\unknownx"),
            ("}{", "}"),
            (r"\", "\\"),
        ] {
            assert_eq!(readable(source), said, "{source}");
        }
    }

    #[test]
    fn money_is_no_formula() {
        assert!(!is_formula("5 and "));
        assert!(
            is_formula("5") && is_formula("2 + 2") && is_formula("x") && is_formula("3 \\times 4")
        );
    }

    proptest! {
        #[test]
        fn any_source_ends(source in "[\\\\{}^_a-z0-9 $&]{0,200}") {
            let _ = readable(&source);
        }
    }

    #[test]
    fn deep_nesting_ends() {
        for open in ["{", "^{", r"\frac{", "^", r"\sqrt"] {
            let _ = readable(&open.repeat(10_000));
        }
    }
}
