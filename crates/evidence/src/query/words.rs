//! The words of the language: forms, nouns, fields, and the closed sets of values.

use crate::effect::{EffectKind, Outcome};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$each:meta])* $variant:ident = $word:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$each])* $variant,)* }

        impl $name {
            /// All of them, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word in a query.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The one with this word.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.word() == word)
            }
        }
    };
}

words! {
    /// What is wanted of the matches.
    Form {
        /// Whether there is one.
        Ever = "ever";
        /// How many.
        Count = "count";
        /// The first.
        First = "first";
        /// The last.
        Last = "last";
        /// All.
        List = "list";
        /// The recorded value.
        Value = "value";
        /// What holds now: only the last evidence can be given.
        Now = "now";
    }
}

words! {
    /// What is selected.
    Noun {
        /// Utterances.
        Said = "said";
        /// Tool calls, as requested.
        Calls = "calls";
        /// What tools returned.
        Results = "results";
        /// Rows of the ledger.
        Effects = "effects";
        /// Named unions of effects.
        Changes = "changes";
        /// Paths with what was done to each.
        Files = "files";
        /// Verifiable items in texts.
        Literals = "literals";
        /// Values recorded with a key.
        Values = "values";
        /// Statements that something was done or holds.
        Claims = "claims";
        /// Standing rules.
        Rules = "rules";
        /// Failures.
        Errors = "errors";
        /// Compaction boundaries in the transcript.
        Compactions = "compactions";
        /// Images and files by value.
        Attachments = "attachments";
        /// Child agents.
        Agents = "agents";
        /// Sessions.
        Sessions = "sessions";
        /// Records of the transcript.
        Records = "records";
        /// Messages of the transcript.
        Messages = "messages";
        /// Token counts.
        Usage = "usage";
    }
}

impl Noun {
    /// Whether it selects acts, of which a complete search can prove absence in every form.
    pub const fn is_act(self) -> bool {
        matches!(
            self,
            Self::Calls
                | Self::Effects
                | Self::Changes
                | Self::Files
                | Self::Errors
                | Self::Compactions
                | Self::Agents
                | Self::Attachments
        )
    }

    /// The form where none is written.
    pub const fn default_form(self) -> Form {
        if self.is_act() { Form::Ever } else { Form::List }
    }
}

words! {
    /// A field of a term.
    Field {
        /// Who speaks.
        By = "by";
        /// Which agent; the main agent has none.
        Agent = "agent";
        /// Which session.
        Session = "session";
        /// In which part.
        In = "in";
        /// As of a record.
        At = "at";
        /// From a record or time.
        From = "from";
        /// To a record or time.
        To = "to";
        /// On which branch.
        Branch = "branch";
        /// Text in the same event or one beside it.
        Near = "near";
        /// How many are cited.
        Limit = "limit";
        /// Which lines of a match.
        Lines = "lines";
        /// Which characters of a match.
        Chars = "chars";
        /// The tool.
        Tool = "tool";
        /// Text of any argument, or of the argument `arg.NAME`.
        Arg = "arg";
        /// The program in a shell line.
        Cmd = "cmd";
        /// The kind of effect, literal or rule.
        Kind = "kind";
        /// How it ended.
        Outcome = "outcome";
        /// Where it took place.
        Scope = "scope";
        /// What it touched.
        Target = "target";
        /// How certain it is.
        Certainty = "certainty";
        /// The environment.
        Env = "env";
        /// With which rights.
        Privilege = "privilege";
        /// Whether it was undone.
        Reverted = "reverted";
        /// What was done to a file.
        Op = "op";
        /// The path of a file.
        Path = "path";
        /// A literal or value, by normal form.
        Value = "value";
        /// A unit or a dimension.
        Unit = "unit";
        /// The row of a table.
        Row = "row";
        /// The object of a rule.
        About = "about";
        /// Whether a statement is shown to hold.
        Status = "status";
        /// The state of a rule or agent.
        State = "state";
        /// The code of an error.
        Code = "code";
        /// The media type.
        Media = "media";
    }
}

/// Fields of every noun.
const EVERYWHERE: &[Field] = &[
    Field::By,
    Field::Agent,
    Field::Session,
    Field::In,
    Field::At,
    Field::From,
    Field::To,
    Field::Branch,
    Field::Near,
    Field::Limit,
    Field::Lines,
    Field::Chars,
];

/// Fields of a call, its result and its effects, shared by all nouns that can be found in one.
const OF_CALLS: &[Field] = &[
    Field::Tool,
    Field::Arg,
    Field::Cmd,
    Field::Kind,
    Field::Outcome,
    Field::Scope,
    Field::Target,
    Field::Path,
    Field::Certainty,
    Field::Env,
    Field::Privilege,
    Field::Reverted,
];

/// For each noun: whether it takes the fields of calls, and its own fields.
const FIELDS: &[(Noun, &[Field], &[Field])] = &[
    (Noun::Said, &[], &[]),
    (Noun::Calls, OF_CALLS, &[]),
    (Noun::Results, OF_CALLS, &[]),
    (Noun::Effects, OF_CALLS, &[]),
    (Noun::Changes, OF_CALLS, &[]),
    (Noun::Files, OF_CALLS, &[Field::Op]),
    (Noun::Literals, OF_CALLS, &[Field::Value]),
    (Noun::Values, OF_CALLS, &[Field::Value, Field::Unit, Field::Row]),
    (Noun::Claims, &[], &[Field::Status]),
    (Noun::Rules, &[], &[Field::About, Field::Kind, Field::State]),
    (Noun::Errors, OF_CALLS, &[Field::Code]),
    (Noun::Compactions, &[], &[Field::Status]),
    (Noun::Attachments, &[], &[Field::Media]),
    (Noun::Agents, &[], &[Field::State]),
    (Noun::Sessions, &[], &[]),
    (Noun::Records, &[], &[]),
    (Noun::Messages, &[], &[]),
    (Noun::Usage, &[], &[]),
];

/// The fields that `noun` takes, its own first.
pub(super) fn fields_of(noun: Noun) -> Vec<Field> {
    let row = FIELDS.iter().find(|(own, _, _)| *own == noun);
    let (shared, own) = row.map_or((&[] as &[Field], &[] as &[Field]), |(_, shared, own)| (*shared, *own));
    own.iter().chain(shared).chain(EVERYWHERE).copied().collect()
}

/// The keys after `usage`.
pub(super) const USAGE_KEYS: &[&str] = &["context", "input", "cached", "output", "total"];

/// The closed sets of values: the noun where it matters, the field, the words.
const VALUES: &[(Option<Noun>, Field, &[&str])] = &[
    (None, Field::By, &["user", "operator", "assistant", "tool", "harness", "agent", "unknown"]),
    (None, Field::In, &["prose", "call", "result", "thinking"]),
    (None, Field::Branch, &["active", "abandoned", "any"]),
    (None, Field::Certainty, &["definite", "possible"]),
    (None, Field::Env, &["prod", "staging", "dev", "test"]),
    (None, Field::Privilege, &["user", "root"]),
    (None, Field::Reverted, &["yes", "no"]),
    (None, Field::Op, &["read", "written", "created", "deleted", "moved", "seen", "missing"]),
    (None, Field::Status, &["supported", "contradicted", "unverified"]),
    (None, Field::Scope, SCOPES),
    (Some(Noun::Rules), Field::Kind, &["ban", "duty", "gate", "approval"]),
    (Some(Noun::Rules), Field::State, &["in-force", "lifted", "narrowed"]),
    (Some(Noun::Agents), Field::State, &["running", "finished", "collected", "failed", "lost"]),
    (Some(Noun::Literals), Field::Kind, LITERALS),
];

const SCOPES: &[&str] =
    &["project", "temp", "home", "system", "outside", "remote", "container", "db", "cloud", "unknown"];

const LITERALS: &[&str] = &[
    "path", "url", "id", "hash", "number", "quantity", "time", "quote", "code", "flag", "env", "error",
    "secret",
];

const OUTCOMES: &[Outcome] = &[
    Outcome::Ok,
    Outcome::ReportedOk,
    Outcome::Failed,
    Outcome::NoEffect,
    Outcome::Refused,
    Outcome::Interrupted,
    Outcome::DryRun,
    Outcome::Unknown,
];

/// The words a field of `noun` takes, where they are a closed set.
pub(super) fn values_of(noun: Noun, field: Field) -> Option<Vec<&'static str>> {
    let row = VALUES.iter().find(|(own, of, _)| *of == field && own.is_none_or(|own| own == noun));
    match (row, field) {
        (Some((_, _, words)), _) => Some(words.to_vec()),
        (None, Field::Outcome) => Some(OUTCOMES.iter().map(|outcome| outcome.word()).collect()),
        (None, Field::Kind) => Some(kinds()),
        _ => None,
    }
}

/// Every kind of effect and every word above one.
fn kinds() -> Vec<&'static str> {
    let mut words: Vec<&str> = Vec::new();
    for kind in EffectKind::ALL {
        let above = kind.word().split('.').next().unwrap_or_default();
        for word in [above, kind.word()] {
            if !words.contains(&word) {
                words.push(word);
            }
        }
    }
    words
}
