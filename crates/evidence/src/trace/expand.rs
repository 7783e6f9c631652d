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

    /// The values of `word`; a bare variable may stand for several words or none.
    pub(super) fn values(&self, word: &Word) -> Vec<Arg> {
        if let [Part::Variable(name)] = word.parts.as_slice()
            && let Some(value) = self.variable(name)
            && value.contains(char::is_whitespace)
        {
            return value.split_whitespace().map(Arg::literal).collect();
        }
        vec![self.joined(word)]
    }

    /// The value of `word` as one argument.
    pub(super) fn joined(&self, word: &Word) -> Arg {
        let mut arg = Arg::literal(String::new());
        for part in &word.parts {
            match part {
                Part::Bare(text) => {
                    if text.contains(['*', '?'])
                        || (text.contains('[') && text.contains(']') && text.len() > 2)
                    {
                        arg.shape = arg.shape.max_with(Shape::Glob);
                    }
                    arg.text.push_str(text);
                }
                Part::Quoted(text) | Part::Output(text) => arg.text.push_str(text),
                Part::Variable(name) => {
                    if let Some(value) = self.variable(name) {
                        arg.text.push_str(&value);
                    } else {
                        arg.shape = Shape::Dynamic;
                        arg.text.push('$');
                        arg.text.push_str(name);
                    }
                }
                Part::Unknown(text) => {
                    arg.shape = Shape::Dynamic;
                    arg.text.push_str(text);
                }
            }
        }
        arg
    }

    fn variable(&self, name: &str) -> Option<String> {
        if let Some(value) = self.state.vars.get(name) {
            return value.clone();
        }
        if self.state.place.is_some() {
            return None;
        }
        match name {
            "HOME" => Some(self.places.home.clone().unwrap_or_else(|| "~".to_owned())),
            "TMPDIR" => Some("/tmp".to_owned()),
            "PWD" => match &self.state.cwd {
                crate::place::Cwd::OneOf(paths) if paths.len() == 1 => paths.first().cloned(),
                crate::place::Cwd::Start => Some(".".to_owned()),
                crate::place::Cwd::OneOf(_) | crate::place::Cwd::Unknown => None,
            },
            _ => None,
        }
    }
}

impl Shape {
    fn max_with(self, other: Self) -> Self {
        if self == Self::Dynamic { self } else { other }
    }
}
