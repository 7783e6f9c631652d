//! Attributes: a list of keys, each with a value that names its type.

use crate::json::{Kind, Value};

/// The value of the attribute `key` of a span or event, without the name of its type.
pub(super) fn attribute<'v>(owner: Value<'v>, key: &str) -> Option<Value<'v>> {
    let all = owner.get("attributes").into_iter().flat_map(Value::elements);
    let named = all.filter(|one| one.get("key").is_some_and(|name| name.is(key)));
    named.filter_map(|one| one.get("value")?.entries().next()).map(|(_, value)| value).last()
}

/// The string that the first of these attributes holds.
pub(super) fn text(owner: Value<'_>, keys: &[&str]) -> Option<String> {
    let found =
        keys.iter().find_map(|key| attribute(owner, key).filter(|value| value.kind() == Kind::String))?;
    found.string().map(Into::into)
}

/// The whole number that an attribute or member holds: a number, or digits in a string.
pub(super) fn number(value: Value<'_>) -> Option<i64> {
    value.integer().or_else(|| value.string()?.parse().ok())
}
