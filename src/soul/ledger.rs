//! The ledger of the context: `Command::Ledger`.
//!
//! The file is read, as for a side question: it only ever holds whole steps, and so the answer comes
//! while a turn runs too.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::context::{Context, ContextError, estimate_tokens, ledger};
use crate::tools::Toolset;
use crate::wire::{ContextLedger, DoorMessage, Extension, Hub};

/// Tells what the context consists of. Cheap to clone.
#[derive(Clone)]
pub(super) struct Ledger(Arc<Inner>);

struct Inner {
    hub: Hub,
    session_dir: PathBuf,
    tools: Mutex<Arc<Toolset>>,
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger").field("session_dir", &self.0.session_dir).finish_non_exhaustive()
    }
}

impl Ledger {
    pub(super) fn new(hub: Hub, session_dir: PathBuf, tools: Arc<Toolset>) -> Self {
        Self(Arc::new(Inner { hub, session_dir, tools: Mutex::new(tools) }))
    }

    /// These are the tools from now on.
    pub(super) fn set_tools(&self, tools: &Arc<Toolset>) {
        *self.0.tools.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(tools);
    }

    /// Begins to tell it, and comes back at once. Must be called within the runtime.
    pub(super) fn tell(&self) {
        let ledger = self.clone();
        tokio::task::spawn_blocking(move || match ledger.read() {
            Ok(told) => ledger.0.hub.extension(Extension::ContextLedger(told)),
            Err(error) => {
                let reason = format!("What the context consists of cannot be told: {error}.");
                ledger.0.hub.tell(DoorMessage::Refused(reason));
            }
        });
    }

    fn read(&self) -> Result<ContextLedger, ContextError> {
        let tools = Arc::clone(&self.0.tools.lock().unwrap_or_else(PoisonError::into_inner));
        let (context, _) = Context::open_read_only(&self.0.session_dir)?;
        let system = estimate_tokens(context.system_prompt().unwrap_or_default());
        let specs = tools.specs().iter();
        let tools = specs
            .map(|tool| {
                let words = format!("{} {} {}", tool.name, tool.description, tool.parameters);
                estimate_tokens(&words)
            })
            .sum();
        Ok(ContextLedger {
            generation: context.generation(),
            size: context.size(),
            shares: ledger::shares(context.history(), system, tools),
            messages: ledger::messages(context.history()),
        })
    }
}
