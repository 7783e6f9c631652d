//! The archive from outside.

use strongroom_archive::{Archive, Mode};
use testkit::conformance;

#[test]
fn it_conforms() {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::open(dir.path(), Mode::CreateIfMissing).unwrap();
    conformance::vault(&archive).unwrap();
    conformance::registry(&archive).unwrap();
}
