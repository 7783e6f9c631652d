//! The questions of the shared cases as typed queries.
//!
//! `cases/not-yet.tsv` names the questions that are not answered as expected, each with its reason. Every other
//! question must be answered so, and a listed one that is answered must leave the list.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;
use strongroom::answer::Strictness;
use strongroom::ask::{AskOptions, Asked};
use strongroom::query::parse;
use strongroom::reading::Reading;
use strongroom::transcript::SessionFiles;
use strongroom_core::evidence::{Certainty, EvidentialClass};
use strongroom_core::transcript::Record;
use testkit::figure::{figure, share};
use testkit::shared::shared;

use crate::walk::files;

const NOT_YET: &str = include_str!("cases/not-yet.tsv");

const CORRECTED: &str = include_str!("cases/corrected.tsv");

/// One question with what is expected of its answer.
struct Question {
    case: String,
    id: String,
    chain: Vec<String>,
    form: String,
    expected: Value,
}

#[test]
fn questions_of_the_shared_cases() {
    let Some(cases) = shared("cases") else { return };
    let listed: BTreeMap<(&str, &str), &str> = NOT_YET
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| {
            let mut fields = line.splitn(3, '\t');
            ((fields.next().unwrap(), fields.next().unwrap()), fields.next().expect("a reason"))
        })
        .collect();
    let mut wrong = String::new();
    let (mut passed, mut waiting) = (0, 0);
    for question in questions(&cases) {
        let result = check(&cases, &question);
        let reason = listed.get(&(question.case.as_str(), question.id.as_str()));
        match (&result, reason) {
            (Ok(()), None) => passed += 1,
            (Err(_), Some(reason)) => {
                waiting += 1;
                println!("not yet: {} {}: {reason}", question.case, question.id);
            }
            (Ok(()), Some(_)) => {
                writeln!(wrong, "{}\t{}\tis answered now; take it off the list", question.case, question.id)
                    .unwrap();
            }
            (Err(why), None) => writeln!(wrong, "{}\t{}\t{why}", question.case, question.id).unwrap(),
        }
    }
    figure("questions of the shared cases answered as expected", share(passed, passed + waiting), "all");
    assert!(wrong.is_empty(), "{wrong}");
}

/// The classes that the cases expect, on the axis that the gate uses; effects that are certain must be seen, and a call
/// that only reads must not be taken for one that writes.
#[test]
fn classes_of_the_shared_cases() {
    let Some(cases) = shared("cases") else { return };
    let mut wrong = String::new();
    let (mut checked, mut whole, mut cases_in_all) = (0, 0, 0);
    for path in files(&cases).into_iter().filter(|path| path.ends_with("expect.md")) {
        let case = path.parent().unwrap();
        let checks = checks_of(&path);
        let before = wrong.len();
        let session = SessionFiles::open(&input_of(case), None).unwrap();
        for expected in checks["span_classes"].as_array().into_iter().flatten() {
            let (place, class) = (expected["where"].as_str().unwrap(), expected["class"].as_str().unwrap());
            checked += 1;
            if let Err(why) = check_class(&session, place, class) {
                writeln!(wrong, "{} {place}: {class}: {why}", case.display()).unwrap();
            }
        }
        cases_in_all += 1;
        whole += usize::from(wrong.len() == before);
    }
    println!("{checked} classes compared");
    figure("shared cases with the expected classes", share(whole, cases_in_all), "41 of 41");
    assert!(wrong.is_empty(), "{wrong}");
}

fn check_class(session: &SessionFiles, place: &str, class: &str) -> Result<(), String> {
    let (file, place) = place.rsplit_once(':').unwrap_or(("", place));
    let sources = std::iter::once(&session.main).chain(&session.children);
    let mut classes = Vec::new();
    for source in sources
        .filter(|source| source.name().ends_with(file) && (!file.is_empty() || source.agent().is_none()))
    {
        let reading = Reading::uncounted(source).map_err(|error| error.to_string())?;
        let spans = reading.spans.iter().filter(|span| {
            let records = span.content.blocks.iter().map(|content| content.record);
            records.into_iter().any(|record| is_at(record, place))
        });
        classes.extend(spans.map(|span| span.examination.evidence.class));
    }
    let effects = |certainty: Option<Certainty>| {
        classes.iter().any(|class| match class {
            EvidentialClass::SideEffecting(own) => certainty.is_none_or(|certainty| *own == certainty),
            EvidentialClass::Narrative(_) | EvidentialClass::Structured => false,
        })
    };
    let evidential = classes.iter().any(|class| !matches!(class, EvidentialClass::Narrative(_)));
    let right = match class.split([' ', ',']).next().unwrap_or_default() {
        "narrative" => !evidential,
        "side_effecting" => effects(None),
        _ => evidential && !effects(Some(Certainty::Definite)),
    };
    if right { Ok(()) } else { Err(format!("{classes:?}")) }
}

/// Whether a record is at one of the places `L2-L5`, `L3, L5`, `/messages/1-/messages/2`.
fn is_at(record: &Record, places: &str) -> bool {
    let number =
        |text: &str| text.trim_start_matches(['L', '/']).trim_start_matches("messages/").parse::<u32>().ok();
    let own = record.line.or_else(|| number(&record.pointer));
    places.split(", ").any(|place| {
        let (first, last) = place.split_once('-').unwrap_or((place, place));
        let ends = number(first).zip(number(last));
        ends.zip(own).is_some_and(|((first, last), own)| (first..=last).contains(&own))
    })
}

fn checks_of(expect: &Path) -> Value {
    let text = std::fs::read_to_string(expect).unwrap();
    let block = text.split("```json").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    serde_json::from_str(block).unwrap()
}

fn input_of(case: &Path) -> std::path::PathBuf {
    let inputs = ["input.jsonl", "input.json"].map(|name| case.join(name));
    inputs.into_iter().find(|path| path.exists()).unwrap()
}

fn questions(cases: &Path) -> Vec<Question> {
    let table = std::fs::read_to_string(cases.join("queries.tsv")).unwrap();
    table
        .lines()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let (case, id) = (fields[0].to_owned(), fields[1].to_owned());
            let checks = checks_of(&cases.join(&case).join("expect.md"));
            let all = checks["questions"].as_array().unwrap();
            let expected = all.iter().find(|question| question["id"] == id.as_str()).unwrap().clone();
            let query = corrected(&case, &id).unwrap_or(fields[2]);
            let chain = query.split(";;").map(|query| query.trim().to_owned()).collect();
            Question { case, id, chain, form: fields[4].to_owned(), expected }
        })
        .collect()
}

/// The mapping of a question where the shared table's is wrong.
fn corrected(case: &str, id: &str) -> Option<&'static str> {
    let rows = CORRECTED.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| line.split_once('\t').and_then(|(own, rest)| Some((own, rest.split_once('\t')?))))
        .find(|(own, (own_id, _))| *own == case && *own_id == id)
        .map(|(_, (_, query))| query)
}

/// Asks the chain and compares the last verdict and answer, and all citations, with what is expected.
fn check(cases: &Path, question: &Question) -> Result<(), String> {
    let input = input_of(&cases.join(&question.case));
    let mut asked = Asked::default();
    let files = SessionFiles::open(&input, None).map_err(|error| error.to_string())?;
    asked.add(files, None).map_err(|error| error.to_string())?;
    let mut answers: Vec<Value> = Vec::new();
    for query in &question.chain {
        let query = substitute(query, &answers)?;
        let parsed = parse(&query).map_err(|error| format!("{query}: {error}"))?;
        let options = AskOptions { strictness: Strictness::Assume, fingerprint_key: [7; 32] };
        let answer = asked.answer(&parsed, options).map_err(|error| format!("{query}: {error}"))?;
        answers.push(serde_json::to_value(&answer).unwrap());
    }
    compare(question, &answers)
}

/// Fills in what an earlier step returned: `{1.record}` and `{1.target}`.
fn substitute(query: &str, answers: &[Value]) -> Result<String, String> {
    let Some((before, rest)) = query.split_once('{') else { return Ok(query.to_owned()) };
    let (hole, after) = rest.split_once('}').ok_or("an open brace")?;
    let first = answers.first().ok_or("no earlier step")?;
    let citation = &first["citations"][0];
    let filled = match hole {
        "1.record" => citation["record"].to_string(),
        "1.target" => {
            let value = first["values"][0]["value"].as_str().ok_or("no target")?;
            let target = value.rsplit_once(": ").map_or(value, |(target, _)| target);
            target.rsplit('/').next().unwrap_or(target).to_owned()
        }
        "1.id in the call" => {
            let calls = first["citations"].as_array().ok_or("no citations")?.iter();
            let calls = calls.filter(|one| one["attribution"] == "assistant");
            calls
                .filter_map(|one| one["quote"].as_str())
                .flat_map(str::split_whitespace)
                .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
                .find(|word| word.len() >= 7 && word.bytes().any(|byte| byte.is_ascii_digit()))
                .ok_or("no id in the call")?
                .to_owned()
        }
        other => return Err(format!("nothing fills {other:?}")),
    };
    Ok(format!("{before}{filled}{after}"))
}

fn compare(question: &Question, answers: &[Value]) -> Result<(), String> {
    let last = answers.last().ok_or("no answer")?;
    let expected = match question.expected["verdict"].as_str().unwrap_or_default() {
        "answered" => "supported",
        "unverified_claim" => "unverified",
        same => same,
    };
    if last["verdict"] != expected {
        return Err(format!(
            "{}: expected {expected}, got {} ({})",
            question.chain.join(" ;; "),
            last["verdict"],
            last["answer"]
        ));
    }
    let answer = last["answer"].as_str().unwrap_or_default().to_lowercase();
    let shown = format!("{answer} {} {}", last["values"], quotes(answers).join(" ").to_lowercase());
    for wanted in strings(&question.expected["answer_must_include"]) {
        // A passage answers by what it holds; a number or a yes must be said.
        let said = matches!(wanted.as_str(), "yes" | "no")
            || question.form.starts_with("number") && wanted.bytes().all(|byte| byte.is_ascii_digit());
        let place = if said { &answer } else { &shown };
        if !place.to_lowercase().contains(&wanted.to_lowercase()) {
            return Err(format!("{wanted:?} is not in the answer {answer:?}"));
        }
    }
    for unwanted in strings(&question.expected["answer_must_not_include"]) {
        if shown.contains(&unwanted.to_lowercase()) {
            return Err(format!("{unwanted:?} is in the answer"));
        }
    }
    question.expected["cite"].as_array().into_iter().flatten().try_for_each(|cite| cited(cite, answers))
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|one| one.as_str().map(str::to_owned)).collect()
}

fn citations(answers: &[Value]) -> Vec<&Value> {
    let all = answers.iter().flat_map(|answer| {
        let passed = answer["passed_over"].as_array().into_iter().flatten().map(|one| &one["citation"]);
        let blocking =
            answer["scope"]["blocking"].as_array().into_iter().flatten().map(|one| &one["citation"]);
        answer["citations"].as_array().into_iter().flatten().chain(passed).chain(blocking)
    });
    all.collect()
}

fn quotes(answers: &[Value]) -> Vec<String> {
    citations(answers).iter().filter_map(|one| one["quote"].as_str().map(str::to_owned)).collect()
}

/// Whether the line `own` is one of the lines `L6-L7`.
fn is_within(own: &str, lines: &str) -> bool {
    let number = |text: &str| text.strip_prefix('L').and_then(|digits| digits.parse::<u32>().ok());
    let ends = lines.split_once('-').and_then(|(first, last)| Some(number(first)?..=number(last)?));
    ends.zip(number(own)).is_some_and(|(lines, own)| lines.contains(&own))
}

/// Whether a citation at the wanted place holds the needle.
fn cited(cite: &Value, answers: &[Value]) -> Result<(), String> {
    let (place, needle) =
        (cite["where"].as_str().unwrap_or_default(), cite["needle"].as_str().unwrap_or_default());
    let (file, locator) = place.rsplit_once(':').unwrap_or(("", place));
    let found = citations(answers).iter().any(|one| {
        let source = one["source"].as_str().unwrap_or_default();
        let own = one["locator"].as_str().unwrap_or_default();
        let quote = one["quote"].as_str().unwrap_or_default();
        let at_place = is_within(own, locator)
            || own == locator
            || own.starts_with(&format!("{locator}/"))
            || own.starts_with(&format!("{locator} "));
        (file.is_empty() || source.ends_with(file)) && at_place && quote.contains(needle)
    });
    if found { Ok(()) } else { Err(format!("no citation at {place} holds {needle:?}")) }
}
