//! Owns the open conversations of a run, by session: those of the two roles and those of children.
//!
//! ```text
//!  StartTurn, decisions, answers ─▶ OpenConversations ─▶ AgentConversation ◀─▶ Adapter ◀─▶ the CLI's process
//!                                        ▲                   │
//!                  Engine::on_conversation_event ◀── (session, ConversationEvent)
//! ```
//!
//! A role's conversation is opened by its first turn and stays open until the run ends or the role moves to another
//! session; a child's is opened and closed with its task. While a conversation has a turn, its [`CallingTurn`] says
//! how calls are decided.

use std::collections::BTreeMap;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::engine_error::EngineError;
use super::input_channel::{ChannelPair, INPUT_CHANNEL_CAPACITY};
use super::warnings::failure_event;
use crate::adapter::{AdapterCommand, AdapterEvent};
use crate::domain::event::Event;
use crate::domain::ids::{RequestId, SessionId, Sha256};
use crate::domain::session::{Message, MessageRole};
use crate::domain::step_result::StepResult;
use crate::domain::turn::{Role, TurnOrder, TurnPurpose};
use crate::process::ProcessMark;

use super::agent_conversation::{
    AgentConversation, ConversationCommand, ConversationEvent, ConversationParts,
};
use super::approvals::caller_context::{CallingTurn, NO_TURN};
use super::run_context::RunContext;
use super::staging_folder::TurnStagingFolder;
use super::turn_calls::TurnCalls;

/// How many commands can be queued for a conversation; a turn never has as many open.
pub(super) const COMMAND_CHANNEL_CAPACITY: usize = 64;

/// The open conversations, and the turn of a role that runs in one of them.
pub(super) struct OpenConversations {
    open: BTreeMap<SessionId, OpenConversation>,
    events: ChannelPair<(SessionId, ConversationEvent)>,
    active_turn: Option<ActiveTurn>,
    /// What the calls of that turn show.
    calls: TurnCalls,
}

struct OpenConversation {
    /// The role that it was opened for; `None` for a child. A role may move to another session while the last events of
    /// this one, such as an undelivered message of the user, still arrive.
    role: Option<Role>,
    /// `None` while it is closing: its last events may still arrive.
    commands: Option<mpsc::Sender<ConversationCommand>>,
    /// The turn that is running.
    turn: Option<CallingTurn>,
}

/// The turn of a role that is running.
#[derive(Debug)]
pub(super) struct ActiveTurn {
    pub(super) session: SessionId,
    pub(super) order: TurnOrder,
    pub(super) prompt_sha256: Sha256,
    /// Sent in place of the prompt if the CLI has lost the conversation.
    pub(super) recovery_prompt: String,
    pub(super) staging: TurnStagingFolder,
    /// Background tasks whose end the prompt reports.
    pub(super) background_reports: Vec<SessionId>,
    /// The result of the step, where its agent stated one by a call.
    pub(super) step_result: Option<StepResult>,
}

impl Default for OpenConversations {
    fn default() -> Self {
        Self {
            open: BTreeMap::new(),
            events: mpsc::channel(INPUT_CHANNEL_CAPACITY),
            active_turn: None,
            calls: TurnCalls::default(),
        }
    }
}

impl OpenConversations {
    /// Waits for the next event of a role's conversation; the end of a conversation that was closed is handled here.
    /// Cancel safe.
    pub(super) async fn next_event(&mut self) -> Option<(SessionId, ConversationEvent)> {
        let (session, event) = self.events.1.recv().await?;
        if matches!(event, ConversationEvent::Closed) {
            let is_closing = |open: &OpenConversation| open.commands.is_none();
            if self.open.get(&session).is_some_and(is_closing) {
                self.open.remove(&session);
            }
        }
        Some((session, event))
    }

    /// Returns the role that speaks in a session; `None` for a child.
    pub(super) fn role(&self, session: &SessionId) -> Option<Role> {
        self.open.get(session)?.role
    }

    /// Returns the turn of a role that is running.
    pub(super) fn active_turn(&self) -> Option<&ActiveTurn> {
        self.active_turn.as_ref()
    }

    /// Keeps the result that the agent of the running turn stated; returns `false` if no turn runs.
    pub(super) fn set_step_result(&mut self, result: StepResult) -> bool {
        let Some(turn) = &mut self.active_turn else {
            return false;
        };
        turn.step_result = Some(result);
        true
    }

    /// Returns the turn of a role whose agent may still call and change something.
    pub(super) fn open_turn(&self, run: &RunContext) -> Option<&ActiveTurn> {
        let active = self.active_turn.as_ref()?;
        let turn = self.open.get(&active.session)?.turn.as_ref()?;
        turn.closed_reason(run).is_none().then_some(active)
    }

    /// Notes what an event says about a call of the role's turn that a document may refer to.
    pub(super) fn note_call(
        &mut self,
        run: &RunContext,
        session: &SessionId,
        event: &AdapterEvent,
    ) {
        let Some(active) = self
            .active_turn
            .as_ref()
            .filter(|of| of.session == *session)
        else {
            return;
        };
        let purpose = &active.order.purpose;
        let is_checked = match purpose {
            TurnPurpose::Review
            | TurnPurpose::Respond
            | TurnPurpose::Step { .. }
            | TurnPurpose::Fix { .. } => true,
            TurnPurpose::RefineGoal { .. }
            | TurnPurpose::WritePlan
            | TurnPurpose::Judge
            | TurnPurpose::Summary => false,
        };
        if let (true, Ok(adapter)) = (is_checked, run.role_adapter(purpose.role())) {
            self.calls
                .on_event(event, adapter.traits(), &run.setup.root);
        }
    }

    /// Returns what the calls of the last turn show.
    pub(super) fn take_calls(&mut self) -> TurnCalls {
        std::mem::take(&mut self.calls)
    }

    /// Returns the running turn of a session.
    pub(super) fn turn_mut(&mut self, session: &SessionId) -> Option<&mut CallingTurn> {
        self.open.get_mut(session)?.turn.as_mut()
    }

    /// Opens the conversation of a role's session, if it is not open yet.
    ///
    /// # Errors
    /// Why the role has no conversation.
    fn open_role(&mut self, run: &mut RunContext, role: Role) -> Result<SessionId, String> {
        let session = run
            .state()
            .session(role)
            .ok_or("this run has no such role")?;
        let session = session.id.clone();
        if self.commands(&session).is_some() {
            return Ok(session);
        }
        let adapter = run.role_adapter(role)?;
        let (commands, inbox) = mpsc::channel(COMMAND_CHANNEL_CAPACITY);
        let parts = ConversationParts {
            session: session.clone(),
            adapter: adapter.new_adapter(),
            raw: run.raw_stream(&session),
            marker: ProcessMark::new(run.state().run.as_str(), role.name()),
            children: run.setup.spawner.clone(),
        };
        let conversation = AgentConversation::new(parts, inbox, self.events.0.clone());
        run.tasks.spawn(conversation.run_until_shutdown());
        self.add(session.clone(), Some(role), commands, None);
        Ok(session)
    }

    /// Adds the conversation of a child, whose task runs it.
    pub(super) fn add_child(
        &mut self,
        commands: mpsc::Sender<ConversationCommand>,
        turn: CallingTurn,
    ) {
        self.add(turn.caller.session.clone(), None, commands, Some(turn));
    }

    fn add(
        &mut self,
        session: SessionId,
        role: Option<Role>,
        commands: mpsc::Sender<ConversationCommand>,
        turn: Option<CallingTurn>,
    ) {
        let commands = Some(commands);
        let open = OpenConversation {
            role,
            commands,
            turn,
        };
        self.open.insert(session, open);
    }

    /// Removes the conversation of a child whose task has ended.
    pub(super) fn remove_child(&mut self, session: &SessionId) {
        self.open.remove(session);
    }

    fn commands(&self, session: &SessionId) -> Option<&mpsc::Sender<ConversationCommand>> {
        self.open.get(session)?.commands.as_ref()
    }

    /// Sends a command to a session's CLI, if its conversation is open.
    pub(super) fn send(&self, session: &SessionId, command: AdapterCommand) {
        let commands = self.commands(session);
        let command = ConversationCommand::Adapter(command);
        if commands.is_none_or(|commands| commands.try_send(command).is_err()) {
            tracing::warn!("an answer arrived that nothing was waiting for");
        }
    }

    /// Tells a conversation whether its agent waits for the program, so that its CLI is silent for a reason.
    pub(super) fn set_agent_waits(&self, session: &SessionId, request: RequestId, waits: bool) {
        let command = if waits {
            ConversationCommand::AgentWaits(request)
        } else {
            ConversationCommand::AgentResumed(request)
        };
        // If the queue is full, the only harm is one unnecessary check of the conversation's processes.
        let _full = self
            .commands(session)
            .map(|commands| commands.try_send(command));
    }

    /// Sends a command to a role's conversation, which is opened if there is none.
    pub(super) fn send_to_role(
        &mut self,
        run: &mut RunContext,
        role: Role,
        command: ConversationCommand,
    ) -> Vec<Event> {
        let session = match self.open_role(run, role) {
            Ok(session) => session,
            Err(message) => return vec![failure_event("start a conversation", message)],
        };
        let sent = self
            .commands(&session)
            .map(|commands| commands.try_send(command));
        match sent {
            Some(Ok(())) => Vec::new(),
            Some(Err(_)) | None => {
                self.close(&session);
                vec![failure_event(
                    "reach the agent",
                    "its conversation does not respond",
                )]
            }
        }
    }

    /// Starts a role's turn: its prompt goes out, and its calls are decided from now on.
    pub(super) fn start_turn(
        &mut self,
        run: &mut RunContext,
        active: ActiveTurn,
        turn: CallingTurn,
        command: ConversationCommand,
    ) -> Vec<Event> {
        let session = active.session.clone();
        let role = active.order.purpose.role();
        self.active_turn = Some(active);
        self.calls = TurnCalls::default();
        let events = self.send_to_role(run, role, command);
        let open = self.open.get_mut(&session).filter(|_| events.is_empty());
        if let Some(open) = open {
            open.turn = Some(turn);
        }
        events
    }

    /// Notes that the CLI has reported the end of the turn: its later calls are denied.
    pub(super) fn close_turn(&mut self) {
        let session = self
            .active_turn
            .as_ref()
            .map(|active| active.session.clone());
        if let Some(turn) = session.and_then(|session| self.turn_mut(&session)) {
            turn.close(NO_TURN);
        }
    }

    /// Ends the running turn of a role, if it is this one.
    pub(super) fn end_turn(&mut self, order: impl Fn(&TurnOrder) -> bool) -> Option<ActiveTurn> {
        let ended = self.active_turn.take_if(|active| order(&active.order))?;
        if let Some(open) = self.open.get_mut(&ended.session) {
            open.turn = None;
        }
        Some(ended)
    }

    /// Returns what the turn's start reports: the turn, its prompt, and the finished tasks that the prompt reports.
    pub(super) fn take_turn_start(&mut self) -> Option<(TurnOrder, Sha256, Vec<SessionId>)> {
        let active = self.active_turn.as_mut()?;
        let reports = std::mem::take(&mut active.background_reports);
        Some((active.order.clone(), active.prompt_sha256.clone(), reports))
    }

    pub(super) fn interrupt_turn(&mut self) {
        let session = self.active_turn.as_ref().map(|active| &active.session);
        let commands = session.and_then(|session| self.commands(session));
        let interrupt = ConversationCommand::Adapter(AdapterCommand::Interrupt);
        if commands.is_some_and(|commands| commands.try_send(interrupt).is_err()) {
            tracing::warn!(
                "the conversation does not accept the interrupt; its process ends with this program"
            );
        }
    }

    /// Sends the user's message to the agent in the middle of its turn, and stores it as a message of its session. How
    /// a CLI accepts it is the adapter's task; a message that comes too late is returned by the adapter and sent with
    /// the next prompt.
    ///
    /// # Errors
    /// Writing the session's file failed.
    pub(super) fn steer_turn(
        &mut self,
        run: &RunContext,
        text: String,
    ) -> Result<Vec<Event>, EngineError> {
        let Some(active) = &self.active_turn else {
            return Ok(vec![Event::MessageQueued { to: None, text }]);
        };
        let role = active.order.purpose.role();
        let Some(session) = run.state().session(role) else {
            return Ok(Vec::new());
        };
        let commands = self.commands(&active.session);
        let permit = commands.and_then(|commands| commands.clone().try_reserve_owned().ok());
        // The conversation cannot receive it now, so it is sent with the next prompt.
        let Some(permit) = permit else {
            let to = Some(role);
            return Ok(vec![Event::MessageQueued { to, text }]);
        };
        let id = session.id.clone();
        let message = Message {
            id: format!("msg_{}", session.n_messages + 1),
            turn: Some(active.order.turn.clone()),
            role: MessageRole::User,
            agent: session.current_profile(),
            synthetic: false,
            ts: run.journal.now(),
            text: text.clone(),
        };
        run.journal.append_message(&id, &message)?;
        permit.send(ConversationCommand::Adapter(AdapterCommand::Steer(text)));
        Ok(vec![Event::MessageAppended {
            role,
            message: Message {
                text: String::new(),
                ..message
            },
        }])
    }

    /// Makes the CLI of a role forget its conversation.
    pub(super) fn forget_conversation(&mut self, run: &mut RunContext, role: Role) -> Vec<Event> {
        let mut events = self.send_to_role(run, role, ConversationCommand::ForgetConversation);
        events.push(Event::SessionLost {
            role,
            reason: "the user asked for a new session".to_owned(),
        });
        events
    }

    /// Closes the conversation of a session without waiting for it. Its last events still arrive.
    pub(super) fn close(&mut self, session: &SessionId) {
        let open = self.open.get_mut(session);
        let Some(commands) = open.and_then(|open| open.commands.take()) else {
            return;
        };
        // A full queue is no reason to wait: dropping the sender ends the conversation as well.
        let sent = commands.try_send(ConversationCommand::Shutdown);
        if let Err(TrySendError::Closed(_)) = sent {
            // Its task has ended in another way, so it sends no `Closed`.
            self.open.remove(session);
        }
    }

    /// Closes the conversations of the roles, without waiting for them.
    pub(super) fn close_roles(&mut self) {
        let of_roles = self.open.iter().filter(|(_, open)| open.role.is_some());
        let sessions: Vec<SessionId> = of_roles.map(|(session, _)| session.clone()).collect();
        for session in sessions {
            self.close(&session);
        }
    }

    /// Waits for the next event of a role's conversation that is closing; `None` once all are closed.
    pub(super) async fn next_closing_event(&mut self) -> Option<(SessionId, ConversationEvent)> {
        if self.open.values().all(|open| open.role.is_none()) {
            return None;
        }
        self.next_event().await
    }
}

#[cfg(test)]
impl OpenConversations {
    /// Puts a role's turn into a conversation that the test plays.
    pub(super) fn play_turn(
        &mut self,
        active: ActiveTurn,
        turn: CallingTurn,
        commands: mpsc::Sender<ConversationCommand>,
    ) {
        let role = Some(active.order.purpose.role());
        self.add(active.session.clone(), role, commands, Some(turn));
        self.active_turn = Some(active);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    fn open_role() -> (OpenConversations, mpsc::Receiver<ConversationCommand>) {
        let mut conversations = OpenConversations::default();
        let (commands, inbox) = mpsc::channel(1);
        let session = SessionId::new("ses_a");
        conversations.add(session, Some(Role::Planner), commands, None);
        (conversations, inbox)
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_waits_for_a_conversation_and_not_for_one_whose_task_died() {
        let wait = Duration::from_secs(60);
        let (mut conversations, inbox) = open_role();
        drop(inbox);
        conversations.close_roles();
        let ended = timeout(wait, conversations.next_closing_event()).await;
        assert!(matches!(ended, Ok(None)));

        let (mut conversations, _inbox) = open_role();
        conversations.close_roles();
        let waits = timeout(wait, conversations.next_closing_event()).await;
        assert!(waits.is_err());
        let closed = (SessionId::new("ses_a"), ConversationEvent::Closed);
        conversations.events.0.send(closed).await.unwrap();
        assert!(conversations.next_closing_event().await.is_some());
        assert!(conversations.next_closing_event().await.is_none());
    }
}
