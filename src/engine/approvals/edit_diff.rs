//! Compares what an edit would write with the file as it is now, for the user who is asked about it.
//!
//! A CLI that sends only the texts to exchange does not say where they are. The diff that is made here has line numbers
//! and the lines around the change. It is only shown: the CLI makes the edit itself, in the file as it is then.

use std::path::Path;
use std::time::{Duration, Instant};

use similar::TextDiff;

use crate::adapter::{FileChange, TextChange, TextReplacement};
use crate::permission::lexical_path::lexical_absolute;
use crate::store::scoped_read::{ScopedReadError, ScopedReader};

/// A larger file is not read for a diff.
const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// After this time the rest of a diff is less exact: more lines than necessary count as changed.
const MAX_DIFF_TIME: Duration = Duration::from_millis(100);

/// Returns the diff of a change against the file as it is now. `None` if the CLI did not say exactly what it does, the
/// file cannot be read as text or is not below `root`, or the edit does not fit into it.
pub(super) fn diff_against_file(root: &Path, change: &FileChange) -> Option<String> {
    let text_change = change.text_change.as_ref()?;
    let before = read_text(root, &change.path)?;
    let after = match text_change {
        TextChange::Whole(text) => text.clone(),
        TextChange::Replaced(parts) => replace_parts(before.as_deref().unwrap_or(""), parts)?,
    };
    let Some(before) = before else {
        return Some(new_file_diff(&after));
    };
    let diff = TextDiff::configure()
        .deadline(Instant::now() + MAX_DIFF_TIME)
        .diff_lines(before.as_str(), after.as_str());
    Some(diff.unified_diff().to_string()).filter(|diff| !diff.is_empty())
}

/// Reads a file below the root: `None` within if there is none.
fn read_text(root: &Path, path: &Path) -> Option<Option<String>> {
    let path = lexical_absolute(root, path);
    let name = path.strip_prefix(root).ok()?.to_str()?;
    match ScopedReader::open(root)
        .ok()?
        .read_file(name, MAX_FILE_BYTES)
    {
        Ok(bytes) => String::from_utf8(bytes).ok().map(Some),
        Err(ScopedReadError::NotFound { .. }) => Some(None),
        Err(_) => None,
    }
}

fn replace_parts(text: &str, parts: &[TextReplacement]) -> Option<String> {
    let mut text = text.to_owned();
    for part in parts {
        // Without a text to replace, it is the text of a new file.
        if part.old.is_empty() && !text.is_empty() {
            return None;
        }
        text = match (part.is_everywhere, text.matches(&part.old).count()) {
            (_, 0) => return None,
            (true, _) | (false, 1) => text.replace(&part.old, &part.new),
            (false, _) => return None,
        };
    }
    Some(text)
}

/// Returns the diff of a file that does not exist yet, as git writes it.
fn new_file_diff(text: &str) -> String {
    let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
    let n = text.lines().count();
    format!("diff --git a/new b/new\nnew file mode 100644\n@@ -0,0 +1,{n} @@\n{lines}")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::adapter::FileChangeKind;

    fn replaced(old: &str, new: &str, is_everywhere: bool) -> TextChange {
        TextChange::Replaced(vec![TextReplacement {
            old: old.to_owned(),
            new: new.to_owned(),
            is_everywhere,
        }])
    }

    fn diff(root: &Path, path: &str, text_change: TextChange) -> Option<String> {
        let change = FileChange {
            text_change: Some(text_change),
            ..FileChange::new(PathBuf::from(path), FileChangeKind::Update, String::new())
        };
        diff_against_file(root, &change)
    }

    #[test]
    fn an_edit_has_its_line_numbers_and_the_lines_around_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let lines: String = (1..=9).map(|n| format!("line {n}\n")).collect();
        std::fs::write(root.join("a.txt"), &lines).unwrap();
        let around = |changed: &str| {
            let around = format!(" line 4\n line 5\n line 6\n{changed} line 8\n line 9\n");
            Some(format!("@@ -4,6 +4,6 @@\n{around}"))
        };
        let part = diff(&root, "a.txt", replaced("e 7", "e seven", false));
        assert_eq!(part, around("-line 7\n+line seven\n"));
        let whole = TextChange::Whole(lines.replace("line 7\n", "line seven\n"));
        let path = root.join("a.txt");
        let whole = diff(&root, path.to_str().unwrap(), whole);
        assert_eq!(whole, around("-line 7\n+line seven\n"));
        let everywhere = diff(&root, "a.txt", replaced("line", "row", true)).unwrap();
        assert_eq!(everywhere.matches("\n+row").count(), 9, "{everywhere}");
    }

    #[test]
    fn a_new_file_is_called_new() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let written = diff(&root, "b.txt", TextChange::Whole("one\ntwo\n".to_owned())).unwrap();
        assert!(written.contains("new file mode"), "{written}");
        assert!(
            written.ends_with("@@ -0,0 +1,2 @@\n+one\n+two\n"),
            "{written}"
        );
    }

    #[test]
    fn what_does_not_fit_or_may_not_be_read_has_no_diff() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let inner = root.join("inner");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(inner.join("a.txt"), "same\nsame\n").unwrap();
        std::fs::write(inner.join("b.bin"), b"same \xff").unwrap();
        std::fs::write(root.join("secret.txt"), "same\n").unwrap();
        std::os::unix::fs::symlink(root.join("secret.txt"), inner.join("link")).unwrap();
        for (path, old) in [
            ("a.txt", "same"),
            ("a.txt", "other"),
            ("a.txt", ""),
            ("b.bin", "same"),
            ("link", "same"),
            ("../secret.txt", "same"),
        ] {
            assert_eq!(
                diff(&inner, path, replaced(old, "new", false)),
                None,
                "{path} {old}"
            );
        }
    }
}
