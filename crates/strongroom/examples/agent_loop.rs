//! A small agent that compacts as it goes, is asked about what it forgot, and recovers it.
//!
//! ```text
//! cargo run -p strongroom --example agent_loop
//! ```
//!
//! The model is a script and the tools work on a tree in memory, so that every run is the same; the loop around them
//! is what an agent's runtime would do: send, run the calls, append, and compact when the context has grown.

#![expect(clippy::print_stdout, reason = "an example that tells what it does")]
#![expect(clippy::indexing_slicing, reason = "a JSON value without the field is null, and does not panic")]

use std::collections::BTreeMap;
use std::error::Error;

use serde_json::{Value, json};
use strongroom::answer::{Answer, Verdict};
use strongroom::compact::{Outcome, Unmet};
use strongroom::custodian::{Conversation, Custodian};
use strongroom::policy::Policy;
use strongroom::time::Timestamp;
use strongroom::tokens::{self, Budget, Tokens};

type Run<T> = Result<T, Box<dyn Error>>;

/// The context is compacted when it has grown beyond this.
const HIGH: Tokens = Tokens(6_000);

/// What is left of it then.
const LOW: Tokens = Tokens(3_000);

fn main() -> Run<()> {
    let dir = tempfile::tempdir()?;
    let mut agent = Agent::new(Custodian::open(dir.path(), Policy::default())?);
    agent.hear("Move the service to port 8434. Never restart the database.");
    agent.work(&mut Script::of_the_move())?;
    agent.hear("Did we ever modify system config? And what exactly was written?");
    let told = agent.work(&mut Script::of_the_question())?;

    println!("\nassistant: {told}");
    assert!(agent.compactions > 0, "the context never grew enough to be compacted");
    assert!(told.contains("port: 8434"), "what was written was not recovered");
    Ok(())
}

/// The runtime: messages, tools, custody.
struct Agent {
    custodian: Custodian,
    messages: Vec<Value>,
    tree: BTreeMap<String, String>,
    compactions: usize,
}

impl Agent {
    fn new(custodian: Custodian) -> Self {
        let system = json!({"role": "system", "content": "You operate one host. Ask evidence_ask before you say what was done."});
        Self { custodian, messages: vec![system], tree: BTreeMap::new(), compactions: 0 }
    }

    fn hear(&mut self, words: &str) {
        println!("user: {words}");
        self.messages.push(json!({"role": "user", "content": words}));
    }

    /// Lets the model work until it has nothing left to call, and returns its last words.
    fn work(&mut self, model: &mut Script) -> Run<String> {
        loop {
            self.make_room()?;
            let message = model.next(&self.messages);
            let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
            let words = message["content"].as_str().unwrap_or_default().to_owned();
            self.messages.push(message);
            if calls.is_empty() {
                return Ok(words);
            }
            for call in calls {
                let result = self.run(&call)?;
                self.messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": result}));
            }
        }
    }

    /// Compacts when the context has grown beyond [`HIGH`].
    fn make_room(&mut self) -> Run<()> {
        let size = tokens::count(&Value::from(self.messages.clone()).to_string());
        if size <= HIGH {
            return Ok(());
        }
        let outcome =
            self.custodian.compact(self.conversation(), Budget::Tokens(LOW), Unmet::BestEffort, now())?;
        if let Outcome::Compacted(compacted, _) = outcome {
            self.messages = serde_json::from_slice(compacted.bytes())?;
            self.compactions += 1;
            println!(
                "  -- compacted; about {} tokens before, {} messages now --",
                size.0,
                self.messages.len()
            );
        }
        Ok(())
    }

    fn conversation(&self) -> Conversation {
        let bytes = Value::from(self.messages.clone()).to_string().into_bytes();
        Conversation::new("move-of-the-service", bytes).in_format("openai-chat")
    }

    /// Runs one call; what went wrong is a result too, for the model to read.
    fn run(&mut self, call: &Value) -> Run<String> {
        let name = call["function"]["name"].as_str().unwrap_or_default();
        let arguments: Value = serde_json::from_str(call["function"]["arguments"].as_str().unwrap_or("{}"))?;
        let argument = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
        println!("  {name} {}", shortened(&arguments.to_string()));
        let result = match name {
            "read_file" => {
                self.tree.get(&argument("path")).cloned().unwrap_or_else(|| manual(&argument("path")))
            }
            "write_file" => {
                let written = argument("content").len();
                self.tree.insert(argument("path"), argument("content"));
                format!("wrote {written} bytes")
            }
            "evidence_ask" => told(&self.custodian.ask(self.conversation(), &argument("question"))?),
            "evidence_show" => {
                self.custodian.show(&argument("pointer")).unwrap_or_else(|error| error.to_string())
            }
            _ => format!("there is no tool {name}"),
        };
        Ok(result)
    }
}

/// An answer as the model reads it.
fn told(answer: &Answer) -> String {
    let verdict = if answer.verdict == Verdict::Supported { "supported" } else { "not supported" };
    let cited = answer.citations.iter().filter_map(|citation| citation.pointer.as_deref());
    let mut pointers: Vec<&str> = cited.collect();
    pointers.dedup();
    format!("{verdict}; originals: {}", pointers.join(" "))
}

/// A model that follows a script, and reads the pointers that it is told.
struct Script {
    steps: Vec<Step>,
    at: usize,
}

enum Step {
    Call(&'static str, Value),
    /// Shows the original that the last result points to.
    ShowWhatWasCited,
    Say(&'static str),
    /// Says the words, and what the last result holds.
    Report(&'static str),
}

impl Script {
    /// Reads long manuals, changes one file among them, and says nothing of it at the end.
    fn of_the_move() -> Self {
        let read = |n: usize| Step::Call("read_file", json!({"path": format!("/srv/app/manual-{n}.md")}));
        let change = json!({"path": "/etc/app/conf.yaml", "content": "region: eu-central-1\nport: 8434\n"});
        let mut steps = vec![read(0), Step::Call("write_file", change)];
        steps.extend((1..12).map(read));
        steps.push(Step::Say("The service answers."));
        Self { steps, at: 0 }
    }

    fn of_the_question() -> Self {
        let question = json!({"question": "did we ever modify system config?"});
        let steps = vec![
            Step::Call("evidence_ask", question),
            Step::ShowWhatWasCited,
            Step::Report("Yes. The original reads:"),
        ];
        Self { steps, at: 0 }
    }

    fn next(&mut self, messages: &[Value]) -> Value {
        let heard = messages.last().and_then(|message| message["content"].as_str()).unwrap_or_default();
        let id = format!("call_{}_{}", messages.len(), self.at);
        self.at += 1;
        match self.steps.get(self.at - 1) {
            Some(Step::Call(name, arguments)) => called(&id, name, arguments),
            Some(Step::ShowWhatWasCited) => {
                let pointer =
                    heard.split_whitespace().find(|word| word.starts_with("sr1:")).unwrap_or_default();
                called(&id, "evidence_show", &json!({"pointer": pointer}))
            }
            Some(Step::Say(words)) => json!({"role": "assistant", "content": words}),
            Some(Step::Report(words)) => json!({"role": "assistant", "content": format!("{words}\n{heard}")}),
            None => json!({"role": "assistant", "content": "Done."}),
        }
    }
}

fn called(id: &str, name: &str, arguments: &Value) -> Value {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": function}]})
}

/// A file that nobody has written: long, and without any interest.
fn manual(path: &str) -> String {
    let lines = (0..60).map(|n| format!("{n}. of {path}: see section {:x}", n * 7919 + path.len()));
    lines.collect::<Vec<_>>().join("\n")
}

fn shortened(text: &str) -> String {
    text.chars().take(70).collect()
}

/// The present; fixed, so that every run is the same.
fn now() -> Timestamp {
    Timestamp::from_ms(1_790_000_000_000)
}

#[test]
fn the_agent_recovers_what_it_forgot() {
    main().unwrap();
}
