//! Reads a query from its tokens.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::lexer::{Token, tokens};
use super::nearest::did_you_mean;
use super::place::Place;
use super::words::{USAGE_KEYS, fields_of, values_of};
use super::{Atom, Clause, Field, Form, Noun, Ordering, Pick, Query, QueryError, Relation, Term, Value};
use crate::unions;

type Tokens<'q> = Peekable<IntoIter<Token<'q>>>;

/// Reads `query`.
///
/// # Errors
/// What was not understood, where, and the nearest valid form.
pub fn parse(query: &str) -> Result<Query, QueryError> {
    let end = query.len();
    let mut tokens = tokens(query)?.into_iter().peekable();
    let form = tokens.peek().and_then(Token::bare).and_then(Form::from_word);
    if form.is_some() {
        tokens.next();
    }
    let clause = read_clause(&mut tokens, end, NounPlace::First { form })?;
    let order = read_order(&mut tokens, end)?;
    let form = match (&order, form) {
        (None, None) => Some(clause.noun.default_form()),
        (_, form) => form,
    };
    let query = Query { form, clause, order };
    check_form(&query)?;
    Ok(query)
}

fn check_form(query: &Query) -> Result<(), QueryError> {
    let keyed = matches!(query.clause.noun, Noun::Values | Noun::Usage);
    if query.form == Some(Form::Value) && !keyed {
        let noun = query.clause.noun.word();
        let hint = format!("write \"list {noun}\", or \"value values KEY\"");
        return Err(QueryError::new(format!("\"value\" cannot be asked of \"{noun}\""), 0).hint(Some(hint)));
    }
    Ok(())
}

/// Where a noun is expected, for the words of the error.
#[derive(Clone, Copy)]
enum NounPlace {
    First { form: Option<Form> },
    Second,
}

fn read_clause(tokens: &mut Tokens<'_>, end: usize, place: NounPlace) -> Result<Clause, QueryError> {
    let noun = read_noun(tokens, end, place)?;
    let name = read_name(tokens, noun, end)?;
    let mut terms = Vec::new();
    while let Some(token) = tokens.peek() {
        if order_word(token).is_some() {
            break;
        }
        let Some(token) = tokens.next() else { break };
        terms.push(read_term(noun, token)?);
    }
    Ok(Clause { noun, name, terms })
}

fn read_noun(tokens: &mut Tokens<'_>, end: usize, place: NounPlace) -> Result<Noun, QueryError> {
    let nouns = || Noun::ALL.iter().map(|noun| noun.word());
    let Some(token) = tokens.next() else {
        let list: Vec<&str> = nouns().collect();
        let message = match place {
            NounPlace::First { form: Some(form) } => format!("a noun is missing after \"{}\"", form.word()),
            NounPlace::First { form: None } => "the query is empty".to_owned(),
            NounPlace::Second => "a noun is missing after the order".to_owned(),
        };
        return Err(QueryError::new(message, end).hint(Some(format!("expected one of {}", list.join(", ")))));
    };
    if let Some(noun) = token.bare().and_then(Noun::from_word) {
        return Ok(noun);
    }
    let word = token.bare().map_or_else(|| written(&token), str::to_owned);
    let forms = Form::ALL.iter().map(|form| form.word());
    let first = matches!(place, NounPlace::First { form: None });
    let near = did_you_mean(&word, nouns().chain(forms.filter(|_| first)));
    let hint = near
        .unwrap_or_else(|| format!("a query begins with a noun: {}", nouns().collect::<Vec<_>>().join(", ")));
    Err(QueryError::new(format!("unknown noun \"{word}\""), token.at).hint(Some(hint)))
}

/// The token as it would be printed.
fn written(token: &Token<'_>) -> String {
    let atoms: Vec<String> = token.atoms.iter().map(ToString::to_string).collect();
    let field = token.field.map(|field| format!("{field}:")).unwrap_or_default();
    format!("{field}{}", atoms.join("|"))
}

fn read_name(tokens: &mut Tokens<'_>, noun: Noun, end: usize) -> Result<Option<Value>, QueryError> {
    match noun {
        Noun::Changes => read_union(tokens, end).map(Some),
        Noun::Values => Ok(take_bare_value(tokens)),
        Noun::Usage => read_usage(tokens).map(Some),
        _ => Ok(None),
    }
}

fn read_union(tokens: &mut Tokens<'_>, end: usize) -> Result<Value, QueryError> {
    let names: Vec<&str> = unions::names().collect();
    let expected = || Some(format!("expected one of {}", names.join(", ")));
    let at = tokens.peek().map_or(end, |token| token.at);
    let Some(word) = tokens.next_if(|token| token.bare().is_some()) else {
        return Err(QueryError::new("a name is missing after \"changes\"", at).hint(expected()));
    };
    let word = word.bare().unwrap_or_default();
    if names.contains(&word) {
        return Ok(Value::word(word));
    }
    let hint = did_you_mean(word, names.iter().copied()).or_else(expected);
    Err(QueryError::new(format!("unknown name \"{word}\" after \"changes\""), at).hint(hint))
}

fn read_usage(tokens: &mut Tokens<'_>) -> Result<Value, QueryError> {
    let Some(token) = tokens.next_if(|token| token.bare().is_some() && order_word(token).is_none()) else {
        return Ok(Value::word("context"));
    };
    let word = token.bare().unwrap_or_default();
    if USAGE_KEYS.contains(&word) {
        return Ok(Value::word(word));
    }
    let hint = did_you_mean(word, USAGE_KEYS.iter().copied())
        .unwrap_or_else(|| format!("expected one of {}", USAGE_KEYS.join(", ")));
    Err(QueryError::new(format!("unknown key \"{word}\" after \"usage\""), token.at).hint(Some(hint)))
}

fn take_bare_value(tokens: &mut Tokens<'_>) -> Option<Value> {
    let token = tokens.next_if(|token| {
        token.field.is_none() && token.sign == super::Sign::Holds && order_word(token).is_none()
    })?;
    Value::new(token.atoms)
}

fn order_word(token: &Token<'_>) -> Option<Relation> {
    [Relation::Before, Relation::After].into_iter().find(|relation| token.bare() == Some(relation.word()))
}

fn read_order(tokens: &mut Tokens<'_>, end: usize) -> Result<Option<Ordering>, QueryError> {
    let Some(relation) = tokens.next().as_ref().and_then(order_word) else { return Ok(None) };
    let picked = |token: &Token<'_>| {
        [Pick::First, Pick::Last].into_iter().find(|pick| token.bare() == Some(pick.word()))
    };
    let pick = tokens.peek().and_then(picked);
    if pick.is_some() {
        tokens.next();
    }
    let clause = read_clause(tokens, end, NounPlace::Second)?;
    if let Some(extra) = tokens.next() {
        return Err(QueryError::new("a query has one \"before\" or \"after\"", extra.at)
            .hint(Some("quote the word to search for it".to_owned())));
    }
    Ok(Some(Ordering { relation, pick, clause }))
}

fn read_term(noun: Noun, token: Token<'_>) -> Result<Term, QueryError> {
    let at = token.at;
    let (field, part) = match token.field {
        None => (None, None),
        Some(name) => {
            let (field, part) = read_field(noun, name, &token)?;
            (Some(field), part)
        }
    };
    if let Some(field) = field {
        token.atoms.iter().try_for_each(|atom| check_value(noun, field, atom, at))?;
    }
    token.atoms.iter().try_for_each(|atom| check_regex(atom, at))?;
    let value = Value::new(token.atoms).ok_or_else(|| QueryError::new("a value is missing", at))?;
    Ok(Term { sign: token.sign, field, part, value })
}

fn read_field(noun: Noun, name: &str, token: &Token<'_>) -> Result<(Field, Option<String>), QueryError> {
    let (word, part) = match name.split_once('.') {
        Some((word, part)) => (word, Some(part.to_owned())),
        None => (name, None),
    };
    let own = fields_of(noun);
    let known = Field::from_word(word);
    if let Some(field) = known.filter(|field| own.contains(field)) {
        return Ok((field, part));
    }
    let term = written(token);
    let near = did_you_mean(word, own.iter().map(|field| field.word()));
    let (message, hint) = match known {
        Some(_) => (
            format!("field \"{word}\" does not apply to \"{}\" in \"{term}\"", noun.word()),
            near.unwrap_or_else(|| format!("\"{word}:\" can be asked of {}", nouns_with(word))),
        ),
        None => (
            format!("unknown field \"{word}\" in \"{} {term}\"", noun.word()),
            near.unwrap_or_else(|| format!("quote it to search for the text: \"\\\"{term}\\\"\"")),
        ),
    };
    Err(QueryError::new(message, token.at).hint(Some(hint)))
}

fn nouns_with(field: &str) -> String {
    let takes = |noun: &&Noun| fields_of(**noun).iter().any(|own| own.word() == field);
    Noun::ALL.iter().filter(takes).map(|noun| noun.word()).collect::<Vec<_>>().join(", ")
}

fn check_regex(atom: &Atom, at: usize) -> Result<(), QueryError> {
    let Atom::Regex(text) = atom else { return Ok(()) };
    regex::RegexBuilder::new(text).size_limit(REGEX_BYTES_MAX).build().map(drop).map_err(|error| {
        let reason = error.to_string();
        let reason =
            reason.lines().last().unwrap_or_default().trim().trim_start_matches("error: ").to_owned();
        QueryError::new(format!("the expression /{text}/ cannot be read: {reason}"), at)
    })
}

/// The largest compiled regular expression that is accepted.
const REGEX_BYTES_MAX: usize = 1 << 20;

fn check_value(noun: Noun, field: Field, atom: &Atom, at: usize) -> Result<(), QueryError> {
    match field {
        Field::Limit => check_limit(atom, at),
        Field::Lines | Field::Chars => check_range(field, atom, at),
        Field::At | Field::From | Field::To => Place::read(field, atom, at).map(drop),
        _ => check_word(noun, field, atom, at),
    }
}

fn check_limit(atom: &Atom, at: usize) -> Result<(), QueryError> {
    match atom {
        Atom::Word(text) if text.parse::<u32>().is_ok_and(|n| n > 0) => Ok(()),
        _ => Err(QueryError::new(format!("\"limit:{atom}\" is no number from 1"), at)
            .hint(Some("write \"limit:10\"".to_owned()))),
    }
}

fn check_range(field: Field, atom: &Atom, at: usize) -> Result<(), QueryError> {
    let number = |end: &Option<String>| end.as_ref().is_none_or(|text| text.parse::<i64>().is_ok());
    match atom {
        Atom::Range(from, to) if number(from) && number(to) => Ok(()),
        Atom::Word(text) if text.parse::<i64>().is_ok() => Ok(()),
        _ => {
            let word = field.word();
            Err(QueryError::new(format!("\"{word}:{atom}\" is no range"), at)
                .hint(Some(format!("write \"{word}:1..10\" or \"{word}:-8..\""))))
        }
    }
}

fn check_word(noun: Noun, field: Field, atom: &Atom, at: usize) -> Result<(), QueryError> {
    let Atom::Word(word) = atom else { return Ok(()) };
    let Some(words) = values_of(noun, field) else { return Ok(()) };
    if words.contains(&word.as_str()) {
        return Ok(());
    }
    let name = field.word();
    let hint = did_you_mean(word, words.iter().copied())
        .unwrap_or_else(|| format!("\"{name}:\" takes {}", words.join(", ")));
    Err(QueryError::new(format!("unknown value \"{word}\" in \"{name}:{word}\""), at).hint(Some(hint)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::query::Sign;

    fn reading(query: &str) -> String {
        parse(query).unwrap_or_else(|error| panic!("{query}: {error}")).to_string()
    }

    #[test]
    fn readings_say_the_form_and_keep_the_rest() {
        for (query, expected) in [
            ("changes system-config", "ever changes system-config"),
            (
                "  said   by:user  approve*|\"go ahead\" near:push",
                "list said by:user approve*|\"go ahead\" near:push",
            ),
            ("usage at:end", "list usage context at:end"),
            ("value usage output", "value usage output"),
            ("values unit:size", "list values unit:size"),
            ("calls tool:Bash -agent:*", "ever calls tool:Bash -agent:*"),
            ("calls --no-verify", "ever calls --no-verify"),
            ("calls cmd:rm arg:-rf", "ever calls cmd:rm arg:-rf"),
            ("files path:/etc/nginx/", "ever files path:/etc/nginx/"),
            ("results /p\\d+ \\| x/|y", "list results /p\\d+ \\| x/|y"),
            ("results chars:-8..", "list results chars:-8.."),
            ("results ../x main..dev", "list results ../x main..dev"),
            ("said 12:30 https://a.b/c a::b", "list said 12:30 https://a.b/c a::b"),
            ("calls arg.file_path:a.toml", "ever calls arg.file_path:a.toml"),
            ("changes backups before changes deleted table", "changes backups before changes deleted table"),
            (
                "last results arg:a.toml before last calls tool:edit",
                "last results arg:a.toml before last calls tool:edit",
            ),
            ("said \"before\" \"a \\\"b\\\" \\n\"", "list said \"before\" \"a \\\"b\\\" \\n\""),
        ] {
            assert_eq!(reading(query), expected);
            assert_eq!(reading(expected), expected);
        }
    }

    #[test]
    fn errors_name_the_thing_the_place_and_the_nearest_form() {
        for (query, at, message) in [
            (
                "effects scop:system",
                8,
                r#"unknown field "scop" in "effects scop:system"; did you mean "scope"?"#,
            ),
            ("efects", 0, r#"unknown noun "efects"; did you mean "effects"?"#),
            ("count", 5, r#"a noun is missing after "count""#),
            ("changes sistem-config", 8, r#"did you mean "system-config"?"#),
            ("changes", 7, r#"a name is missing after "changes"; expected one of system-config"#),
            ("effects scope:systm", 8, r#"unknown value "systm" in "scope:systm"; did you mean "system"?"#),
            ("effects kind:vcs.remot", 8, r#"did you mean "vcs.remote"?"#),
            ("said tool:Bash", 5, r#"field "tool" does not apply to "said""#),
            ("said \"open", 5, "the closing quote is missing"),
            ("said a|", 7, r#"a value is missing after "|""#),
            ("calls tool:", 11, r#"a value is missing after "tool:""#),
            ("said /(/", 5, "the expression /(/ cannot be read"),
            ("said from:soon", 5, r#""from:soon" is no place; write a record "from:L12""#),
            ("said limit:0", 5, "is no number from 1"),
            ("said lines:x", 5, "is no range"),
            ("value said x", 0, r#""value" cannot be asked of "said""#),
            ("said a before said b after said c", 21, r#"a query has one "before" or "after""#),
            ("", 0, "the query is empty"),
            ("calls host:8080", 6, r#"unknown field "host""#),
        ] {
            let error = parse(query).unwrap_err();
            assert!(error.to_string().contains(message), "{query}: {error}");
            assert_eq!(error.at(), at, "{query}: {error}");
        }
    }

    #[test]
    fn every_noun_and_field_is_read() {
        for noun in Noun::ALL {
            let name = match noun {
                Noun::Changes => " deleted",
                Noun::Usage => " total",
                _ => "",
            };
            assert_eq!(parse(&format!("list {}{name} x", noun.word())).unwrap().clause.noun, *noun);
            for field in fields_of(*noun) {
                let value =
                    values_of(*noun, field).and_then(|words| words.first().copied()).unwrap_or(match field {
                        Field::Limit | Field::At | Field::From | Field::To => "3",
                        Field::Lines | Field::Chars => "1..2",
                        _ => "x",
                    });
                let query = format!("list {}{name} -{}:{value}", noun.word(), field.word());
                let term = parse(&query).unwrap_or_else(|error| panic!("{query}: {error}")).clause.terms;
                assert_eq!((term[0].field, term[0].sign), (Some(field), Sign::Negated));
            }
        }
    }

    fn atom() -> impl Strategy<Value = Atom> {
        prop_oneof![
            "[a-z]{1,6}[/_.-]?[A-Z0-9é迁]{0,4}"
                .prop_filter("order words", |text| text != "before" && text != "after")
                .prop_map(Atom::Word),
            "--[a-z]{1,5}".prop_map(Atom::Word),
            "[ -~é\n\t]{1,12}".prop_map(Atom::Quoted),
            "[a-z]{0,3}[*?][a-z]{0,3}".prop_map(Atom::Glob),
            r"[a-z ]{0,3}(\\d|[a-z]\+|\(a\|b\))".prop_map(Atom::Regex),
            ("[0-9]{1,3}", proptest::option::of("-?[0-9]{1,3}"))
                .prop_map(|(from, to)| Atom::Range(Some(from), to)),
        ]
    }

    fn term() -> impl Strategy<Value = Term> {
        let field = prop_oneof![
            Just((None, None)),
            Just((Some(Field::Tool), None)),
            Just((Some(Field::Target), None)),
            Just((Some(Field::Near), None)),
            Just((Some(Field::Arg), Some("file_path".to_owned()))),
        ];
        let flag = |atom: &Atom| matches!(atom, Atom::Word(text) if text.starts_with('-'));
        (any::<bool>(), field, proptest::collection::vec(atom(), 1..4)).prop_filter_map(
            "sign",
            move |(negated, (field, part), atoms)| {
                if negated && field.is_none() && flag(&atoms[0]) {
                    return None;
                }
                let sign = if negated { Sign::Negated } else { Sign::Holds };
                Some(Term { sign, field, part, value: Value::new(atoms)? })
            },
        )
    }

    fn clause() -> impl Strategy<Value = Clause> {
        let noun = prop_oneof![
            Just(Noun::Calls),
            Just(Noun::Results),
            Just(Noun::Effects),
            Just(Noun::Changes),
            Just(Noun::Errors)
        ];
        (noun, proptest::collection::vec(term(), 0..4)).prop_map(|(noun, terms)| {
            let name = (noun == Noun::Changes).then(|| Value::word("remote"));
            Clause { noun, name, terms }
        })
    }

    fn query() -> impl Strategy<Value = Query> {
        let form = proptest::option::of(prop_oneof![
            Just(Form::Ever),
            Just(Form::Count),
            Just(Form::First),
            Just(Form::Now)
        ]);
        let pick = proptest::option::of(prop_oneof![Just(Pick::First), Just(Pick::Last)]);
        let relation = prop_oneof![Just(Relation::Before), Just(Relation::After)];
        let order =
            proptest::option::of((relation, pick, clause()).prop_map(|(relation, pick, clause)| Ordering {
                relation,
                pick,
                clause,
            }));
        (form, clause(), order).prop_map(|(form, clause, order)| {
            let form = if order.is_none() { form.or(Some(clause.noun.default_form())) } else { form };
            Query { form, clause, order }
        })
    }

    proptest! {
        #[test]
        fn the_reading_of_a_query_parses_to_it(query in query()) {
            let text = query.to_string();
            prop_assert_eq!(parse(&text).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?, query);
        }

        #[test]
        fn any_text_is_a_query_with_a_stable_reading_or_an_error_inside_it(text in "(list |count )?(calls|said|changes remote|values)? ?[ -~é迁\"|/:.-]{0,30}") {
            match parse(&text) {
                Ok(query) => {
                    let text = query.to_string();
                    prop_assert_eq!(parse(&text).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?, query);
                }
                Err(error) => prop_assert!(error.at() <= text.len()),
            }
        }
    }
}
