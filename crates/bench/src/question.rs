//! Questions: what is asked, what the right answer is, and where it stands.

use serde::{Deserialize, Serialize};

/// A family of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Family {
    /// An argument of a call, exactly.
    F1,
    /// A value with its key.
    F2,
    /// What was done to a file.
    F3,
    /// Words and who said them.
    F4,
    /// What failed, and how.
    F5,
    /// Which came first.
    F6,
    /// How many.
    F7,
    /// Whether something never happened.
    F8,
    /// The latest value, and a former one.
    F9,
    /// A standing rule.
    F10,
    /// What came of a call.
    F11,
    /// Evidence that is gone.
    F12,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::F1,
        Self::F2,
        Self::F3,
        Self::F4,
        Self::F5,
        Self::F6,
        Self::F7,
        Self::F8,
        Self::F9,
        Self::F10,
        Self::F11,
        Self::F12,
    ];

    /// What the family asks for, in a few words.
    pub const fn title(self) -> &'static str {
        match self {
            Self::F1 => "exact argument",
            Self::F2 => "exact value",
            Self::F3 => "files and what was done to them",
            Self::F4 => "quote and speaker",
            Self::F5 => "error",
            Self::F6 => "order",
            Self::F7 => "count",
            Self::F8 => "absence",
            Self::F9 => "latest and former value",
            Self::F10 => "standing rule",
            Self::F11 => "cause and effect",
            Self::F12 => "evidence that is gone",
        }
    }

    /// The word in files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::F1 => "F1",
            Self::F2 => "F2",
            Self::F3 => "F3",
            Self::F4 => "F4",
            Self::F5 => "F5",
            Self::F6 => "F6",
            Self::F7 => "F7",
            Self::F8 => "F8",
            Self::F9 => "F9",
            Self::F10 => "F10",
            Self::F11 => "F11",
            Self::F12 => "F12",
        }
    }
}

/// The right answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expect {
    /// The gold, cited.
    Cited,
    /// Every piece of the gold, cited.
    AllCited,
    /// This value, the last one where several are given.
    Value(String),
    /// This number.
    Count(u64),
    /// `before` or `after`.
    Order(String),
    /// Yes.
    Yes,
    /// No: it never happened. To withhold an answer is no error, but counted.
    No,
    /// Nothing may be asserted: the question's ground is missing or false.
    Refused,
    /// Nothing may be asserted and nothing denied: the evidence is gone.
    Insufficient,
}

/// A piece of the right answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gold {
    /// The text.
    pub text: String,
    /// The record, from 1.
    pub record: u32,
    /// The JSON pointer of the string it stands in.
    pub pointer: String,
    /// Its bytes in the file: the first, and the one behind the last.
    pub bytes: (u64, u64),
    /// The SHA-256 of those bytes.
    pub sha256: String,
    /// Who speaks.
    pub speaker: String,
    /// Other places of the same words in the same event: side data, the screen's copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<(u64, u64)>,
}

impl Gold {
    /// Whether `quote` holds its text: as it is, or as it is spelled in the JSON of arguments that are a string.
    pub fn stands_in(&self, quote: &str) -> bool {
        let spelled = serde_json::Value::from(self.text.as_str()).to_string();
        let inner = spelled.strip_prefix('"').and_then(|own| own.strip_suffix('"')).unwrap_or(&spelled);
        quote.contains(&self.text) || self.pointer.contains('#') && quote.contains(inner)
    }
}

/// How old the evidence is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Age {
    /// Things the user said since.
    pub turns: u32,
    /// Compactions recorded in the transcript since.
    pub compactions: u32,
}

/// Whether a question has an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It has one.
    Asked,
    /// It looks like another one and must be refused or corrected.
    Twin,
}

/// A change to the bytes of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Where.
    pub at: usize,
    /// How many bytes go.
    pub remove: usize,
    /// What comes in their place.
    pub insert: String,
}

/// A transcript that was changed on purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// What was done: `cut` or `planted`.
    pub name: String,
    /// The changes, last first.
    pub edits: Vec<Edit>,
}

impl Variant {
    /// The changed bytes.
    pub fn apply(&self, bytes: &[u8]) -> Vec<u8> {
        let mut changed = bytes.to_vec();
        for edit in &self.edits {
            let end = edit.at.saturating_add(edit.remove).min(changed.len());
            let start = edit.at.min(end);
            changed.splice(start..end, edit.insert.bytes());
        }
        changed
    }
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Its name.
    pub id: String,
    /// Its family.
    pub family: Family,
    /// Its kind inside the family.
    pub kind: String,
    /// Whether it has an answer.
    pub role: Role,
    /// Of a twin, the question it looks like.
    pub twin_of: Option<String>,
    /// The transcript, by its place below the folder of transcripts.
    pub transcript: String,
    /// The SHA-256 of the transcript, before changes.
    pub transcript_sha256: String,
    /// The project.
    pub project: String,
    /// The format.
    pub format: String,
    /// What was changed in the transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// The question in the query language.
    pub query: String,
    /// The question in plain words, five times, and twice more in words that are held out.
    pub plain: Vec<String>,
    /// The right answer.
    pub expect: Expect,
    /// Where it stands.
    pub gold: Vec<Gold>,
    /// The class of the evidence: `narrative`, `structured` or `side-effecting`.
    pub class: String,
    /// How old the evidence is.
    pub age: Age,
    /// Whether part of the session cannot be read, such that withholding the answer is right as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
}

#[cfg(test)]
impl Question {
    /// A question for tests, which fill in what they are about.
    pub(crate) fn blank() -> Self {
        Self {
            id: "q".into(),
            family: Family::F4,
            kind: "quote".into(),
            role: Role::Asked,
            twin_of: None,
            transcript: String::new(),
            transcript_sha256: String::new(),
            project: String::new(),
            format: String::new(),
            variant: None,
            query: String::new(),
            plain: Vec::new(),
            expect: Expect::Cited,
            gold: Vec::new(),
            class: String::new(),
            age: Age::default(),
            open: false,
        }
    }
}

/// Text as one exact byte sequence of the query language.
pub fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_changes_only_what_it_names() {
        let edits = vec![
            Edit { at: 4, remove: 2, insert: "XYZ".into() },
            Edit { at: 1, remove: 0, insert: "-".into() },
        ];
        let variant = Variant { name: "planted".into(), edits };
        assert_eq!(variant.apply(b"abcdefg"), b"a-bcdXYZg");
    }

    #[test]
    fn gold_in_arguments_may_be_quoted_as_they_are_spelled() {
        let gold = |pointer: &str| Gold {
            text: "say \"a\"\nthen b".into(),
            record: 1,
            pointer: pointer.into(),
            bytes: (0, 0),
            sha256: String::new(),
            speaker: "assistant".into(),
            copies: Vec::new(),
        };
        let (inside, outside) = (gold("/tool_calls/0/function/arguments#/text"), gold("/content"));
        let spelled = r#"{"text":"say \"a\"\nthen b"}"#;
        assert!(inside.stands_in(spelled) && !outside.stands_in(spelled));
        assert!(outside.stands_in("they say \"a\"\nthen b."));
        assert!(!inside.stands_in(r#"{"text":"say \"a\"\nthen c"}"#));
    }

    #[test]
    fn quotes_are_escaped() {
        assert_eq!(quoted("a\"b\\c"), r#""a\"b\\c""#);
    }
}
