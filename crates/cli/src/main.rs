//! The program `strongroom`: see the library beside it.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    ExitCode::from(strongroom_cli::run(&words, None))
}
