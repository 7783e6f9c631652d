//! Places in a transcript: a record, the end, a compaction, a time.

use super::{Atom, Field, QueryError};
use strongroom_core::time::Timestamp;

/// A place that `at:`, `from:` and `to:` name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The record on this 1-based line; without lines, the record with this 1-based number.
    Record(u32),
    /// The end of the transcript.
    End,
    /// The compaction with this 1-based number.
    Compaction(u32),
    /// A time as precise as it was written: its first and last millisecond.
    Time(Timestamp, Timestamp),
}

impl Place {
    /// Reads the value of `field`.
    ///
    /// # Errors
    /// When `atom` is no place; the error shows the forms.
    pub fn read(field: Field, atom: &Atom, at: usize) -> Result<Self, QueryError> {
        let (Atom::Word(text) | Atom::Quoted(text)) = atom else { return Err(no_place(field, atom, at)) };
        Self::of_text(text).ok_or_else(|| no_place(field, atom, at))
    }

    fn of_text(text: &str) -> Option<Self> {
        if text == "end" {
            return Some(Self::End);
        }
        if let Some(number) = text.strip_prefix("compaction:") {
            return positive(number).map(Self::Compaction);
        }
        let digits = text.strip_prefix("record:").or_else(|| text.strip_prefix('L')).unwrap_or(text);
        positive(digits).map(Self::Record).or_else(|| time(text))
    }
}

fn no_place(field: Field, atom: &Atom, at: usize) -> QueryError {
    let word = field.word();
    let hint = format!(
        "write a record \"{word}:L12\", a time \"{word}:2026-03-10T09:00\", \"{word}:compaction:1\" or \"{word}:end\""
    );
    QueryError::new(format!("\"{word}:{atom}\" is no place"), at).hint(Some(hint))
}

fn positive(text: &str) -> Option<u32> {
    text.parse().ok().filter(|&n| n > 0 && text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `2026-03-10`, `2026-03-10T09:00`, with seconds and a zone where given; UTC otherwise.
fn time(text: &str) -> Option<Place> {
    let (date, clock) = match text.split_once(['T', ' ']) {
        Some((date, clock)) => (date, Some(clock)),
        None => (text, None),
    };
    let midnight = days(date)? * 86_400_000;
    let (first, length) = match clock {
        None => (midnight, 86_400_000),
        Some(clock) => {
            let (clock, zone) = split_zone(clock)?;
            let (ms, length) = clock_ms(clock)?;
            (midnight + ms - zone, length)
        }
    };
    Some(Place::Time(Timestamp::from_ms(first), Timestamp::from_ms(first + length - 1)))
}

/// Days since 1970-01-01 of a proleptic Gregorian date.
fn days(date: &str) -> Option<i64> {
    let mut parts = date.splitn(3, '-').map(number);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

fn number(text: &str) -> Option<i64> {
    let digits = text.len() <= 4 && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// The clock and the offset of its zone in milliseconds.
fn split_zone(clock: &str) -> Option<(&str, i64)> {
    if let Some(clock) = clock.strip_suffix('Z') {
        return Some((clock, 0));
    }
    let Some(at) = clock.rfind(['+', '-']) else { return Some((clock, 0)) };
    let (clock, zone) = clock.split_at_checked(at)?;
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    Some((clock, sign * (number(hours)? * 3_600_000 + number(minutes)? * 60_000)))
}

/// Milliseconds since midnight, and how long what was written lasts.
fn clock_ms(clock: &str) -> Option<(i64, i64)> {
    let mut parts = clock.splitn(3, ':');
    let (hours, minutes) = (number(parts.next()?)?, number(parts.next()?)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let ms = hours * 3_600_000 + minutes * 60_000;
    let Some(seconds) = parts.next() else { return Some((ms, 60_000)) };
    let (seconds, fraction) = match seconds.split_once('.') {
        Some((seconds, fraction)) => (seconds, Some(fraction)),
        None => (seconds, None),
    };
    let ms = ms + number(seconds).filter(|&seconds| seconds < 60)? * 1000;
    let Some(fraction) = fraction else { return Some((ms, 1000)) };
    let padded: String = fraction.chars().chain("000".chars()).take(3).collect();
    Some((ms + number(&padded)?, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(text: &str) -> (i64, i64) {
        match Place::of_text(text) {
            Some(Place::Time(first, last)) => (first.as_ms(), last.as_ms()),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn times_are_as_long_as_they_are_written() {
        assert_eq!(ms("1970-01-01"), (0, 86_399_999));
        assert_eq!(ms("2026-03-10T09:00:07.037Z"), (1_773_133_207_037, 1_773_133_207_037));
        assert_eq!(ms("2026-03-10T10:00:07.037+01:00").0, 1_773_133_207_037);
        assert_eq!(ms("2024-02-29T00:01"), (1_709_164_860_000, 1_709_164_919_999));
    }

    #[test]
    fn places_are_records_compactions_the_end_and_times_only() {
        assert_eq!(Place::of_text("L12"), Some(Place::Record(12)));
        assert_eq!(Place::of_text("12"), Some(Place::Record(12)));
        assert_eq!(Place::of_text("compaction:2"), Some(Place::Compaction(2)));
        for bad in
            ["", "L0", "0", "x", "compaction:x", "2026-13-01", "2026-01-01T25:00", "+5", "2026-03-10T0é"]
        {
            assert_eq!(Place::of_text(bad), None, "{bad}");
        }
    }
}
