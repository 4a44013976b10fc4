//! Compares what an edit would write with the file as it is now, for the user who is asked about it.
//!
//! A CLI that sends only the texts to exchange does not say where they are. The diff that is made here has line numbers
//! and the lines around the change. It is only shown: the CLI makes the edit itself, in the file as it is then.

use std::path::Path;
use std::time::{Duration, Instant};

use similar::{ChangeTag, TextDiff};

use crate::adapter::{FileChange, TextChange, TextReplacement};
use crate::permission::lexical_path::lexical_absolute;
use crate::store::scoped_read::{ScopedReadError, ScopedReader};

/// A larger file is not read for a diff.
const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// After this time the rest of a diff is less exact: more lines than necessary count as changed.
const MAX_DIFF_TIME: Duration = Duration::from_millis(100);

/// A file below the root.
enum FileOnDisk {
    Text(String),
    Missing,
}

/// Returns the diff of a change against the file as it is now. `None` if the CLI did not say exactly what it does, the
/// file cannot be read as text or is not below `root`, or the edit does not fit into it.
pub(super) fn diff_against_file(root: &Path, change: &FileChange) -> Option<String> {
    let text_change = change.text_change.as_ref()?;
    let before = match (read_file(root, &change.path)?, text_change) {
        (FileOnDisk::Missing, TextChange::Whole(text)) => {
            return Some(new_file_diff(text, FileKnowledge::Missing));
        }
        (FileOnDisk::Missing, TextChange::Replaced(parts)) => {
            let text = replace_parts("", parts)?;
            return Some(new_file_diff(&text, FileKnowledge::Missing));
        }
        (FileOnDisk::Text(text), TextChange::Whole(_)) => text,
        // CLIs compare texts without carriage returns, and write those of the file again.
        (FileOnDisk::Text(text), TextChange::Replaced(_)) => text.replace("\r\n", "\n"),
    };
    let after = match text_change {
        TextChange::Whole(text) => text.clone(),
        TextChange::Replaced(parts) => replace_parts(&before, parts)?,
    };
    if before == after {
        return Some("\\ The file has this text already\n".to_owned());
    }
    Some(diff_lines(&before, &after))
}

/// Returns the diff of two texts, whose lines end at line feeds only: a lone carriage return is a part of its line.
fn diff_lines(before: &str, after: &str) -> String {
    let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<&str>>();
    let (before, after) = (lines(before), lines(after));
    let diff = TextDiff::configure()
        .deadline(Instant::now() + MAX_DIFF_TIME)
        .diff_slices(&before, &after);
    let mut text = String::new();
    for hunk in diff.unified_diff().iter_hunks() {
        text.push_str(&format!("{}\n", hunk.header()));
        for change in hunk.iter_changes() {
            let line = change.value();
            let end = match line.strip_suffix('\n') {
                Some(_) => "\n",
                None => "\n\\ No newline at end of file\n",
            };
            let line = line.trim_end_matches('\n');
            let (sign, line) = match change.tag() {
                ChangeTag::Delete => ('-', line),
                ChangeTag::Insert => ('+', line),
                ChangeTag::Equal => (' ', line.strip_suffix('\r').unwrap_or(line)),
            };
            text.push(sign);
            text.push_str(line);
            text.push_str(end);
        }
    }
    text
}

/// Reads a file below the root; `None` if it cannot be read as text or is elsewhere.
fn read_file(root: &Path, path: &Path) -> Option<FileOnDisk> {
    let path = lexical_absolute(root, path);
    let name = path.strip_prefix(root).ok()?.to_str()?;
    match ScopedReader::open(root)
        .ok()?
        .read_file(name, MAX_FILE_BYTES)
    {
        Ok(bytes) => String::from_utf8(bytes).ok().map(FileOnDisk::Text),
        Err(ScopedReadError::NotFound { .. }) => Some(FileOnDisk::Missing),
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
        let n_places = text.matches(&part.old).count();
        if n_places == 0 || n_places > 1 && !part.is_everywhere {
            return None;
        }
        let line = format!("{}\n", part.old);
        let is_line = part.takes_line_end && text.contains(&line);
        let old = if is_line { &line } else { &part.old };
        text = text.replace(old, &part.new);
    }
    Some(text)
}

/// What is known of a file before a whole text is written into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKnowledge {
    Missing,
    Unknown,
}

/// Returns a whole text as a diff; where the file is known to be missing, with the line of git that calls it new.
pub(super) fn new_file_diff(text: &str, known: FileKnowledge) -> String {
    let lines = text.split_inclusive('\n').map(|line| format!("+{line}"));
    let lines: String = lines.collect();
    let n = text.split_inclusive('\n').count();
    let head = match known {
        FileKnowledge::Missing => "diff --git a/new b/new\nnew file mode 100644\n",
        FileKnowledge::Unknown => "",
    };
    let end = if lines.is_empty() || lines.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{head}@@ -0,0 +1,{n} @@\n{lines}{end}")
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
            takes_line_end: new.is_empty(),
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
        let deleted = diff(&root, "a.txt", replaced("line 9", "", false));
        assert_eq!(
            deleted.unwrap(),
            "@@ -6,4 +6,3 @@\n line 6\n line 7\n line 8\n-line 9\n"
        );
        std::fs::write(root.join("dos.txt"), lines.replace('\n', "\r\n")).unwrap();
        let dos = replaced("line 7\n", "line seven\n", false);
        assert_eq!(
            diff(&root, "dos.txt", dos),
            around("-line 7\n+line seven\n")
        );
        let everywhere = diff(&root, "a.txt", replaced("line", "row", true)).unwrap();
        assert_eq!(everywhere.matches("\n+row").count(), 9, "{everywhere}");
    }

    #[test]
    fn lines_end_at_line_feeds_only() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::write(root.join("a.txt"), "a\rb\nend").unwrap();
        let whole = |text: &str| diff(&root, "a.txt", TextChange::Whole(text.to_owned()));
        assert_eq!(
            whole("a\revil\rb\nend").unwrap(),
            "@@ -1,2 +1,2 @@\n-a\rb\n+a\revil\rb\n end\n\\ No newline at end of file\n"
        );
        assert_eq!(
            whole("a\rb\nend\n").unwrap(),
            "@@ -1,2 +1,2 @@\n a\rb\n-end\n\\ No newline at end of file\n+end\n"
        );
        let emptied = whole("").unwrap();
        assert!(emptied.contains("-a\rb\n-end\n"), "{emptied}");
        let same = whole("a\rb\nend").unwrap();
        assert_eq!(same, "\\ The file has this text already\n");
    }

    #[test]
    fn parts_are_replaced_one_after_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::write(root.join("a.txt"), "debug\nx debug y\n").unwrap();
        let part = |old: &str, new: &str| match replaced(old, new, true) {
            TextChange::Replaced(mut parts) => parts.remove(0),
            TextChange::Whole(_) => unreachable!(),
        };
        let parts = vec![part("debug", ""), part("x", "y"), part("y debug", "z")];
        assert_eq!(
            diff(&root, "a.txt", TextChange::Replaced(parts)).unwrap(),
            "@@ -1,2 +1 @@\n-debug\n-x debug y\n+z y\n"
        );
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
