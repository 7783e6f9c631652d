//! Texts without a structure that anybody else could not have written.
//!
//! Some tools write a run as numbered steps: `Thought at iteration 0: …`, `Result at iteration 0: …`. These marks are
//! believed up to the first result: a tool can print them, too. Any other text is nobody's.

use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{BlockKind, Bytes, SourceIndex, Speaker};

use crate::sections::{self, Line, Sections, body, said};

/// Marks of steps, and whose what stands behind them is.
const MARKS: [(&str, Speaker); 6] = [
    ("Thought and Action at iteration ", Speaker::Assistant),
    ("Thought at iteration ", Speaker::Assistant),
    ("Though at iteration ", Speaker::Assistant),
    ("Action at iteration ", Speaker::Assistant),
    ("Iteration ", Speaker::Assistant),
    ("Result at iteration ", Speaker::Tool),
];

/// Whether `head`, the beginning of a text, is the mark of a first step.
pub(crate) fn is_steps(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    mark(&String::from_utf8_lossy(line)).is_some_and(|mark| mark.number == 0)
}

/// Reads a text.
///
/// # Errors
/// As [`sections::index`].
pub(crate) fn index(source: &dyn Bytes) -> Result<SourceIndex> {
    sections::index("text", source, &mut |lines, sections| read(lines, sections))
}

/// A mark at the beginning of a line.
struct Mark {
    number: u64,
    speaker: Speaker,
    /// The bytes of the line that it takes up.
    length: usize,
}

fn mark(line: &str) -> Option<Mark> {
    let small = line.get(..line.len().min(48)).unwrap_or(line).to_ascii_lowercase();
    let (words, speaker) = MARKS.iter().find(|(words, _)| small.starts_with(&words.to_ascii_lowercase()))?;
    let rest = line.get(words.len()..)?;
    let digits = rest.find(|char: char| !char.is_ascii_digit())?;
    let number = rest.get(..digits)?.parse().ok()?;
    rest.get(digits..)?.starts_with(':').then_some(Mark {
        number,
        speaker: *speaker,
        length: words.len() + digits + 1,
    })
}

/// Whom marks may be believed to name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    Marks,
    /// The text of a tool has begun, and marks behind it may be its own.
    Nobody,
}

fn read(lines: &[Line<'_>], sections: &mut Sections) {
    let mut cuts: Vec<(usize, Option<Mark>)> = Vec::new();
    let mut number = 0;
    for (at, line) in lines.iter().enumerate() {
        match mark(line.text).filter(|mark| mark.number == number || mark.number == number + 1) {
            Some(mark) if at > 0 || mark.number == 0 => {
                number = mark.number;
                cuts.push((at, Some(mark)));
            }
            _ if at == 0 => cuts.push((0, None)),
            _ => {}
        }
    }
    let mut trust = if matches!(cuts.first(), Some((_, Some(_)))) { Trust::Marks } else { Trust::Nobody };
    let ends: Vec<usize> = cuts.iter().skip(1).map(|(at, _)| *at).chain([lines.len()]).collect();
    for ((from, mark), to) in cuts.into_iter().zip(ends) {
        let own = lines.get(from..to).unwrap_or_default();
        let speaker = match (trust, &mark) {
            (Trust::Marks, Some(mark)) => mark.speaker,
            _ => Speaker::Unknown,
        };
        if speaker == Speaker::Tool {
            trust = Trust::Nobody;
        }
        section(own, mark.map_or(0, |mark| mark.length), speaker, sections);
    }
}

fn section(lines: &[Line<'_>], skipped: usize, speaker: Speaker, sections: &mut Sections) {
    let Some(first) = lines.first() else { return };
    sections.begin(first, if skipped == 0 { "text" } else { "step" });
    let Some(all) = body(lines) else { return };
    let start = first.part(skipped..skipped).start().clamp(all.start(), all.end());
    let parts = [ByteRange::new(start, all.end())];
    said(BlockKind::Text, speaker, &parts).into_iter().for_each(|block| sections.push(block));
    if speaker == Speaker::Unknown {
        let why = "who speaks is not known: nothing but the text itself says so";
        sections.find(first, "unattributed", why);
    }
}
