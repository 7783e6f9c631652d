//! Claims of a summary that the records contradict: what failed, told as done.

use std::sync::LazyLock;

use regex::Regex;
use strongroom_evidence::effect::Outcome;

use super::rest::shell_line;
use super::text::plain;
use crate::reading::ReadSpan;

/// A statement that something was done or passed, and the calls that would show it.
struct Claim {
    says: &'static str,
    calls: &'static str,
}

const CLAIMS: &[Claim] = &[
    Claim {
        says: r"\b(?:unit\s+|integration\s+|all\s+)*tests?\s+(?:suite\s+)?(?:are\s+|is\s+|now\s+|all\s+)*(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?)\b|\btest\s+run\s+(?:passed|succeeded)\b",
        calls: r"\b(?:cargo\s+(?:nextest|test)|go\s+test|npm\s+(?:run\s+)?test|pnpm\s+(?:run\s+)?test|yarn\s+test|bun\s+(?:run\s+)?test|pytest|jest|vitest|mise\s+run\s+test|make\s+test|ctest|rspec|phpunit|dotnet\s+test|gradlew?\s+test|mvn\s+(?:-\w+\s+)*test)\b",
    },
    Claim {
        says: r"\bbuild\s+(?:is\s+|now\s+)*(?:pass(?:es|ed|ing)?|green|clean|succeed(?:s|ed)?|successful)\b|\bbuilds\s+(?:cleanly|successfully)\b",
        calls: r"\b(?:cargo\s+build|go\s+build|npm\s+run\s+build|pnpm\s+(?:run\s+)?build|yarn\s+build|bun\s+run\s+build|make(?:\s+build)?|tsc|docker\s+build)\b",
    },
    Claim {
        says: r"\blint(?:er|ing|s)?\s+(?:is\s+|are\s+|now\s+|all\s+)*(?:pass(?:es|ed|ing)?|clean|green)\b",
        calls: r"\b(?:lint|clippy|eslint|ruff|golangci-lint|biome)\b",
    },
    Claim {
        says: r"\b(?:was|were|been|is|are|successfully|and|i)\s+pushed\b|^\W*pushed\b|\bpushed\s+(?:to|the|all|it)\b",
        calls: r"\bgit\s+(?:-\S+\s+\S+\s+)*push\b",
    },
    Claim {
        says: r"\b(?:was|were|been|is|are|successfully)\s+(?:deployed|released)\b|\bdeployed\s+(?:to|the|it)\b",
        calls: r"\b(?:deploy\w*|kubectl\s+apply|terraform\s+apply|helm\s+(?:upgrade|install)|wrangler|vercel|fly)\b",
    },
    Claim {
        says: r"\bmigrations?\s+(?:\S+\s+){0,3}(?:was|were|has|have)?\s*(?:been\s+)?(?:ran|run|applied|executed|completed)\b|\b(?:ran|applied|executed)\s+(?:the\s+|all\s+)?(?:\S+\s+)?migrations?\b",
        calls: r"\b(?:migrat\w*|alembic|flyway|liquibase|sqlx|knex|prisma)\b",
    },
    Claim {
        says: r"\b(?:was|were|been|successfully)\s+installed\b|\binstalled\s+(?:the|all)\b",
        calls: r"\b(?:npm|pnpm|yarn|bun|pip3?|uv|cargo|brew|apt(?:-get)?|gem|go)\s+(?:\S+\s+)?(?:install|add|i)\b",
    },
];

static READ: LazyLock<Vec<(Regex, Regex)>> = LazyLock::new(|| {
    let read = |claim: &Claim| {
        Some((Regex::new(&format!("(?i){}", claim.says)).ok()?, Regex::new(claim.calls).ok()?))
    };
    CLAIMS.iter().filter_map(read).collect()
});

/// Words that make a sentence no plain statement that something is done.
static NOT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:not|never|n['’]t|until|ensure|make\s+sure|should|must|verify|check|whether|if|once|when|before|after|need|will|would|to\s+(?:pass|push|deploy|be)|tried|try|fail(?:s|ed|ing|ure)?|error|pending|todo|next|user\s+(?:asked|wants|requested|said)|ask(?:s|ed)?|want(?:s|ed)?|wait(?:s|ing)?|broke|except|still)\b|[?❌]").ok()
});

/// What shows that a claim is false.
#[derive(Debug)]
pub(super) enum Shown<'r, 'a> {
    /// Every call of its kind had failed.
    AllFailed(&'r ReadSpan<'a>),
    /// The very command had failed, the last time that it ran.
    CommandFailed(&'r ReadSpan<'a>),
}

impl<'r, 'a> Shown<'r, 'a> {
    /// The record.
    pub(super) fn span(&self) -> &'r ReadSpan<'a> {
        match self {
            Self::AllFailed(span) | Self::CommandFailed(span) => span,
        }
    }
}

/// The shell calls before a boundary, in order.
#[derive(Debug, Default)]
pub(super) struct Runs<'r, 'a>(Vec<(String, &'r ReadSpan<'a>)>);

impl<'r, 'a> Runs<'r, 'a> {
    pub(super) fn of(earlier: impl Iterator<Item = &'r ReadSpan<'a>>) -> Self {
        Self(earlier.filter_map(|span| Some((shell_line(span)?, span))).collect())
    }
}

fn has_failed(span: &ReadSpan<'_>) -> bool {
    matches!(span.examination.outcome, Outcome::Failed | Outcome::Interrupted | Outcome::Refused)
}

/// What contradicts a sentence of a summary: a claim counts only when no call of its kind has ever gone well.
pub(super) fn contradicted<'r, 'a>(sentence: &str, runs: &Runs<'r, 'a>) -> Option<Shown<'r, 'a>> {
    if NOT.as_ref().is_none_or(|not| not.is_match(sentence)) {
        return None;
    }
    if let Some(span) = failed_command(sentence, runs) {
        return Some(Shown::CommandFailed(span));
    }
    let (_, calls) = READ.iter().find(|(says, _)| says.is_match(sentence))?;
    let mut own = runs.0.iter().filter(|(line, _)| calls.is_match(line)).map(|(_, span)| *span).peekable();
    own.peek()?;
    let (mut last, mut all_failed) = (None, true);
    for span in own {
        all_failed &= has_failed(span);
        last = Some(span);
    }
    last.filter(|_| all_failed).map(Shown::AllFailed)
}

/// A command that a sentence quotes as done and that had failed the last time it ran.
fn failed_command<'r, 'a>(sentence: &str, runs: &Runs<'r, 'a>) -> Option<&'r ReadSpan<'a>> {
    static DONE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b(?:ran|executed|completed|finished|succeeded|successful(?:ly)?|passed|worked)\b|✅",
        )
        .ok()
    });
    if DONE.as_ref().is_none_or(|done| !done.is_match(sentence)) {
        return None;
    }
    let quoted = sentence.split('`').skip(1).step_by(2).map(plain).filter(|own| own.split(' ').count() >= 2);
    let last =
        |own: &String| runs.0.iter().rev().find(|(line, _)| plain(line) == *own).map(|(_, span)| *span);
    quoted.filter_map(|own| last(&own)).find(|span| has_failed(span))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_compile() {
        assert_eq!(READ.len(), CLAIMS.len());
        assert!(NOT.is_some());
        let says = |text: &str| {
            READ.iter().any(|(says, _)| says.is_match(text)) && !NOT.as_ref().unwrap().is_match(text)
        };
        for claim in ["All tests pass now.", "The branch was pushed.", "Ran the migration.", "Build is green"]
        {
            assert!(says(claim), "{claim}");
        }
        for other in [
            "Make sure tests pass",
            "The user asked me to push",
            "tests were not passing",
            "If the build passes",
        ] {
            assert!(!says(other), "{other}");
        }
    }
}
