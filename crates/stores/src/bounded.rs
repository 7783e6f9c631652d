//! Reading what somebody else has compressed, and no more of it than was allowed.

use std::io::Read;

use strongroom_core::error::{Error, Result};

/// Appends everything that `reader` gives to `out`, at most until `out` holds `max` bytes.
///
/// # Errors
/// `Unavailable`, naming `what`, when there is more, or when it cannot be read.
pub(crate) fn append(reader: impl Read, max: u64, what: &str, out: &mut Vec<u8>) -> Result<()> {
    let held = u64::try_from(out.len()).unwrap_or(u64::MAX);
    let room = max.saturating_sub(held);
    let read = reader.take(room.saturating_add(1)).read_to_end(out);
    let read =
        read.map_err(|error| Error::unavailable(format!("{what} cannot be unpacked")).caused_by(error))?;
    if u64::try_from(read).unwrap_or(u64::MAX) > room {
        return Err(Error::unavailable(format!("{what} is over the limit of {max} bytes unpacked")));
    }
    Ok(())
}
