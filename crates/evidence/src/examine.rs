//! The examination of one span: its atoms, effects, rules, secrets and class.

use std::ops::Range;

use strongroom_core::evidence::SpanEvidence;
use strongroom_core::transcript::BlockRef;

use crate::atom::Atom;
use crate::effect::{Effect, Outcome};

/// What one span proves.
#[derive(Debug, Clone)]
pub struct Examination {
    /// The facts for the gate.
    pub evidence: SpanEvidence,
    /// The atoms, each with the block it stands in.
    pub atoms: Vec<(BlockRef, Atom)>,
    /// The effects of a call, reads included; empty of anything else.
    pub effects: Vec<Effect>,
    /// How the call ended.
    pub outcome: Outcome,
    /// Programs of a shell line, through wrappers; the tool's name otherwise.
    pub programs: Vec<String>,
    /// Secrets in decoded texts, to be masked in every view.
    pub secrets: Vec<Secret>,
    /// Standing rules stated in it: the sentence's place in the decoded text.
    pub rules: Vec<(BlockRef, Range<usize>)>,
}

/// A secret in a decoded text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// The block.
    pub at: BlockRef,
    /// The JSON pointer inside the arguments where it stands in one; `None` in the block's text.
    pub argument: Option<String>,
    /// Its bytes in the decoded text or argument.
    pub range: Range<usize>,
    /// Which rule found it, e.g. `aws-access-key`.
    pub rule: &'static str,
}
