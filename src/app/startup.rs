//! Everything between the command line and a run that is ready for its first event.
//!
//! Each error says what is wrong, what to do, and which exit code to use. Nothing in the repository changes before all
//! checks have passed.

mod ad_hoc_run;
mod bootstrap;
mod instance_presence;
mod preflight;
mod prompt_reader;
mod start_error;
mod unarchive;
mod unfinished_run;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::adapter::RepositoryTrust;
use crate::app::log_setup;
use crate::app::session_retention::prune_expired_sessions;
use crate::app::ui_config;
use crate::config::config_model::AppConfig;
use crate::config::{ConfigFlags, LoadedConfig, UserDirs};
use crate::domain::ids::RunId;
use crate::domain::phase::{Gate, Mode};
use crate::domain::turn::Role;
use crate::engine::git::{GitRepository, GitSettings, RepositoryDiscovery};
use crate::engine::log_sinks::FrontEnd;
use crate::engine::named_adapter::NamedAdapter;
use crate::engine::run_journal::RunJournal;
use crate::engine::run_setup::{BranchPolicy, TestCommandPreference, to_repository_trust};
use crate::engine::runtime_dir;
use crate::engine::sandbox;
use crate::engine::{Engine, LeftoverKind};
use crate::permission::{ScopePolicy, UncontainedCommandPolicy};
use crate::process::{
    ChildSpawner, SandboxSupport, describe_foreign_owner, terminate_leftovers_by_prefix,
};
use crate::prompts::{PromptLibrary, PromptSource};
use crate::store::debug_log::DebugLog;
use crate::store::{
    InstanceLock, TamperGuard, WorkdirLayout, WorkdirNames, WorkdirPrivacy, clean_up_workdir,
};

use bootstrap::{build_ready_run, created_event};
use instance_presence::acquire_lock;
use preflight::{prepare_git, probe_role_adapters};
use unfinished_run::{
    archive_existing_run, check_adapters_match, no_unfinished_run_error, require_unfinished_run,
};

pub(super) use bootstrap::{collect_instructions, omitted_instructions_notice, unwritable_reason};
pub(super) use preflight::check_path_printable;

pub use ad_hoc_run::{
    MissingRunPolicy, adapter_of_agent, check_requirements_for, open_ad_hoc_run, open_goalless_run,
    open_run_as_is,
};
pub use instance_presence::InstancePresence;
pub use preflight::{
    NO_GIT_IDENTITY, NO_REVIEWER_HINT, RunTreeReader, check_goal_requirements, role_adapters,
};
pub use prompt_reader::open_prompt_reader;
pub use start_error::StartError;
pub use unarchive::{UnarchivedRun, lock_and_unarchive_run, unarchive_run};
pub use unfinished_run::{ExistingRun, find_finished_run, find_unfinished_run};

/// Time that processes of a dead run get to end.
const LEFTOVER_GRACE: Duration = Duration::from_secs(2);

/// The options from the command line.
#[derive(Debug, Clone)]
pub struct StartOptions {
    /// The directory in which the program was started.
    pub cwd: PathBuf,
    /// `--config` and flags that set configuration keys.
    pub choices: ConfigFlags,
    /// Whether turns start by themselves.
    pub gate: Gate,
    /// What a new run may do without asking.
    pub mode: Mode,
    /// The branch for commits.
    pub branch: BranchPolicy,
    /// The test command to use if the plan names another one.
    pub test_choice: TestCommandPreference,
    /// What to do with calls that need the user.
    pub ask_policy: StartAskPolicy,
    /// What to do with what a step changes outside of the files that its plan names.
    pub scope_policy: ScopePolicy,
    /// What to do with an unfinished run.
    pub unfinished: UnfinishedRunPolicy,
    /// Starts agents, git and tests; by default with the system's processes.
    pub children: ChildSpawner,
    /// What to do with commands that no sandbox contains.
    pub uncontained: UncontainedCommandPolicy,
    /// What the terminal is used for.
    pub front_end: FrontEnd,
}

impl StartOptions {
    /// Returns options for a command that starts no turn: the gate stays closed, and calls that need the user are
    /// declined.
    pub fn without_turns(cwd: PathBuf, choices: ConfigFlags) -> Self {
        Self {
            cwd,
            choices,
            gate: Gate::Manual,
            mode: Mode::Default,
            branch: BranchPolicy::NewIfDefault,
            test_choice: TestCommandPreference::Configured,
            ask_policy: StartAskPolicy::Deny,
            scope_policy: ScopePolicy::Ask,
            unfinished: UnfinishedRunPolicy::Refuse,
            children: ChildSpawner::default(),
            uncontained: UncontainedCommandPolicy::AskEach,
            front_end: FrontEnd::Lines,
        }
    }
}

/// What to do with calls that need the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartAskPolicy {
    Deny,
    /// Let rules of the user's own configuration and of `--config` decide.
    AllowRules,
    /// Wait for the user.
    Wait,
}

/// What to do with an unfinished run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnfinishedRunPolicy {
    /// Fail with an error.
    Refuse,
    Archive,
}

/// A directory and its configuration, inspected without changing anything.
#[derive(Debug)]
pub struct ProjectContext {
    /// The repository's root, else the directory itself.
    pub root: PathBuf,
    /// The repository, if there is one.
    pub repository: Option<GitRepository>,
    /// The directories with the user's own files.
    pub places: UserDirs,
    /// The configuration in force.
    pub loaded: LoadedConfig,
    /// Starts agents, git and tests.
    pub children: ChildSpawner,
    /// What to do with commands that no sandbox contains.
    pub uncontained: UncontainedCommandPolicy,
}

/// A directory that this process has locked, with or without a run.
pub struct LockedProject {
    pub project: ProjectContext,
    pub layout: WorkdirLayout,
    /// Locked for the life of the program.
    pub lock: InstanceLock,
    /// Tells later instances that this one was here, in case it is killed; `None` with simulated children.
    pub presence: Option<InstancePresence>,
    /// Notices for the user.
    pub notices: Vec<String>,
    /// Writes the rest of the debug log when dropped; opened with the first run.
    pub debug_log: Option<DebugLog>,
}

/// The checked requirements of a run.
pub struct RunRequirements {
    prompts: PromptLibrary,
    agent_prompts: BTreeMap<String, String>,
    adapters: BTreeMap<Role, NamedAdapter>,
    /// The versions of their CLIs, by adapter, as far as they are known.
    cli_versions: BTreeMap<String, String>,
    kernel: SandboxSupport,
    commits: RunCommitMode,
    /// Whether the run is opened only for what a command line asks for.
    is_one_shot: bool,
}

/// Whether the run makes commits, which needs a name and an email for git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunCommitMode {
    Enabled,
    Disabled,
}

/// A run that is ready for its first event.
pub struct ReadyRun {
    pub engine: Engine,
    /// Notices for the user.
    pub notices: Vec<String>,
}

/// A run that is ready for its first event, with what must live as long as the run.
pub struct RunInstance {
    pub engine: Engine,
    /// Notices for the user.
    pub notices: Vec<String>,
    /// Kept for the life of the program.
    pub occupied: LockedProject,
}

/// Finds the directory that a run belongs to: the repository's root, else the directory itself.
///
/// # Errors
/// The directory cannot be read, or git fails.
pub async fn find_project_root(
    cwd: &Path,
    git: GitSettings,
) -> Result<(PathBuf, Option<GitRepository>), StartError> {
    let real = cwd.canonicalize().map_err(|error| {
        StartError::new(
            format!("cannot read {}: {error}", cwd.display()),
            "start in a directory that exists",
        )
    })?;
    let found = GitRepository::discover(&real, git).await;
    match found.map_err(|error| StartError::new(&error, error.hint()))? {
        RepositoryDiscovery::Found(repository) => {
            Ok((repository.root().to_path_buf(), Some(repository)))
        }
        RepositoryDiscovery::NotARepository => Ok((real, None)),
        RepositoryDiscovery::NoWorkTree => Err(StartError::new(
            format!(
                "{} is in a git repository without a working tree",
                real.display()
            ),
            "start in a checkout of the repository",
        )),
    }
}

/// Loads the configuration of a repository and reports all its problems at once.
///
/// # Errors
/// There is no home directory, or the configuration has problems.
pub fn load_config(
    root: &Path,
    choices: &ConfigFlags,
) -> Result<(UserDirs, LoadedConfig), StartError> {
    let places = UserDirs::from_env().map_err(|error| StartError::new(error, ""))?;
    let loaded = ui_config::load_checked_config(&places, root, choices)
        .map_err(ui_config::to_start_error)?;
    Ok((places, loaded))
}

/// Checks everything and starts a run.
///
/// # Errors
/// Something is missing or wrong, or another instance has the lock.
pub async fn start_run(wishes: &StartOptions) -> Result<RunInstance, StartError> {
    let found = inspect_project(wishes).await?;
    let checked = check_requirements(&found).await?;
    let mut occupied = lock_project(found)?;
    let started = create_run(&mut occupied, checked, wishes).await?;
    Ok(into_run_instance(occupied, started))
}

/// Checks everything and opens the unfinished run.
///
/// # Errors
/// As [`start_run`]; or there is no unfinished run.
pub async fn resume_run(wishes: &StartOptions) -> Result<RunInstance, StartError> {
    let found = inspect_project(wishes).await?;
    require_unfinished_run(&run_layout(&found.root, &found.loaded.config)?)?;
    let checked = check_requirements(&found).await?;
    let mut occupied = lock_project(found)?;
    let started = reopen_unfinished_run(&mut occupied, checked, wishes).await?;
    Ok(into_run_instance(occupied, started))
}

fn into_run_instance(mut occupied: LockedProject, started: ReadyRun) -> RunInstance {
    let mut notices = std::mem::take(&mut occupied.notices);
    notices.extend(started.notices);
    RunInstance {
        engine: started.engine,
        notices,
        occupied,
    }
}

/// Finds the project of the current directory and loads its configuration.
///
/// # Errors
/// The directory or the configuration has problems.
pub async fn inspect_project(wishes: &StartOptions) -> Result<ProjectContext, StartError> {
    let git = GitSettings::new("none", CancellationToken::new()).with_spawner(&wishes.children);
    let (root, repository) = find_project_root(&wishes.cwd, git).await?;
    let (places, loaded) = load_config(&root, &wishes.choices)?;
    Ok(ProjectContext {
        root,
        repository,
        places,
        loaded,
        children: wishes.children.clone(),
        uncontained: wishes.uncontained,
    })
}

/// Fails if agents would work as root on another user's files: no sandbox could contain them.
fn check_owner(found: &ProjectContext) -> Result<(), StartError> {
    let is_lifted = found.uncontained == UncontainedCommandPolicy::FollowRules;
    match describe_foreign_owner(&found.root)
        .filter(|_| !is_lifted && !found.children.is_simulated())
    {
        Some(why) => Err(StartError::new(
            format!("{why}, and nothing can sandbox agents and tests"),
            "start as that user, or with --uncontained, which lets commands run as root without a sandbox",
        )),
        None => Ok(()),
    }
}

/// Checks that the path can be shown to agents, the prompts are valid, and the agents' CLIs are installed.
///
/// # Errors
/// Everything that is wrong.
pub async fn check_requirements(found: &ProjectContext) -> Result<RunRequirements, StartError> {
    check_path_printable(&found.root)?;
    check_owner(found)?;
    let prompts = load_prompts(&found.loaded)?;
    let adapters = role_adapters(&found.loaded.config)?;
    let cli_versions = probe_role_adapters(&found.children, &adapters, &found.root).await?;
    let kernel =
        sandbox::find_sandbox_support(&found.children, &found.loaded.config, &found.root).await;
    Ok(RunRequirements {
        prompts,
        agent_prompts: load_agent_prompts(&found.loaded)?,
        adapters,
        cli_versions,
        kernel,
        commits: RunCommitMode::Enabled,
        is_one_shot: false,
    })
}

/// Locks the directory for this process. Creates the work directory and its lock, but no run.
///
/// # Errors
/// The work directory cannot be used, or another instance has the lock.
pub fn lock_project(found: ProjectContext) -> Result<LockedProject, StartError> {
    check_path_printable(&found.root)?;
    let layout = run_layout(&found.root, &found.loaded.config)?;
    let loaded = &found.loaded;
    log_setup::check_json_log_file_before_start(loaded, &found.root)?;
    let mut notices: Vec<String> = loaded.notices.iter().map(ToString::to_string).collect();
    if !notices.is_empty() && to_repository_trust(loaded.trust) == RepositoryTrust::Untrusted {
        notices.push("`agent-collab trust` shows what would take effect, and asks".to_owned());
    }
    if layout.create()? == WorkdirPrivacy::Open {
        notices.push(format!(
            "other users can read {}: this file system stores no permissions",
            layout.workdir().display()
        ));
    }
    let lock = acquire_lock(&layout)?;
    let presence = (!found.children.is_simulated())
        .then(|| InstancePresence::register(&found.places))
        .transpose()?;
    Ok(LockedProject {
        project: found,
        layout,
        lock,
        presence,
        notices,
        debug_log: None,
    })
}

/// Creates a run; archives an existing one first.
///
/// # Errors
/// There is an unfinished run, or git or the disk reports an error.
pub async fn create_run(
    occupied: &mut LockedProject,
    checked: RunRequirements,
    wishes: &StartOptions,
) -> Result<ReadyRun, StartError> {
    let run = RunId::new(format!("run_{}", uuid::Uuid::now_v7().simple()));
    // Before the archive: a git error must leave the existing run in place.
    let git = prepare_git(occupied, &run, checked.commits).await?;
    archive_existing_run(&occupied.layout, &occupied.lock, wishes.unfinished).await?;
    let created = created_event(
        run,
        &occupied.project.loaded.config,
        wishes.gate,
        wishes.mode,
        &checked.adapters,
    );
    let (journal, first) = RunJournal::create(open_guard(occupied)?, created)?;
    let mut started = build_ready_run(occupied, checked, git, wishes, journal, Some(first));
    prepare_children(occupied, &mut started)?;
    Ok(started)
}

/// Opens the unfinished run; `Engine::resume` continues it.
///
/// # Errors
/// There is none, it uses other adapters than the configuration, or git or the disk reports an error.
pub async fn reopen_unfinished_run(
    occupied: &mut LockedProject,
    checked: RunRequirements,
    wishes: &StartOptions,
) -> Result<ReadyRun, StartError> {
    clean_up_workdir(&occupied.layout, &occupied.lock)?;
    let mut journal =
        RunJournal::reopen(open_guard(occupied)?)?.ok_or_else(no_unfinished_run_error)?;
    let mended = journal.take_repair_notices();
    let state = journal.state();
    if state.is_over() || state.goal.is_none() {
        return Err(no_unfinished_run_error());
    }
    check_adapters_match(&checked.adapters, state)?;
    clear_leftovers(&state.run).await;
    // Child processes and worktrees keep the run's own name, as before the program ended.
    let git = prepare_git(occupied, &journal.state().run, checked.commits).await?;
    let mut started = build_ready_run(occupied, checked, git, wishes, journal, None);
    started.notices.extend(mended);
    prepare_children(occupied, &mut started)?;
    Ok(started)
}

/// Removes what an ended program left of a run that this process has locked: processes, and folders with sockets and
/// tokens.
pub(super) async fn clear_leftovers(run: &RunId) {
    terminate_leftovers_by_prefix(run.as_str(), LEFTOVER_GRACE).await;
    let n_folders = runtime_dir::remove_run_dirs(run.as_str());
    if n_folders > 0 {
        tracing::info!(n_folders, "leftovers of a killed instance were removed");
    }
}

/// Deletes expired sessions of children, records the configured agents, saves the changes of children of a dead program,
/// and removes their worktrees.
fn prepare_children(occupied: &LockedProject, started: &mut ReadyRun) -> Result<(), StartError> {
    let engine = &mut started.engine;
    let limits = &occupied.project.loaded.config.limits;
    prune_expired_sessions(&occupied.layout, &occupied.lock, engine, limits)?;
    let registered = match engine.setup().configured_agents_event() {
        Some(event) => engine.apply_event(event),
        None => Ok(()),
    };
    let swept = registered.and_then(|()| engine.recover_leftovers(LeftoverKind::Worktrees));
    swept.map_err(|error| StartError::new(&error, "nothing was started"))
}

/// Inspects and locks a project that has a run. Where there was never one, its directory is not created.
///
/// # Errors
/// There is no run, another instance has the lock, or the project cannot be used.
pub async fn lock_project_with_run(wishes: &StartOptions) -> Result<LockedProject, StartError> {
    let found = inspect_project(wishes).await?;
    if !run_layout(&found.root, &found.loaded.config)?
        .workdir()
        .is_dir()
    {
        return Err(no_run_error());
    }
    lock_project(found)
}

/// Opens the existing run as it is, finished or not, without checking that its agents are installed: they get no
/// requests.
///
/// # Errors
/// There is none, or git or the disk reports an error.
pub async fn reopen_run(
    occupied: &mut LockedProject,
    wishes: &StartOptions,
    commits: RunCommitMode,
) -> Result<ReadyRun, StartError> {
    clean_up_workdir(&occupied.layout, &occupied.lock)?;
    let journal = RunJournal::reopen(open_guard(occupied)?)?.ok_or_else(no_run_error)?;
    let git = prepare_git(occupied, &journal.state().run, commits).await?;
    let checked = unprobed_requirements(&occupied.project, commits)?;
    Ok(build_ready_run(
        occupied, checked, git, wishes, journal, None,
    ))
}

/// Returns the requirements of a run whose agents get no requests, so that they need not be installed.
fn unprobed_requirements(
    found: &ProjectContext,
    commits: RunCommitMode,
) -> Result<RunRequirements, StartError> {
    Ok(RunRequirements {
        prompts: load_prompts(&found.loaded)?,
        agent_prompts: load_agent_prompts(&found.loaded)?,
        adapters: role_adapters(&found.loaded.config)?,
        cli_versions: BTreeMap::new(),
        kernel: SandboxSupport::Unavailable("nothing will be started".to_owned()),
        commits,
        is_one_shot: false,
    })
}

/// The hint how to start a run, for the screen and for the command line.
pub const START_HINT: &str =
    "start a run with a goal: on the screen, or with `agent-collab run --goal …`";

/// Returns the error for a directory without a run.
pub fn no_run_error() -> StartError {
    StartError::new("no run here", START_HINT)
}

fn open_guard(occupied: &LockedProject) -> Result<TamperGuard, StartError> {
    let copies = occupied.project.places.state_dir.join("guard");
    Ok(TamperGuard::open(&occupied.layout, &copies)?)
}

/// Loads the extra prompt of each agent.
fn load_agent_prompts(loaded: &LoadedConfig) -> Result<BTreeMap<String, String>, StartError> {
    let found = loaded.agent_prompts();
    let found = found.map_err(|problems| StartError::new(problems, ""))?;
    let texts = found.into_iter().map(|(name, source)| (name, source.text));
    Ok(texts.collect())
}

fn load_prompts(loaded: &LoadedConfig) -> Result<PromptLibrary, StartError> {
    let source = |source: &crate::config::ConfigSource| PromptSource {
        file: source.file.clone(),
        text: source.text.clone(),
    };
    let sources: Vec<PromptSource> = loaded.prompts().into_iter().map(source).collect();
    PromptLibrary::load(&sources).map_err(|problems| StartError::new(problems, ""))
}

/// Returns the paths of the run's files.
///
/// # Errors
/// The work directory is not usable.
pub fn run_layout(root: &Path, config: &AppConfig) -> Result<WorkdirLayout, StartError> {
    let names = WorkdirNames {
        workdir: config.paths.workdir.clone(),
        plan: config.paths.plan.clone(),
        comments: config.paths.comments.clone(),
        log: config.paths.log.clone(),
        debug_log: config.paths.debug_log.clone(),
    };
    Ok(WorkdirLayout::new(root, names)?)
}
