//! F8: whether something never happened, with near misses, and what did happen as the twin.

use super::{Ask, Call, Ground, Pair, arg, class_of, quotes, window};
use crate::question::{Expect, quoted};
use crate::session::{Kind, Speaker};

/// Programs of which most sessions know nothing.
const PROGRAMS: [&str; 12] = [
    "terraform",
    "kubectl",
    "psql",
    "rsync",
    "scp",
    "helm",
    "ansible",
    "mysqldump",
    "crontab",
    "systemctl",
    "iptables",
    "gpg",
];

/// Tools of which most sessions know nothing.
const TOOLS: [&str; 6] =
    ["NotebookEdit", "deploy_service", "send_email", "create_invoice", "delete_branch", "open_ticket"];

pub(super) fn never(ground: &Ground<'_>) -> Vec<Pair> {
    let mut found: Vec<Pair> = ground.calls.iter().filter_map(|call| never_called(ground, call)).collect();
    found.extend(never_said(ground));
    found.extend(never_written(ground));
    found.extend(never_used(ground));
    found
}

fn ask(ground: &Ground<'_>, kind: &'static str, query: String, slots: Vec<String>) -> Ask {
    let age = ground.session.events.first().map(|event| ground.age(event)).unwrap_or_default();
    Ask { kind, query, slots, expect: Expect::No, gold: Vec::new(), class: "side-effecting", age }
}

fn never_called(ground: &Ground<'_>, call: &Call<'_>) -> Option<Pair> {
    let (leaf, part) = ground.fragment(call)?;
    let piece = ground.session.text(leaf).get(part.clone())?.to_owned();
    let near = ground.near_miss(&piece)?;
    let of = |piece: &str| {
        let query = format!("ever calls {}", arg(piece));
        ask(ground, "ever-called", query, vec![piece.to_owned()])
    };
    let happened = Ask {
        expect: Expect::Yes,
        gold: vec![ground.gold(call.event, leaf, part)?],
        class: class_of(call.tool),
        age: ground.age(call.event),
        ..of(&piece)
    };
    // A call that failed or was refused is no plain yes.
    let twin = (call.outcome != crate::session::Outcome::Failed && call.result.is_some()).then_some(happened);
    Some(Pair { asked: of(&near), twin })
}

fn never_said(ground: &Ground<'_>) -> Vec<Pair> {
    let said = ground.session.events.iter().enumerate();
    let said = said.filter(|(_, event)| event.speaker == Speaker::User && event.kind == Kind::Said);
    said.filter_map(|(at, event)| {
        let (leaf, part) = quotes::unique(ground, at, event)?;
        let piece = ground.session.text(leaf).get(part.clone())?.to_owned();
        let near = ground.near_miss(&piece)?;
        let of = |piece: &str| {
            let query = format!("ever said by:user {}", quoted(piece));
            Ask { class: "narrative", ..ask(ground, "ever-said", query, vec![piece.to_owned()]) }
        };
        let gold = vec![ground.gold(event, leaf, part)?];
        let twin = Ask { expect: Expect::Yes, gold, age: ground.age(event), ..of(&piece) };
        Some(Pair { asked: of(&near), twin: Some(twin) })
    })
    .collect()
}

fn never_written(ground: &Ground<'_>) -> Vec<Pair> {
    let mut found: Vec<Pair> = Vec::new();
    for call in ground.calls.iter().filter(|call| matches!(call.tool, "Edit" | "Write" | "Read")) {
        let named = call.arguments.iter().find(|own| own.name == "file_path");
        let Some(path) = named.map(|own| ground.session.text(own.leaf)) else { continue };
        if path.contains(['"', '\\', '*', '?', ' ']) || window::secretive(path) {
            continue;
        }
        let Some(near) = ground.near_miss(path) else { continue };
        let query = format!("ever files op:written path:{}", quoted(&near));
        if !found.iter().any(|pair| pair.asked.query == query) {
            found.push(Pair { asked: ask(ground, "ever-written", query, vec![near]), twin: None });
        }
    }
    found
}

fn never_used(ground: &Ground<'_>) -> Vec<Pair> {
    let shell = |call: &&Call<'_>| matches!(call.tool, "Bash" | "exec_command" | "shell" | "PowerShell");
    let programs = PROGRAMS
        .iter()
        .take(if ground.calls.iter().any(|call| shell(&call)) { 6 } else { 0 })
        .map(|name| ("ever-run", name, format!("ever calls cmd:{name}")));
    let tools = TOOLS.iter().take(2).map(|name| ("ever-tool", name, format!("ever calls tool:{name}")));
    let unknown = programs.chain(tools).filter(|(_, name, _)| {
        ground.session.find_any_case(name, 1).is_empty() && ground.session.lacks(name)
    });
    unknown
        .map(|(kind, name, query)| Pair {
            asked: ask(ground, kind, query, vec![(*name).to_owned()]),
            twin: None,
        })
        .collect()
}
