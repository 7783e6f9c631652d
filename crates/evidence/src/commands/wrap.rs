//! Programs that run another command.

use serde::Deserialize;

use super::Arg;
use super::options::program_name;

/// A program that runs another command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wrapper {
    pub(super) on: Vec<String>,
    sub: Option<String>,
    values: Option<Vec<String>>,
    /// Options with which it runs no command.
    #[serde(default)]
    none: Vec<String>,
    /// Words behind which the command stands; without one there is none.
    #[serde(default)]
    behind: Vec<String>,
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

impl Wrapper {
    /// Whether it runs its command this way.
    pub fn is(&self, way: Way) -> bool {
        self.ways.contains(&way)
    }

    /// What stands behind the first of the words that mark a command.
    fn strip_to_mark(&self, words: &[Arg]) -> Option<Unwrapped<'_>> {
        let sub = self.sub.as_deref();
        if sub.is_some() && words.first().map(|word| word.text.as_str()) != sub {
            return None;
        }
        let mark = words.iter().position(|word| self.behind.contains(&word.text))?;
        let inner = words.get(mark + 1..).unwrap_or_default().to_vec();
        (!inner.is_empty()).then(|| Unwrapped { wrapper: self, inner, assignments: Vec::new() })
    }

    pub(super) fn strip(&self, words: &[Arg]) -> Option<Unwrapped<'_>> {
        if !self.behind.is_empty() {
            return self.strip_to_mark(words);
        }
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
                if self.none.iter().any(|none| none == text) {
                    return None;
                }
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
        // Nothing but options: the wrapper itself is asked for something.
        let alone = rest.is_empty() && !words.is_empty();
        (wanted.is_none() && !alone).then(|| Unwrapped { wrapper: self, inner: rest.to_vec(), assignments })
    }
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[derive(Debug, Default, Deserialize)]
struct File {
    wrapper: Vec<Wrapper>,
}

/// The wrappers of a table.
pub(super) fn read(text: &str) -> Result<Vec<Wrapper>, toml::de::Error> {
    Ok(toml::from_str::<File>(text)?.wrapper)
}

/// The first of `wrappers` that `words` begin with, with the command behind it.
pub(super) fn unwrap<'t>(wrappers: &'t [Wrapper], words: &[Arg]) -> Option<Unwrapped<'t>> {
    let (first, rest) = words.split_first()?;
    let (program, _) = program_name(&first.text);
    wrappers.iter().filter(|wrapper| wrapper.on.contains(&program)).find_map(|wrapper| wrapper.strip(rest))
}
