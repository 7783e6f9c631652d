//! Files that hold one thing, compressed: told by how they begin, unpacked in memory and within a limit.

use strongroom_core::error::{Error, Result};
use strongroom_core::range::ByteRange;
use strongroom_core::transcript::Bytes;

use crate::{bounded, inspect};

/// The most bytes that a packed file may hold, and that may be read of it.
pub const UNPACKED_BYTES_MAX: u64 = 256 << 20;

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Zstd,
    Gzip,
    Zip,
}

/// How packed files begin.
const BEGINNINGS: [(&[u8], Packing); 3] =
    [(b"\x28\xB5\x2F\xFD", Packing::Zstd), (b"\x1F\x8B", Packing::Gzip), (b"PK\x03\x04", Packing::Zip)];

/// What is packed in `source`: of a compressed file its content, of a log of Inspect the document that the tool itself
/// would write for it. `None` of what is not packed, or in a way that no tool known here uses.
///
/// # Errors
/// `Unavailable` when it is damaged or holds more than [`UNPACKED_BYTES_MAX`], and as [`Bytes::read`].
pub fn unpacked(source: &dyn Bytes) -> Result<Option<Vec<u8>>> {
    let head = source.read(ByteRange::new(0, source.len().min(4)))?;
    let packing = BEGINNINGS.iter().find(|(begin, _)| head.starts_with(begin)).map(|(_, packing)| *packing);
    let Some(packing) = packing else { return Ok(None) };
    if source.len() > UNPACKED_BYTES_MAX {
        let message =
            format!("a packed file of {} bytes is over the limit of {UNPACKED_BYTES_MAX}", source.len());
        return Err(Error::unavailable(message));
    }
    let bytes = source.read(ByteRange::new(0, source.len()))?;
    let mut out = Vec::new();
    match packing {
        Packing::Zstd => {
            let damaged =
                |error| Error::unavailable("a zstd-compressed file cannot be unpacked").caused_by(error);
            let reader = zstd::stream::read::Decoder::with_buffer(bytes.as_ref()).map_err(damaged)?;
            bounded::append(reader, UNPACKED_BYTES_MAX, "a zstd-compressed file", &mut out)?;
        }
        Packing::Gzip => {
            let reader = flate2::bufread::MultiGzDecoder::new(bytes.as_ref());
            bounded::append(reader, UNPACKED_BYTES_MAX, "a gzip-compressed file", &mut out)?;
        }
        Packing::Zip => return inspect::document(&bytes, UNPACKED_BYTES_MAX),
    }
    Ok(Some(out))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;
    use rawzip::{CompressionMethod, ZipArchiveWriter};

    use super::*;

    /// An archive of these members, packed by `method`.
    fn zip(method: CompressionMethod, members: &[(&str, &str)]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut archive = ZipArchiveWriter::new(&mut out);
        for (name, text) in members {
            let (mut entry, config) = archive.new_file(*name).compression_method(method).start().unwrap();
            let packed = match method {
                CompressionMethod::ZSTD => zstd::bulk::compress(text.as_bytes(), 3).unwrap(),
                CompressionMethod::DEFLATE => {
                    let mut writer =
                        flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
                    writer.write_all(text.as_bytes()).unwrap();
                    writer.finish().unwrap()
                }
                _ => text.as_bytes().to_vec(),
            };
            let mut plain = config.wrap(std::io::sink());
            plain.write_all(text.as_bytes()).unwrap();
            let (_, descriptor) = plain.finish().unwrap();
            entry.write_all(&packed).unwrap();
            entry.finish(descriptor).unwrap();
        }
        archive.finish().unwrap();
        out
    }

    const LOG: [(&str, &str); 7] = [
        ("_journal/start.json", r#"{"version":2,"eval":{}}"#),
        ("samples/10_epoch_1.json", r#"{"id":10}"#),
        ("samples/2_epoch_1.json", r#"{"id":2}"#),
        ("samples/1_epoch_2.json", r#"{"id":1,"epoch":2}"#),
        ("summaries.json", "[]"),
        ("reductions.json", "[7]"),
        ("header.json", "{\n  \"version\": 2,\n  \"status\": \"success\"\n}\n"),
    ];

    const DOCUMENT: &str = "{\n  \"version\": 2,\n  \"status\": \"success\",\"samples\":[\n{\"id\":2},\n{\"id\":10},\n{\"id\":1,\"epoch\":2}\n],\"reductions\":[7]}";

    fn unpack(bytes: &[u8]) -> Result<Option<Vec<u8>>> {
        unpacked(&bytes.to_vec())
    }

    fn text(packed: &[u8]) -> String {
        String::from_utf8(unpack(packed).unwrap().unwrap()).unwrap()
    }

    #[test]
    fn a_log_of_inspect_becomes_its_document_by_each_method() {
        for method in [CompressionMethod::STORE, CompressionMethod::DEFLATE, CompressionMethod::ZSTD] {
            assert_eq!(text(&zip(method, &LOG)), DOCUMENT, "{method:?}");
        }
        let running = zip(CompressionMethod::ZSTD, &LOG[..2]);
        assert_eq!(text(&running), "{\"version\":2,\"eval\":{},\"samples\":[\n{\"id\":10}\n]}");
    }

    #[test]
    fn what_is_packed_otherwise_is_left_as_it_is_or_refused_by_name() {
        assert_eq!(unpack(b"{}").unwrap(), None);
        assert_eq!(unpack(&zip(CompressionMethod::STORE, &LOG[1..2])).unwrap(), None);
        let refused = |members: &[(&str, &str)]| {
            unpack(&zip(CompressionMethod::STORE, members)).unwrap_err().to_string()
        };
        let chunked = [("header.json", "{}"), ("samples/1_epoch_1/sample.json", "{}")];
        assert!(refused(&chunked).contains("samples/1_epoch_1/sample.json"), "{}", refused(&chunked));
        assert!(refused(&[("header.json", "[]")]).contains("header.json"));
        let mut sealed = zip(CompressionMethod::new(99), &LOG[6..]);
        assert!(unpack(&sealed).unwrap_err().to_string().contains("unknown method"));
        sealed.truncate(40);
        assert!(unpack(&sealed).is_err());
    }

    #[test]
    fn a_damaged_member_is_named() {
        let mut bytes = zip(CompressionMethod::STORE, &LOG);
        let at = bytes.windows(9).position(|window| window == br#"{"id":10}"#).unwrap();
        bytes[at + 2] = b'x';
        let error = unpack(&bytes).unwrap_err();
        assert!(error.to_string().contains("samples/10_epoch_1.json"), "{error}");
    }

    #[test]
    fn nothing_is_unpacked_beyond_the_limit() {
        let long = "0".repeat(1 << 16);
        for method in [CompressionMethod::DEFLATE, CompressionMethod::ZSTD] {
            let bytes = zip(method, &[("header.json", "{}"), ("samples/1_epoch_1.json", &long)]);
            assert!(bytes.len() < 1 << 10);
            let error = inspect::document(&bytes, 1 << 15).unwrap_err();
            assert!(error.to_string().contains("over the limit of 32768 bytes"), "{error}");
            assert!(inspect::document(&bytes, 1 << 17).is_ok());
        }
        let mut out = vec![1, 2];
        assert!(bounded::append(long.as_bytes(), 9, "it", &mut out).is_err());
        assert!(out.len() <= 10);
    }

    #[test]
    fn compressed_files_are_unpacked_whole() {
        let lines = "{\"type\":\"user\"}\n".repeat(50);
        let mut frames = zstd::bulk::compress(lines.as_bytes(), 3).unwrap();
        assert_eq!(text(&frames), lines);
        frames.extend(zstd::bulk::compress(b"more\n", 3).unwrap());
        assert_eq!(text(&frames), lines.clone() + "more\n");
        assert!(unpack(&frames[..frames.len() - 2]).is_err());
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(lines.as_bytes()).unwrap();
        let gzip = gzip.finish().unwrap();
        assert_eq!(text(&gzip), lines);
        assert!(unpack(&gzip[..gzip.len() - 9]).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn damage_is_no_panic_and_never_another_text(at in any::<prop::sample::Index>(), to in any::<u8>(), cut in any::<bool>()) {
            let mut bytes = zip(CompressionMethod::DEFLATE, &LOG);
            let at = at.index(bytes.len());
            bytes[at] = to;
            if cut {
                bytes.truncate(at);
            }
            if let Ok(Some(document)) = unpack(&bytes) {
                let document = String::from_utf8(document).unwrap();
                for line in document.lines().filter(|line| line.starts_with("{\"id\"")) {
                    prop_assert!(DOCUMENT.contains(line), "{line}");
                }
            }
        }
    }
}
