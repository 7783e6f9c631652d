//! The normalised reading of a query.

use std::fmt;

use super::{Atom, Clause, Query, Sign, Term, Value};

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(form) = self.form {
            write!(f, "{} ", form.word())?;
        }
        self.clause.fmt(f)?;
        let Some(order) = &self.order else { return Ok(()) };
        write!(f, " {} ", order.relation.word())?;
        if let Some(pick) = order.pick {
            write!(f, "{} ", pick.word())?;
        }
        order.clause.fmt(f)
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.noun.word())?;
        if let Some(name) = &self.name {
            write!(f, " {name}")?;
        }
        self.terms.iter().try_for_each(|term| write!(f, " {term}"))
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sign == Sign::Negated {
            f.write_str("-")?;
        }
        if let Some(field) = self.field {
            f.write_str(field.word())?;
            if let Some(part) = &self.part {
                write!(f, ".{part}")?;
            }
            f.write_str(":")?;
        }
        self.value.fmt(f)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, atom) in self.atoms().iter().enumerate() {
            if n > 0 {
                f.write_str("|")?;
            }
            atom.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(text) | Self::Glob(text) => f.write_str(text),
            Self::Quoted(text) => write!(f, "\"{}\"", escaped(text)),
            Self::Regex(text) => write!(f, "/{text}/"),
            Self::Range(from, to) => {
                write!(f, "{}..{}", from.as_deref().unwrap_or_default(), to.as_deref().unwrap_or_default())
            }
        }
    }
}

/// Spells `text` so that it can stand between quotes.
fn escaped(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => spelled.push_str("\\\""),
            '\\' => spelled.push_str("\\\\"),
            '\n' => spelled.push_str("\\n"),
            '\r' => spelled.push_str("\\r"),
            '\t' => spelled.push_str("\\t"),
            c => spelled.push(c),
        }
    }
    spelled
}
