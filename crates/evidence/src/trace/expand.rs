//! Words to arguments: variables that are known, scripts that run on the way.

use super::{Guard, Proof, Tracer};
use crate::commands::{Arg, Shape};
use crate::shell::{Part, Word};

impl Tracer<'_> {
    /// Runs the scripts in `word` and gives its values; usually one.
    pub(super) fn expand(&mut self, word: &Word, guard: Guard) -> Vec<Arg> {
        self.run_scripts(word, guard);
        self.values(word)
    }

    pub(super) fn run_scripts(&mut self, word: &Word, guard: Guard) {
        for script in &word.scripts {
            let saved = self.state.clone();
            self.script(script, Guard { proof: Proof::Masked, ..guard });
            self.state = saved;
        }
    }

    /// The values of `word`; what stands in it without quotes may be several words or none.
    pub(super) fn values(&self, word: &Word) -> Vec<Arg> {
        match word.parts.as_slice() {
            [Part::Variable(name)] => self.split(name).unwrap_or_else(|| vec![self.joined(word)]),
            [Part::Quoted(empty), Part::Variable(name)] if empty.is_empty() && name == "@" => {
                self.split(name).unwrap_or_else(|| vec![self.joined(word)])
            }
            [Part::Unknown(spelled)] => match self.computed(spelled) {
                Some(value) => {
                    let parts = value.text.split_whitespace();
                    parts.map(|part| Arg { text: part.to_owned(), shape: value.shape }).collect()
                }
                None => vec![self.joined(word)],
            },
            _ => vec![self.joined(word)],
        }
    }

    /// The value of `word` as one argument.
    pub(super) fn joined(&self, word: &Word) -> Arg {
        let mut arg = Arg::literal(String::new());
        for part in &word.parts {
            match part {
                Part::Bare(text) => {
                    if is_pattern(text) {
                        arg.shape = arg.shape.max_with(Shape::Glob);
                    }
                    arg.text.push_str(text);
                }
                Part::Quoted(text) | Part::Output(text) => arg.text.push_str(text),
                Part::Variable(name) => match self.variable(name) {
                    Some(value) => arg.add(&value),
                    None => arg.add(&Arg { text: format!("${name}"), shape: Shape::Dynamic }),
                },
                Part::Unknown(text) => match self.computed(text) {
                    Some(value) => arg.add(&value),
                    None => arg.add(&Arg { text: text.clone(), shape: Shape::Dynamic }),
                },
            }
        }
        arg
    }
}

pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?']) || (text.contains('[') && text.contains(']') && text.len() > 2)
}

impl Arg {
    fn add(&mut self, other: &Self) {
        self.text.push_str(&other.text);
        self.shape = self.shape.max_with(other.shape);
    }
}

impl Shape {
    fn max_with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Dynamic, _) | (_, Self::Dynamic) => Self::Dynamic,
            (Self::Glob, _) | (_, Self::Glob) => Self::Glob,
            (Self::Literal, Self::Literal) => Self::Literal,
        }
    }
}
