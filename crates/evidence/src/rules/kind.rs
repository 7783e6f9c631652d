//! What kind of rule a sentence states, by its cues.

use std::sync::LazyLock;

use regex::Regex;

/// Cues of each kind; a sentence may be of several.
const CUES: &[(&str, &str)] = &[
    (
        "ban",
        r"(?i)\b(?:never|must\s+not|mustn['’]?t|may\s+not|no\s+longer|off[\s-]limits|forbidden|not\s+allowed|stay\s+away|hands\s+off|leave\s+\S+\s+alone|avoid)\b|(?:^|[^\w\s]\s*|\b(?:and|but|please|so|then|also|just)\s+)(?:do\s+not|don['’]?t)\b|不要|不能|不得|禁止|只能|勿|しないで|禁止|するな|nicht\b|niemals|jamais|nunca",
    ),
    (
        "duty",
        r"(?i)\b(?:always|must|make\s+sure|ensure|be\s+sure\s+to|required?\s+to)\b|必须|一定要|務必|必ず",
    ),
    (
        "gate",
        r"(?i)\b(?:unless|without\s+asking|ask\s+(?:me|us|first)|before\s+you|wait\s+for|only\s+(?:after|when|if|with)|check\s+with\s+me|confirm\s+with)\b|先问|先确认",
    ),
    (
        "approval",
        r"(?i)\b(?:go\s+ahead|you\s+(?:can|may)|approved?|approves|i\s+(?:allow|permit|authori[sz]e|agree)|feel\s+free|you\s+are\s+(?:allowed|free)|permission\s+to|ok(?:ay)?\s+to|fine\s+to)\b|可以|批准|同意",
    ),
];

static COMPILED: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    let read = |(kind, cues): &(&'static str, &str)| Regex::new(cues).ok().map(|regex| (*kind, regex));
    CUES.iter().filter_map(read).collect()
});

/// The kinds of rule whose cues stand in `sentence`.
pub fn kinds(sentence: &str) -> Vec<&'static str> {
    COMPILED.iter().filter(|(_, regex)| regex.is_match(sentence)).map(|(kind, _)| *kind).collect()
}

/// Whether a sentence states a rule: it holds a cue and is no question.
pub fn is_rule(sentence: &str) -> bool {
    !sentence.trim_end().ends_with(['?', '？']) && !kinds(sentence).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cues_compile_and_kinds_are_told_apart() {
        assert_eq!(COMPILED.len(), CUES.len());
        assert_eq!(kinds("Never push to main"), ["ban"]);
        assert!(kinds("ask me before you run any migration").contains(&"gate"));
        assert!(kinds("you can edit billing/tax.rs only").contains(&"approval"));
        assert!(kinds("The rest of billing/ stays off limits.").contains(&"ban"));
        assert!(kinds("I approve deleting the folder").contains(&"approval"));
        assert!(kinds("Always run the linter").contains(&"duty"));
        assert!(kinds("只能在测试环境运行").contains(&"ban"));
    }

    #[test]
    fn questions_and_plain_statements_are_no_rules() {
        assert!(!is_rule("Shall I go ahead?"));
        assert!(!is_rule("The port is 8080"));
    }
}
