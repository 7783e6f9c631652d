//! The class of a span without a full examination is the class that the full examination gives.

use std::collections::BTreeMap;

use strongroom::reading::Reading;
use strongroom::transcript::Transcript;
use strongroom_evidence::examine::{Examiner, ProjectFacts};
use testkit::shared::shared;

use crate::walk::files;

/// The files looked at, so that the test stays quick: every so many of a folder, none above a size in bytes.
const EVERY: usize = 6;
const BYTES_MAX: u64 = 3_000_000;

#[test]
fn the_class_alone_is_the_class_of_the_whole() {
    let Some(transcripts) = shared("transcripts") else { return };
    let mut classes = BTreeMap::<&str, u32>::new();
    for path in files(&transcripts).into_iter().step_by(EVERY) {
        if path.metadata().map_or(u64::MAX, |facts| facts.len()) > BYTES_MAX {
            continue;
        }
        let Ok(transcript) = Transcript::open(&path, None) else { continue };
        let reading = Reading::of(&transcript).unwrap();
        let facts = ProjectFacts { cwd: transcript.cwd().map(str::to_owned), home: None };
        let mut examiner = Examiner::new(facts);
        for span in &reading.spans {
            let class = examiner.classify(&span.content);
            *classes.entry(class.word()).or_default() += 1;
            assert_eq!(class, span.examination.evidence.class, "{} {:?}", path.display(), span.index());
        }
    }
    println!("{classes:?}");
    assert!(classes.len() == 3, "{classes:?}");
}
