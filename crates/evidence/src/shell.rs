//! Shell scripts as a small tree of our own. The parser behind it can be exchanged without touching a rule.

mod lower;
pub mod windows;

/// Statements that run one after another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script(pub Vec<Statement>);

/// One statement with its redirections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// What runs.
    pub node: Node,
    /// Its redirections, in order.
    pub redirects: Vec<Redirect>,
    /// Whether the script waits for it.
    pub wait: Wait,
}

/// Whether a script waits for a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// It does.
    Waits,
    /// It goes on at once.
    Background,
}

/// The kinds of statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// Assignments and words.
    Simple(Simple),
    /// A chain of `&&` and `||`.
    Chain(Box<Statement>, Vec<(Link, Statement)>),
    /// Stages of a pipeline.
    Pipe(Vec<Statement>),
    /// `{ …; }` and `time`.
    Group(Script),
    /// `( … )`.
    Subshell(Script),
    /// Conditions and cases: what certainly runs, then what may.
    Branches(Script, Vec<Script>),
    /// `while`, `until` and counting loops: what certainly runs once, then what may run again and again.
    Loop(Script, Script),
    /// `for NAME in WORDS`; `None` where the words are the positional parameters.
    Each(String, Option<Vec<Word>>, Script),
    /// The definition of a function.
    Function(Vec<String>, Box<Statement>),
    /// Words that are expanded and not run: `[[ … ]]`, `(( … ))`, `case` subjects.
    Words(Vec<Word>),
}

/// The links of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Assignments and words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Simple {
    /// Assignments before the words.
    pub assignments: Vec<(String, Word)>,
    /// The program and its arguments; empty for assignments alone.
    pub words: Vec<Word>,
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Which way.
    pub mode: Mode,
    /// The file, or the text of a here-document.
    pub word: Word,
}

/// The kinds of redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The file is truncated and written.
    Write,
    /// The file is appended to.
    Append,
    /// The file is read.
    Read,
    /// The file is read and may be written.
    ReadWrite,
    /// The word is the input itself.
    Text,
    /// A descriptor is copied.
    Descriptor,
}

/// One word before expansion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// Its parts.
    pub parts: Vec<Part>,
    /// Scripts run while it is expanded.
    pub scripts: Vec<Script>,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text without quotes, where globs and `~` mean something.
    Bare(String),
    /// Text that stands for itself.
    Quoted(String),
    /// The value of a variable.
    Variable(String),
    /// The output of a script of which only one literal is known: a here-document through `cat`.
    Output(String),
    /// Something that is not known before it runs, as it is spelled.
    Unknown(String),
}

impl Word {
    /// A word of literal text.
    pub fn literal(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::Quoted(text.into())], scripts: Vec::new() }
    }
}

/// Why a script could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not read as a shell script: {0}")]
pub struct Unparsed(pub String);

/// Reads a script. Anything the parser had to repair is an error: nothing is guessed.
///
/// # Errors
/// [`Unparsed`] with the parser's message.
pub fn parse(text: &str) -> Result<Script, Unparsed> {
    lower::parse(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simple(statement: &Statement) -> &Simple {
        match &statement.node {
            Node::Simple(simple) => simple,
            other => panic!("not simple: {other:?}"),
        }
    }

    #[test]
    fn quoting_is_resolved_into_parts() {
        let script = parse(r#"echo "a $HOME" 'b*' c\ d *.rs $(ls)"#).unwrap();
        let words = &simple(&script.0[0]).words;
        assert_eq!(words[1].parts, [Part::Quoted("a ".into()), Part::Variable("HOME".into())]);
        assert_eq!(words[2].parts, [Part::Quoted("b*".into())]);
        assert_eq!(words[4].parts, [Part::Bare("*.rs".into())]);
        assert_eq!(words[5].scripts.len(), 1);
    }

    #[test]
    fn the_line_of_a_here_document_goes_on() {
        let script = parse("cat <<'EOF' > f && rm g\n$(x)\nEOF\n").unwrap();
        let Node::Chain(first, rest) = &script.0[0].node else { panic!("{script:?}") };
        assert_eq!(first.redirects.len(), 2);
        assert_eq!(first.redirects[0].word, Word::literal("$(x)\n"));
        assert_eq!(simple(&rest[0].1).words[0].parts, [Part::Bare("rm".into())]);
    }

    #[test]
    fn damage_is_an_error() {
        assert!(parse("if true; then").is_err());
        assert!(parse("echo 'open").is_err());
    }

    #[test]
    fn long_chains_are_flat() {
        let text = vec!["true"; 900].join(" && ");
        let script = parse(&text).unwrap();
        let Node::Chain(_, rest) = &script.0[0].node else { panic!() };
        assert_eq!(rest.len(), 899);
    }
}
