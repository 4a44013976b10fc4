//! Builds what a turn needs to start: the session, the prompt, the access, the sandbox, and how its calls are decided.
//!
//! The parts that turns of roles and tasks of children share are functions here; `subagents` adds the rest for a child.

use std::path::PathBuf;

use crate::adapter::{SessionSpec, TurnAccess, TurnSpec};
use crate::domain::ids::SessionId;
use crate::domain::phase::Mode;
use crate::domain::plan::file_hash;
use crate::domain::turn::TurnOrder;
use crate::permission::{PhaseAccess, RuleSet};
use crate::process::SandboxSupport;

use super::agent_conversation::{ConversationStart, TurnStartRequest};
use super::approvals::call_request::hidden_permissions;
use super::approvals::caller_context::{CallPaths, CallerContext};
use super::conversations::ActiveTurn;
use super::named_adapter::NamedAdapter;
use super::read_target_resolver::find_denied_files;
use super::run_context::RunContext;
use super::sandbox::TurnSandbox;
use super::staging_folder::{self, TurnStagingFolder};
use super::{runtime_dir, sandbox_escapes};

/// The prompts of a turn.
pub(super) struct TurnPrompts {
    pub(super) prompt: String,
    /// What a new conversation must be told first.
    pub(super) recovery: String,
    /// Background tasks whose end the prompt reports.
    pub(super) background_reports: Vec<SessionId>,
    pub(super) conversation: ConversationStart,
}

/// A role's turn that is ready to start.
pub(super) struct PreparedTurn {
    pub(super) request: TurnStartRequest,
    pub(super) active: ActiveTurn,
    pub(super) caller: CallerContext,
}

/// Returns the staging folder of a role's session, prepared for a turn.
///
/// # Errors
/// Why the turn cannot start.
pub(super) fn prepare_staging(
    run: &RunContext,
    order: &TurnOrder,
) -> Result<TurnStagingFolder, String> {
    let session = run.state().session(order.purpose.role());
    let session = session.ok_or("this run has no reviewer")?;
    let layout = run.journal.layout();
    staging_folder::prepare_staging(layout, layout.staging_folder(&session.id))
        .map_err(|error| error.to_string())
}

/// Builds a role's turn.
///
/// # Errors
/// Why the turn cannot start.
pub(super) fn prepare_turn(
    run: &RunContext,
    order: &TurnOrder,
    staging: TurnStagingFolder,
    prompts: TurnPrompts,
) -> Result<PreparedTurn, String> {
    let role = order.purpose.role();
    let session = run
        .state()
        .session(role)
        .ok_or("this run has no reviewer")?;
    let adapter = run.role_adapter(role)?;
    let rules = run.setup.permissions.rules(order.purpose.profile().name());
    // In Read-only the sandbox denies what the decision denies: a CLI does not ask about each edit that its sandbox allows.
    let access = if order.purpose.may_write() && run.state().mode != Mode::Plan {
        TurnAccess::Workspace
    } else {
        TurnAccess::ReadOnly
    };
    let root = run.setup.root.clone();
    let request = TurnStartRequest {
        session: SessionSpec {
            session: session.id.clone(),
            fresh_id: uuid::Uuid::new_v4().to_string(),
            external_id: session.external_id.clone(),
            cwd: root.clone(),
            staging: staging.dir.clone(),
            cli: adapter.cli_spec(),
            trust: run.setup.trust,
            hook_command: None,
            tool_server: None,
            hidden_folders: runtime_dir::user_runtime_dirs(),
        },
        turn: TurnSpec {
            turn: order.turn.clone(),
            prompt: prompts.prompt,
            access,
            hidden_permissions: hidden_permissions(&rules, order.purpose.may_write()),
        },
        conversation: prompts.conversation,
        sandbox: session_sandbox(run, &root, adapter, staging.dir.clone(), access, &rules),
        timeout: run.setup.config.limits.turn_timeout,
        silence_timeout: run.setup.config.limits.silence,
        recovery: prompts.recovery,
    };
    let caller = CallerContext {
        removed_tools: adapter.traits().removed_tools,
        ..role_caller(run, order, session.id.clone(), &staging)
    };
    let active = ActiveTurn {
        session: session.id.clone(),
        order: order.clone(),
        prompt_sha256: file_hash(request.turn.prompt.as_bytes()),
        recovery_prompt: format!("{}\n\n{}", request.recovery, request.turn.prompt),
        staging,
        background_reports: prompts.background_reports,
        step_result: None,
    };
    Ok(PreparedTurn {
        request,
        active,
        caller,
    })
}

/// Returns how the calls of a role's turn are decided.
pub(super) fn role_caller(
    run: &RunContext,
    order: &TurnOrder,
    session: SessionId,
    staging: &TurnStagingFolder,
) -> CallerContext {
    CallerContext {
        session,
        turn: order.turn.clone(),
        role: Some(order.purpose.role()),
        profile: order.purpose.profile().name().to_owned(),
        child: None,
        access: if order.purpose.may_write() {
            PhaseAccess::Execute
        } else {
            PhaseAccess::BeforeExecute
        },
        root: run.setup.root.clone(),
        staging_files: staging.writable_files(&order.purpose),
        closed_folders: Vec::new(),
        removed_tools: &[],
        rules: None,
        may_ask: true,
        paths: CallPaths::Files,
        only_user_decides: false,
    }
}

/// Returns the sandbox of the process that works in a session, if its CLI has none of its own.
pub(super) fn session_sandbox(
    run: &RunContext,
    root: &std::path::Path,
    adapter: &NamedAdapter,
    staging: PathBuf,
    access: TurnAccess,
    rules: &RuleSet,
) -> TurnSandbox {
    TurnSandbox {
        support: if run.setup.config.safety.contain_agents {
            run.setup.sandbox_support.clone()
        } else {
            SandboxSupport::Unavailable("safety.contain_agents is off".to_owned())
        },
        root: root.to_owned(),
        read_only_folders: Vec::new(),
        workdir: run.journal.layout().workdir().to_owned(),
        visible_workdir_files: None,
        staging,
        access,
        tools_folder: None,
        writable: adapter.settings.writable.clone(),
        denied_files: find_denied_files(root, rules),
        sandbox_escapes: sandbox_escapes::find_sandbox_escapes(adapter),
    }
}
