//! The objects of rules in questions.

use super::sentence::{Sentence, Spelling};
use super::words::{KINDS, POINTING, is_literal, is_name, safe};
use crate::query::Atom;

/// Whether a rule about such an object would be worded with these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// Yes: they are acts and literals.
    Certain,
    /// A rule may say it in other words.
    Open,
}

/// What is done to any file; beside a path or a name it says nothing of the object of a rule.
const HANDLING: &[&str] = &[
    "edit",
    "edited",
    "editing",
    "touch",
    "touched",
    "touching",
    "modify",
    "modified",
    "modifying",
    "change",
    "changed",
    "changing",
    "write",
    "writing",
    "read",
    "reading",
    "open",
    "opening",
    "use",
    "using",
    "do",
    "doing",
    "be",
];

/// Acts, as rules about them would be worded.
const ACTS: &[(&str, &str)] = &[
    ("push pushes pushing pushed", "push"),
    ("force-push force-pushes force-pushing force-pushed", "force-push*"),
    ("deployment deployments deploying", "deploy*"),
    ("deploy", "deploy"),
    ("installation installations installing", "install*"),
    ("install", "install"),
    ("deletion deletions deleting", "delet*"),
    ("delete", "delete"),
    ("remove removing removal", "remov*"),
    ("publication publications publishing", "publish*"),
    ("publish", "publish"),
    ("release releasing", "release"),
    ("releases", "release*"),
    ("migration migrations", "migration*"),
    ("migrate migrating", "migrat*"),
    ("commit", "commit"),
    ("commits committing", "commit*"),
    ("merge", "merge"),
    ("merging merges", "merg*"),
    ("rebase rebasing", "rebas*"),
    ("restart restarting", "restart"),
    ("restarts", "restart*"),
    ("drop dropping", "drop*"),
    ("send sending", "send"),
    ("post posting", "post"),
    ("mail mails mailing", "mail*"),
    ("upload uploading", "upload"),
    ("backup backups", "backup*"),
    ("rollback", "rollback"),
    ("create creating", "creat*"),
    ("rename renaming", "renam*"),
    ("move moving", "mov*"),
    ("run running", "run"),
    ("amend amending", "amend"),
    ("tag tagging", "tag"),
];

/// Words that set an object in its place.
const BETWEEN: &[&str] =
    &["to", "in", "into", "under", "on", "from", "with", "for", "of", "at", "anything", "onto", "via"];

/// The terms of a rule's object; none where a word is not accounted for.
pub(super) fn about(sentence: &Sentence, words: &str) -> Option<(Vec<String>, Certainty)> {
    const OPEN_MAX: usize = 1;
    let (mut terms, mut handled, mut acts, mut kinds, mut open) = (Vec::new(), Vec::new(), 0, 0, 0);
    for word in words.split(' ') {
        let lower = word.to_lowercase();
        let lower = lower.as_str();
        let act = ACTS.iter().find(|(forms, _)| forms.split(' ').any(|form| form == lower));
        match (sentence.spelling(word), act) {
            (Spelling::Quoted(text) | Spelling::Code(text), _) => {
                acts += 1;
                terms.push(Atom::Quoted(text.to_owned()).to_string());
            }
            (_, Some((_, term))) => {
                acts += 1;
                terms.push((*term).to_owned());
            }
            (Spelling::Word(_), _) if HANDLING.contains(&lower) => handled.push(lower.to_owned()),
            (Spelling::Word(_), _) if POINTING.contains(&lower) || BETWEEN.contains(&lower) => {}
            (Spelling::Word(word), _) if is_literal(word) => {
                acts += 1;
                terms.push(safe(word));
            }
            (Spelling::Word(word), _) if KINDS.contains(&lower) => {
                kinds += 1;
                terms.push(singular(word));
            }
            (Spelling::Word(word), _) if is_name(word) => {
                open += 1;
                terms.push(singular(word));
            }
            (Spelling::Word(_), _) => return None,
        }
    }
    let certain = if kinds + open == 0 { Certainty::Certain } else { Certainty::Open };
    let spoken = acts + handled.len() + kinds > 0 || open == OPEN_MAX;
    let terms = if terms.is_empty() { handled } else { terms };
    let terms: Vec<String> = terms.into_iter().map(|term| format!("about:{term}")).collect();
    (spoken && open <= OPEN_MAX && !terms.is_empty()).then_some((terms, certain))
}

/// Whether one of `words` is something that can be done.
pub(super) fn is_deed(words: &str) -> bool {
    words.split(' ').any(|word| {
        let lower = word.to_lowercase();
        let act = ACTS.iter().any(|(forms, _)| forms.split(' ').any(|form| form == lower));
        act || HANDLING.contains(&lower.as_str())
    })
}

/// A plural finds the singular, too.
fn singular(word: &str) -> String {
    let plain = word.len() > 4 && word.bytes().all(|byte| byte.is_ascii_lowercase()) && !word.ends_with("ss");
    match word.strip_suffix('s').filter(|_| plain) {
        Some(stem) => format!("{stem}*"),
        None => safe(word),
    }
}
