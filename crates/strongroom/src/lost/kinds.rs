//! What was there by kind, and what is left of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;
use strongroom_core::evidence::{AtomKind, Certainty};
use strongroom_core::transcript::BlockKind;
use strongroom_evidence::effect::{Access, Outcome, Target};

use super::rest::{Rest, hidden, shell_line};
use super::sides::{Part, Sides};
use super::text::{plain, stems};
use super::{Later, Place};
use crate::reading::ReadSpan;
use crate::transcript::Transcript;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Shell commands that changed something.
    Command,
    /// Files that were read, written or deleted.
    Path,
    /// Error lines and codes that a run or a failed call printed.
    Error,
    /// Values with a unit.
    Value,
    /// URLs.
    Url,
    /// Hashes, tickets, versions: what holds a digit.
    Id,
}

impl Kind {
    /// The plural in reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Command => "commands that changed something",
            Self::Path => "files that were read or changed",
            Self::Error => "errors",
            Self::Value => "values with a unit",
            Self::Url => "URLs",
            Self::Id => "hashes, versions, ids",
        }
    }

    fn of(kind: AtomKind, text: &str) -> Option<Self> {
        match kind {
            AtomKind::Error => Some(Self::Error),
            AtomKind::Quantity => is_measured(text).then_some(Self::Value),
            AtomKind::Url => {
                (text.starts_with("http") && !text.contains(['{', '$', '<'])).then_some(Self::Url)
            }
            AtomKind::Id => is_id(text).then_some(Self::Id),
            // Files are taken from calls; bare numbers stand in many texts by chance; words are counted as the user's.
            AtomKind::Path
            | AtomKind::LineRef
            | AtomKind::Number
            | AtomKind::Time
            | AtomKind::Quote
            | AtomKind::Code
            | AtomKind::Flag
            | AtomKind::Env
            | AtomKind::Negation
            | AtomKind::Constraint
            | AtomKind::Claim
            | AtomKind::Secret => None,
        }
    }
}

/// Whether a value is worth looking for: no count in words, no few of something, no parameter of a shell.
fn is_measured(text: &str) -> bool {
    let number = text.trim_start_matches(['~', '≈', '-', '+', '$', '€', '£', '¥']);
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    let few = digits == 1
        && (text.len() == 2 && text.starts_with('$')
            || number.get(1..).is_some_and(|rest| rest.starts_with(' ')));
    digits > 0 && !few
}

/// Whether a name is one of one thing: a hash, a UUID, a version, a ticket, or a long number; not a variable.
fn is_id(text: &str) -> bool {
    static SHAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^(?:[0-9a-f]{7,64}|[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}|v?\d+\.\d+\.\d+[\w.+-]*|[A-Z]{2,10}-\d+|#\d{2,}|[A-Z]{1,3}\d{4,5}|[A-Z]{2,3}\d{3})$").ok()
    });
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let shaped = SHAPES.as_ref().is_some_and(|shapes| shapes.is_match(text));
    digits > 0 && shaped || digits >= 4 && !text.contains(['\\', '/', '=', '%'])
}

/// Whether a text is what is left of a colour of a terminal: `[90m`.
fn is_escape(text: &str, at: usize) -> bool {
    let before = text
        .get(..at)
        .unwrap_or_default()
        .trim_end_matches(|char: char| char.is_ascii_digit() || char == ';');
    let code = text.get(at..).unwrap_or_default();
    let digits = code.bytes().take_while(u8::is_ascii_digit).count();
    before.ends_with('[')
        && (1..=3).contains(&digits)
        && code.get(digits..).is_some_and(|rest| rest.starts_with('m'))
}

/// Errors that say only that there was one.
static EMPTY_ERRORS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:exit(?:ed with)? (?:code|status):? \d+|traceback.*|error: found \d+ errors?.*|error: script .* exited.*|error: process completed.*|errors?:?|fail(?:ed)?:?|panic:?)\W*$").ok()
});

/// One distinct item that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostItem {
    /// It, as written.
    pub text: String,
    /// Where it stood last.
    pub place: Place,
    /// How often it had stood there.
    pub times: usize,
    /// Whether it was used again afterwards.
    pub needed: bool,
}

/// The distinct items of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// The kind.
    pub kind: Kind,
    /// How many there were.
    pub before: usize,
    /// How many are left: as written, equal in normal form, shortened as people do (a hash, a relative path, the number
    /// of a pull request), of a path its file name, or of a command most of its words.
    pub left: usize,
    /// Those that are gone: what was used again first, then the most frequent; at most [`LISTED_MAX`].
    pub lost: Vec<LostItem>,
}

/// How many lost items of a kind are listed.
pub const LISTED_MAX: usize = 20;

/// An item, and where it stood last.
struct Seen<'r, 'a> {
    text: String,
    last: &'r ReadSpan<'a>,
    times: usize,
    needed: bool,
}

type Items<'r, 'a> = BTreeMap<(Kind, String), Seen<'r, 'a>>;

pub(super) fn tally(
    sides: &Sides<'_, '_>,
    gone: &[Part<'_, '_>],
    rest: &Rest,
    later: Later<'_, '_>,
) -> Vec<Tally> {
    let mut tallies: BTreeMap<Kind, (Tally, Vec<Seen<'_, '_>>)> = BTreeMap::new();
    let cwds = cwds(sides);
    for ((kind, norm), seen) in collect(gone, later) {
        let empty = || (Tally { kind, before: 0, left: 0, lost: Vec::new() }, Vec::new());
        let (tally, lost) = tallies.entry(kind).or_insert_with(empty);
        tally.before += 1;
        let near = kind == Kind::Path && is_near(&seen.text, &cwds, rest);
        if near || is_left(kind, &norm, &seen.text, rest) {
            tally.left += 1;
        } else {
            lost.push(seen);
        }
    }
    let transcript = sides.whole.transcript;
    let list = |(mut tally, mut lost): (Tally, Vec<Seen<'_, '_>>)| {
        lost.sort_by_key(|item| (!item.needed, std::cmp::Reverse(item.times)));
        tally.lost = lost.into_iter().take(LISTED_MAX).map(|seen| seen.listed(transcript)).collect();
        tally
    };
    tallies.into_values().map(list).collect()
}

impl Seen<'_, '_> {
    fn listed(self, transcript: &Transcript) -> LostItem {
        let place = Place::around(transcript, self.last, &self.text);
        LostItem { text: self.text, place, times: self.times, needed: self.needed }
    }
}

/// The distinct items of what is gone.
fn collect<'r, 'a>(gone: &[Part<'r, 'a>], later: Later<'_, '_>) -> Items<'r, 'a> {
    let used: BTreeSet<(Kind, String)> = later
        .spans()
        .flat_map(|span| items(&Part::whole(span)))
        .map(|(kind, norm, _)| (kind, norm))
        .collect();
    let mut all = Items::new();
    for part in gone {
        for (kind, norm, text) in items(part) {
            let needed = used.contains(&(kind, norm.clone()));
            let fresh = Seen { text, last: part.span, times: 0, needed };
            let seen = all.entry((kind, norm)).or_insert(fresh);
            seen.times += 1;
            seen.last = part.span;
        }
    }
    all
}

fn is_left(kind: Kind, norm: &str, text: &str, rest: &Rest) -> bool {
    let own = match kind {
        Kind::Command => is_told(text, rest),
        Kind::Path => rest.holds_atom(AtomKind::Path, norm),
        Kind::Error => rest.holds_atom(AtomKind::Error, norm) || rest.holds_words(text),
        Kind::Value => rest.holds_atom(AtomKind::Quantity, norm) || holds_bare_value(text, rest),
        Kind::Url => rest.holds_atom(AtomKind::Url, norm) || holds_short_url(text, rest),
        Kind::Id => rest.holds_atom(AtomKind::Id, norm) || holds_short_id(text, rest),
    };
    own || rest.holds(text)
}

/// The share of a command's words that must stand near one another to count as told, in percent.
const TOLD: usize = 50;

/// Of a command with more names in it than these, names alone do not show that it was told.
const NAMES_MAX: usize = 6;

/// Whether a command was told in other words, or all that it names is still named: it may have been told.
fn is_told(command: &str, rest: &Rest) -> bool {
    let operands = operands(command);
    let names: Vec<&str> = operands
        .split(|char: char| char.is_whitespace() || matches!(char, '"' | '\'' | '`' | '(' | ')' | '=' | ','))
        .filter(|word| {
            word.len() >= 4
                && word.contains(|char: char| char.is_ascii_digit() || matches!(char, '.' | '/' | '_' | '-'))
        })
        .collect();
    let named = |name: &&str| {
        rest.holds(name)
            || file_name(name).is_some_and(|name| rest.holds(name))
            || name.split(['/', ':', '?', '&']).any(|part| {
                part.len() >= 6 && part.contains(|char: char| char.is_ascii_digit()) && rest.holds(part)
            })
    };
    let bare = operands.split_whitespace().count() <= BARE;
    rest.holds_words(command)
        || rest.likeness(&operands) >= TOLD
        || message(command).is_some_and(|message| rest.holds_words(message) || rest.likeness(message) >= TOLD)
        || bare && stems(&operands).iter().all(|stem| rest.covers(stem) > 0)
        || !names.is_empty() && names.len() <= NAMES_MAX && names.iter().all(named)
}

/// A command of so few words is told when they are, wherever.
const BARE: usize = 3;

/// What a commit or a comment says.
fn message(command: &str) -> Option<&str> {
    let at = [" -m ", " --message ", " --title ", " -t ", " --body "]
        .iter()
        .find_map(|option| command.find(option).map(|at| at + option.len()))?;
    let behind = command.get(at..)?.trim_start();
    let quote = behind.chars().next().filter(|char| matches!(char, '"' | '\''))?;
    let inside = behind.get(1..)?;
    let inside = inside.split(quote).next().unwrap_or(inside);
    let told =
        inside.split("<<").nth(1).and_then(|body| body.split_once('\n')).map_or(inside, |(_, body)| body);
    let subject = told.lines().map(str::trim).find(|line| !line.is_empty())?;
    (subject.len() > 8).then_some(subject)
}

/// A command without programs and what says where it runs and how it prints.
fn operands(command: &str) -> String {
    let parts = command.split(['|', ';']).flat_map(|part| part.split("&&")).map(str::trim);
    let parts = parts.filter(|part| !SHOWS.iter().any(|program| part.starts_with(program)));
    let mut kept = Vec::new();
    for part in parts {
        let mut words = part.split_whitespace().skip(1);
        while let Some(word) = words.next() {
            if word == "-C" {
                words.next();
            } else if !word.starts_with('-')
                && !word.contains(['>', '<'])
                && !matches!(word, "origin" | "2>&1")
            {
                kept.push(word);
            }
        }
    }
    kept.join(" ")
}

/// Parts of a command line that only go somewhere or show something.
const SHOWS: &[&str] = &[
    "cd ",
    "echo ",
    "head",
    "tail",
    "grep ",
    "sort",
    "wc",
    "sleep ",
    "export ",
    "set ",
    "true",
    "git status",
    "git log",
    "git diff",
];

/// `1,024 MB` and `1024MB`, `12 tests` and `12 unit tests`: the number and the unit near one another.
fn holds_bare_value(text: &str, rest: &Rest) -> bool {
    let ungrouped: String = text.chars().filter(|char| !matches!(char, ',' | '_')).collect();
    let unit_at = ungrouped.find(|char: char| char.is_alphabetic()).unwrap_or(ungrouped.len());
    let (number, unit) = ungrouped.split_at(unit_at);
    let number = number.trim().trim_end_matches('-');
    [format!("{number} {unit}"), format!("{number}{unit}"), format!("{number}-{unit}")]
        .iter()
        .any(|own| rest.holds(own))
}

/// A hash by its first digits, a version with and without `v`.
fn holds_short_id(text: &str, rest: &Rest) -> bool {
    let own = text.trim_start_matches('v');
    let hash = own.len() >= 7 && own.bytes().all(|byte| byte.is_ascii_hexdigit());
    hash && rest.holds_hash(&own.to_ascii_lowercase())
        || own.len() < text.len() && rest.holds(own)
        || text.starts_with(|char: char| char.is_ascii_digit()) && rest.holds(&format!("v{text}"))
}

/// A URL without its scheme or its end, or the number of an issue or pull request that it leads to.
fn holds_short_url(text: &str, rest: &Rest) -> bool {
    static NUMBERED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"/(?:pulls?|issues?|merge_requests|discussions)/(\d+)(?:[/#?].*)?$").ok()
    });
    let bare = text.split_once("://").map_or(text, |(_, bare)| bare);
    let bare = bare.trim_end_matches('/').trim_end_matches(".git");
    let number =
        NUMBERED.as_ref().and_then(|numbered| numbered.captures(text)).and_then(|found| found.get(1));
    rest.holds(bare)
        || number.is_some_and(|number| {
            ["#", "pr ", "issue ", "gh-", "pull request "]
                .iter()
                .any(|before| rest.holds(&format!("{before}{}", number.as_str())))
        })
}

/// The directories that calls ran in, without a last `/`.
fn cwds(sides: &Sides<'_, '_>) -> BTreeSet<String> {
    let records = sides.whole.transcript.index().records.iter();
    let named = records.filter_map(|record| record.cwd.as_deref());
    named.map(|cwd| plain(cwd).replace('\\', "/").trim_end_matches('/').to_owned()).collect()
}

/// Whether a file is named by itself, or a directory by the way to it from where the agent worked.
fn is_near(path: &str, cwds: &BTreeSet<String>, rest: &Rest) -> bool {
    if file_name(path).is_some_and(|name| rest.holds(name)) {
        return true;
    }
    let own = plain(path);
    let from_cwd = cwds.iter().filter_map(|cwd| own.strip_prefix(cwd.as_str())?.strip_prefix('/'));
    let mut relative = from_cwd.filter(|path| !path.is_empty());
    let parts: Vec<&str> = own.split('/').filter(|part| !part.is_empty()).collect();
    let tail = parts.len().checked_sub(2).and_then(|at| parts.get(at..)).map(|tail| tail.join("/"));
    relative.any(|path| path.contains('/') && rest.holds(path) || rest.holds(&format!("{path}/")))
        || tail.is_some_and(|tail| rest.holds(&tail))
        || parts.last().is_some_and(|name| name.len() > 3 && rest.holds(&format!("{name}/")))
}

/// The name of a file with an ending: enough to find it again.
fn file_name(path: &str) -> Option<&str> {
    let name = path.trim_end_matches('/').rsplit('/').next()?;
    name.contains('.').then_some(name)
}

/// The items of some blocks: kind, normal form, text.
fn items(part: &Part<'_, '_>) -> Vec<(Kind, String, String)> {
    let mut all = Vec::new();
    let errs = has_run(part.span);
    for (at, atom) in part.span.examination.atoms.iter().filter(|(at, _)| part.has(*at)) {
        let Some(block) = part.blocks.iter().find(|block| block.at == *at) else { continue };
        let Some(own) = block.text.get(atom.range.clone()) else { continue };
        let kind = Kind::of(atom.kind, own).filter(|kind| {
            *kind != Kind::Error
                || errs && matches!(block.block.kind, BlockKind::Result(_)) && is_error_line(own)
        });
        let kind = kind.filter(|_| !is_escape(&block.text, atom.range.start));
        if let Some(kind) = kind.filter(|_| !own.contains("REDACTED")) {
            all.push((kind, atom.norm.clone(), hidden(own)));
        }
    }
    if part.call().is_some() {
        for effect in &part.span.examination.effects {
            if let Target::Path { resolved, .. } = &effect.target
                && is_path(resolved)
            {
                all.push((Kind::Path, resolved.clone(), hidden(resolved)));
            }
        }
        all.extend(command(part.span).map(|command| (Kind::Command, plain(&command), command)));
    }
    all
}

/// Programs and patterns look like paths where a table does not know an option.
fn is_path(text: &str) -> bool {
    !text.contains(|char: char| {
        char.is_control()
            || matches!(
                char,
                '(' | ')'
                    | '{'
                    | '}'
                    | '['
                    | ']'
                    | '|'
                    | '$'
                    | '*'
                    | '"'
                    | '<'
                    | '>'
                    | '\''
                    | ';'
                    | '`'
                    | '^'
            )
    }) && text.len() > 1
}

/// Whether what the call printed can be an error that happened: it failed, or it ran something and not only looked at
/// files.
fn has_run(span: &ReadSpan<'_>) -> bool {
    let examined = &span.examination;
    let reads = !examined.effects.is_empty()
        && examined.effects.iter().all(|effect| effect.kind.access() == Access::Read);
    matches!(examined.outcome, Outcome::Failed | Outcome::Interrupted) || !reads
}

/// How much of a command is compared, in characters: what is written in a here-document is no command.
const COMMAND_MAX: usize = 300;

/// The bare name of an error class is no error.
fn is_error_line(text: &str) -> bool {
    let says = text.contains([' ', ':']) || text.contains(|char: char| char.is_ascii_digit());
    says && EMPTY_ERRORS.as_ref().is_some_and(|empty| !empty.is_match(text))
}

/// A shell command that changed something, with what it says in a here-document, its lines trimmed.
fn command(span: &ReadSpan<'_>) -> Option<String> {
    let changed = span.examination.effects.iter().any(|effect| {
        effect.kind.access() == Access::Mutation
            && effect.certainty == Certainty::Definite
            && !matches!(effect.outcome, Outcome::Refused)
    });
    let script = shell_line(span).filter(|_| changed)?;
    let lines = script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let line = lines.collect::<Vec<_>>().join("\n");
    Some(line.chars().take(COMMAND_MAX).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_known_by_their_operands() {
        assert_eq!(operands("cd /a/b && git merge origin/x --no-edit 2>&1 | tail -5"), "merge origin/x");
        assert_eq!(message("git commit -m \"fix: the parser\" && x"), Some("fix: the parser"));
        assert_eq!(
            message("git commit -m \"$(cat <<'EOF'\nDrop the cache\n\nEOF\n)\""),
            Some("Drop the cache")
        );
        assert_eq!(operands("git -C /a/b push"), "push");
        assert!(is_path("/a/b c.txt") && !is_path("map(.id | length)"));
        assert_eq!(file_name("/a/b.rs"), Some("b.rs"));
        assert!(
            is_error_line("E0308") && is_error_line("error: no such file") && !is_error_line("SyntaxError")
        );
        assert!(!is_error_line("Exit code 1") && EMPTY_ERRORS.is_some());
    }

    #[test]
    fn noise_is_not_counted() {
        for value in ["12 tests", "412.7 ms", "90%", "~5s", "$12.50"] {
            assert!(is_measured(value), "{value}");
        }
        for other in ["three commits", "5 files", "$2"] {
            assert!(!is_measured(other), "{other}");
        }
        for id in [
            "3f9a2c1",
            "v1.2.3",
            "ENT-238",
            "#1458",
            "970e75f0-582f-4578-a82a-1815715212fd",
            "TS2345",
            "G10432",
        ] {
            assert!(is_id(id), "{id}");
        }
        for other in ["gap-3", "node20", "state2", "agent-123", "stateDiagram-v2", "defaced", "P100", "#4"] {
            assert!(!is_id(other), "{other}");
        }
        assert!(is_escape("\u{1b}[90m", 2) && is_escape("[1;33mWarning", 3) && !is_escape("in 90m", 3));
    }
}
