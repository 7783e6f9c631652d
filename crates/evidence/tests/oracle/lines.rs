//! The command lines: written ones, and ones made of templates.

/// What stands in a place of a template.
const FILES: &[&str] =
    &["a.txt", "./b.txt", "src/main.c", "docs/../c.log", "'sp ace.txt'", "@A/data.csv", "@H/notes.txt"];
const FOLDERS: &[&str] = &["src", "docs/", "./build", "@A/empty"];

/// `%f` stands for each of the files, `%d` for each of the folders.
const TEMPLATES: &[&str] = &[
    "rm %f",
    "rm -f %f nothere",
    "mv %f moved.bin",
    "mv %f %d",
    "cp %f copied.bin",
    "cp %f %d",
    "cp -r %d %d.copy",
    "touch %f",
    "chmod 640 %f",
    "truncate -s 1 %f",
    "echo x > %f",
    "echo x >> %f",
    "sed -i 's/./x/' %f",
    "ln -s %f made_link",
    "gzip -k %f",
    "tar cf %d/made.tar %f",
    "tee %f < list.txt",
    "cat %f | sort -o sorted.bin",
    "cd %d && touch here.new",
    "(cd %d && rm -f *) ; touch there.new",
    "touch %d/new.one && mv %d/new.one %d/new.two",
    "find %d -type f -delete",
    "find %d -type f -exec touch {} +",
    "ls %d | xargs -I{} touch {}.seen",
    "rm -rf %d",
    "mkdir -p %d/x/y && touch %d/x/y/z",
    "for f in %d/*; do echo x >> \"$f\"; done",
    "bash -c 'cd %d && echo x > nested.new'",
    "python3 -c \"open('%d/py.new', 'w')\"",
    "F=%f; if [ -f $F ]; then cp $F $F.bak; fi",
];

/// All command lines.
pub(crate) fn all() -> Vec<String> {
    let mut all = written();
    for template in TEMPLATES {
        let (mark, words) = if template.contains("%f") { ("%f", FILES) } else { ("%d", FOLDERS) };
        for (at, word) in words.iter().enumerate() {
            let line = template.replace(mark, word);
            all.push(line.replace("%d", FOLDERS[at % FOLDERS.len()]));
        }
    }
    all
}

/// The lines of the file; those between two `---` are one.
fn written() -> Vec<String> {
    let mut all = Vec::new();
    let mut block: Option<String> = None;
    for line in include_str!("lines.txt").lines() {
        match (&mut block, line) {
            (None, "---") => block = Some(String::new()),
            (Some(_), "---") => all.extend(block.take()),
            (Some(block), _) => block.extend([line, "\n"]),
            (None, _) if line.is_empty() || line.starts_with('#') => {}
            (None, _) => all.push(line.to_owned()),
        }
    }
    all
}
