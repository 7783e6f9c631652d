//! Server-sent events: the data of each, as it comes in.

/// The longest event, in bytes.
const EVENT_BYTES_MAX: usize = 1 << 20;

/// A stream that is read in parts.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    data: Option<String>,
    after_return: bool,
}

impl Events {
    /// Reads on, and gives the data of every event that is complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut all = Vec::new();
        for &byte in bytes {
            let returned = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if returned => {}
                b'\n' | b'\r' => all.extend(self.end_line()),
                _ if self.line.len() < EVENT_BYTES_MAX => self.line.push(byte),
                _ => {}
            }
        }
        all
    }

    /// What stands at the end of a stream without the empty line behind it.
    pub(crate) fn rest(mut self) -> Option<String> {
        let last = self.end_line();
        last.or_else(|| self.data.take())
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_start_matches('\u{feff}');
        if line.is_empty() {
            return self.data.take();
        }
        if let Some(data) = line.strip_prefix("data:") {
            let own = data.strip_prefix(' ').unwrap_or(data);
            match &mut self.data {
                Some(data) if data.len() < EVENT_BYTES_MAX => data.extend(["\n", own]),
                Some(_) => {}
                None => self.data = Some(own.to_owned()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str = "\u{feff}: ping\r\n\r\nevent: a\r\ndata: {\"x\":1}\r\n\r\ndata:two\ndata: lines\n\nid: 7\n\ndata: [DONE]";

    fn read(parts: &[&[u8]]) -> Vec<String> {
        let mut events = Events::default();
        let mut all: Vec<String> = parts.iter().flat_map(|part| events.push(part)).collect();
        all.extend(events.rest());
        all
    }

    #[test]
    fn data_is_read_however_lines_end() {
        assert_eq!(read(&[STREAM.as_bytes()]), ["{\"x\":1}", "two\nlines", "[DONE]"]);
        assert_eq!(read(&[b"garbage\n\xff\xfe\n\n"]), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn parts_read_as_the_whole(cut in 0usize..STREAM.len(), other in 0usize..STREAM.len()) {
            let bytes = STREAM.as_bytes();
            let (one, two) = (cut.min(other), cut.max(other));
            prop_assert_eq!(read(&[&bytes[..one], &bytes[one..two], &bytes[two..]]), read(&[bytes]));
        }

        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            read(&[&bytes]);
        }
    }
}
