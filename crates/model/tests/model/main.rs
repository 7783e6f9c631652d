//! The public interface, against a server on this machine.

#[cfg(test)]
mod endpoint;
