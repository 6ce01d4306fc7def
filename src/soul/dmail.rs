//! The phone microwave: holds one D-Mail from the tool that sends it until the step is over.
//! Pure; the loop in [`super::turn`] does the travelling.

use crate::message::CheckpointId;
use crate::tools::DMail;

/// Why a D-Mail was not taken. The words go to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DMailError {
    /// One is waiting already.
    #[error("Only one D-Mail can be sent at a time")]
    AlreadyPending,
    /// It goes to a checkpoint there is not.
    #[error("There is no checkpoint with the given ID")]
    NoSuchCheckpoint,
}

/// Holds at most one D-Mail (`kimi-cli` `soul/denwarenji.py`).
#[derive(Debug, Default)]
pub(crate) struct DenwaRenji {
    pending: Option<DMail>,
    checkpoints: u64,
}

impl DenwaRenji {
    /// Checkpoints below `next` exist now.
    pub(crate) fn set_next_checkpoint(&mut self, next: CheckpointId) {
        self.checkpoints = next.0;
    }

    /// Takes a D-Mail to be sent when the step is over.
    pub(crate) fn send(&mut self, mail: DMail) -> Result<(), DMailError> {
        if self.pending.is_some() {
            return Err(DMailError::AlreadyPending);
        }
        if mail.checkpoint.0 >= self.checkpoints {
            return Err(DMailError::NoSuchCheckpoint);
        }
        self.pending = Some(mail);
        Ok(())
    }

    /// Hands out the D-Mail that waits, if one does.
    pub(crate) fn take(&mut self) -> Option<DMail> {
        self.pending.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(checkpoint: u64) -> DMail {
        DMail { message: "go back".to_owned(), checkpoint: CheckpointId(checkpoint) }
    }

    #[test]
    fn only_one_mail_at_a_time_and_only_to_a_checkpoint_that_exists() {
        let mut denwa = DenwaRenji::default();
        assert_eq!(denwa.send(mail(0)), Err(DMailError::NoSuchCheckpoint));
        denwa.set_next_checkpoint(CheckpointId(2));
        assert_eq!(denwa.send(mail(2)), Err(DMailError::NoSuchCheckpoint));
        assert_eq!(denwa.send(mail(1)), Ok(()));
        assert_eq!(denwa.send(mail(0)), Err(DMailError::AlreadyPending));
        assert_eq!(denwa.take(), Some(mail(1)));
        assert_eq!(denwa.take(), None);
        assert_eq!(denwa.send(mail(0)), Ok(()));
    }
}
