//! The environment variables the engine may look at.

use std::fmt;
use std::sync::Arc;

/// Looks up environment variables; a test gives its own.
#[derive(Clone)]
pub struct Env(Arc<LookUp>);

type LookUp = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Env {
    /// This process's.
    #[must_use]
    pub fn process() -> Self {
        Self::from_fn(|name| std::env::var(name).ok())
    }

    /// None are set.
    #[must_use]
    pub fn empty() -> Self {
        Self::from_fn(|_| None)
    }

    /// Those `look_up` finds.
    #[must_use]
    pub fn from_fn(look_up: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(look_up))
    }

    /// The value of `name`, where it is set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<String> {
        (self.0)(name)
    }
}

// By hand: values may be keys.
impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Env")
    }
}
