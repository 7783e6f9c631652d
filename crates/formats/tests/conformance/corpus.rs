//! Fixtures of our own, and real files where they are at hand.

use std::path::{Path, PathBuf};

use strongroom_formats::{Format, by_name};

/// A transcript with its format.
pub(crate) struct Sample {
    pub(crate) format: &'static dyn Format,
    pub(crate) bytes: Vec<u8>,
    pub(crate) name: String,
}

const FIXTURES: &[(&str, &[u8])] = &[
    ("claude-code", include_bytes!("../fixtures/claude-code.jsonl")),
    ("codex", include_bytes!("../fixtures/codex.jsonl")),
    ("openai-chat", include_bytes!("../fixtures/openai-chat.json")),
    ("anthropic-messages", include_bytes!("../fixtures/anthropic-messages.json")),
    ("openai-responses", include_bytes!("../fixtures/openai-responses.json")),
    ("pi", include_bytes!("../fixtures/pi.jsonl")),
    ("genai-contents", include_bytes!("../fixtures/genai-contents.json")),
    ("langchain", include_bytes!("../fixtures/langchain-dict.json")),
    ("langchain", include_bytes!("../fixtures/langchain-lc.json")),
    ("cline", include_bytes!("../fixtures/cline.json")),
    ("cline", include_bytes!("../fixtures/cline-task.json")),
    ("goose", include_bytes!("../fixtures/goose.jsonl")),
    ("openhands", include_bytes!("../fixtures/openhands-v0.json")),
    ("openhands", include_bytes!("../fixtures/openhands-v1.jsonl")),
    ("gemini-cli", include_bytes!("../fixtures/gemini-cli.json")),
    ("gemini-cli", include_bytes!("../fixtures/gemini-cli.jsonl")),
    ("gemini-cli", include_bytes!("../fixtures/gemini-stream.jsonl")),
];

pub(crate) fn fixtures() -> Vec<Sample> {
    let sample = |(name, bytes): &(&str, &[u8])| Sample {
        format: by_name(name).unwrap(),
        bytes: bytes.to_vec(),
        name: (*name).to_owned(),
    };
    FIXTURES.iter().map(sample).collect()
}

pub(crate) fn fixture(name: &str) -> Sample {
    fixtures().into_iter().find(|sample| sample.name == name).unwrap()
}

/// Where real files of each format stand below the shared directory.
const REAL: &[(&str, &str)] = &[
    ("claude-code", "transcripts/claude-code"),
    ("claude-code", "transcripts/claude-code-fixtures"),
    ("codex", "transcripts/codex"),
    ("openai-chat", "transcripts/derived/openai-chat"),
    ("anthropic-messages", "transcripts/derived/anthropic-messages"),
    ("openai-responses", "transcripts/derived/openai-responses"),
    ("pi", "transcripts/pi"),
    ("cline", "transcripts/cline/cline__cline/sdk/packages/core/fixtures"),
    ("openhands", "transcripts/openhands-v0/All-Hands-AI__OpenHands/tests"),
    ("openhands", "transcripts/openhands-v0/All-Hands-AI__OpenHands/evaluation/benchmarks/multi_swe_bench"),
    ("openhands", "transcripts/openhands-v1/OpenHands__software-agent-sdk/tests/sdk"),
    ("genai-contents", "transcripts/genai-contents"),
    ("gemini-cli", "transcripts/gemini-cli/entireio__cli"),
];

pub(crate) fn shared() -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared"));
    if path.is_dir() {
        return Some(path.to_owned());
    }
    println!("SKIPPED: no real transcripts at {}", path.display());
    None
}

pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![directory.to_owned()];
    while let Some(directory) = todo.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { todo.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// Calls `visit` for every real file of at most `bytes_max` bytes whose format is detected as the directory says.
pub(crate) fn for_each_real(bytes_max: u64, visit: &mut dyn FnMut(&Sample)) {
    let Some(shared) = shared() else { return };
    for &(name, directory) in REAL {
        for path in files(&shared.join(directory)) {
            let is_transcript =
                path.extension().is_some_and(|extension| extension == "jsonl" || extension == "json");
            // An export of another tool that lies among the fixtures.
            let other = path.ends_with("sample_session.json") || path.ends_with("session/session.json");
            if !is_transcript || other || std::fs::metadata(&path).unwrap().len() > bytes_max {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            visit(&Sample { format: by_name(name).unwrap(), bytes, name: path.display().to_string() });
        }
    }
}

/// Calls `visit` for every input of the shared cases.
pub(crate) fn for_each_case(visit: &mut dyn FnMut(&Sample)) {
    let Some(shared) = shared() else { return };
    let formats = [
        ("claude-code-jsonl", "claude-code"),
        ("codex-rollout-jsonl", "codex"),
        ("openai-chat-json", "openai-chat"),
        ("anthropic-messages-json", "anthropic-messages"),
    ];
    for path in files(&shared.join("cases"))
        .into_iter()
        .filter(|path| path.file_stem().is_some_and(|stem| stem == "input"))
    {
        let expect = std::fs::read_to_string(path.with_file_name("expect.md")).unwrap();
        let named = formats.iter().find(|(label, _)| expect.contains(&format!("\"format\": \"{label}\"")));
        let Some((_, name)) = named else { continue };
        let bytes = std::fs::read(&path).unwrap();
        visit(&Sample { format: by_name(name).unwrap(), bytes, name: path.display().to_string() });
    }
}

#[test]
fn every_format_has_a_fuzz_target() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).unwrap();
    for format in strongroom_formats::all() {
        let name = format!("name = \"{}\"\npath = \"src/format.rs\"", format.name());
        assert!(manifest.contains(&name), "{} has none", format.name());
    }
}
