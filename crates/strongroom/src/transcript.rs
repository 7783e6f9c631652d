//! Opening: bytes of a file, a stream or the archive become an indexed, segmented transcript, with the other
//! items of its session.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use strongroom_core::error::{Error, ErrorKind, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::span::{Segmentation, segment};
use strongroom_core::transcript::{Bytes, SideItem, SideKind, SourceIndex};
use strongroom_formats::Format;

use crate::files::{FileBytes, names_below, open_below};

/// Up to this size a file is read once and held, so that each block costs no call of the system; a longer one is read
/// by range.
const HELD_BYTES_MAX: u64 = 64 << 20;

/// An indexed and segmented source.
pub struct Transcript {
    name: String,
    path: Option<PathBuf>,
    conversation: Option<String>,
    agent: Option<String>,
    format: &'static dyn Format,
    source: Box<dyn Bytes + Send + Sync>,
    index: SourceIndex,
    spans: Segmentation,
}

impl std::fmt::Debug for Transcript {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transcript")
            .field("name", &self.name)
            .field("spans", &self.spans.spans.len())
            .finish_non_exhaustive()
    }
}

impl Transcript {
    /// Opens the file `path`, or what is packed in it; `format` overrides what its content says.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`, or `InvalidInput` naming what was found instead of a transcript.
    pub fn open(path: &Path, format: Option<&str>) -> Result<Self> {
        let file = FileBytes::open_content(path)?;
        let path = file.path();
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let source: Box<dyn Bytes + Send + Sync> = if file.len() <= HELD_BYTES_MAX {
            Box::new(file.read(ByteRange::new(0, file.len()))?.into_owned())
        } else {
            Box::new(file)
        };
        let mut transcript = Self::read(absolute.display().to_string(), source, format)?;
        transcript.path = Some(absolute);
        Ok(transcript)
    }

    /// Reads a transcript from memory, where it may be packed. `name` stands in messages and citations.
    ///
    /// # Errors
    /// `InvalidInput` naming what was found instead of a transcript, `Unavailable` when it is packed and damaged or over
    /// a limit.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>, format: Option<&str>) -> Result<Self> {
        let name = name.into();
        let bytes = match strongroom_stores::packed::unpacked(&bytes).map_err(|error| named(&name, error))? {
            Some(unpacked) => unpacked,
            None => bytes,
        };
        Self::read(name, Box::new(bytes), format)
    }

    /// Reads the present state of the conversation `name`. Its states are revisions of one source in custody, where
    /// those of [`Transcript::from_bytes`] are sources of their own.
    ///
    /// # Errors
    /// As [`Transcript::from_bytes`].
    pub fn of_conversation(name: impl Into<String>, bytes: Vec<u8>, format: Option<&str>) -> Result<Self> {
        let transcript = Self::from_bytes(name, bytes, format)?;
        Ok(Self { conversation: Some(format!("conversation:{}", transcript.name)), ..transcript })
    }

    fn read(name: String, source: Box<dyn Bytes + Send + Sync>, format: Option<&str>) -> Result<Self> {
        let named = |error| named(&name, error);
        let format = match format {
            Some(format) => named_format(format)?,
            None => strongroom_formats::detect(source.as_ref()).map_err(named)?,
        };
        let index = format.index(source.as_ref()).map_err(named)?;
        let spans = segment(&index);
        if let Err(why) = spans.check_cover(&index) {
            return Err(Error::bug(format!("{name}: spans do not cover the file: {why}")));
        }
        Ok(Self { name, path: None, conversation: None, agent: None, format, source, index, spans })
    }

    /// Its name in custody, where it is a conversation.
    pub fn conversation(&self) -> Option<&str> {
        self.conversation.as_deref()
    }

    /// The name in messages and citations.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file it was opened from.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The child agent whose transcript this is.
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// The format.
    pub fn format(&self) -> &'static dyn Format {
        self.format
    }

    /// The bytes.
    pub fn source(&self) -> &dyn Bytes {
        self.source.as_ref()
    }

    /// The index.
    pub fn index(&self) -> &SourceIndex {
        &self.index
    }

    /// The spans.
    pub fn spans(&self) -> &Segmentation {
        &self.spans
    }

    /// All bytes.
    ///
    /// # Errors
    /// `Unavailable` when reading fails.
    pub fn all_bytes(&self) -> Result<Vec<u8>> {
        Ok(self.source.read(ByteRange::new(0, self.source.len()))?.into_owned())
    }

    /// The session id that most of its records name.
    pub fn session(&self) -> Option<&str> {
        self.index.records.iter().find_map(|record| record.session.as_deref())
    }

    /// The first working directory it names.
    pub fn cwd(&self) -> Option<&str> {
        self.index.records.iter().find_map(|record| record.cwd.as_deref())
    }
}

/// What the file `path` is, where it is a transcript of a format that is known and not read yet: `a pi session`.
pub fn not_yet_read(path: &Path) -> Option<&'static str> {
    let source = FileBytes::open_content(path).ok()?;
    match strongroom_formats::look(&source).ok()? {
        strongroom_formats::Detected::NotYetRead(what) => Some(what),
        strongroom_formats::Detected::Read(_) => None,
    }
}

/// An error about the transcript `name`.
fn named(name: &str, error: Error) -> Error {
    Error::new(error.kind(), format!("{name}: {error}")).caused_by(error)
}

fn named_format(name: &str) -> Result<&'static dyn Format> {
    strongroom_formats::by_name(name).ok_or_else(|| {
        let known: Vec<&str> = strongroom_formats::all().map(Format::name).collect();
        Error::invalid_input(format!("format {name:?} is none of {}", known.join(", ")))
    })
}

/// A main transcript with the other items of its session.
#[derive(Debug)]
pub struct SessionFiles {
    /// The main transcript.
    pub main: Transcript,
    /// Transcripts of child agents.
    pub children: Vec<Transcript>,
    /// Outputs that were moved out of line.
    pub outputs: Vec<Output>,
    /// Items that are not where the envelope says.
    pub missing: Vec<MissingItem>,
    /// Bytes of the main transcript that the archive has no more, where it comes from there.
    pub gone: Vec<GoneBytes>,
}

/// Bytes of a state of a source that the archive cannot give back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoneBytes {
    /// Which bytes of the source.
    pub range: ByteRange,
    /// Whether they are a piece as a whole.
    pub kind: GoneKind,
    /// Why.
    pub why: String,
}

/// What the archive cannot give back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GoneKind {
    /// A piece: it was deleted, is damaged, or missing.
    Piece,
    /// Bytes of a piece that were taken out by order.
    Cut,
    /// A piece of which nothing is known, since what keeps it does not answer. It is not lost.
    Away,
}

/// The full output of a call, stored in a side file.
#[derive(Debug)]
pub struct Output {
    /// The call's id.
    pub call_id: String,
    /// Its name in citations: the place relative to the session's directory.
    pub place: String,
    /// The absolute path.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The index of the record that points to it.
    pub record: Option<u32>,
    /// The size the envelope names.
    pub size_bytes: Option<u64>,
}

/// A side item that could not be read.
#[derive(Debug, Clone)]
pub struct MissingItem {
    /// What it is.
    pub item: SideItem,
    /// Why it could not be read.
    pub why: String,
}

impl SessionFiles {
    /// Opens `path` and everything that belongs to its session.
    ///
    /// # Errors
    /// As [`Transcript::open`], for the main transcript; anything else that cannot be read is a [`MissingItem`].
    pub fn open(path: &Path, format: Option<&str>) -> Result<Self> {
        let main = Transcript::open(path, format)?;
        let root = main.path().and_then(Path::parent).unwrap_or(Path::new(".")).to_owned();
        let mut session = Self::of(main);
        session.find_items(&root);
        Ok(session)
    }

    /// A session of one transcript alone.
    pub fn of(main: Transcript) -> Self {
        Self { main, children: Vec::new(), outputs: Vec::new(), missing: Vec::new(), gone: Vec::new() }
    }

    fn find_items(&mut self, root: &Path) {
        for item in self.main.index.side_items.clone() {
            let found = match &item.kind {
                SideKind::ChildDirectory => {
                    item.places.iter().for_each(|place| self.add_children(root, place));
                    Ok(())
                }
                SideKind::Child { agent } => self.add_child(root, &item, agent),
                SideKind::Output { call_id, size_bytes } => {
                    self.add_output(root, &item, call_id, *size_bytes)
                }
            };
            if let Err(why) = found {
                self.missing.push(MissingItem { item, why });
            }
        }
    }

    fn add_children(&mut self, root: &Path, place: &str) {
        for name in names_below(root, place) {
            if let Some(agent) = agent_of_file(&name).map(str::to_owned) {
                let item = SideItem {
                    kind: SideKind::Child { agent: agent.clone() },
                    places: vec![format!("{place}/{name}")],
                    record: None,
                };
                if let Err(why) = self.add_child(root, &item, &agent) {
                    self.missing.push(MissingItem { item, why });
                }
            }
        }
    }

    fn add_child(&mut self, root: &Path, item: &SideItem, agent: &str) -> Result<(), String> {
        if self.children.iter().any(|child| child.agent.as_deref() == Some(agent)) {
            return Ok(());
        }
        let (place, source) = first_that_opens(root, &item.places)?;
        let path = root.join(&place);
        let name = Some(self.main.format.name());
        let mut child = Transcript::read(path.display().to_string(), Box::new(source), name)
            .map_err(|error| error.to_string())?;
        child.path = Some(path);
        child.agent = Some(agent.to_owned());
        self.children.push(child);
        Ok(())
    }

    fn add_output(
        &mut self,
        root: &Path,
        item: &SideItem,
        call_id: &str,
        size_bytes: Option<u64>,
    ) -> Result<(), String> {
        let (place, source) = first_that_opens(root, &item.places)?;
        let bytes =
            source.read(ByteRange::new(0, source.len())).map_err(|error| error.to_string())?.into_owned();
        self.outputs.push(Output {
            call_id: call_id.to_owned(),
            path: root.join(&place),
            place,
            bytes,
            record: item.record,
            size_bytes,
        });
        Ok(())
    }
}

/// A file that belongs to a session, where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundItem {
    /// What it is to the session: `child AGENT` or `output CALL`.
    pub kind: String,
    /// Where it stands.
    pub path: PathBuf,
}

/// The files of the session of `main` that are there: child transcripts and outputs that were moved out of line.
/// None of them is read.
pub fn found_items(main: &Transcript) -> Vec<FoundItem> {
    let root = main.path().and_then(Path::parent).unwrap_or(Path::new("."));
    let mut found: Vec<FoundItem> = Vec::new();
    for item in &main.index.side_items {
        match &item.kind {
            SideKind::ChildDirectory => {
                found.extend(item.places.iter().flat_map(|place| children_below(root, place)));
            }
            SideKind::Child { agent } => found.extend(found_item(root, item, format!("child {agent}"))),
            SideKind::Output { call_id, .. } => {
                found.extend(found_item(root, item, format!("output {call_id}")));
            }
        }
    }
    let mut known = BTreeSet::new();
    found.retain(|item| known.insert(item.path.clone()));
    found
}

/// What `main` names and none of its places holds: child transcripts and outputs that were moved out of line.
pub fn missing_items(main: &Transcript) -> Vec<MissingItem> {
    let root = main.path().and_then(Path::parent).unwrap_or(Path::new("."));
    let named = main.index.side_items.iter().filter(|item| !matches!(item.kind, SideKind::ChildDirectory));
    let missing = |item: &SideItem| {
        let why = first_that_opens(root, &item.places).err()?;
        Some(MissingItem { item: item.clone(), why })
    };
    named.filter_map(missing).collect()
}

fn found_item(root: &Path, item: &SideItem, kind: String) -> Option<FoundItem> {
    let (place, _) = first_that_opens(root, &item.places).ok()?;
    Some(FoundItem { kind, path: root.join(place) })
}

/// The child transcripts in the directory `place` below `root`.
pub fn children_below(root: &Path, place: &str) -> Vec<FoundItem> {
    let names = names_below(root, place).into_iter();
    let child = |name: String| {
        let kind = format!("child {}", agent_of_file(&name)?);
        Some(FoundItem { kind, path: root.join(place).join(name) })
    };
    names.filter_map(child).collect()
}

/// The agent whose transcript a file of this name is.
fn agent_of_file(name: &str) -> Option<&str> {
    name.strip_prefix("agent-")?.strip_suffix(".jsonl")
}

fn first_that_opens(root: &Path, places: &[String]) -> Result<(String, FileBytes), String> {
    let mut why = String::from("no place is known");
    for place in places {
        match open_below(root, place) {
            Ok(source) => return Ok((place.clone(), source)),
            Err(error) if error.kind() == ErrorKind::NotFound => why = format!("{place} does not exist"),
            Err(error) => return Err(error.to_string()),
        }
    }
    Err(why)
}
