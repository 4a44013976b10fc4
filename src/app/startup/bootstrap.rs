//! Sets up a run: its first event, its policies, and the instructions that trust allows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use nix::unistd::{AccessFlags, access};

use super::preflight::RunGitSetup;
use super::{
    LockedProject, ProjectContext, ReadyRun, RunRequirements, StartAskPolicy, StartOptions,
};
use crate::app::log_setup::open_debug_log;
use crate::config::config_display;
use crate::config::config_model::{AppConfig, ConfiguredProof};
use crate::config::effective_permissions::EffectivePermissions;
use crate::config::{InstructionsReach, LoadedConfig};
use crate::domain::event::{Event, RunParameters, WorkflowSettings};
use crate::domain::ids::{RunId, SessionId};
use crate::domain::instructions_choice::InstructionsChoice;
use crate::domain::phase::{Gate, Mode};
use crate::domain::run::RUN_SCHEMA;
use crate::domain::turn::Role;
use crate::engine::Engine;
use crate::engine::log_sinks::{log_sinks, prompt_logging_notice};
use crate::engine::named_adapter::NamedAdapter;
use crate::engine::run_journal::RunJournal;
use crate::engine::run_setup::{AskPolicy, RunSetup, to_repository_trust};
use crate::engine::sandbox;
use crate::engine::sandbox_escapes;
use crate::permission::UncontainedCommandPolicy;
use crate::process::SandboxSupport;
use crate::store::approval_store::ApprovalStore;
use crate::store::worktree_records::WorktreeRegistry;
use crate::store::{EventLogRecord, WorkdirLayout};

/// Maximum size of all instructions from subfolders that are sent, in bytes.
const MAX_NESTED_BYTES: usize = 64 << 10;

pub(super) fn build_ready_run(
    occupied: &mut LockedProject,
    checked: RunRequirements,
    git: RunGitSetup,
    wishes: &StartOptions,
    journal: RunJournal,
    created: Option<EventLogRecord<Event>>,
) -> ReadyRun {
    let (commits_off, signing) = (git.commits_off, git.signing);
    let mut notices: Vec<String> = commits_off
        .iter()
        .map(|reason| format!("commits are off: {reason}"))
        .collect();
    let unwritable = unwritable_reason(&occupied.project.root);
    notices.extend(unwritable.map(|why| format!("steps cannot change files: {why}")));
    notices.extend(uncontained_notices(&checked, wishes));
    notices.extend(sandbox_escape_notices(&checked, wishes));
    let ProjectContext { root, loaded, .. } = &occupied.project;
    let sinks = log_sinks(&loaded.config, root, wishes.front_end);
    notices.extend(prompt_logging_notice(&loaded.config, &sinks));
    if occupied.debug_log.is_none() {
        occupied.debug_log = open_debug_log(&sinks, &loaded.config, &mut notices);
    }
    let setup = run_setup(
        &occupied.project,
        &occupied.layout,
        checked,
        commits_off,
        wishes,
    );
    let repository = git.repository.map(|repository| {
        let places = (&*setup.root, occupied.layout.workdir());
        let repository = sandbox::sandbox_git_reads(repository, &setup.sandbox_support);
        if setup.config.safety.contain_tests {
            let reach = setup.command_reach(&journal.state().run);
            sandbox::sandbox_git_commits(
                repository,
                &setup.sandbox_support,
                places.0,
                places.1,
                &reach,
                signing,
            )
        } else {
            repository
        }
    });
    ReadyRun {
        engine: Engine::new(setup, journal, created, repository, git.cancel),
        notices,
    }
}

/// Collects what is fixed when a run starts.
pub(super) fn run_setup(
    found: &ProjectContext,
    layout: &WorkdirLayout,
    checked: RunRequirements,
    commits_off: Option<String>,
    wishes: &StartOptions,
) -> RunSetup {
    let ProjectContext {
        root,
        loaded,
        places,
        ..
    } = found;
    let on_ask = to_on_ask(wishes.ask_policy);
    let mut permissions =
        EffectivePermissions::from_config(&loaded.config, on_ask.allow_authority());
    permissions.safety.home = Some(places.home.clone());
    RunSetup {
        root: root.clone(),
        prompts: checked.prompts,
        agent_prompts: checked.agent_prompts,
        trust: to_repository_trust(loaded.trust),
        instructions: collect_instructions(loaded),
        adapters: checked.adapters,
        branch_policy: wishes.branch,
        test_command_preference: wishes.test_choice,
        commits_off_reason: commits_off,
        ask_policy: on_ask,
        scope_policy: wishes.scope_policy,
        permissions,
        approvals: ApprovalStore::new(&places.approvals_dir(), root),
        config: loaded.config.clone(),
        origins: config_display::to_json(loaded),
        cli_versions: checked.cli_versions,
        worktrees: WorktreeRegistry::new(&places.worktrees_dir(), layout),
        spawner: wishes.children.clone(),
        sandbox_support: checked.kernel,
        uncontained_policy: if wishes.children.is_simulated() {
            UncontainedCommandPolicy::FollowRules
        } else {
            wishes.uncontained
        },
        is_one_shot: checked.is_one_shot,
    }
}

/// Returns why a work tree is not writable; `None` if it is writable.
pub fn unwritable_reason(root: &Path) -> Option<String> {
    let why = access(root, AccessFlags::W_OK).err()?;
    Some(format!(
        "cannot write to {} ({})",
        root.display(),
        why.desc()
    ))
}

/// Names the agents that the kernel does not contain on this system.
fn uncontained_notices(checked: &RunRequirements, wishes: &StartOptions) -> BTreeSet<String> {
    let SandboxSupport::Unavailable(why) = &checked.kernel else {
        return BTreeSet::new();
    };
    if wishes.children.is_simulated() {
        return BTreeSet::new();
    }
    let then = match wishes.uncontained {
        UncontainedCommandPolicy::AskEach => {
            "each of its commands that is not proven read-only asks you, whatever rules, approvals and the mode say"
        }
        UncontainedCommandPolicy::FollowRules => {
            "its commands run without a sandbox, and --uncontained lets rules, approvals and the mode allow them"
        }
    };
    let adapters = checked.adapters.values().map(NamedAdapter::traits);
    adapters
        .filter(|traits| traits.needs_our_sandbox())
        .map(|traits| {
            let cli = traits.cli_name;
            format!("{cli} runs without a sandbox: {why}; {then} (see `agent-collab doctor`)")
        })
        .collect()
}

/// Lists for each CLI with a sandbox of its own what the user's rules exclude from it.
fn sandbox_escape_notices(checked: &RunRequirements, wishes: &StartOptions) -> BTreeSet<String> {
    if wishes.children.is_simulated() {
        return BTreeSet::new();
    }
    let adapters = checked.adapters.values();
    adapters
        .filter_map(|adapter| {
            let ways_out = sandbox_escapes::find_sandbox_escapes(adapter);
            sandbox_escapes::sandbox_escape_notice(adapter.traits().cli_name, &ways_out)
        })
        .collect()
}

pub(super) fn created_event(
    run: RunId,
    config: &AppConfig,
    gate: Gate,
    mode: Mode,
    adapters: &BTreeMap<Role, NamedAdapter>,
) -> RunParameters {
    let session = |role: Role| {
        let adapter = adapters.get(&role)?;
        let id = SessionId::new(format!("ses_{}", uuid::Uuid::now_v7().simple()));
        Some((id, adapter.name.clone()))
    };
    let planner =
        session(Role::Planner).unwrap_or_else(|| (SessionId::new("ses_planner"), String::new()));
    RunParameters {
        schema: RUN_SCHEMA,
        run,
        gate,
        mode,
        settings: WorkflowSettings {
            max_iterations: config.workflow.max_iterations.max(1),
            stall_limit: WorkflowSettings::STALL_LIMIT,
            auto_approve: config.workflow.auto_approve,
            max_fix_turns: config.test.max_fix_turns,
            baseline: config.test.baseline,
            proves_steps: config.test.proof != ConfiguredProof::Off,
            proves_by_step_tests: config.test.proof == ConfiguredProof::Red,
            binds_versions: config.workflow.bind_versions,
        },
        planner,
        reviewer: session(Role::Reviewer),
    }
}

/// Returns the repository's instructions for agents, each with its path. Files in subfolders are sent up to a total
/// size; the others are only named.
pub fn collect_instructions(loaded: &LoadedConfig) -> Vec<(String, String)> {
    let mut left = MAX_NESTED_BYTES;
    let files = loaded.project_instructions().iter();
    files
        .map(|source| {
            let name = source.file.to_string_lossy().into_owned();
            let is_nested = source.file.components().count() > 1;
            let rest = left.checked_sub(source.text.len());
            let text = match rest {
                Some(rest) if is_nested => {
                    left = rest;
                    source.text.clone()
                }
                None if is_nested => format!(
                    "({} bytes, not repeated here: read {name} before you change anything in its folder.)",
                    source.text.len()
                ),
                Some(_) | None => source.text.clone(),
            };
            (name, text)
        })
        .collect()
}

/// Returns a notice which instructions are left out and how to include them; `None` if the user chose for this start.
pub fn omitted_instructions_notice(
    loaded: &LoadedConfig,
    said: Option<InstructionsChoice>,
) -> Option<String> {
    let reach = loaded.instructions_reach();
    let is_left_out = matches!(
        reach,
        InstructionsReach::Undecided | InstructionsReach::Ignored
    );
    let words = loaded
        .describe_instructions()
        .filter(|_| is_left_out && said.is_none())?;
    Some(format!(
        "{words}; to send them once use --instructions use, to send them always run `agent-collab trust`"
    ))
}

/// Converts the option into the engine's policy.
pub(super) fn to_on_ask(asks: StartAskPolicy) -> AskPolicy {
    match asks {
        StartAskPolicy::Deny => AskPolicy::Deny,
        StartAskPolicy::Wait => AskPolicy::Wait,
        StartAskPolicy::AllowRules => AskPolicy::UserRules,
    }
}
