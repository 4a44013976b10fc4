//! A finding in a row, where there are more of them than a window holds with all that became of each.
//!
//! Refuses to wrap: what is cut is read by pointing at it.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{Entry, Form, Settled, standing};
use crate::domain::findings::{Finding, FindingStatus};
use crate::tui::page::Mark;
use crate::tui::theme;
use crate::tui::wrap::{cut, one_line, width};

/// From how many on they are so many.
pub const MANY: usize = 5;

/// A finding in a row; quiet where it is settled.
pub(super) fn of(finding: &Finding) -> Entry {
    let remark = &finding.remark;
    let (sign, _, style) = standing(finding);
    let (style, text) = match finding.status {
        FindingStatus::Open => (style, style),
        FindingStatus::SettledByReview | FindingStatus::SettledByUser => (style, theme::QUIET),
    };
    Entry {
        parts: vec![
            (format!("{sign} {}. ", remark.n), style),
            (format!("[{}] ", remark.severity.as_str()), text),
            (one_line(&remark.text), text),
        ],
        indent: 2,
        of: Some(Mark::Finding(remark.n)),
        is_row: true,
    }
}

/// The row before the settled findings: folded, it stands for them.
pub(super) fn of_settled(n: usize, stands: Settled, form: Form) -> Vec<Entry> {
    let sign = match stands {
        Settled::Folded => "▸",
        Settled::Listed => "▾",
    };
    let row = Entry {
        of: Some(Mark::Settled),
        ..Entry::new(&format!("{sign} {n} settled"), theme::QUIET)
    };
    match form {
        Form::Whole => vec![Entry::new("", theme::PLAIN), row],
        Form::Rows => vec![row],
    }
}

/// The parts in one line; what has no room is cut.
pub(super) fn line(parts: &[(String, Style)], columns: usize) -> Line<'static> {
    let mut left = columns;
    let spans = parts.iter().map(|(text, style)| {
        let text = cut(text, left);
        left -= width(&text).min(left);
        Span::styled(text, *style)
    });
    Line::from(spans.collect::<Vec<_>>())
}
