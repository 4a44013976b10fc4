//! The session of a child, shown like the turns of a role: its tasks, and what its agent says and does.
//!
//! Takes what it needs from the run's events. Only the texts of the tasks are not among them; the caller reads them
//! from the session's files.

use super::ChatTranscript;
use super::block_content::{BlockContent, FactTone};
use super::transcript_block::{BlockAuthor, TranscriptBlock};
use crate::domain::event::{Approval, Event};
use crate::domain::ids::{RequestId, SessionId, UnixMillis};
use crate::domain::session::{ChildMessage, MessageRole};
use crate::domain::task::{TaskOrder, TaskOutcome, TaskResult};
use crate::domain::text_delta::DeltaChange;

/// A child's session, with its scroll position.
#[derive(Debug)]
pub struct ChildSessionView {
    session: SessionId,
    /// Its messages, of which the system's and the user's are shown.
    prompts: Vec<ChildMessage>,
    pub(in crate::tui) transcript: ChatTranscript,
}

impl ChildSessionView {
    /// Creates the view of a session of which nothing is known yet; it looks like the chat.
    pub(in crate::tui) fn new(session: &SessionId, chat: &ChatTranscript) -> Self {
        Self {
            session: session.clone(),
            prompts: Vec::new(),
            transcript: chat.empty_copy(),
        }
    }

    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Sets the session's messages; those of a task have to be there before its event.
    pub fn set_prompts(&mut self, prompts: Vec<ChildMessage>) {
        self.prompts = prompts;
    }

    /// Returns the text of the whole session.
    pub fn whole_text(&self) -> String {
        self.transcript.whole_text()
    }

    fn is_about(&self, event: &Event) -> bool {
        match event {
            Event::TaskStarted(order) => order.session == self.session,
            Event::TaskEnded(result) => result.task_id == self.session,
            Event::TaskDispatched { session }
            | Event::TaskActivity { session, .. }
            | Event::TaskPatched { session, .. }
            | Event::TodosWritten { session, .. }
            | Event::ToolBlocked { session, .. } => *session == self.session,
            Event::ApprovalRequested(approval) | Event::ApprovalExpired { approval, .. } => {
                self.is_own_request(&approval.request)
            }
            Event::ApprovalDecided { request, .. } => self.is_own_request(request),
            _ => false,
        }
    }

    /// Returns whether this child made a request.
    fn is_own_request(&self, request: &RequestId) -> bool {
        request.child.as_ref() == Some(&self.session)
    }

    /// Applies an event of the run, if it is about this session.
    pub fn on_event(&mut self, at: UnixMillis, event: &Event) {
        if !self.is_about(event) {
            return;
        }
        match event {
            Event::TaskStarted(order) => self.start_task(order, event),
            Event::TaskEnded(result) => self.end_task(result, event),
            Event::TaskDispatched { .. } => self.transcript.append_event(event),
            Event::TaskActivity { news, .. } => {
                self.transcript
                    .on_agent_activity(BlockAuthor::Subagent, news);
            }
            Event::ApprovalRequested(approval) => {
                // Unlike in the chat, the call has a card here.
                let own = Approval {
                    child: None,
                    ..approval.clone()
                };
                self.transcript.on_event(at, &Event::ApprovalRequested(own));
            }
            _ => self.transcript.on_event(at, event),
        }
    }

    fn start_task(&mut self, order: &TaskOrder, event: &Event) {
        if let Some(tree) = &order.tree {
            self.transcript.set_root_folder(&tree.display().to_string());
        }
        self.transcript.record_task_name(event);
        self.transcript.append_event(event);
        let of_task = self.prompts.iter().filter(|one| one.turn == order.turn);
        let blocks = of_task.filter_map(|prompt| match prompt.role {
            MessageRole::System => {
                let title = format!("Instructions for {}", order.agent);
                let content = BlockContent::fact_with_detail(FactTone::Plain, &title, &prompt.text);
                Some(TranscriptBlock::new(BlockAuthor::System, content))
            }
            MessageRole::User => {
                let content = BlockContent::message(&prompt.text);
                Some(TranscriptBlock::new(BlockAuthor::TaskGiver, content))
            }
            MessageRole::Assistant | MessageRole::Tool => None,
        });
        let blocks = blocks.collect();
        self.transcript.push_blocks(blocks);
    }

    fn end_task(&mut self, result: &TaskResult, event: &Event) {
        self.transcript.drop_provisional();
        if let TaskOutcome::Completed { summary } = &result.end {
            let said = BlockContent::message(summary);
            // The result is the last message, unless the agent gave it in another way.
            if !self.transcript.blocks.iter().any(|one| one.content == said) {
                self.transcript.finish_text(BlockAuthor::Subagent, summary);
            }
        }
        self.transcript.append_event(event);
    }

    /// Applies a change of a text that its agent is writing.
    pub(in crate::tui) fn change_text(&mut self, item: &str, change: &DeltaChange) {
        self.transcript
            .change_streaming_text(BlockAuthor::Subagent, item, change);
    }
}
