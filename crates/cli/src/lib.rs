//! The command `strongroom`: words typed become arguments, arguments become one call of the library, and what
//! comes back becomes text or JSON. Data goes to standard output, everything else to standard error.

mod clock;

mod exit;

mod args;

mod table;

mod progress;

mod json;

mod out;

mod secret;

mod place;

mod command;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser as _;

pub use crate::command::summariser;
use crate::exit::End;
pub use crate::place::{usual_cloud, usual_dir, usual_policy, usual_secret};
pub use crate::secret::key_in;

/// Runs the command line `words`, the program's name first, and returns the exit code: 0 done, 1 an honest no,
/// 2 usage, 3 damaged or unavailable.
///
/// `program` is what the settings of an agent call to run the command again; `None` is the running program.
/// Reads standard input, the clock and the environment, and writes to standard output and error.
pub fn run(words: &[OsString], program: Option<PathBuf>) -> u8 {
    let args = match args::Args::try_parse_from(words) {
        Ok(args) => args::Args { program, ..args },
        Err(error) if error.use_stderr() && command::is_hook(words) => {
            return command::unread_hook(&error).code();
        }
        Err(error) => return unread(&error),
    };
    match command::run(&args) {
        Ok(end) => end.code(),
        Err(error) => {
            out::error(&error, args.json);
            exit::of(error.kind()).code()
        }
    }
}

/// Prints what is wrong with the words, or the help that they ask for.
fn unread(error: &clap::Error) -> u8 {
    // Without an output there is nobody to tell.
    drop(error.print());
    if error.use_stderr() { End::Usage.code() } else { End::Done.code() }
}
