//! Instants and durations. No clock is read here: `now` is always an argument.

use std::ops::Add;

/// An instant, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The instant `ms` milliseconds after the epoch.
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the epoch.
    pub const fn as_ms(self) -> i64 {
        self.0
    }

    /// The day in UTC, as `2026-03-10`.
    pub fn day(self) -> String {
        let days = self.0.div_euclid(86_400_000) + DAYS_BEFORE_1970;
        let (era, of_era) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        // Months are counted from March, so that the leap day is the last of its year.
        let month_from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        format!("{year:04}-{month:02}-{day:02}")
    }
}

/// Days from the first of March of the year 0 to 1970-01-01.
const DAYS_BEFORE_1970: i64 = 719_468;

/// Days of 400 years, after which the calendar repeats.
const DAYS_PER_ERA: i64 = 146_097;

/// A length of time, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(i64);

impl Duration {
    /// `days` days of 24 hours.
    pub const fn from_days(days: i64) -> Self {
        Self(days.saturating_mul(86_400_000))
    }

    /// `ms` milliseconds.
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }

    /// The length in milliseconds.
    pub const fn as_ms(self) -> i64 {
        self.0
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        const DAY: i64 = 86_400_000;
        for (ms, day) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (951_782_399_999, "2000-02-28"),
            (951_782_400_000, "2000-02-29"),
            (951_782_400_000 + DAY, "2000-03-01"),
            (1_796_041_899_000, "2026-11-30"),
            (4_107_542_400_000, "2100-03-01"),
            (4_107_542_400_000 - DAY, "2100-02-28"),
        ] {
            assert_eq!(Timestamp::from_ms(ms).day(), day);
        }
        assert!(
            !Timestamp::from_ms(i64::MIN).day().is_empty() && !Timestamp::from_ms(i64::MAX).day().is_empty()
        );
    }
}
