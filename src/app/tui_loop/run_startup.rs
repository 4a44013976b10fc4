//! From an opened screen to a run: locks the directory first, creates a run when there is a goal.

use tokio::time::Instant;

use crate::app::ipc_socket::IpcServer;
use crate::app::startup::{
    self, ExistingRun, LockedProject, ReadyRun, StartError, StartOptions, UnfinishedRunPolicy,
};
use crate::app::terminal;
use crate::app::ui_config::UiConfig;
use crate::domain::event::Event;
use crate::domain::phase::{Gate, Phase};
use crate::domain::question::{CommitTarget, QuestionAnswer, QuestionKind};
use crate::domain::run::RunState;
use crate::domain::turn::{Role, TurnPurpose};
use crate::engine::git::GitRepository;
use crate::store;
use crate::text::clean_text;
use crate::tui::{Action, RunDocumentFiles, ScreenSettings};

use super::document_tracker::DocumentTracker;
use super::file_watcher::FileWatcher;
use super::input_queue::typed_text;
use super::preconditions::{CHECKING_AGENTS, requirements_for_action, requirements_for_reopening};
use super::read_only_views::{self, ReadOnlyTarget};
use super::shutdown::TuiEnd;
use super::{BackgroundResult, TuiApp, TuiStart};

/// An inspected directory, with what the screen shows of it.
pub enum OpenedDirectory {
    /// This process has the lock.
    Locked {
        occupied: Box<LockedProject>,
        /// The run that could continue there.
        lies: ExistingRun,
        /// The appearance of the screen.
        looks: Box<UiConfig>,
    },
    /// Read-only: another instance has the lock, or the program was opened for a view.
    ReadOnly(Box<ReadOnlyTarget>, Box<UiConfig>),
}

/// A run that is about to start or resume.
pub struct PendingRunStart {
    pub what: RunStartKind,
    /// The user's events since then.
    pub since: Vec<Event>,
    /// The starts that the user requested since then, in order.
    pub next: Vec<RunStartKind>,
}

impl PendingRunStart {
    /// Creates a pending start without later events.
    pub fn new(what: RunStartKind) -> Self {
        Self {
            what,
            since: Vec::new(),
            next: Vec::new(),
        }
    }
}

/// The kind of run to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunStartKind {
    /// A new run with this goal, refined with this role's agent.
    Goal(String, Role),
    Unfinished,
    /// A run for this action, which needs no goal: the existing one if it is over, else an empty one.
    ForAction(Box<Action>),
    /// The existing run without a goal.
    WithoutGoal,
}

/// The result of starting a run.
pub struct RunStartAttempt {
    occupied: LockedProject,
    started: Result<ReadyRun, StartError>,
}

impl TuiApp {
    /// Inspects and locks the directory in the background.
    pub(super) fn open_directory(&mut self) {
        let (wishes, first) = (self.wishes.clone(), self.start.clone());
        self.spawn_background(async move {
            BackgroundResult::DirectoryOpened(Box::new(open_project(&wishes, &first).await))
        });
    }

    pub(super) fn on_opened(
        &mut self,
        opened: Result<OpenedDirectory, StartError>,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let (mut occupied, lies) = match opened.map_err(TuiEnd::Refused)? {
            OpenedDirectory::Locked {
                occupied,
                lies,
                looks,
            } => {
                self.apply_ui_config(*looks);
                (*occupied, lies)
            }
            OpenedDirectory::ReadOnly(sight, looks) => {
                self.apply_ui_config(*looks);
                return self.open_read_only(*sight);
            }
        };
        for notice in std::mem::take(&mut occupied.notices) {
            self.screen.on_notice(&notice);
        }
        let repository = occupied.project.repository.clone();
        let plain = repository
            .as_ref()
            .and_then(GitRepository::branch_from_head_file);
        let is_known = plain.is_some();
        self.settings = ScreenSettings {
            base_branch: plain.clone(),
            branch: plain,
            confirm_enter: occupied.project.loaded.config.workflow.confirm_enter,
            repository: occupied.project.root.to_string_lossy().into_owned(),
            ..self.settings.clone()
        };
        self.screen.on_settings(self.settings.clone());
        self.load_input_history(&occupied.project);
        self.show_presets(&occupied.project.loaded.config);
        if let Some(repository) = repository.filter(|_| !is_known) {
            // Looking up the branch for the header must not delay the start.
            self.spawn_background(async move {
                BackgroundResult::Branch(current_branch(&repository).await)
            });
        }
        self.listen_for_requests(&occupied);
        self.occupied = Some(occupied);
        self.run_deferred_request()?;
        if let TuiStart::Demo { goal: Some(goal) } = &self.start {
            let goal = goal.clone();
            return self.start_run(RunStartKind::Goal(goal, Role::default()));
        }
        match (&self.start, lies) {
            (TuiStart::Resume, ExistingRun::Unfinished(..)) => {
                return self.start_run(RunStartKind::Unfinished);
            }
            (TuiStart::Resume, _) => self.screen.on_notice("No unfinished run here."),
            (
                TuiStart::ResumeArchived { name },
                ExistingRun::WithoutGoal | ExistingRun::Nothing,
            ) => {
                let name = name.clone();
                return self.resume_archived_run(name);
            }
            (_, ExistingRun::Unfinished(run, state)) => self.ask_about_unfinished(&run, state),
            (TuiStart::AskForGoal, ExistingRun::WithoutGoal) if self.pending_start.is_none() => {
                return self.start_run(RunStartKind::WithoutGoal);
            }
            (TuiStart::AskForGoal, _) if self.pending_start.is_none() => self.probe_environment(),
            _ => {}
        }
        if self.pending_start.is_some() {
            self.try_start_run()
        } else {
            Ok(None)
        }
    }

    /// Starts to watch the documents. Only with a run: before it there are none, and the system takes up to 25 ms to
    /// end a watch, which delays the program's end.
    fn watch_documents(&mut self) {
        let Some(occupied) = self.occupied.as_ref().filter(|_| self.watch.is_none()) else {
            return;
        };
        match FileWatcher::watch_documents(&occupied.layout) {
            Ok(watch) => self.watch = Some(watch),
            Err(error) => {
                let names = occupied.layout.names();
                self.screen.on_notice(&format!(
                    "Changes to {} and {} are noticed only when a turn ends: {error}",
                    names.plan, names.comments
                ));
            }
        }
    }

    /// Starts to accept commands of other processes.
    fn listen_for_requests(&mut self, occupied: &LockedProject) {
        // Drop the old socket first: dropping it removes its file.
        self.socket = None;
        let (killed, notice) = occupied.find_killed_instances();
        if let Some(notice) = notice {
            self.screen.on_notice(&notice);
        }
        match IpcServer::listen(&occupied.layout, killed) {
            Ok(socket) => self.socket = Some(socket),
            Err(error) => self.screen.on_notice(&format!(
                "`agent-collab send` cannot reach this instance: {error}"
            )),
        }
    }

    /// Applies the user's configuration of the screen.
    fn apply_ui_config(&mut self, looks: UiConfig) {
        self.motion = looks.motion;
        self.notifier.set_method(looks.notify);
        self.screen.on_appearance(looks.look);
        self.screen.on_agents(looks.agents);
        if let Some(theme) = looks.theme {
            self.screen.on_theme(theme);
        }
    }

    /// Shows the branch that is checked out.
    pub(super) fn on_branch(&mut self, branch: Option<String>) -> Result<Option<TuiEnd>, TuiEnd> {
        let execution = self.state().and_then(|state| state.execution.as_ref());
        let is_of_run = execution.is_some_and(|execution| {
            matches!(&execution.commits, CommitTarget::New { branch: new } if branch.as_ref() == Some(new))
        });
        if !is_of_run {
            self.settings.base_branch = branch.clone();
        }
        self.settings.branch = branch;
        self.screen.on_settings(self.settings.clone());
        Ok(None)
    }

    /// Checks which branch is checked out, because a run or the user may have switched. Costs reading one line.
    pub(super) fn refresh_branch(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        let occupied = self.occupied.as_ref();
        let repository = occupied.and_then(|occupied| occupied.project.repository.as_ref());
        match repository.and_then(GitRepository::branch_from_head_file) {
            Some(branch) if self.settings.branch.as_ref() != Some(&branch) => {
                self.on_branch(Some(branch))
            }
            Some(_) | None => Ok(None),
        }
    }

    /// Asks whether to resume the unfinished run, and shows it meanwhile.
    fn ask_about_unfinished(&mut self, run: &str, state: Option<Box<RunState>>) {
        self.screen.ask_to_resume(run);
        self.unfinished_state = state.map(|state| Box::new((*state).without_activity()));
        if let Some(layout) = self
            .occupied
            .as_ref()
            .map(|occupied| occupied.layout.clone())
        {
            // It appears when it is loaded.
            let _was_shown = self.load_scrollback(&layout);
            self.document_tracker.on_changed(Instant::now());
        }
        self.probe_environment();
    }

    /// Marks the unfinished run to be archived when another one starts.
    pub(super) fn archive_unfinished(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        self.wishes.unfinished = UnfinishedRunPolicy::Archive;
        self.unfinished_state = None;
        self.document_tracker = DocumentTracker::default();
        self.screen.on_documents(RunDocumentFiles::default());
        self.clear_scrollback();
        self.screen.on_notice(
            "The unfinished run moves to the history when a new one starts. Until then /resume \
            continues it, later /history does.",
        );
        Ok(None)
    }

    /// Starts or resumes a run; the user's input meanwhile is queued for it.
    pub(super) fn start_run(&mut self, what: RunStartKind) -> Result<Option<TuiEnd>, TuiEnd> {
        if self.start_awaiting_consent.is_some() {
            self.screen
                .set_toast("First decide whether to send the instructions to the agents.");
            self.screen
                .return_messages(typed_text(&what).into_iter().collect());
            return Ok(None);
        }
        let has_no_goal = self.state().is_some_and(|state| state.phase == Phase::Init);
        let what = match self.pending_start {
            Some(_) => what,
            None if self.start_blocker(&what).is_some() => what,
            None => match self.ask_about_instructions(PendingRunStart::new(what)) {
                Some(begin) => begin.what,
                None => return Ok(None),
            },
        };
        if let (RunStartKind::Goal(goal, refiner), true, None) =
            (&what, has_no_goal, &self.pending_start)
        {
            // The run was opened without a goal; this is its goal.
            return if self.is_checked {
                self.give_goal(goal.clone(), *refiner, &[])
            } else {
                self.check_goal_requirements(what)
            };
        }
        if let Some(why) = self.start_blocker(&what) {
            self.screen.set_toast(why);
            self.screen.on_discussion_not_started();
            self.screen
                .return_messages(typed_text(&what).into_iter().collect());
            return Ok(None);
        }
        if let Some(begin) = &mut self.pending_start {
            begin.next.push(what);
            return Ok(None);
        }
        self.pending_start = Some(PendingRunStart::new(what));
        self.try_start_run()
    }

    pub(super) fn try_start_run(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        if let Some(begin) = self.pending_start.take() {
            self.pending_start = self.ask_about_instructions(begin);
        }
        if self.pending_start.is_none() {
            return Ok(None);
        }
        // If the directory is not locked yet, `on_opened` calls this again.
        let (Some(mut occupied), Some(begin)) = (self.occupied.take(), &self.pending_start) else {
            return Ok(None);
        };
        self.screen.set_toast(CHECKING_AGENTS);
        (self.engine, self.unfinished_state) = (None, None);
        let (wishes, what) = (self.wishes.clone(), begin.what.clone());
        let was_shown = match what {
            RunStartKind::Goal(..) => {
                self.scrollback_is_shown = false;
                None
            }
            RunStartKind::Unfinished | RunStartKind::ForAction(_) | RunStartKind::WithoutGoal => {
                Some(self.load_scrollback(&occupied.layout))
            }
        };
        self.spawn_background(async move {
            // Show the earlier events before the work of resuming starts.
            if let Some(was_shown) = was_shown {
                let _it_ends_without_a_word = was_shown.await;
            }
            let started = open_run(&mut occupied, &wishes, &what).await;
            BackgroundResult::RunStarted(Box::new(RunStartAttempt { occupied, started }))
        });
        Ok(None)
    }

    pub(super) fn on_run_started(
        &mut self,
        attempt: RunStartAttempt,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let RunStartAttempt { occupied, started } = attempt;
        self.occupied = Some(occupied);
        let Some(begin) = self.pending_start.take() else {
            return Ok(None);
        };
        let started = match started {
            Ok(started) => started,
            Err(refusal) => return self.on_run_not_started(&refusal, begin),
        };
        let PendingRunStart { what, since, next } = begin;
        for notice in started.notices {
            self.screen.on_notice(&notice);
        }
        self.show_sandboxing(&started.engine);
        self.show_instructions_state();
        self.screen.clear_toast();
        self.engine = Some(started.engine);
        self.watch_documents();
        self.previewed_question = None;
        self.is_checked = matches!(what, RunStartKind::Goal(..) | RunStartKind::Unfinished);
        self.document_tracker.on_changed(Instant::now());
        let ended = match what {
            RunStartKind::Goal(goal, refiner) => self.give_goal(goal, refiner, &since),
            RunStartKind::Unfinished => self.resume_run(),
            RunStartKind::ForAction(action) => self.run_pending_action(*action),
            RunStartKind::WithoutGoal => self.show_updates(),
        };
        match ended? {
            Some(end) => Ok(Some(end)),
            None => self.start_queued(next, since),
        }
    }

    fn run_pending_action(&mut self, action: Action) -> Result<Option<TuiEnd>, TuiEnd> {
        match self.show_updates()? {
            Some(end) => Ok(Some(end)),
            None => self.on_action(action),
        }
    }

    /// Gives the run its goal, and sends it to the agent that refines it, unless the user has confirmed it already.
    pub(super) fn give_goal(
        &mut self,
        goal: String,
        refiner: Role,
        since: &[Event],
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let is_confirmed = |event: &Event| matches!(event, Event::GoalConfirmed { .. });
        let talk = !since.iter().any(is_confirmed);
        let text = clean_text(&goal);
        if let Some(end) = self.feed_event(Event::GoalGiven { text: text.clone() })? {
            return Ok(Some(end));
        }
        if self.state().is_some_and(|state| state.refiner != refiner) {
            let chosen = Event::RefinerChosen {
                role: refiner,
                goal: None,
            };
            if let Some(end) = self.feed_event(chosen)? {
                return Ok(Some(end));
            }
            if self.state().is_some_and(|state| state.refiner != refiner) {
                self.screen.on_notice(
                    "This run has no reviewer. The planner talks with you about the goal.",
                );
            }
        }
        if talk {
            self.say_about_goal(text)
        } else {
            Ok(None)
        }
    }

    /// Resumes the unfinished run; whatever the gate was, the user releases the next turn.
    fn resume_run(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        if let Some(engine) = &mut self.engine {
            engine.resume(Gate::Manual)?;
        }
        let ended = self.show_updates()?;
        self.screen
            .focus_open_dialog(self.engine.as_ref().map(|engine| engine.state()));
        Ok(ended)
    }

    /// Handles an event of the user; if a run is about to start, queues the event for it.
    pub(super) fn on_event(&mut self, event: Event) -> Result<Option<TuiEnd>, TuiEnd> {
        if let Some(begin) = &mut self.pending_start {
            begin.since.push(event);
            return Ok(None);
        }
        match event {
            Event::GoalMessageAdded { text } => self.say_about_goal(text),
            Event::QuestionAnswered {
                id,
                answer: QuestionAnswer::Merge,
            } => self.merge_conflict(id),
            other => self.feed_event(other),
        }
    }

    /// Sends a message about the goal. Sending it also releases the turn: the user has just read all of it.
    fn say_about_goal(&mut self, text: String) -> Result<Option<TuiEnd>, TuiEnd> {
        if let Some(end) = self.feed_event(Event::GoalMessageAdded { text })? {
            return Ok(Some(end));
        }
        let awaiting = self.state().and_then(|state| state.awaiting.as_ref());
        let waits = awaiting.is_some_and(|question| {
            matches!(&question.kind, QuestionKind::Gate { order }
                if matches!(order.purpose, TurnPurpose::RefineGoal { .. }))
        });
        if waits {
            self.feed_event(Event::TurnSendConfirmed)
        } else {
            Ok(None)
        }
    }
}

async fn open_project(
    wishes: &StartOptions,
    first: &TuiStart,
) -> Result<OpenedDirectory, StartError> {
    let found = startup::inspect_project(wishes).await?;
    let looks = UiConfig::from_config(&found.loaded, terminal::detect_color_depth()).map_err(
        |problems| StartError::new(problems, "See them again with `agent-collab config check`."),
    )?;
    if let Some(sight) = read_only_views::find_read_only_target(&found, wishes, first)? {
        let branch = match &found.repository {
            Some(repository) => current_branch(repository).await,
            None => None,
        };
        return Ok(OpenedDirectory::ReadOnly(
            Box::new(sight.with_branch(branch)),
            Box::new(looks),
        ));
    }
    let occupied = startup::lock_project(found)?;
    // Completes an interrupted move to or from the history.
    store::archive_move::finish_move(&occupied.layout, &occupied.lock)?;
    let lies = match wishes.unfinished {
        UnfinishedRunPolicy::Refuse => startup::find_unfinished_run(&occupied.layout)?,
        // Any run here will be archived.
        UnfinishedRunPolicy::Archive => ExistingRun::Nothing,
    };
    Ok(OpenedDirectory::Locked {
        occupied: Box::new(occupied),
        lies,
        looks: Box::new(looks),
    })
}

async fn open_run(
    occupied: &mut LockedProject,
    wishes: &StartOptions,
    what: &RunStartKind,
) -> Result<ReadyRun, StartError> {
    let found = &occupied.project;
    let (checked, absent) = match what {
        RunStartKind::Goal(..) => {
            let checked = startup::check_requirements(found).await?;
            return startup::create_run(occupied, checked, wishes).await;
        }
        RunStartKind::Unfinished => {
            let checked = startup::check_requirements(found).await?;
            return startup::reopen_unfinished_run(occupied, checked, wishes).await;
        }
        RunStartKind::ForAction(action) => requirements_for_action(occupied, action).await?,
        RunStartKind::WithoutGoal => requirements_for_reopening(occupied).await?,
    };
    startup::open_goalless_run(occupied, checked, wishes, absent).await
}

/// Returns the branch that is checked out; if unknown, none is shown.
async fn current_branch(repository: &GitRepository) -> Option<String> {
    repository.current_branch().await.ok()?
}
