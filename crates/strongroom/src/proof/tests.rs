//! A bundle holds as it was made, and in no other way.

use strongroom_archive::note::PrivateKey;
use strongroom_archive::{Archive, Mode};
use strongroom_core::deposit::span_hash;
use strongroom_core::digest::{ContentKey, Digest};
use strongroom_core::error::ErrorKind;
use strongroom_core::evidence::{AtomCounts, Omissions};
use strongroom_core::pointer::Pointer;
use strongroom_core::range::ByteRange;
use strongroom_core::time::Timestamp;
use strongroom_core::vault::{
    BoundSpan, CompactionRecord, Location, Registry as _, Remains, Retention, TagInput,
};

use super::bundle::Bundle;
use super::check::check_inside;
use super::{Signer, Statement, check, prove_pointer, prove_source};
use crate::custody::{Terms, take_in};

const TEXT: &[u8] = b"{\"n\":1}\n{\"n\":2,\"text\":\"the second line\"}\n{\"n\":3}\n";

struct Sample {
    _dir: tempfile::TempDir,
    archive: Archive,
    pointer: Pointer,
    key: PrivateKey,
}

fn sample() -> Sample {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::open(dir.path(), Mode::CreateIfMissing).unwrap();
    let id = strongroom_archive::source::source_id(archive.id(), "/a/s.jsonl");
    let meta = strongroom_archive::source::SourceMeta {
        id,
        name: "/a/s.jsonl".to_owned(),
        format: "claude-code".to_owned(),
        session: None,
        facts: crate::custody::facts(None, TEXT.len() as u64),
    };
    let now = Timestamp::from_ms(1_000);
    let terms = Terms { retention: Retention::Indefinite, now };
    let revision = take_in(&archive, &TEXT.to_vec(), &meta, terms, &mut |_| {}).unwrap();
    let hash = span_hash([&TEXT[8..42]]);
    let span = BoundSpan {
        ordinal: 1,
        class: "structured".to_owned(),
        location: Some(Location {
            revision: revision.id,
            ranges: [ByteRange::new(8, 42)].into_iter().collect(),
        }),
        hash,
        content: ContentKey::new(Digest::of(b"content")),
        holds: Omissions::Nameable(AtomCounts::default()),
        rendering: "a line".to_owned(),
        retention: Retention::Indefinite,
        waiver: None,
        remains: Remains::Original,
    };
    let tag = archive.tag(&TagInput { source: id, generation: 1, spans: &[hash], wording: 0 });
    let record = CompactionRecord {
        tag,
        source: id,
        revision: revision.id,
        format: "claude-code".to_owned(),
        generation: 1,
        parents: Vec::new(),
        summary: Digest::of(b"s"),
        summary_text: "s".to_owned(),
        spans: vec![span],
        neighbours: Vec::new(),
        bound_at: now,
    };
    archive.bind(&record).unwrap();
    let key = PrivateKey::generate("ops").unwrap();
    Sample { _dir: dir, archive, pointer: Pointer { tag, ordinal: Some(1) }, key }
}

impl Sample {
    fn bundle(&self) -> String {
        prove_pointer(&self.archive, self.pointer).unwrap().seal(&self.key).unwrap()
    }
}

#[test]
fn a_span_and_a_source_are_proved_without_the_archive() {
    let sample = sample();
    let checked = check(&sample.bundle(), Some(&sample.key.public())).unwrap();
    assert_eq!(checked.signer, Signer::Known);
    assert_eq!(checked.checkpoint, sample.archive.checkpoint().unwrap());
    let [Statement::Span(pointer, shown)] = checked.statements.as_slice() else { panic!("{checked:?}") };
    assert_eq!((*pointer, shown.bytes.as_slice()), (sample.pointer, &TEXT[8..42]));
    assert_eq!((shown.source.as_str(), shown.ranges.as_slice()), ("/a/s.jsonl", [(8, 42)].as_slice()));
    let source = sample.archive.sources().unwrap().remove(0);
    let text = prove_source(&sample.archive, source.latest.id).unwrap().seal(&sample.key).unwrap();
    let checked = check(&text, None).unwrap();
    assert_eq!(checked.signer, Signer::NamedByBundle);
    let [Statement::Source(shown)] = checked.statements.as_slice() else { panic!("{checked:?}") };
    assert_eq!(shown.bytes, TEXT);
}

#[test]
fn another_key_is_refused() {
    let sample = sample();
    let other = PrivateKey::generate("ops").unwrap();
    let error = check(&sample.bundle(), Some(&other.public())).unwrap_err();
    assert!(error.to_string().contains("not the key given"), "{error}");
}

/// Flips every `step`th bit of a bundle.
fn every_flip_is_refused(step: usize) {
    let sample = sample();
    let text = sample.bundle();
    let public = sample.key.public();
    // The inside is checked with the key that is known, and the seal is not a part of it.
    let key = text.find("\"key\"").unwrap()..text.find("\"pieces\"").unwrap();
    let seal = text.find("\"seal\"").unwrap()..text.len();
    let mut inside = 0;
    for bit in (0..text.len() * 8).step_by(step) {
        let mut bytes = text.clone().into_bytes();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let Ok(flipped) = String::from_utf8(bytes) else { continue };
        let error = check(&flipped, Some(&public)).expect_err(&format!("bit {bit}"));
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        // What the seal covers does not hold without it either.
        let outside = key.contains(&(bit / 8)) || seal.contains(&(bit / 8));
        if let (Ok(bundle), false) = (Bundle::read(&flipped), outside) {
            assert!(check_inside(&bundle, &public).is_err(), "bit {bit} of {flipped}");
            inside += 1;
        }
    }
    assert!(inside > 100, "{inside} flips only were still bundles");
}

#[test]
fn flipped_bits_are_refused() {
    every_flip_is_refused(29);
}

#[test]
#[ignore = "all bits of a bundle take a minute"]
fn every_flipped_bit_is_refused() {
    every_flip_is_refused(1);
}

#[test]
fn parts_of_two_bundles_do_not_mix() {
    let sample = sample();
    let before = sample.bundle();
    let second = crate::import::ImportOptions {
        policy: &crate::policy::Policy::default(),
        now: Timestamp::from_ms(5),
        recheck: crate::import::Recheck::Read,
    };
    crate::import::import_summary(&sample.archive, std::path::Path::new("/a/s.jsonl"), "more", second)
        .unwrap();
    let after = sample.bundle();
    let (before, after) = (Bundle::read(&before).unwrap(), Bundle::read(&after).unwrap());
    let public = sample.key.public();
    let mixed = [
        Bundle { entries: before.entries.clone(), ..after.clone() },
        Bundle { checkpoint: before.checkpoint.clone(), ..after.clone() },
        Bundle { revisions: Vec::new(), ..after.clone() },
        Bundle { records: Vec::new(), ..after.clone() },
        Bundle { pieces: Vec::new(), ..after.clone() },
        Bundle { pieces: [after.pieces.clone(), after.pieces.clone()].concat(), ..after.clone() },
        Bundle { entries: after.entries[1..].to_vec(), ..after.clone() },
    ];
    assert!(check_inside(&after, &public).is_ok());
    for bundle in mixed {
        assert!(check_inside(&bundle, &public).is_err(), "{bundle:?}");
    }
}
