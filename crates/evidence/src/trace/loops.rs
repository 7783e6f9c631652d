//! Loops: those over known words are followed word by word, the others once for any number of rounds.

use std::rc::Rc;

use super::{Guard, STATEMENTS_MAX, Tracer};
use crate::commands::{Arg, Shape};
use crate::shell::{Node, Part, Script, Simple, Statement, Word};

/// What the rounds of a loop leave behind for one another.
#[derive(Debug, Default)]
struct Carried {
    names: Vec<String>,
    /// Names may be set that cannot be listed.
    any: bool,
}

impl Tracer<'_> {
    pub(super) fn each(&mut self, name: &str, words: Option<&[Word]>, body: &Script, guard: Guard) {
        const UNROLL_MAX: usize = 64;
        let values: Vec<Arg> = match words {
            Some(words) => words.iter().flat_map(|word| self.expand(word, guard)).collect(),
            None => self.state.params.as_ref().map(|params| params.to_vec()).unwrap_or_default(),
        };
        let known = !values.is_empty()
            && values.len() <= UNROLL_MAX
            && values.iter().all(|value| value.shape != Shape::Dynamic);
        if !known {
            return self.rounds(Some((name, None)), None, body, Guard::POSSIBLE);
        }
        for value in values {
            if self.followed > STATEMENTS_MAX {
                return;
            }
            if value.shape == Shape::Literal {
                self.set_value(name, Some(value));
                self.script(body, guard.masked());
            } else {
                self.rounds(Some((name, Some(value))), None, body, Guard::POSSIBLE);
            }
        }
    }

    pub(super) fn repeat(&mut self, condition: &Script, body: &Script, guard: Guard) {
        self.rounds(None, Some((condition, guard.masked())), body, Guard::POSSIBLE);
    }

    /// Follows one round that stands for all: what a round sets is not known in the next one.
    fn rounds(
        &mut self,
        name: Option<(&str, Option<Arg>)>,
        condition: Option<(&Script, Guard)>,
        body: &Script,
        guard: Guard,
    ) {
        let mut carried = Carried::default();
        if let Some((condition, guard)) = condition {
            self.script(condition, guard);
            self.collect(condition, &mut carried);
        }
        self.collect(body, &mut carried);
        self.forget_values(&carried);
        if let Some((name, value)) = name {
            self.set_value(name, value);
        }
        let (start, listed) = (self.state.cwd.clone(), self.report.effects.len());
        self.branch(|own| own.script(body, guard));
        if self.state.cwd != start {
            self.report.effects.truncate(listed);
            self.state.cwd = crate::place::Cwd::Unknown;
            self.branch(|own| own.script(body, guard));
        }
        self.forget_values(&carried);
    }

    pub(super) fn set_value(&mut self, name: &str, value: Option<Arg>) {
        Rc::make_mut(&mut self.state.vars).insert(name.to_owned(), value);
    }

    fn forget_values(&mut self, carried: &Carried) {
        let vars = Rc::make_mut(&mut self.state.vars);
        if carried.any {
            vars.values_mut().for_each(|value| *value = None);
        }
        for name in &carried.names {
            vars.insert(name.clone(), None);
        }
    }

    fn collect(&self, script: &Script, carried: &mut Carried) {
        script.0.iter().for_each(|statement| self.collect_statement(statement, carried));
    }

    fn collect_statement(&self, statement: &Statement, carried: &mut Carried) {
        match &statement.node {
            Node::Simple(simple) => self.collect_simple(simple, carried),
            Node::Chain(first, rest) => {
                self.collect_statement(first, carried);
                rest.iter().for_each(|(_, statement)| self.collect_statement(statement, carried));
            }
            Node::Group(script) => self.collect(script, carried),
            Node::Branches(always, maybe) => {
                self.collect(always, carried);
                maybe.iter().for_each(|script| self.collect(script, carried));
            }
            Node::Loop(condition, body) => {
                self.collect(condition, carried);
                self.collect(body, carried);
            }
            Node::Each(name, _, body) => {
                carried.names.push(name.clone());
                self.collect(body, carried);
            }
            Node::Function(_, body) => self.collect_statement(body, carried),
            // What runs in a shell of its own leaves nothing behind.
            Node::Subshell(_) | Node::Pipe(_) | Node::Words(_) => {}
        }
    }

    fn collect_simple(&self, simple: &Simple, carried: &mut Carried) {
        const SETTING: &[&str] = &["read", "mapfile", "readarray", "getopts", "printf", "let", "unset"];
        let name = match simple.words.first().map(|word| word.parts.as_slice()) {
            None => "",
            Some([Part::Bare(name)]) => name.as_str(),
            Some(_) => return carried.any = true,
        };
        let declares = matches!(name, "" | "export" | "declare" | "local" | "readonly" | "typeset");
        if declares {
            carried.names.extend(simple.assignments.iter().map(|(name, _)| name.clone()));
        }
        if SETTING.contains(&name) {
            for word in simple.words.iter().skip(1) {
                let text = self.joined(word).text;
                carried.names.push(text.split(['=', '+', '-']).next().unwrap_or_default().to_owned());
            }
        }
        carried.any |= matches!(name, "eval" | "source" | "." | "set" | "shift");
        if let Some(body) = self.state.functions.get(name) {
            carried.any |= !matches!(body.node, Node::Subshell(_));
        }
    }
}
