//! Chat histories of Aider: `#### ` before what the user typed, `> ` before what the program says, and the model's
//! answers as they are.
//!
//! The program ends every message of its own and of the user with two spaces. A message of the program that does not
//! end on its first line may hold what a command printed, and a command can print these marks, too: what follows in
//! that session is nobody's.

use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, Bytes, CallFacts, ResultFacts, SourceIndex, Speaker,
};

use crate::sections::{self, Line, Sections, body, said};

/// How a session begins.
const START: &str = "# aider chat started at ";

/// First lines of messages that go on and hold nothing but the program's own words and the user's answer.
const OWN_WORDS: [&str; 9] = [
    "> Tokens: ",
    "> Add the output to the chat?",
    "> Add command output to the chat?",
    "> Command Line Args: ",
    "> Add ",
    "> Allow ",
    "> Create new file",
    "> Open ",
    "> Use ",
];

/// What a message of the program says that it did, and the tool that does so.
const ACTS: [(&str, &str); 3] =
    [("> Applied edit to ", "edit"), ("> Commit ", "aider_commit"), ("> Running ", "bash")];

/// Reads a history.
///
/// # Errors
/// As [`sections::index`].
pub(crate) fn index(source: &dyn Bytes) -> Result<SourceIndex> {
    sections::index("aider", source, &mut |lines, sections| read(lines, sections))
}

/// Whose a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Start,
    User,
    Program,
    Model,
    /// What a command printed.
    Command,
    Nobody,
}

fn read(lines: &[Line<'_>], sections: &mut Sections) {
    let mut session = None;
    let mut at = 0;
    let mut sorter = Sorter::default();
    let mut marks = lines.iter().map(|line| sorter.sort(line)).collect::<Vec<_>>();
    // Blank lines belong to what stands before them.
    for place in 1..marks.len() {
        if lines.get(place).is_some_and(|line| line.text.trim().is_empty())
            && let Some(before) = marks.get(place - 1).copied()
            && before != Whose::Start
            && let Some(mark) = marks.get_mut(place)
        {
            *mark = before;
        }
    }
    while let (Some(first), Some(whose)) = (lines.get(at), marks.get(at)) {
        let length = match whose {
            Whose::Start => 1,
            _ => marks.iter().skip(at).take_while(|mark| *mark == whose).count(),
        };
        let own = lines.get(at..at + length).unwrap_or_default();
        if *whose == Whose::Start {
            session = first.text.strip_prefix(START).map(|time| time.trim().to_owned());
        }
        section(*whose, first, own, sections);
        if let Some(record) = sections.last() {
            record.session.clone_from(&session);
        }
        at += length;
    }
}

/// Tells whose lines are, one after the other.
#[derive(Debug, Default)]
struct Sorter {
    /// Whether a message of the program goes on, and whether it holds a command's output.
    open: Option<Whose>,
    /// Whether a command has printed in this session, so that marks may be its own.
    printed: bool,
    /// Whether a fence of the model is open.
    fence: bool,
}

impl Sorter {
    fn sort(&mut self, line: &Line<'_>) -> Whose {
        let text = line.text;
        let ends = text.ends_with("  ");
        if is_start(text) {
            *self = Self::default();
            return Whose::Start;
        }
        if let Some(open) = self.open {
            if ends {
                self.open = None;
            }
            return open;
        }
        if self.printed {
            return Whose::Nobody;
        }
        if text.starts_with("> ") || text == ">" {
            self.fence = false;
            let own = ends || OWN_WORDS.iter().any(|words| text.starts_with(words));
            self.printed = !own;
            let whose = if own { Whose::Program } else { Whose::Command };
            self.open = (!ends).then_some(whose);
            return whose;
        }
        if text.starts_with("#### ") {
            return if ends && !self.fence { Whose::User } else { Whose::Nobody };
        }
        self.fence ^= text.starts_with("```");
        Whose::Model
    }
}

/// Whether a line is the head of a session, with its time.
fn is_start(text: &str) -> bool {
    let time = text.strip_prefix(START).unwrap_or_default();
    let shape = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        10 => byte == b' ',
        13 | 16 => byte == b':',
        _ => byte.is_ascii_digit(),
    };
    time.trim_end().len() == 19 && time.trim_end().bytes().enumerate().all(shape)
}

fn section(whose: Whose, first: &Line<'_>, lines: &[Line<'_>], sections: &mut Sections) {
    let (label, speaker) = match whose {
        Whose::Start => ("session", Speaker::Harness),
        Whose::User => ("user", Speaker::User),
        Whose::Program => ("program", Speaker::Harness),
        Whose::Command => ("output", Speaker::Tool),
        Whose::Model => ("model", Speaker::Assistant),
        Whose::Nobody => ("unattributed", Speaker::Unknown),
    };
    sections.begin(first, label);
    match whose {
        Whose::Start => {}
        Whose::User => {
            for line in lines.iter().filter(|line| line.text.starts_with("#### ")) {
                say(line.behind("#### "), speaker, sections);
            }
        }
        Whose::Program => program(lines, sections),
        Whose::Command | Whose::Model | Whose::Nobody => {
            body(lines).into_iter().for_each(|body| say(body, speaker, sections));
            if whose == Whose::Nobody {
                let why = "who speaks is not known: a command has printed before, and it may have printed these marks";
                sections.find(first, "unattributed", why);
            }
        }
    }
}

/// A text of its own for each line with a mark, so that no mark stands inside a text.
fn say(range: ByteRange, speaker: Speaker, sections: &mut Sections) {
    if !range.is_empty() {
        said(BlockKind::Text, speaker, &[range]).into_iter().for_each(|block| sections.push(block));
    }
}

/// What the program says; where it says what it did, that is a call of its own.
fn program(lines: &[Line<'_>], sections: &mut Sections) {
    for line in lines.iter().filter(|line| !line.text.trim().is_empty()) {
        let act = ACTS.iter().find(|(words, _)| line.text.starts_with(words) && line.text.ends_with("  "));
        if let Some((words, tool)) = act {
            act_of(line, words, tool).into_iter().for_each(|block| sections.push(block));
        } else {
            let mark = if line.text.starts_with("> ") { "> " } else { "" };
            say(line.behind(mark), Speaker::Harness, sections);
        }
    }
}

/// The call that a line reports, and its result where the line says that it was done.
fn act_of(line: &Line<'_>, words: &str, tool: &str) -> Vec<Block> {
    let id = format!("line {}", line.number);
    let all = line.behind("");
    let what = line.behind(words);
    let facts = CallFacts { id: Some(id.clone()), tool: tool.to_owned(), arguments: Arguments::Plain(what) };
    let call = said(BlockKind::Call(facts), Speaker::Assistant, &[all]);
    let result = ResultFacts { call_id: Some(id), error: Some(false), ..ResultFacts::default() };
    let end = ByteRange::new(all.end(), line.range.end());
    let result = said(BlockKind::Result(result), Speaker::Harness, &[end]).filter(|_| tool != "bash");
    call.map(|call| Block { text: Vec::new(), ..call }).into_iter().chain(result).collect()
}
