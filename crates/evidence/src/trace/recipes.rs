//! Scripts by name: targets of a Makefile and scripts of a package.json whose text is known.

use super::{Call, Tracer};
use crate::commands::Arg;
use crate::effect::{EffectKind, Target};

/// How many recipes one call follows.
const RECIPES_MAX: usize = 64;

/// Package managers that run the scripts of a package.json.
const RUNNERS: &[&str] = &["npm", "pnpm", "yarn", "bun"];

impl Tracer<'_> {
    /// Follows the recipe that a call names; `false` where its text is not known.
    pub(super) fn recipe(&mut self, call: &Call<'_>) -> bool {
        if call.invocation.program == "make" { self.make(call) } else { self.package_script(call) }
    }

    fn make(&mut self, call: &Call<'_>) -> bool {
        const SHOWING: &[&str] = &["-n", "--just-print", "--dry-run", "-p", "-q", "--question", "--help"];
        if SHOWING.iter().any(|name| call.invocation.has(name)) {
            return false;
        }
        let named = call.invocation.value(&["-f", "--file", "--makefile"]).map(|arg| arg.text.clone());
        let names = named.map_or_else(
            || vec!["GNUmakefile".to_owned(), "makefile".to_owned(), "Makefile".to_owned()],
            |name| vec![name],
        );
        let text =
            names.iter().find_map(|name| self.artifacts.text(&self.resolve(name).path).map(str::to_owned));
        let Some(text) = text else { return false };
        let Some(file) = Makefile::read(&text) else { return false };
        let goals = call.invocation.operands.iter().filter(|word| !word.text.contains('='));
        let mut goals: Vec<String> = goals.map(|word| word.text.clone()).collect();
        if goals.is_empty() {
            goals.extend(file.rules.first().map(|rule| rule.target.clone()));
        }
        let Some(order) = file.order(&goals) else { return false };
        self.within_artifact(&text, |own| {
            order.iter().for_each(|line| own.run_script(line, &[], call.guard.masked()));
        });
        self.emit(EffectKind::None, Target::Unknown, call.guard);
        true
    }

    fn package_script(&mut self, call: &Call<'_>) -> bool {
        if !RUNNERS.contains(&call.invocation.program.as_str()) {
            return false;
        }
        let operands: Vec<&Arg> = call.invocation.operands.iter().collect();
        let (name, words) = match operands.as_slice() {
            [run, name, rest @ ..] if matches!(run.text.as_str(), "run" | "run-script") => (&name.text, rest),
            [name, rest @ ..] if matches!(name.text.as_str(), "test" | "start" | "stop") => {
                (&name.text, rest)
            }
            _ => return false,
        };
        let path = self.resolve("package.json").path;
        let Some(text) = self.artifacts.text(&path).map(str::to_owned) else { return false };
        let Some(scripts) = scripts(&text) else { return false };
        if !scripts.iter().any(|(own, _)| own == name) {
            return false;
        }
        let words: Vec<String> = words.iter().map(|word| super::spelled(word)).collect();
        for stage in [format!("pre{name}"), name.clone(), format!("post{name}")] {
            if let Some((_, script)) = scripts.iter().find(|(own, _)| *own == stage) {
                let behind = if stage == *name { words.join(" ") } else { String::new() };
                let script = format!("{script} {behind}");
                self.within_artifact(&text, |own| own.run_script(&script, &[], call.guard.masked()));
            }
        }
        true
    }
}

/// The scripts of a package.json.
fn scripts(text: &str) -> Option<Vec<(String, String)>> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let scripts = value.get("scripts")?.as_object()?;
    Some(scripts.iter().filter_map(|(name, line)| Some((name.clone(), line.as_str()?.to_owned()))).collect())
}

/// A Makefile of plain rules and variables.
#[derive(Debug, Default)]
struct Makefile {
    variables: Vec<(String, String)>,
    rules: Vec<MakeRule>,
}

#[derive(Debug)]
struct MakeRule {
    target: String,
    needs: Vec<String>,
    lines: Vec<String>,
}

impl Makefile {
    /// `None` where it holds what is more than plain rules.
    fn read(text: &str) -> Option<Self> {
        const BEYOND: &[&str] =
            &["include ", "-include", "ifeq", "ifneq", "ifdef", "ifndef", "define ", "$(eval", "$(shell"];
        let mut file = Self::default();
        for line in text.replace("\\\n", " ").lines() {
            if let Some(recipe) = line.strip_prefix('\t') {
                let rule = file.rules.last_mut()?;
                rule.lines.push(recipe.trim_start_matches(['@', '-', '+', ' ']).to_owned());
                continue;
            }
            let line = line.split('#').next().unwrap_or_default().trim_end();
            if BEYOND.iter().any(|word| line.starts_with(word) || line.contains("$(eval")) {
                return None;
            }
            if let Some((name, value)) = assignment(line) {
                file.variables.push((name.to_owned(), value.to_owned()));
            } else if let Some((targets, needs)) = line.split_once(':') {
                let needs: Vec<String> = needs.split_whitespace().map(str::to_owned).collect();
                for target in targets.split_whitespace().filter(|target| !target.starts_with(".PHONY")) {
                    let needs = needs.clone();
                    file.rules.push(MakeRule { target: target.to_owned(), needs, lines: Vec::new() });
                }
            }
        }
        file.rules.iter().all(|rule| !rule.target.contains('%')).then_some(file)
    }

    /// The lines that run for `goals`, needs first; `None` where a goal has no rule.
    fn order(&self, goals: &[String]) -> Option<Vec<String>> {
        let mut lines = Vec::new();
        let mut done: Vec<&str> = Vec::new();
        for goal in goals {
            self.rules.iter().find(|rule| rule.target == *goal)?;
            self.add(goal, &mut done, &mut lines)?;
        }
        Some(lines)
    }

    fn add<'m>(&'m self, goal: &str, done: &mut Vec<&'m str>, lines: &mut Vec<String>) -> Option<()> {
        let own: Vec<&MakeRule> = self.rules.iter().filter(|rule| rule.target == goal).collect();
        let Some(first) = own.first() else { return Some(()) };
        if done.contains(&first.target.as_str()) {
            return Some(());
        }
        if done.len() >= RECIPES_MAX {
            return None;
        }
        done.push(&first.target);
        for rule in own {
            for need in &rule.needs {
                self.add(need, done, lines)?;
            }
            lines.extend(rule.lines.iter().map(|line| self.filled(line, rule)));
        }
        Some(())
    }

    /// A line as the shell gets it; what is not known stays a variable that the shell does not know either.
    fn filled(&self, line: &str, rule: &MakeRule) -> String {
        let mut line = line.replace("$@", &rule.target).replace("$^", &rule.needs.join(" "));
        line = line.replace("$<", rule.needs.first().map_or("", String::as_str));
        line = line.replace("$(MAKE)", "make").replace("${MAKE}", "make");
        for (name, value) in &self.variables {
            line = line.replace(&format!("$({name})"), value).replace(&format!("${{{name}}}"), value);
        }
        line.replace("$$", "$")
    }
}

/// `NAME = value` and its like.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+']).trim();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (!name.is_empty() && name.bytes().all(plain)).then_some((name, value.trim()))
}
