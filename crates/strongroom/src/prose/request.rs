//! The request: spans that go and may be quoted, in order, without secrets, cut to what a model can read.

use strongroom_core::span::SpanKind;
use strongroom_evidence::effect::Outcome;

use crate::summarise::{Origin, Reclaimed, Texts};
use crate::summariser::{INSTRUCTIONS, Request, RequestSpan, RequestText, SCHEMA};

/// How long all texts together may be, in bytes: about a hundred thousand tokens.
const BYTES_MAX: usize = 400_000;

/// How much of one text is shown at first, and at least, in bytes.
const TEXT_BYTES: usize = 8_000;
const TEXT_BYTES_MIN: usize = 125;

/// The request for prose of `words_max` words about `spans`.
pub(super) fn of(spans: &[Reclaimed<'_>], texts: &Texts, words_max: u64) -> Request {
    let mut shown = TEXT_BYTES;
    let mut request = with(spans, texts, shown);
    while size(&request) > BYTES_MAX && shown > TEXT_BYTES_MIN {
        shown /= 2;
        request = with(spans, texts, shown);
    }
    // What still has no room goes from the beginning: the end is what the agent goes on with.
    let mut over = size(&request).saturating_sub(BYTES_MAX);
    request.retain(|span| {
        let drop = over > 0;
        over = over.saturating_sub(if drop { size_of(span) } else { 0 });
        !drop
    });
    Request { schema: SCHEMA, instructions: INSTRUCTIONS, words_max, spans: request }
}

fn size(spans: &[RequestSpan]) -> usize {
    spans.iter().map(size_of).sum()
}

fn size_of(span: &RequestSpan) -> usize {
    const FRAME: usize = 80;
    FRAME + span.texts.iter().map(|text| text.text.len() + FRAME).sum::<usize>()
}

fn with(spans: &[Reclaimed<'_>], texts: &Texts, shown: usize) -> Vec<RequestSpan> {
    let span = |span: &Reclaimed<'_>| RequestSpan {
        number: span.ordinal,
        kind: kind(span.content.span.kind),
        outcome: (span.content.span.kind == SpanKind::Call && span.examination.outcome != Outcome::Unknown)
            .then_some(span.examination.outcome.word()),
        texts: texts
            .each(span.ordinal)
            .map(|(_, text, origin)| RequestText {
                speaker: match origin {
                    Origin::Tool | Origin::Argument(..) => "call",
                    Origin::Block(_) | Origin::Aside => text.speaker.word(),
                },
                text: ends(&texts.masked(span.ordinal, &text.text), shown),
            })
            .collect(),
    };
    spans.iter().filter(|span| span.is_tellable()).map(span).filter(|span| !span.texts.is_empty()).collect()
}

const fn kind(kind: SpanKind) -> &'static str {
    match kind {
        SpanKind::Utterance => "said",
        SpanKind::Thinking => "thinking",
        SpanKind::Call | SpanKind::OrphanResult => "call",
        SpanKind::Attachment => "attachment",
        SpanKind::Derived => "summary",
        SpanKind::Meta | SpanKind::Opaque => "record",
    }
}

/// The beginning and the end of a text that is longer than `shown` bytes.
fn ends(text: &str, shown: usize) -> String {
    if text.len() <= shown {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(shown * 2 / 3);
    let tail = text.ceil_char_boundary(text.len() - shown / 3);
    let (first, last) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    format!("{first}\n[{} bytes left out]\n{last}", tail - head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_keep_both_ends() {
        assert_eq!(ends("short", 8), "short");
        let cut = ends(&format!("begin{}end", "é".repeat(100)), 30);
        assert!(cut.starts_with("begin") && cut.ends_with("end") && cut.contains("bytes left out"), "{cut}");
    }
}
