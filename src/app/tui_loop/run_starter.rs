//! Owns the way from an opened screen to a run: locks the directory first, creates a run when there is a goal.
//!
//! The user's input meanwhile waits for the run, in order; what cannot be sent returns to the composer. No input is
//! lost. Checks only what is needed: a CLI that gets no request may be missing.

mod archived_run;
mod opened_directory;
mod pending_start;
mod run_requirements;
mod welcome_probe;

use crate::app::startup::{
    self, ExistingRun, LockedProject, ReadyRun, StartError, StartOptions, UnfinishedRunPolicy,
};
use crate::domain::event::Event;
use crate::domain::instructions_choice::InstructionsChoice;
use crate::domain::phase::Phase;
use crate::domain::run::RunState;
use crate::domain::turn::Role;
use crate::text::clean_to_one_line;

use super::background_result::{BackgroundResult, RunStartAttempt, StartResult};
use super::background_work::BackgroundWork;
use super::run_session::{RunRequest, RunSession};
use super::tui_end::TuiEnd;
use super::tui_options::{TuiOptions, TuiStart};
use run_requirements::{requirements_for_reopening, requirements_for_request};

pub use opened_directory::{OpenedDirectory, OpenedDirectoryKind};
use pending_start::PendingRunStart;
pub use pending_start::RunStartKind;

/// The toast during the checks for CLIs.
const CHECKING_AGENTS: &str = "Checking the agents …";

/// What starts, and what waits for it.
pub struct RunStarter {
    options: TuiOptions,
    /// A run that is to start.
    pending: Option<PendingRunStart>,
    /// The goal to start once the user has decided whether agents get the repository's instructions.
    awaiting_consent: Option<PendingRunStart>,
    /// Whether the current run has passed the checks for a goal.
    is_checked: bool,
    /// The last problem shown, so that it is not shown twice.
    last_problem: Option<String>,
}

impl RunStarter {
    /// Creates a starter with nothing to start.
    pub fn new(options: TuiOptions) -> Self {
        Self {
            options,
            pending: None,
            awaiting_consent: None,
            is_checked: false,
            last_problem: None,
        }
    }

    /// Returns the options from the command line.
    pub fn wishes(&self) -> &StartOptions {
        &self.options.wishes
    }

    /// Inspects and locks the directory in the background.
    pub fn open_directory(&mut self, work: &mut BackgroundWork) {
        let TuiOptions { wishes, first, .. } = self.options.clone();
        work.spawn(async move {
            let opened = opened_directory::open_directory(&wishes, &first).await;
            BackgroundResult::Start(StartResult::DirectoryOpened(Box::new(opened)))
        });
    }

    /// Inspects and locks the directory again, because the view for which the program was opened has closed.
    pub fn reopen_directory(&mut self, first: TuiStart, work: &mut BackgroundWork) {
        self.options.first = first;
        self.open_directory(work);
    }

    /// Starts what is to start by itself in a locked directory, or what the user asked for meanwhile.
    pub fn start_first(
        &mut self,
        lies: ExistingRun,
        session: &mut RunSession,
        work: &mut BackgroundWork,
    ) -> Result<(), TuiEnd> {
        let is_free = self.pending.is_none();
        match (self.options.first.clone(), lies) {
            (TuiStart::Demo { goal: Some(goal) }, _) => {
                return self.start(RunStartKind::Goal(goal, Role::default()), session, work);
            }
            (TuiStart::Resume, ExistingRun::Unfinished(..)) => {
                return self.start(RunStartKind::Unfinished, session, work);
            }
            (TuiStart::Resume, _) => session.screen().on_notice("No unfinished run here."),
            (
                TuiStart::ResumeArchived { name },
                ExistingRun::WithoutGoal | ExistingRun::Nothing,
            ) => {
                self.unarchive(name, session, work);
                return Ok(());
            }
            (_, ExistingRun::Unfinished(run, state)) => {
                session.show_unfinished(&run, state, work);
                welcome_probe::probe_environment(session.project(), work);
            }
            (TuiStart::AskForGoal, ExistingRun::WithoutGoal) if is_free => {
                return self.start(RunStartKind::WithoutGoal, session, work);
            }
            (TuiStart::AskForGoal, _) if is_free => {
                welcome_probe::probe_environment(session.project(), work);
            }
            _ => {}
        }
        self.try_start(session, work);
        Ok(())
    }

    /// Marks the unfinished run to be archived when another one starts.
    pub fn archive_unfinished(&mut self, session: &mut RunSession) {
        self.options.wishes.unfinished = UnfinishedRunPolicy::Archive;
        session.hide_unfinished();
        session.screen().on_notice(
            "The unfinished run moves to the history when a new one starts. Until then /resume \
            continues it, later /history does.",
        );
    }

    /// Returns why a run does not start now; `None` if it does, or if it waits for the run that is opening.
    pub fn start_blocker(
        &self,
        what: &RunStartKind,
        state: Option<&RunState>,
    ) -> Option<&'static str> {
        if let Some(begin) = &self.pending {
            return (!begin.accepts(what))
                .then_some("A run is opening. Send this once it is open.");
        }
        let state = state?;
        let is_wanted = state.phase == Phase::Init && matches!(what, RunStartKind::Goal(..));
        (!is_wanted && !state.is_over())
            .then_some("A run is open. Cancel it before you start another.")
    }

    /// Gives up the start that waits; returns what the user typed for it.
    pub fn cancel_pending(&mut self) -> Vec<String> {
        let Some(PendingRunStart { what, since, next }) = self.pending.take() else {
            return Vec::new();
        };
        let starts = std::iter::once(what).chain(next);
        let mut typed: Vec<String> = starts.filter_map(|start| start.typed_text()).collect();
        typed.extend(pending_start::texts_of_events(since));
        typed
    }

    /// Returns whether the user's events wait for a run.
    pub fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Handles an event of the user; if a run is about to start, queues the event for it.
    pub fn on_event(&mut self, event: Event, session: &mut RunSession) -> Result<(), TuiEnd> {
        match &mut self.pending {
            Some(begin) => {
                begin.since.push(event);
                Ok(())
            }
            None => session.on_event(event),
        }
    }

    /// Carries out a request that needs a run but no goal; without a run, opens one that has no goal.
    pub fn on_request(
        &mut self,
        request: RunRequest,
        session: &mut RunSession,
        work: &mut BackgroundWork,
    ) -> Result<(), TuiEnd> {
        if session.engine().is_some() {
            return session.perform(&request, work);
        }
        self.start(RunStartKind::ForRequest(request), session, work)
    }

    /// Starts or resumes a run; the user's input meanwhile is queued for it.
    pub fn start(
        &mut self,
        what: RunStartKind,
        session: &mut RunSession,
        work: &mut BackgroundWork,
    ) -> Result<(), TuiEnd> {
        if self.awaiting_consent.is_some() {
            let screen = session.screen();
            screen.set_toast("First decide whether to send the instructions to the agents.");
            screen.return_messages(what.typed_text().into_iter().collect());
            return Ok(());
        }
        let has_no_goal = session
            .state()
            .is_some_and(|state| state.phase == Phase::Init);
        let blocker = self.start_blocker(&what, session.state());
        let what = if self.pending.is_some() || blocker.is_some() {
            what
        } else {
            match self.await_consent(PendingRunStart::new(what), session) {
                Some(begin) => begin.what,
                None => return Ok(()),
            }
        };
        if let (RunStartKind::Goal(goal, refiner), true, None) = (&what, has_no_goal, &self.pending)
        {
            // The run was opened without a goal; this is its goal.
            if self.is_checked {
                return session.give_goal(goal, *refiner, &[]);
            }
            self.check_goal(what, session, work);
            return Ok(());
        }
        if let Some(why) = blocker {
            let screen = session.screen();
            screen.set_toast(why);
            screen.on_discussion_not_started();
            screen.return_messages(what.typed_text().into_iter().collect());
            return Ok(());
        }
        if let Some(begin) = &mut self.pending {
            begin.next.push(what);
            return Ok(());
        }
        self.pending = Some(PendingRunStart::new(what));
        self.try_start(session, work);
        Ok(())
    }

    /// Keeps the start if a decision about the repository's instructions is missing; else returns it.
    fn await_consent(
        &mut self,
        begin: PendingRunStart,
        session: &mut RunSession,
    ) -> Option<PendingRunStart> {
        let is_goal = matches!(begin.what, RunStartKind::Goal(..));
        if is_goal && session.ask_about_instructions() {
            self.awaiting_consent = Some(begin);
            return None;
        }
        Some(begin)
    }

    /// Saves the user's choice about the repository's instructions, and continues the start that waits for it. No agent
    /// gets any of them before.
    pub fn on_instructions_choice(
        &mut self,
        choice: Option<InstructionsChoice>,
        session: &mut RunSession,
        work: &mut BackgroundWork,
    ) -> Result<(), TuiEnd> {
        let Some(PendingRunStart { what, since, next }) = self.awaiting_consent.take() else {
            return Ok(());
        };
        let Some(choice) = choice else {
            let typed = what.typed_text().into_iter().collect();
            session.screen().return_messages(typed);
            return self.start_queued(next, since, session, work);
        };
        session.decide_instructions(choice);
        self.start(what, session, work)?;
        match &mut self.pending {
            Some(pending) => {
                (pending.since, pending.next) = (since, next);
                Ok(())
            }
            None => self.start_queued(next, since, session, work),
        }
    }

    /// Starts the pending run. Without a locked directory, it starts once there is one.
    fn try_start(&mut self, session: &mut RunSession, work: &mut BackgroundWork) {
        if let Some(begin) = self.pending.take() {
            self.pending = self.await_consent(begin, session);
        }
        let Some(begin) = &self.pending else {
            return;
        };
        if session.project().is_none() {
            return;
        }
        let (wishes, what) = (self.options.wishes.clone(), begin.what.clone());
        session.screen().set_toast(CHECKING_AGENTS);
        let was_shown = match what {
            RunStartKind::Goal(..) => {
                session.forget_scrollback();
                None
            }
            RunStartKind::Unfinished | RunStartKind::ForRequest(_) | RunStartKind::WithoutGoal => {
                session.load_scrollback(work)
            }
        };
        let Some(mut project) = session.lend_project() else {
            return;
        };
        work.spawn(async move {
            // Show the earlier events before the work of resuming starts.
            if let Some(was_shown) = was_shown {
                let _it_ends_without_a_word = was_shown.await;
            }
            let started = open_run(&mut project, &wishes, &what).await;
            BackgroundResult::Start(StartResult::RunStarted(Box::new(RunStartAttempt {
                project,
                started,
            })))
        });
    }

    /// Continues with a run that has started, or with one that has not.
    pub fn on_run_started(
        &mut self,
        attempt: RunStartAttempt,
        session: &mut RunSession,
        work: &mut BackgroundWork,
    ) -> Result<(), TuiEnd> {
        session.return_project(attempt.project);
        let Some(begin) = self.pending.take() else {
            return Ok(());
        };
        let ready = match attempt.started {
            Ok(ready) => ready,
            Err(refusal) => return self.on_not_started(&refusal, begin, session, work),
        };
        let PendingRunStart { what, since, next } = begin;
        session.open_run(ready);
        self.is_checked = matches!(what, RunStartKind::Goal(..) | RunStartKind::Unfinished);
        match what {
            RunStartKind::Goal(goal, refiner) => session.give_goal(&goal, refiner, &since)?,
            RunStartKind::Unfinished => session.resume_run()?,
            RunStartKind::ForRequest(request) => {
                session.show_open_run()?;
                self.on_request(request, session, work)?;
            }
            RunStartKind::WithoutGoal => session.show_open_run()?,
        }
        self.start_queued(next, since, session, work)
    }

    /// Checks what a goal needs, for a run that was opened without one.
    fn check_goal(
        &mut self,
        what: RunStartKind,
        session: &mut RunSession,
        work: &mut BackgroundWork,
    ) {
        let Some(project) = session.project() else {
            return;
        };
        let found = &project.project;
        let (children, root) = (found.children.clone(), found.root.clone());
        let (config, repository) = (found.loaded.config.clone(), found.repository.clone());
        session.screen().set_toast(CHECKING_AGENTS);
        self.pending = Some(PendingRunStart::new(what));
        work.spawn(async move {
            let checked =
                startup::check_goal_requirements(&children, &config, &root, repository.as_ref());
            BackgroundResult::Start(StartResult::GoalChecked(checked.await))
        });
    }

    /// Gives the open run its goal if the checks found everything.
    pub fn on_goal_checked(
        &mut self,
        checked: Result<(), StartError>,
        session: &mut RunSession,
        work: &mut BackgroundWork,
    ) -> Result<(), TuiEnd> {
        let Some(PendingRunStart { what, since, next }) = self.pending.take() else {
            return Ok(());
        };
        if let Err(refusal) = checked {
            // The open run continues: only the goal returns to the composer.
            let begin = PendingRunStart {
                next,
                ..PendingRunStart::new(what)
            };
            self.on_not_started(&refusal, begin, session, work)?;
            return self.start_queued(Vec::new(), since, session, work);
        }
        self.is_checked = true;
        session.screen().clear_toast();
        if let RunStartKind::Goal(goal, refiner) = what {
            session.give_goal(&goal, refiner, &since)?;
        }
        self.start_queued(next, since, session, work)
    }

    /// Shows why a run did not start. Queued input returns to the composer, or is sent if it does not need that run.
    fn on_not_started(
        &mut self,
        refusal: &StartError,
        begin: PendingRunStart,
        session: &mut RunSession,
        work: &mut BackgroundWork,
    ) -> Result<(), TuiEnd> {
        let PendingRunStart { what, since, next } = begin;
        self.show_failure(refusal, &what, session, work);
        if what == RunStartKind::WithoutGoal {
            return self.start_queued(next, since, session, work);
        }
        session.screen().on_discussion_not_started();
        let sent = std::iter::once(&what).chain(&next);
        let typed = sent.filter_map(RunStartKind::typed_text).collect();
        session.screen().return_messages(typed);
        self.start_queued(Vec::new(), since, session, work)
    }

    /// Carries out the queued requests and events, in order.
    fn start_queued(
        &mut self,
        next: Vec<RunStartKind>,
        since: Vec<Event>,
        session: &mut RunSession,
        work: &mut BackgroundWork,
    ) -> Result<(), TuiEnd> {
        for what in next {
            match what {
                RunStartKind::ForRequest(request) => self.on_request(request, session, work)?,
                RunStartKind::Goal(..) | RunStartKind::Unfinished | RunStartKind::WithoutGoal => {
                    self.start(what, session, work)?;
                }
            }
        }
        if session.engine().is_none() && self.pending.is_none() {
            let typed = pending_start::texts_of_events(since);
            session.screen().return_messages(typed);
            return Ok(());
        }
        for event in since {
            self.on_event(event, session)?;
        }
        Ok(())
    }

    /// Shows why there is no run.
    fn show_failure(
        &mut self,
        refusal: &StartError,
        what: &RunStartKind,
        session: &mut RunSession,
        work: &mut BackgroundWork,
    ) {
        let text = format!("{}\n{}", refusal.problem, refusal.hint);
        let text = text.trim_end();
        match what {
            RunStartKind::Goal(..) if session.engine().is_some() => {
                self.show_problem_once(refusal, text, session);
            }
            RunStartKind::Goal(..) => {
                session.screen().on_start_error(text);
                // Something else may be missing by now.
                welcome_probe::probe_environment(session.project(), work);
            }
            RunStartKind::Unfinished => {
                session.screen().on_notice(text);
                session.screen().ask_to_resume(text);
            }
            RunStartKind::ForRequest(_) => self.show_problem_once(refusal, text, session),
            // Only the welcome page shows what is missing.
            RunStartKind::WithoutGoal => {
                session.clear_scrollback();
                welcome_probe::probe_environment(session.project(), work);
            }
        }
    }

    /// Shows a problem; if it was shown last, only a short toast.
    fn show_problem_once(&mut self, refusal: &StartError, text: &str, session: &mut RunSession) {
        let screen = session.screen();
        if self.last_problem.as_deref() == Some(text) {
            let what = clean_to_one_line(&refusal.problem);
            screen.set_toast(&format!("Not yet: {what}. The chat says what to do."));
            return;
        }
        screen.clear_toast();
        screen.on_notice(text);
        self.last_problem = Some(text.to_owned());
    }
}

async fn open_run(
    project: &mut LockedProject,
    wishes: &StartOptions,
    what: &RunStartKind,
) -> Result<ReadyRun, StartError> {
    let found = &project.project;
    let (checked, absent) = match what {
        RunStartKind::Goal(..) => {
            let checked = startup::check_requirements(found).await?;
            return startup::create_run(project, checked, wishes).await;
        }
        RunStartKind::Unfinished => {
            let checked = startup::check_requirements(found).await?;
            return startup::reopen_unfinished_run(project, checked, wishes).await;
        }
        RunStartKind::ForRequest(request) => requirements_for_request(project, request).await?,
        RunStartKind::WithoutGoal => requirements_for_reopening(project).await?,
    };
    startup::open_goalless_run(project, checked, wishes, absent).await
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::app::terminal::DisplayMode;
    use crate::config::ConfigFlags;
    use crate::domain::ids::UnixMillis;
    use crate::tui::ScreenSettings;

    /// A starter without a locked directory: what is to start waits for one.
    fn opening() -> (RunStarter, RunSession, BackgroundWork) {
        let cwd = PathBuf::from("/nowhere");
        let options = TuiOptions {
            wishes: StartOptions::without_turns(cwd, ConfigFlags::default()),
            first: TuiStart::AskForGoal,
            display: DisplayMode::FullScreen,
        };
        let session = RunSession::new(ScreenSettings::default());
        (RunStarter::new(options), session, BackgroundWork::default())
    }

    fn goal(text: &str) -> RunStartKind {
        RunStartKind::Goal(text.to_owned(), Role::Planner)
    }

    fn task() -> RunRequest {
        RunRequest::GiveTask {
            agent: "explore".to_owned(),
            prompt: "look around".to_owned(),
        }
    }

    fn said(text: &str) -> Event {
        Event::GoalMessageAdded {
            text: text.to_owned(),
        }
    }

    fn drawn(session: &mut RunSession) -> String {
        let mut terminal = Terminal::new(TestBackend::new(100, 30)).unwrap();
        let (screen, state) = session.screen_and_state();
        terminal
            .draw(|frame| screen.draw(frame, state, UnixMillis(0)))
            .unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn what_is_sent_while_a_run_opens_waits_in_order_and_a_second_goal_comes_back() {
        let (mut starter, mut session, mut work) = opening();
        starter
            .start(goal("sing a song"), &mut session, &mut work)
            .unwrap();
        assert!(starter.is_pending());
        starter.on_event(said("louder"), &mut session).unwrap();
        starter.on_request(task(), &mut session, &mut work).unwrap();
        starter
            .start(goal("dance instead"), &mut session, &mut work)
            .unwrap();
        let begin = starter.pending.take().unwrap();
        assert_eq!(begin.what, goal("sing a song"));
        assert_eq!(begin.since, [said("louder")]);
        assert_eq!(begin.next, [RunStartKind::ForRequest(task())]);
        let drawn = drawn(&mut session);
        assert!(drawn.contains("dance instead"), "{drawn}");
        assert!(!drawn.contains("sing a song"), "{drawn}");
    }

    #[test]
    fn all_input_for_a_run_that_does_not_start_returns_to_the_composer() {
        let (mut starter, mut session, mut work) = opening();
        let begin = PendingRunStart {
            what: goal("sing a song"),
            since: vec![said("louder")],
            next: vec![RunStartKind::ForRequest(task())],
        };
        let refusal = StartError::new("codex is missing", "install it");
        starter
            .on_not_started(&refusal, begin, &mut session, &mut work)
            .unwrap();
        let drawn = drawn(&mut session);
        for text in ["sing a song", "@explore look around", "louder"] {
            assert!(drawn.contains(text), "{text}: {drawn}");
        }
    }
}
