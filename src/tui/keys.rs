//! Who gets a key: the program's end first, then the composer where it is focused, the long text, the dialog, the table.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::action::Action;
use super::command::{Command, Move};
use super::composer::Written;
use super::keymap::{Context, IsWriting};
use super::list;
use super::read_only::is_calm;
use super::sheet::{AskedBy, Draft, FromComposer, Sheet, Then};
use super::{Screen, Submitted, dialogs, submitting};
use crate::domain::run::RunState;

impl Screen {
    pub(super) fn key(&mut self, key: KeyEvent, state: Option<&RunState>) -> Vec<Action> {
        if key.kind == KeyEventKind::Release {
            return Vec::new();
        }
        if self.is_swallowed(key) {
            return Vec::new();
        }
        self.toast = None;
        if let Some(command @ (Command::Quit | Command::Suspend | Command::Redraw)) =
            self.keymap().find(&key, self.writing)
        {
            return self.perform(command, state);
        }
        if let Some(actions) = self.key_of_palette(key, state) {
            return actions;
        }
        if self.key_of_find(key, state) {
            return Vec::new();
        }
        if self.pager.is_some() && self.writing == IsWriting::No {
            return self.key_of_text(key, state);
        }
        if self.pager.is_none() && self.diff.is_some() {
            return self.key_of_diff(key, state);
        }
        if self.is_board() {
            return self.key_of_board(key, state);
        }
        match self.writing {
            IsWriting::Yes => self.key_while_writing(key, state),
            IsWriting::No => self.key_outside(key, state),
        }
    }

    /// A long text hides the dialog, so no key of the dialog means anything here, and none that moves the run: whoever
    /// knows other programs presses letters to move.
    fn key_of_text(&mut self, key: KeyEvent, state: Option<&RunState>) -> Vec<Action> {
        if let Some(command) = self.keymap().find_in(&key, Context::Text) {
            return self.perform(command, state);
        }
        match self.keymap().find(&key, IsWriting::No) {
            Some(command) if is_calm(&command) => self.perform(command, state),
            Some(_) => {
                let close = self.keymap().named("close", IsWriting::No);
                self.refuse_naming_keys(&format!("{close} closes this text first"))
            }
            None => Vec::new(),
        }
    }

    /// Closes the long text, else what else its key closes; `None` where there is nothing like that.
    pub(super) fn close(&mut self) -> Option<Vec<Action>> {
        if self.pager.take().is_some() || self.pick_nothing() {
            return Some(Vec::new());
        }
        self.is_read_only().then(|| vec![Action::CloseView])
    }

    /// The diff hides the dialog's choices and the composer, so no key of theirs means anything here; what
    /// helps or stops works everywhere, and so do the tabs, whose keys the header shows.
    fn key_of_diff(&mut self, key: KeyEvent, state: Option<&RunState>) -> Vec<Action> {
        if let Some(command) = self.keymap().find_in(&key, Context::Diff) {
            return self.perform(command, state);
        }
        match self.keymap().find(&key, IsWriting::No) {
            Some(
                command @ (Command::Help
                | Command::Interrupt
                | Command::Pause
                | Command::Palette
                | Command::Find
                | Command::Copy
                | Command::Show(_)
                | Command::Scroll(_)),
            ) => self.perform(command, state),
            Some(_) | None => Vec::new(),
        }
    }

    fn key_while_writing(&mut self, key: KeyEvent, state: Option<&RunState>) -> Vec<Action> {
        if self.key_of_offer(key) {
            return Vec::new();
        }
        if let Some(command) = self.keymap().find(&key, IsWriting::Yes) {
            return self.perform(command, state);
        }
        if key.code == KeyCode::Up && self.composer.is_empty() && self.take_queued_back() {
            return Vec::new();
        }
        match self.composer.on_key(key) {
            Written::Edited => self.offer(state),
            Written::Full => self.refuse(&submitting::too_much(None)),
            Written::Submit if self.composer.is_empty() => self.enter_on_nothing(state),
            Written::Submit => match self.submit(state) {
                Submitted::Done(actions) => actions,
                Submitted::Kept(why) => self.refuse(&why),
            },
        }
    }

    /// Enter in an empty composer goes to the dialog, or carries it out where that is harmless.
    fn enter_on_nothing(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let Some(sheet) = self.waiting(state) else {
            return Vec::new();
        };
        if let Some(Draft::Note | Draft::Line) = self.draft {
            // What was asked for is a text; Enter releases no turn here.
            let key = self.keymap().named("leave", IsWriting::Yes);
            return self.refuse_naming_keys(&format!("write it first; {key} leaves"));
        }
        if sheet.from_composer == FromComposer::Yes {
            return self.enter(sheet, state);
        }
        self.writing = IsWriting::No;
        Vec::new()
    }

    fn key_outside(&mut self, key: KeyEvent, state: Option<&RunState>) -> Vec<Action> {
        if self.means_the_end(key) {
            return self.go_to_end_by_letter(state);
        }
        if let Some(sheet) = self.waiting(state) {
            let n = sheet.choices.len();
            let chosen = self.chosen_of(&sheet);
            let (to, n_shown) = (list::move_of(key), self.places.choices.len());
            match key.code {
                KeyCode::Enter if self.places.is_sheet_folded => return self.go_to_need(state),
                KeyCode::Enter => return self.enter(sheet, state),
                _ if to.is_some_and(|to| self.is_of_list(to)) => {
                    let next = to.map_or(chosen, |to| list::stepped(to, chosen, (n, n_shown)));
                    return self.point_at(&sheet, next);
                }
                KeyCode::Esc if self.own.is_some() => {
                    self.bring_theme_back();
                    self.own = None;
                    return Vec::new();
                }
                KeyCode::Char(c) if key.modifiers - KeyModifiers::SHIFT == KeyModifiers::NONE => {
                    let c = c.to_ascii_lowercase();
                    let is_seen = self.is_seen(&sheet);
                    let at = sheet.choices.iter().position(|choice| choice.key == c);
                    if at.is_some() && self.is_deaf(&sheet) {
                        // Whatever else the letter means: it was not meant for what stands there now.
                        return Vec::new();
                    }
                    if let Some((at, choice)) =
                        at.and_then(|at| Some((at, sheet.choices.get(at)?.clone())))
                        && is_seen
                    {
                        return match choice.then {
                            Then::Pick(_) if c.is_ascii_digit() => self.point_at(&sheet, at),
                            Then::Tick { .. } => {
                                self.point_at(&sheet, at);
                                self.choose(choice, state)
                            }
                            _ => self.choose(choice, state),
                        };
                    }
                }
                _ => {}
            }
        }
        if self.keymap().find_in(&key, Context::Text) == Some(Command::Close)
            && let Some(actions) = self.close()
        {
            return actions;
        }
        if key.code == KeyCode::Char('/') {
            return self.begin_command(state);
        }
        self.key_of_table(key, state)
    }

    /// A key that no dialog takes: what the table says of it, but for Enter where something is listed.
    fn key_of_table(&mut self, key: KeyEvent, state: Option<&RunState>) -> Vec<Action> {
        let command = self.keymap().find(&key, IsWriting::No);
        if (key.code, &command) == (KeyCode::Enter, &Some(Command::Focus))
            && let Some(actions) = self.enter_in_list(state)
        {
            return actions;
        }
        match command {
            Some(command) if self.own.is_some() && !is_calm(&command) => {
                self.refuse_naming_keys("Esc goes back first: this key is not for the open list")
            }
            Some(command) => {
                let actions = self.press(command.clone(), state);
                self.note_refused(&command, &actions);
                actions
            }
            None => Vec::new(),
        }
    }

    pub(super) fn begin_command(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if let Some(why) = self.read_only_word() {
            return self.refuse(&why);
        }
        self.begin_writing();
        if self.composer.is_empty() {
            self.composer.set("/");
        }
        self.offer(state)
    }

    /// Does what a key of the table does; a dialog that no frame has shown is not answered by it.
    pub(super) fn press(&mut self, command: Command, state: Option<&RunState>) -> Vec<Action> {
        if command == Command::Resume && self.again().is_none() {
            // A letter decides nothing about a run that is asked about.
            return Vec::new();
        }
        let waiting = self.waiting(state).filter(|_| command == Command::Go);
        if waiting.is_some_and(|sheet| !self.is_seen(&sheet)) {
            return Vec::new();
        }
        self.perform(command, state)
    }

    /// Carries the chosen choice out, but never of a dialog that no frame has shown yet.
    pub(super) fn enter(&mut self, sheet: Sheet, state: Option<&RunState>) -> Vec<Action> {
        if !self.is_seen(&sheet) {
            return Vec::new();
        }
        let chosen = self.chosen_of(&sheet);
        match sheet.choices.into_iter().nth(chosen) {
            Some(choice) => self.choose(choice, state),
            None => Vec::new(),
        }
    }

    /// Tells whether a move is one among the choices: in what the user opened all of them are, elsewhere longer ones turn
    /// what is read.
    fn is_of_list(&self, to: Move) -> bool {
        let own = self.own.as_ref();
        let is_opened = own.is_some_and(|own| own.asked_by == AskedBy::User);
        is_opened || matches!(to, Move::Up | Move::Down)
    }

    pub(super) fn point_at(&mut self, sheet: &Sheet, chosen: usize) -> Vec<Action> {
        self.chosen = Some((sheet.id.clone(), chosen));
        self.show_pointed_at(sheet, chosen);
        Vec::new()
    }

    /// Shows the theme that is pointed at, where the dialog is that of the themes.
    fn show_pointed_at(&mut self, sheet: &Sheet, chosen: usize) {
        let name = dialogs::themes::pointed_at(sheet, chosen);
        if let Some(theme) = name.and_then(|name| self.settings.look.theme(name)) {
            self.settings.theme = theme;
        }
    }
}
