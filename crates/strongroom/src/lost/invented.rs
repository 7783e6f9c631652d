//! What a summary says that nothing before it bears out.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;
use strongroom_core::evidence::AtomKind;
use strongroom_evidence::{atom, cues};

use super::claims::{self, Runs};
use super::rest::Rest;
use super::said::Said;
use super::sides::Sides;
use super::text::{Wordings, around, plain, spaced, stands, stems, tight};
use super::{History, Place};
use crate::consent::is_approval_invented;

/// Why a statement counts as invented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The record shows the opposite.
    Contradicted,
    /// The user is said to have agreed to something, and no message of the user does.
    NoApproval,
    /// The user is quoted with words of somebody else.
    OtherSpeaker,
    /// A quote that stands nowhere before.
    NoSuchQuote,
    /// A quote of the user's whose words are not all the user's.
    AlteredQuote,
    /// A literal that stands nowhere before.
    NoSuchLiteral,
}

impl Why {
    /// The reason in reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Contradicted => "the record shows the opposite",
            Self::NoApproval => "no message of the user says so",
            Self::OtherSpeaker => "quoted as the user's, said by somebody else",
            Self::NoSuchQuote => "this quote stands nowhere before",
            Self::AlteredQuote => "quoted as the user's, who put it in other words",
            Self::NoSuchLiteral => "stands nowhere before",
        }
    }
}

/// One statement of a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Invented {
    /// Why it counts.
    pub why: Why,
    /// The literal, or the sentence.
    pub text: String,
    /// The sentence it stands in.
    pub sentence: String,
    /// The summary.
    pub place: Place,
    /// What shows the opposite.
    pub against: Option<Place>,
}

/// Sentences that the agent's program puts around a summary.
const FRAME: &[&str] = &[
    "this session is being continued from a previous conversation",
    "if you need specific details from before compaction",
    "please continue the conversation from where we left",
    "continue the conversation from where it left off",
    "recent messages are preserved verbatim",
];

/// Everything that counts as invented, the worst kind first, each once.
pub(super) fn find(sides: &Sides<'_, '_>, rest: &Rest, said: &Said<'_>) -> Vec<Invented> {
    let runs = Runs::of(sides.earlier());
    let mut all = Vec::new();
    let mut known = BTreeSet::new();
    let sections = sections(&rest.summary);
    for range in cues::sentences(&rest.summary) {
        let section = sections.iter().rev().find(|(at, _)| *at <= range.start).map_or("", |(_, title)| title);
        let Some(sentence) = rest.summary.get(range) else { continue };
        let begin = plain(sentence);
        if FRAME.iter().any(|frame| begin.starts_with(frame)) {
            continue;
        }
        for (why, text, against) in judge(sentence, section, sides, &runs, said) {
            if known.insert((why, plain(&text))) {
                let place = Place { excerpt: around(&rest.summary, sentence), ..rest.place.clone() };
                all.push(Invented { why, text, sentence: sentence.to_owned(), place, against });
            }
        }
    }
    all.sort_by_key(|one: &Invented| one.why);
    all
}

type Finding = (Why, String, Option<Place>);

fn judge(
    sentence: &str,
    section: &str,
    sides: &Sides<'_, '_>,
    runs: &Runs<'_, '_>,
    said: &Said<'_>,
) -> Vec<Finding> {
    let mut all = Vec::new();
    let whole = || sentence.to_owned();
    if let Some(shown) = claims::contradicted(sentence, runs) {
        let against = Place::around(sides.whole.transcript, shown.span(), "");
        all.push((Why::Contradicted, whole(), Some(against)));
    }
    let history = sides.history();
    // What is not in the file may have been said there.
    if history == History::Cut {
        return all;
    }
    if is_approval_invented(sentence, said.turns) {
        all.push((Why::NoApproval, whole(), None));
    }
    let marks = marks(sentence);
    all.extend(quotes(sentence, section, said, &marks));
    if history == History::Whole {
        all.extend(literals(sentence, said, &marks));
    }
    all
}

/// Where each section begins, and its title. A number and its title are two sentences, so lines are looked at.
fn sections(summary: &str) -> Vec<(usize, String)> {
    let mut at = 0;
    let mut all = Vec::new();
    for line in summary.split_inclusive('\n') {
        all.extend(heading(line.trim()).map(|title| (at, title)));
        at += line.len();
    }
    all
}

/// The title of a numbered or marked section.
fn heading(sentence: &str) -> Option<String> {
    static HEADING: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^(?:#+\s*|\d+\.\s+|\*\*)([A-Z][\w ,&/-]{3,60}):?\**:?$").ok());
    let found = HEADING.as_ref()?.captures(sentence)?;
    found.get(1).map(|title| plain(title.as_str()))
}

/// The quotations of a sentence, without their marks. Marks inside code are no quotation marks.
fn marks(sentence: &str) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut in_code = false;
    for (at, char) in sentence.char_indices() {
        match (char, open) {
            ('`', _) => in_code = !in_code,
            ('"', None) if !in_code => open = Some((at + 1, '"')),
            ('“', None) if !in_code => open = Some((at + '“'.len_utf8(), '”')),
            (_, Some((start, close))) if char == close && !in_code => {
                all.push(start..at);
                open = None;
            }
            _ => {}
        }
    }
    // A mark that is left alone may have paired all the others wrongly.
    if open.is_some() { Vec::new() } else { all }
}

/// Whether a text in backticks or not looks like the place of a file, not like two words with a stroke.
fn is_path(text: &str) -> bool {
    let name = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=5).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    ending || text.starts_with(['/', '~']) || text.matches('/').count() >= 2
}

/// Signs of a pattern, a gap or a stand-in for something else.
const STAND_INS: &[&str] = &["...", "…", "<", ">", "{", "}", "*", "$", "\\", "REDACTED", "[masked", "xxx"];

/// Literals that stand nowhere before. A path counts only when not even its file name does, a value only when not even
/// its number does: what is merely spelled another way is not invented.
fn literals(sentence: &str, said: &Said<'_>, quoted: &[Range<usize>]) -> Vec<Finding> {
    let wanted = |kind| matches!(kind, AtomKind::Path | AtomKind::Url | AtomKind::Id | AtomKind::Quantity);
    let in_quote = |range: &Range<usize>| {
        quoted.iter().any(|quote| quote.start <= range.start && range.end <= quote.end)
    };
    let atoms =
        atom::extract(sentence).into_iter().filter(|atom| wanted(atom.kind) && !in_quote(&atom.range));
    atoms
        .filter_map(|atom| {
            let text = sentence.get(atom.range.clone())?;
            let before = sentence.get(..atom.range.start).unwrap_or_default();
            let follows = sentence.get(atom.range.end..).unwrap_or_default();
            let loose =
                STAND_INS.iter().any(|sign| text.contains(sign) || text.to_lowercase().contains(sign))
                    || atom.kind != AtomKind::Url && text.contains('/') && !is_path(text)
                    || follows.starts_with(['*', '<', '>', '{', '…'])
                    || before.ends_with(['<', '{', '$']);
            (!loose && !is_known(atom.kind, text, said)).then(|| (Why::NoSuchLiteral, text.to_owned(), None))
        })
        .collect()
}

/// Whether a literal stands somewhere before, in any spelling.
fn is_known(kind: AtomKind, text: &str, said: &Said<'_>) -> bool {
    let own = plain(text);
    let part = match kind {
        AtomKind::Path => own.trim_end_matches('/').rsplit('/').next().unwrap_or(&own).to_owned(),
        AtomKind::Quantity => number_of(&own),
        AtomKind::Url => {
            own.split_once("://").map_or(own.as_str(), |(_, bare)| bare).trim_end_matches('/').to_owned()
        }
        _ => own.clone(),
    };
    let part = part.trim_matches(['*', '`', '"', '\'', '.', ',', '(', ')', ':']);
    // Short words stand in every text.
    let short = part.len() < 4 && (kind != AtomKind::Quantity || part.is_empty());
    let plainly = |part: &str| stands(said.all.plain, part) || stands(said.beside.plain, part);
    if short || plainly(part) {
        return true;
    }
    if kind == AtomKind::Quantity {
        let bare: String = part.chars().filter(|char| !matches!(char, ',' | '_')).collect();
        return plainly(&bare) || plainly(&grouped(&bare));
    }
    // Hashes are shortened, and written with an ending or a range.
    let hash = part.len() > 7 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let tight = tight(part);
    // A name is written as it is; what has signs in it may be set with other blanks.
    let set = part.contains([':', '(', '=', ';', ',', ' ']);
    hash && part.get(..7).is_some_and(plainly)
        || set && tight.len() >= 6 && (stands(said.all.tight, &tight) || stands(said.beside.tight, &tight))
}

/// The digits of a value, with separators.
fn number_of(text: &str) -> String {
    let number: String = text
        .chars()
        .skip_while(|char| !char.is_ascii_digit())
        .take_while(|char| char.is_ascii_digit() || matches!(char, '.' | ',' | '_'))
        .collect();
    number.trim_end_matches(['.', ',', '_']).to_owned()
}

/// `12345` as `12,345`.
fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (at, char) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(char);
    }
    out
}

/// Quotes of four words and more that somebody is said to have said or printed.
fn quotes(sentence: &str, section: &str, said: &Said<'_>, marks: &[Range<usize>]) -> Vec<Finding> {
    static TOLD: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:said|says|saying|asked|wrote|replied|reported|flagged|printed|prints|returned|returns|shows|showed|output|error|warning|message|feedback|request)\b").ok()
    });
    let words = plain(sentence);
    let of_user = section.contains("user message")
        || section.contains("user request")
        || [
            "user said",
            "user asked",
            "user:",
            "user wrote",
            "user replied",
            "user request",
            "user feedback",
            "user message",
        ]
        .iter()
        .any(|by| words.contains(by));
    if !of_user && TOLD.as_ref().is_none_or(|told| !told.is_match(sentence)) {
        return Vec::new();
    }
    marks
        .iter()
        .filter_map(|range| {
            let text = sentence.get(range.clone())?;
            Some((quote(text, of_user, said)?, text.to_owned(), None))
        })
        .collect()
}

/// Of an altered quote, this share of its words stands near one another in the user's messages, in percent.
const ALTERED: usize = 70;

/// A line of a program with other values in it shares this many pairs of words with the quote, in percent.
const FILLED: usize = 50;

/// What is wrong with a quote.
fn quote(text: &str, of_user: bool, said: &Said<'_>) -> Option<Why> {
    let own = plain(text);
    let own = own.trim_end_matches(['.', '!', '?', '…', ',']).trim_end_matches("...");
    // A quote with gaps is a selection, and brackets mark what was put in.
    let gaps = ["...", "…", "[", "\\", "masked", "redacted"].iter().any(|gap| own.contains(gap));
    if own.split(' ').count() < 4 || stems(own).len() < 2 || gaps {
        return None;
    }
    let key = tight(own);
    let stands_anywhere = || stands(said.all.tight, &key) || stands(said.beside.tight, &key);
    match (stands(said.user.tight, &key), of_user) {
        (true, _) => None,
        (false, true) if stands_anywhere() => Some(Why::OtherSpeaker),
        (false, true) if Wordings::of(said.user.plain).likeness(own) >= ALTERED => Some(Why::AlteredQuote),
        (false, false) if stands_anywhere() || holds_most(said.all.spaced, own) => None,
        (false, _) => Some(Why::NoSuchQuote),
    }
}

/// Whether a good part of the pairs of neighbouring words stands there: a line of a program whose values were filled in.
fn holds_most(text: &str, own: &str) -> bool {
    let words: Vec<String> = spaced(own).split_whitespace().map(str::to_owned).collect();
    let known = words.windows(2).filter(|pair| stands(text, &format!(" {} ", pair.join(" ")))).count();
    known * 100 >= words.len().saturating_sub(1) * FILLED
}

#[cfg(test)]
mod tests {
    use super::super::said::View;
    use super::*;

    fn check<T>(user: &str, all: &str, ask: impl Fn(&Said<'_>) -> T) -> T {
        let texts = [user, all, ""].map(|text| (plain(text), tight(text), spaced(text)));
        let [user, all, beside] = [0, 1, 2].map(|at: usize| {
            let (plain, tight, spaced) = &texts[at];
            View { plain, tight, spaced }
        });
        ask(&Said { user, all, beside, turns: &[] })
    }

    #[test]
    fn literals_that_stand_somewhere_are_not_invented() {
        let all = "edit src/parse.rs, took 412.7 ms, commit 3f9a2c1, 12,345 rows, letter-spacing: -0.02em";
        let found = |text: &str| {
            check("", all, |said| {
                literals(text, said, &marks(text)).into_iter().map(|one| one.1).collect::<Vec<_>>()
            })
        };
        assert_eq!(found("Changed `lib/parse.rs` in 412.7 seconds."), Vec::<String>::new());
        assert_eq!(found("Changed src/lower.rs."), ["src/lower.rs"]);
        assert_eq!(found("It took 99.5 ms."), ["99.5 ms"]);
        assert_eq!(found("12345 rows at 3f9a2c1 with letter-spacing:-0.02em"), Vec::<String>::new());
        assert_eq!(found("fast crash/restart recovery by first/last"), Vec::<String>::new());
    }

    #[test]
    fn quotes_are_looked_for_by_speaker() {
        let found = |text: &str| {
            check(
                "please keep the old 'flag' for the deploy job",
                "please keep the old 'flag' for the deploy job\nI will drop the cache now\nunknown agent type %q for session %d, skipping",
                |said| {
                    quotes(text, "all user messages", said, &marks(text))
                        .into_iter()
                        .map(|one| one.0)
                        .collect::<Vec<_>>()
                },
            )
        };
        assert_eq!(found("- \"Please keep the old \u{201c}flag\u{201d}\""), []);
        assert_eq!(found("- \"I will drop the cache now\""), [Why::OtherSpeaker]);
        assert_eq!(found("- \"delete everything in the bucket\""), [Why::NoSuchQuote]);
        assert_eq!(found("- \"keep the old flag for the nightly deploy job\""), [Why::AlteredQuote]);
        assert_eq!(found("- \"keep it\""), []);
        let printed = |text: &str| {
            check("", "unknown agent type %q for session %d, skipping", |said| {
                quotes(text, "", said, &marks(text)).len()
            })
        };
        assert_eq!(printed("It printed the warning \"unknown agent type '' for session 0, skipping\"."), 0);
        assert_eq!(printed("It printed the error \"disk quota exceeded on volume data\"."), 1);
    }

    #[test]
    fn sections_and_marks_are_recognised() {
        assert_eq!(heading("6. All user messages:").as_deref(), Some("all user messages"));
        assert_eq!(heading("The build took long."), None);
        assert_eq!(sections("a\n\n6. All user messages:\n - b"), [(3, "all user messages".to_owned())]);
        let text = "checks `Contains(line, \": \")` but `\": \"` and \"a real quote\"";
        assert_eq!(
            marks(text).into_iter().map(|range| text.get(range).unwrap()).collect::<Vec<_>>(),
            ["a real quote"]
        );
    }
}
