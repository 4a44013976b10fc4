//! A unified diff as git prints it, made safe to show and taken apart: its files, what each gained and
//! lost, and what each line is.
//!
//! Total on any text. Refuses to apply anything: what it gives out is for reading.

use super::clean;

/// A diff, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patch {
    /// The files, in the order of the text.
    pub files: Vec<FileDiff>,
    /// Every line of the text.
    pub lines: Vec<PatchLine>,
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileDiff {
    /// Its name, after the change where it was moved.
    pub name: String,
    /// Its name before, where it was moved.
    pub moved_from: Option<String>,
    /// What happened to it beside its lines, in words; empty for a plain change.
    pub about: String,
    /// How many lines it gained.
    pub added: usize,
    /// How many lines it lost.
    pub removed: usize,
    /// The number of its first line in the text, from 0.
    pub line: usize,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchLine {
    /// What it is.
    pub kind: LineKind,
    /// The whole line.
    pub text: String,
}

/// What a line of a diff is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// It tells of a file: its names, its mode.
    File,
    /// It tells where a hunk lies.
    Hunk,
    /// A line that came.
    Added,
    /// A line that went.
    Removed,
    /// A line that stayed.
    Context,
    /// A remark about the lines beside it.
    Note,
}

impl Patch {
    /// Takes a diff apart. Control characters become visible signs, secrets are taken out.
    pub fn read(text: &str) -> Self {
        Self::read_exactly(&clean(&visible(text)))
    }

    /// Takes a diff apart that is drawable as it is.
    pub fn read_exactly(text: &str) -> Self {
        let mut reader = Reader::default();
        for line in text.lines() {
            reader.take(line);
        }
        reader.patch
    }

    /// How many lines came and went in all files.
    pub fn totals(&self) -> (usize, usize) {
        let sum = |(added, removed), file: &FileDiff| (added + file.added, removed + file.removed);
        self.files.iter().fold((0, 0), sum)
    }

    /// The lines of the file `n`, from 0.
    pub fn lines_of(&self, n: usize) -> &[PatchLine] {
        let from = self.files.get(n).map_or(self.lines.len(), |file| file.line);
        let to = self
            .files
            .get(n + 1)
            .map_or(self.lines.len(), |file| file.line);
        self.lines.get(from..to).unwrap_or_default()
    }
}

impl FileDiff {
    /// Its name, with the one before where it was moved.
    pub fn title(&self) -> String {
        match &self.moved_from {
            Some(from) => format!("{from} → {}", self.name),
            None => self.name.clone(),
        }
    }

    /// What happened to it: its lines, counted, and the rest in words.
    pub fn counts(&self) -> String {
        let lines =
            (self.added + self.removed > 0).then(|| format!("+{} −{}", self.added, self.removed));
        let about = (!self.about.is_empty()).then(|| self.about.clone());
        let parts: Vec<String> = lines.into_iter().chain(about).collect();
        parts.join(" ")
    }
}

/// Makes control characters visible, so that the text shows what the file holds and no line is lost:
/// line ends of another kind are no line ends of the diff. A return before one is shown where the line
/// changed.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line
            .strip_suffix('\n')
            .map_or((line, ""), |line| (line, "\n"));
        let line = match line.strip_suffix('\r') {
            Some(bare) if !line.starts_with(['+', '-']) => bare,
            _ => line,
        };
        out.extend(line.chars().map(sign));
        out.push_str(end);
    }
    out
}

fn sign(c: char) -> char {
    match c {
        '\t' => '\t',
        '\u{7f}' => '␡',
        '\u{80}'..='\u{9f}' => '�',
        '\u{2028}' | '\u{2029}' => '␤',
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('�'),
        c => c,
    }
}

/// Follows the lines; knows how many of a hunk are still to come.
#[derive(Default)]
struct Reader {
    patch: Patch,
    /// Lines to come of the earlier and of the later file.
    left: (usize, usize),
}

impl Reader {
    fn take(&mut self, line: &str) {
        let kind = self.kind_of(line);
        if line.starts_with("diff --git ") && kind == LineKind::File {
            self.patch.files.push(FileDiff {
                name: name_of_both(&line["diff --git ".len()..]),
                line: self.patch.lines.len(),
                ..FileDiff::default()
            });
        }
        if let Some(file) = self.patch.files.last_mut() {
            match kind {
                LineKind::File => tell(file, line),
                LineKind::Added => file.added += 1,
                LineKind::Removed => file.removed += 1,
                LineKind::Hunk | LineKind::Context | LineKind::Note => {}
            }
        }
        self.patch.lines.push(PatchLine {
            kind,
            text: line.to_owned(),
        });
    }

    fn kind_of(&mut self, line: &str) -> LineKind {
        let (before, after) = &mut self.left;
        let first = line.bytes().next();
        if *before + *after > 0 {
            match first {
                Some(b'+') => {
                    *after = after.saturating_sub(1);
                    return LineKind::Added;
                }
                Some(b'-') => {
                    *before = before.saturating_sub(1);
                    return LineKind::Removed;
                }
                Some(b' ') | None => {
                    (*before, *after) = (before.saturating_sub(1), after.saturating_sub(1));
                    return LineKind::Context;
                }
                Some(b'\\') => return LineKind::Note,
                // The hunk is shorter than it said: something was taken out of it.
                Some(_) => self.left = (0, 0),
            }
        }
        if let Some(lengths) = hunk_lengths(line) {
            self.left = lengths;
            return LineKind::Hunk;
        }
        match first {
            Some(b'\\' | b'[') => LineKind::Note,
            Some(b'+') if !line.starts_with("+++ ") => LineKind::Added,
            Some(b'-') if !line.starts_with("--- ") => LineKind::Removed,
            Some(b' ') => LineKind::Context,
            Some(_) | None => LineKind::File,
        }
    }
}

/// Reads `@@ -1,2 +3,4 @@`: how many lines of the earlier and of the later file follow.
fn hunk_lengths(line: &str) -> Option<(usize, usize)> {
    let rest = line.strip_prefix("@@ -")?;
    let (before, rest) = rest.split_once(" +")?;
    let (after, _) = rest.split_once(" @@")?;
    let length = |range: &str| match range.split_once(',') {
        Some((_, length)) => length.parse().ok(),
        None => range.parse::<usize>().ok().map(|_| 1),
    };
    Some((length(before)?, length(after)?))
}

/// The name in `a/NAME b/NAME`, where both are the same.
fn name_of_both(names: &str) -> String {
    let half = names.len() / 2;
    let (Some(before), Some(after)) = (names.get(..half), names.get(half + 1..)) else {
        return names.to_owned();
    };
    match (before.strip_prefix("a/"), after.strip_prefix("b/")) {
        (Some(before), Some(after)) if before == after => after.to_owned(),
        _ => names.to_owned(),
    }
}

/// Takes in what a line says of its file.
fn tell(file: &mut FileDiff, line: &str) {
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
        add(file, "new");
        match mode {
            "100755" => add(file, "executable"),
            "120000" => add(file, "a link"),
            _ => {}
        }
    } else if line.starts_with("deleted file mode ") {
        add(file, "deleted");
    } else if let Some(mode) = line.strip_prefix("new mode ") {
        add(file, &format!("mode {mode}"));
    } else if line.starts_with("Binary files ") {
        add(file, "binary");
    }
}

fn add(file: &mut FileDiff, word: &str) {
    if !file.about.is_empty() {
        file.about.push_str(", ");
    }
    file.about.push_str(word);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files with their counts, then a letter for each line.
    fn check(text: &str, wanted: &str) {
        let patch = Patch::read(text);
        let files: Vec<String> = patch
            .files
            .iter()
            .map(|file| format!("{} {} @{}", file.title(), file.counts(), file.line))
            .collect();
        let letter = |line: &PatchLine| match line.kind {
            LineKind::File => 'f',
            LineKind::Hunk => '@',
            LineKind::Added => '+',
            LineKind::Removed => '-',
            LineKind::Context => ' ',
            LineKind::Note => '\\',
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
            "x +1 −0 @0;y +1 −1 @6|f@ \\f+f@-+",
        );
    }

    #[test]
    fn what_a_file_holds_is_seen_and_drives_no_terminal() {
        let text = "diff --git a/x b/x\n@@ -1 +1,2 @@\n same\r\n+\u{1b}[31mred\u{2028}\r\n+k = \"AKIAIOSFODNN7EXAMPLE\"\n";
        let patch = Patch::read(text);
        let lines: Vec<&str> = patch.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(lines[2], " same");
        assert_eq!(lines[3], "+␛[31mred␤␍");
        assert!(!lines[4].contains("AKIAIOSFODNN7EXAMPLE"), "{}", lines[4]);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(128))]
        #[test]
        fn reading_is_total_and_loses_no_line(text in "(diff --git a/x b/x\n|@@ -1,[0-9] \\+1,[0-9] @@\n|[-+ \\\\x界\r\t]{0,6}\n|\\+\\+\\+ b/y\n){0,12}") {
            let patch = Patch::read(&text);
            proptest::prop_assert_eq!(patch.lines.len(), text.lines().count());
            let of_files: usize = (0..patch.files.len()).map(|n| patch.lines_of(n).len()).sum();
            proptest::prop_assert!(of_files <= patch.lines.len());
        }
    }
}
