//! Decoded spans: what adapters hand to the examination.

use strongroom_core::span::Span;
use strongroom_core::transcript::{ArgumentTree, Block, BlockRef, Record};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Next {
    /// A tool call: a stated intent is realised and recorded.
    Call,
    /// Anything else, or nothing.
    Other,
}
