//! Everything that is fixed when a run starts: settings, adapters, trust, policies.
//!
//! A changed configuration or prompt is not read until the next start.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::adapter::{
    Adapter, CliSpec, RepositoryTrust, claude::ClaudeAdapter, codex::CodexAdapter,
    pipe::PipeAdapter,
};
use crate::config::config_model::{
    AdapterConfig, AdapterKind, ConfiguredTestNetwork as ConfiguredNetwork,
};
use crate::config::effective_permissions::{AllowAuthority, EffectivePermissions};
use crate::config::{AppConfig, TrustState};
use crate::domain::ids::RunId;
use crate::domain::question::TestNetworkChoice;
use crate::domain::turn::Role;
use crate::permission::{ApprovalMatcher, ApprovalScope, StoredApproval, UncontainedCommandPolicy};
use crate::process::{ChildSpawner, SandboxNetwork, SandboxSupport};
use crate::prompts::PromptLibrary;
use crate::store::approval_store::ApprovalStore;
use crate::store::worktree_records::WorktreeRegistry;
use crate::store::{StoreError, utc_time};

use super::sandbox::{self, CommandReach};

/// What a run is set up with.
#[derive(Debug, Clone)]
pub struct RunSetup {
    /// The repository's real root.
    pub root: PathBuf,
    /// The configuration in force.
    pub config: AppConfig,
    /// Where each of its values comes from, as `config show --json` tells.
    pub origins: serde_json::Value,
    /// The prompts in force.
    pub prompts: PromptLibrary,
    /// What agents are told besides the prompt of their turn, by their names.
    pub agent_prompts: BTreeMap<String, String>,
    /// Whether the user trusts the repository.
    pub trust: RepositoryTrust,
    /// AGENTS.md and CLAUDE.md as far as they reach agents; each with its path in the repository.
    pub instructions: Vec<(String, String)>,
    /// The adapter of each role.
    pub adapters: BTreeMap<Role, NamedAdapter>,
    /// Where commits go.
    pub branch_policy: BranchPolicy,
    /// Which test command runs where the plan names another one.
    pub test_command_preference: TestCommandPreference,
    /// Why commits are off; `None` where they are on.
    pub commits_off_reason: Option<String>,
    /// What happens to a call that needs a person.
    pub ask_policy: AskPolicy,
    /// What is written about permissions, as it counts here.
    pub permissions: EffectivePermissions,
    /// What the user approved in this repository for more than one call.
    pub approvals: ApprovalStore,
    /// Where children that write have their work trees.
    pub worktrees: WorktreeRegistry,
    /// Who starts agents, git and tests.
    pub spawner: ChildSpawner,
    /// What can hold them.
    pub sandbox_support: SandboxSupport,
    /// What happens to commands that nothing holds.
    pub uncontained_policy: UncontainedCommandPolicy,
}

impl RunSetup {
    /// What tests and commits of a run reach beside files.
    pub fn command_reach(&self, run: &RunId) -> CommandReach {
        CommandReach {
            run: run.as_str().to_owned(),
            network: self
                .decided_test_network(run)
                .unwrap_or(SandboxNetwork::Loopback),
            sockets: self.test_sockets(run),
            mentioned_paths: Vec::new(),
        }
    }
}

/// By these words the user's answer is kept among what was approved; no agent's profile is called so.
const TESTS_PROFILE: &str = "tests";
const NETWORK_PERMISSION: &str = "network";
const NETWORK_HOST: &str = "host";
const NETWORK_LOOPBACK: &str = "loopback";
const SOCKET_PERMISSION: &str = "socket";
const SOCKET_REACHABLE: &str = "reach";
const SOCKET_HIDDEN: &str = "hide";

impl RunSetup {
    /// The network that tests have by the user's word, in the configuration or for this repository; `None` where nobody
    /// has said anything, or it cannot be read.
    pub fn decided_test_network(&self, run: &RunId) -> Option<SandboxNetwork> {
        match self.config.test.network {
            ConfiguredNetwork::Loopback => return Some(SandboxNetwork::Loopback),
            ConfiguredNetwork::Host => return Some(SandboxNetwork::Host),
            ConfiguredNetwork::Ask => {}
        }
        let approved = self.approvals.list_for_run(run);
        let approved = approved
            .inspect_err(|error| tracing::warn!(%error, "what was said of the network of tests is not known"))
            .ok()?;
        let said = |word: &str| approved.contains(&network_approval(word));
        // What was said last is the only one that is kept; of two by hand the stricter counts.
        match (said(NETWORK_LOOPBACK), said(NETWORK_HOST)) {
            (true, _) => Some(SandboxNetwork::Loopback),
            (false, true) => Some(SandboxNetwork::Host),
            (false, false) => None,
        }
    }

    /// Keeps what the user said of it.
    ///
    /// # Errors
    /// It cannot be written.
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
    /// The sockets that tests reach: those of the configuration, and those of the user's word for this repository.
    fn test_sockets(&self, run: &RunId) -> Vec<PathBuf> {
        let said = self.socket_decisions(run);
        let reached = said.iter().filter(|(_, is_reached)| **is_reached);
        let reached = reached.map(|(path, _)| path.clone());
        let configured = self.config.test.sockets.iter().cloned();
        configured.chain(reached).collect()
    }

    /// The sockets of container engines of which nobody has said yet whether tests reach them.
    pub fn undecided_sockets(&self, run: &RunId) -> Vec<PathBuf> {
        let said = self.socket_decisions(run);
        let reached = &self.config.test.sockets;
        let mut sockets = sandbox::container_sockets();
        sockets.retain(|path| !said.contains_key(path) && !reached.contains(path));
        sockets
    }

    /// What was said of sockets; of two answers by hand the stricter counts, as where they cannot be read.
    fn socket_decisions(&self, run: &RunId) -> BTreeMap<PathBuf, bool> {
        let approved = self.approvals.list_for_run(run);
        let approved = approved.inspect_err(
            |error| tracing::warn!(%error, "what was said of sockets for tests is not known"),
        );
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

    /// Keeps what the user said of a socket.
    ///
    /// # Errors
    /// It cannot be written.
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

/// An adapter with its name in the configuration.
#[derive(Debug, Clone)]
pub struct NamedAdapter {
    /// The name.
    pub name: String,
    /// How it is started.
    pub settings: AdapterConfig,
}

impl NamedAdapter {
    /// Makes the protocol of a new conversation.
    pub fn new_adapter(&self) -> Box<dyn Adapter> {
        match self.settings.kind {
            AdapterKind::Codex => Box::new(CodexAdapter::new()),
            AdapterKind::Claude => Box::new(ClaudeAdapter::new()),
            AdapterKind::Pipe => Box::new(PipeAdapter::new()),
        }
    }

    /// How its program is started.
    pub fn cli_spec(&self) -> CliSpec {
        CliSpec {
            program: self.settings.program.clone(),
            args: self.settings.args.clone(),
            env: self.settings.env.clone(),
            model: self.settings.model.clone(),
        }
    }
}

/// Where commits go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchPolicy {
    /// The current branch, or a new one when that is the default branch or no branch is checked out.
    NewIfDefault,
    /// The current branch, whatever it is.
    Current,
    /// A new branch, always.
    New,
}

/// Which test command runs where the plan names another one than was configured or detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestCommandPreference {
    /// The configured or detected one: the user's own.
    Configured,
    /// The plan's, which an agent wrote.
    Plan,
}

/// What happens to a call that needs a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskPolicy {
    /// It waits for the user.
    Wait,
    /// It is declined, the turn goes on.
    Deny,
    /// What the user's own rules allow goes ahead; all else is declined.
    UserRules,
}

impl AskPolicy {
    /// Whose allows count: in the user's absence a repository's never do, and the user's where that was said.
    pub fn allow_authority(self) -> AllowAuthority {
        match self {
            Self::Wait => AllowAuthority::Everybody,
            Self::UserRules => AllowAuthority::User,
            Self::Deny => AllowAuthority::Nobody,
        }
    }
}

/// Trust in the adapters' words.
pub fn to_repository_trust(state: TrustState) -> RepositoryTrust {
    match state {
        TrustState::Trusted => RepositoryTrust::Trusted,
        TrustState::Untrusted | TrustState::Changed => RepositoryTrust::Untrusted,
    }
}

#[cfg(test)]
impl RunSetup {
    /// The setup of a run without adapters, as tests begin one.
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
            prompts: PromptLibrary::load(&[]).unwrap(),
            agent_prompts: BTreeMap::new(),
            trust: RepositoryTrust::Untrusted,
            instructions: Vec::new(),
            adapters: BTreeMap::new(),
            branch_policy: BranchPolicy::NewIfDefault,
            test_command_preference: TestCommandPreference::Configured,
            commits_off_reason: None,
            ask_policy: on_ask,
            worktrees: WorktreeRegistry::new(&places.worktrees_dir(), layout),
            spawner: ChildSpawner::default(),
            sandbox_support: SandboxSupport::Unavailable("not looked for".to_owned()),
            uncontained_policy: UncontainedCommandPolicy::FollowRules,
        }
    }
}
