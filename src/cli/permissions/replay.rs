//! `agent-collab permissions replay`: decides the calls of a stored run by today's rules.
//!
//! Takes no lock and changes nothing. The log has the calls cleaned and without their sandbox, so each call counts as
//! not sandboxed.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use crate::app::run_history;
use crate::app::startup::StartError;
use crate::cli::ConfigFlagArguments;
use crate::cli::cli_context::CliContext;
use crate::config::diagnostic::escape_control_chars;
use crate::config::effective_permissions::{AllowAuthority, EffectivePermissions};
use crate::domain::event::{Approval, ApprovalDecider, CallPermission, Event};
use crate::domain::ids::RequestId;
use crate::domain::run::RunState;
use crate::engine::call_paths::resolve_call_paths;
use crate::engine::read_target_resolver::with_read_paths;
use crate::engine::staging_folder;
use crate::engine::stored_run::StoredRun;
use crate::permission::decision_context::OutsidePaths;
use crate::permission::hard_limits::Floor;
use crate::permission::{
    AgentToolCall, Decision, DecisionContext, DecisionReason, DecisionSource, LoopStatus,
    PermissionAction, PhaseAccess, SandboxReach, SessionLineage, decide_call,
};
use crate::store::WorkdirLayout;
use crate::text::pluralize;

/// Arguments of `agent-collab permissions replay`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  agent-collab history\n  agent-collab permissions replay 1")]
pub struct PermissionsReplayArguments {
    /// A run of the history: its number, its name or part of it [default: the current run]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Show every call, including those that would be decided the same way
    #[arg(long)]
    pub all: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ConfigFlagArguments,
}

/// A call of the run, with its decision then and now.
struct ReplayedCall {
    approval: Approval,
    recorded_action: PermissionAction,
    recorded_answer: String,
    current_decision: Decision,
}

/// Runs the command.
///
/// # Errors
/// The configuration has problems, the run does not exist, or it cannot be read.
pub async fn run(args: PermissionsReplayArguments) -> Result<u8, StartError> {
    let CliContext {
        root,
        places,
        loaded,
        layout: here,
        ..
    } = CliContext::load(&args.choices).await?;
    // While it ran, each run had its files here.
    let live = here.clone();
    let of_run = match &args.run {
        None => here,
        Some(wanted) => {
            let runs = run_history::list_runs(&here)?;
            let found = run_history::find_run(&runs, wanted).map_err(|problem| StartError {
                problem,
                hint: "`agent-collab history` lists them".to_owned(),
                code: 2,
            })?;
            found.layout.clone()
        }
    };
    let mut permissions =
        EffectivePermissions::from_config(&loaded.config, AllowAuthority::Everybody);
    permissions.safety.home = Some(places.home);
    let judge = PermissionReplayContext {
        root,
        live,
        permissions,
    };
    let replayed = replay_run(of_run, &judge)?;
    let text = if args.json {
        format!("{}\n", calls_to_json(&replayed))
    } else {
        format_calls(&replayed, args.all)
    };
    Ok(crate::cli::print_output(&text))
}

/// What today's decisions depend on.
struct PermissionReplayContext {
    root: PathBuf,
    /// The folder in which a run works before it is archived.
    live: WorkdirLayout,
    permissions: EffectivePermissions,
}

impl PermissionReplayContext {
    fn decide(&self, approval: &Approval, state: &RunState) -> Decision {
        let call = build_call(approval, &self.root);
        let purpose = state.running.as_ref().map(|running| &running.order.purpose);
        let phase_access = match purpose {
            Some(purpose) if purpose.may_write() => PhaseAccess::Execute,
            Some(_) | None => PhaseAccess::BeforeExecute,
        };
        let profile = purpose.map_or("plan", |purpose| purpose.profile().name());
        let context = DecisionContext {
            paths: resolve_call_paths(&self.root, &call),
            program_folders: vec![self.live.workdir().to_path_buf()],
            staging_files: self.staging_files(approval, state),
            mode: state.mode,
            lineage: match approval.child {
                None => SessionLineage::Role,
                Some(_) => self.permissions.child_lineage(),
            },
            loop_status: recorded_repetition(approval),
            outside_paths: recorded_outside_paths(approval),
            ..self
                .permissions
                .decision_context(profile, phase_access, &self.root)
        };
        decide_call(&call, &with_read_paths(&call, context))
    }

    /// Returns the files of its own folder that the turn of a role could write.
    fn staging_files(&self, approval: &Approval, state: &RunState) -> Vec<PathBuf> {
        let running = state.running.as_ref().filter(|_| approval.child.is_none());
        let turn = running.and_then(|running| {
            let purpose = &running.order.purpose;
            Some((purpose, state.session(purpose.role())?))
        });
        let Some((purpose, session)) = turn else {
            return Vec::new();
        };
        let folder = self.live.staging_folder(&session.id);
        staging_folder::staging_paths(&self.live, folder).writable_files(purpose)
    }
}

/// Returns whether the recorded decision found a loop of calls.
fn recorded_repetition(approval: &Approval) -> LoopStatus {
    let decided_by = approval.why.as_ref().map(DecisionReason::source);
    if decided_by == Some(DecisionSource::Floor(Floor::DoomLoop)) {
        LoopStatus::Loop
    } else {
        LoopStatus::NoLoop
    }
}

/// Returns the paths that the recorded decision found outside of what the plan names for the step.
fn recorded_outside_paths(approval: &Approval) -> OutsidePaths {
    let mut outside = OutsidePaths::default();
    let decided_by = approval.why.as_ref().map(DecisionReason::source);
    let is_deleted = match decided_by {
        Some(DecisionSource::Floor(Floor::DeletionOutsideStep)) => true,
        Some(DecisionSource::Floor(Floor::EditOutsideStep)) => false,
        Some(_) | None => return outside,
    };
    for path in &approval.targets {
        outside.add(path.clone(), is_deleted);
    }
    outside
}

/// Rebuilds the call from its recorded approval request.
fn build_call(approval: &Approval, root: &Path) -> AgentToolCall {
    let paths = || approval.targets.iter().map(PathBuf::from).collect();
    let text = approval.targets.join("\n");
    let reach = SandboxReach::Unconfined;
    match &approval.permission {
        CallPermission::Bash => AgentToolCall::Command {
            line: text,
            cwd: root.to_owned(),
            reach,
        },
        CallPermission::Edit => AgentToolCall::Edit {
            paths: paths(),
            reach,
        },
        CallPermission::Read => AgentToolCall::Read {
            paths: paths(),
            search: None,
        },
        CallPermission::Other(name) => AgentToolCall::Tool {
            name: name.clone(),
            input: text,
        },
    }
}

fn replay_run(
    of_run: WorkdirLayout,
    judge: &PermissionReplayContext,
) -> Result<Vec<ReplayedCall>, StartError> {
    let mut stored = StoredRun::from_log_start(of_run);
    let mut waiting: Vec<(RequestId, Approval, Decision)> = Vec::new();
    let mut replayed = Vec::new();
    loop {
        let seen = stored.read_new_with(&mut |state, event| match event {
            Event::ApprovalRequested(approval) => {
                let now = judge.decide(approval, state);
                waiting.push((approval.request.clone(), approval.clone(), now));
            }
            Event::ApprovalDecided {
                request,
                allowed,
                by,
                reason,
                ..
            } => {
                record_answer(
                    &mut waiting,
                    request,
                    *allowed,
                    Some(by),
                    reason,
                    &mut replayed,
                );
            }
            Event::ApprovalExpired { approval, reason } => {
                let request = &approval.request;
                record_answer(&mut waiting, request, false, None, reason, &mut replayed);
            }
            _ => {}
        });
        if let Some(problem) = seen.problem {
            return Err(StartError::new(problem, "see `agent-collab history`"));
        }
        if !seen.has_more {
            return Ok(replayed);
        }
    }
}

/// Records the answer to a waiting call; without a decider, the call expired.
fn record_answer(
    waiting: &mut Vec<(RequestId, Approval, Decision)>,
    request: &RequestId,
    allowed: bool,
    by: Option<&ApprovalDecider>,
    reason: &str,
    replayed: &mut Vec<ReplayedCall>,
) {
    let Some(at) = waiting.iter().position(|(asked, ..)| asked == request) else {
        return;
    };
    let (_, approval, now) = waiting.swap_remove(at);
    let before = match (by, allowed) {
        (Some(ApprovalDecider::Permission | ApprovalDecider::Rules), true) => {
            PermissionAction::Allow
        }
        (Some(ApprovalDecider::Permission | ApprovalDecider::Rules), false) => {
            PermissionAction::Deny
        }
        _ => PermissionAction::Ask,
    };
    let by = by.map_or("expiry".to_owned(), ToString::to_string);
    let word = if allowed { "allowed" } else { "declined" };
    replayed.push(ReplayedCall {
        approval,
        recorded_action: before,
        recorded_answer: format!("{word} by {by}: {reason}"),
        current_decision: now,
    });
}

fn is_different(replayed: &ReplayedCall) -> bool {
    replayed.recorded_action != replayed.current_decision.action
}

fn format_calls(replayed: &[ReplayedCall], all: bool) -> String {
    let mut out = String::new();
    for one in replayed.iter().filter(|one| all || is_different(one)) {
        let ReplayedCall {
            approval,
            recorded_action: before,
            recorded_answer: told,
            current_decision: now,
        } = one;
        let call = format!("{} {}", approval.permission, approval.targets.join(", "));
        out.push_str(&format!(
            "{}\n  then  {:<6} {}\n  now   {:<6} {} ({}): {}\n",
            escape_control_chars(&call),
            before.name(),
            escape_control_chars(told),
            now.action.name(),
            escape_control_chars(&now.reason.rule),
            escape_control_chars(&now.reason.origin),
            escape_control_chars(&now.reason.reason),
        ));
    }
    let n_differing = replayed.iter().filter(|one| is_different(one)).count();
    out.push_str(&format!(
        "{}, {n_differing} of them decided differently today\n",
        pluralize(replayed.len(), "call")
    ));
    out
}

fn calls_to_json(replayed: &[ReplayedCall]) -> serde_json::Value {
    let one = |one: &ReplayedCall| {
        json!({
            "permission": one.approval.permission,
            "targets": one.approval.targets,
            "then": one.recorded_action,
            "told": one.recorded_answer,
            "now": one.current_decision.action,
            "rule": one.current_decision.reason.rule,
            "origin": one.current_decision.reason.origin,
            "reason": one.current_decision.reason.reason,
            "differs": is_different(one),
        })
    };
    replayed.iter().map(one).collect()
}
