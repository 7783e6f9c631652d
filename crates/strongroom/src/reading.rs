//! Reading: every span decoded, keyed, counted and examined.

use std::ops::Deref;
use std::sync::Arc;

use strongroom_core::deposit::span_hash;
use strongroom_core::digest::{ContentKey, Hasher, SpanHash};
use strongroom_core::error::Result;
use strongroom_core::parallel;
use strongroom_core::span::{Span, SpanIndex, SpanKind, in_context};
use strongroom_core::transcript::{
    Block, BlockKind, Bytes, RecordKind, Scalar, SourceIndex, Speaker, TextRange, Visibility,
};
use strongroom_evidence::content::{BlockContent, Next, SpanContent, call_text, join_calls};
use strongroom_evidence::examine::{Examination, Examiner, Found, ProjectFacts, Secret};

use crate::tokens::{self, Estimate, Tokens};
use crate::transcript::Transcript;

/// One span, decoded.
#[derive(Debug)]
pub struct DecodedSpan<'a> {
    /// Its content, copies of it left out.
    pub content: SpanContent<'a>,
    /// The hash over what it says.
    pub key: ContentKey,
    /// What it costs in the next request, copies included; nothing where nothing was counted.
    pub tokens: Tokens,
    in_context: bool,
}

impl DecodedSpan<'_> {
    /// The span's place.
    pub fn index(&self) -> SpanIndex {
        self.content.span.index
    }

    /// What it is.
    pub fn kind(&self) -> SpanKind {
        self.content.span.kind
    }

    /// Whether the agent would send it.
    pub fn in_context(&self) -> bool {
        self.in_context
    }
}

/// One span, read.
#[derive(Debug)]
pub struct ReadSpan<'a> {
    decoded: DecodedSpan<'a>,
    /// What it proves.
    pub examination: Arc<Examination>,
}

impl<'a> Deref for ReadSpan<'a> {
    type Target = DecodedSpan<'a>;

    fn deref(&self) -> &DecodedSpan<'a> {
        &self.decoded
    }
}

/// Whether tokens are counted, a tenth of what decoding takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counting {
    On,
    Off,
}

/// All spans of a transcript, decoded in order and not yet examined, which costs far more.
#[derive(Debug)]
pub struct Decoded<'a> {
    /// The transcript.
    pub transcript: &'a Transcript,
    /// One for each span, in order.
    pub spans: Vec<DecodedSpan<'a>>,
}

impl<'a> Decoded<'a> {
    /// Decodes and counts every span of `transcript`.
    ///
    /// # Errors
    /// `Unavailable` when the bytes cannot be read.
    pub fn of(transcript: &'a Transcript) -> Result<Self> {
        Self::with(transcript, Counting::On)
    }

    /// As [`Decoded::of`], for readers who ask what was said and not what it costs: every count is zero.
    ///
    /// # Errors
    /// `Unavailable` when the bytes cannot be read.
    pub fn uncounted(transcript: &'a Transcript) -> Result<Self> {
        Self::with(transcript, Counting::Off)
    }

    fn with(transcript: &'a Transcript, counting: Counting) -> Result<Self> {
        let decoded = decode_all(transcript, counting)?;
        let nexts = nexts(&decoded);
        let spans = decoded.into_iter().zip(nexts).map(|((mut content, tokens), next)| {
            content.next = next;
            let in_context = in_context(transcript.index(), content.span);
            DecodedSpan { key: content_key(&content), tokens, in_context, content }
        });
        Ok(Self { transcript, spans: spans.collect() })
    }

    /// Examines every span.
    pub fn examined(self) -> Reading<'a> {
        self.examined_where(|_| true)
    }

    /// Examines the spans that are `asked` for. The others are passed over: what follows is read against them, and of
    /// themselves only their secrets are known.
    pub fn examined_where(self, asked: impl Fn(&DecodedSpan<'a>) -> bool) -> Reading<'a> {
        let Self { transcript, spans } = self;
        let facts = ProjectFacts { cwd: transcript.cwd().map(str::to_owned), home: None };
        let mut examiner =
            Examiner::new(facts).with_changing_tools(transcript.index().changing_tools.clone());
        let asked: Vec<bool> = spans.iter().map(asked).collect();
        let found = parallel::map(spans.iter().zip(asked).collect(), |(span, asked)| {
            asked.then(|| Found::of(&span.content))
        });
        let read = spans.into_iter().zip(found).map(|(decoded, found)| {
            let content = &decoded.content;
            let examination = match found {
                Some(found) => examiner.examine_found(content, found),
                None => examiner.pass(content),
            };
            ReadSpan { decoded, examination: Arc::new(examination) }
        });
        Reading { transcript, spans: read.collect() }
    }

    /// What the agent would send now.
    pub fn context_tokens(&self) -> Tokens {
        self.spans.iter().map(|span| span.tokens).sum()
    }

    /// The vendor's tokens for one of ours: the reported context of the last request against our count up to it.
    pub fn estimate(&self) -> Option<Estimate> {
        let usage = &self.transcript.index().usage;
        let last = usage.last().filter(|last| last.context_tokens > 0)?;
        // A report from before a compaction counts what is no longer sent.
        let mut behind = self.transcript.index().records.iter().skip(usize::try_from(last.record).ok()?);
        if behind.any(|record| record.kind == RecordKind::Boundary) {
            return None;
        }
        let before: Tokens = self
            .spans
            .iter()
            .filter(|span| span.content.span.record <= last.record)
            .map(|span| span.tokens)
            .sum();
        #[expect(clippy::cast_precision_loss, reason = "a ratio of token counts needs no more precision")]
        let factor = last.context_tokens as f64 / before.0.max(1) as f64;
        // Another order of magnitude means that context and report are of different things.
        (0.2..=5.0).contains(&factor).then_some(Estimate { factor, requests: usage.len() })
    }

    /// The span at `index`.
    pub fn span(&self, index: SpanIndex) -> Option<&DecodedSpan<'a>> {
        self.spans.get(usize::try_from(index.0).ok()?)
    }
}

/// All spans of a transcript, read in order.
#[derive(Debug)]
pub struct Reading<'a> {
    /// The transcript.
    pub transcript: &'a Transcript,
    /// One for each span, in order.
    pub spans: Vec<ReadSpan<'a>>,
}

impl<'a> Reading<'a> {
    /// Decodes, counts and examines every span of `transcript`.
    ///
    /// # Errors
    /// `Unavailable` when the bytes cannot be read.
    pub fn of(transcript: &'a Transcript) -> Result<Self> {
        Ok(Decoded::of(transcript)?.examined())
    }

    /// As [`Reading::of`], for readers who ask what was said and not what it costs: every count is zero.
    ///
    /// # Errors
    /// `Unavailable` when the bytes cannot be read.
    pub fn uncounted(transcript: &'a Transcript) -> Result<Self> {
        Ok(Decoded::uncounted(transcript)?.examined())
    }

    /// What the agent would send now.
    pub fn context_tokens(&self) -> Tokens {
        self.spans.iter().map(|span| span.tokens).sum()
    }

    /// What the agent would send of `source`, read as `index`; nothing else of it is decoded.
    ///
    /// # Errors
    /// `Unavailable` when the bytes cannot be read.
    pub fn context_of(source: &dyn Bytes, index: &SourceIndex) -> Result<Tokens> {
        let sent = index.blocks().filter(|(_, block)| block.visibility == Visibility::Context);
        sent.map(|(_, block)| {
            Ok(tokens::of_block(block, &block_text(source, block)?, &arguments_text(source, block)?))
        })
        .sum()
    }

    /// The hash over the bytes of a span.
    ///
    /// # Errors
    /// `Unavailable` when the bytes cannot be read.
    pub fn hash(&self, span: &Span) -> Result<SpanHash> {
        let parts = span
            .ranges
            .as_slice()
            .iter()
            .map(|&range| self.transcript.source().read(range))
            .collect::<Result<Vec<_>>>()?;
        Ok(span_hash(parts.iter().map(AsRef::as_ref)))
    }

    /// The read span at `index`.
    pub fn span(&self, index: SpanIndex) -> Option<&ReadSpan<'a>> {
        self.spans.get(usize::try_from(index.0).ok()?)
    }
}

/// A conversation that is read against every table.
const SAMPLE: &str = r#"[{"role":"user","content":"You must never push 3 files to src/a.rs; was it done?"},
{"role":"assistant","content":"I did not write it.","tool_calls":[{"id":"1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]},
{"role":"tool","tool_call_id":"1","content":"error: no such file"}]"#;

/// Has the tables that the first examination of a process waits for made in another thread, for a program that has a
/// session to read first. Not for a library: a process that is forked meanwhile waits for them in vain.
pub fn prepare() {
    let work = || {
        let sample = Transcript::from_bytes("sample", SAMPLE.into(), Some("openai-chat"));
        drop(sample.and_then(|sample| Reading::of(&sample).map(drop)));
    };
    // Without a thread they are made when they are needed.
    drop(std::thread::Builder::new().name("tables".to_owned()).spawn(work));
}

/// Every span of `transcript` decoded, in order, without what follows it and without being examined.
///
/// # Errors
/// `Unavailable` when the bytes cannot be read.
pub fn contents(transcript: &Transcript) -> Result<Vec<SpanContent<'_>>> {
    Ok(decode_all(transcript, Counting::Off)?.into_iter().map(|(content, _)| content).collect())
}

fn decode_all(transcript: &Transcript, counting: Counting) -> Result<Vec<(SpanContent<'_>, Tokens)>> {
    let spans = transcript.spans().spans.iter().collect();
    parallel::map(spans, |span| decode(transcript, span, counting)).into_iter().collect()
}

/// For each span of prose, the calls of the same turn that follow it, up to the next prose.
fn nexts(spans: &[(SpanContent<'_>, Tokens)]) -> Vec<Next> {
    let mut next = vec![Next::Other; spans.len()];
    let mut run = CallRun::default();
    for ((content, _), slot) in spans.iter().zip(next.iter_mut()).rev() {
        let speaker = content.blocks.first().map(|block| block.block.speaker);
        match content.span.kind {
            SpanKind::Call => run.push(call_text(&content.blocks)),
            SpanKind::Meta => {}
            SpanKind::Thinking => *slot = run.ahead(),
            SpanKind::Utterance if speaker == Some(Speaker::Assistant) => *slot = run.ahead(),
            SpanKind::Utterance
            | SpanKind::OrphanResult
            | SpanKind::Attachment
            | SpanKind::Derived
            | SpanKind::Opaque => run = CallRun::default(),
        }
    }
    next
}

/// Calls without prose between them, met from the last to the first.
#[derive(Debug, Default)]
struct CallRun {
    texts: Vec<String>,
    /// What prose before the run sees, once there is some.
    seen: Option<Next>,
}

impl CallRun {
    fn push(&mut self, text: String) {
        // Behind prose another run begins.
        if self.seen.take().is_some() {
            self.texts.clear();
        }
        self.texts.push(text);
    }

    fn ahead(&mut self) -> Next {
        if self.texts.is_empty() {
            return Next::Other;
        }
        let joined = || Next::Call(join_calls(self.texts.iter().rev().map(String::as_str)).into());
        self.seen.get_or_insert_with(joined).clone()
    }
}

fn decode<'a>(
    transcript: &'a Transcript,
    span: &'a Span,
    counting: Counting,
) -> Result<(SpanContent<'a>, Tokens)> {
    let mut blocks = Vec::with_capacity(span.blocks.len());
    let mut tokens = Tokens(0);
    for &at in &span.blocks {
        let Some((record, block)) = transcript.index().record(at).zip(transcript.index().block(at)) else {
            continue;
        };
        let copy = block.copy_of.is_some();
        if copy && block.visibility != Visibility::Context {
            continue;
        }
        let text = block_text(transcript.source(), block)?;
        if counting == Counting::On {
            tokens += tokens::of_block(block, &text, &arguments_text(transcript.source(), block)?);
        }
        if !copy {
            let arguments = match &block.kind {
                BlockKind::Call(call) => {
                    Some(strongroom_formats::arguments(transcript.source(), call.arguments)?)
                }
                _ => None,
            };
            blocks.push(BlockContent { at, record, block, text, arguments });
        }
    }
    Ok((SpanContent { span, blocks, next: Next::Other }, tokens))
}

/// The decoded text of a block.
///
/// # Errors
/// `Unavailable` when the bytes cannot be read.
pub fn block_text(source: &dyn Bytes, block: &Block) -> Result<String> {
    text_of(source, &block.text)
}

/// The parts of a text, decoded and joined by line feeds.
///
/// # Errors
/// As [`Bytes::read`].
pub fn text_of(source: &dyn Bytes, parts: &[TextRange]) -> Result<String> {
    let mut text = String::new();
    for (range, at) in parts.iter().zip(0usize..) {
        if at > 0 {
            text.push('\n');
        }
        text.push_str(&strongroom_formats::text(source, *range)?);
    }
    Ok(text)
}

fn arguments_text(source: &dyn Bytes, block: &Block) -> Result<String> {
    let BlockKind::Call(call) = &block.kind else { return Ok(String::new()) };
    let text = call.arguments.text().map(|text| strongroom_formats::text(source, text));
    Ok(text.transpose()?.unwrap_or_default())
}

/// The key that a span has when its secrets are replaced.
pub fn masked_key(span: &ReadSpan<'_>, replacement: &dyn Fn(&Secret) -> String) -> ContentKey {
    let mut content = span.content.clone();
    let mut secrets: Vec<&Secret> = span.examination.secrets.iter().collect();
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.range.start));
    for secret in secrets {
        let Some(block) = content.blocks.iter_mut().find(|block| block.at == secret.at) else { continue };
        let text = match &secret.argument {
            None => Some(&mut block.text),
            Some(pointer) => {
                let leaves = block.arguments.iter_mut().flat_map(|tree| &mut tree.leaves);
                leaves.filter(|leaf| leaf.pointer == *pointer).find_map(|leaf| match &mut leaf.value {
                    Scalar::String(text) => Some(text),
                    Scalar::Null | Scalar::Bool(_) | Scalar::Number(_) => None,
                })
            }
        };
        if let Some(text) = text.filter(|text| text.get(secret.range.clone()).is_some()) {
            text.replace_range(secret.range.clone(), &replacement(secret));
        }
    }
    content_key(&content)
}

/// What a span says beside its side data, which agents drop when they rewrite a session.
pub fn bare_key(content: &SpanContent<'_>) -> ContentKey {
    let mut bare = content.clone();
    bare.blocks.retain(|block| !matches!(block.block.kind, BlockKind::SideData { .. }));
    content_key(&bare)
}

/// Hashes what a span says: speakers, kinds, ids, texts and arguments, whatever JSON spelling they have.
fn content_key(content: &SpanContent<'_>) -> ContentKey {
    let mut hasher = Hasher::new("strongroom/content/1");
    for block in &content.blocks {
        hasher.part(block.block.speaker.word().as_bytes());
        match &block.block.kind {
            BlockKind::Call(call) => {
                hasher.part(b"call");
                hasher.part(call.id.as_deref().unwrap_or_default().as_bytes());
                hasher.part(call.tool.as_bytes());
            }
            BlockKind::Result(facts) => {
                hasher.part(b"result");
                hasher.part(facts.call_id.as_deref().unwrap_or_default().as_bytes());
            }
            // Side data is not sent, and agents drop it when they rewrite a session.
            BlockKind::SideData { .. } => continue,
            BlockKind::Text
            | BlockKind::Paste
            | BlockKind::Thinking
            | BlockKind::Attachment { .. }
            | BlockKind::Summary
            | BlockKind::Opaque(_) => hasher.part(b"text"),
        }
        hasher.part(block.text.as_bytes());
        let mut leaves: Vec<_> = block.arguments.iter().flat_map(|tree| &tree.leaves).collect();
        leaves.sort_by(|one, two| one.pointer.cmp(&two.pointer));
        for leaf in leaves {
            hasher.part(leaf.pointer.as_bytes());
            match &leaf.value {
                Scalar::Null => hasher.part(b"null"),
                Scalar::Bool(value) => hasher.part(if *value { b"true" } else { b"false" }),
                Scalar::Number(text) | Scalar::String(text) => hasher.part(text.as_bytes()),
            }
        }
    }
    if content.blocks.is_empty() {
        hasher.part(b"no blocks");
        hasher.part(&content.span.index.0.to_be_bytes());
    }
    ContentKey::new(hasher.finish())
}
