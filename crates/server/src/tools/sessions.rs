//! `evidence_sessions`.

use serde_json::json;
use strongroom::Result;
use strongroom::desk::{Held, Session};
use strongroom::form::{SourceForm, time_words};

use super::{Call, MAX_TOKENS, OFFSET, Tool};
use crate::params::{Kind, Need, Param};
use crate::reply::{Draft, Entry, Reply, without_empty};

pub(super) const TOOL: Tool = Tool {
    name: "evidence_sessions",
    title: "List the sessions",
    about: "Lists the sessions that can be asked, newest first: id, path, format, size, working directory, and whether an original is in custody. The id or the path is what the other tools take as `session`.",
    params: &[&OF, &OFFSET, &MAX_TOKENS],
    output: include_str!("sessions.json"),
    run,
};

const OF: Param = Param {
    name: "of",
    kind: Kind::Choice(&["project", "all"]),
    need: Need::May,
    about: "project: those that are asked where no session is named; all: every one that can be named.",
};

fn run(call: &mut Call<'_>) -> Result<Reply> {
    let all = call.args.text(OF.name) == Some("all");
    let known = call.desk.sessions()?;
    let count = known.len();
    let mut draft = Draft::new(TOOL.name, call.args);
    let own: Vec<&Session> = known.iter().filter(|session| call.desk.is_usual(session)).collect();
    draft.field("asked_by_default", own.len());
    draft.field("known", count);
    draft.line(format!("{} sessions are asked where none is named, of {count} known", own.len()));
    if own.is_empty() && !all {
        let words = "None is asked where none is named: name one (`of: all` lists them), or say that there are no records.";
        draft.field("what_to_do", words);
        draft.line(words);
    }
    let listed: Vec<&Session> = if all { known.iter().collect() } else { own };
    draft.entries(listed.into_iter().map(entry));
    Ok(draft.finish())
}

fn entry(session: &Session) -> Entry {
    let custody = session.custody.as_ref().map(SourceForm::of);
    let held = match session.held {
        Held::File(_) => "file",
        Held::Archive => "archive",
    };
    let cwd = session.cwd.as_ref().map(|cwd| cwd.display().to_string());
    let kept = custody.as_ref().map(|custody| {
        json!({ "id": custody.id, "revision": custody.revision, "bytes": custody.bytes,
                "imported_at": custody.imported_at })
    });
    let json = without_empty(json!({
        "session": session.id,
        "name": session.name,
        "format": session.format,
        "cwd": cwd,
        "bytes": session.bytes,
        "changed_at": time_words(session.at),
        "read_from": held,
        "custody": kept,
    }));
    let text = format!(
        "- {} {} {} bytes {} {}{}",
        session.id.as_deref().unwrap_or("(no id)"),
        session.format,
        session.bytes,
        time_words(session.at),
        session.name,
        if session.custody.is_some() { " (in custody)" } else { "" }
    );
    Entry { section: "sessions", json, text }
}
