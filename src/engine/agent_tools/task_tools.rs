//! Performs `task` and `session_manage`: an agent gives tasks, waits for them or not, and manages those that it
//! gave.
//!
//! Tasks run in `subagents`; here a call starts tasks, and their results become the answer.

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::AgentTools;
use super::deferred_tool_answer::DeferredToolAnswer;
use super::pending_tool_calls::answer_later;
use super::tool_performer::{ToolCallContext, ToolReply};
use super::tool_socket::IncomingToolCall;
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::task::{ChildSession, TaskResult, TaskWaitMode};
use crate::engine::owner_request::OwnerRequest;
use crate::engine::run_context::RunContext;
use crate::engine::subagents::authorization::check_agent_allowed;
use crate::engine::subagents::{ChildDeletionError, TaskStart};
use crate::engine::{TaskCaller, TaskRequest, agent_activity};
use crate::mcp::parse_arguments;
use crate::mcp::socket_protocol::ToolAnswer;
use crate::mcp::tools::session_manage::{self, SessionManageAction};
use crate::mcp::tools::task;
use crate::store::session_files;
use crate::text::pluralize;

/// Removes those of several tasks whose agents are denied: each is refused separately later, and the others
/// continue. If none would be left, all stay, and the call is denied.
pub(super) fn remove_denied_tasks(run: &RunContext, session: &SessionId, about: &mut Value) {
    let Some(Value::Array(all)) = about.get_mut("tasks") else {
        return;
    };
    let caller = TaskCaller::Session(session.clone());
    let may = |task: &&Value| {
        let agent = task.get("agent").or_else(|| task.get("subagent_type"));
        let agent = agent.and_then(Value::as_str);
        agent.is_some_and(|agent| check_agent_allowed(run, &caller, task::TOOL.name, agent).is_ok())
    };
    let left: Vec<Value> = all.iter().filter(may).cloned().collect();
    if !left.is_empty() {
        *all = left;
    }
}

/// Returns why a call gives too many tasks; `None` if it does not. The user is not asked about such a call.
pub(super) fn task_count_error(run: &RunContext, calling: &IncomingToolCall) -> Option<String> {
    let tasks = calling.arguments.get("tasks")?.as_array()?;
    let most = run.setup.config.limits.tasks_per_call;
    let is_given = calling.tool == task::TOOL.name && tasks.len() > usize::try_from(most).ok()?;
    is_given.then(|| {
        format!(
            "one call may give {} at the most (limits.tasks_per_call), and this one gives {}: none was started; give \
             fewer at a time",
            pluralize(usize::try_from(most).unwrap_or(usize::MAX), "task"),
            tasks.len()
        )
    })
}

pub(super) fn start_tasks(context: &ToolCallContext<'_>) -> Result<ToolReply, String> {
    let call = context.call;
    let arguments = task::TaskToolArguments::parse(&call.arguments)?;
    let wait_mode = if arguments.background {
        TaskWaitMode::Background
    } else {
        TaskWaitMode::Foreground
    };
    let items = arguments.into_items()?.into_iter();
    let tasks = items.map(|item| TaskRequest {
        caller: TaskCaller::Session(call.session.clone()),
        agent: item.agent,
        prompt: item.prompt,
        description: item.description,
        task_id: item.task_id.map(SessionId::new),
        wait_mode,
    });
    Ok(ToolReply::Request(OwnerRequest::StartTasks {
        call: call.request.clone(),
        wait_mode,
        tasks: tasks.collect(),
    }))
}

impl AgentTools {
    /// Answers the call that started tasks, or lets it wait for their results. A task that was refused is told with
    /// the others.
    pub(in crate::engine) fn on_tasks_started(
        &mut self,
        run: &mut RunContext,
        call: &RequestId,
        wait_mode: TaskWaitMode,
        starts: Vec<TaskStart>,
    ) {
        match wait_mode {
            TaskWaitMode::Background => {
                let replies = starts.iter().map(background_task_reply);
                self.answer_call(run, call, combine_replies(replies.collect()));
            }
            TaskWaitMode::Foreground => {
                let started = starts.iter().filter_map(|start| start.result.as_ref().ok());
                let sessions = started.map(|(session, _)| session.clone()).collect();
                self.wait_for_tasks(call, sessions);
                let until = Instant::now() + run.setup.config.limits.tool_patience;
                answer_later(run, call, wait_for_tasks(starts, until));
            }
        }
    }

    /// Answers the call that deleted a task's session.
    pub(in crate::engine) fn on_child_deleted(
        &mut self,
        run: &mut RunContext,
        call: &RequestId,
        child: &SessionId,
        deleted: Result<(), ChildDeletionError>,
    ) {
        let answer = match deleted {
            Ok(()) => ToolAnswer::done(format!("{child} is forgotten")),
            Err(why) => ToolAnswer::failed(why.to_string()),
        };
        self.answer_call(run, call, answer);
    }
}

/// Waits for the results of tasks; one that takes too long continues in the background.
async fn wait_for_tasks(starts: Vec<TaskStart>, until: Instant) -> DeferredToolAnswer {
    let (mut told, mut sent_on) = (Vec::new(), Vec::new());
    for TaskStart { agent, result } in starts {
        let (session, end) = match result {
            Ok(started) => started,
            Err(refused) => {
                told.push(start_failure_reply(&agent, &refused.to_string()));
                continue;
            }
        };
        match timeout_at(until, end).await {
            Ok(Ok(result)) => told.push(finished_task_reply(&result)),
            Ok(Err(_)) => told.push(start_failure_reply(&agent, "the program ends")),
            Err(_) => {
                told.push(pending_task_reply(&session, &agent));
                sent_on.push(session);
            }
        }
    }
    DeferredToolAnswer {
        answer: combine_replies(told),
        moved_to_background: sent_on,
    }
}

/// The reply for one task: the text for the agent, the same as data, and whether it counts as a success.
struct TaskReply {
    text: String,
    data: Value,
    is_success: bool,
}

fn finished_task_reply(result: &TaskResult) -> TaskReply {
    TaskReply {
        text: result.to_string(),
        data: json!(result),
        is_success: result.end.status() == crate::domain::task::TaskStatus::Completed,
    }
}

fn start_failure_reply(agent: &str, why: &str) -> TaskReply {
    TaskReply {
        text: format!("Subagent execution failed: {why}"),
        data: json!({ "agent": agent, "status": "declined", "error": why }),
        is_success: false,
    }
}

fn background_task_reply(start: &TaskStart) -> TaskReply {
    match &start.result {
        Ok((session, _)) => {
            let why = "running in the background; its end is told with your next turn";
            running_task_reply(session, &start.agent, why)
        }
        Err(refused) => start_failure_reply(&start.agent, &refused.to_string()),
    }
}

fn pending_task_reply(session: &SessionId, agent: &str) -> TaskReply {
    let why = "pending: it is still running; end your turn, its end is told with your next one";
    let mut told = running_task_reply(session, agent, why);
    told.data["pending"] = json!(true);
    told
}

/// Returns the reply for a task that its call does not wait for. Some CLIs show their models only the data.
fn running_task_reply(session: &SessionId, agent: &str, why: &str) -> TaskReply {
    TaskReply {
        text: format!("task_id: {session}\n{why}"),
        data: json!({ "task_id": session, "agent": agent, "status": "running", "message": why }),
        is_success: true,
    }
}

/// Combines replies: one stays as it is, several are listed in order. The call fails if no task succeeds.
fn combine_replies(told: Vec<TaskReply>) -> ToolAnswer {
    let is_good = told.iter().any(|told| told.is_success);
    let text: Vec<&str> = told.iter().map(|told| told.text.as_str()).collect();
    let text = text.join("\n\n");
    let data: Vec<Value> = told.iter().map(|told| told.data.clone()).collect();
    let data = match <[Value; 1]>::try_from(data) {
        Ok([only]) => only,
        Err(several) => json!({ "results": several }),
    };
    if is_good {
        ToolAnswer::done(text).with_data(data)
    } else {
        ToolAnswer::failed(text).with_data(data)
    }
}

pub(super) fn manage_sessions(context: &ToolCallContext<'_>) -> Result<ToolReply, String> {
    let ToolCallContext { call, run, .. } = context;
    let arguments: session_manage::SessionManageToolArguments = parse_arguments(&call.arguments)?;
    let id = SessionId::new(arguments.required_task_id()?);
    let own = run.child_session(&id);
    let own = own.filter(|child| child.order.parent.as_ref() == Some(&call.session));
    match (arguments.action, own) {
        (SessionManageAction::List, _) => Ok(ToolReply::Now(list_tasks(run, &call.session))),
        (_, None) => Err(format!(
            "{} is no task of yours; `list` tells those that are",
            agent_activity::clean_id(id.as_str())
        )),
        (SessionManageAction::Show, Some(_)) => Ok(ToolReply::Now(show_task(run, &id)?)),
        (SessionManageAction::Delete, Some(_)) => {
            let request = OwnerRequest::DeleteChild(call.request.clone(), id);
            Ok(ToolReply::Request(request))
        }
    }
}

fn list_tasks(run: &RunContext, caller: &SessionId) -> ToolAnswer {
    let children = run.state().children.iter();
    let own: Vec<&ChildSession> = children
        .filter(|child| child.order.parent.as_ref() == Some(caller))
        .collect();
    let lines = own.iter().map(|child| {
        let (id, status, title) = (child.session_id(), child.status.name(), child.order.title());
        let speaks = child.order.speaks.as_ref();
        let who = speaks.map(|speaks| format!("{} in {}: ", speaks.name, speaks.discussion));
        format!("- {id} {status}: {}{title}", who.unwrap_or_default())
    });
    let text = if own.is_empty() {
        "you gave no task yet".to_owned()
    } else {
        lines.collect::<Vec<_>>().join("\n")
    };
    let data: Vec<Value> = own
        .iter()
        .map(|child| {
            let mut told = json!({ "task_id": child.session_id(), "agent": child.order.agent, "status": child.status,
                    "description": child.order.description });
            if let Some(speaks) = &child.order.speaks {
                told["participant"] = json!(speaks.name);
                told["discussion_id"] = json!(speaks.discussion);
            }
            told
        })
        .collect();
    ToolAnswer::done(text).with_data(json!({ "tasks": data }))
}

fn show_task(run: &RunContext, id: &SessionId) -> Result<ToolAnswer, String> {
    let layout = run.journal.layout();
    let stored = session_files::load_session(layout, id).map_err(|error| error.to_string())?;
    let stored = stored.unwrap_or_default();
    let result = session_files::load_task_result(layout, id).ok().flatten();
    let text = match &result {
        Some(result) => result.to_string(),
        None => format!("task_id: {id}\nstatus: {}", stored.status),
    };
    let data =
        json!({ "task_id": id, "status": stored.status, "title": stored.title, "result": result });
    Ok(ToolAnswer::done(text).with_data(data))
}
