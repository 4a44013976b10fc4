//! The session of a child, shown like the turns of a role: its tasks, and what its agent says and does.
//!
//! Takes what it needs from the run's events. Only the texts of the tasks are not among them; the caller reads them
//! from the session's files.

use super::ChatTranscript;
use super::transcript_block::{BlockAuthor, BlockContent, FactTone, TranscriptBlock};
use crate::domain::event::{Approval, Event};
use crate::domain::ids::{RequestId, SessionId, TurnId, UnixMillis};
use crate::domain::session::MessageRole;
use crate::domain::task::{TaskOrder, TaskOutcome, TaskResult};

/// A text that was sent to a child's agent.
#[derive(Debug)]
pub struct ChildPrompt {
    /// The turn of the task that it came with.
    pub turn: TurnId,
    /// System for the agent's instructions; the others are tasks.
    pub role: MessageRole,
    pub text: String,
}

/// A child's session, with its scroll position.
#[derive(Debug)]
pub struct ChildSessionView {
    session: SessionId,
    prompts: Vec<ChildPrompt>,
    is_running: bool,
    /// The work tree of its last task, if it may write there.
    tree: Option<String>,
    pub(in crate::tui) transcript: ChatTranscript,
}

impl ChildSessionView {
    /// Creates the view of a session of which no event is known yet.
    pub fn new(session: &SessionId, prompts: Vec<ChildPrompt>) -> Self {
        let mut transcript = ChatTranscript::default();
        // Nobody loads the start again, so all of it is kept.
        transcript.start_after(0);
        Self {
            session: session.clone(),
            prompts,
            is_running: false,
            tree: None,
            transcript,
        }
    }

    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Replaces the texts of the tasks before the event of a new task.
    pub fn set_prompts(&mut self, prompts: Vec<ChildPrompt>) {
        self.prompts = prompts;
    }

    /// Returns the text of the whole session.
    pub fn whole_text(&self) -> String {
        self.transcript.whole_text()
    }

    /// Returns whether an event is about this session.
    pub fn is_about(&self, event: &Event) -> bool {
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

    /// Returns whether a request is a child's, whose ids start with its session.
    fn is_own_request(&self, request: &RequestId) -> bool {
        let own = request.as_str().strip_prefix(self.session.as_str());
        own.is_some_and(|own| own.starts_with('/'))
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
        self.is_running = true;
        self.tree = order.tree.as_ref().map(|tree| tree.display().to_string());
        self.transcript.record_task_name(event);
        self.transcript.append_event(event);
        let of_task = self.prompts.iter().filter(|one| one.turn == order.turn);
        let blocks = of_task.map(|prompt| match prompt.role {
            MessageRole::System => {
                let title = format!("Instructions for {}", order.agent);
                let content = BlockContent::fact_with_detail(FactTone::Plain, &title, &prompt.text);
                TranscriptBlock::new(BlockAuthor::System, content)
            }
            _ => TranscriptBlock::new(BlockAuthor::TaskGiver, BlockContent::message(&prompt.text)),
        });
        let blocks = blocks.collect();
        self.transcript.push_blocks(blocks);
    }

    fn end_task(&mut self, result: &TaskResult, event: &Event) {
        self.is_running = false;
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

    /// Appends a piece of the text that its agent is writing.
    pub(in crate::tui) fn append_text(&mut self, piece: &str) {
        self.transcript
            .append_streaming_text(BlockAuthor::Subagent, "", piece);
    }

    /// Shows the end of a session that can grow, and the start of any other.
    pub(in crate::tui) fn go_to_first_position(&mut self) {
        if !self.is_running {
            self.transcript.go_to_top();
        }
    }

    /// Sets the folder that paths are shown relative to, if the task has none of its own.
    pub(in crate::tui) fn set_root_folder(&mut self, root: &str) {
        self.transcript
            .set_root_folder(self.tree.as_deref().unwrap_or(root));
    }
}
