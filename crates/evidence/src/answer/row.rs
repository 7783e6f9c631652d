//! Rows: what a noun selects before any term is tested.

use std::ops::Range;

use strongroom_core::evidence::AtomKind;
use strongroom_core::range::ByteRange;
use strongroom_core::span::SpanKind;
use strongroom_core::transcript::{
    Argument, Block, BlockKind, BlockRef, Cut, Ending, Record, RecordKind, ResultFacts, Scalar, Speaker,
    Usage,
};

use super::agents::State;
use super::values::Keyed;
use crate::atom::Atom;
use crate::content::BlockContent;
use crate::effect::{Effect, Outcome};
use crate::session::{ExaminedSpan, Scope, SideText, SourceView};

/// A candidate with what is known of it.
#[derive(Debug, Clone)]
pub(super) struct Row<'s> {
    pub(super) view: &'s SourceView<'s>,
    /// The index of its source in the scope.
    pub(super) source: usize,
    /// The index of its span in the source's view, where it is in one.
    pub(super) span: Option<usize>,
    /// The first and the last block of its event.
    pub(super) start: BlockRef,
    pub(super) end: BlockRef,
    pub(super) what: What<'s>,
    /// The texts that bare words are looked for in.
    pub(super) own: Vec<Piece<'s>>,
    /// The other half of its event, cited with it.
    pub(super) half: Vec<Piece<'s>>,
}

/// What kind of thing a row is, with what belongs to that kind alone.
#[derive(Debug, Clone)]
pub(super) enum What<'s> {
    Said,
    Thought,
    Call,
    Result,
    Effect(&'s Effect),
    File(&'s Effect),
    Literal(AtomKind, String),
    Value(Keyed),
    Claim,
    Rule,
    Error,
    Compaction,
    Attachment(&'s str),
    Agent(Option<String>, State),
    Record,
    Session(String),
    Usage(&'static str, u64),
}

/// A text of a row, with where it stands.
#[derive(Debug, Clone)]
pub(super) struct Piece<'s> {
    pub(super) at: BlockRef,
    pub(super) of: PieceOf<'s>,
    pub(super) text: &'s str,
    /// The part that counts, in bytes of `text`; all of it where none is given.
    pub(super) focus: Option<Range<usize>>,
}

/// Where a piece comes from.
#[derive(Debug, Clone)]
pub(super) enum PieceOf<'s> {
    /// The text of a block.
    Text(&'s Block),
    /// One argument of a call.
    Argument(&'s Block, &'s Argument),
    /// A side file.
    Side(&'s SideText),
    /// Raw bytes, read when they are cited.
    Raw(ByteRange),
}

impl<'s> Piece<'s> {
    pub(super) fn of_block(content: &'s BlockContent<'s>) -> Self {
        Self { at: content.at, of: PieceOf::Text(content.block), text: &content.text, focus: None }
    }

    /// The part of the text that counts.
    pub(super) fn focused(&self) -> &'s str {
        match &self.focus {
            Some(range) => self.text.get(range.clone()).unwrap_or(self.text),
            None => self.text,
        }
    }

    fn focus_on(mut self, range: Range<usize>) -> Self {
        if self.text.get(range.clone()).is_some() {
            self.focus = Some(range);
        }
        self
    }
}

impl<'s> Row<'s> {
    /// The row of a whole record, by its raw bytes.
    pub(super) fn of_record(
        view: &'s SourceView<'s>,
        source: usize,
        record: u32,
        what: What<'s>,
    ) -> Option<Self> {
        let at = BlockRef { record, block: 0 };
        let own = view.index.record(at)?;
        let raw = Piece { at, of: PieceOf::Raw(own.range), text: &own.label, focus: None };
        Some(Self { view, source, span: None, start: at, end: at, what, own: vec![raw], half: Vec::new() })
    }

    pub(super) fn examined(&self) -> Option<&'s ExaminedSpan<'s>> {
        self.span.and_then(|span| self.view.spans.get(span))
    }

    /// The same row over its whole event: from its call to its last result.
    pub(super) fn event(&self) -> Self {
        let blocks = self.examined().map(|examined| examined.content.blocks.as_slice()).unwrap_or_default();
        let start = blocks.first().map_or(self.start, |content| content.at);
        let end = blocks.last().map_or(self.end, |content| content.at);
        Self { start, end, ..self.clone() }
    }

    /// The child agent it belongs to.
    pub(super) fn agent(&self) -> Option<&'s str> {
        super::facet::agent_of(self.view, self.start.record)
    }

    pub(super) fn record(&self) -> Option<&'s Record> {
        self.view.index.record(self.start)
    }

    /// The tool of the call in its event.
    pub(super) fn tool(&self) -> Option<&'s str> {
        let blocks = &self.examined()?.content.blocks;
        blocks.iter().find_map(|content| match &content.block.kind {
            BlockKind::Call(facts) => Some(facts.tool.as_str()),
            _ => None,
        })
    }

    /// The arguments of the call in its event, as pieces.
    pub(super) fn arguments(&self) -> Vec<Piece<'s>> {
        self.examined().map(|examined| call_pieces(examined)).unwrap_or_default()
    }

    pub(super) fn results(&self) -> impl Iterator<Item = &'s ResultFacts> {
        self.examined().into_iter().flat_map(|examined| result_facts(examined))
    }

    /// Who speaks in the part that the row is about.
    pub(super) fn speaker(&self) -> Option<Speaker> {
        let at = self.own.first().map_or(self.start, |piece| piece.at);
        self.view.index.block(at).map(|block| block.speaker)
    }

    /// The effect a row is about.
    pub(super) fn effect(&self) -> Option<&'s Effect> {
        match self.what {
            What::Effect(effect) | What::File(effect) => Some(effect),
            _ => None,
        }
    }

    /// How its call ended; the effect's own outcome of an effect.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        match self.effect() {
            Some(effect) => Some(effect.outcome),
            None => self
                .examined()
                .filter(|examined| is_call(examined))
                .map(|examined| examined.examination.outcome),
        }
    }
}

pub(super) fn is_call(examined: &ExaminedSpan<'_>) -> bool {
    examined.content.blocks.iter().any(|content| matches!(content.block.kind, BlockKind::Call(_)))
}

pub(super) fn result_facts<'s>(examined: &'s ExaminedSpan<'s>) -> impl Iterator<Item = &'s ResultFacts> {
    examined.content.blocks.iter().filter_map(|content| match &content.block.kind {
        BlockKind::Result(facts) => Some(facts),
        _ => None,
    })
}

/// The string and number arguments of the call in a span, and the text of a call without any.
pub(super) fn call_pieces<'s>(examined: &'s ExaminedSpan<'s>) -> Vec<Piece<'s>> {
    let mut pieces = Vec::new();
    for content in &examined.content.blocks {
        if !matches!(content.block.kind, BlockKind::Call(_)) {
            continue;
        }
        let before = pieces.len();
        for argument in content.arguments.iter().flat_map(|tree| &tree.leaves) {
            if let Scalar::String(text) | Scalar::Number(text) = &argument.value {
                let of = PieceOf::Argument(content.block, argument);
                pieces.push(Piece { at: content.at, of, text, focus: None });
            }
        }
        if pieces.len() == before && !content.text.is_empty() {
            pieces.push(Piece::of_block(content));
        }
    }
    pieces
}

/// Whether a placeholder stands where the result was: it is none, and matches nothing.
fn is_replaced(facts: &ResultFacts) -> bool {
    facts.cuts.iter().any(|cut| matches!(cut, Cut::Placeholder(_)))
}

/// What the tool returned: result texts first, side data only where there is no other.
pub(super) fn result_pieces<'s>(examined: &'s ExaminedSpan<'s>) -> Vec<Piece<'s>> {
    let texts = |wanted: fn(&BlockKind) -> bool| -> Vec<Piece<'s>> {
        let blocks = examined.content.blocks.iter();
        blocks
            .filter(|content| wanted(&content.block.kind) && !content.text.is_empty())
            .map(Piece::of_block)
            .collect()
    };
    let results = texts(|kind| matches!(kind, BlockKind::Result(facts) if !is_replaced(facts)));
    if results.is_empty() { texts(|kind| matches!(kind, BlockKind::SideData { .. })) } else { results }
}

/// A walk over all examined spans.
struct Walk<'s> {
    scope: &'s Scope<'s>,
    rows: Vec<Row<'s>>,
}

/// A span on the walk.
#[derive(Clone, Copy)]
struct At<'s> {
    source: usize,
    span: usize,
    view: &'s SourceView<'s>,
    examined: &'s ExaminedSpan<'s>,
}

impl<'s> At<'s> {
    fn row(self, what: What<'s>, own: Vec<Piece<'s>>) -> Row<'s> {
        let blocks = &self.examined.content.blocks;
        let first = BlockRef { record: self.examined.content.span.record, block: 0 };
        let start = blocks.first().map_or(first, |content| content.at);
        let end = blocks.last().map_or(first, |content| content.at);
        Row {
            view: self.view,
            source: self.source,
            span: Some(self.span),
            start,
            end,
            what,
            own,
            half: Vec::new(),
        }
    }
}

fn spans<'s>(scope: &'s Scope<'s>) -> impl Iterator<Item = At<'s>> {
    scope.sources.iter().enumerate().flat_map(|(source, view)| {
        view.spans.iter().enumerate().map(move |(span, examined)| At { source, span, view, examined })
    })
}

pub(super) fn calls<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    let called = spans(scope).filter(|at| is_call(at.examined));
    called
        .map(|at| {
            let mut row = at.row(What::Call, call_pieces(at.examined));
            row.half = result_pieces(at.examined);
            row
        })
        .collect()
}

pub(super) fn results<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    let returned = |at: &At<'s>| {
        at.examined.content.span.kind == SpanKind::OrphanResult
            || result_facts(at.examined).any(|facts| !is_replaced(facts))
    };
    let mut rows = Vec::new();
    for at in spans(scope).filter(returned) {
        let mut own = result_pieces(at.examined);
        let blocks = &at.examined.content.blocks;
        let here = |side: &&'s SideText| {
            side.source == at.source && blocks.iter().any(|content| content.at == side.at)
        };
        let sides = scope.side_texts.iter().filter(here);
        own.extend(sides.map(|side| Piece {
            at: side.at,
            of: PieceOf::Side(side),
            text: &side.text,
            focus: None,
        }));
        let mut row = at.row(What::Result, own);
        row.half = call_pieces(at.examined);
        rows.push(row);
    }
    rows
}

pub(super) fn effects<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    effect_rows(scope, |_| true, What::Effect)
}

pub(super) fn files<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    effect_rows(scope, |effect| effect.kind.is_under("fs") || effect.kind.is_under("exec"), What::File)
}

pub(super) fn effect_rows<'s>(
    scope: &'s Scope<'s>,
    wanted: fn(&Effect) -> bool,
    what: fn(&'s Effect) -> What<'s>,
) -> Vec<Row<'s>> {
    let mut rows = Vec::new();
    for at in spans(scope) {
        for effect in at.examined.examination.effects.iter().filter(|effect| wanted(effect)) {
            let mut row = at.row(what(effect), call_pieces(at.examined));
            row.half = result_pieces(at.examined);
            rows.push(row);
        }
    }
    rows
}

pub(super) fn said<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    let mut rows = Vec::new();
    for at in spans(scope) {
        let (what, wanted): (What<'s>, fn(&BlockKind) -> bool) = match at.examined.content.span.kind {
            SpanKind::Utterance => (What::Said, |kind| matches!(kind, BlockKind::Text | BlockKind::Paste)),
            SpanKind::Thinking => (What::Thought, |kind| matches!(kind, BlockKind::Thinking)),
            _ => continue,
        };
        for content in at.examined.content.blocks.iter().filter(|content| wanted(&content.block.kind)) {
            let mut row = at.row(what.clone(), vec![Piece::of_block(content)]);
            (row.start, row.end) = (content.at, content.at);
            rows.push(row);
        }
    }
    rows
}

/// Texts that are neither said nor of a call: attachments, side notes, what stands beside prose.
pub(super) fn others<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    let mut rows = Vec::new();
    for at in spans(scope) {
        let kind = at.examined.content.span.kind;
        let known = |block: &BlockKind| match block {
            BlockKind::Call(_) | BlockKind::Result(_) | BlockKind::SideData { .. } => true,
            BlockKind::Text | BlockKind::Paste => kind == SpanKind::Utterance,
            BlockKind::Thinking => kind == SpanKind::Thinking,
            BlockKind::Attachment { .. } | BlockKind::Summary | BlockKind::Opaque(_) => false,
        };
        let blocks = at.examined.content.blocks.iter();
        for content in blocks.filter(|content| !known(&content.block.kind) && !content.text.is_empty()) {
            let mut row = at.row(What::Record, vec![Piece::of_block(content)]);
            (row.start, row.end) = (content.at, content.at);
            rows.push(row);
        }
    }
    rows
}

pub(super) fn literals<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    let mut rows = secrets(scope);
    for at in spans(scope) {
        let mut arguments = Leaves { pieces: call_pieces(at.examined), at: 0, last: 0 };
        for (block, atom) in &at.examined.examination.atoms {
            rows.extend(literal(at, *block, atom, &mut arguments));
        }
    }
    rows.sort_by_key(|row| (row.source, row.start));
    rows
}

fn literal<'s>(at: At<'s>, block: BlockRef, atom: &'s Atom, arguments: &mut Leaves<'s>) -> Option<Row<'s>> {
    if matches!(atom.kind, AtomKind::Negation | AtomKind::Constraint | AtomKind::Claim | AtomKind::Secret) {
        return None;
    }
    let content = at.examined.content.blocks.iter().find(|content| content.at == block)?;
    let mut row = at.row(What::Literal(atom.kind, atom.norm.clone()), Vec::new());
    row.own = match content.block.kind {
        // Atoms of a call stand in its arguments, of which the text is not one string.
        BlockKind::Call(_) => arguments.piece_of(atom).into_iter().collect(),
        _ => vec![Piece::of_block(content).focus_on(atom.range.clone())],
    };
    (row.start, row.end) = (block, block);
    Some(row)
}

/// The arguments of a call, read in the order in which its atoms were found: atom ranges do not name theirs.
struct Leaves<'s> {
    pieces: Vec<Piece<'s>>,
    /// The argument of the atom before.
    at: usize,
    /// Where that atom began.
    last: usize,
}

impl<'s> Leaves<'s> {
    fn piece_of(&mut self, atom: &Atom) -> Option<Piece<'s>> {
        let behind = usize::from(atom.range.start < self.last);
        let spelled = |piece: &&Piece<'s>| {
            let text = piece.text.get(atom.range.clone());
            text.is_some_and(|text| text.contains(&atom.norm) || atom.norm.contains(text))
        };
        let from = (self.at + behind).min(self.pieces.len());
        let rest = self.pieces.iter().enumerate().skip(from);
        let fits = |(_, piece): &(usize, &Piece<'s>)| piece.text.get(atom.range.clone()).is_some();
        let found = rest.clone().find(|(_, piece)| spelled(piece)).or_else(|| rest.clone().find(fits));
        let (n, piece) = found?;
        (self.at, self.last) = (n, atom.range.start);
        Some(piece.clone().focus_on(atom.range.clone()))
    }
}

/// The secrets of all texts; the focus is the secret itself.
pub(super) fn secrets<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    let mut rows = Vec::new();
    for at in spans(scope) {
        for secret in &at.examined.examination.secrets {
            let pieces = match &secret.argument {
                Some(pointer) => call_pieces(at.examined)
                    .into_iter()
                    .filter(|piece| {
                        matches!(piece.of, PieceOf::Argument(_, argument) if argument.pointer == *pointer)
                            && piece.at == secret.at
                    })
                    .collect(),
                None => texts_of(at, secret.at),
            };
            let Some(piece) = pieces.into_iter().next() else { continue };
            let mut row = at.row(
                What::Literal(AtomKind::Secret, secret.rule.to_owned()),
                vec![piece.focus_on(secret.range.clone())],
            );
            (row.start, row.end) = (secret.at, secret.at);
            rows.push(row);
        }
    }
    rows
}

fn texts_of(at: At<'_>, block: BlockRef) -> Vec<Piece<'_>> {
    at.examined.content.blocks.iter().filter(|content| content.at == block).map(Piece::of_block).collect()
}

/// Every text of every event, call arguments included, for the readers of keys.
pub(super) fn texts<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    let mut rows = Vec::new();
    for mut row in calls(scope) {
        row.half.clear();
        rows.push(row);
    }
    rows.extend(results(scope));
    rows.extend(said(scope).into_iter().filter(|row| matches!(row.what, What::Said)));
    rows.sort_by_key(|row| (row.source, row.own.first().map_or(row.start, |piece| piece.at)));
    rows
}

pub(super) fn claims<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    let mut rows = Vec::new();
    for at in spans(scope) {
        let atoms = at.examined.examination.atoms.iter();
        for (block, atom) in atoms.filter(|(_, atom)| atom.kind == AtomKind::Claim) {
            let spoken = at.view.index.block(*block).map(|block| block.speaker);
            if !matches!(spoken, Some(Speaker::Assistant | Speaker::User | Speaker::Agent)) {
                continue;
            }
            let Some(piece) = texts_of(at, *block).into_iter().next() else { continue };
            let range = sentence(piece.text, &atom.range);
            let mut row = at.row(What::Claim, vec![piece.focus_on(range)]);
            (row.start, row.end) = (*block, *block);
            rows.push(row);
        }
    }
    rows
}

/// The bytes of the sentence around `range`.
pub(super) fn sentence(text: &str, range: &Range<usize>) -> Range<usize> {
    let before = text.get(..range.start).unwrap_or_default();
    let start = sentences(before)
        .last()
        .map_or(0, |last| if ends_sentence(before) { before.len() } else { last.start });
    let rest = text.get(start..).unwrap_or_default();
    let own = sentences(rest).find(|own| start + own.end >= range.end);
    own.map_or(start..text.len(), |own| start + own.start..start + own.end)
}

fn ends_sentence(text: &str) -> bool {
    let trimmed = text.trim_end_matches(' ');
    trimmed.len() < text.len() && trimmed.ends_with(['.', '!', '?'])
        || text.ends_with(['\n', '。', '！', '？'])
}

/// The sentences of `text`: cut behind a full stop, a question or exclamation mark before a blank, and at line ends.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let start = at + (rest.len() - rest.trim_start().len());
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let mut chars = rest.char_indices().peekable();
        let mut end = rest.len();
        while let Some((offset, c)) = chars.next() {
            let blank = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
            let ends = matches!(c, '\n' | '。' | '！' | '？') || (matches!(c, '.' | '!' | '?') && blank);
            if ends {
                end = if c == '\n' { offset } else { offset + c.len_utf8() };
                break;
            }
        }
        at = start + end;
        Some(start..at)
    })
}

pub(super) fn errors<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    let mut rows = calls(scope);
    rows.extend(results(scope).into_iter().filter(|row| row.tool().is_none()));
    rows.retain(|row| failed(row));
    for row in &mut rows {
        row.what = What::Error;
        let own = row.examined().map(result_pieces).unwrap_or_default();
        row.half = std::mem::replace(&mut row.own, own);
    }
    rows
}

fn failed(row: &Row<'_>) -> bool {
    let marked = row.results().any(|facts| {
        facts.error == Some(true)
            || facts.exit_code.is_some_and(|code| code != 0)
            || matches!(facts.ending, Ending::Refused | Ending::Interrupted | Ending::TimedOut)
    });
    let ended = matches!(row.outcome(), Some(Outcome::Failed | Outcome::Refused | Outcome::Interrupted));
    let lines = row.examined().is_some_and(|examined| {
        let result =
            |at: BlockRef| matches!(row.view.index.block(at), Some(Block { kind: BlockKind::Result(_), .. }));
        examined.examination.atoms.iter().any(|(at, atom)| atom.kind == AtomKind::Error && result(*at))
    });
    marked || ended || lines
}

pub(super) fn attachments<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    let mut rows = Vec::new();
    for at in spans(scope) {
        for content in &at.examined.content.blocks {
            let BlockKind::Attachment { media_type } = &content.block.kind else { continue };
            let piece = Piece {
                at: content.at,
                of: PieceOf::Raw(content.block.range),
                text: media_type,
                focus: None,
            };
            let mut row = at.row(What::Attachment(media_type), vec![piece]);
            (row.start, row.end) = (content.at, content.at);
            rows.push(row);
        }
    }
    rows
}

pub(super) fn records<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    let mut walk = Walk { scope, rows: Vec::new() };
    walk.each_record(|record| (record.kind != RecordKind::Opaque).then_some(What::Record));
    let mut texts: Vec<(usize, Piece<'s>)> = Vec::new();
    for at in spans(scope) {
        let blocks =
            at.examined.content.blocks.iter().filter(|content| !content.text.is_empty()).map(Piece::of_block);
        texts.extend(blocks.chain(call_pieces(at.examined)).map(|piece| (at.source, piece)));
    }
    texts.sort_by_key(|(source, piece)| (*source, piece.at));
    for (source, piece) in texts {
        let key = (source, piece.at.record);
        if let Ok(n) = walk.rows.binary_search_by_key(&key, |row| (row.source, row.start.record))
            && let Some(row) = walk.rows.get_mut(n)
        {
            row.own.push(piece);
        }
    }
    walk.rows
}

/// One row for each boundary, and for each summary that no boundary announces.
pub(super) fn compactions<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    let mut walk = Walk { scope, rows: Vec::new() };
    walk.each_record(|record| {
        let summary = record
            .blocks
            .iter()
            .any(|block| matches!(block.kind, BlockKind::Summary) && block.copy_of.is_none());
        (record.kind == RecordKind::Boundary || summary).then_some(What::Compaction)
    });
    let boundary = |row: &Row<'_>| row.record().is_some_and(|record| record.kind == RecordKind::Boundary);
    let mut kept: Vec<Row<'s>> = Vec::new();
    for mut row in walk.rows {
        let announced =
            kept.last_mut().filter(|last| last.source == row.source && boundary(last) && !boundary(&row));
        for summary in scope
            .summaries
            .iter()
            .filter(|summary| summary.source == row.source && summary.at.record == row.start.record)
        {
            if let Some(block) = row.view.index.block(summary.at) {
                row.own.push(Piece {
                    at: summary.at,
                    of: PieceOf::Text(block),
                    text: &summary.text,
                    focus: None,
                });
            }
        }
        match announced {
            Some(last) if row.start.record <= last.start.record + 3 => last.own.append(&mut row.own),
            _ => kept.push(row),
        }
    }
    kept
}

impl<'s> Walk<'s> {
    fn each_record(&mut self, what: impl Fn(&Record) -> Option<What<'s>>) {
        let scope = self.scope;
        for (source, view) in scope.sources.iter().enumerate() {
            for (record, n) in view.index.records.iter().zip(0u32..) {
                let row = what(record).and_then(|what| Row::of_record(view, source, n, what));
                self.rows.extend(row);
            }
        }
    }
}

/// A key of `usage` with what it counts of a request.
type Amount = (&'static str, fn(&Usage) -> u64);

const AMOUNTS: &[Amount] = &[
    ("context", |usage| usage.context_tokens),
    ("input", |usage| usage.context_tokens.saturating_sub(usage.cached_tokens)),
    ("cached", |usage| usage.cached_tokens),
    ("output", |usage| usage.output_tokens),
    ("total", |usage| usage.context_tokens + usage.output_tokens),
];

/// One row for each request.
pub(super) fn usage<'s>(scope: &'s Scope<'s>, key: &str) -> Vec<Row<'s>> {
    let mut rows = Vec::new();
    let Some(&(key, amount)) = AMOUNTS.iter().find(|(own, _)| *own == key) else { return rows };
    for (source, view) in scope.sources.iter().enumerate() {
        for usage in &view.index.usage {
            let what = What::Usage(key, amount(usage));
            rows.extend(Row::of_record(view, source, usage.record, what));
        }
    }
    rows
}

pub(super) fn sessions<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    let mut walk = Walk { scope, rows: Vec::new() };
    walk.each_record(|record| record.session.clone().map(What::Session));
    let mut seen: Vec<String> = Vec::new();
    walk.rows.retain(|row| match &row.what {
        What::Session(id) if !seen.contains(id) => {
            seen.push(id.clone());
            true
        }
        _ => false,
    });
    walk.rows
}

/// The calls that start agents.
pub(super) fn spawns<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    effect_rows(scope, |effect| effect.kind.is_under("agent.spawn"), What::Effect)
}

/// One row for each message; the lines of one streamed message are one.
pub(super) fn messages<'s>(scope: &'s Scope<'s>) -> Vec<Row<'s>> {
    let mut rows: Vec<Row<'s>> = Vec::new();
    for mut row in records(scope) {
        let Some(record) = row.record().filter(|record| record.kind == RecordKind::Message) else { continue };
        let copied = |block: &Block| block.copy_of.is_some();
        if !record.blocks.is_empty() && record.blocks.iter().all(copied) {
            continue;
        }
        let same = |last: &&mut Row<'s>| {
            let own = last.record().and_then(|last| last.message_id.as_deref());
            last.source == row.source && own.is_some() && own == record.message_id.as_deref()
        };
        match rows.iter_mut().rev().take(MESSAGE_RECORDS_MAX).find(same) {
            Some(first) => first.own.append(&mut row.own),
            None => rows.push(row),
        }
    }
    rows
}

/// How far apart the records of one message are looked for: results of parallel calls lie between them.
const MESSAGE_RECORDS_MAX: usize = 64;

/// Which sentences count as rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Breadth {
    /// Those that state one.
    Stated,
    /// Those that may state one too: who asks about something must not miss it.
    Possible,
}

/// Sentences of the user and the operator that are rules.
pub(super) fn rules<'s>(scope: &'s Scope<'s>, breadth: Breadth) -> Vec<Row<'s>> {
    let mut rows = Vec::new();
    for at in spans(scope) {
        for content in &at.examined.content.blocks {
            if !matches!(content.block.speaker, Speaker::User | Speaker::Operator) || content.text.is_empty()
            {
                continue;
            }
            let own = at.examined.examination.rules.iter().filter(|(block, _)| *block == content.at);
            let found = own.map(|(_, range)| range.clone());
            let is_stated =
                |range: &Range<usize>| content.text.get(range.clone()).is_some_and(crate::rules::is_rule);
            let mut ranges: Vec<Range<usize>> = match breadth {
                Breadth::Possible => found.collect(),
                Breadth::Stated => found.filter(is_stated).collect(),
            };
            if content.block.kind == BlockKind::Text {
                let spoken = sentences(&content.text).filter(is_stated);
                let fresh: Vec<_> = spoken
                    .filter(|range| !ranges.iter().any(|own| own.start < range.end && range.start < own.end))
                    .collect();
                ranges.extend(fresh);
            }
            ranges.sort_by_key(|range| range.start);
            for range in ranges {
                let mut row = at.row(What::Rule, vec![Piece::of_block(content).focus_on(range)]);
                (row.start, row.end) = (content.at, content.at);
                rows.push(row);
            }
        }
    }
    rows
}

/// Every decoded text of a span.
pub(super) fn all_texts<'s>(examined: &'s ExaminedSpan<'s>) -> Vec<&'s str> {
    let texts = examined.content.blocks.iter().map(|content| content.text.as_str());
    texts.chain(call_pieces(examined).into_iter().map(|piece| piece.text)).collect()
}
