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

proptest! {
    #[test]
    fn ranges_stand_on_boundaries_and_forms_are_stable(text in "[ -~\\né不。０-９\\t]{0,120}") {
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
