//! Checks of the tree itself, run as ordinary tests: `cargo test -p xtask`.

fn main() {}

#[cfg(test)]
mod tidy;
