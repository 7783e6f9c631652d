//! Logs of Inspect in an archive of files: a header, and a member for each sample.
//!
//! The members become one document in the form of the tool's own JSON log, each byte for byte. What the tool makes of
//! the samples besides, summaries of them and a journal, is left out. No name of a member becomes a path.

use std::collections::{BTreeMap, BTreeSet};

use rawzip::{CompressionMethod, ZipArchive, ZipSliceArchive};
use strongroom_core::error::{Error, Result};

use crate::bounded;

/// The most members that are looked at.
const MEMBERS_MAX: usize = 1 << 17;

/// Where the header stands; the second while the run goes on.
const HEADERS: [&str; 2] = ["header.json", "_journal/start.json"];

const REDUCTIONS: &str = "reductions.json";

/// Where a sample stands among the others: its epoch, and its id with numbers in their order.
type Rank = (u64, String);

/// Where a member's bytes are, and how they are compressed.
type Place = (rawzip::ZipArchiveEntryWayfinder, CompressionMethod);

/// The document that the tool would write for the log in `bytes`, which holds at most `max` bytes; `None` where the
/// archive is not one of its logs.
///
/// # Errors
/// `Unavailable` when the archive or a member is damaged, packed in a way that is not known, or over a limit.
pub(crate) fn document(bytes: &[u8], max: u64) -> Result<Option<Vec<u8>>> {
    let archive = ZipArchive::from_slice(bytes).map_err(|error| damaged("a zip archive", error))?;
    let Some(log) = Log::of(&archive)? else { return Ok(None) };
    let mut out = Vec::new();
    log.unpack(&archive, log.header, max, &mut out)?;
    let end = out.trim_ascii_end().strip_suffix(b"}").map(|rest| rest.trim_ascii_end().len());
    let Some(end) = end.filter(|_| out.trim_ascii_start().starts_with(b"{")) else {
        return Err(Error::unavailable(format!("{} of a log of Inspect is no object", log.header)));
    };
    out.truncate(end);
    out.extend_from_slice(if out.ends_with(b"{") { b"\"samples\":[" } else { b",\"samples\":[" });
    for (at, name) in log.samples.iter().map(|(_, name)| name).enumerate() {
        out.extend_from_slice(if at == 0 { b"\n" } else { b",\n" });
        log.unpack(&archive, name, max, &mut out)?;
    }
    out.extend_from_slice(b"\n]");
    if log.members.contains_key(REDUCTIONS) {
        out.extend_from_slice(b",\"reductions\":");
        log.unpack(&archive, REDUCTIONS, max, &mut out)?;
    }
    out.push(b'}');
    Ok(Some(out))
}

fn damaged(what: &str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::unavailable(format!("{what} is damaged")).caused_by(error)
}

/// The members of a log that are read. Of two with one name the last counts, as for the tool.
struct Log {
    members: BTreeMap<String, Place>,
    header: &'static str,
    /// The names of the samples' members, in the order of the tool: by epoch, then by id.
    samples: BTreeSet<(Rank, String)>,
}

impl Log {
    fn of(archive: &ZipSliceArchive<&[u8]>) -> Result<Option<Self>> {
        let mut members = BTreeMap::new();
        for entry in archive.entries() {
            let entry = entry.map_err(|error| damaged("the directory of a zip archive", error))?;
            let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
            members.insert(name, (entry.wayfinder(), entry.compression_method()));
            if members.len() > MEMBERS_MAX {
                return Err(Error::unavailable(format!("a zip archive of more than {MEMBERS_MAX} members")));
            }
        }
        let Some(header) = HEADERS.into_iter().find(|name| members.contains_key(*name)) else {
            return Ok(None);
        };
        let mut samples = BTreeSet::new();
        for name in members.keys().filter(|name| name.starts_with("samples/")) {
            let rank = rank(name).ok_or_else(|| {
                Error::unavailable(format!(
                    "a log of Inspect holds {name:?}, a sample in a form that is not read; `inspect log convert` writes the log as JSON, which is read"
                ))
            })?;
            samples.insert((rank, name.clone()));
        }
        Ok(Some(Self { members, header, samples }))
    }

    /// Appends a member to `out`, which then holds at most `max` bytes.
    fn unpack(
        &self,
        archive: &ZipSliceArchive<&[u8]>,
        name: &str,
        max: u64,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let what = format!("the member {name:?} of a zip archive");
        let Some((place, method)) = self.members.get(name) else {
            return Err(Error::bug(format!("{what} is not there")));
        };
        let entry = archive.get_entry(*place).map_err(|error| damaged(&what, error))?;
        let data = entry.data();
        match *method {
            CompressionMethod::STORE => bounded::append(entry.verifying_reader(data), max, &what, out),
            CompressionMethod::DEFLATE => {
                let inside = flate2::bufread::DeflateDecoder::new(data);
                bounded::append(entry.verifying_reader(inside), max, &what, out)
            }
            CompressionMethod::ZSTD => {
                let inside = zstd::stream::read::Decoder::with_buffer(data);
                let inside = inside.map_err(|error| damaged(&what, error))?;
                bounded::append(entry.verifying_reader(inside), max, &what, out)
            }
            other => Err(Error::unavailable(format!("{what} is packed by the unknown method {other:?}"))),
        }
    }
}

/// The rank of the sample whose member has this name.
fn rank(name: &str) -> Option<Rank> {
    let own = name.strip_prefix("samples/")?.strip_suffix(".json")?;
    let (id, epoch) = own.rsplit_once("_epoch_")?;
    let epoch = epoch.parse().ok()?;
    let number = id.bytes().all(|byte| byte.is_ascii_digit());
    Some((epoch, if number { format!("{id:0>20}") } else { id.to_owned() }))
}
