//! Preview of an edit for the approval dialog: files under their repository names, lines with their
//! numbers, no git metadata.
//!
//! Accepts any text. It never drops a line that a change adds or removes and never replaces a path by a different
//! one; unchanged lines are left out only where not all fits, which is said then.

use ratatui::text::{Line, Span};

use crate::text::unified_diff::{DiffLine, DiffLineKind, UnifiedDiff};
use crate::tui::diff_row::{MIN_NUMBER_COLUMNS, fill_row};
use crate::tui::diff_view::{DiffLineMap, count_spans, parse_hunk_start};
use crate::tui::text_wrap::{spans_width, text_width, truncate_to_columns};
use crate::tui::theme::{self, Surface};

/// Where not all of an edit fits and it has fewer rows than that, no line takes more than one.
const MIN_ROWS_FOR_WRAPPING: usize = 12;

/// An edit, file by file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditPreview {
    files: Vec<EditPreviewFile>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct EditPreviewFile {
    name: String,
    diff: UnifiedDiff,
    line_map: DiffLineMap,
    /// Indexes of the lines to show.
    visible: Vec<usize>,
}

impl EditPreview {
    /// Parses the diff of a call, in which each path is on a line of its own with its changes below.
    /// `targets` are the paths as the permission layer names them: relative to the repository for files
    /// inside it.
    pub fn parse(paths: &str, targets: &[String], diff: &str) -> Self {
        let all: Vec<&str> = paths.lines().collect();
        let is_paired = all.len() == targets.len();
        let name = |(n, path)| permission_path(path, targets.get(n).filter(|_| is_paired));
        let mut left: Vec<(usize, &str)> = all.iter().copied().enumerate().collect();
        let mut sections: Vec<(String, Vec<&str>)> = Vec::new();
        for line in diff.lines() {
            // A task's patch uses the permission layer's file names.
            let is_named = |n: usize| is_paired && targets.get(n).is_some_and(|name| name == line);
            let begun = left
                .iter()
                .position(|(n, path)| *path == line || is_named(*n));
            match (begun, sections.last_mut()) {
                (Some(at), _) => sections.push((name(left.remove(at)), Vec::new())),
                (None, Some((_, lines))) => lines.push(line),
                (None, None) => {
                    // The diff starts without a file name, so it cannot be split between the paths.
                    sections.push((all.join(", "), vec![line]));
                    left.clear();
                }
            }
        }
        // For some files the CLI reports no lines.
        sections.extend(left.into_iter().map(|path| (name(path), Vec::new())));
        let files = sections
            .into_iter()
            .map(|(name, lines)| parse_file(name, &lines));
        Self {
            files: files.collect(),
        }
    }

    /// Returns the file names and what happens to each file, on one line.
    pub fn summary(&self) -> String {
        Line::from(self.summary_spans()).to_string()
    }

    /// Returns the summary, with the counts of lines in their colours.
    pub fn summary_spans(&self) -> Vec<Span<'static>> {
        let mut spans = Vec::new();
        for file in &self.files {
            if !spans.is_empty() {
                spans.push(Span::raw(" · "));
            }
            spans.extend(file.summary_spans());
        }
        spans
    }

    /// Lays out the lines with their numbers, each file below its name; stops soon after that many rows. Where they do not
    /// fit, what changes comes first, without the lines before it; where there are few rows, what does not fit is cut after
    /// one row of each line. There are more rows than that then.
    pub fn rows(&self, columns: usize, most: usize) -> Vec<Line<'static>> {
        let rows = self.laid_out_lines(columns, most, LeadingLines::Shown);
        let rows = rows.concat();
        if rows.len() <= most {
            return rows;
        }
        let mut lines = self.laid_out_lines(columns, most, LeadingLines::LeftOut);
        if most < MIN_ROWS_FOR_WRAPPING {
            shorten_to_fit(&mut lines, columns, most);
        }
        let mut rows = lines.concat();
        rows.resize(rows.len().max(most + 1), Line::default());
        rows
    }

    /// Lays out each line in rows of its own; stops soon after so many rows, or lines if some are left out.
    fn laid_out_lines(
        &self,
        columns: usize,
        most: usize,
        leading: LeadingLines,
    ) -> Vec<Vec<Line<'static>>> {
        let panel = Surface::Panel.style();
        let mut lines: Vec<Vec<Line<'static>>> = Vec::new();
        let mut n_rows = 0;
        for file in &self.files {
            if self.files.len() > 1 {
                let head = truncate_to_columns(&format!(" {}", file.summary()), columns);
                let head = Line::styled(head, theme::STRONG);
                lines.push(vec![fill_row(head, columns, panel)]);
                n_rows += 1;
            }
            let mut is_leading = false;
            for at in &file.visible {
                let n_used = match leading {
                    LeadingLines::Shown => n_rows,
                    LeadingLines::LeftOut => lines.len(),
                };
                if n_used > most {
                    return lines;
                }
                let kind = file.diff.lines.get(*at).map(|line| line.kind);
                match kind {
                    Some(DiffLineKind::Hunk) => {
                        is_leading = true;
                        // The numbers beside the first change say where it is.
                        let has_numbers = columns >= MIN_NUMBER_COLUMNS;
                        if leading == LeadingLines::LeftOut && lines.is_empty() && has_numbers {
                            continue;
                        }
                    }
                    Some(DiffLineKind::Added | DiffLineKind::Removed) => is_leading = false,
                    Some(DiffLineKind::Context)
                        if is_leading && leading == LeadingLines::LeftOut =>
                    {
                        continue;
                    }
                    Some(DiffLineKind::Context | DiffLineKind::File | DiffLineKind::Note)
                    | None => {}
                }
                let rows = file.line_map.line_rows(&file.diff, *at, columns);
                n_rows += rows.len();
                let rows = rows.into_iter().map(|row| fill_row(row, columns, panel));
                lines.push(rows.collect());
            }
        }
        lines
    }

    /// Returns the whole edit as a diff without line numbers.
    pub fn to_diff(&self) -> String {
        let of_file = |file: &EditPreviewFile| {
            let lines = file.visible_lines().map(|line| match line.kind {
                DiffLineKind::Hunk => hunk_label(&line.text),
                _ => line.text.clone(),
            });
            let lines: Vec<String> = std::iter::once(file.summary()).chain(lines).collect();
            lines.join("\n")
        };
        let files: Vec<String> = self.files.iter().map(of_file).collect();
        files.join("\n\n")
    }
}

/// Cuts lines after their first row; the first ones are whole where that leaves a row for each of the others.
fn shorten_to_fit(lines: &mut [Vec<Line<'static>>], columns: usize, most: usize) {
    let mut n_left = most.saturating_sub(lines.len());
    for rows in lines {
        let n_more = rows.len().saturating_sub(1);
        if n_more <= n_left {
            n_left -= n_more;
        } else {
            shorten_to_one_row(rows, columns);
        }
    }
}

/// Cuts a line of the diff after its first row, with a sign behind its last word.
fn shorten_to_one_row(rows: &mut Vec<Line<'static>>, columns: usize) {
    rows.truncate(1);
    let Some(row) = rows.first_mut() else {
        return;
    };
    // Without the blanks that fill the row.
    let is_text = |span: &Span<'_>| !span.content.trim().is_empty();
    row.spans
        .truncate(row.spans.iter().rposition(is_text).map_or(0, |at| at + 1));
    let Some(last) = row.spans.pop() else {
        return;
    };
    let room = columns.saturating_sub(spans_width(&row.spans));
    let text = truncate_to_columns(&format!("{}…", last.content.trim_end()), room);
    let blanks = " ".repeat(room.saturating_sub(text_width(&text)));
    row.push_span(Span::styled(format!("{text}{blanks}"), last.style));
}

/// Whether the unchanged lines before the first change of a hunk are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeadingLines {
    Shown,
    LeftOut,
}

/// Returns the permission layer's name of a path if the path ends with it, else the path itself.
fn permission_path(path: &str, target: Option<&String>) -> String {
    let is_same = |target: &&String| {
        let before = path.strip_suffix(target.as_str());
        !target.is_empty()
            && before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    target
        .filter(is_same)
        .map_or(path, String::as_str)
        .to_owned()
}

fn parse_file(name: String, lines: &[&str]) -> EditPreviewFile {
    let patch = UnifiedDiff::parse_exact(&lines.join("\n"));
    let is_of_git = lines
        .first()
        .is_some_and(|line| line.starts_with("diff --git "));
    let first_hunk = patch
        .lines
        .iter()
        .position(|line| line.kind == DiffLineKind::Hunk);
    let is_new =
        |line: &DiffLine| line.kind == DiffLineKind::Hunk && line.text.starts_with("@@ -0,0 ");
    let says = |at: usize, line: &DiffLine| {
        let is_plumbing = is_of_git && line.kind == DiffLineKind::File;
        let is_head = is_plumbing && first_hunk.is_none_or(|first| at < first);
        !is_head && !is_new(line)
    };
    let lines = patch.lines.iter().enumerate();
    let says = lines.filter(|(at, line)| says(*at, line)).map(|(at, _)| at);
    EditPreviewFile {
        line_map: DiffLineMap::new(&patch, Some(&name)),
        name,
        visible: says.collect(),
        diff: patch,
    }
}

impl EditPreviewFile {
    fn visible_lines(&self) -> impl Iterator<Item = &DiffLine> {
        self.visible
            .iter()
            .filter_map(|at| self.diff.lines.get(*at))
    }

    fn summary(&self) -> String {
        Line::from(self.summary_spans()).to_string()
    }

    /// Returns the file name and what happens to the file.
    fn summary_spans(&self) -> Vec<Span<'static>> {
        let n = |kind| {
            self.diff
                .lines
                .iter()
                .filter(|line| line.kind == kind)
                .count()
        };
        let of_git = self.diff.files.first();
        let about = of_git.map_or("", |file| file.notes.as_str());
        let is_new = self
            .diff
            .lines
            .iter()
            .any(|line| line.text.starts_with("@@ -0,0 "));
        let about = match about {
            // The previous content is unknown, so this cannot say "new file".
            "" if is_new => "rewritten",
            about => about,
        };
        let moved = of_git.and_then(|file| file.moved_from.as_deref());
        let moved = moved.map_or(String::new(), |from| format!("moved from {from}"));
        let parts = [self.name.as_str(), &moved, about];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let mut spans = vec![Span::raw(parts.join("  "))];
        if !self.diff.lines.is_empty() {
            let (added, removed) = (n(DiffLineKind::Added), n(DiffLineKind::Removed));
            let counts = count_spans(added, removed);
            spans.extend((!counts.is_empty()).then(|| Span::raw(" ")));
            spans.extend(counts);
        }
        spans
    }
}

/// Describes where a hunk starts.
fn hunk_label(text: &str) -> String {
    parse_hunk_start(text).map_or_else(|| text.to_owned(), |(_, after)| format!("⋯ line {after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(paths: &str, targets: &[&str], diff: &str, wanted: &[&str]) {
        let targets: Vec<String> = targets.iter().map(|one| (*one).to_owned()).collect();
        let shown = EditPreview::parse(paths, &targets, diff);
        let mut seen = vec![shown.summary()];
        let rows = shown.rows(60, usize::MAX).into_iter();
        seen.extend(rows.map(|row| row.to_string().trim_end().to_owned()));
        assert_eq!(seen, wanted);
    }

    #[test]
    fn where_not_all_fits_what_changes_comes_first() {
        let diff = "/repo/a.sh\ndiff --git a/a.sh b/a.sh\n@@ -7,4 +7,4 @@\n set -f\n lines=0\n-old\n+new\n done\n";
        let edit = EditPreview::parse("/repo/a.sh", &["a.sh".to_owned()], diff);
        let seen = |most: usize| -> Vec<String> {
            let rows = edit.rows(40, most).into_iter();
            rows.map(|row| row.to_string().trim_end().to_owned())
                .collect()
        };
        let whole = seen(usize::MAX);
        assert!(whole.iter().any(|row| row.ends_with("set -f")), "{whole:?}");
        let short = seen(3);
        assert!(short.len() > 3, "{short:?}");
        let shown = short[..3].join("|");
        assert!(shown.contains("old") && shown.contains("new"), "{shown}");
    }

    #[test]
    fn a_new_file_is_its_name_and_its_lines() {
        check(
            "/repo/NOTES.md",
            &["NOTES.md"],
            "/repo/NOTES.md\ndiff --git a/NOTES.md b/NOTES.md\nnew file mode 100755\nindex 0..1\n--- \
            /dev/null\n+++ b/NOTES.md\n@@ -0,0 +1,2 @@\n+# Notes\n+--- a rule\n",
            &[
                "NOTES.md  new, executable  +2",
                "  1 + # Notes",
                "  2 + --- a rule",
            ],
        );
    }

    #[test]
    fn lines_stand_at_their_numbers_and_each_file_below_its_name() {
        check(
            "/r/a.c\n/r/b.c",
            &["a.c", "b.c"],
            "/r/a.c\n@@ -9,2 +9,3 @@ fn x\n same\n-old\n+new\n+more\n/r/b.c\n-x\n+y\n",
            &[
                "a.c  +2 −1 · b.c  +1 −1",
                " a.c  +2 −1",
                " ⋯ line 9 · fn x",
                "  9   same",
                " 10 - old",
                " 10 + new",
                " 11 + more",
                " b.c  +1 −1",
                "- x",
                "+ y",
            ],
        );
    }

    #[test]
    fn a_path_is_shortened_only_where_the_permission_names_the_same_one() {
        check("/etc/x", &["y/x"], "/etc/x\n+a\n", &["/etc/x  +1", "+ a"]);
        check("/etc/ax", &["x"], "/etc/ax\n+a\n", &["/etc/ax  +1", "+ a"]);
        check(
            "/r/x\n/etc/x",
            &["x"],
            "/etc/x\n+a\n",
            &["/etc/x  +1 · /r/x", " /etc/x  +1", "+ a", " /r/x"],
        );
        check("/r/x", &["x"], "no path\n", &["/r/x", " no path"]);
    }

    proptest::proptest! {
        #[test]
        fn no_line_that_would_be_written_is_left_out(diff in "(p\n|diff --git a/x b/x\n|@@ -[0-9],1 \
        \\+1,[0-9] @@\n|[-+ \\\\x界]{0,6}\n|\\+\\+\\+ b/y\n){0,12}") {
            let shown = EditPreview::parse("p", &[], &format!("p\n{diff}"));
            let rows = shown.rows(200, usize::MAX).into_iter();
            let lines: Vec<String> = rows.map(|row| row.to_string().trim_end().to_owned()).collect();
            let is_written = |line: &&DiffLine| matches!(line.kind, DiffLineKind::Added | DiffLineKind::Removed);
            for file in &shown.files {
                for line in file.diff.lines.iter().filter(is_written) {
                    let rest: String = line.text.chars().skip(1).collect();
                    proptest::prop_assert!(lines.iter().any(|seen| seen.ends_with(rest.trim_end())));
                }
            }
        }
    }
}
