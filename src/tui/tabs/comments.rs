//! Tab: the review. First the verdict and every finding with its answer, then the text.

use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::findings::{Finding, Stand, Status};
use crate::domain::review::Verdict;
use crate::domain::run::State;
use crate::text::front_matter;
use crate::tui::documents::Text;
use crate::tui::markdown;
use crate::tui::page::Page;
use crate::tui::theme;
use crate::tui::wrap::{one_line, wrap, wrap_own};

/// Draws the review.
pub fn draw(page: &mut Page, text: &Text, frame: &mut Frame, area: Rect, state: Option<&State>) {
    let columns = usize::from(area.width);
    let ledger = state.map(ledger).unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    (columns, text.revision).hash(&mut hasher);
    for (line, _, _) in &ledger {
        line.hash(&mut hasher);
    }
    page.lay_out(hasher.finish(), || {
        let mut lines = Vec::new();
        for (line, style, indent) in &ledger {
            lines.extend(wrap(
                &[Span::styled(line.as_str(), *style)],
                columns,
                *indent,
            ));
        }
        lines.extend(document(text, !ledger.is_empty(), columns));
        lines
    });
    page.draw(frame, area);
}

fn document(text: &Text, has_ledger: bool, columns: usize) -> Vec<Line<'static>> {
    let Some(text) = &text.text else {
        return if has_ledger {
            Vec::new()
        } else {
            wrap_own("There is no review yet.", columns, theme::QUIET)
        };
    };
    let mut lines = Vec::new();
    if has_ledger {
        lines.push(Line::default());
        lines.push(Line::styled("── comments.md ", theme::QUIET));
    }
    let body = front_matter::split(text).body;
    lines.extend(markdown::lay_out(
        body.trim_start_matches('\n'),
        columns,
        theme::PLAIN,
    ));
    lines
}

/// Drawable lines with their style and the indent of what is wrapped.
fn ledger(state: &State) -> Vec<(String, Style, usize)> {
    let mut lines = Vec::new();
    if let Some(verdict) = &state.verdict {
        let style = match verdict.value {
            Verdict::Approved => theme::GOOD,
            Verdict::ChangesRequired => theme::NEEDS_YOU,
        };
        let doubt = if verdict.consistent {
            ""
        } else {
            ", but its signals disagree"
        };
        let forced = if verdict.forced {
            "; you let the plan pass"
        } else {
            ""
        };
        let text = format!(
            "iteration {}: {}{doubt}{forced}",
            verdict.iteration,
            verdict.value.word()
        );
        lines.push((text, style, 0));
    }
    let n_open = state.findings.open().count();
    let n_all = state.findings.all().len();
    if n_all > 0 {
        let text = format!("{n_open} of {n_all} finding(s) open");
        lines.push((text, theme::PLAIN, 0));
        lines.push((String::new(), theme::PLAIN, 0));
    }
    for finding in state.findings.all() {
        lines.extend(of_finding(finding));
    }
    lines
}

fn of_finding(finding: &Finding) -> Vec<(String, Style, usize)> {
    let (sign, status, style) = match finding.status {
        Status::Open => ("○", "open", theme::NEEDS_YOU),
        Status::SettledByReview => ("✓", "settled", theme::GOOD),
        Status::SettledByUser => ("✓", "settled by you", theme::GOOD),
    };
    let remark = &finding.remark;
    let head = format!(
        "{sign} {}. [{}] {} ({status})",
        remark.n,
        remark.severity.word(),
        one_line(&remark.text)
    );
    let mut lines = vec![(head, style, 2)];
    for (_, response) in &finding.responses {
        let stand = match response.stand {
            Stand::Accepted => "accepted",
            Stand::Rejected => "rejected",
        };
        let text = format!("    ↳ {stand}: {}", one_line(&response.reason));
        lines.push((text, theme::PLAIN, 6));
    }
    lines
}
