//! Runs a participant's speech in a discussion as a task in its own child session, which later speeches
//! resume.
//!
//! Speeches always run in such a session: without one there is an error.

use std::time::Duration;

use super::task_runner::TaskLimits;
use super::task_semaphore::RetryBackoff;
use super::task_start::{TaskPreparation, next_child_number};
use super::{SubagentTasks, new_session_id};
use crate::domain::discussion::DiscussionParticipant;
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::task::{ChildSession, SpeakerAssignment, TaskOrder, TaskWaitMode};
use crate::engine::agent_activity;
use crate::engine::engine_error::EngineError;
use crate::engine::named_adapter::NamedAdapter;
use crate::engine::run_context::RunContext;

/// A speech to run.
#[derive(Debug, Clone)]
pub(in crate::engine) struct SpeechTask<'a> {
    pub(in crate::engine) participant: &'a DiscussionParticipant,
    /// The discussion and the participant's role in it.
    pub(in crate::engine) speaker: SpeakerAssignment,
    /// The session that started the discussion; `None` for the user.
    pub(in crate::engine) parent: Option<SessionId>,
    /// The topic of the discussion.
    pub(in crate::engine) topic: &'a str,
    /// The child session of earlier speeches, if there were any.
    pub(in crate::engine) session: Option<SessionId>,
    /// The whole prompt of this speech.
    pub(in crate::engine) prompt: String,
    pub(in crate::engine) timeout: Duration,
    /// How often a temporary failure is retried.
    pub(in crate::engine) retries: u32,
}

impl SubagentTasks {
    /// Starts a speech and returns its session; its result arrives with the end of the child. The inner error
    /// says why there is no session.
    pub(in crate::engine) fn start_speech(
        &mut self,
        run: &mut RunContext,
        ask: SpeechTask<'_>,
    ) -> Result<Result<SessionId, String>, EngineError> {
        let prepared = match prepare_speech(run, &ask) {
            Ok(prepared) => prepared,
            Err(why) => return Ok(Err(why)),
        };
        let session = prepared.order.session.clone();
        let started = self.start_child(run, prepared, &ask.prompt, Vec::new())?;
        Ok(started.map(|()| session))
    }
}

fn prepare_speech(run: &RunContext, ask: &SpeechTask<'_>) -> Result<TaskPreparation, String> {
    let participant = ask.participant;
    // If the session was deleted in between, a new one starts, with an empty history.
    let known = ask
        .session
        .as_ref()
        .and_then(|session| run.child_session(session));
    if known.is_some_and(ChildSession::is_running) {
        return Err("its session is still running".to_owned());
    }
    let Some(settings) = run.setup.config.adapters.get(&participant.adapter) else {
        return Err(format!("no adapter `{}`", participant.adapter));
    };
    let mut settings = settings.clone();
    settings.model = participant.model.clone().or(settings.model);
    let adapter = NamedAdapter::new(participant.adapter.clone(), settings);
    let session = known.map_or_else(new_session_id, |child| child.session_id().clone());
    let n_tasks = known.map_or(0, |child| child.n_tasks);
    let lives_here = known.filter(|child| child.order.adapter == adapter.name);
    Ok(TaskPreparation {
        order: TaskOrder {
            turn: TurnId::new(format!("{session}.{}", n_tasks + 1)),
            session,
            parent: ask.parent.clone(),
            n: known.map_or_else(
                || next_child_number(run, &participant.agent),
                |child| child.order.n,
            ),
            first_agent: None,
            agent: participant.agent.clone(),
            description: agent_activity::clean_line(ask.topic),
            adapter: adapter.name.clone(),
            model: adapter.settings.model.clone(),
            // No turn waits for it; the caller may wait for the whole discussion.
            waits: TaskWaitMode::Background,
            speaks: Some(ask.speaker.clone()),
            tree: None,
        },
        external_id: lives_here.and_then(|child| child.external_id.clone()),
        adapter,
        worktree: None,
        is_existing: known.is_some(),
        limits: TaskLimits {
            timeout: ask.timeout,
            config_key: "discuss.timeout",
            backoff: RetryBackoff::with_retries(ask.retries),
        },
    })
}
