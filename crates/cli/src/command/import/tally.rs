//! What came of an import.

use std::path::Path;

use serde_json::{Value, json};
use strongroom::Result;
use strongroom::import::Taken;
use strongroom::transcript::MissingItem;

use super::scope::Scope;
use crate::out;

#[derive(Default)]
pub(super) struct Tally {
    pub(super) imported: u64,
    pub(super) unchanged: u64,
    pub(super) passed_over: u64,
    pub(super) failed: u64,
    /// Transcripts that name files which are not there: how many, and why of the first.
    missing: Vec<(String, u64, String)>,
}

impl Tally {
    /// A file that was named by itself is worth a word when it is no transcript.
    pub(super) fn count(&mut self, path: &Path, taken: &Taken, named: bool) {
        match taken {
            Taken::Imported => self.imported += 1,
            Taken::Unchanged => self.unchanged += 1,
            Taken::PassedOver(why) => {
                self.passed_over += 1;
                if named {
                    out::warning(&format!("passed over {}: {why}", path.display()));
                }
            }
            Taken::Failed(error) => {
                self.failed += 1;
                out::warning(&format!("{} could not be taken in: {error}", path.display()));
            }
        }
    }

    /// A file that a transcript names is not there.
    pub(super) fn missing(&mut self, path: &Path, missing: &MissingItem) {
        let name = path.display().to_string();
        match self.missing.last_mut() {
            Some((last, sum, _)) if *last == name => *sum += 1,
            _ => self.missing.push((name, 1, missing.why.clone())),
        }
    }

    pub(super) fn print(&self, scope: &Scope, json: bool) -> Result<()> {
        if json { out::line(&self.as_json(scope).to_string()) } else { self.print_words(scope) }
    }

    fn as_json(&self, scope: &Scope) -> Value {
        let mut body = json!({
            "schema": 1, "imported": self.imported, "unchanged": self.unchanged,
            "passed_over": self.passed_over, "failed": self.failed,
        });
        if let (Scope::All(_), Some(body)) = (scope, body.as_object_mut()) {
            let place = |(agent, root, files): (&str, &Path, usize)| json!({ "agent": agent, "root": root, "files": files });
            let missing = |(path, files, first): &(String, u64, String)| json!({ "transcript": path, "files": files, "first": first });
            body.insert("places".to_owned(), scope.found().into_iter().map(place).collect());
            body.insert("absent".to_owned(), json!(scope.absent()));
            body.insert("holes".to_owned(), json!(scope.holes()));
            body.insert("missing".to_owned(), self.missing.iter().map(missing).collect());
        }
        body
    }

    fn print_words(&self, scope: &Scope) -> Result<()> {
        for (agent, root, files) in scope.found() {
            out::line(&format!("{agent:<12} {files:>6} files below {}", root.display()))?;
        }
        let absent = scope.absent();
        if !absent.is_empty() {
            out::line(&format!("nothing here of {}", absent.join(", ")))?;
        }
        for (path, files, first) in &self.missing {
            out::warning(&format!("{path} names files that are not there: {files}, the first: {first}"));
        }
        for hole in scope.holes() {
            out::warning(&hole);
        }
        out::line(&format!(
            "{} imported, {} unchanged, {} passed over, {} failed",
            self.imported, self.unchanged, self.passed_over, self.failed
        ))
    }
}
