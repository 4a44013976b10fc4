//! Checks what an action needs before it starts, and shows what is missing.
//!
//! Checks only what is needed: a CLI that gets no request may be missing.

use std::collections::BTreeSet;

use crate::app::discussion_command;
use crate::app::startup::{
    self, LockedProject, MissingRunPolicy, RunCommitMode, RunRequirements, StartError,
};
use crate::text::clean_to_one_line;
use crate::tui::Action;

use super::discussion_actions::to_arguments;
use super::run_startup::{PendingRunStart, RunStartKind};
use super::shutdown::TuiEnd;
use super::{BackgroundResult, TuiApp};

/// The toast during the checks for CLIs.
pub(super) const CHECKING_AGENTS: &str = "Checking the agents …";

impl TuiApp {
    /// Checks what a goal needs, for a run that was opened without one.
    pub(super) fn check_goal_requirements(
        &mut self,
        what: RunStartKind,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let Some(occupied) = &self.occupied else {
            return Ok(None);
        };
        self.screen.set_toast(CHECKING_AGENTS);
        self.pending_start = Some(PendingRunStart::new(what));
        let found = &occupied.project;
        let (children, root) = (found.children.clone(), found.root.clone());
        let (config, repository) = (found.loaded.config.clone(), found.repository.clone());
        self.spawn_background(async move {
            let place = (&config, &*root);
            BackgroundResult::GoalChecked(
                startup::check_goal_requirements(&children, place.0, place.1, repository.as_ref())
                    .await,
            )
        });
        Ok(None)
    }

    pub(super) fn on_goal_checked(
        &mut self,
        checked: Result<(), StartError>,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let Some(PendingRunStart { what, since, next }) = self.pending_start.take() else {
            return Ok(None);
        };
        if let Err(refusal) = checked {
            // The open run continues: only the goal returns to the composer.
            let begin = PendingRunStart {
                next,
                ..PendingRunStart::new(what)
            };
            self.on_run_not_started(&refusal, begin)?;
            return self.start_queued(Vec::new(), since);
        }
        self.is_checked = true;
        self.screen.clear_toast();
        let ended = match what {
            RunStartKind::Goal(goal, refiner) => self.give_goal(goal, refiner, &since)?,
            _ => None,
        };
        match ended {
            Some(end) => Ok(Some(end)),
            None => self.start_queued(next, since),
        }
    }

    /// Shows why there is no run.
    pub(super) fn show_start_failure(&mut self, refusal: &StartError, what: &RunStartKind) {
        let text = format!("{}\n{}", refusal.problem, refusal.hint);
        let text = text.trim_end();
        match what {
            RunStartKind::Goal(..) if self.engine.is_some() => {
                self.show_problem_once(refusal, text)
            }
            RunStartKind::Goal(..) => {
                self.screen.on_start_error(text);
                // Something else may be missing by now.
                self.probe_environment();
            }
            RunStartKind::Unfinished => {
                self.screen.on_notice(text);
                self.screen.ask_to_resume(text);
            }
            RunStartKind::ForAction(_) => self.show_problem_once(refusal, text),
            // Only the welcome page shows what is missing.
            RunStartKind::WithoutGoal => {
                self.clear_scrollback();
                self.probe_environment();
            }
        }
    }

    /// Shows a problem; if it was shown last, only a short toast.
    pub(super) fn show_problem_once(&mut self, refusal: &StartError, text: &str) {
        if self.last_problem.as_deref() == Some(text) {
            let what = clean_to_one_line(&refusal.problem);
            self.screen
                .set_toast(&format!("Not yet: {what}. The chat says what to do."));
            return;
        }
        self.screen.clear_toast();
        self.screen.on_notice(text);
        self.last_problem = Some(text.to_owned());
    }
}

/// Checks what an action without a goal needs: only the CLIs of the agents that take part must be installed.
pub(super) async fn requirements_for_action(
    occupied: &LockedProject,
    action: &Action,
) -> Result<(RunRequirements, MissingRunPolicy), StartError> {
    let found = &occupied.project;
    let (players, commits, absent) = match action {
        Action::GiveTask { agent, .. } => {
            let player = startup::adapter_of_agent(found, agent)?;
            (
                BTreeSet::from([player]),
                RunCommitMode::Disabled,
                MissingRunPolicy::Create,
            )
        }
        Action::Discuss(topic) => {
            let players = discussion_command::required_role_adapters_of_new(
                found,
                &occupied.layout,
                to_arguments(topic),
            )?;
            (players, RunCommitMode::Disabled, MissingRunPolicy::Create)
        }
        _ => (
            BTreeSet::new(),
            RunCommitMode::Enabled,
            MissingRunPolicy::Refuse,
        ),
    };
    let checked = startup::check_requirements_for(found, &players, commits).await?;
    Ok((checked, absent))
}

/// Checks what reopening a run needs: no CLI.
pub(super) async fn requirements_for_reopening(
    occupied: &LockedProject,
) -> Result<(RunRequirements, MissingRunPolicy), StartError> {
    let nobody = BTreeSet::new();
    let checked =
        startup::check_requirements_for(&occupied.project, &nobody, RunCommitMode::Disabled)
            .await?;
    Ok((checked, MissingRunPolicy::Refuse))
}
