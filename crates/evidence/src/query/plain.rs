//! Plain questions: a table from what people ask to a typed query. Every word of a question is a word of the table, or
//! stands where only a literal or a name can stand; any other question is refused.

mod acts;
mod command;
mod grammar;
mod objects;
mod patterns;
mod rules;
mod sentence;
mod words;

use std::sync::LazyLock;

use regex::Regex;

use self::acts::Asked;
use self::patterns::Placed;
use self::sentence::{Sentence, Spelling};
use super::{Query, QueryError, parse};

/// Places in time, as they are spoken of beside a question.
const TIMES: &[(&str, &str)] = &[
    (r"\b(?:after|since) the (?:first )?compaction\b", "from:compaction:1"),
    (r"\b(?:before|until) the (?:first )?compaction\b", "to:compaction:1"),
    (r"\b(?:after|since) the second compaction\b", "from:compaction:2"),
    (r"\b(?:before|until) the second compaction\b", "to:compaction:2"),
];

/// The number of a record, as it is spoken of.
const RECORD: &str = r"(?:the )?(?:line|record|step|entry|row)s?(?: number| no)? [L#]?(\d+)";

struct Table {
    times: Vec<(Regex, &'static str)>,
    session: Option<Regex>,
    between: Option<Regex>,
    record: Option<Regex>,
    order: Option<Regex>,
    pronoun: Option<Regex>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let compile = |text: &str| Regex::new(&format!("(?i){text}")).ok();
    Table {
        times: TIMES.iter().filter_map(|(text, term)| Some((compile(text)?, *term))).collect(),
        session: compile(r"\bin session ([\w-]+)"),
        between: compile(&format!(
            r"\b(?:between|from) {RECORD} (?:and|to) (?:(?:line|record|step) )?[L#]?(\d+)\b"
        )),
        record: compile(&format!(
            r"\b(?:back )?(as of|in|at|on|of|after|before|since|from|until|up to|show(?: me)?) (?:{RECORD}|L(\d+))(?:\s|$)"
        )),
        order: compile(r" (before|after) "),
        pronoun: compile(r"\b(?:it|them|that|this)\b"),
    }
});

/// What a question turned out to be.
enum Outcome {
    /// A typed query.
    Typed(String),
    /// Its verb is known, its object is not.
    Nearest(String),
    /// Nothing that is known.
    Unknown,
}

/// Reads a plain question; `None` where the table has no line for it, or where a word of it is not accounted for.
/// The reading of the query says how it was read.
pub fn plain(question: &str) -> Option<Query> {
    match outcome(question) {
        Outcome::Typed(typed) => parse(&typed).ok(),
        _ => None,
    }
}

/// Reads `text` as a typed query, or else as a plain question.
///
/// # Errors
/// What was not understood; of a sentence that the table cannot map, the questions that can be read.
pub fn read(text: &str) -> Result<Query, QueryError> {
    parse(text).or_else(|error| {
        if let Some(query) = plain(text) {
            return Ok(query);
        }
        let sentence = text.trim_end().ends_with(['?', '？']) || text.split_whitespace().count() > 3;
        if !sentence || error.nearest().is_some_and(|hint| hint.starts_with("did you mean")) {
            return Err(error);
        }
        if let Outcome::Nearest(nearest) = outcome(text) {
            let message = "the words of the question name nothing that a record would name the same way";
            let hint =
                format!("the nearest typed query is \"{nearest}\"; put a text to look for between quotes");
            return Err(QueryError::new(message, 0).hint(Some(hint)));
        }
        Err(QueryError::new("the question cannot be mapped", 0).hint(Some(readable(text))))
    })
}

/// For words of a question that was not read, questions about the same that can be.
const NEAR: &[(&str, &[&str])] = &[
    (
        r"calls?|called|tools?|invo\w+|arguments?",
        &[
            "which call contained \"X\"?",
            "how often was the Bash tool used?",
            "what did the Bash call in line 5 do?",
        ],
    ),
    (
        r"results?|outputs?|return\w*|print\w*|respon\w+",
        &["what did \"X\" return?", "which tool output contained \"X\"?"],
    ),
    (
        r"errors?|fail\w*|wrong|problems?|crash\w*",
        &["what failed?", "did \"X\" fail?", "what error did the call with \"X\" give?"],
    ),
    (
        r"run|ran|command\w*|execut\w+|used?|using|tests?",
        &["did we run \"X\"?", "how often did we run the tests?"],
    ),
    (
        r"before|after|first|order|earlier",
        &["did the call \"A\" come before the call \"B\"?", "what was the first Bash call?"],
    ),
    (
        r"users?|assistant|said|says?|wr[io]te|written|mention\w*|asked|told|messages?",
        &["did the user say \"X\"?", "what did the user say about the timeout?", "who said \"X\"?"],
    ),
    (
        r"files?|chang\w*|edit\w*|modif\w+|creat\w+|read",
        &["which changes were made to src/a.rs?", "which files did we write?", "did we read src/a.rs?"],
    ),
    (
        r"values?|set|settings?|config\w*|keys?",
        &["which value did max_conns have?", "did we modify system config?"],
    ),
    (r"occur\w*|appear\w*|contain\w*|where", &["where does \"X\" occur?", "which message contains \"X\"?"]),
    (
        r"rules?|allow\w*|forbid\w*|forbade|permi\w+|may|must|should|approv\w+|ban\w*",
        &["what rules are in force?", "may we edit src/a.rs now?", "did the user approve the push?"],
    ),
    (
        r"push\w*|publish\w*|install\w*|delet\w*|remov\w*|sen[dt]|commit\w*|deploy\w*|restart\w*",
        &["did we push?", "what was installed?", "did we delete src/a.rs?"],
    ),
];

/// Of no question in particular.
const ANY: &[&str] =
    &["did we push?", "which files did we write?", "did the user say \"X\"?", "what failed?"];

/// What can be read instead of `text`.
fn readable(text: &str) -> String {
    const SHOWN_MAX: usize = 4;
    let near =
        |words: &str| Regex::new(&format!(r"(?i)\b(?:{words})\b")).is_ok_and(|regex| regex.is_match(text));
    let rows: Vec<&[&str]> = NEAR.iter().filter(|(words, _)| near(words)).map(|(_, own)| *own).collect();
    let ranked = (0..SHOWN_MAX).flat_map(|n| rows.iter().filter_map(move |own| own.get(n)));
    let mut all: Vec<&str> = ranked.copied().take(SHOWN_MAX).collect();
    if all.is_empty() {
        all = ANY.to_vec();
    }
    let all = all.join(" | ");
    format!(
        "I can read: {all}; a text to look for stands between quotes; \
        or type a query such as \"list said X\", \"list results X\", \"ever effects X\""
    )
}

fn outcome(question: &str) -> Outcome {
    let Some(whole) = Sentence::read(question) else { return Outcome::Unknown };
    let Some((sentence, terms)) = places(&whole) else { return Outcome::Unknown };
    let placed = if terms.is_empty() { Placed::No } else { Placed::Yes };
    let with_terms = |form: &str, clause: &str| {
        let parts = [form, clause].into_iter().chain(terms.iter().map(String::as_str));
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    };
    if let Some((form, clause)) = patterns::question(&sentence, placed) {
        // A result lies behind its call, and an order has two places.
        let unplaced = form.is_empty() || clause.starts_with("results");
        return match placed {
            Placed::Yes if unplaced => Outcome::Unknown,
            _ => Outcome::Typed(with_terms(form, &clause)),
        };
    }
    if TABLE.order.as_ref().is_some_and(|regex| regex.is_match(&sentence.text)) {
        let read = if terms.is_empty() { ordered(&sentence) } else { None };
        return read.map_or(Outcome::Unknown, Outcome::Typed);
    }
    match acts::question(&sentence) {
        Some(Asked::For(form, clause)) => Outcome::Typed(with_terms(form, &clause)),
        Some(Asked::Nearest(typed)) => Outcome::Nearest(typed),
        None => Outcome::Unknown,
    }
}

/// The sentence without the places it speaks of, and these as terms; none where a place cannot be read.
fn places(sentence: &Sentence) -> Option<(Sentence, Vec<String>)> {
    let (mut text, mut terms) = (sentence.text.clone(), Vec::new());
    for (regex, term) in &TABLE.times {
        if regex.is_match(&text) {
            text = regex.replace(&text, " ").into_owned();
            terms.push((*term).to_owned());
        }
    }
    if let Some(found) = TABLE.session.as_ref().and_then(|regex| regex.captures(&text)) {
        terms.push(format!("session:{}*", found.get(1)?.as_str()));
        text = text.replace(found.get(0)?.as_str(), " ");
    }
    if let Some(found) = TABLE.between.as_ref().and_then(|regex| regex.captures(&text)) {
        terms.push(format!("from:L{} to:L{}", found.get(1)?.as_str(), found.get(2)?.as_str()));
        text = text.replace(found.get(0)?.as_str(), " ");
    } else if let Some(found) = TABLE.record.as_ref().and_then(|regex| regex.captures(&text)) {
        let number = found.get(2).or_else(|| found.get(3))?.as_str();
        terms.push(record_terms(&found.get(1)?.as_str().to_lowercase(), number.parse().ok()?)?);
        let shown = found.get(1)?.as_str().to_lowercase().starts_with("show");
        text = text.replace(found.get(0)?.as_str(), if shown { "show " } else { " " });
    }
    let text: Vec<&str> = text.split_whitespace().collect();
    Some((sentence.part(&text.join(" ")), terms))
}

/// The records that lie so to record `number`.
fn record_terms(side: &str, number: u64) -> Option<String> {
    Some(match side {
        "after" => format!("from:L{}", number.checked_add(1)?),
        "before" => format!("to:L{}", number.checked_sub(1).filter(|last| *last > 0)?),
        "as of" => format!("at:L{number}"),
        "since" | "from" => format!("from:L{number}"),
        "until" | "up to" => format!("to:L{number}"),
        _ => format!("from:L{number} to:L{number}"),
    })
}

/// Two acts in an order: `was A before B`.
fn ordered(sentence: &Sentence) -> Option<String> {
    let found = TABLE.order.as_ref()?.captures(&sentence.text)?;
    let (all, word) = (found.get(0)?, found.get(1)?);
    let (one, two) = (sentence.text.get(..all.start())?, sentence.text.get(all.end()..)?);
    if TABLE.order.as_ref()?.is_match(two) {
        return None;
    }
    let two = match object_of(sentence, one) {
        Some(object) => TABLE.pronoun.as_ref()?.replace_all(two, object).into_owned(),
        None => two.to_owned(),
    };
    let (one, two) = (side(&sentence.part(one))?, side(&sentence.part(&two))?);
    Some(format!("{one} {} {two}", word.as_str().to_lowercase()))
}

/// One side of an order as a clause.
fn side(sentence: &Sentence) -> Option<String> {
    let whole = patterns::question(sentence, Placed::No)
        .filter(|(form, _)| *form == "ever")
        .map(|(_, clause)| clause);
    whole.or_else(|| acts::part(sentence))
}

/// The object of a question, for the `it` of what follows: its last word that is meant literally.
fn object_of<'s>(sentence: &Sentence, text: &'s str) -> Option<&'s str> {
    text.split(' ').rfind(|word| match sentence.spelling(word) {
        Spelling::Quoted(_) | Spelling::Code(_) => true,
        Spelling::Word(word) => words::is_literal(word),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_table_compiles() {
        assert_eq!(patterns::unread(), Vec::<&str>::new());
        assert!(acts::compiles());
        assert_eq!(TABLE.times.len(), TIMES.len());
        assert!(TABLE.session.is_some() && TABLE.order.is_some() && TABLE.pronoun.is_some());
        assert!(TABLE.between.is_some() && TABLE.record.is_some());
    }

    #[test]
    fn questions_are_read_as_typed_queries() {
        for (question, reading) in [
            ("Did we ever modify system configuration?", "ever changes system-config"),
            ("did we push anything?", "ever effects kind:vcs.remote"),
            ("How many times was v1.8.0 pushed?", "count effects kind:vcs.remote v1.8.0"),
            (
                "Did the agent ever run rm -rf?",
                r"ever calls cmd:rm arg:/(?:\brm\b|[$]\w+)(?:[^;&|\n]|\\\n)*\s(?:-[A-Za-z]*[rR]|--recursive\b)/ arg:/(?:\brm\b|[$]\w+)(?:[^;&|\n]|\\\n)*\s(?:-[A-Za-z]*[f]|--force\b)/",
            ),
            ("Which files did we write?", "list files op:written"),
            ("which files were deleted?", "list files op:deleted"),
            ("Did the user approve the push?", "ever rules by:user kind:approval about:push"),
            ("Did the user ever say \"go ahead\"?", "ever said by:user \"go ahead\""),
            ("What did the user say about the backup?", "list said by:user backup"),
            ("Did the user forbid force-pushing?", "ever rules by:user kind:ban about:force-push*"),
            ("May the agent push to main?", "list rules about:push about:main"),
            ("Was redis installed?", "ever changes installed redis"),
            (
                "Was the backup taken before the table was dropped?",
                "changes backups before changes deleted table",
            ),
            ("What was p99?", "value values p99"),
            ("To what value was max_conns set?", "value values max_conns"),
            ("Was the session compacted?", "ever compactions"),
            ("What failed after the first compaction?", "list errors from:compaction:1"),
            ("Did we drop a table in session bbbbbbbb?", "ever changes deleted table session:bbbbbbbb*"),
            ("Does docs/plan.md still exist?", "now files path:docs/plan.md"),
            ("Was a credential exposed?", "ever literals kind:secret"),
            ("Did the tests pass?", "list claims tests pass*"),
            (
                "did we force-push?",
                r"ever effects kind:vcs.remote arg:/push\b[^;&|]*\s(?:-[a-zA-Z]*f\b|--force|--mirror\b|[+]\w)/",
            ),
            ("Did we send an email to ops@example.com?", "ever changes sent ops@example.com"),
        ] {
            let query = plain(question).unwrap_or_else(|| panic!("{question}"));
            assert_eq!(query.to_string(), reading, "{question}");
        }
    }

    #[test]
    fn flags_are_found_in_every_spelling() {
        let met = |question: &str, call: &str| {
            let query = plain(question).unwrap_or_else(|| panic!("{question}")).to_string();
            let patterns: Vec<&str> =
                query.split(" arg:/").skip(1).map(|rest| rest.trim_end_matches('/')).collect();
            assert!(!patterns.is_empty(), "{query}");
            patterns.iter().all(|pattern| Regex::new(pattern).unwrap().is_match(call))
        };
        for call in [
            "rm -rf a",
            "rm -fr a",
            "rm -r -f a",
            "rm -Rf a",
            "rm --recursive --force a",
            "xargs rm -rvf",
            "$r -rf a",
        ] {
            assert!(met("Did the agent ever run rm -rf?", call), "{call}");
            assert!(met("Did the agent ever run `rm -rf`?", call), "{call}");
        }
        for call in ["rm -r a", "rm -f a", "rm a; ls -rf", "rm a"] {
            assert!(!met("Did the agent ever run rm -rf?", call), "{call}");
        }
        let verify = "Did the agent ever run git commit --no-verify?";
        assert!(met(verify, "git commit -nm x") && met(verify, "git commit -m x --no-verify"));
        assert!(!met(verify, "git log -n 5 && git commit"));
        assert!(
            met("did we force-push?", "git push origin +main")
                && !met("did we force-push?", "git push origin main")
        );
    }

    #[test]
    fn words_that_name_nothing_end_in_no_answer() {
        for (question, reading) in [
            ("Did we ever delete the production database?", "ever changes deleted env:prod"),
            ("Did we delete the users table?", "ever changes deleted users table"),
            ("Did we push the main branch?", "ever effects kind:vcs.remote main"),
            ("Did we deploy to staging?", "ever effects kind:cloud.mutate|svc.state env:staging"),
            ("Did we delete the old file src/a.rs?", "ever changes deleted src/a.rs"),
            ("Did the agent ever run git push?", "ever calls cmd:git arg:push"),
        ] {
            let query = plain(question).unwrap_or_else(|| panic!("{question}"));
            assert_eq!(query.to_string(), reading, "{question}");
        }
        for (question, nearest) in [
            ("Did we ever delete the database?", "ever changes deleted"),
            ("Did we delete important customer data?", "ever changes deleted"),
            ("Did we remove all stale expired sessions?", "ever changes deleted"),
            ("Did we push anything yesterday?", "ever effects kind:vcs.remote"),
            ("Did the agent run the test suite?", "ever calls"),
        ] {
            assert_eq!(plain(question), None, "{question}");
            let error = read(question).unwrap_err().to_string();
            assert!(error.contains(&format!("\"{nearest}\"")), "{question}: {error}");
        }
    }

    #[test]
    fn what_cannot_be_mapped_is_refused_with_what_can() {
        assert_eq!(plain("Colourless green ideas?"), None);
        let error = read("Is it nice weather over there today?").unwrap_err().to_string();
        assert!(error.contains("I can read:") && error.contains("list said X"), "{error}");
        assert!(read("efects kind:fs").unwrap_err().to_string().contains("did you mean \"effects\""));
        assert_eq!(read("count said x").unwrap().to_string(), "count said x");
    }

    /// Phrasings written before the table was looked at, with the readings that are meant.
    const PHRASINGS: &str = include_str!("phrasings.tsv");

    #[test]
    fn plain_phrasings_are_read_as_meant() {
        let rows = PHRASINGS.lines().filter(|line| !line.starts_with('#'));
        let rows: Vec<(&str, &str)> = rows.filter_map(|line| line.split_once('\t')).collect();
        let mut other = Vec::new();
        for (question, meant) in &rows {
            let read = plain(question).map(|query| query.to_string());
            let meant = parse(meant).unwrap_or_else(|error| panic!("{meant}: {error}")).to_string();
            if read.as_ref() != Some(&meant) {
                other.push(format!("{question}\n    meant {meant}\n    read  {read:?}"));
            }
        }
        let read = rows.len() - other.len();
        println!("{read} of {} phrasings read as meant\n{}", rows.len(), other.join("\n"));
        assert!(rows.len() >= 60 && other.is_empty(), "{}", other.join("\n"));
    }

    /// Questions as people put them, with their readings, and questions that must be refused.
    const QUESTIONS: &str = include_str!("questions.tsv");

    #[test]
    fn questions_are_read_as_meant_or_refused() {
        let rows: Vec<&str> = QUESTIONS.lines().filter(|line| !line.starts_with('#')).collect();
        let mut other = Vec::new();
        for row in &rows {
            let (question, meant) =
                row.split_once('\t').map_or((*row, None), |(question, meant)| (question, Some(meant)));
            let meant = meant
                .map(|meant| parse(meant).unwrap_or_else(|error| panic!("{meant}: {error}")).to_string());
            let read = plain(question).map(|query| query.to_string());
            if read != meant {
                other.push(format!("{question}\n    meant {meant:?}\n    read  {read:?}"));
            }
        }
        let refused = rows.iter().filter(|row| !row.contains('\t')).count();
        assert!(rows.len() - refused >= 150 && refused >= 100, "{} {refused}", rows.len());
        assert!(other.is_empty(), "{} of {}\n{}", other.len(), rows.len(), other.join("\n"));
    }

    #[test]
    fn the_questions_that_are_offered_can_be_read() {
        for question in NEAR.iter().flat_map(|(_, own)| *own).chain(ANY) {
            assert!(plain(question).is_some(), "{question}");
        }
        let hint = read("Which tool was the most annoying one?").unwrap_err().to_string();
        assert!(hint.contains("how often was the Bash tool used?"), "{hint}");
    }

    proptest! {
        #[test]
        fn any_sentence_is_read_or_refused(text in "[ -~é“”迁]{0,60}") {
            if let Some(query) = plain(&text) {
                prop_assert_eq!(parse(&query.to_string()).unwrap(), query);
            }
        }
    }
}
