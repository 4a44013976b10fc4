//! Performs the tools that agents call: whose call it is, whether it may go ahead, what it comes to.
//!
//! One file a tool in `tool_server/`, one line in [`PERFORMERS`]. A call goes the way of every other call: `on_asked` takes
//! it to the one decision, and what that says comes back here. A performer gets the call and answers now, or
//! says that the answer comes later, by [`Engine::settle_tool`]. Refuses to know sockets (`door`) and CLIs.

mod discussing;
pub mod door;
mod progress;
mod questions;
mod submitting;
mod tasks;
mod todos;
mod waiting;

use std::pin::Pin;
use std::time::Duration;

use serde_json::{Value, json};

use crate::adapter::CallDecision as Answered;
use crate::config::config_model::AdapterKind;
use crate::domain::discussion::DiscussionStopReason;
use crate::domain::event::Event;
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::run::ResultValidity;
use crate::domain::tool_availability::{
    ToolContext, describe_tool_turns, hidden_reason, own_tool_name,
};
use crate::domain::turn::Role;
use crate::mcp::socket_protocol::{OfferedTool, ToolAnswer};
use crate::mcp::tools::{group_discuss, task};
use crate::mcp::{TOOLS, ToolDefinition, VisibleAgents};
use crate::permission::{AgentToolCall, loop_detector};

use super::answering::Patience;
use super::asking::Asking;
use super::live::{Ask, TurnAsk};
use super::{Caller, Engine, EngineError, Inward, news};
use door::{Calling, Knock};
use waiting::Open;
pub(super) use waiting::{Tools, passed};

/// How long a CLI must wait for the answer to a call; what takes longer is answered before, by `limits.tool_patience`.
const CLI_WAITS: Duration = Duration::from_secs(60 * 60);

/// What a tool's call came to, for now.
pub(super) enum Reply {
    /// This.
    Now(ToolAnswer),
    /// It comes with the user's word, by [`Engine::settle_tool`].
    Asked,
    /// What this gives once it is done; the call waits.
    Later(Pin<Box<dyn Future<Output = Later> + Send>>),
}

/// What a call that waited came to.
#[derive(Debug)]
pub struct Later {
    pub(super) answer: ToolAnswer,
    /// The children that it waited for and does not wait for any more.
    pub(super) sent_on: Vec<SessionId>,
}

/// A call that may go ahead.
#[derive(Debug, Clone)]
pub(super) struct ToolCall {
    /// Its name among all requests.
    pub(super) request: RequestId,
    /// Whose it is.
    pub(super) session: SessionId,
    /// The role that the session belongs to.
    pub(super) role: Role,
    /// What it was called with.
    pub(super) arguments: Value,
}

/// How a tool is performed.
pub(super) struct Performer {
    name: &'static str,
    /// Which of its arguments rules look at, and the record keeps.
    about: &'static [&'static str],
    perform: fn(&mut Engine, &ToolCall) -> Result<Reply, EngineError>,
}

const PERFORMERS: &[Performer] = &[
    Performer {
        name: "todoread",
        about: &[],
        perform: todos::read,
    },
    Performer {
        name: "todowrite",
        about: &[],
        perform: todos::write,
    },
    Performer {
        name: "plan_submit",
        about: &[],
        perform: submitting::plan,
    },
    Performer {
        name: "plan_exit",
        about: &[],
        perform: questions::exit_plan,
    },
    Performer {
        name: "plan_enter",
        about: &["reason"],
        perform: questions::enter_plan,
    },
    Performer {
        name: "review_submit",
        about: &["verdict"],
        perform: submitting::review,
    },
    Performer {
        name: "ask_user",
        about: &["question"],
        perform: questions::ask,
    },
    Performer {
        name: "task",
        about: &["agent", "subagent_type", "description", "task_id", "tasks"],
        perform: tasks::give,
    },
    Performer {
        name: "group_discuss",
        about: &["topic", "preset", "mode", "agents", "participants"],
        perform: discussing::discuss,
    },
    Performer {
        name: "group_discuss_context",
        about: &["topic", "preset", "mode", "agents", "participants"],
        perform: discussing::tell_context,
    },
    Performer {
        name: "session_manage",
        about: &["action", "task_id"],
        perform: tasks::manage,
    },
];

impl Engine {
    /// Opens the door of a role's session for the CLI that serves the turn at work. Without one the turn goes on all the
    /// same: what its agent returns as text counts as well.
    pub(super) fn offer_tools(&mut self, role: Role, ask: &mut TurnAsk) {
        if !self.has_tools(role) {
            return;
        }
        match self.tools.doors.open(&ask.session.session, CLI_WAITS) {
            Ok(server) => {
                ask.holder.tools = Some(server.folder.clone());
                self.tools.doors.changed(&ask.session.session);
                ask.session.tool_server = Some(server);
                let of_turns = TOOLS
                    .iter()
                    .filter(|tool| describe_tool_turns(tool.name).is_some());
                let lacking = of_turns.filter(|tool| self.hidden_from(role, tool.name).is_some());
                let lacking: Vec<String> = lacking.map(|tool| tool.name.to_owned()).collect();
                ask.turn.hidden_permissions.extend(lacking);
            }
            Err(error) => {
                tracing::warn!(%error, "the session's tools cannot be offered");
            }
        }
    }

    /// How long a call waits before its agent is told to go on without the answer.
    fn tool_patience(&self) -> Duration {
        self.setup.config.limits.tool_patience
    }

    /// Tells whether the agent of a role can have tools: its CLI speaks MCP, and is a process.
    pub(super) fn has_tools(&self, role: Role) -> bool {
        let kind = self.adapter_of(role).map(|adapter| adapter.settings.kind);
        let speaks = matches!(kind, Ok(AdapterKind::Codex | AdapterKind::Claude));
        speaks && !self.setup.children.is_simulated()
    }

    /// Takes note of the process from which a session's calls come.
    pub(super) fn expect_tools(&self, role: Role, pid: u32) {
        if let Some(session) = self.state().session(role) {
            self.tools.doors.expect(&session.id, pid);
        }
    }

    pub(super) fn on_knock(&mut self, knock: Knock) -> Result<(), EngineError> {
        match knock {
            Knock::List { session, give } => {
                // Whoever asked may be gone.
                let _gone = give.send(self.offered_to(&session));
                Ok(())
            }
            Knock::Call(calling) => self.on_calling(calling),
            Knock::Forgotten(request) => self.on_forgotten(request),
        }
    }

    /// Nobody waits for a call any more: neither its question nor the tasks that it waits for have a reason to go on.
    fn on_forgotten(&mut self, request: RequestId) -> Result<(), EngineError> {
        let Some(open) = self.tools.open.remove(&request) else {
            return Ok(());
        };
        self.tell_live(open.call.role, Ask::Waited(request.clone()));
        self.stop_children(&open.awaits);
        if let Some(id) = open.discusses {
            self.stop_discussion(&id, DiscussionStopReason::User)?;
        }
        self.on_withdrawn(request)
    }

    /// The tools that a session has in its turn.
    fn offered_to(&self, session: &SessionId) -> Vec<OfferedTool> {
        let Some(role) = self.role_of(session) else {
            return Vec::new();
        };
        let seen = self.seen_by(session);
        let has = |tool: &&ToolDefinition| self.hidden_from(role, tool.name).is_none();
        TOOLS
            .iter()
            .filter(has)
            .map(|tool| tool.to_offered_tool(&seen))
            .collect()
    }

    /// What a session can see: the agents that it may give tasks to, and have discuss.
    fn seen_by(&self, session: &SessionId) -> VisibleAgents {
        let caller = Caller::Session(session.clone());
        let by = |tool| {
            self.subagents()
                .filter(|agent| self.may_use(&caller, (tool, &agent.name)).is_ok())
                .map(|agent| (agent.name.clone(), agent.description.clone()))
                .collect()
        };
        VisibleAgents {
            task_agents: by(task::TOOL.name),
            discussion_agents: by(group_discuss::TOOL.name),
        }
    }

    fn role_of(&self, session: &SessionId) -> Option<Role> {
        let roles = [Role::Planner, Role::Reviewer];
        let is_its = |role: &Role| {
            let of_role = self.state().session(*role);
            of_role.is_some_and(|of_role| of_role.id == *session)
        };
        roles.into_iter().find(is_its)
    }

    /// Why a role's session does not have a tool; `None` where it has it.
    fn hidden_from(&self, role: Role, tool: &str) -> Option<String> {
        let at_work = self.at_work.as_ref();
        let purpose = at_work
            .map(|at_work| &at_work.order.purpose)
            .filter(|purpose| purpose.role() == role);
        let profile = self.state().session(role)?.current_profile().name();
        let rules = self.setup.permissions.rules(profile);
        let standing = ToolContext {
            purpose,
            depth: 0,
            rules: &rules,
        };
        hidden_reason(tool, &standing)
    }

    fn on_calling(&mut self, calling: Calling) -> Result<(), EngineError> {
        let performer = PERFORMERS.iter().find(|known| known.name == calling.tool);
        let (role, performer) = match self.admit(&calling) {
            Err(reason) => return self.block(calling, &reason),
            Ok(role) => match performer {
                None => return self.block(calling, "there is no such tool"),
                Some(performer) => (role, performer),
            },
        };
        if let Some(too_many) = tasks::too_many(self, &calling) {
            // Whoever called may be gone.
            let _gone = calling.give.send(ToolAnswer::failed(too_many));
            return Ok(());
        }
        let Calling {
            request,
            session,
            arguments,
            give,
            progress,
            ..
        } = calling;
        let mut about = about(&arguments, performer.about);
        tasks::leave_out_denied(self, &session, &mut about);
        let asking = Asking {
            request: request.clone(),
            item: None,
            call: AgentToolCall::Tool {
                name: performer.name.to_owned(),
                input: about.to_string(),
            },
            changes: Vec::new(),
            reason: None,
            origin: None,
            mark: Some(loop_detector::call_fingerprint(performer.name, &arguments)),
        };
        let call = ToolCall {
            request: request.clone(),
            session,
            role,
            arguments,
        };
        let open = Open {
            call,
            performer,
            give,
            progress,
            waits: None,
            awaits: Vec::new(),
            discusses: None,
        };
        self.tools.open.insert(request.clone(), open);
        // While a call is here its CLI is silent for a reason.
        self.tell_live(role, Ask::Waits(request));
        self.on_asked((role, Patience::Long), asking)
    }

    /// Whose call it is, once it is known that it is the session's own agent's, in its turn, and that it has the tool.
    fn admit(&self, calling: &Calling) -> Result<Role, String> {
        let role = self
            .role_of(&calling.session)
            .ok_or("its session is over")?;
        let session = self.state().session(role).ok_or("its session is over")?;
        let adapter = self.adapter_of(role)?;
        let is_own = match &calling.thread {
            Some(thread) => session.external_id.as_ref() == Some(thread),
            None => adapter.settings.kind != AdapterKind::Codex,
        };
        if !is_own {
            return Err(
                "only the session's own agent has tools of agent-collab, no agent that it started"
                    .to_owned(),
            );
        }
        let running = self.state().running.as_ref();
        let is_its_turn = running.is_some_and(|running| {
            running.result == ResultValidity::Yes && running.order.purpose.role() == role
        });
        if !is_its_turn || self.turn_is_over {
            return Err("no turn of the session is under way".to_owned());
        }
        match self.hidden_from(role, &calling.tool) {
            Some(reason) => Err(reason),
            None => Ok(role),
        }
    }

    /// Says that the session does not have the tool, and keeps a record of it.
    fn block(&mut self, calling: Calling, reason: &str) -> Result<(), EngineError> {
        let (tool, reason) = (news::line(&calling.tool), news::line(reason));
        // Whoever called may be gone.
        let _gone = calling.give.send(ToolAnswer::blocked(&tool, &reason));
        self.feed(Event::ToolBlocked {
            session: calling.session,
            tool,
            reason,
        })
    }

    /// Acts on what was decided of a tool's call.
    pub(super) fn on_tool_decided(
        &mut self,
        request: &RequestId,
        answer: Answered,
    ) -> Result<(), EngineError> {
        let reason = match answer {
            Answered::Allow => return self.perform_tool(request),
            Answered::Deny { reason } => reason,
            Answered::DenyAndStop => {
                self.interrupt();
                "the user declined this and stopped the turn".to_owned()
            }
        };
        self.settle_tool(request, ToolAnswer::failed(reason));
        Ok(())
    }

    fn perform_tool(&mut self, request: &RequestId) -> Result<(), EngineError> {
        let Some(open) = self.tools.open.get(request) else {
            return Ok(());
        };
        let (call, perform) = (open.call.clone(), open.performer.perform);
        match perform(self, &call)? {
            Reply::Now(answer) => self.settle_tool(request, answer),
            Reply::Later(waiting) => {
                let (request, done) = (request.clone(), self.done.0.clone());
                self.tasks.spawn(async move {
                    let later = waiting.await;
                    // Nobody listens any more only when the program is about to end.
                    let _nobody = done.send(Inward::ToolDone(request, later)).await;
                });
            }
            Reply::Asked => {}
        }
        Ok(())
    }

    /// Answers a call that waited; what it does not wait for any more goes on without it.
    pub(super) fn on_tool_done(
        &mut self,
        request: &RequestId,
        later: Later,
    ) -> Result<(), EngineError> {
        for session in later.sent_on {
            self.feed(Event::TaskMovedToBackground { session })?;
        }
        self.settle_tool(request, later.answer);
        Ok(())
    }

    /// Gives a call its answer.
    pub(super) fn settle_tool(&mut self, request: &RequestId, answer: ToolAnswer) {
        if let Some(open) = self.tools.open.remove(request) {
            self.tell_live(open.call.role, Ask::Waited(request.clone()));
            // Whoever called may be gone.
            let _gone = open.give.send(answer);
        }
    }

    /// Ends the calls of a turn that is over.
    pub(super) fn end_tools(&mut self, role: Role) {
        let of_role = |open: &Open| open.call.role == role;
        let open = self.tools.open.iter().filter(|(_, open)| of_role(open));
        let requests: Vec<RequestId> = open.map(|(request, _)| request.clone()).collect();
        for request in requests {
            self.settle_tool(&request, ToolAnswer::failed("the turn is over"));
        }
    }

    fn tell_live(&self, role: Role, ask: Ask) {
        // One that takes no more will look at its processes for nothing.
        let _full = self.lives.get(&role).map(|asks| asks.try_send(ask));
    }
}

/// Tells whether a CLI asks about a tool of the program's, whose call is decided when it comes.
pub(super) fn is_own(asking: &Asking) -> bool {
    match &asking.call {
        AgentToolCall::Tool { name, .. } => {
            asking.origin.is_none() && own_tool_name(name).is_some()
        }
        AgentToolCall::Command { .. } | AgentToolCall::Edit { .. } | AgentToolCall::Read { .. } => {
            false
        }
    }
}

/// The arguments that say what a call is about; of each entry of a list the same ones.
fn about(arguments: &Value, keys: &[&str]) -> Value {
    let mut about_it = json!({});
    for key in keys {
        match arguments.get(key) {
            Some(Value::Array(entries)) => {
                let entries = entries.iter().map(|entry| about(entry, keys));
                about_it[*key] = entries.collect();
            }
            Some(value) => about_it[*key] = value.clone(),
            None => {}
        }
    }
    about_it
}

#[cfg(test)]
mod tests;
