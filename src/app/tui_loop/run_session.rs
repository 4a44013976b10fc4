//! Owns the program's own run: its engine, the locked directory, and the screen that shows it.
//!
//! Passes the user's events to the engine and what the engine recorded to the screen. Does not decide when a run
//! starts, nor whether its screen is in front.
//!
//! Agent output waits for the next frame of agent output. A key that arrives meanwhile is answered by a frame of a few
//! bytes, not after the terminal has received a page of text.

mod approval_actions;
mod composer_history;
mod dialog_previews;
mod discussion_actions;
mod document_tracker;
mod exit_message;
mod plan_line_edit;
mod run_actions;
mod run_end;
mod run_lifecycle;
mod task_actions;

use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;

use crate::app::remote_control::halt_reason;
use crate::app::startup::LockedProject;
use crate::domain::event::Event;
use crate::domain::question::QuestionKind;
use crate::domain::run::RunState;
use crate::domain::turn::TurnPurpose;
use crate::engine::{Engine, EngineInput, ViewUpdate};
use crate::store::{StoreError, WorkdirLayout, utc_time};
use crate::tui::{Action, Screen, ScreenSettings};

use super::active_screen::ActiveScreen;
use super::background_result::RunResult;
use super::background_work::BackgroundWork;
use super::document_loader::DocumentSnapshot;
use super::scrollback_loader::{ScrollbackAccess, ScrollbackLoader};
use super::tui_end::TuiEnd;
use composer_history::ComposerHistory;
use dialog_previews::DialogPreviews;
use document_tracker::DocumentTracker;

pub use discussion_actions::to_arguments;
pub use run_actions::RunRequest;
pub use task_actions::ChildHistory;

/// Time to process engine inputs before the loop checks the keys again.
const BATCH_TIME: Duration = Duration::from_millis(1);

/// The program's own run and its screen.
pub struct RunSession {
    screen: Screen,
    settings: ScreenSettings,
    /// `None` until the directory is locked, and while a run starts.
    project: Option<LockedProject>,
    engine: Option<Engine>,
    /// The unfinished run that the user is asked about.
    unfinished_state: Option<Box<RunState>>,
    /// What the screen does not show yet: it waits for the next frame of agent output.
    updates: Vec<ViewUpdate>,
    previews: DialogPreviews,
    documents: DocumentTracker,
    /// Whether the earlier events of the run are on the screen or being loaded.
    scrollback_is_shown: bool,
    /// The events before those that the screen has.
    scrollback: ScrollbackLoader,
    composer_history: ComposerHistory,
    /// Until when a running turn may end by its CLI's protocol; set once the user wants to leave.
    leave_at: Option<Instant>,
    /// Whether the frames on the terminal show this screen.
    is_in_front: bool,
    changes: SessionChanges,
}

/// What the loop is to know of the updates since it asked last.
#[derive(Debug, Default, Clone, Copy)]
pub struct SessionChanges {
    /// Whether the run may have changed.
    pub has_updates: bool,
    /// Whether the user may be waiting for them: the start of a turn, a question, an end.
    pub is_urgent: bool,
}

impl RunSession {
    /// Creates a session without a run.
    pub fn new(settings: ScreenSettings) -> Self {
        Self {
            screen: Screen::new(settings.clone()),
            settings,
            project: None,
            engine: None,
            unfinished_state: None,
            updates: Vec::new(),
            previews: DialogPreviews::default(),
            documents: DocumentTracker::default(),
            scrollback_is_shown: false,
            scrollback: ScrollbackLoader::default(),
            composer_history: ComposerHistory::default(),
            leave_at: None,
            is_in_front: true,
            changes: SessionChanges::default(),
        }
    }

    pub fn screen(&mut self) -> &mut Screen {
        &mut self.screen
    }

    /// Returns the screen and the run that its keys apply to.
    pub fn screen_and_state(&mut self) -> ActiveScreen<'_> {
        let state = self.engine.as_ref().map(Engine::state);
        (&mut self.screen, state)
    }

    /// Returns the screen and the run that it draws, which may be one that the user is asked about.
    pub fn screen_and_drawn_run(&mut self) -> ActiveScreen<'_> {
        let state = self.engine.as_ref().map(Engine::state);
        (&mut self.screen, state.or(self.unfinished_state.as_deref()))
    }

    /// Returns the settings of the screen.
    pub fn settings(&self) -> &ScreenSettings {
        &self.settings
    }

    /// Returns the locked directory; `None` until it is locked, and while a run starts.
    pub fn project(&self) -> Option<&LockedProject> {
        self.project.as_ref()
    }

    /// Returns the paths of the locked directory.
    pub fn layout(&self) -> Option<&WorkdirLayout> {
        Some(&self.project.as_ref()?.layout)
    }

    /// Returns the engine of the open run.
    pub fn engine(&self) -> Option<&Engine> {
        self.engine.as_ref()
    }

    /// Returns the engine for a request of another process, which gets its answer from it.
    pub fn engine_for_request(&mut self) -> Option<&mut Engine> {
        self.engine.as_mut()
    }

    /// Returns the state of the run, if one is open.
    pub fn state(&self) -> Option<&RunState> {
        self.engine.as_ref().map(Engine::state)
    }

    /// Returns whether an agent or the program itself is working.
    pub fn is_busy(&self) -> bool {
        self.state().is_some_and(RunState::is_working)
    }

    /// Returns whether agent output waits for its frame.
    pub fn has_waiting_output(&self) -> bool {
        !self.updates.is_empty()
    }

    /// Notes whether the frames on the terminal show this screen.
    pub fn set_in_front(&mut self, is_in_front: bool) {
        self.is_in_front = is_in_front;
    }

    /// Returns what changed since the last call.
    pub fn take_changes(&mut self) -> SessionChanges {
        std::mem::take(&mut self.changes)
    }

    /// Returns what the loop waits for: changes of the documents, and the engine's inputs.
    pub fn event_sources(&mut self) -> (&DocumentTracker, Option<&mut Engine>) {
        (&self.documents, self.engine.as_mut())
    }

    /// Notes that a document changed.
    pub fn on_documents_changed(&mut self) {
        self.documents.on_changed(Instant::now());
    }

    /// Returns the next instant at which the run has something to do.
    pub fn next_timer_at(&self) -> Option<Instant> {
        let letter_wait = self.screen.letter_wait(utc_time::now());
        let letter_at = letter_wait.map(|wait| Instant::now() + wait);
        let moments = [self.documents.next_read_at(), self.leave_at, letter_at];
        moments.into_iter().flatten().min()
    }

    /// Does what is due by now.
    pub fn on_timer(&mut self, now: Instant, work: &mut BackgroundWork) {
        if self.documents.next_read_at().is_some_and(|at| at <= now) {
            let layout = self.project.as_ref().map(|project| &project.layout);
            self.documents.read(layout, work);
        }
    }

    /// Returns whether the time to end a turn is over, once the user wants to leave.
    pub fn is_leave_due(&self, now: Instant) -> bool {
        self.leave_at.is_some_and(|at| at <= now)
    }

    /// Handles an engine input, and all others that are ready.
    pub fn on_engine_inputs(&mut self, first: EngineInput) -> Result<(), TuiEnd> {
        let Some(engine) = &mut self.engine else {
            return Ok(());
        };
        engine.handle_input(first)?;
        let until = Instant::now() + BATCH_TIME;
        while Instant::now() < until {
            let Some(inward) = engine.next_input().now_or_never() else {
                break;
            };
            engine.handle_input(inward)?;
        }
        self.show_updates()
    }

    /// Handles an event of the user.
    pub fn on_event(&mut self, event: Event) -> Result<(), TuiEnd> {
        match event {
            Event::GoalMessageAdded { text } => self.say_about_goal(text),
            other => self.feed_event(other),
        }
    }

    /// Applies a user's event to the run.
    fn feed_event(&mut self, event: Event) -> Result<(), TuiEnd> {
        let Some(engine) = &mut self.engine else {
            return Ok(());
        };
        if let Some(why) = halt_reason(engine) {
            self.screen.on_notice(&why);
            return Ok(());
        }
        engine.apply_event(event)?;
        self.show_updates()
    }

    /// Sends a message about the goal. Sending it also releases the turn: the user has just read all of it.
    fn say_about_goal(&mut self, text: String) -> Result<(), TuiEnd> {
        self.feed_event(Event::GoalMessageAdded { text })?;
        let awaiting = self.state().and_then(|state| state.awaiting.as_ref());
        let waits = awaiting.is_some_and(|question| {
            matches!(&question.kind, QuestionKind::Gate { order }
                if matches!(order.purpose, TurnPurpose::RefineGoal { .. }))
        });
        if waits {
            self.feed_event(Event::TurnSendConfirmed)?;
        }
        Ok(())
    }

    /// Makes the run hold its turns while the user is asked whether to stop.
    pub fn sync_turn_hold(&mut self) -> Result<(), TuiEnd> {
        let hold = self.screen.turn_hold();
        let Some(engine) = &mut self.engine else {
            return Ok(());
        };
        let state = engine.state();
        let is_so = state.turn_hold == hold || state.phase.is_final();
        if is_so || self.leave_at.is_some() || halt_reason(engine).is_some() {
            return Ok(());
        }
        self.feed_event(Event::TurnHoldChanged { hold })
    }

    /// Takes updates from the run: shows agent output at the pace of its frames, everything else at once.
    fn show_updates(&mut self) -> Result<(), TuiEnd> {
        let mut can_wait = true;
        if let Some(engine) = &mut self.engine {
            let updates = engine.take_view_updates();
            can_wait = updates.iter().all(can_wait_for_output_frame);
            if updates.iter().any(changes_prompt) {
                // The preview must include it: the turn at the gate will send it, too.
                self.previews.forget_question();
            }
            self.updates.extend(updates);
        }
        self.changes.has_updates = true;
        if !(self.is_in_front && can_wait) {
            self.apply_updates();
            self.refresh_branch();
            self.changes.is_urgent = true;
        }
        if let Some(engine) = &self.engine {
            self.previews.show(engine, &mut self.screen);
        }
        self.send_queued_messages()?;
        if self.leave_at.is_some() && self.state().is_none_or(|state| state.running.is_none()) {
            return Err(TuiEnd::Left);
        }
        Ok(())
    }

    /// Applies the collected updates to the screen.
    pub fn apply_updates(&mut self) {
        for update in std::mem::take(&mut self.updates) {
            match update {
                ViewUpdate::TextDelta(delta) => self.screen.on_delta(delta),
                ViewUpdate::ProofProgress(at, progress) => {
                    self.screen.on_proof_progress(at, &progress);
                }
                ViewUpdate::EventRecord(record) => {
                    if let (Event::TaskStarted(order), Some(project)) =
                        (&record.event, &self.project)
                    {
                        task_actions::load_next_task(&project.layout, order, &mut self.screen);
                    }
                    self.screen.on_event(record.at, &record.event);
                }
            }
        }
    }

    /// Sends the messages that were queued while an agent worked, once they can be sent.
    fn send_queued_messages(&mut self) -> Result<(), TuiEnd> {
        let state = self.engine.as_ref().map(Engine::state);
        for due in self.screen.drain_due_messages(state) {
            if let Action::Event(event) = due {
                self.on_event(event)?;
            }
        }
        Ok(())
    }

    /// Shows the branch that is checked out.
    fn on_branch(&mut self, branch: Option<String>) {
        self.settings.branch = branch;
        self.screen.on_settings(self.settings.clone());
    }

    /// Checks which branch is checked out, because a run or the user may have switched. Costs reading one line.
    pub fn refresh_branch(&mut self) {
        let project = self.project.as_ref();
        let repository = project.and_then(|project| project.project.repository.as_ref());
        let branch = repository.and_then(|git| git.branches().branch_from_head_file());
        if branch.is_some() && self.settings.branch != branch {
            self.on_branch(branch);
        }
    }

    /// Saves the user's new inputs for the next start.
    pub fn save_composer_history(&mut self) {
        self.composer_history.save(&mut self.screen);
    }

    /// Returns whether the screen has earlier events: the user may have archived that run meanwhile.
    pub fn has_scrollback(&self) -> bool {
        self.scrollback_is_shown || self.engine.is_some()
    }

    /// Returns the screen with the loader of its earlier events.
    pub fn scrollback(&mut self) -> ScrollbackAccess<'_> {
        let engine = self.engine.as_ref();
        ScrollbackAccess {
            screen: &mut self.screen,
            loader: &mut self.scrollback,
            layout: engine.map(|engine| engine.journal().layout().clone()),
        }
    }

    /// Handles a result of work for the run.
    pub fn on_result(&mut self, result: RunResult) -> Result<(), TuiEnd> {
        match result {
            RunResult::Branch(branch) => self.on_branch(branch),
            RunResult::DocumentsRead(read) => return self.on_documents_read(read),
            RunResult::PlanLineWritten(Ok(())) => self.on_documents_changed(),
            RunResult::PlanLineWritten(Err(why)) => self.screen.on_notice(&why),
            RunResult::ChildRead(read) => return self.on_child_read(read),
            RunResult::UndoOffers(offers) => self.on_undo_offers(offers),
        }
        Ok(())
    }

    fn on_documents_read(
        &mut self,
        read: Result<DocumentSnapshot, StoreError>,
    ) -> Result<(), TuiEnd> {
        let (read, texts) = match self.documents.on_read(read) {
            Ok(read) => read,
            Err(error) => {
                self.screen.on_notice(&format!("{error}\n{}", error.hint()));
                return Ok(());
            }
        };
        if let Some(texts) = texts {
            self.screen.on_documents(texts);
        }
        let engine = self.engine.as_mut();
        let Some(engine) = engine.filter(|engine| engine.outcome().is_none()) else {
            return Ok(());
        };
        if !self.documents.are_edited(&read, engine.state()) {
            return Ok(());
        }
        // The engine reads and compares again: its own writes meanwhile are no edits.
        engine.record_user_edits()?;
        self.previews.forget_question();
        self.show_updates()
    }
}

/// Returns whether an update can wait for the next frame of agent output.
fn can_wait_for_output_frame(update: &ViewUpdate) -> bool {
    match update {
        ViewUpdate::EventRecord(record) => matches!(record.event, Event::Agent { .. }),
        ViewUpdate::TextDelta(_) | ViewUpdate::ProofProgress(..) => true,
    }
}

/// Returns whether the next turn will send more than before.
fn changes_prompt(update: &ViewUpdate) -> bool {
    let ViewUpdate::EventRecord(record) = update else {
        return false;
    };
    matches!(
        record.event,
        Event::NoteMade(_)
            | Event::NoteRemoved { .. }
            | Event::ThreadResolved { .. }
            | Event::MessageQueued { .. }
    )
}
