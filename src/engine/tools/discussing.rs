//! `group_discuss` and `group_discuss_context`: an agent has others discuss, waits for what they decide or does not, and
//! looks beforehand what they would be given.
//!
//! What a discussion is and how it goes is said elsewhere (`discussion`); here a call becomes one, and its end an answer.

use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::{Later, Reply, ToolCall};
use crate::domain::discussion::{DiscussionStatus, GroupDiscussion};
use crate::domain::ids::DiscussionId;
use crate::domain::task::TaskWaitMode;
use crate::engine::discussion::{self, DiscussionAsk};
use crate::engine::{Caller, Engine, EngineError};
use crate::mcp::parse_arguments;
use crate::mcp::socket_protocol::ToolAnswer;
use crate::mcp::tools::group_discuss::GroupDiscussToolArguments;

pub(super) fn discuss(engine: &mut Engine, call: &ToolCall) -> Result<Reply, EngineError> {
    let ask = match asked(call) {
        Ok(ask) => ask,
        Err(why) => return Ok(Reply::Now(ToolAnswer::failed(why))),
    };
    if ask.arguments.diagnose {
        let report = engine.diagnosis();
        return Ok(Reply::Later(Box::pin(async move {
            let report = report.await;
            later(ToolAnswer::done(report.in_words()).with_data(report.0))
        })));
    }
    Ok(match engine.begin_discussion(&ask)? {
        Err(refused) => Reply::Now(ToolAnswer::failed(refused.to_string())),
        Ok((id, _)) if ask.waits == TaskWaitMode::Background => {
            Reply::Now(under_way(&id, "running in the background"))
        }
        Ok((id, end)) => {
            engine.tools.wait_for_discussion(&call.request, id.clone());
            let until = Instant::now() + engine.tool_patience();
            Reply::Later(Box::pin(ended(id, end, until)))
        }
    })
}

pub(super) fn tell_context(engine: &mut Engine, call: &ToolCall) -> Result<Reply, EngineError> {
    let planned = asked(call).and_then(|mut ask| {
        ask.arguments = ask.arguments.with_placeholder_topic();
        let planned = engine.plan_discussion(&ask);
        planned.map_err(|refused| refused.to_string())
    });
    Ok(Reply::Now(match planned {
        Err(why) => ToolAnswer::failed(why),
        Ok(planned) => {
            let derived = engine.derived(&planned);
            ToolAnswer::done(derived.in_words()).with_data(derived.0)
        }
    }))
}

fn asked(call: &ToolCall) -> Result<DiscussionAsk, String> {
    let arguments: GroupDiscussToolArguments = parse_arguments(&call.arguments)?;
    Ok(DiscussionAsk {
        caller: Caller::Session(call.session.clone()),
        finding: None,
        waits: match arguments.background {
            true => TaskWaitMode::Background,
            false => TaskWaitMode::Foreground,
        },
        arguments,
    })
}

/// Waits for the end of a discussion; what takes too long goes on in the background.
async fn ended(id: DiscussionId, end: oneshot::Receiver<GroupDiscussion>, until: Instant) -> Later {
    later(match timeout_at(until, end).await {
        Ok(Ok(discussion)) => answer(&discussion),
        Ok(Err(_)) => ToolAnswer::failed("the program ends; the discussion can be gone on with"),
        Err(_) => under_way(&id, "pending: it is still going on; end your turn"),
    })
}

fn later(answer: ToolAnswer) -> Later {
    Later {
        answer,
        sent_on: Vec::new(),
    }
}

fn under_way(id: &DiscussionId, how: &str) -> ToolAnswer {
    ToolAnswer::done(format!(
        "discussion_id: {id}\n{how}, what comes of it is told with one of your next turns"
    ))
    .with_data(json!({ "discussion_id": id, "status": "running", "pending": true }))
}

fn answer(discussion: &GroupDiscussion) -> ToolAnswer {
    let text = discussion::for_an_agent(discussion);
    match discussion.status {
        DiscussionStatus::Completed => ToolAnswer::done(text),
        DiscussionStatus::Running | DiscussionStatus::Failed | DiscussionStatus::Cancelled => {
            ToolAnswer::failed(text)
        }
    }
    .with_data(discussion::as_json(discussion))
}
