use super::*;
use strongroom_evidence::answer::Strictness;

fn options(budget: u64) -> CardOptions {
    CardOptions {
        ask: AskOptions { strictness: Strictness::Assume, fingerprint_key: [7; 32] },
        budget: Tokens(budget),
        opening: Vec::new(),
        closing: vec!["Ask.".to_owned()],
    }
}

fn example(budget: u64) -> Card {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/claude-code.jsonl");
    Card::of(SessionFiles::open(&path, None).unwrap(), None, &options(budget)).unwrap()
}

#[test]
fn a_card_holds_constraints_effects_and_what_is_open() {
    let card = example(1_200);
    println!("{}", card.text);
    assert!(card.tokens <= Tokens(1_200));
    assert!(card.text.contains("\"Never push to main, and do not touch anything under vendor/.\" (L1)"));
}

#[test]
fn a_small_budget_counts_what_it_leaves_out() {
    let card = example(260);
    println!("{}", card.text);
    assert!(card.tokens <= Tokens(260), "{card:?}");
    assert!(card.omitted > 0 && card.text.contains("more not shown"));
}
