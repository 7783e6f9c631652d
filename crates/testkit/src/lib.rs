//! Fakes and suites shared by the tests of all crates; never published.
//!
//! The question this crate answers: *does this behave as the contract in `strongroom-core` says, and what
//! happens to its users when it fails?*
//!
//! [`memory_archive::MemoryArchive`] is an archive that works and can be told to fail. [`conformance`] is what
//! every archive has to pass, the in-memory one included.

pub mod memory_archive;

pub mod conformance;

pub mod shared;

pub mod figure;

pub mod server;

pub mod dice;

pub mod forgery;
