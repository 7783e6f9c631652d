//! Decay: what is left of the beginning after one, two, five, twenty and a hundred compactions, with talk in between.
//!
//! A session becomes a request body, which is cut into as many stretches as there are compactions. Each stretch is
//! appended to what the last compaction left, and the whole is compacted again, into the same store. Questions are about
//! the first stretch.

use std::io;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::baseline::{Baseline, size};
use crate::budget::Share;
use crate::family;
use crate::literal::Reader;
use crate::messages::{self, Message};
use crate::product::{self, Asking};
use crate::question::{Expect, Question, Role};
use crate::read;
use crate::reply::{Put, Verdict, micros};
use crate::session::Session;

/// What was left of the first stretch after some compactions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decay {
    /// The transcript.
    pub transcript: String,
    /// The project.
    pub project: String,
    /// Who compacted and answered.
    pub answerer: String,
    /// How many compactions.
    pub generations: usize,
    /// Questions answered exactly.
    pub exact: u64,
    /// Asserted or denied, and wrong.
    pub silent: u64,
    /// Questions.
    pub of: u64,
    /// Tokens of the context after the last compaction.
    pub tokens: u64,
    /// Microseconds of the last compaction.
    pub micros: u64,
}

/// The name of the request in the store.
const NAME: &str = "talk.json";

/// Questions about the first stretch, at most.
const QUESTIONS: usize = 30;

/// Measures decay after each number of compactions in `generations`, at `percent` of the tokens of each context.
///
/// # Errors
/// When the store cannot be made; `None` of a session that is too short.
pub fn decay(session: &Session, generations: &[usize], budget: Share) -> io::Result<Option<Vec<Decay>>> {
    let most = generations.iter().copied().max().unwrap_or(0);
    let stretches = stretches(&messages::of(session), most);
    let Some(first) = stretches.first().filter(|_| stretches.len() >= most && most > 0) else {
        return Ok(None);
    };
    let talk = body(first);
    let Some(begun) = read::session(NAME, talk) else { return Ok(None) };
    let whole: Vec<Message> = stretches.iter().flatten().cloned().collect();
    let Some(all) = read::session(NAME, body(&whole)) else { return Ok(None) };
    let questions: Vec<Question> = family::questions(&begun, "decay", QUESTIONS)
        .into_iter()
        .filter(|own| own.role == Role::Asked && matches!(own.expect, Expect::Cited))
        .filter(|own| !own.kind.ends_with("-of-tool") && unique(&all, own))
        .take(QUESTIONS)
        .collect();
    if questions.is_empty() {
        return Ok(None);
    }
    let mut found = ours(session, &stretches, &questions, (generations, budget))?;
    found.extend(simple(session, &stretches, &questions, (generations, budget)));
    Ok(Some(found))
}

/// Whether what a question asks for stands in no later stretch.
fn unique(all: &Session, question: &Question) -> bool {
    let piece = question.query.split('"').nth(1).unwrap_or_default();
    let gold = question.gold.first().map_or(0, |gold| gold.record);
    !piece.is_empty()
        && all.find(piece, 64).iter().all(|&(leaf, _)| {
            all.leaves.get(leaf).is_some_and(|leaf| leaf.record <= gold + 2 && leaf.record + 2 >= gold)
        })
}

/// At least `count` stretches that end where no call is open.
fn stretches(messages: &[Message], count: usize) -> Vec<Vec<Message>> {
    let length = messages.len() / count.max(1);
    let mut found: Vec<Vec<Message>> = Vec::new();
    let mut own: Vec<Message> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        own.push(message.clone());
        let open =
            messages.get(at + 1).is_some_and(|next| next.role == "tool") || !message.tool_calls.is_empty();
        let first = found.is_empty() && own.len() < length.max(40);
        if !open && !first && own.len() >= (length / 2).max(1) {
            found.push(std::mem::take(&mut own));
        }
    }
    match found.last_mut() {
        Some(last) => last.extend(own),
        None => found.push(own),
    }
    found
}

/// Messages as a request body.
fn body(messages: &[Message]) -> Vec<u8> {
    json!({ "model": "any", "messages": messages }).to_string().into_bytes()
}

fn ours(
    session: &Session,
    stretches: &[Vec<Message>],
    questions: &[Question],
    how: (&[usize], Share),
) -> io::Result<Vec<Decay>> {
    let failed = |error: strongroom::Error| io::Error::other(error.to_string());
    let dir = tempfile::tempdir()?;
    let store = product::store(dir.path()).map_err(failed)?;
    let mut context: Vec<Value> = Vec::new();
    let mut found = Vec::new();
    for (at, stretch) in stretches.iter().enumerate() {
        context.extend(stretch.iter().map(|message| json!(message)));
        let bytes = json!({ "model": "any", "messages": context }).to_string().into_bytes();
        let start = Instant::now();
        let shortened =
            product::shorten(NAME, bytes, "openai-chat", &store, product::budget(how.1)).map_err(failed)?;
        let took = micros(start.elapsed());
        let left: Value = serde_json::from_slice(&shortened.bytes)?;
        context = left.get("messages").and_then(Value::as_array).cloned().unwrap_or_default();
        if !how.0.contains(&(at + 1)) {
            continue;
        }
        let after: Vec<Message> = serde_json::from_value(Value::Array(context.clone()))?;
        let ready = product::ready(NAME, shortened.bytes, "openai-chat", Some(&store)).map_err(failed)?;
        let asks: Vec<Asking<'_>> =
            questions.iter().map(|question| Asking { question, put: Put::Typed }).collect();
        let answers = ready.quotes(&asks).map_err(failed)?;
        let (mut exact, mut silent) = (0, 0);
        for (question, (verdict, quotes)) in questions.iter().zip(answers) {
            let holds = quotes.iter().any(|quote| question.gold.iter().any(|gold| gold.stands_in(quote)));
            exact += u64::from(verdict == Verdict::Supported && holds);
            silent += u64::from(verdict == Verdict::Supported && !holds || verdict == Verdict::Absent);
        }
        let counts = (exact, silent, questions.len());
        found.push(line(session, "strongroom", at + 1, counts, (size(&after), took)));
    }
    Ok(found)
}

fn simple(
    session: &Session,
    stretches: &[Vec<Message>],
    questions: &[Question],
    how: (&[usize], Share),
) -> Vec<Decay> {
    let mut found = Vec::new();
    for baseline in [Baseline::KeepLast, Baseline::HeadTail] {
        let mut context: Vec<Message> = Vec::new();
        let mut given: Vec<Message> = Vec::new();
        for (at, stretch) in stretches.iter().enumerate() {
            context.extend(stretch.iter().cloned());
            given.extend(stretch.iter().cloned());
            let start = Instant::now();
            context = baseline.compact(&context, how.1.of(size(&context)));
            let took = micros(start.elapsed());
            if how.0.contains(&(at + 1)) {
                let reader = Reader::new(&given, &context);
                let exact = questions.iter().filter(|own| reader.finds(own) == Some(true)).count();
                let counts = (u64::try_from(exact).unwrap_or(0), 0, questions.len());
                found.push(line(session, baseline.name(), at + 1, counts, (size(&context), took)));
            }
        }
    }
    found
}

fn line(
    session: &Session,
    answerer: &str,
    generations: usize,
    counts: (u64, u64, usize),
    cost: (u64, u64),
) -> Decay {
    let (exact, silent, of) = counts;
    Decay {
        transcript: session.name.clone(),
        project: session.project.clone(),
        answerer: answerer.to_owned(),
        generations,
        exact,
        silent,
        of: u64::try_from(of).unwrap_or(u64::MAX),
        tokens: cost.0,
        micros: cost.1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Function, ToolCall};

    #[test]
    fn stretches_end_where_no_call_is_open() {
        let mut talk = Vec::new();
        for at in 0..60 {
            talk.push(Message::new("user", format!("say {at}")));
            let call =
                ToolCall { id: format!("c{at}"), kind: "function".into(), function: Function::default() };
            talk.push(Message { role: "assistant".into(), tool_calls: vec![call], ..Message::default() });
            talk.push(Message { tool_call_id: Some(format!("c{at}")), ..Message::new("tool", "done") });
        }
        let found = stretches(&talk, 20);
        assert!(found.len() >= 20, "{}", found.len());
        assert_eq!(found.concat(), talk);
        assert!(found.iter().all(|stretch| stretch.last().unwrap().tool_calls.is_empty()));
        assert!(found.iter().all(|stretch| stretch.first().unwrap().role != "tool"));
    }
}
