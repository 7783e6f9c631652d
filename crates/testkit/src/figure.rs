//! Figures that tests measure on real data, printed so that one command can collect them.

use std::fmt::Display;

/// Begins a line that states a figure.
pub const MARK: &str = "FIGURE";

/// States a figure: what was counted, what came out, and the target it has.
#[expect(clippy::print_stdout, reason = "a figure is read by whoever runs the test")]
pub fn figure(what: &str, value: impl Display, target: &str) {
    println!("{MARK}\t{what}\t{value}\t{target}");
}

/// A part of a whole, with its share in percent to two places.
pub fn share(part: usize, whole: usize) -> String {
    format!("{part} of {whole} ({})", percent(part, whole))
}

/// The share of a part in percent, to two places.
pub fn percent(part: usize, whole: usize) -> String {
    let hundredths = part * 10_000 / whole.max(1);
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}
