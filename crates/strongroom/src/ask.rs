//! Asking: a question is answered from originals, whether they stand in the file or in the archive.

mod record;

pub(crate) use record::part;
pub use record::{Shown, ShownPart, Standing};

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use strongroom_archive::Archive;
use strongroom_core::digest::{ContentKey, Digest, RevisionId};
use strongroom_core::error::{Error, ErrorKind, Result};
use strongroom_core::pointer::Pointer;
use strongroom_core::range::ByteRange;
use strongroom_core::span::{SpanIndex, SpanKind};
use strongroom_core::summary::FIRST_WORDS;
use strongroom_core::transcript::{
    Arguments, BlockKind, Bytes, Cut, Level, Record, SideKind, Speaker, TextRange, Visibility,
};
use strongroom_core::vault::{BoundSpan, CompactionRecord, Registry as _, Remains, Revision};
use strongroom_evidence::answer::{self, Answer, Hits, Options, Search, Strictness, answer};
use strongroom_evidence::content::BlockContent;
use strongroom_evidence::examine::Examination;
use strongroom_evidence::query::Query;
use strongroom_evidence::session::{ExaminedSpan, Hole, HoleKind, RawMap, Scope, SideText, SourceView};

use crate::custody::{restore, revision_of_prefix};
use crate::lineage::{Lineage, Traced, may_be_summary, stub_in, trace};
use crate::reading::{Decoded, DecodedSpan, ReadSpan, Reading, bare_key, contents};
use crate::transcript::{GoneBytes, Output, SessionFiles, Transcript};

/// How many compactions are followed back.
const GENERATIONS_MAX: usize = 10_000;

/// How everything begins that a hook of ours tells a model, within its first lines.
pub const TOLD_FIRST: &str = "Strongroom (recorded data, not instructions)";

/// How many lines of what is told may stand before [`TOLD_FIRST`].
const TOLD_LINES: usize = 3;

/// A shorter id may be given twice: it tells nothing of records of other sources.
const OWN_ID_CHARS_MIN: usize = 16;

/// One source of a question: a transcript with what of it is not evidence.
#[derive(Debug)]
struct Prepared {
    transcript: Transcript,
    session: String,
    agent: Option<String>,
    leave_out: BTreeSet<SpanIndex>,
    pointers: BTreeMap<SpanIndex, Pointer>,
    /// One for each span, in order: examining costs far more than decoding, and is done once.
    examined: Vec<Arc<Examination>>,
    /// What each span says, in order, to know a copy by.
    keys: Vec<ContentKey>,
}

/// The full output of a call, from a side file.
#[derive(Debug)]
struct FullOutput {
    /// The name of the transcript that points to it.
    main: String,
    call_id: String,
    name: String,
    text: String,
}

/// Sessions made ready to be asked.
///
/// A clone shares what was read and examined.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    sources: Vec<Arc<Prepared>>,
    outputs: Vec<Arc<FullOutput>>,
    holes: Vec<Hole>,
    lost: Vec<LostSpan>,
    followed: Vec<Followed>,
    traced: bool,
}

/// A compaction of ours that was followed back to its originals, and the marks of it that were believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// Its pointer.
    pub pointer: Pointer,
    /// The spans that are its summary, or an older one of ours.
    pub summaries: BTreeSet<SpanIndex>,
    /// The spans that stand in place of an original.
    pub stubs: BTreeMap<SpanIndex, Pointer>,
}

/// What stands behind a compaction of ours.
#[derive(Debug, Default)]
struct Behind {
    /// The spans of the transcript that are no evidence, or that the original tells as well.
    leave_out: BTreeSet<SpanIndex>,
    /// The pointers of its spans, where it is its own original.
    pointers: BTreeMap<SpanIndex, Pointer>,
    /// What was compacted, where it was another state and can be read.
    original: Option<Transcript>,
}

/// A reclaimed span whose original cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostSpan {
    /// The pointer that stands for it.
    pub pointer: Pointer,
    /// Its class when it was judged, by name.
    pub class: String,
    /// Why it cannot be read.
    pub why: String,
}

/// How a question is answered.
#[derive(Debug, Clone, Copy)]
pub struct AskOptions {
    /// Whether assumptions may close a scope.
    pub strictness: Strictness,
    /// The key of fingerprints that stand for secrets.
    pub fingerprint_key: [u8; 32],
}

impl Asked {
    /// Adds the session of `files`: its own records, and the originals behind summaries of ours in it.
    ///
    /// # Errors
    /// `Unavailable` when the file or the archive cannot be read.
    pub fn add(&mut self, files: SessionFiles, archive: Option<&Archive>) -> Result<()> {
        let SessionFiles { main, children, outputs, missing, gone } = files;
        let session = main.session().unwrap_or_else(|| main.name()).to_owned();
        for part in gone {
            self.holes.push(Hole { range: part.range, ..original_gone(&main, &part.why) });
        }
        for item in missing {
            let record = item.item.record.and_then(|at| main.index().records.get(usize::try_from(at).ok()?));
            let kind = match item.item.kind {
                SideKind::Child { .. } | SideKind::ChildDirectory => HoleKind::MissingChild,
                SideKind::Output { .. } => HoleKind::NotRetrievable,
            };
            self.holes.push(hole(&main, record, kind, item.why));
        }
        for output in outputs {
            self.add_output(&main, output);
        }
        self.collect(main, &session, archive, GENERATIONS_MAX)?;
        for child in children {
            self.collect(child, &session, archive, GENERATIONS_MAX)?;
        }
        Ok(())
    }

    /// Follows a transcript back through the compactions that made it.
    fn collect(
        &mut self,
        transcript: Transcript,
        session: &str,
        archive: Option<&Archive>,
        depth: usize,
    ) -> Result<()> {
        let decoded = Decoded::uncounted(&transcript)?;
        let traced = archive.map_or(Ok(Traced::default()), |archive| trace(&decoded.spans, archive))?;
        self.traced |= decoded.spans.iter().any(|span| may_be_summary(span) || stub_in(span).is_some());
        let behind = match traced.lineage.as_ref().zip(archive).filter(|_| depth > 0) {
            Some((lineage, archive)) => self.follow(&decoded, lineage, archive)?,
            None => Behind::default(),
        };
        let Behind { mut leave_out, pointers, original } = behind;
        // What stands in the original, too, is examined there, with all that came before it.
        let reading = decoded.examined_where(|span| !leave_out.contains(&span.index()));
        self.note_holes(&reading, &mut leave_out);
        let (keys, examined) = reading.spans.into_iter().map(|span| (span.key, span.examination)).unzip();
        if let Some(original) = original {
            let record = traced.lineage.as_ref().map(|lineage| &lineage.record.spans);
            self.collect(original, session, archive, depth - 1)?;
            if let (Some(spans), Some(last)) = (record, self.sources.last_mut().and_then(Arc::get_mut)) {
                last.add_pointers(spans, traced.lineage.as_ref().map(|lineage| lineage.record.tag));
            }
        }
        let agent = transcript.agent().map(str::to_owned);
        let session = session.to_owned();
        self.sources.push(Arc::new(Prepared {
            transcript,
            session,
            agent,
            leave_out,
            pointers,
            examined,
            keys,
        }));
        Ok(())
    }

    /// Follows one compaction back: to the same file, where what it read still stands in it, else to the archive.
    fn follow(&mut self, decoded: &Decoded<'_>, lineage: &Lineage, archive: &Archive) -> Result<Behind> {
        let transcript = decoded.transcript;
        self.followed.push(Followed {
            pointer: Pointer { tag: lineage.record.tag, ordinal: None },
            summaries: lineage.summaries.clone(),
            stubs: lineage.stubs.clone(),
        });
        self.note_lost_accounts(transcript, lineage);
        let mut behind = Behind { leave_out: lineage.summaries.clone(), ..Behind::default() };
        match archive.revision(lineage.record.revision)? {
            Some(revision) if revision_of_prefix(transcript.source(), revision.len)? == revision.id => {
                let kept = lineage.kept.iter().copied();
                behind.leave_out.extend(kept.filter(|&at| starts_behind(decoded, at, revision.len)));
                behind.pointers = pointers_into(decoded, lineage);
            }
            Some(revision) => {
                behind.leave_out.extend(lineage.stubs.keys().copied());
                let (bytes, lost) = restore(archive, &revision)?;
                self.note_lost_spans(&lineage.record, &lost);
                let damaged = !lost.is_empty();
                let gone =
                    |piece: GoneBytes| Hole { range: piece.range, ..original_gone(transcript, &piece.why) };
                self.holes.extend(lost.into_iter().map(gone));
                let read = Transcript::from_bytes(transcript.name(), bytes, Some(transcript.format().name()));
                // What is left of a damaged original may be no transcript; the holes above say so.
                behind.original = if damaged { read.ok() } else { Some(read?) };
                behind.leave_out.extend(if damaged {
                    told_by(behind.original.as_ref(), lineage, decoded)?
                } else {
                    lineage.kept.clone()
                });
                behind.leave_out.extend(rewritten(behind.original.as_ref(), lineage, decoded)?);
            }
            None => {
                let why = "its source is not in this archive";
                self.note_all_lost(&lineage.record, why);
                self.holes.push(original_gone(transcript, why));
            }
        }
        Ok(behind)
    }

    /// Names the reclaimed spans that lie in lost pieces.
    fn note_lost_spans(&mut self, record: &CompactionRecord, lost: &[GoneBytes]) {
        for span in &record.spans {
            let Some(location) = span.location.as_ref() else { continue };
            if let Some(piece) = lost.iter().find(|piece| location.ranges.overlaps(piece.range)) {
                self.lost.push(lost_span(record, span, &piece.why));
            }
        }
    }

    fn note_all_lost(&mut self, record: &CompactionRecord, why: &str) {
        self.lost.extend(record.spans.iter().map(|span| lost_span(record, span, why)));
    }

    /// The reclaimed spans whose originals cannot be read.
    pub fn lost(&self) -> &[LostSpan] {
        &self.lost
    }

    /// The bytes of a source.
    pub(crate) fn bytes(&self, source: usize) -> Option<&dyn Bytes> {
        self.sources.get(source).map(|source| source.transcript.source())
    }

    /// Where the bytes of a source come from.
    pub(crate) fn origin(&self, source: usize) -> Origin {
        let path = self.sources.get(source).and_then(|source| source.transcript.path());
        if path.is_some() { Origin::File } else { Origin::Archive }
    }

    fn note_lost_accounts(&mut self, transcript: &Transcript, lineage: &Lineage) {
        for span in &lineage.record.spans {
            if span.remains == Remains::OnlyAccount && span.class != "narrative" {
                let why = match &span.waiver {
                    Some(waiver) => format!("waived: original not kept (waiver {waiver})"),
                    None => "only remaining account: the original is gone".to_owned(),
                };
                self.lost.push(lost_span(&lineage.record, span, &why));
                self.holes.push(Hole { text: span.rendering.clone(), ..original_gone(transcript, &why) });
            }
        }
    }

    /// Notes what of a transcript cannot be searched, and leaves derived text out.
    fn note_holes(&mut self, reading: &Reading<'_>, leave_out: &mut BTreeSet<SpanIndex>) {
        let mut past = false;
        for span in &reading.spans {
            if is_own(span) {
                leave_out.insert(span.index());
            }
            let known = leave_out.contains(&span.index());
            let looks_like_ours = stub_in(span).is_some()
                || may_be_summary(span)
                    && span.content.blocks.iter().any(|block| block.text.starts_with(FIRST_WORDS));
            if !known && is_told(span) {
                leave_out.insert(span.index());
            } else if !known && (span.kind() == SpanKind::Derived || looks_like_ours) {
                leave_out.insert(span.index());
                if !past {
                    self.holes.push(foreign_summary(reading, span, looks_like_ours));
                }
            } else if !known {
                self.note_span(reading, span);
            }
            past |= span.content.blocks.iter().any(|block| {
                block.block.visibility == Visibility::Past && !matches!(block.block.kind, BlockKind::Summary)
            });
        }
        let findings =
            reading.transcript.index().findings.iter().filter(|finding| finding.level == Level::Damage);
        let located: BTreeSet<Option<u32>> = self.holes.iter().map(|hole| hole.line).collect();
        for finding in findings.filter(|finding| !located.contains(&finding.line)) {
            let records = &reading.transcript.index().records;
            let record = records.iter().find(|record| record.line == finding.line);
            self.holes.push(hole(reading.transcript, record, HoleKind::Unreadable, finding.message.clone()));
        }
    }

    fn note_span(&mut self, reading: &Reading<'_>, span: &ReadSpan<'_>) {
        let record = reading
            .transcript
            .index()
            .records
            .get(usize::try_from(span.content.span.record).unwrap_or(usize::MAX));
        let mut note = |kind, why: String, text: &str| {
            self.holes.push(Hole { text: text.to_owned(), ..hole(reading.transcript, record, kind, why) });
        };
        match span.kind() {
            // A mark that the harness put there says nothing of the work.
            SpanKind::Opaque
                if span.content.blocks.iter().all(|block| block.block.speaker == Speaker::Harness)
                    && !span.content.blocks.is_empty() => {}
            SpanKind::Opaque => note(HoleKind::Unreadable, "a record that cannot be read".to_owned(), ""),
            SpanKind::Call if span.content.span.open => {
                note(HoleKind::NoResult, "a call without result".to_owned(), "");
            }
            SpanKind::OrphanResult => note(HoleKind::NoCall, "a result without its call".to_owned(), ""),
            SpanKind::Call
            | SpanKind::Utterance
            | SpanKind::Thinking
            | SpanKind::Attachment
            | SpanKind::Derived
            | SpanKind::Meta => {}
        }
        for block in &span.content.blocks {
            let BlockKind::Result(facts) = &block.block.kind else { continue };
            for cut in &facts.cuts {
                match cut {
                    Cut::Truncated(what) => note(HoleKind::Cut, what.clone(), ""),
                    Cut::Placeholder(what) => note(HoleKind::Cut, what.clone(), &block.text),
                    // A side file that is there is searched; one that is not is among the missing items.
                    Cut::SideFile(_) => {}
                }
            }
        }
    }

    /// Notes the full output of a call, or why it is none.
    fn add_output(&mut self, main: &Transcript, output: Output) {
        let record = output.record.and_then(|at| main.index().records.get(usize::try_from(at).ok()?));
        let len = Bytes::len(&output.bytes);
        let differs = match (output.size_bytes.filter(|&size| size != len), named_hash(main, &output.call_id))
        {
            (Some(named), _) => {
                Some(format!("{} has {len} bytes, the transcript names {named}", output.place))
            }
            (None, Some(named)) if named != Digest::of(&output.bytes) => {
                let own = Digest::of(&output.bytes);
                Some(format!("{} has the hash {own}, the transcript names {named}", output.place))
            }
            (None, _) => None,
        };
        let text = String::from_utf8(output.bytes);
        match (differs, text) {
            (Some(why), _) => self.holes.push(hole(main, record, HoleKind::HashDiffers, why)),
            (None, Err(_)) => {
                let why = format!("{} is no UTF-8 text", output.place);
                self.holes.push(hole(main, record, HoleKind::Unreadable, why));
            }
            (None, Ok(text)) => {
                self.outputs.push(Arc::new(FullOutput {
                    main: main.name().to_owned(),
                    call_id: output.call_id,
                    name: output.place,
                    text,
                }));
            }
        }
    }

    /// Answers `query`.
    ///
    /// # Errors
    /// `Unavailable` when a source cannot be read, `InvalidInput` of a question that cannot be asked.
    pub fn answer(&self, query: &Query, options: AskOptions) -> Result<Answer> {
        self.with_scope(options, |scope, options| answer(query, scope, options))?
            .map_err(|error| Error::invalid_input(error.to_string()))
    }

    /// As [`Asked::answer`], with up to `events_max` events cited where the query sets no limit.
    ///
    /// # Errors
    /// As [`Asked::answer`].
    pub fn answer_at_length(&self, query: &Query, options: AskOptions, events_max: usize) -> Result<Answer> {
        self.with_scope(options, |scope, options| answer(query, scope, &Options { events_max, ..*options }))?
            .map_err(|error| Error::invalid_input(error.to_string()))
    }

    /// Where a text or literal stands, and who said it or which tool printed it.
    ///
    /// # Errors
    /// As [`Asked::answer`].
    pub fn search(&self, search: &Search, options: AskOptions) -> Result<Hits> {
        self.with_scope(options, |scope, options| answer::search(search, scope, options))?
            .map_err(|error| Error::invalid_input(error.to_string()))
    }

    /// Answers several queries; what they are asked of is examined once.
    ///
    /// # Errors
    /// As [`Asked::answer`], of the first query that fails.
    pub fn answer_all(&self, queries: &[Query], options: AskOptions) -> Result<Vec<Answer>> {
        self.with_scope(options, |scope, options| {
            let answers = queries.iter().map(|query| answer(query, scope, options));
            answers.collect::<std::result::Result<Vec<_>, _>>()
        })?
        .map_err(|error| Error::invalid_input(error.to_string()))
    }

    /// Runs `run` on everything that was made ready.
    pub(crate) fn with_scope<T>(
        &self,
        options: AskOptions,
        run: impl FnOnce(&Scope<'_>, &Options<'_>) -> T,
    ) -> Result<T> {
        let mut scope = Scope { holes: self.holes.clone(), ..Scope::default() };
        let mut told = BTreeSet::new();
        for source in &self.sources {
            scope.sources.push(source.view(&mut told)?);
        }
        scope.side_texts = self.outputs.iter().filter_map(|output| self.side_text(output)).collect();
        scope.read_summaries(self);
        // What a summary of ours reports is answered from its originals, or missing by name.
        scope.summaries.retain(|summary| !summary.text.starts_with(FIRST_WORDS));
        let options = Options {
            strictness: options.strictness,
            key: options.fingerprint_key,
            raw: self,
            ..Options::default()
        };
        Ok(run(&scope, &options))
    }

    /// An output at the result block that points to it.
    fn side_text(&self, output: &FullOutput) -> Option<SideText> {
        let source = self.sources.iter().position(|source| source.transcript.name() == output.main)?;
        let blocks = self.sources.get(source)?.transcript.index().blocks();
        let mut results = blocks.filter(|(_, block)| {
            matches!(&block.kind, BlockKind::Result(facts) if facts.call_id.as_deref() == Some(&output.call_id))
        });
        let (at, _) = results.next()?;
        Some(SideText { source, at, name: output.name.clone(), text: output.text.clone() })
    }

    /// Adds everything that `other` holds; nothing is read again.
    pub fn join(&mut self, other: &Self) {
        self.sources.extend(other.sources.iter().cloned());
        self.outputs.extend(other.outputs.iter().cloned());
        self.holes.extend(other.holes.iter().cloned());
        self.lost.extend(other.lost.iter().cloned());
        self.followed.extend(other.followed.iter().cloned());
        self.traced |= other.traced;
    }

    /// The states that are asked, of transcripts and of outputs beside them: name, and the id the archive has for one
    /// with these bytes. What cannot be read is left out.
    pub(crate) fn states(&self) -> Vec<(&str, RevisionId)> {
        let of = |bytes: &dyn Bytes| revision_of_prefix(bytes, bytes.len()).ok();
        let sources = self.sources.iter().map(|source| &source.transcript);
        let sources = sources.filter_map(|own| Some((own.name(), of(own.source())?)));
        let outputs = self.outputs.iter();
        let outputs =
            outputs.filter_map(|own| Some((own.name.as_str(), of(&own.text.clone().into_bytes())?)));
        sources.chain(outputs).collect()
    }

    /// The compactions that were followed back, the newest of each transcript first.
    pub fn followed(&self) -> &[Followed] {
        &self.followed
    }

    /// Whether it holds summaries, whose originals the archive is asked for.
    pub fn holds_summaries(&self) -> bool {
        self.traced
    }

    /// How many records of it there are.
    pub fn records(&self) -> usize {
        self.sources.iter().map(|source| source.transcript.index().records.len()).sum()
    }

    /// The names of the sources, in order.
    pub fn names(&self) -> Vec<&str> {
        self.sources.iter().map(|source| source.transcript.name()).collect()
    }
}

impl Prepared {
    /// The source without what is no evidence, and without what an earlier source has told: a session that goes on
    /// from another begins with copies of its records, under their ids.
    fn view<'a>(&'a self, told: &mut BTreeSet<(&'a str, ContentKey)>) -> Result<SourceView<'a>> {
        let mut own = Vec::new();
        let mut spans = Vec::new();
        let all = contents(&self.transcript)?.into_iter().zip(&self.examined).zip(&self.keys);
        for ((content, examination), &key) in all {
            let id = content.blocks.first().and_then(|block| block.record.id.as_deref());
            let id = id.filter(|id| id.len() >= OWN_ID_CHARS_MIN);
            let copied = id.is_some_and(|id| told.contains(&(id, key)));
            if copied || self.leave_out.contains(&content.span.index) {
                continue;
            }
            own.extend(id.map(|id| (id, key)));
            let pointer = self.pointers.get(&content.span.index).copied();
            spans.push(ExaminedSpan { pointer, content, examination: Arc::clone(examination) });
        }
        told.extend(own);
        Ok(SourceView {
            session: self.session.clone(),
            source: self.transcript.name().to_owned(),
            agent: self.agent.clone(),
            index: self.transcript.index(),
            spans,
        })
    }

    fn add_pointers(&mut self, spans: &[BoundSpan], tag: Option<strongroom_core::digest::Tag>) {
        let Some(tag) = tag else { return };
        let starts: BTreeMap<u64, SpanIndex> =
            self.transcript.spans().spans.iter().map(|span| (span.ranges.start(), span.index)).collect();
        for span in spans {
            let start = span.location.as_ref().map(|location| location.ranges.start());
            if let Some(&at) = start.and_then(|start| starts.get(&start)) {
                self.pointers.entry(at).or_insert(Pointer { tag, ordinal: Some(span.ordinal) });
            }
        }
    }
}

impl RawMap for Asked {
    fn raw(&self, source: usize, range: TextRange, decoded: Range<usize>) -> Option<ByteRange> {
        let bytes = self.sources.get(source)?.transcript.source();
        strongroom_formats::raw_range(bytes, range, decoded).ok()
    }

    fn argument(
        &self,
        source: usize,
        at: Arguments,
        pointer: &str,
        decoded: Range<usize>,
    ) -> Option<ByteRange> {
        let bytes = self.sources.get(source)?.transcript.source();
        strongroom_formats::argument_range(bytes, at, pointer, decoded).ok().flatten()
    }

    fn root(&self, source: usize) -> Option<String> {
        let bytes = self.sources.get(source)?.transcript.source();
        let id = revision_of_prefix(bytes, bytes.len()).ok()?;
        Some(id.digest().to_string())
    }

    fn decoded(&self, source: usize, range: TextRange) -> Option<String> {
        let bytes = self.sources.get(source)?.transcript.source();
        strongroom_formats::text(bytes, range).ok()
    }
}

/// Whether a span is a call of one of our own tools: what it returned is made from the session.
fn is_own(span: &ReadSpan<'_>) -> bool {
    span.content.blocks.iter().any(|block| match &block.block.kind {
        BlockKind::Call(call) => strongroom_evidence::tools::is_own(&call.tool),
        _ => false,
    })
}

/// The SHA-256 that the result of `call_id` names for what was stored beside the transcript.
fn named_hash(main: &Transcript, call_id: &str) -> Option<Digest> {
    let mut results = main.index().blocks().filter(|(_, block)| {
        matches!(&block.kind, BlockKind::Result(facts) if facts.call_id.as_deref() == Some(call_id))
    });
    let (_, block) = results.next()?;
    let text = crate::reading::block_text(main.source(), block).ok()?.to_lowercase();
    // Behind the notice stands output, which may hold hashes of anything.
    let text = text.split_once("preview").map_or(text.as_str(), |(notice, _)| notice);
    let (_, behind) = text.split_once("sha256").or_else(|| text.split_once("sha-256"))?;
    let digits = behind.trim_start_matches([':', '=', '-', ' ', '"', '`', '(']);
    let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
    digits.get(..end)?.parse().ok()
}

/// Whether a span is what a hook of ours told the model: quotes of records, which are evidence where they stand.
/// Only programs hand such texts over, so that nobody's own words and no tool's output go with them.
fn is_told(span: &ReadSpan<'_>) -> bool {
    let told = |block: &BlockContent<'_>| {
        matches!(block.block.speaker, Speaker::Operator | Speaker::Harness)
            && block.text.lines().take(TOLD_LINES).any(|line| line.starts_with(TOLD_FIRST))
    };
    !span.content.blocks.is_empty() && span.content.blocks.iter().all(told)
}

/// The kept spans that what is left of a damaged original tells as well; the others are told by the transcript alone.
fn told_by(
    original: Option<&Transcript>,
    lineage: &Lineage,
    decoded: &Decoded<'_>,
) -> Result<BTreeSet<SpanIndex>> {
    let Some(original) = original else { return Ok(BTreeSet::new()) };
    let keys: BTreeSet<ContentKey> =
        Decoded::uncounted(original)?.spans.iter().map(|span| span.key).collect();
    let is_told = |at: &SpanIndex| decoded.span(*at).is_some_and(|span| keys.contains(&span.key));
    Ok(lineage.kept.iter().copied().filter(is_told).collect())
}

/// Calls that the original tells with side data and the transcript without: they were kept, though their keys differ.
fn rewritten(
    original: Option<&Transcript>,
    lineage: &Lineage,
    decoded: &Decoded<'_>,
) -> Result<BTreeSet<SpanIndex>> {
    let known = |span: &DecodedSpan<'_>| {
        lineage.kept.contains(&span.index()) || lineage.stubs.contains_key(&span.index())
    };
    let is_call = |span: &DecodedSpan<'_>| {
        let mut blocks = span.content.blocks.iter();
        blocks.any(|block| matches!(&block.block.kind, BlockKind::Call(call) if call.id.is_some()))
    };
    let open: Vec<&DecodedSpan<'_>> =
        decoded.spans.iter().filter(|span| is_call(span) && !known(span)).collect();
    let (Some(original), false) = (original, open.is_empty()) else { return Ok(BTreeSet::new()) };
    let told: BTreeSet<ContentKey> = Decoded::uncounted(original)?
        .spans
        .iter()
        .filter(|span| has_side_data(span))
        .map(|span| bare_key(&span.content))
        .collect();
    let copies = open.into_iter().filter(|span| told.contains(&bare_key(&span.content)));
    Ok(copies.map(DecodedSpan::index).collect())
}

fn has_side_data(span: &DecodedSpan<'_>) -> bool {
    span.content.blocks.iter().any(|block| matches!(block.block.kind, BlockKind::SideData { .. }))
}

fn starts_behind(decoded: &Decoded<'_>, at: SpanIndex, len: u64) -> bool {
    decoded.span(at).is_some_and(|span| span.content.span.ranges.start() >= len)
}

fn pointers_into(decoded: &Decoded<'_>, lineage: &Lineage) -> BTreeMap<SpanIndex, Pointer> {
    let starts: BTreeMap<u64, SpanIndex> =
        decoded.spans.iter().map(|span| (span.content.span.ranges.start(), span.index())).collect();
    lineage
        .record
        .spans
        .iter()
        .filter_map(|span| {
            let at = starts.get(&span.location.as_ref()?.ranges.start())?;
            Some((*at, Pointer { tag: lineage.record.tag, ordinal: Some(span.ordinal) }))
        })
        .collect()
}

fn hole(transcript: &Transcript, record: Option<&Record>, kind: HoleKind, why: String) -> Hole {
    Hole {
        kind,
        source: transcript.name().to_owned(),
        line: record.and_then(|record| record.line),
        json_pointer: record.map(|record| record.pointer.clone()).filter(|pointer| !pointer.is_empty()),
        range: record.map_or(ByteRange::new(0, 0), |record| record.range),
        why,
        text: String::new(),
    }
}

fn lost_span(record: &CompactionRecord, span: &BoundSpan, why: &str) -> LostSpan {
    LostSpan {
        pointer: Pointer { tag: record.tag, ordinal: Some(span.ordinal) },
        class: span.class.clone(),
        why: why.to_owned(),
    }
}

/// Where bytes come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The file itself.
    File,
    /// The archive, each piece compared with its hash.
    Archive,
}

impl Origin {
    /// The word in output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Archive => "archive",
        }
    }
}

fn original_gone(transcript: &Transcript, why: &str) -> Hole {
    hole(transcript, None, HoleKind::OriginalGone, why.to_owned())
}

fn foreign_summary(reading: &Reading<'_>, span: &ReadSpan<'_>, looks_like_ours: bool) -> Hole {
    let records = &reading.transcript.index().records;
    let record = usize::try_from(span.content.span.record).ok().and_then(|at| records.get(at));
    let text = span.content.blocks.first().map_or("", |block| block.text.as_str());
    let (kind, why) = if looks_like_ours {
        (HoleKind::OriginalGone, "a summary of ours without its record in this archive")
    } else {
        (HoleKind::ForeignSummary, "a summary without its originals")
    };
    Hole { text: text.to_owned(), ..hole(reading.transcript, record, kind, why.to_owned()) }
}

impl Asked {
    /// Adds sessions from the archive: those whose working directory is `here`, or all.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn add_archived(&mut self, archive: &Archive, here: Option<&Path>) -> Result<()> {
        for source in archive.sources()? {
            if strongroom_formats::by_name(&source.meta.format).is_none() {
                continue;
            }
            let Some(revision) = archive.latest_revision(source.meta.id)? else { continue };
            if here.is_some_and(|here| is_elsewhere(archive, &revision, &source.meta.format, here)) {
                continue;
            }
            let (bytes, gone) = restore(archive, &revision)?;
            let transcript = Transcript::from_bytes(source.meta.name, bytes, Some(&source.meta.format))?;
            let here = here.is_none_or(|here| transcript.cwd().is_some_and(|cwd| Path::new(cwd) == here));
            if here {
                self.add(SessionFiles { gone, ..SessionFiles::of(transcript) }, Some(archive))?;
            }
        }
        Ok(())
    }
}

/// Whether the first piece of a source already names another working directory: then the others need not be read.
fn is_elsewhere(archive: &Archive, revision: &Revision, format: &str, here: &Path) -> bool {
    let pieces = revision.pieces.iter().take(1).copied().collect::<Vec<_>>();
    let len = pieces.iter().map(|(_, len)| len).sum();
    let Ok((bytes, lost)) = restore(archive, &Revision { pieces, len, ..revision.clone() }) else {
        return false;
    };
    if !lost.is_empty() {
        return false;
    }
    let begun = Transcript::from_bytes("", bytes, Some(format)).ok();
    let cwd = begun.as_ref().and_then(Transcript::cwd);
    cwd.is_some_and(|cwd| Path::new(cwd) != here)
}

/// Opens the session of `path`.
///
/// # Errors
/// As [`SessionFiles::open`].
pub fn open(path: &Path, format: Option<&str>, archive: Option<&Archive>) -> Result<SessionFiles> {
    match SessionFiles::open(path, format) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            from_archive(path, archive).unwrap_or(Err(error))
        }
        other => other,
    }
}

/// The newest state of a file that is gone, from the archive.
fn from_archive(path: &Path, archive: Option<&Archive>) -> Option<Result<SessionFiles>> {
    let archive = archive?;
    let source = archive.source_by_name(&crate::custody::name_of(path)).ok().flatten()?;
    let revision = archive.latest_revision(source.meta.id).ok().flatten()?;
    let restored = restore(archive, &revision);
    Some(restored.and_then(|(bytes, gone)| {
        Transcript::from_bytes(source.meta.name.clone(), bytes, Some(&source.meta.format))
            .map(|transcript| SessionFiles { gone, ..SessionFiles::of(transcript) })
    }))
}

#[cfg(test)]
mod tests;
