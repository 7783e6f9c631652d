//! The clock, read in one place.

use strongroom::time::Timestamp;

/// The present.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_ms(jiff::Timestamp::now().as_millisecond())
}

/// An instant as a date and time in UTC.
pub(crate) fn words(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.as_ms())
        .map_or_else(|_| format!("{} ms", at.as_ms()), |at| at.to_string())
}
