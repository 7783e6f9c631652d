//! Everything that stood in a session up to some place, as texts that can be searched.

use strongroom_core::transcript::{BlockKind, Speaker};
use strongroom_evidence::effect::{EffectKind, Outcome};

use super::rest::text_of;
use super::sides::Part;
use super::text::{plain, spaced, tight};
use crate::consent::{Turn, Voice};
use crate::reading::{ReadSpan, Reading};

/// Names that agents know from their instructions, which no log holds.
const INSTRUCTIONS: &str = "claude.md agents.md gemini.md askuserquestion exitplanmode enterplanmode todowrite todoread \
    taskcreate taskupdate notebookedit websearch webfetch multiedit apply_patch update_plan write_stdin old_string \
    new_string file_path replace_all run_in_background /compact /clear /resume /init .claude/settings.json";

/// A growing text: after each span, how long it was.
#[derive(Debug, Default)]
struct Texts {
    plain: String,
    tight: String,
    spaced: String,
    ends: Vec<(usize, usize, usize)>,
}

impl Texts {
    fn push(&mut self, text: &str) {
        if !text.is_empty() {
            self.plain.push_str(&plain(text));
            self.plain.push('\n');
            self.tight.push_str(&tight(text));
            self.tight.push('\n');
            self.spaced.push_str(&spaced(text));
        }
    }

    fn end(&mut self) {
        self.ends.push((self.plain.len(), self.tight.len(), self.spaced.len()));
    }

    fn until(&self, spans: usize) -> View<'_> {
        let (plain, tight, spaced) =
            spans.checked_sub(1).and_then(|at| self.ends.get(at)).copied().unwrap_or_default();
        View {
            plain: self.plain.get(..plain).unwrap_or_default(),
            tight: self.tight.get(..tight).unwrap_or_default(),
            spaced: self.spaced.get(..spaced).unwrap_or_default(),
        }
    }
}

/// A text in three spellings.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'g> {
    /// Lower case, single blanks.
    pub(super) plain: &'g str,
    /// Letters and digits.
    pub(super) tight: &'g str,
    /// Words with single blanks.
    pub(super) spaced: &'g str,
}

/// A whole session, ready to be searched up to any of its spans.
#[derive(Debug, Default)]
pub(super) struct Ground {
    user: Texts,
    all: Texts,
    turns: Vec<Turn>,
    /// What has no place in the order: other files of the session, names of directories, instructions.
    beside: Texts,
}

/// What stood before a boundary. Summaries count as said: what they were made from may stand in another file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said<'g> {
    pub(super) user: View<'g>,
    pub(super) all: View<'g>,
    pub(super) beside: View<'g>,
    pub(super) turns: &'g [Turn],
}

impl Ground {
    /// `others` is what the other files of the session hold.
    pub(super) fn of(whole: &Reading<'_>, others: &str) -> Self {
        let mut ground = Self::default();
        for (span, at) in whole.spans.iter().zip(0usize..) {
            ground.add(span, at);
        }
        ground.beside.push(others);
        ground.beside.push(INSTRUCTIONS);
        let mut named: Vec<&str> = Vec::new();
        for record in &whole.transcript.index().records {
            for name in record.cwd.iter().chain(&record.session) {
                if !named.contains(&name.as_str()) {
                    named.push(name);
                    ground.beside.push(name);
                }
            }
        }
        ground.beside.push(whole.transcript.name());
        ground.beside.end();
        ground
    }

    fn add(&mut self, span: &ReadSpan<'_>, at: usize) {
        let text = text_of(&Part::whole(span));
        let by_user = is_by_user(span);
        if by_user {
            self.user.push(&text);
        }
        self.all.push(&text);
        for block in &span.content.blocks {
            if let BlockKind::Call(facts) = &block.block.kind {
                self.all.push(&facts.tool);
            }
            for leaf in block.arguments.iter().flat_map(|tree| &tree.leaves) {
                self.all.push(&leaf.pointer);
            }
        }
        self.user.end();
        self.all.end();
        let speaks = |block: &strongroom_evidence::content::BlockContent<'_>| {
            block.block.speaker == Speaker::Assistant && matches!(block.block.kind, BlockKind::Text)
        };
        if by_user {
            self.turns.push(Turn { span: at, voice: Voice::User, text });
        } else if span.content.blocks.iter().any(speaks) {
            self.turns.push(Turn { span: at, voice: Voice::Agent, text });
        }
    }

    /// What the first `spans` spans hold.
    pub(super) fn until(&self, spans: usize) -> Said<'_> {
        let turns = self.turns.partition_point(|turn| turn.span < spans);
        Said {
            user: self.user.until(spans),
            all: self.all.until(spans),
            beside: self.beside.until(1),
            turns: self.turns.get(..turns).unwrap_or_default(),
        }
    }
}

/// Whether the user speaks: in a message, by an answer to a question of the agent, or by what is written when a call is
/// refused.
fn is_by_user(span: &ReadSpan<'_>) -> bool {
    let asked = span.examination.effects.iter().any(|effect| effect.kind == EffectKind::HumanHandoff);
    let refused = span.examination.outcome == Outcome::Refused;
    asked || refused || span.content.blocks.iter().any(|block| block.block.speaker == Speaker::User)
}
