//! Defines everything that is fixed when a run starts: settings, adapters, trust, policies.
//!
//! A changed configuration or prompt is not read until the next start.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::adapter::RepositoryTrust;
use crate::config::config_model::ConfiguredTestNetwork as ConfiguredNetwork;
use crate::config::effective_permissions::{AllowAuthority, EffectivePermissions};
use crate::config::{AppConfig, TrustState};
use crate::domain::event::{Event, RegisteredMode};
use crate::domain::ids::RunId;
use crate::domain::question::TestNetworkChoice;
use crate::domain::turn::Role;
use crate::permission::{
    ApprovalMatcher, ApprovalScope, ScopePolicy, StoredApproval, UncontainedCommandPolicy,
};
use crate::process::{ChildSpawner, SandboxNetwork, SandboxSupport};
use crate::prompts::PromptLibrary;
use crate::store::approval_store::ApprovalStore;
use crate::store::worktree_records::WorktreeRegistry;
use crate::store::{StoreError, utc_time};

use super::named_adapter::NamedAdapter;
use super::sandbox::{self, CommandReach};

/// Settings, adapters and policies that stay the same during a run.
#[derive(Debug, Clone)]
pub struct RunSetup {
    /// The repository's real root.
    pub root: PathBuf,
    pub config: AppConfig,
    /// The origin of each configuration value, as in `config show --json`.
    pub origins: serde_json::Value,
    /// The versions of the agents' CLIs as they were probed at the start, by adapter; empty where none was.
    pub cli_versions: BTreeMap<String, String>,
    pub prompts: PromptLibrary,
    /// The user's additional prompt for each agent, by agent name.
    pub agent_prompts: BTreeMap<String, String>,
    pub trust: RepositoryTrust,
    /// AGENTS.md and CLAUDE.md as far as agents receive them, each with its path in the repository.
    pub instructions: Vec<(String, String)>,
    pub adapters: BTreeMap<Role, NamedAdapter>,
    /// The branch that commits go to.
    pub branch_policy: BranchPolicy,
    /// The test command to run if the plan names another one.
    pub test_command_preference: TestCommandPreference,
    /// Why commits are off; `None` if they are on.
    pub commits_off_reason: Option<String>,
    /// What happens to a call that needs the user.
    pub ask_policy: AskPolicy,
    /// What happens to what a step changes outside of the files that its plan names.
    pub scope_policy: ScopePolicy,
    /// The permission profiles and rules in force.
    pub permissions: EffectivePermissions,
    /// What the user approved in this repository for more than one call.
    pub approvals: ApprovalStore,
    /// The work trees of children that write.
    pub worktrees: WorktreeRegistry,
    /// Starts agents, git and tests.
    pub spawner: ChildSpawner,
    /// The sandbox that is available for them.
    pub sandbox_support: SandboxSupport,
    /// What happens to commands that are not sandboxed.
    pub uncontained_policy: UncontainedCommandPolicy,
    /// Whether the engine only does what a command line asked for and continues no run.
    pub is_one_shot: bool,
}

impl RunSetup {
    /// Returns whether the agent of any role runs without a sandbox.
    pub fn has_uncontained_role(&self) -> bool {
        !self.spawner.is_simulated()
            && sandbox::has_uncontained_role(&self.sandbox_support, &self.config)
    }

    /// Returns the event with the agents that the user's configuration adds or changes; `None` if there are none.
    pub fn configured_agents_event(&self) -> Option<Event> {
        let profiles = &self.permissions.profiles;
        let mode = |name: &String| {
            let mode = profiles.find_by_name(name).ok()?.mode;
            Some((name.clone(), RegisteredMode::Known(mode)))
        };
        let agents: BTreeMap<String, RegisteredMode> =
            self.config.agents.keys().filter_map(mode).collect();
        (!agents.is_empty()).then_some(Event::AgentsRegistered { agents })
    }

    /// Returns what tests and commits of a run can reach besides files.
    pub fn command_reach(&self, run: &RunId) -> CommandReach {
        decided_test_reach(&self.config, &self.approvals, run)
    }
}

/// Returns what tests can reach besides files, by the configuration and by what the user decided for this repository.
pub(super) fn decided_test_reach(
    config: &AppConfig,
    approvals: &ApprovalStore,
    run: &RunId,
) -> CommandReach {
    let said = socket_decisions(approvals, run);
    let reached = said.into_iter().filter(|(_, is_reached)| *is_reached);
    let reached = reached.map(|(path, _)| path);
    let network = decided_test_network(config, approvals, run);
    CommandReach {
        run: run.as_str().to_owned(),
        network: network.unwrap_or(SandboxNetwork::Loopback),
        sockets: config.test.sockets.iter().cloned().chain(reached).collect(),
        mentioned_paths: Vec::new(),
    }
}

/// The user's decisions are stored as approvals under these names; no agent's profile has the name `tests`.
const TESTS_PROFILE: &str = "tests";
const NETWORK_PERMISSION: &str = "network";
const NETWORK_HOST: &str = "host";
const NETWORK_LOOPBACK: &str = "loopback";
const SOCKET_PERMISSION: &str = "socket";
const SOCKET_REACHABLE: &str = "reach";
const SOCKET_HIDDEN: &str = "hide";

impl RunSetup {
    /// Returns the test network that the user chose in the configuration or for this repository; `None` if the user
    /// has not chosen one, or the choice cannot be read.
    pub fn decided_test_network(&self, run: &RunId) -> Option<SandboxNetwork> {
        decided_test_network(&self.config, &self.approvals, run)
    }

    /// Stores the user's choice of the test network.
    ///
    /// # Errors
    /// The approvals cannot be written.
    pub fn save_test_network(
        &self,
        run: &RunId,
        network: TestNetworkChoice,
    ) -> Result<(), StoreError> {
        let word = match network {
            TestNetworkChoice::Host => NETWORK_HOST,
            TestNetworkChoice::Loopback => NETWORK_LOOPBACK,
        };
        self.approvals
            .add(run, utc_time::now(), &[network_approval(word)])?;
        Ok(())
    }
}

impl RunSetup {
    /// Returns the sockets of container engines that the user has not decided on for tests.
    pub fn undecided_sockets(&self, run: &RunId) -> Vec<PathBuf> {
        let said = socket_decisions(&self.approvals, run);
        let reached = &self.config.test.sockets;
        let mut sockets = sandbox::container_sockets();
        sockets.retain(|path| !said.contains_key(path) && !reached.contains(path));
        sockets
    }

    /// Stores the user's decision on a socket.
    ///
    /// # Errors
    /// The approvals cannot be written.
    pub fn save_socket_decision(
        &self,
        run: &RunId,
        path: &str,
        is_reached: bool,
    ) -> Result<(), StoreError> {
        let word = if is_reached {
            SOCKET_REACHABLE
        } else {
            SOCKET_HIDDEN
        };
        let answer = test_access_approval(SOCKET_PERMISSION, &format!("{word} {path}"));
        self.approvals.add(run, utc_time::now(), &[answer])?;
        Ok(())
    }
}

fn decided_test_network(
    config: &AppConfig,
    approvals: &ApprovalStore,
    run: &RunId,
) -> Option<SandboxNetwork> {
    match config.test.network {
        ConfiguredNetwork::Loopback => return Some(SandboxNetwork::Loopback),
        ConfiguredNetwork::Host => return Some(SandboxNetwork::Host),
        ConfiguredNetwork::Ask => {}
    }
    let approved = approvals.list_for_run(run);
    let approved = approved
        .inspect_err(
            |error| tracing::warn!(%error, "your choice of the network for tests is unknown"),
        )
        .ok()?;
    let said = |word: &str| approved.contains(&network_approval(word));
    // Only the last choice is stored; if a file edited by hand has both, the stricter one counts.
    match (said(NETWORK_LOOPBACK), said(NETWORK_HOST)) {
        (true, _) => Some(SandboxNetwork::Loopback),
        (false, true) => Some(SandboxNetwork::Host),
        (false, false) => None,
    }
}

/// Returns the stored decisions on sockets; if a file edited by hand has both answers, the stricter one counts, as it
/// does when they cannot be read.
fn socket_decisions(approvals: &ApprovalStore, run: &RunId) -> BTreeMap<PathBuf, bool> {
    let approved = approvals.list_for_run(run);
    let approved = approved
        .inspect_err(|error| tracing::warn!(%error, "your choice of sockets for tests is unknown"));
    let mut said = BTreeMap::new();
    for answer in approved.into_iter().flatten() {
        if answer.profile != TESTS_PROFILE || answer.permission != SOCKET_PERMISSION {
            continue;
        }
        let ApprovalMatcher::Exact(what) = &answer.what else {
            continue;
        };
        if let Some((word, path)) = what.split_once(' ') {
            let known = said.entry(PathBuf::from(path)).or_insert(true);
            *known &= word == SOCKET_REACHABLE;
        }
    }
    said
}

fn network_approval(word: &str) -> StoredApproval {
    test_access_approval(NETWORK_PERMISSION, word)
}

fn test_access_approval(permission: &str, word: &str) -> StoredApproval {
    StoredApproval {
        profile: TESTS_PROFILE.to_owned(),
        permission: permission.to_owned(),
        what: ApprovalMatcher::Exact(word.to_owned()),
        scope: ApprovalScope::Project,
    }
}

/// The branch that commits go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchPolicy {
    /// The current branch, or a new one if that is the default branch or no branch is checked out.
    NewIfDefault,
    Current,
    New,
}

/// The test command to run if the plan names another one than was configured or detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestCommandPreference {
    /// The configured or detected command, which is the user's own.
    Configured,
    /// The plan's command, which an agent wrote.
    Plan,
}

/// What happens to a call that needs the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskPolicy {
    Wait,
    /// The call is denied and the turn continues.
    Deny,
    /// Calls that the user's own rules allow go ahead; all others are denied.
    UserRules,
}

impl AskPolicy {
    /// Returns whose allow rules count: without a user present a repository's never do, and the user's only if the
    /// policy says so.
    pub fn allow_authority(self) -> AllowAuthority {
        match self {
            Self::Wait => AllowAuthority::Everybody,
            Self::UserRules => AllowAuthority::User,
            Self::Deny => AllowAuthority::Nobody,
        }
    }
}

/// Converts the configuration's trust state to the adapters' type.
pub fn to_repository_trust(state: TrustState) -> RepositoryTrust {
    match state {
        TrustState::Trusted => RepositoryTrust::Trusted,
        TrustState::Untrusted | TrustState::Changed => RepositoryTrust::Untrusted,
    }
}

#[cfg(test)]
impl RunSetup {
    /// Returns the setup of a run without adapters, for tests.
    pub(super) fn example(
        root: &std::path::Path,
        layout: &crate::store::WorkdirLayout,
        places: &crate::config::UserDirs,
        config: AppConfig,
        on_ask: AskPolicy,
    ) -> Self {
        Self {
            root: root.to_owned(),
            permissions: EffectivePermissions::from_config(&config, on_ask.allow_authority()),
            approvals: ApprovalStore::new(&places.approvals_dir(), root),
            config,
            origins: serde_json::Value::Null,
            cli_versions: BTreeMap::new(),
            prompts: PromptLibrary::load(&[]).unwrap(),
            agent_prompts: BTreeMap::new(),
            trust: RepositoryTrust::Untrusted,
            instructions: Vec::new(),
            adapters: BTreeMap::new(),
            branch_policy: BranchPolicy::NewIfDefault,
            test_command_preference: TestCommandPreference::Configured,
            commits_off_reason: None,
            ask_policy: on_ask,
            scope_policy: ScopePolicy::Ask,
            worktrees: WorktreeRegistry::new(&places.worktrees_dir(), layout),
            spawner: ChildSpawner::default(),
            sandbox_support: SandboxSupport::Unavailable("not checked".to_owned()),
            uncontained_policy: UncontainedCommandPolicy::FollowRules,
            is_one_shot: false,
        }
    }
}
