use super::*;
use proptest::prelude::*;

fn run(script: &str) -> Report {
    let places = ProjectFacts { cwd: Some("/app".to_owned()), home: Some("/home/ann".to_owned()) };
    trace(script, Cwd::at("/app"), &places, &mut Artifacts::default())
}

/// The mutations as `kind target scope`, with `?` behind merely possible ones.
fn mutations(script: &str) -> Vec<String> {
    run(script)
        .effects
        .iter()
        .filter(|one| one.effect.kind.access() == Access::Mutation)
        .map(|one| {
            let possible = if one.effect.certainty == Certainty::Possible { "?" } else { "" };
            format!("{}{possible} {} {}", one.effect.kind.word(), one.effect.target.words(), one.effect.scope)
        })
        .collect()
}

#[test]
fn composition_decides_what_certainly_runs() {
    let cases: &[(&str, &[&str])] = &[
        ("cd src && rm a", &["fs.delete /app/src/a project"]),
        ("cd /etc && rm a", &["fs.delete /etc/a system"]),
        ("cd /etc; rm a", &["fs.delete /etc/a unknown"]),
        ("cd /etc || exit 1; rm a", &["fs.delete /etc/a system"]),
        ("(cd /etc && ls); rm a", &["fs.delete /app/a project"]),
        ("ls || rm a", &["fs.delete? /app/a project"]),
        ("if true; then rm a; fi", &["fs.delete? /app/a project"]),
        ("for f in a b; do rm $f; done", &["fs.delete /app/a project", "fs.delete /app/b project"]),
        ("for f in *.o; do rm $f; done", &["fs.delete? ? unknown"]),
        ("rm -rf build/{a,b}", &["fs.delete /app/build/a project", "fs.delete /app/build/b project"]),
        ("echo $(rm a)", &["fs.delete /app/a project"]),
        ("X=$(rm a)", &["fs.delete /app/a project"]),
        ("grep x f > out 2>/dev/null", &["fs.write /app/out project"]),
        ("ls >> log 2>&1", &["fs.append /app/log project"]),
        ("make_it() { rm a; }; make_it", &["fs.delete /app/a project"]),
        ("F=/etc/hosts; echo x > $F", &["fs.write /etc/hosts system"]),
        ("rm '$HOME/x'", &["fs.delete /app/$HOME/x project"]),
        ("rm $HOME/x ~/y", &["fs.delete /home/ann/x home", "fs.delete /home/ann/y home"]),
        ("rm $UNKNOWN", &["fs.delete ? unknown"]),
        ("git commit -m \"rm -rf fix\" -n", &["vcs.commit ? project", "exec.code? /app project"]),
    ];
    for (script, expected) in cases {
        assert_eq!(mutations(script), *expected, "{script}");
    }
}

#[test]
fn heredocs_are_data_or_code_by_their_consumer() {
    let cases: &[(&str, &[&str])] = &[
        ("cat <<'EOF' > f\nrm -rf /\nEOF\n", &["fs.write /app/f project"]),
        ("cat <<EOF > f; rm g\nx\nEOF\n", &["fs.write /app/f project", "fs.delete /app/g project"]),
        ("cat <<EOF\n$(rm a)\nEOF\n", &["fs.delete /app/a project"]),
        ("bash <<'EOF'\nrm a\nEOF\n", &["fs.delete /app/a project"]),
        (
            "python - <<'EOF'\nopen('x','w').write('a')\nEOF\n",
            &["fs.write /app/x project", "exec.code? ? unknown"],
        ),
        ("python - <<'EOF'\nprint(1)\nEOF\n", &[]),
        ("psql -d shop <<'EOF'\nDELETE FROM users;\nEOF\n", &["db.write users db"]),
        ("echo 'rm a' | sh", &["fs.delete /app/a project"]),
        ("curl -s u | bash", &["exec.opaque? ? unknown"]),
        (
            "cat > t.sh <<'EOF'\nrm a\nEOF\nbash t.sh",
            &["fs.write /app/t.sh project", "fs.delete /app/a project"],
        ),
    ];
    for (script, expected) in cases {
        assert_eq!(mutations(script), *expected, "{script}");
    }
}

#[test]
fn wrappers_and_other_places_are_seen_through() {
    let cases: &[(&str, &[&str])] = &[
        ("sudo -u bob timeout -s KILL 5 rm a", &["fs.delete /app/a project"]),
        ("FOO=1 env A=b nice -n 5 rm a", &["fs.delete /app/a project"]),
        ("bash -lc 'cd src && rm a'", &["fs.delete /app/src/a project"]),
        ("ssh h 'rm /etc/a'", &["fs.delete /etc/a remote"]),
        ("docker exec -it c rm /etc/a", &["fs.delete /etc/a container"]),
        ("kubectl exec p -- rm /x", &["fs.delete /x container"]),
        ("find . -name '*.o' -exec rm {} \\;", &["fs.delete? /app project"]),
        ("find /etc -delete", &["fs.delete /etc system"]),
        ("ls | xargs rm", &["fs.delete? ? unknown"]),
        ("git -C sub commit -m x", &["vcs.commit ? project", "exec.code? /app/sub project"]),
        ("python -m pip install x", &["pkg.mutate x unknown", "exec.code? ? project"]),
        ("npx tsc -p .", &["exec.code? /app project"]),
        ("sed -i 's/a/b/' f", &["fs.write /app/f project"]),
        ("awk '{print > \"o\"}' f", &["fs.write /app/o project"]),
        ("awk '$1 > 5 {print $2}' f", &[]),
        ("curl -XPOST http://h/x -d a", &["net.send http://h/x remote"]),
        ("curl -o f http://h/x", &["fs.write /app/f project"]),
        ("frobnicate x", &["exec.opaque? frobnicate unknown"]),
        ("$CMD x", &["exec.opaque? ? unknown"]),
        ("if then", &["exec.opaque? ? unknown"]),
        (
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF\n",
            &["fs.delete /app/a project"],
        ),
        ("ln -s /etc cfg; rm cfg/x", &["fs.link /app/cfg project", "fs.delete /app/cfg/x unknown"]),
    ];
    for (script, expected) in cases {
        assert_eq!(mutations(script), *expected, "{script}");
    }
}

#[test]
fn the_exit_code_covers_what_it_proves() {
    let proofs = |script: &str| -> Vec<Proof> {
        let own = run(script).effects.into_iter();
        own.filter(|one| one.effect.kind.access() == Access::Mutation).map(|one| one.proof).collect()
    };
    assert_eq!(proofs("rm a && rm b"), [Proof::Covered, Proof::Covered]);
    assert_eq!(proofs("rm a; rm b"), [Proof::Masked, Proof::Covered]);
    assert_eq!(proofs("rm a | tail -5"), [Proof::Masked]);
    assert_eq!(proofs("rm a || true"), [Proof::Masked]);
    assert_eq!(proofs("set -e; rm a; rm b"), [Proof::Covered, Proof::Covered]);
    assert_eq!(proofs("set -o pipefail; rm a | cat"), [Proof::Covered]);
    assert_eq!(proofs("grep x f > out"), [Proof::Before]);
}

#[test]
fn loops_in_loops_are_bounded() {
    let mut script = "rm $a$b$c$d".to_owned();
    let words: Vec<String> = (0..60).map(|n| n.to_string()).collect();
    for name in ["d", "c", "b", "a"] {
        script = format!("for {name} in {}; do {script}; done", words.join(" "));
    }
    let report = run(&script);
    assert!(report.effects.len() <= 20_001);
    assert!(report.effects.iter().any(|one| one.effect.kind == EffectKind::ExecOpaque));
}

#[test]
fn dry_runs_are_reads() {
    for script in ["git push --dry-run", "rsync -n a b", "terraform plan", "patch --dry-run < p"] {
        assert_eq!(mutations(script), Vec::<String>::new(), "{script}");
        assert!(run(script).effects.iter().any(|one| one.effect.outcome == Outcome::DryRun), "{script}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_script_panics(script in "[a-z $(){}|&;<>'\"`\\\\\n=#*~/0-9-]{0,60}") {
        run(&script);
    }

    #[test]
    fn no_mix_of_words_panics(words in prop::collection::vec(prop::sample::select(vec![
        "cd", "rm", "sed", "-i", "find", "-exec", "{}", ";", "\\;", "&&", "||", "|", "$(", ")", "<<EOF", "\nEOF\n", ">", "f", "awk", "'{print}'",
        "docker", "exec", "run", "git", "-C", "bash", "-c", "python", "xargs", "sudo", "env", "A=1", "ssh", "curl", "-d", "é", "for", "in", "do", "done",
    ]), 0..14)) {
        run(&words.join(" "));
    }
}
