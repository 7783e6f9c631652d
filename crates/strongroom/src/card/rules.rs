//! What the user demanded, forbade and allowed, as said.

use strongroom_core::transcript::{BlockKind, Speaker};
use strongroom_evidence::answer::{Answer, Masker};
use strongroom_evidence::cues;
use strongroom_evidence::rules::kinds;
use strongroom_evidence::session::Scope;

use super::text::{Keep, Section, head};

/// Up to how many words an approval says too little without what it answers.
const SHORT_WORDS: usize = 8;

/// The longest question that is told with its answer, in characters.
const QUESTION_CHARS_MAX: usize = 160;

/// The constraints of an answer to a query on `rules`, with the records they stand in: what binds first, what allows
/// after it.
pub(super) fn section(rules: &Answer, scope: &Scope<'_>, masker: &Masker<'_>) -> Section {
    let (mut bind, mut allow) = (Vec::new(), Vec::new());
    for found in &rules.values {
        let quote = &found.value;
        let cited = rules.citations.iter().find(|citation| citation.quote.contains(quote.as_str()));
        let place = cited.map_or_else(String::new, |citation| format!(" ({})", citation.locator));
        let allows = kinds(quote).iter().all(|kind| *kind == "approval");
        if !allows {
            bind.push(format!("\"{quote}\"{place}"));
            continue;
        }
        let short = quote.split_whitespace().count() <= SHORT_WORDS;
        let asked = cited.filter(|_| short).and_then(|citation| asked(scope, &citation.locator));
        let asked = asked.map_or_else(String::new, |text| {
            format!(", to the agent's \"{}\"", head(&masker.mask(text), QUESTION_CHARS_MAX))
        });
        allow.push(format!("allowed: \"{quote}\"{place}{asked}"));
    }
    bind.extend(allow);
    Section {
        title: "Standing constraints, in the user's words",
        lines: bind,
        keep: Keep::First,
        more: "list rules by:user state:in-force",
        none: "none was found in the user's words",
        share: 40,
    }
}

/// What the agent said last before the record at `locator`: its last question, else its last sentence.
fn asked<'s>(scope: &'s Scope<'_>, locator: &str) -> Option<&'s str> {
    let main = scope.sources.iter().filter(|source| source.agent.is_none());
    let mut last = None;
    for block in main.flat_map(|source| &source.spans).flat_map(|span| &span.content.blocks) {
        let is_here = match block.record.line {
            Some(line) => locator.strip_prefix('L').is_some_and(|own| own.parse() == Ok(line)),
            None => block.record.pointer == locator,
        };
        if is_here {
            break;
        }
        let speaks = block.block.speaker == Speaker::Assistant && block.block.kind == BlockKind::Text;
        if speaks && !block.text.trim().is_empty() {
            last = Some(block.text.as_str());
        }
    }
    let text = last?;
    let sentences = cues::sentences(text);
    let asks = |range: &&std::ops::Range<usize>| {
        text.get((*range).clone()).is_some_and(|own| own.trim_end().ends_with(['?', '？']))
    };
    let range = sentences.iter().rev().find(asks).or(sentences.last())?;
    text.get(range.clone())
}
