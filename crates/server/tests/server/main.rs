//! The server, asked over a stream in this process.

#[cfg(test)]
mod client;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod session;
#[cfg(test)]
mod tools;
