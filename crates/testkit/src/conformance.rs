//! What every archive does, as functions that panic where it does not.

use strongroom_core::digest::{ContentKey, Digest, PieceId, RevisionId, SourceId, SpanHash, Tag};
use strongroom_core::error::{ErrorKind, Result};
use strongroom_core::evidence::{AtomCounts, AtomKind, Omissions};
use strongroom_core::range::ByteRange;
use strongroom_core::time::Timestamp;
use strongroom_core::vault::{
    BoundSpan, CompactionRecord, Hold, Loaded, Location, PIECE_BYTES_MAX, Piece, Registry, Remains,
    Retention, TagInput, Vault,
};

/// A retention until `ms`.
const fn until(ms: i64) -> Retention {
    Retention::Until(Timestamp::from_ms(ms))
}

/// Checks an empty vault: what is stored comes back, retention only grows, absence is reported as such.
///
/// # Errors
/// Whatever the vault fails with.
///
/// # Panics
/// Where the vault does not behave as its trait says.
pub fn vault(vault: &dyn Vault) -> Result<()> {
    pieces_come_back(vault)?;
    retention_only_grows(vault)?;
    vault.store(&[], Retention::Indefinite)?;
    vault.extend(&[], Retention::Indefinite)?;
    assert!(vault.load(&[])?.is_empty() && vault.stat(&[])?.is_empty());
    Ok(())
}

fn pieces_come_back(vault: &dyn Vault) -> Result<()> {
    let largest = usize::try_from(PIECE_BYTES_MAX).unwrap_or(usize::MAX);
    let noise = (0..largest).scan(7u32, |state, _| {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes().first().copied()
    });
    let bodies = [
        Vec::new(),
        vec![0],
        b"a line\n".repeat(9_000),
        noise.collect(),
        b"twice".to_vec(),
        b"twice".to_vec(),
    ];
    let pieces: Vec<Piece> = bodies.iter().cloned().map(Piece::new).collect();
    vault.store(&pieces, until(10))?;
    vault.store(pieces.get(..2).unwrap_or_default(), until(10))?;
    let absent = PieceId::of(b"never stored");
    let mut ids: Vec<PieceId> = pieces.iter().rev().map(Piece::id).collect();
    ids.insert(1, absent);
    let loaded = vault.load(&ids)?;
    assert_eq!(loaded.len(), ids.len(), "one answer for each piece that was asked for");
    for (id, loaded) in ids.iter().zip(loaded) {
        match loaded {
            Loaded::Found(bytes) => assert_eq!(PieceId::of(&bytes), *id),
            other => assert!(*id == absent && matches!(other, Loaded::Missing), "{id:?}: {other:?}"),
        }
    }
    Ok(())
}

fn retention_only_grows(vault: &dyn Vault) -> Result<()> {
    let piece = Piece::new(b"how long".to_vec());
    let absent = PieceId::of(b"never stored either");
    let steps: [(Retention, Retention); 6] = [
        (Retention::Unknown, Retention::Unknown),
        (until(20), until(20)),
        (until(5), until(20)),
        (Retention::Unknown, until(20)),
        (Retention::Indefinite, Retention::Indefinite),
        (until(30), Retention::Indefinite),
    ];
    for (at, (asked, expected)) in steps.into_iter().enumerate() {
        if at % 2 == 0 {
            vault.store(std::slice::from_ref(&piece), asked)?;
        } else {
            vault.extend(&[absent, piece.id()], asked)?;
        }
        let stats = vault.stat(&[absent, piece.id()])?;
        let [None, Some(stat)] = stats.as_slice() else { unexpected(&stats) };
        assert_eq!(stat.retention, expected, "step {at}");
        assert_eq!(stat.hold, Hold::None);
        assert!(stat.latency_ms_max < 2_000, "a fresh piece is read in time");
    }
    Ok(())
}

#[expect(clippy::panic, reason = "this is how a suite reports")]
fn unexpected(what: &dyn std::fmt::Debug) -> ! {
    panic!("unexpected: {what:?}")
}

/// Checks an empty registry: records are found by each of their keys, binding twice is harmless, and one tag
/// never stands for two things.
///
/// # Errors
/// Whatever the registry fails with.
///
/// # Panics
/// Where the registry does not behave as its trait says.
pub fn registry(registry: &dyn Registry) -> Result<()> {
    tags_are_keyed_over_everything(registry);
    let first = record(registry, 1, "first");
    let second = record(registry, 2, "second");
    assert_eq!(registry.by_tag(first.tag)?, None);
    registry.bind(&first)?;
    registry.bind(&second)?;
    registry.bind(&first)?;
    assert_eq!(registry.by_tag(first.tag)?.as_ref(), Some(&first));
    assert_eq!(registry.by_tag(second.tag)?.as_ref(), Some(&second));
    assert_eq!(registry.by_summary(first.summary)?, [first.tag]);
    assert_eq!(registry.by_summary(Digest::of(b"nobody's"))?, []);
    assert_eq!(registry.revision(RevisionId::of(&[PieceId::of(b"nowhere")]))?, None);
    neighbours_are_counted(registry, &first, &second)?;
    one_tag_is_one_summary(registry, &first)
}

fn tags_are_keyed_over_everything(registry: &dyn Registry) {
    let (one, two) = (SpanHash::new(Digest::of(b"1")), SpanHash::new(Digest::of(b"2")));
    let source = SourceId::new(Digest::of(b"s"));
    let inputs = [
        TagInput { source, generation: 1, spans: &[one, two], wording: 0 },
        TagInput { source, generation: 1, spans: &[two, one], wording: 0 },
        TagInput { source, generation: 1, spans: &[one], wording: 0 },
        TagInput { source, generation: 2, spans: &[one, two], wording: 0 },
        TagInput { source, generation: 1, spans: &[one, two], wording: 1 },
        TagInput { source, generation: 1, spans: &[one, two], wording: 2 },
        TagInput { source: SourceId::new(Digest::of(b"t")), generation: 1, spans: &[one, two], wording: 0 },
    ];
    let tags: std::collections::BTreeSet<Tag> = inputs.iter().map(|input| registry.tag(input)).collect();
    assert_eq!(tags.len(), inputs.len(), "each part of the input matters");
    assert!(
        inputs.iter().all(|input| tags.contains(&registry.tag(input))),
        "the same input gives the same tag"
    );
}

fn neighbours_are_counted(
    registry: &dyn Registry,
    first: &CompactionRecord,
    second: &CompactionRecord,
) -> Result<()> {
    let both = registry.by_neighbours(&first.neighbours)?;
    assert_eq!(both, [(first.tag, 3), (second.tag, 2)], "best first");
    let shared = [key("shared 1"), key("shared 2"), key("shared 1"), key("unknown")];
    assert_eq!(
        registry.by_neighbours(&shared)?,
        [(second.tag, 2), (first.tag, 2)],
        "newest first among equals"
    );
    assert_eq!(registry.by_neighbours(&[])?, []);
    Ok(())
}

fn one_tag_is_one_summary(registry: &dyn Registry, first: &CompactionRecord) -> Result<()> {
    let mut longer = first.clone();
    longer.revision = RevisionId::of(&[PieceId::of(b"first"), PieceId::of(b"and more")]);
    longer.neighbours.push(key("later"));
    longer.bound_at = Timestamp::from_ms(99);
    registry.bind(&longer)?;
    assert_eq!(registry.by_tag(first.tag)?.as_ref(), Some(first), "the first account stands");
    assert_eq!(
        registry.by_neighbours(&[key("later")])?,
        [(first.tag, 1)],
        "what is kept later leads here too"
    );

    let other = CompactionRecord { summary_text: "something else".to_owned(), ..first.clone() };
    let refused = registry.bind(&other).err().map(|error| error.kind());
    assert_eq!(refused, Some(ErrorKind::Bug));
    assert_eq!(registry.by_tag(first.tag)?.as_ref(), Some(first));
    Ok(())
}

fn key(text: &str) -> ContentKey {
    ContentKey::new(Digest::of(text.as_bytes()))
}

/// A record with one span in custody and one waived, bound to the tag that `registry` gives it.
pub fn record(registry: &dyn Registry, generation: u32, name: &str) -> CompactionRecord {
    let source = SourceId::new(Digest::of(b"a source"));
    let revision = RevisionId::of(&[PieceId::of(name.as_bytes())]);
    let spans = vec![kept_span(revision, name), waived_span(name)];
    let hashes: Vec<SpanHash> = spans.iter().map(|span| span.hash).collect();
    let tag = registry.tag(&TagInput { source, generation, spans: &hashes, wording: 0 });
    let summary_text = format!("summary of {name} \u{1F5DD}");
    CompactionRecord {
        tag,
        source,
        revision,
        format: "claude-code".to_owned(),
        generation,
        parents: vec![Tag::from_bytes([7; 16])],
        summary: Digest::of(summary_text.as_bytes()),
        summary_text,
        spans,
        neighbours: vec![key("shared 1"), key("shared 2"), key(name)],
        bound_at: Timestamp::from_ms(1_764_460_800_000),
    }
}

fn kept_span(revision: RevisionId, name: &str) -> BoundSpan {
    let mut counts = AtomCounts::default();
    counts.add(AtomKind::Path, 3);
    counts.add(AtomKind::Secret, 1);
    let ranges = [ByteRange::new(0, 10), ByteRange::new(20, 25)].into_iter().collect();
    BoundSpan {
        ordinal: 1,
        class: "side-effecting".to_owned(),
        location: Some(Location { revision, ranges }),
        hash: SpanHash::new(Digest::of(name.as_bytes())),
        content: key(name),
        holds: Omissions::Nameable(counts),
        rendering: format!("wrote {name}\nok"),
        retention: Retention::Indefinite,
        waiver: None,
        remains: Remains::Original,
    }
}

fn waived_span(name: &str) -> BoundSpan {
    BoundSpan {
        ordinal: 2,
        class: "structured".to_owned(),
        location: None,
        hash: SpanHash::new(Digest::of(format!("{name} 2").as_bytes())),
        content: key("waived"),
        holds: Omissions::Unnameable("not JSON".to_owned()),
        rendering: String::new(),
        retention: until(-5),
        waiver: Some("team-x".to_owned()),
        remains: Remains::OnlyAccount,
    }
}
