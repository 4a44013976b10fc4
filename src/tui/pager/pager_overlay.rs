//! The long text as a layer over the tab: which keys, clicks and copies reach it, and what waits behind it.

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::{Position, Rect};

use super::TextPager;
use crate::domain::run::RunState;
use crate::tui::child_session_list::child_title;
use crate::tui::clickable_keys;
use crate::tui::command::ScreenCommand;
use crate::tui::command_table::is_safe_in_overlay;
use crate::tui::dialog::ChoiceDialog;
use crate::tui::keymap::{ComposerFocus, KeyContext, KeyHint};
use crate::tui::overlays::{
    LayerContext, LayerPlace, LayerResponse, MAX_OVERLAY_HINTS, ScreenOverlay,
};
use crate::tui::run_commands::CommandOutcome;
use crate::tui::searchable_view::SearchableView;
use crate::tui::tabs::chat::scroll_transcript;
use crate::tui::text_wrap::to_one_line;
use crate::tui::view_area::{gutter, inset, split_top};
use crate::tui::view_moves::ScrollMove;

impl ScreenOverlay for TextPager {
    fn place(&self) -> LayerPlace {
        LayerPlace::Tab
    }

    fn key_context(&self) -> Option<KeyContext> {
        Some(KeyContext::Text)
    }

    /// Draws what waits behind it, in one row, and the text.
    fn draw(&mut self, frame: &mut Frame, mut area: Rect, context: &LayerContext<'_>) {
        if area.is_empty() {
            return;
        }
        let child = |open| child_title(context.state?, open);
        if let Some(title) = self.session().and_then(child) {
            self.title = to_one_line(&title);
        }
        let keymap = context.keymap();
        // A text that belongs to the dialog already has its title.
        let is_other = |sheet: &&ChoiceDialog| self.dialog_id() != Some(sheet.id.as_str());
        if let Some(sheet) = context.waiting.filter(is_other).filter(|_| area.height > 2) {
            let margin = gutter(area.width).max(1);
            let line = inset(split_top(&mut area, 1), margin);
            let back = keymap.key_label("close", ComposerFocus::Unfocused);
            let columns = usize::from(line.width);
            let waits = clickable_keys::waiting_behind_line(&sheet.heading(), &back, columns);
            frame.render_widget(waits, line);
        }
        let margin = gutter(area.width).saturating_sub(1);
        self.draw_text(frame, inset(area, margin), keymap);
    }

    /// Handles a key, unless the user writes beside the text. Commands that change the run do nothing, because users of
    /// other pagers press letters to move.
    fn on_key(&mut self, key: KeyEvent, context: &LayerContext<'_>) -> LayerResponse {
        if context.composer.focus == ComposerFocus::Focused {
            return LayerResponse::PassedOn;
        }
        let keymap = context.keymap();
        if let Some(command) = keymap.find_view_command(&key, KeyContext::Text) {
            return LayerResponse::Command(command);
        }
        if key.code == KeyCode::Enter && self.child.is_some() {
            return LayerResponse::OpenSelected;
        }
        match keymap.find_command(&key, ComposerFocus::Unfocused) {
            Some(command) if is_safe_in_overlay(&command) => LayerResponse::Command(command),
            Some(_) => {
                let close = keymap.key_label("close", ComposerFocus::Unfocused);
                LayerResponse::Toast(format!("Close this text first ({close})"))
            }
            None => self.explain_answer_key(key, context),
        }
    }

    /// Selects the block at a position of a session, and opens or folds it.
    fn click(&mut self, at: Position, _context: &LayerContext<'_>) -> LayerResponse {
        let rows = self.session_area;
        if let Some(child) = self.child.as_mut().filter(|_| rows.contains(at)) {
            child.transcript.select_row(usize::from(at.y - rows.y));
            let _nothing_to_open = child.transcript.toggle_selected();
        }
        LayerResponse::used()
    }

    fn scroll(&mut self, to: ScrollMove, context: &LayerContext<'_>) -> LayerResponse {
        match &mut self.child {
            Some(child) => scroll_transcript(&mut child.transcript, to, context.page_rows),
            None => self.scroll_view.scroll(to),
        }
        LayerResponse::used()
    }

    /// Chooses as many scrolling keys as there is room for before the others; what closes it is last.
    fn choose_hints(&self, all: Vec<KeyHint>, _state: Option<&RunState>) -> Vec<KeyHint> {
        let is_scroll = |hint: &KeyHint| {
            let mut commands = hint.keys.iter().map(|(_, command)| command);
            commands.all(|command| matches!(command, ScreenCommand::Scroll(_)))
        };
        let (moves, others): (Vec<KeyHint>, Vec<KeyHint>) = all.into_iter().partition(is_scroll);
        let n_moves = MAX_OVERLAY_HINTS.saturating_sub(others.len());
        moves.into_iter().take(n_moves).chain(others).collect()
    }

    fn copy(&self, _context: &LayerContext<'_>) -> Option<CommandOutcome> {
        Some(CommandOutcome::copy(self.copy_text()))
    }

    fn printed_text(&self, state: Option<&RunState>) -> Option<(String, String)> {
        let child = self.session().and_then(|open| child_title(state?, open));
        let comparison = self.comparison.as_ref().map(|both| both.title.clone());
        let title = child.or(comparison).unwrap_or_else(|| self.title.clone());
        Some((title, self.copy_text()))
    }

    fn searched(&self) -> Option<&dyn SearchableView> {
        Some(self)
    }

    fn searched_mut(&mut self) -> Option<&mut dyn SearchableView> {
        Some(self)
    }

    fn is_stale(&self, waiting: Option<&ChoiceDialog>) -> bool {
        let dialog = self.dialog_id();
        dialog.is_some_and(|id| waiting.is_none_or(|sheet| sheet.id != id))
    }
}

impl TextPager {
    /// Says how a dialog is answered whose text is read, where the key is one of its answers.
    fn explain_answer_key(&self, key: KeyEvent, context: &LayerContext<'_>) -> LayerResponse {
        let is_read = |sheet: &&ChoiceDialog| self.dialog_id() == Some(sheet.id.as_str());
        let choices = context.waiting.filter(is_read).map(|sheet| &sheet.choices);
        let mut keys = choices.into_iter().flatten().map(|choice| choice.key);
        if !keys.any(|letter| key.code == KeyCode::Char(letter)) {
            return LayerResponse::used();
        }
        let keymap = context.keymap();
        let close = keymap.key_label("close", ComposerFocus::Unfocused);
        LayerResponse::Toast(format!("{close} goes back to answer"))
    }
}
