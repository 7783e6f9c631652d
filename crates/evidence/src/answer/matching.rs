//! Whether a row meets a clause.

use regex::Regex;
use strongroom_core::evidence::{AtomKind, Certainty};
use strongroom_core::transcript::{Encoding, TextRange};

use super::facet::{self, Facet, Style};
use super::pattern::{self, Pattern, Tokens};
use super::position::{Positions, Window, near};
use super::row::{Piece, PieceOf, Row, What};
use super::rule::{self, Force};
use super::secret::Secrets;
use super::truth::Truth;
use super::values::Keyed;
use super::{Options, possible, undone};
use crate::atom::normal_form;
use crate::effect::{Effect, Scope as Where, Target};
use crate::query::{Atom, Clause, Field, Noun, QueryError, Sign};
use crate::unions::{self, Conditions, Host, Pattern as TablePattern, Union};

/// A clause ready to be tested.
#[derive(Debug)]
pub(super) struct Compiled<'q> {
    pub(super) clause: &'q Clause,
    pub(super) terms: Vec<Compact>,
    pub(super) union: Option<&'static Union>,
    pub(super) options: &'q Options<'q>,
    /// What no term may be met by.
    secrets: &'q Secrets<'q>,
}

/// A term ready to be tested.
#[derive(Debug)]
pub(super) struct Compact {
    pub(super) field: Option<Field>,
    pub(super) part: Option<String>,
    pub(super) sign: Sign,
    tests: Vec<Test>,
}

#[derive(Debug)]
struct Test {
    atom: Atom,
    text: Pattern,
    /// For fields that are compared as a whole; compiled where needed.
    whole: Option<Regex>,
    /// For objects of rules: the folders above a path.
    folders: Vec<Regex>,
}

/// Fields that select nothing here: what is cited, and what becomes of a claim when it is weighed.
const SHAPE: &[Field] = &[Field::Limit, Field::Lines, Field::Chars, Field::Status];

/// Fields of the envelope.
const ENVELOPE: &[Field] =
    &[Field::By, Field::Agent, Field::Session, Field::At, Field::From, Field::To, Field::Branch];

impl Compact {
    fn new(term: &crate::query::Term) -> Result<Self, QueryError> {
        let style = term.field.map(facet::style);
        let tests = term.value.atoms().iter().map(|atom| Test::new(atom, style)).collect::<Result<_, _>>()?;
        Ok(Self { field: term.field, part: term.part.clone(), sign: term.sign, tests })
    }

    fn signed(&self, truth: Truth) -> Truth {
        match self.sign {
            Sign::Holds => truth,
            Sign::Negated => truth.not(),
        }
    }

    /// Whether one of `facet`'s texts is met.
    fn meets(&self, facet: &Facet<'_>, style: Style, secrets: &Secrets<'_>) -> Truth {
        let (texts, open) = match facet {
            Facet::Known(texts) => (texts, Truth::No),
            Facet::AtLeast(texts) => (texts, Truth::Maybe),
        };
        let any = |text: &str| self.tests.iter().any(|test| test.meets(text, style));
        let met = texts.iter().any(|text| any(text) && secrets.shown(text).is_none_or(|shown| any(&shown)));
        Truth::of(met).or(open)
    }

    /// The matches of its values in `text`.
    pub(super) fn find_all(&self, text: &str, limit: usize) -> Vec<std::ops::Range<usize>> {
        self.tests.iter().flat_map(|test| test.text.find_all(text, limit)).collect()
    }

    /// Whether, without its sign, it is met by a text that may be missing.
    pub(super) fn meets_whole(&self, text: Option<&str>) -> Truth {
        self.meets(&Facet::maybe_one(text), Style::Whole, &Secrets::default())
    }

    fn is_in(&self, text: &str) -> bool {
        self.tests.iter().any(|test| test.text.is_in(text))
    }

    /// Whether it asks for the text of the row itself.
    pub(super) fn is_word(&self) -> bool {
        self.field.is_none()
    }

    pub(super) fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.tests.iter().map(|test| &test.atom)
    }
}

impl Test {
    fn new(atom: &Atom, style: Option<Style>) -> Result<Self, QueryError> {
        let tokens = if style == Some(Style::Object) { Tokens::Compound } else { Tokens::Plain };
        let whole = if style == Some(Style::Whole) || style == Some(Style::Under) {
            Some(pattern::whole(atom)?)
        } else {
            None
        };
        let folders = if style == Some(Style::Object) { folders(atom)? } else { Vec::new() };
        Ok(Self { atom: atom.clone(), text: Pattern::new(atom, tokens)?, whole, folders })
    }

    fn meets(&self, text: &str, style: Style) -> bool {
        match style {
            Style::Whole => self.whole.as_ref().is_some_and(|whole| whole.is_match(text)),
            Style::Under => self.is_above(text),
            Style::Tokens => self.text.is_in(text),
            Style::Object => self.text.is_in(text) || self.folders.iter().any(|folder| folder.is_match(text)),
        }
    }

    /// Whether the value is the kind `text` or one above it.
    fn is_above(&self, text: &str) -> bool {
        let mut word = text;
        loop {
            if self.whole.as_ref().is_some_and(|whole| whole.is_match(word)) {
                return true;
            }
            match word.rsplit_once('.') {
                Some((above, _)) => word = above,
                None => return false,
            }
        }
    }
}

/// The folders above a path that is asked about: a rule on a folder is one on what lies in it.
fn folders(atom: &Atom) -> Result<Vec<Regex>, QueryError> {
    let Atom::Word(path) = atom else { return Ok(Vec::new()) };
    let cuts = path.char_indices().filter(|(at, c)| *c == '/' && *at > 0).map(|(at, _)| at);
    cuts.filter_map(|end| path.get(..end)).map(pattern::folder).collect()
}

impl<'q> Compiled<'q> {
    pub(super) fn new(
        clause: &'q Clause,
        options: &'q Options<'q>,
        secrets: &'q Secrets<'q>,
    ) -> Result<Self, QueryError> {
        let terms = clause.terms.iter().map(Compact::new).collect::<Result<_, _>>()?;
        let name = clause.name.as_ref().and_then(|name| name.single());
        let union = name.filter(|_| clause.noun == Noun::Changes).and_then(unions::named);
        Ok(Self { clause, terms, union, options, secrets })
    }

    /// Terms whose matches are worth citing narrowly: bare words first, then arguments and near text.
    pub(super) fn cited(&self) -> impl Iterator<Item = &Compact> {
        let fields = [None, Some(Field::Arg), Some(Field::About), Some(Field::Target), Some(Field::Path)];
        self.terms.iter().filter(move |term| term.sign == Sign::Holds && fields.contains(&term.field))
    }

    fn of_effects(&self) -> impl Iterator<Item = &Compact> {
        self.terms
            .iter()
            .filter(|term| term.field.is_some_and(|field| facet::is_of_effects(field, self.clause.noun)))
    }

    /// Whether `row` meets every term but those that `but` leaves out.
    pub(super) fn test<'s>(&self, row: &Row<'s>, positions: &Positions<'s>, but: Leave) -> Truth {
        let others = self.terms.iter().filter(|term| {
            term.field.is_none_or(|field| {
                !facet::is_of_effects(field, self.clause.noun)
                    && !but.fields().contains(&field)
                    && !SHAPE.contains(&field)
            })
        });
        let rest = Truth::all(others.map(|term| self.test_term(term, row, positions)));
        if rest == Truth::No {
            return rest;
        }
        rest.and(self.test_effects(row, but))
    }

    /// Whether `term` stands in `text`, outside the secrets in it.
    fn is_shown(&self, term: &Compact, text: &str) -> bool {
        term.is_in(text) && self.secrets.shown(text).is_none_or(|shown| term.is_in(&shown))
    }

    /// Whether a literal or value has the normal form of a word of `term`: `1,000` is `1000`.
    fn is_normal(&self, term: &Compact, row: &Row<'_>) -> bool {
        let number = |text: &str| normal_form(AtomKind::Number, text);
        let same = |text: &str| match &row.what {
            What::Literal(AtomKind::Secret, _) => false,
            What::Literal(kind, norm) => normal_form(*kind, text) == *norm,
            What::Value(keyed) => {
                text.starts_with(|c: char| c.is_ascii_digit()) && number(text) == number(&keyed.value)
            }
            _ => false,
        };
        term.atoms().any(|atom| match atom {
            Atom::Word(text) | Atom::Quoted(text) => same(text) && self.secrets.shown(text).is_none(),
            Atom::Glob(_) | Atom::Regex(_) | Atom::Range(..) => false,
        })
    }

    /// What became of a rule until the place that is asked about.
    pub(super) fn force<'r, 's>(
        &self,
        row: &Row<'s>,
        positions: &'r Positions<'s>,
    ) -> (Force, Option<&'r Row<'s>>) {
        rule::force(row, positions.rules(), |later| {
            let places = self.terms.iter().filter(|term| matches!(term.field, Some(Field::At | Field::To)));
            Truth::all(places.map(|term| self.test_term(term, later, positions))) != Truth::No
        })
    }

    fn test_term<'s>(&self, term: &Compact, row: &Row<'s>, positions: &Positions<'s>) -> Truth {
        let Some(field) = term.field else { return term.signed(self.test_words(term, row)) };
        let truth = match field {
            Field::At | Field::From | Field::To => Truth::any(term.atoms().map(|atom| {
                Window::read(field, atom).map_or(Truth::Maybe, |window| positions.test(&window, row))
            })),
            Field::Near => Truth::of(near(row).iter().any(|text| self.is_shown(term, text))),
            Field::Value if self.is_normal(term, row) => Truth::Yes,
            Field::Reverted => term.meets(&undone::facet(row, positions), Style::Whole, self.secrets),
            Field::State if matches!(row.what, What::Rule) => {
                term.meets_whole(Some(self.force(row, positions).0.word()))
            }
            _ => match facet::of_row(row, field, term.part.as_deref()) {
                Some((facet, style)) => term.meets(&facet, style, self.secrets),
                None => Truth::Maybe,
            },
        };
        term.signed(truth)
    }

    /// Whether the row's own text holds the words; of an effect also its kind, target and program.
    fn test_words(&self, term: &Compact, row: &Row<'_>) -> Truth {
        if row
            .own
            .iter()
            .any(|piece| self.is_shown(term, piece.focused()) || self.is_in_raw(term, row, piece))
        {
            return Truth::Yes;
        }
        if let What::Literal(_, norm) | What::Value(Keyed { value: norm, .. }) = &row.what
            && (self.is_shown(term, norm) || self.is_normal(term, row))
        {
            return Truth::Yes;
        }
        let malformed = row.examined().is_some_and(|examined| {
            examined
                .content
                .blocks
                .iter()
                .filter_map(|content| content.arguments.as_ref())
                .any(|tree| tree.malformed)
        });
        let Some(effect) = row.effect() else {
            return if malformed && matches!(row.what, What::Call) { Truth::Maybe } else { Truth::No };
        };
        let own = [effect.kind.word(), effect.target.words(), &effect.program];
        let open = matches!(effect.target, Target::Unknown | Target::Under(_)) || possible::is_opaque(effect);
        Truth::of(own.iter().any(|text| self.is_shown(term, text))).or(if open {
            Truth::Maybe
        } else {
            Truth::No
        })
    }

    /// A record without blocks, such as one of an unknown kind, is searched by its raw text.
    fn is_in_raw(&self, term: &Compact, row: &Row<'_>, piece: &Piece<'_>) -> bool {
        let PieceOf::Raw(range) = piece.of else { return false };
        let bare = matches!(row.what, What::Record)
            && row.record().is_some_and(|record| record.blocks.iter().all(|block| block.text.is_empty()));
        let plain = TextRange { range, encoding: Encoding::Plain };
        bare && self.options.raw.decoded(row.source, plain).is_some_and(|text| self.is_shown(term, &text))
    }

    fn test_effects(&self, row: &Row<'_>, but: Leave) -> Truth {
        if let Some(effect) = row.effect() {
            return self.test_effect(effect, row, but);
        }
        let mut terms = self
            .of_effects()
            .filter(|term| !term.field.is_some_and(|field| but.fields().contains(&field)))
            .peekable();
        if terms.peek().is_none() {
            return Truth::Yes;
        }
        let effects =
            row.examined().map(|examined| examined.examination.effects.as_slice()).unwrap_or_default();
        Truth::any(effects.iter().map(|effect| self.test_effect(effect, row, but)))
    }

    /// Whether one effect meets the terms on effects and the union, as it is or as what it may stand for.
    fn test_effect(&self, effect: &Effect, row: &Row<'_>, but: Leave) -> Truth {
        let known = self.test_known(effect, Some(row), but);
        if known == Truth::Yes
            || !possible::is_opaque(effect)
            || possible::is_idle(effect.outcome)
            || but != Leave::Nothing
        {
            return known;
        }
        let may = || {
            possible::effects(effect, self.options.strictness)
                .any(|one| self.test_known(&one, None, but) != Truth::No)
        };
        known.or(if may() { Truth::Maybe } else { Truth::No })
    }

    /// The effect as it is. Without a row it is a possible one: what depends on text is not known.
    fn test_known(&self, effect: &Effect, row: Option<&Row<'_>>, but: Leave) -> Truth {
        let terms =
            self.of_effects().filter(|term| !term.field.is_some_and(|field| but.fields().contains(&field)));
        let fields = Truth::all(terms.map(|term| {
            let facet = term.field.and_then(|field| facet::of_effect(effect, field));
            let truth = facet.map_or(Truth::Maybe, |(facet, style)| term.meets(&facet, style, self.secrets));
            term.signed(truth)
        }));
        if fields == Truth::No {
            return fields;
        }
        let noun = match self.clause.noun {
            Noun::Effects => Truth::of(facet::mutates(effect.kind) || self.asks_for_kind()),
            Noun::Files => Truth::of(effect.kind.is_under("fs")),
            _ => Truth::Yes,
        };
        let union = self.union.map_or(Truth::Yes, |union| test_union(union, effect, row, but));
        fields.and(noun).and(union)
    }

    /// Whether the call in the event of `row` leaves room for a match in its result: the terms on the text of the
    /// result are passed over.
    pub(super) fn test_call<'s>(&self, row: &Row<'s>, positions: &Positions<'s>) -> Truth {
        let on_text = [Field::Near, Field::Value, Field::Unit, Field::Row, Field::In, Field::By, Field::Code];
        let calls = self.terms.iter().filter(|term| {
            term.field.is_some_and(|field| {
                !on_text.contains(&field)
                    && !SHAPE.contains(&field)
                    && !facet::is_of_effects(field, self.clause.noun)
            })
        });
        Truth::all(calls.map(|term| self.test_term(term, row, positions)))
            .and(self.test_effects(row, Leave::Nothing))
    }

    /// Whether `row` meets the terms on the envelope: who, where, when.
    pub(super) fn test_envelope<'s>(&self, row: &Row<'s>, positions: &Positions<'s>, but: Leave) -> Truth {
        let terms = self.terms.iter().filter(|term| {
            term.field.is_some_and(|field| ENVELOPE.contains(&field) && !but.fields().contains(&field))
        });
        Truth::all(terms.map(|term| self.test_term(term, row, positions)))
    }

    /// Reads are rows of the ledger only where a kind is asked for.
    fn asks_for_kind(&self) -> bool {
        self.terms.iter().any(|term| term.field == Some(Field::Kind))
    }
}

/// Which condition is left out, to find what nearly matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leave {
    Nothing,
    Kind,
    Outcome,
    Speaker,
}

impl Leave {
    fn fields(self) -> &'static [Field] {
        match self {
            Self::Nothing => &[],
            Self::Kind => &[Field::Kind, Field::Op],
            Self::Outcome => &[Field::Outcome],
            Self::Speaker => &[Field::By],
        }
    }
}

/// Whether `effect` is in `union`.
fn test_union(union: &Union, effect: &Effect, row: Option<&Row<'_>>, but: Leave) -> Truth {
    Truth::any(union.any.iter().map(|conditions| test_conditions(conditions, effect, row, but)))
}

fn test_conditions(conditions: &Conditions, effect: &Effect, row: Option<&Row<'_>>, but: Leave) -> Truth {
    let kind =
        if but == Leave::Kind {
            // Without any other condition everything would nearly match.
            Truth::of(has_more(conditions))
        } else {
            Truth::of(conditions.kind.iter().any(|word| {
                effect.kind.is_under(word) || (word == "mutation" && facet::mutates(effect.kind))
            }))
        };
    if kind == Truth::No {
        return kind;
    }
    let scope = test_scope(conditions, effect);
    let env = if conditions.env.is_empty() { Truth::Yes } else { test_env(conditions, effect) };
    let host = conditions.host.map_or(Truth::Yes, |host| test_host(host, effect));
    let places = Truth::all([kind, scope, env, host]);
    if places == Truth::No {
        return places;
    }
    let target = conditions.target.as_ref().map_or(Truth::Yes, |pattern| test_target(pattern, effect));
    let text = conditions.text.as_ref().map_or(Truth::Yes, |pattern| test_text(pattern, effect, row));
    let unless = conditions.unless.as_ref().map_or(Truth::Yes, |pattern| test_unless(pattern, effect, row));
    Truth::all([places, target, text, unless])
}

fn has_more(conditions: &Conditions) -> bool {
    !conditions.scope.is_empty()
        || conditions.target.is_some()
        || conditions.text.is_some()
        || !conditions.env.is_empty()
}

fn test_scope(conditions: &Conditions, effect: &Effect) -> Truth {
    let word = effect.scope.word();
    let named = |words: &[String]| words.iter().any(|own| own == word);
    if conditions.scope.is_empty() && conditions.not_scope.is_empty() {
        return Truth::Yes;
    }
    if effect.scope == Where::Unknown {
        return Truth::Maybe;
    }
    Truth::of((conditions.scope.is_empty() || named(&conditions.scope)) && !named(&conditions.not_scope))
}

fn test_env(conditions: &Conditions, effect: &Effect) -> Truth {
    match facet::of_effect(effect, Field::Env) {
        Some((Facet::Known(words), _)) => {
            Truth::of(words.iter().any(|word| conditions.env.iter().any(|own| own == word)))
        }
        Some((Facet::AtLeast(_), _)) | None => Truth::Maybe,
    }
}

/// What in the name of a database says that it is on this machine.
const HERE: &[&str] = &["localhost", "127.0.0.1", "::1", ".db", ".sqlite", "unix", "socket"];

/// Whether an effect takes place on another machine; of a database the name tells, where it does.
fn test_host(host: Host, effect: &Effect) -> Truth {
    let Host::Remote = host;
    match &effect.scope {
        Where::Remote(_) | Where::Cloud(_) => Truth::Yes,
        Where::Database(name) if HERE.iter().any(|here| name.contains(here)) => Truth::No,
        Where::Database(_) | Where::Container(_) | Where::Unknown => Truth::Maybe,
        Where::Project | Where::Temp | Where::Home | Where::System | Where::Outside => Truth::No,
    }
}

fn test_target(pattern: &TablePattern, effect: &Effect) -> Truth {
    match &effect.target {
        Target::Path { resolved, written } => Truth::of(pattern.is_in(resolved) || pattern.is_in(written)),
        Target::Named(name) => Truth::of(pattern.is_in(name)),
        Target::Under(_) | Target::Unknown => Truth::Maybe,
    }
}

fn stands_in(pattern: &TablePattern, effect: &Effect, row: &Row<'_>) -> bool {
    let texts: Vec<Piece<'_>> = row.arguments();
    [effect.program.as_str(), effect.target.words()].iter().any(|text| pattern.is_in(text))
        || row.tool().is_some_and(|tool| pattern.is_in(tool))
        || texts.iter().any(|piece| pattern.is_in(piece.text))
}

fn test_text(pattern: &TablePattern, effect: &Effect, row: Option<&Row<'_>>) -> Truth {
    let Some(row) = row else { return Truth::Maybe };
    let open = effect.certainty == Certainty::Possible || effect.target == Target::Unknown;
    Truth::of(stands_in(pattern, effect, row)).or(if open { Truth::Maybe } else { Truth::No })
}

fn test_unless(pattern: &TablePattern, effect: &Effect, row: Option<&Row<'_>>) -> Truth {
    row.map_or(Truth::Maybe, |row| Truth::of(stands_in(pattern, effect, row)).not())
}
