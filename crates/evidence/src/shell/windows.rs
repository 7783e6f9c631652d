//! Lines of PowerShell and of `cmd`, cut into commands and words. Blocks and sub-expressions stay as they are spelled.

use super::{Mode, Unparsed};

/// The two shells of Windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// PowerShell.
    PowerShell,
    /// `cmd.exe`.
    Cmd,
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Its text without quotes.
    pub text: String,
    /// How it stands there.
    pub form: Form,
}

/// How a word stands in a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Without quotes.
    Bare,
    /// In quotes, and nothing in it is expanded.
    Quoted,
    /// A variable or an expression stands in it.
    Open,
    /// A block `{ … }`, or an expression `( … )`, without its brackets.
    Block,
}

/// One command with its redirections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// Its words.
    pub words: Vec<Word>,
    /// Its redirections to files.
    pub redirects: Vec<(Mode, Word)>,
}

/// Cuts a script into commands, in the order in which they stand; stages of a pipeline are commands.
///
/// # Errors
/// [`Unparsed`] where a quote or bracket is open at the end.
pub fn commands(text: &str, dialect: Dialect) -> Result<Vec<Command>, Unparsed> {
    let mut cutter = Cutter { rest: text, dialect, all: Vec::new(), own: Command::default(), to: None };
    cutter.cut()?;
    Ok(cutter.all)
}

struct Cutter<'t> {
    rest: &'t str,
    dialect: Dialect,
    all: Vec<Command>,
    own: Command,
    to: Option<Mode>,
}

impl Cutter<'_> {
    fn cut(&mut self) -> Result<(), Unparsed> {
        while let Some(char) = self.rest.chars().next() {
            match char {
                '\n' | '\r' | ';' | '|' => self.end(char),
                '&' => self.ampersand(),
                '#' if self.dialect == Dialect::PowerShell => self.skip_line(),
                '>' => self.redirect(),
                _ if char.is_whitespace() => self.skip(char.len_utf8()),
                _ if self.descriptor() => {}
                _ => {
                    let word = self.word()?;
                    match self.to.take() {
                        Some(mode) => self.own.redirects.push((mode, word)),
                        None => self.own.words.push(word),
                    }
                }
            }
        }
        self.end(';');
        Ok(())
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn skip_line(&mut self) {
        self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
    }

    fn end(&mut self, char: char) {
        // In `cmd` a semicolon separates words.
        if !(char == ';' && self.dialect == Dialect::Cmd && !self.rest.is_empty()) {
            let own = std::mem::take(&mut self.own);
            if !own.words.is_empty() || !own.redirects.is_empty() {
                self.all.push(own);
            }
        }
        self.skip(char.len_utf8());
    }

    /// `&` separates in `cmd`; in front of a word it calls it in PowerShell.
    fn ampersand(&mut self) {
        if self.dialect == Dialect::Cmd || self.rest.starts_with("&&") {
            self.end('&');
        } else {
            self.skip(1);
        }
    }

    /// `2>&1`, `*>`: the number in front of a redirection belongs to it.
    fn descriptor(&mut self) -> bool {
        let mut chars = self.rest.chars();
        let numbered = matches!((chars.next(), chars.next()), (Some('0'..='9' | '*'), Some('>')));
        if numbered {
            self.skip(1);
        }
        numbered
    }

    fn redirect(&mut self) {
        self.to = if self.rest.starts_with(">>") {
            self.skip(2);
            Some(Mode::Append)
        } else {
            self.skip(1);
            Some(Mode::Write)
        };
        let after = self.rest.trim_start();
        if after.starts_with('&') {
            self.to = None;
            self.rest = after.get(1..).unwrap_or_default();
            self.skip(usize::from(self.rest.starts_with(|char: char| char.is_ascii_digit())));
        }
    }

    fn word(&mut self) -> Result<Word, Unparsed> {
        let mut word = Word { text: String::new(), form: Form::Bare };
        let mut quoted = false;
        while let Some(char) = self.rest.chars().next() {
            let closes = char.is_whitespace() || matches!(char, ';' | '|' | '>');
            let ampersand = char == '&' && self.dialect == Dialect::Cmd;
            if closes || ampersand {
                break;
            }
            match char {
                '"' => quoted |= self.quoted('"', &mut word)?,
                '\'' if self.dialect == Dialect::PowerShell => quoted |= self.quoted('\'', &mut word)?,
                '(' | '{' if self.dialect == Dialect::PowerShell => self.block(char, &mut word)?,
                _ => {
                    if matches!(char, '$' | '%' | '@') {
                        word.form = Form::Open;
                    }
                    word.text.push(char);
                    self.skip(char.len_utf8());
                }
            }
        }
        if quoted && word.form == Form::Bare {
            word.form = Form::Quoted;
        }
        Ok(word)
    }

    fn quoted(&mut self, quote: char, word: &mut Word) -> Result<bool, Unparsed> {
        let inside = self.rest.get(1..).unwrap_or_default();
        let end = inside.find(quote).ok_or_else(|| Unparsed("a quote is not closed".to_owned()))?;
        let text = inside.get(..end).unwrap_or_default();
        if quote == '"' && text.contains(['$', '%', '`']) {
            word.form = Form::Open;
        }
        word.text.push_str(text);
        self.skip(end + 2);
        Ok(true)
    }

    /// Takes everything to the bracket that closes; a word of its own becomes a block.
    fn block(&mut self, open: char, word: &mut Word) -> Result<(), Unparsed> {
        let mut depth = 0_usize;
        let mut quote = None;
        for (at, char) in self.rest.char_indices() {
            match (quote, char) {
                (Some(own), _) if own == char => quote = None,
                (None, '"' | '\'') => quote = Some(char),
                (None, '(' | '{') => depth += 1,
                (None, ')' | '}') => depth = depth.saturating_sub(1),
                (Some(_) | None, _) => {}
            }
            if depth == 0 {
                let inside = self.rest.get(1..at).unwrap_or_default();
                let alone = word.text.is_empty() || matches!(word.text.as_str(), "$" | "@");
                word.form = if alone { Form::Block } else { Form::Open };
                if alone {
                    inside.clone_into(&mut word.text);
                } else {
                    word.text.push_str(self.rest.get(..=at).unwrap_or_default());
                }
                self.skip(at + 1);
                return Ok(());
            }
        }
        Err(Unparsed(format!("a {open} is not closed")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, dialect: Dialect) -> Vec<Vec<String>> {
        let all = commands(text, dialect).unwrap();
        all.into_iter().map(|own| own.words.into_iter().map(|word| word.text).collect()).collect()
    }

    #[test]
    fn lines_are_cut_into_commands() {
        assert_eq!(
            texts("cd C:\\a; npm run x 2>&1 | Select-Object -Last 4", Dialect::PowerShell),
            [vec!["cd", "C:\\a"], vec!["npm", "run", "x"], vec!["Select-Object", "-Last", "4"]]
        );
        assert_eq!(texts("del \"a b\" & rd /s c", Dialect::Cmd), [vec!["del", "a b"], vec!["rd", "/s", "c"]]);
        let all = commands("Get-Date > 'x y'; ls *> $null", Dialect::PowerShell).unwrap();
        assert_eq!(all[0].redirects[0].1.text, "x y");
        assert_eq!(all[1].redirects[0].1.form, Form::Open);
        let all = commands("ls | % { rm $_ }", Dialect::PowerShell).unwrap();
        assert_eq!(all[1].words[1], Word { text: " rm $_ ".to_owned(), form: Form::Block });
        assert!(commands("echo 'a", Dialect::PowerShell).is_err());
    }
}
