//! Decoded spans: what adapters hand to the examination.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::sync::Arc;

use strongroom_core::span::Span;
use strongroom_core::transcript::{ArgumentTree, Block, BlockKind, BlockRef, Record, Scalar};

/// A block with its decoded text.
#[derive(Debug, Clone)]
pub struct BlockContent<'a> {
    /// Its place in the index.
    pub at: BlockRef,
    /// The record it stands in.
    pub record: &'a Record,
    /// The block itself.
    pub block: &'a Block,
    /// Its decoded text; empty where it has none.
    pub text: String,
    /// The arguments, of a call.
    pub arguments: Option<ArgumentTree>,
}

/// A span with its decoded blocks; renditions of the same event are left out.
#[derive(Debug, Clone)]
pub struct SpanContent<'a> {
    /// The span.
    pub span: &'a Span,
    /// Its original blocks, in order.
    pub blocks: Vec<BlockContent<'a>>,
    /// What follows it in the same turn.
    pub next: Next,
}

/// What follows a span in the same turn of the same agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Next {
    /// Tool calls: a stated intent is realised and recorded. With it the texts of the calls up to the next prose,
    /// as of [`call_text`].
    Call(Arc<str>),
    /// Anything else, or nothing.
    Other,
}

/// The texts of calls that follow one another, joined, until the limit.
pub fn join_calls<'t>(calls: impl IntoIterator<Item = &'t str>) -> String {
    let mut text = String::new();
    for call in calls {
        add_capped(&mut text, call);
    }
    text
}

/// The texts of calls of a turn, the latest first, up to the limit. They are joined when they are first looked at,
/// which few sentences ask for.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    texts: VecDeque<String>,
    bytes: usize,
    joined: OnceCell<String>,
}

impl Calls {
    /// Puts a call before all others.
    pub fn push(&mut self, text: String) {
        self.bytes += text.len();
        self.texts.push_front(text);
        while let Some(last) = self.texts.back().filter(|last| self.bytes - last.len() >= CALL_TEXT_BYTES_MAX)
        {
            self.bytes -= last.len();
            self.texts.pop_back();
        }
        self.joined.take();
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The texts, joined as of [`join_calls`].
    pub fn text(&self) -> &str {
        self.joined.get_or_init(|| join_calls(self.texts.iter().map(String::as_str)))
    }
}

impl From<&str> for Calls {
    fn from(text: &str) -> Self {
        let mut calls = Self::default();
        calls.push(text.to_owned());
        calls
    }
}

/// Adds `own` as a line, cut so that no text is longer than the limit and a few line ends.
fn add_capped(text: &mut String, own: &str) {
    let end = own.floor_char_boundary(CALL_TEXT_BYTES_MAX.saturating_sub(text.len()));
    if end > 0 {
        text.push_str(own.get(..end).unwrap_or_default());
        text.push('\n');
    }
}

/// The longest text of a call that is looked at for what prose beside it names, in bytes.
pub const CALL_TEXT_BYTES_MAX: usize = 65_536;

/// What a call says: its tool, its arguments and its results, one on a line, until the limit.
pub fn call_text(blocks: &[BlockContent<'_>]) -> String {
    let mut text = String::new();
    let mut add = |own: &str| add_capped(&mut text, own);
    for block in blocks {
        if let BlockKind::Call(facts) = &block.block.kind {
            add(&facts.tool);
        }
        for leaf in block.arguments.iter().flat_map(|arguments| &arguments.leaves) {
            if let Scalar::String(own) | Scalar::Number(own) = &leaf.value {
                add(own);
            }
        }
        if let BlockKind::Result(_) = &block.block.kind {
            add(&block.text);
        }
    }
    text
}
