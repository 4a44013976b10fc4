//! The lines of a diff as rows: one below the other, or the old text beside the new one.

use std::ops::Range;

use ratatui::text::{Line, Span};

use crate::text::unified_diff::{DiffLine, DiffLineKind, UnifiedDiff};
use crate::tui::diff_row::{
    DiffRow, RowChange, RowLayout, RowWrapping, ShownNumbers, fill_row, wrap_parts,
};
use crate::tui::markdown::{HighlightLanguage, find_quote};
use crate::tui::text_comparison;
use crate::tui::text_wrap::truncate_to_columns;
use crate::tui::theme::{self, Surface};

/// Line numbers of a diff's lines, and which line replaces which.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiffLineMap {
    /// The numbers of each line before and after the change, from 1.
    numbers: Vec<(Option<usize>, Option<usize>)>,
    /// For each line, the line that it replaces or that replaces it.
    partners: Vec<Option<usize>>,
    /// For each line, the index of its file.
    files: Vec<Option<usize>>,
    /// For each line that shares a string with others, the bytes outside of those strings.
    code_ranges: Vec<Option<Range<usize>>>,
    /// The name of the file, if there is only one.
    only_file: Option<String>,
    /// Whether all lines of the only file are of one side, as in a new or a deleted file.
    has_one_side: bool,
    /// Width of the largest line number, in columns.
    digits: usize,
}

impl DiffLineMap {
    /// Computes the line numbers from the hunks of a diff. Of a diff of one file, which it may not name, `only_file` is the
    /// name; without a hunk it has no numbers.
    pub fn new(patch: &UnifiedDiff, only_file: Option<&str>) -> Self {
        let mut map = Self {
            only_file: only_file.map(str::to_owned),
            partners: pair_changed_lines(patch),
            ..Self::default()
        };
        map.number_lines(patch);
        map.find_long_strings(patch);
        if only_file.is_some() {
            let is_hunk = |line: &DiffLine| parse_hunk_start(&line.text).is_some();
            if !patch.lines.iter().any(is_hunk) {
                map.numbers.fill((None, None));
            }
            let numbers = || map.numbers.iter();
            map.has_one_side =
                numbers().all(|(old, _)| old.is_none()) || numbers().all(|(_, new)| new.is_none());
        }
        let numbers = map.numbers.iter().flat_map(|(old, new)| [*old, *new]);
        map.digits = numbers.flatten().max().map_or(0, |n| n.to_string().len());
        map
    }

    fn number_lines(&mut self, patch: &UnifiedDiff) {
        let (mut before, mut after) = (0, 0);
        let mut file = None;
        let starts = patch.files.iter().map(|file| file.first_line);
        let mut files = starts.enumerate().peekable();
        for (at, line) in patch.lines.iter().enumerate() {
            if let Some((n, _)) = files.next_if(|(_, from)| *from == at) {
                file = Some(n);
            }
            let numbers = match line.kind {
                DiffLineKind::Hunk => {
                    (before, after) = parse_hunk_start(&line.text).unwrap_or((before, after));
                    (None, None)
                }
                DiffLineKind::Added => (None, Some(take_number(&mut after))),
                DiffLineKind::Removed => (Some(take_number(&mut before)), None),
                DiffLineKind::Context => (
                    Some(take_number(&mut before)),
                    Some(take_number(&mut after)),
                ),
                DiffLineKind::File | DiffLineKind::Note => (None, None),
            };
            self.numbers.push(numbers);
            self.files.push(file);
        }
    }
}

/// In a longer diff, strings over several lines are highlighted line by line.
const MAX_LINES_WITH_STRINGS: usize = 5_000;

impl DiffLineMap {
    /// Finds the lines that share a string with other lines; one that does not end within its hunk is none.
    fn find_long_strings(&mut self, patch: &UnifiedDiff) {
        self.code_ranges = vec![None; patch.lines.len()];
        if patch.lines.len() > MAX_LINES_WITH_STRINGS {
            return;
        }
        for side in [DiffLineKind::Removed, DiffLineKind::Added] {
            let mut open: Option<OpenString> = None;
            for (at, line) in patch.lines.iter().enumerate() {
                if matches!(line.kind, DiffLineKind::Hunk | DiffLineKind::File) {
                    open = None;
                }
                if line.kind != DiffLineKind::Context && line.kind != side {
                    continue;
                }
                let text = line.text.get(1..).unwrap_or_default();
                let mut from = 0;
                if let Some(mut string) = open.take() {
                    let Some(end) = find_quote(text, string.quote) else {
                        string.lines.push((at, text.len()..text.len()));
                        open = Some(string);
                        continue;
                    };
                    // If the line's own quotes are paired, the earlier one opened no string, such as an apostrophe.
                    let unpaired = self.language(patch, at).find_open_quote(text);
                    if unpaired.is_some_and(|(_, quote)| quote == string.quote) {
                        from = end;
                        string.lines.push((at, end..text.len()));
                        for (line, code) in string.lines {
                            self.narrow_code(line, code);
                        }
                    }
                }
                let rest = text.get(from..).unwrap_or_default();
                let quote = self.language(patch, at).find_open_quote(rest);
                open = quote.map(|(place, quote)| OpenString {
                    quote,
                    lines: vec![(at, from..from + place)],
                });
            }
        }
    }

    /// Notes what of a line is outside of strings; a line may end one string and begin another.
    fn narrow_code(&mut self, line: usize, code: Range<usize>) {
        if let Some(known) = self.code_ranges.get_mut(line) {
            let before = known.take().unwrap_or(0..usize::MAX);
            let end = before.end.min(code.end);
            *known = Some(before.start.max(code.start).min(end)..end);
        }
    }
}

/// A string that its line leaves open.
struct OpenString {
    quote: char,
    /// The lines since it was opened, each with the bytes that are outside of it.
    lines: Vec<(usize, Range<usize>)>,
}

fn take_number(n: &mut usize) -> usize {
    let taken = *n;
    *n += 1;
    taken
}

/// Parses the first line numbers of a hunk header such as `@@ -1,2 +3,4 @@`, before and after, from 1.
pub fn parse_hunk_start(text: &str) -> Option<(usize, usize)> {
    let rest = text.strip_prefix("@@ -")?;
    let (before, rest) = rest.split_once(" +")?;
    let (after, _) = rest.split_once(" @@")?;
    let first = |range: &str| range.split(',').next()?.parse().ok();
    Some((first(before)?, first(after)?))
}

/// Pairs each run of removed lines with the run of added lines right after it, line by line.
fn pair_changed_lines(patch: &UnifiedDiff) -> Vec<Option<usize>> {
    let mut partners = vec![None; patch.lines.len()];
    let kind = |at: usize| patch.lines.get(at).map(|line| line.kind);
    let run =
        |from: usize, of: DiffLineKind| (from..).take_while(|at| kind(*at) == Some(of)).count();
    let mut at = 0;
    while at < patch.lines.len() {
        let n_gone = run(at, DiffLineKind::Removed);
        let n_came = run(at + n_gone, DiffLineKind::Added);
        for n in 0..n_gone.min(n_came) {
            let (gone, came) = (at + n, at + n_gone + n);
            for (one, other) in [(gone, came), (came, gone)] {
                if let Some(partner) = partners.get_mut(one) {
                    *partner = Some(other);
                }
            }
        }
        at += (n_gone + n_came).max(1);
    }
    partners
}

impl DiffLineMap {
    /// Lays out line `n` of a diff as rows.
    pub fn line_rows(&self, patch: &UnifiedDiff, n: usize, columns: usize) -> Vec<Line<'static>> {
        let Some(line) = patch.lines.get(n) else {
            return Vec::new();
        };
        match self.diff_row(patch, n) {
            Some(row) => row.lay_out(self.layout(columns, self.fitting_numbers())),
            None if line.kind == DiffLineKind::Hunk => {
                vec![hunk_line(&line.text, self.language(patch, n), columns)]
            }
            None => {
                let style = match line.kind {
                    DiffLineKind::File => theme::STRONG,
                    _ => theme::QUIET,
                };
                wrap_parts(&[(format!(" {}", line.text), style)], "", columns, 1)
            }
        }
    }

    /// Lays out line `n` of a diff as rows with the old text at the left and the new one at the right. A line that stands
    /// beside the one that it replaces has no rows of its own.
    pub fn row_pairs(&self, patch: &UnifiedDiff, n: usize, columns: usize) -> Vec<Line<'static>> {
        let Some(row) = self.diff_row(patch, n) else {
            return self.line_rows(patch, n, columns);
        };
        let partner = self.partners.get(n).copied().flatten();
        let partner = partner.and_then(|at| self.diff_row(patch, at));
        let (old, new) = match (row.change, partner) {
            (RowChange::Added, Some(_)) => return Vec::new(),
            (RowChange::Added, None) => (None, Some(row)),
            (RowChange::Removed, partner) => (Some(row), partner),
            (RowChange::Same, _) => (Some(row.clone()), Some(row)),
        };
        let each = columns.saturating_sub(1) / 2;
        let layout = self.layout(each, ShownNumbers::One);
        let cell = |row: Option<DiffRow<'_>>, is_old: bool| {
            let rows = row.map(|row| {
                let (old, new) = row.numbers;
                let numbers = if is_old { (old, None) } else { (None, new) };
                DiffRow { numbers, ..row }.lay_out(layout)
            });
            rows.unwrap_or_default()
        };
        let mut lines = Vec::new();
        let separator = Span::styled("│", theme::EDGE);
        let cells = [cell(old, true), cell(new, false)];
        text_comparison::push_column_lines(&mut lines, cells, each, &separator);
        lines
    }

    fn fitting_numbers(&self) -> ShownNumbers {
        if self.has_one_side {
            ShownNumbers::FittingOne
        } else {
            ShownNumbers::Fitting
        }
    }

    fn layout(&self, columns: usize, shown_numbers: ShownNumbers) -> RowLayout {
        RowLayout {
            columns,
            digits: self.digits,
            shown_numbers,
            wrapping: RowWrapping::Exact,
        }
    }

    /// Returns line `n` as a row, if it is a line of a file.
    fn diff_row<'a>(&self, patch: &'a UnifiedDiff, n: usize) -> Option<DiffRow<'a>> {
        let line = patch.lines.get(n)?;
        let change = row_change(line.kind)?;
        let partner = self.partners.get(n).copied().flatten();
        let partner = partner.and_then(|at| patch.lines.get(at));
        Some(DiffRow {
            change,
            numbers: self.numbers.get(n).copied().unwrap_or_default(),
            text: line.text.get(1..).unwrap_or_default(),
            other: partner.and_then(|line| line.text.get(1..)),
            language: self.language(patch, n),
            code: self.code_ranges.get(n).cloned().flatten(),
        })
    }

    /// Returns the language of the file of line `n`.
    fn language(&self, patch: &UnifiedDiff, n: usize) -> HighlightLanguage {
        let file = self.files.get(n).copied().flatten();
        let file = file.and_then(|n| patch.files.get(n)).map(|file| &file.name);
        let name = self.only_file.as_ref().or(file);
        name.map_or(HighlightLanguage::Prose, |name| {
            HighlightLanguage::from_file_name(name)
        })
    }

    /// Returns the line whose rows show line `n` side by side.
    pub fn row_owner(&self, patch: &UnifiedDiff, n: usize) -> usize {
        let is_added = patch.lines.get(n).map(|line| line.kind) == Some(DiffLineKind::Added);
        let partner = self.partners.get(n).copied().flatten();
        partner.filter(|_| is_added).unwrap_or(n)
    }
}

/// Returns what happened to a line of a file.
fn row_change(kind: DiffLineKind) -> Option<RowChange> {
    match kind {
        DiffLineKind::Added => Some(RowChange::Added),
        DiffLineKind::Removed => Some(RowChange::Removed),
        DiffLineKind::Context => Some(RowChange::Same),
        DiffLineKind::File | DiffLineKind::Hunk | DiffLineKind::Note => None,
    }
}

/// Says where a hunk starts and, in code, in what: in a text git names the line above instead.
pub fn hunk_label(text: &str, language: HighlightLanguage) -> String {
    let place = parse_hunk_start(text).map(|(_, after)| after.max(1));
    let about = text
        .split_once("@@ -")
        .and_then(|(_, rest)| rest.split_once("@@"))
        .filter(|(_, about)| language != HighlightLanguage::Prose && names_definition(about));
    match (place, about.map_or("", |(_, about)| trim_body_start(about))) {
        (Some(n), "") => format!("⋯ line {n}"),
        (Some(n), about) => format!("⋯ line {n} · {about}"),
        (None, _) => text.to_owned(),
    }
}

/// Returns whether git names a definition that the hunk lies in: of some languages it takes any line that is not indented.
fn names_definition(about: &str) -> bool {
    const WORDS: [&str; 22] = [
        "fn",
        "def",
        "func",
        "function",
        "sub",
        "class",
        "struct",
        "enum",
        "impl",
        "trait",
        "mod",
        "module",
        "interface",
        "namespace",
        "type",
        "union",
        "record",
        "object",
        "protocol",
        "extension",
        "package",
        "proc",
    ];
    about.contains('(') || about.split_whitespace().any(|word| WORDS.contains(&word))
}

/// Returns the beginning of a function without the bracket that opens its body.
fn trim_body_start(about: &str) -> &str {
    let about = about.trim();
    let ends = [" (", " {"].into_iter();
    let cut = ends.filter_map(|end| about.strip_suffix(end)).next();
    cut.unwrap_or(about).trim_end()
}

fn hunk_line(text: &str, language: HighlightLanguage, columns: usize) -> Line<'static> {
    let text = hunk_label(text, language);
    let row = Line::styled(
        truncate_to_columns(&format!(" {text}"), columns),
        theme::QUIET,
    );
    fill_row(row, columns, Surface::Panel.style())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_over_several_lines_is_one_in_each_of_them() {
        let text = "diff --git a/x.sh b/x.sh\n@@ -1,2 +1,4 @@\n check \"2 a\n+2 dog\n-2 cat\n 2 saw\" \"$(sh a)\"\n+echo \"open\n";
        let code = |name: &str| {
            let patch = UnifiedDiff::parse(&text.replace("x.sh", name));
            DiffLineMap::new(&patch, None).code_ranges
        };
        let (opens, inside, ends) = (Some(0..6), Some(5..5), Some(6..16));
        let found = code("x.sh");
        assert_eq!(
            found,
            [None, None, opens, inside.clone(), inside, ends, None]
        );
        assert_eq!(code("x.c"), [const { None }; 7]);
        let text = "diff --git a/x.py b/x.py\n@@ -1,2 +1,2 @@\n don't\n y = 'a'\n";
        let patch = UnifiedDiff::parse(text);
        let map = DiffLineMap::new(&patch, None);
        assert_eq!(
            map.code_ranges,
            [const { None }; 4],
            "an apostrophe opens no string"
        );
    }

    #[test]
    fn each_line_has_its_numbers_and_what_differs_is_marked() {
        let text = "diff --git a/x.rs b/x.rs\n@@ -7,3 +9,3 @@ fn it()\n let a = 1;\n-let b = two;\n+let b = three;\n let c;\n";
        let patch = UnifiedDiff::parse(text);
        let places = DiffLineMap::new(&patch, None);
        let all = |columns: usize, is_beside: bool| {
            let rows = (1..patch.lines.len()).flat_map(|n| {
                if is_beside {
                    places.row_pairs(&patch, n, columns)
                } else {
                    places.line_rows(&patch, n, columns)
                }
            });
            rows.map(|row| row.to_string().trim_end().to_owned())
                .collect::<Vec<_>>()
                .join("|")
        };
        assert_eq!(
            all(120, false),
            " ⋯ line 9 · fn it()|  7   9   let a = 1;|  8     - let b = two;|     10 + let b = three;|  9  11   let c;"
        );
        assert_eq!(
            all(60, false),
            " ⋯ line 9 · fn it()|  9   let a = 1;|  8 - let b = two;| 10 + let b = three;| 11   let c;"
        );
        assert_eq!(all(29, false).split('|').nth(1), Some("  let a = 1;"));
        let halves = all(61, true);
        let halves: Vec<String> = halves
            .split('|')
            .map(|row| {
                row.split('│')
                    .map(str::trim_end)
                    .collect::<Vec<_>>()
                    .join("/")
            })
            .collect();
        assert_eq!(
            halves,
            [
                " ⋯ line 9 · fn it()",
                "  7   let a = 1;/  9   let a = 1;",
                "  8 - let b = two;/ 10 + let b = three;",
                "  9   let c;/ 11   let c;"
            ]
        );
        assert_eq!(
            (places.row_owner(&patch, 4), places.row_owner(&patch, 3)),
            (3, 3)
        );
    }

    #[test]
    fn a_hunk_names_its_function_in_code_only() {
        for (file, after, label) in [
            ("wordstat.sh", " count() (", "⋯ line 9 · count()"),
            ("calc.rs", " fn it() {", "⋯ line 9 · fn it()"),
            ("calc.py", " def it(a, b):", "⋯ line 9 · def it(a, b):"),
            ("README.md", " Counts the lines", "⋯ line 9"),
            ("notes.txt", " Counts the lines", "⋯ line 9"),
            ("calc.py", "", "⋯ line 9"),
        ] {
            let language = HighlightLanguage::from_file_name(file);
            let text = format!("@@ -7,3 +9,3 @@{after}");
            assert_eq!(hunk_label(&text, language), label, "{file}");
        }
    }
}
