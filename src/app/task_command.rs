//! Runs tasks from the command line: through the running instance, else in an engine of their own.
//!
//! Does not format results for the user: `cli` does.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::domain::event::{AgentActivity, Event};
use crate::domain::event_wording::{CallDescriptions, EventTone, word_activity};
use crate::domain::ids::SessionId;
use crate::domain::task::{TaskResult, TaskWaitMode};
use crate::engine::{Engine, EngineError, TaskCaller, TaskRequest, ViewUpdate};
use crate::store::{WorkdirLayout, session_files};

use super::auto_answers::dismiss_questions;
use super::headless_signals::HeadlessSignals;
use super::ipc_client::{
    self, IpcTarget, IpcVocabulary, not_started_error, parse_command, reply_with_id,
    require_open_run,
};
use super::ipc_socket::{IpcRequest, PendingIpcRequest};
use super::oneshot_engine::run_oneshot_engine;
use super::startup::{self, ProjectContext, StartError, StartOptions};

/// The commands and words for tasks on the IPC socket.
const VOCABULARY: IpcVocabulary = IpcVocabulary {
    command: "task",
    stop_command: "task-stop",
    noun: "task",
    id_field: "task_id",
    past_action: "ran the task",
    oneshot_verb: "runs",
    resume_arguments: " …",
};
/// The command that deletes a child session of an instance.
pub(super) const DELETE_SESSION_COMMAND: &str = "session-delete";

/// A request for a task, from the command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskCommand {
    pub agent: String,
    /// The whole prompt for the agent.
    pub prompt: String,
    /// A short title; made from the prompt if empty.
    #[serde(default)]
    pub description: String,
    /// The child session to continue.
    #[serde(default)]
    pub task_id: Option<SessionId>,
}

impl TaskCommand {
    /// Replaces a session's name by its id; an unknown session is reported later.
    fn resolve_session(mut self, layout: &WorkdirLayout) -> Self {
        let found = self.task_id.as_ref();
        let found = found
            .and_then(|wanted| super::session_commands::find_session(layout, wanted.as_str()).ok());
        self.task_id = found.map(|session| session.session_id()).or(self.task_id);
        self
    }

    fn into_task_request(self) -> TaskRequest {
        TaskRequest {
            caller: TaskCaller::User,
            agent: self.agent,
            prompt: self.prompt,
            description: self.description,
            task_id: self.task_id,
            wait_mode: TaskWaitMode::Background,
        }
    }
}

/// Runs a task to its end and returns the result, with the last signal that arrived meanwhile; `tell` gets the agent's
/// progress, line by line, if the task runs in this process.
///
/// # Errors
/// The task did not start, or its result will never be known; the text says why and what to do.
pub async fn run_task(
    wishes: &StartOptions,
    given: TaskCommand,
    tell: &mut dyn FnMut(&str),
) -> Result<(TaskResult, Option<&'static str>), StartError> {
    let IpcTarget {
        found,
        layout,
        held,
        mut signals,
    } = IpcTarget::locate(wishes).await?;
    let given = given.resolve_session(&layout);
    let look = |id: &str| {
        let result = session_files::load_task_result(&layout, &SessionId::new(id));
        result.map_err(StartError::from)
    };
    let result = match &held {
        Some(held) => {
            ipc_client::submit_and_wait(&layout, held, &VOCABULARY, &given, &mut signals, look)
                .await?
        }
        None => run_oneshot(wishes, found, given, &mut signals, tell).await?,
    };
    Ok((result, signals.last_signal()))
}

async fn run_oneshot(
    wishes: &StartOptions,
    found: ProjectContext,
    given: TaskCommand,
    signals: &mut HeadlessSignals,
    tell: &mut dyn FnMut(&str),
) -> Result<TaskResult, StartError> {
    let players = BTreeSet::from([startup::adapter_of_agent(&found, &given.agent)?]);
    let opening = startup::open_ad_hoc_run(&players, found, wishes);
    run_oneshot_engine(opening, signals, tell, async |engine, signals, tell| {
        let started = engine.start_task(given.into_task_request());
        let started = started.map_err(|error| StartError::new(&error, "nothing was started"))?;
        let (session, result) = started.map_err(not_started_error)?;
        let result = drive_task(engine, &session, result, signals, tell).await;
        result.map_err(|error| StartError::new(&error, "everything recorded so far is kept"))
    })
    .await
}

async fn drive_task(
    engine: &mut Engine,
    session: &SessionId,
    mut result: oneshot::Receiver<TaskResult>,
    signals: &mut HeadlessSignals,
    tell: &mut dyn FnMut(&str),
) -> Result<TaskResult, EngineError> {
    let mut calls = CallDescriptions::default();
    loop {
        let updates = engine.take_view_updates().into_iter();
        for record in updates.filter_map(ViewUpdate::into_record) {
            if let Some(line) = progress_line(&record.event, &mut calls) {
                tell(&line);
            }
        }
        dismiss_questions(engine)?;
        if let Ok(result) = result.try_recv() {
            return Ok(result);
        }
        tokio::select! {
            biased;
            name = signals.next_signal() => {
                engine.stop_child_task(session, &format!("interrupted by {name}"));
            }
            inward = engine.next_input() => engine.handle_input(inward)?,
        }
    }
}

fn progress_line(event: &Event, calls: &mut CallDescriptions) -> Option<String> {
    let wording = match event {
        Event::TaskActivity {
            news: AgentActivity::Unknown { .. } | AgentActivity::Malformed { .. },
            ..
        } => return None,
        Event::TaskActivity { news, .. } => word_activity(None, news)?,
        _ => calls.word_event(event)?,
    };
    let is_shown = match event {
        // The result has the last message.
        Event::TaskActivity { .. } => {
            !matches!(wording.tone, EventTone::Message | EventTone::Minor)
        }
        Event::ApprovalDecided { allowed, .. } => !allowed,
        _ => false,
    };
    is_shown.then(|| format!("  {}", wording.text))
}

/// Returns whether an IPC request is about tasks.
pub fn is_task_request(request: &IpcRequest) -> bool {
    [
        VOCABULARY.command,
        VOCABULARY.stop_command,
        DELETE_SESSION_COMMAND,
    ]
    .contains(&request.command.as_str())
}

/// Carries out a request about tasks on the open run, and answers it.
///
/// # Errors
/// The run's log cannot be written.
pub fn handle_request(
    asked: PendingIpcRequest,
    engine: Option<&mut Engine>,
) -> Result<(), EngineError> {
    let Some((asked, engine)) = require_open_run(asked, engine, &VOCABULARY) else {
        return Ok(());
    };
    let session = || SessionId::new(&asked.request.text);
    if asked.request.command == VOCABULARY.stop_command {
        let session = session();
        let stopped = engine.stop_child_task(&session, "stopped by the user");
        let why = || format!("no task {session} is running");
        asked.reply(stopped.then_some(()).ok_or_else(why));
    } else if asked.request.command == DELETE_SESSION_COMMAND {
        let deleted = engine.delete_child(&session())?;
        asked.reply(deleted.map_err(|why| why.to_string()));
    } else if let Some((asked, given)) = parse_command::<TaskCommand>(asked, &VOCABULARY) {
        let started = engine.start_task(given.into_task_request())?;
        reply_with_id(asked, &VOCABULARY, started.map(|(session, _)| session));
    }
    Ok(())
}
