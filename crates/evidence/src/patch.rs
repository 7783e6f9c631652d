//! The files a patch in the `*** Begin Patch` form touches.

use crate::effect::EffectKind;

/// One touched file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    /// What happens to it.
    pub kind: EffectKind,
    /// Its path, as written.
    pub path: String,
    /// The whole text, of an added file.
    pub text: Option<String>,
}

/// The touched files, in order; empty where the text is no such patch.
pub fn touched(patch: &str) -> Vec<Touched> {
    const HEADERS: &[(&str, EffectKind)] = &[
        ("*** Add File: ", EffectKind::FsWrite),
        ("*** Update File: ", EffectKind::FsWrite),
        ("*** Delete File: ", EffectKind::FsDelete),
    ];
    let mut all: Vec<Touched> = Vec::new();
    let mut added = false;
    for line in patch.lines() {
        if let Some(to) = line.strip_prefix("*** Move to: ") {
            if let Some(last) = all.last_mut() {
                last.kind = EffectKind::FsMove;
            }
            all.push(Touched { kind: EffectKind::FsWrite, path: to.trim().to_owned(), text: None });
        } else if let Some((path, kind)) =
            HEADERS.iter().find_map(|(header, kind)| Some((line.strip_prefix(header)?, *kind)))
        {
            added = line.starts_with("*** Add");
            all.push(Touched { kind, path: path.trim().to_owned(), text: added.then(String::new) });
        } else if let (true, Some(text), Some(own)) =
            (added, line.strip_prefix('+'), all.last_mut().and_then(|last| last.text.as_mut()))
        {
            own.push_str(text);
            own.push('\n');
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_header_is_an_effect() {
        let patch = "*** Begin Patch\n*** Add File: a.py\n+x = 1\n*** Update File: b\n*** Move to: c\n@@\n-y\n+z\n*** Delete File: d\n*** End Patch";
        let all: Vec<_> = touched(patch).into_iter().map(|one| (one.kind.word(), one.path)).collect();
        let expected = [("fs.write", "a.py"), ("fs.move", "b"), ("fs.write", "c"), ("fs.delete", "d")];
        assert_eq!(all, expected.map(|(kind, path)| (kind, path.to_owned())));
        assert_eq!(touched(patch)[0].text.as_deref(), Some("x = 1\n"));
        assert!(touched("no patch").is_empty());
    }
}
