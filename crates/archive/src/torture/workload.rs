//! A program that uses an archive, chosen by a seed, and writes down what it is told.

use std::collections::BTreeSet;

use strongroom_core::digest::PieceId;
use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::time::Timestamp;
use strongroom_core::vault::{Piece, Registry as _, Retention, Vault as _};
use testkit::conformance;
use testkit::dice::Dice;

use super::promises::Note;
use crate::archive::{Archive, Mode, Options};
use crate::disk::simulated::{Disk, Event, seed_random};
use crate::entry::Order;
use crate::erasure::Subject;
use crate::expiry::Deletion;
use crate::lock::Secret;
use crate::source::{ItemFacts, SourceMeta, source_id};

/// The day until which lent pieces are kept, and the one on which they may go.
const LENT_UNTIL: Timestamp = Timestamp::from_ms(86_400_000);
const LATER: Timestamp = Timestamp::from_ms(3 * 86_400_000);

/// What a run leaves: the changes to the disk, and what was said after how many of them.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) events: Vec<Event>,
    pub(super) notes: Vec<(usize, Note)>,
    pub(super) errors: Vec<Error>,
    /// How many changes failed.
    pub(super) injected: u64,
}

/// One thing that the program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Open,
    Close,
    Store,
    Lend,
    Import,
    Bind,
    Hold,
    Delete,
    Checkpoint,
    /// The archive is encrypted where it lies, and cleared.
    Encrypt,
    /// Pieces that were lent are erased by order.
    Erase,
    /// Bytes are taken out of a new piece.
    Redact,
    /// Another program gives the closed archive a rollback journal.
    TakeLog,
}

/// How often acts are chosen.
const CHOICES: [Act; 16] = [
    Act::Store,
    Act::Store,
    Act::Store,
    Act::Import,
    Act::Import,
    Act::Import,
    Act::Import,
    Act::Lend,
    Act::Lend,
    Act::Delete,
    Act::Delete,
    Act::Bind,
    Act::Bind,
    Act::Hold,
    Act::Checkpoint,
    Act::Close,
];

/// Acts chosen by `seed`.
pub(super) fn chosen(seed: u64, count: usize) -> Vec<Act> {
    let mut dice = Dice::new(seed);
    let acts = (0..count).map(|_| CHOICES[dice.below(CHOICES.len())]);
    std::iter::once(Act::Open).chain(acts).collect()
}

/// What opens the archives of these tests once they are encrypted.
pub(super) fn secret() -> Secret {
    Secret::KeyFile([9; 32].into())
}

struct Program<'d> {
    disk: &'d Disk,
    dice: Dice,
    archive: Option<Archive>,
    secret: Option<Secret>,
    /// The lines that each source was imported with.
    lines: [u64; 2],
    lent: Vec<PieceId>,
    bound: u32,
    notes: Vec<(usize, Note)>,
}

/// Does `acts` on the disk; goes on after errors.
pub(super) fn run(seed: u64, acts: &[Act], disk: &Disk) -> Recording {
    seed_random(Some(seed));
    let mut program = Program {
        disk,
        dice: Dice::new(!seed),
        archive: None,
        secret: None,
        lines: [0; 2],
        lent: Vec::new(),
        bound: 0,
        notes: Vec::new(),
    };
    let errors = acts.iter().filter_map(|act| program.act(*act).err()).collect();
    program.archive = None;
    seed_random(None);
    let mut recorder = disk.lock();
    let injected = recorder.injected;
    Recording { events: std::mem::take(&mut recorder.events), notes: program.notes, errors, injected }
}

fn order() -> Order {
    Order { who: "ops".to_owned(), reason: "asked for".to_owned(), at: LATER }
}

/// Text of about `bytes` bytes that does not compress well.
pub(super) fn text(dice: &mut Dice, bytes: usize) -> Vec<u8> {
    (0..=bytes / 17).flat_map(|_| format!("{:016x}\n", dice.roll(u64::MAX)).into_bytes()).collect()
}

impl Program<'_> {
    fn note(&mut self, note: Note) {
        let at = self.disk.lock().events.len();
        self.notes.push((at, note));
    }

    fn archive(&mut self) -> Result<&Archive> {
        if self.archive.is_none() {
            let options = Options { secret: self.secret.clone(), ..Options::new(Mode::CreateIfMissing) };
            let archive = Archive::open_with(self.disk.dir(), &options)?;
            let id = archive.id();
            self.archive = Some(archive);
            self.note(Note::Made(id));
        }
        self.archive.as_ref().ok_or_else(|| Error::bug("the archive was opened"))
    }

    fn act(&mut self, act: Act) -> Result<()> {
        match act {
            Act::Open => self.archive().map(drop),
            Act::Close => {
                self.archive = None;
                Ok(())
            }
            Act::Store => {
                let ids = self.store(Retention::Indefinite)?;
                self.note(Note::Kept(ids));
                Ok(())
            }
            Act::Lend => {
                let ids = self.store(Retention::Until(LENT_UNTIL))?;
                self.lent.extend(&ids);
                self.note(Note::Lent(ids));
                Ok(())
            }
            Act::Import => self.import(),
            Act::Bind => self.bind(),
            Act::Hold => self.hold(),
            Act::Delete => self.delete(),
            Act::Checkpoint => self.checkpoint(),
            Act::Encrypt => self.encrypt(),
            Act::Erase => self.erase(),
            Act::Redact => self.redact(),
            Act::TakeLog => {
                self.archive = None;
                self.pragma("journal_mode = DELETE")
            }
        }
    }

    fn store(&mut self, retention: Retention) -> Result<Vec<PieceId>> {
        let count = 1 + self.dice.below(3);
        let pieces: Vec<Piece> = (0..count)
            .map(|_| {
                let bytes = 1 + self.dice.below(9_000);
                Piece::new(text(&mut self.dice, bytes))
            })
            .collect();
        self.archive()?.store(&pieces, retention)?;
        Ok(pieces.iter().map(Piece::id).collect())
    }

    fn import(&mut self) -> Result<()> {
        let which = self.dice.below(self.lines.len());
        let lines = self.lines[which] + 1 + self.dice.roll(1_500);
        let bytes = text(&mut Dice::new(which as u64), usize::try_from(lines * 17).unwrap());
        let name = format!("source {which}");
        let archive = self.archive()?;
        let meta = SourceMeta {
            id: source_id(archive.id(), &name),
            name: name.clone(),
            format: "claude-code".to_owned(),
            session: None,
            facts: ItemFacts { size_bytes: bytes.len() as u64, mtime_ms: 5, inode: 7, device: 1 },
        };
        archive.import(&meta, &mut bytes.as_slice(), Retention::Indefinite, Timestamp::from_ms(1))?;
        self.lines[which] = lines;
        self.note(Note::Imported(name, bytes));
        Ok(())
    }

    fn bind(&mut self) -> Result<()> {
        self.bound += 1;
        let (generation, name) = (self.bound, format!("summary {}", self.bound));
        let archive = self.archive()?;
        let record = conformance::record(archive, generation, &name);
        archive.bind(&record)?;
        self.note(Note::Bound(record.tag));
        Ok(())
    }

    fn hold(&mut self) -> Result<()> {
        let archive = self.archive()?;
        let source = source_id(archive.id(), "source 0");
        if archive.source(source)?.is_some() {
            archive.hold(source, "court")?;
            self.note(Note::Held(source, "court".to_owned()));
        }
        Ok(())
    }

    fn delete(&mut self) -> Result<()> {
        let ids = std::mem::take(&mut self.lent);
        self.note(Note::Going(ids.clone()));
        let held = BTreeSet::new();
        let deletion = Deletion { expired_by: LATER, now: LATER, held: &held };
        self.archive()?.delete_expired(&ids, &deletion)?;
        self.note(Note::Gone(ids));
        Ok(())
    }

    fn encrypt(&mut self) -> Result<()> {
        self.archive()?;
        self.secret = Some(secret());
        let encrypted = self.archive.take().map_or(Ok(()), |archive| archive.encrypt(&secret()));
        encrypted.and_then(|()| self.archive()?.purge())
    }

    fn erase(&mut self) -> Result<()> {
        let ids = std::mem::take(&mut self.lent);
        self.note(Note::Going(ids.clone()));
        let subjects: Vec<Subject> = ids.iter().map(|id| Subject::Piece(*id)).collect();
        let archive = self.archive()?;
        archive.erase(&subjects, &BTreeSet::new(), &order())?;
        archive.purge()?;
        self.note(Note::Gone(ids));
        Ok(())
    }

    fn redact(&mut self) -> Result<()> {
        let ids = self.store(Retention::Indefinite)?;
        self.note(Note::Cutting(ids.clone()));
        let cuts: Vec<_> = ids.iter().map(|id| (*id, ByteRange::new(1, 9))).collect();
        let archive = self.archive()?;
        archive.redact(&cuts, &BTreeSet::new(), &order())?;
        archive.purge()?;
        self.note(Note::Cut(ids));
        Ok(())
    }

    /// What `SQLite` does by itself after a thousand pages, and starts the log anew.
    fn checkpoint(&mut self) -> Result<()> {
        let kind = ["PASSIVE", "RESTART", "TRUNCATE"][self.dice.below(3)];
        self.archive()?;
        self.pragma(&format!("wal_checkpoint({kind})"))
    }

    fn pragma(&self, pragma: &str) -> Result<()> {
        let path = self.disk.dir().join("strongroom.db");
        let done = rusqlite::Connection::open(path)
            .and_then(|connection| connection.execute_batch(&format!("PRAGMA {pragma}")));
        done.map_err(|error| Error::unavailable(error.to_string()))
    }
}
