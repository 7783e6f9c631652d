//! One module per command.

mod ask;
mod compact;
mod explain;
mod export;
mod import;
mod sessions;
mod show;
mod verify;

use clap::CommandFactory as _;
use strongroom::policy::Policy;
use strongroom::{Error, Result};

use crate::args::{Args, Command};
use crate::exit::End;
use crate::out;

/// Runs the command that was typed.
pub(crate) fn run(args: &Args) -> Result<End> {
    match &args.command {
        Command::Compact(own) => compact::run(args, own),
        Command::Show(own) => show::run(args, own),
        Command::Ask(own) => ask::run(args, own),
        Command::Explain(own) => explain::run(args, own),
        Command::Import(own) => import::run(args, own),
        Command::Sessions => sessions::run(args),
        Command::Export(own) => export::run(args, own),
        Command::Verify(own) => verify::run(args, *own),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Args::command(), "strongroom", &mut script);
            out::data(&script)?;
            Ok(End::Done)
        }
    }
}

/// The policy: the named file, or the defaults.
fn policy(args: &Args) -> Result<Policy> {
    let Some(path) = &args.policy else { return Ok(Policy::default()) };
    let text = std::fs::read_to_string(path).map_err(|error| {
        Error::invalid_input(format!("policy {} cannot be read", path.display())).caused_by(error)
    })?;
    Policy::parse(&text, &path.display().to_string())
}
