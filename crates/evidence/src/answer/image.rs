//! Images and files by value: their size in pixels, their bytes and their hash, from the raw block.

use strongroom_core::digest::Digest;

/// What an attachment is, apart from its media type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    /// Width and height in pixels, of a PNG, JPEG, GIF or WebP.
    pub(super) pixels: Option<(u32, u32)>,
    /// The number of bytes.
    pub(super) len: usize,
    /// SHA-256 over the bytes.
    pub(super) hash: Digest,
}

impl Facts {
    /// Reads the base64 data in `raw`, the JSON of an attachment: the longest string in it.
    pub(super) fn read(raw: &str) -> Option<Self> {
        let data = longest_string(raw)?;
        let data = data.rsplit_once("base64,").map_or(data, |(_, data)| data);
        let bytes = decode(data)?;
        Some(Self { pixels: pixels(&bytes), len: bytes.len(), hash: Digest::of(&bytes) })
    }

    /// In words: pixels, bytes, hash.
    pub(super) fn words(&self) -> String {
        format!("{}, sha256 {}", self.size(), self.hash)
    }

    /// In words: pixels and bytes.
    pub(super) fn size(&self) -> String {
        let pixels =
            self.pixels.map(|(width, height)| format!("{width} x {height} pixels, ")).unwrap_or_default();
        format!("{pixels}{} bytes", self.len)
    }
}

fn longest_string(raw: &str) -> Option<&str> {
    // Base64 holds neither quotes nor backslashes, except `\/` of some writers.
    raw.split('"').max_by_key(|part| part.len()).filter(|part| part.len() >= 8)
}

/// Decodes base64, of either alphabet; `None` of anything else.
fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0u32);
    for byte in text.bytes().filter(|byte| !matches!(byte, b'\\' | b'\n' | b'\r' | b' ')) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return None,
        };
        held = held << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from(held >> bits & 0xFF).unwrap_or_default());
        }
    }
    (!out.is_empty()).then_some(out)
}

/// A reader of one kind of header.
type Header = fn(&[u8]) -> Option<(u32, u32)>;

const HEADERS: &[Header] = &[png, gif, webp, jpeg];

/// Width and height, where the header is one that is known.
fn pixels(bytes: &[u8]) -> Option<(u32, u32)> {
    HEADERS.iter().find_map(|read| read(bytes))
}

fn big(bytes: &[u8], at: usize, len: usize) -> Option<u32> {
    Some(bytes.get(at..at + len)?.iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte)))
}

fn little(bytes: &[u8], at: usize, len: usize) -> Option<u32> {
    Some(bytes.get(at..at + len)?.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte)))
}

fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    let header = bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.get(12..16) == Some(b"IHDR");
    if header { Some((big(bytes, 16, 4)?, big(bytes, 20, 4)?)) } else { None }
}

fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    let header = bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a");
    if header { Some((little(bytes, 6, 2)?, little(bytes, 8, 2)?)) } else { None }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    if !bytes.starts_with(b"RIFF") || bytes.get(8..12) != Some(b"WEBP") {
        return None;
    }
    match bytes.get(12..16)? {
        b"VP8 " => Some((little(bytes, 26, 2)? & 0x3FFF, little(bytes, 28, 2)? & 0x3FFF)),
        b"VP8L" => {
            let packed = little(bytes, 21, 4)?;
            Some(((packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1))
        }
        b"VP8X" => Some((little(bytes, 24, 3)? + 1, little(bytes, 27, 3)? + 1)),
        _ => None,
    }
}

/// Walks the segments up to the frame header.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    if !bytes.starts_with(&[0xFF, 0xD8]) {
        return None;
    }
    let mut at = 2;
    loop {
        let (mark, kind) = (*bytes.get(at)?, *bytes.get(at + 1)?);
        if mark != 0xFF {
            return None;
        }
        match kind {
            0xFF => at += 1,
            0x01 | 0xD0..=0xD8 => at += 2,
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                return Some((big(bytes, at + 7, 2)?, big(bytes, at + 5, 2)?));
            }
            _ => at += 2 + usize::try_from(big(bytes, at + 2, 2)?).ok()?,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headers_are_read() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x00\0\0\0\x40rest";
        let gif = b"GIF89a\x05\x00\x07\x00";
        let jpeg = b"\xFF\xD8\xFF\xE0\x00\x04ab\xFF\xC2\x00\x0B\x08\x00\x10\x00\x20";
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x10\x00\x20\x00";
        let lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x0f\xc0\x07\x00";
        let extended = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x0f\0\0\x1f\0\0";
        assert_eq!(pixels(png), Some((256, 64)));
        assert_eq!(pixels(gif), Some((5, 7)));
        assert_eq!(pixels(jpeg), Some((32, 16)));
        assert_eq!(pixels(lossy), Some((16, 32)));
        assert_eq!(pixels(lossless), Some((16, 32)));
        assert_eq!(pixels(extended), Some((16, 32)));
        assert_eq!(pixels(b"%PDF-1.7"), None);
    }

    #[test]
    fn data_is_found_in_either_form() {
        for raw in [
            r#"{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlhBQAHAA=="}}"#,
            r#"{"type":"input_image","image_url":"data:image/gif;base64,R0lGODlhBQAHAA=="}"#,
        ] {
            let facts = Facts::read(raw).unwrap();
            assert_eq!((facts.pixels, facts.len), (Some((5, 7)), 10));
            assert!(facts.words().starts_with("5 x 7 pixels, 10 bytes, sha256 "));
        }
        assert_eq!(Facts::read("{}"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_have_pixels_or_none(bytes in prop::collection::vec(any::<u8>(), 0..64), mark in 0usize..6) {
            let marks: [&[u8]; 6] = [b"", b"\xFF\xD8", b"RIFF\0\0\0\0WEBPVP8L", b"GIF89a", b"\x89PNG\r\n\x1a\n", b"RIFF\0\0\0\0WEBPVP8X"];
            let text = [marks[mark], &bytes].concat();
            let _ = pixels(&text);
            let _ = Facts::read(&String::from_utf8_lossy(&text));
        }
    }
}
