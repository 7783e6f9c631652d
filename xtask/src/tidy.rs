//! The shape of the tree: which crate may know which, in which order modules stand, what may not be left lying about.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Which of our crates a crate may depend on. Nothing else is allowed.
const EDGES: [(&str, &[&str]); 15] = [
    ("core", &[]),
    ("tokens", &[]),
    ("search", &[]),
    ("evidence", &["strongroom-core"]),
    ("formats", &["strongroom-core"]),
    ("archive", &["strongroom-core"]),
    ("stores", &["strongroom-core"]),
    (
        "strongroom",
        &[
            "strongroom-archive",
            "strongroom-core",
            "strongroom-evidence",
            "strongroom-formats",
            "strongroom-search",
            "strongroom-stores",
            "strongroom-tokens",
        ],
    ),
    ("server", &["strongroom"]),
    ("model", &["strongroom"]),
    ("cli", &["strongroom", "strongroom-model", "strongroom-server"]),
    ("py", &["strongroom", "strongroom-cli"]),
    ("bench", &["strongroom"]),
    ("testkit", &["strongroom-core"]),
    ("../xtask", &["testkit"]),
];

/// Libraries that only some of our crates may name, since they stand for knowledge the others must not have.
const KNOWLEDGE: [(&str, &[&str]); 15] = [
    ("serde_json", &["evidence", "strongroom", "server", "model", "cli", "py", "bench"]),
    ("ureq", &["archive", "model"]),
    ("object_store", &["archive"]),
    ("rusqlite", &["archive", "stores"]),
    ("zstd", &["archive", "stores"]),
    ("flate2", &["stores"]),
    ("rawzip", &["stores"]),
    ("clap", &["cli", "bench"]),
    ("shuck-parser", &["evidence"]),
    ("sqlparser", &["evidence"]),
    ("tokio", &["archive", "server"]),
    ("rmcp", &["server"]),
    ("hyper", &["server"]),
    ("pyo3", &["py"]),
    ("getrandom", &["archive", "cli"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn manifest(name: &str) -> toml::Table {
    let path = root().join("crates").join(name).join("Cargo.toml");
    fs::read_to_string(path).unwrap().parse().unwrap()
}

fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = manifest(name);
    let table = manifest.get("dependencies").and_then(toml::Value::as_table);
    table.into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

fn members() -> BTreeSet<String> {
    let entries = fs::read_dir(root().join("crates")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// All files of ours with this extension, relative to the root.
fn files(extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                folders.push(path);
            } else if path.extension().is_some_and(|own| own == extension) {
                found.push(path.strip_prefix(root()).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn crates_know_only_what_they_may() {
    let listed: BTreeSet<String> =
        EDGES.iter().map(|(name, _)| (*name).to_owned()).filter(|name| name != "../xtask").collect();
    assert_eq!(members(), listed, "every crate stands in the table of edges");
    let ours: BTreeSet<String> = EDGES
        .iter()
        .map(|(name, _)| manifest(name)["package"]["name"].as_str().unwrap().to_owned())
        .collect();
    for (name, allowed) in EDGES {
        for dependency in dependencies(name).intersection(&ours) {
            assert!(allowed.contains(&dependency.as_str()), "{name} must not know {dependency}");
        }
        for (library, knowing) in KNOWLEDGE {
            assert!(
                !dependencies(name).contains(library) || knowing.contains(&name),
                "{name} must not name {library}"
            );
        }
    }
}

/// The modules a file declares, in order, with attributes and visibility stripped.
fn declared(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| {
            let line = line.trim_start_matches("pub ").trim_start_matches("pub(crate) ");
            line.strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned)
        })
        .collect()
}

/// The code of a file without its tests and comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn modules_use_only_modules_above_them() {
    let mut checked = 0;
    for name in members() {
        let source = root().join("crates").join(&name).join("src");
        let Ok(lib) = fs::read_to_string(source.join("lib.rs")) else { continue };
        let modules = declared(&lib);
        for (at, module) in modules.iter().enumerate() {
            for file in module_files(&source, module) {
                let code = code(&file);
                for below in &modules[at + 1..] {
                    let uses = format!("crate::{below}::");
                    assert!(
                        !code.contains(&uses),
                        "{} uses {below}, which stands below {module}",
                        file.display()
                    );
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 100, "the check looked at {checked} pairs only");
}

fn module_files(source: &Path, module: &str) -> Vec<PathBuf> {
    let mut found = vec![source.join(format!("{module}.rs"))];
    let mut folders = vec![source.join(module)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.retain(|path| path.exists());
    found
}

#[test]
fn paths_named_in_the_architecture_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut checked = 0;
    for quoted in text.split('`').skip(1).step_by(2) {
        let is_path = quoted.contains('/') && !quoted.contains([' ', '<', '$', '~', '*', ':']);
        if is_path {
            assert!(root().join(quoted).exists(), "ARCHITECTURE.md names {quoted}, which does not exist");
            checked += 1;
        }
    }
    assert!(checked >= 8, "ARCHITECTURE.md names {checked} paths only");
}

#[test]
fn nothing_is_left_lying_about() {
    const WORDS: [&str; 6] = ["FIXME", "XXX", "todo!(", "unimplemented!(", "dbg!(", "TODO"];
    for path in files("rs") {
        if path.starts_with("xtask") {
            continue;
        }
        let text = fs::read_to_string(root().join(&path)).unwrap();
        for word in WORDS {
            assert!(!text.contains(word), "{} holds {word}", path.display());
        }
        assert!(!text.contains("include!("), "{} includes code by text", path.display());
        let stem = path.file_stem().unwrap().to_string_lossy();
        assert!(
            !stem.ends_with(|c: char| c.is_ascii_digit()) || stem == "rfc6962",
            "{} is a numbered file",
            path.display()
        );
    }
}

#[test]
fn every_markdown_page_has_a_title() {
    for path in files("md") {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        // A skill begins with what an agent needs to know to choose it.
        let page = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n\n"));
        let page = page.map_or(text.as_str(), |(_, page)| page);
        assert!(page.starts_with("# "), "{} does not begin with a title", path.display());
    }
}

#[test]
fn links_between_pages_lead_somewhere() {
    for path in files("md") {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") {
                let folder = root().join(&path).parent().unwrap().to_owned();
                assert!(folder.join(target).exists(), "{} links to {target}", path.display());
            }
        }
    }
}
