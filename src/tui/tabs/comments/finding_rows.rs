//! One-row view of a finding, used when the full findings do not fit into the window.
//!
//! Rows are cut, not wrapped: selecting a finding shows all of it.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::finding_list::FindingListLayout;
use super::finding_selection::SettledFindingsFold;
use super::{CommentsEntry, status_label};
use crate::domain::findings::{Finding, FindingSeverity, FindingStatus};
use crate::tui::markdown::to_plain_line;
use crate::tui::scroll_view::ScrollTarget;
use crate::tui::text_wrap::{text_width, truncate_to_columns};
use crate::tui::theme;

/// From this many findings on, the compact list is used.
pub const MIN_COMPACT_FINDINGS: usize = 5;

/// The width of a severity.
const BADGE_COLUMNS: usize = 10;

/// Renders a finding as one row, dimmed if it is settled.
pub(super) fn finding_row(finding: &Finding) -> CommentsEntry {
    let (parts, _) = finding_lead(finding);
    CommentsEntry {
        mark: Some(ScrollTarget::Finding(finding.remark.n)),
        is_single_row: true,
        ..CommentsEntry::from_parts(parts, 2)
    }
}

/// Returns the status, the severity, the number and the text of a finding, and the columns before the text.
pub(super) fn finding_lead(finding: &Finding) -> (Vec<(String, Style)>, usize) {
    let remark = &finding.remark;
    let (sign, _, style) = status_label(finding);
    let severity = remark.severity;
    let (badge, word, text) = match (finding.status, severity) {
        (FindingStatus::Open, FindingSeverity::Blocking) => {
            let badge = style.add_modifier(Modifier::REVERSED);
            (badge, severity.as_str().to_uppercase(), theme::STRONG)
        }
        (FindingStatus::Open, FindingSeverity::Major) => {
            (style, severity.as_str().to_uppercase(), theme::STRONG)
        }
        (FindingStatus::Open, FindingSeverity::Minor) => {
            (theme::QUIET, severity.as_str().to_owned(), theme::PLAIN)
        }
        _ => (theme::QUIET, severity.as_str().to_owned(), theme::QUIET),
    };
    let number = format!(" {:>2}  ", remark.n);
    let lead = 2 + BADGE_COLUMNS + number.len();
    let parts = vec![
        (format!("{sign} "), style),
        (format!("{word:^BADGE_COLUMNS$}"), badge),
        (number, theme::QUIET),
        (to_plain_line(&remark.text), text),
    ];
    (parts, lead)
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
        FindingListLayout::Full | FindingListLayout::Expanded(_) => {
            vec![CommentsEntry::new("", theme::PLAIN), row]
        }
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
