//! What was done: commands with their effects, files, searches, failures and values.

use std::collections::BTreeMap;

use strongroom_core::evidence::{AtomKind, Certainty};
use strongroom_core::index::SEPARATORS;
use strongroom_core::span::SpanKind;
use strongroom_core::summary::{FileUse, Literal, Part, Sources as _};
use strongroom_core::transcript::{BlockKind, Scalar, Speaker};
use strongroom_evidence::content::BlockContent;
use strongroom_evidence::effect::{Access, Effect, EffectKind, Outcome, Target};
use strongroom_evidence::tools::{self, Command};

use super::item::{Half, Item, Say, Section};
use super::prose::chunks;
use super::scan::is_frame;
use super::texts::{Origin, Texts};
use super::weights::{self, COMMAND_TOKENS, density};
use super::{Flow, Reclaimed, cost};
use crate::tokens;

/// Arguments that name a file, and those that say what is looked for.
const PATHS: &[&str] =
    &["/file_path", "/path", "/notebook_path", "/filename", "/target_file", "/directory", "/dir_path"];
const PATTERNS: &[&str] = &["/pattern", "/query", "/regex", "/glob", "/glob_pattern", "/search_term"];
/// Arguments that hold what is written into a file.
const BODIES: &[&str] = &["/new_string", "/content", "/new_str", "/file_text", "/contents", "/insert_text"];

/// The most lines of one result that are taken for errors, and the longest of them in bytes.
const ERRORS_MAX: usize = 20;
const ERROR_BYTES_MAX: usize = 400;

/// The longest argument of a tool that is no shell, and the longest pattern, in bytes.
const ARGUMENT_BYTES_MAX: usize = 300;

/// The longest first line of a commit message that is told, in bytes.
const SUBJECT_BYTES_MAX: usize = 120;

/// The longest answer to a question of the agent that is told, in bytes.
const ANSWER_BYTES_MAX: usize = 1_000;

/// The longest text of a heredoc that stays in its command, and the longest command, in tokens.
const HEREDOC_TOKENS_MAX: u64 = 40;
const SCRIPT_TOKENS_MAX: u64 = 400;

/// The items of all calls in `spans`.
pub(super) fn items(spans: &[Reclaimed<'_>], texts: &Texts, flow: &Flow) -> Vec<Item> {
    let mut calls = Calls { texts, flow, items: Vec::new(), seen: BTreeMap::new(), files: BTreeMap::new() };
    for span in spans.iter().filter(|span| span.is_quotable()) {
        match span.content.span.kind {
            SpanKind::Call => calls.call(span),
            SpanKind::OrphanResult => calls.errors(span),
            SpanKind::Utterance
            | SpanKind::Thinking
            | SpanKind::Attachment
            | SpanKind::Derived
            | SpanKind::Meta
            | SpanKind::Opaque => {}
        }
    }
    calls.finish(spans)
}

struct Calls<'a> {
    texts: &'a Texts,
    flow: &'a Flow,
    items: Vec<Item>,
    /// Where among the items the same was said before, with how often and how often it failed.
    seen: BTreeMap<(Section, String), (usize, u64, u64)>,
    files: BTreeMap<String, FileUse>,
}

impl Calls<'_> {
    fn call(&mut self, span: &Reclaimed<'_>) {
        for block in &span.content.blocks {
            let BlockKind::Call(call) = &block.block.kind else { continue };
            if tools::is_shell(&call.tool) {
                self.command(span, block, &call.tool);
            } else if !self.files_and_searches(span, block) {
                self.tool(span, block, &call.tool);
            }
        }
        self.errors(span);
    }

    fn push(&mut self, span: &Reclaimed<'_>, section: Section, density: u64, say: Say) {
        let parts = match &say {
            Say::Line(parts) | Say::Chunk(parts) | Say::Word(parts) => parts.as_slice(),
            Say::File(_) | Say::Literal(..) => &[],
        };
        self.push_at(span, (section, cost(parts)), density, say);
    }

    fn push_at(&mut self, span: &Reclaimed<'_>, (section, cost): (Section, u64), density: u64, say: Say) {
        let behind = self.flow.behind(span.ordinal);
        let late = behind < 25 && section == Section::Errors;
        self.items.push(Item {
            section,
            half: if late { Half::GoOn } else { Half::Answer },
            order: (span.ordinal, u32::try_from(self.items.len()).unwrap_or(u32::MAX)),
            also: Vec::new(),
            density: weights::aged(density, behind),
            cost,
            say,
        });
    }

    /// Whether the same was said before; it is counted there.
    fn again(&mut self, span: &Reclaimed<'_>, section: Section, text: &str) -> bool {
        let failed = u64::from(failed(span.examination.outcome));
        if let Some((at, times, failures)) = self.seen.get_mut(&(section, text.to_owned())) {
            *times += 1;
            *failures += failed;
            if let Some(item) = self.items.get_mut(*at) {
                item.also.push(span.ordinal);
            }
            return true;
        }
        self.seen.insert((section, text.to_owned()), (self.items.len(), 1, failed));
        false
    }

    fn command(&mut self, span: &Reclaimed<'_>, block: &BlockContent<'_>, tool: &str) {
        let Some(arguments) = &block.arguments else { return };
        let (text, mut shown) = match tools::command(tool, arguments) {
            Some(Command::Script(script)) => {
                let shown = self.script(span.ordinal, block.block.speaker, &script);
                (script, shown)
            }
            Some(Command::Words(words)) => {
                let script = match words.as_slice() {
                    [_, .., script] if script.contains(char::is_whitespace) => vec![script.clone()],
                    words => words.to_vec(),
                };
                let quotes = script.iter().flat_map(|word| {
                    let lines = self.script(span.ordinal, block.block.speaker, word);
                    [vec![Part::Words(" ")], lines].concat()
                });
                (words.join(" "), quotes.skip(1).collect())
            }
            None => return,
        };
        let (sign, worth) = sign(span);
        if shown.is_empty() || self.again(span, Section::Commands, &text) {
            return;
        }
        let mut parts = vec![Part::Span(span.ordinal), Part::Words(sign)];
        parts.append(&mut shown);
        parts.append(&mut self.effects(span, &text));
        let long = cost(&parts).max(COMMAND_TOKENS);
        self.push(span, Section::Commands, worth * COMMAND_TOKENS / long, Say::Line(parts));
    }

    /// The lines of a script, texts of heredocs and what is very long left out with their size.
    fn script(&self, ordinal: u32, speaker: Speaker, script: &str) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut left = SCRIPT_TOKENS_MAX;
        for (at, piece) in (0..).zip(pieces(script)) {
            let size = tokens::count(piece.text).0;
            let fits = size <= if piece.heredoc { HEREDOC_TOKENS_MAX } else { left.max(HEREDOC_TOKENS_MAX) };
            if fits || at == 0 && piece.text.lines().count() == 1 {
                left = left.saturating_sub(size);
                let lines = self.texts.lines(ordinal, speaker, piece.text);
                if !parts.is_empty() && !lines.is_empty() {
                    parts.push(Part::Words("\n "));
                }
                parts.extend(lines);
            } else {
                parts.extend(self.subject(ordinal, speaker, script, &piece));
                parts.extend([Part::Words(" ["), Part::Count(size), Part::Words(" tokens left out]")]);
            }
        }
        parts
    }

    /// The first line of a commit message.
    fn subject(&self, ordinal: u32, speaker: Speaker, script: &str, piece: &Piece<'_>) -> Vec<Part> {
        let first = piece.text.lines().map(str::trim).find(|line| !line.is_empty());
        let is_message = piece.heredoc && script.contains("commit");
        let first = first.filter(|line| is_message && line.len() <= SUBJECT_BYTES_MAX);
        let quote = first.and_then(|line| self.texts.quote(ordinal, speaker, line));
        quote.map_or_else(Vec::new, |quote| vec![Part::Words("\n "), quote])
    }

    /// Kinds and targets of what a call changed, with how it ended.
    fn effects(&self, span: &Reclaimed<'_>, said: &str) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut kinds: Vec<(EffectKind, &str)> = Vec::new();
        for effect in mutations(span) {
            let target = match &effect.target {
                Target::Named(name) | Target::Under(name) => name.as_str(),
                Target::Path { written, .. } => written,
                Target::Unknown => "",
            };
            let target = if said.contains(target) { "" } else { target };
            let known =
                kinds.iter().any(|&(kind, own)| kind == effect.kind && (own == target || target.is_empty()));
            // The sign of the line says already that it may change something.
            let is_signed = effect.certainty == Certainty::Possible && target.is_empty();
            if known || is_signed || kinds.len() >= EFFECTS_MAX {
                continue;
            }
            kinds.push((effect.kind, target));
            parts.extend([
                Part::Words(if parts.is_empty() { " [" } else { ", " }),
                Part::Words(effect.kind.word()),
            ]);
            if let Some(quote) = self.texts.quote(span.ordinal, Speaker::Assistant, target) {
                parts.extend([Part::Words(" "), quote]);
            }
        }
        let outcome = span.examination.outcome;
        let begun = !parts.is_empty();
        if failed(outcome) || mutations(span).next().is_some() && outcome != Outcome::ReportedOk {
            parts.extend([Part::Words(if begun { " " } else { " [" }), Part::Words(outcome.word())]);
        }
        if !parts.is_empty() {
            parts.push(Part::Words("]"));
        }
        parts
    }

    /// A call of a tool that is no shell and names neither file nor search.
    fn tool(&mut self, span: &Reclaimed<'_>, block: &BlockContent<'_>, tool: &str) {
        let argument =
            block.arguments.iter().flat_map(|tree| &tree.leaves).find_map(|leaf| match &leaf.value {
                Scalar::String(text) if !text.trim().is_empty() && text.len() <= ARGUMENT_BYTES_MAX => {
                    Some(text.as_str())
                }
                Scalar::String(_) | Scalar::Null | Scalar::Bool(_) | Scalar::Number(_) => None,
            });
        let speaker = block.block.speaker;
        let (sign, worth) = sign(span);
        let text = format!("{tool} {}", argument.unwrap_or_default());
        let Some(name) = self.texts.quote(span.ordinal, speaker, tool) else { return };
        if self.again(span, Section::Commands, &text) {
            return;
        }
        let mut parts = vec![Part::Span(span.ordinal), Part::Words(sign), name];
        let lines = self.texts.lines(span.ordinal, speaker, argument.unwrap_or_default());
        if !lines.is_empty() {
            parts.push(Part::Words(" "));
            parts.extend(lines);
        }
        parts.append(&mut self.effects(span, &text));
        let answer = self.answer(span);
        // What somebody decided when asked is no lesser word of theirs.
        let worth = if answer.is_empty() { worth } else { density::ANSWER };
        parts.extend(answer);
        self.push(span, Section::Commands, worth, Say::Line(parts));
    }

    /// What somebody answered whom the call asked.
    fn answer(&self, span: &Reclaimed<'_>) -> Vec<Part> {
        let asks = span.examination.effects.iter().any(|effect| effect.kind == EffectKind::HumanHandoff);
        let results =
            span.content.blocks.iter().filter(|block| matches!(block.block.kind, BlockKind::Result(_)));
        let texts = results.filter(|_| asks).filter_map(|block| Some((block, block.text.lines().next()?)));
        let short = texts.filter(|(_, line)| line.len() <= ANSWER_BYTES_MAX);
        let quotes = short
            .filter_map(|(block, line)| self.texts.quote(span.ordinal, block.block.speaker, line.trim()));
        quotes.take(1).flat_map(|quote| [Part::Words("\n answered: "), quote]).collect()
    }

    /// Notes the files and patterns that a call names; whether there are any.
    fn files_and_searches(&mut self, span: &Reclaimed<'_>, block: &BlockContent<'_>) -> bool {
        let Some(tree) = &block.arguments else { return false };
        let changed = changes(span);
        let mut any = false;
        for (leaf, at) in tree.leaves.iter().zip(0..) {
            let Scalar::String(text) = &leaf.value else { continue };
            if PATHS.contains(&leaf.pointer.as_str()) {
                let whole =
                    tree.leaves.iter().any(|leaf| matches!(leaf.pointer.as_str(), "/content" | "/file_text"));
                any |= self.file(
                    span,
                    Origin::Argument(block.at, at),
                    text,
                    if whole { Use::Written } else { changed },
                );
            } else if PATTERNS.contains(&leaf.pointer.as_str()) && text.len() <= ARGUMENT_BYTES_MAX {
                any = true;
                let quote = self.texts.quote(span.ordinal, block.block.speaker, text);
                if let Some(quote) = quote.filter(|_| !self.again(span, Section::Searched, text)) {
                    self.push(span, Section::Searched, density::PATTERN, Say::Word(vec![quote]));
                }
            } else if BODIES.contains(&leaf.pointer.as_str()) {
                self.body(span, block.block.speaker, text);
            }
        }
        any | self.patched(span)
    }

    /// The lines that an edit wrote.
    fn body(&mut self, span: &Reclaimed<'_>, speaker: Speaker, text: &str) {
        for (chunk, cost) in chunks(text) {
            let parts = self.texts.lines(span.ordinal, speaker, chunk);
            let worth = if self.flow.behind(span.ordinal) < 10 { density::EDIT[0] } else { density::EDIT[1] };
            if !parts.is_empty() {
                self.push_at(span, (Section::Edits, cost), worth, Say::Chunk(parts));
            }
        }
    }

    /// The files of a call whose argument is a patch.
    fn patched(&mut self, span: &Reclaimed<'_>) -> bool {
        let mut any = false;
        for effect in mutations(span) {
            let Target::Path { written, .. } = &effect.target else { continue };
            if self.files.get(written).is_some_and(|file| file.edited + file.written > 0) {
                any = true;
                continue;
            }
            any |= self.file(span, Origin::Tool, written, Use::Edited);
        }
        any
    }

    fn file(&mut self, span: &Reclaimed<'_>, origin: Origin, path: &str, how: Use) -> bool {
        let place = self.texts.each(span.ordinal).find_map(|(source, text, own)| {
            let at = if own == origin { Some(0) } else { text.text.find(path) };
            let named = origin == own || origin == Origin::Tool;
            let literal =
                Literal { text: path.to_owned(), ordinal: span.ordinal, source, at: at.filter(|_| named)? };
            self.texts.literal(literal)
        });
        let Some(literal) = place else { return false };
        let new = FileUse { path: literal, read: 0, lines: Vec::new(), edited: 0, written: 0 };
        let file = self.files.entry(path.to_owned()).or_insert(new);
        match how {
            Use::Edited => file.edited += 1,
            Use::Written => file.written += 1,
            Use::Read => {
                file.read += 1;
                let texts = self.texts.texts(span.ordinal).iter();
                let results = texts.filter(|text| text.speaker == Speaker::Tool);
                file.lines.extend(results.filter_map(|text| lines_read(&text.text)));
            }
        }
        true
    }

    /// What failed calls said of it, and lines of results that look like errors.
    fn errors(&mut self, span: &Reclaimed<'_>) {
        let shown =
            span.content.blocks.iter().filter(|block| matches!(block.block.kind, BlockKind::Result(_)));
        for block in shown {
            let first = failed(span.examination.outcome).then(|| first_error(&block.text)).flatten();
            if let Some(line) = first {
                self.error(span, block.block.speaker, line, density::ERROR[0]);
            }
            let own = span.examination.atoms.iter();
            let own = own.filter(|(at, atom)| *at == block.at && atom.kind == AtomKind::Error);
            let atoms = own.filter_map(|(_, atom)| block.text.get(atom.range.clone()));
            // A name alone is one of the code that was read.
            let atoms = atoms.filter(|text| !is_frame(text) && text.contains(char::is_whitespace));
            let ran = !span.examination.programs.is_empty();
            let lines = lines(&block.text).filter(|line| ran && is_error(line));
            for line in lines.take(ERRORS_MAX).chain(atoms.take(ERRORS_MAX)) {
                let worth = if is_runners(line) { density::ERROR_AGAIN } else { density::ERROR[1] };
                self.error(span, block.block.speaker, line, worth);
            }
        }
    }

    fn error(&mut self, span: &Reclaimed<'_>, speaker: Speaker, line: &str, worth: u64) {
        let line = line.trim();
        if line.len() > ERROR_BYTES_MAX || self.again(span, Section::Errors, line) {
            return;
        }
        if let Some(quote) = self.texts.quote(span.ordinal, speaker, line) {
            let parts = vec![Part::Span(span.ordinal), Part::Words(" "), quote];
            self.push(span, Section::Errors, worth, Say::Line(parts));
        }
    }

    fn finish(mut self, spans: &[Reclaimed<'_>]) -> Vec<Item> {
        for (at, times, failures) in self.seen.values() {
            let Some(Item { say: Say::Line(parts), cost, .. }) =
                self.items.get_mut(*at).filter(|_| *times > 1)
            else {
                continue;
            };
            parts.extend([Part::Words(" x"), Part::Count(*times)]);
            if *failures > 0 && failures < times {
                parts.extend([Part::Words(" failed x"), Part::Count(*failures)]);
            }
            *cost += 4;
        }
        let first = spans.first().map_or(0, |span| span.ordinal);
        for (path, mut file) in std::mem::take(&mut self.files) {
            join(&mut file.lines);
            let changed = file.edited + file.written > 0;
            let name = path.rsplit(SEPARATORS).next().unwrap_or_default();
            let ranges = u64::try_from(file.lines.len()).unwrap_or(u64::MAX);
            let behind = self.flow.behind(file.path.ordinal);
            self.items.push(Item {
                section: Section::Files,
                half: if changed { Half::GoOn } else { Half::Answer },
                order: (first, 0),
                also: Vec::new(),
                density: weights::aged(
                    if changed { density::FILE_CHANGED } else { density::FILE_READ },
                    behind,
                ),
                cost: tokens::count(name).0 + 4 + ranges * 4,
                say: Say::File(file),
            });
        }
        self.items
    }
}

/// The most kinds of effects that are named of one call.
const EFFECTS_MAX: usize = 4;

/// What a call does with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Read,
    Edited,
    Written,
}

/// What a call changed or may have changed.
fn mutations<'s>(span: &Reclaimed<'s>) -> impl Iterator<Item = &'s Effect> {
    span.examination.effects.iter().filter(|effect| effect.kind.access() == Access::Mutation)
}

fn changes(span: &Reclaimed<'_>) -> Use {
    if mutations(span).next().is_some() { Use::Edited } else { Use::Read }
}

/// How a call is marked, and what a token of it is worth.
fn sign(span: &Reclaimed<'_>) -> (&'static str, u64) {
    let [definite, possible, reads] = density::COMMAND;
    match mutations(span).map(|effect| effect.certainty).max() {
        Some(Certainty::Definite) => (" ! ", definite),
        Some(Certainty::Possible) => (" ? ", possible),
        None => (" $ ", reads),
    }
}

/// What lines of an output begin with that tell of a failure.
const ERRORS: &[&str] = &[
    "error:",
    "error[",
    "error ",
    "Error:",
    "Error ",
    "ERROR",
    "fatal:",
    "panic:",
    "--- FAIL",
    "FAIL",
    "FAILED",
    "Traceback",
    "npm ERR!",
    "npm error",
    "thread '",
    "Caused by:",
];

/// What lines begin with in which a package runner says again that its command failed.
const RUNNER: &[&str] = &["npm error", "npm ERR!", "error Command failed", "error: script "];

fn is_runners(line: &str) -> bool {
    RUNNER.iter().any(|start| line.trim_start().starts_with(start))
}

fn is_error(line: &str) -> bool {
    let line = line.trim();
    // Code goes on behind such an end.
    if line.ends_with([',', ';', '{', '(']) {
        return false;
    }
    let word = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    ERRORS.iter().any(|start| line.starts_with(start))
        || word.len() > 5
            && word.ends_with("Error")
            && line.get(word.len()..).is_some_and(|rest| rest.starts_with(':'))
}

/// How many lines of a failed call are searched for what it says of it.
const FAILED_LINES_MAX: usize = 400;

/// Words of a line that tells of a failure, and phrases in it.
const FAILURES: &[&str] =
    &["error", "errors", "failed", "fails", "failure", "cannot", "denied", "invalid", "unknown"];
const FAILURE_PHRASES: &[&str] = &["not found", "no such"];

/// Whether a line speaks of a failure; a file may have such a word in its name.
fn tells_failure(line: &str) -> bool {
    let lower = line.to_lowercase();
    let words = || lower.split(|c: char| c.is_whitespace() || ":,;()[]{}\"'!".contains(c));
    words().any(|word| FAILURES.contains(&word))
        || FAILURE_PHRASES.iter().any(|phrase| lower.contains(phrase))
}

/// The lines of an output as somebody saw them: what draws its progress returns to the beginning of its line.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\r'])
}

/// What a failed call said: the first line that looks like an error, else one that tells of a failure, else the first.
fn first_error(text: &str) -> Option<&str> {
    let told =
        || lines(text).take(FAILED_LINES_MAX).filter(|line| !line.trim().is_empty() && !is_frame(line));
    let short = |line: &&str| line.trim().len() <= ERROR_BYTES_MAX;
    let tells = |line: &&str| !is_runners(line) && tells_failure(line);
    let found = told().filter(short).find(|line| is_error(line) && !is_runners(line));
    found.or_else(|| told().filter(short).find(tells)).or_else(|| told().next())
}

pub(super) fn failed(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Failed | Outcome::Refused | Outcome::Interrupted)
}

/// A run of lines of a script: the text of a heredoc, or a line outside of one.
struct Piece<'t> {
    text: &'t str,
    heredoc: bool,
}

fn pieces(script: &str) -> Vec<Piece<'_>> {
    let mut all = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut ending: Option<String> = None;
    for line in script.split_inclusive('\n') {
        let end = at + line.len();
        let inside = ending.as_ref().is_some_and(|word| line.trim() != word);
        if !inside {
            all.extend(script.get(start..at).map(|text| Piece { text, heredoc: true }));
            all.push(Piece { text: line, heredoc: false });
            ending = if ending.is_some() { None } else { heredoc(line) };
            start = end;
        }
        at = end;
    }
    all.extend(script.get(start..).map(|text| Piece { text, heredoc: true }));
    all.retain(|piece| !piece.text.trim().is_empty());
    all
}

/// The word that ends the heredoc which `line` opens.
fn heredoc(line: &str) -> Option<String> {
    let (_, behind) = line.split_once("<<")?;
    let word = behind.trim_start_matches('-').trim_start().trim_start_matches(['\'', '"', '\\']);
    let word: String = word.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    word.starts_with(|c: char| c.is_alphabetic() || c == '_').then_some(word)
}

/// The first and last number before the lines of a result.
fn lines_read(text: &str) -> Option<(u64, u64)> {
    let number = |line: &str| {
        let line = line.trim_start();
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let (number, behind) = line.split_at_checked(digits)?;
        behind.starts_with(['→', '\t']).then(|| number.parse().ok()).flatten()
    };
    let first = text.lines().next().and_then(number)?;
    let last = text.lines().rev().find_map(number)?;
    (first <= last).then_some((first, last))
}

/// Joins ranges that touch.
fn join(ranges: &mut Vec<(u64, u64)>) {
    ranges.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for &(first, last) in ranges.iter() {
        match joined.last_mut() {
            Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
            _ => joined.push((first, last)),
        }
    }
    *ranges = joined;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_call_is_told_by_the_line_that_says_why() {
        assert_eq!(first_error("$ make\nbuilding\nerror: no rule\nError 2"), Some("error: no rule"));
        assert_eq!(first_error("[push] done\nlint failed in a.json\n"), Some("lint failed in a.json"));
        assert_eq!(first_error("# logs\nyarn-error.log*\n"), Some("# logs"));
        assert_eq!(first_error("Exit code 1\nnothing here"), Some("nothing here"));
        assert_eq!(first_error("\n"), None);
        assert_eq!(first_error("Rebasing (1/2)\rRebasing (2/2)\rerror: no\n"), Some("error: no"));
        assert!(!is_error("error: { type: 'string' },") && is_error("npm error code 2"));
        assert_eq!(first_error("npm error code 2\nsrc/a.ts: error TS1"), Some("src/a.ts: error TS1"));
    }

    #[test]
    fn texts_of_heredocs_are_pieces_of_their_own() {
        let script = "cat > a <<'EOF'\none\ntwo\nEOF\necho done";
        let found: Vec<(&str, bool)> =
            pieces(script).iter().map(|piece| (piece.text, piece.heredoc)).collect();
        assert_eq!(
            found,
            [("cat > a <<'EOF'\n", false), ("one\ntwo\n", true), ("EOF\n", false), ("echo done", false)]
        );
        assert_eq!(pieces("cat <<X\nopen").len(), 2);
        assert_eq!(heredoc("x << \"END\" | y").as_deref(), Some("END"));
        assert_eq!(heredoc("echo $((1 << 4))"), None);
    }

    #[test]
    fn lines_that_were_read_join_to_ranges() {
        assert_eq!(lines_read("     1→a\n     2→b\n\nreminder"), Some((1, 2)));
        assert_eq!(lines_read("plain"), None);
        let mut ranges = vec![(50, 60), (1, 20), (21, 30)];
        join(&mut ranges);
        assert_eq!(ranges, [(1, 30), (50, 60)]);
    }
}
