//! Normal forms of numbers, quantities and times. Values are exact decimals, never floating point.

use std::sync::LazyLock;

use super::words::Words;

/// Units with the base unit and the factor to it, as a fraction.
const UNITS: &[(&[&str], &str, u64, u64)] = &[
    (&["ns", "nanosecond", "nanoseconds"], "ns", 1, 1),
    (&["us", "µs", "microsecond", "microseconds"], "ns", 1_000, 1),
    (&["ms", "msec", "millisecond", "milliseconds"], "ns", 1_000_000, 1),
    (&["s", "sec", "secs", "second", "seconds"], "ns", 1_000_000_000, 1),
    (&["m", "min", "mins", "minute", "minutes"], "ns", 60_000_000_000, 1),
    (&["h", "hr", "hrs", "hour", "hours"], "ns", 3_600_000_000_000, 1),
    (&["d", "day", "days"], "ns", 86_400_000_000_000, 1),
    (&["week", "weeks"], "ns", 604_800_000_000_000, 1),
    (&["month", "months"], "month", 1, 1),
    (&["year", "years", "yr", "yrs"], "month", 12, 1),
    (&["bit", "bits"], "bit", 1, 1),
    (&["b", "byte", "bytes"], "bit", 8, 1),
    (&["kb", "kilobyte", "kilobytes"], "bit", 8_000, 1),
    (&["mb", "megabyte", "megabytes"], "bit", 8_000_000, 1),
    (&["gb", "gigabyte", "gigabytes"], "bit", 8_000_000_000, 1),
    (&["tb", "terabyte", "terabytes"], "bit", 8_000_000_000_000, 1),
    (&["kib", "ki"], "bit", 8_192, 1),
    (&["mib", "mi"], "bit", 8_388_608, 1),
    (&["gib", "gi"], "bit", 8_589_934_592, 1),
    (&["tib", "ti"], "bit", 8_796_093_022_208, 1),
    (&["%", "percent"], "%", 1, 1),
    (&["px"], "px", 1, 1),
    (&["hz"], "hz", 1, 1),
    (&["khz"], "hz", 1_000, 1),
    (&["mhz"], "hz", 1_000_000, 1),
    (&["ghz"], "hz", 1_000_000_000, 1),
    (&["mm"], "mm", 1, 1),
    (&["cm"], "mm", 10, 1),
    (&["km"], "mm", 1_000_000, 1),
    (&["mg"], "mg", 1, 1),
    (&["g"], "mg", 1_000, 1),
    (&["kg"], "mg", 1_000_000, 1),
    (&["x", "×"], "x", 1, 1),
    (&["token", "tokens"], "token", 1, 1),
    (&["line", "lines"], "line", 1, 1),
    (&["file", "files"], "file", 1, 1),
    (&["test", "tests"], "test", 1, 1),
    (&["error", "errors"], "error", 1, 1),
    (&["warning", "warnings"], "warning", 1, 1),
    (&["row", "rows"], "row", 1, 1),
    (&["item", "items"], "item", 1, 1),
    (&["commit", "commits"], "commit", 1, 1),
    (&["$", "usd", "dollar", "dollars"], "usd", 1, 1),
    (&["€", "eur", "euro", "euros"], "eur", 1, 1),
    (&["£", "gbp", "pound", "pounds"], "gbp", 1, 1),
    (&["rpm"], "rpm", 1, 1),
    (&["qps", "rps", "req/s"], "req/s", 1, 1),
    (&["°c"], "°c", 1, 1),
];

static UNIT: LazyLock<Words> = LazyLock::new(|| {
    let names = UNITS.iter().zip(0..).flat_map(|(unit, at)| unit.0.iter().map(move |name| (*name, at)));
    Words::new(names)
});

fn unit(word: &str) -> Option<(&'static str, u64, u64)> {
    // `M` is not `m`: single capitals are no units.
    if word.len() == 1 && word.starts_with(|char: char| char.is_ascii_uppercase()) && word != "B" {
        return None;
    }
    let (_, base, times, over) = UNITS.get(usize::from(UNIT.get(word.as_bytes())?))?;
    Some((*base, *times, *over))
}

/// Whether `word` names a unit.
pub(super) fn is_unit(word: &str) -> bool {
    word.len() <= 12 && unit(word).is_some()
}

/// Full-width digits and no-break spaces to their plain forms.
fn plain(text: &str) -> String {
    text.chars()
        .map(|char| match char {
            '０'..='９' => {
                char::from_u32(u32::from(char) - u32::from('０') + u32::from('0')).unwrap_or(char)
            }
            '\u{a0}' | '\u{202f}' | '\u{2009}' => ' ',
            '−' => '-',
            _ => char,
        })
        .collect()
}

/// The number without grouping; its precision is kept, so `3.10` and `3.1` differ.
pub(super) fn number_norm(text: &str) -> String {
    let text = plain(text);
    let (sign, digits) = match text.strip_prefix(['+', '-']) {
        Some(rest) if text.starts_with('-') => ("-", rest),
        Some(rest) => ("", rest),
        None => ("", text.as_str()),
    };
    let groups: Vec<&str> = digits.split([',', '_', ' ']).collect();
    let grouped = groups.len() > 1
        && groups
            .first()
            .is_some_and(|first| (1..=3).contains(&first.len()) && first.bytes().all(|b| b.is_ascii_digit()))
        && groups.iter().skip(1).all(|group| {
            let whole = group.split('.').next().unwrap_or_default();
            whole.len() == 3 && whole.bytes().all(|byte| byte.is_ascii_digit())
        });
    let joined = if grouped { groups.concat() } else { digits.to_owned() };
    format!("{sign}{joined}")
}

/// Value times unit in the base unit, exact; a unit that is not known stays as written.
pub(super) fn quantity_norm(text: &str) -> String {
    let text = plain(text.trim());
    let (prefix, rest) = match text.chars().next() {
        Some(char @ ('$' | '€' | '£')) => {
            (Some(char.to_string()), text.get(char.len_utf8()..).unwrap_or_default())
        }
        _ => (None, text.as_str()),
    };
    let end = rest
        .char_indices()
        .find(|(at, char)| {
            !(char.is_ascii_digit()
                || matches!(char, '.' | ',' | '_')
                || (*at == 0 && matches!(char, '-' | '+')))
        })
        .map_or(rest.len(), |(at, _)| at);
    let (value, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let word = prefix.unwrap_or_else(|| behind.trim().to_owned());
    let value = number_norm(value.trim_end_matches(','));
    let scaled =
        unit(&word).and_then(|(base, times, _)| Some(format!("{} {base}", multiply(&value, times)?)));
    scaled.unwrap_or_else(|| format!("{value} {word}").trim().to_owned())
}

/// `value` times `factor` as a decimal without trailing zeros.
fn multiply(value: &str, factor: u64) -> Option<String> {
    let (sign, value) = value.strip_prefix('-').map_or(("", value), |rest| ("-", rest));
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    if whole.len() + fraction.len() > 18 || whole.is_empty() {
        return None;
    }
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let product = digits.checked_mul(u128::from(factor))?;
    let scale = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let rest = format!("{:0width$}", product % scale, width = fraction.len());
    let rest = if fraction.is_empty() { "" } else { rest.trim_end_matches('0') };
    let point = if rest.is_empty() { "" } else { "." };
    Some(format!("{sign}{}{point}{rest}", product / scale))
}

/// `02:00 PM` as `14:00`; dates and instants as written, with `T` between date and time.
pub(super) fn time_norm(text: &str) -> String {
    let text = plain(text.trim());
    let lower = text.to_ascii_lowercase();
    let half = [("am", 0u32), ("pm", 12)].into_iter().find(|(word, _)| lower.ends_with(word));
    if let Some((word, add)) = half {
        let clock = lower.trim_end_matches(word).trim();
        let (hour, rest) = clock.split_once(':').unwrap_or((clock, "00"));
        if let Some(hour) = hour.parse::<u32>().ok().filter(|hour| (1..=12).contains(hour)) {
            return format!("{:02}:{rest}", hour % 12 + add);
        }
    }
    match text.as_bytes().get(10) {
        Some(b' ') if text.is_char_boundary(10) => text.replacen(' ', "T", 1),
        _ => text,
    }
}
