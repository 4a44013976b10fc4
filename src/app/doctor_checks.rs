//! Checks what a run needs, without a run: for `agent-collab doctor` and for the screen.
//!
//! Starts nothing but git, and the CLIs for their version and login; does not stop at the first problem.

use std::path::Path;

use tokio_util::sync::CancellationToken;

use super::startup::{StartError, StartOptions, check_path_printable, load_config, run_layout};
use crate::config::{UserDirs, config_display};
use crate::engine::doctor_report::{
    DoctorInput, DoctorReport, FolderCheck, GitProblem, WriteTrial, build_report,
};
use crate::engine::git::{GitRepository, GitSettings, RepositoryDiscovery};
use crate::engine::sandbox;
use crate::store::WorkdirLayout;

/// For each folder that a run writes into: the hint if it is not writable, and how to test it.
const REMEDIES: [(&str, &str, WriteTrial); 4] = [
    (
        "the run's files",
        "make it writable (`ls -ld` shows owner and mode), or set paths.workdir in your config.toml",
        WriteTrial::OwnFolder,
    ),
    (
        "state",
        "set XDG_STATE_HOME to a folder that you can write to",
        WriteTrial::OwnFolder,
    ),
    (
        "cache",
        "set XDG_CACHE_HOME to a folder that you can write to",
        WriteTrial::OwnFolder,
    ),
    (
        "temporary files",
        "set TMPDIR to an existing folder that you can write to",
        WriteTrial::Scratch,
    ),
];

/// Checks everything that a run in this directory needs.
///
/// # Errors
/// The directory cannot be used, or the configuration has problems.
pub async fn diagnose_environment(wishes: &StartOptions) -> Result<DoctorReport, StartError> {
    let cwd = wishes.cwd.canonicalize().map_err(|error| {
        let problem = format!("cannot read {}: {error}", wishes.cwd.display());
        StartError::new(problem, "start in a directory that exists")
    })?;
    let children = wishes.children.clone();
    let repository = discover_repository(&cwd, wishes).await;
    let found = repository.as_ref().ok().and_then(Option::as_ref);
    let root = found.map_or(cwd, |repository| repository.root().to_path_buf());
    check_path_printable(&root)?;
    let (places, loaded) = load_config(&root, &wishes.choices)?;
    let layout = run_layout(&root, &loaded.config)?;
    let grounds = DoctorInput {
        sandbox_support: sandbox::find_sandbox_support(&children, &loaded.config, &root).await,
        origins: config_display::to_json(&loaded),
        folders: folders_to_check(&layout, &places),
        config: loaded.config,
        root,
        repository,
        spawner: children,
    };
    Ok(build_report(&grounds).await)
}

async fn discover_repository(
    cwd: &Path,
    wishes: &StartOptions,
) -> Result<Option<GitRepository>, GitProblem> {
    let git = GitSettings::new("none", CancellationToken::new()).with_spawner(&wishes.children);
    match GitRepository::discover(cwd, git).await {
        Ok(RepositoryDiscovery::Found(repository)) => Ok(Some(repository)),
        Ok(RepositoryDiscovery::NotARepository) => Ok(None),
        Ok(RepositoryDiscovery::NoWorkTree) => Err(GitProblem {
            problem: "this git repository has no working tree".to_owned(),
            hint: "start in a checkout of the repository".to_owned(),
        }),
        Err(error) => Err(GitProblem {
            problem: error.to_string(),
            hint: error.hint(),
        }),
    }
}

/// Returns the folders that a run writes into, each with its hint.
fn folders_to_check(layout: &WorkdirLayout, places: &UserDirs) -> Vec<FolderCheck> {
    let temporary = std::env::temp_dir();
    let paths = [
        layout.workdir(),
        &places.state_dir,
        &places.cache_dir,
        &temporary,
    ];
    let folders = REMEDIES.into_iter().zip(paths);
    let folders = folders.map(|((what, hint, trial), path)| FolderCheck {
        what,
        path: path.to_path_buf(),
        hint,
        trial,
    });
    folders.collect()
}
