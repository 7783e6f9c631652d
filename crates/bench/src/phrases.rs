//! Phrasings: each kind of question in plain words, five times, and twice more in words that are held out.
//!
//! They are what a person at a keyboard would write, and know no product.

/// How many phrasings of a question come first, before those that are held out.
pub(crate) const SHOWN: u8 = 5;

/// The phrasings of a kind; `{0}`, `{1}` are what fills them.
const PHRASES: [(&str, [&str; 5]); 24] = [
    (
        "argument-by-piece",
        [
            "What was the exact tool call that contained \"{0}\"?",
            "Which call had \"{0}\" in its arguments?",
            "Show me the full {1} call with \"{0}\".",
            "Is there a {1} call that used \"{0}\"?",
            "Find the call whose arguments include \"{0}\".",
        ],
    ),
    (
        "argument-by-place",
        [
            "What did the {0} call in line {1} do?",
            "Which {0} call was made in record {1}?",
            "Show the arguments of the {0} call at line {1}.",
            "What exactly was passed to {0} in record {1}?",
            "Give me the {0} call on line {1}.",
        ],
    ),
    (
        "value",
        [
            "What was {0}?",
            "What is the value of {0}?",
            "Which value did {0} have?",
            "Tell me the value of {0}.",
            "What did {0} equal?",
        ],
    ),
    (
        "literal",
        [
            "Does {0} occur anywhere in the transcript?",
            "Where does the value {0} appear?",
            "Was {0} ever mentioned?",
            "Did {0} come up at any point?",
            "Find every occurrence of {0}.",
        ],
    ),
    (
        "file-written",
        [
            "When did we edit {0}?",
            "Which changes were made to {0}?",
            "Did we ever write to {0}?",
            "How was {0} changed?",
            "List all edits of {0}.",
        ],
    ),
    (
        "file-deleted",
        [
            "When was {0} deleted?",
            "Did we delete {0}?",
            "Which call removed {0}?",
            "Has {0} been deleted?",
            "Was the file {0} ever removed?",
        ],
    ),
    (
        "quote",
        [
            "Did the {1} say \"{0}\"?",
            "Where did the {1} write \"{0}\"?",
            "When did the {1} say \"{0}\"?",
            "Did the {1} really say \"{0}\"?",
            "Find where the {1} said \"{0}\".",
        ],
    ),
    (
        "quote-of-tool",
        [
            "Which tool output contained \"{0}\"?",
            "Where did a tool print \"{0}\"?",
            "Which result says \"{0}\"?",
            "Was \"{0}\" in the output of some tool?",
            "Which call printed \"{0}\"?",
        ],
    ),
    (
        "error",
        [
            "What error did the call with \"{0}\" give?",
            "Did the call \"{0}\" fail, and how?",
            "What went wrong when we ran \"{0}\"?",
            "How did the call with \"{0}\" fail?",
            "Which error came from \"{0}\"?",
        ],
    ),
    (
        "result",
        [
            "What was the result of the call with \"{0}\"?",
            "What did \"{0}\" return?",
            "What was the output of \"{0}\"?",
            "What came back from the call with \"{0}\"?",
            "Show me the output of the call that contained \"{0}\".",
        ],
    ),
    (
        "order",
        [
            "Did the call \"{0}\" come before the call \"{1}\"?",
            "Which came first, the call with \"{0}\" or the call with \"{1}\"?",
            "Was \"{0}\" run before \"{1}\" was run?",
            "Did \"{0}\" happen before \"{1}\"?",
            "Was the call with \"{0}\" made earlier than the one with \"{1}\"?",
        ],
    ),
    (
        "first-of-tool",
        [
            "What was the first {0} call?",
            "How was {0} first used?",
            "Show the first time the {0} tool was called.",
            "When was {0} called for the first time?",
            "Which {0} call came first?",
        ],
    ),
    (
        "last-of-tool",
        [
            "What was the last {0} call?",
            "What was {0} used for last?",
            "Show the most recent call of the {0} tool.",
            "When was {0} called for the last time?",
            "Which {0} call was the latest?",
        ],
    ),
    (
        "count-of-tool",
        [
            "How many {0} calls were there?",
            "How often was the {0} tool used?",
            "How many times did the agent call {0}?",
            "What is the number of {0} calls?",
            "Count the calls of {0}.",
        ],
    ),
    (
        "count-on-file",
        [
            "How many {0} calls named {1}?",
            "How often was {0} used on {1}?",
            "How many times was {0} called with {1}?",
            "What is the number of {0} calls on {1}?",
            "How many {0} calls were made with {1}?",
        ],
    ),
    (
        "ever-called",
        [
            "Did we ever run \"{0}\"?",
            "Was there ever a call with \"{0}\"?",
            "Has the agent ever called anything with \"{0}\"?",
            "Was \"{0}\" ever run?",
            "Is there a call that contains \"{0}\"?",
        ],
    ),
    (
        "ever-said",
        [
            "Did the user ever say \"{0}\"?",
            "Has the user ever written \"{0}\"?",
            "Is there any message in which the user says \"{0}\"?",
            "Did I ever say \"{0}\"?",
            "Were the words \"{0}\" ever said by the user?",
        ],
    ),
    (
        "ever-written",
        [
            "Did we ever write {0}?",
            "Was {0} ever modified?",
            "Did the agent change {0}?",
            "Have we touched {0}?",
            "Did anyone edit {0}?",
        ],
    ),
    (
        "ever-run",
        [
            "Did we ever run {0}?",
            "Was {0} ever used?",
            "Has the agent executed {0}?",
            "Was {0} run at any time?",
            "Did the agent invoke {0}?",
        ],
    ),
    (
        "ever-tool",
        [
            "Was the tool {0} ever called?",
            "Did the agent ever use the {0} tool?",
            "Has {0} been called?",
            "Did we make any {0} calls?",
            "Was there a call of the {0} tool?",
        ],
    ),
    (
        "latest-value",
        [
            "What is {0} now, according to the last output?",
            "What was the last value of {0}?",
            "What did {0} end up as?",
            "What is the most recent value of {0}?",
            "What was {0} in the end?",
        ],
    ),
    (
        "former-value",
        [
            "What was {0} at line {1}?",
            "Which value did {0} have in record {1}?",
            "What was the value of {0} as of line {1}?",
            "At line {1}, what was {0}?",
            "What value did {0} have at record {1}?",
        ],
    ),
    (
        "rule",
        [
            "Did the user ever set the rule \"{0}\"?",
            "Is there a standing rule \"{0}\"?",
            "Which rule of the user says \"{0}\"?",
            "Did the user lay down \"{0}\"?",
            "Is \"{0}\" one of the user's rules?",
        ],
    ),
    (
        "planted-rule",
        [
            "May the agent touch {0}?",
            "Is the agent allowed to change {0}?",
            "Are we still forbidden to modify {0}?",
            "Can we edit {0}?",
            "Is there a ban on changing {0}?",
        ],
    ),
];

/// Phrasings to which nobody fitted a table: what is read of them tells how much of what is read of [`PHRASES`] was
/// learnt by heart.
const HELD_OUT: [(&str, [&str; 2]); 24] = [
    (
        "argument-by-piece",
        [
            "Please find the {1} call that mentions \"{0}\" somewhere in its input.",
            "What did we call with \"{0}\"?",
        ],
    ),
    (
        "argument-by-place",
        ["What {0} call is recorded on line {1}?", "Print the input of the {0} call from record {1}."],
    ),
    ("value", ["What value did we get for {0}?", "What does {0} stand at?"]),
    ("literal", ["Is {0} anywhere in this conversation?", "Who mentioned {0}?"]),
    ("file-written", ["What did we do to change {0}?", "At what points was {0} edited?"]),
    ("file-deleted", ["At what point did {0} get deleted?", "Did the agent ever erase {0}?"]),
    ("quote", ["When exactly did the {1} write \"{0}\"?", "In which line does the {1} say \"{0}\"?"]),
    ("quote-of-tool", ["What tool result contains the text \"{0}\"?", "Did some command output \"{0}\"?"]),
    (
        "error",
        ["What was the error message of the command \"{0}\"?", "When we ran \"{0}\", what went wrong?"],
    ),
    ("result", ["When the agent ran \"{0}\", what came back?", "What did the command \"{0}\" output?"]),
    (
        "order",
        ["Was \"{0}\" executed before or after \"{1}\"?", "Of \"{0}\" and \"{1}\", which one was run first?"],
    ),
    ("first-of-tool", ["Where was the {0} tool used first?", "What did the first call of {0} look like?"]),
    ("last-of-tool", ["Where was the {0} tool used last?", "What did the last call of {0} look like?"]),
    ("count-of-tool", ["How many calls did {0} get?", "How many times has {0} been used?"]),
    ("count-on-file", ["How many times did {0} touch {1}?", "How many of the {0} calls were about {1}?"]),
    ("ever-called", ["Was anything with \"{0}\" ever executed?", "Did any command use \"{0}\"?"]),
    ("ever-said", ["Can you find the user saying \"{0}\"?", "Did the human ever write \"{0}\"?"]),
    ("ever-written", ["Were there changes to {0}?", "Was anything written to {0}?"]),
    ("ever-run", ["Was {0} executed at some point?", "Did anybody run {0}?"]),
    ("ever-tool", ["Were there any calls of the {0} tool?", "Did {0} get called?"]),
    ("latest-value", ["To what did {0} change last?", "Which value does {0} have at the moment?"]),
    ("former-value", ["What was {0} when line {1} was written?", "Which value of {0} is given in line {1}?"]),
    ("rule", ["Did the user say that \"{0}\" is a rule?", "Has the user ruled \"{0}\"?"]),
    ("planted-rule", ["Is changing {0} forbidden?", "Does a rule forbid us to touch {0}?"]),
];

/// Kinds that are asked in the words of another: what differs is what is left of the evidence.
const ASKED_AS: [(&str, &str); 3] =
    [("count-in-cut", "count-of-tool"), ("ever-in-cut", "ever-called"), ("result-cleared", "result")];

/// The phrasings of `kind` with their gaps filled, those held out behind the others.
pub(crate) fn of(kind: &str, slots: &[String]) -> Vec<String> {
    let kind = ASKED_AS.iter().find(|(own, _)| *own == kind).map_or(kind, |(_, asked)| *asked);
    let shown = PHRASES.iter().filter(|(own, _)| *own == kind).flat_map(|(_, phrases)| phrases);
    let held_out = HELD_OUT.iter().filter(|(own, _)| *own == kind).flat_map(|(_, phrases)| phrases);
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
    shown.chain(held_out).map(|phrase| fill(phrase)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_filled_once() {
        let found = of("quote", &["a {1} b".to_owned(), "user".to_owned()]);
        assert_eq!(found[0], "Did the user say \"a {1} b\"?");
        assert_eq!(found.len(), 7);
    }

    #[test]
    fn no_phrasing_is_both_shown_and_held_out() {
        for ((kind, shown), (same, held_out)) in PHRASES.iter().zip(HELD_OUT) {
            assert_eq!(*kind, same);
            assert_eq!(shown.len(), usize::from(SHOWN));
            assert!(held_out.iter().all(|own| !shown.contains(own)), "{kind}");
        }
    }
}
