//! Snapshots against real files: a model of every sequence, kills at every write, and the odd cases.

mod cases;
mod kills;
mod property;
mod rig;
