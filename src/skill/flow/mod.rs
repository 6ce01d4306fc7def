//! Flows: diagrams whose boxes are prompts, read from Mermaid or D2.

mod d2;
mod mermaid;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

/// Boxes and arrows of one diagram, at most.
const MAX_PARTS: usize = 2000;

/// Why a diagram cannot be walked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct FlowError {
    /// The line of the text, from 1.
    pub line: Option<usize>,
    /// What is wrong and what to do.
    pub what: String,
}

impl FlowError {
    fn new(what: impl Into<String>) -> Self {
        Self { line: None, what: what.into() }
    }

    fn at(line: usize, what: impl Into<String>) -> Self {
        Self { line: Some(line), what: what.into() }
    }
}

/// What to do at a place of a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<'a> {
    /// Nothing: the flow is over.
    End,
    /// Say this, then go on.
    Task {
        /// The prompt.
        prompt: &'a str,
        /// The next place.
        next: usize,
    },
    /// Ask this, then take the branch that is chosen.
    Decision {
        /// The question.
        prompt: &'a str,
        /// Labels and where they lead.
        branches: Vec<(&'a str, usize)>,
    },
}

/// A diagram that can be walked: one beginning, one end that can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    nodes: Vec<Node>,
    first: usize,
    end: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Node {
    label: String,
    out: Vec<(String, usize)>,
}

impl Flow {
    /// Reads the first `mermaid` or `d2` block of a Markdown text.
    ///
    /// # Errors
    /// When there is none or it is wrong; lines are those of `text`.
    pub fn in_markdown(text: &str) -> Result<Self, FlowError> {
        let mut block: Option<(bool, usize, String)> = None;
        for (index, line) in text.lines().enumerate() {
            let trimmed = line.trim_start();
            match &mut block {
                Some((is_mermaid, first, diagram)) => {
                    if trimmed.starts_with("```") {
                        let read = if *is_mermaid { Self::mermaid } else { Self::d2 };
                        let first = *first;
                        return read(diagram).map_err(|error| FlowError {
                            line: error.line.map(|line| line + first),
                            ..error
                        });
                    }
                    diagram.push_str(line);
                    diagram.push('\n');
                }
                None => match trimmed.strip_prefix("```").map(str::trim) {
                    Some("mermaid") => block = Some((true, index + 1, String::new())),
                    Some("d2") => block = Some((false, index + 1, String::new())),
                    _ => {}
                },
            }
        }
        Err(FlowError::new(match block {
            Some(_) => "the diagram's block is not closed. Add a line with ```.",
            None => "there is no diagram. Add a ```mermaid or ```d2 block.",
        }))
    }

    /// Reads a Mermaid flowchart.
    ///
    /// # Errors
    /// When it is wrong or uses what this program does not read.
    pub fn mermaid(text: &str) -> Result<Self, FlowError> {
        mermaid::read(text)?.finish()
    }

    /// Reads a D2 diagram.
    ///
    /// # Errors
    /// When it is wrong or uses what this program does not read.
    pub fn d2(text: &str) -> Result<Self, FlowError> {
        d2::read(text)?.finish()
    }

    /// The place behind BEGIN.
    #[must_use]
    pub fn first(&self) -> usize {
        self.first
    }

    /// What to do at `place`.
    #[must_use]
    pub fn step(&self, place: usize) -> Step<'_> {
        let Some(node) = self.nodes.get(place).filter(|_| place != self.end) else {
            return Step::End;
        };
        match node.out.as_slice() {
            [] => Step::End,
            [(_, next)] => Step::Task { prompt: &node.label, next: *next },
            branches => Step::Decision {
                prompt: &node.label,
                branches: branches.iter().map(|(label, to)| (label.as_str(), *to)).collect(),
            },
        }
    }
}

/// A diagram while it is read.
#[derive(Debug, Default)]
struct Drawing {
    nodes: Vec<Node>,
    ids: Vec<String>,
    index: HashMap<String, usize>,
    arrows: usize,
}

impl Drawing {
    /// The box `id`, made when there is none; `label` says more about it than its id.
    fn node(&mut self, line: usize, id: &str, label: Option<&str>) -> Result<usize, FlowError> {
        let at = match self.index.get(id) {
            Some(at) => *at,
            None => {
                if self.nodes.len() >= MAX_PARTS {
                    return Err(FlowError::at(line, "the diagram has too many boxes"));
                }
                let at = self.nodes.len();
                self.nodes.push(Node { label: id.to_owned(), out: Vec::new() });
                self.ids.push(id.to_owned());
                self.index.insert(id.to_owned(), at);
                at
            }
        };
        if let Some(label) = label.map(str::trim).filter(|label| !label.is_empty()) {
            self.nodes[at].label = label.to_owned();
        }
        Ok(at)
    }

    fn arrow(&mut self, line: usize, from: usize, to: usize, label: &str) -> Result<(), FlowError> {
        self.arrows += 1;
        if self.arrows > MAX_PARTS {
            return Err(FlowError::at(line, "the diagram has too many arrows"));
        }
        self.nodes[from].out.push((label.trim().to_owned(), to));
        Ok(())
    }

    /// Checks that it can be walked.
    fn finish(self) -> Result<Flow, FlowError> {
        let begin = self.only("BEGIN")?;
        let end = self.only("END")?;
        let first = match self.nodes[begin].out.as_slice() {
            [(_, to)] => *to,
            out => {
                return Err(FlowError::new(format!(
                    "BEGIN needs exactly one arrow out of it, not {}",
                    out.len()
                )));
            }
        };
        for (at, node) in self.nodes.iter().enumerate() {
            if at == end || at == begin {
                continue;
            }
            if node.out.is_empty() {
                let name = &node.label;
                return Err(FlowError::new(format!("no arrow leads out of \"{name}\"")));
            }
            if node.out.len() > 1 {
                check_branches(node)?;
            }
        }
        if !self.reaches(first, end) {
            return Err(FlowError::new("no way leads from BEGIN to END"));
        }
        Ok(Flow { nodes: self.nodes, first, end })
    }

    fn only(&self, name: &str) -> Result<usize, FlowError> {
        let is = |text: &str| text.trim().eq_ignore_ascii_case(name);
        // A label says what a box is; the id only counts where no label does.
        let by_label = (0..self.nodes.len()).filter(|&at| is(&self.nodes[at].label));
        let mut found: Vec<usize> = by_label.collect();
        if found.is_empty() {
            found = (0..self.nodes.len()).filter(|&at| is(&self.ids[at])).collect();
        }
        match found.as_slice() {
            [at] => Ok(*at),
            [] => Err(FlowError::new(format!("there is no {name} box"))),
            _ => Err(FlowError::new(format!("there are {} {name} boxes", found.len()))),
        }
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        let mut seen = vec![false; self.nodes.len()];
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            if at == to {
                return true;
            }
            if !std::mem::replace(&mut seen[at], true) {
                open.extend(self.nodes[at].out.iter().map(|(_, next)| *next));
            }
        }
        false
    }
}

fn check_branches(node: &Node) -> Result<(), FlowError> {
    for (index, (label, _)) in node.out.iter().enumerate() {
        let problem = if label.is_empty() {
            "without a label".to_owned()
        } else if node.out[..index].iter().any(|(other, _)| other == label) {
            format!("labelled \"{label}\" twice")
        } else {
            continue;
        };
        return Err(FlowError::new(format!(
            "an arrow out of the decision \"{}\" is {problem}. Label each one differently.",
            node.label
        )));
    }
    Ok(())
}
