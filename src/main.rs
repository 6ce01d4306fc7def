//! The program `kimi-tui`; everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    kimi_tui::cli::main()
}
