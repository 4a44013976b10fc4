//! One-row view of a finding, used when the full findings do not fit into the window.
//!
//! Rows are cut, not wrapped: selecting a finding shows all of it.

use ratatui::style::{Modifier, Style};

use super::comments_entry::{CommentsEntry, status_label};
use super::finding_selection::SettledFindingsFold;
use crate::domain::findings::{Finding, FindingSeverity, FindingStatus};
use crate::tui::markdown::to_plain_line;
use crate::tui::scroll_view::ScrollTarget;
use crate::tui::theme;

/// The layout of the findings list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FindingListLayout {
    /// Each finding with its whole history.
    Full,
    /// The same, with the details of one finding that the user did not open.
    Expanded(Option<u32>),
    /// One row per finding, except the selected and the open ones.
    Compact,
}

/// From this many findings on, the compact list is used.
pub const MIN_COMPACT_FINDINGS: usize = 5;

/// The width of a severity.
const BADGE_COLUMNS: usize = 10;
/// The columns before the text of a finding with a number of at most two digits.
pub(super) const FINDING_INDENT: usize = 2 + BADGE_COLUMNS + 5;

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
