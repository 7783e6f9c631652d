//! What several tests start from.

use std::path::Path;

use strongroom_archive::source::{ItemFacts, SourceMeta, StoredRevision, source_id};
use strongroom_archive::verify::Depth;
use strongroom_archive::{Archive, Mode};
use strongroom_core::time::Timestamp;
use strongroom_core::vault::Retention;

pub(crate) fn open(dir: &Path) -> Archive {
    Archive::open(dir, Mode::CreateIfMissing).unwrap()
}

/// Text that looks like a transcript, different for each `seed`.
pub(crate) fn transcript(seed: u64, lines: u64) -> Vec<u8> {
    (0..lines)
        .flat_map(|n| {
            let noise = (n + 1).wrapping_mul(seed | 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            format!(
                "{{\"seed\":{seed},\"n\":{n},\"text\":\"{noise:x} {}\"}}\n",
                "word ".repeat(usize::try_from(n % 50).unwrap())
            )
            .into_bytes()
        })
        .collect()
}

pub(crate) fn meta(archive: &Archive, name: &str, bytes: &[u8]) -> SourceMeta {
    SourceMeta {
        id: source_id(archive.id(), name),
        name: name.to_owned(),
        format: "claude-code".to_owned(),
        session: Some("s-1".to_owned()),
        facts: ItemFacts { size_bytes: bytes.len() as u64, mtime_ms: 5, inode: u64::MAX, device: 1 },
    }
}

pub(crate) fn import(archive: &Archive, name: &str, mut bytes: &[u8]) -> StoredRevision {
    let meta = meta(archive, name, bytes);
    archive.import(&meta, &mut bytes, Retention::Indefinite, Timestamp::from_ms(1_000)).unwrap()
}

/// The bytes of a source's newest state as the archive gives them back.
pub(crate) fn export(archive: &Archive, name: &str) -> strongroom_core::error::Result<Vec<u8>> {
    let source = archive.source_by_name(name)?.unwrap();
    let revision = archive.latest_revision(source.meta.id)?.unwrap();
    let mut bytes = Vec::new();
    archive.rebuild(&revision, &mut bytes)?;
    Ok(bytes)
}

pub(crate) fn assert_clean(archive: &Archive) {
    let report = archive.verify(Depth::Data, None);
    assert!(report.is_clean(), "{:#?}", report.problems);
    assert!(report.caveat().is_some_and(|caveat| caveat.contains("rewritten")));
    assert_eq!(report.checkpoint, Some(archive.checkpoint().unwrap()));
}
