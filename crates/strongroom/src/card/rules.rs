//! What the user demanded or forbade, as said.

use strongroom_evidence::answer::Answer;

use super::text::{Keep, Section};

/// The constraints of an answer to a query on `rules`, with the records they stand in.
pub(super) fn section(rules: &Answer) -> Section {
    let line = |quote: &str| {
        let cited = rules.citations.iter().find(|citation| citation.quote.contains(quote));
        match cited {
            Some(citation) => format!("\"{quote}\" ({})", citation.locator),
            None => format!("\"{quote}\""),
        }
    };
    Section {
        title: "Standing constraints, in the user's words",
        lines: rules.values.iter().map(|found| line(&found.value)).collect(),
        keep: Keep::First,
        more: "list rules by:user state:in-force",
        none: "none was found in the user's words",
        share: 40,
    }
}
