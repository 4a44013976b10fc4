//! Performs `group_discuss` and `group_discuss_context`: an agent lets others discuss, or previews what they would
//! get.
//!
//! Discussions run in `discussion_runner`; here a call starts one, and its end becomes the answer.

use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use crate::domain::discussion::{DiscussionStatus, GroupDiscussion};
use crate::domain::ids::DiscussionId;
use crate::domain::task::TaskWaitMode;
use crate::engine::agent_tools::tool_reply::{AdmittedToolCall, DeferredToolAnswer, ToolReply};
use crate::engine::discussion_runner::{self, DiscussionRequest};
use crate::engine::engine_error::EngineError;
use crate::engine::{Engine, TaskCaller};
use crate::mcp::parse_arguments;
use crate::mcp::socket_protocol::ToolAnswer;
use crate::mcp::tools::group_discuss::GroupDiscussToolArguments;

pub(super) fn run_discuss(
    engine: &mut Engine,
    call: &AdmittedToolCall,
) -> Result<ToolReply, EngineError> {
    let ask = match parse_discussion_request(call) {
        Ok(ask) => ask,
        Err(why) => return Ok(ToolReply::Now(ToolAnswer::failed(why))),
    };
    if ask.arguments.diagnose {
        let report = engine.doctor_report();
        return Ok(ToolReply::Later(Box::pin(async move {
            let report = report.await;
            to_deferred_answer(ToolAnswer::done(report.to_text()).with_data(report.0))
        })));
    }
    Ok(match engine.start_discussion(&ask)? {
        Err(refused) => ToolReply::Now(ToolAnswer::failed(refused.to_string())),
        Ok((id, _)) if ask.wait_mode == TaskWaitMode::Background => {
            ToolReply::Now(running_answer(&id, "running in the background"))
        }
        Ok((id, end)) => {
            engine.tools.wait_for_discussion(&call.request, id.clone());
            let until = Instant::now() + engine.run.setup.config.limits.tool_patience;
            ToolReply::Later(Box::pin(wait_for_discussion_end(id, end, until)))
        }
    })
}

pub(super) fn show_discussion_context(
    engine: &mut Engine,
    call: &AdmittedToolCall,
) -> Result<ToolReply, EngineError> {
    let planned = parse_discussion_request(call).and_then(|mut ask| {
        ask.arguments = ask.arguments.with_placeholder_topic();
        let planned = engine.plan_discussion(&ask);
        planned.map_err(|refused| refused.to_string())
    });
    Ok(ToolReply::Now(match planned {
        Err(why) => ToolAnswer::failed(why),
        Ok(planned) => {
            let derived = discussion_runner::preview_discussion(&engine.run, &planned);
            ToolAnswer::done(derived.describe()).with_data(derived.0)
        }
    }))
}

fn parse_discussion_request(call: &AdmittedToolCall) -> Result<DiscussionRequest, String> {
    let arguments: GroupDiscussToolArguments = parse_arguments(&call.arguments)?;
    Ok(DiscussionRequest {
        caller: TaskCaller::Session(call.session.clone()),
        finding: None,
        wait_mode: if arguments.background {
            TaskWaitMode::Background
        } else {
            TaskWaitMode::Foreground
        },
        arguments,
    })
}

/// Waits for the end of a discussion; one that takes too long continues in the background.
async fn wait_for_discussion_end(
    id: DiscussionId,
    end: oneshot::Receiver<GroupDiscussion>,
    until: Instant,
) -> DeferredToolAnswer {
    to_deferred_answer(match timeout_at(until, end).await {
        Ok(Ok(discussion)) => finished_answer(&discussion),
        Ok(Err(_)) => ToolAnswer::failed("the program is ending, the discussion can be continued"),
        Err(_) => running_answer(&id, "pending: it is still going on; end your turn"),
    })
}

fn to_deferred_answer(answer: ToolAnswer) -> DeferredToolAnswer {
    DeferredToolAnswer {
        answer,
        moved_to_background: Vec::new(),
    }
}

fn running_answer(id: &DiscussionId, how: &str) -> ToolAnswer {
    ToolAnswer::done(format!(
        "discussion_id: {id}\n{how}, what comes of it is told with one of your next turns"
    ))
    .with_data(json!({ "discussion_id": id, "status": "running", "pending": true }))
}

fn finished_answer(discussion: &GroupDiscussion) -> ToolAnswer {
    let text = discussion_runner::discussion_for_agent(discussion);
    match discussion.status {
        DiscussionStatus::Completed => ToolAnswer::done(text),
        DiscussionStatus::Running | DiscussionStatus::Failed | DiscussionStatus::Cancelled => {
            ToolAnswer::failed(text)
        }
    }
    .with_data(discussion_runner::discussion_to_json(discussion))
}
