//! Markdown as a person reads it in a terminal: headings, lists, emphasis, links, code and tables get a form.
//!
//! Works line by line, so that a text that still grows is never laid out twice; only a table waits for its
//! end. Refuses to know what a document is for.

mod code;
mod inline;
mod table;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::theme;
use super::wrap::wrap;
pub use code::Language;
pub use inline::inline;

/// What carries over from line to line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Markdown {
    /// The fence that is open.
    fence: Option<Fence>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Fence {
    marks: String,
    language: Language,
}

impl Markdown {
    /// Tells whether the next line stands in a fenced block.
    pub fn is_in_fence(&self) -> bool {
        self.fence.is_some()
    }

    /// Lays out one drawable line.
    pub fn line(&mut self, line: &str, columns: usize, base: Style) -> Vec<Line<'static>> {
        let trimmed = line.trim_start();
        let marks: String = trimmed
            .chars()
            .take_while(|c| matches!(c, '`' | '~'))
            .collect();
        if let Some(open) = &self.fence {
            let n_marks = open.marks.len();
            if marks.len() >= n_marks
                && trimmed.trim_end() == marks
                && marks.starts_with(&open.marks)
            {
                self.fence = None;
                return vec![Line::styled("└", theme::QUIET)];
            }
            let mut spans = vec![Span::styled("│ ", theme::QUIET)];
            spans.extend(open.language.spans(line, base));
            let lead = line.len() - trimmed.len();
            return barred(wrap(&spans, columns, lead + 2));
        }
        if marks.len() >= 3 {
            let info = trimmed.trim_start_matches(['`', '~']).trim();
            self.fence = Some(Fence {
                marks,
                language: Language::named(info),
            });
            let head = format!("┌ {info}");
            return wrap(
                &[Span::styled(head.trim_end().to_owned(), theme::QUIET)],
                columns,
                2,
            );
        }
        plain(line, columns, base)
    }
}

/// Goes on with the bar of a block of code where a line of it was broken.
fn barred(mut lines: Vec<Line<'static>>) -> Vec<Line<'static>> {
    for line in lines.iter_mut().skip(1) {
        let blank = line
            .spans
            .first_mut()
            .filter(|span| span.content.starts_with("  "));
        if let Some(span) = blank {
            let rest = span.content.chars().skip(1);
            *span = Span::styled(
                std::iter::once('│').chain(rest).collect::<String>(),
                theme::QUIET,
            );
        }
    }
    lines
}

/// A line that stands in no block of code.
fn plain(line: &str, columns: usize, base: Style) -> Vec<Line<'static>> {
    let trimmed = line.trim_start();
    let lead = line.len() - trimmed.len();
    if let Some((level, text)) = heading(trimmed) {
        let style = match level {
            1 => theme::STRONG.add_modifier(Modifier::UNDERLINED),
            _ => theme::STRONG,
        };
        return wrap(&inline(text, base.patch(style)), columns, 0);
    }
    if is_rule(trimmed) {
        return vec![Line::styled("─".repeat(columns.min(40)), theme::QUIET)];
    }
    let blank = " ".repeat(lead);
    let (sign, text) = sign(trimmed);
    let mut spans = match sign {
        "" => vec![Span::styled(blank, base)],
        sign => vec![Span::styled(format!("{blank}{sign}"), theme::QUIET)],
    };
    spans.extend(inline(text, base));
    let hangs = match sign {
        "☐ " | "☑ " => lead + 2,
        _ => hanging(line),
    };
    wrap(&spans, columns, hangs)
}

fn heading(trimmed: &str) -> Option<(usize, &str)> {
    let text = trimmed.trim_start_matches('#');
    let level = trimmed.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then(|| (level, text.trim()))
}

fn is_rule(trimmed: &str) -> bool {
    let line = trimmed.trim_end();
    let of = |c: char| line.len() >= 3 && line.chars().all(|other| other == c);
    of('-') || of('*') || of('_')
}

/// The sign of a list or a quotation in the place of its mark, and what follows; both as wide as before.
fn sign(trimmed: &str) -> (&'static str, &str) {
    const SIGNS: [(&str, &str); 7] = [
        // A box says more than a point, and stands in its place.
        ("- [ ] ", "☐ "),
        ("- [x] ", "☑ "),
        ("- [X] ", "☑ "),
        ("- ", "• "),
        ("* ", "• "),
        ("+ ", "• "),
        ("> ", "▎ "),
    ];
    for (mark, sign) in SIGNS {
        if let Some(rest) = trimmed.strip_prefix(mark) {
            return (sign, rest);
        }
    }
    ("", trimmed)
}

fn code_style(base: Style) -> Style {
    base.patch(theme::CODE)
}

/// How far the lines after the first are indented: as the text of the first.
pub fn hanging(line: &str) -> usize {
    let trimmed = line.trim_start();
    line.len() - trimmed.len() + lead(trimmed)
}

/// The width of a list mark, which lines after the first are indented by.
fn lead(trimmed: &str) -> usize {
    let digits = trimmed.len()
        - trimmed
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .len();
    let rest = &trimmed[digits..];
    if digits > 0 && (rest.starts_with(". ") || rest.starts_with(") ")) {
        return digits + 2;
    }
    let is_mark = ["- ", "* ", "+ ", "> "]
        .iter()
        .any(|mark| trimmed.starts_with(mark));
    if is_mark { 2 } else { 0 }
}

/// Lays out a whole drawable text.
pub fn lay_out(text: &str, columns: usize, base: Style) -> Vec<Line<'static>> {
    let mut markdown = Markdown::default();
    let all: Vec<&str> = text.lines().collect();
    let mut rest = all.as_slice();
    let mut lines = Vec::new();
    while let Some((line, after)) = rest.split_first() {
        let n_rows = match markdown.is_in_fence() {
            true => 0,
            false => table::n_rows(rest),
        };
        match rest.split_at_checked(n_rows) {
            Some((rows, after)) if n_rows > 0 => {
                lines.extend(table::lay_out(rows, columns, base));
                rest = after;
            }
            _ => {
                lines.extend(markdown.line(line, columns, base));
                rest = after;
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, columns: usize, wanted: &str) {
        let lines: Vec<String> = lay_out(text, columns, Style::new())
            .iter()
            .map(|line| line.to_string().trim_end().to_owned())
            .collect();
        assert_eq!(lines.join("|"), wanted);
    }

    #[test]
    fn marks_of_inline_code_and_strength_are_read_and_lists_hang() {
        check("a `b c` **d** e", 40, "a b c d e");
        check("a ` b ** c", 40, "a ` b ** c");
        check("1. [ ] one two three", 12, "1. [ ] one|   two three");
        check("- one two\n> 引用", 7, "• one|  two|▎ 引用");
        check("- [ ] one two\n- [x] b", 7, "☐ one|  two|☑ b");
        check(
            "## Head *ing*\n---",
            40,
            "Head ing|────────────────────────────────────────",
        );
        check("#hash -- --- x", 40, "#hash -- --- x");
    }

    #[test]
    fn code_stands_in_a_frame_and_is_shown_as_it_is() {
        check("```sh\n**x**\n```\n**y**", 40, "┌ sh|│ **x**|└|y");
        check("```\n| a |\n|---|\n", 40, "┌|│ | a ||│ |---|");
        check(
            "~~~~rust\n    let x = 1;\n~~~",
            12,
            "┌ rust|│     let x|│     = 1;|│ ~~~",
        );
    }

    #[test]
    fn a_table_is_aligned_and_fits() {
        let table = "| 名称 | n |\n|:--|--:|\n| `sum` | 10 |\n| a very long cell | 2 |\nafter";
        check(
            table,
            40,
            "名称             │  n|─────────────────┼───|sum              │ 10|a very long cell │  2|after",
        );
        check(
            table,
            14,
            "名称      │  n|──────────┼───|sum       │ 10|a very    │  2|long cell │|after",
        );
        check("a | b\nno table", 40, "a | b|no table");
    }
}
