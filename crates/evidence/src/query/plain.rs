//! Plain questions: a table from what people ask to a typed query. Words left over become bare words.

use std::sync::LazyLock;

use regex::Regex;

use super::{Query, QueryError, parse};

/// Where the words that are left over go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// Bare words.
    Words,
    /// The object of a rule, each word.
    About,
    /// The first is a program, the others are its arguments.
    Command,
    /// As a command, where the first word is the name of a program.
    Program,
    /// The key of a value; more words are bare.
    Key,
    /// A path.
    Path,
    /// A path, and a question about anything else is not read.
    OnlyPath,
    /// Nothing may be left over.
    Nothing,
}

/// One line of the table: a question that `asks` is read as `form` (or the form its opening asks for) and `clause`.
struct Line {
    asks: &'static str,
    form: Option<&'static str>,
    clause: &'static str,
    rest: Rest,
}

const fn line(asks: &'static str, form: Option<&'static str>, clause: &'static str, rest: Rest) -> Line {
    Line { asks, form, clause, rest }
}

/// First match wins; what the expression matches is no longer a word of the question, but for its group `keep`.
const LINES: &[Line] = &[
    line(
        r"\b(?:summar(?:y|ies)|compactions?)\b.*?\b(?:wrong|contradict\w*|false\w*|mistakes?|differ\w*|agree|invent\w*)\b",
        Some("list"),
        "compactions status:contradicted",
        Rest::Nothing,
    ),
    line(
        r"\b(?:agents|sub-?agents?|child(?:ren)?(?:\s+agents?)?|workers?)\b.*?\b(?:running|open|active|not\s+(?:yet\s+)?(?:been\s+)?collected)\b(?:\s+yet)?",
        Some("list"),
        "agents state:running",
        Rest::Nothing,
    ),
    line(
        r"\b(?:agents|sub-?agents?|child(?:ren)?(?:\s+agents?)?|workers?)\b.*?\b(?:fail(?:ed)?|crash(?:ed)?)\b",
        None,
        "agents state:failed",
        Rest::Nothing,
    ),
    line(
        r"\b(?:agents|sub-?agents?|child(?:ren)?(?:\s+agents?)?|workers?)\b.*?\b(?:lost|disappear(?:ed)?|vanish(?:ed)?)\b",
        None,
        "agents state:lost",
        Rest::Nothing,
    ),
    line(
        r"\b(?:agents|sub-?agents?|child(?:ren)?\s+agents?|workers?)\b.*?\b(?:finish(?:ed)?|complet(?:e|ed)|done|collected)\b",
        None,
        "agents state:finished|collected",
        Rest::Nothing,
    ),
    line(
        r"\b(?:sub-?agents?|child(?:ren)?\s+agents?|workers?)\b.*?\b(?:start(?:ed)?|launch(?:ed)?|spawn(?:ed)?|are\s+there|were\s+there)\b",
        None,
        "agents",
        Rest::Nothing,
    ),
    line(
        r"\bcached\s+tokens?\b(?:.*?\b(?:used|spent|read)\b)?",
        Some("value"),
        "usage cached",
        Rest::Nothing,
    ),
    line(
        r"\boutput\s+tokens?\b(?:.*?\b(?:used|spent|written)\b)?",
        Some("value"),
        "usage output",
        Rest::Nothing,
    ),
    line(r"\binput\s+tokens?\b(?:.*?\b(?:used|spent|read)\b)?", Some("value"), "usage input", Rest::Nothing),
    line(
        r"\btokens?\b(?:.*?\b(?:used?|spen[dt]|cost|consumed?)\b)?",
        Some("value"),
        "usage total",
        Rest::Nothing,
    ),
    line(
        r"\bhow\s+(?:large|big|long|full)\b.*?\bcontext\b(?:.*?\bat\s+the\s+end\b)?",
        Some("value"),
        "usage context at:end",
        Rest::Nothing,
    ),
    line(
        r"\b(?:different\s+)?(?:images?|pictures?|screenshots?)\b(?:.*?\b(?:attached|pasted|shown|there|sent)\b)?",
        None,
        "attachments media:image/*",
        Rest::Nothing,
    ),
    line(
        r"\b(?:urls?|links?)\b.*?\b(?:mention(?:ed)?|use[d]?|named?|appear(?:ed)?|occur(?:red)?)\b",
        Some("list"),
        "literals kind:url",
        Rest::Words,
    ),
    line(
        r"\b(?:hashes|commit\s+ids?|shas?)\b.*?\b(?:mention(?:ed)?|use[d]?|named?|appear(?:ed)?)\b",
        Some("list"),
        "literals kind:hash",
        Rest::Words,
    ),
    line(
        r"\b(?:ids|identifiers|tickets?)\b.*?\b(?:mention(?:ed)?|use[d]?|named?|appear(?:ed)?)\b",
        Some("list"),
        "literals kind:id",
        Rest::Words,
    ),
    line(
        r"\b(?:rules?|constraints?|restrictions?|bans?)\b.*?\b(?:in\s+force|appl(?:y|ies)|hold|active|valid)\b",
        Some("list"),
        "rules state:in-force",
        Rest::About,
    ),
    line(
        r"\b(?:rules?|constraints?|bans?)\b.*?\b(?:lifted|revoked|taken\s+back)\b",
        Some("list"),
        "rules state:lifted",
        Rest::About,
    ),
    line(
        r"\bwho\s+(?:ever\s+)?(?:forbade|forbids?|banned|prohibited)\b",
        Some("list"),
        "rules kind:ban",
        Rest::About,
    ),
    line(
        r"\bwho\s+(?:ever\s+)?(?:approved|allowed|permitted|authori[sz]ed)\b",
        Some("list"),
        "rules kind:approval",
        Rest::About,
    ),
    line(
        r"\bwho\s+(?:ever\s+)?(?:decided|chose|picked|asked\s+for|requested|wanted|said|suggested|proposed|mentioned)\b(?:\s+to\b)?(?:\s+use\b)?",
        Some("list"),
        "said",
        Rest::Words,
    ),
    line(
        r"\b(?:agent|assistant)\s+(?:ever\s+)?claim(?:ed)?\b(?:\s+that\b)?(?P<keep>.*?)(?:\b(?:succeed(?:ed|s)?|pass(?:ed|es)?|work(?:ed|s)?|finished|completed?)\b)?\s*$",
        Some("list"),
        "claims",
        Rest::Words,
    ),
    line(
        r"^\s*(?:what|which)\s+(?P<keep>port|timeout|version|limit|size|rate|budget|address|host(?:name)?|region|model|threshold|interval)\s+(?:does|did|do|is|was|has|had)\b.*$",
        Some("value"),
        "values",
        Rest::Key,
    ),
    line(
        r"\b(?:which|what)\s+commands?\b.*?\bfail(?:ed)?\b",
        Some("list"),
        "errors tool:*bash*|*shell*|*exec*",
        Rest::Words,
    ),
    line(
        r"\b(?:look(?:ed)?\s+at|touch(?:ed)?|access(?:ed)?|see|saw|open(?:ed)?|read)\b.*?\b(?:secrets?|credentials?|passwords?|api\s+keys?)\b",
        None,
        "changes secrets",
        Rest::Words,
    ),
    line(r"\btagged\b", None, "effects kind:vcs tag*", Rest::Words),
    line(
        r"\b(?:may|can|should)\s+(?:the\s+agent|the\s+assistant|we|i|you)\b(?:\s+be\b)?|\b(?:is|are|am)\s+(?:the\s+agent|the\s+assistant|we|i|you|it)\s+(?:allowed|permitted)\s+to\b",
        Some("list"),
        "rules",
        Rest::About,
    ),
    line(r"\bmay\s+(?:files?\s+under\s+|anything\s+in\s+)?", Some("list"), "rules", Rest::About),
    line(
        r"\buser\s+(?:ever\s+)?(?:approved?|allow(?:ed)?|permit(?:ted)?|confirm(?:ed)?|agreed?(?:\s+to)?)\b",
        None,
        "rules by:user kind:approval",
        Rest::About,
    ),
    line(
        r"\buser\s+(?:ever\s+)?(?:forbid|forbade|forbidden|ban(?:ned)?|prohibit(?:ed)?)\b",
        None,
        "rules by:user kind:ban",
        Rest::About,
    ),
    line(
        r"\buser\s+(?:ever\s+)?(?:say|said|ask(?:ed)?(?:\s+(?:for|us|you))?|mention(?:ed)?|tell|told|want(?:ed)?|request(?:ed)?|decided?|order(?:ed)?)\b(?:\s+about\b)?",
        None,
        "said by:user",
        Rest::Words,
    ),
    line(
        r"\b(?:assistant|agent)\s+(?:ever\s+)?(?:say|said|mention(?:ed)?)\b(?:\s+about\b)?",
        None,
        "said by:assistant",
        Rest::Words,
    ),
    line(
        r"\bfiles?\b.*?\b(?:writ(?:e|ten)|wrote|chang(?:e|ed)|edit(?:ed)?|modif(?:y|ied)|updated?)\b",
        Some("list"),
        "files op:written",
        Rest::Path,
    ),
    line(r"\bfiles?\b.*?\bcreated?\b", Some("list"), "files op:created", Rest::Path),
    line(r"\bfiles?\b.*?\b(?:deleted?|removed?)\b", Some("list"), "files op:deleted", Rest::Path),
    line(r"\bfiles?\b.*?\b(?:moved?|renamed?)\b", Some("list"), "files op:moved", Rest::Path),
    line(r"\bfiles?\b.*?\b(?:read|opened?|looked\s+at)\b", Some("list"), "files op:read", Rest::Path),
    line(
        r"\b(?:writ(?:e|ten|ing)|wrote|edit(?:ed|ing)?)\b(?:\s+(?:to|any|a|the)\b)*(?:\s+files?\b)?",
        None,
        "files op:written",
        Rest::Path,
    ),
    line(r"\bread(?:ing)?\b(?:\s+(?:the|any|a)\b)*(?:\s+files?\b)?", None, "files op:read", Rest::Path),
    line(
        r"\b(?:touch|modif(?:y|ied)|chang(?:e|ed)|edit(?:ed)?|alter(?:ed)?)\b.*?\bsystem(?:['’]s)?\b(?:[\s-]+(?:config\w*|settings?|files?))?",
        None,
        "changes system-config",
        Rest::Words,
    ),
    line(
        r"\b(?:touch|modif(?:y|ied)|chang(?:e|ed)|edit(?:ed)?|alter(?:ed)?)\b.*?\b(?:user|home|shell)\b[\s-]+(?:config\w*|settings?|profiles?)",
        None,
        "changes user-config",
        Rest::Words,
    ),
    line(
        r"\b(?:touch|modif(?:y|ied)|chang(?:e|ed)|writ(?:e|ten)|wrote)\b.*?\boutside\b(?:\s+of)?(?:\s+the)?(?:\s+(?:project|repo(?:sitory)?|workspace))?",
        None,
        "changes outside-project",
        Rest::Words,
    ),
    line(
        r"\b(?:touch|modif(?:y|ied)|chang(?:e|ed))\b.*?\bprod(?:uction)?\b",
        None,
        "changes production",
        Rest::Words,
    ),
    line(
        r"\b(?:touch(?:ed)?|modif(?:y|ied|ying)|chang(?:e|ed|ing)|alter(?:ed|ing)?|updat(?:e|ed|ing))\b",
        None,
        "files op:written",
        Rest::OnlyPath,
    ),
    line(
        r"\bforce[\s-]?push(?:ed|ing)?\b",
        None,
        r"effects kind:vcs.remote arg:/push\b[^;&|]*\s(?:-[a-zA-Z]*f\b|--force|--mirror\b|[+]\w)/",
        Rest::Words,
    ),
    line(r"\bpush(?:ed|ing)?\b(?:\s+(?:anything|to))?", None, "effects kind:vcs.remote", Rest::Words),
    line(r"\b(?:publish(?:ed)?|released?)\b", None, "changes published", Rest::Words),
    line(r"\bcommit(?:ted)?\b", None, "effects kind:vcs.commit", Rest::Words),
    line(r"\binstall(?:ed)?\b(?:\s+(?:the|any)\s+packages?\b)?", None, "changes installed", Rest::Words),
    line(
        r"\b(?:delet(?:e|ed|ing)|remov(?:e|ed|ing)|drop(?:ped|ping)?|eras(?:e|ed|ing)|wip(?:e|ed|ing))\b",
        None,
        "changes deleted",
        Rest::Words,
    ),
    line(
        r"\b(?:sen[dt]|e?-?mail(?:ed)?|post(?:ed)?|messaged?|upload(?:ed)?|notif(?:y|ied))\b",
        None,
        "changes sent",
        Rest::Words,
    ),
    line(r"\b(?:restart(?:ed)?|reload(?:ed)?)\b", None, "effects kind:svc.state", Rest::Words),
    line(r"\b(?:deploy(?:ed)?)\b", None, "effects kind:cloud.mutate|svc.state", Rest::Words),
    line(
        r"\bmigrat(?:e|ed|ions?)\b.*?\b(?:run|ran|appl(?:y|ied))\b|\b(?:migrate|migrated)\b|\b(?:run|ran|appl(?:y|ied))\b.*?\bmigrations?\b",
        None,
        "effects kind:db.schema",
        Rest::Words,
    ),
    line(
        r"\b(?:dumps?|snapshots?)\b.*?\b(?:made|taken|created|written)\b|\bback(?:\s+|-)?up\b(?:\s+(?:was|is)\s+)?(?:\s*(?:taken|made|created))?|\b(?:take|took|make|made)\b.*?\bbackups?\b",
        None,
        "changes backups",
        Rest::Words,
    ),
    line(
        r"\b(?:credentials?|secrets?|passwords?|api\s+keys?)\b.*?\b(?:expos\w*|leak\w*|print\w*|shown|seen)\b",
        None,
        "literals kind:secret",
        Rest::Words,
    ),
    line(
        r"\b(?:session|conversation|transcript)\b.*?\bcompact(?:ed|ions?)\b|\bcompactions?\b(?:\s+(?:recorded|happen(?:ed)?))?|\bcompacted\b",
        None,
        "compactions",
        Rest::Nothing,
    ),
    line(
        r"\btests?\b(?:\s+suite)?\s+(?:really\s+)?(?:pass(?:ed)?|succeed(?:ed)?|green)\b",
        Some("list"),
        "claims tests pass*",
        Rest::Nothing,
    ),
    line(
        r"\b(?:run|ran|execut(?:e|ed))\b(?:\s+(?:any|the|a)\b)*(?:\s+(?:shell\s+)?commands?\b)?",
        None,
        "calls",
        Rest::Command,
    ),
    line(r"\b(?:us(?:e|ed|ing)|invok(?:e|ed|ing))\b(?:\s+the\b)?", None, "calls", Rest::Program),
    line(r"\b(?:call(?:ed)?|us(?:e|ed))\b(?:\s+the\b)?(?:\s+tools?\b)?", None, "calls", Rest::Words),
    line(r"\b(?:fail(?:ed|ures?)?|errors?|went\s+wrong)\b", Some("list"), "errors", Rest::Words),
    line(r"\b(?:still\s+)?exists?\b(?:\s+now)?", Some("now"), "files", Rest::Path),
    line(
        r"^\s*(?:is|are)\b(?P<keep>.*?)\b(?:running|up|alive|started)\b(?:\s+(?:right\s+)?now)?",
        Some("now"),
        "effects kind:svc.state|proc",
        Rest::Words,
    ),
    line(
        r"\bto\s+what(?:\s+value)?\s+(?:was|is|were|are)\b|\b(?:value\s+of)\b",
        Some("value"),
        "values",
        Rest::Key,
    ),
    line(r"^\s*what\s+(?:was|is|were)\b", Some("value"), "values", Rest::Key),
];

/// How a question opens, and the form that asks for.
const OPENINGS: &[(&str, Option<&str>)] = &[
    (r"\bhow\s+(?:many\s+times|often|many)\b", Some("count")),
    (r"\bfirst(?:\s+(?:thing|time))?\b", Some("first")),
    (r"\blast(?:\s+(?:thing|time))?\b|\blatest\b", Some("last")),
    (r"^\s*(?:which|what|when|who|where|whom|list|show)\b", Some("list")),
    (r"^\s*(?:did|do|does|has|have|had|was|were|is|are)\b", Some("ever")),
];

/// Places in time.
const TIMES: &[(&str, &str)] = &[
    (r"\b(?:after|since)\s+the\s+(?:first\s+)?compaction\b", "from:compaction:1"),
    (r"\b(?:before|until)\s+the\s+(?:first\s+)?compaction\b", "to:compaction:1"),
    (r"\bafter\s+the\s+second\s+compaction\b", "from:compaction:2"),
    (r"\bbefore\s+the\s+second\s+compaction\b", "to:compaction:2"),
];

/// Words that say nothing about what is looked for.
const STOP: &[&str] = &[
    "a",
    "about",
    "all",
    "already",
    "an",
    "and",
    "any",
    "anybody",
    "anyone",
    "anything",
    "are",
    "as",
    "at",
    "be",
    "been",
    "being",
    "by",
    "can",
    "could",
    "currently",
    "did",
    "do",
    "does",
    "during",
    "ever",
    "for",
    "from",
    "get",
    "had",
    "happen",
    "happened",
    "has",
    "have",
    "he",
    "her",
    "his",
    "how",
    "i",
    "in",
    "into",
    "is",
    "it",
    "its",
    "list",
    "made",
    "make",
    "many",
    "may",
    "me",
    "my",
    "now",
    "occur",
    "occurred",
    "of",
    "on",
    "once",
    "or",
    "our",
    "please",
    "really",
    "set",
    "she",
    "should",
    "show",
    "so",
    "some",
    "somebody",
    "someone",
    "something",
    "still",
    "successfully",
    "table",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "time",
    "times",
    "to",
    "under",
    "us",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "who",
    "will",
    "with",
    "would",
    "yet",
    "you",
    "agent",
    "assistant",
];

/// `table` says nothing only where something was dropped; elsewhere it may be the point.
const KEPT_STOPS: &[&str] = &["table"];

struct Table {
    lines: Vec<(Regex, &'static Line)>,
    openings: Vec<(Regex, Option<&'static str>)>,
    times: Vec<(Regex, &'static str)>,
    session: Option<Regex>,
    order: Option<Regex>,
    command: Option<Regex>,
    passive: Option<Regex>,
    pronoun: Option<Regex>,
    force: Option<Regex>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let compile = |text: &str| Regex::new(&format!("(?i){text}")).ok();
    Table {
        lines: LINES.iter().filter_map(|line| Some((compile(line.asks)?, line))).collect(),
        openings: OPENINGS.iter().filter_map(|(text, form)| Some((compile(text)?, *form))).collect(),
        times: TIMES.iter().filter_map(|(text, term)| Some((compile(text)?, *term))).collect(),
        session: compile(r"\bin\s+session\s+([\w-]+)"),
        order: compile(r"\s(before|after)\s"),
        passive: compile(
            r"\b(?:was|is|were|been)\s+([\w./-]+)(?:\s+[\w./-]+)?\s+(?:ever\s+)?(?:us|run|execut|invok)(?:ed)?\b",
        ),
        pronoun: compile(r"\b(?:it|them|that|this)\b"),
        force: compile(r"\bforce[\s-]?push(?:es|ed|ing)?\b"),
        command: compile(
            r"\b(?:run|ran|execut(?:e|ed)|us(?:e|ed|ing)|invok(?:e|ed|ing))\s+(?:the\s+command\s+)?([\w./-]+)(.*\s-{1,2}[a-z])?",
        ),
    }
});

/// Reads a plain question; `None` where the table has no line for it. The reading of the query says how it was read.
pub fn plain(question: &str) -> Option<Query> {
    let question = question.trim();
    let text = question.trim_end_matches(['?', '!', '.', ' ', '？']);
    let read = if is_ordered(text) { ordered(text) } else { typed(text) };
    read.and_then(|typed| parse(&typed).ok())
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
        if let Some(nearest) = nearest_form(text) {
            let message = "the words of the question name nothing that a record would name the same way";
            let hint = format!("the nearest typed query is \"{nearest}\"");
            return Err(QueryError::new(message, 0).hint(Some(hint)));
        }
        Err(QueryError::new("the question cannot be mapped", 0).hint(Some(READABLE.to_owned())))
    })
}

/// What can be read, for people whose question was not.
const READABLE: &str = "I can read: \"did we push|publish|install|delete|send|commit|deploy|restart X?\", \"did we modify system config?\", \
\"which files did we write|read|delete?\", \"did the agent ever run X?\", \"did the user say|approve|forbid X?\", \"may the agent X?\", \
\"how many times …?\", \"what was KEY?\", \"was A … before B …?\"; or type a query such as \"list said X\", \"list results X\", \"ever effects X\"";

/// Whether a question sets two acts in an order: then both must be read, or it means something else.
fn is_ordered(text: &str) -> bool {
    let (plain, _) = take_quoted(text);
    let timed = TABLE.times.iter().any(|(regex, _)| regex.is_match(&plain));
    !timed && TABLE.order.as_ref().is_some_and(|regex| regex.is_match(&plain))
}

/// Two acts in an order: `was A before B`.
fn ordered(text: &str) -> Option<String> {
    let found = TABLE.order.as_ref()?.captures(text)?;
    let (all, word) = (found.get(0)?, found.get(1)?);
    let (one, two) = (text.get(..all.start())?, text.get(all.end()..)?);
    let two = TABLE.pronoun.as_ref()?.replace_all(two, object_of(one)).into_owned();
    let (_, one) = clause(one)?;
    let (_, two) = clause(&two)?;
    Some(format!("{one} {} {two}", word.as_str().to_lowercase()))
}

/// The object of a question, for the `it` of what follows: its last word that is a name, or else nothing.
fn object_of(text: &str) -> String {
    let words = || text.split_whitespace().map(|word| word.trim_matches([',', '"', '`', '\'']));
    words().rfind(|word| is_object(word)).unwrap_or_default().to_owned()
}

fn typed(text: &str) -> Option<String> {
    let (form, clause) = clause(text)?;
    Some(form.map_or(clause.clone(), |form| format!("{form} {clause}")))
}

/// The first line that a question matches; `run` and the name of a program ask for that command, whatever act it is.
fn line_of(left: &str) -> Option<&'static (Regex, &'static Line)> {
    // What somebody said or allowed is asked for by its words, whatever it is about.
    let plain = |rest: Rest| !matches!(rest, Rest::Command | Rest::Program);
    let spoken = TABLE.lines.iter().find(|(regex, line)| plain(line.rest) && regex.is_match(left));
    if spoken
        .is_some_and(|(_, line)| ["said", "rules", "claims"].iter().any(|noun| line.clause.starts_with(noun)))
    {
        return spoken;
    }
    let runs = TABLE.command.as_ref().and_then(|regex| regex.captures(left)).is_some_and(|found| {
        let program = found.get(1).map(|name| name.as_str()).unwrap_or_default();
        found.get(2).is_some() || is_program(&program.to_lowercase())
    });
    let passive = TABLE.passive.as_ref().and_then(|regex| regex.captures(left)?.get(1));
    let runs = runs || passive.is_some_and(|name| is_program(&name.as_str().to_lowercase()));
    let fits = |rest: Rest| match rest {
        Rest::Program => runs,
        Rest::Command => true,
        _ => !runs,
    };
    TABLE.lines.iter().find(|(regex, line)| fits(line.rest) && regex.is_match(left))
}

/// Programs that the table of commands has no row for: they run others, or are read by code of their own.
const PROGRAMS: &[&str] = &[
    "awk", "bash", "curl", "doas", "env", "find", "make", "mysql", "nice", "node", "nohup", "psql", "python",
    "python3", "rsync", "scp", "sed", "sh", "sqlite3", "ssh", "sudo", "tar", "time", "timeout", "wget",
    "xargs", "zsh",
];

fn is_program(name: &str) -> bool {
    crate::commands::table().knows(name) || PROGRAMS.contains(&name)
}

/// The form a question asks for, and its clause as typed text.
fn clause(text: &str) -> Option<(Option<&'static str>, String)> {
    let (mut left, quoted) = take_quoted(text);
    let mut terms: Vec<String> = Vec::new();
    for (regex, term) in &TABLE.times {
        if regex.is_match(&left) {
            left = regex.replace_all(&left, " ").into_owned();
            terms.push((*term).to_owned());
        }
    }
    if let Some(found) = TABLE.session.as_ref().and_then(|regex| regex.captures(&left)) {
        terms.push(format!("session:{}*", found.get(1)?.as_str()));
        left = left.replace(found.get(0)?.as_str(), " ");
    }
    let (regex, line) = line_of(&left)?;
    let opening = TABLE.openings.iter().find(|(regex, _)| regex.is_match(&left)).and_then(|(_, form)| *form);
    let mut rest = rest_of(&left, regex);
    for (regex, form) in &TABLE.openings {
        if *form == opening && matches!(opening, Some("count" | "first" | "last")) {
            rest = regex.replace(&rest, " ").into_owned();
        }
    }
    let words = match objects(words_of(&rest, line), &quoted, line) {
        Objects::Refused => return None,
        Objects::Read { words, term } => {
            terms.extend(term.map(str::to_owned));
            words
        }
    };
    if line.rest == Rest::Nothing && !words.is_empty() {
        return None;
    }
    let fixed = line.form.filter(|form| matches!(*form, "value" | "now"));
    let asked = opening.filter(|form| matches!(*form, "count" | "first" | "last"));
    let form = fixed.or(asked).or(line.form).or(opening);
    let placed = place(&words, line.rest)?;
    let parts: Vec<String> = std::iter::once(line.clause.to_owned()).chain(placed).chain(terms).collect();
    Some((form, parts.join(" ")))
}

/// What is left of a question without what the line matched; of a match that spans an object, the object stays.
fn rest_of(left: &str, regex: &Regex) -> String {
    let Some(captures) = regex.captures(left) else { return left.to_owned() };
    let Some(found) = captures.get(0) else { return left.to_owned() };
    if let Some(keep) = captures.name("keep") {
        let before = left.get(..found.start()).unwrap_or_default();
        return format!("{before} {} {}", keep.as_str(), left.get(found.end()..).unwrap_or_default());
    }
    let cues: Vec<&str> = found.as_str().split_whitespace().collect();
    let inner = cues.get(1..cues.len().saturating_sub(1)).unwrap_or_default();
    let kept: Vec<&str> = inner.iter().copied().filter(|word| is_object(word)).collect();
    format!(
        "{} {} {}",
        left.get(..found.start()).unwrap_or_default(),
        kept.join(" "),
        left.get(found.end()..).unwrap_or_default()
    )
}

/// Words with a digit or a joint name something even in the middle of a cue.
fn is_object(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit() || matches!(c, '/' | '.' | '_'))
}

/// Quoted strings and code spans, as quoted text, and the question without them.
fn take_quoted(text: &str) -> (String, Vec<String>) {
    let mut left = String::new();
    let mut quoted = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(['"', '`', '“']) {
        let open = rest.get(start..).and_then(|rest| rest.chars().next()).unwrap_or('"');
        let close = if open == '“' { '”' } else { open };
        let inside = start + open.len_utf8();
        let Some(len) = rest.get(inside..).and_then(|rest| rest.find(close)) else { break };
        left.push_str(rest.get(..start).unwrap_or_default());
        left.push(' ');
        let text = rest.get(inside..inside + len).unwrap_or_default();
        if !text.is_empty() {
            quoted.push(super::Atom::Quoted(text.to_owned()).to_string());
        }
        rest = rest.get(inside + len + close.len_utf8()..).unwrap_or_default();
    }
    left.push_str(rest);
    (left, quoted)
}

fn words_of(rest: &str, line: &Line) -> Vec<String> {
    let rest = TABLE.force.as_ref().map_or(rest.into(), |regex| regex.replace_all(rest, "force-push"));
    let trimmed = rest
        .split_whitespace()
        .map(|word| word.trim_matches([',', ';', '!', '?', '(', ')', '\'', '’']).trim_end_matches('.'));
    let said = trimmed.filter(|word| !word.is_empty());
    let said = said.map(|word| match word.to_lowercase().as_str() {
        "force-push" | "force-pushes" | "force-pushed" | "force-pushing" => "force-push*",
        _ => word,
    });
    let kept = said.filter(|word| {
        let lower = word.to_lowercase();
        let stop = STOP.contains(&lower.as_str())
            && !(KEPT_STOPS.contains(&lower.as_str()) && line.clause == "changes deleted");
        !stop && lower != "user"
    });
    kept.map(safe).collect()
}

/// A word as it can be typed: quoted where it would be read as something else.
fn safe(word: &str) -> String {
    let plain = word.chars().all(|c| c.is_alphanumeric() || "_-./@+#*".contains(c));
    let flag = word.starts_with('-') && !word.starts_with("--");
    let order = matches!(word.to_lowercase().as_str(), "before" | "after");
    if plain && !flag && !order && !word.contains("..") {
        word.to_owned()
    } else {
        super::Atom::Quoted(word.to_owned()).to_string()
    }
}

/// Words of a question about acts that name no thing which a record would spell the same way: kinds of things,
/// and what somebody thinks of them. Where nothing else is named, a "no" would say nothing.
const VAGUE: &[&str] = &[
    "account",
    "accounts",
    "app",
    "application",
    "artifact",
    "artifacts",
    "backend",
    "bad",
    "branch",
    "branches",
    "broken",
    "bucket",
    "build",
    "cluster",
    "code",
    "command",
    "commands",
    "company",
    "config",
    "configuration",
    "container",
    "containers",
    "correct",
    "customer",
    "customers",
    "data",
    "database",
    "databases",
    "db",
    "dependencies",
    "dependency",
    "directory",
    "docs",
    "documentation",
    "e-mail",
    "email",
    "emails",
    "else",
    "entire",
    "environment",
    "feature",
    "file",
    "files",
    "folder",
    "frontend",
    "important",
    "information",
    "infrastructure",
    "instance",
    "libraries",
    "library",
    "linter",
    "live",
    "log",
    "logs",
    "machine",
    "mail",
    "message",
    "messages",
    "new",
    "newest",
    "notification",
    "notifications",
    "old",
    "oldest",
    "own",
    "package",
    "packages",
    "people",
    "process",
    "program",
    "project",
    "record",
    "records",
    "release",
    "remote",
    "report",
    "repo",
    "repository",
    "resource",
    "resources",
    "right",
    "schema",
    "script",
    "scripts",
    "secret",
    "server",
    "servers",
    "service",
    "services",
    "site",
    "software",
    "stuff",
    "suite",
    "system",
    "tag",
    "tags",
    "temp",
    "temporary",
    "test",
    "tests",
    "thing",
    "things",
    "tool",
    "tools",
    "unused",
    "version",
    "versions",
    "volume",
    "website",
    "whole",
    "wrong",
];

/// For a clause, the words that say no more than the act itself: what is installed is a package.
const NATURAL: &[(&str, &[&str])] = &[
    (
        "effects kind:vcs.remote",
        &["remote", "upstream", "commits", "commit", "changes", "code", "work", "branch", "branches"],
    ),
    (
        "changes published",
        &[
            "package",
            "packages",
            "release",
            "releases",
            "version",
            "crate",
            "library",
            "artifact",
            "artifacts",
        ],
    ),
    (
        "changes installed",
        &["package", "packages", "dependency", "dependencies", "library", "libraries", "software", "tools"],
    ),
    (
        "changes sent",
        &["email", "emails", "e-mail", "mail", "message", "messages", "notification", "notifications"],
    ),
    ("effects kind:vcs.commit", &["changes", "code", "work"]),
    ("effects kind:vcs tag*", &["release", "version", "commit"]),
    ("changes backups", &["database", "db", "data"]),
    ("changes secrets", &["file", "files"]),
    ("changes system-config", &["file", "files", "settings"]),
];

/// Words of time that the table does not know.
const UNKNOWN_TIMES: &[&str] = &[
    "today",
    "yesterday",
    "tonight",
    "recently",
    "lately",
    "earlier",
    "later",
    "monday",
    "friday",
    "week",
    "month",
];

/// Words that name an environment.
const ENVIRONMENTS: &[(&str, &str)] =
    &[("production", "env:prod"), ("prod", "env:prod"), ("staging", "env:staging")];

/// The words left over, as far as they can be matched.
enum Objects {
    /// These, with an environment.
    Read { words: Vec<String>, term: Option<&'static str> },
    /// They name nothing.
    Refused,
}

/// What the words of a question about acts name. Words that name nothing are left out beside others that do.
fn objects(words: Vec<String>, quoted: &[String], line: &Line) -> Objects {
    let effects = line.clause.starts_with("effects") || line.clause.starts_with("changes");
    let acts = (effects && line.rest == Rest::Words)
        || (line.clause.starts_with("files") && matches!(line.rest, Rest::Path | Rest::OnlyPath))
        || (line.clause == "calls" && matches!(line.rest, Rest::Command | Rest::Program));
    if !acts || line.form == Some("now") {
        return Objects::Read {
            words: words.into_iter().chain(quoted.iter().cloned()).collect(),
            term: None,
        };
    }
    let is = |list: &[&str], word: &String| list.iter().any(|own| word.eq_ignore_ascii_case(own));
    let environment = |word: &String| {
        ENVIRONMENTS
            .iter()
            .find(|(name, _)| effects && word.eq_ignore_ascii_case(name))
            .map(|(_, term)| *term)
    };
    let natural =
        NATURAL.iter().find(|(clause, _)| *clause == line.clause).map_or(&[] as &[&str], |(_, own)| *own);
    let words: Vec<String> = words.into_iter().filter(|word| !is(natural, word)).collect();
    let said = words.len();
    let term = words.iter().find_map(environment);
    let late = words.iter().any(|word| is(UNKNOWN_TIMES, word));
    let command = matches!(line.rest, Rest::Command | Rest::Program);
    let vague = command && quoted.is_empty() && words.first().is_some_and(|word| is(VAGUE, word));
    let (loose, mut named): (Vec<_>, Vec<_>) = if command {
        (Vec::new(), words)
    } else {
        let kept = words.into_iter().filter(|word| environment(word).is_none());
        kept.partition(|word| is(VAGUE, word))
    };
    // Two or more plain words describe; a name has a joint or a digit, or stands with its kind.
    let plain = |word: &String| word.chars().all(char::is_lowercase);
    let kinds = ["deleted", "sent"].iter().any(|name| line.clause == format!("changes {name}"));
    let described = kinds
        && loose.is_empty()
        && named.len() > 1
        && named.iter().all(plain)
        && !named.iter().any(|word| word == "table");
    named.extend(quoted.iter().cloned());
    let nothing = said > 0 && named.is_empty() && term.is_none();
    if late || vague || described || nothing {
        return Objects::Refused;
    }
    Objects::Read { words: named, term }
}

/// The typed form of a question whose words name nothing: without them.
fn nearest_form(text: &str) -> Option<String> {
    let (left, quoted) = take_quoted(text.trim().trim_end_matches(['?', '!', '.', ' ', '？']));
    let (regex, line) = line_of(&left)?;
    let words = words_of(&rest_of(&left, regex), line);
    matches!(objects(words, &quoted, line), Objects::Refused)
        .then(|| format!("{} {}", line.form.unwrap_or("ever"), line.clause))
}

/// Flags with a letter and a word that mean the same, where a program has both.
const FLAGS: &[(&str, &str)] =
    &[("rR", "recursive"), ("f", "force"), ("y", "yes"), ("a", "all"), ("q", "quiet"), ("v", "verbose")];

/// A command line as terms: flags are found in any order, bundled, apart, and spelled out.
fn command(words: &[String]) -> Vec<String> {
    let tokens: Vec<String> = words
        .iter()
        .flat_map(|word| unquoted(word).split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let Some((program, rest)) = tokens.split_first() else { return Vec::new() };
    let mut terms = vec![format!("cmd:{}", safe(program))];
    let mut lead = vec![crate::place::base_name(program).to_owned()];
    for token in rest {
        match flag_patterns(&lead, token) {
            Some(patterns) => terms.extend(patterns),
            None => terms.push(format!("arg:{}", safe(token))),
        }
        if !token.starts_with('-') {
            lead.push(token.clone());
        }
    }
    terms
}

/// The text of a word as it was said.
fn unquoted(word: &str) -> String {
    let inner = word.strip_prefix('"').and_then(|word| word.strip_suffix('"'));
    inner.map_or_else(|| word.to_owned(), |inner| inner.replace("\\\"", "\"").replace("\\\\", "\\"))
}

/// Expressions for a flag of the command that `lead` begins; none where the flag has one spelling only.
fn flag_patterns(lead: &[String], token: &str) -> Option<Vec<String>> {
    const LETTERS_MAX: usize = 3;
    let simple = |word: &String| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    if !lead.iter().all(simple) {
        return None;
    }
    let commits = lead.iter().any(|word| word == "commit");
    let known = FLAGS.iter().copied().chain(commits.then_some(("n", "no-verify")));
    let pairs: Vec<(String, Option<&str>)> = if let Some(long) = token.strip_prefix("--") {
        known
            .filter(|(_, word)| *word == long)
            .map(|(letters, word)| (letters.to_owned(), Some(word)))
            .collect()
    } else {
        let letters = token.strip_prefix('-')?;
        let bundled = letters.len() <= LETTERS_MAX && letters.bytes().all(|byte| byte.is_ascii_alphabetic());
        let known: Vec<(&str, &str)> = known.collect();
        let pair = |letter: char| {
            let own = known.iter().find(|(letters, _)| letters.contains(letter));
            own.map_or_else(
                || (letter.to_string(), None),
                |(letters, word)| ((*letters).to_owned(), Some(*word)),
            )
        };
        if bundled { letters.chars().map(pair).collect() } else { Vec::new() }
    };
    let program = lead.join(r"\b[^;&|\n]*\b");
    let pattern = |(letters, word): &(String, Option<&str>)| {
        let long = word.map(|word| format!(r"|--{word}\b")).unwrap_or_default();
        format!(r"arg:/(?:\b{program}\b|[$]\w+)(?:[^;&|\n]|\\\n)*\s(?:-[A-Za-z]*[{letters}]{long})/")
    };
    (!pairs.is_empty()).then(|| pairs.iter().map(pattern).collect())
}

/// The words as terms.
fn place(words: &[String], rest: Rest) -> Option<Vec<String>> {
    let all = |field: &str| words.iter().map(|word| format!("{field}{word}")).collect::<Vec<_>>();
    Some(match rest {
        Rest::Words | Rest::Nothing => words.to_vec(),
        Rest::About => about(words),
        Rest::OnlyPath if !words.iter().any(|word| word.contains(['/', '.'])) => return None,
        Rest::Path | Rest::OnlyPath => all("path:"),
        Rest::Command | Rest::Program => command(words),
        Rest::Key => {
            let (key, others) = words.split_first()?;
            std::iter::once(key.clone()).chain(others.iter().cloned()).collect()
        }
    })
}

/// What is done to any file; beside a path or a name it says nothing of the object of a rule.
const HANDLING: &[&str] = &[
    "edit",
    "edited",
    "editing",
    "touch",
    "touched",
    "touching",
    "modify",
    "modified",
    "modifying",
    "change",
    "changed",
    "changing",
    "write",
    "read",
    "open",
    "use",
    "using",
    "do",
    "doing",
];

/// The objects of a rule: verbs that any file takes are left out beside others, plurals find the singular.
fn about(words: &[String]) -> Vec<String> {
    let handled = |word: &String| HANDLING.iter().any(|own| word.eq_ignore_ascii_case(own));
    let kept: Vec<&String> = words.iter().filter(|word| !handled(word)).collect();
    let words: Vec<&String> = if kept.is_empty() { words.iter().collect() } else { kept };
    words.into_iter().map(|word| format!("about:{}", singular(word))).collect()
}

/// Nouns of acts, as the rules about them would be worded.
const ACTS: &[(&str, &str)] = &[
    ("deployment", "deploy*"),
    ("installation", "install*"),
    ("deletion", "delet*"),
    ("publication", "publish*"),
];

fn singular(word: &str) -> String {
    let act = ACTS.iter().find(|(noun, _)| word.trim_end_matches('s').eq_ignore_ascii_case(noun));
    if let Some((_, stem)) = act {
        return (*stem).to_owned();
    }
    let plain = word.len() > 4 && word.bytes().all(|byte| byte.is_ascii_lowercase()) && !word.ends_with("ss");
    match word.strip_suffix('s').filter(|_| plain) {
        Some(stem) => format!("{stem}*"),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_table_compiles() {
        assert_eq!(TABLE.lines.len(), LINES.len());
        assert_eq!((TABLE.openings.len(), TABLE.times.len()), (OPENINGS.len(), TIMES.len()));
        assert!(TABLE.session.is_some() && TABLE.order.is_some() && TABLE.command.is_some());
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
        assert!(rows.len() >= 60 && read * 100 >= rows.len() * 90, "{}", other.join("\n"));
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
