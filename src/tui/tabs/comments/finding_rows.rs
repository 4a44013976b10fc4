//! One-row view of a finding, used when the full findings do not fit into the window.
//!
//! Rows are cut, not wrapped: selecting a finding shows all of it.

use ratatui::style::Modifier;

use super::comments_entry::{CommentsEntry, EntryMargin, status_label};
use super::finding_selection::SettledFindingsFold;
use crate::domain::findings::{Finding, FindingSeverity, FindingStatus};
use crate::text::without_full_stop;
use crate::tui::markdown::to_plain_line;
use crate::tui::scroll_view::ScrollTarget;
use crate::tui::theme;

/// The layout of the findings list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FindingListLayout {
    /// As `Expanded`, with blank rows in what is expanded and around what is selected.
    Spacious(Option<u32>),
    /// Each finding with its whole history, and the details of one finding that the user did not open.
    Expanded(Option<u32>),
    /// Each finding with its whole history.
    Full,
    /// One row per finding, except the selected and the open ones.
    Compact,
}

impl FindingListLayout {
    /// Returns whether it shows the details of a finding that the user did not open.
    pub(super) fn expands(self, n: u32) -> bool {
        match self {
            Self::Spacious(one) | Self::Expanded(one) => one == Some(n),
            Self::Full | Self::Compact => false,
        }
    }
}

/// From this many findings on, the compact list is used.
pub const MIN_COMPACT_FINDINGS: usize = 5;

/// The width of a severity.
const BADGE_COLUMNS: usize = 10;

/// What makes a finding stand out from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct FindingEmphasis {
    /// Whether it is selected.
    pub(super) is_picked: bool,
    /// Whether its details are shown.
    pub(super) is_opened: bool,
}

/// Renders a finding as one row, dimmed if it is settled.
pub(super) fn finding_row(finding: &Finding) -> CommentsEntry {
    CommentsEntry {
        mark: Some(ScrollTarget::Finding(finding.remark.n)),
        is_single_row: true,
        ..finding_title(finding, FindingEmphasis::default())
    }
}

/// Renders the status, the severity, the number and the text of a finding.
pub(super) fn finding_title(finding: &Finding, emphasis: FindingEmphasis) -> CommentsEntry {
    let remark = &finding.remark;
    let (sign, status, style) = status_label(finding);
    let severity = remark.severity;
    let is_open = finding.status == FindingStatus::Open;
    let (badge, word) = match severity {
        FindingSeverity::Blocking if is_open => (
            style.add_modifier(Modifier::REVERSED),
            severity.as_str().to_uppercase(),
        ),
        FindingSeverity::Major if is_open => (style, severity.as_str().to_uppercase()),
        _ => (theme::QUIET, severity.as_str().to_owned()),
    };
    let text = if emphasis.is_picked || emphasis.is_opened {
        theme::STRONG
    } else if is_open {
        theme::PLAIN
    } else {
        theme::QUIET
    };
    let number = format!(" {:>2}  ", remark.n);
    let lead = BADGE_COLUMNS + number.len();
    let parts = vec![
        (format!("{word:^BADGE_COLUMNS$}"), badge),
        (number, theme::QUIET),
        (
            without_full_stop(&to_plain_line(&remark.text)).to_owned(),
            text,
        ),
    ];
    // The bar of a selected finding is in the colour of its severity, which says enough where nothing happened to it yet.
    let margin = if status.is_empty() && emphasis.is_picked {
        EntryMargin::Blank
    } else {
        EntryMargin::Sign(sign, style)
    };
    CommentsEntry {
        margin,
        ..CommentsEntry::from_parts(parts, lead)
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
        margin: EntryMargin::Sign(sign, theme::QUIET),
        mark: Some(ScrollTarget::Settled),
        ..CommentsEntry::new(&format!("{n} resolved"), theme::QUIET)
    };
    match form {
        FindingListLayout::Compact => vec![row],
        _ => vec![CommentsEntry::blank(), row],
    }
}
