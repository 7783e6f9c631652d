//! Measures exact search over an archive of the transcripts below a directory, and checks every answer against reading
//! everything.
//!
//! The transcripts are taken in again and again, digits of long ids changed each time, until there is as much as asked
//! for. Needles of every class are drawn with a fixed seed; the first hits of each are compared with those of a scan over
//! all decoded texts, and so are those of as many random substrings as asked for.
//!
//! `cargo run --release -p strongroom --example search_speed -- DIR WORK [MEGABYTES [SUBSTRINGS]]`
#![expect(clippy::print_stdout, reason = "a measurement is printed")]
#![expect(clippy::cast_precision_loss, reason = "measurements for people")]
#![allow(clippy::indexing_slicing, clippy::string_slice, reason = "a failed measurement may stop")]

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use aho_corasick::AhoCorasick;
use strongroom::answer::secrets_in;
use strongroom::archive::{Archive, Mode};
use strongroom::import::{ImportOptions, Recheck, import, transcripts};
use strongroom::policy::Policy;
use strongroom::reading::contents;
use strongroom::search::{Found, Question, Searcher, bring_up_to_date};
use strongroom::time::Timestamp;
use strongroom::transcript::Transcript;
use strongroom_core::transcript::Scalar;
use testkit::dice::Dice;

type Measured<T> = Result<T, Box<dyn Error>>;

/// How many needles of each class are timed.
const PER_CLASS: usize = 100;

/// How many hits are asked for.
const FIRST: usize = 20;

fn main() -> Measured<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(from), Some(work)) = (arguments.first(), arguments.get(1)) else {
        return Err("usage: search_speed DIR WORK [MEGABYTES [SUBSTRINGS]]".into());
    };
    let number = |at: usize, usual: u64| arguments.get(at).map_or(Ok(usual), |text| text.parse::<u64>());
    let (megabytes, substrings) = (number(2, 1000)?, usize::try_from(number(3, 100_000)?)?);
    let work = Path::new(work);
    let files = multiplied(Path::new(from), &work.join("transcripts"), megabytes * 1_000_000)?;
    let archive = Archive::open(&work.join("archive"), Mode::CreateIfMissing)?;
    let bytes = taken_in(&archive, &work.join("transcripts"), files)?;
    let start = Instant::now();
    let searcher = Searcher::open(&archive)?;
    let index = searcher.index_bytes() as f64;
    println!(
        "index          {:.1} MB, {:.4} of raw; opened in {:.0} ms",
        index / 1e6,
        index / bytes,
        ms(start)
    );
    let truth = Truth::of(&archive)?;
    println!("texts          {} with {:.1} MB decoded", truth.texts.len(), truth.bytes() as f64 / 1e6);
    classes(&searcher, &truth)?;
    let needles = substrings_of(&truth, substrings);
    check(&searcher, &truth, &needles, "random substrings")
}

/// What this thread has had of the processor; nothing where the system does not tell.
fn processor_ms() -> f64 {
    let ran = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    ran.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or_default() / 1e6
}

fn ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Writes the files below `from` into `to`, changed each time, until there are `wanted` bytes; returns how many files.
fn multiplied(from: &Path, to: &Path, wanted: u64) -> Measured<usize> {
    let files = transcripts(&[from.to_owned()])?;
    let (mut have, mut copy, mut count) = (0, 0u8, 0);
    while have < wanted && !files.is_empty() {
        for (file, _) in &files {
            let mut bytes = fs::read(file)?;
            change_ids(&mut bytes, copy);
            have += u64::try_from(bytes.len())?;
            count += 1;
            let own = to.join(format!("{copy:02}")).join(file.strip_prefix(from)?);
            fs::create_dir_all(own.parent().unwrap_or(to))?;
            fs::write(own, bytes)?;
        }
        copy += 1;
    }
    Ok(count)
}

/// Other digits in every run of letters, digits, `-` and `_` that is long enough to be an id.
fn change_ids(bytes: &mut [u8], copy: u8) {
    const ID_BYTES_MIN: usize = 16;
    let is_id = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    for run in bytes.split_mut(|byte| !is_id(byte)).filter(|run| run.len() >= ID_BYTES_MIN) {
        for digit in run.iter_mut().filter(|byte| byte.is_ascii_digit()) {
            *digit = b'0' + (*digit - b'0' + copy) % 10;
        }
    }
}

/// Imports everything and brings the index up to date; returns the bytes of all states.
fn taken_in(archive: &Archive, dir: &Path, files: usize) -> Measured<f64> {
    let policy = Policy::default();
    let options = ImportOptions { policy: &policy, now: Timestamp::from_ms(0), recheck: Recheck::Trust };
    let (start, before) = (Instant::now(), processor_ms());
    import(archive, &[PathBuf::from(dir)], options, &mut |_| {})?;
    let (imported, imported_cpu) = (ms(start), processor_ms() - before);
    let (start, before) = (Instant::now(), processor_ms());
    let indexed = bring_up_to_date(archive)?;
    let (built, built_cpu) = (ms(start), processor_ms() - before);
    let bytes: u64 = archive.sources()?.iter().map(|source| source.latest.len).sum();
    let bytes = bytes as f64;
    println!(
        "raw            {:.1} MB in {files} files, {} states indexed, {} not",
        bytes / 1e6,
        indexed.states,
        indexed.left
    );
    let speed = |clock: f64, cpu: f64| {
        format!("{:.0} MB/s ({:.0} MB/s of processor time)", bytes / clock / 1e3, bytes / cpu / 1e3)
    };
    println!("import         {}", speed(imported, imported_cpu));
    println!("index built    {}", speed(built, built_cpu));
    println!("both           {}", speed(imported + built, imported_cpu + built_cpu));
    let start = Instant::now();
    bring_up_to_date(archive)?;
    println!("nothing to do  {:.0} ms", ms(start));
    Ok(bytes)
}

/// A text as questions read it, and where it stands.
struct Text {
    /// The number of its record among all.
    record: usize,
    spelled: String,
    is_command: bool,
}

/// Every decoded text of every state, in the order of hits.
struct Truth {
    texts: Vec<Text>,
    /// Source and locator of each record.
    records: Vec<(String, String)>,
}

impl Truth {
    fn of(archive: &Archive) -> Measured<Self> {
        let mut truth = Self { texts: Vec::new(), records: Vec::new() };
        for source in archive.sources()? {
            let Some(revision) = archive.latest_revision(source.meta.id)? else { continue };
            let mut bytes = Vec::new();
            archive.rebuild(&revision, &mut bytes)?;
            let name = source.meta.name;
            if let Ok(transcript) = Transcript::from_bytes(name.clone(), bytes, Some(&source.meta.format)) {
                truth.add(&name, &transcript)?;
            }
        }
        Ok(truth)
    }

    fn add(&mut self, name: &str, transcript: &Transcript) -> Measured<()> {
        let spans = contents(transcript)?;
        let mut blocks: Vec<_> = spans.iter().flat_map(|span| &span.blocks).collect();
        blocks.sort_by_key(|block| block.at);
        let mut last = None;
        for block in blocks {
            if last.replace(block.at.record) != Some(block.at.record) {
                let line = block.record.line;
                let locator = line.map_or_else(|| block.record.pointer.clone(), |line| format!("L{line}"));
                self.records.push((name.to_owned(), locator));
            }
            let record = self.records.len() - 1;
            let leaves = block.arguments.iter().flat_map(|tree| &tree.leaves);
            for leaf in leaves {
                if let Scalar::String(text) | Scalar::Number(text) = &leaf.value {
                    let is_command = leaf.pointer.contains("command") || leaf.pointer.contains("cmd");
                    self.texts.push(Text { record, spelled: text.clone(), is_command });
                }
            }
            self.texts.push(Text { record, spelled: block.text.clone(), is_command: false });
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.texts.iter().map(|text| text.spelled.len()).sum()
    }

    /// A text with at least so many bytes.
    fn drawn(&self, dice: &mut Dice, bytes_min: usize) -> &str {
        loop {
            let text = &self.texts[dice.below(self.texts.len())].spelled;
            if text.len() >= bytes_min {
                return text;
            }
        }
    }

    /// For each needle the first records that hold it, by number, with one of the texts in which it stands there.
    fn places(&self, needles: &[String]) -> Measured<Vec<Vec<(usize, usize)>>> {
        let mut found: Vec<Vec<(usize, usize)>> = vec![Vec::new(); needles.len()];
        let automaton = AhoCorasick::new(needles)?;
        for (text, at) in self.texts.iter().zip(0..) {
            for hit in automaton.find_overlapping_iter(&text.spelled) {
                let own = &mut found[hit.pattern().as_usize()];
                if own.len() < FIRST && own.last().is_none_or(|(record, _)| *record != text.record) {
                    own.push((text.record, at));
                }
            }
        }
        Ok(found)
    }
}

fn part(text: &str, start: usize, len: usize) -> String {
    let start = text.ceil_char_boundary(start);
    text[start..text.ceil_char_boundary(start + len)].to_owned()
}

fn substrings_of(truth: &Truth, count: usize) -> Vec<String> {
    let mut dice = Dice::new(77);
    let mut needles = Vec::new();
    while needles.len() < count {
        let text = truth.drawn(&mut dice, 4);
        let len = [3, 8, 24, 250][needles.len() % 4];
        let needle = part(text, dice.below(text.len()), 1 + dice.below(len));
        // One or two characters are everywhere, and are drawn as a class of their own.
        if needle.len() >= 3 {
            needles.push(needle);
        }
    }
    needles
}

/// The runs of characters that are `own`, as long as `lens` says.
fn run(text: &str, dice: &mut Dice, own: impl Fn(char) -> bool, lens: Range<usize>) -> Option<String> {
    let runs: Vec<&str> = text.split(|char| !own(char)).filter(|run| lens.contains(&run.len())).collect();
    runs.get(dice.below(runs.len())).map(|run| (*run).to_owned())
}

fn is_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

/// What a class draws from a text; nothing where it has no such needle.
type Draw = fn(&str, &mut Dice) -> Option<String>;

const CLASSES: [(&str, Draw); 14] = [
    ("identifier", |text, dice| {
        run(text, dice, is_name, 5..40).filter(|own| !own.starts_with(|char: char| char.is_ascii_digit()))
    }),
    ("number", |text, dice| run(text, dice, |char| char.is_ascii_digit(), 3..12)),
    ("hash, uuid", |text, dice| run(text, dice, |char| char.is_ascii_hexdigit() || char == '-', 30..70)),
    ("path", |text, dice| {
        run(text, dice, |char| is_name(char) || "/.-".contains(char), 8..120).filter(|own| own.contains('/'))
    }),
    ("phrase", |text, dice| {
        run(text, dice, |char| is_name(char) || " ,'".contains(char), 12..80)
            .filter(|own| own.matches(' ').count() > 1)
    }),
    ("quotes, lines", |text, dice| {
        Some(part(text, text.find(['"', '\n'])?.saturating_sub(dice.below(12)), 8 + dice.below(30)))
    }),
    ("three characters", |text, dice| Some(part(text, dice.below(text.len()), 3))),
    ("eight bytes", |text, dice| Some(part(text, dice.below(text.len()), 8))),
    ("signs only", |text, dice| run(text, dice, |char| char.is_ascii_punctuation() && char != '_', 4..20)),
    ("absent identifier", |text, dice| {
        run(text, dice, is_name, 6..40).map(|own| own.chars().rev().collect::<String>() + "q")
    }),
    ("absent number", |_, dice| Some(dice.roll(9_000_000).to_string() + "7")),
    ("absent hash", |text, dice| {
        run(text, dice, |char| char.is_ascii_hexdigit(), 12..70).map(|own| own.chars().rev().collect())
    }),
    ("absent path", |text, dice| {
        let path = run(text, dice, |char| is_name(char) || "/.-".contains(char), 8..120)
            .filter(|own| own.contains('/'))?;
        let mut parts: Vec<&str> = path.split('/').collect();
        parts.reverse();
        Some(parts.join("/"))
    }),
    ("absent phrase", |text, dice| {
        let phrase = run(text, dice, |char| is_name(char) || char == ' ', 20..90)?;
        let mut words: Vec<&str> = phrase.split(' ').collect();
        words.reverse();
        Some(words.join(" ")).filter(|own| own.matches(' ').count() > 2)
    }),
];

/// Times the needles of each class, by the processor, and checks what was found.
fn classes(searcher: &Searcher<'_>, truth: &Truth) -> Measured<()> {
    println!("| class | found | blocks read | p50 ms | p99 ms | longest ms |");
    println!("|---|--:|--:|--:|--:|--:|");
    let mut all = Vec::new();
    let mut drawn: Vec<(&str, Vec<String>)> =
        CLASSES.iter().map(|(name, draw)| (*name, needles(truth, *draw))).collect();
    let commands = |text: &Text| text.is_command && text.spelled.len() > 12;
    let commands: Vec<&Text> = truth.texts.iter().filter(|text| commands(text)).collect();
    let mut dice = Dice::new(5);
    let command = |_| part(&commands[dice.below(commands.len())].spelled, dice.below(6), 8 + dice.below(30));
    drawn.insert(5, ("command", (0..PER_CLASS).map(command).collect()));
    for (name, needles) in &drawn {
        // Once before, so that pages are warm.
        needles.iter().take(5).try_for_each(|needle| found(searcher, needle).map(drop))?;
        let mut times = Vec::new();
        let (mut hits, mut blocks) = (0, 0);
        for needle in needles {
            let before = processor_ms();
            let found = found(searcher, needle)?;
            times.push(processor_ms() - before);
            hits += usize::from(!found.hits.is_empty());
            blocks += found.blocks;
        }
        let read = blocks as f64 / times.len() as f64;
        row(name, &mut times, &format!("{hits} | {read:.1}"));
        all.extend(times);
    }
    row("all", &mut all, " | ");
    drawn.iter().try_for_each(|(name, needles)| check(searcher, truth, needles, name))
}

fn needles(truth: &Truth, draw: Draw) -> Vec<String> {
    let mut dice = Dice::new(3);
    let mut needles = Vec::new();
    while needles.len() < PER_CLASS {
        needles.extend(draw(truth.drawn(&mut dice, 40), &mut dice).filter(|needle| !needle.is_empty()));
    }
    needles
}

fn row(name: &str, times: &mut [f64], hits: &str) {
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    println!("| {name} | {hits} | {:.2} | {:.2} | {:.2} |", at(50), at(99), at(100));
}

fn found(searcher: &Searcher<'_>, needle: &str) -> strongroom::Result<Found> {
    searcher.find(&Question { text: needle.to_owned(), sources: Vec::new(), limit: FIRST })
}

/// Compares what is found with what stands in the texts.
fn check(searcher: &Searcher<'_>, truth: &Truth, needles: &[String], what: &str) -> Measured<()> {
    let places = truth.places(needles)?;
    let (mut missed, mut hidden, mut present) = (0, 0, 0);
    for (needle, places) in needles.iter().zip(&places) {
        present += usize::from(!places.is_empty());
        let found = found(searcher, needle)?;
        let hits: BTreeSet<(&str, &str)> =
            found.hits.iter().map(|hit| (hit.source.as_str(), hit.locator.as_str())).collect();
        let last = found.hits.last().filter(|_| found.more).map(|hit| (&hit.source, &hit.locator));
        let last = last
            .and_then(|last| truth.records.iter().position(|(source, locator)| (source, locator) == last));
        for &(record, text) in places.iter().filter(|(record, _)| last.is_none_or(|last| *record < last)) {
            let (source, locator) = &truth.records[record];
            if hits.contains(&(source.as_str(), locator.as_str())) {
                continue;
            }
            if secrets_in(&truth.texts[text].spelled).is_empty() {
                missed += 1;
                println!("MISSED {needle:?} in {source} {locator}");
            } else {
                hidden += 1;
            }
        }
    }
    println!(
        "checked        {} {what}, {present} present: {missed} missed, {hidden} in texts with secrets",
        needles.len()
    );
    if missed > 0 { Err("something was missed".into()) } else { Ok(()) }
}
