//! Search against reading everything: nothing that stands in the archive is missed, whatever became of the index.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "helpers of tests, where clippy sees none"
)]

use std::path::{Path, PathBuf};

use serde_json::json;
use strongroom::ErrorKind;
use strongroom::answer::secrets_in;
use strongroom::archive::{Archive, Mode};
use strongroom::import::{ImportOptions, Recheck, import};
use strongroom::policy::Policy;
use strongroom::reading::contents;
use strongroom::search::{Found, HoleKind, Question, Searcher, Verdict, bring_up_to_date};
use strongroom::time::Timestamp;
use strongroom::transcript::Transcript;
use strongroom_core::transcript::Scalar;
use tempfile::TempDir;
use testkit::dice::Dice;

struct Case {
    dir: TempDir,
    archive: Archive,
}

impl Case {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let archive = Archive::open(&dir.path().join("archive"), Mode::CreateIfMissing).unwrap();
        Self { dir, archive }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn take_in(&self, path: &Path) {
        let policy = Policy::default();
        let options = ImportOptions { policy: &policy, now: Timestamp::from_ms(1), recheck: Recheck::Read };
        import(&self.archive, &[path.to_owned()], options, &mut |_| {}).unwrap();
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
        self.take_in(&self.path(name));
    }

    fn find(&self, text: &str) -> Found {
        Searcher::open(&self.archive).unwrap().find(&all(text)).unwrap()
    }

    fn index(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.path("archive")).unwrap().map(|file| file.unwrap().path());
        files.filter(|path| path.to_string_lossy().contains("strongroom.search-")).collect()
    }
}

fn all(text: &str) -> Question {
    Question { text: text.to_owned(), sources: Vec::new(), limit: usize::MAX }
}

fn user(n: usize, text: &str) -> String {
    let line = json!({ "type": "user", "sessionId": "s-1", "uuid": format!("u-{n}"),
        "message": { "role": "user", "content": text } });
    format!("{line}\n")
}

fn locators(found: &Found) -> Vec<&str> {
    found.hits.iter().map(|hit| hit.locator.as_str()).collect()
}

/// Every text of a source as questions read it, with its locator.
fn texts(archive: &Archive) -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    for source in archive.sources().unwrap() {
        let revision = archive.latest_revision(source.meta.id).unwrap().unwrap();
        let mut bytes = Vec::new();
        archive.rebuild(&revision, &mut bytes).unwrap();
        let name = source.meta.name;
        let transcript = Transcript::from_bytes(name.clone(), bytes, Some(&source.meta.format)).unwrap();
        for block in contents(&transcript).unwrap().iter().flat_map(|span| &span.blocks) {
            let line = block.record.line;
            let locator = line.map_or_else(|| block.record.pointer.clone(), |line| format!("L{line}"));
            let leaves = block.arguments.iter().flat_map(|tree| &tree.leaves);
            let values = leaves.filter_map(|leaf| match &leaf.value {
                Scalar::String(text) | Scalar::Number(text) => Some(text.clone()),
                Scalar::Null | Scalar::Bool(_) => None,
            });
            all.extend(values.chain([block.text.clone()]).map(|text| (name.clone(), locator.clone(), text)));
        }
    }
    all.retain(|(_, _, text)| !text.is_empty());
    all
}

fn drawn<'t>(text: &'t str, dice: &mut Dice) -> &'t str {
    let len = [4, 9, 20, 90][dice.below(4)];
    let mut start = dice.below(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = (start + 1 + dice.below(len)).min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    &text[start..end]
}

#[test]
fn whatever_questions_read_is_found_in_every_format() {
    let case = Case::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    ["examples", "crates/formats/tests/fixtures"].iter().for_each(|dir| case.take_in(&root.join(dir)));
    let texts = texts(&case.archive);
    assert!(texts.len() > 100, "{} texts only", texts.len());
    for stage in ["in memory", "beside the archive"] {
        let searcher = Searcher::open(&case.archive).unwrap();
        let mut dice = Dice::new(11);
        for _ in 0..60 {
            let (source, locator, text) = &texts[dice.below(texts.len())];
            if !secrets_in(text).is_empty() {
                continue;
            }
            let needle = drawn(text, &mut dice);
            let found = searcher.find(&all(needle)).unwrap();
            let is_there = found.hits.iter().any(|hit| hit.source == *source && hit.locator == *locator);
            assert!(is_there, "{stage}: {needle:?} of {source} {locator} is missed: {:?}", locators(&found));
            assert_eq!((found.verdict, found.more), (Verdict::Found, false));
        }
        assert!(searcher.is_current().unwrap());
        bring_up_to_date(&case.archive).unwrap();
    }
    assert_eq!(case.index().len(), 1);
}

#[test]
fn a_needle_is_found_however_json_spells_it() {
    let case = Case::new();
    let arguments = json!({ "command": "grep -n \"näh\" a\nb", "n": 4711 }).to_string();
    let messages = json!([
        { "role": "user", "content": "say \"näh\"\nplease \u{1f980}" },
        { "role": "assistant", "content": null, "tool_calls": [{ "id": "c1", "type": "function",
            "function": { "name": "shell", "arguments": arguments } }] },
        { "role": "tool", "tool_call_id": "c1", "content": "1: \t näh" },
    ]);
    let escaped: String = messages
        .to_string()
        .chars()
        .map(|char| if char == 'ä' { "\\u00e4".to_owned() } else { char.to_string() })
        .collect();
    case.write("chat.json", &escaped);
    let places = |text: &str| locators(&case.find(text)).into_iter().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(places("\"näh\""), ["/0", "/1"]);
    assert_eq!(places("\"näh\"\nplease"), ["/0"]);
    assert_eq!(places("a\nb"), ["/1"], "inside JSON inside JSON");
    assert_eq!(places("4711"), ["/1"]);
    assert_eq!(places("\"command\":\"grep"), ["/1"], "the arguments as they were sent");
    assert_eq!(places("\t n"), ["/2"]);
    assert_eq!(places("🦀"), ["/0"]);
    assert_eq!(places("please 🦀1:").len(), 0, "not across two records");
    let found = case.find("grep");
    let [hit] = &found.hits[..] else { panic!("{found:?}") };
    assert_eq!((hit.tool.as_deref(), hit.argument.as_deref()), (Some("shell"), Some("/command")));
    assert_eq!((hit.part.word(), hit.speaker.word()), ("call", "assistant"));
    let (start, end) = case.find("4711").hits[0].bytes.unwrap();
    let raw = &escaped.as_bytes()[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()];
    assert!(String::from_utf8_lossy(raw).contains("4711"), "the bytes are named");
}

#[test]
fn what_a_later_state_replaced_is_found_and_named_so() {
    let case = Case::new();
    case.write("s.jsonl", &[user(1, "the heron"), user(2, "the stork")].concat());
    case.write("s.jsonl", &[user(1, "the heron"), user(2, "the stork"), user(3, "the crane")].concat());
    case.write("s.jsonl", &user(9, "a summary of birds"));
    for _ in 0..2 {
        let heron = case.find("heron");
        assert_eq!(heron.hits.len(), 1, "a state that was extended is not searched again: {heron:?}");
        assert_eq!(heron.hits[0].state, (2, true));
        assert_eq!(case.find("of birds").hits[0].state, (3, false));
        assert_eq!((heron.states, case.find("crane").hits.len()), (2, 1));
        bring_up_to_date(&case.archive).unwrap();
    }
}

#[test]
fn an_index_of_a_session_that_grows_stays_small_and_complete() {
    let case = Case::new();
    let mut text = String::new();
    for n in 0..40 {
        text += &user(n, &format!("entry number{n}end with some words"));
        case.write("s.jsonl", &text);
        case.write(&format!("other{n}.jsonl"), &user(n, &format!("side{n}note")));
        bring_up_to_date(&case.archive).unwrap();
        assert!(case.index().len() <= 8, "{} segments", case.index().len());
    }
    let searcher = Searcher::open(&case.archive).unwrap();
    for n in 0..40 {
        let found = searcher.find(&all(&format!("number{n}end"))).unwrap();
        assert_eq!(locators(&found), [format!("L{}", n + 1)]);
        assert_eq!(searcher.find(&all(&format!("side{n}note"))).unwrap().hits.len(), 1);
    }
    assert_eq!(searcher.find(&all("number40end")).unwrap().verdict, Verdict::Absent);
}

#[test]
fn an_index_that_is_damaged_or_gone_changes_nothing() {
    let case = Case::new();
    case.write("s.jsonl", &[user(1, "the heron"), user(2, "the stork")].concat());
    bring_up_to_date(&case.archive).unwrap();
    let expected = case.find("heron");
    let [file] = &case.index()[..] else { panic!("{:?}", case.index()) };
    let bytes = std::fs::read(file).unwrap();
    for at in (0..bytes.len()).step_by(bytes.len() / 40 + 1).chain([bytes.len() - 1]) {
        let mut changed = bytes.clone();
        changed[at] ^= 4;
        std::fs::write(file, changed).unwrap();
        assert_eq!(case.find("heron"), expected, "byte {at}");
    }
    std::fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(case.find("heron"), expected);
    std::fs::remove_file(file).unwrap();
    assert_eq!(case.find("heron"), expected);
    assert_eq!(case.find("crane").verdict, Verdict::Absent);
    let reader = Archive::open(&case.path("archive"), Mode::ReadOnly).unwrap();
    assert!(bring_up_to_date(&reader).unwrap().elsewhere, "nobody writes who may not");
    assert_eq!(Searcher::open(&reader).unwrap().find(&all("heron")).unwrap(), expected);
    assert!(case.index().is_empty());
}

#[test]
fn nothing_is_called_absent_where_something_could_not_be_read() {
    let case = Case::new();
    case.write("whole.jsonl", &user(1, "the heron"));
    assert_eq!(case.find("crane").verdict, Verdict::Absent);
    case.write(
        "torn.jsonl",
        &[user(1, "the stork"), "{\"type\":\"user\",\"message\":{\"ro".to_owned()].concat(),
    );
    bring_up_to_date(&case.archive).unwrap();
    let found = case.find("crane");
    assert_eq!(found.verdict, Verdict::Insufficient, "{found:?}");
    let torn = found.holes.iter().find(|own| own.source.ends_with("torn.jsonl")).unwrap();
    assert_eq!(torn.holes[0].kind, HoleKind::Unreadable);
    let searcher = Searcher::open(&case.archive).unwrap();
    let only = |name: &str| Question { sources: vec![name.to_owned()], ..all("crane") };
    assert_eq!(
        searcher.find(&only("whole.jsonl")).unwrap().verdict,
        Verdict::Absent,
        "it was not asked about"
    );
    assert_eq!(searcher.find(&only("nowhere.jsonl")).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(searcher.find(&all("")).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(searcher.searched(&only("s-1").sources).unwrap().len(), 2, "both are of the session");
}

#[test]
fn a_limit_ends_the_list_and_says_so() {
    let case = Case::new();
    let lines: String = (0..30).map(|n| user(n, &format!("bird {n}, bird again"))).collect();
    case.write("s.jsonl", &lines);
    let searcher = Searcher::open(&case.archive).unwrap();
    let found = searcher.find(&Question { limit: 7, ..all("bird") }).unwrap();
    assert_eq!(
        (locators(&found), found.more),
        ((1..8).map(|n| format!("L{n}")).collect::<Vec<_>>().iter().map(String::as_str).collect(), true)
    );
    assert!(found.hits.iter().all(|hit| hit.matches == 2));
    let found = searcher.find(&all("bird")).unwrap();
    assert_eq!((found.hits.len(), found.more), (30, false));
}
