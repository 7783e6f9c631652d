//! Consent: whether a user who is said to have agreed to something has done so.

use std::sync::LazyLock;

use regex::Regex;
use strongroom_core::transcript::{BlockKind, Speaker};
use strongroom_evidence::content::SpanContent;

use crate::wording::stems;

/// Who spoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    /// The user, in a message or in answer to a question.
    User,
    /// The agent.
    Agent,
}

/// A piece of the conversation.
#[derive(Debug)]
pub(crate) struct Turn {
    /// The place of its span.
    pub(crate) span: usize,
    /// Whose it is.
    pub(crate) voice: Voice,
    /// What was said.
    pub(crate) text: String,
}

/// What a span says in the conversation itself, where the user or the agent speaks in it.
pub(crate) fn turn(content: &SpanContent<'_>, span: usize) -> Option<Turn> {
    let spoken = |block: &&strongroom_evidence::content::BlockContent<'_>| {
        matches!(block.block.kind, BlockKind::Text | BlockKind::Paste) && block.record.agent.is_none()
    };
    let first = content.blocks.iter().find(spoken)?;
    let voice = match first.block.speaker {
        Speaker::User => Voice::User,
        Speaker::Assistant => Voice::Agent,
        _ => return None,
    };
    let texts: Vec<&str> = content.blocks.iter().filter(spoken).map(|block| block.text.as_str()).collect();
    Some(Turn { span, voice, text: texts.join("\n") })
}

/// Who is said to have agreed, and to what.
static GIVEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\buser(?:\s+(?:has|had|then|explicitly|also|already))*\s+(?:approved|confirmed|agreed|accepted|authori[sz]ed|allowed|permitted|gave\s+(?:permission|approval|the\s+go-ahead)|signed\s+off)\b(.*)|(?i)^(.*?)\b(?:was|were|is|are)\s+(?:explicitly\s+)?(?:approved|authori[sz]ed|signed\s+off)\s+by\s+the\s+user\b").ok()
});

static GIVES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:yes|yep|yeah|yup|y|ok|okay|sure|approved?|agree[d]?|accept(?:ed)?|confirm(?:ed)?|go\s+ahead|go\s+for\s+it|go\s+with|do\s+it|do\s+that|proceed|continue|lgtm|looks?\s+good|sounds?\s+good|great|perfect|good|nice|fine|correct|right|exactly|let['’]?s|thanks?|works?|commit|merge|ship|push|implement|you\s+(?:can|may)|feel\s+free|prefer|option)\b|👍|^\s*\d+\s*$|是|好|可以|同意").ok()
});

static REFUSES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*(?:no|nope|don['’]?t|do\s+not|wait|stop|hold\s+on|not\s+yet|never)\b|doesn['’]t want to proceed").ok()
});

/// Whether a sentence tells of an approval that no message of the user gives: no user who agrees speaks of the thing or
/// answers somebody who does.
pub(crate) fn is_approval_invented(sentence: &str, turns: &[Turn]) -> bool {
    let Some(found) = GIVEN.as_ref().and_then(|given| given.captures(sentence)) else { return false };
    let object = found.get(1).or_else(|| found.get(2)).map_or("", |object| object.as_str());
    let object = stems(object);
    !turns.iter().zip(0usize..).any(|(turn, at)| gives(turn) && speaks_of(turns, at, &object))
}

fn gives(turn: &Turn) -> bool {
    turn.voice == Voice::User
        && GIVES.as_ref().is_none_or(|gives| gives.is_match(&turn.text))
        && REFUSES.as_ref().is_some_and(|refuses| !refuses.is_match(&turn.text))
}

/// What says that somebody agrees, and nothing else.
static AGREES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:yes|yep|yeah|yup|ok|okay|sure|approved?|agreed?|accept(?:ed)?|confirm(?:ed)?|go\s+ahead|go\s+for\s+it|do\s+it|do\s+that|proceed|lgtm|(?:looks?|sounds?)\s+good|that['’]?s\s+fine|you\s+(?:can|may)|permission|allowed)\b|👍|同意|可以").ok()
});

/// Whether a user agrees in so many words, to the object itself or to what the agent has said of it just before.
pub(crate) fn is_agreed(object: &[String], turns: &[Turn], stems: &dyn Fn(&str) -> Vec<String>) -> bool {
    let agrees =
        |turn: &Turn| gives(turn) && AGREES.as_ref().is_some_and(|agrees| agrees.is_match(&turn.text));
    turns.iter().zip(0usize..).filter(|(turn, _)| agrees(turn)).any(|(turn, at)| {
        let before = turns.get(..at).unwrap_or_default().iter().rev();
        let asked = before.take_while(|turn| turn.voice == Voice::Agent).take(ASKED);
        let about = |turn: &Turn| {
            let own = stems(&turn.text);
            object.iter().filter(|stem| own.contains(stem)).count() * 2 >= object.len()
        };
        object.is_empty() || about(turn) || asked.into_iter().any(about)
    })
}

/// How many of the agent's messages before an answer may be what it answers.
const ASKED: usize = 4;

/// Whether the user's turn at `at`, or what it answers, shares a word with the object. Of an object of one word nobody
/// can tell.
fn speaks_of(turns: &[Turn], at: usize, object: &[String]) -> bool {
    if object.len() < 2 {
        return true;
    }
    let near = turns.get(at.saturating_sub(ASKED)..=at).unwrap_or_default();
    near.iter().any(|turn| {
        let own = stems(&turn.text);
        object.iter().filter(|stem| own.contains(stem)).count() * 3 >= object.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consent_is_of_the_user_and_of_the_thing() {
        assert!(GIVEN.is_some() && GIVES.is_some() && REFUSES.is_some() && AGREES.is_some());
        let turn = |voice, text: &str| Turn { span: 0, voice, text: text.to_owned() };
        let turns = [
            turn(Voice::Agent, "Shall I drop the booking_archive table?"),
            turn(Voice::User, "Yes, go ahead."),
            turn(Voice::User, "No, don't restart the proxy."),
        ];
        assert!(!is_approval_invented("The user approved dropping the booking_archive table.", &turns));
        assert!(is_approval_invented("The user approved the release of version two.", &turns));
        assert!(is_approval_invented("The user approved dropping the booking_archive table.", &turns[..1]));
        assert!(!is_approval_invented("The table was dropped.", &turns));
        assert!(is_agreed(&stems("the booking_archive table"), &turns, &stems));
        assert!(!is_agreed(&stems("restart of the proxy"), &turns, &stems));
    }
}
