//! What the words behind a verb name, and whether every one of them is accounted for.

use super::sentence::{Sentence, Spelling};
use super::words::{
    ANYTHING, BRANCHES, KINDS, POINTING, is_capitalised, is_literal, is_name, is_path, is_program, safe,
};
use crate::query::Atom;

/// Which words may name an object besides quotations and literals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// None.
    Literal,
    /// One plain word beside the kind of thing it names, or with a capital.
    Kinded,
    /// One plain word, and one more behind each preposition.
    Plain,
}

/// How an object is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    /// Which words may name it.
    pub(super) names: Names,
    /// Words that say no more than the verb does, and prepositions that may stand before a name.
    pub(super) silent: &'static [&'static str],
    /// Kinds of things that are looked for by their word.
    pub(super) kept: &'static [&'static str],
    /// Whether the environment is a term of its own.
    pub(super) environment: Environment,
}

/// What the name of an environment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Environment {
    /// A term on `env:`.
    Term,
    /// A word like others.
    Word,
}

/// Words that name an environment.
const ENVIRONMENTS: &[(&str, &str)] =
    &[("production", "env:prod"), ("prod", "env:prod"), ("staging", "env:staging")];

/// Prepositions that may stand before a name, where the verb takes them.
const PREPOSITIONS: &[&str] = &["to", "with", "via", "from", "on", "into", "under", "in", "onto"];

/// What the words of one phrase add up to.
#[derive(Default)]
struct Tally {
    kinds: usize,
    plain: usize,
    /// Plain names behind an article.
    pointed: usize,
    named: usize,
    silent: usize,
}

impl Tally {
    /// Whether the phrase names what it speaks of: a kind alone names nothing, and a plain word is a name only where
    /// the verb takes one.
    fn is_read(&self, names: Names) -> bool {
        let kinded = self.kinds > 0 || self.named > 0;
        let plain = match names {
            Names::Literal => self.plain == 0,
            Names::Kinded => self.plain <= usize::from(kinded),
            Names::Plain => self.plain <= 1 && (self.pointed == 0 || kinded || self.silent > 0),
        };
        plain && (self.kinds == 0 || self.plain + self.named > 0)
    }
}

/// The terms that `words` name; none where a word is not accounted for, or where nothing is named although
/// something is spoken of.
pub(super) fn objects(sentence: &Sentence, words: &str, reading: Reading) -> Option<Vec<String>> {
    let (mut terms, mut environment) = (Vec::new(), None);
    let (mut tally, mut pointing) = (Tally::default(), false);
    for word in words.split_whitespace() {
        let lower = word.to_lowercase();
        let lower = lower.as_str();
        if PREPOSITIONS.contains(&lower) && reading.silent.contains(&lower) {
            if !tally.is_read(reading.names) {
                return None;
            }
            (tally, pointing) = (Tally::default(), false);
            continue;
        }
        match class(sentence, word, lower, reading)? {
            Class::Term(term) => {
                tally.named += 1;
                terms.push(term);
            }
            Class::Environment(term) => {
                tally.named += 1;
                environment = Some(term.to_owned());
            }
            Class::Name => {
                tally.plain += 1;
                tally.pointed += usize::from(pointing);
                terms.push(safe(word));
            }
            Class::Kind => tally.kinds += 1,
            Class::Silent => tally.silent += 1,
            Class::Pointing => pointing = true,
        }
    }
    terms.extend(environment);
    tally.is_read(reading.names).then_some(terms)
}

/// What one word of an object is.
enum Class {
    Term(String),
    Environment(&'static str),
    Name,
    Kind,
    Silent,
    Pointing,
}

fn class(sentence: &Sentence, word: &str, lower: &str, reading: Reading) -> Option<Class> {
    let Spelling::Word(_) = sentence.spelling(word) else {
        return quoted(sentence, word).map(Class::Term);
    };
    let environment = ENVIRONMENTS.iter().find(|(name, _)| *name == lower);
    if reading.kept.contains(&lower) {
        return Some(Class::Term(safe(word)));
    }
    if let (Some((_, term)), Environment::Term) = (environment, reading.environment) {
        return Some(Class::Environment(term));
    }
    if reading.silent.contains(&lower) {
        return Some(Class::Silent);
    }
    if POINTING.contains(&lower) || ANYTHING.contains(&lower) {
        return Some(Class::Pointing);
    }
    if is_literal(word) || BRANCHES.contains(&lower) {
        return Some(Class::Term(safe(word)));
    }
    if KINDS.contains(&lower) {
        return Some(Class::Kind);
    }
    let capital = is_capitalised(word) && reading.names == Names::Kinded;
    is_name(word).then(|| if capital { Class::Term(safe(word)) } else { Class::Name })
}

/// A quotation or code span as a term.
fn quoted(sentence: &Sentence, word: &str) -> Option<String> {
    sentence.sole(word).map(|text| Atom::Quoted(text.to_owned()).to_string())
}

/// The paths among `words`; every other word must point or say that a file is meant.
pub(super) fn paths(sentence: &Sentence, words: &str) -> Option<Vec<String>> {
    let silent = ["file", "files", "to", "in", "into", "under", "folder", "directory", "of", "from", "at"];
    let mut terms = Vec::new();
    for word in words.split_whitespace() {
        let lower = word.to_lowercase();
        match sentence.spelling(word) {
            Spelling::Quoted(text) | Spelling::Code(text) => terms.push(path_term(text)),
            Spelling::Word(word) if is_path(word) => terms.push(format!("path:{}", safe(word))),
            Spelling::Word(_) if silent.contains(&lower.as_str()) || POINTING.contains(&lower.as_str()) => {}
            Spelling::Word(_) => return None,
        }
    }
    // One row is about one path.
    (terms.len() <= 1).then_some(terms)
}

/// A quoted path: as a word where it can be one, which finds it with and without the folders above it.
pub(super) fn path_term(text: &str) -> String {
    let word = is_path(text) && !text.contains(char::is_whitespace) && safe(text) == text;
    if word { format!("path:{text}") } else { format!("path:{}", Atom::Quoted(text.to_owned())) }
}

/// The words of a command line; none where it is not certain that they are one.
pub(super) fn command_words(sentence: &Sentence, words: &str) -> Option<Vec<String>> {
    let mut words: Vec<&str> = words.split_whitespace().collect();
    let lead = words.iter().take_while(|word| {
        ["the", "a", "any", "command", "program", "shell"].contains(&word.to_lowercase().as_str())
    });
    let lead = lead.count();
    words.drain(..lead);
    let (first, rest) = words.split_first()?;
    if let (Spelling::Code(text), true) = (sentence.spelling(first), rest.is_empty()) {
        return code_words(text);
    }
    let Spelling::Word(program) = sentence.spelling(first) else { return None };
    let flags = rest.iter().any(|word| word.starts_with('-') && word.len() > 1);
    if program.starts_with('-') || NO_PROGRAMS.contains(&program) {
        return None;
    }
    let spelled = is_literal(program) && program.contains(['.', '/', '_', '-']);
    if !(is_program(program) || spelled || flags) {
        return None;
    }
    let mut all = vec![safe(program)];
    for word in rest {
        match sentence.spelling(word) {
            Spelling::Quoted(text) | Spelling::Code(text) => {
                all.push(Atom::Quoted(text.to_owned()).to_string());
            }
            Spelling::Word(word) if is_argument(word) => all.push(safe(word)),
            Spelling::Word(_) => return None,
        }
    }
    Some(all)
}

/// Words before a flag that are no program.
const NO_PROGRAMS: &[&str] = &["flag", "flags", "option", "options", "switch", "argument", "it", "with"];

/// The words of a code span that is a command line.
fn code_words(text: &str) -> Option<Vec<String>> {
    let plain = |word: &str| word.chars().all(|c| c.is_alphanumeric() || "_-./=:@+".contains(c));
    let words: Vec<&str> = text.split_whitespace().collect();
    let known = words.first().is_some_and(|name| is_program(name)) && words.iter().all(|word| plain(word));
    known.then(|| words.into_iter().map(safe).collect())
}

/// Whether a word behind a program can only be an argument of it.
fn is_argument(word: &str) -> bool {
    let subcommands = [
        "test",
        "tests",
        "up",
        "down",
        "build",
        "run",
        "add",
        "log",
        "status",
        "branch",
        "code",
        "service",
        "tag",
        "remote",
        "image",
        "images",
        "container",
        "call",
        "list",
        "version",
        "record",
        "release",
        "report",
        "table",
    ];
    is_literal(word) || is_name(word) || subcommands.contains(&word)
}
