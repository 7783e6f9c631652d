use super::*;
use crate::shell::{self, Node, Part};

fn words(line: &str) -> Vec<Arg> {
    let script = shell::parse(line).unwrap();
    let Node::Simple(simple) = &script.0[0].node else { panic!("{line}") };
    simple
        .words
        .iter()
        .map(|word| {
            let text = word.parts.iter().map(|part| match part {
                Part::Bare(text) | Part::Quoted(text) | Part::Unknown(text) | Part::Output(text) => {
                    text.as_str()
                }
                Part::Variable(name) => name.as_str(),
            });
            Arg::literal(text.collect::<String>())
        })
        .collect()
}

#[test]
fn every_rule_matches_its_examples_and_not_its_counter_examples() {
    let commands = Commands::load();
    let mut problems = Vec::new();
    for (at, entry) in commands.entries.iter().enumerate() {
        let rule = match Rule::parse(entry.text, &commands.sets) {
            Ok(rule) => rule,
            Err(error) => {
                problems.push(format!("{error}: {}", entry.text));
                continue;
            }
        };
        let (on, sub) = (rule.on.first().map_or("", String::as_str), rule.sub.first());
        if rule.matches.len() < 2 || rule.not_match.is_empty() {
            problems.push(format!("{on} {sub:?} has too few examples"));
        }
        let found = |line: &String| commands.position(&commands.parse(&words(line))).map(|(at, _)| at);
        for line in rule.matches.iter().filter(|line| found(line) != Some(at)) {
            let other = found(line).map(|other| commands.entries[other].text);
            problems.push(format!("{line:?} should be {on} {sub:?}, is {other:?}"));
        }
        for line in rule.not_match.iter().filter(|line| found(line) == Some(at)) {
            problems.push(format!("{line:?} should not be {on} {sub:?}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// What a parser reads of a table's lists, in any depth.
fn parsed_lists(table: &toml::Table, all: &mut BTreeMap<String, Vec<String>>) {
    for (name, value) in table {
        match value {
            toml::Value::Table(inner) => parsed_lists(inner, all),
            toml::Value::Array(words) => {
                let words = words.iter().map(|word| word.as_str().unwrap().to_owned());
                assert_eq!(all.insert(name.clone(), words.collect()), None, "{name} is there twice");
            }
            other => panic!("{name} = {other}"),
        }
    }
}

#[test]
fn lists_are_found_as_a_parser_reads_them() {
    for text in [include_str!("../tables/sets.toml"), include_str!("../tables/options.toml")] {
        let mut all = BTreeMap::new();
        parsed_lists(&text.parse().unwrap(), &mut all);
        let lists = Lists::scan(text);
        assert_eq!(
            lists.names().collect::<Vec<_>>(),
            all.keys().map(|name| name.trim_matches('"')).collect::<Vec<_>>()
        );
        for (name, words) in &all {
            let own = words.iter().flat_map(|word| match word.strip_prefix('@') {
                Some(other) => lists.words(other),
                None => vec![word.as_str()],
            });
            assert_eq!(lists.words(name), own.collect::<Vec<_>>(), "{name}");
        }
    }
}

#[test]
fn a_verb_is_read_or_change_and_every_set_is_used() {
    let commands = Commands::load();
    let read = commands.sets.words("read-verbs");
    let both: Vec<_> =
        commands.sets.words("change-verbs").into_iter().filter(|verb| read.contains(verb)).collect();
    assert_eq!(both, Vec::<&str>::new());
    let used = |name: &str| {
        let named = format!("\"@{name}\"");
        let spoken = matches!(name, "read-verbs" | "change-verbs");
        spoken
            || include_str!("../tables/sets.toml").contains(&named)
            || commands.entries.iter().any(|entry| entry.text.contains(&named))
    };
    assert_eq!(commands.sets.names().filter(|name| !used(name)).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn values_are_read_glued_bundled_and_apart() {
    let commands = Commands::load();
    let value =
        |line: &str, name: &str| commands.parse(&words(line)).value(&[name]).map(|arg| arg.text.clone());
    assert_eq!(value("curl -XPOST u", "-X").as_deref(), Some("POST"));
    assert_eq!(value("curl --request=POST u", "--request").as_deref(), Some("POST"));
    assert_eq!(value("tar xzf a.tgz -C d", "-f").as_deref(), Some("a.tgz"));
    assert_eq!(value("git -C d commit -am msg", "-m").as_deref(), Some("msg"));
    assert_eq!(value("tar -xf a.tgz -C/etc", "-C").as_deref(), Some("/etc"));
    assert!(commands.parse(&words("rm -- -x")).operand(0) == Some("-x"));
}

/// Every process indexes the tables; it parses the rules of the programs that it meets and no others.
#[test]
fn rules_are_parsed_when_their_program_is_first_asked_for() {
    let start = std::time::Instant::now();
    let commands = Commands::load();
    let indexed = start.elapsed();
    let parsed = || commands.entries.iter().filter(|entry| entry.rule.get().is_some()).count();
    assert_eq!(parsed(), 0);
    let start = std::time::Instant::now();
    assert!(commands.find(&commands.parse(&words("git push origin main"))).is_some());
    println!(
        "{} rules and {} words of lists indexed in {indexed:?}; {} rules of git parsed in {:?}",
        commands.entries.len(),
        commands.members.len(),
        parsed(),
        start.elapsed()
    );
    assert!(parsed() <= commands.rules_of("git").len());
}
