//! Defines who makes a call: its session and turn, and what the decision about its calls depends on.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::adapter::ApprovalRequest;
use crate::domain::child_path::ChildPath;
use crate::domain::ids::{RequestId, SessionId, TurnId};
use crate::domain::run::ResultValidity;
use crate::domain::step_scope::ScopeChange;
use crate::domain::turn::Role;
use crate::engine::call_paths::{resolve_call_paths, resolve_tree_entry};
use crate::engine::read_target_resolver::with_read_paths;
use crate::engine::run_context::RunContext;
use crate::permission::decision_context::OutsidePaths;
use crate::permission::loop_detector::LoopDetector;
use crate::permission::{
    AgentToolCall, DecisionContext, PhaseAccess, ResolvedPath, RuleSet, ScopePolicy,
    StoredApproval, lexical_path,
};
use crate::text::path_name::path_to_text;

use super::call_request::{CallCircumstances, hidden_permissions, hidden_tool_names};

/// Why a call is denied that is made outside of a turn.
pub(in crate::engine) const NO_TURN: &str = "no turn of the run is under way";

/// The turn of a role or a task in which calls are made, from its start to its end.
#[derive(Debug)]
pub(in crate::engine) struct CallingTurn {
    pub(in crate::engine) caller: CallerContext,
    /// Tracks the last calls of the turn's agent.
    pub(in crate::engine) loop_detector: LoopDetector,
    /// Why calls are no longer decided; `None` while they are.
    closed_reason: Option<&'static str>,
}

/// What the decision about a turn's calls depends on, besides the call.
#[derive(Debug, Clone)]
pub(in crate::engine) struct CallerContext {
    pub(in crate::engine) session: SessionId,
    pub(in crate::engine) turn: TurnId,
    /// The role that works in the session; `None` for a child.
    pub(in crate::engine) role: Option<Role>,
    pub(in crate::engine) profile: String,
    /// The child's names from its parent on, as the user sees them; `None` for a role.
    pub(in crate::engine) child: Option<ChildPath>,
    pub(in crate::engine) access: PhaseAccess,
    pub(in crate::engine) root: PathBuf,
    /// The files in which the turn may return documents.
    pub(in crate::engine) staging_files: Vec<PathBuf>,
    /// Folders that stay closed whatever the rules say.
    pub(in crate::engine) closed_folders: Vec<PathBuf>,
    /// Tools that the CLI was started without.
    pub(in crate::engine) removed_tools: &'static [&'static str],
    /// The rules in place of those of the profile.
    pub(in crate::engine) rules: Option<Arc<RuleSet>>,
    /// Whether the agent may ask the user questions.
    pub(in crate::engine) may_ask: bool,
    pub(in crate::engine) paths: CallPaths,
    /// Whether no rule and no stored approval can answer, only the user.
    pub(in crate::engine) only_user_decides: bool,
}

/// How the paths of a call are found on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum CallPaths {
    /// Links are followed.
    Files,
    /// The entries of a git tree: a link that is the entry itself is not followed.
    TreeEntries,
}

/// A request, and where its answer goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) struct RequestAddress {
    pub(in crate::engine) request: RequestId,
    pub(in crate::engine) session: SessionId,
    pub(in crate::engine) channel: AnswerChannel,
}

/// The channel on which a request was made and is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum AnswerChannel {
    /// The protocol of the session's CLI.
    Cli,
    /// The socket of the program's own tools.
    ToolSocket,
    /// The program's own question about the changes of a task.
    Patch,
}

impl RequestAddress {
    /// Returns the request's id where it was made.
    pub(in crate::engine) fn own_id(&self) -> RequestId {
        RequestId::new(&self.request.own)
    }
}

impl CallingTurn {
    /// Starts a turn whose calls are decided in this context.
    pub(in crate::engine) fn new(caller: CallerContext) -> Self {
        Self {
            caller,
            loop_detector: LoopDetector::default(),
            closed_reason: None,
        }
    }

    /// Returns why calls are not decided; `None` while they are. The turn of a role counts only while it is the one that
    /// runs and the run wants its result.
    pub(in crate::engine) fn closed_reason(&self, run: &RunContext) -> Option<&'static str> {
        let running = run.state().running.as_ref();
        let counts = running.is_some_and(|running| {
            running.result == ResultValidity::Yes && running.order.turn == self.caller.turn
        });
        match self.caller.role {
            Some(_) if !counts => Some(NO_TURN),
            _ => self.closed_reason,
        }
    }

    /// Decides no more calls of the turn, for this reason; the first reason counts.
    pub(in crate::engine) fn close(&mut self, reason: &'static str) {
        self.closed_reason.get_or_insert(reason);
    }
}

impl CallerContext {
    /// Returns the context of the decision about a call.
    pub(in crate::engine) fn decision_context(
        &self,
        run: &RunContext,
        call: &AgentToolCall,
        circumstances: &CallCircumstances,
        approvals: Vec<StoredApproval>,
    ) -> DecisionContext {
        let base = run.base_decision_context(&self.profile, self.access, &self.root);
        let rules = self.rules.clone().unwrap_or_else(|| base.rules.clone());
        let paths = self.resolve_paths(call);
        let outside_paths = match call {
            AgentToolCall::Edit { .. } => self.find_outside_paths(run, &paths, circumstances),
            AgentToolCall::Command { .. }
            | AgentToolCall::Read { .. }
            | AgentToolCall::Tool { .. } => OutsidePaths::default(),
        };
        let context = DecisionContext {
            paths,
            outside_paths,
            staging_files: self.staging_files.clone(),
            hidden_tools: hidden_tool_names(call, &rules, self.removed_tools),
            closed_folders: self.closed_folders.clone(),
            approvals,
            lineage: circumstances.lineage.clone(),
            loop_status: circumstances.repetition,
            rules,
            ..base
        };
        match self.paths {
            CallPaths::Files => with_read_paths(call, context),
            CallPaths::TreeEntries => context,
        }
    }

    /// Returns which paths of an edit the plan does not name for the executing agent's step.
    fn find_outside_paths(
        &self,
        run: &RunContext,
        paths: &[ResolvedPath],
        circumstances: &CallCircumstances,
    ) -> OutsidePaths {
        let is_executor = self.role.is_some() && self.access == PhaseAccess::Execute;
        let scope = run.state().step_scope(&run.setup.config.test.paths);
        let Some(scope) = scope.filter(|_| is_executor) else {
            return OutsidePaths::default();
        };
        let current = run.state().current_step();
        let mut outside = OutsidePaths {
            step: scope.step,
            ..OutsidePaths::default()
        };
        let is_deleted = |path: &Path| {
            let mut deleted = circumstances.deleted.iter();
            deleted.any(|named| lexical_path::lexical_absolute(&self.root, named) == path)
        };
        for path in paths.iter().filter(|path| !self.is_staging(path)) {
            let is_deleted = is_deleted(&path.lexical);
            for form in [&path.lexical, &path.real] {
                // What lies outside of the repository has rules of its own.
                let Ok(below) = form.strip_prefix(&self.root) else {
                    continue;
                };
                let path = path_to_text(below.as_os_str().as_bytes());
                let change = ScopeChange { path, is_deleted };
                // Which files are new is known to the audit after the turn.
                let is_inside = scope.contains(&change.path, !is_deleted);
                if !is_inside && !current.is_some_and(|current| current.allows_change(&change)) {
                    outside.add(change.path, is_deleted);
                }
            }
        }
        if run.setup.scope_policy == ScopePolicy::Allow {
            outside.edited.clear();
        }
        outside
    }

    fn is_staging(&self, path: &ResolvedPath) -> bool {
        self.staging_files.contains(&path.lexical) && self.staging_files.contains(&path.real)
    }

    fn resolve_paths(&self, call: &AgentToolCall) -> Vec<ResolvedPath> {
        match (self.paths, call) {
            (CallPaths::Files, _) => resolve_call_paths(&self.root, call),
            (CallPaths::TreeEntries, AgentToolCall::Edit { paths, .. }) => {
                let resolve = |path: &PathBuf| resolve_tree_entry(&self.root, path as &Path);
                paths.iter().map(resolve).collect()
            }
            (CallPaths::TreeEntries, _) => Vec::new(),
        }
    }

    /// Returns the permissions whose tools the turn's agent does not see. Before EXECUTE a role writes its documents
    /// with the tools that edit; a child submits nothing through a file.
    pub(in crate::engine) fn hidden_permissions(&self, rules: &RuleSet) -> Vec<String> {
        let writes = self.role.is_none() || self.access == PhaseAccess::Execute;
        hidden_permissions(rules, writes)
    }

    /// Returns the id of a request among those of all sessions.
    pub(in crate::engine) fn qualified_request_id(&self, own: &RequestId) -> RequestId {
        RequestId {
            child: self.role.is_none().then(|| self.session.clone()),
            own: own.own.clone(),
        }
    }

    /// Returns a request of this caller with its id among those of all sessions.
    pub(super) fn qualify_request(&self, asking: ApprovalRequest) -> ApprovalRequest {
        ApprovalRequest {
            request: self.qualified_request_id(&asking.request),
            ..asking
        }
    }
}
