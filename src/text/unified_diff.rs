//! Parses a unified diff as git prints it and makes it safe to show: its files, their added and removed
//! lines, and the kind of each line.
//!
//! Never fails. The result is only for reading: it cannot be applied as a patch.

use super::{clean_text, describe_line_counts};

/// A parsed diff, with its files and all lines in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnifiedDiff {
    /// The files, in the order of the text.
    pub files: Vec<FileDiff>,
    /// Every line of the text.
    pub lines: Vec<DiffLine>,
}

/// What changed in one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileDiff {
    /// Its name; for a moved file the new one.
    pub name: String,
    /// Its old name, if it was moved.
    pub moved_from: Option<String>,
    /// What else happened to it, as text; empty for a plain change.
    pub notes: String,
    pub added: usize,
    pub removed: usize,
    /// The index of its first line in the text, from 0.
    pub first_line: usize,
}

/// One line of a diff, with its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    pub kind: DiffLineKind,
    pub text: String,
}

/// What a line of a diff means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffLineKind {
    /// It describes a file: its names, its mode.
    File,
    /// It says where a hunk is.
    Hunk,
    Added,
    Removed,
    /// An unchanged line.
    Context,
    /// A remark about the lines next to it.
    Note,
}

impl UnifiedDiff {
    /// Parses a diff. Control characters become visible signs, and secrets are redacted.
    pub fn parse(text: &str) -> Self {
        Self::parse_exact(&clean_text(&show_controls(text)))
    }

    /// Parses a diff that is already safe to show.
    pub fn parse_exact(text: &str) -> Self {
        let mut reader = DiffParser::default();
        for line in text.lines() {
            reader.push_line(line);
        }
        reader.diff
    }

    /// Returns how many lines were added and removed in all files.
    pub fn totals(&self) -> (usize, usize) {
        let sum = |(added, removed), file: &FileDiff| (added + file.added, removed + file.removed);
        self.files.iter().fold((0, 0), sum)
    }

    /// Returns the lines of the file with index `n`.
    pub fn file_lines(&self, n: usize) -> &[DiffLine] {
        let from = self
            .files
            .get(n)
            .map_or(self.lines.len(), |file| file.first_line);
        let to = self
            .files
            .get(n + 1)
            .map_or(self.lines.len(), |file| file.first_line);
        self.lines.get(from..to).unwrap_or_default()
    }
}

impl FileDiff {
    /// Returns its name, with the old name if it was moved.
    pub fn title(&self) -> String {
        match &self.moved_from {
            Some(from) => format!("{from} → {}", self.name),
            None => self.name.clone(),
        }
    }

    /// Returns what happened to it: the line counts, and the rest as text.
    pub fn summary(&self) -> String {
        let lines = describe_line_counts(self.added, self.removed);
        let parts = [lines, self.notes.clone()].into_iter();
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        parts.join(" ")
    }
}

/// Makes control characters visible, so that the text shows what the file contains and no line is lost: other kinds of
/// line ends are not line ends of the diff. A carriage return before a line end is shown where the line changed.
fn show_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line
            .strip_suffix('\n')
            .map_or((line, ""), |line| (line, "\n"));
        let line = match line.strip_suffix('\r') {
            Some(bare) if !line.starts_with(['+', '-']) => bare,
            _ => line,
        };
        out.extend(line.chars().map(control_picture));
        out.push_str(end);
    }
    out
}

fn control_picture(c: char) -> char {
    match c {
        '\t' => '\t',
        '\u{7f}' => '␡',
        '\u{80}'..='\u{9f}' => '�',
        '\u{2028}' | '\u{2029}' => '␤',
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('�'),
        c => c,
    }
}

/// Parses the lines; counts how many lines of a hunk are still to come.
#[derive(Default)]
struct DiffParser {
    diff: UnifiedDiff,
    /// Lines to come of the old and of the new file.
    lines_left: (usize, usize),
}

impl DiffParser {
    fn push_line(&mut self, line: &str) {
        let kind = self.classify_line(line);
        if line.starts_with("diff --git ") && kind == DiffLineKind::File {
            self.diff.files.push(FileDiff {
                name: parse_git_names(&line["diff --git ".len()..]),
                first_line: self.diff.lines.len(),
                ..FileDiff::default()
            });
        }
        if let Some(file) = self.diff.files.last_mut() {
            match kind {
                DiffLineKind::File => apply_file_header(file, line),
                DiffLineKind::Added => file.added += 1,
                DiffLineKind::Removed => file.removed += 1,
                DiffLineKind::Hunk | DiffLineKind::Context | DiffLineKind::Note => {}
            }
        }
        self.diff.lines.push(DiffLine {
            kind,
            text: line.to_owned(),
        });
    }

    fn classify_line(&mut self, line: &str) -> DiffLineKind {
        let (before, after) = &mut self.lines_left;
        let first = line.bytes().next();
        if *before + *after > 0 {
            match first {
                Some(b'+') => {
                    *after = after.saturating_sub(1);
                    return DiffLineKind::Added;
                }
                Some(b'-') => {
                    *before = before.saturating_sub(1);
                    return DiffLineKind::Removed;
                }
                Some(b' ') | None => {
                    (*before, *after) = (before.saturating_sub(1), after.saturating_sub(1));
                    return DiffLineKind::Context;
                }
                Some(b'\\') => return DiffLineKind::Note,
                // The hunk is shorter than it said: something was removed from it.
                Some(_) => self.lines_left = (0, 0),
            }
        }
        if let Some(lengths) = parse_hunk_lengths(line) {
            self.lines_left = lengths;
            return DiffLineKind::Hunk;
        }
        match first {
            Some(b'\\' | b'[') => DiffLineKind::Note,
            Some(b'+') if !line.starts_with("+++ ") => DiffLineKind::Added,
            Some(b'-') if !line.starts_with("--- ") => DiffLineKind::Removed,
            Some(b' ') => DiffLineKind::Context,
            Some(_) | None => DiffLineKind::File,
        }
    }
}

/// Parses `@@ -1,2 +3,4 @@`: how many lines of the old and of the new file follow.
fn parse_hunk_lengths(line: &str) -> Option<(usize, usize)> {
    let rest = line.strip_prefix("@@ -")?;
    let (before, rest) = rest.split_once(" +")?;
    let (after, _) = rest.split_once(" @@")?;
    let length = |range: &str| match range.split_once(',') {
        Some((_, length)) => length.parse().ok(),
        None => range.parse::<usize>().ok().map(|_| 1),
    };
    Some((length(before)?, length(after)?))
}

/// Returns the name in `a/NAME b/NAME` if both are the same.
fn parse_git_names(names: &str) -> String {
    let half = names.len() / 2;
    let (Some(before), Some(after)) = (names.get(..half), names.get(half + 1..)) else {
        return names.to_owned();
    };
    match (before.strip_prefix("a/"), after.strip_prefix("b/")) {
        (Some(before), Some(after)) if before == after => after.to_owned(),
        _ => names.to_owned(),
    }
}

/// Applies what a header line says about its file.
fn apply_file_header(file: &mut FileDiff, line: &str) {
    let side = |line: &str, prefix: &str, letter: &str| {
        let name = line.strip_prefix(prefix)?.trim_end_matches('\t');
        name.strip_prefix(letter).map(str::to_owned)
    };
    if let Some(name) = side(line, "+++ ", "b/").or_else(|| side(line, "--- ", "a/")) {
        file.name = name;
    } else if let Some(from) = line.strip_prefix("rename from ") {
        file.moved_from = Some(from.to_owned());
    } else if let Some(to) = line.strip_prefix("rename to ") {
        file.name = to.to_owned();
    } else if let Some(mode) = line.strip_prefix("new file mode ") {
        append_note(file, "new");
        match mode {
            "100755" => append_note(file, "executable"),
            "120000" => append_note(file, "a link"),
            _ => {}
        }
    } else if line.starts_with("deleted file mode ") {
        append_note(file, "deleted");
    } else if let Some(mode) = line.strip_prefix("new mode ") {
        append_note(file, &format!("mode {mode}"));
    } else if line.starts_with("Binary files ") {
        append_note(file, "binary");
    }
}

fn append_note(file: &mut FileDiff, word: &str) {
    if !file.notes.is_empty() {
        file.notes.push_str(", ");
    }
    file.notes.push_str(word);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files with their counts, then a letter for each line.
    fn check(text: &str, wanted: &str) {
        let patch = UnifiedDiff::parse(text);
        let files: Vec<String> = patch
            .files
            .iter()
            .map(|file| format!("{} {} @{}", file.title(), file.summary(), file.first_line))
            .collect();
        let letter = |line: &DiffLine| match line.kind {
            DiffLineKind::File => 'f',
            DiffLineKind::Hunk => '@',
            DiffLineKind::Added => '+',
            DiffLineKind::Removed => '-',
            DiffLineKind::Context => ' ',
            DiffLineKind::Note => '\\',
        };
        let kinds: String = patch.lines.iter().map(letter).collect();
        assert_eq!(format!("{}|{kinds}", files.join(";")), wanted);
    }

    #[test]
    fn files_and_lines_are_told_apart_by_the_lengths_of_hunks() {
        check(
            "diff --git a/a b.c b/a b.c\nindex 1..2 100644\n--- a/a b.c\t\n+++ b/a b.c\t\n@@ -1,2 +1,2 @@ fn x\n--- no header\n+++ nor this\n same\n\\ No newline at end of file\ndiff --git a/z b/z\nnew file mode 100644\n",
            "a b.c +1 −1 @0;z new @9|ffff@-+ \\ff",
        );
    }

    #[test]
    fn moved_deleted_and_binary_files_are_named() {
        check(
            "diff --git a/old b/new\nsimilarity index 90%\nrename from old\nrename to new\ndiff --git a/logo.png b/logo.png\ndeleted file mode 100644\nBinary files a/logo.png and /dev/null differ\ndiff --git a/run b/run\nold mode 100644\nnew mode 100755\n",
            "old → new  @0;logo.png deleted, binary @4;run mode 100755 @7|ffffffffff",
        );
    }

    #[test]
    fn a_cut_or_shortened_hunk_does_not_swallow_the_next_file() {
        check(
            "diff --git a/x b/x\n@@ -1,9 +1,9 @@\n a\n[… 99 bytes left out …]\nrest\n+late\ndiff --git a/y b/y\n@@ -1 +1 @@\n-1\n+2\n",
            "x +1 @0;y +1 −1 @6|f@ \\f+f@-+",
        );
    }

    #[test]
    fn what_a_file_holds_is_seen_and_drives_no_terminal() {
        let text = "diff --git a/x b/x\n@@ -1 +1,2 @@\n same\r\n+\u{1b}[31mred\u{2028}\r\n+k = \"AKIAIOSFODNN7EXAMPLE\"\n";
        let patch = UnifiedDiff::parse(text);
        let lines: Vec<&str> = patch.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(lines[2], " same");
        assert_eq!(lines[3], "+␛[31mred␤␍");
        assert!(!lines[4].contains("AKIAIOSFODNN7EXAMPLE"), "{}", lines[4]);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(128))]
        #[test]
        fn reading_is_total_and_loses_no_line(text in "(diff --git a/x b/x\n|@@ -1,[0-9] \\+1,[0-9] @@\n|[-+ \\\\x界\r\t]{0,6}\n|\\+\\+\\+ b/y\n){0,12}") {
            let patch = UnifiedDiff::parse(&text);
            proptest::prop_assert_eq!(patch.lines.len(), text.lines().count());
            let of_files: usize = (0..patch.files.len()).map(|n| patch.file_lines(n).len()).sum();
            proptest::prop_assert!(of_files <= patch.lines.len());
        }
    }
}
