//! Which lines the agent would load: the chain of uuids, boundaries, fan-out, other sessions, rewinds.

use std::collections::{BTreeSet, HashMap};

use strongroom_core::transcript::{BlockKind, Branch, Record, Visibility};

use super::read::{Home, Link, Role};

/// Where a line lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// On no path.
    Off,
    /// On a path, and no longer sent: before a boundary, or of another session in the same file.
    Past,
    /// On the path that would be sent.
    Sent,
}

/// The lines of a file as a forest.
struct Forest<'l> {
    records: &'l [Record],
    links: &'l [Link],
    /// The line that counts for each uuid: the last.
    by_id: HashMap<&'l str, usize>,
    parents: Vec<Option<usize>>,
    /// Whether every message is a child's: then the child's view is what is sent.
    child: bool,
    marks: Vec<Mark>,
}

/// Sets branch and visibility of all records; returns the number of sessions whose chains do not meet.
pub(super) fn resolve(records: &mut [Record], links: &[Link]) -> usize {
    let mut forest = Forest::new(records, links);
    let sessions = forest.walk_all();
    let outcome = Outcome { marks: forest.marks.clone(), stray: forest.stray(), child: forest.child };
    apply(records, links, &outcome);
    clear_microcompacted(records, links, &outcome.marks);
    sessions
}

/// The first message where it answers one that is not in the file: the session goes on from another.
pub(super) fn cut_at<'r>(records: &'r [Record], links: &[Link]) -> Option<&'r Record> {
    let chained = |(_, link): &(&Record, &Link)| link.role != Role::None && link.home == Home::Main;
    let (record, link) = records.iter().zip(links).find(chained)?;
    let parent = link.parent.as_deref()?;
    records.iter().all(|other| other.id.as_deref() != Some(parent)).then_some(record)
}

struct Outcome {
    marks: Vec<Mark>,
    /// Lines off every path that do not hang on one either.
    stray: Vec<bool>,
    child: bool,
}

impl<'l> Forest<'l> {
    fn new(records: &'l [Record], links: &'l [Link]) -> Self {
        let mut by_id = HashMap::new();
        for (at, (record, link)) in records.iter().zip(links).enumerate() {
            if let (Some(id), true) = (record.id.as_deref(), link.role != Role::None) {
                by_id.insert(id, at);
            }
        }
        let is_main =
            |link: &Link| matches!(link.role, Role::User | Role::Assistant) && link.home == Home::Main;
        let child = !links.iter().any(is_main);
        let lookup = |id: &Option<String>| id.as_deref().and_then(|id| by_id.get(id).copied());
        let mut parents: Vec<Option<usize>> = links.iter().map(|link| lookup(&link.parent)).collect();
        for (head, anchor) in links.iter().filter_map(|link| link.preserved.as_ref()) {
            if let (Some(head), Some(anchor)) = (by_id.get(head.as_str()), by_id.get(anchor.as_str()))
                && let Some(parent) = parents.get_mut(*head)
            {
                *parent = Some(*anchor);
            }
        }
        Self { records, links, by_id, parents, child, marks: vec![Mark::Off; records.len()] }
    }

    fn link(&self, at: usize) -> Option<&'l Link> {
        self.links.get(at)
    }

    fn role(&self, at: usize) -> Role {
        self.link(at).map_or(Role::None, |link| link.role)
    }

    fn is_home(&self, at: usize) -> bool {
        self.child || self.link(at).is_some_and(|link| link.home == Home::Main)
    }

    fn parent(&self, at: usize) -> Option<usize> {
        self.parents.get(at).copied().flatten()
    }

    fn is_marked(&self, at: usize) -> bool {
        self.marks.get(at).is_some_and(|mark| *mark != Mark::Off)
    }

    fn set(&mut self, at: usize, mark: Mark) {
        if let Some(slot) = self.marks.get_mut(at) {
            *slot = mark;
        }
    }

    fn session(&self, at: usize) -> Option<&'l str> {
        self.records.get(at).and_then(|record| record.session.as_deref())
    }

    /// Walks from the session's own leaf, then from the last leaf of every session that no walk has met.
    fn walk_all(&mut self) -> usize {
        let leaves = self.leaves();
        let Some(&leaf) = leaves.last() else { return 0 };
        self.walk(leaf, Mark::Sent);
        let marked = (0..self.records.len()).filter(|&at| self.is_marked(at));
        let mut met: BTreeSet<&str> = marked.filter_map(|at| self.session(at)).collect();
        let mut sessions = 1;
        for &leaf in leaves.iter().rev() {
            let fresh = self.session(leaf).is_some_and(|session| met.insert(session));
            if fresh && !self.ancestors(leaf).last().is_some_and(|&top| self.is_marked(top)) {
                sessions += 1;
                self.walk(leaf, Mark::Past);
            }
        }
        self.fan_out();
        sessions
    }

    /// The messages at which a conversation can end, in order of the file.
    fn leaves(&self) -> Vec<usize> {
        let mut is_parent = vec![false; self.records.len()];
        for (at, parent) in self.parents.iter().enumerate() {
            let record = self.records.get(at).and_then(|record| record.id.as_deref());
            let counts = record.is_some_and(|id| self.by_id.get(id) == Some(&at)) && self.is_home(at);
            if let Some(slot) = parent.filter(|_| counts).and_then(|parent| is_parent.get_mut(parent)) {
                *slot = true;
            }
        }
        let mut ends: Vec<usize> =
            self.by_id.values().copied().filter(|&at| is_parent.get(at) == Some(&false)).collect();
        ends.sort_unstable();
        let message = |at: usize| matches!(self.role(at), Role::User | Role::Assistant);
        let nearest = self.nearest(message);
        let mut reached: BTreeSet<usize> = BTreeSet::new();
        for end in ends {
            let Some(leaf) = nearest.get(end).copied().flatten() else { continue };
            let meta = self.link(leaf).is_some_and(|link| link.meta);
            if self.is_home(leaf) && !meta {
                reached.insert(leaf);
            }
        }
        if reached.is_empty() {
            let last = (0..self.records.len()).rfind(|&at| message(at) && self.is_home(at));
            return last.into_iter().collect();
        }
        reached.into_iter().collect()
    }

    /// For each line the nearest one at or above it that is wanted. Every line is passed once.
    fn nearest(&self, wanted: impl Fn(usize) -> bool) -> Vec<Option<usize>> {
        let mut known: Vec<Option<Option<usize>>> = vec![None; self.records.len()];
        for start in 0..self.records.len() {
            let mut passed = Vec::new();
            let mut next = Some(start);
            let found = loop {
                let Some(at) = next else { break None };
                match known.get_mut(at) {
                    Some(Some(found)) => break *found,
                    // A ring ends here: what is being walked counts as without a nearest line.
                    Some(slot) => *slot = Some(None),
                    None => break None,
                }
                passed.push(at);
                if wanted(at) {
                    break Some(at);
                }
                next = self.parent(at);
            };
            for at in passed {
                if let Some(slot) = known.get_mut(at) {
                    *slot = Some(found);
                }
            }
        }
        known.into_iter().map(Option::flatten).collect()
    }

    /// The line and everything above it up to a root or the first marked line; a ring ends where it closes.
    fn ancestors(&self, from: usize) -> Vec<usize> {
        let mut seen = BTreeSet::new();
        let mut path = Vec::new();
        let mut next = Some(from);
        while let Some(at) = next.filter(|at| seen.insert(*at)) {
            path.push(at);
            next = self.parent(at).filter(|_| !self.is_marked(at));
        }
        path
    }

    /// Marks the path of `leaf`, then the paths that end before each boundary it reaches.
    fn walk(&mut self, leaf: usize, mark: Mark) {
        let mut leaf = leaf;
        let mut mark = mark;
        loop {
            let mut root = leaf;
            for at in self.ancestors(leaf) {
                if self.is_marked(at) {
                    return;
                }
                self.set(at, mark);
                root = at;
            }
            // A parent that is not in the file was cut off with it, which is no rewind.
            let dangling = self.link(root).is_some_and(|link| link.parent.is_some());
            if self.role(root) != Role::Boundary && !dangling {
                return;
            }
            let Some(before) = self.before_boundary(root) else { return };
            leaf = before;
            mark = Mark::Past;
        }
    }

    /// The line that the conversation had reached when it was compacted.
    fn before_boundary(&self, boundary: usize) -> Option<usize> {
        let named = self.link(boundary)?.logical_parent.as_deref().and_then(|id| self.by_id.get(id).copied());
        let session = self.session(boundary);
        let is_before = |at: &usize| {
            self.role(*at) != Role::None
                && self.is_home(*at)
                && self.session(*at) == session
                && !self.is_marked(*at)
        };
        named.filter(|at| !self.is_marked(*at)).or_else(|| (0..boundary).rev().find(is_before))
    }

    /// Parallel calls hang on different lines of one message: marks those lines and the results of their calls.
    fn fan_out(&mut self) {
        let mut messages: HashMap<&str, Mark> = HashMap::new();
        let mut answered: BTreeSet<(&str, bool)> = BTreeSet::new();
        for at in 0..self.records.len() {
            let (Some(record), true) = (self.records.get(at), self.is_marked(at)) else { continue };
            let mark = self.marks.get(at).copied().unwrap_or(Mark::Off);
            if let (Some(id), Role::Assistant) = (record.message_id.as_deref(), self.role(at)) {
                messages.insert(id, mark);
            }
            answered.extend(answers(record).map(|call| (call, mark == Mark::Sent)));
        }
        for at in 0..self.records.len() {
            let (Some(record), Some(link)) = (self.records.get(at), self.link(at)) else { continue };
            if self.is_marked(at) || !self.is_home(at) {
                continue;
            }
            let source = link.source_assistant.as_deref().and_then(|id| self.by_id.get(id).copied());
            let above = [self.parent(at), source].into_iter().flatten().find(|&above| self.is_marked(above));
            let Some(mark) = above.and_then(|above| self.marks.get(above).copied()) else { continue };
            let joins = match link.role {
                Role::Assistant => record.message_id.as_deref().is_some_and(|id| messages.contains_key(id)),
                Role::User => {
                    let mut calls = answers(record).peekable();
                    calls.peek().is_some()
                        && calls.all(|call| !answered.contains(&(call, mark == Mark::Sent)))
                }
                Role::None | Role::Boundary | Role::Other => false,
            };
            if joins {
                answered.extend(answers(record).map(|call| (call, mark == Mark::Sent)));
                self.set(at, mark);
            }
        }
    }

    /// Lines that hang on no path: what a rewind or fork left.
    fn stray(&self) -> Vec<bool> {
        let message = |at: usize| self.is_marked(at) || matches!(self.role(at), Role::User | Role::Assistant);
        let nearest = self.nearest(message);
        let is_stray = |at: usize| {
            let chained = self.role(at) != Role::None && self.is_home(at) && !self.is_marked(at);
            chained && nearest.get(at).copied().flatten().is_some_and(|nearest| !self.is_marked(nearest))
        };
        (0..self.records.len()).map(is_stray).collect()
    }
}

fn answers(record: &Record) -> impl Iterator<Item = &str> {
    record.blocks.iter().filter_map(|block| match &block.kind {
        BlockKind::Result(facts) => facts.call_id.as_deref(),
        _ => None,
    })
}

fn apply(records: &mut [Record], links: &[Link], outcome: &Outcome) {
    let unchained = links.iter().all(|link| link.role == Role::None);
    for (at, (record, link)) in records.iter_mut().zip(links).enumerate() {
        let mark = outcome.marks.get(at).copied().unwrap_or(Mark::Off);
        if outcome.stray.get(at) == Some(&true) {
            record.branch = Branch::Abandoned;
        }
        let foreign = link.home == Home::Foreign && !outcome.child;
        let visibility = match mark {
            _ if unchained => Visibility::Context,
            _ if foreign => Visibility::Aside,
            Mark::Sent => Visibility::Context,
            Mark::Past | Mark::Off => Visibility::Past,
        };
        for block in &mut record.blocks {
            if block.visibility == Visibility::Context {
                block.visibility = visibility;
            }
        }
    }
}

/// Results that a microcompaction cleared are sent as a placeholder; the file keeps their text.
fn clear_microcompacted(records: &mut [Record], links: &[Link], marks: &[Mark]) {
    let mut cleared: HashMap<&str, usize> = HashMap::new();
    for (at, link) in links.iter().enumerate() {
        if marks.get(at) == Some(&Mark::Sent) {
            cleared.extend(link.cleared.iter().map(|id| (id.as_str(), at)));
        }
    }
    for (at, record) in records.iter_mut().enumerate().filter(|_| !cleared.is_empty()) {
        let is_cleared = |id: &str| cleared.get(id).is_some_and(|&boundary| at < boundary);
        let whole = record.id.as_deref().is_some_and(is_cleared);
        for block in record.blocks.iter_mut().filter(|block| block.visibility == Visibility::Context) {
            let gone = match &block.kind {
                BlockKind::Result(facts) => facts.call_id.as_deref().is_some_and(is_cleared),
                _ => whole,
            };
            if gone {
                block.visibility = Visibility::Past;
            }
        }
    }
}

/// What the agent sends in place of a cleared result.
pub(super) const PLACEHOLDER: &str = "[Old tool result content cleared]";

/// Names the agent of side chains that carry no agent id after the line they start with.
pub(super) fn name_side_chains(records: &mut [Record], links: &[Link]) {
    let forest = Forest::new(records, links);
    let mut roots: HashMap<usize, usize> = HashMap::new();
    let mut names: Vec<(usize, String)> = Vec::new();
    for (at, link) in links.iter().enumerate() {
        let Some(record) =
            records.get(at).filter(|record| record.agent.is_none() && link.home == Home::Foreign)
        else {
            continue;
        };
        if record.id.is_none() || link.role == Role::None {
            continue;
        }
        let is_side = |up: &usize| links.get(*up).is_some_and(|link| link.home == Home::Foreign);
        let root = match forest.parent(at).filter(is_side) {
            Some(up) => roots.get(&up).copied().unwrap_or(up),
            None => at,
        };
        roots.insert(at, root);
        let name = records.get(root).and_then(|root| root.id.as_deref()).unwrap_or_default();
        names.push((at, format!("sidechain-{name}")));
    }
    for (at, name) in names {
        if let Some(record) = records.get_mut(at) {
            record.agent = Some(name);
        }
    }
}
