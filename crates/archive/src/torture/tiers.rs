//! The cold tier over a store that fails in every way, and what is erased, redacted and encrypted in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use strongroom_core::digest::PieceId;
use strongroom_core::error::{Error, ErrorKind, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::time::Timestamp;
use strongroom_core::vault::{Loaded, Piece, Retention, Tier, Vault as _};
use testkit::dice::Dice;

use crate::archive::{Archive, Mode, Options};
use crate::cold::memory::{Act, MemoryStore, Wrong};
use crate::cold::{Cloud, ColdStore, ObjectName, Put, Reply};
use crate::entry::Order;
use crate::erasure::Subject;
use crate::lock::Secret;
use crate::source::{ItemFacts, SourceMeta, source_id};
use crate::tier::{Amount, MoveStep, probe};
use crate::verify::{Depth, ProblemKind};

const CANARY: &str = "canary-4711-kestrel";
const URL: &str = "s3://bucket/prefix";

struct Bench {
    dir: tempfile::TempDir,
    store: Arc<MemoryStore>,
    secret: Option<Secret>,
}

impl Bench {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), store: Arc::default(), secret: None }
    }

    fn open(&self) -> Archive {
        let mut options = Options { secret: self.secret.clone(), ..Options::new(Mode::CreateIfMissing) };
        options.cloud = Cloud::default();
        options.cloud.fake = Some(Arc::clone(&self.store) as Arc<dyn ColdStore>);
        Archive::open_with(self.dir.path(), &options).unwrap()
    }

    /// An archive with a cold tier and some pieces, one of which holds the canary.
    fn filled(&self) -> (Archive, Vec<Piece>) {
        let archive = self.open();
        let pieces = pieces(12);
        archive.store(&pieces, Retention::Indefinite).unwrap();
        archive.set_tier(URL, None).unwrap();
        (archive, pieces)
    }
}

fn pieces(count: usize) -> Vec<Piece> {
    let text = |n| format!("{{\"n\":{n},\"said\":\"{CANARY} {}\"}}\n", "word ".repeat(n * 7)).into_bytes();
    (0..count).map(|n| Piece::new(text(n))).collect()
}

fn ids(pieces: &[Piece]) -> Vec<PieceId> {
    pieces.iter().map(Piece::id).collect()
}

#[expect(clippy::unnecessary_wraps, reason = "it is an observer")]
fn quiet(_: MoveStep) -> Result<()> {
    Ok(())
}

/// Every piece is there, byte for byte, wherever it is.
fn assert_whole(archive: &Archive, pieces: &[Piece]) {
    for (piece, loaded) in pieces.iter().zip(archive.load(&ids(pieces)).unwrap()) {
        match loaded {
            Loaded::Found(bytes) => assert_eq!(bytes, piece.bytes()),
            other => panic!("{}: {other:?}", piece.id()),
        }
    }
}

fn assert_clean(archive: &Archive) {
    for depth in [Depth::Catalog, Depth::Data] {
        let report = archive.verify(depth, None);
        assert!(report.is_clean(), "{:#?}", report.problems);
    }
}

#[test]
fn what_is_moved_reads_the_same_and_comes_back() {
    let bench = Bench::new();
    let (archive, pieces) = bench.filled();
    let before = archive.tier_state().unwrap();
    let moved = archive.move_to_cold(&ids(&pieces), &mut quiet).unwrap();
    assert_eq!((moved.moved.pieces, moved.failed), (12, vec![]));
    let state = archive.tier_state().unwrap();
    assert_eq!((state.cold, state.hot, state.leaving), (before.hot, Amount::default(), 0));
    // The objects and the mark, and nothing under a name that tells something.
    assert_eq!(bench.store.objects().len(), 13);
    assert!(
        pieces
            .iter()
            .all(|piece| !bench.store.objects().contains_key(&ObjectName(*piece.id().digest().as_bytes())))
    );
    assert_whole(&archive, &pieces);
    let stat = archive.stat(&ids(&pieces)[..1]).unwrap()[0].unwrap();
    assert_eq!((stat.tier, stat.latency_ms_max), (Tier::Cold, 250));
    assert_clean(&archive);
    assert_whole(&bench.open(), &pieces);

    let back = archive.bring_back(&archive.cold_pieces().unwrap(), &mut quiet).unwrap();
    assert_eq!((back.moved, back.failed), (before.hot, vec![]));
    assert_eq!(archive.tier_state().unwrap().cold, Amount::default());
    assert_eq!(bench.store.objects().len(), 1, "only the mark is left");
    assert_whole(&archive, &pieces);
    assert_clean(&archive);
}

#[test]
fn a_move_that_ends_at_any_step_leaves_every_piece_readable_and_nothing_forgotten() {
    let pieces = pieces(12);
    for step in [MoveStep::Noted, MoveStep::Created, MoveStep::ReadBack, MoveStep::Moved(12)] {
        let bench = Bench::new();
        let (archive, _) = bench.filled();
        let stop = |at| if at == step { Err(Error::unavailable("the power went")) } else { Ok(()) };
        archive.move_to_cold(&ids(&pieces), &mut { stop }).unwrap_err();
        drop(archive);
        let archive = bench.open();
        assert_whole(&archive, &pieces);
        assert_clean(&archive);
        // Whatever may be there is known: it is needed, or it is noted to go.
        let state = archive.tier_state().unwrap();
        let objects = u64::try_from(bench.store.objects().len()).unwrap() - 1;
        assert!(objects <= state.cold.pieces + state.leaving, "{step:?}: {state:?}");
        archive.sweep().unwrap();
        assert_eq!(
            u64::try_from(bench.store.objects().len()).unwrap() - 1,
            archive.tier_state().unwrap().cold.pieces
        );
        assert_whole(&archive, &pieces);
        archive.move_to_cold(&ids(&pieces), &mut quiet).unwrap();
        assert_eq!(archive.tier_state().unwrap().cold.pieces, 12, "{step:?}");
        assert_whole(&archive, &pieces);
        assert_clean(&archive);
    }
}

#[test]
fn a_repeated_move_takes_objects_that_are_there_for_its_own_only_when_they_are_equal() {
    for wrong in [None, Some(Wrong::Bit)] {
        let bench = Bench::new();
        let (archive, pieces) = bench.filled();
        let mut stop = |at| {
            bench.store.direct(move |act| wrong.filter(|_| act == Act::Create));
            if at == MoveStep::Created { Err(Error::unavailable("stop")) } else { Ok(()) }
        };
        archive.move_to_cold(&ids(&pieces), &mut stop).unwrap_err();
        bench.store.direct(|_| None);
        let moved = archive.move_to_cold(&ids(&pieces), &mut quiet).unwrap();
        let expected = if wrong.is_none() { (12, 0) } else { (0, 12) };
        assert_eq!((moved.moved.pieces, moved.failed.len()), expected);
        assert!(moved.failed.iter().all(|(_, why)| why.contains("something else stands under its name")));
        assert_whole(&archive, &pieces);
        assert_clean(&archive);
        // What was in the way has been taken away.
        assert_eq!(archive.move_to_cold(&ids(&pieces), &mut quiet).unwrap().failed, []);
        assert_eq!(archive.tier_state().unwrap().cold.pieces, 12);
    }
}

#[test]
fn nothing_is_moved_that_is_not_given_back_as_it_is() {
    let faults = [
        (Act::Create, Wrong::Silent),
        (Act::Create, Wrong::SilentDone),
        (Act::Create, Wrong::Forgotten),
        (Act::Create, Wrong::Bit),
        (Act::Create, Wrong::Half),
        (Act::Get, Wrong::Silent),
        (Act::Get, Wrong::Bit),
        (Act::Get, Wrong::Half),
        (Act::Get, Wrong::Denied),
    ];
    for (act, wrong) in faults {
        let bench = Bench::new();
        let (archive, pieces) = bench.filled();
        let (store, mut begun) = (Arc::clone(&bench.store), false);
        let mut observe = |step| {
            if step == MoveStep::Noted && !begun {
                begun = true;
                store.direct(move |own| Some(wrong).filter(|_| own == act));
            }
            Ok(())
        };
        let moved = archive.move_to_cold(&ids(&pieces), &mut observe).unwrap();
        bench.store.direct(|_| None);
        assert_eq!((moved.moved.pieces, moved.failed.len()), (0, 12), "{act:?} {wrong:?}");
        assert_eq!(archive.tier_state().unwrap().hot.pieces, 12);
        assert_whole(&archive, &pieces);
        assert_clean(&archive);
        archive.sweep().unwrap();
        assert_eq!(bench.store.objects().len(), 1, "{act:?} {wrong:?}");
    }
}

#[test]
fn what_cannot_be_reached_is_not_lost_and_what_is_gone_is() {
    let bench = Bench::new();
    let (archive, pieces) = bench.filled();
    archive.move_to_cold(&ids(&pieces[..2]), &mut quiet).unwrap();
    let load = || archive.load(&ids(&pieces[..3])).unwrap();
    let kinds = |loaded: &[Loaded]| {
        let word = |one: &Loaded| match one {
            Loaded::Found(_) => "found",
            Loaded::Unreachable(why) => {
                assert!(why.contains(URL) && why.contains("try again"), "{why}");
                "unreachable"
            }
            Loaded::Damaged(_) => "damaged",
            other => panic!("{other:?}"),
        };
        loaded.iter().map(word).collect::<Vec<_>>()
    };
    bench.store.direct(|_| Some(Wrong::Silent));
    assert_eq!(kinds(&load()), ["unreachable", "unreachable", "found"]);
    let report = archive.verify(Depth::Catalog, None);
    assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
    assert_eq!(report.problems[0].kind, ProblemKind::Tier);
    assert!(report.problems[0].message.contains("2 cold pieces were not checked"), "{}", report.problems[0]);

    // An answer that went wrong on its way is asked for once more.
    let mut first = true;
    bench.store.direct(move |_| std::mem::take(&mut first).then_some(Wrong::Bit));
    assert_eq!(kinds(&load()), ["found", "found", "found"]);

    bench.store.direct(|_| None);
    let name = archive.look(|catalog| catalog.cold(pieces[0].id())).unwrap().unwrap().object;
    let kept = bench.store.objects().remove(&name).unwrap();
    assert_eq!(kinds(&load()), ["damaged", "found", "found"]);
    assert_eq!(archive.verify(Depth::Catalog, None).problems.len(), 1);
    bench.store.objects().insert(name, kept[1..].to_vec());
    assert_eq!(kinds(&load()), ["damaged", "found", "found"]);
    assert_eq!(archive.verify(Depth::Catalog, None).problems.len(), 1);
    // Another place, in which nothing is.
    bench.store.objects().clear();
    assert_eq!(kinds(&load()), ["unreachable", "unreachable", "found"]);
}

#[test]
fn a_piece_whose_object_is_gone_is_repaired_by_whoever_has_it() {
    let bench = Bench::new();
    let (archive, pieces) = bench.filled();
    archive.move_to_cold(&ids(&pieces), &mut quiet).unwrap();
    let name = archive.look(|catalog| catalog.cold(pieces[4].id())).unwrap().unwrap().object;
    bench.store.objects().remove(&name);
    archive.store(&pieces, Retention::Indefinite).unwrap();
    assert_whole(&archive, &pieces);
    assert_eq!(archive.tier_state().unwrap().cold.pieces, 11, "what is there stays there");
    assert_clean(&archive);
}

#[test]
fn a_store_that_does_not_do_what_it_must_is_refused() {
    type Director = Box<dyn FnMut(Act) -> Option<Wrong> + Send>;
    let mut creates = 0;
    let cases: [(&str, Director); 5] = [
        ("written over", Box::new(|act| Some(Wrong::Overwritten).filter(|_| act == Act::Create))),
        // Only whoever comes late overwrites: two at once are told apart.
        (
            "written over",
            Box::new(move |act| {
                creates += u32::from(act == Act::Create);
                Some(Wrong::Overwritten).filter(|_| act == Act::Create && creates > 8)
            }),
        ),
        ("that it took", Box::new(|act| Some(Wrong::Forgotten).filter(|_| act == Act::Create))),
        ("still there", Box::new(|act| Some(Wrong::Forgotten).filter(|_| act == Act::Delete))),
        ("cannot be taken away", Box::new(|act| Some(Wrong::Silent).filter(|_| act == Act::Delete))),
    ];
    for (why, director) in cases {
        let bench = Bench::new();
        let archive = bench.open();
        bench.store.direct(director);
        let error = archive.set_tier(URL, None).unwrap_err();
        assert!(error.to_string().contains(why), "{why}: {error}");
        assert_eq!(archive.tier_state().unwrap().url, None);
    }
}

#[test]
fn a_declared_latency_is_what_the_gate_hears() {
    let bench = Bench::new();
    let (archive, pieces) = bench.filled();
    archive.move_to_cold(&ids(&pieces[..1]), &mut quiet).unwrap();
    archive.set_tier(URL, Some(12_000)).unwrap();
    let stats = archive.stat(&ids(&pieces[..2])).unwrap();
    assert_eq!(stats.iter().map(|stat| stat.unwrap().latency_ms_max).collect::<Vec<_>>(), [12_000, 250]);
    assert_clean(&archive);
}

#[test]
fn another_place_is_taken_when_everything_was_copied_there() {
    let bench = Bench::new();
    let (archive, pieces) = bench.filled();
    archive.move_to_cold(&ids(&pieces), &mut quiet).unwrap();
    let copy = Bench { dir: tempfile::tempdir().unwrap(), store: Arc::default(), secret: None };
    let elsewhere = |store: &Arc<MemoryStore>| {
        let mut options = Options::new(Mode::ReadWrite);
        options.cloud.fake = Some(Arc::clone(store) as Arc<dyn ColdStore>);
        Archive::open_with(bench.dir.path(), &options).unwrap()
    };
    let error = elsewhere(&copy.store).set_tier("s3://other", None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    copy.store.objects().extend(bench.store.objects().clone());
    let archive = elsewhere(&copy.store);
    archive.set_tier("s3://other", None).unwrap();
    assert_whole(&archive, &pieces);
    assert_clean(&archive);
}

fn import(archive: &Archive, name: &str, bytes: &[u8], at: Timestamp) {
    let facts = ItemFacts { size_bytes: bytes.len() as u64, ..ItemFacts::default() };
    let meta = SourceMeta {
        id: source_id(archive.id(), name),
        name: name.to_owned(),
        format: "claude-code".to_owned(),
        session: None,
        facts,
    };
    let mut from = bytes;
    archive.import(&meta, &mut from, Retention::Indefinite, at).unwrap();
}

#[test]
fn only_what_is_quiet_in_every_source_is_planned_and_an_append_still_extends() {
    let bench = Bench::new();
    let archive = bench.open();
    let day = |n: i64| Timestamp::from_ms(n * 86_400_000);
    let text: Vec<u8> = pieces(300).iter().flat_map(|piece| piece.bytes().to_vec()).collect();
    import(&archive, "/old", &text, day(1));
    import(&archive, "/new", &[b"{}\n".as_slice(), b"{\"only\":\"here\"}\n"].concat(), day(40));
    archive.set_tier(URL, None).unwrap();
    let movable = archive.movable(day(10)).unwrap();
    assert!(
        !movable.is_empty() && movable.iter().all(|term| term.sources == [source_id(archive.id(), "/old")])
    );
    archive.move_to_cold(&movable.iter().map(|term| term.id).collect::<Vec<_>>(), &mut quiet).unwrap();
    assert!(archive.movable(day(10)).unwrap().is_empty());
    assert!(archive.tier_state().unwrap().hot.pieces == 1);

    // The last piece of what is extended is fetched to see that it is.
    let longer = [text.as_slice(), b"{\"more\":1}\n"].concat();
    import(&archive, "/old", &longer, day(41));
    let revision = archive.source_by_name("/old").unwrap().unwrap().latest;
    assert_eq!(revision.relation, crate::source::Relation::Extends);
    let state = archive.latest_revision(source_id(archive.id(), "/old")).unwrap().unwrap();
    let mut bytes = Vec::new();
    archive.rebuild(&state, &mut bytes).unwrap();
    assert_eq!(bytes, longer);
    assert_clean(&archive);
}

/// Every file below `dir`, as it is and decompressed behind the byte of its encoding.
fn hits(dir: &Path, needle: &[u8]) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            let plain = bytes.get(1..).and_then(|frame| zstd::bulk::decompress(frame, 2 << 20).ok());
            if [Some(bytes), plain].iter().flatten().any(|own| memchr::memmem::find(own, needle).is_some()) {
                found.push(path);
            }
        }
    }
    found
}

fn order() -> Order {
    Order { who: "mara".to_owned(), reason: "asked for it".to_owned(), at: Timestamp::from_ms(86_400_000) }
}

#[test]
fn what_is_erased_redacted_or_encrypted_is_so_in_the_cold_tier_too() {
    for act in ["erase", "redact", "encrypt"] {
        let (dir, cold) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let archive = Archive::open(dir.path(), Mode::CreateIfMissing).unwrap();
        let pieces = pieces(6);
        archive.store(&pieces, Retention::Indefinite).unwrap();
        let url = format!("file://{}/tier", cold.path().display());
        archive.set_tier(&url, None).unwrap();
        archive.move_to_cold(&ids(&pieces), &mut quiet).unwrap();
        archive.purge().unwrap();
        assert_eq!(hits(cold.path(), CANARY.as_bytes()).len(), 6);
        assert_eq!(hits(dir.path(), CANARY.as_bytes()).len(), 0, "the database has nothing left");
        match act {
            "erase" => {
                let subjects: Vec<Subject> = ids(&pieces).into_iter().map(Subject::Piece).collect();
                archive.erase(&subjects, &BTreeSet::new(), &order()).unwrap();
            }
            "redact" => {
                let cut = |piece: &Piece| {
                    let at = memchr::memmem::find(piece.bytes(), CANARY.as_bytes()).unwrap() as u64;
                    (piece.id(), ByteRange::new(at, at + CANARY.len() as u64))
                };
                archive
                    .redact(&pieces.iter().map(cut).collect::<Vec<_>>(), &BTreeSet::new(), &order())
                    .unwrap();
            }
            _ => archive.encrypt(&secret()).unwrap(),
        }
        let archive = match act {
            "encrypt" => opened_with(dir.path(), &secret()),
            _ => archive,
        };
        assert!(act == "encrypt" || archive.purge_is_due().unwrap());
        archive.purge().unwrap();
        for place in [cold.path(), dir.path()] {
            assert_eq!(hits(place, CANARY.as_bytes()), Vec::<PathBuf>::new(), "{act}");
        }
        assert!(!archive.purge_is_due().unwrap());
        assert_clean(&archive);
        if act == "erase" {
            continue;
        }
        // What is left of it, or its sealed bytes, may be moved again and tells nothing there.
        archive.move_to_cold(&ids(&pieces), &mut quiet).unwrap();
        assert_eq!(hits(cold.path(), CANARY.as_bytes()), Vec::<PathBuf>::new(), "{act}");
        assert_eq!(archive.tier_state().unwrap().cold.pieces, 6);
        assert_clean(&archive);
        match act {
            "encrypt" => assert_whole(&archive, &pieces),
            _ => assert!(
                archive.load(&ids(&pieces)).unwrap().iter().all(|one| matches!(one, Loaded::Redacted(_)))
            ),
        }
    }
}

fn secret() -> Secret {
    Secret::KeyFile([9; 32].into())
}

fn opened_with(dir: &Path, secret: &Secret) -> Archive {
    let options = Options { secret: Some(secret.clone()), ..Options::new(Mode::ReadWrite) };
    Archive::open_with(dir, &options).unwrap()
}

#[test]
fn what_cannot_be_taken_away_now_goes_later_and_is_told_until_then() {
    let bench = Bench::new();
    let (archive, pieces) = bench.filled();
    archive.move_to_cold(&ids(&pieces), &mut quiet).unwrap();
    bench.store.direct(|_| Some(Wrong::Silent));
    archive.erase(&[Subject::Piece(pieces[0].id())], &BTreeSet::new(), &order()).unwrap();
    let error = archive.purge().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("still stand in the cold tier"), "{error}");
    assert!(archive.purge_is_due().unwrap());
    assert_eq!(archive.verify(Depth::Catalog, None).leaving, 1);
    bench.store.direct(|_| None);
    archive.purge().unwrap();
    assert!(!archive.purge_is_due().unwrap());
    assert_eq!(bench.store.objects().len(), 12);
    assert_whole(&archive, &pieces[1..]);
    assert_clean(&archive);
}

/// Requests of which one in `odds` goes wrong, in ways that the dice choose.
fn storm(seed: u64, odds: u64, injected: &Arc<AtomicU64>) -> impl FnMut(Act) -> Option<Wrong> + Send + use<> {
    const WAYS: [Wrong; 6] =
        [Wrong::Silent, Wrong::SilentDone, Wrong::Forgotten, Wrong::Bit, Wrong::Half, Wrong::Denied];
    let (mut dice, injected) = (Dice::new(seed), Arc::clone(injected));
    move |_| {
        let hit = dice.roll(odds) == 0;
        hit.then(|| {
            injected.fetch_add(1, Ordering::Relaxed);
            WAYS[dice.below(6)]
        })
    }
}

/// One run of acts under a storm of faults: whatever the store did, no piece is lost and no other bytes are given.
fn run(seed: u64, acts: u64, injected: &Arc<AtomicU64>) {
    let bench = Bench::new();
    let (mut archive, pieces) = bench.filled();
    let mut dice = Dice::new(seed);
    for act in 0..acts {
        let some: Vec<PieceId> = ids(&pieces).into_iter().filter(|_| dice.below(2) == 0).collect();
        let (stop, mut step) = (dice.roll(8), 0);
        let mut observe = |_: MoveStep| {
            // A store that fails when it is probed is not used at all.
            bench.store.direct(storm(seed ^ act.wrapping_mul(77) ^ step, 3, injected));
            step += 1;
            if step == stop { Err(Error::unavailable("stop")) } else { Ok(()) }
        };
        bench.store.direct(|_| None);
        let choice = dice.below(6);
        if choice >= 3 {
            bench.store.direct(storm(seed ^ act.wrapping_mul(91), 3, injected));
        }
        match choice {
            0..=2 => drop(archive.move_to_cold(&some, &mut observe)),
            3 => drop(archive.bring_back(&some, &mut observe)),
            4 => drop(archive.sweep()),
            _ => archive = bench.open(),
        }
        for (piece, loaded) in pieces.iter().zip(archive.load(&ids(&pieces)).unwrap()) {
            match loaded {
                Loaded::Found(bytes) => assert_eq!(bytes, piece.bytes(), "seed {seed}"),
                // Said while the storm goes on; below it is calm.
                Loaded::Unreachable(_) | Loaded::Damaged(_) => {}
                other => panic!("seed {seed}, act {act}: {other:?}"),
            }
        }
    }
    bench.store.direct(|_| None);
    assert_whole(&archive, &pieces);
    archive.sweep().unwrap();
    assert_clean(&archive);
    let objects = u64::try_from(bench.store.objects().len()).unwrap() - 1;
    assert!(objects >= archive.tier_state().unwrap().cold.pieces, "seed {seed}");
}

#[test]
fn nothing_is_lost_in_a_storm_of_faults() {
    let injected = Arc::new(AtomicU64::new(0));
    for seed in 0..6 {
        run(seed, 20, &injected);
    }
    assert!(injected.load(Ordering::Relaxed) > 300, "faults that never happen prove nothing");
}

#[test]
#[ignore = "minutes: the figures of docs/reliability.md"]
fn nothing_is_lost_in_a_long_storm() {
    let injected = Arc::new(AtomicU64::new(0));
    let acts = 40 * 500;
    for seed in 1_000..1_500 {
        run(seed, 40, &injected);
    }
    println!("{acts} acts, {} requests went wrong, nothing lost", injected.load(Ordering::Relaxed));
}

/// What every store must do.
fn conforms(store: &dyn ColdStore) {
    let names: Vec<ObjectName> = (1..=40).map(|n| ObjectName([n; 32])).collect();
    let bodies: Vec<(ObjectName, Vec<u8>)> =
        names.iter().map(|name| (*name, vec![name.0[0]; 1_000 * usize::from(name.0[0])])).collect();
    let all = |reply: &Reply<Put>, put| *reply == Ok(put);
    assert!(store.create(&bodies).iter().all(|reply| all(reply, Put::Created)));
    assert!(store.create(&bodies).iter().all(|reply| all(reply, Put::Exists)));
    let other: Vec<(ObjectName, Vec<u8>)> = names.iter().map(|name| (*name, b"other".to_vec())).collect();
    assert!(store.create(&other).iter().all(|reply| all(reply, Put::Exists)));
    let got: Vec<Vec<u8>> = store.get(&names).into_iter().map(|reply| reply.unwrap().unwrap()).collect();
    assert!(got.iter().zip(&bodies).all(|(got, (_, body))| got == body));
    let lens: Vec<u64> = store.lens(&names).into_iter().map(|reply| reply.unwrap().unwrap()).collect();
    assert!(lens.iter().zip(&bodies).all(|(len, (_, body))| *len == body.len() as u64));
    let missing = [ObjectName([77; 32])];
    assert_eq!(store.get(&missing), [Ok(None)]);
    assert_eq!(store.lens(&missing), [Ok(None)]);
    assert_eq!(store.delete(&missing), [Ok(())]);
    assert!(store.delete(&names).iter().all(Reply::is_ok));
    assert!(store.get(&names).iter().all(|reply| *reply == Ok(None)));
    assert!(store.create(&bodies).iter().all(|reply| all(reply, Put::Created)));
    assert!(store.delete(&names).iter().all(Reply::is_ok));
    for _ in 0..4 {
        probe::probe(store, "the store").unwrap();
    }
}

#[test]
fn stores_conform() {
    conforms(&MemoryStore::default());
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::open(&dir.path().join("archive"), Mode::CreateIfMissing).unwrap();
    let url = format!("file://{}/cold", dir.path().display());
    archive.cloud.prepare(&url, archive.id()).unwrap();
    let store = archive.cloud.open(&url, archive.id()).unwrap();
    conforms(store.as_ref());
    // A disk that is not mounted is not an empty one.
    fs::rename(dir.path().join("cold"), dir.path().join("away")).unwrap();
    assert!(store.get(&[ObjectName([1; 32])])[0].as_ref().unwrap_err().contains("mounted"));
    assert_eq!(archive.cloud.open(&url, archive.id()).unwrap_err().kind(), ErrorKind::Unavailable);
}

#[test]
fn a_directory_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::open(&dir.path().join("archive"), Mode::CreateIfMissing).unwrap();
    archive.set_tier(&format!("file://{}/cold", dir.path().display()), None).unwrap();
    let own = dir.path().join("cold").join(archive.id().digest().to_string());
    assert_eq!(fs::metadata(own).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(matches!(archive.load(&[PieceId::of(b"never")]).unwrap()[..], [Loaded::Missing]));
}
