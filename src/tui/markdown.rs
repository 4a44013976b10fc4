//! Markdown as a person reads it in a terminal: its own characters stay, headings, code and emphasis get a style.
//!
//! Works line by line, so that a text that still grows is never laid out twice. Refuses to know what a
//! document is for.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::theme;
use super::wrap::wrap;

/// What carries over from line to line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Markdown {
    /// The fence that is open.
    fence: Option<String>,
}

impl Markdown {
    /// Tells whether the next line stands in a fenced block.
    pub fn is_in_fence(&self) -> bool {
        self.fence.is_some()
    }

    /// Lays out one drawable line.
    pub fn line(&mut self, line: &str, columns: usize, base: Style) -> Vec<Line<'static>> {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        let marks: String = trimmed
            .chars()
            .take_while(|c| matches!(c, '`' | '~'))
            .collect();
        if let Some(open) = &self.fence {
            if marks.len() >= open.len() && trimmed.trim_end() == marks && marks.starts_with(open) {
                self.fence = None;
                return wrap(&[Span::styled(line, theme::QUIET)], columns, indent);
            }
            return wrap(&[Span::styled(line, code(base))], columns, indent);
        }
        if marks.len() >= 3 {
            self.fence = Some(marks);
            return wrap(&[Span::styled(line, theme::QUIET)], columns, indent);
        }
        if trimmed.starts_with('#') {
            return wrap(
                &[Span::styled(line, base.patch(theme::STRONG))],
                columns,
                indent,
            );
        }
        wrap(&inline(line, base), columns, hanging(line))
    }
}

fn code(base: Style) -> Style {
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

/// Styles `code` and **strong** parts; marks without a partner stay plain.
fn inline(line: &str, base: Style) -> Vec<Span<'_>> {
    let mut spans = Vec::new();
    let mut rest = line;
    while let Some((at, mark)) = first_mark(rest) {
        let Some(end) = rest[at + mark.len()..].find(mark).filter(|n| *n > 0) else {
            break;
        };
        let to = at + mark.len() + end + mark.len();
        if at > 0 {
            spans.push(Span::styled(&rest[..at], base));
        }
        let style = match mark {
            "`" => code(base),
            _ => base.add_modifier(Modifier::BOLD),
        };
        let inner = &rest[at + mark.len()..at + mark.len() + end];
        spans.push(Span::styled(inner, style));
        rest = &rest[to..];
    }
    if !rest.is_empty() {
        spans.push(Span::styled(rest, base));
    }
    spans
}

fn first_mark(text: &str) -> Option<(usize, &'static str)> {
    ["`", "**"]
        .into_iter()
        .filter_map(|mark| text.find(mark).map(|at| (at, mark)))
        .min_by_key(|(at, _)| *at)
}

/// Lays out a whole drawable text.
pub fn lay_out(text: &str, columns: usize, base: Style) -> Vec<Line<'static>> {
    let mut markdown = Markdown::default();
    text.lines()
        .flat_map(|line| markdown.line(line, columns, base))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, columns: usize, wanted: &str) {
        let lines: Vec<String> = lay_out(text, columns, Style::new())
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(lines.join("|"), wanted);
    }

    #[test]
    fn marks_of_inline_code_and_strength_are_read_and_lists_hang() {
        check("a `b c` **d** e", 40, "a b c d e");
        check("a ` b ** c", 40, "a ` b ** c");
        check("1. [ ] one two three", 12, "1. [ ] one |   two three");
        check("```sh\n**x**\n```\n**y**", 40, "```sh|**x**|```|y");
    }
}
