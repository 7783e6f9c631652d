//! Cuts a query into tokens at blanks outside quotes and regular expressions.

use super::{Atom, QueryError, Sign};

/// One token: a possible sign, a possible field, and alternatives.
#[derive(Debug)]
pub(super) struct Token<'q> {
    /// The offset of its first byte.
    pub(super) at: usize,
    /// The field before the colon.
    pub(super) field: Option<&'q str>,
    pub(super) sign: Sign,
    /// At least one.
    pub(super) atoms: Vec<Atom>,
}

impl Token<'_> {
    /// The word of a token that is nothing but one word.
    pub(super) fn bare(&self) -> Option<&str> {
        match (self.sign, self.field, self.atoms.as_slice()) {
            (Sign::Holds, None, [Atom::Word(word)]) => Some(word),
            _ => None,
        }
    }
}

pub(super) fn tokens(query: &str) -> Result<Vec<Token<'_>>, QueryError> {
    let mut cursor = Cursor { query, at: 0 };
    let mut tokens = Vec::new();
    loop {
        cursor.skip_blanks();
        if cursor.rest().is_empty() {
            return Ok(tokens);
        }
        tokens.push(cursor.token()?);
    }
}

struct Cursor<'q> {
    query: &'q str,
    /// Always on a character boundary.
    at: usize,
}

impl<'q> Cursor<'q> {
    fn rest(&self) -> &'q str {
        self.query.get(self.at..).unwrap_or_default()
    }

    fn take(&mut self, len: usize) -> &'q str {
        let taken = self.rest().get(..len).unwrap_or_default();
        self.at += taken.len();
        taken
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn token(&mut self) -> Result<Token<'q>, QueryError> {
        let at = self.at;
        let sign = self.sign();
        let field = self.field();
        let mut atoms = vec![self.atom(field)?];
        while self.rest().starts_with('|') {
            self.take(1);
            atoms.push(self.atom(field)?);
        }
        Ok(Token { at, field, sign, atoms })
    }

    /// A single `-` negates; `--` begins a word, such as a flag.
    fn sign(&mut self) -> Sign {
        let rest = self.rest();
        let negates = rest
            .strip_prefix('-')
            .is_some_and(|rest| rest.chars().next().is_some_and(|c| !c.is_whitespace() && c != '-'));
        if !negates {
            return Sign::Holds;
        }
        self.take(1);
        Sign::Negated
    }

    fn field(&mut self) -> Option<&'q str> {
        let (name, value) = self.rest().split_once(':')?;
        if !is_field_name(name) || value.starts_with("//") || value.starts_with(':') {
            return None;
        }
        let name = self.take(name.len());
        self.take(1);
        Some(name)
    }

    fn atom(&mut self, field: Option<&str>) -> Result<Atom, QueryError> {
        let rest = self.rest();
        if rest.starts_with('"') {
            return self.quoted();
        }
        if let Some(len) = regex_len(rest) {
            let text = self.take(len);
            let text = text.get(1..len - 1).unwrap_or_default();
            return Ok(Atom::Regex(text.to_owned()));
        }
        let len = rest.find(|c: char| c.is_whitespace() || c == '|').unwrap_or(rest.len());
        if len == 0 {
            let before = field.map_or_else(|| "\"|\"".to_owned(), |field| format!("\"{field}:\""));
            return Err(QueryError::new(format!("a value is missing after {before}"), self.at));
        }
        Ok(plain(self.take(len)))
    }

    fn quoted(&mut self) -> Result<Atom, QueryError> {
        let start = self.at;
        let mut text = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = start + at + 1;
                    return self.ended(text);
                }
                '\\' => text.push_str(&unescaped(chars.next().map(|(_, c)| c))),
                c => text.push(c),
            }
        }
        Err(QueryError::new("the closing quote is missing", start)
            .hint(Some("end the text with \"".to_owned())))
    }

    fn ended(&self, text: String) -> Result<Atom, QueryError> {
        match self.rest().chars().next() {
            Some(c) if !c.is_whitespace() && c != '|' => {
                let message = format!("\"{c}\" follows a closing quote");
                Err(QueryError::new(message, self.at).hint(Some("write a blank or | there".to_owned())))
            }
            _ if text.is_empty() => Err(QueryError::new("the quoted text is empty", self.at)),
            _ => Ok(Atom::Quoted(text)),
        }
    }
}

/// What a backslash and `c` stand for between quotes; anything unknown stays as written.
fn unescaped(c: Option<char>) -> String {
    match c {
        Some('n') => "\n".to_owned(),
        Some('r') => "\r".to_owned(),
        Some('t') => "\t".to_owned(),
        Some(c @ ('"' | '\\')) => c.to_string(),
        Some(c) => format!("\\{c}"),
        None => "\\".to_owned(),
    }
}

/// Fields are lower-case words; `12:30`, `https://x` and `a::b` are no fields.
fn is_field_name(name: &str) -> bool {
    let plain =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let argument = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte))
    };
    plain(name) || name.strip_prefix("arg.").is_some_and(argument)
}

/// The length of the regular expression at the start of `rest`, slashes included. `/etc/nginx/` is a path:
/// an expression ends at the first free slash, and holds a character that no path needs.
fn regex_len(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('/')?;
    let mut escaped = false;
    let end = inner.char_indices().find_map(|(at, c)| {
        let ends = c == '/' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })?;
    let text = inner.get(..end)?;
    let followed = inner.get(end + 1..)?.chars().next();
    let closed = followed.is_none_or(|c| c.is_whitespace() || c == '|');
    let marked = text.contains(|c| "\\[](){}^$+|".contains(c)) || text.contains(".*") || text.contains(".?");
    (closed && marked).then_some(end + 2)
}

fn plain(text: &str) -> Atom {
    if let Some((from, to)) = text.split_once("..")
        && is_range_end(from)
        && is_range_end(to)
        && !(from.is_empty() && to.is_empty())
    {
        let end = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        return Atom::Range(end(from), end(to));
    }
    if text.contains(['*', '?']) { Atom::Glob(text.to_owned()) } else { Atom::Word(text.to_owned()) }
}

/// The ends of a range are numbers, times or records; `../x` and `main..dev` are none.
fn is_range_end(text: &str) -> bool {
    let digits = text.strip_prefix(['-', 'L']).unwrap_or(text);
    text.is_empty()
        || (digits.starts_with(|c: char| c.is_ascii_digit())
            && !text.contains("..")
            && digits.chars().all(|c| c.is_ascii_alphanumeric() || "%,.:+-_".contains(c)))
}
