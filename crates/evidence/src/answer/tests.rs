use strongroom_core::evidence::{AtomKind, Certainty};
use strongroom_core::transcript::{Branch, Speaker};

use super::testing::{Written, ask, ask_all, effect, opaque};
use super::{Answer, Strictness, Verdict, render_text};
use crate::effect::{Assumption, EffectKind as Kind, Outcome, Scope as Where, Target};
use crate::session::HoleKind;

fn words(answer: &Answer) -> &str {
    answer.answer.as_deref().unwrap_or_default()
}

#[track_caller]
fn check(written: &Written, query: &str, verdict: Verdict, starts: &str) -> Answer {
    let answer = ask(written, query);
    assert!(
        answer.verdict == verdict && words(&answer).starts_with(starts),
        "{query}\n{}",
        render_text(&answer)
    );
    answer
}

fn pushed() -> Written {
    let mut t = Written::new();
    t.user("Push the tag v1.8.0.").bash(
        "git push origin v1.8.0",
        "* [new tag] v1.8.0",
        vec![effect(Kind::VcsRemote, "origin v1.8.0")],
    );
    t
}

#[test]
fn a_definite_effect_with_a_positive_outcome_is_a_yes_and_cites_both_halves() {
    let answer = check(&pushed(), "effects kind:vcs.remote", Verdict::Supported, "yes");
    let quotes: Vec<&str> = answer.citations.iter().map(|citation| citation.quote.as_str()).collect();
    assert_eq!(quotes, ["git push origin v1.8.0", "* [new tag] v1.8.0"]);
    assert_eq!(answer.citations[0].locator, "L2");
    check(&pushed(), "count effects kind:vcs.remote target:*v1.8.0*", Verdict::Supported, "1");
}

#[test]
fn nothing_in_a_closed_scope_is_absent_with_a_certificate() {
    let answer = check(&pushed(), "effects kind:fs.delete", Verdict::Absent, "no");
    let certificate = answer.certificate.unwrap();
    assert_eq!(
        (certificate.calls, certificate.effects, certificate.holes, certificate.digest.len()),
        (1, 1, 0, 64)
    );
    assert!(answer.assumptions[0].starts_with("A3"));
}
