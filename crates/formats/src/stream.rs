//! Messages that come in pieces, one on a line: the lines of one message become one record.

use std::collections::BTreeMap;

use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, CallFacts, Encoding, Record, RecordKind, Speaker, TextRange, Visibility,
};

use crate::lines::Parts;

/// What a piece is a piece of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Whole {
    /// What somebody says.
    Said(Speaker),
    /// What the model thinks.
    Thought,
    /// The arguments of a call of this tool.
    Call(String),
}

/// What a line does to the message that is being told.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// It belongs to the message of this name; one that does not begin it may leave open what it is.
    Piece {
        /// The message or call.
        name: String,
        /// What it is, where the line says so.
        whole: Option<Whole>,
        /// Whether it may have text.
        holds: Holds,
    },
    /// It says nothing, and may stand between pieces.
    Silent,
}

/// Whether a line has a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// It has one.
    Text,
    /// It begins or ends a message.
    Nothing,
}

/// The lines of a message that stand together.
struct Run {
    first: usize,
    last: usize,
    name: String,
    whole: Option<Whole>,
    holds: Holds,
}

/// Joins the lines of each message that stand together, by what the line of each record does; a line without a step
/// stands alone. The pieces stand at `path`. Returns where each record of a line went.
pub(crate) fn join(
    parts: &mut Parts,
    steps: &BTreeMap<u32, Step>,
    path: &'static [&'static str],
) -> BTreeMap<usize, usize> {
    let runs = runs(parts.records.len(), steps);
    let mut known: BTreeMap<String, Whole> = BTreeMap::new();
    let mut places = BTreeMap::new();
    let mut records: Vec<Record> = Vec::new();
    let mut old = std::mem::take(&mut parts.records).into_iter().enumerate();
    let mut runs = runs.into_iter().peekable();
    while let Some((at, mut record)) = old.next() {
        places.insert(at, records.len());
        if let Some(run) = runs.next_if(|run| run.first == at) {
            for (inside, last) in old.by_ref().take(run.last - run.first) {
                places.insert(inside, records.len());
                record.range = ByteRange::new(record.range.start(), last.range.end());
            }
            if let Some(whole) = &run.whole {
                known.insert(run.name.clone(), whole.clone());
            }
            let whole = run.whole.clone().or_else(|| known.get(&run.name).cloned());
            fill(&mut record, run, whole, path);
        }
        records.push(record);
    }
    let within = |range: ByteRange| {
        let at = records.partition_point(|record| record.range.end() <= range.start());
        records.get(at).is_some_and(|record| record.range.contains(range))
    };
    parts.framing.retain(|framing| !within(framing.range));
    parts.records = records;
    places
}

fn runs(records: usize, steps: &BTreeMap<u32, Step>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut open = false;
    for at in 0..records {
        let step = u32::try_from(at).ok().and_then(|at| steps.get(&at));
        match (step, runs.last_mut()) {
            (Some(Step::Piece { name, whole, holds }), Some(run)) if open && run.name == *name => {
                run.last = at;
                run.whole = run.whole.take().or_else(|| whole.clone());
                if *holds == Holds::Text {
                    run.holds = Holds::Text;
                }
            }
            (Some(Step::Piece { name, whole, holds }), _) => {
                let (name, whole) = (name.clone(), whole.clone());
                runs.push(Run { first: at, last: at, name, whole, holds: *holds });
                open = true;
            }
            (Some(Step::Silent), _) => {}
            (None, _) => open = false,
        }
    }
    runs
}

/// Makes the block of a message.
fn fill(record: &mut Record, run: Run, whole: Option<Whole>, path: &'static [&'static str]) {
    let Run { name, holds, first: _, last: _, whole: begins } = run;
    let text = TextRange { range: record.range, encoding: Encoding::Pieces(path) };
    let (kind, speaker) = match whole {
        Some(Whole::Said(speaker)) => (BlockKind::Text, speaker),
        Some(Whole::Thought) => (BlockKind::Thinking, Speaker::Assistant),
        Some(Whole::Call(tool)) if begins.is_some() => {
            let arguments = match holds {
                Holds::Text => Arguments::Pieces(record.range, path),
                Holds::Nothing => Arguments::Missing,
            };
            let facts = CallFacts { id: Some(name.clone()), tool, arguments };
            (BlockKind::Call(facts), Speaker::Assistant)
        }
        Some(Whole::Call(_)) | None => {
            let why = "a part of a message whose beginning stands elsewhere";
            (BlockKind::Opaque(why.to_owned()), Speaker::Unknown)
        }
    };
    record.message_id = Some(name);
    let is_call = matches!(kind, BlockKind::Call(_));
    record.kind = RecordKind::Meta;
    if is_call || holds == Holds::Text {
        record.kind = RecordKind::Message;
        record.blocks.push(Block {
            kind,
            range: record.range,
            pointer: String::new(),
            speaker,
            visibility: Visibility::Context,
            copy_of: None,
            text: if is_call { Vec::new() } else { vec![text] },
        });
    }
}
