//! Lines of a dialog that say less while what they are about is in view, lines of prose, and all of them as one text.

use ratatui::style::Style;

use super::{ChoiceDialog, DialogLine};
use crate::tui::tab_kind::TabKind;
use crate::tui::theme;

/// What a line says instead while its subject is in view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BriefText {
    /// Empty if the line is not needed then.
    pub text: String,
    /// The text by which the subject is found in the chat.
    pub subject: String,
}

impl ChoiceDialog {
    /// Adds a field that also stands in each of these tabs.
    #[must_use]
    pub fn with_field_of_tabs(self, tabs: &'static [TabKind], label: &str, value: &str) -> Self {
        let mut sheet = self.with_field(label, value, theme::PLAIN);
        if let Some(line) = sheet.body.last_mut() {
            line.tabs = tabs;
        }
        sheet
    }

    /// Adds a text in whose lines marks of code are rendered.
    #[must_use]
    pub fn with_prose(mut self, text: &str, style: Style) -> Self {
        let n_before = self.body.len();
        self = self.with_text(text, style);
        let lines = self.body.iter_mut().skip(n_before);
        lines.for_each(|line| line.is_prose = true);
        self
    }

    /// Says what the last line says while its subject is in view.
    #[must_use]
    pub fn with_brief_text(mut self, brief: BriefText) -> Self {
        if let Some(line) = self.body.last_mut() {
            line.brief = Some(brief);
        }
        self
    }

    /// Returns the texts by which the subjects of such lines are found.
    pub fn brief_subjects(&self) -> impl Iterator<Item = &str> {
        let briefs = self.body.iter().filter_map(|line| line.brief.as_ref());
        briefs.map(|brief| brief.subject.as_str())
    }

    /// Shortens the lines whose subjects are in view.
    #[must_use]
    pub fn with_subjects_in_view(mut self) -> Self {
        let is_needed = |line: &mut DialogLine| match line.brief.take() {
            Some(brief) => {
                line.text = brief.text;
                !line.text.is_empty()
            }
            None => true,
        };
        self.body.retain_mut(is_needed);
        self
    }

    /// Returns the question and the lines of the body.
    pub fn heading_and_lines(&self) -> String {
        let lines = self.body.iter().map(|line| line.text.as_str());
        let all: Vec<&str> = std::iter::once(self.title.as_str()).chain(lines).collect();
        all.join("\n")
    }
}
