//! Bans that were lost and then acted against.
//!
//! Only what is certain counts: a ban without a condition, of an act that the ledger knows, on a thing that the ban
//! names, done definitely and with a recorded success.

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;
use strongroom_core::evidence::{AtomKind, Certainty};
use strongroom_evidence::atom;
use strongroom_evidence::effect::{Effect, EffectKind, Outcome};

use super::rest::{hidden, shell_line, text_of};
use super::sides::Part;
use super::text::{plain, stands_in};
use super::words::LostRule;
use super::{Later, Place};
use crate::reading::ReadSpan;
use crate::transcript::Transcript;

/// An act against a ban.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Broken {
    /// What was done: the shell line, else kind and target.
    pub what: String,
    /// Where.
    pub place: Place,
}

/// Whether a ban must name what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Object {
    Needed,
    Optional,
}

/// The words of an act behind the words of a ban, and the effects that are that act.
struct Act {
    words: &'static str,
    kinds: &'static [EffectKind],
    object: Object,
}

const ACTS: &[Act] = &[
    Act { words: "push", kinds: &[EffectKind::VcsRemote], object: Object::Optional },
    Act { words: "commit", kinds: &[EffectKind::VcsCommit], object: Object::Optional },
    Act { words: "install|upgrade", kinds: &[EffectKind::PkgMutate], object: Object::Optional },
    Act {
        words: "delete|remove|rm",
        kinds: &[EffectKind::FsDelete, EffectKind::FsDiscard],
        object: Object::Needed,
    },
    Act {
        words: "edit|modify|change|touch|write|overwrite|alter|update",
        kinds: &[EffectKind::FsWrite, EffectKind::FsAppend, EffectKind::FsMove, EffectKind::FsDelete],
        object: Object::Needed,
    },
];

const BAN: &str = r"(?i)\b(?:never|do\s+not|don['’]?t|must\s+not|mustn['’]t|should\s+not|shouldn['’]t|may\s+not|no)\s+(?:\w+\s+){0,2}?";

/// Each act with the pattern of its ban.
static BANS: LazyLock<Vec<(&'static Act, Regex)>> = LazyLock::new(|| {
    let read = |act: &'static Act| {
        Regex::new(&format!(r"{BAN}(?:{})(?:ing|s|ed)?\b", act.words)).ok().map(|regex| (act, regex))
    };
    ACTS.iter().filter_map(read).collect()
});

/// Words that make a ban depend on something.
static CONDITION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:unless|until|before|without|except|if|when|yet|for\s+now|only|just|again|too|anymore)\b",
    )
    .ok()
});

/// The place an act is aimed at: `to main`, `in billing`.
static AIM: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:to|in|on|from|under)\s+(?:the\s+)?[`'\x22]?([\w./-]+)").ok());

/// What was done against `rule` behind the compaction that lost it.
pub(super) fn find(transcript: &Transcript, rule: &LostRule, later: Later<'_, '_>) -> Vec<Broken> {
    if CONDITION.as_ref().is_none_or(|condition| condition.is_match(&rule.quote)) {
        return Vec::new();
    }
    let Some((act, banned)) = BANS.iter().find_map(|(act, ban)| Some((*act, ban.find(&rule.quote)?))) else {
        return Vec::new();
    };
    let objects = objects(rule.quote.get(banned.end()..).unwrap_or_default());
    if objects.is_empty() && act.object == Object::Needed {
        return Vec::new();
    }
    let mut all = Vec::new();
    for span in later.spans() {
        let effects = span.examination.effects.iter().filter(|effect| act.kinds.contains(&effect.kind));
        if let Some(effect) =
            effects.filter(|effect| is_done(effect)).find(|effect| hits(effect, span, &objects))
        {
            let act = || format!("{} {}", effect.kind.word(), hidden(effect.target.words()));
            let what = shell_line(span).unwrap_or_else(act);
            all.push(Broken { what, place: Place::around(transcript, span, effect.target.words()) });
        }
    }
    all
}

fn is_done(effect: &Effect) -> bool {
    effect.certainty == Certainty::Definite && matches!(effect.outcome, Outcome::Ok | Outcome::ReportedOk)
}

/// What a ban is about, in lower case.
fn objects(behind: &str) -> Vec<String> {
    let atoms = atom::extract(behind);
    let named =
        atoms.iter().filter(|atom| matches!(atom.kind, AtomKind::Path | AtomKind::Code | AtomKind::Quote));
    let mut all: Vec<String> = named
        .filter_map(|atom| behind.get(atom.range.clone()))
        .map(|own| plain(own).trim_matches(['`', '"', '\'']).to_owned())
        .collect();
    let aims = AIM.as_ref().into_iter().flat_map(|aim| aim.captures_iter(behind));
    all.extend(aims.filter_map(|found| found.get(1)).map(|found| plain(found.as_str())));
    all
}

/// Whether an effect is on one of the things, or there is none to ask for.
fn hits(effect: &Effect, span: &ReadSpan<'_>, objects: &[String]) -> bool {
    let target = plain(effect.target.words());
    let call = plain(&text_of(&Part::whole(span)));
    let is_file =
        matches!(effect.kind, EffectKind::VcsRemote | EffectKind::VcsCommit | EffectKind::PkgMutate);
    objects.is_empty()
        || objects.iter().any(|object| {
            let object = object.trim_end_matches(['/', '.']);
            stands_in(&target, object) || is_file && stands_in(&call, object)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ban_compiles_and_conditions_are_left_out() {
        assert_eq!(BANS.len(), ACTS.len());
        assert!(CONDITION.as_ref().unwrap().is_match("don't push until I say so"));
        assert!(!CONDITION.as_ref().unwrap().is_match("never push to main"));
        assert_eq!(objects(" to main"), ["main"]);
        assert_eq!(objects(" `src/tax.rs`")[0], "src/tax.rs");
    }
}
