//! Words of a command line: the program's plain name, its options with their values, its operands.

use super::lists::Lists;
use super::{Arg, Invocation};
use crate::place::base_name;

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
    ("dnf4", "yum"),
    ("dnf5", "yum"),
    ("ipython3", "python"),
    ("bundler", "bundle"),
    ("bfs", "find"),
    ("lzma", "xz"),
    ("microdnf", "yum"),
    ("batcat", "bat"),
    ("fdfind", "fd"),
    ("tsx", "ts-node"),
    ("go1", "go"),
];

/// The plain name of a program, and a first operand that the name stands for.
pub(super) fn program_name(text: &str) -> (String, Option<&'static str>) {
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

/// How bundled letters are spelled: behind a dash the rest of the word is the value of a letter that takes one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bundle {
    Bare,
    Dashed,
}

/// Reads the words of one program.
pub(super) struct OptionReader {
    values: Vec<&'static str>,
    long: bool,
    letters: bool,
}

impl OptionReader {
    pub(super) fn new(spelling: &Lists, program: &str) -> Self {
        Self {
            values: spelling.words(program),
            long: spelling.has("long", program),
            letters: spelling.has("letters", program),
        }
    }

    fn takes_value(&self, name: &str) -> bool {
        self.values.contains(&name)
    }

    pub(super) fn read(&self, words: &[Arg], out: &mut Invocation) {
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
