//! The archive from outside: contract, custody, damage, and several processes at once.

// What clippy permits in tests it permits in items marked so; a helper is not seen as one otherwise.
#[cfg(test)]
mod custody;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod derived;
#[cfg(test)]
mod encryption;
#[cfg(test)]
mod erasure;
#[cfg(test)]
mod every_bit;
#[cfg(test)]
mod expiry;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod opening;
#[cfg(test)]
mod processes;

use proptest::prelude::*;
use strongroom_archive::{Archive, Mode};
use strongroom_core::time::Timestamp;
use strongroom_core::vault::{Piece, Retention, Vault};
use testkit::conformance;
use testkit::memory_archive::MemoryArchive;

#[test]
fn it_conforms() {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::open(dir.path(), Mode::CreateIfMissing).unwrap();
    conformance::vault(&archive).unwrap();
    conformance::registry(&archive).unwrap();
    fixture::assert_clean(&archive);
}

#[derive(Debug, Clone)]
enum Act {
    Store(Vec<u8>, Retention),
    Extend(Vec<u8>, Retention),
    Reopen,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let retention = prop_oneof![
        Just(Retention::Unknown),
        Just(Retention::Indefinite),
        (-3..3i64).prop_map(|ms| Retention::Until(Timestamp::from_ms(ms)))
    ];
    let pieces = proptest::collection::vec(0..6u8, 0..5);
    let act = (0..9u8, pieces, retention).prop_map(|(kind, pieces, retention)| match kind {
        0..5 => Act::Store(pieces, retention),
        5..8 => Act::Extend(pieces, retention),
        _ => Act::Reopen,
    });
    proptest::collection::vec(act, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn it_behaves_as_the_archive_in_memory(acts in acts()) {
        let dir = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(dir.path(), Mode::CreateIfMissing).unwrap();
        let model = MemoryArchive::new();
        let all: Vec<Piece> = (0..6u8).map(|n| Piece::new(vec![n; 3_000 * usize::from(n)])).collect();
        let ids: Vec<_> = all.iter().map(Piece::id).collect();
        for act in acts {
            let pick = |chosen: &[u8]| chosen.iter().map(|n| all[usize::from(*n)].clone()).collect::<Vec<_>>();
            match act {
                Act::Store(chosen, retention) => {
                    archive.store(&pick(&chosen), retention).unwrap();
                    model.store(&pick(&chosen), retention).unwrap();
                }
                Act::Extend(chosen, retention) => {
                    let chosen: Vec<_> = pick(&chosen).iter().map(Piece::id).collect();
                    archive.extend(&chosen, retention).unwrap();
                    model.extend(&chosen, retention).unwrap();
                }
                Act::Reopen => {
                    drop(archive);
                    archive = Archive::open(dir.path(), Mode::ReadWrite).unwrap();
                }
            }
            prop_assert_eq!(format!("{:?}", archive.load(&ids).unwrap()), format!("{:?}", model.load(&ids).unwrap()));
            let retention = |vault: &dyn Vault| -> Vec<Option<Retention>> {
                vault.stat(&ids).unwrap().into_iter().map(|stat| stat.map(|stat| stat.retention)).collect()
            };
            prop_assert_eq!(retention(&archive), retention(&model));
        }
        fixture::assert_clean(&archive);
    }
}
