//! Verdicts: from what was found to an answer, form by form.

use std::collections::BTreeMap;

use strongroom_core::digest::Digest;
use strongroom_core::transcript::{Encoding, TextRange};

use super::absence;
use super::cite::Citer;
use super::claim::{self, Weight};
use super::matching::Compiled;
use super::position::{Lie, Positions};
use super::report::{self, Report};
use super::row::{self, Row, What};
use super::secret::Secrets;
use super::select::{self, Asks, Found};
use super::{Answer, Finding, Options, PassedOver, Searched, Verdict, facet, image, statement};
use crate::effect::{Assumption, Outcome};
use crate::query::{Clause, Field, Form, Noun, Query, QueryError, Sign};
use crate::session::{Hole, HoleKind, Scope};

/// Everything a decision about one clause needs.
pub(super) struct Case<'c, 's> {
    pub(super) scope: &'s Scope<'s>,
    pub(super) clause: &'c Compiled<'c>,
    pub(super) positions: &'c Positions<'s>,
    pub(super) options: &'c Options<'c>,
    pub(super) reading: String,
    pub(super) secrets: &'c Secrets<'s>,
}

/// What every question of a scope is asked against, worked out once.
pub(super) struct Ground<'s> {
    scope: &'s Scope<'s>,
    pub(super) positions: Positions<'s>,
    pub(super) secrets: Secrets<'s>,
}

impl<'s> Ground<'s> {
    pub(super) fn of(scope: &'s Scope<'s>) -> Self {
        Self { scope, positions: Positions::new(scope), secrets: Secrets::collect(scope) }
    }

    /// The clause, ready to be tested.
    ///
    /// # Errors
    /// When it names something that cannot be asked.
    pub(super) fn compile<'c>(
        &'c self,
        clause: &'c Clause,
        options: &'c Options<'c>,
    ) -> Result<Compiled<'c>, QueryError> {
        Compiled::new(clause, options, &self.secrets)
    }

    /// The case of one clause of `query`.
    pub(super) fn case<'c>(
        &'c self,
        query: &Query,
        clause: &'c Compiled<'c>,
        options: &'c Options<'c>,
    ) -> Case<'c, 's> {
        Case {
            scope: self.scope,
            clause,
            positions: &self.positions,
            options,
            reading: query.to_string(),
            secrets: &self.secrets,
        }
    }
}

/// What a decision comes to, before it is put together.
#[derive(Default)]
pub(super) struct Draft<'s> {
    pub(super) verdict: Option<Verdict>,
    pub(super) answer: Option<String>,
    pub(super) values: Vec<Finding>,
    pub(super) cited: Vec<Row<'s>>,
    pub(super) reports: Vec<Report<'s>>,
    pub(super) blocking_rows: Vec<Row<'s>>,
    pub(super) blocking_holes: Vec<&'s Hole>,
    pub(super) absent: bool,
}

pub(super) fn decide(query: &Query, scope: &Scope<'_>, options: &Options<'_>) -> Result<Answer, QueryError> {
    let ground = Ground::of(scope);
    let first = ground.compile(&query.clause, options)?;
    let case = ground.case(query, &first, options);
    let Some(order) = &query.order else {
        let form = query.form.unwrap_or(query.clause.noun.default_form());
        let found = select::find(scope, &first, case.positions, options, Asks::of(Some(form)))?;
        return case.assemble(case.form(form, &found)?);
    };
    let mut found = select::find(scope, &first, case.positions, options, Asks::of(query.form))?;
    let second = ground.compile(&order.clause, options)?;
    let other = ground.case(query, &second, options);
    let against = select::find(scope, &second, other.positions, options, Asks::Requests)?;
    let Some(form) = query.form else { return relate(&case, &found, &other, &against) };
    let Some(mark) = select::picked(&against, order.pick) else {
        return other.one_side_missing(&against);
    };
    select::keep_ordered(&mut found, order, mark, case.positions);
    let draft = case.form(form, &found)?;
    let mut answer = case.assemble(draft)?;
    if answer.verdict == Verdict::Supported {
        answer.citations.extend(other.citer().row(mark));
    }
    Ok(answer)
}

impl<'c, 's> Case<'c, 's> {
    pub(super) fn citer(&self) -> Citer<'c, 's> {
        Citer { scope: self.scope, clause: self.clause, options: self.options, secrets: self.secrets }
    }

    fn noun(&self) -> Noun {
        self.clause.clause.noun
    }

    fn form(&self, form: Form, found: &Found<'s>) -> Result<Draft<'s>, QueryError> {
        if self.noun() == Noun::Claims && form != Form::Count && !found.yes.is_empty() {
            return Ok(self.claims(form, found));
        }
        if self.noun() == Noun::Compactions && self.asks(Field::Status) {
            return Ok(self.statements(form, found));
        }
        match form {
            Form::Ever => self.ever(found),
            Form::Count => Ok(self.count(found)),
            Form::First | Form::Last | Form::List => self.some(form, found),
            Form::Value => Ok(self.value(found)),
            Form::Now => Ok(self.now(found)),
        }
    }

    fn ever(&self, found: &Found<'s>) -> Result<Draft<'s>, QueryError> {
        if !found.yes.is_empty() {
            let times = match found.yes.len() {
                1 => "yes".to_owned(),
                n => format!("yes, {n} times"),
            };
            return Ok(self.supported(format!("{times}{}", remark(&found.yes)), found.yes.clone(), found));
        }
        if let Some(draft) = self.probed(found)? {
            return Ok(draft);
        }
        Ok(self.nothing(found))
    }

    /// Nothing definite was found: reported, blocked, failed, or absent.
    fn nothing(&self, found: &Found<'s>) -> Draft<'s> {
        let reports = report::find(self.scope, self.clause, self.positions);
        // What is missing may show what is reported: only a scope without holes makes a report all there is.
        if !reports.is_empty() && found.holes.is_empty() {
            return self.unverified(&reports);
        }
        if !found.maybe.is_empty() || !found.holes.is_empty() {
            let words = if found.maybe.iter().all(select::is_opaque) {
                "nothing definite"
            } else {
                "only possible matches"
            };
            return blocked(&format!("neither yes nor no: {words}"), found);
        }
        if !found.negative.is_empty() {
            let words = outcomes(&found.negative);
            return self.supported(format!("no: {words}"), found.negative.clone(), found);
        }
        Draft { answer: Some(self.absent_words()), ..absent() }
    }

    fn absent_words(&self) -> String {
        let union =
            self.clause.union.map(|union| format!(" ({}: {})", union.name, union.words)).unwrap_or_default();
        format!("no{union}")
    }

    /// A file that may have been written is shown not to be by a later look that finds it missing.
    fn probed(&self, found: &Found<'s>) -> Result<Option<Draft<'s>>, QueryError> {
        let written = |term: &super::matching::Compact| {
            term.field == Some(Field::Op)
                && term.sign == Sign::Holds
                && term.atoms().all(|atom| matches!(atom.to_string().as_str(), "written" | "created"))
        };
        let asks = self.noun() == Noun::Files && self.clause.terms.iter().any(written);
        let named = self
            .clause
            .terms
            .iter()
            .any(|term| matches!(term.field, Some(Field::Path | Field::Target)) || term.is_word());
        if !asks || !named || !found.holes.is_empty() || (found.maybe.is_empty() && found.negative.is_empty())
        {
            return Ok(None);
        }
        let rows = select::candidates(self.scope, self.clause.clause, self.options)?;
        let mut missing = rows.into_iter().filter(|row| {
            facet::is_missing(row)
                && self.clause.test(row, self.positions, super::matching::Leave::Kind)
                    == super::truth::Truth::Yes
        });
        let probe = missing
            .next_back()
            .filter(|probe| found.maybe.iter().all(|row| self.positions.lie(row, probe) == Lie::Before));
        Ok(probe.map(|probe| {
            let mut cited = found.negative.clone();
            cited.extend(found.maybe.iter().take(3).cloned());
            cited.push(probe);
            Draft {
                cited,
                ..self.supported(
                    "no: it was looked for afterwards and is missing".to_owned(),
                    Vec::new(),
                    found,
                )
            }
        }))
    }

    fn unverified(&self, reports: &[Report<'s>]) -> Draft<'s> {
        let missing = if self.noun() == Noun::Rules { "no user message" } else { "no tool call" };
        let words: Vec<String> =
            reports.iter().map(|report| format!("\"{}\"", self.mask(report.text()))).collect();
        let answer = format!("{missing} shows it; it is only reported: {}", words.join(", "));
        Draft {
            verdict: Some(Verdict::Unverified),
            answer: Some(answer),
            reports: reports.to_vec(),
            ..Draft::default()
        }
    }

    fn supported(&self, answer: String, mut cited: Vec<Row<'s>>, found: &Found<'s>) -> Draft<'s> {
        let values = self.findings(&cited);
        let changes = cited.iter().filter(|row| matches!(row.what, What::Rule));
        let changes: Vec<Row<'s>> =
            changes.filter_map(|row| self.clause.force(row, self.positions).1.cloned()).collect();
        let known = |row: &Row<'s>, cited: &[Row<'s>]| {
            cited.iter().any(|own| own.source == row.source && own.start == row.start)
        };
        for row in changes {
            if !known(&row, &cited) {
                cited.push(row);
            }
        }
        Draft {
            verdict: Some(Verdict::Supported),
            answer: Some(answer),
            values,
            cited,
            blocking_holes: found.holes.clone(),
            ..Draft::default()
        }
    }

    /// Claims are worth what shows them: contradicted ones first, then those that nothing shows.
    fn claims(&self, form: Form, found: &Found<'s>) -> Draft<'s> {
        let ledger = row::effects(self.scope);
        let weighed = found.yes.iter().map(|row| (row, claim::weigh(self, row, &ledger)));
        let mut weighed: Vec<(&Row<'s>, Weight<'s>)> =
            weighed.filter(|(_, weight)| self.fits_status(weight)).collect();
        match form {
            Form::First => weighed.truncate(1),
            Form::Last => drop(weighed.drain(..weighed.len().saturating_sub(1))),
            _ => {}
        }
        let has = |word: &str| weighed.iter().any(|(_, weight)| weight.word() == word);
        let (verdict, missing) = match () {
            () if weighed.is_empty() => return blocked("no claim with this status", found),
            () if has("contradicted") => (Verdict::Conflicting, "claimed, and shown otherwise"),
            () if has("unverified") => (Verdict::Unverified, "claimed, and no tool call shows it"),
            () => (Verdict::Supported, "claimed, and shown"),
        };
        let words: Vec<String> =
            weighed.iter().map(|(row, _)| format!("\"{}\"", self.summary(row))).collect();
        let mut draft = Draft {
            verdict: Some(verdict),
            answer: Some(format!("{missing}: {}", words.join(", "))),
            ..Draft::default()
        };
        for (row, weight) in weighed {
            draft.values.push(Finding { key: weight.word().to_owned(), value: self.summary(row) });
            draft.cited.push(row.clone());
            if let Weight::Supported(shown) | Weight::Contradicted(shown) = weight {
                draft.cited.push(*shown);
            }
        }
        draft
    }

    /// Whether a weight is one that `status:` asks for.
    fn fits_status(&self, weight: &Weight<'s>) -> bool {
        let asked = self.clause.terms.iter().filter(|term| term.field == Some(Field::Status));
        asked.into_iter().all(|term| {
            (term.meets_whole(Some(weight.word())) == super::truth::Truth::Yes) == (term.sign == Sign::Holds)
        })
    }

    /// Statements of summaries beside the originals that show them or say otherwise.
    fn statements(&self, form: Form, found: &Found<'s>) -> Draft<'s> {
        let all = statement::all(self);
        let open = all.iter().any(|own| matches!(own.weight, Weight::Unverified));
        let mut chosen: Vec<_> = all.into_iter().filter(|own| self.fits_status(&own.weight)).collect();
        match form {
            Form::First => chosen.truncate(1),
            Form::Last => drop(chosen.drain(..chosen.len().saturating_sub(1))),
            _ => {}
        }
        if chosen.is_empty() {
            if open || !found.holes.is_empty() || !found.yes.is_empty() {
                return blocked("no statement of a summary is found to have this status", found);
            }
            return Draft { answer: Some(self.absent_words()), ..absent() };
        }
        let has = |word: &str| chosen.iter().any(|own| own.weight.word() == word);
        let verdict = match () {
            () if has("contradicted") => Verdict::Conflicting,
            () if has("unverified") => Verdict::Unverified,
            () => Verdict::Supported,
        };
        let words = |own: &statement::Statement<'s>| match &own.values {
            Some((said, shown)) => {
                format!(
                    "the summary says {}, the original {}: \"{}\"",
                    self.mask(said),
                    self.mask(shown),
                    self.mask(own.text)
                )
            }
            None => format!("\"{}\"", self.mask(own.text)),
        };
        let said: Vec<String> = chosen.iter().map(words).collect();
        let answer = if form == Form::Count { chosen.len().to_string() } else { said.join("; ") };
        let mut draft = Draft { verdict: Some(verdict), answer: Some(answer), ..Draft::default() };
        for (own, value) in chosen.into_iter().zip(said) {
            draft.values.push(Finding { key: own.weight.word().to_owned(), value });
            if let Weight::Supported(shown) | Weight::Contradicted(shown) = own.weight {
                draft.cited.push(*shown);
            }
            draft.cited.push(own.row);
        }
        draft
    }

    /// How many statements of all summaries are shown, contradicted, or neither.
    fn compared(&self) -> Vec<Finding> {
        let all = statement::all(self);
        let count = |word: &str| all.iter().filter(|own| own.weight.word() == word).count();
        let finding =
            |word: &str| Finding { key: format!("statements {word}"), value: count(word).to_string() };
        if all.is_empty() {
            Vec::new()
        } else {
            ["supported", "contradicted", "unverified"].map(finding).to_vec()
        }
    }

    fn count(&self, found: &Found<'s>) -> Draft<'s> {
        let rows = self.countable(&found.yes);
        let n = rows.len();
        if !found.holes.is_empty() || !found.maybe.is_empty() {
            let mut draft = blocked(&format!("at least {n}"), found);
            draft.values = self.findings(&rows);
            draft.cited = rows;
            return draft;
        }
        if n == 0 {
            return Draft { answer: Some("0".to_owned()), ..absent() };
        }
        self.supported(n.to_string(), rows, found)
    }

    /// Events: one effect of a program on one target once, an attachment once by its bytes.
    fn countable(&self, rows: &[Row<'s>]) -> Vec<Row<'s>> {
        let mut seen: Vec<String> = Vec::new();
        let mut kept = Vec::new();
        for row in rows {
            let key = match &row.what {
                What::Effect(effect) | What::File(effect) => {
                    format!(
                        "{} {:?} {} {} {}",
                        row.source,
                        row.span,
                        effect.kind.word(),
                        effect.target.words(),
                        effect.program
                    )
                }
                What::Attachment(_) => self.attachment_key(row),
                // Words around a paste are parts of one message.
                What::Said => format!("said {} {} {}", row.source, row.start.record, Self::pointer_of(row)),
                _ => String::new(),
            };
            if key.is_empty() || !seen.contains(&key) {
                seen.push(key);
                kept.push(row.clone());
            }
        }
        kept
    }

    fn pointer_of(row: &Row<'s>) -> &'s str {
        row.view.index.block(row.start).map_or("", |block| block.pointer.as_str())
    }

    fn attachment_key(&self, row: &Row<'s>) -> String {
        let text = self.raw_text(row);
        let facts = text.as_deref().and_then(image::Facts::read).map(|facts| facts.hash.to_string());
        facts.or_else(|| text.map(|text| Digest::of(text.as_bytes()).to_string())).unwrap_or_default()
    }

    /// The bytes of the block that a row begins with.
    fn raw_text(&self, row: &Row<'s>) -> Option<String> {
        let range = row.view.index.block(row.start)?.range;
        self.options.raw.decoded(row.source, TextRange { range, encoding: Encoding::Plain })
    }

    fn asks(&self, field: Field) -> bool {
        self.clause.terms.iter().any(|term| term.field == Some(field))
    }

    /// A rule with what became of it.
    fn rule_words(&self, row: &Row<'s>) -> String {
        let (force, by) = self.clause.force(row, self.positions);
        match by {
            Some(by) => format!("{} ({} later: {})", self.summary(row), force.word(), self.summary(by)),
            None => self.summary(row),
        }
    }

    fn some(&self, form: Form, found: &Found<'s>) -> Result<Draft<'s>, QueryError> {
        let edge = match form {
            Form::First => found.yes.first(),
            Form::Last => found.yes.last(),
            _ => None,
        };
        if let Some(row) = edge {
            let open = self.open_side(form, row, found);
            if !open.is_empty() {
                let found = Found { holes: open, ..Found::default() };
                let mut draft = blocked(&format!("the {} that can be read", form.word()), &found);
                draft.cited = vec![row.clone()];
                return Ok(draft);
            }
            return Ok(self.supported(
                format!("{}{}", self.summary(row), remark(std::slice::from_ref(row))),
                vec![row.clone()],
                found,
            ));
        }
        if self.is_second_hand(found) {
            let mut draft = blocked("only a summary says so", found);
            draft.cited.clone_from(&found.yes);
            return Ok(draft);
        }
        if !found.yes.is_empty() {
            let rows = self.countable(&found.yes);
            let n = rows.len();
            let noun = if n == 1 { "match" } else { "matches" };
            let named = self.named(&rows);
            let mut draft = self.supported(format!("{n} {noun}{named}{}", remark(&rows)), rows, found);
            if self.noun() == Noun::Compactions {
                draft.values = self.compared();
            }
            return Ok(draft);
        }
        if self.noun().is_act() {
            return match self.probed(found)? {
                Some(draft) => Ok(draft),
                None => Ok(self.nothing(found)),
            };
        }
        Ok(blocked("nothing with these words", found))
    }

    /// Names the first things of a list, where a thing is told in a few words.
    fn named(&self, rows: &[Row<'s>]) -> String {
        const NAMED_MAX: usize = 5;
        let short = rows.iter().filter(|row| matches!(row.what, What::Attachment(_) | What::Agent(..)));
        let words: Vec<String> = short.take(NAMED_MAX).map(|row| self.summary(row)).collect();
        let more = if rows.len() > words.len() && !words.is_empty() { ", …" } else { "" };
        if words.is_empty() { String::new() } else { format!(": {}{more}", words.join("; ")) }
    }

    /// Whether compactions were found by words of their summaries, which never support anything.
    fn is_second_hand(&self, found: &Found<'s>) -> bool {
        let words = self.clause.terms.iter().any(|term| term.is_word() && term.sign == Sign::Holds);
        self.noun() == Noun::Compactions && words && !found.yes.is_empty()
    }

    /// Holes on the side of `row` that is open: before the first, behind the last. Boundaries keep the user's
    /// first words, so a summary alone does not unsettle them.
    fn open_side(&self, form: Form, row: &Row<'s>, found: &Found<'s>) -> Vec<&'s Hole> {
        let own = row.record().map_or(0, |record| record.range.start());
        let beyond = |hole: &&'s Hole| {
            if hole.source != row.view.source {
                return true;
            }
            if form == Form::First {
                let summary = matches!(hole.kind, HoleKind::ForeignSummary | HoleKind::OriginalGone);
                return hole.range.start() < own && !(summary && self.noun() == Noun::Said);
            }
            // What a summary of ours stands for lay anywhere among what was kept.
            hole.kind == HoleKind::OriginalGone || hole.range.start() > own
        };
        found.holes.iter().copied().filter(beyond).collect()
    }

    fn value(&self, found: &Found<'s>) -> Draft<'s> {
        let Some(last) = found.yes.last() else {
            return blocked("not recorded", found);
        };
        let summed = self.noun() == Noun::Usage && !self.asks(Field::At);
        if let Some(draft) = self.sum(found).filter(|_| summed) {
            return draft;
        }
        if let Some(other) = self.rival(last, found) {
            let cited = vec![other.clone(), last.clone()];
            let answer = format!("{}, and at the same time {}", self.summary(other), self.summary(last));
            return Draft { verdict: Some(Verdict::Conflicting), ..self.supported(answer, cited, found) };
        }
        let history = history(&found.yes);
        let cited = if history.len() > 1 { history.clone() } else { vec![last.clone()] };
        let answer = match history.len() {
            0 | 1 => self.summary(last),
            n => format!("{} (the last of {n} values)", self.summary(last)),
        };
        self.supported(answer, cited, found)
    }

    /// Tokens over all requests; of the context the last request counts.
    fn sum(&self, found: &Found<'s>) -> Option<Draft<'s>> {
        let amounts = found.yes.iter().filter_map(|row| match &row.what {
            What::Usage(key, amount) if *key != "context" => Some((*key, *amount)),
            _ => None,
        });
        let amounts: Vec<(&str, u64)> = amounts.collect();
        let (key, _) = amounts.first()?;
        let sum: u64 = amounts.iter().fold(0, |sum, (_, amount)| sum.saturating_add(*amount));
        let answer = format!("{sum}, over {} requests", amounts.len());
        let cited = found.yes.last().cloned().into_iter().collect();
        let values = vec![Finding { key: (*key).to_owned(), value: sum.to_string() }];
        Some(Draft { values, ..self.supported(answer, cited, found) })
    }

    /// Another value of the key of `last`, recorded at the same time: neither is the later one.
    fn rival<'f>(&self, last: &Row<'s>, found: &'f Found<'s>) -> Option<&'f Row<'s>> {
        let (key, value) = key_value(last)?;
        let last = last.event();
        found.yes.iter().rev().find(|row| {
            let other = key_value(row).is_some_and(|(own, other)| own == key && other != value);
            other
                && (row.source, row.agent()) == (last.source, last.agent())
                && row.span != last.span
                && self.positions.lie(&row.event(), &last) == Lie::Unordered
        })
    }

    fn now(&self, found: &Found<'s>) -> Draft<'s> {
        let Some(last) = found.yes.last() else {
            return blocked("nothing with these words", found);
        };
        let mut draft = blocked(&format!("last seen: {}", self.summary(last)), found);
        draft.values = self.findings(std::slice::from_ref(last));
        draft.cited = vec![last.clone()];
        draft
    }

    /// One row in words.
    fn summary(&self, row: &Row<'s>) -> String {
        match &row.what {
            What::Value(keyed) => format!("{} = {}", keyed.name(), self.mask(&keyed.value)),
            What::Agent(id, state) => {
                format!("agent {}: {}", id.as_deref().unwrap_or("?"), state.word())
            }
            What::Attachment(media_type) => {
                let facts = self.raw_text(row).as_deref().and_then(image::Facts::read);
                facts.map_or_else(
                    || (*media_type).to_owned(),
                    |facts| format!("{media_type} {}", facts.size()),
                )
            }
            What::Usage(_, amount) => amount.to_string(),
            What::Effect(effect) | What::File(effect) => {
                format!("{} {}: {}", effect.kind.word(), effect.target.words(), effect.outcome)
            }
            What::Literal(_, norm) => norm.clone(),
            _ => {
                let text = row.own.first().map_or("", row::Piece::focused);
                let line: String = self.mask(text).chars().take(200).collect();
                line.trim().replace('\n', " ")
            }
        }
    }

    /// A text with its secrets replaced by their fingerprints.
    pub(super) fn mask(&self, text: &str) -> String {
        self.secrets.mask(text, self.options)
    }

    /// The session of a row, where there are several.
    fn session_words(&self, row: &Row<'s>) -> String {
        let own = facet::session_of(row.view, row.start.record);
        let records = self.scope.sources.iter().flat_map(|view| {
            view.index.records.iter().map(|record| record.session.as_deref().unwrap_or(&view.session))
        });
        let several = records.into_iter().any(|session| session != own);
        if several { format!(" in session {own}") } else { String::new() }
    }

    fn findings(&self, rows: &[Row<'s>]) -> Vec<Finding> {
        let mut findings: Vec<Finding> = Vec::new();
        for row in rows {
            let finding = match &row.what {
                What::Value(keyed) => Finding { key: keyed.name(), value: self.mask(&keyed.value) },
                What::Usage(key, amount) => Finding { key: (*key).to_owned(), value: amount.to_string() },
                What::Literal(kind, norm) => Finding { key: kind.word().to_owned(), value: self.mask(norm) },
                What::File(effect) => {
                    let agent = facet::agent_of(row.view, row.start.record)
                        .map(|agent| format!(" by agent {agent}"))
                        .unwrap_or_default();
                    let done = facet::operation(effect).unwrap_or(effect.kind.word());
                    Finding { key: effect.target.words().to_owned(), value: format!("{done}{agent}") }
                }
                What::Effect(effect) => Finding {
                    key: effect.kind.word().to_owned(),
                    value: format!(
                        "{}: {}{}",
                        effect.target.words(),
                        effect.outcome,
                        self.session_words(row)
                    ),
                },
                What::Agent(id, state) => Finding {
                    key: "agent".to_owned(),
                    value: format!("{}: {}", id.as_deref().unwrap_or("?"), state.word()),
                },
                What::Attachment(media_type) => {
                    let facts = self.raw_text(row).as_deref().and_then(image::Facts::read);
                    let value = facts.map_or_else(|| "not readable".to_owned(), |facts| facts.words());
                    Finding { key: (*media_type).to_owned(), value }
                }
                What::Session(id) => Finding { key: "session".to_owned(), value: id.clone() },
                What::Rule => Finding { key: "rule".to_owned(), value: self.rule_words(row) },
                _ => continue,
            };
            if !findings.contains(&finding) || matches!(row.what, What::Value(_)) {
                findings.push(finding);
            }
        }
        findings
    }

    fn limit(&self) -> usize {
        let term = self.clause.terms.iter().find(|term| term.field == Some(Field::Limit));
        let atom = term.and_then(|term| term.atoms().next());
        atom.and_then(|atom| atom.to_string().parse().ok()).unwrap_or(self.options.events_max)
    }

    fn one_side_missing(&self, found: &Found<'s>) -> Result<Answer, QueryError> {
        let draft = self.ever(found)?;
        let mut answer = self.assemble(draft)?;
        let side = self.clause.clause.to_string();
        let words = answer.answer.take().unwrap_or_default();
        answer.answer = Some(format!("{side}: {words}"));
        Ok(answer)
    }

    pub(super) fn assemble(&self, draft: Draft<'s>) -> Result<Answer, QueryError> {
        let citer = self.citer();
        let cited = draft.cited.iter().take(self.limit()).flat_map(|row| citer.row(row));
        let reported = draft.reports.iter().flat_map(|report| report.citations(&citer));
        let verdict = draft.verdict.unwrap_or(Verdict::Insufficient);
        let second = if verdict == Verdict::Insufficient {
            report::second_hand(self.scope, self.clause)
        } else {
            Vec::new()
        };
        let second = second
            .iter()
            .flat_map(|report| report.citations(&citer))
            .map(|citation| super::Citation { note: Some("second-hand (summary)".to_owned()), ..citation });
        let citations = dedup(cited.chain(reported).chain(second));
        let blocking = if verdict == Verdict::Insufficient { blocking(&draft, &citer) } else { Vec::new() };
        let passes = draft.absent || verdict == Verdict::Unverified && self.noun() != Noun::Claims;
        let passed_over = if passes { absence::passed_over(self)? } else { Vec::new() };
        let answer =
            draft.answer.map(|words| if draft.absent { with_passed(words, &passed_over) } else { words });
        let certificate = draft.absent.then(|| absence::certificate(self));
        Ok(Answer {
            schema: 1,
            reading: self.reading.clone(),
            verdict,
            answer,
            values: draft.values,
            citations,
            passed_over,
            scope: Searched { blocking, ..absence::searched(self.scope) },
            assumptions: if draft.absent || verdict == Verdict::Supported && draft.cited.is_empty() {
                absence::assumptions(self)
            } else {
                Vec::new()
            },
            certificate,
        })
    }
}

/// Nothing is there, and everything was searched.
fn absent<'s>() -> Draft<'s> {
    Draft { verdict: Some(Verdict::Absent), absent: true, ..Draft::default() }
}

/// An answer that the holes and possible matches of `found` keep open.
fn blocked<'s>(answer: &str, found: &Found<'s>) -> Draft<'s> {
    Draft {
        verdict: Some(Verdict::Insufficient),
        answer: Some(format!("{answer}{}", missing_words(&found.holes, &found.maybe))),
        blocking_rows: found.maybe.clone(),
        blocking_holes: found.holes.clone(),
        ..Draft::default()
    }
}

/// What blocks, rarest kind first.
fn blocking<'s>(draft: &Draft<'s>, citer: &Citer<'_, 's>) -> Vec<PassedOver> {
    let holes = draft.blocking_holes.iter().map(|hole| (hole.kind.words().to_owned(), Block::Hole(hole)));
    let rows = draft.blocking_rows.iter().map(|row| (why_open(row).0, Block::Row(row)));
    let mut blocks: Vec<(String, Block<'_, 's>)> = holes.chain(rows).collect();
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    for (group, _) in &blocks {
        *sizes.entry(group.clone()).or_default() += 1;
    }
    blocks.sort_by_cached_key(|(group, _)| (sizes.get(group).copied(), group.clone()));
    let cited = blocks.into_iter().filter_map(|(_, block)| match block {
        Block::Hole(hole) => {
            let why = format!("{}: {}", hole.kind.words(), hole.why);
            Some(PassedOver { citation: citer.hole(hole), why })
        }
        Block::Row(row) => citer.first(row).map(|citation| PassedOver { citation, why: why_open(row).1 }),
    });
    cited.take(citer.options.events_max).collect()
}

/// An absence in words, with the kinds of what was passed over.
fn with_passed(words: String, passed: &[PassedOver]) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    for passed in passed {
        if !kinds.contains(&passed.why.as_str()) {
            kinds.push(&passed.why);
        }
    }
    if kinds.is_empty() { words } else { format!("{words}; passed over: {}", kinds.join(", ")) }
}

/// Something that blocks.
enum Block<'r, 's> {
    Hole(&'s Hole),
    Row(&'r Row<'s>),
}

/// The values in order, each where it differs from the one before it of the same key.
fn history<'s>(rows: &[Row<'s>]) -> Vec<Row<'s>> {
    let mut kept: Vec<Row<'s>> = Vec::new();
    for row in rows {
        let Some((key, value)) = key_value(row) else { continue };
        let before = kept.iter().rev().filter_map(key_value).find(|(own, _)| *own == key);
        if before.is_none_or(|(_, own)| own != value) {
            kept.push(row.clone());
        }
    }
    kept
}

/// Says that all, or some, of what is found lies on an abandoned branch.
fn remark(rows: &[Row<'_>]) -> String {
    let left = |row: &&Row<'_>| {
        row.record().is_some_and(|record| record.branch == strongroom_core::transcript::Branch::Abandoned)
    };
    match rows.iter().filter(left).count() {
        0 => String::new(),
        n if n == rows.len() => ", on an abandoned branch".to_owned(),
        n => format!(", {n} of them on an abandoned branch"),
    }
}

fn key_value(row: &Row<'_>) -> Option<(String, String)> {
    match &row.what {
        What::Value(keyed) => Some((keyed.name(), keyed.value.clone())),
        What::Usage(key, amount) => Some(((*key).to_owned(), amount.to_string())),
        _ => None,
    }
}

/// Why a row is only possible: its group, for counting, and the words.
fn why_open(row: &Row<'_>) -> (String, String) {
    let Some(effect) = row.effect() else {
        return match row.what {
            What::Call if row.results().next().is_none() => ("no result".to_owned(), "no result".to_owned()),
            What::Call => ("not read".to_owned(), "what the line runs is not all known".to_owned()),
            _ => ("unknown".to_owned(), "not known to match".to_owned()),
        };
    };
    let why = match effect.outcome {
        _ if select::is_opaque(row) => "what it did is not known".to_owned(),
        Outcome::Unknown => "its outcome is not known".to_owned(),
        Outcome::Interrupted => "it was interrupted".to_owned(),
        _ if effect.certainty == strongroom_core::evidence::Certainty::Possible => {
            "it is only possible".to_owned()
        }
        _ => "a field that is asked for is not known".to_owned(),
    };
    (effect.program.clone(), format!("{} {}: {why}", effect.kind.word(), effect.target.words()))
}

/// How attempts ended, in words.
fn outcomes(rows: &[Row<'_>]) -> String {
    let mut words: Vec<&str> = rows.iter().filter_map(Row::outcome).map(Outcome::word).collect();
    words.dedup();
    words.truncate(5);
    let n = rows.len();
    let noun = if n == 1 { "attempt" } else { "attempts" };
    format!("{n} {noun}, {}", words.join(", "))
}

/// Names the first things that are missing.
fn missing_words(holes: &[&Hole], rows: &[Row<'_>]) -> String {
    let place = |hole: &&Hole| {
        let line = hole.line.map(|line| format!(" (record {line})")).unwrap_or_default();
        format!("{}{line}: {}", hole.kind.words(), hole.why)
    };
    let named: Vec<String> = holes.iter().take(3).map(place).collect();
    let holes_words = if named.is_empty() { String::new() } else { format!("; {}", named.join("; ")) };
    let rows_words = if rows.is_empty() { String::new() } else { format!("; {} possible", rows.len()) };
    format!("{holes_words}{rows_words}")
}

/// Bytes are cited once; what several rows say of them stands in one note.
fn dedup(citations: impl Iterator<Item = super::Citation>) -> Vec<super::Citation> {
    let mut kept: Vec<super::Citation> = Vec::new();
    let mut seen: BTreeMap<(String, (u64, u64)), usize> = BTreeMap::new();
    for citation in citations {
        let at = *seen.entry((citation.source.clone(), citation.bytes)).or_insert(kept.len());
        match kept.get_mut(at) {
            None => kept.push(citation),
            Some(first) => add_note(&mut first.note, citation.note),
        }
    }
    kept
}

fn add_note(note: &mut Option<String>, more: Option<String>) {
    match (note.as_mut(), more) {
        (Some(note), Some(more)) if !note.split("; ").any(|own| own == more) => {
            note.push_str("; ");
            note.push_str(&more);
        }
        (None, more) => *note = more,
        (Some(_), _) => {}
    }
}

/// How two clauses lie to one another.
fn relate<'s>(
    one: &Case<'_, 's>,
    found: &Found<'s>,
    two: &Case<'_, 's>,
    against: &Found<'s>,
) -> Result<Answer, QueryError> {
    if found.yes.is_empty() {
        return one.one_side_missing(found);
    }
    if against.yes.is_empty() {
        return two.one_side_missing(against);
    }
    let pair = |a: Option<&Row<'s>>, b: Option<&Row<'s>>| match (a, b) {
        (Some(a), Some(b)) => one.positions.lie(a, b),
        _ => Lie::Unordered,
    };
    let first = pair(found.yes.first(), against.yes.first());
    let last = pair(found.yes.last(), against.yes.last());
    let words = if first == last {
        lie_word(first).to_owned()
    } else {
        format!("first pair: {}; last pair: {}", lie_word(first), lie_word(last))
    };
    let mut ends: Vec<Row<'s>> = found.yes.first().cloned().into_iter().collect();
    if found.yes.len() > 1 {
        ends.extend(found.yes.last().cloned());
    }
    let mut draft = one.supported(words, ends, found);
    if first == Lie::Unknown || last == Lie::Unknown {
        draft.verdict = Some(Verdict::Insufficient);
    }
    let mut answer = one.assemble(draft)?;
    let mut other: Vec<&Row<'s>> = against.yes.first().into_iter().collect();
    if against.yes.len() > 1 {
        other.extend(against.yes.last());
    }
    answer.citations.extend(other.into_iter().flat_map(|row| two.citer().row(row)));
    Ok(answer)
}

const fn lie_word(lie: Lie) -> &'static str {
    match lie {
        Lie::Before => "before",
        Lie::After => "after",
        Lie::Unordered => "unordered",
        Lie::Unknown => "which came first is not recorded",
    }
}

/// The assumptions in words, A3 first read.
pub(super) fn words(assumptions: &[Assumption]) -> Vec<String> {
    assumptions.iter().map(|assumption| assumption.words().to_owned()).collect()
}
