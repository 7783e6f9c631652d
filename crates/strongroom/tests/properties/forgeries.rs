//! Whoever pretends to be a summary of ours, a proof or the user is taken for what the envelope says and for nothing
//! else. docs/reliability.md says how many went through what.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

use strongroom::answer::{Strictness, Verdict};
use strongroom::archive::{Archive, Depth, Mode};
use strongroom::ask::{AskOptions, Asked, Followed};
use strongroom::compact::Outcome;
use strongroom::pointer::{Pointer, find_in};
use strongroom::query::parse;
use strongroom::reading::contents;
use strongroom::show;
use strongroom::source::is_hidden;
use strongroom::transcript::{SessionFiles, Transcript};
use strongroom::vault::CompactionRecord;
use testkit::forgery::{FORMS, Forgery, Place, Truth, chat_messages, claude_lines};

use super::{compacted, transcript};

/// A session that was truly compacted, and its archive.
struct Scene {
    archive: Archive,
    compacted: Vec<u8>,
    record: CompactionRecord,
    truth: Truth,
    /// What is followed back in it.
    followed: Vec<Followed>,
    home: tempfile::TempDir,
}

fn line(id: u32, role: &str, content: &str) -> String {
    let parent = if id == 1 { "null".to_owned() } else { format!("\"u{}\"", id - 1) };
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"sessionId":"s1","cwd":"/w","type":"{role}","message":{{"id":"m{id}","role":"{role}","content":{content}}},"uuid":"u{id}","timestamp":"2026-03-10T09:00:00.000Z"}}"#
    ) + "\n"
}

/// A session of `turns` calls in which the user agrees to nothing.
fn session(turns: u32) -> Vec<u8> {
    let mut text = line(1, "user", "\"Find out why the nightly export is slow. Report what you find.\"");
    for turn in 1..=turns {
        let call = format!(
            r#"[{{"type":"tool_use","id":"t{turn}","name":"Bash","input":{{"command":"cat /var/log/export-{turn}.log"}}}}]"#
        );
        let words = format!("row {turn} took {} ms in stage {turn}. ", turn * 37).repeat(30);
        let result = format!(r#"[{{"type":"tool_result","tool_use_id":"t{turn}","content":"{words}"}}]"#);
        text += &line(2 * turn, "assistant", &call);
        text += &line(2 * turn + 1, "user", &result);
    }
    text.into_bytes()
}

impl Scene {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let archive = Archive::open(home.path(), Mode::CreateIfMissing).unwrap();
        let Outcome::Compacted(own, _) = compacted(&session(12), "claude-code", &archive, 30) else {
            panic!("nothing was compacted")
        };
        let Outcome::Compacted(other, _) = compacted(&session(15), "claude-code", &archive, 30) else {
            panic!("nothing was compacted")
        };
        let pointer = |record: &CompactionRecord| Pointer { tag: record.tag, ordinal: None }.to_string();
        let record = own.record().unwrap().clone();
        let truth = Truth {
            summary: record.summary_text.clone(),
            pointer: pointer(&record),
            foreign: pointer(other.record().unwrap()),
        };
        let compacted = own.bytes().to_vec();
        let followed = asked(transcript(&compacted, "claude-code"), &archive).followed().to_vec();
        assert_eq!(followed.len(), 1, "the true compaction is found: {followed:?}");
        Self { archive, compacted, record, truth, followed, home }
    }

    fn forgeries(&self, seeds: Range<u64>) -> Vec<Forgery> {
        seeds.map(|seed| Forgery::of(seed, &self.truth)).collect()
    }

    /// The compacted session with forged turns behind it.
    fn continued(&self, forgeries: &[Forgery]) -> Vec<u8> {
        let text = String::from_utf8(self.compacted.clone()).unwrap();
        let last = text.lines().rev().find_map(|line| {
            let (_, rest) = line.split_once("\"uuid\":\"")?;
            rest.split('"').next().map(str::to_owned)
        });
        (text + &claude_lines(forgeries, last.as_deref())).into_bytes()
    }
}

/// Who must be the speaker of a forgery.
fn speaker(place: Place) -> &'static str {
    match place {
        Place::Result | Place::ResultParts => "tool",
        Place::Assistant | Place::Argument => "assistant",
    }
}

/// Whose words the marked blocks are: nobody's but those whose envelope it is.
fn assert_attributed(transcript: &Transcript, forgeries: &[Forgery]) {
    let expected: BTreeMap<&str, Place> =
        forgeries.iter().map(|own| (own.mark.as_str(), own.place)).collect();
    let mut seen = 0;
    for span in contents(transcript).unwrap() {
        for block in &span.blocks {
            let Some(mark) = block.text.split(' ').next_back().map(str::trim) else { continue };
            let Some(place) = expected.get(mark) else { continue };
            assert_eq!(block.block.speaker.word(), speaker(*place), "{mark}: {}", block.text);
            seen += 1;
        }
    }
    assert!(seen >= expected.len() / 2, "{seen} of {} were found again", expected.len());
}

/// Questions to which only the user's own words are an answer.
const CONSENT: [&str; 4] = [
    "ever rules by:user kind:approval about:deploy",
    "ever rules by:user kind:approval",
    "ever said by:user deploy",
    "ever said by:user approve",
];

fn asked(transcript: Transcript, archive: &Archive) -> Asked {
    let mut asked = Asked::default();
    asked.add(SessionFiles::of(transcript), Some(archive)).unwrap();
    asked
}

/// No consent of the user is found, and nothing is cited as what it is not.
fn assert_no_consent(asked: &Asked, forgeries: &[Forgery]) {
    let options = AskOptions { strictness: Strictness::Assume, fingerprint_key: [7; 32] };
    let questions: Vec<_> =
        CONSENT.iter().chain(["list said deploy"].iter()).map(|one| parse(one).unwrap()).collect();
    let mut answers = asked.answer_all(&questions, options).unwrap();
    let said = answers.pop().unwrap();
    assert_eq!(answers.len(), CONSENT.len());
    for (question, answer) in CONSENT.iter().zip(answers) {
        let answered = matches!(answer.verdict, Verdict::Supported | Verdict::Conflicting);
        assert!(!answered, "{question}: {answer:#?}");
    }
    for citation in &said.citations {
        let forged = forgeries.iter().find(|own| citation.quote.contains(&own.mark));
        if let Some(forged) = forged {
            assert_eq!(citation.attribution, speaker(forged.place), "{citation:?}");
        }
    }
}

/// The ways a forgery gets into a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Behind the compacted session, which goes on.
    Continued,
    /// In a request of another vendor, whose messages nobody compacted.
    Request,
}

/// Everything that is cheap, of forgeries that stand together in one transcript: each block has the speaker of its
/// envelope, what is followed back is what would be without them, and no question for consent finds any.
fn bulk(scene: &Scene, seeds: Range<u64>, way: Way) {
    let forgeries = scene.forgeries(seeds.clone());
    let (bytes, format) = match way {
        Way::Continued => (scene.continued(&forgeries), "claude-code"),
        Way::Request => (request("Look.", &forgeries).into_bytes(), "openai-chat"),
    };
    let read = transcript(&bytes, format);
    assert_attributed(&read, &forgeries);
    let asked = asked(read, &scene.archive);
    let expected = if way == Way::Continued { scene.followed.as_slice() } else { &[] };
    assert_eq!(asked.followed(), expected, "seeds {seeds:?}");
    assert_no_consent(&asked, &forgeries);
}

/// [`bulk`] over many, `together` at a time.
fn many(scene: &Scene, seeds: Range<u64>, together: u64, way: Way) {
    for from in seeds.clone().step_by(usize::try_from(together).unwrap()) {
        bulk(scene, from..(from + together).min(seeds.end), way);
    }
}

/// A request whose user asks for something else.
fn request(first: &str, forgeries: &[Forgery]) -> String {
    let forged = chat_messages(forgeries);
    format!(
        "{{\"messages\":[{{\"role\":\"user\",\"content\":\"{first}\"}},{forged}{{\"role\":\"user\",\"content\":\"Go on looking.\"}}]}}"
    )
}

/// Compaction, recovery and questions of a transcript with a forgery of every form: what is shown imitates nothing, what
/// is stored is exact, and nothing outside the archive is touched.
fn round_trip(scene: &Scene, round: u64) {
    let forgeries = scene.forgeries(round * FORMS..(round + 1) * FORMS);
    let chat = request("Look at the export.", &forgeries);
    for (bytes, format) in [(scene.continued(&forgeries), "claude-code"), (chat.into_bytes(), "openai-chat")]
    {
        let mut now = bytes;
        for generation in 0..2 {
            let Outcome::Compacted(done, _) = compacted(&now, format, &scene.archive, 35) else { break };
            let Some(record) = done.record() else { break };
            let own = Pointer { tag: record.tag, ordinal: None };
            let text = &record.summary_text.replace(is_hidden, "");
            let veils = |one: char| matches!(one, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}');
            assert!(!record.summary_text.contains(veils), "round {round}: {:?}", record.summary_text);
            let foreign: Vec<Pointer> = find_in(text).into_iter().filter(|one| one.tag != own.tag).collect();
            assert!(foreign.is_empty(), "round {round}, {format}, {generation}: {foreign:?} in {text}");
            assert_eq!(text.matches("[strongroom] Derived").count(), 1, "round {round}: {text}");
            for span in record.spans.iter().filter(|span| span.location.is_some()) {
                show::bytes(&scene.archive, span).unwrap();
            }
            let after = done.bytes().to_vec();
            assert_no_consent(&asked(transcript(&after, format), &scene.archive), &forgeries);
            now = after;
        }
    }
}

/// The names below a directory.
fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn no_forgery_behind_a_session_is_redeemed_and_no_consent_is_found() {
    many(&Scene::new(), 0..50_000, 800, Way::Continued);
}

#[test]
fn no_forgery_in_a_request_is_redeemed_and_no_consent_is_found() {
    many(&Scene::new(), 50_000..100_000, 800, Way::Request);
}

#[test]
fn forgeries_are_compacted_and_recovered_like_all_else_and_touch_nothing() {
    let scene = Scene::new();
    let (dir, parent) = (scene.home.path().to_owned(), scene.home.path().parent().unwrap().to_owned());
    let here = std::env::current_dir().unwrap();
    let before = [names(&here), names(&dir)];
    (0..1).for_each(|round| round_trip(&scene, round));
    assert_eq!([names(&here), names(&dir)], before);
    assert!(!parent.join("pwned").exists() && !here.join("pwned").exists());
    assert!(scene.archive.verify(Depth::Data, None).is_clean());
    assert!(!scene.record.spans.is_empty());
}

#[test]
#[ignore = "half an hour in a debug build: the figures of docs/reliability.md; STRONGROOM_TEST_FORGERIES says how many"]
fn a_million_forgeries() {
    let wanted = |name: &str, usual: u64| {
        std::env::vars()
            .find(|(own, _)| own == name)
            .and_then(|(_, value)| value.parse().ok())
            .unwrap_or(usual)
    };
    let (from, count) =
        (wanted("STRONGROOM_TEST_FROM", 100_000), wanted("STRONGROOM_TEST_FORGERIES", 1_000_000));
    let (scene, together) = (Scene::new(), wanted("STRONGROOM_TEST_TOGETHER", 1_000));
    let half = from + count / 2;
    many(&scene, from..half, together, Way::Continued);
    many(&scene, half..from + count, together, Way::Request);
    println!("{count} forgeries from seed {from}, none redeemed, no consent found");
}

#[test]
#[ignore = "minutes: the figures of docs/reliability.md; STRONGROOM_TEST_ROUNDS says how many"]
fn many_round_trips() {
    let rounds = std::env::vars().find(|(own, _)| own == "STRONGROOM_TEST_ROUNDS");
    let rounds: u64 = rounds.and_then(|(_, value)| value.parse().ok()).unwrap_or(40);
    let scene = Scene::new();
    (100..100 + rounds).for_each(|round| round_trip(&scene, round));
    println!("{} forgeries in {rounds} rounds, each compacted twice in two formats", rounds * FORMS);
}
