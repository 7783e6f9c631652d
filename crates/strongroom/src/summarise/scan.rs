//! Literals of a text: paths, addresses, identifiers, numbers and hashes, without what harnesses number themselves.

use std::ops::Range;

/// What a literal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Path,
    Url,
    Identifier,
    Number,
    Hash,
}

/// The longest literal, in bytes.
const LITERAL_MAX: usize = 200;

/// Endings by which a name without a slash is a file.
const EXTENSIONS: &[&str] = &[
    "go", "rs", "ts", "tsx", "js", "jsx", "mjs", "cjs", "json", "jsonl", "md", "mdx", "py", "sh", "toml",
    "yaml", "yml", "txt", "html", "css", "scss", "lock", "sum", "mod", "sql", "c", "h", "cc", "cpp", "hpp",
    "java", "kt", "rb", "php", "swift", "log", "xml", "svg", "png", "snap", "env", "cfg", "ini", "conf",
    "service", "csv", "tsv", "proto", "vue", "astro", "ipynb", "tf", "db", "sqlite", "zip", "gz", "pdf",
];

/// What the ids of harnesses begin with.
const HARNESS: &[&str] = &["toolu_", "call_", "req_", "msg_", "chatcmpl-"];

/// What lines begin with that harnesses put around an output.
const FRAME: &[&str] = &[
    "Exit code",
    "exit code",
    "Chunk ID:",
    "Wall time:",
    "Process exited with code",
    "Original token count:",
    "Total output lines:",
    "Output:",
];

/// Whether a harness wrote this line around an output.
pub(super) fn is_frame(line: &str) -> bool {
    let line = line.trim_start();
    FRAME.iter().any(|start| line.starts_with(start))
}

/// Finds the literals of `text` in order; each stands whole between other characters.
pub(super) fn scan(text: &str, found: &mut dyn FnMut(Kind, Range<usize>)) {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = if is_frame(line) { line.len() } else { numbering(line) };
        let own = line.get(start..).unwrap_or_default();
        runs(own, &mut |run, place| {
            let found_by_search = start + place == 0;
            Run { text: run, at: at + start + place, found_by_search, found }.read();
        });
        at += line.len();
    }
}

/// The length of the number that a tool put before a line, or the hunk head of a patch.
fn numbering(line: &str) -> usize {
    if let Some(hunk) = line.strip_prefix("@@ ") {
        return hunk.find("@@").map_or(0, |end| end + 5);
    }
    let indent = line.len() - line.trim_start_matches(' ').len();
    let digits = line.bytes().skip(indent).take_while(u8::is_ascii_digit).count();
    let behind = line.get(indent + digits..).unwrap_or_default();
    let numbered = digits > 0 && ['→', '\t', ':', '-', '|'].iter().any(|&mark| behind.starts_with(mark));
    // A minus may join a date or an id.
    let joined = behind.starts_with(['-', ':']) && behind.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    if numbered && !joined { indent + digits } else { 0 }
}

const fn in_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'_' | b'-' | b'.' | b'/' | b':' | b'@' | b'~' | b'+' | b'#' | b'%' | b'=' | b'?' | b'&'
        )
}

fn runs(line: &str, found: &mut dyn FnMut(&str, usize)) {
    let mut start = 0;
    let bytes = line.as_bytes();
    while let Some(skip) = bytes.get(start..).and_then(|rest| rest.iter().position(|&byte| in_run(byte))) {
        start += skip;
        let rest = bytes.get(start..).unwrap_or_default();
        let end = start + rest.iter().position(|&byte| !in_run(byte)).unwrap_or(rest.len());
        // The letter of an escape like `\n` is no part of a word.
        let escape = start > 0
            && bytes.get(start - 1) == Some(&b'\\')
            && matches!(rest.first(), Some(b'n' | b't' | b'r'));
        let own = start + usize::from(escape);
        if end - own >= 3 {
            found(line.get(own..end).unwrap_or_default(), own);
        }
        start = end;
    }
}

struct Run<'t, 'f> {
    text: &'t str,
    at: usize,
    /// At the beginning of a line a search writes file and line number.
    found_by_search: bool,
    found: &'f mut dyn FnMut(Kind, Range<usize>),
}

impl Run<'_, '_> {
    fn read(&mut self) {
        let Some(scheme) = self.text.find("://") else { return self.pieces(0, self.text.len()) };
        let before = self.text.get(..scheme).unwrap_or_default();
        let start = before.rfind(|c: char| !c.is_ascii_alphabetic()).map_or(0, |at| at + 1);
        let end = self.text.trim_end_matches(['.', ':', '?', '&', '#', '=', '-', '+']).len();
        if end > scheme + 3 && start < scheme {
            self.put(Kind::Url, start, end);
        }
        self.pieces(0, start);
    }

    fn put(&mut self, kind: Kind, start: usize, end: usize) {
        if end - start <= LITERAL_MAX {
            (self.found)(kind, self.at + start..self.at + end);
        }
    }

    /// Reads what stands between `:`, `=` and the like.
    fn pieces(&mut self, from: usize, to: usize) {
        let mut start = from;
        let mut behind_path = false;
        let text = self.text.get(..to).unwrap_or_default();
        for piece in
            text.get(from..).unwrap_or_default().split_inclusive([':', '=', '?', '&', '%', '+', '@', '#'])
        {
            let own = piece.trim_end_matches([':', '=', '?', '&', '%', '+', '@', '#']);
            let issue = start > 0 && self.text.as_bytes().get(start - 1) == Some(&b'#');
            let digits = !own.is_empty() && own.bytes().all(|byte| byte.is_ascii_digit());
            if is_time(text.get(..start).unwrap_or_default(), own) {
                start += piece.len();
                continue;
            }
            if digits && issue && own.len() <= 6 {
                self.put(Kind::Identifier, start - 1, start + own.len());
            } else if !(digits && behind_path) {
                behind_path = self.piece(own, start) && self.found_by_search;
            }
            start += piece.len();
        }
    }

    /// Reads one piece; whether it names a file.
    fn piece(&mut self, piece: &str, at: usize) -> bool {
        let body = piece.trim_end_matches(['.', '-', '~']);
        let start = start_of(body);
        let own = body.get(start..).unwrap_or_default();
        let own = if self.found_by_search { without_context(own) } else { own };
        let (start, end) = (at + start, at + start + own.len());
        if own.len() < 3 {
            return false;
        }
        if own.contains('/') {
            let path = own.bytes().any(|byte| byte.is_ascii_alphabetic());
            if path {
                self.put(Kind::Path, start, end);
            }
            return path;
        }
        if is_file(own) {
            self.put(Kind::Path, start, end);
            return true;
        }
        if is_version(own) {
            self.put(Kind::Number, start, end);
            return false;
        }
        let mut place = start;
        for part in own.split('.') {
            self.part(part, place);
            place += part.len() + 1;
        }
        false
    }

    /// Reads what stands between dots.
    fn part(&mut self, part: &str, at: usize) {
        let trimmed = part.trim_start_matches(['-', '~']);
        let at = at + part.len() - trimmed.len();
        let part = trimmed.trim_end_matches(['-', '~']);
        if HARNESS.iter().any(|start| part.starts_with(start)) {
            return;
        }
        let end = at + part.len();
        if is_uuid(part) || is_hex(part) {
            return self.put(Kind::Hash, at, end);
        }
        if part.len() >= 3 && part.len() <= 18 && part.bytes().all(|byte| byte.is_ascii_digit()) {
            return self.put(Kind::Number, at, end);
        }
        if !part.contains('-') {
            if is_identifier(part) {
                self.put(Kind::Identifier, at, end);
            }
            return;
        }
        let letters = part.bytes().filter(u8::is_ascii_alphabetic).count();
        if letters >= 4 && part.split('-').all(|word| !word.is_empty()) {
            self.put(Kind::Identifier, at, end);
        }
        let mut place = at;
        for word in part.split('-') {
            if is_identifier(word) {
                self.put(Kind::Identifier, place, place + word.len());
            }
            place += word.len() + 1;
        }
    }
}

/// A search writes `src/a.go-12-` before a line around a match.
fn without_context(name: &str) -> &str {
    let mut ends = name.match_indices('-').map(|(at, _)| at);
    let is_file = |at: &usize| {
        let behind = name.get(at + 1..).unwrap_or_default();
        behind.starts_with(|c: char| c.is_ascii_digit()) && name.get(..*at).is_some_and(is_file)
    };
    let end = ends.rfind(is_file);
    end.and_then(|end| name.get(..end)).unwrap_or(name)
}

/// Where a piece begins behind the dashes of an option and dots that lead nowhere.
fn start_of(piece: &str) -> usize {
    let mut rest = piece.trim_start_matches('-');
    if rest.starts_with('~') && !rest.starts_with("~/") {
        rest = rest.trim_start_matches('~');
    }
    if rest.starts_with('.') && !rest.starts_with("./") && !rest.starts_with("../") && !rest.contains('/') {
        rest = rest.trim_start_matches('.');
    }
    piece.len() - rest.len()
}

/// Whether `piece` goes on a time of day like `10:22:31.123` that began in `before`.
fn is_time(before: &str, piece: &str) -> bool {
    let two_digits = |text: &str| {
        let mut bytes = text.bytes();
        let own = bytes.by_ref().take(2).filter(u8::is_ascii_digit).count() == 2;
        own && !bytes.next().is_some_and(|byte| byte.is_ascii_digit())
    };
    let hour = before
        .strip_suffix(':')
        .map_or("", |text| text.get(text.len().saturating_sub(2)..).unwrap_or_default());
    two_digits(hour) && two_digits(piece)
}

fn is_file(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        stem.len() >= 2
            && EXTENSIONS.contains(&extension)
            && stem.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}

fn is_version(text: &str) -> bool {
    let digits = text.strip_prefix('v').unwrap_or(text);
    digits.contains('.')
        && digits.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_uuid(text: &str) -> bool {
    let lengths = [8, 4, 4, 4, 12];
    text.len() == 36
        && text.split('-').map(str::len).eq(lengths)
        && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

fn is_hex(text: &str) -> bool {
    (7..=64).contains(&text.len())
        && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// A name of more than one word, joined by humps or underscores.
fn is_identifier(text: &str) -> bool {
    let bytes = text.as_bytes();
    let starts = bytes.first().is_some_and(|&first| first.is_ascii_alphabetic() || first == b'_');
    if !starts || bytes.len() < 3 {
        return false;
    }
    let underscore = text.trim_matches('_').contains('_');
    let pairs = || bytes.iter().zip(bytes.iter().skip(1));
    let hump = pairs().any(|(one, two)| one.is_ascii_lowercase() && two.is_ascii_uppercase());
    let capitals = pairs().zip(bytes.iter().skip(2)).any(|((one, two), three)| {
        one.is_ascii_uppercase() && two.is_ascii_uppercase() && three.is_ascii_lowercase()
    });
    underscore || hump || capitals && bytes.len() >= 5
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literals(text: &str) -> Vec<(Kind, &str)> {
        let mut all = Vec::new();
        scan(text, &mut |kind, range| all.push((kind, text.get(range).unwrap())));
        all
    }

    #[test]
    fn literals_are_found_with_their_kinds() {
        use Kind::{Hash, Identifier, Number, Path, Url};
        let cases: &[(&str, &[(Kind, &str)])] = &[
            ("see /etc/app/x.conf, ./run.sh.", &[(Path, "/etc/app/x.conf"), (Path, "./run.sh")]),
            ("go doc strategy.CheckpointID", &[(Identifier, "CheckpointID")]),
            ("get https://a.io/b?c=d1.", &[(Url, "https://a.io/b?c=d1")]),
            (
                "--dry-run TestX_Y main.go:12:3",
                &[(Identifier, "dry-run"), (Identifier, "TestX_Y"), (Path, "main.go")],
            ),
            ("v1.2.3 and 8080 but 12", &[(Number, "v1.2.3"), (Number, "8080")]),
            ("fix #123 in deadbee1", &[(Identifier, "#123"), (Hash, "deadbee1")]),
            ("port=8080", &[(Number, "8080")]),
            ("src/a-b.go-12-\tfooBar()", &[(Path, "src/a-b.go"), (Identifier, "fooBar")]),
            ("toolu_01Abc words only", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(&literals(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers_that_a_tool_put_before_lines_are_left_out() {
        assert_eq!(literals("   120→let port = 8080;\n   121\tx"), [(Kind::Number, "8080")]);
        assert_eq!(literals("@@ -100,7 +100,9 @@ fn fooBar"), [(Kind::Identifier, "fooBar")]);
        assert_eq!(literals("Chunk ID: 120d3a7\nWall time: 0.1773 seconds\nOutput:\nx"), []);
        assert_eq!(literals("2026-02-06"), []);
        assert_eq!(literals("2026-02-06T10:22:31.123456Z and 10:22:31.5012"), []);
        assert_eq!(literals("port:8080"), [(Kind::Number, "8080")]);
    }
}
