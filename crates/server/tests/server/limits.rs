//! Sizes, pages, wrong calls, many calls and calls that are taken back.

use serde_json::{Value, json};

use crate::client::Client;
use crate::session::{House, Session, eventful};

/// A session that reads `reads` files.
fn long(reads: usize) -> Session {
    let mut session = Session::new("dddddddd-0000-4000-8000-000000000004").user("Read everything.");
    for read in 0..reads {
        let body: String = (0..40).map(|line| format!("needle {read} in line {line}\n")).collect();
        session = session.call("Read", &json!({ "file_path": format!("/srv/ws/app/m{read}.rs") }), &body);
    }
    session
}

#[tokio::test]
async fn replies_stay_within_their_tokens_and_name_the_call_for_the_rest() {
    let house = House::new();
    let mut client = Client::connect(house.keep(&long(60)).desk()).await;
    let mut arguments = json!({ "text": "needle", "max_tokens": 700 });
    let mut seen = Vec::new();
    let mut pages = 0;
    while !arguments.is_null() {
        let result = client.call("evidence_search", arguments).await;
        let object = &result["structuredContent"];
        assert!(strongroom::tokens::count(&object.to_string()).0 <= 700, "{object}");
        assert!(strongroom::tokens::count(&result["content"].to_string()).0 <= 800, "{result}");
        let hits = object["hits"].as_array().unwrap();
        seen.extend(hits.iter().map(|hit| hit["locator"].as_str().unwrap().to_owned()));
        assert!(object["next"].is_null() || object["next"]["tool"] == "evidence_search");
        arguments = object["next"]["arguments"].clone();
        pages += 1;
    }
    seen.dedup();
    assert_eq!((seen.len(), pages > 3), (60, true), "{pages}");
}

#[tokio::test]
async fn lists_go_on_behind_the_usual_fifty() {
    let house = House::new();
    let mut client = Client::connect(house.keep(&long(60)).desk()).await;
    let question = json!({ "question": "list results needle", "offset": 118, "max_tokens": 900 });
    let last = client.object("evidence_ask", question).await;
    assert_eq!(last["page"]["total"], 120, "{last}");
    assert!(last["citations"].to_string().contains("needle 59"), "{last}");
}

#[tokio::test]
async fn a_long_record_is_shown_piece_by_piece() {
    let house = House::new();
    let body: String = (0..3_000).map(|line| format!("line {line}\n")).collect();
    let session = Session::new("s1").call("Read", &json!({ "file_path": "/srv/ws/app/a" }), &body);
    let mut client = Client::connect(house.keep(&session).desk()).await;
    let mut arguments = json!({ "record": "L2" });
    let mut read = String::new();
    while !arguments.is_null() {
        let shown = client.object("evidence_show", arguments).await;
        read.push_str(shown["parts"][0]["text"].as_str().unwrap());
        arguments = shown["next"]["arguments"].clone();
    }
    assert_eq!(read, body);
    let lines = client.object("evidence_show", json!({ "record": "L2", "lines": "11..12" })).await;
    assert_eq!(lines["parts"][0]["text"], "line 10\nline 11\n");
}

#[tokio::test]
async fn a_wrong_call_is_told_what_to_correct() {
    let house = House::new();
    std::fs::write(house.dir.path().join("outside.jsonl"), &eventful().text).unwrap();
    let outside = house.dir.path().join("outside.jsonl").display().to_string();
    let mut client = Client::connect(house.keep(&eventful()).desk()).await;
    let wrong = [
        ("evidence_ask", json!({}), "`question` is missing"),
        ("evidence_ask", json!({ "question": 7 }), "`question` must be a string"),
        ("evidence_ask", json!({ "question": ["a"] }), "`question` must be a string"),
        ("evidence_ask", json!({ "question": "x".repeat(1_000_000) }), "at most 4000 characters"),
        ("evidence_ask", json!({ "question": "effects scop:system" }), "did you mean \"scope\"?"),
        ("evidence_ask", json!({ "question": "said /(/" }), "invalid-input"),
        ("evidence_ask", json!({ "question": "q", "max_tokens": 5 }), "from 300 to 20000"),
        ("evidence_ask", json!({ "question": "q", "sesion": "x" }), "no parameter `sesion`"),
        ("evidence_search", json!({ "text": "x", "by": ["root"] }), "must be one of user"),
        ("evidence_show", json!({ "record": "L1", "lines": "a..b" }), "must be written a..b"),
        ("evidence_sessions", json!({ "of": "everything" }), "must be one of project, all"),
        ("evidence_ask", json!({ "question": "said x", "session": "nowhere" }), "no session \"nowhere\""),
    ];
    for (tool, arguments, said) in wrong {
        let error = client.error(tool, arguments).await;
        assert!(error.contains(said) && error.contains("This is no answer"), "{tool}: {error}");
    }
    let relative = "../outside.jsonl";
    for path in [outside.as_str(), relative, "sessions/../../outside.jsonl", "/etc/passwd", "\u{0}", "~"] {
        let error = client.error("evidence_search", json!({ "text": "port", "session": path })).await;
        assert!(error.starts_with("not-found: no session"), "{path}: {error}");
    }
}

#[tokio::test]
async fn messages_that_are_no_calls_do_no_harm() {
    let house = House::new();
    let mut client = Client::connect(house.keep(&eventful()).desk()).await;
    let unknown = client.request("tools/call", json!({ "name": "evidence_destroy", "arguments": {} })).await;
    assert!(unknown["error"]["message"].as_str().unwrap().contains("unknown tool"), "{unknown}");
    for line in ["", "no json", "[]", "{}", "{\"jsonrpc\":\"2.0\"", "\u{feff}{}", "null"] {
        client.write(line).await;
    }
    client
        .write(&json!({ "jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": 3 }).to_string())
        .await;
    client
        .write(&json!({ "jsonrpc": "2.0", "id": 901, "method": "no/such", "params": {} }).to_string())
        .await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    client
        .write(&format!("{{\"jsonrpc\":\"2.0\",\"id\":902,\"method\":\"tools/call\",\"params\":{deep}}}"))
        .await;
    let answer = client.object("evidence_ask", json!({ "question": "Did we push anything?" })).await;
    assert_eq!(answer["verdict"], "supported");
}

#[tokio::test]
async fn many_calls_at_once_are_all_answered() {
    let house = House::new();
    let mut client = Client::connect(house.keep(&long(40)).desk()).await;
    let mut open = Vec::new();
    for n in 0..16 {
        let arguments = json!({ "text": format!("needle {n} in line 3") });
        open.push(
            client.send("tools/call", json!({ "name": "evidence_search", "arguments": arguments })).await,
        );
    }
    while !open.is_empty() {
        let response = client.response().await;
        open.retain(|id| response["id"] != *id);
        assert_eq!(response["result"]["structuredContent"]["found"].as_u64(), Some(1), "{response}");
    }
}

#[tokio::test]
async fn a_call_that_is_taken_back_holds_nothing_up() {
    let house = House::new();
    let mut client = Client::connect(house.keep(&long(400)).desk()).await;
    let call = json!({ "name": "evidence_ask", "arguments": { "question": "list literals" } });
    for _ in 0..8 {
        let id = client.send("tools/call", call.clone()).await;
        let taken = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                            "params": { "requestId": id, "reason": "test" } });
        client.write(&taken.to_string()).await;
    }
    let answer = client.object("evidence_search", json!({ "text": "needle 3 in line 7" })).await;
    assert_eq!(answer["found"], 1, "{answer}");
}

#[tokio::test]
async fn progress_is_told_to_those_who_ask_for_it() {
    let house = House::new();
    let second = Session::new("s2").user("More.");
    let mut client = Client::connect(house.keep(&long(5)).keep(&second).desk()).await;
    let call =
        |meta: Value| json!({ "name": "evidence_search", "arguments": { "text": "needle" }, "_meta": meta });
    client.request("tools/call", call(json!({}))).await;
    assert!(client.noted.is_empty(), "{:?}", client.noted);
    client.request("tools/call", call(json!({ "progressToken": "p" }))).await;
    let told = &client.noted[0];
    assert_eq!(
        (&told["method"], &told["params"]["progressToken"]),
        (&json!("notifications/progress"), &json!("p"))
    );
    assert!(told["params"]["total"].as_f64().unwrap() > 0.0, "{told}");
}

#[tokio::test]
async fn what_is_appended_to_a_session_is_seen() {
    let house = House::new();
    let mut client = Client::connect(house.keep(&eventful()).desk()).await;
    let deploy = json!({ "text": "kiwi" });
    assert_eq!(client.object("evidence_search", deploy.clone()).await["found"], 0);
    house.keep(&eventful().user("Now about the kiwi."));
    assert_eq!(client.object("evidence_search", deploy).await["found"], 1);
}
