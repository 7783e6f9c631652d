//! `strongroom checkpoint`.

use strongroom::Result;
use strongroom::files::replace;

use super::keys;
use crate::args::{Args, CheckpointArgs};
use crate::exit::End;
use crate::{out, place};

pub(super) fn run(args: &Args, own: &CheckpointArgs) -> Result<End> {
    let key = match (&own.new_key, &own.key) {
        (Some(path), _) => {
            let key = keys::make(args, path, &own.name)?;
            out::note(&format!("made {} and {}", path.display(), keys::public_path(path).display()));
            out::hint(
                "keep the first where the archive's owner cannot reach it; give the second to whoever checks",
            );
            key
        }
        (None, Some(path)) => keys::private(args, path)?,
        (None, None) => return unsigned(args, own),
    };
    let archive = place::open_existing(args)?;
    let checkpoint = archive.checkpoint()?;
    let note = key.sign(&checkpoint.note_text());
    if args.json {
        let body = serde_json::json!({
            "schema": 1, "archive": checkpoint.archive.to_string(), "size": checkpoint.size,
            "root": checkpoint.root.to_string(), "note": note, "public_key": key.public().to_string(),
        });
        return write(own, &format!("{body}\n"));
    }
    write(own, &note)
}

/// Without a key the checkpoint is a line that anybody can write.
fn unsigned(args: &Args, own: &CheckpointArgs) -> Result<End> {
    let checkpoint = place::open_existing(args)?.checkpoint()?;
    out::warning("not signed: it proves nothing to anybody but you; give --key FILE, or --new-key FILE once");
    write(own, &format!("{checkpoint}\n"))
}

fn write(own: &CheckpointArgs, text: &str) -> Result<End> {
    match &own.out {
        Some(path) => replace(path, text.as_bytes(), &mut || {})?,
        None => out::text(text)?,
    }
    Ok(End::Done)
}
