//! Normal forms of numbers, quantities and times. Values are exact decimals, never floating point.

use std::sync::LazyLock;

use super::words::Words;

/// Units and counted nouns with the base unit and the factor to it.
#[rustfmt::skip]
const UNITS: &[(&[&str], &str, u64)] = &[
    (&["ns", "nanosecond", "nanoseconds"], "ns", 1),
    (&["us", "µs", "μs", "microsecond", "microseconds"], "ns", 1_000),
    (&["ms", "msec", "millisecond", "milliseconds", "毫秒", "ミリ秒"], "ns", 1_000_000),
    (&["s", "sec", "secs", "second", "seconds", "秒", "秒钟", "초"], "ns", 1_000_000_000),
    (&["m", "min", "mins", "minute", "minutes", "分钟", "分鐘", "분"], "ns", 60_000_000_000),
    (&["h", "hr", "hrs", "hour", "hours", "小时", "小時", "時間", "시간"], "ns", 3_600_000_000_000),
    (&["d", "day", "days", "天"], "ns", 86_400_000_000_000),
    (&["week", "weeks", "周", "週間"], "ns", 604_800_000_000_000),
    (&["month", "months", "个月", "個月", "ヶ月"], "month", 1),
    (&["year", "years", "yr", "yrs"], "month", 12),
    (&["decade", "decades"], "month", 120),
    (&["bit", "bits"], "bit", 1),
    (&["b", "byte", "bytes"], "bit", 8),
    (&["kb", "kilobyte", "kilobytes"], "bit", 8_000),
    (&["mb", "megabyte", "megabytes"], "bit", 8_000_000),
    (&["gb", "gigabyte", "gigabytes"], "bit", 8_000_000_000),
    (&["tb", "terabyte", "terabytes"], "bit", 8_000_000_000_000),
    (&["pb", "petabyte", "petabytes"], "bit", 8_000_000_000_000_000),
    (&["kib", "ki", "kibibyte", "kibibytes"], "bit", 8_192),
    (&["mib", "mi", "mebibyte", "mebibytes"], "bit", 8_388_608),
    (&["gib", "gi", "gibibyte", "gibibytes"], "bit", 8_589_934_592),
    (&["tib", "ti", "tebibyte", "tebibytes"], "bit", 8_796_093_022_208),
    (&["kbit", "kilobit", "kilobits"], "bit", 1_000),
    (&["mbit", "megabit", "megabits"], "bit", 1_000_000),
    (&["gbit", "gigabit", "gigabits"], "bit", 1_000_000_000),
    (&["bps"], "bit/s", 1),
    (&["kbps"], "bit/s", 1_000),
    (&["mbps"], "bit/s", 1_000_000),
    (&["gbps"], "bit/s", 1_000_000_000),
    (&["%", "percent", "pct"], "%", 1),
    (&["px", "pixel", "pixels"], "px", 1),
    (&["hz", "hertz"], "hz", 1),
    (&["khz"], "hz", 1_000),
    (&["mhz"], "hz", 1_000_000),
    (&["ghz"], "hz", 1_000_000_000),
    (&["mm", "millimeter", "millimeters", "millimetres"], "mm", 1),
    (&["cm", "centimeter", "centimeters", "centimetres"], "mm", 10),
    (&["meter", "meters", "metre", "metres"], "mm", 1_000),
    (&["km", "kilometer", "kilometers", "kilometre", "kilometres"], "mm", 1_000_000),
    (&["inch", "inches"], "inch", 1),
    (&["ft", "foot", "feet"], "inch", 12),
    (&["yard", "yards"], "inch", 36),
    (&["mile", "miles"], "inch", 63_360),
    (&["mg", "milligram", "milligrams"], "mg", 1),
    (&["g", "gram", "grams"], "mg", 1_000),
    (&["kg", "kilogram", "kilograms"], "mg", 1_000_000),
    (&["ton", "tons", "tonne", "tonnes"], "ton", 1),
    (&["oz", "ounce", "ounces"], "oz", 1),
    (&["lb", "lbs"], "oz", 16),
    (&["gallon", "gallons"], "gallon", 1),
    (&["liter", "liters", "litre", "litres"], "ml", 1_000),
    (&["acre", "acres"], "acre", 1),
    (&["ml", "milliliter", "milliliters"], "ml", 1),
    (&["dl"], "ml", 100),
    (&["dm"], "mm", 100),
    (&["barrel", "barrels"], "barrel", 1),
    (&["cup", "cups"], "cup", 1),
    (&["kph", "kmph"], "kmh", 1),
    (&["°", "deg", "degree", "degrees"], "°", 1),
    (&["mph"], "mph", 1),
    (&["kmh"], "kmh", 1),
    (&["°c", "celsius", "centigrade"], "°c", 1),
    (&["°f", "fahrenheit"], "°f", 1),
    (&["x", "×"], "x", 1),
    (&["time", "times", "次"], "time", 1),
    (&["dozen", "dozens"], "item", 12),
    (&["$", "usd", "dollar", "dollars"], "usd", 1),
    (&["cent", "cents"], "cent", 1),
    (&["€", "eur", "euro", "euros"], "eur", 1),
    (&["£", "gbp", "pound", "pounds"], "gbp", 1),
    (&["¥", "jpy", "yen"], "jpy", 1),
    (&["cny", "rmb", "yuan"], "cny", 1),
    (&["inr", "rupee", "rupees"], "inr", 1),
    (&["rpm"], "rpm", 1),
    (&["fps"], "fps", 1),
    (&["qps", "rps", "req/s"], "req/s", 1),
    (&["token", "tokens"], "token", 1),
    (&["line", "lines", "行"], "line", 1),
    (&["file", "files"], "file", 1),
    (&["test", "tests"], "test", 1),
    (&["error", "errors"], "error", 1),
    (&["warning", "warnings"], "warning", 1),
    (&["row", "rows"], "row", 1),
    (&["item", "items", "个", "個", "件", "项"], "item", 1),
    (&["commit", "commits"], "commit", 1),
    (&["step", "steps"], "step", 1),
    (&["page", "pages"], "page", 1),
    (&["char", "chars"], "character", 1),
    (&["word", "words"], "word", 1),
    (&["message", "messages"], "message", 1),
    (&["record", "records"], "record", 1),
    (&["span", "spans"], "span", 1),
    (&["function", "functions"], "function", 1),
    (&["failure", "failures"], "failure", 1),
    (&["attempt", "attempts"], "attempt", 1),
    (&["session", "sessions"], "session", 1),
    (&["core", "cores"], "core", 1),
    (&["cpu", "cpus"], "cpu", 1),
    (&["gpu", "gpus"], "gpu", 1),
    (&["thread", "threads"], "thread", 1),
    (&["worker", "workers"], "worker", 1),
    (&["node", "nodes"], "node", 1),
    (&["replica", "replicas"], "replica", 1),
    (&["container", "containers"], "container", 1),
    (&["pod", "pods"], "pod", 1),
    (&["image", "images"], "image", 1),
    (&["package", "packages"], "package", 1),
    (&["crate", "crates"], "crate", 1),
    (&["module", "modules"], "module", 1),
    (&["method", "methods"], "method", 1),
    (&["column", "columns"], "column", 1),
    (&["table", "tables"], "table", 1),
    (&["key", "keys"], "key", 1),
    (&["event", "events"], "event", 1),
    (&["issue", "issues"], "issue", 1),
    (&["change", "changes"], "change", 1),
    (&["insertion", "insertions"], "insertion", 1),
    (&["deletion", "deletions"], "deletion", 1),
    (&["point", "points"], "point", 1),
    (&["case", "cases"], "case", 1),
    (&["question", "questions"], "question", 1),
    (&["example", "examples"], "example", 1),
    (&["user", "users"], "user", 1),
    (&["request", "requests"], "request", 1),
    (&["call", "calls"], "call", 1),
    (&["vote", "votes"], "vote", 1),
    (&["job", "jobs"], "job", 1),
    (&["task", "tasks"], "task", 1),
    (&["result", "results"], "result", 1),
    (&["passed"], "passed", 1),
    (&["failed"], "failed", 1),
    (&["skipped"], "skipped", 1),
    (&["ignored"], "ignored", 1),
    (&["run", "runs"], "run", 1),
    (&["retry", "retries"], "retry", 1),
    (&["entry", "entries"], "entry", 1),
    (&["query", "queries"], "query", 1),
    (&["dependency", "dependencies"], "dependency", 1),
    (&["branch", "branches"], "branch", 1),
    (&["match", "matches"], "match", 1),
    (&["batch", "batches"], "batch", 1),
    (&["class", "classes"], "class", 1),
    (&["character", "characters"], "character", 1),
];

/// Words for numbers, and words that multiply the number before them.
#[rustfmt::skip]
const NUMERALS: &[(&str, u16)] = &[
    ("one", 1), ("two", 2), ("three", 3), ("four", 4), ("five", 5), ("six", 6), ("seven", 7), ("eight", 8), ("nine", 9), ("ten", 10), ("eleven", 11), ("twelve", 12),
];
#[rustfmt::skip]
const SCALES: &[(&str, u64)] = &[
    ("dozen", 12), ("dozens", 12), ("hundred", 100), ("thousand", 1_000), ("million", 1_000_000), ("billion", 1_000_000_000), ("trillion", 1_000_000_000_000),
    ("十", 10), ("百", 100), ("千", 1_000), ("万", 10_000), ("萬", 10_000), ("亿", 100_000_000), ("億", 100_000_000), ("만", 10_000),
];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// Days that are named as seen from the day of the text; symbolic without its time.
const RELATIVE: &[&str] = &["yesterday", "today", "tomorrow", "tonight"];

static UNIT: LazyLock<Words> = LazyLock::new(|| {
    let names = UNITS.iter().zip(0..).flat_map(|(unit, at)| unit.0.iter().map(move |name| (*name, at)));
    Words::new(names)
});

fn unit(word: &str) -> Option<(&'static str, u64)> {
    // `M` is not `m`: single capitals are no units.
    if word.len() == 1 && word.starts_with(|char: char| char.is_ascii_uppercase()) && word != "B" {
        return None;
    }
    let (_, base, times) = UNITS.get(usize::from(UNIT.get(word.as_bytes())?))?;
    Some((*base, *times))
}

/// Whether `word` names a unit.
pub(super) fn is_unit(word: &str) -> bool {
    unit(word).is_some()
}

/// The length of the unit or scale of a script without blanks at the start of `text`.
pub(super) fn wide_unit(text: &str) -> Option<usize> {
    let mut ends = text.char_indices().skip(1).map(|(at, _)| at).chain([text.len()]).take(3);
    let mut longest = None;
    while let Some(end) =
        ends.next().filter(|end| text.as_bytes().first().is_some_and(|b| *b >= 0xE3) && *end > 0)
    {
        let own = text.get(..end).unwrap_or_default();
        if is_unit(own) || scale(own).is_some() {
            longest = Some(end);
        }
    }
    longest
}

fn scale(word: &str) -> Option<u64> {
    SCALES.iter().find(|(own, _)| word.eq_ignore_ascii_case(own)).map(|(_, times)| *times)
}

/// Whether `word` multiplies the number before it.
pub(super) fn is_scale(word: &str) -> bool {
    scale(word).is_some()
}

/// What an ordinary word is to numbers and times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelled {
    /// A number up to twelve.
    Numeral,
    /// A month.
    Month,
    /// A day named as seen from the day of the text.
    Relative,
}

static SPELLED: LazyLock<Words> = LazyLock::new(|| {
    let numerals = NUMERALS.iter().map(|(word, value)| (*word, *value));
    let months = MONTHS
        .iter()
        .zip(101..)
        .flat_map(|(name, month)| [(*name, month), (name.get(..3).unwrap_or(name), month)]);
    let relative = RELATIVE.iter().map(|word| (*word, 200));
    Words::new(numerals.chain(months).chain([("sept", 109)]).chain(relative))
});

/// What an ordinary word is to numbers and times; most words are told by their first letter.
pub(super) fn spelled(word: &[u8]) -> Option<Spelled> {
    let first = word.first()? | 0x20;
    if !(3..=9).contains(&word.len()) || !b"otfsenjmayd".contains(&first) {
        return None;
    }
    match SPELLED.get(word)? {
        1..=12 => Some(Spelled::Numeral),
        101..=112 => Some(Spelled::Month),
        _ => Some(Spelled::Relative),
    }
}

fn month(word: &str) -> Option<u16> {
    SPELLED
        .get(word.trim_end_matches('.').as_bytes())
        .filter(|own| (101..=112).contains(own))
        .map(|own| own - 100)
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

/// The number without grouping and exponent; its precision is kept, so `3.10` and `3.1` differ.
pub(super) fn number_norm(text: &str) -> String {
    let text = plain(text.trim());
    let (mark, text) = approximate(&text);
    let (digits, behind) = split_value(text);
    let joined = ungrouped(digits);
    match scaled(&joined, behind) {
        (value, "") => format!("{mark}{value}"),
        _ => format!("{mark}{text}"),
    }
}

/// The mark of an approximate value, and the rest.
fn approximate(text: &str) -> (&'static str, &str) {
    text.strip_prefix(['~', '≈']).map_or(("", text), |rest| ("~", rest.trim_start()))
}

/// A number in digits, and what is behind it.
fn split_value(text: &str) -> (&str, &str) {
    let inside = |(at, char): &(usize, char)| {
        char.is_ascii_digit()
            || matches!(char, '.' | ',' | '_')
            || (*at == 0 && matches!(char, '-' | '+'))
            || (*char == ' '
                && text
                    .as_bytes()
                    .get(at + 1..at + 4)
                    .is_some_and(|three| three.iter().all(u8::is_ascii_digit)))
    };
    let end = text.char_indices().find(|next| !inside(next)).map_or(text.len(), |(at, _)| at);
    let exponent = text.get(end..).and_then(|rest| rest.strip_prefix(['e', 'E']));
    let digits = exponent.map(|rest| rest.trim_start_matches(['+', '-'])).map_or(0, |rest| {
        if !rest.is_empty() && rest.len() <= 3 && rest.bytes().all(|byte| byte.is_ascii_digit()) {
            rest.len()
        } else {
            0
        }
    });
    let end = if digits > 0 { text.len() } else { end };
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Digits without grouping and sign of plus, and without an exponent where the value stays short.
fn ungrouped(text: &str) -> String {
    let (sign, digits) = match text.strip_prefix(['+', '-']) {
        Some(rest) if text.starts_with('-') => ("-", rest),
        Some(rest) => ("", rest),
        None => ("", text),
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
    let power = joined.split_once(['e', 'E']).and_then(|(value, power)| {
        let power: u32 = power.trim_start_matches('+').parse().ok().filter(|power| *power <= 18)?;
        multiply(value, 10u128.checked_pow(power)?)
    });
    format!("{sign}{}", power.unwrap_or(joined))
}

/// The value times the scale words behind it, and what is behind those.
fn scaled<'t>(value: &str, behind: &'t str) -> (String, &'t str) {
    let (mut value, mut rest) = (value.to_owned(), behind);
    loop {
        let own = rest.trim_start_matches([' ', '-']);
        let wide = own.as_bytes().first().is_some_and(|byte| *byte >= 0xE3);
        let end = if wide {
            own.chars().next().map_or(0, char::len_utf8)
        } else {
            own.find(|char: char| !char.is_ascii_alphabetic()).unwrap_or(own.len())
        };
        let (word, behind) = own.split_at_checked(end).unwrap_or((own, ""));
        match scale(word).and_then(|times| multiply(&value, u128::from(times))) {
            Some(times) => (value, rest) = (times, behind),
            None => return (value, rest),
        }
    }
}

/// Value times unit in the base unit, exact; a unit that is not known stays as written. Ranges are `a..b`.
pub(super) fn quantity_norm(text: &str) -> String {
    let text = plain(text.trim());
    let (mark, text) = approximate(&text);
    let (prefix, rest) = match text.chars().next() {
        Some(char @ ('$' | '€' | '£' | '¥')) => {
            (Some(char.to_string()), text.get(char.len_utf8()..).unwrap_or_default().trim_start())
        }
        _ => (None, text),
    };
    let numeral = NUMERALS.iter().find_map(|(word, value)| {
        let behind = rest.get(word.len()..).filter(|behind| behind.starts_with([' ', '-']))?;
        rest.get(..word.len())?.eq_ignore_ascii_case(word).then_some((value.to_string(), behind))
    });
    let (first, behind) = numeral.unwrap_or_else(|| {
        let (value, behind) = split_range(rest);
        (ungrouped(value.trim_end_matches(',')), behind)
    });
    let second = behind.strip_prefix("..").or_else(|| behind.strip_prefix(['-', '–'])).map(split_value);
    let second = second.filter(|(value, _)| value.starts_with(|char: char| char.is_ascii_digit()));
    let (second, behind) = second.map_or((None, behind), |(value, behind)| (Some(ungrouped(value)), behind));
    let (value, behind) = scaled(&first, behind);
    let word = prefix.unwrap_or_else(|| unit_word(behind));
    let base = |value: &str| match unit(&word) {
        Some((_, times)) => multiply(value, u128::from(times)),
        None => Some(value.to_owned()),
    };
    let name = unit(&word).map_or(word.as_str(), |(name, _)| name);
    let values = match second {
        Some(second) => base(&value).zip(base(&second)).map(|(one, two)| format!("{one}..{two}")),
        None => base(&value),
    };
    values
        .map_or_else(|| format!("{mark}{value} {word}"), |value| format!("{mark}{value} {name}"))
        .trim()
        .to_owned()
}

/// The unit behind a value; degrees with their scale as one word.
fn unit_word(behind: &str) -> String {
    let word = behind.trim_start_matches('-').trim();
    let scale =
        ["degrees", "degree", "deg", "°"].iter().find_map(|own| word.strip_prefix(own)).map(str::trim);
    match scale.map(str::to_ascii_lowercase).as_deref() {
        Some("c" | "celsius" | "centigrade") => "°c".to_owned(),
        Some("f" | "fahrenheit") => "°f".to_owned(),
        _ => word.to_owned(),
    }
}

/// The first value of a range, or the value.
fn split_range(text: &str) -> (&str, &str) {
    match text.find("..") {
        Some(at)
            if text
                .get(..at)
                .is_some_and(|head| head.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')) =>
        {
            text.split_at_checked(at).unwrap_or((text, ""))
        }
        _ => split_value(text),
    }
}

/// `value` times `factor` as a decimal without trailing zeros.
fn multiply(value: &str, factor: u128) -> Option<String> {
    let (sign, value) = value.strip_prefix('-').map_or(("", value), |rest| ("-", rest));
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    if whole.len() + fraction.len() > 18 || whole.is_empty() {
        return None;
    }
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let product = digits.checked_mul(factor)?;
    let scale = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let rest = format!("{:0width$}", product % scale, width = fraction.len());
    let rest = if fraction.is_empty() { "" } else { rest.trim_end_matches('0') };
    let point = if rest.is_empty() { "" } else { "." };
    Some(format!("{sign}{}{point}{rest}", product / scale))
}

/// `4 Jan 2019`, `January 4th, 2019`, `2019年1月4日` as `2019-01-04`; `--01-04` without a year, `2019-01` without a day.
fn named_date(text: &str) -> Option<String> {
    let parts = text.split([' ', ',', '年', '月', '日']).filter(|part| !part.is_empty());
    let (mut day, mut named, mut year) = (None, None, None);
    for part in parts {
        let digits = part.trim_end_matches(|char: char| char.is_ascii_alphabetic());
        if let Some(own) = month(part) {
            named = Some(own);
        } else if digits.len() == 4 {
            year = digits.parse::<u16>().ok();
        } else if named.is_none() && text.contains('月') && year.is_some() {
            named = digits.parse().ok().filter(|own| (1..=12).contains(own));
        } else {
            day = digits.parse::<u16>().ok().filter(|day| (1..=31).contains(day));
        }
    }
    let month = named?;
    match (year, day) {
        (Some(year), Some(day)) => Some(format!("{year:04}-{month:02}-{day:02}")),
        (Some(year), None) => Some(format!("{year:04}-{month:02}")),
        (None, Some(day)) => Some(format!("--{month:02}-{day:02}")),
        (None, None) => None,
    }
}

/// `02:00 PM` as `14:00`; dates with a named month as numbers; others as written, with `T` between date and time.
pub(super) fn time_norm(text: &str) -> String {
    let text = plain(text.trim());
    let lower = text.to_ascii_lowercase();
    if RELATIVE.contains(&lower.as_str()) {
        return lower;
    }
    let worded = text.contains('月') || lower.bytes().any(|byte| byte.is_ascii_alphabetic());
    if let Some(date) = worded.then(|| named_date(&text)).flatten() {
        return date;
    }
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
