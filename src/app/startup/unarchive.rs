//! Moves a run from the history back into the work directory, so that it can be resumed.
//!
//! Does not resume it. Archives an unfinished run only if the options allow it.

use std::path::PathBuf;

use super::unfinished_run::{check_adapters_match, describe_unfinished};
use super::{
    LockedProject, StartError, StartOptions, UnfinishedRunPolicy, check_requirements,
    clear_leftovers, inspect_project, lock_project,
};
use crate::app::run_history::{self as past, RunHistoryEntry};
use crate::domain::run::RunState;
use crate::engine::stored_run::load_run;
use crate::store::{StoreError, WorkdirLayout, archive_move, clean_up_workdir};

/// A run that is back from the history.
#[derive(Debug)]
pub struct UnarchivedRun {
    /// Its name in the history.
    pub name: String,
    /// The state of the run.
    pub state: Box<RunState>,
    /// The archive of the run that was here before, if any.
    pub archived: Option<PathBuf>,
}

impl UnarchivedRun {
    /// Describes what happened in one sentence.
    pub fn describe(&self) -> String {
        let name = &self.name;
        match &self.archived {
            Some(place) => format!(
                "{name} is restored from the history; the run that was here is now in {}",
                place.display()
            ),
            None => format!("{name} is restored from the history"),
        }
    }

    /// Returns whether it has an unfinished goal; if not, it has only discussions and tasks.
    pub fn has_goal(&self) -> bool {
        describe_unfinished(&self.state).is_some()
    }
}

/// Makes a run of the history the current one; `wanted` is its number, its name or a part of the name. The current run
/// moves to the history: completely or not at all.
///
/// # Errors
/// There is no such run, it cannot be resumed, an unfinished run is here and the options do not allow to archive it, or
/// a CLI that the run needs is missing.
pub async fn unarchive_run(
    occupied: &LockedProject,
    unfinished: UnfinishedRunPolicy,
    wanted: &str,
) -> Result<UnarchivedRun, StartError> {
    let (layout, lock) = (&occupied.layout, &occupied.lock);
    clean_up_workdir(layout, lock)?;
    let run = find_archived_run(layout, wanted)?;
    let state = load_run(&run.layout)?.map(|run| run.state().clone());
    let state = state.ok_or_else(|| cannot_unarchive(&run, "it has no events"))?;
    check_can_resume(&run, &state)?;
    let title = archive_title_of_current(layout, unfinished, &run.name).await?;
    if describe_unfinished(&state).is_some() {
        // Check what the run needs before anything moves.
        let checked = check_requirements(&occupied.project).await?;
        check_adapters_match(&checked.adapters, &state)?;
    }
    let today = jiff::Zoned::now().date();
    let archived = archive_move::unarchive_run(layout, lock, &run.name, &title, today)?;
    Ok(UnarchivedRun {
        name: run.name,
        state: Box::new(state),
        archived,
    })
}

/// The same for the command line, which locks the directory meanwhile.
///
/// # Errors
/// As [`unarchive_run`]; or another instance runs here.
pub async fn lock_and_unarchive_run(
    wishes: &StartOptions,
    wanted: &str,
) -> Result<UnarchivedRun, StartError> {
    let occupied = lock_project(inspect_project(wishes).await?)?;
    unarchive_run(&occupied, wishes.unfinished, wanted).await
}

fn find_archived_run(layout: &WorkdirLayout, wanted: &str) -> Result<RunHistoryEntry, StartError> {
    let runs = past::list_runs(layout)?;
    let run = past::find_run(&runs, wanted).map_err(|problem| StartError {
        problem,
        hint: "`agent-collab history` lists them".to_owned(),
        code: 2,
    })?;
    if run.layout.workdir() == layout.workdir() {
        Err(cannot_unarchive(run, "it is the current run"))
    } else {
        Ok(run.clone())
    }
}

fn cannot_unarchive(run: &RunHistoryEntry, why: &str) -> StartError {
    StartError::new(
        format!("cannot resume {}: {why}", run.name),
        "`agent-collab history` lists the runs; unfinished ones can be resumed",
    )
}

fn check_can_resume(run: &RunHistoryEntry, state: &RunState) -> Result<(), StartError> {
    let mut talks = state.discussions.iter();
    let is_left = talks.any(|talk| talk.is_running() || talk.can_resume());
    if state.is_over() && !is_left {
        Err(cannot_unarchive(
            run,
            "the run and its discussions are finished",
        ))
    } else {
        Ok(())
    }
}

/// Returns the title under which the current run is archived; an error if it must not be.
async fn archive_title_of_current(
    layout: &WorkdirLayout,
    unfinished: UnfinishedRunPolicy,
    other: &str,
) -> Result<String, StartError> {
    let run = match load_run(layout) {
        Ok(Some(run)) => run,
        Ok(None) => return Ok("cut-off".to_owned()),
        Err(StoreError::Damaged { .. }) if unfinished == UnfinishedRunPolicy::Archive => {
            return Ok("unreadable".to_owned());
        }
        Err(error) => return Err(error.into()),
    };
    let state = run.state();
    if unfinished == UnfinishedRunPolicy::Refuse
        && let Some(run) = describe_unfinished(state)
    {
        return Err(StartError {
            problem: format!("there is an unfinished run: {run}"),
            hint: format!("finish or cancel it first, then run `agent-collab resume {other}`"),
            code: 3,
        });
    }
    clear_leftovers(&state.run).await;
    let goal = state.goal.as_ref();
    Ok(goal.map_or_else(|| "without-goal".to_owned(), |goal| goal.title.clone()))
}
