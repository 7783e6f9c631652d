//! Tables for people: columns as wide as they need, the last one cut where the terminal ends.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The narrowest last column, in cells.
const LAST_MIN: usize = 20;

/// The columns of the terminal on standard output; `None` where there is none, so that nothing is cut.
pub(crate) fn width() -> Option<usize> {
    let (terminal_size::Width(width), _) = terminal_size::terminal_size_of(std::io::stdout())?;
    Some(usize::from(width))
}

/// A row, and what else is to be said of it in lines below.
#[derive(Debug, Default)]
pub(crate) struct Line {
    pub(crate) cells: Vec<String>,
    pub(crate) notes: Vec<String>,
}

/// Lays out `lines` below `titles`, in at most `width` columns where that can be.
pub(crate) fn lay_out(titles: &[&str], lines: &[Line], width: Option<usize>) -> String {
    let columns = titles.len();
    let mut widths: Vec<usize> = titles.iter().map(|title| title.width()).collect();
    for line in lines {
        for (cell, wide) in line.cells.iter().zip(&mut widths) {
            *wide = (*wide).max(cell.width());
        }
    }
    let fixed: usize = widths.iter().take(columns.saturating_sub(1)).map(|wide| wide + 2).sum();
    let last = width.map(|width| width.saturating_sub(fixed).max(LAST_MIN));
    let mut text = String::new();
    let titles: Vec<String> = titles.iter().map(|title| (*title).to_owned()).collect();
    push_row(&mut text, &titles, &widths, last);
    for line in lines {
        push_row(&mut text, &line.cells, &widths, last);
        let indent = widths.first().copied().unwrap_or(0) + 2;
        for note in &line.notes {
            text.extend([&" ".repeat(indent), "└ ", note, "\n"]);
        }
    }
    text
}

fn push_row(text: &mut String, cells: &[String], widths: &[usize], last: Option<usize>) {
    let mut row = String::new();
    for (at, (cell, wide)) in cells.iter().zip(widths).enumerate() {
        let cell = visible(cell);
        if at + 1 == cells.len() {
            row.push_str(&last.map_or(cell.clone(), |last| cut(&cell, last)));
        } else {
            row.push_str(&cell);
            row.push_str(&" ".repeat(wide.saturating_sub(cell.width()) + 2));
        }
    }
    text.extend([row.trim_end(), "\n"]);
}

/// A text without what would move the cursor.
pub(crate) fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{b7}' } else { c }).collect()
}

/// Cuts the middle out of a text that is too wide: the ends of a path tell most.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let half = width.saturating_sub(1) / 2;
    let head = take(text.chars(), half);
    let tail: String = take(text.chars().rev(), width.saturating_sub(1) - half).chars().rev().collect();
    format!("{head}…{tail}")
}

fn take(chars: impl Iterator<Item = char>, width: usize) -> String {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= width
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_column_is_cut_in_its_middle_and_nothing_else_is() {
        let line =
            |id: &str, path: &str| Line { cells: vec![id.to_owned(), path.to_owned()], notes: Vec::new() };
        let lines = [line("E1", "/srv/app/a/very/long/path/to/the/file.rs"), line("E200", "a\u{1b}[31m\nb")];
        let text = lay_out(&["id", "target"], &lines, Some(30));
        assert_eq!(text, "id    target\nE1    /srv/app/a/…/the/file.rs\nE200  a·[31m·b\n");
        assert!(
            lay_out(&["id", "target"], &lines, None).contains("/srv/app/a/very/long/path/to/the/file.rs")
        );
    }

    #[test]
    fn wide_characters_take_two_cells() {
        assert_eq!(cut("迁移迁移迁移", 7), "迁…移");
        assert!(cut("迁移迁移迁移", 7).width() <= 7);
    }
}
