//! The built binary, in a home of its own.

#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod claims;
#[cfg(test)]
mod encryption;
#[cfg(test)]
mod erasure;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod generations;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod home;
#[cfg(test)]
mod honest;
#[cfg(test)]
mod hook;
#[cfg(test)]
mod install;
#[cfg(test)]
mod kills;
#[cfg(test)]
mod ledger;
#[cfg(test)]
mod link;
#[cfg(test)]
mod r#loop;
#[cfg(test)]
mod lost;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod proofs;
#[cfg(test)]
mod prose;
#[cfg(test)]
mod read_only;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod search;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod standard;
#[cfg(test)]
mod tier;
#[cfg(test)]
mod usage;
