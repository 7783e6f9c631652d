//! The pieces of a text that no token crosses.
//!
//! At each place the first of these that matches is taken, as much of it as there is. `H` stands for what the head of a
//! word may be of, `T` for its tail, `S` for signs ([`Set`]):
//!
//! ```text
//! [^\r\n\p{L}\p{N}]? H* T+ ('s|'t|'re|'ve|'m|'ll|'d)?       without case
//! [^\r\n\p{L}\p{N}]? H+ T* ('s|'t|'re|'ve|'m|'ll|'d)?
//! \p{N}{1,3}
//!  ?S+[\r\n/]*
//! \s*[\r\n]+
//! \s+(?!\S)
//! \s+
//! ```

use std::ops::Range;

use crate::class::{self, Class, Set};

/// The pieces of a text, in order; together they are the text.
#[derive(Debug, Clone)]
pub(crate) struct Pieces<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Pieces<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The class of the character at `at` and where it ends; nothing at the end of the text.
    #[inline]
    fn look(&self, at: usize) -> Option<(Class, usize)> {
        let byte = *self.text.as_bytes().get(at)?;
        if byte.is_ascii() { Some((class::of_ascii(byte), at + 1)) } else { self.look_wide(at) }
    }

    fn look_wide(&self, at: usize) -> Option<(Class, usize)> {
        let char = self.text.get(at..)?.chars().next()?;
        Some((class::of_char(char), at + char.len_utf8()))
    }

    /// Where the run of `own` characters that begins at `at` ends.
    #[inline]
    fn run(&self, mut at: usize, own: Set) -> usize {
        while let Some((class, end)) = self.look(at)
            && own.holds(class)
        {
            at = end;
        }
        at
    }

    fn is_at(&self, at: usize, byte: u8) -> bool {
        self.text.as_bytes().get(at) == Some(&byte)
    }

    /// Where the piece ends that begins at `at` with a character of `class` that ends at `next`.
    fn end(&self, at: usize, class: Class, next: usize) -> usize {
        match class {
            Class::Upper | Class::Lower | Class::Letter => self.word(at).unwrap_or(next),
            // A mark may stand before a word as any sign may, and is one itself where none follows.
            Class::Mark => self.word_with_tail(next).or_else(|| self.word(at)).unwrap_or(next),
            Class::Number => self.number(next),
            Class::Newline => self.white(at),
            Class::Space => self.word(next).unwrap_or_else(|| {
                let signs =
                    self.is_at(at, b' ') && self.look(next).is_some_and(|(class, _)| Set::SIGN.holds(class));
                if signs { self.signs(next) } else { self.white(at) }
            }),
            Class::Other => self.word(next).unwrap_or_else(|| self.signs(at)),
        }
    }

    /// The end of the word that begins at `at`, with what is contracted with it.
    fn word(&self, at: usize) -> Option<usize> {
        self.word_with_tail(at).or_else(|| {
            let end = self.run(at, Set::HEAD);
            (end > at).then(|| self.contracted(end))
        })
    }

    /// The end of the word that begins at `at` and has a tail.
    fn word_with_tail(&self, at: usize) -> Option<usize> {
        // Letters without case and marks may end the head or begin the tail.
        let (mut head, mut tail) = (at, None);
        while let Some((class, end)) = self.look(head)
            && Set::HEAD.holds(class)
        {
            head = end;
            tail = if Set::TAIL.holds(class) { Some(end) } else { tail };
        }
        let end = self.run(head, Set::TAIL);
        let end = if end > head { Some(end) } else { tail };
        end.map(|end| self.contracted(end))
    }

    /// Behind a contraction at `at`, where one stands there.
    fn contracted(&self, at: usize) -> usize {
        if !self.is_at(at, b'\'') {
            return at;
        }
        let mut next = self.text.as_bytes().iter().skip(at + 1).take(2).map(u8::to_ascii_lowercase);
        match (next.next(), next.next()) {
            (Some(b's' | b't' | b'm' | b'd'), _) => at + 2,
            // 0xC5 0xBF is U+017F, a long `s`, which is an `s` where case does not count.
            (Some(b'r' | b'v'), Some(b'e')) | (Some(b'l'), Some(b'l')) | (Some(0xC5), Some(0xBF)) => at + 3,
            _ => at,
        }
    }

    /// Behind up to three numbers of which the first ends at `at`.
    fn number(&self, at: usize) -> usize {
        let more = |at: usize| match self.look(at) {
            Some((Class::Number, end)) => end,
            _ => at,
        };
        more(more(at))
    }

    fn signs(&self, at: usize) -> usize {
        let end = self.run(at, Set::SIGN);
        let behind = self.text.as_bytes().iter().skip(end);
        end + behind.take_while(|byte| matches!(byte, b'\r' | b'\n' | b'/')).count()
    }

    /// The end of white space that begins at `at`: behind its last line break, or before its last character where
    /// something follows it.
    fn white(&self, at: usize) -> usize {
        let (mut end, mut last, mut broken) = (at, at, None);
        while let Some((class, next)) = self.look(end)
            && Set::WHITE.holds(class)
        {
            (last, end) = (end, next);
            broken = if class == Class::Newline { Some(next) } else { broken };
        }
        broken.unwrap_or(if end == self.text.len() || last == at { end } else { last })
    }
}

impl Iterator for Pieces<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let at = self.at;
        let (class, next) = self.look(at)?;
        self.at = self.end(at, class, next);
        Some(at..self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<&str> {
        Pieces::of(text).map(|piece| text.get(piece).unwrap()).collect()
    }

    #[test]
    fn a_text_is_cut_as_the_pattern_says() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            ("Hello, World's end", &["Hello", ",", " World's", " end"]),
            ("fooBarHTTPServer", &["foo", "Bar", "HTTPServer"]),
            ("12345 x", &["123", "45", " x"]),
            ("a   b\n\n  c  ", &["a", "  ", " b", "\n\n", " ", " c", "  "]),
            ("x;\n//\n y", &["x", ";\n//\n", " y"]),
            ("\tlet we'LL they'\u{17f}x", &["\tlet", " we'LL", " they'\u{17f}", "x"]),
            ("日本Aé 日本A", &["日本Aé", " 日本", "A"]),
            (
                "\u{301}A \u{301}b !\u{301}! !\u{301}",
                &["\u{301}", "A", " \u{301}b", " !\u{301}!", " !\u{301}"],
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(pieces(text), *expected, "{text:?}");
        }
    }
}
