//! Stores tool calls without an answer: the decisions about them, their deadlines, and questions answered late.

use std::collections::BTreeMap;

use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::deferred_tool_answer::DeferredToolAnswer;
use super::tool_performer::{AdmittedToolCall, ToolPerformer};
use super::tool_socket::ToolSockets;
use super::user_questions::QuestionWait;
use crate::domain::ids::{DiscussionId, RequestId, RunId, SessionId};
use crate::engine::engine_input::EngineInput;
use crate::engine::request_deadline::wait_until_due;
use crate::engine::run_context::RunContext;
use crate::mcp::socket_protocol::ToolAnswer;

/// A call that is not answered yet.
pub(super) struct PendingToolCall {
    pub(super) call: AdmittedToolCall,
    pub(super) performer: &'static ToolPerformer,
    pub(super) reply_sender: oneshot::Sender<ToolAnswer>,
    /// The channel for progress messages; `None` if the CLI does not want any.
    pub(super) progress: Option<watch::Sender<String>>,
    /// The question that it waits for, if it does.
    pub(super) question_wait: Option<QuestionWait>,
    /// The children that it waits for.
    pub(super) awaited_tasks: Vec<SessionId>,
    /// The discussion that it waits for.
    pub(super) awaited_discussion: Option<DiscussionId>,
}

/// A run's tool sockets and pending calls.
#[derive(Default)]
pub(in crate::engine) struct AgentTools {
    pub(super) sockets: ToolSockets,
    pub(super) pending_calls: BTreeMap<RequestId, PendingToolCall>,
    /// Questions whose calls were answered with `pending`, and the instants when they expire.
    deferred_questions: BTreeMap<RequestId, Instant>,
}

impl AgentTools {
    /// Creates the tools of a run, without calls.
    pub(in crate::engine) fn new(run: &RunId) -> Self {
        Self {
            sockets: ToolSockets::new(run),
            ..Self::default()
        }
    }

    /// Notes the children that a call waits for.
    pub(super) fn wait_for_tasks(&mut self, request: &RequestId, children: Vec<SessionId>) {
        if let Some(open) = self.pending_calls.get_mut(request) {
            open.awaited_tasks = children;
        }
    }

    /// Notes the discussion that a call waits for.
    pub(super) fn wait_for_discussion(&mut self, request: &RequestId, id: DiscussionId) {
        if let Some(open) = self.pending_calls.get_mut(request) {
            open.awaited_discussion = Some(id);
        }
    }

    /// Reports progress to the calls that wait for a child, or for the discussion in which it speaks, and to no
    /// other call.
    pub(in crate::engine) fn report_progress(
        &self,
        child: &SessionId,
        discussion: Option<&DiscussionId>,
        line: &str,
    ) {
        let waits = |open: &&PendingToolCall| {
            let is_discussed =
                discussion.is_some() && open.awaited_discussion.as_ref() == discussion;
            open.awaited_tasks.contains(child) || is_discussed
        };
        let wanting = self.pending_calls.values().filter(waits);
        for progress in wanting.filter_map(|open| open.progress.as_ref()) {
            progress.send_replace(line.to_owned());
        }
    }

    pub(super) fn question_wait(&self, request: &RequestId) -> Option<&QuestionWait> {
        self.pending_calls.get(request)?.question_wait.as_ref()
    }

    /// Notes until when a question stays open whose call no longer waits.
    pub(super) fn defer_question(&mut self, request: &RequestId, until: Instant) {
        self.deferred_questions.insert(request.clone(), until);
    }

    /// Removes a question whose call no longer waits; returns whether there was one.
    pub(super) fn take_deferred_question(&mut self, request: &RequestId) -> bool {
        self.deferred_questions.remove(request).is_some()
    }

    /// Returns the call or question with the earliest deadline.
    fn next_due(&self) -> Option<(Instant, RequestId)> {
        let late = self
            .deferred_questions
            .iter()
            .map(|(request, due)| (*due, request.clone()));
        let waiting = self.pending_calls.iter().filter_map(|(request, open)| {
            Some((open.question_wait.as_ref()?.due_at(), request.clone()))
        });
        waiting.chain(late).min_by_key(|(due, _)| *due)
    }

    /// Waits for the next input: a deadline or a socket request. Cancel safe.
    pub(in crate::engine) async fn next_input(&mut self) -> EngineInput {
        let due = self.next_due();
        tokio::select! {
            biased;
            request = wait_until_due(due) => EngineInput::ToolDeadline(request),
            knock = self.sockets.next_request() => EngineInput::ToolRequest(knock),
        }
    }
}

/// Answers a call once this future is done.
pub(super) fn answer_later(
    run: &mut RunContext,
    call: &RequestId,
    answer: impl Future<Output = DeferredToolAnswer> + Send + 'static,
) {
    let call = call.clone();
    run.spawn_input_task(async move { EngineInput::ToolDone(call, answer.await) });
}
