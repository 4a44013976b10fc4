//! Everything between the command line and a run that can take its first event.
//!
//! Each refusal says what is wrong, what to do, and which exit code it deserves. Nothing is changed in
//! the repository before everything was checked.

mod ad_hoc;
mod bringing_back;
mod fitting;
mod ground;
mod presence;
mod refusal;
mod unfinished;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::adapter::RepositoryTrust;
use crate::app::log_sinks;
use crate::app::looks;
use crate::config::types::Config;
use crate::config::{Choices, Loaded, Places};
use crate::domain::ids::RunId;
use crate::domain::phase::{Gate, Mode};
use crate::domain::turn::Role;
use crate::engine::Engine;
use crate::engine::containing;
use crate::engine::git::{Discovery, GitSettings, Repository};
use crate::engine::journal::Journal;
use crate::engine::log_sinks::FrontEnd;
use crate::engine::scratch;
use crate::engine::setup::{BranchPolicy, NamedAdapter, TestChoice, trust_of};
use crate::permission::UncontainedCommands;
use crate::process::{
    ChildSpawner, SandboxSupport, describe_foreign_owner, terminate_leftovers_by_prefix,
};
use crate::prompts::{PromptSource, Prompts};
use crate::store::debug_log::DebugLog;
use crate::store::{
    InstanceLock, TamperGuard, WorkdirLayout, WorkdirNames, WorkdirPrivacy, clean_up_workdir,
};

use ad_hoc::prune_old;
use fitting::{created, ready};
use ground::{git, probe_roles};
use presence::take_lock;
use unfinished::{clear_the_way, fits_the_run, nothing_unfinished, something_to_take_up};

pub(super) use fitting::{instructions, instructions_left_out, unwritable};
pub(super) use ground::can_be_told;

pub use ad_hoc::{Absent, ad_hoc_played_by, at_rest, beside_a_goal, check_for, player_of};
pub use bringing_back::{BroughtBack, bring_back, bring_back_here};
pub use ground::{Ground, NAMELESS, WITHOUT_A_REVIEWER, adapters, check_for_a_goal};
pub use presence::InstancePresence;
pub use refusal::Refusal;
pub use unfinished::{Lies, over_here, unfinished};

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
    /// How much a run that begins lets run without asking.
    pub mode: Mode,
    /// Where commits go.
    pub branch: BranchPolicy,
    /// Which test command runs where the plan names another one.
    pub test_choice: TestChoice,
    /// What happens to calls that need a person.
    pub asks: Asks,
    /// What happens to an unfinished run.
    pub unfinished: Unfinished,
    /// Who starts agents, git and tests; by default the system.
    pub children: ChildSpawner,
    /// What happens to commands that nothing holds.
    pub uncontained: UncontainedCommands,
    /// What the terminal is used for.
    pub front_end: FrontEnd,
}

impl Wishes {
    /// For a command that starts no turn: nothing is released, and nobody is there to be asked.
    pub fn at_rest(cwd: PathBuf, choices: Choices) -> Self {
        Self {
            cwd,
            choices,
            gate: Gate::Manual,
            mode: Mode::Default,
            branch: BranchPolicy::Unless,
            test_choice: TestChoice::Own,
            asks: Asks::Deny,
            unfinished: Unfinished::Refuse,
            children: ChildSpawner::default(),
            uncontained: UncontainedCommands::AskEach,
            front_end: FrontEnd::Lines,
        }
    }
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
    /// Who starts agents, git and tests.
    pub children: ChildSpawner,
    /// What happens to commands that nothing holds.
    pub uncontained: UncontainedCommands,
}

/// A directory in which this process is the only instance, with or without a run.
pub struct Occupied {
    /// What was found there.
    pub found: Found,
    /// Where the run's files lie.
    pub layout: WorkdirLayout,
    /// Held for the life of the program.
    pub lock: InstanceLock,
    /// Tells whoever comes next that this instance was here, should it be killed; `None` where stand-ins play.
    pub presence: Option<InstancePresence>,
    /// What the user should know.
    pub notices: Vec<String>,
    /// Writes what is left of the debug log when it goes; opened with the first run.
    pub debug_log: Option<DebugLog>,
}

/// What every run needs, present and checked.
pub struct Checked {
    prompts: Prompts,
    agent_prompts: BTreeMap<String, String>,
    adapters: BTreeMap<Role, NamedAdapter>,
    kernel: SandboxSupport,
    commits: Commits,
}

/// Whether what is begun makes commits, for which git must know in whose name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commits {
    /// It may.
    Made,
    /// It makes none.
    NotMade,
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
    let loaded = looks::load(&places, root, choices).map_err(looks::refused)?;
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
    something_to_take_up(&layout(&found.root, &found.loaded.config)?)?;
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
    let git = GitSettings::new("none", CancellationToken::new()).with(&wishes.children);
    let (root, repository) = find_root(&wishes.cwd, git).await?;
    let (places, loaded) = load_config(&root, &wishes.choices)?;
    Ok(Found {
        root,
        repository,
        places,
        loaded,
        children: wishes.children.clone(),
        uncontained: wishes.uncontained,
    })
}

/// Refuses to let agents work as root on what belongs to somebody else: nothing could hold them.
fn is_of_this_user(found: &Found) -> Result<(), Refusal> {
    let is_lifted = found.uncontained == UncontainedCommands::FollowRules;
    match describe_foreign_owner(&found.root)
        .filter(|_| !is_lifted && !found.children.is_simulated())
    {
        Some(why) => Err(Refusal::error(
            format!("{why}, where nothing can hold agents and tests"),
            "start as that user, or with --uncontained, which lets commands run as root with nothing to hold them",
        )),
        None => Ok(()),
    }
}

/// Makes sure that agents can be told where they are, that the prompts are sound, and that the agents' CLIs are there.
///
/// # Errors
/// Everything that is wrong with them.
pub async fn check(found: &Found) -> Result<Checked, Refusal> {
    can_be_told(&found.root)?;
    is_of_this_user(found)?;
    let prompts = load_prompts(&found.loaded)?;
    let adapters = adapters(&found.loaded.config)?;
    probe_roles(&found.children, &adapters, &found.root).await?;
    let kernel = containing::kernel(&found.children, &found.loaded.config, &found.root).await;
    Ok(Checked {
        prompts,
        agent_prompts: agent_prompts(&found.loaded)?,
        adapters,
        kernel,
        commits: Commits::Made,
    })
}

/// Takes the directory for this process. Makes the work directory and its lock, and no run.
///
/// # Errors
/// The work directory cannot be used, or another instance holds it.
pub fn occupy(found: Found) -> Result<Occupied, Refusal> {
    can_be_told(&found.root)?;
    let layout = layout(&found.root, &found.loaded.config)?;
    let loaded = &found.loaded;
    log_sinks::check_before_start(loaded, &found.root)?;
    let mut notices: Vec<String> = loaded.notices.iter().map(ToString::to_string).collect();
    if !notices.is_empty() && trust_of(loaded.trust) == RepositoryTrust::Untrusted {
        notices.push("`agent-collab trust` shows what would count and lets it".to_owned());
    }
    if layout.create()? == WorkdirPrivacy::Open {
        notices.push(format!(
            "{} can be read by others: this file system keeps no modes",
            layout.workdir().display()
        ));
    }
    let lock = take_lock(&layout)?;
    let presence = (!found.children.is_simulated())
        .then(|| InstancePresence::note(&found.places))
        .transpose()?;
    Ok(Occupied {
        found,
        layout,
        lock,
        presence,
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
    let git = git(occupied, &run, checked.commits).await?;
    clear_the_way(&occupied.layout, &occupied.lock, wishes.unfinished).await?;
    let created = created(
        run,
        &occupied.found.loaded.config,
        (wishes.gate, wishes.mode),
        &checked.adapters,
    );
    let (journal, first) = Journal::begin(guard(occupied)?, created)?;
    let mut begun = ready(occupied, checked, (git, wishes), journal);
    prune_old(occupied, &mut begun)?;
    begun.engine.tell_first(first);
    register_agents(&mut begun)?;
    sweep_trees(&mut begun)?;
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
    clean_up_workdir(&occupied.layout, &occupied.lock)?;
    let mut journal = Journal::reopen(guard(occupied)?)?.ok_or_else(nothing_unfinished)?;
    let mended = journal.take_mended();
    let state = journal.state();
    if state.is_over() || state.goal.is_none() {
        return Err(nothing_unfinished());
    }
    fits_the_run(&checked.adapters, state)?;
    clear_away(&state.run).await;
    // Its children and its trees carry the run's own name, as before its end.
    let git = git(occupied, &journal.state().run, checked.commits).await?;
    let mut begun = ready(occupied, checked, (git, wishes), journal);
    begun.notices.extend(mended);
    prune_old(occupied, &mut begun)?;
    register_agents(&mut begun)?;
    sweep_trees(&mut begun)?;
    Ok(begun)
}

/// Ends what a program that ended left of a run that is held here now: processes, and folders with sockets and tokens.
pub(super) async fn clear_away(run: &RunId) {
    terminate_leftovers_by_prefix(run.as_str(), LEFTOVER_GRACE).await;
    let n_folders = scratch::sweep(run.as_str());
    if n_folders > 0 {
        tracing::info!(n_folders, "what a killed program left is removed");
    }
}

/// Saves what children of a dead program changed, and removes their trees.
fn sweep_trees(begun: &mut Begun) -> Result<(), Refusal> {
    let swept = begun.engine.sweep_trees();
    swept.map_err(|error| Refusal::error(&error, "nothing was begun"))
}

fn register_agents(begun: &mut Begun) -> Result<(), Refusal> {
    let registered = begun.engine.register_agents();
    registered.map_err(|error| Refusal::error(&error, "nothing was begun"))
}

/// Opens the run that is there as it stands, over or not, without looking whether its agents are there:
/// nothing is going to be asked of them.
///
/// # Errors
/// There is none, or git or the disk refuses.
pub async fn reopen(
    occupied: &mut Occupied,
    wishes: &Wishes,
    commits: Commits,
) -> Result<Begun, Refusal> {
    clean_up_workdir(&occupied.layout, &occupied.lock)?;
    let journal = Journal::reopen(guard(occupied)?)?.ok_or_else(no_run)?;
    let git = git(occupied, &journal.state().run, commits).await?;
    let checked = Checked {
        prompts: load_prompts(&occupied.found.loaded)?,
        agent_prompts: agent_prompts(&occupied.found.loaded)?,
        adapters: adapters(&occupied.found.loaded.config)?,
        kernel: SandboxSupport::Unavailable("nothing is going to be started".to_owned()),
        commits,
    };
    Ok(ready(occupied, checked, (git, wishes), journal))
}

/// How a run begins, said on the screen as well as beside it.
pub const BEGINS_ONE: &str =
    "a goal begins one: typed on the screen, or given by `agent-collab run --goal …`";

/// That no run lies here.
pub fn no_run() -> Refusal {
    Refusal::error("there is no run here", BEGINS_ONE)
}

fn guard(occupied: &Occupied) -> Result<TamperGuard, Refusal> {
    let copies = occupied.found.places.state_dir.join("guard");
    Ok(TamperGuard::open(&occupied.layout, &copies)?)
}

/// What each agent is told besides.
fn agent_prompts(loaded: &Loaded) -> Result<BTreeMap<String, String>, Refusal> {
    let found = loaded.agent_prompts();
    let found = found.map_err(|problems| Refusal::error(problems, ""))?;
    let texts = found.into_iter().map(|(name, source)| (name, source.text));
    Ok(texts.collect())
}

fn load_prompts(loaded: &Loaded) -> Result<Prompts, Refusal> {
    let source = |source: &crate::config::SourceText| PromptSource {
        file: source.file.clone(),
        text: source.text.clone(),
    };
    let sources: Vec<PromptSource> = loaded.prompts().into_iter().map(source).collect();
    Prompts::load(&sources).map_err(|problems| Refusal::error(problems, ""))
}

/// Where the run's files lie.
///
/// # Errors
/// The work directory is not usable.
pub fn layout(root: &Path, config: &Config) -> Result<WorkdirLayout, Refusal> {
    let names = WorkdirNames {
        workdir: config.paths.workdir.clone(),
        plan: config.paths.plan.clone(),
        comments: config.paths.comments.clone(),
        log: config.paths.log.clone(),
        debug_log: config.paths.debug_log.clone(),
    };
    Ok(WorkdirLayout::new(root, names)?)
}
