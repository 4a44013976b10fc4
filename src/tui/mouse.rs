//! Handles clicks and the wheel.
//!
//! The same rule applies everywhere: a click on a hint presses its key. A click on a choice selects it, and a
//! click on the selected choice carries it out like Enter, with the same guards.

use ratatui::crossterm::event::{KeyCode, KeyEvent, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::Screen;
use super::action::Action;
use super::command::ScreenCommand;
use super::command_table::CommandTarget;
use super::dialog::DialogFocus;
use super::dialogs::view_list;
use super::discussion_board::DiscussionBoard;
use super::keymap::{ComposerFocus, KeyChord};
use super::overlays::{LayerPlace, ScreenOverlay, WHEEL_LINES};
use super::pager::TextPager;
use super::search_bar::SearchBar;
use super::tab_kind::TabKind;
use super::tabs::PaneFocus;
use super::view_moves::ScrollMove;
use crate::domain::run::RunState;

/// Handles a click or a turn of the wheel on the screen.
pub(super) struct MouseHandler<'a> {
    screen: &'a mut Screen,
    state: Option<&'a RunState>,
}

impl<'a> MouseHandler<'a> {
    pub(super) fn new(screen: &'a mut Screen, state: Option<&'a RunState>) -> Self {
        Self { screen, state }
    }

    pub(super) fn on_event(&mut self, event: MouseEvent) -> Vec<Action> {
        let at = Position::new(event.column, event.row);
        let is_press = matches!(
            event.kind,
            MouseEventKind::Down(_) | MouseEventKind::ScrollUp | MouseEventKind::ScrollDown
        );
        if is_press {
            self.screen.take_letter_back();
        }
        match event.kind {
            MouseEventKind::ScrollUp => self.on_wheel(ScrollMove::Up, at),
            MouseEventKind::ScrollDown => self.on_wheel(ScrollMove::Down, at),
            // The areas under a window cannot be clicked.
            MouseEventKind::Down(MouseButton::Left) if self.is_under_window() => {
                return match self.screen.hit_areas.hint_key_at(at) {
                    Some(key) => self.press_hint_key(key),
                    None => self.click_overlay(at),
                };
            }
            MouseEventKind::Down(MouseButton::Left) => return self.on_click(at),
            MouseEventKind::Drag(MouseButton::Left) => self.explain_text_selection(),
            _ => {}
        }
        Vec::new()
    }

    /// Explains once, on the first drag, how to select text.
    fn explain_text_selection(&mut self) {
        if !std::mem::replace(&mut self.screen.toast.is_drag_explained, true) {
            let key = self
                .screen
                .keymap()
                .key_label("mouse", self.screen.composer.focus);
            self.screen.show_toast_with_keys(&format!(
                "Hold Shift and drag to select text (Option or Fn in some terminals), or press {key} to give \
                the mouse to the terminal"
            ));
        }
    }

    fn on_wheel(&mut self, to: ScrollMove, at: Position) {
        if self.is_under_window() {
            return self.screen.scroll_view(to, self.state);
        }
        if self
            .screen
            .hit_areas
            .completion
            .iter()
            .any(|(place, _)| place.contains(at))
        {
            let n_shown = self.screen.hit_areas.completion.len();
            self.screen.composer.assist.scroll_completion(to, n_shown);
            return;
        }
        if self.screen.hit_areas.dialog.contains(at) {
            self.step_choice(to);
            return;
        }
        let side = self
            .screen
            .tabs
            .view
            .side_area
            .filter(|(place, _)| place.contains(at));
        let view = self.screen.overlays.view();
        for _ in 0..view.map_or(WHEEL_LINES, ScreenOverlay::wheel_lines) {
            match side {
                Some((_, tab)) => self.screen.scroll_tab(tab, to),
                None if self.screen.tabs.view.side_area.is_some() => {
                    self.screen.scroll_tab(self.screen.tabs.view.shown, to)
                }
                None => self.screen.scroll_view(to, self.state),
            }
        }
    }

    /// Returns whether something lies over a part of the window, so that nothing around it can be clicked.
    fn is_under_window(&self) -> bool {
        self.screen.overlays.has_place(LayerPlace::Window)
    }

    fn click_overlay(&mut self, at: Position) -> Vec<Action> {
        let screen = &mut *self.screen;
        let ask = screen.ask_overlays(self.state, |layer, context| layer.click(at, context));
        ask.unwrap_or_default()
    }

    /// Selects the previous or next choice of a dialog that has more choices than rows.
    fn step_choice(&mut self, to: ScrollMove) {
        let Some(sheet) = self
            .screen
            .pending_dialog(self.state)
            .filter(|sheet| self.screen.dialogs.is_dialog_drawn(sheet))
        else {
            return;
        };
        if self.screen.hit_areas.choices.len() < sheet.choices.len() {
            let chosen = self.screen.dialogs.chosen_choice(&sheet);
            let last = sheet.choices.len().saturating_sub(1);
            let next = match to {
                ScrollMove::Up => chosen.saturating_sub(1),
                _ => (chosen + 1).min(last),
            };
            self.screen.composer.focus = ComposerFocus::Unfocused;
            self.screen.point_at_choice(&sheet, next);
        }
    }

    /// Handles a click: on what lies around the view, else on the view or the dialog below it.
    fn on_click(&mut self, at: Position) -> Vec<Action> {
        let areas = &self.screen.hit_areas;
        if let Some(key) = areas.hint_key_at(at) {
            return self.click_hint(key, at);
        }
        if let Some(row) = find_hit(&areas.completion, at) {
            self.screen.composer.click_completion(row);
            return Vec::new();
        }
        if let Some(tab) = find_hit(&areas.tabs, at) {
            return self.click_tab(tab);
        }
        if areas.need.contains(at) {
            self.screen.toast.text = None;
            let go = ScreenCommand::GoToWaitingDialog;
            return self.screen.press_command(go, self.state);
        }
        if let Some(command) = find_hit(&areas.buttons, at) {
            return self.click_button(command);
        }
        let composer = areas.composer;
        if composer.contains(at) && !self.screen.overlays.has::<SearchBar>() {
            match self.screen.composer.focus {
                ComposerFocus::Focused => self.screen.composer.editor.on_click(composer, at),
                ComposerFocus::Unfocused => self.screen.focus_composer(),
            }
            // The cursor moved, so the suggestions have to change.
            return self.screen.update_completion(self.state);
        }
        let runs = &self.screen.run_facts.welcome.runs;
        let run = find_hit(&areas.runs, at).and_then(|n| runs.get(n));
        match run {
            Some(run) => vec![Action::OpenRun(run.name.clone())],
            None => self.click_view(at),
        }
    }

    /// Handles a click on the view, its second pane, or the dialog.
    fn click_view(&mut self, at: Position) -> Vec<Action> {
        let areas = &self.screen.hit_areas;
        let is_in_body = areas.body.contains(at);
        if is_in_body && self.screen.overlays.covers_tab() {
            return self.click_overlay(at);
        }
        let side = self.screen.tabs.view.side_area;
        if let Some((_, tab)) = side.filter(|(place, _)| place.contains(at)) {
            self.screen.tabs.view.pane_focus = PaneFocus::Side;
            return self.click_page(tab, at);
        }
        if is_in_body {
            return self.click_body(at);
        }
        if areas.is_dialog_folded && areas.dialog.contains(at) {
            return self.screen.go_to_waiting_dialog(self.state);
        }
        match find_hit(&areas.choices, at) {
            Some(choice) => self.click_choice(choice),
            None => Vec::new(),
        }
    }

    /// Presses the key that a hint names; a hint in a page also selects its line.
    fn click_hint(&mut self, key: KeyChord, at: Position) -> Vec<Action> {
        let overlays = &self.screen.overlays;
        let is_help = |pager: &TextPager| pager.is_help_at(at);
        if overlays.find().is_some_and(is_help) {
            return self.press_help_key(key);
        }
        let is_page = self.screen.tabs.view.shown != TabKind::Chat && !overlays.covers_tab();
        if self.screen.hit_areas.body.contains(at) && is_page {
            let _was_pointed_at = self
                .screen
                .tabs
                .get_mut(self.screen.tabs.view.shown)
                .click(at);
        }
        self.press_hint_key(key)
    }

    /// Presses the key that a hint names. While the user is writing, a letter runs its command and is not typed.
    pub(super) fn press_hint_key(&mut self, key: KeyChord) -> Vec<Action> {
        let event = KeyEvent::new(key.code, key.modifiers);
        let is_typed = self.screen.composer.focus == ComposerFocus::Focused
            || self.screen.overlays.has::<SearchBar>();
        if key.is_printable() && is_typed {
            self.screen.toast.text = None;
            match self
                .screen
                .keymap()
                .find_command(&event, ComposerFocus::Unfocused)
            {
                Some(command) => self.screen.press_command(command, self.state),
                None if key.code == KeyCode::Char('/') => {
                    self.screen.begin_slash_command(self.state)
                }
                None => Vec::new(),
            }
        } else {
            let mut actions = self.screen.dispatch_key(event, self.state);
            actions.extend(self.screen.act_on_clicked_letter(self.state));
            actions
        }
    }

    /// Runs the command of a key in the help; closes the help first, because the command works in the view below.
    fn press_help_key(&mut self, key: KeyChord) -> Vec<Action> {
        let event = KeyEvent::new(key.code, key.modifiers);
        let Some(command) = self
            .screen
            .keymap()
            .find_command(&event, ComposerFocus::Unfocused)
        else {
            return self.screen.show_toast("This key works while you write.");
        };
        self.screen.overlays.close::<TextPager>();
        self.screen.toast.text = None;
        self.screen.press_command(command, self.state)
    }

    /// Shows a tab, or lists all, where the window has room for the name of one.
    fn click_tab(&mut self, tab: TabKind) -> Vec<Action> {
        self.screen.close_overlays();
        let is_only = self.screen.hit_areas.tabs.len() == 1;
        // A dialog of the screen that is open, such as the one that asks whether to quit, stays.
        if is_only && self.screen.dialogs.own.is_none() {
            return self.screen.open_dialog(view_list::build_dialog(tab));
        }
        if self.screen.tabs.view.shown != tab {
            self.screen.show_tab(tab);
        }
        Vec::new()
    }

    /// Carries out the command of a button; Auto asks once more while an agent works, as its key does.
    fn click_button(&mut self, command: ScreenCommand) -> Vec<Action> {
        let said = self.screen.toast.shown_kind();
        self.screen.toast.text = None;
        if command == ScreenCommand::AutoGate && self.screen.asks_for_auto_again(said, self.state) {
            return Vec::new();
        }
        self.screen.press_command(command, self.state)
    }

    /// Handles a click in the body: in the chat it selects and opens at once, elsewhere the second click
    /// opens. For a discussion it opens the board.
    fn click_body(&mut self, at: Position) -> Vec<Action> {
        self.screen.tabs.view.pane_focus = PaneFocus::Main;
        if self.screen.tabs.view.shown == TabKind::Chat {
            let row = usize::from(at.y - self.screen.hit_areas.body.y);
            self.screen.tabs.chat.transcript.select_row(row);
            return match self
                .screen
                .tabs
                .chat
                .transcript
                .selected_discussion()
                .cloned()
            {
                Some(id) => self.screen.open_board(DiscussionBoard::new(id)),
                None => self.screen.change_view(|screen| {
                    let _nothing_to_open = screen.tabs.chat.transcript.toggle_selected();
                }),
            };
        }
        self.click_page(self.screen.tabs.view.shown, at)
    }

    /// Selects the clicked entry of a page, or opens it if it is already selected.
    fn click_page(&mut self, tab: TabKind, at: Position) -> Vec<Action> {
        if self.screen.tabs.get_mut(tab).click(at) {
            self.screen.open_selection(self.state)
        } else {
            Vec::new()
        }
    }

    /// Selects a choice of the dialog, or carries it out if it is already selected.
    fn click_choice(&mut self, choice: usize) -> Vec<Action> {
        let Some(sheet) = self
            .screen
            .pending_dialog(self.state)
            .filter(|sheet| self.screen.dialogs.is_dialog_ready(sheet))
        else {
            return Vec::new();
        };
        let is_pointed_at = match self
            .screen
            .composer
            .dialog_focus(&sheet, self.screen.dialogs.chosen_choice(&sheet))
        {
            DialogFocus::Dialog(at) | DialogFocus::EnterOnly(at) => at == choice,
            DialogFocus::Composer(_) | DialogFocus::Nobody => false,
        };
        self.screen.composer.focus = ComposerFocus::Unfocused;
        if is_pointed_at {
            self.screen.confirm_choice(sheet, self.state)
        } else {
            self.screen.point_at_choice(&sheet, choice)
        }
    }
}

/// Returns what the area at a position stands for.
fn find_hit<T: Clone>(areas: &[(Rect, T)], at: Position) -> Option<T> {
    let found = areas.iter().find(|(place, _)| place.contains(at));
    found.map(|(_, meaning)| meaning.clone())
}
