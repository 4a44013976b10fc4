//! Gives the session a directory and a run, and takes them away: for a start, a new screen, or another run.

use tokio::sync::oneshot;

use crate::app::startup::{self, LockedProject, ReadyRun, UnarchivedRun};
use crate::app::ui_config::UiConfig;
use crate::config::config_model::PromptDisplay;
use crate::config::{InstructionsReach, TrustStore};
use crate::domain::event::Event;
use crate::domain::instructions_choice::InstructionsChoice;
use crate::domain::phase::Gate;
use crate::domain::run::RunState;
use crate::domain::turn::Role;
use crate::engine::Engine;
use crate::engine::sandbox::summarize_role_sandboxes;
use crate::text::clean_text;
use crate::tui::{
    AdapterSandboxView, ColorTheme, NextRunSettings, RunDocumentFiles, Screen, ScreenAppearance,
    ScreenSettings,
};

use super::super::background_result::{BackgroundResult, RunResult};
use super::super::background_work::BackgroundWork;
use super::super::tui_end::TuiEnd;
use super::document_tracker::DocumentTracker;
use super::{RunSession, discussion_actions};

impl RunSession {
    /// Applies the user's configuration of the screen.
    pub fn apply_ui_config(&mut self, looks: UiConfig) {
        self.screen.on_appearance(looks.look);
        self.screen.on_agents(looks.agents);
        if let Some(theme) = looks.theme {
            self.screen.on_theme(theme);
        }
    }

    /// Replaces the screen by a new one with this appearance: the terminal is not asked for its background again.
    pub fn reset_screen(&mut self, theme: ColorTheme, appearance: ScreenAppearance) {
        (self.settings.theme, self.settings.appearance) = (theme, appearance);
        self.screen = Screen::new(self.settings.clone());
    }

    /// Takes a locked directory, and shows what is known of it.
    pub fn open_project(&mut self, mut project: LockedProject, work: &mut BackgroundWork) {
        for notice in std::mem::take(&mut project.notices) {
            self.screen.on_notice(&notice);
        }
        let found = &project.project;
        let repository = found.repository.clone();
        let branch = repository
            .as_ref()
            .and_then(|git| git.branches().branch_from_head_file());
        let is_known = branch.is_some();
        self.settings = ScreenSettings {
            branch,
            confirm_enter: found.loaded.config.workflow.confirm_enter,
            next_run: NextRunSettings {
                planner: found.loaded.config.roles.planner.clone(),
                reviewer: found.loaded.config.roles.reviewer.clone(),
                ..self.settings.next_run
            },
            shows_prompt: found.loaded.config.screen.prompt == PromptDisplay::Preview,
            repository: found.root.to_string_lossy().into_owned(),
            ..self.settings.clone()
        };
        self.screen.on_settings(self.settings.clone());
        if !self.settings.demo {
            self.composer_history.load(found, &mut self.screen);
        }
        discussion_actions::show_presets(&found.loaded.config, &mut self.screen);
        if let Some(repository) = repository.filter(|_| !is_known) {
            // Looking up the branch for the header must not delay the start.
            work.spawn(async move {
                let branch = repository.branches().current_branch().await.ok().flatten();
                BackgroundResult::Run(RunResult::Branch(branch))
            });
        }
        self.project = Some(project);
    }

    /// Shows the unfinished run of the directory, while the user is asked whether to resume it.
    pub fn show_unfinished(
        &mut self,
        run: &str,
        state: Option<Box<RunState>>,
        work: &mut BackgroundWork,
    ) {
        self.screen.ask_to_resume(run);
        self.unfinished_state = state.map(|state| Box::new((*state).without_activity()));
        if self.project.is_some() {
            // It appears when it is loaded.
            let _was_shown = self.load_scrollback(work);
            self.on_documents_changed();
        }
    }

    /// Removes the unfinished run from the screen.
    pub fn hide_unfinished(&mut self) {
        self.unfinished_state = None;
        self.documents.forget_documents();
        self.screen.on_documents(RunDocumentFiles::default());
        self.clear_scrollback();
    }

    /// Gives the directory away, while something starts or moves in it. The run that is open is closed.
    pub fn lend_project(&mut self) -> Option<LockedProject> {
        let project = self.project.take()?;
        (self.engine, self.unfinished_state) = (None, None);
        Some(project)
    }

    /// Gives the directory away with the engine of the open run, because nothing may write while its files move.
    pub fn lend_run(&mut self) -> Option<(LockedProject, Option<Engine>)> {
        Some((self.project.take()?, self.engine.take()))
    }

    /// Takes the directory back.
    pub fn return_project(&mut self, project: LockedProject) {
        self.project = Some(project);
    }

    /// Takes the engine of the open run back, because its files have not moved.
    pub fn return_engine(&mut self, engine: Option<Engine>) {
        self.engine = engine;
    }

    /// Another run has taken the place of the one on the screen.
    pub fn on_unarchived(&mut self, run: &UnarchivedRun) {
        self.unfinished_state = None;
        self.documents = DocumentTracker::default();
        self.screen.on_documents(RunDocumentFiles::default());
        self.scrollback_is_shown = true;
        self.clear_scrollback();
        self.screen.on_notice(&run.describe());
    }

    /// Opens a run that is ready.
    pub fn open_run(&mut self, ready: ReadyRun) {
        for notice in ready.notices {
            self.screen.on_notice(&notice);
        }
        self.show_sandboxing(&ready.engine);
        self.show_instructions_state();
        self.screen.clear_toast();
        self.engine = Some(ready.engine);
        if let Some(project) = &self.project
            && let Err(problem) = self.documents.watch(&project.layout)
        {
            self.screen.on_notice(&problem);
        }
        self.previews.forget_question();
        self.on_documents_changed();
    }

    /// Shows how the CLIs of a run are sandboxed.
    fn show_sandboxing(&mut self, engine: &Engine) {
        let setup = engine.setup();
        let sandboxes = summarize_role_sandboxes(&setup.sandbox_support, &setup.config).into_iter();
        let sandboxes = sandboxes.map(|(adapter, summary)| AdapterSandboxView {
            adapter,
            summary: summary.to_owned(),
        });
        self.screen.on_sandbox_status(sandboxes.collect());
        self.screen
            .on_turn_timeout(setup.config.limits.turn_timeout);
        self.screen
            .on_unsandboxed_agent(setup.has_uncontained_role());
    }

    /// Asks whether agents get the instructions of the repository; returns whether a decision is missing.
    pub fn ask_about_instructions(&mut self) -> bool {
        let Some(project) = &self.project else {
            return false;
        };
        let loaded = &project.project.loaded;
        if loaded.instructions_reach() != InstructionsReach::Undecided {
            return false;
        }
        let files = loaded.project.instructions.iter().map(|source| {
            let name = source.file.to_string_lossy().into_owned();
            (name, source.text.clone())
        });
        self.screen.ask_about_instructions(files.collect());
        true
    }

    /// Saves the user's choice about the repository's instructions, and applies it to the open run.
    pub fn decide_instructions(&mut self, choice: InstructionsChoice) {
        if let Some(project) = &mut self.project {
            let found = &mut project.project;
            let store = TrustStore::new(&found.places);
            if let Err(error) = store.decide_instructions(&found.loaded.project, choice) {
                self.screen.on_notice(&format!(
                    "Your answer lasts until this program exits: failed to {error}"
                ));
            }
            found.loaded.instructions = Some(choice);
            if let Some(engine) = &mut self.engine {
                engine.set_instructions(startup::collect_instructions(&found.loaded));
            }
        }
        self.show_instructions_state();
    }

    /// Shows which instructions exist and whether agents get them.
    fn show_instructions_state(&mut self) {
        let project = self.project.as_ref();
        let loaded = project.map(|project| &project.project.loaded);
        let words = loaded.and_then(|loaded| loaded.describe_instructions());
        self.screen
            .on_instructions_status(words.unwrap_or_default());
    }

    /// Shows an open run that waits for its goal or for a request.
    pub fn show_open_run(&mut self) -> Result<(), TuiEnd> {
        self.show_updates()
    }

    /// Resumes the unfinished run; whatever the gate was, the user releases the next turn.
    pub fn resume_run(&mut self) -> Result<(), TuiEnd> {
        if let Some(engine) = &mut self.engine {
            engine.resume(Gate::Manual)?;
        }
        self.show_updates()?;
        let state = self.engine.as_ref().map(Engine::state);
        self.screen.focus_open_dialog(state);
        Ok(())
    }

    /// Gives the run its goal, and sends it to the agent that refines it, unless the user has confirmed it already:
    /// `since` are the user's events after the goal.
    pub fn give_goal(&mut self, goal: &str, refiner: Role, since: &[Event]) -> Result<(), TuiEnd> {
        let is_confirmed = |event: &Event| matches!(event, Event::GoalConfirmed { .. });
        let text = clean_text(goal);
        self.feed_event(Event::GoalGiven { text: text.clone() })?;
        if self.state().is_some_and(|state| state.refiner != refiner) {
            self.feed_event(Event::RefinerChosen {
                role: refiner,
                goal: None,
            })?;
            if self.state().is_some_and(|state| state.refiner != refiner) {
                self.screen.on_notice(
                    "This run has no reviewer. The planner talks with you about the goal.",
                );
            }
        }
        if since.iter().any(is_confirmed) {
            return Ok(());
        }
        self.say_about_goal(text)
    }

    /// Reads the last page of the log of the run in the directory, once; the receiver ends when the page has been
    /// drawn.
    pub fn load_scrollback(&mut self, work: &mut BackgroundWork) -> Option<oneshot::Receiver<()>> {
        let layout = &self.project.as_ref()?.layout;
        if std::mem::replace(&mut self.scrollback_is_shown, true) {
            return None;
        }
        Some(self.scrollback.load_first_page(layout, work))
    }

    /// Notes that the events on the screen are those of a new run, which has no earlier ones.
    pub fn forget_scrollback(&mut self) {
        self.scrollback_is_shown = false;
    }

    /// Removes the events of a run that does not continue from the screen.
    pub fn clear_scrollback(&mut self) {
        if std::mem::take(&mut self.scrollback_is_shown) {
            self.screen.clear_run();
            self.scrollback = super::ScrollbackLoader::default();
        }
    }
}
