//! A question as one line of words: quotations set aside, contractions spelled out, courtesies and empty endings left out.

use std::sync::LazyLock;

use regex::Regex;

/// Stands before the number of a quotation.
const QUOTE: char = '\u{E000}';
/// Stands before the number of a code span.
const CODE: char = '\u{E001}';

/// One question.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    /// Words with one blank between them; a quotation is a mark and its number.
    pub(super) text: String,
    quotes: Vec<String>,
}

/// What a word of a sentence is, as it is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling<'s> {
    /// It stands between quotation marks.
    Quoted(&'s str),
    /// It stands between backticks.
    Code(&'s str),
    /// A word of the sentence.
    Word(&'s str),
}

struct Rules {
    spelled_out: Vec<(Regex, &'static str)>,
    courtesy: Option<Regex>,
    ending: Option<Regex>,
}

/// Contractions and verbs of two words, and what stands for them.
const SPELLED_OUT: &[(&str, &str)] = &[
    (r"\b(what|who|where|when|how|that|it|there)['’]s\b", "$1 is"),
    (r"\b(we|you|i|they)['’]ve\b", "$1 have"),
    (r"\b(we|you|they)['’]re\b", "$1 are"),
    (r"\bforce[\s-]+push(?:es)?\b", "force-push"),
    (r"\bforce[\s-]+pushed\b", "force-pushed"),
    (r"\bforce[\s-]+pushing\b", "force-pushing"),
    (r"\blook(?:ed)? (?:at|into)\b", "looked-at"),
    (r"\bback(?:ed)? up\b", "backed-up"),
    (r"\bmost (?:recent|recently)\b", "last"),
    (r"\be-?mail", "mail"),
    (r"\b(?:earlier than|prior to|ahead of|sooner than)\b", "before"),
    (r"\blater than\b", "after"),
    (r"\bpreceded?\b", "come before"),
    (r"^(what|which|where|when|who|how) exactly\b", "$1"),
    // One thing stands in one record.
    (
        r"\b(call|command|message|result|output|value) from (?:the )?(line|record|step|entry|row)\b",
        "$1 in $2",
    ),
];

/// Words before a question that ask for nothing.
const COURTESY: &str = r"^(?:(?:please|so|ok|okay|hey|hi|well|now tell me|(?:(?:can|could|would|will) you )?(?:please )?tell me|(?:can|could|would) you (?:please )?(?:(?P<show>show|list|find|give|locate|display|pull up|look up|print|quote)\b)|do (?:you|we) (?:know|remember|recall)|(?:in total|overall|altogether|all in all)|i(?: would| want| need|'d)? (?:like )?to know|i wonder) )";

/// Words behind a question that ask for nothing: the whole record is asked in any case.
const ENDING: &str = r" (?:please|ever|at all|successfully|so far|anywhere|here|overall|altogether|in total|exactly|at any (?:time|point)|at some (?:time|point)|in (?:this|the|that|our|the whole|the entire) (?:session|transcript|conversation|log|chat|history|run)|during (?:this|the) (?:session|conversation|run)|of (?:this|the) (?:session|conversation))$";

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let compile = |text: &str| Regex::new(&format!("(?i){text}")).ok();
    Rules {
        spelled_out: SPELLED_OUT.iter().filter_map(|(text, own)| Some((compile(text)?, *own))).collect(),
        courtesy: compile(COURTESY),
        ending: compile(ENDING),
    }
});

impl Sentence {
    /// The sentence of `question`; none where quotes are left open or more than one sentence is written.
    pub(super) fn read(question: &str) -> Option<Self> {
        let (marked, quotes) = set_aside(question)?;
        let mut words = Vec::new();
        let said: Vec<&str> = marked.split_whitespace().collect();
        for (n, word) in said.iter().enumerate() {
            let last = n + 1 == said.len();
            let ends = word.ends_with(['?', '？', '!', ';']) || (word.ends_with('.') && word.len() > 1);
            if ends && !last {
                return None;
            }
            let word =
                word.trim_matches([',', ';', '!', '?', '(', ')', '\'', '’', '？']).trim_end_matches('.');
            let word =
                word.strip_suffix(':').filter(|word| word.chars().all(char::is_alphabetic)).unwrap_or(word);
            if !word.is_empty() {
                words.push(word);
            }
        }
        let mut text = words.join(" ");
        for (regex, own) in &RULES.spelled_out {
            text = regex.replace_all(&text, *own).into_owned();
        }
        Some(Self { text: bare(text), quotes })
    }

    /// A part of this sentence, as a sentence.
    pub(super) fn part(&self, text: &str) -> Self {
        Self { text: text.trim().to_owned(), quotes: self.quotes.clone() }
    }

    /// The text of the one quotation or code span that `words` are.
    pub(super) fn sole(&self, words: &str) -> Option<&str> {
        let n = words.trim().strip_prefix([QUOTE, CODE])?;
        self.quotes.get(n.parse::<usize>().ok()?).map(String::as_str)
    }

    /// What `word` of the sentence is.
    pub(super) fn spelling<'s>(&'s self, word: &'s str) -> Spelling<'s> {
        let quote = |mark: char| {
            let n: usize = word.strip_prefix(mark)?.parse().ok()?;
            self.quotes.get(n).map(String::as_str)
        };
        match (quote(QUOTE), quote(CODE)) {
            (Some(text), _) => Spelling::Quoted(text),
            (_, Some(text)) => Spelling::Code(text),
            _ => Spelling::Word(word),
        }
    }
}

/// Without the words that ask for nothing.
fn bare(mut text: String) -> String {
    loop {
        let before = text.len();
        if let Some(found) = RULES.courtesy.as_ref().and_then(|regex| regex.captures(&text)) {
            let kept = found.name("show").map_or_else(String::new, |word| format!("{} ", word.as_str()));
            let end = found.get(0).map_or(0, |all| all.end());
            let rest = text.get(end..).unwrap_or_default();
            // "Tell me the value" asks to be shown it.
            let named = kept.is_empty() && ["the ", "all ", "every "].iter().any(|own| begins(rest, own));
            text = format!("{kept}{}{rest}", if named { "show " } else { "" });
        }
        if let Some(found) = RULES.ending.as_ref().and_then(|regex| regex.find(&text)) {
            text.truncate(found.start());
        }
        if text.len() == before {
            return text;
        }
    }
}

fn begins(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|own| own.eq_ignore_ascii_case(word))
}

/// The question with a mark for every quotation and code span, and their texts.
fn set_aside(question: &str) -> Option<(String, Vec<String>)> {
    if question.contains([QUOTE, CODE]) {
        return None;
    }
    let (mut marked, mut quotes) = (String::new(), Vec::new());
    let mut rest = question;
    let mut before = ' ';
    while let Some(open) = rest.chars().next() {
        let after = rest.get(open.len_utf8()..)?;
        let Some(close) = closing(open, before) else {
            marked.push(open);
            (rest, before) = (after, open);
            continue;
        };
        let Some(len) = length(after, open, close) else {
            if open == '\'' || open == '‘' {
                marked.push(open);
                (rest, before) = (after, open);
                continue;
            }
            return None;
        };
        let text = after.get(..len)?;
        if text.trim().is_empty() {
            return None;
        }
        let mark = if open == '`' { CODE } else { QUOTE };
        marked.extend([format!(" {mark}"), quotes.len().to_string(), " ".to_owned()]);
        quotes.push(text.replace("\\\"", "\""));
        rest = after.get(len + close.len_utf8()..)?;
        before = ' ';
    }
    Some((marked, quotes))
}

/// What ends a quotation that `open` begins.
fn closing(open: char, before: char) -> Option<char> {
    match open {
        '"' | '`' => Some(open),
        '“' | '„' => Some('”'),
        '‘' => Some('’'),
        '\'' if before.is_whitespace() => Some('\''),
        _ => None,
    }
}

/// The bytes up to the closing mark; an apostrophe closes only at the end of a word.
fn length(text: &str, open: char, close: char) -> Option<usize> {
    let single = matches!(open, '\'' | '‘');
    text.match_indices(close).map(|(at, _)| at).find(|at| {
        let next = text.get(at + close.len_utf8()..).and_then(|rest| rest.chars().next());
        let escaped = open == '"' && text.get(..*at).is_some_and(|text| text.ends_with('\\'));
        !escaped && (!single || next.is_none_or(|c| c.is_whitespace() || ",.?!;)".contains(c)))
    })
}
