//! Questions about acts: frames of sentences around a verb, and what each verb asks for.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::command::{command, whole};
use super::grammar::{compiled, form_of};
use super::objects::{Environment, Names, Reading, command_words, objects, paths};
use super::sentence::Sentence;
use super::words::{is_literal, safe};

/// How the object of a verb is read.
#[derive(Debug, Clone, Copy)]
enum Object {
    /// As a named thing; the words are silent.
    Named(Names, &'static [&'static str]),
    /// As a path, which must be there unless files are asked for.
    Path,
    /// As a path; only where files are asked for.
    Listed,
    /// As a command line.
    Command,
    /// The expression stands for all of it.
    Given(&'static str),
}

/// A row of the table: a question with one of `verbs` about such an object is read as `clause`.
struct Act {
    verbs: &'static str,
    clause: &'static str,
    object: Object,
    /// What may be asked for by name: "which files …".
    nouns: &'static [&'static str],
}

const fn act(
    verbs: &'static str,
    clause: &'static str,
    object: Object,
    nouns: &'static [&'static str],
) -> Act {
    Act { verbs, clause, object, nouns }
}

const TOUCH: &str = "touch touched touching modify modified modifying change changed changing alter altered altering update updated updating edit edited editing write wrote written writing";
const DELETE: &str = "delete deleted deleting remove removed removing drop dropped dropping erase erased erasing wipe wiped wiping";
const CREATE: &str = "create created creating";
const READ: &str = "read reading looked-at open opened opening view viewed viewing";
const MAKE: &str = "make made take took taken taking create created creating write written wrote";
const RUN: &str = "run ran running execute executed executing";
const USE: &str = "use used using invoke invoked invoking";
const FILES: &[&str] = &["file", "files"];
const MIGRATION: &str = "run ran running apply applied applying execute executed";
const NONE: &[&str] = &[];

/// First match wins.
const ACTS: &[Act] = &[
    act(
        TOUCH,
        "changes system-config",
        Object::Given(
            r"(?:{the}|anything in |any of )system(?:['’]s)?(?:[ -](?:config\w*|settings?|files?))+|(?:{the}|anything in )system(?:['’]s)?(?:[ -]config\w*)",
        ),
        NONE,
    ),
    act(
        TOUCH,
        "changes user-config",
        Object::Given(r"{the}(?:user|home|shell)(?:['’]s)?[ -](?:config\w*|settings?|profiles?)(?: files?)?"),
        NONE,
    ),
    act(
        TOUCH,
        "changes outside-project",
        Object::Given(
            r"(?:(?:anything|something|any files?|files?|a file) )?outside(?: of)?(?: (?:the|this|our) (?:project|repo(?:sitory)?|workspace)(?: (?:directory|folder|root))?)",
        ),
        &["files", "file"],
    ),
    act(
        TOUCH,
        "changes production",
        Object::Given(
            r"(?:(?:anything|something) )?(?:(?:in|on) )?(?:the )?prod(?:uction)?(?: (?:environment|system|server)s?)?",
        ),
        NONE,
    ),
    act(
        "read reading looked-at touch touched access accessed see saw seen open opened",
        "changes secrets",
        Object::Given(r"{the}(?:secrets?|credentials?|passwords?|api keys?|secret files?)"),
        &["secrets", "credentials"],
    ),
    act(
        "expose exposed leak leaked print printed show shown see seen",
        "literals kind:secret",
        Object::Given(r"{the}(?:secrets?|credentials?|passwords?|api keys?|tokens?)"),
        &["secrets", "credentials", "passwords"],
    ),
    act(TOUCH, "files op:written", Object::Path, FILES),
    act(CREATE, "files op:created", Object::Path, FILES),
    act(READ, "files op:read", Object::Path, FILES),
    act("move moved moving rename renamed renaming", "files op:moved", Object::Path, FILES),
    act(DELETE, "files op:deleted", Object::Listed, FILES),
    act(
        "force-push force-pushed force-pushing",
        r"effects kind:vcs.remote arg:/push\b[^;&|]*\s(?:-[a-zA-Z]*f\b|--force|--mirror\b|[+]\w)/",
        Object::Named(Names::Literal, &["to", "remote", "branch"]),
        NONE,
    ),
    act(
        "push pushed pushing",
        "effects kind:vcs.remote",
        Object::Named(
            Names::Kinded,
            &["to", "remote", "upstream", "commits", "commit", "changes", "code", "work"],
        ),
        &["commits", "changes", "branches", "branch", "tags", "tag"],
    ),
    act(
        "publish published publishing release released releasing",
        "changes published",
        Object::Named(
            Names::Kinded,
            &[
                "to",
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
        &["packages", "package", "releases", "versions", "version", "artifacts"],
    ),
    act(
        "commit committed committing",
        "effects kind:vcs.commit",
        Object::Named(Names::Literal, &["changes", "code", "work"]),
        &["changes"],
    ),
    act(
        "install installed installing",
        "changes installed",
        Object::Named(
            Names::Plain,
            &[
                "with",
                "via",
                "from",
                "package",
                "packages",
                "dependency",
                "dependencies",
                "library",
                "libraries",
                "software",
                "tools",
            ],
        ),
        &["package", "packages", "dependencies", "libraries", "software", "tools"],
    ),
    act(DELETE, "changes deleted", Object::Named(Names::Kinded, &["from"]), NONE),
    act("mail mailed mailing", "changes sent", Object::Named(Names::Kinded, &["to"]), NONE),
    act(
        "send sent sending post posted posting message messaged upload uploaded uploading notify notified",
        "changes sent",
        Object::Named(
            Names::Kinded,
            &[
                "to",
                "on",
                "in",
                "an",
                "mail",
                "mails",
                "email",
                "emails",
                "message",
                "messages",
                "notification",
                "notifications",
            ],
        ),
        &["mails", "emails", "messages", "notifications", "mail", "message"],
    ),
    act(
        "restart restarted restarting reload reloaded reloading",
        "effects kind:svc.state",
        Object::Named(Names::Plain, &["server", "service"]),
        &["services", "service"],
    ),
    act(
        "deploy deployed deploying",
        "effects kind:cloud.mutate|svc.state",
        Object::Named(Names::Kinded, &["to", "on"]),
        NONE,
    ),
    act(
        MIGRATION,
        "effects kind:db.schema",
        Object::Given(r"{the}(?:database |db |schema )?migrations?(?: (?P<name>\S+))?"),
        &["migrations", "migration"],
    ),
    act(
        "migrate migrated migrating",
        "effects kind:db.schema",
        Object::Named(Names::Literal, &["database", "db", "schema"]),
        NONE,
    ),
    act("backed-up", "changes backups", Object::Named(Names::Literal, &["database", "db", "data"]), NONE),
    act(
        MAKE,
        "changes backups",
        Object::Given(
            r"{the}(?:(?:database|db|data) )?(?:backups?|dumps?|snapshots?)(?: of {the}(?:database|db|data))?",
        ),
        &["backups", "dumps", "snapshots"],
    ),
    act(
        "tag tagged tagging",
        "effects kind:vcs tag*",
        Object::Named(Names::Literal, &["release", "version", "commit", "as"]),
        &["release", "version", "releases", "versions"],
    ),
    act(RUN, "calls", Object::Command, NONE),
    act(USE, "calls", Object::Command, NONE),
];

/// How a sentence stands around its verb.
struct Frame {
    text: &'static str,
    /// The form where nothing in the sentence asks for another.
    form: &'static str,
}

/// In the order of trial. `np` and `of` hold the object; `noun` what is asked for by name.
const FRAMES: &[Frame] = &[
    Frame { text: r"{open}(?:did|do|does|has|have|had) {subj}{adv}<verb>(?: <np>)?", form: "ever" },
    Frame {
        text: r"(?:what|which)(?: {exact}<noun>)? (?:did|have|has|had) {subj}{adv}<verb>(?: <np>)?",
        form: "list",
    },
    Frame {
        text: r"(?:what|which)(?: {exact}<noun>)? (?:was|were|has been|have been|got|is|are) {adv}<verb>(?: <np>)?",
        form: "list",
    },
    Frame {
        text: r"how many <noun> (?:(?:did|have|has|had) {subj}|(?:was|were|have been|has been|got) ){adv}<verb>(?: <np>)?",
        form: "count",
    },
    Frame {
        text: r"(?:which|what) {exact}<noun> (?:did|have|has) {subj}<verb>(?: <np>)? (?:(?P<first>first)|(?P<last>last))",
        form: "list",
    },
    Frame {
        text: r"{show}(?:the )?{pick}<noun> (?:(?:that|which) )?(?:was |were |{subj})?<verb>(?: <np>)?",
        form: "list",
    },
    Frame { text: r"who {adv}<verb>(?: <np>)?", form: "list" },
    Frame {
        text: r"{show}(?:all |every |the )*<noun> (?:that |which )?(?:(?:was|were|have been|has been) |{subj}(?:have |has )?){adv}<verb>(?: <np>)?",
        form: "list",
    },
    Frame { text: r"{open}(?:was|were|is|are)(?: <np>)? {adv}<done>(?: <of>)?", form: "ever" },
    Frame { text: r"{open}(?:has|have|had)(?: <np>)? {adv}been {ever}<done>(?: <of>)?", form: "ever" },
    Frame { text: r"{open}did <np> {adv}get <done>(?: <of>)?", form: "ever" },
];

/// Frames of the second side of an order, and of a first side that lost its opening.
const PARTS: &[Frame] = &[
    Frame { text: r"(?:{subj})?{adv}<verb>(?: <np>)?", form: "" },
    Frame { text: r"<np> (?:was|were|is|are|had been|has been|got|being) {adv}<done>(?: <of>)?", form: "" },
];

/// Acts by their nouns: "before the push".
const NOMINAL: &[(&str, &str)] = &[
    (r"{the}push(?: to {the}remote)?", "effects kind:vcs.remote"),
    (r"{the}commit", "effects kind:vcs.commit"),
    (r"{the}(?:release|publication)", "changes published"),
    (r"{the}(?:deployment|deploy)", "effects kind:cloud.mutate|svc.state"),
    (r"{the}migration", "effects kind:db.schema"),
    (r"{the}(?:backup|dump|snapshot)", "changes backups"),
    (r"{the}(?:deletion|removal)", "changes deleted"),
    (r"{the}installation", "changes installed"),
    (r"{the}restart", "effects kind:svc.state"),
];

/// Clauses of which one match is one of the things that are asked for: one push sends many commits.
const COUNTED: &[&str] = &["files", "changes sent", "changes backups", "effects kind:db.schema"];

struct Table {
    frames: Vec<(Regex, &'static Frame)>,
    parts: Vec<(Regex, &'static Frame)>,
    nominal: Vec<(Regex, &'static str)>,
    given: Vec<Option<Regex>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let verbs: Vec<&str> = ACTS.iter().flat_map(|act| act.verbs.split(' ')).collect();
    let done: Vec<&str> = verbs.iter().copied().filter(|verb| is_participle(verb)).collect();
    let (verbs, done) = (verbs.join("|"), done.join("|"));
    let frame = |frame: &'static Frame| {
        let text = frame.text.replace("<verb>", &format!("(?P<verb>{verbs})"));
        let text = text.replace("<done>", &format!("(?P<verb>{done})"));
        Some((compiled(&text)?, frame))
    };
    Table {
        frames: FRAMES.iter().filter_map(frame).collect(),
        parts: PARTS.iter().filter_map(frame).collect(),
        nominal: NOMINAL.iter().filter_map(|(text, clause)| Some((compiled(text)?, *clause))).collect(),
        given: ACTS
            .iter()
            .map(|act| if let Object::Given(text) = act.object { compiled(text) } else { None })
            .collect(),
    }
});

/// Whether a passive sentence can end with this form of a verb.
fn is_participle(verb: &str) -> bool {
    const IRREGULAR: &[&str] =
        &["run", "read", "sent", "written", "made", "taken", "shown", "seen", "backed-up"];
    verb.ends_with("ed") || IRREGULAR.contains(&verb)
}

/// A question about an act.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Its form (empty where the sentence has none), and its clause as typed text.
    For(&'static str, String),
    /// The verb is known, its object is not: the typed form without it.
    Nearest(String),
}

/// Reads a whole question about an act.
pub(super) fn question(sentence: &Sentence) -> Option<Asked> {
    framed(sentence, &TABLE.frames)
}

/// Reads one side of an order.
pub(super) fn part(sentence: &Sentence) -> Option<String> {
    let named = TABLE.nominal.iter().find(|(regex, _)| regex.is_match(&sentence.text));
    if let Some((_, clause)) = named {
        return Some((*clause).to_owned());
    }
    [&TABLE.frames, &TABLE.parts].into_iter().find_map(|frames| match framed(sentence, frames) {
        Some(Asked::For("ever" | "", clause)) => Some(clause),
        _ => None,
    })
}

fn framed(sentence: &Sentence, frames: &'static [(Regex, &'static Frame)]) -> Option<Asked> {
    let mut nearest = None;
    for (regex, frame) in frames {
        let Some(found) = regex.captures(&sentence.text) else { continue };
        let form = form_of(&found, frame.form);
        let verb = found.name("verb").map(|verb| verb.as_str().to_lowercase()).unwrap_or_default();
        for (act, given) in ACTS.iter().zip(&TABLE.given) {
            let counted = frame.form != "count" || COUNTED.iter().any(|own| act.clause.starts_with(own));
            if !counted || !act.verbs.split(' ').any(|own| own == verb) {
                continue;
            }
            if let Some(clause) = read(sentence, &found, act, given.as_ref()) {
                return Some(Asked::For(form, clause));
            }
            if !matches!(act.object, Object::Given(_) | Object::Listed) && nearest.is_none() {
                let form = if form.is_empty() { "ever" } else { form };
                nearest = Some(Asked::Nearest(format!("{form} {}", act.clause)));
            }
        }
    }
    nearest
}

/// The clause of an act, where the words of the sentence can be its object.
fn read(sentence: &Sentence, found: &Captures<'_>, act: &Act, given: Option<&Regex>) -> Option<String> {
    let group = |name: &str| found.name(name).map(|group| group.as_str());
    let noun = group("noun").map(str::to_lowercase);
    if noun.as_deref().is_some_and(|noun| !act.nouns.contains(&noun)) {
        return None;
    }
    let words: Vec<&str> = [group("np"), group("of")].into_iter().flatten().collect();
    let words = words.join(" ");
    let terms = match act.object {
        Object::Given(_) => given_terms(&words, given?, noun.as_deref())?,
        Object::Listed if noun.is_none() => return None,
        Object::Path | Object::Listed => {
            let terms = paths(sentence, &words)?;
            let of_files = words.split(' ').any(|word| FILES.contains(&word.to_lowercase().as_str()));
            if terms.is_empty() && noun.is_none() && !of_files {
                return None;
            }
            terms
        }
        Object::Command => match command_words(sentence, &words) {
            Some(line) => command(&line),
            None => whole(sentence.sole(&words)?),
        },
        Object::Named(names, silent) => objects(sentence, &words, reading(act, names, silent))?,
    };
    let all: Vec<String> = std::iter::once(act.clause.to_owned()).chain(terms).collect();
    Some(all.join(" "))
}

fn reading(act: &Act, names: Names, silent: &'static [&'static str]) -> Reading {
    let effects = act.clause.starts_with("effects") || act.clause.starts_with("changes");
    Reading {
        names,
        silent,
        kept: if act.clause == "changes deleted" { &["table"] } else { &[] },
        environment: if effects { Environment::Term } else { Environment::Word },
    }
}

/// The terms of an object that an expression stands for: none, or the name it has.
fn given_terms(words: &str, given: &Regex, noun: Option<&str>) -> Option<Vec<String>> {
    if words.is_empty() && noun.is_some_and(|noun| given.is_match(noun)) {
        return Some(Vec::new());
    }
    let found = given.captures(words)?;
    let Some(name) = found.name("name").map(|name| name.as_str()) else { return Some(Vec::new()) };
    is_literal(name).then(|| vec![safe(name)])
}

/// Whether every row of the tables is read.
#[cfg(test)]
pub(super) fn compiles() -> bool {
    let given = ACTS.iter().filter(|act| matches!(act.object, Object::Given(_))).count();
    TABLE.frames.len() == FRAMES.len()
        && TABLE.parts.len() == PARTS.len()
        && TABLE.nominal.len() == NOMINAL.len()
        && TABLE.given.iter().flatten().count() == given
}
