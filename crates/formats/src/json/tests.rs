use proptest::prelude::*;

use super::*;

fn scan(text: &str) -> Result<(Tape, usize), Damage> {
    let mut tape = Tape::new();
    let end = tape.scan(text.as_bytes())?;
    Ok((tape, end))
}

/// Rebuilds a `serde_json` value from a tape.
fn rebuild(value: Value<'_>) -> serde_json::Value {
    match value.kind() {
        Kind::Null => serde_json::Value::Null,
        Kind::True => true.into(),
        Kind::False => false.into(),
        Kind::Number => serde_json::from_slice(value.raw()).unwrap(),
        Kind::String => value.string().unwrap().into_owned().into(),
        Kind::Array => value.elements().map(rebuild).collect::<Vec<_>>().into(),
        Kind::Object => {
            let members =
                value.entries().map(|(key, value)| (key.string().unwrap().into_owned(), rebuild(value)));
            serde_json::Value::Object(members.collect())
        }
    }
}

fn oddities(text: &str) -> Vec<Oddity> {
    scan(text).unwrap().0.oddities().collect()
}

#[test]
fn tolerated_spellings_are_read_and_named() {
    assert_eq!(oddities(r#"{"a":NaN,"b":[-Infinity,Infinity]}"#), [Oddity::NonFinite]);
    assert_eq!(oddities(r#""\ud83d x""#), [Oddity::LoneSurrogate]);
    assert_eq!(oddities(r#""\ud83d\ude00""#), []);
    assert_eq!(oddities(r#""\u0000""#), [Oddity::NulEscape]);
    assert_eq!(oddities("123456789012345678901234567890"), [Oddity::HugeInteger]);
    let text = r#"{"a":1,"a":2}"#;
    let (tape, _) = scan(text).unwrap();
    let root = tape.root(text.as_bytes(), 0).unwrap();
    assert_eq!(root.get("a").unwrap().integer(), Some(2));
    assert_eq!(root.duplicate_key().as_deref(), Some("a"));
}

#[test]
fn what_is_not_json_says_where_and_why() {
    let cases = [
        ("", 0, Reason::CutOff),
        (r#"{"a":"#, 5, Reason::CutOff),
        (r#"{"a":tr"#, 7, Reason::CutOff),
        (r#""ab\"#, 4, Reason::CutOff),
        ("{a}", 1, Reason::Unexpected(b'a')),
        ("[1,]", 3, Reason::Unexpected(b']')),
        ("\"a\tb\"", 2, Reason::ControlByte(b'\t')),
        ("\"a\nb", 4, Reason::CutInString),
        (r#""\x""#, 1, Reason::BadEscape),
        ("[01]", 1, Reason::BadNumber),
        ("[-]", 1, Reason::BadNumber),
        ("\0", 0, Reason::Unexpected(0)),
    ];
    for (text, offset, reason) in cases {
        assert_eq!(scan(text).unwrap_err(), Damage { offset, reason }, "{text:?}");
    }
}

#[test]
fn limits_are_named_and_depth_costs_no_stack() {
    let at_limit = "[".repeat(DEPTH_MAX) + &"]".repeat(DEPTH_MAX);
    assert_eq!(scan(&at_limit).unwrap().1, at_limit.len());
    let deep = scan(&"[".repeat(100_000)).unwrap_err();
    assert_eq!(deep.reason, Reason::TooDeep);
    assert!(deep.to_string().contains("1024 levels"), "{deep}");
    let wide = format!("[{}1]", "1,".repeat(VALUES_MAX));
    assert_eq!(scan(&wide).unwrap_err().reason, Reason::TooMany);
}

#[test]
fn the_first_value_ends_where_the_next_begins() {
    assert_eq!(scan(r#" {"a":1}{"b":2}"#).unwrap().1, 8);
    assert_eq!(scan("12 34").unwrap().1, 2);
}

#[test]
fn pointers_reach_escaped_keys() {
    let text = r#"{"a/b":[{"~":7}]}"#;
    let (tape, _) = scan(text).unwrap();
    let value = tape.root(text.as_bytes(), 100).unwrap().pointer("/a~1b/0/~0").unwrap();
    assert_eq!(value.integer(), Some(7));
    assert_eq!(value.range().start(), 113);
}

#[test]
fn decoded_ranges_map_to_whole_escapes() {
    let raw = r"a\né\ud83d\ude00\ud800b".as_bytes();
    let text = decode(raw);
    assert_eq!(text, "a\né😀\u{fffd}b");
    let raw_of = |part: &str| {
        let start = text.find(part).unwrap();
        std::str::from_utf8(&raw[raw_within(raw, start..start + part.len())]).unwrap()
    };
    assert_eq!(raw_of("\n"), r"\n");
    assert_eq!(raw_of("é😀"), r"é\ud83d\ude00");
    assert_eq!(raw_of("\u{fffd}b"), r"\ud800b");
    assert_eq!(raw_within(raw, 0..text.len()), 0..raw.len());
    assert_eq!(raw_within(raw, 0..0), 0..0);
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into),
        "[\\x00-\\x1f\"\\\\é😀a]{0,12}".prop_map(Into::into),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn values_are_read_as_serde_json_reads_them(value in json(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let (tape, end) = scan(&text).unwrap();
        prop_assert_eq!(end, text.len());
        prop_assert_eq!(rebuild(tape.root(text.as_bytes(), 0).unwrap()), serde_json::from_str::<serde_json::Value>(&text).unwrap());
    }

    #[test]
    fn the_same_damaged_texts_are_refused(value in json(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut text = serde_json::to_vec(&value).unwrap();
        let at = at.index(text.len());
        text[at] = byte;
        let mut tape = Tape::new();
        let own = tape.scan(&text).ok().filter(|end| text[*end..].trim_ascii().is_empty());
        let strict = serde_json::from_slice::<serde_json::Value>(&text);
        let tolerated = tape.oddities().next().is_some() || std::str::from_utf8(&text).is_err() || strict.as_ref().is_err_and(|error| error.to_string().contains("out of range"));
        prop_assert!(own.is_some() == strict.is_ok() || tolerated, "{:?}: {:?}", String::from_utf8_lossy(&text), strict);
    }

    #[test]
    fn any_bytes_are_scanned_and_decoded_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), from in 0usize..220, length in 0usize..40) {
        let scanned = Tape::new().scan(&bytes);
        prop_assert!(scanned.unwrap_or_else(|damage| damage.offset) <= bytes.len());
        let range = raw_within(&bytes, from..from + length);
        prop_assert!(range.start <= range.end && range.end <= bytes.len());
        prop_assert!(decode(&bytes).len() <= 3 * bytes.len());
    }

    #[test]
    fn escaping_is_undone_by_decoding(text in any::<String>(), cut in any::<(prop::sample::Index, prop::sample::Index)>()) {
        let mut raw = Vec::new();
        write_escaped(&mut raw, &text);
        prop_assert_eq!(decode(&raw), text.as_str());
        let bounds: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let (one, two) = (bounds[cut.0.index(bounds.len())], bounds[cut.1.index(bounds.len())]);
        let range = one.min(two)..one.max(two);
        prop_assert_eq!(decode(&raw[raw_within(&raw, range.clone())]), text.get(range).unwrap());
    }
}
