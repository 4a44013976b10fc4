//! What a run stands on: its adapters, probed, and the git repository that trees and commits go to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::{Commits, Found, Occupied, Refusal, find_root};
use crate::config::Places;
use crate::config::types::Config;
use crate::domain::ids::RunId;
use crate::domain::turn::Role;
use crate::engine::containing::Signing;
use crate::engine::git::{GitSettings, Repository};
use crate::engine::probe::{Probed, probe};
use crate::engine::setup::NamedAdapter;
use crate::process::ChildSpawner;

/// The adapters of the roles, by the configuration.
///
/// # Errors
/// A role names an adapter that does not exist.
pub fn adapters(config: &Config) -> Result<BTreeMap<Role, NamedAdapter>, Refusal> {
    let named = |name: &str| {
        let settings = config.adapters.get(name).cloned().ok_or_else(|| {
            let known: Vec<&str> = config.adapters.keys().map(String::as_str).collect();
            let hint = format!("known adapters: {}", known.join(", "));
            Refusal::error(format!("there is no adapter `{name}`"), hint)
        })?;
        Ok::<_, Refusal>(NamedAdapter {
            name: name.to_owned(),
            settings,
        })
    };
    let mut adapters = BTreeMap::from([(Role::Planner, named(&config.roles.planner)?)]);
    if let Some(reviewer) = &config.roles.reviewer {
        adapters.insert(Role::Reviewer, named(reviewer)?);
    }
    Ok(adapters)
}

/// Probes every adapter in use, each once, and refuses with everything that is wrong.
pub(super) async fn probe_all<'a>(
    children: &ChildSpawner,
    adapters: impl Iterator<Item = &'a NamedAdapter>,
    root: &Path,
) -> Result<(), Refusal> {
    let mut names: Vec<&NamedAdapter> = Vec::new();
    for adapter in adapters {
        if names.iter().all(|known| known.name != adapter.name) {
            names.push(adapter);
        }
    }
    let mut problems = Vec::new();
    let mut hints = Vec::new();
    for adapter in names {
        if let Probed::Refused { problem, hint } = probe(children, adapter, root).await {
            problems.push(problem);
            hints.push(hint);
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        // Each stands in a line of its own, as if it were the only one.
        false => Err(Refusal::error(
            problems.join("\nerror: "),
            hints.join("\nhint: "),
        )),
    }
}

/// The same for the adapters of a run with a goal: what only the reviewer lacks can be done without.
pub(super) async fn probe_roles(
    children: &ChildSpawner,
    adapters: &BTreeMap<Role, NamedAdapter>,
    root: &Path,
) -> Result<(), Refusal> {
    let planner = adapters.get(&Role::Planner).into_iter();
    let first = probe_all(children, planner.clone(), root).await;
    let others = adapters
        .values()
        .filter(|adapter| planner.clone().all(|planner| planner.name != adapter.name));
    let then = probe_all(children, others, root).await;
    match (first, then) {
        (Ok(()), Ok(())) => Ok(()),
        (Ok(()), Err(refusal)) => Err(Refusal {
            hint: format!("{}\nhint: {WITHOUT_A_REVIEWER}", refusal.hint),
            ..refusal
        }),
        (Err(refusal), Ok(())) => Err(refusal),
        (Err(one), Err(other)) => Err(Refusal::error(
            format!("{}\nerror: {}", one.problem, other.problem),
            format!("{}\nhint: {}", one.hint, other.hint),
        )),
    }
}

/// What is said where git was not told who commits: no run with a goal begins.
pub const NAMELESS: &str = "git does not know in whose name to commit";

/// What can be done where only the reviewer's CLI is missing.
pub const WITHOUT_A_REVIEWER: &str = "or roles.reviewer = \"none\" goes on without a review";

/// Makes sure that all is there that a goal needs in a run that was opened without: the CLIs of its roles, and in whose
/// name to commit.
///
/// # Errors
/// Everything that is missing.
pub async fn check_for_a_goal(
    children: &ChildSpawner,
    (config, root): (&Config, &Path),
    repository: Option<&Repository>,
) -> Result<(), Refusal> {
    probe_roles(children, &adapters(config)?, root).await?;
    match repository {
        Some(repository) => knows_the_name(repository).await,
        None => Ok(()),
    }
}

/// Where snapshots and commits of one run go.
pub(super) struct Git {
    pub(super) repository: Option<Repository>,
    pub(super) commits_off: Option<String>,
    pub(super) signing: Signing,
    pub(super) cancel: CancellationToken,
}

pub(super) async fn git(
    occupied: &Occupied,
    run: &RunId,
    commits: Commits,
) -> Result<Git, Refusal> {
    let Found {
        root,
        places,
        children,
        ..
    } = &occupied.found;
    let cancel = CancellationToken::new();
    let settings = GitSettings::new(run.as_str(), cancel.clone()).with(children);
    let (_, repository) = find_root(root, settings.clone()).await?;
    let (repository, commits_off) = store_of(repository, (root, places), settings, commits).await?;
    let signing = match &repository {
        Some(repository) if repository.signs_commits().await => Signing::On,
        Some(_) | None => Signing::Off,
    };
    Ok(Git {
        signing,
        repository: repository.map(|repository| {
            let repository = repository.with_own(occupied.layout.workdir());
            own_outputs().fold(repository, |repository, file| repository.with_own(&file))
        }),
        commits_off,
        cancel,
    })
}

/// The files that this program prints into, as after `> run.log`: what it says of a run is no change of the user's.
/// Where the system does not tell their names, there are none.
fn own_outputs() -> impl Iterator<Item = PathBuf> {
    let outputs = ["/proc/self/fd/1", "/proc/self/fd/2"].into_iter();
    outputs
        .filter_map(|output| Path::new(output).canonicalize().ok())
        .filter(|file| file.is_file())
}

/// That agents, who are told paths in lines, are told the one of this directory as it is.
pub fn can_be_told(root: &Path) -> Result<(), Refusal> {
    match root.to_string_lossy().contains(char::is_control) {
        true => Err(Refusal::error(
            format!(
                "the path {root:?} holds a line end or another control character: agents, who are told it, would look elsewhere"
            ),
            "rename that folder, or work in a clone whose path holds none",
        )),
        false => Ok(()),
    }
}

/// The repository that snapshots and audits go to, and why commits are off where they are.
async fn store_of(
    repository: Option<Repository>,
    (root, places): (&Path, &Places),
    settings: GitSettings,
    commits: Commits,
) -> Result<(Option<Repository>, Option<String>), Refusal> {
    if let Some(repository) = repository {
        if commits == Commits::Made {
            knows_the_name(&repository).await?;
        }
        return Ok((Some(repository), None));
    }
    let shadow = shadow_repository(root, places, settings).await?;
    let reason = "this directory is in no git repository; `git init` turns them on".to_owned();
    Ok((Some(shadow), Some(reason)))
}

async fn knows_the_name(repository: &Repository) -> Result<(), Refusal> {
    let identity = repository
        .identity()
        .await
        .map_err(|error| Refusal::error(&error, error.hint()))?;
    identity
        .map(drop)
        .map_err(|missing| Refusal::error(NAMELESS, missing.hint()))
}

/// A directory whose runs' trees can be looked at.
#[derive(Debug, Clone)]
pub struct Ground {
    /// The directory.
    pub root: PathBuf,
    /// The user's repository there, where there is one.
    pub repository: Option<Repository>,
    /// Where the user's own files lie.
    pub places: Places,
}

impl Ground {
    /// The ground of a directory that was found.
    pub fn of(found: &Found) -> Self {
        Self {
            root: found.root.clone(),
            repository: found.repository.clone(),
            places: found.places.clone(),
        }
    }

    /// The repository that holds the trees of the run whose files lie in `workdir`, to look at them only: none is made.
    ///
    /// # Errors
    /// Git refuses.
    pub async fn to_read(&self, workdir: &Path) -> Result<Option<Repository>, Refusal> {
        let (root, places) = (&self.root, &self.places);
        let repository = match self.repository.clone() {
            None if shadow_place(root, places).is_dir() => {
                let settings = GitSettings::new("none", CancellationToken::new());
                Some(shadow_repository(root, places, settings).await?)
            }
            repository => repository,
        };
        Ok(repository.map(|repository| repository.with_own(workdir)))
    }
}

fn shadow_place(root: &Path, places: &Places) -> PathBuf {
    let name = crate::domain::plan::file_hash(root.as_os_str().as_encoded_bytes());
    places
        .state_dir
        .join("shadow")
        .join(format!("{}.git", &name.as_str()[..16]))
}

/// Outside of git, trees are kept in a repository of the program's own, beside its state.
pub(super) async fn shadow_repository(
    root: &Path,
    places: &Places,
    settings: GitSettings,
) -> Result<Repository, Refusal> {
    let git_dir = shadow_place(root, places);
    Repository::shadow(root, &git_dir, settings)
        .await
        .map_err(|error| Refusal::error(&error, error.hint()))
}
