//! The command `strongroom`: words typed become arguments, arguments become one call of the library, and what
//! comes back becomes text or JSON. Data goes to standard output, everything else to standard error.

mod args;
mod clock;
mod exit;
mod json;
mod out;
mod place;
mod progress;
mod table;

mod command;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) if error.use_stderr() && command::is_hook() => return command::unread_hook(&error),
        Err(error) => error.exit(),
    };
    match command::run(&args) {
        Ok(end) => end.code(),
        Err(error) => {
            out::error(&error, args.json);
            exit::of(error.kind()).code()
        }
    }
}
