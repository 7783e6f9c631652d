//! What is told again: a conversation grows from span to span, and each span repeats it from the beginning.
//!
//! A span goes on with an earlier one when its input begins with all that the earlier one had as input and output; of
//! one whose output was not recorded, when it begins with the input and has more.
//! Those messages are renditions of the earlier ones; the rest of its input is new. A span that goes on with none begins
//! a conversation, though it may say the same words. Calls and results are known by their ids besides; a run that names
//! no id is that of the first call of its trace with the same tool and arguments that no run stands for yet.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};
use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{
    Block, BlockKind, BlockRef, Bytes, CallFacts, Record, RecordKind, Scalar, Speaker, Visibility,
};

/// A hash of what a message says.
type Print = [u8; 32];

/// What a span tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// What the model was given.
    Input,
    /// What it gave back.
    Output,
    /// A call that was run, and what it returned.
    Run,
    /// What an agent above was given and gave back: the spans below tell it, too.
    Above,
}

/// A message of a span: a number of its blocks.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) told: Told,
    /// What it says, spelled in one way.
    pub(super) says: String,
    /// Whether it belongs to the instructions, which do not grow.
    pub(super) instructs: bool,
    /// The first of its blocks, and how many there are.
    pub(super) from: usize,
    pub(super) blocks: usize,
}

impl Message {
    fn holds(&self, block: usize) -> bool {
        (self.from..self.from + self.blocks).contains(&block)
    }
}

/// The messages of a span, what the model gave back last.
#[derive(Debug)]
pub(super) struct Exchange {
    /// Where the record begins, and where a block may stand that tells what it lacks.
    pub(super) at: u64,
    pub(super) lack: Option<ByteRange>,
    pub(super) span: Option<String>,
    pub(super) trace: Option<String>,
    pub(super) conversation: Option<String>,
    pub(super) messages: Vec<Message>,
}

/// All that was told.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) exchanges: Vec<Exchange>,
}

impl History {
    /// Marks in `records`, which hold the exchanges, what is told again.
    ///
    /// # Errors
    /// As [`Bytes::read`].
    pub(super) fn mark(&self, source: &dyn Bytes, records: &mut [Record]) -> Result<()> {
        let mut traces: BTreeMap<&str, &str> = BTreeMap::new();
        for exchange in &self.exchanges {
            if let (Some(trace), Some(conversation)) = (&exchange.trace, &exchange.conversation) {
                traces.entry(trace).or_insert(conversation);
            }
        }
        let places: BTreeMap<u64, usize> =
            records.iter().enumerate().map(|(at, record)| (record.range.start(), at)).collect();
        self.name_runs(source, records, &places)?;
        let mut known = Known::default();
        for exchange in &self.exchanges {
            let Some(at) = places.get(&exchange.at).copied() else { continue };
            let by_trace = || exchange.trace.as_deref().and_then(|trace| traces.get(trace).copied());
            let scope = exchange.conversation.as_deref().or_else(by_trace).unwrap_or_default();
            let copies = known.exchange(exchange, scope, Read { source, records }, at)?;
            let earlier =
                goes_on(exchange, &copies).and_then(|original| records.get(original)?.session.clone());
            let Some(record) = records.get_mut(at) else { continue };
            record.session = earlier.or_else(|| record.session.take());
            for (block, original) in copies {
                if let Some(block) = record.blocks.get_mut(block) {
                    block.copy_of = Some(original);
                    block.visibility = Visibility::Aside;
                }
            }
        }
        for (at, place) in known.open.into_values().flatten() {
            records.get_mut(at).into_iter().for_each(|record| lacks_an_answer(record, place));
        }
        Ok(())
    }
}

impl History {
    /// Gives runs that name no call the id of the call they stand for, or one of their own.
    fn name_runs(
        &self,
        source: &dyn Bytes,
        records: &mut [Record],
        places: &BTreeMap<u64, usize>,
    ) -> Result<()> {
        let mut told: Vec<(Act<'_>, String)> = Vec::new();
        let mut taken: BTreeSet<(&str, String)> = BTreeSet::new();
        let mut unnamed: Vec<(usize, Act<'_>, String)> = Vec::new();
        for exchange in &self.exchanges {
            let Some(at) = places.get(&exchange.at).copied() else { continue };
            let trace = exchange.trace.as_deref().unwrap_or_default();
            for (n, block) in records.get(at).into_iter().flat_map(|record| &record.blocks).enumerate() {
                let BlockKind::Call(call) = &block.kind else { continue };
                let act = || -> Result<Act<'_>> { Ok((trace, call.tool.clone(), given(source, call)?)) };
                let is_run = told_by(exchange, n) == Told::Run;
                match &call.id {
                    Some(id) if is_run => drop(taken.insert((trace, id.clone()))),
                    Some(id) => told.push((act()?, id.clone())),
                    None if is_run => {
                        unnamed.push((at, act()?, exchange.span.clone().unwrap_or_default()));
                    }
                    None => {}
                }
            }
        }
        for (at, act, span) in unnamed {
            let free = |(own, id): &&(Act<'_>, String)| *own == act && !taken.contains(&(act.0, id.clone()));
            let id = told.iter().find(free).map_or_else(|| format!("span {span}"), |(_, id)| id.clone());
            taken.insert((act.0, id.clone()));
            for block in records.get_mut(at).into_iter().flat_map(|record| &mut record.blocks) {
                match &mut block.kind {
                    BlockKind::Call(call) => call.id = Some(id.clone()),
                    BlockKind::Result(result) => result.call_id = Some(id.clone()),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// A call by its trace, tool and arguments.
type Act<'e> = (&'e str, String, Vec<(String, Scalar)>);

fn given(source: &dyn Bytes, call: &CallFacts) -> Result<Vec<(String, Scalar)>> {
    let tree = crate::content::arguments(source, call.arguments)?;
    let mut leaves: Vec<_> = tree.leaves.into_iter().map(|leaf| (leaf.pointer, leaf.value)).collect();
    leaves.sort_by(|one, two| one.0.cmp(&two.0));
    Ok(leaves)
}

/// Adds to a span what nothing tells: the answer of the model.
fn lacks_an_answer(record: &mut Record, place: ByteRange) {
    let why = "what the model gave back was not recorded";
    let block = Block {
        kind: BlockKind::Opaque(why.to_owned()),
        range: place,
        pointer: "/name".to_owned(),
        speaker: Speaker::Unknown,
        visibility: Visibility::Aside,
        copy_of: None,
        text: Vec::new(),
    };
    // Behind the others: blocks are named by their number.
    record.blocks.push(block);
    record.kind = RecordKind::Message;
}

/// The record of the conversation that a span goes on with, where the span does not name its conversation.
fn goes_on(exchange: &Exchange, copies: &Copies) -> Option<usize> {
    let told_again = |block: usize| {
        let own = exchange.messages.iter().find(|message| message.holds(block));
        own.is_some_and(|message| !message.instructs)
    };
    let known = copies.iter().find(|(block, _)| exchange.conversation.is_none() && told_again(*block))?;
    usize::try_from(known.1.record).ok()
}

/// Records without an answer, by how far their conversation had come, and where that may be said.
type Open = BTreeMap<Print, Vec<(usize, ByteRange)>>;

/// A block of the record at hand, and the earlier one that it is a rendition of.
type Copies = Vec<(usize, BlockRef)>;

/// What was read.
#[derive(Clone, Copy)]
struct Read<'a> {
    source: &'a dyn Bytes,
    records: &'a [Record],
}

impl Read<'_> {
    /// The text of a block.
    fn says(self, at: BlockRef) -> Result<String> {
        let record = usize::try_from(at.record).ok().and_then(|at| self.records.get(at));
        let block = record.and_then(|record| record.blocks.get(usize::try_from(at.block).ok()?));
        let mut text = String::new();
        for part in block.into_iter().flat_map(|block| &block.text) {
            text.push_str(&crate::content::text(self.source, *part)?);
        }
        Ok(text)
    }
}

/// What the spans so far have told.
#[derive(Default)]
struct Known {
    /// Messages by what was said up to them.
    chains: BTreeMap<Print, Vec<BlockRef>>,
    /// Up to where earlier spans had come, and whether their outputs were recorded.
    ends: BTreeMap<Print, bool>,
    /// Spans whose outputs nobody has told yet, by how far they had come.
    open: Open,
    /// Messages by what they say, in a trace.
    said: BTreeMap<Print, Vec<BlockRef>>,
    /// Spans that were exported.
    spans: BTreeMap<String, Vec<BlockRef>>,
    /// Calls by scope and id: the first rendition, and whether a model's output and a run have told it.
    calls: BTreeMap<(String, String), (BlockRef, bool, bool)>,
    /// Results by scope and id.
    results: BTreeMap<(String, String), BlockRef>,
}

impl Known {
    fn exchange(&mut self, exchange: &Exchange, scope: &str, read: Read<'_>, at: usize) -> Result<Copies> {
        let Some(record) = read.records.get(at) else { return Ok(Vec::new()) };
        let own = |block: usize| BlockRef { record: narrow(at), block: narrow(block) };
        if let Some(first) = exchange.span.as_ref().and_then(|span| self.spans.get(span))
            && first.len() == record.blocks.len()
        {
            return Ok(first.iter().copied().enumerate().collect());
        }
        let mut copies: BTreeMap<usize, BlockRef> = self.told_again(exchange, scope, &own);
        self.note_answers(exchange, scope, at);
        for (block, part) in record.blocks.iter().enumerate() {
            if copies.contains_key(&block) {
                continue;
            }
            let told = told_by(exchange, block);
            let original = match &part.kind {
                BlockKind::Call(call) => {
                    call.id.as_ref().and_then(|id| self.call(scope, id, told, own(block)))
                }
                BlockKind::Result(result) => match &result.call_id {
                    Some(id) => self.result((scope, id), own(block), read)?,
                    None => None,
                },
                _ => None,
            };
            copies.extend(original.map(|original| (block, original)));
        }
        self.note(exchange, scope, &own, &copies);
        let refs = (0..record.blocks.len()).map(|block| copies.get(&block).copied().unwrap_or(own(block)));
        if let Some(span) = &exchange.span {
            self.spans.insert(span.clone(), refs.collect());
        }
        Ok(copies.into_iter().collect())
    }

    /// The renditions among the messages of an exchange.
    fn told_again(
        &self,
        exchange: &Exchange,
        scope: &str,
        own: &dyn Fn(usize) -> BlockRef,
    ) -> BTreeMap<usize, BlockRef> {
        let mut copies = BTreeMap::new();
        let mut copy = |from: usize, originals: Option<&Vec<BlockRef>>| {
            for (block, original) in originals.into_iter().flatten().enumerate() {
                if *original != own(from + block) {
                    copies.insert(from + block, *original);
                }
            }
        };
        let mut grown: Vec<(usize, Print)> = Vec::new();
        let mut chain = begin(scope);
        let trace = exchange.trace.as_deref().unwrap_or_default();
        for message in &exchange.messages {
            let from = message.from;
            match message.told {
                Told::Above => copy(from, self.said.get(&print(&begin(trace), &message.says))),
                Told::Input if message.instructs => {
                    copy(from, self.said.get(&print(&begin(scope), &message.says)));
                }
                Told::Input => {
                    chain = print(&chain, &message.says);
                    grown.push((from, chain));
                }
                Told::Output | Told::Run => {}
            }
        }
        let more = |at: usize| at + 1 < grown.len();
        let ended =
            |at: usize, chain: &Print| self.ends.get(chain).is_some_and(|answered| *answered || more(at));
        let end =
            (0..grown.len()).rev().find(|at| grown.get(*at).is_some_and(|(_, chain)| ended(*at, chain)));
        let end = end.map_or(0, |at| at + 1);
        for (from, chain) in grown.iter().take(end) {
            copy(*from, self.chains.get(chain));
        }
        copies
    }

    /// Notes whether the answer of a span is known, and what answers of earlier ones its input tells.
    fn note_answers(&mut self, exchange: &Exchange, scope: &str, at: usize) {
        let mut chain = begin(scope);
        for message in exchange.messages.iter().filter(|message| !message.instructs) {
            match message.told {
                Told::Input => {
                    let answers =
                        message.says.starts_with("assistant\n") || message.says.starts_with("model\n");
                    if answers && chain != begin(scope) {
                        self.open.remove(&chain);
                    }
                    chain = print(&chain, &message.says);
                }
                Told::Output => return,
                Told::Run | Told::Above => {}
            }
        }
        if let Some(place) = exchange.lack {
            self.open.entry(chain).or_default().push((at, place));
        }
    }

    /// Notes what an exchange has told.
    fn note(
        &mut self,
        exchange: &Exchange,
        scope: &str,
        own: &dyn Fn(usize) -> BlockRef,
        copies: &BTreeMap<usize, BlockRef>,
    ) {
        let mut chain = begin(scope);
        let trace = exchange.trace.as_deref().unwrap_or_default();
        let mut answered = false;
        for message in &exchange.messages {
            let blocks = message.from..message.from + message.blocks;
            let refs: Vec<BlockRef> =
                blocks.map(|block| copies.get(&block).copied().unwrap_or_else(|| own(block))).collect();
            if message.told != Told::Run {
                self.said.entry(print(&begin(trace), &message.says)).or_insert_with(|| refs.clone());
            }
            if message.instructs {
                self.said.entry(print(&begin(scope), &message.says)).or_insert(refs);
            } else if matches!(message.told, Told::Input | Told::Output) {
                chain = print(&chain, &message.says);
                answered |= message.told == Told::Output;
                self.chains.insert(chain, refs);
            }
        }
        if exchange.messages.iter().any(|message| matches!(message.told, Told::Input | Told::Output)) {
            *self.ends.entry(chain).or_default() |= answered;
        }
    }

    /// The earlier rendition of a call: a model gives each out once, it is run once, and told again as input.
    fn call(&mut self, scope: &str, id: &str, told: Told, own: BlockRef) -> Option<BlockRef> {
        let key = (scope.to_owned(), id.to_owned());
        if let Some((first, given, run)) = self.calls.get_mut(&key) {
            let again = match told {
                Told::Output => *given,
                Told::Run => *run,
                Told::Input | Told::Above => false,
            };
            if !again {
                *given |= told == Told::Output;
                *run |= told == Told::Run;
                return Some(*first);
            }
        }
        self.results.remove(&key);
        self.calls.insert(key, (own, told == Told::Output, told == Told::Run));
        None
    }

    /// The earlier rendition of a result, where it says the same.
    fn result(
        &mut self,
        (scope, id): (&str, &str),
        own: BlockRef,
        read: Read<'_>,
    ) -> Result<Option<BlockRef>> {
        let key = (scope.to_owned(), id.to_owned());
        let Some(first) = self.results.get(&key).copied() else {
            self.results.insert(key, own);
            return Ok(None);
        };
        Ok((read.says(first)? == read.says(own)?).then_some(first))
    }
}

/// What the message tells to which a block belongs.
fn told_by(exchange: &Exchange, block: usize) -> Told {
    exchange.messages.iter().find(|message| message.holds(block)).map_or(Told::Above, |message| message.told)
}

fn begin(scope: &str) -> Print {
    Sha256::digest(scope.as_bytes()).into()
}

fn print(before: &Print, says: &str) -> Print {
    Sha256::new().chain_update(before).chain_update(says.as_bytes()).finalize().into()
}

fn narrow(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
