//! What the Plan tab says below a line of the plan: findings that are left, and threads.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::plan_line::PageColumns;
use crate::domain::findings::{Finding, FindingSeverity};
use crate::domain::plan_thread::{PlanThread, ThreadAuthor};
use crate::text::without_full_stop;
use crate::tui::finding_location;
use crate::tui::labels::{author_label, finding_label_style};
use crate::tui::markdown::to_plain_line;
use crate::tui::scroll_view::{ScrollContent, ScrollTarget};
use crate::tui::tabs::screen_tab::TabContext;
use crate::tui::text_wrap::{text_width, to_one_line, wrap_spans};
use crate::tui::theme;

/// From this width on, further rows of a finding are below its text.
const MIN_COLUMNS_OF_INDENT: usize = 57;
/// How many messages of a thread are shown below its line.
const MAX_SHOWN_MESSAGES: usize = 3;

/// Where the texts of the findings are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FindingPlace {
    InPlan,
    /// In the comments, which are beside the plan.
    BesidePlan,
}

/// A remark below a line: an open or a residual finding, or a message of a thread.
#[derive(Debug, Hash)]
pub(super) struct LineRemark {
    pub(super) mark: ScrollTarget,
    /// The number and the severity, or who writes.
    label: String,
    /// The sign, the number and the severity of a finding whose text is in the comments beside the plan.
    short_label: Option<String>,
    /// The colour of the label while it is open.
    style: Style,
    is_open: bool,
    text: String,
    /// Where it comes from, shown dimmed.
    origin: String,
    pub(super) line: Option<usize>,
    /// Whether the plan cannot pass the review while it is open.
    pub(super) blocks: bool,
}

impl LineRemark {
    /// Returns its label and its text; only the label has a colour, and what is not open has none.
    fn spans(&self) -> [Span<'_>; 2] {
        let (label, text) = if self.is_open {
            (self.style, theme::PLAIN)
        } else {
            (theme::QUIET, theme::QUIET)
        };
        [
            Span::styled(self.label.as_str(), label),
            Span::styled(self.text.as_str(), text),
        ]
    }

    /// Returns whether it refers to no line of the body, which starts after `n_before` lines of front
    /// matter.
    pub(super) fn is_without_line(&self, n_before: usize) -> bool {
        self.line.is_none_or(|line| line < n_before)
    }
}

/// Returns the findings that are left and the threads, with their lines.
pub(super) fn line_remarks(text: &str, context: &TabContext<'_>) -> Vec<LineRemark> {
    let Some(state) = context.state else {
        return Vec::new();
    };
    let place = if context.is_beside_comments {
        FindingPlace::BesidePlan
    } else {
        FindingPlace::InPlan
    };
    let lines: Vec<&str> = text.lines().collect();
    let findings = finding_location::locate_remaining_findings(state, text)
        .into_iter()
        .map(|(finding, line)| finding_remark(finding, line, place));
    let threads = state.threads.all().iter();
    let threads = threads.filter(|thread| thread.finding.is_none());
    findings
        .chain(threads.flat_map(|thread| thread_remarks(thread, &lines)))
        .collect()
}

fn finding_remark(finding: &Finding, line: Option<usize>, place: FindingPlace) -> LineRemark {
    let remark = &finding.remark;
    let text = to_plain_line(&remark.text);
    let text = without_full_stop(&text).to_owned();
    let (sign, severity) = (finding.status_symbol(), remark.severity.as_str());
    LineRemark {
        mark: ScrollTarget::Finding(remark.n),
        label: format!("{sign} {} {severity:<8}  ", remark.n),
        short_label: match place {
            FindingPlace::InPlan => None,
            FindingPlace::BesidePlan => Some(format!("{sign} {} {severity}", remark.n)),
        },
        style: finding_label_style(remark.severity),
        is_open: finding.is_open(),
        text,
        origin: String::new(),
        line,
        blocks: finding.is_open() && remark.severity == FindingSeverity::Blocking,
    }
}

/// Returns the messages of a thread, each as a remark below its line. Of a long thread the first and the last are shown.
fn thread_remarks(thread: &PlanThread, lines: &[&str]) -> Vec<LineRemark> {
    let line = thread.find_line(lines);
    let gone = match line {
        Some(_) => String::new(),
        None if thread.line == 0 => String::new(),
        None => format!(" (stale, its line is gone: {})", to_one_line(&thread.quote)),
    };
    let messages: Vec<(ThreadAuthor, &str)> = thread.messages().collect();
    let n_hidden = messages.len().saturating_sub(MAX_SHOWN_MESSAGES);
    let mut remarks: Vec<LineRemark> = Vec::new();
    for (at, (author, text)) in messages.into_iter().enumerate() {
        if at > 0 && at <= n_hidden {
            continue;
        }
        let (name, style) = author_label(author);
        let lead = match at {
            0 => format!("✎ {}", thread.n),
            _ => "  ↳".to_owned(),
        };
        remarks.push(LineRemark {
            mark: ScrollTarget::Note(thread.n),
            label: format!("{lead} {name}: "),
            short_label: None,
            style,
            is_open: !thread.is_resolved,
            text: to_one_line(text),
            origin: String::new(),
            line,
            blocks: false,
        });
    }
    if let (Some(first), 1..) = (remarks.first_mut(), n_hidden) {
        first.origin = format!(" · {} more in Comments", n_hidden);
    }
    if let Some(last) = remarks.last_mut() {
        last.origin
            .push_str(&format!(" · {}{gone}", thread.describe_status()));
    }
    remarks
}

/// Adds remarks that refer to no line of the plan.
pub(super) fn add_remarks_without_line<'a>(
    laid: &mut ScrollContent,
    remarks: impl Iterator<Item = &'a LineRemark>,
    page: PageColumns,
) {
    let mut remarks = remarks.peekable();
    if remarks.peek().is_some() {
        let head = Line::styled("About the whole plan", theme::QUIET);
        laid.lines.extend(page.add_margin(vec![head], None));
    }
    add_remarks(laid, &remarks.collect::<Vec<_>>(), page, "");
}

/// Adds findings and notes below the line that they refer to. Findings without their texts share a row.
pub(super) fn add_remarks(
    laid: &mut ScrollContent,
    remarks: &[&LineRemark],
    page: PageColumns,
    lead: &'static str,
) {
    let mut row = vec![Span::raw(lead)];
    let mut last_sign = None;
    for remark in remarks {
        let Some(label) = &remark.short_label else {
            continue;
        };
        laid.targets.entry(remark.mark).or_insert(laid.lines.len());
        let (sign, rest) = label.split_once(' ').unwrap_or(("", label));
        let is_same = last_sign.replace(sign) == Some(sign);
        let shown = if is_same {
            format!("  {rest}")
        } else {
            label.clone()
        };
        if !is_same && row.len() > 1 {
            row.push(Span::raw("  "));
        }
        row.push(Span::styled(shown, remark.spans()[0].style));
    }
    if row.len() > 1 {
        let lines = wrap_spans(&row, page.text, lead.len() + 2);
        laid.lines.extend(page.add_margin(lines, None));
    }
    for remark in remarks.iter().filter(|remark| remark.short_label.is_none()) {
        add_remark(laid, remark, page, lead);
    }
}

/// Adds a finding or a note below the line that it refers to.
fn add_remark(laid: &mut ScrollContent, remark: &LineRemark, page: PageColumns, lead: &str) {
    let at = laid.lines.len();
    laid.targets.entry(remark.mark).or_insert(at);
    let [label, text] = remark.spans();
    let origin = Span::styled(remark.origin.as_str(), theme::QUIET);
    let spans = [Span::raw(lead), label, text, origin];
    let is_finding = matches!(remark.mark, ScrollTarget::Finding(_));
    let indent = if is_finding && page.text >= MIN_COLUMNS_OF_INDENT {
        text_width(&remark.label)
    } else {
        2
    };
    let lines = wrap_spans(&spans, page.text, lead.len() + indent);
    laid.lines.extend(page.add_margin(lines, None));
}
