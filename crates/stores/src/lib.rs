//! Containers that tools keep their sessions in.
//!
//! The question this crate answers: *what would the tool itself write out for what it keeps here?*
//!
//! It knows compressed files, archives of files, databases and folders of events, and how tools lay their sessions out in them. It knows nothing of
//! archives of ours, of evidence or of what a transcript means: the text it gives back is read by `strongroom-formats`
//! like any other file.
//!
//! Modules are listed in the order in which data flows; a module may use only modules above it.

mod bounded;

mod text;

mod inspect;

pub mod packed;

pub mod database;

pub mod folder;
