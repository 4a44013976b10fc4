//! Turns a task request into a running child session, or into the reason why there is none.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::authorization::{check_agent_allowed, find_resumable_child};
use super::child_paths::session_display_path;
use super::child_session_files::{append_system_prompt, append_task_prompt, save_child};
use super::child_worktree::ChildWorktree;
use super::patch_apply::ActiveTaskStage;
use super::task_request::{TaskCaller, TaskRequest};
use super::task_runner::{ChildStagingFolder, TaskLimits, TaskRunner};
use super::task_semaphore::RetryBackoff;
use super::task_start_error::TaskStartError;
use super::task_transcript::TaskTranscript;
use super::write_access::{may_agent_write, plan_child_worktree};
use super::{ActiveTask, SubagentTasks, child_prompt, new_session_id};
use crate::adapter::{SessionSpec, TurnAccess, TurnSpec, adapter_entry};
use crate::domain::event::Event;
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::task::{ChildSession, TaskOrder, TaskResult};
use crate::domain::turn::Role;
use crate::engine::agent_conversation::{ConversationParts, ConversationStart, TurnStartRequest};
use crate::engine::approvals::call_request::hidden_permissions;
use crate::engine::approvals::caller_context::{CallPaths, CallerContext, CallingTurn};
use crate::engine::conversations::COMMAND_CHANNEL_CAPACITY;
use crate::engine::engine_error::EngineError;
use crate::engine::named_adapter::NamedAdapter;
use crate::engine::owner_request::OwnerRequest;
use crate::engine::run_context::RunContext;
use crate::engine::sandbox::TurnSandbox;
use crate::engine::turn_start::session_sandbox;
use crate::engine::{agent_activity, runtime_dir};
use crate::mcp::tools::task;
use crate::permission::profile_registry::{FileReadMethod, ProfileVisibility};
use crate::permission::{AgentMode, PhaseAccess, ProfileDefinition, ProfileRegistry};
use crate::process::ProcessMark;
use crate::store::debug_log::PROMPT_TARGET;

/// How many words of the prompt become the description if there is none.
const MAX_DESCRIPTION_WORDS: usize = 12;
/// The maximum length of a prompt, in bytes.
const MAX_PROMPT_BYTES: usize = 256 * 1024;

/// A task that was requested of this agent: the child's id and where its result will be, or why it was not started.
pub(in crate::engine) struct TaskStart {
    pub(in crate::engine) agent: String,
    pub(in crate::engine) result:
        Result<(SessionId, oneshot::Receiver<TaskResult>), TaskStartError>,
}

/// Everything that starting a child needs.
pub(super) struct TaskPreparation {
    pub(super) order: TaskOrder,
    pub(super) adapter: NamedAdapter,
    /// The CLI's own conversation to resume.
    pub(super) external_id: Option<String>,
    /// Whether the child existed before.
    pub(super) is_existing: bool,
    pub(super) limits: TaskLimits,
    /// The work tree of its own, if it may write.
    pub(super) worktree: Option<Arc<ChildWorktree>>,
}

impl SubagentTasks {
    /// Starts a task for an agent in a session of its own. Returns at once with the child's id and where its
    /// result will be.
    ///
    /// # Errors
    /// The record of the run cannot be written. A task that is not started is reported by the inner error.
    pub(in crate::engine) fn start_task(
        &mut self,
        run: &mut RunContext,
        ask: TaskRequest,
    ) -> Result<Result<(SessionId, oneshot::Receiver<TaskResult>), TaskStartError>, EngineError>
    {
        let prepared = match self.prepare_task(run, &ask) {
            Ok(prepared) => prepared,
            Err(refused) => return Ok(Err(refused)),
        };
        let session = prepared.order.session.clone();
        let (result, waits) = oneshot::channel();
        let started = self.start_child(run, prepared, &ask.prompt, vec![result])?;
        Ok(started
            .map(|()| (session, waits))
            .map_err(TaskStartError::Failed))
    }

    /// Starts a prepared task in a session of its own; the inner error says why it could not start.
    pub(super) fn start_child(
        &mut self,
        run: &mut RunContext,
        prepared: TaskPreparation,
        prompt: &str,
        waiters: Vec<oneshot::Sender<TaskResult>>,
    ) -> Result<Result<(), String>, EngineError> {
        let session = prepared.order.session.clone();
        let folder = match ChildStagingFolder::create(run.journal.layout().staging_folder(&session))
        {
            Ok(folder) => folder,
            Err(error) => return Ok(Err(error.to_string())),
        };
        run.record(Event::TaskStarted(prepared.order.clone()))?;
        let prompt = record_child_prompt(run, &prepared, prompt)?;
        save_child(run, &session, None)?;
        self.spawn_task_runner(run, prepared, folder, prompt, waiters);
        Ok(Ok(()))
    }

    fn prepare_task(
        &self,
        run: &RunContext,
        ask: &TaskRequest,
    ) -> Result<TaskPreparation, TaskStartError> {
        match ask.prompt.trim().len() {
            0 => return Err(TaskStartError::InvalidPrompt("the task says nothing to do")),
            MAX_PROMPT_BYTES.. => {
                return Err(TaskStartError::InvalidPrompt(
                    "the task is longer than 256 KiB; name files instead of quoting them",
                ));
            }
            _ => {}
        }
        let profile = find_subagent(&run.setup.permissions.profiles, &ask.agent)?;
        check_agent_allowed(run, &ask.caller, task::TOOL.name, &ask.agent)?;
        let known = match &ask.task_id {
            Some(id) => Some(find_resumable_child(run, id, &ask.caller)?),
            None => None,
        };
        let adapter = resolve_task_adapter(run, profile, known, &ask.caller)?;
        let session = known.map_or_else(new_session_id, |child| child.session_id().clone());
        let n_tasks = known.map_or(0, |child| child.n_tasks);
        let turn = TurnId::new(format!("{session}.{}", n_tasks + 1));
        let plot = if may_agent_write(run, &ask.agent) {
            Some(Arc::new(plan_child_worktree(run, &session, &turn, known)?))
        } else {
            None
        };
        let order = TaskOrder {
            turn,
            session,
            parent: match &ask.caller {
                TaskCaller::User => None,
                TaskCaller::Session(id) => Some(id.clone()),
            },
            n: known.map_or_else(|| next_child_number(run, &ask.agent), |child| child.order.n),
            first_agent: known
                .map(|child| child.order.naming_agent().to_owned())
                .filter(|first| *first != ask.agent),
            agent: ask.agent.clone(),
            description: short_description(&ask.description, &ask.prompt),
            adapter: adapter.name.clone(),
            model: adapter.settings.model.clone(),
            waits: ask.wait_mode,
            speaks: None,
            tree: plot.as_ref().map(|plot| plot.path.clone()),
        };
        // A conversation is stored by its CLI; another CLI does not know it.
        let lives_here = known.filter(|child| child.order.adapter == adapter.name);
        Ok(TaskPreparation {
            order,
            adapter,
            external_id: lives_here.and_then(|child| child.external_id.clone()),
            is_existing: known.is_some(),
            limits: TaskLimits {
                timeout: run.setup.config.limits.task_timeout,
                config_key: "limits.task_timeout",
                backoff: RetryBackoff::with_retries(run.setup.config.limits.task_retries),
            },
            worktree: plot,
        })
    }

    fn spawn_task_runner(
        &mut self,
        run: &mut RunContext,
        prepared: TaskPreparation,
        folder: ChildStagingFolder,
        prompt: String,
        waiters: Vec<oneshot::Sender<TaskResult>>,
    ) {
        let TaskPreparation {
            order,
            adapter,
            external_id,
            limits,
            worktree,
            ..
        } = prepared;
        let session = order.session.clone();
        let turn = order.turn.as_str();
        tracing::info!(target: PROMPT_TARGET, turn, %prompt, "a prompt goes out");
        let protocol = adapter.new_adapter();
        let closed_folders = worktree
            .as_ref()
            .map(|worktree| worktree.protected_folders())
            .unwrap_or_default();
        let mut first_turn = build_child_turn(run, &order, &adapter, external_id, prompt, limits);
        first_turn
            .sandbox
            .read_only_folders
            .clone_from(&closed_folders);
        let cancel = CancellationToken::new();
        let command_channel = mpsc::channel(COMMAND_CHANNEL_CAPACITY);
        let caller = CallerContext {
            closed_folders,
            removed_tools: adapter.traits().removed_tools,
            ..child_caller(run, &order)
        };
        run.request(OwnerRequest::AddConversation(
            command_channel.0.clone(),
            Box::new(CallingTurn::new(caller)),
        ));
        self.active_tasks.insert(
            session.clone(),
            ActiveTask {
                order,
                cancel: cancel.clone(),
                time_limit: limits.timeout,
                stop_reason: None,
                waiters,
                worktree: worktree.clone(),
                stage: ActiveTaskStage::Working,
                transcript: TaskTranscript::default(),
            },
        );
        let parts = ConversationParts {
            session: session.clone(),
            adapter: protocol,
            raw: run.raw_stream(&session),
            marker: ProcessMark::new(run.state().run.as_str(), session.as_str()),
            children: run.setup.spawner.clone(),
        };
        let runner = TaskRunner {
            session,
            adapter: adapter.name,
            semaphore: self.controller.clone(),
            cancel,
            limits,
            staging_folder: folder,
            worktree,
            parts,
            first_turn,
            command_channel,
            subagent_events: self.events.0.clone(),
            guard: run.journal.guard().clone(),
        };
        run.tasks.spawn(runner.run());
    }
}

/// Returns how the calls of a child are decided: under its own rules and the limits of the run.
pub(super) fn child_caller(run: &RunContext, order: &TaskOrder) -> CallerContext {
    // A child with a work tree of its own writes there; any other child works in the user's tree, where only steps
    // write.
    let (root, access) = match &order.tree {
        Some(tree) => (tree.clone(), PhaseAccess::Execute),
        None => (run.setup.root.clone(), PhaseAccess::BeforeExecute),
    };
    let adapter = run.setup.config.adapters.get(&order.adapter);
    let permissions = &run.setup.permissions;
    let reads = adapter.map_or(FileReadMethod::ReadTools, |adapter| {
        adapter_entry(adapter.kind).traits.file_reads
    });
    let rules = permissions.rules_for_reading(&order.agent, reads);
    CallerContext {
        session: order.session.clone(),
        turn: order.turn.clone(),
        role: None,
        profile: order.agent.clone(),
        child: Some(session_display_path(run, &order.session)),
        access,
        root,
        staging_files: Vec::new(),
        closed_folders: Vec::new(),
        removed_tools: &[],
        rules: Some(Arc::new(rules)),
        may_ask: permissions
            .rules(&order.agent)
            .find_hiding_rule("question")
            .is_none(),
        paths: CallPaths::Files,
        only_user_decides: false,
    }
}

/// Returns the agents that can run tasks.
pub(in crate::engine) fn offered_agents(
    run: &RunContext,
) -> impl Iterator<Item = &ProfileDefinition> {
    run.setup
        .permissions
        .profiles
        .iter_offered(AgentMode::Subagent)
}

/// Returns the adapter of the agent, else of the child, else of the caller, with the agent's model
/// applied.
fn resolve_task_adapter(
    run: &RunContext,
    profile: &ProfileDefinition,
    known: Option<&ChildSession>,
    caller: &TaskCaller,
) -> Result<NamedAdapter, TaskStartError> {
    let state = run.state();
    let callers = match caller {
        TaskCaller::Session(session) => state.role_of_session(session),
        TaskCaller::User => None,
    };
    let callers = state.session(callers.unwrap_or(Role::Planner));
    let name = profile.adapter.as_ref();
    let name = name.or(known.map(|child| &child.order.adapter));
    let name = name.or(callers.map(|session| &session.adapter));
    let name = name.ok_or_else(|| TaskStartError::Failed("no adapter is set up".to_owned()))?;
    let Some(settings) = run.setup.config.adapters.get(name) else {
        return Err(TaskStartError::Failed(format!(
            "no adapter `{name}`; set agents.{}.adapter to an existing one",
            profile.name
        )));
    };
    let mut settings = settings.clone();
    settings.model = profile.model.clone().or(settings.model);
    Ok(NamedAdapter::new(name.clone(), settings))
}

pub(super) fn next_child_number(run: &RunContext, agent: &str) -> u32 {
    let children = run.state().children.iter();
    let numbers = children.filter(|child| child.order.naming_agent() == agent);
    numbers.map(|child| child.order.n).max().unwrap_or(0) + 1
}

/// Writes the child's history and returns the prompt for its CLI: the whole of it if the CLI does not
/// know the conversation.
fn record_child_prompt(
    run: &RunContext,
    prepared: &TaskPreparation,
    prompt: &str,
) -> Result<String, EngineError> {
    let order = &prepared.order;
    let system = child_prompt::system_prompt(&run.setup, order);
    if !prepared.is_existing {
        append_system_prompt(run, order, &system)?;
    }
    append_task_prompt(run, order, prompt)?;
    Ok(match prepared.external_id {
        Some(_) => format!("{}\n\n{prompt}", child_prompt::prompt_header(order)),
        None => child_prompt::first_prompt(order, &system, prompt),
    })
}

fn build_child_turn(
    run: &RunContext,
    order: &TaskOrder,
    adapter: &NamedAdapter,
    external_id: Option<String>,
    prompt: String,
    patience: TaskLimits,
) -> TurnStartRequest {
    let setup = &run.setup;
    let staging = run.journal.layout().staging_folder(&order.session);
    let access = match order.tree {
        Some(_) => TurnAccess::Workspace,
        None => TurnAccess::ReadOnly,
    };
    let root = order.tree.as_ref().unwrap_or(&setup.root);
    let recovery = format!(
        "[agent-collab agent {agent}]\n{}\n[end of agent {agent}]",
        child_prompt::system_prompt(setup, order),
        agent = order.agent
    );
    let limits = &setup.config.limits;
    let rules = setup.permissions.rules(&order.agent);
    let sandbox = TurnSandbox {
        // A participant sees what others said only when the program passes it on, not before.
        visible_workdir_files: order
            .speaks
            .is_some()
            .then(|| run.journal.layout().document_paths().into()),
        ..session_sandbox(run, root, adapter, staging.clone(), access, &rules)
    };
    TurnStartRequest {
        session: SessionSpec {
            session: order.session.clone(),
            fresh_id: uuid::Uuid::new_v4().to_string(),
            external_id,
            cwd: root.clone(),
            staging,
            cli: adapter.cli_spec(),
            trust: setup.trust,
            hook_command: None,
            tool_server: None,
            hidden_folders: paths_hidden_from_child(run, order),
        },
        turn: TurnSpec {
            turn: order.turn.clone(),
            prompt,
            access,
            // A child submits nothing through a file, so without edit permission it sees no edit tool.
            hidden_permissions: hidden_permissions(&setup.permissions.rules(&order.agent), true),
        },
        conversation: ConversationStart::Existing,
        recovery,
        sandbox,
        // The task's own limit, counted from when it gets its slot, ends first.
        timeout: patience.timeout.saturating_mul(2),
        silence_timeout: limits.silence,
    }
}

/// Returns the paths hidden from the child's commands: the tool sockets of sessions and, in a discussion,
/// what others said.
fn paths_hidden_from_child(run: &RunContext, order: &TaskOrder) -> Vec<PathBuf> {
    let layout = run.journal.layout();
    let said = order.speaks.iter().flat_map(|_| layout.record_paths());
    let there = said.filter(|path| path.exists());
    runtime_dir::user_runtime_dirs()
        .into_iter()
        .chain(there)
        .collect()
}

/// Returns the agent with this name, if it can run tasks.
///
/// # Errors
/// There is none; the error lists the existing ones.
pub fn find_subagent<'a>(
    profiles: &'a ProfileRegistry,
    name: &str,
) -> Result<&'a ProfileDefinition, TaskStartError> {
    let found = profiles.find_by_name(name).ok();
    let fits = |found: &&ProfileDefinition| {
        found.mode != AgentMode::Primary && found.visibility == ProfileVisibility::Offered
    };
    found
        .filter(fits)
        .ok_or_else(|| TaskStartError::NoSuchAgent {
            name: agent_activity::clean_id(name),
            known: profiles
                .iter_offered(AgentMode::Subagent)
                .map(|agent| agent.name.clone())
                .collect(),
        })
}

/// Returns a description of the task in a few words.
fn short_description(description: &str, prompt: &str) -> String {
    match agent_activity::clean_line(description) {
        said if said.is_empty() => {
            let mut words = prompt.split_whitespace();
            let few: Vec<&str> = words.by_ref().take(MAX_DESCRIPTION_WORDS).collect();
            let cut = if words.next().is_some() { " …" } else { "" };
            agent_activity::clean_line(&format!("{}{cut}", few.join(" ")))
        }
        said => said,
    }
}
