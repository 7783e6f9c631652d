//! The corpus: transcripts below a folder, and questions about them in a file.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::question::Question;
use crate::seed::{GENERATOR, hex};
use crate::session::Session;
use crate::{family, read, variant};

/// The first line of a file of questions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version of this form.
    pub evidence_bench: u32,
    /// The version of the generator.
    pub generator: String,
    /// The seed; of a release the seed stays hidden.
    pub seed: Option<String>,
    /// The SHA-256 of the seed.
    pub seed_sha256: String,
    /// Pairs of a family from one transcript, at most.
    pub per_family: usize,
    /// Transcripts with questions.
    pub transcripts: usize,
    /// The SHA-256 over the hashes of all transcripts, in order.
    pub corpus_sha256: String,
}

/// Whether the seed is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disclosure {
    /// It stands in the file.
    Open,
    /// Only its hash does.
    Hidden,
}

/// How questions are made.
#[derive(Debug, Clone)]
pub struct Making<'a> {
    /// The seed.
    pub seed: &'a str,
    /// Whether it is told.
    pub disclosure: Disclosure,
    /// Pairs of a family from one transcript, at most.
    pub per_family: usize,
}

/// The files at and below `root`, in the order of their names; links are not followed.
///
/// # Errors
/// When a folder cannot be read.
pub fn files(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        if folder.is_file() {
            found.push(folder);
            continue;
        }
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.retain(|path| path.extension().is_some_and(|end| end == "json" || end == "jsonl"));
    found.sort();
    Ok(found)
}

/// Makes questions about every transcript below `root` and writes them to `out`.
///
/// # Errors
/// When a file cannot be read or written.
pub fn make(root: &Path, making: &Making<'_>, out: &mut dyn Write) -> io::Result<Header> {
    let mut hashes = String::new();
    let mut body = Vec::new();
    let mut transcripts = 0;
    let mut seen = std::collections::BTreeSet::new();
    for path in files(root)? {
        let Some(session) = read::file(root, &path)? else { continue };
        // A copy of a transcript would only repeat its questions.
        if !seen.insert(session.hash()) {
            continue;
        }
        let questions = about(&session, making);
        if questions.is_empty() {
            continue;
        }
        hashes.push_str(&session.hash());
        transcripts += 1;
        for question in &questions {
            serde_json::to_writer(&mut body, question)?;
            body.push(b'\n');
        }
    }
    let header = Header {
        evidence_bench: 1,
        generator: GENERATOR.to_owned(),
        seed: (making.disclosure == Disclosure::Open).then(|| making.seed.to_owned()),
        seed_sha256: hex(making.seed),
        per_family: making.per_family,
        transcripts,
        corpus_sha256: hex(&hashes),
    };
    serde_json::to_writer(&mut *out, &header)?;
    out.write_all(b"\n")?;
    out.write_all(&body)?;
    Ok(header)
}

/// All questions about one transcript, those about changed copies of it included.
pub fn about(session: &Session, making: &Making<'_>) -> Vec<Question> {
    let mut found = family::questions(session, making.seed, making.per_family);
    found.extend(variant::questions(session, making.seed));
    // Two questions can have the same twin.
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|question| seen.insert(question.id.clone()));
    found
}

/// Reads a file of questions.
///
/// # Errors
/// When it cannot be read, or holds something else.
pub fn questions(path: &Path) -> io::Result<(Header, Vec<Question>)> {
    let mut lines = BufReader::new(fs::File::open(path)?).lines();
    let first = lines.next().ok_or_else(|| io::Error::other("an empty file of questions"))??;
    let header = serde_json::from_str(&first)?;
    let questions = lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect::<io::Result<_>>()?;
    Ok((header, questions))
}

/// Reads lines of JSON.
///
/// # Errors
/// When the file cannot be read, or holds something else.
pub fn lines<T: DeserializeOwned>(path: &Path) -> io::Result<Vec<T>> {
    let lines = BufReader::new(fs::File::open(path)?).lines();
    lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect()
}

/// Questions by the transcript they are about, and by the change made to it.
pub fn by_transcript(questions: &[Question]) -> BTreeMap<(&str, Option<&str>), Vec<&Question>> {
    let mut found: BTreeMap<(&str, Option<&str>), Vec<&Question>> = BTreeMap::new();
    for question in questions {
        let variant = question.variant.as_ref().map(|own| own.name.as_str());
        found.entry((question.transcript.as_str(), variant)).or_default().push(question);
    }
    found
}

/// A file of lines that are written one by one.
///
/// # Errors
/// When it cannot be made.
pub fn writer(path: &Path) -> io::Result<BufWriter<fs::File>> {
    Ok(BufWriter::new(fs::File::create(path)?))
}
