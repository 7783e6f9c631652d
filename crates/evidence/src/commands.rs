//! What commands do: a table of rules over parsed invocations, first match wins.
//!
//! A rule names kinds and where their targets stand; scope is never in the table but computed.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use strongroom_core::evidence::Certainty;

use crate::effect::EffectKind;
use crate::place::base_name;

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
    /// Whether an option, or the operand where `name` has no dash, is present.
    pub fn has(&self, name: &str) -> bool {
        if name.starts_with(['-', '+']) {
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

/// One rule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    on: Vec<String>,
    #[serde(default)]
    sub: Vec<String>,
    #[serde(default)]
    any: Vec<String>,
    #[serde(default)]
    all: Vec<String>,
    #[serde(default)]
    none: Vec<String>,
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
    matches: Vec<String>,
    #[serde(default)]
    not_match: Vec<String>,
    #[serde(skip)]
    like_regex: Option<Regex>,
    #[serde(skip)]
    proof_regexes: Vec<Regex>,
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

/// A program that runs another command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wrapper {
    on: Vec<String>,
    sub: Option<String>,
    values: Option<Vec<String>>,
    #[serde(default)]
    words: usize,
    #[serde(default)]
    ways: Vec<Way>,
}

/// How a wrapper runs its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// `NAME=value` may stand before the command.
    Assigns,
    /// With raised rights.
    Root,
    /// With operands from standard input.
    Stdin,
    /// For each of several things, perhaps none.
    Unsure,
}

/// What a wrapper leaves.
#[derive(Debug)]
pub struct Unwrapped<'t> {
    /// The wrapper.
    pub wrapper: &'t Wrapper,
    /// The command behind it.
    pub inner: Vec<Arg>,
    /// Assignments in front of the command.
    pub assignments: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Spelling {
    long: Vec<String>,
    letters: Vec<String>,
    values: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
struct RuleFile {
    /// Names for lists of programs; a rule uses one as `@name`.
    #[serde(default)]
    sets: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    rule: Vec<Rule>,
}

#[derive(Debug, Default, Deserialize)]
struct WrapperFile {
    wrapper: Vec<Wrapper>,
}

/// The rules, indexed by program.
#[derive(Debug, Default)]
pub struct Commands {
    rules: Vec<Rule>,
    by_program: BTreeMap<String, Vec<usize>>,
    wrappers: Vec<Wrapper>,
    spelling: Spelling,
}

const RULE_FILES: &[(&str, &str)] = &[
    ("files.toml", include_str!("tables/files.toml")),
    ("git.toml", include_str!("tables/git.toml")),
    ("packages.toml", include_str!("tables/packages.toml")),
    ("build.toml", include_str!("tables/build.toml")),
    ("system.toml", include_str!("tables/system.toml")),
    ("services.toml", include_str!("tables/services.toml")),
];

/// Other names of the same program.
const ALIASES: &[(&str, &str)] = &[
    ("python2", "python"),
    ("python3", "python"),
    ("pypy", "python"),
    ("pypy3", "python"),
    ("py", "python"),
    ("ipython", "python"),
    ("pip3", "pip"),
    ("pip2", "pip"),
    ("nodejs", "node"),
    ("gsed", "sed"),
    ("gawk", "awk"),
    ("mawk", "awk"),
    ("nawk", "awk"),
    ("gfind", "find"),
    ("egrep", "grep"),
    ("fgrep", "grep"),
    ("zgrep", "grep"),
    ("ggrep", "grep"),
    ("sh", "bash"),
    ("zsh", "bash"),
    ("dash", "bash"),
    ("ksh", "bash"),
    ("ash", "bash"),
    ("fish", "bash"),
    ("podman", "docker"),
    ("nerdctl", "docker"),
    ("k", "kubectl"),
    ("oc", "kubectl"),
    ("docker-compose", "docker compose"),
    ("apt-get", "apt"),
    ("aptitude", "apt"),
    ("gmake", "make"),
    ("gcp", "cp"),
    ("gmv", "mv"),
    ("grm", "rm"),
    ("mariadb", "mysql"),
    ("gtar", "tar"),
    ("bsdtar", "tar"),
    ("tofu", "terraform"),
    ("https", "http"),
    ("xh", "http"),
    ("vim", "vi"),
    ("nvim", "vi"),
    ("source", "."),
    ("mamba", "conda"),
    ("micromamba", "conda"),
    ("dnf", "yum"),
    ("microdnf", "yum"),
    ("batcat", "bat"),
    ("fdfind", "fd"),
    ("tsx", "ts-node"),
    ("hg.exe", "hg"),
    ("go1", "go"),
];

/// The table that is built into the program.
pub fn table() -> &'static Commands {
    static TABLE: LazyLock<Commands> = LazyLock::new(|| Commands::load().unwrap_or_default());
    &TABLE
}

impl Commands {
    /// Reads the embedded tables.
    ///
    /// # Errors
    /// A sentence naming the file and what is wrong in it.
    pub fn load() -> Result<Self, String> {
        let spelling = toml::from_str(include_str!("tables/options.toml"))
            .map_err(|error| format!("options.toml: {error}"))?;
        let wrappers: WrapperFile = toml::from_str(include_str!("tables/wrappers.toml"))
            .map_err(|error| format!("wrappers.toml: {error}"))?;
        let mut commands = Self { spelling, wrappers: wrappers.wrapper, ..Self::default() };
        for (name, text) in RULE_FILES {
            let file: RuleFile = toml::from_str(text).map_err(|error| format!("{name}: {error}"))?;
            for mut rule in file.rule {
                if let Some(set) = rule.on.first().and_then(|name| file.sets.get(name.strip_prefix('@')?)) {
                    rule.on.clone_from(set);
                }
                commands.add(rule).map_err(|error| format!("{name}: {error}"))?;
            }
        }
        Ok(commands)
    }

    fn add(&mut self, mut rule: Rule) -> Result<(), String> {
        if let Some(like) = &rule.like {
            rule.like_regex = Some(Regex::new(like).map_err(|error| error.to_string())?);
        }
        for proof in &rule.proof {
            rule.proof_regexes.push(Regex::new(proof).map_err(|error| error.to_string())?);
        }
        for effect in &rule.effects {
            rule.parsed.push(
                parse_effect(effect).ok_or_else(|| format!("{effect:?} is no effect of {:?}", rule.on))?,
            );
        }
        if rule.matches.len() < 2 || rule.not_match.is_empty() {
            return Err(format!("the rule for {:?} {:?} has too few examples", rule.on, rule.sub));
        }
        for program in &rule.on {
            self.by_program.entry(program.clone()).or_default().push(self.rules.len());
        }
        self.rules.push(rule);
        Ok(())
    }

    /// Splits a command line into options and operands.
    pub fn parse(&self, words: &[Arg]) -> Invocation {
        let Some((program, rest)) = words.split_first() else { return Invocation::default() };
        let (program, extra) = program_name(&program.text);
        let mut invocation = Invocation { program, ..Invocation::default() };
        invocation.operands.extend(extra.map(Arg::literal));
        let mut reader = OptionReader::new(self, &invocation.program);
        reader.read(rest, &mut invocation);
        invocation
    }

    /// The first rule that matches, with the number of operands its sub-command takes.
    pub fn find(&self, invocation: &Invocation) -> Option<(&Rule, usize)> {
        self.position(invocation).and_then(|(at, used)| Some((self.rules.get(at)?, used)))
    }

    fn position(&self, invocation: &Invocation) -> Option<(usize, usize)> {
        self.by_program.get(&invocation.program)?.iter().find_map(|&at| {
            let used = self.rules.get(at)?.matches(invocation)?;
            Some((at, used))
        })
    }

    /// Whether any rule speaks of `program`.
    pub fn knows(&self, program: &str) -> bool {
        self.by_program.contains_key(program)
    }

    /// The command behind a wrapper, where `words` begin with one.
    pub fn unwrap_command(&self, words: &[Arg]) -> Option<Unwrapped<'_>> {
        let (first, rest) = words.split_first()?;
        let (program, _) = program_name(&first.text);
        self.wrappers
            .iter()
            .filter(|wrapper| wrapper.on.contains(&program))
            .find_map(|wrapper| wrapper.strip(rest))
    }
}

impl Wrapper {
    /// Whether it runs its command this way.
    pub fn is(&self, way: Way) -> bool {
        self.ways.contains(&way)
    }

    fn strip(&self, words: &[Arg]) -> Option<Unwrapped<'_>> {
        let values = self.values.as_deref().unwrap_or_default();
        let mut rest = words;
        let mut left = self.words;
        let mut assignments = Vec::new();
        let mut wanted = self.sub.as_deref();
        while let Some((first, tail)) = rest.split_first() {
            let text = first.text.as_str();
            if text == "--" {
                rest = tail;
                if wanted.is_none() && left == 0 {
                    break;
                }
            } else if text.starts_with('-') && text.len() > 1 {
                rest = if values.iter().any(|value| value == text) {
                    tail.get(1..).unwrap_or_default()
                } else {
                    tail
                };
            } else if let Some(sub) = wanted {
                if sub != text && !(sub == "exec" && text == "x") {
                    return None;
                }
                wanted = None;
                rest = tail;
            } else if self.is(Way::Assigns) && is_assignment(text) {
                assignments.push(text.to_owned());
                rest = tail;
            } else if left > 0 {
                left -= 1;
                rest = tail;
            } else {
                break;
            }
        }
        wanted.is_none().then(|| Unwrapped { wrapper: self, inner: rest.to_vec(), assignments })
    }
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// The plain name of a program, and a first operand that the name stands for.
fn program_name(text: &str) -> (String, Option<&'static str>) {
    let mut name = base_name(text).strip_suffix(".exe").unwrap_or(base_name(text)).to_owned();
    let versioned = ["python", "pip", "node", "ruby", "perl", "php", "lua", "gcc", "g++", "clang", "go"];
    if let Some(stem) = versioned.iter().find(|stem| {
        name.strip_prefix(**stem).is_some_and(|rest| {
            rest.len() > 1 && rest.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-'))
        })
    }) {
        (*stem).clone_into(&mut name);
    }
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| (*name).to_owned());
    match name.split_once(' ') {
        Some((program, "compose")) => (program.to_owned(), Some("compose")),
        _ => (name, None),
    }
}

fn parse_effect(text: &str) -> Option<RuleEffect> {
    let (kind, slot) = text.split_once(' ').unwrap_or((text, "nothing"));
    let (kind, certainty) = match kind.strip_suffix('?') {
        Some(kind) => (kind, Certainty::Possible),
        None => (kind, Certainty::Definite),
    };
    Some(RuleEffect { kind: EffectKind::from_word(kind)?, certainty, slot: Slot::from_word(slot)? })
}

/// How bundled letters are spelled: behind a dash the rest of the word is the value of a letter that takes one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bundle {
    Bare,
    Dashed,
}

struct OptionReader<'a> {
    values: &'a [String],
    long: bool,
    letters: bool,
}

impl<'a> OptionReader<'a> {
    fn new(commands: &'a Commands, program: &str) -> Self {
        Self {
            values: commands.spelling.values.get(program).map(Vec::as_slice).unwrap_or_default(),
            long: commands.spelling.long.iter().any(|one| one == program),
            letters: commands.spelling.letters.iter().any(|one| one == program),
        }
    }

    fn takes_value(&self, name: &str) -> bool {
        self.values.iter().any(|value| value == name)
    }

    fn read(&mut self, words: &[Arg], out: &mut Invocation) {
        let mut rest = words;
        while let Some((first, tail)) = rest.split_first() {
            rest = tail;
            let text = first.text.as_str();
            if text == "--" {
                out.behind_dashes = Some(out.operands.len());
                out.options.push(("--".to_owned(), None));
                out.operands.extend_from_slice(rest);
                return;
            }
            if self.letters && out.operands.is_empty() && out.options.is_empty() && !text.starts_with('-') {
                rest = self.bundle(Bundle::Bare, text, rest, out);
            } else if let Some(name) = text.strip_prefix('-').filter(|name| !name.is_empty()) {
                let glued = self.long || name.starts_with('-');
                rest = if glued {
                    self.long(first, rest, out)
                } else {
                    self.bundle(Bundle::Dashed, name, rest, out)
                };
            } else {
                out.operands.push(first.clone());
            }
        }
    }

    fn long<'w>(&self, word: &Arg, rest: &'w [Arg], out: &mut Invocation) -> &'w [Arg] {
        if let Some((name, value)) = word.text.split_once('=') {
            out.options.push((name.to_owned(), Some(Arg { text: value.to_owned(), shape: word.shape })));
            return rest;
        }
        if self.takes_value(&word.text)
            && let Some((value, tail)) = rest.split_first()
        {
            out.options.push((word.text.clone(), Some(value.clone())));
            return tail;
        }
        out.options.push((word.text.clone(), None));
        rest
    }

    /// Bundled letters; the rest of the word, or the next word, is the value of a letter that takes one.
    fn bundle<'w>(&self, kind: Bundle, letters: &str, rest: &'w [Arg], out: &mut Invocation) -> &'w [Arg] {
        let apart = kind == Bundle::Bare;
        for (at, letter) in letters.char_indices() {
            let name = format!("-{letter}");
            let glued = letters.get(at + letter.len_utf8()..).unwrap_or_default();
            if self.takes_value(&name) {
                if !glued.is_empty() && !apart {
                    out.options.push((name, Some(Arg::literal(glued.strip_prefix('=').unwrap_or(glued)))));
                    return rest;
                }
                if glued.is_empty() || apart {
                    let (value, tail) =
                        rest.split_first().map_or((None, rest), |(value, tail)| (Some(value.clone()), tail));
                    out.options.push((name, value));
                    for other in glued.chars() {
                        out.options.push((format!("-{other}"), None));
                    }
                    return tail;
                }
            }
            out.options.push((name, None));
        }
        if letters.chars().nth(1).is_some() {
            out.options.push((format!("-{letters}"), None));
        }
        rest
    }
}

impl Rule {
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
            && operands >= self.min
            && self.max.is_none_or(|max| operands <= max)
            && self.like_regex.as_ref().is_none_or(|like| {
                invocation.operands.iter().skip(used).any(|operand| like.is_match(&operand.text))
            });
        fits.then_some(used)
    }

    /// Whether the text of a result proves success.
    pub fn proves(&self, text: &str) -> bool {
        self.proof_regexes.iter().any(|proof| proof.is_match(text))
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
        let same =
            word == "*" || own == word || word.strip_suffix('*').is_some_and(|stem| own.starts_with(stem));
        if !same {
            return None;
        }
        used += 1;
    }
    Some(used)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::{self, Node, Part};

    fn words(line: &str) -> Vec<Arg> {
        let script = shell::parse(line).unwrap();
        let Node::Simple(simple) = &script.0[0].node else { panic!("{line}") };
        simple
            .words
            .iter()
            .map(|word| {
                let text = word.parts.iter().map(|part| match part {
                    Part::Bare(text) | Part::Quoted(text) | Part::Unknown(text) | Part::Output(text) => {
                        text.as_str()
                    }
                    Part::Variable(name) => name.as_str(),
                });
                Arg::literal(text.collect::<String>())
            })
            .collect()
    }

    #[test]
    fn every_rule_matches_its_examples_and_not_its_counter_examples() {
        let commands = Commands::load().unwrap();
        let mut problems = Vec::new();
        for (at, rule) in commands.rules.iter().enumerate() {
            let found = |line: &String| commands.position(&commands.parse(&words(line))).map(|(at, _)| at);
            for line in &rule.matches {
                if found(line) != Some(at) {
                    let other =
                        found(line).map(|other| (&commands.rules[other].on, &commands.rules[other].matches));
                    problems.push(format!("{line:?} should be {:?} {:?}, is {other:?}", rule.on, rule.sub));
                }
            }
            for line in &rule.not_match {
                if found(line) == Some(at) {
                    problems.push(format!("{line:?} should not be {:?} {:?}", rule.on, rule.sub));
                }
            }
        }
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    #[test]
    fn values_are_read_glued_bundled_and_apart() {
        let commands = Commands::load().unwrap();
        let value =
            |line: &str, name: &str| commands.parse(&words(line)).value(&[name]).map(|arg| arg.text.clone());
        assert_eq!(value("curl -XPOST u", "-X").as_deref(), Some("POST"));
        assert_eq!(value("curl --request=POST u", "--request").as_deref(), Some("POST"));
        assert_eq!(value("tar xzf a.tgz -C d", "-f").as_deref(), Some("a.tgz"));
        assert_eq!(value("git -C d commit -am msg", "-m").as_deref(), Some("msg"));
        assert_eq!(value("tar -xf a.tgz -C/etc", "-C").as_deref(), Some("/etc"));
        assert!(commands.parse(&words("rm -- -x")).operand(0) == Some("-x"));
    }
}
