//! Checks what a run without a goal needs before it starts.

use std::collections::BTreeSet;

use crate::app::discussion_command;
use crate::app::startup::{
    self, LockedProject, MissingRunPolicy, RunCommitMode, RunRequirements, StartError,
};

use super::super::run_session::{RunRequest, to_arguments};

/// Checks what a request without a goal needs: only the CLIs of the agents that take part must be installed.
///
/// # Errors
/// Something is missing.
pub async fn requirements_for_request(
    project: &LockedProject,
    request: &RunRequest,
) -> Result<(RunRequirements, MissingRunPolicy), StartError> {
    let found = &project.project;
    let (players, commits, absent) = match request {
        RunRequest::GiveTask { agent, .. } => {
            let player = startup::adapter_of_agent(found, agent)?;
            (
                BTreeSet::from([player]),
                RunCommitMode::Disabled,
                MissingRunPolicy::Create,
            )
        }
        RunRequest::Discuss(topic) => {
            let players = discussion_command::required_role_adapters_of_new(
                found,
                &project.layout,
                to_arguments(topic),
            )?;
            (players, RunCommitMode::Disabled, MissingRunPolicy::Create)
        }
        RunRequest::Undo(_) => (
            BTreeSet::new(),
            RunCommitMode::Enabled,
            MissingRunPolicy::Refuse,
        ),
    };
    let checked = startup::check_requirements_for(found, &players, commits).await?;
    Ok((checked, absent))
}

/// Checks what reopening a run needs: no CLI.
///
/// # Errors
/// Something is missing.
pub async fn requirements_for_reopening(
    project: &LockedProject,
) -> Result<(RunRequirements, MissingRunPolicy), StartError> {
    let nobody = BTreeSet::new();
    let checked =
        startup::check_requirements_for(&project.project, &nobody, RunCommitMode::Disabled).await?;
    Ok((checked, MissingRunPolicy::Refuse))
}
