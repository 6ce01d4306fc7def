//! Everything that is tested from outside the library, one module an area, in one binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod architecture;
mod cli;
mod network;
mod print;
#[path = "../support/mod.rs"]
mod support;
