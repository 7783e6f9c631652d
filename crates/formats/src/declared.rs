//! What a list of tools says of them: a request's `tools`, an item that lists the tools of a server.

use std::borrow::Cow;

use crate::json::{Kind, Value};

/// The members of a tool that may say what it does: `readOnlyHint` and `destructiveHint` of the Model Context Protocol,
/// and `read_only` of the Responses API. What says that nothing is changed is not believed, so it is not read.
const CHANGES: [(&str, bool); 4] =
    [("readOnlyHint", false), ("read_only", false), ("destructiveHint", true), ("destructive", true)];

/// The names of the tools that are said to change something, in `value` or in its member `tools`.
pub(crate) fn changing(value: Value<'_>) -> Vec<String> {
    let list = if value.kind() == Kind::Array { Some(value) } else { value.get("tools") };
    let tools = list.into_iter().flat_map(Value::elements);
    tools.filter(|tool| tool.get("annotations").is_some_and(says_change)).filter_map(name).collect()
}

fn says_change(annotations: Value<'_>) -> bool {
    CHANGES.iter().any(|(key, told)| annotations.get(key).and_then(Value::bool) == Some(*told))
}

fn name(tool: Value<'_>) -> Option<String> {
    let own = tool.string_at("name");
    own.or_else(|| tool.get("function")?.string_at("name")).map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use crate::json::Tape;

    fn changing(text: &str) -> Vec<String> {
        let mut tape = Tape::new();
        tape.scan(text.as_bytes()).unwrap();
        super::changing(tape.root(text.as_bytes(), 0).unwrap())
    }

    #[test]
    fn only_what_says_that_it_changes_something_counts() {
        let list = r#"[{"name":"a","annotations":{"read_only":false}},{"name":"b","annotations":{"readOnlyHint":true}},
            {"name":"c","annotations":{"destructiveHint":true}},{"name":"d"},{"name":"e","annotations":null},
            {"function":{"name":"f"},"annotations":{"readOnlyHint":false}},{"annotations":{"read_only":false}},7]"#;
        assert_eq!(changing(list), ["a", "c", "f"]);
        assert_eq!(changing(&format!(r#"{{"type":"mcp_list_tools","tools":{list}}}"#)), ["a", "c", "f"]);
        assert!(changing(r#"{"tools":"none"}"#).is_empty());
    }
}
