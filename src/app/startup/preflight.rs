//! Checks what a run needs: the adapters, and the git repository for snapshots and commits.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::{LockedProject, ProjectContext, RunCommitMode, StartError, find_project_root};
use crate::config::UserDirs;
use crate::config::config_model::AppConfig;
use crate::domain::ids::RunId;
use crate::domain::turn::Role;
use crate::engine::cli_probe::{CliProbeResult, probe_cli};
use crate::engine::git::{GitRepository, GitSettings};
use crate::engine::named_adapter::NamedAdapter;
use crate::engine::sandbox::CommitSigningMode;
use crate::process::ChildSpawner;

/// Returns the adapters of the roles, by the configuration.
///
/// # Errors
/// A role names an adapter that does not exist.
pub fn role_adapters(config: &AppConfig) -> Result<BTreeMap<Role, NamedAdapter>, StartError> {
    let named = |name: &str| {
        let settings = config.adapters.get(name).cloned().ok_or_else(|| {
            let known: Vec<&str> = config.adapters.keys().map(String::as_str).collect();
            let hint = format!("known adapters: {}", known.join(", "));
            StartError::new(format!("no adapter `{name}`"), hint)
        })?;
        Ok::<_, StartError>(NamedAdapter::new(name.to_owned(), settings))
    };
    let mut adapters = BTreeMap::from([(Role::Planner, named(&config.roles.planner)?)]);
    if let Some(reviewer) = &config.roles.reviewer {
        adapters.insert(Role::Reviewer, named(reviewer)?);
    }
    Ok(adapters)
}

/// Probes each adapter once; returns the versions that are known, by adapter.
///
/// # Errors
/// Everything that is wrong.
pub(super) async fn probe_adapters<'a>(
    children: &ChildSpawner,
    adapters: impl Iterator<Item = &'a NamedAdapter>,
    root: &Path,
) -> Result<BTreeMap<String, String>, StartError> {
    let mut names: Vec<&NamedAdapter> = Vec::new();
    for adapter in adapters {
        if names.iter().all(|known| known.name != adapter.name) {
            names.push(adapter);
        }
    }
    let mut problems = Vec::new();
    let mut hints = Vec::new();
    let mut versions = BTreeMap::new();
    for adapter in names {
        match probe_cli(children, adapter, root).await {
            CliProbeResult::Failed { problem, hint } => {
                problems.push(problem);
                hints.push(hint);
            }
            CliProbeResult::Ready(found) => {
                versions.insert(adapter.name.clone(), found.version.to_string());
            }
            CliProbeResult::UnknownVersion => {}
        }
    }
    if problems.is_empty() {
        Ok(versions)
    } else {
        // Each problem is on a line of its own, as if it were the only one.
        Err(StartError::new(
            problems.join("\nerror: "),
            hints.join("\nhint: "),
        ))
    }
}

/// Probes the adapters of a run with a goal, and returns their versions; if only the reviewer's fails, hints how to run without a review.
pub(super) async fn probe_role_adapters(
    children: &ChildSpawner,
    adapters: &BTreeMap<Role, NamedAdapter>,
    root: &Path,
) -> Result<BTreeMap<String, String>, StartError> {
    let planner = adapters.get(&Role::Planner).into_iter();
    let first = probe_adapters(children, planner.clone(), root).await;
    let others = adapters
        .values()
        .filter(|adapter| planner.clone().all(|planner| planner.name != adapter.name));
    let then = probe_adapters(children, others, root).await;
    match (first, then) {
        (Ok(of_planner), Ok(others)) => Ok(of_planner.into_iter().chain(others).collect()),
        (Ok(_), Err(refusal)) => Err(StartError {
            hint: format!("{}\nhint: {NO_REVIEWER_HINT}", refusal.hint),
            ..refusal
        }),
        (Err(refusal), Ok(_)) => Err(refusal),
        (Err(one), Err(other)) => Err(StartError::new(
            format!("{}\nerror: {}", one.problem, other.problem),
            format!("{}\nhint: {}", one.hint, other.hint),
        )),
    }
}

/// The error if git has no name or email for commits: a run with a goal does not start.
pub const NO_GIT_IDENTITY: &str = "git has no name and email for commits";

/// The hint if only the reviewer's CLI is missing.
pub const NO_REVIEWER_HINT: &str = "or set roles.reviewer = \"none\" to skip the review";

/// Checks what a goal needs in a run that was opened without one: the CLIs of the roles, and a name and an email for
/// commits.
///
/// # Errors
/// Everything that is missing.
pub async fn check_goal_requirements(
    children: &ChildSpawner,
    config: &AppConfig,
    root: &Path,
    repository: Option<&GitRepository>,
) -> Result<(), StartError> {
    probe_role_adapters(children, &role_adapters(config)?, root).await?;
    match repository {
        Some(repository) => check_git_identity(repository).await,
        None => Ok(()),
    }
}

/// The repository for snapshots and commits of one run.
pub(super) struct RunGitSetup {
    pub(super) repository: Option<GitRepository>,
    pub(super) commits_off: Option<String>,
    pub(super) signing: CommitSigningMode,
    pub(super) cancel: CancellationToken,
}

pub(super) async fn prepare_git(
    occupied: &LockedProject,
    run: &RunId,
    commits: RunCommitMode,
) -> Result<RunGitSetup, StartError> {
    let ProjectContext {
        root,
        places,
        children,
        ..
    } = &occupied.project;
    let cancel = CancellationToken::new();
    let settings = GitSettings::new(run.as_str(), cancel.clone()).with_spawner(children);
    let (_, repository) = find_project_root(root, settings.clone()).await?;
    let (repository, commits_off) =
        snapshot_repository(repository, root, places, settings, commits).await?;
    let signing = match &repository {
        Some(repository) if repository.config().signs_commits().await => CommitSigningMode::On,
        Some(_) | None => CommitSigningMode::Off,
    };
    Ok(RunGitSetup {
        signing,
        repository: repository.map(|repository| {
            let repository = repository.with_excluded_folder(occupied.layout.workdir());
            own_output_files().fold(repository, |repository, file| {
                repository.with_excluded_folder(&file)
            })
        }),
        commits_off,
        cancel,
    })
}

/// Returns the files that this program prints into, as after `> run.log`: its output is not a change by the user. On
/// systems that do not show their names, there are none.
fn own_output_files() -> impl Iterator<Item = PathBuf> {
    let outputs = ["/proc/self/fd/1", "/proc/self/fd/2"].into_iter();
    outputs
        .filter_map(|output| Path::new(output).canonicalize().ok())
        .filter(|file| file.is_file())
}

/// Checks that the directory's path has no control characters: agents get paths in lines of text.
pub fn check_path_printable(root: &Path) -> Result<(), StartError> {
    if root.to_string_lossy().contains(char::is_control) {
        Err(StartError::new(
            format!(
                "the path {root:?} contains a line break or another control character, which agents would misread"
            ),
            "rename that folder, or use a clone in another folder",
        ))
    } else {
        Ok(())
    }
}

/// Returns the repository for snapshots and audits, and the reason if commits are off.
async fn snapshot_repository(
    repository: Option<GitRepository>,
    root: &Path,
    places: &UserDirs,
    settings: GitSettings,
    commits: RunCommitMode,
) -> Result<(Option<GitRepository>, Option<String>), StartError> {
    if let Some(repository) = repository {
        if commits == RunCommitMode::Enabled {
            check_git_identity(&repository).await?;
        }
        return Ok((Some(repository), None));
    }
    let shadow = open_shadow_repository(root, places, settings).await?;
    let reason =
        "this directory is not in a git repository; run `git init` to get commits".to_owned();
    Ok((Some(shadow), Some(reason)))
}

async fn check_git_identity(repository: &GitRepository) -> Result<(), StartError> {
    let identity = repository
        .config()
        .commit_identity()
        .await
        .map_err(|error| StartError::new(&error, error.hint()))?;
    identity
        .map(drop)
        .map_err(|missing| StartError::new(NO_GIT_IDENTITY, missing.hint()))
}

/// A directory whose git trees of runs can be read.
#[derive(Debug, Clone)]
pub struct RunTreeReader {
    pub root: PathBuf,
    /// The user's repository, if there is one.
    pub repository: Option<GitRepository>,
    /// The directories with the user's own files.
    pub places: UserDirs,
}

impl RunTreeReader {
    /// Returns a reader for an inspected project.
    pub fn from_project(found: &ProjectContext) -> Self {
        Self {
            root: found.root.clone(),
            repository: found.repository.clone(),
            places: found.places.clone(),
        }
    }

    /// Opens the repository with the trees of the run in `workdir`, for reading only: creates none.
    ///
    /// # Errors
    /// Git fails.
    pub async fn open_repository(
        &self,
        workdir: &Path,
    ) -> Result<Option<GitRepository>, StartError> {
        let (root, places) = (&self.root, &self.places);
        let repository = match self.repository.clone() {
            None if shadow_git_dir(root, places).is_dir() => {
                let settings = GitSettings::new("none", CancellationToken::new());
                Some(open_shadow_repository(root, places, settings).await?)
            }
            repository => repository,
        };
        Ok(repository.map(|repository| repository.with_excluded_folder(workdir)))
    }
}

fn shadow_git_dir(root: &Path, places: &UserDirs) -> PathBuf {
    let name = crate::domain::plan::file_hash(root.as_os_str().as_encoded_bytes());
    places
        .state_dir
        .join("shadow")
        .join(format!("{}.git", &name.as_str()[..16]))
}

/// Opens the program's own repository, for directories outside of git; it is beside the program's state.
pub(super) async fn open_shadow_repository(
    root: &Path,
    places: &UserDirs,
    settings: GitSettings,
) -> Result<GitRepository, StartError> {
    let git_dir = shadow_git_dir(root, places);
    GitRepository::open_shadow(root, &git_dir, settings)
        .await
        .map_err(|error| StartError::new(&error, error.hint()))
}
