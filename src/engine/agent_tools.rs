//! Performs the tools that agents call: finds whose call it is, has it decided, and sends the answer.
//!
//! Each tool has one file in `mcp::tools` and one line in [`TOOL_PERFORMERS`]. A tool call takes the same path as
//! every other call: `on_approval_request` has it decided, and the decision returns here. A performer gets the call
//! and answers now, or says that the answer comes later through [`Engine::answer_tool_call`]. Sockets are handled
//! in `tool_socket`.

mod call_progress;
mod discuss_tools;
mod pending_tool_calls;
mod submissions;
mod task_tools;
mod todo_tools;
pub mod tool_socket;
mod user_questions;

use std::pin::Pin;
use std::time::Duration;

use serde_json::{Value, json};

use crate::adapter::{CallDecision as Answered, ToolCallerId, ToolSupport};
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

use super::agent_conversation::{ConversationCommand, TurnStartRequest};
use super::approval_request::ApprovalRequest;
use super::call_decision::DecisionWait;
use super::{Engine, EngineError, EngineInput, TaskCaller, agent_activity};
use pending_tool_calls::PendingToolCall;
pub(super) use pending_tool_calls::{AgentTools, wait_until_due};
use tool_socket::{IncomingToolCall, ToolRequest};

/// How long a CLI must wait for the answer to a call; longer calls are answered earlier, after
/// `limits.tool_patience`.
const CLI_TOOL_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// The immediate result of a tool call.
pub(super) enum ToolReply {
    Now(ToolAnswer),
    /// The user was asked; the answer comes through [`Engine::answer_tool_call`].
    UserAsked,
    /// The answer comes when this future is done; the call waits for it.
    Later(Pin<Box<dyn Future<Output = DeferredToolAnswer> + Send>>),
}

/// The result of a call that waited.
#[derive(Debug)]
pub struct DeferredToolAnswer {
    pub(super) answer: ToolAnswer,
    /// Children that the call waited for and no longer waits for.
    pub(super) moved_to_background: Vec<SessionId>,
}

/// A call that is allowed to run.
#[derive(Debug, Clone)]
pub(super) struct AdmittedToolCall {
    /// The call's id among all requests.
    pub(super) request: RequestId,
    pub(super) session: SessionId,
    pub(super) role: Role,
    pub(super) arguments: Value,
}

/// The name, the rule arguments and the function of a tool.
pub(super) struct ToolPerformer {
    name: &'static str,
    /// The arguments that rules match and that are recorded.
    rule_arguments: &'static [&'static str],
    perform: fn(&mut Engine, &AdmittedToolCall) -> Result<ToolReply, EngineError>,
}

const TOOL_PERFORMERS: &[ToolPerformer] = &[
    ToolPerformer {
        name: "todoread",
        rule_arguments: &[],
        perform: todo_tools::read_todos,
    },
    ToolPerformer {
        name: "todowrite",
        rule_arguments: &[],
        perform: todo_tools::write_todos,
    },
    ToolPerformer {
        name: "plan_submit",
        rule_arguments: &[],
        perform: submissions::submit_plan,
    },
    ToolPerformer {
        name: "plan_exit",
        rule_arguments: &[],
        perform: user_questions::exit_plan,
    },
    ToolPerformer {
        name: "plan_enter",
        rule_arguments: &["reason"],
        perform: user_questions::enter_plan,
    },
    ToolPerformer {
        name: "review_submit",
        rule_arguments: &["verdict"],
        perform: submissions::submit_review,
    },
    ToolPerformer {
        name: "ask_user",
        rule_arguments: &["question"],
        perform: user_questions::ask_user_question,
    },
    ToolPerformer {
        name: "task",
        rule_arguments: &["agent", "subagent_type", "description", "task_id", "tasks"],
        perform: task_tools::start_tasks,
    },
    ToolPerformer {
        name: "group_discuss",
        rule_arguments: &["topic", "preset", "mode", "agents", "participants"],
        perform: discuss_tools::run_discuss,
    },
    ToolPerformer {
        name: "group_discuss_context",
        rule_arguments: &["topic", "preset", "mode", "agents", "participants"],
        perform: discuss_tools::show_discussion_context,
    },
    ToolPerformer {
        name: "session_manage",
        rule_arguments: &["action", "task_id"],
        perform: task_tools::manage_sessions,
    },
];

impl Engine {
    /// Opens the tool socket of a role's session for the CLI that serves the active turn. If that fails, the turn
    /// runs anyway: text that the agent returns counts as well.
    pub(super) fn open_tool_socket(&mut self, role: Role, ask: &mut TurnStartRequest) {
        if !self.supports_tools(role) {
            return;
        }
        match self
            .tools
            .sockets
            .open_socket(&ask.session.session, CLI_TOOL_TIMEOUT)
        {
            Ok(server) => {
                ask.sandbox.tools_folder = Some(server.folder.clone());
                self.tools
                    .sockets
                    .notify_tools_changed(&ask.session.session);
                ask.session.tool_server = Some(server);
                let of_turns = TOOLS
                    .iter()
                    .filter(|tool| describe_tool_turns(tool.name).is_some());
                let lacking =
                    of_turns.filter(|tool| self.hidden_tool_reason(role, tool.name).is_some());
                let lacking: Vec<String> = lacking.map(|tool| tool.name.to_owned()).collect();
                ask.turn.hidden_permissions.extend(lacking);
            }
            Err(error) => {
                tracing::warn!(%error, "the session's tools cannot be offered");
            }
        }
    }

    /// Returns how long a call waits before its agent is told to continue without the answer.
    fn tool_patience(&self) -> Duration {
        self.setup.config.limits.tool_patience
    }

    /// Returns whether the agent of a role can have tools: its CLI must speak MCP and be a real process.
    pub(super) fn supports_tools(&self, role: Role) -> bool {
        let tools = self
            .role_adapter(role)
            .map(|adapter| adapter.traits().tools);
        matches!(tools, Ok(ToolSupport::Mcp(_))) && !self.setup.spawner.is_simulated()
    }

    /// Sets the process from which a session's calls are expected.
    pub(super) fn expect_tool_process(&self, role: Role, pid: u32) {
        if let Some(session) = self.state().session(role) {
            self.tools.sockets.expect_process(&session.id, pid);
        }
    }

    pub(super) fn on_tool_request(&mut self, knock: ToolRequest) -> Result<(), EngineError> {
        match knock {
            ToolRequest::ListTools { session, give } => {
                // The receiver may be gone.
                let _gone = give.send(self.offered_tools(&session));
                Ok(())
            }
            ToolRequest::CallTool(calling) => self.on_tool_call(calling),
            ToolRequest::CallCancelled(request) => self.on_tool_call_cancelled(request),
        }
    }

    /// Handles a cancelled call: its question and the tasks that it waits for have no reason to continue.
    fn on_tool_call_cancelled(&mut self, request: RequestId) -> Result<(), EngineError> {
        let Some(open) = self.tools.pending_calls.remove(&request) else {
            return Ok(());
        };
        self.notify_conversation(
            open.call.role,
            ConversationCommand::AgentResumed(request.clone()),
        );
        self.stop_child_tasks(&open.awaited_tasks);
        if let Some(id) = open.awaited_discussion {
            self.stop_discussion(&id, DiscussionStopReason::User)?;
        }
        self.on_request_withdrawn(request)
    }

    /// Returns the tools that a session has in its turn.
    fn offered_tools(&self, session: &SessionId) -> Vec<OfferedTool> {
        let Some(role) = self.session_role(session) else {
            return Vec::new();
        };
        let seen = self.visible_agents(session);
        let has = |tool: &&ToolDefinition| self.hidden_tool_reason(role, tool.name).is_none();
        TOOLS
            .iter()
            .filter(has)
            .map(|tool| tool.to_offered_tool(&seen))
            .collect()
    }

    /// Returns the agents that a session may give tasks to, and those that it may let discuss.
    fn visible_agents(&self, session: &SessionId) -> VisibleAgents {
        let caller = TaskCaller::Session(session.clone());
        let by = |tool| {
            self.subagents()
                .filter(|agent| self.check_agent_allowed(&caller, tool, &agent.name).is_ok())
                .map(|agent| (agent.name.clone(), agent.description.clone()))
                .collect()
        };
        VisibleAgents {
            task_agents: by(task::TOOL.name),
            discussion_agents: by(group_discuss::TOOL.name),
        }
    }

    fn session_role(&self, session: &SessionId) -> Option<Role> {
        let roles = [Role::Planner, Role::Reviewer];
        let is_its = |role: &Role| {
            let of_role = self.state().session(*role);
            of_role.is_some_and(|of_role| of_role.id == *session)
        };
        roles.into_iter().find(is_its)
    }

    /// Returns why a role's session does not have a tool; `None` if it has it.
    fn hidden_tool_reason(&self, role: Role, tool: &str) -> Option<String> {
        let at_work = self.active_turn.as_ref();
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

    fn on_tool_call(&mut self, calling: IncomingToolCall) -> Result<(), EngineError> {
        let performer = TOOL_PERFORMERS
            .iter()
            .find(|known| known.name == calling.tool);
        let (role, performer) = match self.admit_tool_call(&calling) {
            Err(reason) => return self.block_tool_call(calling, &reason),
            Ok(role) => match performer {
                None => return self.block_tool_call(calling, "there is no such tool"),
                Some(performer) => (role, performer),
            },
        };
        if let Some(too_many) = task_tools::task_count_error(self, &calling) {
            // The caller may be gone.
            let _gone = calling.reply_sender.send(ToolAnswer::failed(too_many));
            return Ok(());
        }
        let IncomingToolCall {
            request,
            session,
            arguments,
            reply_sender: give,
            progress,
            ..
        } = calling;
        let mut about = select_arguments(&arguments, performer.rule_arguments);
        task_tools::remove_denied_tasks(self, &session, &mut about);
        let asking = ApprovalRequest {
            request: request.clone(),
            item: None,
            call: AgentToolCall::Tool {
                name: performer.name.to_owned(),
                input: about.to_string(),
            },
            changes: Vec::new(),
            reason: None,
            sub_agent: None,
            fingerprint: Some(loop_detector::call_fingerprint(performer.name, &arguments)),
        };
        let call = AdmittedToolCall {
            request: request.clone(),
            session,
            role,
            arguments,
        };
        let open = PendingToolCall {
            call,
            performer,
            reply_sender: give,
            progress,
            question_wait: None,
            awaited_tasks: Vec::new(),
            awaited_discussion: None,
        };
        self.tools.pending_calls.insert(request.clone(), open);
        // While a call is pending, its CLI is silent for a reason.
        self.notify_conversation(role, ConversationCommand::AgentWaits(request));
        self.on_approval_request(role, DecisionWait::UntilUserDecides, asking)
    }

    /// Returns the role of a call after checking that the session's own agent makes it, in its turn, and has the
    /// tool.
    fn admit_tool_call(&self, calling: &IncomingToolCall) -> Result<Role, String> {
        let role = self
            .session_role(&calling.session)
            .ok_or("its session has ended")?;
        let session = self.state().session(role).ok_or("its session has ended")?;
        let adapter = self.role_adapter(role)?;
        let is_own = match &calling.thread {
            Some(thread) => session.external_id.as_ref() == Some(thread),
            None => adapter.traits().tools != ToolSupport::Mcp(ToolCallerId::Required),
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
        if !is_its_turn || self.turn_has_ended {
            return Err("no turn of the session is under way".to_owned());
        }
        match self.hidden_tool_reason(role, &calling.tool) {
            Some(reason) => Err(reason),
            None => Ok(role),
        }
    }

    /// Answers that the session does not have the tool, and records the call.
    fn block_tool_call(
        &mut self,
        calling: IncomingToolCall,
        reason: &str,
    ) -> Result<(), EngineError> {
        let (tool, reason) = (
            agent_activity::clean_line(&calling.tool),
            agent_activity::clean_line(reason),
        );
        // The caller may be gone.
        let _gone = calling
            .reply_sender
            .send(ToolAnswer::blocked(&tool, &reason));
        self.apply_event(Event::ToolBlocked {
            session: calling.session,
            tool,
            reason,
        })
    }

    /// Acts on the decision about a tool call.
    pub(super) fn on_tool_decided(
        &mut self,
        request: &RequestId,
        answer: Answered,
    ) -> Result<(), EngineError> {
        let reason = match answer {
            Answered::Allow => return self.perform_tool(request),
            Answered::Deny { reason } => reason,
            Answered::DenyAndStop => {
                self.interrupt_turn();
                "the user declined this and stopped the turn".to_owned()
            }
        };
        self.answer_tool_call(request, ToolAnswer::failed(reason));
        Ok(())
    }

    fn perform_tool(&mut self, request: &RequestId) -> Result<(), EngineError> {
        let Some(open) = self.tools.pending_calls.get(request) else {
            return Ok(());
        };
        let (call, perform) = (open.call.clone(), open.performer.perform);
        match perform(self, &call)? {
            ToolReply::Now(answer) => self.answer_tool_call(request, answer),
            ToolReply::Later(waiting) => {
                let (request, done) = (request.clone(), self.inputs.0.clone());
                self.tasks.spawn(async move {
                    let later = waiting.await;
                    // The receiver is gone only if the program is about to end.
                    let _nobody = done.send(EngineInput::ToolDone(request, later)).await;
                });
            }
            ToolReply::UserAsked => {}
        }
        Ok(())
    }

    /// Answers a call that waited; children that it no longer waits for continue in the background.
    pub(super) fn on_tool_done(
        &mut self,
        request: &RequestId,
        later: DeferredToolAnswer,
    ) -> Result<(), EngineError> {
        for session in later.moved_to_background {
            self.apply_event(Event::TaskMovedToBackground { session })?;
        }
        self.answer_tool_call(request, later.answer);
        Ok(())
    }

    /// Sends a call its answer.
    pub(super) fn answer_tool_call(&mut self, request: &RequestId, answer: ToolAnswer) {
        if let Some(open) = self.tools.pending_calls.remove(request) {
            self.notify_conversation(
                open.call.role,
                ConversationCommand::AgentResumed(request.clone()),
            );
            // The caller may be gone.
            let _gone = open.reply_sender.send(answer);
        }
    }

    /// Ends the pending calls of a turn that is over.
    pub(super) fn end_tool_calls(&mut self, role: Role) {
        let of_role = |open: &PendingToolCall| open.call.role == role;
        let open = self
            .tools
            .pending_calls
            .iter()
            .filter(|(_, open)| of_role(open));
        let requests: Vec<RequestId> = open.map(|(request, _)| request.clone()).collect();
        for request in requests {
            self.answer_tool_call(&request, ToolAnswer::failed("the turn has ended"));
        }
    }

    fn notify_conversation(&self, role: Role, ask: ConversationCommand) {
        // If the queue is full, the only harm is one unnecessary check of the conversation's processes.
        let _full = self.conversations.get(&role).map(|asks| asks.try_send(ask));
    }
}

/// Returns whether a CLI asks about one of the program's own tools, whose call is decided when it arrives.
pub(super) fn is_program_tool(asking: &ApprovalRequest) -> bool {
    match &asking.call {
        AgentToolCall::Tool { name, .. } => {
            asking.sub_agent.is_none() && own_tool_name(name).is_some()
        }
        AgentToolCall::Command { .. } | AgentToolCall::Edit { .. } | AgentToolCall::Read { .. } => {
            false
        }
    }
}

/// Selects the arguments that say what a call is about; for a list, the same ones of each entry.
fn select_arguments(arguments: &Value, keys: &[&str]) -> Value {
    let mut about_it = json!({});
    for key in keys {
        match arguments.get(key) {
            Some(Value::Array(entries)) => {
                let entries = entries.iter().map(|entry| select_arguments(entry, keys));
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
