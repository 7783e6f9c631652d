//! Vendor transcript formats.
//!
//! The question this crate answers: *what do these bytes hold, and how does this agent want them written back?*
//!
//! It knows vendors' schemas, JSON with byte offsets, and splicing. It does not know archives, policy or evidence.
//!
//! Modules are listed in the order in which data flows; a module may use only modules above it.

pub mod json;

mod content;

pub mod lines;

mod ids;

mod part;

mod outcome;

mod format;

mod masks;

mod anthropic;

mod nested;

mod patch;

mod declared;

mod document;

mod elide;

mod fold;

mod responses;

mod copies;

mod chat;

mod openai_chat;

mod anthropic_messages;

mod openai_responses;

mod langchain;

mod cline;

mod goose;

mod genai;

mod gemini_cli;

mod codex;

mod pi;

mod openhands;

mod claude_code;

mod swe_agent;

mod mini_swe_agent;

mod tau_bench;

mod inspect;

mod atif;

mod copilot_cli;

mod opencode;

mod otel;

mod stream;

mod agui;

mod acp;

mod sections;

mod aider;

mod specstory;

mod text;

mod read_only;

mod detect;

pub use content::{ARGUMENT_BYTES_MAX, argument_range, arguments, raw_range, text};
pub use detect::{Detected, LINES_MAX, all, by_name, detect, look};
pub use document::DOCUMENT_BYTES_MAX;
pub use format::{CLEARINGS, CUT_HISTORY, Edit, Format, Mask, Resume, Spliced};
pub use part::PASTE_BYTES_MIN;
