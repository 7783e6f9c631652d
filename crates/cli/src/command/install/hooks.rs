//! Hooks in a JSON file: `hooks.EVENT[].hooks[]`, as Claude Code and Codex have them.

use serde_json::{Map, Value as Json};
use strongroom::Result;
use strongroom::json::Value;

use super::entries::is_ours;
use super::json::{Leaf, add, len, or_empty, read, remove, with_root};

fn is_own(handler: Value<'_>) -> bool {
    handler.string_at("command").is_some_and(|command| is_ours(&command))
}

/// Our hooks as they stand in the file, each as a group of its own.
pub(super) fn own(bytes: &[u8]) -> Vec<(String, Json)> {
    let found = with_root(or_empty(bytes), |root| {
        let mut found = Vec::new();
        for (event, groups) in root.get("hooks").into_iter().flat_map(Value::entries) {
            for group in groups.elements() {
                for handler in group.get("hooks").into_iter().flat_map(Value::elements) {
                    if is_own(handler) {
                        let mut own = read(group).as_object().cloned().unwrap_or_else(Map::new);
                        own.insert("hooks".to_owned(), Json::Array(vec![read(handler)]));
                        found.push((event.string().unwrap_or_default().into_owned(), Json::Object(own)));
                    }
                }
            }
        }
        found
    });
    found.unwrap_or_default()
}

/// Groups in an order that does not depend on where they stand.
fn in_order(groups: &[(String, Json)]) -> Vec<(&str, String)> {
    let mut groups: Vec<(&str, String)> =
        groups.iter().map(|(event, group)| (event.as_str(), group.to_string())).collect();
    groups.sort();
    groups
}

/// The file with these groups of hooks and no others of ours.
///
/// # Errors
/// `InvalidInput` when the file is not JSON, or `hooks` in it is something else.
pub(super) fn put(bytes: &[u8], groups: &[(String, Json)]) -> Result<Vec<u8>> {
    let mut text = or_empty(bytes).to_vec();
    with_root(&text, |_| ())?;
    let there = own(&text);
    if in_order(&there) == in_order(groups) {
        return Ok(bytes.to_vec());
    }
    if !there.is_empty() {
        text = take(&text)?;
    }
    for (event, group) in groups {
        text = add(&text, &["hooks", event], Leaf::Element, group)?;
    }
    Ok(text)
}

/// The file without our hooks; what they leave empty goes with them.
///
/// # Errors
/// `InvalidInput` when the file is not JSON.
pub(super) fn take(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut text = bytes.to_vec();
    if text.iter().all(u8::is_ascii_whitespace) {
        return Ok(text);
    }
    while let Some(shorter) = with_root(&text, |root| without_one(&text, root))? {
        text = shorter;
    }
    Ok(text)
}

/// The file without the first of our hooks.
fn without_one(text: &[u8], root: Value<'_>) -> Option<Vec<u8>> {
    let hooks = root.get("hooks")?;
    let (hooks_key, _) = root.entries().filter(|(key, _)| key.is("hooks")).last()?;
    for (event, groups) in hooks.entries() {
        for group in groups.elements() {
            let Some(handlers) = group.get("hooks") else { continue };
            let Some(handler) = handlers.elements().find(|handler| is_own(*handler)) else { continue };
            return Some(match (len(handlers), len(groups), len(hooks)) {
                (1, 1, 1) => remove(text, root, hooks_key),
                (1, 1, _) => remove(text, hooks, event),
                (1, _, _) => remove(text, groups, group),
                _ => remove(text, handlers, handler),
            });
        }
    }
    None
}

/// Whether the file turns all hooks off.
pub(super) fn are_off(bytes: &[u8]) -> bool {
    let flag = with_root(or_empty(bytes), |root| root.get("disableAllHooks").and_then(Value::bool));
    flag.is_ok_and(|flag| flag == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn groups() -> Vec<(String, Json)> {
        let group = |event: &str| {
            let command = format!("/x/strongroom --installed-by strongroom hook {event}");
            (event.to_owned(), json!({ "hooks": [{ "type": "command", "command": command, "timeout": 15 }] }))
        };
        vec![group("PreCompact"), group("Stop")]
    }

    fn foreign() -> impl Strategy<Value = Json> {
        let handler = prop_oneof![
            Just(json!({ "type": "command", "command": "echo done" })),
            Just(json!({ "type": "command", "command": "strongroom hook Stop" })),
        ];
        let group = proptest::collection::vec(handler, 0..3)
            .prop_map(|hooks| json!({ "matcher": "x", "hooks": hooks }));
        let event = prop_oneof![Just("Stop"), Just("PreCompact"), Just("PreToolUse")];
        let events = proptest::collection::btree_map(event, proptest::collection::vec(group, 0..3), 0..3);
        (events, any::<bool>(), any::<bool>()).prop_map(|(events, hooks, model)| {
            let mut all = Map::new();
            if model {
                all.insert("model".to_owned(), json!("opus \u{e9} \"x\""));
            }
            if hooks {
                all.insert("hooks".to_owned(), json!(events));
            }
            Json::Object(all)
        })
    }

    /// A document without its empty events and an empty `hooks`: those may go with ours.
    fn without_empty(mut document: Json) -> Json {
        if let Some(hooks) = document.get_mut("hooks").and_then(Json::as_object_mut) {
            hooks.retain(|_, groups| groups != &json!([]));
        }
        if document.get("hooks") == Some(&json!({})) {
            document.as_object_mut().unwrap().remove("hooks");
        }
        document
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn only_our_entries_come_and_go(document in foreign(), pretty in any::<bool>()) {
            let text = if pretty { format!("{document:#}") } else { document.to_string() };
            let with = put(text.as_bytes(), &groups()).unwrap();
            prop_assert!(in_order(&own(&with)) == in_order(&groups()));
            prop_assert_eq!(&put(&with, &groups()).unwrap(), &with);
            let without = take(&with).unwrap();
            let read: Json = serde_json::from_slice(&without).unwrap();
            prop_assert_eq!(without_empty(read), without_empty(document));
            prop_assert!(own(&without).is_empty());
            let other = put(&with, &groups()[..1]).unwrap();
            prop_assert!(in_order(&own(&other)) == in_order(&groups()[..1]));
        }
    }
}
