//! A model behind an endpoint that misbehaves in every way.

use std::time::{Duration, Instant};

use strongroom::summariser::{INSTRUCTIONS, Request, RequestSpan, RequestText, SCHEMA, Summariser as _};
use strongroom_model::dialect::Dialect;
use strongroom_model::endpoint::{Endpoint, Settings};
use strongroom_model::key::Key;
use strongroom_model::limits::Limits;
use testkit::server::{Reply, Server};

const KEY: &str = "sk-do-not-tell-0123456789";

fn limits() -> Limits {
    Limits {
        total: Duration::from_secs(5),
        idle: Duration::from_millis(400),
        pause: Duration::from_millis(10),
        reply_bytes_max: 200_000,
        ..Limits::default()
    }
}

fn endpoint(dialect: Dialect, server: &Server, limits: Limits) -> Endpoint {
    Endpoint::new(Settings {
        dialect,
        endpoint: format!("{}/v1", server.url()),
        model: "tiny".to_owned(),
        key: Some(Key::new(KEY, "the test").unwrap()),
        proxy: None,
        limits,
    })
    .unwrap()
}

fn request() -> Request {
    let texts = vec![RequestText { speaker: "assistant", text: "I ran \"it\".\nData: [DONE]".to_owned() }];
    let spans = vec![RequestSpan { number: 1, kind: "said", outcome: None, texts }];
    Request { schema: SCHEMA, instructions: INSTRUCTIONS, words_max: 100, spans }
}

/// What comes of it, with the number of requests. The key stands in no error and no debug form.
fn ask(dialect: Dialect, replies: Vec<Reply>, limits: Limits) -> (Result<String, String>, Vec<String>) {
    let server = Server::start(replies);
    let endpoint = endpoint(dialect, &server, limits);
    let drafted = endpoint.draft(&request()).map_err(|error| format!("{} {error:?}", error.chain()));
    let told = format!("{endpoint:?} {} {drafted:?}", endpoint.name());
    assert!(!told.contains("do-not-tell"), "{told}");
    (drafted, server.requests())
}

fn chat(replies: Vec<Reply>) -> (Result<String, String>, usize) {
    let (drafted, requests) = ask(Dialect::Openai, replies, limits());
    (drafted, requests.len())
}

fn fails(replies: Vec<Reply>, why: &str, tries: usize) {
    let (drafted, requests) = chat(replies);
    let error = drafted.unwrap_err();
    assert!(error.contains(why), "{why}: {error}");
    assert_eq!(requests, tries, "{why}");
}

#[test]
fn both_dialects_are_spoken() {
    let (drafted, requests) = ask(Dialect::Openai, vec![Reply::chat("It \"ran\".\nThen não.")], limits());
    assert_eq!(drafted.unwrap(), "It \"ran\".\nThen não.");
    let sent = requests.concat();
    assert!(sent.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{sent}");
    assert!(sent.to_lowercase().contains(&format!("authorization: bearer {KEY}")));
    assert!(
        sent.contains("\"stream\":true")
            && sent.contains("\"model\":\"tiny\"")
            && sent.contains("At most 100 words")
    );
    let (drafted, requests) = ask(Dialect::Anthropic, vec![Reply::messages("It ran.")], limits());
    assert_eq!(drafted.unwrap(), "It ran.");
    let sent = requests.concat();
    assert!(sent.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{sent}");
    assert!(
        sent.contains(&format!("x-api-key: {KEY}"))
            && sent.contains("anthropic-version: ")
            && sent.contains("\"max_tokens\"")
    );
}

#[test]
fn what_may_pass_is_tried_again() {
    let full = || Reply::json(429, "{\"error\":{\"type\":\"rate_limit_error\"}}");
    let start = Instant::now();
    assert_eq!(
        chat(vec![full().with("retry-after", "1"), Reply::chat("Good.")]),
        (Ok("Good.".to_owned()), 2)
    );
    assert!(start.elapsed() >= Duration::from_secs(1), "it said when");
    assert_eq!(
        chat(vec![Reply::json(500, "oops"), Reply::json(503, "{}"), Reply::chat("Good.")]),
        (Ok("Good.".to_owned()), 3)
    );
    let cut = || Reply::events(&["{\"choices\":[{\"delta\":{\"content\":\"It was\"}}]}"]);
    assert_eq!(chat(vec![cut(), Reply::chat("Good.")]), (Ok("Good.".to_owned()), 2), "a half is thrown away");
    assert_eq!(
        chat(vec![Reply::default(), Reply::chat("Good.")]),
        (Ok("Good.".to_owned()), 2),
        "no reply at all"
    );
    fails(vec![Reply::json(500, "no")], "status 500, 4 times", 4);
    fails(vec![cut()], "breaks off, 4 times", 4);
    fails(
        vec![full().with("retry-after", "60")],
        "no draft within 5 s; at last: status 429 (rate_limit_error)",
        1,
    );
}

#[test]
fn what_will_not_pass_is_not() {
    let wrong = format!("{{\"error\":{{\"message\":\"bad key {KEY}\",\"type\":\"authentication_error\"}}}}");
    fails(vec![Reply::json(401, &wrong)], "status 401 (authentication_error)", 1);
    fails(
        vec![Reply::json(404, "{\"error\":{\"code\":\"model_not_found\"}}")],
        "status 404 (model_not_found)",
        1,
    );
    fails(vec![Reply::json(302, "").with("location", "http://127.0.0.1:1/")], "name the right endpoint", 1);
    fails(vec![Reply::json(200, "<html>no</html>")], "not what such an endpoint gives", 1);
    fails(
        vec![Reply::stream(vec![b"\xff\xfegarbage\n\ndata: {broken\n\ndata: more".to_vec()])],
        "not what such an endpoint gives",
        1,
    );
    fails(vec![Reply::events(&["{\"error\":{\"type\":\"server_error\"}}"])], "server_error", 1);
    fails(vec![Reply::events(&["{\"choices\":[{\"delta\":{\"refusal\":\"No.\"}}]}"])], "refused", 1);
    let huge = Reply::events(&[
        "{\"choices\":[{\"delta\":{\"content\":\"more and more of it, without an end \"}}]}",
    ]);
    fails(vec![huge.times(1_000_000)], "longer than 200000 bytes", 1);
}

#[test]
fn nobody_is_waited_for_without_end() {
    let start = Instant::now();
    let late = |drafted: Result<String, String>| {
        let error = drafted.unwrap_err();
        assert!(error.contains("too long"), "{error}");
    };
    let once = Limits { tries: 1, ..limits() };
    let silent = Reply::chat("Late.").slowly(Duration::from_secs(3), Duration::ZERO);
    let (drafted, _) = ask(Dialect::Openai, vec![silent], once);
    late(drafted);
    let stops = Reply::chat("Late.").slowly(Duration::ZERO, Duration::from_secs(3));
    let (drafted, _) = ask(Dialect::Openai, vec![stops], once);
    late(drafted);
    // It never stops, and never ends.
    let drip = Reply::events(&["{}"]).times(1_000).slowly(Duration::ZERO, Duration::from_millis(50));
    let (drafted, _) = ask(Dialect::Openai, vec![drip], Limits { total: Duration::from_millis(700), ..once });
    late(drafted);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn a_reply_need_not_be_a_stream_and_may_be_cut_at_its_length() {
    let whole = "{\"choices\":[{\"message\":{\"content\":\"It ran.\"},\"finish_reason\":\"stop\"}]}";
    assert_eq!(chat(vec![Reply::json(200, whole)]), (Ok("It ran.".to_owned()), 1));
    let cut =
        "{\"choices\":[{\"message\":{\"content\":\"It ran. Then it wa\"},\"finish_reason\":\"length\"}]}";
    assert_eq!(chat(vec![Reply::json(200, cut)]), (Ok("It ran.".to_owned()), 1));
}

#[test]
fn a_key_goes_over_no_network_unencrypted() {
    let new = |endpoint: &str, key: Option<&str>| {
        let key = key.map(|key| Key::new(key, "the test").unwrap());
        let (endpoint, model) = (endpoint.to_owned(), "m".to_owned());
        Endpoint::new(Settings {
            dialect: Dialect::Openai,
            endpoint,
            model,
            key,
            proxy: None,
            limits: limits(),
        })
    };
    assert!(new("https://models.example/v1", Some(KEY)).is_ok());
    assert!(new("http://models.example/v1", None).is_ok());
    assert!(new("http://localhost:11434/v1", Some(KEY)).is_ok());
    for (endpoint, why) in [
        ("http://models.example/v1", "not encrypted"),
        ("https://me:secret@models.example", "password"),
        ("ftp://models.example", "neither"),
        ("models", "address"),
        ("not an address", "address"),
    ] {
        let message = new(endpoint, Some(KEY)).unwrap_err().to_string();
        assert!(message.contains(why) || message.contains("neither"), "{message}");
        assert!(!message.contains("secret") && !message.contains("do-not-tell"), "{message}");
    }
}
