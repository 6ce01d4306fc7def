//! The command line: arguments, which front end to start, print mode, how the program ends.

mod args;
mod outcome;
mod plan;
mod print;
mod run;
mod signals;
mod subcommand;

pub use run::main;
