//! Who has the keys: an open question, a tab, the result of a run, or the composer.
//!
//! A letter at a question is one of the keys that the screen shows, or else the beginning of a text.

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::Screen;
use super::action::Action;
use super::command::ScreenCommand;
use super::command_table::is_command_available;
use super::composer::typed_char;
use super::composer_pane::KeyClaim;
use super::dialog::{ChoiceDialog, EmptyComposerEnter};
use super::keymap::ComposerFocus;
use super::tab_kind::TabKind;
use crate::domain::phase::Phase;
use crate::domain::run::RunState;

impl Screen {
    /// Decides for a frame who gets the keys: a dialog, a tab or the result that comes to the front with it; else the
    /// composer, unless the user left it.
    pub(super) fn settle_focus(&mut self, sheet: Option<&ChoiceDialog>, state: Option<&RunState>) {
        let claim = self.key_claim(sheet, state);
        let is_lost = self.composer.yield_focus(claim);
        if is_lost || sheet.is_none() {
            self.dialogs.guard.set_keys_taken(sheet.is_some());
        }
        self.return_focus(sheet, state);
    }

    /// Gives the keys back to the composer if nothing claims them any more.
    pub(super) fn return_focus(&mut self, sheet: Option<&ChoiceDialog>, state: Option<&RunState>) {
        let takes_texts = |state: &RunState| {
            state.phase == Phase::RefineGoal || state.running.is_some() || state.busy.is_some()
        };
        let is_held = self.composer.is_left
            || self.is_read_only()
            || self.overlays.covers_tab()
            || self.overlays.palette.is_some()
            || self.overlays.search.is_some()
            || self.open_child_session().is_some()
            || !state.is_none_or(takes_texts);
        let is_free = match self.key_claim(sheet, state) {
            None => true,
            Some(KeyClaim::Talk(_)) => self.composer.is_lent,
            Some(_) => false,
        };
        if self.composer.focus == ComposerFocus::Unfocused && !is_held && is_free {
            self.composer.focus = ComposerFocus::Focused;
            self.composer.is_lent = false;
            self.dialogs.guard.note_keys_returned();
        }
    }

    /// Returns what needs the keys more than an empty composer.
    fn key_claim(
        &self,
        sheet: Option<&ChoiceDialog>,
        state: Option<&RunState>,
    ) -> Option<KeyClaim> {
        let tab = self.tabs.view.focused();
        match sheet {
            Some(sheet)
                if tab == TabKind::Chat
                    && sheet.empty_composer_enter == EmptyComposerEnter::CarriesOutAndLeaves =>
            {
                Some(KeyClaim::Talk(sheet.id.clone()))
            }
            Some(sheet) => Some(KeyClaim::Dialog(sheet.id.clone())),
            None if tab != TabKind::Chat => Some(KeyClaim::Tab(tab)),
            None => state
                .is_some_and(|state| state.phase.is_final())
                .then_some(KeyClaim::Result),
        }
    }
}

/// Letters at a question.
impl Screen {
    /// Begins a text in the composer with a letter that the screen does not show as a key, or a sign that is none, while a
    /// question of the run has the keys; also with letters that came so early and so fast that they answer nothing. `None` for any other key.
    pub(super) fn begin_reply(
        &mut self,
        key: KeyEvent,
        sheet: &ChoiceDialog,
        state: Option<&RunState>,
    ) -> Option<Vec<Action>> {
        let letter = typed_char(key).filter(|_| self.takes_reply())?;
        let command = self.keymap().find_command(&key, ComposerFocus::Unfocused);
        let is_key = command.is_some() || letter == '/';
        if is_key && !letter.is_alphabetic() {
            return None;
        }
        let mut choices = sheet.choices.iter();
        // A dialog that is reduced to a line takes no answer.
        let is_answer = choices.any(|choice| choice.key == letter.to_ascii_lowercase())
            && !self.hit_areas.is_dialog_folded;
        let is_early =
            self.dialogs.is_dialog_guarded(sheet) || !self.dialogs.is_dialog_drawn(sheet);
        let is_meant = if is_answer {
            !is_early
        } else {
            self.is_shown_key(key, state) && !(is_early && self.dialogs.guard.has_early_letters())
        };
        let text = self.dialogs.guard.add_early_letter(letter, is_meant)?;
        if is_answer && !is_several_letters(&text) {
            return None;
        }
        self.dialogs.guard.clear_early_letters();
        self.focus_composer();
        let keys = text.chars().map(|c| KeyEvent::from(KeyCode::Char(c)));
        Some(
            keys.flat_map(|key| self.on_composer_key(key, state))
                .collect(),
        )
    }

    /// Returns whether a letter may begin a text: a question of the run is in front, and the user has not asked for the keys
    /// by leaving the composer, going to another tab, or selecting something.
    pub(super) fn takes_reply(&self) -> bool {
        let dialogs = &self.dialogs;
        let is_of_run = dialogs.own.is_none()
            && dialogs.unfinished_run.is_none()
            && dialogs.instructions.is_none();
        is_of_run
            && !self.composer.is_left
            && !self.is_read_only()
            && !self.overlays.covers_tab()
            && self.tabs.view.focused() == TabKind::Chat
            && !self.tabs.get(TabKind::Chat).has_selection()
    }

    /// Makes all letters at questions commands, until the user writes again.
    pub(super) fn leave_reply(&mut self) -> Vec<Action> {
        self.composer.is_left = true;
        let write = self.keymap().key_label("write", ComposerFocus::Unfocused);
        self.show_toast_with_keys(&format!(
            "Letters are commands now, {write} to write a text"
        ))
    }

    /// Returns whether the last frame shows a letter as a key, or the letter interrupts what runs.
    fn is_shown_key(&self, key: KeyEvent, state: Option<&RunState>) -> bool {
        let command = self.keymap().find_command(&key, ComposerFocus::Unfocused);
        let areas = &self.hit_areas;
        let interrupts = command == Some(ScreenCommand::InterruptTurn)
            && is_command_available(&ScreenCommand::InterruptTurn, state, None);
        let writes = command == Some(ScreenCommand::FocusComposer);
        interrupts
            || writes
            || areas.hints.iter().any(|(_, shown)| shown.matches(&key))
            || command.is_some_and(|command| areas.footer_commands.contains(&command))
    }
}

/// Returns whether a text is more than one letter, which may be repeated: a held key is no text.
fn is_several_letters(text: &str) -> bool {
    let mut letters = text.chars();
    let first = letters.next();
    letters.any(|letter| Some(letter) != first)
}
