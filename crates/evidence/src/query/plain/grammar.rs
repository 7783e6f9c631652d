//! The notation of the tables: expressions over whole sentences, with names for what many of them share.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::words::TOOLS;

/// Parts that end with a blank where they stand for anything.
const PARTS: &[(&str, &str)] = &[
    ("{the}", r"(?:(?:the|a|an|any|our|my|your|this|that|these|those|its|some) )?"),
    ("{exact}", r"(?:(?:exact|full|complete|whole|entire|original|verbatim) )*"),
    ("{aux}", r"(?:did|do|does|has|have|had) "),
    (
        "{subj}",
        r"(?:(?:(?:the|this|our|your|main|ai|coding) )*(?:agent|assistant|model|claude|codex|session|ai)|we|you|i|it|they|anyone|anybody|someone|somebody|he|she) ",
    ),
    (
        "{adv}",
        r"(?:(?:(?P<first>first)|(?P<last>last|latest)|ever|already|actually|really|once|successfully|at any (?:time|point)|at some (?:time|point)|also|just|yet) )*",
    ),
    ("{ever}", r"(?:(?:ever|already|actually|really|once|successfully|also|just|yet) )*"),
    (
        "{open}",
        r"(?:(?P<count>how often|how many times|on how many occasions) |(?P<list>when|where|at (?:what|which) (?:point|time|line|record|step)|in (?:what|which) (?:line|record|turn|step|message|place|places|lines|records|messages)) |(?:is it true that|whether|if) )?",
    ),
    (
        "{show}",
        r"(?:(?:show|list|give|find|quote|print|get|locate|display|return|retrieve|look up|pull up|search for|look for|i (?:need|want)(?: to see)?|what (?:was|is|were|are)|which (?:was|is|were|are)) (?:me |us )?)",
    ),
    (
        "{pick}",
        r"(?:(?P<first>(?:very )?first|earliest|initial)|(?P<last>(?:very )?last|latest|newest|final)) ",
    ),
    // Behind its verb: "was called for the first time", "came last".
    (
        "{nth}",
        r"(?:for )?(?:the )?(?:very )?(?:(?P<first>first(?: time)?|earliest)|(?P<last>last(?: time)?|latest|final time))",
    ),
    (
        "{number}",
        r"(?:how many (?:of (?:the|all|our) )?|(?:{show}|count )?{the}(?:total )?(?:number|count) of (?:all )?{the}|count (?:up )?(?:all )?(?:of )?{the})",
    ),
    // The last of several values is the one that stands.
    (
        "{lately}",
        r"(?: (?:right now|now|currently|at the moment|by now|last|lastly|finally|eventually|ultimately|in the end|(?:at|by) the (?:very )?end))",
    ),
    // Before a quotation: it is text that is meant.
    ("{words}", r"(?:(?:the |these |those )?(?:exact |very )?(?:words?|phrase|sentence|text|string|line) )?"),
    // What is read, and gives something.
    (
        "{output}",
        r"(?:(?:(?:last|latest|newest|first) )?(?:{result}|tool|command|transcript|log|session|agent|assistant))",
    ),
    ("{call}", r"(?:(?:tool |function )?(?:call|invocation|use)|command(?: line)?)"),
    ("{calls}", r"(?:(?:tool |function )?(?:calls?|invocations?|uses?)|commands?|command lines?)"),
    (
        "{with}",
        r"(?:(?:with|containing|holding|including|using|(?:that|which) (?:contained|contains|contain|had|has|held|holds|included|includes|used|uses|ran|runs|mentioned|mentions|says|said|was)|whose arguments? (?:contain(?:ed|s)?|held|had|was|were|is|are|include[sd]?)|having) (?:(?:the|an?|its) )?(?:(?:argument|text|command|string|input|value|words?|parameter|pattern|query|url) )?)",
    ),
    (
        "{inargs}",
        r"(?: (?:in|as|among) (?:(?:its|the|his|an|one of (?:its|the)) )?(?:arguments?|input|parameters?|args?)| (?:in|among) (?:it|them))?",
    ),
    (
        "{return}",
        r"(?:return(?:ed|s)?|print(?:ed|s)?|output(?:s|ted)?|g[ai]ve|produced?|says?|said|show(?:ed|s|n)?|yield(?:ed|s)?|answer(?:ed|s)?|respond(?:ed)?(?: with)?|report(?:ed|s)?|display(?:ed|s)?|wr[oi]te|contain(?:ed|s)?|mention(?:ed|s)?|include[ds]?|h[ae]ld|holds?|ha[ds]|have)",
    ),
    ("{result}", r"(?:(?:tool |command )?(?:results?|outputs?|responses?|return values?|answers?))"),
    (
        "{run}",
        r"(?:run|ran|execute[ds]?|call(?:ed|s)?|invoke[ds]?|use[ds]?|issue[ds]?|ma[dk]e|tr(?:y|ied)|sen[dt]|pass(?:ed)?|launch(?:ed)?)",
    ),
    (
        "{speak}",
        r"(?:says?|said|writes?|wrote|written|mention(?:ed|s)?|state[ds]?|types?|typed|tell (?:us|me|you)|told (?:us|me|you)|use[ds]? (?:the )?(?:words?|phrase|sentence)|ask(?:ed|s)?|utter(?:ed)?)(?: (?:that|the words?|the phrase|the sentence|the text|about))?",
    ),
    (
        "{happen}",
        r"(?: (?:come|came|happen|happened|occur|occurred|take place|run|ran|called|executed|made|issued|used|invoked|was run|was called|was made|was executed|was issued|was used|came|start|started))?",
    ),
    ("{errors}", r"(?:errors?|failures?|error messages?)"),
    (
        "{may}",
        r"(?:(?:may|can|should|could) {who}(?:now |still |again |be )*|(?:is|are|am|was|were) {who}(?:now |still |currently |again )*(?:allowed|permitted|free|supposed) to )",
    ),
    ("{who}", r"(?:the agent|the assistant|claude|codex|we|i|you|it|anyone) "),
];

/// Slots: what may stand where a table writes `<name>`; digits behind the name tell several apart.
const SLOTS: &[(&str, &str)] = &[
    ("q", "[\u{E000}\u{E001}]\\d+"),
    ("text", "\u{E000}\\d+"),
    ("phrase", "[\u{E000}\u{E001}]\\d+"),
    ("key", r"\S+"),
    ("setting", r"\S+"),
    ("ident", r"\S+"),
    ("lit", r"\S+"),
    ("flag", r"-\S*[a-zA-Z]\S*"),
    ("deed", ".+?"),
    ("path", r"\S+"),
    ("name", r"\S+"),
    ("named", r"[a-zA-Z]+"),
    ("noun", r"\S+"),
    ("np", ".+?"),
    ("of", ".+"),
    ("about", ".+?"),
    ("topic", ".+?"),
    ("user", r"(?:the |our )?(?:user|human|person|operator)"),
    ("speaker", r"(?:the |our )?(?:user|human|operator|assistant|agent|model|ai|claude|codex)"),
];

/// The shape of a tool's name beside the word "call" or "tool", and alone.
static TOOL: LazyLock<String> =
    LazyLock::new(|| format!(r"(?:{TOOLS}|{CAPITAL}|(?-i:[A-Za-z]*[a-z][A-Z]\w*)|{JOINED}|{QUOTED})"));
/// Parts joined by underscores.
const JOINED: &str = r"_?[a-z][\w-]*_[\w-]+";
const QUOTED: &str = "[\u{E000}\u{E001}]\\d+";
/// Tools whose names are common words: only with a capital.
const CAPITAL: &str = "(?-i:Agent|Skill|LSP|Task|Browser|Computer|View|Patch|Replace|Think|Fetch)";
const TITLE: &str = r"(?:(?-i:Bash|Shell|Read|Write|Edit|MultiEdit|NotebookEdit|Glob|Grep|LS|Task|TodoWrite|WebFetch|WebSearch|Skill|Agent|LSP|[A-Za-z]*[a-z][A-Z]\w*)|(?:mcp__|exec_|apply_|read_|write_|update_|str_)\w+)";

/// What is called, where nothing but a tool can be.
static CALLED: LazyLock<String> = LazyLock::new(|| format!("(?:{TITLE}|{JOINED})"));

/// A call that is spoken of by a text of it.
const REFERENCE: &str = "(?:running |calling |executing )?{the}{exact}(?:<tool{n}> )?(?:(?:{call}|one|run|execution) )?(?:of )?{with}?<q{n}>{inargs}";

/// The expression of a whole sentence that a table writes as `text`.
pub(super) fn compiled(text: &str) -> Option<Regex> {
    let mut text = text.to_owned();
    for n in ["", "2"] {
        text = text.replace(&format!("{{ref{n}}}"), &REFERENCE.replace("{n}", n));
    }
    for _ in 0..2 {
        for (name, part) in PARTS {
            text = text.replace(name, part);
        }
    }
    Regex::new(&format!("(?i)^(?:{})$", slots(&text))).ok()
}

/// Every `<name>` as a group.
fn slots(text: &str) -> String {
    let mut all = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, open) = rest.split_at(at);
        all.push_str(before);
        let close = open.find('>').unwrap_or(0);
        let name = open.get(1..close).unwrap_or_default();
        let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let shape = match base {
            "tool" => Some(TOOL.as_str()),
            "title" => Some(TITLE),
            "called" => Some(CALLED.as_str()),
            _ => SLOTS.iter().find(|(own, _)| *own == base).map(|(_, shape)| *shape),
        };
        match shape.filter(|_| !before.ends_with("(?P")) {
            Some(shape) => all.extend(["(?P<", name, ">", shape, ")"]),
            None => all.push_str(open.get(..=close).unwrap_or_default()),
        }
        rest = open.get(close + 1..).unwrap_or_default();
    }
    all.push_str(rest);
    all
}

/// The form that a sentence asks for by its words, or else `plain`.
pub(super) fn form_of(found: &Captures<'_>, plain: &'static str) -> &'static str {
    let asks = ["count", "first", "last", "list"].into_iter().find(|name| found.name(name).is_some());
    asks.unwrap_or(plain)
}
