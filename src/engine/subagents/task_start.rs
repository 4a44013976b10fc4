//! Turns a task request into a running child session, or into the reason why there is none.

use std::sync::Arc;

use thiserror::Error;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::child_worktree::ChildWorktree;
use super::patch_apply::ActiveTaskStage;
use super::task_runner::{ChildStagingFolder, TaskLimits, TaskRunner};
use super::task_semaphore::RetryBackoff;
use super::task_transcript::TaskTranscript;
use super::{ActiveTask, child_prompt, new_session_id};
use crate::adapter::{SessionSpec, TurnAccess, TurnSpec};
use crate::domain::event::Event;
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::task::{ChildSession, TaskOrder, TaskResult, TaskWaitMode};
use crate::domain::turn::Role;
use crate::engine::agent_conversation::{ConversationParts, ConversationStart, TurnStartRequest};
use crate::engine::approval_request::hidden_child_permissions;
use crate::engine::run_setup::NamedAdapter;
use crate::engine::{Engine, EngineError, agent_activity};
use crate::mcp::tools::task;
use crate::permission::loop_detector::LoopDetector;
use crate::permission::profile_registry::ProfileVisibility;
use crate::permission::{AgentMode, ProfileDefinition, ProfileRegistry};
use crate::process::ProcessMark;
use crate::store::debug_log::PROMPT_TARGET;

/// How many commands may be queued for a child's conversation; more than a turn can ever have open.
const COMMAND_CAPACITY: usize = 64;
/// How many words of the prompt become the description if there is none.
const MAX_DESCRIPTION_WORDS: usize = 12;
/// The maximum length of a prompt, in bytes.
const MAX_PROMPT_BYTES: usize = 256 * 1024;

/// Who starts a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskCaller {
    User,
    /// The agent of this session.
    Session(SessionId),
}

/// A task as the caller requests it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRequest {
    pub caller: TaskCaller,
    /// The name of the agent.
    pub agent: String,
    pub prompt: String,
    /// A description in a few words; made from the prompt if it is empty.
    pub description: String,
    /// The child session to resume; `None` creates a new one.
    pub task_id: Option<SessionId>,
    /// Whether the caller waits for the result.
    pub wait_mode: TaskWaitMode,
}

/// Explains why a task was not started.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TaskStartError {
    /// There is no such agent for tasks.
    #[error("no agent {name:?} for tasks; there are {}", known.join(", "))]
    NoSuchAgent {
        /// The name that was given.
        name: String,
        /// The names of the existing agents.
        known: Vec<String>,
    },
    /// A child may not start a child.
    #[error(
        "a child session cannot give tasks itself: do it yourself, or say in your result what is left"
    )]
    TooDeep,
    /// The calling session may not start it.
    #[error("this session may not have {agent} work by {tool}: {why}")]
    NotAllowed {
        /// The tool for the task.
        tool: &'static str,
        agent: String,
        /// The rule that denies it.
        why: String,
    },
    /// The caller has no child session with this id.
    #[error("{id} is not a task of this session; leave the id out to start a new one")]
    NotOwnTask {
        /// The id that was given.
        id: String,
    },
    /// The child session is still running.
    #[error("the task {id} is still running; wait for its end")]
    StillRunning {
        /// The id of the running session.
        id: String,
    },
    /// The prompt is empty or too long.
    #[error("{0}")]
    InvalidPrompt(&'static str),
    /// The agent may write, and outside of a git repository its changes cannot be kept apart.
    #[error(
        "this agent may write, and its changes can be kept separate only in a git repository: run `git init` here, or \
         give the task to a read-only agent such as explore"
    )]
    NoRepository,
    /// A resource of the task could not be created.
    #[error("the task could not be started: {0}")]
    Failed(String),
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

impl Engine {
    /// Returns the agents that can run tasks.
    pub fn subagents(&self) -> impl Iterator<Item = &ProfileDefinition> {
        self.setup
            .permissions
            .profiles
            .iter_offered(AgentMode::Subagent)
    }

    /// Starts a task for an agent in a session of its own. Returns at once with the child's id and where its
    /// result will be.
    ///
    /// # Errors
    /// The record of the run cannot be written. A task that is not started is reported by the inner error.
    pub fn start_task(
        &mut self,
        ask: TaskRequest,
    ) -> Result<Result<(SessionId, oneshot::Receiver<TaskResult>), TaskStartError>, EngineError>
    {
        let prepared = match self.prepare_task(&ask) {
            Ok(prepared) => prepared,
            Err(refused) => return Ok(Err(refused)),
        };
        let session = prepared.order.session.clone();
        let (result, waits) = oneshot::channel();
        let begun = self.start_child(prepared, &ask.prompt, vec![result])?;
        Ok(begun
            .map(|()| (session, waits))
            .map_err(TaskStartError::Failed))
    }

    /// Starts a prepared task in a session of its own; the inner error says why it could not start.
    pub(super) fn start_child(
        &mut self,
        prepared: TaskPreparation,
        prompt: &str,
        waiters: Vec<oneshot::Sender<TaskResult>>,
    ) -> Result<Result<(), String>, EngineError> {
        let session = prepared.order.session.clone();
        let folder =
            match ChildStagingFolder::create(self.journal.layout().staging_folder(&session)) {
                Ok(folder) => folder,
                Err(error) => return Ok(Err(error.to_string())),
            };
        self.apply_event(Event::TaskStarted(prepared.order.clone()))?;
        let prompt = self.record_child_prompt(&prepared, prompt)?;
        self.save_child(&session, None)?;
        self.spawn_task_runner(prepared, folder, prompt, waiters);
        Ok(Ok(()))
    }

    fn prepare_task(&self, ask: &TaskRequest) -> Result<TaskPreparation, TaskStartError> {
        match ask.prompt.trim().len() {
            0 => return Err(TaskStartError::InvalidPrompt("the task says nothing to do")),
            MAX_PROMPT_BYTES.. => {
                return Err(TaskStartError::InvalidPrompt(
                    "the task is longer than 256 KiB; name files instead of quoting them",
                ));
            }
            _ => {}
        }
        let profile = find_subagent(&self.setup.permissions.profiles, &ask.agent)?;
        self.check_agent_allowed(&ask.caller, task::TOOL.name, &ask.agent)?;
        let known = match &ask.task_id {
            Some(id) => Some(self.find_resumable_child(id, &ask.caller)?),
            None => None,
        };
        let adapter = self.resolve_task_adapter(profile, known, &ask.caller)?;
        let session = known.map_or_else(new_session_id, |child| child.session_id().clone());
        let n_tasks = known.map_or(0, |child| child.n_tasks);
        let turn = TurnId::new(format!("{session}.{}", n_tasks + 1));
        let plot = if self.may_agent_write(&ask.agent) {
            Some(Arc::new(self.plan_child_worktree(&session, &turn, known)?))
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
            n: known.map_or_else(|| self.next_child_number(&ask.agent), |child| child.order.n),
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
                timeout: self.setup.config.limits.task_timeout,
                config_key: "limits.task_timeout",
                backoff: RetryBackoff::with_retries(self.setup.config.limits.task_retries),
            },
            worktree: plot,
        })
    }

    /// Returns the adapter of the agent, else of the child, else of the caller, with the agent's model
    /// applied.
    fn resolve_task_adapter(
        &self,
        profile: &ProfileDefinition,
        known: Option<&ChildSession>,
        caller: &TaskCaller,
    ) -> Result<NamedAdapter, TaskStartError> {
        let state = self.state();
        let callers = match caller {
            TaskCaller::Session(session)
                if state
                    .session(Role::Reviewer)
                    .is_some_and(|own| own.id == *session) =>
            {
                state.session(Role::Reviewer)
            }
            TaskCaller::Session(_) | TaskCaller::User => state.session(Role::Planner),
        };
        let name = profile.adapter.as_ref();
        let name = name.or(known.map(|child| &child.order.adapter));
        let name = name.or(callers.map(|session| &session.adapter));
        let name = name.ok_or_else(|| TaskStartError::Failed("no adapter is set up".to_owned()))?;
        let Some(settings) = self.setup.config.adapters.get(name) else {
            return Err(TaskStartError::Failed(format!(
                "no adapter `{name}`; set agents.{}.adapter to an existing one",
                profile.name
            )));
        };
        let mut settings = settings.clone();
        settings.model = profile.model.clone().or(settings.model);
        Ok(NamedAdapter::new(name.clone(), settings))
    }

    pub(super) fn next_child_number(&self, agent: &str) -> u32 {
        let children = self.state().children.iter();
        let numbers = children.filter(|child| child.order.naming_agent() == agent);
        numbers.map(|child| child.order.n).max().unwrap_or(0) + 1
    }

    /// Writes the child's history and returns the prompt for its CLI: the whole of it if the CLI does not
    /// know the conversation.
    fn record_child_prompt(
        &self,
        prepared: &TaskPreparation,
        prompt: &str,
    ) -> Result<String, EngineError> {
        let order = &prepared.order;
        let system = child_prompt::system_prompt(&self.setup, order);
        if !prepared.is_existing {
            self.append_system_prompt(order, &system)?;
        }
        self.append_task_prompt(order, prompt)?;
        Ok(match prepared.external_id {
            Some(_) => format!("{}\n\n{prompt}", child_prompt::prompt_header(order)),
            None => child_prompt::first_prompt(order, &system, prompt),
        })
    }

    fn spawn_task_runner(
        &mut self,
        prepared: TaskPreparation,
        folder: ChildStagingFolder,
        prompt: String,
        waiters: Vec<oneshot::Sender<TaskResult>>,
    ) {
        let TaskPreparation {
            order,
            adapter,
            external_id,
            limits: patience,
            worktree: plot,
            ..
        } = prepared;
        let session = order.session.clone();
        let turn = order.turn.as_str();
        tracing::info!(target: PROMPT_TARGET, turn, %prompt, "a prompt goes out");
        let protocol = adapter.new_adapter();
        let closed = plot
            .as_ref()
            .map(|plot| plot.protected_folders())
            .unwrap_or_default();
        let mut ask = self.build_child_turn(&order, &adapter, external_id, prompt, patience);
        ask.sandbox.read_only_folders = closed;
        let cancel = CancellationToken::new();
        let asks = mpsc::channel(COMMAND_CAPACITY);
        self.subagent_tasks.active_tasks.insert(
            session.clone(),
            ActiveTask {
                order,
                to_conversation: asks.0.clone(),
                cancel: cancel.clone(),
                time_limit: patience.timeout,
                loop_detector: LoopDetector::default(),
                removed_tools: adapter.traits().removed_tools,
                stop_reason: None,
                waiters,
                worktree: plot.clone(),
                stage: ActiveTaskStage::Working,
                transcript: TaskTranscript::default(),
            },
        );
        let parts = ConversationParts {
            role: Role::Planner,
            adapter: protocol,
            raw: self.raw_stream(&session),
            marker: ProcessMark::new(self.state().run.as_str(), session.as_str()),
            children: self.setup.spawner.clone(),
        };
        let errand = TaskRunner {
            session,
            adapter: adapter.name,
            semaphore: self.subagent_tasks.controller.clone(),
            cancel,
            limits: patience,
            staging_folder: folder,
            worktree: plot,
            parts,
            first_turn: ask,
            command_channel: asks,
            subagent_events: self.subagent_tasks.events.0.clone(),
            guard: self.journal.guard().clone(),
        };
        self.tasks.spawn(errand.run());
    }

    fn build_child_turn(
        &self,
        order: &TaskOrder,
        adapter: &NamedAdapter,
        external_id: Option<String>,
        prompt: String,
        patience: TaskLimits,
    ) -> TurnStartRequest {
        let setup = &self.setup;
        let staging = self.journal.layout().staging_folder(&order.session);
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
                hidden_folders: self.paths_hidden_from_child(order),
            },
            turn: TurnSpec {
                turn: order.turn.clone(),
                prompt,
                access,
                hidden_permissions: hidden_child_permissions(
                    &setup.permissions.rules(&order.agent),
                ),
            },
            conversation: ConversationStart::Existing,
            recovery,
            sandbox: self.child_sandbox(order, adapter, access),
            // The task's own limit, counted from when it gets its slot, ends first.
            timeout: patience.timeout.saturating_mul(2),
            silence_timeout: limits.silence,
        }
    }
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
