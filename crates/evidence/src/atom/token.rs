//! What kind of atom a token is, and its normal form.

use std::sync::LazyLock;

use strongroom_core::evidence::AtomKind;

use super::number;
use super::words::Words;

/// File name endings that make a bare name a path.
#[rustfmt::skip]
const ENDINGS: &[&str] = &[
    "rs", "py", "js", "jsx", "ts", "tsx", "mjs", "cjs", "go", "java", "kt", "c", "h", "cc", "cpp", "hpp",
    "cs", "rb", "php", "swift", "scala", "sh", "bash", "zsh", "fish", "ps1", "bat", "md", "mdx", "rst", "txt",
    "json", "jsonl", "yaml", "yml", "toml", "lock", "ini", "cfg", "conf", "env", "xml", "html", "htm", "css",
    "scss", "less", "sql", "db", "sqlite", "csv", "tsv", "parquet", "log", "out", "diff", "patch", "png",
    "jpg", "jpeg", "gif", "svg", "ico", "pdf", "zip", "tar", "gz", "tgz", "bz2", "xz", "wasm", "so", "dylib",
    "dll", "exe", "bin", "proto", "graphql", "vue", "svelte", "lua", "pl", "r", "ipynb", "tf", "tfvars",
    "hcl", "gradle", "properties", "plist", "service", "pem", "crt", "key", "pub", "mod", "sum", "snap",
    "tmpl", "j2", "erb", "ex", "exs", "erl", "hs", "ml", "zig", "nim", "dart", "mk", "cmake", "dockerfile",
    "gitignore", "map", "bak", "tmp", "pyi", "pyc", "rego",
];

/// First parts of relative paths.
#[rustfmt::skip]
const DIRECTORIES: &[&str] = &[
    "src", "test", "tests", "lib", "bin", "docs", "doc", "app", "apps", "pkg", "cmd", "internal", "packages",
    "crates", "scripts", "config", "public", "static", "assets", "build", "dist", "target", "node_modules",
    "examples", "include", "tools", "server", "client", "api", "components", "usr", "etc", "var", "home",
    "tmp", "opt", "themes", "vendor", "fixtures", "migrations", "templates", "utils", "core", "data",
    ".github", ".git", ".claude", ".venv",
];

static ENDING: LazyLock<Words> = LazyLock::new(|| Words::new(ENDINGS.iter().copied().zip(0..)));
static DIRECTORY: LazyLock<Words> = LazyLock::new(|| Words::new(DIRECTORIES.iter().copied().zip(0..)));

/// Bits of one counter in a packed sum, and how many bytes are summed before it could run over.
const LANE_BITS: usize = 12;
const LANE_MAX: usize = 4_000;

/// What one byte adds to the packed counters.
const LANES: [u128; 256] = lanes();

#[expect(clippy::indexing_slicing, reason = "constants over all 256 bytes")]
const fn lanes() -> [u128; 256] {
    let mut all = [0; 256];
    let mut at = 0;
    while at < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "at is below 256")]
        let byte = at as u8;
        let lane = match byte {
            b'0'..=b'9' => 0,
            b'a'..=b'z' => 1,
            b'A'..=b'Z' => 2,
            b'/' | b'\\' => 3,
            b'.' => 4,
            b':' => 5,
            b'-' => 6,
            b'_' => 7,
            _ => 8,
        };
        all[at] = 1 << (lane * LANE_BITS);
        if byte.is_ascii_hexdigit() {
            all[at] += 1 << (9 * LANE_BITS);
        }
        at += 1;
    }
    all
}

/// Classes of characters in a token, gathered in one pass.
#[derive(Default, Clone, Copy)]
pub(super) struct Shape {
    pub(super) digits: u32,
    pub(super) lowers: u32,
    pub(super) uppers: u32,
    pub(super) hex: u32,
    pub(super) slashes: u32,
    pub(super) dots: u32,
    pub(super) colons: u32,
    pub(super) dashes: u32,
    pub(super) unders: u32,
    pub(super) others: u32,
    pub(super) humps: u32,
}

impl Shape {
    pub(super) fn of(token: &[u8]) -> Self {
        let mut shape = Self::default();
        let mut lower = false;
        for chunk in token.chunks(LANE_MAX) {
            let mut packed = 0u128;
            for &byte in chunk {
                packed += LANES.get(usize::from(byte)).copied().unwrap_or(0);
                shape.humps += u32::from(lower && byte.is_ascii_uppercase());
                lower = byte.is_ascii_lowercase();
            }
            shape.add(packed);
        }
        shape
    }

    fn add(&mut self, packed: u128) {
        let fields = [
            &mut self.digits,
            &mut self.lowers,
            &mut self.uppers,
            &mut self.slashes,
            &mut self.dots,
            &mut self.colons,
            &mut self.dashes,
            &mut self.unders,
            &mut self.others,
            &mut self.hex,
        ];
        for (lane, field) in fields.into_iter().enumerate() {
            let count = (packed >> (lane * LANE_BITS)) & ((1 << LANE_BITS) - 1);
            *field += u32::try_from(count).unwrap_or(0);
        }
    }

    fn letters(self) -> u32 {
        self.lowers + self.uppers
    }
}

/// The kind of a token that is not a number, and the length of the part that is the atom.
pub(super) fn classify(token: &str, shape: Shape) -> Option<(AtomKind, usize)> {
    let len = token.len();
    if let Some(kind) = code_or_id(token, shape) {
        return Some((kind, len));
    }
    if shape.slashes > 0 && shape.letters() > 0 {
        return path(token, shape);
    }
    if let Some(end) = file_name(token, shape) {
        return Some((AtomKind::Path, end));
    }
    identifier(token, shape).then_some((AtomKind::Id, len))
}

/// Hashes, UUIDs, tickets, addresses and error codes.
fn code_or_id(token: &str, shape: Shape) -> Option<AtomKind> {
    let len = u32::try_from(token.len()).unwrap_or(u32::MAX);
    if token.starts_with("arn:") && shape.colons >= 5 || is_ipv6(token, shape) {
        return Some(AtomKind::Id);
    }
    let uuid = len == 36 && shape.dashes == 4 && shape.hex + 4 == len;
    let hash = (7..=128).contains(&len)
        && shape.hex == len
        && shape.digits > 0
        && shape.letters() > 0
        && (shape.lowers == 0 || shape.uppers == 0);
    let plain = shape.slashes + shape.dots + shape.colons + shape.others == 0;
    let ticket = plain && shape.dashes == 1 && shape.lowers == 0 && is_ticket(token);
    let email = token.contains('@') && shape.dots > 0 && shape.slashes == 0 && shape.letters() > 2;
    if uuid || hash || email {
        return Some(AtomKind::Id);
    }
    if plain && is_error_code(token, shape) {
        return Some(AtomKind::Error);
    }
    let address = shape.letters() == 0 && shape.dots == 3 && shape.digits >= 4 && shape.slashes == 0;
    (ticket || address).then_some(AtomKind::Id)
}

/// Addresses of IPv6 and of hardware: groups of hex digits between colons.
fn is_ipv6(token: &str, shape: Shape) -> bool {
    let address = token.split('/').next().unwrap_or_default();
    let groups = address.split(':');
    shape.colons >= 2
        && shape.hex > 2
        && shape.letters() > 0
        && (shape.colons == 7 || shape.colons == 5 || address.contains("::"))
        && address.matches("::").count() <= 1
        && groups.clone().all(|group| group.len() <= 4 && group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn is_ticket(token: &str) -> bool {
    token.split_once('-').is_some_and(|(project, number)| {
        (2..=10).contains(&project.len())
            && project.bytes().all(|byte| byte.is_ascii_uppercase())
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// `E0308`, `TS2345`, `SC2086`, `ENOENT`, `SIGKILL`, `ModuleNotFoundError`.
fn is_error_code(token: &str, shape: Shape) -> bool {
    const PREFIXES: &[&str] =
        &["E", "TS", "SC", "CS", "ORA", "ERR_", "RUSTSEC", "CVE", "PGRST", "F", "W", "PLR", "PLW", "B", "S"];
    let coded = shape.digits >= 3
        && shape.lowers == 0
        && shape.uppers > 0
        && PREFIXES.iter().any(|prefix| {
            token.strip_prefix(prefix).is_some_and(|rest| {
                (3..=5).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_digit())
            })
        });
    let errno = shape.uppers >= 5 && shape.lowers + shape.digits + shape.unders + shape.dashes == 0 && {
        const NAMES: &[&str] = &[
            "ENOENT",
            "EACCES",
            "EPERM",
            "EEXIST",
            "ECONNREFUSED",
            "ECONNRESET",
            "ETIMEDOUT",
            "EADDRINUSE",
            "ENOTFOUND",
            "EISDIR",
            "ENOTDIR",
            "EPIPE",
            "EINVAL",
            "ENOSPC",
            "ENOTEMPTY",
            "EAGAIN",
            "SIGKILL",
            "SIGTERM",
            "SIGSEGV",
            "SIGABRT",
            "SIGINT",
            "ENOMEM",
            "EMFILE",
        ];
        NAMES.contains(&token)
    };
    let exception =
        shape.humps > 0 && (token.ends_with("Error") || token.ends_with("Exception")) && shape.unders == 0;
    coded || errno || exception || token.starts_with("ERR_")
}

fn path(token: &str, shape: Shape) -> Option<(AtomKind, usize)> {
    let end = without_position(token);
    let own = token.get(..end).unwrap_or(token);
    let rooted = is_rooted(own);
    let mut parts = own.split(['/', '\\']).filter(|part| !part.is_empty());
    let first = parts.next().unwrap_or_default();
    let known = DIRECTORY.holds(first.as_bytes());
    let deep = shape.slashes >= 2;
    if own.starts_with('@') {
        return Some((AtomKind::Id, token.len()));
    }
    if rooted && own.len() > 1 && own.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
        return Some((AtomKind::Path, end));
    }
    if own.bytes().any(|byte| matches!(byte, b'*' | b'=' | b'|' | b'?')) && !known {
        return (shape.dots > 0 && file_name(own, shape).is_some()).then_some((AtomKind::Path, end));
    }
    let last = own.rsplit(['/', '\\']).next().unwrap_or_default();
    let named = file_name(last, Shape::of(last.as_bytes())).is_some();
    if named || known || (deep && shape.letters() > 4 && !is_sed(own)) {
        return Some((AtomKind::Path, end));
    }
    let technical = shape.unders + shape.dots + shape.digits + shape.humps > 0
        || shape.dashes > 0
        || matches!(first, "origin" | "upstream" | "refs");
    (technical && shape.letters() > 2).then_some((AtomKind::Id, token.len()))
}

fn is_sed(token: &str) -> bool {
    token.starts_with("s/") || token.starts_with("y/")
}

/// The length without `:line`, `:line:col` or `#line`.
fn without_position(token: &str) -> usize {
    let named = token.strip_suffix(":line").or_else(|| token.strip_suffix(":lines"));
    let mut end = named.map_or(token.len(), str::len);
    for _ in 0..2 {
        let head = token.get(..end).unwrap_or_default();
        match head.rfind(':') {
            Some(at) if at > 1 && at + 1 < end && head.get(at + 1..).is_some_and(is_position) => end = at,
            _ => break,
        }
    }
    let head = token.get(..end).unwrap_or_default();
    let Some((path, row)) = head.rsplit_once('#') else { return end };
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let file = (is_rooted(path) || ENDING.holds(ending.as_bytes())) && !row.is_empty() && is_position(row);
    if file { path.len() } else { end }
}

/// Digits, with a range or a column behind a dot.
fn is_position(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.')) && !text.starts_with('.')
}

fn is_rooted(path: &str) -> bool {
    path.starts_with('/')
        || path.starts_with("./")
        || path.starts_with("../")
        || path.starts_with("~/")
        || path.contains(":\\")
}

/// File names without an ending.
pub(super) fn is_bare_file(word: &[u8]) -> bool {
    word.ends_with(b"file")
        && matches!(
            word,
            b"Makefile"
                | b"Dockerfile"
                | b"Cargofile"
                | b"Gemfile"
                | b"Procfile"
                | b"Justfile"
                | b"justfile"
                | b"Jenkinsfile"
                | b"Vagrantfile"
                | b"Rakefile"
                | b"Brewfile"
                | b"Pipfile"
                | b"Containerfile"
        )
}

/// The length of a bare file name such as `a.rs` in `a.rs:12`.
fn file_name(token: &str, shape: Shape) -> Option<usize> {
    if shape.dots == 0 {
        return is_bare_file(token.as_bytes()).then_some(token.len());
    }
    let end = without_position(token);
    let own = token.get(..end)?;
    let (stem, ending) = own.rsplit_once('.')?;
    let known = ENDING.holds(ending.as_bytes());
    let hidden = stem.is_empty() && ending.len() > 2 && shape.letters() > 2;
    ((known && (stem.is_empty() || stem.bytes().any(|byte| byte.is_ascii_alphanumeric()))) || hidden)
        .then_some(end)
}

/// `snake_case`, `camelCase`, `a.b.c`, `a::b`, `HAT136`, `v1.2.3`, `kebab-case-1`.
fn identifier(token: &str, shape: Shape) -> bool {
    let issue = token
        .strip_prefix('#')
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()));
    if shape.letters() == 0 {
        return issue
            || shape.dots >= 2 && shape.digits >= 3 && shape.others + shape.colons + shape.dashes == 0;
    }
    let snake = shape.unders > 0 && shape.letters() > 1;
    let camel = shape.humps > 0 && shape.others == 0;
    let dotted = shape.dots > 0 && dotted_name(token);
    let scoped = token.contains("::");
    let code = shape.uppers > 0 && shape.digits > 0 && shape.lowers == 0 && token.len() >= 3;
    let mixed = shape.digits > 0
        && shape.letters() > 0
        && token.len() >= 3
        && !token.starts_with(|char: char| char.is_ascii_digit());
    snake || camel || dotted || scoped || code || mixed
}

fn dotted_name(token: &str) -> bool {
    let mut parts = 0;
    let fits = token.split('.').all(|part| {
        parts += 1;
        part.len() > 1
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$' | b'+'))
    });
    fits && parts > 1 && !matches!(token, "e.g" | "i.e")
}

/// Scheme and host in lower case, without the default port.
pub(super) fn url_norm(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let scheme = scheme.to_ascii_lowercase();
    let mut host = authority.to_ascii_lowercase();
    for (own, port) in [("http", ":80"), ("https", ":443")] {
        if scheme == own && host.ends_with(port) {
            host.truncate(host.len() - port.len());
        }
    }
    format!("{scheme}://{host}{path}")
}

/// UUIDs in lower case; versions without a leading `v`.
pub(super) fn id_norm(text: &str) -> String {
    let shape = Shape::of(text.as_bytes());
    if text.len() == 36 && shape.dashes == 4 && shape.hex == 32 {
        return text.to_ascii_lowercase();
    }
    match text.strip_prefix('v') {
        Some(version) if shape.dots >= 1 && version.starts_with(|char: char| char.is_ascii_digit()) => {
            version.to_owned()
        }
        _ => text.to_owned(),
    }
}

/// Runs of white space as one blank, without outer quotes and blanks.
pub(super) fn squeezed(text: &str) -> String {
    // Most texts are in this form already: one pass finds out.
    let mut blank = true;
    let mut plain = text.is_ascii();
    for byte in text.bytes() {
        let own = byte == b' ';
        let breaks = matches!(byte, b'\n' | b'\t' | b'\r' | 0x0B | 0x0C);
        plain &= !(breaks || (own && blank));
        blank = own;
    }
    if plain && !blank {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Whether a number with this ending is a quantity.
pub(super) fn is_unit(word: &str) -> bool {
    number::is_unit(word)
}
