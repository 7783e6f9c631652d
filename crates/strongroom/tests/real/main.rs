//! Real transcripts and the shared cases, where the folder `../shared` exists; skipped loudly where it does not.

mod cases;
mod lossless;
mod shared;
