//! Writing JSON around texts that are JSON already and stay as they are.

/// Appends `text` as a string.
pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for &byte in text.as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// Whether a text has the look of an object or a list.
pub(crate) fn is_container(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    text.starts_with(b"{") && text.ends_with(b"}") || text.starts_with(b"[") && text.ends_with(b"]")
}

/// Appends the object `data` with ids behind its members. What is no object becomes a string member `data`.
pub(crate) fn with_ids(out: &mut Vec<u8>, data: &[u8], ids: &[(&str, &str)]) {
    let inside = data.trim_ascii().strip_prefix(b"{").and_then(|rest| rest.strip_suffix(b"}"));
    let mut object = Object::new(out);
    if let Some(inside) = inside {
        object.verbatim(inside.trim_ascii());
    } else {
        let mut own = Vec::new();
        string(&mut own, &String::from_utf8_lossy(data));
        object.member("", "data", &own);
    }
    for (key, id) in ids {
        let mut own = Vec::new();
        string(&mut own, id);
        object.member("", key, &own);
    }
    object.end();
}

/// An object that is being written, with groups of members inside of it.
pub(crate) struct Object<'o> {
    out: &'o mut Vec<u8>,
    /// The groups that are open, by their names.
    open: Vec<String>,
    empty: bool,
}

impl<'o> Object<'o> {
    pub(crate) fn new(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, open: Vec::new(), empty: true }
    }

    /// Appends a member whose value is JSON, in the group of this path of names.
    pub(crate) fn member(&mut self, group: &str, key: &str, value: &[u8]) {
        let path: Vec<&str> = group.split('/').filter(|part| !part.is_empty()).collect();
        let shared = self.open.iter().zip(&path).take_while(|(open, part)| open == *part).count();
        self.close(shared);
        for part in path.iter().skip(shared) {
            self.key(part);
            self.out.push(b'{');
            self.empty = true;
            self.open.push((*part).to_owned());
        }
        self.key(key);
        self.out.extend_from_slice(value);
    }

    /// Appends members that are written already.
    fn verbatim(&mut self, members: &[u8]) {
        self.out.extend_from_slice(members);
        self.empty &= members.is_empty();
    }

    fn key(&mut self, key: &str) {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        string(self.out, key);
        self.out.push(b':');
    }

    fn close(&mut self, keep: usize) {
        while self.open.len() > keep {
            self.open.pop();
            self.out.push(b'}');
            self.empty = false;
        }
    }

    pub(crate) fn end(mut self) {
        self.close(0);
        self.out.push(b'}');
    }
}
