//! Phrasings: each kind of question in plain words, three times.
//!
//! They are what a person at a keyboard would write, and know no product.

/// The phrasings of a kind; `{0}`, `{1}` are what fills them.
const PHRASES: [(&str, [&str; 3]); 27] = [
    (
        "argument-by-piece",
        [
            "What was the exact tool call that contained \"{0}\"?",
            "Which call had \"{0}\" in its arguments?",
            "Show me the full {1} call with \"{0}\".",
        ],
    ),
    (
        "argument-by-place",
        [
            "What did the {0} call in line {1} do?",
            "Which {0} call was made in record {1}?",
            "Show the arguments of the {0} call at line {1}.",
        ],
    ),
    ("value", ["What was {0}?", "What is the value of {0}?", "Which value did {0} have?"]),
    (
        "literal",
        [
            "Does {0} occur anywhere in the transcript?",
            "Where does the value {0} appear?",
            "Was {0} ever mentioned?",
        ],
    ),
    (
        "file-written",
        ["When did we edit {0}?", "Which changes were made to {0}?", "Did we ever write to {0}?"],
    ),
    ("file-deleted", ["When was {0} deleted?", "Did we delete {0}?", "Which call removed {0}?"]),
    (
        "quote",
        ["Did the {1} say \"{0}\"?", "Where did the {1} write \"{0}\"?", "When did the {1} say \"{0}\"?"],
    ),
    (
        "quote-of-tool",
        [
            "Which tool output contained \"{0}\"?",
            "Where did a tool print \"{0}\"?",
            "Which result says \"{0}\"?",
        ],
    ),
    (
        "error",
        [
            "What error did the call with \"{0}\" give?",
            "Did the call \"{0}\" fail, and how?",
            "What went wrong when we ran \"{0}\"?",
        ],
    ),
    (
        "result",
        [
            "What was the result of the call with \"{0}\"?",
            "What did \"{0}\" return?",
            "What was the output of \"{0}\"?",
        ],
    ),
    (
        "order",
        [
            "Did the call \"{0}\" come before the call \"{1}\"?",
            "Which came first, the call with \"{0}\" or the call with \"{1}\"?",
            "Was \"{0}\" run before \"{1}\" was run?",
        ],
    ),
    (
        "first-of-tool",
        [
            "What was the first {0} call?",
            "How was {0} first used?",
            "Show the first time the {0} tool was called.",
        ],
    ),
    (
        "last-of-tool",
        [
            "What was the last {0} call?",
            "What was {0} used for last?",
            "Show the most recent call of the {0} tool.",
        ],
    ),
    (
        "count-of-tool",
        [
            "How many {0} calls were there?",
            "How often was the {0} tool used?",
            "How many times did the agent call {0}?",
        ],
    ),
    (
        "count-on-file",
        [
            "How many {0} calls named {1}?",
            "How often was {0} used on {1}?",
            "How many times was {0} called with {1}?",
        ],
    ),
    (
        "ever-called",
        [
            "Did we ever run \"{0}\"?",
            "Was there ever a call with \"{0}\"?",
            "Has the agent ever called anything with \"{0}\"?",
        ],
    ),
    (
        "ever-said",
        [
            "Did the user ever say \"{0}\"?",
            "Has the user ever written \"{0}\"?",
            "Is there any message in which the user says \"{0}\"?",
        ],
    ),
    ("ever-written", ["Did we ever write {0}?", "Was {0} ever modified?", "Did the agent change {0}?"]),
    ("ever-run", ["Did we ever run {0}?", "Was {0} ever used?", "Has the agent executed {0}?"]),
    (
        "ever-tool",
        ["Was the tool {0} ever called?", "Did the agent ever use the {0} tool?", "Has {0} been called?"],
    ),
    (
        "latest-value",
        [
            "What is {0} now, according to the last output?",
            "What was the last value of {0}?",
            "What did {0} end up as?",
        ],
    ),
    (
        "former-value",
        [
            "What was {0} at line {1}?",
            "Which value did {0} have in record {1}?",
            "What was the value of {0} as of line {1}?",
        ],
    ),
    (
        "rule",
        [
            "Did the user ever set the rule \"{0}\"?",
            "Is there a standing rule \"{0}\"?",
            "Which rule of the user says \"{0}\"?",
        ],
    ),
    (
        "count-in-cut",
        [
            "How many {0} calls were there?",
            "How often was the {0} tool used?",
            "How many times did the agent call {0}?",
        ],
    ),
    (
        "ever-in-cut",
        [
            "Did we ever run \"{0}\"?",
            "Was there ever a call with \"{0}\"?",
            "Has the agent ever called anything with \"{0}\"?",
        ],
    ),
    (
        "result-cleared",
        [
            "What was the result of the call with \"{0}\"?",
            "What did \"{0}\" return?",
            "What was the output of \"{0}\"?",
        ],
    ),
    (
        "planted-rule",
        [
            "May the agent touch {0}?",
            "Is the agent allowed to change {0}?",
            "Are we still forbidden to modify {0}?",
        ],
    ),
];

/// The phrasings of `kind` with their gaps filled.
pub(crate) fn of(kind: &str, slots: &[String]) -> Vec<String> {
    let phrases = PHRASES.iter().find(|(own, _)| *own == kind).map(|(_, phrases)| phrases);
    let fill = |phrase: &str| {
        let mut text = String::new();
        let mut rest = phrase;
        while let Some((before, behind)) = rest.split_once('{') {
            text.push_str(before);
            let (slot, behind) = behind.split_once('}').unwrap_or(("", behind));
            text.push_str(slot.parse::<usize>().ok().and_then(|at| slots.get(at)).map_or("", String::as_str));
            rest = behind;
        }
        text.push_str(rest);
        text
    };
    phrases.into_iter().flatten().map(|phrase| fill(phrase)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_filled_once() {
        let found = of("quote", &["a {1} b".to_owned(), "user".to_owned()]);
        assert_eq!(found[0], "Did the user say \"a {1} b\"?");
        assert_eq!(found.len(), 3);
    }
}
