//! What was deleted in one go, to be put back: the kill ring.

/// Pieces kept.
const KEPT: usize = 32;

/// The last deleted pieces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kills {
    // Latest last.
    pieces: Vec<String>,
    // Which piece was put back last and how many characters it has, until something else happens.
    yanked: Option<(usize, usize)>,
    // Does the next piece belong to the last one?
    is_open: bool,
}

impl Kills {
    /// Takes in what was deleted; several in a row become one piece, `before` what there is or behind.
    pub fn push(&mut self, piece: String, before: bool) {
        self.yanked = None;
        if piece.is_empty() {
            return;
        }
        match self.pieces.last_mut().filter(|_| self.is_open) {
            Some(last) if before => last.insert_str(0, &piece),
            Some(last) => last.push_str(&piece),
            None => self.pieces.push(piece),
        }
        if self.pieces.len() > KEPT {
            self.pieces.remove(0);
        }
        self.is_open = true;
    }

    /// Something else was done.
    pub fn interrupt(&mut self) {
        self.yanked = None;
        self.is_open = false;
    }

    /// What to put back: the latest piece.
    pub fn yank(&mut self) -> Option<String> {
        self.is_open = false;
        let index = self.pieces.len().checked_sub(1)?;
        self.yanked = Some((index, self.pieces[index].chars().count()));
        Some(self.pieces[index].clone())
    }

    /// Right after putting back: how many characters to take away again, and the piece before.
    pub fn rotate(&mut self) -> Option<(usize, String)> {
        let (index, characters) = self.yanked?;
        let next = index.checked_sub(1).unwrap_or(self.pieces.len() - 1);
        self.yanked = Some((next, self.pieces[next].chars().count()));
        Some((characters, self.pieces[next].clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_back_latest_first_and_go_round() {
        let mut kills = Kills::default();
        assert_eq!(kills.yank(), None);
        kills.push("one".into(), false);
        kills.interrupt();
        kills.push("two".into(), false);
        kills.push(" more".into(), false);
        kills.push("and ".into(), true);
        assert_eq!(kills.yank().as_deref(), Some("and two more"));
        assert_eq!(kills.rotate(), Some((12, "one".into())));
        assert_eq!(kills.rotate(), Some((3, "and two more".into())));
        kills.interrupt();
        assert_eq!(kills.rotate(), None, "only right after putting back");
    }

    #[test]
    fn old_pieces_are_forgotten() {
        let mut kills = Kills::default();
        for number in 0..100 {
            kills.interrupt();
            kills.push(number.to_string(), false);
        }
        assert_eq!(kills.pieces.len(), KEPT);
        assert_eq!(kills.yank().as_deref(), Some("99"));
    }
}
