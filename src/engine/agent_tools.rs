//! Performs the tools that agents call: finds whose call it is, has it decided, and sends the answer.
//!
//! Each tool has one file in `mcp::tools` and one line in [`TOOL_PERFORMERS`]. A tool call takes the same path as
//! every other call: `approvals` has it decided, and the decision returns here. A performer reads the call and the run
//! and answers now, or says where the answer comes from: work that takes time, the user, or another owner, which gets a
//! request and whose result `request_router` brings back. Sockets are handled in `tool_socket`.

pub(super) mod call_progress;
pub(super) mod deferred_tool_answer;
mod discuss_tools;
mod pending_tool_calls;
mod submissions;
mod task_tools;
mod todo_tools;
mod tool_performer;
pub mod tool_socket;
mod user_questions;

use std::time::Duration;

use serde_json::{Value, json};

use super::engine_error::EngineError;
use crate::adapter::{ApprovalRequest, CallDecision, DecisionWait, ToolCallerId, ToolSupport};
use crate::domain::discussion::DiscussionStopReason;
use crate::domain::event::Event;
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::tool_availability::{ToolContext, describe_tool_turns, hidden_reason};
use crate::domain::turn::Role;
use crate::mcp::socket_protocol::{OfferedTool, ToolAnswer};
use crate::mcp::tools::{
    ask_user, group_discuss, group_discuss_context, plan_enter, plan_exit, plan_submit,
    review_submit, session_manage, step_result, task, todoread, todowrite,
};
use crate::mcp::{TOOLS, ToolDefinition, VisibleAgents};
use crate::permission::{AgentToolCall, loop_detector};

use super::agent_conversation::TurnStartRequest;
use super::conversations::{ActiveTurn, OpenConversations};
use super::owner_request::OwnerRequest;
use super::run_context::RunContext;
use super::subagents::authorization::check_agent_allowed;
use super::subagents::offered_agents;
use super::{TaskCaller, agent_activity};
use deferred_tool_answer::DeferredToolAnswer;
pub(super) use pending_tool_calls::AgentTools;
use pending_tool_calls::{PendingToolCall, answer_later};
use submissions::NO_TURN;
use tool_performer::{AdmittedToolCall, ToolCallContext, ToolPerformer, ToolReply};
use tool_socket::{IncomingToolCall, ToolRequest};

/// How long a CLI must wait for the answer to a call; longer calls are answered earlier, after
/// `limits.tool_patience`.
const CLI_TOOL_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// A line each: the name, the arguments that rules match and that are recorded, and the function.
#[rustfmt::skip]
const TOOL_PERFORMERS: &[ToolPerformer] = &[
    ToolPerformer::new(&todoread::TOOL, &[], todo_tools::read_todos),
    ToolPerformer::new(&todowrite::TOOL, &[], todo_tools::write_todos),
    ToolPerformer::new(&plan_submit::TOOL, &[], submissions::submit_plan),
    ToolPerformer::new(&plan_exit::TOOL, &[], user_questions::exit_plan),
    ToolPerformer::new(&plan_enter::TOOL, &["reason"], user_questions::enter_plan),
    ToolPerformer::new(&review_submit::TOOL, &["verdict"], submissions::submit_review),
    ToolPerformer::new(&step_result::TOOL, &["result"], submissions::state_step_result),
    ToolPerformer::new(&ask_user::TOOL, &["question"], user_questions::ask_user_question),
    ToolPerformer::new(&task::TOOL, &["agent", "subagent_type", "description", "task_id", "tasks"], task_tools::start_tasks),
    ToolPerformer::new(&group_discuss::TOOL, &["topic", "preset", "mode", "agents", "participants"], discuss_tools::run_discuss),
    ToolPerformer::new(&group_discuss_context::TOOL, &["topic", "preset", "mode", "agents", "participants"], discuss_tools::show_discussion_context),
    ToolPerformer::new(&session_manage::TOOL, &["action", "task_id"], task_tools::manage_sessions),
];

impl AgentTools {
    /// Opens the tool socket of a role's session for the CLI that serves its turn. If that fails, the turn runs
    /// anyway: text that the agent returns counts as well.
    pub(super) fn open_socket(
        &mut self,
        run: &RunContext,
        turn: &ActiveTurn,
        request: &mut TurnStartRequest,
    ) {
        let role = turn.order.purpose.role();
        if !supports_tools(run, role) {
            return;
        }
        let session = &request.session.session;
        match self.sockets.open_socket(session, CLI_TOOL_TIMEOUT) {
            Ok(server) => {
                request.sandbox.tools_folder = Some(server.folder.clone());
                self.sockets.notify_tools_changed(session);
                request.session.tool_server = Some(server);
                let of_turns = TOOLS
                    .iter()
                    .filter(|tool| describe_tool_turns(tool.name).is_some());
                let missing = of_turns
                    .filter(|tool| hidden_tool_reason(run, Some(turn), role, tool.name).is_some());
                let missing: Vec<String> = missing.map(|tool| tool.name.to_owned()).collect();
                request.turn.hidden_permissions.extend(missing);
            }
            Err(error) => {
                tracing::warn!(%error, "the session's tools cannot be offered");
            }
        }
    }

    /// Says which process the CLI of a session is: only that process and its descendants may call tools.
    pub(super) fn expect_process(&self, session: &SessionId, pid: u32) {
        self.sockets.expect_process(session, pid);
    }

    /// Closes the tool socket of a session that gets no further turn.
    pub(super) fn close_socket(&mut self, session: &SessionId) {
        self.sockets.close_socket(session);
    }

    /// Handles a request from the tool server of an agent.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn on_request(
        &mut self,
        run: &mut RunContext,
        conversations: &OpenConversations,
        request: ToolRequest,
    ) -> Result<(), EngineError> {
        match request {
            ToolRequest::ListTools { session, give } => {
                let turn = conversations.active_turn();
                // The receiver may be gone.
                let _gone = give.send(offered_tools(run, turn, &session));
                Ok(())
            }
            ToolRequest::CallTool(call) => self.on_call(run, conversations, call),
            ToolRequest::CallCancelled(request) => {
                self.on_call_cancelled(run, request);
                Ok(())
            }
        }
    }

    /// Handles a cancelled call: its question and the tasks that it waits for have no reason to continue.
    fn on_call_cancelled(&mut self, run: &mut RunContext, request: RequestId) {
        let Some(pending) = self.pending_calls.remove(&request) else {
            return;
        };
        run.request(OwnerRequest::SetAgentWaits {
            session: pending.call.session,
            request: request.clone(),
            waits: false,
        });
        run.request(OwnerRequest::StopTasks(pending.awaited_tasks));
        if let Some(id) = pending.awaited_discussion {
            run.request(OwnerRequest::StopDiscussion(id, DiscussionStopReason::User));
        }
        run.request(OwnerRequest::WithdrawRequest(request));
    }

    fn on_call(
        &mut self,
        run: &mut RunContext,
        conversations: &OpenConversations,
        incoming: IncomingToolCall,
    ) -> Result<(), EngineError> {
        let performer = TOOL_PERFORMERS
            .iter()
            .find(|known| known.name == incoming.tool);
        let (role, performer) = match admit_call(run, conversations, &incoming) {
            Err(reason) => return block_call(run, incoming, &reason),
            Ok(role) => match performer {
                None => return block_call(run, incoming, "there is no such tool"),
                Some(performer) => (role, performer),
            },
        };
        if let Some(too_many) = task_tools::task_count_error(run, &incoming) {
            // The caller may be gone.
            let _gone = incoming.reply_sender.send(ToolAnswer::failed(too_many));
            return Ok(());
        }
        let IncomingToolCall {
            request,
            session,
            arguments,
            reply_sender,
            progress,
            ..
        } = incoming;
        let mut about = select_arguments(&arguments, performer.rule_arguments);
        task_tools::remove_denied_tasks(run, &session, &mut about);
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
            wait: DecisionWait::UntilUserDecides,
        };
        let pending = PendingToolCall {
            call: AdmittedToolCall {
                request: request.clone(),
                session: session.clone(),
                role,
                arguments,
            },
            performer,
            reply_sender,
            progress,
            question_wait: None,
            awaited_tasks: Vec::new(),
            awaited_discussion: None,
        };
        self.pending_calls.insert(request.clone(), pending);
        run.request(OwnerRequest::SetAgentWaits {
            session: session.clone(),
            request,
            waits: true,
        });
        run.request(OwnerRequest::DecideToolCall(session, Box::new(asking)));
        Ok(())
    }

    /// Acts on the decision about a tool call.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn on_decided(
        &mut self,
        run: &mut RunContext,
        conversations: &OpenConversations,
        request: &RequestId,
        decision: CallDecision,
    ) -> Result<(), EngineError> {
        let reason = match decision {
            CallDecision::Allow => return self.perform(run, conversations, request),
            CallDecision::Deny { reason } => reason,
            CallDecision::DenyAndStop => {
                run.request(OwnerRequest::InterruptTurn);
                "the user declined this and stopped the turn".to_owned()
            }
        };
        self.answer_call(run, request, ToolAnswer::failed(reason));
        Ok(())
    }

    /// Performs a tool whose call was allowed.
    fn perform(
        &mut self,
        run: &mut RunContext,
        conversations: &OpenConversations,
        request: &RequestId,
    ) -> Result<(), EngineError> {
        let Some(pending) = self.pending_calls.get_mut(request) else {
            return Ok(());
        };
        let context = ToolCallContext {
            call: &pending.call,
            run,
            turn: conversations.active_turn(),
        };
        match (pending.performer.perform)(&context) {
            Err(why) => self.answer_call(run, request, ToolAnswer::failed(why)),
            Ok(ToolReply::Now(answer)) => self.answer_call(run, request, answer),
            Ok(ToolReply::Record(event, answer)) => {
                run.record(*event)?;
                self.answer_call(run, request, answer);
            }
            Ok(ToolReply::Later(answer)) => answer_later(run, request, answer),
            Ok(ToolReply::Ask(question, wait)) => {
                pending.question_wait = Some(wait);
                let session = pending.call.session.clone();
                let request = request.clone();
                run.request(OwnerRequest::AskToolQuestion(session, request, question));
            }
            Ok(ToolReply::Request(request)) => run.request(request),
        }
        Ok(())
    }

    /// Answers a call that waited; children that it no longer waits for continue in the background.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(super) fn on_done(
        &mut self,
        run: &mut RunContext,
        request: &RequestId,
        done: DeferredToolAnswer,
    ) -> Result<(), EngineError> {
        let sessions = done.moved_to_background.into_iter();
        run.record_all(sessions.map(|session| Event::TaskMovedToBackground { session }))?;
        self.answer_call(run, request, done.answer);
        Ok(())
    }

    /// Sends a call its answer.
    pub(super) fn answer_call(
        &mut self,
        run: &mut RunContext,
        request: &RequestId,
        answer: ToolAnswer,
    ) {
        if let Some(pending) = self.pending_calls.remove(request) {
            run.request(OwnerRequest::SetAgentWaits {
                session: pending.call.session,
                request: request.clone(),
                waits: false,
            });
            // The caller may be gone.
            let _gone = pending.reply_sender.send(answer);
        }
    }

    /// Ends the pending calls of a session whose turn is over.
    pub(super) fn end_calls(&mut self, run: &mut RunContext, session: &SessionId) {
        let all = self.pending_calls.iter();
        let pending = all.filter(|(_, pending)| pending.call.session == *session);
        let requests: Vec<RequestId> = pending.map(|(request, _)| request.clone()).collect();
        for request in requests {
            self.answer_call(run, &request, ToolAnswer::failed("the turn has ended"));
        }
    }
}

/// Returns whether the agent of a role can have tools: its CLI must speak MCP and be a real process.
pub(super) fn supports_tools(run: &RunContext, role: Role) -> bool {
    let tools = run.role_adapter(role).map(|adapter| adapter.traits().tools);
    matches!(tools, Ok(ToolSupport::Mcp(_))) && !run.setup.spawner.is_simulated()
}

/// Returns the tools that a session has in its turn.
fn offered_tools(
    run: &RunContext,
    turn: Option<&ActiveTurn>,
    session: &SessionId,
) -> Vec<OfferedTool> {
    let Some(role) = run.state().role_of_session(session) else {
        return Vec::new();
    };
    let seen = visible_agents(run, session);
    let has = |tool: &&ToolDefinition| hidden_tool_reason(run, turn, role, tool.name).is_none();
    TOOLS
        .iter()
        .filter(has)
        .map(|tool| tool.to_offered_tool(&seen))
        .collect()
}

/// Returns the agents that a session may give tasks to, and those that it may let discuss.
fn visible_agents(run: &RunContext, session: &SessionId) -> VisibleAgents {
    let caller = TaskCaller::Session(session.clone());
    let by = |tool| {
        offered_agents(run)
            .filter(|agent| check_agent_allowed(run, &caller, tool, &agent.name).is_ok())
            .map(|agent| (agent.name.clone(), agent.description.clone()))
            .collect()
    };
    VisibleAgents {
        task_agents: by(task::TOOL.name),
        discussion_agents: by(group_discuss::TOOL.name),
    }
}

/// Returns why a role's session does not have a tool; `None` if it has it.
fn hidden_tool_reason(
    run: &RunContext,
    turn: Option<&ActiveTurn>,
    role: Role,
    tool: &str,
) -> Option<String> {
    let purpose = turn
        .map(|turn| &turn.order.purpose)
        .filter(|purpose| purpose.role() == role);
    let profile = run.state().session(role)?.current_profile().name();
    let rules = run.setup.permissions.rules(profile);
    let context = ToolContext {
        purpose,
        depth: 0,
        rules: &rules,
    };
    hidden_reason(tool, &context)
}

/// Returns the role of a call after checking that the session's own agent makes it, in its turn, and has the tool.
fn admit_call(
    run: &RunContext,
    conversations: &OpenConversations,
    incoming: &IncomingToolCall,
) -> Result<Role, String> {
    let role = run.state().role_of_session(&incoming.session);
    let role = role.ok_or("its session has ended")?;
    let session = run.state().session(role).ok_or("its session has ended")?;
    let adapter = run.role_adapter(role)?;
    let is_own = match &incoming.thread {
        Some(thread) => session.external_id.as_ref() == Some(thread),
        None => adapter.traits().tools != ToolSupport::Mcp(ToolCallerId::Required),
    };
    if !is_own {
        return Err(
            "only the session's own agent has tools of agent-collab, no agent that it started"
                .to_owned(),
        );
    }
    let turn = conversations.open_turn(run);
    let turn = turn.filter(|turn| turn.session == incoming.session);
    if turn.is_none() {
        return Err(NO_TURN.to_owned());
    }
    match hidden_tool_reason(run, turn, role, &incoming.tool) {
        Some(reason) => Err(reason),
        None => Ok(role),
    }
}

/// Answers that the session does not have the tool, and records the call.
fn block_call(
    run: &mut RunContext,
    incoming: IncomingToolCall,
    reason: &str,
) -> Result<(), EngineError> {
    let (tool, reason) = (
        agent_activity::clean_line(&incoming.tool),
        agent_activity::clean_line(reason),
    );
    let answer = ToolAnswer::blocked(&tool, &reason);
    // The caller may be gone.
    let _gone = incoming.reply_sender.send(answer);
    run.record(Event::ToolBlocked {
        session: incoming.session,
        tool,
        reason,
    })
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
