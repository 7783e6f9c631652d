//! From examples to a report.

#[cfg(test)]
mod end_to_end;
