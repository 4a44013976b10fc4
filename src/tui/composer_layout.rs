//! Layout of the composer: its place, its height, and the text in its frame.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::command::ScreenCommand;
use super::dialog::ChoiceDialog;
use super::keymap::ComposerFocus;
use super::tabs::TabKind;
use super::text_wrap::text_width;
use super::{Screen, footer};
use crate::domain::run::RunState;

impl Screen {
    /// Returns whether the user is writing a text.
    pub fn has_composer_text(&self) -> bool {
        self.composer.focus == ComposerFocus::Focused && !self.composer.editor.is_empty()
    }

    /// Returns whether the composer is focused and empty.
    pub fn is_composer_awaiting_text(&self) -> bool {
        self.composer.focus == ComposerFocus::Focused && self.composer.editor.is_empty()
    }

    /// Draws the area below the dialog: the composer or the search bar, and the footer.
    pub(super) fn draw_bottom_area(
        &mut self,
        frame: &mut Frame,
        composer: Rect,
        foot: Rect,
        state: Option<&RunState>,
        sheet: Option<&ChoiceDialog>,
    ) {
        let word = if self.overlays.search.is_some() {
            self.overlays
                .draw_search_bar(frame, composer, &mut self.tabs, state);
            None
        } else {
            self.draw_composer(frame, composer, state, sheet)
        };
        self.hit_areas.buttons = footer::draw(self, frame, foot, state, sheet);
        let word = word.map(|place| (place, ScreenCommand::Show(TabKind::Chat)));
        self.hit_areas.buttons.extend(word);
    }

    /// Returns how many rows the composer takes.
    pub(super) fn composer_rows(&self, rest: Rect, sheet: Option<&ChoiceDialog>) -> usize {
        if self.is_read_only() {
            return 0;
        }
        let height = usize::from(rest.height);
        // A dialog needs its frame, its choices and one line of text; a list scrolls.
        let least_above = sheet.map_or(1, |sheet| (sheet.choices.len() + 3).clamp(4, 10));
        let least_with_frame = match sheet {
            // The frame says what Enter does to an answer.
            Some(sheet) if sheet.choices.is_empty() => 7,
            _ => 9.max(least_above + 3),
        };
        match self.composer.focus {
            ComposerFocus::Unfocused if height > least_above + 4 => 1,
            ComposerFocus::Unfocused => 0,
            ComposerFocus::Focused if height < least_with_frame => 1,
            ComposerFocus::Focused => {
                let columns = usize::from(rest.width).saturating_sub(2);
                self.composer
                    .editor
                    .n_rows(columns)
                    .min((height / 4).max(1))
                    + 2
            }
        }
    }

    /// Draws the composer; returns the area of the toast about another tab, if one is drawn beside it.
    fn draw_composer(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        state: Option<&RunState>,
        sheet: Option<&ChoiceDialog>,
    ) -> Option<Rect> {
        if area.is_empty() {
            return None;
        }
        // While a dialog is open, it reports the news itself.
        let is_free = sheet.is_none();
        match self.composer.focus {
            ComposerFocus::Focused => {
                let label = self.describe_enter(state);
                self.composer.editor.draw(frame, area, &label);
                let border = Rect {
                    width: area.width.saturating_sub(2),
                    ..area
                };
                let n_taken = text_width(&label) + 4;
                let has_border = is_free && area.height > 2;
                let word = has_border.then(|| self.draw_cross_tab_toast(frame, border, n_taken));
                self.draw_completion(frame, area, state);
                word.flatten()
            }
            ComposerFocus::Unfocused => {
                let key = self.keymap().key_label("write", ComposerFocus::Unfocused);
                let n_taken = self.composer.editor.min_folded_columns(&key);
                let word = is_free.then(|| self.draw_cross_tab_toast(frame, area, n_taken));
                let word = word.flatten();
                let left = Rect {
                    width: word.map_or(area.width, |word| word.x - area.x),
                    ..area
                };
                self.composer.editor.draw_folded(frame, left, &key);
                word
            }
        }
    }
}
