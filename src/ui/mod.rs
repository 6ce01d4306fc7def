//! The full-screen front end.

pub mod render;
pub mod theme;
