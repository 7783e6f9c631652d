//! Any bytes, scanned as JSON: whatever `serde_json` reads is read, up to the same byte.
#![no_main]

use libfuzzer_sys::fuzz_target;
use strongroom_formats::json::Tape;

fuzz_target!(|data: &[u8]| {
    let mut tape = Tape::new();
    let scanned = tape.scan(data).ok();
    let mut other = serde_json::Deserializer::from_slice(data).into_iter::<serde_json::Value>();
    if let Some(Ok(_)) = other.next() {
        let end = other.byte_offset();
        let own = scanned.unwrap_or_else(|| panic!("serde_json reads {end} bytes"));
        assert_eq!(own, end);
    }
    if scanned.is_some() {
        if let Some(root) = tape.root(data, 0) {
            drop(root.string());
            root.entries().for_each(|(key, value)| drop((key.string(), value.range())));
            root.elements().for_each(|value| drop(value.string()));
        }
    }
});
