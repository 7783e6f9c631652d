//! Searching: every place in the archive where exactly these bytes stand, or that there is none.
//!
//! ```text
//! states of sources --units, texts--> blocks --> segments beside the archive, or in memory
//! needle --segments--> candidate blocks --original bytes, by hash--> hits, secrets hidden
//! ```
//!
//! What is searched is what questions read: decoded texts, and the arguments of calls. An index tells which texts need
//! not be read; what is found was read from the originals.

mod make;
mod note;
mod read;
mod shelf;
mod snippet;
mod state;
mod unit;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use memchr::memmem;
use strongroom_archive::Archive;
use strongroom_archive::journal::Checkpoint;
use strongroom_core::digest::Digest;
use strongroom_core::error::{Error, Result};
use strongroom_core::time::Timestamp;
use strongroom_core::transcript::Speaker;
use strongroom_search::Blocks;

use note::StateKey;
pub use note::{Hole, HoleKind};
use read::{BlockId, BlockTexts, Library, Opened};
pub use shelf::{Indexed, bring_up_to_date};
use shelf::{Listed, Shelf, listed, made, placed, shelves};
pub use snippet::Snippet;
use snippet::{Match, matches_of};
pub use unit::Part;
use unit::{Text, Unit};

use crate::custody::name_of;

/// How many hits are found where nobody says how many.
pub const HITS_USUAL: usize = 20;

/// What is looked for, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The text, byte for byte.
    pub text: String,
    /// Only sources of these names, below these directories, or of these sessions; all where none is named.
    pub sources: Vec<String>,
    /// The most hits.
    pub limit: usize,
}

/// A text that holds what is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The source, by name.
    pub source: String,
    /// The session it belongs to, where it names one.
    pub session: Option<String>,
    /// The number of the state of the source, and whether a later one took its place.
    pub state: (u32, bool),
    /// `L12`, a JSON pointer, or nothing of a side file.
    pub locator: String,
    /// Who speaks, by the envelope.
    pub speaker: Speaker,
    /// The child agent; `None` is the main one.
    pub agent: Option<String>,
    /// What the text is.
    pub part: Part,
    /// The tool that is called.
    pub tool: Option<String>,
    /// The JSON pointer of the argument, inside the arguments of a call.
    pub argument: Option<String>,
    /// When it was written, as recorded.
    pub time: Option<Timestamp>,
    /// The bytes of the source that spell the text: the first, and the one behind the last.
    pub bytes: Option<(u64, u64)>,
    /// The first match with what stands around it, secrets hidden.
    pub snippet: Snippet,
    /// How often it stands in this text.
    pub matches: usize,
}

/// What a search is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It was found.
    Found,
    /// Everything was searched and it is nowhere.
    Absent,
    /// It was not found, and not everything could be searched.
    Insufficient,
}

impl Verdict {
    /// The word in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Absent => "absent",
            Self::Insufficient => "insufficient",
        }
    }
}

/// A source that was searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Searched {
    /// Its name.
    pub source: String,
    /// The number of its state.
    pub state: u32,
    /// The root hash over its pieces.
    pub root: Digest,
    /// Its bytes.
    pub bytes: u64,
    /// Its records.
    pub records: u64,
    /// Its texts.
    pub texts: u64,
    /// What of it could not be searched.
    pub holes: Vec<Hole>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The texts, by source and place; as many as were asked for.
    pub hits: Vec<Hit>,
    /// Whether there may be more.
    pub more: bool,
    /// What it is worth.
    pub verdict: Verdict,
    /// The journal when it was searched: it names the states that were.
    pub checkpoint: Checkpoint,
    /// How many blocks of text had to be read, or were at hand.
    pub blocks: usize,
    /// How many states of sources were searched.
    pub states: usize,
    /// How many records they have.
    pub records: u64,
    /// How many texts stand in them.
    pub texts: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// What could not be searched, by source.
    pub holes: Vec<SourceHoles>,
}

/// What of a source could not be searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceHoles {
    /// Its name.
    pub source: Arc<str>,
    /// What could not be.
    pub holes: Arc<[Hole]>,
}

/// The place of a state in the index, and what is known of it.
#[derive(Debug)]
struct Place {
    listed: Listed,
    info: note::Info,
    texts: u64,
    holes: SourceHoles,
}

/// Searches an archive; it holds the index in memory.
#[derive(Debug)]
pub struct Searcher<'a> {
    archive: &'a Archive,
    checkpoint: Checkpoint,
    places: Vec<Place>,
    by_key: BTreeMap<StateKey, usize>,
    shelves: Vec<Shelf>,
    /// The states that are read on each shelf, and the blocks they stand in.
    own: Vec<(BTreeSet<StateKey>, Blocks)>,
    library: Library<'a>,
}

impl<'a> Searcher<'a> {
    /// Reads the index beside `archive`, and indexes what it lacks.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn open(archive: &'a Archive) -> Result<Self> {
        let checkpoint = archive.checkpoint()?;
        let all = listed(archive)?;
        let keys: BTreeSet<StateKey> = all.iter().map(Listed::key).collect();
        let mut shelves = shelves(archive)?;
        let known: BTreeSet<StateKey> = placed(&shelves, &keys).into_iter().flatten().collect();
        shelves.extend(made(archive, all.iter().filter(|listed| !known.contains(&listed.key())))?);
        let own: Vec<(BTreeSet<StateKey>, Blocks)> = shelves
            .iter()
            .zip(placed(&shelves, &keys))
            .map(|(shelf, keys)| {
                let blocks = shelf.blocks_of(&keys);
                (keys, blocks)
            })
            .collect();
        let mut infos = BTreeMap::new();
        for (shelf, (keys, _)) in shelves.iter().zip(&own) {
            infos.extend(keys.iter().filter_map(|key| Some((*key, shelf.infos.get(key)?.clone()))));
        }
        let place = |listed: Listed| {
            let (mut info, texts) = infos.remove(&listed.key()).unwrap_or_default();
            let source = listed.meta.name.as_str().into();
            let holes = SourceHoles { source, holes: std::mem::take(&mut info.holes).into() };
            Place { listed, info, texts, holes }
        };
        let places: Vec<Place> = all.into_iter().map(place).collect();
        let by_key = places.iter().enumerate().map(|(at, place)| (place.listed.key(), at)).collect();
        let library = Library::new(archive, places.len());
        Ok(Self { archive, checkpoint, places, by_key, shelves, own, library })
    }

    /// Whether the archive is as it was when this was opened; otherwise it must be opened again.
    ///
    /// # Errors
    /// `Unavailable` when the archive cannot be read.
    pub fn is_current(&self) -> Result<bool> {
        Ok(self.archive.acts()? == self.checkpoint.size)
    }

    /// How many bytes the index has in memory.
    pub fn index_bytes(&self) -> usize {
        self.shelves.iter().map(|shelf| shelf.segment.encoded().len()).sum()
    }

    /// Every text in which `question` stands, up to its limit.
    ///
    /// # Errors
    /// `InvalidInput` when nothing is looked for, `NotFound` when a source is named that is not there, `Unavailable`
    /// when the archive cannot be read.
    pub fn find(&self, question: &Question) -> Result<Found> {
        if question.text.is_empty() {
            return Err(Error::invalid_input("there is no text to look for"));
        }
        let asked = self.asked(&question.sources)?;
        if !self.is_current()? {
            self.library.forget();
        }
        let finder = memmem::Finder::new(question.text.as_bytes());
        let (mut hits, mut lost, mut opened) = (Vec::new(), Vec::new(), Opened::default());
        let (mut more, mut read) = (false, 0);
        for id in self.candidates(question, &asked) {
            if hits.len() >= question.limit {
                more = true;
                break;
            }
            let Some((place, shelf)) = self.places.get(id.place).zip(self.shelves.get(id.shelf)) else {
                continue;
            };
            let block = self.library.block(id, &place.listed, shelf.segment.note(id.block), &mut opened)?;
            hits_in(place, &block, (&finder, question.limit), &mut hits);
            lost.extend(block.holes.iter().map(|hole| (id.place, hole.clone())));
            read += 1;
        }
        more |= hits.len() > question.limit;
        hits.truncate(question.limit);
        Ok(Found { hits, more, blocks: read, ..self.conclusion(&asked, lost) }.judged())
    }

    /// What was searched for a question about `sources`, source by source.
    ///
    /// # Errors
    /// `NotFound` when a source is named that is not there.
    pub fn searched(&self, sources: &[String]) -> Result<Vec<Searched>> {
        let asked = self.asked(sources)?;
        let places = self.places.iter().enumerate().filter(|(at, _)| asked.contains(at));
        let searched = places.map(|(_, place)| Searched {
            source: place.listed.meta.name.clone(),
            state: place.listed.revision.number,
            root: *place.listed.revision.id.digest(),
            bytes: place.listed.revision.len,
            records: place.info.records,
            texts: place.texts,
            holes: place.holes.holes.to_vec(),
        });
        Ok(searched.collect())
    }

    /// The places of the states that are asked about.
    fn asked(&self, names: &[String]) -> Result<BTreeSet<usize>> {
        if names.is_empty() {
            return Ok((0..self.places.len()).collect());
        }
        let mut asked = BTreeSet::new();
        for name in names {
            let own = self.places.iter().enumerate().filter(|(_, place)| place.is_named(name));
            let own: Vec<usize> = own.map(|(at, _)| at).collect();
            if own.is_empty() {
                return Err(Error::not_found(format!("no source in the archive is named {name}")));
            }
            asked.extend(own);
        }
        Ok(asked)
    }

    /// The blocks that have to be read, in the order of their states.
    fn candidates(&self, question: &Question, asked: &BTreeSet<usize>) -> Vec<BlockId> {
        let mut all = Vec::new();
        for (shelf, at) in self.shelves.iter().zip(0..) {
            let Some((keys, blocks)) = self.own.get(at) else { continue };
            for block in shelf.segment.candidates(question.text.as_bytes(), blocks).iter() {
                let states = usize::try_from(block).ok().and_then(|block| shelf.states.get(block));
                let places = states.into_iter().flatten().filter(|key| keys.contains(key));
                let places =
                    places.filter_map(|key| self.by_key.get(key)).filter(|place| asked.contains(place));
                all.extend(places.map(|&place| BlockId { place, shelf: at, block }));
            }
        }
        all.sort_unstable();
        all
    }

    /// What is known of what was searched; `lost` are originals that could not be read.
    fn conclusion(&self, asked: &BTreeSet<usize>, lost: Vec<(usize, Hole)>) -> Found {
        let places = || asked.iter().filter_map(|&at| self.places.get(at));
        let known = places().filter(|place| !place.holes.holes.is_empty()).map(|place| place.holes.clone());
        let lost = lost.into_iter().filter_map(|(at, hole)| {
            Some(SourceHoles { source: Arc::clone(&self.places.get(at)?.holes.source), holes: [hole].into() })
        });
        Found {
            hits: Vec::new(),
            more: false,
            verdict: Verdict::Insufficient,
            checkpoint: self.checkpoint,
            blocks: 0,
            states: asked.len(),
            records: places().map(|place| place.info.records).sum(),
            texts: places().map(|place| place.texts).sum(),
            bytes: places().map(|place| place.listed.revision.len).sum(),
            holes: known.chain(lost).collect(),
        }
    }
}

impl Found {
    fn judged(self) -> Self {
        let verdict = match (self.hits.is_empty(), self.holes.is_empty()) {
            (false, _) => Verdict::Found,
            (true, true) => Verdict::Absent,
            (true, false) => Verdict::Insufficient,
        };
        Self { verdict, ..self }
    }
}

impl Place {
    fn name(&self) -> &str {
        &self.listed.meta.name
    }

    /// Whether somebody means this source by `name`: its own, one of a directory above it, or that of its session.
    fn is_named(&self, name: &str) -> bool {
        let own = self.name();
        let is_below = |dir: &str| {
            own.strip_prefix(dir)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || dir.ends_with('/'))
        };
        is_below(name)
            || is_below(&name_of(Path::new(name)))
            || own.rsplit('/').next() == Some(name)
            || self.info.session.as_deref() == Some(name)
    }
}

/// The hits in a block, up to one more than the limit: one for each text that holds what is looked for; of a JSON text
/// in a string only where its values do not.
fn hits_in(
    place: &Place,
    block: &BlockTexts,
    (finder, limit): (&memmem::Finder<'_>, usize),
    hits: &mut Vec<Hit>,
) {
    for (unit, texts) in &block.units {
        let mut is_told = false;
        for text in texts {
            if hits.len() > limit {
                return;
            }
            if text.argument.is_none() && unit.part == Part::Call && is_told {
                continue;
            }
            let Some(found) = matches_of(finder, &text.text) else { continue };
            is_told = true;
            hits.push(hit(place, unit, text, found));
        }
    }
}

fn hit(place: &Place, unit: &Unit, text: &Text, found: Match) -> Hit {
    let argument = text.argument.as_ref();
    let range = argument.map(|(_, range)| *range).or_else(|| unit.raw.range());
    Hit {
        source: place.name().to_owned(),
        session: place.info.session.clone(),
        state: (place.listed.revision.number, place.listed.is_replaced),
        locator: unit.line.map_or_else(|| unit.pointer.clone(), |line| format!("L{line}")),
        speaker: unit.speaker,
        agent: unit.agent.clone().or_else(|| place.info.agent.clone()),
        part: unit.part,
        tool: unit.tool.clone(),
        argument: argument.map(|(pointer, _)| pointer.clone()),
        time: unit.time,
        bytes: range.map(|range| (range.start(), range.end())),
        snippet: found.snippet,
        matches: found.count,
    }
}
