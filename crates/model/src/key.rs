//! The key of an endpoint. It goes into one header and nowhere else.

use std::fmt;

use strongroom::{Error, Result};

/// A key.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key, without the blanks around it; `origin` says in messages where it comes from.
    ///
    /// # Errors
    /// `InvalidInput` when it is empty or holds what no header can.
    pub fn new(text: &str, origin: &str) -> Result<Self> {
        let key = text.trim();
        if key.is_empty() {
            return Err(Error::invalid_input(format!("{origin} holds no key")));
        }
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::invalid_input(format!(
                "{origin} holds something that is no key: it has blanks or letters that a key never has"
            )));
        }
        Ok(Self(key.to_owned()))
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_told() {
        let key = Key::new(" sk-0123\n", "the test").unwrap();
        assert_eq!((key.reveal(), format!("{key:?}")), ("sk-0123", "Key(…)".to_owned()));
        for text in ["", " \n", "sk 0123", "sk-\u{e9}"] {
            let message = Key::new(text, "$NAME").unwrap_err().to_string();
            assert!(message.starts_with("$NAME") && !message.contains("sk"), "{message}");
        }
    }
}
