//! The proof that prose holds nothing verifiable, or only what the call behind it keeps. The default is no proof.
//!
//! It is made for each unit of a text; a text is narrative where each of its units is.

mod sentence;
mod table;
mod unit;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use strongroom_core::evidence::AtomKind;
use strongroom_core::transcript::{BlockKind, Speaker};

use crate::atom::{self, Atom};
use crate::content::{Calls, Next};
use crate::cues::{self, Cue};

use self::sentence::{Announcement, Place, Sentence, Step};
use self::table::table;
pub use self::unit::UnitKind;

/// How much of the next call is searched for the words of a choice, in bytes: its arguments stand first.
const CHOICE_BYTES_MAX: usize = 4_096;

/// Why a unit holds no evidence. Of a text with several, the last in this order is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Proof {
    /// It holds nothing at all.
    Empty,
    /// A user's whole turn is a thanks or a greeting.
    UserAcknowledgement,
    /// Words that say nothing: `Great!`
    Acknowledgement,
    /// Something was taken in, and it is not said what: `Now I have the full picture.`
    Orientation,
    /// Further help is offered, and it is not said with what: `If you need anything else, feel free to ask!`
    Courtesy,
    /// A thought is announced, and taken by thinking on.
    Musing,
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
            Self::Orientation => "orientation",
            Self::Courtesy => "courtesy",
            Self::Musing => "musing",
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
    /// The calls before.
    pub previous: &'a Calls,
}

/// The rule that proves the whole `text` to be narrative, where one does: [`whole`] of its [`units`], which looks at
/// no unit behind the first that has no proof.
pub fn prove(text: &str, kind: &BlockKind, speaker: Speaker, beside: Beside<'_>) -> Option<Proof> {
    whole_of(text, kind, each_unit(text, kind, speaker, beside).map(|unit| unit.proof))
}

/// The proof of a whole text from those of its `units`.
pub fn whole<'u>(text: &str, kind: &BlockKind, units: impl IntoIterator<Item = &'u Unit>) -> Option<Proof> {
    whole_of(text, kind, units.into_iter().map(|unit| unit.proof))
}

fn whole_of(text: &str, kind: &BlockKind, mut proofs: impl Iterator<Item = Option<Proof>>) -> Option<Proof> {
    if text.trim().is_empty() {
        // Reasoning without any text is sealed.
        let sealed = matches!(kind, BlockKind::Thinking) && text.is_empty();
        let prose = matches!(kind, BlockKind::Text | BlockKind::Thinking);
        return (prose && !sealed).then_some(Proof::Empty);
    }
    let first = proofs.next()??;
    proofs.try_fold(first, |last, proof| Some(last.max(proof?)))
}

/// The units of `text`, in order and disjoint, each with its proof where there is one. Only rules and white space lie
/// between them.
///
/// An announcement may name what stands word for word in the call that follows it, or in the call of the same turn
/// before it ([`Proof::Covered`]): those calls keep it. That holds as long as they can be retrieved, and
/// they can: a call is never narrative, so the gate lets go of it only with a pointer to its original.
pub fn units(text: &str, kind: &BlockKind, speaker: Speaker, beside: Beside<'_>) -> Vec<Unit> {
    each_unit(text, kind, speaker, beside).collect()
}

fn each_unit<'t>(
    text: &'t str,
    kind: &BlockKind,
    speaker: Speaker,
    beside: Beside<'t>,
) -> impl Iterator<Item = Unit> + use<'t> {
    let all = match (kind, speaker) {
        (BlockKind::Text, Speaker::User) => {
            let plain = text.trim().trim_end_matches(['.', '!', ' ', '。', '！']).to_lowercase();
            table().user_ack.contains(&plain).then_some(Proof::UserAcknowledgement)
        }
        _ => None,
    };
    let kept = Kept::new(beside);
    let assistant = matches!(kind, BlockKind::Text | BlockKind::Thinking) && speaker == Speaker::Assistant;
    let prove = move |kind: UnitKind, range: &Range<usize>| {
        let own = text.get(range.clone()).filter(|_| assistant && kind == UnitKind::Sentence)?;
        sentence(&plain_marks(own)?, &kept)
    };
    let (turn, cut) = if assistant { (None, Some(unit::cut(text))) } else { (unit::turn(text), None) };
    turn.into_iter().chain(cut.into_iter().flatten()).map(move |(kind, range)| Unit {
        proof: all.or_else(|| prove(kind, &range)),
        kind,
        range,
    })
}

/// The text with plain quotes and dashes. The tables know English; text in other scripts is left alone.
fn plain_marks(text: &str) -> Option<Cow<'_, str>> {
    if text.is_ascii() && !text.contains(['\r', '\n']) {
        return Some(Cow::Borrowed(text));
    }
    let mut plain = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '’' | '‘' => plain.push('\''),
            '“' | '”' => plain.push('"'),
            '…' => plain.push_str("..."),
            '—' | '–' => plain.push_str(" - "),
            '\r' | '\n' => plain.push(' '),
            _ if char.is_ascii() => plain.push(char),
            _ => return None,
        }
    }
    Some(Cow::Owned(plain))
}

/// The texts of the calls beside, as written and in small letters.
struct Kept<'a> {
    call: Option<&'a str>,
    previous: &'a Calls,
    small: OnceCell<[String; 2]>,
}

impl<'a> Kept<'a> {
    fn new(beside: Beside<'a>) -> Self {
        let call = match beside.next {
            Next::Call(call) => Some(call.as_ref()),
            Next::Other => None,
        };
        Self { call, previous: beside.previous, small: OnceCell::new() }
    }

    fn texts(&self) -> [&str; 2] {
        [self.call.unwrap_or_default(), self.previous.text()]
    }

    fn small(&self) -> &[String; 2] {
        self.small.get_or_init(|| self.texts().map(str::to_ascii_lowercase))
    }

    /// Whether a call keeps `word`, in whatever letters.
    fn names(&self, word: &str) -> bool {
        let word = word.to_ascii_lowercase();
        self.small().iter().any(|call| stands_in(call, &word))
    }

    /// Whether the beginning of the next call keeps every word of a choice.
    fn chooses(&self, choice: &str) -> bool {
        let [next, _] = self.small();
        let next = next.get(..next.floor_char_boundary(CHOICE_BYTES_MAX)).unwrap_or_default();
        let choice = choice.to_ascii_lowercase();
        sentence::words(&choice).all(|word| sentence::is_small(word) || stands_in(next, word))
    }
}

fn sentence(text: &str, kept: &Kept<'_>) -> Option<Proof> {
    let call = kept.call;
    let announcement = match Sentence::read(text)? {
        Sentence::Opening => return Some(Proof::Acknowledgement),
        // What is accepted and not followed by a call is a promise.
        Sentence::Acceptance => return call.map(|_| Proof::Acknowledgement),
        Sentence::Orientation => return Some(Proof::Orientation),
        Sentence::Courtesy => return Some(Proof::Courtesy),
        Sentence::Announcement(announcement) => announcement,
    };
    if is_cut(text) || is_toned(text, &announcement) {
        return None;
    }
    let names_nothing = match holdings(text, &announcement, kept)? {
        Holdings::Nothing => true,
        Holdings::Kept => false,
    };
    match (announcement.step, call) {
        (Step::Thought, _) if names_nothing => Some(Proof::Musing),
        (_, None) => None,
        (_, Some(_)) if names_nothing => Some(Proof::Announced),
        (_, Some(_)) => Some(Proof::Covered),
    }
}

/// What a sentence names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holdings {
    Nothing,
    /// What the calls beside it keep.
    Kept,
}

/// `None` where it names what no call keeps.
fn holdings(text: &str, announcement: &Announcement, kept: &Kept<'_>) -> Option<Holdings> {
    let mut found = Holdings::Nothing;
    for atom in atom::extract(text).iter().filter(|atom| atom.kind != AtomKind::Claim) {
        if atom.kind == AtomKind::Negation && announcement.place(atom.range.start) == Place::Asked {
            continue;
        }
        found = Holdings::Kept;
        let own = text.get(atom.range.clone())?;
        if atom.kind == AtomKind::Negation && table().shown.contains(&own.to_ascii_lowercase()) {
            continue;
        }
        if !kept.texts().iter().any(|call| covers(call, text, atom)) {
            return None;
        }
    }
    for name in sentence::names(text) {
        found = Holdings::Kept;
        if !kept.names(name) {
            return None;
        }
    }
    for fault in announcement.faults(text) {
        found = Holdings::Kept;
        if !kept.names(fault) {
            return None;
        }
    }
    if let Some(chosen) = announcement.chosen {
        found = Holdings::Kept;
        if !kept.chooses(text.get(chosen..)?) {
            return None;
        }
    }
    Some(found)
}

/// Whether a quotation or code in it began before it or ends behind it.
fn is_cut(text: &str) -> bool {
    ['"', '`'].iter().any(|mark| text.matches(*mark).count() % 2 == 1)
}

/// Whether something is claimed, supposed, demanded or decided.
fn is_toned(text: &str, announcement: &Announcement) -> bool {
    cues::tone(text).iter().any(|found| {
        let place = announcement.place(found.range.start);
        let word = text.get(found.range.clone()).unwrap_or_default().to_ascii_lowercase();
        let plain = table().plain_tone.contains(&word);
        match found.cue {
            Cue::Claim if place == Place::Presumed => {
                word.starts_with("i ") || word.starts_with("we") || table().faults.contains(&word)
            }
            Cue::Claim | Cue::Hypothetical => place != Place::Asked,
            Cue::Required => place == Place::Said && !text_before(text, found.range.start).ends_with("i "),
            Cue::Decision => place == Place::Said || !plain,
            _ => false,
        }
    })
}

fn text_before(text: &str, at: usize) -> String {
    text.get(at.saturating_sub(2)..at).unwrap_or_default().to_ascii_lowercase()
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
        | AtomKind::LineRef
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
        prove(text, &BlockKind::Text, speaker, Beside { next: &next, previous: &Calls::default() })
    }

    #[test]
    fn announcements_of_the_next_call_are_narrative() {
        for text in [
            "Let me look at the tests.",
            "Great! Now let me check the parser:",
            "Now I'll update the documentation.",
            "Okay, let's run the build.",
            "I'll start by exploring the repository structure.",
            "I\u{2019}ll start by exploring the repository structure.",
            "Perfect!",
        ] {
            assert!(by(Speaker::Assistant, text).is_some(), "{text}");
        }
        let alone = Beside { next: &Next::Other, previous: &Calls::default() };
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
            prove(
                text,
                &BlockKind::Text,
                Speaker::Assistant,
                Beside { next: &next, previous: &previous.into() },
            )
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
        let alone = Beside { next: &Next::Other, previous: &read.into() };
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
        let alone = Beside { next: &Next::Other, previous: &Calls::default() };
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

    fn proofs(text: &str) -> Vec<Option<Proof>> {
        let next = Next::Call("".into());
        let units = units(
            text,
            &BlockKind::Text,
            Speaker::Assistant,
            Beside { next: &next, previous: &Calls::default() },
        );
        units.into_iter().map(|unit| unit.proof).collect()
    }

    #[test]
    fn units_are_proved_each_by_itself() {
        use Proof::{Acknowledgement, Announced, Orientation};
        assert_eq!(
            proofs(
                "Great! The tests pass. Now let me read the docs.\n\n- Let me look.\n\n```\nlet me look\n```"
            ),
            [Some(Acknowledgement), None, Some(Announced), None, None]
        );
        assert_eq!(
            proofs("Now I have a clear picture. Let me write\nthe tests."),
            [Some(Orientation), Some(Announced)]
        );
        // A quotation that is not closed goes on.
        assert_eq!(proofs("Let me quote \"it. Let me look\"."), [None, None]);
    }

    #[test]
    fn an_offer_of_help_names_nothing() {
        for text in [
            "If you have any other questions or need further assistance, feel free to ask!",
            "Please let me know if there's anything else I can assist you with.",
            "Feel free to reach out.",
        ] {
            assert_eq!(by(Speaker::Assistant, text), Some(Proof::Courtesy), "{text}");
        }
        for text in [
            "If you need further assistance, I can transfer you to a human agent.",
            "Let me know if you want the refund.",
            "Is there anything else I can help you with?",
            "If you have any other questions, the docs are in README.",
            "Feel free to delete it.",
        ] {
            assert_eq!(by(Speaker::Assistant, text), None, "{text}");
        }
    }

    #[test]
    fn thoughts_need_no_call_and_acceptance_does() {
        let alone = Beside { next: &Next::Other, previous: &Calls::default() };
        let thought = |text: &str| prove(text, &BlockKind::Thinking, Speaker::Assistant, alone);
        assert_eq!(thought("Let me think about this more carefully."), Some(Proof::Musing));
        for text in ["Understood.", "Sounds good!", "Good point.", "Let me think about `lower`."] {
            assert_eq!(thought(text), None, "{text}");
        }
        assert_eq!(by(Speaker::Assistant, "Understood."), Some(Proof::Acknowledgement));
    }

    #[test]
    fn choices_and_faults_are_covered_or_kept() {
        let covered = |text: &str, next: &str, previous: &str| {
            let next = Next::Call(next.into());
            prove(
                text,
                &BlockKind::Text,
                Speaker::Assistant,
                Beside { next: &next, previous: &previous.into() },
            )
        };
        let edit = "Edit\nmatch token { the switch statement }";
        assert_eq!(covered("Let me update it to use a switch statement.", edit, ""), Some(Proof::Covered));
        assert_eq!(covered("Let me update it to use a lookup table.", edit, ""), None);
        assert_eq!(covered("Let me fix these errors.", edit, "lint\n3 errors"), Some(Proof::Covered));
        assert_eq!(covered("Let me fix these errors.", edit, "all fine"), None);
    }

    #[test]
    fn what_is_asked_carries_no_statement_behind_it() {
        for text in [
            "Let me verify `it` is still used (it is for the parser).",
            "Let me check if it is used - if so, it should be removed.",
            "Let me update the test to reflect the behavior where both sides win.",
            "I can see the file ends here.",
            "I'll read the code, then I'll open a draft.",
            "I need to keep both versions.",
            "Adding it restores that.",
            "I'm going to merge it.",
        ] {
            assert_eq!(by(Speaker::Assistant, text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_text_is_narrative_where_each_unit_is(text in "((let me|great|now|i see|the tests) ?[a-z ]{0,9}[.!:`\"\n]{0,2} ?){0,8}") {
            let next = Next::Call("".into());
            let beside = Beside { next: &next, previous: &Calls::default() };
            let units = units(&text, &BlockKind::Text, Speaker::Assistant, beside);
            let every = units.iter().all(|unit| unit.proof.is_some());
            prop_assert_eq!(prove(&text, &BlockKind::Text, Speaker::Assistant, beside).is_some(), every);
        }

        #[test]
        fn what_holds_a_digit_is_never_narrative(text in "(let me check |now |ok[.] |[a-z ]{0,6}|[0-9]|\\PC){0,12}") {
            if text.chars().any(|char| char.is_ascii_digit()) {
                prop_assert_eq!(by(Speaker::Assistant, &text), None);
            }
        }
    }
}
