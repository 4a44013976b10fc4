//! Handles clicks and the wheel.
//!
//! The same rule applies everywhere: a click on a hint presses its key. A click on a choice selects it, and a
//! click on the selected choice carries it out like Enter, with the same guards.

use ratatui::crossterm::event::{KeyCode, KeyEvent, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::Screen;
use super::action::Action;
use super::command::ScreenCommand;
use super::command_palette::PaletteResponse;
use super::command_table::CommandTarget;
use super::dialog::DialogFocus;
use super::dialogs::view_list;
use super::discussion_board::DiscussionBoard;
use super::keymap::{ComposerFocus, KeyChord};
use super::scroll_view::ScrollTarget;
use super::tab_kind::TabKind;
use super::tabs::PaneFocus;
use super::view_moves::ScrollMove;
use crate::domain::run::RunState;

/// How many lines one wheel step scrolls.
const WHEEL_LINES: usize = 3;

impl Screen {
    pub(super) fn dispatch_mouse(
        &mut self,
        event: MouseEvent,
        state: Option<&RunState>,
    ) -> Vec<Action> {
        let at = Position::new(event.column, event.row);
        let is_press = matches!(
            event.kind,
            MouseEventKind::Down(_) | MouseEventKind::ScrollUp | MouseEventKind::ScrollDown
        );
        if is_press {
            self.take_letter_back();
        }
        match event.kind {
            MouseEventKind::ScrollUp => self.on_wheel(ScrollMove::Up, at, state),
            MouseEventKind::ScrollDown => self.on_wheel(ScrollMove::Down, at, state),
            // The areas under the palette cannot be clicked.
            MouseEventKind::Down(MouseButton::Left) if self.overlays.palette.is_some() => {
                return self.click_palette(at, state);
            }
            MouseEventKind::Down(MouseButton::Left) => return self.on_click(at, state),
            MouseEventKind::Drag(MouseButton::Left) => self.explain_text_selection(),
            _ => {}
        }
        Vec::new()
    }

    /// Explains once, on the first drag, how to select text.
    fn explain_text_selection(&mut self) {
        if !std::mem::replace(&mut self.toast.is_drag_explained, true) {
            let key = self.keymap().key_label("mouse", self.composer.focus);
            self.show_toast_with_keys(&format!(
                "Hold Shift and drag to select text (Option or Fn in some terminals), or press {key} to give \
                the mouse to the terminal"
            ));
        }
    }

    fn on_wheel(&mut self, to: ScrollMove, at: Position, state: Option<&RunState>) {
        if self.overlays.palette.is_some() {
            self.use_palette(state, |palette, n_shown, now| {
                palette.scroll(to, n_shown, now)
            });
            return;
        }
        if self.overlays.is_board_in_front() {
            return self.scroll_board(to, state);
        }
        if self
            .hit_areas
            .completion
            .iter()
            .any(|(place, _)| place.contains(at))
        {
            let n_shown = self.hit_areas.completion.len();
            self.composer.assist.scroll_completion(to, n_shown);
            return;
        }
        if self.hit_areas.dialog.contains(at) {
            self.step_choice(to, state);
            return;
        }
        let side = self
            .tabs
            .view
            .side_area
            .filter(|(place, _)| place.contains(at));
        for _ in 0..WHEEL_LINES {
            match side {
                Some((_, tab)) => self.scroll_tab(tab, to),
                None if self.tabs.view.side_area.is_some() => {
                    self.scroll_tab(self.tabs.view.shown, to)
                }
                None => self.scroll_view(to),
            }
        }
    }

    /// Handles a click while the palette is open; one outside closes it.
    fn click_palette(&mut self, at: Position, state: Option<&RunState>) -> Vec<Action> {
        let Some((area, rows)) = &self.hit_areas.palette else {
            return Vec::new();
        };
        if !area.contains(at) {
            return self.use_palette(state, |_, _, _| PaletteResponse::Closed);
        }
        let row = rows.iter().find(|(place, _)| place.contains(at));
        match (self.hit_areas.hint_key_at(at), row) {
            (Some(key), _) => self.press_hint_key(key, state),
            (None, Some((_, row))) => {
                let row = *row;
                self.use_palette(state, |palette, _, now| palette.click_row(row, now))
            }
            (None, None) => Vec::new(),
        }
    }

    /// Selects the previous or next choice of a dialog that has more choices than rows.
    fn step_choice(&mut self, to: ScrollMove, state: Option<&RunState>) {
        let Some(sheet) = self
            .pending_dialog(state)
            .filter(|sheet| self.dialogs.is_dialog_drawn(sheet))
        else {
            return;
        };
        if self.hit_areas.choices.len() < sheet.choices.len() {
            let chosen = self.dialogs.chosen_choice(&sheet);
            let last = sheet.choices.len().saturating_sub(1);
            let next = match to {
                ScrollMove::Up => chosen.saturating_sub(1),
                _ => (chosen + 1).min(last),
            };
            self.composer.focus = ComposerFocus::Unfocused;
            self.point_at_choice(&sheet, next);
        }
    }

    fn on_click(&mut self, at: Position, state: Option<&RunState>) -> Vec<Action> {
        let hit = |place: &Rect| place.contains(at);
        if let Some(key) = self.hit_areas.hint_key_at(at) {
            return self.click_hint(key, at, state);
        }
        if let Some((_, row)) = self
            .hit_areas
            .completion
            .iter()
            .find(|(place, _)| hit(place))
        {
            self.composer.click_completion(*row);
            return Vec::new();
        }
        if let Some((_, tab)) = self.hit_areas.tabs.iter().find(|(place, _)| hit(place)) {
            return self.click_tab(*tab);
        }
        if hit(&self.hit_areas.need) {
            self.toast.text = None;
            return self.press_command(ScreenCommand::GoToWaitingDialog, state);
        }
        if let Some((_, command)) = self.hit_areas.buttons.iter().find(|(place, _)| hit(place)) {
            return self.click_button(command.clone(), state);
        }
        if let Some((_, scope)) = self
            .hit_areas
            .diff_strip
            .iter()
            .find(|(place, _)| hit(place))
        {
            let diff = self.overlays.diff.as_mut();
            let wanted = diff.and_then(|view| view.choose_scope(*scope));
            return wanted.map(Action::ShowDiff).into_iter().collect();
        }
        if hit(&self.hit_areas.composer) && self.overlays.search.is_none() {
            let place = self.hit_areas.composer;
            match self.composer.focus {
                ComposerFocus::Focused => self.composer.editor.on_click(place, at),
                ComposerFocus::Unfocused => self.focus_composer(),
            }
            // The cursor moved, so the suggestions have to change.
            return self.update_completion(state);
        }
        let run = self.hit_areas.runs.iter().find(|(place, _)| hit(place));
        if let Some(run) = run.and_then(|(_, n)| self.run_facts.welcome.runs.get(*n)) {
            return vec![Action::OpenRun(run.name.clone())];
        }
        if hit(&self.hit_areas.body) && self.overlays.is_board_in_front() {
            self.click_board(at, state);
            return Vec::new();
        }
        let side = self.tabs.view.side_area.filter(|(place, _)| hit(place));
        if let Some((_, tab)) = side {
            self.tabs.view.pane_focus = PaneFocus::Side;
            return self.click_page(tab, at, state);
        }
        if let (true, Some(pager)) = (hit(&self.hit_areas.body), &mut self.overlays.pager) {
            pager.click(at);
            return Vec::new();
        }
        if hit(&self.hit_areas.body) && !self.overlays.covers_tab() {
            return self.click_body(at, state);
        }
        if self.hit_areas.is_dialog_folded && hit(&self.hit_areas.dialog) {
            return self.go_to_waiting_dialog(state);
        }
        let choice = self.hit_areas.choices.iter().find(|(place, _)| hit(place));
        match choice.map(|(_, choice)| *choice) {
            Some(choice) => self.click_choice(choice, state),
            None => Vec::new(),
        }
    }

    /// Presses the key that a hint names; a hint in a page also selects its line.
    fn click_hint(&mut self, key: KeyChord, at: Position, state: Option<&RunState>) -> Vec<Action> {
        if self
            .overlays
            .pager
            .as_ref()
            .is_some_and(|pager| pager.is_help_at(at))
        {
            return self.press_help_key(key, state);
        }
        let is_page = self.tabs.view.shown != TabKind::Chat
            && self.overlays.pager.is_none()
            && self.overlays.diff.is_none();
        if self.hit_areas.body.contains(at) && is_page && self.overlays.board.is_none() {
            let _was_pointed_at = self.tabs.get_mut(self.tabs.view.shown).click(at);
        }
        self.press_hint_key(key, state)
    }

    /// Presses the key that a hint names. While the user is writing, a letter runs its command and is not typed.
    pub(super) fn press_hint_key(
        &mut self,
        key: KeyChord,
        state: Option<&RunState>,
    ) -> Vec<Action> {
        let event = KeyEvent::new(key.code, key.modifiers);
        let is_typed =
            self.composer.focus == ComposerFocus::Focused || self.overlays.search.is_some();
        if key.is_printable() && is_typed {
            self.toast.text = None;
            match self.keymap().find_command(&event, ComposerFocus::Unfocused) {
                Some(command) => self.press_command(command, state),
                None if key.code == KeyCode::Char('/') => self.begin_slash_command(state),
                None => Vec::new(),
            }
        } else {
            let mut actions = self.dispatch_key(event, state);
            actions.extend(self.act_on_clicked_letter(state));
            actions
        }
    }

    /// Runs the command of a key in the help; closes the help first, because the command works in the view below.
    fn press_help_key(&mut self, key: KeyChord, state: Option<&RunState>) -> Vec<Action> {
        let event = KeyEvent::new(key.code, key.modifiers);
        let Some(command) = self.keymap().find_command(&event, ComposerFocus::Unfocused) else {
            return self.show_toast("This key works while you write.");
        };
        (self.overlays.pager, self.toast.text) = (None, None);
        self.press_command(command, state)
    }

    /// Shows a tab, or lists all, where the window has room for the name of one.
    fn click_tab(&mut self, tab: TabKind) -> Vec<Action> {
        self.close_overlays();
        let is_only = self.hit_areas.tabs.len() == 1;
        // A dialog of the screen that is open, such as the one that asks whether to quit, stays.
        if is_only && self.dialogs.own.is_none() {
            return self.open_dialog(view_list::build_dialog(tab));
        }
        if self.tabs.view.shown != tab {
            self.show_tab(tab);
        }
        Vec::new()
    }

    /// Carries out the command of a button; Auto asks once more while an agent works, as its key does.
    fn click_button(&mut self, command: ScreenCommand, state: Option<&RunState>) -> Vec<Action> {
        let said = self.toast.text.take();
        if command == ScreenCommand::AutoGate && self.asks_for_auto_again(said.as_deref(), state) {
            return Vec::new();
        }
        self.press_command(command, state)
    }

    /// Handles a click in the body: in the chat it selects and opens at once, elsewhere the second click
    /// opens. For a discussion it opens the board.
    fn click_body(&mut self, at: Position, state: Option<&RunState>) -> Vec<Action> {
        self.tabs.view.pane_focus = PaneFocus::Main;
        if self.tabs.view.shown == TabKind::Chat {
            let row = usize::from(at.y - self.hit_areas.body.y);
            self.tabs.chat.transcript.select_row(row);
            return match self.tabs.chat.transcript.selected_discussion().cloned() {
                Some(id) => self.open_board(DiscussionBoard::new(id)),
                None => self.change_view(|screen| {
                    let _nothing_to_open = screen.tabs.chat.transcript.toggle_selected();
                }),
            };
        }
        self.click_page(self.tabs.view.shown, at, state)
    }

    /// Selects the clicked entry of a page, or opens it if it is already selected.
    fn click_page(&mut self, tab: TabKind, at: Position, state: Option<&RunState>) -> Vec<Action> {
        let target = self.tabs.get_mut(tab).page().map(|page| page.target_at(at));
        if target.flatten() == Some(ScrollTarget::Filters) {
            return self.cycle_filter(state);
        }
        if self.tabs.get_mut(tab).click(at) {
            self.open_selection(state)
        } else {
            Vec::new()
        }
    }

    /// Selects a choice of the dialog, or carries it out if it is already selected.
    fn click_choice(&mut self, choice: usize, state: Option<&RunState>) -> Vec<Action> {
        let Some(sheet) = self
            .pending_dialog(state)
            .filter(|sheet| self.dialogs.is_dialog_drawn(sheet))
        else {
            return Vec::new();
        };
        let is_pointed_at = match self
            .composer
            .dialog_focus(&sheet, self.dialogs.chosen_choice(&sheet))
        {
            DialogFocus::Dialog(at) | DialogFocus::EnterOnly(at) => at == choice,
            DialogFocus::Composer(_) | DialogFocus::Nobody => false,
        };
        self.composer.focus = ComposerFocus::Unfocused;
        if is_pointed_at {
            self.confirm_choice(sheet, state)
        } else {
            self.point_at_choice(&sheet, choice)
        }
    }
}
