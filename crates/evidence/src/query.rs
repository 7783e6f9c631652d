//! The evidence query language: what can be asked, and how it is written.
//!
//! ```text
//! query    = [ form ] clause [ order [ "first" | "last" ] clause ]
//! clause   = noun [ name ] { term }
//! term     = [ "-" ] ( value | field ":" value )
//! value    = atom { "|" atom }
//! atom     = word | "quoted text" | glob | /regex/ | a..b
//! ```
//!
//! [`parse`] reads a query, [`plain`] maps a plain question onto one, and the `Display` of a [`Query`] is its
//! normalised reading: it parses to the same query.

mod lexer;
mod nearest;
mod parse;
mod place;
mod plain;
mod print;
mod words;

use std::fmt;

pub use parse::parse;
pub use place::Place;
pub use plain::{plain, read};
pub use words::{Field, Form, Noun};

/// A query: one clause, or two in an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// What is wanted of the clause; `None` asks how two clauses lie to one another.
    pub form: Option<Form>,
    /// What is asked for.
    pub clause: Clause,
    /// The clause it is ordered against.
    pub order: Option<Ordering>,
}

/// The second clause of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ordering {
    /// Which side the first clause is on.
    pub relation: Relation,
    /// Which match of the second clause counts; the first where nothing is said.
    pub pick: Option<Pick>,
    /// The second clause.
    pub clause: Clause,
}

/// Before or after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// `before`.
    Before,
    /// `after`.
    After,
}

impl Relation {
    /// The word in a query.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

/// Which of several matches counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pick {
    /// The first.
    First,
    /// The last.
    Last,
}

impl Pick {
    /// The word in a query.
    pub const fn word(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Last => "last",
        }
    }
}

/// A noun with its terms; all of them must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clause {
    /// What is selected.
    pub noun: Noun,
    /// A union after `changes`, a key after `values` and `usage`.
    pub name: Option<Value>,
    /// The conditions.
    pub terms: Vec<Term>,
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// Whether it must hold or must not.
    pub sign: Sign,
    /// The field it is on; `None` of a bare value, which is looked for in the noun's own text.
    pub field: Option<Field>,
    /// The argument's name, of `arg.NAME`.
    pub part: Option<String>,
    /// What the field is compared with.
    pub value: Value,
}

/// Whether a term must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sign {
    /// It must hold.
    Holds,
    /// It must not hold.
    Negated,
}

/// Alternatives: one of them must match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value(Vec<Atom>);

impl Value {
    /// A value of one or more alternatives; `None` of none.
    pub fn new(atoms: Vec<Atom>) -> Option<Self> {
        if atoms.is_empty() { None } else { Some(Self(atoms)) }
    }

    /// A value of one word.
    pub fn word(text: &str) -> Self {
        Self(vec![Atom::Word(text.to_owned())])
    }

    /// The alternatives; at least one.
    pub fn atoms(&self) -> &[Atom] {
        &self.0
    }

    /// The text of a value that is one word or one quoted text.
    pub fn single(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Atom::Word(text) | Atom::Quoted(text)] => Some(text),
            _ => None,
        }
    }
}

/// One alternative of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Atom {
    /// A word: matches whole tokens without regard to case.
    Word(String),
    /// One exact byte sequence.
    Quoted(String),
    /// A word with `*` (any run without blanks) or `?` (one character).
    Glob(String),
    /// A regular expression.
    Regex(String),
    /// A range, both ends included; at least one is given.
    Range(Option<String>, Option<String>),
}

/// A query that was not understood: what, where, and the nearest valid form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryError {
    message: String,
    at: usize,
    hint: Option<String>,
}

impl QueryError {
    pub(crate) fn new(message: impl Into<String>, at: usize) -> Self {
        Self { message: message.into(), at, hint: None }
    }

    pub(crate) fn hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// What was not understood.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where: the offset in bytes of the query.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The nearest valid form, as a sentence, where there is one.
    pub fn nearest(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

impl std::error::Error for QueryError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of the documentation's blocks with this mark, cut at the arrow.
    fn examples(mark: &str) -> Vec<(&'static str, &'static str)> {
        let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/query-language.md"));
        let open = format!("```{mark}\n");
        let blocks = text.split(open.as_str()).skip(1).filter_map(|block| block.split("```").next());
        blocks.flat_map(str::lines).filter_map(|line| line.split_once(" => ")).collect()
    }

    #[test]
    fn the_examples_of_the_documentation_have_the_readings_it_gives() {
        let examples = examples("query");
        assert!(examples.len() >= 19, "{}", examples.len());
        for (typed, reading) in examples {
            let query = match typed.strip_prefix("? ") {
                Some(question) => plain(question).unwrap_or_else(|| panic!("{question}")),
                None => parse(typed).unwrap_or_else(|error| panic!("{typed}: {error}")),
            };
            assert_eq!(query.to_string(), reading, "{typed}");
        }
    }

    #[test]
    fn the_errors_of_the_documentation_are_those_of_the_parser() {
        let examples = examples("error");
        assert!(examples.len() >= 3);
        for (typed, message) in examples {
            assert_eq!(parse(typed).unwrap_err().to_string(), message);
        }
    }
}
