//! Lays out the vocabulary of `o200k_base` and the classes of all characters as the counter reads them.

#![expect(clippy::indexing_slicing, reason = "a mistake stops the build")]
#![expect(
    clippy::disallowed_methods,
    reason = "Cargo tells a build script where to write in the environment"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "src/table/layout.rs"]
mod layout;

use layout::{SHORT, SLOT, SLOTS, home, key};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/table/layout.rs");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    vocabulary(&out)?;
    classes(&out)
}

/// The length of a token has a byte.
const LONGEST: u32 = 255;

fn vocabulary(out: &Path) -> Result<(), Box<dyn Error>> {
    let vocabulary = &bpe_openai::o200k_base().bpe;
    let mut slots = vec![[0; SLOT]; SLOTS];
    let mut long = Vec::new();
    for rank in 0..u32::try_from(vocabulary.num_tokens())? {
        let token = vocabulary.token_bytes(rank);
        let len = u32::try_from(token.len())?;
        if len == 0 || len > LONGEST {
            return Err(format!("a token of {len} bytes has no place").into());
        }
        let place = u32::try_from(long.len())?;
        if token.len() > SHORT {
            long.extend_from_slice(token);
        }
        let key = key(token, &(0..token.len()));
        let mut at = home(key, token.len());
        while slots[at % SLOTS] != [0; SLOT] {
            at += 1;
        }
        let slot = &mut slots[at % SLOTS];
        slot[..8].copy_from_slice(&key.to_le_bytes());
        slot[8..12].copy_from_slice(&(rank << 8 | len).to_le_bytes());
        slot[12..].copy_from_slice(&place.to_le_bytes());
    }
    fs::write(out.join("slots"), slots.as_flattened())?;
    Ok(fs::write(out.join("long"), long)?)
}

/// How many characters share a row.
const ROW: usize = 128;

/// The classes by the number that the counter knows them by; a later one wins.
const CLASSES: [(&str, u8); 7] = [
    (r"[\p{Lu}\p{Lt}]", 1),
    (r"\p{Ll}", 2),
    (r"[\p{Lm}\p{Lo}]", 3),
    (r"\p{M}", 4),
    (r"\p{N}", 5),
    (r"\s", 6),
    (r"[\r\n]", 7),
];

fn classes(out: &Path) -> Result<(), Box<dyn Error>> {
    let mut all = vec![0; 0x11_0000];
    for (pattern, number) in CLASSES {
        for (first, last) in members(pattern)? {
            all[first as usize..=last as usize].fill(number);
        }
    }
    let mut rows: Vec<&[u8]> = Vec::new();
    let mut known = BTreeMap::new();
    let mut row_of = Vec::new();
    for row in all.chunks(ROW) {
        let at = *known.entry(row).or_insert_with(|| {
            rows.push(row);
            rows.len() - 1
        });
        row_of.push(u8::try_from(at)?);
    }
    fs::write(out.join("rows"), rows.concat())?;
    Ok(fs::write(out.join("row_of"), row_of)?)
}

fn members(pattern: &str) -> Result<Vec<(char, char)>, Box<dyn Error>> {
    use regex_syntax::hir::{Class, HirKind};
    match regex_syntax::parse(pattern)?.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            Ok(class.ranges().iter().map(|range| (range.start(), range.end())).collect())
        }
        _ => Err(format!("{pattern} is no class of characters").into()),
    }
}
