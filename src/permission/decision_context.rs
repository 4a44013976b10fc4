//! What a decision rests on besides the call.
//!
//! It refuses to know how any of it was found: paths arrive resolved, rules layered.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::call_reads::CallReads;
use super::command_safety;
use super::permission_mode::Mode;
use super::profile_registry::ProfileDefinition;
use super::rule_layers::RuleSet;
use super::stored_approval::StoredApproval;
use super::uncontained_commands::UncontainedCommandPolicy;

/// Which part of a run a call comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseAccess {
    /// Every phase but EXECUTE: agents write their staging files alone.
    BeforeExecute,
    /// EXECUTE: agents write the repository.
    Execute,
}

/// A path of a call, resolved by who can look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPath {
    /// Absolute, `.` and `..` taken out by name; [`super::path::absolute`] makes it.
    pub lexical: PathBuf,
    /// Absolute, links resolved as far as the path exists.
    pub real: PathBuf,
}

/// Whose session a call comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SessionLineage {
    /// A role's, or the console's.
    #[default]
    Role,
    /// The child of another session.
    Child {
        /// What is written for the parent's session; the rules of its profile are not among them.
        session: Arc<RuleSet>,
    },
}

/// Whether an agent turns in a circle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoopStatus {
    /// It does not.
    #[default]
    NoLoop,
    /// Its last calls are the same few, again and again.
    Loop,
}

/// What a decision rests on besides the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionContext {
    /// Where the run is.
    pub phase_access: PhaseAccess,
    /// The paths of the call, one for each, in its order; empty for commands and tools.
    pub paths: Vec<ResolvedPath>,
    /// What the call opens to read, where somebody looked.
    pub reads: CallReads,
    /// The repository's real root, absolute.
    pub root: PathBuf,
    /// The files that the turn may write before EXECUTE, real and absolute.
    pub staging_files: Vec<PathBuf>,
    /// Folders of the program's own besides the root's `.agent-collab`, real and absolute; nothing in them may be written.
    pub program_folders: Vec<PathBuf>,
    /// Folders of the user's that the session does not work in, real and absolute: the tree that a child's own was made
    /// from, and git's folder. Nothing in them may be written, nor named by a command.
    pub closed_folders: Vec<PathBuf>,
    /// The name of the profile that the session has put on.
    pub profile: String,
    /// The rules that hold for it.
    pub rules: Arc<RuleSet>,
    /// How much runs without asking.
    pub mode: Mode,
    /// What the user approved before.
    pub approvals: Vec<StoredApproval>,
    /// Whose session it is.
    pub lineage: SessionLineage,
    /// Tools that are not offered to the session, as patterns.
    pub hidden_tools: Vec<String>,
    /// Whether the agent turns in a circle.
    pub loop_status: LoopStatus,
    /// Which commands are held back whatever else allows them.
    pub safety_settings: command_safety::CommandSafetySettings,
    /// What happens to commands that nothing holds; the engine says so, a bare context follows the rules.
    pub uncontained_policy: UncontainedCommandPolicy,
}

impl DecisionContext {
    /// Makes the context of a role session in mode default under the built-in profile of the phase, without written rules.
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
