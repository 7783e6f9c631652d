//! What a field says of a row: one reader per field, as a table.

use std::borrow::Cow;

use strongroom_core::evidence::Certainty;
use strongroom_core::transcript::{BlockKind as Kind, Branch, Ending, Speaker};

use super::row::{PieceOf, Row, What};
use crate::effect::{Access, Effect, EffectKind, Outcome, Privilege, Scope, Target};
use crate::query::{Field, Noun};
use crate::rules;
use crate::session::SourceView;

/// What is known of one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Facet<'s> {
    /// These and no others.
    Known(Vec<Cow<'s, str>>),
    /// These, and perhaps more.
    AtLeast(Vec<Cow<'s, str>>),
}

impl<'s> Facet<'s> {
    pub(super) fn one(text: impl Into<Cow<'s, str>>) -> Self {
        Self::Known(vec![text.into()])
    }

    pub(super) fn maybe_one(text: Option<impl Into<Cow<'s, str>>>) -> Self {
        Self::Known(text.into_iter().map(Into::into).collect())
    }

    /// Not known, as the word `unknown` finds it.
    fn unknown() -> Self {
        Self::AtLeast(vec![Cow::Borrowed("unknown")])
    }
}

/// How a field is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// The whole word.
    Whole,
    /// The word or one above it.
    Under,
    /// Tokens of a text.
    Tokens,
    /// Tokens where a compound word is one token.
    Object,
}

/// A field of an effect: its reader and style.
type EffectField = (Field, Style, for<'s> fn(&'s Effect) -> Facet<'s>);

/// A field of a row.
type RowField = (Field, Style, for<'s> fn(&Row<'s>) -> Facet<'s>);

/// Fields that one and the same effect must meet.
const OF_EFFECTS: &[EffectField] = &[
    (Field::Kind, Style::Under, |effect| Facet::one(effect.kind.word())),
    (Field::Scope, Style::Whole, scope),
    (Field::Target, Style::Tokens, target),
    (Field::Path, Style::Tokens, path),
    (Field::Certainty, Style::Whole, certainty),
    (Field::Env, Style::Whole, environment),
    (Field::Privilege, Style::Whole, privilege),
];

/// Fields of the row itself.
const OF_ROWS: &[RowField] = &[
    (Field::By, Style::Whole, by),
    (Field::Agent, Style::Whole, agent),
    (Field::Session, Style::Whole, |row| Facet::one(session_of(row.view, row.start.record))),
    (Field::In, Style::Whole, part),
    (Field::Branch, Style::Whole, branch),
    (Field::Tool, Style::Whole, |row| Facet::maybe_one(row.tool())),
    (Field::Arg, Style::Tokens, |row| {
        Facet::Known(row.arguments().iter().map(|piece| piece.text.into()).collect())
    }),
    (Field::Cmd, Style::Whole, programs),
    (Field::Outcome, Style::Whole, outcome),
    (Field::Op, Style::Whole, operations),
    (Field::Value, Style::Tokens, value),
    (Field::Unit, Style::Whole, unit),
    (Field::Row, Style::Tokens, |row| match &row.what {
        What::Value(keyed) => Facet::Known(keyed.rows.iter().map(|name| name.clone().into()).collect()),
        _ => Facet::Known(Vec::new()),
    }),
    (Field::About, Style::Object, |row| {
        Facet::Known(row.own.iter().map(|piece| piece.focused().into()).collect())
    }),
    (Field::Code, Style::Whole, code),
    (Field::Media, Style::Whole, media),
    (Field::State, Style::Whole, |row| match &row.what {
        What::Agent(_, state) => Facet::one(state.word()),
        _ => Facet::Known(Vec::new()),
    }),
];

/// What `field` says of one effect, and how it is compared.
pub(super) fn of_effect(effect: &Effect, field: Field) -> Option<(Facet<'_>, Style)> {
    OF_EFFECTS.iter().find(|(own, _, _)| *own == field).map(|(_, style, read)| (read(effect), *style))
}

/// Whether `field` is one that one effect must meet.
pub(super) fn is_of_effects(field: Field, noun: Noun) -> bool {
    let own_kind = field == Field::Kind && matches!(noun, Noun::Literals | Noun::Rules);
    !own_kind && OF_EFFECTS.iter().any(|(own, _, _)| *own == field)
}

/// What `field` says of a row, and how it is compared. `part` is the argument's name of `arg.NAME`.
pub(super) fn of_row<'s>(row: &Row<'s>, field: Field, part: Option<&str>) -> Option<(Facet<'s>, Style)> {
    if let (Field::Arg, Some(part)) = (field, part) {
        return Some((argument(row, part), Style::Tokens));
    }
    if field == Field::Kind {
        return own_kind(row).map(|facet| (facet, Style::Under));
    }
    OF_ROWS.iter().find(|(own, _, _)| *own == field).map(|(_, style, read)| (read(row), *style))
}

/// How a field is compared, of a term that is to be compiled.
pub(super) fn style(field: Field) -> Style {
    let effects = OF_EFFECTS.iter().map(|(own, style, _)| (*own, *style));
    let rows = OF_ROWS.iter().map(|(own, style, _)| (*own, *style));
    effects.chain(rows).find(|(own, _)| *own == field).map_or(Style::Whole, |(_, style)| style)
}

fn scope(effect: &Effect) -> Facet<'_> {
    match &effect.scope {
        Scope::Unknown => Facet::unknown(),
        Scope::Remote(name) | Scope::Container(name) | Scope::Database(name) | Scope::Cloud(name) => {
            let word = effect.scope.word();
            Facet::Known(vec![word.into(), name.as_str().into(), format!("{word}:{name}").into()])
        }
        known => Facet::one(known.word()),
    }
}

fn target(effect: &Effect) -> Facet<'_> {
    match &effect.target {
        Target::Path { resolved, written } if resolved == written => Facet::one(resolved.as_str()),
        Target::Path { resolved, written } => {
            Facet::Known(vec![resolved.as_str().into(), written.as_str().into()])
        }
        Target::Under(text) => Facet::AtLeast(vec![text.as_str().into()]),
        Target::Named(text) => Facet::one(text.as_str()),
        Target::Unknown => Facet::unknown(),
    }
}

fn path(effect: &Effect) -> Facet<'_> {
    match &effect.target {
        Target::Named(_) if !effect.kind.is_under("fs") => Facet::Known(Vec::new()),
        _ => target(effect),
    }
}

fn certainty(effect: &Effect) -> Facet<'_> {
    Facet::one(match effect.certainty {
        Certainty::Definite => "definite",
        Certainty::Possible => "possible",
    })
}

fn privilege(effect: &Effect) -> Facet<'_> {
    Facet::one(match effect.privilege {
        Privilege::User => "user",
        Privilege::Root => "root",
    })
}

/// A file of this machine and a local repository belong to no environment; for everything else a missing tag
/// is not known.
fn environment(effect: &Effect) -> Facet<'_> {
    if let Some(environment) = &effect.environment {
        return Facet::one(environment.as_str());
    }
    let local_scope = matches!(effect.scope, Scope::Project | Scope::Temp | Scope::Home);
    let file = effect.kind.is_under("fs");
    let repository = effect.kind.is_under("vcs") && effect.kind != EffectKind::VcsRemote;
    let agent = effect.kind.is_under("agent") || effect.kind == EffectKind::HumanHandoff;
    if agent || repository || (file && local_scope) || effect.kind == EffectKind::None {
        return Facet::Known(Vec::new());
    }
    Facet::unknown()
}

fn by<'s>(row: &Row<'s>) -> Facet<'s> {
    match row.speaker() {
        None if matches!(row.what, What::Call | What::Effect(..) | What::File(..)) => {
            Facet::one(Speaker::Assistant.word())
        }
        None => Facet::Known(Vec::new()),
        Some(Speaker::Unknown) => Facet::unknown(),
        Some(speaker) => Facet::one(speaker.word()),
    }
}

/// The child agent; none of the main one.
fn agent<'s>(row: &Row<'s>) -> Facet<'s> {
    Facet::maybe_one(agent_of(row.view, row.start.record))
}

pub(super) fn agent_of<'s>(view: &'s SourceView<'s>, record: u32) -> Option<&'s str> {
    let at = strongroom_core::transcript::BlockRef { record, block: 0 };
    view.index.record(at).and_then(|record| record.agent.as_deref()).or(view.agent.as_deref())
}

pub(super) fn session_of<'s>(view: &'s SourceView<'s>, record: u32) -> &'s str {
    let at = strongroom_core::transcript::BlockRef { record, block: 0 };
    view.index.record(at).and_then(|record| record.session.as_deref()).unwrap_or(&view.session)
}

fn part<'s>(row: &Row<'s>) -> Facet<'s> {
    let piece = row.own.first();
    let kind = piece.and_then(|piece| row.view.index.block(piece.at)).map(|block| &block.kind);
    let words: &[&str] = match kind {
        Some(Kind::Call(_)) => &["call"],
        Some(Kind::Result(_) | Kind::SideData { .. }) => &["result"],
        Some(Kind::Thinking) => &["thinking"],
        Some(Kind::Text | Kind::Paste) => &["prose"],
        _ => &[],
    };
    Facet::Known(words.iter().map(|word| Cow::Borrowed(*word)).collect())
}

fn branch<'s>(row: &Row<'s>) -> Facet<'s> {
    let word = row.record().map_or("active", |record| match record.branch {
        Branch::Active => "active",
        Branch::Abandoned => "abandoned",
    });
    Facet::Known(vec![word.into(), "any".into()])
}

fn argument<'s>(row: &Row<'s>, part: &str) -> Facet<'s> {
    let named = |pointer: &str| {
        let path = pointer.trim_start_matches('/');
        path == part.trim_start_matches('/') || path.split('/').any(|key| key == part)
    };
    let texts = row.arguments().into_iter().filter_map(|piece| match piece.of {
        PieceOf::Argument(_, argument) if named(&argument.pointer) => Some(Cow::Borrowed(piece.text)),
        _ => None,
    });
    Facet::Known(texts.collect())
}

fn programs<'s>(row: &Row<'s>) -> Facet<'s> {
    if let Some(effect) = row.effect() {
        return Facet::one(effect.program.as_str());
    }
    let names = row.examined().map(|examined| examined.examination.programs.as_slice()).unwrap_or_default();
    let base = |name: &'s String| name.rsplit('/').next().filter(|base| *base != name.as_str());
    let texts =
        names.iter().flat_map(|name| std::iter::once(name.as_str()).chain(base(name))).map(Cow::Borrowed);
    let texts = texts.collect();
    let open = row.examined().is_some_and(|examined| {
        examined
            .examination
            .effects
            .iter()
            .any(|effect| hides_programs(effect, row.tool().unwrap_or_default()))
    });
    if open { Facet::AtLeast(texts) } else { Facet::Known(texts) }
}

/// Programs that run a shell line of which the words are not known, where they have no target.
const RUNNERS: &[&str] =
    &["bash", "sh", "zsh", "dash", "ksh", "eval", "source", ".", "xargs", "parallel", "su", "env"];

/// Whether an effect stands for a part of a shell line that could not be read: any program may be in it.
fn hides_programs(effect: &Effect, tool: &str) -> bool {
    let name = effect.program.as_str();
    let unread = name.is_empty() || name == tool || name.contains(['$', '`', '*', '?']);
    super::possible::is_opaque(effect)
        && effect.target == Target::Unknown
        && crate::tools::is_shell(tool)
        && (unread || RUNNERS.contains(&name.rsplit('/').next().unwrap_or(name)))
}

/// `ok` finds what the tool reported as done as well; the citation says which of the two it is.
fn outcome<'s>(row: &Row<'s>) -> Facet<'s> {
    match row.outcome() {
        None => Facet::Known(Vec::new()),
        Some(Outcome::Unknown) => Facet::unknown(),
        Some(Outcome::ReportedOk) => Facet::Known(vec!["reported-ok".into(), "ok".into()]),
        Some(outcome) => Facet::one(outcome.word()),
    }
}

/// What was done to a file, by kind.
const OPERATIONS: &[(EffectKind, &str)] = &[
    (EffectKind::FsWrite, "written"),
    (EffectKind::FsAppend, "written"),
    (EffectKind::FsDelete, "deleted"),
    (EffectKind::FsMove, "moved"),
    (EffectKind::FsRead, "read"),
];

pub(super) fn operation(effect: &Effect) -> Option<&'static str> {
    OPERATIONS.iter().find(|(kind, _)| *kind == effect.kind).map(|(_, word)| *word)
}

fn operations<'s>(row: &Row<'s>) -> Facet<'s> {
    let Some(effect) = row.effect() else { return Facet::Known(Vec::new()) };
    let open = super::possible::is_opaque(effect) && !super::possible::is_idle(effect.outcome);
    let Some(word) = operation(effect) else {
        return if open { Facet::AtLeast(Vec::new()) } else { Facet::Known(Vec::new()) };
    };
    let result = || row.half.iter().map(|piece| piece.text);
    let says = |words: &[&str]| result().any(|text| words.iter().any(|word| text.contains(word)));
    if effect.kind == EffectKind::FsRead {
        let missing = effect.outcome == Outcome::Failed && says(MISSING);
        let seen = if missing { "missing" } else { "seen" };
        return Facet::Known(if effect.outcome.is_positive() || missing {
            vec![word.into(), seen.into()]
        } else {
            vec![word.into()]
        });
    }
    if effect.kind == EffectKind::FsWrite {
        // Whether the file was there before is known only where the tool says so.
        let created = says(&["created", "Created"]);
        return if created {
            Facet::Known(vec![word.into(), "created".into()])
        } else {
            Facet::AtLeast(vec![word.into()])
        };
    }
    Facet::one(word)
}

/// Whether a look at a file found it missing.
pub(super) fn is_missing(row: &Row<'_>) -> bool {
    matches!(operations(row), Facet::Known(words) if words.iter().any(|word| word == "missing"))
}

/// How tools say that a file is not there.
pub(super) const MISSING: &[&str] = &[
    "No such file or directory",
    "does not exist",
    "not found",
    "cannot find",
    "ENOENT",
    "FileNotFoundError",
];

fn value<'s>(row: &Row<'s>) -> Facet<'s> {
    match &row.what {
        What::Value(keyed) => Facet::one(keyed.value.clone()),
        What::Literal(_, norm) => {
            let written = row.own.iter().map(|piece| Cow::Borrowed(piece.focused()));
            Facet::Known(written.chain([Cow::Owned(norm.clone())]).collect())
        }
        _ => Facet::Known(Vec::new()),
    }
}

fn unit<'s>(row: &Row<'s>) -> Facet<'s> {
    match &row.what {
        What::Value(keyed) => {
            let unit = super::values::unit(&keyed.key, &keyed.value);
            Facet::Known(
                unit.into_iter()
                    .flat_map(|(unit, dimension)| [Cow::Owned(unit), Cow::Borrowed(dimension)])
                    .collect(),
            )
        }
        _ => Facet::Known(Vec::new()),
    }
}

fn code<'s>(row: &Row<'s>) -> Facet<'s> {
    let exits = row.results().filter_map(|facts| facts.exit_code).map(|code| Cow::Owned(code.to_string()));
    let timed =
        row.results().filter(|facts| facts.ending == Ending::TimedOut).map(|_| Cow::Borrowed("timeout"));
    let norms = row.examined().into_iter().flat_map(|examined| &examined.examination.atoms);
    let atoms = norms
        .filter(|(_, atom)| atom.kind == strongroom_core::evidence::AtomKind::Error)
        .map(|(_, atom)| Cow::Borrowed(atom.norm.as_str()));
    Facet::Known(exits.chain(timed).chain(atoms).collect())
}

fn media<'s>(row: &Row<'s>) -> Facet<'s> {
    match row.what {
        What::Attachment(media_type) => Facet::one(media_type),
        _ => Facet::Known(Vec::new()),
    }
}

/// The kind of a literal or rule, which is no kind of effect.
fn own_kind<'s>(row: &Row<'s>) -> Option<Facet<'s>> {
    match &row.what {
        What::Literal(kind, norm) if kind.word() == "id" && is_hash(norm) => {
            Some(Facet::Known(vec!["id".into(), "hash".into()]))
        }
        What::Literal(kind, _) => Some(Facet::one(kind.word())),
        What::Rule => {
            let kinds: Vec<&str> = row.own.iter().flat_map(|piece| rules::kinds(piece.focused())).collect();
            Some(if kinds.is_empty() {
                Facet::unknown()
            } else {
                Facet::Known(kinds.into_iter().map(Cow::Borrowed).collect())
            })
        }
        _ => None,
    }
}

fn is_hash(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a kind is a mutation.
pub(super) fn mutates(kind: EffectKind) -> bool {
    kind.access() == Access::Mutation
}
