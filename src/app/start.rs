//! Everything between the command line and a run that can take its first event.
//!
//! Each refusal says what is wrong, what to do, and which exit code it deserves. Nothing is changed in
//! the repository before everything was checked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;
use tokio_util::sync::CancellationToken;

use crate::adapter::Trust;
use crate::config::types::Config;
use crate::config::{self, Choices, Layer, Loaded, Places};
use crate::domain::event::{Created, Settings};
use crate::domain::ids::{RunId, SessionId};
use crate::domain::phase::{Gate, Mode};
use crate::domain::run::{Run, SCHEMA, State};
use crate::domain::turn::Role;
use crate::engine::Engine;
use crate::engine::git::{Discovery, GitSettings, Repository};
use crate::engine::journal::Journal;
use crate::engine::probe::{Probed, probe};
use crate::engine::setup::{BranchPolicy, NamedAdapter, OnAsk, Setup, rules, trust_of};
use crate::process::{end_leftovers, find_leftovers};
use crate::prompts::{PromptSource, Prompts};
use crate::store::debug_log::{self, DebugLog};
use crate::store::{
    Guard, InstanceLock, Layout, LockError, Names, Privacy, StoreError, history, snapshot, tidy,
};
use crate::text::clean;

/// How long processes of a dead run may take to end.
const LEFTOVER_GRACE: Duration = Duration::from_secs(2);

/// What the user asked for on the command line.
#[derive(Debug, Clone)]
pub struct Wishes {
    /// Where the program was started.
    pub cwd: PathBuf,
    /// `--config` and flags that set keys.
    pub choices: Choices,
    /// Who releases turns.
    pub gate: Gate,
    /// Where commits go.
    pub branch: BranchPolicy,
    /// What happens to calls that need a person.
    pub asks: Asks,
    /// What happens to an unfinished run.
    pub unfinished: Unfinished,
}

/// What happens to calls that need a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// They are declined.
    Deny,
    /// Rules of the user's own configuration and of `--config` answer.
    AllowRules,
    /// They wait for the user.
    Wait,
}

/// What happens to an unfinished run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfinished {
    /// The start is refused.
    Refuse,
    /// It is archived.
    Archive,
}

/// Why a run was not started.
#[derive(Debug, Error)]
#[error("{problem}")]
pub struct Refusal {
    /// What is wrong; may be several lines.
    pub problem: String,
    /// What to do; may be empty.
    pub hint: String,
    /// The exit code.
    pub code: u8,
}

impl Refusal {
    /// Something is wrong: exit code 1.
    pub fn error(problem: impl ToString, hint: impl Into<String>) -> Self {
        Self {
            problem: problem.to_string(),
            hint: hint.into(),
            code: 1,
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::error(&error, error.hint())
    }
}

/// A directory and its configuration, looked at and not touched.
#[derive(Debug)]
pub struct Found {
    /// The repository's root, else the directory itself.
    pub root: PathBuf,
    /// The repository, where there is one.
    pub repository: Option<Repository>,
    /// Where the user's own files lie.
    pub places: Places,
    /// The configuration in force.
    pub loaded: Loaded,
}

/// A directory in which this process is the only instance, with or without a run.
pub struct Occupied {
    /// What was found there.
    pub found: Found,
    /// Where the run's files lie.
    pub layout: Layout,
    /// Held for the life of the program.
    pub lock: InstanceLock,
    /// What the user should know.
    pub notices: Vec<String>,
    /// Writes what is left of the debug log when it goes; opened with the first run.
    pub debug_log: Option<DebugLog>,
}

/// What every run needs, present and checked.
pub struct Checked {
    prompts: Prompts,
    adapters: BTreeMap<Role, NamedAdapter>,
}

/// A run that can take its first event.
pub struct Begun {
    /// The owner of the run.
    pub engine: Engine,
    /// What the user should know.
    pub notices: Vec<String>,
}

/// A run that can take its first event, with what must live as long as it.
pub struct Started {
    /// The owner of the run.
    pub engine: Engine,
    /// What the user should know.
    pub notices: Vec<String>,
    /// Held for the life of the program.
    pub occupied: Occupied,
}

/// Finds the directory that a run belongs to: the repository's root, else the directory itself.
///
/// # Errors
/// The directory cannot be read, or git refuses.
pub async fn find_root(
    cwd: &Path,
    git: GitSettings,
) -> Result<(PathBuf, Option<Repository>), Refusal> {
    let real = cwd.canonicalize().map_err(|error| {
        Refusal::error(
            format!("cannot read {}: {error}", cwd.display()),
            "start in a directory that exists",
        )
    })?;
    let found = Repository::discover(&real, git).await;
    match found.map_err(|error| Refusal::error(&error, error.hint()))? {
        Discovery::Found(repository) => Ok((repository.root.clone(), Some(repository))),
        Discovery::NotARepository => Ok((real, None)),
        Discovery::NoWorkTree => Err(Refusal::error(
            format!(
                "{} is inside a git repository without a work tree",
                real.display()
            ),
            "start in a checkout of it",
        )),
    }
}

/// Loads the configuration of a repository; all problems at once.
///
/// # Errors
/// There is no home directory, or the configuration has problems.
pub fn load_config(root: &Path, choices: &Choices) -> Result<(Places, Loaded), Refusal> {
    let places = Places::from_env().map_err(|error| Refusal::error(error, ""))?;
    let loaded = config::load(&places, root, choices).map_err(|problems| {
        Refusal::error(problems, "`agent-collab config check` lists them again")
    })?;
    Ok((places, loaded))
}

/// Checks everything and begins a run.
///
/// # Errors
/// Something is missing, wrong, or held by another instance.
pub async fn start(wishes: &Wishes) -> Result<Started, Refusal> {
    let found = find(wishes).await?;
    let checked = check(&found).await?;
    let mut occupied = occupy(found)?;
    let begun = begin(&mut occupied, checked, wishes).await?;
    Ok(started(occupied, begun))
}

/// Checks everything and takes up the run that is there.
///
/// # Errors
/// As [`start`]; or there is no unfinished run.
pub async fn resume(wishes: &Wishes) -> Result<Started, Refusal> {
    let found = find(wishes).await?;
    let checked = check(&found).await?;
    let mut occupied = occupy(found)?;
    let begun = take_up(&mut occupied, checked, wishes).await?;
    Ok(started(occupied, begun))
}

fn started(mut occupied: Occupied, begun: Begun) -> Started {
    let mut notices = std::mem::take(&mut occupied.notices);
    notices.extend(begun.notices);
    Started {
        engine: begun.engine,
        notices,
        occupied,
    }
}

/// Looks where the program was started and reads the configuration that counts there.
///
/// # Errors
/// The directory or the configuration has problems.
pub async fn find(wishes: &Wishes) -> Result<Found, Refusal> {
    let git = GitSettings::new("none", CancellationToken::new());
    let (root, repository) = find_root(&wishes.cwd, git).await?;
    let (places, loaded) = load_config(&root, &wishes.choices)?;
    Ok(Found {
        root,
        repository,
        places,
        loaded,
    })
}

/// Makes sure that the prompts are sound and that the agents' CLIs are there.
///
/// # Errors
/// Everything that is wrong with them.
pub async fn check(found: &Found) -> Result<Checked, Refusal> {
    let prompts = load_prompts(&found.loaded)?;
    let adapters = adapters(&found.loaded.config)?;
    probe_all(&adapters, &found.root).await?;
    Ok(Checked { prompts, adapters })
}

/// Takes the directory for this process. Makes the work directory and its lock, and no run.
///
/// # Errors
/// The work directory cannot be used, or another instance holds it.
pub fn occupy(found: Found) -> Result<Occupied, Refusal> {
    let layout = layout(&found.root, &found.loaded.config)?;
    let loaded = &found.loaded;
    let mut notices: Vec<String> = loaded.notices.iter().map(ToString::to_string).collect();
    if !notices.is_empty() && trust_of(loaded.trust) == Trust::Untrusted {
        notices.push("`agent-collab trust` shows what would count and lets it".to_owned());
    }
    if layout.create()? == Privacy::Open {
        notices.push(format!(
            "{} can be read by others: this file system keeps no modes",
            layout.workdir().display()
        ));
    }
    let lock = take_lock(&layout)?;
    Ok(Occupied {
        found,
        layout,
        lock,
        notices,
        debug_log: None,
    })
}

/// Begins a run; what is left of an earlier one is archived first.
///
/// # Errors
/// An unfinished run stands in the way, or git or the disk refuses.
pub async fn begin(
    occupied: &mut Occupied,
    checked: Checked,
    wishes: &Wishes,
) -> Result<Begun, Refusal> {
    let run = RunId::new(format!("run_{}", uuid::Uuid::now_v7().simple()));
    let git = git(occupied, &run).await?;
    clear_the_way(&occupied.layout, &occupied.lock, wishes.unfinished).await?;
    let created = created(
        run,
        &occupied.found.loaded.config,
        wishes.gate,
        &checked.adapters,
    );
    let (journal, first) = Journal::begin(guard(occupied)?, created)?;
    let mut begun = ready(occupied, checked, (git, wishes), journal);
    begun.engine.tell_first(first);
    Ok(begun)
}

/// Takes up the unfinished run that is there; [`Engine::resume`] lets it go on.
///
/// # Errors
/// There is none, it was begun with other adapters, or git or the disk refuses.
pub async fn take_up(
    occupied: &mut Occupied,
    checked: Checked,
    wishes: &Wishes,
) -> Result<Begun, Refusal> {
    let git = git(occupied, &RunId::new("resume")).await?;
    tidy(&occupied.layout, &occupied.lock)?;
    let nothing = || {
        Refusal::error(
            "there is no unfinished run here",
            "`agent-collab run --goal …` begins one",
        )
    };
    let journal = Journal::reopen(guard(occupied)?)?.ok_or_else(nothing)?;
    let state = journal.state();
    if state.phase.is_final() || state.goal.is_none() {
        return Err(nothing());
    }
    fits_the_run(&checked.adapters, state)?;
    end_leftovers(&find_leftovers(state.run.as_str()), LEFTOVER_GRACE).await;
    Ok(ready(occupied, checked, (git, wishes), journal))
}

/// A run goes on with the adapters that it was begun with: its conversations live there.
fn fits_the_run(adapters: &BTreeMap<Role, NamedAdapter>, state: &State) -> Result<(), Refusal> {
    for role in [Role::Planner, Role::Reviewer] {
        let began = state.session(role).map(|session| session.adapter.as_str());
        let now = adapters.get(&role).map(|adapter| adapter.name.as_str());
        if began != now {
            let word = |name: Option<&str>| name.unwrap_or("none").to_owned();
            return Err(Refusal::error(
                format!(
                    "the run began with {} as {}, now {} is configured",
                    word(began),
                    role.name(),
                    word(now)
                ),
                format!("go on with `-s roles.{}={}`", role.name(), word(began)),
            ));
        }
    }
    Ok(())
}

/// Where snapshots and commits of one run go.
struct Git {
    repository: Option<Repository>,
    commits_off: Option<String>,
    cancel: CancellationToken,
}

async fn git(occupied: &Occupied, run: &RunId) -> Result<Git, Refusal> {
    let Found { root, places, .. } = &occupied.found;
    let cancel = CancellationToken::new();
    let settings = GitSettings::new(run.as_str(), cancel.clone());
    let (_, repository) = find_root(root, settings).await?;
    let (repository, commits_off) = commits(repository, root, places, run, &cancel).await?;
    Ok(Git {
        repository: repository.map(|repository| repository.with_own(occupied.layout.workdir())),
        commits_off,
        cancel,
    })
}

fn guard(occupied: &Occupied) -> Result<Guard, Refusal> {
    let copies = occupied.found.places.state_dir.join("guard");
    Ok(Guard::open(&occupied.layout, &copies)?)
}

fn ready(
    occupied: &mut Occupied,
    checked: Checked,
    (git, wishes): (Git, &Wishes),
    journal: Journal,
) -> Begun {
    let commits_off = git.commits_off;
    let mut notices: Vec<String> = commits_off
        .iter()
        .map(|reason| format!("commits are off: {reason}"))
        .collect();
    let Found { root, loaded, .. } = &occupied.found;
    if occupied.debug_log.is_none() {
        occupied.debug_log = open_debug_log(&occupied.layout, &loaded.config, &mut notices);
    }
    let trust = trust_of(loaded.trust);
    let setup = Setup {
        root: root.clone(),
        prompts: checked.prompts,
        trust,
        instructions: instructions(loaded, trust),
        adapters: checked.adapters,
        branch: wishes.branch,
        commits_off,
        on_ask: on_ask(wishes.asks, &loaded.config),
        config: loaded.config.clone(),
    };
    Begun {
        engine: Engine::new(setup, journal, git.repository, git.cancel),
        notices,
    }
}

fn load_prompts(loaded: &Loaded) -> Result<Prompts, Refusal> {
    let source = |source: &crate::config::SourceText| PromptSource {
        file: source.file.clone(),
        text: source.text.clone(),
    };
    let sources: Vec<PromptSource> = loaded.prompts().into_iter().map(source).collect();
    Prompts::load(&sources).map_err(|problems| Refusal::error(problems, ""))
}

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

/// Probes every adapter in use, at once, and refuses with everything that is wrong.
async fn probe_all(adapters: &BTreeMap<Role, NamedAdapter>, root: &Path) -> Result<(), Refusal> {
    let mut names: Vec<&NamedAdapter> = Vec::new();
    for adapter in adapters.values() {
        if names.iter().all(|known| known.name != adapter.name) {
            names.push(adapter);
        }
    }
    let mut problems = Vec::new();
    for adapter in names {
        if let Probed::Refused { problem, hint } = probe(adapter, root).await {
            problems.push(format!("{problem}\nhint: {hint}"));
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(Refusal::error(problems.join("\n"), "")),
    }
}

/// The repository that snapshots and audits go to, and why commits are off where they are.
async fn commits(
    repository: Option<Repository>,
    root: &Path,
    places: &Places,
    run: &RunId,
    cancel: &CancellationToken,
) -> Result<(Option<Repository>, Option<String>), Refusal> {
    if let Some(repository) = repository {
        let identity = repository
            .identity()
            .await
            .map_err(|error| Refusal::error(&error, error.hint()))?;
        identity.map_err(|missing| {
            Refusal::error("git does not know in whose name to commit", missing.hint())
        })?;
        return Ok((Some(repository), None));
    }
    let shadow = shadow_repository(root, places, run, cancel).await?;
    let reason = "this directory is in no git repository; `git init` turns them on".to_owned();
    Ok((Some(shadow), Some(reason)))
}

/// Outside of git, trees are kept in a repository of the program's own, beside its state.
async fn shadow_repository(
    root: &Path,
    places: &Places,
    run: &RunId,
    cancel: &CancellationToken,
) -> Result<Repository, Refusal> {
    let name = crate::domain::plan::file_hash(root.as_os_str().as_encoded_bytes());
    let git_dir = places
        .state_dir
        .join("shadow")
        .join(format!("{}.git", &name.as_str()[..16]));
    let settings = GitSettings::new(run.as_str(), cancel.clone());
    Repository::shadow(root, &git_dir, settings)
        .await
        .map_err(|error| Refusal::error(&error, error.hint()))
}

/// Where the run's files lie.
///
/// # Errors
/// The work directory is not usable.
pub fn layout(root: &Path, config: &Config) -> Result<Layout, Refusal> {
    let names = Names {
        workdir: config.paths.workdir.clone(),
        plan: config.paths.plan.clone(),
        comments: config.paths.comments.clone(),
        log: config.paths.log.clone(),
        debug_log: config.paths.debug_log.clone(),
    };
    Ok(Layout::new(root, names)?)
}

fn take_lock(layout: &Layout) -> Result<InstanceLock, Refusal> {
    InstanceLock::take(layout).map_err(|error| {
        let code = if matches!(error, LockError::Held(_)) {
            4
        } else {
            1
        };
        Refusal {
            problem: error.to_string(),
            hint: error.hint(),
            code,
        }
    })
}

/// Says in words which unfinished run is here, if any. Changes nothing.
///
/// # Errors
/// What is here is of a newer version, or cannot be read.
pub fn unfinished(layout: &Layout) -> Result<Option<String>, Refusal> {
    let found = match snapshot::load::<Run>(layout) {
        Err(StoreError::Damaged { .. }) => {
            return Ok(Some(
                "a run whose state is damaged and is read again from its log".to_owned(),
            ));
        }
        found => found?,
    };
    Ok(found.and_then(|found| unfinished_in_words(found.state.state())))
}

fn unfinished_in_words(state: &State) -> Option<String> {
    let goal = state.goal.as_ref().filter(|_| !state.phase.is_final())?;
    Some(format!(
        "`{}`, in phase {}",
        clean(&goal.title),
        state.phase
    ))
}

fn refuse_unfinished(state: &State) -> Result<(), Refusal> {
    let Some(run) = unfinished_in_words(state) else {
        return Ok(());
    };
    Err(Refusal {
        problem: format!("an unfinished run is here: {run}"),
        hint:
            "`agent-collab resume` takes it up; `run --new` archives it to history/ and begins anew"
                .to_owned(),
        code: 3,
    })
}

/// Ends leftovers of a dead run and archives what is over.
async fn clear_the_way(
    layout: &Layout,
    lock: &InstanceLock,
    unfinished: Unfinished,
) -> Result<(), Refusal> {
    tidy(layout, lock)?;
    let today = jiff::Zoned::now().date();
    let found = match snapshot::load::<Run>(layout) {
        Ok(Some(found)) => found,
        // Half of a run, cut off before its first snapshot: there is nothing to go on with.
        Ok(None) => {
            history::archive(layout, lock, "cut-off", today)?;
            return Ok(());
        }
        Err(error) if unfinished == Unfinished::Archive => {
            tracing::warn!(%error, "archived unread");
            history::archive(layout, lock, "unreadable", today)?;
            return Ok(());
        }
        Err(error) => {
            let hint = format!(
                "{}; `--new` archives it unread to history/ and begins anew",
                error.hint()
            );
            return Err(Refusal::error(error, hint));
        }
    };
    let state = found.state.state();
    let leftovers = find_leftovers(state.run.as_str());
    end_leftovers(&leftovers, LEFTOVER_GRACE).await;
    if unfinished == Unfinished::Refuse {
        refuse_unfinished(state)?;
    }
    let title = state
        .goal
        .as_ref()
        .map_or("without-goal", |goal| goal.title.as_str());
    history::archive(layout, lock, title, today)?;
    Ok(())
}

fn open_debug_log(layout: &Layout, config: &Config, notices: &mut Vec<String>) -> Option<DebugLog> {
    let level = config
        .log
        .level
        .parse()
        .unwrap_or(tracing_subscriber::filter::LevelFilter::INFO);
    let opened = debug_log::init_debug_log(
        &layout.debug_log(),
        config.paths.debug_log_max_bytes,
        level,
        Box::new(clean),
    );
    match opened {
        Ok(log) => Some(log),
        Err(error) => {
            notices.push(format!("no debug log: {error}"));
            None
        }
    }
}

fn created(
    run: RunId,
    config: &Config,
    gate: Gate,
    adapters: &BTreeMap<Role, NamedAdapter>,
) -> Created {
    let session = |role: Role| {
        let adapter = adapters.get(&role)?;
        let id = SessionId::new(format!("ses_{}", uuid::Uuid::now_v7().simple()));
        Some((id, adapter.name.clone()))
    };
    let planner =
        session(Role::Planner).unwrap_or_else(|| (SessionId::new("ses_planner"), String::new()));
    Created {
        schema: SCHEMA,
        run,
        gate,
        mode: Mode::Default,
        settings: Settings {
            max_iterations: config.workflow.max_iterations.max(1),
            stall_limit: config.workflow.stall_limit.max(1),
            auto_approve: config.workflow.auto_approve,
            max_fix_turns: config.test.max_fix_turns,
        },
        planner,
        reviewer: session(Role::Reviewer),
    }
}

fn instructions(loaded: &Loaded, trust: Trust) -> Vec<(String, String)> {
    if trust == Trust::Untrusted {
        return Vec::new();
    }
    let name = |file: &Path| {
        file.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    loaded
        .project_instructions()
        .iter()
        .map(|source| (name(&source.file), source.text.clone()))
        .collect()
}

/// Rules that may answer in the user's place: those of the global configuration and of `--config`.
fn on_ask(asks: Asks, config: &Config) -> OnAsk {
    match asks {
        Asks::Deny => OnAsk::Deny,
        Asks::Wait => OnAsk::Wait,
        Asks::AllowRules => OnAsk::Rules {
            own: rules(config.permission.rules.iter().filter(|rule| is_own(rule))),
            restrictions: rules(config.permission.restrictions.iter()),
        },
    }
}

/// A repository's own rules, trusted or not, never allow in the user's absence.
fn is_own(rule: &config::types::Rule) -> bool {
    matches!(rule.layer, Layer::Global | Layer::File) || rule.action != config::types::Action::Allow
}
