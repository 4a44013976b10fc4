//! Checks for the welcome page whether the CLIs and git are ready for a run, and lists the last runs. In the
//! background; calls no model.
//!
//! The result is only shown and blocks nothing: starting a run checks again.

use std::path::Path;

use crate::app::run_history::{self, RunHistoryEntry};
use crate::app::startup::{
    LockedProject, NO_GIT_IDENTITY, NO_REVIEWER_HINT, ProjectContext, role_adapters,
};
use crate::config::config_model::AppConfig;
use crate::domain::session::version_label;
use crate::engine::cli_probe::{CliProbeResult, missing_login_command, probe_cli};
use crate::engine::git::GitRepository;
use crate::engine::named_adapter::NamedAdapter;
use crate::process::ChildSpawner;
use crate::store::WorkdirLayout;
use crate::text::capitalize;
use crate::tui::{MissingRequirement, ReadyOwner, ReadyPart, RequirementSeverity, WelcomeInfo};

use super::super::background_result::BackgroundResult;
use super::super::background_work::BackgroundWork;
use super::super::run_viewer::history_row;

/// Number of finished runs on the welcome page.
const N_RUNS: usize = 5;

/// The inputs of the checks.
struct WelcomeInputs {
    children: ChildSpawner,
    config: AppConfig,
    root: std::path::PathBuf,
    repository: Option<GitRepository>,
}

/// Starts the checks, once the directory is locked and nothing starts by itself.
pub fn probe_environment(project: Option<&LockedProject>, work: &mut BackgroundWork) {
    let Some(project) = project else {
        return;
    };
    let ProjectContext {
        root,
        repository,
        loaded,
        children,
        ..
    } = &project.project;
    let inputs = WelcomeInputs {
        children: children.clone(),
        config: loaded.config.clone(),
        root: root.clone(),
        repository: repository.clone(),
    };
    let layout = project.layout.clone();
    work.spawn(async move {
        let finished = load_last_runs(layout).await;
        // A user with finished runs knows how to log in, and asking a CLI takes up to a second.
        let logins = if finished.is_empty() {
            LoginCheck::Ask
        } else {
            LoginCheck::Skip
        };
        let mut welcome = probe_welcome(&inputs, logins).await;
        welcome.runs = finished.iter().map(history_row).collect();
        BackgroundResult::WelcomeReady(Box::new(welcome), finished)
    });
}

/// Whether to ask the CLIs for their login.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LoginCheck {
    Ask,
    Skip,
}

async fn probe_welcome(ground: &WelcomeInputs, logins: LoginCheck) -> WelcomeInfo {
    let mut welcome = WelcomeInfo::default();
    match role_adapters(&ground.config) {
        Ok(adapters) => {
            let mut seen: Vec<&NamedAdapter> = Vec::new();
            for adapter in adapters.values() {
                if !seen.iter().any(|other| other.name == adapter.name) {
                    seen.push(adapter);
                    let roles = adapters.iter();
                    let roles = roles.filter(|(_, other)| other.name == adapter.name);
                    let roles: Vec<&str> = roles.map(|(role, _)| role.name()).collect();
                    let owner = ReadyOwner::Agents(capitalize(&roles.join(", ")));
                    let found = probe_adapter(&mut welcome, ground, adapter, logins).await;
                    let ready = found.map(|text| ReadyPart { owner, text });
                    welcome.ready.extend(ready);
                }
            }
        }
        Err(refusal) => welcome.missing.push(MissingRequirement {
            problem: refusal.problem,
            remedy: refusal.hint,
            severity: RequirementSeverity::Blocking,
        }),
    }
    probe_git(&mut welcome, ground.repository.as_ref(), &ground.root).await;
    welcome
}

/// Returns the CLI with its version, if it runs; adds what is missing.
async fn probe_adapter(
    welcome: &mut WelcomeInfo,
    ground: &WelcomeInputs,
    adapter: &NamedAdapter,
    logins: LoginCheck,
) -> Option<String> {
    match probe_cli(&ground.children, adapter, &ground.root).await {
        CliProbeResult::Ready(capabilities) => {
            let found = version_label(&adapter.name, &capabilities.version.to_string());
            if logins == LoginCheck::Skip {
                return Some(found);
            }
            if let Some(login) =
                missing_login_command(&ground.children, adapter, &ground.root).await
            {
                welcome.missing.push(MissingRequirement {
                    problem: format!("You are not logged in to {}", adapter.name),
                    remedy: format!(
                        "Run `{login}`. Not needed if you configured your own provider."
                    ),
                    severity: RequirementSeverity::Degrading,
                });
            }
            Some(found)
        }
        CliProbeResult::UnknownVersion => Some(adapter.name.clone()),
        CliProbeResult::Failed { problem, hint } => {
            let remedy = if adapter.name == ground.config.roles.planner {
                hint
            } else {
                format!("{hint}; {NO_REVIEWER_HINT}")
            };
            welcome.missing.push(MissingRequirement {
                problem,
                remedy,
                severity: RequirementSeverity::Blocking,
            });
            None
        }
    }
}

async fn probe_git(welcome: &mut WelcomeInfo, repository: Option<&GitRepository>, root: &Path) {
    let Some(repository) = repository else {
        welcome.missing.push(MissingRequirement {
            problem: format!(
                "{} is not in a git repository: no branch, no commits, no undo",
                root.display()
            ),
            remedy: "Run `git init`, or continue without.".to_owned(),
            severity: RequirementSeverity::Degrading,
        });
        return;
    };
    match repository.config().commit_identity().await {
        Ok(Ok(identity)) => welcome.ready.push(ReadyPart {
            owner: ReadyOwner::Git,
            text: format!("commits as {}", identity.author.name),
        }),
        Ok(Err(missing)) => welcome.missing.push(MissingRequirement {
            problem: NO_GIT_IDENTITY.to_owned(),
            remedy: missing.hint().to_owned(),
            severity: RequirementSeverity::Blocking,
        }),
        Err(error) => welcome.missing.push(MissingRequirement {
            problem: error.to_string(),
            remedy: error.hint().to_owned(),
            severity: RequirementSeverity::Blocking,
        }),
    }
}

/// Loads the last finished runs; if that fails, `/history` shows why.
async fn load_last_runs(layout: WorkdirLayout) -> Vec<RunHistoryEntry> {
    let listed = tokio::task::spawn_blocking(move || run_history::list_runs(&layout)).await;
    let mut runs = match listed {
        Ok(Ok(runs)) => runs,
        Ok(Err(_)) | Err(_) => Vec::new(),
    };
    runs.truncate(N_RUNS);
    runs
}
