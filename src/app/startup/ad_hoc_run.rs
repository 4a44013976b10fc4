//! Opens a run for something other than its workflow: a task, a discussion, or its sessions.
//!
//! Does not continue the run itself.

use std::collections::BTreeSet;

use super::preflight::{prepare_git, probe_adapters};
use super::unfinished_run::{check_adapters_match, describe_unfinished};
use super::{
    LockedProject, ProjectContext, ReadyRun, RunCommitMode, RunInstance, RunRequirements,
    StartError, StartOptions, UnfinishedRunPolicy, build_ready_run, clear_leftovers, create_run,
    inspect_project, into_run_instance, load_agent_prompts, load_prompts, lock_project,
    no_run_error, open_guard, reopen_run, role_adapters,
};
use crate::config::effective_permissions::{AllowAuthority, EffectivePermissions};
use crate::domain::event::Event;
use crate::engine::named_adapter::NamedAdapter;
use crate::engine::run_journal::RunJournal;
use crate::engine::{LeftoverKind, find_subagent, sandbox};
use crate::store::clean_up_workdir;

/// Opens the existing run, or an empty one, for what these adapters do; other CLIs need not be installed.
///
/// # Errors
/// As [`super::start_run`].
pub async fn open_ad_hoc_run(
    players: &BTreeSet<String>,
    found: ProjectContext,
    wishes: &StartOptions,
) -> Result<RunInstance, StartError> {
    let checked = check_requirements_for(&found, players, RunCommitMode::Disabled).await?;
    let checked = RunRequirements {
        is_one_shot: true,
        ..checked
    };
    open_or_create_run(found, checked, wishes).await
}

async fn open_or_create_run(
    found: ProjectContext,
    checked: RunRequirements,
    wishes: &StartOptions,
) -> Result<RunInstance, StartError> {
    let mut occupied = lock_project(found)?;
    clean_up_workdir(&occupied.layout, &occupied.lock)?;
    let started = match RunJournal::reopen(open_guard(&occupied)?)? {
        Some(journal) => settle_run(&mut occupied, checked, wishes, journal).await?,
        None => create_run(&mut occupied, checked, wishes).await?,
    };
    Ok(into_run_instance(occupied, started))
}

/// What to do if there is no run that can be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingRunPolicy {
    /// Create an empty one.
    Create,
    /// Fail with an error.
    Refuse,
}

/// Opens a run for something that the user wants without a goal: the existing run if it is over or has no goal, else an
/// empty one. A goal may follow in it.
///
/// # Errors
/// There is an unfinished run, there is none and `absent` forbids to create one, or git or the disk reports an error.
pub async fn open_goalless_run(
    occupied: &mut LockedProject,
    checked: RunRequirements,
    wishes: &StartOptions,
    absent: MissingRunPolicy,
) -> Result<ReadyRun, StartError> {
    clean_up_workdir(&occupied.layout, &occupied.lock)?;
    if wishes.unfinished == UnfinishedRunPolicy::Refuse
        && let Some(journal) = RunJournal::reopen(open_guard(occupied)?)?
    {
        let state = journal.state();
        if let Some(run) = describe_unfinished(state) {
            return Err(StartError::new(
                format!("there is an unfinished run: {run}"),
                "/resume continues it; if you answer no, it moves to the history when another run starts",
            ));
        }
        if state.is_over() || check_adapters_match(&checked.adapters, state).is_ok() {
            return settle_run(occupied, checked, wishes, journal).await;
        }
    }
    match absent {
        MissingRunPolicy::Create => create_run(occupied, checked, wishes).await,
        MissingRunPolicy::Refuse => Err(no_run_error()),
    }
}

/// Opens a run that does not continue: ends its orphaned tasks and resets its mode, because the user has not chosen
/// yolo in this program.
async fn settle_run(
    occupied: &mut LockedProject,
    checked: RunRequirements,
    wishes: &StartOptions,
    journal: RunJournal,
) -> Result<ReadyRun, StartError> {
    let (run, mode) = (journal.state().run.clone(), journal.state().mode);
    clear_leftovers(&run).await;
    let git = prepare_git(occupied, &run, checked.commits).await?;
    let mut started = build_ready_run(occupied, checked, git, wishes, journal, None);
    let settled = started.engine.recover_leftovers(LeftoverKind::Tasks);
    let settled = settled.and_then(|()| match mode.after_restart() {
        after if after == mode => Ok(()),
        mode => started.engine.apply_event(Event::ModeChanged { mode }),
    });
    let settled = settled.and_then(|()| {
        let engine = &mut started.engine;
        engine.recover_leftovers(LeftoverKind::Worktrees)
    });
    settled.map_err(|error| StartError::new(&error, "nothing was started"))?;
    Ok(started)
}

/// Returns the adapter that runs an agent.
///
/// # Errors
/// There is no such agent, or it takes no tasks.
pub fn adapter_of_agent(found: &ProjectContext, agent: &str) -> Result<String, StartError> {
    let config = &found.loaded.config;
    let profiles = EffectivePermissions::from_config(config, AllowAuthority::Everybody).profiles;
    // Checked first: if the name is mistyped, no other error matters.
    let profile = find_subagent(&profiles, agent).map_err(|unknown| {
        StartError::new(
            unknown,
            "`agent-collab agents --mode subagent` describes them",
        )
    })?;
    let adapter = profile.adapter.as_ref();
    Ok(adapter.unwrap_or(&config.roles.planner).clone())
}

/// As [`super::check_requirements`], for the CLIs of these adapters only.
///
/// # Errors
/// As [`super::check_requirements`].
pub async fn check_requirements_for(
    found: &ProjectContext,
    players: &BTreeSet<String>,
    commits: RunCommitMode,
) -> Result<RunRequirements, StartError> {
    let config = &found.loaded.config;
    let roles = role_adapters(config)?;
    let settings_of = |name: &String| Some((name.clone(), config.adapters.get(name)?.clone()));
    let players: Vec<NamedAdapter> = players
        .iter()
        .filter_map(settings_of)
        .map(|(name, settings)| NamedAdapter::new(name, settings))
        .collect();
    let cli_versions = probe_adapters(&found.children, players.iter(), &found.root).await?;
    Ok(RunRequirements {
        prompts: load_prompts(&found.loaded)?,
        agent_prompts: load_agent_prompts(&found.loaded)?,
        adapters: roles,
        cli_versions,
        kernel: sandbox::find_sandbox_support(&found.children, config, &found.root).await,
        commits,
        is_one_shot: false,
    })
}

/// Locks the directory and opens its run as it is; no commit is made in it.
///
/// # Errors
/// There is none, or another instance runs here.
pub async fn open_run_as_is(wishes: &StartOptions) -> Result<RunInstance, StartError> {
    let mut occupied = lock_project(inspect_project(wishes).await?)?;
    let started = reopen_run(&mut occupied, wishes, RunCommitMode::Disabled).await?;
    Ok(into_run_instance(occupied, started))
}
