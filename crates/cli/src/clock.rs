//! The clock, read in one place.

use strongroom::time::Timestamp;

/// The present.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_ms(jiff::Timestamp::now().as_millisecond())
}

pub(crate) use strongroom::form::time_words as words;
