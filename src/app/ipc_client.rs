//! Carries tasks and discussions over the IPC socket: sends one to the running instance and follows it to its end; on
//! the instance's side, parses and answers the request.
//!
//! Does not know what a task or a discussion is: the caller passes an [`IpcVocabulary`].

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::time::{MissedTickBehavior, interval};

use crate::engine::Engine;
use crate::store::{InstanceLock, LockHolder, WorkdirLayout};

use super::headless_signals::HeadlessSignals;
use super::ipc_socket::{self, IpcRequest, PendingIpcRequest};
use super::startup::{self, ProjectContext, StartError, StartOptions};

/// Time between two checks whether the task or discussion has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(150);

/// The project and the instance that may run there.
pub(super) struct IpcTarget {
    pub found: ProjectContext,
    pub layout: WorkdirLayout,
    /// The instance that holds the lock, if any.
    pub held: Option<LockHolder>,
    pub signals: HeadlessSignals,
}

impl IpcTarget {
    pub async fn locate(wishes: &StartOptions) -> Result<Self, StartError> {
        let found = startup::inspect_project(wishes).await?;
        let layout = startup::run_layout(&found.root, &found.loaded.config)?;
        let signals = HeadlessSignals::listen()
            .map_err(|error| StartError::new(format!("cannot listen for signals: {error}"), ""))?;
        Ok(Self {
            held: InstanceLock::read_holder(&layout)?,
            found,
            layout,
            signals,
        })
    }
}

/// The commands and words for one kind of request, such as tasks.
pub(super) struct IpcVocabulary {
    /// The command that starts it, on the command line and on the socket.
    pub command: &'static str,
    /// The command on the socket that stops it.
    pub stop_command: &'static str,
    /// What users call it.
    pub noun: &'static str,
    /// The field with its id in the instance's reply.
    pub id_field: &'static str,
    /// What the instance did, after `the instance that `.
    pub past_action: &'static str,
    /// What happens to it if no instance runs, after its noun.
    pub oneshot_verb: &'static str,
    /// What to type after `--id ID` to resume it.
    pub resume_arguments: &'static str,
}

/// Sends a request to the running instance and waits until `look`, called with the id, returns the result. A signal
/// stops the task or discussion on the instance.
///
/// # Errors
/// It did not start, or the instance ended first.
pub(super) async fn submit_and_wait<T>(
    layout: &WorkdirLayout,
    held: &LockHolder,
    words: &IpcVocabulary,
    given: &impl Serialize,
    signals: &mut HeadlessSignals,
    mut look: impl FnMut(&str) -> Result<Option<T>, StartError>,
) -> Result<T, StartError> {
    let text = serde_json::to_string(given).map_err(|error| StartError::new(error, ""))?;
    let told = request_instance(layout, held, words.command, text).await?;
    let id = told.get(words.id_field).and_then(Value::as_str);
    let id =
        id.ok_or_else(|| StartError::new("the running instance did not say what it started", ""))?;
    let mut looks = interval(POLL_INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            _ = signals.next_signal() => drop(request_instance(layout, held, words.stop_command, id.to_owned()).await?),
            _ = looks.tick() => {}
        }
        // In this order: the instance may write the result just before it exits.
        let is_there = InstanceLock::read_holder(layout)?.is_some_and(|now| now.pid == held.pid);
        if let Some(end) = look(id)? {
            return Ok(end);
        }
        if !is_there {
            let IpcVocabulary {
                command: give,
                past_action: did,
                resume_arguments: more,
                ..
            } = words;
            return Err(StartError::new(
                format!("the instance that {did} has ended"),
                format!("continue with `agent-collab {give} --id {id}{more}`"),
            ));
        }
    }
}

/// Sends a request to the running instance and returns the data of its reply.
pub(super) async fn request_instance(
    layout: &WorkdirLayout,
    held: &LockHolder,
    command: &str,
    text: String,
) -> Result<Value, StartError> {
    let request = IpcRequest {
        command: command.to_owned(),
        text,
    };
    let answer = ipc_socket::send_to_lock_holder(layout, held, &request).await?;
    if answer.accepted {
        Ok(answer.told.unwrap_or_default())
    } else {
        Err(not_started_error(answer.why.unwrap_or_default()))
    }
}

/// Builds the error for something that did not start, with a hint where to look.
pub(super) fn not_started_error(why: impl ToString) -> StartError {
    StartError::new(
        why.to_string(),
        "`agent-collab agents --mode subagent` lists the agents, `agent-collab sessions list` the tasks",
    )
}

/// Returns the open run; without one, answers the request with an error and returns `None`.
pub(super) fn require_open_run<'a>(
    asked: PendingIpcRequest,
    engine: Option<&'a mut Engine>,
    words: &IpcVocabulary,
) -> Option<(PendingIpcRequest, &'a mut Engine)> {
    match engine {
        Some(engine) => Some((asked, engine)),
        None => {
            asked.reply(Err(format!(
                "no run is open on the screen; give it a goal first, or close the screen so that the {} {} on its own",
                words.noun, words.oneshot_verb
            )));
            None
        }
    }
}

/// Parses the text of a request; if that fails, answers with an error and returns `None`.
pub(super) fn parse_command<G: DeserializeOwned>(
    asked: PendingIpcRequest,
    words: &IpcVocabulary,
) -> Option<(PendingIpcRequest, G)> {
    match serde_json::from_str(&asked.request.text) {
        Ok(given) => Some((asked, given)),
        Err(error) => {
            asked.reply(Err(format!("not a valid {}: {error}", words.noun)));
            None
        }
    }
}

/// Answers with the id of what started, or with the reason why nothing did.
pub(super) fn reply_with_id<I: ToString, E: ToString>(
    asked: PendingIpcRequest,
    words: &IpcVocabulary,
    started: Result<I, E>,
) {
    match started {
        Ok(id) => {
            let id = (words.id_field.to_owned(), id.to_string().into());
            asked.reply_with(Value::Object(Map::from_iter([id])));
        }
        Err(why) => asked.reply(Err(why.to_string())),
    }
}
