//! Tables in text: Markdown and console tables with bars, delimited lines, and columns set apart by blanks.

use std::ops::Range;

/// A cell with the names of its column and row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) column: String,
    /// The first cell of its row, and the row's number from 1 where no row is named by a number.
    pub(super) rows: Vec<String>,
    pub(super) value: String,
    /// Its bytes in the text.
    pub(super) range: Range<usize>,
}

/// The largest table that is read, in lines.
const LINES_MAX: usize = 10_000;

type Field = Range<usize>;

/// How the cells of a line are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Bars,
    Comma,
    Tab,
    Semicolon,
    Blanks,
}

impl Style {
    const fn mark(self) -> &'static str {
        match self {
            Self::Bars => "|",
            Self::Comma => ",",
            Self::Tab => "\t",
            Self::Semicolon => ";",
            Self::Blanks => "  ",
        }
    }
}

const STYLES: &[Style] = &[Style::Bars, Style::Tab, Style::Comma, Style::Semicolon, Style::Blanks];

/// The cells of all tables in `text`, row by row.
pub(super) fn cells(text: &str) -> Vec<Cell> {
    let lines: Vec<Field> = lines(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let table = STYLES.iter().find_map(|style| read(text, lines.get(at..).unwrap_or_default(), *style));
        match table {
            Some((cells, used)) => {
                found.extend(cells);
                at += used;
            }
            None => at += 1,
        }
    }
    found
}

fn lines(text: &str) -> Vec<Field> {
    let mut at = 0;
    let cut = text.split('\n').map(|line| {
        let start = at;
        at += line.len() + 1;
        start..start + line.trim_end_matches('\r').len()
    });
    cut.collect()
}

/// The table that begins with the first of `lines`, and how many lines it takes.
fn read(text: &str, lines: &[Field], style: Style) -> Option<(Vec<Cell>, usize)> {
    let header = fields(text, lines.first()?, style)?;
    let names: Vec<&str> = header.iter().filter_map(|field| text.get(field.clone())).collect();
    if names.len() < 2 || !names.iter().all(|name| is_name(name)) {
        return None;
    }
    let ruled = lines.get(1).is_some_and(|line| is_rule(text.get(line.clone()).unwrap_or_default()));
    if style == Style::Bars && !ruled {
        return None;
    }
    // Words in columns are a table where numbers soon stand in them.
    let numbers = |line: &Field| {
        text.get(line.clone()).is_some_and(|line| line.bytes().any(|byte| byte.is_ascii_digit()))
    };
    if style == Style::Blanks && !lines.iter().skip(1).take(3).any(numbers) {
        return None;
    }
    let body = lines.iter().skip(1 + usize::from(ruled)).take(LINES_MAX);
    let rows: Vec<Vec<Field>> = body
        .map_while(|line| fields(text, line, style).filter(|fields| fields.len() == names.len()))
        .collect();
    if rows.is_empty() {
        return None;
    }
    let first =
        |row: &[Field]| row.first().and_then(|field| text.get(field.clone())).unwrap_or_default().to_owned();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbered = rows.iter().any(|row| is_number(&first(row)));
    let mut cells = Vec::new();
    for (n, row) in rows.iter().enumerate() {
        let mut labels = vec![first(row)];
        if !numbered {
            labels.push((n + 1).to_string());
        }
        for (name, field) in names.iter().zip(row).skip(1) {
            let value = text.get(field.clone()).unwrap_or_default();
            if !value.is_empty() {
                let (column, rows) = ((*name).to_owned(), labels.clone());
                cells.push(Cell { column, rows, value: value.to_owned(), range: field.clone() });
            }
        }
    }
    Some((cells, 1 + usize::from(ruled) + rows.len()))
}

/// A line under a header: dashes, with bars, crosses and colons.
fn is_rule(line: &str) -> bool {
    line.contains("--") && line.chars().all(|c| matches!(c, '-' | '|' | '+' | ':' | ' ' | '='))
        || line.contains("|-") && line.chars().all(|c| matches!(c, '-' | '|' | ':' | ' '))
}

/// The name of a column: a few words that begin with a letter or `#`.
fn is_name(text: &str) -> bool {
    let start = text.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '#' | '%'));
    start && text.len() <= 40 && text.split(' ').count() <= 4 && !text.contains(['"', '{', '=', ';', '\''])
}

/// The cells of one line, without the blanks around them; `None` where it has not even two.
fn fields(text: &str, line: &Field, style: Style) -> Option<Vec<Field>> {
    let own = text.get(line.clone())?;
    let mut parts = Vec::new();
    let mut at = 0;
    for (found, mark) in own.match_indices(style.mark()).chain([(own.len(), "")]) {
        parts.push(at..found);
        at = found + mark.len();
    }
    let blank = |part: &Field| own.get(part.clone()).is_none_or(|part| part.trim().is_empty());
    match style {
        Style::Blanks => parts.retain(|part| !blank(part)),
        Style::Bars => {
            if parts.last().is_some_and(blank) {
                parts.pop();
            }
            if parts.first().is_some_and(blank) {
                parts.remove(0);
            }
        }
        Style::Comma | Style::Tab | Style::Semicolon => {}
    }
    // `a, b` is prose; `a,b` is a line of a table.
    let spaced = |part: &Field| own.get(part.clone()).is_some_and(|part| part.starts_with(' '));
    if parts.len() < 2 || (style == Style::Comma && parts.iter().any(spaced)) {
        return None;
    }
    parts.into_iter().map(|part| trimmed(text, part.start + line.start..part.end + line.start)).collect()
}

/// A field without blanks and without the quotes around it.
fn trimmed(text: &str, field: Field) -> Option<Field> {
    let own = text.get(field.clone())?;
    let start = field.start + (own.len() - own.trim_start().len());
    let inner = start..start + own.trim().len();
    let own = text.get(inner.clone())?;
    let quoted = own.len() >= 2 && own.starts_with('"') && own.ends_with('"');
    Some(if quoted { inner.start + 1..inner.end - 1 } else { inner })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cell(text: &str, column: &str, row: &str) -> Option<String> {
        cells(text)
            .into_iter()
            .find(|cell| cell.column == column && cell.rows.iter().any(|own| own == row))
            .map(|cell| {
                assert_eq!(text.get(cell.range.clone()), Some(cell.value.as_str()));
                cell.value
            })
    }

    #[test]
    fn cells_are_named_by_column_and_row() {
        let markdown =
            "Before\n\n| model | p50 | p99 |\n|---|---:|---|\n| a | 10 | 20 |\n| b | 11 | 21 |\nAfter";
        let psql = " id | amount \n----+--------\n  1 |  10.00\n  3 |  30.00\n(2 rows)";
        let csv = "id,amount\r\n1,10.00\r\n3,\"30.00\"\r\n";
        let blanks = "NAME    READY   AGE\nweb-1   1/1     3d\nweb-2   0/1     4d\n";
        assert_eq!(cell(markdown, "p99", "b").as_deref(), Some("21"));
        assert_eq!(cell(markdown, "p99", "1").as_deref(), Some("20"));
        assert_eq!(cell(psql, "amount", "3").as_deref(), Some("30.00"));
        assert_eq!(cell(csv, "amount", "3").as_deref(), Some("30.00"));
        assert_eq!(cell(csv, "amount", "2"), None);
        assert_eq!(cell(blanks, "READY", "web-2").as_deref(), Some("0/1"));
    }

    #[test]
    fn prose_and_code_are_no_tables() {
        for text in [
            "Well, yes\nNo, never",
            "a || b\nc || d",
            "let a = 1;\nlet b = 2;",
            "one  word\ntwo  words",
            "x,y",
        ] {
            assert_eq!(cells(text), [], "{text}");
        }
    }

    proptest! {
        #[test]
        fn cells_lie_in_the_text(text in "([a-z1-9é|,;\t -]{0,12}\r?\n){0,8}") {
            for cell in cells(&text) {
                prop_assert_eq!(text.get(cell.range), Some(cell.value.as_str()));
            }
        }
    }
}
