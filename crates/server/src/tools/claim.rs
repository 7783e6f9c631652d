//! `evidence_claim`.

use strongroom::Result;

use super::{Call, MAX_TOKENS, OFFSET, SESSION, STRICT, Tool, answer};
use crate::params::{Kind, Need, Param};
use crate::reply::Reply;

pub(super) const TOOL: Tool = Tool {
    name: "evidence_claim",
    title: "Check a sentence",
    about: "Weighs one sentence against the original records before you assert it: 'the tests pass', 'we never pushed to main', 'the config was written to /etc/app.yaml'. The verdict says whether the records show it, contradict it, only report it, or cannot tell.",
    params: &[&SENTENCE, &SESSION, &STRICT, &OFFSET, &MAX_TOKENS],
    output: answer::OUTPUT,
    run,
};

const SENTENCE: Param = Param {
    name: "sentence",
    kind: Kind::Text,
    need: Need::Must,
    about: "One sentence that states what was done or holds.",
};

fn run(call: &mut Call<'_>) -> Result<Reply> {
    let sitting = call.sit()?;
    let sentence = call.args.text(SENTENCE.name).unwrap_or_default();
    let answer = sitting.asked.claim(sentence, sitting.options)?;
    Ok(answer::reply(TOOL.name, &answer, &sitting, call.args))
}
