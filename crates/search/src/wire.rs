//! Numbers and texts in as few bytes as they need; for segments, and for the notes of whoever makes them.

/// Appends `value`, seven bits to a byte, the lowest first.
pub fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7f) as u8);
}

/// Takes a number from the front of `bytes`; `None` where none stands there.
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Appends bytes with their number.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, u64::try_from(bytes.len()).unwrap_or(u64::MAX));
    out.extend_from_slice(bytes);
}

/// Takes bytes with their number from the front of `bytes`; `None` where there are not as many.
pub fn take_bytes<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let len = usize::try_from(take(bytes)?).ok()?;
    let (own, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(own)
}

/// Takes a number of 32 bits that stands in four bytes.
pub(crate) fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    let (own, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*own))
}
