//! What is left after a compaction, made ready to be searched.

use std::collections::BTreeSet;

use strongroom_core::evidence::AtomKind;
use strongroom_core::span::SpanKind;
use strongroom_core::summary::FIRST_WORDS;
use strongroom_core::transcript::{ArgumentTree, BlockKind, Scalar, Speaker};
use strongroom_evidence::content::BlockContent;
use strongroom_evidence::tools::{self, Command};
use strongroom_evidence::{cues, secrets};

use super::{Account, Place};
use crate::reading::{ReadSpan, Reading};
use crate::show::{Reveal, masked};

/// Everything that would be sent after a compaction.
#[derive(Debug)]
pub(super) struct Rest {
    pub(super) account: Account,
    /// The summary, as written.
    pub(super) summary: String,
    /// Where the summary stands.
    pub(super) place: Place,
    /// All text, with single blanks and in lower case.
    plain: String,
    /// The content words of each sentence.
    sentences: Vec<BTreeSet<String>>,
    atoms: BTreeSet<(AtomKind, String)>,
}

impl Rest {
    /// What of `after` stands in place of what was before `boundary`: not what the user wrote since.
    pub(super) fn of(after: &Reading<'_>, boundary: u32) -> Self {
        let is_new = |span: &ReadSpan<'_>| {
            span.content.span.record > boundary
                && span.content.blocks.iter().all(|block| block.block.speaker == Speaker::User)
        };
        let sent: Vec<&ReadSpan<'_>> =
            after.spans.iter().filter(|span| span.in_context() && !is_new(span)).collect();
        let summaries: Vec<&ReadSpan<'_>> =
            sent.iter().copied().filter(|span| span.kind() == SpanKind::Derived).collect();
        let text = |spans: &[&ReadSpan<'_>]| {
            let texts: Vec<String> = spans.iter().map(|span| text_of(span)).collect();
            texts.join("\n")
        };
        let (all, summary) = (text(&sent), text(&summaries));
        let sealed = sent.iter().any(|span| {
            span.content.blocks.iter().any(|block| matches!(block.block.kind, BlockKind::Opaque(_)))
        });
        let account = match (summary.trim().is_empty(), sealed) {
            (false, _) if summary.starts_with(FIRST_WORDS) => Account::Ours,
            (false, _) => Account::Readable,
            (true, true) => Account::Sealed,
            (true, false) => Account::None,
        };
        let atoms = sent.iter().flat_map(|span| &span.examination.atoms);
        Self {
            account,
            place: Place::of(
                after.transcript,
                summaries.first().map_or(boundary, |span| span.content.span.record),
            ),
            plain: plain(&all),
            sentences: cues::sentences(&all)
                .into_iter()
                .filter_map(|range| all.get(range))
                .map(content_words)
                .collect(),
            atoms: atoms.map(|(_, atom)| (atom.kind, atom.norm.clone())).collect(),
            summary,
        }
    }

    /// Whether `text` still stands there, whatever its spacing and case, not as a part of a longer word.
    pub(super) fn holds(&self, text: &str) -> bool {
        let own = plain(text);
        let own = own.trim_matches(|char: char| matches!(char, '.' | '!' | '"' | '\'' | '`' | ' '));
        !own.is_empty() && stands_in(&self.plain, own)
    }

    /// Whether an atom that is equal to this one is still there.
    pub(super) fn holds_atom(&self, kind: AtomKind, norm: &str) -> bool {
        self.atoms.contains(&(kind, norm.to_owned()))
    }

    /// The largest share of the content words of `text` that one sentence holds, in percent.
    pub(super) fn likeness(&self, text: &str) -> usize {
        let own = content_words(text);
        let shared = |sentence: &BTreeSet<String>| own.intersection(sentence).count();
        let most = self.sentences.iter().map(shared).max().unwrap_or(0);
        most * 100 / own.len().max(1)
    }
}

/// The text of a block with its secrets hidden, as everything here is printed.
pub(super) fn shown(span: &ReadSpan<'_>, block: &BlockContent<'_>) -> String {
    masked(span, block.at, None, &block.text, Reveal::Mask)
}

/// The arguments of a call with their secrets hidden.
pub(super) fn shown_arguments(span: &ReadSpan<'_>, block: &BlockContent<'_>) -> Option<ArgumentTree> {
    let mut tree = block.arguments.clone()?;
    for leaf in &mut tree.leaves {
        if let Scalar::String(text) = &mut leaf.value {
            *text = masked(span, block.at, Some(&leaf.pointer), text, Reveal::Mask);
        }
    }
    Some(tree)
}

/// The decoded text of a span with its arguments, one on a line, secrets hidden.
pub(super) fn text_of(span: &ReadSpan<'_>) -> String {
    let mut text = String::new();
    for block in &span.content.blocks {
        for leaf in shown_arguments(span, block).iter().flat_map(|arguments| &arguments.leaves) {
            if let Scalar::String(own) | Scalar::Number(own) = &leaf.value {
                text.push_str(own);
                text.push('\n');
            }
        }
        text.push_str(&shown(span, block));
        text.push('\n');
    }
    text
}

/// A text that stands in no block as it is, with its secrets hidden.
pub(super) fn hidden(text: &str) -> String {
    let mut shown = text.to_owned();
    for (range, rule) in secrets::find(text).into_iter().rev() {
        shown.replace_range(range, &format!("[masked {rule}]"));
    }
    shown
}

/// What a call asks a shell to run, secrets hidden.
pub(super) fn shell_line(span: &ReadSpan<'_>) -> Option<String> {
    let run = |block: &BlockContent<'_>| match &block.block.kind {
        BlockKind::Call(facts) => tools::command(&facts.tool, &shown_arguments(span, block)?),
        _ => None,
    };
    Some(match span.content.blocks.iter().find_map(run)? {
        Command::Script(script) => script,
        Command::Words(words) => words.join(" "),
    })
}

/// Single blanks, lower case, plain quotes.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().flat_map(char::to_lowercase).map(|char| match char {
            '’' | '‘' => '\'',
            '“' | '”' => '"',
            other => other,
        }));
    }
    out
}

/// Whether `own` stands in `text` with word ends on both sides.
pub(super) fn stands_in(text: &str, own: &str) -> bool {
    let joins = |char: char| char.is_alphanumeric() || char == '_';
    let opens = own.chars().next().is_some_and(joins);
    let closes = own.chars().next_back().is_some_and(joins);
    memchr::memmem::find_iter(text.as_bytes(), own).any(|at| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        let behind = text.get(at + own.len()..).and_then(|tail| tail.chars().next());
        !(opens && before.is_some_and(joins) || closes && behind.is_some_and(joins))
    })
}

/// Words that say nothing of what a sentence is about.
const FILLERS: &[&str] = &[
    "the", "and", "that", "this", "with", "for", "you", "are", "was", "were", "have", "has", "had", "its",
    "it's", "can", "could", "would", "will", "just", "then", "than", "from", "into", "our", "your", "they",
    "them", "there", "here", "what", "when", "which", "also", "but", "please", "should", "about", "some",
    "any", "all", "let", "let's", "i'm", "i'd", "i'll", "we'll", "we're", "like", "think", "want",
];

/// The words a sentence is about, in lower case.
pub(super) fn content_words(text: &str) -> BTreeSet<String> {
    plain(text)
        .split(|char: char| !(char.is_alphanumeric() || matches!(char, '_' | '\'' | '-')))
        .map(|word| word.trim_matches(['\'', '-']))
        .filter(|word| word.chars().count() > 2 && !FILLERS.contains(word))
        .map(str::to_owned)
        .collect()
}
