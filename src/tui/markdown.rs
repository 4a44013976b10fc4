//! Renders Markdown for the terminal: headings, lists, emphasis, links, code and tables.
//!
//! Works line by line, so that a growing text is never laid out twice. Only a table has to wait
//! for the line that ends it.

mod code_highlight;
mod inline_style;
mod markdown_table;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::diff_row::fill_row;
use super::text_wrap::{text_width, to_one_line, wrap_prose, wrap_spans};
use super::theme::{self, Surface};
pub use code_highlight::{HighlightLanguage, find_quote};
pub use inline_style::{style_code, style_inline};

/// Renders Markdown and keeps the state between lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkdownRenderer {
    fence: Option<OpenCodeFence>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct OpenCodeFence {
    marks: String,
    /// Its indentation, if it is inside a list.
    margin: usize,
    content: FenceContent,
}

/// What stands before each row of a fence.
const CODE_BAR: &str = "│ ";

/// What a fence contains.
#[derive(Debug, Clone, PartialEq, Eq)]
enum FenceContent {
    Code(HighlightLanguage),
    /// A document in Markdown, such as a goal or a plan, which is laid out line by line.
    Document,
    /// Code in a fence of the document, with the marks of that fence.
    CodeInDocument(String),
}

impl FenceContent {
    fn from_info(info: &str) -> Self {
        let name = info.split_whitespace().next().unwrap_or_default();
        let is_document = name.ends_with(".md") || ["md", "markdown"].contains(&name);
        if is_document {
            Self::Document
        } else {
            Self::Code(HighlightLanguage::from_info(info))
        }
    }

    /// Follows the fences inside a document; `marks` are those at the start of the line.
    fn step_over(&mut self, marks: &str, line: &str) {
        let next = match self {
            Self::Document if marks.len() >= 3 => Self::CodeInDocument(marks.to_owned()),
            Self::CodeInDocument(open)
                if marks.starts_with(open.as_str()) && line.trim_end() == marks =>
            {
                Self::Document
            }
            _ => return,
        };
        *self = next;
    }
}

impl MarkdownRenderer {
    /// Returns whether the next line is inside a fenced block.
    pub fn is_in_fence(&self) -> bool {
        self.fence.is_some()
    }

    /// Lays out one line that is safe to draw.
    pub fn lay_out_line(&mut self, line: &str, columns: usize, base: Style) -> Vec<Line<'static>> {
        let trimmed = line.trim_start();
        let marks: String = trimmed
            .chars()
            .take_while(|c| matches!(c, '`' | '~'))
            .collect();
        if let Some(open) = &mut self.fence {
            let n_marks = open.marks.len();
            if marks.len() >= n_marks
                && trimmed.trim_end() == marks
                && marks.starts_with(&open.marks)
            {
                self.fence = None;
                return Vec::new();
            }
            // The indentation of a list is not part of the code.
            let lead = line.len() - trimmed.len();
            let code = line.get(lead.min(open.margin)..).unwrap_or(trimmed);
            let columns = columns.saturating_sub(open.margin);
            let language = match &open.content {
                FenceContent::Code(language) => Some(*language),
                // Code is shown as it is, with its fence.
                FenceContent::CodeInDocument(_) => Some(HighlightLanguage::Prose),
                FenceContent::Document if marks.len() >= 3 => Some(HighlightLanguage::Prose),
                FenceContent::Document => None,
            };
            open.content.step_over(&marks, trimmed);
            let lines = match language {
                Some(language) => {
                    let mut spans = vec![Span::styled(CODE_BAR, theme::QUIET)];
                    spans.extend(language.highlight_line(code, base));
                    let lead = code.len() - code.trim_start().len();
                    continue_code_bar(wrap_spans(&spans, columns, lead + 2))
                }
                None => document_rows(code, columns, base),
            };
            return code_rows(lines, columns, open.margin);
        }
        if marks.len() >= 3 {
            let info = trimmed.trim_start_matches(['`', '~']).trim();
            let margin = (line.len() - trimmed.len()).min(columns / 2);
            self.fence = Some(OpenCodeFence {
                marks,
                margin,
                content: FenceContent::from_info(info),
            });
            if info.is_empty() {
                return Vec::new();
            }
            let columns = columns.saturating_sub(margin);
            let head = [Span::styled(format!("{CODE_BAR}{info}"), theme::QUIET)];
            let lines = continue_code_bar(wrap_spans(&head, columns, 2));
            return code_rows(lines, columns, margin);
        }
        lay_out_prose_line(line, columns, base)
    }
}

/// Whether a text can still grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextCompleteness {
    Complete,
    /// More lines can follow and extend a table at the end.
    Growing,
}

impl MarkdownRenderer {
    /// Lays out the complete lines of a growing text, except a table at the end that may continue; returns
    /// how many bytes it has laid out.
    pub fn lay_out_growing(
        &mut self,
        text: &str,
        columns: usize,
        base: Style,
    ) -> (Vec<Line<'static>>, usize) {
        let all: Vec<&str> = text.lines().collect();
        let (lines, n) = self.lay_out_lines(&all, columns, base, TextCompleteness::Growing);
        let n_bytes = text.split_inclusive('\n').take(n).map(str::len).sum();
        (lines, n_bytes)
    }

    /// Lays out the remaining text as it is now, without changing the state.
    pub fn lay_out_rest(&self, text: &str, columns: usize, base: Style) -> Vec<Line<'static>> {
        let all: Vec<&str> = text.lines().collect();
        self.clone()
            .lay_out_lines(&all, columns, base, TextCompleteness::Complete)
            .0
    }

    /// Lays out lines; returns how many of them it has laid out.
    fn lay_out_lines(
        &mut self,
        all: &[&str],
        columns: usize,
        base: Style,
        stands: TextCompleteness,
    ) -> (Vec<Line<'static>>, usize) {
        let mut rest = all;
        let mut lines = Vec::new();
        while let Some((line, after)) = rest.split_first() {
            let n_rows = if self.is_in_fence() {
                0
            } else {
                markdown_table::count_table_rows(rest)
            };
            let is_last = rest.len() == n_rows.max(1) && rest.len() < MAX_GROWING_TABLE_ROWS;
            let may_go_on = n_rows > 0 || !self.is_in_fence() && line.contains('|');
            if stands == TextCompleteness::Growing && is_last && may_go_on {
                break;
            }
            match rest.split_at_checked(n_rows) {
                Some((rows, after)) if n_rows > 0 => {
                    lines.extend(markdown_table::lay_out(rows, columns, base));
                    rest = after;
                }
                _ => {
                    lines.extend(self.lay_out_line(line, columns, base));
                    rest = after;
                }
            }
        }
        (lines, all.len() - rest.len())
    }
}

/// From this many rows on, a growing table is not laid out again with each row.
const MAX_GROWING_TABLE_ROWS: usize = 200;

/// Sets the lines of a code block on their ground, and indents them.
fn code_rows(lines: Vec<Line<'static>>, columns: usize, margin: usize) -> Vec<Line<'static>> {
    let rows = lines.into_iter().map(|line| {
        let mut row = fill_row(line, columns, Surface::Panel.style());
        if margin > 0 {
            row.spans.insert(0, Span::raw(" ".repeat(margin)));
        }
        row
    });
    rows.collect()
}

/// Continues the bar of a code block in wrapped lines.
fn continue_code_bar(mut lines: Vec<Line<'static>>) -> Vec<Line<'static>> {
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

/// Lays out a line of a document in a fence, behind the bar.
fn document_rows(line: &str, columns: usize, base: Style) -> Vec<Line<'static>> {
    let rows = lay_out_prose_line(line, columns.saturating_sub(2), base).into_iter();
    rows.map(|mut row| {
        row.spans.insert(0, Span::styled(CODE_BAR, theme::QUIET));
        row
    })
    .collect()
}

/// Lays out a line outside of code blocks.
fn lay_out_prose_line(line: &str, columns: usize, base: Style) -> Vec<Line<'static>> {
    let trimmed = line.trim_start();
    let lead = line.len() - trimmed.len();
    if let Some(text) = parse_heading(trimmed) {
        return wrap_prose(&style_inline(text, base.patch(theme::STRONG)), columns, 0);
    }
    if is_rule(trimmed) {
        return vec![Line::styled("─".repeat(columns.min(40)), theme::QUIET)];
    }
    let (bars, trimmed) = parse_quotation(trimmed);
    let lead = lead + text_width(&bars);
    let blank = format!("{}{bars}", " ".repeat(lead - text_width(&bars)));
    let (sign, text) = parse_list_mark(trimmed);
    let mut spans = match (sign, bars.as_str()) {
        ("", "") => vec![Span::styled(blank, base)],
        (sign, _) => vec![Span::styled(format!("{blank}{sign}"), theme::QUIET)],
    };
    spans.extend(style_inline(text, base));
    let hangs = match sign {
        "☐ " | "☑ " => lead + 2,
        _ => lead + self::list_mark_width(trimmed),
    };
    wrap_prose(&spans, columns, hangs)
}

/// Returns the text of a heading, without the signs before it.
pub fn parse_heading(trimmed: &str) -> Option<&str> {
    let text = trimmed.trim_start_matches('#');
    let level = trimmed.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then(|| text.trim())
}

fn is_rule(trimmed: &str) -> bool {
    let line = trimmed.trim_end();
    let of = |c: char| line.len() >= 3 && line.chars().all(|other| other == c);
    of('-') || of('*') || of('_')
}

const CONFLICT_END: &str = ">>>>>>>";

/// Parses quotation marks; returns one bar for each mark, and the quoted text.
fn parse_quotation(trimmed: &str) -> (String, &str) {
    let (mut bars, mut rest) = (String::new(), trimmed);
    // The end of a merge conflict: nobody quotes that deep.
    if trimmed.starts_with(CONFLICT_END) {
        return (bars, rest);
    }
    while let Some(quoted) = rest.strip_prefix('>') {
        // A mark directly before a word, as in `>=`, is not a quotation.
        let is_mark = quoted.is_empty() || quoted.starts_with([' ', '>']);
        let ends_in_one = quoted.trim_start_matches(['>', ' ']);
        let marks = &quoted[..quoted.len() - ends_in_one.len()];
        if !is_mark || !(ends_in_one.is_empty() || marks.ends_with(' ')) {
            break;
        }
        bars.push_str("▎ ");
        rest = quoted.strip_prefix(' ').unwrap_or(quoted);
    }
    (bars, rest)
}

/// Returns the sign that replaces a list mark, and the rest of the line.
fn parse_list_mark(trimmed: &str) -> (&'static str, &str) {
    const SIGNS: [(&str, &str); 6] = [
        // A checkbox replaces the bullet.
        ("- [ ] ", "☐ "),
        ("- [x] ", "☑ "),
        ("- [X] ", "☑ "),
        ("- ", "• "),
        ("* ", "• "),
        ("+ ", "• "),
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

/// Returns the indentation of wrapped lines, so that they align with the text of the first.
pub fn hanging_indent(line: &str) -> usize {
    let trimmed = line.trim_start();
    line.len() - trimmed.len() + list_mark_width(trimmed)
}

/// Returns the width of a list mark, by which wrapped lines are indented.
fn list_mark_width(trimmed: &str) -> usize {
    let digits = trimmed.len()
        - trimmed
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .len();
    let rest = &trimmed[digits..];
    if digits > 0 && (rest.starts_with(". ") || rest.starts_with(") ")) {
        return digits + 2;
    }
    let marks = ["- ", "* ", "+ ", "> ", "~ ", "☐ ", "☑ ", "▸ "];
    let is_mark = marks.iter().any(|mark| trimmed.starts_with(mark));
    if is_mark { 2 } else { 0 }
}

/// Returns the text of a line without Markdown marks.
pub fn strip_marks(line: &str) -> String {
    let line = parse_heading(line.trim()).unwrap_or(line.trim());
    let spans = style_inline(line, Style::new());
    spans.iter().map(|span| span.content.as_ref()).collect()
}

/// Returns a text on one line without its marks of code, for places where no part of a line has a style of its own.
pub fn to_plain_line(text: &str) -> String {
    let line = to_one_line(text);
    let spans = style_code(&line, Style::new());
    spans.iter().map(|span| span.content.as_ref()).collect()
}

/// Lays out a whole text that is safe to draw.
pub fn lay_out(text: &str, columns: usize, base: Style) -> Vec<Line<'static>> {
    MarkdownRenderer::default().lay_out_rest(text, columns, base)
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
    fn the_end_of_a_merge_conflict_is_no_quotation() {
        check("> one\n>>>>>>> theirs", 40, "▎ one|>>>>>>> theirs");
    }

    #[test]
    fn a_document_in_a_fence_is_laid_out_as_one() {
        let text = "````goal.md\n# Sum *it*\n- `a` b\n````\nc";
        check(text, 40, "│ goal.md|│ Sum it|│ • a b|c");
        check("```markdown\n## A\n```", 40, "│ markdown|│ A");
        check("```sh\n# a `b`\n```", 40, "│ sh|│ # a `b`");
        // Code inside of it is shown as it is.
        let text = "````goal.md\n```sh\n# rm `x`\n```\n# A\n````\n**b**";
        check(text, 40, "│ goal.md|│ ```sh|│ # rm `x`|│ ```|│ A|b");
    }

    #[test]
    fn marks_of_inline_code_and_strength_are_read_and_lists_hang() {
        check("a `b c` **d** e", 40, "a b c d e");
        check("a ` b ** c", 40, "a ` b ** c");
        check("1. [ ] one two three", 12, "1. [ ] one|   two three");
        check("- one two\n> 引用", 7, "• one|  two|▎ 引用");
        check(">> a b\n> > c\n>\n>= 2", 7, "▎ ▎ a b|▎ ▎ c|▎|>= 2");
        check("> - one two", 10, "▎ • one|    two");
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
        check("```sh\n**x**\n```\n**y**", 40, "│ sh|│ **x**|y");
        check(
            "- a\n  ```sh\n  if x\n    y\n  ```\n- b",
            40,
            "• a|  │ sh|  │ if x|  │   y|• b",
        );
        check("```\n| a |\n|---|\n", 40, "│ | a ||│ |---|");
        check(
            "~~~~rust\n    let x = 1;\n~~~",
            12,
            "│ rust|│     let x|│     = 1;|│ ~~~",
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

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(256))]
        #[test]
        fn a_text_without_marks_is_kept_letter_by_letter(text in "[a-zé中İ\u{3000} .,:;/()?!=\"'\n]{0,80}", columns in 1usize..90) {
            let seen: String = lay_out(&text, columns, Style::new()).iter().map(ToString::to_string).collect();
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            proptest::prop_assert_eq!(letters(&seen), letters(&text));
        }

        #[test]
        fn no_text_is_too_odd(text in "[ab `*_~>#|\\\\\\[\\]()\n\u{3000}中-]{0,80}", columns in 0usize..30) {
            lay_out(&text, columns, Style::new());
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(128))]
        #[test]
        fn a_text_that_grew_looks_as_one_that_came_whole(
            text in "(\\| a \\| 中 \\|\n|\\|--\\|:-\\|\n|x\n|```\n|a \\| b\n|- c|\n){0,12}",
            pieces in proptest::collection::vec(1usize..9, 1..9),
        ) {
            let (mut markdown, mut lines, mut from, mut to) = (MarkdownRenderer::default(), Vec::new(), 0, 0);
            let told = |lines: &[Line<'static>]| {
                lines.iter().map(ToString::to_string).collect::<Vec<String>>()
            };
            for piece in pieces.iter().cycle() {
                let whole = text[..to].rfind('\n').map_or(0, |at| at + 1).max(from);
                let (more, n_bytes) = markdown.lay_out_growing(&text[from..whole], 20, Style::new());
                lines.extend(more);
                from += n_bytes;
                let mut seen = lines.clone();
                seen.extend(markdown.lay_out_rest(&text[from..to], 20, Style::new()));
                proptest::prop_assert_eq!(told(&seen), told(&lay_out(&text[..to], 20, Style::new())));
                if to == text.len() {
                    break;
                }
                to = text.ceil_char_boundary((to + piece).min(text.len()));
            }
        }
    }
}
