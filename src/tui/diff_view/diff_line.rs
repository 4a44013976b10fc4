//! Lays out one line of a diff: its numbers, its sign, and the parts that differ from the line it replaces.
//!
//! A line wraps only where the window ends, so that the view shows exactly what the file contains.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use crate::text::unified_diff::{DiffLine, DiffLineKind, UnifiedDiff};
use crate::tui::markdown::HighlightLanguage;
use crate::tui::text_comparison::{self, diff_words};
use crate::tui::text_wrap::{text_width, truncate_to_columns};
use crate::tui::theme;

/// How many characters of a line are shown; a mark says that the rest is cut.
const MAX_LINE_CHARS: usize = 4_000;
const TAB_WIDTH: usize = 4;
/// Marks the continuation rows of a wrapped line.
const CONTINUATION_SIGN: &str = "↪ ";
/// From this width on, a line shows both its numbers.
const MIN_BOTH_NUMBERS_COLUMNS: usize = 100;
/// Below this width, a line shows no number.
const MIN_NUMBER_COLUMNS: usize = 30;

/// Line numbers of a diff's lines, and which line replaces which.
#[derive(Debug, Default)]
pub struct DiffLineMap {
    /// The numbers of each line before and after the change, from 1.
    numbers: Vec<(Option<usize>, Option<usize>)>,
    /// For each line, the line that it replaces or that replaces it.
    partners: Vec<Option<usize>>,
    /// For each line, the index of its file.
    files: Vec<Option<usize>>,
    /// Width of the largest line number, in columns.
    digits: usize,
}

impl DiffLineMap {
    /// Computes the line numbers from the hunks of a diff.
    pub fn from_diff(patch: &UnifiedDiff) -> Self {
        let mut places = Self::default();
        let (mut before, mut after) = (0, 0);
        let mut file = None;
        let mut files = patch
            .files
            .iter()
            .map(|file| file.first_line)
            .enumerate()
            .peekable();
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
            places.numbers.push(numbers);
            places.files.push(file);
        }
        let highest = places.numbers.iter().flat_map(|(old, new)| [*old, *new]);
        let highest = highest.flatten().max().unwrap_or(0);
        places.digits = highest.to_string().len();
        places.partners = pair_changed_lines(patch);
        places
    }
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

fn line_style(kind: DiffLineKind) -> Style {
    match kind {
        DiffLineKind::File => theme::STRONG,
        DiffLineKind::Hunk | DiffLineKind::Note => theme::QUIET,
        DiffLineKind::Added => theme::GOOD,
        DiffLineKind::Removed => theme::BAD,
        DiffLineKind::Context => theme::PLAIN,
    }
}

/// Lays out line `n` of a diff as rows.
pub fn line_rows(
    patch: &UnifiedDiff,
    places: &DiffLineMap,
    n: usize,
    columns: usize,
) -> Vec<Line<'static>> {
    let Some(line) = patch.lines.get(n) else {
        return Vec::new();
    };
    if line.kind == DiffLineKind::Hunk {
        return vec![hunk_line(&line.text, columns)];
    }
    let numbers = places.numbers.get(n).copied().unwrap_or_default();
    let gutter = gutter_text(line.kind, numbers.0, numbers.1, places.digits, columns);
    let partner = places.partners.get(n).copied().flatten();
    let partner = partner.and_then(|at| patch.lines.get(at));
    let file = places.files.get(n).copied().flatten();
    let name = file
        .and_then(|n| patch.files.get(n))
        .map(|file| file.name.as_str());
    wrap_parts(&styled_parts(line, partner, name), &gutter, columns)
}

/// Renders where a hunk starts.
fn hunk_line(text: &str, columns: usize) -> Line<'static> {
    let place = parse_hunk_start(text).map(|(_, after)| after.max(1));
    let about = text
        .split_once("@@ -")
        .and_then(|(_, rest)| rest.split_once("@@"));
    let about = about.map_or("", |(_, about)| about.trim());
    let text = match (place, about) {
        (Some(n), "") => format!("⋯ line {n}"),
        (Some(n), about) => format!("⋯ line {n} · {about}"),
        (None, _) => text.to_owned(),
    };
    Line::styled(truncate_to_columns(&text, columns), theme::QUIET)
}

fn gutter_text(
    kind: DiffLineKind,
    old: Option<usize>,
    new: Option<usize>,
    digits: usize,
    columns: usize,
) -> String {
    if matches!(kind, DiffLineKind::File | DiffLineKind::Hunk) || columns < MIN_NUMBER_COLUMNS {
        return String::new();
    }
    let word = |n: Option<usize>| n.map_or(String::new(), |n| n.to_string());
    if columns < MIN_BOTH_NUMBERS_COLUMNS {
        format!("{:>digits$} ", word(new.or(old)))
    } else {
        format!("{:>digits$} {:>digits$} ", word(old), word(new))
    }
}

/// Splits a line into parts of one style each; the sign is a part of its own.
fn styled_parts(
    line: &DiffLine,
    partner: Option<&DiffLine>,
    name: Option<&str>,
) -> Vec<(String, Style)> {
    let style = line_style(line.kind);
    let whole = || vec![(line.text.clone(), style)];
    let mut chars = line.text.chars();
    let Some(sign) = chars.next().filter(|_| {
        matches!(
            line.kind,
            DiffLineKind::Added | DiffLineKind::Removed | DiffLineKind::Context
        )
    }) else {
        return whole();
    };
    let text = chars.as_str();
    let mut parts = vec![(sign.to_string(), style)];
    if line.kind == DiffLineKind::Context {
        let extension = name.and_then(|name| name.rsplit_once('.'));
        let language =
            HighlightLanguage::from_info(extension.map_or("txt", |(_, extension)| extension));
        let language = match language {
            HighlightLanguage::Unknown => HighlightLanguage::Prose,
            known => known,
        };
        let spans = language.highlight_line(text, style).into_iter();
        parts.extend(spans.map(|span| (span.content.into_owned(), span.style)));
        return parts;
    }
    let other = partner.and_then(|partner| partner.text.get(1..));
    let differing = other.and_then(|other| match line.kind {
        DiffLineKind::Added => diff_words(other, text).map(|(_, new)| new),
        _ => diff_words(text, other).map(|(old, _)| old),
    });
    match differing {
        Some(differing) => {
            let spans = text_comparison::highlight_changes(&differing, style).into_iter();
            parts.extend(spans.map(|span| (span.content.into_owned(), span.style)));
        }
        None => parts.push((text.to_owned(), style)),
    }
    parts
}

#[derive(Default)]
struct WrappedRow {
    spans: Vec<Span<'static>>,
    columns_used: usize,
}

impl WrappedRow {
    fn push_text(&mut self, text: &str, style: Style) {
        match self.spans.last_mut().filter(|span| span.style == style) {
            Some(span) => span.content.to_mut().push_str(text),
            None => self.spans.push(Span::styled(text.to_owned(), style)),
        }
    }
}

fn wrap_parts(parts: &[(String, Style)], gutter: &str, columns: usize) -> Vec<Line<'static>> {
    let begin = |n: usize| {
        let mut row = WrappedRow::default();
        let lead = if n > 0 && columns > 8 {
            CONTINUATION_SIGN
        } else {
            ""
        };
        let gutter = match n {
            0 => gutter.to_owned(),
            _ => " ".repeat(text_width(gutter)),
        };
        row.columns_used = text_width(&gutter) + text_width(lead);
        if !gutter.is_empty() {
            row.push_text(&gutter, theme::QUIET);
        }
        if !lead.is_empty() {
            row.push_text(lead, theme::QUIET);
        }
        row
    };
    let graphemes = || {
        let of = |(text, style): &'_ (String, Style)| {
            let style = *style;
            let all: Vec<(String, Style)> = text
                .graphemes(true)
                .map(|grapheme| (grapheme.to_owned(), style))
                .collect();
            all
        };
        parts.iter().flat_map(of)
    };
    let mut rows: Vec<Line<'static>> = Vec::new();
    let mut row = begin(0);
    let mut is_empty = true;
    // The sign has a column of its own, so tab stops count from the text.
    let mut column = 0;
    for (n, (grapheme, style)) in graphemes().enumerate() {
        if n >= MAX_LINE_CHARS {
            row.push_text("…", style);
            let left = graphemes().count() - n;
            rows.push(Line::from(
                std::mem::replace(&mut row, begin(rows.len() + 1)).spans,
            ));
            row.push_text(&format!("[{left} more characters in this line]"), style);
            break;
        }
        let grapheme = match grapheme.as_str() {
            "\t" => " ".repeat(TAB_WIDTH - column % TAB_WIDTH),
            _ => grapheme,
        };
        let wide = text_width(&grapheme);
        if row.columns_used + wide > columns && !is_empty {
            rows.push(Line::from(
                std::mem::replace(&mut row, begin(rows.len() + 1)).spans,
            ));
        }
        row.push_text(&grapheme, style);
        row.columns_used += wide;
        is_empty = false;
        column += if n == 0 { 0 } else { wide };
    }
    rows.push(Line::from(row.spans));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, columns: usize, wanted: &str) {
        let rows = wrap_parts(&[(text.to_owned(), theme::GOOD)], "", columns);
        let rows: Vec<String> = rows.iter().map(ToString::to_string).collect();
        assert_eq!(rows.join("|"), wanted);
    }

    #[test]
    fn a_line_keeps_its_blanks_and_goes_on_in_the_next_row() {
        check("+\ta  b", 20, "+    a  b");
        check("+x\ty", 20, "+x   y");
        check("+0123456789", 10, "+012345678|↪ 9");
        check("+求和求和求", 10, "+求和求和|↪ 求");
        check("", 10, "");
    }

    #[test]
    fn a_line_without_end_is_cut_and_says_so() {
        let text = "x".repeat(MAX_LINE_CHARS + 7);
        let rows = wrap_parts(&[(text, theme::GOOD)], "", 100);
        assert_eq!(rows.len(), 42);
        assert_eq!(rows[41].to_string(), "↪ [7 more characters in this line]");
    }

    #[test]
    fn each_line_has_its_numbers_and_what_differs_is_marked() {
        let text = "diff --git a/x.rs b/x.rs\n@@ -7,3 +9,3 @@ fn it()\n let a = 1;\n-let b = two;\n+let b = three;\n let c;\n";
        let patch = UnifiedDiff::parse(text);
        let places = DiffLineMap::from_diff(&patch);
        let all = |columns: usize| {
            let rows = (1..patch.lines.len()).flat_map(|n| line_rows(&patch, &places, n, columns));
            rows.map(|row| row.to_string())
                .collect::<Vec<_>>()
                .join("|")
        };
        assert_eq!(
            all(120),
            "⋯ line 9 · fn it()| 7  9  let a = 1;| 8    -let b = two;|   10 +let b = three;| 9 11  let c;"
        );
        assert_eq!(
            all(60),
            "⋯ line 9 · fn it()| 9  let a = 1;| 8 -let b = two;|10 +let b = three;|11  let c;"
        );
        assert_eq!(all(20).split('|').nth(1), Some(" let a = 1;"));
        let came = line_rows(&patch, &places, 4, 60);
        let marked = came[0].spans.iter().filter(|span| {
            span.style
                .add_modifier
                .contains(ratatui::style::Modifier::REVERSED)
        });
        let marked: Vec<&str> = marked.map(|span| span.content.as_ref()).collect();
        assert_eq!(marked, ["three"]);
    }
}
