//! Renders one line of the plan: its title, a heading, the test command, a field of a step, or a line as it is written.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::plan::{self, proof_lines};
use crate::tui::markdown::{self, MarkdownRenderer};
use crate::tui::scroll_view::add_bar;
use crate::tui::text_wrap::{to_one_line, wrap_prose, wrap_spans};
use crate::tui::theme;

/// From this width on, a blank column is between the bar and the text, and two are behind it.
const MIN_SPACIOUS_COLUMNS: usize = 58;

/// The columns of the page: those of the text, and those before it for a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageColumns {
    pub(super) text: usize,
    margin: usize,
}

impl PageColumns {
    pub(super) fn new(columns: usize) -> Self {
        let (margin, behind) = if columns < MIN_SPACIOUS_COLUMNS {
            (1, 0)
        } else {
            (2, 2)
        };
        Self {
            text: columns.saturating_sub(margin + behind),
            margin,
        }
    }

    /// Adds the columns before the text, with a bar of this style if there is one.
    pub(super) fn add_margin(
        self,
        lines: Vec<Line<'static>>,
        bar: Option<Style>,
    ) -> Vec<Line<'static>> {
        add_bar(lines, bar, self.margin)
    }
}

/// Renders the lines of the plan one after another.
#[derive(Debug, Default)]
pub(super) struct PlanLineRenderer<'a> {
    pub(super) markdown: MarkdownRenderer,
    /// Whether the title has been rendered.
    has_title: bool,
    /// The command that runs after each step; that of the plan as far as another one is not known.
    step_test: Option<&'a str>,
}

impl<'a> PlanLineRenderer<'a> {
    pub(super) fn new(step_test: Option<&'a str>) -> Self {
        Self {
            step_test,
            ..Self::default()
        }
    }

    /// Renders a line outside of steps.
    pub(super) fn own_lines(&mut self, line: &str, columns: usize) -> Vec<Line<'static>> {
        if self.markdown.is_in_fence() {
            return self.markdown.lay_out_line(line, columns, theme::PLAIN);
        }
        if let Some(heading) = markdown::parse_heading(line) {
            let is_title = line.starts_with("# ") && !std::mem::replace(&mut self.has_title, true);
            let (text, style) = if is_title {
                (plan::parse_title(heading), theme::STRONG)
            } else {
                (heading.to_owned(), theme::QUIET)
            };
            return wrap_prose(&markdown::style_inline(&text, style), columns, 0);
        }
        match plan::parse_test_line(line) {
            Some(command) if !line.starts_with(' ') => self.test_lines(&command, columns),
            _ => self.markdown.lay_out_line(line, columns, theme::PLAIN),
        }
    }

    fn test_lines(&self, command: &str, columns: usize) -> Vec<Line<'static>> {
        let label = "Tests  ";
        let mut spans = vec![
            Span::styled(label, theme::QUIET),
            Span::styled(to_one_line(command), theme::CODE),
        ];
        if self.step_test.is_none_or(|test| test == command) {
            spans.push(Span::styled("   after each step", theme::QUIET));
        }
        wrap_spans(&spans, columns, label.len())
    }

    /// Renders a line below the first one of a step, indented like the step's text.
    pub(super) fn step_lines(
        &mut self,
        line: &str,
        indent: usize,
        columns: usize,
    ) -> Vec<Line<'static>> {
        let trimmed = line.trim_start();
        let is_code =
            self.markdown.is_in_fence() || trimmed.starts_with("```") || trimmed.starts_with("~~~");
        if is_code {
            self.markdown.lay_out_line(line, columns, theme::PLAIN)
        } else if proof_lines::is_proof_line(trimmed) {
            // Stars there are globs, not emphasis.
            field_lines(&to_one_line(trimmed), indent, columns)
        } else {
            let room = columns.saturating_sub(indent);
            let mut lines = self.markdown.lay_out_line(trimmed, room, theme::PLAIN);
            for line in &mut lines {
                line.spans.insert(0, Span::raw(" ".repeat(indent)));
            }
            lines
        }
    }
}

/// Renders a line such as `Files: a, b` of a step, its label quietly.
fn field_lines(text: &str, indent: usize, columns: usize) -> Vec<Line<'static>> {
    let n_label = text.find(':').map_or(0, |at| at + 1);
    let (label, rest) = text.split_at(n_label);
    let spans = [
        Span::raw(" ".repeat(indent)),
        Span::styled(label, theme::QUIET),
        Span::raw(rest),
    ];
    wrap_spans(&spans, columns, indent)
}
