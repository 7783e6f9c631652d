//! An answer as text for people.

use super::{Answer, Citation};

/// The answer for a terminal: verdict and answer first, then the reading, what shows it, and what it rests on.
pub fn render_text(answer: &Answer) -> String {
    let mut lines = vec![match &answer.answer {
        Some(words) => format!("{}: {words}", answer.verdict.words()),
        None => answer.verdict.words().to_owned(),
    }];
    lines.push(format!("reading: {}", answer.reading));
    section(
        &mut lines,
        "values",
        answer.values.iter().map(|finding| format!("{}: {}", finding.key, finding.value)),
    );
    // Of a number the places are told, not every word: the number must not drown in what was counted.
    let short = answer.reading.starts_with("count ");
    let cited = answer.citations.iter().filter(|own| !short || !own.quote.is_empty());
    section(&mut lines, "citations", cited.map(if short { place } else { citation }));
    let passed = |passed: &super::PassedOver| format!("{} — {}", passed.why, citation(&passed.citation));
    section(&mut lines, "passed over", answer.passed_over.iter().map(passed));
    section(&mut lines, "blocking", answer.scope.blocking.iter().map(passed));
    section(
        &mut lines,
        "holes",
        answer.scope.holes.iter().map(|hole| format!("{}: {}", hole.kind, hole.count)),
    );
    section(&mut lines, "assumptions", answer.assumptions.iter().cloned());
    let scope = &answer.scope;
    lines.push(format!(
        "searched: {} sessions, {} records, {} calls",
        scope.sessions, scope.records, scope.calls
    ));
    if let Some(certificate) = &answer.certificate {
        let root =
            |source: &super::SourceCount| Some(format!("{} root {}", source.source, source.root.as_ref()?));
        section(&mut lines, "sources", certificate.sources.iter().filter_map(root));
        lines.push(format!(
            "certificate: {} over {} sources, {} calls, {} effects, {} opaque runs, {} holes",
            certificate.digest,
            certificate.sources.len(),
            certificate.calls,
            certificate.effects,
            certificate.opaque,
            certificate.holes
        ));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn section(lines: &mut Vec<String>, title: &str, rows: impl Iterator<Item = String>) {
    let rows: Vec<String> = rows.map(|row| format!("  {row}")).collect();
    if !rows.is_empty() {
        lines.push(format!("{title}:"));
        lines.extend(rows);
    }
}

/// One citation: place, speaker, note, and the quotation indented below.
fn citation(citation: &Citation) -> String {
    let quote = citation.quote.trim_end().replace('\n', "\n    ");
    format!("{}\n    {quote}", place(citation))
}

/// The place of a citation, on one line.
fn place(citation: &Citation) -> String {
    let agent = citation.agent.as_ref().map(|agent| format!(" (agent {agent})")).unwrap_or_default();
    let note = citation.note.as_ref().map(|note| format!(" [{note}]")).unwrap_or_default();
    let pointer = citation.pointer.as_ref().map(|pointer| format!(" {pointer}")).unwrap_or_default();
    format!("{}:{} {}{agent}{note}{pointer}", citation.source, citation.locator, citation.attribution)
}
