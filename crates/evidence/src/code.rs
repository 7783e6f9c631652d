//! Scripts of other languages: what they write, as far as a table of patterns can tell.
//!
//! A script is *closed* when everything it uses is known to change nothing; any other script may do more
//! than the sinks that were found.

use std::sync::LazyLock;

use regex::Regex;
use strongroom_core::evidence::Certainty;

use crate::commands::{Arg, Shape};
use crate::effect::EffectKind;

/// A scripting language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    Script,
    /// A shell.
    Shell,
    /// Another one: Perl, Ruby, PHP, Lua.
    Other,
}

impl Language {
    /// The language of a file, by its name and first line.
    pub fn of_file(name: &str, text: &str) -> Option<Self> {
        const ENDINGS: &[(&str, Language)] = &[
            (".py", Language::Python),
            (".js", Language::Script),
            (".mjs", Language::Script),
            (".cjs", Language::Script),
            (".ts", Language::Script),
            (".sh", Language::Shell),
            (".bash", Language::Shell),
            (".pl", Language::Other),
            (".rb", Language::Other),
            (".php", Language::Other),
            (".lua", Language::Other),
        ];
        const PROGRAMS: &[(&str, Language)] = &[
            ("python", Language::Python),
            ("node", Language::Script),
            ("bash", Language::Shell),
            ("/sh", Language::Shell),
            ("zsh", Language::Shell),
            ("perl", Language::Other),
            ("ruby", Language::Other),
        ];
        let first = text.lines().next().filter(|line| line.starts_with("#!"));
        let by_line = first.and_then(|line| PROGRAMS.iter().find(|(word, _)| line.contains(word)));
        by_line
            .or_else(|| ENDINGS.iter().find(|(ending, _)| name.ends_with(ending)))
            .map(|(_, language)| *language)
    }
}

/// What a script does as far as it was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Places that change something.
    pub sinks: Vec<Sink>,
    /// Shell command lines it runs.
    pub commands: Vec<(String, Certainty)>,
    /// SQL it executes.
    pub sql: Vec<(String, Certainty)>,
    /// Whether nothing beyond these can happen.
    pub closed: bool,
}

/// A place in a script that changes something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sink {
    /// The kind.
    pub kind: EffectKind,
    /// The literal it names, where it names one.
    pub target: Option<String>,
    /// Definite where it stands at the outermost level.
    pub certainty: Certainty,
}

/// What a pattern finds.
#[derive(Clone, Copy)]
enum Find {
    Sink(EffectKind),
    Command,
    Sql,
}

/// Patterns; group `p` is a quoted literal, group `v` the name of a variable that may hold one.
const PYTHON: &[(Find, &str)] = &[
    (
        Find::Sink(EffectKind::FsWrite),
        r#"\bopen\(\s*(?:[rbuf]{0,2}["'](?P<p>[^"'\n]*)["']|(?P<v>\w+)|[^,()\n]*(?:\([^()\n]*\)[^,()\n]*)*)\s*,\s*(?:mode\s*=\s*)?["'](?:[wx]|r\+|r?b\+|rb\+)"#,
    ),
    (
        Find::Sink(EffectKind::FsAppend),
        r#"\bopen\(\s*(?:[rbuf]{0,2}["'](?P<p>[^"'\n]*)["']|(?P<v>\w+)|[^,()\n]*(?:\([^()\n]*\)[^,()\n]*)*)\s*,\s*(?:mode\s*=\s*)?["']a"#,
    ),
    (
        Find::Sink(EffectKind::FsWrite),
        r#"(?:Path\(\s*["'](?P<p>[^"'\n]*)["']\s*\)|\b(?P<v>\w+)|\))\.(?:write_text|write_bytes|touch|mkdir)\("#,
    ),
    (
        Find::Sink(EffectKind::FsDelete),
        r#"(?:Path\(\s*["'](?P<p>[^"'\n]*)["']\s*\)|\b(?P<v>\w+))\.(?:unlink|rmdir)\(\s*(?:missing_ok[^)]*)?\)"#,
    ),
    (
        Find::Sink(EffectKind::FsDelete),
        r#"\b(?:os\.(?:remove|unlink|rmdir|removedirs)|shutil\.rmtree)\(\s*(?:["'](?P<p>[^"'\n]*)["']|(?P<v>\w+))?"#,
    ),
    (
        Find::Sink(EffectKind::FsMove),
        r#"\b(?:os\.(?:rename|replace|renames)|shutil\.move)\(\s*(?:["'](?P<p>[^"'\n]*)["']|(?P<v>\w+))?"#,
    ),
    (
        Find::Sink(EffectKind::FsWrite),
        r#"\b(?:os\.(?:rename|replace|renames|link|symlink)|shutil\.move)\([^,\n]*,\s*(?:["'](?P<p>[^"'\n]*)["']|(?P<v>\w+))?"#,
    ),
    (
        Find::Sink(EffectKind::FsWrite),
        r#"\bshutil\.(?:copy\w*|copytree|unpack_archive|make_archive)\([^,\n]*,\s*(?:["'](?P<p>[^"'\n]*)["']|(?P<v>\w+))?"#,
    ),
    (
        Find::Sink(EffectKind::FsWrite),
        r#"\bos\.(?:makedirs|mkdir|truncate|mknod|mkfifo)\(\s*(?:["'](?P<p>[^"'\n]*)["']|(?P<v>\w+))?"#,
    ),
    (
        Find::Sink(EffectKind::FsMeta),
        r#"\bos\.(?:chmod|chown|utime)\(\s*(?:["'](?P<p>[^"'\n]*)["']|(?P<v>\w+))?"#,
    ),
    (Find::Sink(EffectKind::FsLink), r"\bos\.(?:symlink|link)\("),
    (
        Find::Sink(EffectKind::FsWrite),
        r#"\.(?:to_csv|to_excel|to_parquet|to_json|to_pickle|savefig|save|savetxt|extractall|save_pretrained)\(\s*["'](?P<p>[^"'\n]*)["']"#,
    ),
    (
        Find::Sink(EffectKind::NetSend),
        r#"\b(?:requests|httpx|session|client)\.(?:post|put|patch|delete)\(\s*(?:f?["'](?P<p>[^"'\n]*)["'])?"#,
    ),
    (Find::Sink(EffectKind::NetSend), r"\b(?:smtplib\.SMTP|urlopen\([^)\n]*data\s*=)"),
    (Find::Sink(EffectKind::ProcSignal), r"\bos\.kill\w*\("),
    (
        Find::Command,
        r#"\b(?:os\.(?:system|popen)|subprocess\.(?:run|call|check_call|check_output|Popen|getoutput|getstatusoutput))\(\s*(?:["'](?P<p>[^"'\n]*)["']|\[(?P<l>[^\[\]]*)\])?"#,
    ),
    (
        Find::Sql,
        r#"\.execute(?:many|script)?\(\s*(?:f|r)?(?:"""(?P<p>[^"]*)"""|'''(?P<q>[^']*)'''|["'](?P<r>[^"'\n]*))?"#,
    ),
];

const SCRIPT: &[(Find, &str)] = &[
    (
        Find::Sink(EffectKind::FsWrite),
        r#"\b(?:writeFile(?:Sync)?|createWriteStream|mkdir(?:Sync)?|copyFile(?:Sync)?|cp(?:Sync)?|truncate(?:Sync)?|outputFile(?:Sync)?|writeTextFile(?:Sync)?|Bun\.write)\(\s*(?:["'`](?P<p>[^"'`\n$]*)["'`]|(?P<v>\w+))?"#,
    ),
    (
        Find::Sink(EffectKind::FsAppend),
        r#"\bappendFile(?:Sync)?\(\s*(?:["'`](?P<p>[^"'`\n$]*)["'`]|(?P<v>\w+))?"#,
    ),
    (
        Find::Sink(EffectKind::FsDelete),
        r#"\b(?:unlink|rm|rmdir|remove)(?:Sync)?\(\s*(?:["'`](?P<p>[^"'`\n$]*)["'`]|(?P<v>\w+))?"#,
    ),
    (Find::Sink(EffectKind::FsMove), r#"\brename(?:Sync)?\(\s*(?:["'`](?P<p>[^"'`\n$]*)["'`]|(?P<v>\w+))?"#),
    (Find::Sink(EffectKind::FsMeta), r"\b(?:chmod|chown|utimes)(?:Sync)?\("),
    (Find::Sink(EffectKind::FsLink), r"\bsymlink(?:Sync)?\("),
    (
        Find::Sink(EffectKind::NetSend),
        r#"\b(?:axios|got|ky|request)\.(?:post|put|patch|delete)\(\s*(?:["'`](?P<p>[^"'`\n]*))?"#,
    ),
    (Find::Sink(EffectKind::NetSend), r#"method\s*:\s*["'`](?:POST|PUT|PATCH|DELETE)"#),
    (
        Find::Command,
        r#"\b(?:exec|execSync|spawn|spawnSync|execFile|execFileSync)\(\s*(?:["'`](?P<p>[^"'`\n$]*)["'`](?:\s*,\s*\[(?P<l>[^\[\]]*)\])?)?"#,
    ),
];

const OTHER: &[(Find, &str)] = &[
    (Find::Sink(EffectKind::FsWrite), r#"\bFile\.(?:write|open|binwrite)\(\s*["'](?P<p>[^"'\n]*)["']"#),
    (Find::Sink(EffectKind::FsWrite), r#"\b(?:file_put_contents|fopen)\(\s*["'](?P<p>[^"'\n]*)["']"#),
    (
        Find::Sink(EffectKind::FsWrite),
        r#"\bopen\(?\s*(?:my\s+)?[$\w]+\s*,\s*["']>+["']?\s*,?\s*["']?(?P<p>[^"'\n;]*)"#,
    ),
    (
        Find::Sink(EffectKind::FsDelete),
        r#"\b(?:unlink|FileUtils\.rm\w*|File\.delete|rmtree)\b(?:\s*\(?\s*["'](?P<p>[^"'\n]*)["'])?"#,
    ),
    (Find::Sink(EffectKind::FsMove), r"\b(?:FileUtils\.mv|File\.rename)\b"),
    (Find::Sink(EffectKind::FsWrite), r"\bFileUtils\.(?:cp\w*|mkdir\w*|touch)\b"),
    (Find::Command, r#"\b(?:system|exec|shell_exec|passthru|popen)\(?\s*["'](?P<p>[^"'\n]*)["']"#),
];

/// Python modules that change nothing by themselves.
const QUIET_MODULES: &[&str] = &[
    "json",
    "re",
    "sys",
    "math",
    "collections",
    "itertools",
    "functools",
    "datetime",
    "time",
    "pprint",
    "textwrap",
    "statistics",
    "ast",
    "csv",
    "io",
    "string",
    "glob",
    "os",
    "pathlib",
    "random",
    "decimal",
    "fractions",
    "hashlib",
    "base64",
    "binascii",
    "struct",
    "typing",
    "dataclasses",
    "enum",
    "operator",
    "copy",
    "difflib",
    "unicodedata",
    "html",
    "urllib.parse",
    "platform",
    "inspect",
    "traceback",
    "tokenize",
    "keyword",
    "bisect",
    "heapq",
    "calendar",
    "locale",
    "codecs",
    "fnmatch",
    "shlex",
    "uuid",
    "secrets",
    "numbers",
    "cmath",
    "xml.etree.ElementTree",
    "configparser",
    "tomllib",
    "yaml",
    "zlib",
    "gzip",
    "__future__",
    "importlib.metadata",
    "contextlib",
    "os.path",
];

/// A pattern in which `\w` is a letter, a digit, `_` or any character beyond ASCII: what counts as a letter in all scripts
/// takes long to compile, and names of none of them may be missed.
fn compiled(pattern: &str) -> Option<Regex> {
    Regex::new(&pattern.replace(r"\w", r"[0-9A-Za-z_\x{80}-\x{10ffff}]")).ok()
}

type Patterns = LazyLock<Vec<(Find, Regex)>>;

fn patterns(table: &[(Find, &str)]) -> Vec<(Find, Regex)> {
    table.iter().filter_map(|(find, pattern)| Some((*find, compiled(pattern)?))).collect()
}

static PYTHON_PATTERNS: Patterns = LazyLock::new(|| patterns(PYTHON));
static SCRIPT_PATTERNS: Patterns = LazyLock::new(|| patterns(SCRIPT));
static OTHER_PATTERNS: Patterns = LazyLock::new(|| patterns(OTHER));

static CONSTANT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r#"(?m)^(?:const |let |var )?(\w+)\s*=\s*(?:pathlib\.)?(?:Path\()?[rbu]{0,2}["']([^"'\n]*)["']\)?;?\s*$"#,
    )
});

static OPEN_PYTHON: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(concat!(
        r"\b(?:exec|eval|compile|__import__|getattr|setattr|delattr|globals|locals|vars|importlib\.(?:import|reload)\w*|ctypes|subprocess|socket|__builtins__|input)\b\s*[(\[.]",
        r"|\bos\.(?:[a-oq-zA-Z]\w*|p[b-zA-Z]\w*)",
        r"|\.(?:write\w*|unlink|mkdir|rmdir|touch|rename|symlink\w*|chmod|hardlink\w*|to_\w+|save\w*|dump|extract\w*|send\w*|execute\w*|connect|commit|urlopen)\s*\(",
    ))
});

/// Members of `os` that read.
static QUIET_OS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\bos\.(?:path|environ|getcwd|listdir|walk|sep|getenv|stat|scandir|linesep|name|cpu_count|getpid|uname|fspath|access|lstat|readlink)\b|\bsys\.(?:stdout|stderr)\.(?:write|flush)\b",
    )
});

static IMPORT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(r"(?m)(?:^|;)[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import|import[ \t]+([\w.,\t ]+))")
});

static OPEN_SCRIPT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:eval|Function|child_process|fetch|https?|net|import|spawn\w*|exec\w*|write\w*|unlink\w*|rm\w*|mkdir\w*|append\w*|rename\w*|copy\w*|cp\w*|chmod\w*|truncate\w*|create\w*|symlink\w*|kill|Deno|Bun|WebSocket|XMLHttpRequest|open\w*|globalThis|this|vm|worker\w*)\b",
    )
});

static SCRIPT_REQUIRE: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(r"require\(\s*([^)]*)\)"));

/// How a script spells its `n`th argument, counted from one.
fn argument_spelling(language: Language, number: usize) -> Option<String> {
    match language {
        Language::Python => Some(format!("sys.argv[{number}]")),
        Language::Script => Some(format!("process.argv[{}]", number + 1)),
        Language::Other => number.checked_sub(1).map(|at| format!("$ARGV[{at}]")),
        Language::Shell => None,
    }
}

/// The text with known arguments in the places where it reads them.
pub fn with_arguments(language: Language, text: &str, words: &[Arg]) -> String {
    const ARGUMENTS_MAX: usize = 9;
    let mut text = text.to_owned();
    for (at, word) in words.iter().take(ARGUMENTS_MAX).enumerate() {
        let Some(spelling) = argument_spelling(language, at + 1) else { continue };
        let plain = word.shape == Shape::Literal && !word.text.contains(['"', '\'', '\\', '\n', '`', '$']);
        if plain && text.contains(&spelling) {
            text = text.replace(&spelling, &format!("'{}'", word.text));
        }
    }
    text
}

/// Calls that change the working directory: paths behind them lie elsewhere.
const MOVES: &[&str] = &["os.chdir(", "process.chdir(", "Dir.chdir", "chdir("];

/// Scans `text`, written in `language`. Shell text is not for this function: it gives nothing and is not closed.
pub fn scan(language: Language, text: &str) -> Findings {
    let (table, closed) = match language {
        Language::Python => (&PYTHON_PATTERNS, python_closed(text)),
        Language::Script => (&SCRIPT_PATTERNS, script_closed(text)),
        Language::Other => (&OTHER_PATTERNS, false),
        Language::Shell => return Findings::default(),
    };
    let mut findings = Findings { closed, ..Findings::default() };
    let constants = constants(text);
    for (find, pattern) in table.iter() {
        for found in pattern.captures_iter(text) {
            let Some(whole) = found.get(0) else { continue };
            let Some(certainty) = level(text, whole.start()) else { continue };
            let named = ["p", "q", "r"]
                .iter()
                .find_map(|name| found.name(name))
                .map(|literal| literal.as_str().to_owned());
            let held = || found.name("v").and_then(|name| single(&constants, name.as_str()));
            let literal = named.or_else(held);
            match find {
                Find::Sink(kind) => findings.sinks.push(Sink { kind: *kind, target: literal, certainty }),
                Find::Command => {
                    let list = found.name("l").map(|list| listed(literal.as_deref(), list.as_str()));
                    let command = list.unwrap_or(literal).unwrap_or_default();
                    findings.commands.push((command, certainty));
                }
                Find::Sql => findings.sql.push((literal.unwrap_or_default(), certainty)),
            }
        }
    }
    if MOVES.iter().any(|word| text.contains(word)) {
        findings.commands.push((String::new(), Certainty::Possible));
        for sink in &mut findings.sinks {
            if sink.target.as_deref().is_some_and(|path| !crate::place::is_absolute(path)) {
                sink.target = None;
            }
        }
    }
    findings.closed =
        closed && findings.sinks.is_empty() && findings.commands.is_empty() && findings.sql.is_empty();
    findings
}

/// The command line of a program with its arguments in a list; `None` where one of them is no literal.
fn listed(program: Option<&str>, list: &str) -> Option<String> {
    let mut words: Vec<String> = program.map(str::to_owned).into_iter().collect();
    for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let plain = |quote: char| item.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        let text = plain('"').or_else(|| plain('\''))?;
        words.push(format!("'{}'", text.replace('\'', "'\\''")));
    }
    (!words.is_empty()).then(|| words.join(" "))
}

fn constants(text: &str) -> Vec<(&str, &str)> {
    let Some(pattern) = CONSTANT.as_ref() else { return Vec::new() };
    pattern
        .captures_iter(text)
        .filter_map(|found| Some((found.get(1)?.as_str(), found.get(2)?.as_str())))
        .collect()
}

/// The value of a name that is set once.
fn single(constants: &[(&str, &str)], name: &str) -> Option<String> {
    let mut values = constants.iter().filter(|(own, _)| *own == name).map(|(_, value)| *value);
    let first = values.next()?;
    values.next().is_none().then(|| first.to_owned())
}

/// How certain a place is reached, by its indentation; `None` in a comment.
fn level(text: &str, at: usize) -> Option<Certainty> {
    let start = text.get(..at)?.rfind('\n').map_or(0, |line| line + 1);
    let line = text.get(start..at)?;
    let trimmed = line.trim_start();
    if trimmed.starts_with('#') || trimmed.starts_with("//") {
        return None;
    }
    let conditional = ["if ", "for ", "while ", "def ", "lambda", "except", "else", "=>"]
        .iter()
        .any(|word| trimmed.contains(word));
    let outermost = trimmed.len() == line.len() && !conditional;
    Some(if outermost { Certainty::Definite } else { Certainty::Possible })
}

fn python_closed(text: &str) -> bool {
    let (Some(import), Some(open), Some(quiet)) = (IMPORT.as_ref(), OPEN_PYTHON.as_ref(), QUIET_OS.as_ref())
    else {
        return false;
    };
    let known = import.captures_iter(text).all(|found| {
        let names = found.get(1).or_else(|| found.get(2)).map_or("", |names| names.as_str());
        names.split(',').all(|name| {
            let module = name.split_whitespace().next().unwrap_or_default();
            QUIET_MODULES.contains(&module)
        })
    });
    let from_os = text.contains("from os import") || text.contains("from pathlib import *");
    known && !from_os && !open.is_match(&quiet.replace_all(text, "known"))
}

fn script_closed(text: &str) -> bool {
    const QUIET: &[&str] = &["fs", "path", "util", "url", "os", "assert", "crypto", "querystring"];
    let (Some(require), Some(open)) = (SCRIPT_REQUIRE.as_ref(), OPEN_SCRIPT.as_ref()) else { return false };
    let known = require.captures_iter(text).all(|found| {
        let name = found.get(1).map_or("", |name| name.as_str()).trim_matches(['"', '\'', '`', ' ']);
        let name = name.strip_prefix("node:").unwrap_or(name);
        QUIET.contains(&name) || (name.starts_with('.') && has_ending(name, ".json"))
    });
    known && !open.is_match(text)
}

fn has_ending(name: &str, ending: &str) -> bool {
    name.get(name.len().saturating_sub(ending.len())..).is_some_and(|tail| tail.eq_ignore_ascii_case(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sinks(language: Language, text: &str) -> Vec<(&'static str, Option<String>, Certainty)> {
        scan(language, text)
            .sinks
            .into_iter()
            .map(|sink| (sink.kind.word(), sink.target, sink.certainty))
            .collect()
    }

    #[test]
    fn python_sinks_are_found_with_their_literals() {
        let text = "p = 'a/b.py'\ns = open(p).read()\nopen(p, 'w').write(s)\n";
        assert_eq!(sinks(Language::Python, text), [("fs.write", Some("a/b.py".into()), Certainty::Definite)]);
        let text = "import os\nif x:\n    os.remove('f')\n# os.remove('g')\n";
        assert_eq!(sinks(Language::Python, text), [("fs.delete", Some("f".into()), Certainty::Possible)]);
        let found = scan(Language::Python, "import subprocess\nsubprocess.run(['rm', '-f', \"a b\"])");
        assert_eq!(found.commands, [("'rm' '-f' 'a b'".to_owned(), Certainty::Definite)]);
        let found = scan(Language::Script, "require('child_process').execFileSync('rm', ['x'])");
        assert_eq!(found.commands, [("rm 'x'".to_owned(), Certainty::Definite)]);
        let moved = "import os\nos.chdir('d')\nopen('x', 'w')";
        assert_eq!(sinks(Language::Python, moved), [("fs.write", None, Certainty::Definite)]);
        let moved = "os.rename('a', 'b')";
        let expected = [("fs.move", "a"), ("fs.write", "b")];
        let expected = expected.map(|(kind, path)| (kind, Some(path.to_owned()), Certainty::Definite));
        assert_eq!(sinks(Language::Python, moved), expected);
        let found = scan(Language::Python, "import subprocess\nsubprocess.run('rm x', shell=True)");
        assert_eq!(found.commands, [("rm x".to_owned(), Certainty::Definite)]);
    }

    #[test]
    fn only_known_code_is_closed() {
        let closed = |text| scan(Language::Python, text).closed;
        assert!(closed("import json,sys\nprint(json.load(sys.stdin)['a'])"));
        assert!(closed("import os\nprint(os.environ['A'], os.path.exists('x'))"));
        assert!(closed("print('a'.replace('a', 'b'))"));
        assert!(!closed("import mymodule"));
        assert!(!closed("import json; import django"));
        assert!(!closed("import os\nos.system('x')"));
        assert!(!closed("getattr(x, 'y')()"));
        assert!(!closed("open('x','w')"));
        assert!(
            scan(Language::Script, "console.log(JSON.parse(require('fs').readFileSync('a','utf8')).x)")
                .closed
        );
        assert!(!scan(Language::Script, "require('fs').writeFileSync('a', 'b')").closed);
    }
}
