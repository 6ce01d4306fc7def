//! Earlier generations of a context, read off the loop.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Done, Executor};
use crate::message::Generation;
use crate::session::generations;
use crate::ui::effect::EffectId;
use crate::ui::msg::Msg;

impl Executor {
    /// Which generations there are, and what their steps did.
    pub(super) fn list_generations(&mut self, id: EffectId, session_dir: PathBuf) {
        let done = self.done.clone();
        self.tasks.spawn_blocking(move || {
            let generations = generations::list(&session_dir).unwrap_or_else(|error| {
                tracing::warn!(%error, "the generations of the context cannot be listed");
                Vec::new()
            });
            let generations = generations.into();
            let _ = done.send(Done::Msg(Msg::Generations { id, generations }));
        });
    }

    /// The messages of one.
    pub(super) fn read_generation(
        &mut self,
        id: EffectId,
        session_dir: PathBuf,
        generation: Generation,
    ) {
        let done = self.done.clone();
        self.tasks.spawn_blocking(move || {
            let result = generations::transcript(&session_dir, generation);
            let result = result.map(Arc::new).map_err(|error| error.to_string());
            let _ = done.send(Done::Msg(Msg::Generation { id, result }));
        });
    }
}
