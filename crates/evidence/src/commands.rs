//! What commands do: a table of rules over parsed invocations, first match wins.
//!
//! A rule names kinds and where their targets stand; scope is never in the table but computed.

mod lists;
mod options;
mod wrap;

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;
use serde::Deserialize;
use strongroom_core::evidence::Certainty;

pub use self::wrap::{Unwrapped, Way, Wrapper};

use self::lists::{Lists, quoted};
use self::options::{OptionReader, program_name};
use crate::effect::EffectKind;

/// An expanded word of an invocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arg {
    /// Its text; what is not known stands in it as it is spelled.
    pub text: String,
    /// Whether the text is what the program gets.
    pub shape: Shape,
}

/// How well the text of a word is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Exactly.
    Literal,
    /// It is a pattern for file names.
    Glob,
    /// A part of it is not known.
    Dynamic,
}

impl Arg {
    /// A word that is exactly `text`.
    pub fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), shape: Shape::Literal }
    }
}

/// A command line, parsed by the arity table of its program.
#[derive(Debug, Clone, Default)]
pub struct Invocation {
    /// The program's name without directory and version.
    pub program: String,
    /// Options with their values, in order.
    pub options: Vec<(String, Option<Arg>)>,
    /// The other words.
    pub operands: Vec<Arg>,
    /// The number of operands in front of `--`, where there is one.
    pub behind_dashes: Option<usize>,
}

impl Invocation {
    /// Whether an option, or the operand where `name` has no dash, is present. A `*` at the end stands for any
    /// rest, one in front for any beginning.
    pub fn has(&self, name: &str) -> bool {
        if name.len() > 1 && (name.starts_with('*') || name.ends_with('*')) {
            let dashed = name.starts_with(['-', '+']);
            let options = self.options.iter().filter(|_| dashed).map(|(option, _)| option.as_str());
            let operands = self.operands.iter().filter(|_| !dashed).map(|word| word.text.as_str());
            options.chain(operands).any(|word| fits(name, word))
        } else if name.starts_with(['-', '+']) {
            let behind = self.operands.iter().skip(self.behind_dashes.unwrap_or(usize::MAX));
            self.options.iter().any(|(option, _)| option == name)
                || behind.into_iter().any(|word| word.text == name)
        } else {
            self.operands.iter().any(|operand| operand.text == name)
        }
    }

    /// The value of the first of `names` that is given.
    pub fn value(&self, names: &[&str]) -> Option<&Arg> {
        self.options
            .iter()
            .filter(|(name, _)| names.contains(&name.as_str()))
            .find_map(|(_, value)| value.as_ref())
    }

    /// The values of all `names`.
    pub fn values(&self, names: &[&str]) -> Vec<&Arg> {
        self.options
            .iter()
            .filter(|(name, _)| names.contains(&name.as_str()))
            .filter_map(|(_, v)| v.as_ref())
            .collect()
    }

    /// The text of operand `at`.
    pub fn operand(&self, at: usize) -> Option<&str> {
        self.operands.get(at).map(|operand| operand.text.as_str())
    }
}

/// Command lines that show what a rule is for; only tests read them.
#[cfg(test)]
type Examples = Vec<String>;
#[cfg(not(test))]
type Examples = serde::de::IgnoredAny;

/// One rule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    on: Vec<String>,
    #[serde(default)]
    sub: Vec<String>,
    /// What the first word that is a known verb must say.
    verb: Option<Verb>,
    #[serde(default)]
    any: Vec<String>,
    #[serde(default)]
    all: Vec<String>,
    #[serde(default)]
    none: Vec<String>,
    /// The options that may be there; no other may.
    #[serde(default)]
    only: Vec<String>,
    #[serde(default)]
    min: usize,
    max: Option<usize>,
    like: Option<String>,
    /// Effects as `kind target`, with `?` behind the kind where it is only possible.
    #[serde(rename = "do", default)]
    effects: Vec<String>,
    /// The call only shows what it would do.
    #[serde(default)]
    pub dry: bool,
    /// What bounds an opaque run.
    pub assume: Option<String>,
    /// Texts in the result that show that nothing changed.
    #[serde(default)]
    pub quiet: Vec<String>,
    /// Patterns of texts in the result that prove success.
    #[serde(default)]
    proof: Vec<String>,
    #[serde(rename = "match", default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "examples run as tests"))]
    matches: Examples,
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "examples run as tests"))]
    not_match: Examples,
    #[serde(skip)]
    like_regex: Option<Regex>,
    #[serde(skip)]
    proof_regexes: OnceLock<Vec<Regex>>,
    #[serde(skip)]
    parsed: Vec<RuleEffect>,
}

/// An effect as a rule states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleEffect {
    /// The kind.
    pub kind: EffectKind,
    /// How certain.
    pub certainty: Certainty,
    /// Where its target stands in the invocation.
    pub slot: Slot,
    /// The name of the target where nothing stands in the slot.
    pub otherwise: Option<String>,
}

/// What a verb says of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verb {
    /// It only shows.
    Read,
    /// It changes something.
    Change,
}

/// Where a target stands in an invocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// All operands.
    Operands,
    /// The first operand.
    First,
    /// The last operand.
    Last,
    /// All but the first.
    Rest,
    /// All but the last.
    Init,
    /// The second operand, where there is one, else what lies below the working directory.
    Second,
    /// The operands behind `--`, or all.
    Behind,
    /// The values of options.
    Option(Vec<String>),
    /// The rest of operands that start with this.
    Key(String),
    /// Everything below the working directory.
    Here,
    /// A path that the program always uses.
    Path(String),
    /// All operands as one name.
    Words,
    /// All operands, those of the sub-command too, as one name.
    All,
    /// Nothing that can be named.
    Nothing,
}

impl Slot {
    fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "operands" => Self::Operands,
            "first" => Self::First,
            "last" => Self::Last,
            "rest" => Self::Rest,
            "init" => Self::Init,
            "second" => Self::Second,
            "behind" => Self::Behind,
            "here" => Self::Here,
            "words" => Self::Words,
            "all" => Self::All,
            "nothing" => Self::Nothing,
            _ => match word.split_once(':') {
                Some(("option", names)) => Self::Option(names.split(',').map(str::to_owned).collect()),
                Some(("path", path)) => Self::Path(path.to_owned()),
                Some(("key", key)) => Self::Key(key.to_owned()),
                _ => return None,
            },
        })
    }
}

/// A rule that is parsed when its program is first asked for.
#[derive(Debug)]
struct Entry {
    text: &'static str,
    rule: OnceLock<Option<Rule>>,
}

/// The rules, indexed by program.
#[derive(Debug, Default)]
pub struct Commands {
    entries: Vec<Entry>,
    /// Programs and `@lists` with the rules that name them, in order.
    named: Vec<(&'static str, usize)>,
    /// Words with the lists that hold them, in order.
    members: Vec<(&'static str, &'static str)>,
    wrappers: Vec<Wrapper>,
    spelling: Lists,
    sets: Lists,
    verbs: OnceLock<BTreeMap<&'static str, Verb>>,
}

const RULE_FILES: &[&str] = &[
    include_str!("tables/files.toml"),
    include_str!("tables/git.toml"),
    include_str!("tables/packages.toml"),
    include_str!("tables/build.toml"),
    include_str!("tables/system.toml"),
    include_str!("tables/services.toml"),
    include_str!("tables/programs.toml"),
];

/// The table that is built into the program.
pub fn table() -> &'static Commands {
    static TABLE: LazyLock<Commands> = LazyLock::new(Commands::load);
    &TABLE
}

/// How many words behind a sub-command may be its verb.
const VERB_WITHIN: usize = 3;

impl Commands {
    /// Indexes the embedded tables. That each rule can be parsed is proved by a test; one that cannot is left out.
    pub fn load() -> Self {
        let mut commands = Self {
            spelling: Lists::scan(include_str!("tables/options.toml")),
            sets: Lists::scan(include_str!("tables/sets.toml")),
            wrappers: wrap::read(include_str!("tables/wrappers.toml")).unwrap_or_default(),
            ..Self::default()
        };
        for text in RULE_FILES {
            for rule in text.split("[[rule]]\n").skip(1) {
                commands.index(rule);
            }
        }
        commands.members = commands.sets.members();
        commands.named.sort_unstable();
        commands
    }

    /// Notes the programs and lists of a rule; they stand in its first line.
    fn index(&mut self, text: &'static str) {
        let at = self.entries.len();
        self.named.extend(quoted(text.split('\n').next().unwrap_or_default()).map(|name| (name, at)));
        self.entries.push(Entry { text, rule: OnceLock::new() });
    }

    /// The rules that name a program, or a list that holds it, in the order of the tables.
    fn rules_of(&self, program: &str) -> Vec<usize> {
        let mut names = vec![program.to_owned()];
        let mut rules = Vec::new();
        while let Some(name) = names.pop() {
            rules.extend(beginning_with(&self.named, &name).map(|(_, at)| *at));
            names.extend(beginning_with(&self.members, &name).map(|(_, list)| format!("@{list}")));
        }
        rules.sort_unstable();
        rules.dedup();
        rules
    }

    fn rule(&self, at: usize) -> Option<&Rule> {
        let entry = self.entries.get(at)?;
        entry.rule.get_or_init(|| Rule::parse(entry.text, &self.sets).ok()).as_ref()
    }

    /// Splits a command line into options and operands.
    pub fn parse(&self, words: &[Arg]) -> Invocation {
        let Some((program, rest)) = words.split_first() else { return Invocation::default() };
        let (program, extra) = program_name(&program.text);
        let mut invocation = Invocation { program, ..Invocation::default() };
        invocation.operands.extend(extra.map(Arg::literal));
        OptionReader::new(&self.spelling, &invocation.program).read(rest, &mut invocation);
        invocation
    }

    /// The first rule that matches, with the number of operands its sub-command takes.
    pub fn find(&self, invocation: &Invocation) -> Option<(&Rule, usize)> {
        self.position(invocation).and_then(|(at, used)| Some((self.rule(at)?, used)))
    }

    fn position(&self, invocation: &Invocation) -> Option<(usize, usize)> {
        self.rules_of(&invocation.program).into_iter().find_map(|at| {
            let rule = self.rule(at)?;
            let used = rule.matches(invocation)?;
            let said = |verb| self.verb(invocation.operands.get(used..).unwrap_or_default()) == Some(verb);
            rule.verb.is_none_or(said).then_some((at, used))
        })
    }

    /// What the first word says that is a known verb.
    fn verb(&self, operands: &[Arg]) -> Option<Verb> {
        let verbs = self.verbs.get_or_init(|| {
            let read = self.sets.words("read-verbs").into_iter().map(|word| (word, Verb::Read));
            let change = self.sets.words("change-verbs").into_iter().map(|word| (word, Verb::Change));
            read.chain(change).collect()
        });
        let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b':');
        let words = operands.iter().take(VERB_WITHIN).map(|operand| operand.text.as_str());
        words.take_while(|word| word.bytes().all(plain)).find_map(|word| verb_of(word, verbs))
    }

    /// Whether any rule speaks of `program`.
    pub fn knows(&self, program: &str) -> bool {
        !self.rules_of(program).is_empty()
    }

    /// The command behind a wrapper, where `words` begin with one.
    pub fn unwrap_command(&self, words: &[Arg]) -> Option<Unwrapped<'_>> {
        wrap::unwrap(&self.wrappers, words)
    }
}

/// What a word says: itself, or a part of it at its beginning or its end; that a part of it changes something weighs
/// more.
fn verb_of(word: &str, verbs: &BTreeMap<&str, Verb>) -> Option<Verb> {
    let known = |word: &str| verbs.get(word).copied();
    let mut parts = word.split(['-', '_', ':']);
    known(word).or_else(|| {
        let changes = parts.clone().any(|part| known(part) == Some(Verb::Change));
        let outer = [parts.next(), parts.next_back()];
        let read = outer.into_iter().flatten().find_map(known);
        if changes { Some(Verb::Change) } else { read }
    })
}

/// The pairs of an ordered list that begin with `name`.
fn beginning_with<'p, T>(
    pairs: &'p [(&'static str, T)],
    name: &'p str,
) -> impl Iterator<Item = &'p (&'static str, T)> {
    let from = pairs.partition_point(|(own, _)| *own < name);
    let own = pairs.get(from..).unwrap_or_default().iter();
    own.take_while(move |(own, _)| *own == name)
}

/// Whether `word` is what `pattern` says; a `*` at its end or its beginning stands for anything.
fn fits(pattern: &str, word: &str) -> bool {
    match (pattern.strip_suffix('*'), pattern.strip_prefix('*')) {
        (Some(stem), _) => word.starts_with(stem),
        (None, Some(ending)) => word.ends_with(ending),
        (None, None) => word == pattern,
    }
}

fn parse_effect(text: &str) -> Option<RuleEffect> {
    let (kind, slot) = text.split_once(' ').unwrap_or((text, "nothing"));
    let (slot, otherwise) = slot.split_once('|').map_or((slot, None), |(slot, name)| (slot, Some(name)));
    let (kind, certainty) = match kind.strip_suffix('?') {
        Some(kind) => (kind, Certainty::Possible),
        None => (kind, Certainty::Definite),
    };
    Some(RuleEffect {
        kind: EffectKind::from_word(kind)?,
        certainty,
        slot: Slot::from_word(slot)?,
        otherwise: otherwise.map(str::to_owned),
    })
}

impl Rule {
    /// Reads one rule of a table.
    fn parse(text: &str, sets: &Lists) -> Result<Self, String> {
        let mut rule: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        for list in [&mut rule.sub, &mut rule.any, &mut rule.all, &mut rule.none, &mut rule.only] {
            sets.expand(list);
        }
        if let Some(like) = &rule.like {
            rule.like_regex = Some(Regex::new(like).map_err(|error| error.to_string())?);
        }
        for effect in &rule.effects {
            let parsed = parse_effect(effect);
            rule.parsed.push(parsed.ok_or_else(|| format!("{effect:?} is no effect of {:?}", rule.on))?);
        }
        Ok(rule)
    }

    /// The number of operands the sub-command takes, where the rule matches.
    fn matches(&self, invocation: &Invocation) -> Option<usize> {
        let used = if self.sub.is_empty() {
            0
        } else {
            self.sub.iter().filter_map(|sub| sub_words(sub, invocation)).max()?
        };
        let operands = invocation.operands.len() - used;
        let has = |name: &String| invocation.has(name);
        let fits = (self.any.is_empty() || self.any.iter().any(has))
            && self.all.iter().all(has)
            && !self.none.iter().any(has)
            && (self.only.is_empty() || invocation.options.iter().all(|(name, _)| self.allows(name)))
            && operands >= self.min
            && self.max.is_none_or(|max| operands <= max)
            && self.like_regex.as_ref().is_none_or(|like| {
                invocation.operands.iter().skip(used).any(|operand| like.is_match(&operand.text))
            });
        fits.then_some(used)
    }

    fn allows(&self, option: &str) -> bool {
        self.only.iter().any(|pattern| fits(pattern, option))
    }

    /// Whether the text of a result proves success.
    pub fn proves(&self, text: &str) -> bool {
        let compiled = || self.proof.iter().filter_map(|proof| Regex::new(proof).ok()).collect();
        self.proof_regexes.get_or_init(compiled).iter().any(|proof| proof.is_match(text))
    }

    /// The effects.
    pub fn effects(&self) -> &[RuleEffect] {
        &self.parsed
    }
}

fn sub_words(sub: &str, invocation: &Invocation) -> Option<usize> {
    let mut used = 0;
    for word in sub.split(' ') {
        let own = invocation.operand(used)?;
        if !fits(word, own) {
            return None;
        }
        used += 1;
    }
    Some(used)
}

#[cfg(test)]
mod tests;
