//! Everything besides the call that a decision depends on.
//!
//! The caller collects it: paths arrive resolved, and rules arrive in their layers.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::call_reads::CallReads;
use super::command_safety;
use super::permission_mode::Mode;
use super::profile_registry::ProfileDefinition;
use super::rule_layers::RuleSet;
use super::stored_approval::StoredApproval;

/// Which part of a run a call comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseAccess {
    /// Every phase except EXECUTE: agents write only their staging files.
    BeforeExecute,
    /// EXECUTE: agents write in the repository.
    Execute,
}

/// What happens to a command that no sandbox limits and that is not proven to only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UncontainedCommandPolicy {
    /// The user is asked about each one, whatever rules, approvals and the mode say.
    AskEach,
    /// Rules, approvals and the mode decide, as for any other command.
    #[default]
    FollowRules,
}

/// What happens to what a step changes outside of what its plan names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScopePolicy {
    #[default]
    Ask,
    /// It stays; a deletion asks.
    Allow,
    /// It is restored.
    Deny,
}

/// The paths of an edit that the plan does not name for the step, relative to the root.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutsidePaths {
    /// The number of the step; 0 where it is not known.
    pub step: u32,
    pub edited: Vec<String>,
    pub deleted: Vec<String>,
}

impl OutsidePaths {
    /// Adds a path that is not there yet.
    pub fn add(&mut self, path: String, is_deleted: bool) {
        let paths = if is_deleted {
            &mut self.deleted
        } else {
            &mut self.edited
        };
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
}

/// A path of a call, resolved by the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPath {
    /// Absolute, with `.` and `..` removed by name; see [`super::lexical_path::lexical_absolute`].
    pub lexical: PathBuf,
    /// Absolute, with links resolved as far as the path exists.
    pub real: PathBuf,
}

/// Whose session a call comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SessionLineage {
    /// A role's session, or the console's.
    #[default]
    Role,
    /// A child of another session.
    Child {
        /// The rules written for the parent's session, without the rules of its profile.
        session: Arc<RuleSet>,
    },
}

/// Whether an agent repeats itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoopStatus {
    #[default]
    NoLoop,
    /// Its last calls repeat the same few calls.
    Loop,
}

/// Everything besides the call that a decision depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionContext {
    pub phase_access: PhaseAccess,
    /// The paths of the call, in order; empty for commands and tools.
    pub paths: Vec<ResolvedPath>,
    /// What the call opens to read, if the caller looked it up.
    pub reads: CallReads,
    /// What an edit changes outside of what the plan names for the step, if the caller looked it up.
    pub outside_paths: OutsidePaths,
    /// The repository's resolved root, absolute.
    pub root: PathBuf,
    /// The files that the turn may write before EXECUTE, resolved and absolute.
    pub staging_files: Vec<PathBuf>,
    /// The program's own folders besides the root's `.agent-collab`, resolved and absolute; writing in them is denied.
    pub program_folders: Vec<PathBuf>,
    /// Folders of the user's that the session does not work in, resolved and absolute: the tree that a child's own tree
    /// was made from, and git's folder. Writing in them is denied, and commands may not name them.
    pub closed_folders: Vec<PathBuf>,
    /// The name of the session's profile.
    pub profile: String,
    /// The rules that apply to the profile.
    pub rules: Arc<RuleSet>,
    /// How much runs without asking.
    pub mode: Mode,
    /// What the user approved earlier.
    pub approvals: Vec<StoredApproval>,
    pub lineage: SessionLineage,
    /// Patterns of tools that are not offered to the session.
    pub hidden_tools: Vec<String>,
    /// Whether the agent repeats itself.
    pub loop_status: LoopStatus,
    /// Which commands the safety list blocks, whatever else allows them.
    pub safety_settings: command_safety::CommandSafetySettings,
    /// What happens to commands that no sandbox limits. The engine sets it; [`DecisionContext::new`] follows the rules.
    pub uncontained_policy: UncontainedCommandPolicy,
}

impl DecisionContext {
    /// Makes the context of a role session in mode default, with the phase's built-in profile and no written rules.
    pub fn new(phase_access: PhaseAccess, root: PathBuf) -> Self {
        let name = match phase_access {
            PhaseAccess::BeforeExecute => "plan",
            PhaseAccess::Execute => "build",
        };
        let profile =
            ProfileDefinition::built_in(name).unwrap_or_else(|| ProfileDefinition::deny_all(name));
        Self {
            phase_access,
            paths: Vec::new(),
            reads: CallReads::default(),
            outside_paths: OutsidePaths::default(),
            root,
            staging_files: Vec::new(),
            program_folders: Vec::new(),
            closed_folders: Vec::new(),
            rules: Arc::new(RuleSet::from_layers(&profile, &[], &[])),
            profile: profile.name,
            mode: Mode::Default,
            approvals: Vec::new(),
            lineage: SessionLineage::Role,
            hidden_tools: Vec::new(),
            loop_status: LoopStatus::NoLoop,
            safety_settings: command_safety::CommandSafetySettings::default(),
            uncontained_policy: UncontainedCommandPolicy::default(),
        }
    }
}
