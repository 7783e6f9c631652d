//! Parameters of tools: a table gives the schema a client sees and the check its arguments go through.

use serde_json::{Map, Value, json};

/// The longest text a parameter takes, in characters.
const TEXT_CHARS_MAX: usize = 4_000;

/// The longest list a parameter takes.
const LIST_MAX: usize = 32;

/// A parameter of a tool.
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) need: Need,
    pub(crate) about: &'static str,
}

/// Whether a parameter must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Must,
    May,
}

/// What a parameter takes.
#[derive(Debug)]
pub(crate) enum Kind {
    /// A text that is not empty.
    Text,
    /// A list of texts.
    Texts,
    /// A whole number, both ends included.
    Count { min: u64, max: u64, usual: u64 },
    /// True or false; false where it is left out.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Some of these words.
    Choices(&'static [&'static str]),
}

/// The JSON schema of a tool's arguments.
pub(crate) fn schema(params: &[&Param]) -> Map<String, Value> {
    let properties: Map<String, Value> =
        params.iter().map(|param| (param.name.to_owned(), param.schema())).collect();
    let required: Vec<&str> =
        params.iter().filter(|param| param.need == Need::Must).map(|param| param.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

impl Param {
    fn schema(&self) -> Value {
        let mut schema = match &self.kind {
            Kind::Text => json!({ "type": "string", "minLength": 1, "maxLength": TEXT_CHARS_MAX }),
            Kind::Texts => json!({ "type": "array", "items": { "type": "string" }, "maxItems": LIST_MAX }),
            Kind::Count { min, max, usual } => {
                json!({ "type": "integer", "minimum": min, "maximum": max, "default": usual })
            }
            Kind::Flag => json!({ "type": "boolean", "default": false }),
            Kind::Choice(words) => json!({ "type": "string", "enum": words, "default": words.first() }),
            Kind::Choices(words) => {
                json!({ "type": "array", "items": { "type": "string", "enum": words }, "maxItems": LIST_MAX })
            }
        };
        if let Some(object) = schema.as_object_mut() {
            object.insert("description".to_owned(), self.about.into());
        }
        schema
    }

    /// Why `value` is none of this parameter's.
    fn fault(&self, value: &Value) -> Option<String> {
        let words = |value: &Value| value.as_array().map(|list| list.iter().all(Value::is_string));
        match &self.kind {
            Kind::Text => match value.as_str() {
                None => Some("must be a string".to_owned()),
                Some(text) if text.trim().is_empty() => Some("must not be empty".to_owned()),
                Some(text) => too_long(text),
            },
            Kind::Texts | Kind::Choices(_) if words(value) != Some(true) => {
                Some("must be an array of strings".to_owned())
            }
            Kind::Texts | Kind::Choices(_) => self.list_fault(value.as_array().map_or(&[], Vec::as_slice)),
            Kind::Count { min, max, .. } => match count(value) {
                Some(own) if (*min..=*max).contains(&own) => None,
                _ => Some(format!("must be a whole number from {min} to {max}")),
            },
            Kind::Flag => (!value.is_boolean()).then(|| "must be true or false".to_owned()),
            Kind::Choice(words) => one_of(value, words),
        }
    }

    fn list_fault(&self, list: &[Value]) -> Option<String> {
        if list.len() > LIST_MAX {
            return Some(format!("must hold at most {LIST_MAX} strings"));
        }
        list.iter().find_map(|value| match &self.kind {
            Kind::Choices(words) => one_of(value, words),
            _ => value.as_str().and_then(too_long),
        })
    }
}

fn too_long(text: &str) -> Option<String> {
    (text.chars().count() > TEXT_CHARS_MAX)
        .then(|| format!("must be at most {TEXT_CHARS_MAX} characters long"))
}

fn one_of(value: &Value, words: &[&str]) -> Option<String> {
    let known = value.as_str().is_some_and(|word| words.contains(&word));
    (!known).then(|| format!("must be one of {}", words.join(", ")))
}

/// A whole number, also one that is written as `5.0`.
fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let text = value.as_f64().filter(|own| own.fract() == 0.0 && *own >= 0.0)?.to_string();
        text.parse().ok()
    })
}

/// Arguments that were checked against their parameters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Args(Map<String, Value>);

impl Args {
    /// Checks `given`; nulls count as left out, since some clients send them.
    ///
    /// # Errors
    /// A sentence that names what to correct.
    pub(crate) fn read(params: &[&Param], mut given: Map<String, Value>) -> Result<Self, String> {
        given.retain(|_, value| !value.is_null());
        for (name, value) in &given {
            let param =
                params.iter().find(|param| param.name == name).ok_or_else(|| unknown(params, name))?;
            if let Some(fault) = param.fault(value) {
                return Err(format!("`{name}` {fault}"));
            }
        }
        let missing = params.iter().find(|param| param.need == Need::Must && !given.contains_key(param.name));
        match missing {
            Some(param) => Err(format!("`{}` is missing: {}", param.name, param.about)),
            None => Ok(Self(given)),
        }
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let list = self.0.get(name).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(|value| value.as_str().map(str::to_owned)).collect()
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    pub(crate) fn count(&self, name: &str, usual: u64) -> u64 {
        self.0.get(name).and_then(count).unwrap_or(usual)
    }

    /// The same arguments with one of them set.
    pub(crate) fn with(&self, name: &str, value: Value) -> Map<String, Value> {
        let mut all = self.0.clone();
        all.insert(name.to_owned(), value);
        all
    }
}

fn unknown(params: &[&Param], name: &str) -> String {
    let short: String = name.chars().take(40).collect();
    let known: Vec<&str> = params.iter().map(|param| param.name).collect();
    format!("there is no parameter `{short}`; there are {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: &[&Param] = &[
        &Param { name: "question", kind: Kind::Text, need: Need::Must, about: "What is asked" },
        &Param { name: "kind", kind: Kind::Texts, need: Need::May, about: "Kinds" },
        &Param { name: "by", kind: Kind::Choices(&["user", "tool"]), need: Need::May, about: "Who" },
        &Param { name: "strict", kind: Kind::Flag, need: Need::May, about: "Strictly" },
        &Param {
            name: "offset",
            kind: Kind::Count { min: 0, max: 9, usual: 0 },
            need: Need::May,
            about: "From",
        },
    ];

    fn read(value: &Value) -> Result<Args, String> {
        Args::read(PARAMS, value.as_object().unwrap().clone())
    }

    #[test]
    fn arguments_are_read_as_their_schema_says() {
        let args =
            read(&json!({ "question": "q", "kind": ["a"], "by": ["user"], "strict": true, "offset": 3.0,
                                "session": null }));
        let args = args.unwrap();
        assert_eq!(
            (args.text("question"), args.flag("strict"), args.count("offset", 0)),
            (Some("q"), true, 3)
        );
        assert_eq!((args.texts("kind"), args.texts("by")), (vec!["a".to_owned()], vec!["user".to_owned()]));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = [
            (json!({}), "`question` is missing"),
            (json!({ "question": 3 }), "`question` must be a string"),
            (json!({ "question": " " }), "`question` must not be empty"),
            (json!({ "question": "x".repeat(5_000) }), "at most 4000 characters"),
            (json!({ "question": "q", "kind": "a" }), "`kind` must be an array of strings"),
            (json!({ "question": "q", "kind": [1] }), "`kind` must be an array of strings"),
            (json!({ "question": "q", "kind": vec!["a"; 40] }), "at most 32"),
            (json!({ "question": "q", "by": ["god"] }), "must be one of user, tool"),
            (json!({ "question": "q", "strict": "yes" }), "true or false"),
            (json!({ "question": "q", "offset": -1 }), "from 0 to 9"),
            (json!({ "question": "q", "offset": 1.5 }), "from 0 to 9"),
            (json!({ "question": "q", "offset": "3" }), "from 0 to 9"),
            (json!({ "question": "q", "sesion": "x" }), "no parameter `sesion`"),
        ];
        for (given, said) in wrong {
            let error = read(&given).unwrap_err();
            assert!(error.contains(said), "{given}: {error}");
        }
    }

    #[test]
    fn schemas_hold_no_format_and_nothing_beside_their_parameters() {
        let text = Value::Object(schema(PARAMS)).to_string();
        assert!(!text.contains("format") && text.contains(r#""additionalProperties":false"#), "{text}");
    }
}
