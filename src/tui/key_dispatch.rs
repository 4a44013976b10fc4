//! Decides what handles a key: quit keys, then the layers over the tab from the top down, then composer, dialog and
//! keymap.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::action::Action;
use super::command::ScreenCommand;
use super::command_palette::{CommandPalette, PaletteAction, PaletteEntry};
use super::command_table::{is_safe_in_overlay, works_in_view};
use super::composer::{ComposerKeyResult, describe_too_large};
use super::composer_submit::SEND_FIRST;
use super::composer_submit::SubmitOutcome;
use super::dialog::{ChoiceAction, ChoiceDialog, ComposerDraft, DialogFocus, EmptyComposerEnter};
use super::input_guard::unseen_dialog_reason;
use super::keymap::{ComposerFocus, KeyContext};
use super::list_index;
use super::pager::TextPager;
use super::tab_kind::TabKind;
use super::toast_line::ToastKind;
use super::{Screen, dialogs};
use crate::domain::phase::Gate;
use crate::domain::run::RunState;

impl Screen {
    pub(super) fn dispatch_key(&mut self, key: KeyEvent, state: Option<&RunState>) -> Vec<Action> {
        if key.kind == KeyEventKind::Release {
            return Vec::new();
        }
        let guard = &mut self.dialogs.guard;
        if guard.is_key_swallowed(key, self.composer.focus) {
            return Vec::new();
        }
        if let Some(actions) = self.on_key_after_letter(key, state) {
            return actions;
        }
        let said = self.toast.shown_kind();
        self.toast.text = None;
        if self.asks_before_auto(key, said, state) {
            return Vec::new();
        }
        if self.is_second_escape(key, said, state) {
            return self.perform_command(ScreenCommand::InterruptTurn, state);
        }
        // The program can be left in every view, so these keys come before all others.
        if let Some(command) = self.keymap().find_command(&key, self.composer.focus)
            && works_in_view(&command, KeyContext::Find)
        {
            return self.perform_command(command, state);
        }
        let ask = self.ask_overlays(state, |layer, context| layer.on_key(key, context));
        if let Some(actions) = ask {
            return actions;
        }
        match self.composer.focus {
            ComposerFocus::Focused if self.dialogs.guard.is_repeated_answer(key) => Vec::new(),
            ComposerFocus::Focused => self.on_composer_key(key, state),
            ComposerFocus::Unfocused => self.on_key_outside_composer(key, state),
        }
    }

    /// Asks for the key once more before turns are sent without asking, while an agent works: a letter may be the beginning of
    /// a text that was meant for the composer. Returns whether it did.
    fn asks_before_auto(
        &mut self,
        key: KeyEvent,
        said: Option<ToastKind>,
        state: Option<&RunState>,
    ) -> bool {
        let command = self.keymap().find_command(&key, ComposerFocus::Unfocused);
        let is_auto_key = self.composer.focus == ComposerFocus::Unfocused
            && command == Some(ScreenCommand::AutoGate)
            && self.overlays.is_empty()
            && !self.is_read_only();
        is_auto_key && self.asks_for_auto_again(said, state)
    }

    /// Asks for Auto once more, with the note of its key, while an agent works and nothing is asked; returns whether it did.
    pub(super) fn asks_for_auto_again(
        &mut self,
        said: Option<ToastKind>,
        state: Option<&RunState>,
    ) -> bool {
        let works =
            state.is_some_and(|state| state.running.is_some() && state.gate == Gate::Manual);
        if !works || self.pending_dialog(state).is_some() {
            return false;
        }
        // The note itself says that the key was asked for: any other key removes it.
        if said == Some(ToastKind::AutoAgain) {
            return false;
        }
        let label = |action| self.keymap().key_label(action, ComposerFocus::Unfocused);
        let (auto, write) = (label("auto"), label("write"));
        let note =
            format!("Press {auto} again to send turns without asking, or {write} to write a text.");
        self.toast.show(&note, ToastKind::AutoAgain);
        true
    }

    /// Closes the pager, or whatever else its key closes; `None` if there is nothing to close.
    pub(super) fn close_top(&mut self, state: Option<&RunState>) -> Option<Vec<Action>> {
        let context = self.settings.tab_context(&self.documents, state);
        if self.overlays.close::<TextPager>() || self.tabs.focused().clear_selection(&context) {
            return Some(Vec::new());
        }
        self.is_read_only().then(|| vec![Action::CloseView])
    }

    pub(super) fn on_composer_key(
        &mut self,
        key: KeyEvent,
        state: Option<&RunState>,
    ) -> Vec<Action> {
        let n_shown = self.hit_areas.completion.len();
        if self.composer.on_completion_key(key, n_shown) {
            return Vec::new();
        }
        if let Some(command) = self.keymap().find_command(&key, ComposerFocus::Focused) {
            let actions = self.perform_command(command, state);
            let has_left = self.composer.focus == ComposerFocus::Unfocused;
            if key.code == KeyCode::Esc && has_left && self.may_escape_turn(state) {
                self.ask_for_escape_again();
            }
            return actions;
        }
        if key.code == KeyCode::Up
            && self.composer.editor.is_empty()
            && self.recall_queued_messages()
        {
            return Vec::new();
        }
        if self.composer.editor.is_empty()
            && let Some(actions) = self.on_choice_arrow(key, state)
        {
            return actions;
        }
        match self.composer.editor.on_key(key) {
            ComposerKeyResult::Edited => {
                self.note_addressee(state);
                self.update_completion(state)
            }
            ComposerKeyResult::Full => self.show_toast(&describe_too_large(None)),
            ComposerKeyResult::Submit if self.composer.editor.is_empty() => {
                self.on_enter_in_empty_composer(state)
            }
            ComposerKeyResult::Submit if self.has_new_addressee(state) => {
                // The user is told the new one, so the next Enter means it.
                self.composer.written_for = None;
                let what = if state.is_none_or(|state| state.phase.is_final()) {
                    "The run has ended"
                } else {
                    "The turn has changed"
                };
                let then = self.enter_effect(state);
                let then = then.map(|effect| format!(". Enter again: {effect}"));
                self.show_toast(&format!("Not sent. {what}{}", then.unwrap_or_default()))
            }
            ComposerKeyResult::Submit => match self.submit_composer(state) {
                SubmitOutcome::Done(actions) => {
                    self.composer.written_for = None;
                    actions
                }
                SubmitOutcome::StaysInComposer(why) => self.show_toast(&why),
            },
        }
    }

    /// Selects another choice of a dialog that Enter in the empty composer answers, where its choices stand side by side;
    /// there the arrow has no use in the composer. `None` for any other key.
    fn on_choice_arrow(&mut self, key: KeyEvent, state: Option<&RunState>) -> Option<Vec<Action>> {
        let is_arrow = matches!(key.code, KeyCode::Left | KeyCode::Right);
        let to = list_index::button_move(key).filter(|_| is_arrow)?;
        let sheet = self.pending_dialog(state)?;
        let chosen = self.dialogs.chosen_choice(&sheet);
        let focus = self.composer.dialog_focus(&sheet, chosen);
        if !matches!(focus, DialogFocus::EnterOnly(_)) || !self.hit_areas.has_buttons() {
            return None;
        }
        let n_shown = self.hit_areas.choices.len();
        let next = list_index::step_index(to, chosen, sheet.choices.len(), n_shown);
        Some(self.point_at_choice(&sheet, next))
    }

    /// Enter in an empty composer goes to the dialog, or carries out its choice if that is harmless.
    fn on_enter_in_empty_composer(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let Some(sheet) = self.pending_dialog(state) else {
            let has_ended = state.is_some_and(|state| state.phase.is_final());
            if has_ended && !self.is_read_only() {
                return self.show_toast("Write the next goal, then press Enter");
            }
            return Vec::new();
        };
        if let Some(ComposerDraft::Note | ComposerDraft::Line) = self.composer.draft {
            // The dialog asked for a text, so Enter must not send a turn here.
            let key = self.keymap().key_label("leave", ComposerFocus::Focused);
            return self
                .show_toast_with_keys(&format!("Write your text first, or leave with {key}"));
        }
        // A text that another dialog asked for is still open: Enter only goes to the dialog.
        let enter = match self.composer.draft {
            Some(_) => EmptyComposerEnter::FocusesDialog,
            None => sheet.empty_composer_enter,
        };
        match enter {
            EmptyComposerEnter::CarriesOutChoice => self.confirm_choice(sheet, state),
            EmptyComposerEnter::CarriesOutAndLeaves => {
                let actions = self.confirm_choice(sheet, state);
                if !actions.is_empty() {
                    self.composer.focus = ComposerFocus::Unfocused;
                }
                actions
            }
            EmptyComposerEnter::FocusesDialog => {
                self.composer.focus = ComposerFocus::Unfocused;
                Vec::new()
            }
        }
    }

    fn on_key_outside_composer(&mut self, key: KeyEvent, state: Option<&RunState>) -> Vec<Action> {
        if !self.is_go_to_end_letter(key)
            && let Some(sheet) = self.pending_dialog(state)
            && let Some(actions) = self.begin_reply(key, &sheet, state)
        {
            return actions;
        }
        self.act_on_key(key, state)
    }

    /// Does what a key means that is no text.
    pub(super) fn act_on_key(&mut self, key: KeyEvent, state: Option<&RunState>) -> Vec<Action> {
        if self.is_go_to_end_letter(key) {
            return self.go_to_end_by_letter(state);
        }
        if let Some(sheet) = self.pending_dialog(state) {
            let n = sheet.choices.len();
            let chosen = self.dialogs.chosen_choice(&sheet);
            let to = if self.hit_areas.has_buttons() {
                list_index::button_move(key)
            } else {
                list_index::list_move(key)
            };
            let n_shown = self.hit_areas.choices.len();
            match key.code {
                KeyCode::Enter if self.hit_areas.is_dialog_folded => {
                    return self.go_to_waiting_dialog(state);
                }
                KeyCode::Enter => return self.confirm_choice(sheet, state),
                _ if to.is_some_and(|to| self.dialogs.is_list_move(to))
                    && !(self.picks_beside_buttons()
                        && matches!(key.code, KeyCode::Up | KeyCode::Down)) =>
                {
                    let next =
                        to.map_or(chosen, |to| list_index::step_index(to, chosen, n, n_shown));
                    return self.point_at_choice(&sheet, next);
                }
                KeyCode::Esc if self.dialogs.own.is_some() => {
                    self.restore_theme();
                    self.dialogs.own = None;
                    return Vec::new();
                }
                KeyCode::Char(c) if key.modifiers - KeyModifiers::SHIFT == KeyModifiers::NONE => {
                    let c = c.to_ascii_lowercase();
                    let is_seen = self.dialogs.is_dialog_ready(&sheet);
                    let at = sheet.choices.iter().position(|choice| choice.key == c);
                    if at.is_some() && self.dialogs.is_dialog_guarded(&sheet) {
                        // Whatever else the letter means, it was not meant for this dialog.
                        self.dialogs.guard.note_ignored_key();
                        return Vec::new();
                    }
                    if let Some((at, choice)) =
                        at.and_then(|at| Some((at, sheet.choices.get(at)?.clone())))
                        && is_seen
                    {
                        return match choice.action {
                            ChoiceAction::PickAnswer(_) if c.is_ascii_digit() => {
                                self.point_at_choice(&sheet, at)
                            }
                            ChoiceAction::TickAnswer { .. } => {
                                self.point_at_choice(&sheet, at);
                                self.perform_choice(choice, state)
                            }
                            _ => self.perform_choice(choice, state),
                        };
                    }
                }
                _ => {}
            }
        }
        if self.keymap().find_view_command(&key, KeyContext::Text) == Some(ScreenCommand::Close)
            && let Some(actions) = self.close_top(state)
        {
            return actions;
        }
        if key.code == KeyCode::Esc && self.may_escape_turn(state) {
            return self.ask_for_escape_again();
        }
        if key.code == KeyCode::Esc && self.pending_dialog(state).is_some() && self.takes_reply() {
            return self.leave_reply();
        }
        if key.code == KeyCode::Char('/') {
            return self.begin_slash_command(state);
        }
        self.on_keymap_key(key, state)
    }

    /// Returns whether up and down pick an entry of the tab, because the buttons of the dialog are side by side.
    pub(super) fn picks_beside_buttons(&self) -> bool {
        let has_list = matches!(
            self.tabs.view.focused(),
            TabKind::Plan | TabKind::Comments | TabKind::Log
        );
        has_list && self.hit_areas.has_buttons() && self.dialogs.own.is_none()
    }

    /// Handles a key that no dialog takes: runs its command from the keymap, except Enter in a list.
    fn on_keymap_key(&mut self, key: KeyEvent, state: Option<&RunState>) -> Vec<Action> {
        let command = self.keymap().find_command(&key, ComposerFocus::Unfocused);
        if (key.code, &command) == (KeyCode::Enter, &Some(ScreenCommand::FocusComposer))
            && let Some(actions) = self.on_enter_in_list(state)
        {
            return actions;
        }
        match command {
            Some(command) if self.dialogs.own.is_some() && !is_safe_in_overlay(&command) => {
                self.show_toast_with_keys("This key does not work in the list. Press Esc first.")
            }
            Some(command) => {
                let actions = self.press_command(command.clone(), state);
                let guard = &mut self.dialogs.guard;
                guard.note_refused_command(&command, &actions, self.composer.focus);
                actions
            }
            None => Vec::new(),
        }
    }

    pub(super) fn open_palette(&mut self) -> Vec<Action> {
        let covered = self.dialogs.readable_dialog_id(self.overlays.find());
        self.overlays.open(CommandPalette::over_dialog(covered));
        Vec::new()
    }

    pub(super) fn run_palette_entry(
        &mut self,
        entry: PaletteEntry,
        read_dialog: Option<String>,
        state: Option<&RunState>,
    ) -> Vec<Action> {
        self.composer.note_recent_command(&entry);
        match entry.action {
            PaletteAction::Command(command) => {
                let known = self.dialog_context();
                match unseen_dialog_reason(&command, read_dialog.as_deref(), state, &known) {
                    Some(why) => self.show_toast(&why),
                    None => self.perform_command(command, state),
                }
            }
            PaletteAction::FillComposer(text) => {
                if let Some(why) = self.settings.read_only_reason() {
                    return self.show_toast(&why);
                }
                if !self.composer.editor.is_empty() {
                    return self.show_toast(SEND_FIRST);
                }
                self.composer.editor.set_text(&text);
                self.focus_composer();
                Vec::new()
            }
        }
    }

    pub(super) fn begin_slash_command(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if let Some(why) = self.settings.read_only_reason() {
            return self.show_toast(&why);
        }
        self.focus_composer();
        if self.composer.editor.is_empty() {
            self.composer.editor.set_text("/");
        }
        self.update_completion(state)
    }

    /// Runs the command of a key; it never answers a dialog that has not been drawn.
    pub(super) fn press_command(
        &mut self,
        command: ScreenCommand,
        state: Option<&RunState>,
    ) -> Vec<Action> {
        if command == ScreenCommand::ResumeRun && self.settings.resumable_run().is_none() {
            // A letter must not answer the question whether to resume a run.
            return Vec::new();
        }
        let waiting = self
            .pending_dialog(state)
            .filter(|_| command == ScreenCommand::Go);
        if waiting.is_some_and(|sheet| !self.dialogs.is_dialog_ready(&sheet)) {
            self.dialogs.guard.note_ignored_key();
            return Vec::new();
        }
        self.perform_command(command, state)
    }

    /// Carries out the selected choice, but never that of a dialog that has not been drawn.
    pub(super) fn confirm_choice(
        &mut self,
        sheet: ChoiceDialog,
        state: Option<&RunState>,
    ) -> Vec<Action> {
        if !self.dialogs.is_dialog_ready(&sheet) {
            self.dialogs.guard.note_ignored_key();
            return Vec::new();
        }
        let chosen = self.dialogs.chosen_choice(&sheet);
        match sheet.choices.into_iter().nth(chosen) {
            Some(choice) => self.perform_choice(choice, state),
            None => Vec::new(),
        }
    }

    pub(super) fn point_at_choice(&mut self, sheet: &ChoiceDialog, chosen: usize) -> Vec<Action> {
        self.dialogs.chosen = Some((sheet.id.clone(), chosen));
        self.preview_pointed_theme(sheet, chosen);
        Vec::new()
    }

    /// Previews the selected theme, if the dialog is the theme list.
    fn preview_pointed_theme(&mut self, sheet: &ChoiceDialog, chosen: usize) {
        let name = dialogs::theme_picker::selected_theme(sheet, chosen);
        if let Some(theme) = name.and_then(|name| self.settings.appearance.theme(name)) {
            self.settings.theme = theme;
        }
    }
}
