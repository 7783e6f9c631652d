//! How long somebody is waited for, and how much is read.

use std::time::{Duration, Instant};

/// The limits of one draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long it may take with everything, tries that fail included.
    pub total: Duration,
    /// How long nothing may come.
    pub idle: Duration,
    /// How long a connection may take.
    pub connect: Duration,
    /// How often it is tried.
    pub tries: u32,
    /// How long is waited before the second try; before each further one twice as long.
    pub pause: Duration,
    /// The longest reply, in bytes, with everything around the text.
    pub reply_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            total: Duration::from_mins(2),
            idle: Duration::from_mins(1),
            connect: Duration::from_secs(10),
            tries: 4,
            pause: Duration::from_millis(500),
            reply_bytes_max: 4 << 20,
        }
    }
}

/// The time that is left of a draft.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    start: Instant,
    total: Duration,
}

impl Deadline {
    pub(crate) fn of(limits: &Limits) -> Self {
        Self { start: Instant::now(), total: limits.total }
    }

    /// What is left; `None` when nothing is.
    pub(crate) fn left(self) -> Option<Duration> {
        self.total.checked_sub(self.start.elapsed()).filter(|left| !left.is_zero())
    }
}

/// How long is waited before the try behind `failed` ones.
pub(crate) fn pause(limits: &Limits, failed: u32) -> Duration {
    limits.pause.saturating_mul(1_u32.checked_shl(failed.saturating_sub(1)).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double() {
        let limits = Limits::default();
        let pauses: Vec<u128> = (1..4).map(|failed| pause(&limits, failed).as_millis()).collect();
        assert_eq!(pauses, [500, 1_000, 2_000]);
        assert!(pause(&limits, 99) > Duration::from_secs(1_000_000));
    }
}
