//! Sessions that `SpecStory` exported as Markdown: a mark before every message, and a box around every use of a tool.
//!
//! The export quotes texts as they are. From the first line on that breaks its own grammar, such as a box within a box,
//! marks may be quoted, and nobody is named any more.

use strongroom_core::error::Result;
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::{
    Arguments, Block, BlockKind, Bytes, CallFacts, Ending, ResultFacts, SourceIndex, Speaker,
};

use crate::outcome::leading_number;
use crate::sections::{self, Line, Sections, body, said};

const BOX: &str = "<tool-use data-tool-type=\"";
const BOX_END: &str = "</details></tool-use>";
const NAME: &str = "data-tool-name=\"";
/// What the harness says in place of the result of a write that the user refused.
const REFUSED: &str = "The user doesn't want to proceed with this tool use";
/// Words around the path in what a tool that writes files says when it has done so.
const WRITTEN: [(&str, &str); 3] = [
    ("The file ", " has been updated"),
    ("The file ", " has been created"),
    ("File created successfully at: ", ""),
];
const THINKING: &str = "<think><details>";
const THINKING_END: &str = "</details></think>";

/// The languages of a fence that holds what a shell was asked to run.
const SCRIPTS: [&str; 3] = ["bash", "sh", "shell"];

/// Reads an export.
///
/// # Errors
/// As [`sections::index`].
pub(crate) fn index(source: &dyn Bytes) -> Result<SourceIndex> {
    sections::index("specstory", source, &mut |lines, sections| Reader::default().read(lines, sections))
}

/// Who a mark names.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Voice {
    Head,
    User,
    Agent,
    Side,
    Nobody,
}

#[derive(Debug, Default)]
struct Reader {
    session: Option<String>,
}

/// A message: its mark and the lines up to the next one.
struct Message<'l, 't> {
    voice: Voice,
    lines: &'l [Line<'t>],
}

impl Reader {
    fn read(&mut self, lines: &[Line<'_>], sections: &mut Sections) {
        self.session = lines.iter().take(8).find_map(|line| session_of(line.text));
        let messages = messages(lines, sections);
        for message in messages {
            let Some((first, rest)) = message.lines.split_first() else { continue };
            let (label, speaker) = match message.voice {
                Voice::Head => ("head", Speaker::Harness),
                Voice::User => ("user", Speaker::User),
                Voice::Agent => ("agent", Speaker::Assistant),
                Voice::Side => ("agent/sidechain", Speaker::Assistant),
                Voice::Nobody => ("unattributed", Speaker::Unknown),
            };
            sections.begin(first, label);
            if let Some(record) = sections.last() {
                record.session.clone_from(&self.session);
                record.time = time_of(first.text);
                record.agent = (message.voice == Voice::Side).then(|| "sidechain".to_owned());
            }
            match message.voice {
                Voice::Head => {}
                Voice::Agent | Voice::Side => agent(rest, sections),
                Voice::User => text(rest, prompted(rest), sections),
                Voice::Nobody => text(message.lines, speaker, sections),
            }
        }
    }
}

/// What harnesses put into a message of the user.
const NOTICES: [&str; 7] = [
    "[Request interrupted by user",
    "<command-",
    "<local-command-",
    "<task-notification>",
    "<system-reminder>",
    "<bash-",
    "Caveat: The messages below were generated",
];

/// Whose a message of the user is: a notice is the harness's.
fn prompted(lines: &[Line<'_>]) -> Speaker {
    let first = lines.iter().map(|line| line.text.trim()).find(|text| !text.is_empty()).unwrap_or_default();
    if NOTICES.iter().any(|begin| first.starts_with(begin)) { Speaker::Harness } else { Speaker::User }
}

/// The session id in the comment at the head.
fn session_of(text: &str) -> Option<String> {
    let inside = text.strip_prefix("<!-- ")?.split_once(" Session ")?.1;
    inside.split_whitespace().next().map(str::to_owned)
}

/// The time in a mark: the last two words inside its brackets, or the last one.
fn time_of(mark: &str) -> Option<strongroom_core::time::Timestamp> {
    let inside = mark.trim_end().strip_suffix(")**_")?.rsplit('(').next()?;
    let inside = inside.rsplitn(2, ' ').collect::<Vec<_>>();
    let (last, before) = (inside.first()?, inside.get(1).copied().unwrap_or_default());
    let date = before.rsplit(' ').next().unwrap_or_default();
    let joined = format!("{date}T{last}");
    let parsed: Option<jiff::Timestamp> = last.parse().ok().or_else(|| joined.parse().ok());
    parsed.map(|instant| strongroom_core::time::Timestamp::from_ms(instant.as_millisecond()))
}

fn voice_of(text: &str) -> Option<Voice> {
    let inside = text.trim_end().strip_prefix("_**")?.strip_suffix(")**_")?;
    time_of(text)?;
    [("User (", Voice::User), ("Agent (", Voice::Agent), ("Agent - sidechain (", Voice::Side)]
        .into_iter()
        .find(|(begin, _)| inside.starts_with(begin))
        .map(|(_, voice)| voice)
}

/// Cuts the lines at the marks. A mark, or a box, inside a box shows that marks are quoted: what follows is nobody's.
fn messages<'l, 't>(lines: &'l [Line<'t>], sections: &mut Sections) -> Vec<Message<'l, 't>> {
    let mut cuts = vec![(0, Voice::Head)];
    let mut inside = false;
    for (at, line) in lines.iter().enumerate() {
        let (opens, closes) = (line.text.starts_with(BOX), line.text.trim_end() == BOX_END);
        let mark = voice_of(line.text);
        if (inside && (opens || mark.is_some())) || (!inside && closes) {
            let why = "the marks of the export are quoted from here on, and who speaks is not known";
            sections.find(line, "unattributed", why);
            cuts.push((at, Voice::Nobody));
            break;
        }
        inside = (inside || opens) && !closes;
        cuts.extend(mark.map(|voice| (at, voice)));
    }
    let ends: Vec<usize> = cuts.iter().skip(1).map(|(at, _)| *at).chain([lines.len()]).collect();
    let message = |((from, voice), to): ((usize, Voice), usize)| Message {
        voice,
        lines: lines.get(from..to).unwrap_or_default(),
    };
    cuts.into_iter().zip(ends).map(message).collect()
}

/// Text without the rule that ends a message.
fn text(lines: &[Line<'_>], speaker: Speaker, sections: &mut Sections) {
    let end = lines.iter().rposition(|line| !line.text.trim().is_empty());
    let rule = end.filter(|&end| lines.get(end).is_some_and(|line| line.text == "---"));
    let lines = lines.get(..rule.unwrap_or(lines.len())).unwrap_or_default();
    let parts: Vec<ByteRange> = body(lines).into_iter().collect();
    said(BlockKind::Text, speaker, &parts).into_iter().for_each(|block| sections.push(block));
}

/// What the model says: text, thinking and boxes.
fn agent(lines: &[Line<'_>], sections: &mut Sections) {
    let mut at = 0;
    while at < lines.len() {
        let rest = lines.get(at..).unwrap_or_default();
        let plain = rest.iter().take_while(|line| opening(line.text).is_none()).count();
        text(rest.get(..plain).unwrap_or_default(), Speaker::Assistant, sections);
        at += plain;
        let rest = rest.get(plain..).unwrap_or_default();
        let Some(first) = rest.first() else { break };
        let end = opening(first.text).unwrap_or_default();
        let length = rest.iter().position(|line| line.text.contains(end)).map_or(rest.len(), |last| last + 1);
        let own = rest.get(..length).unwrap_or_default();
        if end == BOX_END {
            tool(own, sections);
        } else {
            let parts: Vec<ByteRange> = body(own).into_iter().collect();
            said(BlockKind::Thinking, Speaker::Assistant, &parts)
                .into_iter()
                .for_each(|block| sections.push(block));
        }
        at += length;
    }
}

/// How what a line opens ends.
fn opening(text: &str) -> Option<&'static str> {
    [(BOX, BOX_END), (THINKING, THINKING_END)]
        .into_iter()
        .find(|(begin, _)| text.starts_with(begin))
        .map(|(_, end)| end)
}

/// A box: the name of the tool, what it was asked, and what it returned.
fn tool(lines: &[Line<'_>], sections: &mut Sections) {
    let Some((first, rest)) = lines.split_first() else { return };
    let name = first.text.split_once(NAME).and_then(|(_, rest)| rest.split('"').next()).unwrap_or_default();
    let kind = first.text.strip_prefix(BOX).and_then(|rest| rest.split('"').next()).unwrap_or_default();
    let id = format!("line {}", first.number);
    let asked = quoted(rest).or_else(|| script(rest).filter(|_| kind == "shell"));
    let wrote = if kind == "write" && asked.is_none() { written(rest) } else { None };
    let (range, used) = asked.map_or((None, 0), |(range, used)| (Some(range), used));
    let facts = CallFacts {
        id: Some(id.clone()),
        tool: name.to_owned(),
        arguments: range.or(wrote).map_or(Arguments::Missing, Arguments::Plain),
    };
    let whole = range.map_or(first.range, |range| ByteRange::new(first.range.start(), range.end()));
    let call = said(BlockKind::Call(facts), Speaker::Assistant, &[whole]);
    call.into_iter().for_each(|call| sections.push(Block { text: Vec::new(), ..call }));
    let inner = rest.get(used.max(1)..rest.len().saturating_sub(1)).unwrap_or_default();
    let inner: Vec<Line<'_>> =
        inner.iter().copied().filter(|line| line.range.start() >= whole.end()).collect();
    let mut result =
        ResultFacts { call_id: Some(id), exit_code: exit_code(&inner), ..ResultFacts::default() };
    let said_first =
        inner.iter().map(|line| line.text).find(|text| !text.is_empty() && !text.starts_with("```"));
    if kind == "write" && said_first.is_some_and(|text| text.starts_with(REFUSED)) {
        result.ending = Ending::Refused;
    }
    if let Some(body) = body(&inner) {
        said(BlockKind::Result(result), Speaker::Tool, &[body])
            .into_iter()
            .for_each(|block| sections.push(block));
    }
}

/// The script in the first fence of a shell, and the number of lines up to its end.
fn script(lines: &[Line<'_>]) -> Option<(ByteRange, usize)> {
    let language = |text: &str| text.strip_prefix("```").map(str::trim).map(str::to_owned);
    let open = lines
        .iter()
        .position(|line| language(line.text).is_some_and(|language| SCRIPTS.contains(&language.as_str())))?;
    let length = lines.iter().skip(open + 1).position(|line| line.text.trim_end() == "```")?;
    let inside = body(lines.get(open + 1..open + 1 + length)?)?;
    Some((inside, open + length + 2))
}

/// What stands in backticks behind the summary, before any fence: a path, a command. Also the lines up to its end.
fn quoted(lines: &[Line<'_>]) -> Option<(ByteRange, usize)> {
    let behind = |line: &Line<'_>| line.text.rfind("** ").map_or(line.text.len(), |at| at + 3);
    let head = lines.first().filter(|line| line.text.starts_with("<summary>"))?;
    let mut start = None;
    for (at, line) in lines.iter().enumerate().take_while(|(_, line)| !line.text.starts_with("```")) {
        let from = if at == 0 { behind(head) } else { 0 };
        let rest = line.text.get(from..).unwrap_or_default();
        let (open, from) = match start {
            Some(open) => (open, from),
            None => match rest.find('`') {
                Some(tick) => (line.part(from + tick + 1..from + tick + 1).start(), from + tick + 1),
                None => continue,
            },
        };
        start = Some(open);
        if let Some(tick) = line.text.get(from..).and_then(|rest| rest.find('`')) {
            let end = line.part(from + tick..from + tick).start();
            return Some((ByteRange::new(open, end), at + 1));
        }
    }
    None
}

/// The path that the tool says it wrote: exports often leave out what it was asked.
fn written(lines: &[Line<'_>]) -> Option<ByteRange> {
    lines.iter().rev().take(12).find_map(|line| {
        WRITTEN.iter().find_map(|(before, behind)| {
            let rest = line.text.strip_prefix(before)?;
            let length = if behind.is_empty() { rest.trim_end().len() } else { rest.find(behind)? };
            Some(line.part(before.len()..before.len() + length)).filter(|range| !range.is_empty())
        })
    })
}

/// The exit code in the header that Codex puts before an output.
fn exit_code(lines: &[Line<'_>]) -> Option<i32> {
    let header = lines.iter().take(8).take_while(|line| line.text != "Output:");
    header.filter_map(|line| line.text.strip_prefix("Process exited with code ")).find_map(leading_number)
}
