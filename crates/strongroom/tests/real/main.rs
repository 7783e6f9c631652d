//! Real transcripts and the shared cases, where the folder `../shared` exists; skipped loudly where it does not.

#[cfg(test)]
mod absences;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod classes;
#[cfg(test)]
mod lossless;
#[cfg(test)]
mod walk;
