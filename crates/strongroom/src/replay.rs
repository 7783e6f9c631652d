//! Replaying: the exact calls in order, from the bytes of the file or of the archive; never from a summary.

use strongroom_core::digest::Digest;
use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{Arguments, BlockKind, Bytes, Scalar, TextRange};
use strongroom_evidence::answer::{self, CallRow, Gap, Masker};
use strongroom_evidence::content::BlockContent;
use strongroom_evidence::examine::Secret;
use strongroom_evidence::query::Query;
use strongroom_evidence::session::{ExaminedSpan, Scope};
use strongroom_evidence::tools::{Command, command};

use crate::ask::{AskOptions, Asked, LostSpan, Origin};
use crate::show::Reveal;

/// The calls of a session, in order, with what could not be replayed.
#[derive(Debug)]
pub struct Replay {
    /// The normalised query.
    pub reading: String,
    /// The calls, and in their places what is refused.
    pub entries: Vec<Entry>,
    /// The assumptions that a judgement of repetition rests on, in words.
    pub assumptions: Vec<String>,
}

/// One entry of a replay.
#[derive(Debug)]
pub enum Entry {
    /// A call, exact.
    Call(Box<ReplayedCall>),
    /// A span of which no original can be read: there is no replay of it.
    Refused(Box<Refusal>),
}

/// A call as it was made.
#[derive(Debug)]
pub struct ReplayedCall {
    /// The call, and whether it may be repeated.
    pub row: CallRow,
    /// Its arguments as they were written; `None` where none are recorded.
    pub arguments: Option<String>,
    /// How the arguments stand in the source.
    pub spelling: Spelling,
    /// The bytes of the arguments in the source.
    pub bytes: Option<ByteRange>,
    /// SHA-256 of those bytes; `None` where a secret in them is hidden, since a hash lets it be guessed.
    pub sha256: Option<Digest>,
    /// Whether secrets are hidden in the arguments.
    pub secrets: Shown,
    /// The working directory the envelope names.
    pub cwd: Option<String>,
    /// Where the bytes come from.
    pub origin: Origin,
    /// What it asks a shell to run.
    pub command: Option<Command>,
}

/// How arguments stand in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Spelling {
    /// A JSON value: the text is the bytes.
    Json,
    /// A JSON text inside a JSON string: the text is the decoded string.
    JsonInString,
    /// A JSON text inside a string of a JSON text inside a string: the text is the decoded string.
    JsonInJson,
    /// A JSON text in pieces, on lines of JSON that each have one at this path: the text is the pieces joined.
    Pieces(&'static [&'static str]),
    /// Free text inside a JSON string: the text is the decoded string.
    Text,
    /// Free text of a file that is itself text: the text is the bytes.
    Plain,
    /// None recorded.
    Missing,
}

impl Spelling {
    const fn of(arguments: Arguments) -> Self {
        match arguments {
            Arguments::Json(_) => Self::Json,
            Arguments::JsonInString(_) => Self::JsonInString,
            Arguments::JsonInJson(_) => Self::JsonInJson,
            Arguments::Pieces(_, path) => Self::Pieces(path),
            Arguments::Text(_) => Self::Text,
            Arguments::Plain(_) => Self::Plain,
            Arguments::Missing => Self::Missing,
        }
    }

    /// The word in output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::JsonInString => "json-in-string",
            Self::JsonInJson => "json-in-json",
            Self::Pieces(_) => "pieces",
            Self::Text => "text",
            Self::Plain => "plain",
            Self::Missing => "missing",
        }
    }
}

/// Whether all of a text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shown {
    /// It is exact.
    Exact,
    /// Secrets in it are hidden.
    Masked,
}

/// What is refused, and why.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// What is missing.
    pub gap: Option<Gap>,
    /// The reclaimed span whose original is lost.
    pub lost: Option<LostSpan>,
    /// Why, in words.
    pub why: String,
}

/// How calls are replayed.
#[derive(Debug, Clone, Copy)]
pub struct ReplayOptions {
    /// How the calls are judged, and the key of fingerprints.
    pub ask: AskOptions,
    /// Whether secrets are shown.
    pub reveal: Reveal,
}

impl Asked {
    /// The calls that meet `query`, a query on `calls`, in order and exact.
    ///
    /// # Errors
    /// As [`Asked::answer`]; what cannot be replayed is an entry.
    pub fn replay(&self, query: &Query, options: ReplayOptions) -> Result<Replay> {
        self.with_scope(options.ask, |scope, own| {
            let calls =
                answer::calls(query, scope, own).map_err(|error| Error::invalid_input(error.to_string()))?;
            let masker = (options.reveal == Reveal::Mask).then(|| Masker::new(scope, own));
            let reader = Reader { asked: self, scope, masker };
            let mut entries = Vec::new();
            for row in calls.calls {
                entries.push(reader.entry(row)?);
            }
            place_gaps(&mut entries, calls.gaps);
            let lost = self.lost().iter().map(|lost| {
                Entry::Refused(Box::new(Refusal {
                    why: format!("the original is not retrievable: {}", lost.why),
                    lost: Some(lost.clone()),
                    gap: None,
                }))
            });
            let entries = lost.chain(entries).collect();
            Ok(Replay { reading: calls.reading, entries, assumptions: calls.assumptions })
        })?
    }
}

/// Puts what is missing before the first call behind it in the same source.
fn place_gaps(entries: &mut Vec<Entry>, mut gaps: Vec<Gap>) {
    gaps.sort_by(|one, two| {
        (&one.citation.source, one.citation.bytes).cmp(&(&two.citation.source, two.citation.bytes))
    });
    for gap in gaps {
        let behind = |entry: &Entry| match entry {
            Entry::Call(call) => {
                call.row.call.source == gap.citation.source && call.row.call.bytes.0 >= gap.citation.bytes.0
            }
            Entry::Refused(_) => false,
        };
        let at = entries.iter().position(behind).unwrap_or(entries.len());
        let why = gap.citation.note.clone().unwrap_or_else(|| gap.kind.words().to_owned());
        entries.insert(at, Entry::Refused(Box::new(Refusal { gap: Some(gap), lost: None, why })));
    }
}

/// Reads the arguments of calls.
struct Reader<'r, 's> {
    asked: &'r Asked,
    scope: &'r Scope<'s>,
    masker: Option<Masker<'r>>,
}

impl Reader<'_, '_> {
    fn entry(&self, row: CallRow) -> Result<Entry> {
        let refused = |why: &str| {
            let why = format!("call {} at {}: {why}", row.seq, row.call.locator);
            Ok(Entry::Refused(Box::new(Refusal { gap: None, lost: None, why })))
        };
        let Some(found) = self.find(&row) else { return refused("it is not where it was found") };
        let whole = found.arguments.text();
        let exact = whole.map(|whole| found.exact(whole)).transpose()?;
        if matches!(exact, Some(None)) {
            return refused("its arguments are no UTF-8 text");
        }
        let exact = exact.flatten();
        let arguments = match (&exact, whole) {
            (Some((text, _)), Some(whole)) => Some(self.masked(&found, whole, text)?),
            _ => None,
        };
        let hidden = arguments.as_ref().zip(exact.as_ref()).is_some_and(|(shown, (text, _))| shown != text);
        let command = found.content.arguments.as_ref().and_then(|tree| command(found.tool, tree));
        Ok(Entry::Call(Box::new(ReplayedCall {
            cwd: found.content.record.cwd.as_deref().map(|cwd| self.mask(cwd)),
            origin: self.asked.origin(row.call.source_index),
            sha256: exact.map(|(_, digest)| digest).filter(|_| !hidden),
            secrets: if hidden { Shown::Masked } else { Shown::Exact },
            command: command.map(|command| self.command(&found, command)),
            bytes: whole.map(|whole| whole.range),
            arguments,
            spelling: Spelling::of(found.arguments),
            row,
        })))
    }

    fn find(&self, row: &CallRow) -> Option<FoundCall<'_>> {
        let source = row.call.source_index;
        let view = self.scope.sources.get(source)?;
        let span = view.spans.iter().find(|span| Some(span.content.span.index) == row.call.span)?;
        let content = span.content.blocks.iter().find(|content| content.at == row.call.at)?;
        let BlockKind::Call(facts) = &content.block.kind else { return None };
        Some(FoundCall {
            span,
            content,
            tool: &facts.tool,
            arguments: facts.arguments,
            bytes: self.asked.bytes(source)?,
        })
    }

    /// The text of arguments with its secrets hidden.
    fn masked(&self, found: &FoundCall<'_>, whole: TextRange, text: &str) -> Result<String> {
        let Some(masker) = &self.masker else { return Ok(text.to_owned()) };
        let mut hidden: Vec<(ByteRange, &str)> = Vec::new();
        for secret in found.secrets() {
            let pointer = secret.argument.as_deref().unwrap_or_default();
            let raw = strongroom_formats::argument_range(
                found.bytes,
                found.arguments,
                pointer,
                secret.range.clone(),
            )?;
            hidden.extend(raw.filter(|raw| whole.range.contains(*raw)).map(|raw| (raw, secret.rule)));
        }
        hidden.sort_unstable();
        let part = |from: u64, to: u64| {
            let range = ByteRange::new(from, to);
            strongroom_formats::text(found.bytes, TextRange { range, ..whole })
        };
        let mut shown = String::new();
        let mut at = whole.range.start();
        for (raw, rule) in hidden {
            if raw.start() >= at {
                shown.push_str(&part(at, raw.start())?);
                shown.extend(["[masked ", rule, "]"]);
                at = raw.end();
            }
        }
        shown.push_str(&part(at, whole.range.end())?);
        Ok(masker.mask(&shown))
    }

    fn mask(&self, text: &str) -> String {
        self.masker.as_ref().map_or_else(|| text.to_owned(), |masker| masker.mask(text))
    }

    /// A command with its secrets hidden.
    fn command(&self, found: &FoundCall<'_>, command: Command) -> Command {
        if self.masker.is_none() {
            return command;
        }
        let values: Vec<(&str, &str)> =
            found.secrets().filter_map(|secret| Some((found.value(secret)?, secret.rule))).collect();
        let hide = |text: String| {
            let hide =
                |text: String, (value, rule): &(&str, &str)| text.replace(value, &format!("[masked {rule}]"));
            self.mask(&values.iter().fold(text, hide))
        };
        match command {
            Command::Script(script) => Command::Script(hide(script)),
            Command::Words(words) => Command::Words(words.into_iter().map(hide).collect()),
        }
    }
}

/// A call with its decoded text and its bytes.
struct FoundCall<'f> {
    span: &'f ExaminedSpan<'f>,
    content: &'f BlockContent<'f>,
    tool: &'f str,
    arguments: Arguments,
    bytes: &'f dyn Bytes,
}

impl<'f> FoundCall<'f> {
    fn secrets(&self) -> impl Iterator<Item = &'f Secret> + use<'f> {
        let at = self.content.at;
        self.span.examination.secrets.iter().filter(move |secret| secret.at == at)
    }

    fn value(&self, secret: &Secret) -> Option<&'f str> {
        let pointer = secret.argument.as_deref()?;
        let leaves = &self.content.arguments.as_ref()?.leaves;
        let leaf = leaves.iter().find(|leaf| leaf.pointer == pointer)?;
        let Scalar::String(text) = &leaf.value else { return None };
        text.get(secret.range.clone()).filter(|value| !value.is_empty())
    }

    /// The text of arguments and the hash of their bytes; `None` where the bytes are no text.
    fn exact(&self, whole: TextRange) -> Result<Option<(String, Digest)>> {
        let raw = self.bytes.read(whole.range)?;
        if std::str::from_utf8(&raw).is_err() {
            return Ok(None);
        }
        let text = strongroom_formats::text(self.bytes, whole)?;
        Ok(Some((text, Digest::of(&raw))))
    }
}

/// A POSIX script of the shell calls in `entries`. It runs nothing by itself: each command stands in single quotes in a
/// function that nothing calls, so that no text can end its quotation.
pub fn script(replay: &Replay) -> Script {
    let mut text = String::from(
        "#!/bin/sh\n# Shell calls of a transcript, in order. This script defines functions and runs nothing:\n# `call_N` prints the command of call N, `cwd_N` its working directory, `run_N` would run it there.\n",
    );
    let mut calls = 0;
    let mut refused = Vec::new();
    for entry in &replay.entries {
        match entry {
            Entry::Call(call) => match scripted(call) {
                Some(Ok(part)) => {
                    calls += 1;
                    text.push_str(&part);
                }
                Some(Err(why)) => {
                    text.extend([format!("\n# call {} is not here: {why}\n", call.row.seq)]);
                    refused.push(format!("call {} at {}: {why}", call.row.seq, call.row.call.locator));
                }
                None => {}
            },
            Entry::Refused(refusal) => {
                text.extend([format!("\n# refused: {}\n", plain(&refusal.why))]);
            }
        }
    }
    Script { text, calls, refused }
}

/// A script and what is not in it.
#[derive(Debug)]
pub struct Script {
    /// The text.
    pub text: String,
    /// How many calls it holds.
    pub calls: usize,
    /// Calls that no script can hold, in words.
    pub refused: Vec<String>,
}

/// The functions of a call; `None` of a call that runs no shell.
fn scripted(call: &ReplayedCall) -> Option<Result<String, &'static str>> {
    let command = match call.command.as_ref()? {
        Command::Script(script) => script.clone(),
        Command::Words(words) => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    };
    let cwd = call.cwd.as_deref().unwrap_or_default();
    if command.contains('\0') || cwd.contains('\0') {
        return Some(Err("a NUL byte cannot stand in a script"));
    }
    let n = call.row.seq;
    let masked =
        if call.secrets == Shown::Masked { ", secrets hidden: this is not the exact command" } else { "" };
    let place = plain(&call.row.call.locator);
    let pointer =
        call.row.call.pointer.as_deref().map(|pointer| format!(" {}", plain(pointer))).unwrap_or_default();
    let go = if cwd.is_empty() { String::new() } else { format!("cd -- \"$(cwd_{n})\" && ") };
    Some(Ok(format!(
        "\n# call {n}, {place}{pointer}, {}{masked}\ncall_{n}() {{\nprintf '%s' {}\n}}\ncwd_{n}() {{\nprintf '%s' {}\n}}\nrun_{n}() {{\n( {go}call_{n} | sh )\n}}\n",
        call.row.outcome.word(),
        quoted(&command),
        quoted(cwd),
    )))
}

/// A text in single quotes, which a shell reads as exactly this text.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A text that may stand in a comment: printable and on one line.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_ascii_graphic() || c == ' ' || (c.is_alphanumeric() && !c.is_control()) { c } else { '?' }
        })
        .collect()
}
