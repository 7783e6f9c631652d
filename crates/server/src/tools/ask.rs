//! `evidence_ask`.

use strongroom::query::read;
use strongroom::{Error, Result};

use super::{Call, MAX_TOKENS, OFFSET, SESSION, STRICT, Tool, answer};
use crate::params::{Kind, Need, Param};
use crate::reply::Reply;

pub(super) const TOOL: Tool = Tool {
    name: "evidence_ask",
    title: "Ask the records",
    about: "Answers a question about what was done, said or seen, from the original records of this project's sessions, with citations. Use it before you state anything about the past from memory or from a summary. The verdict is supported, absent (searched, with a certificate), conflicting, unverified or insufficient; the reply says what to do with it. Takes a plain question ('did we ever modify system configuration?', 'how many times was v1.8.0 pushed?') or a typed query: [ever|count|first|last|list|value|now] NOUN terms, e.g. `changes system-config`, `effects kind:vcs.remote target:*main*`, `said by:user approve*`, `value values max_conns`, `calls cmd:rm arg:-rf`, `list files op:written`, `errors tool:Bash`, `rules about:main`. Nouns: said calls results effects changes files literals values claims rules errors compactions attachments agents sessions records messages usage. A word matches whole tokens, \"quoted\" text exactly, * and /regex/ work, -term negates.",
    params: &[&QUESTION, &SESSION, &STRICT, &OFFSET, &MAX_TOKENS],
    output: answer::OUTPUT,
    run,
};

/// The most events a reader can page through.
const EVENTS_MAX: usize = 1_000;

const QUESTION: Param = Param {
    name: "question",
    kind: Kind::Text,
    need: Need::Must,
    about: "A plain question or a typed query.",
};

fn run(call: &mut Call<'_>) -> Result<Reply> {
    let question = call.args.text(QUESTION.name).unwrap_or_default();
    let query = read(question).map_err(|error| Error::invalid_input(error.to_string()))?;
    let sitting = call.sit()?;
    let answer = sitting.asked.answer_at_length(&query, sitting.options, EVENTS_MAX)?;
    Ok(answer::reply(TOOL.name, &answer, &sitting, call.args))
}
