//! The judgement of one sentence: what proves it, or why it is struck.
//!
//! Confidence never grows. A sentence stands when its literals stand in the originals, its numbers beside the same
//! things, its verbs in an original about the same with the same sign and no less certain, and when whoever it says
//! to have spoken did.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Serialize;
use strongroom_core::evidence::AtomKind;
use strongroom_core::summary::{Literal, TOLD_BYTES_MAX};
use strongroom_core::transcript::Speaker;
use strongroom_evidence::atom::Modality;
use strongroom_evidence::effect::{Access, Effect, EffectKind, Outcome};
use strongroom_evidence::unions;

use super::ground::{Ground, Kind, Unit};
use super::manner::{self, OfUser};
use super::numbers;
use super::words::{Form, Said, said, stem_of};
use crate::consent;
use crate::summarise::told::{Told, literals};
use crate::wording::plain;

/// Why a sentence is struck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// A literal or a name stands in no original.
    NoSuchLiteral,
    /// A number stands in no original beside the same thing.
    OtherNumber,
    /// The originals say the opposite.
    OtherSign,
    /// The originals say less: planned, demanded, begun or supposed.
    MoreCertain,
    /// The user has not said so.
    OtherSpeaker,
    /// No original says so.
    Unsupported,
    /// It names a span that was not given.
    NoSuchSpan,
    /// It tells its reader what to do, or refuses.
    Order,
    /// It imitates our marks, or those of a program.
    Imitation,
    /// It shows a secret.
    Secret,
    /// It is too long to be checked, or there is no more room.
    TooLong,
}

impl Why {
    /// The reason in reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NoSuchLiteral => "a literal that stands in no original",
            Self::OtherNumber => "a number that no original gives for it",
            Self::OtherSign => "the originals say the opposite",
            Self::MoreCertain => "the originals are less certain",
            Self::OtherSpeaker => "the user has not said so",
            Self::Unsupported => "no original says so",
            Self::NoSuchSpan => "it names a span that was not given",
            Self::Order => "it tells the reader what to do",
            Self::Imitation => "it imitates a mark or a heading",
            Self::Secret => "it shows a secret",
            Self::TooLong => "no room for it",
        }
    }
}

/// A sentence with what proves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Proved {
    pub(super) text: String,
    pub(super) proofs: Vec<Literal>,
    /// The spans that it rests on.
    pub(super) spans: Vec<u32>,
}

/// The most spans that are named behind a sentence.
const SPANS_MAX: usize = 4;

/// Judges `sentence`, which names the spans `named`.
pub(super) fn judge(ground: &Ground<'_>, sentence: &str, named: &[u32]) -> Result<Proved, Why> {
    manner(ground, sentence, named)?;
    let case = Case::of(ground, sentence);
    let proofs = case.proofs(named)?;
    case.known()?;
    let mut spans = BTreeSet::new();
    if !numbers::are_borne_out(sentence, &case.literals, ground, &mut spans) {
        return Err(Why::OtherNumber);
    }
    case.speaker()?;
    case.verbs(&mut spans)?;
    if spans.is_empty() {
        case.whole()?;
    }
    Ok(Proved { text: sentence.to_owned(), spans: case.rests_on(named, &spans, &proofs), proofs })
}

/// What a sentence must not be, whatever it says.
fn manner(ground: &Ground<'_>, sentence: &str, named: &[u32]) -> Result<(), Why> {
    match () {
        () if sentence.len() > TOLD_BYTES_MAX => Err(Why::TooLong),
        () if manner::is_imitation(sentence) => Err(Why::Imitation),
        () if manner::is_order(sentence) || manner::is_refusal(sentence) => Err(Why::Order),
        () if !named.iter().all(|&span| ground.is_given(span)) => Err(Why::NoSuchSpan),
        () if ground.hides(sentence) => Err(Why::Secret),
        () => Ok(()),
    }
}

/// What an original says to a verb of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bears {
    /// The opposite.
    Opposite,
    /// Less.
    Weaker,
    /// The same.
    Same,
}

/// A sentence before the originals.
struct Case<'g, 'a> {
    ground: &'g Ground<'a>,
    sentence: &'g str,
    literals: Vec<Told>,
    said: Vec<Said>,
    likeness: BTreeMap<usize, u32>,
}

impl<'g, 'a> Case<'g, 'a> {
    fn of(ground: &'g Ground<'a>, sentence: &'g str) -> Self {
        let mut said = said(sentence);
        if let Some(reach) = manner::wished(sentence) {
            // What the user wants done is not done.
            let wished = said.iter_mut().filter(|said| reach.contains(&said.word.range.start));
            wished
                .filter(|said| said.modality == Modality::Asserted)
                .for_each(|said| said.modality = Modality::Required);
        }
        let stems: BTreeSet<&str> = said.iter().map(|said| said.word.stem.as_str()).collect();
        let likeness = ground.likeness(&stems);
        Self { ground, sentence, literals: literals(sentence), said, likeness }
    }

    /// A place for each literal, in the named spans where it stands there.
    fn proofs(&self, named: &[u32]) -> Result<Vec<Literal>, Why> {
        let mut first = named.to_vec();
        first.extend(self.likeliest());
        let mut proofs: Vec<Literal> = Vec::new();
        for told in &self.literals {
            let text = self.sentence.get(told.range.clone()).unwrap_or_default();
            if proofs.iter().any(|proof| proof.text == text) {
                continue;
            }
            let number = matches!(told.kind, AtomKind::Number | AtomKind::Quantity);
            let why = if number { Why::OtherNumber } else { Why::NoSuchLiteral };
            proofs.push(self.ground.prove(text, &first).ok_or(why)?);
        }
        Ok(proofs)
    }

    /// The spans whose units share most with the sentence.
    fn likeliest(&self) -> Vec<u32> {
        let mut units: Vec<(u32, usize)> = self.likeness.iter().map(|(&at, &weight)| (weight, at)).collect();
        units.sort_unstable_by_key(|&(weight, at)| (std::cmp::Reverse(weight), at));
        let spans = units.into_iter().filter_map(|(_, at)| self.ground.unit(at)?.span);
        let mut likeliest: Vec<u32> = Vec::new();
        for span in spans.take(50) {
            if !likeliest.contains(&span) && likeliest.len() < SPANS_MAX {
                likeliest.push(span);
            }
        }
        likeliest
    }

    /// Names and half of all words stand in the originals.
    fn known(&self) -> Result<(), Why> {
        let known = |said: &&Said| !self.ground.with(&said.word.stem).is_empty();
        let own = |said: &Said| self.sentence.get(said.word.range.clone()).unwrap_or_default();
        let is_name = |said: &&Said| said.word.range.start > 0 && own(said).starts_with(char::is_uppercase);
        if self.said.iter().filter(is_name).any(|said| !known(&said)) || self.opens_with_name(&known) {
            return Err(Why::NoSuchLiteral);
        }
        let count = self.said.iter().filter(known).count();
        if count == 0 || count * 2 < self.said.len() { Err(Why::Unsupported) } else { Ok(()) }
    }

    /// Whether it begins with an unknown word that is neither an adverb nor set off by a comma.
    fn opens_with_name(&self, known: &dyn Fn(&&Said) -> bool) -> bool {
        let first = self.said.first().filter(|said| said.word.range.start == 0 && !known(said));
        first.is_some_and(|said| {
            let own = self.sentence.get(said.word.range.clone()).unwrap_or_default();
            let behind = self.sentence.get(said.word.range.end..).unwrap_or_default();
            let name = own.is_ascii() && own.starts_with(char::is_uppercase);
            name && matches!(said.word.form, Form::Plain | Form::Present)
                && !own.ends_with("ly")
                && !behind.starts_with(',')
        })
    }

    /// Where the sentence says that the user spoke or agreed, the user did, and of this.
    fn speaker(&self) -> Result<(), Why> {
        let of_user = manner::of_user(self.sentence);
        if of_user == OfUser::Nothing {
            return Ok(());
        }
        let of_saying = |stem: &str| SAYING.iter().any(|own| stem_of(own) == stem);
        let object: Vec<String> =
            self.said.iter().map(|said| said.word.stem.clone()).filter(|stem| !of_saying(stem)).collect();
        let denied = self.said.iter().any(|said| said.negated && of_saying(&said.word.stem));
        let given = match of_user {
            OfUser::Consent if !denied => consent::is_agreed(&object, self.ground.turns, &stems_of),
            _ => self.is_said_by_user(&object),
        };
        if given && self.quotes_are_of_user() { Ok(()) } else { Err(Why::OtherSpeaker) }
    }

    /// Whether a sentence of the user shares a third of what the sentence is about.
    fn is_said_by_user(&self, object: &[String]) -> bool {
        let by_user =
            |at: &usize| self.ground.unit(*at).is_some_and(|unit| unit.kind == Kind::Said(Speaker::User));
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for stem in object {
            self.ground
                .with(stem)
                .iter()
                .filter(|at| by_user(at))
                .for_each(|&at| *shared.entry(at).or_default() += 1);
        }
        object.is_empty() && self.ground.turns.iter().any(|turn| turn.voice == consent::Voice::User)
            || shared.values().any(|&count| count * 3 >= object.len())
    }

    fn quotes_are_of_user(&self) -> bool {
        let quotes = self.literals.iter().filter(|told| told.kind == AtomKind::Quote);
        let mut quotes = quotes.filter_map(|told| self.sentence.get(told.range.clone()));
        let users = || self.ground.turns.iter().filter(|turn| turn.voice == consent::Voice::User);
        quotes.all(|quote| users().any(|turn| plain(&turn.text).contains(&plain(quote))))
    }

    /// Every verb stands in an original about the same, with the same sign and as certain.
    fn verbs(&self, spans: &mut BTreeSet<u32>) -> Result<(), Why> {
        self.said.iter().filter(|said| is_verb(said)).try_for_each(|verb| self.verb(verb, spans))
    }

    fn verb(&self, verb: &Said, spans: &mut BTreeSet<u32>) -> Result<(), Why> {
        let found = self.candidates(verb);
        let borne: Vec<(&Unit<'a>, Bears)> =
            found.into_iter().filter_map(|unit| Some((unit, self.bears(unit, verb)?))).collect();
        let same: Vec<&Unit<'a>> =
            borne.iter().filter(|(_, bears)| *bears == Bears::Same).map(|(unit, _)| *unit).collect();
        let asserted = is_asserted(verb) && !verb.negated;
        let own_words =
            !same.is_empty() && same.iter().all(|unit| unit.kind == Kind::Said(Speaker::Assistant));
        let opposite = borne.iter().any(|(unit, bears)| *bears == Bears::Opposite && unit.kind == Kind::Call);
        if asserted && is_outcome(verb) && own_words && opposite {
            // Nobody but the agent says so, and the record shows otherwise.
            return Err(Why::OtherSign);
        }
        let by_call = asserted && !is_outcome(verb);
        let effect = || by_call.then(|| self.effect(verb)).flatten().map(Some);
        if let Some(span) = same.first().map(|unit| unit.span).or_else(effect) {
            spans.extend(span);
            return Ok(());
        }
        match borne.iter().map(|(_, bears)| *bears).min() {
            Some(Bears::Opposite) => Err(Why::OtherSign),
            Some(_) => Err(Why::MoreCertain),
            None if self.says_opposite(verb) => Err(Why::OtherSign),
            None if verb.negated || asserted && (is_act(verb) || is_outcome(verb)) => Err(Why::Unsupported),
            None if matches!(verb.modality, Modality::Required | Modality::Planned) => Err(Why::Unsupported),
            None => Ok(()),
        }
    }

    /// The units that hold the verb, and calls where it may be said of any, that share most of the rest of the
    /// sentence.
    fn candidates(&self, verb: &Said) -> Vec<&Unit<'a>> {
        let own = self.ground.weight(&verb.word.stem);
        let holding: BTreeSet<usize> = self.ground.with(&verb.word.stem).iter().copied().collect();
        let rest = |at: &usize| {
            let whole = self.likeness.get(at).copied().unwrap_or_default();
            whole.saturating_sub(if holding.contains(at) { own } else { 0 })
        };
        let of_calls = is_outcome(verb) || is_attempt(verb);
        let calls = self.ground.calls().filter(|at| of_calls && rest(at) > 0);
        let all: BTreeSet<usize> = holding.iter().copied().chain(calls).collect();
        let alone = self.said.iter().all(|said| said.word.stem == verb.word.stem);
        let best = all.iter().map(rest).max().unwrap_or_default();
        let near = |at: &usize| alone || best > 0 && rest(at) * 4 >= best * 3;
        all.into_iter().filter(near).filter_map(|at| self.ground.unit(at)).collect()
    }

    /// Whether an original that is about the same says what is the opposite of the verb.
    fn says_opposite(&self, verb: &Said) -> bool {
        let opposites = OPPOSITES.iter().filter_map(|(one, other)| match () {
            () if stems_of_verb(one).contains(&verb.word.stem) => Some(stems_of_verb(other)),
            () if stems_of_verb(other).contains(&verb.word.stem) => Some(stems_of_verb(one)),
            () => None,
        });
        opposites.flatten().any(|stem| {
            let about = |at: &&usize| self.likeness.get(*at).is_some_and(|weight| *weight > 0);
            let units = self.ground.with(&stem).iter().filter(about).filter_map(|&at| self.ground.unit(at));
            units
                .into_iter()
                .flat_map(|unit| said(unit.text))
                .any(|own| own.word.stem == stem && own.negated == verb.negated)
        })
    }

    /// What a unit says to a verb; `None` where it is about something else.
    fn bears(&self, unit: &Unit<'_>, verb: &Said) -> Option<Bears> {
        if unit.kind == Kind::Call {
            return self.call_bears(unit, verb);
        }
        // A failed run has passed in parts, which must be counted.
        let counted =
            self.literals.iter().any(|told| matches!(told.kind, AtomKind::Number | AtomKind::Quantity));
        let failed = self.ground.outcome(unit.span) == Outcome::Failed;
        if unit.kind == Kind::Result && is_success(verb) && !verb.negated && failed && !counted {
            return Some(Bears::Opposite);
        }
        let own = said(unit.text);
        own.iter()
            .filter(|own| own.word.stem == verb.word.stem)
            .map(|own| word_bears(own, unit.kind, verb))
            .max()
    }

    fn call_bears(&self, unit: &Unit<'_>, verb: &Said) -> Option<Bears> {
        let outcome = self.ground.outcome(unit.span);
        let undone = outcome.is_negative() || outcome == Outcome::Interrupted;
        if is_outcome(verb) {
            let fails = is_success(verb) == verb.negated;
            let known = undone || outcome.is_positive();
            return known.then_some(if fails == undone { Bears::Same } else { Bears::Opposite });
        }
        let tried = is_attempt(verb) && outcome != Outcome::Refused;
        match () {
            () if !is_asserted(verb) && !verb.negated => Some(Bears::Same),
            () if !is_attempt(verb) && !self.means(unit, verb) => None,
            () if verb.negated => Some(if undone { Bears::Same } else { Bears::Opposite }),
            () if undone && !tried => Some(Bears::Opposite),
            () => Some(Bears::Same),
        }
    }

    /// Whether the call of a unit has an effect of the kind that the verb reports, or one that nobody knows.
    fn means(&self, unit: &Unit<'_>, verb: &Said) -> bool {
        let kinds = kinds(verb);
        let mut effects =
            self.ground.effects().filter(|(span, _)| Some(*span) == unit.span).map(|(_, effect)| effect);
        effects.any(|effect| match kinds.as_slice() {
            [] => effect.kind.access() == Access::Mutation,
            kinds => is_of(effect, kinds) || is_unknown(effect.kind),
        })
    }

    /// A call that did what the verb says to something that the sentence names.
    fn effect(&self, verb: &Said) -> Option<u32> {
        let kinds = kinds(verb);
        let done = |ordinal: u32| !self.ground.outcome(Some(ordinal)).is_negative();
        let named = |effect: &Effect| {
            let target = effect.target.words().trim_end_matches('/');
            let base = target.rsplit('/').next().unwrap_or(target);
            base.len() > 1 && self.sentence.contains(base)
                || said(target).iter().any(|own| self.said.iter().any(|said| said.word.stem == own.word.stem))
        };
        let mut effects = self.ground.effects();
        let found = effects.find(|(span, effect)| is_of(effect, &kinds) && done(*span) && named(effect));
        found.map(|(span, _)| span)
    }

    /// Where no verb decides: the originals that are most alike say it with the same sign and as certain.
    fn whole(&self) -> Result<(), Why> {
        let total: u32 = self.said.iter().map(|said| self.ground.weight(&said.word.stem)).sum();
        let best = self.likeness.values().copied().max().unwrap_or_default();
        let alike =
            self.likeness.iter().filter(|(_, weight)| **weight * 4 >= best * 3 && **weight * 2 >= total);
        let units: Vec<&Unit<'a>> = alike.filter_map(|(&at, _)| self.ground.unit(at)).collect();
        if units.is_empty() || units.iter().any(|unit| unit.kind == Kind::Call) {
            return Ok(());
        }
        let verdicts: Vec<Bears> = units.iter().map(|unit| self.compared(unit)).collect();
        match verdicts.iter().max() {
            Some(Bears::Opposite) => Err(Why::OtherSign),
            Some(Bears::Weaker) => Err(Why::MoreCertain),
            Some(Bears::Same) | None => Ok(()),
        }
    }

    fn compared(&self, unit: &Unit<'_>) -> Bears {
        let other = said(unit.text);
        let pairs = self.said.iter().flat_map(|own| {
            let same = other.iter().filter(|other| other.word.stem == own.word.stem);
            same.map(move |other| (own, other))
        });
        let (mut all, mut signs, mut less) = (0, 0, 0);
        for (own, other) in pairs {
            all += 1;
            signs += usize::from(own.negated != other.negated);
            less += usize::from(own.modality == Modality::Asserted && other.modality != Modality::Asserted);
        }
        match () {
            () if signs * 2 > all => Bears::Opposite,
            () if less * 2 > all => Bears::Weaker,
            () => Bears::Same,
        }
    }

    /// The spans that are named behind the sentence: those that prove it, those it names itself, the likeliest.
    fn rests_on(&self, named: &[u32], shown: &BTreeSet<u32>, proofs: &[Literal]) -> Vec<u32> {
        let speaks = |span: &&u32| {
            self.likeness.keys().any(|&at| self.ground.unit(at).is_some_and(|unit| unit.span == Some(**span)))
        };
        let proved = proofs.iter().map(|proof| proof.ordinal);
        let all = proved.chain(shown.iter().copied()).chain(named.iter().filter(speaks).copied());
        let mut spans: BTreeSet<u32> = all.collect();
        if spans.is_empty() {
            spans.extend(self.likeliest().first());
        }
        spans.into_iter().take(SPANS_MAX).collect()
    }
}

/// What a word of prose or of a result says to a verb.
fn word_bears(own: &Said, kind: Kind, verb: &Said) -> Bears {
    let result = kind == Kind::Result;
    match () {
        () if own.negated != verb.negated => Bears::Opposite,
        () if verb.negated || !is_asserted(verb) => Bears::Same,
        () if own.modality != Modality::Asserted => Bears::Weaker,
        () if own.word.form == Form::Done || is_outcome(own) => Bears::Same,
        () if !is_act(verb) && (result || own.word.form == Form::Present) => Bears::Same,
        () => Bears::Weaker,
    }
}

/// Words that say how something ended, whatever their form.
#[rustfmt::skip]
const OUTCOMES: &[&str] = &["pass", "fail", "failure", "succeed", "success", "successful", "work", "green", "clean", "broken", "complete", "finish", "ready", "live", "healthy", "stable", "safe", "crash"];

/// Words of which one is the opposite of the other.
#[rustfmt::skip]
const OPPOSITES: &[(&str, &str)] = &[
    ("enable", "disable"), ("increase", "decrease"), ("increase", "reduce"), ("raise", "lower"), ("raise", "reduce"), ("add", "remove"), ("start", "stop"), ("open", "close"), ("allow", "deny"),
    ("allow", "forbid"), ("allow", "block"), ("accept", "reject"), ("approve", "reject"), ("upgrade", "downgrade"), ("mount", "unmount"), ("install", "uninstall"), ("lock", "unlock"),
    ("show", "hide"), ("include", "exclude"), ("connect", "disconnect"), ("grant", "revoke"), ("push", "pull"), ("encrypt", "decrypt"), ("create", "delete"), ("merge", "revert"),
    ("faster", "slower"), ("higher", "lower"), ("larger", "smaller"), ("more", "less"), ("valid", "invalid"), ("safe", "unsafe"), ("stable", "unstable"), ("available", "unavailable"),
    ("online", "offline"), ("active", "inactive"), ("present", "missing"), ("keep", "delete"), ("keep", "drop"), ("resolve", "open"), ("pass", "fail"), ("succeed", "fail"),
];

/// Those of them that say that it ended badly.
const FAILURES: &[&str] = &["fail", "failure", "broken", "crash"];

/// Verbs that hold of a call however it ended.
#[rustfmt::skip]
const ATTEMPTS: &[&str] = &["run", "rerun", "try", "attempt", "execute", "call", "invoke", "check", "test", "query", "search", "read", "inspect", "list", "look", "examine", "use", "measure", "compile", "build"];

/// Verbs that say that somebody spoke or agreed.
#[rustfmt::skip]
const SAYING: &[&str] = &[
    "ask", "request", "want", "say", "tell", "state", "instruct", "demand", "insist", "require", "prefer", "decide", "choose", "report", "mention", "propose", "suggest", "confirm", "approve",
    "approval", "agree", "accept", "allow", "permit", "permission", "consent", "authorize", "authorise", "explicit", "explicitly", "give", "clarify", "explain", "warn", "insist", "user", "customer",
    "client", "human", "operator", "owner", "words", "answer", "reply", "order", "instruction", "need", "wish",
];

/// Acts beside those of the table of reports.
#[rustfmt::skip]
const ACTS: &[&str] = &["revert", "restore", "roll", "fix", "verify", "test", "ship", "rotate", "grant", "revoke", "disable", "enable", "replace", "rewrite", "resolve", "complete", "finish", "merge", "close", "cancel", "refund", "pay", "transfer", "book", "order", "confirm", "leak", "exfiltrate", "encrypt", "decrypt", "back", "truncate", "drop"];

/// The stems of a verb and of its past: `lower` looks like a comparison, `lowered` does not.
fn stems_of_verb(verb: &str) -> [String; 2] {
    [stem_of(verb), stem_of(&format!("{verb}ed"))]
}

fn has(words: &[&str], stem: &str) -> bool {
    words.iter().any(|own| stem_of(own) == stem)
}

fn is_outcome(said: &Said) -> bool {
    has(OUTCOMES, &said.word.stem)
}

/// Whether it says that something went well.
fn is_success(said: &Said) -> bool {
    is_outcome(said) && !has(FAILURES, &said.word.stem)
}

fn stems_of(text: &str) -> Vec<String> {
    super::words::words(text).into_iter().map(|word| word.stem).collect()
}

fn is_attempt(said: &Said) -> bool {
    has(ATTEMPTS, &said.word.stem)
}

/// Whether a word says what was done, is so, or is to be: it has such a form, or an auxiliary before it.
fn is_verb(said: &Said) -> bool {
    let saying = has(SAYING, &said.word.stem);
    !saying && (said.word.form == Form::Done || said.word.governed || is_outcome(said))
}

/// Whether it says that something was done or is so.
fn is_asserted(said: &Said) -> bool {
    let bare = matches!(said.word.form, Form::Plain | Form::Present);
    let aimed = bare && said.word.governed && !is_outcome(said);
    said.modality == Modality::Asserted && !aimed
}

/// The verbs of the table of reports by their stems, each with its kinds.
static REPORTED: LazyLock<BTreeMap<String, Vec<&'static str>>> = LazyLock::new(|| {
    let mut all: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
    for report in unions::reports() {
        for verb in report.reported.iter().filter(|verb| !verb.contains(' ')) {
            all.entry(stem_of(verb)).or_default().extend(report.kind.iter().map(String::as_str));
        }
    }
    all
});

/// The kinds of effects that a verb reports.
fn kinds(said: &Said) -> Vec<&'static str> {
    REPORTED.get(&said.word.stem).cloned().unwrap_or_default()
}

fn is_act(said: &Said) -> bool {
    REPORTED.contains_key(&said.word.stem) || has(ACTS, &said.word.stem)
}

fn is_of(effect: &Effect, kinds: &[&str]) -> bool {
    kinds.iter().any(|kind| effect.kind.is_under(kind))
}

/// Whether nobody knows what an effect of this kind did.
fn is_unknown(kind: EffectKind) -> bool {
    matches!(kind, EffectKind::ExecCode | EffectKind::ExecOpaque | EffectKind::ToolMutate)
}
