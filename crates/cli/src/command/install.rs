//! `strongroom install`: our entries in an agent's settings, and nothing else of them.

mod entries;
mod hooks;
mod json;
mod server;
mod target;
mod toml;

use serde_json::json;
use strongroom::Result;

use crate::args::{Args, InstallArgs};
use crate::exit::End;
use crate::out;
use entries::{Edit, edits};
use target::{Backup, State, Target};

pub(super) fn run(args: &Args, own: &InstallArgs) -> Result<End> {
    let edits = edits(args, own)?;
    // Everything is read and edited before anything is written: a file that cannot be read stops all of it.
    let mut changes = Vec::new();
    for edit in edits {
        let target = Target::read(&edit.path)?;
        let after = if own.uninstall { taken_out(&edit, &target)? } else { put_in(&edit, &target)? };
        changes.push((edit, target, after));
    }
    let mut told = Vec::new();
    for (edit, target, after) in &changes {
        let changed = *after != target.state;
        if changed {
            print_change(args, target, after)?;
            if !own.dry_run {
                target.write(after, own.scope, backup(own, edit, target))?;
            }
        }
        told.push(json!({ "path": edit.path, "what": edit.what(), "changed": changed }));
    }
    let changed = changes.iter().any(|(_, target, after)| *after != target.state);
    if args.json {
        let body = json!({ "schema": 1, "dry_run": own.dry_run, "uninstall": own.uninstall, "files": told });
        out::line(&body.to_string())?;
    } else {
        tell(own, changed);
    }
    changes.iter().flat_map(|(edit, _, after)| edit.doubts(after)).for_each(|doubt| out::warning(&doubt));
    Ok(End::Done)
}

fn backup(own: &InstallArgs, edit: &Edit, target: &Target) -> Backup {
    match (own.uninstall, edit.own(target.state.bytes()).is_empty()) {
        (true, _) => Backup::Remove,
        (false, true) => Backup::Keep,
        (false, false) => Backup::Leave,
    }
}

fn put_in(edit: &Edit, target: &Target) -> Result<State> {
    edit.put(target.state.bytes()).map(State::Bytes).map_err(|error| target.named(&error))
}

/// What the file is without our entries: byte for byte what it was before, where nothing else has changed since.
fn taken_out(edit: &Edit, target: &Target) -> Result<State> {
    let State::Bytes(now) = &target.state else { return Ok(State::Absent) };
    let rest = edit.take(now).map_err(|error| target.named(&error))?;
    if rest == *now {
        return Ok(target.state.clone());
    }
    let before = target.backup()?;
    let was = before.as_ref().map_or(State::Absent, |bytes| State::Bytes(bytes.clone()));
    let ours = edit.own(now);
    let put_again = edit.with(ours).put(was.bytes()).is_ok_and(|again| again == *now);
    Ok(if put_again { was } else { State::Bytes(rest) })
}

fn print_change(args: &Args, target: &Target, after: &State) -> Result<()> {
    if args.json { Ok(()) } else { out::text(&target.difference(after)) }
}

fn tell(own: &InstallArgs, changed: bool) {
    let word = match (changed, own.dry_run, own.uninstall) {
        (false, _, false) => "everything is installed already",
        (false, _, true) => "nothing of ours is there",
        (true, true, _) => "nothing was written (--dry-run)",
        (true, false, false) => "installed; sessions that start from now on use it",
        (true, false, true) => "uninstalled; the archive stays as it is",
    };
    out::note(word);
}
