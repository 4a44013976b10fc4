//! The lines of a dialog's body, and the texts that it compares.

use ratatui::style::Style;

use super::brief_text::BriefText;
use crate::tui::tab_kind::TabKind;

/// A line of a dialog's body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogLine {
    pub text: String,
    pub style: Style,
    pub(super) kind: DialogLineKind,
    /// The tab that has this text too.
    pub(super) tabs: &'static [TabKind],
    /// Whether it is shown whole also where there is little room.
    pub(super) is_never_cut: bool,
    /// Whether its marks of code are rendered.
    pub(super) is_prose: bool,
    /// What it says instead while its subject is in view.
    pub(super) brief: Option<BriefText>,
}

/// What a line of a dialog's body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DialogLineKind {
    /// A part of the reason for the question; it is shortened first.
    Reason,
    /// What the question is about, and nothing else. Where there is room, it stands beside the question.
    Subject,
    Text,
    /// A label of so many columns and its value.
    Field(usize),
    /// A blank row, where there is room.
    Gap,
    /// A text that only the full text has.
    InFullText,
}

impl DialogLine {
    /// Returns its text, with a colon after the label of a field in place of the column of the values.
    pub(super) fn sequential_text(&self) -> String {
        let label = match self.kind {
            DialogLineKind::Field(columns) => self.text.split_at_checked(columns),
            _ => None,
        };
        match label {
            Some((label, value)) if !label.trim().is_empty() => {
                format!("{}: {}", label.trim(), value.trim())
            }
            _ => self.text.clone(),
        }
    }

    pub(super) fn new(text: &str, style: Style, kind: DialogLineKind) -> Self {
        Self {
            text: text.to_owned(),
            style,
            kind,
            tabs: &[],
            is_never_cut: false,
            is_prose: false,
            brief: None,
        }
    }
}

/// One of two texts that a dialog compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogColumn {
    pub title: (String, Style),
    /// The text in one paragraph, for a window without room for all paragraphs.
    pub summary: (String, Style),
    pub texts: Vec<(String, Style)>,
}
