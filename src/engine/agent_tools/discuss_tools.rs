//! Performs `group_discuss` and `group_discuss_context`: an agent lets others discuss, or previews what they would
//! get.
//!
//! Discussions run in `discussion_runner`; here a call starts one, and its end becomes the answer.

use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::AgentTools;
use super::deferred_tool_answer::DeferredToolAnswer;
use super::pending_tool_calls::answer_later;
use super::tool_performer::{AdmittedToolCall, ToolCallContext, ToolReply};
use crate::domain::discussion::{DiscussionStatus, GroupDiscussion};
use crate::domain::ids::{DiscussionId, RequestId};
use crate::domain::task::TaskWaitMode;
use crate::engine::TaskCaller;
use crate::engine::discussion_runner::{
    self, DiscussionHandle, DiscussionRequest, DiscussionStartError,
};
use crate::engine::doctor_report::build_run_report;
use crate::engine::owner_request::OwnerRequest;
use crate::engine::run_context::RunContext;
use crate::mcp::parse_arguments;
use crate::mcp::socket_protocol::ToolAnswer;
use crate::mcp::tools::group_discuss::GroupDiscussToolArguments;

pub(super) fn run_discuss(context: &ToolCallContext<'_>) -> Result<ToolReply, String> {
    let ask = parse_discussion_request(context.call)?;
    if ask.arguments.diagnose {
        let report = build_run_report(context.run);
        return Ok(ToolReply::Later(Box::pin(async move {
            let report = report.await;
            ToolAnswer::done(report.to_text())
                .with_data(report.0)
                .into()
        })));
    }
    let call = context.call.request.clone();
    let request = OwnerRequest::StartDiscussion(call, Box::new(ask));
    Ok(ToolReply::Request(request))
}

pub(super) fn show_discussion_context(context: &ToolCallContext<'_>) -> Result<ToolReply, String> {
    let mut ask = parse_discussion_request(context.call)?;
    ask.arguments = ask.arguments.with_placeholder_topic();
    let planned = discussion_runner::plan_discussion(context.run, &ask)
        .map_err(|refused| refused.to_string())?;
    let derived = discussion_runner::preview_discussion(context.run, &planned);
    let answer = ToolAnswer::done(derived.describe()).with_data(derived.0);
    Ok(ToolReply::Now(answer))
}

impl AgentTools {
    /// Answers the call that started a discussion, or lets it wait for the discussion's end.
    pub(in crate::engine) fn on_discussion_started(
        &mut self,
        run: &mut RunContext,
        call: &RequestId,
        wait_mode: TaskWaitMode,
        started: Result<DiscussionHandle, DiscussionStartError>,
    ) {
        let answer = match started {
            Err(refused) => ToolAnswer::failed(refused.to_string()),
            Ok((id, end)) => match wait_mode {
                TaskWaitMode::Background => running_answer(&id, "running in the background"),
                TaskWaitMode::Foreground => {
                    self.wait_for_discussion(call, id.clone());
                    let until = Instant::now() + run.setup.config.limits.tool_patience;
                    return answer_later(run, call, wait_for_discussion_end(id, end, until));
                }
            },
        };
        self.answer_call(run, call, answer);
    }
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
    let answer = match timeout_at(until, end).await {
        Ok(Ok(discussion)) => finished_answer(&discussion),
        Ok(Err(_)) => ToolAnswer::failed("the program is ending, the discussion can be continued"),
        Err(_) => running_answer(&id, "pending: it is still going on; end your turn"),
    };
    answer.into()
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
