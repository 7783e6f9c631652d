//! What a session holds, by regular expressions over the fields of its JSON records.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::reader::Shown;
use crate::{Measured, Scores, write};

/// What is measured, in the order of the columns.
pub(crate) const CLASSES: [&str; 8] =
    ["literals", "used again", "effects", "paths", "failed calls", "error lines", "key=value", "user words"];

/// What a literal is, for the shares by kind.
pub(crate) const KINDS: [&str; 5] = ["paths", "addresses", "names", "numbers", "hashes and ids"];

/// The place among [`KINDS`] of what a literal is.
fn kind(literal: &str) -> usize {
    let whole = |pattern: &Regex| pattern.find(literal).is_some_and(|found| found.as_str() == literal);
    if literal.contains("://") {
        1
    } else if literal.contains('/') {
        0
    } else if whole(&UUID)
        || whole(&HEX)
            && literal.contains(|c: char| c.is_ascii_digit())
            && literal.contains(|c: char| c.is_ascii_alphabetic())
    {
        4
    } else if whole(&DECIMAL) || whole(&NUMBER) {
        3
    } else {
        2
    }
}

/// The longest message of the user that counts as prose, in bytes.
const PROSE_MAX: usize = 2_400;

/// The longest line that counts as an error line, in bytes.
const ERROR_MAX: usize = 400;

#[derive(Default)]
pub(crate) struct Gold {
    /// The records before the first compaction.
    pub(crate) prefix: String,
    /// What the recorded compaction wrote.
    pub(crate) real: Option<String>,
    literals: BTreeSet<String>,
    again: BTreeSet<String>,
    commands: BTreeSet<String>,
    paths: BTreeSet<String>,
    failed: BTreeSet<String>,
    errors: BTreeSet<String>,
    values: BTreeSet<(String, String)>,
    prose: Vec<String>,
}

/// Something said or done, whatever the agent.
enum Event {
    User(String),
    Reply(String),
    Command(String),
    Call(Vec<(String, String)>),
    Result { text: String, failed: bool, shell: bool },
    Compaction(Option<String>),
}

impl Gold {
    /// Reads a session: of the records before its first compaction those that the agent still has; `None` where it
    /// holds too little.
    pub(crate) fn of(text: &str) -> Measured<Option<Self>> {
        let mut gold = Self::default();
        let mut names = BTreeSet::new();
        let mut lines = text.lines();
        let mut before = Vec::new();
        let mut end = false;
        for line in lines.by_ref() {
            let events = events(line, &mut names);
            if let Some(Event::Compaction(summary)) =
                events.iter().find(|event| matches!(event, Event::Compaction(_)))
            {
                gold.real.clone_from(summary);
                end = true;
                break;
            }
            before.push(events);
            gold.prefix.push_str(line);
            gold.prefix.push('\n');
        }
        let sent = write::sent(&gold.prefix)?;
        for (_, events) in (1..).zip(&before).filter(|(line, _)| sent.contains(line)) {
            events.iter().for_each(|event| gold.add(event));
        }
        if end {
            gold.follow(lines, &mut names);
        }
        Ok(Some(gold).filter(|gold| !gold.literals.is_empty()))
    }

    fn add(&mut self, event: &Event) {
        match event {
            Event::User(text) => {
                literals(text, false, &mut self.literals);
                if text.len() <= PROSE_MAX {
                    self.prose.push(text.clone());
                }
            }
            Event::Reply(text) => literals(text, false, &mut self.literals),
            Event::Command(text) => {
                literals(text, false, &mut self.literals);
                if EFFECT.is_match(text) {
                    self.commands.insert(without_heredocs(text));
                }
            }
            Event::Call(fields) => {
                for (name, value) in fields {
                    literals(value, false, &mut self.literals);
                    if ["file_path", "path", "notebook_path"].contains(&name.as_str()) && !value.is_empty() {
                        self.paths.insert(value.clone());
                    }
                }
            }
            Event::Result { text, failed, shell } => self.result(text, *failed, *shell),
            Event::Compaction(_) => {}
        }
    }

    fn result(&mut self, text: &str, failed: bool, shell: bool) {
        // What draws its progress returns to the beginning of its line.
        let text = &text.replace('\r', "\n");
        literals(text, true, &mut self.literals);
        if failed {
            // An exit code alone says little.
            let lines =
                || text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("Exit code"));
            let first = lines()
                .find(|line| ERROR.is_match(line))
                .or_else(|| lines().find(|line| FAILURE.is_match(line)));
            let first = first.or_else(|| lines().next());
            self.failed.extend(first.filter(|line| line.len() <= ERROR_MAX).map(str::to_owned));
        }
        if shell {
            let lines = text.lines().filter(|line| line.len() <= ERROR_MAX && ERROR.is_match(line));
            self.errors.extend(lines.take(10).map(str::to_owned));
            for found in VALUE.captures_iter(text) {
                if let (Some(key), Some(value)) = (found.get(1), found.get(2)) {
                    // `main.go:120:` is a place in a file.
                    let before = text.get(..key.start()).and_then(|text| text.chars().next_back());
                    if before.is_some_and(|c| "./-".contains(c)) {
                        continue;
                    }
                    self.values.insert((key.as_str().to_owned(), value.as_str().to_owned()));
                }
            }
        }
    }

    /// Finds the literals that the agent uses again before anything shows them to it.
    fn follow<'t>(&mut self, lines: impl Iterator<Item = &'t str>, names: &mut BTreeSet<String>) {
        let mut shown = BTreeSet::new();
        for line in lines {
            for event in events(line, names) {
                let mut own = BTreeSet::new();
                match event {
                    Event::Compaction(summary) => {
                        if self.real.is_none() {
                            self.real = summary;
                        } else if summary.is_none() {
                            return;
                        }
                        continue;
                    }
                    Event::User(text) => literals(&text, false, &mut own),
                    Event::Result { text, .. } => literals(&text, true, &mut own),
                    Event::Reply(text) | Event::Command(text) => self.use_again(&text, &mut shown),
                    Event::Call(fields) => {
                        fields.iter().for_each(|(_, text)| self.use_again(text, &mut shown));
                    }
                }
                shown.append(&mut own);
            }
        }
    }

    fn use_again(&mut self, text: &str, shown: &mut BTreeSet<String>) {
        let mut own = BTreeSet::new();
        literals(text, false, &mut own);
        for literal in own {
            if self.literals.contains(&literal) && !shown.contains(&literal) {
                self.again.insert(literal.clone());
            }
            shown.insert(literal);
        }
    }

    /// Literals, failures and errors that are not kept.
    pub(crate) fn missed(&self, shown: &Shown) -> Vec<(&'static str, &str)> {
        let literals = self.literals.iter().filter(|text| !shown.has_literal(text));
        let again = self.again.iter().filter(|text| !shown.has_literal(text));
        let lines = self.failed.iter().chain(&self.errors).filter(|line| !shown.has(line));
        let paths = self.paths.iter().filter(|text| !shown.has_literal(text));
        let commands = self.commands.iter().filter(|text| !text.lines().all(|line| shown.has(line)));
        let words = self.prose.iter().flat_map(|text| text.lines()).filter(|line| !shown.has(line));
        literals
            .map(|text| ("literal", text.as_str()))
            .chain(again.map(|text| ("again", text.as_str())))
            .chain(lines.map(|text| ("error", text.as_str())))
            .chain(paths.map(|text| ("path", text.as_str())))
            .chain(commands.map(|text| ("command", text.as_str())))
            .chain(words.map(|text| ("words", text)))
            .collect()
    }

    /// Kept and all of the literals, by kind.
    pub(crate) fn by_kind(&self, shown: &Shown) -> Scores {
        let mut scores = vec![(0, 0); KINDS.len()];
        for literal in &self.literals {
            if let Some((kept, all)) = scores.get_mut(kind(literal)) {
                *kept += usize::from(shown.has_literal(literal));
                *all += 1;
            }
        }
        scores
    }

    /// Kept and all, by class.
    pub(crate) fn score(&self, shown: &Shown) -> Scores {
        let strings = |set: &BTreeSet<String>, kept: &dyn Fn(&str) -> bool| {
            (set.iter().filter(|text| kept(text)).count(), set.len())
        };
        let literal = |text: &str| shown.has_literal(text);
        let line = |text: &str| shown.has(text);
        let script =
            |text: &str| text.lines().filter(|line| !line.trim().is_empty()).all(|line| shown.has(line));
        let values = self.values.iter().filter(|(key, value)| {
            let forms = [
                format!("{key}={value}"),
                format!("{key}: {value}"),
                format!("{key}:{value}"),
                format!("{key} = {value}"),
                format!("\"{key}\": {value}"),
                format!("\"{key}\": \"{value}"),
                format!("{key}=\"{value}"),
                format!("{key}: \"{value}"),
            ];
            forms.iter().any(|form| shown.has_literal(form))
        });
        let words =
            |lines: &mut dyn Iterator<Item = &str>| lines.map(|line| line.split_whitespace().count()).sum();
        let all = || self.prose.iter().flat_map(|text| text.lines());
        vec![
            strings(&self.literals, &literal),
            strings(&self.again, &literal),
            strings(&self.commands, &script),
            strings(&self.paths, &literal),
            strings(&self.failed, &line),
            strings(&self.errors, &line),
            (values.count(), self.values.len()),
            (words(&mut all().filter(|line| shown.has(line))), words(&mut all())),
        ]
    }
}

/// The events of one record of Claude Code or Codex; `names` holds the ids of shell calls.
fn events(line: &str, names: &mut BTreeSet<String>) -> Vec<Event> {
    let Ok(record) = serde_json::from_str::<Value>(line) else { return Vec::new() };
    if record["payload"].is_object() { codex(&record, names) } else { claude(&record, names) }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

fn fields(input: &Value) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut todo = vec![(String::new(), input)];
    while let Some((name, value)) = todo.pop() {
        match value {
            Value::String(text) => all.push((name, text.clone())),
            Value::Array(values) => todo.extend(values.iter().map(|value| (name.clone(), value))),
            Value::Object(values) => todo.extend(values.iter().map(|(name, value)| (name.clone(), value))),
            _ => {}
        }
    }
    all
}

fn is_prose(text: &str) -> bool {
    !(text.trim().is_empty()
        || text.trim_start().starts_with('<')
        || text.contains("<system-reminder>")
        || text.starts_with("Caveat:")
        || text.starts_with("[Request interrupted"))
}

fn claude(record: &Value, names: &mut BTreeSet<String>) -> Vec<Event> {
    if record["subtype"] == "compact_boundary" {
        return vec![Event::Compaction(None)];
    }
    let content = &record["message"]["content"];
    if record["isCompactSummary"] == true {
        return vec![Event::Compaction(Some(text_of(content)))];
    }
    if record["isMeta"] == true || record["isSidechain"] == true {
        return Vec::new();
    }
    let user = record["type"] == "user";
    let said = |text: String| match user {
        true if is_prose(&text) => vec![Event::User(text)],
        true => Vec::new(),
        false => vec![Event::Reply(text)],
    };
    match content {
        Value::String(text) if user || record["type"] == "assistant" => said(text.clone()),
        Value::Array(blocks) => blocks.iter().flat_map(|block| claude_block(block, names, &said)).collect(),
        _ => Vec::new(),
    }
}

fn claude_block(
    block: &Value,
    names: &mut BTreeSet<String>,
    said: &dyn Fn(String) -> Vec<Event>,
) -> Vec<Event> {
    match block["type"].as_str() {
        Some("text") => said(text_of(&block["text"])),
        Some("tool_use") if block["name"] == "Bash" => {
            names.insert(text_of(&block["id"]));
            vec![Event::Command(text_of(&block["input"]["command"]))]
        }
        Some("tool_use") => vec![Event::Call(fields(&block["input"]))],
        Some("tool_result") => vec![Event::Result {
            text: text_of(&block["content"]),
            failed: block["is_error"] == true,
            shell: names.contains(&text_of(&block["tool_use_id"])),
        }],
        _ => Vec::new(),
    }
}

fn codex(record: &Value, names: &mut BTreeSet<String>) -> Vec<Event> {
    let payload = &record["payload"];
    if record["type"] == "compacted" {
        return vec![Event::Compaction(Some(text_of(&payload["message"])))];
    }
    if record["type"] != "response_item" {
        return Vec::new();
    }
    match (payload["type"].as_str(), payload["role"].as_str()) {
        (Some("message"), Some("user")) => {
            let text = text_of(&payload["content"]);
            let own = is_prose(&text) && !text.starts_with("# AGENTS.md");
            own.then_some(Event::User(text)).into_iter().collect()
        }
        (Some("message"), Some("assistant")) => vec![Event::Reply(text_of(&payload["content"]))],
        (Some("function_call"), _) => {
            let input: Value = serde_json::from_str(&text_of(&payload["arguments"])).unwrap_or_default();
            let command = [&input["cmd"], &input["command"]].into_iter().find(|value| !value.is_null());
            let Some(command) = command else { return vec![Event::Call(fields(&input))] };
            names.insert(text_of(&payload["call_id"]));
            let last = command.as_array().and_then(|words| words.last());
            vec![Event::Command(text_of(last.unwrap_or(command)))]
        }
        (Some("custom_tool_call"), _) => {
            let patch = text_of(&payload["input"]);
            let mut all = vec![(String::new(), patch.clone())];
            let paths = patch.lines().filter_map(|line| line.strip_prefix("*** ")?.split_once(" File: "));
            all.extend(paths.map(|(_, path)| ("path".to_owned(), path.trim().to_owned())));
            vec![Event::Call(all)]
        }
        (Some("function_call_output" | "custom_tool_call_output"), _) => {
            let text = text_of(&payload["output"]);
            let own = text.split_once("Output:\n").map_or(text.as_str(), |(_, own)| own).to_owned();
            let code = CODE.captures(&text).and_then(|found| found.get(1)).map_or("0", |code| code.as_str());
            let shell = names.contains(&text_of(&payload["call_id"]));
            vec![Event::Result { failed: code != "0", shell, text: own }]
        }
        _ => Vec::new(),
    }
}

/// The lines of a script outside of its heredocs.
fn without_heredocs(script: &str) -> String {
    let mut own = Vec::new();
    let mut until: Option<String> = None;
    for line in script.lines() {
        match &until {
            Some(word) if line.trim() == word => until = None,
            Some(_) => {}
            None => {
                own.push(line);
                until = HEREDOC
                    .captures(line)
                    .and_then(|found| found.get(1))
                    .map(|word| word.as_str().to_owned());
            }
        }
    }
    own.join("\n")
}

macro_rules! patterns {
    ($($name:ident = $pattern:literal;)*) => {
        $(static $name: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new($pattern).unwrap_or_else(|error| unreachable!("{error}"))
        });)*
    };
}

patterns! {
    URL = r#"https?://[^\s"'<>()\[\]{}`|\\,;]+"#;
    UUID = r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b";
    PATH = r"(?:~|\.{1,2})?/?(?:[\w.@-]+/)+[\w.@-]*\w";
    HEX = r"\b[0-9a-f]{7,40}\b";
    NAME = r"\b(?:[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+|[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+|[A-Z]{2,}[a-z][A-Za-z0-9]+)\b";
    HYPHENATED = r"\b[A-Za-z]{2,}(?:-[A-Za-z0-9]{2,})+\b";
    ISSUE = r"(?:^|[\s(])(#\d{1,6})\b";
    DECIMAL = r"\bv?\d+(?:\.\d+)+\b";
    NUMBER = r"\b\d{3,}\b";
    PLACE = r"^(?:(\S*?\.[A-Za-z]\w*)[:-]|([\w./-]+):)\d+[:-]";
    NUMBERED = r"^\s*\d+(?:→|\t)|^\d+[:-]|^@@ [^@]*@@|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d[\d:.Z+-]*)?|\b\d\d:\d\d:\d\d[\d.,]*";
    ESCAPE = r"\\[ntr]";
    HARNESS = r"\b(?:toolu_|call_|chatcmpl-|req_|msg_)\w+";
    EFFECT = r"\bgit (?:-C \S+ )?(?:commit|push|add|checkout|switch|rebase|reset|stash|tag|rm|mv|restore|cherry-pick|revert|worktree add|clean)\b|\bgit (?:-C \S+ )?merge(?:\s|$)|(?:^|[;&|]\s*)(?:sudo )?(?:rm|mv|cp|mkdir|touch|chmod|ln|tee|kill|pkill|systemctl|docker) |\b(?:npm|pnpm|yarn|bun) (?:i|install|add|publish|link)\b|\bpip install|\bgo (?:install|get|mod tidy)|\bsed -i|\bgh (?:pr|issue|release) (?:create|merge|edit|close|comment)|[^0-9&>=-]>{1,2}\s*[\w/.~$]+\.\w";
    ERROR = r"^\s*(?:[Ee]rror\b|ERROR\b|fatal:|panic:|--- FAIL|FAIL\b|FAILED\b|Traceback|[A-Z]\w*Error:|npm ERR!)";
    FAILURE = r"(?i)\b(?:errors?|failed|fails|failure|fatal|cannot|denied|invalid|not found|no such|unknown|panic)\b";
    VALUE = r#"\b([A-Za-z_][\w-]{1,40})["']?\s?[:=]\s?["']?(\d[\w.%-]*\w)\b"#;
    CODE = r"(?:exited with code|Exit code:) (\d+)";
    HEREDOC = r#"<<-?\s*["'\\]?(\w+)"#;
}

/// Adds the literals of `text`: decoded, without the numbers and ids of tools and harnesses.
fn literals(text: &str, result: bool, all: &mut BTreeSet<String>) {
    for line in text.lines() {
        let mut rest = HARNESS.replace_all(line, " ").into_owned();
        rest = ESCAPE.replace_all(&rest, " ").into_owned();
        if result {
            // A search writes `main.go:12:` before a match and `main.go-13-` before the lines around it.
            rest = PLACE.replace(&rest, "$1$2 ").into_owned();
            rest = NUMBERED.replace_all(&rest, " ").into_owned();
        }
        for pattern in [&*URL, &*UUID, &*PATH] {
            let found = pattern
                .find_iter(&rest)
                .map(|found| found.as_str().trim_end_matches(['.', ':', '-']).to_owned());
            let found =
                found.filter(|literal| literal.len() <= 200 && literal.contains(|c: char| c.is_alphabetic()));
            all.extend(found);
            rest = pattern.replace_all(&rest, " ").into_owned();
        }
        for pattern in [&*HEX, &*NAME, &*HYPHENATED, &*DECIMAL, &*NUMBER] {
            let found = pattern.find_iter(&rest).map(|found| found.as_str());
            all.extend(found.filter(|literal| is_literal(literal, pattern)).map(str::to_owned));
        }
        all.extend(ISSUE.captures_iter(&rest).filter_map(|found| Some(found.get(1)?.as_str().to_owned())));
    }
}

fn is_literal(literal: &str, pattern: &Regex) -> bool {
    let hex = pattern.as_str() == HEX.as_str();
    let mixed =
        literal.contains(|c: char| c.is_ascii_digit()) && literal.contains(|c: char| c.is_alphabetic());
    literal.len() <= 200 && (!hex || mixed)
}
