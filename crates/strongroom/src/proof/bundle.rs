//! The file: its fields, its one spelling, and its seal.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strongroom_archive::note::PrivateKey;
use strongroom_archive::proof::{EntryProof, Proofs, RecordProof, RevisionProof};
use strongroom_core::digest::{Digest, PieceId};
use strongroom_core::error::{Error, Result};

use super::spelling::Spelling;

/// What stands in the field `type`.
pub const KIND: &str = "strongroom-proof";

/// The first line of a seal's text; no checkpoint begins with it.
pub const SEAL_WORD: &str = "strongroom proof bundle";

const SCHEMA: u32 = 1;

/// A bundle as it stands in its file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bundle {
    pub(super) schema: u32,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) key: String,
    pub(super) checkpoint: String,
    pub(super) entries: Vec<EntryForm>,
    pub(super) revisions: Vec<RevisionForm>,
    pub(super) records: Vec<RecordForm>,
    pub(super) pieces: Vec<PieceForm>,
    pub(super) claims: Vec<Claim>,
    pub(super) seal: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryForm {
    no: u64,
    body: String,
    path: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RevisionForm {
    entry: u64,
    pieces: Vec<ListedPiece>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedPiece {
    id: String,
    len: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordForm {
    entry: u64,
    body: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PieceForm {
    pub(super) id: String,
    pub(super) bytes: String,
}

/// What a bundle is there to show.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Claim {
    /// The original of a reclaimed span.
    Span { pointer: String },
    /// A whole state of a source.
    Source { revision: String },
    /// An answer; `searched` are the states that were asked.
    Answer { answer: Value, citations: Vec<Cited>, searched: Vec<String> },
}

/// What is shown of one citation of an answer, in the order of the answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Cited {
    /// Its bytes are here and stand for its quotation.
    Shown { revision: String, spelling: Spelling },
    /// They are not, with the reason.
    Open { why: String },
}

/// A bundle that is not sealed yet.
#[derive(Debug)]
pub struct Draft {
    pub(super) proofs: Proofs,
    pub(super) pieces: BTreeMap<PieceId, Vec<u8>>,
    pub(super) claims: Vec<Claim>,
}

impl Draft {
    /// The file, its checkpoint and its seal signed with `key`.
    ///
    /// # Errors
    /// `Bug` when it cannot be written as JSON.
    pub fn seal(&self, key: &PrivateKey) -> Result<String> {
        let mut bundle = Bundle {
            schema: SCHEMA,
            kind: KIND.to_owned(),
            key: key.public().to_string(),
            checkpoint: key.sign(&self.proofs.checkpoint.note_text()),
            entries: self.proofs.entries.iter().map(EntryForm::of).collect(),
            revisions: self.proofs.revisions.iter().map(RevisionForm::of).collect(),
            records: self.proofs.records.iter().map(RecordForm::of).collect(),
            pieces: self.pieces.iter().map(PieceForm::of).collect(),
            claims: self.claims.clone(),
            seal: String::new(),
        };
        bundle.seal = key.sign(&bundle.seal_text()?);
        bundle.text()
    }

    /// The number of claims, and of bytes of originals.
    pub fn extent(&self) -> (usize, usize) {
        (self.claims.len(), self.pieces.values().map(Vec::len).sum())
    }
}

impl Bundle {
    /// Reads a file. There is one spelling of a bundle; every other one is refused, so that no two programs can read
    /// different things in it.
    ///
    /// # Errors
    /// `Corrupt` naming what is wrong.
    pub(super) fn read(text: &str) -> Result<Self> {
        let wrong = |error: serde_json::Error| Error::corrupt(format!("this is no bundle: {error}"));
        let bundle: Self = serde_json::from_str(text).map_err(wrong)?;
        if bundle.kind != KIND || bundle.schema != SCHEMA {
            return Err(Error::corrupt("this is no bundle of a version that is known"));
        }
        if bundle.text()? != text {
            return Err(Error::corrupt("the bundle is not spelled as bundles are"));
        }
        Ok(bundle)
    }

    /// What the seal signs.
    pub(super) fn seal_text(&self) -> Result<String> {
        let mut value = value_of(self)?;
        if let Some(fields) = value.as_object_mut() {
            fields.remove("seal");
        }
        Ok(format!("{SEAL_WORD}\n{}\n", Digest::of(canonical(&value)?.as_bytes())))
    }

    fn text(&self) -> Result<String> {
        Ok(canonical(&value_of(self)?)? + "\n")
    }
}

fn value_of(bundle: &Bundle) -> Result<Value> {
    serde_json::to_value(bundle).map_err(|error| Error::bug("a bundle is no JSON").caused_by(error))
}

/// JSON with sorted names, without spaces, and of numbers whole ones alone.
fn canonical(value: &Value) -> Result<String> {
    let mut text = String::new();
    push(value, &mut text)?;
    Ok(text)
}

fn push(value: &Value, text: &mut String) -> Result<()> {
    match value {
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            for (at, (name, value)) in sorted.into_iter().enumerate() {
                text.push(if at == 0 { '{' } else { ',' });
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                push(value, text)?;
            }
            text.push_str(if fields.is_empty() { "{}" } else { "}" });
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                text.push(if at == 0 { '[' } else { ',' });
                push(item, text)?;
            }
            text.push_str(if items.is_empty() { "[]" } else { "]" });
        }
        Value::Number(number) if number.is_f64() => {
            return Err(Error::corrupt(format!("a bundle holds whole numbers, not {number}")));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&value.to_string());
        }
    }
    Ok(())
}

/// Reads a digest in its one spelling.
pub(super) fn digest(text: &str) -> Result<Digest> {
    let found: Digest = text.parse().map_err(|_| Error::corrupt(format!("{text:?} is no digest")))?;
    if found.to_string() == text { Ok(found) } else { Err(Error::corrupt(format!("{text:?} is no digest"))) }
}

/// Reads bytes in their one spelling.
pub(super) fn bytes(text: &str) -> Result<Vec<u8>> {
    BASE64.decode(text).map_err(|error| Error::corrupt(format!("bytes are not in base64: {error}")))
}

impl EntryForm {
    fn of(entry: &EntryProof) -> Self {
        let path = entry.path.iter().map(ToString::to_string).collect();
        Self { no: entry.no, body: BASE64.encode(&entry.body), path }
    }

    pub(super) fn proof(&self) -> Result<EntryProof> {
        let path = self.path.iter().map(|one| digest(one)).collect::<Result<_>>()?;
        Ok(EntryProof { no: self.no, body: bytes(&self.body)?, path })
    }
}

impl RevisionForm {
    fn of(revision: &RevisionProof) -> Self {
        let pieces = revision.pieces.iter();
        let pieces = pieces.map(|(id, len)| ListedPiece { id: id.to_string(), len: *len }).collect();
        Self { entry: revision.entry, pieces }
    }

    pub(super) fn proof(&self) -> Result<RevisionProof> {
        let pieces = self.pieces.iter().map(|piece| Ok((PieceId::new(digest(&piece.id)?), piece.len)));
        Ok(RevisionProof { entry: self.entry, pieces: pieces.collect::<Result<_>>()? })
    }
}

impl RecordForm {
    fn of(record: &RecordProof) -> Self {
        Self { entry: record.entry, body: BASE64.encode(&record.body) }
    }

    pub(super) fn proof(&self) -> Result<RecordProof> {
        Ok(RecordProof { entry: self.entry, body: bytes(&self.body)? })
    }
}

impl PieceForm {
    fn of((id, bytes): (&PieceId, &Vec<u8>)) -> Self {
        Self { id: id.to_string(), bytes: BASE64.encode(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_spelling_of_a_value() {
        let value = serde_json::json!({ "b": [1, "é\n\u{1b}\"\\/"], "a": { "y": null, "x": [], "z": {} } });
        let text = "{\"a\":{\"x\":[],\"y\":null,\"z\":{}},\"b\":[1,\"é\\n\\u001b\\\"\\\\/\"]}";
        assert_eq!(canonical(&value).unwrap(), text);
        assert!(canonical(&serde_json::json!(1.5)).is_err());
    }
}
