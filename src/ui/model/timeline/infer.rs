//! A timeline for a session that has no record of one: what its context files tell.

use std::collections::VecDeque;

use super::{CellId, CheckpointEntry, Entry, EntryKind, Jump, Life, Timeline};
use crate::session::generations::{Cause, GenerationInfo, StepInfo};
use crate::wire::RevertCause;

impl Timeline {
    /// Is nothing known but the turns, and the checkpoints the session was opened with?
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.entries.iter().all(|entry| match entry.kind {
            EntryKind::Turn { .. } => true,
            EntryKind::Checkpoint(_) => entry.cell.is_none(),
            EntryKind::Jump { .. } => false,
        })
    }

    /// Takes what the files of the context tell, if nothing more is known.
    pub fn infer(&mut self, generations: &[GenerationInfo]) {
        if !self.is_bare() || generations.iter().all(|generation| generation.steps.is_empty()) {
            return;
        }
        let old = std::mem::take(&mut self.entries);
        let mut turns: VecDeque<(String, Option<CellId>, f64)> = old
            .into_iter()
            .filter_map(|entry| match entry.kind {
                EntryKind::Turn { title } => Some((title, entry.cell, entry.time)),
                _ => None,
            })
            .collect();
        let mut before: Option<&GenerationInfo> = None;
        for generation in generations {
            let shared = before.map_or(0, |before| shared(before, generation));
            if let Some(before) = before {
                self.begin_generation(before, generation, shared);
            }
            for step in generation.steps.iter().skip(shared) {
                self.infer_step(step, &mut turns);
            }
            self.generation = generation.generation;
            before = Some(generation);
        }
        self.selected = None;
        self.count_live();
    }

    /// `next` began, with the first `shared` checkpoints of the one before.
    fn begin_generation(&mut self, before: &GenerationInfo, next: &GenerationInfo, shared: usize) {
        let dropped = before.steps.get(shared).map(|step| step.at.id);
        let jump = match (next.began.as_ref().map(|began| &began.cause), dropped) {
            (Some(Cause::Reverted { to, by: RevertCause::AgentDMail, .. }), _) => {
                Jump::DMail(to.id)
            }
            (Some(Cause::Reverted { to, .. }), _) => Jump::Revert(to.id),
            (Some(Cause::Cleared), _) => Jump::Clear,
            (Some(Cause::Compacted), _) => Jump::Compaction,
            (Some(Cause::Restored { generation: Some(generation) }), _) => {
                Jump::Restore(*generation)
            }
            (None, Some(dropped)) if shared > 0 => Jump::Revert(dropped),
            _ => Jump::Unknown,
        };
        for entry in self.checkpoints_mut().filter(|entry| entry.is_live) {
            let stays = before.steps[..shared].iter().any(|step| step.at.id == entry.at.id);
            if stays {
                entry.at.generation = next.generation;
            } else {
                entry.is_live = false;
                entry.life.lose(before.generation);
            }
        }
        let after = next.steps.get(shared).map_or(next.size, |step| step.size);
        let tokens = (before.size.tokens, after.tokens);
        let time = next.began.as_ref().map_or(0.0, |began| began.at);
        let (ended, notes) = (before.generation, Box::default());
        let cell = self.entries.last().and_then(|entry| entry.cell);
        self.entries.push(Entry {
            time,
            cell,
            kind: EntryKind::Jump { jump, tokens, ended, notes },
        });
    }

    fn infer_step(&mut self, step: &StepInfo, turns: &mut VecDeque<(String, Option<CellId>, f64)>) {
        let (mut cell, mut time) = match self.entries.last() {
            Some(last) => (last.cell, last.time),
            None => (None, 0.0),
        };
        if let Some(said) = &step.said {
            let title = said.lines().next().unwrap_or_default().to_owned();
            if let Some(at) = turns.iter().position(|(known, ..)| *known == title) {
                (cell, time) = (turns[at].1, turns[at].2);
                turns.drain(..=at);
            }
            self.entries.push(Entry { time, cell, kind: EntryKind::Turn { title } });
        }
        let mut tools: Vec<(String, u32)> = Vec::new();
        for used in &step.tools {
            match tools.iter_mut().find(|(name, _)| *name == used.name) {
                Some((_, count)) => *count += 1,
                None => tools.push((used.name.clone(), 1)),
            }
        }
        let failures = step.tools.iter().filter(|used| used.failed).count();
        let kind = EntryKind::Checkpoint(CheckpointEntry {
            at: step.at,
            step: step.step,
            size: step.size,
            is_live: true,
            life: Life::from(step.at.generation),
            tools,
            failures: u32::try_from(failures).unwrap_or(u32::MAX),
            files: step.files.clone(),
        });
        self.entries.push(Entry { time: step.made_at.unwrap_or(time), cell, kind });
    }
}

/// How many checkpoints the two begin with in common.
fn shared(before: &GenerationInfo, next: &GenerationInfo) -> usize {
    let pairs = before.steps.iter().zip(&next.steps);
    pairs.take_while(|(a, b)| a.at.id == b.at.id && a.size == b.size).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{CheckpointId, CheckpointRef, Generation};
    use crate::session::generations::ToolUse;
    use crate::wire::ContextSize;

    fn step(generation: u64, id: u64, said: Option<&str>, tools: &[&str]) -> StepInfo {
        StepInfo {
            at: CheckpointRef { generation: Generation(generation), id: CheckpointId(id) },
            step: None,
            made_at: None,
            size: ContextSize { messages: id, tokens: id * 100 },
            messages: 1,
            tokens: 100,
            said: said.map(str::to_owned),
            tools: tools
                .iter()
                .map(|name| ToolUse {
                    name: (*name).to_owned(),
                    key_argument: None,
                    failed: *name == "Bash",
                })
                .collect(),
            files: tools.iter().map(|name| format!("{name}.rs")).collect(),
        }
    }

    fn generation(number: u64, steps: Vec<StepInfo>) -> GenerationInfo {
        GenerationInfo {
            generation: Generation(number),
            file: std::path::PathBuf::new(),
            is_current: number == 1,
            began: None,
            size: ContextSize { messages: 9, tokens: 900 },
            bytes: 0,
            steps,
            bad_lines: 0,
            problem: None,
        }
    }

    #[test]
    fn the_files_alone_tell_turns_tools_and_a_way_back() {
        let old = vec![
            step(0, 0, Some("first\nmore"), &[]),
            step(0, 1, None, &["Bash", "Bash", "EditFile"]),
            step(0, 2, None, &["Grep"]),
        ];
        let new = vec![
            step(1, 0, Some("first\nmore"), &[]),
            step(1, 1, None, &["Bash", "Bash", "EditFile"]),
            StepInfo {
                size: ContextSize { messages: 2, tokens: 250 },
                ..step(1, 2, Some("second"), &[])
            },
        ];
        let mut timeline = Timeline::default();
        timeline.begin_turn("first".into(), Some(CellId(7)), 5.0);
        assert!(timeline.is_bare());
        timeline.infer(&[generation(0, old), generation(1, new)]);
        let told: Vec<String> = timeline
            .entries
            .iter()
            .map(|entry| match &entry.kind {
                EntryKind::Turn { title } => format!("turn {title} {:?}", entry.cell),
                EntryKind::Checkpoint(at) => {
                    format!("{} {:?} {} {}", at.at, at.tools, at.failures, at.is_live)
                }
                EntryKind::Jump { jump, ended, .. } => format!("{jump:?} ended {ended}"),
            })
            .collect();
        assert_eq!(
            told,
            [
                "turn first Some(CellId(7))",
                "1.0 [] 0 true",
                "1.1 [(\"Bash\", 2), (\"EditFile\", 1)] 2 true",
                "0.2 [(\"Grep\", 1)] 0 false",
                "Revert(CheckpointId(2)) ended 0",
                "turn second Some(CellId(7))",
                "1.2 [] 0 true",
            ]
        );
        assert_eq!(timeline.live_count(), 3);
        assert_eq!(timeline.generation, Generation(1));
        assert!(!timeline.is_bare(), "told once is enough");
    }
}
