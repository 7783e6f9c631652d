//! What the gate needs to know of a span's evidence.

use std::collections::BTreeMap;
use std::fmt;

/// The kinds of atom that omissions are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AtomKind {
    /// A file path.
    Path,
    /// A path with a line.
    LineRef,
    /// A URL.
    Url,
    /// A hash, UUID, ticket, version, symbol or other identifier.
    Id,
    /// A number without unit.
    Number,
    /// A number with unit.
    Quantity,
    /// A date or time.
    Time,
    /// A quoted string.
    Quote,
    /// Code.
    Code,
    /// An option flag.
    Flag,
    /// An environment variable.
    Env,
    /// An error line or code.
    Error,
    /// A negation.
    Negation,
    /// A standing rule: ban, duty, gate or approval.
    Constraint,
    /// A statement that something was done or holds.
    Claim,
    /// A secret.
    Secret,
}

impl AtomKind {
    /// All kinds, in the order in which they are reported.
    pub const ALL: [Self; 16] = [
        Self::Path,
        Self::LineRef,
        Self::Url,
        Self::Id,
        Self::Number,
        Self::Quantity,
        Self::Time,
        Self::Quote,
        Self::Code,
        Self::Flag,
        Self::Env,
        Self::Error,
        Self::Negation,
        Self::Constraint,
        Self::Claim,
        Self::Secret,
    ];

    /// The word for this kind in queries, JSON and omission records.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::LineRef => "lineref",
            Self::Url => "url",
            Self::Id => "id",
            Self::Number => "number",
            Self::Quantity => "quantity",
            Self::Time => "time",
            Self::Quote => "quote",
            Self::Code => "code",
            Self::Flag => "flag",
            Self::Env => "env",
            Self::Error => "error",
            Self::Negation => "negation",
            Self::Constraint => "constraint",
            Self::Claim => "claim",
            Self::Secret => "secret",
        }
    }
}

impl fmt::Display for AtomKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// How certain it is that a call had an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// The effect cannot be ruled out.
    Possible,
    /// The meaning of the call is known and it is executed unconditionally.
    Definite,
}

/// The rule that proves a span to be narrative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NarrativeProof {
    rule: &'static str,
}

impl NarrativeProof {
    /// A proof by the named rule.
    pub const fn by_rule(rule: &'static str) -> Self {
        Self { rule }
    }

    /// The rule's name.
    pub const fn rule(&self) -> &'static str {
        self.rule
    }
}

/// The evidential class of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EvidentialClass {
    /// No committed, verifiable state and no side effect, by proof.
    Narrative(NarrativeProof),
    /// Verifiable content. The default.
    Structured,
    /// A committed write or another external mutation, definite or possible.
    SideEffecting(Certainty),
}

impl EvidentialClass {
    /// The word for this class in output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Narrative(_) => "narrative",
            Self::Structured => "structured",
            Self::SideEffecting(_) => "side-effecting",
        }
    }
}

impl fmt::Display for EvidentialClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Exact numbers of atoms by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AtomCounts(BTreeMap<AtomKind, u32>);

impl AtomCounts {
    /// Adds `count` atoms of `kind`.
    pub fn add(&mut self, kind: AtomKind, count: u32) {
        if count > 0 {
            *self.0.entry(kind).or_default() += count;
        }
    }

    /// Adds all of `other`.
    pub fn add_all(&mut self, other: &Self) {
        for (kind, count) in other.iter() {
            self.add(kind, count);
        }
    }

    /// The number of atoms of `kind`.
    pub fn get(&self, kind: AtomKind) -> u32 {
        self.0.get(&kind).copied().unwrap_or(0)
    }

    /// The kinds that occur, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (AtomKind, u32)> + '_ {
        self.0.iter().map(|(&kind, &count)| (kind, count))
    }

    /// Whether nothing is counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is in `self` and not in `kept`, by kind.
    #[must_use]
    pub fn minus(&self, kept: &Self) -> Self {
        let mut left = Self::default();
        for (kind, count) in self.iter() {
            left.add(kind, count.saturating_sub(kept.get(kind)));
        }
        left
    }
}

/// What a span's original holds and its summary may not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Omissions {
    /// Every detector ran: the numbers are exact.
    Nameable(AtomCounts),
    /// A detector could not run, with the reason: the span goes only whole and by name.
    Unnameable(String),
}

/// The facts about a span on which the gate decides. Nothing here is a size, an age or a score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanEvidence {
    /// Its class.
    pub class: EvidentialClass,
    /// What it holds.
    pub holds: Omissions,
    /// Whether it is a tool call with its results.
    pub call: CallRole,
    /// Whether it states in prose that something was done or holds.
    pub claims: ClaimRole,
    /// Whether policy never reclaims it, and why.
    pub pinned: Option<Pin>,
}

/// Whether a span is a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallRole {
    /// A call.
    Call,
    /// Anything else.
    NotCall,
}

/// Whether a span holds claims in prose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClaimRole {
    /// It does.
    Claims,
    /// It does not.
    NoClaims,
}

/// Why a span is never wanted for reclaiming.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pin {
    /// Words of the user.
    UserProse,
    /// System or developer messages, project instructions.
    Instructions,
    /// A rule somebody with the authority set.
    StandingConstraint,
    /// The newest exchange, still open.
    OpenTail,
    /// A call whose result has not come.
    OpenCall,
    /// The last account of an original that is gone.
    OnlyRemainingAccount,
}

impl Pin {
    /// The words for this reason in output.
    pub const fn words(self) -> &'static str {
        match self {
            Self::UserProse => "the user's own words",
            Self::Instructions => "instructions",
            Self::StandingConstraint => "standing constraint",
            Self::OpenTail => "open tail",
            Self::OpenCall => "call without result",
            Self::OnlyRemainingAccount => "only remaining account",
        }
    }
}
