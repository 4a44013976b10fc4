//! From a task as somebody words it to a child session at work, or to the reason why there is none.
//!
//! Refuses to know how the task reached the program.

use std::sync::Arc;

use thiserror::Error;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::controller::Tries;
use super::errand::{Errand, Folder, Patience};
use super::handing::Stage;
use super::history::History;
use super::plot::Plot;
use super::{AtTask, new_session, prompt};
use crate::adapter::{SessionSpec, TurnAccess, TurnSpec};
use crate::domain::event::Event;
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::task::{ChildSession, TaskOrder, TaskResult, TaskWaitMode};
use crate::domain::turn::Role;
use crate::engine::asking::hidden_from_child;
use crate::engine::live::{Conversation, Parts, TurnAsk};
use crate::engine::setup::NamedAdapter;
use crate::engine::{Engine, EngineError, news};
use crate::mcp::tools::task;
use crate::permission::loop_detector::LoopDetector;
use crate::permission::profile_registry::ProfileVisibility;
use crate::permission::{AgentMode, ProfileDefinition, ProfileRegistry};
use crate::process::ProcessMark;
use crate::store::debug_log::PROMPT_TARGET;

/// How many orders may wait for a child's conversation; more than a turn can ever have open.
const ASKS: usize = 64;
/// How many words of a task describe it where nobody does.
const WORDS: usize = 12;
/// The longest task, in bytes.
const MAX_PROMPT: usize = 256 * 1024;

/// Who gives a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// The user.
    User,
    /// The agent of this session.
    Session(SessionId),
}

/// A task as somebody words it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskAsk {
    /// Who gives it.
    pub caller: Caller,
    /// Which agent is to do it, by its name.
    pub agent: String,
    /// All that it is told.
    pub prompt: String,
    /// What it is about, in a few words; made of the prompt where it is empty.
    pub description: String,
    /// The child session to go on with; `None` makes a new one.
    pub task_id: Option<SessionId>,
    /// Who waits for it.
    pub waits: TaskWaitMode,
}

/// Why a task was not begun.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TaskRefused {
    /// There is no such agent for tasks.
    #[error("there is no agent {name:?} that tasks can be given to; there are {}", known.join(", "))]
    NoSuchAgent {
        /// The name that was given.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A child would have a child.
    #[error(
        "a child session cannot give tasks itself: do it yourself, or say in your result what is left"
    )]
    TooDeep,
    /// The session that gives it may not.
    #[error("this session may not have {agent} work by {tool}: {why}")]
    NotAllowed {
        /// The tool that it was to work by.
        tool: &'static str,
        /// The agent.
        agent: String,
        /// The rule.
        why: String,
    },
    /// No child session of this id is its caller's.
    #[error("{id} is no task that this session gave; without an id a new one begins")]
    NotYours {
        /// The id that was given.
        id: String,
    },
    /// It is being worked on.
    #[error("the task {id} is still running; wait for its end")]
    StillRunning {
        /// Its id.
        id: String,
    },
    /// There is nothing to do, or too much.
    #[error("{0}")]
    BadPrompt(&'static str),
    /// It may write, and there is nothing that its changes could be told apart by.
    #[error(
        "this agent may write, and what it changes can be kept apart only in a git repository: `git init` here, or \
         give the task to an agent that only reads, for example explore"
    )]
    NoRepository,
    /// What it takes could not be made.
    #[error("the task could not be begun: {0}")]
    Failed(String),
}

/// What a child's work is begun with.
pub(super) struct Prepared {
    pub(super) order: TaskOrder,
    pub(super) adapter: NamedAdapter,
    /// The CLI's own conversation to go on with.
    pub(super) external_id: Option<String>,
    /// Whether the child was there before.
    pub(super) known: bool,
    pub(super) patience: Patience,
    /// The tree of its own that it gets, where it may write.
    pub(super) plot: Option<Arc<Plot>>,
}

impl Engine {
    /// The agents that tasks can be given to.
    pub fn subagents(&self) -> impl Iterator<Item = &ProfileDefinition> {
        self.setup
            .permissions
            .profiles
            .iter_offered(AgentMode::Subagent)
    }

    /// Gives a task to an agent in a session of its own. What comes back at once is the child's id, and where its
    /// result will come.
    ///
    /// # Errors
    /// The record of the run cannot be kept. A task that is not begun is no error: the inner one says why.
    pub fn start_task(
        &mut self,
        ask: TaskAsk,
    ) -> Result<Result<(SessionId, oneshot::Receiver<TaskResult>), TaskRefused>, EngineError> {
        let prepared = match self.prepare(&ask) {
            Ok(prepared) => prepared,
            Err(refused) => return Ok(Err(refused)),
        };
        let session = prepared.order.session.clone();
        let (result, waits) = oneshot::channel();
        let begun = self.begin_child(prepared, &ask.prompt, vec![result])?;
        Ok(begun
            .map(|()| (session, waits))
            .map_err(TaskRefused::Failed))
    }

    /// Begins what is prepared, in a session of its own; the inner error says why it could not be.
    pub(super) fn begin_child(
        &mut self,
        prepared: Prepared,
        prompt: &str,
        waiters: Vec<oneshot::Sender<TaskResult>>,
    ) -> Result<Result<(), String>, EngineError> {
        let session = prepared.order.session.clone();
        let folder = match Folder::make(self.journal.layout().staging_folder(&session)) {
            Ok(folder) => folder,
            Err(error) => return Ok(Err(error.to_string())),
        };
        self.feed(Event::TaskStarted(prepared.order.clone()))?;
        let prompt = self.note_prompt(&prepared, prompt)?;
        self.save_child(&session, None)?;
        self.begin_errand(prepared, folder, prompt, waiters);
        Ok(Ok(()))
    }

    fn prepare(&self, ask: &TaskAsk) -> Result<Prepared, TaskRefused> {
        match ask.prompt.trim().len() {
            0 => return Err(TaskRefused::BadPrompt("the task says nothing to do")),
            MAX_PROMPT.. => {
                return Err(TaskRefused::BadPrompt(
                    "the task is longer than 256 KiB; name files instead of quoting them",
                ));
            }
            _ => {}
        }
        let profile = subagent(&self.setup.permissions.profiles, &ask.agent)?;
        self.may_use(&ask.caller, (task::TOOL.name, &ask.agent))?;
        let known = match &ask.task_id {
            Some(id) => Some(self.own_child(id, &ask.caller)?),
            None => None,
        };
        let adapter = self.adapter_for(profile, known, &ask.caller)?;
        let session = known.map_or_else(new_session, |child| child.session_id().clone());
        let n_tasks = known.map_or(0, |child| child.n_tasks);
        let turn = TurnId::new(format!("{session}.{}", n_tasks + 1));
        let plot = match self.may_write(&ask.agent) {
            true => Some(Arc::new(self.plot_for(&session, &turn, known)?)),
            false => None,
        };
        let order = TaskOrder {
            turn,
            session,
            parent: match &ask.caller {
                Caller::User => None,
                Caller::Session(id) => Some(id.clone()),
            },
            n: known.map_or_else(|| self.next_of(&ask.agent), |child| child.order.n),
            first_agent: known
                .map(|child| child.order.naming_agent().to_owned())
                .filter(|first| *first != ask.agent),
            agent: ask.agent.clone(),
            description: described(&ask.description, &ask.prompt),
            adapter: adapter.name.clone(),
            model: adapter.settings.model.clone(),
            waits: ask.waits,
            speaks: None,
            tree: plot.as_ref().map(|plot| plot.path.clone()),
        };
        // A conversation lives at its CLI; at another one it is not known.
        let lives_here = known.filter(|child| child.order.adapter == adapter.name);
        Ok(Prepared {
            order,
            adapter,
            external_id: lives_here.and_then(|child| child.external_id.clone()),
            known: known.is_some(),
            patience: Patience {
                limit: self.setup.config.limits.task_timeout,
                key: "limits.task_timeout",
                tries: Tries::again(self.setup.config.limits.task_retries),
            },
            plot,
        })
    }

    /// The adapter of the agent, else of the child, else of the caller, with the agent's model over it.
    fn adapter_for(
        &self,
        profile: &ProfileDefinition,
        known: Option<&ChildSession>,
        caller: &Caller,
    ) -> Result<NamedAdapter, TaskRefused> {
        let state = self.state();
        let callers = match caller {
            Caller::Session(session)
                if state
                    .session(Role::Reviewer)
                    .is_some_and(|own| own.id == *session) =>
            {
                state.session(Role::Reviewer)
            }
            Caller::Session(_) | Caller::User => state.session(Role::Planner),
        };
        let name = profile.adapter.as_ref();
        let name = name.or(known.map(|child| &child.order.adapter));
        let name = name.or(callers.map(|session| &session.adapter));
        let name = name.ok_or_else(|| TaskRefused::Failed("no adapter is set up".to_owned()))?;
        let Some(settings) = self.setup.config.adapters.get(name) else {
            return Err(TaskRefused::Failed(format!(
                "there is no adapter `{name}`; set agents.{}.adapter to one that there is",
                profile.name
            )));
        };
        let mut settings = settings.clone();
        settings.model = profile.model.clone().or(settings.model);
        Ok(NamedAdapter {
            name: name.clone(),
            settings,
        })
    }

    pub(super) fn next_of(&self, agent: &str) -> u32 {
        let children = self.state().children.iter();
        let numbers = children.filter(|child| child.order.naming_agent() == agent);
        numbers.map(|child| child.order.n).max().unwrap_or(0) + 1
    }

    /// Writes the child's history and gives what goes to its CLI: all of it where the CLI does not know it.
    fn note_prompt(&self, prepared: &Prepared, prompt: &str) -> Result<String, EngineError> {
        let order = &prepared.order;
        let system = prompt::system(&self.setup, order);
        if !prepared.known {
            self.append_system(order, &system)?;
        }
        self.append_prompt(order, prompt)?;
        Ok(match prepared.external_id {
            Some(_) => format!("{}\n\n{prompt}", prompt::header(order)),
            None => prompt::whole(order, &system, prompt),
        })
    }

    fn begin_errand(
        &mut self,
        prepared: Prepared,
        folder: Folder,
        prompt: String,
        waiters: Vec<oneshot::Sender<TaskResult>>,
    ) {
        let Prepared {
            order,
            adapter,
            external_id,
            patience,
            plot,
            ..
        } = prepared;
        let session = order.session.clone();
        let turn = order.turn.as_str();
        tracing::info!(target: PROMPT_TARGET, turn, %prompt, "a prompt goes out");
        let protocol = adapter.protocol();
        let removed = protocol.removed_tools();
        let closed = plot.as_ref().map(|plot| plot.closed()).unwrap_or_default();
        let mut ask = self.turn_of(&order, &adapter, external_id, (prompt, patience));
        ask.holder.closed = closed;
        let cancel = CancellationToken::new();
        let asks = mpsc::channel(ASKS);
        self.children.at_work.insert(
            session.clone(),
            AtTask {
                order,
                asks: asks.0.clone(),
                cancel: cancel.clone(),
                limit: patience.limit,
                calls: LoopDetector::default(),
                removed,
                stopped: None,
                waiters,
                plot: plot.clone(),
                stage: Stage::Working,
                history: History::default(),
            },
        );
        let parts = Parts {
            role: Role::Planner,
            adapter: protocol,
            raw: self.raw_stream(&session),
            marker: ProcessMark::new(self.state().run.as_str(), session.as_str()),
            children: self.setup.children.clone(),
        };
        let errand = Errand {
            session,
            adapter: adapter.name,
            controller: self.children.controller.clone(),
            cancel,
            patience,
            folder,
            plot,
            parts,
            ask,
            asks,
            said: self.children.said.0.clone(),
            guard: self.journal.guard().clone(),
        };
        self.tasks.spawn(errand.run());
    }

    fn turn_of(
        &self,
        order: &TaskOrder,
        adapter: &NamedAdapter,
        external_id: Option<String>,
        (prompt, patience): (String, Patience),
    ) -> TurnAsk {
        let setup = &self.setup;
        let staging = self.journal.layout().staging_folder(&order.session);
        let access = match order.tree {
            Some(_) => TurnAccess::Workspace,
            None => TurnAccess::ReadOnly,
        };
        let root = order.tree.as_ref().unwrap_or(&setup.root);
        let recovery = format!(
            "[agent-collab agent {agent}]\n{}\n[end of agent {agent}]",
            prompt::system(setup, order),
            agent = order.agent
        );
        let limits = &setup.config.limits;
        TurnAsk {
            session: SessionSpec {
                session: order.session.clone(),
                fresh_id: uuid::Uuid::new_v4().to_string(),
                external_id,
                cwd: root.clone(),
                staging,
                cli: adapter.cli(),
                trust: setup.trust,
                hook_command: None,
                tool_server: None,
                hidden_folders: self.kept_from(order),
            },
            turn: TurnSpec {
                turn: order.turn.clone(),
                prompt,
                access,
                hidden_permissions: hidden_from_child(&setup.permissions.rules(&order.agent)),
            },
            conversation: Conversation::Continued,
            recovery,
            holder: self.holder_of(order, adapter, access),
            // The task's own limit, counted from its place on, comes first.
            limit: patience.limit.saturating_mul(2),
            patience: limits.silence,
        }
    }
}

/// The agent of this name, where tasks can be given to it.
///
/// # Errors
/// There is none; names those that there are.
pub fn subagent<'a>(
    profiles: &'a ProfileRegistry,
    name: &str,
) -> Result<&'a ProfileDefinition, TaskRefused> {
    let found = profiles.find_by_name(name).ok();
    let fits = |found: &&ProfileDefinition| {
        found.mode != AgentMode::Primary && found.visibility == ProfileVisibility::Offered
    };
    found.filter(fits).ok_or_else(|| TaskRefused::NoSuchAgent {
        name: news::id(name),
        known: profiles
            .iter_offered(AgentMode::Subagent)
            .map(|agent| agent.name.clone())
            .collect(),
    })
}

/// What a task is about, in a few words.
fn described(description: &str, prompt: &str) -> String {
    match news::line(description) {
        said if said.is_empty() => {
            let mut words = prompt.split_whitespace();
            let few: Vec<&str> = words.by_ref().take(WORDS).collect();
            let cut = if words.next().is_some() { " …" } else { "" };
            news::line(&format!("{}{cut}", few.join(" ")))
        }
        said => said,
    }
}
