//! What a summary says that nothing before it bears out.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;
use strongroom_core::evidence::AtomKind;
use strongroom_core::transcript::{BlockKind, Speaker};
use strongroom_evidence::effect::{EffectKind, Outcome};
use strongroom_evidence::{atom, cues};

use super::Place;
use super::account::{Rest, plain, shell_line, text_of};
use crate::reading::{ReadSpan, Reading};

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

/// What stood before, as one text per speaker.
struct Said {
    user: String,
    all: String,
}

impl Said {
    /// Summaries count as said: what they were made from may stand in another file. So do other files of the session.
    fn of(before: &Reading<'_>, others: &str) -> Self {
        let (mut user, mut all) = (String::new(), others.to_owned());
        for span in &before.spans {
            let text = plain(&text_of(span));
            if is_by_user(span) {
                user.push_str(&text);
                user.push('\n');
            }
            all.push_str(&text);
            all.push('\n');
        }
        for record in &before.transcript.index().records {
            for name in record.cwd.iter().chain(&record.session) {
                if !all.contains(name.as_str()) {
                    all.push_str(&plain(name));
                    all.push('\n');
                }
            }
        }
        Self { user, all }
    }
}

/// Whether the user speaks: in a message, or by an answer to a question of the agent.
fn is_by_user(span: &ReadSpan<'_>) -> bool {
    let asked = span.examination.effects.iter().any(|effect| effect.kind == EffectKind::HumanHandoff);
    asked || span.content.blocks.iter().any(|block| block.block.speaker == Speaker::User)
}

/// Everything that counts as invented, the worst kind first, each once.
pub(super) fn find(before: &Reading<'_>, rest: &Rest, others: &str) -> Vec<Invented> {
    let said = Said::of(before, others);
    let mut all = Vec::new();
    let mut known = BTreeSet::new();
    let mut section = String::new();
    for range in cues::sentences(&rest.summary) {
        let Some(sentence) = rest.summary.get(range) else { continue };
        if let Some(title) = heading(sentence) {
            section = title;
        }
        let found = contradicted(sentence, before)
            .into_iter()
            .chain(approval(sentence, before).map(|why| (why, sentence.to_owned(), None)))
            .chain(quotes(sentence, &section, &said))
            .chain(literals(sentence, &said));
        for (why, text, against) in found {
            if known.insert((why, text.clone())) {
                let sentence = sentence.to_owned();
                all.push(Invented { why, text, sentence, place: rest.place.clone(), against });
            }
        }
    }
    all.sort_by_key(|one: &Invented| one.why);
    all
}

type Finding = (Why, String, Option<Place>);

/// Whether `own` stands in a text of many megabytes.
fn stands(text: &str, own: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), own.as_bytes()).is_some()
}

/// The title of a numbered or marked section.
fn heading(sentence: &str) -> Option<String> {
    static HEADING: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^(?:#+\s*|\d+\.\s+|\*\*)([A-Z][\w ,&/-]{3,60}):?\**:?$").ok());
    let found = HEADING.as_ref()?.captures(sentence)?;
    found.get(1).map(|title| plain(title.as_str()))
}

/// Literals that stand nowhere before. A path counts only when not even its file name does, a value only when not even
/// its number does: what is merely spelled another way is not invented.
fn literals<'s>(sentence: &'s str, said: &'s Said) -> impl Iterator<Item = Finding> + 's {
    let wanted = |kind| matches!(kind, AtomKind::Path | AtomKind::Url | AtomKind::Id | AtomKind::Quantity);
    atom::extract(sentence).into_iter().filter(move |atom| wanted(atom.kind)).filter_map(move |atom| {
        let text = sentence.get(atom.range.clone())?;
        let own = plain(text);
        let part = match atom.kind {
            AtomKind::Path => own.trim_end_matches('/').rsplit('/').next().unwrap_or(&own).to_owned(),
            AtomKind::Quantity => {
                own.chars().take_while(|char| char.is_ascii_digit() || matches!(char, '.' | ',')).collect()
            }
            _ => own.clone(),
        };
        // Short words stand in every text.
        let part = part.trim_matches(['*', '`', '"', '\'', '.', ',', '(', ')', ':']);
        let long = part.len() >= 4 || atom.kind == AtomKind::Quantity && !part.is_empty();
        let found = stands(&said.all, part);
        (long && !found).then(|| (Why::NoSuchLiteral, text.to_owned(), None))
    })
}

/// Quotes of four words and more in a list of what the user said.
fn quotes<'s>(sentence: &'s str, section: &'s str, said: &'s Said) -> impl Iterator<Item = Finding> + 's {
    static QUOTE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?:^|[\s(\[:*])["“]([^\s"“”][^"“”]{10,600}[^\s"“”])["”](?:$|[\s).,;:!?*\]])"#).ok()
    });
    let of_user = section.contains("user message")
        || plain(sentence).contains("user said")
        || plain(sentence).contains("user:");
    QUOTE.as_ref().into_iter().flat_map(move |quote| quote.captures_iter(sentence)).filter_map(move |found| {
        let text = found.get(1)?.as_str();
        let own = plain(text);
        let own = own.trim_end_matches(['.', '!', '?', '…', ',']).trim_end_matches("...");
        // A quote with gaps is a selection, and brackets mark what was put in.
        if own.split(' ').count() < 4
            || own.contains("...")
            || own.contains('…')
            || own.contains('[')
            || own.contains('\\')
        {
            return None;
        }
        let why = match (stands(&said.user, own), stands(&said.all, own)) {
            (false, true) if of_user => Why::OtherSpeaker,
            (true, _) | (false, true) => return None,
            (false, false) => Why::NoSuchQuote,
        };
        Some((why, text.to_owned(), None))
    })
}

/// An approval that no message of the user holds.
fn approval(sentence: &str, before: &Reading<'_>) -> Option<Why> {
    static GIVEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\buser(?:\s+(?:has|had|then|explicitly|also))*\s+(?:approved|confirmed|agreed|accepted|authori[sz]ed|gave\s+(?:permission|approval|the\s+go-ahead)|signed\s+off)\b").ok()
    });
    static GIVES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:yes|yep|yeah|yup|ok|okay|sure|approved?|agree[d]?|accept|confirm|go\s+ahead|go\s+for\s+it|do\s+it|proceed|continue|lgtm|looks?\s+good|sounds?\s+good|great|perfect|good|nice|fine|correct|right|exactly|please|let['’]?s|thanks?|works?|commit|merge|ship|push|implement)\b|👍|^\s*\d+\s*$|是|好|可以|同意").ok()
    });
    let given = GIVEN.as_ref().is_some_and(|given| given.is_match(sentence));
    let gives = |span: &ReadSpan<'_>| {
        span.content.blocks.iter().any(|block| {
            let answers =
                matches!(block.block.kind, BlockKind::Result(_)) && plain(&block.text).contains("user");
            let own = block.block.speaker == Speaker::User;
            (own || answers) && GIVES.as_ref().is_none_or(|gives| gives.is_match(&block.text))
        })
    };
    (given && !before.spans.iter().any(gives)).then_some(Why::NoApproval)
}

/// A statement that something passed, and the calls that would show it.
struct Claim {
    says: &'static str,
    calls: &'static str,
}

const CLAIMS: &[Claim] = &[
    Claim {
        says: r"(?i)\b(?:all\s+)?(?:unit\s+|integration\s+)?tests?\s+(?:suite\s+)?(?:are\s+|is\s+|now\s+|all\s+)*(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?)\b",
        calls: r"\b(?:cargo\s+(?:nextest|test)|go\s+test|npm\s+(?:run\s+)?test|pnpm\s+(?:run\s+)?test|yarn\s+test|bun\s+(?:run\s+)?test|pytest|jest|vitest|mise\s+run\s+test|make\s+test|ctest|rspec|phpunit|dotnet\s+test)\b",
    },
    Claim {
        says: r"(?i)\bbuild\s+(?:is\s+|now\s+)*(?:pass(?:es|ed|ing)?|green|clean|succeed(?:s|ed)?|successful)\b",
        calls: r"\b(?:cargo\s+build|go\s+build|npm\s+run\s+build|pnpm\s+(?:run\s+)?build|yarn\s+build|bun\s+run\s+build|make(?:\s+build)?|tsc)\b",
    },
];

/// A claim whose last call had failed.
fn contradicted(sentence: &str, before: &Reading<'_>) -> Option<Finding> {
    static READ: LazyLock<Vec<(Regex, Regex)>> = LazyLock::new(|| {
        let read = |claim: &Claim| Some((Regex::new(claim.says).ok()?, Regex::new(claim.calls).ok()?));
        CLAIMS.iter().filter_map(read).collect()
    });
    static NOT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:not|n['’]t|until|ensure|make\s+sure|should|must|verify|check|whether|if|once|when|before|after|need|to\s+pass)\b").ok()
    });
    if NOT.as_ref().is_none_or(|not| not.is_match(sentence)) {
        return None;
    }
    let (_, calls) = READ.iter().find(|(says, _)| says.is_match(sentence))?;
    let call = |span: &&ReadSpan<'_>| shell_line(span).is_some_and(|text| calls.is_match(&text));
    let last = before.spans.iter().rev().find(call)?;
    let failed = matches!(last.examination.outcome, Outcome::Failed | Outcome::Interrupted);
    failed.then(|| (Why::Contradicted, sentence.to_owned(), Some(Place::of_span(before.transcript, last))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(user: &str, all: &str) -> Said {
        Said { user: plain(user), all: plain(all) }
    }

    #[test]
    fn literals_that_stand_somewhere_are_not_invented() {
        let said = said("", "edit src/parse.rs, took 412.7 ms, commit 3f9a2c1");
        let found = |text: &str| literals(text, &said).map(|found| found.1).collect::<Vec<_>>();
        assert_eq!(found("Changed `lib/parse.rs` in 412.7 seconds."), Vec::<String>::new());
        assert_eq!(found("Changed src/lower.rs."), ["src/lower.rs"]);
        assert_eq!(found("It took 99.5 ms."), ["99.5 ms"]);
    }

    #[test]
    fn quotes_are_looked_for_by_speaker() {
        let said = said("please keep the old flag", "please keep the old flag\nI will drop the cache now");
        let found =
            |text: &str| quotes(text, "all user messages", &said).map(|found| found.0).collect::<Vec<_>>();
        assert_eq!(found("- \"Please keep the old flag\""), []);
        assert_eq!(found("- \"I will drop the cache now\""), [Why::OtherSpeaker]);
        assert_eq!(found("- \"delete everything in the bucket\""), [Why::NoSuchQuote]);
        assert_eq!(found("- \"keep it\""), []);
    }

    #[test]
    fn sections_are_recognised() {
        assert_eq!(heading("6. All user messages:").as_deref(), Some("all user messages"));
        assert_eq!(heading("The build took long."), None);
        assert!(CLAIMS.iter().all(|claim| Regex::new(claim.says).is_ok() && Regex::new(claim.calls).is_ok()));
    }
}
