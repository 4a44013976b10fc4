//! Performs `task` and `session_manage`: an agent gives tasks, waits for them or not, and manages those that it
//! gave.
//!
//! Tasks run in `subagents`; here a call starts tasks, and their results become the answer.

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::tool_socket::IncomingToolCall;
use crate::domain::ids::SessionId;
use crate::domain::task::{ChildSession, TaskResult, TaskWaitMode};
use crate::engine::agent_tools::tool_reply::{AdmittedToolCall, DeferredToolAnswer, ToolReply};
use crate::engine::engine_error::EngineError;
use crate::engine::run_context::RunContext;
use crate::engine::subagents::authorization::check_agent_allowed;
use crate::engine::{Engine, TaskCaller, TaskRequest, agent_activity};
use crate::mcp::parse_arguments;
use crate::mcp::socket_protocol::ToolAnswer;
use crate::mcp::tools::session_manage::{self, SessionManageAction};
use crate::mcp::tools::task::{self, TaskToolItem};
use crate::store::session_files;
use crate::text::pluralize;

/// The start of one task of a call: the started task, or the agent and the reason why it was refused.
type TaskStartResult = Result<(SessionId, String, oneshot::Receiver<TaskResult>), (String, String)>;

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

pub(super) fn start_tasks(
    engine: &mut Engine,
    call: &AdmittedToolCall,
) -> Result<ToolReply, EngineError> {
    let arguments = match task::TaskToolArguments::parse(&call.arguments) {
        Ok(arguments) => arguments,
        Err(why) => return Ok(ToolReply::Now(ToolAnswer::failed(why))),
    };
    let waits = if arguments.background {
        TaskWaitMode::Background
    } else {
        TaskWaitMode::Foreground
    };
    let items = match arguments.into_items() {
        Ok(items) => items,
        Err(why) => return Ok(ToolReply::Now(ToolAnswer::failed(why))),
    };
    let mut started = Vec::new();
    for item in items {
        started.push(start_one_task(engine, &call.session, item, waits)?);
    }
    if waits == TaskWaitMode::Foreground {
        let sessions = started.iter().flatten();
        let sessions = sessions.map(|(session, ..)| session.clone()).collect();
        engine.tools.wait_for_tasks(&call.request, sessions);
    }
    Ok(match waits {
        TaskWaitMode::Background => ToolReply::Now(combine_replies(
            started.iter().map(background_task_reply).collect(),
        )),
        TaskWaitMode::Foreground => ToolReply::Later(Box::pin(wait_for_tasks(
            started,
            Instant::now() + engine.run.setup.config.limits.tool_patience,
        ))),
    })
}

fn start_one_task(
    engine: &mut Engine,
    caller: &SessionId,
    item: TaskToolItem,
    waits: TaskWaitMode,
) -> Result<TaskStartResult, EngineError> {
    let agent = item.agent.clone();
    let ask = TaskRequest {
        caller: TaskCaller::Session(caller.clone()),
        agent: item.agent,
        prompt: item.prompt,
        description: item.description,
        task_id: item.task_id.map(SessionId::new),
        wait_mode: waits,
    };
    let started = engine.start_task(ask)?;
    Ok(started
        .map(|(session, result)| (session, agent.clone(), result))
        .map_err(|why| (agent, why.to_string())))
}

/// Waits for the results of tasks; one that takes too long continues in the background.
async fn wait_for_tasks(started: Vec<TaskStartResult>, until: Instant) -> DeferredToolAnswer {
    let (mut told, mut sent_on) = (Vec::new(), Vec::new());
    for one in started {
        let (session, agent, result) = match one {
            Ok(started) => started,
            Err(refused) => {
                told.push(start_failure_reply(&refused));
                continue;
            }
        };
        match timeout_at(until, result).await {
            Ok(Ok(result)) => told.push(finished_task_reply(&result)),
            Ok(Err(_)) => told.push(start_failure_reply(&(agent, "the program ends".to_owned()))),
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

fn start_failure_reply((agent, why): &(String, String)) -> TaskReply {
    TaskReply {
        text: format!("Subagent execution failed: {why}"),
        data: json!({ "agent": agent, "status": "declined", "error": why }),
        is_success: false,
    }
}

fn background_task_reply(started: &TaskStartResult) -> TaskReply {
    match started {
        Ok((session, agent, _)) => {
            let why = "running in the background; its end is told with your next turn";
            running_task_reply(session, agent, why)
        }
        Err(refused) => start_failure_reply(refused),
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

pub(super) fn manage_sessions(
    engine: &mut Engine,
    call: &AdmittedToolCall,
) -> Result<ToolReply, EngineError> {
    let arguments: session_manage::SessionManageToolArguments =
        match parse_arguments(&call.arguments) {
            Ok(arguments) => arguments,
            Err(why) => return Ok(ToolReply::Now(ToolAnswer::failed(why))),
        };
    let id = match arguments.required_task_id() {
        Ok(id) => SessionId::new(id),
        Err(why) => return Ok(ToolReply::Now(ToolAnswer::failed(why))),
    };
    let own = engine.run.child_session(&id);
    let own = own.filter(|child| child.order.parent.as_ref() == Some(&call.session));
    let answer = match (arguments.action, own) {
        (SessionManageAction::List, _) => list_tasks(engine, &call.session),
        (_, None) => ToolAnswer::failed(format!(
            "{} is no task of yours; `list` tells those that are",
            agent_activity::clean_id(id.as_str())
        )),
        (SessionManageAction::Show, Some(_)) => show_task(engine, &id),
        (SessionManageAction::Delete, Some(_)) => match engine.delete_child(&id)? {
            Ok(()) => ToolAnswer::done(format!("{id} is forgotten")),
            Err(why) => ToolAnswer::failed(why.to_string()),
        },
    };
    Ok(ToolReply::Now(answer))
}

fn list_tasks(engine: &Engine, caller: &SessionId) -> ToolAnswer {
    let children = engine.state().children.iter();
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

fn show_task(engine: &Engine, id: &SessionId) -> ToolAnswer {
    let layout = engine.journal().layout();
    let stored = match session_files::load_session(layout, id) {
        Ok(stored) => stored.unwrap_or_default(),
        Err(error) => return ToolAnswer::failed(error.to_string()),
    };
    let result = session_files::load_task_result(layout, id).ok().flatten();
    let text = match &result {
        Some(result) => result.to_string(),
        None => format!("task_id: {id}\nstatus: {}", stored.status),
    };
    let data =
        json!({ "task_id": id, "status": stored.status, "title": stored.title, "result": result });
    ToolAnswer::done(text).with_data(data)
}
