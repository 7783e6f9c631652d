//! Any bytes, read as the format that the binary is named after: reading never panics, the spans cover every byte, an
//! edit that changes nothing gives the bytes back, and all texts and arguments can be decoded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use strongroom_core::span::segment;
use strongroom_core::transcript::BlockKind;
use strongroom_formats::{Edit, arguments, by_name, detect, text};

fuzz_target!(|data: &[u8]| {
    let bytes = data.to_vec();
    drop(detect(&bytes));
    let Some(format) = by_name(env!("CARGO_BIN_NAME")) else { panic!("no such format") };
    // Only an empty source is an error.
    let Ok(index) = format.index(&bytes) else {
        assert!(bytes.is_empty(), "a source is refused");
        return;
    };
    let spans = segment(&index);
    if let Err(why) = spans.check_cover(&index) {
        panic!("spans do not cover the source: {why}");
    }
    for (_, block) in index.blocks() {
        for part in &block.text {
            drop(text(&bytes, *part));
        }
        if let BlockKind::Call(facts) = &block.kind {
            drop(arguments(&bytes, facts.arguments));
        }
    }
    let same = format.splice(&bytes, &index, &spans, &Edit::default());
    assert!(same.is_ok_and(|same| same.bytes == bytes), "an edit that changes nothing changed something");
});
