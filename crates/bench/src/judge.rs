//! Judging: replies of any number of runs are scored against the transcripts they are about.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::corpus::Header;
use crate::question::Question;
use crate::reply::Reply;
use crate::report::Scores;
use crate::run::Line;
use crate::score::{Mark, Scored, score};
use crate::tally::{Marked, Tallying};

/// A reply that is wrong, withheld or not understood.
#[derive(Debug, Serialize)]
pub struct Fault<'a> {
    /// What it was worth.
    pub score: Scored,
    /// The question.
    pub question: &'a Question,
    /// The reply.
    pub reply: &'a Reply,
}

/// Scores the replies in `files`, in their order; each fault is shown to `show`.
///
/// # Errors
/// When a file cannot be read or holds something else, or `show` fails.
pub fn judge(
    root: &Path,
    asked: (Header, &[Question]),
    files: &[PathBuf],
    show: &mut dyn FnMut(&Fault<'_>) -> io::Result<()>,
) -> io::Result<Scores> {
    let (header, questions) = asked;
    let by_id: BTreeMap<&str, &Question> = questions.iter().map(|own| (own.id.as_str(), own)).collect();
    let mut tallying = Tallying::default();
    let mut held = Held::default();
    for path in files {
        for line in BufReader::new(File::open(path)?).lines() {
            match serde_json::from_str(&line?)? {
                Line::Compaction(compaction) => tallying.compaction(compaction),
                Line::Decay(decay) => tallying.decay(&decay),
                Line::Peak { kib } => tallying.peak(kib),
                Line::Reply(reply) => {
                    let Some(&question) = by_id.get(reply.question.as_str()) else { continue };
                    let scored = score(question, &reply, held.bytes(root, question)?);
                    if matches!(scored.mark, Mark::Silent | Mark::Withheld | Mark::NotUnderstood) {
                        show(&Fault { score: scored, question, reply: &reply })?;
                    }
                    tallying.reply(&Marked { question, reply, scored });
                }
            }
        }
    }
    let transcripts: BTreeSet<&str> = questions.iter().map(|own| own.transcript.as_str()).collect();
    let projects: BTreeSet<&str> = questions.iter().map(|own| own.project.as_str()).collect();
    Ok(Scores {
        header,
        questions: questions.len(),
        transcripts: transcripts.len(),
        projects: projects.len(),
        tallies: tallying.finish(),
    })
}

/// The transcript that was needed last; replies come in the order of transcripts.
#[derive(Debug, Default)]
struct Held {
    name: Option<(String, Option<String>)>,
    bytes: Vec<u8>,
}

impl Held {
    fn bytes(&mut self, root: &Path, question: &Question) -> io::Result<&[u8]> {
        let name = (question.transcript.clone(), question.variant.as_ref().map(|own| own.name.clone()));
        if self.name.as_ref() != Some(&name) {
            let path = if root.is_file() { root.to_owned() } else { root.join(&question.transcript) };
            let bytes = fs::read(path)?;
            self.bytes = question.variant.as_ref().map_or_else(|| bytes.clone(), |own| own.apply(&bytes));
            self.name = Some(name);
        }
        Ok(&self.bytes)
    }
}
