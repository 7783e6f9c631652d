//! Random bytes, in one place so that a test can choose them.

use strongroom_core::error::{Error, Result};

/// Bytes from the system's source of random numbers.
///
/// # Errors
/// `Unavailable` when the system gives none.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    #[cfg(test)]
    if crate::disk::simulated::fill(&mut bytes) {
        return Ok(bytes);
    }
    let failed =
        |error: getrandom::Error| Error::unavailable("the system gives no random bytes").caused_by(error);
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(bytes)
}
