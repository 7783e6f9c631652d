//! The built binary, in a home of its own.

mod bad_input;
mod gate;
mod generations;
mod home;
mod honest;
mod kills;
mod link;
mod processes;
mod secrets;
mod usage;
