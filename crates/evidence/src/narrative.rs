//! The proof that prose holds nothing verifiable, or only what the call behind it keeps. The default is no proof.
//!
//! It is made for each unit of a text; a text is narrative where each of its units is.

mod sentence;
mod table;
mod unit;

use std::ops::Range;

use strongroom_core::evidence::AtomKind;
use strongroom_core::transcript::{BlockKind, Speaker};

use crate::atom::{self, Atom};
use crate::content::Next;
use crate::cues::{self, Cue};

use self::sentence::{Announcement, Place, Sentence};
use self::table::table;
pub use self::unit::UnitKind;

/// Why a unit holds no evidence. Of a text with several, the last in this order is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Proof {
    /// It holds nothing at all.
    Empty,
    /// A user's whole turn is a thanks or a greeting.
    UserAcknowledgement,
    /// Words that say nothing: `Great!`
    Acknowledgement,
    /// A step is announced, and taken by the call behind it.
    Announced,
    /// As announced, and what it names stands word for word in the calls beside it.
    Covered,
}

impl Proof {
    /// The rule in one word.
    pub const fn rule(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::UserAcknowledgement => "user-acknowledgement",
            Self::Acknowledgement => "acknowledgement",
            Self::Announced => "announced-step",
            Self::Covered => "covered-step",
        }
    }
}

/// A unit of a text: a sentence, a list item, a heading, a fence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// What it is.
    pub kind: UnitKind,
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// Why it is narrative, where that is proved.
    pub proof: Option<Proof>,
}

/// The calls of the turn beside a text.
#[derive(Debug, Clone, Copy)]
pub struct Beside<'a> {
    /// What follows.
    pub next: &'a Next,
    /// The text of the call before, as of [`crate::content::call_text`]; empty where there is none.
    pub previous: &'a str,
}

/// The rule that proves the whole `text` to be narrative, where one does.
pub fn prove(text: &str, kind: &BlockKind, speaker: Speaker, beside: Beside<'_>) -> Option<Proof> {
    whole(text, kind, &units(text, kind, speaker, beside))
}

/// The proof of a whole text from those of its `units`.
pub fn whole(text: &str, kind: &BlockKind, units: &[Unit]) -> Option<Proof> {
    if text.trim().is_empty() {
        // Reasoning without any text is sealed.
        let sealed = matches!(kind, BlockKind::Thinking) && text.is_empty();
        let prose = matches!(kind, BlockKind::Text | BlockKind::Thinking);
        return (prose && !sealed).then_some(Proof::Empty);
    }
    let proofs: Option<Vec<Proof>> = units.iter().map(|unit| unit.proof).collect();
    proofs?.into_iter().max()
}

/// The units of `text`, in order and disjoint, each with its proof where there is one. Only rules and white space lie
/// between them.
///
/// An announcement may name what stands word for word in the call that follows it, or in the call of the same turn
/// before it ([`Proof::Covered`]): those calls keep it. That holds as long as they can be retrieved, and
/// they can: a call is never narrative, so the gate lets go of it only with a pointer to its original.
pub fn units(text: &str, kind: &BlockKind, speaker: Speaker, beside: Beside<'_>) -> Vec<Unit> {
    let all = match (kind, speaker) {
        (BlockKind::Text, Speaker::User) => {
            let plain = text.trim().trim_end_matches(['.', '!', ' ', '。', '！']).to_lowercase();
            table().user_ack.contains(&plain).then_some(Proof::UserAcknowledgement)
        }
        _ => None,
    };
    let assistant =
        matches!(kind, BlockKind::Text | BlockKind::Thinking) && speaker == Speaker::Assistant;
    let prove = |kind: UnitKind, range: &Range<usize>| {
        let own = text.get(range.clone()).filter(|_| assistant && kind == UnitKind::Sentence)?;
        sentence(&plain_marks(own)?, beside)
    };
    let found = unit::cut(text).into_iter();
    found.map(|(kind, range)| Unit { proof: all.or_else(|| prove(kind, &range)), kind, range }).collect()
}

/// The text with plain quotes and dashes. The tables know English; text in other scripts is left alone.
fn plain_marks(text: &str) -> Option<String> {
    let plain = text
        .replace(['’', '‘'], "'")
        .replace(['“', '”'], "\"")
        .replace('…', "...")
        .replace(['—', '–'], " - ")
        .replace(['\r', '\n'], " ");
    plain.is_ascii().then_some(plain)
}

fn sentence(text: &str, beside: Beside<'_>) -> Option<Proof> {
    let announcement = match Sentence::read(text)? {
        Sentence::Opening => return Some(Proof::Acknowledgement),
        Sentence::Announcement(announcement) => announcement,
    };
    let Next::Call(next) = beside.next else { return None };
    if is_cut(text) || is_toned(text, &announcement) {
        return None;
    }
    let kept = [next.as_ref(), beside.previous];
    let mut covered = false;
    for atom in atom::extract(text).iter().filter(|atom| atom.kind != AtomKind::Claim) {
        if atom.kind == AtomKind::Negation && announcement.place(atom.range.start) == Place::Asked {
            continue;
        }
        covered = true;
        if !kept.iter().any(|call| covers(call, text, atom)) {
            return None;
        }
    }
    for name in sentence::names(text) {
        covered = true;
        if !kept.iter().any(|call| stands_in(call, name)) {
            return None;
        }
    }
    Some(if covered { Proof::Covered } else { Proof::Announced })
}

/// Whether a quotation or code in it began before it or ends behind it.
fn is_cut(text: &str) -> bool {
    ['"', '`'].iter().any(|mark| text.matches(*mark).count() % 2 == 1)
}

/// Whether something is claimed, supposed, demanded or decided.
fn is_toned(text: &str, announcement: &Announcement) -> bool {
    cues::tone(text).iter().any(|found| {
        let place = announcement.place(found.range.start);
        match found.cue {
            Cue::Claim | Cue::Hypothetical => place != Place::Asked,
            Cue::Required => place == Place::Said,
            Cue::Decision => true,
            _ => false,
        }
    })
}

/// Whether the call keeps what an atom says, word for word.
fn covers(call: &str, text: &str, atom: &Atom) -> bool {
    let Some(own) = text.get(atom.range.clone()) else { return false };
    match atom.kind {
        // A short number stands in many calls by chance.
        AtomKind::Number => own.len() >= 3 && stands_in(call, own),
        AtomKind::Negation | AtomKind::Constraint | AtomKind::Claim | AtomKind::Secret | AtomKind::Error => {
            false
        }
        AtomKind::Path
        | AtomKind::Url
        | AtomKind::Id
        | AtomKind::Quantity
        | AtomKind::Time
        | AtomKind::Quote
        | AtomKind::Code
        | AtomKind::Flag
        | AtomKind::Env => stands_in(call, own),
    }
}

/// Whether `own` stands in `call`, not as a part of a longer word.
fn stands_in(call: &str, own: &str) -> bool {
    let bytes = call.as_bytes();
    let joins = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    !own.is_empty()
        && memchr::memmem::find_iter(bytes, own).any(|at| {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            !joins(before) && !joins(bytes.get(at + own.len()))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by(speaker: Speaker, text: &str) -> Option<Proof> {
        let next = Next::Call("".into());
        prove(text, &BlockKind::Text, speaker, Beside { next: &next, previous: "" })
    }

    #[test]
    fn announcements_of_the_next_call_are_narrative() {
        for text in [
            "Let me look at the tests.",
            "Great! Now let me check the parser:",
            "Now I'll update the documentation.",
            "Okay, let's run the build.",
            "I'll start by exploring the repository structure.",
            "Perfect!",
        ] {
            assert!(by(Speaker::Assistant, text).is_some(), "{text}");
        }
        let alone = Beside { next: &Next::Other, previous: "" };
        assert_eq!(prove("Let me look at it.", &BlockKind::Text, Speaker::Assistant, alone), None);
    }

    #[test]
    fn whatever_may_be_asked_about_is_not() {
        for text in [
            "Let me look at src/a.rs.",
            "The directory is empty.",
            "Let me fix the two failing cases.",
            "I'll use the credit card on file.",
            "I'll get back to you later.",
            "Let me check. The tests pass.",
            "So my fix is correct.",
            "I did not run it.",
            "Let me update the Parser class.",
            "We should use a table instead.",
            "Now let me delete the production data.",
            "Should I continue?",
            "- Let me look at it.",
            "让我看看。",
        ] {
            assert_eq!(by(Speaker::Assistant, text), None, "{text}");
        }
    }

    #[test]
    fn what_the_calls_beside_keep_may_be_named() {
        let covered = |text: &str, next: &str, previous: &str| {
            let next = Next::Call(next.into());
            prove(text, &BlockKind::Text, Speaker::Assistant, Beside { next: &next, previous })
        };
        let read = "Read\n/app/src/parse.rs\nfn lower() {}";
        assert_eq!(covered("Let me read src/parse.rs:", read, ""), Some(Proof::Covered));
        assert_eq!(covered("Now let me update `lower`.", "Edit", read), Some(Proof::Covered));
        assert_eq!(covered("Let me check the Gemini hooks.", "Grep\nGemini", ""), Some(Proof::Covered));
        for text in [
            "Let me read src/pars.rs:",
            "Let me update `low`.",
            "Let me not read src/parse.rs.",
            "I see src/parse.rs. Let me read it.",
            "Let me fix src/parse.rs, it breaks.",
            "Let me read src/parse.rs, the parser lives there.",
            "Let me read src/parse.rs which calls `lower`.",
            "I'll read src/parse.rs; if that is fine, I'll commit.",
            "src/parse.rs",
        ] {
            assert_eq!(covered(text, read, ""), None, "{text}");
        }
        let alone = Beside { next: &Next::Other, previous: read };
        assert_eq!(prove("Let me read src/parse.rs:", &BlockKind::Text, Speaker::Assistant, alone), None);
    }

    #[test]
    fn what_is_asked_is_not_said() {
        for text in [
            "Let me run the tests to make sure everything works.",
            "Now let me verify the tests still pass.",
            "Let me run lint to make sure nothing is broken.",
            "I need to check if the hook is installed.",
        ] {
            assert!(by(Speaker::Assistant, text).is_some(), "{text}");
        }
        for text in [
            "Still running.",
            "Let me see why the tests failed.",
            "Let me check what broke, the tests failed.",
            "I'll capture it later if it hasn't completed.",
            "Let me resolve the conflict by keeping the old signature.",
            "Let me update the plan to use a switch statement.",
        ] {
            assert_eq!(by(Speaker::Assistant, text), None, "{text}");
        }
    }

    #[test]
    fn empty_texts_are_narrative_and_sealed_reasoning_is_not() {
        let alone = Beside { next: &Next::Other, previous: "" };
        let empty = |text: &str, kind: BlockKind| prove(text, &kind, Speaker::Assistant, alone);
        assert_eq!(empty("", BlockKind::Text), Some(Proof::Empty));
        assert_eq!(empty(" \n", BlockKind::Thinking), Some(Proof::Empty));
        assert_eq!(empty("", BlockKind::Thinking), None);
    }

    #[test]
    fn users_are_believed_to_mean_something() {
        assert!(by(Speaker::User, "Thanks!").is_some());
        for text in ["yes", "ok", "go ahead", "let me see", "Thanks, but revert it"] {
            assert_eq!(by(Speaker::User, text), None, "{text}");
        }
        assert_eq!(by(Speaker::Tool, "Let me check the tests."), None);
    }

    proptest! {
        #[test]
        fn what_holds_a_digit_is_never_narrative(text in "(let me check |now |ok[.] |[a-z ]{0,6}|[0-9]|\\PC){0,12}") {
            if text.chars().any(|char| char.is_ascii_digit()) {
                prop_assert_eq!(by(Speaker::Assistant, &text), None);
            }
        }
    }
}
