//! Calls that are not answered yet: what was said about them, how long they may wait, and whose answer came too late.
//!
//! Refuses to act on any of it.

use std::collections::{BTreeMap, VecDeque};

use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::tool_socket::ToolSockets;
use super::user_questions::QuestionWait;
use super::{AdmittedToolCall, ToolPerformer};
use crate::adapter::{AdapterCommand, CallDecision as Answered};
use crate::domain::ids::{DiscussionId, RequestId, RunId, SessionId};
use crate::engine::EngineInput;
use crate::mcp::socket_protocol::ToolAnswer;

/// A call that is not answered yet.
pub(super) struct PendingToolCall {
    pub(super) call: AdmittedToolCall,
    pub(super) performer: &'static ToolPerformer,
    pub(super) reply_sender: oneshot::Sender<ToolAnswer>,
    /// Where it is told meanwhile what it waits for; `None` where its CLI does not want to know.
    pub(super) progress: Option<watch::Sender<String>>,
    /// What it waits for, once it does.
    pub(super) question_wait: Option<QuestionWait>,
    /// The children that it waits for.
    pub(super) awaited_tasks: Vec<SessionId>,
    /// The discussion that it waits for.
    pub(super) awaited_discussion: Option<DiscussionId>,
}

/// What became of a request.
enum ToolRequestOutcome {
    /// The decision about a call.
    Decided(Answered),
    /// The user's answer; `None` where there is none.
    Answered(Option<BTreeMap<String, String>>),
}

/// The tools of a run.
#[derive(Default)]
pub(in crate::engine) struct AgentTools {
    pub(in crate::engine) sockets: ToolSockets,
    pub(super) pending_calls: BTreeMap<RequestId, PendingToolCall>,
    /// What was said about calls and is not acted on yet.
    outcomes: VecDeque<(RequestId, ToolRequestOutcome)>,
    /// Questions whose calls were answered by `pending` and that nobody answers from these instants on.
    deferred_questions: BTreeMap<RequestId, Instant>,
}

impl AgentTools {
    /// The tools of a run that nobody called yet.
    pub(in crate::engine) fn new(run: &RunId) -> Self {
        Self {
            sockets: ToolSockets::new(run),
            ..Self::default()
        }
    }

    /// Takes an answer where it is for a tool's call; gives it back where it is a CLI's.
    pub(in crate::engine) fn intercept_command(
        &mut self,
        order: AdapterCommand,
    ) -> Option<AdapterCommand> {
        match order {
            AdapterCommand::DecideApproval(request, answer)
                if self.pending_calls.contains_key(&request) =>
            {
                self.outcomes
                    .push_back((request, ToolRequestOutcome::Decided(answer)));
                None
            }
            AdapterCommand::AnswerQuestions(request, answers) if self.is_pending(&request) => {
                self.outcomes
                    .push_back((request, ToolRequestOutcome::Answered(answers)));
                None
            }
            other => Some(other),
        }
    }

    fn is_pending(&self, request: &RequestId) -> bool {
        self.pending_calls.contains_key(request)
    }

    /// Notes what a call waits for.
    pub(super) fn wait_for_question(&mut self, request: &RequestId, waits: QuestionWait) {
        if let Some(open) = self.pending_calls.get_mut(request) {
            open.question_wait = Some(waits);
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

    /// Tells the calls that wait for a child, or for the discussion in which it speaks, what it does; no other.
    pub(super) fn report_progress(
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

    /// Notes until when a question is open whose call waits no longer.
    pub(super) fn defer_question(&mut self, request: &RequestId, until: Instant) {
        self.deferred_questions.insert(request.clone(), until);
    }

    /// Takes out a question that was open for longer than its call waited.
    pub(super) fn take_deferred_question(&mut self, request: &RequestId) -> bool {
        self.deferred_questions.remove(request).is_some()
    }

    /// The call or the question whose time is up next.
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

    /// Waits for what comes next: a decision that is to be acted on, or a knock. Cancel safe.
    pub(in crate::engine) async fn next_input(&mut self) -> EngineInput {
        match self.outcomes.pop_front() {
            Some((request, ToolRequestOutcome::Decided(answer))) => {
                return EngineInput::ToolDecided(request, answer);
            }
            Some((request, ToolRequestOutcome::Answered(answers))) => {
                return EngineInput::ToolAnswered(request, answers);
            }
            None => {}
        }
        let due = self.next_due();
        tokio::select! {
            biased;
            request = wait_until_due(due) => EngineInput::ToolDeadline(request),
            knock = self.sockets.next_request() => EngineInput::ToolRequest(knock),
        }
    }
}

/// Waits until the instant, and tells whose it was. Cancel safe.
pub(in crate::engine) async fn wait_until_due(due: Option<(Instant, RequestId)>) -> RequestId {
    match due {
        Some((at, request)) => {
            sleep_until(at).await;
            request
        }
        None => std::future::pending().await,
    }
}
