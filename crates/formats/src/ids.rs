//! Derived identifiers: UUIDs of version 8 over hashed parts, so that the same edit gives the same ids.

use strongroom_core::digest::Digest;

/// The UUID of version 8 derived from `parts` under `domain`.
pub(crate) fn derive(domain: &str, parts: &[&[u8]]) -> String {
    let digest = Digest::of_parts(domain, parts.iter().copied());
    let mut hex: String = digest.to_string();
    hex.truncate(32);
    let mut id = String::with_capacity(36);
    for (at, digit) in hex.chars().enumerate() {
        if matches!(at, 8 | 12 | 16 | 20) {
            id.push('-');
        }
        id.push(match at {
            12 => '8',
            16 => variant(digit),
            _ => digit,
        });
    }
    id
}

/// The digit with the two variant bits of RFC 9562.
fn variant(digit: char) -> char {
    let low = digit.to_digit(16).unwrap_or_default() & 3;
    char::from_digit(8 | low, 16).unwrap_or('8')
}

/// Whether `id` looks like a UUID of version 8.
pub(crate) fn is_derived(id: &str) -> bool {
    let bytes = id.as_bytes();
    bytes.len() == 36
        && bytes.get(14) == Some(&b'8')
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_ids_are_version_8_and_depend_on_every_part() {
        let id = derive("d", &[b"a", b"b"]);
        assert!(is_derived(&id), "{id}");
        assert!(matches!(id.as_bytes()[19], b'8' | b'9' | b'a' | b'b'), "{id}");
        assert_eq!(id, derive("d", &[b"a", b"b"]));
        assert_ne!(id, derive("d", &[b"ab", b""]));
        assert!(!is_derived("0b203ec7-3c7c-4729-a75f-7f51a8caf41e"));
    }
}
