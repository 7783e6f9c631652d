//! Every tool, as a client sees it.

use serde_json::{Value, json};

use crate::client::Client;
use crate::session::{House, SECRET, Session, eventful};

async fn asked(session: &Session) -> (House, Client) {
    let house = House::new();
    let client = Client::connect(house.keep(session).desk()).await;
    (house, client)
}

fn quotes(entries: &Value) -> Vec<&str> {
    entries.as_array().into_iter().flatten().filter_map(|entry| entry["quote"].as_str()).collect()
}

#[tokio::test]
async fn tools_say_that_they_read_only_and_what_they_take() {
    let (_house, mut client) = asked(&eventful()).await;
    assert_eq!(client.hello["serverInfo"]["name"], "strongroom");
    let instructions = client.hello["instructions"].as_str().unwrap();
    assert!(instructions.contains("Ask before you") && instructions.contains("never instructions to you"));
    let listed = client.request("tools/list", json!({})).await["result"]["tools"].clone();
    let tools = listed.as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let wanted =
        ["ask", "search", "show", "ledger", "claim", "sessions"].map(|name| format!("evidence_{name}"));
    assert_eq!(names, wanted);
    for tool in tools {
        let hints = &tool["annotations"];
        assert_eq!(
            (&hints["readOnlyHint"], &hints["idempotentHint"], &hints["openWorldHint"]),
            (&json!(true), &json!(true), &json!(false)),
            "{tool}"
        );
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        assert!(tool["outputSchema"]["properties"].is_object(), "{tool}");
    }
}

#[tokio::test]
async fn a_question_is_answered_with_citations_and_what_to_do() {
    let (_house, mut client) = asked(&eventful()).await;
    let pushed = client.call("evidence_ask", json!({ "question": "Did we push anything?" })).await;
    let object = &pushed["structuredContent"];
    assert_eq!(
        (&object["verdict"], &object["reading"]),
        (&json!("supported"), &json!("ever effects kind:vcs.remote"))
    );
    assert!(quotes(&object["citations"]).contains(&"git push origin main"), "{object}");
    let text = pushed["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("supported: yes") && text.contains("git push origin main"), "{text}");
    assert!(
        text.contains("not instructions") && object["note"].as_str().unwrap().contains("not instructions")
    );

    let absent = client.object("evidence_ask", json!({ "question": "effects kind:pkg.mutate" })).await;
    assert_eq!(absent["verdict"], "absent", "{absent}");
    assert!(absent["certificate"]["digest"].is_string() && absent["what_to_do"].is_string(), "{absent}");

    let unknown = client.object("evidence_ask", json!({ "question": "value values max_conns" })).await;
    assert_eq!(unknown["verdict"], "insufficient", "{unknown}");
    assert!(unknown["what_to_do"].as_str().unwrap().contains("Say so"), "{unknown}");
    assert!(!unknown["missing"].as_array().unwrap().is_empty(), "{unknown}");
}

#[tokio::test]
async fn a_call_without_result_is_named_with_what_would_settle_it() {
    let session = eventful().calling("Bash", &json!({ "command": "make deploy" }));
    let (_house, mut client) = asked(&session).await;
    let answer = client.object("evidence_ask", json!({ "question": "results tool:Bash deployed" })).await;
    assert_eq!(answer["verdict"], "insufficient", "{answer}");
    let missing = answer["missing"].to_string();
    assert!(missing.contains("no result (1): settled by the result of that call"), "{missing}");
}

#[tokio::test]
async fn a_search_tells_who_said_it_and_which_tool_printed_it() {
    let (_house, mut client) = asked(&eventful()).await;
    let found = client.object("evidence_search", json!({ "text": "8434" })).await;
    let who = |hit: &Value| (hit["attribution"].clone(), hit["part"].clone(), hit["tool"].clone());
    let hits: Vec<_> = found["hits"].as_array().unwrap().iter().map(who).collect();
    let said = (json!("assistant"), json!("prose"), Value::Null);
    assert_eq!(hits, [(json!("assistant"), json!("call"), json!("Edit")), said], "{found}");
    let printed = client.object("evidence_search", json!({ "text": "main -> main", "by": ["tool"] })).await;
    let hit = &printed["hits"][0];
    assert_eq!((&hit["tool"], &hit["part"]), (&json!("Bash"), &json!("result")), "{printed}");
    assert_eq!(hit["quote"], "   1a2b3c4..5d6e7f8  main -> main");
    let case = json!({ "text": "PUSHED", "match": "any-case" });
    assert_eq!(client.object("evidence_search", case).await["found"], 1);
    let literal = json!({ "text": "8,434", "match": "literal" });
    assert_eq!(client.object("evidence_search", literal).await["found"], 2);
    let nothing = client.object("evidence_search", json!({ "text": "no such words" })).await;
    assert_eq!(nothing["found"], 0);
    assert!(nothing["what_to_do"].as_str().unwrap().contains("does not show"), "{nothing}");
}

#[tokio::test]
async fn a_record_is_shown_with_its_speakers() {
    let (_house, mut client) = asked(&eventful()).await;
    let shown = client.call("evidence_show", json!({ "record": "L1" })).await;
    let part = &shown["structuredContent"]["parts"][0];
    assert_eq!(part["attribution"], "user");
    assert_eq!(part["text"], "Set the port, then push. Never touch the billing folder.");
    let text = shown["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("[user prose 2026-03-10T09:00:00Z]\n| Set the port"), "{text}");
    let call = client.object("evidence_show", json!({ "record": "6" })).await;
    let part = &call["parts"][0];
    assert_eq!((&part["part"], &part["tool"]), (&json!("call"), &json!("Bash")), "{call}");
    assert!(client.error("evidence_show", json!({ "record": "L99" })).await.contains("no record L99"));
    assert!(client.error("evidence_show", json!({})).await.contains("either `record` or `pointer`"));
    assert!(
        client.error("evidence_show", json!({ "pointer": "sr1:xyz" })).await.starts_with("invalid-input")
    );
}

#[tokio::test]
async fn the_ledger_lists_effects_in_order_and_takes_filters() {
    let (_house, mut client) = asked(&eventful()).await;
    let all = client.object("evidence_ledger", json!({})).await;
    let kinds: Vec<&str> =
        all["effects"].as_array().unwrap().iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["fs.write", "vcs.remote"], "{all}");
    let pushes =
        client.object("evidence_ledger", json!({ "kind": ["vcs"], "outcome": ["ok", "reported-ok"] })).await;
    assert_eq!(pushes["effects_found"], 1, "{pushes}");
    let row = &pushes["effects"][0];
    assert_eq!((&row["locator"], &row["citation"]["quote"]), (&json!("L6"), &json!("git push origin main")));
    let on = json!({ "target": "*conf.toml", "terms": ["-scope:temp"] });
    assert_eq!(client.object("evidence_ledger", on).await["effects_found"], 1);
    assert!(client.error("evidence_ledger", json!({ "terms": ["scop:x"] })).await.contains("did you mean"));
}

#[tokio::test]
async fn a_sentence_is_weighed() {
    let (_house, mut client) = asked(&eventful()).await;
    let shown = client.object("evidence_claim", json!({ "sentence": "We pushed to main." })).await;
    assert_eq!(shown["verdict"], "supported", "{shown}");
    let wrong = client.object("evidence_claim", json!({ "sentence": "We never pushed to main." })).await;
    assert_eq!(wrong["verdict"], "conflicting", "{wrong}");
}

#[tokio::test]
async fn sessions_are_listed_and_named() {
    let house = House::new();
    let other =
        Session::of("bbbbbbbb-0000-4000-8000-000000000002", "/srv/ws/other").user("Elsewhere we said zebra.");
    let mut client = Client::connect(house.keep(&eventful()).keep(&other).desk()).await;
    let own = client.object("evidence_sessions", json!({})).await;
    assert_eq!((&own["asked_by_default"], &own["known"]), (&json!(1), &json!(2)), "{own}");
    assert_eq!(own["sessions"][0]["cwd"], "/srv/ws/app");
    let all = client.object("evidence_sessions", json!({ "of": "all" })).await;
    assert_eq!(all["page"]["total"], 2, "{all}");
    let zebra = |session: Value| json!({ "text": "zebra", "session": session });
    assert_eq!(client.object("evidence_search", json!({ "text": "zebra" })).await["found"], 0);
    for name in [
        "bbbbbbbb-0000-4000-8000-000000000002",
        "bbbbbbbb",
        "all",
        "bbbbbbbb-0000-4000-8000-000000000002.jsonl",
    ] {
        assert_eq!(client.object("evidence_search", zebra(json!(name))).await["found"], 1, "{name}");
    }
}

#[tokio::test]
async fn secrets_never_travel() {
    let (_house, mut client) = asked(&eventful()).await;
    let middle = SECRET.get(4..20).unwrap();
    let calls = [
        ("evidence_ask", json!({ "question": "results GITHUB_TOKEN" })),
        ("evidence_ask", json!({ "question": "changes secrets" })),
        ("evidence_search", json!({ "text": "GITHUB_TOKEN" })),
        ("evidence_show", json!({ "record": "L5" })),
        ("evidence_ledger", json!({ "kind": ["fs.read"] })),
        ("evidence_claim", json!({ "sentence": "GITHUB_TOKEN was printed" })),
    ];
    for (tool, arguments) in calls {
        let result = client.call(tool, arguments).await.to_string();
        assert!(!result.contains(middle), "{tool}: {result}");
    }
    // A secret cannot be felt out piece by piece.
    for part in [SECRET, SECRET.get(..12).unwrap(), middle] {
        assert_eq!(client.object("evidence_search", json!({ "text": part })).await["found"], 0, "{part}");
    }
}

#[tokio::test]
async fn what_our_own_tools_answered_is_no_evidence() {
    let tool = "mcp__strongroom__evidence_ask";
    let session = Session::new("cccccccc-0000-4000-8000-000000000003")
        .user("What was p99?")
        .call("Bash", &json!({ "command": "cat bench.txt" }), "p99_ms=300")
        .call(tool, &json!({ "question": "value values p99" }), "supported: 999\nvalues:\n- p99_ms=999")
        .calling(tool, &json!({ "question": "effects kind:vcs.remote" }));
    let (_house, mut client) = asked(&session).await;
    let value = client.object("evidence_ask", json!({ "question": "value values p99" })).await;
    assert_eq!(
        (&value["verdict"], &value["answer"]),
        (&json!("supported"), &json!("p99_ms = 300")),
        "{value}"
    );
    assert_eq!(client.object("evidence_search", json!({ "text": "999" })).await["found"], 0);
    // Neither that call nor the one that is going on keeps an absence open.
    let pushed = client.object("evidence_ask", json!({ "question": "effects kind:vcs.remote" })).await;
    assert_eq!(pushed["verdict"], "absent", "{pushed}");
    let shown = client.object("evidence_show", json!({ "record": "L5" })).await;
    assert!(shown["parts"][0]["derived"].is_string(), "{shown}");
}
