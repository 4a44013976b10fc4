//! A finding in a row, where there are more of them than a window holds with all that became of each.
//!
//! Refuses to wrap: what is cut is read by pointing at it.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{CommentsEntry, FindingListLayout, SettledFindingsFold, status_label};
use crate::domain::findings::{Finding, FindingStatus};
use crate::tui::scroll_view::ScrollTarget;
use crate::tui::text_wrap::{text_width, to_one_line, truncate_to_columns};
use crate::tui::theme;

/// From how many on they are so many.
pub const MIN_COMPACT_FINDINGS: usize = 5;

/// A finding in a row; quiet where it is settled.
pub(super) fn finding_row(finding: &Finding) -> CommentsEntry {
    let remark = &finding.remark;
    let (sign, _, style) = status_label(finding);
    let (style, text) = match finding.status {
        FindingStatus::Open => (style, style),
        FindingStatus::SettledByReview | FindingStatus::SettledByUser => (style, theme::QUIET),
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

/// The row before the settled findings: folded, it stands for them.
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
        ..CommentsEntry::new(&format!("{sign} {n} settled"), theme::QUIET)
    };
    match form {
        FindingListLayout::Full => vec![CommentsEntry::new("", theme::PLAIN), row],
        FindingListLayout::Compact => vec![row],
    }
}

/// The parts in one line; what has no room is cut.
pub(super) fn cut_to_line(parts: &[(String, Style)], columns: usize) -> Line<'static> {
    let mut left = columns;
    let spans = parts.iter().map(|(text, style)| {
        let text = truncate_to_columns(text, left);
        left -= text_width(&text).min(left);
        Span::styled(text, *style)
    });
    Line::from(spans.collect::<Vec<_>>())
}
