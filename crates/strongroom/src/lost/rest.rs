//! What is left after a compaction, made ready to be searched.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use strongroom_core::evidence::AtomKind;
use strongroom_core::span::SpanKind;
use strongroom_core::summary::FIRST_WORDS;
use strongroom_core::transcript::{ArgumentTree, BlockKind, Scalar, Speaker};
use strongroom_evidence::content::BlockContent;
use strongroom_evidence::tools::{self, Command};
use strongroom_evidence::{cues, secrets};

use super::sides::{Part, Sides, Step};
use super::text::{Wordings, plain, spaced, stands, stands_in, stems};
use super::{Account, Place};
use crate::reading::ReadSpan;
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
    /// Its words alone.
    words: String,
    wordings: Wordings,
    /// The stems of each sentence that bans, gates or demands something.
    demands: Vec<BTreeSet<String>>,
    atoms: BTreeSet<(AtomKind, String)>,
}

impl Rest {
    /// What stands in place of what was before the boundary: not what the user wrote since.
    pub(super) fn of(sides: &Sides<'_, '_>) -> Self {
        let is_new = |part: &Part<'_, '_>| {
            part.span.content.span.record > sides.boundary
                && part.blocks.iter().all(|block| block.block.speaker == Speaker::User)
        };
        let sent: Vec<Part<'_, '_>> = sides.left().filter(|part| !is_new(part)).collect();
        let summaries: Vec<&Part<'_, '_>> =
            sent.iter().filter(|part| part.span.kind() == SpanKind::Derived).collect();
        let all = joined(sent.iter());
        let summary = joined(summaries.iter().copied());
        let sealed = sent
            .iter()
            .any(|part| part.blocks.iter().any(|block| matches!(block.block.kind, BlockKind::Opaque(_))));
        let account = match (summary.trim().is_empty(), sealed) {
            _ if sides.step == Step::Cleared => Account::Cleared,
            (false, _) if summary.starts_with(FIRST_WORDS) => Account::Ours,
            (false, _) => Account::Readable,
            (true, true) => Account::Sealed,
            (true, false) => Account::None,
        };
        let atoms =
            sent.iter().flat_map(|part| part.span.examination.atoms.iter().filter(|(at, _)| part.has(*at)));
        Self {
            account,
            place: Place::of(
                sides.whole.transcript,
                summaries.first().map_or(sides.boundary, |part| part.span.content.span.record),
            ),
            plain: plain(&all),
            words: spaced(&all),
            wordings: Wordings::of(&all),
            demands: demands(&all),
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

    /// Whether the words of `text` still stand there in their order, whatever stands between them.
    pub(super) fn holds_words(&self, text: &str) -> bool {
        let own = spaced(text);
        own.len() > 1 && stands(&self.words, &own)
    }

    /// Whether an atom that is equal to this one is still there.
    pub(super) fn holds_atom(&self, kind: AtomKind, norm: &str) -> bool {
        self.atoms.contains(&(kind, norm.to_owned()))
    }

    /// Whether the beginning of the hexadecimal `hash` is there: seven digits and more are as good as all.
    pub(super) fn holds_hash(&self, hash: &str) -> bool {
        let begins = |own: &str| own.len() >= 7 && (hash.starts_with(own) || own.starts_with(hash));
        self.atoms.iter().any(|(kind, norm)| *kind == AtomKind::Id && begins(norm))
            || hash.get(..7).is_some_and(|head| {
                self.plain
                    .split(|char: char| !char.is_ascii_alphanumeric())
                    .any(|word| word.starts_with(head) && begins(word))
            })
    }

    /// The largest share of the words of `text` that stand near one another, in percent.
    pub(super) fn likeness(&self, text: &str) -> usize {
        self.wordings.likeness(text)
    }
}

/// Words without which no sentence says what shall not be, or when.
static BINDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:not|never|no|none|nor|avoid|without|only|must|wait|until|unless|before|keep|refus\w*|off|forbid\w*|instead|always|require\w*|require|should|ensure|make sure|leave|stay|ask)\b|n['’]t\b|[^\x00-\x7f]").ok()
});

fn demands(text: &str) -> Vec<BTreeSet<String>> {
    let sentences = cues::sentences(text).into_iter().filter_map(|range| text.get(range));
    let binding = sentences.filter(|own| BINDS.as_ref().is_none_or(|binds| binds.is_match(own)));
    binding.map(|own| stems(own).into_iter().collect()).collect()
}

impl Rest {
    /// What the summaries of earlier compactions still told just before this one; `None` where there was none.
    pub(super) fn carried(sides: &Sides<'_, '_>) -> Option<Self> {
        let parts: Vec<Part<'_, '_>> =
            sides.sent_before().filter(|part| part.span.kind() == SpanKind::Derived).collect();
        let place = Place::of_span(sides.whole.transcript, parts.first()?.span);
        let all = joined(parts.iter());
        Some(Self {
            account: Account::Readable,
            place,
            plain: plain(&all),
            words: spaced(&all),
            wordings: Wordings::of(&all),
            demands: Vec::new(),
            atoms: BTreeSet::new(),
            summary: all,
        })
    }

    /// Whether a sentence that binds somebody speaks of what `rule` speaks of: at least this share of its words, in
    /// percent.
    pub(super) fn binds_like(&self, rule: &str, share: usize) -> bool {
        let own: BTreeSet<String> = stems(rule).into_iter().collect();
        self.demands.iter().any(|other| own.intersection(other).count() * 100 >= own.len() * share)
    }

    /// The share of the words of `text` that stand anywhere, in percent.
    pub(super) fn covers(&self, text: &str) -> usize {
        self.wordings.covers(text)
    }
}

fn joined<'p, 'r: 'p, 'a: 'r + 'p>(parts: impl Iterator<Item = &'p Part<'r, 'a>>) -> String {
    let texts: Vec<String> = parts.map(text_of).collect();
    texts.join("\n")
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

/// The decoded text of blocks with their arguments, one on a line, secrets hidden.
pub(super) fn text_of(part: &Part<'_, '_>) -> String {
    let mut text = String::new();
    for block in &part.blocks {
        for leaf in shown_arguments(part.span, block).iter().flat_map(|arguments| &arguments.leaves) {
            if let Scalar::String(own) | Scalar::Number(own) = &leaf.value {
                text.push_str(own);
                text.push('\n');
            }
        }
        text.push_str(&shown(part.span, block));
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
