//! What tests of the whole program share: a world of temporary folders, a terminal, a model server.

// Each test binary uses a part of it.
#![allow(dead_code)]

pub mod acp;
pub mod editor;
pub mod server;
pub mod terminal;
pub mod viewer;
pub mod wire;
pub mod world;

use std::time::Duration;

/// How long anything may take. Generous: a slow machine must not fail a test.
pub const LIMIT: Duration = Duration::from_secs(30);
