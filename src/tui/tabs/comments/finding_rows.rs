//! One-row view of a finding, used when the full findings do not fit into the window.
//!
//! Rows are cut, not wrapped: selecting a finding shows all of it.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{CommentsEntry, FindingListLayout, SettledFindingsFold, status_label};
use crate::domain::findings::{Finding, FindingStatus};
use crate::tui::scroll_view::ScrollTarget;
use crate::tui::text_wrap::{text_width, to_one_line, truncate_to_columns};
use crate::tui::theme;

/// From this many findings on, the compact list is used.
pub const MIN_COMPACT_FINDINGS: usize = 5;

/// Renders a finding as one row, dimmed if it is settled.
pub(super) fn finding_row(finding: &Finding) -> CommentsEntry {
    let remark = &finding.remark;
    let (sign, _, style) = status_label(finding);
    let (style, text) = match finding.status {
        FindingStatus::Open => (style, style),
        FindingStatus::Fixed
        | FindingStatus::Withdrawn
        | FindingStatus::Rebutted
        | FindingStatus::DecidedByUser
        | FindingStatus::Residual => (style, theme::QUIET),
    };
    CommentsEntry {
        parts: vec![
            (format!("{sign} {}. ", remark.n), style),
            (format!("[{}] ", remark.severity.as_str()), text),
            (to_one_line(&remark.text), text),
        ],
        indent: 2,
        mark: Some(ScrollTarget::Finding(remark.n)),
        is_single_row: true,
    }
}

/// Renders the row before the settled findings; folded, it replaces them.
pub(super) fn settled_row(
    n: usize,
    stands: SettledFindingsFold,
    form: FindingListLayout,
) -> Vec<CommentsEntry> {
    let sign = match stands {
        SettledFindingsFold::Folded => "▸",
        SettledFindingsFold::Listed => "▾",
    };
    let row = CommentsEntry {
        mark: Some(ScrollTarget::Settled),
        ..CommentsEntry::new(&format!("{sign} {n} resolved"), theme::QUIET)
    };
    match form {
        FindingListLayout::Full => vec![CommentsEntry::new("", theme::PLAIN), row],
        FindingListLayout::Compact => vec![row],
    }
}

/// Joins the parts on one line and cuts what does not fit.
pub(super) fn cut_to_line(parts: &[(String, Style)], columns: usize) -> Line<'static> {
    let mut left = columns;
    let spans = parts.iter().map(|(text, style)| {
        let text = truncate_to_columns(text, left);
        left -= text_width(&text).min(left);
        Span::styled(text, *style)
    });
    Line::from(spans.collect::<Vec<_>>())
}
