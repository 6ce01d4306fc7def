//! A dry run of going back, on the screen: path by path, and which conflicts are chosen.

use std::collections::BTreeSet;

use crate::wire::{RewindFile, RewindPreview};

/// The dry run that is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewindView {
    /// What the engine says.
    pub preview: RewindPreview,
    /// The marked path.
    pub marked: usize,
    /// Conflicts to restore all the same.
    pub chosen: BTreeSet<String>,
    /// First visible line of the marked path's difference.
    pub top: usize,
}

impl RewindView {
    /// Nothing marked but the first, nothing chosen.
    #[must_use]
    pub fn new(preview: RewindPreview) -> Self {
        Self { preview, marked: 0, chosen: BTreeSet::new(), top: 0 }
    }

    /// The marked path.
    #[must_use]
    pub fn file(&self) -> Option<&RewindFile> {
        self.preview.files.get(self.marked)
    }

    /// Would this one be touched?
    #[must_use]
    pub fn is_done(&self, file: &RewindFile) -> bool {
        file.conflict.is_none() || self.chosen.contains(&file.path)
    }

    /// Marks the next path in a direction.
    pub fn select(&mut self, down: bool) {
        let last = self.preview.files.len().saturating_sub(1);
        let next = if down { (self.marked + 1).min(last) } else { self.marked.saturating_sub(1) };
        if next != self.marked {
            (self.marked, self.top) = (next, 0);
        }
    }

    /// Chooses the marked conflict, or no longer. False when it is none that can be chosen.
    pub fn toggle(&mut self) -> bool {
        let Some(file) = self.preview.files.get(self.marked).filter(|file| file.can_choose) else {
            return false;
        };
        if !self.chosen.remove(&file.path) {
            self.chosen.insert(file.path.clone());
        }
        true
    }

    /// Moves the difference by this many lines.
    pub fn scroll(&mut self, lines: isize) {
        let length =
            self.file().and_then(|file| file.diff.as_ref()).map_or(0, |diff| diff.lines().count());
        self.top = self.top.saturating_add_signed(lines).min(length.saturating_sub(1));
    }
}
