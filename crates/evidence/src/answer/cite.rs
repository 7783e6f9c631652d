//! Citations: exact quotations with their places.

use std::ops::Range;

use strongroom_core::evidence::AtomKind;
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{BlockKind, BlockRef, Branch, Encoding, Record, Speaker, TextRange};

use super::facet::{agent_of, session_of};
use super::matching::Compiled;
use super::row::{Piece, PieceOf, Row, What};
use super::secret::{Secrets, fingerprint};
use super::{Citation, Options};
use crate::query::{Atom, Field};
use crate::session::{Hole, Scope, SourceView};

/// Texts up to this many characters are cited whole.
const WHOLE_CHARS_MAX: usize = 2_000;

/// The most places that are cited of one longer text.
const PLACES_MAX: usize = 20;

/// The most arguments and texts that are cited of one half of an event.
const PIECES_MAX: usize = 12;

/// Makes citations for the rows of one clause.
#[derive(Debug, Clone, Copy)]
pub(super) struct Citer<'c, 's> {
    pub(super) scope: &'s Scope<'s>,
    pub(super) clause: &'c Compiled<'c>,
    pub(super) options: &'c Options<'c>,
    pub(super) secrets: &'c Secrets<'s>,
}

impl<'s> Citer<'_, 's> {
    /// Both halves of a row.
    pub(super) fn row(&self, row: &Row<'s>) -> Vec<Citation> {
        let mut citations = Vec::new();
        let sides = self.pieces(&row.own, Half::Own).into_iter().chain(self.pieces(&row.half, Half::Other));
        for (piece, half) in sides {
            citations.extend(self.piece(row, piece, half));
        }
        citations
    }

    /// The most telling citation of a row, for lists of what blocks or nearly matched: a text with a match, or
    /// else the longest one.
    pub(super) fn first(&self, row: &Row<'s>) -> Option<Citation> {
        let matched =
            |piece: &Piece<'s>| self.clause.cited().any(|term| !term.find_all(piece.text, 1).is_empty());
        let telling = |piece: &&Piece<'s>| (matched(piece), piece.text.len().min(WHOLE_CHARS_MAX));
        let own = row.own.iter().filter(|piece| is_worth(piece)).rev().max_by_key(telling);
        let piece = own.or(row.half.first())?;
        self.piece(row, piece, Half::Own).into_iter().next()
    }

    /// The pieces worth citing: those with a match first, then the others, in order.
    fn pieces<'p>(&self, pieces: &'p [Piece<'s>], half: Half) -> Vec<(&'p Piece<'s>, Half)> {
        let matched =
            |piece: &&'p Piece<'s>| self.clause.cited().any(|term| !term.find_all(piece.text, 1).is_empty());
        let (first, others): (Vec<_>, Vec<_>) =
            pieces.iter().filter(|piece| is_worth(piece)).partition(matched);
        let mut chosen: Vec<_> = first.into_iter().chain(others).take(PIECES_MAX).collect();
        chosen.sort_by_key(|piece| pieces.iter().position(|other| std::ptr::eq(other, *piece)));
        chosen.into_iter().map(|piece| (piece, half)).collect()
    }

    /// The lines around `found` in a piece, up to the next secret on either side.
    pub(super) fn around(&self, row: &Row<'s>, piece: &Piece<'s>, found: Range<usize>) -> Option<Citation> {
        let secrets = self.hidden(row, piece);
        let lines = lines_around(piece.text, found.clone());
        let mut open = without(&lines, &secrets).into_iter();
        let part =
            open.find(|part| part.start <= found.start && found.start < part.end.max(part.start + 1))?;
        let inside = secrets.iter().filter(|secret| secret.start < lines.end && lines.start < secret.end);
        let hidden: Vec<String> = inside
            .filter_map(|range| piece.text.get(range.clone()))
            .map(|secret| fingerprint(secret, self.options))
            .collect();
        let safety = if secrets.is_empty() { Safety::Open } else { Safety::HoldsSecret };
        let citation = self.quote(row, piece, part, safety)?;
        Some(Citation { note: note(row, &hidden), ..citation })
    }

    fn piece(&self, row: &Row<'s>, piece: &Piece<'s>, half: Half) -> Vec<Citation> {
        if let PieceOf::Raw(range) = piece.of {
            return vec![self.raw(row, piece, range)];
        }
        let cited = self.parts(row, piece, half);
        let secrets = self.hidden(row, piece);
        let hidden: Vec<String> = secrets
            .iter()
            .filter_map(|range| piece.text.get(range.clone()))
            .map(|secret| fingerprint(secret, self.options))
            .collect();
        let open: Vec<Range<usize>> = cited.iter().flat_map(|part| without(part, &secrets)).collect();
        let note = note(row, &hidden);
        // A text that is nothing but a secret is cited by its place alone.
        let nothing = cited
            .first()
            .filter(|_| open.is_empty() && !hidden.is_empty())
            .map(|part| part.start..part.start);
        let safety = if secrets.is_empty() { Safety::Open } else { Safety::HoldsSecret };
        let quotes = open.into_iter().chain(nothing).filter_map(|part| self.quote(row, piece, part, safety));
        quotes.map(|citation| Citation { note: note.clone(), ..citation }).collect()
    }

    /// The parts of a text that are cited.
    fn parts(&self, row: &Row<'s>, piece: &Piece<'s>, half: Half) -> Vec<Range<usize>> {
        if let (What::Literal(AtomKind::Secret, _), Some(focus)) = (&row.what, &piece.focus) {
            return Vec::from([lines_around(piece.text, focus.clone())]);
        }
        let shaped = if half == Half::Own { self.shape(piece.text) } else { None };
        if let Some(part) = shaped {
            return vec![part];
        }
        if piece.text.chars().nth(WHOLE_CHARS_MAX).is_none() {
            return std::iter::once(0..piece.text.len()).collect();
        }
        if piece.focus.is_some() {
            return Vec::from([lines_around(piece.text, piece.focus.clone().unwrap_or_default())]);
        }
        let mut lines: Vec<Range<usize>> = Vec::new();
        for term in self.clause.cited() {
            lines.extend(
                term.find_all(piece.text, PLACES_MAX)
                    .into_iter()
                    .map(|found| lines_around(piece.text, found)),
            );
        }
        lines.sort_by_key(|line| (line.start, line.end));
        let mut joined: Vec<Range<usize>> = Vec::new();
        for line in lines {
            match joined.last_mut() {
                Some(last) if line.start <= last.end + 1 => last.end = last.end.max(line.end),
                _ => joined.push(line),
            }
        }
        if joined.is_empty() {
            joined.push(head(piece.text));
        }
        joined.truncate(PLACES_MAX);
        joined
    }

    /// The part that `lines:` or `chars:` ask for.
    fn shape(&self, text: &str) -> Option<Range<usize>> {
        let asked = |field: Field| {
            self.clause
                .terms
                .iter()
                .find(|term| term.field == Some(field))
                .and_then(|term| term.atoms().next())
        };
        if let Some(atom) = asked(Field::Chars) {
            let text = text.trim_end_matches(['\n', '\r']);
            let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            return Some(slice(&starts, text.len(), atom));
        }
        let atom = asked(Field::Lines)?;
        let starts: Vec<usize> = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .filter(|at| *at < text.len())
            .collect();
        let range = slice(&starts, text.len(), atom);
        let trimmed = text.get(range.clone()).map_or(0, |part| part.trim_end_matches(['\n', '\r']).len());
        Some(range.start..range.start + trimmed)
    }

    /// The secrets in a piece, in bytes of its text: those found there, and those found elsewhere in the scope.
    pub(super) fn hidden(&self, row: &Row<'s>, piece: &Piece<'s>) -> Vec<Range<usize>> {
        let mut ranges = self.secrets.ranges(piece.text);
        let pointer = match piece.of {
            PieceOf::Argument(_, argument) => Some(argument.pointer.as_str()),
            PieceOf::Text(_) => None,
            PieceOf::Side(_) | PieceOf::Raw(_) => return ranges,
        };
        let known =
            row.examined().map(|examined| examined.examination.secrets.as_slice()).unwrap_or_default();
        let own =
            known.iter().filter(|secret| secret.at == piece.at && secret.argument.as_deref() == pointer);
        ranges.extend(
            own.map(|secret| secret.range.clone()).filter(|range| piece.text.get(range.clone()).is_some()),
        );
        ranges.sort_by_key(|range| (range.start, range.end));
        ranges.dedup();
        ranges
    }

    fn quote(
        &self,
        row: &Row<'s>,
        piece: &Piece<'s>,
        part: Range<usize>,
        safety: Safety,
    ) -> Option<Citation> {
        let spelled = match &piece.of {
            PieceOf::Side(side) => return Some(side_citation(row, side, part)),
            PieceOf::Text(block) => self.in_block(row, block, piece, part.clone()),
            PieceOf::Argument(block, argument) => self.in_argument(row, block, argument, part.clone()),
            PieceOf::Raw(_) => None,
        };
        let (range, quote) = match spelled {
            Some(range) => {
                let decoded = self.options.raw.decoded(row.source, range).filter(|_| !is_layered(piece));
                let text = decoded.or_else(|| piece.text.get(part).map(str::to_owned))?;
                (range.range, text)
            }
            // Without the bytes of a part the whole text is cited, and of a text with a secret nothing.
            None if safety == Safety::Open => (whole_range(piece)?, piece.text.to_owned()),
            None => {
                let start = whole_range(piece)?.start();
                (ByteRange::new(start, start), String::new())
            }
        };
        let block = row.view.index.block(piece.at);
        let inner =
            self.options.raw.pointer(row.source, range).or_else(|| block.map(|block| block.pointer.clone()));
        Some(Citation { bytes: (range.start(), range.end()), quote, ..place(row, piece.at, inner) })
    }

    /// The bytes of a part of a block's text.
    fn in_block(
        &self,
        row: &Row<'s>,
        block: &strongroom_core::transcript::Block,
        piece: &Piece<'s>,
        part: Range<usize>,
    ) -> Option<TextRange> {
        let mut at = 0;
        for range in &block.text {
            let len = match block.text.as_slice() {
                [_] => piece.text.len(),
                _ => self.options.raw.decoded(row.source, *range)?.len(),
            };
            if part.start < at + len || (part.is_empty() && part.start <= at + len) {
                let inner = part.start.saturating_sub(at)..(part.end.saturating_sub(at)).min(len);
                if inner == (0..len) {
                    return Some(*range);
                }
                let raw = self.options.raw.raw(row.source, *range, inner)?;
                return Some(TextRange { range: raw, encoding: range.encoding });
            }
            at += len + 1;
        }
        None
    }

    fn in_argument(
        &self,
        row: &Row<'s>,
        block: &strongroom_core::transcript::Block,
        argument: &strongroom_core::transcript::Argument,
        part: Range<usize>,
    ) -> Option<TextRange> {
        let BlockKind::Call(facts) = &block.kind else { return None };
        let encoding = match (&argument.value, facts.arguments) {
            (_, strongroom_core::transcript::Arguments::Plain(_)) => Encoding::Plain,
            (strongroom_core::transcript::Scalar::String(_), _) => Encoding::Json,
            _ => Encoding::Plain,
        };
        let raw = self.options.raw.argument(row.source, facts.arguments, &argument.pointer, part.clone());
        let whole = matches!(&argument.value, strongroom_core::transcript::Scalar::String(text) if part == (0..text.len()))
            || encoding == Encoding::Plain;
        let own = matches!(
            facts.arguments,
            strongroom_core::transcript::Arguments::Json(_)
                | strongroom_core::transcript::Arguments::Text(_)
                | strongroom_core::transcript::Arguments::Plain(_)
        );
        let range = raw.or_else(|| (whole && own).then_some(argument.range))?;
        Some(TextRange { range, encoding })
    }

    /// A whole record or attachment by its raw bytes, narrowed to what counts in it.
    fn raw(&self, row: &Row<'s>, piece: &Piece<'s>, range: ByteRange) -> Citation {
        let plain = |range: ByteRange| TextRange { range, encoding: Encoding::Plain };
        let text =
            self.options.raw.decoded(row.source, plain(range)).filter(|text| !self.secrets.are_in(text));
        let empty = (ByteRange::new(range.start(), range.start()), String::new());
        let (bytes, quote) = text.map_or(empty, |text| {
            let part = self.raw_part(row, piece, &text);
            let quote = text.get(part.clone()).unwrap_or_default().to_owned();
            let offset = |at: usize| range.start() + u64::try_from(at).unwrap_or(0);
            (ByteRange::new(offset(part.start), offset(part.end)), quote)
        });
        let inner = row
            .view
            .index
            .block(piece.at)
            .filter(|_| matches!(row.what, What::Attachment(_)))
            .map(|block| block.pointer.clone());
        Citation {
            bytes: (bytes.start(), bytes.end()),
            quote,
            note: note(row, &[]),
            ..place(row, piece.at, inner)
        }
    }

    /// What counts in the raw text of a record or attachment.
    fn raw_part(&self, row: &Row<'_>, piece: &Piece<'_>, text: &str) -> Range<usize> {
        let found = || self.clause.cited().find_map(|term| term.find_all(text, 1).into_iter().next());
        let key = match row.what {
            What::Attachment(_) => text.find(piece.text).map(|at| at..at + piece.text.len()),
            What::Usage(..) => text.find("usage").map(|at| at..(at + 600).min(text.len())),
            _ if text.len() > WHOLE_CHARS_MAX => found().map(|found| lines_around(text, found)),
            _ => None,
        };
        let range = key.unwrap_or_else(|| head(text));
        let end =
            (range.start..=range.end).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(range.start);
        range.start..end
    }

    /// A hole as a citation: the text that stands there where there is one, and what is missing.
    pub(super) fn hole(&self, hole: &Hole) -> Citation {
        let note = Some(format!("{}: {}", hole.kind.words(), hole.why));
        let stands = if hole.text.is_empty() { self.result_at(hole) } else { None };
        stands.map_or_else(|| self.bare_hole(hole), |citation| Citation { note, ..citation })
    }

    /// The result in the record of a hole, such as a preview.
    fn result_at(&self, hole: &Hole) -> Option<Citation> {
        let source = self.scope.sources.iter().position(|view| view.source == hole.source)?;
        let view = self.scope.sources.get(source)?;
        let here = |at: BlockRef| {
            view.index.record(at).is_some_and(|record| record.line.is_some() && record.line == hole.line)
        };
        let span = view.spans.iter().position(|examined| {
            let blocks = &examined.content.blocks;
            blocks
                .iter()
                .any(|content| matches!(content.block.kind, BlockKind::Result(_)) && here(content.at))
        })?;
        let own: Vec<Piece<'s>> = super::row::result_pieces(view.spans.get(span)?);
        let piece = own.into_iter().find(|piece| here(piece.at))?;
        let row = Row::of_record(view, source, piece.at.record, What::Record)?;
        let row = Row { span: Some(span), start: piece.at, end: piece.at, own: Vec::new(), ..row };
        self.piece(&row, &piece, Half::Other).into_iter().next()
    }

    fn bare_hole(&self, hole: &Hole) -> Citation {
        let view = self.scope.sources.iter().find(|view| view.source == hole.source);
        let session = view.map_or_else(String::new, |view| view.session.clone());
        let line = hole.line.map(|line| format!("L{line}"));
        let locator = line.or_else(|| hole.json_pointer.clone()).unwrap_or_default();
        Citation {
            session,
            source: hole.source.clone(),
            item: hole.source.clone(),
            locator,
            record: hole.line,
            json_pointer: hole.json_pointer.clone(),
            bytes: (hole.range.start(), hole.range.end()),
            attribution: Speaker::Harness.word().to_owned(),
            agent: view.and_then(|view| view.agent.clone()),
            quote: if self.secrets.are_in(&hole.text) {
                String::new()
            } else {
                hole.text.chars().take(WHOLE_CHARS_MAX).collect()
            },
            pointer: None,
            note: Some(format!("{}: {}", hole.kind.words(), hole.why)),
        }
    }
}

/// Whether a text holds a secret, so that it must not be cited whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Safety {
    Open,
    HoldsSecret,
}

/// Which half of an event a piece is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    Own,
    Other,
}

fn is_worth(piece: &Piece<'_>) -> bool {
    !piece.text.is_empty()
        && !matches!(piece.of, PieceOf::Argument(_, argument) if matches!(argument.value, strongroom_core::transcript::Scalar::Number(_)))
}

fn side_citation(row: &Row<'_>, side: &crate::session::SideText, part: Range<usize>) -> Citation {
    let before = side.text.get(..part.start).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let wide = |at: usize| u64::try_from(at).unwrap_or(u64::MAX);
    Citation {
        source: side.name.clone(),
        item: side.name.clone(),
        locator: format!("L{line}"),
        record: u32::try_from(line).ok(),
        json_pointer: None,
        bytes: (wide(part.start), wide(part.end)),
        quote: side.text.get(part).unwrap_or_default().to_owned(),
        ..place(row, side.at, None)
    }
}

/// Everything of a citation but bytes, quote and note.
fn place(row: &Row<'_>, at: BlockRef, inner: Option<String>) -> Citation {
    let view = row.view;
    let record = view.index.record(at);
    let block = view.index.block(at);
    let speaker = block.map_or(Speaker::Harness, |block| block.speaker);
    Citation {
        session: session_of(view, at.record).to_owned(),
        source: view.source.clone(),
        item: view.source.clone(),
        locator: locator(view, at),
        record: record.and_then(|record| record.line),
        json_pointer: inner.map(|inner| {
            format!("{}{inner}", record.map(|record| record.pointer.as_str()).unwrap_or_default())
        }),
        bytes: (0, 0),
        attribution: speaker.word().to_owned(),
        agent: agent_of(view, at.record).map(str::to_owned),
        quote: String::new(),
        pointer: row.examined().and_then(|examined| examined.pointer).map(|pointer| pointer.to_string()),
        note: None,
    }
}

/// `L12`, or the JSON pointer of the message or part where there are no lines.
fn locator(view: &SourceView<'_>, at: BlockRef) -> String {
    let record: Option<&Record> = view.index.record(at);
    if let Some(line) = record.and_then(|record| record.line) {
        return format!("L{line}");
    }
    let inner = view
        .index
        .block(at)
        .map(|block| block.pointer.as_str())
        .filter(|inner| *inner != "/content")
        .unwrap_or_default();
    format!("{}{inner}", record.map(|record| record.pointer.as_str()).unwrap_or_default())
}

/// Whether the bytes of a part say more than the part: they are spelled in several layers, or lie on several lines.
fn is_layered(piece: &Piece<'_>) -> bool {
    use strongroom_core::transcript::Arguments;
    match piece.of {
        PieceOf::Text(block) => block.text.iter().any(|range| matches!(range.encoding, Encoding::Pieces(_))),
        PieceOf::Argument(block, _) => matches!(
            &block.kind,
            BlockKind::Call(facts) if matches!(facts.arguments, Arguments::JsonInJson(_) | Arguments::Pieces(..))
        ),
        PieceOf::Side(_) | PieceOf::Raw(_) => false,
    }
}

/// The bytes of a piece's whole text, where they are one range.
fn whole_range(piece: &Piece<'_>) -> Option<ByteRange> {
    match &piece.of {
        PieceOf::Text(block) => {
            let (first, last) = (block.text.first()?, block.text.last()?);
            Some(ByteRange::new(first.range.start(), last.range.end()))
        }
        PieceOf::Argument(_, argument) => Some(argument.range),
        PieceOf::Side(_) => None,
        PieceOf::Raw(range) => Some(*range),
    }
}

/// What a reader must know of the row besides the quotation.
fn note(row: &Row<'_>, hidden: &[String]) -> Option<String> {
    let mut notes: Vec<String> = Vec::new();
    if let Some(effect) = row.effect() {
        notes.push(format!("{} {}: {}", effect.kind.word(), effect.target.words(), effect.outcome));
    } else if let (What::Call | What::Result | What::Error, Some(outcome)) = (&row.what, row.outcome()) {
        notes.push(outcome.word().to_owned());
    }
    if row.record().is_some_and(|record| record.branch == Branch::Abandoned) {
        notes.push("abandoned branch".to_owned());
    }
    notes.extend(hidden.iter().map(|name| format!("{name} is not shown")));
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// The first characters of a longer text, cut at a line end where there is one.
fn head(text: &str) -> Range<usize> {
    let end = text.char_indices().nth(WHOLE_CHARS_MAX).map_or(text.len(), |(at, _)| at);
    let cut = text.get(..end).and_then(|head| head.rfind('\n')).filter(|_| end < text.len());
    0..cut.unwrap_or(end)
}

/// The lines that hold `range`, cut to the neighbourhood of the match where a line is long.
fn lines_around(text: &str, range: Range<usize>) -> Range<usize> {
    let start = text.get(..range.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let end =
        text.get(range.end..).and_then(|after| after.find('\n')).map_or(text.len(), |at| range.end + at);
    if end - start <= 2 * WHOLE_CHARS_MAX {
        return start..end.max(start);
    }
    let near = WHOLE_CHARS_MAX / 4;
    let start = (start.max(range.start.saturating_sub(near))..=range.start)
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(range.start);
    let last = end.min(range.end + near);
    let end = (range.end..=last).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(range.end);
    start..end
}

/// `range` without the secrets in it.
fn without(range: &Range<usize>, secrets: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut at = range.start;
    for secret in secrets.iter().filter(|secret| secret.start < range.end && range.start < secret.end) {
        parts.push(at..secret.start.max(at));
        at = at.max(secret.end);
    }
    parts.push(at..range.end.max(at));
    if secrets.is_empty() {
        return parts;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The elements of `a..b`, 1-based and both included; a negative number counts from the end.
fn slice(starts: &[usize], len: usize, atom: &Atom) -> Range<usize> {
    let count = i64::try_from(starts.len()).unwrap_or(i64::MAX);
    let place = |text: &String| text.parse::<i64>().ok().map(|n| if n < 0 { count + n + 1 } else { n });
    let (from, to) = match atom {
        Atom::Range(from, to) => (from.as_ref().and_then(place), to.as_ref().and_then(place)),
        Atom::Word(text) => (place(text), place(text)),
        _ => (None, None),
    };
    let from = from.unwrap_or(1).max(1);
    let to = to.unwrap_or(count).min(count);
    let at = |n: i64| usize::try_from(n).ok().and_then(|n| starts.get(n)).copied().unwrap_or(len);
    let start = at(from - 1);
    start..at(to.max(0)).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: Option<&str>, to: Option<&str>) -> Atom {
        Atom::Range(from.map(str::to_owned), to.map(str::to_owned))
    }

    #[test]
    fn slices_count_from_both_ends_and_never_leave_the_text() {
        let starts = [0, 1, 2, 3, 4];
        assert_eq!(slice(&starts, 5, &range(Some("-2"), None)), 3..5);
        assert_eq!(slice(&starts, 5, &range(Some("2"), Some("3"))), 1..3);
        assert_eq!(slice(&starts, 5, &range(Some("9"), None)), 5..5);
        assert_eq!(slice(&starts, 5, &range(None, Some("-9"))), 0..0);
        assert_eq!(slice(&starts, 5, &Atom::Word("5".to_owned())), 4..5);
        assert_eq!(slice(&[], 0, &range(Some("1"), None)), 0..0);
    }

    #[test]
    fn secrets_are_cut_out_of_what_is_cited() {
        assert_eq!(without(&(0..10), &[3..5, 8..12]), [0..3, 5..8]);
        assert!(without(&(4..5), std::slice::from_ref(&(3..6))).is_empty());
        assert_eq!(without(&(0..0), &[]).len(), 1);
    }

    #[test]
    fn long_lines_are_cut_around_the_match() {
        let text = format!("{}x{}", "é".repeat(5_000), "é".repeat(5_000));
        let part = lines_around(&text, 10_000..10_001);
        assert!(text.get(part.clone()).is_some() && part.len() <= 1_010, "{part:?}");
        assert_eq!(lines_around("a\nbc\nd", 2..3), 2..4);
    }
}
