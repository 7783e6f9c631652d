use super::*;
use proptest::prelude::*;

fn atoms(text: &str) -> Vec<(AtomKind, String)> {
    extract(text).into_iter().map(|atom| (atom.kind, atom.norm)).collect()
}

fn of(kind: AtomKind, text: &str) -> Vec<String> {
    atoms(text).into_iter().filter(|(own, _)| *own == kind).map(|(_, norm)| norm).collect()
}

#[test]
fn paths_are_told_from_words_with_slashes() {
    assert_eq!(
        of(AtomKind::Path, "see src/a.rs:12:3, ./b/../c.py and /etc/app/conf.yaml."),
        ["src/a.rs", "c.py", "/etc/app/conf.yaml"]
    );
    assert_eq!(
        of(AtomKind::Path, "and/or 24/7 I/O n/a s/a/b/ application/json he/she"),
        Vec::<String>::new()
    );
    assert_eq!(of(AtomKind::Path, "修改src/main.py文件"), ["src/main.py"]);
    assert_eq!(
        of(AtomKind::Path, "~/.bashrc .gitignore Makefile C:\\a\\b.txt"),
        ["~/.bashrc", ".gitignore", "Makefile", "C:/a/b.txt"]
    );
    assert_eq!(of(AtomKind::Id, "on origin/main-2 and @scope/pkg"), ["origin/main-2", "@scope/pkg"]);
}

#[test]
fn identifiers_keep_their_form() {
    let text = "123e4567-E89B-12d3-a456-426614174000 deadbeef1 v1.2.3 PROJ-12 #45 snake_case camelCase a::b HAT136 os.path.join";
    let expected = [
        "123e4567-e89b-12d3-a456-426614174000",
        "deadbeef1",
        "1.2.3",
        "PROJ-12",
        "#45",
        "snake_case",
        "camelCase",
        "a::b",
        "HAT136",
        "os.path.join",
    ];
    assert_eq!(of(AtomKind::Id, text), expected);
    assert_eq!(of(AtomKind::Id, "an ordinary sentence with Words, e.g. these"), Vec::<String>::new());
    assert_eq!(
        of(AtomKind::Error, "got E0308 and TS2345, ENOENT, ModuleNotFoundError"),
        ["E0308", "TS2345", "ENOENT", "ModuleNotFoundError"]
    );
}

#[test]
fn numbers_and_quantities_have_one_form() {
    assert_eq!(of(AtomKind::Number, "1,234,567 and 3.10 or -5, １２"), ["1234567", "3.10", "-5", "12"]);
    assert_eq!(of(AtomKind::Quantity, "5s, 5 seconds, 5000 ms"), ["5000000000 ns"; 3]);
    assert_eq!(
        of(AtomKind::Quantity, "1.5 KB 1 KiB 12% $40 3 tests"),
        ["12000 bit", "8192 bit", "12 %", "40 usd", "3 test"]
    );
    assert_eq!(
        of(AtomKind::Time, "2026-11-29 23:56:19, 2026-11-29T10:00:00Z, 02:00 PM, 14:00"),
        ["2026-11-29T23:56:19", "2026-11-29T10:00:00Z", "14:00", "14:00"]
    );
    assert_eq!(of(AtomKind::Number, "at line 12-15"), ["12", "15"]);
}

#[test]
fn urls_flags_variables_and_quotes() {
    assert_eq!(of(AtomKind::Url, "(see HTTPS://Example.com:443/a?b=c)."), ["https://example.com/a?b=c"]);
    assert_eq!(
        of(AtomKind::Flag, "run -x --no-verify --depth=3 well-known"),
        ["-x", "--no-verify", "--depth"]
    );
    assert_eq!(of(AtomKind::Env, "$HOME/x FOO_BAR=1 ${NAME}"), ["HOME", "FOO_BAR"]);
    assert_eq!(of(AtomKind::Quote, "he said \"stop  now\" and 'go' but don't"), ["stop now", "go"]);
    assert_eq!(of(AtomKind::Code, "use `let x` or\n```\ncode\n```\n"), ["let x", "``` code ```"]);
    assert_eq!(of(AtomKind::Error, "ok\nerror: no such file\nfine"), ["error: no such file"]);
}

#[test]
fn negation_and_modality_reach_their_clause() {
    let find = |text: &str, norm: &str| {
        let atom = extract(text).into_iter().find(|atom| atom.norm == norm).unwrap();
        (atom.polarity, atom.modality)
    };
    assert_eq!(find("I did not touch a.rs", "a.rs"), (Polarity::Negative, Modality::Asserted));
    assert_eq!(find("I did not touch it but changed a.rs", "a.rs").0, Polarity::Positive);
    assert_eq!(find("It is not without a.rs", "a.rs").0, Polarity::Double);
    assert_eq!(find("not only a.rs", "a.rs").0, Polarity::Positive);
    assert_eq!(find("No. Change a.rs", "a.rs").0, Polarity::Positive);
    assert_eq!(find("I'll change a.rs", "a.rs").1, Modality::Planned);
    assert_eq!(find("If a.rs is there", "a.rs").1, Modality::Hypothetical);
    assert_eq!(find("never touch a.rs", "a.rs"), (Polarity::Negative, Modality::Required));
    assert_eq!(find("不要修改 a.rs", "a.rs").0, Polarity::Negative);
    assert_eq!(find("a.rs は変更しないで", "a.rs").0, Polarity::Negative);
}

#[test]
fn words_are_said_as_atoms_in_their_place_would_be() {
    let text = "I did not run it, but somebody should restart the proxy";
    let places = ["run", "restart"].map(|word| {
        let at = text.find(word).unwrap();
        at..at + word.len()
    });
    let expected = [(Polarity::Negative, Modality::Asserted), (Polarity::Positive, Modality::Required)];
    assert_eq!(stances(text, &places), expected);
    assert_eq!(stances("", &[]), []);
}

/// Sentences with the literals that a negation reaches, and those that none does.
#[rustfmt::skip]
const NEGATED: &[(&str, &[&str], &[&str])] = &[
    ("I did not run migration 0042", &["0042"], &[]),
    ("I ran migration 0042", &[], &["0042"]),
    ("Migration 0042 was not run", &["0042"], &[]),
    ("Migration 0042 wasn't run, 0043 was", &["0042"], &[]),
    ("a.rs and b.rs were not changed", &["a.rs", "b.rs"], &[]),
    ("I edited a.rs and b.rs was not touched", &["b.rs"], &["a.rs"]),
    ("I changed a.rs and did not change b.rs", &["b.rs"], &["a.rs"]),
    ("a.rs was not changed and b.rs was not changed", &["a.rs", "b.rs"], &[]),
    ("I did not run 0042 and pushed v1.2", &["0042"], &["1.2"]),
    ("I did not change a.rs, I only read b.rs", &["a.rs"], &["b.rs"]),
    ("I removed a.rs which is not needed", &[], &["a.rs"]),
    ("After editing a.rs, I did not run 0042", &["0042"], &["a.rs"]),
    ("I did not touch it but changed a.rs", &[], &["a.rs"]),
    ("0042: not applied", &["0042"], &[]),
    ("Neither a.rs nor b.rs was changed", &["a.rs", "b.rs"], &[]),
    ("not only a.rs", &[], &["a.rs"]),
    ("I never touched a.rs", &["a.rs"], &[]),
    ("It works without a.rs", &["a.rs"], &[]),
    ("No. Change a.rs", &[], &["a.rs"]),
    ("a.rs no longer exists", &["a.rs"], &[]),
    ("不要修改 a.rs", &["a.rs"], &[]),
    ("a.rs 没有修改", &["a.rs"], &[]),
    ("a.rs 没有修改，b.rs 改了", &["a.rs"], &["b.rs"]),
    ("不仅修改了 a.rs", &[], &["a.rs"]),
    ("不过修改了 a.rs", &[], &["a.rs"]),
    ("尚未运行 0042", &["0042"], &[]),
    ("a.rs は変更しないで", &["a.rs"], &[]),
    ("a.rs は変更していません", &["a.rs"], &[]),
    ("a.rs を変更しなければならない", &[], &["a.rs"]),
    ("a.rs を変更せずに終わった", &["a.rs"], &[]),
    ("a.rs 를 수정하지 않았다", &["a.rs"], &[]),
    ("a.rs 를 수정하지 마세요", &["a.rs"], &[]),
    ("a.rs 를 수정했다", &[], &["a.rs"]),
    ("Ich habe a.rs nicht geändert", &["a.rs"], &[]),
    ("Ich habe keine Tests in a.rs", &["a.rs"], &[]),
    ("nicht nur a.rs", &[], &["a.rs"]),
    ("weder a.rs noch b.rs", &["a.rs", "b.rs"], &[]),
    ("Je n'ai pas modifié a.rs", &["a.rs"], &[]),
    ("Je n'ai jamais modifié a.rs", &["a.rs"], &[]),
    ("non seulement a.rs", &[], &["a.rs"]),
    ("sans a.rs", &["a.rs"], &[]),
    ("No he modificado ningún test de a.rs", &["a.rs"], &[]),
    ("nunca ejecuté 0042", &["0042"], &[]),
    ("Non ho mai modificato a.rs", &["a.rs"], &[]),
    ("senza a.rs", &["a.rs"], &[]),
    ("Não modifiquei a.rs", &["a.rs"], &[]),
    ("Я не менял a.rs", &["a.rs"], &[]),
    ("Я никогда не менял a.rs", &["a.rs"], &[]),
    ("не только a.rs", &[], &["a.rs"]),
    ("Nie zmieniłem a.rs", &["a.rs"], &[]),
    ("nie tylko a.rs", &[], &["a.rs"]),
    ("bez a.rs", &["a.rs"], &[]),
];

#[test]
fn negations_of_many_languages_reach_their_clause() {
    let mut wrong = Vec::new();
    for (text, negated, plain) in NEGATED {
        let wanted = negated.iter().map(|norm| (norm, Polarity::Negative));
        for (norm, polarity) in wanted.chain(plain.iter().map(|norm| (norm, Polarity::Positive))) {
            let found = extract(text).into_iter().find(|atom| atom.norm == **norm).map(|atom| atom.polarity);
            if found != Some(polarity) {
                wrong.push(format!("{text}: {norm} is {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn claims_and_questions_keep_how_they_are_said() {
    let claim = |text: &str| {
        let atom = extract(text).into_iter().find(|atom| atom.kind == AtomKind::Claim).unwrap();
        (atom.polarity, atom.modality)
    };
    assert_eq!(claim("The tests passed"), (Polarity::Positive, Modality::Asserted));
    assert_eq!(claim("It was not deployed"), (Polarity::Negative, Modality::Asserted));
    assert_eq!(claim("It will be deployed"), (Polarity::Positive, Modality::Planned));
    assert_eq!(claim("Was it deployed?"), (Polarity::Positive, Modality::Hypothetical));
}

#[test]
fn line_references_have_one_form() {
    for text in [
        "src/a.rs:339:12",
        "src/a.rs#339:12",
        "src/a.rs(339, 12)",
        "src/a.rs[339,12]",
        "src/a.rs: (339, 12)",
        "\"src/a.rs\", line 339, col 12",
        "src/a.rs on line 339, column 12",
        "src/a.rs:line 339, col 12",
        "'src/a.rs',339:12",
        "src/a.rs 339:12",
    ] {
        assert_eq!(of(AtomKind::LineRef, text), ["src/a.rs:339:12"], "{text}");
        assert_eq!(of(AtomKind::Path, text), ["src/a.rs"], "{text}");
    }
    assert_eq!(of(AtomKind::LineRef, "./b/../a.rs:5-9 and src/a.rs 339"), ["a.rs:5-9"]);
}

#[test]
fn equal_values_are_equal_and_others_are_not() {
    let same = |kind, texts: &[&str]| {
        let norms: Vec<Vec<String>> = texts.iter().map(|text| of(kind, text)).collect();
        assert!(
            norms[0].len() == 1 && norms.windows(2).all(|pair| pair[0] == pair[1]),
            "{texts:?}: {norms:?}"
        );
    };
    same(
        AtomKind::Quantity,
        &["5s", "5 seconds", "5000 ms", "five seconds", "5-second", "5秒", "0.005 thousand seconds"],
    );
    same(AtomKind::Quantity, &["1 KiB", "1,024 bytes", "1024 B"]);
    same(AtomKind::Quantity, &["~5 s", "~5 seconds"]);
    same(AtomKind::Quantity, &["5-10 seconds", "5000-10000 ms"]);
    same(AtomKind::Quantity, &["$75 million", "$75,000,000"]);
    same(AtomKind::Quantity, &["3 tests", "three tests", "3 test"]);
    same(AtomKind::Number, &["1,000", "1_000", "1000", "1\u{a0}000", "１０００", "1e3", "1千"]);
    same(
        AtomKind::Time,
        &["4 Jan 2019", "January 4th, 2019", "04th Jan 2019", "Jan. 4, 2019", "2019-01-04", "2019年1月4日"],
    );
    same(AtomKind::Time, &["2 pm", "2pm", "2:00 PM", "14:00"]);
    for (kind, one, two) in [
        (AtomKind::Quantity, "1 KiB", "1 KB"),
        (AtomKind::Quantity, "5 s", "~5 s"),
        (AtomKind::Quantity, "5%", "0.05 s"),
        (AtomKind::Number, "3.10", "3.1"),
        (AtomKind::Number, "-5", "5"),
    ] {
        assert_ne!(of(kind, one), of(kind, two));
    }
    assert_eq!(of(AtomKind::Id, "fe80::1 00:1A:2b:3c:4d:5e arn:aws:iam::123456789012:role/x").len(), 3);
}

proptest! {
    #[test]
    fn spellings_of_a_number_are_equal(value in 0u32..u32::MAX) {
        let plain = value.to_string();
        let wide: String = plain.chars().map(|char| char::from_u32(u32::from(char) + 0xFEE0).unwrap()).collect();
        let mut grouped = String::new();
        for (at, char) in plain.chars().enumerate() {
            if at > 0 && (plain.len() - at) % 3 == 0 {
                grouped.push(',');
            }
            grouped.push(char);
        }
        for spelled in [&wide, &grouped, &grouped.replace(',', "\u{a0}"), &grouped.replace(',', "_")] {
            prop_assert_eq!(of(AtomKind::Number, spelled), [plain.clone()], "{}", spelled);
        }
    }

    #[test]
    fn spellings_of_a_duration_are_equal(value in 1u32..100_000) {
        let norms = [format!("{value}s"), format!("{value} seconds"), format!("{value}000 ms"), format!("{value}秒")]
            .map(|text| of(AtomKind::Quantity, &text));
        prop_assert!(norms.windows(2).all(|pair| pair[0] == pair[1]), "{norms:?}");
    }

    #[test]
    fn a_negation_changes_the_polarity_and_nothing_else(number in 1u32..9_999, verb in "(run|apply|push)") {
        let said = extract(&format!("I did {verb} migration {number:04}"));
        let denied = extract(&format!("I did not {verb} migration {number:04}"));
        let norm = format!("{number:04}");
        let find = |atoms: &[Atom]| atoms.iter().find(|atom| atom.norm == norm).map(|atom| atom.polarity);
        prop_assert_eq!(find(&said), Some(Polarity::Positive));
        prop_assert_eq!(find(&denied), Some(Polarity::Negative));
    }

    #[test]
    fn ranges_stand_on_boundaries_and_forms_are_stable(text in "([ -~\\né不。０-９\\t]|[0-9]{1,4}|million|five| jan | line |seconds|年|千){0,60}") {
        for atom in extract(&text) {
            prop_assert!(text.get(atom.range.clone()).is_some());
            prop_assert_eq!(normal_form(atom.kind, &atom.norm), atom.norm.clone(), "{:?} of {:?}", atom, text);
        }
    }

    #[test]
    fn any_text_is_read(text in "\\PC{0,200}") {
        extract(&text);
    }
}
