//! Checks of the tree itself, run as ordinary tests (`cargo test -p xtask`), and the tables of figures.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line for developers")]

mod figures;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let table = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["evidence-figures", folder] => figures::evidence(Path::new(folder)),
        ["format-figures", folder] => figures::formats(Path::new(folder)),
        _ => Err("usage: xtask evidence-figures|format-figures DIR".to_owned()),
    };
    match table {
        Ok(table) => {
            println!("{table}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tidy;
