//! Originals of which any bit has changed answer nothing, and say so; what is whole answers as before.

use rusqlite::{Connection, params};
use serde_json::json;
use strongroom::answer::{Answer, Strictness, Verdict};
use strongroom::archive::{Archive, Depth, Mode};
use strongroom::ask::{AskOptions, Asked};
use strongroom::compact::Outcome;
use strongroom::query::parse;
use strongroom::show;
use strongroom::transcript::SessionFiles;
use strongroom::vault::CompactionRecord;

use super::{compacted, transcript};

/// What the originals behind the summary show, and what stands in the transcript itself.
const BEHIND: &str = "ever effects path:/etc/app/conf.yaml";
const BESIDE: &str = "ever said by:user reconcile";

/// A request in which a call wrote to a system file, with words of the user that stay.
fn request() -> Vec<u8> {
    let mut messages = vec![json!({ "role": "user", "content": "Please reconcile the ledgers." })];
    for turn in 0..4 {
        let id = format!("call_{turn}");
        let command = format!("sed -i s/a{turn}/b/ /etc/app/conf.yaml");
        let arguments = json!({ "command": command }).to_string();
        let call =
            json!({ "id": id, "type": "function", "function": { "name": "shell", "arguments": arguments } });
        let result = format!("step {turn}: {}", "rewrote one line of the configuration; ".repeat(20));
        messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
        messages.push(json!({ "role": "tool", "tool_call_id": id, "content": result }));
    }
    messages.push(json!({ "role": "user", "content": "Go on." }));
    json!({ "messages": messages }).to_string().into_bytes()
}

struct Scene {
    home: tempfile::TempDir,
    hand: Connection,
    after: Vec<u8>,
    record: CompactionRecord,
}

impl Scene {
    fn new() -> Self {
        let memory = std::path::Path::new("/dev/shm");
        let above = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let home = tempfile::tempdir_in(above).unwrap();
        let archive = Archive::open(home.path(), Mode::CreateIfMissing).unwrap();
        let Outcome::Compacted(done, _) = compacted(&request(), "openai-chat", &archive, 20) else {
            panic!("nothing was compacted")
        };
        let hand = Connection::open(home.path().join("strongroom.db")).unwrap();
        hand.execute_batch("PRAGMA synchronous = OFF").unwrap();
        Self { home, hand, after: done.bytes().to_vec(), record: done.record().unwrap().clone() }
    }

    fn archive(&self) -> Archive {
        Archive::open(self.home.path(), Mode::ReadOnly).unwrap()
    }

    fn pieces(&self) -> Vec<(i64, Vec<u8>)> {
        let mut statement = self.hand.prepare("SELECT no, body FROM blob").unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    fn write(&self, no: i64, body: &[u8]) {
        let write = self.hand.prepare_cached("UPDATE blob SET body = ?2 WHERE no = ?1");
        assert_eq!(write.unwrap().execute(params![no, body]).unwrap(), 1);
    }

    /// The answers to both questions, and what was lost by name.
    fn answers(&self) -> (Answer, Answer, Vec<String>) {
        let archive = self.archive();
        let mut asked = Asked::default();
        asked.add(SessionFiles::of(transcript(&self.after, "openai-chat")), Some(&archive)).unwrap();
        let options = AskOptions { strictness: Strictness::Assume, fingerprint_key: [7; 32] };
        let mut answers =
            asked.answer_all(&[BEHIND, BESIDE].map(|one| parse(one).unwrap()), options).unwrap().into_iter();
        let lost = asked.lost().iter().map(|lost| lost.why.clone()).collect();
        (answers.next().unwrap(), answers.next().unwrap(), lost)
    }

    /// With other bytes in place of a piece: it is evidence for nothing, by name. Whether they unpack to the same text, as
    /// when a bit has changed that nobody reads.
    fn is_same(&self, no: i64, body: &[u8], what: &str) -> bool {
        self.write(no, body);
        let (behind, beside, lost) = self.answers();
        if lost.is_empty() {
            assert!(self.archive().verify(Depth::Data, None).is_clean(), "{what}: nothing is lost");
            assert_eq!(behind.verdict, Verdict::Supported, "{what}: {behind:#?}");
            return true;
        }
        assert_eq!(behind.verdict, Verdict::Insufficient, "{what}: {behind:#?}");
        assert_eq!(beside.verdict, Verdict::Supported, "{what}: {beside:#?}");
        assert_eq!(lost.len(), self.record.spans.len(), "{what}: {lost:?}");
        let shown = show::bytes(&self.archive(), &self.record.spans[0]);
        assert!(shown.is_err(), "{what}: it is shown");
        false
    }
}

/// Every `stride`-th bit and length of the pieces of an archive; how many, and after how many the text was the same.
fn damage(stride: usize) -> [usize; 3] {
    let scene = Scene::new();
    let (behind, beside, lost) = scene.answers();
    assert_eq!((behind.verdict, beside.verdict), (Verdict::Supported, Verdict::Supported), "{behind:#?}");
    assert!(lost.is_empty() && !scene.record.spans.is_empty());
    let mut count = [0, 0, 0];
    for (no, body) in scene.pieces() {
        for bit in (0..body.len() * 8).step_by(stride) {
            let mut damaged = body.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            count[2] += usize::from(scene.is_same(no, &damaged, &format!("bit {bit}")));
            count[0] += 1;
        }
        for len in (0..body.len()).step_by(stride) {
            let what = format!("{len} bytes of {}", body.len());
            count[2] += usize::from(scene.is_same(no, &body[..len], &what));
            count[1] += 1;
        }
        scene.write(no, &body);
    }
    let (behind, ..) = scene.answers();
    assert_eq!(behind.verdict, Verdict::Supported, "put back: {behind:#?}");
    count
}

#[test]
fn damaged_originals_answer_nothing_and_the_rest_does() {
    let [bits, lengths, same] = damage(211);
    assert!(bits > 3 && lengths > 1 && same == 0, "{bits} {lengths} {same}");
}

#[test]
#[ignore = "minutes: the figures of docs/reliability.md"]
fn originals_damaged_in_any_bit_answer_nothing() {
    let [bits, lengths, same] = damage(1);
    println!(
        "{bits} bits and {lengths} lengths of pieces, {same} with the same text: answered from those alone"
    );
    assert!(same * 20 < bits, "{same}");
}
