//! Who has the keys: an open question, a tab, the result of a run, or the composer.
//!
//! A letter at a question is one of the keys that the screen shows, or else the beginning of a text. One that is shown waits a
//! moment ([`DelayedLetter`]): with another character after it, it begins a text, too. So do the number of a tab or an answer,
//! and the signs that the lines of a text begin with.

use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

use super::Screen;
use super::action::Action;
use super::command::ScreenCommand;
use super::command_table::is_command_available;
use super::composer::typed_char;
use super::composer_pane::KeyClaim;
use super::delayed_letter::DelayedLetter;
use super::dialog::{ChoiceAction, ChoiceDialog, EmptyComposerEnter};
use super::keymap::ComposerFocus;
use super::tab_kind::TabKind;
use super::toast_line::ToastKind;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::run::{ProgramOperation, RunState};

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
            || !self.overlays.is_empty()
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

/// Esc, where a turn runs.
impl Screen {
    /// Returns whether a turn or tests run, and Esc has nothing else to leave.
    pub(super) fn may_escape_turn(&self, state: Option<&RunState>) -> bool {
        let works = |state: &RunState| {
            state.running.is_some()
                || state.busy == Some(ProgramOperation::Baseline)
                || state.may_interrupt_step_tests()
        };
        state.is_some_and(works)
            && !self.is_read_only()
            && self.overlays.is_empty()
            && self.pending_dialog(state).is_none()
    }

    /// Says that Esc interrupts the turn when it is pressed again.
    pub(super) fn ask_for_escape_again(&mut self) -> Vec<Action> {
        let write = self.keymap().key_label("write", ComposerFocus::Unfocused);
        let note = format!("Press Esc again to interrupt, {write} to write a text");
        self.toast.show(&note, ToastKind::EscapeAgain);
        Vec::new()
    }

    /// Returns whether Esc is pressed again, behind the note that says what it does then.
    pub(super) fn is_second_escape(
        &self,
        key: KeyEvent,
        said: Option<ToastKind>,
        state: Option<&RunState>,
    ) -> bool {
        key.code == KeyCode::Esc
            && key.kind == KeyEventKind::Press
            && key.modifiers.is_empty()
            && self.dialogs.guard.has_paused()
            && self.composer.focus == ComposerFocus::Unfocused
            && said == Some(ToastKind::EscapeAgain)
            && self.may_escape_turn(state)
    }
}

/// Letters at a question.
impl Screen {
    /// Begins a text in the composer with a letter that the screen does not show as a key, or a sign that is none, while a
    /// question of the run has the keys; also with letters that came so early and so fast that they answer nothing. A letter
    /// that is shown waits for the next one. `None` for any other key.
    pub(super) fn begin_reply(
        &mut self,
        key: KeyEvent,
        sheet: &ChoiceDialog,
        state: Option<&RunState>,
    ) -> Option<Vec<Action>> {
        let letter = typed_char(key).filter(|_| self.takes_reply())?;
        let command = self.keymap().find_command(&key, ComposerFocus::Unfocused);
        let is_key = command.is_some() || letter == '/';
        if is_key && !may_begin_text(letter) {
            return None;
        }
        let mut choices = sheet.choices.iter();
        // A dialog that is reduced to a line takes no answer.
        let choice = choices
            .position(|choice| choice.key == letter.to_ascii_lowercase())
            .filter(|_| !self.hit_areas.is_dialog_folded);
        let is_answer = choice.is_some();
        let is_early =
            self.dialogs.is_dialog_guarded(sheet) || !self.dialogs.is_dialog_drawn(sheet);
        let is_meant = if is_answer {
            !is_early
        } else {
            self.is_shown_key(key, state) && !(is_early && self.dialogs.guard.has_early_letters())
        };
        let Some(text) = self.dialogs.guard.add_early_letter(letter, is_meant) else {
            // The key that writes is followed by a text; as a capital it begins one.
            let choice_action = choice.and_then(|at| Some(&sheet.choices.get(at)?.action));
            let opens_composer = match choice_action {
                Some(ChoiceAction::RunCommand(command)) => *command == ScreenCommand::FocusComposer,
                Some(_) => false,
                None => command == Some(ScreenCommand::FocusComposer),
            };
            let writes = opens_composer && letter.is_lowercase();
            // Several answers are ticked one after the other.
            let ticks = matches!(choice_action, Some(ChoiceAction::TickAnswer { .. }));
            let waits = may_begin_text(letter)
                && !writes
                && !ticks
                && self.dialogs.delay_letter(key, sheet, choice);
            return waits.then(Vec::new);
        };
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
            && self.tabs.chat.transcript.selected_text().is_none()
    }

    /// Makes all letters at questions commands, until the user writes again.
    pub(super) fn leave_reply(&mut self) -> Vec<Action> {
        self.composer.is_left = true;
        let write = self.keymap().key_label("write", ComposerFocus::Unfocused);
        self.show_toast_with_keys(&format!("Letters are keys · {write} to write"))
    }

    /// Returns whether the last frame shows a letter as a key, or the letter interrupts what runs, shows a tab or
    /// the question in full.
    fn is_shown_key(&self, key: KeyEvent, state: Option<&RunState>) -> bool {
        let command = self.keymap().find_command(&key, ComposerFocus::Unfocused);
        let areas = &self.hit_areas;
        let interrupts = command == Some(ScreenCommand::InterruptTurn)
            && is_command_available(&ScreenCommand::InterruptTurn, state, None);
        let is_of_screen = matches!(
            command,
            Some(
                ScreenCommand::FocusComposer | ScreenCommand::Show(_) | ScreenCommand::ViewFullText
            )
        );
        interrupts
            || is_of_screen
            || areas.hints.iter().any(|(_, shown)| shown.matches(&key))
            || command.is_some_and(|command| areas.footer_commands.contains(&command))
    }
}

/// A letter that waits.
impl Screen {
    /// Handles the key after a letter that waits: a character makes both a text, Enter makes the letter act now, and any other
    /// key takes it back. `None` if the key has a meaning of its own, too.
    pub(super) fn on_key_after_letter(
        &mut self,
        key: KeyEvent,
        state: Option<&RunState>,
    ) -> Option<Vec<Action>> {
        if self.dialogs.repeat_letter(key) {
            return Some(Vec::new());
        }
        let letter = self.dialogs.take_letter()?;
        let sheet = self.pending_dialog(state);
        let sheet = sheet.filter(|sheet| sheet.id == letter.dialog);
        let is_number = |key| {
            sheet
                .as_ref()
                .is_some_and(|sheet| is_answer_number(key, sheet))
        };
        let picks_answer = is_number(letter.key);
        if picks_answer && is_number(key) {
            // Another answer is meant.
            return None;
        }
        if typed_char(key).is_some() {
            self.focus_composer();
            let keys = letter.presses().chain([key]);
            let typed = keys.flat_map(|key| self.on_composer_key(key, state));
            return Some(typed.collect());
        }
        match key.code {
            KeyCode::Enter => {
                let actions = self.act_on_letter(&letter, state);
                // The number of an answer selects it, and Enter sends it.
                (!picks_answer).then_some(actions)
            }
            KeyCode::Esc | KeyCode::Backspace => Some(Vec::new()),
            _ => None,
        }
    }

    /// Puts a letter that waits before a text that comes now.
    pub(super) fn write_delayed_letter(&mut self) {
        let letter = self.dialogs.take_letter();
        for key in letter.iter().flat_map(DelayedLetter::presses) {
            let _is_one_char = self.composer.editor.on_key(key);
        }
    }

    /// Returns how long a letter still waits before it acts; `None` if none waits.
    pub fn letter_wait(&self, now: UnixMillis) -> Option<Duration> {
        self.dialogs.letter_wait(now)
    }

    /// Takes back the letter that waits, because something else is in front.
    pub fn take_letter_back(&mut self) {
        self.is_dirty |= self.dialogs.take_letter().is_some();
    }

    /// Carries out the letter that waits, if its time is over.
    pub fn act_on_due_letter(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let letter = self.dialogs.take_due_letter();
        letter.map_or_else(Vec::new, |letter| self.act_on_letter(&letter, state))
    }

    /// Carries out a letter, unless something came in front of the dialog at which it was typed.
    pub(super) fn act_on_letter(
        &mut self,
        letter: &DelayedLetter,
        state: Option<&RunState>,
    ) -> Vec<Action> {
        self.is_dirty = true;
        if !self.is_still_asked(letter, state) {
            return Vec::new();
        }
        // What comes next was not there when the letter was pressed.
        self.dialogs.guard.on_key(letter.key);
        let actions = self.act_on_key(letter.key, state);
        self.note_discussion_request(&actions);
        self.dialogs.note_letter_acted();
        actions
    }

    /// Returns whether the dialog at which a letter was typed is in front, and means the same by it.
    fn is_still_asked(&self, letter: &DelayedLetter, state: Option<&RunState>) -> bool {
        let Some(sheet) = self.pending_dialog(state) else {
            return false;
        };
        let typed = typed_char(letter.key).map(|letter| letter.to_ascii_lowercase());
        let is_named = sheet.choices.iter().any(|choice| Some(choice.key) == typed);
        let takes_answer =
            is_named && self.dialogs.is_dialog_ready(&sheet) && !self.hit_areas.is_dialog_folded;
        let means_the_same = if letter.is_answer {
            takes_answer
        } else {
            !is_named || self.hit_areas.is_dialog_folded
        };
        sheet.id == letter.dialog
            && means_the_same
            && self.takes_reply()
            && self.composer.focus == ComposerFocus::Unfocused
            && self.overlays.is_empty()
    }

    /// Carries out the letter of a hint that was clicked: a click is no beginning of a text.
    pub(super) fn act_on_clicked_letter(&mut self, state: Option<&RunState>) -> Vec<Action> {
        match self.dialogs.take_letter() {
            Some(letter) if self.is_still_asked(&letter, state) => {
                self.act_on_key(letter.key, state)
            }
            Some(_) | None => Vec::new(),
        }
    }
}

/// Returns whether a text may begin with a character that is a key, too: a letter, a number, or what the lines of a Markdown
/// text begin with. Keys that move or unfold, as `.` and Space, are pressed several times in a row.
fn may_begin_text(c: char) -> bool {
    /// A list, a heading, a quotation of two kinds.
    const SIGNS: &str = "-+#>\"";
    c.is_alphanumeric() || SIGNS.contains(c)
}

/// Returns whether a key is the number of an answer, of which one is to be chosen.
fn is_answer_number(key: KeyEvent, sheet: &ChoiceDialog) -> bool {
    let typed = typed_char(key).filter(char::is_ascii_digit);
    let mut choices = sheet.choices.iter();
    typed.is_some()
        && choices.any(|choice| {
            Some(choice.key) == typed && matches!(choice.action, ChoiceAction::PickAnswer(_))
        })
}

/// Returns whether a text is more than one letter, which may be repeated: a held key is no text.
fn is_several_letters(text: &str) -> bool {
    let mut letters = text.chars();
    let first = letters.next();
    letters.any(|letter| Some(letter) != first)
}
