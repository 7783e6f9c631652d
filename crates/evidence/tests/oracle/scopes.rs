//! Where the write targets of real calls lie.

use std::collections::BTreeMap;

use strongroom_evidence::effect::{Access, Effect, Scope};

use crate::calls::{self, Called};

/// The folders whose logs hold calls with a known working directory.
const FOLDERS: &[&str] = &["claude-code", "codex", "copilot-cli", "pi"];

fn is_write(effect: &Effect) -> bool {
    effect.kind.is_under("fs") && effect.kind.access() == Access::Mutation
}

/// Shows every call below the folders.
fn each_call(visit: &mut impl FnMut(&Called<'_>)) -> Option<()> {
    let root = calls::shared("transcripts")?;
    for folder in FOLDERS {
        for path in calls::logs(&root.join(folder)) {
            let source = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().into_owned();
            calls::read(&source, &path, visit);
        }
    }
    Some(())
}

#[test]
fn write_targets_of_real_calls_have_a_scope() {
    let (mut all, mut scopes) = (0_usize, BTreeMap::<&str, usize>::new());
    let mut open = Vec::new();
    let present = each_call(&mut |call| {
        for one in call.report.effects.iter().filter(|one| is_write(&one.effect)) {
            all += 1;
            *scopes.entry(one.effect.scope.word()).or_default() += 1;
            if one.effect.scope == Scope::Unknown {
                let effect = &one.effect;
                let text: String = call.text.chars().take(400).collect();
                open.push(format!(
                    "{} {} [{}] {}:{} {} {text}",
                    effect.kind.word(),
                    effect.target.words(),
                    effect.program,
                    call.source,
                    call.line,
                    call.tool
                ));
            }
        }
    });
    if present.is_none() {
        return;
    }
    println!("{all} write targets, {} undecided\n{scopes:?}\n  {}", open.len(), open.join("\n  "));
    assert!(open.len() * 100 <= all * 2, "{} of {all} are undecided", open.len());
}
