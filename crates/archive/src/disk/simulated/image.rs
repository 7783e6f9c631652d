//! What is on the disk for good, what may be, and what is left when the power goes.

use std::collections::BTreeMap;

use testkit::dice::Dice;

use super::{Event, FileNo};

/// The bytes of a disk that are written whole or not at all.
const SECTORS: [usize; 2] = [512, 4096];

#[derive(Debug, Clone)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Truncate { len: usize },
}

#[derive(Debug, Default, Clone)]
struct File {
    durable: Vec<u8>,
    pending: Vec<Change>,
}

#[derive(Debug, Clone)]
enum Naming {
    Set(String, FileNo),
    Take(String),
}

/// A disk at one point of a recording.
#[derive(Debug)]
pub(crate) struct Image {
    files: Vec<File>,
    names: BTreeMap<String, FileNo>,
    pending: Vec<Naming>,
    is_dir_durable: bool,
    dice: Dice,
}

/// What a power failure left.
#[derive(Debug)]
pub(crate) struct Survivors {
    /// The files by name; nothing when the directory itself is gone.
    pub(crate) files: Option<BTreeMap<String, Vec<u8>>>,
    /// How many changes were lost, in whole or in part.
    pub(crate) lost: u64,
}

/// Which of the changes that were not flushed survive.
#[derive(Debug, Clone, Copy)]
enum Mercy {
    Nothing,
    /// So many, and the next in part.
    First(usize),
    /// Each sector by the dice: changes are torn, and later ones overtake earlier ones.
    Some(usize),
    All,
}

impl Mercy {
    fn choose(dice: &mut Dice, changes: usize) -> Self {
        match dice.roll(6) {
            0 => Self::Nothing,
            1 | 2 => Self::First(dice.below(changes + 1)),
            3 | 4 => Self::Some(SECTORS[dice.below(SECTORS.len())]),
            _ => Self::All,
        }
    }
}

impl Image {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            files: Vec::new(),
            names: BTreeMap::new(),
            pending: Vec::new(),
            is_dir_durable: false,
            dice: Dice::new(seed),
        }
    }

    /// Goes on by one event.
    pub(crate) fn follow(&mut self, event: &Event) {
        match event {
            Event::Create { name, file } => {
                self.files.push(File::default());
                assert_eq!(self.files.len(), file + 1, "files are numbered in the order of their making");
                self.pending.push(Naming::Set(name.clone(), *file));
            }
            Event::Link { name, file } => self.pending.push(Naming::Set(name.clone(), *file)),
            Event::Unlink { name } => self.pending.push(Naming::Take(name.clone())),
            Event::FlushDir => {
                let pending = std::mem::take(&mut self.pending);
                pending.iter().for_each(|naming| rename(&mut self.names, naming));
            }
            Event::FlushAbove => self.is_dir_durable = true,
            Event::Write { file, offset, bytes } => {
                let offset = usize::try_from(*offset).unwrap();
                self.files[*file].pending.push(Change::Write { offset, bytes: bytes.clone() });
            }
            Event::Truncate { file, len } => {
                let len = usize::try_from(*len).unwrap();
                self.files[*file].pending.push(Change::Truncate { len });
            }
            Event::Flush { file } => {
                let file = &mut self.files[*file];
                let pending = std::mem::take(&mut file.pending);
                pending.iter().for_each(|change| apply(&mut file.durable, change));
            }
            Event::FlushFailed { file } => {
                let file = &mut self.files[*file];
                let mercy = Mercy::choose(&mut self.dice, file.pending.len());
                (file.durable, _) = survive(file, mercy, &mut self.dice);
                file.pending.clear();
            }
        }
    }

    /// One of the states in which the disk may be when the power goes now.
    pub(crate) fn cut(&mut self) -> Survivors {
        let dice = &mut self.dice;
        let mut lost = 0;
        if !self.is_dir_durable && dice.roll(2) == 0 {
            return Survivors { files: None, lost: 1 };
        }
        let mut names = self.names.clone();
        let mercy = Mercy::choose(dice, self.pending.len());
        for (at, naming) in self.pending.iter().enumerate() {
            let survives = match mercy {
                Mercy::Nothing => false,
                Mercy::First(count) => at < count,
                Mercy::Some(_) => dice.roll(2) == 0,
                Mercy::All => true,
            };
            if survives {
                rename(&mut names, naming);
            } else {
                lost += 1;
            }
        }
        let mut files = BTreeMap::new();
        for (name, file) in names {
            let file = &self.files[file];
            let mercy = Mercy::choose(dice, file.pending.len());
            let (bytes, harmed) = survive(file, mercy, dice);
            lost += harmed;
            files.insert(name, bytes);
        }
        Survivors { files: Some(files), lost }
    }
}

fn rename(names: &mut BTreeMap<String, FileNo>, naming: &Naming) {
    match naming {
        Naming::Set(name, file) => drop(names.insert(name.clone(), *file)),
        Naming::Take(name) => drop(names.remove(name)),
    }
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write { offset, bytes: new } => {
            let end = offset + new.len();
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            bytes[*offset..end].copy_from_slice(new);
        }
        Change::Truncate { len } => bytes.resize(*len, 0),
    }
}

/// A file's bytes with the mercy of the disk, and how many changes are not or not wholly in them.
fn survive(file: &File, mercy: Mercy, dice: &mut Dice) -> (Vec<u8>, u64) {
    let mut bytes = file.durable.clone();
    let mut lost = 0;
    for (at, change) in file.pending.iter().enumerate() {
        let sector = match mercy {
            Mercy::First(count) if at < count => Some(0),
            Mercy::First(count) if at == count => Some(SECTORS[0]),
            Mercy::Nothing | Mercy::First(_) => None,
            Mercy::Some(sector) => Some(sector),
            Mercy::All => Some(0),
        };
        let whole = match sector {
            None => false,
            Some(0) => {
                apply(&mut bytes, change);
                true
            }
            Some(sector) => tear(&mut bytes, change, sector, dice),
        };
        lost += u64::from(!whole);
    }
    (bytes, lost)
}

/// Applies the sectors of a change that the dice favour; whether all were.
fn tear(bytes: &mut Vec<u8>, change: &Change, sector: usize, dice: &mut Dice) -> bool {
    let Change::Write { offset, bytes: new } = change else {
        let favoured = dice.roll(2) == 0;
        if favoured {
            apply(bytes, change);
        }
        return favoured;
    };
    let mut whole = true;
    let mut done = 0;
    while done < new.len() {
        let at = offset + done;
        let end = new.len().min(done + sector - at % sector);
        if dice.roll(2) == 0 {
            apply(bytes, &Change::Write { offset: at, bytes: new[done..end].to_vec() });
        } else {
            whole = false;
        }
        done = end;
    }
    whole
}
