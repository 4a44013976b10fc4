//! Connects the terminal's events with the screen in front, and the user's requests with the run in front.
//! The loop draws the frames.

use crossterm::event::{Event as Input, KeyEventKind};

use crate::app::startup::RunTreeReader;
use crate::domain::diff_scope::DiffScope;
use crate::domain::export_format::ExportFormat;
use crate::domain::ids::DiscussionId;
use crate::engine::Engine;
use crate::store::{WorkdirLayout, utc_time};
use crate::tui::LineInterface;
use crate::tui::{Action, DiffLookup, DocumentKind, ExternalViewer, LineTiming, TruncatedToolCall};

use super::active_screen::ActiveScreen;
use super::background_result::{CallText, ScrollbackOwner, ScrollbackResult, TerminalResult};
use super::front_run::{self, DiffSource};
use super::terminal_driver::{
    QueryInput, TerminalEvent, TuiSignal, editor_problem, viewer_problem,
};
use super::tui_end::TuiEnd;
use super::{TuiApp, TuiStart};

impl TuiApp {
    /// Returns the screen in front and the run that its keys apply to.
    pub(super) fn front(&mut self) -> ActiveScreen<'_> {
        self.viewer.active_screen(self.session.screen_and_state())
    }

    /// Tells the session whether frames show its screen. Call it after each change of that.
    pub(super) fn sync_front(&mut self) {
        let is_in_front = !self.terminal.is_lent() && !self.viewer.is_in_front();
        self.session.set_in_front(is_in_front);
    }

    /// The first page of earlier events is on the terminal: reads what waited for it.
    pub(super) fn read_after_first_page(&mut self) {
        let view = self.viewer.scrollback(None);
        for each in view.into_iter().chain([self.session.scrollback()]) {
            each.loader.on_first_page_drawn(&mut self.work);
        }
    }

    /// Shows a page of earlier events on the screen that it is for.
    pub(super) fn on_scrollback_page(&mut self, result: ScrollbackResult) {
        let ScrollbackResult { owner, page } = result;
        let target = match owner {
            ScrollbackOwner::Ours if !self.session.has_scrollback() => None,
            ScrollbackOwner::Ours => Some(self.session.scrollback()),
            ScrollbackOwner::View(id) => self.viewer.scrollback(Some(id)),
        };
        let is_shown = target.is_some_and(|target| target.on_page(page));
        let is_covered = owner == ScrollbackOwner::Ours && self.viewer.is_in_front();
        if is_shown && (is_covered || self.terminal.is_lent()) {
            // A view covers the screen, or an editor has the terminal: no frame will show the page.
            self.read_after_first_page();
        }
    }

    pub(super) fn on_terminal_event(&mut self, event: TerminalEvent) -> Result<(), TuiEnd> {
        match event {
            TerminalEvent::Signal(TuiSignal::End("SIGINT"))
                if self.terminal.is_linear() && !self.terminal.is_lent() =>
            {
                let (screen, state) = self.front();
                let actions = LineInterface::new(screen, state).on_interrupt();
                self.handle_actions(actions)
            }
            TerminalEvent::Signal(signalled) => self.terminal.on_signal(signalled),
            TerminalEvent::Line(Some((line, timing))) => self.on_line(&line, timing),
            TerminalEvent::Line(None) => self.on_end_of_lines(),
            TerminalEvent::Panicked => Err(TuiEnd::Panicked),
            TerminalEvent::SpinnerTick => {
                self.terminal.request_spinner_frame();
                Ok(())
            }
            TerminalEvent::Inputs(inputs) => self.on_inputs(inputs.map_err(TuiEnd::TerminalGone)?),
        }
    }

    /// Handles all available input, so that many keys make one frame.
    fn on_inputs(&mut self, inputs: Vec<Input>) -> Result<(), TuiEnd> {
        self.terminal.begin_batch();
        for input in inputs {
            self.on_raw_input(input)?;
        }
        if let Some(rest) = self.terminal.take_paste_tail() {
            self.front().0.on_paste(&rest);
        }
        self.session.save_composer_history();
        Ok(())
    }

    /// Handles a line of the user in linear mode.
    fn on_line(&mut self, line: &str, timing: LineTiming) -> Result<(), TuiEnd> {
        self.terminal.request_prompt_frame();
        let (screen, state) = self.front();
        screen.on_time(utc_time::now());
        let actions = LineInterface::new(screen, state).on_line(line, timing);
        self.session.save_composer_history();
        self.handle_actions(actions)
    }

    /// Asks for the terminal's background if the environment does not tell it.
    pub(super) fn query_background(&mut self) {
        if self.session.screen().theme().needs_terminal_background() {
            self.terminal.query_background();
        }
    }

    fn on_raw_input(&mut self, input: Input) -> Result<(), TuiEnd> {
        match self.terminal.filter_answer(input) {
            QueryInput::Input(inputs) => {
                for input in inputs {
                    if let Some(input) = self.terminal.filter_paste(input) {
                        self.on_input(input)?;
                    }
                }
            }
            QueryInput::Reply(Some(background)) => {
                self.session.screen().on_background(background);
                self.front().0.on_background(background);
            }
            // Without an answer there are no surfaces, and the default colours fit a dark background.
            QueryInput::Reply(_) | QueryInput::Part => {}
        }
        Ok(())
    }

    fn on_input(&mut self, input: Input) -> Result<(), TuiEnd> {
        let (screen, state) = self.front();
        screen.on_time(utc_time::now());
        let was_written = screen.has_composer_text();
        let actions = match input {
            Input::Key(key) if key.kind != KeyEventKind::Release => screen.on_key(key, state),
            Input::Key(_) => Vec::new(),
            Input::Mouse(mouse) => screen.on_mouse(mouse, state),
            Input::Paste(text) => {
                screen.on_paste(&text);
                Vec::new()
            }
            Input::Resize(..) => {
                self.terminal.request_whole_frame();
                Vec::new()
            }
            Input::FocusGained | Input::FocusLost => {
                self.terminal.on_focus(input == Input::FocusLost);
                self.session.refresh_branch();
                return Ok(());
            }
        };
        let is_for_run = |action: &Action| matches!(action, Action::Event(_));
        if was_written
            && self.front().0.is_composer_awaiting_text()
            && actions.iter().any(is_for_run)
        {
            // Clear the composer at once: the run waits for the disk.
            self.draw_if_due()?;
        }
        self.handle_actions(actions)
    }

    /// Opens the user's editor in the terminal; the run continues in the background.
    pub(super) fn edit_document(&mut self, document: DocumentKind) -> Result<(), TuiEnd> {
        if let Some(file) = self.session.begin_edit(document)? {
            self.terminal.open_editor(document, file, &mut self.work)?;
            self.sync_front();
        }
        Ok(())
    }

    /// Shows a text in another program on the terminal; the run continues in the background.
    pub(super) fn open_text(&mut self, text: &str, with: ExternalViewer) -> Result<(), TuiEnd> {
        if let Some(problem) = self.terminal.open_viewer(text, with, &mut self.work)? {
            self.front().0.set_toast(&problem);
        }
        self.sync_front();
        Ok(())
    }

    /// Loads the whole output of a tool call in the background, then shows it.
    pub(super) fn open_call(
        &mut self,
        call: TruncatedToolCall,
        with: ExternalViewer,
    ) -> Result<(), TuiEnd> {
        let Some(layout) = self.front_layout() else {
            return self.open_text(&front_run::partial_call_text(&call), with);
        };
        front_run::read_call(layout, call, with, &mut self.work);
        Ok(())
    }

    /// Shows what was read of a tool call.
    pub(super) fn on_call_read(&mut self, call: &CallText) -> Result<(), TuiEnd> {
        if let Some(problem) = &call.problem {
            self.front().0.set_toast(problem);
        }
        self.open_text(&call.text, call.with)
    }

    /// Continues after work for the terminal: another program has ended, or tmux has a text.
    pub(super) fn on_terminal_result(&mut self, result: TerminalResult) -> Result<(), TuiEnd> {
        match result {
            TerminalResult::EditorClosed(document, ended) => {
                self.terminal.take_back(&ended)?;
                self.sync_front();
                self.session.end_edit(document, editor_problem(ended))
            }
            TerminalResult::ViewerClosed(with, ended) => {
                self.terminal.take_back(&ended)?;
                self.sync_front();
                if let Some(problem) = viewer_problem(with, ended) {
                    self.front().0.set_toast(&problem);
                }
                Ok(())
            }
            TerminalResult::Copied(_, Ok(())) => Ok(()),
            // For example because it is too old.
            TerminalResult::Copied(text, Err(error)) => {
                self.terminal.send_to_clipboard(&text)?;
                self.front().0.set_toast(&format!(
                    "tmux refused the text ({error}). It was sent again in the way that `set -s set-clipboard on` \
                    allows."
                ));
                Ok(())
            }
        }
    }

    /// Returns the paths of the run in front.
    fn front_layout(&self) -> Option<WorkdirLayout> {
        match self.viewer.active_run() {
            Some((_, layout)) => Some(layout),
            None => self.session.layout().cloned(),
        }
    }

    /// Returns the reader for the trees of the run in front; `None` while the directory is still being inspected.
    fn tree_reader(&self) -> Option<RunTreeReader> {
        let own = self.session.project();
        let ours = || own.map(|project| RunTreeReader::from_project(&project.project));
        self.viewer.tree_reader().or_else(ours)
    }

    /// Exports the run in front.
    pub(super) fn export_run(&mut self, form: ExportFormat) {
        match (self.front_layout(), self.tree_reader()) {
            (Some(layout), Some(reader)) => {
                front_run::export_run(layout, reader, form, &mut self.work);
            }
            _ => self
                .front()
                .0
                .set_toast("Still reading the directory. Try again."),
        }
    }

    /// Exports a discussion of the run in front.
    pub(super) fn export_discussion(&mut self, id: &DiscussionId) {
        let Some(layout) = self.front_layout() else {
            return;
        };
        let (screen, state) = self.front();
        if let Some(discussion) = state.and_then(|state| state.discussion(id)) {
            screen.set_toast(&front_run::export_discussion(discussion, &layout.exports()));
        }
    }

    /// Loads changes: of the run in front, else of the run in the directory.
    pub(super) fn show_diff(&mut self, scope: DiffScope) {
        match self.diff_source() {
            Some((source, layout)) => front_run::read_diff(source, layout, scope, &mut self.work),
            None => {
                let why = "still reading the directory, R reads it again".to_owned();
                let screen = self.front().0;
                screen.on_diff(scope, vec![scope], DiffLookup::NoChanges(why));
            }
        }
    }

    fn diff_source(&self) -> Option<(DiffSource, WorkdirLayout)> {
        if let (Some((state, layout)), Some(reader)) =
            (self.viewer.active_run(), self.tree_reader())
        {
            return Some((DiffSource::View(state.map(Box::new), reader), layout));
        }
        if let Some(engine) = self.session.engine() {
            let git = engine.repository().cloned();
            let source = DiffSource::Engine(git, Box::new(engine.state().clone()));
            return Some((source, engine.journal().layout().clone()));
        }
        let project = self.session.project()?;
        let reader = RunTreeReader::from_project(&project.project);
        Some((DiffSource::Directory(reader), project.layout.clone()))
    }

    /// Lists the repository's files for the composer.
    pub(super) fn list_repository_files(&mut self) {
        let of_run = self.session.engine().and_then(Engine::repository);
        let of_folder = || self.session.project()?.project.repository.as_ref();
        match of_run.or_else(of_folder).cloned() {
            Some(repository) => front_run::list_files(repository, &mut self.work),
            None => self.front().0.on_repository_files(Vec::new()),
        }
    }

    /// Opens a finished run over the current screen.
    pub(super) fn open_finished_run(&mut self, name: &str) {
        let settings = self.session.settings().clone();
        let own = self.session.screen_and_state();
        self.viewer.open_run(name, own, &settings, &mut self.work);
        self.sync_front();
    }

    /// Closes the view in front; closing the base view ends the program.
    pub(super) fn close_view(&mut self) -> Result<(), TuiEnd> {
        self.session.screen().mark_dirty();
        let closed = self.close_opened_view();
        self.sync_front();
        closed.ok_or(TuiEnd::Left)
    }

    /// Closes the run that was opened over another one, if any; keeps the theme and mouse mode chosen there.
    fn close_opened_view(&mut self) -> Option<()> {
        let (theme, appearance) = self.viewer.close_opened()?;
        self.front().0.apply_appearance(theme, appearance);
        Some(())
    }

    /// Closes all views and starts like a newly opened program.
    pub(super) fn take_over(&mut self, first: TuiStart) {
        let (theme, appearance) = self.front().0.chosen_appearance();
        self.viewer.close_all();
        self.session.reset_screen(theme, appearance);
        self.starter.reopen_directory(first, &mut self.work);
        self.sync_front();
    }

    /// Makes a run of the history the current one and resumes it.
    pub(super) fn resume_archived_run(&mut self, name: String) {
        if self.viewer.has_base() {
            // A read-only screen has to lock the directory first.
            return self.take_over(TuiStart::ResumeArchived { name });
        }
        self.close_opened_view();
        self.sync_front();
        self.session.screen().mark_dirty();
        self.starter
            .unarchive(name, &mut self.session, &mut self.work);
    }
}
