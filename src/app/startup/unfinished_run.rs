//! Finds an unfinished run, and refuses, archives or checks it against the configuration.

use std::collections::BTreeMap;

use super::{
    START_HINT, StartError, StartOptions, UnfinishedRunPolicy, clear_leftovers, inspect_project,
    run_layout,
};
use crate::app::local_timezone;
use crate::domain::plan_execution::StepCount;
use crate::domain::run::RunState;
use crate::domain::turn::Role;
use crate::engine::named_adapter::NamedAdapter;
use crate::engine::stored_run::load_run;
use crate::store::{InstanceLock, StoreError, WorkdirLayout, archive_move, clean_up_workdir};
use crate::text::{clean_text, clean_to_one_line, pluralize};

/// The run that exists in a directory.
#[derive(Debug, Clone)]
pub enum ExistingRun {
    /// No run that could continue.
    Nothing,
    /// An unfinished run: its description, and its state if readable.
    Unfinished(String, Option<Box<RunState>>),
    /// A run without a goal, but with tasks or discussions.
    WithoutGoal,
}

/// Finds the run that could continue, by the last event of its log. Changes nothing.
///
/// # Errors
/// The run is of a newer version, or the disk reports an error.
pub fn find_unfinished_run(layout: &WorkdirLayout) -> Result<ExistingRun, StartError> {
    let run = match load_run(layout) {
        Err(error @ StoreError::Damaged { .. }) => {
            let words = format!("a run that cannot be read: {error}");
            return Ok(ExistingRun::Unfinished(words, None));
        }
        found => found?,
    };
    let Some(run) = run else {
        return Ok(ExistingRun::Nothing);
    };
    let state = run.state();
    let was_asked = !state.children.is_empty() || !state.discussions.is_empty();
    let when = last_activity_label(layout);
    Ok(match describe_for_choice(state, when.as_deref()) {
        Some(words) => ExistingRun::Unfinished(words, Some(Box::new(state.clone()))),
        None if state.goal.is_none() && !state.is_over() && was_asked => ExistingRun::WithoutGoal,
        None => ExistingRun::Nothing,
    })
}

/// Returns the finished run and its paths, if there is one and no instance has the lock.
///
/// # Errors
/// The directory or the configuration has problems, or the run cannot be read.
pub async fn find_finished_run(
    wishes: &StartOptions,
) -> Result<Option<(Box<RunState>, WorkdirLayout)>, StartError> {
    let found = inspect_project(wishes).await?;
    let layout = run_layout(&found.root, &found.loaded.config)?;
    if archive_move::is_move_unfinished(&layout)? || InstanceLock::read_holder(&layout)?.is_some() {
        return Ok(None);
    }
    // If the run is unreadable, the caller gets that error when it opens the run.
    let run = load_run(&layout).ok().flatten();
    let state = run.map(|run| Box::new(run.state().clone()));
    let over = state.filter(|state| state.is_over() && state.goal.is_some());
    Ok(over.map(|state| (state, layout)))
}

/// Fails early if there is no unfinished run and no instance: before a run's requirements are checked.
pub(super) fn require_unfinished_run(layout: &WorkdirLayout) -> Result<(), StartError> {
    if archive_move::is_move_unfinished(layout)? {
        // Which run is here is known only once the move is complete.
        return Ok(());
    }
    match find_unfinished_run(layout)? {
        ExistingRun::Unfinished(..) => Ok(()),
        ExistingRun::WithoutGoal | ExistingRun::Nothing
            if InstanceLock::read_holder(layout)?.is_some() =>
        {
            Ok(())
        }
        ExistingRun::WithoutGoal | ExistingRun::Nothing => Err(no_unfinished_run_error()),
    }
}

/// Returns the error if there is nothing to resume.
pub(super) fn no_unfinished_run_error() -> StartError {
    StartError::new("no unfinished run here", START_HINT)
}

/// Describes the run for the question what to do with it: its goal, and on the second line its progress and time.
fn describe_for_choice(state: &RunState, when: Option<&str>) -> Option<String> {
    let goal = state.goal.as_ref().filter(|_| !state.is_over())?;
    let mut parts = vec![format!("in phase {}", state.phase.label())];
    match &state.execution {
        Some(_) => {
            let StepCount { done, all } = state.step_count();
            parts.push(format!("{done} of {} done", pluralize(all, "step")));
        }
        None if state.iteration > 0 => parts.push(format!(
            "review {} of {}",
            state.iteration,
            state.iteration_limit()
        )),
        None => {}
    }
    parts.extend(when.map(|when| format!("last active {when}")));
    Some(format!(
        "{}\n{}",
        clean_to_one_line(&goal.title),
        parts.join(" · ")
    ))
}

/// Returns when the log was last written, in local time.
fn last_activity_label(layout: &WorkdirLayout) -> Option<String> {
    let written = layout.events().metadata().ok()?.modified().ok()?;
    let written = jiff::Timestamp::try_from(written).ok()?;
    let ago = jiff::Timestamp::now().as_second() - written.as_second();
    Some(match ago {
        ..60 => "just now".to_owned(),
        60..5_400 => format!("{} min ago", ago / 60),
        5_400..129_600 => format!("{} hours ago", (ago + 1_800) / 3_600),
        _ => written
            .to_zoned(local_timezone::local_timezone())
            .strftime("on %Y-%m-%d at %H:%M")
            .to_string(),
    })
}

pub(super) fn describe_unfinished(state: &RunState) -> Option<String> {
    let goal = state.goal.as_ref().filter(|_| !state.is_over())?;
    Some(format!(
        "`{}`, in phase {}",
        clean_text(&goal.title),
        state.phase.label()
    ))
}

pub(super) fn refuse_unfinished(state: &RunState) -> Result<(), StartError> {
    let Some(run) = describe_unfinished(state) else {
        return Ok(());
    };
    Err(StartError {
        problem: format!("there is an unfinished run: {run}"),
        hint: "continue it with `agent-collab resume`, or /resume on the screen; `run --new`, or a no to the screen's question, \
               moves it to history/ and starts a new run"
            .to_owned(),
        code: 3,
    })
}

/// Ends the processes of a dead run and archives the run.
pub(super) async fn archive_existing_run(
    layout: &WorkdirLayout,
    lock: &InstanceLock,
    unfinished: UnfinishedRunPolicy,
) -> Result<(), StartError> {
    clean_up_workdir(layout, lock)?;
    let today = jiff::Zoned::now().date();
    let found = match load_run(layout) {
        Ok(Some(found)) => found,
        // Half a run, cut off before its first event: there is nothing to resume.
        Ok(None) => {
            archive_move::archive_run(layout, lock, "cut-off", today)?;
            return Ok(());
        }
        Err(error) if unfinished == UnfinishedRunPolicy::Archive => {
            tracing::warn!(%error, "archived without reading it");
            archive_move::archive_run(layout, lock, "unreadable", today)?;
            return Ok(());
        }
        Err(error) => {
            let hint = format!(
                "{}; `--new` moves it unread to history/ and starts a new run",
                error.hint()
            );
            return Err(StartError::new(error, hint));
        }
    };
    let state = found.state();
    clear_leftovers(&state.run).await;
    if unfinished == UnfinishedRunPolicy::Refuse {
        refuse_unfinished(state)?;
    }
    let title = state
        .goal
        .as_ref()
        .map_or("without-goal", |goal| goal.title.as_str());
    archive_move::archive_run(layout, lock, title, today)?;
    Ok(())
}

/// Checks that the configuration has the adapters that the run started with: its conversations are there.
pub(super) fn check_adapters_match(
    adapters: &BTreeMap<Role, NamedAdapter>,
    state: &RunState,
) -> Result<(), StartError> {
    for role in [Role::Planner, Role::Reviewer] {
        let session = state.session(role);
        let moved_from = session.and_then(|session| session.moved_from.as_deref());
        let current = session.map(|session| session.adapter.as_str());
        let began = moved_from.or(current);
        let now = adapters.get(&role).map(|adapter| adapter.name.as_str());
        if began != now {
            let word = |name: Option<&str>| name.unwrap_or("none").to_owned();
            return Err(StartError::new(
                format!(
                    "the run started with {} as {}, but now {} is configured",
                    word(began),
                    role.name(),
                    word(now)
                ),
                format!("continue with `-s roles.{}={}`", role.name(), word(began)),
            ));
        }
        check_adapter_configured(adapters, current)?;
    }
    Ok(())
}

/// Checks that a role in the configuration uses the adapter to which a role of the run moved: only those were probed.
fn check_adapter_configured(
    adapters: &BTreeMap<Role, NamedAdapter>,
    current: Option<&str>,
) -> Result<(), StartError> {
    let Some(current) = current else {
        return Ok(());
    };
    if adapters.values().any(|adapter| adapter.name == current) {
        return Ok(());
    }
    Err(StartError::new(
        format!("the run now uses {current}, which has no role in the configuration"),
        "give it a role again, as when the run started",
    ))
}
