//! One pass over the bytes of a text: tokens, quotes, code and error lines.

use strongroom_core::evidence::AtomKind;

use super::number::{self, Spelled};
use super::token::{self, Shape};
use super::{Mark, place};

/// What a byte does to a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// It belongs to tokens.
    Inside,
    /// It stands between tokens.
    Between,
    /// It may open a quotation.
    Quote,
    /// It ends a line.
    Line,
}

const CLASSES: [Class; 256] = classes();

#[expect(clippy::indexing_slicing, reason = "constants over all 256 bytes")]
const fn classes() -> [Class; 256] {
    let mut all = [Class::Between; 256];
    let mut at = 0;
    while at < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "at is below 256")]
        let byte = at as u8;
        let inside = byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'/' | b'\\'
                    | b'.'
                    | b':'
                    | b'-'
                    | b'_'
                    | b'@'
                    | b'#'
                    | b'~'
                    | b'+'
                    | b'%'
                    | b'*'
                    | b'='
                    | b'$'
                    | b'?'
                    | b'&'
                    | b'^'
            );
        // Two-byte letters belong to words; longer ones stand between them.
        if inside || (byte >= 0x80 && byte < 0xC2) || (byte >= 0xC3 && byte < 0xE0) {
            all[at] = Class::Inside;
        }
        at += 1;
    }
    all[b'"' as usize] = Class::Quote;
    all[b'\'' as usize] = Class::Quote;
    all[b'`' as usize] = Class::Quote;
    all[b'\n' as usize] = Class::Line;
    all
}

/// Marks of bytes inside tokens; 0 for all others.
const MARKS: [u8; 256] = marks_of_all();
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const OTHER: u8 = 4;

#[expect(clippy::indexing_slicing, reason = "constants over all 256 bytes")]
const fn marks_of_all() -> [u8; 256] {
    let mut all = [0; 256];
    let mut at = 0;
    while at < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "at is below 256")]
        let byte = at as u8;
        if matches!(CLASSES[at], Class::Inside) {
            all[at] = if byte.is_ascii_lowercase() || byte >= 0x80 {
                LOWER
            } else if byte.is_ascii_uppercase() {
                UPPER
            } else {
                OTHER
            };
        }
        at += 1;
    }
    all
}

fn marks(byte: u8) -> u8 {
    MARKS.get(usize::from(byte)).copied().unwrap_or(0)
}

fn class(byte: u8) -> Class {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(Class::Between)
}

pub(super) fn lex(text: &str) -> Vec<Mark> {
    let mut lexer =
        Lexer { text, bytes: text.as_bytes(), at: 0, line: 0, fence: None, quote_end: 0, atoms: Vec::new() };
    lexer.error_line();
    while let Some(&byte) = lexer.bytes.get(lexer.at) {
        match class(byte) {
            Class::Inside => lexer.token(),
            Class::Quote => lexer.quote(byte),
            Class::Line => lexer.next_line(),
            Class::Between => lexer.between(byte),
        }
    }
    lexer.close_fence();
    lexer.atoms
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: usize,
    fence: Option<usize>,
    quote_end: usize,
    atoms: Vec<Mark>,
}

/// The longest quotation and the longest error line that become atoms, in bytes.
const QUOTE_MAX: usize = 400;

impl Lexer<'_> {
    fn push(&mut self, kind: AtomKind, start: usize, end: usize) {
        if self.text.is_char_boundary(start) && self.text.is_char_boundary(end) && start < end {
            self.atoms.push(Mark::new(kind, start..end));
        }
    }

    fn next_line(&mut self) {
        self.at += 1;
        self.line = self.at;
        self.error_line();
    }

    /// A line that begins like an error is an atom as a whole.
    fn error_line(&mut self) {
        const STARTS: &[&str] = &[
            "error:",
            "Error:",
            "ERROR",
            "error[",
            "fatal:",
            "panic:",
            "thread '",
            "Traceback (most",
            "Exception",
            "FAILED",
            "FAIL:",
            "FAIL ",
            "npm ERR!",
            "E   ",
            "Exit code ",
            "Caused by:",
            "Uncaught ",
            "Failed to",
            "failed to",
            "✗",
            "✖",
            "SyntaxError",
            "TypeError",
            "ValueError",
            "error TS",
        ];
        let rest = self.text.get(self.at..).unwrap_or_default();
        let indent = rest.bytes().take(16).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let own = rest.get(indent..).unwrap_or_default();
        let Some(first) = own.bytes().next() else { return };
        if !matches!(
            first,
            b'e' | b'E' | b'f' | b'F' | b'p' | b't' | b'T' | b'n' | b'C' | b'U' | b'S' | b'V' | 0xE2
        ) {
            return;
        }
        // The second letter tells most lines apart from errors.
        let second = own.as_bytes().get(1).copied().unwrap_or(b' ');
        let may =
            matches!(second, b'r' | b'R' | b'a' | b'A' | b'h' | b'x' | b' ' | b'n' | b'p' | b'y' | 0x9C);
        if may && STARTS.iter().any(|start| own.starts_with(start)) {
            let line = memchr::memchr(b'\n', own.as_bytes()).unwrap_or(own.len());
            let end = own.floor_char_boundary(line.min(QUOTE_MAX));
            let end = own.get(..end).map_or(0, |line| line.trim_end().len());
            self.push(AtomKind::Error, self.at + indent, self.at + indent + end);
        }
    }

    fn quote(&mut self, quote: u8) {
        let start = self.at;
        if quote == b'`' && self.bytes.get(start..start + 3) == Some(b"```") {
            return self.toggle_fence();
        }
        self.at += 1;
        let inside = start < self.quote_end;
        let before = start.checked_sub(1).and_then(|at| self.bytes.get(at));
        let opens =
            !before.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80 || *byte == b'\\');
        if inside || !opens {
            return;
        }
        let limit = (start + 1 + QUOTE_MAX).min(self.bytes.len());
        let rest = self.bytes.get(start + 1..limit).unwrap_or_default();
        let Some(found) = memchr::memchr2(quote, b'\n', rest) else { return };
        let end = start + 1 + found;
        let closes = self.bytes.get(end) == Some(&quote)
            && (quote != b'\'' || !self.bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric));
        if closes && found > 0 {
            self.quote_end = end + 1;
            let kind = if quote == b'`' { AtomKind::Code } else { AtomKind::Quote };
            self.push(kind, start + 1, end);
        }
    }

    fn toggle_fence(&mut self) {
        match self.fence.take() {
            Some(start) => self.push(AtomKind::Code, start, self.at + 3),
            None => self.fence = Some(self.at),
        }
        self.at += 3;
    }

    /// A fence that was never closed is code to the end.
    fn close_fence(&mut self) {
        if let Some(start) = self.fence.take() {
            self.push(AtomKind::Code, start, self.bytes.len());
        }
    }

    /// `$ 75 million`, `€5`: a sign of currency at `start..end` before a number.
    fn currency(&mut self, start: usize, end: usize) {
        let from = end + usize::from(self.bytes.get(end) == Some(&b' '));
        let rest = self.bytes.get(from..).unwrap_or_default();
        if !rest.first().is_some_and(u8::is_ascii_digit) {
            return;
        }
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        let digits_end = self.digits_end(from, from + digits);
        let (stop, _) = self.scale_and_unit(self.grouped(digits_end));
        self.push(AtomKind::Quantity, start, stop);
        self.at = self.at.max(stop);
    }

    /// Bytes between tokens; full-width digits are numbers.
    fn between(&mut self, byte: u8) {
        let step = match byte {
            0xF0.. => 4,
            0xE0.. => 3,
            0xC0.. => 2,
            _ => 1,
        };
        if byte != 0xEF {
            let start = self.at;
            self.at += step;
            if matches!(self.text.get(start..self.at), Some("£" | "€" | "¥")) {
                self.currency(start, self.at);
            }
            return;
        }
        let digit = |at: usize| matches!(self.bytes.get(at..at + 3), Some([0xEF, 0xBC, last]) if (0x90..=0x99).contains(last));
        let start = self.at;
        let mut end = start;
        while digit(end) {
            end += 3;
        }
        self.at = end.max(start + step);
        if end > start {
            self.push(AtomKind::Number, start, end);
        }
    }

    fn token(&mut self) {
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let first = rest.first().copied().unwrap_or(b' ');
        let (mut len, mut marks) = (1, marks(first) & !UPPER);
        for &byte in rest.iter().skip(1) {
            let own = self::marks(byte);
            if own == 0 {
                break;
            }
            marks |= own;
            len += 1;
        }
        self.at = start + len;
        let own = self.bytes.get(start..start + len).unwrap_or_default();
        // Ordinary words: lower case behind the first letter. A few file names look like words.
        if marks & !LOWER == 0 {
            if token::is_bare_file(own) {
                self.push(AtomKind::Path, start, start + len);
            } else if let Some(spelled) = number::spelled(own) {
                self.spelled(start, start + len, spelled);
            }
            return;
        }
        let shape = Shape::of(own);
        if shape.colons > 0 && shape.slashes > 1 && self.url(start, len) {
            return;
        }
        self.shaped(start, start + len, Some(shape));
    }

    /// Numbers, months and days in words.
    fn spelled(&mut self, start: usize, end: usize, word: Spelled) {
        match word {
            Spelled::Relative => self.push(AtomKind::Time, start, end),
            Spelled::Numeral => {
                if let (stop, Some(stop_of_unit)) = self.scale_and_unit(end) {
                    self.push(AtomKind::Quantity, start, stop_of_unit);
                    self.at = self.at.max(stop).max(stop_of_unit);
                }
            }
            Spelled::Month => {
                let dot = usize::from(self.bytes.get(end) == Some(&b'.'));
                let Some((stop, day)) = self.next_number(end + dot) else { return };
                let behind = stop + usize::from(self.bytes.get(stop) == Some(&b','));
                let year = self.next_number(behind).filter(|(_, own)| own.len() == 4 && day.len() < 3);
                let stop = year.map_or(stop, |(stop, _)| stop);
                self.push(AtomKind::Time, start, stop);
                self.at = self.at.max(stop);
            }
        }
    }

    /// A number of days or years behind one blank: `4`, `4th`, `2019`; its end and digits.
    fn next_number(&self, end: usize) -> Option<(usize, &str)> {
        let rest = self.text.get(end..)?.strip_prefix(' ')?;
        let len = rest.bytes().take_while(u8::is_ascii_digit).count();
        let digits = rest.get(..len).filter(|_| matches!(len, 1 | 2 | 4))?;
        let behind = rest.get(len..)?;
        let ordinal =
            ["st", "nd", "rd", "th"].iter().find(|own| behind.starts_with(**own)).map_or(0, |own| own.len());
        let ends =
            behind.as_bytes().get(ordinal).is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b':');
        ends.then_some((end + 1 + len + ordinal, digits))
    }

    /// The end of the scale words behind a number (its own end where there are none), and that of the unit.
    fn scale_and_unit(&self, end: usize) -> (usize, Option<usize>) {
        let mut stop = end;
        while let Some((next, _)) = self.next_word(stop).filter(|(_, word)| number::is_scale(word)) {
            stop = next;
        }
        if let Some(len) = self.text.get(stop..).and_then(number::wide_unit) {
            let unit = self.text.get(stop..stop + len).is_some_and(token::is_unit);
            let behind = self.text.get(stop + len..).and_then(number::wide_unit);
            return if unit {
                (stop, Some(stop + len))
            } else {
                (stop + len, behind.map(|own| stop + len + own))
            };
        }
        if let Some(end) = self.degrees(stop) {
            return (stop, Some(end));
        }
        let word = self.next_word(stop);
        let of = word.filter(|(_, word)| matches!(*word, "square" | "cubic" | "metric"));
        let unit = of.map_or(word, |(end, _)| self.next_word(end)).filter(|(_, word)| {
            // Of single letters behind a blank only these are units and nothing else.
            token::is_unit(word) && (word.len() > 1 || matches!(*word, "%" | "s" | "h" | "B"))
        });
        (stop, unit.map(|(stop, _)| stop))
    }

    /// The end of `°`, `°C`, `degrees`, `deg celsius`, `degrees f` behind a number.
    fn degrees(&self, end: usize) -> Option<usize> {
        let blank = self.text.get(end..)?.strip_prefix(' ').map_or(end, |_| end + 1);
        let sign = self.text.get(blank..)?.strip_prefix('°');
        let (stop, scale) = if let Some(rest) = sign {
            let own = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
            (blank + '°'.len_utf8(), Some((blank + '°'.len_utf8() + own, rest.get(..own)?)))
        } else {
            let (stop, _) = self.next_word(end).filter(|(_, word)| is_degree(word))?;
            (stop, self.next_word(stop))
        };
        let scale = scale.filter(|(_, word)| {
            matches!(word.to_ascii_lowercase().as_str(), "c" | "f" | "celsius" | "fahrenheit" | "centigrade")
        });
        Some(scale.map_or(stop, |(stop, _)| stop))
    }

    fn url(&mut self, start: usize, len: usize) -> bool {
        let own = self.bytes.get(start..start + len).unwrap_or_default();
        let Some(colon) = memchr::memmem::find(own, b"://") else { return false };
        let head = own.get(..colon).unwrap_or_default();
        let scheme = head
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
            .count();
        if scheme == 0 {
            return false;
        }
        let begin = start + colon - scheme;
        let rest = self.bytes.get(begin..).unwrap_or_default();
        let stop = rest.iter().position(|byte| {
            byte.is_ascii_whitespace()
                || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`' | b'|' | b'\\')
                || *byte >= 0xE0
        });
        let mut end = begin + stop.unwrap_or(rest.len());
        while end > begin {
            let last = self.bytes.get(end - 1).copied().unwrap_or(b' ');
            let opened = self.bytes.get(begin..end).is_some_and(|url| memchr::memchr(b'(', url).is_some());
            let drop = matches!(last, b'.' | b',' | b';' | b':' | b'!' | b'?' | b']' | b'}' | b'*')
                || (last == b')' && !opened);
            if !drop {
                break;
            }
            end -= 1;
        }
        self.push(AtomKind::Url, begin, end);
        self.at = end.max(start + len);
        true
    }

    /// A token that is no ordinary word and no URL.
    fn classified(&mut self, start: usize, end: usize) {
        self.shaped(start, end, None);
    }

    /// The same with the shape of the token, where it is known.
    fn shaped(&mut self, from: usize, to: usize, known: Option<Shape>) {
        let (start, end) = self.trimmed(from, to);
        let Some(own) = self.text.get(start..end).filter(|own| !own.is_empty()) else { return };
        let bytes = own.as_bytes();
        if bytes == b"$" {
            return self.currency(start, end);
        }
        if end < to && number::spelled(bytes) == Some(Spelled::Month) {
            return self.spelled(start, end, Spelled::Month);
        }
        match bytes {
            [b'-', b'-', letter, ..] if letter.is_ascii_alphabetic() => return self.flag(start, own),
            [b'-', letter, ..] if letter.is_ascii_alphabetic() && self.stands_free(start) => {
                return self.flag(start, own);
            }
            [b'$', letter, ..] if letter.is_ascii_alphabetic() || *letter == b'_' => {
                let len = 1 + own
                    .bytes()
                    .skip(1)
                    .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                    .count();
                self.push(AtomKind::Env, start + 1, start + len);
                return self.rest_of(start + len, end);
            }
            _ => {}
        }
        if let Some(at) = memchr::memchr(b'=', bytes) {
            return self.assignment(start, end, at);
        }
        let shape = known.filter(|_| (start, end) == (from, to)).unwrap_or_else(|| Shape::of(bytes));
        if is_numeric(bytes) {
            return self.number(start, end, shape);
        }
        if let Some(rest) = own.strip_prefix('~').filter(|rest| is_numeric(rest.as_bytes())) {
            return self.approximate(end - rest.len(), end);
        }
        if let Some((kind, len)) = token::classify(own, shape) {
            let place =
                if kind == AtomKind::Path { place::behind(self.text, start, start + len) } else { None };
            self.push(kind, start, start + len);
            if let Some(stop) = place {
                self.push(AtomKind::LineRef, start, stop);
                self.at = self.at.max(stop);
            }
            self.rest_of(place.unwrap_or(start + len), end);
        }
    }

    /// `~5s`: the mark belongs to the number.
    fn approximate(&mut self, start: usize, end: usize) {
        let first = self.atoms.len();
        self.shaped(start, end, None);
        if let Some(own) = self.atoms.get_mut(first)
            && matches!(own.kind, AtomKind::Number | AtomKind::Quantity)
            && own.range.start == start
        {
            own.range.start -= 1;
        }
    }

    fn rest_of(&mut self, start: usize, end: usize) {
        if start < end && self.bytes.get(start..end).is_some_and(|rest| rest.iter().any(u8::is_ascii_digit)) {
            self.classified(start, end);
        }
    }

    fn stands_free(&self, start: usize) -> bool {
        start
            .checked_sub(1)
            .and_then(|at| self.bytes.get(at))
            .is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte < 0x80)
    }

    fn flag(&mut self, start: usize, own: &str) {
        let len = own
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            .count();
        self.push(AtomKind::Flag, start, start + len);
        self.rest_of(start + len, start + own.len());
    }

    /// `NAME=value`: a name in capitals is an environment variable.
    fn assignment(&mut self, start: usize, end: usize, at: usize) {
        let name = self.bytes.get(start..start + at).unwrap_or_default();
        let capitals = name.len() > 1
            && name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
        if capitals && !name.first().is_some_and(u8::is_ascii_digit) {
            self.push(AtomKind::Env, start, start + at);
        } else if at > 0 {
            self.classified(start, start + at);
        }
        if start + at + 1 < end {
            self.classified(start + at + 1, end);
        }
    }

    /// Drops punctuation around a token.
    fn trimmed(&self, mut start: usize, mut end: usize) -> (usize, usize) {
        while end > start
            && self.bytes.get(end - 1).is_some_and(|byte| {
                matches!(byte, b'.' | b':' | b'?' | b'*' | b'=' | b'-' | b'&' | b'^' | b'\\')
            })
        {
            end -= 1;
        }
        while start < end
            && self
                .bytes
                .get(start)
                .is_some_and(|byte| matches!(byte, b'*' | b':' | b'=' | b'?' | b'&' | b'^'))
        {
            start += 1;
        }
        (start, end)
    }

    fn number(&mut self, start: usize, end: usize, shape: Shape) {
        if let Some(stop) = self.time(start, end) {
            self.at = self.at.max(stop);
            return self.push(AtomKind::Time, start, stop);
        }
        let uuid = end - start == 36 && shape.dashes == 4 && shape.hex == 32;
        if shape.dots >= 2 || uuid {
            return self.push(AtomKind::Id, start, end);
        }
        if shape.colons + shape.slashes > 0 {
            return self.split_number(start, end);
        }
        let digits_end = self.digits_end(start, end);
        let tail = self.text.get(digits_end..end).unwrap_or_default();
        if tail.is_empty() {
            let (grouped, unit) = self.scale_and_unit(self.grouped(digits_end));
            let currency = self.bytes.get(start) == Some(&b'$');
            if let Some(stop) = self.dated(start, digits_end) {
                self.at = self.at.max(stop);
                return self.push(AtomKind::Time, start, stop);
            }
            match unit {
                Some(stop) => self.push(AtomKind::Quantity, start, stop),
                None if currency => self.push(AtomKind::Quantity, start, grouped),
                None => self.push(AtomKind::Number, start, grouped),
            }
            self.at = self.at.max(grouped);
        } else if matches!(tail, "am" | "pm" | "AM" | "PM") {
            self.push(AtomKind::Time, start, end);
        } else if matches!(tail, "st" | "nd" | "rd" | "th") && self.dated(start, end).is_some() {
            let stop = self.dated(start, end).unwrap_or(end);
            self.at = self.at.max(stop);
            self.push(AtomKind::Time, start, stop);
        } else if token::is_unit(tail)
            || tail.strip_prefix('-').is_some_and(|unit| unit.len() > 1 && token::is_unit(unit))
        {
            self.push(AtomKind::Quantity, start, end);
        } else {
            self.odd_number(start, end, digits_end);
        }
    }

    /// The end of `4 Jan 2019`, `7 pm` or `2019年1月4日` that begins with digits.
    fn dated(&self, start: usize, end: usize) -> Option<usize> {
        if let Some((stop, word)) = self.next_word(end) {
            if matches!(word, "am" | "pm" | "AM" | "PM") {
                return Some(stop);
            }
            if number::spelled(word.as_bytes()) == Some(Spelled::Month) && end - start <= 4 {
                let comma = usize::from(self.bytes.get(stop) == Some(&b','));
                let year = self.next_number(stop + comma).filter(|(_, own)| own.len() == 4);
                return Some(year.map_or(stop, |(stop, _)| stop));
            }
        }
        let rest = self.text.get(end..)?.strip_prefix('年').filter(|_| end - start == 4)?;
        let date = rest.split_inclusive(['月', '日']).take(2).take_while(|part| {
            part.trim_end_matches(['月', '日']).bytes().all(|byte| byte.is_ascii_digit()) && part.len() <= 5
        });
        let len: usize = date.map(str::len).sum();
        (len > 0).then_some(end + '年'.len_utf8() + len)
    }

    /// `$12`, `10k`, `1e5`, `0xff`, `12-15`, `3rd`: what begins with a digit and is neither number nor quantity.
    fn odd_number(&mut self, start: usize, end: usize, digits_end: usize) {
        let own = self.bytes.get(start..end).unwrap_or_default();
        if own.first() == Some(&b'$') {
            return self.push(AtomKind::Quantity, start, end);
        }
        let shape = Shape::of(own);
        let range = shape.lowers + shape.uppers + shape.unders + shape.others == 0;
        if range && shape.dashes > 0 && own.first() != Some(&b'-') {
            let (_, unit) = self.scale_and_unit(end);
            if let Some(stop) = unit.filter(|_| shape.dashes == 1 && shape.dots < 3) {
                return self.push(AtomKind::Quantity, start, stop);
            }
        }
        if range && shape.dashes > 0 {
            self.push(AtomKind::Number, start, digits_end);
            let rest = own.iter().skip(digits_end - start).position(u8::is_ascii_digit);
            return if let Some(skip) = rest {
                self.classified(digits_end + skip, end);
            };
        }
        let kind = match token::classify(self.text.get(start..end).unwrap_or_default(), shape) {
            Some((kind, _)) => kind,
            None => AtomKind::Number,
        };
        self.push(kind, start, end);
    }

    fn split_number(&mut self, start: usize, end: usize) {
        let own = self.bytes.get(start..end).unwrap_or_default();
        let Some(stop) = own.iter().position(|byte| matches!(byte, b':' | b'/' | b'\\')) else { return };
        let words = Shape::of(own);
        if words.lowers + words.uppers > 2
            && let Some((kind, len)) = token::classify(self.text.get(start..end).unwrap_or_default(), words)
        {
            return self.push(kind, start, start + len);
        }
        if stop > 0 {
            self.classified(start, start + stop);
        }
        if start + stop + 1 < end {
            self.classified(start + stop + 1, end);
        }
    }

    fn digits_end(&self, start: usize, end: usize) -> usize {
        let own = self.bytes.get(start..end).unwrap_or_default();
        let sign = usize::from(own.first().is_some_and(|byte| matches!(byte, b'+' | b'-' | b'$')));
        let len = own
            .iter()
            .skip(sign)
            .take_while(|byte| byte.is_ascii_digit() || **byte == b'.' || **byte == b'_')
            .count();
        let stop = start + sign + len;
        if len > 0 && self.bytes.get(stop - 1) == Some(&b'.') { stop - 1 } else { stop }
    }

    /// The end with further groups: `1,234,567.8`, also with no-break spaces.
    fn grouped(&self, mut end: usize) -> usize {
        loop {
            let rest = self.bytes.get(end..).unwrap_or_default();
            let gap = match rest {
                [b',', ..] => 1,
                [0xC2, 0xA0, ..] => 2,
                [0xE2, 0x80, 0xAF | 0x89, ..] => 3,
                _ => return end,
            };
            let digits = rest.get(gap..gap + 3).unwrap_or_default();
            let group = digits.len() == 3 && digits.iter().all(u8::is_ascii_digit);
            if !group || rest.get(gap + 3).is_some_and(u8::is_ascii_digit) {
                return end;
            }
            end += gap + 3;
            if self.bytes.get(end) == Some(&b'.') {
                let rest = self.bytes.get(end + 1..).unwrap_or_default();
                let more = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                return if more > 0 { end + 1 + more } else { end };
            }
        }
    }

    /// The word behind one blank, with its end.
    fn next_word(&self, end: usize) -> Option<(usize, &str)> {
        let start = match self.bytes.get(end) {
            Some(b' ') => end + 1,
            Some(b'%') => return Some((end + 1, "%")),
            _ => return None,
        };
        let len =
            self.bytes.get(start..)?.iter().take(12).take_while(|byte| byte.is_ascii_alphabetic()).count();
        let word = self.text.get(start..start + len).filter(|word| !word.is_empty())?;
        Some((start + len, word))
    }

    /// The end of a date, instant or clock time that begins at `start`.
    fn time(&self, start: usize, end: usize) -> Option<usize> {
        let own = self.bytes.get(start..end)?;
        let digits = |from: usize, count: usize| {
            own.get(from..from + count).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
        };
        let is = |at: usize, byte: u8| own.get(at) == Some(&byte);
        let ends = |at: usize| own.get(at).is_none_or(|byte| !byte.is_ascii_alphanumeric());
        let date = digits(0, 4) && is(4, b'-') && digits(5, 2) && is(7, b'-') && digits(8, 2);
        if date && is(10, b'T') {
            return Some(end);
        }
        if date && own.len() == 10 {
            return Some(self.clock_behind(end).unwrap_or(end));
        }
        let hour = if is(2, b':') && digits(0, 2) { 2 } else { usize::from(is(1, b':') && digits(0, 1)) };
        if hour > 0
            && digits(hour + 1, 2)
            && ends(hour + 3)
            && (own.len() == hour + 3 || is(hour + 3, b':') && digits(hour + 4, 2))
        {
            return Some(self.half_day(end).unwrap_or(end));
        }
        let mut slashes = own.split(|byte| *byte == b'/');
        let parts: Vec<&[u8]> = slashes.by_ref().take(4).collect();
        let numeric = |part: &&[u8]| (1..=4).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
        (parts.len() == 3 && parts.iter().all(numeric) && (own.len() >= 8)).then_some(end)
    }

    fn clock_behind(&self, end: usize) -> Option<usize> {
        let rest = self.bytes.get(end..)?;
        let [b' ', hour @ ..] = rest else { return None };
        let len = hour
            .iter()
            .take(32)
            .take_while(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b'Z' | b'+'))
            .count();
        let clock = hour.get(..len)?;
        (len >= 5 && clock.get(2) == Some(&b':')).then_some(end + 1 + len)
    }

    fn half_day(&self, end: usize) -> Option<usize> {
        let rest = self.bytes.get(end..)?;
        let skip = usize::from(rest.first() == Some(&b' '));
        let word = rest.get(skip..skip + 2)?;
        let half = word.eq_ignore_ascii_case(b"am") || word.eq_ignore_ascii_case(b"pm");
        let ends = rest.get(skip + 2).is_none_or(|byte| !byte.is_ascii_alphanumeric());
        (half && ends).then_some(end + skip + 2)
    }
}

fn is_degree(word: &str) -> bool {
    matches!(word, "deg" | "degree" | "degrees")
}

fn is_numeric(bytes: &[u8]) -> bool {
    matches!(bytes, [b'0'..=b'9', ..] | [b'+' | b'-' | b'$', b'0'..=b'9', ..])
}
