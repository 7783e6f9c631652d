//! Editing JSON in place: members and elements come and go, every other byte stays.

use serde_json::Value as Json;
use strongroom::json::{Kind, Tape, Value};
use strongroom::{Error, Result};

/// Runs `read` on the root of a JSON text.
///
/// # Errors
/// `InvalidInput` naming line and column where it is not strict JSON, or is no object.
pub(super) fn with_root<T>(bytes: &[u8], read: impl FnOnce(Value<'_>) -> T) -> Result<T> {
    let strict: Json = serde_json::from_slice(bytes)
        .map_err(|error| Error::invalid_input(format!("it is not JSON: {error}")).caused_by(error))?;
    if !strict.is_object() {
        return Err(Error::invalid_input("it is JSON and not an object"));
    }
    let mut tape = Tape::new();
    let scanned = tape.scan(bytes).ok().and_then(|_| tape.root(bytes, 0));
    scanned.map(read).ok_or_else(|| Error::bug("JSON that one reader reads and the other does not"))
}

/// A text, or an empty object where there is none.
pub(super) fn or_empty(bytes: &[u8]) -> &[u8] {
    if bytes.iter().all(u8::is_ascii_whitespace) { b"{}\n" } else { bytes }
}

/// A value of the file as serde reads it.
pub(super) fn read(value: Value<'_>) -> Json {
    serde_json::from_slice(value.raw()).unwrap_or(Json::Null)
}

/// Adds `value` at the end of the array or object at `path` below the root; objects on the way, and the array itself,
/// are made where they are missing.
///
/// # Errors
/// `InvalidInput` when something on the way has another type.
pub(super) fn add(bytes: &[u8], path: &[&str], leaf: Leaf<'_>, value: &Json) -> Result<Vec<u8>> {
    let spot = with_root(bytes, |root| Spot::find(bytes, root, path, leaf))??;
    let own = match leaf {
        Leaf::Element => None,
        Leaf::Member(key) => Some(key),
    };
    let Some((first, rest)) = path.get(spot.depth..).unwrap_or_default().split_first() else {
        return Ok(spot.insert(bytes, own, value));
    };
    let value = own.map_or_else(|| Json::Array(vec![value.clone()]), |key| object(key, value.clone()));
    let value = rest.iter().rev().fold(value, |value, key| object(key, value));
    Ok(spot.insert(bytes, Some(first), &value))
}

fn object(key: &str, value: Json) -> Json {
    Json::Object(std::iter::once((key.to_owned(), value)).collect())
}

/// What is added: an element of an array, or a member of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaf<'k> {
    /// An element.
    Element,
    /// A member of this name.
    Member(&'k str),
}

/// Where something is put in.
struct Spot {
    /// How many keys of the path are there.
    depth: usize,
    /// The container's bytes.
    start: usize,
    end: usize,
    /// Where its last child ends, and the white space in front of that child or its key.
    last: Option<(usize, Vec<u8>)>,
    style: Style,
}

/// How a file is laid out.
struct Style {
    newline: &'static str,
    unit: String,
}

impl Spot {
    fn find(bytes: &[u8], root: Value<'_>, path: &[&str], leaf: Leaf<'_>) -> Result<Self> {
        let (mut at, mut depth) = (root, 0);
        for key in path {
            let Some(next) = at.get(key) else { break };
            depth += 1;
            let wanted =
                if depth == path.len() && leaf == Leaf::Element { Kind::Array } else { Kind::Object };
            if next.kind() != wanted {
                let place = path.get(..depth).unwrap_or_default().join(".");
                return Err(Error::invalid_input(format!("{place} is not {}", named(wanted))));
            }
            at = next;
        }
        let children: Vec<Value<'_>> = match at.kind() {
            Kind::Array => at.elements().collect(),
            _ => at.entries().map(|(_, value)| value).collect(),
        };
        let lead = match at.kind() {
            Kind::Array => at.elements().last(),
            _ => at.entries().last().map(|(key, _)| key),
        };
        let last =
            children.last().zip(lead).map(|(value, lead)| (end(*value), space_before(bytes, start(lead))));
        Ok(Self { depth, start: start(at), end: end(at), last, style: Style::of(bytes, root) })
    }

    /// The text with `value` at the end of the container.
    fn insert(&self, bytes: &[u8], key: Option<&str>, value: &Json) -> Vec<u8> {
        let own_indent = indent_at(bytes, self.start);
        let (at, before, after) = if let Some((at, space)) = &self.last {
            (*at, [b",".as_slice(), space].concat(), Vec::new())
        } else {
            let inner = format!("{}{own_indent}{}", self.style.newline, self.style.unit);
            let outer = format!("{}{own_indent}", self.style.newline);
            (self.start + 1, inner.into_bytes(), outer.into_bytes())
        };
        let on_lines = before.contains(&b'\n');
        let indent = String::from_utf8_lossy(&before).rsplit('\n').next().unwrap_or_default().to_owned();
        let mut text = key.map_or_else(String::new, |key| {
            let colon = if on_lines { ": " } else { ":" };
            format!("{}{colon}", Json::String(key.to_owned()))
        });
        if on_lines {
            let pretty = self.style.pretty(value);
            text.push_str(&pretty.replace('\n', &format!("{}{indent}", self.style.newline)));
        } else {
            text.push_str(&value.to_string());
        }
        let rest = if self.last.is_some() { at } else { self.end - 1 };
        let head = bytes.get(..at).unwrap_or_default();
        let tail = bytes.get(rest..).unwrap_or_default();
        [head, &before, text.as_bytes(), &after, tail].concat()
    }
}

impl Style {
    fn of(bytes: &[u8], root: Value<'_>) -> Self {
        let newline = if has_crlf(bytes) { "\r\n" } else { "\n" };
        let first = root.entries().next().map(|(key, _)| space_before(bytes, start(key)));
        let unit = first
            .filter(|space| space.contains(&b'\n'))
            .map(|space| String::from_utf8_lossy(&space).rsplit('\n').next().unwrap_or_default().to_owned());
        Self { newline, unit: unit.filter(|unit| !unit.is_empty()).unwrap_or_else(|| "  ".to_owned()) }
    }

    fn pretty(&self, value: &Json) -> String {
        let mut out = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(self.unit.as_bytes());
        let mut writer = serde_json::Serializer::with_formatter(&mut out, formatter);
        match serde::Serialize::serialize(value, &mut writer) {
            Ok(()) => String::from_utf8_lossy(&out).into_owned(),
            Err(_) => value.to_string(),
        }
    }
}

/// Removes a child of a container with its comma; `lead` is the key of a member, or the element itself.
pub(super) fn remove(bytes: &[u8], container: Value<'_>, lead: Value<'_>) -> Vec<u8> {
    let children: Vec<(Value<'_>, Value<'_>)> = match container.kind() {
        Kind::Array => container.elements().map(|element| (element, element)).collect(),
        _ => container.entries().collect(),
    };
    let at = children.iter().position(|(own, _)| start(*own) == start(lead));
    let Some((at, (first, value))) = at.and_then(|at| Some((at, *children.get(at)?))) else {
        return bytes.to_vec();
    };
    let before = at.checked_sub(1).and_then(|at| children.get(at));
    let (from, to) = match (before, children.get(at + 1)) {
        (Some((_, before)), _) => (end(*before), end(value)),
        (None, Some((next, _))) => (start(first), start(*next)),
        (None, None) => (start(container) + 1, end(container) - 1),
    };
    [bytes.get(..from).unwrap_or_default(), bytes.get(to..).unwrap_or_default()].concat()
}

/// The number of children of a container.
pub(super) fn len(container: Value<'_>) -> usize {
    match container.kind() {
        Kind::Array => container.elements().count(),
        _ => container.entries().count(),
    }
}

fn named(kind: Kind) -> &'static str {
    if kind == Kind::Array { "an array" } else { "an object" }
}

fn start(value: Value<'_>) -> usize {
    usize::try_from(value.range().start()).unwrap_or(usize::MAX)
}

fn end(value: Value<'_>) -> usize {
    usize::try_from(value.range().end()).unwrap_or(usize::MAX)
}

fn space_before(bytes: &[u8], at: usize) -> Vec<u8> {
    let before = bytes.get(..at).unwrap_or_default();
    let space = before.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
    before.get(before.len() - space..).unwrap_or_default().to_vec()
}

/// The white space at the beginning of the line that holds the byte `at`.
fn indent_at(bytes: &[u8], at: usize) -> String {
    let line = bytes.get(..at).unwrap_or_default().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let space = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).copied().collect::<Vec<u8>>();
    String::from_utf8_lossy(&space).into_owned()
}

fn has_crlf(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn added(text: &str, path: &[&str], leaf: Leaf<'_>) -> String {
        String::from_utf8(add(text.as_bytes(), path, leaf, &json!({ "b": [1] })).unwrap()).unwrap()
    }

    #[test]
    fn what_is_added_looks_like_what_is_there() {
        let four =
            "{\n    \"x\" :1,\n    \"hooks\": {\n        \"Stop\": [\n            {}\n        ]\n    }\n}\n";
        let end = "            {},\n            {\n                \"b\": [\n                    1\n                ]\n            }\n        ]\n    }\n}\n";
        assert_eq!(
            added(four, &["hooks", "Stop"], Leaf::Element),
            four.replace("            {}\n        ]\n    }\n}\n", end)
        );
        assert_eq!(
            added("{}", &["h"], Leaf::Member("m")),
            "{\n  \"h\": {\n    \"m\": {\n      \"b\": [\n        1\n      ]\n    }\n  }\n}"
        );
        assert_eq!(added("{\"a\":1}", &["h"], Leaf::Element), "{\"a\":1,\"h\":[{\"b\":[1]}]}");
        assert_eq!(
            added("{\r\n\t\"a\": 1\r\n}", &[], Leaf::Member("m")),
            "{\r\n\t\"a\": 1,\r\n\t\"m\": {\r\n\t\t\"b\": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}"
        );
    }

    #[test]
    fn another_type_on_the_way_is_refused() {
        for (text, path) in
            [("{\"hooks\": 1}", ["hooks", "Stop"]), ("{\"hooks\": {\"Stop\": {}}}", ["hooks", "Stop"])]
        {
            assert!(add(text.as_bytes(), &path, Leaf::Element, &json!(1)).is_err(), "{text}");
        }
        assert!(with_root(b"// no\n{}", |_| ()).unwrap_err().to_string().contains("line 1"));
        assert!(with_root(b"[]", |_| ()).is_err());
    }
}
